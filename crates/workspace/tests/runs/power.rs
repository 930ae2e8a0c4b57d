//! Programs that take what they can get: processes, memory, output, time, secrets, the network, and
//! what metier writes down about them.
//!
//! The host executor promises paths, environment, limits and output caps; the rest is tried where a
//! program is confined.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::Failed;
use metier_workspace::executor::Network;
use metier_workspace::proxy::AllowList;
use serde_json::{Value, json};

use crate::bench::{Bench, Who};
use crate::{Promise, attacks};

pub(crate) const PROMISES: &[Promise] = &[
    ("processes_are_bounded_and_none_is_left", processes_are_bounded),
    ("memory_is_bounded_and_the_run_is_told", memory_is_bounded),
    ("a_file_is_bounded", a_file_is_bounded),
    ("a_gigabyte_of_output_takes_no_memory", a_gigabyte_of_output),
    ("output_that_is_no_text_is_shown_all_the_same", output_that_is_no_text),
    ("time_is_kept_whatever_a_program_ignores", time_is_kept),
    ("a_lingering_grandchild_is_not_waited_for", a_lingering_grandchild),
    ("the_environment_of_the_caller_stays_with_it", environment_of_the_caller),
    ("secrets_and_processes_of_the_caller_cannot_be_seen", secrets_of_the_caller),
    ("nobody_can_be_reached", nobody_can_be_reached),
    ("a_list_of_addresses_is_all_that_can_be_reached", a_list_of_addresses),
    ("the_skill_and_its_copy_cannot_be_changed", the_skill_cannot_be_changed),
    ("records_streams_and_metadata_cannot_be_changed", records_cannot_be_changed),
];

/// Whether a program is confined.
fn is_confined(bench: &Bench) -> bool {
    bench.who != Who::Host
}

fn processes_are_bounded(bench: &Bench) -> Result<(), Failed> {
    let mut bench = Bench::new(bench.who);
    bench.settings.limits.processes = 40;
    let mark = format!("metier-bomb-{}-{}", bench.who, std::process::id());
    // Forks within bounds even if nobody stops it.
    let bomb = format!(
        "import os, time\nopen('/dev/null')\nn = 0\nfor i in range(200):\n  try:\n    pid = os.fork()\n  \
         except OSError: break\n  if pid == 0:\n    os.setsid()\n    os.execv('/bin/bash', ['{mark}', '-c', 'sleep 60'])\n  \
         n += 1\nprint(n, flush=True)\ntime.sleep(60)"
    );
    let started = Instant::now();
    let output = bench.run(json!({
        "skill": "demo", "command": "python3 -c \"$BOMB\"", "env": {"BOMB": bomb}, "timeout": 2
    }))?;
    let forked: u32 = output.stdout.trim().parse()?;
    assert!(forked < 40, "{forked} were started");
    assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
    assert!(!is_running(&mark), "a process was left");
    Ok(())
}

/// Whether some process has a mark in its command line.
fn is_running(mark: &str) -> bool {
    fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok).any(|entry| {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        line.starts_with(mark.as_bytes())
    })
}

fn memory_is_bounded(bench: &Bench) -> Result<(), Failed> {
    let mut bench = Bench::new(bench.who);
    bench.settings.limits.memory = 96 << 20;
    let output = bench.sh("echo so far; python3 -c 'x = bytearray(600 << 20); print(len(x))'");
    assert_eq!(output.stdout, "so far\n", "{output:?}");
    if is_confined(&bench) {
        let output = bench.sh("echo so far; head -c 600M /dev/zero > /dev/shm/x && echo filled");
        let told = output.denials.iter().any(|denial| denial.what == "memory");
        // Without a control group the folder itself is bounded, at its own size.
        assert!(output.stdout == "so far\n" || !told, "{output:?}");
    }
    Ok(())
}

fn a_file_is_bounded(bench: &Bench) -> Result<(), Failed> {
    let mut bench = Bench::new(bench.who);
    bench.settings.limits.file_bytes = 1 << 20;
    bench.settings.limits.temporary_bytes = 1 << 20;
    let output =
        bench.sh("head -c 9M /dev/zero > out/big; truncate -s 1T work/sparse; stat -c %s out/big");
    assert_eq!(output.stdout, "1048576\n", "{output:?}");
    assert!(bench.workspace().join("work/sparse").metadata()?.len() <= 1 << 20);
    if is_confined(&bench) {
        let output =
            bench.sh("for i in 1 2 3; do head -c 1M /dev/zero > /tmp/$i; done; du -sk /tmp");
        let used: u32 = output.stdout.split('\t').next().unwrap_or_default().parse()?;
        assert!(used <= 1024, "{output:?}");
    }
    Ok(())
}

