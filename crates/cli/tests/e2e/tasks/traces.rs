//! What a receiver of OpenTelemetry gets of tasks, read with OpenTelemetry's own definitions.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::Stdio;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use insta::assert_snapshot;
use metier_testkit::TestEnv;
use metier_testkit::server::{Reply, Server};
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value::Value as Any};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use serde_json::json;

use super::bench::{asking, call, run_scripted, run_with, script, steady, with_skill};
use crate::{compact, interrupted, run, wait_until};

/// The variable that says where spans go.
const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";

fn receiver() -> Server {
    let server = Server::start();
    server.reply("/v1/traces", Reply::ok(""));
    server
}

fn traced(server: &Server) -> TestEnv {
    with_skill().with_variable(ENDPOINT, &server.url(""))
}

/// What was received, in either form.
fn requests(server: &Server) -> Vec<ExportTraceServiceRequest> {
    let requests = server.requests();
    let read = |request: &metier_testkit::server::Request| match request.header("content-type") {
        Some("application/json") => serde_json::from_slice(&request.body).expect("OTLP as JSON"),
        _ => ExportTraceServiceRequest::decode(&*request.body).expect("OTLP"),
    };
    requests.iter().map(read).collect()
}

fn spans(server: &Server) -> Vec<Span> {
    let resources = requests(server).into_iter().flat_map(|it| it.resource_spans);
    resources.flat_map(|it| it.scope_spans).flat_map(|it| it.spans).collect()
}

fn text(attribute: &KeyValue) -> String {
    match attribute.value.as_ref().and_then(|it| it.value.as_ref()) {
        Some(Any::StringValue(text)) => text.clone(),
        Some(Any::IntValue(number)) => number.to_string(),
        Some(Any::BoolValue(is_on)) => is_on.to_string(),
        other => panic!("{other:?}"),
    }
}

fn attribute(span: &Span, name: &str) -> Option<String> {
    span.attributes.iter().find(|it| it.key == name).map(text)
}

/// The tree of spans in the order of their beginnings, with attributes; digests and ids of calls differ
/// from run to run.
fn tree(spans: &[Span]) -> String {
    let mut text = String::new();
    let is_root = |span: &&Span| spans.iter().all(|it| it.span_id != span.parent_span_id);
    for root in spans.iter().filter(is_root) {
        grow(&mut text, spans, root, 0);
    }
    text
}

fn grow(out: &mut String, spans: &[Span], span: &Span, depth: usize) {
    let shown = |it: &KeyValue| match it.key.as_str() {
        key @ ("skill_digest" | "gen_ai.tool.call.id") => format!("{key}=[…]"),
        key => format!("{key}={}", text(it)),
    };
    let attributes: Vec<String> = span.attributes.iter().map(shown).collect();
    let failed = if span.status.as_ref().is_some_and(|it| it.code == 2) { " FAILED" } else { "" };
    let line = format!("{}{}{failed} {}", "  ".repeat(depth), span.name, attributes.join(" "));
    out.push_str(line.trim_end());
    out.push('\n');
    let mut children: Vec<&Span> =
        spans.iter().filter(|it| it.parent_span_id == span.span_id).collect();
    children.sort_by_key(|it| it.start_time_unix_nano);
    for child in children {
        grow(out, spans, child, depth + 1);
    }
}

/// Loads the skill, runs a command of it, answers.
fn counting(env: &TestEnv, command: &str) {
    let usage = json!({ "input": 900, "cached_input": 300, "output": 12 });
    let load = call("skill_load", &json!({ "skill": "counter" }));
    let count = call("skill_run", &json!({ "skill": "counter", "command": command }));
    script(
        env,
        &[
            json!({ "calls": [load], "usage": usage }),
            json!({ "calls": [count], "usage": usage }),
            json!({ "text": "Done.", "usage": usage }),
        ],
    );
}

