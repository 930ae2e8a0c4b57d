//! Plugins: folders that say in a manifest where their skills are.

use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use thiserror::Error;

use crate::diagnostic::Code;
use crate::files::open_regular;
use crate::name::SkillName;
use crate::problem::Problem;

const TOML_MANIFEST: &str = "plugin.toml";
const JSON_MANIFEST: &str = ".claude-plugin/plugin.json";
/// Where skills are when the manifest does not say.
const USUAL_FOLDER: &str = "skills";
/// Largest manifest that is read.
const MAX_MANIFEST_BYTES: u64 = 256 << 10;
/// Most plugins of one folder.
const MAX_PLUGINS: usize = 200;

/// A plugin and its folders of skills.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plugin {
    /// Goes before the name of a skill when another source has the same one.
    pub name: SkillName,
    /// Its folders of skills.
    pub roots: Vec<PathBuf>,
}

/// The error of a manifest that cannot be used.
#[derive(Debug, Error)]
enum PluginManifestError {
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file is too large.
    #[error("the file has {bytes} bytes and was not read")]
    TooLarge {
        /// How large it is.
        bytes: u64,
    },
    /// The file is not TOML.
    #[error("{}", .0.message())]
    Toml(#[from] toml::de::Error),
    /// The file is not JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// The manifest is a list, a text or a number.
    #[error("it is not an object with fields")]
    NoFields,
    /// The folders of skills are something else.
    #[error("`skills` is not a list of folders")]
    NoFolders,
}

/// The plugins in a folder, which may itself be one.
pub fn find_plugins(folder: &Path) -> (Vec<Plugin>, Vec<Problem>) {
    let mut plugins = Vec::new();
    let mut problems = Vec::new();
    let mut folders = vec![folder.to_owned()];
    if manifest_of(folder).is_none() {
        folders = children(folder);
        folders.retain(|child| manifest_of(child).is_some());
        if folders.len() > MAX_PLUGINS {
            let message =
                format!("there are more than {MAX_PLUGINS} plugins; the rest is not used");
            problems.push(Problem::new(Code::PluginUnreadable, folder, message));
            folders.truncate(MAX_PLUGINS);
        }
    }
    for folder in folders {
        match manifest_of(&folder).map(|manifest| read_plugin(&folder, &manifest)) {
            Some(Ok(plugin)) => plugins.push(plugin),
            Some(Err(problem)) => problems.push(*problem),
            None => {}
        }
    }
    (plugins, problems)
}

fn children(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut children: Vec<PathBuf> =
        entries.filter_map(Result::ok).map(|entry| entry.path()).filter(|it| it.is_dir()).collect();
    children.sort();
    children
}

fn manifest_of(folder: &Path) -> Option<PathBuf> {
    [TOML_MANIFEST, JSON_MANIFEST].map(|name| folder.join(name)).into_iter().find(|it| it.is_file())
}

fn read_plugin(folder: &Path, manifest: &Path) -> Result<Plugin, Box<Problem>> {
    let refuse =
        |message: String| Box::new(Problem::new(Code::PluginUnreadable, manifest, message));
    let unreadable = |error: PluginManifestError| refuse(error.to_string());
    let fields = parse(manifest).map_err(unreadable)?;
    let folder_name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let name = fields.get("name").and_then(|name| name.as_str()).unwrap_or(folder_name);
    let name = SkillName::new(name)
        .map_err(|why| refuse(format!("`{}` cannot name a plugin: {why}", name.escape_debug())))?;
    let paths = skill_paths(&fields).map_err(unreadable)?;
    let mut roots = Vec::new();
    for path in paths {
        if !stays_inside(folder, &path) {
            return Err(refuse(format!(
                "the folder `{}` leads outside the plugin",
                path.escape_debug()
            )));
        }
        roots.push(folder.join(path));
    }
    Ok(Plugin { name, roots })
}

fn parse(manifest: &Path) -> Result<serde_json::Value, PluginManifestError> {
    let (file, metadata) = open_regular(manifest)?;
    if metadata.len() > MAX_MANIFEST_BYTES {
        return Err(PluginManifestError::TooLarge { bytes: metadata.len() });
    }
    let mut text = String::new();
    file.take(MAX_MANIFEST_BYTES).read_to_string(&mut text)?;
    let fields: serde_json::Value =
        if manifest.extension().is_some_and(|extension| extension == "toml") {
            toml::from_str(&text)?
        } else {
            serde_json::from_str(&text)?
        };
    if fields.is_object() { Ok(fields) } else { Err(PluginManifestError::NoFields) }
}

/// `skills` is a folder, a list of folders, or absent.
fn skill_paths(fields: &serde_json::Value) -> Result<Vec<String>, PluginManifestError> {
    use serde_json::Value;
    let text =
        |value: &Value| value.as_str().map(str::to_owned).ok_or(PluginManifestError::NoFolders);
    match fields.get("skills") {
        None => Ok(vec![USUAL_FOLDER.to_owned()]),
        Some(Value::Array(paths)) => paths.iter().map(text).collect(),
        Some(path) => Ok(vec![text(path)?]),
    }
}

/// Whether a path neither says to leave the plugin nor is a link that does.
fn stays_inside(plugin: &Path, path: &str) -> bool {
    let said = Path::new(path)
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let real = |path: &Path| fs::canonicalize(path).ok();
    said && match (real(plugin), real(&plugin.join(path))) {
        (Some(plugin), Some(path)) => path.starts_with(plugin),
        _ => true,
    }
}
