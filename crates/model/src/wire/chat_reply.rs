//! Replies as OpenAI's chat completions, from OpenAI and from everyone who imitates it.
//!
//! Known oddities that are read: calls without an id or an index, or with the same index for all;
//! arguments that are an object; content in parts; thoughts under three names; a final message
//! without a reason; counts of tokens in an event without choices, or in every event.

use serde_json::{Map, Value};

use super::{Decode, Event, Progress, Trouble, describe, parse, tokens};
use crate::accumulator::Accumulator;
use crate::calls::{read, unquoted};
use crate::fault::Fault;
use crate::raw::{Step, dig};
use crate::{StopReason, Usage};

/// The key of the only thought that a reply of this format has.
const THOUGHT: u64 = 0;

#[derive(Debug, Default)]
pub(super) struct Decoder {
    calls: Vec<Known>,
    /// What must be handed back with the reply.
    details: Vec<Value>,
    /// Whether the answer is no stream, so that nothing in it is a piece of something.
    is_whole: bool,
    /// The name under which thoughts came, and the thoughts.
    thoughts: Option<(&'static str, String)>,
}

/// A call that was begun; its key is its place.
#[derive(Debug)]
struct Known {
    index: Option<u64>,
    id: Option<String>,
}

impl Decode for Decoder {
    fn event(&mut self, event: Event<'_>, to: &mut Accumulator) -> Result<Progress, Trouble> {
        let chunk = parse(event.data)?;
        if event.name == "error" || !chunk["error"].is_null() {
            return Err(Trouble::Fault(Fault::of(&chunk)));
        }
        self.chunk(&chunk, event.data, to);
        Ok(Progress::More)
    }

    fn whole(&mut self, json: &str, to: &mut Accumulator) -> Result<(), Trouble> {
        let answer = parse(json)?;
        if !answer["error"].is_null() {
            return Err(Trouble::Fault(Fault::of(&answer)));
        }
        if !answer["choices"].is_array() {
            return Err(Trouble::NotJson);
        }
        self.is_whole = true;
        self.chunk(&answer, json, to);
        if !to.has_stop() {
            to.set_stop(StopReason::End);
        }
        Ok(())
    }

    fn end(&mut self, to: &mut Accumulator) {
        for key in 0..self.calls.len() {
            to.finish_call(key as u64);
        }
        let mut back = Map::new();
        if let Some((name, text)) = self.thoughts.take() {
            back.insert(name.to_owned(), Value::String(text));
        }
        if !self.details.is_empty() {
            back.insert("reasoning_details".to_owned(), Value::Array(self.details.split_off(0)));
        }
        if !back.is_empty() {
            to.opaque(THOUGHT, Value::Object(back).to_string());
        }
    }
}

impl Decoder {
    fn chunk(&mut self, chunk: &Value, json: &str, to: &mut Accumulator) {
        describe(chunk, to);
        let first = chunk["choices"].as_array().and_then(|choices| {
            choices.iter().position(|choice| choice["index"].as_u64().unwrap_or(0) == 0)
        });
        if let Some(at) = first {
            let choice = &chunk["choices"][at];
            let member = if choice["delta"].is_object() { "delta" } else { "message" };
            let steps = [Step::Key("choices"), Step::Index(at), Step::Key(member)];
            self.delta(&choice[member], &Source { json, steps: &steps }, to);
            if let Some(reason) = choice["finish_reason"].as_str().filter(|text| !text.is_empty()) {
                to.set_stop(stop_reason(reason));
            }
        }
        let used = [&chunk["usage"], &chunk["x_groq"]["usage"]];
        if let Some(usage) = used.into_iter().find(|usage| usage.is_object()) {
            to.set_usage(read_usage(usage));
        }
    }

    fn delta(&mut self, delta: &Value, source: &Source<'_>, to: &mut Accumulator) {
        for name in ["reasoning_content", "reasoning"] {
            if let Some(text) = delta[name].as_str().filter(|text| !text.is_empty()) {
                self.think(name, text, to);
                break;
            }
        }
        for detail in delta["reasoning_details"].as_array().into_iter().flatten() {
            to.count(detail.to_string().len());
            self.add_detail(detail);
        }
        match &delta["content"] {
            Value::String(text) => to.text(text),
            Value::Array(parts) => self.parts(parts, source, to),
            _ => {}
        }
        to.refusal(delta["refusal"].as_str().unwrap_or_default());
        for (at, call) in delta["tool_calls"].as_array().into_iter().flatten().enumerate() {
            let key = self.call(call, to);
            let steps = [Step::Key("tool_calls"), Step::Index(at), Step::Key("function")];
            function_of(key, &call["function"], || source.arguments(&steps), to);
        }
        if delta["function_call"].is_object() {
            let key = self.legacy();
            let steps = [Step::Key("function_call")];
            function_of(key, &delta["function_call"], || source.arguments(&steps), to);
        }
    }

    fn think(&mut self, name: &'static str, text: &str, to: &mut Accumulator) {
        self.thoughts.get_or_insert_with(|| (name, String::new())).1.push_str(text);
        to.reasoning(THOUGHT, text);
    }

