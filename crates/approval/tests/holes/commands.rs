//! What a command is made of.

use std::path::Path;

use metier_approval::{Mode, Verdict, judge, parse, shown};

use crate::bound::approved;
use crate::generous;
use crate::machine::{self, Machine, START, decide, policy, table, texts};

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

#[test]
fn all_arguments_are_shown() {
    let plan = approved(r#"sh -c '$0 "$@"' rm 'a b' file"#, &Machine::new(), &policy(&[]));
    insta::assert_snapshot!(shown(&plan).unwrap().lines.join("\n"), @r#"sh -c '$0 "$@"' rm 'a b' file"#);
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
fn what_nobody_sees_in_a_plan_is_not_covered_by_it() {
    let mut policy = policy(&["ls"]);
    policy.rules.fallback = Mode::Allowlist;
    for command in ["cd link", "cd link; cd ../sub; ls", "ls; cd link"] {
        let verdict = judge(&parse(command), Path::new(START), &Machine::new(), &policy);
        let verdict = verdict.without_a_person(&policy.rules);
        assert!(matches!(verdict, Verdict::Deny { .. }), "{command}: {verdict:?}");
    }
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
      ask: `../home/me/.profile` is a hidden place of the home directory, from which programs take orders
    ls > away
      ask: `away` is a hidden place of the home directory, from which programs take orders
    ls > link/x
      ask: `link/x` is outside of the folders that commands may read and write by redirection
    ls > link/../x
      ask: `link/../x` is outside of the folders that commands may read and write by redirection
    ls > nowhere/x
      ask: `nowhere/x` is in a folder that is not there
    ls > .git/config
      ask: `.git/config` is a place where a git repository has its inner files, by which git runs programs
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
      ask: `tool` is a program, which is not overwritten unasked; `./tool` is `/proj/tool`, which commands could have written
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
fn a_program_is_given_a_bounded_number_of_files() {
    let redirections = ">out ".repeat(17);
    let verdict = decide(&format!("ls {redirections}"), &Machine::new(), &policy(&["ls"]));
    insta::assert_snapshot!(verdict, @"ask: a program is given more than 16 files");
}
