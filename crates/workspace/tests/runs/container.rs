//! What holds for containers alone.

use std::time::{Duration, Instant};

use libtest_mimic::Failed;
use metier_workspace::executor::{
    ContainerError, ContainerExecutor, ContainerSettings, ExecuteError, Executor, Pull,
};
use metier_workspace::{RunError, RunOutput};
use serde_json::json;

use crate::Promise;
use crate::bench::{Bench, Who, block_on};

pub(crate) const PROMISES: &[Promise] = &[
    ("a_container_is_used_again_until_something_changes", used_again),
    ("a_container_that_is_gone_is_made_again", made_again),
    ("sh_will_do_where_bash_is_missing", sh_will_do),
    ("an_image_without_a_shell_is_named", no_shell),
    ("a_missing_image_is_named_and_not_fetched", no_image),
    ("an_image_that_cannot_be_fetched_is_named", no_registry),
    ("a_name_that_no_image_has_is_named", no_name),
    ("an_engine_that_does_not_answer_is_named", no_engine),
    ("what_else_listens_is_named", no_stranger),
    ("containers_go_with_their_workspaces", leftovers),
    ("another_skill_gets_another_container", another_skill),
    ("a_run_whose_folder_was_removed_has_no_files", removed_folder),
    ("what_was_confined_is_told", confinement),
    ("a_run_that_nobody_saw_to_its_end_is_ended_by_the_next", unseen_end),
    ("what_one_who_was_killed_left_running_is_ended_by_the_next_start", abandoned),
    ("a_warm_container_is_quick", quick),
];

fn host_name(bench: &Bench) -> String {
    bench.sh("cat /proc/sys/kernel/hostname").stdout
}

fn container(bench: &Bench) -> &ContainerExecutor {
    match &bench.runner.executor {
        Executor::Container(container) => container,
        Executor::Local(_) | Executor::Custom(_) => unreachable!("these tests are for containers"),
    }
}

fn used_again(bench: &Bench) -> Result<(), Failed> {
    let mut bench = Bench::new(bench.who);
    let first = host_name(&bench);
    assert_eq!(host_name(&bench), first);
    let timed =
        json!({"skill": "demo", "command": "cat /proc/sys/kernel/hostname", "timeout": 1800});
    assert_eq!(bench.run(timed)?.stdout, first, "a timeout asks for no other container");
    bench.settings.limits.processes = 77;
    let second = host_name(&bench);
    assert_ne!(second, first);
    bench.write("skills/demo/more.txt", "more");
    let third = host_name(&bench);
    assert_ne!(third, second);
    assert_eq!(bench.sh("cat more.txt").stdout, "more");
    bench.session = "other".to_owned();
    assert_ne!(host_name(&bench), third);
    Ok(())
}

fn made_again(bench: &Bench) -> Result<(), Failed> {
    let first = host_name(bench);
    let workspace = bench.runner.workspaces.workspace(&bench.key())?;
    assert!(block_on(container(bench).remove(&workspace))?);
    assert!(!block_on(container(bench).remove(&workspace))?);
    assert_ne!(host_name(bench), first);
    Ok(())
}

fn sh_will_do(bench: &Bench) -> Result<(), Failed> {
    let bench = with(bench.who, bench.who.container("metier-test/busybox:latest"));
    let output = bench.sh("echo ${BASH_VERSION-none}; sh scripts/hello.sh; sleep 100 & exit 3");
    assert_eq!((output.exit_code, output.stdout.as_str()), (Some(3), "none\nhello from demo\n"));
    let ended = bench.run(json!({"skill": "demo", "command": "sleep 50", "timeout": 0.5}))?;
    assert_eq!((ended.timed_out, ended.signal), (true, Some(15)), "{ended:?}");
    Ok(())
}

fn with(who: Who, container: ContainerExecutor) -> Bench {
    let mut bench = Bench::new(who);
    bench.runner.executor = container.into();
    bench
}

/// Why a run in other containers did not take place.
fn refused(who: Who, container: ContainerExecutor) -> ContainerError {
    let bench = with(who, container);
    let result = bench.run(json!({"skill": "demo", "command": "true"}));
    let reason = why(result);
    // It has to be one that can be asked to tidy up.
    let mut bench = bench;
    bench.runner.executor = who.container("metier-test/bash:latest").into();
    reason
}

fn why(result: Result<RunOutput, RunError>) -> ContainerError {
    match result {
        Err(RunError::Execute(ExecuteError::Container(error))) => error,
        other => panic!("{other:?}"),
    }
}

