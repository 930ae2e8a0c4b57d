//! Replies as OpenAI's Responses.
//!
//! An item of the output is told from others by its index. It comes in pieces and then as a whole;
//! the whole is used for what came in no pieces, and for thoughts, which go back as they are.

use std::collections::HashSet;

use serde_json::Value;

use super::{Decode, Event, Progress, Trouble, describe, parse, tokens};
use crate::accumulator::Accumulator;
use crate::calls::read;
use crate::fault::Fault;
use crate::raw::{Step, dig};
use crate::{StopReason, Usage};

#[derive(Debug, Default)]
pub(super) struct Decoder {
    /// Items whose text came in pieces.
    spoken: HashSet<u64>,
    /// Items that came as a whole.
    complete: HashSet<u64>,
}

impl Decode for Decoder {
    fn event(&mut self, event: Event<'_>, to: &mut Accumulator) -> Result<Progress, Trouble> {
        let value = parse(event.data)?;
        let key = value["output_index"].as_u64().unwrap_or(0);
        let delta = value["delta"].as_str().unwrap_or_default();
        match value["type"].as_str().unwrap_or(event.name) {
            "response.created" | "response.in_progress" => describe(&value["response"], to),
            "response.output_item.added" => begin(key, &value["item"], to),
            "response.output_text.delta" => {
                self.spoken.insert(key);
                to.text(delta);
            }
            "response.refusal.delta" => {
                self.spoken.insert(key);
                to.refusal(delta);
            }
            "response.reasoning_summary_part.added" if to.has_reasoning(key) => {
                to.reasoning(key, "\n\n");
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                to.reasoning(key, delta);
            }
            "response.function_call_arguments.delta" => to.arguments(key, delta),
            "response.output_item.done" => {
                self.item(key, &value["item"], dig(event.data, &[Step::Key("item")]), to);
            }
            "response.completed" | "response.incomplete" => {
                self.response(&value["response"], dig(event.data, &[Step::Key("response")]), to);
                return Ok(Progress::Ended);
            }
            "response.failed" => return Err(Trouble::Fault(Fault::of(&value["response"]))),
            "error" => return Err(Trouble::Fault(Fault::of(&value))),
            _ if !value["error"].is_null() => return Err(Trouble::Fault(Fault::of(&value))),
            _ => {}
        }
        Ok(Progress::More)
    }

    fn whole(&mut self, json: &str, to: &mut Accumulator) -> Result<(), Trouble> {
        let response = parse(json)?;
        if !response["error"].is_null() {
            return Err(Trouble::Fault(Fault::of(&response)));
        }
        if !response["output"].is_array() {
            return Err(Trouble::NotJson);
        }
        self.response(&response, Some(json), to);
        Ok(())
    }
}

impl Decoder {
    /// The end of a reply: how it went, and whatever was not told before.
    fn response(&mut self, response: &Value, json: Option<&str>, to: &mut Accumulator) {
        describe(response, to);
        for (at, item) in response["output"].as_array().into_iter().flatten().enumerate() {
            let steps = [Step::Key("output"), Step::Index(at)];
            self.item(at as u64, item, json.and_then(|json| dig(json, &steps)), to);
        }
        if response["usage"].is_object() {
            to.set_usage(read_usage(&response["usage"]));
        }
        to.set_stop(match response["incomplete_details"]["reason"].as_str() {
            Some("content_filter") => StopReason::Filtered,
            Some(_) => StopReason::Length,
            None => StopReason::End,
        });
    }

    /// A whole item.
    fn item(&mut self, key: u64, item: &Value, json: Option<&str>, to: &mut Accumulator) {
        if !self.complete.insert(key) {
            return;
        }
        match item["type"].as_str().unwrap_or_default() {
            "message" if !self.spoken.contains(&key) => {
                for part in item["content"].as_array().into_iter().flatten() {
                    to.text(part["text"].as_str().unwrap_or_default());
                    to.refusal(part["refusal"].as_str().unwrap_or_default());
                }
            }
            "reasoning" => thought(key, item, json, to),
            _ => {
                if let Some(call) = json.and_then(read) {
                    to.call(key, call.id.as_deref(), Some(&call.name));
                    if !to.has_arguments(key) {
                        to.arguments(key, &call.arguments);
                    }
                    to.finish_call(key);
                }
            }
        }
    }
}

fn begin(key: u64, item: &Value, to: &mut Accumulator) {
    if item["type"] == "function_call" {
        to.call(key, item["call_id"].as_str(), item["name"].as_str());
    }
}

fn thought(key: u64, item: &Value, json: Option<&str>, to: &mut Accumulator) {
    if !to.has_reasoning(key) {
        let parts = ["summary", "content"].iter().filter_map(|member| item[member].as_array());
        let texts: Vec<_> = parts.flatten().filter_map(|part| part["text"].as_str()).collect();
        to.reasoning(key, &texts.join("\n\n"));
    }
    // Without its encrypted content the provider could not find the thought again.
    if let Some(json) = json.filter(|_| item["encrypted_content"].is_string()) {
        to.opaque(key, json.to_owned());
    }
}

fn read_usage(usage: &Value) -> Usage {
    Usage {
        input: tokens(&usage["input_tokens"]),
        cached_input: tokens(&usage["input_tokens_details"]["cached_tokens"]),
        cache_write: tokens(&usage["input_tokens_details"]["cache_write_tokens"]),
        output: tokens(&usage["output_tokens"]),
        reasoning: tokens(&usage["output_tokens_details"]["reasoning_tokens"]),
    }
}
