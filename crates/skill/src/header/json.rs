//! A header as JSON, as skills are told of over the network.
//!
//! Every field is there, in its order. Plain scalars are what the core schema of YAML makes of them; what JSON cannot
//! hold exactly stays text: whole numbers beyond 64 bits, infinities, what is no number.

use serde_json::{Map, Number, Value};
use thiserror::Error;

use crate::diagnostic::{Code, Diagnostic};
use crate::header::fields::{Manifest, read_fields};
use crate::header::frame::FrameError;
use crate::header::read::{Mending, Unread, header_tree};
use crate::header::requirements::from_json;
use crate::header::yaml::{Kind, Node, is_bounded};
use crate::text::Span;

/// Why a header cannot be told as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FrontMatterError {
    /// There is none.
    #[error(transparent)]
    Frame(#[from] FrameError),
    /// It cannot be read, not even mended.
    #[error("the header is not valid YAML: {message}")]
    Yaml {
        /// What is wrong, and where.
        message: String,
    },
    /// It is not a mapping.
    #[error("the header is {found}, not a mapping of fields")]
    NotAMapping {
        /// What it is.
        found: &'static str,
    },
    /// Names of fields in JSON are text.
    #[error("the header has a key that is {found}")]
    Key {
        /// What it is.
        found: &'static str,
    },
}

/// A field that says one thing in a file and another where it is told of.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("the field `{}` is not what was told", field.escape_debug())]
pub struct Difference {
    /// Which, by its names from the top, with dots.
    pub field: String,
}

/// The header of a `SKILL.md`, every field of it.
///
/// One that is no valid YAML is mended as it is for reading.
///
/// # Errors
///
/// When there is no header, or none that JSON can hold.
pub fn front_matter(text: &str) -> Result<Map<String, Value>, FrontMatterError> {
    object(&entries_of(text)?)
}

/// The first field in which the header of a `SKILL.md` differs from what was told of it.
///
/// A scalar may have been told as what it is in YAML or as its text: readers of headers differ in that, and its
/// text is what counts here.
///
/// # Errors
///
/// When there is no header that can be compared.
pub fn difference(
    text: &str,
    told: &Map<String, Value>,
) -> Result<Option<Difference>, FrontMatterError> {
    Ok(fields_differ(&entries_of(text)?, told).map(|field| Difference { field }))
}

/// Reads fields as if they stood in a `SKILL.md` in a folder of a name.
///
/// Without a manifest they are not usable, and a diagnostic says why; places mean nothing.
pub fn read_front_matter(
    fields: &Map<String, Value>,
    folder: &str,
) -> (Option<Manifest>, Vec<Diagnostic>) {
    let root = from_json(Value::Object(fields.clone()), Span::at(0));
    let mut diagnostics = Vec::new();
    if !is_bounded(&root) {
        let message = "the header is too large";
        diagnostics.push(Diagnostic::new(Code::HeaderTooLarge, Span::at(0), message));
        return (None, diagnostics);
    }
    (read_fields(&root, Some(folder), &mut diagnostics), diagnostics)
}

fn entries_of(text: &str) -> Result<Vec<(Node, Node)>, FrontMatterError> {
    let root = header_tree(text, Mending::Allowed).map_err(|unread| match unread {
        Unread::Frame(error) => FrontMatterError::Frame(error),
        Unread::Yaml(message) => FrontMatterError::Yaml { message },
    })?;
    let found = root.type_name();
    match root.kind {
        Kind::Mapping(entries) => Ok(entries),
        _ => Err(FrontMatterError::NotAMapping { found }),
    }
}

fn json(node: &Node) -> Result<Value, FrontMatterError> {
    Ok(match &node.kind {
        Kind::Null => Value::Null,
        Kind::Scalar(text) => scalar(text, node.is_plain),
        Kind::Sequence(items) => Value::Array(items.iter().map(json).collect::<Result<_, _>>()?),
        Kind::Mapping(entries) => Value::Object(object(entries)?),
    })
}

fn object(entries: &[(Node, Node)]) -> Result<Map<String, Value>, FrontMatterError> {
    let mut object = Map::with_capacity(entries.len());
    for (key, value) in entries {
        let found = key.type_name();
        let key = key.text().ok_or(FrontMatterError::Key { found })?;
        object.insert(key.to_owned(), json(value)?);
    }
    Ok(object)
}

/// A scalar by the core schema of YAML 1.2.
fn scalar(text: &str, is_plain: bool) -> Value {
    let value = match text {
        _ if !is_plain => None,
        "true" | "True" | "TRUE" => Some(Value::Bool(true)),
        "false" | "False" | "FALSE" => Some(Value::Bool(false)),
        _ => number(text).map(Value::Number),
    };
    value.unwrap_or_else(|| Value::String(text.to_owned()))
}

