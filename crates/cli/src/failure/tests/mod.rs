//! Every error that a person can meet, in one file: `snapshots/metier__failure__tests__errors.snap`.
//!
//! It has four parts. The errors of the libraries are built with believable values and told as the commands tell them. Then come
//! the ways in which a turn ends without an answer. The failures that commands word themselves, and what they notice without
//! failing, are taken from the sources, as they stand there. A new error changes the file, or is missing in it;
//! both fail here until somebody has read its wording among the others. How to: `INSTA_UPDATE=always cargo test -p metier failure`.

mod agents;
mod application;
mod clients;
mod hintless;
mod models;
mod servers;
mod sheet;
mod skills;
mod sources;
mod workspaces;

use std::collections::BTreeSet;
use std::fs;

use clap::CommandFactory;
use metier_agent::turn::Ending;

use sheet::Sheet;
use sources::{Variant, repository};

use crate::args::Cli;
use crate::commands::hint;

/// Errors that nobody meets on a command line: the crate, the type, the variant or `*`, and who meets it instead.
const ELSEWHERE: &[(&str, &str, &str, &str)] = &[
    ("app", "AppError", "*", "carries an error of a module or a crate, which is shown"),
    ("app", "ArchiveSourceError", "Download", "carries an error of the network, which is shown"),
    ("app", "ArchiveSourceError", "Unpack", "carries an error of an archive, which is shown"),
    ("app", "AttachmentFault", "Io", "carries an error of the system"),
    ("app", "DecisionsUnreadable", "*", "in a result for a model"),
    (
        "app",
        "FetchedSkillError",
        "Files",
        "carries an error of a skill of a server, which is shown",
    ),
    ("app", "FetchedSkillError", "Server", "carries an error of a server, which is shown"),
    (
        "app",
        "SkillLookupError",
        "Blocked",
        "carries what is in the way of a skill, which lists show",
    ),
    (
        "agent",
        "ApproverError",
        "*",
        "in a result for a model, or in what a session says of a decision",
    ),
    ("agent", "FileReadError", "*", "in a result for a model"),
    ("agent", "FileReadFault", "*", "in a result for a model, behind the name of the file"),
    ("agent", "ForeignRefusal", "*", "in a result for a model"),
    ("agent", "HostRefusal", "*", "in a result for a model"),
    ("agent", "RunPreparationError", "*", "in a result for a model"),
    ("agent", "SkillUseError", "*", "in a result for a model, or part of an error that is shown"),
    ("agent", "ToolArgumentsError", "*", "in a result for a model"),
    ("agent", "ToolCallError", "*", "in a result for a model, or part of an error that is shown"),
    ("agent", "ToolDefinitionError", "*", "in a result for a model, or worded by a command"),
    ("agent", "TurnStopped", "*", "in a result for a model"),
    ("agent", "VisitError", "*", "in an answer of `metier mcp`, for the program that asked"),
    ("approval", "NotAnalysable", "*", "part of a verdict, which `metier approvals check` words"),
    ("approval", "ForeignPrograms", "*", "part of a verdict, which `metier approvals check` words"),
    ("approval", "ProgramDoubt", "*", "part of a verdict, which `metier approvals check` words"),
    ("approval", "ProgramMiss", "*", "part of a verdict, which `metier approvals check` words"),
    ("approval", "Refusal", "*", "in a result for a model"),
    ("approval", "TooLong", "*", "in a result for a model, whose command nobody is asked about"),
    (
        "agent",
        "AgentError",
        "Tool",
        "the command brings no tools of its own; programs that use the crate do",
    ),
    (
        "agent",
        "ToolError",
        "*",
        "the command brings no tools of its own; programs that use the crate do",
    ),
    ("sandbox", "AttemptFault", "*", "in the report of `metier doctor`"),
    ("sandbox", "OfferError", "*", "in the report of `metier doctor`"),
    (
        "sandbox",
        "SpawnError",
        "NoHelper",
        "the command has a helper; programs that use the crate may not",
    ),
    (
        "workspace",
        "ExecuteError",
        "Custom",
        "the command brings no executor of its own; programs that use the crate do",
    ),
    (
        "workspace",
        "ExecuteError",
        "Overdue",
        "the command brings no executor of its own; programs that use the crate do",
    ),
    ("config", "ConfigEditError", "Config", "carries a `ConfigError`, which is shown"),
    ("config", "McpServerNameError", "*", "part of an error of a setting, which is shown"),
    ("mcp", "McpAnswerFault", "*", "part of an `McpClientError`, which is shown"),
    ("mcp", "McpSkillFault", "*", "part of a finding about a skill of a server, which is shown"),
    ("mcp", "McpToolFault", "*", "a note of `metier mcp servers` and of sessions"),
    ("mcp", "Fault", "*", "becomes an `McpClientError` before anybody sees it"),
    (
        "model",
        "ModelError",
        "Parameter",
        "no setting names parameters; programs that use the crate do",
    ),
    ("net", "NetError", "Proxy", "no setting names a proxy; programs that use the crate do"),
    ("sandbox", "TrialError", "*", "in the report of `metier doctor`"),
    ("sandbox", "ConsoleError", "*", "in a result for a model that types into a program"),
    (
        "serve",
        "AnswerTooLarge",
        "*",
        "in an answer of `metier mcp --http`, for the program that asked",
    ),
    ("serve", "OriginError", "*", "in an answer of `metier mcp --http`"),
    ("serve", "AddressError", "*", "in an answer of `metier mcp`, for the program that asked"),
    ("serve", "ServedSkillError", "*", "in an answer of `metier mcp`, for the program that asked"),
    ("serve", "CallError", "*", "in an answer of `metier mcp`, for the program that asked"),
    ("serve", "HostError", "*", "in an answer of `metier mcp --http`"),
    ("serve", "MessageTooLarge", "*", "in an answer of `metier mcp`, for the program that asked"),
    ("serve", "SessionsError", "*", "in an answer of `metier mcp --http`"),
    ("app", "ToolServerProblem", "*", "a note at the beginning of a session, with its advice"),
    ("serve", "TooFewFiles", "*", "worded by `metier mcp --http`, with its hint"),
    (
        "session",
        "SessionError",
        "Exists",
        "no command imports sessions; programs that use the crate do",
    ),
    (
        "session",
        "SessionError",
        "Line",
        "no command imports sessions; programs that use the crate do",
    ),
    ("skill", "Difference", "*", "part of a fault of an offer, which is shown"),
    ("skill", "FrameError", "*", "a finding of `lint`, in its own words"),
    (
        "skill",
        "FrontMatterError",
        "*",
        "part of a fault of an offer, or in an answer of `metier mcp`",
    ),
    ("skill", "PluginManifestError", "*", "part of a problem, in its own words"),
    ("skill", "ReferenceError", "*", "in the words of the format's reference tool"),
    (
        "skill",
        "UnsafeName",
        "*",
        "part of a finding of `lint`, of a setting's rule or of an offer's fault",
    ),
    ("skill", "YamlError", "*", "a finding of `lint`"),
    (
        "workspace",
        "OpenError",
        "*",
        "the command opens its folders one by one; programs that use the crate do not",
    ),
    ("workspace", "KeepError", "*", "in the warnings of a run"),
    ("workspace", "InteractiveError", "*", "in a result for a model that keeps programs running"),
    (
        "workspace",
        "Reason",
        "*",
        "in the answer to a program that asks for an address, and in the report of its run",
    ),
    ("workspace", "TimeoutError", "*", "part of a `RunError`, which is shown"),
    ("workspace", "Trouble", "*", "in the answer to a program that asks for an address"),
];

