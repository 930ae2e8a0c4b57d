//! Files and variables that decide what programs do.

use metier_approval::{Remembered, is_loader_variable};

use crate::machine::{Machine, decide, policy};

fn assert_asked(command: &str, machine: &Machine, entries: &[&str], reason: &str) {
    let verdict = decide(command, machine, &policy(entries));
    assert!(verdict.starts_with("ask: ") && verdict.contains(reason), "{command}: {verdict}");
}

fn assert_allowed(command: &str, machine: &Machine, entries: &[&str]) {
    let verdict = decide(command, machine, &policy(entries));
    assert!(verdict.starts_with("allow: "), "{command}: {verdict}");
}

#[test]
fn a_variable_does_not_lead_to_a_file() {
    let machine = Machine::new();
    for command in [
        "TZ=/etc/shadow date",
        "TZ=:../x date",
        "LANG=../../proj/x cat a",
        "env TZ=/etc/shadow date",
        "LC_ALL=a/b cat a",
    ] {
        assert_asked(command, &machine, &["date", "cat", "env"], "may not lead to a file");
    }
    assert_allowed("TZ=UTC LANG=C.UTF-8 date", &machine, &["date"]);
}

#[test]
fn a_variable_that_names_a_program_is_known_as_one() {
    for name in [
        "PAGER",
        "MANPAGER",
        "manpager",
        "AWS_PAGER",
        "PSQL_EDITOR",
        "GH_BROWSER",
        "LESSOPEN",
        "LD_PRELOAD",
    ] {
        assert!(is_loader_variable(name), "{name}");
    }
    for name in ["TZ", "LANGUAGE", "CI", "PAGERS"] {
        assert!(!is_loader_variable(name), "{name}");
    }
}

#[test]
fn a_path_covers_no_program_that_others_could_have_put_there() {
    let mut machine = Machine::new();
    machine.replaceable.insert("/usr/bin/ls".into());
    for entry in ["/proj/tool", "/proj/*", "/proj/tool --args .*", "/proj/** --dir /proj"] {
        assert_asked("./tool", &machine, &[entry], "which commands could have written");
    }
    for entry in ["/usr/bin/ls", "/usr/bin/*", "/bin/ls", "/usr/bin/ls --args -l"] {
        assert_asked("/usr/bin/ls -l", &machine, &[entry], "");
    }
    assert_asked("/usr/bin/ls", &machine, &["/usr/bin/ls"], "could be replaced by others");
    assert_allowed("/usr/bin/cat a", &machine, &["/usr/bin/cat"]);
}

#[test]
fn a_command_does_not_write_what_its_own_builder_reads() {
    let mut machine = Machine::new();
    machine.link("/usr/bin/cargo", "/usr/bin/cargo");
    let entries =
        ["cat", "echo", "make --dir /proj", "npm --dir /proj", "cargo --dir /proj", "git"];
    for command in [
        "echo x > Makefile && make all",
        "make all; cat a > Makefile; make all",
        "echo x > sub/x.mk && make all",
        "echo x >> package.json; npm test",
        "echo x > Cargo.toml; cd sub; cargo build",
        "cat a > build.rs && timeout 5 cargo build",
    ] {
        assert_asked(command, &machine, &entries, "may take orders from");
    }
    assert_allowed("echo x > out; cat a", &machine, &entries);
    assert_allowed("make all; cat a > /dev/null", &machine, &entries);
    assert_allowed("git diff > out", &machine, &entries);
    let script = ["echo", r"python3 --args build\.py"];
    assert_asked("echo x > build.py; python3 build.py", &machine, &script, "is written and run");
}

#[test]
fn what_files_of_a_folder_decide_is_never_remembered() {
    let mut machine = Machine::new();
    machine.link("/usr/bin/cargo", "/usr/bin/cargo");
    for command in ["make all", "npm test", "cargo build", "git status", "git log -p"] {
        let verdict = decide(command, &machine, &policy(&[]));
        assert!(verdict.starts_with("ask: ") && !verdict.contains("[always"), "{verdict}");
        let program = format!("/usr/bin/{}", command.split(' ').next().unwrap());
        let mut policy = policy(&[]);
        policy.remembered = vec![Remembered {
            id: "old".to_owned(),
            sha256: format!("{program}#0"),
            program: program.into(),
            words: command.split(' ').map(str::to_owned).collect(),
            directory: "/proj".into(),
            variables: Vec::new(),
        }];
        let verdict = decide(command, &machine, &policy);
        assert!(verdict.starts_with("ask: "), "{verdict}");
    }
    assert!(decide("ls -l", &machine, &policy(&[])).contains("[always: ls -l]"));
}

#[test]
fn skills_and_programs_are_not_written_by_redirection() {
    let mut machine = Machine::new();
    for folder in ["/proj/skills", "/proj/skills/a", "/proj/sub/skills"] {
        machine.folders.insert(folder.into(), folder.into());
    }
    let entries = ["echo", "cat"];
    for command in
        ["echo x > skills/a/SKILL.md", "echo x >> skills/x", "cd skills/a; cat SKILL.md > run"]
    {
        assert_asked(command, &machine, &entries, "is among skills");
    }
    for command in ["echo x > tool", "echo x >> ./tool", "cd sub; echo x > /proj/tool"] {
        assert_asked(command, &machine, &entries, "is a program");
    }
    assert_allowed("echo x > file", &machine, &entries);
    assert_allowed("echo x > sub/skills/x", &machine, &entries);
    assert_allowed(
        "cat < skills.txt > out",
        &{
            machine.files.insert("/proj/skills.txt".into(), "/proj/skills.txt".into());
            machine
        },
        &entries,
    );
}