/// The most memory this process has had, in KiB.
fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("it is there");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|it| it.trim().split(' ').next()?.parse().ok()).expect("a number")
}

fn a_gigabyte_of_output(bench: &Bench) -> Result<(), Failed> {
    let before = peak_memory();
    let output = bench.sh("head -c 1000000000 /dev/zero | tr '\\0' x; echo; echo last");
    assert!(output.stdout.len() < 20 << 10, "{}", output.stdout.len());
    assert!(output.stdout.starts_with("xxx") && output.stdout.ends_with("\nlast\n"));
    assert!(output.stdout.contains("bytes left out"));
    assert!(output.warnings.iter().any(|it| it.contains("1000000006 bytes")), "{output:?}");
    let kept = bench.workspace().join("runs").join(&output.run).join("stdout").metadata()?.len();
    assert!(kept <= 64 << 20, "{kept}");
    let grown = peak_memory() - before;
    assert!(grown < 64 << 10, "{grown} KiB more");
    Ok(())
}

fn output_that_is_no_text(bench: &Bench) -> Result<(), Failed> {
    let output = bench.sh("head -c 20000 /dev/zero | tr '\\0' '\\377'; printf '\\0\\033[2J' >&2");
    assert!(output.stdout.contains("… 3616 bytes left out …"), "{}", output.stdout.len());
    assert_eq!(output.stderr, "\0\u{1b}[2J");
    let all = output.stdout_ref.expect("all of it is on disk");
    let inputs = json!([{"from": all, "to": "work/all"}]);
    let again =
        bench.run(json!({"skill": "demo", "command": "wc -c < work/all", "inputs": inputs}))?;
    assert_eq!(again.stdout.trim(), "20000");
    Ok(())
}

fn time_is_kept(bench: &Bench) -> Result<(), Failed> {
    for command in [
        "trap '' TERM INT HUP; echo so far; while :; do sleep 1; done",
        "echo so far; kill -STOP $$",
        "echo so far; exec 1>&- 2>&-; while :; do sleep 1; done",
        "echo so far; yes > /dev/null",
    ] {
        let started = Instant::now();
        let output = bench.run(json!({"skill": "demo", "command": command, "timeout": 0.4}))?;
        assert!(
            started.elapsed() < Duration::from_millis(3400),
            "{command}: {:?}",
            started.elapsed()
        );
        assert!(output.timed_out && output.exit_code.is_none(), "{command}: {output:?}");
        assert_eq!(output.stdout, "so far\n", "{command}");
        assert!(output.duration_ms >= 400, "{command}: {}", output.duration_ms);
        assert!(output.denials.iter().any(|denial| denial.what == "time"), "{command}");
    }
    Ok(())
}

fn a_lingering_grandchild(bench: &Bench) -> Result<(), Failed> {
    let mark = format!("metier-grandchild-{}-{}", bench.who, std::process::id());
    let linger = format!("(setsid bash -c \"trap '' TERM; exec -a {mark} sleep 300\" &)");
    let started = Instant::now();
    let output = bench.sh(&format!("{linger}; sleep 0.2; echo done"));
    assert_eq!((output.stdout.as_str(), output.exit_code), ("done\n", Some(0)), "{output:?}");
    assert!(started.elapsed() < Duration::from_secs(3), "{:?}", started.elapsed());
    assert!(!is_running(&mark), "a process was left");
    let started = Instant::now();
    let command = format!("{linger}; echo so far; sleep 300");
    let output = bench.run(json!({"skill": "demo", "command": command, "timeout": 0.5}))?;
    assert!(started.elapsed() < Duration::from_millis(3500), "{:?}", started.elapsed());
    assert_eq!((output.stdout.as_str(), output.timed_out), ("so far\n", true));
    assert!(!is_running(&mark), "a process was left");
    Ok(())
}

fn environment_of_the_caller(bench: &Bench) -> Result<(), Failed> {
    let mut bench = Bench::new(bench.who);
    bench.settings.variables = vec![("API_KEY".to_owned(), "configured".to_owned())];
    let output = bench.sh("env; tr '\\0' '\\n' < /proc/$PPID/environ 2>/dev/null");
    assert!(!output.stdout.contains("CARGO_") && !output.stdout.contains("RUST"), "{output:?}");
    assert!(output.stdout.contains("API_KEY=configured\n"));
    let taken = json!({"skill": "demo", "command": "true", "env": {"API_KEY": "other"}});
    assert!(bench.run(taken).is_err());
    Ok(())
}

