//! What can be wrong with a skill: one table of rules, and the diagnostics they make.
//!
//! A rule has a stable code and a severity at each [`Level`]; both levels run the
//! same checks. Wording, place, help and fix come from the check. How a
//! diagnostic is shown is the caller's business.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::text::Span;

/// How strictly the rules are applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// The specification to the letter, for authors and CI.
    Strict,
    /// Whatever can be used is used; the rest is said.
    Lenient,
}

/// How much a diagnostic matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing; nothing needs to change.
    Note,
    /// The skill works, but not as well as it could.
    Warning,
    /// The rule is broken.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

macro_rules! rules {
    ($($variant:ident $code:literal $strict:ident $lenient:ident $summary:literal;)*) => {
        /// A rule, by what it is about. Its text form (`M001`) never changes meaning.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Code {
            $(#[doc = $summary] #[serde(rename = $code)] $variant,)*
        }

        impl Code {
            /// Every rule, in the order of the codes.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The stable code.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $code,)* }
            }

            /// What the rule asks, in one line.
            pub fn summary(self) -> &'static str {
                match self { $(Self::$variant => $summary,)* }
            }

            /// The text that explains the rule, as `explanation` reads it.
            pub(crate) fn explanation(self) -> &'static str {
                match self {
                    $(Self::$variant => {
                        include_str!(concat!("explanation/texts/", $code, ".txt"))
                    })*
                }
            }

            /// How much a breach matters at a level.
            pub fn severity(self, level: Level) -> Severity {
                match (self, level) {
                    $(
                        (Self::$variant, Level::Strict) => Severity::$strict,
                        (Self::$variant, Level::Lenient) => Severity::$lenient,
                    )*
                }
            }
        }
    };
}

rules! {
    // The file and its header.
    NoHeader            "M001" Error   Error   "The file starts with a YAML header between two `---` lines";
    HeaderUnclosed      "M002" Error   Error   "The header is closed by a `---` line";
    InvalidYaml         "M003" Error   Error   "The header is valid YAML";
    NotAMapping         "M004" Error   Error   "The header is a mapping of fields";
    DuplicateKey        "M005" Error   Error   "A key stands once";
    Repaired            "M006" Error   Warning "A value is valid YAML without repair";
    HeaderTooLarge      "M007" Error   Error   "The header stays within bounds of depth, size and aliases";
    NotUtf8             "M008" Error   Warning "The file is UTF-8";
    FileTooLarge        "M009" Error   Error   "`SKILL.md` is at most 1 MiB";
    NotAFile            "M010" Error   Error   "`SKILL.md` is a regular file that can be read";
    YamlFeature         "M011" Warning Note    "The header does without anchors, aliases and tags";
    ByteOrderMark       "M012" Warning Note    "The file has no byte order mark";
    HeaderFallback      "M013" Error   Warning "A file without a header is read by its folder and first paragraph";
    FileNameCase        "M014" Warning Warning "The file is called `SKILL.md`, in this case";
    // Name.
    NameMissing         "M020" Error   Warning "`name` is there";
    NameEmpty           "M021" Error   Warning "`name` is a non-empty string";
    NameTooLong         "M022" Error   Warning "`name` has at most 64 characters";
    NameNotLowercase    "M023" Error   Warning "`name` is lowercase";
    NameEdgeHyphen      "M024" Error   Warning "`name` does not start or end with a hyphen";
    NameDoubleHyphen    "M025" Error   Warning "`name` has no two hyphens in a row";
    NameCharacters      "M026" Error   Warning "`name` has only letters, digits and hyphens";
    NameNotFolder       "M027" Error   Warning "`name` is the name of the folder";
    NameUnsafe          "M028" Error   Error   "`name` cannot change a path or a prompt";
    // Description.
    DescriptionMissing  "M030" Error   Error   "`description` is there";
    DescriptionEmpty    "M031" Error   Error   "`description` is a non-empty string";
    DescriptionTooLong  "M032" Error   Warning "`description` has at most 1024 characters";
    DescriptionNoWhen   "M033" Warning Warning "`description` says when to use the skill";
    // Other fields.
    UnknownField        "M040" Error   Note    "Fields are those of the format";
    FieldType           "M041" Error   Warning "A field has the type the format gives it";
    CompatibilityLength "M042" Error   Warning "`compatibility` has 1 to 500 characters";
    MetadataNotStrings  "M043" Warning Note    "`metadata` maps strings to strings";
    AllowedToolsList    "M044" Warning Note    "`allowed-tools` is a string with spaces between the tools";
    GateUnreadable      "M045" Error   Error   "What a skill requires can be read";
    SwitchUnreadable    "M046" Error   Warning "A switch says `true` or `false`";
    InstallRefused      "M047" Error   Warning "An install option is complete and safe";
    LegacyKey           "M048" Note    Note    "Requirements stand under `metadata.metier` or `metadata.openclaw`";
    DispatchIncomplete  "M049" Warning Warning "A command that goes to a tool names the tool";
    // The body and the other files.
    DeadLink            "M060" Warning Warning "A relative link leads to a file";
    DeadScript          "M061" Warning Warning "A script the body names is there";
    DeepReference       "M062" Warning Note    "References are one step away from `SKILL.md`";
    BodyLines           "M063" Warning Warning "The body has at most 500 lines";
    BodyTokens          "M064" Warning Warning "The body has at most 5000 tokens";
    Collision           "M065" Warning Warning "No other skill is described in the same words";
    ScriptRunner        "M066" Warning Warning "A script says by its first line or its name what runs it";
    UndeclaredBinary    "M067" Note    Note    "A program the body runs is in `requires.bins`";
    InvisibleText       "M068" Warning Warning "The text has no invisible or direction-changing characters";
    EscapingLink        "M069" Error   Warning "A symlink of the skill stays inside it";
    CaseClash           "M070" Warning Warning "Files differ by more than case";
    EmptyBody           "M071" Note    Note    "The body tells what to do";
    // Finding skills.
    RootUnreadable      "M080" Error   Error   "A folder of skills can be read";
    WalkBound           "M081" Warning Warning "A folder of skills stays within the bounds of the search";
    LinkCycle           "M082" Warning Warning "A link does not lead back to a folder above it";
    LinkOutside         "M083" Error   Error   "A skill of a project lies inside the project";
    Shadowed            "M084" Note    Note    "A name stands in one source";
    SameRootTwice       "M085" Warning Warning "A name stands once in one source";
    Untrusted           "M086" Warning Warning "A project, or a skill of another server, is trusted before it is used";
    TrustChanged        "M087" Warning Warning "A trusted skill is as it was when it was trusted";
    ArchiveRefused      "M088" Error   Error   "An archive of skills can be fetched and unpacked";
    PluginUnreadable    "M089" Warning Warning "A plugin says where its skills are";
    SettingIgnored      "M090" Warning Warning "A setting of a project only narrows";
    NameCaseClash       "M091" Warning Warning "Names of skills differ by more than case";
    ServerUnreachable   "M092" Warning Warning "A server of skills answers";
    OfferRefused        "M093" Warning Warning "What another server tells of a skill keeps the rules";
    EntryWithheld       "M094" Warning Warning "Settings of a skill reach the skill that they are for";
}

