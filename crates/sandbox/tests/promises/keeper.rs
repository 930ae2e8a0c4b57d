//! The helper that stays: it serves many runs, leaves nothing of one to the next, and nobody depends on it.
//!
//! What is done to a helper here would be felt by other tests of the same process, so each of these has
//! a process of its own.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::Failed;
use metier_sandbox::{Level, Network, SpawnError, unprivileged_owner};
use rustix::process::{Pid, Signal, getpgid, getsid, kill_process};
use rustix::thread::{set_thread_res_gid, set_thread_res_uid};

use crate::bench::{Bench, Tried, arguments};
use crate::limits::an_unjoined_group_bounds_nothing;
use crate::processes::{LEADERLESS_VICTIM, VICTIM, daemon, is_gone, is_running, level_named, mark};
use crate::{ALL, Promise};

pub(crate) const PROMISES: &[Promise] = &[
    ("one_helper_serves_many_runs", |level| alone("many", level), ALL),
    ("a_helper_that_was_killed_is_replaced", |level| alone("replaced", level), ALL),
    ("a_run_outlives_its_helper", |level| alone("outlives", level), ALL),
    ("a_warden_that_is_killed_ends_its_run_only", |level| alone("warden", level), ALL),
    ("a_warden_that_is_killed_takes_its_tree_along", |level| alone("tree", level), ALL),
    ("wardens_that_are_killed_take_each_its_own_tree_along", |level| alone("trees", level), ALL),
    ("a_helper_ends_with_its_caller", |level| alone("caller", level), ALL),
    ("a_run_leaves_nothing_to_the_next", |level| alone("nothing", level), ALL),
    ("another_user_has_another_helper", |level| alone("user", level), ALL),
    ("a_helper_is_apart_from_other_children", |level| alone("apart", level), ALL),
    (
        "a_process_whose_first_thread_has_ended_does_not_hide_its_children",
        |level| alone("threads", level),
        ALL,
    ),
];

/// The first argument that makes this binary try one thing and nothing else.
const ALONE: &str = "__alone";

/// Starts a program that it and all it starts cannot join control groups: whoever does writes one byte to
/// a file, and that is refused.
const SHUT_OUT: &str = "
import ctypes, os, struct, sys
write = {'x86_64': 1, 'aarch64': 64}[os.uname().machine]
step = lambda code, yes, no, value: struct.pack('HBBI', code, yes, no, value)
number, length = step(0x20, 0, 0, 0), step(0x20, 0, 0, 32)
allow, refuse = step(6, 0, 0, 0x7fff0000), step(6, 0, 0, 0x00050000 | 13)
steps = [number, step(0x15, 0, 2, write), length, step(0x15, 1, 0, 1), allow, refuse]
code = ctypes.create_string_buffer(b''.join(steps))
program = ctypes.create_string_buffer(struct.pack('HxxxxxxP', len(steps), ctypes.addressof(code)))
control = ctypes.CDLL(None, use_errno=True).prctl
if control(38, 1, 0, 0, 0) or control(22, 2, ctypes.byref(program), 0, 0):
    sys.exit('there is no filter of system calls')
os.execv(sys.argv[1], sys.argv[1:])
";

/// Tries something in a process of its own.
fn alone(what: &str, level: Level) -> Result<(), Failed> {
    #[expect(clippy::disallowed_methods, reason = "the caller itself is what is tested")]
    let command = Command::new(std::env::current_exe()?);
    try_in(command, what, level)
}

/// The same in a process that cannot join control groups, though it can make them.
pub(crate) fn shut_out(what: &str, level: Level) -> Result<(), Failed> {
    #[expect(clippy::disallowed_methods, reason = "the caller itself is what is tested")]
    let mut command = Command::new("python3");
    command.args(["-c", SHUT_OUT]).arg(std::env::current_exe()?);
    try_in(command, what, level)
}

