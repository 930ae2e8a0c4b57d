//! The turn: what has to happen next, as a function of what has happened.
//!
//! A turn begins with a message of a person and ends when the model has nothing more to ask for. This
//! module does no I/O and keeps nothing: given the events of a turn it says what to do next, so a
//! turn that was interrupted anywhere goes on by asking again. Talking to models, running tools and
//! appending events belongs to [`Agent::run`](crate::Agent::run).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use metier_session::content::{AssistantMessage, Call, StateUpdate, ToolResponse};
use metier_session::{Content, Event};
use serde_json::Value;

use crate::dispatch;
use crate::fence::{self, Code, code_of};
use crate::tools::result::is_of_unknown_tool;

/// How much one turn may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TurnLimits {
    /// Requests to the model.
    pub requests: usize,
    /// Tokens, read and written, over all requests; what came from a cache counts too.
    pub tokens: Option<u64>,
    /// How often the same call may give the same result before the turn ends.
    pub repeats: usize,
    /// How many replies in a row may call nothing but tools that do not exist.
    pub unknown_tools: usize,
    /// Whether code in a reply without calls is run.
    pub run_code: bool,
}

impl Default for TurnLimits {
    fn default() -> Self {
        Self { requests: 50, tokens: None, repeats: 4, unknown_tools: 3, run_code: false }
    }
}

/// What has to happen next.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub enum Step {
    /// Send the conversation to the model and append its reply.
    AskModel {
        /// Whether the turn has no request left after this one, which the model should know.
        is_last: bool,
    },
    /// Run these calls and append a response to each.
    RunTools(Vec<Call>),
    /// Append a response to each of these calls that says why they are not run.
    RefuseTools(Vec<Call>, Ending),
    /// Run the code of the reply and append what came of it.
    RunCode(Code),
    /// Nothing: the turn is over.
    Done(Ending),
}

/// How a turn ends.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending {
    /// The model has answered.
    Answered,
    /// It said nothing at all.
    Silent,
    /// It refused.
    Refused,
    /// Its answer became too long and is not whole.
    CutOff,
    /// The provider cut off what it said.
    Filtered,
    /// It used up the requests of a turn.
    OutOfRequests,
    /// It used up the tokens of a turn.
    OutOfTokens,
    /// It made the same call again and again, with the same result.
    Looping {
        /// The tool it called.
        tool: String,
    },
    /// It called nothing but tools that do not exist.
    UnknownTools,
    /// It was stopped from outside.
    Stopped,
}

/// Of a turn that ended without an answer.
impl std::error::Error for Ending {}

impl fmt::Display for Ending {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answered => formatter.write_str("the model has answered"),
            Self::Silent => formatter.write_str("the model said nothing"),
            Self::Refused => formatter.write_str("the model refused"),
            Self::CutOff => formatter.write_str("the answer became too long and is not whole"),
            Self::Filtered => formatter.write_str("the provider cut off the answer"),
            Self::OutOfRequests => formatter.write_str("the turn has no request left"),
            Self::OutOfTokens => formatter.write_str("the turn has no tokens left"),
            Self::Looping { tool } => {
                write!(formatter, "the model called `{tool}` again and again with the same result")
            }
            Self::UnknownTools => {
                formatter.write_str("the model called only tools that do not exist")
            }
            Self::Stopped => formatter.write_str("it was stopped"),
        }
    }
}

/// Why a model stopped, as events say it.
pub mod stop {
    /// It had said what it wanted to say.
    pub const END: &str = "end";
    /// It waits for the results of its calls.
    pub const CALLS: &str = "calls";
    /// The reply became too long.
    pub const LENGTH: &str = "length";
    /// It refused.
    pub const REFUSAL: &str = "refusal";
    /// The provider cut it off.
    pub const FILTERED: &str = "filtered";
    /// Something else.
    pub const OTHER: &str = "other";
}

