//! Places that redirections and programs that write do not reach unasked, and git in repositories with programs.

use std::path::Path;

use metier_approval::{Mode, Remembered, judge, parse};

use crate::machine::{Machine, START, decide, policy, render};

/// Programs that write, each allowed without a word about arguments, and one with any arguments.
pub(crate) const WRITERS: &[&str] = &[
    "tee",
    "cp",
    "mv",
    "ln",
    "dd",
    "truncate",
    "unzip",
    "install",
    "rsync",
    "touch",
    "mkdir",
    "rm",
    "gunzip",
    "gzip",
    "zip",
    "split",
    "xxd",
    "date",
    "echo",
    "cat",
    "env",
    "timeout",
    "csplit",
    "mkfifo",
    "pandoc",
    "pdftotext",
    "pdftoppm",
    "pdfunite",
    "ffmpeg",
    "zstd",
    "chmod",
    "chown",
    "mktemp",
    "rmdir",
];

pub(crate) fn machine() -> Machine {
    let mut machine = Machine::new();
    for name in WRITERS {
        let path = format!("/usr/bin/{name}");
        machine.link(&path, &path);
    }
    for folder in ["/home", "/home/me/.config", "/home/me/.metier", "/home/me/bin", "/proj/hooks"] {
        machine.folders.insert(folder.into(), folder.into());
    }
    machine.folders.insert("/proj/dots".into(), "/home/me".into());
    machine.folders.insert("/proj/inner".into(), "/proj/.git".into());
    // As the facts of a real machine have it: what passes a link of a process is not followed.
    for path in ["/proc/self/cwd", "/proc/self/cwd/..", "/dev/fd", "/dev/fd/../cwd", "/proj/pass"] {
        machine.folders.insert(path.into(), "/proc/self/cwd".into());
    }
    machine.files.insert("/proj/output".into(), "/proc/self/fd/1".into());
    for link in ["l", "l.html", "l.txt", "l.pdf", "l.png", "l.mp4", "l.zst"] {
        machine.files.insert(format!("/proj/{link}").into(), "/home/me/.bashrc".into());
    }
    machine
}

pub(crate) fn verdict(command: &str) -> String {
    verdict_on(command, &machine())
}

pub(crate) fn verdict_on(command: &str, machine: &Machine) -> String {
    let any: Vec<String> = WRITERS.iter().map(|name| format!("{name} --args .*")).collect();
    let entries = WRITERS.iter().copied().chain(any.iter().map(String::as_str));
    decide(command, machine, &policy(&entries.collect::<Vec<_>>()))
}

pub(crate) fn assert_asked(commands: &[&str], reason: &str) {
    for command in commands {
        let verdict = verdict(command);
        assert!(verdict.starts_with("ask: ") && verdict.contains(reason), "{command}: {verdict}");
        assert!(!verdict.contains("[always"), "{command}: {verdict}");
    }
}

#[test]
fn inner_files_of_repositories_are_not_written_in_any_folder() {
    assert_asked(
        &[
            "date > HEAD",
            "date > sub/config",
            "date >> sub/head",
            "date > sub/../Config",
            "date > packed-refs",
            "date > hooks/pre-commit",
            "date > .git/description",
            "date | tee HEAD",
            "date | env tee -a ./config",
            "cp a HEAD",
            "cp a sub/config",
            "cp a .git",
            "cp -t .git a",
            "cp sub/config .",
            "cp a inner/x",
            "mv a config",
            "mv .git/config a",
            "mv a hooks",
            "ln -s a HEAD",
            "ln a config",
            "ln -s .git x",
            "ln -s hooks x",
            "ln -s ../.git sub/x",
            "dd if=a of=HEAD",
            "truncate -s 0 packed-refs",
            "install -m 755 a hooks/pre-commit",
            "install -D a x/.git/hooks/y",
            "touch objects/x",
            "mkdir -p x/.git",
            "mkdir -p x/refs/heads",
            "rm .GIT/index",
            "gunzip config.gz",
            "gunzip config-gz",
            "xxd -r a HEAD",
            "xxd -r -s 5 a HEAD",
            "chmod +x hooks/pre-commit",
            "chmod -x .git/index",
            "chown -R me .git",
            "mktemp hooks/XXXXXX",
            "mktemp -p .git",
            "split a .git/",
            "mkfifo .git/hooks/x",
            "zip .git/config a",
            "csplit -f hooks/a b 4",
            "cp -r sub hooks/sub",
            "timeout 5 cp a HEAD",
        ],
        "inner files",
    );
}

