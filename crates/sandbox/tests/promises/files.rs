//! Files: what was granted can be reached, and nothing else.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::PathBuf;

use libtest_mimic::Failed;
use metier_sandbox::{Access, Level, SpawnError, unprivileged_owner};

use crate::bench::{Bench, arguments};
use crate::{ALL, CONFINED, FULL, Promise};

pub(crate) const PROMISES: &[Promise] = &[
    ("what_was_granted_can_be_changed", what_was_granted_can_be_changed, ALL),
    ("nothing_else_can_be_read", nothing_else_can_be_read, CONFINED),
    ("nothing_else_can_be_written", nothing_else_can_be_written, CONFINED),
    ("a_link_leads_nowhere_else", a_link_leads_nowhere_else, CONFINED),
    ("a_granted_folder_that_became_a_link_is_refused", a_folder_that_became_a_link, CONFINED),
    ("no_right_can_be_gained", no_right_can_be_gained, CONFINED),
    ("nothing_is_inherited", nothing_is_inherited, ALL),
    ("the_temporary_folder_is_its_own", the_temporary_folder_is_its_own, FULL),
    ("modes_owners_and_times_of_others_stay", modes_and_times_stay, CONFINED),
    ("what_can_only_be_read_keeps_its_mode", what_can_only_be_read, CONFINED),
    ("a_file_cannot_be_exchanged_after_it_was_judged", exchanged, CONFINED),
    ("modes_owners_and_times_of_its_own_can_be_set", its_own_attributes, ALL),
    ("its_own_output_can_be_opened_by_name", output_by_name, ALL),
];

fn what_was_granted_can_be_changed(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    let tried = bench.sh("echo text > new && mkdir -p a/b && mv new a/b/ && cat a/b/new");
    assert_eq!((tried.output.as_str(), tried.error.as_str()), ("text\n", ""));
    assert_eq!(fs::read_to_string(bench.path("work/a/b/new"))?, "text\n");
    Ok(())
}

fn nothing_else_can_be_read(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    for path in ["$ROOT/private/secret", "/etc/shadow", "/root/.bashrc", "/var/log/dpkg.log"] {
        let tried = bench.sh(&format!("cat {path}"));
        assert_eq!((tried.output.as_str(), tried.outcome.ended.code), ("", Some(1)), "{path}");
    }
    for folder in ["$ROOT/private", "/root", "/home", "/var", "/sys", "/run", "/etc/ssl/private"] {
        let tried = bench.sh(&format!("ls -A {folder}"));
        assert_eq!((tried.output.as_str(), tried.outcome.ended.code), ("", Some(2)), "{folder}");
    }
    Ok(())
}

fn nothing_else_can_be_written(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    for path in ["$ROOT/private/new", "/usr/new", "/etc/new", "/new", "/dev/new", "/proc/new"] {
        let tried = bench.sh(&format!("touch {path}"));
        assert_eq!(tried.outcome.ended.code, Some(1), "{path}");
    }
    let tried = bench.sh("echo changed > $ROOT/private/secret; rm $ROOT/private/secret");
    assert_ne!(tried.outcome.ended.code, Some(0));
    assert_eq!(fs::read_to_string(bench.path("private/secret"))?, "secret");
    Ok(())
}

fn a_link_leads_nowhere_else(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    let tried = bench.sh("ln -s $ROOT/private out; cat out/secret; ln $ROOT/private/secret hard");
    assert_eq!((tried.output.as_str(), tried.outcome.ended.code), ("", Some(1)));
    Ok(())
}

fn a_folder_that_became_a_link(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    fs::rename(bench.path("work"), bench.path("moved"))?;
    symlink(bench.path("private"), bench.path("work"))?;
    let refused = bench.try_job(&bench.job("cat secret"));
    assert!(matches!(refused, Err(SpawnError::Setup { .. })), "{refused:?}");
    Ok(())
}

