//! What the README promises to somebody who has nothing but the README.

use std::fs;

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
