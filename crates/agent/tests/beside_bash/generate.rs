//! Commands by chance: from everything that means something to a shell, and mostly from what may run.

/// Numbers that look like chance and are the same every time.
pub(crate) struct Chance(u64);

/// Names of programs that may run; how they are written does not matter.
const LISTED: &[&str] = &[
    "ok", "ok", "ok", "ok2", "ok2", "bad", "bad", "bad7", "\"ok\"", "o'k'", "b\\ad", "''bad7",
    "own", "./own", "true", "false",
];
/// Real programs, with words that let them run as filters or by their names.
const REAL: &[&str] = &[
    "head -1",
    "head -n 2",
    "head -c3",
    "tail -1",
    "tail -n +2",
    "wc -l",
    "wc -c",
    "tr a-z A-Z",
    "tr -d '\\n'",
    "tr '[:lower:]' '[:upper:]'",
    "tr -s \"o\"",
    "cut -c1-2",
    "cut -d' ' -f1",
    "cut -d= -f 2",
    "uniq",
    "uniq -c",
    "cat",
    "cat file",
    "cat - sub/f",
    "cat file missing",
    "sort",
    "sort -r file",
    "grep -n o",
    "grep -c '^t'",
    "grep x file",
    "echo a b",
    "echo -n 'x  y'",
    "echo '$x' \"*\"",
    "echo -e 'a\\tb'",
    "printf '%s\\n' a 'b c'",
    "printf '%d|' 1 2",
    "test 1 = 1",
    "test -f file",
    "test -d missing",
    "[ 1 = 2 ]",
    "[ -n x ]",
    "pwd",
    "/usr/bin/head -1",
    "tail -f",
    "sort -o file",
    "head file",
];
/// Real programs that do not say what they are called.
const QUIET: &[&str] =
    &["cat", "head -1", "tr a-z A-Z", "echo -n 'a  b'", "wc -l", "sort -r file", "pwd"];
/// Programs that nobody allowed, that are not there, or that are the shell's.
const UNLISTED: &[&str] = &[
    "other",
    "missing",
    "eval ok",
    "./sub/f",
    "sh -c ok",
    "command ok",
    "exec ok",
    ": ok",
    "../own",
];
/// What starts another program.
const WRAPPERS: &[&str] = &[
    "env",
    "env A=1",
    "env A='x y' B2=",
    "nice",
    "nice -n 5",
    "timeout 20",
    "timeout -s INT 20s",
    "nohup",
    "stdbuf -oL",
    "ionice -t",
    "env nice",
    "timeout 20 env A=3",
    "env -i",
    "env HOME=/",
    "nice nice nice nice nice",
];
/// Words that mean what they say.
const PLAIN: &[&str] = &[
    "a", "b2", "-l", "--x=y", "file", "sub/f", "./g", "1", "2", "0", "A=1", "if", "cd", "eval",
    "-", "--", "%1", "x:y", "@", "+", ",", "^", "!", "]", "a~", "a#", "é", "a:~", "--x=~", "A=x=~",
    "a$", "=", "==", "{}", "[",
];
/// What a word may have in it, quoted or not.
const NASTY: &[&str] = &[
    "$", "`", "\"", "'", "\\", "*", "?", "[", "]", "{", "}", "~", "#", "!", "%", "^", "=", "+=",
    ":", ";", "&", "|", "<", ">", "(", ")", " ", "\t", "\n", "\r", "\u{b}", "\u{1}", "\u{7f}", "é",
    "\u{a0}", "\u{2028}", "漢", "$x", "$(ok)", "`ok`", "${x}", "$((1))", "$'a'", "$\"a\"", "<(ok)",
    "\\\n", "//", "..", "-", "1", "A=", "@(a)", "{a,b}", "1..3", "[a-z]", "~root", "&&", "||",
    "2>&1", "<<x", "!!",
];
const QUOTED: &[&str] =
    &["\"a$\"", "\"$ \"", "\"\\a\"", "\"\\$\\`\"", "''", "\"\"", "\"'\"", "'\"'"];
const VARIABLES: &[&str] = &["A", "A", "B2", "_x"];
const RARE_VARIABLES: &[&str] = &["HOME", "IFS", "CDPATH", "A+", "A[0]", "\"A\"", "LC_X", "PATH"];
const JOINTS: &[&str] = &[
    "|", "&&", "||", ";", "\n", " | ", " && ", " || ", "; ", "\n\n", " |\n", "&&\n ", " | ", " | ",
];
const RARE_JOINTS: &[&str] = &["&", "|&", ";;", " & ", "(", "|||", " \\\n", "#", "; }", " ! "];
const OPERATORS: &[&str] =
    &[">", ">>", "<", "2>", "1>", "2>>", "0<", "&>", "&>>", "> ", "2> ", "< ", "<"];
