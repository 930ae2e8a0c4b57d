//! The token: made once, shown to nobody who does not ask for it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use super::http::{Served, TOKEN};
use super::{call, initialize};
use crate::{environment, run};

#[test]
fn a_token_is_made_once_and_only_its_owner_can_read_it() {
    let env = environment();
    let first = run(&env, "mcp token");
    let second = run(&env, "mcp token");
    assert_eq!((first.code, &first.stdout), (0, &second.stdout));
    let token = first.stdout.trim();
    assert!(token.len() == 64 && token.bytes().all(|it| it.is_ascii_hexdigit()), "{token}");
    let file = env.home().join(".metier/mcp-token");
    assert_eq!(fs::metadata(&file).expect("a file").permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read_to_string(file).expect("text").trim(), token);
}

#[test]
fn a_token_that_others_can_read_is_refused() {
    let env = environment();
    let file = env.write("project/tokens", "0123456789abcdef\n");
    fs::set_permissions(file, fs::Permissions::from_mode(0o644)).expect("its mode");
    insta::assert_snapshot!(run(&env, "mcp --http 127.0.0.1:0 --token-file tokens"), @"
    exit 1
    ----- stdout

    ----- stderr
    error: others can read or change `tokens`
    hint: run `chmod 600 tokens`
    ");
}

#[test]
fn a_token_that_the_group_can_read_is_used_with_a_warning() {
    let env = environment();
    let file = env.write("project/tokens", "0123456789abcdef\n");
    let told = |mode| {
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).expect("its mode");
        // No machine has this address, so the command ends.
        let outcome = run(&env, "mcp --http 192.0.2.1:1 --allow-remote --token-file tokens");
        let is_told = |line: &&str| line.contains("tokens");
        outcome.stderr.lines().filter(is_told).collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(told(0o640), @"warning: others can read `tokens`, which holds keys; run `chmod 600 tokens`");
    insta::assert_snapshot!(told(0o660), @"warning: others can read `tokens`, which holds keys; run `chmod 600 tokens`");
    assert_eq!(told(0o600), "");
}

#[test]
fn a_token_that_can_be_guessed_is_refused() {
    let env = environment().with_variable("METIER_MCP_TOKEN", "letmein");
    insta::assert_snapshot!(run(&env, "mcp --http 127.0.0.1:0"), @"
    exit 2
    ----- stdout

    ----- stderr
    error: the tokens in `METIER_MCP_TOKEN` cannot be used: line 1 has no token of 16 to 1024 characters
    hint: put one token in a line; `openssl rand -hex 32` makes one
    ");
    insta::assert_snapshot!(run(&env, "mcp token"), @"
    exit 2
    ----- stdout

    ----- stderr
    error: the tokens in `METIER_MCP_TOKEN` cannot be used: line 1 has no token of 16 to 1024 characters
    hint: put one token in a line; `openssl rand -hex 32` makes one
    ");
}

#[test]
fn a_file_of_tokens_goes_before_the_variable() {
    let env = environment();
    let file = env.write("project/tokens", "# of the client\nffffffffffffffffffffffffffffffff\n");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("its mode");
    let served = Served::start(&env, &["--token-file", file.to_str().expect("text")]);
    let status = |token: &str| {
        let token = format!("Bearer {token}");
        served
            .send("POST", &[("Authorization", &token)], initialize().to_string().as_bytes())
            .status
    };
    assert_eq!((status("ffffffffffffffffffffffffffffffff"), status(TOKEN)), (200, 401));
}

#[test]
fn the_tokens_of_a_file_are_masked_in_what_programs_write() {
    let env = environment();
    env.skill("project/skills", "demo", "Shows things.");
    let (first, second) = (TOKEN, "ffffffffffffffff0123456789abcdef");
    let file = env.write("tokens", format!("# of two clients\n{first}\n{second}\n"));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("its mode");
    let served = Served::start_with(&env, &["--token-file", file.to_str().expect("text")], "");
    let session = served.open();
    served.post(Some(&session), &call(1, "skill_load", &json!({"skill": "demo"})));
    let command = format!("echo {first} {second}; echo {second} | base64");
    let ran = call(2, "skill_run", &json!({"skill": "demo", "command": command}));
    let reply = served.post(Some(&session), &ran).to_string();
    assert!(reply.contains("**** ****"), "{reply}");
    for token in [first, second, "ZmZmZmZmZmZmZmZmMDEyMzQ1Njc4OWFiY2Rl"] {
        assert!(!reply.contains(token), "{reply}");
    }
}

#[test]
fn the_token_is_printed_alone_and_as_it_is() {
    let env = environment();
    let file =
        env.write("home/.metier/mcp-token", "# mine\n*0123456789abcdef*\nffffffffffffffff\n");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("its mode");
    assert_eq!(run(&env, "mcp token").stdout, "*0123456789abcdef*\n");
    fs::write(file, "short").expect("written");
    let shown = run(&env, "mcp token").to_string();
    assert!(shown.contains(".metier/mcp-token` cannot be used"), "{shown}");
}

#[test]
fn other_machines_are_let_in_only_on_purpose() {
    let env = environment();
    insta::assert_snapshot!(run(&env, "mcp --http 0.0.0.0:0"), @"
    exit 2
    ----- stdout

    ----- stderr
    error: `0.0.0.0:0` can be reached from other machines
    hint: listen at 127.0.0.1, or add `--allow-remote` if that is what you want
    ");
    insta::assert_snapshot!(run(&env, "mcp --allow-remote"), @"
    exit 2
    ----- stdout

    ----- stderr
    error: `--http <ADDRESS>` is missing
    hint: write `metier mcp --http <ADDRESS> --allow-remote`; `metier mcp --help` shows what it takes
    ");
}
