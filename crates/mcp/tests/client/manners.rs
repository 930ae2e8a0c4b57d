//! Servers that do as they should, in every version of the protocol, and how they are treated.

use std::time::Duration;

use libtest_mimic::Failed;
use metier_mcp::{McpCallProgress, McpClientError, McpConnection};
use serde_json::{Map, json};

use crate::bench::{
    Promise, SLOWLY, block_on, call, causes, echo, has, many_calls, options, over_pipes, same,
};

pub(crate) const PROMISES: &[Promise] = &[
    ("a_server_is_greeted_and_asked", greeted),
    ("the_newest_version_is_spoken_where_it_is_understood", newest),
    ("a_server_that_leaves_at_an_unknown_question_is_met_again", met_again),
    ("calls_at_the_same_time_are_not_mixed_up", not_mixed_up),
    ("a_server_can_be_asked_from_another_task", from_another_task),
    ("progress_is_told", progress_is_told),
    ("a_call_that_is_stopped_is_cancelled", stopped),
    ("a_call_that_nobody_waits_for_is_cancelled", abandoned),
    ("a_server_may_ask_whether_we_are_there_and_nothing_else", asked_back),
    ("skills_are_listed_with_what_is_wrong_with_the_others", skills),
    ("a_file_is_the_one_that_was_asked_for", files),
    ("what_a_server_does_not_offer_is_not_asked_for", not_offered),
];

