//! What each shell must be given so that a name stays one word and nothing but a word.

use crate::args::ShellName;
use crate::output::plain;

/// Signs that mean nothing to Bash outside quotes.
const PLAIN: &str = "_-./:=@%+,";
/// Signs that mean nothing to Bash inside quotes, besides.
const QUOTED: &str = " ()[]{}<>|&;*?#~^";

/// A line of Bash up to the cursor.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Line {
    /// Its words, without quotes; the last is the one at the cursor.
    pub words: Vec<String>,
    /// The last word as it is written.
    pub written: String,
    /// The quote that is still open.
    pub quote: Option<char>,
}

impl Line {
    /// Splits a line into words. Nothing is expanded.
    pub(super) fn read(text: &str) -> Self {
        let mut line = Self { words: vec![String::new()], ..Self::default() };
        let mut is_word = false;
        let mut signs = text.chars();
        while let Some(sign) = signs.next() {
            let word = line.words.last_mut().expect("there is one at least");
            if line.quote.is_none() && sign.is_whitespace() {
                if std::mem::take(&mut is_word) {
                    line.words.push(String::new());
                    line.written.clear();
                }
                continue;
            }
            is_word = true;
            line.written.push(sign);
            match (line.quote, sign) {
                (Some(quote), sign) if sign == quote => line.quote = None,
                (None, '\'' | '"') => line.quote = Some(sign),
                (None | Some('"'), '\\') => {
                    let next = signs.next();
                    line.written.extend(next);
                    word.extend(next);
                }
                (_, sign) => word.push(sign),
            }
        }
        let is_setting = |word: &String| word.contains('=') && !word.starts_with('-');
        let settings = line.words.iter().take_while(|word| is_setting(word)).count();
        line.words.drain(..settings.min(line.words.len() - 1));
        line
    }

    /// What Bash puts in place of the part that it replaces, to get a word; none if that cannot be written safely.
    pub(super) fn replacement(&self, word: &str, replaced: &str) -> Option<String> {
        let typed = self.words.last()?;
        let kept = [typed, &self.written].into_iter().find_map(|it| it.strip_suffix(replaced))?;
        // A part that stays must be there as it is in the word.
        let rest = word.strip_prefix(kept)?;
        match self.quote {
            None => Some(backslashed(rest)),
            Some(_) => rest.chars().all(is_safe_in_quotes).then(|| rest.to_owned()),
        }
    }
}

fn is_plain(sign: char) -> bool {
    sign.is_alphanumeric() || PLAIN.contains(sign)
}

fn is_safe_in_quotes(sign: char) -> bool {
    is_plain(sign) || QUOTED.contains(sign)
}

fn backslashed(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for sign in text.chars() {
        if !is_plain(sign) {
            escaped.push('\\');
        }
        escaped.push(sign);
    }
    escaped
}

/// A candidate as a line for a shell other than Bash, which quotes by itself if it can.
pub(super) fn line(shell: ShellName, value: &str, help: &str) -> String {
    let help = plain(help);
    match shell {
        ShellName::Zsh => {
            let value = value.replace('\\', "\\\\").replace(':', "\\:");
            if help.is_empty() { value } else { format!("{value}:{help}") }
        }
        ShellName::Fish if help.is_empty() => value.to_owned(),
        ShellName::Fish => format!("{value}\t{help}"),
        ShellName::Powershell => {
            let is_bare = value.chars().all(|it| it.is_alphanumeric() || "_-./:=".contains(it));
            let quoted = format!("'{}'", value.replace('\'', "''"));
            let help = if help.is_empty() { value } else { help.as_str() };
            format!("{}\t{value}\t{help}", if is_bare { value } else { &quoted })
        }
        ShellName::Bash | ShellName::Elvish => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_split_as_bash_would_and_nothing_is_expanded() {
        let read = |text: &str| {
            let Line { words, written, quote } = Line::read(text);
            format!("{words:?} {written:?} {quote:?}")
        };
        insta::assert_snapshot!(
            [
                "metier skills explain c",
                "metier skills explain ",
                "metier  exec 'a b' \"c d\" e\\ f",
                "metier exec 'a b",
                "metier exec \"$HOME `id",
                "METIER_HOME=/x metier skills",
                "",
            ].map(read).join("\n"),
            @r#"
        ["metier", "skills", "explain", "c"] "c" None
        ["metier", "skills", "explain", ""] "" None
        ["metier", "exec", "a b", "c d", "e f"] "e\\ f" None
        ["metier", "exec", "a b"] "'a b" Some('\'')
        ["metier", "exec", "$HOME `id"] "\"$HOME `id" Some('"')
        ["metier", "skills"] "skills" None
        [""] "" None
        "#
        );
    }

    #[test]
    fn whatever_a_name_is_bash_gets_one_word() {
        let given = |line: &str, word: &str, replaced: &str| {
            Line::read(line).replacement(word, replaced).unwrap_or_else(|| "nothing".to_owned())
        };
        assert_eq!(given("metier skills info c", "csv-stats", "c"), "csv-stats");
        assert_eq!(given("metier run --skill=c", "--skill=csv-stats", "c"), "csv-stats");
        assert_eq!(given("metier read skill://c", "skill://csv", "//c"), "//csv");
        assert_eq!(
            given("metier info ", "$(touch x) 'y' `z`", ""),
            r"\$\(touch\ x\)\ \'y\'\ \`z\`"
        );
        assert_eq!(given("metier info a\\ ", "a b", "a\\ "), r"a\ b");
        assert_eq!(given("metier info a\\ ", "a b", "a "), r"a\ b");
        assert_eq!(given("metier info 'a", "a b", "a"), "a b");
        assert_eq!(given("metier info 'a", "a'; id", "a"), "nothing");
        assert_eq!(given("metier info \"a", "a$(id)", "a"), "nothing");
    }

    #[test]
    fn other_shells_quote_by_themselves_where_they_can() {
        let each = |value: &str| {
            [ShellName::Zsh, ShellName::Fish, ShellName::Powershell, ShellName::Elvish]
                .map(|shell| format!("{:?}", line(shell, value, "Help\twith\u{1b} more")))
                .join("\n")
        };
        insta::assert_snapshot!(each("a:b 'c'"), @r#"
        "a\\:b 'c':Help\\u{9}with\\u{1b} more"
        "a:b 'c'\tHelp\\u{9}with\\u{1b} more"
        "'a:b ''c'''\ta:b 'c'\tHelp\\u{9}with\\u{1b} more"
        "a:b 'c'"
        "#);
    }
}
