//! Secrets in what a person is shown, masked.
//!
//! A mask must never hide a command. So only signs that do nothing in a shell are masked, and where a text could
//! be one for a shell, or a word could be something else than a value, only what cannot be the name of a program.
//! Behind a blank a shell could take anything for a program: there only quotes tell that it is none. Signs that
//! nobody sees do not keep a secret from being found.

use super::quotes::quoted;
use crate::tables;

/// What stands in the place of a secret.
const MASK: &str = "****";
/// Programs that take a name and a password as one word.
const CLIENTS: &[&str] = &["curl", "wget", "http", "https", "xh", "xhs", "curlie"];
/// What names of secrets contain, in small letters and without `-` and `_`.
const NAMES: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "privatekey",
    "credential",
    "authorization",
    "cookie",
    "signature",
    "authkey",
    "clientkey",
    "sessionkey",
];
/// Names that are a secret only as a whole.
const WHOLE_NAMES: &[&str] = &["auth", "key", "pass", "pwd", "bearer", "pat"];
/// What names end with that say where a secret is, not what it is.
const PLACES: &[&str] =
    &["file", "path", "command", "cmd", "helper", "program", "url", "name", "type", "dir"];
/// What keys of well-known services begin with, and how many more signs they have at least.
const SHAPES: &[(&str, usize)] = &[
    ("sk-", 16),
    ("sk_live_", 10),
    ("sk_test_", 10),
    ("rk_live_", 10),
    ("pk_live_", 10),
    ("ghp_", 20),
    ("gho_", 20),
    ("ghu_", 20),
    ("ghs_", 20),
    ("ghr_", 20),
    ("github_pat_", 20),
    ("glpat-", 16),
    ("AKIA", 16),
    ("ASIA", 16),
    ("AIza", 30),
    ("ya29.", 20),
    ("xoxa-", 10),
    ("xoxb-", 10),
    ("xoxp-", 10),
    ("xoxr-", 10),
    ("xoxs-", 10),
    ("xapp-", 10),
    ("hf_", 20),
    ("npm_", 30),
    ("pypi-", 30),
    ("dop_v1_", 30),
    ("SG.", 30),
    ("eyJ", 30),
    ("shpat_", 20),
    ("tvly-", 16),
    ("gsk_", 20),
    ("lin_api_", 16),
    ("ntn_", 20),
    ("AGE-SECRET-KEY-", 20),
];

/// A text of several words with its secrets masked.
pub(super) fn masked(text: &str, is_hidden: fn(char) -> bool) -> (String, bool) {
    let seen = Seen::new(text, is_hidden);
    let parts = quoted(&seen.text);
    seen.masked(text, &parts)
}

/// Where a word stands in a command.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place<'a> {
    /// The program that gets it, as it is written.
    pub(super) program: &'a str,
    /// Whether that program does what it does by itself, and starts or reads no other.
    pub(super) is_ordinary: bool,
    /// The arguments before it.
    pub(super) before: &'a [String],
}

/// An argument with its secrets masked.
pub(super) fn masked_word(
    word: &str,
    place: Place<'_>,
    is_hidden: fn(char) -> bool,
) -> (String, bool) {
    let option = place.option().filter(|option| !option.contains('='));
    if let Some(option) = option {
        let option: String = option.chars().filter(|character| !is_hidden(*character)).collect();
        let is_value = is_secret_name(option.trim_start_matches('-')) && !word.starts_with('-');
        if is_value && is_no_program(word) {
            return masked_value("password", word, is_hidden);
        }
        if matches!(option.as_str(), "-u" | "--user" | "--proxy-user")
            && CLIENTS.contains(&tables::base_name(place.program))
            && let Some((user, password)) = word.split_once(':')
            && !is_port_and_path(password)
        {
            return (format!("{user}:{MASK}"), true);
        }
    }
    let seen = Seen::new(word, is_hidden);
    let mut parts = quoted(&seen.text);
    parts.push((0, seen.text.len()));
    seen.masked(word, &parts)
}

impl<'a> Place<'a> {
    /// The option whose value the word is. To a program that starts others, an option behind an option may be the
    /// value of that, and the word a program.
    fn option(&self) -> Option<&'a str> {
        let (last, earlier) = self.before.split_last()?;
        let is_option = |word: &String| word.starts_with('-');
        let is_clear = self.is_ordinary || !earlier.last().is_some_and(is_option);
        (is_option(last) && is_clear).then_some(last.as_str())
    }
}

/// Whether what follows a colon belongs to an address: `//host`, `/path`, `80/path`.
fn is_port_and_path(text: &str) -> bool {
    text.trim_start_matches(|character: char| character.is_ascii_digit()).starts_with('/')
}

