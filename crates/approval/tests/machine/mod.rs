//! A machine that is a table, and commands judged on it.

#![allow(dead_code, reason = "each test binary uses another part")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};

use metier_approval::{
    ArgumentRule, Ask, Basis, Entry, Executable, Facts, FileFact, Identity, Mode, Policy,
    ProtectedPlaces, Rules, SkillProgram, Verdict, judge, parse,
};

/// Where commands start.
pub(crate) const START: &str = "/proj";
/// Programs that the machine has in `/usr/bin`, and as links in `/bin`.
const PROGRAMS: &str = "arch ash awk base64 basename bash bunx bwrap caffeinate cat chroot cp curl cut date dd dirname \
    docker doas echo emacs env find firejail flock git grep head install ionice jq kubectl less ls make man node nc \
    nice nohup npm npx nsenter openssl perl php pkexec pnpm podman printf proot rm rsync ruby runuser scp script sed \
    setpriv setsid sh sort split ssh stdbuf strace su sudo systemd-run tail tar taskset tee time timeout touch tr \
    true uniq unshare uvx watch wc wget xargs yarn zip zsh gosu";

/// A machine.
#[derive(Clone, Debug, Default)]
pub(crate) struct Machine {
    /// Programs by path, and what each really is.
    pub(crate) programs: BTreeMap<PathBuf, PathBuf>,
    /// Folders by path, and what each really is.
    pub(crate) folders: BTreeMap<PathBuf, PathBuf>,
    /// Files by path, and what each really is.
    pub(crate) files: BTreeMap<PathBuf, PathBuf>,
    /// Real paths that others could replace.
    pub(crate) replaceable: BTreeSet<PathBuf>,
    /// Real paths that were written again, and how often.
    pub(crate) versions: BTreeMap<PathBuf, u64>,
    /// Configuration files of git by the folder of the repository; none where one cannot be read.
    pub(crate) settings: BTreeMap<PathBuf, Option<String>>,
    /// Where programs are looked for.
    pub(crate) path: Vec<PathBuf>,
    /// First lines of scripts, by real path.
    pub(crate) scripts: BTreeMap<PathBuf, Vec<String>>,
}

impl Machine {
    /// The one that most tests are about.
    pub(crate) fn new() -> Self {
        let mut machine = Self {
            path: ["/usr/local/bin", "/usr/bin", "/bin"].map(PathBuf::from).to_vec(),
            ..Self::default()
        };
        for name in PROGRAMS.split_whitespace() {
            machine.link(&format!("/usr/bin/{name}"), &format!("/usr/bin/{name}"));
            machine.link(&format!("/bin/{name}"), &format!("/usr/bin/{name}"));
        }
        machine.link("/usr/bin/python3", "/usr/bin/python3.11");
        machine.link("/usr/bin/vi", "/usr/bin/vim.basic");
        machine.link("/usr/bin/busybox", "/usr/bin/busybox");
        machine.link("/usr/local/bin/gog", "/usr/local/lib/gog/gog");
        machine.link("/proj/tool", "/proj/tool");
        machine.link("/proj/ls", "/proj/ls");
        machine.link("/proj/gog", "/proj/gog");
        for folder in ["/", "/proj", "/proj/sub", "/proj/.git", "/etc", "/home/me", "/usr/bin"] {
            machine.folders.insert(folder.into(), folder.into());
        }
        machine.folders.insert("/proj/link".into(), "/etc".into());
        machine.folders.insert("/proj/link/..".into(), "/".into());
        for file in
            ["/proj/file", "/proj/a", "/proj/b", "/proj/build.py", "/proj/run.sh", "/etc/passwd"]
        {
            machine.files.insert(file.into(), file.into());
        }
        machine.files.insert("/proj/away".into(), "/home/me/.profile".into());
        machine
    }

    /// Puts a program somewhere.
    pub(crate) fn link(&mut self, path: &str, real: &str) {
        self.programs.insert(path.into(), real.into());
        self.programs.insert(real.into(), real.into());
        self.files.insert(path.into(), real.into());
    }

    fn fact(&self, real: &Path) -> FileFact {
        let inode = real.as_os_str().len() as u64;
        let version = self.versions.get(real).copied().unwrap_or_default();
        let identity = Identity { device: 1, inode, size: version, ..Identity::default() };
        FileFact { real: real.to_owned(), identity }
    }

    /// What a folder really is, `..` at its end or on the way included.
    fn real_folder(&self, path: &Path) -> Option<PathBuf> {
        if let Some(real) = self.folders.get(path) {
            return Some(real.clone());
        }
        if !path.components().any(|part| part == Component::ParentDir) {
            return None;
        }
        let above = self.real_folder(path.parent()?)?;
        let next = match path.components().next_back()? {
            Component::ParentDir => above.parent().unwrap_or(&above).to_owned(),
            name => above.join(name),
        };
        self.folders.get(&next).cloned()
    }
}

impl Facts for Machine {
    fn executable(&self, directory: &Path, word: &str) -> Option<Executable> {
        let places = match word {
            "" => Vec::new(),
            _ if word.contains('/') => vec![normal(&directory.join(word))],
            _ => self.path.iter().map(|folder| folder.join(word)).collect(),
        };
        let path = places.into_iter().find(|place| self.programs.contains_key(place))?;
        let real = &self.programs[&path];
        let is_replaceable = self.replaceable.contains(real);
        let interpreter = self.scripts.get(real).cloned();
        Some(Executable { file: self.fact(real), path, is_replaceable, interpreter })
    }

