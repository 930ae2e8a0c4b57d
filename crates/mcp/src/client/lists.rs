//! Lists of a server, page by page: its tools, its skills, and what they consist of.

use std::collections::HashSet;
use std::ops::ControlFlow;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use rmcp::model::{
    ClientRequest, CustomRequest, ListToolsRequest, PaginatedRequestParams, ReadResourceRequest,
    ReadResourceRequestParams,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::time::timeout;

use super::text::excerpt;
use super::{
    McpAnswerFault, McpClientError, McpConnection, McpSkillFault, McpSkillList, McpSkillProblem,
    McpTool, McpToolFault, McpToolList,
};
use crate::skills::{GET_SKILL, LIST_SKILLS, McpSkill};

/// Tools of one server; a model would not choose well among more.
pub(super) const MAX_TOOLS: usize = 128;
/// How large all that is said of a tool may be, in bytes.
pub(super) const MAX_TOOL: usize = 64 << 10;
/// How long the name of a tool may be, in bytes.
const MAX_TOOL_NAME: usize = 128;
/// Skills of one server.
pub(super) const MAX_SKILLS: usize = 10_000;
/// How large the entry of a skill may be, in bytes; one with the most files it may have is far below.
pub(super) const MAX_SKILL: usize = 1 << 20;
/// How large all entries may be, in bytes.
const MAX_SKILLS_BYTES: usize = 64 << 20;
/// Pages of a list.
const MAX_PAGES: usize = 1_000;
/// Things that are left out and told one by one.
const MAX_TOLD: usize = 100;

impl McpConnection {
    /// Its tools.
    ///
    /// # Errors
    ///
    /// When it has none, or does not answer.
    pub async fn tools(&self) -> Result<McpToolList, McpClientError> {
        self.tools_but(|_name| false).await
    }

    /// Its tools but those with certain names, which leave room for others.
    ///
    /// # Errors
    ///
    /// When it has none, or does not answer.
    pub async fn tools_but(
        &self,
        is_hidden: impl Fn(&str) -> bool,
    ) -> Result<McpToolList, McpClientError> {
        self.needs(self.server().has_tools, "tools")?;
        let mut tools = McpToolList::default();
        let mut names = HashSet::new();
        let request = |cursor: Option<String>| {
            let params = PaginatedRequestParams::default().with_cursor(cursor);
            ClientRequest::ListToolsRequest(ListToolsRequest::with_param(params))
        };
        let take = |entry: Value| {
            if entry.get("name").and_then(Value::as_str).is_some_and(&is_hidden) {
                return ControlFlow::Continue(());
            }
            if tools.tools.len() == MAX_TOOLS {
                tools.left_out.push(McpToolFault::TooMany);
                return ControlFlow::Break(());
            }
            match tool(entry) {
                Ok(tool) if names.insert(tool.name.clone()) => tools.tools.push(tool),
                Ok(McpTool { name, .. }) => {
                    tell(&mut tools.left_out, McpToolFault::Duplicate { name })
                }
                Err(fault) => tell(&mut tools.left_out, fault),
            }
            ControlFlow::Continue(())
        };
        let is_whole = self.pages("tools", request, take).await?;
        if !is_whole {
            tools.left_out.push(McpToolFault::Endless);
        }
        Ok(tools)
    }

    /// Its skills. A server need not list all that it has.
    ///
    /// # Errors
    ///
    /// When it does not declare the extension, or does not answer.
    pub async fn skills(&self) -> Result<McpSkillList, McpClientError> {
        self.needs(self.server().has_skills, "skills")?;
        let mut skills = McpSkillList::default();
        let (mut count, mut bytes) = (0, 0);
        let request = |cursor: Option<String>| {
            let params = cursor.map_or_else(|| json!({}), |cursor| json!({"cursor": cursor}));
            ClientRequest::CustomRequest(CustomRequest::new(LIST_SKILLS, Some(params)))
        };
        let take = |entry: Value| {
            count += 1;
            let length = entry.to_string().len();
            bytes += length;
            if count > MAX_SKILLS || bytes > MAX_SKILLS_BYTES {
                let fault = McpSkillFault::TooMany;
                skills.problems.push(McpSkillProblem { uri: None, fault });
                return ControlFlow::Break(());
            }
            match skill(entry, length) {
                Ok(skill) => skills.skills.push(skill),
                Err(problem) => skills.problems.push(problem),
            }
            ControlFlow::Continue(())
        };
        let is_whole = self.pages("skills", request, take).await?;
        if !is_whole {
            skills.problems.push(McpSkillProblem { uri: None, fault: McpSkillFault::Endless });
        }
        Ok(skills)
    }

    /// One skill, by the address of its `SKILL.md`.
    ///
    /// # Errors
    ///
    /// When it does not declare the extension, or has no such skill.
    pub async fn skill(&self, uri: &str) -> Result<McpSkill, McpClientError> {
        self.needs(self.server().has_skills, "skills")?;
        let request = CustomRequest::new(GET_SKILL, Some(json!({ "uri": uri })));
        let mut answer = self.ask(ClientRequest::CustomRequest(request)).await?;
        let entry = answer.get_mut("skill").map(Value::take);
        let entry = entry.ok_or_else(|| self.strange(McpAnswerFault::NoSkill))?;
        let length = entry.to_string().len();
        let skill = skill(entry, length).map_err(|problem| self.strange(problem.fault))?;
        if skill.uri == uri { Ok(skill) } else { Err(self.strange(McpAnswerFault::OtherSkill)) }
    }

    /// The bytes of a file, if there are at most so many.
    ///
    /// # Errors
    ///
    /// When there is no such file, or it is larger.
    pub async fn read(&self, uri: &str, max_bytes: u64) -> Result<Vec<u8>, McpClientError> {
        self.needs(self.server().has_resources, "files")?;
        let params = ReadResourceRequestParams::new(uri);
        let request = ReadResourceRequest::new(params);
        let answer = self.ask(ClientRequest::ReadResourceRequest(request)).await?;
        let answer = serde_json::from_value::<Contents>(answer);
        let Contents { contents } =
            answer.map_err(|_error| self.strange(McpAnswerFault::NoFile))?;
        let [content] = <[Content; 1]>::try_from(contents).map_err(|contents| {
            self.strange(McpAnswerFault::FileCount { count: contents.len() })
        })?;
        if content.uri != uri {
            return Err(self.strange(McpAnswerFault::OtherFile));
        }
        let bytes = match (content.text, content.blob) {
            (Some(text), None) => text.into_bytes(),
            (None, Some(blob)) => BASE64_STANDARD
                .decode(blob)
                .map_err(|_error| self.strange(McpAnswerFault::NotBase64))?,
            _ => return Err(self.strange(McpAnswerFault::NeitherTextNorBytes)),
        };
        if bytes.len() as u64 > max_bytes {
            let server = self.trouble.server.clone();
            return Err(McpClientError::TooLarge { server, what: excerpt(uri), limit: max_bytes });
        }
        Ok(bytes)
    }

    /// Goes through a list, until its end or until it was enough; whether one of them came.
    async fn pages(
        &self,
        field: &'static str,
        request: impl Fn(Option<String>) -> ClientRequest,
        mut take: impl FnMut(Value) -> ControlFlow<()>,
    ) -> Result<bool, McpClientError> {
        let limit = self.timeouts.answer * 4;
        let going = async {
            let mut cursor = None;
            for _page in 0..MAX_PAGES {
                let mut answer = self.ask(request(cursor.clone())).await?;
                let Some(Value::Array(entries)) = answer.get_mut(field).map(Value::take) else {
                    return Err(self.strange(McpAnswerFault::NoList { field }));
                };
                for entry in entries {
                    if take(entry).is_break() {
                        return Ok(true);
                    }
                }
                let next = answer.get("nextCursor").and_then(Value::as_str).map(str::to_owned);
                if next.is_none() || next == cursor {
                    return Ok(next.is_none());
                }
                cursor = next;
            }
            Ok(false)
        };
        timeout(limit, going).await.unwrap_or_else(|_late| Err(self.trouble.silent(limit)))
    }
}

/// What a file is.
#[derive(Deserialize)]
struct Contents {
    contents: Vec<Content>,
}

#[derive(Deserialize)]
struct Content {
    uri: String,
    text: Option<String>,
    blob: Option<String>,
}

/// Reads what is said of a tool.
fn tool(mut entry: Value) -> Result<McpTool, McpToolFault> {
    let name = entry.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    if name.is_empty() || name.len() > MAX_TOOL_NAME {
        return Err(McpToolFault::Name { name: excerpt(&name) });
    }
    if entry.to_string().len() > MAX_TOOL {
        return Err(McpToolFault::TooLarge { name });
    }
    let schema = entry.get_mut("inputSchema").map(Value::take).unwrap_or_default();
    if !schema.is_object() {
        return Err(McpToolFault::NoSchema { name });
    }
    let description = entry.get("description").and_then(Value::as_str).unwrap_or_default();
    Ok(McpTool { name, description: description.to_owned(), schema })
}

/// Reads the entry of a skill, which is as long as that.
fn skill(entry: Value, length: usize) -> Result<McpSkill, McpSkillProblem> {
    let uri = entry.get("uri").and_then(Value::as_str).map(excerpt);
    if length > MAX_SKILL {
        return Err(McpSkillProblem { uri, fault: McpSkillFault::TooLarge });
    }
    let read = Map::<String, Value>::deserialize(&entry)
        .and_then(|_fields| serde_json::from_value::<McpSkill>(entry));
    read.map_err(|error| {
        let fault = McpSkillFault::Unreadable { reason: excerpt(&error.to_string()) };
        McpSkillProblem { uri, fault }
    })
}

/// Adds a fault, as long as the list of faults is short enough to be read.
fn tell(left_out: &mut Vec<McpToolFault>, fault: McpToolFault) {
    if left_out.len() < MAX_TOLD {
        left_out.push(fault);
    }
}
