//! What requests cost: how much a model has to read, and how much of it is new.
//!
//! Providers keep what a request begins with and charge little for it when the next one begins with the
//! same bytes. They read a request as tools, system text, messages, in this order, whatever its format
//! puts first. So a request is taken apart in that order, and what stands after the first byte that
//! differs from the request before is new. A provider that keeps what older requests began with may find
//! more: what none of them has is counted apart. The smallest block that a provider keeps, and for how
//! long, are not looked at.

use std::collections::HashMap;

use metier_model::{Message, Part, ReplyPart, Request};
use metier_skill::tokens;
use serde::Serialize;

/// Tokens of one or more requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Cost {
    /// How many requests.
    pub requests: usize,
    /// Everything in them.
    pub prompt_tokens: usize,
    /// What the request before did not begin with; all of the first.
    pub uncached_tokens: usize,
    /// What no request before began with: uncached still if a provider forgot nothing.
    pub unseen_tokens: usize,
}

impl Cost {
    /// Adds the cost of more requests.
    pub fn add(&mut self, more: &Self) {
        self.requests += more.requests;
        self.prompt_tokens += more.prompt_tokens;
        self.uncached_tokens += more.uncached_tokens;
        self.unseen_tokens += more.unseen_tokens;
    }
}

/// Measures the requests of a session, one after the other.
#[derive(Debug, Default)]
pub struct Meter {
    /// The parts of every request so far.
    before: Vec<Vec<String>>,
    /// Counts of parts that were seen already; requests have most of them in common.
    counted: HashMap<String, usize>,
}

impl Meter {
    /// What the requests of a session cost together.
    pub fn total<'a>(requests: impl IntoIterator<Item = &'a Request>) -> Cost {
        let (mut meter, mut total) = (Self::default(), Cost::default());
        for request in requests {
            total.add(&meter.measure(request));
        }
        total
    }

    /// What the next request costs.
    pub fn measure(&mut self, request: &Request) -> Cost {
        let parts = parts(request);
        let counts: Vec<usize> = parts.iter().map(|part| self.count(part)).collect();
        let new = |before: &Vec<String>| {
            let same = parts.iter().zip(before).take_while(|(part, before)| part == before);
            let same = same.count();
            match (parts.get(same), before.get(same)) {
                (Some(part), Some(before)) => {
                    let changed = tokens::count(&part[common_prefix(part, before)..]);
                    changed + counts[same + 1..].iter().sum::<usize>()
                }
                _ => counts[same..].iter().sum(),
            }
        };
        let prompt_tokens = counts.iter().sum();
        let uncached_tokens = self.before.last().map_or(prompt_tokens, new);
        let unseen_tokens = self.before.iter().map(new).min().unwrap_or(prompt_tokens);
        self.before.push(parts);
        Cost { requests: 1, prompt_tokens, uncached_tokens, unseen_tokens }
    }

    fn count(&mut self, part: &str) -> usize {
        if let Some(count) = self.counted.get(part) {
            return *count;
        }
        let count = tokens::count(part);
        self.counted.insert(part.to_owned(), count);
        count
    }
}

/// A request as a provider reads it: the tools, the system text, and each message.
fn parts(request: &Request) -> Vec<String> {
    let tools = request.tools.iter().map(|tool| {
        let schema = &tool.schema;
        format!("{}\n{}\n{schema}\n", tool.name, tool.description)
    });
    let mut parts = vec![tools.collect(), format!("system\n{}\n", request.system)];
    parts.extend(request.messages.iter().map(message_text));
    parts
}

fn message_text(message: &Message) -> String {
    match message {
        Message::System(text) => format!("system\n{text}\n"),
        Message::User(parts) => {
            let texts: Vec<&str> = parts.iter().map(part_text).collect();
            format!("user\n{}\n", texts.join("\n"))
        }
        Message::Assistant(parts) => {
            let texts: Vec<String> = parts.iter().map(reply_text).collect();
            format!("assistant\n{}\n", texts.join("\n"))
        }
        Message::ToolResult { call_id, text, .. } => format!("tool {call_id}\n{text}\n"),
        _ => String::new(),
    }
}

