//! Errors of the application: state, lookups, sources, settings, attached files.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::Duration;

use metier_app::approvals::{
    ApprovalSettingsError, PreapprovalError, PreapprovalFault, ProgramPatternRule,
};
use metier_app::grants::GrantError;
use metier_app::library::lookup::SkillLookupError;
use metier_app::models::ModelChoiceError;
use metier_app::ops::trust::ProjectTrustError;
use metier_app::servers::{McpServerKind, McpServerSettingFault, ToolNameError};
use metier_app::sessions::SessionLookupError;
use metier_app::sources::archives::ArchiveSourceError;
use metier_app::sources::remote::{
    FetchedSkillError, RemoteSkillError, ServerFlagError, server_command,
};
use metier_app::state::StateError;
use metier_app::turn::{AttachmentError, AttachmentFault};
use metier_app::{AppError, AssemblyError};
use metier_skill::diagnostic::Code;
use metier_skill::files::Digest;
use metier_skill::problem::Problem;
use metier_skill::remote::StoreError;
use metier_workspace::proxy::{ParseError, TargetFault};

use super::sheet::{Sheet, system};
use crate::failure::Failure;

/// Words an error as a command does.
fn worded(error: impl Into<AppError>) -> Failure {
    Failure::from(error.into())
}

pub(super) fn add_to(sheet: &mut Sheet) {
    state(sheet);
    trust(sheet);
    lookups(sheet);
    sources(sheet);
    settings(sheet);
    servers(sheet);
    attachments(sheet);
}

fn state(sheet: &mut Sheet) {
    let denied = || system(ErrorKind::PermissionDenied);
    let folder = || PathBuf::from("/home/ada/.metier");
    let errors = [
        StateError::Directory { folder: folder(), source: system(ErrorKind::ReadOnlyFilesystem) },
        StateError::Directory { folder: folder(), source: system(ErrorKind::StorageFull) },
        StateError::WorkspaceFolder { folder: "/srv/runs".into(), source: denied() },
        StateError::AgentFolder { folder: folder().join("workspace"), source: denied() },
    ];
    errors.into_iter().for_each(|error| sheet.show(error, worded));
}

fn trust(sheet: &mut Sheet) {
    let root = || PathBuf::from("/home/ada/project");
    let errors = [
        ProjectTrustError::NoFolder { folder: root(), source: system(ErrorKind::NotFound) },
        ProjectTrustError::StateDirectory,
        ProjectTrustError::NoSkills { root: root() },
        ProjectTrustError::Unreadable { source: system(ErrorKind::PermissionDenied) },
        ProjectTrustError::NotTrusted { root: root() },
    ];
    errors.into_iter().for_each(|error| sheet.show(error, worded));
}

fn lookups(sheet: &mut Sheet) {
    let name = || "pfd".to_owned();
    let file = PathBuf::from("skills/pdf/SKILL.md");
    let message = "the header is never closed by a `---` line";
    let problem = Problem::new(Code::NameMissing, &file, message);
    let problem = Box::new(problem.help("add a line `---` below the header"));
    let errors = [
        SkillLookupError::Missing { name: name(), nearest: Some("pdf".to_owned()) },
        SkillLookupError::Missing { name: name(), nearest: None },
        SkillLookupError::Unreadable { name: "pdf".to_owned(), problem },
        SkillLookupError::NotUnpacked {
            name: "csv-stats".to_owned(),
            folder: "/home/ada/.metier/content".into(),
            source: system(ErrorKind::ReadOnlyFilesystem),
        },
        SkillLookupError::NotFetched { name: "pdf".to_owned() },
    ];
    errors.into_iter().for_each(|error| sheet.show(error, worded));
    let session = || "monday".to_owned();
    let errors = [
        SessionLookupError::Missing { session: session() },
        SessionLookupError::None,
        SessionLookupError::WorkspaceInUse { session: session(), source: system(ErrorKind::Other) },
        SessionLookupError::NotRemoved { session: session(), source: system(ErrorKind::Other) },
        SessionLookupError::NoWorkspace {
            session: session(),
            source: system(ErrorKind::PermissionDenied),
        },
    ];
    errors.into_iter().for_each(|error| sheet.show(error, worded));
}

