//! What commands that ask a model need: the agent, made of flags and settings.

use std::sync::Arc;

use metier_agent::agent::AgentSettings;
use metier_agent::conversation::{Layout, Placement};
use metier_agent::host::Host;
use metier_agent::prompt::PromptSettings;
use metier_agent::tools::{Restriction, ToolSet};
use metier_agent::turn::TurnLimits;
use metier_agent::{Agent, ForeignServers, LoadMode};
use metier_workspace::Runner;
use metier_workspace::executor::{Executor, LocalExecutor};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::args::AgentArgs;
use crate::context::Context;
use crate::failure::Failure;
use crate::library::Skills;
use crate::mcp;
use crate::models::read_word;
use crate::output::style;
use crate::overseer::{Asking, Overseer};
use crate::privacy::make_private_folder;
use crate::roots;

/// A choice between words, by a flag or by a setting.
struct Choice<'a> {
    flag: Option<&'a str>,
    setting: &'static str,
    words: &'static str,
}

/// How much requests begin with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PromptKind {
    #[default]
    Full,
    Minimal,
}

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
        let executor = self.executor(wanted.executor)?;
        let model = self.model(wanted.model.as_deref(), &skills)?;
        settings.constrained = self.is_constrained(model.name())?;
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
        agent.settings.constrained = self.is_constrained(model.name())?;
        agent.model = model;
        Ok(())
    }

    /// What commands on this machine depend on.
    ///
    /// # Errors
    ///
    /// When the agent has no folder.
    pub(crate) fn host(&self, agent: &str, approver: Arc<Overseer>) -> Result<Host, Failure> {
        let folder = roots::workspace(&self.environment, &self.settings, agent);
        make_private_folder(&folder).map_err(|error| {
            Failure::new(format!(
                "the agent's folder `{}` cannot be made: {error}",
                folder.display()
            ))
            .hint("`metier setup --workspace DIR` chooses another")
        })?;
        let readable = self.settings.list("exec.host_inputs").iter();
        let readable = readable.map(|text| self.environment.expand(text, &self.environment.folder));
        Ok(Host { folder: roots::real(&folder), readable: readable.collect(), approver })
    }

    fn agent_settings(&self, wanted: &AgentArgs) -> Result<AgentSettings, Failure> {
        let count = |name: &str, usual: usize| self.settings.count(name).unwrap_or(usual);
        let tools: ToolSet = self.choose(&Choice {
            flag: wanted.tools.as_deref(),
            setting: "agent.tools",
            words: "`full`, `knowledge`, `single` or `files`",
        })?;
        let mode: LoadMode = self.choose(&Choice {
            flag: wanted.load_mode.as_deref(),
            setting: "skills.load_mode",
            words: "`turn`, `once` or `session`",
        })?;
        let placement: Placement = self.choose(&Choice {
            flag: wanted.placement.as_deref(),
            setting: "skills.placement",
            words: "`tool_result` or `system`",
        })?;
        let prompt: PromptKind = self.choose(&Choice {
            flag: None,
            setting: "agent.prompt",
            words: "`full` or `minimal`",
        })?;
        let usual = AgentSettings::default();
        let layout = usual.prompt.layout;
        let max_body_tokens = count("skills.max_body_tokens", layout.max_body_tokens);
        let percent = match count("context.compact_at", 80) {
            percent @ 1..=100 => u8::try_from(percent).unwrap_or(100),
            other => {
                return Err(out_of_range("context.compact_at", other, "a number from 1 to 100"));
            }
        };
        let requests = match count("agent.max_requests", usual.limits.requests) {
            0 => return Err(out_of_range("agent.max_requests", 0, "1 or more")),
            requests => requests,
        };
        Ok(AgentSettings {
            prompt: PromptSettings {
                instruction: self.settings.text("agent.instruction").map(str::to_owned),
                guidance: self.guidance(),
                tools,
                catalog_tokens: self.catalog_tokens(),
                layout: Layout { placement, max_body_tokens },
                is_minimal: prompt == PromptKind::Minimal,
            },
            limits: TurnLimits {
                requests,
                tokens: self.bound("agent.max_tokens").and_then(|most| u64::try_from(most).ok()),
                run_code: self.settings.is_true("agent.code_execution"),
                ..usual.limits
            },
            mode,
            max_loaded_skills: self.bound("skills.max_loaded"),
            retain_tokens: count("skills.retain_tokens", usual.retain_tokens),
            load_before_run: self.settings.switch("skills.load_before_run"),
            restriction: self.restriction(),
            context_tokens: count("context.tokens", usual.context_tokens),
            compact_at: f64::from(percent) / 100.0,
            ..usual
        })
    }

    /// Commands that a model may run, by name. A project adds a list of its own to that of the person.
    pub(crate) fn restriction(&self) -> Restriction {
        let name = "skill_run.allowed_commands";
        let own = self.settings.list(name).to_vec();
        let others = self.settings.also.get(name).into_iter().flatten();
        let lists = [own].into_iter().chain(others.map(|(list, _)| list.clone()));
        Restriction {
            allowed: lists.filter(|list| !list.is_empty()).collect(),
            denied: self.settings.list("skill_run.denied_commands").to_vec(),
            variables: self.allowed("approvals.variables"),
        }
    }

    /// A bound, where 0 stands for none.
    fn bound(&self, setting: &str) -> Option<usize> {
        self.settings.count(setting).filter(|&most| most > 0)
    }

    /// What the agent is told of its tools, if that is not what metier says.
    fn guidance(&self) -> Option<String> {
        let own = self.settings.text("agent.guidance")?;
        Some(if own == "none" { String::new() } else { own.to_owned() })
    }

    fn choose<T: DeserializeOwned + Default>(&self, choice: &Choice<'_>) -> Result<T, Failure> {
        let Some(word) = choice.flag.or_else(|| self.settings.text(choice.setting)) else {
            return Ok(T::default());
        };
        read_word(word).ok_or_else(|| {
            Failure::usage(format!("`{}` cannot be `{word}`", choice.setting))
                .hint(format!("set it to {}", choice.words))
        })
    }
}

fn out_of_range(setting: &str, value: usize, range: &str) -> Failure {
    Failure::usage(format!("`{setting}` cannot be {value}")).hint(format!("set it to {range}"))
}
