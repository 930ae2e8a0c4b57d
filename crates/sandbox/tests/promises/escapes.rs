//! Ways out that others have found: calls, other tables of calls, `/proc`, sockets of rare kinds, and
//! what the lesser level leaves open.

use std::fs;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::time::Duration;

use libtest_mimic::Failed;
use metier_sandbox::{Level, Network};

use crate::bench::Bench;
use crate::{CONFINED, FULL, Promise};

pub(crate) const PROMISES: &[Promise] = &[
    ("dangerous_calls_are_refused", dangerous_calls_are_refused, CONFINED),
    ("no_other_table_of_calls_can_be_used", no_other_table_of_calls, CONFINED),
    ("no_namespace_can_be_made_or_entered", no_namespace_can_be_made, CONFINED),
    ("rare_kinds_of_sockets_are_refused", rare_kinds_of_sockets, CONFINED),
    ("datagrams_to_sockets_of_others_are_refused", datagrams_to_others, CONFINED),
    ("nothing_can_be_typed_into_a_terminal", nothing_can_be_typed, CONFINED),
    ("the_kernel_cannot_be_set_through_proc", the_kernel_cannot_be_set, CONFINED),
    ("devices_of_the_machine_are_not_there", devices_are_not_there, CONFINED),
    ("the_first_process_is_out_of_reach", the_first_process_is_out_of_reach, FULL),
    ("the_first_process_cannot_be_ended_from_inside", the_first_process_stays, FULL),
    ("limits_of_others_cannot_be_changed", limits_of_others, CONFINED),
    ("memory_of_others_cannot_be_attached", memory_of_others, CONFINED),
    ("names_of_files_of_others_are_not_announced", names_are_not_announced, CONFINED),
    ("a_flood_of_refused_calls_delays_nothing", a_flood_of_refused_calls, CONFINED),
    ("the_network_of_the_host_brings_no_sockets_of_others", sockets_with_the_network, CONFINED),
    ("mounts_do_not_reach_the_host", mounts_do_not_reach_the_host, FULL),
    ("a_program_of_root_stays_what_it_is", a_program_of_root, CONFINED),
];

/// Tries calls by number; those that work are printed.
fn calls(attempts: &[(&str, i64, &str)]) -> String {
    let mut script = String::from(
        "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n\
         page = ctypes.create_string_buffer(4096)\n\
         def attempt(name, *call):\n\
         \x20   me = os.getpid()\n\
         \x20   done = libc.syscall(*[ctypes.c_long(it) if isinstance(it, int) else it for it in call])\n\
         \x20   if os.getpid() != me: os._exit(0)\n\
         \x20   if done >= 0: print(name, flush=True)\n",
    );
    for (name, number, arguments) in attempts {
        script += &format!("attempt('{name}', {number}, {arguments})\n");
    }
    script
}

fn dangerous_calls_are_refused(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    let attempts = [
        ("add_key", libc::SYS_add_key, "b'user', b'name', b'x', 1, -3"),
        ("bpf", libc::SYS_bpf, "0, page, 48"),
        ("chroot", libc::SYS_chroot, "b'.'"),
        ("fsopen", libc::SYS_fsopen, "b'tmpfs', 0"),
        ("io_uring_setup", libc::SYS_io_uring_setup, "4, page"),
        ("kcmp", libc::SYS_kcmp, "os.getpid(), os.getpid(), 0, 0, 0"),
        ("keyctl", libc::SYS_keyctl, "0, -3, 1"),
        ("mount", libc::SYS_mount, "b'none', b'/tmp', b'tmpfs', 0, 0"),
        ("open_by_handle_at", libc::SYS_open_by_handle_at, "-100, page, 0"),
        ("open_tree", libc::SYS_open_tree, "-100, b'/', 1"),
        ("perf_event_open", libc::SYS_perf_event_open, "page, 0, -1, -1, 0"),
        ("pidfd_getfd", libc::SYS_pidfd_getfd, "0, 0, 0"),
        ("pivot_root", libc::SYS_pivot_root, "b'.', b'.'"),
        ("process_vm_readv", libc::SYS_process_vm_readv, "1, page, 1, page, 1, 0"),
        ("process_vm_writev", libc::SYS_process_vm_writev, "1, page, 1, page, 1, 0"),
        ("ptrace", libc::SYS_ptrace, "16, 1, 0, 0"),
        ("reboot", libc::SYS_reboot, "0, 0, 0, 0"),
        ("sethostname", libc::SYS_sethostname, "b'x', 1"),
        ("swapon", libc::SYS_swapon, "b'x', 0"),
        ("syslog", libc::SYS_syslog, "10, 0, 0"),
        ("umount2", libc::SYS_umount2, "b'/proc', 2"),
        ("userfaultfd", libc::SYS_userfaultfd, "1"),
    ];
    let tried = bench.python(&calls(&attempts));
    assert_eq!((tried.output.as_str(), tried.outcome.ended.code), ("", Some(0)), "{}", tried.error);
    for (name, ..) in attempts {
        assert!(tried.outcome.ended.refused.contains(&name), "{name} is not in the report");
    }
    Ok(())
}