/// What has to happen next in a turn with these events, of which the first is what a person said.
///
/// ```
/// use metier_agent::turn::{Ending, Step, TurnLimits, next};
/// use metier_session::content::{AssistantMessage, Call, Part, Text, ToolResponse, UserMessage};
/// use metier_session::{Content, Event, NewEvent};
///
/// /// Adds what happened to the events of a turn, as a store would number it.
/// fn add(events: &mut Vec<Event>, content: Content) {
///     events.push(NewEvent::new("demo", content).preview(events.len() as u64 + 1));
/// }
/// let reply = |part| Content::Assistant(AssistantMessage { parts: vec![part], ..AssistantMessage::default() });
///
/// let (mut events, limits) = (Vec::new(), TurnLimits::default());
/// add(&mut events, Content::User(UserMessage { text: "What day is it?".to_owned(), ..UserMessage::default() }));
/// assert_eq!(next(&events, &limits), Step::AskModel { is_last: false });
///
/// // The model wants a tool to be called.
/// let call = Call { id: "1".to_owned(), name: "today".to_owned(), ..Call::default() };
/// add(&mut events, reply(Part::Call(call.clone())));
/// assert_eq!(next(&events, &limits), Step::RunTools(vec![call]));
///
/// let (call, text) = ("1".to_owned(), "Monday".to_owned());
/// add(&mut events, Content::ToolResponse(ToolResponse { call, text, ..ToolResponse::default() }));
/// assert_eq!(next(&events, &limits), Step::AskModel { is_last: false });
///
/// // A turn of one request would end here.
/// let short = TurnLimits { requests: 1, ..limits };
/// assert_eq!(next(&events, &short), Step::Done(Ending::OutOfRequests));
///
/// add(&mut events, reply(Part::Text(Text { text: "It is Monday.".to_owned(), ..Text::default() })));
/// assert_eq!(next(&events, &limits), Step::Done(Ending::Answered));
/// ```
pub fn next(events: &[Event], limits: &TurnLimits) -> Step {
    let mut turn = Turn::default();
    for event in events {
        turn.used +=
            event.usage.as_ref().map_or(0, |usage| usage.input_tokens + usage.output_tokens);
        match &event.content {
            Content::User(message) => turn.is_for_tool = message.extra.contains_key(dispatch::TOOL),
            Content::Assistant(message) => turn.reply(message),
            Content::ToolResponse(response) => turn.response(response),
            Content::StateUpdate(update) if update.cause == fence::CAUSE => {
                turn.ran(update);
            }
            Content::StateUpdate(update) if update.cause == dispatch::CAUSE => {
                turn.has_answer = true;
            }
            _ => {}
        }
    }
    turn.next(limits)
}

