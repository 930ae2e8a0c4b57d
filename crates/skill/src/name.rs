//! Names of skills: the rules of the format, the ones that keep us safe, and
//! the one way from a name to a folder.
//!
//! The strict rules (S3–S7) make diagnostics. The safe rules make or refuse a
//! [`SkillName`]: whoever holds one may print it, put it in a prompt and turn it
//! into a path with [`SkillName::folder`], and nobody asks again.

use std::fmt;

use serde::{Deserialize, Serialize};
use thiserror::Error;
use unicode_normalization::UnicodeNormalization;
use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// Longest name the format allows, in characters.
pub const MAX_NAME_CHARS: usize = 64;

/// Longest name that is loaded at all, in characters: it ends up in paths and prompts.
pub const MAX_LOADED_NAME_CHARS: usize = 200;

/// A rule of the format that a name breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameFault {
    /// Longer than [`MAX_NAME_CHARS`]; carries the length in characters.
    TooLong(usize),
    /// Has a letter that is not lowercase.
    NotLowercase,
    /// Starts or ends with `-`.
    EdgeHyphen,
    /// Has `--`.
    DoubleHyphen,
    /// Has something else than letters, digits and hyphens.
    InvalidCharacters,
}

/// Why a name cannot be used at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum UnsafeName {
    /// Nothing but blanks.
    #[error("it is empty")]
    Empty,
    /// Longer than [`MAX_LOADED_NAME_CHARS`].
    #[error("it is longer than {MAX_LOADED_NAME_CHARS} characters")]
    TooLong,
    /// Has `/` or `\`.
    #[error("it contains a path separator")]
    Separator,
    /// Has `..`.
    #[error("it contains `..`")]
    ParentFolder,
    /// Starts with `.`.
    #[error("it starts with a dot")]
    LeadingDot,
    /// Has `<` or `>`.
    #[error("it contains an angle bracket")]
    AngleBracket,
    /// Has a control, newline, invisible or direction-changing character.
    #[error("it contains a control or invisible character")]
    Invisible,
}

/// A name that is safe to print, to prompt with and to make a folder of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct SkillName(String);

impl SkillName {
    /// Accepts any name that is safe, normalised to NFKC as the format asks.
    ///
    /// # Errors
    ///
    /// When the name could change a path or a prompt.
    pub fn new(text: &str) -> Result<Self, UnsafeName> {
        if keeps_rules(text) {
            return Ok(Self(text.to_owned()));
        }
        let name: String = text.trim().nfkc().collect();
        refuse_unsafe(&name)?;
        Ok(Self(name))
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// This name with the name of a plugin in front, for clashes.
    ///
    /// # Errors
    ///
    /// When the two together are not safe.
    pub fn within_plugin(&self, plugin: &Self) -> Result<Self, UnsafeName> {
        Self::new(&format!("{plugin}:{self}"))
    }

    /// The folder for things of this skill. Different names give different folders, on file
    /// systems that fold case too, and no name gives a path with more than one part.
    pub fn folder(&self) -> String {
        let mut folder = String::with_capacity(self.0.len());
        for character in self.0.chars() {
            let plain = character.is_alphanumeric() && !character.is_uppercase();
            if plain || character == '-' || character == '_' {
                folder.push(character);
            } else {
                let mut bytes = [0; 4];
                for byte in character.encode_utf8(&mut bytes).bytes() {
                    folder.push_str(&format!("%{byte:02x}"));
                }
            }
        }
        shortened(folder)
    }
}

/// Whatever is read, such as a cache or what somebody trusted, keeps the rule as well.
impl TryFrom<String> for SkillName {
    type Error = UnsafeName;