fn greeted() -> Result<(), Failed> {
    block_on(async {
        let connection = McpConnection::open(&over_pipes(""), &options()).await?;
        let server = connection.server().clone();
        same((&*server.name, &*server.version), ("tester", "7"))?;
        same((&*server.protocol, &*server.instructions), ("2025-11-25", "be kind"))?;
        let tools = connection.tools().await?;
        same(tools.tools[0].description.as_str(), "Says it again.")?;
        let reply = echo(&connection, json!("wörd")).await?;
        same(reply.text.as_str(), r#"{"value": "w\u00f6rd"}"#)?;
        // More than a pipe holds, both ways.
        let long = "x".repeat(3 << 20);
        let reply = echo(&connection, json!(long)).await?;
        has(&reply.text, "kB more]").or_else(|_| has(&reply.text, "MB more]"))?;
        connection.close().await;
        Ok(())
    })
}

fn newest() -> Result<(), Failed> {
    let changes = r#"
def discover(request):
    return result(request, {"resultType": "complete", "supportedVersions": ["2026-07-28"],
        "capabilities": CAPABILITIES, "ttlMs": 0, "cacheScope": "private",
        "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "tester", "version": "8"}}})

def initialize(request):
    return error(request, -32601, "no such method")

def call(request, say):
    text = request["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"]
    return result(request, {"resultType": "complete", "content": [{"type": "text", "text": text}]})

def tools(request):
    return result(request, {"resultType": "complete", "tools": TOOLS, "ttlMs": 0, "cacheScope": "private"})
"#;
    block_on(async {
        let connection = McpConnection::open(&over_pipes(changes), &options()).await?;
        same(connection.server().protocol.as_str(), "2026-07-28")?;
        same(connection.tools().await?.tools.len(), 1)?;
        same(echo(&connection, json!(1)).await?.text.as_str(), "2026-07-28")?;
        same(connection.skills().await?.skills.len(), 0)?;
        connection.close().await;
        Ok(())
    })
}

fn met_again() -> Result<(), Failed> {
    let changes = "
def discover(request):
    os._exit(1)
";
    block_on(async {
        let connection = McpConnection::open(&over_pipes(changes), &options()).await?;
        same(connection.server().protocol.as_str(), "2025-11-25")?;
        same(connection.tools().await?.tools.len(), 1)?;
        connection.close().await;
        Ok(())
    })
}

fn not_mixed_up() -> Result<(), Failed> {
    block_on(many_calls(&over_pipes(SLOWLY)))
}

fn from_another_task() -> Result<(), Failed> {
    let changes = r#"FILES = {"a": [{"uri": "a", "text": "x"}]}"#;
    let task = async move {
        let connection = McpConnection::open(&over_pipes(changes), &options()).await?;
        let (tools, skills) = (connection.tools().await?, connection.skills().await?);
        let unknown = connection.skill("a").await.is_err();
        let (bytes, reply) = (connection.read("a", 1).await?, echo(&connection, json!(1)).await?);
        connection.close().await;
        let known = tools.tools.len() + skills.skills.len() + bytes.len() + reply.text.len();
        Ok::<_, McpClientError>((known, unknown))
    };
    same(block_on(async { tokio::spawn(task).await })??, (1 + 1 + r#"{"value": 1}"#.len(), true))
}

fn progress_is_told() -> Result<(), Failed> {
    let changes = r#"
def call(request, say):
    token = request["params"]["_meta"]["progressToken"]
    for step in range(3):
        params = {"progressToken": token, "progress": step, "total": 3, "message": "m" * (step * 5000)}
        say({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
        time.sleep(0.3)
    return result(request, {"content": [{"type": "text", "text": "done"}]})
"#;
    block_on(async {
        let connection = McpConnection::open(&over_pipes(changes), &options()).await?;
        let mut told = Vec::new();
        let mut tell = |progress: McpCallProgress| told.push(progress);
        let reply = connection.call("echo", Map::new(), std::future::pending(), &mut tell).await?;
        same(reply.text.as_str(), "done")?;
        same(told.iter().map(|it| it.done).collect::<Vec<_>>(), vec![0.0, 1.0, 2.0])?;
        has(told[2].message.as_deref().unwrap_or_default(), "[… 6 kB more]")?;
        connection.close().await;
        Ok(())
    })
}

/// Calls wait until they are cancelled; the tool `heard` says which were.
const WAITS: &str = r#"
def call(request, say):
    if request["params"]["name"] == "heard":
        deadline = time.time() + 10
        cancelled = []
        while not cancelled and time.time() < deadline:
            cancelled = [it for it in HEARD if it.get("method") == "notifications/cancelled"]
            time.sleep(0.05)
        calls = [it["id"] for it in HEARD if it.get("method") == "tools/call"]
        same = [it["params"]["requestId"] for it in cancelled] == calls[:1]
        return result(request, {"content": [{"type": "text", "text": str(same)}]})
    return None
"#;

fn stopped() -> Result<(), Failed> {
    block_on(async {
        let connection = McpConnection::open(&over_pipes(WAITS), &options()).await?;
        let stopped = tokio::time::sleep(Duration::from_millis(300));
        let outcome = call(&connection, "echo", json!(1), stopped).await;
        if !matches!(outcome, Err(McpClientError::Stopped { .. })) {
            return Err(format!("{outcome:?}").into());
        }
        let heard = call(&connection, "heard", json!(1), std::future::pending()).await?;
        same(heard.text.as_str(), "True")?;
        connection.close().await;
        Ok(())
    })
}

fn abandoned() -> Result<(), Failed> {
    block_on(async {
        let connection = McpConnection::open(&over_pipes(WAITS), &options()).await?;
        let waited = tokio::time::timeout(Duration::from_millis(300), echo(&connection, json!(1)));
        same(waited.await.is_err(), true)?;
        let heard = call(&connection, "heard", json!(1), std::future::pending()).await?;
        same(heard.text.as_str(), "True")?;
        connection.close().await;
        Ok(())
    })
}

fn asked_back() -> Result<(), Failed> {
    let changes = r#"
def call(request, say):
    methods = ["ping", "roots/list", "sampling/createMessage", "elicitation/create", "tasks/surprise"]
    params = {"messages": [], "maxTokens": 1, "message": "m", "requestedSchema": {"type": "object", "properties": {}}}
    for number, method in enumerate(methods):
        say({"jsonrpc": "2.0", "id": 1000 + number, "method": method, "params": params})
    answers = {}
    deadline = time.time() + 10
    while len(answers) < len(methods) and time.time() < deadline:
        answers = {it["id"]: it for it in HEARD if "method" not in it}
        time.sleep(0.05)
    shown = [answers.get(1000 + it, {}) for it in range(len(methods))]
    shown = [json.dumps(it.get("result", it.get("error", {}).get("code"))) for it in shown]
    return result(request, {"content": [{"type": "text", "text": "; ".join(shown)}]})
"#;
    block_on(async {
        let connection = McpConnection::open(&over_pipes(changes), &options()).await?;
        let reply = echo(&connection, json!(1)).await?;
        same(reply.text.as_str(), r#"{}; {"roots": []}; -32601; {"action": "decline"}; -32601"#)?;
        connection.close().await;
        Ok(())
    })
}

fn skills() -> Result<(), Failed> {
    let changes = r#"
def entry(number):
    uri = f"skill://skill-{number}/SKILL.md"
    files = [{"uri": uri, "digest": "sha256:" + "0" * 64, "size": 5}]
    return {"uri": uri, "frontmatter": {"name": f"skill-{number}", "description": "d"}, "resources": files}

SKILLS = [entry(1), entry(2), {**entry(3), "resources": "dynamic"}, {"uri": "skill://bad/SKILL.md"}, 7,
    {**entry(4), "resources": "sometimes"}, {**entry(5), "x": "x" * (2 << 20)}]

def skills(request):
    start = int(request["params"].get("cursor", "0"))
    page = {"resultType": "complete", "skills": SKILLS[start:start + 2]}
    if start + 2 < len(SKILLS):
        page["nextCursor"] = str(start + 2)
    return result(request, page)
"#;
    block_on(async {
        let connection = McpConnection::open(&over_pipes(changes), &options()).await?;
        let skills = connection.skills().await?;
        let uris: Vec<&str> = skills.skills.iter().map(|it| it.uri.as_str()).collect();
        let should = ["1", "2", "3"].map(|it| format!("skill://skill-{it}/SKILL.md"));
        same(uris, should.iter().map(String::as_str).collect())?;
        let problems: Vec<Option<&str>> =
            skills.problems.iter().map(|it| it.uri.as_deref()).collect();
        let bad = ["bad", "skill-4", "skill-5"].map(|it| format!("skill://{it}/SKILL.md"));
        same(problems, vec![Some(&*bad[0]), None, Some(&*bad[1]), Some(&*bad[2])])?;
        has(&skills.problems[0].fault.to_string(), "frontmatter")?;
        same(connection.skill("skill://skill-2/SKILL.md").await?.uri, should[1].clone())?;
        let error = connection.skill("skill://none/SKILL.md").await.expect_err("there is none");
        has(&causes(&error), "no such skill (code -32602)")?;
        connection.close().await;
        Ok(())
    })
}

fn files() -> Result<(), Failed> {
    let changes = r#"
FILES = {
    "a": [{"uri": "a", "text": "wörd"}],
    "b": [{"uri": "b", "blob": base64.b64encode(bytes(range(256))).decode()}],
    "other": [{"uri": "a", "text": "x"}],
    "two": [{"uri": "two", "text": "x"}, {"uri": "two", "text": "y"}],
    "none": [],
    "both": [{"uri": "both", "text": "x", "blob": "eA=="}],
    "bad": [{"uri": "bad", "blob": "*"}],
    "large": [{"uri": "large", "text": "x" * 17}],
    "huge": [{"uri": "huge", "blob": base64.b64encode(bytes(16 << 20)).decode()}],
}
"#;
    block_on(async {
        let connection = McpConnection::open(&over_pipes(changes), &options()).await?;
        same(connection.read("a", 16).await?, "wörd".as_bytes().to_vec())?;
        same(connection.read("b", 256).await?, (0..=255).collect())?;
        same(connection.read("huge", 16 << 20).await?.len(), 16 << 20)?;
        for (uri, what) in [
            ("other", "it is another file"),
            ("two", "it has 2 files"),
            ("none", "it has 0 files"),
            ("both", "it is neither text nor bytes"),
            ("bad", "it is not written in Base64"),
            ("large", "more than 16 bytes: large"),
            ("missing", "no such file (code -32602)"),
        ] {
            has(&causes(&connection.read(uri, 16).await.expect_err(uri)), what)?;
        }
        connection.close().await;
        Ok(())
    })
}

fn not_offered() -> Result<(), Failed> {
    block_on(async {
        let connection = McpConnection::open(&over_pipes("CAPABILITIES = {}"), &options()).await?;
        let errors = [
            connection.tools().await.expect_err("no tools"),
            echo(&connection, json!(1)).await.expect_err("no tools"),
            connection.skills().await.expect_err("no skills"),
            connection.skill("a").await.expect_err("no skills"),
            connection.read("a", 1).await.expect_err("no files"),
        ];
        let offered = |error: &McpClientError| matches!(error, McpClientError::NotOffered { .. });
        same(errors.iter().all(offered), true)?;
        connection.close().await;
        Ok(())
    })
}
