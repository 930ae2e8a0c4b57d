//! The filter of system calls: what no program needs, and what would undo the rest.

use std::os::fd::OwnedFd;

use libc::{
    BPF_ABS, BPF_ALU, BPF_AND, BPF_JEQ, BPF_JGE, BPF_JMP, BPF_JSET, BPF_K, BPF_LD, BPF_RET, BPF_W,
};
use libc::{c_long, sock_filter};

use super::launch::Bounds;
use super::scheduling::IOPRIO_WHO_PROCESS;
use super::{OrFail, sys};
use crate::policy::{Level, Network, Policy};
use crate::wire::{Failure, Stage};

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xc000_00b7;

/// Calls that are refused whatever their arguments.
const REFUSED: &[(c_long, &str)] = &[
    (libc::SYS_acct, "acct"),
    (libc::SYS_add_key, "add_key"),
    (libc::SYS_adjtimex, "adjtimex"),
    (libc::SYS_bpf, "bpf"),
    (libc::SYS_chroot, "chroot"),
    (libc::SYS_clock_adjtime, "clock_adjtime"),
    (libc::SYS_clock_settime, "clock_settime"),
    (libc::SYS_delete_module, "delete_module"),
    (libc::SYS_fanotify_init, "fanotify_init"),
    (libc::SYS_finit_module, "finit_module"),
    (libc::SYS_fsconfig, "fsconfig"),
    (libc::SYS_fsmount, "fsmount"),
    (libc::SYS_fsopen, "fsopen"),
    (libc::SYS_fspick, "fspick"),
    (libc::SYS_init_module, "init_module"),
    (libc::SYS_io_uring_enter, "io_uring_enter"),
    (libc::SYS_io_uring_register, "io_uring_register"),
    (libc::SYS_io_uring_setup, "io_uring_setup"),
    (libc::SYS_kcmp, "kcmp"),
    (libc::SYS_kexec_file_load, "kexec_file_load"),
    (libc::SYS_kexec_load, "kexec_load"),
    (libc::SYS_keyctl, "keyctl"),
    (libc::SYS_lookup_dcookie, "lookup_dcookie"),
    (libc::SYS_migrate_pages, "migrate_pages"),
    (libc::SYS_mount, "mount"),
    (libc::SYS_mount_setattr, "mount_setattr"),
    (libc::SYS_move_mount, "move_mount"),
    (libc::SYS_move_pages, "move_pages"),
    (libc::SYS_nfsservctl, "nfsservctl"),
    (libc::SYS_open_by_handle_at, "open_by_handle_at"),
    (libc::SYS_open_tree, "open_tree"),
    (libc::SYS_perf_event_open, "perf_event_open"),
    (libc::SYS_pidfd_getfd, "pidfd_getfd"),
    (libc::SYS_pivot_root, "pivot_root"),
    (libc::SYS_process_madvise, "process_madvise"),
    (libc::SYS_process_vm_readv, "process_vm_readv"),
    (libc::SYS_process_vm_writev, "process_vm_writev"),
    (libc::SYS_ptrace, "ptrace"),
    (libc::SYS_quotactl, "quotactl"),
    (libc::SYS_quotactl_fd, "quotactl_fd"),
    (libc::SYS_reboot, "reboot"),
    (libc::SYS_request_key, "request_key"),
    (libc::SYS_setdomainname, "setdomainname"),
    (libc::SYS_sethostname, "sethostname"),
    (libc::SYS_setns, "setns"),
    (libc::SYS_settimeofday, "settimeofday"),
    (libc::SYS_swapoff, "swapoff"),
    (libc::SYS_swapon, "swapon"),
    (libc::SYS_syslog, "syslog"),
    (libc::SYS_umount2, "umount2"),
    (libc::SYS_unshare, "unshare"),
    (libc::SYS_userfaultfd, "userfaultfd"),
    (libc::SYS_vhangup, "vhangup"),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_ioperm, "ioperm"),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_iopl, "iopl"),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_modify_ldt, "modify_ldt"),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_uselib, "uselib"),
];