/// A value with a name, masked if the name is that of a secret.
pub(super) fn masked_value(name: &str, value: &str, is_hidden: fn(char) -> bool) -> (String, bool) {
    if !is_secret_name(name) || value.is_empty() {
        return masked(value, is_hidden);
    }
    let seen = Seen::new(value, is_hidden);
    let length = value_length(&seen.text);
    if length < seen.text.len() {
        // More than a secret: only its first part goes, so that nothing else is hidden.
        return seen.mask(value, vec![(0, length)]);
    }
    (MASK.to_owned(), true)
}

/// A text without its hidden signs, and where each byte of it comes from.
struct Seen {
    text: String,
    places: Vec<usize>,
}

impl Seen {
    fn new(text: &str, is_hidden: fn(char) -> bool) -> Self {
        let mut seen = Self { text: String::with_capacity(text.len()), places: Vec::new() };
        for (place, character) in text.char_indices() {
            if character == '\n' || character == '\t' || !is_hidden(character) {
                seen.text.push(character);
                seen.places.extend(place..place + character.len_utf8());
            }
        }
        seen.places.push(text.len());
        seen
    }

    /// The original with its secrets masked, given the parts of what is seen that a shell takes as they stand.
    fn masked(&self, original: &str, parts: &[(usize, usize)]) -> (String, bool) {
        let text = self.text.as_str();
        let mut spans = Vec::new();
        if text.contains(is_of_shell) {
            spans.extend(by_name(text, |found| found.is_no_word_of_a_shell(parts)));
            spans.extend(after_options(text));
            spans.retain(|(start, end)| is_no_program(&text[*start..*end]));
        } else if !text.starts_with(['/', '.']) {
            spans.extend(by_name(text, |_| true));
            spans.extend(after_options(text));
        }
        spans.extend(in_addresses(text));
        spans.extend(by_shape(text));
        self.mask(original, spans)
    }

    /// The original with spans of what is seen replaced.
    fn mask(&self, original: &str, mut spans: Vec<(usize, usize)>) -> (String, bool) {
        spans.retain(|(start, end)| start < end);
        spans.sort_unstable();
        let mut masked = String::with_capacity(original.len());
        let mut done = 0;
        for &(start, end) in &spans {
            let (start, end) = (self.places[start], self.places[end]);
            if start >= done {
                masked.push_str(&original[done..start]);
                masked.push_str(MASK);
            }
            done = done.max(end);
        }
        masked.push_str(&original[done..]);
        (masked, !spans.is_empty())
    }
}

/// A value with a name, in a text.
struct Named<'a> {
    text: &'a str,
    /// Where the name begins.
    name: usize,
    /// Where the sign behind it is.
    sign: usize,
    /// Where the value begins.
    value: usize,
}

impl Named<'_> {
    /// Whether the value is no word by itself to a shell, and no end of the name of a program.
    fn is_no_word_of_a_shell(&self, parts: &[(usize, usize)]) -> bool {
        let Self { text, name, sign, value } = *self;
        if text[sign..].starts_with('=') {
            let before = &text[..name];
            let word = before.rsplit(is_of_shell).next().unwrap_or_default();
            let bare = word.trim_start_matches(['"', '\'']);
            let is_option = text[name..].starts_with('-') || bare.starts_with('-');
            // In quotes it is no variable, and could be a program if it is not what an option wants.
            let is_wanted = || is_option_last(&before[..before.len() - word.len()]);
            let is_variable = !text[name..sign].contains('-')
                && (word.is_empty() || (bare.is_empty() && is_wanted()));
            return is_option || is_variable || word.contains("://");
        }
        parts.iter().filter(|(start, end)| (*start..*end).contains(&value) && *start <= name).any(
            |(start, _)| {
                let before = &text[*start..name];
                let is_json = ["{\"", "[\"", "[{\""].iter().any(|sign| before.starts_with(sign));
                before.is_empty()
                    || (is_json
                        && !before.contains([';', '|', '&', '$', '(', ')', '<', '>', '=', '\n']))
            },
        )
    }
}

