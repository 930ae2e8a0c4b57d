//! Agents as somebody puts them together who has only the crates: what is promised holds without the command line, which
//! does nothing to keep it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use libtest_mimic::Failed;
use metier_agent::agent::unwatched;
use metier_agent::host::{CommandQuestion, Question};
use metier_agent::texts::TextMemory;
use metier_agent::tools::{Restriction, ToolSet};
use metier_agent::visit::{Visit, Visits};
use metier_agent::{Agent, Folders, Task, stop};
use metier_model::{Model, Request, Scripted};
use metier_sandbox::{Command, Program, Walked};
use metier_session::{MemoryStore, SessionKey};
use metier_workspace::executor::{Firmness, LocalExecutor};
use metier_workspace::{RunRequest, RunSettings, Runner};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::Test;
use crate::bench::{calls, text, wait};
use crate::sets::results;

pub(crate) const TESTS: &[Test] = &[
    ("strangers::where_nothing_confines_commands_those_of_a_model_do_not_run", without_sandbox),
    ("strangers::another_runner_is_one_for_all_commands", another_runner),
    ("strangers::an_empty_list_of_commands_allows_none", nothing_allowed),
    ("strangers::a_restricted_call_sets_only_declared_or_listed_variables", restricted_variables),
    ("strangers::what_a_skill_asks_of_the_sandbox_narrows_its_runs", asked),
    ("strangers::no_value_of_a_variable_is_printed_for_debugging", variables),
    ("strangers::a_question_is_shown_without_anything_that_hides", questions),
];

/// Where nothing can confine programs.
pub(crate) const WITHOUT_SANDBOX: &[Test] =
    &[("unconfinable::commands_of_a_model_do_not_run", unconfinable)];

/// A place with one skill.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self::with_header("")
    }

    /// With a skill whose header says this as well.
    fn with_header(header: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let skill = folder.path().join("skills/greet");
        fs::create_dir_all(&skill).expect("a folder");
        let text = format!("---\nname: greet\ndescription: Greets.\n{header}---\n\nGreet.\n");
        fs::write(skill.join("SKILL.md"), text).expect("a skill");
        Self(folder)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// An agent over the skill that runs commands like this.
    fn agent(&self, executor: LocalExecutor) -> Agent {
        let library = Arc::new(Folders::new([self.path().join("skills")]));
        let runner = Runner::sandboxed(&self.path().join("state")).expect("a runner");
        let runner = Runner { executor: executor.into(), ..runner };
        let model = Arc::new(Scripted::from_text("").expect("a script"));
        let mut agent = Agent::new(model, library, Arc::new(MemoryStore::new()), runner);
        agent.settings.load_before_run = false;
        agent
    }
}

/// What came of calls that a model made one after the other, with whether they are errors.
fn outcomes(agent: &Agent, made: &[(&str, Value)]) -> Vec<(String, bool)> {
    let script: String = made.iter().map(|call| calls(std::slice::from_ref(call))).collect();
    results(said(agent, &(script + &text("Done."))).last().expect("a request"))
}

/// What a model was sent that said this, in a session of its own.
fn said(agent: &Agent, script: &str) -> Vec<Request> {
    let model = Arc::new(Scripted::from_text(script).expect("a script"));
    let mut agent = agent.clone();
    agent.model = Arc::<Scripted>::clone(&model) as Arc<dyn Model>;
    agent.sessions = Arc::new(MemoryStore::new());
    let key = SessionKey::new("test", "ada", "first").expect("a key");
    let (_stopper, stop) = stop();
    wait(agent.run(&key, Task::new("Go."), unwatched(), &stop)).expect("a turn");
    model.requests()
}

fn workspace_key() -> metier_workspace::WorkspaceKey {
    let [app, user, session] = ["test", "ada", "first"].map(str::to_owned);
    metier_workspace::WorkspaceKey { app, user, session, generation: 0 }
}

/// What came of a command of the skill.
fn ran(agent: &Agent, command: &str) -> (String, bool) {
    let run = ("skill_run", json!({ "skill": "greet", "command": command }));
    outcomes(agent, &[run]).pop().expect("an answer")
}

fn without_sandbox() -> Result<(), Failed> {
    Ok(metier_testkit::run_without_sandbox("unconfinable::")?)
}