/// Calls that lead to memory, messages and locks of others where there is no namespace of its own.
const REFUSED_WITHOUT_NAMESPACES: &[(c_long, &str)] = &[
    (libc::SYS_mq_open, "mq_open"),
    (libc::SYS_mq_unlink, "mq_unlink"),
    (libc::SYS_msgctl, "msgctl"),
    (libc::SYS_msgget, "msgget"),
    (libc::SYS_msgrcv, "msgrcv"),
    (libc::SYS_msgsnd, "msgsnd"),
    (libc::SYS_semctl, "semctl"),
    (libc::SYS_semget, "semget"),
    (libc::SYS_semop, "semop"),
    (libc::SYS_semtimedop, "semtimedop"),
    (libc::SYS_shmat, "shmat"),
    (libc::SYS_shmctl, "shmctl"),
    (libc::SYS_shmget, "shmget"),
];

/// Calls that make memory which no process need have mapped, or keep it (`vmsplice`: in a pipe), so that only a control group can count it. Programs
/// do without them where they are not known.
const UNKNOWN_WITHOUT_GROUP: &[c_long] = &[
    libc::SYS_memfd_create,
    libc::SYS_memfd_secret,
    libc::SYS_msgget,
    libc::SYS_shmget,
    libc::SYS_vmsplice,
];

/// Changes modes with flags; younger than some tables.
pub(super) const FCHMODAT2: c_long = 452;

/// Calls that change what Landlock does not keep, and that the warden makes in place of the program.
const ATTRIBUTES: &[(c_long, &str)] = &[
    (libc::SYS_fchmod, "fchmod"),
    (libc::SYS_fchmodat, "fchmodat"),
    (FCHMODAT2, "fchmodat2"),
    (libc::SYS_fchown, "fchown"),
    (libc::SYS_fchownat, "fchownat"),
    (libc::SYS_fremovexattr, "fremovexattr"),
    (libc::SYS_fsetxattr, "fsetxattr"),
    (libc::SYS_lremovexattr, "lremovexattr"),
    (libc::SYS_lsetxattr, "lsetxattr"),
    (libc::SYS_removexattr, "removexattr"),
    (libc::SYS_setxattr, "setxattr"),
    (libc::SYS_utimensat, "utimensat"),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chmod, "chmod"),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chown, "chown"),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_futimesat, "futimesat"),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_lchown, "lchown"),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_utime, "utime"),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_utimes, "utimes"),
];

/// Calls that change how a process is scheduled, for every process of the same user. A program makes them for itself; those
/// that name a process are made by the warden.
const SCHEDULING: &[(c_long, &str)] = &[
    (libc::SYS_ioprio_set, "ioprio_set"),
    (libc::SYS_sched_setaffinity, "sched_setaffinity"),
    (libc::SYS_sched_setattr, "sched_setattr"),
    (libc::SYS_sched_setparam, "sched_setparam"),
    (libc::SYS_sched_setscheduler, "sched_setscheduler"),
    (libc::SYS_setpriority, "setpriority"),
];

/// Calls that programs do without where they are not known: newer ways to change attributes
/// (`setxattrat`, `removexattrat`, `file_setattr`), and watching folders, which tells the names of
/// what others do in theirs.
const UNKNOWN_WITHOUT_NAMESPACES: &[c_long] = &[
    463,
    466,
    469,
    libc::SYS_inotify_init1,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_inotify_init,
];

/// Requests that set flags of a file which is open for reading: `FS_IOC_SETFLAGS`,
/// `FS_IOC_FSSETXATTR`, `FS_IOC_SETVERSION` and `FS_IOC_ENABLE_VERITY`.
const FILE_FLAGS: [u32; 4] = [0x4008_6602, 0x401c_5820, 0x4008_7602, 0x4080_6685];

/// Calls that are refused for some of their arguments.
const SOMETIMES: [(c_long, &str); 5] = [
    (libc::SYS_clone, "clone"),
    (libc::SYS_ioctl, "ioctl"),
    (libc::SYS_prlimit64, "prlimit64"),
    (libc::SYS_socket, "socket"),
    (libc::SYS_socketpair, "socketpair"),
];

