use super::table;

#[test]
fn whatever_is_expanded_is_refused() {
    insta::assert_snapshot!(table(&[
        "echo $HOME",
        "echo a$1 ",
        "echo $? ",
        "echo \"$HOME\"",
        "echo \"$x y\"",
        "echo \"$\\\"",
        "echo \"a$'b'\"",
        "echo ${x}",
        "echo \"${x:-$(y)}\"",
        "echo $(ls)",
        "echo \"$(ls)\"",
        "echo `ls`",
        "echo \"`ls`\"",
        "echo $((1+1))",
        "echo $[1+1]",
        "echo $'a\\n'",
        "$'ls'",
        "echo $\"a\"",
        "$cmd",
        "A=$(x) ls",
        "ls >$x",
    ]), @r#"
    "echo $HOME"
        5: a variable `$HOME`
    "echo a$1 "
        6: a `$` that could begin an expansion
    "echo $? "
        5: a `$` that could begin an expansion
    "echo \"$HOME\""
        6: a variable `$HOME`
    "echo \"$x y\""
        6: a variable `$x`
    "echo \"$\\\""
        6: a `$` that could begin an expansion
    "echo \"a$'b'\""
        7: a `$` that could begin an expansion
    "echo ${x}"
        5: an expansion `${…}`
    "echo \"${x:-$(y)}\""
        6: an expansion `${…}`
    "echo $(ls)"
        5: a command substitution `$(…)`
    "echo \"$(ls)\""
        6: a command substitution `$(…)`
    "echo `ls`"
        5: a command substitution in backticks
    "echo \"`ls`\""
        6: a command substitution in backticks
    "echo $((1+1))"
        5: arithmetic `$((…))`
    "echo $[1+1]"
        5: arithmetic `$[…]`
    "echo $'a\\n'"
        5: a quote with escapes `$'…'`
    "$'ls'"
        0: a quote with escapes `$'…'`
    "echo $\"a\""
        5: a quote that is translated `$"…"`
    "$cmd"
        0: a variable `$cmd`
    "A=$(x) ls"
        2: a command substitution `$(…)`
    "ls >$x"
        4: a variable `$x`
    "#);
}

#[test]
fn patterns_braces_and_homes_are_refused() {
    insta::assert_snapshot!(table(&[
        "ls *.rs",
        "ls a?",
        "ls [ab]",
        "ls a[",
        "ls [[",
        "\"l\"s*",
        "A=* ls",
        "echo {a,b}",
        "echo a{1..3}",
        "echo a}",
        "echo {} {}x",
        "ls ~",
        "ls ~root/x",
        "ls ~\"x\"",
        "A=~ ls",
        "A=x:~/y ls",
        "echo A=~/x",
        "echo A+=~",
        "cd ~",
        "ls >~/x",
    ]), @r#"
    "ls *.rs"
        3: a glob `*`
    "ls a?"
        4: a glob `?`
    "ls [ab]"
        3: a glob `[`
    "ls a["
        4: a glob `[`
    "ls [["
        3: `[[` (only simple commands can be judged)
    "\"l\"s*"
        4: a glob `*`
    "A=* ls"
        2: a glob `*`
    "echo {a,b}"
        5: a brace expansion `{…}`
    "echo a{1..3}"
        6: a brace expansion `{…}`
    "echo a}"
        6: a brace expansion `{…}`
    "echo {} {}x"
        8: a brace expansion `{…}`
    "ls ~"
        3: `~` at the beginning of a word
    "ls ~root/x"
        3: `~` at the beginning of a word
    "ls ~\"x\""
        3: `~` at the beginning of a word
    "A=~ ls"
        2: `~` after `=` or `:` in an assignment
    "A=x:~/y ls"
        4: `~` after `=` or `:` in an assignment
    "echo A=~/x"
        7: `~` after `=` or `:` in an assignment
    "echo A+=~"
        8: `~` after `=` or `:` in an assignment
    "cd ~"
        3: `~` at the beginning of a word
    "ls >~/x"
        4: `~` at the beginning of a word
    "#);
}

#[test]
fn what_is_more_than_simple_commands_is_refused() {
    insta::assert_snapshot!(table(&[
        "a &",
        "a & b",
        "a |& b",
        "(a)",
        "a; ( b )",
        "((1))",
        "f() { x; }",
        "f () { x; }",
        "a (b)",
        "a )",
        "{ a; }",
        "a; }",
        "if a; then b; fi",
        "! a",
        "a | ! b",
        "time a",
        "a && time b",
        "[[ a == b ]]",
        "for x in a; do b; done",
        "while a; do b; done",
        "case a in b) c;; esac",
        "a ;; b",
        "a ;& b",
        "function f { a; }",
        "coproc a",
        "select x in y; do z; done",
        "in",
        "]]",
        "A=1 if",
    ]), @r#"
    "a &"
        2: a command in the background `&`
    "a & b"
        2: a command in the background `&`
    "a |& b"
        2: errors into a pipe `|&`
    "(a)"
        0: a subshell `(…)`
    "a; ( b )"
        3: a subshell `(…)`
    "((1))"
        0: an arithmetic command `((…))`
    "f() { x; }"
        1: a function or a pattern `(`
    "f () { x; }"
        2: a function or a pattern `(`
    "a (b)"
        2: a function or a pattern `(`
    "a )"
        2: a `)` that closes nothing
    "{ a; }"
        0: a group of commands `{ …; }`
    "a; }"
        3: a group of commands `{ …; }`
    "if a; then b; fi"
        0: `if` (only simple commands can be judged)
    "! a"
        0: `!` (only simple commands can be judged)
    "a | ! b"
        4: `!` (only simple commands can be judged)
    "time a"
        0: `time` (only simple commands can be judged)
    "a && time b"
        5: `time` (only simple commands can be judged)
    "[[ a == b ]]"
        0: `[[` (only simple commands can be judged)
    "for x in a; do b; done"
        0: `for` (only simple commands can be judged)
    "while a; do b; done"
        0: `while` (only simple commands can be judged)
    "case a in b) c;; esac"
        0: `case` (only simple commands can be judged)
    "a ;; b"
        2: `;;` or `;&`, which belongs to `case`
    "a ;& b"
        2: `;;` or `;&`, which belongs to `case`
    "function f { a; }"
        0: `function` (only simple commands can be judged)
    "coproc a"
        0: `coproc` (only simple commands can be judged)
    "select x in y; do z; done"
        0: `select` (only simple commands can be judged)
    "in"
        0: `in` (only simple commands can be judged)
    "]]"
        0: `]]` (only simple commands can be judged)
    "A=1 if"
        4: `if` (only simple commands can be judged)
    "#);
}

#[test]
fn commands_of_the_shell_are_refused() {
    insta::assert_snapshot!(table(&[
        "export A=1",
        "eval ls",
        "\"eval\" ls",
        "e\\val ls",
        "ls; . x",
        ": x",
        "ls | read x",
        "A=1 exec ls",
        ">x set -e",
        "command ls",
        "%1",
        "'' x",
    ]), @r#"
    "export A=1"
        0: `export` is part of the shell
    "eval ls"
        0: `eval` is part of the shell
    "\"eval\" ls"
        0: `eval` is part of the shell
    "e\\val ls"
        0: `eval` is part of the shell
    "ls; . x"
        4: `.` is part of the shell
    ": x"
        0: `:` is part of the shell
    "ls | read x"
        5: `read` is part of the shell
    "A=1 exec ls"
        4: `exec` is part of the shell
    ">x set -e"
        3: `set` is part of the shell
    "command ls"
        0: `command` is part of the shell
    "%1"
        0: a job `%…`
    "'' x"
        0: an empty word where a program should be
    "#);
}

#[test]
fn every_builtin_of_bash_is_refused_or_known() {
    let ordinary = ["cd", "echo", "false", "kill", "printf", "pwd", "test", "true", "["];
    for builtin in ". : [ alias bg bind break builtin caller cd command compgen complete compopt \
        continue declare dirs disown echo enable eval exec exit export false fc fg getopts hash help \
        history jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly \
        return set shift shopt source suspend test times trap true type typeset ulimit umask unalias \
        unset wait"
        .split_whitespace()
    {
        let is_refused = crate::parse(&format!("{builtin} x")).is_err();
        assert_eq!(is_refused, !ordinary.contains(&builtin), "{builtin}");
    }
}
