//! Changes single settings of a configuration file and nothing else in it: comments, order and layout stay.
//!
//! The result is text. The caller writes it, with [`replace_file`](crate::replace_file), and decides about permissions.

use std::ops::Range;
use std::path::{Path, PathBuf};

use thiserror::Error;
use toml::de::{DeTable, DeValue};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Key, Table, TableLike, Value};

use crate::convert::{nearest_name, read_text, wanted};
use crate::error::ConfigError;
use crate::file;
use crate::key::{SettingKey, SettingKind};
use crate::value::SettingValue;

/// A configuration file that is being changed.
#[derive(Debug)]
pub struct ConfigEdit {
    path: PathBuf,
    document: DocumentMut,
}

/// The error of a change that cannot be made.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConfigEditError {
    /// The file cannot be used, as it is or as it would be.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The name is not one of a setting.
    #[error("there is no setting `{name}`")]
    Unknown {
        /// The name that was given.
        name: String,
        /// The setting that was probably meant.
        nearest: Option<String>,
    },
    /// The value is of another type.
    #[error("`{name}` is not {wanted}")]
    WrongKind {
        /// The setting.
        name: String,
        /// The description of the type.
        wanted: String,
        /// The word that was probably meant.
        nearest: Option<&'static str>,
    },
    /// Something else stands where the setting belongs.
    #[error("`{}` has something else where `{name}` belongs", path.display())]
    Occupied {
        /// The file.
        path: PathBuf,
        /// The setting.
        name: String,
    },
}

impl ConfigEdit {
    /// Opens a file; an absent one is empty.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or is not TOML.
    pub fn open(path: &Path) -> Result<Self, ConfigError> {
        let mut text = file::read_text(path)?.unwrap_or_default();
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        // The reader of settings has the better error.
        file::parse(path, &text)?;
        let document = text.parse::<DocumentMut>().map_err(|error| ConfigError::Syntax {
            path: path.to_owned(),
            line: 1,
            message: error.message().to_owned(),
        })?;
        Ok(Self { path: path.to_owned(), document })
    }

    /// Sets a setting by its dotted name to a value as a person writes it: a list is separated by commas, or a TOML
    /// array.
    ///
    /// # Errors
    ///
    /// When there is no such setting, the value is not one of it, or the file has something else in that place.
    pub fn set(&mut self, name: &str, text: &str) -> Result<(), ConfigEditError> {
        let (parts, key) = find(name)?;
        let value = written(key, text).ok_or_else(|| ConfigEditError::WrongKind {
            name: name.to_owned(),
            wanted: wanted(key),
            nearest: key.nearest_word(text),
        })?;
        // What stands below the last setting comes above a new table, which is the last then.
        let end = self.document.trailing().as_str().unwrap_or_default();
        let is_empty = self.document.is_empty() && end.is_empty();
        let above = if is_empty { String::new() } else { format!("{end}\n") };
        let is_new_table =
            put(self.document.as_item_mut(), &parts, value, &above).ok_or_else(|| {
                ConfigEditError::Occupied { path: self.path.clone(), name: name.to_owned() }
            })?;
        if is_new_table {
            self.document.set_trailing("");
        }
        Ok(())
    }

    /// Removes a setting by its dotted name. Returns whether it was there.
    ///
    /// Comments on lines of their own stay, and so do headings of tables. A name that is no setting can be removed too,
    /// if it stands in the file: that is how a mistake is corrected.
    ///
    /// # Errors
    ///
    /// When there is no such setting and nothing of that name in the file.
    pub fn unset(&mut self, name: &str) -> Result<bool, ConfigEditError> {
        let parts = parts_of(name).ok_or_else(|| unknown(name))?;
        let mut wanted = self.document.clone();
        if !take(wanted.as_table_mut(), &parts) {
            return find(name).map(|_| false);
        }
        let text = self.document.to_string();
        let by_line = without_line(&text, &parts).and_then(|text| text.parse::<DocumentMut>().ok());
        self.document = by_line.filter(|it| is_same(it, &wanted)).unwrap_or(wanted);
        if let [section, table, server, ..] = &parts[..]
            && (section, table) == (&"mcp".to_owned(), &"servers".to_owned())
        {
            // An empty table would be a server without a command.
            self.remove_empty_server(server);
        }
        Ok(true)
    }

    fn remove_empty_server(&mut self, server: &str) {
        let servers = self.document.get_mut("mcp").and_then(|mcp| mcp.get_mut("servers"));
        let Some(servers) = servers.and_then(Item::as_table_like_mut) else { return };
        if servers.get(server).and_then(Item::as_table_like).is_some_and(TableLike::is_empty) {
            servers.remove(server);
        }
    }

