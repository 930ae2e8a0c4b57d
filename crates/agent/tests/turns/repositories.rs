//! Hostile git repositories: what their own settings name is not started, with the real git.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use libtest_mimic::Failed;
use metier_agent::host::{Decision, Machine, walk_of};
use metier_approval::{
    Approved, ArgumentRule, Ask, Entry, Mode, Policy, ProtectedPlaces, Rules, Verdict, judge, parse,
};
use metier_sandbox::{
    Cancel, Command as Work, Job, Limits, Observer, Policy as Confinement, Program, Stream, run,
};
use tempfile::TempDir;

use crate::Test;
use crate::host::{OnHost, Person};

pub(crate) const TESTS: &[Test] = &[
    ("repositories::a_model_does_not_build_a_repository", built),
    (
        "repositories::git_starts_no_program_that_a_repository_names_whatever_the_subcommand",
        loaders,
    ),
    ("repositories::no_covered_use_of_git_starts_a_program_of_a_repository", every_subcommand),
    ("repositories::git_in_a_text_for_a_shell_starts_no_program_of_a_repository", in_a_text),
    ("repositories::hooks_of_a_repository_do_not_run_even_if_a_person_allows_a_commit", hooks),
    ("repositories::settings_in_the_home_of_commands_are_not_read", home),
    ("repositories::a_lazy_fetch_does_not_start_the_uploadpack_program", lazy_fetch),
    ("repositories::a_submodule_does_not_bring_its_filters_along", submodule),
    ("repositories::git_does_not_compare_inside_of_submodules", compared_submodule),
    ("repositories::settings_with_drivers_need_an_entry_for_the_folder", drivers),
];

const SYSTEM_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// A hostile setting, and commands by which plain git starts the program that it names.
struct Loader {
    key: &'static str,
    /// What else must be set.
    also: &'static [(&'static str, &'static str)],
    commands: &'static [&'static str],
}

const LOADERS: &[Loader] = &[
    Loader {
        key: "core.fsmonitor",
        also: &[],
        commands: &[
            "git check-ignore a.txt",
            "git status",
            "git diff-tree -p HEAD",
            "git ls-files -m",
        ],
    },
    Loader {
        key: "gpg.program",
        also: &[("log.showSignature", "true")],
        commands: &["git log signed", "git show signed", "git log '--format=%G?' signed"],
    },
    Loader {
        key: "gpg.ssh.program",
        also: &[("gpg.ssh.allowedSignersFile", "/dev/null")],
        commands: &["git log '--format=%G?' ssh-signed", "git verify-commit ssh-signed"],
    },
    Loader {
        key: "gpg.ssh.defaultKeyCommand",
        also: &[("gpg.format", "ssh")],
        commands: &["git commit -S --allow-empty -m x"],
    },
    Loader { key: "core.editor", also: &[], commands: &["git commit --allow-empty"] },
    Loader { key: "sequence.editor", also: &[], commands: &["git rebase -i --autostash HEAD~1"] },
    Loader { key: "core.sshCommand", also: &[], commands: &["git ls-remote ssh://127.0.0.1:9/x"] },
    Loader { key: "credential.helper", also: &[], commands: &["git credential fill"] },
    Loader { key: "credential.https://h.helper", also: &[], commands: &["git credential fill"] },
    Loader { key: "core.askPass", also: &[], commands: &["git credential fill"] },
    Loader {
        key: "core.alternateRefsCommand",
        also: &[],
        commands: &["git rev-list --alternate-refs"],
    },
    Loader {
        key: "interactive.diffFilter",
        also: &[("color.ui", "always")],
        commands: &["git add -p"],
    },
    Loader {
        key: "diff.external",
        also: &[],
        commands: &[
            "git diff",
            "timeout 9 git diff HEAD~1",
            "/usr/bin/git --no-pager diff",
            "echo HEAD | xargs git diff",
        ],
    },
    Loader {
        key: "diff.dd.textconv",
        also: &[],
        commands: &[
            "git diff",
            "git log -p",
            "git show",
            "git blame a.txt",
            "git stash list -p",
            "env git show HEAD",
        ],
    },
    Loader { key: "diff.dd.command", also: &[], commands: &["git diff HEAD~1"] },
    Loader {
        key: "remote.origin.uploadpack",
        also: &[("remote.origin.url", ".")],
        commands: &["git fetch origin", "git ls-remote origin"],
    },
    Loader {
        key: "remote.origin.receivepack",
        also: &[("remote.origin.url", ".")],
        commands: &["git push origin HEAD:refs/heads/other"],
    },
];

