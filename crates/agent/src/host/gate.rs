//! The gate before the host.
//!
//! A command is judged as it was written. A person is asked where nobody allowed it, and what was asked and
//! answered are events of the session. What may run is judged again right before it does: whatever has
//! changed in between, be it a program, a script, a folder or a decision, closes the gate.

use std::fmt;
use std::path::{Path, PathBuf};

use metier_approval::{
    Action, Approved, Basis, Executable, Facts, FileFact, Pinned, Plan, Policy, Rules, Verdict,
    is_loader_variable, judge, parse, shown, shown_text,
};
use metier_sandbox::Walk;
use metier_session::SessionError;
use metier_session::content::Call;
use metier_skill::library::Snapshot;

use super::approver::{CommandQuestion, Decision, Question};
use super::error::{HostAdmission, HostRefusal};
use super::events::Answered;
use super::facts::Machine;
use super::prompter::Prompter;
use super::{Host, walk};
use crate::stop::{Stop, TurnStopped};
use crate::thread::Thread;

/// A command that wants to run on the host.
#[derive(Clone)]
pub(crate) struct Wanted {
    /// The command as it was written.
    pub(crate) text: String,
    /// Variables that its call sets.
    pub(crate) variables: Vec<(String, String)>,
    /// What it is given to read.
    pub(crate) stdin: Option<String>,
    /// Whether the model can type into it while it runs.
    pub(crate) is_talked_to: bool,
    /// Where it starts.
    pub(crate) directory: PathBuf,
    /// The folders in which its programs are looked for.
    pub(crate) path: Vec<PathBuf>,
    /// Folders of the session into which it may write.
    pub(crate) writable: Vec<PathBuf>,
}

/// Without the values of variables and what the command reads, which may be secret.
impl fmt::Debug for Wanted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.variables.iter().map(|(name, _)| name.as_str()).collect();
        formatter
            .debug_struct("Wanted")
            .field("text", &self.text)
            .field("variables", &names)
            .field("directory", &self.directory)
            .finish_non_exhaustive()
    }
}

/// A command that may run.
#[derive(Debug)]
pub(crate) struct Permit {
    wanted: Wanted,
    allowed: Allowed,
    /// Whether it may run although nobody allowed it for good: a person said so, or what holds where there
    /// is none.
    is_exception: bool,
}

/// What of a command may run.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Allowed {
    /// Exactly this.
    Plan(Box<Approved>),
    /// The text, given to this shell in this folder.
    Text(Box<(Executable, FileFact)>),
}

/// Who decides about the commands of an agent in a session.
#[derive(Clone, Copy)]
pub(crate) struct Gate<'a> {
    pub(crate) host: &'a Host,
    pub(crate) prompter: &'a dyn Prompter,
    pub(crate) agent: &'a str,
    pub(crate) skills: &'a Snapshot,
    pub(crate) stop: &'a Stop,
}

/// What a person has to decide.
struct Open {
    reason: String,
    plan: Option<Approved>,
    offer: Option<Vec<Pinned>>,
    /// What becomes of it without one.
    verdict: Verdict,
    rules: Rules,
}

/// What is decided by what people allowed.
enum Judged {
    Allowed(Permit),
    Open(Box<Open>),
}

