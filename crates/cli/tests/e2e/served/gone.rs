//! Calls that are cancelled, and clients that are suddenly gone: no process is left.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use metier_testkit::TestEnv;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::http::Served;
use super::pipes::Piped;
use super::{call, modern, processes_with, request, run_sleeping, wait_for};
use crate::environment;

/// What is promised for a call that is cancelled.
const CANCELLED: Duration = Duration::from_secs(3);
/// What a client may be away before its calls are ended, and some time for the machine.
const AWAY: Duration = Duration::from_secs(30);

fn with_skill() -> TestEnv {
    let env = environment();
    env.skill("project/skills", "demo", "Shows things.");
    env
}

/// A call that runs until it is ended, seen running; its mark.
fn running(mark: &str, start: impl FnOnce(&Value)) {
    start(&run_sleeping(7, mark));
    assert!(wait_for(AWAY, || !processes_with(mark).is_empty()), "it never ran");
}

fn must_end_within(patience: Duration, mark: &str) {
    let begun = Instant::now();
    assert!(wait_for(patience, || processes_with(mark).is_empty()), "{:?}", processes_with(mark));
    assert!(begun.elapsed() <= patience, "{:?}", begun.elapsed());
}

/// The id of the first event of an answer, with which a client can come back.
fn first_event(stream: &mut TcpStream) -> String {
    let lines = BufReader::new(stream).lines().map_while(Result::ok);
    let id = lines.into_iter().find_map(|line| line.strip_prefix("id: ").map(str::to_owned));
    id.expect("an event").trim().to_owned()
}

fn cancellation() -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}})
}

/// A server with a session in which the skill was loaded.
fn with_session(env: &TestEnv) -> (Served, String) {
    let served = Served::start(env, &[]);
    let session = served.open();
    let loaded = served.post(Some(&session), &call(1, "skill_load", &json!({"skill": "demo"})));
    assert_eq!(loaded.message()["id"], 1, "{loaded}");
    (served, session)
}

#[test]
fn a_cancelled_call_stops_its_processes_over_pipes() {
    let env = with_skill();
    let mut client = Piped::start(&env);
    running("mark-cancelled-pipe", |it| client.write(it));
    client.write(&cancellation());
    must_end_within(CANCELLED, "mark-cancelled-pipe");
    client.write(&request("after", "ping", &json!({})));
    assert_eq!(client.read()["id"], "after", "a cancelled call has no answer");
}

#[test]
fn a_cancelled_call_stops_its_processes_over_http() {
    let env = with_skill();
    let (served, session) = with_session(&env);
    let mut stream = None;
    running("mark-cancelled-http", |it| stream = Some(served.begin(&session, it)));
    assert_eq!(served.post(Some(&session), &cancellation()).status, 202);
    must_end_within(CANCELLED, "mark-cancelled-http");
    served.must_be_well(&session);
}

#[test]
fn the_end_of_the_input_ends_what_runs() {
    let env = with_skill();
    let mut client = Piped::start(&env);
    running("mark-end-of-input", |it| client.write(it));
    client.close_input();
    must_end_within(AWAY, "mark-end-of-input");
    assert!(client.child.wait().expect("its end").success());
}

#[test]
fn the_end_of_the_input_ends_what_does_not_end_when_asked() {
    let env = with_skill();
    let mut client = Piped::start(&env);
    let mark = "mark-stubborn";
    running(mark, |it| {
        let mut call = it.clone();
        let command = format!("trap '' TERM; sh -c 'sleep 300; :' {mark}");
        call["params"]["arguments"]["command"] = command.into();
        client.write(&call);
    });
    client.close_input();
    must_end_within(AWAY, mark);
    assert!(client.child.wait().expect("its end").success());
}

#[test]
fn a_client_that_was_killed_leaves_nothing_running() {
    let env = with_skill();
    let mut client = Piped::start(&env);
    running("mark-killed-client", |it| client.write(it));
    // What the system does with the pipes of a process that is killed.
    client.close_both();
    must_end_within(AWAY, "mark-killed-client");
    client.child.wait().expect("its end");
}

#[test]
fn a_connection_without_a_session_ends_its_call_when_it_breaks() {
    let env = with_skill();
    let served = Served::start(&env, &[]);
    let mut stream = served.connect();
    running("mark-broken", |it| {
        let message = modern(it);
        let name = [("MCP-Protocol-Version", super::MODERN), ("Mcp-Method", "tools/call")];
        let head = served.head("POST", &[&name[..], &[("Mcp-Name", "skill_run")]].concat());
        let length = message.to_string().len();
        write!(stream, "{head}Content-Length: {length}\r\n\r\n{message}").expect("a request");
    });
    drop(stream);
    must_end_within(CANCELLED, "mark-broken");
}

#[test]
fn a_session_whose_client_is_away_for_long_has_its_calls_ended() {
    let env = with_skill();
    let (served, session) = with_session(&env);
    let mut stream = None;
    running("mark-away", |it| stream = Some(served.begin(&session, it)));
    let event = first_event(&mut stream.take().expect("it was begun"));
    // It may come back for the answer, so nothing happens at once.
    std::thread::sleep(Duration::from_secs(3));
    assert!(!processes_with("mark-away").is_empty());
    must_end_within(AWAY, "mark-away");
    served.must_be_well(&session);
    let back = [("Mcp-Session-Id", session.as_str()), ("Last-Event-ID", &event)];
    // Nothing is left for it to come back to, and it is not made to wait.
    let reply = served.send("GET", &back, b"");
    assert_eq!((reply.status, reply.body.trim()), (200, ""), "{reply}");
}

