//! The one place where the pieces of a reply become a reply.
//!
//! Each format tells what it read in the same few words; what is shown on the way and what the
//! whole is follows from them here, so it is the same for all formats.

use std::collections::VecDeque;

use crate::calls::{Ending, Tidy, made_id, tidy};
use crate::{Format, Opaque, Reply, ReplyEvent, ReplyPart, StopReason, Usage};

/// How much a reply may hold. The longest that models write is a hundredth of it.
pub(crate) const MAX_REPLY_BYTES: usize = 32 * 1024 * 1024;

/// How many parts a reply may have; each is looked for among the others.
const MAX_PARTS: usize = 1024;

/// Collects the pieces of one reply.
#[derive(Debug)]
pub(crate) struct Accumulator {
    format: Format,
    /// Tells this reply from others of the conversation, for ids that have to be made.
    seed: u64,
    slots: Vec<Slot>,
    events: VecDeque<ReplyEvent>,
    stop: Option<StopReason>,
    refusal: String,
    bytes: usize,
    pub(crate) usage: Usage,
    pub(crate) request_id: Option<String>,
    pub(crate) model: Option<String>,
}

#[derive(Debug)]
enum Slot {
    Text(String),
    Reasoning { key: u64, text: String, opaque: Option<String> },
    Call(Call),
}

#[derive(Debug)]
struct Call {
    key: u64,
    id: String,
    name: String,
    arguments: String,
    is_begun: bool,
    is_finished: bool,
}

impl Accumulator {
    pub(crate) fn new(format: Format, seed: u64) -> Self {
        Self {
            format,
            seed,
            slots: Vec::new(),
            events: VecDeque::new(),
            stop: None,
            refusal: String::new(),
            bytes: 0,
            usage: Usage::default(),
            request_id: None,
            model: None,
        }
    }

