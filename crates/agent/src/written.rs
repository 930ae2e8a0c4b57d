//! What is written down of what tools answered.

use std::collections::BTreeMap;

use metier_session::content::{Call, StateUpdate, ToolResponse};
use metier_session::{Content, NewEvent};
use serde_json::Value;

use crate::agent::Agent;
use crate::fence;
use crate::tools::Answer;

impl Agent {
    /// What is written down of code that was run.
    pub(crate) fn code_result(&self, answer: Answer) -> NewEvent {
        self.result(fence::CAUSE, answer, [])
    }

    /// What is written down of an answer to something that was no call of the model.
    pub(crate) fn result(
        &self,
        cause: &str,
        answer: Answer,
        fields: impl IntoIterator<Item = (&'static str, Value)>,
    ) -> NewEvent {
        let mut update = StateUpdate {
            cause: cause.to_owned(),
            text: Some(answer.text),
            ..StateUpdate::default()
        };
        update.extra.extend(fields.into_iter().map(|(name, value)| (name.to_owned(), value)));
        if let Some(name) = answer.result.type_name() {
            update.extra.insert(fence::RESULT_TYPE.to_owned(), Value::String(name.to_owned()));
            update.extra.insert(fence::STRUCTURED.to_owned(), answer.result.to_json());
        }
        let mut event = NewEvent::new(&self.name, Content::StateUpdate(update));
        for (skill, digest) in &answer.digests {
            event = event.with_digest(skill, digest);
        }
        with_identities(event, &answer.identities)
    }

    /// What is written down of the answer to a call.
    pub(crate) fn response(&self, call: &Call, answer: Answer) -> NewEvent {
        let Answer { text, is_error, result, loaded, state, digests, identities, breaks } = answer;
        let response = ToolResponse {
            call: call.id.clone(),
            tool: call.name.clone(),
            text,
            is_error,
            result_type: result.type_name().map(Box::from),
            structured: result.to_json(),
            loaded,
            ..ToolResponse::default()
        };
        let mut event =
            NewEvent::new(&self.name, Content::ToolResponse(response)).with_state(state);
        for (skill, digest) in &digests {
            event = event.with_digest(skill, digest);
        }
        event = with_identities(event, &identities);
        match breaks {
            Some((cause, stubbed)) => event.with_break(cause, stubbed),
            None => event,
        }
    }
}

/// Says which skills of their names took part.
pub(crate) fn with_identities(event: NewEvent, identities: &BTreeMap<String, String>) -> NewEvent {
    let add = |event: NewEvent, (skill, identity): (&String, &String)| {
        event.with_identity(skill, identity)
    };
    identities.iter().fold(event, add)
}
