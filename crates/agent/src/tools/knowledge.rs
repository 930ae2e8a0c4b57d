//! The tools by which a model gets at knowledge: loading skills, selecting, listing and finding docs.
//!
//! They are quick and depend on what is loaded already, so they are answered one after the other, in
//! the order of the calls, each knowing what the ones before it changed.

use std::collections::BTreeMap;

use metier_session::content::Loaded;
use metier_session::{BreakCause, Event, State, Stub};
use metier_skill::library::{Entry, Snapshot};
use metier_skill::search::SkillIndex;
use metier_workspace::stage::stage;
use metier_workspace::{Tree, Workspaces};
use serde::Deserialize;
use serde_json::Value;

use crate::conversation::stub;
use crate::library::{Library, nearest};
use crate::shelf::{Selection, Shelf};
use crate::shown::Window;
use crate::texts::StagedTexts;
use crate::tools::answer::{Answer, arguments};
use crate::tools::error::{SkillUseError, ToolCallError};
use crate::tools::result::{
    DocSelection, DocSelectionMode, SkillDirectory, SkillMatch, ToolResult,
};
use crate::tools::specs::name;
use crate::turn::last_turn;

/// Names that are suggested for one that is wrong.
const SUGGESTIONS: usize = 3;
/// Skills that a search gives when nobody says how many.
const DEFAULT_HITS: usize = 8;
/// Most skills that a search gives.
const MAX_HITS: usize = 50;

/// What the answers depend on.
#[derive(Clone, Debug)]
pub(crate) struct Situation<'a> {
    /// Who asks.
    pub(crate) agent: &'a str,
    /// The skills there are.
    pub(crate) library: &'a dyn Library,
    /// The same skills, at the moment the calls were made.
    pub(crate) snapshot: &'a Snapshot,
    /// Where trees are staged.
    pub(crate) workspaces: &'a Workspaces,
    /// Where texts come from.
    pub(crate) texts: StagedTexts,
    /// Everything that happened, the answers to earlier calls of this reply included.
    pub(crate) events: &'a [Event],
    /// The state after that.
    pub(crate) state: &'a State,
    /// Most skills that are loaded at once.
    pub(crate) max_loaded: Option<usize>,
    /// Skills whose text was given outside of all events, each with its tree.
    pub(crate) given: &'a Given,
}

/// Skills whose text was given, by name.
pub(crate) type Given = BTreeMap<String, GivenSkill>;

/// A skill whose text was given.
#[derive(Clone, Debug)]
pub(crate) struct GivenSkill {
    /// Which skill of its name it was.
    pub(crate) identity: String,
    /// The digest of its tree; without one it is any that is there.
    pub(crate) digest: Option<String>,
}