    fn try_from(text: String) -> Result<Self, UnsafeName> {
        if keeps_rules(&text) { Ok(Self(text)) } else { Self::new(&text) }
    }
}

impl fmt::Display for SkillName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// The rules of the format (S3–S6) that `name` breaks, in the order people expect to read them.
pub fn faults(name: &str) -> Vec<NameFault> {
    if keeps_rules(name) {
        return Vec::new();
    }
    let name: String = name.trim().nfkc().collect();
    let length = name.chars().count();
    let allowed = |character: char| is_letter_or_digit(character) || character == '-';
    let mut faults = Vec::new();
    if length > MAX_NAME_CHARS {
        faults.push(NameFault::TooLong(length));
    }
    if name != name.to_lowercase() {
        faults.push(NameFault::NotLowercase);
    }
    if name.starts_with('-') || name.ends_with('-') {
        faults.push(NameFault::EdgeHyphen);
    }
    if name.contains("--") {
        faults.push(NameFault::DoubleHyphen);
    }
    if !name.chars().all(allowed) {
        faults.push(NameFault::InvalidCharacters);
    }
    faults
}

/// Whether a name and the folder it lives in are the same name (S7).
pub fn matches_folder(name: &str, folder: &str) -> bool {
    name == folder || name.trim().nfkc().eq(folder.trim().nfkc())
}

/// Whether a name surely keeps every rule, as nearly all do: lowercase ASCII, digits, single
/// hyphens inside.
fn keeps_rules(name: &str) -> bool {
    let bytes = name.as_bytes();
    let plain = |byte: &u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'-';
    (1..=MAX_NAME_CHARS).contains(&bytes.len())
        && bytes.iter().all(plain)
        && bytes[0] != b'-'
        && bytes[bytes.len() - 1] != b'-'
        && !name.contains("--")
}

/// The nearest name that keeps the rules, or nothing if no letter is left.
pub fn corrected(name: &str) -> Option<String> {
    let mut corrected = String::new();
    for character in name.trim().nfkc().flat_map(char::to_lowercase) {
        if is_letter_or_digit(character) {
            corrected.push(character);
        } else if !corrected.is_empty() && !corrected.ends_with('-') {
            corrected.push('-');
        }
    }
    let kept: String = corrected.chars().take(MAX_NAME_CHARS).collect();
    let kept = kept.trim_end_matches('-');
    (!kept.is_empty()).then(|| kept.to_owned())
}

/// Whether a character is a letter or a digit in the sense of the reference tool: any
/// alphabetic letter, and decimal, digit or other numbers.
fn is_letter_or_digit(character: char) -> bool {
    use GeneralCategory as Category;
    match character.general_category() {
        Category::UppercaseLetter
        | Category::LowercaseLetter
        | Category::TitlecaseLetter
        | Category::ModifierLetter
        | Category::OtherLetter
        | Category::DecimalNumber => true,
        Category::OtherNumber | Category::LetterNumber => character.is_numeric(),
        _ => false,
    }
}

/// Whether a character shows nothing of itself or changes how its neighbours show.
pub fn is_invisible(character: char) -> bool {
    character.is_control()
        || matches!(
            character.general_category(),
            GeneralCategory::Format
                | GeneralCategory::LineSeparator
                | GeneralCategory::ParagraphSeparator
                | GeneralCategory::PrivateUse
                | GeneralCategory::Unassigned
        )
        || matches!(character, '\u{115f}' | '\u{1160}' | '\u{3164}' | '\u{ffa0}' | '\u{2800}')
}

fn refuse_unsafe(name: &str) -> Result<(), UnsafeName> {
    if name.is_empty() {
        return Err(UnsafeName::Empty);
    }
    if name.chars().count() > MAX_LOADED_NAME_CHARS {
        return Err(UnsafeName::TooLong);
    }
    if name.contains(['/', '\\']) {
        return Err(UnsafeName::Separator);
    }
    if name.contains("..") {
        return Err(UnsafeName::ParentFolder);
    }
    if name.starts_with('.') {
        return Err(UnsafeName::LeadingDot);
    }
    if name.contains(['<', '>']) {
        return Err(UnsafeName::AngleBracket);
    }
    if name.chars().any(is_invisible) {
        return Err(UnsafeName::Invisible);
    }
    Ok(())
}

/// Folder names have 255 bytes on the usual file systems; a digest keeps long ones apart.
fn shortened(folder: String) -> String {
    const KEPT: usize = 160;
    if folder.len() <= KEPT {
        return folder;
    }
    let digest = blake3::hash(folder.as_bytes()).to_hex();
    let mut cut = KEPT;
    while !folder.is_char_boundary(cut) {
        cut -= 1;
    }
    format!("{}%{}", &folder[..cut], &digest[..32])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_name_that_is_read_keeps_the_rules_of_one_that_is_made() {
        for text in ["\"../../etc\"", "\"a\\u001b[2Jb\"", "\"\""] {
            assert!(serde_json::from_str::<SkillName>(text).is_err(), "{text}");
        }
        let name: SkillName = serde_json::from_str("\"Ship It\"").unwrap();
        assert_eq!(serde_json::to_string(&name).unwrap(), "\"Ship It\"");
    }

    #[test]
    fn names_that_make_a_path_or_a_prompt_dangerous_are_refused() {
        for (text, why) in [
            ("../../etc", UnsafeName::Separator),
            ("a\\b", UnsafeName::Separator),
            ("a..b", UnsafeName::ParentFolder),
            (".hidden", UnsafeName::LeadingDot),
            ("</name><x>", UnsafeName::Separator),
            ("<x>", UnsafeName::AngleBracket),
            ("a\nb", UnsafeName::Invisible),
            ("a\u{202e}b", UnsafeName::Invisible),
            ("a\u{200b}b", UnsafeName::Invisible),
            ("  ", UnsafeName::Empty),
            // Full-width forms fold to the dangerous ones before they are judged.
            ("a\u{ff0f}b", UnsafeName::Separator),
            ("\u{ff1c}x", UnsafeName::AngleBracket),
        ] {
            assert_eq!(SkillName::new(text).unwrap_err(), why, "{text:?}");
        }
        assert_eq!(SkillName::new(&"x".repeat(201)).unwrap_err(), UnsafeName::TooLong);
    }

    #[test]
    fn composed_and_decomposed_names_are_one_name() {
        assert_eq!(SkillName::new("cafe\u{301}").unwrap(), SkillName::new("caf\u{e9}").unwrap());
        assert!(matches_folder("cafe\u{301}", "caf\u{e9}"));
    }

    #[test]
    fn every_rule_of_the_format_is_reported() {
        assert_eq!(faults("技能"), []);
        assert_eq!(faults("мой-навык"), []);
        assert_eq!(faults("МОЙ"), [NameFault::NotLowercase]);
        assert_eq!(
            faults("-A--b_"),
            [
                NameFault::NotLowercase,
                NameFault::EdgeHyphen,
                NameFault::DoubleHyphen,
                NameFault::InvalidCharacters
            ]
        );
        assert_eq!(faults(&"a".repeat(70)), [NameFault::TooLong(70)]);
    }

    #[test]
    fn corrections_keep_the_rules() {
        assert_eq!(corrected("My_Skill  v2!").as_deref(), Some("my-skill-v2"));
        assert_eq!(corrected("--__"), None);
    }

    #[test]
    fn case_and_length_do_not_merge_folders() {
        let folder = |text: &str| SkillName::new(text).unwrap().folder();
        assert_ne!(folder("PDF"), folder("pdf"));
        assert_eq!(folder("a:b"), "a%3ab");
        let long = |end: &str| folder(&format!("{}{end}", "é".repeat(150)));
        assert_ne!(long("a"), long("b"));
        assert!(long("a").len() < 255);
    }

    proptest! {
        #[test]
        fn a_folder_is_one_safe_path_part(text in "\\PC{0,80}") {
            if let Ok(name) = SkillName::new(&text) {
                let folder = name.folder();
                prop_assert!(!folder.is_empty() && folder.len() <= 255);
                prop_assert!(!folder.contains(['/', '\\', '.', '\0', ':']));
            }
        }

        #[test]
        fn the_short_way_and_the_long_way_agree(text in "[a-zA-Z0-9_-]{0,70}") {
            if keeps_rules(&text) {
                prop_assert!(refuse_unsafe(&text).is_ok());
                prop_assert_eq!(text.nfkc().collect::<String>(), text.to_lowercase());
            }
            let broken = text.is_empty() || text.len() > 64 || text.contains("--")
                || text.starts_with('-') || text.ends_with('-')
                || text.contains(|it: char| it.is_ascii_uppercase() || it == '_');
            prop_assert_eq!(keeps_rules(&text), !broken);
        }

        #[test]
        fn a_corrected_name_has_no_faults(text in "\\PC{0,80}") {
            if let Some(name) = corrected(&text) {
                prop_assert_eq!(faults(&name), vec![]);
            }
        }
    }
}
