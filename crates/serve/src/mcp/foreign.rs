//! Tools of other servers for our agent.
//!
//! Servers are connected to when their tools are first wanted, all at once, and each has its own bound: one that does
//! not answer costs its time once and is a problem to be told, and the others work. A connection that ended is made
//! anew once before a server counts as gone.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::join_all;
use metier_agent::Stop;
use metier_agent::foreign::{
    Definition, Foreign, ForeignCall, Listing, ToolDefinitionError, is_like,
};
use metier_agent::tools::Answer;
use metier_sandbox::Stream;
use metier_workspace::executor::Live;
use tokio::sync::Mutex;
use tokio::time::timeout;

use super::client::{
    ClientError, ClientMeans, Connection, Patience, Peer, Progress, Reply, Tool, Tools,
};

/// How long the beginning of a session waits for servers.
const BEGINNING: Duration = Duration::from_secs(8);

/// What is said of a call that got no answer.
const UNKNOWN: &str = "; nobody knows how far it came";

/// A server whose tools are used.
#[derive(Clone, Debug)]
pub struct ToolServer {
    /// What it is called, and the way to it.
    pub peer: Peer,
    /// Names of tools that nobody is offered, with `*` for any part.
    pub denied: Vec<String>,
    /// How long a call may take.
    pub timeout: Duration,
}

/// Servers whose tools are used.
#[derive(Debug)]
pub struct ToolServers {
    http: metier_net::Client,
    servers: Vec<Connected>,
}

#[derive(Debug)]
struct Connected {
    server: ToolServer,
    /// The connection, while there is one.
    connection: Mutex<Option<Arc<Connection>>>,
}

/// What a server has, or why that is not known.
pub type Had = (String, Result<Tools, ClientError>);

impl ToolServers {
    /// Gets ready; nothing is connected to yet.
    pub fn new(servers: Vec<ToolServer>, http: metier_net::Client) -> Self {
        let connected = |server| Connected { server, connection: Mutex::default() };
        Self { http, servers: servers.into_iter().map(connected).collect() }
    }

    /// What each of the servers has, by its name. What is denied is not in it.
    ///
    /// Each is waited for as long as one may take that has to fetch itself first.
    pub async fn had(&self) -> Vec<Had> {
        let asked = self.servers.iter().map(|it| async { (it.name(), it.tools(&self.http).await) });
        join_all(asked).await
    }

    fn find(&self, name: &str) -> Result<&Connected, ToolDefinitionError> {
        let found = self.servers.iter().find(|it| it.server.peer.name == name);
        found.ok_or_else(|| ToolDefinitionError::UnknownServer { server: name.to_owned() })
    }
}

#[async_trait]
impl Foreign for ToolServers {
    async fn tools(&self) -> Listing {
        let mut listing = Listing::default();
        let asked = self
            .servers
            .iter()
            .map(|it| async { (it.name(), timeout(BEGINNING, it.tools(&self.http)).await) });
        for (server, had) in join_all(asked).await {
            match had {
                Ok(Ok(Tools { tools, left_out })) => {
                    listing.tools.extend(tools.into_iter().map(|tool| defined(&server, tool)));
                    let left_out = left_out.iter().map(|why| format!("of `{server}`: {why}"));
                    listing.problems.extend(left_out);
                }
                Ok(Err(error)) => listing.problems.push(words_with_hint(&error)),
                Err(_late) => listing.problems.push(format!(
                    "the server `{server}` was not ready within {} s, and the session begins without its tools; \
                     `metier mcp servers` waits longer for one that has to fetch itself first",
                    BEGINNING.as_secs()
                )),
            }
        }
        listing
    }

    async fn tool(&self, server: &str, name: &str) -> Result<Definition, ToolDefinitionError> {
        let found = self.find(server)?.tools(&self.http).await.map_err(ToolDefinitionError::new)?;
        let tool = found.tools.into_iter().find(|it| it.name == name);
        let tool = tool.ok_or_else(|| ToolDefinitionError::UnknownTool {
            server: server.to_owned(),
            tool: name.to_owned(),
        })?;
        Ok(defined(server, tool))
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
            Err(error) => return Answer::error(words(&error)),
        };
        let mut progress = |it: Progress| {
            let total = it.total.map(|total| format!("/{total}")).unwrap_or_default();
            let message = it.message.unwrap_or_default();
            live(Stream::Output, format!("{}{total} {message}\n", it.done).as_bytes());
        };
        let arguments = call.arguments.clone();
        let error = match connection.call(call.tool, arguments, stop, &mut progress).await {
            Ok(Reply { text, is_error }) => return Answer { text, is_error, ..Answer::default() },
            Err(error) => error,
        };
        if is_over(&error) {
            server.forget(&connection).await;
        }
        Answer::error(match error {
            ClientError::Stopped { .. } => format!("the user stopped this{UNKNOWN}"),
            ClientError::Silent { .. } => format!("{}{UNKNOWN}", words(&error)),
            error if is_over(&error) => format!("{}{UNKNOWN}", words(&error)),
            error => words(&error),
        })
    }

    async fn close(&self) {
        join_all(self.servers.iter().map(Connected::close)).await;
    }
}

impl Connected {
    fn name(&self) -> String {
        self.server.peer.name.clone()
    }

    /// The tools of the server, over a connection that may have to be made anew once.
    async fn tools(&self, http: &metier_net::Client) -> Result<Tools, ClientError> {
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

    async fn connection(&self, http: &metier_net::Client) -> Result<Arc<Connection>, ClientError> {
        // Held while a connection is made, so that there is one program for a server.
        let mut held = self.connection.lock().await;
        if let Some(connection) = &*held {
            return Ok(Arc::clone(connection));
        }
        let patience = Patience { call: self.server.timeout, ..Patience::STANDARD };
        let means = ClientMeans { http: http.clone(), patience };
        let connection = Arc::new(Connection::open(&self.server.peer, &means).await?);
        *held = Some(Arc::clone(&connection));
        Ok(connection)
    }

    /// Lets go of a connection that is over, unless another has taken its place.
    async fn forget(&self, over: &Arc<Connection>) {
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
fn is_over(error: &ClientError) -> bool {
    matches!(error, ClientError::Ended { .. } | ClientError::Network { .. })
}

fn defined(server: &str, Tool { name, description, schema }: Tool) -> Definition {
    Definition { server: server.to_owned(), name, description, schema }
}

/// An error with its causes, in words for a person.
pub fn words(error: &ClientError) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let why = error.to_string();
        // Some say themselves what caused them.
        if !text.contains(&why) {
            text.push_str(&format!(": {why}"));
        }
        cause = error.source();
    }
    text
}

/// The same with what a person can do about it, where a person is told.
pub fn words_with_hint(error: &ClientError) -> String {
    match error.hint() {
        Some(hint) => format!("{}; {hint}", words(error)),
        None => words(error),
    }
}