#[test]
fn hidden_places_of_the_home_directory_are_not_written() {
    assert_asked(
        &[
            "cp a /home/me/.bashrc",
            "cp a /home/me/.config/x",
            "cp a /home/me/.config",
            "mv a /home/me/.ssh/authorized_keys",
            "date | tee /home/me/.profile",
            "ln -s /proj/a /home/me/.vimrc",
            "ln /home/me/.bashrc x",
            "cp a dots/.bashrc",
            "cp a l",
            "date | tee l",
            "dd of=/home/me/.x",
            "mkdir -p /home/me/.config/autostart",
            "cp a ../home/me/./.bashrc",
            "cp a /HOME/ME/.bashrc",
            "install a /home/me/.x",
            "pandoc a.md -o l.html",
            "pandoc a.md --output=dots/.a.html",
            "pdftotext a.pdf l.txt",
            "pdftotext l.pdf",
            "pdftoppm -png -singlefile a.pdf l",
            "pdfunite a.pdf b.pdf l.pdf",
            "ffmpeg -y -i a.mp4 l.mp4",
            "zstd -f l",
            "zstd -f -d l.zst",
            "chmod 777 /home/me/.ssh",
            "chmod -r l",
            "chown --reference=a me dots/.ssh",
            "mktemp -d /home/me/.config/XXXXXX",
            "mktemp --tmpdir=/home/me/.config",
            "split a /home/me/.config/x",
            "csplit --prefix=/home/me/.config/x a 4",
        ],
        "home directory",
    );
}

#[test]
fn folders_of_the_path_are_not_written() {
    assert_asked(
        &[
            "cp a /usr/local/bin/x",
            "cp a /home/me/bin",
            "mv a /home/me/bin/ls",
            "date | tee /usr/bin/x",
            "ln -s /proj/a /home/me/bin/x",
            "ln -s /home/me/bin x",
            "install -m 755 a /usr/local/bin",
            "rm -r /usr/local",
        ],
        "`PATH`",
    );
}

#[test]
fn state_and_settings_are_refused_and_nobody_is_asked() {
    for command in [
        "cp a /home/me/.metier/config.toml",
        "mv a /home/me/.metier",
        "date > /home/me/.metier/trust.json",
        "date | tee -a /home/me/.metier/state.db",
        "cp a .metier/config.toml",
        "date > sub/.metier/x",
        "mkdir -p x/.METIER/skills",
        "ln -s /home/me/.metier x",
        "cp a dots/.metier/config.toml",
        "rm -rf /home/me/.metier",
        "dd of=/home/me/.metier/x",
        "ln -s /home/me x",
        "ln -s / x",
        "rm -rf /home/me",
        "rm -r /home",
        "zstd -f /home/me/.metier/config.toml",
        "chmod 644 /home/me/.metier/config.toml",
        "chmod -R 777 /home/me",
        "chown --recursive me /home",
        "mktemp -p /home/me/.metier a.XXXXXX",
        "split -b 1 a /home/me/.metier/config",
        "csplit -f /home/me/.metier/config a 4",
        "pandoc a.md -o dots/.metier/a.html",
    ] {
        let verdict = verdict(command);
        assert!(
            verdict.starts_with("deny: ") && verdict.contains("state and settings"),
            "{command}: {verdict}"
        );
    }
}

#[test]
fn settings_of_the_machine_and_workspaces_elsewhere_are_refused() {
    for command in [
        "date | tee /etc/metier/config.toml",
        "cp a /etc/metier/config.toml",
        "ln -sf a /etc/metier/config.toml",
        "mv a /etc/metier/config.toml",
        "rm /etc/metier/config.toml",
        "rm -r /etc/metier",
        "mv /etc/metier x",
        "date > /srv/workspaces/2/x",
        "date | tee /srv/workspaces/metier/local/2/work/x",
        "rm -rf /srv/workspaces",
    ] {
        let verdict = verdict(command);
        assert!(
            verdict.starts_with("deny: ") && verdict.contains("state and settings"),
            "{command}: {verdict}"
        );
    }
    assert_asked(&["date | tee /srv/workspaces/1/record.json"], "of the session");
    assert!(verdict("date | tee /etc/metier/other").starts_with("allow: "));
}

