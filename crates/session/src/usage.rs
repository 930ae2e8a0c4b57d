//! What models were paid, and for what.
//!
//! The sums are made in one place for all stores: a store feeds its events to [`Tally`], session
//! by session and in their order, as [`Note`]s that leave out everything else.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use serde::{Deserialize, Serialize};

use crate::{BreakCause, Content, Event, Extra, SessionKey, SessionRef};

/// What a model was paid for one reply.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// The model.
    pub model: String,
    /// Tokens it read, all of them.
    #[serde(default)]
    pub input_tokens: u64,
    /// Those of them that its cache had.
    #[serde(default)]
    pub cached_input_tokens: u64,
    /// Those of them that were put into its cache.
    #[serde(default)]
    pub cache_write_tokens: u64,
    /// Tokens it wrote, all of them.
    #[serde(default)]
    pub output_tokens: u64,
    /// Those of them that were thoughts.
    #[serde(default)]
    pub reasoning_tokens: u64,
    /// Fields of later versions.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Which events to sum up; all of them by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageFilter {
    /// Only this app.
    pub app: Option<String>,
    /// Only users of this id.
    pub user: Option<String>,
    /// Only sessions of this id.
    pub session: Option<String>,
    /// Only from this time on, in milliseconds since 1970.
    pub since: Option<u64>,
    /// Only before this time, in milliseconds since 1970.
    pub until: Option<u64>,
}

/// Sums over events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tokens {
    /// How many replies.
    pub replies: u64,
    /// Tokens that were read, all of them.
    pub input: u64,
    /// Those of them that a cache had.
    pub cached_input: u64,
    /// Those of them that were put into a cache.
    pub cache_write: u64,
    /// Tokens that were written, all of them.
    pub output: u64,
    /// Those of them that were thoughts.
    pub reasoning: u64,
}

/// What models were paid, from several sides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageReport {
    /// All together.
    pub total: Tokens,
    /// By model.
    pub by_model: BTreeMap<String, Tokens>,
    /// By session.
    pub by_session: BTreeMap<SessionKey, Tokens>,
    /// By skill: all that was paid in turns in which the skill took part. A turn with two skills
    /// counts for both, one without any for none.
    pub by_skill: BTreeMap<String, Tokens>,
    /// By day of UTC, such as `2026-11-16`.
    pub by_day: BTreeMap<String, Tokens>,
    /// How often requests began with other bytes than those before, by cause.
    pub breaks: BTreeMap<BreakCause, u64>,
}

/// What of an event the sums are made of, and what must be kept for it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Note {
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<Usage>,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    skills: BTreeSet<String>,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) digests: BTreeSet<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    breaks: Option<BreakCause>,
}

/// An event for the sums.
#[derive(Debug)]
pub(crate) struct Noted<'a> {
    pub(crate) key: &'a SessionKey,
    pub(crate) generation: u32,
    pub(crate) time: u64,
    /// Whether a turn begins with it.
    pub(crate) is_user: bool,
    pub(crate) note: Note,
}

/// Makes the sums.
#[derive(Debug)]
pub(crate) struct Tally<'a> {
    filter: &'a UsageFilter,
    report: UsageReport,
    generation: Option<u32>,
    turn: Tokens,
    skills: BTreeSet<String>,
}

impl UsageFilter {
    /// Whether events of this session are to be summed up.
    pub(crate) fn takes(&self, key: &SessionKey) -> bool {
        let is = |wanted: &Option<String>, id| wanted.as_deref().is_none_or(|wanted| wanted == id);
        is(&self.app, key.app()) && is(&self.user, key.user()) && is(&self.session, key.session())
    }

    fn takes_time(&self, time: u64) -> bool {
        self.since.is_none_or(|since| since <= time) && self.until.is_none_or(|until| time < until)
    }
}

