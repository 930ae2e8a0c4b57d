//! What no program gets, whoever runs it. Where an executor does not promise something, that is said.

use std::fs;

use libtest_mimic::Failed;
use serde_json::json;

use crate::Promise;
use crate::bench::Bench;

pub(crate) const PROMISES: &[Promise] = &[
    ("quotes_and_newlines_are_just_signs", quotes_and_newlines),
    ("the_skill_tree_cannot_be_changed", skill_tree),
    ("another_session_is_not_visible", another_session),
    ("secrets_of_the_caller_are_not_visible", secrets),
    ("records_and_streams_are_not_for_the_program", records),
    ("there_is_no_network_and_no_privilege", no_network),
    ("memory_is_bounded", memory),
    ("a_program_that_kills_all_it_can_does_no_harm", kills_all),
];

/// Whether a promise is none of this executor's.
#[expect(clippy::print_stdout, reason = "a person who runs one test should see it")]
fn not_promised(bench: &Bench, what: &str) -> bool {
    let free = !bench.who.confines();
    if free {
        println!("{what}: not promised by {}", bench.who);
    }
    free
}

fn quotes_and_newlines(bench: &Bench) -> Result<(), Failed> {
    let evil = "x'; touch $WORKSPACE_DIR/out/pwned; '\"; touch out/pwned; \"`touch out/pwned`";
    let mut bench = Bench::new(bench.who);
    bench.session = format!("{evil}\n$(touch /tmp/pwned)");
    let name = format!("{evil}\nnext");
    // A folder cannot have a slash in its name; the tree's name can.
    bench.write("skills/plain/SKILL.md", "---\nname: plain\n---\n");
    let evil_file = evil.replace('/', "_");
    let mut order = bench.order(json!({
        "skill": "plain",
        "inputs": [
            {"from": "skill://plain/SKILL.md", "to": format!("work/inputs/{evil_file}")},
            {"from": "skill://plain/SKILL.md", "to": format!("work/{evil_file}/in")}
        ],
        "cwd": format!("$WORK_DIR/{evil_file}"),
        "env": {"GIVEN": name},
        "stdin": name,
        "command": "cat > \"$WORKSPACE_DIR/out/$GIVEN.txt\" 2>/dev/null; cat; \
            printf '%s' \"$SKILL_NAME\"; ls ../inputs | wc -l; ls $WORKSPACE_DIR/out",
        "outputs": {"globs": ["out/pwned", "/tmp/pwned".trim_start_matches('/')]}
    }));
    order.trees[0].name.clone_from(&name);
    order.request.skill.clone_from(&name);
    for input in &mut order.request.inputs {
        input.from = "workspace://work/seed".to_owned();
    }
    fs::write(bench.workspace().join("work/seed"), "seed")?;
    let live = Box::new(|_, _: &[u8]| {});
    let cancel = metier_sandbox::Cancel::new()?;
    let output = crate::bench::block_on(bench.runner.run(order, live, cancel))?;
    assert!(output.stdout.contains(&name), "{output:?}");
    assert!(output.output_files.is_empty(), "{output:?}");
    assert!(!bench.workspace().join("out/pwned").exists());
    Ok(())
}

fn skill_tree(bench: &Bench) -> Result<(), Failed> {
    if not_promised(bench, "a skill tree that cannot be changed") {
        return Ok(());
    }
    let output =
        bench.sh("for to in new SKILL.md scripts/new $SKILLS_DIR/new $WORKSPACE_DIR/new; do \
         (echo x > $to) 2>/dev/null && echo wrote $to; done; \
         rm -f SKILL.md 2>/dev/null && echo removed; mv scripts out/ 2>/dev/null && echo moved; \
         chmod 777 . 2>/dev/null && echo changed; cat SKILL.md");
    assert_eq!(output.stdout, "---\nname: demo\ndescription: Demo.\n---\n");
    Ok(())
}