fn try_in(mut command: Command, what: &str, level: Level) -> Result<(), Failed> {
    let output = command.args([ALONE, &level.to_string(), what]).output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&output.stderr).into_owned().into())
}

/// Tries what this process was started for, if it was.
#[expect(clippy::exit, reason = "nothing else is to be tried")]
pub(crate) fn try_alone() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, word, level, what] = &arguments[..] else { return };
    if word != ALONE {
        return;
    }
    let bench = Bench::new(level_named(level));
    match what.as_str() {
        "many" => one_helper_serves_many_runs(&bench),
        "replaced" => a_killed_helper_is_replaced(&bench),
        "outlives" => a_run_outlives_its_helper(&bench),
        "warden" => a_killed_warden_ends_its_run_only(&bench),
        "tree" => a_killed_warden_takes_its_tree_along(&bench),
        "trees" => killed_wardens_take_their_trees_along(&bench),
        "caller" => a_helper_ends_with_its_caller(&bench),
        "nothing" => a_run_leaves_nothing_to_the_next(&bench),
        "user" => another_user_has_another_helper(&bench),
        "unjoined" => an_unjoined_group_bounds_nothing(bench.level),
        "apart" => a_helper_is_apart_from_other_children(&bench),
        "threads" => an_ended_first_thread_hides_no_children(&bench),
        other => panic!("nothing is known of `{other}`"),
    }
    drop(bench);
    std::process::exit(0);
}

/// Processes that one has started and that are not gone, with the state of each.
fn children(of: u32) -> Vec<(u32, char)> {
    let entries = fs::read_dir("/proc").expect("it is mounted").filter_map(Result::ok);
    let stats = entries.filter_map(|entry| fs::read_to_string(entry.path().join("stat")).ok());
    let children = stats.filter_map(|stat| {
        let (before, after) = stat.rsplit_once(')')?;
        let mut fields = after.split_ascii_whitespace();
        let state = fields.next()?.chars().next()?;
        let pid = before.split_once(' ')?.0.parse().ok()?;
        (fields.next()?.parse() == Ok(of)).then_some((pid, state))
    });
    children.collect()
}

/// The helper of this process, which has no other child that lives.
fn helper() -> u32 {
    let alive: Vec<u32> =
        children(std::process::id()).into_iter().filter(|it| it.1 != 'Z').map(|it| it.0).collect();
    let [helper] = alive[..] else { panic!("{} helpers", alive.len()) };
    helper
}

fn kill(process: u32) {
    let process = i32::try_from(process).ok().and_then(Pid::from_raw).expect("a process");
    kill_process(process, Signal::KILL).expect("it is ours");
}

/// Waits until something holds, for ten seconds.
fn wait_until(holds: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !holds() {
        assert!(Instant::now() < deadline, "it never came to that");
        thread::sleep(Duration::from_millis(5));
    }
}

fn code(tried: &Tried) -> Option<i32> {
    tried.outcome.ended.code
}

fn one_helper_serves_many_runs(bench: &Bench) {
    bench.sh("true");
    let first = helper();
    thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                for run in 0..5 {
                    let wanted = thread * 5 + run;
                    let tried = bench.sh(&format!("echo {wanted}; exit {wanted}"));
                    assert_eq!(tried.output, format!("{wanted}\n"));
                    assert_eq!(code(&tried), Some(wanted));
                }
            });
        }
    });
    assert_eq!(helper(), first);
    wait_until(|| children(first).is_empty());
}

fn a_killed_helper_is_replaced(bench: &Bench) {
    bench.sh("true");
    let first = helper();
    kill(first);
    wait_until(|| children(std::process::id()) == [(first, 'Z')]);
    assert_eq!(bench.sh("echo again").output, "again\n");
    assert_ne!(helper(), first);
    assert_eq!(children(std::process::id()).len(), 1, "the first was not reaped");
}