fn no_right_can_be_gained(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    let tried = bench.sh("grep -E '^(CapEff|CapPrm|CapInh|CapAmb):' /proc/self/status");
    assert!(tried.output.lines().all(|line| line.ends_with("\t0000000000000000")), "{tried:?}");
    assert_eq!(
        bench.sh("grep -E '^(NoNewPrivs|Seccomp):' /proc/self/status").output,
        "NoNewPrivs:\t1\nSeccomp:\t2\n"
    );
    let user = bench.sh("id -u");
    assert_ne!(user.output, "0\n", "never root");
    let calls: [(&str, &str); 4] = [
        ("unshare -Ur true", "unshare"),
        ("mount -t tmpfs none .", "mount"),
        ("chroot / true", "chroot"),
        (r#"python3 -c 'import ctypes; ctypes.CDLL(None).ptrace(0, 0, 0, 0)'"#, "ptrace"),
    ];
    for (command, call) in calls {
        let tried = bench.sh(&format!("{command} 2>/dev/null"));
        let refused = &tried.outcome.ended.refused;
        assert!(refused.contains(&call), "{command} was refused {refused:?}");
    }
    Ok(())
}

fn nothing_is_inherited(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    let secret = fs::File::open(bench.path("private/secret"))?;
    let tried =
        bench.sh("env | cut -d= -f1 | sort | tr '\\n' ' '; ls /proc/self/fd | tr '\\n' ' '");
    drop(secret);
    assert_eq!(tried.output, "PATH PWD ROOT 0 1 2 3 ");
    Ok(())
}

fn the_temporary_folder_is_its_own(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    assert_eq!(bench.sh("touch /tmp/left; ls /tmp").output, "left\n");
    assert_eq!(bench.sh("ls /tmp").output, "");
    Ok(())
}

fn modes_and_times_stay(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    let secret = bench.path("private/secret");
    let before = secret.metadata()?;
    bench.sh(
        "cd $ROOT/private 2>/dev/null; for f in $ROOT/private/secret secret; do chmod 777 $f; \
         chgrp $(id -g) $f; touch -m -d 2001-01-01 $f; done; \
         python3 -c 'import os; os.setxattr(\"secret\", \"user.x\", b\"y\")'",
    );
    bench.python(&format!(
        "import ctypes, os\n\
         fd = os.open({secret:?}, os.O_PATH)\n\
         for act in (lambda p: os.chmod(p, 0o777), lambda p: os.utime(p, (1, 1))):\n\
         \x20   try: act(f'/proc/self/fd/{{fd}}')\n\
         \x20   except OSError: pass\n\
         libc = ctypes.CDLL(None)\n\
         libc.syscall(452, fd, b'', 0o777, 0x1000)",
    ));
    let after = secret.metadata()?;
    let seen = |it: &fs::Metadata| (it.mode(), it.gid(), it.mtime(), it.ctime(), it.ctime_nsec());
    assert_eq!(seen(&after), seen(&before));
    let own =
        bench.sh("echo x > f && chmod 755 f && touch -d 2001-01-01 f && ls -l f | cut -c1-10");
    assert_eq!((own.output.as_str(), own.error.as_str()), ("-rwxr-xr-x\n", ""));
    Ok(())
}

fn output_by_name(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    let tried =
        bench.sh("echo one > /dev/stdout; echo two > /dev/stderr; echo three > /proc/self/fd/1");
    assert_eq!((tried.output.as_str(), tried.error.as_str()), ("one\nthree\n", "two\n"));
    Ok(())
}

/// Every way to change something, tried on a file by all names that lead to it.
const CHANGES: &str = r#"
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
target = sys.argv[1].encode()
folder, name = os.path.split(target)
def attempt(number, *arguments):
    libc.syscall(ctypes.c_long(number), *[ctypes.c_long(it) if isinstance(it, int) else it for it in arguments])
os.symlink(target, b'link')
times = (ctypes.c_long * 4)(1, 0, 1, 0)
at = os.open(folder, os.O_PATH)
files = [os.open(target, os.O_PATH)]
try: files.append(os.open(target, os.O_RDONLY))
except OSError: pass
for path in (target, b'link', b'../' * 40 + target, b'/proc/self/root' + target, b'/proc/self/fd/%d' % files[0], b'/dev/fd/%d' % files[0]):
    attempt(90, path, 0o777); attempt(92, path, -1, os.getgid()); attempt(94, path, -1, os.getgid())
    attempt(132, path, times); attempt(235, path, times); attempt(261, -100, path, times)
    attempt(268, -100, path, 0o777); attempt(452, -100, path, 0o777, 0)
    attempt(260, -100, path, os.getuid(), -1, 0); attempt(280, -100, path, times, 0)
    attempt(188, path, b'user.x', b'y', 1, 0); attempt(189, path, b'user.x', b'y', 1, 0)
    attempt(197, path, b'user.here'); attempt(198, path, b'user.here')
attempt(268, at, name, 0o777); attempt(280, at, name, times, 0); attempt(452, at, name, 0o777, 0x100)
for file in files:
    attempt(91, file, 0o777); attempt(93, file, -1, os.getgid()); attempt(280, file, 0, times, 0)
    attempt(190, file, b'user.x', b'y', 1, 0); attempt(199, file, b'user.here')
    attempt(452, file, b'', 0o777, 0x1000); attempt(280, file, b'', times, 0x1000); attempt(260, file, b'', -1, os.getgid(), 0x1000)
    attempt(16, file, 0x40086602, ctypes.byref(ctypes.c_long(0x80)))
print('tried')
"#;

/// What tells whether a file was changed in any way.
fn state(file: &std::path::Path) -> std::io::Result<(u32, u32, u32, i64, i64, i64)> {
    let it = file.metadata()?;
    Ok((it.mode(), it.uid(), it.gid(), it.mtime(), it.ctime(), it.ctime_nsec()))
}

/// A file that belongs to the user the program is, in a folder that it may only read.
fn what_can_only_be_read(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    if !cfg!(target_arch = "x86_64") {
        // Calls have other numbers there.
        return Ok(());
    }
    let (folder, file) = (bench.path("granted"), bench.path("granted/file"));
    fs::create_dir(&folder)?;
    fs::write(&file, "text")?;
    if let Some((user, group)) = unprivileged_owner() {
        std::os::unix::fs::chown(&file, Some(user), Some(group))?;
    }
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644))?;
    let target = if level == Level::Full { "/granted".into() } else { folder.clone() };
    let mut job = bench.job("");
    job.policy = job.policy.grant(&folder, &target, Access::Read);
    let argument = target.join("file");
    let before = state(&file)?;
    let changing = |path: PathBuf| arguments(["python3".into(), "-c".into(), CHANGES.into(), path]);
    job.program.command = changing(argument);
    let tried = bench.try_job(&job).map_err(|error| error.to_string())?;
    assert_eq!(tried.output, "tried\n", "{tried:?}");
    assert_eq!(state(&file)?, before);
    // One that was not granted at all.
    let secret = bench.path("private/secret");
    fs::set_permissions(bench.path("private"), fs::Permissions::from_mode(0o755))?;
    if let Some((user, group)) = unprivileged_owner() {
        std::os::unix::fs::chown(&secret, Some(user), Some(group))?;
    }
    let before = state(&secret)?;
    if level == Level::Landlock {
        fs::remove_file(bench.path("work/link"))?;
        job.program.command = changing(secret.clone());
        let tried = bench.try_job(&job).map_err(|error| error.to_string())?;
        assert_eq!(tried.output, "tried\n", "{tried:?}");
        assert!(tried.outcome.ended.refused.contains(&"fchmodat"), "{tried:?}");
    }
    assert_eq!(state(&secret)?, before);
    Ok(())
}

