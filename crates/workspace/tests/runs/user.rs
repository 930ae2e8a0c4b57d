//! The same for an ordinary user, when the tests run as root.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

use libtest_mimic::{Failed, Trial};
use metier_sandbox::unprivileged_owner;

/// A user that nothing belongs to.
const USER: u32 = 64322;

pub(crate) fn trial() -> Option<Trial> {
    unprivileged_owner()?;
    Some(Trial::test("as_an_ordinary_user", run_as_user))
}

fn run_as_user() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777))?;
    let binary = folder.path().join("runs");
    fs::copy(std::env::current_exe()?, &binary)?;
    #[expect(clippy::disallowed_methods, reason = "the caller itself is what is tested")]
    let output = Command::new(&binary)
        .args(["--test-threads", "2"])
        // The engines of the tests are root's.
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")
        .env("TMPDIR", folder.path())
        .current_dir(folder.path())
        .gid(USER)
        .uid(USER)
        .output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    if output.status.success() { Ok(()) } else { Err(text.into_owned().into()) }
}