/// A folder with repositories, and one in which programs of repositories leave a mark.
struct Laboratory {
    _folder: TempDir,
    root: PathBuf,
}

#[derive(Default)]
struct Heard(Vec<u8>);

impl Observer for Heard {
    fn output(&mut self, _stream: Stream, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
}

impl Laboratory {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["home", "marks", "tree"] {
            fs::create_dir(root.join(name)).unwrap();
        }
        let laboratory = Self { _folder: folder, root };
        laboratory.build();
        laboratory
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// A repository with two commits, a stash, two signatures and an alternate, and nothing hostile in it yet.
    fn build(&self) {
        let tree = self.at("tree");
        self.git(&tree, "git init -q . && git config user.email a@b && git config user.name a");
        fs::write(tree.join(".gitattributes"), "a.txt diff=dd filter=ff\n").unwrap();
        self.git(&tree, "echo one > a.txt && git add . && git commit -qm one");
        self.git(&tree, "echo two > a.txt && git commit -qam two");
        self.git(&tree, "echo stashed > a.txt && git stash -q && git checkout -q -b side");
        for (branch, kind) in [("signed", "PGP"), ("ssh-signed", "SSH")] {
            let signature =
                format!("-----BEGIN {kind} SIGNATURE-----\n AAAA\n -----END {kind} SIGNATURE-----");
            let commit = format!(
                "author a <a@b> 1 +0000\ncommitter a <a@b> 1 +0000\ngpgsig {signature}\n\nsigned\n"
            );
            fs::write(self.at("commit"), commit).unwrap();
            let text = format!(
                "(echo tree $(git rev-parse HEAD^{{tree}}); cat ../commit) > ../whole && git update-ref refs/heads/{branch} $(git hash-object -t commit -w ../whole)"
            );
            self.git(&tree, &text);
        }
        self.git(&tree, "git clone -q --shared . ../alternate && echo $PWD/../alternate/.git/objects > .git/objects/info/alternates");
        // The same length, so that only its content tells.
        fs::write(tree.join("a.txt"), "six\n").unwrap();
    }

    /// A program that leaves a mark of this name.
    fn program(&self, name: &str) -> String {
        let path = self.at(&format!("{name}.sh"));
        let text = format!("#!/bin/sh\ntouch {}\nexit 1\n", self.at("marks").join(name).display());
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.display().to_string()
    }

    fn set(&self, folder: &str, key: &str, value: &str) {
        self.git(&self.at(folder), &format!("git config '{key}' '{value}'"));
    }

    /// All hostile settings without names that only drivers have, and hooks.
    fn arm(&self) {
        for loader in LOADERS.iter().filter(|loader| !loader.key.starts_with("diff.")) {
            self.set("tree", loader.key, &self.program(loader.key.replace('/', "-").as_str()));
            for (key, value) in loader.also {
                self.set("tree", key, value);
            }
        }
        let hook = self.program("hook");
        for name in
            "pre-commit post-index-change post-checkout reference-transaction pre-push".split(' ')
        {
            fs::copy(&hook, self.at("tree/.git/hooks").join(name)).unwrap();
        }
    }

    /// Runs a text by a shell, without any of what a plan has around it.
    fn git(&self, folder: &Path, text: &str) {
        let status = self.plain(folder, text);
        assert!(status, "{text}");
    }

    #[expect(clippy::disallowed_methods, reason = "what plain git does is what the test is about")]
    fn plain(&self, folder: &Path, text: &str) -> bool {
        fs::write(self.at("input"), "protocol=https\nhost=h\n\n").unwrap();
        let mut command = Command::new("/bin/sh");
        command.args(["-c", text]).current_dir(folder).env_clear();
        command.env("PATH", SYSTEM_PATH).env("HOME", self.at("home"));
        command.stdin(fs::File::open(self.at("input")).unwrap());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.status().unwrap().success()
    }

    /// What may run of a command in a folder.
    fn judged(&self, text: &str, folder: &str, policy: &Policy) -> Verdict {
        let machine = Machine { path: std::env::split_paths(SYSTEM_PATH).collect() };
        judge(&parse(text), &self.at(folder), &machine, policy)
    }