#[test]
fn folders_that_the_configuration_names_for_skills_are_asked_about() {
    assert_asked(
        &[
            "date | tee /srv/skills/x/SKILL.md",
            "cp a /srv/skills/x/run.py",
            "mkdir -p /srv/skills/new",
            "rm /srv/skills/x/SKILL.md",
            "rm -r /srv/skills",
            "mv a /srv/skills",
        ],
        "is among skills",
    );
}

#[test]
fn homes_and_skills_of_a_session_are_asked_about() {
    let session = "/home/me/.metier/workspaces/1";
    assert_asked(
        &[
            &format!("cp a {session}/.homes/x/.gitconfig"),
            &format!("date | tee {session}/skills/x/run.py"),
            &format!("date > {session}/record.json"),
        ],
        "of the session",
    );
}

#[test]
fn a_folder_that_may_be_written_stays_so_wherever_it_lies() {
    let mut machine = machine();
    let own = "/home/me/.metier/workspace";
    machine.folders.insert(own.into(), own.into());
    machine.files.insert(format!("{own}/a").into(), format!("{own}/a").into());
    let mut policy = policy(&["cp", "date", "tee"]);
    policy.writable = vec![own.into()];
    let judged = |command: &str| render(&judge(&parse(command), Path::new(own), &machine, &policy));
    for command in ["cp a b", "date > b", "date | tee b"] {
        assert!(judged(command).starts_with("allow: "), "{command}: {}", judged(command));
    }
    for command in ["cp a ../config.toml", "date > ../x", "cp a .metier/x", "cp a ../workspace-x/b"]
    {
        assert!(judged(command).starts_with("deny: "), "{command}: {}", judged(command));
    }
    assert!(judged("cp a skills/x").contains("is among skills"), "{}", judged("cp a skills/x"));
}

#[test]
fn programs_that_write_elsewhere_are_covered_by_their_names() {
    for command in [
        "cp a out",
        "cp a b sub",
        "cp -r sub other",
        "mv a b",
        "mkdir -p config/deep hooks2",
        "touch new.txt",
        "date | tee -a log.txt",
        "dd if=a of=copy bs=4k",
        "ln -s file shortcut",
        "rm -rf sub",
        "rm a",
        "truncate -s 0 log",
        "unzip -l a.zip",
        "gzip -k file",
        "zip -r a.zip sub",
        "mkdir out && cp a out/",
        "install -m 644 a sub/b",
    ] {
        let verdict = verdict(command);
        assert!(verdict.starts_with("allow: "), "{command}: {verdict}");
    }
}

#[test]
fn what_does_not_say_where_it_writes_is_not_covered_by_a_name() {
    for command in [
        "unzip a.zip",
        "unzip a.zip -d sub",
        "cp --backup=numbered a b",
        "cp --suffix=x a b",
        "cp -rs / sub",
        "cp -r sub/.. other",
        "mv --exchange a b",
        "gunzip -N a.gz",
        "gunzip -S x configx",
        "gunzip -r sub",
        "dd bogus",
        "rsync -a a b",
        "tee --what a",
    ] {
        let name = command.split(' ').next().unwrap();
        let verdict = decide(command, &machine(), &policy(&[name]));
        assert!(verdict.contains("is not covered by the entry"), "{command}: {verdict}");
    }
    // What is copied into a folder that is there has names that no argument says.
    assert_asked(&["cp -r x/sub .", "cp -a x/sub /proj"], "unknown names");
}

#[test]
fn a_command_does_not_write_through_what_it_puts_there() {
    assert_asked(
        &[
            "mv x y && cp a y/b",
            "cp -a x y; date | tee y/b",
            "ln -s sub y && cp a y/b",
            "cp -P x y; cp a y",
            "mv x y; dd of=y/z",
        ],
        "puts there",
    );
}

