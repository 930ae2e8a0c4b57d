//! Files: what was granted can be reached, and nothing else.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};

use libtest_mimic::Failed;
use metier_sandbox::{Level, SpawnError};

use crate::bench::Bench;
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
    ("modes_owners_and_times_of_others_stay", modes_and_times_stay, FULL),
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
