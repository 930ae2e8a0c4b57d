//! The extension for skills: all of them with every file, one of them, and what is in a folder.

use std::sync::Arc;

use metier_agent::visit::{Visit, VisitError};
use metier_mcp::skills::{
    GET_SKILL, LIST_SKILLS, McpSkill, McpSkillResource, McpSkillResources, READ_DIRECTORY,
};
use metier_skill::header::{FrontMatterError, front_matter};
use metier_skill::library::{Entry, Snapshot};
use metier_skill::name::faults;
use metier_skill::remote::{MAX_BYTES, MAX_FILES};
use rmcp::ErrorData;
use rmcp::model::{
    CallToolRequestParams, CompleteRequestParams, ErrorCode, GetPromptRequestParams,
    PaginatedRequestParams, ReadResourceRequestParams, Resource as Listed, SubscribeRequestParams,
    SubscriptionsListenRequestParams, UnsubscribeRequestParams,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use thiserror::Error;

use super::address::{self, Address, SKILL_FILE};
use super::page::Place;
use super::resources;

/// Skills on a page; each may name 512 files.
const PAGE: usize = 50;
/// Things of a folder on a page.
const FOLDER_PAGE: usize = 200;
/// What a folder is, where others have the type of their content.
const FOLDER: &str = "inode/directory";
/// Where a listing says what it leaves out, and why.
const LEFT_OUT: &str = "metier/leftOut";

#[derive(Debug, Default, Deserialize)]
struct ListParams {
    #[serde(default)]
    cursor: Option<String>,
}

#[derive(Debug, Deserialize)]
struct UriParams {
    uri: String,
    #[serde(default)]
    cursor: Option<String>,
}

/// A skill that is not listed.
#[derive(Debug, Serialize)]
struct LeftOut {
    name: String,
    why: String,
}

/// Answers a request that only the extension has.
///
/// # Errors
///
/// When there is no such method, or something in the request is wrong.
pub(super) async fn answer(
    visit: &Arc<Visit>,
    method: &str,
    params: Option<Value>,
    has_session: bool,
) -> Result<Value, ErrorData> {
    match method {
        LIST_SKILLS => list(visit, read::<Option<ListParams>>(params)?.unwrap_or_default()).await,
        GET_SKILL => get(visit, &read::<UriParams>(params)?.uri).await,
        READ_DIRECTORY => read_directory(visit, read(params)?).await,
        // The crate of the protocol gives on what it knows by name and cannot read.
        other => Err(match fault(other, params, has_session) {
            Some(why) => {
                let message = format!("the parameters of `{other}` are wrong: {why}");
                ErrorData::invalid_params(message, None)
            }
            None => ErrorData::new(ErrorCode::METHOD_NOT_FOUND, other.to_owned(), None),
        }),
    }
}

/// What is wrong with the parameters of a method of the protocol itself; none if it is not answered here.
fn fault(method: &str, params: Option<Value>, has_session: bool) -> Option<String> {
    fn of<T: for<'de> Deserialize<'de>>(params: Option<Value>) -> String {
        let read: Result<T, _> = serde_json::from_value(params.unwrap_or_default());
        read.err().map_or_else(|| "they cannot be read".to_owned(), |error| error.to_string())
    }
    let fault = match (method, has_session) {
        ("completion/complete", _) => of::<CompleteRequestParams>,
        ("prompts/get", _) => of::<GetPromptRequestParams>,
        ("resources/read", _) => of::<ReadResourceRequestParams>,
        ("tools/call", _) => of::<CallToolRequestParams>,
        ("prompts/list" | "resources/list" | "resources/templates/list" | "tools/list", _) => {
            of::<Option<PaginatedRequestParams>>
        }
        ("resources/subscribe", true) => of::<SubscribeRequestParams>,
        ("resources/unsubscribe", true) => of::<UnsubscribeRequestParams>,
        ("subscriptions/listen", false) => of::<SubscriptionsListenRequestParams>,
        _ => return None,
    };
    Some(fault(params))
}

async fn list(visit: &Arc<Visit>, params: ListParams) -> Result<Value, ErrorData> {
    let begin = Place::of_cursor(params.cursor.as_deref())?.unwrap_or_default();
    let skills = visit.snapshot();
    let is_next = |entry: &&Entry| entry.is_model_visible() && entry.name.as_str() > &*begin.first;
    let mut entries = skills.entries.iter().filter(is_next);
    let (mut listed, mut left_out, mut last) = (Vec::new(), Vec::new(), None);
    for entry in entries.by_ref().take(PAGE) {
        let name = entry.name.to_string();
        match skill_of(visit, &skills, entry).await {
            Ok(skill) => listed.push(skill),
            Err(error) => left_out.push(LeftOut { name: name.clone(), why: error.to_string() }),
        }
        last = Some(name);
    }
    let mut result = complete(json!({ "skills": listed }));
    if let Some(last) = last.filter(|_| entries.next().is_some()) {
        result.insert("nextCursor".to_owned(), Place::behind(&last, "").cursor().into());
    }
    if !left_out.is_empty() {
        result.insert("_meta".to_owned(), json!({ LEFT_OUT: left_out }));
    }
    Ok(Value::Object(cacheable(result)))
}

async fn get(visit: &Arc<Visit>, uri: &str) -> Result<Value, ErrorData> {
    let unknown = |why: &str| {
        ErrorData::invalid_params(format!("no skill is served at `{uri}`: {why}"), None)
    };
    let skills = visit.snapshot();
    let address = Address::parse(uri, &skills).map_err(|error| unknown(&error.to_string()))?;
    let Address::Skill { name, path } = address else {
        return Err(unknown("it is the address of an artifact"));
    };
    if path != SKILL_FILE {
        return Err(unknown("a skill has the address of its `SKILL.md`"));
    }
    let entry = skills.find(&name).filter(|entry| entry.is_model_visible());
    let entry = entry.ok_or_else(|| unknown("there is none of this name that may be used"))?;
    let skill = skill_of(visit, &skills, entry).await;
    let skill = skill.map_err(|error| unknown(&error.to_string()))?;
    Ok(Value::Object(cacheable(complete(json!({ "skill": skill })))))
}

async fn read_directory(visit: &Arc<Visit>, params: UriParams) -> Result<Value, ErrorData> {
    let UriParams { uri, cursor } = params;
    let begin = Place::of_cursor(cursor.as_deref())?.unwrap_or_default();
    let wrong = |why: &str| ErrorData::invalid_params(format!("`{uri}` is no folder: {why}"), None);
    let skills = visit.snapshot();
    let address = Address::parse(&uri, &skills).map_err(|error| wrong(&error.to_string()))?;
    let Address::Skill { name, path } = address else {
        return Err(wrong("it is the address of an artifact"));
    };
    let entry = skills.find(&name).filter(|entry| entry.is_model_visible());
    let entry = entry.ok_or_else(|| wrong("there is no such skill"))?;
    let files = resources::files(visit, entry).await.map_err(|error| wrong(&error.to_string()))?;
    let prefix = if path.is_empty() { String::new() } else { format!("{path}/") };
    let folder = address::of_skill(&name, &skills);
    let mut children: Vec<Listed> = Vec::new();
    let mut is_folder = path.is_empty();
    for file in &files {
        let Some(inside) = file.path.strip_prefix(&prefix) else { continue };
        is_folder = true;
        match inside.split_once('/') {
            None => children.push(resources::described(entry, &folder, file)),
            Some((child, _)) if children.last().is_some_and(|it| it.name == child) => {}
            Some((child, _)) => {
                let uri = address::inside(&folder, &format!("{prefix}{child}"));
                children.push(Listed::new(uri, child).with_mime_type(FOLDER));
            }
        }
    }
    if !is_folder {
        return Err(wrong("nothing is in it"));
    }
    children.sort_by(|left, right| left.uri.cmp(&right.uri));
    children.dedup_by(|left, right| left.uri == right.uri);
    let mut children = children.into_iter().filter(|child| child.uri > begin.first);
    let page: Vec<Listed> = children.by_ref().take(FOLDER_PAGE).collect();
    let last = page.last().map(|child| Place::behind(&child.uri, "").cursor());
    let mut result = complete(json!({ "resources": page }));
    if let Some(last) = last.filter(|_| children.next().is_some()) {
        result.insert("nextCursor".to_owned(), last.into());
    }
    Ok(Value::Object(cacheable(result)))
}

/// The reason why a skill cannot be served as a whole.
#[derive(Debug, Error)]
enum ServedSkillError {
    /// Its files cannot be read.
    #[error(transparent)]
    Files(#[from] VisitError),
    /// It has more files than the extension allows.
    #[error("it has {count} files, and the extension allows {MAX_FILES}")]
    TooManyFiles { count: usize },
    /// Its files have more bytes than the extension allows.
    #[error("it has {bytes} bytes, and the extension allows {MAX_BYTES}")]
    TooManyBytes { bytes: u64 },
    /// Its `SKILL.md` is not text.
    #[error("its SKILL.md is not UTF-8")]
    NotUtf8,
    /// Its header cannot be read.
    #[error(transparent)]
    Frontmatter(#[from] FrontMatterError),
    /// Its header does not name it.
    #[error("its header has no name")]
    NoName,
    /// Its header does not describe it.
    #[error("its header has no description")]
    NoDescription,
    /// The name in its header does not fit its address.
    #[error("`{name}`, the name in its header, cannot be the end of its address")]
    Name { name: String },
}

/// Returns a skill with its header and every file.
async fn skill_of(
    visit: &Arc<Visit>,
    skills: &Snapshot,
    entry: &Entry,
) -> Result<McpSkill, ServedSkillError> {
    let (files, header) = visit.files_and_header(entry.name.as_str()).await?;
    let bytes: u64 = files.iter().map(|file| file.size).sum();
    if files.len() > MAX_FILES {
        return Err(ServedSkillError::TooManyFiles { count: files.len() });
    }
    if bytes > MAX_BYTES {
        return Err(ServedSkillError::TooManyBytes { bytes });
    }
    let header = String::from_utf8(header).map_err(|_| ServedSkillError::NotUtf8)?;
    let frontmatter = front_matter(&header)?;
    let text =
        |name: &str| frontmatter.get(name).and_then(Value::as_str).filter(|it| !it.is_empty());
    let own = text("name").ok_or(ServedSkillError::NoName)?;
    text("description").ok_or(ServedSkillError::NoDescription)?;
    let folder = address::of_skill(entry.name.as_str(), skills);
    if !address::ends_with(&folder, own) || !faults(own).is_empty() {
        return Err(ServedSkillError::Name { name: own.to_owned() });
    }
    let resources = files.iter().map(|file| McpSkillResource {
        uri: address::inside(&folder, &file.path),
        digest: format!("sha256:{}", file.sha256),
        size: file.size,
    });
    let resources = McpSkillResources::Files(resources.collect());
    Ok(McpSkill { uri: address::inside(&folder, SKILL_FILE), frontmatter, resources })
}

/// A result that says it is all there is.
fn complete(result: Value) -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("resultType".to_owned(), "complete".into());
    if let Value::Object(result) = result {
        object.extend(result);
    }
    object
}

/// A result that whoever asked may keep, and not take for fresh: folders change at any time, and that is told.
fn cacheable(mut result: Map<String, Value>) -> Map<String, Value> {
    result.insert("ttlMs".to_owned(), 0.into());
    result.insert("cacheScope".to_owned(), "private".into());
    result
}

fn read<T: for<'de> Deserialize<'de>>(params: Option<Value>) -> Result<T, ErrorData> {
    let read = serde_json::from_value(params.unwrap_or_default());
    read.map_err(|error| ErrorData::invalid_params(error.to_string(), None))
}
