//! Every request begins with the bytes of the one before it, as the server sees them, whatever
//! happens in between, except where an event says why it does not.

use std::time::Duration;

use metier_testkit::provider::{Said, Wire};
use metier_testkit::server::Reply;
use serde_json::{Value, json};

use super::talk::{MARK, Talk, command, docs, load};
use crate::{interrupted, wait_until};

const COUNT: &str = "sh scripts/count.sh formats.md";

/// Several turns with skills and files; before each the program was started again.
fn turns(talk: &Talk) {
    talk.env.write("project/notes.txt", "one\ntwo\n");
    let first = [load("a", "counter"), docs("b", "formats.md"), command("c", COUNT)];
    talk.say(&["one", "notes.txt"], first.into_iter().chain([Said::text("1")]));
    talk.say(&["two"], [load("a", "charts"), load("b", "counter"), Said::text("2")]);
    talk.say(&["three", "notes.txt"], [docs("c", "limits.md"), Said::text("3")]);
}

#[test]
fn requests_only_grow_within_a_turn_and_across_turns_and_restarts() {
    for wire in Wire::ALL {
        for mode in ["turn", "session"] {
            let talk = Talk::new(wire);
            talk.set(&format!("[skills]\nload_mode = \"{mode}\"\n"));
            turns(&talk);
            talk.assert_only_grew(9);
        }
    }
}

#[test]
fn requests_only_grow_when_skills_are_edited_added_described_anew_and_removed() {
    for wire in Wire::ALL {
        let talk = Talk::new(wire);
        talk.say(&["one"], [load("a", "counter"), Said::text("1")]);
        let skill = |name: &str, description: &str, body: &str| {
            let text = format!("---\nname: {name}\ndescription: {description}\n---\n\n{body}\n");
            talk.env.write(format!("project/skills/{name}/SKILL.md"), text);
        };
        skill("counter", "Counts lines. Use when asked how long a text is.", "Another way.");
        talk.say(&["two"], [load("b", "counter"), Said::text("2")]);
        skill("counter", "Counts lines and words.", "Another way.");
        skill("extra", "Is new.", "New.");
        talk.say(&["three"], [load("c", "extra"), Said::text("3")]);
        std::fs::remove_dir_all(talk.env.project().join("skills/charts")).expect("it was there");
        talk.say(&["four"], [Said::text("4")]);
        talk.assert_only_grew(7);
        let last = talk.sent().pop().expect("a request").messages.concat();
        for text in ["Run `sh scripts/count.sh", "Another way", "New:\n- extra", "No longer there:"]
        {
            assert_eq!(last.matches(text).count(), 1, "{wire:?} {text}: {last}");
        }
    }
}

#[test]
fn requests_only_grow_with_calls_side_by_side_and_calls_that_are_wrong() {
    for wire in Wire::ALL {
        let talk = Talk::new(wire);
        let many = load("a", "counter")
            .and("b", "skill_load", json!({ "skill": "charts" }))
            .and("c", "skill_run", json!({ "skill": "counter", "command": "echo 1" }))
            .and("d", "skill_run", json!({ "skill": "counter", "command": "exit 3" }))
            .and("e", "nothing", json!({ "x": [1, { "y": "ä\n" }] }))
            .and("f", "skill_load", json!({ "skill": "pfd" }));
        // Some servers count the ids of calls from the start in every reply.
        let again = Said::call("a", "skill_list_docs", json!({ "skill": "counter" }));
        talk.say(&["one"], [many, again.clone(), again, Said::text("1")]);
        talk.say(&["two"], [Said::text("2")]);
        talk.assert_only_grew(5);
    }
}

#[test]
fn requests_only_grow_with_thoughts_that_go_back_as_they_came() {
    // What signs or encrypts a thought; without that it does not go back.
    let marks = [("Let me think", 0), ("gAAAAAB/+=", 3), ("EqQBCgIYAh/+==", 3)];
    for (wire, (mark, times)) in Wire::ALL.into_iter().zip(marks) {
        let talk = Talk::new(wire);
        let thinking = |said: Said| said.after("Let me think:\n\"ä\"");
        let call = load("a", "counter").and("b", "skill_load", json!({ "skill": "charts" }));
        talk.say(&["one"], [thinking(call), thinking(Said::text("1"))]);
        talk.say(&["two"], [thinking(docs("c", "limits.md")), Said::text("2")]);
        talk.assert_only_grew(4);
        let last = talk.provider.bodies().pop().expect("a request");
        assert_eq!(last.matches(mark).count(), times, "{wire:?}: {last}");
    }
}

