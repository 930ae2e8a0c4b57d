//! Decisions about commands.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use metier_session::{
    Decision, DecisionStore, MAX_DECISIONS, MAX_RULE_BYTES, MAX_SHOWN_CHARS, Rule,
};

use crate::support::{join, refusal};

type Decisions = Arc<dyn DecisionStore>;

/// A rule for programs of a name.
pub(crate) fn named(pattern: &str) -> Rule {
    Rule::Pattern {
        pattern: pattern.to_owned(),
        arguments: None,
        any_arguments: false,
        directory: None,
    }
}

fn exact(words: &[&str]) -> Rule {
    Rule::Exact {
        program: PathBuf::from("/usr/bin/make"),
        sha256: "0f".repeat(32),
        words: words.iter().map(ToString::to_string).collect(),
        directory: PathBuf::from("/srv/ship"),
        variables: vec![("LANG".to_owned(), "C".to_owned())],
    }
}

fn tool(name: &str, sha256: &str) -> Rule {
    let (server, tool) = ("git".to_owned(), name.to_owned());
    Rule::Tool { server, tool, sha256: sha256.to_owned() }
}

/// The patterns of decisions, in their order.
fn patterns(decisions: &[Decision]) -> String {
    let pattern = |decision: &Decision| match &decision.rule {
        Rule::Pattern { pattern, .. } => pattern.clone(),
        Rule::Exact { words, .. } => words.join(" "),
        Rule::Tool { server, tool, .. } => format!("{server}/{tool}"),
    };
    decisions.iter().map(pattern).collect::<Vec<_>>().join(", ")
}

pub(crate) async fn a_decision_comes_back_as_it_was(store: &Decisions) {
    let pattern = Rule::Pattern {
        pattern: "~/bin/*".to_owned(),
        arguments: Some("status( --short)?".to_owned()),
        any_arguments: false,
        directory: Some(PathBuf::from("/srv/a 'b' \u{202e}c")),
    };
    let first = store.decide(Some("bob"), pattern.clone()).await.unwrap();
    let second = store.decide(None, exact(&["make", "", "a\nb"])).await.unwrap();
    let third = store.decide(None, tool("log", "0a")).await.unwrap();
    assert_eq!((&first.rule, first.agent.as_deref(), first.uses), (&pattern, Some("bob"), 0));
    assert_eq!((first.last_used, &first.last_command), (None, &None));
    for decision in [&first, &second, &third] {
        assert!(decision.id.len() == 8 && decision.id.bytes().all(|it| it.is_ascii_hexdigit()));
        assert!(decision.created > 1_600_000_000_000);
    }
    assert_eq!(store.decisions(None).await.unwrap(), [first, second, third]);
}

pub(crate) async fn the_same_rule_of_the_same_agent_is_there_once(store: &Decisions) {
    let mut ids = BTreeSet::new();
    for _ in 0..2 {
        for agent in [None, Some("bob"), Some("eve")] {
            let programs = [named("ls"), named("LS"), exact(&["ls"]), exact(&["ls", ""])];
            for rule in programs.into_iter().chain([tool("ls", "0a"), tool("ls", "0b")]) {
                ids.insert(store.decide(agent, rule).await.unwrap().id);
            }
        }
    }
    assert_eq!(ids.len(), 18);
    assert_eq!(store.decisions(None).await.unwrap().len(), 18);
}

pub(crate) async fn an_agent_has_its_own_decisions_and_those_of_all(store: &Decisions) {
    for (agent, pattern) in [(Some("bob"), "b"), (None, "all"), (Some("eve"), "e"), (None, "too")] {
        store.decide(agent, named(pattern)).await.unwrap();
    }
    let of = async |agent| patterns(&store.decisions(agent).await.unwrap());
    assert_eq!(of(None).await, "b, all, e, too");
    assert_eq!(of(Some("bob")).await, "b, all, too");
    assert_eq!(of(Some("Bob")).await, "all, too");
    assert_eq!(of(Some("%")).await, "all, too");
}

