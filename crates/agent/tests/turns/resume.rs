//! A turn that was interrupted goes on where it was, and code in replies.

use insta::assert_snapshot;
use libtest_mimic::Failed;
use metier_agent::{Ending, LoadMode};
use metier_session::Content;
use metier_session::content::{AssistantMessage, Call, Part, Text, UserMessage};
use serde_json::json;

use crate::Test;
use crate::bench::{Bench, Done, calls, shown, text};

pub(crate) const TESTS: &[Test] = &[
    ("resume::a_turn_without_a_reply_gets_one", without_a_reply),
    ("resume::a_call_under_way_is_answered_and_the_model_goes_on", call_under_way),
    ("resume::what_was_loaded_in_the_turn_is_still_loaded", still_loaded),
    ("resume::a_turn_that_is_over_stays_over", over),
    ("resume::code_under_way_is_not_run_again", code_under_way),
    ("resume::a_command_for_a_tool_under_way_is_not_for_the_model", command_under_way),
    ("code::one_block_is_run_and_its_result_comes_back", one_block),
    ("code::is_not_run_unless_it_is_switched_on", switched_off),
    ("code::of_a_turn_that_is_over_is_not_run_later", switched_on_later),
    ("code::is_confined_like_any_command", confined),
    ("code::that_does_the_same_again_and_again_ends_the_turn", looping),
];

fn says(words: &str) -> Content {
    Content::User(UserMessage { text: words.to_owned(), ..UserMessage::default() })
}

fn replies(part: Part) -> Content {
    Content::Assistant(AssistantMessage { parts: vec![part], ..AssistantMessage::default() })
}

fn call(name: &str, arguments: &serde_json::Value) -> Part {
    let (id, name) = ("c".to_owned(), name.to_owned());
    Part::Call(Call { id, name, arguments: arguments.to_string(), ..Call::default() })
}

fn words(text: &str) -> Part {
    Part::Text(Text { text: text.to_owned(), ..Text::default() })
}

/// The last request, and that the turn was answered.
fn last(done: Done) -> Result<String, Failed> {
    assert_eq!(done.outcome?.ending, Ending::Answered);
    Ok(shown(done.requests.last().ok_or("no request")?))
}

