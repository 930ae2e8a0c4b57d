//! Help, mistakes, and the reference that the documents are made of.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use insta::assert_snapshot;

use crate::{compact, environment, run};

#[test]
fn a_command_that_is_not_one_is_a_mistake() {
    let env = environment();
    assert_snapshot!(run(&env, "frobnicate"), @"
    exit 2
    ----- stdout

    ----- stderr
    error: there is no command `frobnicate`
    hint: `metier --help` lists the commands
    ");
    for line in [
        "skills",
        "skills list --frob",
        "skills info",
        "validate",
        "skills search",
        "trust --list x",
    ] {
        let outcome = run(&env, line);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{line}");
        assert!(outcome.stderr.contains("metier") && outcome.stderr.contains("--help"), "{line}");
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
fn a_variable_of_ours_that_is_not_text_is_refused_and_not_passed_over() {
    let env = environment();
    let said = |name: &str| {
        let mut command = env.command(env.binary());
        command.args(["config", "show"]).env(name, OsStr::from_bytes(b"/tmp/\xff"));
        let output = command.output().expect("it starts");
        let text = String::from_utf8_lossy(&output.stderr).trim_end().replace('\n', " / ");
        format!("{} | {text}", output.status.code().unwrap_or(-1))
    };
    assert_snapshot!(said("METIER_HOME"), @"2 | error: the variable METIER_HOME is not text in UTF-8 / hint: set it to a value in UTF-8, or unset it");
    assert_snapshot!(said("HOME"), @"2 | error: the variable HOME is not text in UTF-8 / hint: set it to a value in UTF-8, or unset it");
    assert!(said("OTHER").starts_with("0 |"), "{}", said("OTHER"));
}

#[test]
fn json_is_an_option_of_what_prints_some() {
    let env = environment();
    for line in ["artifacts get x --json", "sessions export x --json"] {
        let outcome = run(&env, line);
        assert_eq!(outcome.code, 2, "{outcome}");
        assert!(outcome.stderr.starts_with("error: there is no option `--json` here"), "{outcome}");
    }
}

#[test]
fn the_version_is_told() {
    let version = concat!("0 | metier ", env!("CARGO_PKG_VERSION"), " |");
    assert_eq!(compact(&run(&environment(), "--version")), version);
}