fn sheet() -> Sheet {
    let mut sheet = Sheet::default();
    agents::add_to(&mut sheet);
    application::add_to(&mut sheet);
    clients::add_to(&mut sheet);
    models::add_to(&mut sheet);
    servers::add_to(&mut sheet);
    skills::add_to(&mut sheet);
    workspaces::add_to(&mut sheet);
    sheet
}

/// How a turn ends that has no answer.
fn endings() -> String {
    let endings = [
        Ending::Silent,
        Ending::Refused,
        Ending::CutOff,
        Ending::Filtered,
        Ending::OutOfRequests,
        Ending::OutOfTokens,
        Ending::Looping { tool: "skill_run".into() },
        Ending::UnknownTools,
    ];
    let told = endings.iter().map(|ending| {
        let hint = hint(ending, Some("monday")).expect("what to do about it");
        format!("(exit code 1)\n    error: {ending}\n    hint: {hint}\n")
    });
    format!("## agent: Ending\n\n{}\n", told.collect::<String>())
}

#[test]
fn every_error_that_a_person_can_meet_reads_well_beside_the_others() {
    let text = [sheet().render(), endings(), sources::worded_by_commands(), sources::noticed()];
    let text = text.join("\n");
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => true }, {
        insta::assert_snapshot!("errors", text);
    });
}