fn secrets_of_the_caller(bench: &Bench) -> Result<(), Failed> {
    if !is_confined(bench) {
        return Ok(());
    }
    let secret = bench.write("secret", "very-secret");
    let (caller, root) = (std::process::id(), bench.path(""));
    // Read from its input, the script is in no command line.
    let script = format!(
        "cat {} /root/.bashrc /root/.ssh/* /etc/shadow /proc/{caller}/environ /proc/1/environ; \
         cat /proc/*/cmdline | tr '\\0' ' '; ls {} /home /root /run /var; \
         find / -name 'secret' -not -path '/proc/*'; kill -0 {caller} && echo signalled",
        secret.display(),
        root.display()
    );
    let output = bench.run(json!({"skill": "demo", "command": "bash", "stdin": script}))?;
    assert!(
        !output.stdout.contains("very-secret") && !output.stdout.contains("signalled"),
        "{output:?}"
    );
    assert!(!output.stdout.contains("deps/runs") && !output.stdout.contains("state"), "{output:?}");
    assert!(!output.stdout.contains(&format!("{}", secret.display())), "{output:?}");
    Ok(())
}

/// Tries to reach addresses in every way; prints what worked.
const REACH: &str = "import socket, os
def attempt(name, act):
    try: act(); print('reached', name)
    except OSError: pass
port = int(os.environ['PORT'])
attempt('tcp', lambda: socket.create_connection(('127.0.0.1', port), 1))
attempt('tcp6', lambda: socket.create_connection(('::1', port), 1))
attempt('dns', lambda: socket.getaddrinfo('localhost.example.com', 80))
attempt('outside', lambda: socket.create_connection(('192.0.2.1', 80), 1))
attempt('metadata', lambda: socket.create_connection(('169.254.169.254', 80), 1))
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
try: s.sendto(b'x', ('127.0.0.1', port))
except OSError: pass
attempt('abstract', lambda: socket.socket(socket.AF_UNIX).connect('\\0' + os.environ['NAME']))
attempt('named', lambda: socket.socket(socket.AF_UNIX).connect(os.environ['SOCKET']))
attempt('raw', lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
";

fn nobody_can_be_reached(bench: &Bench) -> Result<(), Failed> {
    if !is_confined(bench) {
        return Ok(());
    }
    let tcp = TcpListener::bind("127.0.0.1:0")?;
    let port = tcp.local_addr()?.port();
    let udp = UdpSocket::bind(("127.0.0.1", port))?;
    udp.set_nonblocking(true)?;
    let name = format!("metier-attack-{}-{}", bench.who, std::process::id());
    let _abstract = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name)?)?;
    let _named = UnixListener::bind(bench.path("socket"))?;
    let output = bench.run(json!({
        "skill": "demo", "command": "python3 -c \"$REACH\"",
        "env": {"REACH": REACH, "PORT": port.to_string(), "NAME": name, "SOCKET": bench.path("socket")}
    }))?;
    assert_eq!((output.stdout.as_str(), output.exit_code), ("", Some(0)), "{output:?}");
    assert!(udp.recv(&mut [0; 8]).is_err(), "a datagram arrived");
    Ok(())
}

/// Answers every connection with a line, as HTTP.
fn serve(listener: TcpListener) {
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let _request = stream.read(&mut [0; 4096]);
            let _gone = stream.write_all(
                b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nhello\n",
            );
        }
    });
}

fn a_list_of_addresses(bench: &Bench) -> Result<(), Failed> {
    let mut bench = Bench::new(bench.who);
    let (listed, other) = (TcpListener::bind("127.0.0.1:0")?, TcpListener::bind("127.0.0.1:0")?);
    let (allowed, refused) = (listed.local_addr()?, other.local_addr()?);
    let udp = UdpSocket::bind(allowed)?;
    udp.set_nonblocking(true)?;
    serve(listed);
    serve(other);
    let entries = vec![allowed.to_string()];
    bench.settings.network = Network::Listed(AllowList::parse(&entries)?, entries);
    if bench.who == Who::Host {
        // It cannot be kept, so it is not promised.
        assert!(bench.run(json!({"skill": "demo", "command": "true"})).is_err());
        return Ok(());
    }
    let fetch = "import urllib.request as r, os\nfor url in os.environ['URLS'].split():\n  \
                 try: print(r.urlopen(url, timeout=5).read().decode(), end='')\n  \
                 except Exception as e: print('refused')";
    let urls = format!(
        "http://{allowed}/ http://{refused}/ http://localhost:{}/ http://192.0.2.1/",
        refused.port()
    );
    let request = |command: &str, program: &str| -> Value {
        json!({
            "skill": "demo", "command": command, "env": {
                "P": program, "URLS": urls, "PORT": allowed.port().to_string(), "NAME": "x", "SOCKET": "/x"
            }
        })
    };
    let output = bench.run(request("python3 -c \"$P\"", fetch))?;
    assert_eq!(output.stdout, "hello\nrefused\nrefused\nrefused\n", "{output:?}");
    let denied: Vec<_> = output.denials.iter().filter(|it| it.kind == "network").collect();
    assert_eq!(denied.len(), 3, "{output:?}");
    // A program that does not know about the proxy gets nowhere, not even to what is listed.
    let output = bench.run(request("unset HTTP_PROXY http_proxy; python3 -c \"$P\"", REACH))?;
    assert_eq!((output.stdout.as_str(), output.exit_code), ("", Some(0)), "{output:?}");
    assert!(udp.recv(&mut [0; 8]).is_err(), "a datagram arrived");
    // Nor does one that speaks to the proxy as it likes.
    let rude = "import socket, os
def say(data):
    s = socket.create_connection(('127.0.0.1', 3128), 5); s.sendall(data); s.settimeout(5)
    try: answer = s.recv(4096)
    except OSError: answer = b''
    print('hello' in answer.decode('latin1'), answer[:12])
other = os.environ['URLS'].split()[1][7:-1]
listed = os.environ['URLS'].split()[0][7:-1]
say(f'GET http://{listed}@{other}/ HTTP/1.1\\r\\nHost: {listed}\\r\\n\\r\\n'.encode())
say(f'CONNECT {other} HTTP/1.1\\r\\nHost: {listed}\\r\\n\\r\\n'.encode())
say(f'GET / HTTP/1.1\\r\\nHost: {other}\\r\\n\\r\\n'.encode())
say(b'\\x05\\x01\\x00'); say(b'\\x00' * 100)
";
    let output = bench.run(request("python3 -c \"$P\"", rude))?;
    assert!(!output.stdout.contains("True") && output.exit_code == Some(0), "{output:?}");
    Ok(())
}

