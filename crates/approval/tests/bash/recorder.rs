//! The program that stands for every program: it writes down how it was started.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

/// Names the file that records are added to.
pub(crate) const LOG: &str = "METIER_RECORD";

/// Names the folder that everything happens below.
pub(crate) const TOP: &str = "METIER_RECORD_TOP";

/// Variables that bash sets for what it starts.
const OF_BASH: &[&str] = &["OLDPWD", "PATH", "PWD", "SHLVL", "_", LOG, TOP];

/// How a program was started. Paths are seen from the folder that everything happens below.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Record {
    pub(crate) words: Vec<String>,
    pub(crate) variables: BTreeMap<String, String>,
    pub(crate) folder: String,
    /// The files behind its three descriptors, and how they are open.
    pub(crate) files: [String; 3],
}

impl Record {
    /// As a line; fields are escaped and have no tabs in them.
    pub(crate) fn line(&self) -> String {
        let [input, output, error] = &self.files;
        format!(
            "{:?} {:?} {:?}\t{input:?}\t{output:?}\t{error:?}\n",
            self.words, self.variables, self.folder
        )
    }
}

/// Whether a program of this name is there, and succeeds.
pub(crate) fn succeeds(name: &str) -> Option<bool> {
    PROGRAMS.contains(&name).then(|| name.starts_with("yes"))
}

/// The programs that are there.
pub(crate) const PROGRAMS: &[&str] = &["yes", "yes2", "no", "no2"];

/// Writes a record, if this process is a recorder, and says how it ends.
pub(crate) fn run_if_asked() -> Option<ExitCode> {
    let log = std::env::var_os(LOG)?;
    let top = std::env::var_os(TOP).unwrap();
    let words: Vec<String> = std::env::args().collect();
    let variables = std::env::vars().filter(|(name, _)| !OF_BASH.contains(&name.as_str()));
    let record = Record {
        variables: variables.collect(),
        folder: below(Path::new(&top), &std::env::current_dir().unwrap()),
        files: [0, 1, 2].map(|descriptor| file(Path::new(&top), descriptor)),
        words,
    };
    // One call, so that programs of a pipeline do not mix.
    OpenOptions::new().append(true).open(log).unwrap().write_all(record.line().as_bytes()).unwrap();
    let is_success = succeeds(&record.words[0]).unwrap();
    Some(if is_success { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A path seen from a folder above it.
pub(crate) fn below(top: &Path, path: &Path) -> String {
    path.strip_prefix(top).unwrap_or(path).to_str().unwrap().to_owned()
}

/// What is behind a descriptor: a path with its mode, or a pipe.
fn file(top: &Path, descriptor: u8) -> String {
    let path = fs::read_link(format!("/proc/self/fd/{descriptor}")).unwrap();
    let path = below(top, &path);
    if path.starts_with("pipe:") || path == "/dev/null" {
        return path;
    }
    let state = fs::read_to_string(format!("/proc/self/fdinfo/{descriptor}")).unwrap();
    let flags = state.lines().find_map(|line| line.strip_prefix("flags:")).unwrap();
    let flags = u32::from_str_radix(flags.trim(), 8).unwrap();
    format!("{path} {}", mode(flags & 3 != 0, flags & 0o2000 != 0))
}

/// How a file is open.
pub(crate) fn mode(is_written: bool, is_appended: bool) -> &'static str {
    match (is_written, is_appended) {
        (false, _) => "read",
        (true, false) => "written",
        (true, true) => "appended",
    }
}