fn no_other_table_of_calls(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    if !cfg!(target_arch = "x86_64") {
        return Ok(());
    }
    // `getpid` in the table with 32-bit pointers, and a number beyond all tables.
    let tried = bench.python(&calls(&[("x32", 0x4000_0000 | 39, ""), ("none", 0xffff_ffff, "")]));
    assert_eq!((tried.output.as_str(), tried.outcome.ended.code), ("", Some(0)), "{}", tried.error);
    // mov eax, 20; int 0x80; ret: `getpid` as a 32-bit program would ask.
    let tried = bench.python(
        "import ctypes, mmap\n\
         code = mmap.mmap(-1, 4096, prot=7)\n\
         code.write(bytes.fromhex('b814000000cd80c3'))\n\
         address = ctypes.addressof(ctypes.c_char.from_buffer(code))\n\
         print(ctypes.CFUNCTYPE(ctypes.c_int)(address)())",
    );
    assert_eq!((tried.output.as_str(), tried.outcome.ended.code), ("", None), "{tried:?}");
    Ok(())
}

fn no_namespace_can_be_made(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    let mut attempts = vec![("clone3", libc::SYS_clone3, "page, 88")];
    let flags = ["0x10000000", "0x20000", "0x20000000", "0x40000000", "0x8000000", "0x4000000"];
    let unshare: Vec<String> = flags.iter().map(|it| it.to_string()).collect();
    let clone: Vec<String> = flags.iter().map(|it| format!("{it} | 17, 0, 0, 0, 0")).collect();
    attempts.extend(unshare.iter().map(|it| ("unshare", libc::SYS_unshare, it.as_str())));
    attempts.extend(clone.iter().map(|it| ("clone", libc::SYS_clone, it.as_str())));
    attempts.push(("setns", libc::SYS_setns, "os.open('/proc/self/ns/mnt', 0), 0"));
    let tried = bench.python(&calls(&attempts));
    assert_eq!((tried.output.as_str(), tried.outcome.ended.code), ("", Some(0)), "{}", tried.error);
    Ok(())
}

fn rare_kinds_of_sockets(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    let tried = bench.python(
        "import ctypes, errno\n\
         libc = ctypes.CDLL(None, use_errno=True)\n\
         pair = (ctypes.c_int * 2)()\n\
         for family in list(range(3, 10)) + list(range(11, 16)) + list(range(17, 46)):\n\
         \x20   for kind in (1, 2, 3, 5):\n\
         \x20       for name, done in (('socket', lambda: libc.socket(family, kind, 0)),\n\
         \x20                          ('socketpair', lambda: libc.socketpair(family, kind, 0, pair))):\n\
         \x20           if done() >= 0 or ctypes.get_errno() != errno.EPERM: print(name, family, kind)",
    );
    assert_eq!((tried.output.as_str(), tried.outcome.ended.code), ("", Some(0)), "{}", tried.error);
    let pairs =
        bench.python("import socket; a, b = socket.socketpair(); a.send(b'x'); print('ok')");
    assert_eq!(pairs.output, "ok\n", "{pairs:?}");
    Ok(())
}

/// A pair of datagram sockets can be turned to any address, so none may be had where addresses of
/// others are in sight.
fn datagrams_to_others(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    let path = bench.path("log");
    let log = UnixDatagram::bind(&path)?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o777))?;
    log.set_nonblocking(true)?;
    let tried = bench.python(&format!(
        "import socket\n\
         for kind in (socket.SOCK_DGRAM, socket.SOCK_RAW, socket.SOCK_DGRAM | (1 << 40)):\n\
         \x20   try: socket.socketpair(socket.AF_UNIX, kind)[0].sendto(b'forged', {path:?})\n\
         \x20   except (OSError, OverflowError): pass"
    ));
    assert_eq!(tried.outcome.ended.code, Some(0), "{tried:?}");
    assert!(log.recv(&mut [0; 8]).is_err(), "a datagram arrived");
    Ok(())
}

fn nothing_can_be_typed(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    for request in ["0x5412", "0x541c", "0x100005412", "-0xffffabee"] {
        let ioctl = ("typed", libc::SYS_ioctl, format!("0, {request}, b'x'"));
        let tried = bench.python(&calls(&[(ioctl.0, ioctl.1, &ioctl.2)]));
        assert_eq!(tried.output, "", "{request}");
        assert!(tried.outcome.ended.refused.contains(&"ioctl"), "{request}: {tried:?}");
    }
    Ok(())
}