const RARE_OPERATORS: &[&str] = &[">|", "<>", "3>", "<<<", "<<", "0>", "1<", ">&", "{x}>", "02>"];
const FILES: &[&str] = &["file", "sub/f", "new", "/dev/null", "/dev/null", "'a b'", "./file", "1"];
const RARE_FILES: &[&str] =
    &["sub/../new", "missing/x", "sub", "link", ".hidden", "/dev/tcp/x/1", "../up", "link/x"];
const COPIES: &[&str] = &["2>&1", ">&2", "1>&2", "2>& 1", "2>&1", ">&1", "2>&1>new", ">new 2>&1"];
const CHANGES: &[&str] = &[
    "sub",
    "sub/deep",
    "..",
    ".",
    "-- sub",
    "-- -d",
    "-",
    "'sub'",
    "./sub//deep/",
    "link",
    "sub/..",
    "''",
    "nowhere",
    "deep",
    "../start",
];

impl Chance {
    pub(crate) fn new(seed: u64) -> Self {
        // The first numbers of near seeds would be near each other.
        let mut chance = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        chance.below(2);
        chance
    }

    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }

    fn of(&mut self, choices: &[&'static str]) -> &'static str {
        choices[self.below(choices.len())]
    }

    /// Whether something happens that happens once in so many times.
    fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
}

/// A whole command.
pub(crate) fn command(chance: &mut Chance) -> String {
    let mut text = simple(chance);
    for _ in 0..chance.below(4) {
        text += if chance.once_in(60) { chance.of(RARE_JOINTS) } else { chance.of(JOINTS) };
        text += &simple(chance);
    }
    text += if chance.once_in(60) {
        chance.of(&[" &&", "|", " &"])
    } else {
        chance.of(&["", "", ";", "\n", " ; "])
    };
    text
}

fn simple(chance: &mut Chance) -> String {
    if chance.once_in(7) {
        return format!("cd {}", chance.of(CHANGES));
    }
    let mut parts = Vec::new();
    for _ in 0..[0, 0, 0, 0, 0, 1, 1, 2][chance.below(8)] {
        parts.push(variable(chance));
    }
    if chance.once_in(9) {
        parts.push(redirection(chance));
    }
    let is_wrapped = chance.once_in(6);
    if is_wrapped {
        parts.push(chance.of(WRAPPERS).to_owned());
    }
    match chance.below(60) {
        0 => parts.push(chance.of(UNLISTED).to_owned()),
        1 if !is_wrapped => parts.push(word(chance)),
        2..=10 if is_wrapped => parts.push(chance.of(QUIET).to_owned()),
        2..=22 if !is_wrapped => parts.push(chance.of(REAL).to_owned()),
        _ => {
            parts.push(chance.of(LISTED).to_owned());
            for _ in 0..chance.below(4) {
                parts.push(word(chance));
            }
        }
    }
    let mut text = parts.join(chance.of(&[" ", " ", "  ", "\t"]));
    for _ in 0..[0, 0, 0, 1, 2][chance.below(5)] {
        text += chance.of(&[" ", " ", "\t", ""]);
        text += &redirection(chance);
    }
    if !is_wrapped && chance.once_in(12) {
        text += " ";
        text += &word(chance);
    }
    text
}

/// A word in quotes of some kind.
fn word(chance: &mut Chance) -> String {
    if chance.once_in(2) {
        return chance.of(PLAIN).to_owned();
    }
    (0..=chance.below(3)).map(|_| fragment(chance)).collect()
}

fn fragment(chance: &mut Chance) -> String {
    let inside = |chance: &mut Chance| -> String {
        let count = chance.below(4);
        (0..count)
            .map(|_| if chance.once_in(3) { chance.of(PLAIN) } else { chance.of(NASTY) })
            .collect()
    };
    match chance.below(40) {
        0..=10 => chance.of(PLAIN).to_owned(),
        11..=20 => format!("'{}'", inside(chance).replace('\'', "")),
        21..=30 => format!("\"{}\"", escaped(&inside(chance))),
        31..=34 => chance.of(QUOTED).to_owned(),
        35..=37 => {
            let nasty = chance.of(NASTY);
            format!("\\{}", nasty.chars().next().unwrap())
        }
        38 => format!("\"{}\"", chance.of(NASTY)),
        _ => chance.of(NASTY).to_owned(),
    }
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

fn variable(chance: &mut Chance) -> String {
    let name = if chance.once_in(12) { chance.of(RARE_VARIABLES) } else { chance.of(VARIABLES) };
    format!("{name}={}", word(chance))
}

fn redirection(chance: &mut Chance) -> String {
    if chance.once_in(4) {
        return chance.of(COPIES).to_owned();
    }
    let operator =
        if chance.once_in(20) { chance.of(RARE_OPERATORS) } else { chance.of(OPERATORS) };
    match chance.below(20) {
        0 => format!("{operator}{}", word(chance)),
        1 => format!("{operator}{}", chance.of(RARE_FILES)),
        _ => format!("{operator}{}", chance.of(FILES)),
    }
}
