//! An executor as a program would bring it: the same promises hold for it, and what it cannot do is refused.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use libtest_mimic::Failed;
use metier_sandbox::{Cancel, Command, Job, Outcome, Policy, Program, SpawnError};
use metier_workspace::executor::{
    CustomCommand, CustomExecutor, CustomOutcome, CustomRun, CustomWatch, ExecuteError,
};
use metier_workspace::interactive::{Interactive, InteractiveOptions, StartOptions, Waiting};
use metier_workspace::request::Confinement;
use metier_workspace::{Manner, RunError, RunOrder};
use serde_json::json;

use crate::Promise;
use crate::bench::{Bench, block_on};

/// What holds for an executor of a program's own alone.
pub(crate) const PROMISES: &[Promise] = &[
    ("what_it_says_of_itself_is_told_under_its_name", told),
    ("nobody_talks_to_its_programs", not_interactive),
    ("one_that_does_not_see_the_host_gets_no_plans", confined),
    ("its_errors_are_told_with_their_cause", fails),
    ("a_place_of_its_own_is_where_programs_find_everything", elsewhere),
    ("what_it_is_shown_names_variables_and_no_values", shown),
];

/// Runs commands unconfined, as the executor `host` does, and in a way of its own.
#[derive(Debug)]
pub(crate) struct Unconfined;

#[async_trait]
impl CustomExecutor for Unconfined {
    fn name(&self) -> &'static str {
        "custom"
    }

    fn sees_host(&self) -> bool {
        true
    }

    async fn execute(
        &self,
        run: CustomRun,
        mut watch: CustomWatch,
    ) -> Result<CustomOutcome, ExecuteError> {
        let words = |words: Vec<String>| words.into_iter().map(Into::into).collect();
        let command = match run.command {
            CustomCommand::Shell(text) => {
                Command::Arguments(words(vec!["/bin/bash".to_owned(), "-c".to_owned(), text]))
            }
            CustomCommand::Arguments(arguments) => Command::Arguments(words(arguments)),
            CustomCommand::Plan(walk) => Command::Plan(walk),
            _ => return Err(ExecuteError::HostOnly(self.name())),
        };
        let environment = run.environment.into_iter();
        let environment = environment.map(|(name, value)| (name.into(), value.into())).collect();
        let program = Program { command, environment, directory: run.directory };
        let mut policy = Policy::unconfined();
        for folder in &run.writable {
            let folder = run.workspace.join(folder);
            policy = policy.grant(&folder, &folder, metier_sandbox::Access::Write);
        }
        let job = Job { program, policy, limits: run.limits };
        let running = move || -> Result<Outcome, SpawnError> {
            let cancel = watch.cancel();
            metier_sandbox::run(&job, &run.input, &mut watch, &cancel)
        };
        let outcome =
            tokio::task::spawn_blocking(running).await.map_err(std::io::Error::other)??;
        let Outcome { ended, timed_out, cancelled, .. } = outcome;
        let network = "host".to_owned();
        let confinement = Confinement { network, ..Confinement::nothing() };
        Ok(CustomOutcome { ended, timed_out, cancelled, confinement, warnings: Vec::new() })
    }
}

/// Runs nothing: it tells what it was given, fails, or does not come to an end.
#[derive(Debug)]
enum Pretend {
    Tell,
    Fail,
    Hang,
}

#[async_trait]
impl CustomExecutor for Pretend {
    fn name(&self) -> &'static str {
        "pretend"
    }

    fn sees_host(&self) -> bool {
        false
    }

    fn view(&self, _: &std::path::Path) -> std::path::PathBuf {
        "/elsewhere".into()
    }

    async fn execute(
        &self,
        run: CustomRun,
        mut watch: CustomWatch,
    ) -> Result<CustomOutcome, ExecuteError> {
        match self {
            Self::Tell => {}
            Self::Fail => {
                let source = "the other machine is off".into();
                return Err(ExecuteError::Custom { executor: self.name(), source });
            }
            Self::Hang => {
                while !watch.cancel().is_cancelled() {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
                let outcome = CustomOutcome::exited(1, Confinement::nothing());
                return Ok(CustomOutcome { cancelled: true, ..outcome });
            }
        }
        let script = run.workspace.join("skills/demo/scripts/hello.sh");
        assert!(script.is_file(), "the skill is there");
        let variable = |name: &str| {
            let found = run.environment.iter().find(|(other, _)| other == name);
            found.map(|(_, value)| value.clone()).unwrap_or_default()
        };
        let told = format!("{} {}\n", run.directory.display(), variable("OUTPUT_DIR"));
        watch.write_output(told.as_bytes());
        watch.write_error(format!("{run:?}\n").as_bytes());
        std::fs::write(run.workspace.join("out/made.txt"), "made elsewhere\n")?;
        let outcome = CustomOutcome::exited(3, run.confinement());
        Ok(CustomOutcome { warnings: vec!["it only pretended".to_owned()], ..outcome })
    }
}

