//! Replies as chat completions, from OpenAI and from servers that imitate it.

use crate::replay::replay;

#[test]
fn text_arrives_in_pieces_with_the_tokens_at_the_end() {
    insta::assert_snapshot!(replay("chat/plain.sse"), @r#"
    + text "Grüße"
    + text ", 世界 🦀"
    + text "!"
    text "Grüße, 世界 🦀!"
    stop End; tokens in 1203 (cached 1024, written 0) out 57 (thought 32); chatcmpl-B7x gpt-5-mini-2026-08-07
    "#);
}

#[test]
fn parallel_calls_keep_their_arguments_as_written() {
    insta::assert_snapshot!(replay("chat/calls.sse"), @r#"
    + call 0 call_Ab1 skill_load
    + arguments 0 {"ski
    + arguments 0 ll":"csv-stats"}
    + call 1 call_Cd2 read_file
    + arguments 1 { "file_name" : "a.csv",
    + arguments 1 "num_lines": 1e1}
    call call_Ab1 skill_load {"skill":"csv-stats"}
    call call_Cd2 read_file { "file_name" : "a.csv","num_lines": 1e1}
    stop Calls; tokens in 1203 (cached 1024, written 0) out 57 (thought 32); chatcmpl-B7x gpt-5-mini-2026-08-07
    "#);
}

#[test]
fn thoughts_are_told_from_text() {
    insta::assert_snapshot!(replay("chat/reasoning.sse"), @r#"
    + thought "The user "
    + thought "greets."
    + text "Hello"
    + text "."
    thought "The user greets." {"reasoning_content":"The user greets."}
    text "Hello."
    stop End; tokens in 20 (cached 16, written 0) out 9 (thought 5); 9f deepseek-reasoner
    "#);
}

#[test]
fn thoughts_in_pieces_are_put_together_to_be_handed_back() {
    insta::assert_snapshot!(replay("chat/details.sse"), @r#"
    + thought "I should "
    + thought "load it."
    + call 0 toolu_01A skill_load
    + arguments 0 {"skill": "csv-stats"}
    thought "I should load it." {"reasoning":"I should load it.","reasoning_details":[{"type":"reasoning.text","text":"I should load it.","format":"anthropic-claude-v1","index":0,"signature":"ErUBCkYIBxgC"}]}
    call toolu_01A skill_load {"skill": "csv-stats"}
    stop Calls; tokens in 900 (cached 0, written 880) out 40 (thought 8); gen-176 anthropic/claude-sonnet-4.5
    "#);
}

#[test]
fn a_refusal_is_told_from_an_end() {
    insta::assert_snapshot!(replay("chat/refusal.sse"), @r#"
    + text "I can't help "
    + text "with that."
    text "I can't help with that."
    stop Refusal("I can't help with that."); tokens in 1203 (cached 1024, written 0) out 57 (thought 32); chatcmpl-B7x gpt-5-mini-2026-08-07
    "#);
}

#[test]
fn what_the_provider_cut_off_is_told() {
    insta::assert_snapshot!(replay("chat/filtered.sse"), @r#"
    + text "Well"
    text "Well"
    stop Filtered; tokens in 0 (cached 0, written 0) out 0 (thought 0); chatcmpl-B7x gpt-5-mini-2026-08-07
    "#);
}

#[test]
fn a_call_that_was_cut_off_is_not_completed() {
    insta::assert_snapshot!(replay("chat/length.sse"), @r#"
    + call 0 call_Ab1 skill_run
    + arguments 0 {"command":"rm -r build","files":["a"
    call call_Ab1 skill_run {"command":"rm -r build","files":["a"
    stop Length; tokens in 1203 (cached 1024, written 0) out 57 (thought 32); chatcmpl-B7x gpt-5-mini-2026-08-07
    "#);
}

#[test]
fn calls_without_ids_get_some() {
    insta::assert_snapshot!(replay("chat/odd-no-ids.sse"), @r#"
    + call 0 call_a0d296906277785a skill_load
    + arguments 0 {"skill":"a"}
    + call 1 call_0d688332cddcf26d skill_load
    + arguments 1 {"skill":"b"}
    call call_a0d296906277785a skill_load {"skill":"a"}
    call call_0d688332cddcf26d skill_load {"skill":"b"}
    stop Calls; tokens in 0 (cached 0, written 0) out 0 (thought 0); cmpl-1 qwen3-4b
    "#);
}

#[test]
fn arguments_may_be_an_object_and_calls_without_an_index() {
    insta::assert_snapshot!(replay("chat/odd-whole-arguments.sse"), @r#"
    + call 0 a1 skill_load
    + arguments 0 {"skill":"csv-stats","depth": 1.50}
    + call 1 a2 functions.read_file
    + arguments 1 {}
    call a1 skill_load {"skill":"csv-stats","depth": 1.50}
    call a2 read_file {}
    stop Calls; tokens in 0 (cached 0, written 0) out 0 (thought 0); cmpl-1 qwen3-4b
    "#);
}

#[test]
fn calls_with_the_same_index_are_told_apart_by_their_ids() {
    insta::assert_snapshot!(replay("chat/odd-same-index.sse"), @r#"
    + call 0 x1 skill_load
    + arguments 0 {"skill":"a"}
    + call 1 x2 skill_load
    + arguments 1 {"skill":"b"}
    call x1 skill_load {"skill":"a"}
    call x2 skill_load {"skill":"b"}
    stop Calls; tokens in 0 (cached 0, written 0) out 0 (thought 0); cmpl-1 qwen3-4b
    "#);
}

#[test]
fn a_name_that_is_repeated_is_one_name() {
    insta::assert_snapshot!(replay("chat/odd-repeated-name.sse"), @r#"
    + call 0 x1 skill_load
    + arguments 0 {"skill"
    + arguments 0 :"a"}
    call x1 skill_load {"skill":"a"}
    stop Calls; tokens in 0 (cached 0, written 0) out 0 (thought 0); cmpl-1 qwen3-4b
    "#);
}

#[test]
fn an_end_without_a_reason_is_an_end() {
    insta::assert_snapshot!(replay("chat/odd-no-finish.sse"), @r#"
    + text "Done"
    + text " it."
    text "Done it."
    stop End; tokens in 5 (cached 0, written 0) out 2 (thought 0); cmpl-1 qwen3-4b
    "#);
}

#[test]
fn the_older_form_of_calls_is_read() {
    insta::assert_snapshot!(replay("chat/odd-legacy.sse"), @r#"
    + call 0 call_a0d296906277785a skill_load
    + arguments 0 {'skill': 'a',}
    call call_a0d296906277785a skill_load {"skill": "a"}
    stop Calls; tokens in 0 (cached 0, written 0) out 0 (thought 0); cmpl-1 qwen3-4b
    "#);
}

#[test]
fn content_in_parts_is_read_with_calls_in_other_spellings() {
    insta::assert_snapshot!(replay("chat/odd-parts.sse"), @r#"
    + thought "Hm."
    + text "Look: "
    + call 0 t1 skill_load
    + arguments 0 {"skill":"a"}
    thought "Hm." -
    text "Look: "
    call t1 skill_load {"skill":"a"}
    stop Calls; tokens in 0 (cached 0, written 0) out 0 (thought 0); cmpl-1 qwen3-4b
    "#);
}

#[test]
fn a_call_that_came_as_text_is_a_call() {
    insta::assert_snapshot!(replay("chat/odd-call-as-text.sse"), @r#"
    + text "```json\n{\"name\": \"skill_load\", "
    + text "\"arguments\": {\"skill\": \"a\"}}\n```"
    call call_a0d296906277785a skill_load {"skill": "a"}
    stop Calls; tokens in 0 (cached 0, written 0) out 0 (thought 0); cmpl-1 qwen3-4b
    "#);
}

#[test]
fn a_server_may_hang_up_after_the_last_event() {
    insta::assert_snapshot!(replay("chat/odd-hangs-up.sse"), @r#"
    + text "All said."
    text "All said."
    stop End; tokens in 0 (cached 0, written 0) out 0 (thought 0); cmpl-1 qwen3-4b
    "#);
}

#[test]
fn an_answer_that_is_not_a_stream_is_read() {
    insta::assert_snapshot!(replay("chat/whole.json"), @r#"
    + text "On it."
    + call 0 c1 skill_load
    + arguments 0 {"skill":"a"}
    text "On it."
    call c1 skill_load {"skill":"a"}
    stop Calls; tokens in 10 (cached 0, written 0) out 4 (thought 0); chatcmpl-9 llama-3.3-70b
    "#);
}
