//! The entries of a script.

use std::time::Duration;

use serde::Deserialize;
use serde::de::Error;
use serde_json::value::RawValue;

use crate::accumulator::Accumulator;
use crate::calls::unquoted;
use crate::error::Said;
use crate::{ModelError, StopReason, Usage};

/// The host that errors of a script name.
const HOST: &str = "script";

/// One reply of a script.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Entry {
    /// When it replies; without this, when its turn comes.
    pub(super) when: Option<When>,
    /// How often it may reply, if it has a `when`.
    times: Option<usize>,
    /// How long it waits first.
    pub(super) delay_ms: u64,
    reasoning: String,
    text: String,
    calls: Vec<ScriptedCall>,
    usage: Usage,
    stop: Option<StopWord>,
    /// What it fails with, after text and calls.
    error: Option<ScriptedError>,
}

/// Which requests an entry replies to; all that is given must fit.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct When {
    /// A part of the last message.
    last: Option<String>,
    /// How many replies the conversation has already.
    turn: Option<usize>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptedCall {
    id: Option<String>,
    name: String,
    arguments: Box<RawValue>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StopWord {
    End,
    Calls,
    Length,
    Refusal,
    Filtered,
    Other,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptedError {
    kind: ErrorWord,
    #[serde(default)]
    message: String,
    #[serde(default)]
    retry_after_ms: Option<u64>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ErrorWord {
    Key,
    RateLimited,
    QuotaExhausted,
    ContextOverflow,
    Refused,
    Failed,
    Interrupted,
}

impl When {
    pub(super) fn fits(&self, last: &str, turn: usize) -> bool {
        self.last.as_ref().is_none_or(|part| last.contains(part))
            && self.turn.is_none_or(|wanted| wanted == turn)
    }
}

impl Entry {
    pub(super) fn most_times(&self) -> usize {
        self.times.unwrap_or(usize::MAX)
    }

    /// Tells the reply piece by piece. Ids are made from the length of the conversation.
    pub(super) fn tell(&self, seed: u64, to: &mut Accumulator) {
        if !self.reasoning.is_empty() {
            to.reasoning(0, &self.reasoning);
        }
        for word in self.text.split_inclusive(' ') {
            to.text(word);
        }
        for (key, call) in self.calls.iter().enumerate() {
            let made = format!("call_{seed}_{key}");
            to.call(key as u64, Some(call.id.as_ref().unwrap_or(&made)), Some(&call.name));
            to.arguments(key as u64, &unquoted(call.arguments.get()));
            to.finish_call(key as u64);
        }
        to.set_usage(self.usage);
        if let Some(stop) = self.stop {
            to.set_stop(match stop {
                StopWord::End => StopReason::End,
                StopWord::Calls => StopReason::Calls,
                StopWord::Length => StopReason::Length,
                StopWord::Refusal => StopReason::Refusal(self.text.clone()),
                StopWord::Filtered => StopReason::Filtered,
                StopWord::Other => StopReason::Other,
            });
        }
    }

    /// What it fails with.
    pub(super) fn error(&self) -> Option<ModelError> {
        let error = self.error.as_ref()?;
        let (host, said) = (HOST.to_owned(), Said::new(&error.message));
        let retry_after = error.retry_after_ms.map(Duration::from_millis);
        Some(match error.kind {
            ErrorWord::Key => ModelError::Key { host, said },
            ErrorWord::RateLimited => ModelError::RateLimited { host, said, retry_after },
            ErrorWord::QuotaExhausted => ModelError::QuotaExhausted { host, said },
            ErrorWord::ContextOverflow => ModelError::ContextOverflow { said },
            ErrorWord::Refused => ModelError::Refused { host, said },
            ErrorWord::Failed => ModelError::Failed { host, status: None, said, retry_after },
            ErrorWord::Interrupted => ModelError::Interrupted { source: None },
        })
    }
}

/// Reads a script: an array, or an object a line.
pub(super) fn parse(text: &str) -> Result<Vec<Entry>, ModelError> {
    let wrong = |at: usize, source| ModelError::Script { entry: at + 1, source };
    let entries: Vec<&str> = if text.trim_start().starts_with('[') {
        let array: Vec<&RawValue> = serde_json::from_str(text).map_err(|error| wrong(0, error))?;
        array.into_iter().map(RawValue::get).collect()
    } else {
        let lines = text.lines().map(str::trim);
        lines.filter(|line| !line.is_empty() && !line.starts_with('#')).collect()
    };
    let read = |(at, text)| {
        let entry: Entry = serde_json::from_str(text).map_err(|error| wrong(at, error))?;
        if entry.times.is_some() && entry.when.is_none() {
            let fault = "`times` is for entries with `when`; the others reply once";
            return Err(wrong(at, serde_json::Error::custom(fault)));
        }
        Ok(entry)
    };
    entries.into_iter().enumerate().map(read).collect()
}