fn with(executor: Pretend) -> Bench {
    let mut bench = Bench::new(crate::bench::Who::Custom);
    bench.runner.executor = Arc::new(executor).into();
    bench
}

fn told(bench: &Bench) -> Result<(), Failed> {
    let output = bench.sh("true");
    let confinement = serde_json::to_value(&output.confinement)?;
    assert_eq!(
        confinement,
        json!({ "executor": "custom", "readable": [], "writable": [], "network": "host" })
    );
    Ok(())
}

fn not_interactive(bench: &Bench) -> Result<(), Failed> {
    let programs = Interactive::new(InteractiveOptions::default());
    let options = StartOptions { terminal: None, waiting: Waiting::FIRST };
    let order = bench.order(json!({"skill": "demo", "command": "cat"}));
    let refused = block_on(programs.start(&bench.runner, order, options));
    let refused = refused.expect_err("nobody can talk to it");
    insta::assert_snapshot!(refused.to_string(), @"the executor `custom` has no interactive sessions; use `sandbox` or `host`, or give the command its `stdin`");
    Ok(())
}

fn confined(_: &Bench) -> Result<(), Failed> {
    let bench = with(Pretend::Tell);
    let order = bench.order(json!({"skill": "demo", "command": "true"}));
    let plan = Manner::Plan(metier_sandbox::Walk { steps: Vec::new() });
    let somewhere = Some(bench.path("skills"));
    let orders =
        [RunOrder { manner: plan, ..order.clone() }, RunOrder { outside: somewhere, ..order }];
    for order in orders {
        let live = Box::new(|_, _: &[u8]| {});
        let refused = block_on(bench.runner.run(order, live, Cancel::new()?));
        assert!(
            matches!(refused, Err(RunError::Execute(ExecuteError::HostOnly("pretend")))),
            "{refused:?}"
        );
    }
    Ok(())
}

fn fails(_: &Bench) -> Result<(), Failed> {
    let refused = with(Pretend::Fail).run(json!({"skill": "demo", "command": "true"}));
    let error = refused.expect_err("it cannot be run");
    insta::assert_snapshot!(error.to_string(), @"the executor `pretend` could not run the command: the other machine is off");
    let hanging = with(Pretend::Hang);
    let cancel = Cancel::new()?;
    let (later, start) = (cancel.clone(), Instant::now());
    let stopping = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        later.cancel();
    });
    let output = hanging.run_until(json!({"skill": "demo", "command": "true"}), cancel)?;
    stopping.join().map_err(|_| "a thread")?;
    assert!(output.cancelled && start.elapsed() < Duration::from_secs(5), "{output:?}");
    Ok(())
}

fn elsewhere(_: &Bench) -> Result<(), Failed> {
    let bench = with(Pretend::Tell);
    let output = bench.run(json!({
        "skill": "demo", "command": "true",
        "outputs": {"globs": ["out/**"], "inline": true, "save": true}
    }))?;
    assert_eq!(output.stdout, "/elsewhere/skills/demo /elsewhere/out\n");
    assert_eq!((output.exit_code, output.confinement.executor.as_str()), (Some(3), "pretend"));
    assert_eq!(output.output_files[0].content.as_deref(), Some("made elsewhere\n"));
    assert_eq!(output.artifact_files[0].reference, "artifact://out/made.txt@0");
    assert_eq!(output.warnings, ["it only pretended"]);
    // It keeps to what the run is to have, and says so in the words of what the command sees.
    let confinement = output.confinement;
    assert_eq!(confinement.readable, ["/elsewhere/skills/demo"]);
    let has = |folder: &str| confinement.writable.iter().any(|it| it == folder);
    assert!(has("/elsewhere/out") && has("/elsewhere/work"), "{:?}", confinement.writable);
    assert_eq!(confinement.network, "none");
    Ok(())
}

fn shown(_: &Bench) -> Result<(), Failed> {
    let mut bench = with(Pretend::Tell);
    bench.settings.variables = vec![("TOKEN".to_owned(), "very-secret".to_owned())];
    let output = bench.sh("true");
    assert!(output.stderr.contains("TOKEN") && !output.stderr.contains("very-secret"));
    Ok(())
}
