//! The server: what another agent is told, and what its calls do.

use std::sync::Arc;

use metier_agent::visit::Visit;
use rmcp::ServerHandler;
use rmcp::model::{InitializeResult, ServerCapabilities};

/// Answers the requests of one client.
#[derive(Clone, Debug)]
pub struct Server {
    visit: Arc<Visit>,
}

impl Server {
    /// A server for one client.
    pub fn new(visit: Arc<Visit>) -> Self {
        Self { visit }
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> InitializeResult {
        let catalog = self.visit.snapshot().catalog.text.clone();
        InitializeResult::new(ServerCapabilities::builder().enable_tools().build())
            .with_instructions(catalog)
    }
}
