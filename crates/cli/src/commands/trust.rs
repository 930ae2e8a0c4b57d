//! `metier trust`: a person says that the skills of a project may be used as they are.

use std::path::{Path, PathBuf};

use metier_app::AppError;
use metier_app::ops::trust::{ProjectTrustError, TrustedSkills};
use metier_app::sources::roots::Project;
use metier_skill::diagnostic::Code;
use metier_skill::library::{TrustStore, TrustedRemote};
use metier_skill::name::SkillName;
use metier_skill::problem::Problem;
use serde_json::json;

use crate::args::{SourceArgs, TrustArgs};
use crate::context::Context;
use crate::failure::{FAILED, Failure, OK};
use crate::output::{counted, plain, style, styled};

/// Lists, trusts or revokes.
pub(super) fn run(arguments: &TrustArgs, context: &Context) -> Result<u8, Failure> {
    let mut store = TrustStore::load(&context.app.trust_file())?;
    if arguments.list {
        return Ok(list(&store, arguments.json, context));
    }
    if arguments.revoke
        && let Some(text) = arguments.path.as_deref().and_then(Path::to_str)
        && let Some(skill) = remote(&store, text, context)?
    {
        return revoke_remote(&mut store, &skill, arguments.json, context);
    }
    let project = context.app.project(arguments.path.as_deref())?;
    if arguments.revoke {
        return revoke(&project, arguments.json, context);
    }
    trust(&project, arguments.json, context)
}

fn list(store: &TrustStore, json: bool, context: &Context) -> u8 {
    if json {
        let projects = store.projects().map(|(root, project)| {
            json!({ "kind": "project", "path": root.to_string_lossy(), "skills": project.skills.keys().collect::<Vec<_>>() })
        });
        let skills = store.remote_skills().map(|(server, uri, skill)| {
            let files = skill.files.keys().collect::<Vec<_>>();
            json!({ "kind": "skill", "server": server, "uri": uri, "name": skill.name, "files": files })
        });
        context.output.json(&projects.chain(skills).collect::<Vec<_>>());
        return OK;
    }
    let mut text = String::new();
    for (root, project) in store.projects() {
        let count = project.skills.len();
        let skills = styled(style::DIM, counted(count, "skill"));
        text.push_str(&format!("{}  {skills}\n", plain(&root.display().to_string())));
    }
    for (server, uri, skill) in store.remote_skills() {
        let files = styled(style::DIM, counted(skill.files.len(), "file"));
        let name = plain(&format!("{server}:{}", skill.name));
        text.push_str(&format!("{name}  {}  {files}\n", plain(uri)));
    }
    if text.is_empty() {
        context.output.say("nothing is trusted");
    }
    context.output.print(&text);
    OK
}

/// The server and address of the trusted skill that a person means, if it is one of a server: by its address, or by its
/// name, each with or without the server. A folder of that name is a project.
///
/// # Errors
///
/// When several are meant.
fn remote(
    store: &TrustStore,
    text: &str,
    context: &Context,
) -> Result<Option<(String, String)>, Failure> {
    let is_folder = context.app.environment.folder.join(text).exists();
    let is_meant = |(server, uri, skill): &(&str, &str, &TrustedRemote)| {
        text == format!("{server} {uri}")
            || text == format!("{server}:{}", skill.name)
            || !is_folder && (text == *uri || text == skill.name.as_str())
    };
    let meant: Vec<_> = store.remote_skills().filter(is_meant).collect();
    match meant[..] {
        [] => Ok(None),
        [(server, uri, _)] => Ok(Some((server.to_owned(), uri.to_owned()))),
        _ => {
            let names = meant.iter().map(|(server, uri, _)| format!("\"{server} {uri}\""));
            let names = names.collect::<Vec<_>>().join(", ");
            Err(Failure::usage(format!("`{text}` is the name of {} trusted skills", meant.len()))
                .hint(format!("say which: {names}")))
        }
    }
}

/// Takes trust back from a skill of a server, and forgets its files.
fn revoke_remote(
    store: &mut TrustStore,
    (server, uri): &(String, String),
    json: bool,
    context: &Context,
) -> Result<u8, Failure> {
    let revoked = store.revoke_remote(server, uri);
    store.save()?;
    if let Ok(server) = SkillName::new(server) {
        context.app.remote_store().forget(&server, uri)?;
    }
    if json {
        context.output.json(&json!({ "server": server, "uri": uri, "revoked": revoked }));
    } else {
        context.output.print(&format!("no longer trusted: {}", plain(&format!("{server} {uri}"))));
    }
    Ok(OK)
}

fn revoke(project: &Project, json: bool, context: &Context) -> Result<u8, Failure> {
    let root = project.root.display().to_string();
    match context.app.revoke_trust(project) {
        Ok(()) if json => context.output.json(&json!({ "path": root, "revoked": true })),
        Ok(()) => context.output.print(&format!("no longer trusted: {}", plain(&root))),
        Err(AppError::ProjectTrust(ProjectTrustError::NotTrusted { .. })) if json => {
            context.output.json(&json!({ "path": root, "revoked": false }));
            return Ok(FAILED);
        }
        Err(error) => return Err(error.into()),
    }
    Ok(OK)
}

fn trust(project: &Project, json: bool, context: &Context) -> Result<u8, Failure> {
    let TrustedSkills { root, folders, count } = context.app.trust(project)?;
    if json {
        let skills: Vec<_> = folders.iter().map(|folder| folder.to_string_lossy()).collect();
        context.output.json(&json!({ "path": root.to_string_lossy(), "skills": skills }));
    } else {
        let mut text = format!(
            "trusted: {}, {}\n",
            plain(&root.display().to_string()),
            counted(count, "skill")
        );
        for folder in &folders {
            let shown = folder.strip_prefix(&root).unwrap_or(folder);
            text.push_str(&format!("  {}\n", plain(&shown.display().to_string())));
        }
        context.output.print(&text);
        say_withheld_entries(context, &folders)?;
    }
    Ok(OK)
}

/// Says which of the trusted skills do not get the settings of their name.
fn say_withheld_entries(context: &Context, folders: &[PathBuf]) -> Result<(), Failure> {
    let snapshot = context.library(&SourceArgs::default())?;
    let is_withheld = |problem: &&Problem| {
        problem.code == Code::EntryWithheld
            && problem.path.parent().is_some_and(|it| folders.iter().any(|other| other == it))
    };
    context.output.problems(snapshot.problems.iter().filter(is_withheld));
    Ok(())
}
