//! Downloading a file.
//!
//! The body is stored exactly as it was sent: if the server compressed it for the transport without
//! being asked, it stays compressed. The digest is that of the bytes stored.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use reqwest::header::{
    ETAG, HeaderMap, HeaderName, HeaderValue, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED,
    LOCATION,
};
use reqwest::{Response, StatusCode, Url};
use sha2::{Digest, Sha256};
use tokio::io::{AsyncWrite, AsyncWriteExt};

use crate::location::{self, shown};
use crate::{Client, NetError, RedirectFault};

/// What to download.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DownloadRequest<'a> {
    /// The address: `http` or `https`, without user name and password.
    pub url: &'a str,
    /// The `ETag` of the copy at hand, as the server gave it.
    pub etag: Option<&'a str>,
    /// The `Last-Modified` of the copy at hand, as the server gave it.
    pub last_modified: Option<&'a str>,
}

/// How a download ended well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Download {
    /// The copy at hand is still the newest; nothing was written.
    NotModified,
    /// The file was written.
    Fetched(Downloaded),
}

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Downloaded {
    /// Where it came from after all redirects.
    pub url: String,
    /// The `ETag` to send next time.
    pub etag: Option<String>,
    /// The `Last-Modified` to send next time.
    pub last_modified: Option<String>,
    /// The SHA-256 of what was written, in lowercase hexadecimal.
    pub sha256: String,
    /// How many bytes were written.
    pub bytes: u64,
}

impl Client {
    /// Downloads a file.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be fetched in full and within all bounds. What was written until then
    /// must be thrown away.
    pub async fn download(
        &self,
        request: &DownloadRequest<'_>,
        to: &mut (impl AsyncWrite + Unpin),
    ) -> Result<Download, NetError> {
        let url = location::parse(request.url, None)
            .map_err(|source| NetError::Url { url: location::shown_text(request.url), source })?;
        let late = NetError::TimedOut { url: shown(&url), limit: self.total_timeout };
        let fetching = self.fetch(url, conditions(request), to);
        tokio::time::timeout(self.total_timeout, fetching).await.unwrap_or(Err(late))
    }

    /// Downloads a file for a caller that is not asynchronous.
    ///
    /// # Errors
    ///
    /// As [`Client::download`].
    ///
    /// # Panics
    ///
    /// Panics when called from asynchronous code, which it would block.
    pub fn download_blocking(
        &self,
        request: &DownloadRequest<'_>,
        to: &mut impl io::Write,
    ) -> Result<Download, NetError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(NetError::Runtime)?;
        let outcome = runtime.block_on(self.download(request, &mut Blocking(to)));
        // A name that is still being looked up would otherwise keep us waiting beyond the limit.
        runtime.shutdown_background();
        outcome
    }

    async fn fetch(
        &self,
        mut url: Url,
        conditions: HeaderMap,
        to: &mut (impl AsyncWrite + Unpin),
    ) -> Result<Download, NetError> {
        let mut redirects = 0;
        loop {
            let response = self
                .http
                .get(url.clone())
                .headers(conditions.clone())
                .send()
                .await
                .map_err(|error| NetError::sending(&url, self.connect_timeout, error))?;
            match response.status() {
                StatusCode::OK => return self.receive(&url, response, to).await,
                StatusCode::NOT_MODIFIED if !conditions.is_empty() => {
                    return Ok(Download::NotModified);
                }
                status if is_redirect(status) => {
                    url = self.next(&url, &response, redirects)?;
                    redirects += 1;
                }
                status => {
                    return Err(NetError::Status { url: shown(&url), status: status.as_u16() });
                }
            }
        }
    }

    fn next(&self, url: &Url, response: &Response, redirects: usize) -> Result<Url, NetError> {
        let refused = |source| NetError::Redirect { url: shown(url), source };
        if redirects >= self.max_redirects {
            return Err(refused(RedirectFault::TooMany { limit: self.max_redirects }));
        }
        let location =
            text(response.headers(), LOCATION).ok_or_else(|| refused(RedirectFault::NoLocation))?;
        location::follow(url, &location).map_err(refused)
    }

    async fn receive(
        &self,
        url: &Url,
        mut response: Response,
        to: &mut (impl AsyncWrite + Unpin),
    ) -> Result<Download, NetError> {
        let limit = self.max_bytes;
        let too_large = || NetError::TooLarge { url: shown(url), limit };
        if response.content_length().is_some_and(|length| length > limit) {
            return Err(too_large());
        }
        let mut digest = Sha256::new();
        let mut bytes = 0;
        while let Some(chunk) =
            response.chunk().await.map_err(|error| NetError::receiving(url, error))?
        {
            bytes += chunk.len() as u64;
            if bytes > limit {
                return Err(too_large());
            }
            digest.update(&chunk);
            to.write_all(&chunk).await.map_err(NetError::Write)?;
        }
        to.flush().await.map_err(NetError::Write)?;
        Ok(Download::Fetched(Downloaded {
            url: url.to_string(),
            etag: text(response.headers(), ETAG),
            last_modified: text(response.headers(), LAST_MODIFIED),
            sha256: hexadecimal(&digest.finalize()),
            bytes,
        }))
    }
}

/// Asks for the file only if it changed. A value that fits no header asks for the file as such.
fn conditions(request: &DownloadRequest<'_>) -> HeaderMap {
    let conditions = [(IF_NONE_MATCH, request.etag), (IF_MODIFIED_SINCE, request.last_modified)];
    conditions
        .into_iter()
        .filter_map(|(name, value)| Some((name, HeaderValue::from_str(value?).ok()?)))
        .collect()
}

pub(crate) fn is_redirect(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::MOVED_PERMANENTLY
            | StatusCode::FOUND
            | StatusCode::SEE_OTHER
            | StatusCode::TEMPORARY_REDIRECT
            | StatusCode::PERMANENT_REDIRECT
    )
}

fn text(headers: &HeaderMap, name: HeaderName) -> Option<String> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Lets asynchronous code write to something that blocks; only for a thread that may.
struct Blocking<W>(W);

impl<W: io::Write + Unpin> AsyncWrite for Blocking<W> {
    fn poll_write(
        self: Pin<&mut Self>,
        _context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Poll::Ready(self.get_mut().0.write(bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, _context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(self.get_mut().0.flush())
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(context)
    }
}
