//! Running the calls of a reply: lookups one after the other, commands beside each other, results in the
//! order of the calls.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream;
use metier_model::ToolSpec;
use metier_sandbox::Cancel;
use metier_session::Delta;
use metier_session::content::Call;
use metier_skill::library::Snapshot;
use metier_workspace::executor::Live;
use serde_json::{Map, Value, json};
use tracing::{Instrument, Span};

use crate::agent::{Agent, AgentError, Progress, Watcher};
use crate::choice::{NONE, NOTHING_LOADED, is_none};
use crate::draft::Draft;
use crate::fence::{self, Code};
use crate::fetched::Fetched;
use crate::foreign::{
    self, ForeignAdmission, ForeignGate, ForeignPermit, ForeignRefusal, ForeignWanted, PinnedTool,
};
use crate::host::{Admission, Gate, HostAdmission, Permit};
use crate::prompt;
use crate::session_identity::workspace_key;
use crate::spans;
use crate::stop::{Stop, TurnStopped};
use crate::thread::Thread;
use crate::tools::process::process;
use crate::tools::read::{Shelves, read};
use crate::tools::run::Prepared;
use crate::tools::specs::name;
use crate::tools::{
    Answer, Runs, Situation, Tool, ToolArgumentsError, ToolCall, ToolCallError, own,
};

/// What is left to do for a call; else it is answered.
type Planned = Result<Plan, Box<Answer>>;

/// What a call wants, if somebody allows it.
enum Plan {
    Run(Box<Prepared>),
    Call(ForeignWanted),
    /// A tool of the program, about which nobody has to decide.
    Own(Arc<dyn Tool>, Map<String, Value>),
}

/// What becomes of a call once it is known whether it may run.
enum Admitted {
    Answered(Box<Answer>),
    Run(Box<Prepared>, Option<Box<Permit>>, Span),
    Call(Box<ForeignPermit>, Span),
    Own(Arc<dyn Tool>, Map<String, Value>, Span),
}

/// The calls of one reply, with what they share.
struct Round<'a> {
    agent: &'a Agent,
    key: metier_session::SessionKey,
    watcher: Watcher,
    skills: Fetched<'a>,
    runs: Runs,
    tools: Vec<ToolSpec>,
    /// Those of other servers, by their names in this session.
    foreign: BTreeMap<String, PinnedTool>,
    stop: &'a Stop,
}

impl Agent {
    /// Runs calls and writes down what came of each.
    pub(crate) async fn run_tools(
        &self,
        thread: &mut Thread,
        calls: Vec<Call>,
        stop: &Stop,
    ) -> Result<(), AgentError> {
        let snapshot = self.library.snapshot();
        let round = Round::with_tools(self, thread, &snapshot, stop);
        let answers = round.answer(thread, &calls).await?;
        let responses = calls.iter().zip(answers).map(|(call, answer)| self.response(call, answer));
        let responses = responses.collect();
        Ok(thread.append(responses).await?)
    }

    /// Runs a call that a person made.
    pub(crate) async fn run_dispatched(
        &self,
        thread: &mut Thread,
        call: &Call,
        stop: &Stop,
    ) -> Result<Answer, AgentError> {
        let snapshot = self.library.snapshot();
        let round = Round::with_tools(self, thread, &snapshot, stop);
        // Who calls a skill by its name need not have it loaded first.
        let runs = Runs { load_first: false, ..round.runs.clone() };
        let round = Round { runs, ..round };
        let answers = round.answer(thread, std::slice::from_ref(call)).await?;
        Ok(answers.into_iter().next().unwrap_or_default())
    }

    /// Runs the code of a reply and writes down what came of it.
    pub(crate) async fn run_code(
        &self,
        thread: &mut Thread,
        code: &Code,
        stop: &Stop,
    ) -> Result<(), AgentError> {
        // For whoever watches, and for nobody else: the model made no call.
        let arguments = json!({ "command": code.text }).to_string();
        let call = Call { name: fence::CAUSE.to_owned(), arguments, ..Call::default() };
        let snapshot = self.library.snapshot();
        let round = Round::new(self, thread, &snapshot, stop);
        thread.tell(&Progress::Started(&call));
        let draft = Draft::new(self, thread, &Delta::new());
        let answer = match round.prepare_code(code, &draft).await {
            Ok(run) => {
                let span = spans::tool(&call, thread.at.key.session(), true);
                let admitted = round.admit(thread, &call, run, span).await?;
                round.work(&call, admitted).await?
            }
            Err(error) => error.into(),
        };
        Ok(thread.append(vec![self.code_result(answer)]).await?)
    }