    /// Runs a plan as it is run on the host, and gives what it wrote.
    fn walk(&self, approved: &Approved, folder: &str) -> String {
        let environment =
            vec![("PATH".into(), SYSTEM_PATH.into()), ("HOME".into(), self.at("home").into())];
        let command = Work::Plan(walk_of(approved));
        let program = Program { command, environment, directory: self.at(folder) };
        let limits = Limits { wall: Duration::from_secs(60), ..Limits::default() };
        let job = Job { program, policy: Confinement::unconfined(), limits };
        let mut heard = Heard::default();
        let input = b"protocol=https\nhost=h\n\n";
        run(&job, input, &mut heard, &Cancel::new().unwrap()).unwrap();
        String::from_utf8_lossy(&heard.0).into_owned()
    }

    /// Runs a command from its plan, which must leave no mark, and then as it is, which must leave one.
    fn try_attack(&self, command: &str, folder: &str, policy: &Policy) -> Result<(), Failed> {
        let Verdict::Allow(plan) = self.judged(command, folder, policy) else {
            return Err(format!("{command} is not allowed").into());
        };
        self.marks();
        let wrote = self.walk(&plan, folder);
        assert!(self.marks().is_empty(), "`{command}` ran a program of the repository: {wrote}");
        let _status = self.plain(&self.at(folder), command);
        assert_eq!(self.marks(), ["mark"], "`{command}` is no attack: {wrote}");
        Ok(())
    }

