//! Other processes of the same user: neither how they are scheduled nor what the kernel keeps about them
//! can be changed, and a program can still arrange its own processes.

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use libtest_mimic::Failed;
use metier_sandbox::{Level, unprivileged_owner};

use crate::bench::Bench;
use crate::{CONFINED, Promise};

pub(crate) const PROMISES: &[Promise] = &[
    ("the_scheduling_of_others_cannot_be_changed", scheduling_of_others, CONFINED),
    ("calls_that_reach_into_others_fail", calls_that_reach_into_others, CONFINED),
    ("files_of_proc_of_others_cannot_be_written", proc_files_of_others, CONFINED),
    ("the_scheduling_of_its_own_can_be_changed", scheduling_of_its_own, CONFINED),
];

/// A process outside of the sandbox that belongs to the user the program runs as.
struct Bystander(Child);

impl Bystander {
    fn start() -> Result<Self, Failed> {
        #[expect(clippy::disallowed_methods, reason = "somebody else's program")]
        let mut command = Command::new("sleep");
        command.arg("300").stdout(Stdio::null()).process_group(0);
        if let Some((user, group)) = unprivileged_owner() {
            command.uid(user).gid(group);
        }
        Ok(Self(command.spawn()?))
    }

    /// Everything that a program could have changed.
    fn state(&self) -> Result<String, Failed> {
        let id = self.0.id();
        let stat = fs::read_to_string(format!("/proc/{id}/stat"))?;
        let fields: Vec<&str> = stat.rsplit_once(") ").ok_or("a name")?.1.split(' ').collect();
        let status = fs::read_to_string(format!("/proc/{id}/status"))?;
        let allowed = status.lines().filter(|line| line.starts_with("Cpus_allowed:"));
        let allowed: String = allowed.collect();
        #[expect(clippy::disallowed_methods, reason = "it tells what has no file")]
        let class = Command::new("ionice").args(["-p", &id.to_string()]).output()?.stdout;
        let limits = fs::read_to_string(format!("/proc/{id}/limits"))?;
        let (priority, group, realtime, policy) = (fields[16], fields[2], fields[37], fields[38]);
        let class = String::from_utf8(class)?;
        Ok(format!("{priority} {group} {realtime} {policy} {allowed} {class} {limits}"))
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        let _gone = (self.0.kill(), self.0.wait());
    }
}

/// Runs a script that knows the bystander as `other`; gives what it printed.
fn attack(bench: &Bench, other: &Bystander, script: &str) -> String {
    let head = "import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n\
        def call(name, *numbers):\n\
        \x20   numbers = [it if isinstance(it, (bytes, ctypes.Array)) else ctypes.c_long(it) for it in numbers]\n\
        \x20   if libc.syscall(*numbers) >= 0: print(name, flush=True)\n";
    let tried = bench.python(&format!("{head}other = {}\n{script}", other.0.id()));
    assert_eq!(tried.outcome.ended.code, Some(0), "{tried:?}");
    tried.output
}

fn scheduling_of_others(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    let other = Bystander::start()?;
    let before = other.state()?;
    let (priority, class) = (libc::SYS_setpriority, libc::SYS_ioprio_set);
    let (scheduler, param) = (libc::SYS_sched_setscheduler, libc::SYS_sched_setparam);
    let (attributes, affinity) = (libc::SYS_sched_setattr, libc::SYS_sched_setaffinity);
    let printed = attack(
        &bench,
        &other,
        &format!(
            "import struct\n\
             high = 1 << 32\n\
             call('priority of a process', {priority}, 0, other, 19)\n\
             call('priority of a process', {priority}, high, other + high, 19)\n\
             call('priority of a group', {priority}, 1, other, 19)\n\
             call('class of a process', {class}, 1, other, 3 << 13)\n\
             call('class of a group', {class}, 2, other, 3 << 13)\n\
             zero = ctypes.create_string_buffer(8)\n\
             call('scheduler', {scheduler}, other, 5, zero)\n\
             call('scheduler', {scheduler}, other + high, 3, zero)\n\
             call('parameters', {param}, other, zero)\n\
             attr = ctypes.create_string_buffer(struct.pack('IIQiIQQQ', 48, 5, 0, 10, 0, 0, 0, 0))\n\
             call('attributes', {attributes}, other, attr, 0)\n\
             call('affinity', {affinity}, other, 8, ctypes.create_string_buffer(b'\\x01' + bytes(7)))\n"
        ),
    );
    assert_eq!(printed, "");
    // Those of a whole user: with a namespace it has only its own processes.
    let users = attack(
        &bench,
        &other,
        &format!(
            "for user in (0, os.getuid()):\n\
             \x20   call('priorities', {priority}, 2, user, 19)\n\
             \x20   call('classes', {class}, 3, user, 3 << 13)\n"
        ),
    );
    assert!(level == Level::Full || users.is_empty(), "{users}");
    assert_eq!(other.state()?, before);
    Ok(())
}

