//! Names of things that are here: skills and their docs, sessions, artifacts, agents, settings.
//!
//! No server is asked, nothing is fetched, nobody is trusted, and the state directory is not made.

use std::ffi::OsString;
use std::sync::OnceLock;

use metier_config::SettingKey;
use metier_session::{Page, SessionFilter, SessionStore};
use metier_skill::diagnostic::Code;
use metier_skill::files;
use metier_skill::library::{Entry, Place, Snapshot};
use metier_workspace::artifact::ArtifactStore;

use crate::args::SourceArgs;
use crate::context::Context;
use crate::output::Output;
use crate::wait::block_on;
use metier_app::Environment;
use metier_app::sources::roots::DEFAULT_AGENT;
use metier_workspace::artifact::Owner;

/// More sessions than anybody looks through.
const MAX_SESSIONS: usize = 100;

/// What an argument names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    /// A skill.
    Skill,
    /// A doc of the skill that was named before.
    Doc,
    /// A session.
    Session,
    /// An artifact of a session.
    Artifact,
    /// An agent.
    Agent,
    /// Something that was allowed.
    Approval,
    /// A file of a session, a skill or an artifact.
    Reference,
    /// A setting.
    Setting,
    /// A rule of lint.
    Code,
}

/// A name, and a few words about it.
type Named = (String, String);

/// What is known here, looked up when it is needed.
#[derive(Debug)]
pub(super) struct Known {
    environment: Environment,
    output: Output,
    /// The words before the cursor, and the one at it.
    words: Vec<OsString>,
    context: OnceLock<Option<Context>>,
}

impl Known {
    /// Nothing is looked up yet.
    pub(super) fn new(environment: Environment, output: Output, words: Vec<OsString>) -> Self {
        Self { environment, output, words, context: OnceLock::new() }
    }

    /// The names there are; none if they cannot be found out.
    pub(super) fn names(&self, subject: Subject) -> Vec<Named> {
        let names = match subject {
            Subject::Skill => self.skills(),
            Subject::Doc => self.docs(),
            Subject::Session => self.sessions(),
            Subject::Artifact => self.artifacts(),
            Subject::Agent => self.agents(),
            Subject::Approval => self.approvals(),
            Subject::Reference => Some(self.references()),
            Subject::Setting => {
                let keys = SettingKey::all().filter(|key| !key.is_in_map());
                Some(keys.map(|key| (key.name.to_owned(), key.help().to_owned())).collect())
            }
            Subject::Code => {
                let code = |code: &Code| (code.to_string(), code.summary().to_owned());
                Some(Code::ALL.iter().map(code).collect())
            }
        };
        names.unwrap_or_default()
    }

    fn context(&self) -> Option<&Context> {
        let make = || Context::new(self.environment.clone(), self.output).ok();
        self.context.get_or_init(make).as_ref()
    }

    fn library(&self) -> Option<Snapshot> {
        let (context, sources) = (self.context()?, self.sources());
        let sources = sources.selection();
        let network = context.app.sources_at_hand(&sources).ok()?;
        context.app.library_with(&sources, &network).ok()
    }

    fn skills(&self) -> Option<Vec<Named>> {
        let snapshot = self.library()?;
        let named = |it: &Entry| (it.name.to_string(), it.description().into_owned());
        Some(snapshot.entries.iter().map(named).collect())
    }

    fn docs(&self) -> Option<Vec<Named>> {
        let after = self.words.iter().position(|word| word == "docs")? + 1;
        let is_name = |word: &&OsString| !word.as_encoded_bytes().starts_with(b"-");
        let name = self.words.get(after..)?.iter().find(is_name)?.to_str()?;
        let snapshot = self.library()?;
        let docs: Vec<String> = match &snapshot.find(name)?.place {
            Place::Folder { file, .. } => {
                let tree = files::list(file.parent()?).ok()?;
                tree.docs().map(|doc| doc.path.clone()).collect()
            }
            Place::Bundled(skill) => {
                let paths = skill.files.iter().map(|file| file.path);
                paths.filter(|path| files::is_doc(path)).map(str::to_owned).collect()
            }
            Place::Remote(_) => return None,
        };
        Some(docs.into_iter().map(|path| (path, String::new())).collect())
    }

