//! Sessions as lines, and sessions from lines.

use metier_session::content::Part;
use metier_session::{
    BreakCause, Content, Export, Import, Opening, Session, SessionError, SessionRef, Stub,
};

use crate::support::{Store, all, begin, delta, key, paid, refusal, replied, said, state};

async fn export(store: &Store, at: &SessionRef) -> Vec<String> {
    let mut export = Export::new(&**store, at);
    let mut lines = Vec::new();
    while let Some(line) = export.next_line().await.unwrap() {
        assert!(!line.contains('\n'));
        lines.push(line);
    }
    lines
}

async fn import(
    store: &Store,
    name: &str,
    lines: &[impl AsRef<str>],
) -> Result<Session, SessionError> {
    let key = key(name);
    let mut import = Import::new(&**store, &key);
    for line in lines {
        import.line(line.as_ref()).await?;
    }
    import.finish().await
}

pub(crate) async fn an_export_makes_the_same_session_elsewhere(store: &Store) {
    let at = begin(store, "from").await;
    let opening = Opening { system: "Be\nbrief 👍".to_owned(), ..Opening::default() };
    store.set_opening(&at, opening.clone()).await.unwrap();
    for seq in (0..250).step_by(2) {
        let question =
            said(&format!("line\nbreak {seq}")).with_state(delta(&format!("k{seq}=1 -k2")));
        let answer = replied("é\0").with_usage(paid("m", seq, 1)).with_digest("csv", "d");
        let answer = answer.with_break(BreakCause::Once, vec![Stub::new(question.id(), "csv")]);
        store.append(&at, seq, vec![question, answer]).await.unwrap();
    }
    let lines = export(store, &at).await;
    assert_eq!(lines.len(), 251);
    let copy = import(store, "to", &lines).await.unwrap();
    assert_ne!(copy.at.generation, at.generation);
    assert_eq!((copy.seq, copy.turns, copy.title.as_deref()), (250, 125, Some("line break 0")));
    assert_eq!(all(store, &copy.at).await, all(store, &at).await);
    assert_eq!(state(store, &copy.at).await, state(store, &at).await);
    assert_eq!(store.opening(&copy.at).await.unwrap(), Some(opening));
    assert_eq!(export(store, &copy.at).await[1..], lines[1..]);
}

const HEADER: &str = r#"{"metier_session":1,"key":{"app":"a","user":"u","session":"s"},"generation":7,"opening":{"system":"s","tools":"[]","catalog":"c","voice":[1.5]}}"#;
const LATER: [&str; 3] = [
    r#"{"seq":1,"id":"019a8c5e-7b00-7000-8000-000000000001","time":5,"author":"ada","kind":"user","content":{"text":"hi","attachments":[{"name":"a","ref":"artifact://a","size":9}],"mood":{"b":1,"a":0.1}},"usage":{"model":"m","input_tokens":1,"cached_input_tokens":0,"cache_write_tokens":0,"output_tokens":0,"reasoning_tokens":0,"watts":3},"breaks":{"cause":"moonrise","stubbed":[{"event":"019a8c5e-7b00-7000-8000-000000000009","skill":"csv","doc":"a.md"}],"phase":"full"},"branch":"main"}"#,
    r#"{"seq":2,"id":"019a8c5e-7b00-7000-8000-000000000002","time":6,"author":"agent","kind":"assistant","content":{"parts":[{"type":"text","text":"a","cite":[1]},{"type":"image","data":"…"},{"type":"call","id":"c","name":"n","arguments":"{}","index":0}],"model":"m","tier":2}}"#,
    r#"{"seq":3,"id":"019a8c5e-7b00-7000-8000-000000000003","time":7,"author":"ada","kind":"reaction","content":["👍",{"z":1,"a":2}],"state":{"a":null,"b":"1"}}"#,
];

