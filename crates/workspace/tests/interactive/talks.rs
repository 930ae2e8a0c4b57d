//! Talking to programs.

use libtest_mimic::Failed;
use metier_workspace::Redactor;
use metier_workspace::interactive::{EndStatus, Entry, SessionStatus, Size, StartOptions, Waiting};
use serde_json::json;

use crate::Promise;
use crate::bench::{Bench, Who, asked};

pub(crate) const PROMISES: &[Promise] = &[
    ("a_prompt_is_asked_once_and_answered", prompt),
    ("the_interpreter_is_talked_to", interpreter),
    ("input_of_a_script_is_asked_for", python_input),
    ("a_menu_is_a_selection", menu),
    ("a_password_is_not_echoed", password),
    ("ctrl_c_interrupts", interrupt),
    ("what_ignores_to_be_asked_is_killed", stubborn),
    ("a_shell_can_be_talked_to_and_killed", shell),
    ("the_exit_code_and_files_are_given", exit_code),
    ("a_terminal_is_one", terminal),
    ("pipes_are_none", pipes),
    ("the_end_of_input_is_a_character", end_of_input),
    ("the_size_can_change", resize),
    ("progress_is_its_last_state", progress_lines),
    ("what_cannot_start_is_an_error", cannot_start),
    ("input_comes_with_the_order", typed_ahead),
    ("a_key_is_masked_however_slowly_it_is_written", slow_key),
    ("a_key_is_masked_that_comes_together_on_the_screen", erased_key),
];

/// The same place, where a key is masked.
fn masking(bench: &Bench) -> Bench {
    let mut masking = Bench::new(bench.who);
    masking.runner.redactor = Redactor::new(["key-0123456789"]).expect("a redactor");
    masking
}

fn slow_key(bench: &Bench) -> Result<(), Failed> {
    let bench = masking(bench);
    let command = "for part in 'the key-' 012 3456 '789 is' ' it; '; do printf '%s' \"$part\"; \
                   sleep 0.2; done; read -p 'key-0123456789? ' n";
    for begun in [bench.start(command), bench.start_on_pipes(command)] {
        let asks = bench.until(begun, |it| it.output.contains("it; "));
        assert!(asks.output.starts_with("the **** is it; "), "{asks:?}");
        let ends = bench.to_the_end(bench.submit(&asks.session_id, ""));
        assert!(!format!("{asks:?}{ends:?}").contains("key-0"), "{asks:?} {ends:?}");
    }
    // Nobody asked in the meantime.
    let listed = format!("{:?}", bench.interactive.list());
    assert!(!listed.contains("key-0123456789"), "{listed}");
    Ok(())
}

fn erased_key(bench: &Bench) -> Result<(), Failed> {
    let bench = masking(bench);
    let begun = bench.start("printf 'key-01\\033[31m2345X\\b6\\033]0;title\\a789.\\n'");
    let ends = bench.to_the_end(begun);
    assert_eq!(ends.output, "****.\n", "{ends:?}");
    assert_eq!(ends.result.ok_or("a result")?.stdout, "****.\n");
    Ok(())
}

fn prompt(bench: &Bench) -> Result<(), Failed> {
    let asks = bench.to_the_prompt(bench.start("read -p 'Name: ' n; echo \"Hello $n\"; exit 3"));
    assert_eq!((asks.output.as_str(), asked(&asks).as_str()), ("Name: ", "Prompt: Name:"));
    assert_eq!((asks.status, asks.exit_code), (SessionStatus::Running, None));
    let again = bench.poll(&asks.session_id);
    assert_eq!((again.output.as_str(), asked(&again).as_str()), ("", "Prompt: Name:"));
    let ends = bench.to_the_end(bench.submit(&asks.session_id, "Bób"));
    assert_eq!(ends.output, "Bób\nHello Bób\n");
    assert_eq!((ends.exit_code, asked(&ends).as_str()), (Some(3), "nothing"));
    let result = ends.result.ok_or("a result")?;
    assert_eq!((result.stdout.as_str(), result.exit_code), ("Name: Bób\nHello Bób\n", Some(3)));
    Ok(())
}