    /// Content in parts: text, thoughts, and calls in someone else's spelling.
    fn parts(&mut self, parts: &[Value], source: &Source<'_>, to: &mut Accumulator) {
        for (at, part) in parts.iter().enumerate() {
            let json = || source.text(&[Step::Key("content"), Step::Index(at)]);
            if let Some(text) = part["text"].as_str() {
                to.text(text);
            } else if part["type"] == "thinking" {
                let pieces = part["thinking"].as_array().into_iter().flatten();
                let text: String = pieces.filter_map(|piece| piece["text"].as_str()).collect();
                to.reasoning(THOUGHT, part["thinking"].as_str().unwrap_or(&text));
            } else if let Some(call) = json().and_then(read) {
                let key = self.add(None, call.id.clone());
                to.call(key, call.id.as_deref(), Some(&call.name));
                to.arguments(key, &call.arguments);
                to.finish_call(key);
            }
        }
    }

    /// Which call a piece belongs to; what came before it is complete.
    fn call(&mut self, call: &Value, to: &mut Accumulator) -> u64 {
        let number = &call["index"];
        let index = number.as_u64().or_else(|| number.as_str()?.parse().ok());
        let id = call["id"].as_str().filter(|id| !id.is_empty());
        let (key, is_new) = self.key(index, id, call["function"]["name"].is_string());
        if is_new && key > 0 {
            to.finish_call(key - 1);
        }
        to.call(key, id, None);
        key
    }

    /// Which call a piece belongs to, and whether it is the first piece of it.
    fn key(&mut self, index: Option<u64>, id: Option<&str>, has_name: bool) -> (u64, bool) {
        let same_id = |known: &Known| known.id.as_deref() == id || known.id.is_none();
        let found = match (index, id) {
            (Some(_), Some(_)) => {
                self.calls.iter().rposition(|known| known.index == index && same_id(known))
            }
            (Some(_), None) => self.calls.iter().rposition(|known| known.index == index),
            (None, Some(_)) => self.calls.iter().rposition(|known| known.id.as_deref() == id),
            (None, None) if has_name => None,
            (None, None) => self.calls.len().checked_sub(1),
        };
        match found {
            Some(at) => {
                let known = &mut self.calls[at];
                known.id = known.id.take().or_else(|| id.map(str::to_owned));
                (at as u64, false)
            }
            None => (self.add(index, id.map(str::to_owned)), true),
        }
    }

    fn add(&mut self, index: Option<u64>, id: Option<String>) -> u64 {
        self.calls.push(Known { index, id });
        self.calls.len() as u64 - 1
    }

    /// The key of the only call that the older form of the format can have.
    fn legacy(&mut self) -> u64 {
        if self.calls.is_empty() { self.add(None, None) } else { 0 }
    }

    /// OpenRouter's thoughts come in pieces, which have to be put together to be handed back.
    fn add_detail(&mut self, detail: &Value) {
        let last =
            self.details.last_mut().filter(|known| !self.is_whole && continues(known, detail));
        let (Some(Value::Object(known)), Value::Object(more)) = (last, detail) else {
            self.details.push(detail.clone());
            return;
        };
        for (key, value) in more {
            match (key.as_str(), known.get_mut(key), value) {
                (_, _, Value::Null) => {}
                ("text" | "summary" | "data", Some(Value::String(text)), Value::String(more)) => {
                    text.push_str(more);
                }
                _ => {
                    known.insert(key.clone(), value.clone());
                }
            }
        }
    }
}

/// Whether a detail is the next piece of another one.
fn continues(known: &Value, detail: &Value) -> bool {
    let same_id = known["id"] == detail["id"] || known["id"].is_null() || detail["id"].is_null();
    known.is_object()
        && detail.is_object()
        && known["type"] == detail["type"]
        && known["index"] == detail["index"]
        && same_id
}

/// Where something stands in the text that arrived.
#[derive(Clone, Copy, Debug)]
struct Source<'a> {
    json: &'a str,
    steps: &'a [Step<'a>],
}

impl<'a> Source<'a> {
    fn text(&self, more: &[Step<'_>]) -> Option<&'a str> {
        dig(dig(self.json, self.steps)?, more)
    }

    /// The arguments of a function that stands there, as they were written.
    fn arguments(&self, function: &[Step<'_>]) -> Option<&'a str> {
        dig(self.text(function)?, &[Step::Key("arguments")])
    }
}

/// Reads a piece of a call. `written` parses the whole piece again, so it is only asked for
/// arguments that are no string.
fn function_of<'a>(
    key: u64,
    function: &Value,
    written: impl Fn() -> Option<&'a str>,
    to: &mut Accumulator,
) {
    to.call(key, None, function["name"].as_str());
    match &function["arguments"] {
        Value::String(text) => to.arguments(key, text),
        Value::Null => {}
        _ => {
            to.arguments(key, &written().map(unquoted).unwrap_or_default());
        }
    }
}

fn stop_reason(reason: &str) -> StopReason {
    match reason {
        "stop" | "eos" | "end_turn" | "stop_sequence" => StopReason::End,
        "tool_calls" | "function_call" | "tool_use" => StopReason::Calls,
        "length" | "max_tokens" | "model_length" => StopReason::Length,
        "content_filter" => StopReason::Filtered,
        _ => StopReason::Other,
    }
}

fn read_usage(usage: &Value) -> Usage {
    let input = &usage["prompt_tokens_details"];
    let cached = [&input["cached_tokens"], &usage["prompt_cache_hit_tokens"]];
    Usage {
        input: tokens(&usage["prompt_tokens"]),
        cached_input: cached.into_iter().map(tokens).max().unwrap_or(0),
        cache_write: tokens(&input["cache_write_tokens"]),
        output: tokens(&usage["completion_tokens"]),
        reasoning: tokens(&usage["completion_tokens_details"]["reasoning_tokens"]),
    }
}
