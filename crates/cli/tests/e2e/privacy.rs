//! Files that hold keys: for their owner alone, whichever command makes them and whatever mask it is started with.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use metier_testkit::TestEnv;

use crate::{environment, write_skill};

/// Names of files that hold keys, or what was said to models and programs.
const WITH_KEYS: [&str; 10] = [
    "config.toml",
    "mcp-token",
    "metadata.json",
    "metier.db",
    "metier.db-shm",
    "metier.db-wal",
    "record.json",
    "stderr",
    "stdout",
    "trust.json",
];

/// An environment in which nothing is kept from others unless metier does.
fn open_to_all() -> TestEnv {
    let env = environment().through(&["/bin/sh", "-c", "umask 000; exec \"$@\"", "sh"]);
    write_skill(&env, "demo", "name: demo\ndescription: Demo. Use when testing.");
    env.skill("project/.metier/skills", "own", "Of the project.");
    env
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).expect("it is there").permissions().mode() & 0o777
}

fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry")) {
        if entry.file_type().expect("a kind").is_dir() {
            files_below(&entry.path(), found);
        } else {
            found.push(entry.path());
        }
    }
}

#[test]
fn whichever_command_makes_the_state_directory_it_is_for_its_owner_alone() {
    let made: [&[&str]; 9] = [
        &["skills", "list", "--skills-dir", "skills"],
        &["exec", "demo", "--skills-dir", "skills", "--", "echo out; echo err >&2"],
        &["exec", "demo", "--executor", "host", "--skills-dir", "skills", "--", "echo out"],
        &["run", "--skills-dir", "skills", "Hello."],
        &["mcp", "token"],
        &["trust", "."],
        &["approvals", "add", "ls"],
        &["setup", "--yes"],
        &["gc"],
    ];
    for command in made {
        let env = open_to_all();
        let state = env.home().join(".metier");
        let outcome = env.run(command);
        assert!(state.is_dir(), "{command:?} made nothing: {outcome}");
        assert_eq!(mode(&state), 0o700, "{command:?}: {outcome}");
        let mut files = Vec::new();
        files_below(&state, &mut files);
        for file in files {
            let name = file.file_name().expect("a name").to_string_lossy().into_owned();
            if WITH_KEYS.contains(&name.as_str()) {
                assert_eq!(mode(&file), 0o600, "{command:?}: {}", file.display());
            }
        }
    }
}

#[test]
fn a_file_with_keys_that_others_can_read_is_named_with_the_command_that_ends_it() {
    let env = environment();
    write_skill(&env, "demo", "name: demo\ndescription: Demo. Use when testing.");
    let settings = "[skills.entries.demo]\napi_key = 'sk-secret-key'\n";
    let file = env.write("home/.metier/config.toml", settings);
    let warned = |arguments: &[&str]| {
        let stderr = env.run(arguments).stderr;
        stderr.lines().filter(|line| line.starts_with("warning")).collect::<Vec<_>>().join("\n")
    };
    let list = ["skills", "list", "--skills-dir", "skills"];
    assert_snapshot!(warned(&list), @"");
    fs::set_permissions(&file, Permissions::from_mode(0o640)).expect("a file of ours");
    assert_snapshot!(warned(&list), @"warning: others can read `[HOME]/.metier/config.toml`, which holds keys; run `chmod 600 [HOME]/.metier/config.toml`");
    assert_snapshot!(warned(&["-q", "skills", "list", "--skills-dir", "skills"]), @"");
    let doctor = env.run(["doctor", "--json"]).stdout;
    assert!(doctor.contains("chmod 600 [HOME]/.metier/config.toml"), "{doctor}");
    // A key of a skill is a key, also one that begins like a variable.
    fs::write(&file, "[skills.entries.demo]\napi_key = '$ecret-key-1'\n").expect("a file of ours");
    assert!(warned(&list).contains("chmod 600"));
    fs::write(&file, "[mcp.servers.far]\ncommand = 'far'\nenv.KEY = '$KEY'\n").expect("ours");
    assert_snapshot!(warned(&list), @"");
    // Settings without a key may be read by anybody.
    fs::write(&file, "[skills]\ncatalog_tokens = 4000\n").expect("a file of ours");
    assert_snapshot!(warned(&list), @"");
    fs::set_permissions(env.home().join(".metier"), Permissions::from_mode(0o777)).expect("ours");
    assert_snapshot!(warned(&list), @"warning: others can write to `[HOME]/.metier`, where keys are kept; run `chmod 700 [HOME]/.metier`");
}
