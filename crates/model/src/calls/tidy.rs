//! The calls of one reply, put in order.

use crate::{ReplyPart, ToolSpec};

use super::repair::{Ending, fenced, repair};
use super::resolve;
use super::spelling::{Spelled, read_text};
use crate::raw::fingerprint;

/// What the calls of a reply are judged by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tidy<'a> {
    /// The tools there are.
    pub(crate) tools: &'a [&'a str],
    /// Tells this reply from others of the conversation.
    pub(crate) seed: u64,
    /// Whether the reply came to its end.
    pub(crate) ending: Ending,
}

/// The names of tools, for [`Tidy`].
pub(crate) fn names(tools: &[ToolSpec]) -> Vec<&str> {
    tools.iter().map(|tool| tool.name.as_str()).collect()
}

/// An id for a call that has none: the same whenever the same reply is read.
pub(crate) fn made_id(seed: u64, index: usize) -> String {
    let hash = fingerprint([&seed.to_le_bytes()[..], &(index as u64).to_le_bytes()]);
    format!("call_{hash:016x}")
}

/// Puts the calls of a reply in order; the other parts stay.
pub(crate) fn tidy(parts: Vec<ReplyPart>, by: &Tidy<'_>) -> Vec<ReplyPart> {
    let parts = as_call(&parts, by).unwrap_or(parts);
    let mut calls: Vec<(String, String, String)> = Vec::new();
    let mut kept = Vec::new();
    let mut index = 0;
    for part in parts {
        let ReplyPart::Call { id, name, arguments } = part else {
            kept.push(part);
            continue;
        };
        let name = resolve(&name, &id, by.tools).map_or(name.trim().to_owned(), str::to_owned);
        let arguments = repair(&arguments, by.ending).unwrap_or(arguments);
        let made = made_id(by.seed, index);
        index += 1;
        let has_own = !id.is_empty() && id != made;
        let repeats = |call: &(String, String, String)| {
            (!has_own || call.0 == id) && call.1 == name && call.2 == arguments
        };
        if calls.iter().any(repeats) {
            continue;
        }
        let is_free = has_own && calls.iter().all(|call| call.0 != id);
        let id = if is_free { id } else { made };
        calls.push((id.clone(), name.clone(), arguments.clone()));
        kept.push(ReplyPart::Call { id, name, arguments });
    }
    kept
}

/// A reply whose text is nothing but the JSON of a call, with the call in place of the text.
fn as_call(parts: &[ReplyPart], by: &Tidy<'_>) -> Option<Vec<ReplyPart>> {
    if parts.iter().any(|part| matches!(part, ReplyPart::Call { .. })) {
        return None;
    }
    let texts = parts.iter().filter_map(|part| match part {
        ReplyPart::Text(text) => Some(text.as_str()),
        _ => None,
    });
    let Spelled { id, name, arguments } = from_text(&texts.collect::<String>(), by.tools)?;
    let call = ReplyPart::Call { id: id.unwrap_or_default(), name, arguments };
    let others = parts.iter().filter(|part| !matches!(part, ReplyPart::Text(_))).cloned();
    Some(others.chain([call]).collect())
}

