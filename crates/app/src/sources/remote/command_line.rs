//! A command line as a person writes it, split into arguments. No shell reads it: signs of a shell mean nothing.

use std::fmt;

/// A fault in a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandLineFault {
    /// A quote is not closed.
    OpenQuote,
    /// It ends in a backslash.
    LastBackslash,
    /// It has no program.
    NoProgram,
}

impl fmt::Display for CommandLineFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::OpenQuote => "a quote is not closed",
            Self::LastBackslash => "nothing follows its last `\\`",
            Self::NoProgram => "it names no program",
        })
    }
}

/// Splits at blanks that are not quoted.
pub(super) fn split(text: &str) -> Result<Vec<String>, CommandLineFault> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut signs = text.chars();
    while let Some(sign) = signs.next() {
        match sign {
            ' ' | '\t' | '\n' => words.extend(word.take()),
            '\'' | '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match signs.next().ok_or(CommandLineFault::OpenQuote)? {
                        end if end == sign => break,
                        '\\' if sign == '"' => {
                            match signs.next().ok_or(CommandLineFault::OpenQuote)? {
                                escaped @ ('"' | '\\') => word.push(escaped),
                                other => word.extend(['\\', other]),
                            }
                        }
                        other => word.push(other),
                    }
                }
            }
            '\\' => word
                .get_or_insert_default()
                .push(signs.next().ok_or(CommandLineFault::LastBackslash)?),
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    match words.first().map(String::as_str) {
        None | Some("") => Err(CommandLineFault::NoProgram),
        Some(_) => Ok(words),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_as_a_shell_would_and_nothing_else_is_done() {
        let cases: [(&str, &[&str]); 6] = [
            ("server", &["server"]),
            ("  a  b\tc ", &["a", "b", "c"]),
            (r#"a 'b c' "d \"e\" \\ \n" f'g'h"#, &["a", "b c", r#"d "e" \ \n"#, "fgh"]),
            (r"a\ b '' \'", &["a b", "", "'"]),
            (
                "a $HOME `x` $(y) | z; & > *",
                &["a", "$HOME", "`x`", "$(y)", "|", "z;", "&", ">", "*"],
            ),
            ("'a b' c", &["a b", "c"]),
        ];
        for (text, expected) in cases {
            assert_eq!(
                split(text).as_deref(),
                Ok(&expected.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>()[..]),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_no_command_says_why() {
        for (text, why) in [
            ("", "it names no program"),
            ("''", "it names no program"),
            ("a 'b", "a quote is not closed"),
            ("a \"b\\", "a quote is not closed"),
            ("a \\", "nothing follows its last `\\`"),
        ] {
            let fault = split(text).unwrap_err();
            assert_eq!(fault.to_string(), why, "{text}");
        }
    }
}
