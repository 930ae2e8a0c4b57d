//! The same with a real model: what its provider says that it read, and how much of it was in its cache.
//!
//! A real model follows the words and not the script, so two runs may differ in their number of requests.

use metier_agent::AgentError;
use metier_model::ModelError;
use metier_session::Event;
use serde::Serialize;

use super::laboratory::{Laboratory, Setup, Turn};
use super::{grouped, number, share};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Align, Column, Table, plain, style};

/// What a provider was paid for.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct Paid {
    /// What was measured, for programs.
    pub case: String,
    /// The same for people.
    #[serde(skip)]
    pub title: String,
    /// In which way.
    pub layout: String,
    /// Requests that were answered.
    pub requests: usize,
    /// Tokens that the model read.
    pub prompt_tokens: usize,
    /// Those of them that came from the provider's cache.
    pub cached_tokens: usize,
    /// The others.
    pub uncached_tokens: usize,
    /// Tokens that the model wrote.
    pub output_tokens: usize,
    /// Why there is nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// What was measured with a model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Live {
    /// The model.
    pub model: String,
    /// What its provider was paid for.
    pub paid: Vec<Paid>,
}

/// Something to do with a model.
#[derive(Debug)]
pub(super) struct Trial<'a> {
    /// What is measured, for programs.
    pub case: &'a str,
    /// The same for people.
    pub title: &'a str,
    /// In which way.
    pub layout: &'a str,
    /// What is said.
    pub turns: &'a [Turn],
    /// How the agent is set up.
    pub setup: Setup,
}

/// Does it all with a model.
///
/// # Errors
///
/// When the model cannot be asked at all: it fails before anything was answered, and not because a prompt
/// is too long.
pub(super) fn perform(
    laboratory: &Laboratory,
    model: &str,
    trials: &[Trial<'_>],
    progress: impl Fn(&str),
) -> Result<Live, Failure> {
    let mut paid = Vec::new();
    for trial in trials {
        progress(&format!("{}, {}", trial.title, trial.layout));
        let outcome = match laboratory.perform(trial.turns, trial.setup, model)? {
            Ok(take) => spent(&take.events),
            Err(error) if is_too_long(&error) => Paid {
                error: Some("the prompt does not fit into the model".to_owned()),
                ..Paid::default()
            },
            // What was paid for already is told all the same.
            Err(error) if paid.iter().any(|it: &Paid| it.error.is_none()) => {
                Paid { error: Some(error.to_string()), ..Paid::default() }
            }
            Err(error) => return Err(error.into()),
        };
        let [case, title, layout] = [trial.case, trial.title, trial.layout].map(str::to_owned);
        paid.push(Paid { case, title, layout, ..outcome });
    }
    Ok(Live { model: model.to_owned(), paid })
}

impl Live {
    /// Says what is being done, for a person who waits.
    pub(super) fn progress(context: &Context, is_quiet: bool) -> impl Fn(&str) {
        let output = context.output;
        move |text| {
            if !is_quiet {
                output.note(style::DIM, "asking ", text);
            }
        }
    }

    /// Prints it as a table.
    pub(super) fn print(&self, context: &Context) {
        let text = Column { heading: "CASE", align: Align::Left, fills: true };
        let layout = Column { heading: "LAYOUT", align: Align::Left, fills: false };
        let numbers = ["REQUESTS", "PROMPT", "CACHED", "UNCACHED", "WRITTEN"].map(number);
        let mut table = Table::new(&[&[text, layout], &numbers[..]].concat());
        for paid in &self.paid {
            let mut row =
                vec![(style::NAME, paid.title.clone()), (style::HEADING, paid.layout.clone())];
            row.extend(paid.cells().map(|cell| (style::DIM, cell)));
            table.row(row);
        }
        context.output.print(&format!(
            "\n{}, by its provider's count\n{}",
            plain(&self.model),
            table.render(context.output.width())
        ));
        for paid in &self.paid {
            if let Some(error) = &paid.error {
                context.output.say(&format!("{}, {}: {error}", paid.title, paid.layout));
            }
        }
    }
}

impl Paid {
    /// Its numbers, for a table; lines without any have none.
    pub(super) fn cells(&self) -> [String; 5] {
        if self.error.is_some() {
            return [const { "–" }; 5].map(str::to_owned);
        }
        let numbers = [self.requests, self.prompt_tokens, self.cached_tokens, self.uncached_tokens];
        let [requests, prompt, cached, uncached] = numbers.map(grouped);
        [requests, prompt, cached, uncached, grouped(self.output_tokens)]
    }

    /// The share of what was read that was new.
    pub(super) fn share(&self) -> f64 {
        share(self.uncached_tokens, self.prompt_tokens)
    }
}

fn is_too_long(error: &AgentError) -> bool {
    matches!(error, AgentError::TooLong | AgentError::Model(ModelError::ContextOverflow { .. }))
}

fn spent(events: &[Event]) -> Paid {
    let mut paid = Paid::default();
    for usage in events.iter().filter_map(|event| event.usage.as_ref()) {
        let tokens = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
        paid.requests += 1;
        paid.prompt_tokens += tokens(usage.input_tokens);
        paid.cached_tokens += tokens(usage.cached_input_tokens);
        paid.output_tokens += tokens(usage.output_tokens);
    }
    paid.uncached_tokens = paid.prompt_tokens.saturating_sub(paid.cached_tokens);
    paid
}
