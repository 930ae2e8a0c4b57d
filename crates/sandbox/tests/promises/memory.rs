//! Memory of a whole tree, with a control group and without: of many processes, shared, in files, held by nobody.

use std::time::Duration;

use libtest_mimic::Failed;
use metier_sandbox::{Level, Limit};

use crate::bench::{Bench, Tried};
use crate::keeper::END_FIRST_THREAD;
use crate::{ALL, CONFINED, FULL, Promise};

pub(crate) const PROMISES: &[Promise] = &[
    ("memory_is_bounded", memory_is_bounded, ALL),
    ("memory_of_many_processes_counts_together", many_processes, ALL),
    ("memory_that_is_shared_counts", shared_memory, ALL),
    ("memory_of_segments_counts", segments, ALL),
    ("memory_of_files_without_a_name_counts", files_without_a_name, ALL),
    ("memory_in_flight_counts", in_flight, CONFINED),
    ("memory_of_temporary_files_counts", temporary_files, FULL),
    ("memory_of_page_tables_counts", page_tables, ALL),
    ("memory_in_pipes_alone_cannot_be_made_of_mappings", spliced, CONFINED),
    ("memory_of_a_program_that_hides_counts", hidden, ALL),
    ("memory_of_a_process_whose_first_thread_has_ended_counts", leaderless_process, ALL),
    ("memory_of_changed_copies_of_temporary_files_counts", changed_copies, FULL),
    ("memory_of_empty_files_counts", empty_files, FULL),
    ("memory_is_bounded_whatever_many_mappings_cost", many_mappings, ALL),
    ("memory_that_is_shared_counts_once", shared_counts_once, ALL),
    ("memory_that_is_shared_counts_once_however_long_that_takes", shared_by_many, ALL),
    ("memory_of_a_limit_that_is_measured_is_named", measured_is_named, ALL),
];

/// What these programs may use, and what they try to.
const LIMIT: u64 = 96 << 20;
const MUCH: u64 = 300 << 20;

fn bench(level: Level) -> Bench {
    let mut bench = Bench::new(level);
    bench.limits.memory = LIMIT;
    bench
}

/// Runs a script that takes memory with `much` in mind, and says so two seconds later.
fn take(level: Level, script: &str) -> Tried {
    bench(level).python(&format!(
        "import ctypes, mmap, os, socket, sys, time\n\
         libc = ctypes.CDLL(None, use_errno=True)\n\
         much, piece = {MUCH}, bytes(1 << 20)\n\
         print('so far', flush=True)\n\
         {script}\n\
         time.sleep(2)\n\
         print('kept', flush=True)"
    ))
}

/// It met the limit, or the kernel did not give it the memory.
fn refused(tried: &Tried) {
    assert!(tried.output.starts_with("so far\n"), "{tried:?}");
    let ended = &tried.outcome.ended;
    let was_refused = ended.code.is_some_and(|code| code != 0) && tried.error.contains("Error");
    // A control group may end one process and leave the others; the rest is ended as a whole.
    let has_met = ended.limits.contains(&Limit::Memory);
    let is_grouped = !tried.outcome.not_promised.contains(&"an exact bound on memory");
    assert!(has_met || was_refused, "{tried:?}");
    assert!(tried.output == "so far\n" || has_met && is_grouped, "{tried:?}");
    assert!(tried.outcome.duration < Duration::from_secs(8), "{tried:?}");
}

fn memory_is_bounded(level: Level) -> Result<(), Failed> {
    refused(&take(level, "x = bytearray(much); x[::4096] = b'x' * len(x[::4096])"));
    Ok(())
}

fn many_processes(level: Level) -> Result<(), Failed> {
    let tried = take(
        level,
        "for _ in range(10):\n\
         \x20   if os.fork() == 0: x = b'x' * (much // 10); time.sleep(5); os._exit(0)",
    );
    refused(&tried);
    assert!(tried.outcome.ended.limits.contains(&Limit::Memory), "{tried:?}");
    Ok(())
}

