//! Sessions as chance would have them: whatever happens, requests break with those before exactly where
//! events say so, and what is loaded is in them.

use libtest_mimic::Failed;
use metier_agent::{LoadMode, LoadRequest, Task};
use metier_model::{Request, ToolChoice};
use metier_session::{Content, Event};
use serde_json::{Value, json};

use crate::Test;
use crate::bench::{Bench, calls, shown, text};

pub(crate) const TESTS: &[Test] =
    &[("chance::requests_break_exactly_where_events_say_so", sessions_by_chance)];

/// Sessions that are tried, and turns of each.
const SESSIONS: u64 = 40;
const TURNS: usize = 6;

/// Numbers that look like chance and are the same every time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % bound
    }

    fn of<'a, T: ?Sized>(&mut self, choices: &[&'a T]) -> &'a T {
        choices[self.below(choices.len())]
    }
}

const SKILLS: [&str; 3] = ["pdf", "charts", "extra"];
const DOCS: [&str; 3] = ["forms.md", "tables.md", "none.md"];

fn call(chance: &mut Chance) -> (&'static str, Value) {
    let skill = chance.of(&SKILLS);
    let docs: Vec<&str> = (0..chance.below(3)).map(|_| chance.of(&DOCS)).collect();
    match chance.below(8) {
        0..=2 => ("skill_load", json!({ "skill": skill })),
        3 => ("skill_load", json!({ "skill": skill, "docs": docs })),
        4 => ("skill_load", json!({ "skill": skill, "include_all_docs": true })),
        5 | 6 => {
            let mode = chance.of(&["add", "replace", "clear"]);
            ("skill_select_docs", json!({ "skill": skill, "docs": docs, "mode": mode }))
        }
        _ => ("skill_list_docs", json!({ "skill": skill })),
    }
}

/// The replies of a turn: some with calls, then words.
fn script(chance: &mut Chance) -> String {
    let mut script = String::new();
    for _ in 0..chance.below(4) {
        let many: Vec<_> = (0..=chance.below(3)).map(|_| call(chance)).collect();
        script.push_str(&calls(&many));
    }
    // More than are needed, in case some are asked for as summaries.
    script + &text("Well then.").repeat(8)
}

fn task(chance: &mut Chance) -> Task {
    let mut loads = Vec::new();
    if chance.below(4) == 0 {
        let skill = chance.of(&["pdf", "charts"]).to_owned();
        loads.push(LoadRequest { skill, ..LoadRequest::default() });
    }
    Task { text: "word ".repeat(chance.below(200)), loads, ..Task::default() }
}

/// Changes the library, or not.
fn happen(chance: &mut Chance, bench: &Bench, turn: usize) {
    let skill = chance.of(&["pdf", "extra"]);
    let description = chance.of(&["Does this.", "Does that."]);
    match chance.below(4) {
        0 => bench.write(
            &format!("{skill}/SKILL.md"),
            &format!("---\nname: {skill}\ndescription: {description}\n---\n\nBody {turn}.\n"),
        ),
        1 => bench.write("pdf/forms.md", &format!("Forms {turn}.\n")),
        _ => {}
    }
}

fn settings(chance: &mut Chance, bench: &mut Bench) {
    bench.settings.mode = [LoadMode::Turn, LoadMode::Once, LoadMode::Session][chance.below(3)];
    bench.settings.retain_tokens = [0, 10, 30, 20_000][chance.below(4)];
    bench.settings.max_loaded_skills = [None, Some(1), Some(2)][chance.below(3)];
    bench.settings.context_tokens = [200_000, 1500, 1100][chance.below(3)];
}

/// Pairs of neighbours of which the second does not begin with the first: the numbers of the first.
fn broken(requests: &[Request]) -> Vec<usize> {
    let is_broken = |at: &usize| {
        let (before, after) = (&requests[*at], &requests[at + 1]);
        before.system != after.system
            || before.tools != after.tools
            || !after.messages.starts_with(&before.messages)
    };
    (0..requests.len() - 1).filter(is_broken).collect()
}

/// The same as events tell it.
fn said(events: &[Event], requests: usize) -> Vec<usize> {
    let (mut replies, mut places) = (0, Vec::new());
    for event in events {
        if matches!(event.content, Content::Assistant(_)) {
            replies += 1;
        }
        if event.breaks.is_some() {
            places.push(replies - 1);
        }
    }
    places.dedup();
    // After the last request there is none to differ from it.
    places.retain(|place| place + 1 < requests);
    places
}

fn is_loaded(bench: &Bench, skill: &str) -> bool {
    bench.state().contains(&format!("temp:skill:loaded:{skill} = 1"))
}

fn sessions_by_chance() -> Result<(), Failed> {
    let (mut breaks, mut summaries) = (0, 0);
    for seed in 0..SESSIONS {
        let mut chance = Chance(seed);
        let mut bench = Bench::new();
        settings(&mut chance, &mut bench);
        // The requests for answers; one for a summary is about older turns only.
        let mut requests = Vec::new();
        for turn in 0..TURNS {
            happen(&mut chance, &bench, turn);
            if chance.below(4) == 0 {
                settings(&mut chance, &mut bench);
            }
            let done = bench.task(task(&mut chance), &script(&mut chance));
            done.outcome?;
            let (asked, answered): (Vec<Request>, Vec<Request>) =
                done.requests.into_iter().partition(|it| it.tool_choice == ToolChoice::None);
            summaries += asked.len();
            requests.extend(answered);
            let last = shown(requests.last().ok_or("no request")?);
            for skill in SKILLS.iter().filter(|it| is_loaded(&bench, it)) {
                let block = format!("[Loaded] {skill}\n");
                assert!(last.contains(&block), "session {seed}, turn {turn}: {skill}: {last}");
            }
        }
        let events = bench.events();
        let (seen, said) = (broken(&requests), said(&events, requests.len()));
        let told = || {
            let different = seen.iter().find(|it| !said.contains(it));
            let different = different.or_else(|| said.iter().find(|it| !seen.contains(it)));
            let at = different.copied().unwrap_or_default();
            let causes: Vec<_> = events.iter().filter_map(|it| it.breaks.clone()).collect();
            let (before, after) = (shown(&requests[at]), shown(&requests[at + 1]));
            format!("session {seed}, after request {at}\n{causes:?}\n{before}\n=====\n{after}")
        };
        assert_eq!(seen, said, "{}", told());
        breaks += seen.len();
    }
    // Otherwise this would say nothing.
    assert!(breaks > 50 && summaries > 20, "{breaks} breaks, {summaries} summaries");
    Ok(())
}
