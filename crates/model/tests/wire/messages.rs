//! Replies as Anthropic's Messages.

use crate::replay::replay;

#[test]
fn cached_tokens_are_part_of_the_input() {
    insta::assert_snapshot!(replay("messages/plain.sse"), @r#"
    + text "Grüße"
    + text ", 世界 🦀"
    text "Grüße, 世界 🦀"
    stop End; tokens in 4408 (cached 4096, written 300) out 42 (thought 0); msg_01X claude-sonnet-4-5-20250929
    "#);
}

#[test]
fn thoughts_keep_their_signatures_and_calls_their_arguments() {
    insta::assert_snapshot!(replay("messages/calls.sse"), @r#"
    + thought "Two "
    + thought "calls."
    + text "Let me look."
    + call 0 toolu_01A skill_load
    + arguments 0 {"skill": "csv
    + arguments 0 -stats"}
    + call 1 toolu_01B skill_list
    thought "Two calls." {"type":"thinking","thinking":"Two calls.","signature":"EqQBCgIYAhIM/+=="}
    text "Let me look."
    call toolu_01A skill_load {"skill": "csv-stats"}
    call toolu_01B skill_list {}
    stop Calls; tokens in 4408 (cached 4096, written 300) out 97 (thought 0); msg_01X claude-sonnet-4-5-20250929
    "#);
}

#[test]
fn hidden_thoughts_are_kept_byte_for_byte() {
    insta::assert_snapshot!(replay("messages/redacted.sse"), @r#"
    + text "Well."
    thought "" {"type":"redacted_thinking","data":"EmwKAhgBEgy3va3p/x=="}
    text "Well."
    stop End; tokens in 4408 (cached 4096, written 300) out 42 (thought 0); msg_01X claude-sonnet-4-5-20250929
    "#);
}

#[test]
fn a_refusal_is_told_with_its_reason() {
    insta::assert_snapshot!(replay("messages/refusal.sse"), @r#"
    + text "I"
    text "I"
    stop Refusal("This looks like malware."); tokens in 4408 (cached 4096, written 300) out 2 (thought 0); msg_01X claude-sonnet-4-5-20250929
    "#);
}

#[test]
fn a_call_that_was_cut_off_is_not_completed() {
    insta::assert_snapshot!(replay("messages/length.sse"), @r#"
    + call 0 toolu_01A skill_run
    + arguments 0 {"command": "cat >a <<E
    call toolu_01A skill_run {"command": "cat >a <<E
    stop Length; tokens in 4408 (cached 4096, written 300) out 8192 (thought 0); msg_01X claude-sonnet-4-5-20250929
    "#);
}

#[test]
fn a_call_that_was_cut_off_before_its_arguments_has_none() {
    insta::assert_snapshot!(replay("messages/length-early.sse"), @"
    + call 0 toolu_01A skill_run
    call toolu_01A skill_run 
    stop Length; tokens in 4408 (cached 4096, written 300) out 8192 (thought 0); msg_01X claude-sonnet-4-5-20250929
    ");
}

#[test]
fn an_error_in_the_middle_is_tried_again() {
    insta::assert_snapshot!(replay("messages/overloaded.sse"), @r#"
    + text "Half"
    + again: `server` failed: Overloaded
    + text "Half"
    + again: `server` failed: Overloaded
    + text "Half"
    error: `server` failed: Overloaded
    "#);
}

#[test]
fn an_answer_that_is_not_a_stream_is_read() {
    insta::assert_snapshot!(replay("messages/whole.json"), @r#"
    + thought "Hm."
    + text "Not streamed."
    + call 0 toolu_9 skill_load
    + arguments 0 {"skill": "a"}
    thought "Hm." {"type":"thinking","thinking":"Hm.","signature":"c2ln"}
    text "Not streamed."
    call toolu_9 skill_load {"skill": "a"}
    stop Calls; tokens in 5 (cached 0, written 0) out 6 (thought 0); msg_02 claude-haiku-4-5
    "#);
}
