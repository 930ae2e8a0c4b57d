//! System calls that have no safe wrapper elsewhere. All `unsafe` of the project is here.
#![expect(unsafe_code, reason = "these calls have no safe wrapper")]

use std::ffi::{CStr, CString, c_void};
use std::io;
use std::mem;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::ptr;
use std::sync::atomic::{AtomicI32, Ordering};

use rustix::io::Errno;
use rustix::process::Pid;

/// The two sides of a fork.
pub(super) enum Fork {
    Parent(Pid),
    Child,
}

/// Splits the process in two.
///
/// Only for the helper, which has one thread: in a process with several, the child could find
/// locks held that nobody releases.
pub(super) fn fork() -> io::Result<Fork> {
    // SAFETY: the helper has a single thread, so the child is a whole copy of it.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(Fork::Child),
        pid => Pid::from_raw(pid).map(Fork::Parent).ok_or_else(|| io::Error::other("no process")),
    }
}

/// Ends the process without running anything that is left over from before a fork.
pub(super) fn exit_now(code: i32) -> ! {
    // SAFETY: always sound; nothing is run in this process any more.
    unsafe { libc::_exit(code) }
}

/// Lets children that end stay until they are waited for.
pub(super) fn remember_children() {
    // SAFETY: this meaning is always valid and runs no code of ours.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
}

/// Closes every file but the first three: callers leave things open.
pub(super) fn close_other_files() {
    // SAFETY: nothing in this process has opened a file yet.
    unsafe { libc::close_range(3, u32::MAX, 0) };
}

/// Which properties of a mount are set.
#[derive(Clone, Copy)]
pub(super) struct MountAttributes {
    pub(super) read_only: bool,
    pub(super) no_devices: bool,
}

/// Sets the properties of a mount, and of the mounts below it if asked.
pub(super) fn set_mount_attributes(
    mount: impl AsFd,
    attributes: MountAttributes,
    recursive: bool,
) -> io::Result<()> {
    let mut set = libc::MOUNT_ATTR_NOSUID;
    if attributes.read_only {
        set |= libc::MOUNT_ATTR_RDONLY;
    }
    if attributes.no_devices {
        set |= libc::MOUNT_ATTR_NODEV;
    }
    let attributes = libc::mount_attr { attr_set: set, attr_clr: 0, propagation: 0, userns_fd: 0 };
    let mut flags = libc::AT_EMPTY_PATH;
    if recursive {
        flags |= libc::AT_RECURSIVE;
    }
    // SAFETY: the path is an empty C string and the attributes outlive the call.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_fd().as_raw_fd(),
            c"".as_ptr(),
            flags,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Installs a filter of system calls for this process and those it will start. With `listen`, gives
/// the file on which refused calls are announced.
pub(super) fn install_filter(
    instructions: &[libc::sock_filter],
    listen: bool,
) -> io::Result<Option<OwnedFd>> {
    let length = u16::try_from(instructions.len()).map_err(io::Error::other)?;
    let program = libc::sock_fprog { len: length, filter: instructions.as_ptr().cast_mut() };
    let flags = if listen { libc::SECCOMP_FILTER_FLAG_NEW_LISTENER } else { 0 };
    // SAFETY: the program and its instructions outlive the call, which copies them.
    let result = unsafe {
        libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, flags, &raw const program)
    };
    if result < 0 {
        return Err(io::Error::last_os_error());
    }
    if !listen {
        return Ok(None);
    }
    let file = i32::try_from(result).map_err(io::Error::other)?;
    // SAFETY: with this flag the call gives a new file that belongs to us.
    Ok(Some(unsafe { OwnedFd::from_raw_fd(file) }))
}

/// A call that waits for an answer.
pub(super) struct Call {
    /// Tells it from every other.
    pub(super) id: u64,
    /// The thread that made it.
    pub(super) process: u32,
    pub(super) number: i64,
    pub(super) arguments: [u64; 6],
}