/// The kind of a socket, without its flags.
const SOCKET_KIND: u32 = 0xf;

/// Flags of `clone` that make a namespace.
const NAMESPACES: u32 = (libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET)
    .cast_unsigned();

/// The name of a system call that can be refused.
pub(crate) fn name_of(number: i64) -> &'static str {
    let lists = [REFUSED, REFUSED_WITHOUT_NAMESPACES, ATTRIBUTES, SCHEDULING, &SOMETIMES];
    let mut known = lists.into_iter().flatten();
    known.find(|(call, _)| *call == number).map_or("?", |(_, name)| name)
}

/// Installs the filter. Gives the file that announces refused calls, where the system has it.
pub(super) fn install(policy: &Policy, bounds: Bounds) -> Result<Option<OwnedFd>, Failure> {
    let announced = build(policy, bounds, libc::SECCOMP_RET_USER_NOTIF);
    match sys::install_filter(&announced, true) {
        Ok(listener) => Ok(listener),
        // Someone outside listens already, or the kernel does not know how.
        Err(error) if matches!(error.raw_os_error(), Some(libc::EBUSY | libc::EINVAL)) => {
            let refused = libc::SECCOMP_RET_ERRNO | libc::EPERM.cast_unsigned();
            sys::install_filter(&build(policy, bounds, refused), false).or_fail(Stage::Filter, "")
        }
        Err(error) => Err(error).or_fail(Stage::Filter, ""),
    }
}

/// The families of sockets that a program may open.
fn families(policy: &Policy) -> &'static [i32] {
    const INTERNET: &[i32] = &[libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
    const OWN: &[i32] = &[libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];
    match (policy.level, policy.network) {
        // Nothing but its own namespace is there to be reached.
        (Level::Full, _) => OWN,
        // Sockets in the file system are those of others.
        (_, Network::Host) => INTERNET,
        _ => &[],
    }
}

fn build(policy: &Policy, bounds: Bounds, refuse: u32) -> Vec<sock_filter> {
    let no_such_call = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned();
    let mut code = Assembler::default();
    code.load(4);
    code.unless_equal(ARCHITECTURE, libc::SECCOMP_RET_KILL_PROCESS);
    code.load(0);
    // A second table of calls, which nobody uses.
    #[cfg(target_arch = "x86_64")]
    code.if_at_least(0x4000_0000, no_such_call);
    // Its flags cannot be seen from here; without it programs use `clone`.
    code.if_equal(number(libc::SYS_clone3), no_such_call);
    for (call, _) in REFUSED {
        code.if_equal(number(*call), refuse);
    }
    for call in UNKNOWN_WITHOUT_GROUP.iter().filter(|_| bounds == Bounds::Process) {
        code.if_equal(number(*call), no_such_call);
    }
    code.when(number(libc::SYS_clone), |code| {
        code.load_argument(0);
        code.if_any_bit(NAMESPACES, refuse);
    });
    code.when(number(libc::SYS_ioctl), |code| {
        code.load_argument(1);
        // Both put words into the mouth of whoever has the terminal.
        code.if_equal(number(libc::TIOCSTI.cast_signed()), refuse);
        code.if_equal(number(libc::TIOCLINUX.cast_signed()), refuse);
        if policy.level != Level::Full {
            for request in FILE_FLAGS {
                code.if_equal(request, refuse);
            }
        }
    });
    code.when(number(libc::SYS_socket), |code| {
        code.load_argument(0);
        for family in families(policy) {
            code.if_equal(family.cast_unsigned(), libc::SECCOMP_RET_ALLOW);
        }
        code.give(refuse);
    });
    code.when(number(libc::SYS_socketpair), |code| {
        code.load_argument(0);
        code.unless_equal(libc::AF_UNIX.cast_unsigned(), refuse);
        if policy.level != Level::Full {
            // One that is not a stream can be turned to any socket in the file system.
            code.load_argument(1);
            code.keep_bits(SOCKET_KIND);
            code.if_equal(libc::SOCK_STREAM.cast_unsigned(), libc::SECCOMP_RET_ALLOW);
            code.if_equal(libc::SOCK_SEQPACKET.cast_unsigned(), libc::SECCOMP_RET_ALLOW);
            code.give(refuse);
        }
    });
    if policy.level != Level::Full {
        refuse_reaching_others(&mut code, refuse);
    }
    code.give(libc::SECCOMP_RET_ALLOW);
    code.instructions
}

