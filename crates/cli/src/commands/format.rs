//! `validate`, `read-properties` and `to-prompt`, as the format's reference tool has them.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use metier_skill::header::decode;
use metier_skill::reference::{self, Properties};
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};
use serde_json::{Map, Value};

use crate::failure::{FAILED, Failure, OK, USAGE};
use crate::output::{Output, plain, plain_block};

/// Largest file that is read.
const MAX_BYTES: u64 = 1 << 20;

/// Checks a skill.
pub(super) fn validate(path: &Path, output: Output) -> u8 {
    let folder = folder_of(path);
    let errors = errors_of(&folder);
    if errors.is_empty() {
        output.print(&format!("Valid skill: {}", plain(&path.display().to_string())));
        return OK;
    }
    let mut message = format!("Validation failed for {}:", plain(&path.display().to_string()));
    for error in errors {
        message.push_str(&format!("\n  - {}", plain(&error)));
    }
    output.error(&message);
    if fs::symlink_metadata(path).is_err() { USAGE } else { FAILED }
}

/// Prints the properties of a skill.
pub(super) fn read_properties(path: &Path, output: Output) -> Result<u8, Failure> {
    match properties_of(&folder_of(path)) {
        Ok(properties) => {
            output.print(&ascii_json(&properties_json(&properties)));
            Ok(OK)
        }
        Err(message) => {
            output.error(&format!("Error: {}", plain(&message)));
            Ok(if fs::symlink_metadata(path).is_err() { USAGE } else { FAILED })
        }
    }
}

/// Prints the block for a prompt. A skill that cannot be read does not keep the others out.
pub(super) fn to_prompt(paths: &[PathBuf], output: Output) -> u8 {
    let mut text = String::from("<available_skills>\n");
    let mut code = OK;
    for path in paths {
        let folder = folder_of(path);
        match properties_of(&folder) {
            Ok(properties) => {
                let file = skill_file(&folder).unwrap_or(folder);
                let location = fs::canonicalize(&file).unwrap_or(file);
                text.push_str(&prompt_entry(&properties, &location.display().to_string()));
            }
            Err(message) if paths.len() > 1 => {
                output.error(&plain(&format!("Error: {}: {message}", path.display())));
                code = FAILED;
            }
            Err(message) => {
                output.error(&format!("Error: {}", plain(&message)));
                code = FAILED;
            }
        }
    }
    text.push_str("</available_skills>");
    output.print(&plain_block(&text));
    code
}

fn prompt_entry(properties: &Properties, location: &str) -> String {
    let field = |name: &str, value: &str| {
        let value = metier_skill::catalog::escape(value);
        format!("<{name}>\n{value}\n</{name}>\n")
    };
    format!(
        "<skill>\n{}{}{}</skill>\n",
        field("name", &properties.name),
        field("description", &properties.description),
        field("location", location)
    )
}

/// The skill's folder, for the folder itself or the file in it.
fn folder_of(path: &Path) -> PathBuf {
    let is_skill_file = path.file_name().is_some_and(|it| it.eq_ignore_ascii_case("SKILL.md"));
    match path.parent() {
        Some(parent) if is_skill_file && path.is_file() => {
            if parent.as_os_str().is_empty() {
                PathBuf::from(".")
            } else {
                parent.to_owned()
            }
        }
        _ => path.to_owned(),
    }
}

/// `SKILL.md`, or `skill.md` where that is all there is.
fn skill_file(folder: &Path) -> Option<PathBuf> {
    ["SKILL.md", "skill.md"].map(|name| folder.join(name)).into_iter().find(|file| file.exists())
}

fn errors_of(folder: &Path) -> Vec<String> {
    if !folder.exists() {
        return vec![format!("Path does not exist: {}", folder.display())];
    }
    if !folder.is_dir() {
        return vec![format!("Not a directory: {}", folder.display())];
    }
    let Some(file) = skill_file(folder) else {
        return vec!["Missing required file: SKILL.md".to_owned()];
    };
    let text = match read(&file) {
        Ok(text) => text,
        Err(message) => return vec![message],
    };
    let real = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let name = real.file_name().unwrap_or_default().to_string_lossy().into_owned();
    reference::validate(&text, &name)
}

fn properties_of(folder: &Path) -> Result<Properties, String> {
    let file =
        skill_file(folder).ok_or_else(|| format!("SKILL.md not found in {}", folder.display()))?;
    reference::properties(&read(&file)?).map_err(|error| error.to_string())
}

fn read(file: &Path) -> Result<String, String> {
    let too_large = fs::metadata(file).is_ok_and(|it| !it.is_file() || it.len() > MAX_BYTES);
    if too_large {
        return Err(format!("SKILL.md is not a regular file of at most {MAX_BYTES} bytes"));
    }
    let bytes =
        fs::read(file).map_err(|error| format!("Cannot read {}: {error}", file.display()))?;
    match decode(&bytes) {
        (text, None) => Ok(text.into_owned()),
        (_, Some(diagnostic)) => Err(format!("SKILL.md must be UTF-8: {}", diagnostic.message)),
    }
}

fn properties_json(properties: &Properties) -> Value {
    let mut fields = Map::new();
    let mut set = |name: &str, value: Option<&String>| {
        if let Some(value) = value {
            fields.insert(name.to_owned(), Value::String(value.clone()));
        }
    };
    set("name", Some(&properties.name));
    set("description", Some(&properties.description));
    set("license", properties.license.as_ref());
    set("compatibility", properties.compatibility.as_ref());
    set("allowed-tools", properties.allowed_tools.as_ref());
    if !properties.metadata.is_empty() {
        let entries = properties.metadata.iter();
        let metadata = entries.map(|(key, value)| (key.clone(), Value::String(value.clone())));
        fields.insert("metadata".to_owned(), Value::Object(metadata.collect()));
    }
    Value::Object(fields)
}

/// JSON in which everything beyond ASCII is written as `\uXXXX`.
fn ascii_json(value: &Value) -> String {
    let mut bytes = Vec::new();
    let formatter = Ascii(PrettyFormatter::with_indent(b"  "));
    let written =
        serde::Serialize::serialize(value, &mut Serializer::with_formatter(&mut bytes, formatter));
    debug_assert!(written.is_ok(), "writing to memory does not fail");
    String::from_utf8_lossy(&bytes).into_owned()
}

struct Ascii(PrettyFormatter<'static>);

impl Formatter for Ascii {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        text: &str,
    ) -> io::Result<()> {
        for character in text.chars() {
            if character.is_ascii() {
                writer.write_all(&[character as u8])?;
            } else {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    write!(writer, "\\u{unit:04x}")?;
                }
            }
        }
        Ok(())
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object(writer)
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object(writer)
    }

    fn begin_object_key<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.0.begin_object_key(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object_value(writer)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object_value(writer)
    }
}
