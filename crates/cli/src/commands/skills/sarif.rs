//! Findings as SARIF 2.1.0, which code hosts show beside the lines.

use metier_skill::diagnostic::{Code, Level, Severity};
use metier_skill::explanation::explain;
use serde_json::{Value, json};

use crate::commands::rules;
use crate::commands::skills::lint::Finding;

/// The whole report.
pub(super) fn report(findings: &[Finding]) -> Value {
    let rules: Vec<Value> = Code::ALL
        .iter()
        .map(|code| {
            json!({
                "id": code.as_str(),
                "shortDescription": { "text": code.summary() },
                "fullDescription": { "text": explain(*code).meaning },
                "help": { "text": rules::text(*code), "markdown": rules::markdown(*code) },
                "defaultConfiguration": { "level": level_of(code.severity(Level::Lenient)) },
            })
        })
        .collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "metier",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            "columnKind": "unicodeCodePoints",
            "results": findings.iter().map(result).collect::<Vec<_>>(),
        }],
    })
}

fn result(finding: &Finding) -> Value {
    let text = match &finding.help {
        Some(help) => format!("{} ({help})", finding.message),
        None => finding.message.clone(),
    };
    let location = json!({ "uri": uri(&finding.path.to_string_lossy()) });
    let mut result = json!({
        "ruleId": finding.code,
        "level": level_of(finding.severity),
        "message": { "text": text },
        "locations": [{ "physicalLocation": {
            "artifactLocation": location,
            "region": region(finding.line, finding.column, finding.end_line, finding.end_column),
        } }],
    });
    if let Some(fix) = &finding.fix {
        let replacements: Vec<Value> = fix
            .edits
            .iter()
            .map(|edit| {
                json!({
                    "deletedRegion": region(edit.line, edit.column, edit.end_line, edit.end_column),
                    "insertedContent": { "text": edit.replacement },
                })
            })
            .collect();
        result["fixes"] = json!([{
            "description": { "text": fix.title },
            "artifactChanges": [{ "artifactLocation": location, "replacements": replacements }],
        }]);
    }
    result
}

fn region(line: usize, column: usize, end_line: usize, end_column: usize) -> Value {
    json!({ "startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column })
}

fn level_of(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

/// A path as a URI: what is not a plain character is percent-encoded.
fn uri(path: &str) -> String {
    let mut uri = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}
