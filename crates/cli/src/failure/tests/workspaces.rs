//! Errors of running commands: the workspace, the sandbox, containers, artifacts.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use bollard::errors::Error as EngineError;
use metier_app::AppError;
use metier_app::grants::GrantError;
use metier_sandbox::{Level, Missing, SpawnError};
use metier_secrets::RedactorError;
use metier_skill::library::EntryKey;
use metier_skill::name::SkillName;
use metier_workspace::artifact::ArtifactError;
use metier_workspace::collect::PatternError;
use metier_workspace::environment::VariableError;
use metier_workspace::executor::{ContainerError, ExecuteError};
use metier_workspace::grant::BeyondError;
use metier_workspace::input::InputError;
use metier_workspace::path::PathError;
use metier_workspace::proxy::{ParseError, TargetFault};
use metier_workspace::stage::StageError;
use metier_workspace::{RunError, TimeoutError};

use super::sheet::{Sheet, system};
use crate::failure::{FailedRun, Failure};

pub(super) fn add_to(sheet: &mut Sheet) {
    let keys = [
        RedactorError::TooMany { count: 2000 },
        RedactorError::TooLong { bytes: 20_000 },
        RedactorError::TooMuch { bytes: 100_000 },
    ];
    keys.into_iter().for_each(|error| sheet.show(error, Failure::from));
    requests(sheet);
    inputs(sheet);
    starting(sheet);
    containers(sheet);
    artifacts(sheet);
    addresses(sheet);
}

fn tell(error: impl Into<RunError>) -> Failure {
    let entry_key = EntryKey::of_name(&SkillName::new("pdf").unwrap());
    let run =
        FailedRun { skill: "pdf", entry_key: &entry_key, state: Path::new("/home/ada/.metier") };
    run.failure(&error.into())
}

fn requests(sheet: &mut Sheet) {
    use RunError as E;
    let escape = || PathError::Parent("../x".into());
    let errors = [
        E::Namesake("pdf".into()),
        E::UnknownSkill("pfd".into()),
        E::Command("it is empty"),
        E::Timeout(TimeoutError::TooLong { limit: 3600 }),
        E::Directory(escape()),
        E::Variable(VariableError::Name("1X".into())),
        E::Configured(VariableError::Blocked("LD_PRELOAD".into())),
        E::Pattern(PatternError::Path(escape())),
        E::Input(InputError::Scheme("ftp://x".into())),
        E::Artifact {
            field: "artifact_prefix",
            source: ArtifactError::Name { name: "/a".into(), rule: "it begins with a slash" },
        },
        E::Beyond(BeyondError::Processes { asked: 900, allowed: 256 }),
        E::Stage(StageError::Changed { tree: "pdf".into(), path: "run.py".into() }),
        E::Execute(ExecuteError::NoShell),
        E::Workspace(system(ErrorKind::StorageFull)),
        E::Workspace(system(ErrorKind::ReadOnlyFilesystem)),
        E::Owner(ArtifactError::Id { of: "session", rule: "it is empty" }),
    ];
    for error in errors {
        sheet.show(error, tell);
    }
    let errors = [
        BeyondError::Network { asked: "api.example.com:443".into(), allowed: "none".into() },
        BeyondError::Timeout { asked: 7200, allowed: 3600 },
        BeyondError::Memory { asked: 8192, allowed: 2048 },
        BeyondError::Processes { asked: 900, allowed: 256 },
    ];
    for error in errors {
        sheet.show(error, tell);
    }
    let errors = [
        VariableError::Name("1X".into()),
        VariableError::Value("TITLE".into()),
        VariableError::Blocked("LD_PRELOAD".into()),
        VariableError::Taken("OUTPUT_DIR".into()),
        VariableError::TooMany { count: 9000, bytes: 180_000 },
    ];
    for error in errors {
        sheet.show(error, |error| tell(RunError::Variable(error)));
    }
    let errors = [
        PathError::Absolute("/etc".into()),
        PathError::Parent("../x".into()),
        PathError::Variable("$HOME/x".into()),
        PathError::Control("a\u{7}".into()),
        PathError::Link("work/link".into()),
        PathError::NotShared("runs/1/record.json".into()),
        PathError::NoFolder("work/none".into()),
        PathError::TooLong,
    ];
    for error in errors {
        sheet.show(error, |error| tell(RunError::Directory(error)));
    }
    let errors = [
        PatternError::Path(escape()),
        PatternError::Pattern { pattern: "out/[a".into(), why: "unclosed character class".into() },
        PatternError::TooMany { count: 1000, bytes: 4_000_000 },
    ];
    for error in errors {
        sheet.show(error, |error| tell(RunError::Pattern(error)));
    }
    let errors = [
        StageError::Digest { tree: "pdf".into(), digest: "../x".into() },
        StageError::Changed { tree: "pdf".into(), path: "run.py".into() },
        StageError::Altered { tree: "pdf".into(), path: "run.py".into() },
        StageError::Io {
            tree: "pdf".into(),
            path: "run.py".into(),
            source: system(ErrorKind::StorageFull),
        },
    ];
    for error in errors {
        sheet.show(error, tell);
    }
}

