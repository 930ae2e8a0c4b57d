//! Programs that start others.

use crate::generous;
use crate::machine::{Machine, decide, policy, table, texts};

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
fn what_a_wrapper_starts_by_a_link_must_be_taken_by_its_name() {
    // Of a program that is many only the name says which, so a wrapper gets the link and not where it leads.
    let mut machine = Machine::new();
    for path in ["/usr/bin/df", "/proj/df", "/opt/df"] {
        machine.link(path, "/usr/bin/busybox");
    }
    let policy = policy(&["df", "/usr/bin/busybox"]);
    let decisions = ["env df sh", "./df sh", "env ./df sh", "nice /opt/df sh"]
        .map(|command| format!("{command}: {}", decide(command, &machine, &policy)));
    insta::assert_snapshot!(decisions.join("\n"), @"
    env df sh: allow: /usr/bin/env > /usr/bin/busybox by `df`
    ./df sh: allow: /usr/bin/busybox by `/usr/bin/busybox`
    env ./df sh: ask: `./df` is `/proj/df`, which is in none of the trusted folders
    nice /opt/df sh: ask: `/opt/df` is `/opt/df`, which is in none of the trusted folders
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
      allow: /usr/bin/awk by `awk`
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
