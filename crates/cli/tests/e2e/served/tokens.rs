//! Several tokens: what whoever has one can find of another's, and how much of the server they can take.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use metier_testkit::TestEnv;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::http::{Reply, Served, TOKEN};
use super::{VERSION, call, initialize, request, wait_for};
use crate::environment;

const OTHER: &str = "ffffffffffffffffffffffffffffffff";

fn with_two_tokens(env: &TestEnv) -> Served {
    with_tokens(env, &format!("{TOKEN}\n{OTHER}\n"))
}

fn with_tokens(env: &TestEnv, tokens: &str) -> Served {
    env.skill("project/skills", "demo", "Shows things.");
    let file = env.write("tokens", tokens);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("its mode");
    Served::start_with(env, &["--token-file", file.to_str().expect("text")], "")
}

/// Whoever has a token, in a session.
struct Holder<'a> {
    served: &'a Served,
    bearer: String,
    session: String,
}

impl<'a> Holder<'a> {
    fn new(served: &'a Served, token: &str) -> Self {
        let bearer = format!("Bearer {token}");
        let mut message = initialize();
        message["params"]["protocolVersion"] = VERSION.into();
        let headers = [("Authorization", bearer.as_str())];
        let reply = served.send("POST", &headers, message.to_string().as_bytes());
        assert_eq!(reply.status, 200, "{reply}");
        let session = reply.header("mcp-session-id").expect("an id").to_owned();
        Self { served, bearer, session }
    }

    fn headers(&self) -> [(&str, &str); 2] {
        [("Authorization", &self.bearer), ("Mcp-Session-Id", &self.session)]
    }

    fn post(&self, message: &Value) -> Reply {
        self.served.send("POST", &self.headers(), message.to_string().as_bytes())
    }

    fn tool(&self, tool: &str, arguments: &Value) -> Value {
        self.post(&call(1, tool, arguments)).message()["result"].clone()
    }

    /// Keeps something for all of its sessions.
    fn keep(&self, text: &str) {
        self.tool("skill_load", &json!({"skill": "demo"}));
        let kept = self.tool(
            "skill_run",
            &json!({
                "skill": "demo", "command": format!("echo {text} > out/note.txt"),
                "outputs": {"globs": ["out/*"], "save": true, "name_template": "user:"}
            }),
        );
        assert_ne!(kept["isError"], true, "{kept}");
    }

    /// Posts a message and does not wait for the answer.
    fn begin(&self, message: &Value) -> TcpStream {
        let mut stream = self.served.connect();
        let (head, body) = (self.served.head("POST", &self.headers()), message.to_string());
        write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).expect("a request");
        stream
    }

    /// Keeps a file of so many bytes, in one line, for all of its sessions.
    fn keep_large(&self, bytes: usize) {
        self.tool("skill_load", &json!({"skill": "demo"}));
        let command = format!("head -c {bytes} /dev/zero | tr '\\0' a > out/large.txt");
        let outputs = json!({
            "globs": ["out/*"], "save": true, "name_template": "user:",
            "max_file_bytes": 100 << 20, "max_total_bytes": 100 << 20,
        });
        let given = json!({"skill": "demo", "command": command, "outputs": outputs});
        let kept = self.tool("skill_run", &given);
        assert_eq!(kept["structuredContent"]["artifact_files"][0]["version"], 0, "{kept}");
    }

    /// What it finds of what it kept.
    fn kept(&self) -> String {
        self.tool("artifact_read", &json!({"name": "user:out/note.txt"})).to_string()
    }
}

#[test]
fn artifacts_of_the_user_belong_to_one_token() {
    let env = environment();
    let served = with_two_tokens(&env);
    Holder::new(&served, TOKEN).keep("first-secret");
    let other = Holder::new(&served, OTHER);
    assert!(!other.kept().contains("first-secret"), "{}", other.kept());
    let listed = other.post(&request(2, "resources/list", &json!({}))).body;
    assert!(!listed.contains("note.txt"), "{listed}");
    other.keep("second-secret");
    assert!(Holder::new(&served, TOKEN).kept().contains("first-secret"));
    drop(served);
    // They are still there when the server starts again, and nobody else's.
    let served = with_two_tokens(&env);
    assert!(Holder::new(&served, TOKEN).kept().contains("first-secret"));
    assert!(Holder::new(&served, OTHER).kept().contains("second-secret"));
    let shown = env.run(["artifacts", "list", "--json"]);
    assert!(!shown.stdout.contains("note.txt"), "nor the person's own: {shown}");
    drop(served);
    // Nor does the only token that is left become the person's own.
    let served = Served::start(&env, &[]);
    Holder::new(&served, TOKEN).keep("secret-of-the-person");
    drop(served);
    let served = with_tokens(&env, &format!("{OTHER}\n"));
    assert!(Holder::new(&served, OTHER).kept().contains("second-secret"));
}

