//! The errors of the libraries as people meet them: which are questions that were not understood, and what is to be done about each.
//!
//! A library speaks to programs as well, so where its advice is not that of a command line, the message is replaced here.

use std::error::Error;
use std::io::{self, ErrorKind};
use std::iter;

use metier_agent::library::EntryTreeError;
use metier_agent::{AgentError, LibraryError};
use metier_clients::ClientConfigError;
use metier_config::{ConfigEditError, ConfigError};
use metier_mcp::McpClientError;
use metier_model::ModelError;
use metier_net::NetError;
use metier_sandbox::SpawnError;
use metier_secrets::RedactorError;
use metier_serve::mcp::http::TokenError;
use metier_session::{DeltaError, SessionError};
use metier_skill::archive::ArchiveError;
use metier_skill::files::TreeError;
use metier_skill::install::{Obstacle, PlaceError};
use metier_skill::library::{ChangedSkill, PatternError, TrustError};
use metier_skill::remote::StoreError;
use metier_skill::search::edit_distance;
use metier_workspace::artifact::ArtifactError;

use super::{Failure, advice};
use crate::output::size;
use metier_app::models::OFFLINE;

pub(super) const OTHER_STATE: &str = "set METIER_HOME to a folder that you can write to";
const AGAIN: &str = "run the command again";
const LESS: &str = "ask for less at once, or start a new session";
/// Sessions that only `metier exec` has used are in no list.
pub(crate) const WHICH_SESSIONS: &str =
    "`metier sessions list` shows those of `run` and `chat`; `metier exec` says which one it used";
const CERTIFICATES: &str = "check the address, and the clock and certificates of this system";
/// Wrong characters with which the name of a provider is still recognised.
const MAX_SLIPS: usize = 2;
pub(super) const FREE_SPACE: &str = "free some space on that disk; `metier gc` may help";

impl Failure {
    fn with(self, hint: Option<&str>) -> Self {
        match hint {
            Some(hint) => self.hint(hint),
            None => self,
        }
    }
}

