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
    assert_snapshot!(commands.join(","), @", skills, skills list, skills info, skills explain, skills docs, skills search, skills catalog, skills tokens, skills trust, skills lint, skills install-deps, skills new, validate, read-properties, to-prompt, trust, run, chat, sessions, sessions list, sessions show, sessions rm, sessions export, usage, approvals, approvals list, approvals add, approvals revoke, approvals check, exec, mcp, mcp servers, mcp token, mcp install, read, artifacts, artifacts list, artifacts get, artifacts versions, artifacts rm, gc, doctor, bench, bench prompt-cache, bench token-report, demo, demo load-modes, setup, config, config show, config sample, config schema");
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
    let entry = settings.split("\n### ").find(|entry| entry.starts_with("skills.denied\n"));
    assert_snapshot!(entry.unwrap_or_default(), @"
    skills.denied

    Names or globs of skills that are not used.

    - Type: list of names or globs of names
    - Default: `[]`
    - Variable: `METIER_SKILLS_DENIED`
    - A project may add to it
    ");
    let rules = run(&env, "__reference --page rules").stdout;
    let entry = rules.split("\n### ").find(|entry| entry.starts_with("M083\n"));
    assert_snapshot!(entry.unwrap_or_default(), @"
    M083

    **A skill of a project lies inside the project.** Severity: error.

    A link among the skills of a project leads out of the project. A project that was downloaded could bring in files of yours that way, so the link is not followed. Move the skill into the project, or allow its place with `skills.allow_symlink_targets`.

    **Bad**

    `.agents/skills/invoices` is a link to `../../../shared/invoices`

    `../shared/invoices/SKILL.md`

    ```markdown
    ---
    name: invoices
    description: Writes invoices. Use when somebody asks for an invoice.
    ---

    Ask for the customer and the amount, then write the invoice.
    ```

    ```console
    $ metier skills lint
    ```

    **Good**

    `.agents/skills/invoices/SKILL.md`

    ```markdown
    ---
    name: invoices
    description: Writes invoices. Use when somebody asks for an invoice.
    ---

    Ask for the customer and the amount, then write the invoice.
    ```

    ```console
    $ metier skills lint
    ```
    ");
    assert!(rules.contains("\n| [M083](#m083) | A skill of a project lies inside the project |"));
    assert!(!run(&env, "--help").stdout.contains("__reference"));
}

#[test]
fn the_version_is_told() {
    let version = concat!("0 | metier ", env!("CARGO_PKG_VERSION"), " |");
    assert_eq!(compact(&run(&environment(), "--version")), version);
}