/// For those whose events say what was given.
pub(crate) static NOTHING_GIVEN: Given = BTreeMap::new();

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct LoadArguments {
    skill: String,
    #[serde(default)]
    docs: Vec<String>,
    #[serde(default)]
    include_all_docs: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SingleArguments {
    skill_name: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SelectArguments {
    skill: String,
    #[serde(default)]
    docs: Vec<String>,
    #[serde(default)]
    include_all_docs: bool,
    #[serde(default)]
    mode: DocSelectionMode,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListArguments {
    skill: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SearchArguments {
    query: String,
    #[serde(default)]
    limit: Option<usize>,
}

/// A tree that is staged, with what it has.
struct Staged {
    digest: String,
    docs: Vec<String>,
}

impl Situation<'_> {
    /// `skill_load`: the body of a skill, and docs with it.
    ///
    /// # Errors
    ///
    /// Here and below: when an argument is wrong, or the skill cannot be used.
    pub(crate) fn load(&self, given: &Value) -> Result<Answer, ToolCallError> {
        let asked: LoadArguments = arguments(given, name::LOAD)?;
        Ok(self.load_skill(self.usable(&asked.skill)?, &asked)?)
    }

    /// The same for a person, who may also load what is hidden from the model.
    pub(crate) fn load_for_person(&self, given: &Value) -> Result<Answer, ToolCallError> {
        let asked: LoadArguments = arguments(given, name::LOAD)?;
        let entry = self.snapshot.find(&asked.skill).filter(|entry| entry.verdict.is_eligible());
        Ok(self.load_skill(entry.map_or_else(|| self.usable(&asked.skill), Ok)?, &asked)?)
    }

    /// `skill` of the set with one tool: the body of a skill and where its files are.
    pub(crate) fn load_single(&self, given: &Value) -> Result<Answer, ToolCallError> {
        let SingleArguments { skill_name: name } = arguments(given, name::SKILL)?;
        let loading =
            LoadArguments { skill: name.clone(), docs: Vec::new(), include_all_docs: false };
        let mut answer = self.load_skill(self.usable(&name)?, &loading)?;
        let directory = format!("skills/{name}");
        answer.text = match &answer.loaded {
            Some(loaded) if loaded.body => format!("Skill: {name}\nDirectory: {directory}"),
            _ => format!("skill '{name}' is already active"),
        };
        answer.result = ToolResult::Skill(SkillDirectory { skill_name: name, directory });
        Ok(answer)
    }

    /// `skill_select_docs`: which docs of a skill are shown.
    pub(crate) fn select_docs(&self, given: &Value) -> Result<Answer, ToolCallError> {
        Ok(self.select(&arguments(given, name::SELECT_DOCS)?)?)
    }

    /// `skill_list_docs`: the docs of a skill.
    pub(crate) fn list_docs(&self, given: &Value) -> Result<Answer, ToolCallError> {
        let ListArguments { skill } = arguments(given, name::LIST_DOCS)?;
        let tree = self.tree(self.usable(&skill)?)?;
        Ok(Answer::of(ToolResult::Docs(self.stage(&tree)?.docs)))
    }

    /// `skill_search`: skills that fit a question.
    pub(crate) fn search(&self, given: &Value) -> Result<Answer, ToolCallError> {
        let SearchArguments { query, limit } = arguments(given, name::SEARCH)?;
        let limit = limit.unwrap_or(DEFAULT_HITS).min(MAX_HITS);
        let index = SkillIndex::new(self.snapshot, Entry::is_model_visible);
        let found = index.search(&query, limit).into_iter().map(|(entry, score)| SkillMatch {
            name: entry.name.to_string(),
            description: entry.description().into_owned(),
            score: (f64::from(score) * 100.0).round() / 100.0,
        });
        Ok(Answer::of(ToolResult::Skills(found.collect())))
    }

    fn load_skill(
        &self,
        entry: &Entry,
        arguments: &LoadArguments,
    ) -> Result<Answer, SkillUseError> {
        let skill = entry.name.as_str();
        let tree = self.tree_now(entry)?;
        let staged = self.stage(&tree)?;
        let shelf = Shelf::read(self.state, self.agent);
        let before = shelf.selection(skill);
        let asked = staged.selection(skill, &arguments.docs, arguments.include_all_docs)?;
        let selection = match &asked {
            Some(asked) => asked.clone(),
            None => before.map(|it| staged.kept(it)).unwrap_or_default(),
        };
        let window = Window::of(self.events);
        let body = !window.shows_body(skill, &staged.digest);
        let docs = staged.unseen(skill, &selection, &window);
        let is_new = before != Some(&selection) || self.is_another(entry);
        if !is_new && !body && docs.is_empty() {
            return Ok(Answer::text(format!("already loaded: {skill} (its text is above)")));
        }
        let text = if body { stub(skill) } else { format!("{} (its text is above)", stub(skill)) };
        let answer =
            Answer { loaded: Some(staged.loaded(entry, body, docs)), ..Answer::text(text) };
        self.shelve(answer, entry, &selection, &staged)
    }

    fn select(&self, arguments: &SelectArguments) -> Result<Answer, SkillUseError> {
        let entry = self.usable(&arguments.skill)?;
        let skill = entry.name.as_str();
        let shelf = Shelf::read(self.state, self.agent);
        if !self.is_loaded(skill) {
            return Err(SkillUseError::NotLoaded { skill: skill.to_owned() });
        }
        let staged = self.stage(&self.tree(entry)?)?;
        // Of a skill that was loaded for one request the text may be gone, and comes again.
        let before = shelf.selection(skill).map(|it| staged.kept(it)).unwrap_or_default();
        let asked = staged
            .selection(skill, &arguments.docs, arguments.include_all_docs)?
            .unwrap_or_default();
        let selection = match (arguments.mode, before) {
            (DocSelectionMode::Clear, _) => Selection::default(),
            // From every doc only `clear` narrows.
            (DocSelectionMode::Add | DocSelectionMode::Replace, Selection::All) => Selection::All,
            (DocSelectionMode::Add, before) => before.with(&asked),
            (DocSelectionMode::Replace, _) => asked,
        };
        let window = Window::of(self.events);
        let body = !window.shows_body(skill, &staged.digest);
        let docs = staged.unseen(skill, &selection, &window);
        let (selected_docs, include_all_docs) = match &selection {
            Selection::All => (Vec::new(), true),
            Selection::Docs(docs) => (docs.clone(), false),
        };
        let (skill, mode) = (skill.to_owned(), arguments.mode);
        let selected = DocSelection { skill, selected_docs, include_all_docs, mode };
        let answer = Answer {
            loaded: (body || !docs.is_empty()).then(|| staged.loaded(entry, body, docs)),
            ..Answer::of(ToolResult::Selection(selected))
        };
        self.shelve(answer, entry, &selection, &staged)
    }

    /// Notes in the state what is loaded, and makes room for it.
    fn shelve(
        &self,
        mut answer: Answer,
        entry: &Entry,
        selection: &Selection,
        staged: &Staged,
    ) -> Result<Answer, SkillUseError> {
        let skill = entry.name.as_str();
        answer.state = Shelf::read(self.state, self.agent).put(skill, selection)?;
        answer.digests.insert(skill.to_owned(), staged.digest.clone());
        answer.identities.insert(skill.to_owned(), entry.identity.to_string());
        let Some(most) = self.max_loaded else { return Ok(answer) };
        let mut state = self.state.clone();
        state.apply(&answer.state);
        let shelf = Shelf::read(&state, self.agent);
        let gone = shelf.beyond(most.max(1));
        if gone.is_empty() {
            return Ok(answer);
        }
        answer.state.merge(shelf.take(&gone)?)?;
        let shown = Window::of(self.events);
        let shown = shown.shown().filter(|it| gone.contains(&it.text.skill.as_str()));
        let stubbed: Vec<Stub> = shown.map(|it| it.stub()).collect();
        if !stubbed.is_empty() {
            answer.breaks = Some((BreakCause::Eviction, stubbed));
        }
        Ok(answer)
    }

    /// The skill of a name, if a model may use it. What is hidden from models may be used while it is loaded: a person
    /// has loaded it.
    pub(crate) fn usable(&self, name: &str) -> Result<&Entry, SkillUseError> {
        let may_use = |entry: &&Entry| {
            let is_loaded = || self.is_loaded(entry.name.as_str()) && !self.is_another(entry);
            entry.manifest.invocation.by_model || is_loaded()
        };
        let entry = self.snapshot.find(name).filter(may_use);
        let Some(entry) = entry else {
            let nearest = nearest(self.snapshot, name, SUGGESTIONS);
            let nearest = nearest.into_iter().map(str::to_owned).collect();
            return Err(SkillUseError::Unknown { name: name.to_owned(), nearest });
        };
        if entry.verdict.is_eligible() {
            return Ok(entry);
        }
        let blocks = entry.verdict.blocks.clone();
        Err(SkillUseError::Unusable { name: name.to_owned(), blocks })
    }

    /// Whether a skill is loaded, or was in this turn.
    pub(crate) fn is_loaded(&self, skill: &str) -> bool {
        self.given.contains_key(skill)
            || Shelf::read(self.state, self.agent).has(skill)
            || last_turn(self.events)
                .iter()
                .any(|event| event.content.loaded().iter().any(|it| it.skill == skill))
    }

    fn stage(&self, tree: &Tree) -> Result<Staged, SkillUseError> {
        stage(self.workspaces, tree)?;
        let docs = self.texts.docs(&tree.name, &tree.digest)?;
        Ok(Staged { digest: tree.digest.clone(), docs })
    }
}

impl Staged {
    /// What of a selection this version has.
    fn kept(&self, selection: &Selection) -> Selection {
        match selection {
            Selection::All => Selection::All,
            Selection::Docs(docs) => {
                Selection::Docs(docs.iter().filter(|doc| self.has(doc)).cloned().collect())
            }
        }
    }

    /// What was asked for, if anything was.
    fn selection(
        &self,
        skill: &str,
        docs: &[String],
        all: bool,
    ) -> Result<Option<Selection>, SkillUseError> {
        if all {
            return Ok(Some(Selection::All));
        }
        if docs.is_empty() {
            return Ok(None);
        }
        let unknown: Vec<String> = docs.iter().filter(|doc| !self.has(doc)).cloned().collect();
        if unknown.is_empty() {
            return Ok(Some(Selection::default().with(&Selection::Docs(docs.to_vec()))));
        }
        let (skill, docs) = (skill.to_owned(), self.docs.clone());
        Err(SkillUseError::UnknownDocs { skill, unknown, docs })
    }

    fn has(&self, doc: &str) -> bool {
        self.docs.iter().any(|it| it == doc)
    }

    /// The docs of a selection that requests do not contain yet.
    fn unseen(&self, skill: &str, selection: &Selection, window: &Window<'_>) -> Vec<String> {
        let docs = match selection {
            Selection::All => &self.docs,
            Selection::Docs(docs) => docs,
        };
        let is_new = |doc: &&String| !window.shows_doc(skill, &self.digest, doc);
        docs.iter().filter(is_new).cloned().collect()
    }

    fn loaded(&self, entry: &Entry, body: bool, docs: Vec<String>) -> Loaded {
        Loaded {
            skill: entry.name.to_string(),
            digest: self.digest.clone(),
            server: entry.server().map(ToString::to_string),
            body,
            docs,
            ..Loaded::default()
        }
    }
}