fn sources(sheet: &mut Sheet) {
    let errors = [
        ArchiveSourceError::NotFetched,
        ArchiveSourceError::NothingToKeep,
        ArchiveSourceError::NoDigest,
        ArchiveSourceError::Unreadable {
            file: "/home/ada/skills.zip".into(),
            source: system(ErrorKind::PermissionDenied),
        },
        ArchiveSourceError::TooLarge { limit: 64 << 20 },
        ArchiveSourceError::OtherDigest { digest: Digest::of_bytes(b"found") },
        ArchiveSourceError::NotKept {
            cache: "/home/ada/.metier/cache/roots/1f".into(),
            chosen_by: "METIER_HOME",
            source: system(ErrorKind::PermissionDenied),
        },
    ];
    errors.into_iter().for_each(|error| sheet.show(error, worded));
    let (name, server) = (|| "pdf".to_owned(), || "files".to_owned());
    let late = FetchedSkillError::Late { limit: Duration::from_secs(180) };
    sheet.inside(&late, &Failure::from(&late));
    let errors = [
        RemoteSkillError::UnknownServer { name: name(), server: server() },
        RemoteSkillError::Unusable {
            name: name(),
            server: server(),
            source: Box::new(FetchedSkillError::Files(StoreError::Dynamic)),
        },
    ];
    errors.into_iter().for_each(|error| sheet.show(error, worded));
    let error: ServerFlagError = server_command("server 'a").expect_err("a quote is open");
    sheet.show(error, worded);
}

fn settings(sheet: &mut Sheet) {
    let provider = "llama".to_owned();
    sheet.show(ModelChoiceError::NoAddress { provider }, worded);
    let error = || ParseError {
        entry: "http://api.example.com/v1".into(),
        fault: TargetFault::NotOnlyHost,
    };
    let setting = "exec.network".to_owned();
    sheet.show(GrantError::Setting { source: error(), setting }, worded);
    sheet.show(GrantError::Request { source: error(), skill: "pdf".to_owned() }, worded);
    let (setting, value) = ("context.compact_at", 120);
    sheet.show(AssemblyError { setting, value, min: 1, max: Some(100) }, worded);
    sheet
        .show(AssemblyError { setting: "agent.max_requests", value: 0, min: 1, max: None }, worded);
    for (pattern, rule) in [
        (" ", ProgramPatternRule::NotEmpty),
        ("ls ", ProgramPatternRule::Name),
        ("bin/ls", ProgramPatternRule::WholePath),
    ] {
        let pattern = pattern.to_owned();
        sheet.show(ApprovalSettingsError::ProgramPattern { pattern, rule }, worded);
    }
    let folder = "bin".to_owned();
    sheet.show(ApprovalSettingsError::TrustedFolder { folder }, worded);
    let because = "no table knows `frob`".to_owned();
    for fault in [
        PreapprovalFault::TooWild,
        PreapprovalFault::Unreadable,
        PreapprovalFault::CoversNothing { because },
    ] {
        let (pattern, program) = ("frob (".to_owned(), "frob".to_owned());
        let error = PreapprovalError { pattern, program, source: fault.clone() };
        sheet.inside(&fault, &worded(error.clone()));
        sheet.show(error, worded);
    }
}

fn servers(sheet: &mut Sheet) {
    sheet.show(ToolNameError { text: "mcp:git".to_owned() }, worded);
    use McpServerSettingFault as F;
    let faults = [
        F::UselessField { field: "args", kind: McpServerKind::Url },
        F::NoTransport,
        F::TwoTransports,
        F::RelativeProgram { program: "./server".to_owned() },
        F::Itself,
        F::NoAddress { url: "example.com/mcp".to_owned() },
        F::TwoTokens,
        F::UnsetVariable { field: "env.TOKEN".to_owned(), variable: "GIT_TOKEN".to_owned() },
        F::Timeout { seconds: 0 },
        F::Name { reason: "it has a blank".to_owned() },
    ];
    for fault in faults {
        let words = format!("the server `git` is not used: {fault}");
        sheet.note(&fault, &words);
    }
}

fn attachments(sheet: &mut Sheet) {
    let file = || "sales.csv".to_owned();
    let unreadable = |source| AttachmentError::Unreadable { file: file(), source };
    let fault = AttachmentFault::NotAFile;
    sheet.inside(&fault, &worded(unreadable(AttachmentFault::NotAFile)));
    let errors = [
        unreadable(AttachmentFault::Io(system(ErrorKind::NotFound))),
        unreadable(AttachmentFault::Io(system(ErrorKind::PermissionDenied))),
        AttachmentError::TooLarge { file: file(), limit: 256 << 20 },
        AttachmentError::NotStored { name: file(), source: system(ErrorKind::StorageFull) },
    ];
    errors.into_iter().for_each(|error| sheet.show(error, worded));
}
