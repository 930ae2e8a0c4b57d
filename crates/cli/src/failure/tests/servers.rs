//! Errors of other servers, and of serving.

use std::io::ErrorKind;
use std::time::Duration;

use metier_mcp::{McpAnswerFault, McpClientError};
use metier_sandbox::SpawnError;
use metier_serve::mcp::http::TokenError;

use super::models;
use super::sheet::{Sheet, system};
use crate::failure::Failure;

pub(super) fn add_to(sheet: &mut Sheet) {
    use McpClientError as E;
    let server = || "files".to_owned();
    let program =
        SpawnError::Program { name: "mcp-files".into(), source: system(ErrorKind::NotFound) };
    let errors = [
        E::Start { server: server(), source: program },
        E::Ended {
            server: server(),
            how: "ended with exit code 1".into(),
            said: "cannot find module 'mcp'\n".into(),
        },
        E::Silent { server: server(), limit: Duration::from_secs(30), said: String::new() },
        E::Language { server: server(), what: "`Hello`".into() },
        E::Network { server: server(), source: models::connect() },
        E::Status { server: server(), status: 404 },
        E::Unauthorized { server: server(), status: 401 },
        E::Unprotected { server: server() },
        E::Refused { server: server(), code: -32602, message: "unknown tool".into() },
        E::NotOffered { server: server(), what: "resources" },
        E::Strange { server: server(), fault: McpAnswerFault::NoFile },
        E::TooLarge { server: server(), what: "skill://pdf/SKILL.md".into(), limit: 1_048_576 },
        E::Stopped { server: server() },
    ];
    for error in errors {
        sheet.show(error, |error| Failure::from(&error));
    }
    for error in
        [TokenError::None, TokenError::TooMany, TokenError::Length(2), TokenError::Characters(1)]
    {
        sheet.show(error, |error| Failure::of_tokens("/home/ada/tokens", &error));
    }
}