fn a_run_outlives_its_helper(bench: &Bench) {
    bench.sh("true");
    let mark = mark(bench.level, "outlives");
    thread::scope(|scope| {
        let running = scope.spawn(|| bench.sh(&format!("{} sleep 0.5; exit 3", daemon(&mark))));
        wait_until(|| is_running(&mark));
        kill(helper());
        assert_eq!(code(&running.join().expect("no panic")), Some(3));
    });
    assert!(is_gone(&mark), "a process was left");
}

fn a_killed_warden_ends_its_run_only(bench: &Bench) {
    let (lost, kept) = (mark(bench.level, "lost"), mark(bench.level, "kept"));
    let lost_script = format!("exec -a {lost} sleep 60");
    let kept_script = format!("{} sleep 0.5; exit 4", daemon(&kept));
    thread::scope(|scope| {
        let losing = scope.spawn(|| {
            let mut job = bench.job("");
            job.program.command = arguments(["bash", "-c", &lost_script]);
            bench.try_job(&job).map(|tried| code(&tried))
        });
        wait_until(|| is_running(&lost));
        let wardens = children(helper());
        let keeping = scope.spawn(|| bench.sh(&kept_script));
        wait_until(|| is_running(&kept));
        wardens.into_iter().for_each(|(warden, _)| kill(warden));
        losing.join().expect("no panic").expect_err("its warden is gone");
        assert!(is_gone(&lost), "it outlived its warden");
        assert_eq!(code(&keeping.join().expect("no panic")), Some(4));
    });
    assert_eq!(bench.sh("echo again").output, "again\n");
}

/// A program that outlives its parent if it can, with a grandchild elsewhere and a child that keeps making others.
fn clinging(mark: &str) -> String {
    format!(
        "import ctypes, os\n\
         libc = ctypes.CDLL(None)\n\
         def cling():\n\
         \x20   libc.prctl(1, 0, 0, 0, 0); libc.prctl(36, 1, 0, 0, 0)\n\
         cling()\n\
         def become(): os.execv('/bin/bash', ['{mark}', '-c', 'sleep 300; true'])\n\
         if os.fork() == 0:\n\
         \x20   os.setsid()\n\
         \x20   if os.fork() == 0: become()\n\
         \x20   os._exit(0)\n\
         os.wait()\n\
         if os.fork() == 0:\n\
         \x20   for _ in range(50000):\n\
         \x20       cling(); os.setsid()\n\
         \x20       if os.fork(): os._exit(0)\n\
         become()"
    )
}

/// Runs the program; gives how that went.
fn cling(bench: &Bench, mark: &str) -> Result<Option<i32>, SpawnError> {
    let mut job = bench.job("");
    job.program.command = arguments(["python3", "-c", &clinging(mark)]);
    bench.try_job(&job).map(|tried| code(&tried))
}

fn a_killed_warden_takes_its_tree_along(bench: &Bench) {
    let mark = mark(bench.level, "clinging");
    thread::scope(|scope| {
        let losing = scope.spawn(|| cling(bench, &mark));
        wait_until(|| is_running(&mark));
        children(helper()).into_iter().for_each(|(warden, _)| kill(warden));
        losing.join().expect("no panic").expect_err("its warden is gone");
    });
    assert!(is_gone(&mark), "it outlived its warden");
    wait_until(|| !is_working_in(bench));
    wait_until(|| children(helper()).is_empty());
    assert_eq!(bench.sh("echo again").output, "again\n");
}

/// Whether some process works in the folder of a bench, by whatever name.
fn is_working_in(bench: &Bench) -> bool {
    let folder = bench.path("work");
    let entries = fs::read_dir("/proc").expect("it is mounted").filter_map(Result::ok);
    let mut places = entries.filter_map(|entry| fs::metadata(entry.path().join("cwd")).ok());
    let wanted = fs::metadata(folder).expect("a folder of ours");
    places.any(|it| (it.dev(), it.ino()) == (wanted.dev(), wanted.ino()))
}