    /// More text of the reply.
    pub(crate) fn text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        self.bytes += text.len();
        match self.slots.last_mut() {
            Some(Slot::Text(known)) => known.push_str(text),
            _ => self.slots.push(Slot::Text(text.to_owned())),
        }
        self.events.push_back(ReplyEvent::Text(text.to_owned()));
    }

    /// More of a refusal, which is text, too.
    pub(crate) fn refusal(&mut self, text: &str) {
        self.text(text);
        self.refusal.push_str(text);
    }

    /// More of a thought; `key` tells the thoughts of a reply apart.
    pub(crate) fn reasoning(&mut self, key: u64, text: &str) {
        self.bytes += text.len();
        self.thought(key).0.push_str(text);
        if !text.is_empty() {
            self.events.push_back(ReplyEvent::Reasoning(text.to_owned()));
        }
    }

    /// What the provider wants back with a thought, as JSON text.
    pub(crate) fn opaque(&mut self, key: u64, json: String) {
        self.bytes += json.len();
        *self.thought(key).1 = Some(json);
    }

    /// Something was kept back that will be a part of the reply.
    pub(crate) fn count(&mut self, bytes: usize) {
        self.bytes += bytes;
    }

    /// Whether a thought has words already.
    pub(crate) fn has_reasoning(&self, wanted: u64) -> bool {
        self.slots.iter().any(|slot| {
            matches!(slot, Slot::Reasoning { key, text, .. } if *key == wanted && !text.is_empty())
        })
    }

    /// A call, or more about one: `key` tells the calls of a reply apart.
    pub(crate) fn call(&mut self, key: u64, id: Option<&str>, name: Option<&str>) {
        let call = self.call_slot(key);
        if let Some(id) = id.filter(|_| call.id.is_empty()) {
            id.clone_into(&mut call.id);
        }
        // A name may come in pieces, and some servers repeat it with every piece.
        let takes_more = call.name.is_empty() || !call.is_begun;
        if let Some(name) = name.filter(|name| takes_more && *name != call.name) {
            call.name.push_str(name);
        }
    }

    /// More of the arguments of a call.
    pub(crate) fn arguments(&mut self, key: u64, text: &str) {
        if text.is_empty() {
            return;
        }
        self.bytes += text.len();
        self.call_slot(key).arguments.push_str(text);
        let index = self.begin(key);
        self.events.push_back(ReplyEvent::CallArguments { index, text: text.to_owned() });
    }

    pub(crate) fn has_arguments(&self, key: u64) -> bool {
        self.calls().any(|call| call.key == key && !call.arguments.is_empty())
    }

    /// Nothing more comes for a call.
    pub(crate) fn finish_call(&mut self, key: u64) {
        if self.calls().any(|call| call.key == key) {
            self.begin(key);
            self.call_slot(key).is_finished = true;
        }
    }

    /// Whether some call is complete: the caller may have seen all of it.
    pub(crate) fn has_finished_call(&self) -> bool {
        self.calls().any(|call| call.is_finished)
    }

    /// The tokens so far.
    pub(crate) fn set_usage(&mut self, usage: Usage) {
        if usage != self.usage {
            self.usage = usage;
            self.events.push_back(ReplyEvent::Usage(usage));
        }
    }

    pub(crate) fn set_stop(&mut self, stop: StopReason) {
        self.stop = Some(stop);
    }

    pub(crate) fn has_stop(&self) -> bool {
        self.stop.is_some()
    }

    pub(crate) fn is_too_large(&self) -> bool {
        self.bytes > MAX_REPLY_BYTES || self.slots.len() > MAX_PARTS
    }

    /// What happened since the last time, in order.
    pub(crate) fn next_event(&mut self) -> Option<ReplyEvent> {
        self.events.pop_front()
    }

    /// The whole reply, its calls in order, and what is still to be shown of it.
    pub(crate) fn finish(mut self, tools: &[&str]) -> (VecDeque<ReplyEvent>, Reply) {
        let keys: Vec<_> = self.calls().map(|call| call.key).collect();
        for key in keys {
            self.begin(key);
        }
        let cut = matches!(self.stop, Some(StopReason::Length | StopReason::Filtered));
        let ending = if cut { Ending::CutOff } else { Ending::Finished };
        let format = self.format;
        let parts = self.slots.into_iter().filter_map(|slot| part(slot, format)).collect();
        let parts = tidy(parts, &Tidy { tools, seed: self.seed, ending });
        let stop = match (self.stop, self.refusal) {
            (_, refusal) if !refusal.is_empty() => StopReason::Refusal(refusal),
            (stop, _) => settled(stop, &parts),
        };
        let (usage, request_id, model) = (self.usage, self.request_id, self.model);
        (self.events, Reply { parts, stop, usage, request_id, model })
    }

    fn calls(&self) -> impl Iterator<Item = &Call> {
        self.slots.iter().filter_map(|slot| match slot {
            Slot::Call(call) => Some(call),
            _ => None,
        })
    }

    fn thought(&mut self, wanted: u64) -> (&mut String, &mut Option<String>) {
        let is_it = |slot: &Slot| matches!(slot, Slot::Reasoning { key, .. } if *key == wanted);
        if !self.slots.iter().any(is_it) {
            self.slots.push(Slot::Reasoning { key: wanted, text: String::new(), opaque: None });
        }
        let found = self.slots.iter_mut().find_map(|slot| match slot {
            Slot::Reasoning { key, text, opaque } if *key == wanted => Some((text, opaque)),
            _ => None,
        });
        found.expect("it was added if it was missing")
    }

    fn call_slot(&mut self, wanted: u64) -> &mut Call {
        if !self.calls().any(|call| call.key == wanted) {
            self.slots.push(Slot::Call(Call {
                key: wanted,
                id: String::new(),
                name: String::new(),
                arguments: String::new(),
                is_begun: false,
                is_finished: false,
            }));
        }
        let found = self.slots.iter_mut().find_map(|slot| match slot {
            Slot::Call(call) if call.key == wanted => Some(call),
            _ => None,
        });
        found.expect("it was added if it was missing")
    }

    /// Shows a call when its name is complete; returns which call of the reply it is.
    fn begin(&mut self, key: u64) -> usize {
        let index = self.calls().position(|call| call.key == key).unwrap_or_default();
        let seed = self.seed;
        let call = self.call_slot(key);
        if !call.is_begun {
            call.is_begun = true;
            if call.id.is_empty() {
                call.id = made_id(seed, index);
            }
            let (id, name) = (call.id.clone(), call.name.clone());
            self.events.push_back(ReplyEvent::CallBegun { index, id, name });
        }
        index
    }
}

fn part(slot: Slot, format: Format) -> Option<ReplyPart> {
    match slot {
        Slot::Text(text) => Some(ReplyPart::Text(text)),
        Slot::Reasoning { text, opaque: None, .. } if text.is_empty() => None,
        Slot::Reasoning { text, opaque, .. } => {
            let opaque = opaque.map(|json| Opaque { format, json });
            Some(ReplyPart::Reasoning { text, opaque })
        }
        Slot::Call(Call { id, name, arguments, .. }) => {
            Some(ReplyPart::Call { id, name, arguments })
        }
    }
}

/// Why the reply ended, told from what it holds where servers are wrong about it.
fn settled(stop: Option<StopReason>, parts: &[ReplyPart]) -> StopReason {
    let has_calls = parts.iter().any(|part| matches!(part, ReplyPart::Call { .. }));
    match stop {
        None | Some(StopReason::End | StopReason::Calls | StopReason::Other) if has_calls => {
            StopReason::Calls
        }
        None | Some(StopReason::Calls) => StopReason::End,
        Some(stop) => stop,
    }
}