    /// The changed text.
    ///
    /// # Errors
    ///
    /// When it would not load, with the first line that is to blame.
    pub fn text(&self) -> Result<String, ConfigError> {
        let text = self.document.to_string();
        check_file_text(&self.path, &text)?;
        Ok(text)
    }
}

/// Checks that a text would load as a configuration file.
///
/// # Errors
///
/// With the first line that is to blame. `path` is what errors call the file.
pub fn check_file_text(path: &Path, text: &str) -> Result<(), ConfigError> {
    file::parse(path, text)?.into_iter().try_for_each(|it| it.map(drop).map_err(|(error, _)| error))
}

/// The parts of a dotted name; a part with other signs than letters, digits, `-` and `_` stands in quotes.
fn parts_of(name: &str) -> Option<Vec<String>> {
    let keys = Key::parse(name).ok()?;
    Some(keys.iter().map(|key| key.get().to_owned()).collect())
}

fn find(name: &str) -> Result<(Vec<String>, &'static SettingKey), ConfigEditError> {
    let parts = parts_of(name).ok_or_else(|| unknown(name))?;
    // A dot in a part would make it two.
    let is_whole = parts.iter().all(|part| !part.is_empty() && !part.contains('.'));
    let key = SettingKey::find(&parts.join(".")).filter(|_| is_whole);
    key.map(|key| (parts, key)).ok_or_else(|| unknown(name))
}

fn unknown(name: &str) -> ConfigEditError {
    ConfigEditError::Unknown { name: name.to_owned(), nearest: nearest_name(name) }
}

/// The value of a key as it is written into a file.
fn written(key: &SettingKey, text: &str) -> Option<Value> {
    let is_list = matches!(key.kind, SettingKind::List | SettingKind::Globs | SettingKind::Words);
    if is_list && text.trim_start().starts_with('[') {
        let value: Value = text.trim().parse().ok()?;
        let texts = value.as_array()?.iter().map(|it| it.as_str().map(str::to_owned));
        let texts = texts.collect::<Option<Vec<_>>>()?;
        return Some(Value::Array(texts.into_iter().collect()));
    }
    Some(match read_text(key, text)? {
        SettingValue::Switch(value) => value.into(),
        SettingValue::Count(value) => i64::try_from(value).ok()?.into(),
        SettingValue::Text(text) | SettingValue::Secret(text) => text.into(),
        SettingValue::List(words) if key.kind == SettingKind::Words && words.len() == 1 => {
            words[0].as_str().into()
        }
        SettingValue::List(texts) => Value::Array(texts.into_iter().collect::<Array>()),
    })
}

/// Puts a value where it belongs, and returns whether a table was added to the end of the file, below `above`; none if
/// something else is on the way.
fn put(table: &mut Item, parts: &[String], value: Value, above: &str) -> Option<bool> {
    let (first, rest) = parts.split_first()?;
    let is_inline = table.is_inline_table();
    let table = table.as_table_like_mut()?;
    if rest.is_empty() {
        match table.get_mut(first) {
            Some(Item::Value(old)) if !old.is_inline_table() => {
                let decor = old.decor().clone();
                *old = value;
                *old.decor_mut() = decor;
            }
            Some(Item::None) | None => {
                table.insert(first, Item::Value(value));
            }
            Some(_) => return None,
        }
        return Some(false);
    }
    let is_new = table.get(first).is_none_or(Item::is_none);
    if is_new && is_inline {
        table.insert(first, Item::Value(InlineTable::new().into()));
    } else if is_new {
        let mut inner = Table::new();
        // Only the last table of the name gets a heading.
        inner.set_implicit(rest.len() > 1);
        inner.set_position(Some(isize::MAX));
        inner.decor_mut().set_prefix(above);
        table.insert(first, inner.into());
    }
    let is_below_new = put(table.get_mut(first)?, rest, value, above)?;
    Some(is_below_new || is_new && !is_inline)
}

/// Removes what has a name and returns whether it was there. Tables stay.
fn take(table: &mut dyn TableLike, parts: &[String]) -> bool {
    let Some((first, rest)) = parts.split_first() else { return false };
    if rest.is_empty() {
        return table.get(first).is_some_and(Item::is_value) && table.remove(first).is_some();
    }
    let inner = table.get_mut(first).and_then(Item::as_table_like_mut);
    inner.is_some_and(|inner| take(inner, rest))
}

