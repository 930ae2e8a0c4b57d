//! Tools of other servers.
//!
//! Whoever runs a server is a stranger: what its tools are called, what they say of themselves and what they answer is
//! bounded and made safe here, and every call goes through a gate. Which tools a model has is settled when a session
//! begins, with the digest of each definition: one that says something else later is not called.

mod error;
mod gate;
mod offer;
mod opening;
mod policy;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use metier_workspace::executor::Live;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

use crate::host::{Approver, Prompter};
use crate::stop::Stop;
use crate::tools::{Answer, bounded_text};

pub(crate) use error::ForeignAdmission;
pub use error::{ForeignRefusal, ToolDefinitionError};
pub(crate) use gate::{ForeignGate, ForeignPermit, ForeignWanted};
pub(crate) use offer::{OfferedTool, offer};
pub(crate) use opening::{add_to, named_in, tools_in};
pub use policy::{AllowedTools, RememberedTool, ToolPolicy, is_like};

/// Other servers.
///
/// It is implemented by whoever speaks their protocol, and by tests. What it must uphold: nothing waits for ever, a
/// server that does not answer keeps no other from being used, and nothing that a person has hidden is given.
#[async_trait]
pub trait Foreign: fmt::Debug + Send + Sync {
    /// The tools of all servers, as they are now.
    async fn tools(&self) -> Listing;

    /// A tool as its server describes it now.
    ///
    /// # Errors
    ///
    /// When it does not say so. The tool is not called then, and the model is told the text of the error.
    async fn tool(&self, server: &str, name: &str) -> Result<Definition, ToolDefinitionError>;

    /// Calls a tool, and tells its server when that is to stop. What goes wrong is an answer as well.
    async fn call(&self, call: ForeignCall<'_>, stop: &Stop, live: Live) -> Answer;

    /// Ends what was begun for servers. Whatever is asked of one later begins anew.
    async fn close(&self) {}
}

/// What servers have.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Listing {
    /// Their tools.
    pub tools: Vec<Definition>,
    /// Servers that could not be used, and why.
    pub problems: Vec<String>,
}

/// A tool, as its server describes it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Definition {
    /// What we call the server.
    pub server: String,
    /// What the server calls the tool.
    pub name: String,
    /// What it says of it.
    pub description: String,
    /// What its arguments are.
    pub schema: Value,
}

/// A tool with the definition that it had.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PinnedTool {
    /// What we call the server.
    pub server: String,
    /// What the server calls the tool.
    pub tool: String,
    /// The digest of the definition, in hexadecimal.
    pub sha256: String,
}

/// A call of a tool.
#[derive(Clone, Copy, Debug)]
pub struct ForeignCall<'a> {
    /// What we call the server.
    pub server: &'a str,
    /// What the server calls the tool.
    pub tool: &'a str,
    /// What it is given.
    pub arguments: &'a Map<String, Value>,
}

/// Other servers, and who decides about calls of their tools.
#[derive(Clone, Debug)]
pub struct ForeignServers {
    /// The servers.
    pub servers: Arc<dyn Foreign>,
    /// Who decides.
    pub approver: Arc<dyn Approver>,
    /// Asks a person about what that leaves open.
    pub prompter: Arc<dyn Prompter>,
}

impl Definition {
    /// The tool with a digest of all that its server says of it.
    #[must_use]
    pub fn pinned(&self) -> PinnedTool {
        let said = serde_json::to_vec(&(&self.name, &self.description, &self.schema));
        let digest = Sha256::digest(said.unwrap_or_default());
        let sha256 = digest.iter().map(|byte| format!("{byte:02x}")).collect();
        PinnedTool { server: self.server.clone(), tool: self.name.clone(), sha256 }
    }
}

impl fmt::Display for PinnedTool {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.server, self.tool)
    }
}

/// Whether a tool that a session has is of another server, by its name.
#[must_use]
pub fn is_foreign(name: &str) -> bool {
    name.contains(offer::BETWEEN)
}

/// An answer of a stranger, no longer than a model is given.
fn bounded(mut answer: Answer) -> Answer {
    let is_odd = |it: char| it.is_control() && !matches!(it, '\n' | '\t');
    if answer.text.contains(is_odd) {
        answer.text = answer.text.replace(is_odd, "");
    }
    // Whatever else an answer can do is for tools of our own: files that a run made are read from its result.
    let text = bounded_text(answer.text);
    Answer { text, is_error: answer.is_error, ..Answer::default() }
}
