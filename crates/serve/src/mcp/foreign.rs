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
use metier_agent::foreign::{Definition, Foreign, ForeignCall, Listing, is_like};
use metier_agent::tools::Answer;
use metier_sandbox::Stream;
use metier_workspace::executor::Live;
use tokio::sync::Mutex;
use tokio::time::{sleep, timeout};

use super::client::{ClientError, ClientMeans, Connection, Patience, Peer, Progress, Reply, Tools};

/// How long the beginning of a session waits for servers.
const BEGINNING: Duration = Duration::from_secs(8);

/// How long a server that is told to stop is waited for.
const FAREWELL: Duration = Duration::from_secs(1);

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
    pub async fn had(&self) -> Vec<Had> {
        let asked = self.servers.iter().map(|it| async {
            let tools = match timeout(BEGINNING, it.tools(&self.http)).await {
                Ok(tools) => tools,
                Err(_) => Err(ClientError::Silent {
                    server: it.server.peer.name.clone(),
                    limit: BEGINNING,
                    said: String::new(),
                }),
            };
            (it.server.peer.name.clone(), tools)
        });
        join_all(asked).await
    }

    fn find(&self, name: &str) -> Result<&Connected, String> {
        let found = self.servers.iter().find(|it| it.server.peer.name == name);
        found.ok_or_else(|| format!("the server `{name}` is not used any more"))
    }
}

#[async_trait]
impl Foreign for ToolServers {
    async fn tools(&self) -> Listing {
        let mut listing = Listing::default();
        for (server, had) in self.had().await {
            match had {
                Ok(Tools { tools, left_out }) => {
                    let definitions = tools.into_iter().map(|tool| Definition {
                        server: server.clone(),
                        name: tool.name,
                        description: tool.description,
                        schema: tool.schema,
                    });
                    listing.tools.extend(definitions);
                    let left_out = left_out.iter().map(|why| format!("of `{server}`: {why}"));
                    listing.problems.extend(left_out);
                }
                Err(error) => listing.problems.push(words(&error)),
            }
        }
        listing
    }

    async fn tool(&self, server: &str, name: &str) -> Result<Definition, String> {
        let found = self.find(server)?.tools(&self.http).await.map_err(|error| words(&error))?;
        let tool = found.tools.into_iter().find(|it| it.name == name);
        let tool =
            tool.ok_or_else(|| format!("the server `{server}` has no tool `{name}` any more"))?;
        Ok(Definition {
            server: server.to_owned(),
            name: tool.name,
            description: tool.description,
            schema: tool.schema,
        })
    }

    async fn call(&self, call: ForeignCall<'_>, stop: &Stop, mut live: Live) -> Answer {
        let server = match self.find(call.server) {
            Ok(server) => server,
            Err(why) => return Answer::error(why),
        };
        // Whether a call that got no answer was carried out is not known, so it is not made again.
        let connection = match server.connection(&self.http).await {
            Ok(connection) => connection,
            Err(error) => return Answer::error(words(&error)),
        };
        let mut progress = |it: Progress| {
            let total = it.total.map(|total| format!("/{total}")).unwrap_or_default();
            let message = it.message.unwrap_or_default();
            live(Stream::Output, format!("{}{total} {message}\n", it.done).as_bytes());
        };
        // Stopped by whoever may stop us, and when its time is up: the server is told in both cases.
        let (stopper, stopped) = metier_agent::stop();
        let calling = connection.call(call.tool, call.arguments.clone(), &stopped, &mut progress);
        let mut calling = std::pin::pin!(calling);
        let limit = server.server.timeout;
        let is_late = tokio::select! {
            reply = &mut calling => return server.answer(&connection, reply).await,
            () = sleep(limit) => true,
            () = stop.stopped() => false,
        };
        stopper.stop();
        let reply = timeout(FAREWELL, calling).await;
        match reply {
            Ok(Ok(reply)) => answered(reply),
            _ if is_late => Answer::error(format!(
                "the server `{}` did not answer within {} s, and nobody knows how far it came",
                call.server,
                limit.as_secs()
            )),
            _ => Answer::error("the user stopped this, and nobody knows how far it came"),
        }
    }

    async fn close(&self) {
        join_all(self.servers.iter().map(Connected::close)).await;
    }
}

impl Connected {
    /// The tools of the server, over a connection that may have to be made anew once.
    async fn tools(&self, http: &metier_net::Client) -> Result<Tools, ClientError> {
        let connection = self.connection(http).await?;
        let tools = match connection.tools().await {
            Err(error) if is_over(&error) => {
                self.forget(&connection).await;
                self.connection(http).await?.tools().await
            }
            tools => tools,
        };
        let mut tools = tools?;
        let is_denied = |name: &str| self.server.denied.iter().any(|it| is_like(name, it));
        tools.tools.retain(|tool| !is_denied(&tool.name));
        Ok(tools)
    }

    async fn connection(&self, http: &metier_net::Client) -> Result<Arc<Connection>, ClientError> {
        // Held while a connection is made, so that there is one program for a server.
        let mut held = self.connection.lock().await;
        if let Some(connection) = &*held {
            return Ok(Arc::clone(connection));
        }
        let patience = Patience { silence: self.server.timeout, ..Patience::STANDARD };
        let means = ClientMeans { http: http.clone(), patience };
        let connection = Arc::new(Connection::open(&self.server.peer, &means).await?);
        *held = Some(Arc::clone(&connection));
        Ok(connection)
    }

    /// What came of a call.
    async fn answer(
        &self,
        connection: &Arc<Connection>,
        reply: Result<Reply, ClientError>,
    ) -> Answer {
        match reply {
            Ok(reply) => answered(reply),
            Err(error) => {
                if is_over(&error) {
                    self.forget(connection).await;
                }
                Answer::error(words(&error))
            }
        }
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

fn answered(Reply { text, is_error }: Reply) -> Answer {
    Answer { text, is_error, ..Answer::default() }
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
