//! What commands that ask a model need: the agent, made of flags and settings.

use std::sync::Arc;

use metier_agent::agent::AgentSettings;
use metier_agent::conversation::{Layout, Placement};
use metier_agent::host::Host;
use metier_agent::prompt::PromptSettings;
use metier_agent::tools::{Restriction, ToolSet};
use metier_agent::turn::TurnLimits;
use metier_agent::{Agent, ForeignServers, LoadMode};
use metier_config::{AgentToolSet, PromptKind, SkillLoadMode, SkillPlacement, SkillRunConfig};
use metier_workspace::Runner;
use metier_workspace::executor::{Executor, LocalExecutor};

use crate::args::AgentArgs;
use crate::context::Context;
use crate::failure::Failure;
use crate::library::Skills;
use crate::mcp;
use crate::output::style;
use crate::overseer::{Asking, Overseer};
use crate::privacy::make_private_folder;
use crate::roots;

impl Context {
    /// The agent that was asked for.
    ///
    /// # Errors
    ///
    /// When there is no model, the settings cannot be followed, or the state cannot be used.
    pub(crate) fn agent(
        &self,
        wanted: &AgentArgs,
        skills: Arc<Skills>,
        asking: Asking,
    ) -> Result<Agent, Failure> {
        let mut settings = self.agent_settings(wanted)?;
        let executor = self.executor(wanted.executor);
        let model = self.model(wanted.model.as_deref(), &skills)?;
        settings.constrained = self.is_constrained(model.name());
        let workspaces = self.workspaces()?;
        let sessions = Arc::new(self.sessions()?);
        let decisions = Arc::clone(&sessions);
        let overseer = Arc::new(Overseer::new(self, decisions, &wanted.yes_to, asking)?);
        let foreign = self.tool_servers()?.map(|servers| ForeignServers {
            servers: Arc::new(servers),
            approver: Arc::<Overseer>::clone(&overseer),
        });
        let host = match &executor {
            Executor::Local(LocalExecutor::Host) => {
                Some(self.host(&wanted.sources.agent, overseer)?)
            }
            _ => {
                if wanted.yes_to.iter().any(|it| !it.starts_with(mcp::NAMED)) {
                    let text = "`--yes-to` is about commands on the host; add `--executor host`";
                    self.output.note(style::WARN, "note: ", text);
                }
                None
            }
        };
        let (artifacts, redactor) = (Arc::new(self.artifacts()?), self.redactor.clone());
        let runner = Runner { workspaces, artifacts, executor, redactor };
        let name = wanted.sources.agent.clone();
        let agent = Agent::new(model, skills, sessions, runner);
        Ok(Agent { name, host, foreign, settings, ..agent })
    }

    /// Has an agent ask another model from now on.
    ///
    /// # Errors
    ///
    /// When that model cannot be used; the agent keeps the one it has.
    pub(crate) fn change_model(
        &self,
        agent: &mut Agent,
        name: &str,
        skills: &Skills,
    ) -> Result<(), Failure> {
        let model = self.model(Some(name), skills)?;
        agent.settings.constrained = self.is_constrained(model.name());
        agent.model = model;
        Ok(())
    }

    /// What commands on this machine depend on.
    ///
    /// # Errors
    ///
    /// When the agent has no folder.
    pub(crate) fn host(&self, agent: &str, approver: Arc<Overseer>) -> Result<Host, Failure> {
        let folder = roots::workspace(&self.environment, &self.config, agent);
        make_private_folder(&folder).map_err(|error| {
            Failure::new(format!(
                "the agent's folder `{}` cannot be made: {error}",
                folder.display()
            ))
            .hint("`metier setup --workspace DIR` chooses another")
        })?;
        let readable = self.config.exec.host_inputs.iter();
        let readable = readable.map(|text| self.environment.expand(text, &self.environment.folder));
        Ok(Host { folder: roots::real(&folder), readable: readable.collect(), approver })
    }

    fn agent_settings(&self, wanted: &AgentArgs) -> Result<AgentSettings, Failure> {
        let (skills, agent, context) =
            (&self.config.skills, &self.config.agent, &self.config.context);
        let percent = match *context.compact_at {
            percent @ 1..=100 => u8::try_from(percent).unwrap_or(100),
            other => {
                return Err(out_of_range("context.compact_at", other, "a number from 1 to 100"));
            }
        };
        let requests = match *agent.max_requests {
            0 => return Err(out_of_range("agent.max_requests", 0, "1 or more")),
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

    /// Commands that a model may run, by name. A project adds a list of its own to that of the person.
    pub(crate) fn restriction(&self) -> Restriction {
        let SkillRunConfig { allowed_commands, denied_commands } = &self.config.skill_run;
        let others = allowed_commands.also().iter().map(|(list, _)| list);
        let lists = [&**allowed_commands].into_iter().chain(others);
        Restriction {
            allowed: lists.filter(|list| !list.is_empty()).cloned().collect(),
            denied: denied_commands.to_vec(),
            variables: self.config.approvals.variables.narrowed(),
        }
    }

    /// What the agent is told of its tools, if that is not what metier says.
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

fn out_of_range(setting: &str, value: usize, range: &str) -> Failure {
    Failure::usage(format!("`{setting}` cannot be {value}")).hint(format!("set it to {range}"))
}
