//! Skills of a trusted project that change while they are served.

use std::fs;
use std::path::PathBuf;

use metier_testkit::TestEnv;
use serde_json::{Value, json};

use super::Client;
use crate::environment;

/// Folders that other programs fill, and that skills bring.
const FOLDERS: [&str; 4] = ["dist", "node_modules", "target", "venv"];
const GOOD: &str = "echo trusted\n";
const EVIL: &str = "echo evil\n";

/// A project whose skill has a script in each of these folders.
fn with_project() -> TestEnv {
    let env = environment().with_variable("PATH", "/usr/bin:/bin");
    fs::create_dir(env.project().join(".git")).expect("an empty project");
    env.skill("project/.metier/skills", "ship", "Ships things.");
    for folder in FOLDERS {
        env.write(format!("project/.metier/skills/ship/{folder}/run.sh"), GOOD);
    }
    env
}

fn trusted() -> TestEnv {
    let env = with_project();
    let trusted = env.run(["trust"]);
    assert_eq!(trusted.code, 0, "{trusted}");
    env
}

fn script(env: &TestEnv, folder: &str) -> PathBuf {
    env.project().join(".metier/skills/ship").join(folder).join("run.sh")
}

fn run(folder: &str) -> Value {
    json!({ "skill": "ship", "command": format!("sh {folder}/run.sh") })
}

/// Tries every way to the files of a skill, one of which changed.
fn assert_refused(client: &mut Client, folder: &str) {
    let path = format!("{folder}/run.sh");
    let answers = [
        client.call("skill_load", &json!({ "skill": "ship" })),
        client.call("skill_run", &run(folder)),
        client.call("skill_read", &json!({ "skill": "ship", "path": path })),
        client.call("skill_list_docs", &json!({ "skill": "ship" })),
        client.ask("prompts/get", &json!({ "name": "ship" })),
        client.ask("resources/read", &json!({ "uri": format!("skill://ship/{path}") })),
        client.ask("resources/read", &json!({ "uri": "skill://ship/SKILL.md" })),
    ];
    for answer in answers {
        let said = answer.to_string();
        let is_error = answer["isError"] == true || answer.get("code").is_some();
        assert!(is_error && !said.contains("evil"), "{folder}: {said}");
    }
    let loaded = client.call("skill_load", &json!({ "skill": "ship" })).to_string();
    assert!(loaded.contains(&format!("changed since it was trusted: {path}")), "{loaded}");
}

#[test]
fn a_change_in_a_folder_of_tools_is_refused() {
    for folder in FOLDERS {
        let env = trusted();
        let (mut client, _) = Client::start(&env, "", &json!({}));
        fs::write(script(&env, folder), EVIL).unwrap();
        assert_refused(&mut client, folder);
        client.end();
    }
}

/// Nothing that happens in the folder of the skill tells of it.
#[test]
fn a_change_through_a_hard_link_is_refused() {
    let env = with_project();
    let outside = env.root().join("outside.sh");
    fs::hard_link(script(&env, "dist"), &outside).unwrap();
    assert_eq!(env.run(["trust"]).code, 0);
    let (mut client, _) = Client::start(&env, "", &json!({}));
    fs::write(&outside, EVIL).unwrap();
    assert_refused(&mut client, "dist");
    let said = client.call("skill_load", &json!({ "skill": "ship" })).to_string();
    assert!(said.contains("look at the changes, then run `metier trust` again"), "{said}");
    // What a person does about it.
    assert_eq!(env.run(["trust"]).code, 0);
    loop {
        client.told("notifications/tools/list_changed");
        // The first may be about the change.
        if client.call("skill_load", &json!({ "skill": "ship" }))["isError"] == false {
            break;
        }
    }
    client.end();
}

#[test]
fn a_change_between_load_and_run_does_not_run() {
    let env = with_project();
    let outside = env.root().join("outside.sh");
    fs::hard_link(script(&env, "dist"), &outside).unwrap();
    assert_eq!(env.run(["trust"]).code, 0);
    let (mut client, _) = Client::start(&env, "", &json!({}));
    let loaded = client.call("skill_load", &json!({ "skill": "ship" }));
    assert_eq!(loaded["isError"], false, "{loaded}");
    fs::write(&outside, EVIL).unwrap();
    let ran = client.call("skill_run", &run("dist"));
    // A look at all folders may come in between, and then the skill is off.
    let is_off = ran.to_string().contains("changed since it was trusted: dist/run.sh");
    assert!(is_off || ran["structuredContent"]["stdout"] == "trusted\n", "{ran}");
    client.end();
}

