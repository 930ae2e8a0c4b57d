//! Changing one setting in the person's file, and nothing else of it.
//!
//! The text is changed where the setting stands, or where it may stand; comments, order and layout
//! stay. There are several ways to write a setting, and not every file takes every one: each is tried
//! until one gives exactly the settings there were, and the new one.

use std::ops::Range;

use toml::de::{DeTable, DeValue};
use toml::{Table, Value};

/// A text with a setting changed; `None` if it is not TOML, or has something else in that place.
pub(crate) fn set(text: &str, path: &[&str], value: &str) -> Option<String> {
    let mut wanted: Table = text.parse().ok()?;
    insert(&mut wanted, path, value)?;
    let is_wanted = |text: &String| text.parse::<Table>().is_ok_and(|table| table == wanted);
    candidates(text, path, &Value::from(value).to_string()).into_iter().find(is_wanted)
}

fn insert(table: &mut Table, path: &[&str], value: &str) -> Option<()> {
    let (last, above) = path.split_last()?;
    let mut table = table;
    for part in above {
        let inner = table.entry(*part).or_insert_with(|| Value::Table(Table::new()));
        table = inner.as_table_mut()?;
    }
    table.insert((*last).to_owned(), Value::from(value));
    Some(())
}

/// Ways to write it, those that disturb least first.
fn candidates(text: &str, path: &[&str], literal: &str) -> Vec<String> {
    let mut ways = Vec::new();
    if let Some(place) = DeTable::parse(text).ok().and_then(|it| place_of(it.get_ref(), path)) {
        ways.push(format!("{}{literal}{}", &text[..place.start], &text[place.end..]));
    }
    let Some((last, above)) = path.split_last() else { return ways };
    let table = above.iter().map(|part| key(part)).collect::<Vec<_>>().join(".");
    let (header, line) = (format!("[{table}]"), format!("{} = {literal}\n", key(last)));
    let gap = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    let mut at = 0;
    for existing in text.split_inclusive('\n') {
        at += existing.len();
        if existing.split('#').next().is_some_and(|it| it.trim() == header) {
            let gap = if existing.ends_with('\n') { "" } else { "\n" };
            ways.push(format!("{}{gap}{line}{}", &text[..at], &text[at..]));
        }
    }
    let space = if text.is_empty() { "" } else { "\n" };
    ways.push(format!("{text}{gap}{space}{header}\n{line}"));
    ways.push(format!("{table}.{line}{text}"));
    ways
}

/// Where the value of a setting stands.
fn place_of(table: &DeTable<'_>, path: &[&str]) -> Option<Range<usize>> {
    let (first, rest) = path.split_first()?;
    let (_, value) = table.iter().find(|(key, _)| key.get_ref() == first)?;
    match (value.get_ref(), rest) {
        (_, []) => Some(value.span()),
        (DeValue::Table(inner), rest) => place_of(inner, rest),
        _ => None,
    }
}

/// A key as it is written in TOML.
pub(crate) fn key(part: &str) -> String {
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

    const WORKSPACE: [&str; 3] = ["agents", "defaults", "workspace"];

    fn edited(text: &str) -> String {
        set(text, &WORKSPACE, "/w").unwrap_or_else(|| "impossible".to_owned())
    }

    #[test]
    fn only_the_value_changes_where_the_setting_stands() {
        insta::assert_snapshot!(edited("# mine\n[agents.defaults] # all\n  workspace   =  'old'  # here\nskills = []\n"), @r#"
        # mine
        [agents.defaults] # all
          workspace   =  "/w"  # here
        skills = []
        "#);
        insta::assert_snapshot!(edited("agents = { defaults = { workspace = \"old\" } } # in line\n"), @r#"agents = { defaults = { workspace = "/w" } } # in line"#);
    }

    #[test]
    fn a_setting_is_added_where_it_may_stand() {
        insta::assert_snapshot!(edited(""), @r#"
        [agents.defaults]
        workspace = "/w"
        "#);
        insta::assert_snapshot!(edited("skills.enabled = true # yes"), @r#"
        skills.enabled = true # yes

        [agents.defaults]
        workspace = "/w"
        "#);
        insta::assert_snapshot!(edited("[agents.defaults]\nskills = ['a']\n\n[skills]\nenabled = true\n"), @r#"
        [agents.defaults]
        workspace = "/w"
        skills = ['a']

        [skills]
        enabled = true
        "#);
        insta::assert_snapshot!(edited("# top\nagents.defaults.skills = ['a']\n"), @r#"
        agents.defaults.workspace = "/w"
        # top
        agents.defaults.skills = ['a']
        "#);
        insta::assert_snapshot!(edited("[agents]\ndefaults.skills = ['a']\n"), @"impossible");
    }

    #[test]
    fn what_is_not_toml_or_has_something_else_there_is_left_alone() {
        insta::assert_snapshot!(edited("agents = ["), @"impossible");
        insta::assert_snapshot!(edited("agents.defaults = 3\n"), @"impossible");
        insta::assert_snapshot!(edited("agents = { writer = { skills = [] } }\n"), @"impossible");
    }

    #[test]
    fn a_header_inside_a_text_is_no_header() {
        let text = "[agent]\ninstruction = '''\n[agents.defaults]\n'''\n";
        insta::assert_snapshot!(edited(text), @r#"
        [agent]
        instruction = '''
        [agents.defaults]
        '''

        [agents.defaults]
        workspace = "/w"
        "#);
    }

    #[test]
    fn values_and_keys_are_written_so_that_they_are_read_as_they_are() {
        for value in ["a\"b\\c", "x\ny", "'''", "ß写", "#", "\u{1b}[31m"] {
            for name in ["plain", "with space", "a.b", "q\"q", "写作", "a#b"] {
                let path = ["skills", "entries", name, "api_key"];
                let text = set("# kept\n", &path, value).expect("it can be written");
                assert!(text.starts_with("# kept\n"), "{text}");
                let again = set(&text, &path, value).expect("it can be written again");
                assert_eq!(text, again, "{name} {value:?}");
            }
        }
    }
}