    fn runs(&self, thread: &Thread) -> Runs {
        Runs {
            runner: self.runner.never_degraded(),
            key: workspace_key(&thread.at),
            load_first: self.settings.load_before_run,
            start: self.on_host().map(|host| host.folder.clone()),
            restriction: self.settings.restriction.clone(),
        }
    }
}

impl<'a> Round<'a> {
    /// A round in which the model has no tools.
    fn new(agent: &'a Agent, thread: &Thread, snapshot: &'a Snapshot, stop: &'a Stop) -> Self {
        Self {
            agent,
            key: thread.at.key.clone(),
            watcher: thread.watcher(),
            skills: Fetched::new(&agent.library, snapshot, stop),
            runs: agent.runs(thread),
            tools: Vec::new(),
            foreign: BTreeMap::new(),
            stop,
        }
    }

    /// A round in which the model has the tools of the session.
    fn with_tools(
        agent: &'a Agent,
        thread: &Thread,
        snapshot: &'a Snapshot,
        stop: &'a Stop,
    ) -> Self {
        let tools = prompt::tools_of(&thread.opening);
        let foreign = foreign::tools_in(&thread.opening);
        Self { tools, foreign, ..Self::new(agent, thread, snapshot, stop) }
    }

    /// The answers to calls, in their order.
    async fn answer(&self, thread: &mut Thread, calls: &[Call]) -> Result<Vec<Answer>, AgentError> {
        let mut planned = Vec::new();
        let mut draft = Draft::new(self.agent, thread, &Delta::new());
        for call in calls {
            thread.tell(&Progress::Started(call));
            // What a tool of another server is called is what a stranger wrote.
            let is_ours = self.has_tool(&call.name) && !self.foreign.contains_key(&call.name);
            let span = spans::tool(call, self.key.session(), is_ours);
            let plan = self.plan(call, &draft).instrument(span.clone()).await;
            match plan.unwrap_or_else(|error| Err(Box::new(error.into()))) {
                Err(answer) => {
                    spans::answered(&span, &answer);
                    draft.add(call, *answer);
                    planned.push(None);
                }
                Ok(plan) => planned.push(Some((plan, span))),
            }
        }
        let mut drafted = draft.into_answers().into_iter();
        let mut admitted = Vec::new();
        for (call, planned) in calls.iter().zip(planned) {
            admitted.push(match planned {
                None => Admitted::Answered(Box::new(drafted.next().unwrap_or_default())),
                Some((Plan::Run(run), span)) => self.admit(thread, call, *run, span).await?,
                Some((Plan::Call(wanted), span)) => {
                    self.admit_call(thread, call, wanted, span).await?
                }
                Some((Plan::Own(tool, arguments), span)) => Admitted::Own(tool, arguments, span),
            });
        }
        let working = calls.iter().zip(admitted).map(|(call, it)| self.work(call, it));
        let working: Vec<_> = working.collect();
        let most = self.agent.settings.parallel_tools.max(1);
        let answers = stream::iter(working).buffered(most).collect::<Vec<_>>().await;
        answers.into_iter().collect()
    }

    /// Does what may be done.
    async fn work(&self, call: &Call, admitted: Admitted) -> Result<Answer, AgentError> {
        match admitted {
            Admitted::Answered(answer) => Ok(*answer),
            Admitted::Run(run, permit, span) => self.carry_out(call, *run, permit, span).await,
            Admitted::Call(permit, span) => Ok(self.call_out(call, &permit, span).await),
            Admitted::Own(tool, arguments, span) => {
                Ok(self.call_own(call, &*tool, &arguments, span).await)
            }
        }
    }

    /// Calls a tool of the program, until the turn is stopped.
    async fn call_own(
        &self,
        call: &Call,
        tool: &dyn Tool,
        arguments: &Map<String, Value>,
        span: Span,
    ) -> Answer {
        let made = ToolCall { arguments, session: &self.key, id: &call.id };
        let answer = own::call(tool, made, self.stop).instrument(span.clone()).await;
        spans::answered(&span, &answer);
        answer
    }