fn calls_that_reach_into_others(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    let other = Bystander::start()?;
    let before = other.state()?;
    let numbers = [
        ("limits", libc::SYS_prlimit64, "other, 7, ctypes.create_string_buffer(16), 0"),
        ("group", libc::SYS_setpgid, "other, 0"),
        ("list", libc::SYS_get_robust_list, "other, page, page"),
        ("pages", libc::SYS_move_pages, "other, 0, 0, 0, page, 0"),
        ("nodes", libc::SYS_migrate_pages, "other, 8, page, page"),
        ("same", libc::SYS_kcmp, "other, os.getpid(), 0, 0, 0"),
        ("read", libc::SYS_process_vm_readv, "other, page, 1, page, 1, 0"),
        ("written", libc::SYS_process_vm_writev, "other, page, 1, page, 1, 0"),
        ("traced", libc::SYS_ptrace, "0x4206, other, 0, 0"),
        ("signalled", libc::SYS_kill, "other, 0"),
        ("signalled", libc::SYS_tgkill, "other, other, 0"),
        ("queued", libc::SYS_rt_sigqueueinfo, "other, 10, page"),
        // Sharing a core with it, to be looked at by nobody else.
        ("core", libc::SYS_prctl, "62, 2, other, 0, 0"),
        ("core", libc::SYS_prctl, "62, 3, other, 0, 0"),
    ];
    let mut script = String::from("page = ctypes.create_string_buffer(4096)\n");
    for (name, number, arguments) in numbers {
        script += &format!("call('{name}', {number}, {arguments})\n");
    }
    script += &format!(
        "handle = libc.syscall({}, other, 0)\n\
         call('file', {}, handle, 0, 0)\n\
         call('signalled', {}, handle, 0, 0, 0)\n\
         call('advised', {}, handle, page, 1, 21, 0)\n\
         call('entered', {}, handle, 0x20000000)\n",
        libc::SYS_pidfd_open,
        libc::SYS_pidfd_getfd,
        libc::SYS_pidfd_send_signal,
        libc::SYS_process_madvise,
        libc::SYS_setns
    );
    assert_eq!(attack(&bench, &other, &script), "");
    assert_eq!(other.state()?, before);
    Ok(())
}

fn proc_files_of_others(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    let other = Bystander::start()?;
    let printed = attack(
        &bench,
        &other,
        "for folder in (f'/proc/{other}', f'/proc/{other}/task/{other}'):\n\
         \x20   for name in ('oom_score_adj', 'oom_adj', 'timerslack_ns', 'autogroup', 'coredump_filter', 'comm',\n\
         \x20                'clear_refs', 'mem', 'attr/current', 'loginuid', 'make-it-fail', 'sched', 'timens_offsets'):\n\
         \x20       for how in (os.O_WRONLY, os.O_RDWR):\n\
         \x20           try: os.open(f'{folder}/{name}', how); print(folder, name)\n\
         \x20           except OSError: pass\n",
    );
    assert_eq!(printed, "");
    Ok(())
}

/// By its own number, by that of a thread, of a child and of a group: whoever arranges processes names them.
fn scheduling_of_its_own(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    let tried = bench.python(
        "import os, subprocess, threading\n\
         me, child = os.getpid(), subprocess.Popen(['sleep', '30'])\n\
         first = {min(os.sched_getaffinity(0))}\n\
         for who in (0, me, child.pid):\n\
         \x20   os.setpriority(os.PRIO_PROCESS, who, 15)\n\
         \x20   assert os.getpriority(os.PRIO_PROCESS, who) == 15\n\
         \x20   os.sched_setscheduler(who, os.SCHED_BATCH, os.sched_param(0))\n\
         \x20   assert os.sched_getscheduler(who) == os.SCHED_BATCH\n\
         \x20   os.sched_setparam(who, os.sched_param(0))\n\
         \x20   os.sched_setaffinity(who, first)\n\
         \x20   assert os.sched_getaffinity(who) == first\n\
         def in_thread():\n\
         \x20   os.sched_setaffinity(threading.get_native_id(), first)\n\
         \x20   done.append(1)\n\
         done = []\n\
         thread = threading.Thread(target=in_thread); thread.start(); thread.join(); assert done\n\
         os.setpriority(os.PRIO_PGRP, 0, 16); os.setpriority(os.PRIO_PGRP, os.getpgrp(), 17)\n\
         assert os.getpriority(os.PRIO_PROCESS, child.pid) == 17\n\
         for tool in (['ionice', '-c', '3', '-p'], ['renice', '-n', '19', '-p'], ['taskset', '-p', '1']):\n\
         \x20   subprocess.run([*tool, str(child.pid)], check=True, stdout=subprocess.DEVNULL)\n\
         subprocess.run(['chrt', '--idle', '-p', '0', str(child.pid)], check=True)\n\
         assert os.sched_getscheduler(child.pid) == os.SCHED_IDLE\n\
         try: os.setpriority(os.PRIO_PROCESS, me, -5)\n\
         except PermissionError: pass\n\
         else: raise SystemExit('a higher priority than it had')\n\
         try: os.sched_setaffinity(me, set())\n\
         except OSError: pass\n\
         else: raise SystemExit('no processor at all')\n\
         child.kill(); print('done')",
    );
    assert_eq!(tried.output, "done\n", "{tried:?}");
    Ok(())
}