pub(crate) async fn what_is_revoked_is_gone_and_lets_nothing_run(store: &Decisions) {
    let kept = store.decide(None, named("kept")).await.unwrap();
    let gone = store.decide(None, named("gone")).await.unwrap();
    assert!(!store.revoke("nothing").await.unwrap());
    assert!(!store.revoke("%").await.unwrap());
    assert!(store.revoke(&gone.id).await.unwrap());
    assert!(!store.revoke(&gone.id).await.unwrap());
    assert!(!store.used(&gone.id, 1, "gone").await.unwrap());
    assert_eq!(store.decisions(None).await.unwrap(), [kept]);
    let again = store.decide(None, named("gone")).await.unwrap();
    assert_ne!(again.id, gone.id);
}

pub(crate) async fn uses_are_counted_and_the_last_is_shown(store: &Decisions) {
    let id = store.decide(None, named("ls")).await.unwrap().id;
    for (time, command) in [(70, "ls -la"), (90, "ls /srv"), (80, "ls late")] {
        assert!(store.used(&id, time, command).await.unwrap());
    }
    let [found] = &store.decisions(None).await.unwrap()[..] else { panic!() };
    assert_eq!((found.uses, found.last_used), (3, Some(90)));
    assert_eq!(found.last_command.as_deref(), Some("ls /srv"));
    store.used(&id, 95, &"é".repeat(MAX_SHOWN_CHARS + 1)).await.unwrap();
    let [found] = &store.decisions(None).await.unwrap()[..] else { panic!() };
    let shown = found.last_command.as_deref().unwrap();
    assert_eq!(shown.chars().count(), MAX_SHOWN_CHARS + 1);
    assert!(shown.ends_with("é…"));
    let refused = refusal(store.used(&id, u64::MAX, "ls").await);
    assert_eq!(refused, "the use of a decision cannot be stored: 18446744073709551615 is no time");
}

pub(crate) async fn of_many_who_decide_at_once_nobody_loses_a_decision(store: &Decisions) {
    const EACH: usize = 20;
    let work = (0..16).map(|writer| {
        let store = Arc::clone(store);
        async move {
            let mut ids = Vec::new();
            for number in 0..EACH {
                let own = store.decide(None, named(&format!("p{writer}-{number}"))).await.unwrap();
                let shared = store.decide(None, named(&format!("shared-{number}"))).await.unwrap();
                assert!(store.used(&shared.id, 1, "shared").await.unwrap());
                ids.extend([own.id, shared.id]);
            }
            ids
        }
    });
    let ids: BTreeSet<String> = join(work).await.into_iter().flatten().collect();
    let decisions = store.decisions(None).await.unwrap();
    assert_eq!(decisions.iter().map(|it| it.id.clone()).collect::<BTreeSet<_>>(), ids);
    assert_eq!(decisions.len(), 16 * EACH + EACH);
    let shared = decisions.iter().filter(|it| it.uses > 0);
    assert_eq!(shared.map(|it| it.uses).collect::<Vec<_>>(), [16; EACH]);
}

pub(crate) async fn a_rule_that_is_too_large_or_of_nobody_is_refused(store: &Decisions) {
    let large = refusal(store.decide(None, named(&"x".repeat(MAX_RULE_BYTES))).await);
    assert!(large.starts_with("the decision has 262"), "{large}");
    let nobody = refusal(store.decide(Some(""), named("ls")).await);
    assert_eq!(nobody, "the id of the agent cannot be used: it is empty");
    let long = refusal(store.decide(Some(&"x".repeat(1025)), named("ls")).await);
    assert!(long.starts_with("the name of the agent has 1025 bytes"), "{long}");
    assert_eq!(store.decisions(None).await.unwrap(), []);
}

pub(crate) async fn more_decisions_than_can_be_read_are_refused(store: &Decisions) {
    let work = (0..20).map(|part| {
        let store = Arc::clone(store);
        async move {
            for number in 0..MAX_DECISIONS / 20 {
                store.decide(None, named(&format!("p{part}-{number}"))).await.unwrap();
            }
        }
    });
    join(work).await;
    let full = refusal(store.decide(None, named("one more")).await);
    assert_eq!(
        full,
        "there are 10000 decisions about commands, the most there can be: revoke some"
    );
    let there = store.decide(None, named("p0-0")).await.unwrap();
    store.revoke(&there.id).await.unwrap();
    store.decide(None, named("one more")).await.unwrap();
}
