//! Programs that look and call around: secrets, environment and processes of the caller, networks, sockets.

use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

use libtest_mimic::Failed;
use serde_json::json;

use crate::bench::{Bench, Who};

pub(super) fn secrets(bench: &Bench) -> Result<(), Failed> {
    let secret = bench.write("home/secret", "very-secret");
    let (caller, root) = (std::process::id(), bench.path(""));
    // Read from its input, the script is in no command line.
    let script = format!(
        "cat '{0}' /root/.bashrc /root/.ssh/* /etc/shadow /proc/{caller}/root'{0}' /proc/1/root'{0}'; \
         ls {1} /home/* /root /proc/{caller}/root; find / -name secret -not -path '/proc/*'",
        secret.display(),
        root.display()
    );
    let output = bench.run(json!({"skill": "demo", "command": "bash 2>&1", "stdin": script}))?;
    assert!(output.stdout.contains("secret"), "it was tried: {output:?}");
    for told in ["very-secret", "root:*", "root:!", "root:$", "state", "alias "] {
        assert!(!output.stdout.contains(told), "{told}: {output:?}");
    }
    let found = output.stdout.lines().any(|line| line == secret.display().to_string());
    assert!(!found, "{output:?}");
    Ok(())
}

pub(super) fn environment(bench: &Bench) -> Result<(), Failed> {
    let mut bench = Bench::new(bench.who);
    bench.settings.variables = vec![("API_KEY".to_owned(), "configured".to_owned())];
    let output = bench.sh("env; tr '\\0' '\\n' < /proc/$PPID/environ 2>/dev/null; true");
    for told in ["CARGO_", "RUST", "METIER_"] {
        assert!(!output.stdout.contains(told), "{told}: {output:?}");
    }
    assert!(output.stdout.contains("API_KEY=configured\n"));
    let taken = json!({"skill": "demo", "command": "true", "env": {"API_KEY": "other"}});
    assert!(bench.run(taken).is_err());
    Ok(())
}

pub(super) fn process_list(bench: &Bench) -> Result<(), Failed> {
    let caller = std::process::id();
    let script = format!(
        "cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ | tr '\\0' ' '; kill -0 {caller} && echo signalled; echo $(ls -d /proc/[0-9]* | wc -l)"
    );
    let output = bench.run(json!({"skill": "demo", "command": "bash 2>&1", "stdin": script}))?;
    let own = std::env::current_exe()?;
    assert!(!output.stdout.contains(&own.display().to_string()), "{output:?}");
    for told in ["signalled", "CARGO_", "METIER_"] {
        assert!(!output.stdout.contains(told), "{told}: {output:?}");
    }
    let seen: u32 = output.stdout.lines().last().unwrap_or_default().parse()?;
    assert!((1..10).contains(&seen), "{seen} processes: {output:?}");
    Ok(())
}

pub(super) fn privileges(bench: &Bench) -> Result<(), Failed> {
    let output = bench.sh(
        "grep -e ^CapEff -e ^CapPrm -e ^CapBnd -e ^NoNewPrivs /proc/self/status | tr -d '\\t'; \
         test $(id -u) != 0 && echo ordinary; mount -t tmpfs none /tmp 2>/dev/null && echo mounted; \
         mknod /tmp/disk b 8 0 2>/dev/null && echo made; chown 0 /proc/self/fd/1 2>/dev/null && echo owned; true",
    );
    assert_eq!(
        output.stdout,
        "CapPrm:0000000000000000\nCapEff:0000000000000000\nCapBnd:0000000000000000\nNoNewPrivs:1\nordinary\n",
        "{output:?}"
    );
    Ok(())
}

/// Tries to reach what `TRY` says, in every way; prints what worked.
pub(crate) const REACH: &str = "import socket, os
def attempt(name, act):
    if name not in os.environ['TRY'].split(): return
    try: act(); print('reached', name)
    except OSError: pass
def connect(address): socket.socket(socket.AF_UNIX).connect(address)
port = int(os.environ['PORT'])
attempt('tcp', lambda: socket.create_connection(('127.0.0.1', port), 1))
attempt('tcp6', lambda: socket.create_connection(('::1', port), 1))
attempt('outside', lambda: socket.create_connection(('192.0.2.1', 80), 1))
attempt('metadata', lambda: socket.create_connection(('169.254.169.254', 80), 1))
attempt('raw', lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
attempt('packet', lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0))
attempt('dns', lambda: socket.getaddrinfo('localhost.example.com', 80))
if 'udp' in os.environ['TRY']:
    try: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', port))
    except OSError: pass
for name in os.environ['ABSTRACT'].split():
    attempt('abstract', lambda: connect('\\0' + name))
for path in os.environ['SOCKETS'].split():
    attempt('named', lambda: connect(path))
print('tried')
";

/// Tries to reach somebody who listens in every way.
fn reach(bench: &Bench, ways: &str) -> Result<(), Failed> {
    let tcp = TcpListener::bind("127.0.0.1:0")?;
    let port = tcp.local_addr()?.port();
    let udp = UdpSocket::bind(("127.0.0.1", port))?;
    udp.set_nonblocking(true)?;
    tcp.set_nonblocking(true)?;
    let name = format!("metier-attack-{}", bench.path("").display()).replace('/', "-");
    let listening = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name)?)?;
    listening.set_nonblocking(true)?;
    let _named = UnixListener::bind(bench.path("socket"))?;
    let engines = Who::ALL.into_iter().filter_map(Who::socket);
    let engines: Vec<String> = engines.map(|it| it.replace("unix://", "")).collect();
    let sockets = format!(
        "{} /run/docker.sock /run/dbus/system_bus_socket {}",
        bench.path("socket").display(),
        engines.join(" ")
    );
    let output = bench.run(json!({
        "skill": "demo", "command": "python3 -c \"$REACH\"", "env": {
            "REACH": REACH, "TRY": ways, "PORT": port.to_string(), "ABSTRACT": name, "SOCKETS": sockets
        }
    }))?;
    assert_eq!((output.stdout.as_str(), output.exit_code), ("tried\n", Some(0)), "{output:?}");
    assert!(udp.recv(&mut [0; 8]).is_err(), "a datagram arrived");
    assert!(tcp.accept().is_err() && listening.accept().is_err(), "somebody called");
    Ok(())
}

pub(super) fn network_connect(bench: &Bench) -> Result<(), Failed> {
    reach(bench, "tcp tcp6 udp outside metadata raw packet")
}

pub(super) fn name_lookup(bench: &Bench) -> Result<(), Failed> {
    reach(bench, "dns")
}

pub(super) fn abstract_socket(bench: &Bench) -> Result<(), Failed> {
    reach(bench, "abstract")
}

pub(super) fn named_socket(bench: &Bench) -> Result<(), Failed> {
    reach(bench, "named")
}
