//! Several tokens: what whoever has one can find of another's, and how much of the server they can take.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;

use metier_testkit::TestEnv;
use serde_json::{Value, json};

use super::http::{Reply, Served, TOKEN};
use super::{VERSION, call, initialize, request};
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