fn interpreter(bench: &Bench) -> Result<(), Failed> {
    let ready = bench.to_the_prompt(bench.start("python3 -i -q"));
    assert_eq!((ready.output.as_str(), asked(&ready).as_str()), (">>> ", "Prompt: >>>"));
    let id = ready.session_id;
    let sum = bench.to_the_prompt(bench.submit(&id, "40 + 2"));
    assert_eq!(sum.output, "40 + 2\n42\n>>> ");
    let begun = bench.to_the_prompt(bench.submit(&id, "for i in range(3):"));
    assert_eq!(begun.output, "for i in range(3):\n... ");
    bench.to_the_prompt(bench.submit(&id, "  print(i, 'é')"));
    let done = bench.to_the_prompt(bench.submit(&id, ""));
    assert_eq!(done.output, "\n0 é\n1 é\n2 é\n>>> ");
    let ends = bench.to_the_end(bench.submit(&id, "exit(7)"));
    assert_eq!((ends.output.as_str(), ends.exit_code), ("exit(7)\n", Some(7)));
    Ok(())
}

fn python_input(bench: &Bench) -> Result<(), Failed> {
    let script = "a = input('First? '); b = input('Second> '); print(a + b)";
    let first = bench.to_the_prompt(bench.start(&format!("python3 -c \"{script}\"")));
    assert_eq!(asked(&first), "Prompt: First?");
    let second = bench.to_the_prompt(bench.submit(&first.session_id, "1"));
    assert_eq!(
        (second.output.as_str(), asked(&second).as_str()),
        ("1\nSecond> ", "Prompt: Second>")
    );
    let ends = bench.to_the_end(bench.submit(&first.session_id, "2"));
    assert_eq!(ends.output, "2\n12\n");
    Ok(())
}

fn menu(bench: &Bench) -> Result<(), Failed> {
    let command = "select x in tea coffee; do echo \"got $x\"; break; done; read -p 'Sugar? ' s";
    let menu = bench.to_the_prompt(bench.start(command));
    assert_eq!(menu.output, "1) tea\n2) coffee\n#? ");
    assert_eq!(asked(&menu), "Selection: #?");
    let next = bench.to_the_prompt(bench.submit(&menu.session_id, "2"));
    assert_eq!(
        (next.output.as_str(), asked(&next).as_str()),
        ("2\ngot coffee\nSugar? ", "Prompt: Sugar?")
    );
    Ok(())
}

fn password(bench: &Bench) -> Result<(), Failed> {
    let script = "import getpass; p = getpass.getpass(); print('has', len(p))";
    let asks = bench.to_the_prompt(bench.start(&format!("python3 -c \"{script}\"")));
    // It asks on `/dev/tty`, not on standard output.
    assert_eq!((asks.output.as_str(), asked(&asks).as_str()), ("Password: ", "Prompt: Password:"));
    let ends = bench.to_the_end(bench.submit(&asks.session_id, "hunter2"));
    assert_eq!(ends.output, "\nhas 7\n");
    Ok(())
}

fn interrupt(bench: &Bench) -> Result<(), Failed> {
    let script = "import time\ntry:\n  print('on', flush=True); time.sleep(60)\nexcept KeyboardInterrupt:\n  print('off')";
    let runs = bench.start(&format!("exec python3 -c \"{script}\""));
    let runs = bench.until(runs, |it| it.output.contains("on\n"));
    let ends = bench.to_the_end(bench.press(&runs.session_id, "\x03"));
    // The terminal shows the key, before or after.
    assert_eq!((ends.output.replace("^C", "").as_str(), ends.exit_code), ("off\n", Some(0)));
    Ok(())
}

fn stubborn(bench: &Bench) -> Result<(), Failed> {
    let runs = bench.start("trap '' TERM HUP INT; echo ready; while :; do sleep 1; done");
    let runs = bench.until(runs, |it| it.output.contains("ready\n"));
    let began = std::time::Instant::now();
    let killed = bench.wait(bench.interactive.kill(&runs.session_id))?;
    assert!((1900..4000).contains(&began.elapsed().as_millis()), "{:?}", began.elapsed());
    assert_eq!((killed.ok, killed.status), (true, EndStatus::Killed));
    let ends = bench.poll(&runs.session_id);
    assert_eq!((ends.status, ends.exit_code), (SessionStatus::Exited, None));
    let result = ends.result.ok_or("a result")?;
    assert_eq!((result.signal, result.cancelled, result.timed_out), (Some(9), true, false));
    let again = bench.wait(bench.interactive.kill(&runs.session_id))?;
    assert_eq!(again.status, EndStatus::Killed);
    Ok(())
}

