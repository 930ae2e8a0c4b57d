//! Commands of all kinds, most of which have a plan.

use proptest::prelude::*;
use proptest::sample::select;

/// What a word may have in it, quoted or not.
const NASTY: &[&str] = &[
    "$", "`", "\"", "'", "\\", "*", "?", "[", "]", "{", "}", "{}", "~", "#", "!", "%", "^", "=",
    "+=", ":", ";", "&", "|", "<", ">", "(", ")", " ", "\t", "\n", "\r", "\u{b}", "\u{1}",
    "\u{7f}", "é", "\u{a0}", "\u{2028}", "漢", "$x", "$(yes)", "`yes`", "${x}", "$((1))", "$'a'",
    "$\"a\"", "<(yes)", "\\\n", "//", "..", "-", "1", "2", "A=", "@(a)", "a,b", "{a,b}", "1..3",
    "[a-z]", "~root", "if", "&&", "||", "2>&1", "<<x", "!!",
];

const PLAIN: &[&str] = &[
    "a", "b2", "-l", "--x=y", "file", "sub/f", "./g", "1", "2", "0", "A=1", "if", "cd", "eval",
    "-", "--", "%1", "x:y", "@", "+", ",", "^", "!", "]", "a~", "a#", "é", "a:~", "--x=~", "A=x=~",
    "a$", "=", "==",
];

/// A whole command.
pub(crate) fn command() -> impl Strategy<Value = String> {
    let separator = select(
        &["|", "&&", "||", ";", "\n", " | ", " && ", " || ", "; ", "\n\n", " |\n", "&&\n "][..],
    );
    let rare = select(
        &["&", "|&", ";;", " & ", "(", ")", "|||", "&&;", " \\\n", "#", "{ ", "; }", "! "][..],
    );
    let joint = prop_oneof![60 => separator, 1 => rare];
    let end = prop_oneof![
        30 => select(&["", "", ";", "
    ", " ; "][..]),
        1 => select(&[" &&", "|", " &"][..]),
    ];
    (simple(), prop::collection::vec((joint, simple()), 0..4), end).prop_map(
        |(first, rest, end)| {
            let rest: String =
                rest.into_iter().map(|(joint, simple)| format!("{joint}{simple}")).collect();
            format!("{first}{rest}{end}")
        },
    )
}

/// A word in quotes of some kind.
fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => select(PLAIN).prop_map(str::to_owned),
        6 => prop::collection::vec(fragment(), 1..4).prop_map(|fragments| fragments.concat()),
    ]
}

fn fragment() -> impl Strategy<Value = String> {
    let inside = || prop::collection::vec(prop_oneof![select(NASTY), select(PLAIN)], 0..4);
    let quoted = ["\"a$\"", "\"$ \"", "\"\\a\"", "\"\\$\\`\"", "''", "\"\"", "\"$\"", "\"'\""];
    prop_oneof![
        8 => select(PLAIN).prop_map(str::to_owned),
        8 => inside().prop_map(|pieces| format!("'{}'", pieces.concat().replace('\'', ""))),
        8 => inside().prop_map(|pieces| format!("\"{}\"", escaped(&pieces.concat()))),
        4 => select(quoted.to_vec()).prop_map(str::to_owned),
        5 => select(NASTY).prop_map(|nasty| format!("\\{}", &nasty[..first(nasty)])),
        1 => select(NASTY).prop_map(|nasty| format!("\\{nasty}")),
        1 => select(NASTY).prop_map(|nasty| format!("\"{nasty}\"")),
        1 => select(NASTY).prop_map(str::to_owned),
    ]
}

/// How long the first character of a text is.
fn first(text: &str) -> usize {
    text.chars().next().map_or(0, char::len_utf8)
}

/// What is written in double quotes to say something.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        if matches!(character, '$' | '`' | '"' | '\\') {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

fn program() -> impl Strategy<Value = String> {
    prop_oneof![
        40 => select(&["yes", "yes2", "no", "no2", "\"yes\"", "y'e's", "n\\o", "''no2"][..]).prop_map(str::to_owned),
        2 => word(),
    ]
}

fn variable() -> impl Strategy<Value = String> {
    let name = select(
        &[
            "A", "b_2", "A", "_x", "HOME", "IFS", "PWDX", "CDPATH", "1A", "A+", "A[0]", "\"A\"",
            "é", "TERM",
        ][..],
    );
    (name, word()).prop_map(|(name, value)| format!("{name}={value}"))
}

fn redirection() -> impl Strategy<Value = String> {
    let operator =
        select(&[">", ">>", "<", "2>", "1>", "2>>", "0<", "&>", "&>>", "> ", "2> ", "< "][..]);
    let rare = select(&["3>", "0>", "1<", "<>", ">|", ">&", "<&", "<<<", "{x}>", "02>", "12>"][..]);
    let file = select(
        &[
            "file",
            "sub/f",
            "new",
            "/dev/null",
            "'a b'",
            "1",
            "-",
            "missing/x",
            "sub",
            "/dev/tcp/x/1",
        ][..],
    );
    let target = prop_oneof![20 => file.prop_map(str::to_owned), 2 => word()];
    let copy = select(
        &[
            "2>&1", ">&2", "1>&2", "2>& 1", "2>&1", ">&1", "2>&-", "2>&1-", "0<&1", "2>&0",
            "2>&1>new",
        ][..],
    );
    prop_oneof![
        40 => (operator, target).prop_map(|(operator, target)| format!("{operator}{target}")),
        1 => (rare, word()).prop_map(|(operator, target)| format!("{operator}{target}")),
        12 => copy.prop_map(str::to_owned),
    ]
}

fn change() -> impl Strategy<Value = String> {
    let target = select(
        &[
            "sub",
            "sub/deep",
            "..",
            ".",
            "../..",
            "-- sub",
            "-- -d",
            "-",
            "'sub'",
            "./sub//deep/",
            "link",
            "sub/..",
            "-P sub",
            "''",
            "nowhere",
        ][..],
    );
    target.prop_map(|target| format!("cd {target}"))
}

fn simple() -> impl Strategy<Value = String> {
    let blank = || select(&[" ", " ", " ", "\t", "  ", ""][..]);
    let parts = (
        prop_oneof![5 => Just(Vec::new()), 1 => prop::collection::vec(variable(), 1..3)],
        prop_oneof![8 => Just(String::new()), 1 => redirection()],
        program(),
        prop::collection::vec(word(), 0..4),
        prop::collection::vec((blank(), redirection()), 0..2),
        prop_oneof![8 => Just(String::new()), 1 => word()],
    );
    let run = parts.prop_map(|(variables, redirection, program, words, redirections, last)| {
        let mut text = variables.join(" ");
        for part in [redirection, program].into_iter().chain(words) {
            text += " ";
            text += &part;
        }
        for (blank, redirection) in redirections {
            text += blank;
            text += &redirection;
        }
        if !last.is_empty() {
            text += " ";
            text += &last;
        }
        text
    });
    prop_oneof![5 => run, 1 => change()]
}
