//! Files on a disk: plans are made from them and applied to them.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use tempfile::TempDir;

use crate::{
    AgentClient, ClientConfigError, ClientFile, ClientFileStatus, ClientHost, ClientScope,
    EntryState, InstalledServer,
};

/// A home with a project in it.
fn home() -> TempDir {
    let home = tempfile::tempdir().expect("a folder");
    fs::create_dir(home.path().join("project")).expect("a folder");
    home
}

fn with_host<T>(home: &Path, act: impl FnOnce(&ClientHost<'_>) -> T) -> T {
    let project = home.join("project");
    act(&ClientHost {
        home: Some(home),
        working_directory: &project,
        project_root: &project,
        variables: &BTreeMap::new(),
    })
}

fn locate(id: &str, scope: ClientScope, home: &Path) -> Result<ClientFile, ClientConfigError> {
    let client = AgentClient::find(id).expect("it is a client");
    with_host(home, |host| ClientFile::locate(client, scope, host))
}

fn server() -> InstalledServer {
    InstalledServer::Program { command: "/bin/server".into(), args: Vec::new() }
}

#[test]
fn a_plan_is_shown_before_it_is_applied_and_is_done_only_once() {
    let home = home();
    let file = locate("cursor", ClientScope::User, home.path()).expect("it has a file");
    let entry = file.entry("mine", &server()).expect("it starts programs");
    let plan = file.plan_addition(&entry).expect("nothing is there yet");
    assert_eq!(plan.key_path, ["mcpServers", "mine"]);
    let edit = plan.into_edit().expect("it is understood").expect("there is no entry yet");
    assert_eq!(edit.old_text(), None);
    assert!(!edit.location().path.exists(), "a plan writes nothing");
    edit.apply().expect("it can be written");
    let text = fs::read_to_string(&edit.location().path).expect("it is written");
    assert_eq!(text, edit.new_text());
    let again = file.plan_addition(&entry).expect("it can be read");
    assert!(again.into_edit().expect("it is understood").is_none());
}

#[test]
fn a_file_that_has_changed_since_the_plan_is_left_alone() {
    let home = home();
    let file = locate("cursor", ClientScope::User, home.path()).expect("it has a file");
    let entry = file.entry("mine", &server()).expect("it starts programs");
    let plan = file.plan_addition(&entry).expect("nothing is there yet");
    let edit = plan.into_edit().expect("it is understood").expect("there is no entry yet");
    let path = &edit.location().path;
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
    fs::write(path, "{\"theirs\": 1}").expect("it is ours");
    assert!(matches!(edit.apply(), Err(ClientConfigError::Changed { .. })));
    assert_eq!(fs::read_to_string(path).expect("it is there"), "{\"theirs\": 1}");
}

#[test]
fn keys_of_other_servers_are_in_no_message_for_developers() {
    let home = home();
    fs::create_dir(home.path().join(".cursor")).expect("a folder");
    let text = "{\"mcpServers\": {\"mine\": {}, \"other\": {\"env\": {\"KEY\": \"s3cret\"}}}}";
    fs::write(home.path().join(".cursor/mcp.json"), text).expect("it is ours");
    let file = locate("cursor", ClientScope::User, home.path()).expect("it has a file");
    let edit = file.plan_removal("mine").expect("it is understood").expect("it is there");
    assert!(edit.new_text().contains("s3cret"));
    assert!(!format!("{edit:?} {:?}", edit.diff()).contains("s3cret"));
}

#[test]
fn files_that_cannot_be_used_are_errors_of_their_own() {
    let home = home();
    fs::create_dir(home.path().join(".gemini")).expect("a folder");
    fs::create_dir(home.path().join(".gemini/settings.json")).expect("a folder");
    fs::write(home.path().join(".claude.json"), "[").expect("it is ours");
    symlink(home.path().join(".gemini"), home.path().join("project/.cursor")).expect("a link");
    let removed = |id, scope| {
        let removed = locate(id, scope, home.path()).and_then(|file| file.plan_removal("mine"));
        match removed {
            Err(error) => error.to_string().replace(&*home.path().to_string_lossy(), "[HOME]"),
            Ok(_) => "fine".to_owned(),
        }
    };
    let seen = [
        removed("gemini", ClientScope::User),
        removed("claude-code", ClientScope::User),
        removed("cursor", ClientScope::Project),
        removed("goose", ClientScope::Project),
        removed("zed", ClientScope::User),
    ];
    insta::assert_snapshot!(seen.join("\n"), @"
    cannot read `[HOME]/.gemini/settings.json`: it is no file of text
    `[HOME]/.claude.json` is not understood well enough to be changed, and was left as it is
    `[HOME]/project/.cursor/mcp.json` leads out of the project, to `[HOME]/.gemini/mcp.json`
    goose has no configuration for a project
    fine
    ");
}

#[test]
fn every_file_is_listed_with_whether_it_has_the_entry() {
    let home = home();
    fs::write(home.path().join(".claude.json"), "{\"mcpServers\": {\"mine\": {}}}").expect("ours");
    fs::write(home.path().join("project/.mcp.json"), "{}").expect("ours");
    fs::write(home.path().join("project/opencode.json"), "[").expect("ours");
    let all = with_host(home.path(), |host| ClientFileStatus::of_all("mine", host));
    let state = |id, scope| {
        let row = all.iter().find(|it| it.client.id == id && it.scope == scope);
        row.expect("it is listed").state
    };
    assert_eq!(state("claude-code", ClientScope::User), EntryState::Present);
    assert_eq!(state("claude-code", ClientScope::Project), EntryState::Absent);
    assert_eq!(state("opencode", ClientScope::Project), EntryState::Unreadable);
    assert_eq!(state("opencode", ClientScope::User), EntryState::NoFile);
}