#[test]
fn paths_that_mean_another_process_are_not_written() {
    assert_asked(
        &[
            "cp a /proc/self/cwd/.profile",
            "cp a b /proc/self/cwd",
            "date | tee /proc/self/cwd/config.toml",
            "date | tee /proc/self/cwd/../.profile",
            "date | tee pass/config.toml",
            "date | tee output",
            "touch /dev/fd/../cwd/.zzz",
            "ln -s /proc/self/cwd x",
            "ln -s /proc/4/root x",
            "ln -s pass x",
            "ln pass/a x",
            "cp a pass",
            "cp pass/a b",
            "cp -P /proc/4/cwd b",
            "mv pass/a b",
            "mv a /dev/fd/3",
            "rm -r pass/x",
            "mkdir -p /proc/thread-self/cwd/x",
            "dd if=a of=/dev/stdout",
            "dd if=a of=/dev/sda",
            "cp a /sys/kernel/uevent_helper",
            "date | tee /proc/sys/kernel/core_pattern",
        ],
        "for each process",
    );
    for command in [
        "date | tee /dev/null",
        "cp a /dev/null",
        "cp /dev/null a",
        "dd if=/dev/zero of=x count=1",
        "cp a /dev/shm/x",
    ] {
        let verdict = verdict(command);
        assert!(verdict.starts_with("allow: "), "{command}: {verdict}");
    }
    for (command, reason) in
        [("cd pass && date", "there is no folder"), ("sh pass/x", "for each process")]
    {
        let mut machine = machine();
        machine.files.insert("/proj/pass/x".into(), "/proc/self/cwd/x".into());
        let verdict = decide(command, &machine, &policy(&["date", "sh --any-arguments"]));
        assert!(verdict.starts_with("ask: ") && verdict.contains(reason), "{command}: {verdict}");
    }
}

#[test]
fn no_target_directory_is_the_target_itself() {
    assert_asked(&["mv -T x config", "cp -T a HEAD", "ln -sfT a config"], "inner files");
    assert_asked(&["cp -aT x sub", "cp -r --no-target-directory x sub"], "unknown names");
    assert_asked(&["cp -r x/. sub"], "unknown names");
    assert_asked(&["cp -T a tool", "install -T a tool"], "is a program");
    assert_asked(&["mv -T sub /home/me/bin", "ln -sfT sub /home/me/bin"], "`PATH`");
    let refused = verdict("cp -rT x /home/me");
    assert!(refused.starts_with("deny: "), "{refused}");
    for command in
        ["cp -rT x new", "cp -r x/. new", "mv -T a b", "cp -T a out", "ln -sT file shortcut"]
    {
        let verdict = verdict(command);
        assert!(verdict.starts_with("allow: "), "{command}: {verdict}");
    }
}

#[test]
fn a_decision_for_good_is_never_about_a_protected_place() {
    let command = "cp a /home/me/.bashrc";
    let mut policy = policy(&[]);
    policy.remembered = vec![Remembered {
        id: "old".to_owned(),
        sha256: "/usr/bin/cp#0".to_owned(),
        program: "/usr/bin/cp".into(),
        words: command.split(' ').map(str::to_owned).collect(),
        directory: START.into(),
        variables: Vec::new(),
    }];
    let verdict = decide(command, &machine(), &policy);
    assert!(verdict.starts_with("ask: ") && !verdict.contains("[always"), "{verdict}");
    policy.rules.fallback = Mode::Allowlist;
    let verdict = judge(&parse(command), Path::new(START), &machine(), &policy);
    let verdict = render(&verdict.without_a_person(&policy.rules));
    assert!(verdict.starts_with("deny: "), "{verdict}");
}

#[test]
fn git_in_a_repository_with_programs_of_its_own_needs_an_entry_for_the_folder() {
    let mut machine = Machine::new();
    let usual = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = x\n";
    machine.settings.insert("/proj".into(), Some(usual.to_owned()));
    let judged = |machine: &Machine, entry: &str| decide("git status", machine, &policy(&[entry]));
    assert!(judged(&machine, "git").starts_with("allow: "));
    for settings in [
        Some("[filter \"x\"]\n\tclean = x\n"),
        Some("[Diff \"x\"]\n\ttextconv = x\n"),
        Some("[include]\n\tpath = x\n"),
        None,
    ] {
        machine.settings.insert("/proj".into(), settings.map(str::to_owned));
        for entry in ["git", "git --args status", "*", "/usr/bin/git"] {
            let verdict = judged(&machine, entry);
            assert!(verdict.contains("the repository's own settings"), "{entry}: {verdict}");
        }
        assert!(judged(&machine, "git --dir /proj").starts_with("allow: "), "{settings:?}");
    }
}