fn the_skill_cannot_be_changed(bench: &Bench) -> Result<(), Failed> {
    let source = attacks::names_in(&bench.path("skills/demo"));
    let digest = |bench: &Bench| -> Vec<String> { attacks::names_in(&bench.path("state/content")) };
    bench.sh("true");
    let staged = digest(bench);
    let command = "chmod -R u+w . ; echo evil > SKILL.md; echo evil > new; rm -f SKILL.md; mv scripts x; \
                   mkdir d; ln -s x y; ln -sfn /tmp out; rm -f out; touch .venv/marker; rm -rf scripts";
    bench.sh(command);
    assert_eq!(attacks::names_in(&bench.path("skills/demo")), source);
    assert_eq!(digest(bench), staged);
    let content = bench.path("state/content").join(&staged[0]);
    let text = fs::read_to_string(content.join("SKILL.md"))?;
    assert!(text.contains("name: demo"), "{text}");
    assert_eq!(
        attacks::names_in(&content),
        [".venv", "SKILL.md", "inputs", "out", "scripts", "work"]
    );
    if is_confined(bench) {
        let output = bench.sh("cat SKILL.md; ls -A; ls .venv");
        assert!(
            output.stdout.contains("name: demo") && output.stdout.contains("scripts"),
            "{output:?}"
        );
        assert!(output.stdout.ends_with("marker\n"), "{output:?}");
    }
    Ok(())
}

fn records_cannot_be_changed(bench: &Bench) -> Result<(), Failed> {
    if !is_confined(bench) {
        return Ok(());
    }
    let first = bench.sh("echo first");
    let runs = bench.workspace().join("runs");
    let record = fs::read(runs.join(&first.run).join("record.json"))?;
    let second = bench.sh(&format!(
        "cd $WORKSPACE_DIR; ls -A . runs; for f in metadata.json .lock new runs/new runs/{0}/record.json runs/{0}/stdout \
         $RUN_DIR/../record.json $RUN_DIR/../stdout $RUN_DIR/../stderr $RUN_DIR/../.record; do \
         (echo evil > $f) 2>/dev/null && echo wrote $f; rm -rf $f 2>/dev/null; done; \
         mv $RUN_DIR $RUN_DIR.x 2>/dev/null && echo moved; rm -rf runs out work .venvs 2>/dev/null; echo end >&2",
        first.run
    ));
    assert!(!second.stdout.contains("wrote") && !second.stdout.contains("moved"), "{second:?}");
    assert!(!second.stdout.contains(&first.run), "an earlier run is not there: {second:?}");
    assert_eq!(fs::read(runs.join(&first.run).join("record.json"))?, record);
    let own: Value =
        serde_json::from_slice(&fs::read(runs.join(&second.run).join("record.json"))?)?;
    assert_eq!(own["skill"], "demo");
    assert_eq!(fs::read_to_string(runs.join(&second.run).join("stderr"))?, second.stderr);
    serde_json::from_slice::<Value>(&fs::read(bench.workspace().join("metadata.json"))?)?;
    assert_eq!(bench.sh("echo still works").stdout, "still works\n");
    Ok(())
}
