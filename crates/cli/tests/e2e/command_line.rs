//! Help, mistakes, and the reference that the documents are made of.

use insta::assert_snapshot;

use crate::{compact, environment, run};

#[test]
fn every_command_has_help() {
    let env = environment();
    let reference = run(&env, "__reference").stdout;
    let commands: Vec<&str> = reference
        .lines()
        .filter_map(|line| line.strip_prefix("## `metier")?.strip_suffix('`'))
        .collect();
    assert_snapshot!(commands.join(","), @", skills, skills list, skills info, skills explain, skills docs, skills search, skills catalog, skills tokens, skills trust, skills lint, skills install-deps, skills new, validate, read-properties, to-prompt, trust, run, chat, sessions, sessions list, sessions show, sessions rm, sessions export, usage, approvals, approvals list, approvals add, approvals revoke, approvals check, exec, mcp, mcp servers, mcp token, mcp install, read, artifacts, artifacts list, artifacts get, artifacts versions, artifacts rm, gc, doctor, bench, bench prompt-cache, bench token-report, demo, demo load-modes, setup, config, config show");
    for command in commands {
        let outcome = run(&env, &format!("{command} --help"));
        assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{command}");
        assert!(outcome.stdout.contains(&format!("Usage: metier{command}")), "{outcome}");
        assert_eq!(run(&env, &format!("{command} -h")).code, 0);
    }
}

#[test]
fn a_command_that_is_not_one_is_a_mistake() {
    let env = environment();
    assert_snapshot!(run(&env, "frobnicate"), @"
    exit 2
    ----- stdout

    ----- stderr
    error: unrecognized subcommand 'frobnicate'

    Usage: metier [OPTIONS] <COMMAND>

    For more information, try '--help'.
    ");
    for line in [
        "",
        "skills",
        "skills list --frob",
        "skills info",
        "validate",
        "skills search",
        "trust --list x",
    ] {
        let outcome = run(&env, line);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{line}");
        assert!(outcome.stderr.contains("Usage: metier"), "{line}");
    }
}

#[test]
fn the_reference_covers_commands_and_settings() {
    let env = environment();
    let commands = run(&env, "__reference");
    assert_eq!((commands.code, commands.stderr.as_str()), (0, ""));
    assert!(commands.stdout.contains("| `--skills-dir DIR` |"));
    let settings = run(&env, "__reference --page config").stdout;
    assert!(
        settings.contains("| `skills.denied` (list) | `METIER_SKILLS_DENIED` | `[]` | may add |"),
        "{settings}"
    );
    assert!(!run(&env, "--help").stdout.contains("__reference"));
}

#[test]
fn the_version_is_told() {
    let version = concat!("0 | metier ", env!("CARGO_PKG_VERSION"), " |");
    assert_eq!(compact(&run(&environment(), "--version")), version);
}
