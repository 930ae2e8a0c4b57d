//! What models were paid, summed up.

use std::collections::BTreeMap;
use std::fmt::Write;

use metier_session::{
    BreakCause, Event, NewEvent, SessionKey, Tokens, Usage, UsageFilter, UsageReport,
};
use serde_json::json;

use crate::support::{Store, begin, paid, replied, said};

/// 2026-11-16, noon.
const NOON: u64 = 1_794_830_400_000;
const DAY: u64 = 86_400_000;

async fn fill(store: &Store) {
    let full = Usage {
        cached_input_tokens: 60,
        cache_write_tokens: 30,
        reasoning_tokens: 2,
        ..paid("large", 100, 10)
    };
    let first = begin(store, "first").await;
    let events = vec![
        said("load csv").with_time(NOON),
        replied("").with_usage(full).with_time(NOON),
        said_by_tool("csv").with_time(NOON),
        replied("").with_usage(paid("large", 1, 1)).with_time(NOON + 1),
        said("now log and csv").with_time(NOON + DAY),
        replied("").with_usage(paid("small", 5, 5)).with_digest("log", "d").with_time(NOON + DAY),
        replied("").with_digest("csv", "d").with_time(NOON + DAY),
        said("no skill").with_time(NOON + DAY),
        replied("")
            .with_usage(paid("small", 7, 7))
            .with_break(BreakCause::Once, vec![])
            .with_time(NOON + DAY),
    ];
    store.append(&first, 0, events).await.unwrap();
    // Another session does not go on with the turn of the first.
    let second = store.create(&SessionKey::new("app", "bob", "second").unwrap()).await.unwrap();
    let events = vec![
        replied("").with_usage(paid("large", 2, 2)).with_digest("log", "d").with_time(NOON),
        said("").with_break(BreakCause::Compaction, vec![]).with_time(NOON),
    ];
    store.append(&second.at, 0, events).await.unwrap();
}

/// A response that loads a skill.
fn said_by_tool(skill: &str) -> NewEvent {
    let content = json!({"call": "c", "tool": "skill_load", "text": "", "loaded": {"skill": skill, "digest": "d"}});
    let event = json!({"seq": 1, "id": "019a8c5e-7b00-7000-8000-000000000001", "time": 1, "author": "agent", "kind": "tool.response", "content": content});
    serde_json::from_value::<Event>(event).unwrap().into()
}

