use super::table;

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