fn the_kernel_cannot_be_set(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    for file in [
        "/proc/sysrq-trigger",
        "/proc/sys/kernel/core_pattern",
        "/proc/sys/kernel/hostname",
        "/proc/sys/kernel/ns_last_pid",
        "/proc/sys/vm/drop_caches",
        "/proc/sys/net/ipv4/ip_forward",
        "/proc/self/uid_map",
        "/proc/self/gid_map",
        "/proc/self/setgroups",
        "/proc/self/oom_score_adj",
        "/proc/self/mem",
        "/proc/1/oom_score_adj",
        "/proc/self/root/proc/sysrq-trigger",
        "/proc/thread-self/mem",
    ] {
        let tried = bench.sh(&format!("(: >> {file}) 2>/dev/null && echo opened"));
        assert_eq!(tried.output, "", "{file}");
    }
    Ok(())
}

fn devices_are_not_there(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    for file in ["/dev/mem", "/dev/kmsg", "/dev/sda", "/dev/vda", "/dev/fuse", "/dev/kvm"]
        .into_iter()
        .chain(["/dev/loop-control", "/proc/kcore", "/proc/kmsg", "/proc/1/mem", "/dev/net/tun"])
    {
        let tried = bench.sh(&format!("(: < {file}) 2>/dev/null && echo opened"));
        assert_eq!(tried.output, "", "{file}");
    }
    let tried = bench.sh("mknod node b 8 0 2>/dev/null && echo made");
    assert_eq!(tried.output, "");
    Ok(())
}

fn the_first_process_is_out_of_reach(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    let tried = bench.sh("cat /proc/1/environ /proc/1/maps /proc/1/auxv 2>/dev/null; \
         ls /proc/1/fd /proc/1/root/ /proc/1/cwd/ /proc/1/map_files /proc/1/ns/ 2>/dev/null; \
         readlink /proc/1/exe /proc/1/root /proc/1/cwd /proc/1/ns/mnt; \
         cd /proc/1/root 2>/dev/null && echo entered; ls -d /proc/self/root/home 2>/dev/null");
    assert!(tried.output.lines().all(|line| line.ends_with(':')), "{tried:?}");
    Ok(())
}

fn the_first_process_stays(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    let tried =
        bench.sh("for s in KILL STOP INT HUP SEGV USR1; do kill -$s 1; done; echo still here");
    assert_eq!(tried.output, "still here\n", "{tried:?}");
    let tried = bench.sh("echo so far; kill -9 -1; echo never");
    // A shell does not signal itself; what counts is that the end is told.
    assert!(tried.output.starts_with("so far\n"), "{tried:?}");
    Ok(())
}

fn limits_of_others(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    let caller = std::process::id();
    let tried = bench.python(&format!(
        "import os, resource\n\
         for process in ({caller}, os.getppid()):\n\
         \x20   for kind in (resource.RLIMIT_CORE, resource.RLIMIT_NOFILE):\n\
         \x20       try: print(process, resource.prlimit(process, kind))\n\
         \x20       except (OSError, ValueError): pass\n\
         now = resource.prlimit(0, resource.RLIMIT_NOFILE)\n\
         resource.prlimit(0, resource.RLIMIT_NOFILE, (64, now[1]))\n\
         resource.setrlimit(resource.RLIMIT_NOFILE, (32, now[1]))"
    ));
    let output = if level == Level::Full { String::new() } else { tried.output.clone() };
    assert_eq!((output.as_str(), tried.outcome.ended.code), ("", Some(0)), "{tried:?}");
    assert!(!tried.output.contains(&caller.to_string()), "{tried:?}");
    Ok(())
}

fn memory_of_others(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    let segment = bench_segment()?;
    let number = libc::SYS_shmat;
    let tried = bench.python(&calls(&[("attached", number, &format!("{}, 0, 0", segment.0))]));
    assert_eq!((tried.output.as_str(), tried.outcome.ended.code), ("", Some(0)), "{tried:?}");
    Ok(())
}

/// A piece of shared memory that everybody may attach; removed when dropped.
struct Segment(i32);

impl Drop for Segment {
    fn drop(&mut self) {
        let _gone = segment_call(&format!("libc.shmctl({}, 0, 0)", self.0));
    }
}

fn bench_segment() -> Result<Segment, Failed> {
    let id = segment_call("libc.shmget(0, 4096, 0o1666)")?;
    Ok(Segment(id.trim().parse()?))
}

/// Calls the C library in a process of its own, which is none of the sandbox's.
fn segment_call(call: &str) -> Result<String, Failed> {
    #[expect(clippy::disallowed_methods, reason = "somebody else's program")]
    let output = std::process::Command::new("python3")
        .args(["-c", &format!("import ctypes; libc = ctypes.CDLL(None); print({call})")])
        .output()?;
    Ok(String::from_utf8(output.stdout)?)
}