#[test]
fn a_task_is_one_trace_with_a_span_for_each_step() {
    let server = receiver();
    let env = traced(&server).with_variable("OTEL_RESOURCE_ATTRIBUTES", "team=a%20b");
    counting(&env, "echo 2 > $OUTPUT_DIR/count.txt; exit 3");
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).expect("a time").as_secs();
    let before = now();
    let outcome = run_scripted(&env, &["how long is it?", "--session", "one"]);
    assert_eq!((outcome.code, &*outcome.stdout), (0, "Done.\n"));
    let after = now();
    let spans = spans(&server);
    assert_snapshot!(tree(&spans), @"
    metier run process.exit.code=0
      workspace.create gen_ai.conversation.id=one
      invoke_agent default gen_ai.operation.name=invoke_agent gen_ai.agent.name=default gen_ai.conversation.id=one gen_ai.provider.name=scripted gen_ai.request.model=replies.jsonl
        chat replies.jsonl gen_ai.operation.name=chat gen_ai.conversation.id=one gen_ai.provider.name=scripted gen_ai.request.model=replies.jsonl gen_ai.usage.input_tokens=900 gen_ai.usage.output_tokens=12 gen_ai.usage.cache_read.input_tokens=300 gen_ai.usage.cache_creation.input_tokens=0
        execute_tool skill_load gen_ai.operation.name=execute_tool gen_ai.conversation.id=one gen_ai.tool.name=skill_load gen_ai.tool.type=function gen_ai.tool.call.id=[…] skill_name=counter skill_digest=[…]
          workspace.stage.tree skill_name=counter skill_digest=[…]
        chat replies.jsonl gen_ai.operation.name=chat gen_ai.conversation.id=one gen_ai.provider.name=scripted gen_ai.request.model=replies.jsonl gen_ai.usage.input_tokens=900 gen_ai.usage.output_tokens=12 gen_ai.usage.cache_read.input_tokens=300 gen_ai.usage.cache_creation.input_tokens=0
        execute_tool skill_run gen_ai.operation.name=execute_tool gen_ai.conversation.id=one gen_ai.tool.name=skill_run gen_ai.tool.type=function gen_ai.tool.call.id=[…] skill_name=counter skill_digest=[…]
          workspace.stage.tree skill_name=counter skill_digest=[…]
          workspace.stage.inputs
          workspace.run executor=sandbox skill_name=counter skill_digest=[…] process.exit.code=3 timed_out=false cancelled=false
          workspace.collect
            workspace.inline
        chat replies.jsonl gen_ai.operation.name=chat gen_ai.conversation.id=one gen_ai.provider.name=scripted gen_ai.request.model=replies.jsonl gen_ai.usage.input_tokens=900 gen_ai.usage.output_tokens=12 gen_ai.usage.cache_read.input_tokens=300 gen_ai.usage.cache_creation.input_tokens=0
    ");
    let trace = &spans[0].trace_id;
    assert!(trace.len() == 16 && spans.iter().all(|it| it.trace_id == *trace));
    for span in &spans {
        let (start, end) = (span.start_time_unix_nano, span.end_time_unix_nano);
        assert!(start <= end, "{span:?}");
        assert!((before - 1..=after + 1).contains(&(start / 1_000_000_000)), "{span:?}");
        if let Some(parent) = spans.iter().find(|it| it.span_id == span.parent_span_id) {
            let within = parent.start_time_unix_nano..=parent.end_time_unix_nano;
            assert!(within.contains(&start) && within.contains(&end), "{span:?}");
        }
    }
    let resource = requests(&server)[0].resource_spans[0].resource.clone().expect("a resource");
    let resource: Vec<_> = resource.attributes.iter().map(|it| (&*it.key, text(it))).collect();
    assert!(resource.contains(&("service.name", "metier".to_owned())), "{resource:?}");
    assert!(resource.contains(&("team", "a b".to_owned())), "{resource:?}");
}