    fn sessions(&self) -> Option<Vec<Named>> {
        let app = &self.context()?.app;
        let store = app.existing_sessions().ok()??;
        let filter = SessionFilter {
            app: Some(app.principal.app.clone()),
            user: Some(app.principal.user.clone()),
            ..SessionFilter::default()
        };
        let page = Page { after: None, limit: MAX_SESSIONS };
        let listing = block_on(async { Ok(store.list(&filter, page).await?) }).ok()?;
        let named = |session: metier_session::Session| {
            (session.at.key.session().to_owned(), session.title.unwrap_or_default())
        };
        Some(listing.sessions.into_iter().map(named).collect())
    }

    fn artifacts(&self) -> Option<Vec<Named>> {
        let context = self.context()?;
        if !context.app.environment.state().join("artifacts").exists() {
            return None;
        }
        let named =
            self.option("--session").map(|session| context.app.bare_workspace_key(&session));
        let key = named.or_else(|| context.session(None).ok())?;
        let (store, owner) = (context.app.artifacts().ok()?, Owner::of(&key).ok()?);
        let listed = block_on(async {
            let mut listed = Vec::new();
            for scope in [owner.session_scope(), owner.user_scope()] {
                listed.extend(store.list(&scope).await.unwrap_or_default());
            }
            Ok(listed)
        });
        Some(listed.ok()?.into_iter().map(|it| (it.name, it.newest.mime_type)).collect())
    }

    fn agents(&self) -> Option<Vec<Named>> {
        let set = self.context()?.app.config.agents.keys().map(String::as_str);
        let mut names: Vec<&str> = set.chain([DEFAULT_AGENT]).collect();
        names.sort_unstable();
        names.dedup();
        Some(names.into_iter().map(|name| (name.to_owned(), String::new())).collect())
    }

    fn approvals(&self) -> Option<Vec<Named>> {
        let decisions = self.context()?.decisions(None).ok()?;
        Some(decisions.into_iter().map(|it| (it.id, String::new())).collect())
    }

    fn references(&self) -> Vec<Named> {
        let artifacts = self.artifacts().unwrap_or_default();
        let artifacts =
            artifacts.into_iter().map(|(name, help)| (format!("artifact://{name}"), help));
        let skills = self.skills().unwrap_or_default();
        let skills =
            skills.into_iter().map(|(name, help)| (format!("skill://{name}/SKILL.md"), help));
        artifacts.chain(skills).collect()
    }

    /// Where to look, as the words before the cursor say.
    fn sources(&self) -> SourceArgs {
        let has = |name: &str| self.words.iter().any(|word| word == name);
        SourceArgs {
            skills_dirs: self.options("--skills-dir").map(Into::into).collect(),
            no_default_sources: has("--no-default-sources"),
            agent: self.option("--agent").unwrap_or_else(|| DEFAULT_AGENT.to_owned()),
            ..SourceArgs::default()
        }
    }

    fn option(&self, name: &str) -> Option<String> {
        self.options(name).last()
    }

    /// The values of an option before the cursor.
    fn options<'a>(&'a self, name: &'a str) -> impl Iterator<Item = String> + 'a {
        let before = &self.words[..self.words.len().saturating_sub(1)];
        before.iter().enumerate().filter_map(move |(at, word)| {
            let word = word.to_str()?;
            match word.strip_prefix(name)? {
                "" => Some(before.get(at + 1)?.to_str()?.to_owned()),
                rest => Some(rest.strip_prefix('=')?.to_owned()),
            }
        })
    }
}