impl Failure {
    /// The same with other advice where a disk is full, of which another folder on it is too.
    #[must_use]
    pub(crate) fn unless_full(self, error: &(dyn Error + 'static)) -> Self {
        let causes = iter::successors(Some(error), |&cause| cause.source());
        let kinds = causes.filter_map(|it| it.downcast_ref::<io::Error>()).map(io::Error::kind);
        let is_full = |kind| matches!(kind, ErrorKind::StorageFull | ErrorKind::QuotaExceeded);
        if kinds.into_iter().any(is_full) { self.hint(FREE_SPACE) } else { self }
    }

    /// A file or variable with tokens that cannot be used.
    pub(crate) fn of_tokens(place: &str, error: &TokenError) -> Self {
        let hint = match error {
            TokenError::TooMany => "take out those that nobody uses",
            _ => "put one token in a line; `openssl rand -hex 32` makes one",
        };
        Self::usage(format!("the tokens in `{place}` cannot be used: {error}")).hint(hint)
    }

    /// A way to install something that cannot be gone here.
    pub(crate) fn of_obstacle(option: &str, obstacle: &Obstacle) -> Self {
        Self::new(format!("the option `{option}` cannot be used here: {obstacle}"))
    }
}

impl From<&ConfigError> for Failure {
    fn from(error: &ConfigError) -> Self {
        let failure = Self::of(error).with(Self::hint_of_config(error).as_deref());
        match error {
            ConfigError::Unreadable { .. } => failure,
            _ => failure.into_usage(),
        }
    }
}

impl From<&ConfigEditError> for Failure {
    fn from(error: &ConfigEditError) -> Self {
        let hint = match error {
            ConfigEditError::Unknown { nearest: Some(nearest), .. } => {
                Some(format!("did you mean `{nearest}`?"))
            }
            ConfigEditError::WrongKind { nearest: Some(nearest), .. } => {
                Some(format!("did you mean `{nearest}`?"))
            }
            ConfigEditError::Unknown { .. } => {
                Some("`metier config show --all` lists them".to_owned())
            }
            ConfigEditError::Occupied { .. } => Some("`metier config edit` opens it".to_owned()),
            _ => None,
        };
        match error {
            ConfigEditError::Config(error) => error.into(),
            error => Self::of(error).with(hint.as_deref()).into_usage(),
        }
    }
}

impl Failure {
    /// What to do about a configuration that cannot be used.
    pub(crate) fn hint_of_config(error: &ConfigError) -> Option<String> {
        let nearest = |nearest: &str| format!("did you mean `{nearest}`?");
        match error {
            ConfigError::Unreadable { .. } => Some("make it a file that you can read".to_owned()),
            ConfigError::Unknown { nearest: Some(name), .. } => Some(nearest(name)),
            ConfigError::Unknown { .. } => Some("`metier config show --all` lists them".to_owned()),
            ConfigError::Syntax { .. } => Some("fix that line".to_owned()),
            ConfigError::WrongKind { nearest: Some(word), .. } => Some(nearest(word)),
            ConfigError::Glob { .. } => {
                Some("write names such as `pdf`, or patterns such as `git-*`".to_owned())
            }
            ConfigError::DottedEntry { .. } => {
                Some("give the skill a name without dots, and write that".to_owned())
            }
            _ => None,
        }
    }
}

impl From<&ClientConfigError> for Failure {
    fn from(error: &ClientConfigError) -> Self {
        use ClientConfigError as E;
        let hint = match error {
            E::NoHome { .. } => Some("set HOME, or use `--scope project`"),
            E::NoProjectFile { .. } => Some("leave out `--scope project`"),
            E::OutsideProject { .. } => {
                Some("put a file in place of the link, or leave out `--scope project`")
            }
            E::Read { .. } | E::NotText { .. } => Some("make it a file of text that you can read"),
            E::Write { .. } => Some("`--print` shows what to write there yourself"),
            E::TokenUnsupported { .. } => {
                Some("without `--http` it starts the server itself, and needs none")
            }
            E::AdditionNotUnderstood { .. } => Some("add what is shown yourself"),
            E::RemovalNotUnderstood { name, .. } => {
                let hint = format!("take `{name}` out yourself");
                return Self::of(error).hint(hint);
            }
            E::Changed { .. } => Some("try again"),
            _ => None,
        };
        let failure = match error {
            E::NoHome { .. } => Self::new("HOME is not set, so there is no configuration of yours"),
            // The sources of the source would say the same again.
            E::Read { source, .. } | E::Write { source, .. } => {
                Self::new(format!("{error}: {source}"))
            }
            error => Self::of(error),
        };
        let failure = failure.with(hint);
        match error {
            E::NoHome { .. } | E::NoProjectFile { .. } => failure.into_usage(),
            _ => failure,
        }
    }
}

impl From<&RedactorError> for Failure {
    fn from(error: &RedactorError) -> Self {
        Self::brief(error)
            .into_usage()
            .hint("remove keys that are not needed from the configuration: all of them are masked")
    }
}

impl From<&PatternError> for Failure {
    fn from(error: &PatternError) -> Self {
        // The rest of what the source says repeats the pattern.
        Self::usage(format!("{error}: {}", error.source.kind()))
            .hint("write names such as `pdf`, or patterns such as `git-*`")
    }
}

impl From<&TrustError> for Failure {
    fn from(error: &TrustError) -> Self {
        let hint = match error {
            TrustError::Broken { .. } => {
                "delete it and run `metier trust` in each project you trust"
            }
            _ => "make it readable and writable for you, or set METIER_HOME to another folder",
        };
        Self::of(error).hint(hint)
    }
}

impl From<&LibraryError> for Failure {
    fn from(error: &LibraryError) -> Self {
        Self::of(error)
            .hint("make its files readable for you, and take out what does not belong to the skill")
    }
}

impl From<&EntryTreeError> for Failure {
    fn from(error: &EntryTreeError) -> Self {
        match error {
            EntryTreeError::Unreadable(error) => error.into(),
            error => Self::of(error).hint(advice::words(&ChangedSkill::REMEDY)),
        }
    }
}

impl From<&AgentError> for Failure {
    fn from(error: &AgentError) -> Self {
        match error {
            AgentError::Model(error) => error.into(),
            AgentError::Session(error) => error.into(),
            AgentError::Text(error) => Self::of(error).hint("start a new session"),
            AgentError::Load { .. } => Self::of(error)
                .hint("`metier skills list --all` shows every skill, and why one cannot be used"),
            AgentError::Attach { .. } => {
                Self::of(error).hint("set METIER_HOME to a folder that you can write to")
            }
            AgentError::Io(_) => Self::of(error)
                .hint("the system is short of processes or open files; try again later"),
            AgentError::State(DeltaError::TooMany { limit }) => Self::new(format!(
                "too much happened in one step: more than {limit} values changed"
            ))
            .hint(LESS),
            AgentError::State(_) => Self::of(error).hint("start a new session"),
            AgentError::TooLong => {
                Self::new("the conversation does not fit into the model, not even summarised")
                    .hint("start a new session")
            }
            error => Self::of(error),
        }
    }
}

impl From<&SessionError> for Failure {
    fn from(error: &SessionError) -> Self {
        use SessionError as E;
        match error {
            E::Id { of: "session", .. } => {
                Self::usage(error.to_string()).hint("name another session")
            }
            E::Id { .. } => Self::usage(error.to_string()),
            E::NotFound { session } => {
                Self::new(format!("there is no session `{session}`")).hint(WHICH_SESSIONS)
            }
            E::Gone { session } => {
                Self::new(format!("the session `{session}` was deleted meanwhile")).hint(AGAIN)
            }
            E::TooLarge { what, size, limit } => {
                // An event is a message, of the person, the model or a tool.
                let what = if *what == "the event" { "a message" } else { what };
                let (size, limit) = (bytes(*size as u64), bytes(*limit as u64));
                Self::new(format!("{what} has {size}, and at most {limit} are taken"))
                    .hint("put long content into a file, and attach it")
            }
            E::TooMany { count, limit } => Self::new(format!(
                "too much happened in one step: {count} events, and at most {limit} are taken"
            ))
            .hint(LESS),
            E::Unstorable { fault, .. } => {
                Self::new(format!("what happened cannot be stored: {fault}")).hint(LESS)
            }
            E::Conflict { .. } => {
                Self::new("another command works in this session at the same time")
                    .hint("wait until it has ended, or use another session")
            }
            E::NoSpace { database } => {
                Self::new(format!("no space is left for the database `{}`", database.display()))
                    .hint(FREE_SPACE)
            }
            E::NoAccess { .. } => {
                Self::of(error).hint("METIER_HOME chooses another state directory")
            }
            E::Foreign { database } => {
                Self::new(format!("`{}` is a database of another program", database.display()))
                    .hint("move it away, or set METIER_HOME to another state directory")
            }
            E::Newer { .. } => Self::of(error)
                .hint("install a newer metier, or set METIER_HOME to another state directory"),
            E::Moved { database } => Self::new(format!(
                "the database `{}` was moved away or replaced while it was in use",
                database.display()
            ))
            .hint(AGAIN),
            E::Closed { database } => {
                Self::new(format!("the database `{}` has stopped working", database.display()))
                    .hint("run the command again; it is not known whether the last change was kept")
            }
            E::TooManyDecisions { limit } => {
                Self::new(format!("there are {limit} approvals, the most that are kept"))
                    .hint("`metier approvals revoke ID` removes one")
            }
            E::TooManySessions { limit } => {
                Self::new(format!("the database has had {limit} sessions, the most there can be"))
                    .hint("move it away, or set METIER_HOME to another state directory")
            }
            // What to do is part of the messages.
            error => Self::of(error),
        }
    }
}

impl From<&ArtifactError> for Failure {
    fn from(error: &ArtifactError) -> Self {
        use ArtifactError as E;
        match error {
            E::Name { .. } | E::Id { .. } | E::MimeType { .. } | E::Reference { .. } => {
                Self::brief(error).into_usage()
            }
            E::NotFound { name } => Self::new(format!("there is no artifact `{name}`")).hint(
                "`metier artifacts list` shows those there are; `--session` names the session",
            ),
            E::NoVersion { name, version } => {
                Self::new(format!("the artifact `{name}` has no version {version}"))
                    .hint(format!("`metier artifacts versions {name}` shows those there are"))
            }
            E::NoSpace { folder, .. } => {
                Self::new(format!("no space is left for artifacts in `{}`", folder.display()))
                    .hint(FREE_SPACE)
            }
            E::NoAccess { folder, source } => Self::new(format!(
                "no access to the artifacts in `{}`: {source}",
                folder.display()
            ))
            .hint("make them readable and writable for you, or set METIER_HOME to another folder"),
            E::Storage { folder, source } => {
                Self::new(format!("cannot use the artifacts in `{}`: {source}", folder.display()))
                    .hint("check the folder and its disk")
            }
            E::TooLarge { name, limit } => Self::new(format!(
                "`{name}` is longer than {}, the most that an artifact may have",
                bytes(*limit)
            ))
            .hint("save less, or in several files"),
            E::Damaged { name, version, fault } => Self::new(format!(
                "version {version} of `{name}` is damaged: {fault}"
            ))
            .hint(format!(
                "`metier artifacts rm {name}@{version}` deletes it; or restore a backup"
            )),
            E::Content { .. } => Self::brief(error).hint("check the disk that it is on"),
            error => Self::brief(error),
        }
    }
}

impl From<&TreeError> for Failure {
    fn from(error: &TreeError) -> Self {
        let hint = match error {
            TreeError::Unreadable { .. } => "make it readable for you",
            _ => "take out what does not belong to the skill",
        };
        Self::of(error).hint(hint)
    }
}

impl From<&ArchiveError> for Failure {
    fn from(error: &ArchiveError) -> Self {
        use ArchiveError as E;
        let hint = match error {
            E::UnknownFormat { .. } => Some("name a `.zip`, `.tar`, `.tar.gz` or `SKILL.md`"),
            E::Unreadable { .. } => Some("make it readable for you"),
            E::RatioTooHigh { .. } | E::HeadersTooLarge { .. } => {
                Some("it may be made to do harm: ask its author about it")
            }
            E::Damaged { .. } => Some("fetch or pack it again"),
            E::Refused { .. } => Some("ask its author to pack it without that"),
            E::ArchiveTooLarge { .. }
            | E::TooManyEntries { .. }
            | E::FileTooLarge { .. }
            | E::TotalTooLarge { .. } => {
                Some("ask its author for a smaller one, or unpack it yourself")
            }
            E::Write { .. } => Some(OTHER_STATE),
            E::TargetExists { .. } => Some(AGAIN),
            _ => None,
        };
        let failure = match error {
            E::ArchiveTooLarge { bytes: size, limit } => {
                let (size, limit) = (bytes(*size), bytes(*limit));
                Self::new(format!("the archive has {size}, more than the {limit} allowed"))
            }
            E::FileTooLarge { entry, limit } => {
                Self::new(format!("`{entry}` unpacks to more than {}", bytes(*limit)))
            }
            E::TotalTooLarge { entry, limit } => {
                let limit = bytes(*limit);
                Self::new(format!("the archive unpacks to more than {limit}, reached in `{entry}`"))
            }
            E::HeadersTooLarge { limit } => {
                Self::new(format!("the archive has headers of more than {}", bytes(*limit)))
            }
            error => Self::of(error),
        };
        failure.with(hint).unless_full(error)
    }
}

impl From<&PlaceError> for Failure {
    fn from(error: &PlaceError) -> Self {
        let hint = match error {
            PlaceError::Write { .. } => OTHER_STATE,
            PlaceError::Archive(_) => "ask the author of the skill for another download",
            _ => {
                "the option did not bring what the skill says: try another, or ask the author of the skill"
            }
        };
        Self::of(error).hint(hint).unless_full(error)
    }
}

impl From<&StoreError> for Failure {
    fn from(error: &StoreError) -> Self {
        let hint = match error {
            StoreError::Fault(_) => {
                Some("if the skill has changed there, list it again and look at it anew")
            }
            StoreError::Io { .. } => Some(OTHER_STATE),
            StoreError::Dynamic => Some("ask whoever runs the server for a skill of files"),
            _ => None,
        };
        Self::of(error).with(hint).unless_full(error)
    }
}

impl From<&NetError> for Failure {
    fn from(error: &NetError) -> Self {
        use NetError as E;
        let hint = match error {
            E::Url { .. } => Some("write it as `https://host/path`"),
            E::Setup(_) => Some("check the certificates of this system"),
            E::Resolve { .. } | E::Connect { .. } => {
                Some("check the address and your network; proxies (HTTPS_PROXY) are not used")
            }
            E::Tls { .. } => Some(CERTIFICATES),
            E::TimedOut { .. } | E::Silent { .. } | E::Interrupted { .. } => {
                Some("try again later")
            }
            E::Status { status: 401 | 403, .. } => {
                Some("it is not for everybody: fetch it yourself, and name the file")
            }
            E::Status { status: 404 | 410, .. } => Some("check the address: nothing is there"),
            E::Status { status: 429 | 500.., .. } => Some("try again later"),
            E::Status { .. } => Some("check the address"),
            E::Redirect { .. } => Some("use an address that leads there directly"),
            E::Write(_) => Some(FREE_SPACE),
            E::Header { .. } => Some("look for line breaks and blanks in its value"),
            E::TooLarge { .. } => Some("ask its author for a smaller one"),
            E::Runtime(_) => {
                Some("end other programs, or raise the limits (`ulimit -n`, `ulimit -u`)")
            }
            _ => None,
        };
        let failure = match error {
            E::TooLarge { url, limit } => {
                Self::new(format!("`{url}` is larger than {}", bytes(*limit)))
            }
            error => Self::brief(error),
        };
        failure.with(hint)
    }
}

impl From<&McpClientError> for Failure {
    fn from(error: &McpClientError) -> Self {
        let failure = match error {
            // What lies between is the machinery of a library.
            McpClientError::Network { source, .. } => Self::brief(source).within(error.to_string()),
            McpClientError::Start { server, source: source @ SpawnError::Program { .. } } => {
                Self::of(source).within(format!("the program of the server `{server}`"))
            }
            McpClientError::TooLarge { server, what, limit } => {
                let limit = bytes(*limit);
                Self::new(format!("the server `{server}` gave more than {limit}: `{what}`"))
            }
            error => Self::of(error),
        };
        let ours = match error {
            McpClientError::NotOffered { .. } => Some("`metier mcp servers` shows what it offers"),
            McpClientError::Strange { .. } | McpClientError::TooLarge { .. } => {
                Some("whoever makes the server can change that")
            }
            McpClientError::Refused { .. } => Some("`metier mcp servers` shows what it offers"),
            _ => None,
        };
        failure.with(server_advice(error).or(ours))
    }
}

/// Advises what to do about a server that cannot be used.
pub(crate) fn server_advice(error: &McpClientError) -> Option<&'static str> {
    use McpClientError as E;
    Some(match error {
        E::Start { .. } => "install the program, or correct the command",
        E::Ended { .. } | E::Language { .. } => {
            "start its command by hand to see whether it is a server of the protocol"
        }
        E::Silent { .. } => "see whether the server waits for something, then try again",
        E::Network { .. } | E::Status { .. } => "check the address, and whether the server runs",
        E::Unauthorized { .. } => {
            "set `mcp.servers.NAME.token_env` to the name of the variable that has its token"
        }
        E::Unprotected { .. } => {
            "use an `https` address, or one of this machine, or leave out the headers"
        }
        _ => return None,
    })
}