fn shared_memory(level: Level) -> Result<(), Failed> {
    let shared = "x = mmap.mmap(-1, much)\nfor _ in range(much >> 20): x.write(piece)";
    let zero = "file = os.open('/dev/zero', os.O_RDWR)\n\
                x = mmap.mmap(file, much)\nfor _ in range(much >> 20): x.write(piece)";
    let forked = "for _ in range(6):\n\
                  \x20   if os.fork() == 0:\n\
                  \x20       x = mmap.mmap(-1, much // 6)\n\
                  \x20       for _ in range(much // 6 >> 20): x.write(piece)\n\
                  \x20       time.sleep(5); os._exit(0)";
    for script in [shared, zero, forked] {
        refused(&take(level, script));
    }
    Ok(())
}

/// Those of System V; attached, and left alone.
fn segments(level: Level) -> Result<(), Failed> {
    let segment = "libc.shmat.restype = ctypes.c_void_p\n\
         segment = libc.shmget(0, ctypes.c_size_t(much), 0o1600)\n\
         if segment < 0: raise OSError('no segment')\n\
         at = libc.shmat(segment, None, 0)\n\
         libc.shmctl(segment, 0, None)\n";
    let fill = "libc.memset(ctypes.c_void_p(at), 1, ctypes.c_size_t(much))\n";
    refused(&take(level, &format!("{segment}{fill}")));
    if level != Level::None {
        let left = segment.replace("libc.shmctl(segment, 0, None)\n", "");
        refused(&take(level, &format!("{left}{fill}libc.shmdt(ctypes.c_void_p(at))")));
    }
    Ok(())
}

fn files_without_a_name(level: Level) -> Result<(), Failed> {
    let made = "file = os.memfd_create('x')\nfor _ in range(much >> 20): os.write(file, piece)";
    let many = "for _ in range(10):\n\
                \x20   file = os.memfd_create('x')\n\
                \x20   for _ in range(much // 10 >> 20): os.write(file, piece)";
    let mapped = "file = os.memfd_create('x'); os.truncate(file, much)\n\
                  x = mmap.mmap(file, much); os.close(file)\n\
                  for _ in range(much >> 20): x.write(piece)";
    for script in [made, many, mapped] {
        refused(&take(level, script));
    }
    Ok(())
}

/// A file that is sent and not received is open nowhere.
fn in_flight(level: Level) -> Result<(), Failed> {
    refused(&take(
        level,
        "a, b = socket.socketpair()\n\
         for _ in range(10):\n\
         \x20   file = os.memfd_create('x')\n\
         \x20   for _ in range(much // 10 >> 20): os.write(file, piece)\n\
         \x20   socket.send_fds(a, [b'x'], [file]); os.close(file)",
    ));
    Ok(())
}

/// The largest process is not the one that fills the memory: whoever is ended instead, the caller
/// learns how it went.
fn temporary_files(level: Level) -> Result<(), Failed> {
    for (folder, end) in [("/tmp", ""), ("/dev/shm", ""), ("/tmp", "os.unlink(name)")] {
        let tried = take(
            level,
            &format!(
                "name = '{folder}/x'; file = os.open(name, os.O_CREAT | os.O_RDWR); {end}\n\
                 for _ in range(much >> 20): os.write(file, piece)"
            ),
        );
        refused(&tried);
        assert!(tried.outcome.ended.limits.contains(&Limit::Memory), "{tried:?}");
    }
    Ok(())
}

/// Each page that is read takes a page of tables: the pages themselves are all the one of zeros.
fn page_tables(level: Level) -> Result<(), Failed> {
    let tried = take(
        level,
        "libc.mmap.restype = ctypes.c_void_p\n\
         libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]\n\
         libc.madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]\n\
         step, count = 2 << 20, much // 4096\n\
         NORESERVE_PRIVATE_ANONYMOUS, NOHUGEPAGE = 0x4022, 15\n\
         at = libc.mmap(None, step * count, mmap.PROT_READ, NORESERVE_PRIVATE_ANONYMOUS, -1, 0)\n\
         if at is None or at + 1 == 1 << 64: raise OSError('no mapping')\n\
         libc.madvise(at, step * count, NOHUGEPAGE)\n\
         for page in range(count): ctypes.c_char.from_address(at + page * step).value",
    );
    refused(&tried);
    Ok(())
}

