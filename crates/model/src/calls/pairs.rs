//! Calls and results of a conversation, paired.
//!
//! Every provider refuses a conversation in which a call has no result right after it, or a result
//! no call before it. Such conversations come from runs that were killed and from histories that
//! were cut.

use std::borrow::Cow;

use crate::{Message, ReplyPart};

/// What stands for the result of a call that has none.
const NO_RESULT: &str = "no result: the run was interrupted before this call finished";

/// The conversation with each reply followed by the results of its calls, in their order.
///
/// A result that comes later moves to its call, a result without a call or a second one for the
/// same call is left out, and a call without a result gets one that says so. A conversation that
/// is in order stays as it is.
pub(crate) fn pair(messages: &[Message]) -> Vec<Cow<'_, Message>> {
    let mut used = vec![false; messages.len()];
    let mut paired = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        match message {
            Message::ToolResult { .. } => {}
            Message::Assistant(parts) => {
                paired.push(Cow::Borrowed(message));
                for part in parts {
                    if let ReplyPart::Call { id, name, .. } = part {
                        paired.push(result_of(id, name, at, messages, &mut used));
                    }
                }
            }
            Message::System(_) | Message::User(_) => paired.push(Cow::Borrowed(message)),
        }
    }
    paired
}

/// The first result after a reply that belongs to a call, unless the same id was called again
/// before it: some servers count their ids from the start in every reply.
fn result_of<'a>(
    id: &str,
    name: &str,
    reply: usize,
    messages: &'a [Message],
    used: &mut [bool],
) -> Cow<'a, Message> {
    for (at, message) in messages.iter().enumerate().skip(reply + 1) {
        match message {
            Message::ToolResult { call_id, .. } if call_id == id && !used[at] => {
                used[at] = true;
                return Cow::Borrowed(message);
            }
            Message::Assistant(parts) if calls(parts, id) => break,
            _ => {}
        }
    }
    Cow::Owned(Message::ToolResult {
        call_id: id.to_owned(),
        name: name.to_owned(),
        text: NO_RESULT.to_owned(),
        is_error: true,
    })
}

fn calls(parts: &[ReplyPart], wanted: &str) -> bool {
    parts.iter().any(|part| matches!(part, ReplyPart::Call { id, .. } if id == wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A conversation in short: `u` a user's message, `c1,2` a reply with calls, `r1` a result.
    fn conversation(short: &str) -> Vec<Message> {
        let message = |word: &str| match word.split_at(1) {
            ("u", text) => Message::user(text),
            ("r", id) => result(id),
            (_, ids) => {
                Message::Assistant(ids.split(',').filter(|id| !id.is_empty()).map(call).collect())
            }
        };
        short.split(' ').map(message).collect()
    }

    fn call(id: &str) -> ReplyPart {
        ReplyPart::Call { id: id.to_owned(), name: "t".to_owned(), arguments: "{}".to_owned() }
    }

    fn result(id: &str) -> Message {
        let [call_id, name, text] = [id, "t", "done"].map(str::to_owned);
        Message::ToolResult { call_id, name, text, is_error: false }
    }

    fn shown(short: &str) -> String {
        let messages = conversation(short);
        let words = pair(&messages).into_iter().map(|message| match message.as_ref() {
            Message::ToolResult { call_id, is_error: false, .. } => format!("r{call_id}"),
            Message::ToolResult { call_id, .. } => format!("!{call_id}"),
            Message::Assistant(parts) => {
                let ids = parts.iter().filter_map(|part| match part {
                    ReplyPart::Call { id, .. } => Some(id.as_str()),
                    _ => None,
                });
                format!("c{}", ids.collect::<Vec<_>>().join(","))
            }
            _ => "u".to_owned(),
        });
        words.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn calls_and_results_are_paired() {
        let cases = [
            ("u c1,2 r1 r2 c", "u c1,2 r1 r2 c"),
            ("u c1,2 r2 r1", "u c1,2 r1 r2"),
            ("u c1 u r1", "u c1 r1 u"),
            ("u c1,2 r1", "u c1,2 r1 !2"),
            ("r9 u c1 r1 r1 r8", "u c1 r1"),
            ("c1 r1 c1 r1", "c1 r1 c1 r1"),
            ("c1 c1 r1", "c1 !1 c1 r1"),
        ];
        for (before, after) in cases {
            assert_eq!(shown(before), after, "{before}");
        }
    }
}
