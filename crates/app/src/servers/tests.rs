//! What settings of servers come to.

use std::collections::BTreeMap;
use std::fs;

use super::*;
use crate::Reporter;
use std::path::Path;
use std::sync::Arc;

use crate::{AppOptions, Environment, Principal, SilentReporter};

/// The environment of a person with a home directory and nothing else.
fn environment(home: &Path) -> Environment {
    let environment = Environment::new(home.join(".metier"), home);
    Environment { home: Some(home.to_owned()), ..environment }
}

fn open(environment: Environment) -> Result<App, AppError> {
    let (principal, reporter) = (Principal::local(), Arc::new(SilentReporter));
    App::open(AppOptions { environment, principal, reporter, secrets: Vec::new() })
}

/// The servers that come of what the person and a project say, a line each.
fn servers(person: &str, project: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    for (name, text) in
        [("home/.metier/config.toml", person), ("project/.metier/config.toml", project)]
    {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    // What a project is ends where a repository does.
    fs::create_dir(root.join("project/.git")).unwrap();
    let home = root.join("home").to_string_lossy().into_owned();
    let variables = [
        ("HOME", home.as_str()),
        ("PATH", "/bin"),
        ("LANG", "C"),
        ("OPENAI_API_KEY", "sk-provider"),
        ("TOKEN", "t0ken"),
    ];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let environment = Environment {
        folder: root.join("project"),
        variables: BTreeMap::from(variables),
        ..environment(&root.join("home"))
    };
    let app = open(environment).unwrap();
    let McpServers { servers, faults } = app.mcp_servers();
    let servers = servers.into_iter().map(|it| {
        let (tools, skills) = (it.has_tools, it.has_skills);
        let seconds = it.timeout.as_secs();
        let McpServerAddress { name, transport } = it.peer;
        match transport {
            McpTransport::Command { arguments, variables, directory } => {
                let variables = variables.iter().filter(|(name, _)| name != CHAIN);
                let variables = variables.map(|(name, value)| format!("{name}={value}"));
                let variables = variables.collect::<Vec<_>>().join(" ");
                let directory = directory.display();
                format!("{name}: {arguments:?} in {directory} with {variables}; tools {tools}, skills {skills}, {seconds} s")
            }
            McpTransport::Http { url, headers } => {
                format!("{name}: {url} {headers:?}; tools {tools}, skills {skills}, {seconds} s")
            }
        }
    });
    let faults = faults.iter().map(|it| format!("{}: not used: {}", it.name, it.fault));
    let problems = app.config_problems().into_iter().map(|it| it.message);
    let text: Vec<String> = servers.chain(faults).chain(problems).collect();
    text.join("\n").replace(&*root.to_string_lossy(), "")
}

#[test]
fn a_server_is_a_program_or_an_address() {
    let text = servers(
        "[mcp.servers.git]\ncommand = 'uvx'\nargs = ['mcp-git']\nenv = { GIT = '$TOKEN', LANG = 'de' }\n\
         [mcp.servers.files]\ncommand = ['~/bin/files', '--read']\ncwd = '.'\nskills = true\ntimeout = 5\n\
         [mcp.servers.web]\nurl = 'https://example.org/mcp'\ntoken_env = 'TOKEN'\nheaders = { X-Team = 'a$b' }\ntools = false",
        "",
    );
    insta::assert_snapshot!(text, @r#"
    files: ["/home/bin/files", "--read"] in /project/. with PATH=/bin HOME=/home LANG=C TERM=dumb; tools true, skills true, 5 s
    git: ["uvx", "mcp-git"] in /home with PATH=/bin HOME=/home TERM=dumb GIT=t0ken LANG=de; tools true, skills false, 60 s
    web: https://example.org/mcp [("X-Team", "a$b"), ("Authorization", "Bearer t0ken")]; tools false, skills false, 60 s
    "#);
}

#[test]
fn keys_of_providers_are_given_to_no_server() {
    let text = servers("[mcp.servers.git]\ncommand = 'uvx'", "");
    assert!(text.contains("PATH=/bin") && !text.contains("sk-provider"), "{text}");
}

#[test]
fn a_server_that_is_described_wrongly_does_not_spoil_the_others() {
    let text = servers(
        "[mcp.servers]\nboth = { command = 'a', url = 'http://b' }\nnone = { timeout = 1 }\n\
         fine = { command = 'a' }\nunset = { command = 'a', env = { A = '$MISSING' } }\n\
         token = { url = 'http://b', token_env = 'MISSING' }\nnear = { command = './a' }\nodd = { url = 'b' }\n\
         bare = { args = ['/bin/sh', '-c', 'true'] }\nempty = {}\nstart = { command = 'a', timeout = 0 }\n\
         end = { command = 'a', timeout = 86401 }\nlong = { command = 'a', timeout = 86400 }\n\
         key = { command = 'a', token_env = 'TOKEN' }\nhead = { command = 'a', headers = { A = 'b' } }\n\
         place = { url = 'http://b', cwd = '.' }\nvariable = { url = 'http://b', env = { A = 'b' } }\n\
         words = { url = 'http://b', args = ['a'] }\nplain = { url = 'http://b', command = '' }\n\
         twice = { url = 'http://b', token_env = 'TOKEN', headers = { authorization = 'b' } }",
        "",
    );
    insta::assert_snapshot!(text, @r#"
    fine: ["a"] in /home with PATH=/bin HOME=/home LANG=C TERM=dumb; tools true, skills false, 60 s
    long: ["a"] in /home with PATH=/bin HOME=/home LANG=C TERM=dumb; tools true, skills false, 86400 s
    plain: http://b []; tools true, skills false, 60 s
    bare: not used: neither `command` nor `url` is set; set one of them
    both: not used: it has a `command` and a `url`; one of them must go
    empty: not used: neither `command` nor `url` is set; set one of them
    end: not used: `timeout` is 86401; it is from 1 to 86400 seconds
    head: not used: `headers` is of no use to a `command`; take it out
    key: not used: `token_env` is of no use to a `command`; take it out
    near: not used: `./a` is no whole path; write one from `/` or `~/` on, or a name alone
    none: not used: neither `command` nor `url` is set; set one of them
    odd: not used: `b` is no address; write it as `https://host/mcp`
    place: not used: `cwd` is of no use to a `url`; take it out
    start: not used: `timeout` is 0; it is from 1 to 86400 seconds
    token: not used: `token_env` names the variable `MISSING`, which is not set; set it, or name another
    twice: not used: it has `token_env` and the header `Authorization`; one of them must go
    unset: not used: `env.A` names the variable `MISSING`, which is not set; set it, or name another
    variable: not used: `env` is of no use to a `url`; take it out
    words: not used: `args` is of no use to a `url`; take it out
    "#);
}

#[test]
fn a_project_adds_no_server_and_changes_none() {
    let text = servers(
        "[mcp.servers.git]\ncommand = 'uvx'\ntimeout = 9",
        "[mcp.servers.git]\ncommand = 'evil'\nargs = ['-c']\ncwd = '.'\nurl = 'http://evil'\ntoken_env = 'OPENAI_API_KEY'\n\
         skills = true\nenv = { LD_PRELOAD = 'x' }\nheaders = { a = 'b' }\ntimeout = 99\n\
         [mcp.servers.evil]\ncommand = 'evil'\ndeny = ['*']\ntimeout = 3",
    );
    insta::assert_snapshot!(text, @r#"
    git: ["uvx"] in /home with PATH=/bin HOME=/home LANG=C TERM=dumb; tools true, skills false, 9 s
    `mcp.servers.git.command` is not taken from a project, which may not set it
    `mcp.servers.git.args` is not taken from a project, which may not set it
    `mcp.servers.git.cwd` is not taken from a project, which may not set it
    `mcp.servers.git.url` is not taken from a project, which may not set it
    `mcp.servers.git.token_env` is not taken from a project, which may not set it
    `mcp.servers.git.skills` is not taken from a project, which may only switch it off
    `mcp.servers.git.env.LD_PRELOAD` is not taken from a project, which may not set it
    `mcp.servers.git.headers.a` is not taken from a project, which may not set it
    `mcp.servers.git.timeout` is not taken from a project, which may only lower it
    `mcp.servers.evil.command` is not taken from a project, which may not set it
    "#);
}

#[test]
fn a_project_may_take_away() {
    let text = servers(
        "[mcp.servers.git]\ncommand = 'uvx'\nskills = true",
        "[mcp.servers.git]\ntools = false\nskills = false\ntimeout = 3",
    );
    insta::assert_snapshot!(text, @r#"git: ["uvx"] in /home with PATH=/bin HOME=/home LANG=C TERM=dumb; tools false, skills false, 3 s"#);
}

#[test]
fn what_a_server_is_called_can_be_part_of_a_name() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(".metier/config.toml");
    fs::create_dir(folder.path().join(".metier")).unwrap();
    for name in ["a/b", "a b", "", "ü", "a:b", &"a".repeat(33)] {
        fs::write(&file, format!("[mcp.servers.'{name}']\ncommand = 'a'\n")).unwrap();
        let error = open(environment(folder.path())).unwrap_err();
        let wording = SilentReporter.wording(&error).message;
        assert!(wording.contains("a name is up to 32 letters"), "{name}: {wording}");
    }
}