    /// Lets a call of a tool of another server through that somebody allows.
    async fn admit_call(
        &self,
        thread: &mut Thread,
        call: &Call,
        wanted: ForeignWanted,
        span: Span,
    ) -> Result<Admitted, AgentError> {
        if self.stop.is_stopped() {
            return Ok(refused(TurnStopped, &span));
        }
        let Some(gate) = self.foreign_gate() else {
            return Ok(refused(unused(&wanted.tool), &span));
        };
        Ok(match gate.decide(thread, call, wanted).await? {
            ForeignAdmission::Refused(refusal) => refused(refusal, &span),
            ForeignAdmission::Permitted(permit) => Admitted::Call(permit, span),
        })
    }

    /// Who decides about tools of other servers.
    fn foreign_gate(&self) -> Option<ForeignGate<'_>> {
        let servers = self.agent.foreign.as_ref()?;
        let (agent, redactor) = (&self.agent.name, &self.agent.runner.redactor);
        Some(ForeignGate { servers, agent, stop: self.stop, redactor })
    }

    /// Calls a tool of another server.
    async fn call_out(&self, call: &Call, permit: &ForeignPermit, span: Span) -> Answer {
        let answer = match self.foreign_gate() {
            Some(gate) => gate.call(permit, self.live(call)).instrument(span.clone()).await,
            None => ToolCallError::from(unused(&permit.wanted.tool)).into(),
        };
        spans::answered(&span, &answer);
        answer
    }

    /// Tells whoever watches what a call writes.
    fn live(&self, call: &Call) -> Live {
        let (watcher, told) = (Arc::clone(&self.watcher), call.clone());
        Box::new(move |stream, bytes: &[u8]| watcher(&Progress::Output(&told, stream, bytes)))
    }

    /// Lets a command through that is confined, or that somebody allows on the host.
    async fn admit(
        &self,
        thread: &mut Thread,
        call: &Call,
        run: Prepared,
        span: Span,
    ) -> Result<Admitted, AgentError> {
        let permit = match self.admission().decide(thread, call, &run).await? {
            HostAdmission::Confined => None,
            HostAdmission::Permitted(permit) => Some(permit),
            HostAdmission::Refused(refusal) => return Ok(refused(refusal, &span)),
        };
        Ok(Admitted::Run(Box::new(run), permit, span))
    }

    /// The way of commands to where they run.
    fn admission(&self) -> Admission<'_> {
        let (agent, stop) = (self.agent, self.stop);
        let gate = agent.on_host().map(|host| Gate {
            host,
            prompter: &*host.prompter,
            agent: &agent.name,
            skills: self.skills.snapshot,
            stop,
        });
        Admission { runs: &self.runs, gate, stop }
    }

    /// Prepares code of a reply.
    async fn prepare_code(
        &self,
        code: &Code,
        draft: &Draft<'_>,
    ) -> Result<Prepared, ToolCallError> {
        loop {
            let at = self.agent.situation(draft, &self.skills);
            let prepared = self.runs.prepare_code(code, &at);
            if !self.skills.fetch().await? {
                return Ok(prepared?);
            }
        }
    }

    /// Looks something up, or prepares a command.
    async fn plan(&self, call: &Call, draft: &Draft<'_>) -> Result<Planned, ToolCallError> {
        loop {
            let plan = self.plan_with_what_is_here(call, draft).await;
            if !self.skills.fetch().await? {
                return plan;
            }
        }
    }

    async fn plan_with_what_is_here(
        &self,
        call: &Call,
        draft: &Draft<'_>,
    ) -> Result<Planned, ToolCallError> {
        let at = self.agent.situation(draft, &self.skills);
        if !self.has_tool(&call.name) {
            return Ok(Err(Box::new(self.without_tool(&call.name, &at)?)));
        }
        let arguments = arguments_of(call)?;
        if let Some(tool) = self.foreign.get(&call.name) {
            let arguments = object_of(arguments, call)?;
            return Ok(Ok(Plan::Call(ForeignWanted { tool: tool.clone(), arguments })));
        }
        let answer = match call.name.as_str() {
            name::LOAD | name::SKILL if self.chose_none(&arguments, &at) => {
                Answer::text(NOTHING_LOADED)
            }
            name::LOAD => at.load(&arguments)?,
            name::SELECT_DOCS => at.select_docs(&arguments)?,
            name::LIST_DOCS => at.list_docs(&arguments)?,
            name::SEARCH => at.search(&arguments)?,
            name::SKILL => at.load_single(&arguments)?,
            name::READ_FILE | name::READ => {
                read(&call.name, &arguments, self.shelves(), &at).await?
            }
            name::PROCESS => tokio::select! {
                answer = process(&arguments, &self.agent.programs, &self.runs.key) => answer?,
                () = self.stop.stopped() => return Err(TurnStopped.into()),
            },
            name::RUN => return Ok(Ok(Plan::Run(self.runs.prepare(&arguments, &at)?.into()))),
            name::EXEC => {
                return Ok(Ok(Plan::Run(self.runs.prepare_exec(&arguments, &at)?.into())));
            }
            other => {
                let tool = own::find(&self.agent.tools, other)?;
                return Ok(Ok(Plan::Own(tool, object_of(arguments, call)?)));
            }
        };
        Ok(Err(Box::new(answer)))
    }

    /// Answers the call of a tool that there is not. Weak models call a skill as if it were one.
    fn without_tool(&self, name: &str, at: &Situation<'_>) -> Result<Answer, ToolCallError> {
        match at.usable(name) {
            Ok(_) if self.has_tool(name::SKILL) => at.load_single(&json!({ "skill_name": name })),
            Ok(_) => at.load(&json!({ "skill": name })),
            Err(_) => Ok(self.unknown_tool(name)),
        }
    }

    fn unknown_tool(&self, name: &str) -> Answer {
        let tools: Vec<&str> = self.tools.iter().map(|tool| tool.name.as_str()).collect();
        Answer::unknown_tool(name, &tools)
    }

    fn has_tool(&self, name: &str) -> bool {
        self.tools.iter().any(|tool| tool.name == name)
    }

    /// Whether the model was made to choose, and chose no skill.
    fn chose_none(&self, arguments: &Value, at: &Situation<'_>) -> bool {
        self.agent.settings.constrained && is_none(arguments) && at.usable(NONE).is_err()
    }

    fn shelves(&self) -> Shelves<'_> {
        let runner = &self.agent.runner;
        Shelves {
            workspaces: &runner.workspaces,
            key: &self.runs.key,
            artifacts: &*runner.artifacts,
            redactor: &self.agent.runner.redactor,
            host: self.agent.on_host(),
        }
    }

    async fn carry_out(
        &self,
        call: &Call,
        mut prepared: Prepared,
        permit: Option<Box<Permit>>,
        span: Span,
    ) -> Result<Answer, AgentError> {
        if let Err(refusal) = self.admission().open(&mut prepared, permit.as_deref()).await {
            let answer = ToolCallError::from(refusal).into();
            spans::answered(&span, &answer);
            return Ok(answer);
        }
        let cancel = Cancel::new()?;
        let programs = &self.agent.programs;
        let live = self.live(call);
        let running = self.runs.run(prepared, programs, self.stop, (live, cancel.clone()));
        let running = running.instrument(span.clone());
        let answer = self.stop.cancelling(&cancel, running).await;
        spans::answered(&span, &answer);
        Ok(answer)
    }
}

/// The answer to a call that may not be made.
fn refused(refusal: impl Into<ToolCallError>, span: &Span) -> Admitted {
    let answer = Answer::from(refusal.into());
    spans::answered(span, &answer);
    Admitted::Answered(Box::new(answer))
}

/// The refusal of a tool of a server that is not used any more.
fn unused(tool: &PinnedTool) -> ForeignRefusal {
    ForeignRefusal::UnusedServer { server: tool.server.clone() }
}

/// Arguments that are an object, as those of all tools of others.
fn object_of(arguments: Value, call: &Call) -> Result<Map<String, Value>, ToolArgumentsError> {
    match arguments {
        Value::Object(arguments) => Ok(arguments),
        _ => Err(ToolArgumentsError::NotObject { tool: call.name.clone() }),
    }
}

/// The arguments of a call. A call without any text for them was cut off: those of a whole reply have
/// at least an empty object.
fn arguments_of(call: &Call) -> Result<Value, ToolArgumentsError> {
    serde_json::from_str(&call.arguments)
        .map_err(|source| ToolArgumentsError::NotJson { tool: call.name.clone(), source })
}
