//! The tests of a binary once more, as somebody for whom everything works differently underneath.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// Users that nothing belongs to.
const USERS: std::ops::Range<u32> = 64_000..65_000;

/// The program that takes rights away.
const SETPRIV: &str = "/usr/bin/setpriv";
/// What root may do in a container that nobody gave more to; above all it may not mount.
const RIGHTS_IN_A_CONTAINER: &str = "-all,+chown,+dac_override,+fowner,+fsetid,+kill,+setgid,\
    +setuid,+setpcap,+net_bind_service,+net_raw,+sys_chroot,+mknod,+audit_write,+setfcap";

/// What says to a process that nothing can confine its programs.
const UNCONFINABLE: &str = "METIER_TEST_UNCONFINABLE";
/// Runs a command that cannot make some calls, which come first, by name: neither can its programs.
const WITHOUT_CALLS: &str = r#"
import ctypes, os, platform, struct, sys
numbers = {"unshare": {"x86_64": 272, "aarch64": 97}[platform.machine()], "landlock_create_ruleset": 444}
refused = [numbers[name] for name in sys.argv[1].split(",")]
steps = [(0x20, 0, 0, 0)]                    # the number of the call
for number in refused:
    steps += [(0x15, 0, 1, number), (0x06, 0, 0, 0x00050000 | 38)]  # ENOSYS
steps += [(0x06, 0, 0, 0x7FFF0000)]          # allowed
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *it) for it in steps))
program = ctypes.create_string_buffer(struct.pack("HP", len(steps), ctypes.addressof(code)))
libc = ctypes.CDLL(None, use_errno=True)
for call in [(38, 1, 0, 0, 0), (22, 2, ctypes.c_void_p(ctypes.addressof(program)), 0, 0)]:
    if libc.prctl(*call) != 0:
        sys.exit(os.strerror(ctypes.get_errno()))
os.execv(sys.argv[2], sys.argv[2:])
"#;

/// What comes before a command to run it without some system calls.
pub(crate) fn without_calls(names: &[&str]) -> [String; 4] {
    ["python3".into(), "-c".into(), WITHOUT_CALLS.into(), names.join(",")]
}

/// A user that nothing belongs to, one for each caller: some limits are counted by user.
pub(crate) fn ordinary_user() -> u32 {
    USERS.start + std::process::id() % USERS.len() as u32
}

/// What comes before a command to run it with the rights that root has in a container.
pub fn as_root_of_a_container() -> [&'static str; 3] {
    [SETPRIV, "--bounding-set", RIGHTS_IN_A_CONTAINER]
}

/// Runs those tests of this binary whose names contain a text, with the rights that root has in a
/// container; only root can.
///
/// # Errors
///
/// With what the tests wrote, when one failed or there was none.
pub fn run_as_root_of_a_container(tests: &str) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let again = again(folder.path()).map_err(|error| error.to_string())?;
    let [program, arguments @ ..] = as_root_of_a_container();
    let mut command = Command::new(program);
    command.args(arguments).arg(again.get_program()).args(again.get_args()).arg(tests);
    command.env_clear().envs(again.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let text = run(command.current_dir(folder.path()))?;
    if text.contains("running 0 tests") { Err(text) } else { Ok(()) }
}

/// Whether this process runs where nothing can confine programs, because [`run_without_sandbox`] started it.
pub fn is_without_sandbox() -> bool {
    std::env::var_os(UNCONFINABLE).is_some()
}

/// Runs those tests of this binary whose names contain a text where nothing can confine programs, as on a kernel that has
/// neither namespaces nor Landlock.
///
/// # Errors
///
/// With what the tests wrote, when one failed or there was none.
pub fn run_without_sandbox(tests: &str) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let again = again(folder.path()).map_err(|error| error.to_string())?;
    let [program, arguments @ ..] = without_calls(&["unshare", "landlock_create_ruleset"]);
    let mut command = Command::new(program);
    command.args(arguments).arg(again.get_program()).args(again.get_args());
    let text = run(command.arg(tests).env(UNCONFINABLE, "1").env("TMPDIR", folder.path()))?;
    if text.contains("running 0 tests") { Err(text) } else { Ok(()) }
}

/// Runs the tests of this binary as an ordinary user, those apart whose names contain one of some texts; only
/// root can. The environment is not passed on: what it names (engines, say) is root's.
///
/// # Errors
///
/// With what the tests wrote, when one failed.
pub fn run_as_ordinary_user(apart: &[&str]) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let mut command = again(folder.path()).map_err(|error| error.to_string())?;
    command.args(apart.iter().flat_map(|text| ["--skip", text]));
    let user = ordinary_user();
    run(command.gid(user).uid(user)).map(drop)
}

/// This binary as a copy that everybody may start, in a folder that everybody may use.
pub(crate) fn again(folder: &Path) -> std::io::Result<Command> {
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

pub(crate) fn run(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| error.to_string())?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let complaint = || format!("{text}{}", String::from_utf8_lossy(&output.stderr));
    if output.status.success() { Ok(text) } else { Err(complaint()) }
}
