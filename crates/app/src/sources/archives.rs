//! Roots that are archives: fetched by `net`, unpacked by `skill`, kept by address in a cache.
//!
//! `fetch` brings copies up to date, over the network; `locate` uses them as they are.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, SystemTime};

use metier_net::{Client, ClientOptions, Download, DownloadRequest, NetError};
use metier_skill::archive::{self, ArchiveError, Limits, LinkRule, UnpackRequest};
use metier_skill::diagnostic::{Code, Severity};
use metier_skill::files::Digest;
use metier_skill::problem::Problem;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use tokio::io::AsyncWrite;

use super::SourceSelection;
use super::places::SkillPlace;
use super::roots::named_places;
use crate::app::App;
use crate::environment::Environment;
use crate::error::AppError;
use crate::reporter::{Activity, OngoingActivity};
use crate::state::privacy::make_private_folder;

/// An address that was asked this recently is not asked again.
const FRESH: Duration = Duration::from_secs(5 * 60);

/// A located folder of skills, with what was noticed on the way.
pub(crate) type LocatedArchive = (PathBuf, Option<Problem>);

/// The outcomes of fetching archives, by address with pin.
#[derive(Clone, Debug, Default)]
pub struct FetchedArchives(
    BTreeMap<(String, Option<Digest>), Result<LocatedArchive, Box<Problem>>>,
);

/// An archive of skills that cannot be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ArchiveSourceError {
    /// It was not fetched yet, and is not now.
    #[error("it was not fetched yet")]
    NotFetched,
    /// It could not be downloaded.
    #[error(transparent)]
    Download(#[from] NetError),
    /// It could not be unpacked.
    #[error(transparent)]
    Unpack(#[from] ArchiveError),
    /// The server says that nothing changed, and there is nothing.
    #[error("the server says that nothing changed, but there is no copy")]
    NothingToKeep,
    /// The digest of a download is not one.
    #[error("the download has no digest that can be read")]
    NoDigest,
    /// The file cannot be read.
    #[error("cannot read the archive `{}`", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The file is larger than archives may be.
    #[error("the archive is larger than {} MiB", limit >> 20)]
    TooLarge {
        /// The largest archive that is read, in bytes.
        limit: u64,
    },
    /// The content is not what it is pinned to.
    #[error("its digest is {digest}, and not the one it is pinned to")]
    OtherDigest {
        /// The digest of the content.
        digest: Digest,
    },
    /// No copy can be kept.
    #[error("cannot keep a copy in `{}`", cache.display())]
    NotKept {
        /// The folder of the copy.
        cache: PathBuf,
        /// The variable that says where copies are kept.
        chosen_by: &'static str,
        /// The reason.
        source: io::Error,
    },
}

/// Brings the archives that the configuration names up to date.
pub(crate) async fn fetch(
    app: &App,
    sources: &SourceSelection,
    working: &dyn OngoingActivity,
) -> FetchedArchives {
    let mut fetched = FetchedArchives::default();
    if sources.no_default_sources {
        return fetched;
    }
    let environment = &app.environment;
    for (text, base) in named_places(environment, &app.config) {
        let Ok(place) = SkillPlace::parse(text, base, environment) else { continue };
        let archive = match place.path() {
            None => Archive::new(place.address, place.pin, environment),
            Some(_) => continue,
        };
        let located = archive.update(app, working).await;
        fetched.0.insert((place.address.to_owned(), place.pin), located);
    }
    fetched
}

/// Returns the folder of skills at a place: the folder itself, or where its archive is unpacked.
///
/// A copy that could not be brought up to date is used, with a remark.
pub(crate) fn locate(
    place: &SkillPlace<'_>,
    app: &App,
    fetched: &FetchedArchives,
) -> Result<LocatedArchive, Box<Problem>> {
    let environment = &app.environment;
    let Some(path) = place.path() else {
        let key = (place.address.to_owned(), place.pin);
        if let Some(located) = fetched.0.get(&key) {
            return located.clone();
        }
        let archive = Archive::new(place.address, place.pin, environment);
        return match archive.record() {
            Some(record) => Ok((archive.folder(record.sha256), None)),
            None => Err(archive.refused(app, ArchiveSourceError::NotFetched)),
        };
    };
    if !path.is_file() {
        return match place.pin {
            None => Ok((path.to_owned(), None)),
            Some(_) => Err(refused_pin(path)),
        };
    }
    let name = path.to_string_lossy();
    let archive = Archive::new(&name, place.pin, environment);
    let folder = archive.unpack_file(path).map_err(|error| archive.refused(app, error))?;
    Ok((folder, None))
}

/// A digest can be compared with an archive only; whoever writes one does not want what is not compared.
fn refused_pin(path: &Path) -> Box<Problem> {
    let message = if path.is_dir() {
        "a digest behind `#sha256=` pins an archive, and this is a folder"
    } else {
        "there is no such archive"
    };
    Box::new(Problem::new(Code::ArchiveRefused, path, message))
}

/// An archive and its place in the cache.
struct Archive<'a> {
    address: &'a str,
    pin: Option<Digest>,
    cache: PathBuf,
    /// The variable that says where the cache is.
    chosen_by: &'static str,
}

