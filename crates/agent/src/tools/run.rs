//! `skill_run`, `exec` of the set with files, and code of a reply: a command in the sandbox.
//!
//! A call is prepared in the order of calls, when it is known what is loaded, and runs beside others.

use std::collections::BTreeMap;
use std::path::PathBuf;

use metier_approval::{is_allowed_variable, quote, restricted};
use metier_sandbox::{Cancel, Walk};
use metier_skill::library::Entry;
use metier_workspace::executor::{Live, Network};
use metier_workspace::grant::Asked;
use metier_workspace::interactive::{Interactive, Size, StartOptions, Waiting};
use metier_workspace::request::RunRequest;
use metier_workspace::{
    InstalledTools, Manner, NO_SKILL, RunError, RunOrder, RunSettings, Runner, Tree, WorkspaceKey,
};
use serde::Deserialize;
use serde_json::Value;

use crate::fence::{Code, Language};
use crate::host::Wanted;
use crate::stop::{Stop, TurnStopped};
use crate::tools::answer::{Answer, arguments};
use crate::tools::error::{RunPreparationError, SkillUseError, ToolCallError};
use crate::tools::knowledge::Situation;
use crate::tools::process::waiting;
use crate::tools::result::ToolResult;
use crate::tools::specs::name;

/// The variable in which code of a reply is handed over.
const CODE_VARIABLE: &str = "REPLY_CODE";

/// How runs are made.
#[derive(Clone, Debug)]
pub(crate) struct Runs {
    /// What runs commands.
    pub(crate) runner: Runner,
    /// Whose workspace they are run in.
    pub(crate) key: WorkspaceKey,
    /// Whether a skill must have been loaded before its commands are run.
    pub(crate) load_first: bool,
    /// Where commands of no skill start on the host, if they run there.
    pub(crate) start: Option<PathBuf>,
    /// Which commands may run at all.
    pub(crate) restriction: Restriction,
}

/// Commands that may run in skills, by lists of names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restriction {
    /// A command must be on each of these lists; an empty one lets nothing through, and without any all may run.
    pub allowed: Vec<Vec<String>>,
    /// Commands that may not run, whoever allows them.
    pub denied: Vec<String>,
    /// Variables that a call may set where commands are restricted by lists, and on the host, beside those that its skill
    /// declares; `*` at the end stands for any ending.
    pub variables: Vec<String>,
}

impl Restriction {
    /// Whether there are lists of commands.
    fn has_lists(&self) -> bool {
        !self.allowed.is_empty() || !self.denied.is_empty()
    }

    /// Refuses variables of a call that neither its skill declares nor the configuration lists. Any variable could change
    /// what an allowed program does, whether it is in a table or not.
    fn check_variables(
        &self,
        variables: &BTreeMap<String, String>,
        declared: &[&str],
    ) -> Result<(), RunPreparationError> {
        let may_be_set =
            |name: &str| declared.contains(&name) || is_allowed_variable(name, &self.variables);
        match variables.keys().find(|name| !may_be_set(name)) {
            None => Ok(()),
            Some(name) => Err(RunPreparationError::Variable { name: name.clone() }),
        }
    }

    /// How a command is run: by a shell, or where there are lists as the one program that they let through.
    fn manner(&self, command: &str) -> Result<Manner, RunPreparationError> {
        if !self.has_lists() {
            return Ok(Manner::Shell);
        }
        if self.allowed.iter().any(Vec::is_empty) {
            return Err(RunPreparationError::NothingAllowed);
        }
        let judged = |allowed: Option<&Vec<String>>| {
            let words = restricted(command, allowed.map(Vec::as_slice), &self.denied);
            words.map_err(|source| RunPreparationError::Restricted {
                source,
                allowed: allowed.cloned().unwrap_or_default(),
            })
        };
        if self.allowed.is_empty() {
            return judged(None).map(Manner::Arguments);
        }
        let mut words = Vec::new();
        for allowed in &self.allowed {
            words = judged(Some(allowed))?;
        }
        Ok(Manner::Arguments(words))
    }
}

/// A run that is ready.
#[derive(Debug)]
pub(crate) struct Prepared {
    order: RunOrder,
    digests: BTreeMap<String, String>,
    identities: BTreeMap<String, String>,
    warnings: Vec<String>,
    /// How it begins if it is left running and talked to.
    talk: Option<StartOptions>,
}

impl Prepared {
    /// Says which skill of its name it is of.
    fn of_skill(mut self, entry: &Entry) -> Self {
        self.order.identity = Some(entry.identity.to_string());
        self
    }

