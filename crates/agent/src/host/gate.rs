//! The gate before the host.
//!
//! A command is judged as it was written. A person is asked where nobody allowed it, and what was asked and
//! answered are events of the session. What may run is judged again right before it does: whatever has
//! changed in between, be it a program, a script, a folder or a decision, closes the gate.

use std::path::PathBuf;

use metier_approval::{
    Action, Approved, Basis, Facts, Pinned, Plan, Policy, Verdict, judge, parse, shown, shown_text,
};
use metier_sandbox::Walk;
use metier_session::content::{Approval, Call};
use metier_session::{Content, EventId, NewEvent};
use metier_skill::library::Snapshot;
use serde_json::{Value, json};

use super::approver::{Decision, Question};
use super::facts::Machine;
use super::{Host, walk};
use crate::agent::AgentError;
use crate::runner::SYSTEM;
use crate::stop::Stop;
use crate::thread::Thread;

/// What is said of a command that changed while it was decided.
const CHANGED: &str = "what would run is not what was allowed any more: a program, a script, a folder or a decision has changed";

/// A command that wants to run on the host.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    /// The command as it was written.
    pub(crate) text: String,
    /// Variables that its call sets.
    pub(crate) variables: Vec<(String, String)>,
    /// Where it starts.
    pub(crate) directory: PathBuf,
    /// The folders in which its programs are looked for.
    pub(crate) path: Vec<PathBuf>,
}

/// A command that may run.
#[derive(Debug)]
pub(crate) struct Permit {
    wanted: Wanted,
    plan: Allowed,
    /// Whether a person said so just now.
    by_person: bool,
}

/// What of a command may run.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Allowed {
    /// Exactly this.
    Plan(Box<Approved>),
    /// The text, given to a shell.
    Text,
}

/// Who decides about the commands of an agent in a session.
#[derive(Clone, Copy)]
pub(crate) struct Gate<'a> {
    pub(crate) host: &'a Host,
    pub(crate) agent: &'a str,
    pub(crate) skills: &'a Snapshot,
    pub(crate) stop: &'a Stop,
}

impl Gate<'_> {
    /// Decides about a command, and asks a person if need be. The inner error says why it may not run, in
    /// words for the model.
    pub(crate) async fn decide(
        &self,
        thread: &mut Thread,
        call: &Call,
        wanted: Wanted,
    ) -> Result<Result<Permit, String>, AgentError> {
        let policy = match self.host.approver.policy(self.agent, self.skills).await {
            Ok(policy) => policy,
            Err(why) => return Ok(Err(refusal(&why))),
        };
        let verdict = verdict(&wanted, &policy);
        let permit = |plan, by_person| Permit { wanted: wanted.clone(), plan, by_person };
        let (reason, plan, offer) = match verdict.clone() {
            Verdict::Allow(plan) => return Ok(Ok(permit(Allowed::Plan(Box::new(plan)), false))),
            Verdict::AllowText { .. } => return Ok(Ok(permit(Allowed::Text, false))),
            Verdict::Deny { reason } => return Ok(Err(refusal(&reason))),
            Verdict::Ask { reason, plan, offer } => (reason, plan, offer),
        };
        let is_shown = match &plan {
            Some(plan) => shown(plan).map(drop),
            None => shown_text(&wanted.text).map(drop),
        };
        if let Err(too_long) = is_shown {
            return Ok(Err(refusal(&format!("{too_long}; and {reason}"))));
        }
        let question = Question {
            agent: self.agent.to_owned(),
            tool: call.name.clone(),
            command: wanted.text.clone(),
            reason,
            plan: plan.clone(),
            directory: wanted.directory.display().to_string(),
            variables: wanted.variables.clone(),
            offer,
        };
        let event = asked(&question, call);
        let asked = event.id();
        thread.append(vec![event]).await?;
        let decision = tokio::select! {
            decision = self.host.approver.ask(&question) => decision,
            () = self.stop.stopped() => Some(Decision::Deny),
        };
        let kept = match (decision, &question.offer) {
            (Some(Decision::Always), Some(offer)) => Some(self.keep(offer).await),
            _ => None,
        };
        thread.append(vec![decided(asked, decision, kept.as_ref())]).await?;
        Ok(match decision {
            Some(Decision::Once | Decision::Always) => {
                let plan = plan.map_or(Allowed::Text, |plan| Allowed::Plan(Box::new(plan)));
                Ok(permit(plan, true))
            }
            Some(Decision::Deny) => Err(
                "the user did not allow this; do not try it in another way, say what you need it for"
                    .to_owned(),
            ),
            None => match verdict.without_a_person(&policy.rules) {
                Verdict::Allow(plan) => Ok(permit(Allowed::Plan(Box::new(plan)), true)),
                Verdict::Deny { reason } | Verdict::Ask { reason, .. } => Err(refusal(&reason)),
                Verdict::AllowText { .. } => Ok(permit(Allowed::Text, true)),
            },
        })
    }

    async fn keep(&self, offer: &[Pinned]) -> Result<(), String> {
        self.host.approver.remember(self.agent, offer).await
    }

    /// Looks again at what may run, and gives it as it is run.
    pub(crate) async fn open(&self, permit: &Permit) -> Result<Walk, String> {
        let policy = self.host.approver.policy(self.agent, self.skills).await;
        let policy = policy.map_err(|why| refusal(&why))?;
        let now = match verdict(&permit.wanted, &policy) {
            Verdict::Allow(plan) => Some(Allowed::Plan(Box::new(plan))),
            Verdict::AllowText { .. } => Some(Allowed::Text),
            Verdict::Ask { plan, .. } if permit.by_person => {
                Some(plan.map_or(Allowed::Text, |plan| Allowed::Plan(Box::new(plan))))
            }
            Verdict::Ask { .. } | Verdict::Deny { .. } => None,
        };
        match now {
            Some(now) if is_same(&now, &permit.plan) => self.walk(permit, &now).await,
            _ => Err(refusal(CHANGED)),
        }
    }

    async fn walk(&self, permit: &Permit, now: &Allowed) -> Result<Walk, String> {
        let wanted = &permit.wanted;
        match now {
            Allowed::Plan(plan) => {
                let ids: Vec<&str> =
                    plan.programs.iter().filter_map(|it| id_of(it.basis.as_ref())).collect();
                let command = shown(plan).map(|it| it.lines.join("; ")).unwrap_or_default();
                if !self.host.approver.used(&ids, &command).await {
                    return Err(refusal(CHANGED));
                }
                Ok(walk::of_plan(plan))
            }
            Allowed::Text => {
                let facts = wanted.facts();
                let shell =
                    ["bash", "sh"].iter().find_map(|it| facts.executable(&wanted.directory, it));
                let shell =
                    shell.ok_or_else(|| refusal("there is no shell to give the command to"))?;
                let folder = facts.folder(&wanted.directory).ok_or_else(|| refusal(CHANGED))?;
                Ok(walk::of_text(&shell, &wanted.text, &folder))
            }
        }
    }
}