#[test]
fn no_error_of_a_library_is_left_out() {
    let declared = sources::variants();
    let shown = sheet().names();
    let is_elsewhere = |it: &Variant| {
        let fits = |(of, kind, name, _): &&(&str, &str, &str, &str)| {
            *of == it.of && *kind == it.kind && (*name == "*" || *name == it.name)
        };
        ELSEWHERE.iter().any(|entry| fits(&entry))
    };
    let left_out: Vec<&Variant> =
        declared.iter().filter(|it| !shown.contains(it) && !is_elsewhere(it)).collect();
    assert!(left_out.is_empty(), "show these, or say who meets them instead: {left_out:#?}");
    let unknown: Vec<&Variant> = shown.difference(&declared).collect();
    assert!(unknown.is_empty(), "shown, and not found in the sources: {unknown:#?}");
    let both: Vec<&Variant> = shown.iter().filter(|it| is_elsewhere(it)).collect();
    assert!(both.is_empty(), "shown, and said to be met elsewhere: {both:#?}");
    for (of, kind, name, _) in ELSEWHERE {
        let is_there =
            |it: &Variant| it.of == *of && it.kind == *kind && (*name == "*" || it.name == *name);
        assert!(declared.iter().any(is_there), "there is no {of}::{kind}::{name} any more");
    }
}

#[test]
fn messages_are_clauses_that_name_what_they_are_about() {
    let mut faults = BTreeSet::new();
    for line in sheet().render().lines().chain(sources::worded_by_commands().lines()) {
        let line = line.trim_start();
        let Some((_, text)) = line.split_once("error: ").or_else(|| line.split_once("hint: "))
        else {
            continue;
        };
        if text.ends_with('.') && !text.ends_with("..") {
            faults.insert(format!("ends with a period: {text}"));
        }
        // Names of variables are not lowercase, and some programs begin with a capital.
        let first = text.split(' ').next().unwrap_or_default();
        if first.chars().next().is_some_and(char::is_uppercase)
            && !first.chars().all(|it| !it.is_lowercase())
        {
            faults.insert(format!("begins with a capital: {text}"));
        }
        for jargon in ["warden", "keeper", "generation", "the tree", "RwLock", "None"] {
            if text
                .split(|it: char| !it.is_alphanumeric() && it != ' ')
                .any(|part| part.contains(jargon))
            {
                faults.insert(format!("says `{jargon}`: {text}"));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

/// Commands that do not exist are worse than no advice.
#[test]
fn every_command_that_is_advised_exists() {
    let page = fs::read_to_string(repository().join("docs/troubleshooting.md")).unwrap();
    let text = [sheet().render(), sources::worded_by_commands(), page].concat();
    let quoted = text.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
    let quoted = quoted.filter(|it| it.starts_with("metier "));
    let commands: BTreeSet<&str> = quoted.collect();
    assert!(commands.len() > 20, "few commands are advised: {commands:#?}");
    let unknown: Vec<&&str> = commands.iter().filter(|it| !exists(it)).collect();
    assert!(unknown.is_empty(), "there are no such commands: {unknown:#?}");
}

fn exists(text: &str) -> bool {
    let mut command = Cli::command();
    command.build();
    for word in text.split_whitespace().skip(1) {
        if let Some(flag) = word.strip_prefix("--") {
            if !flag.is_empty() && !command.get_arguments().any(|it| it.get_long() == Some(flag)) {
                return false;
            }
        } else if let Some(inner) = command.find_subcommand(word) {
            command = inner.clone();
        } else if command.has_subcommands() && word.starts_with(|it: char| it.is_ascii_lowercase())
        {
            return false;
        }
    }
    true
}

/// A line of the page is a line of the file, where `{…}` stands for anything.
#[test]
fn the_page_on_troubleshooting_quotes_messages_that_exist() {
    let page = fs::read_to_string(repository().join("docs/troubleshooting.md")).unwrap();
    let snapshot = repository()
        .join("crates/cli/src/failure/tests/snapshots/metier__failure__tests__errors.snap");
    let snapshot = fs::read_to_string(snapshot).unwrap();
    let known: Vec<&str> = snapshot.lines().map(str::trim).collect();
    let quoted: Vec<&str> = page.lines().filter(|line| sources::is_message(line)).collect();
    let unknown: Vec<&&str> = quoted
        .iter()
        .filter(|line| !known.iter().any(|template| sources::fits(template, line)))
        .collect();
    assert!(unknown.is_empty(), "these are not what metier says: {unknown:#?}");
    assert!(quoted.len() >= 30, "only {} messages are explained", quoted.len());
}