/// Two threads put a link and a path in place of others while a third changes modes through them.
fn exchanged(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    let secret = bench.path("private/secret");
    fs::set_permissions(bench.path("private"), fs::Permissions::from_mode(0o755))?;
    if let Some((user, group)) = unprivileged_owner() {
        std::os::unix::fs::chown(&secret, Some(user), Some(group))?;
    }
    let before = state(&secret)?;
    let tried = bench.python(&format!(
        "import ctypes, os, threading, time\n\
         libc = ctypes.CDLL(None); end = time.time() + 1.5; secret = {secret:?}.encode()\n\
         own = b'own'.ljust(len(secret), b'x')[:200]; open(own, 'w').close()\n\
         path = ctypes.create_string_buffer(secret)\n\
         os.symlink(secret, 'bad'); os.symlink(own, 'good'); os.symlink(own, 'link')\n\
         def links():\n\
         \x20   while time.time() < end:\n\
         \x20       for name in ('bad', 'good'): os.link(name, 'new', follow_symlinks=False); os.rename('new', 'link')\n\
         def paths():\n\
         \x20   while time.time() < end: path.value = secret; path.value = own\n\
         threads = [threading.Thread(target=it) for it in (links, paths)]\n\
         for it in threads: it.start()\n\
         made = 0\n\
         while time.time() < end:\n\
         \x20   made += libc.chmod(b'link', 0o777) == 0; made += libc.chmod(path, 0o777) == 0\n\
         for it in threads: it.join()\n\
         print(made > 0)"
    ));
    assert_eq!(tried.output, "True\n", "{tried:?}");
    assert_eq!(state(&secret)?, before);
    Ok(())
}