fn inputs(sheet: &mut Sheet) {
    use InputError as E;
    let from = || "host:///home/ada/sales.csv".to_owned();
    let errors = [
        E::Path { from: "workspace://../x".into(), source: PathError::Parent("../x".into()) },
        E::Scheme("ftp://x".into()),
        E::NotAllowed(from()),
        E::Target { from: from(), to: "skills/x".into() },
        E::NoSkill("skill://other/data.csv".into()),
        E::TooLarge("host:///home/ada".into()),
        E::TooMuch { from: from(), limit: 8 << 30 },
        E::Artifact {
            from: "artifact://chart.png@4".into(),
            source: ArtifactError::NoVersion { name: "chart.png".into(), version: 4 },
        },
        E::Io { from: from(), source: system(ErrorKind::NotFound) },
    ];
    for error in errors {
        sheet.show(error, |error| tell(RunError::Input(error)));
    }
}

fn starting(sheet: &mut Sheet) {
    use SpawnError as E;
    let missing = |level, what: &str| E::Unavailable(Missing { level, what: what.into() });
    let namespaces =
        || missing(Level::Full, "namespaces for this user (Operation not permitted (os error 1))");
    let landlock = || missing(Level::Landlock, "Landlock with scopes (the kernel has version 3)");
    let errors = [
        E::Helper(system(ErrorKind::PermissionDenied)),
        E::Lost(io::Error::from(ErrorKind::UnexpectedEof)),
        E::Impatient,
        namespaces(),
        E::Setup {
            detail: "bind /home/ada/.metier/tools".into(),
            source: system(ErrorKind::NotFound),
        },
        E::Directory { path: "/skills/pdf/none".into(), source: system(ErrorKind::NotFound) },
        E::Program { name: "python3".into(), source: system(ErrorKind::NotFound) },
    ];
    for error in errors {
        sheet.show(error, |error| tell(ExecuteError::Spawn(error)));
    }
    let errors = [
        ExecuteError::Spawn(landlock()),
        ExecuteError::Required { missing: namespaces() },
        ExecuteError::NoSandbox { missing: landlock() },
        ExecuteError::NoProxy,
        ExecuteError::Barred { folder: "/root".into() },
        ExecuteError::Container(ContainerError::Busy),
        ExecuteError::Io(system(ErrorKind::ReadOnlyFilesystem)),
        ExecuteError::NoShell,
        ExecuteError::NotInteractive("container"),
        ExecuteError::HostOnly("sandbox"),
    ];
    for error in errors {
        sheet.show(error, tell);
    }
}

fn containers(sheet: &mut Sheet) {
    use ContainerError as E;
    let address = || "unix:///run/docker.sock".to_owned();
    let image = || "debian:stable-slim".to_owned();
    let engine = |message: &str| {
        Box::new(EngineError::DockerResponseServerError {
            status_code: 500,
            message: message.into(),
        })
    };
    let errors = [
        E::NoEngine { tried: vec!["/run/docker.sock".into(), "/run/podman/podman.sock".into()] },
        E::Address { address: "tcp://10.0.0.2:2375".into() },
        E::Unreachable { address: address(), source: system(ErrorKind::PermissionDenied) },
        E::Stranger { address: address() },
        E::ImageName { image: "de bian".into() },
        E::NoImage { image: image(), address: address() },
        E::Pull { image: image(), source: engine("manifest unknown") },
        E::NoShell { image: "scratch".into() },
        E::Path { path: "/home/ada,bob/.metier".into() },
        E::Busy,
        E::Cancelled,
        E::Engine { doing: "create a container", source: engine("no space left on device") },
        E::Io(system(ErrorKind::PermissionDenied)),
    ];
    for error in errors {
        sheet.show(error, |error| tell(ExecuteError::Container(error)));
    }
}

fn artifacts(sheet: &mut Sheet) {
    use ArtifactError as E;
    let name = || "chart.png".to_owned();
    let folder = || PathBuf::from("/home/ada/.metier/artifacts");
    let errors = [
        E::Name { name: "../x".into(), rule: "it has `..`" },
        E::Id { of: "session", rule: "it is empty" },
        E::MimeType { mime_type: "png".into() },
        E::Reference { text: "artifact://".into(), rule: "it has no name" },
        E::NotFound { name: name() },
        E::NoVersion { name: name(), version: 4 },
        E::TooLarge { name: name(), limit: 1_073_741_824 },
        E::Full { limit: 268_435_456 },
        E::TooManyVersions { name: name(), limit: 100_000 },
        E::TooManyNames { limit: 10_000 },
        E::Content { name: name(), source: system(ErrorKind::Other) },
        E::CleanedAway { name: name() },
        E::Damaged { name: name(), version: 2, fault: "its content is gone" },
        E::NoSpace { folder: folder(), source: system(ErrorKind::StorageFull) },
        E::NoAccess { folder: folder(), source: system(ErrorKind::PermissionDenied) },
        E::Storage { folder: folder(), source: system(ErrorKind::Other) },
    ];
    errors.into_iter().for_each(|error| sheet.show(error, Failure::from));
}

fn addresses(sheet: &mut Sheet) {
    let parse = |fault| ParseError { entry: "http://api.example.com/v1".into(), fault };
    let setting = || "exec.network".to_owned();
    let network = |source: ParseError| {
        Failure::from(AppError::from(GrantError::Setting { source, setting: setting() }))
    };
    sheet.show(parse(TargetFault::NotOnlyHost), network);
    let faults = [
        TargetFault::NotAscii,
        TargetFault::User,
        TargetFault::NotOnlyHost,
        TargetFault::Port,
        TargetFault::OddAddress,
        TargetFault::Wildcard,
        TargetFault::Host,
        TargetFault::TooMany,
    ];
    for fault in faults {
        sheet.show(fault, |fault| network(parse(fault)));
    }
}
