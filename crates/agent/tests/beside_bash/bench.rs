//! A place in which a command runs twice: from its plan, and in bash.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Duration;

use metier_agent::host::{Machine, walk_of};
use metier_approval::{
    Approved, ArgumentRule, Ask, Entry, Mode, Policy as Rulebook, ProtectedPlaces, Rules, Verdict,
    judge, parse,
};
use metier_sandbox::{
    Cancel, Command, Job, Limits, Observer, Outcome, Policy, Program, Stream, run,
};
use tempfile::TempDir;

use crate::recorder;

/// Commands of bash that are programs too: those are meant.
const DISABLED: &str = "enable -n echo printf test [ true false pwd kill";
/// What everybody may run by its name.
const LISTED: &[&str] = &[
    "ok", "ok2", "bad", "bad7", "cat", "sort", "grep", "echo", "printf", "true", "false", "test",
    "[", "pwd", "ls",
];
const FILTERS: &[&str] = &["head", "tail", "wc", "tr", "cut", "uniq"];
/// What comes in.
const INPUT: &[u8] = b"one\ntwo\ntwo\nthree o=o\n";

/// Folders with programs, and one in which commands run.
pub(crate) struct Bench {
    root: PathBuf,
    /// Removes everything in the end.
    _folder: Option<TempDir>,
    machine: Machine,
    policy: Rulebook,
}

/// What a run left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) status: (Option<i32>, Option<i32>),
    pub(crate) output: Vec<u8>,
    pub(crate) error: Vec<u8>,
    /// What the recorders wrote.
    pub(crate) records: Vec<String>,
    /// All files, with what is in them.
    pub(crate) files: BTreeMap<PathBuf, Vec<u8>>,
}

impl Bench {
    pub(crate) fn new() -> Self {
        let folder = TempDir::new_in(std::env::temp_dir().canonicalize().unwrap()).unwrap();
        let bin = folder.path().join("bin");
        fs::create_dir(&bin).unwrap();
        // One program with many names: by some it is another file, and some are links to it.
        fs::copy(std::env::current_exe().unwrap(), bin.join("recorder")).unwrap();
        for name in ["ok", "bad", "other"] {
            fs::hard_link(bin.join("recorder"), bin.join(name)).unwrap();
        }
        for name in ["ok2", "bad7"] {
            symlink("recorder", bin.join(name)).unwrap();
        }
        let bench = Self::at(folder.path());
        Self { _folder: Some(folder), ..bench }
    }

    /// A place that somebody else made.
    pub(crate) fn at(root: &Path) -> Self {
        let root = root.to_owned();
        let bin = root.join("bin");
        let folders = vec![bin, "/usr/bin".into(), "/bin".into()];
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let start = root.join("place/start");
        let own = start.join("own").display().to_string();
        let entry = |pattern: &str| Entry {
            id: pattern.to_owned(),
            pattern: pattern.to_owned(),
            arguments: ArgumentRule::Any,
            directory: None,
        };
        let policy = Rulebook {
            rules: Rules { mode: Mode::Allowlist, ask: Ask::Off, fallback: Mode::Deny },
            entries: LISTED.iter().copied().chain([own.as_str()]).map(entry).collect(),
            remembered: Vec::new(),
            safe_programs: names(FILTERS),
            trusted_folders: folders.clone(),
            skill_programs: Vec::new(),
            writable: vec![start],
            variables: names(&["A", "B2", "_x"]),
            protected: ProtectedPlaces::default(),
        };
        Self { root, _folder: None, machine: Machine { path: folders }, policy }
    }

    /// Where commands start.
    pub(crate) fn start(&self) -> PathBuf {
        self.root.join("place/start")
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    fn log(&self) -> PathBuf {
        self.root.join("log")
    }

    /// Everything as it was.
    pub(crate) fn reset(&self) {
        let (place, start) = (self.root.join("place"), self.start());
        let _not_yet = fs::remove_dir_all(&place);
        for folder in ["sub/deep", "-d", "../side"] {
            fs::create_dir_all(start.join(folder)).unwrap();
        }
        for file in ["file", "sub/f", "sub/deep/file", "../up"] {
            fs::write(start.join(file), format!("text of\n{file}\nx=y\n")).unwrap();
        }
        symlink("../side", start.join("link")).unwrap();
        fs::hard_link(self.root.join("bin/recorder"), start.join("own")).unwrap();
        fs::write(self.log(), "").unwrap();
    }

    /// The plan of a command, if it may run.
    pub(crate) fn allowed(&self, text: &str) -> Option<Approved> {
        match judge(&parse(text), &self.start(), &self.machine, &self.policy) {
            Verdict::Allow(approved) => Some(approved),
            _ => None,
        }
    }

    /// What a plan does.
    pub(crate) fn walk(&self, approved: &Approved) -> Seen {
        self.run(Command::Plan(walk_of(approved)))
    }

    /// What bash does with a text. A line before it does not change how it is read.
    pub(crate) fn bash(&self, text: &str) -> Seen {
        let text = format!("{DISABLED}\n{text}");
        let words = ["/usr/bin/bash", "-c", "--", &text].map(OsString::from);
        self.run(Command::Arguments(words.to_vec()))
    }

    fn run(&self, command: Command) -> Seen {
        let path = std::env::join_paths(&self.machine.path).unwrap();
        let mut environment = vec![
            ("PATH".into(), path),
            ("LC_ALL".into(), "C.UTF-8".into()),
            ("x".into(), "expanded".into()),
            (recorder::LOG.into(), self.log().into()),
        ];
        // Every program of a plan has these, so that nothing waits for orders on a terminal.
        let quiet =
            [("GIT_PAGER", "cat"), ("LESSSECURE", "1"), ("MANPAGER", "cat"), ("PAGER", "cat")];
        environment.extend(quiet.map(|(name, value)| (name.into(), value.into())));
        let program = Program { command, environment, directory: self.start() };
        let limits = Limits { wall: Duration::from_secs(60), ..Limits::default() };
        let job = Job { program, policy: Policy::unconfined(), limits };
        let mut text = Text::default();
        let outcome = run(&job, INPUT, &mut text, &Cancel::new().unwrap()).unwrap();
        let Outcome { ended, timed_out, .. } = outcome;
        assert!(!timed_out && ended.changed.is_none(), "{ended:?}");
        let log = fs::read_to_string(self.log()).unwrap();
        Seen {
            status: (ended.code, ended.signal),
            output: text.output,
            error: text.error,
            records: log.lines().map(str::to_owned).collect(),
            files: files(&self.root.join("place")),
        }
    }
}

/// All files below a folder; folders and links have nothing in them.
fn files(top: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![top.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let kind = fs::symlink_metadata(&path).unwrap();
            if kind.is_dir() {
                folders.push(path.clone());
            }
            // The program is too long to be read each time, and is not written.
            let is_text = kind.is_file() && !path.ends_with("start/own");
            let content = if is_text { fs::read(&path).unwrap() } else { Vec::new() };
            files.insert(path, content);
        }
    }
    files
}

#[derive(Default)]
struct Text {
    output: Vec<u8>,
    error: Vec<u8>,
}

impl Observer for Text {
    fn output(&mut self, stream: Stream, bytes: &[u8]) {
        match stream {
            Stream::Output => self.output.extend_from_slice(bytes),
            Stream::Error => self.error.extend_from_slice(bytes),
        }
    }
}
