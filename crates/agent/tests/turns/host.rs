//! Commands of a model on the host: what runs, what is asked, and what closes the gate.

use std::fmt;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use libtest_mimic::Failed;
use metier_agent::host::{
    Approver, ApproverError, CommandQuestion, Decision, Host, Prompter, Question,
};
use metier_agent::tools::ToolSet;
use metier_agent::{Dispatch, Ending};
use metier_approval::{
    ArgumentRule, Ask, Entry, Mode, Pinned, Policy, ProtectedPlaces, Remembered, Rules,
};
use metier_session::Content;
use metier_skill::library::Snapshot;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::Test;
use crate::bench::{Bench, calls, text};
use crate::sets::{outcomes, with};

pub(crate) const TESTS: &[Test] = &[
    ("host::what_was_allowed_runs_from_its_plan_in_the_agents_folder", allowed),
    ("host::what_nobody_allowed_is_asked_and_both_are_events", asked),
    ("host::what_a_person_denies_does_not_run", denied),
    ("host::where_nobody_can_be_asked_nothing_more_runs", nobody),
    ("host::a_text_without_a_plan_runs_by_a_shell_only_when_a_person_says_so", by_a_shell),
    ("host::what_was_allowed_for_good_is_not_asked_again_until_the_program_changes", for_good),
    ("host::what_changes_while_a_person_decides_does_not_run", changed),
    ("host::a_path_that_means_another_process_is_not_written", another_process),
    ("host::a_folder_that_is_replaced_is_not_written_through", replaced_folder),
    ("host::a_text_is_bound_to_the_folder_it_was_shown_with", text_elsewhere),
    ("host::what_a_command_reads_and_whether_it_is_talked_to_is_shown", given),
    ("host::a_command_of_a_person_for_a_tool_is_judged_like_a_models", dispatched),
    ("host::a_turn_that_is_stopped_at_a_question_runs_nothing", stopped),
    ("host::inputs_do_not_go_to_the_home_of_programs", no_home),
    ("host::a_repository_does_not_say_what_git_starts_to_look_at_it", repository),
    ("host::variables_of_a_call_are_judged_and_shown", variables),
    ("host::a_policy_that_cannot_be_read_closes_the_gate", unreadable),
    ("host::decisions_that_were_taken_back_let_nothing_run", taken_back),
    ("host::skill_run_and_code_are_judged_like_exec", everything_is_judged),
    ("host::programs_in_the_background_are_judged_too", background),
    ("host::read_stays_in_the_agents_folder_skills_and_listed_folders", reading),
    ("host::without_anybody_who_decides_no_command_runs", undecided),
];

/// Something that happens while a person thinks.
#[derive(Default)]
struct Meanwhile(Mutex<Option<Box<dyn FnOnce() + Send>>>);

impl fmt::Debug for Meanwhile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Meanwhile")
    }
}

/// Decisions that cannot be read.
#[derive(Clone, Debug)]
pub(crate) struct Unreadable(pub(crate) &'static str);

impl fmt::Display for Unreadable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.0)
    }
}

impl std::error::Error for Unreadable {}

/// A person who decides as a test says, and remembers.
#[derive(Debug)]
pub(crate) struct Person {
    policy: Mutex<Result<Policy, Unreadable>>,
    /// What is answered; without it nobody is there.
    answer: Option<Decision>,
    meanwhile: Meanwhile,
    pub(crate) questions: Mutex<Vec<CommandQuestion>>,
    /// Whether what was allowed still holds when it is used.
    holds: bool,
    never_answers: bool,
}

impl Person {
    pub(crate) fn who(answer: Option<Decision>) -> Self {
        let trusted = ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin"];
        let policy = Policy {
            rules: Rules { mode: Mode::Allowlist, ask: Ask::OnMiss, fallback: Mode::Deny },
            entries: Vec::new(),
            remembered: Vec::new(),
            safe_programs: ["head", "wc", "tr"].map(str::to_owned).to_vec(),
            trusted_folders: trusted.map(PathBuf::from).to_vec(),
            skill_programs: Vec::new(),
            writable: Vec::new(),
            variables: vec!["LANG".to_owned()],
            protected: ProtectedPlaces::default(),
        };
        Self {
            policy: Mutex::new(Ok(policy)),
            answer,
            meanwhile: Meanwhile::default(),
            questions: Mutex::default(),
            holds: true,
            never_answers: false,
        }
    }

