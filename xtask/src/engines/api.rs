//! As much of the Docker API as it takes to put an image in and to run it.
//!
//! Podman speaks the same. Every request has a connection of its own and HTTP/1.0, so that an answer
//! ends where the connection does.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

/// How long an engine may be silent. Putting a layer in place takes a second or two.
const PATIENCE: Duration = Duration::from_secs(60);

/// The longest answer that is read; those asked for here have a few hundred bytes.
const MAX_ANSWER: u64 = 1024 * 1024;

/// An engine behind a socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Api {
    socket: PathBuf,
}

impl Api {
    pub(super) fn new(socket: impl Into<PathBuf>) -> Self {
        Self { socket: socket.into() }
    }

    /// The engine at an address; none if that is not `unix:///…`.
    pub(super) fn at(address: &str) -> Option<Self> {
        address.strip_prefix("unix://").filter(|path| path.starts_with('/')).map(Self::new)
    }

    pub(super) fn address(&self) -> String {
        format!("unix://{}", self.socket.display())
    }

    /// Whether somebody is there.
    pub(super) fn answers(&self) -> bool {
        self.request("GET /_ping", "", &mut io::empty(), 0).is_ok_and(|(status, _)| status == 200)
    }

    pub(super) fn has_image(&self, image: &str) -> Result<bool> {
        let (status, _) = self.get(&format!("/images/{image}/json"))?;
        Ok(status == 200)
    }

    /// Makes an image, such as `team/name:tag`, of the files in an archive, with changes in the
    /// words of a Dockerfile.
    pub(super) fn import(&self, image: &str, archive: &Path, changes: &[&str]) -> Result<()> {
        let mut file =
            File::open(archive).with_context(|| format!("cannot read {}", archive.display()))?;
        let length = file.metadata()?.len();
        let (repository, tag) = image.split_once(':').unwrap_or((image, "latest"));
        let mut head = format!("POST /images/create?fromSrc=-&repo={repository}&tag={tag}");
        for change in changes {
            head += &format!("&changes={}", escaped(change));
        }
        let (status, answer) = self.request(&head, "application/x-tar", &mut file, length)?;
        // Trouble after the start of the answer is in its last line, whatever the status says.
        if status != 200 || !self.has_image(image)? {
            bail!("{} does not take the image `{image}`: {}", self.address(), answer.trim());
        }
        Ok(())
    }

    /// Runs a command in a new container without a network. Returns its exit code.
    pub(super) fn run(&self, image: &str, command: &[&str]) -> Result<i64> {
        let settings = json!({
            "Image": image,
            "Cmd": command,
            "HostConfig": { "NetworkMode": "none" },
        });
        let made = self.post("/containers/create", &settings.to_string())?;
        let id = made["Id"].as_str().context("a container without an id")?.to_owned();
        let ended = self
            .post(&format!("/containers/{id}/start"), "")
            .and_then(|_| self.post(&format!("/containers/{id}/wait"), ""));
        let path = format!("DELETE /containers/{id}?force=true");
        let _reported_by_the_engine = self.request(&path, "", &mut io::empty(), 0);
        ended?["StatusCode"].as_i64().context("a container that ended without a code")
    }

    fn get(&self, path: &str) -> Result<(u16, String)> {
        self.request(&format!("GET {path}"), "", &mut io::empty(), 0)
    }

    /// What comes back must be a success, and JSON if it is anything.
    fn post(&self, path: &str, body: &str) -> Result<Value> {
        let mut bytes = body.as_bytes();
        let head = format!("POST {path}");
        let (status, answer) =
            self.request(&head, "application/json", &mut bytes, body.len() as u64)?;
        if !(200..300).contains(&status) {
            bail!("`{head}` was answered with {status}: {}", answer.trim());
        }
        Ok(serde_json::from_str(&answer).unwrap_or_default())
    }

    fn request(
        &self,
        head: &str,
        content: &str,
        body: &mut dyn Read,
        length: u64,
    ) -> Result<(u16, String)> {
        let exchange = || -> io::Result<String> {
            let mut stream = connect(&self.socket)?;
            write!(
                stream,
                "{head} HTTP/1.0\r\nHost: engine\r\nContent-Type: {content}\r\n\
                 Content-Length: {length}\r\n\r\n"
            )?;
            io::copy(body, &mut stream)?;
            let mut answer = Vec::new();
            stream.take(MAX_ANSWER).read_to_end(&mut answer)?;
            Ok(String::from_utf8_lossy(&answer).into_owned())
        };
        let answer =
            { exchange }().with_context(|| format!("cannot ask {} to `{head}`", self.address()))?;
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        Ok((status.context("the engine does not speak HTTP")?, body.to_owned()))
    }
}

