//! The tools that look something up: finding and loading skills, and reading their files.

use std::path::Path;

use metier_session::content::Loaded;
use metier_skill::files;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::desk::Desk;
use super::tools::name;
use crate::block::{DocText, from_server, page, with_docs, with_rest};
use crate::texts::INSTRUCTIONS;
use crate::tools::Answer;
use crate::tools::answer::arguments;
use crate::tools::read::{Lines, numbered, of_skill};
use crate::tools::result::{LineExtent, ToolResult};
use crate::tools::{FileReadError, FileReadFault, SkillUseError, ToolCallError, UnreadableAdvice};

/// Most files of a skill that are listed with its instructions.
const MAX_LISTED: usize = 50;
/// Most bytes of docs that are given with instructions; further ones are read one by one.
const MAX_DOCS_BYTES: usize = 1 << 20;

/// What is given of a skill. Some clients show a model nothing but this.
#[derive(Debug, Serialize)]
struct Delivery {
    skill: String,
    digest: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<String>,
    directory: String,
    body: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_line: Option<usize>,
    docs: Vec<DocText>,
    other_docs: Vec<String>,
    resources: Vec<Resource>,
    #[serde(skip_serializing_if = "is_none")]
    more: usize,
}

/// A file of a skill.
#[derive(Debug, Serialize)]
struct Resource {
    path: String,
    size: u64,
}

/// A part of what a field names.
#[derive(Debug, Serialize)]
struct Part<'a> {
    #[serde(flatten)]
    extent: LineExtent,
    text: &'a str,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadArguments {
    skill: String,
    path: String,
    #[serde(default)]
    start_line: Option<usize>,
    #[serde(default)]
    num_lines: Option<usize>,
}

impl Desk {
    /// `skill_search`.
    pub(super) fn search(&self, given: &Value) -> Result<Answer, ToolCallError> {
        let found = self.look(|at| at.search(given))?;
        Ok(Answer::json(&json!({ "skills": found.structured() })))
    }

    /// `skill_list_docs`.
    pub(super) fn list_docs(&self, given: &Value) -> Result<Answer, ToolCallError> {
        let listed = self.look(|at| at.list_docs(given))?;
        Ok(Answer::json(&json!({ "skill": given["skill"], "docs": listed.structured() })))
    }

    /// `skill_load`: what is given is all there is, so it has the text.
    pub(super) fn load(&self, given: &Value) -> Result<Answer, ToolCallError> {
        let answer = self.deliver(self.look(|at| at.load(given))?)?;
        self.memory.note(&answer);
        Ok(answer)
    }

    /// The same for a person.
    pub(super) fn load_for_person(&self, skill: &str) -> Result<Answer, ToolCallError> {
        let loaded = self.look(|at| at.load_for_person(&json!({ "skill": skill })))?;
        let answer = self.deliver(loaded)?;
        self.memory.note_for_person(&answer);
        Ok(answer)
    }

    /// `skill_read`.
    pub(super) fn read(&self, given: &Value) -> Result<Answer, ToolCallError> {
        let ReadArguments { skill, path, start_line, num_lines } = arguments(given, name::READ)?;
        let lines = Lines { start: start_line, count: num_lines };
        let unreadable = |source: FileReadFault| FileReadError {
            name: path.clone(),
            skill: Some(skill.clone()),
            source,
        };
        let (content, server) = self.look(|at| {
            let server = at.usable(&skill)?.server().map(ToString::to_string);
            let content = of_skill((&skill, &path), at).map_err(unreadable)?;
            Ok::<_, ToolCallError>((content, server))
        })?;
        let content = self.visits.runner.redactor.reader(content);
        let (text, extent) = numbered(lines, Box::new(content)).map_err(|problem| {
            let (skill, path) = (skill.clone(), path.clone());
            unreadable(problem.fault(UnreadableAdvice::SkillResource { skill, path }))
        })?;
        let text = match server {
            Some(server) => from_server(&server, &text),
            None => text,
        };
        Ok(part("path", &path, (text, extent)))
    }

    fn deliver(&self, answer: Answer) -> Result<Answer, SkillUseError> {
        let Some(loaded) = &answer.loaded else { return Ok(answer) };
        let delivery = self.delivery(loaded)?;
        let text = delivery.text();
        let Answer { digests, identities, .. } = answer;
        Ok(Answer { digests, identities, text, ..Answer::json(&delivery) })
    }