/// The call that a text is: one JSON object, bare, in a fence or in the tag that some models were
/// trained on, with the exact name of a tool and arguments that are an object.
fn from_text(text: &str, tools: &[&str]) -> Option<Spelled> {
    let text = text.trim();
    let tagged =
        text.strip_prefix("<tool_call>").and_then(|rest| rest.strip_suffix("</tool_call>"));
    let json = tagged.or_else(|| fenced(text)).unwrap_or(text).trim();
    read_text(json).filter(|call| tools.contains(&call.name.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOLS: [&str; 2] = ["skill_load", "read_file"];

    fn call(id: &str, name: &str, arguments: &str) -> ReplyPart {
        let [id, name, arguments] = [id, name, arguments].map(str::to_owned);
        ReplyPart::Call { id, name, arguments }
    }

    fn tidied(parts: Vec<ReplyPart>, ending: Ending) -> Vec<ReplyPart> {
        tidy(parts, &Tidy { tools: &TOOLS, seed: 7, ending })
    }

    fn shown(parts: Vec<ReplyPart>) -> String {
        let lines = tidied(parts, Ending::Finished).into_iter().map(|part| match part {
            ReplyPart::Text(text) => format!("text {text}"),
            ReplyPart::Reasoning { text, .. } => format!("reasoning {text}"),
            ReplyPart::Call { id, name, arguments } => format!("{id} {name} {arguments}"),
        });
        lines.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn names_ids_and_arguments_are_put_right() {
        insta::assert_snapshot!(
            shown(vec![
                ReplyPart::Text("Let me look.".to_owned()),
                call("call_1", "functions.read_file", "{'file_name': 'a',}"),
                call("", "SkillLoad", "{}"),
                call("", "frobnicate", "not json"),
            ]),
            @r#"
        text Let me look.
        call_1 read_file {"file_name": "a"}
        call_228fd8c09c65ed9b skill_load {}
        call_8f25c56307cb67ae frobnicate not json
        "#
        );
    }

    #[test]
    fn repetitions_are_left_out_and_ids_are_told_apart() {
        let parts = tidied(
            vec![
                call("1", "read_file", "{}"),
                call("1", "read_file", "{}"),
                call("2", "read_file", "{}"),
                call("1", "skill_load", "{}"),
                call("", "skill_load", "{}"),
            ],
            Ending::Finished,
        );
        let made = made_id(7, 3);
        assert_eq!(
            parts,
            [
                call("1", "read_file", "{}"),
                call("2", "read_file", "{}"),
                call(&made, "skill_load", "{}"),
            ]
        );
    }

    #[test]
    fn a_call_that_was_cut_off_keeps_what_there_is() {
        let cut = call("1", "read_file", r#"{"file_name":"a","#);
        assert_eq!(tidied(vec![cut.clone()], Ending::CutOff), [cut]);
    }

    #[test]
    fn a_reply_that_is_wholly_a_call_becomes_one() {
        let texts = [
            r#"{"name":"read_file","arguments":{"file_name":"a"}}"#,
            "\n```json\n{\"name\": \"read_file\", \"arguments\": {\"file_name\": \"a\"}}\n```\n",
            r#"<tool_call>{"name":"read_file","arguments":{"file_name":"a"}}</tool_call>"#,
            r#"{"type":"tool_use","id":"1","name":"read_file","input":{"file_name":"a"}}"#,
            r#"{"type":"function","function":{"name":"read_file","parameters":{"file_name":"a"}}}"#,
            r#"{"functionCall":{"name":"read_file","args":{"file_name":"a"}}}"#,
        ];
        for text in texts {
            let parts = tidied(vec![ReplyPart::Text(text.to_owned())], Ending::Finished);
            assert!(
                matches!(parts.as_slice(), [ReplyPart::Call { name, arguments, .. }]
                    if name == "read_file" && arguments.contains("file_name")),
                "{text}"
            );
        }
    }

    #[test]
    fn anything_less_clear_stays_text() {
        let texts = [
            r#"I will call {"name":"read_file","arguments":{}}"#,
            r#"{"name":"write_file","arguments":{}}"#,
            r#"{"name":"Read_File","arguments":{}}"#,
            r#"{"name":"read_file","arguments":"{}"}"#,
            r#"{"name":"read_file","arguments":[1]}"#,
            r#"{"name":"read_file"}"#,
            r#"{"name":"read_file","arguments":{},"why":"because"}"#,
            r#"{"name":"read_file","arguments":{},"arguments":{"a":1}}"#,
            r#"[{"name":"read_file","arguments":{}}]"#,
            r#"{"name":"read_file","arguments":{}} {"name":"read_file","arguments":{}}"#,
            "```bash\n{\"name\":\"read_file\",\"arguments\":{}}\n```",
            "```json\n{\"name\":\"read_file\",\"arguments\":{}}\n```\nDone.",
            r#"{"type":"example","name":"read_file","arguments":{}}"#,
        ];
        for text in texts {
            let parts = vec![ReplyPart::Text(text.to_owned())];
            assert_eq!(tidied(parts.clone(), Ending::Finished), parts, "{text}");
        }
    }

    #[test]
    fn text_beside_a_real_call_stays_text() {
        let parts = vec![
            ReplyPart::Text(r#"{"name":"read_file","arguments":{}}"#.to_owned()),
            call("1", "skill_load", "{}"),
        ];
        assert_eq!(tidied(parts.clone(), Ending::Finished), parts);
    }
}
