//! A connection to one server.

use metier_agent::Stop;
use serde_json::{Map, Value};

use super::{ClientError, ClientMeans, Peer, Progress, Reply, ServerInfo, Skills, Tools};
use crate::mcp::skills::Skill;

/// A connection to one server. Dropped, it ends, and so does the program that was started for it.
#[derive(Debug)]
pub struct Connection {
    name: String,
    server: ServerInfo,
}

impl Connection {
    /// Connects to a server and agrees on what is spoken.
    ///
    /// # Errors
    ///
    /// When the server cannot be started or reached, or does not speak the protocol.
    pub async fn open(peer: &Peer, _means: &ClientMeans) -> Result<Self, ClientError> {
        Err(ClientError::Ended {
            server: peer.name.clone(),
            how: "is not there".to_owned(),
            said: String::new(),
        })
    }

    /// What the server says of itself.
    pub fn server(&self) -> &ServerInfo {
        &self.server
    }

    /// Its tools.
    ///
    /// # Errors
    ///
    /// When it has none, or does not answer.
    pub async fn tools(&self) -> Result<Tools, ClientError> {
        Err(self.not_offered("tools"))
    }

    /// Calls a tool. What goes wrong within the tool is a reply.
    ///
    /// # Errors
    ///
    /// When there is no reply, or the call was stopped; the server is told then.
    pub async fn call(
        &self,
        _tool: &str,
        _arguments: Map<String, Value>,
        _stop: &Stop,
        _progress: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<Reply, ClientError> {
        Err(self.not_offered("tools"))
    }

    /// Its skills. A server need not list all that it has.
    ///
    /// # Errors
    ///
    /// When it does not declare the extension, or does not answer.
    pub async fn skills(&self) -> Result<Skills, ClientError> {
        Err(self.not_offered("skills"))
    }

    /// One skill, by the address of its `SKILL.md`.
    ///
    /// # Errors
    ///
    /// When it does not declare the extension, or has no such skill.
    pub async fn skill(&self, _uri: &str) -> Result<Skill, ClientError> {
        Err(self.not_offered("skills"))
    }

    /// The bytes of a file, if there are at most so many.
    ///
    /// # Errors
    ///
    /// When there is no such file, or it is larger.
    pub async fn read(&self, _uri: &str, _max_bytes: u64) -> Result<Vec<u8>, ClientError> {
        Err(self.not_offered("files"))
    }

    /// Ends the connection, and the program that was started for it.
    pub async fn close(self) {}

    fn not_offered(&self, what: &'static str) -> ClientError {
        ClientError::NotOffered { server: self.name.clone(), what }
    }
}