/// What is known of the copy in the cache.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Record {
    address: String,
    etag: Option<String>,
    last_modified: Option<String>,
    sha256: Digest,
    checked: u64,
}

impl<'a> Archive<'a> {
    fn new(address: &'a str, pin: Option<Digest>, environment: &Environment) -> Self {
        let (caches, chosen_by) = match environment.variable("SKILLS_CACHE_DIR") {
            // Never below the working directory, where a project could have put copies.
            Some(folder) => (environment.expand(folder, environment.state()), "SKILLS_CACHE_DIR"),
            None => (environment.state().join("cache/roots"), "METIER_HOME"),
        };
        let key = Digest::of_bytes(address.as_bytes()).to_string();
        Self { address, pin, cache: caches.join(&key[..32]), chosen_by }
    }

    /// Brings the copy up to date if it is not fresh, and returns where it is.
    async fn update(
        &self,
        app: &App,
        working: &dyn OngoingActivity,
    ) -> Result<LocatedArchive, Box<Problem>> {
        let record = self.record();
        if let Some(record) = &record
            && (self.pin.is_some() || record.is_fresh())
        {
            return Ok((self.folder(record.sha256), None));
        }
        match self.fetch(record.as_ref(), working).await {
            Ok(folder) => Ok((folder, None)),
            Err(error) => match record {
                None => Err(self.refused(app, error)),
                Some(record) => {
                    let why = app.reporter.wording(&error.into()).message;
                    let message = format!("the copy at hand is used: {why}");
                    let place = shown(self.address);
                    let mut remark = Problem::new(Code::ArchiveRefused, Path::new(&place), message);
                    remark.severity = Severity::Warning;
                    Ok((self.folder(record.sha256), Some(remark)))
                }
            },
        }
    }

    fn refused(&self, app: &App, error: ArchiveSourceError) -> Box<Problem> {
        let wording = app.reporter.wording(&AppError::from(error));
        let place = shown(self.address);
        let problem = Problem::new(Code::ArchiveRefused, Path::new(&place), wording.message);
        Box::new(match wording.hint {
            Some(hint) => problem.help(hint),
            None => problem,
        })
    }

    fn is_wanted(&self, digest: Digest) -> bool {
        self.pin.is_none_or(|pin| pin == digest)
    }

    fn folder(&self, digest: Digest) -> PathBuf {
        self.cache.join(digest.to_string())
    }

    /// Returns the record of a copy that is there and has the wanted digest.
    fn record(&self) -> Option<Record> {
        let text = fs::read_to_string(self.cache.join("record.json")).ok()?;
        let record: Record = serde_json::from_str(&text).ok()?;
        let is_usable = self.is_wanted(record.sha256) && self.folder(record.sha256).is_dir();
        is_usable.then_some(record)
    }

    async fn fetch(
        &self,
        known: Option<&Record>,
        working: &dyn OngoingActivity,
    ) -> Result<PathBuf, ArchiveSourceError> {
        let address = shown(self.address);
        working.update(&Activity::Downloading { address: address.clone(), received: None });
        self.make_cache()?;
        let file = tempfile::tempfile_in(&self.cache).map_err(|error| self.not_kept(error))?;
        let client = Client::new(&ClientOptions::STANDARD)?;
        let request = DownloadRequest {
            url: self.address,
            etag: known.and_then(|record| record.etag.as_deref()),
            last_modified: known.and_then(|record| record.last_modified.as_deref()),
        };
        let mut into = DownloadedFile { file, address: &address, received: 0, working };
        let download = client.download(&request, &mut into).await?;
        let file = into.file;
        working.update(&Activity::Unpacking { address });
        match (download, known) {
            (Download::NotModified, Some(known)) => {
                self.remember(&Record { checked: now(), ..known.clone() })?;
                Ok(self.folder(known.sha256))
            }
            (Download::NotModified, None) => Err(ArchiveSourceError::NothingToKeep),
            (Download::Fetched(fetched), _) => {
                let digest =
                    Digest::from_hex(&fetched.sha256).ok_or(ArchiveSourceError::NoDigest)?;
                let folder = self.unpack(file, digest)?;
                self.remember(&Record {
                    address: shown(self.address),
                    etag: fetched.etag,
                    last_modified: fetched.last_modified,
                    sha256: digest,
                    checked: now(),
                })?;
                if let Some(old) = known.filter(|old| old.sha256 != digest) {
                    let _may_be_in_use = fs::remove_dir_all(self.folder(old.sha256));
                }
                Ok(folder)
            }
        }
    }

