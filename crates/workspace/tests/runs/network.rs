//! Networks that were granted: the machine's own, and a list of addresses.

use std::io::{Read, Write};
use std::net::{TcpListener, UdpSocket};
use std::thread;

use libtest_mimic::Failed;
use metier_workspace::executor::Network;
use metier_workspace::request::DenialKind;
use serde_json::{Value, json};

use crate::Promise;
use crate::attack::REACH;
use crate::bench::{Bench, Who};

pub(crate) const PROMISES: &[Promise] = &[
    ("a_list_of_addresses_is_all_that_can_be_reached", a_list_of_addresses),
    ("the_network_of_the_machine_is_reached_when_granted", network_of_the_machine),
];

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
    bench.settings.network = Network::listed(&entries)?;
    if bench.who != Who::Sandbox {
        // It cannot be kept, so nothing runs.
        let refused = bench.run(json!({"skill": "demo", "command": "echo ran > out/ran"}));
        let told = refused.expect_err("it is refused").to_string();
        assert!(told.contains("allow no network, or that of the host"), "{told}");
        assert!(!bench.workspace().join("out/ran").exists());
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
                "P": program, "URLS": urls, "PORT": allowed.port().to_string(),
                "TRY": "tcp tcp6 udp dns outside metadata raw", "ABSTRACT": "", "SOCKETS": ""
            }
        })
    };
    let output = bench.run(request("python3 -c \"$P\"", fetch))?;
    assert_eq!(output.stdout, "hello\nrefused\nrefused\nrefused\n", "{output:?}");
    let denied: Vec<_> =
        output.denials.iter().filter(|it| it.kind == DenialKind::Network).collect();
    assert_eq!(denied.len(), 3, "{output:?}");
    // A program that does not know about the proxy gets nowhere, not even to what is listed.
    let output = bench.run(request("unset HTTP_PROXY http_proxy; python3 -c \"$P\"", REACH))?;
    assert_eq!((output.stdout.as_str(), output.exit_code), ("tried\n", Some(0)), "{output:?}");
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

fn network_of_the_machine(bench: &Bench) -> Result<(), Failed> {
    let mut bench = Bench::new(bench.who);
    bench.settings.network = Network::Host;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let port = listener.local_addr()?.port();
    serve(listener);
    let output = bench.sh(&format!("exec 3<>/dev/tcp/127.0.0.1/{port}; echo >&3; tail -n 1 <&3"));
    assert_eq!(output.stdout, "hello\n", "{output:?}");
    assert_eq!(output.confinement.network, "host");
    Ok(())
}
