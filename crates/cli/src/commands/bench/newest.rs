//! A layout to compare with: the text of a skill at the newest result that names it.
//!
//! This is what trpc-agent-go does with `WithSkillsLoadedContentInToolResults`, made from the same events as
//! our own requests. Every request is built anew: the transcript has stubs, and the last result of
//! `skill_load` or `skill_select_docs` for a skill is replaced by its whole block, body and selected docs. So
//! the body moves whenever docs are selected or the skill is loaded again, and where it stood is a stub. While
//! no skill is loaded there are only stubs. As soon as one is, its code shows every skill that was ever
//! loaded ([`Shown::Ever`]), which its documentation does not say; [`Shown::Loaded`] is the same without that.
//! Its fallback for results that are not in the history is left out: here all of them are.

use std::collections::HashMap;

use metier_agent::block::{self, DocText};
use metier_agent::conversation::{Layout, Placement, Sources, digest_of, stub};
use metier_agent::shelf::{Selection, Shelf};
use metier_agent::texts::TextError;
use metier_model::{Message, ReplyPart, Request};
use metier_session::{Content, Event, State, replay};
use serde_json::Value;

use super::laboratory::{Take, steady};

/// Which skills have text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// Every skill that was ever loaded, as long as any is.
    Ever,
    /// Those that are loaded.
    Loaded,
}

/// The requests that the same session would have made.
///
/// # Errors
///
/// When a text is no longer there.
pub(super) fn requests(take: &Take, shown: Shown) -> Result<Vec<Request>, TextError> {
    let Some(first) = take.requests.first() else { return Ok(Vec::new()) };
    let replies = take.events.iter().enumerate();
    let replies = replies.filter(|(_, event)| matches!(event.content, Content::Assistant(_)));
    let request = |(at, _): (usize, &Event)| {
        let messages = messages(take, &take.events[..at], shown)?;
        let mut request = Request { messages, ..first.clone() };
        steady(&mut request);
        Ok(request)
    };
    replies.map(request).collect()
}

fn messages(take: &Take, events: &[Event], shown: Shown) -> Result<Vec<Message>, TextError> {
    let nothing = Shelf::read(&State::default(), &take.agent);
    let layout = Layout { placement: Placement::System, ..take.layout };
    let plain = Sources { system: "", events, shelf: &nothing, layout, texts: &take.texts };
    let mut messages = plain.conversation()?.messages;
    let newest = leave_stubs(&mut messages);
    let shelf = Shelf::read(&replay(events), &take.agent);
    if shelf.skills().next().is_none() {
        return Ok(messages);
    }
    for (skill, at) in newest {
        if shown == Shown::Loaded && !shelf.has(&skill) {
            continue;
        }
        let block = whole_block(take, events, &shelf, &skill)?;
        if let Message::ToolResult { text, .. } = &mut messages[at] {
            let kept = if *text == stub(&skill) { String::new() } else { format!("{text}\n\n") };
            *text = kept + block.trim_end();
        }
    }
    Ok(messages)
}

/// Makes every result of a load a stub; gives the last result that names each skill.
fn leave_stubs(messages: &mut [Message]) -> HashMap<String, usize> {
    let mut skills: HashMap<String, String> = HashMap::new();
    let mut newest = HashMap::new();
    for (at, message) in messages.iter_mut().enumerate() {
        match message {
            Message::Assistant(parts) => skills.extend(parts.iter().filter_map(named_skill)),
            Message::ToolResult { call_id, name, text, is_error: false } => {
                let Some(skill) = skills.get(call_id) else { continue };
                if name == "skill_load" {
                    *text = stub(skill);
                }
                if name == "skill_load" || name == "skill_select_docs" {
                    newest.insert(skill.clone(), at);
                }
            }
            _ => {}
        }
    }
    newest
}

/// The id of a call with the skill that it names.
fn named_skill(part: &ReplyPart) -> Option<(String, String)> {
    let ReplyPart::Call { id, arguments, .. } = part else { return None };
    let arguments: Value = serde_json::from_str(arguments).ok()?;
    Some((id.clone(), arguments.get("skill")?.as_str()?.to_owned()))
}