#[test]
fn a_request_names_the_provider_and_the_model_that_answered() {
    let (server, provider) = (receiver(), Server::start());
    let delta = json!({ "choices": [{ "delta": { "content": "Hello." }, "finish_reason": "stop" }],
        "model": "gpt-5-2026", "usage": { "prompt_tokens": 7, "completion_tokens": 2 } });
    let body = format!("data: {delta}\n\ndata: [DONE]\n\n");
    let reply = Reply::ok(body).header("Content-Type", "text/event-stream");
    provider.reply("/v1/chat/completions", reply);
    let env = asking(with_skill(), &provider.url("/v1")).with_variable(ENDPOINT, &server.url(""));
    let outcome = run_with(&env, "openai/gpt-5", &["hello", "--session", "one"]);
    assert_eq!(outcome.stdout, "Hello.\n", "{outcome}");
    let spans = spans(&server);
    let chat = spans.iter().find(|it| it.name == "chat gpt-5").expect("the span");
    assert_snapshot!(tree(std::slice::from_ref(chat)), @"chat gpt-5 gen_ai.operation.name=chat gen_ai.conversation.id=one gen_ai.provider.name=openai gen_ai.request.model=gpt-5 gen_ai.response.model=gpt-5-2026 gen_ai.usage.input_tokens=7 gen_ai.usage.output_tokens=2 gen_ai.usage.cache_read.input_tokens=0 gen_ai.usage.cache_creation.input_tokens=0");
    assert_eq!(chat.kind, 3, "it is a client's");
}