/// The text without the lines of a setting; none if it shares them with others.
fn without_line(text: &str, parts: &[String]) -> Option<String> {
    let document = DeTable::parse(text).ok()?;
    let value = span_of(document.get_ref(), parts)?;
    let start = text[..value.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[value.end..].find('\n').map_or(text.len(), |at| value.end + at + 1);
    Some(format!("{}{}", &text[..start], &text[end..]))
}

/// The place of a setting, from its key to the end of its value.
fn span_of(table: &DeTable<'_>, parts: &[String]) -> Option<Range<usize>> {
    let (first, rest) = parts.split_first()?;
    let (key, value) = table.iter().find(|(key, _)| key.get_ref() == first)?;
    match (value.get_ref(), rest) {
        (_, []) => Some(key.span().start..value.span().end),
        (DeValue::Table(inner), rest) => span_of(inner, rest),
        _ => None,
    }
}

/// Returns whether two documents have the same settings.
fn is_same(left: &DocumentMut, right: &DocumentMut) -> bool {
    let settings = |document: &DocumentMut| document.to_string().parse::<toml::Table>().ok();
    settings(left).is_some_and(|left| Some(left) == settings(right))
}

/// A part of a dotted name as it is written in TOML.
pub fn toml_key(part: &str) -> String {
    let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    if !part.is_empty() && part.bytes().all(is_bare) {
        return part.to_owned();
    }
    // A string of one line is a key too; others would be written on several.
    serde_json::Value::from(part).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text after a change, or the error.
    fn changed(
        text: &str,
        change: impl FnOnce(&mut ConfigEdit) -> Result<(), ConfigEditError>,
    ) -> String {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config.toml");
        std::fs::write(&file, text).unwrap();
        let outcome = || {
            let mut edit = ConfigEdit::open(&file)?;
            change(&mut edit)?;
            Ok::<_, ConfigEditError>(edit.text()?)
        };
        let shown = outcome().unwrap_or_else(|error| format!("error: {error}"));
        shown.replace(&file.display().to_string(), "config.toml")
    }

    fn set(text: &str, name: &str, value: &str) -> String {
        changed(text, |edit| edit.set(name, value))
    }

    fn unset(text: &str, name: &str) -> String {
        changed(text, |edit| edit.unset(name).map(drop))
    }

    const WORKSPACE: &str = "agents.defaults.workspace";

    #[test]
    fn only_the_value_changes_where_the_setting_stands() {
        let text = "# mine\n[agents.defaults] # all\n  workspace   =  'old'  # here\nskills = []\n";
        insta::assert_snapshot!(set(text, WORKSPACE, "/w"), @r#"
        # mine
        [agents.defaults] # all
          workspace   =  "/w"  # here
        skills = []
        "#);
        insta::assert_snapshot!(set("agents = { defaults = { workspace = \"old\" } } # in line\n", WORKSPACE, "/w"), @r#"agents = { defaults = { workspace = "/w" } } # in line"#);
    }

    #[test]
    fn a_setting_is_added_to_its_table() {
        insta::assert_snapshot!(set("", WORKSPACE, "/w"), @r#"
        [agents.defaults]
        workspace = "/w"
        "#);
        insta::assert_snapshot!(set("skills.enabled = true # yes", WORKSPACE, "/w"), @r#"
        skills.enabled = true # yes

        [agents.defaults]
        workspace = "/w"
        "#);
        insta::assert_snapshot!(set("[agents.defaults]\nskills = ['a']\n\n# about skills\n[skills]\nenabled = true\n", WORKSPACE, "/w"), @r#"
        [agents.defaults]
        skills = ['a']
        workspace = "/w"

        # about skills
        [skills]
        enabled = true
        "#);
        insta::assert_snapshot!(set("# top\nagents.defaults.skills = ['a']\n", WORKSPACE, "/w"), @r#"
        # top
        agents.defaults.skills = ['a']
        agents.defaults.workspace = "/w"
        "#);
        insta::assert_snapshot!(set("[agents]\ndefaults.skills = ['a']\n", WORKSPACE, "/w"), @r#"
        [agents]
        defaults.skills = ['a']
        defaults.workspace = "/w"
        "#);
        insta::assert_snapshot!(set("agents = { writer = { skills = [] } }\n", WORKSPACE, "/w"), @r#"agents = { writer = { skills = [] } , defaults = { workspace = "/w" } }"#);
    }

    #[test]
    fn values_are_written_by_the_type_of_the_setting() {
        let values = [
            ("skills.enabled", "false"),
            ("exec.timeout", "60"),
            ("exec.executor", "host"),
            ("skills.denied", "git-*, pdf"),
            ("skills.denied", "[\"git-*\"]"),
            ("exec.network", "none"),
            ("exec.network", "a.example:443,b.example:443"),
            ("skills.entries.\"a b\".api_key", "x\"y"),
        ];
        let lines = values.map(|(name, value)| set("", name, value));
        insta::assert_snapshot!(lines.join("\n"), @r#"
        [skills]
        enabled = false

        [exec]
        timeout = 60

        [exec]
        executor = "host"

        [skills]
        denied = ["git-*", "pdf"]

        [skills]
        denied = ["git-*"]

        [exec]
        network = "none"

        [exec]
        network = ["a.example:443", "b.example:443"]

        [skills.entries."a b"]
        api_key = 'x"y'
        "#);
    }

    #[test]
    fn what_is_no_setting_or_no_value_of_it_is_refused() {
        let values = [
            ("exec.timout", "60"),
            ("exec", "60"),
            ("exec.timeout", "soon"),
            ("exec.executor", "hots"),
            ("skills.denied", "[a"),
            ("skills.denied", "git-["),
            ("agents.Bob.skills", "a"),
            ("mcp.servers.\"a b\".url", "https://x"),
            ("", "x"),
        ];
        let lines = values.map(|(name, value)| set("", name, value));
        insta::assert_snapshot!(lines.join("\n"), @"
        error: there is no setting `exec.timout`
        error: there is no setting `exec`
        error: `exec.timeout` is not a whole number
        error: `exec.executor` is not `sandbox`, `host` or `container`
        error: `skills.denied` is not a list of names or globs of names
        error: `skills.denied` is not a list of names or globs of names
        error: config.toml:2: `agents.Bob.skills` cannot be a setting of an agent: use lowercase letters, digits and hyphens, and begin with no hyphen
        error: config.toml:2: `mcp.servers.a b.url` cannot be a setting of a server: a name is up to 32 letters, digits, `-` and `_`
        error: there is no setting ``
        ");
    }

    #[test]
    fn a_result_that_would_not_load_is_refused_with_its_line() {
        insta::assert_snapshot!(set("[exec]\n\ntimout = 3\n", "exec.memory_mb", "60"), @"error: config.toml:3: there is no setting `exec.timout`");
        insta::assert_snapshot!(set("agents = [", WORKSPACE, "/w"), @"error: config.toml:1: not valid TOML: unclosed array, expected `]`");
        insta::assert_snapshot!(set("agents.defaults = 3\n", WORKSPACE, "/w"), @"error: `config.toml` has something else where `agents.defaults.workspace` belongs");
    }

    #[test]
    fn a_setting_is_removed_and_comments_stay() {
        let text =
            "# mine\n[exec] # run\ntimeout = 3 # short\n\n[skills]\nenabled = true\ndenied = []\n";
        insta::assert_snapshot!(unset(text, "exec.timeout"), @"
        # mine
        [exec] # run

        [skills]
        enabled = true
        denied = []
        ");
        insta::assert_snapshot!(unset(text, "skills.denied"), @"
        # mine
        [exec] # run
        timeout = 3 # short

        [skills]
        enabled = true
        ");
        insta::assert_snapshot!(unset(text, "skills.allowed"), @"
        # mine
        [exec] # run
        timeout = 3 # short

        [skills]
        enabled = true
        denied = []
        ");
        insta::assert_snapshot!(unset(text, "skills.allow"), @"error: there is no setting `skills.allow`");
        insta::assert_snapshot!(unset("[exec]\ntimout = 3\n", "exec.timout"), @"[exec]");
        insta::assert_snapshot!(unset("[mcp.servers.git]\ncommand = 'x'\n[skills]\n", "mcp.servers.git.command"), @"[skills]");
        insta::assert_snapshot!(unset("exec = { timeout = 3, memory_mb = 4 }\n", "exec.timeout"), @"exec = { memory_mb = 4 }");
    }

    #[test]
    fn values_and_keys_are_written_so_that_they_are_read_as_they_are() {
        for value in ["a\"b\\c", "x\ny", "'''", "ß写", "#", "\u{1b}[31m"] {
            for name in ["plain", "with space", "写作", "a#b"] {
                let name = format!("skills.entries.{}.api_key", toml_key(name));
                let text = set("# kept\n", &name, value);
                assert!(text.starts_with("# kept\n"), "{text}");
                assert_eq!(set(&text, &name, value), text, "{name} {value:?}");
            }
        }
    }
}
