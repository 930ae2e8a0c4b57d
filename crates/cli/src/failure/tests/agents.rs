//! Errors of the agent, of sessions, of settings and of telemetry.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::Duration;

use metier_agent::library::EntryTreeError;
use metier_agent::texts::TextError;
use metier_agent::tools::SkillUseError;
use metier_agent::{AgentError, LibraryError};
use metier_config::{ConfigEditError, ConfigError, McpServerNameError};
use metier_model::ModelError;
use metier_net::{NetError, UrlFault};
use metier_session::{DeltaError, SessionError};
use metier_skill::library::{ChangedSkill, FileChange};
use metier_telemetry as telemetry;

use super::models;
use super::sheet::{Sheet, system};
use crate::failure::Failure;
use crate::telemetry::unsent;

pub(super) fn add_to(sheet: &mut Sheet) {
    settings(sheet);
    agent(sheet);
    sessions(sheet);
    telemetry(sheet);
}

fn settings(sheet: &mut Sheet) {
    use ConfigError as E;
    let path = || PathBuf::from("/home/ada/.metier/config.toml");
    let place = || "/home/ada/.metier/config.toml:4".to_owned();
    let errors = [
        E::Unreadable { path: path(), source: system(ErrorKind::PermissionDenied) },
        E::Syntax {
            path: path(),
            line: 3,
            message: "string values must be quoted, expected literal string".into(),
        },
        E::Unknown {
            place: place(),
            name: "exec.timout".into(),
            nearest: Some("exec.timeout".into()),
        },
        E::Unknown { place: place(), name: "colour".into(), nearest: None },
        E::Agent {
            place: place(),
            name: "agents.Big Boss.skills".into(),
            rule: "use lowercase letters, digits and hyphens, and begin with no hyphen",
        },
        E::Server {
            place: place(),
            name: "mcp.servers.a b.command".into(),
            rule: McpServerNameError,
        },
        E::DottedEntry { place: place(), name: "skills.entries.\"weather.env\".api_key".into() },
        E::Glob { place: place(), name: "skills.denied".into(), glob: "[x".into() },
        E::WrongKind {
            place: "$METIER_EXEC_TIMEOUT".into(),
            name: "exec.timeout".into(),
            wanted: "a whole number".into(),
            nearest: None,
        },
        E::WrongKind {
            place: place(),
            name: "approvals.mode".into(),
            wanted: "`deny`, `allowlist` or `full`".into(),
            nearest: Some("allowlist"),
        },
    ];
    errors.into_iter().for_each(|error| sheet.show(error, Failure::from));
    use ConfigEditError as Edit;
    let errors = [
        Edit::Unknown { name: "exec.timout".into(), nearest: Some("exec.timeout".into()) },
        Edit::Unknown { name: "colour".into(), nearest: None },
        Edit::WrongKind {
            name: "approvals.mode".into(),
            wanted: "`deny`, `allowlist` or `full`".into(),
            nearest: Some("allowlist"),
        },
        Edit::Occupied { path: path(), name: "agents.defaults.workspace".into() },
    ];
    errors.into_iter().for_each(|error| sheet.show(error, Failure::from));
}

fn agent(sheet: &mut Sheet) {
    use AgentError as E;
    let text = || TextError {
        skill: "pdf".into(),
        what: "instructions".into(),
        source: system(ErrorKind::NotFound),
    };
    sheet.inside(&text(), &E::from(text()).into());
    let library = || {
        LibraryError::new(
            "the skill `pdf`: cannot read the folder `/home/ada/.agents/skills/pdf`: Permission denied (os error 13)",
        )
    };
    sheet.show(library(), Failure::from);
    let changes = vec![FileChange::Modified("dist/run.sh".into())];
    let changed = ChangedSkill { skill: "pdf".into(), changes };
    sheet.inside(&changed, &EntryTreeError::from(changed.clone()).into());
    sheet.show(EntryTreeError::from(library()), Failure::from);
    sheet.show(EntryTreeError::from(changed), Failure::from);
    let nearest = vec!["pdf".into(), "docx".into()];
    let unknown = SkillUseError::Unknown { name: "pfd".into(), nearest };
    let errors = [
        E::from(ModelError::ScriptEnded { request: 3 }),
        E::from(SessionError::NotFound { session: "monday".into() }),
        E::from(text()),
        E::from(DeltaError::TooMany { limit: 256 }),
        E::Load { skill: "pfd".into(), source: Box::new(unknown.into()) },
        E::TooLong,
        E::Busy { session: "monday".into() },
        E::Attach { name: "sales.csv".into(), source: std::io::Error::from_raw_os_error(28) },
        E::from(std::io::Error::from_raw_os_error(24)),
    ];
    errors.into_iter().for_each(|error| sheet.show(error, Failure::from));
    let name = "temp:a\u{fffd}".to_owned();
    let errors = [
        DeltaError::Name { name: name.clone(), rule: "it has a control character" },
        DeltaError::Value { name, size: 70_000, limit: 65_536 },
        DeltaError::TooMany { limit: 256 },
    ];
    for error in errors {
        sheet.show(error, |error| E::State(error).into());
    }
}