/// Takes the next announced call.
pub(super) fn next_call(listener: impl AsFd) -> io::Result<Call> {
    let listener = listener.as_fd().as_raw_fd();
    // SAFETY: a notification is plain numbers, for which zero is a value.
    let mut call: libc::seccomp_notif = unsafe { mem::zeroed() };
    // SAFETY: the kernel writes one notification, for which there is room.
    if unsafe { libc::ioctl(listener, libc::SECCOMP_IOCTL_NOTIF_RECV, &raw mut call) } < 0 {
        return Err(io::Error::last_os_error());
    }
    let number = i64::from(call.data.nr);
    Ok(Call { id: call.id, process: call.pid, number, arguments: call.data.args })
}

/// Answers a call with an error, or with success if that is zero.
pub(super) fn answer(listener: impl AsFd, id: u64, errno: i32) {
    let listener = listener.as_fd().as_raw_fd();
    let answer = libc::seccomp_notif_resp { id, val: 0, error: -errno, flags: 0 };
    // The process may be gone by now, which is all right.
    // SAFETY: the kernel reads one answer, which outlives the call.
    let _gone = unsafe { libc::ioctl(listener, libc::SECCOMP_IOCTL_NOTIF_SEND, &raw const answer) };
}

/// Whether the process that made a call still waits for its answer.
pub(super) fn is_waiting(listener: impl AsFd, id: u64) -> bool {
    let listener = listener.as_fd().as_raw_fd();
    // SAFETY: the kernel reads one number, which outlives the call.
    unsafe { libc::ioctl(listener, libc::SECCOMP_IOCTL_NOTIF_ID_VALID, &raw const id) == 0 }
}

/// Makes a call that changes how a process is scheduled, with a piece of memory as one of its arguments.
pub(super) fn schedule(
    number: i64,
    arguments: [u64; 3],
    memory: Option<(usize, &mut [u8])>,
) -> Result<(), Errno> {
    let mut arguments = arguments;
    if let Some((place, bytes)) = memory {
        if number == libc::SYS_sched_setaffinity {
            // The kernel reads as many bytes as this says.
            arguments[1] = bytes.len() as u64;
        }
        arguments[place] = bytes.as_mut_ptr() as u64;
    }
    let [first, second, third] = arguments;
    // SAFETY: these calls read at most one piece of memory, which outlives the call and is as long as they expect: its
    // length is an argument (processors), its beginning (attributes), or fixed (parameters).
    let result = unsafe { libc::syscall(number, first, second, third) };
    if result < 0 {
        let error = io::Error::last_os_error().raw_os_error();
        return Err(Errno::from_raw_os_error(error.unwrap_or(libc::EINVAL)));
    }
    Ok(())
}

/// Passes a request to end on to every other process that can be seen: for the first process of a
/// namespace.
pub(super) fn pass_on_termination() {
    extern "C" fn pass_on(_signal: libc::c_int) {
        // SAFETY: `kill` may be called in a signal handler.
        unsafe { libc::kill(-1, libc::SIGTERM) };
    }
    let handler: extern "C" fn(libc::c_int) = pass_on;
    // SAFETY: the handler only calls what may be called in one.
    unsafe {
        let mut action: libc::sigaction = mem::zeroed();
        action.sa_sigaction = handler as libc::sighandler_t;
        action.sa_flags = libc::SA_RESTART;
        libc::sigaction(libc::SIGTERM, &raw const action, ptr::null_mut());
    }
}

/// Gives every signal its usual meaning and lets all of them through.
pub(super) fn reset_signals() {
    // SAFETY: default actions are always valid.
    unsafe {
        for signal in 1..=libc::SIGRTMAX() {
            libc::signal(signal, libc::SIG_DFL);
        }
    }
    release_signals();
}

/// The signal that was sent to this process last, if it notes them; a request to end stays.
static NOTED: AtomicI32 = AtomicI32::new(0);

