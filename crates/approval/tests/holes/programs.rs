//! Which program it is.

use std::path::Path;

use metier_approval::{Policy, SkillProgram};

use crate::machine::{Machine, decide, policy, table};

#[test]
fn a_program_found_earlier_is_not_the_one_that_was_meant() {
    let mut machine = Machine::new();
    machine.path.insert(0, "/proj".into());
    machine.link("/proj/head", "/proj/head");
    machine.link("/proj/timeout", "/proj/timeout");
    machine.link("/usr/local/bin/cat", "/proj/tool");
    machine.replaceable.insert("/usr/bin/wc".into());
    let policy = policy(&["ls", "cat", "wc", "touch"]);
    let mut lines = String::new();
    for command in ["ls", "head -5", "timeout 5 touch x", "cat a", "wc -l", "wc file", "touch x"] {
        lines.push_str(&format!("{command}\n  {}\n", decide(command, &machine, &policy)));
    }
    insta::assert_snapshot!(lines, @"
    ls
      ask: `ls` is `/proj/ls`, which is in none of the trusted folders [always: ls]
    head -5
      ask: `head` is `/proj/head`, which is in none of the trusted folders [always: head -5]
    timeout 5 touch x
      ask: `timeout` is `/proj/timeout`, which is in none of the trusted folders
    cat a
      ask: `cat` is `/proj/tool`, which commands could have written
    wc -l
      ask: `wc` could be replaced by others, because they may write to it or to a folder above it
    wc file
      ask: `wc` could be replaced by others, because they may write to it or to a folder above it
    touch x
      allow: /usr/bin/touch by `touch`
    ");
}

#[test]
fn a_program_of_a_skill_is_one_file() {
    let mut machine = Machine::new();
    let mut policy = policy(&[]);
    let mut lines = String::new();
    let mut say = |command: &str, machine: &Machine, policy: &Policy| {
        lines.push_str(&format!("{command}\n  {}\n", decide(command, machine, policy)));
    };
    say("./gog x", &machine, &policy);
    say("/proj/gog x", &machine, &policy);
    say("/usr/local/bin/gog x", &machine, &policy);
    machine.link("/usr/local/bin/gog", "/proj/gog");
    say("gog x", &machine, &policy);
    machine.link("/usr/local/bin/gog", "/usr/local/lib/gog/gog");
    machine.replaceable.insert("/usr/local/lib/gog/gog".into());
    say("gog x", &machine, &policy);
    policy.skill_programs.push(SkillProgram {
        name: "tool".to_owned(),
        real: "/proj/tool".into(),
        skill: "own".to_owned(),
    });
    machine.link("/usr/local/bin/tool", "/proj/tool");
    say("tool x", &machine, &policy);
    for name in ["bash", "python3", "git", "xargs", "env", "npx", "curl"] {
        let real = machine.programs[Path::new(&format!("/usr/bin/{name}"))].clone();
        let mut program = policy.skill_programs[0].clone();
        (program.name, program.real) = (name.to_owned(), real);
        policy.skill_programs.push(program);
    }
    for command in [
        "bash -c ls",
        "python3 build.py",
        "git push",
        "xargs ls",
        "npx x",
        "curl -o x y",
        "env touch x",
    ] {
        say(command, &machine, &policy);
    }
    insta::assert_snapshot!(lines, @"
    ./gog x
      ask: nobody allowed `./gog`
    /proj/gog x
      ask: nobody allowed `/proj/gog`
    /usr/local/bin/gog x
      ask: nobody allowed `/usr/local/bin/gog`
    gog x
      ask: `gog` is `/proj/gog`, not the program that the skill `mail` means
    gog x
      ask: `gog` could be replaced by others, because they may write to it or to a folder above it
    tool x
      ask: `tool` is `/proj/tool`, which commands could have written
    bash -c ls
      ask: `bash -c ls` is not covered by the skill `mail`: `bash` is a shell and can run anything; it needs an entry with `--args`
    python3 build.py
      ask: `python3 build.py` is not covered by the skill `mail`: `python3` runs whatever code it is given; it needs an entry with `--args`
    git push
      ask: `git push` is not covered by the skill `mail`: with other options or subcommands it can run programs and change files; it needs an entry with `--args`
    xargs ls
      ask: `xargs ls` is not covered by the skill `mail`: `xargs` starts other programs; it needs an entry with `--args`
    npx x
      ask: `npx x` is not covered by the skill `mail`: `npx` fetches programs and runs them; it needs an entry with `--args`
    curl -o x y
      ask: `curl -o x y` is not covered by the skill `mail`: with other options it can read, send and overwrite files and load code; it needs an entry with `--args`
    env touch x
      ask: nobody allowed `touch`
    ");
}

#[test]
fn wildcards_of_paths_stay_in_their_segment_and_keep_case() {
    insta::assert_snapshot!(table(&["ls", "/bin/ls"], &policy(&["/usr?bin?ls", "/usr/*ls", "/USR/bin/ls", "LS", "L?"])), @"
    ls
      ask: nobody allowed `ls` [always: ls]
    /bin/ls
      ask: nobody allowed `/bin/ls` [always: /bin/ls]
    ");
    insta::assert_snapshot!(table(&["/usr/bin/../../proj/tool", "./tool", "sub/../tool"], &policy(&["/usr/bin/**", "/usr/**"])), @"
    /usr/bin/../../proj/tool
      ask: nobody allowed `/usr/bin/../../proj/tool`
    ./tool
      ask: nobody allowed `./tool`
    sub/../tool
      ask: nobody allowed `sub/../tool`
    ");
    insta::assert_snapshot!(table(&["/bin/sh run.sh", "/usr/bin/../../bin/sh run.sh"], &policy(&["/usr/bin/**", "/bin/**"])), @"
    /bin/sh run.sh
      ask: `/bin/sh run.sh` is not covered by the entry `/usr/bin/**`: `/bin/sh` is a shell and can run anything; it needs an entry with `--args`
    /usr/bin/../../bin/sh run.sh
      ask: `/usr/bin/../../bin/sh run.sh` is not covered by the entry `/usr/bin/**`: `/usr/bin/../../bin/sh` is a shell and can run anything; it needs an entry with `--args`
    ");
}

#[test]
fn a_link_of_another_name_is_what_it_leads_to() {
    let mut machine = Machine::new();
    machine.link("/usr/bin/harmless", "/usr/bin/bash");
    machine.link("/usr/bin/lister", "/usr/bin/busybox");
    machine.link("/usr/bin/run-as", "/usr/bin/sudo");
    machine.link("/usr/bin/head", "/usr/bin/bash");
    let policy = policy(&["*"]);
    let mut lines = String::new();
    for command in ["harmless -c ls", "run-as ls", "lister x", "head -c 5"] {
        lines.push_str(&format!("{command}\n  {}\n", decide(command, &machine, &policy)));
    }
    insta::assert_snapshot!(lines, @"
    harmless -c ls
      ask: `harmless -c ls` is not covered by the entry `*`: `harmless` is a shell and can run anything; it needs an entry with `--args`
    run-as ls
      deny: `run-as` changes who or where a program is; it never runs here
    lister x
      ask: `lister x` is not covered by the entry `*`: no table says what the arguments of `lister` can make it do; it needs an entry with `--args` or `--any-arguments`
    head -c 5
      ask: `head -c 5` is not covered by the entry `*`: `head` is a shell and can run anything; it needs an entry with `--args`
    ");
}

#[test]
fn a_script_that_commands_may_write_is_not_covered_by_a_pattern_without_a_folder() {
    let mut machine = Machine::new();
    machine.files.insert("/srv/convert.py".into(), "/srv/convert.py".into());
    let entries =
        [r"python3 --args (\S*/)?(build|convert)\.py( .*)?", "bash --args run.sh", "python3"];
    let policy = policy(&entries);
    let mut lines = String::new();
    for command in [
        "python3 build.py",
        "python3 ./build.py x",
        "python3 /proj/build.py",
        "cd sub && python3 ../build.py",
        "timeout 5 python3 build.py",
        "bash run.sh",
        "python3 /srv/convert.py file",
        "python3 convert.py",
        "cd /etc && python3 convert.py",
        "python3 --version",
    ] {
        lines.push_str(&format!("{command}\n  {}\n", decide(command, &machine, &policy)));
    }
    insta::assert_snapshot!(lines, @r"
    python3 build.py
      ask: `python3 build.py` is not covered by the entry `python3`: `/proj/build.py` is in a folder that commands may write; it needs an entry with `--dir`
    python3 ./build.py x
      ask: `python3 ./build.py x` is not covered by the entry `python3`: `/proj/build.py` is in a folder that commands may write; it needs an entry with `--dir`
    python3 /proj/build.py
      ask: `python3 /proj/build.py` is not covered by the entry `python3`: `/proj/build.py` is in a folder that commands may write; it needs an entry with `--dir`
    cd sub && python3 ../build.py
      ask: `python3 ../build.py` is not covered by the entry `python3`: `/proj/build.py` is in a folder that commands may write; it needs an entry with `--dir`
    timeout 5 python3 build.py
      ask: `python3 build.py` is not covered by the entry `python3`: `/proj/build.py` is in a folder that commands may write; it needs an entry with `--dir`
    bash run.sh
      ask: `bash run.sh` is not covered by the entry `bash`: `/proj/run.sh` is in a folder that commands may write; it needs an entry with `--dir`
    python3 /srv/convert.py file
      allow: /usr/bin/python3.11 by `python3 --args (\S*/)?(build|convert)\.py( .*)?`
    python3 convert.py
      ask: `python3 convert.py` is not covered by the entry `python3`: `/proj/convert.py` is in a folder that commands may write; it needs an entry with `--dir`
    cd /etc && python3 convert.py
      allow: /usr/bin/python3.11 by `python3 --args (\S*/)?(build|convert)\.py( .*)?`
    python3 --version
      allow: /usr/bin/python3.11 by `python3`
    ");
}