/// One run goes on while the trees of two others are ended.
fn killed_wardens_take_their_trees_along(bench: &Bench) {
    let kept = mark(bench.level, "kept");
    let lost = [mark(bench.level, "first"), mark(bench.level, "second")];
    let others = [Bench::new(bench.level), Bench::new(bench.level)];
    thread::scope(|scope| {
        let losing: Vec<_> = lost
            .iter()
            .zip(&others)
            .map(|(mark, other)| scope.spawn(move || cling(other, mark)))
            .collect();
        lost.iter().for_each(|mark| wait_until(|| is_running(mark)));
        let wardens = children(helper());
        let keeping = scope.spawn(|| bench.sh(&format!("{} sleep 2; exit 4", daemon(&kept))));
        wait_until(|| is_running(&kept));
        wardens.into_iter().for_each(|(warden, _)| kill(warden));
        for run in losing {
            run.join().expect("no panic").expect_err("its warden is gone");
        }
        lost.iter().for_each(|mark| assert!(is_gone(mark), "it outlived its warden"));
        others.iter().for_each(|other| wait_until(|| !is_working_in(other)));
        assert!(is_running(&kept), "it went with the others");
        assert_eq!(code(&keeping.join().expect("no panic")), Some(4));
    });
}

fn a_helper_ends_with_its_caller(bench: &Bench) {
    let mark = mark(bench.level, "caller");
    #[expect(clippy::disallowed_methods, reason = "the caller itself is what is tested")]
    let mut caller = Command::new(std::env::current_exe().expect("it is known"))
        .args([VICTIM, &bench.level.to_string(), &mark])
        .spawn()
        .expect("it starts");
    wait_until(|| is_running(&mark));
    let helpers = children(caller.id());
    let wardens: Vec<_> = helpers.iter().flat_map(|(helper, _)| children(*helper)).collect();
    assert_eq!((helpers.len(), wardens.len()), (1, 1));
    caller.kill().expect("it is ours");
    caller.wait().expect("it is ours");
    for (process, _) in helpers.into_iter().chain(wardens) {
        wait_until(|| !is_alive(process));
    }
    metier_sandbox::remove_leftovers();
}

