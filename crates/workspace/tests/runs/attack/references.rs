//! References and patterns of a call that name what belongs to other skills or to metier itself.

use std::fs;

use libtest_mimic::Failed;
use metier_workspace::RunOutput;
use serde_json::json;

use super::requests::all_are_refused;
use super::skills::keyed;
use crate::bench::{Bench, Renamed};

/// What every file holds that may not be had.
const SECRET: &str = "very-private";

/// Lets the skill `other` leave files at all places of its own, with and without a key, and returns its runs.
fn with_files_of_another_skill(bench: &Bench) -> Result<[RunOutput; 2], Failed> {
    let command = format!(
        "for d in $HOME $TMPDIR $RUN_DIR .venv; do mkdir -p $d; echo {SECRET} > $d/secret.txt; done; \
         seq 1 20000; echo {SECRET}"
    );
    let trees = vec![bench.tree("demo").renamed("other")];
    let plain = bench.run_trees(json!({"skill": "other", "command": command}), trees)?;
    let with_key = keyed(bench, json!({ "command": command }))?;
    Ok([plain, with_key])
}

/// The places of a workspace at which the runs have left something, and the folders above them.
fn places(runs: &[RunOutput; 2]) -> Vec<String> {
    let mut places: Vec<String> = [
        ".homes/other/secret.txt",
        ".homes/other",
        ".homes",
        ".venvs/other/secret.txt",
        "skills/other/.venv/secret.txt",
        ".private/other/.homes/other/secret.txt",
        ".private/other/work",
        ".private/other/out",
        ".private/other",
        ".private",
    ]
    .map(str::to_owned)
    .to_vec();
    for run in runs {
        for inside in ["files/secret.txt", "files/tmp/secret.txt", "files/tmp", "files"] {
            places.push(format!("runs/{}/{inside}", run.run));
            places.push(format!(".private/other/runs/{}/{inside}", run.run));
        }
    }
    places
}

pub(super) fn workspace_reference_to_a_skills_own(bench: &Bench) -> Result<(), Failed> {
    let runs = with_files_of_another_skill(bench)?;
    let root = bench.workspace();
    assert_eq!(fs::read_to_string(root.join(".homes/other/secret.txt"))?, format!("{SECRET}\n"));
    let references = places(&runs).into_iter().map(|it| format!("workspace://{it}"));
    all_are_refused(bench, &references.collect::<Vec<_>>());
    // What a run said is there for others, by its reference.
    let stream = runs[0].stdout_ref.as_deref().ok_or("a long stream has a reference")?;
    for mode in ["copy", "link"] {
        let inputs = json!([{"from": stream, "to": "work/inputs/said", "mode": mode}]);
        let request =
            json!({"skill": "demo", "command": "tail -n 1 inputs/said", "inputs": inputs});
        assert_eq!(bench.run(request)?.stdout, format!("{SECRET}\n"), "{mode}");
    }
    Ok(())
}

pub(super) fn workspace_reference_to_records(bench: &Bench) -> Result<(), Failed> {
    let run = bench.sh("echo made > out/made; echo said").run;
    let root = bench.workspace();
    assert!(root.join("runs").join(&run).join("record.json").is_file());
    let mut references = vec![
        "workspace://".to_owned(),
        "workspace://.".to_owned(),
        "workspace://$WORKSPACE_DIR".to_owned(),
        "workspace://metadata.json".to_owned(),
        "workspace://.lock".to_owned(),
        "workspace://skills".to_owned(),
        "workspace://skills/demo/SKILL.md".to_owned(),
        "workspace://$SKILLS_DIR/demo".to_owned(),
        "workspace://$RUN_DIR".to_owned(),
        "workspace://runs".to_owned(),
    ];
    references.push(format!("workspace://runs/{run}"));
    references.push(format!("workspace://runs/{run}/record.json"));
    all_are_refused(bench, &references);
    Ok(())
}

pub(super) fn pattern_for_files_of_others(bench: &Bench) -> Result<(), Failed> {
    let runs = with_files_of_another_skill(bench)?;
    let mut patterns = places(&runs);
    patterns.extend(places(&runs).iter().map(|it| format!("{it}/**")));
    patterns.push(format!("runs/{}/stdout", runs[0].run));
    patterns.push(format!("runs/{}/record.json", runs[0].run));
    for wide in [
        "**",
        "*",
        "*/**",
        "{.homes,.private,runs}/**",
        "[.]*/**",
        "r*/*/*",
        "?homes/*/*",
        "\\.homes/**",
    ] {
        patterns.push(wide.to_owned());
    }
    for pattern in patterns {
        let request = json!({
            "skill": "demo", "command": "echo own > $RUN_DIR/own; echo own > out/own",
            "outputs": {"globs": [pattern], "inline": true}
        });
        let Ok(output) = bench.run(request) else { continue };
        let own = format!("runs/{}/files/", output.run);
        let is_own = |name: &str| {
            name.starts_with("out/") || name.starts_with("work/") || name.starts_with(&own)
        };
        assert!(output.output_files.iter().all(|it| is_own(&it.name)), "{pattern}: {output:?}");
        assert!(!format!("{:?}", output.output_files).contains(SECRET), "{pattern}");
    }
    Ok(())
}
