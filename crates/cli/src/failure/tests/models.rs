//! Errors of models and of the network. Those of the HTTP library can only be had by failing.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use metier_model::{ModelError, Said};
use metier_net::{Client, ClientOptions, DownloadRequest, NetError, RedirectFault, UrlFault};

use super::sheet::{Sheet, system};
use crate::failure::Failure;

const ADDRESS: &str = "https://example.com/skills.zip";

pub(super) fn add_to(sheet: &mut Sheet) {
    models(sheet);
    network(sheet);
}

fn models(sheet: &mut Sheet) {
    use ModelError as E;
    let host = || "api.openai.com".to_owned();
    let said = Said::new;
    let errors = [
        E::Name { name: "gpt-5".into() },
        E::UnknownProvider {
            provider: "mistral".into(),
            known: vec!["anthropic".into(), "openai".into()],
        },
        E::UnknownProvider { provider: "opnai".into(), known: vec!["openai".into()] },
        E::NoKey { provider: "openai".into(), variable: Some("OPENAI_API_KEY".into()) },
        E::NoKey { provider: "mine".into(), variable: None },
        E::BaseUrl { provider: "mine".into(), fault: "it is not a URL" },
        E::Setup(NetError::Header { name: "authorization".into() }),
        E::Unreachable { host: "127.0.0.1:8080".into(), source: connect() },
        E::Unreachable { host: "example.com".into(), source: tls() },
        E::Key { host: host(), said: said("Incorrect API key provided") },
        E::Forbidden { host: host(), said: said("Project does not have access to model `gpt-5`") },
        E::UnknownModel {
            host: host(),
            model: "gpt-55".into(),
            said: said("The model `gpt-55` does not exist"),
        },
        E::ContextOverflow { said: said("maximum context length is 128000 tokens") },
        E::RateLimited { host: host(), said: said("Rate limit reached"), retry_after: None },
        E::QuotaExhausted { host: host(), said: said("You exceeded your current quota") },
        E::Refused {
            host: host(),
            said: said("flagged as potentially violating our usage policy"),
        },
        E::Rejected { host: host(), status: 400, said: said("Unknown parameter: `tools`") },
        E::Failed { host: host(), status: Some(500), said: said(""), retry_after: None },
        E::NotJson { host: "example.com".into(), beginning: "<!doctype html>".into() },
        E::Interrupted { source: None },
        E::TooLarge { limit: 33_554_432 },
        E::ScriptFile { path: PathBuf::from("replies.jsonl"), source: system(ErrorKind::NotFound) },
        E::Script { entry: 2, source: serde_json::from_str::<serde_json::Value>("{").unwrap_err() },
        E::ScriptEnded { request: 3 },
    ];
    errors.into_iter().for_each(|error| sheet.show(error, Failure::from));
}

fn network(sheet: &mut Sheet) {
    use NetError as E;
    let url = || ADDRESS.to_owned();
    let host = || "example.com".to_owned();
    if let E::Connect { source, .. } = connect() {
        sheet.show(E::Setup(source), Failure::from);
    }
    let faults = [
        || UrlFault::Unreadable("invalid port number".into()),
        || UrlFault::Scheme { scheme: "ftp".into() },
        || UrlFault::Credentials,
    ];
    for fault in faults {
        sheet.inside(&fault(), &E::Url { url: "…".into(), source: fault() }.into());
    }
    sheet.show(
        E::Url { url: "https://".into(), source: UrlFault::Unreadable("empty host".into()) },
        Failure::from,
    );
    sheet.show(resolve(), |error| {
        // What the resolver says depends on whether there is a network.
        let told = Failure::from(error);
        Failure {
            messages: told
                .messages
                .into_iter()
                .map(|it| {
                    it.replace("Temporary failure in name resolution", "Name or service not known")
                })
                .collect(),
            ..told
        }
    });
    if let E::Connect { source, .. } = connect() {
        sheet.show(E::Connect { host: host(), source }, Failure::from);
    }
    sheet.show(tls(), Failure::from);
    sheet.show(interrupted(), Failure::from);
    let faults = [
        || RedirectFault::TooMany { limit: 10 },
        || RedirectFault::Downgrade,
        || RedirectFault::NoLocation,
        || RedirectFault::NotForCredentials,
        || RedirectFault::Url {
            url: "ftp://example.com/".into(),
            source: UrlFault::Scheme { scheme: "ftp".into() },
        },
    ];
    for fault in faults {
        sheet.inside(&fault(), &E::Redirect { url: url(), source: fault() }.into());
    }
    let errors = [
        E::TimedOut { url: url(), limit: Duration::from_secs(60) },
        E::Silent { host: host(), limit: Duration::from_secs(30) },
        E::Header { name: "authorization".into() },
        E::TooLarge { url: url(), limit: 67_108_864 },
        E::Status { url: url(), status: 404 },
        E::Status { url: url(), status: 403 },
        E::Status { url: url(), status: 405 },
        E::Status { url: url(), status: 502 },
        E::Redirect { url: url(), source: RedirectFault::Downgrade },
        E::Write(system(ErrorKind::StorageFull)),
        E::Runtime(std::io::Error::from_raw_os_error(11)),
    ];
    errors.into_iter().for_each(|error| sheet.show(error, Failure::from));
}

/// Nobody listens there any more.
pub(super) fn connect() -> NetError {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    match fetch(&format!("http://127.0.0.1:{port}/")) {
        NetError::Connect { source, .. } => {
            NetError::Connect { host: "127.0.0.1:8080".into(), source }
        }
        other => panic!("{other:?}"),
    }
}

/// Such a name never leads anywhere.
fn resolve() -> NetError {
    fetch("http://example.invalid/")
}

/// Somebody listens who does not speak TLS.
fn tls() -> NetError {
    named(fetch(&format!("https://{}/", answering("HTTP/1.1 400 Bad Request\r\n\r\n"))))
}

/// Less comes than was promised.
fn interrupted() -> NetError {
    let answer = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf";
    match fetch(&format!("http://{}/", answering(answer))) {
        NetError::Interrupted { source, .. } => {
            NetError::Interrupted { url: ADDRESS.into(), source }
        }
        other => panic!("{other:?}"),
    }
}

/// The port is another each time.
fn named(error: NetError) -> NetError {
    match error {
        NetError::Tls { source, .. } => NetError::Tls { host: "example.com".into(), source },
        other => panic!("{other:?}"),
    }
}

fn fetch(url: &str) -> NetError {
    let request = DownloadRequest { url, etag: None, last_modified: None };
    let client = Client::new(&ClientOptions::STANDARD).unwrap();
    client.download_blocking(&request, &mut Vec::new()).unwrap_err()
}

/// A server that says one thing to the first who comes.
fn answering(answer: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _read = stream.read(&mut [0; 1024]);
        let _written = stream.write_all(answer.as_bytes());
    });
    address
}
