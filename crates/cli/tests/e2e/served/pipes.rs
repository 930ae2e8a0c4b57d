//! A client at the other end of two pipes.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use metier_testkit::TestEnv;
use serde_json::{Value, json};

use super::{call, initialize};

/// Bytes that a pipe holds.
const PIPE_SIZE: u64 = 64 << 10;

/// A server that was started by its client, and has loaded the skill `demo`.
pub(super) struct Piped {
    pub(super) child: Child,
    input: Option<ChildStdin>,
    output: Option<BufReader<ChildStdout>>,
}

impl Piped {
    pub(super) fn start(env: &TestEnv) -> Self {
        Self::start_with(env, Stdio::null())
    }

    /// The same with a standard error of its own.
    pub(super) fn start_with(env: &TestEnv, stderr: Stdio) -> Self {
        let mut command = env.command(env.binary());
        command.args(["mcp", "--no-default-sources", "--skills-dir", "skills"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr);
        let mut child = command.spawn().expect("it starts");
        let (input, output) = (child.stdin.take(), child.stdout.take().map(BufReader::new));
        let mut piped = Self { child, input, output };
        piped.write(&initialize());
        assert_eq!(piped.read()["id"], 0);
        piped.write(&call(1, "skill_load", &json!({"skill": "demo"})));
        assert_eq!(piped.read()["id"], 1);
        piped
    }

    pub(super) fn write(&mut self, message: &Value) {
        let input = self.input.as_mut().expect("it is open");
        writeln!(input, "{message}").expect("it is read");
    }

    /// Writes a line, whatever it is.
    pub(super) fn write_line(&mut self, line: &str) {
        let input = self.input.as_mut().expect("it is open");
        writeln!(input, "{line}").expect("it is read");
    }

    /// Waits until the pipe is full of what the server wrote: it has much, and nothing more comes. A message that does
    /// not fit into what is left of a page begins a new one, so that it is never full to the last byte.
    pub(super) fn wait_until_full(&self) {
        let output = self.output.as_ref().expect("it is open").get_ref();
        let mut before = 0;
        let is_full = || {
            std::thread::sleep(Duration::from_millis(300));
            let now = rustix::io::ioctl_fionread(output).expect("a pipe");
            let is_still = now > PIPE_SIZE / 2 && now == before;
            before = now;
            is_still
        };
        assert!(super::wait_for(Duration::from_secs(30), is_full), "the pipe is never full");
    }

    /// The next message that is no notification.
    pub(super) fn read(&mut self) -> Value {
        let output = self.output.as_mut().expect("it is open");
        loop {
            let mut line = String::new();
            assert!(output.read_line(&mut line).expect("a line") > 0, "it ended early");
            let message: Value = serde_json::from_str(&line).expect("JSON");
            if message.get("method").is_none() {
                return message;
            }
        }
    }

    /// Reads pieces of some bytes with pauses between them, for a while.
    pub(super) fn read_slowly(&mut self, bytes: usize, pause: Duration, time: Duration) -> String {
        let output = self.output.as_mut().expect("it is open");
        assert!(output.buffer().is_empty(), "all that was read was used");
        let (mut read, begun) = (Vec::new(), Instant::now());
        while begun.elapsed() < time {
            let mut piece = vec![0; bytes];
            let count = output.get_mut().read(&mut piece).expect("bytes");
            read.extend_from_slice(&piece[..count]);
            std::thread::sleep(pause);
        }
        String::from_utf8(read).expect("text")
    }

    /// Reads all that is left.
    pub(super) fn read_to_end(&mut self) -> String {
        let mut rest = String::new();
        let output = self.output.as_mut().expect("it is open");
        output.read_to_string(&mut rest).expect("text");
        rest
    }

    pub(super) fn close_input(&mut self) {
        self.input = None;
    }

    pub(super) fn close_both(&mut self) {
        self.input = None;
        self.output = None;
    }
}

impl Drop for Piped {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _reaped = self.child.wait();
    }
}
