//! What skills ask of the sandbox, and what becomes of it.

use insta::assert_snapshot;
use metier_testkit::server::{Reply, Server};
use metier_testkit::{Outcome, TestEnv};

use crate::{environment, json, run_own, write_skill};

/// Asks the proxy for a page of each address, and shows the first line or the body of the answer.
const FETCH: &str = r#"
for address in $ADDRESSES; do
    exec 3<>/dev/tcp/127.0.0.1/${http_proxy##*:}
    printf 'GET http://%s/ HTTP/1.0\r\n\r\n' $address >&3
    case $(cat <&3) in *hello*) echo reached ;; *) echo refused ;; esac
done"#;

/// An environment with a skill that asks for something, and settings.
fn asking(sandbox: &str, settings: &str) -> TestEnv {
    let env = environment();
    let header = format!(
        "name: demo\ndescription: Demo. Use when testing.\nmetadata:\n  metier:\n    sandbox: {sandbox}"
    );
    write_skill(&env, "demo", &header);
    env.write("home/.metier/config.toml", settings);
    env
}

fn exec(env: &TestEnv, rest: &[&str]) -> Outcome {
    let skill = ["exec", "demo", "--json", "--skills-dir", "skills", "--no-default-sources"];
    env.run(skill.iter().chain(rest))
}

/// What is said of a skill that asks for something under settings, and whether it ran.
fn said(sandbox: &str, settings: &str) -> String {
    let env = asking(sandbox, settings);
    let outcome = exec(&env, &["--", "echo it ran"]);
    let (code, output) = (outcome.code, outcome.stdout.contains("it ran"));
    format!("exit {code}, ran: {output}\n{}", outcome.stderr)
}

/// A server whose page says hello, and its address.
fn server() -> (Server, String) {
    let server = Server::start();
    server.reply("/", Reply::ok("hello"));
    let address = server.url("").trim_start_matches("http://").trim_end_matches('/').to_owned();
    (server, address)
}