fn number(text: &str) -> Option<Number> {
    let all = |digits: &str, radix| {
        !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix))
    };
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        if let Some(digits) = text.strip_prefix(prefix).filter(|digits| all(digits, radix)) {
            return u64::from_str_radix(digits, radix).ok().map(Number::from);
        }
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if all(unsigned, 10) {
        let positive = text.strip_prefix('+').unwrap_or(text);
        let signed = || positive.parse::<i64>().ok().map(Number::from);
        return positive.parse::<u64>().ok().map(Number::from).or_else(signed);
    }
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let exponent_fits =
        exponent.is_none_or(|it| all(it.strip_prefix(['-', '+']).unwrap_or(it), 10));
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{part}");
    if !exponent_fits || !all(&digits, 10) {
        return None;
    }
    // Beyond the largest, this is an infinity, which is no number of JSON.
    text.parse::<f64>().ok().and_then(Number::from_f64)
}

fn fields_differ(entries: &[(Node, Node)], told: &Map<String, Value>) -> Option<String> {
    for (key, node) in entries {
        let Some(name) = key.text() else { return Some(key.as_text().into_owned()) };
        let Some(value) = told.get(name) else { return Some(name.to_owned()) };
        if let Some(below) = differs(node, value) {
            return Some(if below.is_empty() {
                name.to_owned()
            } else {
                format!("{name}.{below}")
            });
        }
    }
    let is_told_only = |name: &&String| !entries.iter().any(|(key, _)| key.text() == Some(name));
    told.keys().find(is_told_only).cloned()
}

/// Where a value differs from what was told; an empty name is the value itself.
fn differs(node: &Node, told: &Value) -> Option<String> {
    let same = match (&node.kind, told) {
        (Kind::Mapping(entries), Value::Object(told)) => return fields_differ(entries, told),
        (Kind::Sequence(items), Value::Array(told)) => {
            items.len() == told.len()
                && items.iter().zip(told).all(|(item, told)| differs(item, told).is_none())
        }
        (Kind::Null, told) => told.is_null(),
        (Kind::Scalar(text), Value::String(told)) => text == told,
        (Kind::Scalar(text), told) => equal(&scalar(text, node.is_plain), told),
        _ => false,
    };
    (!same).then(String::new)
}

