//! Programs that are only filters.

use crate::machine::{Machine, decide, policy, table, texts};

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
      ask: as a filter `date` may not have the option `-s`; it needs an entry
    date -f file
      ask: as a filter `date` may not have the option `-f`; it needs an entry
    date -r file
      ask: as a filter `date` may not have the option `-r`; it needs an entry [always: date -r file]
    date 01011200
      ask: as a filter `date` reads only what is piped into it, not `01011200`; it needs an entry
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
