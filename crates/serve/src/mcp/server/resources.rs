//! Resources: the files of skills that a model may use, and the artifacts of the session.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use metier_agent::visit::{SkillFile, Visit, VisitError};
use metier_skill::library::{Entry, Snapshot};
use metier_workspace::artifact::{ArtifactName, ArtifactRef, Listed};
use metier_workspace::mime::promised_type;
use rmcp::ErrorData;
use rmcp::model::{
    Annotations, ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate, Role,
};

use super::address::{self, Address, SKILL_FILE};
use super::page::Place;
use crate::mcp::memory::AnswerMemory;

/// The template of files of skills.
pub(super) const SKILLS: &str = "skill://{skill}/{+path}";
/// The template of artifacts, whose names may have folders.
pub(super) const ARTIFACTS: &str = "artifact://{+name}";

/// Resources on a page.
const PAGE: usize = 100;
/// Where skills are in the order of resources; their names follow.
const OF_SKILLS: &str = "1";
/// Where artifacts are: behind all skills.
const OF_ARTIFACTS: &str = "2";
/// How often the bytes of a resource are in memory while it is read, masked and encoded.
const COPIES: u64 = 3;
/// How much a model needs a `SKILL.md`, and everything else.
const PRIORITIES: (f32, f32) = (1.0, 0.5);

/// A page of resources.
///
/// # Errors
///
/// When the cursor is none, or artifacts cannot be listed.
pub(super) async fn list(
    visit: &Arc<Visit>,
    cursor: Option<&str>,
) -> Result<ListResourcesResult, ErrorData> {
    let begin = Place::of_cursor(cursor)?.unwrap_or_default();
    let mut page = Page { begin, items: Vec::new(), last: None, is_full: false };
    let skills = visit.snapshot();
    for entry in skills.entries.iter().filter(|entry| entry.is_model_visible()) {
        let first = format!("{OF_SKILLS}{}", entry.name);
        if first < page.begin.first || page.is_full {
            continue;
        }
        // A skill that cannot be read has no files to list; whoever loads it is told why.
        let files = files(visit, entry).await.unwrap_or_default();
        let folder = address::of_skill(entry.name.as_str(), &skills);
        for file in &files {
            if page.takes(&first, &file.path) {
                page.items.push(described(entry, &folder, file));
            }
        }
    }
    if !page.is_full {
        let artifacts = visit.artifacts().await;
        let mut artifacts =
            artifacts.map_err(|it| ErrorData::internal_error(it.to_string(), None))?;
        artifacts.sort_by(|left, right| left.name.cmp(&right.name));
        for artifact in &artifacts {
            if page.takes(OF_ARTIFACTS, &artifact.name) {
                page.items.extend(described_artifact(artifact));
            }
        }
    }
    let mut result = ListResourcesResult::with_all_items(page.items);
    result.next_cursor = page.last.filter(|_| page.is_full).map(|last| last.cursor());
    Ok(result)
}

/// A page that is being filled.
struct Page {
    begin: Place,
    items: Vec<Resource>,
    last: Option<Place>,
    is_full: bool,
}

impl Page {
    /// Whether an item belongs to the page; the first that does not fits into the next.
    fn takes(&mut self, first: &str, second: &str) -> bool {
        let place = Place::behind(first, second);
        if place <= self.begin || self.is_full {
            return false;
        }
        if self.items.len() == PAGE {
            self.is_full = true;
            return false;
        }
        self.last = Some(place);
        true
    }
}

/// What addresses look like.
pub(super) fn templates() -> ListResourceTemplatesResult {
    let of_skill = ResourceTemplate::new(SKILLS, "skill-file")
        .with_title("File of a skill")
        .with_description("A file of a skill; SKILL.md has its instructions");
    let of_artifact = ResourceTemplate::new(ARTIFACTS, "artifact")
        .with_title("Artifact")
        .with_description("A file that a run kept; @ and a number behind the name mean a version");
    ListResourceTemplatesResult::with_all_items(vec![of_skill, of_artifact])
}

/// Returns the content of a resource, for which memory is held before it is read.
///
/// # Errors
///
/// When nothing is there, there is no room for it, or it cannot be read.
pub(super) async fn read(
    visit: &Arc<Visit>,
    uri: &str,
    memory: Option<AnswerMemory>,
) -> Result<ReadResourceResult, ErrorData> {
    let admit = move |size: u64| memory.is_none_or(|it| it.hold(size * COPIES).is_ok());
    let skills = visit.snapshot();
    let address = Address::parse(uri, &skills).map_err(|it| unknown(uri, &it.to_string()))?;
    let (bytes, mime) = match address {
        Address::Skill { name, path } => {
            let entry = skills.find(&name).filter(|entry| entry.is_model_visible());
            entry.ok_or_else(|| unknown(uri, "there is no such skill"))?;
            let read = visit.file(&name, &path, admit).await.map_err(|it| failed(uri, &it))?;
            (read.bytes, read.mime_type.to_owned())
        }
        Address::Artifact(reference) => {
            let (name, version) = (reference.name().as_str(), reference.version());
            let read = visit.artifact(name, version, admit).await;
            let read = read.map_err(|it| failed(uri, &it))?;
            (read.bytes, read.version.mime_type)
        }
    };
    // A text is its bytes; whatever else comes is encoded.
    let contents = match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => ResourceContents::text(text, uri),
        Ok(text) => ResourceContents::blob(STANDARD.encode(text), uri),
        Err(error) => ResourceContents::blob(STANDARD.encode(error.into_bytes()), uri),
    };
    Ok(ReadResourceResult::new(vec![contents.with_mime_type(mime)]))
}