/// Values behind names: `token=…`, `"api_key": "…"`, `Authorization: Bearer …`.
fn by_name(text: &str, is_value: impl Fn(&Named<'_>) -> bool) -> Vec<(usize, usize)> {
    let mut spans = Vec::new();
    let mut done = 0;
    for (place, sign) in text.match_indices([':', '=']) {
        if place < done {
            continue;
        }
        let before = text[..place].trim_end_matches([' ', '"', '\'']);
        let name = before
            .rfind(|character| !is_name(character))
            .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
        if !is_secret_name(&before[name..]) {
            continue;
        }
        let mut value = place + sign.len();
        if sign == "=" {
            // A blank ends the value for a shell, and a second quote too.
            value += usize::from(text[value..].starts_with(['"', '\'']));
        } else {
            value += lead(&text[value..]);
            let scheme = ["Bearer ", "Basic ", "Token ", "token ", "bearer ", "basic "]
                .into_iter()
                .find(|scheme| text[value..].starts_with(scheme));
            value += scheme.map_or(0, str::len);
        }
        if is_value(&Named { text, name, sign: place, value }) {
            done = value + value_length(&text[value..]);
            spans.push((value, done));
        }
    }
    spans
}

/// Values behind options: `--token …`.
fn after_options(text: &str) -> Vec<(usize, usize)> {
    let mut spans = Vec::new();
    let mut done = 0;
    for (place, _) in text.match_indices("--") {
        if place < done {
            continue;
        }
        let rest = &text[place + 2..];
        let end = rest.find(|character| !is_name(character)).unwrap_or(rest.len());
        done = place + 2 + end;
        // Behind another option it may be the value of that, and what follows a program.
        if !is_option_last(&text[..place])
            && rest[end..].starts_with(' ')
            && is_secret_name(&rest[..end])
        {
            let value = done + lead(&rest[end..]);
            if !text[value..].starts_with('-') {
                done = value + value_length(&text[value..]);
                spans.push((value, done));
            }
        }
    }
    spans
}

/// Whether the last word of a text looks like an option.
fn is_option_last(text: &str) -> bool {
    text.trim_end().rsplit(char::is_whitespace).next().is_some_and(|word| word.starts_with('-'))
}

/// Passwords in addresses: `https://user:…@host`.
fn in_addresses(text: &str) -> Vec<(usize, usize)> {
    let mut spans = Vec::new();
    for (place, sign) in text.match_indices("://") {
        let rest = &text[place + sign.len()..];
        let end = rest.find(['/', '?', '#', ' ', '\n', '"', '\'']).unwrap_or(rest.len());
        if let Some(at) = rest[..end].rfind('@')
            && let Some(colon) = rest[..at].find(':')
        {
            let start = place + sign.len() + colon + 1;
            spans.push((start, start + value_length(&rest[colon + 1..at])));
        }
    }
    spans
}

/// Keys of well-known services.
fn by_shape(text: &str) -> Vec<(usize, usize)> {
    let mut spans = Vec::new();
    for (prefix, least) in SHAPES {
        let mut done = 0;
        for (place, _) in text.match_indices(prefix) {
            if place < done {
                continue;
            }
            let is_start =
                !text[..place].ends_with(|character: char| character.is_ascii_alphanumeric());
            let rest = &text[place + prefix.len()..];
            let length = rest
                .find(|character: char| {
                    !character.is_ascii_alphanumeric() && !"_-.".contains(character)
                })
                .unwrap_or(rest.len());
            if is_start && length >= *least {
                done = place + prefix.len() + length;
                spans.push((place + prefix.len(), done));
            }
        }
    }
    spans
}

fn is_secret_name(name: &str) -> bool {
    let name: String = name
        .chars()
        .filter(|character| character.is_ascii_alphanumeric())
        .map(|character| character.to_ascii_lowercase())
        .collect();
    !PLACES.iter().any(|place| name.ends_with(place))
        && (WHOLE_NAMES.contains(&name.as_str()) || NAMES.iter().any(|part| name.contains(part)))
}

fn is_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || "_-".contains(character)
}

/// Whether a sign could join words of a shell.
fn is_of_shell(character: char) -> bool {
    character.is_whitespace() || ";|&$`()<>".contains(character)
}

/// Whether a value is too odd for the name of a program or file.
fn is_no_program(value: &str) -> bool {
    const LONGEST_NAME: usize = 20;
    let is_odd = |character: char| character.is_ascii_digit() || character.is_uppercase();
    !value.starts_with(['/', '.']) && (value.contains(is_odd) || value.len() > LONGEST_NAME)
}

/// Blanks and quotes before a value.
fn lead(text: &str) -> usize {
    text.len() - text.trim_start_matches([' ', '"', '\'']).len()
}

/// How much of a text can be a secret and nothing else.
fn value_length(text: &str) -> usize {
    text.find(|character: char| {
        !character.is_alphanumeric() && !"_-.+/=~%@!^*,:".contains(character)
    })
    .unwrap_or(text.len())
}