/// A page of a mapping that was given to a pipe stays when the mapping is gone. A control group counts it.
fn spliced(level: Level) -> Result<(), Failed> {
    let tried = take(
        level,
        "text = ctypes.create_string_buffer(4096)\n\
         class Vector(ctypes.Structure):\n\
         \x20   _fields_ = [('base', ctypes.c_void_p), ('length', ctypes.c_size_t)]\n\
         vector = Vector(ctypes.addressof(text), 4096)\n\
         if libc.vmsplice(os.pipe()[1], ctypes.byref(vector), 1, 0) < 0: raise OSError('refused')",
    );
    if tried.outcome.not_promised.contains(&"an exact bound on memory") {
        refused(&tried);
        assert!(tried.error.contains("OSError: refused"), "{tried:?}");
    }
    Ok(())
}

/// It lets nobody look at its memory.
fn hidden(level: Level) -> Result<(), Failed> {
    let tried = take(
        level,
        "libc.prctl(4, 0, 0, 0, 0)\n\
         for _ in range(10):\n\
         \x20   if os.fork() == 0: x = b'x' * (much // 10); time.sleep(5); os._exit(0)",
    );
    refused(&tried);
    Ok(())
}

/// Only another thread of it tells how much it has.
fn leaderless_process(level: Level) -> Result<(), Failed> {
    let take_shared = "def second():\n\
         \x20   time.sleep(0.1)\n\
         \x20   x = mmap.mmap(-1, much)\n\
         \x20   for _ in range(much >> 20): x.write(piece)\n\
         \x20   time.sleep(2); print('kept', flush=True); os._exit(0)\n\
         import threading\n";
    let start = format!("threading.Thread(target=second).start(); {END_FIRST_THREAD}");
    let in_child = format!("if os.fork() == 0: {start}\ntime.sleep(3)");
    for script in [start, in_child] {
        refused(&take(level, &format!("{take_shared}{script}")));
    }
    Ok(())
}

/// Each process maps a file of the temporary folder and changes its own copy of the pages.
fn changed_copies(level: Level) -> Result<(), Failed> {
    let tried = take(
        level,
        "file = os.open('/tmp/x', os.O_CREAT | os.O_RDWR); os.truncate(file, much // 10)\n\
         os.write(file, piece)\n\
         for _ in range(10):\n\
         \x20   if os.fork() == 0:\n\
         \x20       x = mmap.mmap(file, much // 10, flags=mmap.MAP_PRIVATE); x[:1 << 20]\n\
         \x20       for _ in range(much // 10 >> 20): x.write(piece)\n\
         \x20       time.sleep(5); os._exit(0)",
    );
    refused(&tried);
    Ok(())
}

/// They have no content; a folder holds so many of them and no more.
fn empty_files(level: Level) -> Result<(), Failed> {
    let make = "for folder in ['/tmp', '/dev/shm']:\n\
                \x20   for number in range(200_000): os.mknod(f'{folder}/{number}')";
    refused(&take(level, make));
    let mut bench = bench(level);
    bench.limits.memory = 48 << 20;
    let tried = bench.python(&format!(
        "import os, time\nprint('so far', flush=True)\n\
         try:\n\x20   {}\nexcept OSError: pass\n\
         time.sleep(2); print('kept', flush=True)",
        make.replace('\n', "\n    ")
    ));
    refused(&tried);
    assert!(tried.outcome.ended.limits.contains(&Limit::Memory), "{tried:?}");
    Ok(())
}

