//! The exact bytes of requests, and the headers they go out with.

use metier_model::{
    AllowedCall, Dialect, Format, KeyHeader, Message, Opaque, Part, Provider, ReplyPart, Request,
    Secret, ToolChoice, open,
};
use metier_testkit::server::Server;

use crate::replay::{KEY, block_on, model, path, provider, recorded, request, settings};

/// A conversation with everything in it.
fn conversation() -> Request {
    let thought = |format, json: &str| ReplyPart::Reasoning {
        text: "hm".to_owned(),
        opaque: Some(Opaque { format, json: json.to_owned() }),
    };
    let call = |id: &str, arguments: &str| ReplyPart::Call {
        id: id.to_owned(),
        name: "skill_load".to_owned(),
        arguments: arguments.to_owned(),
    };
    let result = |id: &str, text: &str, is_error| Message::ToolResult {
        call_id: id.to_owned(),
        name: "skill_load".to_owned(),
        text: text.to_owned(),
        is_error,
    };
    let messages = vec![
        Message::User(vec![Part::Text("Look at".to_owned()), Part::Text("a.csv".to_owned())]),
        Message::Assistant(vec![
            thought(Format::Messages, r#"{"type": "thinking","thinking":"hm","signature":"c2ln"}"#),
            thought(
                Format::Responses,
                r#"{"type": "reasoning","id":"rs_1","summary":[],"encrypted_content":"gA"}"#,
            ),
            thought(
                Format::ChatCompletions,
                r#"{"reasoning_content":"hm","reasoning_details":[ 1 ]}"#,
            ),
            ReplyPart::Text("Let me see.".to_owned()),
            call("call_1", r#"{ "skill" : "csv-stats", "n": 1.0 }"#),
            call("functions.skill_load:1", "not json"),
        ]),
        result("call_1", "loaded: csv-stats", false),
        result("functions.skill_load:1", "the arguments are not JSON", true),
        Message::System("The library changed.".to_owned()),
        Message::user("And now?"),
    ];
    let mut request = Request { messages, ..request() };
    request.system = "Be brief.\n\"Really\".".to_owned();
    request.tools.truncate(2);
    request.cache_key = Some("session-1".to_owned());
    request.max_output_tokens = Some(1000);
    request
}

/// The body that a request goes out with, broken into lines at the members and messages.
fn sent(format: Format, request: &Request, change: impl FnOnce(&mut Provider)) -> String {
    let server = Server::start();
    let name = path(format).trim_start_matches("/v1/").replace("/completions", "");
    server.reply(path(format), recorded(&format!("{name}/plain.sse")));
    let mut provider = provider(&server, format);
    change(&mut provider);
    let model = open("p/some-model", &settings(provider)).unwrap();
    block_on(async { model.stream(request).await.unwrap().finish().await.unwrap() });
    let asked = server.requests().remove(0);
    String::from_utf8(asked.body).unwrap().replace("},{", "},\n  {").replace(":[{", ":[\n  {")
}

#[test]
fn chat_completions_of_openai() {
    insta::assert_snapshot!(sent(Format::ChatCompletions, &conversation(), |_| ()));
}

#[test]
fn chat_completions_of_servers_that_imitate_it() {
    let change = |provider: &mut Provider| {
        provider.dialect = Dialect::Compatible;
        provider.return_reasoning = true;
        provider.parameters.insert("temperature".to_owned(), 0.into());
    };
    insta::assert_snapshot!(sent(Format::ChatCompletions, &conversation(), change));
}

#[test]
fn responses_of_openai() {
    insta::assert_snapshot!(sent(Format::Responses, &conversation(), |_| ()));
}

#[test]
fn messages_of_anthropic() {
    insta::assert_snapshot!(sent(Format::Messages, &conversation(), |_| ()));
}

#[test]
fn a_choice_of_tools_is_asked_for_in_each_format() {
    let narrowed =
        serde_json::json!({"type": "object", "properties": {"skill": {"enum": ["a", "b"]}}});
    let allowed = vec![
        AllowedCall { name: "skill_load".to_owned(), schema: Some(narrowed) },
        AllowedCall { name: "skill_list".to_owned(), schema: None },
    ];
    let choices = [
        ToolChoice::None,
        ToolChoice::Required,
        ToolChoice::Constrained(allowed[..1].to_vec()),
        ToolChoice::Constrained(allowed),
    ];
    let mut lines = Vec::new();
    for (format, dialect) in [
        (Format::ChatCompletions, Dialect::Original),
        (Format::ChatCompletions, Dialect::Compatible),
        (Format::Responses, Dialect::Original),
        (Format::Messages, Dialect::Original),
    ] {
        for choice in &choices {
            let request = Request { tool_choice: choice.clone(), ..request() };
            let body = sent(format, &request, |provider| provider.dialect = dialect);
            let body = body.replace('\n', "");
            let start = body.find("\"tool_choice\"").unwrap();
            let end = body.find(",\"messages\"").or_else(|| body.find(",\"input\":["));
            lines.push(format!("{format:?} {}", &body[start..end.unwrap()]));
        }
    }
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn without_tools_no_choice_is_asked_for() {
    for format in [Format::ChatCompletions, Format::Responses, Format::Messages] {
        let request = Request { tools: Vec::new(), tool_choice: ToolChoice::Required, ..request() };
        assert!(!sent(format, &request, |_| ()).contains("tool"));
    }
}

#[test]
fn a_key_goes_into_the_header_of_its_provider() {
    let named = KeyHeader::Named("api-key".to_owned());
    let cases = [
        (Format::ChatCompletions, None, "authorization", format!("Bearer {KEY}")),
        (Format::Responses, None, "authorization", format!("Bearer {KEY}")),
        (Format::Messages, None, "x-api-key", KEY.to_owned()),
        (Format::ChatCompletions, Some(named), "api-key", KEY.to_owned()),
    ];
    for (format, key_header, name, value) in cases {
        let server = Server::start();
        let mut provider = provider(&server, format);
        provider.key_header = key_header.unwrap_or(provider.key_header);
        provider.headers.push(("x-title".to_owned(), Secret::new("mine")));
        let model = open("p/some-model", &settings(provider)).unwrap();
        assert!(!format!("{model:?}").contains(KEY));
        let _not_found = block_on(async { model.stream(&request()).await.unwrap().finish().await });
        let asked = server.requests().remove(0);
        assert_eq!(asked.header(name), Some(value.as_str()));
        assert_eq!(asked.headers.iter().filter(|(_, value)| value.contains(KEY)).count(), 1);
        assert_eq!(asked.header("x-title"), Some("mine"));
        assert_eq!(asked.header("content-type"), Some("application/json"));
        let version = (format == Format::Messages).then_some("2023-06-01");
        assert_eq!(asked.header("anthropic-version"), version);
    }
}

#[test]
fn a_reply_goes_back_as_it_came() {
    let cases = [
        (Format::Responses, "responses", r#"{"id": "rs_1","type":"reas\u006fning","#),
        (Format::Messages, "messages", r#""signature":"EqQBCgIYAhIM/+=="}"#),
        (
            Format::ChatCompletions,
            "chat",
            r#""arguments":"{ \"file_name\" : \"a.csv\",\"num_lines\": 1e1}""#,
        ),
    ];
    for (format, folder, expected) in cases {
        let server = Server::start();
        server.reply(path(format), recorded(&format!("{folder}/calls.sse")));
        let model = model(&server, format);
        block_on(async {
            let mut request = request();
            let reply = model.stream(&request).await.unwrap().finish().await.unwrap();
            request.messages.push(Message::Assistant(reply.parts));
            model.stream(&request).await.unwrap().finish().await.unwrap();
        });
        let body = String::from_utf8(server.requests().remove(1).body).unwrap();
        assert!(body.contains(expected), "{body}");
    }
}
