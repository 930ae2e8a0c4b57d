//! Tools of other servers for our agent.
//!
//! Servers are connected to when their tools are first wanted, all at once, and each has its own bound: one that does
//! not answer costs its time once and is a problem to be told, and the others work. A connection that ended is made
//! anew once before a server counts as gone.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::join_all;
use metier_agent::Stop;
use metier_agent::causes::with_causes;
use metier_agent::foreign::{
    Definition, Foreign, ForeignCall, Listing, ToolDefinitionError, is_like,
};
use metier_agent::tools::Answer;
use metier_mcp::{
    McpCallProgress, McpClientError, McpClientOptions, McpConnection, McpServerAddress,
    McpTimeouts, McpTool, McpToolFault, McpToolList, McpToolResult,
};
use metier_sandbox::Stream;
use metier_workspace::executor::Live;
use thiserror::Error;
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::reporter::Reporter;

/// How long the beginning of a session waits for servers.
const BEGINNING: Duration = Duration::from_secs(8);

/// What is said of a call that got no answer.
const UNKNOWN: &str = "; nobody knows how far it came";

/// A server whose tools are used.
#[derive(Clone, Debug)]
pub struct ToolServer {
    /// Its name, and the transport to it.
    pub address: McpServerAddress,
    /// Names of tools that are not offered, with `*` for any part.
    pub denied: Vec<String>,
    /// The timeout of a call.
    pub timeout: Duration,
}

/// Servers whose tools are used.
#[derive(Debug)]
pub struct ToolServers {
    http: metier_net::Client,
    servers: Vec<ConnectedToolServer>,
    reporter: Arc<dyn Reporter>,
}

/// The reason why tools are missing at the beginning of a session.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ToolServerProblem {
    /// The server cannot be used.
    #[error(transparent)]
    Client(McpClientError),
    /// The server was not ready in time.
    #[error(
        "the server `{server}` was not ready within {} s, and the session begins without its tools",
        limit.as_secs()
    )]
    Late {
        /// The server.
        server: String,
        /// The time that it had.
        limit: Duration,
    },
    /// Tools of the server cannot be used.
    #[error("of `{server}`: {fault}")]
    LeftOut {
        /// The server.
        server: String,
        /// The fault of the tools.
        fault: McpToolFault,
    },
}

#[derive(Debug)]
struct ConnectedToolServer {
    server: ToolServer,
    /// The connection, while there is one.
    connection: Mutex<Option<Arc<McpConnection>>>,
}

/// The answer of a server that was asked for its tools.
#[derive(Debug)]
pub struct ServerToolListing {
    /// The name of the server.
    pub server: String,
    /// Its tools, without those that are denied.
    pub tools: Result<McpToolList, McpClientError>,
}

impl ToolServers {
    /// Gets ready; nothing is connected to yet.
    ///
    /// What is told of a problem ends with the advice of the front end.
    pub fn new(
        servers: Vec<ToolServer>,
        http: metier_net::Client,
        reporter: Arc<dyn Reporter>,
    ) -> Self {
        let connected = |server| ConnectedToolServer { server, connection: Mutex::default() };
        Self { http, servers: servers.into_iter().map(connected).collect(), reporter }
    }

    fn text_of(&self, problem: ToolServerProblem) -> String {
        let text = with_causes(&problem);
        match self.reporter.wording(&problem.into()).hint {
            Some(hint) => format!("{text}; {hint}"),
            None => text,
        }
    }

    /// Asks every server for its tools.
    ///
    /// Each has the time that a server may take which downloads itself first.
    pub async fn list_tools(&self) -> Vec<ServerToolListing> {
        let listed = self.servers.iter().map(|it| async {
            ServerToolListing { server: it.name(), tools: it.tools(&self.http).await }
        });
        join_all(listed).await
    }

    fn find(&self, name: &str) -> Result<&ConnectedToolServer, ToolDefinitionError> {
        let found = self.servers.iter().find(|it| it.server.address.name == name);
        found.ok_or_else(|| ToolDefinitionError::UnknownServer { server: name.to_owned() })
    }

    async fn definition(
        &self,
        server: &str,
        name: &str,
    ) -> Result<Definition, ToolDefinitionError> {
        let found = self.find(server)?.tools(&self.http).await.map_err(ToolDefinitionError::new)?;
        match found.tools.into_iter().find(|it| it.name == name) {
            Some(tool) => Ok(defined(server, tool)),
            None => {
                let (server, tool) = (server.to_owned(), name.to_owned());
                Err(ToolDefinitionError::UnknownTool { server, tool })
            }
        }
    }
}

