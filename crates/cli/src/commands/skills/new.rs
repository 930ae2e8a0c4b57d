//! `metier skills new`: a skill to start from, which passes `lint --strict`.

use std::fs;
use std::path::Path;

use metier_skill::name;
use serde_json::json;

use crate::context::Context;
use crate::failure::{Failure, OK};
use crate::output::plain;

/// What to make.
pub(super) struct Wanted<'a> {
    /// The name.
    pub name: &'a str,
    /// Where the skill's folder is made.
    pub folder: &'a Path,
    /// What it does and when to use it.
    pub description: Option<String>,
    /// Print JSON.
    pub json: bool,
}

/// Makes the skill. A folder that is there already is left alone.
pub(super) fn run(context: &Context, wanted: &Wanted<'_>) -> Result<u8, Failure> {
    let name = wanted.name;
    if name.is_empty() || !name::faults(name).is_empty() {
        let failure = Failure::usage(format!("`{name}` is not a name for a skill"));
        return Err(match name::corrected(name) {
            Some(better) => failure.hint(format!("`{better}` would be")),
            None => failure.hint("use lowercase letters, digits and hyphens"),
        });
    }
    let folder = context.app.environment.folder.join(wanted.folder).join(name);
    let shown = match wanted.folder.strip_prefix(".") {
        Ok(inside) => inside.join(name),
        Err(_) => wanted.folder.join(name),
    };
    let shown = shown.display().to_string();
    if folder.exists() {
        return Err(Failure::new(format!("`{shown}` is already there"))
            .hint("choose another name, or name another folder"));
    }
    let description = wanted.description.clone().unwrap_or_else(|| usual_description(name));
    write_files(&folder, &skill_file(name, &description)).map_err(|error| {
        Failure::new(format!("cannot make `{shown}`: {error}"))
            .hint("choose a folder that you can write to")
    })?;
    if wanted.json {
        context.output.json(&json!({ "name": name, "path": folder.to_string_lossy() }));
    } else {
        context.output.print(&format!("made {}", plain(&shown)));
        context.output.say("next: write SKILL.md, then run `metier skills lint` on the folder");
    }
    Ok(OK)
}

fn usual_description(name: &str) -> String {
    format!("Does the work of {name}. Use when someone asks for {}.", name.replace('-', " "))
}

fn skill_file(name: &str, description: &str) -> String {
    // JSON strings are YAML strings: whatever the text has in it, it stays one value.
    let description = json!(metier_skill::catalog::one_line(description));
    format!(
        "---\nname: {name}\ndescription: {description}\nmetadata:\n  metier:\n    \
         requires:\n      bins: [sh]\n---\n\n# {name}\n\nSay what to do, step by step, as you would to a \
         colleague who is new to it.\n\n## Quick start\n\n```sh\nsh scripts/hello.sh world\n```\n\n## More\n\n\
         Read [details](references/details.md) when the quick start is not enough.\n"
    )
}

const DETAILS: &str = "# Details\n\nWhat is needed only sometimes goes here, so that it costs nothing until it is read.\n";

const SCRIPT: &str = "#!/bin/sh\n# Data goes to standard output, everything else to standard error.\nset -eu\n\
    printf 'hello, %s\\n' \"${1:?say whom to greet}\"\n";

fn write_files(folder: &Path, skill: &str) -> std::io::Result<()> {
    fs::create_dir_all(folder.join("references"))?;
    fs::create_dir_all(folder.join("scripts"))?;
    fs::write(folder.join("SKILL.md"), skill)?;
    fs::write(folder.join("references/details.md"), DETAILS)?;
    write_script(&folder.join("scripts/hello.sh"))
}

fn write_script(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::write(path, SCRIPT)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o755))
}
