//! What a program brings itself: its tools, and an executor of its own.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use libtest_mimic::Failed;
use metier_agent::host::{Decision, Host};
use metier_agent::tools::{ToolError, ToolSet};
use metier_agent::{AgentError, Answer, Dispatch, Ending, Tool, ToolCall};
use metier_model::ToolSpec;
use metier_session::Content;
use metier_workspace::executor::{
    CustomCommand, CustomExecutor, CustomOutcome, CustomRun, CustomWatch, ExecuteError,
};
use metier_workspace::request::Confinement;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::Barrier;

use crate::Test;
use crate::bench::{Bench, calls, text};
use crate::host::Person;
use crate::sets::outcomes;

pub(crate) const TESTS: &[Test] = &[
    ("own::tools_are_offered_from_the_beginning_and_called_unasked", called),
    ("own::a_session_keeps_the_tools_it_began_with", kept),
    ("own::a_tool_that_the_program_has_no_longer_says_so", gone),
    ("own::calls_of_one_reply_run_beside_each_other", together),
    ("own::a_call_ends_when_the_turn_is_stopped", stopped),
    ("own::a_long_answer_is_cut_and_says_so", cut),
    ("own::an_answer_cannot_touch_the_state_of_the_session", no_state),
    ("own::arguments_that_are_no_object_are_refused", no_object),
    ("own::a_name_that_is_taken_is_an_error_before_anything_happens", taken),
    ("own::a_command_of_a_person_can_go_to_a_tool_of_the_program", dispatched),
    ("own::an_executor_that_sees_the_host_runs_nothing_that_nobody_decides_about", undecided),
    ("own::an_executor_that_sees_the_host_gets_what_was_allowed_as_a_plan", planned),
    ("own::an_executor_that_sees_the_host_does_not_get_what_was_denied", denied),
    ("own::an_executor_that_does_not_see_the_host_is_given_commands_unasked", unasked),
];

/// A tool that answers what it is made with.
#[derive(Debug)]
struct Fixed {
    name: &'static str,
    answer: Answer,
    /// Whom it waits for before it answers.
    meets: Option<Arc<Barrier>>,
    /// What it was given.
    given: Mutex<Vec<String>>,
}

impl Fixed {
    fn new(name: &'static str, answer: Answer) -> Self {
        Self { name, answer, meets: None, given: Mutex::default() }
    }
}

#[async_trait]
impl Tool for Fixed {
    fn spec(&self) -> ToolSpec {
        let schema = json!({ "type": "object", "properties": { "article": { "type": "string" } } });
        let description = format!("Says what {} says.", self.name);
        ToolSpec { name: self.name.to_owned(), description, schema }
    }

    async fn call(&self, call: ToolCall<'_>) -> Answer {
        let given = format!("{} {}", call.session.session(), json!(call.arguments));
        self.given.lock().unwrap().push(given);
        if let Some(meets) = &self.meets {
            meets.wait().await;
        }
        self.answer.clone()
    }
}

fn with(tools: Vec<Arc<dyn Tool>>) -> Bench {
    let mut bench = Bench::new();
    bench.tools = tools;
    bench
}

fn stock() -> Arc<Fixed> {
    Arc::new(Fixed::new("stock", Answer::json(&json!({ "anvil": 3 }))))
}

fn article() -> Value {
    json!({ "article": "anvil" })
}