/// Looking at processes with many mappings takes long, and meanwhile another one takes memory.
fn many_mappings(level: Level) -> Result<(), Failed> {
    let mut bench = bench(level);
    bench.limits.memory = 256 << 20;
    let tried = bench.python(
        "import ctypes, mmap, os, time\n\
         print('so far', flush=True)\n\
         libc = ctypes.CDLL(None)\n\
         libc.mmap.restype = ctypes.c_void_p\n\
         libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]\n\
         libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]\n\
         shared = mmap.mmap(-1, 64 << 20)\n\
         for _ in range(64): shared.write(bytes(1 << 20))\n\
         count = 30_000\n\
         at = libc.mmap(None, count * 4096, 0, 0x4022, -1, 0)\n\
         for page in range(0, count, 2): libc.mprotect(at + page * 4096, 4096, 1)\n\
         for _ in range(8):\n\
         \x20   if os.fork() == 0: shared[::4096]; time.sleep(30); os._exit(0)\n\
         time.sleep(0.5)\n\
         taken = [mmap.mmap(-1, 64 << 20) for _ in range(12)]\n\
         for part in taken:\n\
         \x20   for _ in range(64): part.write(bytes(1 << 20))\n\
         time.sleep(1)\n\
         print('kept', flush=True)",
    );
    refused(&tried);
    assert!(tried.outcome.ended.limits.contains(&Limit::Memory), "{tried:?}");
    Ok(())
}

/// Pages that several processes have are there once.
fn shared_counts_once(level: Level) -> Result<(), Failed> {
    let mut bench = bench(level);
    bench.limits.memory = 160 << 20;
    let folder = if level == Level::Full { "/dev/shm/" } else { "" };
    let tried = bench.python(&format!(
        "import mmap, os, time\n\
         own = b'x' * (40 << 20)\n\
         shared = mmap.mmap(-1, 30 << 20)\n\
         for _ in range(30): shared.write(b'x' * (1 << 20))\n\
         with open('{folder}file', 'w+b') as file:\n\
         \x20   file.write(b'x' * (20 << 20)); file.flush()\n\
         \x20   mapped = mmap.mmap(file.fileno(), 20 << 20)\n\
         children = []\n\
         for _ in range(4):\n\
         \x20   pid = os.fork()\n\
         \x20   if pid == 0:\n\
         \x20       assert own[::4096] and shared[::4096] and mapped[::4096]\n\
         \x20       time.sleep(1); os._exit(0)\n\
         \x20   children.append(pid)\n\
         print([os.waitpid(pid, 0)[1] for pid in children])"
    ));
    assert_eq!(tried.output, "[0, 0, 0, 0]\n", "{tried:?}");
    Ok(())
}

/// There is so much of it that one look is too short to find out.
fn shared_by_many(level: Level) -> Result<(), Failed> {
    let mut bench = bench(level);
    bench.limits.memory = 800 << 20;
    let tried = bench.python(
        "import mmap, os, time\n\
         own = mmap.mmap(-1, 300 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)\n\
         own.madvise(mmap.MADV_NOHUGEPAGE)\n\
         for _ in range(300): own.write(b'x' * (1 << 20))\n\
         children = []\n\
         for _ in range(6):\n\
         \x20   pid = os.fork()\n\
         \x20   if pid == 0: time.sleep(3); os._exit(0)\n\
         \x20   children.append(pid)\n\
         print([os.waitpid(pid, 0)[1] for pid in children])",
    );
    assert_eq!(tried.output, format!("{:?}\n", [0; 6]), "{tried:?}");
    Ok(())
}

/// Whether there is a control group. Without one the kernel refuses a single process the memory, and says so to nobody
/// else.
fn is_grouped(level: Level) -> bool {
    let tried = bench(level).python("x = bytearray(400 << 20)");
    tried.outcome.ended.limits.contains(&Limit::Memory)
}

fn measured_is_named(level: Level) -> Result<(), Failed> {
    let is_grouped = is_grouped(level);
    let lacks = bench(level).sh("true").outcome.not_promised;
    assert_eq!(lacks.contains(&"an exact bound on memory"), !is_grouped, "{lacks:?}");
    if let Some(surroundings) = metier_testkit::Surroundings::here() {
        assert_eq!(is_grouped, surroundings.has_groups);
    }
    Ok(())
}
