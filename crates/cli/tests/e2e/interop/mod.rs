//! Programs of others meet `metier mcp`: the protocol's conformance suite, its Inspector, and an
//! agent. They are real ones from the npm registry; where they are not installed, tests say so.

mod agents;
mod conformance;
mod inspector;

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Stdio};

use metier_testkit::TestEnv;

use crate::environment;

const TOKEN: &str = "a-token-of-this-test-that-is-long-enough";

/// A home with nothing in it, where bundled skills are usable.
fn with_bundled_skills() -> TestEnv {
    environment().with_variable("PATH", "/usr/local/bin:/usr/bin:/bin")
}

/// A server that answers over HTTP until it is dropped.
struct Serving {
    address: SocketAddr,
    child: Child,
}

impl Serving {
    fn start(env: &TestEnv, arguments: &[&str]) -> Self {
        let mut command = env.command(env.binary());
        command.args(["mcp", "--http", "127.0.0.1:0"]).args(arguments);
        command.env("METIER_MCP_TOKEN", TOKEN).stdin(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the server starts");
        let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        let address = lines.find_map(|line| {
            let line = line.expect("it says where it listens");
            let (_, rest) = line.split_once("http://")?;
            rest.split('/').next()?.parse().ok()
        });
        // Whatever it says later must not stop it.
        std::thread::spawn(move || lines.for_each(drop));
        Self { address: address.expect("it says where it listens"), child }
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _gone = self.child.wait();
    }
}
