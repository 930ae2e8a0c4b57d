//! What a provider is sent in the flows that sessions are made of, and what the state of the session
//! says then: loads, docs and runs over several turns, in each mode, placement and set of tools.

use insta::{assert_snapshot, with_settings};
use metier_testkit::provider::{Said, Wire};
use serde_json::{Value, json};

use super::talk::{Talk, command, docs, load};

const COUNT: &str = "sh scripts/count.sh formats.md";

/// Loads a skill, then a doc, then runs a command, and answers.
fn load_docs_run() -> [Said; 4] {
    [
        load("a", "counter"),
        docs("b", "formats.md"),
        command("c", COUNT),
        Said::text("It has one line."),
    ]
}

/// Three turns: one that loads, reads a doc and runs, one that only talks, one that loads again.
fn three_turns(talk: &Talk) -> String {
    let mut story = String::new();
    let mut state = |turn: &str| {
        story.push_str(&format!("-- state after turn {turn}\n{}", talk.state()));
    };
    talk.say(&["How long are the formats?"], load_docs_run());
    state("one");
    talk.say(&["Thank you."], [Said::text("You are welcome.")]);
    state("two");
    talk.say(
        &["And the limits?"],
        [load("d", "counter"), docs("e", "limits.md"), Said::text("Many.")],
    );
    state("three");
    format!("{}{story}", talk.story())
}

#[test]
fn three_turns_in_each_mode_and_placement() {
    for placement in ["tool_result", "system"] {
        for mode in ["turn", "once", "session"] {
            let talk = Talk::new(Wire::ChatCompletions);
            talk.set(&format!("[skills]\nload_mode = \"{mode}\"\nplacement = \"{placement}\"\n"));
            let story = three_turns(&talk);
            with_settings!({ snapshot_suffix => format!("{placement}_{mode}") }, {
                assert_snapshot!(story);
            });
        }
    }
}

#[test]
fn three_turns_say_the_same_in_every_format() {
    let [chat, responses, messages] = Wire::ALL.map(|wire| three_turns(&Talk::new(wire)));
    assert_eq!(responses, chat);
    assert_eq!(messages, chat);
}

#[test]
fn another_agent_has_keys_of_its_own() {
    let talk = Talk::new(Wire::ChatCompletions);
    talk.say(
        &["One.", "--agent", "writer"],
        [load("a", "counter"), docs("b", "formats.md"), Said::text("1")],
    );
    talk.say(&["Two."], [load("c", "charts"), Said::text("2")]);
    assert_snapshot!(talk.state(), @r#"
    temp:skill:docs:charts = []
    temp:skill:docs_by_agent:writer/counter = ["formats.md"]
    temp:skill:loaded:charts = 1
    temp:skill:loaded_by_agent:writer/counter = 1
    temp:skill:order:default = ["charts"]
    temp:skill:order:writer = ["counter"]
    "#);
}

#[test]
fn each_set_of_tools_has_its_own_way() {
    let talk = || Talk::new(Wire::ChatCompletions);
    let shown = |talk: &Talk| {
        let first = &talk.sent()[0];
        let tools: Value = serde_json::from_str(&first.tools).expect("JSON");
        let tools: Vec<&str> = tools.as_array().map_or(Vec::new(), |tools| {
            tools.iter().filter_map(|tool| tool["function"]["name"].as_str()).collect()
        });
        format!("tools: {}\nsystem: {}\n{}", tools.join(", "), first.system, talk.story())
    };
    let full = talk();
    full.say(&["How long?"], load_docs_run());
    assert_snapshot!("set_full", shown(&full));

    let knowledge = talk();
    let replies =
        [load("a", "counter"), docs("b", "formats.md"), command("c", COUNT), Said::text("Run it.")];
    knowledge.say(&["How long?", "--tools", "knowledge"], replies);
    assert_snapshot!("set_knowledge", shown(&knowledge));

    let single = talk();
    let use_skill = |id: &str, name: &str| Said::call(id, "skill", json!({ "skill_name": name }));
    let replies = [
        use_skill("a", "counter"),
        use_skill("b", "counter"),
        use_skill("c", "conter"),
        Said::text("Done."),
    ];
    single.say(&["How long?", "--tools", "single"], replies);
    let description: Value = serde_json::from_str(&single.sent()[0].tools).expect("JSON");
    let description = description[0]["function"]["description"].as_str().unwrap_or_default();
    assert_snapshot!("set_single", format!("description: {description}\n{}", shown(&single)));
    let structured: Vec<Value> =
        single.events().iter().map(|it| it["content"]["structured"].clone()).collect();
    assert_eq!(structured[2], json!({ "skill_name": "counter", "directory": "skills/counter" }));

    let files = talk();
    let path = "$SKILLS_DIR/counter/SKILL.md";
    let count = "cd $SKILLS_DIR/counter && sh scripts/count.sh formats.md";
    let replies = [
        Said::call("a", "read", json!({ "path": path })),
        Said::call("b", "exec", json!({ "command": count })),
        Said::text("One line."),
    ];
    files.say(&["How long?", "--tools", "files"], replies);
    assert_snapshot!("set_files", shown(&files));
}

#[test]
fn a_history_that_was_cut_has_loaded_skills_in_a_message_of_their_own() {
    let talk = Talk::new(Wire::ChatCompletions);
    talk.set("[skills]\nload_mode = \"session\"\n");
    let words = "word ".repeat(1500);
    talk.say(&[&words], [load("a", "counter"), docs("b", "formats.md"), Said::text("1")]);
    talk.set("[skills]\nload_mode = \"session\"\n\n[context]\ntokens = 2000\n");
    talk.say(&["And now?"], [Said::text("They said a word often."), Said::text("2")]);
    talk.say(&["More?"], [docs("c", "limits.md"), Said::text("3")]);
    let story = talk.story().replace(&words, "[WORDS]");
    assert_snapshot!(format!("{story}-- state\n{}", talk.state()));
}

#[test]
fn the_bytes_of_a_request_in_each_format() {
    for wire in Wire::ALL {
        let talk = Talk::new(wire);
        talk.say(&["How long?"], load_docs_run());
        let body = talk.provider.bodies().pop().expect("a request");
        let mut body: Value = serde_json::from_str(&body).expect("JSON");
        steady(&mut body);
        for known in ["tools", "system", "instructions"] {
            if let Some(value) = body.get_mut(known) {
                *value = json!("[BEGINNING]");
            }
        }
        if wire == Wire::ChatCompletions {
            body["messages"][0]["content"] = json!("[BEGINNING]");
        }
        with_settings!({ snapshot_suffix => wire.word() }, {
            assert_snapshot!(format!("{body:#}"));
        });
    }
}

/// Replaces what a run answers, which differs from run to run.
fn steady(value: &mut Value) {
    match value {
        Value::String(text) if text.starts_with("{\"run\"") => *value = json!("[RUN]"),
        Value::Array(items) => items.iter_mut().for_each(steady),
        Value::Object(members) => members.values_mut().for_each(steady),
        _ => {}
    }
}