fn shell(bench: &Bench) -> Result<(), Failed> {
    let ready = bench.to_the_prompt(bench.start("PS1='ready$ ' bash --norc --noprofile -i"));
    // Job control needs a terminal of its own.
    assert_eq!(ready.output, "ready$ ");
    let id = ready.session_id;
    let answer =
        bench.to_the_prompt(bench.submit(&id, "echo $((6 * 7)) > /dev/stderr; echo $TERM"));
    assert!(answer.output.ends_with("\n42\nxterm-256color\nready$ "), "{answer:?}");
    let sleeps = bench.submit(&id, "sleep 60");
    assert_eq!(asked(&sleeps), "nothing");
    let back = bench.to_the_prompt(bench.press(&id, "\x03"));
    assert!(back.output.ends_with("ready$ "), "{back:?}");
    let killed = bench.wait(bench.interactive.kill(&id))?;
    assert_eq!(killed.status, EndStatus::Killed);
    Ok(())
}

fn exit_code(bench: &Bench) -> Result<(), Failed> {
    let request = json!({
        "skill": "demo",
        "command": "read -p 'Text: ' x; echo \"$x\" > $OUTPUT_DIR/x.txt; printf '\\e[1mbold\\e[0m\\n'; exit 5",
        "env": {"A": "b"},
        "outputs": {"globs": ["out/*.txt"], "inline": true, "save": true}
    });
    let asks = bench.to_the_prompt(bench.try_start(request, StartOptions::default())?);
    let ends = bench.to_the_end(bench.submit(&asks.session_id, "kept"));
    let killed = bench.wait(bench.interactive.kill(&ends.session_id))?;
    assert_eq!(killed.status, EndStatus::Exited);
    let result = ends.result.ok_or("a result")?;
    assert_eq!(result.output_files[0].content.as_deref(), Some("kept\n"));
    assert_eq!(result.artifact_files[0].reference, "artifact://out/x.txt@0");
    assert_eq!((ends.exit_code, result.stdout.as_str()), (Some(5), "Text: kept\nbold\n"));
    let workspace = bench.runner.workspaces.workspace(&Bench::key())?;
    let run = workspace.root().join("runs").join(&result.run);
    let stored = std::fs::read_to_string(run.join("stdout"))?;
    assert_eq!(stored, "Text: kept\r\n\x1b[1mbold\x1b[0m\r\n");
    assert!(run.join("record.json").exists());
    let late = bench.wait(bench.interactive.write(
        &ends.session_id,
        Entry { chars: "x", submit: true },
        Waiting::NEXT,
    ));
    assert!(late.expect_err("it is refused").to_string().contains("has ended"));
    Ok(())
}

fn terminal(bench: &Bench) -> Result<(), Failed> {
    let command = "test -t 0 && test -t 1 && test -t 2 && echo yes; stty size; echo $TERM; \
                   echo to tty > /dev/tty; echo to error > /dev/stderr; id -u";
    let ends = bench.to_the_end(bench.start(command));
    let expected = "yes\n40 120\nxterm-256color\nto tty\nto error\n";
    assert!(ends.output.starts_with(expected), "{ends:?}");
    let result = ends.result.as_ref().ok_or("a result")?;
    assert_eq!(result.stderr, "");
    if bench.who == Who::Sandbox {
        assert!(!ends.output.ends_with("\n0\n"), "{ends:?}");
        assert_eq!(result.denials, []);
    }
    Ok(())
}