/// Lets this process outlive requests to end and the keys of a terminal, and only note them: for the
/// walker of a plan, whose programs are meant.
pub(super) fn note_signals() {
    extern "C" fn note(signal: libc::c_int) {
        if NOTED.load(Ordering::Relaxed) != libc::SIGTERM {
            NOTED.store(signal, Ordering::Relaxed);
        }
    }
    let handler: extern "C" fn(libc::c_int) = note;
    // SAFETY: the handler only looks at a number and sets it, which may be done in one.
    unsafe {
        let mut action: libc::sigaction = mem::zeroed();
        action.sa_sigaction = handler as libc::sighandler_t;
        action.sa_flags = libc::SA_RESTART;
        for signal in [libc::SIGINT, libc::SIGQUIT, libc::SIGTERM] {
            libc::sigaction(signal, &raw const action, ptr::null_mut());
        }
        libc::signal(libc::SIGPIPE, libc::SIG_IGN);
    }
}

/// The signal that was noted.
pub(super) fn noted() -> Option<i32> {
    Some(NOTED.load(Ordering::Relaxed)).filter(|signal| *signal != 0)
}

/// Forgets what was noted.
pub(super) fn forget_noted() {
    NOTED.store(0, Ordering::Relaxed);
}

/// Keeps signals waiting, so that a child that is about to be made gets those that were sent to it.
pub(super) fn hold_signals() {
    // SAFETY: the set is initialised by `sigfillset` and outlives the call.
    unsafe {
        let mut all: libc::sigset_t = mem::zeroed();
        libc::sigfillset(&raw mut all);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const all, ptr::null_mut());
    }
}

/// Lets all signals through.
pub(super) fn release_signals() {
    // SAFETY: the set is initialised by `sigemptyset` and outlives the call.
    unsafe {
        let mut none: libc::sigset_t = mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut());
    }
}

/// Ends this process by a signal.
pub(super) fn end_by(signal: i32) -> ! {
    reset_signals();
    // SAFETY: always sound; the signal has its usual meaning, which is the end.
    unsafe { libc::raise(signal) };
    exit_now(128 + signal)
}

/// Turns this process into a program; gives the reason if that cannot be done. Unlike `exec` of the
/// standard library it never asks a shell to run what the kernel does not know.
pub(super) fn execute(path: &CStr, arguments: &[CString], environment: &[CString]) -> io::Error {
    let pointers = |texts: &[CString]| -> Vec<*const libc::c_char> {
        texts.iter().map(|text| text.as_ptr()).chain([ptr::null()]).collect()
    };
    let (arguments, environment) = (pointers(arguments), pointers(environment));
    // SAFETY: both lists end with a null pointer, and they and their texts outlive the call.
    unsafe { libc::execve(path.as_ptr(), arguments.as_ptr(), environment.as_ptr()) };
    io::Error::last_os_error()
}

/// Switches the loopback interface of this network namespace on.
pub(super) fn enable_loopback() -> io::Result<()> {
    let socket = rustix::net::socket(
        rustix::net::AddressFamily::INET,
        rustix::net::SocketType::DGRAM,
        None,
    )?;
    // SAFETY: a request is plain numbers, for which zero is a value.
    let mut request: libc::ifreq = unsafe { mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(b"lo") {
        *to = (*from).cast_signed();
    }
    request.ifr_ifru.ifru_flags = i16::try_from(libc::IFF_UP).unwrap_or_default();
    let request: *mut c_void = (&raw mut request).cast();
    // SAFETY: the request names an interface and outlives the call.
    let result = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, request) };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Makes the namespaces.
pub(super) fn unshare(flags: rustix::thread::UnshareFlags) -> io::Result<()> {
    // SAFETY: open files are not unshared, which is what could break a promise made elsewhere.
    Ok(unsafe { rustix::thread::unshare_unsafe(flags) }?)
}
