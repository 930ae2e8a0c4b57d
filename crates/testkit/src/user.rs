//! The tests of a binary once more, for whom everything works differently underneath.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// Users that nothing belongs to.
const USERS: std::ops::Range<u32> = 64_000..65_000;

/// Runs all tests of this binary as an ordinary user; only root can. The environment is not passed on:
/// what it names (engines, say) is root's.
///
/// # Errors
///
/// With what the tests wrote, when one failed.
pub fn run_as_ordinary_user() -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let mut command = again(folder.path()).map_err(|error| error.to_string())?;
    // One for each caller: some limits are counted by user.
    let user = USERS.start + std::process::id() % USERS.len() as u32;
    run(command.gid(user).uid(user))
}

/// This binary as a copy that everybody may start, in a folder that everybody may use.
fn again(folder: &Path) -> std::io::Result<Command> {
    fs::set_permissions(folder, fs::Permissions::from_mode(0o777))?;
    let binary = folder.join("tests");
    fs::copy(std::env::current_exe()?, &binary)?;
    let mut command = Command::new(&binary);
    command
        .args(["--test-threads", "2"])
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin")
        .env("TMPDIR", folder)
        .current_dir(folder);
    Ok(command)
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|error| error.to_string())?;
    let text = || String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.success() { Ok(()) } else { Err(text()) }
}