/// Whether two scalars are one, however their numbers are written: `1.0` is `1` to some.
fn equal(left: &Value, right: &Value) -> bool {
    left == right
        || match (left, right) {
            (Value::Number(left), Value::Number(right)) => {
                (left.is_f64() || right.is_f64()) && left.as_f64() == right.as_f64()
            }
            _ => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The fields of a header as JSON text.
    fn fields(header: &str) -> String {
        match front_matter(&format!("---\n{header}---\nBody\n")) {
            Ok(fields) => Value::Object(fields).to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn every_field_is_told_in_its_order() {
        insta::assert_snapshot!(fields(
            "name: ship\ndescription: |\n  Ships.\n  All.\nzeta: {b: [1, two], a: ~}\nallowed-tools: Bash(git:*)\nx_y: ''\n"
        ), @r#"{"name":"ship","description":"Ships.\nAll.\n","zeta":{"b":[1,"two"],"a":null},"allowed-tools":"Bash(git:*)","x_y":""}"#);
    }

    #[test]
    fn plain_scalars_are_what_the_core_schema_says() {
        insta::assert_snapshot!(fields(
            "a: [true, False, TRUE, yes, on, null, Null, ~, tRUE]\nb: [7, -7, +7, 007, 0x1F, 0o17, 0b1, 1_000, -0x1]\n"
        ), @r#"{"a":[true,false,true,"yes","on",null,null,null,"tRUE"],"b":[7,-7,7,7,31,15,"0b1","1_000","-0x1"]}"#);
        insta::assert_snapshot!(fields(
            "a: [1.0, 1.50, .5, 5., 1e3, -1.5E-2, 1e, ., +.5, 1.2.3, e5]\nb: [2024-01-02, 12:30, 1 2, inf, NaN]\n"
        ), @r#"{"a":[1.0,1.5,0.5,5.0,1000.0,-0.015,"1e",".",0.5,"1.2.3","e5"],"b":["2024-01-02","12:30","1 2","inf","NaN"]}"#);
    }

    #[test]
    fn what_is_quoted_or_tagged_is_text() {
        insta::assert_snapshot!(fields("a: ['1', \"true\", !!str 1.0, !x 2, 'null']\nb: |-\n  12\nc: >-\n  true\n"),
            @r#"{"a":["1","true","1.0","2","null"],"b":"12","c":"true"}"#);
    }

    #[test]
    fn numbers_that_json_cannot_hold_stay_text() {
        insta::assert_snapshot!(fields(
            "a: [18446744073709551615, 18446744073709551616, -9223372036854775808, -9223372036854775809]\nb: [0x10000000000000000, 1e999, .inf, -.inf, .nan]\n"
        ), @r#"{"a":[18446744073709551615,"18446744073709551616",-9223372036854775808,"-9223372036854775809"],"b":["0x10000000000000000","1e999",".inf","-.inf",".nan"]}"#);
    }

    #[test]
    fn aliases_are_told_as_what_they_stand_for() {
        insta::assert_snapshot!(fields("a: &it {b: 1, c: '1'}\nd: *it\n"), @r#"{"a":{"b":1,"c":"1"},"d":{"b":1,"c":"1"}}"#);
    }

    #[test]
    fn a_header_that_is_mended_for_reading_is_told_mended() {
        insta::assert_snapshot!(fields("name: ship\ndescription: Use when: 1\n"), @r#"{"name":"ship","description":"Use when: 1"}"#);
    }

    #[test]
    fn what_json_cannot_hold_is_refused() {
        insta::assert_snapshot!(fields("- a\n"), @"the header is a list, not a mapping of fields");
        insta::assert_snapshot!(fields(""), @"the header is nothing, not a mapping of fields");
        insta::assert_snapshot!(fields("a: {~: 1}\n"), @"the header has a key that is nothing");
        insta::assert_snapshot!(fields("? [a]\n: 1\n"), @"the header has a key that is a list");
        insta::assert_snapshot!(fields("a: 1\na: 2\n"), @"the header is not valid YAML: the key `a` stands twice (line 3)");
        assert_eq!(front_matter("# Title\n"), Err(FrontMatterError::Frame(FrameError::NoHeader)));
    }

    /// Where a header differs from what was told.
    fn compared(header: &str, told: &str) -> String {
        let told: Map<String, Value> = serde_json::from_str(told).unwrap();
        match difference(&format!("---\n{header}---\n"), &told) {
            Ok(None) => "same".to_owned(),
            Ok(Some(difference)) => difference.to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn numbers_and_switches_may_be_told_as_their_text() {
        for told in [
            r#"{"a":1.0,"b":true,"c":31}"#,
            r#"{"c":31.0,"b":true,"a":1}"#,
            r#"{"a":"1.0","b":"true","c":"0x1F"}"#,
        ] {
            assert_eq!(compared("a: 1.0\nb: true\nc: 0x1F\n", told), "same", "{told}");
        }
        for told in [r#"{"a":1.1}"#, r#"{"a":"1"}"#, r#"{"a":null}"#, r#"{"a":[1.0]}"#, r#"{}"#] {
            assert_eq!(compared("a: 1.0\n", told), "the field `a` is not what was told", "{told}");
        }
        assert_eq!(compared("a: '1'\n", r#"{"a":1}"#), "the field `a` is not what was told");
        assert_eq!(compared("a: '~'\n", r#"{"a":null}"#), "the field `a` is not what was told");
        let large = "a: 9007199254740993\n";
        assert_eq!(
            compared(large, r#"{"a":9007199254740992}"#),
            "the field `a` is not what was told"
        );
    }

    #[test]
    fn a_field_that_differs_is_named() {
        let header = "name: ship\nmetadata:\n  a:\n    b: [1, 2]\n";
        assert_eq!(compared(header, r#"{"metadata":{"a":{"b":[1,2]}},"name":"ship"}"#), "same");
        insta::assert_snapshot!(compared(header, r#"{"name":"ship","metadata":{"a":{"b":[1,3]}}}"#), @"the field `metadata.a.b` is not what was told");
        insta::assert_snapshot!(compared(header, r#"{"name":"ship","metadata":{"a":{"b":[1,2]}},"allowed-tools":"Bash"}"#), @"the field `allowed-tools` is not what was told");
        insta::assert_snapshot!(compared(header, r#"{"name":"ship"}"#), @"the field `metadata` is not what was told");
    }

    #[test]
    fn what_was_told_is_read_by_the_rules_of_files() {
        let read = |told: &str| {
            let told: Map<String, Value> = serde_json::from_str(told).unwrap();
            let (manifest, diagnostics) = read_front_matter(&told, "ship");
            let codes: Vec<String> =
                diagnostics.iter().map(|it| format!("{} {}", it.code, it.message)).collect();
            format!("{:?} {}", manifest.map(|it| (it.description, it.version)), codes.join(", "))
        };
        insta::assert_snapshot!(read(r#"{"name":"ship","description":"Ships","version":1.5}"#), @r#"Some(("Ships", Some("1.5"))) M040 `version` is not a field of the format"#);
        insta::assert_snapshot!(read(r#"{"name":"ship"}"#), @"None M030 `description` is missing");
        let deep = format!(
            r#"{{"name":"ship","description":"d","x":{}1{}}}"#,
            "[".repeat(40),
            "]".repeat(40)
        );
        insta::assert_snapshot!(read(&deep), @"None M007 the header is too large");
    }
}