fn unconfinable() -> Result<(), Failed> {
    let place = Place::new();
    let mut agent = place.agent(LocalExecutor::Sandbox(Firmness::Anything));
    for folder in [place.path(), &place.path().join("state")] {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o711))?;
    }
    let mark = place.path().join("mark");
    let touch = format!("touch {}", mark.display());
    let refused = |(text, is_error): &(String, bool)| {
        *is_error && text.contains("this system does not offer Landlock") && !mark.exists()
    };
    let answer = ran(&agent, &touch);
    assert!(refused(&answer), "{answer:?}");
    agent.settings.prompt.tools = ToolSet::Files;
    let made = [json!({ "command": touch }), json!({ "command": touch, "background": true })];
    let answers = outcomes(&agent, &made.map(|arguments| ("exec", arguments)));
    assert!(answers.len() == 2 && answers.iter().all(refused), "{answers:?}");
    agent.settings.limits.run_code = true;
    let code = text(&format!("```bash\n{touch}\n```")) + &text("Done.");
    let requests = said(&agent, &code);
    assert!(requests.len() == 2 && !mark.exists(), "{requests:?}");
    let visits = Visits {
        agent: "default".to_owned(),
        library: Arc::clone(&agent.library),
        sessions: None,
        runner: agent.runner.clone(),
        host: None,
        restriction: Restriction::default(),
        load_before_run: false,
        remembered_texts: TextMemory::default(),
        max_body_tokens: 1000,
    };
    let visit = Visit::new(Arc::new(visits), workspace_key());
    let given = json!({ "skill": "greet", "command": touch });
    let (_stopper, stop) = stop();
    let answer = wait(visit.call("skill_run", &given, &stop, Box::new(|_, _| {})));
    assert!(refused(&(answer.text, answer.is_error)));
    Ok(())
}

fn another_runner() -> Result<(), Failed> {
    let place = Place::new();
    let mut agent = place.agent(LocalExecutor::Host);
    agent.runner.executor = LocalExecutor::Sandbox(Firmness::Confined).into();
    agent.settings.prompt.tools = ToolSet::Files;
    let mark = place.path().join("mark");
    let command = format!("touch {}; echo on", mark.display());
    let made = [json!({ "command": command }), json!({ "command": command, "background": true })];
    for (text, is_error) in outcomes(&agent, &made.map(|arguments| ("exec", arguments))) {
        assert!(!is_error && text.contains("on"), "{text}");
        assert!(!mark.exists(), "{text}");
    }
    Ok(())
}

fn nothing_allowed() -> Result<(), Failed> {
    let place = Place::new();
    let mut agent = place.agent(LocalExecutor::Sandbox(Firmness::Confined));
    let lists = [vec![vec![]], vec![vec!["true".to_owned()], vec![]]];
    for allowed in lists {
        agent.settings.restriction = Restriction { allowed, ..Restriction::default() };
        let answer = ran(&agent, "true");
        assert_eq!(answer, ("this was not run: no command is allowed".to_owned(), true));
    }
    Ok(())
}

fn restricted_variables() -> Result<(), Failed> {
    let header = "metadata:\n  metier:\n    always: true\n    primaryEnv: GREET_KEY\n    requires:\n      env: [GREET_NAME]\n";
    let place = Place::with_header(header);
    let listed = vec!["TZ".to_owned(), "LC_*".to_owned()];
    let answer = |executor: LocalExecutor, lists: &[&str], name: &str| {
        let mut agent = place.agent(executor);
        let denied = lists.iter().map(ToString::to_string).collect();
        let variables = listed.clone();
        agent.settings.restriction = Restriction { denied, variables, ..Restriction::default() };
        let call = json!({ "skill": "greet", "command": "true", "env": { name: "x" } });
        outcomes(&agent, &[("skill_run", call)]).pop().expect("an answer").0
    };
    let sandbox = LocalExecutor::Sandbox(Firmness::Confined);
    let refused = |name: &str, answer: &str| {
        answer.starts_with(&format!("this was not run: `{name}` may not be set in `env` here"))
    };
    for name in ["HARMLESS", "A_PROGRAM_READS_THIS", "greet_name", "TZX", "LC"] {
        assert!(refused(name, &answer(sandbox, &["curl"], name)), "{name}");
        assert!(refused(name, &answer(LocalExecutor::Host, &[], name)), "{name}");
        assert!(!refused(name, &answer(sandbox, &[], name)), "{name}");
    }
    for name in ["GREET_NAME", "GREET_KEY", "TZ", "LC_ALL"] {
        let answered = answer(sandbox, &["curl"], name);
        assert!(answered.contains("\"exit_code\":0"), "{name}: {answered}");
        // Somebody else may still have to decide there.
        assert!(!refused(name, &answer(LocalExecutor::Host, &[], name)), "{name}");
    }
    // No declaration makes a variable harmless.
    let place = Place::with_header(&header.replace("GREET_NAME", "LD_PRELOAD"));
    let agent = place.agent(sandbox);
    let call = json!({ "skill": "greet", "command": "true", "env": { "LD_PRELOAD": "x" } });
    let (answer, _) = outcomes(&agent, &[("skill_run", call)]).pop().expect("an answer");
    assert!(answer.contains("`LD_PRELOAD` may not be set for a run"), "{answer}");
    Ok(())
}

