//! A hundred calls at a time, of several clients: none is lost, and none gets the answer of another.

use std::collections::BTreeSet;
use std::thread;

use serde_json::{Value, json};

use super::http::{Reply, Served};
use super::{MODERN, call, modern};
use crate::environment;

const CALLS: usize = 100;
const SESSIONS: usize = 5;

/// What call `number` asks for: every fourth looks for something, the others print who they are.
fn asked(number: usize) -> Value {
    if number % 4 == 3 {
        return call(number, "skill_search", &json!({"query": "demo"}));
    }
    let command = format!("echo only-{number}-says-this");
    call(number, "skill_run", &json!({"skill": "demo", "command": command}))
}

/// What came to call `number`, if it is its own.
fn answered(number: usize, reply: &Reply) -> Result<String, String> {
    let message = reply.message();
    let expected = match number % 4 {
        3 => "demo".to_owned(),
        _ => format!("only-{number}-says-this"),
    };
    let text = message["result"].to_string();
    let is_own = message["id"] == number && text.contains(&expected);
    let others = (0..CALLS).filter(|it| *it != number);
    let is_mixed = others.into_iter().any(|it| text.contains(&format!("only-{it}-says")));
    if is_own && !is_mixed { Ok(text) } else { Err(format!("call {number}: {reply}")) }
}

#[test]
fn a_hundred_calls_of_several_sessions_are_answered_each_to_its_own() {
    let env = environment();
    env.skill("project/skills", "demo", "Shows things.");
    let served = Served::start(&env, &[]);
    let sessions: Vec<String> = (0..SESSIONS).map(|_| served.open()).collect();
    assert_eq!(sessions.iter().collect::<BTreeSet<_>>().len(), SESSIONS);
    for session in &sessions {
        served.post(Some(session), &call("load", "skill_load", &json!({"skill": "demo"})));
    }
    let (served, sessions) = (&served, &sessions);
    let answers: Vec<_> = thread::scope(|scope| {
        let calls: Vec<_> = (0..CALLS)
            .map(|number| {
                scope.spawn(move || {
                    let session = &sessions[number % SESSIONS];
                    answered(number, &served.post(Some(session), &asked(number)))
                })
            })
            .collect();
        calls.into_iter().map(|it| it.join().expect("no panic")).collect()
    });
    let wrong: Vec<_> = answers.into_iter().filter_map(Result::err).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn calls_without_a_session_are_answered_each_to_its_own_under_one_id() {
    let env = environment();
    env.skill("project/skills", "demo", "Shows things.");
    let served = Served::start(&env, &[]);
    let served = &served;
    let answers: Vec<_> = thread::scope(|scope| {
        let calls: Vec<_> = (0..20)
            .map(|number| {
                scope.spawn(move || {
                    let command = format!("echo only-{number}-says-this");
                    let given = json!({"skill": "demo", "command": command});
                    let message = modern(&call(1, "skill_run", &given)).to_string();
                    let headers = [
                        ("MCP-Protocol-Version", MODERN),
                        ("Mcp-Method", "tools/call"),
                        ("Mcp-Name", "skill_run"),
                    ];
                    let reply = served.send("POST", &headers, message.as_bytes());
                    let is_own = reply.message()["result"].to_string().contains(&command[5..]);
                    if is_own { Ok(()) } else { Err(reply.to_string()) }
                })
            })
            .collect();
        calls.into_iter().map(|it| it.join().expect("no panic")).collect()
    });
    let wrong: Vec<_> = answers.into_iter().filter_map(Result::err).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn an_id_that_is_in_use_is_refused_and_its_first_call_answered() {
    let env = environment();
    env.skill("project/skills", "demo", "Shows things.");
    let served = Served::start(&env, &[]);
    let session = served.open();
    served.post(Some(&session), &call("load", "skill_load", &json!({"skill": "demo"})));
    let slow = json!({"skill": "demo", "command": "sleep 3; echo slow-is-done"});
    let first = thread::scope(|scope| {
        let first = scope.spawn(|| served.post(Some(&session), &call(1, "skill_run", &slow)));
        thread::sleep(std::time::Duration::from_secs(1));
        let second = served.post(Some(&session), &super::request(1, "ping", &Value::Null));
        assert_eq!(second.refusal(), "200 -32600", "{second}");
        first.join().expect("no panic")
    });
    assert!(first.message()["result"].to_string().contains("slow-is-done"), "{first}");
    let again = served.post(Some(&session), &super::request(1, "ping", &Value::Null));
    assert_eq!(again.status, 200, "{again}");
}