    fn unpack_file(&self, path: &Path) -> Result<PathBuf, ArchiveSourceError> {
        let unread = |source| ArchiveSourceError::Unreadable { file: path.to_owned(), source };
        let mut file = File::open(path).map_err(unread)?;
        let limit = Limits::STANDARD.max_archive_bytes;
        if file.metadata().map_err(unread)?.len() > limit {
            return Err(ArchiveSourceError::TooLarge { limit });
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(unread)?;
        self.unpack(file, Digest::of_bytes(&bytes))
    }

    fn unpack(&self, mut file: File, digest: Digest) -> Result<PathBuf, ArchiveSourceError> {
        if !self.is_wanted(digest) {
            return Err(ArchiveSourceError::OtherDigest { digest });
        }
        let folder = self.folder(digest);
        if folder.is_dir() {
            return Ok(folder);
        }
        self.make_cache()?;
        file.seek(SeekFrom::Start(0)).map_err(|error| self.not_kept(error))?;
        let request = UnpackRequest {
            name: self.address,
            into: &folder,
            skill_folder: &skill_folder(self.address),
            strip: 0,
            links: LinkRule::Inside,
            limits: &Limits::STANDARD,
        };
        match archive::unpack(io::BufReader::new(file), &request) {
            Ok(_) | Err(ArchiveError::TargetExists { .. }) => Ok(folder),
            Err(error) => Err(error.into()),
        }
    }

    fn make_cache(&self) -> Result<(), ArchiveSourceError> {
        make_private_folder(&self.cache).map_err(|error| self.not_kept(error))
    }

    fn not_kept(&self, source: io::Error) -> ArchiveSourceError {
        let (cache, chosen_by) = (self.cache.clone(), self.chosen_by);
        ArchiveSourceError::NotKept { cache, chosen_by, source }
    }

    fn remember(&self, record: &Record) -> Result<(), ArchiveSourceError> {
        let kept = || -> io::Result<()> {
            let mut beside = tempfile::NamedTempFile::new_in(&self.cache)?;
            beside.write_all(serde_json::to_string_pretty(record)?.as_bytes())?;
            beside.persist(self.cache.join("record.json"))?;
            Ok(())
        };
        kept().map_err(|error| self.not_kept(error))
    }
}

/// A file that a download is written to, which reports how much of it is there.
struct DownloadedFile<'a> {
    file: File,
    address: &'a str,
    received: u64,
    working: &'a dyn OngoingActivity,
}

impl AsyncWrite for DownloadedFile<'_> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = self.file.write(bytes)?;
        self.received = self.received.saturating_add(written as u64);
        let (address, received) = (self.address.to_owned(), Some(self.received));
        self.working.update(&Activity::Downloading { address, received });
        Poll::Ready(Ok(written))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

impl Record {
    fn is_fresh(&self) -> bool {
        now().checked_sub(self.checked).is_some_and(|age| age < FRESH.as_secs())
    }
}

/// Returns an address as it may be shown: without the user, the password and the query, which can hold
/// tokens.
pub fn shown(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else { return address.to_owned() };
    if scheme == "file" {
        return address.to_owned();
    }
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    format!("{scheme}://{host}/{path}")
}

/// The folder for a bare `SKILL.md`: the one it is in at its address.
fn skill_folder(address: &str) -> String {
    let parts: Vec<&str> = address.split('/').filter(|part| !part.is_empty()).collect();
    let parent = parts.len().checked_sub(2).and_then(|at| parts.get(at));
    parent.map_or_else(|| "skill".to_owned(), |parent| (*parent).to_owned())
}

fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