#[async_trait]
impl Foreign for ToolServers {
    async fn tools(&self) -> Listing {
        let mut listing = Listing::default();
        let mut problems = Vec::new();
        let asked = self
            .servers
            .iter()
            .map(|it| async { (it.name(), timeout(BEGINNING, it.tools(&self.http)).await) });
        for (server, had) in join_all(asked).await {
            match had {
                Ok(Ok(McpToolList { tools, left_out })) => {
                    listing.tools.extend(tools.into_iter().map(|tool| defined(&server, tool)));
                    problems.extend(
                        left_out.into_iter().map(|fault| ToolServerProblem::LeftOut {
                            server: server.clone(),
                            fault,
                        }),
                    );
                }
                Ok(Err(error)) => problems.push(ToolServerProblem::Client(error)),
                Err(_late) => problems.push(ToolServerProblem::Late { server, limit: BEGINNING }),
            }
        }
        listing.problems = problems.into_iter().map(|problem| self.text_of(problem)).collect();
        listing
    }

    async fn tool(&self, server: &str, name: &str) -> Result<Definition, ToolDefinitionError> {
        self.definition(server, name).await
    }

    async fn call(&self, call: ForeignCall<'_>, stop: &Stop, mut live: Live) -> Answer {
        let server = match self.find(call.server) {
            Ok(server) => server,
            Err(error) => return Answer::error(error.to_string()),
        };
        // Whether a call that got no answer was carried out is not known, so it is not made again.
        let connection = tokio::select! {
            connection = server.connection(&self.http) => connection,
            () = stop.stopped() => return Answer::error("the user stopped this before it was called"),
        };
        let connection = match connection {
            Ok(connection) => connection,
            Err(error) => return Answer::error(with_causes(&error)),
        };
        let mut progress = |it: McpCallProgress| {
            let total = it.total.map(|total| format!("/{total}")).unwrap_or_default();
            let message = it.message.unwrap_or_default();
            live(Stream::Output, format!("{}{total} {message}\n", it.done).as_bytes());
        };
        let arguments = call.arguments.clone();
        let error = match connection.call(call.tool, arguments, stop.stopped(), &mut progress).await
        {
            Ok(McpToolResult { text, is_error }) => {
                return Answer { text, is_error, ..Answer::default() };
            }
            Err(error) => error,
        };
        if is_over(&error) {
            server.forget(&connection).await;
        }
        Answer::error(match error {
            McpClientError::Stopped { .. } => format!("the user stopped this{UNKNOWN}"),
            McpClientError::Silent { .. } => format!("{}{UNKNOWN}", with_causes(&error)),
            error if is_over(&error) => format!("{}{UNKNOWN}", with_causes(&error)),
            error => with_causes(&error),
        })
    }

    async fn close(&self) {
        join_all(self.servers.iter().map(ConnectedToolServer::close)).await;
    }
}

impl ConnectedToolServer {
    fn name(&self) -> String {
        self.server.address.name.clone()
    }

    /// The tools of the server, over a connection that may have to be made anew once.
    async fn tools(&self, http: &metier_net::Client) -> Result<McpToolList, McpClientError> {
        let connection = self.connection(http).await?;
        let is_denied = |name: &str| self.server.denied.iter().any(|it| is_like(name, it));
        match connection.tools_but(is_denied).await {
            Err(error) if is_over(&error) => {
                self.forget(&connection).await;
                self.connection(http).await?.tools_but(is_denied).await
            }
            tools => tools,
        }
    }

    async fn connection(
        &self,
        http: &metier_net::Client,
    ) -> Result<Arc<McpConnection>, McpClientError> {
        // Held while a connection is made, so that there is one program for a server.
        let mut held = self.connection.lock().await;
        if let Some(connection) = &*held {
            return Ok(Arc::clone(connection));
        }
        let timeouts = McpTimeouts { call: self.server.timeout, ..McpTimeouts::STANDARD };
        let options = McpClientOptions { http: http.clone(), timeouts };
        let connection = Arc::new(McpConnection::open(&self.server.address, &options).await?);
        *held = Some(Arc::clone(&connection));
        Ok(connection)
    }

    /// Lets go of a connection that is over, unless another has taken its place.
    async fn forget(&self, over: &Arc<McpConnection>) {
        let mut held = self.connection.lock().await;
        if held.as_ref().is_some_and(|it| Arc::ptr_eq(it, over)) {
            *held = None;
        }
    }

    async fn close(&self) {
        let held = self.connection.lock().await.take();
        if let Some(connection) = held.and_then(Arc::into_inner) {
            connection.close().await;
        }
    }
}

/// Whether a connection is of no use any more.
fn is_over(error: &McpClientError) -> bool {
    matches!(error, McpClientError::Ended { .. } | McpClientError::Network { .. })
}

fn defined(server: &str, McpTool { name, description, schema }: McpTool) -> Definition {
    Definition { server: server.to_owned(), name, description, schema }
}