fn part_text(part: &Part) -> &str {
    match part {
        Part::Text(text) => text,
        _ => "",
    }
}

fn reply_text(part: &ReplyPart) -> String {
    match part {
        ReplyPart::Text(text) => text.clone(),
        ReplyPart::Call { id, name, arguments } => format!("{id} {name} {arguments}"),
        ReplyPart::Reasoning { opaque, .. } => {
            opaque.as_ref().map(|opaque| opaque.json.clone()).unwrap_or_default()
        }
        _ => String::new(),
    }
}

/// Bytes that two texts begin with, up to the end of a character.
fn common_prefix(one: &str, other: &str) -> usize {
    let same = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    one.floor_char_boundary(same)
}

#[cfg(test)]
mod tests {
    use metier_model::ToolSpec;
    use serde_json::json;

    use super::*;

    fn request(system: &str, messages: &[&str]) -> Request {
        Request {
            system: system.to_owned(),
            messages: messages.iter().map(|text| Message::user(*text)).collect(),
            ..Request::default()
        }
    }

    /// Uncached tokens of each request.
    fn uncached(requests: &[Request]) -> Vec<usize> {
        let mut meter = Meter::default();
        requests.iter().map(|request| meter.measure(request).uncached_tokens).collect()
    }

    #[test]
    fn the_first_request_is_new_as_a_whole() {
        let cost = Meter::total([&request("Be kind.", &["Hello there."])]);
        let count = tokens::count("system\nBe kind.\n") + tokens::count("user\nHello there.\n");
        let [prompt_tokens, uncached_tokens, unseen_tokens] = [count; 3];
        assert_eq!(cost, Cost { requests: 1, prompt_tokens, uncached_tokens, unseen_tokens });
    }

    #[test]
    fn what_an_older_request_began_with_is_uncached_but_not_unseen() {
        let long = "words of a long system text ".repeat(20);
        let other = format!("{long} and of a skill");
        let mut meter = Meter::default();
        let costs: Vec<Cost> = [&long, &other, &long]
            .iter()
            .map(|system| meter.measure(&request(system, &["one", "two"])))
            .collect();
        let message = tokens::count("user\none\n") + tokens::count("user\ntwo\n");
        assert_eq!(costs[2].uncached_tokens, tokens::count("\n") + message);
        assert_eq!(costs[2].unseen_tokens, 0);
        assert_eq!(costs[1].uncached_tokens, costs[1].unseen_tokens);
    }

    #[test]
    fn of_a_request_that_grew_only_what_was_added_is_new() {
        let requests = [request("s", &["one"]), request("s", &["one", "two and three"])];
        assert_eq!(uncached(&requests)[1], tokens::count("user\ntwo and three\n"));
        assert_eq!(uncached(&[requests[0].clone(), requests[0].clone()])[1], 0);
    }

    #[test]
    fn after_a_change_everything_is_new_however_much_of_it_is_the_same() {
        let long = "the same words again and again ".repeat(50);
        let requests = [request("a b", &[&long]), request("a c", &[&long])];
        let rest = tokens::count("c\n") + tokens::count(&format!("user\n{long}\n"));
        assert_eq!(uncached(&requests)[1], rest);
        // A shorter text is a change too.
        let requests = [request("s", &[&long, "next"]), request("s", &["the same", "next"])];
        assert_eq!(uncached(&requests)[1], tokens::count("\n") + tokens::count("user\nnext\n"));
    }

    #[test]
    fn a_change_inside_a_character_begins_with_that_character() {
        assert_eq!(common_prefix("aé", "aè"), 1);
        assert_eq!(common_prefix("aé", "aéx"), 3);
    }

    #[test]
    fn tools_come_before_everything() {
        let tool = |name: &str| ToolSpec {
            name: name.to_owned(),
            description: "Does it.".to_owned(),
            schema: json!({ "type": "object" }),
        };
        let with = |name: &str| Request { tools: vec![tool(name)], ..request("s", &["one"]) };
        let costs = uncached(&[with("a"), with("b")]);
        assert_eq!(costs[0], costs[1]);
    }
}
