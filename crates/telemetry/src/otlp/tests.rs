//! What is written, read with OpenTelemetry's own definitions.

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value};
use prost::Message;

use super::Batch;
use crate::settings::Protocol;
use crate::span::{Span, Told, Value};

fn spans() -> Vec<Span> {
    let attributes = vec![
        ("text", Value::Text("ä \"quoted\" \n".to_owned())),
        ("empty", Value::Text(String::new())),
        ("small", Value::Whole(0)),
        ("negative", Value::Whole(-1)),
        ("large", Value::Whole(i64::MAX)),
        ("real", Value::Real(-0.25)),
        ("on", Value::Switch(true)),
        ("off", Value::Switch(false)),
    ];
    let chat = Span {
        trace: [0xab; 16],
        id: [1, 2, 3, 4, 5, 6, 7, 8],
        parent: Some([8; 8]),
        is_remote_child: false,
        start: 1_700_000_000_000_000_001,
        end: u64::MAX,
        told: Told { name: "chat m".to_owned(), is_client: true, has_failed: true, attributes },
    };
    let told = Told { name: "x".repeat(300), ..Told::default() };
    let root = Span { parent: None, is_remote_child: true, start: 0, end: 1, told, ..chat.clone() };
    vec![chat, root]
}

fn request(protocol: Protocol) -> ExportTraceServiceRequest {
    let resource = [("service.name".to_owned(), "metier".to_owned())];
    let bytes = Batch { resource: &resource, spans: &spans() }.encode(protocol);
    match protocol {
        Protocol::Protobuf => ExportTraceServiceRequest::decode(&*bytes).unwrap(),
        Protocol::Json => serde_json::from_slice(&bytes).unwrap(),
    }
}

fn value(attribute: &KeyValue) -> Value {
    match attribute.value.clone().unwrap().value.unwrap() {
        any_value::Value::StringValue(text) => Value::Text(text),
        any_value::Value::IntValue(number) => Value::Whole(number),
        any_value::Value::DoubleValue(number) => Value::Real(number),
        any_value::Value::BoolValue(is_on) => Value::Switch(is_on),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_receiver_reads_what_was_written() {
    for protocol in [Protocol::Protobuf, Protocol::Json] {
        let request = request(protocol);
        let [of_process] = &request.resource_spans[..] else { panic!("{request:?}") };
        let resource = of_process.resource.as_ref().unwrap();
        assert_eq!(resource.attributes[0].key, "service.name");
        assert_eq!(value(&resource.attributes[0]), Value::Text("metier".to_owned()));
        let [of_scope] = &of_process.scope_spans[..] else { panic!("{request:?}") };
        assert_eq!(of_scope.scope.as_ref().unwrap().name, "metier");
        let [chat, root] = &of_scope.spans[..] else { panic!("{request:?}") };
        let written = &spans()[0];
        assert_eq!((&chat.trace_id[..], &chat.span_id[..]), (&written.trace[..], &written.id[..]));
        assert_eq!(chat.parent_span_id, [8; 8]);
        assert_eq!((&*chat.name, chat.kind), ("chat m", 3));
        assert_eq!(
            (chat.start_time_unix_nano, chat.end_time_unix_nano),
            (written.start, written.end)
        );
        assert_eq!(chat.status.as_ref().unwrap().code, 2);
        assert_eq!(chat.flags, 0x101);
        let attributes: Vec<_> =
            chat.attributes.iter().map(|it| (it.key.as_str(), value(it))).collect();
        assert_eq!(attributes, written.told.attributes);
        assert!(root.parent_span_id.is_empty());
        assert_eq!((root.kind, root.flags, root.name.len()), (1, 0x301, 300));
        assert_eq!(root.status.clone().unwrap_or_default().code, 0);
    }
}
