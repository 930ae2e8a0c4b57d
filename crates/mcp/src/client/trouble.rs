//! Explaining why a server is of no use.

use std::time::Duration;

use rmcp::ServiceError;
use rmcp::service::ClientInitializeError;
use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::StreamableHttpError;

use super::McpClientError;
use super::program::Running;
use super::text::{bounded, excerpt};
use super::web::Fault;

/// How long a reason of a server may be, in bytes.
const MAX_REASON: usize = 2 << 10;

/// Whom a connection is to, and the program at its other end, which may explain something.
#[derive(Debug)]
pub(super) struct Trouble {
    pub(super) server: String,
    program: Option<Running>,
}

impl Trouble {
    pub(super) fn new(server: String, program: Option<Running>) -> Self {
        Self { server, program }
    }

    /// Ends the program.
    pub(super) async fn end(self) {
        if let Some(program) = self.program {
            program.end().await;
        }
    }

    /// What the program said, if there is one.
    fn said(&self) -> String {
        self.program.as_ref().map(Running::said).unwrap_or_default()
    }

    /// Why there is no connection.
    pub(super) async fn opening(&self, error: ClientInitializeError) -> McpClientError {
        match error {
            ClientInitializeError::LegacyFallbackFailed { fallback, .. } => {
                Box::pin(self.opening(*fallback)).await
            }
            ClientInitializeError::TransportError { error, .. } => self.sending(error).await,
            ClientInitializeError::JsonRpcError(reason) => {
                self.refused(reason.code.0, &reason.message)
            }
            ClientInitializeError::NoCompatibleProtocolVersion { server_supported, .. } => {
                let versions: Vec<&str> = server_supported.iter().map(|it| it.as_str()).collect();
                self.language(format!("it speaks {}", excerpt(&versions.join(", "))))
            }
            ClientInitializeError::ConflictInitResponseId(..)
            | ClientInitializeError::UncorrelatedErrorResponse { .. } => {
                self.language("it answers what nobody asked".to_owned())
            }
            ClientInitializeError::ExpectedInitResponse(_)
            | ClientInitializeError::ExpectedInitResult(_) => {
                self.language("it does not say what it is".to_owned())
            }
            _ => self.ended().await,
        }
    }

    /// Why there is no answer.
    pub(super) async fn asking(&self, error: ServiceError) -> McpClientError {
        match error {
            ServiceError::McpError(reason) => self.refused(reason.code.0, &reason.message),
            ServiceError::TransportSend(error) => self.sending(error).await,
            ServiceError::Timeout { timeout } => self.silent(timeout),
            ServiceError::UnexpectedResponse => {
                self.language("it answers what nobody asked".to_owned())
            }
            ServiceError::Cancelled { .. } => {
                McpClientError::Stopped { server: self.server.clone() }
            }
            _ => self.ended().await,
        }
    }

    /// It was waited for so long.
    pub(super) fn silent(&self, limit: Duration) -> McpClientError {
        McpClientError::Silent { server: self.server.clone(), limit, said: self.said() }
    }

    async fn sending(&self, error: DynamicTransportError) -> McpClientError {
        let server = self.server.clone();
        match error.error.downcast::<StreamableHttpError<Fault>>() {
            Ok(error) => match *error {
                StreamableHttpError::Client(Fault::Network(source)) => {
                    McpClientError::Network { server, source }
                }
                StreamableHttpError::Client(Fault::Status(status @ (401 | 403))) => {
                    McpClientError::Unauthorized { server, status }
                }
                StreamableHttpError::Client(Fault::Status(status)) => {
                    McpClientError::Status { server, status }
                }
                StreamableHttpError::UnexpectedServerResponse(what) => {
                    self.language(format!("it answers with {}", excerpt(&what)))
                }
                other => self.language(excerpt(&other.to_string())),
            },
            // A pipe that nobody reads.
            Err(_io) => self.ended().await,
        }
    }

    async fn ended(&self) -> McpClientError {
        let how = match &self.program {
            Some(program) => program.how().await,
            None => "ended the connection".to_owned(),
        };
        McpClientError::Ended { server: self.server.clone(), how, said: self.said() }
    }

    fn refused(&self, code: i32, message: &str) -> McpClientError {
        let message = bounded(message, MAX_REASON);
        McpClientError::Refused { server: self.server.clone(), code, message }
    }

    fn language(&self, what: String) -> McpClientError {
        McpClientError::Language { server: self.server.clone(), what }
    }
}
