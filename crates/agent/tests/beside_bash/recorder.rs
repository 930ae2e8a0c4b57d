//! The program that stands for most programs: it writes down how it was started, and reads and writes.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::process::ExitCode;

/// Names the file that records are added to.
pub(crate) const LOG: &str = "METIER_RECORD";

/// Variables that bash sets for what it starts.
const OF_BASH: &[&str] = &["OLDPWD", "PWD", "SHLVL", "_"];

/// How it ends by the name that it is called by.
const STATUSES: &[(&str, u8)] =
    &[("ok", 0), ("ok2", 0), ("own", 0), ("bad", 1), ("bad7", 7), ("other", 0)];
/// How it ends if nobody knows its name.
const UNKNOWN: u8 = 99;

/// Writes a record, if this process is a recorder, and says how it ends.
pub(crate) fn run_if_asked() -> Option<ExitCode> {
    let log = std::env::var_os(LOG)?;
    let words: Vec<String> = std::env::args().collect();
    let variables: BTreeMap<String, String> =
        std::env::vars().filter(|(name, _)| !OF_BASH.contains(&name.as_str())).collect();
    let folder = std::env::current_dir().unwrap();
    let record = format!("{words:?}\t{variables:?}\t{folder:?}\t{}\n", files());
    // One call, so that programs of a pipeline do not mix.
    OpenOptions::new().append(true).open(log).unwrap().write_all(record.as_bytes()).unwrap();
    let mut input = Vec::new();
    let _unreadable = io::stdin().read_to_end(&mut input);
    let name = words[0].rsplit('/').next().unwrap();
    let read = input.iter().fold(7_u64, |sum, byte| sum.wrapping_mul(31) + u64::from(*byte));
    // Nobody need listen.
    let _closed = io::stdout().write_all(format!("{name} {} {read}\n", words.len()).as_bytes());
    let _closed = io::stderr().write_all(format!("{name} says so\n").as_bytes());
    let known = STATUSES.iter().find(|(known, _)| *known == name);
    Some(ExitCode::from(known.map_or(UNKNOWN, |(_, status)| *status)))
}

/// What is behind the three descriptors. Pipes are told apart by who else is the same.
fn files() -> String {
    let links = [0, 1, 2].map(|descriptor| {
        let path = fs::read_link(format!("/proc/self/fd/{descriptor}")).unwrap();
        let state = fs::read_to_string(format!("/proc/self/fdinfo/{descriptor}")).unwrap();
        let flags = state.lines().find_map(|line| line.strip_prefix("flags:")).unwrap();
        let flags = u32::from_str_radix(flags.trim(), 8).unwrap();
        (path.to_string_lossy().into_owned(), flags & 3, flags & 0o2000 != 0)
    });
    let named = links.iter().map(|(path, mode, is_appended)| {
        let first = links.iter().position(|(other, ..)| other == path).unwrap();
        let path = if path.starts_with("pipe:") { "pipe" } else { path };
        // How nothing is open does not matter.
        let how = if path == "/dev/null" { "" } else { &format!(" {mode} {is_appended}") };
        format!("{path:?}{how} like {first}")
    });
    named.collect::<Vec<_>>().join(", ")
}
