//! Replies as Anthropic's Messages.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::{Decode, Event, Progress, Trouble, describe, parse, tokens};
use crate::accumulator::Accumulator;
use crate::calls::{Spelled, read};
use crate::fault::Fault;
use crate::raw::{Step, dig};
use crate::{StopReason, Usage};

#[derive(Debug, Default)]
pub(super) struct Decoder {
    /// Thoughts that are being written: the words and the signature.
    thoughts: HashMap<u64, (String, String)>,
    /// Arguments that came with the beginning of a call, in case none follow.
    early: HashMap<u64, String>,
    usage: Counted,
}

impl Decode for Decoder {
    fn event(&mut self, event: Event<'_>, to: &mut Accumulator) -> Result<Progress, Trouble> {
        let value = parse(event.data)?;
        let key = value["index"].as_u64().unwrap_or(0);
        match value["type"].as_str().unwrap_or(event.name) {
            "message_start" => {
                describe(&value["message"], to);
                self.count(&value["message"]["usage"], to);
            }
            "content_block_start" => {
                let json = dig(event.data, &[Step::Key("content_block")]);
                self.begin(key, &value["content_block"], json, to);
            }
            "content_block_delta" => self.delta(key, &value["delta"], to),
            "content_block_stop" => self.end_block(key, to),
            "message_delta" => {
                stop(&value["delta"], to);
                self.count(&value["usage"], to);
            }
            "message_stop" => return Ok(Progress::Ended),
            "error" => return Err(Trouble::Fault(Fault::of(&value))),
            _ if !value["error"].is_null() => return Err(Trouble::Fault(Fault::of(&value))),
            _ => {}
        }
        Ok(Progress::More)
    }

    fn whole(&mut self, json: &str, to: &mut Accumulator) -> Result<(), Trouble> {
        let message = parse(json)?;
        if message["type"] == "error" || !message["error"].is_null() {
            return Err(Trouble::Fault(Fault::of(&message)));
        }
        let Some(blocks) = message["content"].as_array() else { return Err(Trouble::NotJson) };
        describe(&message, to);
        for (at, block) in blocks.iter().enumerate() {
            let json = dig(json, &[Step::Key("content"), Step::Index(at)]);
            self.begin(at as u64, block, json, to);
            self.end_block(at as u64, to);
        }
        stop(&message, to);
        self.count(&message["usage"], to);
        Ok(())
    }

    fn end(&mut self, to: &mut Accumulator) {
        let open: Vec<_> = self.thoughts.keys().chain(self.early.keys()).copied().collect();
        for key in open {
            self.end_block(key, to);
        }
    }
}

impl Decoder {
    fn begin(&mut self, key: u64, block: &Value, json: Option<&str>, to: &mut Accumulator) {
        match block["type"].as_str().unwrap_or_default() {
            "text" => to.text(block["text"].as_str().unwrap_or_default()),
            "thinking" => {
                self.thoughts.insert(key, (String::new(), String::new()));
                self.think(key, &block["thinking"], &block["signature"], to);
            }
            "redacted_thinking" => to.opaque(key, json.unwrap_or_default().to_owned()),
            _ => {
                if let Some(Spelled { id, name, arguments }) = json.and_then(read) {
                    to.call(key, id.as_deref(), Some(&name));
                    self.early.insert(key, arguments);
                }
            }
        }
    }

    fn delta(&mut self, key: u64, delta: &Value, to: &mut Accumulator) {
        match delta["type"].as_str().unwrap_or_default() {
            "text_delta" => to.text(delta["text"].as_str().unwrap_or_default()),
            "input_json_delta" => {
                to.arguments(key, delta["partial_json"].as_str().unwrap_or_default());
            }
            "thinking_delta" | "signature_delta" => {
                self.think(key, &delta["thinking"], &delta["signature"], to);
            }
            _ => {}
        }
    }

    fn think(&mut self, key: u64, words: &Value, signature: &Value, to: &mut Accumulator) {
        let known = self.thoughts.entry(key).or_default();
        let words = words.as_str().unwrap_or_default();
        known.0.push_str(words);
        known.1.push_str(signature.as_str().unwrap_or_default());
        to.reasoning(key, words);
    }

    fn end_block(&mut self, key: u64, to: &mut Accumulator) {
        // A thought without a signature would be refused.
        if let Some((words, signature)) = self.thoughts.remove(&key).filter(|t| !t.1.is_empty()) {
            let block = json!({"type": "thinking", "thinking": words, "signature": signature});
            to.opaque(key, block.to_string());
        }
        if let Some(arguments) = self.early.remove(&key) {
            // Every call begins with an empty object. Whether that is all is known at the end of the
            // reply: it may have been cut off here.
            let is_empty = |c: char| c.is_ascii_whitespace() || matches!(c, '{' | '}');
            if !to.has_arguments(key) && !arguments.chars().all(is_empty) {
                to.arguments(key, &arguments);
            }
            to.finish_call(key);
        }
    }

    fn count(&mut self, usage: &Value, to: &mut Accumulator) {
        if usage.is_object() {
            self.usage.read(usage);
            to.set_usage(self.usage.sum());
        }
    }
}

fn stop(from: &Value, to: &mut Accumulator) {
    let Some(reason) = from["stop_reason"].as_str() else { return };
    to.set_stop(match reason {
        "end_turn" | "stop_sequence" => StopReason::End,
        "tool_use" => StopReason::Calls,
        "max_tokens" | "model_context_window_exceeded" => StopReason::Length,
        "refusal" => {
            let words = from["stop_details"]["explanation"].as_str().unwrap_or_default();
            StopReason::Refusal(words.to_owned())
        }
        _ => StopReason::Other,
    });
}

/// Tokens as this format counts them: what was cached is not part of the input.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    fresh: u64,
    read: u64,
    written: u64,
    output: u64,
    thought: u64,
}

impl Counted {
    /// Later counts replace earlier ones, as far as they are there.
    fn read(&mut self, usage: &Value) {
        let members = [
            (&mut self.fresh, &usage["input_tokens"]),
            (&mut self.read, &usage["cache_read_input_tokens"]),
            (&mut self.written, &usage["cache_creation_input_tokens"]),
            (&mut self.output, &usage["output_tokens"]),
            (&mut self.thought, &usage["output_tokens_details"]["thinking_tokens"]),
        ];
        for (count, value) in members {
            if value.is_number() {
                *count = tokens(value);
            }
        }
    }

    fn sum(self) -> Usage {
        Usage {
            input: self.fresh + self.read + self.written,
            cached_input: self.read,
            cache_write: self.written,
            output: self.output,
            reasoning: self.thought,
        }
    }
}
