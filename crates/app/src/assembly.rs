//! The one assembly of an agent: model, skills, sessions, runner and approvals, from choices and configuration.

use std::sync::Arc;

use metier_agent::agent::AgentSettings;
use metier_agent::conversation::{Layout, Placement};
use metier_agent::host::{Host, Prompter};
use metier_agent::prompt::PromptSettings;
use metier_agent::tools::{Restriction, ToolSet};
use metier_agent::turn::TurnLimits;
use metier_agent::{Agent, ForeignServers, Library, LoadMode};
use metier_config::{
    AgentToolSet, ExecutorKind, PromptKind, SkillLoadMode, SkillPlacement, SkillRunConfig,
};
use metier_workspace::Runner;
use metier_workspace::executor::{Executor, LocalExecutor};
use thiserror::Error;

use crate::app::App;
use crate::approvals::DecisionApprover;
use crate::error::AppError;
use crate::library::live::SkillLibrary;
use crate::models::OfflineWording;
use crate::reporter::Notice;
use crate::servers;
use crate::sources::{SourceSelection, roots};
use crate::state::StateError;
use crate::state::privacy::make_private_folder;

/// The choices for an agent, beside those of the configuration.
#[derive(Clone, Debug)]
pub struct AgentChoices {
    /// The model: `PROVIDER/NAME`, or `offline`.
    pub model: Option<String>,
    /// The executor of commands.
    pub executor: Option<ExecutorKind>,
    /// The tools of the model.
    pub tools: Option<AgentToolSet>,
    /// The time for which a loaded skill stays loaded.
    pub load_mode: Option<SkillLoadMode>,
    /// The place of the text of a loaded skill.
    pub placement: Option<SkillPlacement>,
    /// Commands and tools that are allowed without asking.
    pub preapproved: Vec<String>,
    /// The sources of skills, and the name of the agent.
    pub sources: SourceSelection,
    /// The words of the offline planner.
    pub offline: OfflineWording,
}

impl AgentChoices {
    /// Returns the choices of the configuration alone, for the default agent.
    #[must_use]
    pub fn configured() -> Self {
        Self {
            model: None,
            executor: None,
            tools: None,
            load_mode: None,
            placement: None,
            preapproved: Vec::new(),
            sources: SourceSelection::configured(),
            offline: OfflineWording::default(),
        }
    }
}

/// A setting of an agent that is out of its range.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{setting}` cannot be {value}")]
pub struct AssemblyError {
    /// The setting.
    pub setting: &'static str,
    /// The value that it has.
    pub value: usize,
    /// The smallest value.
    pub min: usize,
    /// The largest value, if there is one.
    pub max: Option<usize>,
}

impl App {
    /// Assembles an agent. `prompter` is asked about commands and tools that nothing allows.
    ///
    /// # Errors
    ///
    /// When there is no model, the configuration cannot be followed, or the state cannot be used.
    pub fn agent(
        &self,
        choices: &AgentChoices,
        skills: Arc<SkillLibrary>,
        prompter: Arc<dyn Prompter>,
    ) -> Result<Agent, AppError> {
        let mut settings = self.agent_settings(choices)?;
        let executor = self.executor(choices.executor);
        let wording = &choices.offline;
        let model = self.model(choices.model.as_deref(), skills.snapshot(), wording)?;
        settings.constrained = self.is_constrained(model.name());
        let workspaces = self.workspaces()?;
        let sessions = Arc::new(self.sessions()?);
        let decisions = Arc::clone(&sessions);
        let approver = Arc::new(DecisionApprover::new(self, decisions, &choices.preapproved)?);
        let foreign = self.tool_servers()?.map(|servers| ForeignServers {
            servers: Arc::new(servers),
            approver: Arc::<DecisionApprover>::clone(&approver),
            prompter: Arc::clone(&prompter),
        });
        let name = choices.sources.agent.clone();
        let host = match &executor {
            Executor::Local(LocalExecutor::Host) => Some(self.host(&name, approver, prompter)?),
            _ => {
                if choices.preapproved.iter().any(|it| !it.starts_with(servers::TOOL_PREFIX)) {
                    self.reporter.notice(&Notice::AllowedWithoutHost);
                }
                None
            }
        };
        let (artifacts, redactor) = (Arc::new(self.artifacts()?), self.redactor.clone());
        let runner = Runner { workspaces, artifacts, executor, redactor };
        let agent = Agent::new(model, skills, sessions, runner);
        Ok(Agent { name, host, foreign, settings, ..agent })
    }