/// What a process namespace and one for messages would make harmless.
fn refuse_reaching_others(code: &mut Assembler, refuse: u32) {
    for (call, _) in REFUSED_WITHOUT_NAMESPACES {
        code.if_equal(number(*call), refuse);
    }
    for call in UNKNOWN_WITHOUT_NAMESPACES {
        code.if_equal(number(*call), libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned());
    }
    // Without anybody to make them they cannot be refused: no program could do its work.
    for (call, _) in ATTRIBUTES.iter().filter(|_| refuse == libc::SECCOMP_RET_USER_NOTIF) {
        code.if_equal(number(*call), refuse);
    }
    code.when(number(libc::SYS_prlimit64), |code| {
        code.load_argument(0);
        // Its own limits; those of another process could end it.
        code.unless_equal(0, refuse);
    });
    for (call, _) in SCHEDULING {
        code.when(number(*call), |code| {
            let (process, whom) = match *call {
                libc::SYS_setpriority => (Some(libc::PRIO_PROCESS), 1),
                libc::SYS_ioprio_set => (Some(IOPRIO_WHO_PROCESS), 1),
                _ => (None, 0),
            };
            if let Some(process) = process {
                code.load_argument(0);
                code.unless_equal(process, refuse);
            }
            // Zero is whoever calls.
            code.load_argument(whom);
            code.unless_equal(0, refuse);
        });
    }
}

/// Numbers of calls and requests are small, whatever type they come in.
fn number(value: i64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// Writes a filter in the only shapes we need.
#[derive(Default)]
struct Assembler {
    instructions: Vec<sock_filter>,
}

impl Assembler {
    fn push(&mut self, code: u32, value: u32, if_true: u8, if_false: u8) {
        let code = u16::try_from(code).unwrap_or_default();
        self.instructions.push(sock_filter { code, jt: if_true, jf: if_false, k: value });
    }

    /// Loads a word of what is known of the call.
    fn load(&mut self, offset: u32) {
        self.push(BPF_LD | BPF_W | BPF_ABS, offset, 0, 0);
    }

    /// Loads the lower half of an argument.
    fn load_argument(&mut self, index: u32) {
        self.load(16 + 8 * index);
    }

    fn give(&mut self, action: u32) {
        self.push(BPF_RET | BPF_K, action, 0, 0);
    }

    fn if_equal(&mut self, value: u32, action: u32) {
        self.push(BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
        self.give(action);
    }

    fn unless_equal(&mut self, value: u32, action: u32) {
        self.push(BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0);
        self.give(action);
    }

    fn if_at_least(&mut self, value: u32, action: u32) {
        self.push(BPF_JMP | BPF_JGE | BPF_K, value, 0, 1);
        self.give(action);
    }

    fn if_any_bit(&mut self, bits: u32, action: u32) {
        self.push(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1);
        self.give(action);
    }

    fn keep_bits(&mut self, bits: u32) {
        self.push(BPF_ALU | BPF_AND | BPF_K, bits, 0, 0);
    }

    /// Instructions for one call, after which anything not decided is allowed.
    fn when(&mut self, call: u32, inside: impl FnOnce(&mut Self)) {
        let mut block = Self::default();
        inside(&mut block);
        block.give(libc::SECCOMP_RET_ALLOW);
        let length = u8::try_from(block.instructions.len()).unwrap_or(u8::MAX);
        self.push(BPF_JMP | BPF_JEQ | BPF_K, call, 0, length);
        self.instructions.extend(block.instructions);
    }
}