impl Wanted {
    fn facts(&self) -> Machine {
        Machine { path: self.path.clone() }
    }
}

/// What is decided about a command by what people allowed.
fn verdict(wanted: &Wanted, policy: &Policy) -> Verdict {
    let plan = parse(&wanted.text).map(|plan| with_variables(plan, &wanted.variables));
    judge(&plan, &wanted.directory, &wanted.facts(), policy)
}

/// A plan in which every program has the variables of its call, as it will.
fn with_variables(mut plan: Plan, variables: &[(String, String)]) -> Plan {
    for step in &mut plan.steps {
        if let Action::Run(commands) = &mut step.action {
            for command in commands {
                command.variables.splice(0..0, variables.iter().cloned());
            }
        }
    }
    plan
}

/// Whether the same programs would run in the same way. Who allows them may have changed.
fn is_same(one: &Allowed, other: &Allowed) -> bool {
    let bare = |allowed: &Allowed| match allowed {
        Allowed::Text => None,
        Allowed::Plan(plan) => {
            let mut plan = plan.clone();
            plan.programs.iter_mut().for_each(|program| program.basis = None);
            Some(plan)
        }
    };
    bare(one) == bare(other)
}

fn id_of(basis: Option<&Basis>) -> Option<&str> {
    match basis? {
        Basis::Entry(id) | Basis::Remembered(id) => Some(id),
        _ => None,
    }
}

/// The event of a question.
fn asked(question: &Question, call: &Call) -> NewEvent {
    let lines = match &question.plan {
        Some(plan) => shown(plan),
        None => shown_text(&question.command),
    };
    let request = json!({
        "call": call.id,
        "tool": question.tool,
        "command": lines.map(|it| it.lines).unwrap_or_default(),
        "directory": question.directory,
        "reason": question.reason,
        "programs": question.plan.as_ref().map(programs),
    });
    approval(request, Value::Null)
}

fn programs(plan: &Approved) -> Vec<String> {
    plan.programs.iter().map(|it| it.program.file.real.display().to_string()).collect()
}

/// The event of an answer.
fn decided(
    asked: EventId,
    decision: Option<Decision>,
    kept: Option<&Result<(), String>>,
) -> NewEvent {
    let word = match decision {
        Some(decision) => serde_json::to_value(decision).unwrap_or_default(),
        None => json!("nobody"),
    };
    let mut answer = json!({ "answer": word });
    if let Some(Err(why)) = kept {
        answer["not_kept"] = json!(why);
    }
    approval(json!({ "event": asked }), answer)
}

fn approval(request: Value, decision: Value) -> NewEvent {
    let approval = Approval { request, decision, ..Approval::default() };
    NewEvent::new(SYSTEM, Content::Approval(approval))
}

fn refusal(reason: &str) -> String {
    format!("this was not run: {reason}")
}
