//! Plans for tests, read from text that a shell understands too.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

use metier_sandbox::{
    Cancel, Command, Descriptor, Job, Joint, Pin, SpawnError, To, Walk, WalkStep, Walked, run,
};

use crate::bench::{Bench, Text, Tried, arguments};

/// Folders in which programs are looked for.
const PATH: [&str; 2] = ["/usr/bin", "/bin"];

impl Bench {
    /// A plan from words, `'…'`, `|`, `;`, `&&`, `||` and redirections that stand alone. `cd .` is a step without
    /// programs.
    pub(crate) fn plan(&self, text: &str) -> Walk {
        let mut steps = vec![WalkStep { joint: Joint::Always, programs: vec![self.empty()] }];
        for Word { text, is_quoted } in words(text) {
            let joint = match text.as_str() {
                _ if is_quoted => None,
                ";" => Some(Joint::Always),
                "&&" => Some(Joint::Success),
                "||" => Some(Joint::Failure),
                _ => None,
            };
            if let Some(joint) = joint {
                steps.push(WalkStep { joint, programs: vec![self.empty()] });
                continue;
            }
            let programs = &mut steps.last_mut().expect("there is always one").programs;
            if text == "|" && !is_quoted {
                programs.push(self.empty());
                continue;
            }
            let program = programs.last_mut().expect("there is always one");
            let redirection = self.redirection(&text).filter(|_| !is_quoted);
            match redirection {
                Some(redirection) => program.redirections.push(redirection),
                None if program.arguments.is_empty() => {
                    program.executable = self.executable(&text);
                    program.arguments.push(text.into());
                }
                None => program.arguments.push(text.into()),
            }
        }
        for step in &mut steps {
            step.programs.retain(|program| program.arguments != ["cd", "."]);
        }
        Walk { steps }
    }

    fn empty(&self) -> Walked {
        Walked {
            executable: PathBuf::new(),
            arguments: Vec::new(),
            environment: Vec::new(),
            directory: self.work(),
            redirections: Vec::new(),
            pins: Vec::new(),
            places: Vec::new(),
        }
    }

    fn redirection(&self, text: &str) -> Option<(Descriptor, To)> {
        let (descriptor, rest) = match text.strip_prefix('2') {
            Some(rest) => (Descriptor::Error, rest),
            None if text.starts_with('<') => (Descriptor::Input, text),
            None => (Descriptor::Output, text),
        };
        let file = |name: &str| self.work().join(name);
        let to = match rest {
            ">&1" => To::Same(Descriptor::Output),
            ">&2" => To::Same(Descriptor::Error),
            ">/dev/null" | "</dev/null" => To::Nothing,
            _ => {
                let append = rest.strip_prefix(">>").map(|name| To::Append(file(name)));
                let write = rest.strip_prefix('>').map(|name| To::Write(file(name)));
                append.or(write).or(rest.strip_prefix('<').map(|name| To::Read(file(name))))?
            }
        };
        Some((descriptor, to))
    }

    /// The program that a word stands for.
    fn executable(&self, word: &str) -> PathBuf {
        if let Some(own) = word.strip_prefix("./") {
            return self.work().join(own);
        }
        let found = PATH.iter().map(|folder| Path::new(folder).join(word));
        let real = |path: PathBuf| path.canonicalize().ok();
        found.filter_map(real).next().unwrap_or_else(|| Path::new("/usr/bin").join(word))
    }

    /// Something in the working folder as it is now, named as the program sees it.
    pub(crate) fn pin(&self, inside: &str) -> Pin {
        let pin = Pin::of(&self.path("work").join(inside)).expect("it is there");
        Pin { path: self.work().join(inside), ..pin }
    }

    pub(crate) fn job_of(&self, walk: Walk) -> Job {
        let mut job = self.job("");
        job.program.command = Command::Plan(walk);
        job
    }

    pub(crate) fn try_walk(&self, walk: Walk) -> Result<Tried, SpawnError> {
        self.try_job(&self.job_of(walk))
    }

    /// Runs a text as a plan.
    pub(crate) fn walk(&self, text: &str) -> Tried {
        self.try_walk(self.plan(text)).expect("it starts")
    }

    /// Runs the same text in a shell.
    pub(crate) fn bash(&self, text: &str) -> Tried {
        let mut job = self.job("");
        job.program.command = arguments(["bash", "-c", text]);
        self.try_job(&job).expect("it starts")
    }

    /// Runs a text as a plan, with input.
    pub(crate) fn walk_with(&self, text: &str, input: &[u8]) -> Tried {
        let mut read = Text::default();
        let job = self.job_of(self.plan(text));
        let cancel = Cancel::new().expect("an event");
        let outcome = run(&job, input, &mut read, &cancel).expect("it starts");
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        Tried { outcome, output: text(read.output), error: text(read.error) }
    }

    /// Writes a program into the working folder.
    pub(crate) fn script(&self, name: &str, text: &str) {
        use std::os::unix::fs::PermissionsExt;
        let path = self.path("work").join(name);
        fs::write(&path, text).expect("a file");
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("ours");
    }
}

struct Word {
    text: String,
    is_quoted: bool,
}

fn words(text: &str) -> Vec<Word> {
    let mut letters: VecDeque<char> = text.trim().chars().collect();
    let mut words = Vec::new();
    while let Some(first) = letters.front().copied() {
        let is_quoted = first == '\'';
        let end = if is_quoted { '\'' } else { ' ' };
        if is_quoted || first == ' ' {
            letters.pop_front();
        }
        if first == ' ' {
            continue;
        }
        let length = letters.iter().position(|letter| *letter == end).unwrap_or(letters.len());
        let text = letters.drain(..length).collect();
        letters.pop_front();
        words.push(Word { text, is_quoted });
    }
    words
}