fn is_alive(process: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

fn a_run_leaves_nothing_to_the_next(bench: &Bench) {
    // Where limits are those of each process, that of processes counts those of others.
    let script = "ulimit -a | grep -v process; umask; ls /proc/self/fd; \
        grep -E 'Uid|Gid|Groups|Sig[PBIC]|Shd|Cap|NoNew|Seccomp:' /proc/self/status; env";
    let before = bench.sh(script).output;
    let ignored = before.lines().find_map(|line| line.strip_prefix("SigIgn:\t")).expect("a line");
    let ignored = u64::from_str_radix(ignored, 16).expect("a number");
    // Those of children and pipes are ignored by helpers.
    assert_eq!(ignored & (1 << 16 | 1 << 12), 0, "{before}");
    let mut other = Bench::new(bench.level);
    other.network = Network::Host;
    other.limits.open_files = 20;
    other.limits.cpu_seconds = 3;
    other.limits.file_bytes = 1 << 20;
    let tried = other.sh("trap '' TERM HUP; umask 0; ulimit -n 9; kill -9 $$");
    assert_eq!(tried.outcome.ended.signal, Some(9));
    assert_eq!(bench.sh(script).output, before);
}

fn another_user_has_another_helper(bench: &Bench) {
    let first = bench.sh("id -u");
    let Some((user, group)) = unprivileged_owner() else { return };
    let own = if bench.level == Level::None { 0 } else { user };
    assert_eq!(first.output, format!("{own}\n"));
    let (user, group) =
        (rustix::process::Uid::from_raw(user), rustix::process::Gid::from_raw(group));
    // The kernel has an identity for each thread; that of the others does not change.
    set_thread_res_gid(group, group, group).expect("root may");
    set_thread_res_uid(user, user, user).expect("root may");
    assert_eq!(bench.sh("id -u").output, format!("{}\n", user.as_raw()));
}

fn a_helper_is_apart_from_other_children(bench: &Bench) {
    let before = inherited();
    bench.sh("true");
    assert_eq!(inherited(), before, "another child got the way to the helper");
    let helper = Pid::from_raw(helper().try_into().expect("a process"));
    // Ctrl-C goes to the group of processes that is at the terminal.
    assert_eq!(getsid(helper).ok(), helper);
    assert_eq!(getpgid(helper).ok(), helper);
}

/// Ends the first thread of a process, when another one runs.
pub(crate) const END_FIRST_THREAD: &str =
    "ctypes.CDLL(None).syscall({'x86_64': 60, 'aarch64': 93}[os.uname().machine], 0)";

/// A program with a child whose first thread has ended. Another thread there has a child of its own, which the mark names,
/// and memory that takes a while to free. Both end by themselves.
pub(crate) fn leaderless(mark: &str, end: &str) -> String {
    format!(
        "import ctypes, mmap, os, threading, time\n\
         ready, done = os.pipe()\n\
         def second():\n\
         \x20   time.sleep(0.05)\n\
         \x20   memory = mmap.mmap(-1, 300 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)\n\
         \x20   memory.madvise(mmap.MADV_NOHUGEPAGE)\n\
         \x20   if os.fork() == 0:\n\
         \x20       os.setsid(); os.closerange(0, 3)\n\
         \x20       os.execv('/bin/sleep', ['{mark}', '15'])\n\
         \x20   for _ in range(300): memory.write(b'x' * (1 << 20))\n\
         \x20   os.write(done, b'x'); time.sleep(15); os._exit(0)\n\
         if os.fork() == 0:\n\
         \x20   os.setsid(); threading.Thread(target=second).start(); {END_FIRST_THREAD}\n\
         os.read(ready, 1)\n\
         {end}"
    )
}

/// Each way in which a run ends.
fn an_ended_first_thread_hides_no_children(bench: &Bench) {
    let named = |end: &str| mark(bench.level, end);
    let (ends, late, lost) = (named("ends"), named("late"), named("lost"));
    let tried = bench.python(&leaderless(&ends, "time.sleep(0.1)"));
    assert_eq!(code(&tried), Some(0), "{tried:?}");
    assert!(is_gone(&ends), "it outlived a program that ended");

    let mut hurried = Bench::new(bench.level);
    hurried.limits.wall = Duration::from_secs(2);
    let tried = hurried.python(&leaderless(&late, "time.sleep(15)"));
    assert!(tried.outcome.timed_out, "{tried:?}");
    assert!(is_gone(&late), "it outlived its time");

    thread::scope(|scope| {
        let script = leaderless(&lost, "time.sleep(15)");
        let losing = scope.spawn(move || {
            let mut job = bench.job("");
            job.program.command = arguments(["python3", "-c", &script]);
            bench.try_job(&job).map(|tried| code(&tried))
        });
        wait_until(|| is_running(&lost));
        children(helper()).into_iter().for_each(|(warden, _)| kill(warden));
        losing.join().expect("no panic").expect_err("its warden is gone");
    });
    assert!(is_gone(&lost), "it outlived its warden");

    let orphan = named("orphan");
    #[expect(clippy::disallowed_methods, reason = "the caller itself is what is tested")]
    let mut caller = Command::new(std::env::current_exe().expect("it is known"))
        .args([LEADERLESS_VICTIM, &bench.level.to_string(), &orphan])
        .spawn()
        .expect("it starts");
    wait_until(|| is_running(&orphan));
    caller.kill().expect("it is ours");
    caller.wait().expect("it is ours");
    assert!(is_gone(&orphan), "it outlived its caller");
    metier_sandbox::remove_leftovers();
}

/// How many files a child has that was started elsewhere in this process.
fn inherited() -> usize {
    #[expect(clippy::disallowed_methods, reason = "others start processes too")]
    let output = Command::new("ls").arg("/proc/self/fd").output().expect("it starts");
    String::from_utf8_lossy(&output.stdout).lines().count()
}