/// What matters of the events of a turn.
#[derive(Default)]
struct Turn<'a> {
    requests: usize,
    used: u64,
    /// The last reply.
    reply: Option<&'a AssistantMessage>,
    /// Calls of the last reply that nobody has answered yet.
    open: Vec<&'a Call>,
    /// Calls of the last reply.
    calls: Vec<&'a Call>,
    /// How often each call gave its last result, in a row.
    repeats: BTreeMap<(&'a str, &'a str), (Cow<'a, str>, usize)>,
    /// Replies in a row of which no call met a tool.
    unknown: usize,
    met_a_tool: bool,
    /// Whether what the person said was for a tool.
    is_for_tool: bool,
    /// Whether that tool has answered.
    has_answer: bool,
    /// Whether the code of the last reply was run.
    has_run: bool,
    /// The code that was run last, what came of it, and how often that was so in a row.
    code: Option<(Code, Cow<'a, str>, usize)>,
}

impl<'a> Turn<'a> {
    fn reply(&mut self, message: &'a AssistantMessage) {
        self.requests += 1;
        self.calls = message.calls().collect();
        self.open.clone_from(&self.calls);
        self.reply = Some(message);
        self.met_a_tool = false;
        self.has_run = false;
    }

    fn ran(&mut self, update: &'a StateUpdate) {
        let Some(code) = self.reply.and_then(code_of).filter(|_| !self.has_run) else { return };
        self.has_run = true;
        let text = update.text.as_deref().unwrap_or_default();
        let result = lasting(text, update.extra.get(fence::STRUCTURED));
        let times = match &self.code {
            Some((known, before, times)) if *known == code && *before == result => *times,
            _ => 0,
        };
        self.code = Some((code, result, times + 1));
    }

    fn response(&mut self, response: &'a ToolResponse) {
        let Some(index) = self.open.iter().position(|call| call.id == response.call) else {
            return;
        };
        let call = self.open.remove(index);
        let result = lasting(&response.text, Some(&response.structured));
        let known = (result.clone(), 0);
        let (before, count) = self.repeats.entry((&call.name, &call.arguments)).or_insert(known);
        if *before != result {
            (*before, *count) = (result, 0);
        }
        *count += 1;
        self.met_a_tool |= !is_of_unknown_tool(response);
        if self.open.is_empty() {
            self.unknown = if self.met_a_tool { 0 } else { self.unknown + 1 };
        }
    }

    fn next(&self, limits: &TurnLimits) -> Step {
        let Some(reply) = self.reply else {
            if self.has_answer {
                return Step::Done(Ending::Answered);
            }
            if self.is_for_tool {
                return Step::Done(Ending::Stopped);
            }
            return Step::AskModel { is_last: limits.requests <= 1 };
        };
        let over = self.over(limits);
        if self.calls.is_empty() && !self.has_run {
            return match self.code_to_run(reply, limits) {
                // Nobody could be told what came of it.
                Some(code) if over.is_none() => Step::RunCode(code),
                _ => Step::Done(ending(reply)),
            };
        }
        if !self.open.is_empty() {
            let open = self.open.iter().map(|call| (*call).clone()).collect();
            return match over {
                Some(ending) => Step::RefuseTools(open, ending),
                None => Step::RunTools(open),
            };
        }
        match over.or_else(|| self.stuck(limits)) {
            Some(ending) => Step::Done(ending),
            None => Step::AskModel { is_last: self.requests + 1 >= limits.requests },
        }
    }

    fn code_to_run(&self, reply: &AssistantMessage, limits: &TurnLimits) -> Option<Code> {
        let is_whole = ending(reply) == Ending::Answered;
        (limits.run_code && is_whole).then(|| code_of(reply)).flatten()
    }

    /// Whether no request is left.
    fn over(&self, limits: &TurnLimits) -> Option<Ending> {
        if self.requests >= limits.requests {
            return Some(Ending::OutOfRequests);
        }
        let is_out = limits.tokens.is_some_and(|tokens| self.used >= tokens);
        is_out.then_some(Ending::OutOfTokens)
    }

    /// Whether going on makes no sense.
    fn stuck(&self, limits: &TurnLimits) -> Option<Ending> {
        if self.unknown >= limits.unknown_tools {
            return Some(Ending::UnknownTools);
        }
        let is_stuck = |call: &&&Call| {
            let seen = self.repeats.get(&(call.name.as_str(), call.arguments.as_str()));
            seen.is_some_and(|(_, count)| *count >= limits.repeats)
        };
        if self.has_run && self.code.as_ref().is_some_and(|(_, _, times)| *times >= limits.repeats)
        {
            return Some(Ending::Looping { tool: fence::CAUSE.to_owned() });
        }
        let call = self.calls.iter().find(is_stuck)?;
        Some(Ending::Looping { tool: call.name.clone() })
    }
}

/// A result without what differs from run to run though the same has happened.
fn lasting<'a>(text: &'a str, structured: Option<&Value>) -> Cow<'a, str> {
    let members = structured.and_then(Value::as_object);
    let Some((members, run)) = members.and_then(|it| Some((it, it.get("run")?.as_str()?))) else {
        return Cow::Borrowed(text);
    };
    let is_lasting = |(name, _): &(&String, &Value)| name.as_str() != "duration_ms";
    let members: BTreeMap<_, _> = members.iter().filter(is_lasting).collect();
    // Folders of a run have its name.
    Cow::Owned(serde_json::to_string(&members).unwrap_or_default().replace(run, ""))
}

