//! What the README promises to somebody who has nothing but the README.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use metier_testkit::as_root_of_a_container;

use crate::environment;

/// The arguments of the first `cargo run` of the README, which has one of them in quotes.
fn first_command() -> Vec<String> {
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md");
    let readme = fs::read_to_string(readme).expect("there is a README");
    let line = readme.lines().find_map(|line| line.strip_prefix("cargo run --release -- "));
    let line = line.expect("it begins with a command");
    let (words, quoted) = line.split_once(" \"").expect("a task is in quotes");
    let task = quoted.strip_suffix('"').expect("nothing comes after the task");
    words.split(' ').chain([task]).map(str::to_owned).collect()
}

#[test]
fn the_first_command_of_the_readme_makes_a_file_with_a_bundled_skill() {
    let env = environment().with_variable("PATH", "/usr/local/bin:/usr/bin:/bin");
    let outcome = env.run(first_command());
    assert_eq!(outcome.code, 0, "{outcome}");
    let told: Vec<&str> = outcome.stderr.lines().collect();
    assert_eq!(told[0], "loaded csv-stats", "{outcome}");
    assert!(told[1].starts_with("ran csv-stats: python3 scripts/csv_chart.py"), "{outcome}");
    assert!(outcome.stdout.contains("`out/by_region.svg`"), "{outcome}");
    let folder = told.iter().find_map(|line| line.strip_prefix("in [HOME]/")).expect("a folder");
    let chart = env.home().join(folder).join("out/by_region.svg");
    assert!(fs::read_to_string(chart).expect("a chart").starts_with("<svg"));
}

/// Everybody may pass this home until the first command makes the state directory in it.
#[test]
fn the_first_command_of_root_in_a_container_runs_like_later_ones() {
    if metier_sandbox::unprivileged_owner().is_none() {
        return;
    }
    let env = environment().with_variable("PATH", "/usr/local/bin:/usr/bin:/bin");
    let env = env.through(&as_root_of_a_container());
    for folder in [env.root(), env.home(), env.project()] {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o755)).expect("a folder of ours");
    }
    let outcome = env.run(first_command());
    let usual = env.home().join(".metier/workspaces").display().to_string();
    let folder = Path::new("/var/lib/metier").join(usual.replace('/', "%2f"));
    let is_shared = folder.is_dir();
    let _other_place = fs::remove_dir_all(&folder);
    let _used_by_others = fs::remove_dir("/var/lib/metier");
    assert!(is_shared && outcome.stderr.contains("workspace://out/by_region.svg"), "{outcome}");
}