fn whole_block(
    take: &Take,
    events: &[Event],
    shelf: &Shelf,
    skill: &str,
) -> Result<String, TextError> {
    let digest = digest_of(events, skill).unwrap_or_default();
    let paths = match shelf.selection(skill) {
        Some(Selection::All) => take.texts.docs(skill, digest)?,
        Some(Selection::Docs(docs)) => docs.clone(),
        None => Vec::new(),
    };
    let docs: Result<Vec<DocText>, TextError> = paths
        .into_iter()
        .map(|path| Ok(DocText { text: take.texts.doc(skill, digest, &path)?, path }))
        .collect();
    let body = take.texts.body(skill, digest)?;
    Ok(block::loaded(skill, &body, &docs?, take.layout.max_body_tokens))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use metier_agent::LoadMode;
    use serde_json::json;

    use super::super::laboratory::{Call, Laboratory, Setup, Turn};
    use super::*;
    use crate::args::{Color, SourceArgs};
    use crate::context::Context;
    use crate::output::{Output, Terminal};
    use metier_app::Environment;

    /// Two turns with two skills: the results of each request, on a line each.
    fn results(shown: Shown) -> String {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in
            [("ink/SKILL.md", "INK"), ("ink/a.md", "A"), ("paper/SKILL.md", "PAPER")]
        {
            let path = folder.path().join("skills").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            let name = path.parent().unwrap().file_name().unwrap().to_string_lossy().into_owned();
            let header = format!("---\nname: {name}\ndescription: Is {name}.\n---\n");
            let header = if path.ends_with("SKILL.md") { header } else { String::new() };
            fs::write(path, format!("{header}{text}\n")).unwrap();
        }
        let environment = Environment::new(folder.path().join("state"), folder.path());
        let context =
            Context::new(environment, Output::new(Color::Never, true, Terminal::default()))
                .unwrap();
        let sources = SourceArgs {
            skills_dirs: vec![folder.path().join("skills")],
            no_default_sources: true,
            agent: "default".to_owned(),
            ..SourceArgs::default()
        };
        let turn = |calls: &[(&'static str, Value)]| {
            let call = |(tool, arguments): &(&'static str, Value)| Call {
                tool,
                arguments: arguments.clone(),
            };
            Turn { calls: calls.iter().map(call).collect(), ..Turn::default() }
        };
        let turns = [
            turn(&[
                ("skill_load", json!({ "skill": "ink" })),
                ("skill_select_docs", json!({ "skill": "ink", "docs": ["a.md"] })),
            ]),
            turn(&[("skill_load", json!({ "skill": "paper" }))]),
        ];
        let setup = Setup { mode: LoadMode::Turn, placement: Placement::System };
        let laboratory = Laboratory::new(&context, &sources).unwrap();
        let take = laboratory.rehearse(&turns, setup).unwrap();
        let result = |message: &Message| match message {
            Message::ToolResult { text, .. } => {
                Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
            }
            _ => None,
        };
        let line = |(number, request): (usize, &Request)| {
            let results: Vec<String> = request.messages.iter().filter_map(result).collect();
            format!("{}: {}", number + 1, results.join(" | "))
        };
        requests(&take, shown).unwrap().iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn the_body_moves_to_the_newest_result_and_skills_come_back_that_are_not_loaded() {
        insta::assert_snapshot!(results(Shown::Ever), @r#"
        1: 
        2: [Loaded] ink INK Docs loaded: none
        3: loaded: ink | {"skill":"ink","selected_docs":["a.md"],"include_all_docs":false,"mode":"replace"} [Loaded] ink INK Docs loaded: a.md [Doc] a.md A
        4: loaded: ink | {"skill":"ink","selected_docs":["a.md"],"include_all_docs":false,"mode":"replace"}
        5: loaded: ink | {"skill":"ink","selected_docs":["a.md"],"include_all_docs":false,"mode":"replace"} [Loaded] ink INK Docs loaded: none | [Loaded] paper PAPER Docs loaded: none
        "#);
    }

    #[test]
    fn without_that_only_skills_that_are_loaded_have_text() {
        insta::assert_snapshot!(results(Shown::Loaded), @r#"
        1: 
        2: [Loaded] ink INK Docs loaded: none
        3: loaded: ink | {"skill":"ink","selected_docs":["a.md"],"include_all_docs":false,"mode":"replace"} [Loaded] ink INK Docs loaded: a.md [Doc] a.md A
        4: loaded: ink | {"skill":"ink","selected_docs":["a.md"],"include_all_docs":false,"mode":"replace"}
        5: loaded: ink | {"skill":"ink","selected_docs":["a.md"],"include_all_docs":false,"mode":"replace"} | [Loaded] paper PAPER Docs loaded: none
        "#);
    }
}