/// What tools do that keep modes and times.
fn its_own_attributes(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    let tried = bench.sh(
        "set -e; mkdir a b; echo x > a/f; chmod 754 a/f; touch -d '2001-02-03 04:05:06.789 UTC' a/f; \
         ln -s f a/l; touch -h -d '2002-01-01 UTC' a/l; \
         cp -p a/f b/copied; cp -a a/l b/l; install -m 711 a/f b/installed; tar cf - a | tar xpf - -C b; \
         chmod +x /proc/self/fd/0 < b/copied; (cd b && chmod -R g+w a && chgrp $(id -g) a/f); \
         stat -c '%a %.3Y %n' a/f b/copied b/installed b/a/f | sed 's/ [0-9]*\\.[0-9]* b.installed/ now/'; \
         stat -c '%Y' b/l; chmod 600 nothing 2>&1 || true; chmod 600 a/f/x 2>&1 || true",
    );
    assert_eq!(tried.error, "");
    assert_eq!(
        tried.output,
        "754 981173106.789 a/f\n755 981173106.789 b/copied\n711 now\n774 981173106.000 b/a/f\n\
         1009843200\n\
         chmod: cannot access 'nothing': No such file or directory\n\
         chmod: cannot access 'a/f/x': Not a directory\n"
    );
    let tried = bench.python(
        "import os, shutil\n\
         open('f', 'w').close(); file = os.open('f', os.O_RDWR); path = os.open('f', os.O_PATH)\n\
         os.fchmod(file, 0o640); os.utime(file, ns=(5, 6)); os.chown('f', -1, os.getgid())\n\
         os.utime(f'/proc/self/fd/{path}', ns=(7, 8)); os.chmod(f'/dev/fd/{path}', 0o641)\n\
         os.mkdir('d'); folder = os.open('d', 0); open('d/g', 'w').close()\n\
         os.chmod('g', 0o600, dir_fd=folder); os.utime('d', (9, 9)); os.utime('f', None)\n\
         try:\n\
         \x20   os.setxattr('f', 'user.x', b'y' * 100); assert os.getxattr('f', 'user.x') == b'y' * 100\n\
         \x20   os.removexattr(file, 'user.x'); assert os.listxattr('f') == []\n\
         except OSError as error: assert error.errno == 95, error\n\
         for wrong in (lambda: os.chmod('x' * 5000, 0), lambda: os.chmod('', 0), lambda: os.fchmod(99, 0)):\n\
         \x20   try: wrong(); print('worked')\n\
         \x20   except OSError as error: print(error.errno)\n\
         print(oct(os.stat('f').st_mode), oct(os.stat('d/g').st_mode), os.stat('d').st_mtime)",
    );
    assert_eq!(tried.output, "36\n2\n9\n0o100641 0o100600 9.0\n", "{tried:?}");
    Ok(())
}
