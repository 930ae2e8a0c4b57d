//! `metier skills info`.

use metier_skill::catalog::one_line;
use metier_skill::files::{self, FileKind, Tree};
use metier_skill::header::{Gate, Manifest};
use metier_skill::library::Entry;
use serde_json::{Map, Value, json};

use crate::args::SourceArgs;
use crate::commands::skills::list::status;
use crate::commands::skills::trust;
use crate::context::Context;
use crate::failure::{Failure, OK};
use crate::output::{plain, style, styled, wrapped};

/// Shows what is known of a skill.
pub(super) fn run(
    context: &Context,
    sources: &SourceArgs,
    name: &str,
    json: bool,
) -> Result<u8, Failure> {
    let snapshot = context.library(sources)?;
    let entry = context.find(&snapshot, name)?;
    if let Some(skill) = entry.remote() {
        trust::show(context, entry, skill, json);
        return Ok(OK);
    }
    let folder = context.folder_of(entry)?;
    let tree = files::list(&folder)?;
    let working = context.output.working("reading its files");
    let digests = context.app.digests();
    let digest = files::digest_of(&tree, &digests);
    let digest = digest.map_err(|error| Failure::of_skill(entry.name.as_str(), &error))?.whole;
    digests.save();
    drop(working);
    if json {
        context.output.json(&details(entry, &tree, &digest.to_string()));
    } else {
        let digest = digest.to_string();
        context.output.print(&page(entry, &tree, &digest, context.output.width()));
    }
    Ok(OK)
}

fn details(entry: &Entry, tree: &Tree, digest: &str) -> Value {
    let manifest = &entry.manifest;
    let mut fields = Map::new();
    fields.insert("name".into(), json!(entry.name));
    fields.insert("description".into(), json!(manifest.description));
    fields.insert("source".into(), json!(entry.source.label()));
    fields.insert("path".into(), json!(entry.place.file().to_string_lossy()));
    fields.insert("folder".into(), json!(tree.root.to_string_lossy()));
    fields.insert("digest".into(), json!(digest));
    fields.insert("eligible".into(), json!(entry.verdict.is_eligible()));
    for (name, value) in optional_fields(manifest) {
        if let Some(value) = value {
            fields.insert(name.into(), json!(value));
        }
    }
    fields.insert("allowed_tools".into(), json!(manifest.allowed_tools));
    fields.insert("metadata".into(), Value::Object(metadata(manifest)));
    fields.insert("docs".into(), json!(tree.docs().map(|doc| &doc.path).collect::<Vec<_>>()));
    let resources = tree.resources().map(|(path, size)| json!({ "path": path, "size": size }));
    fields.insert("resources".into(), json!(resources.collect::<Vec<_>>()));
    Value::Object(fields)
}

fn metadata(manifest: &Manifest) -> Map<String, Value> {
    manifest.metadata.iter().map(|(key, value)| (key.clone(), json!(value))).collect()
}

fn optional_fields(manifest: &Manifest) -> [(&'static str, Option<&String>); 5] {
    [
        ("license", manifest.license.as_ref()),
        ("compatibility", manifest.compatibility.as_ref()),
        ("version", manifest.version.as_ref()),
        ("homepage", manifest.homepage.as_ref()),
        ("argument_hint", manifest.argument_hint.as_ref()),
    ]
}

fn page(entry: &Entry, tree: &Tree, digest: &str, width: usize) -> String {
    let manifest = &entry.manifest;
    let emoji = match &manifest.gate {
        Gate::Readable(requirements) => requirements.emoji.as_deref().unwrap_or_default(),
        Gate::Unreadable(_) => "",
    };
    let heading = format!("{} {}", plain(entry.name.as_str()), plain(emoji));
    let mut text = format!(
        "{}\n{}\n\n",
        styled(style::NAME, heading.trim()),
        wrapped(&one_line(&manifest.description), width)
    );
    let (state_style, state) = status(entry);
    let mut line = |name: &str, value: String| {
        text.push_str(&format!("{}  {value}\n", styled(style::DIM, format!("{name:>13}"))));
    };
    line("status", styled(state_style, state));
    line("source", entry.source.to_string());
    line("folder", plain(&tree.root.display().to_string()));
    line("digest", digest.to_owned());
    for (name, value) in optional_fields(manifest) {
        if let Some(value) = value {
            line(&name.replace('_', " "), plain(value));
        }
    }
    if !manifest.allowed_tools.is_empty() {
        line("allowed tools", plain(&manifest.allowed_tools.join(" ")));
    }
    if let Gate::Readable(requirements) = &manifest.gate {
        for (name, list) in [
            ("systems", &requirements.os),
            ("programs", &requirements.bins),
            ("one of", &requirements.any_bins),
            ("variables", &requirements.env),
            ("settings", &requirements.config),
            ("servers", &requirements.servers),
            ("tools", &requirements.tools),
        ] {
            if !list.is_empty() {
                line(name, plain(&list.join(", ")));
            }
        }
        let asked = requirements.sandbox.parts();
        if !asked.is_empty() {
            line("asks for", plain(&asked.join(", ")));
        }
    }
    text.push_str(&files_of(tree));
    text
}

fn files_of(tree: &Tree) -> String {
    let mut text = format!("\n{}\n", styled(style::HEADING, "Files"));
    for entry in &tree.entries {
        let (size, mark) = match &entry.kind {
            FileKind::File { size, executable, .. } => {
                (human_size(*size), if *executable { " (executable)" } else { "" })
            }
            FileKind::Link { .. } => ("link".to_owned(), ""),
        };
        let mark = styled(style::DIM, mark);
        text.push_str(&format!("{size:>10}  {}{mark}\n", plain(&entry.path)));
    }
    text
}

/// A size as people read it.
pub(super) fn human_size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["B", "KiB", "MiB", "GiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{bytes} B") } else { format!("{value:.1} {}", UNITS[unit]) }
}