    /// Marks that programs left, which are taken away.
    fn marks(&self) -> Vec<String> {
        let marks = fs::read_dir(self.at("marks")).unwrap().map(|mark| mark.unwrap());
        let names = marks.map(|mark| {
            fs::remove_file(mark.path()).unwrap();
            mark.file_name().to_string_lossy().into_owned()
        });
        names.collect()
    }
}

fn policy(mode: Mode, entries: Vec<Entry>) -> Policy {
    Policy {
        rules: Rules { mode, ask: Ask::Off, fallback: Mode::Deny },
        entries,
        remembered: Vec::new(),
        safe_programs: Vec::new(),
        trusted_folders: std::env::split_paths(SYSTEM_PATH).collect(),
        skill_programs: Vec::new(),
        writable: Vec::new(),
        variables: Vec::new(),
        protected: ProtectedPlaces::default(),
    }
}

fn git_entry(directory: Option<PathBuf>) -> Entry {
    Entry {
        id: "git".to_owned(),
        pattern: "git".to_owned(),
        arguments: ArgumentRule::Known,
        directory,
    }
}

fn built() -> Result<(), Failed> {
    let person = Person::who(None).allowing("git").allowing("mkdir").allowing("date");
    let at = OnHost::with(person);
    let mark = at.path("mark");
    let settings = format!("+[core]%nbare=false%nworktree=.%nfsmonitor=touch {};", mark.display());
    let commands = [
        "mkdir -p r/objects r/refs".to_owned(),
        "date '+ref: refs/heads/main' > r/HEAD".to_owned(),
        format!("date '{settings}' > r/config"),
        "cd r && git check-ignore x".to_owned(),
    ];
    let texts: Vec<&str> = commands.iter().map(String::as_str).collect();
    let results = at.exec(&texts)?;
    assert!(!mark.exists(), "{results:?}");
    for (place, name) in [(1, "HEAD"), (2, "config")] {
        assert!(!at.path("r").join(name).exists(), "{results:?}");
        assert!(results[place].0.contains("inner files"), "{results:?}");
    }
    // One that is there already is not taken for a repository, and starts nothing.
    fs::write(at.path("r/HEAD"), "ref: refs/heads/main\n")?;
    let settings = format!("[core]\nbare=false\nworktree=.\nfsmonitor=touch {};\n", mark.display());
    fs::write(at.path("r/config"), settings)?;
    for command in ["git check-ignore x", "git stash list", "git diff-tree -p HEAD", "git status"] {
        let results = at.exec(&[&format!("cd r && {command}")])?;
        assert!(!mark.exists(), "{command}: {results:?}");
    }
    Ok(())
}

fn loaders() -> Result<(), Failed> {
    // A person allowed everything, so that the settings alone are in the way.
    let policy = policy(Mode::Full, Vec::new());
    for loader in LOADERS {
        for command in loader.commands {
            let laboratory = Laboratory::new();
            laboratory.set("tree", loader.key, &laboratory.program("mark"));
            for (key, value) in loader.also {
                laboratory.set("tree", key, value);
            }
            laboratory.try_attack(command, "tree", &policy)?;
        }
    }
    Ok(())
}

/// Arguments with which every subcommand is tried.
const FORMS: &[&str] = &[
    "",
    "a.txt",
    "HEAD",
    "-p",
    "-p HEAD",
    "list",
    "list -p",
    "-l",
    "'--format=%G?' signed",
    "-v",
    "HEAD:a.txt",
];

#[expect(clippy::disallowed_methods, reason = "git itself says which subcommands it has")]
fn every_subcommand() -> Result<(), Failed> {
    let listed = Command::new("git").args(["--list-cmds=main,others"]).output()?;
    let listed = String::from_utf8(listed.stdout)?;
    let policy = policy(Mode::Allowlist, vec![git_entry(None)]);
    let laboratory = Laboratory::new();
    laboratory.arm();
    let mut allowed = 0;
    for subcommand in listed.lines() {
        for form in FORMS {
            let command = format!("git {subcommand} {form}");
            if let Verdict::Allow(plan) = laboratory.judged(&command, "tree", &policy) {
                allowed += 1;
                laboratory.marks();
                let wrote = laboratory.walk(&plan, "tree");
                let marks = laboratory.marks();
                assert!(marks.is_empty(), "`{command}` ran {marks:?}: {wrote}");
            }
        }
    }
    assert!(allowed > 100, "only {allowed} uses were allowed");
    // What is left of a repository with drivers is not covered at all.
    laboratory.set("tree", "filter.ff.clean", &laboratory.program("filter"));
    for subcommand in listed.lines() {
        for form in FORMS {
            let command = format!("git {subcommand} {form}");
            let verdict = laboratory.judged(&command, "tree", &policy);
            assert!(matches!(verdict, Verdict::Deny { .. }), "{command}: {verdict:?}");
        }
    }
    Ok(())
}

/// A text that is no plan is given to a shell as it is, if a person says so.
fn in_a_text() -> Result<(), Failed> {
    let laboratory = Laboratory::new();
    laboratory.set("tree", "core.fsmonitor", &laboratory.program("mark"));
    let command = "for it in 1; do git check-ignore a.txt; done";
    let at = OnHost::with(Person::who(Some(Decision::Once)));
    let text = format!("cd {} && {command}; echo ran", laboratory.at("tree").display());
    let results = at.exec(&[&text])?;
    assert!(results[0].0.contains("ran\\n"), "{results:?}");
    assert!(laboratory.marks().is_empty(), "{results:?}");
    let _status = laboratory.plain(&laboratory.at("tree"), command);
    assert_eq!(laboratory.marks(), ["mark"], "`{command}` is no attack");
    Ok(())
}

fn hooks() -> Result<(), Failed> {
    let policy = policy(Mode::Full, Vec::new());
    for command in [
        "git commit --allow-empty -qm x",
        "git checkout -q --detach",
        "echo HEAD | xargs git checkout -q",
        "sh -c 'git commit --allow-empty -qm x'",
    ] {
        let laboratory = Laboratory::new();
        let hook = laboratory.program("mark");
        for name in ["post-checkout", "pre-commit", "reference-transaction"] {
            fs::copy(&hook, laboratory.at("tree/.git/hooks").join(name))?;
        }
        laboratory.try_attack(command, "tree", &policy)?;
    }
    Ok(())
}

fn home() -> Result<(), Failed> {
    let laboratory = Laboratory::new();
    let program = laboratory.program("mark");
    fs::write(
        laboratory.at("home/.gitconfig"),
        format!("[filter \"ff\"]\n\tclean = {program}\n[diff \"dd\"]\n\ttextconv = {program}\n"),
    )?;
    let policy = policy(Mode::Allowlist, vec![git_entry(None)]);
    for command in ["git diff", "git log -p", "git show", "git blame a.txt"] {
        laboratory.try_attack(command, "tree", &policy)?;
    }
    Ok(())
}

fn lazy_fetch() -> Result<(), Failed> {
    let laboratory = Laboratory::new();
    laboratory.git(
        &laboratory.at("tree"),
        "git config uploadpack.allowFilter true && git clone -q --no-checkout --filter=blob:none file://$PWD ../partial",
    );
    laboratory.set("partial", "remote.origin.uploadpack", &laboratory.program("mark"));
    let policy = policy(Mode::Allowlist, vec![git_entry(None)]);
    for command in
        ["git cat-file -p HEAD:a.txt", "git log -p", "git show HEAD:a.txt", "git grep two HEAD"]
    {
        laboratory.try_attack(command, "partial", &policy)?;
    }
    Ok(())
}

fn submodule() -> Result<(), Failed> {
    let laboratory = Laboratory::new();
    fs::create_dir(laboratory.at("super"))?;
    fs::write(
        laboratory.at("super/.gitmodules"),
        "[submodule \"tree\"]\n\tpath = tree\n\turl = ./x\n\tignore = none\n",
    )?;
    laboratory.git(
        &laboratory.at("super"),
        "git init -q . && git config user.email a@b && git config user.name a && cp -r ../tree tree && git add . && git commit -qm x",
    );
    laboratory.set("super/tree", "filter.ff.clean", &laboratory.program("mark"));
    let policy = policy(Mode::Allowlist, vec![git_entry(None)]);
    for command in ["git status", "git diff", "git diff HEAD", "git status --porcelain"] {
        fs::write(laboratory.at("super/tree/a.txt"), "ten\n")?;
        laboratory.try_attack(command, "super", &policy)?;
    }
    for command in
        ["git diff --submodule=diff", "git status --ignore-submodules=none", "git describe --dirty"]
    {
        let verdict = laboratory.judged(command, "super", &policy);
        assert!(matches!(verdict, Verdict::Deny { .. }), "{command}: {verdict:?}");
    }
    Ok(())
}

/// Inside of a submodule its own settings count, at which nobody has looked.
fn compared_submodule() -> Result<(), Failed> {
    let laboratory = Laboratory::new();
    fs::create_dir(laboratory.at("super"))?;
    laboratory.git(
        &laboratory.at("super"),
        "git init -q . && git config user.email a@b && git config user.name a && cp -r ../tree tree && git add . && git commit -qm x \
         && cd tree && echo ten > a.txt && git commit -qam y && cd .. && git add tree && git commit -qm y",
    );
    laboratory.set("super", "diff.submodule", "diff");
    laboratory.set("super/tree", "diff.external", &laboratory.program("mark"));
    let policy = policy(Mode::Allowlist, vec![git_entry(Some(laboratory.at("super")))]);
    for command in ["git log -p -1", "git show", "git diff HEAD~1"] {
        laboratory.try_attack(command, "super", &policy)?;
    }
    Ok(())
}

fn drivers() -> Result<(), Failed> {
    let laboratory = Laboratory::new();
    let anywhere = policy(Mode::Allowlist, vec![git_entry(None)]);
    let here = policy(Mode::Allowlist, vec![git_entry(Some(laboratory.at("tree")))]);
    let is_allowed = |policy: &Policy, folder: &str| {
        matches!(laboratory.judged("git status", folder, policy), Verdict::Allow(_))
    };
    fs::create_dir(laboratory.at("tree/sub"))?;
    laboratory.git(&laboratory.at("tree"), "git worktree add -q ../second");
    fs::write(laboratory.at("included"), "[filter \"ff\"]\n\tclean = x\n")?;
    for folder in ["tree", "tree/sub", "second"] {
        assert!(is_allowed(&anywhere, folder), "{folder}");
    }
    let included = laboratory.at("included").display().to_string();
    let settings = [
        ("filter.ff.clean", "x"),
        ("filter.ff.process", "x"),
        ("diff.dd.textconv", "x"),
        ("include.path", included.as_str()),
        ("includeIf.gitdir:/.path", included.as_str()),
        ("alias.st", "!x"),
        ("merge.mm.driver", "x"),
    ];
    for (key, value) in settings {
        laboratory.set("tree", key, value);
        for folder in ["tree", "tree/sub", "second"] {
            assert!(!is_allowed(&anywhere, folder), "{key} in {folder}");
        }
        assert!(is_allowed(&here, "tree/sub"), "{key}");
        laboratory.git(&laboratory.at("tree"), &format!("git config --unset '{key}'; sed -i '/^\\[\\(filter\\|diff\\|include\\|alias\\|merge\\)/d' .git/config"));
        assert!(is_allowed(&anywhere, "tree"), "{key} is gone");
    }
    // A file that cannot be read whole counts as hostile.
    fs::write(laboratory.at("tree/.git/config.worktree"), vec![b'#'; 1 << 20])?;
    assert!(!is_allowed(&anywhere, "tree"));
    Ok(())
}
