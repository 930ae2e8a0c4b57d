//! Programs that look and call around: secrets, environment and processes of the caller, networks, sockets.

use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

use libtest_mimic::Failed;
use serde_json::json;

use crate::bench::{Bench, Who, is_without_namespaces};

/// Of what is found only the amount is told: should this fail, nothing is spilled.
pub(super) fn secrets(bench: &Bench) -> Result<(), Failed> {
    let secret = bench.write("home/secret", "very-secret");
    let (caller, root) = (std::process::id(), bench.path(""));
    // Read from its input, the script is in no command line.
    let script = format!(
        "cat '{0}' /root/.bashrc /root/.ssh/* /etc/shadow /proc/{caller}/root'{0}' /proc/1/root'{0}' 2>/dev/null | wc -c; \
         ls {1} /home/* /root /proc/{caller}/root 2>/dev/null | wc -l; \
         find / -name secret -not -path '/proc/*' 2>/dev/null | wc -l",
        secret.display(),
        root.display()
    );
    let output = bench.run(json!({"skill": "demo", "command": "bash", "stdin": script}))?;
    assert_eq!(output.stdout, "0\n0\n0\n", "{output:?}");
    Ok(())
}

pub(super) fn environment(bench: &Bench) -> Result<(), Failed> {
    let mut bench = Bench::new(bench.who);
    bench.settings.variables = vec![("API_KEY".to_owned(), "configured".to_owned())];
    let output = bench.sh(
        "echo $API_KEY; (env; tr '\\0' '\\n' < /proc/$PPID/environ 2>/dev/null) | cut -d= -f1 | sort -u",
    );
    let names = output.stdout.strip_prefix("configured\n").expect("what was configured");
    for told in ["CARGO", "RUST", "METIER", "NEXTEST"] {
        assert!(!names.lines().any(|name| name.starts_with(told)), "{told}: {output:?}");
    }
    let taken = json!({"skill": "demo", "command": "true", "env": {"API_KEY": "other"}});
    assert!(bench.run(taken).is_err());
    Ok(())
}

pub(super) fn process_list(bench: &Bench) -> Result<(), Failed> {
    let (caller, own) = (std::process::id(), std::env::current_exe()?);
    let script = format!(
        "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n' | grep -c '^{}$'; \
         cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -c -e ^CARGO -e ^METIER; \
         kill -0 {caller} 2>/dev/null && echo signalled; echo $(ls -d /proc/[0-9]* | wc -l)",
        own.display()
    );
    let output = bench.run(json!({"skill": "demo", "command": "bash", "stdin": script}))?;
    if is_without_namespaces() {
        // Landlock alone does not hide processes; it closes them.
        let [_listed, environments, _count] = output.stdout.lines().collect::<Vec<_>>()[..] else {
            return Err(format!("{output:?}").into());
        };
        assert_eq!(environments, "0", "{output:?}");
        return Ok(());
    }
    let seen = output.stdout.strip_prefix("0\n0\n").map(str::trim).and_then(|it| it.parse().ok());
    assert!(seen.is_some_and(|seen: u32| (1..10).contains(&seen)), "{output:?}");
    Ok(())
}

pub(super) fn privileges(bench: &Bench) -> Result<(), Failed> {
    let output = bench.sh(
        "grep -e ^CapEff -e ^CapPrm -e ^CapBnd -e ^NoNewPrivs /proc/self/status | tr -d '\\t'; \
         test $(id -u) != 0 && echo ordinary; mount -t tmpfs none /tmp 2>/dev/null && echo mounted; \
         mknod /tmp/disk b 8 0 2>/dev/null && echo made; chown 0 /proc/self/fd/1 2>/dev/null && echo owned; true",
    );
    // An ordinary user cannot give up what only bounds new privileges, of which there are none.
    let is_bound = |line: &&str| !(is_without_namespaces() && line.starts_with("CapBnd:"));
    let bound = ["CapPrm:0000000000000000", "CapEff:0000000000000000", "CapBnd:0000000000000000"];
    let expected = bound.into_iter().chain(["NoNewPrivs:1", "ordinary"]).filter(is_bound);
    let seen: Vec<&str> = output.stdout.lines().filter(is_bound).collect();
    assert_eq!(seen, expected.collect::<Vec<_>>(), "{output:?}");
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
