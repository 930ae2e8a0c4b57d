//! An image that is fetched: a person sees which, and how much has come, and can end it. The engine is one that never
//! comes to an end with it.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::thread;
use std::time::Duration;

use metier_testkit::{Terminal, TestEnv};
use serde_json::json;

use crate::{at_terminal, environment, write_skill};

/// An environment whose engine has no image, and fetches one without end.
fn with_engine() -> TestEnv {
    let env = environment().with_variable("TERM", "xterm-256color");
    write_skill(&env, "demo", "name: demo\ndescription: Demo. Use when testing.");
    let socket = env.root().join("engine.sock");
    let listener = UnixListener::bind(&socket).expect("a socket");
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            thread::spawn(move || answer(stream));
        }
    });
    let settings = format!(
        "[exec]\nexecutor = \"container\"\n[exec.container]\npull = true\nsocket = \"unix://{}\"\n",
        socket.display()
    );
    env.write("home/.metier/config.toml", settings);
    env
}

/// Answers until nobody asks any more.
fn answer(mut stream: UnixStream) {
    let mut lines = BufReader::new(stream.try_clone().expect("a stream")).lines();
    while let Some(Ok(first)) = lines.next() {
        while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
        let (status, body) = match first {
            asked if asked.contains("/images/create") => return fetch(stream),
            asked if asked.contains("/version") => ("200 OK", json!({ "ApiVersion": "1.44" })),
            asked if asked.contains("/images/") => ("404 Not Found", json!({ "message": "none" })),
            _ => ("200 OK", json!([])),
        };
        let (body, json) = (body.to_string(), "Content-Type: application/json");
        let head = format!("HTTP/1.1 {status}\r\n{json}\r\nContent-Length: {}\r\n\r\n", body.len());
        if stream.write_all(format!("{head}{body}").as_bytes()).is_err() {
            return;
        }
    }
}

/// Tells of two layers, of which one comes bit by bit.
fn fetch(mut stream: UnixStream) {
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
    let mut text = head.to_owned();
    for step in 0_u64.. {
        let done = if step == 0 { 1 << 20 } else { step << 19 };
        let layer = if step == 0 { "aaa" } else { "bbb" };
        let detail = json!({ "current": done, "total": 1_u64 << 40 });
        let told = json!({ "status": "Downloading", "id": layer, "progressDetail": detail });
        let line = format!("{told}\r\n");
        text.push_str(&format!("{:x}\r\n{line}\r\n", line.len()));
        if stream.write_all(std::mem::take(&mut text).as_bytes()).is_err() {
            return;
        }
        thread::sleep(Duration::from_millis(100));
    }
}

/// Ends a command while it fetches.
fn stopped(env: &TestEnv, arguments: &[&str]) -> (i32, String) {
    let mut command = at_terminal(env);
    command.args(arguments).args(["--skills-dir", "skills", "--session", "one"]);
    let mut terminal = Terminal::start(command, 100);
    terminal.wait_for("fetching the image debian:stable-slim, ");
    terminal.wait_for(".5 MiB · ");
    terminal.write("\u{3}");
    let (code, _, seen) = terminal.finish();
    assert!(!seen.contains("fetching"), "{seen}");
    (code, seen)
}

#[test]
fn exec_shows_what_is_fetched_and_ctrl_c_ends_it() {
    let env = with_engine();
    env.write("project/request.json", r#"{ "skill": "demo", "command": "true" }"#);
    let (code, seen) = stopped(&env, &["exec", "--request", "request.json"]);
    assert_eq!(code, 130, "{seen}");
    assert!(seen.contains("error: interrupted"), "{seen}");
}

#[test]
fn a_task_shows_what_is_fetched_and_ctrl_c_ends_it() {
    let env = with_engine();
    let load = json!({ "name": "skill_load", "arguments": { "skill": "demo" } });
    let call = json!({ "name": "skill_run", "arguments": { "skill": "demo", "command": "true" } });
    let replies = [load, call].map(|it| json!({ "calls": [it] }).to_string());
    env.write("project/replies.jsonl", replies.join("\n"));
    let model = ["--model", "scripted/replies.jsonl"];
    let (code, seen) = stopped(&env, &[&["run", "do it"][..], &model].concat());
    assert_eq!(code, 130, "{seen}");
}