impl fmt::Display for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// One finding, with its place and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// The rule.
    pub code: Code,
    /// What is wrong, as a clause.
    pub message: String,
    /// Where.
    pub span: Span,
    /// Other places that belong to it.
    pub related: Vec<Label>,
    /// What to do.
    pub help: Option<String>,
    /// A change that is safe to make by machine.
    pub fix: Option<Fix>,
}

/// A further place, with what it shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label {
    /// Where.
    pub span: Span,
    /// What is there.
    pub message: String,
}

/// A change that mends one diagnostic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fix {
    /// What the change does.
    pub title: String,
    /// The edits, which do not overlap.
    pub edits: Vec<Edit>,
}

/// A range of the original text, and what replaces it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    /// What is replaced.
    pub span: Span,
    /// By what.
    pub replacement: String,
}

impl Diagnostic {
    pub(crate) fn new(code: Code, span: Span, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { code, message, span, related: Vec::new(), help: None, fix: None }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    pub(crate) fn related(mut self, span: Span, message: impl Into<String>) -> Self {
        self.related.push(Label { span, message: message.into() });
        self
    }

    pub(crate) fn fix(mut self, title: impl Into<String>, edits: Vec<Edit>) -> Self {
        self.fix = Some(Fix { title: title.into(), edits });
        self
    }

    /// How much it matters at a level.
    pub fn severity(&self, level: Level) -> Severity {
        self.code.severity(level)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_in_order() {
        let codes: Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        assert!(codes.windows(2).all(|pair| pair[0] < pair[1]), "{codes:?}");
    }

    #[test]
    fn the_lenient_level_is_never_harsher() {
        for code in Code::ALL {
            assert!(code.severity(Level::Lenient) <= code.severity(Level::Strict), "{code}");
        }
    }
}