    fn delivery(&self, loaded: &Loaded) -> Result<Delivery, SkillUseError> {
        let Loaded { skill, digest, server, docs, .. } = loaded;
        let folder = self.visits.runner.workspaces.staged(skill, digest);
        let folder = folder.ok_or_else(|| SkillUseError::Gone { skill: skill.clone() })?;
        let tree = files::list(&folder)?;
        let mut given: Vec<DocText> = Vec::new();
        for path in docs {
            let text = self.visits.texts().doc(skill, digest, path)?;
            let size: usize = given.iter().map(|doc| doc.text.len()).sum();
            if size + text.len() <= MAX_DOCS_BYTES {
                given.push(DocText { path: path.clone(), text });
            }
        }
        let is_given = |path: &str| given.iter().any(|doc| doc.path == path);
        let other_docs: Vec<&str> =
            tree.docs().map(|doc| doc.path.as_str()).filter(|path| !is_given(path)).collect();
        let resources: Vec<(&str, u64)> = tree.resources().collect();
        let more = |count: usize| count.saturating_sub(MAX_LISTED);
        let (body, next_line) = self.body(skill, digest, &folder)?;
        let body = match server {
            Some(server) => from_server(server, &body),
            None => body,
        };
        Ok(Delivery {
            skill: skill.clone(),
            digest: digest.clone(),
            server: server.clone(),
            directory: format!("skills/{skill}"),
            body,
            next_line,
            more: more(other_docs.len()) + more(resources.len()),
            other_docs: other_docs.into_iter().take(MAX_LISTED).map(str::to_owned).collect(),
            resources: resources
                .into_iter()
                .take(MAX_LISTED)
                .map(|(path, size)| Resource { path: path.to_owned(), size })
                .collect(),
            docs: given,
        })
    }

    /// The instructions, or their beginning and the line of the file where they go on.
    fn body(
        &self,
        skill: &str,
        digest: &str,
        folder: &Path,
    ) -> Result<(String, Option<usize>), SkillUseError> {
        let body = self.visits.texts().body(skill, digest)?;
        let page = page(&body, self.visits.max_body_tokens);
        let Some((shown, total)) = page.cut else { return Ok((page.text, None)) };
        let file = std::fs::read(folder.join(INSTRUCTIONS))?;
        // The body is the end of the file.
        let all = file.split_inclusive(|byte| *byte == b'\n').count();
        let next = all.saturating_sub(total) + shown + 1;
        let rest = format!("with skill_read, `{INSTRUCTIONS}` of `{skill}` from line {next}");
        Ok((with_rest(page.text, page.cut, &rest), Some(next)))
    }
}

impl Delivery {
    /// The same in words.
    fn text(&self) -> String {
        let mut text = with_docs(&self.skill, &self.body, &self.docs);
        text.push_str(&format!("\nDirectory: {} (skill_run starts there)\n", self.directory));
        if !self.other_docs.is_empty() {
            text.push_str(&format!("Other docs: {}\n", self.other_docs.join(", ")));
        }
        if !self.resources.is_empty() {
            let files = self.resources.iter().map(|it| format!("{} ({} bytes)", it.path, it.size));
            text.push_str(&format!("Files: {}\n", files.collect::<Vec<_>>().join(", ")));
        }
        if self.more > 0 {
            text.push_str(&format!("({} more are not listed)\n", self.more));
        }
        text
    }
}

/// A part of what a field names.
pub(super) fn part(field: &str, name: &str, (text, extent): (String, LineExtent)) -> Answer {
    let mut structured = serde_json::to_value(Part { extent, text: &text }).unwrap_or_default();
    structured[field] = Value::String(name.to_owned());
    Answer { result: ToolResult::Other(structured), ..Answer::text(text) }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_none(count: &usize) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::Arc;

    use metier_skill::files::DigestCache;
    use metier_workspace::artifact::MemoryStore;
    use metier_workspace::executor::LocalExecutor;
    use metier_workspace::stage::stage;
    use metier_workspace::{Redactor, Runner, WorkspaceKey, Workspaces};

    use super::super::Visits;
    use super::super::desk::Memory;
    use super::*;
    use crate::folders::Folders;
    use crate::library::read_tree;
    use crate::texts::TextMemory;
    use crate::tools::Restriction;

    #[test]
    fn what_comes_from_another_server_says_so_and_goes_on_at_the_right_line() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let body: String = (1..=40).map(|line| format!("Step {line}.\n")).collect();
        let text = format!("---\nname: far\ndescription: Is far.\n---\n\n{body}");
        fs::create_dir_all(at("skills/far")).unwrap();
        fs::write(at("skills/far/SKILL.md"), text).unwrap();
        let workspaces = Workspaces::open(&at("workspaces"), &at("content")).unwrap();
        let tree = read_tree("far", &at("skills/far"), &DigestCache::in_memory()).unwrap();
        stage(&workspaces, &tree).unwrap();
        let artifacts = Arc::new(MemoryStore::new());
        let visits = Visits {
            agent: "default".to_owned(),
            library: Arc::new(Folders::new([at("skills")])),
            sessions: None,
            remembered_texts: TextMemory::default(),
            runner: Runner {
                workspaces,
                artifacts,
                executor: LocalExecutor::Host.into(),
                redactor: Redactor::default(),
            },
            host: None,
            restriction: Restriction::default(),
            load_before_run: true,
            max_body_tokens: 12,
        };
        let [app, user, session] = ["app", "user", "session"].map(str::to_owned);
        let key = WorkspaceKey { app, user, session, generation: 0 };
        let desk = Desk::new(Arc::new(visits), key, Memory::forgetful());
        let loaded = Loaded {
            skill: "far".to_owned(),
            digest: tree.digest,
            server: Some("acme".to_owned()),
            ..Loaded::default()
        };
        let delivery = desk.delivery(&loaded).unwrap();
        assert_eq!(delivery.server.as_deref(), Some("acme"));
        insta::assert_snapshot!(delivery.text());
    }
}
