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

#[test]
fn unusual_redirections_are_refused() {
    insta::assert_snapshot!(table(&[
        "cat <<EOF\n$(x)\nEOF",
        "cat <<-EOF\nEOF",
        "cat <<<x",
        "cat <(x)",
        "tee >(x)",
        "a >|x",
        "a <>x",
        "a 2>&-",
        "a >&1-",
        "a <&0",
        "a >&x",
        "a >&3",
        "a >&0",
        "a >&\"1\"",
        "a 3>x",
        "a 3</dev/null",
        "a 02>x",
        "a 99999999999999999999>x",
        "a {fd}>x",
        "a 0>x",
        "a 1<x",
        "a 2<x",
        "a 0>&1",
        "a >",
        "a > ;",
        "a > >x",
        "a >2>x",
        "a > ''",
        ">x",
        "a; 2>&1",
    ]), @r#"
    "cat <<EOF\n$(x)\nEOF"
        4: a here-document `<<`
    "cat <<-EOF\nEOF"
        4: a here-document `<<`
    "cat <<<x"
        4: a here-string `<<<`
    "cat <(x)"
        4: a process substitution `<(…)`
    "tee >(x)"
        4: a process substitution `>(…)`
    "a >|x"
        2: a file that is emptied in any case `>|`
    "a <>x"
        2: a file for reading and writing `<>`
    "a 2>&-"
        5: a descriptor that is closed or moved `>&-`
    "a >&1-"
        4: a descriptor that is closed or moved `>&-`
    "a <&0"
        2: a copied input `<&`
    "a >&x"
        4: `>&` with something other than a descriptor
    "a >&3"
        4: a copy of a descriptor other than 1 and 2
    "a >&0"
        4: an output that is a copy of standard input
    "a >&\"1\""
        4: `>&` with something other than a descriptor
    "a 3>x"
        2: a descriptor other than 0, 1 and 2
    "a 3</dev/null"
        2: a descriptor other than 0, 1 and 2
    "a 02>x"
        2: a descriptor other than 0, 1 and 2
    "a 99999999999999999999>x"
        2: a descriptor other than 0, 1 and 2
    "a {fd}>x"
        2: a descriptor with a name `{name}>`
    "a 0>x"
        2: standard input that is written to
    "a 1<x"
        2: an output that is read from a file
    "a 2<x"
        2: an output that is read from a file
    "a 0>&1"
        2: standard input that is written to
    "a >"
        2: a redirection without a target
    "a > ;"
        2: a redirection without a target
    "a > >x"
        2: a redirection without a target
    "a >2>x"
        2: a redirection without a target
    "a > ''"
        4: a redirection to an empty name
    ">x"
        0: a redirection without a command
    "a; 2>&1"
        3: a redirection without a command
    "#);
}

#[test]
fn devices_are_refused_however_they_are_written() {
    insta::assert_snapshot!(table(&[
        "a >/dev/tcp/127.0.0.1/80",
        "a </dev/udp/h/1",
        "a >/dev/stdout",
        "a >//dev/null",
        "a >/./dev/sda",
        "a >/x/../dev/sda",
        "a >/../dev/sda",
        "a >/dev/../x",
        "a >/dev",
        "a >\"/d\"ev/x",
    ]), @r#"
    "a >/dev/tcp/127.0.0.1/80"
        3: a redirection to something below `/dev` other than `/dev/null`
    "a </dev/udp/h/1"
        3: a redirection to something below `/dev` other than `/dev/null`
    "a >/dev/stdout"
        3: a redirection to something below `/dev` other than `/dev/null`
    "a >//dev/null"
        3: a redirection to something below `/dev` other than `/dev/null`
    "a >/./dev/sda"
        3: a redirection to something below `/dev` other than `/dev/null`
    "a >/x/../dev/sda"
        3: a redirection to something below `/dev` other than `/dev/null`
    "a >/../dev/sda"
        3: a redirection to something below `/dev` other than `/dev/null`
    "a >/dev/../x"
        3: a redirection to something below `/dev` other than `/dev/null`
    "a >/dev"
        3: a redirection to something below `/dev` other than `/dev/null`
    "a >\"/d\"ev/x"
        3: a redirection to something below `/dev` other than `/dev/null`
    "#);
}

#[test]
fn unusual_assignments_are_refused() {
    insta::assert_snapshot!(table(&[
        "A=1",
        "A=1 >x",
        "a; A=1 B=2; b",
        "A+=1 ls",
        "A[0]=1 ls",
        "A[0]+=1 ls",
        "A=(1 2)",
        "PATH=/x ls",
        "BASH_ENV=x ls",
        "UID=0 ls",
        "SHLVL=1 ls",
        "_=1 ls",
    ]), @r#"
    "A=1"
        0: an assignment without a command
    "A=1 >x"
        0: an assignment without a command
    "a; A=1 B=2; b"
        3: an assignment without a command
    "A+=1 ls"
        0: an assignment that appends `NAME+=…`
    "A[0]=1 ls"
        1: an assignment to an element of an array `NAME[…]=`
    "A[0]+=1 ls"
        1: an assignment to an element of an array `NAME[…]=`
    "A=(1 2)"
        2: an array `NAME=(…)`
    "PATH=/x ls"
        0: `PATH=…`, which means something to the shell itself
    "BASH_ENV=x ls"
        0: `BASH_ENV=…`, which means something to the shell itself
    "UID=0 ls"
        0: `UID=…`, which means something to the shell itself
    "SHLVL=1 ls"
        0: `SHLVL=…`, which means something to the shell itself
    "_=1 ls"
        0: `_=…`, which means something to the shell itself
    "#);
}

#[test]
fn unusual_changes_of_folder_are_refused() {
    insta::assert_snapshot!(table(&[
        "cd",
        "cd --",
        "cd -",
        "cd -- -",
        "cd ''",
        "cd -P x",
        "cd a b",
        "cd -- a b",
        "cd a | b",
        "a | cd b",
        "cd a >x",
        "A=1 cd a",
        "cd a/../b",
        "cd ../a/..",
    ]), @r#"
    "cd"
        0: `cd` without a folder
    "cd --"
        0: `cd` without a folder
    "cd -"
        0: `cd -`, which goes back to the folder before
    "cd -- -"
        0: `cd -`, which goes back to the folder before
    "cd ''"
        0: `cd` to an empty name
    "cd -P x"
        0: `cd` with an option
    "cd a b"
        0: `cd` to more than one folder
    "cd -- a b"
        0: `cd` to more than one folder
    "cd a | b"
        0: `cd` in a pipeline, where it changes nothing for others
    "a | cd b"
        4: `cd` in a pipeline, where it changes nothing for others
    "cd a >x"
        0: `cd` with a redirection
    "A=1 cd a"
        4: `cd` with an assignment
    "cd a/../b"
        0: `..` behind a name, in the target of `cd`
    "cd ../a/.."
        0: `..` behind a name, in the target of `cd`
    "#);
}

#[test]
fn a_folder_that_depends_on_what_happens_is_refused() {
    insta::assert_snapshot!(table(&[
        "a && cd x; b",
        "a || cd x; b",
        "a || cd x && b",
        "a && cd x; cd y",
        "cd x || a",
        "cd x && a || cd y; b",
    ]), @r#"
    "a && cd x; b"
        11: which folder this runs in depends on what happens before
    "a || cd x; b"
        11: which folder this runs in depends on what happens before
    "a || cd x && b"
        13: which folder this runs in depends on what happens before
    "a && cd x; cd y"
        11: which folder this runs in depends on what happens before
    "cd x || a"
        8: a command that never runs, since `cd` does not fail here
    "cd x && a || cd y; b"
        19: which folder this runs in depends on what happens before
    "#);
}

#[test]
fn what_bash_would_not_read_either_is_refused() {
    insta::assert_snapshot!(table(&[
        "",
        " \n\t\n",
        ";",
        "; a",
        "a ; ; b",
        "a\n;b",
        "| a",
        "a | | b",
        "a |",
        "a && \n",
        "a || ; b",
        "a && && b",
        "a &&& b",
        "a\n&& b",
        "echo 'a",
        "echo \"a",
        "echo \"a\\\"",
        "echo \\",
        "a\0b",
    ]), @r#"
    ""
        0: an empty command
    " \n\t\n"
        4: an empty command
    ";"
        0: no command before `;`
    "; a"
        0: no command before `;`
    "a ; ; b"
        4: no command before `;`
    "a\n;b"
        2: no command before `;`
    "| a"
        0: no command before `|`
    "a | | b"
        4: no command before `|`
    "a |"
        2: no command after `|`
    "a && \n"
        2: no command after `&&`
    "a || ; b"
        5: no command before `;`
    "a && && b"
        5: no command before `&&`
    "a &&& b"
        4: a command in the background `&`
    "a\n&& b"
        2: no command before `&&`
    "echo 'a"
        5: a quote `'` that is never closed
    "echo \"a"
        5: a quote `"` that is never closed
    "echo \"a\\\""
        5: a quote `"` that is never closed
    "echo \\"
        5: a backslash with nothing after it
    "a\0b"
        1: a NUL character
    "#);
}

#[test]
fn comments_and_continued_lines_are_refused() {
    insta::assert_snapshot!(table(&[
        "ls # all",
        "#!/bin/sh",
        "a;#b",
        "l\\\ns",
        "ls \\\n -l",
        "echo \"a\\\nb\"",
        "echo $\\\n(x)",
    ]), @r##"
    "ls # all"
        3: a comment `#`
    "#!/bin/sh"
        0: a comment `#`
    "a;#b"
        2: a comment `#`
    "l\\\ns"
        1: a line continuation
    "ls \\\n -l"
        3: a line continuation
    "echo \"a\\\nb\""
        7: a line continuation
    "echo $\\\n(x)"
        5: a `$` that could begin an expansion
    "##);
}