fn without_a_reply() -> Result<(), Failed> {
    let bench = Bench::new();
    assert!(bench.say("How many pages?", "").outcome.is_err());
    let asked = last(bench.resume(&text("Three.")))?;
    assert_snapshot!(asked, @r#"
    USER
    [Text("How many pages?")]
    "#);
    // The next turn begins with all of it.
    let next = last(bench.say("Sure?", &text("Yes.")))?;
    assert!(next.starts_with(&asked), "{next}");
    Ok(())
}

fn call_under_way() -> Result<(), Failed> {
    let bench = Bench::new();
    let run = call("skill_run", &json!({ "skill": "pdf", "command": "rm x" }));
    bench.happened([says("Remove it."), replies(run)]);
    assert_snapshot!(last(bench.resume(&text("I looked.")))?, @r#"
    USER
    [Text("Remove it.")]
    ---
    ASSISTANT
    skill_run {"skill":"pdf","command":"rm x"}
    ---
    RESULT skill_run (error)
    This was interrupted, and nobody knows how far it came. Look before you call it again.
    "#);
    let kinds: Vec<_> = bench.events().iter().map(|it| it.content.kind().to_owned()).collect();
    assert_eq!(kinds, ["user", "assistant", "tool.response", "assistant"]);
    Ok(())
}

fn still_loaded() -> Result<(), Failed> {
    for mode in [LoadMode::Turn, LoadMode::Session] {
        let mut bench = Bench::new();
        bench.settings.mode = mode;
        let load = calls(&[("skill_load", json!({ "skill": "pdf" }))]);
        // The script is over after the load, as if the model could not be reached any more.
        assert!(bench.say("How many pages?", &load).outcome.is_err());
        let run = calls(&[("skill_run", json!({ "skill": "pdf", "command": "sh scripts/pages" }))]);
        let asked = last(bench.resume(&(run + &text("Three."))))?;
        assert_eq!(asked.matches("[Loaded] pdf").count(), 1, "{mode}: {asked}");
        assert!(asked.contains("3 pages"), "{mode}: {asked}");
        assert!(bench.state().contains("temp:skill:loaded:pdf = 1"), "{mode}");
    }
    Ok(())
}

fn over() -> Result<(), Failed> {
    let bench = Bench::new();
    bench.say("Hello.", &text("Hello.")).outcome?;
    let before = bench.events();
    let done = bench.resume(&text("Never said."));
    let outcome = done.outcome?;
    assert_eq!((outcome.ending, outcome.text.as_str()), (Ending::Answered, "Hello."));
    assert_eq!(done.requests, []);
    assert_eq!(bench.events(), before);
    Ok(())
}

fn coding() -> Bench {
    let mut bench = Bench::new();
    bench.settings.limits.run_code = true;
    bench
}

fn code_under_way() -> Result<(), Failed> {
    let bench = coding();
    let code = words("```bash\ntouch $OUTPUT_DIR/again\n```");
    bench.happened([says("Make it."), replies(code)]);
    let asked = last(bench.resume(&text("I looked.")))?;
    assert!(asked.ends_with("Look before you call it again.\")]"), "{asked}");
    Ok(())
}

fn command_under_way() -> Result<(), Failed> {
    let bench = Bench::new();
    let Content::User(message) = says("/remove x") else { return Err("no message".into()) };
    let extra = [("tool".to_owned(), json!("skill_run"))].into_iter().collect();
    bench.happened([Content::User(UserMessage { extra, ..message })]);
    let done = bench.resume(&text("Never said."));
    assert_eq!((done.outcome?.ending, done.requests.len()), (Ending::Answered, 0));
    let asked = last(bench.say("And?", &text("I looked.")))?;
    assert!(asked.contains("Look before you call it again."), "{asked}");
    Ok(())
}

fn one_block() -> Result<(), Failed> {
    let bench = coding();
    let bash = text("Let me see.\n\n```bash\necho one > $OUTPUT_DIR/a.txt; ls $SKILLS_DIR\n```");
    let python =
        text("```python\nimport os\nprint(open(os.environ['OUTPUT_DIR'] + '/a.txt').read())\n```");
    let done = bench.say("Look.", &(bash + &python + &text("It says one.")));
    let requests = done.requests.clone();
    let asked = last(done)?;
    // As it is in JSON, within the text of a message that is shown quoted.
    for text in [r"charts\\npdf\\n", r#"\"stdout\":\"one\\n\\n\""#] {
        assert!(asked.contains(text), "{text}: {asked}");
    }
    for pair in requests.windows(2) {
        assert!(pair[1].messages.starts_with(&pair[0].messages));
    }
    // What was run is told apart from what a person or the system says.
    let kinds: Vec<_> = bench.events().iter().map(|it| it.content.kind().to_owned()).collect();
    let turn = ["user", "assistant", "state.update", "assistant", "state.update", "assistant"];
    assert_eq!(kinds, turn);
    Ok(())
}

fn switched_off() -> Result<(), Failed> {
    let bench = Bench::new();
    let done = bench.say("Look.", &text("```bash\nls\n```"));
    assert_eq!((done.outcome?.ending, done.requests.len()), (Ending::Answered, 1));
    Ok(())
}

fn switched_on_later() -> Result<(), Failed> {
    let mut bench = Bench::new();
    bench.say("Look.", &text("```bash\nls\n```")).outcome?;
    bench.settings.limits.run_code = true;
    let asked = last(bench.say("Thank you.", &text("You are welcome.")))?;
    assert!(!asked.contains("Result of the code"), "{asked}");
    Ok(())
}

fn confined() -> Result<(), Failed> {
    let bench = Bench { has_keys: true, ..coding() };
    let secret = std::env::temp_dir().join(format!("metier-code-{}", std::process::id()));
    std::fs::write(&secret, "secret")?;
    let code = format!("```bash\ncat {0}; echo x > {0}; env\n```", secret.display());
    let asked = last(bench.say("Look.", &(text(&code) + &text("No."))))?;
    let kept = std::fs::read_to_string(&secret)?;
    std::fs::remove_file(&secret)?;
    assert_eq!(kept, "secret");
    assert!(!asked.contains("\\\"stdout\\\":\\\"secret"), "{asked}");
    // What somebody gave to one skill is not there.
    assert!(!asked.contains("GIVEN_TO"), "{asked}");
    Ok(())
}

fn looping() -> Result<(), Failed> {
    let bench = coding();
    let done = bench.say("Insist.", &text("```bash\nexit 3\n```").repeat(20));
    assert_eq!(done.outcome?.ending, Ending::Looping { tool: "code".to_owned() });
    Ok(())
}
