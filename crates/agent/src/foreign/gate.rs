//! The gate before tools of other servers.
//!
//! A tool is called only while its server says of it what it said when the session began. A person is asked where
//! nobody allowed it, and question and answer are events of the session. Right before the call all of it is looked at
//! again: whatever changed in between, be it the tool or a decision, closes the gate.

use metier_approval::{Ask, shown_text};
use metier_session::SessionError;
use metier_session::content::Call;
use metier_workspace::Redactor;
use metier_workspace::executor::Live;
use serde_json::{Map, Value};

use super::error::{ForeignAdmission, ForeignRefusal};
use super::policy::{ToolPolicy, ToolVerdict, judge_tool};
use super::{ForeignCall, ForeignServers, PinnedTool, bounded};
use crate::host::{Answered, Decision, Question, ToolQuestion};
use crate::redaction;
use crate::stop::{Stop, TurnStopped};
use crate::thread::Thread;
use crate::tools::{Answer, ToolCallError};

/// A call that a model wants to make.
#[derive(Clone, Debug)]
pub(crate) struct ForeignWanted {
    /// The tool, as the session knows it.
    pub(crate) tool: PinnedTool,
    /// What it is given.
    pub(crate) arguments: Map<String, Value>,
}

/// A call that may be made.
#[derive(Debug)]
pub(crate) struct ForeignPermit {
    pub(crate) wanted: ForeignWanted,
    /// Whether it may be made although nobody allowed the tool for good.
    is_exception: bool,
}

/// Who decides about the calls of an agent.
#[derive(Clone, Copy)]
pub(crate) struct ForeignGate<'a> {
    pub(crate) servers: &'a ForeignServers,
    pub(crate) agent: &'a str,
    pub(crate) stop: &'a Stop,
    /// Masks the values of keys in what servers answer.
    pub(crate) redactor: &'a Redactor,
}

impl ForeignGate<'_> {
    /// Decides about a call, and asks a person if need be.
    pub(crate) async fn decide(
        &self,
        thread: &mut Thread,
        call: &Call,
        wanted: ForeignWanted,
    ) -> Result<ForeignAdmission, SessionError> {
        let policy = match self.policy().await {
            Ok(policy) => policy,
            Err(refusal) => return Ok(ForeignAdmission::Refused(refusal)),
        };
        let verdict = judge_tool(&wanted.tool, &policy);
        let reason = match &verdict {
            ToolVerdict::Allow(_) => {
                return Ok(Ok(ForeignPermit { wanted, is_exception: false }).into());
            }
            ToolVerdict::Deny { reason } => {
                return Ok(Err(ForeignRefusal::Denied { reason: reason.clone() }).into());
            }
            ToolVerdict::Ask { reason, .. } => reason.clone(),
        };
        let question = match self.question(&wanted, reason, policy.rules.ask).await {
            Ok(question) => question,
            Err(refusal) => return Ok(ForeignAdmission::Refused(refusal)),
        };
        let deciding = (&*self.servers.approver, &*self.servers.prompter);
        let decided = match question.put(deciding, self.stop, (thread, call)).await? {
            Answered::By(Decision::Once | Decision::Always) => {
                Ok(ForeignPermit { wanted, is_exception: true })
            }
            Answered::By(Decision::Deny) => Err(ForeignRefusal::ByUser),
            Answered::Stopped => Err(TurnStopped.into()),
            Answered::Nobody => match verdict.without_a_person(&wanted.tool, &policy.rules) {
                ToolVerdict::Allow(_) => Ok(ForeignPermit { wanted, is_exception: true }),
                ToolVerdict::Deny { reason } | ToolVerdict::Ask { reason, .. } => {
                    Err(ForeignRefusal::Denied { reason })
                }
            },
        };
        Ok(decided.into())
    }

    /// What a person is asked about a call, if all of it can be shown and the tool is what it was.
    async fn question(
        &self,
        wanted: &ForeignWanted,
        reason: String,
        ask: Ask,
    ) -> Result<Question, ForeignRefusal> {
        let arguments = serde_json::to_string_pretty(&wanted.arguments).unwrap_or_default();
        if let Err(source) = shown_text(&arguments) {
            return Err(ForeignRefusal::ArgumentsTooLong { source, reason });
        }
        tokio::select! {
            unchanged = self.unchanged(&wanted.tool) => unchanged?,
            () = self.stop.stopped() => return Err(TurnStopped.into()),
        }
        Ok(Question::Tool(Box::new(ToolQuestion {
            agent: self.agent.to_owned(),
            tool: wanted.tool.clone(),
            arguments,
            reason,
            // Where every call is asked about, what is kept would change nothing.
            can_be_kept: ask != Ask::Always,
        })))
    }

    /// Looks again at what may be called.
    async fn open(&self, permit: &ForeignPermit) -> Result<(), ForeignRefusal> {
        let tool = &permit.wanted.tool;
        self.unchanged(tool).await?;
        let by = match judge_tool(tool, &self.policy().await?) {
            ToolVerdict::Allow(by) => by,
            ToolVerdict::Ask { allowed_by, .. } if permit.is_exception => allowed_by,
            ToolVerdict::Ask { .. } | ToolVerdict::Deny { .. } => {
                return Err(ForeignRefusal::Changed);
            }
        };
        let ids: Vec<&str> = by.as_deref().into_iter().collect();
        match self.servers.approver.used(&ids, &format!("mcp:{tool}")).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(ForeignRefusal::Changed),
            Err(error) => Err(ForeignRefusal::Approver(error)),
        }
    }

    /// Makes a call that may be made, if it still may.
    pub(crate) async fn call(&self, permit: &ForeignPermit, live: Live) -> Answer {
        let ForeignWanted { tool, arguments } = &permit.wanted;
        let opened = tokio::select! {
            opened = self.open(permit) => opened,
            () = self.stop.stopped() => Err(TurnStopped.into()),
        };
        if let Err(refusal) = opened {
            return ToolCallError::from(refusal).into();
        }
        let call = ForeignCall { server: &tool.server, tool: &tool.tool, arguments };
        let live = redaction::live(self.redactor, live);
        let answer = self.servers.servers.call(call, self.stop, live).await;
        // Before it is cut: a part of a value would not be recognised.
        bounded(redaction::answer(self.redactor, answer))
    }

    async fn policy(&self) -> Result<ToolPolicy, ForeignRefusal> {
        let policy = self.servers.approver.tool_policy(self.agent).await;
        policy.map_err(ForeignRefusal::Approver)
    }

    /// Whether a server says of a tool what it said when the session began.
    async fn unchanged(&self, tool: &PinnedTool) -> Result<(), ForeignRefusal> {
        let now = self.servers.servers.tool(&tool.server, &tool.tool).await;
        let now = now.map_err(ForeignRefusal::Definition)?;
        if now.pinned() == *tool {
            return Ok(());
        }
        let PinnedTool { server, tool, .. } = tool.clone();
        Err(ForeignRefusal::Redefined { server, tool })
    }
}
