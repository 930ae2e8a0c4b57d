//! What is found out about real files, folders and links.

use std::fs::{self, Permissions};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use metier_approval::{
    ArgumentRule, Entry, Executable, Facts, FileFact, Pinned, Policy, ProtectedPlaces, Remembered,
    Rules, Simple, Verdict, judge, parse,
};
use tempfile::TempDir;

use super::{Machine, rule_of, take_decisions, walk_of};

/// A folder with `bin` and `work` in it, of which `bin` is the `PATH`.
struct Place {
    _folder: TempDir,
    root: PathBuf,
    machine: Machine,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["bin", "work"] {
            fs::create_dir(root.join(name)).unwrap();
            mode(&root.join(name), 0o755);
        }
        let machine = Machine { path: vec![root.join("bin")] };
        Self { _folder: folder, root, machine }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>, bits: u32) -> PathBuf {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        mode(&path, bits);
        path
    }

    fn link(&self, to: &str, path: &str) {
        symlink(to, self.at(path)).unwrap();
    }

    /// What a word stands for in `work`.
    fn found(&self, word: &str) -> Option<Executable> {
        self.machine.executable(&self.at("work"), word)
    }

    /// The same in short: where it was found and what it is, without the folder of the test.
    fn shown(&self, word: &str) -> String {
        let Some(found) = self.found(word) else { return "none".to_owned() };
        let short = |path: &Path| path.strip_prefix(&self.root).unwrap().display().to_string();
        let (path, real) = (short(&found.path), short(&found.file.real));
        if path == real { path } else { format!("{path} -> {real}") }
    }

    fn is_replaceable(&self, word: &str) -> bool {
        self.found(word).unwrap().is_replaceable
    }

    fn file(&self, path: &str) -> Option<FileFact> {
        self.machine.file(&self.at("work"), path)
    }
}

fn mode(path: &Path, bits: u32) {
    fs::set_permissions(path, Permissions::from_mode(bits)).unwrap();
}

