//! Programs that change what is not theirs: the skill, its source, records, other sessions, other processes.

use std::fs;

use libtest_mimic::Failed;
use serde_json::{Value, json};

use super::requests::names_in;
use crate::bench::{Bench, Renamed, is_without_namespaces};

pub(super) fn write_to_the_skill(bench: &Bench) -> Result<(), Failed> {
    bench.sh("true");
    let content = bench.path("state/content");
    let content = content.join(&names_in(&content)[0]);
    let (source, content) = (bench.path("skills/demo/new"), content.join("new"));
    bench.sh(&format!("echo evil > {}; echo evil > {}", source.display(), content.display()));
    assert!(!source.exists() && !content.exists());
    let output =
        bench.sh("for to in new SKILL.md scripts/new $SKILLS_DIR/new $WORKSPACE_DIR/new; do \
         (echo x > $to) 2>/dev/null && echo wrote $to; done; \
         rm -f SKILL.md 2>/dev/null && echo removed; mv scripts out/ 2>/dev/null && echo moved; \
         chmod 777 . 2>/dev/null && echo changed; touch .venv/marker; cat SKILL.md");
    assert_eq!(output.stdout, "---\nname: demo\ndescription: Demo.\n---\n");
    let output = bench.sh("ls -A; ls .venv");
    assert_eq!(output.stdout, ".venv\nSKILL.md\ninputs\nout\nscripts\nwork\nmarker\n");
    Ok(())
}

pub(super) fn write_to_the_source(bench: &Bench) -> Result<(), Failed> {
    let source = names_in(&bench.path("skills/demo"));
    bench.sh("true");
    let staged = names_in(&bench.path("state/content"));
    let content = bench.path("state/content").join(&staged[0]);
    bench.sh(
        "chmod -R u+w . ; echo evil > SKILL.md; echo evil > new; rm -f SKILL.md; mv scripts x; \
         mkdir d; ln -s x y; ln -sfn /tmp out; rm -f out; rm -rf scripts",
    );
    assert_eq!(names_in(&bench.path("skills/demo")), source);
    assert_eq!(names_in(&bench.path("state/content")), staged);
    let text = fs::read_to_string(content.join("SKILL.md"))?;
    assert!(text.contains("name: demo"), "{text}");
    assert_eq!(names_in(&content), [".venv", "SKILL.md", "inputs", "out", "scripts", "work"]);
    Ok(())
}

pub(super) fn forge_records(bench: &Bench) -> Result<(), Failed> {
    let first = bench.sh("echo first");
    let runs = bench.workspace().join("runs");
    let record = fs::read(runs.join(&first.run).join("record.json"))?;
    let second = bench.sh(&format!(
        "cd $WORKSPACE_DIR; ls -A . runs; for f in metadata.json .lock .container .lent/x new runs/new \
         runs/{0}/record.json runs/{0}/stdout $RUN_DIR/../record.json $RUN_DIR/../stdout $RUN_DIR/../.record; do \
         (echo evil > $f) 2>/dev/null && echo wrote $f; cat $f 2>/dev/null; rm -rf $f 2>/dev/null; done; \
         mv $RUN_DIR $RUN_DIR.x 2>/dev/null && echo moved; rm -rf runs out work .homes .venvs 2>/dev/null; echo end >&2",
        first.run
    ));
    let seen: Vec<&str> = second.stdout.lines().filter(|line| !line.is_empty()).collect();
    let seen_from = [".:", ".homes", ".venvs", "out", "runs", "skills", "work", "runs:"];
    // Landlock alone lists none of these folders.
    let seen_from = if is_without_namespaces() { &[][..] } else { &seen_from };
    let own = seen_from.last().map(|_| second.run.as_str());
    let expected: Vec<&str> = seen_from.iter().copied().chain(own).collect();
    assert_eq!(seen, expected, "{second:?}");
    assert_eq!(fs::read(runs.join(&first.run).join("record.json"))?, record);
    let own: Value =
        serde_json::from_slice(&fs::read(runs.join(&second.run).join("record.json"))?)?;
    assert_eq!(own["skill"], "demo");
    assert_eq!(fs::read_to_string(runs.join(&second.run).join("stderr"))?, second.stderr);
    serde_json::from_slice::<Value>(&fs::read(bench.workspace().join("metadata.json"))?)?;
    assert_eq!(bench.sh("echo still works").stdout, "still works\n");
    Ok(())
}

pub(super) fn another_session(bench: &Bench) -> Result<(), Failed> {
    bench.sh("echo very-secret > work/secret; echo very-secret > /tmp/secret");
    let place = bench.workspace().join("work/secret");
    let mut other = bench.again();
    other.session = "other".to_owned();
    let output = other.sh(&format!(
        "cat '{0}' /tmp/secret $WORK_DIR/secret; {1}; find / -name secret -not -path '/proc/*'; \
         (echo evil > '{0}') && echo wrote; ln -s '{0}' out/link; cat out/link",
        place.display(),
        // Landlock alone does not hide that a file is there from a program that knows its path.
        if is_without_namespaces() {
            String::from("true")
        } else {
            format!("ls '{}'", place.display())
        }
    ));
    assert_eq!((output.stdout.as_str(), output.output_files.len()), ("", 0), "{output:?}");
    assert_eq!(fs::read_to_string(place)?, "very-secret\n");
    Ok(())
}

pub(super) fn temporary_files_of_another_run(bench: &Bench) -> Result<(), Failed> {
    for left in
        ["/tmp/secret", "/tmp/.secret", "/tmp/..secret", "/dev/shm/secret", "/dev/shm/d/secret"]
    {
        bench.sh(&format!("mkdir -p $(dirname {left}); echo very-secret > {left}"));
        let output =
            bench.sh("ls -AR /tmp /dev/shm; cat /tmp/* /tmp/.* /dev/shm/* 2>/dev/null; true");
        assert!(!output.stdout.contains("secret"), "{left}: {output:?}");
    }
    // A link that leads nowhere is something, too.
    bench.sh("ln -s nowhere /tmp/link");
    assert_eq!(bench.sh("ls -A /tmp").stdout, "");
    Ok(())
}

/// Programs of a skill's own environment come first, so nobody else may put any there.
pub(super) fn plant_programs(bench: &Bench) -> Result<(), Failed> {
    let other = || bench.tree("demo").renamed("other");
    let run = |skill: &str, command: &str| {
        bench.run_trees(
            json!({"skill": skill, "command": command}),
            vec![bench.tree("demo"), other()],
        )
    };
    run("other", "mkdir -p .venv/bin")?;
    run(
        "demo",
        "for d in $WORKSPACE_DIR/.venvs/other $SKILLS_DIR/other/.venv; do mkdir -p $d/bin; \
         printf '#!/bin/sh\\necho planted' > $d/bin/hostname; chmod +x $d/bin/hostname; done",
    )?;
    let output = run(
        "other",
        "hostname 2>/dev/null; mkdir -p .venv/bin && touch .venv/bin/own && ls .venv/bin",
    )?;
    assert!(!output.stdout.contains("planted"), "{output:?}");
    assert!(output.stdout.ends_with("own\n"), "{output:?}");
    Ok(())
}

pub(super) fn kill_everything(bench: &Bench) -> Result<(), Failed> {
    let output = bench.sh("echo on; kill -9 -1; sleep 1; kill -9 $PPID; echo still on");
    assert!(output.stdout.starts_with("on\n"), "{output:?}");
    assert_eq!(bench.sh("echo fine").stdout, "fine\n");
    Ok(())
}
