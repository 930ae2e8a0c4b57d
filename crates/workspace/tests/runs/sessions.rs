//! Sessions: nothing is shared, two runs at once do not disturb each other, a session survives what
//! its programs do, and every run is written down.

use std::collections::BTreeSet;
use std::fs;
use std::thread;

use libtest_mimic::Failed;
use metier_workspace::WorkspaceKey;
use serde_json::{Value, json};

use crate::Promise;
use crate::attack::names_in;
use crate::bench::Bench;

pub(crate) const PROMISES: &[Promise] = &[
    ("sessions_generations_and_users_never_share", nothing_is_shared),
    ("two_runs_at_once_do_not_disturb_each_other", two_runs_at_once),
    ("a_session_survives_what_a_program_does_to_its_folders", a_session_survives),
    ("the_record_says_what_ran", the_record_says_what_ran),
    ("folders_are_for_their_owner_alone", folders_are_private),
];

fn nothing_is_shared(bench: &Bench) -> Result<(), Failed> {
    let mut bench = Bench::new(bench.who);
    let key = |app: &str, user: &str, session: &str, generation| WorkspaceKey {
        app: app.to_owned(),
        user: user.to_owned(),
        session: session.to_owned(),
        generation,
    };
    let long = "s".repeat(1000);
    let keys = [
        key("a", "u", "s", 0),
        key("a", "u", "s", 1),
        key("a", "u", "s-1", 0),
        key("a", "u", "S", 0),
        key("a", "U", "s", 0),
        key("b", "u", "s", 0),
        key("a/u", "s", "s", 0),
        key("a", "u/s", "s", 0),
        key("a", "u", "../s", 0),
        key("a", "u", "..", 0),
        key("..", "..", "..", 0),
        key(".", "u", "s", 0),
        key("a", "u", "s/../t", 0),
        key("a", "u", "s\0", 0),
        key("a", "u", &long, 0),
        key("a", "u", &long[1..], 0),
        key("a", "u", "%73", 0),
        key("a", "u", "s%", 0),
        key("a", "u", "ſ", 0),
    ];
    let mut roots = BTreeSet::new();
    for key in &keys {
        let root = bench.runner.workspaces.workspace(key)?.root().to_owned();
        assert!(root.starts_with(bench.path("state/workspaces")), "{key:?}");
        assert!(roots.insert(root), "{key:?}");
    }
    assert_eq!(fs::read_dir(bench.path("state"))?.count(), 2);
    bench.key = Some(keys[0].clone());
    bench.run(json!({
        "skill": "demo", "command": "echo mine | tee work/x out/x .venv/x work/inputs/x ~/x",
        "outputs": {"globs": ["out/x"], "save": true}
    }))?;
    let mine = bench.workspace();
    for key in &keys[1..] {
        bench.key = Some(key.clone());
        let output = bench
            .sh("find $WORKSPACE_DIR/work $WORKSPACE_DIR/out .venv/ -name x; cat ~/x 2>/dev/null");
        assert_eq!(output.stdout, "", "{key:?}");
        if bench.who.confines() {
            let output = bench.sh(&format!("cat {}/out/x; ls {}", mine.display(), mine.display()));
            assert_eq!(output.stdout, "", "{key:?}");
        }
        // Artifacts are of a session, whatever its generation.
        let same =
            (&key.app, &key.user, &key.session) == (&keys[0].app, &keys[0].user, &keys[0].session);
        let inputs = json!([{"from": "artifact://out/x"}]);
        let loaded = bench.run(json!({"skill": "demo", "command": "true", "inputs": inputs}));
        assert_eq!(loaded.is_ok(), same, "{key:?}");
    }
    for key in [key("", "u", "s", 0), key("a", "", "s", 0), key("a", "u", "", 0)] {
        bench.key = Some(key);
        assert!(bench.run(json!({"skill": "demo", "command": "true"})).is_err());
    }
    Ok(())
}