/// A text as the value of a query.
fn escaped(text: &str) -> String {
    let each = text.bytes().map(|byte| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'_' | b'/' | b':' | b'.' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    });
    each.collect()
}

#[cfg(unix)]
fn connect(socket: &Path) -> io::Result<std::os::unix::net::UnixStream> {
    let stream = std::os::unix::net::UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    Ok(stream)
}

#[cfg(not(unix))]
fn connect(_socket: &Path) -> io::Result<std::net::TcpStream> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::os::unix::net::UnixListener;
    use std::thread::{self, JoinHandle};

    use super::*;

    /// An engine that gives these answers, one after the other, and then tells what it was asked.
    fn engine(answers: &'static [(&str, &str)]) -> (tempfile::TempDir, Api, JoinHandle<String>) {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("engine.sock");
        let listener = UnixListener::bind(&socket).unwrap();
        let asked = thread::spawn(move || {
            let mut asked = String::new();
            for (status, body) in answers {
                let (stream, _) = listener.accept().unwrap();
                let mut reader = BufReader::new(&stream);
                let mut length = 0;
                for (number, line) in reader.by_ref().lines().map_while(Result::ok).enumerate() {
                    if number == 0 {
                        asked += &line;
                    } else if let Some(value) = line.strip_prefix("Content-Length: ") {
                        length = value.parse().unwrap();
                    } else if line.is_empty() {
                        break;
                    }
                }
                let mut sent = vec![0; length];
                reader.read_exact(&mut sent).unwrap();
                let sent = String::from_utf8_lossy(&sent).into_owned();
                asked += &if sent.is_empty() { "\n".to_owned() } else { format!(" | {sent}\n") };
                write!(&stream, "HTTP/1.0 {status} Scripted\r\n\r\n{body}").unwrap();
            }
            asked
        });
        (folder, Api::new(socket), asked)
    }

    #[test]
    fn only_sockets_are_addresses() {
        let sockets =
            ["unix:///run/docker.sock", "tcp://127.0.0.1:2375", "ssh://me@host", "unix://a"];
        let read = sockets.map(|address| Api::at(address).map(|api| api.address()));
        assert_eq!(read, [Some(sockets[0].to_owned()), None, None, None]);
    }

    #[test]
    fn nobody_answers_where_there_is_no_socket() {
        assert!(!Api::new("/nowhere/docker.sock").answers());
    }

    #[test]
    fn a_run_leaves_no_container() {
        let (_folder, api, asked) = engine(&[
            ("201", r#"{"Id":"c1"}"#),
            ("204", ""),
            ("200", r#"{"StatusCode":7}"#),
            ("204", ""),
        ]);
        assert_eq!(api.run("a:b", &["sh", "-c", "exit 7"]).unwrap(), 7);
        insta::assert_snapshot!(asked.join().unwrap(), @r#"
        POST /containers/create HTTP/1.0 | {"Image":"a:b","Cmd":["sh","-c","exit 7"],"HostConfig":{"NetworkMode":"none"}}
        POST /containers/c1/start HTTP/1.0
        POST /containers/c1/wait HTTP/1.0
        DELETE /containers/c1?force=true HTTP/1.0
        "#);
    }

    #[test]
    fn what_does_not_start_is_an_error_and_removed() {
        let (_folder, api, asked) =
            engine(&[("201", r#"{"Id":"c1"}"#), ("400", "no such file\n"), ("204", "")]);
        insta::assert_snapshot!(api.run("a:b", &["none"]).unwrap_err(), @"`POST /containers/c1/start` was answered with 400: no such file");
        insta::assert_snapshot!(asked.join().unwrap(), @r#"
        POST /containers/create HTTP/1.0 | {"Image":"a:b","Cmd":["none"],"HostConfig":{"NetworkMode":"none"}}
        POST /containers/c1/start HTTP/1.0
        DELETE /containers/c1?force=true HTTP/1.0
        "#);
    }

    #[test]
    fn an_image_that_is_not_there_afterwards_was_not_imported() {
        let (folder, api, asked) = engine(&[("200", r#"{"error":"disk full"}"#), ("404", "")]);
        let archive = folder.path().join("a.tar");
        std::fs::write(&archive, "files").unwrap();
        let error =
            api.import("team/a:latest", &archive, &["ENV A=b", "USER c"]).unwrap_err().to_string();
        let error = error.replace(&folder.path().display().to_string(), "FOLDER");
        insta::assert_snapshot!(error, @r#"unix://FOLDER/engine.sock does not take the image `team/a:latest`: {"error":"disk full"}"#);
        insta::assert_snapshot!(asked.join().unwrap(), @"
        POST /images/create?fromSrc=-&repo=team/a&tag=latest&changes=ENV%20A%3Db&changes=USER%20c HTTP/1.0 | files
        GET /images/team/a:latest/json HTTP/1.0
        ");
    }
}
