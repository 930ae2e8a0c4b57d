//! Asking servers, each over a connection of its own that ends with the answer.
//!
//! Whoever needs a skill may be in the middle of something that waits, so asking has a thread and a runtime of its own.

use std::thread;
use std::time::Duration;

use metier_mcp::skills::McpSkill;
use metier_mcp::{McpClientError, McpClientOptions, McpConnection, McpServerAddress, McpTimeouts};
use metier_net::{Client, ClientOptions};
use metier_skill::remote::{RemoteSkill, StoreError};

use super::SkillServer;
use crate::failure::Failure;
use crate::runs::block_on;

/// How long all files of a skill may take: 16 MiB come within it over a slow line, and whoever waits for them does not
/// wait for ever.
const ALL_FILES: Duration = Duration::from_secs(3 * 60);

/// What a server lists.
#[derive(Debug, Default)]
pub(super) struct Listed {
    /// Skills whose entries can be read.
    pub skills: Vec<McpSkill>,
    /// Addresses of others, where they have one, and what is wrong.
    pub problems: Vec<(Option<String>, String)>,
}

/// A server that gives files of skills.
///
/// [`McpConnection`] is one, and so is the double of the tests, which counts what it is asked.
pub(super) trait Shelf {
    /// The bytes of a file, if there are at most so many.
    async fn bytes(&self, uri: &str, most: u64) -> Result<Vec<u8>, McpClientError>;
}

impl Shelf for McpConnection {
    async fn bytes(&self, uri: &str, most: u64) -> Result<Vec<u8>, McpClientError> {
        self.read(uri, most).await
    }
}

/// What each server lists, all asked at once.
pub(super) fn lists(servers: &[SkillServer]) -> Vec<Result<Listed, McpClientError>> {
    thread::scope(|scope| {
        let asked: Vec<_> = servers
            .iter()
            .map(|server| scope.spawn(|| block_on(async { Ok(list(&server.peer).await) })))
            .collect();
        let answers = asked.into_iter().zip(servers).map(|(answer, server)| match answer.join() {
            Ok(Ok(answer)) => answer,
            Ok(Err(failure)) => Err(not_asked(&server.peer, &failure)),
            Err(panic) => std::panic::resume_unwind(panic),
        });
        answers.collect()
    })
}

/// The files of a skill, in the order in which it has them, each as it was told.
pub(super) fn files(peer: &McpServerAddress, skill: &RemoteSkill) -> Result<Vec<Vec<u8>>, Failure> {
    let fetch = || {
        block_on(async {
            let connection = open(peer).await.map_err(|error| Failure::from(&error))?;
            let contents = in_time(ALL_FILES, contents(&connection, skill)).await;
            connection.close().await;
            contents
        })
    };
    thread::scope(|scope| match scope.spawn(fetch).join() {
        Ok(contents) => contents,
        Err(panic) => std::panic::resume_unwind(panic),
    })
}

/// Reads files one by one; the first that is not what was told ends it.
pub(super) async fn contents(
    shelf: &impl Shelf,
    skill: &RemoteSkill,
) -> Result<Vec<Vec<u8>>, Failure> {
    let mut contents = Vec::new();
    for file in skill.files.iter().flatten() {
        let bytes =
            shelf.bytes(&file.uri, file.size).await.map_err(|error| Failure::from(&error))?;
        skill.verify(file, &bytes).map_err(StoreError::Fault)?;
        contents.push(bytes);
    }
    Ok(contents)
}

/// What comes within a time.
pub(super) async fn in_time<T>(
    most: Duration,
    fetching: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    let late = |_| {
        Failure::new(format!("its files did not come within {} s", most.as_secs()))
            .hint("try again later")
    };
    tokio::time::timeout(most, fetching).await.map_err(late)?
}

async fn list(peer: &McpServerAddress) -> Result<Listed, McpClientError> {
    let connection = open(peer).await?;
    let listed = connection.skills().await;
    connection.close().await;
    let listed = listed?;
    let problems =
        listed.problems.into_iter().map(|problem| (problem.uri, problem.fault.to_string()));
    Ok(Listed { skills: listed.skills, problems: problems.collect() })
}

async fn open(peer: &McpServerAddress) -> Result<McpConnection, McpClientError> {
    let http = Client::new(&ClientOptions::STANDARD)
        .map_err(|source| McpClientError::Network { server: peer.name.clone(), source })?;
    McpConnection::open(peer, &McpClientOptions { http, timeouts: McpTimeouts::STANDARD }).await
}

fn not_asked(peer: &McpServerAddress, failure: &Failure) -> McpClientError {
    let (server, how) = (peer.name.clone(), format!("was not asked: {failure}"));
    McpClientError::Ended { server, how, said: String::new() }
}