#[test]
fn a_skill_that_asks_for_more_than_is_allowed_is_not_run() {
    assert_snapshot!(said("{network: ['api.example.com:443', 'b.example:1']}", ""), @r#"
    exit 1, ran: false
    error: `demo` is not run: it asks for the network `api.example.com:443 b.example:1`, and `none` is allowed
    hint: if it should have that, set `skills.entries.demo.network = ["api.example.com:443", "b.example:1"]`; settings go into `[HOME]/.metier/config.toml`
    "#);
    assert_snapshot!(said("{network: host}", "exec.network = ['api.example.com:443']"), @r#"
    exit 1, ran: false
    error: `demo` is not run: it asks for the network `host`, and `api.example.com:443` is allowed
    hint: if it should have that, set `skills.entries.demo.network = "host"`; settings go into `[HOME]/.metier/config.toml`
    "#);
    assert_snapshot!(said("{network: 'a.example:1'}", "exec.network = 'host'\nskills.entries.demo.network = 'none'"), @r#"
    exit 1, ran: false
    error: `demo` is not run: it asks for the network `a.example:1`, and `none` is allowed
    hint: if it should have that, set `skills.entries.demo.network = ["a.example:1"]`; settings go into `[HOME]/.metier/config.toml`
    "#);
    assert_snapshot!(said("{timeout: 4000}", ""), @"
    exit 1, ran: false
    error: `demo` is not run: it asks for 4000 seconds, and `exec.max_timeout` is 3600
    hint: if it should have that, set `exec.max_timeout = 4000`; settings go into `[HOME]/.metier/config.toml`
    ");
    assert_snapshot!(said("{memory_mb: 4096}", ""), @"
    exit 1, ran: false
    error: `demo` is not run: it asks for 4096 MiB of memory, and `exec.memory_mb` is 2048
    hint: if it should have that, set `exec.memory_mb = 4096`; settings go into `[HOME]/.metier/config.toml`
    ");
    assert_snapshot!(said("{processes: 300}", ""), @"
    exit 1, ran: false
    error: `demo` is not run: it asks for 300 processes, and `exec.processes` is 256
    hint: if it should have that, set `exec.processes = 300`; settings go into `[HOME]/.metier/config.toml`
    ");
    assert_snapshot!(said("{network: ['a..b:443']}", "exec.network = 'host'"), @"
    exit 1, ran: false
    error: `a..b:443` is not an address that can be allowed: its host is not a name, an IPv4 address, or an IPv6 address in brackets
    hint: ask the author of `demo` to correct `sandbox.network`
    ");
    assert_snapshot!(said("{network: yes please}", "exec.network = 'host'"), @"
    exit 1, ran: false
    error: the skill `demo` cannot be used: requirements cannot be read: `sandbox.network` is none of `none`, `host` and a list of `host:port`
    hint: `metier skills lint [PROJECT]/skills/demo` shows where
    ");
}

#[test]
fn a_setting_of_one_skill_that_is_no_network_is_refused() {
    assert_snapshot!(said("{}", "skills.entries.demo.network = 'example.com'"), @"
    exit 2, ran: false
    error: `example.com` is not an address that can be allowed: its port is not a number from 1 to 65535
    hint: `skills.entries.demo.network` is `none`, `host` or a list of `host:port`; settings go into `[HOME]/.metier/config.toml`
    ");
}

#[test]
fn a_skill_that_asks_for_what_is_allowed_gets_that_and_no_more() {
    let ((_listed, listed), (_other, other)) = (server(), server());
    let addresses = format!("ADDRESSES={listed} {other}");
    let reach = |asked: &str, settings: &str| {
        let env = asking(asked, settings);
        let answer = json(&exec(&env, &["--env", &addresses, "--", FETCH]));
        let network = answer["confinement"]["network"].as_str().unwrap_or_default();
        let network = network.replace(&listed, "LISTED").replace(&other, "OTHER");
        format!("{}network {network}", answer["stdout"].as_str().unwrap_or_default())
    };
    let both = format!("['{listed}', '{other}']");
    let one = format!("{{network: ['{listed}']}}");
    // The user allows both, the skill asks for one.
    assert_eq!(reach(&one, &format!("exec.network = {both}")), "reached\nrefused\nnetwork LISTED");
    // The user allows everything.
    assert_eq!(reach(&one, "exec.network = 'host'"), "reached\nrefused\nnetwork LISTED");
    // The user allows it to this skill and to no other.
    let own = format!("skills.entries.demo.network = ['{listed}']");
    assert_eq!(reach(&one, &own), "reached\nrefused\nnetwork LISTED");
    // A skill that asks for nothing in particular has what the user says.
    assert_eq!(reach("{}", &own), "reached\nrefused\nnetwork LISTED");
    assert!(reach("{network: none}", &own).ends_with("network none"));
}

#[test]
fn limits_that_a_skill_asks_for_hold() {
    let env = asking("{timeout: 1, memory_mb: 64, processes: 7}", "");
    let answer = json(&exec(&env, &["--", "sleep 60"]));
    assert_eq!(answer["timed_out"], true, "{answer}");
    // Whoever calls may give it more time.
    let answer = json(&exec(&env, &["--timeout", "30", "--", "sleep 2; echo done"]));
    assert_eq!(answer["stdout"], "done\n", "{answer}");
    let many = "for i in 1 2 3 4 5 6 7 8 9 10; do sleep 5 & done 2>/dev/null; jobs -r | wc -l";
    let answer = json(&exec(&env, &["--timeout", "30", "--", many]));
    let running: usize = answer["stdout"].as_str().unwrap_or_default().trim().parse().unwrap_or(0);
    assert!(running < 7, "{answer}");
}

#[test]
fn a_project_cannot_allow_its_skills_anything() {
    let env = asking("{network: host}", "");
    env.write("project/.metier/config.toml", "skills.entries.demo.network = 'host'");
    let outcome = exec(&env, &["--", "echo it ran"]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (1, ""), "{outcome}");
}

#[test]
fn what_a_skill_asks_for_is_shown_with_whether_it_gets_it() {
    let asked = "{network: ['api.example.com:443'], memory_mb: 512}";
    let env = asking(asked, "");
    let info = run_own(&env, "skills info demo").stdout;
    assert!(info.contains("asks for  network api.example.com:443, 512 MiB of memory"), "{info}");
    assert_snapshot!(run_own(&env, "skills explain demo"), @r#"
    exit 0
    ----- stdout
    demo
        found  [PROJECT]/skills/demo/SKILL.md (flag)
     eligible  yes
     asks for  network api.example.com:443, 512 MiB of memory
      granted  no
      because  it asks for the network `api.example.com:443`, and `none` is allowed
       remedy  if it should have that, set `skills.entries.demo.network = ["api.example.com:443"]`
     settings  [HOME]/.metier/config.toml
      catalog  in full, 10 tokens
      started  by a model, or by a person
    ----- stderr
    "#);
    let explained = json(&run_own(&env, "skills explain demo --json"));
    assert_snapshot!(format!("{:#}", explained["sandbox"]), @r#"
    {
      "asked": [
        "network api.example.com:443",
        "512 MiB of memory"
      ],
      "granted": false,
      "reason": "it asks for the network `api.example.com:443`, and `none` is allowed",
      "remedy": "if it should have that, set `skills.entries.demo.network = [\"api.example.com:443\"]`"
    }
    "#);
    let env = asking(asked, "exec.network = ['*.example.com:443']");
    assert_snapshot!(run_own(&env, "skills explain demo"), @"
    exit 0
    ----- stdout
    demo
        found  [PROJECT]/skills/demo/SKILL.md (flag)
     eligible  yes
     asks for  network api.example.com:443, 512 MiB of memory
      granted  yes
      catalog  in full, 10 tokens
      started  by a model, or by a person
    ----- stderr
    ");
}