#[test]
fn artifacts_of_the_only_token_are_those_of_the_person() {
    let env = environment();
    env.skill("project/skills", "demo", "Shows things.");
    let served = Served::start(&env, &[]);
    Holder::new(&served, TOKEN).keep("own");
    drop(served);
    let served = Served::start_with(&env, &[], OTHER);
    assert!(Holder::new(&served, OTHER).kept().contains("own"), "another token of the same person");
}

#[test]
fn a_token_with_all_connections_keeps_no_other_out() {
    let env = environment();
    let served = with_two_tokens(&env);
    let hog = Holder::new(&served, TOKEN);
    let mut streams = Vec::new();
    for _ in 0..300 {
        let mut stream = served.connect();
        let keep = [("Connection", "keep-alive"), ("Authorization", hog.bearer.as_str())];
        let body = request(1, "ping", &json!({})).to_string();
        let head = served.head("POST", &[keep[0], keep[1], ("Mcp-Session-Id", &hog.session)]);
        let _refused = write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len());
        // It is answered, so that it is known by its token, and stays open.
        let _answered = stream.read(&mut [0; 64]);
        streams.push(stream);
    }
    let other = Holder::new(&served, OTHER);
    assert_eq!(other.post(&request(1, "ping", &json!({}))).status, 200);
    // Nor do strangers that come now.
    let _silent: Vec<_> = (0..300).map(|_| served.connect()).collect();
    assert_eq!(other.post(&request(2, "ping", &json!({}))).status, 200);
}

#[test]
fn a_token_with_all_calls_keeps_no_other_out() {
    let env = environment();
    // Of 256 calls each of 64 tokens has four.
    let more: String = (0..62).map(|it| format!("{it:032}\n")).collect();
    let served = with_tokens(&env, &format!("{TOKEN}\n{OTHER}\n{more}"));
    let mut streams = Vec::new();
    for _ in 0..2 {
        let hog = Holder::new(&served, TOKEN);
        hog.tool("skill_load", &json!({"skill": "demo"}));
        for number in 10..12 {
            let command = json!({"skill": "demo", "command": "sleep 60"});
            let body = call(number, "skill_run", &command).to_string();
            let mut stream = served.connect();
            let head = served.head("POST", &hog.headers());
            write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).expect("a call");
            // The first bytes of the answer come when the call is open.
            assert!(stream.read(&mut [0; 16]).expect("an answer") > 0);
            streams.push(stream);
        }
    }
    let told = Holder::new(&served, TOKEN).post(&request(9, "tools/list", &json!({}))).body;
    assert!(told.contains("4 calls of this token wait for their answers"), "{told}");
    let other = Holder::new(&served, OTHER);
    other.tool("skill_load", &json!({"skill": "demo"}));
    let ran = other.tool("skill_run", &json!({"skill": "demo", "command": "echo through"}));
    assert!(ran.to_string().contains("through"), "{ran}");
}

/// The most memory that a server has had so far, in MiB.
fn most_memory(served: &Served) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", served.child.id())).expect("there");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    let kibibytes = line.trim().trim_end_matches(" kB").parse::<u64>().expect("a number");
    kibibytes >> 10
}

#[test]
fn many_large_artifacts_are_read_within_a_bound_of_memory() {
    let env = environment();
    let served = with_two_tokens(&env);
    let holder = Holder::new(&served, TOKEN);
    holder.keep_large(60 << 20);
    let before = most_memory(&served);
    let read =
        |id| holder.begin(&call(id, "artifact_read", &json!({"name": "user:out/large.txt"})));
    let streams: Vec<_> = (0..10).map(|number| read(100 + number)).collect();
    for mut stream in streams {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        assert!(answer.contains("the line goes on"), "{}", answer.len());
    }
    let more = most_memory(&served) - before;
    assert!(more < 200, "{more} MiB for ten of 60 MiB");
}