    fn folder(&self, path: &Path) -> Option<FileFact> {
        self.real_folder(path).map(|real| self.fact(&real))
    }

    fn file(&self, directory: &Path, path: &str) -> Option<FileFact> {
        self.files.get(&normal(&directory.join(path))).map(|real| self.fact(real))
    }

    fn digest(&self, file: &FileFact) -> Option<String> {
        Some(format!("{}#{}", file.real.display(), file.identity.size))
    }

    fn repository_settings(&self, directory: &Path) -> Option<Vec<String>> {
        let all = directory.ancestors().filter_map(|folder| self.settings.get(folder));
        all.cloned().collect()
    }
}

fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}

/// The policy that somebody has who never set one, with entries: `name`, `name --args REGEX`,
/// `name --any-arguments`, `name --dir FOLDER`.
pub(crate) fn policy(entries: &[&str]) -> Policy {
    Policy {
        rules: Rules { mode: Mode::Allowlist, ask: Ask::OnMiss, fallback: Mode::Deny },
        entries: entries.iter().map(|text| entry(text)).collect(),
        remembered: Vec::new(),
        safe_programs: texts("cut uniq head tail tr wc"),
        trusted_folders: ["/bin", "/usr/bin", "/usr/local/bin"].map(PathBuf::from).to_vec(),
        skill_programs: vec![SkillProgram {
            name: "gog".to_owned(),
            real: "/usr/local/lib/gog/gog".into(),
            skill: "mail".to_owned(),
        }],
        writable: vec!["/proj".into()],
        variables: texts("TZ LANG LC_* CI"),
        protected: ProtectedPlaces {
            own: ["/home/me/.metier", "/etc/metier/config.toml", "/srv/workspaces"]
                .map(PathBuf::from)
                .to_vec(),
            session: ["/home/me/.metier/workspaces/1", "/srv/workspaces/1"]
                .map(PathBuf::from)
                .to_vec(),
            homes: vec!["/home/me".into()],
            skills: vec!["/srv/skills".into()],
            programs: ["/usr/local/bin", "/usr/bin", "/home/me/bin"].map(PathBuf::from).to_vec(),
        },
    }
}

/// An entry as it is written for [`policy`].
pub(crate) fn entry(text: &str) -> Entry {
    let (rest, directory) = match text.split_once(" --dir ") {
        Some((rest, directory)) => (rest, Some(directory.into())),
        None => (text, None),
    };
    let (pattern, arguments) = match rest.split_once(" --args ") {
        Some((pattern, arguments)) => (pattern, ArgumentRule::Like(arguments.to_owned())),
        None => match rest.strip_suffix(" --any-arguments") {
            Some(pattern) => (pattern, ArgumentRule::Any),
            None => (rest, ArgumentRule::Known),
        },
    };
    Entry { id: text.to_owned(), pattern: pattern.to_owned(), arguments, directory }
}

/// Words of a text.
pub(crate) fn texts(text: &str) -> Vec<String> {
    text.split_whitespace().map(str::to_owned).collect()
}

/// What is decided about a command, as text.
pub(crate) fn decide(command: &str, machine: &Machine, policy: &Policy) -> String {
    render(&judge(&parse(command), Path::new(START), machine, policy))
}

/// Lines of commands, each with what is decided about it.
pub(crate) fn table(commands: &[&str], policy: &Policy) -> String {
    let machine = Machine::new();
    let mut lines = String::new();
    for command in commands {
        let _infallible =
            writeln!(lines, "{}\n  {}", command.escape_debug(), decide(command, &machine, policy));
    }
    lines
}

/// A verdict as text.
pub(crate) fn render(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Allow(approved) => {
            let programs: Vec<String> = approved
                .programs
                .iter()
                .map(|judged| {
                    let inner = judged.inner.iter().map(|(_, inner)| &inner.file.real);
                    let real = [&judged.program.file.real].into_iter().chain(inner);
                    let names: Vec<_> = real.map(|path| path.display().to_string()).collect();
                    format!("{} by {}", names.join(" > "), by(judged.basis.as_ref()))
                })
                .collect();
            format!("allow: {}", programs.join(", "))
        }
        Verdict::AllowText { reason } => format!("allow the text: {reason}"),
        Verdict::Ask { reason, plan, offer } => {
            let plan = if plan.is_some() { "" } else { " [no plan]" };
            let offer = offer.as_ref().map_or(String::new(), |offer| {
                let words: Vec<_> =
                    offer.iter().map(|pinned| pinned.command.words.join(" ")).collect();
                format!(" [always: {}]", words.join(", "))
            });
            format!("ask: {reason}{plan}{offer}")
        }
        Verdict::Deny { reason } => format!("deny: {reason}"),
    }
}

fn by(basis: Option<&Basis>) -> String {
    match basis {
        Some(Basis::Entry(id)) => format!("`{id}`"),
        Some(Basis::Remembered(id)) => format!("memory of {id}"),
        Some(Basis::Safe) => "filter".to_owned(),
        Some(Basis::Skill(skill)) => format!("skill {skill}"),
        Some(Basis::Full) => "everything".to_owned(),
        None => "nobody".to_owned(),
    }
}