fn ending(reply: &AssistantMessage) -> Ending {
    match reply.stop_reason.as_deref() {
        Some(stop::REFUSAL) => Ending::Refused,
        Some(stop::LENGTH) => Ending::CutOff,
        Some(stop::FILTERED) => Ending::Filtered,
        _ if reply.text().trim().is_empty() => Ending::Silent,
        _ => Ending::Answered,
    }
}

/// The events of the last turn: from what a person said last.
pub fn last_turn(events: &[Event]) -> &[Event] {
    let begin = events.iter().rposition(|event| matches!(event.content, Content::User(_)));
    begin.map_or(&[], |begin| &events[begin..])
}

#[cfg(test)]
mod tests {
    use metier_session::content::{Part, Text, UserMessage};
    use metier_session::{NewEvent, Usage};
    use serde_json::json;

    use super::*;

    const LIMITS: TurnLimits =
        TurnLimits { requests: 4, tokens: Some(100), repeats: 2, unknown_tools: 2, run_code: true };

    /// Events in short: `user`, `say WHY`, `silence`, `code TEXT`, `cut TEXT` for code that is not whole,
    /// `ran TEXT`, `call ID…`, `result ID TEXT`, `unknown ID`; each reply costs ten tokens, `dear ID…` is a
    /// call that costs a hundred. What a call asks for is its id without the digits at its end.
    fn event(seq: usize, text: &str) -> Event {
        let (kind, rest) = text.split_once(' ').unwrap_or((text, ""));
        let reply = |stop: &str, parts: Vec<Part>, tokens: u64| {
            let stop_reason = Some(stop.to_owned());
            let message = AssistantMessage { parts, stop_reason, ..AssistantMessage::default() };
            let usage = Usage { input_tokens: tokens, ..Usage::default() };
            NewEvent::new("agent", Content::Assistant(message)).with_usage(usage)
        };
        let calls = || {
            let name = |id: &str| id.trim_end_matches(|it: char| it.is_ascii_digit()).to_owned();
            let call = |id: &str| Call { id: id.to_owned(), name: name(id), ..Call::default() };
            rest.split(' ').map(|id| Part::Call(call(id))).collect()
        };
        let words =
            |text: &str| vec![Part::Text(Text { text: text.to_owned(), ..Text::default() })];
        let response = |call: &str, text: &str, structured| {
            let (call, text) = (call.to_owned(), text.to_owned());
            let response = ToolResponse { call, text, structured, ..ToolResponse::default() };
            NewEvent::new("agent", Content::ToolResponse(response))
        };
        let new = match kind {
            "user" => NewEvent::new("ada", Content::User(UserMessage::default())),
            "say" => reply(rest, words("Well."), 10),
            "silence" => reply(stop::END, Vec::new(), 10),
            "code" => reply(stop::END, words(&format!("```sh\n{rest}\n```")), 10),
            "cut" => reply(stop::LENGTH, words(&format!("```sh\n{rest}\n```")), 10),
            "ran" => {
                let (cause, text) = (fence::CAUSE.to_owned(), Some(rest.to_owned()));
                let update = StateUpdate { cause, text, ..StateUpdate::default() };
                NewEvent::new("agent", Content::StateUpdate(update))
            }
            "call" => reply(stop::CALLS, calls(), 10),
            "dear" => reply(stop::CALLS, calls(), 100),
            "unknown" => response(rest, "no such tool", json!({ "error": "unknown_tool" })),
            _ => {
                let (call, text) = rest.split_once(' ').unwrap();
                response(call, text, json!(null))
            }
        };
        new.preview(seq as u64 + 1)
    }