    pub(crate) fn allowing(self, pattern: &str) -> Self {
        if let Ok(policy) = &mut *self.policy.lock().unwrap() {
            policy.entries.push(Entry {
                id: format!("{pattern} allowed"),
                pattern: pattern.to_owned(),
                arguments: ArgumentRule::Known,
                directory: None,
            });
        }
        self
    }

    pub(crate) fn who_never_answers(self) -> Self {
        Self { never_answers: true, ..self }
    }

    fn while_thinking(self, work: impl FnOnce() + Send + 'static) -> Self {
        *self.meanwhile.0.lock().unwrap() = Some(Box::new(work));
        self
    }

    fn reasons(&self) -> Vec<String> {
        self.questions.lock().unwrap().iter().map(|it| it.reason.clone()).collect()
    }
}

#[async_trait]
impl Approver for Person {
    async fn policy(&self, _agent: &str, _skills: &Snapshot) -> Result<Policy, ApproverError> {
        self.policy.lock().unwrap().clone().map_err(ApproverError::new)
    }

    async fn remember(&self, _agent: &str, commands: &[Pinned]) -> Result<(), ApproverError> {
        let mut policy = self.policy.lock().unwrap();
        if let Ok(policy) = &mut *policy {
            policy.remembered.extend(commands.iter().map(|it| Remembered {
                id: "kept".to_owned(),
                program: it.program.clone(),
                sha256: it.sha256.clone(),
                words: it.command.words.clone(),
                directory: it.directory.clone(),
                variables: it.command.variables.clone(),
            }));
        }
        Ok(())
    }

    async fn used(&self, _ids: &[&str], _command: &str) -> Result<bool, ApproverError> {
        Ok(self.holds)
    }
}

#[async_trait]
impl Prompter for Person {
    async fn ask(&self, question: &Question) -> Option<Decision> {
        let Question::Command(asked) = question else { return None };
        self.questions.lock().unwrap().push(CommandQuestion::clone(asked));
        if let Some(work) = self.meanwhile.0.lock().unwrap().take() {
            work();
        }
        if self.never_answers {
            std::future::pending::<()>().await;
        }
        self.answer
    }
}

/// An agent whose commands run on the host, in a folder of its own.
pub(crate) struct OnHost {
    bench: Bench,
    person: Arc<Person>,
    folder: TempDir,
}

impl OnHost {
    fn new(person: Person, folder: TempDir) -> Self {
        let mut bench = with(ToolSet::Files);
        let person = Arc::new(person);
        let real = folder.path().canonicalize().unwrap();
        if let Ok(policy) = &mut *person.policy.lock().unwrap() {
            policy.writable.push(real.clone());
        }
        let approver = Arc::<Person>::clone(&person);
        let prompter = Arc::<Person>::clone(&person);
        bench.host = Some(Host { folder: real, readable: Vec::new(), approver, prompter });
        Self { bench, person, folder }
    }