impl From<&ModelError> for Failure {
    fn from(error: &ModelError) -> Self {
        use ModelError as E;
        let is_usage = matches!(
            error,
            E::Name { .. }
                | E::UnknownProvider { .. }
                | E::BaseUrl { .. }
                | E::ScriptFile { .. }
                | E::Script { .. }
        );
        let mut failure = match error {
            // Scripts are for tests; the planner is for people.
            E::UnknownProvider { provider, known } => {
                let known = known.iter().map(String::as_str).filter(|it| *it != "scripted");
                let known = known.chain([OFFLINE]).collect::<Vec<_>>().join("`, `");
                Self::new(format!("there is no provider `{provider}`; there are `{known}`"))
            }
            E::TooLarge { limit } => {
                Self::new(format!("the reply is larger than {}", bytes(*limit as u64)))
            }
            _ => Self::brief(error),
        };
        if is_usage {
            failure = failure.into_usage();
        }
        match error {
            E::NoKey { provider, variable: Some(_) } => failure.hint(format!(
                "`--model {OFFLINE}` needs no key; or set `models.providers.{provider}.key`"
            )),
            E::NoKey { provider, variable: None } => failure.hint(format!(
                "`--model {OFFLINE}` needs no key; else set `models.providers.{provider}.key`"
            )),
            E::UnknownProvider { provider, known } => failure.hint(provider_hint(provider, known)),
            E::Unreachable { source: NetError::Tls { .. }, .. } => failure.hint(CERTIFICATES),
            E::Setup(NetError::Header { .. }) => {
                failure.hint("look for line breaks and blanks in the key")
            }
            error => failure.with(model_hint(error)),
        }
    }
}