fn sessions(sheet: &mut Sheet) {
    use SessionError as E;
    let database = || PathBuf::from("/home/ada/.metier/metier.db");
    let errors = [
        E::Id { of: "session", rule: "it is empty" },
        E::NotFound { session: "monday".into() },
        E::Gone { session: "monday".into() },
        E::Conflict { expected: 12, found: 14 },
        E::TooLarge { what: "the event", size: 20_000_000, limit: 16_777_216 },
        E::TooMany { count: 5000, limit: 1024 },
        E::Unstorable { what: "the event", fault: "number out of range".into() },
        E::Full { limit: 268_435_456 },
        E::TooManySessions { limit: u32::MAX },
        E::TooManyDecisions { limit: 10_000 },
        E::Locked { database: database(), waited: Duration::from_secs(10) },
        E::Damaged { database: database(), fault: "file is not a database".into() },
        E::NoSpace { database: database() },
        E::NoAccess { database: database(), fault: "attempt to write a readonly database".into() },
        E::Newer { database: database(), found: 9, known: 4 },
        E::Foreign { database: database() },
        E::Moved { database: database() },
        E::Storage { database: database(), fault: "disk I/O error".into() },
        E::Closed { database: database() },
    ];
    errors.into_iter().for_each(|error| sheet.show(error, Failure::from));
}

fn telemetry(sheet: &mut Sheet) {
    const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
    use telemetry::{EndpointFault, ExportError, SettingsError as E, StartError, Undelivered};
    sheet.warn(&telemetry::SettingsWarning::Disabled("yes".into()));
    for fault in [
        || EndpointFault::Url(UrlFault::Credentials),
        || EndpointFault::Query,
        || EndpointFault::Fragment,
    ] {
        sheet.warn_with(&fault(), &E::Endpoint { variable: ENDPOINT, fault: fault() });
    }
    sheet.warn(&E::Endpoint { variable: ENDPOINT, fault: EndpointFault::Query });
    sheet.warn(&E::Protocol { variable: "OTEL_EXPORTER_OTLP_PROTOCOL", value: "grpc".into() });
    sheet.warn(&E::Exporter("zipkin".into()));
    sheet.warn(&E::Timeout { variable: "OTEL_EXPORTER_OTLP_TIMEOUT" });
    sheet.warn(&E::List { variable: "OTEL_EXPORTER_OTLP_HEADERS" });
    let busy = || std::io::Error::from_raw_os_error(11);
    for error in [
        StartError::from(NetError::Runtime(busy())),
        StartError::Background(busy()),
        StartError::Taken,
    ] {
        sheet.note(&error, &unsent(&error));
    }
    let causes = [
        || ExportError::from(models::connect()),
        || ExportError::Status { status: 503, retry_after: None },
        || ExportError::TooMany,
        || ExportError::Late,
    ];
    for cause in causes {
        let endpoint = "http://127.0.0.1:4318/v1/traces".to_owned();
        sheet.note(&cause(), &unsent(&Undelivered { endpoint, cause: cause() }));
    }
    let error = Undelivered {
        endpoint: "http://127.0.0.1:4318/v1/traces".into(),
        cause: ExportError::Late,
    };
    sheet.note(&error, &unsent(&error));
}
