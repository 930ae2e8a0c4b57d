//! The errors of the application, with their kinds.

use std::error::Error;
use std::io;
use std::iter;

use metier_agent::library::EntryTreeError;
use metier_agent::{AgentError, LibraryError};
use metier_config::ConfigError;
use metier_mcp::McpClientError;
use metier_model::ModelError;
use metier_net::NetError;
use metier_secrets::RedactorError;
use metier_session::SessionError;
use metier_skill::library::{PatternError, TrustError};
use metier_skill::remote::StoreError;
use metier_workspace::artifact::ArtifactError;
use thiserror::Error;

use crate::advice::Advice;
use crate::approvals::{ApprovalSettingsError, PreapprovalError};
use crate::assembly::AssemblyError;
use crate::grants::GrantError;
use crate::library::lookup::SkillLookupError;
use crate::models::ModelChoiceError;
use crate::ops::trust::ProjectTrustError;
use crate::servers::{ToolNameError, ToolServerProblem};
use crate::sessions::SessionLookupError;
use crate::sources::archives::ArchiveSourceError;
use crate::sources::remote::{RemoteSkillError, ServerFlagError};
use crate::state::StateError;
use crate::turn::AttachmentError;

/// Anything that can go wrong in an [`App`](crate::App).
///
/// Its [kind](AppError::kind) says what a front end answers with, its [advice](AppError::advice) what a person can do.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AppError {
    /// The configuration.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The keys to mask.
    #[error(transparent)]
    Keys(#[from] RedactorError),
    /// A filter over skills.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// Recorded trust.
    #[error(transparent)]
    Trust(#[from] TrustError),
    /// The state directory.
    #[error(transparent)]
    State(#[from] StateError),
    /// Trust in a project.
    #[error(transparent)]
    ProjectTrust(#[from] ProjectTrustError),
    /// The lookup of a skill.
    #[error(transparent)]
    Lookup(#[from] SkillLookupError),
    /// The files of a skill.
    #[error(transparent)]
    Tree(#[from] EntryTreeError),
    /// A skill as the agent uses it.
    #[error(transparent)]
    Library(#[from] LibraryError),
    /// A skill of a server.
    #[error(transparent)]
    RemoteSkill(#[from] RemoteSkillError),
    /// The store of skills of servers.
    #[error(transparent)]
    RemoteStore(#[from] StoreError),
    /// A server that is named by a selection.
    #[error(transparent)]
    ServerFlag(#[from] ServerFlagError),
    /// A server of the Model Context Protocol.
    #[error(transparent)]
    McpClient(#[from] McpClientError),
    /// The tools of servers.
    #[error(transparent)]
    ToolServer(#[from] ToolServerProblem),
    /// An archive of skills.
    #[error(transparent)]
    Archive(#[from] ArchiveSourceError),
    /// The network.
    #[error(transparent)]
    Network(#[from] NetError),
    /// The choice of a model.
    #[error(transparent)]
    ModelChoice(#[from] ModelChoiceError),
    /// A model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The database of sessions.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The lookup of a session.
    #[error(transparent)]
    SessionLookup(#[from] SessionLookupError),
    /// The store of artifacts.
    #[error(transparent)]
    Artifact(#[from] ArtifactError),
    /// The network that a skill may have.
    #[error(transparent)]
    Grant(#[from] GrantError),
    /// Settings about approvals.
    #[error(transparent)]
    Approval(#[from] ApprovalSettingsError),
    /// Commands that are allowed in advance.
    #[error(transparent)]
    Preapproval(#[from] PreapprovalError),
    /// The name of a tool of a server.
    #[error(transparent)]
    ToolName(#[from] ToolNameError),
    /// The settings of an agent.
    #[error(transparent)]
    Assembly(#[from] AssemblyError),
    /// An agent.
    #[error(transparent)]
    Agent(#[from] AgentError),
    /// A file that comes with a message.
    #[error(transparent)]
    Attachment(#[from] AttachmentError),
}

/// A kind of error, by what the caller of a front end is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The request or the configuration is wrong.
    Usage,
    /// The thing that is named is not there.
    NotFound,
    /// The credentials of a provider or server are missing or refused.
    Unauthorized,
    /// Something else uses it, or it was changed meanwhile.
    Conflict,
    /// Something outside does not answer.
    Unavailable,
    /// A limit was exceeded.
    TooLarge,
    /// No disk space is left.
    NoSpace,
    /// Anything else.
    Failed,
}

impl ErrorKind {
    /// Returns the kind as a word, for a field of JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Usage => "usage",
            Self::NotFound => "not_found",
            Self::Unauthorized => "unauthorized",
            Self::Conflict => "conflict",
            Self::Unavailable => "unavailable",
            Self::TooLarge => "too_large",
            Self::NoSpace => "no_space",
            Self::Failed => "failed",
        }
    }

    /// Returns the status of an HTTP response.
    #[must_use]
    pub const fn http_status(self) -> u16 {
        match self {
            Self::Usage => 400,
            Self::NotFound => 404,
            Self::Unauthorized => 401,
            Self::Conflict => 409,
            Self::Unavailable => 503,
            Self::TooLarge => 413,
            Self::NoSpace => 507,
            Self::Failed => 500,
        }
    }
}

impl AppError {
    /// Returns the kind of the error.
    pub fn kind(&self) -> ErrorKind {
        if is_disk_full(self) {
            return ErrorKind::NoSpace;
        }
        match self {
            Self::Config(ConfigError::Unreadable { .. }) => ErrorKind::Failed,
            Self::Config(_)
            | Self::Keys(_)
            | Self::Pattern(_)
            | Self::ServerFlag(_)
            | Self::ProjectTrust(
                ProjectTrustError::NoFolder { .. } | ProjectTrustError::StateDirectory,
            )
            | Self::ModelChoice(_)
            | Self::Grant(GrantError::Setting { .. })
            | Self::Approval(_)
            | Self::Preapproval(_)
            | Self::ToolName(_)
            | Self::Assembly(_)
            | Self::Attachment(
                AttachmentError::Unreadable { .. } | AttachmentError::TooLarge { .. },
            ) => ErrorKind::Usage,
            Self::Model(error) | Self::Agent(AgentError::Model(error)) => kind_of_model(error),
            Self::Session(error) | Self::Agent(AgentError::Session(error)) => {
                kind_of_session(error)
            }
            Self::Artifact(error) => kind_of_artifact(error),
            Self::Lookup(SkillLookupError::Missing { .. })
            | Self::SessionLookup(SessionLookupError::Missing { .. } | SessionLookupError::None) => {
                ErrorKind::NotFound
            }
            Self::SessionLookup(
                SessionLookupError::WorkspaceInUse { .. } | SessionLookupError::NotRemoved { .. },
            ) => ErrorKind::Conflict,
            Self::McpClient(_) | Self::ToolServer(_) | Self::Network(_) => ErrorKind::Unavailable,
            _ => ErrorKind::Failed,
        }
    }

    /// Returns what a person can do about the error, if this crate knows. Errors of other crates have data of their own.
    pub fn advice(&self) -> Option<Advice> {
        Advice::for_error(self)
    }
}

fn kind_of_model(error: &ModelError) -> ErrorKind {
    use ModelError as E;
    match error {
        E::Name { .. }
        | E::UnknownProvider { .. }
        | E::BaseUrl { .. }
        | E::ScriptFile { .. }
        | E::Script { .. } => ErrorKind::Usage,
        E::NoKey { .. } | E::Key { .. } | E::Forbidden { .. } => ErrorKind::Unauthorized,
        E::UnknownModel { .. } => ErrorKind::NotFound,
        E::ContextOverflow { .. } | E::TooLarge { .. } => ErrorKind::TooLarge,
        E::Unreachable { .. }
        | E::RateLimited { .. }
        | E::QuotaExhausted { .. }
        | E::Interrupted { .. } => ErrorKind::Unavailable,
        _ => ErrorKind::Failed,
    }
}

fn kind_of_session(error: &SessionError) -> ErrorKind {
    use SessionError as E;
    match error {
        E::Id { .. } => ErrorKind::Usage,
        E::NotFound { .. } | E::Gone { .. } => ErrorKind::NotFound,
        E::Conflict { .. } => ErrorKind::Conflict,
        E::TooLarge { .. } | E::TooMany { .. } => ErrorKind::TooLarge,
        E::NoSpace { .. } => ErrorKind::NoSpace,
        _ => ErrorKind::Failed,
    }
}

fn kind_of_artifact(error: &ArtifactError) -> ErrorKind {
    use ArtifactError as E;
    match error {
        E::Name { .. } | E::Id { .. } | E::MimeType { .. } | E::Reference { .. } => {
            ErrorKind::Usage
        }
        E::NotFound { .. } | E::NoVersion { .. } => ErrorKind::NotFound,
        E::TooLarge { .. } => ErrorKind::TooLarge,
        E::NoSpace { .. } => ErrorKind::NoSpace,
        _ => ErrorKind::Failed,
    }
}

/// Returns whether a full disk caused an error.
pub(crate) fn is_disk_full(error: &(dyn Error + 'static)) -> bool {
    let causes = iter::successors(Some(error), |&cause| cause.source());
    let mut kinds = causes.filter_map(|it| it.downcast_ref::<io::Error>()).map(io::Error::kind);
    kinds.any(|kind| matches!(kind, io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded))
}