#[test]
fn answers_that_are_not_read_leave_memory_to_others() {
    let env = environment();
    let served = with_two_tokens(&env);
    let hog = Holder::new(&served, TOKEN);
    hog.keep_large(16 << 20);
    Holder::new(&served, OTHER).keep("short");
    let before = most_memory(&served);
    let uri = json!({"uri": "artifact://user%3Aout/large.txt"});
    let _unread: Vec<_> =
        (0..40).map(|id| hog.begin(&request(100 + id, "resources/read", &uri))).collect();
    let refused = || hog.post(&request(99, "resources/read", &uri)).body.contains("no room now");
    assert!(wait_for(Duration::from_secs(30), refused), "one more is not refused");
    let short = json!({"uri": "artifact://user%3Aout/note.txt"});
    let other = Holder::new(&served, OTHER).post(&request(1, "resources/read", &short));
    assert!(other.body.contains("short"), "{other}");
    let more = most_memory(&served) - before;
    assert!(more < 400, "{more} MiB for forty of 16 MiB");
}

#[test]
fn a_cancelled_call_keeps_its_place_until_its_program_has_ended() {
    let env = environment();
    // Of 256 calls each of 64 tokens has four.
    let more: String = (0..62).map(|it| format!("{it:032}\n")).collect();
    let served = with_tokens(&env, &format!("{TOKEN}\n{OTHER}\n{more}"));
    let holder = Holder::new(&served, TOKEN);
    holder.tool("skill_load", &json!({"skill": "demo"}));
    let stubborn = "trap '' TERM; echo started > work/$$; while :; do sleep 1; done";
    let run = json!({"skill": "demo", "command": stubborn});
    let begin = |id| {
        let mut stream = holder.begin(&call(id, "skill_run", &run));
        // The first bytes of the answer come when the call is open.
        assert!(stream.read(&mut [0; 16]).expect("an answer") > 0);
        stream
    };
    let streams: Vec<_> = (10..14).map(begin).collect();
    let list = request(9, "tools/list", &json!({}));
    let is_refused = || holder.post(&list).body.contains("4 calls of this token");
    assert!(wait_for(Duration::from_secs(30), is_refused), "all places are taken");
    // Their programs run, and do not end when they are asked to.
    std::thread::sleep(Duration::from_secs(2));
    let begun = Instant::now();
    for id in 10..14 {
        let cancelled = json!({"requestId": id});
        let told = json!({
            "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled,
        });
        assert_eq!(holder.post(&told).status, 202);
    }
    drop(streams);
    // They are killed after two seconds.
    assert!(is_refused() || begun.elapsed() > Duration::from_secs(2), "their programs run on");
    assert!(wait_for(Duration::from_secs(30), || !is_refused()), "their places are given back");
}

#[test]
fn a_burst_of_strangers_drops_nobody_who_has_asked() {
    let env = environment();
    let served = with_two_tokens(&env);
    let (hog, other) = (Holder::new(&served, TOKEN), Holder::new(&served, OTHER));
    let ping = request(1, "ping", &json!({}));
    let body = ping.to_string();
    let mut streams = Vec::new();
    for _ in 0..300 {
        let mut stream = served.connect();
        let keep = [("Connection", "keep-alive"), ("Authorization", hog.bearer.as_str())];
        let head = served.head("POST", &[keep[0], keep[1], ("Mcp-Session-Id", &hog.session)]);
        let _refused = write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len());
        let _answered = stream.read(&mut [0; 64]);
        streams.push(stream);
    }
    let id = Pid::from_child(&served.child);
    for round in 0..5 {
        // All that comes meanwhile is there at once when the server goes on.
        kill_process(id, Signal::STOP).expect("it is there");
        let mut asked = other.begin(&ping);
        // More than are let in beside the other token, and fewer than the system keeps waiting.
        let strangers: Vec<_> = (0..40).map(|_| served.connect()).collect();
        kill_process(id, Signal::CONT).expect("it is there");
        let mut answer = String::new();
        let _reset = asked.read_to_string(&mut answer);
        assert!(answer.starts_with("HTTP/1.1 200"), "round {round}: {answer}");
        drop(strangers);
        // When this is answered, the strangers have been let in too.
        assert_eq!(other.post(&ping).status, 200);
    }
}