    /// Has it run as the programs of a plan.
    pub(crate) fn walk(&mut self, walk: Walk) {
        self.order.manner = Manner::Plan(walk);
    }
}

/// The skills that a run sees.
#[derive(Debug, Default)]
struct SeenSkills {
    trees: Vec<Tree>,
    digests: BTreeMap<String, String>,
    identities: BTreeMap<String, String>,
}

impl SeenSkills {
    fn add(&mut self, entry: &Entry, tree: Tree) {
        self.digests.insert(tree.name.clone(), tree.digest.clone());
        self.identities.insert(tree.name.clone(), entry.identity.to_string());
        self.trees.push(tree);
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExecArguments {
    command: String,
    #[serde(default)]
    cwd: Option<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    #[serde(default)]
    timeout: Option<f64>,
    #[serde(default)]
    background: bool,
    #[serde(default)]
    pty: bool,
    #[serde(default)]
    yield_ms: Option<u64>,
}

impl Runs {
    /// Prepares a call of `skill_run`.
    ///
    /// # Errors
    ///
    /// When an argument is wrong, or the command may not be run.
    pub(crate) fn prepare(
        &self,
        given: &Value,
        at: &Situation<'_>,
    ) -> Result<Prepared, ToolCallError> {
        let request: RunRequest = arguments(given, name::RUN)?;
        let entry = at.usable(&request.skill)?;
        if self.load_first && !at.is_loaded(&request.skill) {
            return Err(RunPreparationError::NotLoaded { skill: request.skill }.into());
        }
        self.check_variables(&request.env, &declared_variables(entry))?;
        let mut seen = SeenSkills::default();
        for name in request.skills() {
            let entry = at.usable(name)?;
            seen.add(entry, at.tree(entry)?);
        }
        let settings = at.library.run_settings(entry).map_err(SkillUseError::from)?;
        let prepared = self.order(request, seen, settings)?;
        Ok(prepared.of_skill(entry))
    }

    /// Prepares a call of `exec`, with every skill there.
    ///
    /// # Errors
    ///
    /// When an argument is wrong, or the command may not be run.
    pub(crate) fn prepare_exec(
        &self,
        given: &Value,
        at: &Situation<'_>,
    ) -> Result<Prepared, ToolCallError> {
        let ExecArguments { command, cwd, env, timeout, background, pty, yield_ms } =
            arguments(given, name::EXEC)?;
        self.check_variables(&env, &[])?;
        let request = RunRequest { command, cwd, env, timeout, ..RunRequest::default() };
        let talk = (background || pty).then(|| StartOptions {
            terminal: pty.then(Size::default),
            waiting: waiting(yield_ms, Waiting::FIRST),
        });
        Ok(Prepared { talk, ..self.prepare_free(request, at)? })
    }

    /// Prepares code of a reply, with every skill there.
    ///
    /// # Errors
    ///
    /// When it may not be run.
    pub(crate) fn prepare_code(
        &self,
        code: &Code,
        at: &Situation<'_>,
    ) -> Result<Prepared, RunPreparationError> {
        let command = format!("{} \"${CODE_VARIABLE}\"", code.language.program());
        if self.start.is_some() {
            // There it is judged as what it is.
            let command = match code.language {
                Language::Bash => code.text.clone(),
                Language::Python => format!("{} {}", code.language.program(), quote(&code.text)),
            };
            return self.prepare_free(RunRequest { command, ..RunRequest::default() }, at);
        }
        let env = [(CODE_VARIABLE.to_owned(), code.text.clone())].into();
        self.prepare_free(RunRequest { command, env, ..RunRequest::default() }, at)
    }

    /// Prepares a command that is of no skill in particular, with every skill there.
    fn prepare_free(
        &self,
        request: RunRequest,
        at: &Situation<'_>,
    ) -> Result<Prepared, RunPreparationError> {
        let (mut seen, mut problems, mut first) = (SeenSkills::default(), Vec::new(), None);
        let mut tools = Vec::new();
        for entry in at.snapshot.entries.iter().filter(|entry| entry.is_model_visible()) {
            // A skill that cannot be used must not stand in the way of all others.
            let ready = at.tree(entry).and_then(|tree| Ok((tree, at.library.run_settings(entry)?)));
            match ready {
                Ok((tree, mut settings)) => {
                    seen.add(entry, tree);
                    tools.append(&mut settings.tools);
                    first = first.or(Some(settings));
                }
                Err(problem) => problems.push(problem),
            }
        }
        let Some(settings) = first else {
            return Err(RunPreparationError::NoSkills { problems });
        };
        let whole = || Some("$WORKSPACE_DIR".to_owned());
        let (outside, cwd) = match &self.start {
            Some(start) => match request.cwd {
                // A folder of the workspace, which is on the host as well.
                Some(cwd) if cwd.starts_with('$') => (None, Some(cwd)),
                Some(cwd) => (Some(start.join(cwd)), whole()),
                None => (Some(start.clone()), whole()),
            },
            None => (None, request.cwd.or_else(whole)),
        };
        // No skill may find what it wrote in the home of another.
        let request = RunRequest { skill: NO_SKILL.to_owned(), cwd, ..request };
        let mut prepared = self.order(request, seen, granted_to_none(&settings, tools))?;
        prepared.order.outside = outside;
        let warnings = problems.iter().map(ToString::to_string).collect();
        Ok(Prepared { warnings, ..prepared })
    }

    /// Refuses variables of a call that may not be set where it would run.
    fn check_variables(
        &self,
        variables: &BTreeMap<String, String>,
        declared: &[&str],
    ) -> Result<(), RunPreparationError> {
        if !self.restriction.has_lists() && !self.runner.executor.sees_host() {
            return Ok(());
        }
        self.restriction.check_variables(variables, declared)
    }

    fn order(
        &self,
        request: RunRequest,
        seen: SeenSkills,
        settings: RunSettings,
    ) -> Result<Prepared, RunPreparationError> {
        let manner = self.restriction.manner(&request.command)?;
        let SeenSkills { trees, digests, identities } = seen;
        let order = RunOrder {
            key: self.key.clone(),
            request,
            trees,
            settings,
            manner,
            identity: None,
            outside: None,
        };
        Ok(Prepared { order, digests, identities, warnings: Vec::new(), talk: None })
    }

    /// What wants to run on the host, with everything there that it needs.
    ///
    /// # Errors
    ///
    /// When the request is wrong.
    pub(crate) fn wanted(&self, prepared: &Prepared) -> Result<Wanted, RunError> {
        let order = &prepared.order;
        let settled = self.runner.settle(order)?;
        Ok(Wanted {
            text: order.request.command.clone(),
            variables: order.request.env.clone().into_iter().collect(),
            stdin: order.request.stdin.clone().filter(|it| !it.is_empty()),
            is_talked_to: prepared.talk.is_some(),
            directory: settled.directory,
            path: settled.path,
            writable: settled.writable,
        })
    }

    /// Runs what was prepared, or leaves it running among the programs.
    pub(crate) async fn run(
        &self,
        prepared: Prepared,
        programs: &Interactive,
        stop: &Stop,
        (live, cancel): (Live, Cancel),
    ) -> Answer {
        let Some(options) = prepared.talk else {
            return self.run_to_its_end(prepared, live, cancel).await;
        };
        let Prepared { order, digests, identities, .. } = prepared;
        let started = tokio::select! {
            started = programs.start(&self.runner, order, options) => started,
            // A program whose id nobody was told ends with whoever waits for it.
            () = stop.stopped() => return ToolCallError::from(TurnStopped).into(),
        };
        match started {
            Ok(progress) => {
                let result = ToolResult::Program(Box::new(progress));
                Answer { digests, identities, ..Answer::of(result) }
            }
            Err(error) => ToolCallError::from(error).into(),
        }
    }

    /// Runs what was prepared, and waits for its end.
    pub(crate) async fn run_to_its_end(
        &self,
        prepared: Prepared,
        live: Live,
        cancel: Cancel,
    ) -> Answer {
        let Prepared { order, digests, identities, warnings, talk: _ } = prepared;
        match self.runner.run(order, live, cancel).await {
            // A command that fails is a result like any other.
            Ok(mut output) => {
                output.warnings.extend(warnings);
                Answer { digests, identities, ..Answer::of(ToolResult::Run(Box::new(output))) }
            }
            Err(error) => ToolCallError::from(RunPreparationError::from(error)).into(),
        }
    }
}

/// Returns the variables that a skill declares.
fn declared_variables(entry: &Entry) -> Vec<&str> {
    let Some(requirements) = entry.manifest.gate.requirements() else { return Vec::new() };
    let names = requirements.env.iter().chain(&requirements.primary_env);
    names.map(String::as_str).collect()
}

/// What holds for commands of no skill in particular: what somebody granted to one skill is not there
/// for all of them. They find the tools of all skills, as the instructions of a skill may name them.
fn granted_to_none(settings: &RunSettings, tools: Vec<InstalledTools>) -> RunSettings {
    RunSettings {
        network: Network::None,
        host_inputs: Vec::new(),
        variables: Vec::new(),
        has_own_network: false,
        tools,
        asked: Asked::default(),
        ..*settings
    }
}