fn asked() -> Result<(), Failed> {
    let cases = [
        ("timeout: 1", "sleep 60", "\"timed_out\":true"),
        ("network: host", "true", "the skill may not be run: it asks for the network `host`"),
        ("network: [example.com:443]", "true", "it asks for the network `example.com:443`, and"),
        ("memory_mb: 1000000", "true", "the skill may not be run: it asks for 1000000 MiB"),
        ("network: [\"*.com:443\"]", "true", "is not an address that can be allowed"),
    ];
    for (request, command, expected) in cases {
        let header = format!("metadata:\n  metier:\n    sandbox:\n      {request}\n");
        let place = Place::with_header(&header);
        let agent = place.agent(LocalExecutor::Sandbox(Firmness::Confined));
        let (text, _) = ran(&agent, command);
        assert!(text.contains(expected), "{request}: {text}");
    }
    Ok(())
}

fn variables() -> Result<(), Failed> {
    let token = || ("TOKEN".to_owned(), "very-secret".to_owned());
    let environment = || vec![("TOKEN".into(), "very-secret".into())];
    let program = Program {
        command: Command::Arguments(vec!["true".into()]),
        environment: environment(),
        directory: "/".into(),
    };
    let walked = Walked {
        executable: "/bin/true".into(),
        arguments: vec!["true".into()],
        environment: environment(),
        directory: "/".into(),
        redirections: Vec::new(),
        pins: Vec::new(),
        places: Vec::new(),
    };
    let settings = RunSettings { variables: vec![token()], ..RunSettings::default() };
    let request = RunRequest { env: [token()].into(), ..RunRequest::default() };
    let question = CommandQuestion { variables: vec![token()], ..question("true") };
    let all: [&dyn std::fmt::Debug; 5] = [&program, &walked, &settings, &request, &question];
    for it in all {
        let text = format!("{it:?}");
        assert!(text.contains("TOKEN") && !text.contains("very-secret"), "{text}");
    }
    Ok(())
}

fn question(command: &str) -> CommandQuestion {
    CommandQuestion {
        agent: "default".to_owned(),
        tool: "skill_run".to_owned(),
        command: command.to_owned(),
        reason: "nobody allowed it".to_owned(),
        plan: None,
        shell: None,
        directory: "/".to_owned(),
        variables: Vec::new(),
        stdin: None,
        is_talked_to: false,
        offer: None,
    }
}

fn questions() -> Result<(), Failed> {
    let command = "rm -rf ~ #\u{1b}[2K\rls\u{202e}";
    let token = "ghp_0123456789abcdefghijABCDEFGHIJ012345".to_owned();
    let asked = CommandQuestion {
        directory: "/srv/\u{1b}[8m".to_owned(),
        variables: vec![("GITHUB_TOKEN".to_owned(), token.clone())],
        stdin: Some("\u{200b}y\n".to_owned()),
        reason: "\u{7}".to_owned(),
        ..question(command)
    };
    let sheet = Question::Command(Box::new(asked)).shown()?;
    insta::assert_snapshot!(sheet.to_string(), @r"
    may `skill_run` run this on your machine?
    run: rm -rf ~ #\u{1b}[2K\u{d}ls\u{202e}
    in: /srv/\u{1b}[8m
    with: GITHUB_TOKEN=****
    reads: \u{200b}y
    reads: 
    note: a shell reads it anew: what it does cannot be told in advance
    note: what looks like a secret is masked here, and not when it runs
    note: characters that cannot be seen are written as \u{…}
    why: \u{7}
    ");
    let long = Question::Command(Box::new(question(&"x".repeat(100_000))));
    assert!(long.shown().is_err());
    Ok(())
}
