//! Secrets in what a person is shown, masked.
//!
//! A mask must never hide a command. So only signs that do nothing in a shell are masked, and where a text could
//! be one for a shell, or a word could be something else than a value, only what cannot be the name of a program. Signs that nobody sees do not keep a secret from being found.

/// What stands in the place of a secret.
const MASK: &str = "****";
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
    let mut spans = by_name(&seen.text);
    spans.extend(after_options(&seen.text));
    if seen.text.contains(is_of_shell) {
        spans.retain(|(start, end)| is_no_program(&seen.text[*start..*end]));
    }
    spans.extend(in_addresses(&seen.text));
    spans.extend(by_shape(&seen.text));
    seen.mask(text, spans)
}

/// A word with its secrets masked, given the word before it.
pub(super) fn masked_word(
    word: &str,
    before: Option<&str>,
    is_hidden: fn(char) -> bool,
) -> (String, bool) {
    if let Some(option) = before.filter(|before| before.starts_with('-') && !before.contains('=')) {
        let option: String = option.chars().filter(|character| !is_hidden(*character)).collect();
        let is_value = is_secret_name(option.trim_start_matches('-')) && !word.starts_with('-');
        if is_value && is_no_program(word) {
            return masked_value("password", word, is_hidden);
        }
        if matches!(option.as_str(), "-u" | "--user" | "--proxy-user")
            && let Some((user, _)) = word.split_once(':')
        {
            return (format!("{user}:{MASK}"), true);
        }
    }
    masked(word, is_hidden)
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

/// Values behind names: `token=…`, `"api_key": "…"`, `Authorization: Bearer …`.
fn by_name(text: &str) -> Vec<(usize, usize)> {
    let mut spans = Vec::new();
    let mut done = 0;
    for (place, sign) in text.match_indices([':', '=']) {
        if place < done {
            continue;
        }
        let before = text[..place].trim_end_matches([' ', '"', '\'']);
        let start = before
            .rfind(|character| !is_name(character))
            .map_or(0, |at| at + before[at..].chars().next().map_or(1, char::len_utf8));
        if !is_secret_name(&before[start..]) {
            continue;
        }
        let mut value = place + sign.len();
        value += lead(&text[value..]);
        let scheme = ["Bearer ", "Basic ", "Token ", "token ", "bearer ", "basic "]
            .into_iter()
            .find(|scheme| text[value..].starts_with(scheme));
        value += scheme.map_or(0, str::len);
        done = value + value_length(&text[value..]);
        spans.push((value, done));
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
        if rest[end..].starts_with(' ') && is_secret_name(&rest[..end]) {
            let value = done + lead(&rest[end..]);
            if !text[value..].starts_with('-') {
                done = value + value_length(&text[value..]);
                spans.push((value, done));
            }
        }
    }
    spans
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