/// Whoever watches a folder learns the names of what changes in it, which no rule of Landlock keeps.
fn names_are_not_announced(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    let private = bench.path("private");
    fs::set_permissions(&private, fs::Permissions::from_mode(0o755))?;
    let folder = private.clone();
    let writer = std::thread::spawn(move || {
        for _ in 0..20 {
            std::thread::sleep(Duration::from_millis(50));
            fs::write(folder.join("telling-name"), "x").expect("a file of ours");
        }
    });
    let tried = bench.python(&format!(
        "import ctypes, os, select\n\
         libc = ctypes.CDLL(None)\n\
         for watch in (libc.inotify_init(), libc.inotify_init1(0)):\n\
         \x20   libc.inotify_add_watch(watch, {private:?}.encode(), 0xfff)\n\
         \x20   if watch >= 0 and select.select([watch], [], [], 1)[0]: print(os.read(watch, 4096))\n\
         print('tried')"
    ));
    writer.join().map_err(|_panic| "the writer failed")?;
    assert_eq!(tried.output, "tried\n", "{tried:?}");
    Ok(())
}

/// Refused calls wait for the warden; those who wait may be ended meanwhile.
fn a_flood_of_refused_calls(level: Level) -> Result<(), Failed> {
    let mut bench = Bench::new(level);
    bench.limits.wall = Duration::from_secs(1);
    let number = libc::SYS_keyctl;
    let tried = bench.python(&format!(
        "import ctypes, os, signal, time\n\
         libc = ctypes.CDLL(None); signal.signal(signal.SIGTERM, signal.SIG_IGN)\n\
         def flood():\n\
         \x20   while True: libc.syscall({number}, 0, 0, 0)\n\
         print('so far', flush=True)\n\
         while True:\n\
         \x20   children = []\n\
         \x20   for _ in range(8):\n\
         \x20       pid = os.fork()\n\
         \x20       if pid == 0: flood()\n\
         \x20       children.append(pid)\n\
         \x20   time.sleep(0.01)\n\
         \x20   for pid in children: os.kill(pid, 9); os.waitpid(pid, 0)"
    ));
    assert!(tried.outcome.duration < Duration::from_secs(4), "{tried:?}");
    assert!(tried.outcome.timed_out, "{tried:?}");
    assert_eq!(tried.output, "so far\n");
    assert_eq!(tried.outcome.ended.refused.iter().filter(|it| **it == "keyctl").count(), 1);
    Ok(())
}

fn sockets_with_the_network(level: Level) -> Result<(), Failed> {
    let mut bench = Bench::new(level);
    bench.network = Network::Host;
    let name = format!("metier-host-{level}-{}", std::process::id());
    let _abstract = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name)?)?;
    let path = bench.path("socket");
    let _named = UnixListener::bind(&path)?;
    let tried = bench.python(&format!(
        "import socket\n\
         for address in ('\\0{name}', {path:?}):\n\
         \x20   try: socket.socket(socket.AF_UNIX).connect(address); print('reached', address)\n\
         \x20   except OSError: pass"
    ));
    assert_eq!((tried.output.as_str(), tried.outcome.ended.code), ("", Some(0)), "{tried:?}");
    Ok(())
}

fn mounts_do_not_reach_the_host(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    // As a path in its file system, whichever that is.
    let root = bench.path("").file_name().ok_or("a temporary folder")?.display().to_string();
    let folder = format!("{root}/work");
    let tried = bench.sh("cut -d' ' -f5 /proc/self/mountinfo; cat /proc/self/mountinfo >&2");
    // Others on the machine mount what they like meanwhile; nobody else mounts this.
    let mounts = fs::read_to_string("/proc/self/mountinfo")?;
    assert!(!mounts.contains(&folder) && !mounts.contains(" /.old "), "{mounts}");
    assert!(tried.error.contains(&folder), "the folder is mounted inside: {tried:?}");
    assert!(!tried.output.contains("/.old"), "{tried:?}");
    assert!(!tried.error.contains(" shared:") && !tried.error.contains(" master:"), "{tried:?}");
    Ok(())
}

fn a_program_of_root(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    let tried = bench.sh(
        "for p in su mount passwd chsh sudo pkexec; do f=$(command -v $p) && [ -u $f ] && echo $f; done \
         >&2; cp /usr/bin/id mine && chmod 4755 mine && ./mine -u; \
         python3 -c 'import os; os.setuid(0)' 2>/dev/null && echo root",
    );
    assert_ne!(tried.output, "0\n", "{tried:?}");
    assert!(!tried.output.contains("root"), "{tried:?}");
    Ok(())
}
