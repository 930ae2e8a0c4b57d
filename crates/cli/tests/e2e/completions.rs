//! Completion, asked for in the shells themselves.

use std::path::Path;
use std::process::Command;

use insta::assert_snapshot;
use metier_testkit::server::{Reply, Server};
use metier_testkit::{Terminal, TestEnv, skip};

use crate::{environment, run, write_skill};

/// A place where `metier` is on the `PATH`, beside the programs of the system.
fn with_shell() -> TestEnv {
    let folder = Path::new(env!("CARGO_BIN_EXE_metier")).parent().expect("a file has a folder");
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", folder.display());
    environment().with_variable("PATH", &path)
}

/// What Bash offers when somebody presses Tab at the end of a line, with what it would replace.
fn bash(env: &TestEnv, line: &str, replaced: &str) -> String {
    let script = "
        eval \"$(metier completions bash)\"
        compopt() { echo \"compopt $*\"; }
        COMP_LINE=$1 COMP_POINT=${#1}
        _metier metier \"$2\" before
        printf '%s\\n' \"${COMPREPLY[@]}\"";
    let mut command = env.command("bash");
    command.args(["--norc", "-c", script, "bash", line, replaced]);
    let outcome = env.finish(command, "");
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{line}: {outcome}");
    outcome.stdout.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn bash_completes_commands_options_values_and_names() {
    let env = with_shell();
    let offers = |line: &str| {
        let replaced = line.rsplit([' ', '=', ':']).next().unwrap_or_default();
        format!("{line}| {}", bash(&env, line, replaced))
    };
    assert_snapshot!(
        [
            "metier sk",
            "metier skills explain c",
            "metier skills explain ",
            "metier exec num",
            "metier run --skill c",
            "metier run --skill=c",
            "metier run --skills-d",
            "metier run --executor ",
            "metier --color a",
            "metier skills docs csv-stats ",
            "metier read skill://csv",
            "metier skills lint --sk",
            "metier chat --agent ",
            "metier completions z",
            "metier skills frobnicate ",
            "metier validate ",
            "metier run task file",
        ]
        .map(offers)
        .join("\n"),
        @"
    metier sk| skills
    metier skills explain c| csv-stats
    metier skills explain | csv-stats log-lens number-lab text-diff
    metier exec num| number-lab
    metier run --skill c| csv-stats
    metier run --skill=c| csv-stats
    metier run --skills-d| --skills-dir
    metier run --executor | sandbox host container
    metier --color a| auto always
    metier skills docs csv-stats | references/reading.md
    metier read skill://csv| //csv-stats/SKILL.md
    metier skills lint --sk| --skills-dir --skill
    metier chat --agent | default
    metier completions z| zsh
    metier skills frobnicate | list search info explain docs catalog tokens new lint install-deps trust help
    metier validate | compopt -o default
    metier run task file| compopt -o default
    "
    );
}

#[test]
fn sessions_and_artifacts_are_completed_once_there_are_any() {
    let env = with_shell();
    assert_eq!(bash(&env, "metier sessions show x", "x"), "");
    assert_eq!(bash(&env, "metier artifacts get x", "x"), "");
    assert_eq!(bash(&env, "metier skills docs csv-stats r", "r"), "references/reading.md");
    assert!(!env.home().join(".metier").exists(), "to look is no reason to make anything");
    let made = run(&env, "run --session monday --model offline hello");
    assert_eq!(made.code, 0, "{made}");
    assert_eq!(bash(&env, "metier sessions show m", "m"), "monday");
    let mut command = env.command(env.binary());
    command.args(["exec", "number-lab", "--session", "monday", "--save", "--"]);
    command.arg("echo a > out/first.txt; echo b > 'out/odd $(name).txt'");
    let made = env.finish(command, "");
    assert_eq!(made.code, 0, "{made}");
    assert_snapshot!(bash(&env, "metier artifacts get ", ""), @r#"out/first.txt out/odd\ \$\(name\).txt"#);
    assert_snapshot!(bash(&env, "metier read --session monday artifact://o", "//o"), @r#"//out/first.txt //out/odd\ \$\(name\).txt"#);
}

#[test]
fn a_name_never_becomes_a_command() {
    let env = with_shell();
    write_skill(
        &env,
        "odd",
        "name: \"x; touch pwned $(touch pwned) `touch pwned` 'q'\"\ndescription: Odd.",
    );
    let offered = bash(&env, "metier skills info --skills-dir skills x", "x");
    assert_snapshot!(offered, @r#"x\;\ touch\ pwned\ \$\(touch\ pwned\)\ \`touch\ pwned\`\ \'q\'"#);
    // What is offered is put on a line, and read by a shell.
    let mut command = env.command("bash");
    command.args(["-c", &format!("printf '%s' {offered}")]);
    let outcome = env.finish(command, "");
    assert_eq!(outcome.stdout, "x; touch pwned $(touch pwned) `touch pwned` 'q'");
    assert!(!env.project().join("pwned").exists());
}

#[test]
fn completion_is_silent_asks_nobody_and_trusts_nobody() {
    let env = with_shell();
    env.skill("project/.metier/skills", "ours", "Ours. Use when asked.");
    assert_eq!(bash(&env, "metier skills explain o", "o"), "ours");
    assert!(!env.home().join(".metier/trust.json").exists());
    let server = Server::start();
    server.reply("/skills.zip", Reply::ok("nothing"));
    env.write(
        "home/.metier/config.toml",
        format!(
            "skills.extra_dirs = [\"{}\"]\n[mcp.servers.far]\nurl = \"{}\"\nskills = true\n",
            server.url("/skills.zip"),
            server.url("/mcp")
        ),
    );
    assert_eq!(bash(&env, "metier skills explain c", "c"), "csv-stats");
    assert_eq!(server.requests().len(), 0);
    // Broken settings leave what is known without them.
    env.write("home/.metier/config.toml", "skills = [[[");
    assert_eq!(bash(&env, "metier skills explain c", "c"), "");
    assert_eq!(bash(&env, "metier skills expl", "expl"), "explain");
}

/// Types at a shell until it writes something.
fn interactive(mut shell: Command, typed: &[&str], until: &str) {
    shell.env("TERM", "dumb").env("PS1", "ready> ");
    let mut terminal = Terminal::start(shell, 80);
    for line in typed {
        terminal.write(line);
    }
    terminal.wait_for(until);
    terminal.write("\u{15}exit\n");
}

#[test]
fn tab_completes_the_name_of_a_skill_in_bash() {
    let env = with_shell();
    let mut shell = env.command("bash");
    shell.args(["--norc", "-i"]);
    let typed = ["source <(metier completions bash)\n", "metier skills explain c\t"];
    interactive(shell, &typed, "metier skills explain csv-stats ");
}

#[test]
fn tab_completes_the_name_of_a_skill_in_zsh() {
    if !Path::new("/usr/bin/zsh").exists() {
        return skip("completion in zsh", "there is no zsh");
    }
    let env = with_shell();
    let mut shell = env.command("zsh");
    shell.args(["-f", "-i"]);
    let typed = [
        "autoload -U compinit && compinit -D -u\n",
        "source <(metier completions zsh)\n",
        "metier skills explain c\t",
    ];
    interactive(shell, &typed, "sv-stats ");
}

#[test]
fn fish_completes_names_with_what_they_are() {
    if !Path::new("/usr/bin/fish").exists() {
        return skip("completion in fish", "there is no fish");
    }
    let env = with_shell();
    let mut command = env.command("fish");
    let script = "metier completions fish | source; complete -C 'metier skills explain c'; \
                  complete -C 'metier skills expl'; complete -C 'metier skills docs csv-stats '";
    command.args(["--no-config", "-c", script]);
    let outcome = env.finish(command, "");
    assert_snapshot!(outcome, @"
    exit 0
    ----- stdout
    csv-stats	Profile and summarise CSV or TSV tables - column types, missing values,
    explain	Explain why a skill is used or not, and what to do
    references/reading.md
    ----- stderr
    ");
}

#[test]
fn every_shell_has_a_script() {
    let env = with_shell();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let outcome = run(&env, &format!("completions {shell}"));
        assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{shell}");
        assert!(outcome.stdout.contains(&format!("__complete {shell}")), "{outcome}");
    }
    let outcome = run(&env, "completions tcsh");
    assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{outcome}");
}