impl Gate<'_> {
    /// Decides about a command, and asks a person if need be.
    pub(crate) async fn decide(
        &self,
        thread: &mut Thread,
        call: &Call,
        wanted: Wanted,
    ) -> Result<HostAdmission, SessionError> {
        match self.judge(&wanted).await {
            Ok(Judged::Allowed(permit)) => Ok(Ok(permit).into()),
            Ok(Judged::Open(open)) => self.ask(thread, call, wanted, *open).await,
            Err(refusal) => Ok(HostAdmission::Refused(refusal)),
        }
    }

    /// Decides about a command without asking anybody; nothing if a person has to decide.
    pub(crate) async fn allowed(&self, wanted: &Wanted) -> Result<Option<Permit>, HostRefusal> {
        match self.judge(wanted).await? {
            Judged::Allowed(permit) => Ok(Some(permit)),
            Judged::Open(_) => Ok(None),
        }
    }

    async fn judge(&self, wanted: &Wanted) -> Result<Judged, HostRefusal> {
        let mut names = wanted.variables.iter().map(|(name, _)| name);
        if let Some(name) = names.find(|name| is_loader_variable(name)) {
            return Err(HostRefusal::LoaderVariable { name: name.clone() });
        }
        let policy = self.policy(wanted).await?;
        let verdict = verdict(wanted, &policy);
        match verdict.clone() {
            Verdict::Allow(plan) => wanted.permit(Some(plan), false).map(Judged::Allowed),
            Verdict::AllowText { .. } => wanted.permit(None, false).map(Judged::Allowed),
            Verdict::Deny { reason } => Err(HostRefusal::Denied { reason }),
            Verdict::Ask { reason, plan, offer } => {
                let open = Open { reason, plan, offer, verdict, rules: policy.rules };
                Ok(Judged::Open(Box::new(open)))
            }
        }
    }

    async fn policy(&self, wanted: &Wanted) -> Result<Policy, HostRefusal> {
        let policy = self.host.approver.policy(self.agent, self.skills).await;
        let mut policy = policy.map_err(HostRefusal::Approver)?;
        // Beside the folders of a session that may be written are homes of programs, records and staged skills.
        let around = wanted.writable.iter().filter_map(|folder| folder.parent());
        policy.protected.session.extend(around.map(Path::to_owned));
        policy.writable.extend(wanted.writable.iter().cloned());
        Ok(policy)
    }

    /// Has a person decide.
    async fn ask(
        &self,
        thread: &mut Thread,
        call: &Call,
        wanted: Wanted,
        open: Open,
    ) -> Result<HostAdmission, SessionError> {
        if let Err(refusal) = can_be_shown(&wanted, &open) {
            return Ok(HostAdmission::Refused(refusal));
        }
        let Open { reason, plan, offer, verdict, rules } = open;
        // What a text would be given to is what it is now, not what it will be when the person has answered.
        let permit = wanted.permit(plan.clone(), true);
        let shell = match &permit {
            Ok(Permit { allowed: Allowed::Text(by), .. }) => Some(*by.clone()),
            _ => None,
        };
        let question = Question::Command(Box::new(CommandQuestion {
            agent: self.agent.to_owned(),
            tool: call.name.clone(),
            command: wanted.text.clone(),
            reason,
            plan,
            shell,
            directory: wanted.directory.display().to_string(),
            variables: wanted.variables.clone(),
            stdin: wanted.stdin.clone(),
            is_talked_to: wanted.is_talked_to,
            offer,
        }));
        let deciding = (&*self.host.approver, self.prompter);
        let answer = question.put(deciding, self.stop, (thread, call)).await?;
        let decided = match answer {
            Answered::By(Decision::Once | Decision::Always) => permit,
            Answered::By(Decision::Deny) => Err(HostRefusal::ByUser),
            Answered::Stopped => Err(TurnStopped.into()),
            Answered::Nobody => match verdict.without_a_person(&rules) {
                Verdict::Allow(plan) => wanted.permit(Some(plan), true),
                Verdict::Deny { reason }
                | Verdict::Ask { reason, .. }
                | Verdict::AllowText { reason } => Err(HostRefusal::Denied { reason }),
            },
        };
        Ok(decided.into())
    }

    /// Looks again at what may run, and gives it as it is run.
    pub(crate) async fn open(&self, permit: &Permit) -> Result<Walk, HostRefusal> {
        let wanted = &permit.wanted;
        let policy = self.policy(wanted).await?;
        let now = match verdict(wanted, &policy) {
            Verdict::Allow(plan) => wanted.allowed(Some(plan)),
            Verdict::AllowText { .. } => wanted.allowed(None),
            Verdict::Ask { plan, .. } if permit.is_exception => wanted.allowed(plan),
            Verdict::Ask { .. } | Verdict::Deny { .. } => return Err(HostRefusal::Changed),
        };
        let now = now?;
        if !is_same(&now, &permit.allowed) {
            return Err(HostRefusal::Changed);
        }
        match now {
            Allowed::Plan(plan) => {
                let ids: Vec<&str> =
                    plan.programs.iter().filter_map(|it| id_of(it.basis.as_ref())).collect();
                let command = shown(&plan).map(|it| it.lines.join("; ")).unwrap_or_default();
                match self.host.approver.used(&ids, &command).await {
                    Ok(true) => Ok(walk::of_plan(&plan)),
                    Ok(false) => Err(HostRefusal::Changed),
                    Err(error) => Err(HostRefusal::Approver(error)),
                }
            }
            Allowed::Text(by) => Ok(walk::of_text(&by.0, &wanted.text, &by.1)),
        }
    }
}

impl Wanted {
    fn facts(&self) -> Machine {
        Machine { path: self.path.clone() }
    }

    fn permit(&self, plan: Option<Approved>, is_exception: bool) -> Result<Permit, HostRefusal> {
        Ok(Permit { wanted: self.clone(), allowed: self.allowed(plan)?, is_exception })
    }

    /// A plan, or else the text with what it is given to.
    fn allowed(&self, plan: Option<Approved>) -> Result<Allowed, HostRefusal> {
        if let Some(plan) = plan {
            return Ok(Allowed::Plan(Box::new(plan)));
        }
        let facts = self.facts();
        let shell = ["bash", "sh"].iter().find_map(|it| facts.executable(&self.directory, it));
        let shell = shell.ok_or(HostRefusal::NoShell)?;
        let folder = facts.folder(&self.directory).ok_or(HostRefusal::Changed)?;
        Ok(Allowed::Text(Box::new((shell, folder))))
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

/// Whether a person can look at all of it.
fn can_be_shown(wanted: &Wanted, open: &Open) -> Result<(), HostRefusal> {
    let reason = || open.reason.clone();
    let command = match &open.plan {
        Some(plan) => shown(plan).map(drop),
        None => shown_text(&wanted.text).map(drop),
    };
    command.map_err(|source| HostRefusal::CommandTooLong { source, reason: reason() })?;
    let values = wanted.variables.iter().map(|(_, value)| value).chain(&wanted.stdin);
    for text in values {
        shown_text(text)
            .map_err(|source| HostRefusal::InputTooLong { source, reason: reason() })?;
    }
    Ok(())
}

/// Whether the same programs would run in the same way. Who allows them may have changed.
fn is_same(one: &Allowed, other: &Allowed) -> bool {
    let bare = |allowed: &Allowed| match allowed {
        Allowed::Plan(plan) => {
            let mut plan = plan.clone();
            plan.programs.iter_mut().for_each(|program| program.basis = None);
            Allowed::Plan(plan)
        }
        text @ Allowed::Text(_) => text.clone(),
    };
    bare(one) == bare(other)
}

fn id_of(basis: Option<&Basis>) -> Option<&str> {
    match basis? {
        Basis::Entry(id) | Basis::Remembered(id) => Some(id),
        _ => None,
    }
}