pub(crate) async fn usage_is_summed_from_all_sides(store: &Store) {
    assert_eq!(store.usage(&UsageFilter::default()).await.unwrap(), UsageReport::default());
    fill(store).await;
    let report = store.usage(&UsageFilter::default()).await.unwrap();
    insta::allow_duplicates! { insta::assert_snapshot!(shown(&report), @"
    total: 5 replies, read 115 (60 cached, 30 written), wrote 25 (2 thoughts)
    model large: 3 replies, read 103 (60 cached, 30 written), wrote 13 (2 thoughts)
    model small: 2 replies, read 12 (0 cached, 0 written), wrote 12 (0 thoughts)
    session ada/first: 4 replies, read 113 (60 cached, 30 written), wrote 23 (2 thoughts)
    session bob/second: 1 replies, read 2 (0 cached, 0 written), wrote 2 (0 thoughts)
    skill csv: 3 replies, read 106 (60 cached, 30 written), wrote 16 (2 thoughts)
    skill log: 2 replies, read 7 (0 cached, 0 written), wrote 7 (0 thoughts)
    day 2026-11-16: 3 replies, read 103 (60 cached, 30 written), wrote 13 (2 thoughts)
    day 2026-11-17: 2 replies, read 12 (0 cached, 0 written), wrote 12 (0 thoughts)
    breaks {Compaction: 1, Once: 1}
    ") };
}

pub(crate) async fn usage_of_some_sessions_and_times(store: &Store) {
    fill(store).await;
    let usage = async |filter| shown(&store.usage(&filter).await.unwrap());
    let everything = UsageFilter::default;
    let bob = UsageFilter { user: Some("bob".to_owned()), ..everything() };
    let bob = usage(bob).await;
    insta::allow_duplicates! { insta::assert_snapshot!(bob, @"
    total: 1 replies, read 2 (0 cached, 0 written), wrote 2 (0 thoughts)
    model large: 1 replies, read 2 (0 cached, 0 written), wrote 2 (0 thoughts)
    session bob/second: 1 replies, read 2 (0 cached, 0 written), wrote 2 (0 thoughts)
    skill log: 1 replies, read 2 (0 cached, 0 written), wrote 2 (0 thoughts)
    day 2026-11-16: 1 replies, read 2 (0 cached, 0 written), wrote 2 (0 thoughts)
    breaks {Compaction: 1}
    ") };
    let second_day = UsageFilter {
        app: Some("app".to_owned()),
        session: Some("first".to_owned()),
        since: Some(NOON + 1),
        until: Some(NOON + DAY),
        ..everything()
    };
    let second_day = usage(second_day).await;
    insta::allow_duplicates! { insta::assert_snapshot!(second_day, @"
    total: 1 replies, read 1 (0 cached, 0 written), wrote 1 (0 thoughts)
    model large: 1 replies, read 1 (0 cached, 0 written), wrote 1 (0 thoughts)
    session ada/first: 1 replies, read 1 (0 cached, 0 written), wrote 1 (0 thoughts)
    skill csv: 1 replies, read 1 (0 cached, 0 written), wrote 1 (0 thoughts)
    day 2026-11-16: 1 replies, read 1 (0 cached, 0 written), wrote 1 (0 thoughts)
    breaks {}
    ") };
    let nobody = UsageFilter { app: Some("App".to_owned()), ..everything() };
    assert_eq!(store.usage(&nobody).await.unwrap(), UsageReport::default());
}

pub(crate) async fn sums_that_do_not_fit_stay_at_the_largest(store: &Store) {
    let at = begin(store, "huge").await;
    let reply = || replied("").with_usage(paid("m", u64::MAX - 1, 1));
    store.append(&at, 0, vec![reply(), reply()]).await.unwrap();
    let total = store.usage(&UsageFilter::default()).await.unwrap().total;
    assert_eq!((total.replies, total.input, total.output), (2, u64::MAX, 2));
}

pub(crate) async fn digests_of_what_is_deleted_are_not_kept(store: &Store) {
    let digests = async || store.digests().await.unwrap().into_iter().collect::<Vec<_>>().join(" ");
    let first = begin(store, "first").await;
    let events = vec![said("x").with_digest("a", "d1").with_digest("b", "d2"), said_by_tool("c")];
    store.append(&first, 0, events).await.unwrap();
    let second = begin(store, "second").await;
    store.append(&second, 0, vec![said("x").with_digest("b", "d2")]).await.unwrap();
    assert_eq!(digests().await, "d d1 d2");
    store.delete(&first.key).await.unwrap();
    assert_eq!(digests().await, "d2");
}

fn shown(report: &UsageReport) -> String {
    let mut text = String::new();
    line(&mut text, "total", &report.total);
    table(&mut text, "model", &report.by_model);
    let sessions = report.by_session.iter();
    let sessions =
        sessions.map(|(key, tokens)| (format!("{}/{}", key.user(), key.session()), *tokens));
    table(&mut text, "session", &sessions.collect());
    table(&mut text, "skill", &report.by_skill);
    table(&mut text, "day", &report.by_day);
    writeln!(text, "breaks {:?}", report.breaks).unwrap();
    text
}

fn table(text: &mut String, title: &str, sums: &BTreeMap<String, Tokens>) {
    sums.iter().for_each(|(name, tokens)| line(text, &format!("{title} {name}"), tokens));
}

fn line(text: &mut String, title: &str, tokens: &Tokens) {
    let Tokens { replies, input, cached_input, cache_write, output, reasoning } = tokens;
    writeln!(
        text,
        "{title}: {replies} replies, read {input} ({cached_input} cached, {cache_write} written), wrote {output} ({reasoning} thoughts)"
    )
    .unwrap();
}