pub(crate) async fn fields_of_later_versions_survive(store: &Store) {
    let lines = [&[HEADER][..], &LATER].concat();
    let session = import(store, "later", &lines).await.unwrap();
    let exported = export(store, &session.at).await;
    assert_eq!(exported[1..], LATER);
    assert!(
        exported[0]
            .ends_with(r#""opening":{"system":"s","tools":"[]","catalog":"c","voice":[1.5]}}"#)
    );
    let events = all(store, &session.at).await;
    assert_eq!(events[0].extra["branch"], "main");
    assert_eq!(events[0].breaks.as_ref().unwrap().cause, BreakCause::Other("moonrise".to_owned()));
    let Content::Assistant(reply) = &events[1].content else { panic!("{:?}", events[1]) };
    assert!(matches!(&reply.parts[..], [Part::Text(_), Part::Other(_), Part::Call(_)]));
    let Content::Other(other) = &events[2].content else { panic!("{:?}", events[2]) };
    assert_eq!((other.kind(), &other.content()[0]), ("reaction", &"👍".into()));
    assert_eq!(state(store, &session.at).await, "b=1");
}

pub(crate) async fn a_broken_line_leaves_nothing(store: &Store) {
    let [first, second, third] = LATER;
    let later = first.replace("\"seq\":1", "\"seq\":2").replace("0001\"", "0004\"");
    let bad_call = second.replace(r#""id":"c","#, "");
    let empty_name = third.replace("\"a\":null", "\"\":null");
    let cases: [(&[&str], &str); 12] = [
        (&[], "line 0 is not that of an exported session: there is no line"),
        (&[""], "line 1 "),
        (&[first], "line 1 "),
        (
            &[&HEADER.replace(":1,", ":2,")],
            "line 1 is not that of an exported session: version 2 is not known",
        ),
        (&[HEADER, HEADER], "line 2 "),
        (
            &[HEADER, first, third],
            "line 3 is not that of an exported session: event 3 is where 2 should be",
        ),
        (
            &[HEADER, first, first],
            "line 3 is not that of an exported session: event 1 is where 2 should be",
        ),
        (
            &[HEADER, first, &second.replace("0002\"", "0001\"")],
            "line 3 is not that of an exported session: the id 019a8c5e-7b00-7000-8000-000000000001 is that of an earlier event",
        ),
        (
            &[HEADER, &later],
            "line 2 is not that of an exported session: event 2 is where 1 should be",
        ),
        (
            &[HEADER, first, &bad_call],
            "line 3 is not that of an exported session: missing field `id`",
        ),
        (
            &[HEADER, first, second, &empty_name],
            "line 4 is not that of an exported session: `` cannot be a name in the state: it is empty",
        ),
        (&[HEADER, first, second, "{\"seq\":3"], "line 4 "),
    ];
    for (lines, message) in cases {
        let error = refusal(import(store, "broken", lines).await);
        assert!(error.starts_with(message), "{error}");
        assert_eq!(store.get(&key("broken")).await.unwrap(), None, "{error}");
    }
}

pub(crate) async fn an_import_that_failed_can_begin_again(store: &Store) {
    let key = key("again");
    let mut import = Import::new(&**store, &key);
    import.line(HEADER).await.unwrap();
    import.line(LATER[0]).await.unwrap();
    import.line("no event").await.unwrap_err();
    assert!(refusal(import.line(LATER[1]).await).starts_with("line 1 "));
    for line in [&[HEADER][..], &LATER].concat() {
        import.line(line).await.unwrap();
    }
    let session = import.finish().await.unwrap();
    assert_eq!(export(store, &session.at).await[1..], LATER);
}

pub(crate) async fn what_a_line_says_is_not_obeyed(store: &Store) {
    let hostile = format!("{{\"metier_session\":\"\\u001b[31m{}\"}}", "x".repeat(100_000));
    let error = refusal(import(store, "hostile", &[hostile]).await);
    assert!(error.contains("invalid type: string \"\\u{1b}[31mxxx"), "{error}");
    assert!(error.chars().count() < 400 && error.ends_with('…'), "{error}");
}

pub(crate) async fn nothing_is_imported_over_a_session(store: &Store) {
    let at = begin(store, "there").await;
    let error = refusal(import(store, "there", &[HEADER, LATER[0]]).await);
    assert_eq!(
        error,
        "the session `there` is there already: import under another name, or delete it"
    );
    assert_eq!(store.get(&key("there")).await.unwrap().unwrap().at, at);
    assert_eq!(store.opening(&at).await.unwrap(), None);
}
