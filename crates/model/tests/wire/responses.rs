//! Replies as OpenAI's Responses.

use crate::replay::replay;

#[test]
fn text_arrives_in_pieces_and_once() {
    insta::assert_snapshot!(replay("responses/plain.sse"), @r#"
    + text "Grüße"
    + text ", 世界 🦀"
    text "Grüße, 世界 🦀"
    stop End; tokens in 2048 (cached 1920, written 0) out 128 (thought 64); resp_68a gpt-5-2026-08-07
    "#);
}

#[test]
fn thoughts_come_back_byte_for_byte_before_their_calls() {
    insta::assert_snapshot!(replay("responses/calls.sse"), @r#"
    + thought "**Choo"
    + thought "sing**"
    + thought "\n\n"
    + thought "Two calls."
    + call 0 call_1 skill_load
    + arguments 0 {"skill"
    + arguments 0 :"csv-stats"}
    + call 1 call_2 read_file
    + arguments 1 {"file_name":"a.csv"}
    thought "**Choosing**\n\nTwo calls." {"id": "rs_1","type":"reas\u006fning","summary":[{"type":"summary_text","text":"**Choosing**"},{"type":"summary_text","text":"Two calls."}],"encrypted_content":"gAAAAABo-x_Q=="}
    call call_1 skill_load {"skill":"csv-stats"}
    call call_2 read_file {"file_name":"a.csv"}
    stop Calls; tokens in 2048 (cached 1920, written 0) out 128 (thought 64); resp_68a gpt-5-2026-08-07
    "#);
}

#[test]
fn a_refusal_is_told_from_an_end() {
    insta::assert_snapshot!(replay("responses/refusal.sse"), @r#"
    + text "I can't "
    + text "do that."
    text "I can't do that."
    stop Refusal("I can't do that."); tokens in 2048 (cached 1920, written 0) out 128 (thought 64); resp_68a gpt-5-2026-08-07
    "#);
}

#[test]
fn a_reply_that_became_too_long_is_told() {
    insta::assert_snapshot!(replay("responses/incomplete.sse"), @r#"
    + call 0 call_1 skill_load
    + arguments 0 {"skill":"csv
    call call_1 skill_load {"skill":"csv
    stop Length; tokens in 2048 (cached 1920, written 0) out 128 (thought 64); resp_68a gpt-5-2026-08-07
    "#);
}

#[test]
fn a_conversation_that_is_too_long_is_told() {
    insta::assert_snapshot!(replay("responses/failed.sse"), @"error: the conversation is too long for the model: Your input exceeds the context window of this model. Please adjust your input and try again.");
}

#[test]
fn what_came_in_no_pieces_is_taken_from_the_end() {
    insta::assert_snapshot!(replay("responses/sparse.sse"), @r#"
    + thought "**Choosing**\n\nTwo calls."
    + text "Said at once."
    + call 0 call_2 read_file
    + arguments 0 {}
    thought "**Choosing**\n\nTwo calls." -
    text "Said at once."
    call call_2 read_file {}
    stop Calls; tokens in 7 (cached 0, written 0) out 3 (thought 0); resp_68a gpt-5-2026-08-07
    "#);
}

#[test]
fn an_answer_that_is_not_a_stream_is_read() {
    insta::assert_snapshot!(replay("responses/whole.json"), @r#"
    + text "Not streamed."
    + call 0 call_1 skill_load
    + arguments 0 {"skill":"a"}
    text "Not streamed."
    call call_1 skill_load {"skill":"a"}
    stop Calls; tokens in 2048 (cached 1920, written 0) out 128 (thought 64); resp_68a gpt-5-2026-08-07
    "#);
}