#[test]
fn with_trust_project_what_was_there_at_the_start_is_trusted_and_nothing_else() {
    let env = with_project();
    let outside = env.root().join("outside.sh");
    fs::hard_link(script(&env, "dist"), &outside).unwrap();
    let (mut client, _) = Client::start(&env, "--trust-project", &json!({}));
    let loaded = client.call("skill_load", &json!({ "skill": "ship" }));
    assert_eq!(loaded["isError"], false, "{loaded}");
    fs::write(&outside, EVIL).unwrap();
    env.skill("project/.metier/skills", "newcomer", "Comes later.");
    // Found at the same time, and told of.
    env.skill("home/.metier/skills", "mine", "Is mine.");
    client.told("notifications/tools/list_changed");
    assert_eq!(client.call("skill_load", &json!({ "skill": "mine" }))["isError"], false);
    let newcomer = client.call("skill_load", &json!({ "skill": "newcomer" })).to_string();
    assert!(newcomer.contains("the whole skill is new"), "{newcomer}");
    assert_refused(&mut client, "dist");
    client.end();
}

/// Nothing of the skill was read at the start, except for its header.
#[test]
fn with_trust_project_a_skill_that_changes_before_its_first_use_is_refused() {
    for folder in FOLDERS {
        let env = with_project();
        let outside = env.root().join("outside.sh");
        fs::hard_link(script(&env, folder), &outside).unwrap();
        let before = fs::metadata(&outside).and_then(|it| it.modified()).unwrap();
        let (mut client, _) = Client::start(&env, "--trust-project", &json!({}));
        fs::write(&outside, EVIL).unwrap();
        let file = fs::File::options().write(true).open(&outside).unwrap();
        file.set_modified(before).unwrap();
        assert_refused(&mut client, folder);
        client.end();
    }
}

/// A trusted project with a skill `weather`, like one of the person's own that has a key. Each says whose script it is,
/// and prints the key backwards, so that it is not masked.
fn with_namesake() -> TestEnv {
    let env = environment().with_variable("PATH", "/usr/bin:/bin");
    fs::create_dir(env.project().join(".git")).expect("an empty project");
    for (folder, whose) in [("home/.agents/skills", "own"), ("project/.agents/skills", "project")] {
        env.skill(folder, "weather", &format!("The {whose} one."));
        let script = format!("echo {whose}; printenv TOKEN | rev\n");
        env.write(format!("{folder}/weather/show.sh"), script);
    }
    env.write(
        "home/.metier/config.toml",
        "[skills.entries.weather]\nenv.TOKEN = 'hush-hush-key'\n",
    );
    assert_eq!(env.run(["trust"]).code, 0);
    env
}

/// What ends that a project's skill has its name: a new file, no more trust, no more folder.
type Ending = fn(&TestEnv);

#[test]
fn a_loaded_skill_of_a_project_does_not_run_as_the_own_one_of_its_name() {
    let add: Ending = |env| drop(env.write("project/.agents/skills/weather/note.txt", "new"));
    let revoke: Ending = |env| assert_eq!(env.run(["trust", "--revoke"]).code, 0);
    let remove: Ending = |env| {
        let folder = env.project().join(".agents/skills/weather");
        fs::rename(folder, env.project().join("gone")).expect("it was there");
    };
    for end in [add, revoke, remove] {
        let env = with_namesake();
        let (mut client, _) = Client::start(&env, "", &json!({}));
        let load = json!({ "skill": "weather" });
        let run = json!({ "skill": "weather", "command": "sh show.sh" });
        assert_eq!(client.call("skill_load", &load)["isError"], false);
        assert_eq!(client.call("skill_run", &run)["structuredContent"]["stdout"], "project\n");
        end(&env);
        let refused = loop {
            let ran = client.call("skill_run", &run);
            assert!(!ran.to_string().contains("yek-hsuh"), "{ran}");
            if ran["isError"] == true {
                break ran.to_string();
            }
            // It was not noticed yet.
            std::thread::sleep(std::time::Duration::from_millis(100));
        };
        let said = "`weather` is another skill since it was loaded; load it again";
        assert!(refused.contains(said), "{refused}");
        let read = client.call("skill_read", &json!({ "skill": "weather", "path": "SKILL.md" }));
        assert!(read.to_string().contains(said), "{read}");
        let loaded = client.call("skill_load", &load).to_string();
        assert!(!loaded.contains("project"), "{loaded}");
        let ran = client.call("skill_run", &run);
        assert_eq!(ran["structuredContent"]["stdout"], "own\nyek-hsuh-hsuh\n", "{ran}");
        client.end();
    }
}