fn called() -> Result<(), Failed> {
    let tool = stock();
    let bench = with(vec![Arc::<Fixed>::clone(&tool)]);
    let asked = [("stock", article()), ("skill_load", json!({ "skill": "pdf" }))];
    let done = bench.say("How many?", &(calls(&asked) + &text("Three.")));
    let outcome = done.outcome?;
    assert_eq!((outcome.ending, outcome.text.as_str()), (Ending::Answered, "Three."));
    let names: Vec<_> = done.requests[0].tools.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names.last(), Some(&"stock"), "{names:?}");
    assert_eq!(*tool.given.lock().unwrap(), [r#"one {"article":"anvil"}"#]);
    let responses = outcome.events.iter().filter_map(|event| match &event.content {
        Content::ToolResponse(response) => Some((&*response.text, &response.structured)),
        _ => None,
    });
    assert_eq!(responses.clone().count(), 2);
    let first = responses.into_iter().next();
    assert_eq!(first, Some((r#"{"anvil":3}"#, &json!({ "anvil": 3 }))));
    Ok(())
}

fn kept() -> Result<(), Failed> {
    let mut bench = with(vec![stock()]);
    let first = bench.say("Look.", &text("Done."));
    bench.tools.push(Arc::new(Fixed::new("prices", Answer::text("7"))));
    let second = bench.say("Look again.", &text("Done."));
    assert_eq!(second.requests[0].tools, first.requests[0].tools);
    // A tool that the session does not have is not called.
    let results = outcomes(&bench, &[("prices", json!({}))])?;
    assert!(results[0].1 && results[0].0.starts_with("there is no tool `prices`"), "{results:?}");
    Ok(())
}

fn gone() -> Result<(), Failed> {
    let mut bench = with(vec![stock()]);
    bench.say("Look.", &text("Done.")).outcome?;
    bench.tools.clear();
    let results = outcomes(&bench, &[("stock", article())])?;
    insta::assert_snapshot!(results[0].0, @"`stock` was not called: this session began with it, and the program does not have it any more; go on without it");
    assert!(results[0].1);
    Ok(())
}

fn together() -> Result<(), Failed> {
    let barrier = Arc::new(Barrier::new(2));
    let meeting = |name, answer: &str| {
        let meets = Some(Arc::clone(&barrier));
        Arc::new(Fixed { meets, ..Fixed::new(name, Answer::text(answer)) }) as Arc<dyn Tool>
    };
    let bench = with(vec![meeting("one", "1"), meeting("two", "2")]);
    let made = calls(&[("two", json!({})), ("one", json!({}))]);
    let outcome = bench.say("Both.", &(made + &text("Done."))).outcome?;
    let answers: Vec<&str> = outcome
        .events
        .iter()
        .filter_map(|event| match &event.content {
            Content::ToolResponse(response) => Some(response.text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(answers, ["2", "1"]);
    Ok(())
}

fn stopped() -> Result<(), Failed> {
    let meets = Some(Arc::new(Barrier::new(2)));
    let tool = Arc::new(Fixed { meets, ..Fixed::new("slow", Answer::text("never")) });
    let bench = with(vec![Arc::<Fixed>::clone(&tool)]);
    let outcome = bench.stopped_after(&calls(&[("slow", json!({}))]))?;
    assert_eq!(outcome.ending, Ending::Stopped);
    assert_eq!(tool.given.lock().unwrap().len(), 1);
    let said = outcome.events.iter().find_map(|event| match &event.content {
        Content::ToolResponse(response) => Some(response.text.as_str()),
        _ => None,
    });
    assert_eq!(said, Some("the user stopped this"));
    Ok(())
}

fn cut() -> Result<(), Failed> {
    let bench = with(vec![Arc::new(Fixed::new("long", Answer::text("é".repeat(50_000))))]);
    let (text, is_error) = outcomes(&bench, &[("long", json!({}))])?.remove(0);
    assert!(!is_error && text.ends_with("[34464 more bytes of this answer were left out]"));
    Ok(())
}

fn no_state() -> Result<(), Failed> {
    let mut answer = Answer::text("done");
    answer.state.set("temp:skill:loaded:default:pdf", "1")?;
    answer.digests.insert("pdf".to_owned(), "0".repeat(64));
    let bench = with(vec![Arc::new(Fixed::new("forger", answer))]);
    outcomes(&bench, &[("forger", json!({}))])?;
    assert_eq!(bench.state(), "");
    assert!(bench.events().iter().all(|event| event.digests.is_empty()));
    Ok(())
}

fn no_object() -> Result<(), Failed> {
    let tool = stock();
    let bench = with(vec![Arc::<Fixed>::clone(&tool)]);
    let results = outcomes(&bench, &[("stock", json!(["anvil"]))])?;
    assert_eq!(results[0], ("the arguments of stock are not an object".to_owned(), true));
    assert!(tool.given.lock().unwrap().is_empty());
    Ok(())
}

fn taken() -> Result<(), Failed> {
    let bench = with(vec![Arc::new(Fixed::new("skill_run", Answer::text("mine")))]);
    let refused = bench.say("Go.", &text("Done.")).outcome;
    assert!(
        matches!(&refused, Err(AgentError::Tool(ToolError::BuiltIn(name))) if name == "skill_run"),
        "{refused:?}"
    );
    let session = crate::bench::wait(bench.store().get(&bench.key))?;
    assert!(session.is_none(), "a session was begun");
    Ok(())
}

fn dispatched() -> Result<(), Failed> {
    let tool = stock();
    let bench = with(vec![Arc::<Fixed>::clone(&tool)]);
    let outcome = bench.dispatch(Dispatch {
        text: "/pdf anvil".to_owned(),
        command: "pdf".to_owned(),
        skill: "pdf".to_owned(),
        tool: "stock".to_owned(),
        arguments: "anvil".to_owned(),
        ..Dispatch::default()
    })?;
    assert_eq!(outcome.text, r#"{"anvil":3}"#);
    let given = tool.given.lock().unwrap().join("\n");
    assert_eq!(given, r#"one {"command":"anvil","commandName":"pdf","skillName":"pdf"}"#);
    Ok(())
}

/// Runs nothing, and remembers what it was to run.
#[derive(Debug)]
struct Recorder {
    sees_host: bool,
    ran: Mutex<Vec<String>>,
}

#[async_trait]
impl CustomExecutor for Recorder {
    fn name(&self) -> &'static str {
        "recorder"
    }

    fn sees_host(&self) -> bool {
        self.sees_host
    }

    async fn execute(
        &self,
        run: CustomRun,
        mut watch: CustomWatch,
    ) -> Result<CustomOutcome, ExecuteError> {
        let ran = match &run.command {
            CustomCommand::Shell(text) => format!("shell: {text}"),
            CustomCommand::Arguments(words) => format!("words: {}", words.join(" ")),
            CustomCommand::Plan(walk) => {
                let programs = walk.steps.iter().flat_map(|step| &step.programs);
                let words = programs.flat_map(|it| &it.arguments).map(|it| it.to_string_lossy());
                format!("plan: {}", words.collect::<Vec<_>>().join(" "))
            }
            _ => return Err(ExecuteError::HostOnly(self.name())),
        };
        self.ran.lock().unwrap().push(ran);
        // A run takes a moment.
        tokio::time::sleep(Duration::from_millis(1)).await;
        watch.write_output(b"recorded\n");
        Ok(CustomOutcome::exited(0, Confinement::nothing()))
    }
}

/// What came of a command for such an executor, and what it ran.
fn recorded(sees_host: bool, person: Option<Person>) -> Result<(String, String), Failed> {
    let recorder = Arc::new(Recorder { sees_host, ran: Mutex::default() });
    let folder = TempDir::new()?;
    let mut bench = Bench::new();
    bench.executor = Some(Arc::clone(&recorder).into());
    bench.settings.prompt.tools = ToolSet::Files;
    bench.host = person.map(Arc::new).map(|person| Host {
        folder: folder.path().to_owned(),
        readable: Vec::new(),
        approver: Arc::<Person>::clone(&person),
        prompter: person,
    });
    let (answer, _) = outcomes(&bench, &[("exec", json!({ "command": "ls -l" }))])?.remove(0);
    let ran = recorder.ran.lock().unwrap().join("\n");
    Ok((answer, ran))
}

fn undecided() -> Result<(), Failed> {
    let (answer, ran) = recorded(true, None)?;
    assert_eq!(answer, "no command may run on the host: nobody decides about them");
    assert_eq!(ran, "");
    Ok(())
}

fn planned() -> Result<(), Failed> {
    let (answer, ran) = recorded(true, Some(Person::who(Some(Decision::Once))))?;
    assert!(answer.contains("recorded"), "{answer}");
    assert_eq!(ran, "plan: ls -l");
    Ok(())
}

fn denied() -> Result<(), Failed> {
    for answer in [Some(Decision::Deny), None] {
        let (answer, ran) = recorded(true, Some(Person::who(answer)))?;
        assert!(!answer.contains("recorded"), "{answer}");
        assert_eq!(ran, "");
    }
    Ok(())
}

fn unasked() -> Result<(), Failed> {
    let (answer, ran) = recorded(false, None)?;
    assert!(answer.contains("recorded") && answer.contains(r#""executor":"recorder""#), "{answer}");
    assert_eq!(ran, "shell: ls -l");
    Ok(())
}