#[test]
fn a_name_is_looked_for_in_the_path_and_anything_with_a_slash_in_the_folder() {
    let mut place = Place::new();
    place.machine.path =
        vec![PathBuf::new(), "work".into(), ".".into(), place.at("none"), place.at("bin")];
    place.write("bin/tool", "", 0o755);
    place.write("work/tool", "", 0o755);
    place.write("work/only-here", "", 0o755);
    place.write("bin/data", "", 0o644);
    place.write("bin/folder/file", "", 0o755);
    let words = [
        "tool",
        "./tool",
        "../bin/tool",
        "only-here",
        "./only-here",
        "data",
        "folder",
        "./none",
        "",
        "tool ",
        "TOOL",
        "tool/",
        "folder/file",
    ];
    let shown = words.map(|word| format!("{word:?}: {}", place.shown(word)));
    insta::assert_snapshot!(shown.join("\n"), @r#"
    "tool": bin/tool
    "./tool": work/tool
    "../bin/tool": bin/tool
    "only-here": none
    "./only-here": work/only-here
    "data": none
    "folder": none
    "./none": none
    "": none
    "tool ": none
    "TOOL": none
    "tool/": none
    "folder/file": none
    "#);
    let absolute = place.at("bin/tool").display().to_string();
    assert_eq!(place.shown(&absolute), "bin/tool");
}

#[test]
fn links_are_followed_to_the_end_and_told_apart() {
    let place = Place::new();
    place.write("opt/real", "", 0o755);
    place.link("../opt/real", "bin/one");
    place.link("one", "bin/two");
    place.link("self", "bin/self");
    place.link("../opt", "work/sub");
    place.link("nothing", "bin/lost");
    // `sub/..` is the folder above `opt`, not `work`.
    place.write("work/bin/tool", "", 0o755);
    place.write("bin/tool", "", 0o755);
    let words = ["one", "two", "self", "lost", "sub/real", "sub/../bin/tool", "./bin/tool"];
    let shown = words.map(|word| format!("{word}: {}", place.shown(word)));
    insta::assert_snapshot!(shown.join("\n"), @"
    one: bin/one -> opt/real
    two: bin/two -> opt/real
    self: none
    lost: none
    sub/real: work/sub/real -> opt/real
    sub/../bin/tool: bin/tool
    ./bin/tool: work/bin/tool
    ");
}

#[test]
fn a_wrapper_starts_a_program_by_the_name_that_says_what_it_is() {
    let place = Place::new();
    for name in ["env", "many", "plain"] {
        place.write(&format!("bin/{name}"), "", 0o755);
    }
    place.link("many", "bin/one");
    place.link("../bin/plain", "work/plain");
    let entry = |pattern: &str| Entry {
        id: pattern.to_owned(),
        pattern: pattern.to_owned(),
        arguments: ArgumentRule::Any,
        directory: None,
    };
    let policy = Policy {
        rules: Rules::default(),
        entries: vec![entry("one"), entry(place.at("bin/plain").to_str().unwrap())],
        remembered: Vec::new(),
        safe_programs: Vec::new(),
        trusted_folders: vec![place.at("bin")],
        skill_programs: Vec::new(),
        writable: vec![place.at("work")],
        variables: Vec::new(),
        protected: ProtectedPlaces::default(),
    };
    let walked = |text: &str| {
        let verdict = judge(&parse(text), &place.at("work"), &place.machine, &policy);
        let Verdict::Allow(approved) = verdict else { panic!("{verdict:?}") };
        walk_of(&approved).steps.remove(0).programs.remove(0)
    };
    // Only the name says which of many it is; the link must not lead elsewhere until it is followed.
    let one = walked("env one many");
    assert_eq!(one.arguments[1], place.at("bin/one"));
    assert!(one.pins.iter().any(|pin| pin.path == place.at("bin/one")));
    assert!(one.pins.iter().any(|pin| pin.path == place.at("bin/many")));
    assert_eq!(walked("env ./plain").arguments[1], place.at("bin/plain"));
}

#[test]
fn a_program_that_changed_in_any_way_is_another() {
    let place = Place::new();
    let tool = place.write("bin/tool", "one", 0o755);
    // Clocks of file systems tick every few milliseconds.
    let seen = || {
        std::thread::sleep(Duration::from_millis(20));
        place.found("tool").unwrap().file
    };
    let first = seen();
    assert_eq!(seen(), first);
    fs::write(&tool, "two").unwrap();
    let written = seen();
    assert_ne!(written.identity, first.identity);
    // The same length at the same time: only the moment of the change tells.
    let before = fs::metadata(&tool).unwrap().modified().unwrap();
    fs::write(&tool, "six").unwrap();
    fs::File::options().write(true).open(&tool).unwrap().set_modified(before).unwrap();
    let hidden = seen();
    assert_eq!(hidden.identity.modified, written.identity.modified);
    assert_ne!(hidden.identity, written.identity);
    fs::rename(place.write("bin/other", "six", 0o755), &tool).unwrap();
    assert_ne!(seen().identity, hidden.identity);
    mode(&tool, 0o700);
    let closed = seen();
    mode(&tool, 0o755);
    assert_ne!(seen().identity, closed.identity);
}

#[test]
fn a_folder_is_which_it_is_and_not_what_is_in_it() {
    let place = Place::new();
    place.link("work", "link");
    let folder = |path: &str| place.machine.folder(&place.at(path));
    let before = folder("work").unwrap();
    assert_eq!(folder("link").unwrap(), before);
    assert_eq!(before.real, place.at("work"));
    place.write("work/file", "", 0o644);
    assert_eq!(folder("work").unwrap(), before);
    assert_eq!((folder("none"), folder("work/file")), (None, None));
    assert_eq!(place.machine.folder(Path::new("work")), None);
    fs::rename(place.at("work"), place.at("old")).unwrap();
    fs::create_dir(place.at("work")).unwrap();
    assert_ne!(folder("work").unwrap().identity, before.identity);
}

#[test]
fn what_others_may_write_to_is_replaceable() {
    let place = Place::new();
    let tool = place.write("bin/tool", "", 0o755);
    let (bin, root) = (place.at("bin"), place.root.clone());
    assert!(!place.is_replaceable("tool"));
    for (path, usual) in [(&tool, 0o755), (&bin, 0o755), (&root, 0o700)] {
        mode(path, usual | 0o002);
        assert!(place.is_replaceable("tool"), "{} is for everybody", path.display());
        mode(path, usual);
        assert!(!place.is_replaceable("tool"));
    }
    // Where only owners remove what is theirs, others may add, but not replace.
    mode(&bin, 0o1777);
    assert!(!place.is_replaceable("tool"));
}

#[test]
fn a_link_on_the_way_that_others_may_change_makes_it_replaceable() {
    let place = Place::new();
    place.write("opt/real", "", 0o755);
    fs::create_dir(place.at("open")).unwrap();
    place.link("../opt/real", "open/step");
    place.link("../open/step", "bin/tool");
    mode(&place.at("opt"), 0o755);
    mode(&place.at("open"), 0o755);
    assert!(!place.is_replaceable("tool"));
    mode(&place.at("open"), 0o777);
    assert!(place.is_replaceable("tool"));
    assert!(place.is_replaceable("../open/../open/step"));
    assert!(!place.is_replaceable("../opt/real"));
}

#[test]
fn what_belongs_to_somebody_else_or_a_group_is_replaceable() {
    let place = Place::new();
    let tool = place.write("bin/tool", "", 0o755);
    let is_root = rustix::process::geteuid().is_root();
    if is_root {
        std::os::unix::fs::chown(&tool, None, Some(0)).unwrap();
        mode(&tool, 0o775);
        assert!(!place.is_replaceable("tool"), "the group of root");
        std::os::unix::fs::chown(&tool, None, Some(4321)).unwrap();
        assert!(place.is_replaceable("tool"), "another group");
        mode(&tool, 0o755);
        assert!(!place.is_replaceable("tool"), "which may not write");
        std::os::unix::fs::chown(&tool, Some(4321), None).unwrap();
        assert!(place.is_replaceable("tool"), "another owner");
        std::os::unix::fs::chown(&tool, Some(0), None).unwrap();
        std::os::unix::fs::chown(place.at("bin"), Some(4321), None).unwrap();
        assert!(place.is_replaceable("tool"), "another owner of the folder");
    } else {
        mode(&tool, 0o775);
        assert!(place.is_replaceable("tool"), "the group of somebody who is not root");
    }
}

#[test]
fn the_first_line_of_a_script_says_who_runs_it() {
    let place = Place::new();
    let long = format!("#!/{}\n", "x".repeat(400));
    let scripts: [(&str, &[u8]); 8] = [
        ("plain", b"#!/bin/sh\necho\n"),
        ("words", b"#! \t/usr/bin/env  -S python3 -u \nprint()\n"),
        ("open", b"#!/bin/sh -e"),
        ("bare", b"#!"),
        ("later", b"\n#!/bin/sh\n"),
        ("elf", b"\x7fELF#!/bin/sh\n"),
        ("bytes", b"#!/bin/\xff\n"),
        ("long", long.as_bytes()),
    ];
    let shown = scripts.map(|(name, text)| {
        place.write(&format!("bin/{name}"), text, 0o755);
        let found = place.found(name).unwrap().interpreter;
        let length = found.iter().flatten().map(String::len).sum::<usize>();
        if length > 100 { format!("{name}: {length} bytes") } else { format!("{name}: {found:?}") }
    });
    insta::assert_snapshot!(shown.join("\n"), @r#"
    plain: Some(["/bin/sh"])
    words: Some(["/usr/bin/env", "-S", "python3", "-u"])
    open: Some(["/bin/sh", "-e"])
    bare: Some([])
    later: None
    elf: None
    bytes: Some(["/bin/�"])
    long: 254 bytes
    "#);
}

#[test]
fn a_digest_is_that_of_the_file_that_was_looked_at_or_none() {
    let place = Place::new();
    let tool = place.write("bin/tool", "", 0o755);
    let digest = |file: &FileFact| place.machine.digest(file);
    let seen = place.found("tool").unwrap().file;
    let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert_eq!(digest(&seen).as_deref(), Some(empty));
    fs::File::options().append(true).open(&tool).unwrap().write_all(b"x").unwrap();
    assert_eq!(digest(&seen), None);
    let seen = place.found("tool").unwrap().file;
    fs::remove_file(&tool).unwrap();
    assert_eq!(digest(&seen), None);
    // Sparse, so that nothing is written, and too large all the same.
    let tool = place.write("bin/tool", "", 0o755);
    fs::File::options().write(true).open(&tool).unwrap().set_len((512 << 20) + 1).unwrap();
    assert_eq!(digest(&place.found("tool").unwrap().file), None);
    let folder = place.machine.folder(&place.at("work")).unwrap();
    assert_eq!(digest(&folder), None);
    assert_eq!(place.file("../bin").unwrap().real, place.at("bin"));
}

#[test]
fn a_link_to_where_nothing_is_is_where_a_file_would_be_made() {
    let place = Place::new();
    place.link("../outside", "work/one");
    place.link("one", "work/two");
    place.link("/none/there", "work/far");
    place.link("round", "work/round");
    let real = |path: &str| place.file(path).map(|file| file.real);
    assert_eq!(real("one"), Some(place.at("outside")));
    assert_eq!(real("two"), Some(place.at("outside")));
    assert_eq!(real("far"), Some(PathBuf::from("/none/there")));
    assert_eq!((real("round"), real("none"), real("")), (None, None, Some(place.at("work"))));
    place.write("outside", "", 0o644);
    assert_eq!(real("two"), Some(place.at("outside")));
}

#[test]
fn what_passes_a_link_of_a_process_is_not_followed() {
    let place = Place::new();
    place.link("/proc/self/cwd", "work/l");
    place.link("l/../..", "work/up");
    let inside = Path::new("/proc/self/cwd");
    assert_eq!(place.file("l/x").unwrap().real, inside.join("x"));
    assert_eq!(place.file("none/../l/x").unwrap().real, inside.join("x"));
    for path in ["l", "l/..", "up", "/proc/self/cwd"] {
        let real = place.machine.folder(&place.at("work").join(path)).unwrap().real;
        assert_eq!(real, inside, "{path}");
    }
    assert!(place.file("/dev/fd/../cwd").unwrap().real.starts_with("/proc/self"));
    let own = format!("/proc/{}/exe", std::process::id());
    assert_eq!(place.file(&own).unwrap().real, Path::new("/proc/self/exe"));
    for word in ["/proc/self/exe", own.as_str(), "l/x", "/dev/fd/0"] {
        assert_eq!(place.found(word), None, "{word}");
    }
    assert_eq!(place.file("/dev/null").unwrap().real, Path::new("/dev/null"));
}

#[test]
fn what_is_allowed_for_good_comes_back_as_it_was_shown() {
    use metier_session::{DecisionStore, MemoryStore, Rule};
    let pinned = Pinned {
        command: Simple {
            variables: vec![("LANG".to_owned(), "C".to_owned())],
            words: vec!["make".to_owned(), "a b".to_owned()],
            redirections: Vec::new(),
            directory: PathBuf::from("sub"),
        },
        program: PathBuf::from("/usr/bin/make"),
        sha256: "0f".repeat(32),
        directory: PathBuf::from("/srv/ship/sub"),
    };
    let pattern = Rule::Pattern {
        pattern: "git".to_owned(),
        arguments: Some("status".to_owned()),
        any_arguments: false,
        directory: Some(PathBuf::from("/srv")),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let decisions = runtime.block_on(async {
        let store = MemoryStore::new();
        store.decide(None, rule_of(pinned.clone())).await.unwrap();
        store.decide(Some("bob"), pattern).await.unwrap();
        store.decisions(Some("bob")).await.unwrap()
    });
    let [exact, entry] = [0, 1].map(|place| decisions[place].id.clone());
    let mut policy = Policy {
        rules: Rules::default(),
        entries: Vec::new(),
        remembered: Vec::new(),
        safe_programs: Vec::new(),
        trusted_folders: Vec::new(),
        skill_programs: Vec::new(),
        writable: Vec::new(),
        variables: Vec::new(),
        protected: ProtectedPlaces::default(),
    };
    take_decisions(&mut policy, decisions);
    let remembered = Remembered {
        id: exact,
        program: pinned.program,
        sha256: pinned.sha256,
        words: pinned.command.words,
        directory: pinned.directory,
        variables: pinned.command.variables,
    };
    assert_eq!(policy.remembered, [remembered]);
    let arguments = ArgumentRule::Like("status".to_owned());
    let directory = Some(PathBuf::from("/srv"));
    assert_eq!(policy.entries, [Entry { id: entry, pattern: "git".into(), arguments, directory }]);
}
