//! A provider that is asked over TLS: who may answer, and who is refused.
//!
//! The certificates are made for each test; no system knows their authority.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread;

use metier_testkit::{Outcome, TestEnv, skip};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::bench::{asking, with_skill};
use crate::{compact, environment};

/// A reply in chat completions.
const ANSWER: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Yes.\"}}]}\n\n\
    data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n\
    data: [DONE]\n\n";

/// An authority, and a server that it knows as `localhost`.
pub(crate) struct Certificates {
    place: TestEnv,
}

impl Certificates {
    /// Makes them, if there is a program for that.
    pub(crate) fn make() -> Option<Self> {
        let made = Self { place: environment() };
        made.place.write("project/config", "[req]\ndistinguished_name = name\n[name]\n");
        let authority = ["-subj", "/CN=authority", "-addext", "basicConstraints=critical,CA:TRUE"];
        let server = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
        let signed = ["-CA", "authority.pem", "-CAkey", "authority.key"];
        let is_made = made.request("authority", &authority)
            && made.request("server", &[&server[..], &signed].concat());
        is_made.then_some(made)
    }

    fn request(&self, name: &str, more: &[&str]) -> bool {
        let mut command = self.place.command("/usr/bin/openssl");
        command
            .args(["req", "-x509", "-config", "config", "-days", "2", "-nodes", "-newkey", "ec"]);
        command.args(["-pkeyopt", "ec_paramgen_curve:P-256", "-keyout", &format!("{name}.key")]);
        command.args(["-out", &format!("{name}.pem")]).args(more);
        match command.output() {
            Ok(output) if output.status.success() => true,
            Ok(output) => panic!("{}", String::from_utf8_lossy(&output.stderr)),
            Err(_) => {
                skip("tasks::secure", "openssl is not installed");
                false
            }
        }
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.place.project().join(name)).expect("it was made")
    }

    /// An environment whose system knows the authority.
    pub(crate) fn known_in(&self, env: TestEnv) -> TestEnv {
        let authority = self.place.project().join("authority.pem");
        env.with_variable("SSL_CERT_FILE", &authority.to_string_lossy())
    }

    fn known(&self) -> TestEnv {
        self.known_in(with_skill())
    }
}

/// Answers the task of whoever believes that this is `localhost`, and gives the port.
fn start(made: &Certificates) -> u16 {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n";
    // The task is the last thing in a request.
    serve(made, b"ask?", format!("{head}Content-Length: {}\r\n\r\n{ANSWER}", ANSWER.len()))
}

/// Answers each request as soon as it has some bytes, and gives the port.
pub(crate) fn serve(made: &Certificates, end: &'static [u8], answer: String) -> u16 {
    let certificate =
        CertificateDer::from_pem_slice(&made.read("server.pem")).expect("a certificate");
    let key = PrivateKeyDer::from_pem_slice(&made.read("server.key")).expect("a key");
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .expect("the key is that of the certificate");
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let connection = ServerConnection::new(Arc::clone(&config)).expect("a connection");
            let mut stream = StreamOwned::new(connection, stream);
            let mut request = Vec::new();
            let mut piece = [0; 4096];
            // One that does not believe us hangs up.
            while !request.windows(end.len()).any(|window| window == end) {
                match stream.read(&mut piece) {
                    Ok(length) if length > 0 => request.extend_from_slice(&piece[..length]),
                    _ => break,
                }
            }
            let _hung_up = stream.write_all(answer.as_bytes());
            let _hung_up = stream.flush();
        }
    });
    port
}

fn ask(env: TestEnv, made: &Certificates, host: &str) -> Outcome {
    let port = start(made);
    let env = asking(env, &format!("https://{host}:{port}/v1"));
    env.run(["run", "ask?", "--no-skills", "--model", "openai/test"])
}

#[test]
fn a_provider_whose_authority_the_system_knows_answers() {
    let Some(made) = Certificates::make() else { return };
    let outcome = ask(made.known(), &made, "localhost");
    assert_eq!((outcome.code, outcome.stdout.as_str()), (0, "Yes.\n"), "{outcome}");
}

#[test]
fn a_provider_that_cannot_prove_who_it_is_gets_no_request() {
    let Some(made) = Certificates::make() else { return };
    let alone = with_skill()
        .with_variable("SSL_CERT_FILE", "/nonexistent")
        .with_variable("SSL_CERT_DIR", "/nonexistent");
    let cases = [
        ("invalid peer certificate: UnknownIssuer", with_skill(), "localhost"),
        ("certificate not valid for name \"127.0.0.1\"", made.known(), "127.0.0.1"),
        ("No CA certificates were loaded from the system", alone, "localhost"),
    ];
    for (reason, env, host) in cases {
        let outcome = ask(env, &made, host);
        assert!(outcome.code == 1 && outcome.stdout.is_empty(), "{outcome}");
        let told = compact(&outcome);
        assert!(told.contains(&format!("cannot reach `{host}:")), "{told}");
        assert!(told.contains(reason), "{told}");
    }
}
