//! Things that are not as they should be: each costs one clear line, and the rest still works.

use std::fs;
use std::os::unix::fs::symlink;
use std::thread::sleep;
use std::time::Duration;

use insta::assert_snapshot;
use metier_testkit::TestEnv;
use rustix::fs::{CWD, FileType, mknodat};

use crate::{compact, environment, json, problems, run, run_own, write_skill};

fn with_good_skill() -> TestEnv {
    let env = environment();
    write_skill(&env, "good", "name: good\ndescription: Does it. Use when asked.");
    env
}

#[test]
fn a_folder_that_is_not_there() {
    let env = with_good_skill();
    assert_snapshot!(run_own(&env, "skills list --skills-dir nowhere"), @"
    exit 0
    ----- stdout
    NAME  SOURCE  STATUS  TOKENS  DESCRIPTION
    good  flag    ready        8  Does it. Use when asked.
    ----- stderr
    error: [PROJECT]/nowhere: there is no such folder [M080]
    1 skill, 1 ready · catalog 16 of 4000 tokens
    ");
    let env = env.with_variable("SKILLS_ROOT", "nowhere-else");
    let outcome = run(&env, "skills list --skills-dir skills --skill good");
    assert_snapshot!(problems(&outcome), @"error: [PROJECT]/nowhere-else: there is no such folder [M080]");
    assert!(outcome.stdout.contains("good"));
}

#[test]
fn a_folder_that_is_a_file() {
    let env = with_good_skill();
    assert_snapshot!(run_own(&env, "skills list --skills-dir skills/good/SKILL.md"), @"
    exit 0
    ----- stdout
    NAME  SOURCE  STATUS  TOKENS  DESCRIPTION
    good  flag    ready        8  Does it. Use when asked.
    ----- stderr
    error: [PROJECT]/skills/good/SKILL.md:1:1: the folder cannot be read: Not a directory (os error 20) [M080]
    1 skill, 1 ready · catalog 16 of 4000 tokens
    ");
}

#[test]
fn files_that_are_no_files() {
    let env = with_good_skill();
    let skills = env.project().join("skills");
    fs::create_dir_all(skills.join("folder/SKILL.md")).unwrap();
    for name in ["dangling", "device", "pipe"] {
        fs::create_dir(skills.join(name)).unwrap();
    }
    symlink("nowhere", skills.join("dangling/SKILL.md")).unwrap();
    symlink("/dev/zero", skills.join("device/SKILL.md")).unwrap();
    mknodat(CWD, skills.join("pipe/SKILL.md"), FileType::Fifo, 0o600.into(), 0).unwrap();
    env.write("project/skills/large/SKILL.md", vec![b'x'; (1 << 20) + 1]);
    assert_snapshot!(run_own(&env, "skills list"), @"
    exit 0
    ----- stdout
    NAME  SOURCE  STATUS  TOKENS  DESCRIPTION
    good  flag    ready        8  Does it. Use when asked.
    ----- stderr
    error: [PROJECT]/skills/dangling/SKILL.md:1:1: `SKILL.md` cannot be read: No such file or directory (os error 2) [M010]
    error: [PROJECT]/skills/device/SKILL.md:1:1: `SKILL.md` cannot be read: it is not a regular file [M010]
    error: [PROJECT]/skills/folder/SKILL.md:1:1: `SKILL.md` cannot be read: it is not a regular file [M010]
    error: [PROJECT]/skills/large/SKILL.md:1:1: the file has 1048577 bytes and was not read [M009]
      hint: move details into other files of the skill
    error: [PROJECT]/skills/pipe/SKILL.md:1:1: `SKILL.md` cannot be read: it is not a regular file [M010]
    1 skill, 1 ready · catalog 16 of 4000 tokens
    ");
    for name in ["folder", "dangling", "device", "pipe", "large"] {
        let outcome = run(&env, &format!("validate skills/{name}"));
        assert_eq!((outcome.code, outcome.stderr.lines().count()), (1, 2), "{outcome}");
    }
}

#[test]
fn links_that_lead_in_circles() {
    let env = with_good_skill();
    let skills = env.project().join("skills");
    symlink("loop-b", skills.join("loop-a")).unwrap();
    symlink("loop-a", skills.join("loop-b")).unwrap();
    symlink(".", skills.join("itself")).unwrap();
    fs::create_dir(skills.join("deep")).unwrap();
    symlink("..", skills.join("deep/up")).unwrap();
    assert_snapshot!(run_own(&env, "skills list"), @"
    exit 0
    ----- stdout
    NAME  SOURCE  STATUS  TOKENS  DESCRIPTION
    good  flag    ready        8  Does it. Use when asked.
    ----- stderr
    warning: [PROJECT]/skills/deep/up: the link leads back to a folder above it and was not followed [M082]
    warning: [PROJECT]/skills/itself: the link leads back to a folder above it and was not followed [M082]
    1 skill, 1 ready · catalog 16 of 4000 tokens
    ");
}

#[test]
fn a_root_that_is_reached_twice_is_searched_once() {
    let env = with_good_skill();
    symlink(env.project().join("skills"), env.project().join("way")).unwrap();
    symlink("good", env.project().join("skills/again")).unwrap();
    let listed = json(&run_own(&env, "skills list --json"));
    assert_eq!(listed["skills"].as_array().unwrap().len(), 1);
    let listed = json(&run_own(&env, "skills list --json --skills-dir way"));
    assert_eq!(listed["skills"].as_array().unwrap().len(), 1);
}

#[test]
fn headers_that_cannot_be_read() {
    let env = with_good_skill();
    for (folder, text) in [
        ("empty", ""),
        ("unclosed", "---\nname: unclosed\n"),
        ("list", "---\n- one\n---\n"),
        ("twice", "---\nname: twice\ndescription: a\ndescription: b\n---\n"),
        ("unsafe", "---\nname: ../../etc\ndescription: d\n---\n"),
        (
            "bomb",
            "---\nname: bomb\na: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: [*d,*d,*d,*d,*d,*d,*d,*d,*d]\ndescription: d\n---\n",
        ),
    ] {
        env.write(format!("project/skills/{folder}/SKILL.md"), text);
    }
    assert_snapshot!(run_own(&env, "skills list"), @"
    exit 0
    ----- stdout
    NAME  SOURCE  STATUS  TOKENS  DESCRIPTION
    good  flag    ready        8  Does it. Use when asked.
    ----- stderr
    error: [PROJECT]/skills/bomb/SKILL.md:7:5: the header is too large when its aliases are expanded [M007]
    error: [PROJECT]/skills/empty/SKILL.md:1:1: the file does not start with a `---` line [M001]
      hint: start the file with `---`, `name: …`, `description: …`, `---`
    error: [PROJECT]/skills/list/SKILL.md:2:1: the header is a list, not a mapping of fields [M004]
    error: [PROJECT]/skills/twice/SKILL.md:4:1: the key `description` stands twice [M005]
      hint: keep one of the two
    error: [PROJECT]/skills/unclosed/SKILL.md:1:1: the header is never closed by a `---` line [M002]
      hint: put a line with only `---` after the fields
    error: [PROJECT]/skills/unsafe/SKILL.md:2:7: `../../etc` cannot be a name: it contains a path separator [M028]
      hint: use lowercase letters, digits and hyphens
    1 skill, 1 ready · catalog 16 of 4000 tokens
    ");
}

#[test]
fn a_broken_cache_is_not_noticed() {
    let env = with_good_skill();
    sleep(Duration::from_millis(50));
    let before = run_own(&env, "skills list --json");
    let tokens = run_own(&env, "skills tokens --json");
    let info = run_own(&env, "skills info good --json");
    let cache = env.home().join(".metier/cache");
    let mut broken = 0;
    for folder in [cache.clone(), cache.join("headers")] {
        for file in
            fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).filter(|it| it.is_file())
        {
            fs::write(file, "metier cache 01\nnot what it was").unwrap();
            broken += 1;
        }
    }
    assert!(broken >= 2, "headers and at least one more");
    assert_eq!(run_own(&env, "skills list --json"), before);
    assert_eq!(run_own(&env, "skills tokens --json"), tokens);
    assert_eq!(run_own(&env, "skills info good --json"), info);
}

#[test]
fn a_cache_that_cannot_be_written_is_not_noticed() {
    let usual = with_good_skill();
    let expected = |line: &str| run_own(&usual, line);
    let put_file = |env: &TestEnv| drop(env.write("home/.metier/cache", ""));
    let put_link = |env: &TestEnv| {
        fs::create_dir(env.home().join(".metier")).unwrap();
        symlink("/dev/full", env.home().join(".metier/cache")).unwrap();
    };
    let put_files = |env: &TestEnv| {
        for name in ["headers", "digests/x", "tokens/x"] {
            env.write(format!("home/.metier/cache/{name}"), "");
        }
    };
    for spoil in [&put_file as &dyn Fn(&TestEnv), &put_link, &put_files] {
        let env = with_good_skill();
        spoil(&env);
        for line in ["skills list", "skills tokens", "skills info good", "skills search asked"] {
            assert_eq!(run_own(&env, line), expected(line));
        }
    }
}

#[test]
fn a_state_directory_that_is_a_file() {
    let env = with_good_skill();
    env.skill("project/.agents/skills", "theirs", "Does it. Use when asked.");
    env.write("home/.metier", "");
    assert_snapshot!(problems(&run(&env, "skills list --skills-dir skills --skill good")), @"
    warning: [HOME]/.metier/trust.json: cannot be used: Not a directory (os error 20); until then no project is trusted [M086]
    warning: [PROJECT]: the project is not trusted, so its skill is not used; look at what is there, then run `metier trust` [M086]
    ");
    assert_snapshot!(run_own(&env, "skills list"), @"
    exit 0
    ----- stdout
    NAME  SOURCE  STATUS  TOKENS  DESCRIPTION
    good  flag    ready        8  Does it. Use when asked.
    ----- stderr
    warning: [HOME]/.metier/trust.json: cannot be used: Not a directory (os error 20); until then no project is trusted [M086]
      hint: make it readable and writable for you, or set METIER_HOME to another folder
    1 skill, 1 ready · catalog 16 of 4000 tokens
    ");
    assert_snapshot!(compact(&run(&env, "trust")), @"1 |  | error: cannot use the trust file `[HOME]/.metier/trust.json`: Not a directory (os error 20) / hint: make it readable and writable for you, or set METIER_HOME to another folder");
}

#[test]
#[cfg(target_os = "linux")]
fn a_state_directory_that_cannot_be_made() {
    let env = with_good_skill().with_variable("METIER_HOME", "/proc/metier");
    env.skill("project/.agents/skills", "theirs", "Does it. Use when asked.");
    assert_snapshot!(run_own(&env, "skills list"), @"
    exit 0
    ----- stdout
    NAME  SOURCE  STATUS  TOKENS  DESCRIPTION
    good  flag    ready        8  Does it. Use when asked.
    ----- stderr
    1 skill, 1 ready · catalog 16 of 4000 tokens
    ");
    assert_snapshot!(compact(&run(&env, "trust")), @"1 |  | error: cannot use the trust file `/proc/metier/trust.json`: No such file or directory (os error 2) / hint: make it readable and writable for you, or set METIER_HOME to another folder");
    let listed = json(&run(&env, "skills list --json"));
    let bundled = listed["skills"].as_array().unwrap().iter().find(|it| it["source"] == "bundled");
    let name = bundled.unwrap()["name"].as_str().unwrap();
    let outcome = run(&env, &format!("skills info {name}"));
    assert_eq!((outcome.code, outcome.stdout.as_str()), (1, ""));
    let start =
        format!("error: cannot unpack the bundled skill `{name}` into `/proc/metier/content`: ");
    assert!(outcome.stderr.starts_with(&start) && outcome.stderr.lines().count() == 2, "{outcome}");
}

#[test]
fn without_a_home_a_project_is_not_taken_for_one() {
    let env = with_good_skill().with_variable("HOME", "").with_variable("METIER_HOME", "");
    env.write("project/.metier/config.toml", "skills.extra_dirs = ['../outside']");
    env.skill("project/.metier/skills", "theirs", "Does it. Use when asked.");
    assert_snapshot!(compact(&run_own(&env, "skills list")), @"2 |  | error: neither HOME nor METIER_HOME is set / hint: set METIER_HOME to a folder for settings, trust and caches");
    assert_snapshot!(compact(&run(&env, "validate skills/good")), @"0 | Valid skill: skills/good |");
    let env = env.with_variable("METIER_HOME", "../home/.metier");
    assert_snapshot!(compact(&run_own(&env, "skills list --quiet")), @"0 | NAME  SOURCE  STATUS  TOKENS  DESCRIPTION / good  flag    ready        8  Does it. Use when asked. |");
}

#[test]
fn names_that_differ_by_case_only() {
    let env = with_good_skill();
    write_skill(&env, "other", "name: Good\ndescription: Does it. Use when asked.");
    let outcome = run_own(&env, "skills list");
    assert_snapshot!(outcome.stderr, @"
    warning: [PROJECT]/skills/good/SKILL.md:1:1: `Good` and `good` differ by case only [M091]
    warning: [PROJECT]/skills/other/SKILL.md:2:7: `Good` is not lowercase [M023]
      hint: call it `good`, and the folder too
    warning: [PROJECT]/skills/other/SKILL.md:2:7: the name `Good` is not the name of the folder, `other` [M027]
      hint: rename one of the two
    2 skills, 2 ready · catalog 28 of 4000 tokens
    ");
}

#[test]
fn a_name_that_stands_twice_in_a_folder() {
    let env = with_good_skill();
    write_skill(&env, "copy", "name: good\ndescription: Copied. Use when asked.");
    assert_snapshot!(run_own(&env, "skills list"), @"
    exit 0
    ----- stdout
    NAME  SOURCE  STATUS  TOKENS  DESCRIPTION
    good  flag    ready        8  Does it. Use when asked.
    ----- stderr
    warning: [PROJECT]/skills/copy/SKILL.md:1:1: `good` is already taken by [PROJECT]/skills/good/SKILL.md [M085]
    warning: [PROJECT]/skills/copy/SKILL.md:2:7: the name `good` is not the name of the folder, `copy` [M027]
      hint: rename one of the two
    1 skill, 1 ready · catalog 16 of 4000 tokens
    ");
}

#[test]
fn a_folder_whose_name_is_no_text() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let env = with_good_skill();
    let folder = env.project().join("skills").join(OsStr::from_bytes(b"caf\xe9"));
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("SKILL.md"), "---\nname: coffee\ndescription: d\n---\n").unwrap();
    let listed = json(&run_own(&env, "skills list --json"));
    let names: Vec<_> = listed["skills"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
    assert_eq!(names, ["coffee", "good"]);
    for line in
        ["skills info coffee --json", "skills explain coffee --json", "skills search coffee --json"]
    {
        assert!(run_own(&env, line).stdout.contains("caf\u{fffd}/SKILL.md"), "{line}");
    }
    let findings = json(&run(&env, "skills lint skills --json"));
    assert_eq!(findings[0]["path"], "skills/caf\u{fffd}/SKILL.md");
}
