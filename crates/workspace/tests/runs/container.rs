//! What holds for containers alone.

use std::time::{Duration, Instant};

use libtest_mimic::Failed;
use metier_workspace::executor::{
    ContainerError, ContainerExecutor, ContainerSettings, ExecuteError, Executor, Network,
};
use metier_workspace::proxy::AllowList;
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
    ("an_engine_that_does_not_answer_is_named", no_engine),
    ("a_list_of_addresses_needs_the_sandbox", no_proxy),
    ("containers_go_with_their_workspaces", leftovers),
    ("what_was_confined_is_told", confinement),
    ("as_many_processes_as_allowed", processes),
    ("a_run_that_nobody_saw_to_its_end_is_ended_by_the_next", unseen_end),
    ("a_warm_container_is_quick", quick),
];

fn host_name(bench: &Bench) -> String {
    bench.sh("cat /proc/sys/kernel/hostname").stdout
}

fn container(bench: &Bench) -> &ContainerExecutor {
    match &bench.runner.executor {
        Executor::Container(container) => container,
        Executor::Local(_) => unreachable!("these tests are for containers"),
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

fn no_proxy(bench: &Bench) -> Result<(), Failed> {
    let mut bench = Bench::new(bench.who);
    let entries = vec!["example.org:443".to_owned()];
    bench.settings.network = Network::Listed(AllowList::parse(&entries)?, entries);
    let result = bench.run(json!({"skill": "demo", "command": "true"}));
    assert!(matches!(result, Err(RunError::Execute(ExecuteError::NoProxy))), "{result:?}");
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
    insta::assert_snapshot!(confinement.replace(&output.run, "RUN"), @r#"
    {
      "executor": "container",
      "readable": [
        "/workspace/skills/demo"
      ],
      "writable": [
        "/workspace/work",
        "/workspace/out",
        "/workspace/.venvs",
        "/workspace/runs/RUN/files",
        "/tmp"
      ],
      "network": "none",
      "not_promised": [
        "tells a signal from an exit code above 128",
        "the disk"
      ]
    }
    "#);
    Ok(())
}

fn processes(bench: &Bench) -> Result<(), Failed> {
    let mut bench = Bench::new(bench.who);
    bench.settings.limits.processes = 20;
    let command = "i=0; while [ $i -lt 200 ]; do (sleep 100 &) || break; i=$((i+1)); done; echo $i";
    let start = Instant::now();
    let output = bench.run(json!({"skill": "demo", "command": command, "timeout": 2}))?;
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    assert!(!output.stdout.contains("200"), "{output:?}");
    assert_eq!(bench.sh("echo fine").stdout, "fine\n");
    Ok(())
}

fn unseen_end(bench: &Bench) -> Result<(), Failed> {
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
    // As if the process had been killed.
    drop(runtime);
    assert!(bench.workspace().join("work/on").exists());
    let output =
        bench.sh("rm work/on; sleep 0.5; ls work; cat /proc/[0-9]*/cmdline | grep -c 'echo o[n]'");
    assert_eq!(output.stdout, "inputs\n0\n", "{output:?}");
    let runs = std::fs::read_dir(bench.workspace().join("runs"))?;
    let kept =
        runs.filter(|run| run.as_ref().is_ok_and(|it| it.path().join("files/kept").exists()));
    assert_eq!(kept.count(), 1, "its files are back");
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