impl UsageReport {
    /// Sums up sessions, each with all of its events in their order.
    pub fn of<'a, E: IntoIterator<Item = &'a Event>>(
        sessions: impl IntoIterator<Item = (&'a SessionRef, E)>,
        filter: &UsageFilter,
    ) -> Self {
        let mut tally = Tally::new(filter);
        for (at, events) in sessions.into_iter().filter(|(at, _)| filter.takes(&at.key)) {
            for event in events {
                tally.take(Noted {
                    key: &at.key,
                    generation: at.generation,
                    time: event.time,
                    is_user: matches!(event.content, Content::User(_)),
                    note: Note::of(event),
                });
            }
        }
        tally.finish()
    }
}

impl Tokens {
    /// Adds others to these. Sums that no longer fit stay at the largest number.
    pub fn add(&mut self, more: &Self) {
        let sum = |to: &mut u64, more| *to = to.saturating_add(more);
        sum(&mut self.replies, more.replies);
        sum(&mut self.input, more.input);
        sum(&mut self.cached_input, more.cached_input);
        sum(&mut self.cache_write, more.cache_write);
        sum(&mut self.output, more.output);
        sum(&mut self.reasoning, more.reasoning);
    }
}

impl From<&Usage> for Tokens {
    fn from(usage: &Usage) -> Self {
        Self {
            replies: 1,
            input: usage.input_tokens,
            cached_input: usage.cached_input_tokens,
            cache_write: usage.cache_write_tokens,
            output: usage.output_tokens,
            reasoning: usage.reasoning_tokens,
        }
    }
}

impl Note {
    pub(crate) fn of(event: &Event) -> Self {
        let mut skills: BTreeSet<String> = event.digests.keys().cloned().collect();
        let mut digests: BTreeSet<String> = event.digests.values().cloned().collect();
        for loaded in event.content.loaded() {
            skills.insert(loaded.skill.clone());
            digests.insert(loaded.digest.clone());
        }
        let breaks = event.breaks.as_ref().map(|breaks| breaks.cause.clone());
        Self { usage: event.usage.clone(), skills, digests, breaks }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.usage.is_none() && self.skills.is_empty() && self.breaks.is_none()
    }
}

impl<'a> Tally<'a> {
    pub(crate) fn new(filter: &'a UsageFilter) -> Self {
        let report = UsageReport::default();
        Self { filter, report, generation: None, turn: Tokens::default(), skills: BTreeSet::new() }
    }

    /// Takes the next event. Those without a note that begin no turn may be left out.
    pub(crate) fn take(&mut self, event: Noted<'_>) {
        if event.is_user || self.generation != Some(event.generation) {
            self.end_turn();
            self.generation = Some(event.generation);
        }
        let Note { usage, skills, breaks, .. } = event.note;
        self.skills.extend(skills);
        if !self.filter.takes_time(event.time) {
            return;
        }
        if let Some(cause) = breaks {
            *self.report.breaks.entry(cause).or_default() += 1;
        }
        let Some(usage) = usage else { return };
        let tokens = Tokens::from(&usage);
        self.turn.add(&tokens);
        self.report.total.add(&tokens);
        self.report.by_model.entry(usage.model).or_default().add(&tokens);
        self.report.by_day.entry(day(event.time)).or_default().add(&tokens);
        match self.report.by_session.get_mut(event.key) {
            Some(sum) => sum.add(&tokens),
            None => drop(self.report.by_session.insert(event.key.clone(), tokens)),
        }
    }

    pub(crate) fn finish(mut self) -> UsageReport {
        self.end_turn();
        self.report
    }

    fn end_turn(&mut self) {
        let turn = mem::take(&mut self.turn);
        for skill in mem::take(&mut self.skills) {
            if turn.replies > 0 {
                self.report.by_skill.entry(skill).or_default().add(&turn);
            }
        }
    }
}

/// The day of a time, counted in years that begin in March, so that leap days are last.
fn day(time: u64) -> String {
    const ERA_DAYS: u64 = 146_097;
    let days = time / 86_400_000 + 719_468;
    let (era, day_of_era) = (days / ERA_DAYS, days % ERA_DAYS);
    let leap = day_of_era / 1460 + day_of_era / 146_096;
    let year_of_era = (day_of_era + day_of_era / 36_524 - leap) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (month, after) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    format!("{:04}-{month:02}-{day:02}", era * 400 + year_of_era + after)
}

#[cfg(test)]
mod tests {
    use super::day;

    #[test]
    fn days_are_those_of_the_calendar() {
        let days = [0, 951_782_399_999, 951_782_400_000, 951_868_800_000, 1_794_787_200_000];
        insta::assert_snapshot!(
            days.map(day).join(" "),
            @"1970-01-01 2000-02-28 2000-02-29 2000-03-01 2026-11-16"
        );
        assert_eq!(day(4_107_542_399_999), "2100-02-28");
        assert_eq!(day(4_107_542_400_000), "2100-03-01");
    }
}
