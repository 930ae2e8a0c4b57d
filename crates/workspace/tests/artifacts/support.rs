//! What the tests of all stores need: owners, readers that misbehave, outcomes as text.

use std::error::Error;
use std::fmt::Write;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use metier_workspace::artifact::{About, ArtifactError, ArtifactKey, ArtifactStore, Loaded, Owner};
use tokio::io::{AsyncRead, AsyncReadExt, ReadBuf};

pub(crate) fn owner(session: &str) -> Owner {
    Owner::new("app", "ada", session).unwrap()
}

pub(crate) fn key(session: &str, name: &str) -> ArtifactKey {
    ArtifactKey::new(&owner(session), name).unwrap()
}

/// Saves a text and returns its version.
pub(crate) async fn save(store: &dyn ArtifactStore, key: &ArtifactKey, text: &str) -> u64 {
    let saved = store.save(key, &mut text.as_bytes(), &About::default()).await.unwrap();
    assert_eq!(saved.size, text.len() as u64);
    assert_eq!(saved.digest, blake3::hash(text.as_bytes()).to_hex().as_str());
    saved.version
}

/// The text of a version, or why there is none.
pub(crate) async fn text(
    store: &dyn ArtifactStore,
    key: &ArtifactKey,
    version: Option<u64>,
) -> String {
    match store.load(key, version).await {
        Ok(loaded) => match read(loaded).await {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) => chain(error.get_ref().expect("an error of ours")),
        },
        Err(error) => chain(&error),
    }
}

/// The bytes of a version, which must be those that it says it has.
pub(crate) async fn read(mut loaded: Loaded) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    loaded.content.read_to_end(&mut bytes).await?;
    assert_eq!(bytes.len() as u64, loaded.info.size);
    assert_eq!(blake3::hash(&bytes).to_hex().as_str(), loaded.info.digest);
    Ok(bytes)
}

/// Saves what a reader yields and returns the error.
pub(crate) async fn refusal(
    store: &dyn ArtifactStore,
    key: &ArtifactKey,
    mut content: impl AsyncRead + Send + Unpin,
) -> ArtifactError {
    store.save(key, &mut content, &About::default()).await.unwrap_err()
}

/// An error and its causes, a line each.
pub(crate) fn chain(error: &(dyn Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        write!(text, "\n  because: {cause}").unwrap();
        source = cause.source();
    }
    text
}

/// Names and how many versions each has.
pub(crate) async fn names(store: &dyn ArtifactStore, owner: &Owner) -> String {
    let mut lines = Vec::new();
    for scope in [owner.session_scope(), owner.user_scope()] {
        for listed in store.list(&scope).await.unwrap() {
            lines.push(format!("{} {} of {}", listed.name, listed.newest.version, listed.versions));
        }
    }
    lines.join(", ")
}

/// A reader that fails at once.
pub(crate) struct Broken;

impl AsyncRead for Broken {
    fn poll_read(
        self: Pin<&mut Self>,
        _context: &mut Context<'_>,
        _buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Poll::Ready(Err(io::Error::new(io::ErrorKind::ConnectionReset, "the line went dead")))
    }
}

/// A reader that yields a byte at a time and makes others wait in between.
pub(crate) struct Trickle<'a> {
    rest: &'a [u8],
    is_ready: bool,
}

impl<'a> Trickle<'a> {
    pub(crate) fn new(rest: &'a [u8]) -> Self {
        Self { rest, is_ready: false }
    }
}

impl AsyncRead for Trickle<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.is_ready = !self.is_ready;
        if self.is_ready {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        if let Some((first, rest)) = self.rest.split_first() {
            buffer.put_slice(&[*first]);
            self.rest = rest;
        }
        Poll::Ready(Ok(()))
    }
}
