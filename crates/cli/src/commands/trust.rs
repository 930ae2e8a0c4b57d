//! `metier trust`: a person says that the skills of a project may be used as they are.

use std::path::{Path, PathBuf};

use metier_skill::diagnostic::Code;
use metier_skill::discover::{Root, ScanOptions, scan};
use metier_skill::library::{TrustStore, TrustedProject, TrustedRemote};
use metier_skill::name::SkillName;
use metier_skill::problem::Problem;
use serde_json::json;

use crate::archives::Reach;
use crate::args::{SourceArgs, TrustArgs};
use crate::context::Context;
use crate::failure::{FAILED, Failure, OK};
use crate::output::{counted, plain, style, styled};
use crate::roots::{Project, Roots};

/// Lists, trusts or revokes.
pub(super) fn run(arguments: &TrustArgs, context: &Context) -> Result<u8, Failure> {
    let mut store = TrustStore::load(&context.trust_file())?;
    if arguments.list {
        return Ok(list(&store, arguments.json, context));
    }
    if arguments.revoke
        && let Some(text) = arguments.path.as_deref().and_then(Path::to_str)
        && let Some(skill) = remote(&store, text, context)?
    {
        return revoke_remote(&mut store, &skill, arguments.json, context);
    }
    let project = project(arguments.path.as_deref(), context)?;
    if arguments.revoke {
        return revoke(&mut store, &project, arguments.json, context);
    }
    trust(&mut store, &project, arguments.json, context)
}

fn project(path: Option<&Path>, context: &Context) -> Result<Project, Failure> {
    let here = &context.environment.folder;
    let folder = path.map_or_else(|| here.clone(), |path| here.join(path));
    let real = std::fs::canonicalize(&folder).map_err(|error| {
        Failure::usage(format!("cannot find the folder `{}`: {error}", folder.display()))
            .hint("check the path")
    })?;
    // The working directory is named as the person sees it; so are its skills.
    let project = Project::of(if path.is_some() { &real } else { here });
    if project.is_home(&context.environment) {
        return Err(Failure::usage("the state directory is not a project")
            .hint("name the project: `metier trust PATH`"));
    }
    Ok(project)
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
    let is_folder = context.environment.folder.join(text).exists();
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
        context.remote_store().forget(&server, uri)?;
    }
    if json {
        context.output.json(&json!({ "server": server, "uri": uri, "revoked": revoked }));
    } else {
        context.output.print(&format!("no longer trusted: {}", plain(&format!("{server} {uri}"))));
    }
    Ok(OK)
}

fn revoke(
    store: &mut TrustStore,
    project: &Project,
    json: bool,
    context: &Context,
) -> Result<u8, Failure> {
    let root = project.root.display().to_string();
    let was_trusted = store.revoke(&project.root);
    if was_trusted {
        store.save()?;
    }
    if json {
        context.output.json(&json!({ "path": root, "revoked": was_trusted }));
    } else if was_trusted {
        context.output.print(&format!("no longer trusted: {}", plain(&root)));
    } else {
        return Err(Failure::new(format!("`{root}` was not trusted"))
            .hint("`metier trust --list` shows what is"));
    }
    Ok(if was_trusted { OK } else { FAILED })
}

fn trust(
    store: &mut TrustStore,
    project: &Project,
    json: bool,
    context: &Context,
) -> Result<u8, Failure> {
    let working = context.output.working("looking for skills");
    let Roots { roots, problems, .. } = roots_of(project, context);
    let scans = scan(&ScanOptions { roots: &roots, cache: None });
    let folders: Vec<PathBuf> = scans
        .iter()
        .flat_map(|scan| scan.found.iter().map(|found| found.folder().to_owned()))
        .collect();
    context.report(&problems);
    for scan in &scans {
        context.report(&scan.problems);
    }
    if folders.is_empty() {
        return Err(Failure::new(format!("`{}` has no skills", project.root.display()))
            .hint("skills of a project are in .metier/skills, .agents/skills or .claude/skills"));
    }
    working.set(&format!("reading the files of {}", counted(folders.len(), "skill")));
    let record = TrustedProject::record(&project.root, folders.iter().map(PathBuf::as_path))
        .map_err(|error| {
            Failure::new(format!("a skill of the project cannot be read: {error}"))
                .hint("make its files readable for you")
        })?;
    let count = record.skills.len();
    store.trust(&project.root, with_other_folders(record, store, project, &roots));
    store.save()?;
    drop(working);
    if json {
        let skills: Vec<_> = folders.iter().map(|folder| folder.to_string_lossy()).collect();
        let path = project.root.to_string_lossy();
        context.output.json(&json!({ "path": path, "skills": skills }));
    } else {
        let mut text = format!(
            "trusted: {}, {}\n",
            plain(&project.root.display().to_string()),
            counted(count, "skill")
        );
        for folder in &folders {
            let shown = folder.strip_prefix(&project.root).unwrap_or(folder);
            text.push_str(&format!("  {}\n", plain(&shown.display().to_string())));
        }
        context.output.print(&text);
        say_withheld_entries(context, &folders)?;
    }
    Ok(OK)
}

/// Returns the roots of a project, with folders inside it that a variable names.
fn roots_of(project: &Project, context: &Context) -> Roots {
    let (environment, config) = (&context.environment, &context.config);
    let mut roots = project.roots(environment, config);
    let found = Roots::find(environment, config, &SourceArgs::default(), &Reach::AtHand).roots;
    let named = found.into_iter().filter(|it| it.project.as_ref() == Some(&project.root));
    let named = named.filter(|it| roots.roots.iter().all(|other| other.path != it.path));
    let mut named: Vec<Root> = named.collect();
    roots.roots.append(&mut named);
    roots
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

/// Adds what was trusted in folders of the repository that are not searched from here.
fn with_other_folders(
    mut record: TrustedProject,
    store: &TrustStore,
    project: &Project,
    roots: &[Root],
) -> TrustedProject {
    let is_elsewhere = |skill: &str| {
        let folder = project.root.join(skill);
        !roots.iter().any(|root| folder.starts_with(&root.path))
    };
    let before = store.project(&project.root).into_iter().flat_map(|before| &before.skills);
    let others = before.filter(|(skill, _)| is_elsewhere(skill));
    record.skills.extend(others.map(|(skill, files)| (skill.clone(), files.clone())));
    record
}