    pub(crate) fn with(person: Person) -> Self {
        Self::new(person, TempDir::new().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// What came of commands, one after the other.
    pub(crate) fn exec(&self, commands: &[&str]) -> Result<Vec<(String, bool)>, Failed> {
        let made: Vec<_> =
            commands.iter().map(|command| ("exec", json!({ "command": command }))).collect();
        outcomes(&self.bench, &made)
    }

    /// What one command wrote, or why it did not run.
    fn one(&self, command: &str) -> Result<String, Failed> {
        Ok(stdout(self.exec(&[command])?.last().ok_or("no result")?))
    }
}

fn stdout((text, is_error): &(String, bool)) -> String {
    let output: Value = serde_json::from_str(text).unwrap_or_default();
    match output["stdout"].as_str() {
        Some(stdout) if !is_error => stdout.to_owned(),
        _ => text.clone(),
    }
}

/// Writes a program.
fn program(path: &Path, text: &str) {
    fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn allowed() -> Result<(), Failed> {
    let at = OnHost::with(Person::who(None).allowing("ls").allowing("cat"));
    fs::create_dir(at.path("sub"))?;
    fs::write(at.path("sub/a"), "one\ntwo\n")?;
    let results = at.exec(&[
        "cd sub && ls | head -5",
        "cat sub/a > copy; cat copy 2>/dev/null | wc -l",
        "cat missing || cat sub/a | tr a-z A-Z",
    ])?;
    assert_eq!(stdout(&results[0]), "a\n");
    assert_eq!(stdout(&results[1]).trim(), "2");
    assert_eq!(stdout(&results[2]), "ONE\nTWO\n");
    assert!(at.person.reasons().is_empty());
    let real = at.folder.path().canonicalize()?;
    let confinement = &serde_json::from_str::<Value>(&results[0].0)?["confinement"];
    assert_eq!(confinement["executor"], "host", "{confinement}");
    assert!(real.join("copy").exists());
    Ok(())
}

fn asked() -> Result<(), Failed> {
    let at = OnHost::with(Person::who(Some(Decision::Once)));
    let results = at.exec(&["uname -s", "uname -s"])?;
    assert_eq!(results.iter().map(stdout).collect::<Vec<_>>(), ["Linux\n", "Linux\n"]);
    // Once is once.
    assert_eq!(at.person.reasons().len(), 2);
    let question = at.person.questions.lock().unwrap()[0].clone();
    assert!(question.plan.is_some() && question.offer.is_some(), "{question:?}");
    let events = at.bench.events();
    let events = events.iter().filter_map(|event| match &event.content {
        Content::Approval(it) => Some((event.id, it.request.clone(), it.decision.clone())),
        _ => None,
    });
    let events: Vec<_> = events.collect();
    assert_eq!(events.len(), 4);
    assert_eq!(events[0].1["command"], json!(["uname -s"]));
    assert_eq!(events[0].2, Value::Null);
    assert_eq!(events[1].1, json!({ "event": events[0].0 }));
    assert_eq!(events[1].2, json!({ "answer": "once" }));
    Ok(())
}

fn denied() -> Result<(), Failed> {
    let at = OnHost::with(Person::who(Some(Decision::Deny)));
    let results = at.exec(&["touch made", "touch $HOME/made"])?;
    for (text, is_error) in &results {
        assert!(*is_error && text.contains("the user did not allow this"), "{text}");
    }
    assert!(!at.path("made").exists());
    Ok(())
}

fn nobody() -> Result<(), Failed> {
    let at = OnHost::with(Person::who(None).allowing("ls"));
    let results = at.exec(&["touch made", "ls $(touch made)", "ls | touch made", "ls"])?;
    for (text, is_error) in &results[..3] {
        assert!(*is_error && text.contains("nobody can be asked"), "{text}");
    }
    assert_eq!(stdout(&results[3]), "");
    assert!(!at.path("made").exists());
    Ok(())
}

fn by_a_shell() -> Result<(), Failed> {
    let at = OnHost::with(Person::who(Some(Decision::Once)).allowing("echo"));
    assert_eq!(at.one("for it in 1 2; do echo $it; done")?, "1\n2\n");
    let question = at.person.questions.lock().unwrap()[0].clone();
    assert!(question.plan.is_none() && question.offer.is_none(), "{question:?}");
    Ok(())
}

fn for_good() -> Result<(), Failed> {
    let at = OnHost::with(Person::who(Some(Decision::Always)));
    let tool = at.path("echo");
    fs::copy("/usr/bin/echo", &tool)?;
    let real = tool.canonicalize()?.display().to_string();
    let (same, other) = (format!("{real} hello"), format!("{real} other"));
    assert_eq!(at.one(&same)?, "hello\n");
    assert_eq!(at.one(&same)?, "hello\n");
    assert_eq!(at.person.reasons().len(), 1);
    // Neither other words, nor another folder, nor another program are what was allowed.
    assert_eq!(at.one(&other)?, "other\n");
    fs::create_dir(at.path("sub"))?;
    assert_eq!(at.one(&format!("cd sub && {same}"))?, "hello\n");
    fs::remove_file(&tool)?;
    program(&tool, "echo changed");
    assert_eq!(at.one(&same)?, "changed\n");
    assert_eq!(at.person.reasons().len(), 4);
    Ok(())
}

fn changed() -> Result<(), Failed> {
    /// What happens to a folder while a person decides.
    type Change = fn(&Path);
    let cases: [(&str, &str, Change); 4] = [
        ("a script", "sh work/script", |folder| program(&folder.join("work/script"), "echo bad")),
        ("a program", "work/tool", |folder| {
            fs::remove_file(folder.join("work/tool")).unwrap();
            program(&folder.join("work/tool"), "echo bad");
        }),
        ("a program in its place", "work/tool", |folder| {
            program(&folder.join("work/tool"), "echo bad");
        }),
        ("a folder", "cd work && ls", |folder| {
            fs::rename(folder.join("work"), folder.join("moved")).unwrap();
            symlink(folder.join("moved"), folder.join("work")).unwrap();
        }),
    ];
    for (name, command, change) in cases {
        let folder = TempDir::new()?;
        fs::create_dir(folder.path().join("work"))?;
        program(&folder.path().join("work/script"), "echo good");
        program(&folder.path().join("work/tool"), "echo good");
        let place = folder.path().to_owned();
        let person = Person::who(Some(Decision::Once)).while_thinking(move || change(&place));
        let at = OnHost::new(person, folder);
        let result = at.one(command)?;
        assert!(result.contains("is not what was allowed any more"), "{name}: {result}");
        assert_eq!(at.person.reasons().len(), 1, "{name}");
    }
    Ok(())
}

/// A person whose own state is in a folder of the agent's.
fn with_state(at: &OnHost) -> PathBuf {
    let own = at.path("own");
    fs::create_dir(&own).unwrap();
    let real = own.canonicalize().unwrap();
    if let Ok(policy) = &mut *at.person.policy.lock().unwrap() {
        policy.protected.own.push(real);
    }
    own.join("config.toml")
}

fn another_process() -> Result<(), Failed> {
    let at = OnHost::with(Person::who(None).allowing("tee").allowing("echo").allowing("touch"));
    let config = with_state(&at);
    symlink("/proc/self/cwd", at.path("l"))?;
    let link = at.path("l").display().to_string();
    let results = at.exec(&[
        "cd own && echo x | tee /proc/self/cwd/config.toml",
        "cd own && touch /dev/fd/../cwd/config.toml",
        "cd own && echo x | tee ../l/config.toml",
        &format!("cd own && touch {link}/config.toml"),
    ])?;
    for (text, is_error) in &results {
        assert!(*is_error && text.contains("this was not run"), "{text}");
    }
    assert!(!config.exists());
    assert_eq!(at.one("echo x | tee l2")?, "x\n");
    Ok(())
}

fn replaced_folder() -> Result<(), Failed> {
    let person =
        ["sleep", "cp", "mv", "rm", "mkdir"].into_iter().fold(Person::who(None), Person::allowing);
    let at = OnHost::with(person);
    let config = with_state(&at);
    for folder in ["p/q", "a/b/c"] {
        fs::create_dir_all(at.path(folder))?;
    }
    fs::write(at.path("payload"), "x")?;
    // It leads to the state once the folder it is in has another place.
    symlink("../own", at.path("a/b/c/q"))?;
    let refused = at.one("mv p pp && mv a/b/c p && cp payload p/q/config.toml")?;
    assert!(refused.contains("puts there"), "{refused}");
    let wait = json!({ "command": "sleep 3 && cp payload p/q/config.toml", "background": true });
    let results = outcomes(
        &at.bench,
        &[
            ("exec", wait),
            ("exec", json!({ "command": "mv p pp && mv a/b/c p" })),
            ("process", json!({ "action": "poll", "yield_ms": 20_000 })),
        ],
    )?;
    assert!(at.path("p/q").is_symlink(), "{results:?}");
    let (waited, _) = results.last().ok_or("no result")?;
    assert!(waited.contains("changed since it was approved"), "{waited}");
    assert!(!config.exists(), "{results:?}");
    // A folder that is made again is the same place.
    assert_eq!(at.one("mkdir d && cp payload d && rm -r d && mkdir d && cp payload d/x")?, "");
    assert!(at.path("d/x").exists());
    Ok(())
}

fn text_elsewhere() -> Result<(), Failed> {
    let folder = TempDir::new()?;
    fs::create_dir(folder.path().join("work"))?;
    let place = folder.path().to_owned();
    let person = Person::who(Some(Decision::Once)).while_thinking(move || {
        fs::rename(place.join("work"), place.join("moved")).unwrap();
        fs::create_dir(place.join("work")).unwrap();
    });
    let at = OnHost::new(person, folder);
    let given = json!({ "command": "touch made; touch $HOME/made", "cwd": "work" });
    let results = outcomes(&at.bench, &[("exec", given)])?;
    assert!(results[0].0.contains("is not what was allowed any more"), "{}", results[0].0);
    assert!(!at.path("work/made").exists() && !at.path("moved/made").exists());
    Ok(())
}

fn given() -> Result<(), Failed> {
    let mut at = OnHost::with(Person::who(Some(Decision::Once)));
    let start = ("exec", json!({ "command": "cat", "pty": true }));
    outcomes(&at.bench, &[start, ("process", json!({ "action": "kill" }))])?;
    at.bench.settings.prompt.tools = ToolSet::Full;
    at.bench.key = metier_session::SessionKey::new("test", "ada", "two")?;
    let load = ("skill_load", json!({ "skill": "pdf" }));
    let run = json!({ "skill": "pdf", "command": "sh", "stdin": "echo from its input" });
    let results = outcomes(&at.bench, &[load, ("skill_run", run)])?;
    assert_eq!(stdout(&results[1]), "from its input\n");
    let questions = at.person.questions.lock().unwrap();
    assert!(questions[0].is_talked_to && questions[0].stdin.is_none(), "{questions:?}");
    assert_eq!(questions[1].stdin.as_deref(), Some("echo from its input"));
    let events = at.bench.events();
    let asked = events.iter().find_map(|event| match &event.content {
        Content::Approval(it) => it.request["stdin"].as_str().map(str::to_owned),
        _ => None,
    });
    assert_eq!(asked.as_deref(), Some("echo from its input"));
    Ok(())
}

fn dispatched() -> Result<(), Failed> {
    let command = |arguments: &str| Dispatch {
        text: format!("/pdf {arguments}"),
        command: "pdf".to_owned(),
        skill: "pdf".to_owned(),
        tool: "exec".to_owned(),
        arguments: arguments.to_owned(),
        ..Dispatch::default()
    };
    let at = OnHost::with(Person::who(None).allowing("ls"));
    let refused = at.bench.dispatch(command("touch made"))?;
    assert!(refused.text.contains("nobody can be asked"), "{}", refused.text);
    fs::write(at.path("file"), "")?;
    let ran = at.bench.dispatch(command("ls"))?;
    assert!(ran.text.contains(r#""stdout":"file\n""#), "{}", ran.text);
    let at = OnHost::with(Person::who(Some(Decision::Deny)));
    let denied = at.bench.dispatch(command("touch made"))?;
    assert!(denied.text.contains("did not allow this"), "{}", denied.text);
    assert_eq!(at.person.reasons().len(), 1);
    assert!(!at.path("made").exists());
    Ok(())
}

fn stopped() -> Result<(), Failed> {
    let at = OnHost::with(Person { never_answers: true, ..Person::who(Some(Decision::Once)) });
    let outcome =
        at.bench.stopped_after(&calls(&[("exec", json!({ "command": "touch made" }))]))?;
    assert_eq!(outcome.ending, Ending::Stopped);
    let decisions: Vec<Value> = at
        .bench
        .events()
        .into_iter()
        .filter_map(|event| match event.content {
            Content::Approval(it) if !it.decision.is_null() => Some(it.decision),
            _ => None,
        })
        .collect();
    assert_eq!(decisions, [json!({ "answer": "stopped" })]);
    assert!(!at.path("made").exists());
    Ok(())
}

fn no_home() -> Result<(), Failed> {
    let mut at = OnHost::with(Person::who(Some(Decision::Once)));
    at.bench.settings.prompt.tools = ToolSet::Full;
    let load = ("skill_load", json!({ "skill": "pdf" }));
    let input = json!([{ "from": "skill://pdf/forms.md", "to": ".homes/pdf/.gitconfig" }]);
    let run = json!({ "skill": "pdf", "command": "ls", "inputs": input });
    let results = outcomes(&at.bench, &[load, ("skill_run", run)])?;
    assert!(results[1].1 && results[1].0.contains("cannot go to"), "{:?}", results[1]);
    Ok(())
}

fn repository() -> Result<(), Failed> {
    let at = OnHost::with(Person::who(None).allowing("git"));
    let made = at.path("made").canonicalize().unwrap_or_else(|_| at.path("made"));
    let hook = format!("touch {}", made.display());
    for folder in ["bare.git/objects", "bare.git/refs", "tree/.git/objects", "tree/.git/refs"] {
        fs::create_dir_all(at.path(folder))?;
    }
    for folder in ["bare.git", "tree/.git"] {
        fs::write(at.path(folder).join("HEAD"), "ref: refs/heads/main\n")?;
        let bare = folder == "bare.git";
        let config = format!(
            "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tfsmonitor = \"{hook}; false\"\n\tpager = \"{hook}\"\n"
        );
        let worktree = if bare { "\tworktree = ..\n" } else { "" };
        fs::write(at.path(folder).join("config"), config + worktree)?;
    }
    let given = |folder: &str| ("exec", json!({ "command": "git status --short", "cwd": folder }));
    let results = outcomes(&at.bench, &[given("bare.git"), given("tree")])?;
    assert!(!made.exists(), "{results:?}");
    // It did look.
    assert!(results[1].0.contains(r#""exit_code":0"#), "{results:?}");
    Ok(())
}

fn variables() -> Result<(), Failed> {
    let mut at = OnHost::with(Person::who(Some(Decision::Once)).allowing("printenv"));
    at.bench.settings.restriction.variables = vec!["GREETING".to_owned()];
    let with = |name: &str| {
        let given = json!({ "command": "printenv GREETING LANG", "env": { name: "moin" } });
        let results = outcomes(&at.bench, &[("exec", given)])?;
        Ok::<_, Failed>(results.last().ok_or("no result")?.clone())
    };
    assert!(stdout(&with("GREETING")?).starts_with("moin\n"));
    assert_eq!(at.person.reasons().len(), 1);
    let question = at.person.questions.lock().unwrap()[0].clone();
    assert_eq!(question.variables, [("GREETING".to_owned(), "moin".to_owned())]);
    for name in ["LD_PRELOAD", "MANPAGER", "NOT_LISTED"] {
        let (text, is_error) = with(name)?;
        assert!(is_error && text.contains(name), "{text}");
    }
    assert_eq!(at.person.reasons().len(), 1);
    Ok(())
}

fn unreadable() -> Result<(), Failed> {
    let at = OnHost::with(Person::who(Some(Decision::Once)).allowing("ls"));
    *at.person.policy.lock().unwrap() = Err(Unreadable("the list is broken"));
    assert_eq!(at.one("ls")?, "this was not run: the list is broken");
    Ok(())
}

fn taken_back() -> Result<(), Failed> {
    let at = OnHost::with(Person { holds: false, ..Person::who(None).allowing("ls") });
    assert!(at.one("ls")?.contains("is not what was allowed any more"));
    Ok(())
}

fn everything_is_judged() -> Result<(), Failed> {
    let mut at = OnHost::with(Person::who(None));
    at.bench.settings.prompt.tools = ToolSet::Full;
    let run = |command: &str| ("skill_run", json!({ "skill": "pdf", "command": command }));
    let load = ("skill_load", json!({ "skill": "pdf" }));
    let results = outcomes(&at.bench, &[load, run("touch made"), run("sh scripts/pages")])?;
    for (text, is_error) in &results[1..] {
        assert!(*is_error && text.contains("nobody can be asked"), "{text}");
    }
    at.bench.settings.limits.run_code = true;
    let script = text("```bash\ntouch made\n```") + &text("Done.");
    let done = at.bench.say("Go.", &script);
    done.outcome?;
    let last = format!("{:?}", done.requests.last().ok_or("no request")?.messages.last());
    assert!(last.contains("nobody can be asked"), "{last}");
    assert!(!at.path("made").exists());
    // With a person they run, skills as they were staged.
    let mut at = OnHost::with(Person::who(Some(Decision::Once)));
    at.bench.settings.prompt.tools = ToolSet::Full;
    let load = ("skill_load", json!({ "skill": "pdf" }));
    let results = outcomes(&at.bench, &[load, run("sh scripts/pages")])?;
    assert_eq!(stdout(&results[1]), "3 pages\n");
    Ok(())
}

fn background() -> Result<(), Failed> {
    let at = OnHost::with(Person::who(None).allowing("cat"));
    let start = |command: &str| ("exec", json!({ "command": command, "background": true }));
    let results = outcomes(
        &at.bench,
        &[
            start("touch made"),
            start("cat | tr a-z A-Z"),
            ("process", json!({ "action": "write", "chars": "moin\n\u{4}" })),
            ("process", json!({ "action": "poll", "yield_ms": 20_000 })),
        ],
    )?;
    assert!(results[0].1 && results[0].0.contains("nobody can be asked"), "{:?}", results[0]);
    let heard = format!("{} {}", results[2].0, results[3].0);
    assert!(heard.contains("MOIN"), "{heard}");
    assert!(!at.path("made").exists());
    Ok(())
}

fn reading() -> Result<(), Failed> {
    let mut at = OnHost::with(Person::who(None));
    let (listed, other) = (TempDir::new()?, TempDir::new()?);
    fs::write(at.path("own"), "own\n")?;
    fs::write(listed.path().join("file"), "listed\n")?;
    fs::write(other.path().join("secret"), "secret\n")?;
    symlink(other.path().join("secret"), at.path("link"))?;
    let path = |folder: &TempDir, name: &str| folder.path().join(name).display().to_string();
    if let Some(host) = &mut at.bench.host {
        host.readable.push(listed.path().to_owned());
    }
    let read = |path: &str| ("read", json!({ "path": path }));
    let results = outcomes(
        &at.bench,
        &[
            read("own"),
            read(&path(&at.folder, "own")),
            read(&path(&listed, "file")),
            read("$SKILLS_DIR/pdf/forms.md"),
            read(&at.bench.skill_file("pdf/forms.md")),
            read(&path(&other, "secret")),
            read("link"),
            read("../../../../../../etc/passwd"),
            read("/proc/self/environ"),
        ],
    )?;
    let texts: Vec<&str> = results.iter().map(|(text, _)| text.as_str()).collect();
    let forms = "1: How to fill in forms.\n";
    assert_eq!(texts[..5], ["1: own\n", "1: own\n", "1: listed\n", forms, forms]);
    for (text, is_error) in &results[5..] {
        assert!(*is_error && !text.contains("secret\n") && !text.contains("root:"), "{text}");
    }
    Ok(())
}

fn undecided() -> Result<(), Failed> {
    let mut at = OnHost::with(Person::who(Some(Decision::Once)));
    at.bench.host = None;
    at.bench.is_on_host = true;
    let script = calls(&[("exec", json!({ "command": "ls" }))]) + &text("Done.");
    let done = at.bench.say("Go.", &script);
    done.outcome?;
    let last = format!("{:?}", done.requests.last().ok_or("no request")?.messages.last());
    assert!(last.contains("nobody decides about them"), "{last}");
    Ok(())
}
