//! Holes that approvals of commands have had elsewhere, each closed here.
//!
//! Entries are as generous as somebody might make them, so that what is refused is refused by the rule that the test is
//! named after.

mod machine;

use std::path::Path;

use machine::{Machine, START, decide, entry, policy, table, texts};
use metier_approval::{Approved, Policy, Remembered, Verdict, judge, parse, shown};

/// Everything by name and by path.
fn generous() -> Policy {
    policy(&["*", "/**", "ls", "cat"])
}

#[test]
fn substitutions_are_found_in_double_quotes() {
    insta::assert_snapshot!(table(&[
        r#"ls "$(touch x)""#,
        "ls \"`touch x`\"",
        "ls $(touch x)",
        "cat <(touch x)",
        r#"ls "${X:-$(touch x)}""#,
    ], &generous()), @r#"
    ls \"$(touch x)\"
      ask: this cannot be judged: a command substitution `$(…)` [no plan]
    ls \"`touch x`\"
      ask: this cannot be judged: a command substitution in backticks [no plan]
    ls $(touch x)
      ask: this cannot be judged: a command substitution `$(…)` [no plan]
    cat <(touch x)
      ask: this cannot be judged: a process substitution `<(…)` [no plan]
    ls \"${X:-$(touch x)}\"
      ask: this cannot be judged: an expansion `${…}` [no plan]
    "#);
}

#[test]
fn filters_get_the_words_that_were_judged() {
    insta::assert_snapshot!(table(&[
        "head *",
        "head $HOME/.profile",
        "head ~/.profile",
        "head '*'",
        "head {a,b}",
    ], &policy(&[])), @r"
    head *
      ask: this cannot be judged: a glob `*` [no plan]
    head $HOME/.profile
      ask: this cannot be judged: a variable `$HOME` [no plan]
    head ~/.profile
      ask: this cannot be judged: `~` at the beginning of a word [no plan]
    head \'*\'
      ask: as a filter `head` reads only what is piped into it, not `*`; it needs an entry [always: head *]
    head {a,b}
      ask: this cannot be judged: a brace expansion `{…}` [no plan]
    ");
}

#[test]
fn here_documents_are_not_judged() {
    insta::assert_snapshot!(table(&[
        "cat <<E\n$(touch x)\nE",
        "cat <<'E'\nx\nE",
        "cat <<< x",
    ], &generous()), @r"
    cat <<E\n$(touch x)\nE
      ask: this cannot be judged: a here-document `<<` [no plan]
    cat <<\'E\'\nx\nE
      ask: this cannot be judged: a here-document `<<` [no plan]
    cat <<< x
      ask: this cannot be judged: a here-string `<<<` [no plan]
    ");
}

#[test]
fn filters_read_and_write_no_files_of_their_own() {
    let mut policy = policy(&[]);
    policy.safe_programs = texts("sort grep head wc cat tail date uniq cut tr printf");
    insta::assert_snapshot!(table(&[
        "sort -o file",
        "sort -ofile",
        "sort -ro file",
        "sort -T /etc",
        "sort --files0-from=file",
        "sort --random-source=file",
        "grep -R x",
        "grep -r x .",
        "grep -f file",
        "grep --file=file",
        "grep x file",
        "grep -e x file",
        "head file",
        "head nosuchfile",
        "head -- file",
        "cat a",
        "wc --files0-from=-",
        "tail -f",
        "tail -5f",
        "tail --follow=name",
        "uniq - file",
        "cut -f1 file",
        "tr a b file",
        "date -s tomorrow",
        "date -f file",
        "date -r file",
        "date 01011200",
        "printf -v x y",
    ], &policy), @"
    sort -o file
      ask: as a filter `sort` may not have the option `-o`; it needs an entry
    sort -ofile
      ask: as a filter `sort` may not have the option `-ofile`; it needs an entry
    sort -ro file
      ask: as a filter `sort` may not have the option `-ro`; it needs an entry
    sort -T /etc
      ask: as a filter `sort` may not have the option `-T`; it needs an entry
    sort --files0-from=file
      ask: as a filter `sort` may not have the option `--files0-from=file`; it needs an entry
    sort --random-source=file
      ask: as a filter `sort` may not have the option `--random-source=file`; it needs an entry
    grep -R x
      ask: as a filter `grep` may not have the option `-R`; it needs an entry [always: grep -R x]
    grep -r x .
      ask: as a filter `grep` may not have the option `-r`; it needs an entry [always: grep -r x .]
    grep -f file
      ask: as a filter `grep` may not have the option `-f`; it needs an entry [always: grep -f file]
    grep --file=file
      ask: as a filter `grep` may not have the option `--file=file`; it needs an entry [always: grep --file=file]
    grep x file
      ask: as a filter `grep` reads only what is piped into it, not `file`; it needs an entry [always: grep x file]
    grep -e x file
      ask: as a filter `grep` reads only what is piped into it, not `file`; it needs an entry [always: grep -e x file]
    head file
      ask: as a filter `head` reads only what is piped into it, not `file`; it needs an entry [always: head file]
    head nosuchfile
      ask: as a filter `head` reads only what is piped into it, not `nosuchfile`; it needs an entry [always: head nosuchfile]
    head -- file
      ask: as a filter `head` reads only what is piped into it, not `file`; it needs an entry [always: head -- file]
    cat a
      ask: as a filter `cat` reads only what is piped into it, not `a`; it needs an entry [always: cat a]
    wc --files0-from=-
      ask: as a filter `wc` may not have the option `--files0-from=-`; it needs an entry [always: wc --files0-from=-]
    tail -f
      ask: as a filter `tail` may not have the option `-f`; it needs an entry [always: tail -f]
    tail -5f
      ask: as a filter `tail` may not have the option `-5f`; it needs an entry [always: tail -5f]
    tail --follow=name
      ask: as a filter `tail` may not have the option `--follow=name`; it needs an entry [always: tail --follow=name]
    uniq - file
      ask: as a filter `uniq` reads only what is piped into it, not `file`; it needs an entry
    cut -f1 file
      ask: as a filter `cut` reads only what is piped into it, not `file`; it needs an entry [always: cut -f1 file]
    tr a b file
      ask: as a filter `tr` reads only what is piped into it, not `file`; it needs an entry [always: tr a b file]
    date -s tomorrow
      ask: as a filter `date` may not have the option `-s`; it needs an entry [always: date -s tomorrow]
    date -f file
      ask: as a filter `date` may not have the option `-f`; it needs an entry [always: date -f file]
    date -r file
      ask: as a filter `date` may not have the option `-r`; it needs an entry [always: date -r file]
    date 01011200
      ask: as a filter `date` reads only what is piped into it, not `01011200`; it needs an entry [always: date 01011200]
    printf -v x y
      ask: as a filter `printf` may not have the option `-v`; it needs an entry [always: printf -v x y]
    ");
}

#[test]
fn a_verdict_does_not_tell_whether_a_file_is_there() {
    let machine = Machine::new();
    let there = decide("head file", &machine, &policy(&[]));
    let not_there = decide("head elif", &machine, &policy(&[]));
    assert_eq!(there.replace("file", ""), not_there.replace("elif", ""));
}

#[test]
fn unknown_and_shortened_options_are_not_harmless() {
    let mut filters = policy(&[]);
    filters.safe_programs = texts("sort grep head");
    let commands = [
        "sort --compress-program=./x",
        "sort --compress-prog=./x",
        "sort --comp ./x",
        "sort --out=file",
        "sort -rX",
        "sort -rno file",
        "sort -k -o",
        "head --line=5",
        "grep --fil=x y",
    ];
    insta::assert_snapshot!(table(&commands, &filters), @"
    sort --compress-program=./x
      ask: as a filter `sort` may not have the option `--compress-program=./x`; it needs an entry
    sort --compress-prog=./x
      ask: as a filter `sort` may not have the option `--compress-prog=./x`; it needs an entry
    sort --comp ./x
      ask: as a filter `sort` may not have the option `--comp`; it needs an entry
    sort --out=file
      ask: as a filter `sort` may not have the option `--out=file`; it needs an entry
    sort -rX
      ask: as a filter `sort` may not have the option `-rX`; it needs an entry
    sort -rno file
      ask: as a filter `sort` may not have the option `-rno`; it needs an entry
    sort -k -o
      ask: as a filter `sort` may not have the option `-k`; it needs an entry
    head --line=5
      ask: as a filter `head` may not have the option `--line=5`; it needs an entry [always: head --line=5]
    grep --fil=x y
      ask: as a filter `grep` may not have the option `--fil=x`; it needs an entry [always: grep --fil=x y]
    ");
    insta::assert_snapshot!(table(&commands[..7], &policy(&["sort"])), @"
    sort --compress-program=./x
      ask: `sort --compress-program=./x` is not covered by the entry `sort`: with other options it can write files and run programs; it needs an entry with `--args`
    sort --compress-prog=./x
      ask: `sort --compress-prog=./x` is not covered by the entry `sort`: with other options it can write files and run programs; it needs an entry with `--args`
    sort --comp ./x
      ask: `sort --comp ./x` is not covered by the entry `sort`: with other options it can write files and run programs; it needs an entry with `--args`
    sort --out=file
      ask: `sort --out=file` is not covered by the entry `sort`: with other options it can write files and run programs; it needs an entry with `--args`
    sort -rX
      ask: `sort -rX` is not covered by the entry `sort`: with other options it can write files and run programs; it needs an entry with `--args`
    sort -rno file
      ask: `sort -rno file` is not covered by the entry `sort`: with other options it can write files and run programs; it needs an entry with `--args`
    sort -k -o
      ask: `sort -k -o` is not covered by the entry `sort`: with other options it can write files and run programs; it needs an entry with `--args`
    ");
}

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
      ask: `cat` is `/proj/tool`, which commands could have written [always: cat a]
    wc -l
      ask: `wc` could be replaced by others, because they may write to it or to a folder above it
    wc file
      ask: `wc` could be replaced by others, because they may write to it or to a folder above it
    touch x
      allow: /usr/bin/touch by `touch`
    ");
}

#[test]
fn line_continuation_is_not_judged() {
    insta::assert_snapshot!(table(&["ls $\\\n(touch x)", "l\\\ns", "ls \"a\\\nb\""], &generous()), @r#"
    ls $\\\n(touch x)
      ask: this cannot be judged: a `$` that could begin an expansion [no plan]
    l\\\ns
      ask: this cannot be judged: a line continuation [no plan]
    ls \"a\\\nb\"
      ask: this cannot be judged: a line continuation [no plan]
    "#);
}

#[test]
fn shells_and_their_like_are_never_allowed_for_good() {
    insta::assert_snapshot!(table(&[
        "zsh -lc ls",
        "bash -c ls",
        "sh run.sh",
        "python3 -c 1",
        "python3 build.py",
        "node build.js",
        "npx cowsay",
        "npm test",
        "busybox ls",
        "timeout 5 touch x",
        "xargs touch",
        "vi file",
        "git push",
        "find . -delete",
        "make -f other",
    ], &policy(&[])), @"
    zsh -lc ls
      ask: `zsh` is a shell and can run anything; it needs an entry with `--args`
    bash -c ls
      ask: `bash` is a shell and can run anything; it needs an entry with `--args`
    sh run.sh
      ask: `sh` is a shell and can run anything; it needs an entry with `--args`
    python3 -c 1
      ask: `python3` runs whatever code it is given; it needs an entry with `--args`
    python3 build.py
      ask: `python3` runs whatever code it is given; it needs an entry with `--args`
    node build.js
      ask: `node` runs whatever code it is given; it needs an entry with `--args`
    npx cowsay
      ask: `npx` fetches programs and runs them; it needs an entry with `--args`
    npm test
      ask: `npm` fetches programs and runs them; it needs an entry with `--args`
    busybox ls
      ask: `busybox` is many programs in one; it needs an entry with `--args`
    timeout 5 touch x
      ask: nobody allowed `touch`
    xargs touch
      ask: `xargs` starts other programs; it needs an entry with `--args`
    vi file
      ask: `vi` runs whatever code it is given; it needs an entry with `--args`
    git push
      ask: nobody allowed `git`
    find . -delete
      ask: nobody allowed `find`
    make -f other
      ask: nobody allowed `make`
    ");
}

#[test]
fn wrappers_do_not_widen_what_was_allowed() {
    let policy = policy(&[
        "env", "nice", "nohup", "timeout", "busybox", "time", "script", "xargs", "find", "ls",
    ]);
    insta::assert_snapshot!(table(&[
        "env touch x",
        "nice touch x",
        "nohup touch x",
        "timeout 5 touch x",
        "/usr/bin/time touch x",
        "script -c touch",
        "busybox touch x",
        "busybox sh -c ls",
        "ls | xargs touch",
        "find . -exec touch {} ';'",
        "find . -execdir touch {} +",
        "find . -ok touch x",
        "find . -fprintf file x",
        "find . -name -delete",
        "nice --adj=5 ls",
        "timeout --sig KILL 5 ls",
        "/usr/bin/time -o file ls",
        "timeout 5 nice nohup ionice stdbuf -oL ls",
        "timeout 5 nice nohup ionice ls",
        "nice sudo ls",
        "xargs sudo ls",
        "busybox su",
        "nice",
    ], &policy), @r"
    env touch x
      ask: nobody allowed `touch`
    nice touch x
      ask: nobody allowed `touch`
    nohup touch x
      ask: nobody allowed `touch`
    timeout 5 touch x
      ask: nobody allowed `touch`
    /usr/bin/time touch x
      ask: nobody allowed `touch`
    script -c touch
      ask: `script -c touch` is not covered by the entry `script`: `script` starts other programs; it needs an entry with `--args`
    busybox touch x
      ask: `busybox touch x` is not covered by the entry `busybox`: `busybox` is many programs in one; it needs an entry with `--args`
    busybox sh -c ls
      ask: `busybox sh -c ls` is not covered by the entry `busybox`: `busybox` is many programs in one; it needs an entry with `--args`
    ls | xargs touch
      ask: `xargs touch` is not covered by the entry `xargs`: `xargs` starts other programs; it needs an entry with `--args`
    find . -exec touch {} \';\'
      ask: `find . -exec touch {} ';'` is not covered by the entry `find`: it can run programs and delete files; it needs an entry with `--args`
    find . -execdir touch {} +
      ask: `find . -execdir touch {} +` is not covered by the entry `find`: it can run programs and delete files; it needs an entry with `--args`
    find . -ok touch x
      ask: `find . -ok touch x` is not covered by the entry `find`: it can run programs and delete files; it needs an entry with `--args`
    find . -fprintf file x
      ask: `find . -fprintf file x` is not covered by the entry `find`: it can run programs and delete files; it needs an entry with `--args`
    find . -name -delete
      ask: `find . -name -delete` is not covered by the entry `find`: it can run programs and delete files; it needs an entry with `--args`
    nice --adj=5 ls
      ask: what `nice` does with `--adj=5` is not known
    timeout --sig KILL 5 ls
      ask: what `timeout` does with `--sig` is not known
    /usr/bin/time -o file ls
      ask: what `/usr/bin/time` does with `-o` is not known
    timeout 5 nice nohup ionice stdbuf -oL ls
      ask: more than 4 programs start each other
    timeout 5 nice nohup ionice ls
      allow: /usr/bin/timeout > /usr/bin/nice > /usr/bin/nohup > /usr/bin/ionice > /usr/bin/ls by `ls`
    nice sudo ls
      deny: `sudo` changes who or where a program is; it never runs here
    xargs sudo ls
      deny: `sudo` changes who or where a program is; it never runs here
    busybox su
      deny: `su` changes who or where a program is; it never runs here
    nice
      allow: /usr/bin/nice by `nice`
    ");
}

#[test]
fn options_of_env_that_split_or_change_folders_are_refused() {
    let policy = policy(&["env", "ls", "sh"]);
    insta::assert_snapshot!(table(&[
        "env -S 'ls -l'",
        "env -iS 'ls -l'",
        "env -i ls",
        "env - ls",
        "env -u TZ ls",
        "env -C /etc ls",
        "env -P /proj ls",
        "env --split-string=ls",
        "env --chdir=/etc ls",
        "env PATH=/proj ls",
        "env FOO=1 ls",
        "env TZ=UTC sh",
        "exec ls",
        "command ls",
        "builtin ls",
        "eval ls",
    ], &policy), @r"
    env -S \'ls -l\'
      ask: what `env` does with `-S` is not known
    env -iS \'ls -l\'
      ask: what `env` does with `-iS` is not known
    env -i ls
      ask: what `env` does with `-i` is not known
    env - ls
      ask: what `env` does with `-` is not known
    env -u TZ ls
      ask: what `env` does with `-u` is not known
    env -C /etc ls
      ask: what `env` does with `-C` is not known
    env -P /proj ls
      ask: what `env` does with `-P` is not known
    env --split-string=ls
      ask: what `env` does with `--split-string=ls` is not known
    env --chdir=/etc ls
      ask: what `env` does with `--chdir=/etc` is not known
    env PATH=/proj ls
      deny: the variable `PATH` may not be set: it decides what programs load or run
    env FOO=1 ls
      ask: the variable `FOO` is not among those that may be set
    env TZ=UTC sh
      ask: `sh` is not covered by the entry `sh`: `sh` is a shell and can run anything; it needs an entry with `--args`
    exec ls
      ask: this cannot be judged: `exec` is part of the shell [no plan]
    command ls
      ask: this cannot be judged: `command` is part of the shell [no plan]
    builtin ls
      ask: this cannot be judged: `builtin` is part of the shell [no plan]
    eval ls
      ask: this cannot be judged: `eval` is part of the shell [no plan]
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
    policy.skill_programs.push(metier_approval::SkillProgram {
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
      ask: nobody allowed `./gog` [always: ./gog x]
    /proj/gog x
      ask: nobody allowed `/proj/gog` [always: /proj/gog x]
    /usr/local/bin/gog x
      ask: nobody allowed `/usr/local/bin/gog` [always: /usr/local/bin/gog x]
    gog x
      ask: `gog` is `/proj/gog`, not the program that the skill `mail` means [always: gog x]
    gog x
      ask: `gog` could be replaced by others, because they may write to it or to a folder above it
    tool x
      ask: `tool` is `/proj/tool`, which commands could have written [always: tool x]
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
fn variables_that_load_code_are_refused_whoever_allows_them() {
    let mut policy = policy(&["ls", "*"]);
    policy.variables.push("*".to_owned());
    let names = "BASH_ENV ENV BASH_FUNC_x SHELLOPTS PS4 HOME ZDOTDIR LD_PRELOAD LD_AUDIT DYLD_INSERT_LIBRARIES GIT_DIR \
        GIT_EXTERNAL_DIFF HTTPS_PROXY https_proxy SSL_CERT_FILE PATH IFS NODE_OPTIONS PYTHONPATH PERL5OPT RUBYOPT \
        JAVA_TOOL_OPTIONS MAKEFLAGS RUSTC_WRAPPER CC PAGER EDITOR LESSOPEN NPM_CONFIG_PREFIX PIP_INDEX_URL TAR_OPTIONS";
    for name in texts(names) {
        // Some mean something to the shell that would set them, so there is not even a plan.
        let verdict = decide(&format!("{name}=x ls"), &Machine::new(), &policy);
        assert!(!verdict.starts_with("allow"), "{name}: {verdict}");
        for command in [format!("env {name}=x ls"), format!("nice env {name}=x ls")] {
            let verdict = decide(&command, &Machine::new(), &policy);
            assert!(verdict.starts_with("deny: the variable"), "{command}: {verdict}");
        }
    }
    insta::assert_snapshot!(decide("FOO=1 ls", &Machine::new(), &machine::policy(&["ls"])), @"ask: the variable `FOO` is not among those that may be set [always: ls]");
}

#[test]
fn a_name_with_a_blank_is_another_name() {
    insta::assert_snapshot!(table(&["'ls ' -l", "'ls\u{a0}'", "'ls\u{200b}'", "''"], &policy(&["ls", "*"])), @r"
    \'ls \' -l
      ask: `ls ` is not installed [no plan]
    \'ls\u{a0}\'
      ask: `ls\u{a0}` is not installed [no plan]
    \'ls\u{200b}\'
      ask: `ls\u{200b}` is not installed [no plan]
    \'\'
      ask: this cannot be judged: an empty word where a program should be [no plan]
    ");
}

fn approved(command: &str, machine: &Machine, policy: &Policy) -> Approved {
    match judge(&parse(command), Path::new(START), machine, policy) {
        Verdict::Allow(plan) | Verdict::Ask { plan: Some(plan), .. } => plan,
        other => panic!("{command} has no plan: {other:?}"),
    }
}

#[test]
fn all_arguments_are_shown() {
    let plan = approved(r#"sh -c '$0 "$@"' rm 'a b' file"#, &Machine::new(), &policy(&[]));
    insta::assert_snapshot!(shown(&plan).unwrap().lines.join("\n"), @r#"sh -c '$0 "$@"' rm 'a b' file"#);
}

fn remembering(command: &str, machine: &Machine) -> Policy {
    let mut policy = policy(&["ls"]);
    let Verdict::Ask { offer: Some(offer), .. } =
        judge(&parse(command), Path::new(START), machine, &policy)
    else {
        panic!("nothing is offered for {command}");
    };
    policy.remembered = offer
        .into_iter()
        .map(|pinned| Remembered {
            id: "7".to_owned(),
            program: pinned.program,
            sha256: pinned.sha256,
            words: pinned.command.words,
            directory: pinned.directory,
            variables: pinned.command.variables,
        })
        .collect();
    policy
}

#[test]
fn what_was_allowed_for_good_is_only_what_it_was() {
    let mut machine = Machine::new();
    let policy = remembering("CI=1 touch a", &machine);
    insta::assert_snapshot!(table(&[
        "CI=1 touch a",
        "ls; CI=1 touch a 2>/dev/null",
        "touch a",
        "CI=2 touch a",
        "CI=1 TZ=x touch a",
        "CI=1 touch a b",
        "CI=1 touch 'a '",
        "CI=1 /usr/bin/touch a",
        "cd sub && CI=1 touch a",
        "CI=1 touch a > out",
        "CI=1 nice touch a",
    ], &policy), @r"
    CI=1 touch a
      allow: /usr/bin/touch by memory of 7
    ls; CI=1 touch a 2>/dev/null
      allow: /usr/bin/ls by `ls`, /usr/bin/touch by memory of 7
    touch a
      ask: nobody allowed `touch` [always: touch a]
    CI=2 touch a
      ask: nobody allowed `touch` [always: touch a]
    CI=1 TZ=x touch a
      ask: nobody allowed `touch` [always: touch a]
    CI=1 touch a b
      ask: nobody allowed `touch` [always: touch a b]
    CI=1 touch \'a \'
      ask: nobody allowed `touch` [always: touch a ]
    CI=1 /usr/bin/touch a
      ask: nobody allowed `/usr/bin/touch` [always: /usr/bin/touch a]
    cd sub && CI=1 touch a
      ask: nobody allowed `touch` [always: touch a]
    CI=1 touch a > out
      ask: nobody allowed `touch`
    CI=1 nice touch a
      ask: nobody allowed `touch`
    ");
    machine.versions.insert("/usr/bin/touch".into(), 2);
    assert!(decide("CI=1 touch a", &machine, &policy).starts_with("ask"), "another program");
    let mut machine = Machine::new();
    machine.folders.insert(START.into(), "/elsewhere".into());
    assert!(decide("CI=1 touch a", &machine, &policy).starts_with("ask"), "another folder");
}

#[test]
fn folders_behind_links_are_not_the_folders_that_were_named() {
    insta::assert_snapshot!(table(&[
        "cd link && ls",
        "cd link",
        "cd nowhere && ls",
        "cd sub && cd ../link && ls",
        "cd link; cd ../sub; ls",
    ], &policy(&["ls"])), @"
    cd link && ls
      ask: the folder `/proj/link` goes through a link
    cd link
      ask: the folder `/proj/link` goes through a link [no plan]
    cd nowhere && ls
      ask: there is no folder `/proj/nowhere` [no plan]
    cd sub && cd ../link && ls
      ask: the folder `/proj/link` goes through a link
    cd link; cd ../sub; ls
      ask: the folder `/proj/link` goes through a link [no plan]
    ");
}

#[test]
fn scripts_and_programs_are_bound_to_what_they_were() {
    let policy = policy(&["python3 --args .*", "bash --args .*", "touch", "perl --args .*"]);
    for (command, path) in [
        ("python3 build.py", "/proj/build.py"),
        ("python3 -W ignore build.py", "/proj/build.py"),
        ("bash run.sh", "/proj/run.sh"),
        ("nice bash run.sh", "/proj/run.sh"),
        ("perl -I sub run.sh", "/proj/run.sh"),
        ("touch x", "/usr/bin/touch"),
        ("nice touch x", "/usr/bin/touch"),
        ("nice touch x", "/usr/bin/nice"),
    ] {
        let mut machine = Machine::new();
        let before = approved(command, &machine, &policy);
        assert_eq!(before, approved(command, &machine, &policy), "{command}");
        machine.versions.insert(path.into(), 2);
        assert_ne!(before, approved(command, &machine, &policy), "{command} after {path} changed");
    }
}

#[test]
fn code_and_modules_on_the_command_line_need_an_argument_pattern() {
    let policy = policy(&[
        "python3", "node", "ruby", "perl", "php", "awk", "bash", "npx", "npm", "pnpm", "yarn",
        "uvx", "bunx",
    ]);
    insta::assert_snapshot!(table(&[
        "python3 -c 1",
        "python3 -m http.server",
        "python3 build.py",
        "python3 --version",
        "node -e 1",
        "node -r ./x y.js",
        "ruby -r./x -e 1",
        "perl -Mx -e 1",
        "perl -I. x",
        "php -r 1",
        "awk '{print}' file",
        "bash -c ls",
        "npx x",
        "npm exec x",
        "npm x -- y",
        "pnpm dlx x",
        "yarn dlx x",
        "uvx x",
        "bunx x",
    ], &policy), @r"
    python3 -c 1
      ask: `python3 -c 1` is not covered by the entry `python3`: `python3` runs whatever code it is given; it needs an entry with `--args`
    python3 -m http.server
      ask: `python3 -m http.server` is not covered by the entry `python3`: `python3` runs whatever code it is given; it needs an entry with `--args`
    python3 build.py
      ask: `python3 build.py` is not covered by the entry `python3`: `python3` runs whatever code it is given; it needs an entry with `--args`
    python3 --version
      allow: /usr/bin/python3.11 by `python3`
    node -e 1
      ask: `node -e 1` is not covered by the entry `node`: `node` runs whatever code it is given; it needs an entry with `--args`
    node -r ./x y.js
      ask: `node -r ./x y.js` is not covered by the entry `node`: `node` runs whatever code it is given; it needs an entry with `--args`
    ruby -r./x -e 1
      ask: `ruby -r./x -e 1` is not covered by the entry `ruby`: `ruby` runs whatever code it is given; it needs an entry with `--args`
    perl -Mx -e 1
      ask: `perl -Mx -e 1` is not covered by the entry `perl`: `perl` runs whatever code it is given; it needs an entry with `--args`
    perl -I. x
      ask: `perl -I. x` is not covered by the entry `perl`: `perl` runs whatever code it is given; it needs an entry with `--args`
    php -r 1
      ask: `php -r 1` is not covered by the entry `php`: `php` runs whatever code it is given; it needs an entry with `--args`
    awk \'{print}\' file
      ask: `awk '{print}' file` is not covered by the entry `awk`: `awk` runs whatever code it is given; it needs an entry with `--args`
    bash -c ls
      ask: `bash -c ls` is not covered by the entry `bash`: `bash` is a shell and can run anything; it needs an entry with `--args`
    npx x
      ask: `npx x` is not covered by the entry `npx`: `npx` fetches programs and runs them; it needs an entry with `--args`
    npm exec x
      ask: `npm exec x` is not covered by the entry `npm`: it runs what packages say (with `--dir`, an entry covers their scripts there); it needs an entry with `--args`
    npm x -- y
      ask: `npm x -- y` is not covered by the entry `npm`: it runs what packages say (with `--dir`, an entry covers their scripts there); it needs an entry with `--args`
    pnpm dlx x
      ask: `pnpm dlx x` is not covered by the entry `pnpm`: it runs what packages say (with `--dir`, an entry covers their scripts there); it needs an entry with `--args`
    yarn dlx x
      ask: `yarn dlx x` is not covered by the entry `yarn`: it runs what packages say (with `--dir`, an entry covers their scripts there); it needs an entry with `--args`
    uvx x
      ask: `uvx x` is not covered by the entry `uvx`: `uvx` fetches programs and runs them; it needs an entry with `--args`
    bunx x
      ask: `bunx x` is not covered by the entry `bunx`: `bunx` fetches programs and runs them; it needs an entry with `--args`
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
      ask: nobody allowed `/usr/bin/../../proj/tool` [always: /usr/bin/../../proj/tool]
    ./tool
      ask: nobody allowed `./tool` [always: ./tool]
    sub/../tool
      ask: nobody allowed `sub/../tool` [always: sub/../tool]
    ");
    insta::assert_snapshot!(table(&["/bin/sh run.sh", "/usr/bin/../../bin/sh run.sh"], &policy(&["/usr/bin/**", "/bin/**"])), @"
    /bin/sh run.sh
      ask: `/bin/sh run.sh` is not covered by the entry `/usr/bin/**`: `/bin/sh` is a shell and can run anything; it needs an entry with `--args`
    /usr/bin/../../bin/sh run.sh
      ask: `/usr/bin/../../bin/sh run.sh` is not covered by the entry `/usr/bin/**`: `/usr/bin/../../bin/sh` is a shell and can run anything; it needs an entry with `--args`
    ");
}

#[test]
fn argument_patterns_hold_for_all_arguments() {
    let policy = policy(&[
        "git --args status",
        "ls --args -l|-a",
        "cat --args a)|(?:.*",
        "touch --args (",
        "rm --args (?x) a # ",
        "cp --args (?m)^a$",
    ]);
    insta::assert_snapshot!(table(&[
        "git status x",
        "git x status",
        "git 'status x'",
        "git 'status\nx'",
        "ls -l x",
        "ls x -a",
        "ls '-l|-a'",
        "cat /etc/passwd",
        "touch x",
        "rm b",
        "cp 'a\nb'",
    ], &policy), @r"
    git status x
      ask: `git status x` is not covered by the entry `git`: its arguments must be like `status` [always: git status x]
    git x status
      ask: `git x status` is not covered by the entry `git`: its arguments must be like `status`
    git \'status x\'
      ask: `git 'status x'` is not covered by the entry `git`: its arguments must be like `status`
    git \'status\nx\'
      ask: `git 'status\u{a}x'` is not covered by the entry `git`: its arguments must be like `status`
    ls -l x
      ask: `ls -l x` is not covered by the entry `ls`: its arguments must be like `-l|-a` [always: ls -l x]
    ls x -a
      ask: `ls x -a` is not covered by the entry `ls`: its arguments must be like `-l|-a` [always: ls x -a]
    ls \'-l|-a\'
      ask: `ls '-l|-a'` is not covered by the entry `ls`: its arguments must be like `-l|-a` [always: ls -l|-a]
    cat /etc/passwd
      ask: the entry `cat` matches nothing: `a)|(?:.*` is not a valid pattern for arguments [always: cat /etc/passwd]
    touch x
      ask: the entry `touch` matches nothing: `(` is not a valid pattern for arguments [always: touch x]
    rm b
      ask: the entry `rm` matches nothing: `(?x) a # ` is not a valid pattern for arguments [always: rm b]
    cp \'a\nb\'
      ask: `cp 'a\u{a}b'` is not covered by the entry `cp`: its arguments must be like `(?m)^a$` [always: cp a
    b]
    ");
}

#[test]
fn programs_with_a_language_are_never_filters() {
    let mut policy = policy(&[]);
    policy.safe_programs = texts("jq awk sed git find env xargs sh");
    insta::assert_snapshot!(table(&[
        "jq -n env",
        "awk 1",
        "sed p",
        "env",
        "xargs ls",
        "sh",
    ], &policy), @"
    jq -n env
      ask: nobody allowed `jq` [always: jq -n env]
    awk 1
      ask: `awk` runs whatever code it is given; it needs an entry with `--args`
    sed p
      ask: nobody allowed `sed` [always: sed p]
    env
      ask: `env` starts other programs; it needs an entry with `--args`
    xargs ls
      ask: `xargs` starts other programs; it needs an entry with `--args`
    sh
      ask: `sh` is a shell and can run anything; it needs an entry with `--args`
    ");
}

#[test]
fn scripts_of_sed_that_write_or_run_are_not_covered() {
    let policy = policy(&["sed"]);
    insta::assert_snapshot!(table(&[
        "sed 's/a/b/w out' file",
        "sed 's/x/touch y/e' file",
        "sed '1e touch x' file",
        "sed 'w out' file",
        "sed -i s/a/b/ file",
        "sed -f file",
        "sed -n 'p;w out' file",
        r"sed 's/a\/b/e' file",
        "sed 's/[/]/w x/' file",
        "sed 's/a/b/\nw x' file",
        "sed --in-place=x s/a/b/ file",
        "sed -ne 'p' -e 'w x' file",
        "sed 's/a/b/;e' file",
        "sed '/[/s,]/w out,x,' file",
    ], &policy), @r"
    sed \'s/a/b/w out\' file
      ask: `sed 's/a/b/w out' file` is not covered by the entry `sed`: its scripts can run programs and write files; it needs an entry with `--args`
    sed \'s/x/touch y/e\' file
      ask: `sed 's/x/touch y/e' file` is not covered by the entry `sed`: its scripts can run programs and write files; it needs an entry with `--args`
    sed \'1e touch x\' file
      ask: `sed '1e touch x' file` is not covered by the entry `sed`: its scripts can run programs and write files; it needs an entry with `--args`
    sed \'w out\' file
      ask: `sed 'w out' file` is not covered by the entry `sed`: its scripts can run programs and write files; it needs an entry with `--args`
    sed -i s/a/b/ file
      ask: `sed -i s/a/b/ file` is not covered by the entry `sed`: its scripts can run programs and write files; it needs an entry with `--args`
    sed -f file
      ask: `sed -f file` is not covered by the entry `sed`: its scripts can run programs and write files; it needs an entry with `--args`
    sed -n \'p;w out\' file
      ask: `sed -n 'p;w out' file` is not covered by the entry `sed`: its scripts can run programs and write files; it needs an entry with `--args`
    sed \'s/a\\/b/e\' file
      ask: `sed 's/a\/b/e' file` is not covered by the entry `sed`: its scripts can run programs and write files; it needs an entry with `--args`
    sed \'s/[/]/w x/\' file
      ask: `sed 's/[/]/w x/' file` is not covered by the entry `sed`: its scripts can run programs and write files; it needs an entry with `--args`
    sed \'s/a/b/\nw x\' file
      ask: `sed 's/a/b/\u{a}w x' file` is not covered by the entry `sed`: its scripts can run programs and write files; it needs an entry with `--args`
    sed --in-place=x s/a/b/ file
      ask: `sed --in-place=x s/a/b/ file` is not covered by the entry `sed`: its scripts can run programs and write files; it needs an entry with `--args`
    sed -ne \'p\' -e \'w x\' file
      ask: `sed -ne p -e 'w x' file` is not covered by the entry `sed`: its scripts can run programs and write files; it needs an entry with `--args`
    sed \'s/a/b/;e\' file
      ask: `sed 's/a/b/;e' file` is not covered by the entry `sed`: its scripts can run programs and write files; it needs an entry with `--args`
    sed \'/[/s,]/w out,x,\' file
      ask: `sed '/[/s,]/w out,x,' file` is not covered by the entry `sed`: its scripts can run programs and write files; it needs an entry with `--args`
    ");
}

#[test]
fn shells_that_carry_their_command_in_arguments_are_shells() {
    insta::assert_snapshot!(table(&[
        r#"sh -c '$0 "$@"' touch x"#,
        r#"bash -c 'exec "$@"' _ touch x"#,
        "nice sh -c ls",
    ], &generous()), @r#"
    sh -c \'$0 \"$@\"\' touch x
      ask: `sh -c '$0 "$@"' touch x` is not covered by the entry `*`: `sh` is a shell and can run anything; it needs an entry with `--args`
    bash -c \'exec \"$@\"\' _ touch x
      ask: `bash -c 'exec "$@"' _ touch x` is not covered by the entry `*`: `bash` is a shell and can run anything; it needs an entry with `--args`
    nice sh -c ls
      ask: `sh -c ls` is not covered by the entry `*`: `sh` is a shell and can run anything; it needs an entry with `--args`
    "#);
}

#[test]
fn redirections_stay_where_they_may_write() {
    insta::assert_snapshot!(table(&[
        "ls > /etc/passwd",
        "ls > ../home/me/.profile",
        "ls > away",
        "ls > link/x",
        "ls > link/../x",
        "ls > nowhere/x",
        "ls > .git/config",
        "ls >> .envrc",
        "ls > sub",
        "cat < /etc/passwd",
        "cat < away",
        "cat < nothing",
        "ls > tool; ./tool",
        "ls > sub/ok",
    ], &policy(&["ls", "cat", "/proj/tool"])), @"
    ls > /etc/passwd
      ask: `/etc/passwd` is outside of the folders that commands may read and write by redirection
    ls > ../home/me/.profile
      ask: `../home/me/.profile` is in a folder that is not there
    ls > away
      ask: `away` is a link
    ls > link/x
      ask: `link/x` is outside of the folders that commands may read and write by redirection
    ls > link/../x
      ask: `link/../x` is outside of the folders that commands may read and write by redirection
    ls > nowhere/x
      ask: `nowhere/x` is in a folder that is not there
    ls > .git/config
      ask: `.git/config` is hidden; programs take orders from such files, so it is not written by redirection
    ls >> .envrc
      ask: `.envrc` is hidden; programs take orders from such files, so it is not written by redirection
    ls > sub
      ask: `sub` is a folder
    cat < /etc/passwd
      ask: `/etc/passwd` is outside of the folders that commands may read and write by redirection
    cat < away
      ask: `away` is a link
    cat < nothing
      ask: `nothing` is not there
    ls > tool; ./tool
      ask: `/proj/tool` is written and run by the same command
    ls > sub/ok
      allow: /usr/bin/ls by `ls`
    ");
}

#[test]
fn no_sequence_of_harmless_programs_excuses_another() {
    let mut policy = policy(&["cat"]);
    policy.safe_programs.push("printf".to_owned());
    insta::assert_snapshot!(table(&[r"cat SKILL.md && printf '%s\n' x && touch x", "cat a | sh"], &policy), @r"
    cat SKILL.md && printf \'%s\\n\' x && touch x
      ask: nobody allowed `touch` [always: touch x]
    cat a | sh
      ask: `sh` is a shell and can run anything; it needs an entry with `--args`
    ");
}

#[test]
fn tools_of_privilege_never_run() {
    let names = "sudo doas su pkexec runuser gosu setpriv chroot bwrap firejail unshare nsenter proot systemd-run run0 capsh";
    let policy = policy(&["*", "/**", "* --args .*", "/** --args .*"]);
    for name in texts(names) {
        for command in [
            format!("{name} ls"),
            format!("/usr/bin/{name} ls"),
            format!("nice {name} ls"),
            format!("xargs {name} ls"),
        ] {
            let verdict = decide(&command, &Machine::new(), &policy);
            assert!(verdict.starts_with("deny: "), "{command}: {verdict}");
        }
    }
}

#[test]
fn a_link_of_another_name_is_what_it_leads_to() {
    let mut machine = Machine::new();
    machine.link("/usr/bin/harmless", "/usr/bin/bash");
    machine.link("/usr/bin/lister", "/usr/bin/busybox");
    machine.link("/usr/bin/run-as", "/usr/bin/sudo");
    let policy = policy(&["*"]);
    let mut lines = String::new();
    for command in ["harmless -c ls", "run-as ls", "lister x"] {
        lines.push_str(&format!("{command}\n  {}\n", decide(command, &machine, &policy)));
    }
    insta::assert_snapshot!(lines, @"
    harmless -c ls
      ask: `harmless -c ls` is not covered by the entry `*`: `harmless` is a shell and can run anything; it needs an entry with `--args`
    run-as ls
      deny: `run-as` changes who or where a program is; it never runs here
    lister x
      allow: /usr/bin/busybox by `*`
    ");
}

#[test]
fn options_of_git_that_run_programs_are_not_covered() {
    let policy = policy(&["git"]);
    insta::assert_snapshot!(table(&[
        "git -c alias.x='!touch x' x",
        "git -c core.pager=./x log",
        "git --exec-path=. status",
        "git -C /etc status",
        "git --git-dir=sub status",
        "git diff --ext-diff",
        "git diff --output=file",
        "git diff --outp=file",
        "git log --show-signature",
        "git grep -O./x y",
        "git grep --open-files-in-pager=./x y",
        "git branch new",
        "git branch -D old",
        "git config core.pager x",
        "git fetch --upload-pack=./x",
        "git push",
        "git difftool",
        "git bisect run x",
        "git help log",
        "git",
    ], &policy), @r"
    git -c alias.x=\'!touch x\' x
      ask: `git -c 'alias.x=!touch x' x` is not covered by the entry `git`: with other options or subcommands it can run programs and change files; it needs an entry with `--args`
    git -c core.pager=./x log
      ask: `git -c core.pager=./x log` is not covered by the entry `git`: with other options or subcommands it can run programs and change files; it needs an entry with `--args`
    git --exec-path=. status
      ask: `git --exec-path=. status` is not covered by the entry `git`: with other options or subcommands it can run programs and change files; it needs an entry with `--args`
    git -C /etc status
      ask: `git -C /etc status` is not covered by the entry `git`: with other options or subcommands it can run programs and change files; it needs an entry with `--args`
    git --git-dir=sub status
      ask: `git --git-dir=sub status` is not covered by the entry `git`: with other options or subcommands it can run programs and change files; it needs an entry with `--args`
    git diff --ext-diff
      ask: `git diff --ext-diff` is not covered by the entry `git`: with other options or subcommands it can run programs and change files; it needs an entry with `--args`
    git diff --output=file
      ask: `git diff --output=file` is not covered by the entry `git`: with other options or subcommands it can run programs and change files; it needs an entry with `--args`
    git diff --outp=file
      ask: `git diff --outp=file` is not covered by the entry `git`: with other options or subcommands it can run programs and change files; it needs an entry with `--args`
    git log --show-signature
      ask: `git log --show-signature` is not covered by the entry `git`: with other options or subcommands it can run programs and change files; it needs an entry with `--args`
    git grep -O./x y
      ask: `git grep -O./x y` is not covered by the entry `git`: with other options or subcommands it can run programs and change files; it needs an entry with `--args`
    git grep --open-files-in-pager=./x y
      ask: `git grep --open-files-in-pager=./x y` is not covered by the entry `git`: with other options or subcommands it can run programs and change files; it needs an entry with `--args`
    git branch new
      ask: `git branch new` is not covered by the entry `git`: with other options or subcommands it can run programs and change files; it needs an entry with `--args`
    git branch -D old
      ask: `git branch -D old` is not covered by the entry `git`: with other options or subcommands it can run programs and change files; it needs an entry with `--args`
    git config core.pager x
      ask: `git config core.pager x` is not covered by the entry `git`: with other options or subcommands it can run programs and change files; it needs an entry with `--args`
    git fetch --upload-pack=./x
      ask: `git fetch --upload-pack=./x` is not covered by the entry `git`: with other options or subcommands it can run programs and change files; it needs an entry with `--args`
    git push
      ask: `git push` is not covered by the entry `git`: with other options or subcommands it can run programs and change files; it needs an entry with `--args`
    git difftool
      ask: `git difftool` is not covered by the entry `git`: with other options or subcommands it can run programs and change files; it needs an entry with `--args`
    git bisect run x
      ask: `git bisect run x` is not covered by the entry `git`: with other options or subcommands it can run programs and change files; it needs an entry with `--args`
    git help log
      ask: `git help log` is not covered by the entry `git`: with other options or subcommands it can run programs and change files; it needs an entry with `--args`
    git
      ask: `git` is not covered by the entry `git`: with other options or subcommands it can run programs and change files; it needs an entry with `--args`
    ");
}

#[test]
fn options_of_others_that_run_load_or_overwrite_are_not_covered() {
    let policy = policy(&[
        "tar", "ssh", "rsync", "vi", "less", "curl", "wget", "zip", "install", "split", "docker",
        "kubectl", "uniq", "make", "openssl", "nc",
    ]);
    insta::assert_snapshot!(table(&[
        "tar -xf a.tar",
        "tar -tf host:a.tar",
        "tar -tf a.tar --to-command=x",
        "tar -tf a.tar -I x",
        "tar --use-compress-program=x -tf a",
        "ssh -o ProxyCommand=x h",
        "rsync -e x a h:b",
        "vi file",
        "less file",
        "curl -o x https://a",
        "curl -K file",
        "curl file:///etc/passwd",
        "curl -T file https://a",
        "curl -d @file https://a",
        "wget https://a",
        "zip -T -TT x a.zip b",
        "install -s --strip-program=x a b",
        "split --filter=x a",
        "docker run x",
        "kubectl exec x",
        "uniq a b",
        "make test",
        "openssl engine x",
        "nc -e sh h 1",
    ], &policy), @"
    tar -xf a.tar
      ask: `tar -xf a.tar` is not covered by the entry `tar`: unless it only lists, it can run programs and overwrite files; it needs an entry with `--args`
    tar -tf host:a.tar
      ask: `tar -tf host:a.tar` is not covered by the entry `tar`: unless it only lists, it can run programs and overwrite files; it needs an entry with `--args`
    tar -tf a.tar --to-command=x
      ask: `tar -tf a.tar --to-command=x` is not covered by the entry `tar`: unless it only lists, it can run programs and overwrite files; it needs an entry with `--args`
    tar -tf a.tar -I x
      ask: `tar -tf a.tar -I x` is not covered by the entry `tar`: unless it only lists, it can run programs and overwrite files; it needs an entry with `--args`
    tar --use-compress-program=x -tf a
      ask: `tar --use-compress-program=x -tf a` is not covered by the entry `tar`: unless it only lists, it can run programs and overwrite files; it needs an entry with `--args`
    ssh -o ProxyCommand=x h
      ask: `ssh -o ProxyCommand=x h` is not covered by the entry `ssh`: its options can run programs here and elsewhere; it needs an entry with `--args`
    rsync -e x a h:b
      ask: `rsync -e x a h:b` is not covered by the entry `rsync`: its options can run programs here and elsewhere; it needs an entry with `--args`
    vi file
      ask: `vi file` is not covered by the entry `vi`: `vi` runs whatever code it is given; it needs an entry with `--args`
    less file
      ask: `less file` is not covered by the entry `less`: `less` runs whatever code it is given; it needs an entry with `--args`
    curl -o x https://a
      ask: `curl -o x https://a` is not covered by the entry `curl`: with other options it can read, send and overwrite files and load code; it needs an entry with `--args`
    curl -K file
      ask: `curl -K file` is not covered by the entry `curl`: with other options it can read, send and overwrite files and load code; it needs an entry with `--args`
    curl file:///etc/passwd
      ask: `curl file:///etc/passwd` is not covered by the entry `curl`: with other options it can read, send and overwrite files and load code; it needs an entry with `--args`
    curl -T file https://a
      ask: `curl -T file https://a` is not covered by the entry `curl`: with other options it can read, send and overwrite files and load code; it needs an entry with `--args`
    curl -d @file https://a
      ask: `curl -d @file https://a` is not covered by the entry `curl`: with other options it can read, send and overwrite files and load code; it needs an entry with `--args`
    wget https://a
      ask: `wget https://a` is not covered by the entry `wget`: it can read, send and overwrite files and run programs; it needs an entry with `--args`
    zip -T -TT x a.zip b
      ask: `zip -T -TT x a.zip b` is not covered by the entry `zip`: with other options it runs programs; it needs an entry with `--args`
    install -s --strip-program=x a b
      ask: `install -s --strip-program=x a b` is not covered by the entry `install`: with other options it runs programs; it needs an entry with `--args`
    split --filter=x a
      ask: `split --filter=x a` is not covered by the entry `split`: with `--filter` it runs programs; it needs an entry with `--args`
    docker run x
      ask: `docker run x` is not covered by the entry `docker`: it can run programs with everything that this machine has; it needs an entry with `--args`
    kubectl exec x
      ask: `kubectl exec x` is not covered by the entry `kubectl`: it can run programs here and in clusters; it needs an entry with `--args`
    uniq a b
      ask: `uniq a b` is not covered by the entry `uniq`: its second file is overwritten; it needs an entry with `--args`
    make test
      ask: `make test` is not covered by the entry `make`: it runs what a file in its folder says (with `--dir`, an entry covers plain targets there); it needs an entry with `--args` [always: make test]
    openssl engine x
      ask: `openssl engine x` is not covered by the entry `openssl`: `openssl` starts other programs; it needs an entry with `--args`
    nc -e sh h 1
      ask: `nc -e sh h 1` is not covered by the entry `nc`: `nc` starts other programs; it needs an entry with `--args`
    ");
}

#[test]
fn invalid_entries_close_the_door() {
    let mut policy = policy(&[]);
    let mut long = entry("ls");
    long.arguments = Some("a|".repeat(4000));
    let mut huge = entry("ls");
    huge.arguments = Some("((a{500}){500}){500}".to_owned());
    let mut relative = entry("ls");
    relative.directory = Some("proj".into());
    for entry in [long, huge, relative] {
        policy.entries = vec![entry];
        let verdict = decide("ls", &Machine::new(), &policy);
        assert!(verdict.starts_with("ask: the entry `ls`"), "{verdict}");
    }
}

#[test]
fn what_nobody_sees_in_a_plan_is_not_covered_by_it() {
    let mut policy = policy(&["ls"]);
    policy.rules.fallback = metier_approval::Mode::Allowlist;
    for command in ["cd link", "cd link; cd ../sub; ls", "ls; cd link"] {
        let verdict = judge(&parse(command), Path::new(START), &Machine::new(), &policy);
        let verdict = verdict.without_a_person(&policy.rules);
        assert!(matches!(verdict, Verdict::Deny { .. }), "{command}: {verdict:?}");
    }
}