#[test]
fn requests_only_grow_with_every_set_of_tools() {
    let read = json!({ "path": "$SKILLS_DIR/counter/SKILL.md" });
    for wire in Wire::ALL {
        for (set, calls) in [
            ("full", vec![load("a", "counter"), command("b", COUNT)]),
            ("knowledge", vec![load("a", "counter"), docs("b", "limits.md")]),
            ("single", vec![Said::call("a", "skill", json!({ "skill_name": "counter" }))]),
            (
                "files",
                vec![
                    Said::call("a", "read", read.clone()),
                    Said::call("b", "exec", json!({ "command": "ls $SKILLS_DIR" })),
                ],
            ),
        ] {
            let talk = Talk::new(wire);
            let requests = (calls.len() + 1) * 2;
            for turn in ["one", "two"] {
                let calls = calls.clone().into_iter();
                talk.say(&[turn, "--tools", set], calls.chain([Said::text("done")]));
            }
            talk.assert_only_grew(requests);
        }
    }
}

#[test]
fn requests_only_grow_when_code_in_a_reply_is_run() {
    for wire in Wire::ALL {
        let talk = Talk::new(wire);
        talk.set("[agent]\ncode_execution = true\n");
        let code = Said::text("Let me see.\n\n```python\nprint('one')\n```");
        let two = Said::text("Either\n```bash\nls\n```\nor\n```bash\nls -l\n```");
        talk.say(&["one"], [load("a", "counter"), code, Said::text("1")]);
        talk.say(&["two"], [two]);
        talk.say(&["three"], [Said::text("3")]);
        talk.assert_only_grew(5);
        let last = talk.sent().pop().expect("a request").messages.concat();
        assert_eq!(last.matches("Result of the code").count(), 1, "{wire:?}: {last}");
        assert!(last.contains("\"stdout\":\"one\\n\""), "{wire:?}: {last}");
    }
}

#[test]
fn requests_only_grow_when_the_last_one_of_a_turn_is_announced() {
    for wire in Wire::ALL {
        let talk = Talk::new(wire);
        talk.set("[agent]\nmax_requests = 2\n");
        // A call after the last request is refused, and the turn is over without an answer.
        talk.provider.says([load("a", "counter"), load("b", "charts")]);
        assert_eq!(talk.try_saying(&["one"]).code, 1);
        talk.say(&["two"], [load("c", "charts"), Said::text("2")]);
        talk.assert_only_grew(4);
        let last = talk.sent().pop().expect("a request").messages.concat();
        assert_eq!(last.matches("no further request").count(), 2, "{wire:?}: {last}");
    }
}

#[test]
fn requests_only_grow_after_requests_that_failed() {
    for wire in Wire::ALL {
        let talk = Talk::new(wire);
        let busy = || Reply::status(429).header("Retry-After", "0");
        let reply = |said: &Said| wire.stream(said);
        let half = reply(&Said::text("a long reply that is cut off")).cut_after(150);
        talk.provider.answers([
            busy(),
            reply(&load("a", "counter")),
            half,
            reply(&Said::text("done")),
        ]);
        assert_eq!(talk.try_saying(&["one"]).code, 0);
        talk.provider.answers([Reply::status(401)]);
        assert_eq!(talk.try_saying(&["two"]).code, 1);
        talk.say(&["three"], [load("b", "charts"), Said::text("3")]);
        talk.assert_only_grew(7);
    }
}

#[test]
fn requests_only_grow_after_a_crash_in_a_tool_call() {
    for wire in Wire::ALL {
        let talk = Talk::new(wire);
        let wait = command("b", "echo ready > $OUTPUT_DIR/a.txt; sleep 60");
        talk.provider.says([load("a", "counter"), wait]);
        let mut child = begin(&talk, &["one"]);
        wait_for_file(&talk);
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
        talk.say(&["two"], [load("c", "charts"), Said::text("2")]);
        talk.assert_only_grew(4);
        let last = talk.sent().pop().expect("a request").messages.concat();
        assert!(last.contains("tool: This was interrupted"), "{last}");
    }
}