/// Says why something cannot be read.
fn failed(uri: &str, error: &VisitError) -> ErrorData {
    match error.is_missing() {
        true => unknown(uri, &error.to_string()),
        false if matches!(error, VisitError::NoRoom { .. }) => {
            ErrorData::invalid_request(error.to_string(), None)
        }
        false => ErrorData::internal_error(error.to_string(), None),
    }
}

/// Says that an address leads to nothing; which code that is depends on the version.
pub(super) fn unknown(uri: &str, why: &str) -> ErrorData {
    let data = serde_json::json!({ "uri": uri });
    ErrorData::resource_not_found(
        format!("there is no resource at this address: {why}"),
        Some(data),
    )
}

/// Returns the files of a skill, sorted by path.
///
/// # Errors
///
/// When they cannot be read.
pub(super) async fn files(visit: &Visit, entry: &Entry) -> Result<Vec<SkillFile>, VisitError> {
    visit.files(entry.name.as_str()).await
}

/// A file of a skill whose folder has an address.
pub(super) fn described(entry: &Entry, folder: &str, file: &SkillFile) -> Resource {
    let uri = address::inside(folder, &file.path);
    let (instructions, others) = PRIORITIES;
    let name = file.path.rsplit('/').next().unwrap_or(&file.path);
    let (mut resource, priority) = match file.path.as_str() {
        SKILL_FILE => {
            let resource = Resource::new(uri, entry.manifest.name.as_str());
            (resource.with_description(entry.description()), instructions)
        }
        _ => (Resource::new(uri, name), others),
    };
    resource.mime_type = promised_type(name).map(str::to_owned);
    resource.with_size(file.size).with_annotations(for_models(priority))
}

fn described_artifact(artifact: &Listed) -> Option<Resource> {
    let name = ArtifactName::parse(&artifact.name).ok()?;
    let newest = &artifact.newest;
    let reference = ArtifactRef::to_newest(name.clone())
        .unwrap_or_else(|_| ArtifactRef::to_version(name, newest.version));
    let resource = Resource::new(address::of_artifact(&reference), artifact.name.as_str())
        .with_description(format!("Kept by a run; its newest version is {}", newest.version))
        .with_mime_type(newest.mime_type.as_str())
        .with_size(newest.size);
    Some(resource.with_annotations(Annotations::default().with_priority(PRIORITIES.1)))
}

/// Of use to a model rather than to a person.
fn for_models(priority: f32) -> Annotations {
    Annotations::default().with_audience(vec![Role::Assistant]).with_priority(priority)
}

/// The paths of a skill that a model may use; none if there is no such skill.
pub(super) async fn paths(visit: &Visit, skill: &str) -> Vec<String> {
    let skills = visit.snapshot();
    let Some(entry) = skills.find(skill).filter(|entry| entry.is_model_visible()) else {
        return Vec::new();
    };
    let files = files(visit, entry).await.unwrap_or_default();
    files.into_iter().map(|file| file.path).collect()
}

/// The names of artifacts.
pub(super) async fn artifact_names(visit: &Visit) -> Vec<String> {
    versions(visit).await.into_iter().map(|(name, _)| name).collect()
}

/// The artifacts with their newest versions; none if they cannot be listed.
pub(super) async fn versions(visit: &Visit) -> Vec<(String, u64)> {
    let artifacts = visit.artifacts().await.unwrap_or_default();
    artifacts.into_iter().map(|it| (it.name, it.newest.version)).collect()
}

/// A look at the states of resources, for which every skill is read once.
#[derive(Debug)]
pub(super) struct Look<'a> {
    visit: &'a Visit,
    skills: Arc<Snapshot>,
    files: BTreeMap<String, Vec<SkillFile>>,
}

impl<'a> Look<'a> {
    pub(super) fn at(visit: &'a Visit) -> Self {
        Self { visit, skills: visit.snapshot(), files: BTreeMap::new() }
    }

    /// What tells the state of a resource from others it may have; none if it is not there.
    pub(super) async fn state_of(&mut self, uri: &str) -> Option<String> {
        match Address::parse(uri, &self.skills).ok()? {
            Address::Skill { name, path } => {
                let files = self.files(name).await;
                files.iter().find(|file| file.path == path).map(|file| file.sha256.clone())
            }
            Address::Artifact(reference) => {
                let there = self.visit.artifact_versions(reference.name().as_str()).await.ok()?;
                let wanted = |it: u64| reference.version().is_none_or(|version| version == it);
                there.iter().map(|it| it.version).rfind(|it| wanted(*it)).map(|it| it.to_string())
            }
        }
    }

    /// The files of a skill; none if it may not be used or cannot be read.
    async fn files(&mut self, name: String) -> &[SkillFile] {
        if !self.files.contains_key(&name) {
            let entry = self.skills.find(&name).filter(|entry| entry.is_model_visible());
            let files = match entry {
                Some(entry) => files(self.visit, entry).await.unwrap_or_default(),
                None => Vec::new(),
            };
            self.files.insert(name.clone(), files);
        }
        &self.files[&name]
    }
}