    fn step(events: &str) -> String {
        let events: Vec<Event> =
            events.split("; ").enumerate().map(|(seq, text)| event(seq, text)).collect();
        let ids = |calls: &[Call]| {
            calls.iter().map(|call| call.id.as_str()).collect::<Vec<_>>().join(" ")
        };
        match next(last_turn(&events), &LIMITS) {
            Step::AskModel { is_last: false } => "ask".to_owned(),
            Step::AskModel { is_last: true } => "ask for the last time".to_owned(),
            Step::RunTools(calls) => format!("run {}", ids(&calls)),
            Step::RefuseTools(calls, ending) => format!("refuse {}: {ending}", ids(&calls)),
            Step::RunCode(code) => format!("run the code {:?}", code.text),
            Step::Done(ending) => format!("done: {ending}"),
        }
    }

    #[test]
    fn what_comes_next_follows_from_the_events() {
        let cases = [
            // A turn begins with a request, also after one that was left unfinished.
            "user",
            "user; call a; user",
            // Replies end it, each in its way.
            "user; say end",
            "user; say length",
            "user; say refusal",
            "user; say filtered",
            "user; say other",
            // Calls are run, those that are left after an interruption too.
            "user; call a b c",
            "user; call a b c; result b x",
            "user; call a b; result b x; result a y",
            // A result that nobody asked for changes nothing.
            "user; call a; result z x",
            "user; call a; result a x; result a x; result a x",
            // The last request is announced; calls after it are not run.
            "user; call a; result a x; call b; result b x; call c; result c x",
            "user; call a; result a x; call b; result b x; call c; result c x; call d e",
            "user; call a; result a 1; call b; result b 1; call c; result c 1; call d; result d 1",
            // Tokens run out.
            "user; dear a",
            "user; dear a; result a x",
            "user; dear a; user; call b",
            // The same call with the same result is a loop, with another result it is not.
            "user; call a1; result a1 x; call a2; result a2 x",
            "user; call a1; result a1 x; call a2; result a2 y",
            "user; call a1 a2; result a1 x; result a2 x",
            "user; call a1 b; result a1 x; result b x; call a2; result a2 x",
            "user; call a1; result a1 x; user; call a2; result a2 x",
            // Tools that do not exist are guessed so often.
            "user; call a; unknown a",
            "user; call a; unknown a; call b; unknown b",
            "user; call a; unknown a; call b c; unknown b; result c x",
            "user; call a; unknown a; call b; result b x; call c; unknown c",
            // Saying nothing is no answer.
            "user; silence",
            // Code is run once, if it is whole and somebody can be told; then the model goes on.
            "user; code ls",
            "user; code ls; ran x",
            "user; code ls; ran x; ran y",
            "user; code ls; ran x; say end",
            "user; cut ls",
            "user; say end; ran x",
            "user; call a; result a 1; call b; result b 1; call c; result c 1; code ls",
            // The same code with the same result is a loop.
            "user; code ls; ran x; code ls; ran x",
            "user; code ls; ran x; code ls; ran y",
            "user; code ls; ran x; code ps; ran x",
        ];
        let table: String = cases.map(|it| format!("{it} -> {}\n", step(it))).concat();
        insta::assert_snapshot!(table);
    }

    #[test]
    fn code_is_not_run_unless_somebody_switched_that_on() {
        let limits = TurnLimits { run_code: TurnLimits::default().run_code, ..LIMITS };
        let events = [event(0, "user"), event(1, "code ls")];
        assert_eq!(next(&events, &limits), Step::Done(Ending::Answered));
    }

    #[test]
    fn a_turn_of_one_request_asks_once_and_for_the_last_time() {
        let limits = TurnLimits { requests: 1, ..LIMITS };
        assert_eq!(next(&[event(0, "user")], &limits), Step::AskModel { is_last: true });
    }
}