fn no_shell(bench: &Bench) -> Result<(), Failed> {
    let error = refused(bench.who, bench.who.container("metier-test/empty:latest"));
    assert!(matches!(error, ContainerError::NoShell { .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.starts_with("image `metier-test/empty:latest` has neither bash nor sh"), "{text}");
    Ok(())
}

fn no_image(bench: &Bench) -> Result<(), Failed> {
    let error = refused(bench.who, bench.who.container("metier-test/absent:latest"));
    assert!(matches!(error, ContainerError::NoImage { .. }), "{error:?}");
    assert!(error.to_string().contains("docker pull metier-test/absent:latest"), "{error}");
    Ok(())
}

fn no_registry(bench: &Bench) -> Result<(), Failed> {
    // Nobody listens there.
    let settings = bench.who.containers("localhost:1/metier-test/absent:latest");
    let pull = Pull::Missing;
    let error = refused(bench.who, ContainerExecutor::new(ContainerSettings { pull, ..settings }));
    assert!(matches!(error, ContainerError::Pull { .. }), "{error:?}");
    let text = error.to_string();
    assert!(
        text.starts_with("image `localhost:1/metier-test/absent:latest` could not be"),
        "{text}"
    );
    assert!(text.ends_with("or name another"), "{text}");
    assert_eq!(text.lines().count(), 1, "{text}");
    Ok(())
}

fn no_name(bench: &Bench) -> Result<(), Failed> {
    for pull in [Pull::Never, Pull::Missing] {
        let settings =
            ContainerSettings { pull, ..bench.who.containers("../containers/json?x=\n") };
        let error = refused(bench.who, ContainerExecutor::new(settings));
        assert!(matches!(error, ContainerError::ImageName { .. }), "{error:?}");
        let text = error.to_string();
        assert!(
            text.starts_with("`../containers/json?x=\\n` is not the name of an image"),
            "{text}"
        );
        assert!(text.ends_with("name one such as `debian:stable-slim`"), "{text}");
    }
    Ok(())
}

fn no_stranger(bench: &Bench) -> Result<(), Failed> {
    let place = bench.path("stranger.sock");
    let listener = std::os::unix::net::UnixListener::bind(&place)?;
    let greeter = std::thread::spawn(move || {
        for stream in listener.incoming().take(2).flatten() {
            let _gone = std::io::Write::write_all(&mut { stream }, b"220 mail.example.org\r\n");
        }
    });
    let socket = Some(format!("unix://{}", place.display()));
    let settings = bench.who.containers("metier-test/bash:latest");
    let error =
        refused(bench.who, ContainerExecutor::new(ContainerSettings { socket, ..settings }));
    assert!(matches!(error, ContainerError::Stranger { .. }), "{error:?}");
    let text = error.to_string();
    assert!(
        text.contains("stranger.sock") && text.ends_with("the socket of Docker or Podman"),
        "{text}"
    );
    greeter.join().expect("it only greets");
    Ok(())
}

fn another_skill(bench: &Bench) -> Result<(), Failed> {
    bench.write("skills/plain/SKILL.md", "---\nname: plain\n---\n");
    let named = |skill: &str| {
        let request =
            json!({"skill": skill, "command": "cat /proc/sys/kernel/hostname; touch .venv/x"});
        bench.run(request).map(|output| output.stdout)
    };
    let first = named("demo")?;
    assert_eq!(named("demo")?, first);
    let second = named("plain")?;
    assert_ne!(second, first);
    assert_eq!(named("plain")?, second);
    // There is one container a session all the same.
    let workspace = bench.runner.workspaces.workspace(&bench.key())?;
    assert!(block_on(container(bench).remove(&workspace))?);
    assert!(!block_on(container(bench).remove(&workspace))?);
    Ok(())
}

fn removed_folder(bench: &Bench) -> Result<(), Failed> {
    let output =
        bench.sh("cd /; rm -rf $RUN_DIR $RUN_DIR/..; echo text > $WORKSPACE_DIR/out/x; echo done");
    assert_eq!(output.stdout, "done\n", "{output:?}");
    assert!(bench.workspace().join("runs").join(&output.run).join("files").is_dir());
    assert_eq!(output.output_files[0].content.as_deref(), Some("text\n"), "{output:?}");
    Ok(())
}

fn no_engine(bench: &Bench) -> Result<(), Failed> {
    let at = |socket: &str| {
        let socket = Some(socket.to_owned());
        let settings = bench.who.containers("metier-test/bash:latest");
        ContainerExecutor::new(ContainerSettings { socket, ..settings })
    };
    let error = refused(bench.who, at("unix:///nowhere/engine.sock"));
    assert!(matches!(error, ContainerError::Unreachable { .. }), "{error:?}");
    assert!(error.to_string().contains("unix:///nowhere/engine.sock"), "{error}");
    let error = refused(bench.who, at("tcp://127.0.0.1:2375"));
    assert!(matches!(error, ContainerError::Address { .. }), "{error:?}");
    Ok(())
}

fn leftovers(bench: &Bench) -> Result<(), Failed> {
    bench.sh("true");
    let root = bench.workspace();
    let workspaces = &bench.runner.workspaces;
    let removed = || block_on(container(bench).remove_leftovers(workspaces));
    assert!(removed()?.is_empty(), "we are still here");
    // As it is when the one who used it is gone.
    std::fs::write(root.join(".container"), "1 12345678901 over")?;
    assert_eq!(removed()?.as_slice(), std::slice::from_ref(&root));
    bench.sh("true");
    std::fs::remove_dir_all(&root)?;
    assert_eq!(removed()?, [root]);
    assert!(removed()?.is_empty());
    Ok(())
}

fn confinement(bench: &Bench) -> Result<(), Failed> {
    let output = bench.sh("true");
    let confinement = serde_json::to_string_pretty(&output.confinement)?;
    insta::allow_duplicates!(insta::assert_snapshot!(confinement.replace(&output.run, "RUN"), @r#"
    {
      "executor": "container",
      "readable": [
        "/workspace/skills/demo"
      ],
      "writable": [
        "/workspace/work",
        "/workspace/out",
        "/workspace/.homes/demo",
        "/workspace/.venvs/demo",
        "/workspace/runs/RUN/files",
        "/tmp"
      ],
      "network": "none",
      "not_promised": [
        "telling signals from exit codes above 128"
      ]
    }
    "#));
    Ok(())
}

/// Leaves a command running that writes to `work/on`, as if the process had been killed.
fn abandon(bench: &Bench) -> Result<(), Failed> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    bench.sh("true");
    let order = bench.order(json!({
        "skill": "demo",
        "command": "echo kept > $RUN_DIR/kept; while :; do echo on > work/on; sleep 0.1; done"
    }));
    let live = Box::new(|_, _: &[u8]| {});
    let run = bench.runner.run(order, live, metier_sandbox::Cancel::new()?);
    let _still_running =
        runtime.block_on(async { tokio::time::timeout(Duration::from_millis(1500), run).await });
    drop(runtime);
    assert!(bench.workspace().join("work/on").exists());
    Ok(())
}

fn unseen_end(bench: &Bench) -> Result<(), Failed> {
    abandon(bench)?;
    let output =
        bench.sh("rm work/on; sleep 0.5; ls work; cat /proc/[0-9]*/cmdline | grep -c 'echo o[n]'");
    assert_eq!(output.stdout, "inputs\n0\n", "{output:?}");
    let runs = std::fs::read_dir(bench.workspace().join("runs"))?;
    let kept =
        runs.filter(|run| run.as_ref().is_ok_and(|it| it.path().join("files/kept").exists()));
    assert_eq!(kept.count(), 1, "its files are back");
    Ok(())
}

fn abandoned(bench: &Bench) -> Result<(), Failed> {
    abandon(bench)?;
    let on = bench.workspace().join("work/on");
    let is_written = || {
        std::fs::remove_file(&on).is_ok() && {
            std::thread::sleep(Duration::from_millis(1000));
            on.exists()
        }
    };
    let mut other = bench.again();
    other.session = "other".to_owned();
    let start = |other: &mut Bench| {
        other.runner.executor = other.who.container("metier-test/python:latest").into();
        other.sh("true");
    };
    start(&mut other);
    assert!(is_written(), "whoever runs it is still there");
    std::fs::write(bench.workspace().join(".container"), "1 12345678901 running")?;
    start(&mut other);
    assert!(on.exists() && !is_written(), "it was ended");
    Ok(())
}

fn quick(bench: &Bench) -> Result<(), Failed> {
    let start = Instant::now();
    bench.sh("true");
    let first = start.elapsed();
    let mut times: Vec<Duration> = Vec::new();
    for _ in 0..10 {
        let start = Instant::now();
        bench.sh("true");
        times.push(start.elapsed());
    }
    times.sort();
    let (median, first) = (times[5].as_millis(), first.as_millis());
    metier_testkit::report(
        &format!("a run in a warm container of {}", bench.who),
        &format!("{median} ms (median of 10), the first {first} ms"),
    );
    Ok(())
}
