//! Where requests do not begin with those before, an event says so and why; and where an event says
//! so, they do not.

use metier_testkit::provider::{Said, Wire};
use serde_json::json;

use super::talk::{Talk, docs, load};

/// What the server saw is what the events say; as text, the numbers of the requests before.
fn agreed(talk: &Talk) -> String {
    let said = talk.said_to_break();
    let mut places: Vec<usize> = said.iter().map(|(at, _)| *at).collect();
    places.dedup();
    assert_eq!(talk.broken(), places, "{:?}: {said:?}\n{}", talk.provider.wire, talk.story());
    said.iter()
        .map(|(at, cause)| format!("{cause} after {}", at + 1))
        .collect::<Vec<_>>()
        .join(", ")
}

#[test]
fn a_load_for_one_request_breaks_with_that_request() {
    for wire in Wire::ALL {
        let talk = Talk::new(wire);
        talk.set("[skills]\nload_mode = \"once\"\n");
        talk.say(&["one"], [load("a", "counter"), load("b", "charts"), Said::text("1")]);
        talk.say(&["two"], [load("c", "counter"), Said::text("2")]);
        talk.say(&["three"], [Said::text("3")]);
        assert_eq!(agreed(&talk), "once after 2, once after 3, once after 5");
    }
}

#[test]
fn text_of_skills_no_longer_loaded_is_trimmed_when_a_turn_begins() {
    for wire in Wire::ALL {
        let talk = Talk::new(wire);
        talk.set("[skills]\nretain_tokens = 10\n");
        talk.say(&["one"], [load("a", "counter"), load("b", "charts"), Said::text("1")]);
        talk.say(&["two"], [load("c", "counter"), docs("d", "limits.md"), Said::text("2")]);
        talk.say(&["three"], [Said::text("3")]);
        talk.say(&["four"], [Said::text("4")]);
        assert_eq!(agreed(&talk), "trimming after 3, trimming after 6");
    }
}

#[test]
fn a_skill_that_makes_room_for_another_breaks() {
    for wire in Wire::ALL {
        let talk = Talk::new(wire);
        talk.set("[skills]\nmax_loaded = 1\nload_mode = \"session\"\n");
        talk.say(&["one"], [load("a", "counter"), load("b", "charts"), Said::text("1")]);
        talk.say(&["two"], [load("c", "counter"), Said::text("2")]);
        assert_eq!(agreed(&talk), "eviction after 2, eviction after 4");
    }
}

#[test]
fn a_skill_that_makes_room_before_any_request_had_it_breaks_nothing() {
    let talk = Talk::new(Wire::ChatCompletions);
    talk.set("[skills]\nmax_loaded = 1\n");
    let both = load("a", "counter").and("b", "skill_load", json!({ "skill": "charts" }));
    talk.say(&["one"], [both, Said::text("1")]);
    talk.say(&["two"], [Said::text("2")]);
    assert_eq!(agreed(&talk), "");
    let last = talk.sent().pop().expect("a request").messages.concat();
    assert!(last.contains("[Loaded] charts") && !last.contains("[Loaded] counter"), "{last}");
}

#[test]
fn a_summary_breaks_and_the_skills_that_are_loaded_stand_at_it() {
    for wire in Wire::ALL {
        let talk = Talk::new(wire);
        talk.set("[skills]\nload_mode = \"session\"\n");
        let words = "word ".repeat(1500);
        talk.say(&[&words], [load("a", "counter"), docs("b", "formats.md"), Said::text("1")]);
        talk.set("[skills]\nload_mode = \"session\"\n\n[context]\ntokens = 2000\n");
        talk.say(&["two"], [Said::text("They said a word often."), Said::text("2")]);
        talk.say(&["three"], [load("c", "counter"), Said::text("3")]);
        assert_eq!(agreed(&talk), "compaction after 3");
        let last = talk.sent().pop().expect("a request").messages.concat();
        for text in
            ["Loaded skill context:\n\n[Loaded] counter", "[Doc] formats.md", "said a word often"]
        {
            assert_eq!(last.matches(text).count(), 1, "{wire:?} {text}: {last}");
        }
        assert!(last.contains("already loaded: counter"), "{last}");
    }
}
