use super::{outcome, table};
use crate::parse::{MAX_WORDS, parse, quote};

#[test]
fn words_are_what_is_left_without_quotes() {
    insta::assert_snapshot!(table(&[
        "ls",
        " \tls\t-la  ",
        "echo 'a b' \"c d\" e\\ f g'h'\"i\"j",
        "echo '' \"\" ''\"\"",
        r#"echo "\$ \` \" \\ \a \' '" '\ "'"#,
        r"echo \$ \` \' \\ \a \* \~ \# \{",
        "echo 'new\nline' \"new\nline\"",
        "l\\s \"-\"l",
        "echo é\\ü 'ß' \u{a0} \u{2003}x",
        "echo a\rb \u{1} \u{7f}",
        "echo a#b a~ =x == ! !x ^ % @ + , a]",
    ]), @r##"
    "ls"
        ["ls"]
    " \tls\t-la  "
        ["ls", "-la"]
    "echo 'a b' \"c d\" e\\ f g'h'\"i\"j"
        ["echo", "a b", "c d", "e f", "ghij"]
    "echo '' \"\" ''\"\""
        ["echo", "", "", ""]
    "echo \"\\$ \\` \\\" \\\\ \\a \\' '\" '\\ \"'"
        ["echo", "$ ` \" \\ \\a \\' '", "\\ \""]
    "echo \\$ \\` \\' \\\\ \\a \\* \\~ \\# \\{"
        ["echo", "$", "`", "'", "\\", "a", "*", "~", "#", "{"]
    "echo 'new\nline' \"new\nline\""
        ["echo", "new\nline", "new\nline"]
    "l\\s \"-\"l"
        ["ls", "-l"]
    "echo é\\ü 'ß' \u{a0} \u{2003}x"
        ["echo", "éü", "ß", "\u{a0}", "\u{2003}x"]
    "echo a\rb \u{1} \u{7f}"
        ["echo", "a\rb", "\u{1}", "\u{7f}"]
    "echo a#b a~ =x == ! !x ^ % @ + , a]"
        ["echo", "a#b", "a~", "=x", "==", "!", "!x", "^", "%", "@", "+", ",", "a]"]
    "##);
}

#[test]
fn a_dollar_before_the_end_of_a_word_is_itself() {
    insta::assert_snapshot!(table(&[
        "grep foo$ x",
        "echo $ $;echo $|cat",
        "echo a$>x",
        "grep \"foo$\" \"$ 5\" \"a$\"b",
    ]), @r#"
    "grep foo$ x"
        ["grep", "foo$", "x"]
    "echo $ $;echo $|cat"
        ["echo", "$", "$"]
        ["echo", "$"] into ["cat"]
    "echo a$>x"
        ["echo", "a$"] Output=Write("x")
    "grep \"foo$\" \"$ 5\" \"a$\"b"
        ["grep", "foo$", "$ 5", "a$b"]
    "#);
}

#[test]
fn words_that_only_look_special_are_themselves() {
    insta::assert_snapshot!(table(&[
        "[ -f x ]",
        "find . -name x -exec echo {} \\;",
        "echo if then cd export A=1 [",
        "echo --prefix=~ a:~ x=y:z -A=~ \"A\"=~ A=b~c",
        "\"if\" 'A=1' \\time A\\=1",
        "'A'=1 ls",
    ]), @r#"
    "[ -f x ]"
        ["[", "-f", "x", "]"]
    "find . -name x -exec echo {} \\;"
        ["find", ".", "-name", "x", "-exec", "echo", "{}", ";"]
    "echo if then cd export A=1 ["
        ["echo", "if", "then", "cd", "export", "A=1", "["]
    "echo --prefix=~ a:~ x=y:z -A=~ \"A\"=~ A=b~c"
        ["echo", "--prefix=~", "a:~", "x=y:z", "-A=~", "A=~", "A=b~c"]
    "\"if\" 'A=1' \\time A\\=1"
        ["if", "A=1", "time", "A=1"]
    "'A'=1 ls"
        ["A=1", "ls"]
    "#);
}

#[test]
fn commands_are_joined() {
    insta::assert_snapshot!(table(&[
        "a | b | c",
        "a && b || c; d",
        "a\nb;\n\n c \n",
        "\n a |\n\n b &&\n c ||\n d;",
        "a|b&&c||d;e",
    ]), @r#"
    "a | b | c"
        ["a"] into ["b"] into ["c"]
    "a && b || c; d"
        ["a"]
        then ["b"]
        else ["c"]
        ["d"]
    "a\nb;\n\n c \n"
        ["a"]
        ["b"]
        ["c"]
    "\n a |\n\n b &&\n c ||\n d;"
        ["a"] into ["b"]
        then ["c"]
        else ["d"]
    "a|b&&c||d;e"
        ["a"] into ["b"]
        then ["c"]
        else ["d"]
        ["e"]
    "#);
}

#[test]
fn redirections_keep_their_order() {
    insta::assert_snapshot!(table(&[
        "ls 2>&1",
        "grep -n foo file 2>/dev/null | wc -l",
        "a >out 2>err <in",
        "a >>out 2>>err 0<in 1>x",
        ">x a b 2>& 1 c",
        "a &>x",
        "a &>>x",
        "a &> /dev/null",
        "a 2&>x",
        "a >&2 1>&2 2>&2",
        "a 2>&1>x",
        "a < /dev/null > 'my file' >1",
        "a2>x a 2 >x \\2>x '2'>x",
        "a > devil > dev/x > ./dev > /device",
    ]), @r#"
    "ls 2>&1"
        ["ls"] Error=Same(Output)
    "grep -n foo file 2>/dev/null | wc -l"
        ["grep", "-n", "foo", "file"] Error=Nothing into ["wc", "-l"]
    "a >out 2>err <in"
        ["a"] Output=Write("out") Error=Write("err") Input=Read("in")
    "a >>out 2>>err 0<in 1>x"
        ["a"] Output=Append("out") Error=Append("err") Input=Read("in") Output=Write("x")
    ">x a b 2>& 1 c"
        ["a", "b", "c"] Output=Write("x") Error=Same(Output)
    "a &>x"
        ["a"] Output=Write("x") Error=Same(Output)
    "a &>>x"
        ["a"] Output=Append("x") Error=Same(Output)
    "a &> /dev/null"
        ["a"] Output=Nothing Error=Same(Output)
    "a 2&>x"
        ["a", "2"] Output=Write("x") Error=Same(Output)
    "a >&2 1>&2 2>&2"
        ["a"] Output=Same(Error) Output=Same(Error) Error=Same(Error)
    "a 2>&1>x"
        ["a"] Error=Same(Output) Output=Write("x")
    "a < /dev/null > 'my file' >1"
        ["a"] Input=Nothing Output=Write("my file") Output=Write("1")
    "a2>x a 2 >x \\2>x '2'>x"
        ["a2", "a", "2", "2", "2"] Output=Write("x") Output=Write("x") Output=Write("x") Output=Write("x")
    "a > devil > dev/x > ./dev > /device"
        ["a"] Output=Write("devil") Output=Write("dev/x") Output=Write("./dev") Output=Write("/device")
    "#);
}

#[test]
fn variables_come_before_the_program() {
    insta::assert_snapshot!(table(&[
        "A=1 _b2='x y' C= ls",
        ">x A=1 ls B=2",
        "A=b=c:d\"e\" ls",
        "A=1 A=2 if",
        "HOME=/x LC_ALL=C ls",
    ]), @r#"
    "A=1 _b2='x y' C= ls"
        A="1" _b2="x y" C="" ["ls"]
    ">x A=1 ls B=2"
        A="1" ["ls", "B=2"] Output=Write("x")
    "A=b=c:d\"e\" ls"
        A="b=c:de" ["ls"]
    "A=1 A=2 if"
        8: `if` (only simple commands can be judged)
    "HOME=/x LC_ALL=C ls"
        HOME="/x" LC_ALL="C" ["ls"]
    "#);
}

#[test]
fn the_folder_is_followed() {
    insta::assert_snapshot!(table(&[
        "cd sub && make test",
        "cd sub; cd ..; ls",
        "cd a/b/./c//d; cd ../..; ls; cd ../../../..; ls",
        "cd /x; cd ..; cd ..; cd y; ls",
        "cd ../up; ls; cd ../..; ls",
        "cd -- -x && cd ./- && ls",
        "\"cd\" 'a b' && ls",
        "a && cd x && b",
        "a || b; cd x; c | d",
        "a; cd x && b || c; d",
        "cd . && ls",
        "a && cd x || b",
        "cd x || cd y; ls",
    ]), @r#"
    "cd sub && make test"
        enter "sub"
        then ["make", "test"] in "sub"
    "cd sub; cd ..; ls"
        enter "sub"
        enter ""
        ["ls"]
    "cd a/b/./c//d; cd ../..; ls; cd ../../../..; ls"
        enter "a/b/c/d"
        enter "a/b"
        ["ls"] in "a/b"
        enter "../.."
        ["ls"] in "../.."
    "cd /x; cd ..; cd ..; cd y; ls"
        enter "/x"
        enter "/"
        enter "/"
        enter "/y"
        ["ls"] in "/y"
    "cd ../up; ls; cd ../..; ls"
        enter "../up"
        ["ls"] in "../up"
        enter "../.."
        ["ls"] in "../.."
    "cd -- -x && cd ./- && ls"
        enter "-x"
        then enter "-x/-"
        then ["ls"] in "-x/-"
    "\"cd\" 'a b' && ls"
        enter "a b"
        then ["ls"] in "a b"
    "a && cd x && b"
        ["a"]
        then enter "x"
        then ["b"] in "x"
    "a || b; cd x; c | d"
        ["a"]
        else ["b"]
        enter "x"
        ["c"] in "x" into ["d"] in "x"
    "a; cd x && b || c; d"
        ["a"]
        enter "x"
        then ["b"] in "x"
        else ["c"] in "x"
        ["d"] in "x"
    "cd . && ls"
        enter ""
        then ["ls"]
    "a && cd x || b"
        ["a"]
        then enter "x"
        else ["b"]
    "cd x || cd y; ls"
        8: a command that never runs, since `cd` does not fail here
    "#);
}

#[test]
fn limits_are_where_they_are_said_to_be() {
    let words = |count: usize| "a ".repeat(count);
    assert!(parse(&words(MAX_WORDS)).is_ok());
    assert_eq!(outcome(&words(MAX_WORDS + 1)), "32768: more than 16384 words");
    let variables = |count: usize| "A=1 ".repeat(count) + "ls";
    assert!(parse(&variables(64)).is_ok());
    assert_eq!(outcome(&variables(65)), "256: more than 64 variables for a command");
    assert!(parse(&"a;".repeat(1024)).is_ok());
    assert_eq!(outcome(&"a;".repeat(1025)), "2048: more than 1024 commands");
    assert!(parse(&"a".repeat(128 << 10)).is_ok());
    assert_eq!(outcome(&"a".repeat((128 << 10) + 1)), "131072: a command of more than 128 KiB");
    assert!(parse(&format!("cd {}", "a/".repeat(2_000))).is_ok());
    assert_eq!(outcome(&"cd aaaaaaaa;".repeat(1_000)), "5460: a folder with a very long path");
    let mut branches: String = (0..17).map(|index| format!("a && cd d{index} && ")).collect();
    branches += "b";
    assert_eq!(outcome(&branches), "230: too many folders in which the rest could run");
}

#[test]
fn a_text_that_is_too_long_is_refused_between_characters() {
    let text = format!("a{}", "é".repeat(64 << 10));
    assert_eq!(outcome(&text), "131071: a command of more than 128 KiB");
}

#[test]
fn arguments_are_quoted_only_if_they_must_be() {
    let words = [
        "ls", "-la", "a/b.c", "A=1", "--x=y:z", "é", "[", "{}", "if", "", "a b", "it's", "$x",
        "it's $x", "~", "A=~", "*", "a\nb", "\\", "\"", "#", "!", "a;b", "\u{a0}",
    ];
    let quoted: Vec<String> = words.iter().map(|word| quote(word)).collect();
    insta::assert_snapshot!(quoted.join("  "), @r#"
    ls  -la  a/b.c  A=1  --x=y:z  é  [  {}  if  ''  'a b'  "it's"  '$x'  'it'\''s $x'  '~'  'A=~'  '*'  'a
    b'  '\'  '"'  '#'  '!'  'a;b'  ' '
    "#);
}

#[test]
fn a_plan_is_written_as_it_would_be_by_hand() {
    let texts = [
        "cd sub&&make   test|tee 'log'>/dev/null;ls 2>&1",
        "A='x y' B= ls>a 2>>b</dev/null &>c",
        "cd a/b; cd ..; cd c; cd ../../x; cd /y/z; cd ..; cd . ; cd -- -q; cd ./-",
        "\"if\" if; 'A=1' A=1; \"[\" ]",
    ];
    let written: Vec<String> = texts
        .iter()
        .map(|text| parse(text).map_or_else(|e| e.what, |plan| plan.to_string()))
        .collect();
    insta::assert_snapshot!(written.join("\n"), @"
    cd sub && make test | tee log >/dev/null; ls 2>&1
    A='x y' B= ls >a 2>>b </dev/null >c 2>&1
    cd a/b; cd ..; cd c; cd ../../x; cd /y/z; cd /y; cd .; cd -- -q; cd ./-
    'if' if; 'A=1' A=1; [ ']'
    ");
}