fn two_runs_at_once(bench: &Bench) -> Result<(), Failed> {
    bench.run(json!({
        "skill": "demo", "command": "echo one > out/a; echo two > out/b",
        "outputs": {"globs": ["out/*"], "save": true}
    }))?;
    for round in 0..6 {
        let mut ids = BTreeSet::new();
        let key = WorkspaceKey { generation: round % 2, ..bench.key() };
        let results: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = (0..6)
                .map(|number| {
                    let mut other = bench.again();
                    other.key = Some(WorkspaceKey { generation: round, ..key.clone() });
                    scope.spawn(move || {
                        let name = if number % 2 == 0 { "a" } else { "b" };
                        other.run(json!({
                            "skill": "demo",
                            "command": format!("echo {number} > out/{number}; cat out/{number} work/in{number}; echo $RUN_DIR"),
                            "inputs": [{
                                "from": format!("artifact://out/{name}"), "to": format!("work/in{number}"), "pin": true
                            }],
                            "output_files": [format!("out/{number}")]
                        }))
                    })
                })
                .collect();
            threads.into_iter().map(|it| it.join().expect("it does not panic")).collect()
        });
        for (number, result) in results.into_iter().enumerate() {
            let output = result?;
            let text = if number % 2 == 0 { "one" } else { "two" };
            let expected = format!("{number}\n{text}\n");
            assert!(output.stdout.starts_with(&expected), "{output:?}");
            assert_eq!(output.output_files[0].content.as_deref(), Some(&*format!("{number}\n")));
            assert!(ids.insert(output.run));
        }
        let mut last = bench.again();
        last.key = Some(WorkspaceKey { generation: round, ..key });
        let metadata: Value =
            serde_json::from_slice(&fs::read(last.workspace().join("metadata.json"))?)?;
        assert_eq!(metadata["pins"].as_object().map(serde_json::Map::len), Some(6), "{metadata}");
        let left: Vec<_> = names_in(&last.workspace());
        assert!(left.iter().all(|it| !it.starts_with(".metadata")), "{left:?}");
    }
    Ok(())
}

fn a_session_survives(bench: &Bench) -> Result<(), Failed> {
    for harm in [
        "rm -rf ~; ln -s / ~",
        "rm -rf ~; echo file > ~",
        "rm -rf work/inputs; echo file > work/inputs",
        "rm -rf work/inputs; ln -s /tmp work/inputs",
        "rm -rf work/* work/.[a-z]* out/* .venv/*",
        "chmod 000 ~ work/inputs .venv/",
        "chmod 000 out work",
    ] {
        bench.sh(harm);
        let output = bench.run(
            json!({"skill": "demo", "command": "echo x > ~/x && echo y > out/y && echo fine"}),
        );
        let output = output.map_err(|error| format!("after {harm:?}: {error}"))?;
        assert_eq!(output.stdout, "fine\n", "after {harm:?}: {output:?}");
    }
    Ok(())
}

fn the_record_says_what_ran(bench: &Bench) -> Result<(), Failed> {
    let command = "echo text > $OUTPUT_DIR/x; cat inputs/SKILL.md > $OUTPUT_DIR/y; exit 3";
    let output = bench.run(json!({
        "skill": "demo", "command": command, "cwd": "$WORK_DIR", "env": {"TOKEN": "very-secret"},
        "stdin": "very-secret", "inputs": [{"from": "skill://demo/SKILL.md"}],
        "outputs": {"globs": ["out/*"], "save": true}
    }))?;
    assert_eq!(output.exit_code, Some(3), "{output:?}");
    let file = bench.workspace().join("runs").join(&output.run).join("record.json");
    let text = fs::read_to_string(file)?;
    let record: Value = serde_json::from_str(&text)?;
    assert_eq!((&record["skill"], &record["command"]), (&json!("demo"), &json!(command)));
    assert_eq!(record["skill_digest"], bench.tree("demo").digest);
    assert_eq!(record["exit_code"], 3);
    assert_eq!(record["confinement"]["executor"], bench.who.executor_name());
    assert_eq!(record["inputs"][0]["from"], "skill://demo/SKILL.md");
    let digest = |text: &str| blake3_of(text.as_bytes());
    let skill = fs::read_to_string(bench.path("skills/demo/SKILL.md"))?;
    assert_eq!(record["inputs"][0]["digest"], digest(&skill));
    assert_eq!(record["outputs"][0]["name"], "out/x");
    assert_eq!(record["outputs"][0]["digest"], digest("text\n"));
    assert_eq!(record["artifacts"][0]["ref"], "artifact://out/x@0");
    assert!(record["arguments"].as_array().is_some_and(|it| it.last() == Some(&json!(command))));
    assert!(record["duration_ms"].is_u64() && record["started"].is_string(), "{record}");
    assert!(!text.contains("very-secret"), "{text}");
    Ok(())
}

fn blake3_of(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

fn folders_are_private(bench: &Bench) -> Result<(), Failed> {
    use std::os::unix::fs::PermissionsExt;
    bench.sh("true");
    for folder in ["", "work", "out", "runs", "skills", "work/inputs"] {
        let mode = bench.workspace().join(folder).metadata()?.permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "{folder}");
    }
    for folder in ["state/workspaces", "state/content"] {
        assert_eq!(bench.path(folder).metadata()?.permissions().mode() & 0o777, 0o700, "{folder}");
    }
    Ok(())
}