/// Makes failures also of errors that are not needed any more.
macro_rules! from_owned {
    ($($error:ty),*) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::from(&error)
            }
        }
    )*};
}

from_owned!(
    AgentError,
    ArchiveError,
    ArtifactError,
    ClientConfigError,
    ConfigEditError,
    ConfigError,
    EntryTreeError,
    LibraryError,
    ModelError,
    NetError,
    PatternError,
    PlaceError,
    RedactorError,
    SessionError,
    StoreError,
    TreeError,
    TrustError
);

/// A number of bytes as people read it; most limits are round.
fn bytes(count: u64) -> String {
    match count {
        0..1024 => format!("{count} bytes"),
        _ => size(count).replace(".0 ", " "),
    }
}

/// The provider that may be meant, or how to add one.
fn provider_hint(provider: &str, known: &[String]) -> String {
    match known.iter().find(|it| edit_distance(it, provider) <= MAX_SLIPS) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!(
            "to add it, set `models.providers.{provider}.base_url` to the address of its interface"
        ),
    }
}

fn model_hint(error: &ModelError) -> Option<&'static str> {
    use ModelError as E;
    Some(match error {
        E::Name { .. } => {
            "for example `openai/gpt-5`; `offline` needs no model, and says what it is"
        }
        E::BaseUrl { .. } => "write it as `https://host/v1`",
        E::Key { .. } => "check the key: it may be of another provider, mistyped or revoked",
        E::Forbidden { .. } => "ask for access to the model, or name another with `--model`",
        E::UnknownModel { .. } => "name another with `--model provider/name`",
        E::Unreachable { .. } => "check that the server runs, and its address and your network",
        E::ContextOverflow { .. } => "start a new session, or attach less",
        E::RateLimited { .. } | E::Failed { .. } | E::Interrupted { .. } => {
            "try again later, or name another model with `--model`"
        }
        E::QuotaExhausted { .. } => "add credit, or name another model with `--model`",
        E::Refused { .. } => "put the task in other words, or name another model with `--model`",
        E::Rejected { .. } => {
            "name another model with `--model`, or check `models.providers.NAME.format`"
        }
        E::NotJson { .. } => "check the base URL: it must lead to an interface of models",
        E::TooLarge { .. } => "ask for less at once, or name another model with `--model`",
        E::ScriptFile { .. } => "check its name",
        E::Script { .. } => r#"write one JSON object in a line, such as {"text": "…"}"#,
        E::ScriptEnded { .. } => "add a reply to the script",
        _ => return None,
    })
}
