//! Asking servers, each over a connection of its own that ends with the answer.

use std::time::Duration;

use futures_util::future::join_all;
use metier_mcp::skills::McpSkill;
use metier_mcp::{McpClientError, McpClientOptions, McpConnection, McpServerAddress, McpTimeouts};
use metier_net::{Client, ClientOptions};
use metier_skill::remote::{RemoteSkill, StoreError};

use super::{FetchedSkillError, SkillServer};

/// How long all files of a skill may take: 16 MiB come within it over a slow line, and whoever waits for them does not
/// wait for ever.
const ALL_FILES: Duration = Duration::from_secs(3 * 60);

/// What a server lists.
#[derive(Debug, Default)]
pub(super) struct ListedSkills {
    /// Skills whose entries can be read.
    pub skills: Vec<McpSkill>,
    /// Addresses of others, where they have one, and what is wrong.
    pub problems: Vec<(Option<String>, String)>,
}

/// A server that gives files of skills.
///
/// [`McpConnection`] is one, and so is the double of the tests, which counts what it is asked.
pub(super) trait SkillFileSource {
    /// The bytes of a file, if there are at most so many.
    async fn bytes(&self, uri: &str, most: u64) -> Result<Vec<u8>, McpClientError>;
}

impl SkillFileSource for McpConnection {
    async fn bytes(&self, uri: &str, most: u64) -> Result<Vec<u8>, McpClientError> {
        self.read(uri, most).await
    }
}

/// Returns what each server lists, all asked at once.
pub(super) async fn lists(servers: &[SkillServer]) -> Vec<Result<ListedSkills, McpClientError>> {
    join_all(servers.iter().map(|server| list(&server.peer))).await
}

/// Fetches the files of a skill, in the order in which it has them, each as it was told.
pub(super) async fn files(
    peer: &McpServerAddress,
    skill: &RemoteSkill,
) -> Result<Vec<Vec<u8>>, FetchedSkillError> {
    let connection = open(peer).await?;
    let contents = in_time(ALL_FILES, contents(&connection, skill)).await;
    connection.close().await;
    contents
}

/// Reads files one by one; the first that is not what was told ends it.
pub(super) async fn contents(
    source: &impl SkillFileSource,
    skill: &RemoteSkill,
) -> Result<Vec<Vec<u8>>, FetchedSkillError> {
    let mut contents = Vec::new();
    for file in skill.files.iter().flatten() {
        let bytes = source.bytes(&file.uri, file.size).await?;
        skill.verify(file, &bytes).map_err(StoreError::Fault)?;
        contents.push(bytes);
    }
    Ok(contents)
}

/// Waits for files, but not longer than `limit`.
pub(super) async fn in_time<T>(
    limit: Duration,
    fetching: impl Future<Output = Result<T, FetchedSkillError>>,
) -> Result<T, FetchedSkillError> {
    let fetched = tokio::time::timeout(limit, fetching).await;
    fetched.unwrap_or(Err(FetchedSkillError::Late { limit }))
}

async fn list(peer: &McpServerAddress) -> Result<ListedSkills, McpClientError> {
    let connection = open(peer).await?;
    let listed = connection.skills().await;
    connection.close().await;
    let listed = listed?;
    let problems =
        listed.problems.into_iter().map(|problem| (problem.uri, problem.fault.to_string()));
    Ok(ListedSkills { skills: listed.skills, problems: problems.collect() })
}

async fn open(peer: &McpServerAddress) -> Result<McpConnection, McpClientError> {
    let http = Client::new(&ClientOptions::STANDARD)
        .map_err(|source| McpClientError::Network { server: peer.name.clone(), source })?;
    McpConnection::open(peer, &McpClientOptions { http, timeouts: McpTimeouts::STANDARD }).await
}