    /// Has an agent ask another model from now on.
    ///
    /// # Errors
    ///
    /// When that model cannot be used; the agent keeps the one it has.
    pub fn change_model(
        &self,
        agent: &mut Agent,
        name: &str,
        skills: &SkillLibrary,
        wording: &OfflineWording,
    ) -> Result<(), AppError> {
        let model = self.model(Some(name), skills.snapshot(), wording)?;
        agent.settings.constrained = self.is_constrained(model.name());
        agent.model = model;
        Ok(())
    }

    /// Returns what commands on this machine depend on; the agent's folder is made.
    ///
    /// # Errors
    ///
    /// When the folder cannot be made.
    pub fn host(
        &self,
        agent: &str,
        approver: Arc<DecisionApprover>,
        prompter: Arc<dyn Prompter>,
    ) -> Result<Host, AppError> {
        let folder = roots::workspace(&self.environment, &self.config, agent);
        if let Err(source) = make_private_folder(&folder) {
            return Err(StateError::AgentFolder { folder, source }.into());
        }
        let readable = self.config.exec.host_inputs.iter();
        let readable = readable.map(|text| self.environment.expand(text, &self.environment.folder));
        let readable = readable.collect();
        Ok(Host { folder: roots::real(&folder), readable, approver, prompter })
    }

    fn agent_settings(&self, wanted: &AgentChoices) -> Result<AgentSettings, AssemblyError> {
        let (skills, agent, context) =
            (&self.config.skills, &self.config.agent, &self.config.context);
        let percent = match *context.compact_at {
            percent @ 1..=100 => u8::try_from(percent).unwrap_or(100),
            other => {
                return Err(AssemblyError {
                    setting: "context.compact_at",
                    value: other,
                    min: 1,
                    max: Some(100),
                });
            }
        };
        let requests = match *agent.max_requests {
            0 => {
                let setting = "agent.max_requests";
                return Err(AssemblyError { setting, value: 0, min: 1, max: None });
            }
            requests => requests,
        };
        let usual = AgentSettings::default();
        Ok(AgentSettings {
            prompt: PromptSettings {
                instruction: (*agent.instruction).clone(),
                guidance: self.guidance(),
                tools: tool_set(wanted.tools.unwrap_or(*agent.tools)),
                catalog_tokens: *skills.catalog_tokens,
                layout: Layout {
                    placement: placement(wanted.placement.unwrap_or(*skills.placement)),
                    max_body_tokens: *skills.max_body_tokens,
                },
                is_minimal: *agent.prompt == PromptKind::Minimal,
            },
            limits: TurnLimits {
                requests,
                tokens: bound(*agent.max_tokens).and_then(|most| u64::try_from(most).ok()),
                run_code: *agent.code_execution,
                ..usual.limits
            },
            mode: load_mode(wanted.load_mode.unwrap_or(*skills.load_mode)),
            max_loaded_skills: bound(*skills.max_loaded),
            retain_tokens: *skills.retain_tokens,
            load_before_run: *skills.load_before_run,
            restriction: self.restriction(),
            context_tokens: *context.tokens,
            compact_at: f64::from(percent) / 100.0,
            ..usual
        })
    }

    /// Returns the commands that a model may run, by name. A project adds a list of its own to that of the person.
    pub fn restriction(&self) -> Restriction {
        let SkillRunConfig { allowed_commands, denied_commands } = &self.config.skill_run;
        let others = allowed_commands.also().iter().map(|(list, _)| list);
        let lists = [&**allowed_commands].into_iter().chain(others);
        Restriction {
            allowed: lists.filter(|list| !list.is_empty()).cloned().collect(),
            denied: denied_commands.to_vec(),
            variables: self.config.approvals.variables.narrowed(),
        }
    }

    /// Returns the guidance about tools, if it is not metier's own.
    fn guidance(&self) -> Option<String> {
        let own = self.config.agent.guidance.as_deref()?;
        Some(if own == "none" { String::new() } else { own.to_owned() })
    }
}

/// A bound, where 0 stands for none.
fn bound(most: usize) -> Option<usize> {
    Some(most).filter(|&most| most > 0)
}

fn tool_set(tools: AgentToolSet) -> ToolSet {
    match tools {
        AgentToolSet::Full => ToolSet::Full,
        AgentToolSet::Knowledge => ToolSet::Knowledge,
        AgentToolSet::Single => ToolSet::Single,
        AgentToolSet::Files => ToolSet::Files,
    }
}

fn load_mode(mode: SkillLoadMode) -> LoadMode {
    match mode {
        SkillLoadMode::Turn => LoadMode::Turn,
        SkillLoadMode::Once => LoadMode::Once,
        SkillLoadMode::Session => LoadMode::Session,
    }
}

fn placement(placement: SkillPlacement) -> Placement {
    match placement {
        SkillPlacement::ToolResult => Placement::ToolResult,
        SkillPlacement::System => Placement::System,
    }
}