fn pipes(bench: &Bench) -> Result<(), Failed> {
    let runs = bench.start_on_pipes(
        "test -t 0 || echo none; printenv TERM || echo unset; echo oops >&2; read x; echo \"got $x\"",
    );
    let runs = bench.until(runs, |it| it.output.contains("oops\n"));
    assert_eq!(runs.output, "none\nunset\noops\n");
    let ends = bench.to_the_end(bench.submit(&runs.session_id, "input"));
    assert_eq!(ends.output, "got input\n");
    let result = ends.result.ok_or("a result")?;
    assert_eq!(
        (result.stdout.as_str(), result.stderr.as_str()),
        ("none\nunset\ngot input\n", "oops\n")
    );
    Ok(())
}

fn end_of_input(bench: &Bench) -> Result<(), Failed> {
    let reads = bench.start("echo on; cat > $OUTPUT_DIR/x; cat $OUTPUT_DIR/x");
    bench.submit(&reads.session_id, "typed");
    let ends = bench.to_the_end(bench.press(&reads.session_id, "\x04"));
    assert!(ends.output.ends_with("typed\n"), "{ends:?}");
    let reads = bench.start_on_pipes("cat; echo end");
    let ends = bench.to_the_end(bench.press(&reads.session_id, "piped\n\x04"));
    assert_eq!((ends.output.as_str(), ends.exit_code), ("piped\nend\n", Some(0)));
    let late = Entry { chars: "x", submit: true };
    assert!(bench.wait(bench.interactive.write(&reads.session_id, late, Waiting::NEXT)).is_err());
    Ok(())
}

fn resize(bench: &Bench) -> Result<(), Failed> {
    let command = "trap 'stty size' WINCH; stty size; echo ready; while :; do sleep 0.05; done";
    let request = json!({"skill": "demo", "command": command});
    let size = Size { rows: 20, columns: 60 };
    let runs =
        bench.try_start(request, StartOptions { terminal: Some(size), waiting: Waiting::FIRST })?;
    let runs = bench.until(runs, |it| it.output.contains("ready\n"));
    assert_eq!(runs.output, "20 60\nready\n");
    bench.interactive.resize(&runs.session_id, Size { rows: 50, columns: 100 })?;
    bench.until(bench.poll(&runs.session_id), |it| it.output.contains("50 100\n"));
    Ok(())
}

fn progress_lines(bench: &Bench) -> Result<(), Failed> {
    let command = "sleep 0.3; for i in 1 2 3; do printf \"\\r$i of 3\"; done; printf '\\ndone\\n'";
    let ends = bench.to_the_end(bench.start(command));
    assert_eq!(ends.output, "3 of 3\ndone\n");
    Ok(())
}

fn cannot_start(bench: &Bench) -> Result<(), Failed> {
    let tries = [
        (json!({"skill": "other", "command": "true"}), "there is no skill `other`"),
        (json!({"skill": "demo", "command": " "}), "`command`: it is empty"),
        (json!({"skill": "demo", "command": "true", "cwd": "../.."}), "`cwd`"),
        (json!({"skill": "demo", "command": "true", "cwd": "$WORK_DIR/none"}), "is not there"),
        (json!({"skill": "demo", "command": "true", "env": {"LD_PRELOAD": "x"}}), "`env`"),
        (
            json!({"skill": "demo", "command": "true", "inputs": [{"from": "host:///etc/shadow"}]}),
            "`inputs`",
        ),
    ];
    for (request, expected) in tries {
        let error = bench
            .try_start(request, StartOptions::default())
            .expect_err("it is refused")
            .to_string();
        assert!(error.contains(expected), "{error}");
    }
    assert_eq!(bench.interactive.list().len(), 0);
    let error =
        bench.wait(bench.interactive.poll("none", Waiting::NEXT)).expect_err("it is refused");
    assert!(error.to_string().starts_with("there is no session `none`"));
    Ok(())
}

fn typed_ahead(bench: &Bench) -> Result<(), Failed> {
    let request =
        json!({"skill": "demo", "command": "read a; read b; echo \"$a-$b\"", "stdin": "1\n"});
    let runs = bench.try_start(request, StartOptions::default())?;
    let ends = bench.to_the_end(bench.submit(&runs.session_id, "2"));
    assert!(ends.output.ends_with("1-2\n"), "{ends:?}");
    Ok(())
}