fn another_session(bench: &Bench) -> Result<(), Failed> {
    if not_promised(bench, "another session that is not visible") {
        return Ok(());
    }
    bench.sh("echo secret > work/secret; echo secret > /tmp/secret; true");
    let place = bench.workspace().join("work/secret");
    let mut other = Bench::new(bench.who);
    other.session = "other".to_owned();
    let output = other.sh(&format!(
        "cat '{}' /tmp/secret $WORK_DIR/secret; find / -name secret 2>/dev/null; true",
        place.display()
    ));
    assert_eq!(output.stdout, "");
    // Through a link neither.
    let link = other.sh(&format!("ln -s '{}' out/link; cat out/link", place.display()));
    assert_eq!((link.stdout.as_str(), link.output_files.len()), ("", 0), "{link:?}");
    Ok(())
}

fn secrets(bench: &Bench) -> Result<(), Failed> {
    if not_promised(bench, "secrets of the caller that are not visible") {
        return Ok(());
    }
    let secret = bench.write("home/secret", "hunter2");
    let output = bench.sh(&format!(
        "cat '{}' /etc/shadow /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | \
         grep -c -e hunter2 -e root: -e CARGO -e METIER_TEST; ls /root /home/* 2>/dev/null; true",
        secret.display()
    ));
    assert_eq!(output.stdout, "0\n", "{output:?}");
    Ok(())
}

fn records(bench: &Bench) -> Result<(), Failed> {
    if not_promised(bench, "records out of reach") {
        return Ok(());
    }
    let first = bench.sh("echo first");
    let output = bench.sh(&format!(
        "cd $WORKSPACE_DIR; cat metadata.json runs/*/record.json runs/*/stdout 2>/dev/null; \
         ls runs/{} 2>/dev/null; (echo forged > runs/{}/record.json) 2>/dev/null && echo forged; \
         ls -A | sort; ls runs/*",
        first.run, first.run
    ));
    let seen: Vec<&str> = output.stdout.lines().filter(|line| !line.is_empty()).collect();
    let expected = vec![".venvs", "out", "runs", "skills", "work", "files"];
    assert_eq!(seen, expected);
    let record = bench.workspace().join("runs").join(first.run).join("record.json");
    assert!(!fs::read_to_string(record)?.contains("forged"));
    Ok(())
}

fn no_network(bench: &Bench) -> Result<(), Failed> {
    if not_promised(bench, "no network") {
        return Ok(());
    }
    let output = bench.sh("cut -d: -f1 /proc/net/dev | tail -n +3 | tr -d ' '; \
         grep -e ^CapEff -e ^CapPrm -e ^CapBnd -e ^NoNewPrivs /proc/self/status | tr -d '\\t'; \
         test $(id -u) != 0 && echo ordinary");
    assert_eq!(
        output.stdout,
        "lo\nCapPrm:0000000000000000\nCapEff:0000000000000000\nCapBnd:0000000000000000\nNoNewPrivs:1\nordinary\n",
        "{output:?}"
    );
    Ok(())
}

fn memory(bench: &Bench) -> Result<(), Failed> {
    if not_promised(bench, "memory of the whole tree") {
        return Ok(());
    }
    let mut bench = Bench::new(bench.who);
    bench.settings.limits.memory = 128 << 20;
    let bomb = "awk 'BEGIN { s = \"0123456789abcdef\"; while (1) s = s s }'; exit $?";
    for _ in 0..2 {
        let output = bench.sh(bomb);
        let met: Vec<&str> = output.denials.iter().map(|it| it.what.as_str()).collect();
        // Without a control group the program is refused memory, which nobody else sees.
        let was_refused = met.is_empty() && output.stderr.contains("memory");
        assert!(
            was_refused || (met, output.exit_code) == (vec!["memory"], Some(137)),
            "{output:?}"
        );
        let killed = bench.sh("sh -c 'kill -9 $$'; exit $?");
        assert_eq!((killed.exit_code, killed.denials.len()), (Some(137), 0), "{killed:?}");
    }
    Ok(())
}

fn kills_all(bench: &Bench) -> Result<(), Failed> {
    if not_promised(bench, "other processes out of reach") {
        return Ok(());
    }
    let output = bench.sh("echo on; kill -9 -1; sleep 1; kill -9 $PPID; echo still on");
    assert!(output.stdout.starts_with("on\n"), "{output:?}");
    assert_eq!(bench.sh("echo fine").stdout, "fine\n");
    Ok(())
}
