//! Root that may not mount, as in most containers: programs run as nobody, in folders of root's.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use libtest_mimic::{Failed, Trial};
use metier_sandbox::{Level, is_root_without_mounts, unprivileged_owner};
use metier_testkit::run_as_root_of_a_container;
use metier_workspace::RunError;
use metier_workspace::executor::{ExecuteError, Firmness, LocalExecutor};
use serde_json::json;

use crate::Promise;
use crate::bench::{Bench, Who, let_others_pass};

const PROMISES: &[Promise] = &[
    ("a_command_of_root_runs_as_nobody", runs_as_nobody),
    ("what_is_above_a_workspace_lets_programs_through_and_shows_nothing", shows_nothing),
    ("another_session_is_out_of_reach", another_session),
    ("one_skill_plants_nothing_for_another", skills),
    ("a_folder_of_others_that_is_closed_is_named_and_stays_closed", closed_folder),
];

/// These, if this process is such a root; else one that becomes it, if it can.
pub(crate) fn trials() -> Vec<Trial> {
    if is_root_without_mounts() {
        let trial = |&(name, promise): &Promise| {
            Trial::test(format!("lesser::{name}"), move || promise(&bench()))
        };
        return PROMISES.iter().map(trial).collect();
    }
    let become_it = || Ok(run_as_root_of_a_container("lesser::")?);
    let is_root = unprivileged_owner().is_some();
    is_root.then(|| Trial::test("as_root_of_a_container", become_it)).into_iter().collect()
}

/// A place in folders that everybody may pass.
fn bench() -> Bench {
    let mut bench = Bench::new(Who::Sandbox);
    let firmness = Firmness::Confined;
    bench.runner.executor = LocalExecutor::Sandbox(firmness).into();
    let_others_pass(&[&bench.path(""), &bench.path("state")]);
    bench
}

fn runs_as_nobody(bench: &Bench) -> Result<(), Failed> {
    for _ in 0..2 {
        let ran = bench.sh("id -u; sh scripts/hello.sh; echo $SKILL_NAME > out/name; cat out/name");
        assert_eq!(
            (ran.stdout.as_str(), ran.stderr.as_str()),
            ("65534\nhello from demo\ndemo\n", "")
        );
        assert_eq!(ran.confinement.level, Some(Level::Landlock));
        assert_eq!(ran.output_files.len(), 1);
    }
    Ok(())
}

fn shows_nothing(bench: &Bench) -> Result<(), Failed> {
    let ran = bench.sh(
        "for f in $WORKSPACE_DIR $WORKSPACE_DIR/runs $WORKSPACE_DIR/.. $WORKSPACE_DIR/../../..; do \
         ls $f; touch $f/new; done; cat $WORKSPACE_DIR/metadata.json $RUN_DIR/../record.json; \
         echo x >> SKILL.md; rm -r $WORKSPACE_DIR/skills/demo",
    );
    assert_eq!(ran.stdout, "");
    let workspace = bench.workspace();
    for folder in workspace.ancestors().take(4).chain([&*workspace.join("runs")]) {
        let found = folder.metadata()?;
        assert_eq!(
            (found.mode() & 0o777, found.uid(), found.gid()),
            (0o710, 0, 65534),
            "{folder:?}"
        );
    }
    Ok(())
}

fn another_session(bench: &Bench) -> Result<(), Failed> {
    bench.sh("echo private > out/secret");
    let secret = bench.workspace().join("out/secret");
    let mut other = bench.again();
    other.session = "other".to_owned();
    let ran = other.sh(&format!("cat {0}; echo x > {0}", secret.display()));
    assert_eq!((ran.stdout.as_str(), ran.exit_code), ("", Some(1)));
    assert_eq!(fs::read_to_string(secret)?, "private\n");
    Ok(())
}

/// What one skill tries against another, where nothing is mounted.
fn skills(bench: &Bench) -> Result<(), Failed> {
    crate::attack::AGAINST_SKILLS.iter().try_for_each(|attempt| {
        let mut bench = bench.again();
        bench.session = format!("{attempt:?}");
        attempt(&bench)
    })
}

fn closed_folder(bench: &Bench) -> Result<(), Failed> {
    let state = bench.path("state");
    fs::set_permissions(&state, fs::Permissions::from_mode(0o700))?;
    let refused = bench.run(json!({ "skill": "demo", "command": "true" }));
    let Err(RunError::Execute(ExecuteError::Barred { folder })) = &refused else {
        return Err(format!("{refused:?}").into());
    };
    assert_eq!(folder, Path::new(&state));
    assert_eq!(state.metadata()?.mode() & 0o777, 0o700);
    Ok(())
}