#[test]
fn requests_only_grow_after_ctrl_c_in_a_tool_call_and_in_a_reply() {
    for wire in Wire::ALL {
        let talk = Talk::new(wire);
        let wait = command("b", "echo ready > $OUTPUT_DIR/a.txt; sleep 60");
        talk.provider.says([load("a", "counter"), wait]);
        let child = begin(&talk, &["one"]);
        wait_for_file(&talk);
        assert_eq!(interrupted(child), 130);
        let slow = wire.stream(&Said::text("never whole")).delay(Duration::from_secs(60));
        talk.provider.answers([slow]);
        let child = begin(&talk, &["two"]);
        wait_until("a request", || talk.provider.bodies().len() == 3);
        assert_eq!(interrupted(child), 130);
        talk.say(&["three"], [load("c", "charts"), Said::text("3")]);
        talk.assert_only_grew(5);
    }
}

#[test]
fn the_marks_of_anthropics_cache_are_after_tools_and_system_and_the_last_two_turns() {
    let talk = Talk::new(Wire::Messages);
    turns(&talk);
    for (number, body) in talk.provider.bodies().iter().enumerate() {
        let value: Value = serde_json::from_str(body).expect("JSON");
        let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
        let mut places = Vec::new();
        for (name, blocks) in [("tools", &value["tools"]), ("system", &value["system"])] {
            let blocks = list(blocks);
            let last = blocks.last().expect("something");
            places.extend(last["cache_control"].is_object().then(|| name.to_owned()));
        }
        let messages = list(&value["messages"]);
        let users: Vec<usize> =
            (0..messages.len()).filter(|&at| messages[at]["role"] == "user").collect();
        for (at, message) in messages.iter().enumerate() {
            let blocks = list(&message["content"]);
            let is_marked = blocks.last().is_some_and(|it| it["cache_control"].is_object());
            places.extend(is_marked.then(|| format!("message {at}")));
        }
        let last_two = users.iter().rev().take(2).rev().map(|at| format!("message {at}"));
        let wanted: Vec<String> =
            ["tools", "system"].map(str::to_owned).into_iter().chain(last_two).collect();
        assert_eq!(places, wanted, "request {}", number + 1);
        assert_eq!(body.matches(MARK).count(), wanted.len(), "and nowhere else: {body}");
        assert_eq!(body.matches("cache_control").count(), wanted.len(), "{body}");
    }
}

#[test]
fn a_conversation_that_became_too_long_breaks_at_its_summary_and_nowhere_else() {
    for wire in Wire::ALL {
        let talk = Talk::new(wire);
        talk.say(&["one"], [load("a", "counter"), Said::text("1")]);
        let error = json!({ "message": "prompt is too long", "code": "context_length_exceeded" });
        let too_long = || Reply::ok(json!({ "error": error }).to_string()).code(400);
        // Neither a summary that fails nor one that is stopped changes anything.
        talk.provider.answers([too_long(), Reply::status(401)]);
        assert_eq!(talk.try_saying(&["two"]).code, 1);
        let slow = wire.stream(&Said::text("never whole")).delay(Duration::from_secs(60));
        talk.provider.answers([too_long(), slow]);
        let child = begin(&talk, &["three"]);
        wait_until("the summary", || talk.provider.bodies().len() == 6);
        assert_eq!(interrupted(child), 130);
        assert_eq!(talk.broken(), [0; 0]);
        assert_eq!(talk.said_to_break(), []);
        let reply = |text: &str| wire.stream(&Said::text(text));
        talk.provider.answers([too_long(), reply("They counted."), reply("4")]);
        assert_eq!(talk.try_saying(&["four"]).code, 0);
        talk.say(&["five"], [Said::text("5")]);
        assert_eq!((talk.provider.bodies().len(), talk.broken()), (10, vec![4]), "{wire:?}");
        let causes: Vec<String> =
            talk.said_to_break().into_iter().map(|(_, cause)| cause).collect();
        assert_eq!(causes, ["compaction"], "{wire:?}");
    }
}

/// Says something and does not wait.
fn begin(talk: &Talk, words: &[&str]) -> std::process::Child {
    let mut command = talk.env.command(talk.env.binary());
    let quiet = std::process::Stdio::null;
    command.args(Talk::words(words)).stdin(quiet()).stdout(quiet()).stderr(quiet());
    command.spawn().expect("it starts")
}

fn wait_for_file(talk: &Talk) {
    let made = talk.env.home().join(".metier/workspaces/metier/local/one-1/out/a.txt");
    wait_until("the command to begin", || made.exists());
}
