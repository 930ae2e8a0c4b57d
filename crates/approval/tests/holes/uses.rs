//! What an entry covers.

use std::path::Path;
use std::process::{Command, Output};

use metier_approval::{ArgumentRule, quote};
use proptest::prelude::*;

use crate::machine::{Machine, decide, entry, policy, table};

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
      ask: `git status x` is not covered by the entry `git`: its arguments must be like `status`
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
      ask: `cp 'a\u{a}b'` is not covered by the entry `cp`: its arguments must be like `(?m)^a$`
    ");
}

#[test]
fn invalid_entries_close_the_door() {
    let mut policy = policy(&[]);
    let mut long = entry("ls");
    long.arguments = ArgumentRule::Like("a|".repeat(4000));
    let mut huge = entry("ls");
    huge.arguments = ArgumentRule::Like("((a{500}){500}){500}".to_owned());
    let mut relative = entry("ls");
    relative.directory = Some("proj".into());
    for entry in [long, huge, relative] {
        policy.entries = vec![entry];
        let verdict = decide("ls", &Machine::new(), &policy);
        assert!(verdict.starts_with("ask: the entry `ls`"), "{verdict}");
    }
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
        "sed '/[[:x/]/w out' file",
        "sed '/[]/]/d' file",
        "sed '/[a/]/w x' file",
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
    sed \'/[[:x/]/w out\' file
      ask: `sed '/[[:x/]/w out' file` is not covered by the entry `sed`: its scripts can run programs and write files; it needs an entry with `--args`
    sed \'/[]/]/d\' file
      ask: `sed '/[]/]/d' file` is not covered by the entry `sed`: its scripts can run programs and write files; it needs an entry with `--args`
    sed \'/[a/]/w x\' file
      ask: `sed '/[a/]/w x' file` is not covered by the entry `sed`: its scripts can run programs and write files; it needs an entry with `--args`
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
      ask: `split --filter=x a` is not covered by the entry `split`: it overwrites files, whose names its arguments do not say; with `--filter` it runs programs; it needs an entry with `--args`
    docker run x
      ask: `docker run x` is not covered by the entry `docker`: it can run programs with everything that this machine has; it needs an entry with `--args`
    kubectl exec x
      ask: `kubectl exec x` is not covered by the entry `kubectl`: it can run programs here and in clusters; it needs an entry with `--args`
    uniq a b
      ask: `uniq a b` is not covered by the entry `uniq`: its second file is overwritten; it needs an entry with `--args`
    make test
      ask: `make test` is not covered by the entry `make`: it runs what a file in its folder says (with `--dir`, an entry covers plain targets there); it needs an entry with `--args`
    openssl engine x
      ask: `openssl engine x` is not covered by the entry `openssl`: `openssl` starts other programs; it needs an entry with `--args`
    nc -e sh h 1
      ask: `nc -e sh h 1` is not covered by the entry `nc`: `nc` starts other programs; it needs an entry with `--args`
    ");
}

/// Whether the real `sed`, which can refuse to run programs and to write, finds nothing to refuse. None where
/// there is no such.
#[expect(clippy::disallowed_methods, reason = "a test asks the real program")]
fn sed_finds_harmless(script: &str) -> Option<bool> {
    let run = |script: &str| {
        Command::new("sed").args(["--sandbox", "-n", "-e", script, "/dev/null"]).output().ok()
    };
    let refuses = |output: &Output| String::from_utf8_lossy(&output.stderr).contains("sandbox");
    let knows_how = run("w x").is_some_and(|output| refuses(&output) && !output.status.success());
    (knows_how && !Path::new("x").exists()).then(|| !refuses(&run(script).expect("it ran before")))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn sed_itself_finds_nothing_in_scripts_that_are_covered(
        address in "([0-9]{0,2}|\\$|/[a/\\[\\],\\\\]{0,3}/),?([0-9]|\\$|/[a\\[\\]]{0,2}/)?",
        command in "[pdq=]|s[/,|e]?[ab/,|\\\\\\[\\]we; \n]{0,8}[gpIwe1 \n]{0,3}",
    ) {
        let script = format!("{address}{command}");
        let words = ["sed", "-n", "-e", &script, "file"].map(quote).join(" ");
        if decide(&words, &Machine::new(), &policy(&["sed"])).starts_with("allow") {
            prop_assert_ne!(sed_finds_harmless(&script), Some(false), "{}", script);
        }
    }
}