#[test]
fn a_session_that_is_deleted_has_its_calls_ended() {
    let env = with_skill();
    let (served, session) = with_session(&env);
    let mut stream = None;
    running("mark-deleted", |it| stream = Some(served.begin(&session, it)));
    assert_eq!(served.send("DELETE", &[("Mcp-Session-Id", &session)], b"").status, 202);
    must_end_within(CANCELLED, "mark-deleted");
}

#[test]
fn a_server_that_is_told_to_stop_ends_what_runs() {
    let env = with_skill();
    for (mark, signal) in [("mark-terminated", Signal::TERM), ("mark-interrupted", Signal::INT)] {
        let (mut served, session) = with_session(&env);
        let mut stream = None;
        running(mark, |it| stream = Some(served.begin(&session, it)));
        let id = Pid::from_child(&served.child);
        kill_process(id, signal).expect("it is there");
        must_end_within(AWAY, mark);
        assert!(served.child.wait().expect("its end").success());
    }
}

/// A client that reads nothing and closes the input of the server while its output is full.
fn leave_a_full_pipe(lines: &[String]) -> bool {
    let env = with_skill();
    let mut piped = Piped::start(&env);
    for line in lines {
        piped.write_line(line);
    }
    piped.wait_until_full();
    piped.close_input();
    let child = &mut piped.child;
    let deadline = Instant::now() + Duration::from_secs(20);
    while Instant::now() < deadline {
        if child.try_wait().expect("a child").is_some() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}

#[test]
fn a_full_pipe_does_not_keep_a_server_whose_input_is_closed() {
    let lists = (10..300).map(|id| request(id, "tools/list", &json!({})).to_string());
    assert!(leave_a_full_pipe(&lists.collect::<Vec<_>>()));
}

#[test]
fn a_full_pipe_of_refusals_does_not_keep_a_server_whose_input_is_closed() {
    let wrong = vec!["no message".to_owned(); 2_000];
    assert!(leave_a_full_pipe(&wrong));
}

#[test]
fn what_runs_ends_with_a_server_whose_output_is_full() {
    let mark = "mark-full-pipe";
    let mut lines = vec![run_sleeping(9, mark).to_string()];
    lines.extend((10..300).map(|id| request(id, "tools/list", &json!({})).to_string()));
    assert!(leave_a_full_pipe(&lines));
    must_end_within(Duration::from_secs(5), mark);
}

#[test]
fn a_slow_reader_gets_all_answers() {
    let env = with_skill();
    let mut piped = Piped::start(&env);
    for id in 10..70 {
        piped.write(&request(id, "tools/list", &json!({})));
    }
    piped.wait_until_full();
    piped.close_input();
    // So slowly that there is no room for more for longer than a server waits whose answers are not read.
    let mut answers = piped.read_slowly(300, Duration::from_millis(150), Duration::from_secs(9));
    answers += &piped.read_to_end();
    assert_eq!(answers.lines().count(), 60);
    let last = answers.lines().filter_map(|it| serde_json::from_str::<Value>(it).ok());
    assert_eq!(last.filter(|it| it["result"]["tools"].is_array()).count(), 60);
    assert!(piped.child.wait().expect("its end").success());
}

#[test]
fn a_server_that_lost_answers_says_so_with_its_exit_code() {
    let env = with_skill();
    let mut piped = Piped::start(&env);
    for id in 10..300 {
        piped.write(&request(id, "tools/list", &json!({})));
    }
    piped.wait_until_full();
    piped.close_input();
    assert_eq!(piped.child.wait().expect("its end").code(), Some(1));
}

#[test]
fn a_full_standard_error_keeps_nobody_waiting() {
    let env = with_skill();
    for number in 0..30 {
        env.write(format!("project/skills/broken-{number}/SKILL.md"), "no frontmatter");
    }
    let (_unread, mut full) = std::io::pipe().expect("a pipe");
    // A pipe has room for 64 KiB, and nobody reads from this one.
    full.write_all(&[b'.'; 64 << 10]).expect("room");
    let mut piped = Piped::start_with(&env, full.into());
    piped.write(&request("well", "ping", &json!({})));
    assert_eq!(piped.read()["id"], "well");
    piped.close_input();
    let mut ended = || piped.child.try_wait().expect("a child").is_some();
    assert!(wait_for(Duration::from_secs(20), &mut ended), "it never ends");
}

#[test]
fn not_more_problems_are_named_than_are_read() {
    let env = with_skill();
    for number in 0..30 {
        env.write(format!("project/skills/broken-{number}/SKILL.md"), "no frontmatter");
    }
    let (mut said, stderr) = std::io::pipe().expect("a pipe");
    let mut piped = Piped::start_with(&env, stderr.into());
    piped.close_input();
    piped.child.wait().expect("its end");
    let mut text = String::new();
    said.read_to_string(&mut text).expect("text");
    assert_eq!(text.matches("broken-").count(), 20, "{text}");
    assert!(text.ends_with("and 10 more; `metier skills list` names all\n"), "{text}");
}
