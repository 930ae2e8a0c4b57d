//! A configuration file with every setting in it, explained and commented out.
//!
//! A line that begins with `#` and a space is prose. What begins with `#` and anything else is a line
//! of the file: without the `#` it says the default.

use std::fmt::Write as _;

use crate::key::SettingKey;
use crate::sections::SECTIONS;

/// Columns of prose.
const WIDTH: usize = 100;
/// The name in place of one that the person chooses: it must do for an agent too.
const EXAMPLE: &str = "example";

const START: &str = "#:schema ./config.schema.json
# Settings of metier: every one there is, with its default. Everything is commented out, so this file changes nothing
# as it is. To set something, take away the `#` before the line and before the `[section]` above it.
#
# Your own settings are `config.toml` in the state directory, ~/.metier unless METIER_HOME says otherwise. The file
# `.metier/config.toml` of a project and /etc/metier/config.toml may only take rights away; each setting says which.
#
# `metier config show` prints what is in force. Editors that know JSON Schema complete and check this file by its first
# line, if the schema is beside it: `metier config schema > config.schema.json`.
";

/// The file.
pub fn sample_file() -> String {
    let mut text = String::from(START);
    for section in SECTIONS {
        let name = section.name.replace('*', EXAMPLE);
        let help = comment(section.help());
        let _infallible = write!(text, "\n\n{help}#[{name}]\n");
        for key in section.keys {
            let line = section.name_of(key).replace('*', "EXAMPLE");
            let _infallible = write!(text, "\n{}#{line} = {}\n", about(key), key.default);
        }
    }
    text
}

/// What is said of a setting above its line.
fn about(key: &SettingKey) -> String {
    let variable = key.variable().map(|name| format!(" Variable: {name}.")).unwrap_or_default();
    let narrowing = key.narrowing.description();
    comment(&format!("{}.", key.help()))
        + &comment(&format!("Type: {}.{variable} A project {narrowing}.", key.kind.description()))
}

/// Prose as lines of comments.
fn comment(prose: &str) -> String {
    let mut text = String::new();
    let mut column = 0;
    for word in prose.split(' ') {
        let length = word.chars().count();
        if column > 0 && column + 1 + length <= WIDTH {
            text.push(' ');
            column += 1 + length;
        } else {
            text.push_str(if column > 0 { "\n# " } else { "# " });
            column = length;
        }
        text.push_str(word);
    }
    text.push('\n');
    text
}