#[test]
fn a_command_is_traced_as_json_below_the_span_that_asked_for_it() {
    let server = receiver();
    let trace = "0af7651916cd43dd8448eb211c80319c";
    let env = with_skill()
        .with_variable("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", &server.url("/v1/traces"))
        .with_variable("OTEL_EXPORTER_OTLP_PROTOCOL", "http/json")
        .with_variable("TRACEPARENT", &format!("00-{trace}-b7ad6b7169203331-01"));
    let rest = "--session one --skills-dir skills --no-default-sources --quiet";
    assert_eq!(run(&env, &format!("exec counter {rest} -- touch out/a")).code, 0);
    let spans = spans(&server);
    assert_snapshot!(tree(&spans), @"
    metier exec process.exit.code=0
      workspace.create gen_ai.conversation.id=one
      workspace.stage.tree skill_name=counter skill_digest=[…]
      workspace.stage.inputs
      workspace.run executor=sandbox skill_name=counter skill_digest=[…] process.exit.code=0 timed_out=false cancelled=false
      workspace.collect
        workspace.inline
    ");
    let hexadecimal: String = spans[0].trace_id.iter().map(|it| format!("{it:02x}")).collect();
    assert_eq!(hexadecimal, trace);
}

#[test]
fn what_fails_is_told_by_its_kind() {
    let server = receiver();
    let env = traced(&server);
    let unknown = call("say_the_password", &json!({}));
    script(&env, &[json!({ "calls": [unknown, call("skill_load", &json!({ "skill": "none" }))] })]);
    assert_eq!(run_scripted(&env, &["go", "--session", "one"]).code, 1);
    let spans = spans(&server);
    assert_snapshot!(tree(&spans), @"
    metier run FAILED process.exit.code=1
      workspace.create gen_ai.conversation.id=one
      invoke_agent default FAILED gen_ai.operation.name=invoke_agent gen_ai.agent.name=default gen_ai.conversation.id=one gen_ai.provider.name=scripted gen_ai.request.model=replies.jsonl error.type=script_ended
        chat replies.jsonl gen_ai.operation.name=chat gen_ai.conversation.id=one gen_ai.provider.name=scripted gen_ai.request.model=replies.jsonl gen_ai.usage.input_tokens=0 gen_ai.usage.output_tokens=0 gen_ai.usage.cache_read.input_tokens=0 gen_ai.usage.cache_creation.input_tokens=0
        execute_tool _OTHER FAILED gen_ai.operation.name=execute_tool gen_ai.conversation.id=one gen_ai.tool.name=_OTHER gen_ai.tool.type=function gen_ai.tool.call.id=[…] error.type=tool_error
        execute_tool skill_load FAILED gen_ai.operation.name=execute_tool gen_ai.conversation.id=one gen_ai.tool.name=skill_load gen_ai.tool.type=function gen_ai.tool.call.id=[…] error.type=tool_error
        chat replies.jsonl FAILED gen_ai.operation.name=chat gen_ai.conversation.id=one gen_ai.provider.name=scripted gen_ai.request.model=replies.jsonl error.type=script_ended
    ");
}

/// Every place that a secret can come from, and every way that it can take.
#[test]
fn nothing_that_anybody_wrote_is_exported() {
    // The first is nobody's key, so nothing masks it; the second is one.
    const SECRET: &str = "s3cr3t-7f41";
    const KEY: &str = "k3y-0a1b2c3d";
    for protocol in ["http/protobuf", "http/json"] {
        let server = receiver();
        let env = traced(&server)
            .with_variable("OTEL_EXPORTER_OTLP_PROTOCOL", protocol)
            .with_variable("OTEL_EXPORTER_OTLP_HEADERS", &format!("x-key={KEY}"))
            .with_variable("OPENAI_API_KEY", KEY);
        env.write("project/notes.txt", SECRET);
        env.write("project/skills/counter/formats.md", SECRET);
        env.write(
            "home/.metier/config.toml",
            format!("[skills.entries.counter.env]\nPLANTED = \"{KEY}\"\n"),
        );
        let planted = json!({ "skill": "counter", "stdin": SECRET, "env": { "ALSO": SECRET },
            "command": format!("echo {SECRET} $PLANTED $ALSO; cat > out/{SECRET}; echo {SECRET} >&2; exit 1"),
            "inputs": [{ "from": "workspace://work/inputs/notes.txt" }],
            "outputs": { "globs": ["out/*"], "inline": true, "save": true } });
        let docs = json!({ "skill": "counter", "docs": [SECRET] });
        let read = json!({ "file_name": format!("workspace://out/{SECRET}") });
        script(
            &env,
            &[
                json!({ "text": SECRET, "calls": [call("skill_load", &json!({ "skill": "counter" }))] }),
                json!({ "calls": [call("skill_run", &planted)] }),
                json!({ "calls": [call("read_file", &read), call("skill_select_docs", &docs)] }),
                json!({ "calls": [call(SECRET, &planted), call("skill_load", &json!({ "skill": SECRET }))] }),
                json!({ "calls": [call("skill_search", &json!({ "query": SECRET }))] }),
                json!({ "text": SECRET }),
            ],
        );
        let outcome = run_scripted(&env, &[SECRET, "notes.txt", "--session", "one"]);
        assert_eq!((outcome.code, outcome.stdout), (0, format!("{SECRET}\n")));
        let sent = server.requests();
        assert_eq!(sent[0].header("x-key"), Some(KEY));
        let names: Vec<String> = spans(&server).into_iter().map(|it| it.name).collect();
        for name in ["workspace.run", "workspace.inline", "execute_tool read_file"] {
            assert!(names.iter().any(|it| it == name), "{names:?}");
        }
        let holds = |bytes: &[u8]| {
            let has = |text: &str| bytes.windows(text.len()).any(|it| it == text.as_bytes());
            has(SECRET) || has(KEY)
        };
        let shown = |body: &[u8]| String::from_utf8_lossy(body).into_owned();
        for request in sent {
            assert!(!holds(&request.body), "{}", shown(&request.body));
        }
    }
}

#[test]
fn without_the_variable_nothing_is_sent() {
    let server = receiver();
    let url = server.url("");
    let disabled = [("OTEL_SDK_DISABLED", "true"), ("OTEL_TRACES_EXPORTER", "none")];
    let unsampled = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";
    let set = disabled.into_iter().chain([("TRACEPARENT", unsampled)]);
    let envs = set
        .map(|(name, value)| with_skill().with_variable(ENDPOINT, &url).with_variable(name, value));
    let unset = with_skill().with_variable("OTEL_SERVICE_NAME", "me");
    for env in envs.chain([unset]) {
        script(&env, &[json!({ "text": "Hello." })]);
        let outcome = run_scripted(&env, &["hello", "--session", "one"]);
        assert_eq!((outcome.code, &*outcome.stdout), (0, "Hello.\n"));
        assert!(!outcome.stderr.contains("warning"), "{outcome}");
    }
    // Nor does a command that has nothing to tell.
    let env = traced(&server);
    assert_eq!(run(&env, "skills list --skills-dir skills").code, 0);
    assert!(server.requests().is_empty(), "{:?}", server.requests());
}

#[test]
fn a_receiver_that_is_not_there_costs_one_line_and_nothing_else() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    drop(listener);
    let env = with_skill().with_variable(ENDPOINT, &format!("http://{address}"));
    script(&env, &[json!({ "text": "Hello." })]);
    let outcome = steady(&run_scripted(&env, &["hello", "--session", "one"]));
    assert_snapshot!(outcome.replace(&address, "[ADDRESS]"), @"
    exit 0
    ----- stdout
    Hello.
    ----- stderr
    answered · [TIME] · scripted/replies.jsonl · session one
    warning: spans were not delivered to `http://[ADDRESS]/v1/traces`: Connection refused (os error 111); unset OTEL_EXPORTER_OTLP_ENDPOINT to send none
    ");
    let quiet = run_scripted(&env, &["hello", "--quiet", "--session", "two"]);
    assert_eq!(compact(&quiet), "0 | Hello. |");
}

#[test]
fn a_receiver_that_does_not_answer_holds_the_end_up_for_seconds_only() {
    let server = Server::start();
    server.reply("/v1/traces", Reply::ok("").delay(Duration::from_secs(600)));
    let env = traced(&server);
    script(&env, &[json!({ "text": "Hello." })]);
    let started = Instant::now();
    let outcome = run_scripted(&env, &["hello", "--session", "one"]);
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
    assert_eq!((outcome.code, &*outcome.stdout), (0, "Hello.\n"));
    let told = outcome.stderr.lines().filter(|it| it.starts_with("warning")).collect::<String>();
    assert_snapshot!(told.replace(&server.url(""), "http://receiver"), @"warning: spans were not delivered to `http://receiver/v1/traces`: it did not answer in time; unset OTEL_EXPORTER_OTLP_ENDPOINT to send none");
}

#[test]
fn a_busy_receiver_is_asked_again() {
    let server = Server::start();
    let busy = Reply::status(503).header("Retry-After", "1");
    server.replies("/v1/traces", [busy, Reply::ok("")]);
    let env = traced(&server);
    script(&env, &[json!({ "text": "Hello." })]);
    let outcome = run_scripted(&env, &["hello", "--session", "one"]);
    assert!(outcome.code == 0 && !outcome.stderr.contains("warning"), "{outcome}");
    let bodies: Vec<Vec<u8>> = server.requests().into_iter().map(|it| it.body).collect();
    assert!(bodies.len() == 2 && bodies[0] == bodies[1]);
}

#[test]
fn a_protocol_that_is_not_spoken_is_named() {
    let server = receiver();
    let env = traced(&server).with_variable("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc");
    script(&env, &[json!({ "text": "Hello." })]);
    let outcome = steady(&run_scripted(&env, &["hello", "--session", "one"]));
    assert_snapshot!(outcome, @"
    exit 0
    ----- stdout
    Hello.
    ----- stderr
    warning: `OTEL_EXPORTER_OTLP_PROTOCOL` is `grpc`; metier sends spans as `http/protobuf` or `http/json`; no spans are sent
    answered · [TIME] · scripted/replies.jsonl · session one
    ");
    assert!(server.requests().is_empty());
}

#[test]
fn a_variable_that_cannot_be_followed_costs_one_line() {
    let server = receiver();
    let told = |env: TestEnv| {
        script(&env, &[json!({ "text": "Hello." })]);
        let outcome = run_scripted(&env, &["hello", "--session", "one"]);
        assert_eq!((outcome.code, &*outcome.stdout), (0, "Hello.\n"));
        let warnings = outcome.stderr.lines().filter(|it| it.starts_with("warning"));
        warnings.collect::<Vec<_>>().join("\n")
    };
    let address = with_skill().with_variable(ENDPOINT, "localhost:4318");
    assert_snapshot!(told(address), @"warning: `OTEL_EXPORTER_OTLP_ENDPOINT` is not an address such as `http://127.0.0.1:4318`: its scheme `localhost` is neither http nor https; no spans are sent");
    assert_snapshot!(told(traced(&server).with_variable("OTEL_SDK_DISABLED", "no")), @"warning: `OTEL_SDK_DISABLED` is `no`, neither `true` nor `false`; it is taken for `false`");
    assert!(!server.requests().is_empty());
}

#[test]
fn a_command_that_ctrl_c_stopped_is_told_too() {
    let server = receiver();
    let env = traced(&server);
    let mut command = env.command(env.binary());
    command.args(["exec", "counter", "--session", "one", "--skills-dir", "skills"]);
    command.args(["--no-default-sources", "--", "touch out/begun; sleep 60"]);
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
    let begun = env.home().join(".metier/workspaces/metier/local/one-0/out/begun");
    wait_until("the command to begin", || begun.exists());
    assert_eq!(interrupted(child), 130);
    let spans = spans(&server);
    let of = |name: &str| spans.iter().find(|it| it.name == name).expect("the span");
    assert_eq!(attribute(of("workspace.run"), "cancelled").as_deref(), Some("true"));
    assert_eq!(attribute(of("metier exec"), "process.exit.code").as_deref(), Some("130"));
}

#[test]
fn a_turn_that_ctrl_c_stopped_is_told_too() {
    let server = receiver();
    let env = traced(&server);
    script(&env, &[json!({ "text": "Too late.", "delay_ms": 600_000 })]);
    let mut command = env.command(env.binary());
    command.args(["run", "hello", "--json", "--model", "scripted/replies.jsonl"]);
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("it starts");
    // The first event is the question; the model is asked next.
    let mut events = BufReader::new(child.stdout.take().expect("a pipe"));
    events.read_line(&mut String::new()).expect("an event");
    assert_eq!(interrupted(child), 130);
    let names: Vec<String> = spans(&server).into_iter().map(|it| it.name).collect();
    assert!(names.ends_with(&["invoke_agent default".to_owned(), "metier run".to_owned()]));
}

#[test]
fn each_turn_of_a_chat_is_a_trace_of_its_own() {
    let receiver = receiver();
    let env = traced(&receiver);
    script(&env, &[json!({ "text": "One." }), json!({ "text": "Two." })]);
    let fixed = ["chat", "--model", "scripted/replies.jsonl", "--no-default-sources"];
    let outcome = env.run_in(&env.project(), fixed, "first\nsecond\n");
    assert_eq!(outcome.stdout, "One.\nTwo.\n", "{outcome}");
    let spans = spans(&receiver);
    let turns: Vec<&Span> =
        spans.iter().filter(|span| span.name == "invoke_agent default").collect();
    assert_eq!(turns.len(), 2, "{spans:?}");
    assert!(turns.iter().all(|span| span.parent_span_id.is_empty()), "{spans:?}");
    assert_ne!(turns[0].trace_id, turns[1].trace_id);
}
