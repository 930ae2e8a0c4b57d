//! Requests that want more than they may have: names, paths, references, patterns.
//!
//! What is refused is refused before anything ran, and the host is as it was.

use std::fs;
use std::path::Path;

use libtest_mimic::Failed;
use metier_workspace::NO_SKILL;
use serde_json::json;

use crate::bench::{Bench, Renamed};

pub(super) fn hostile_name_of_a_skill(bench: &Bench) -> Result<(), Failed> {
    let victim = bench.write("victim/x/kept", "kept");
    let long = "n".repeat(300);
    let names = ["../../x", "../../../victim/x", "..", "/etc", "a/b", "a\nb", "-rf", "é", "%"]
        .into_iter()
        .chain(["x'; touch PWNED; '", "$(touch PWNED)", "A", "..\\..\\x", ".hidden", &long]);
    for name in names {
        let tree = bench.tree("demo").renamed(name);
        let request = json!({
            "skill": name, "command": "cat SKILL.md >&2 && cd out && echo \"$SKILL_NAME\" > made"
        });
        let output = bench.run_trees(request, vec![tree])?;
        assert_eq!(output.exit_code, Some(0), "{name:?}: {output:?}");
        assert!(output.stderr.contains("name: demo"), "{name:?}: {output:?}");
        let made = fs::read_to_string(bench.workspace().join("out/made"))?;
        assert_eq!(made, format!("{name}\n"));
        assert_eq!(fs::read_to_string(&victim)?, "kept", "{name:?}");
        assert_eq!(names_in(&bench.path("state")), ["content", "workspaces"], "{name:?}");
        assert_eq!(names_in(&bench.path("")), ["skills", "state", "victim"], "{name:?}");
    }
    let nul = bench.tree("demo").renamed("a\0b");
    assert!(bench.run_trees(json!({"skill": "a\0b", "command": "true"}), vec![nul]).is_err());
    assert!(bench.run(json!({"skill": "../demo", "command": "true"})).is_err());
    let reserved = bench.tree("demo").renamed(NO_SKILL);
    let request = json!({"skill": NO_SKILL, "command": "true"});
    assert!(bench.run_trees(request, vec![reserved]).is_err());
    Ok(())
}

/// A tree is made by another crate, which never makes such entries; nobody relies on that.
pub(super) fn hostile_entries_of_a_skill(bench: &Bench) -> Result<(), Failed> {
    let outside = bench.path("outside");
    fs::create_dir(&outside)?;
    let text = fs::read_to_string(bench.path("skills/demo/SKILL.md"))?;
    let absolute = bench.path("absolute").display().to_string();
    let paths = ["../../victim/new", "a/../../../new", "", ".", "..", "a//b", "./c", "link/new"];
    for (number, path) in paths.into_iter().chain([absolute.as_str()]).enumerate() {
        let mut tree = bench.tree("demo").renamed(&format!("demo{number}"));
        let mut file = tree.entries[0].clone();
        file.path = path.to_owned();
        tree.entries = vec![crate::bench::link("link", &outside.display().to_string()), file];
        // What would be copied is there, so that nothing but the rule refuses it.
        if !path.ends_with('.') && !path.is_empty() {
            fs::create_dir_all(bench.path("skills/demo/a"))?;
            bench.write(&format!("skills/demo/{path}"), &text);
        }
        let request = json!({"skill": tree.name, "command": "true"});
        assert!(bench.run_trees(request, vec![tree]).is_err(), "{path:?}");
        assert_eq!(names_in(&bench.path("state")), ["content", "workspaces"], "{path:?}");
        assert_eq!(names_in(&outside), [""; 0], "{path:?}");
        assert_eq!(names_in(&bench.path("state/content")), [""; 0], "{path:?}");
    }
    Ok(())
}

pub(super) fn destination_outside(bench: &Bench) -> Result<(), Failed> {
    let victim = bench.write("victim", "kept");
    bench.sh("echo seed > out/seed");
    let outside = victim.display().to_string();
    for to in [
        "../x",
        "../../../victim",
        "/tmp/x",
        &outside,
        "work/../../x",
        "work/..",
        "$WORK_DIR/../../x",
        "$HOME/x",
        "$WORK_DIRX/y",
        "${WORK_DIR}x",
        "${WORK_DIR",
        "~/x",
        "skills/demo/x",
        "runs/x/y",
        "metadata.json",
        ".venv/bin/ls",
        ".venvs/demo/bin/ls",
        ".lock",
        "work",
        "out",
        "$WORK_DIR",
        "out/a\nb",
        "out/a\0b",
        "C:/x",
        "$RUN_DIR/../record.json",
        "content/x",
    ] {
        for mode in ["copy", "link"] {
            let inputs = json!([{"from": "workspace://out/seed", "to": to, "mode": mode}]);
            let request = json!({"skill": "demo", "command": "echo ran", "inputs": inputs});
            assert!(bench.run(request).is_err(), "{to:?} as {mode}");
        }
    }
    assert_eq!(fs::read_to_string(victim)?, "kept");
    Ok(())
}

/// A place with something to take outside, and one folder of the host that is granted.
fn with_outside(bench: &Bench) -> Result<Bench, Failed> {
    let mut bench = Bench::new(bench.who);
    bench.write("secret", "secret");
    bench.write("hostile/secret", "secret");
    bench.write("host/plain", "plain");
    bench.write("skills/other/SKILL.md", "secret");
    std::os::unix::fs::symlink("../secret", bench.path("host/link"))?;
    std::os::unix::fs::symlink("/", bench.path("host/root"))?;
    bench.settings.host_inputs = vec![bench.path("host")];
    Ok(bench)
}

/// Makes sure that nothing comes in from any of these.
pub(super) fn all_are_refused<T: AsRef<str>>(bench: &Bench, sources: &[T]) {
    for from in sources.iter().map(T::as_ref) {
        for mode in ["copy", "link"] {
            let inputs = json!([{"from": from, "to": "work/inputs/x", "mode": mode}]);
            let request = json!({"skill": "demo", "command": "cat inputs/x", "inputs": inputs});
            let refused = bench.run(request);
            assert!(refused.is_err(), "{from:?} as {mode}: {refused:?}");
        }
    }
    assert!(!bench.workspace().join("work/inputs/x").exists());
}

pub(super) fn workspace_reference_outside(bench: &Bench) -> Result<(), Failed> {
    let bench = with_outside(bench)?;
    all_are_refused(
        &bench,
        &[
            "workspace://../x",
            "workspace://../../../../secret",
            "workspace:///etc/passwd",
            "workspace://$HOME/x",
            "workspace://~/x",
            "workspace://out/../../x",
            "workspace://a\0b",
            "workspace://out/a\nb",
            "WORKSPACE://out/x",
        ],
    );
    Ok(())
}

pub(super) fn skill_reference_outside(bench: &Bench) -> Result<(), Failed> {
    let bench = with_outside(bench)?;
    all_are_refused(
        &bench,
        &[
            "skill://../../x",
            "skill://demo/../../x",
            "skill://demo/../other/SKILL.md",
            "skill://demo//etc/passwd",
            "skill://demo/$HOME/x",
            "skill://other/SKILL.md",
            "skill:///etc/passwd",
            "skill://",
        ],
    );
    Ok(())
}

pub(super) fn host_reference_outside(bench: &Bench) -> Result<(), Failed> {
    let bench = with_outside(bench)?;
    let below = |rest: &str| format!("host://{}", bench.path(rest).display());
    all_are_refused(
        &bench,
        &[
            "host:///etc/shadow",
            "host://etc/passwd",
            "host:///",
            "host://",
            "host:///dev/zero",
            "host:///proc/self/environ",
            "file:///etc/passwd",
            "/etc/passwd",
            "../x",
            "",
        ],
    );
    let outside =
        ["secret", "host/../secret", "hostile/secret", "host/link", "host/root/etc/passwd"];
    all_are_refused(&bench, &outside.map(below));
    let inputs = json!([{"from": below("host/plain"), "to": "work/inputs/x"}]);
    let allowed =
        bench.run(json!({"skill": "demo", "command": "cat inputs/x", "inputs": inputs}))?;
    assert_eq!(allowed.stdout, "plain", "{allowed:?}");
    Ok(())
}

pub(super) fn artifact_reference_outside(bench: &Bench) -> Result<(), Failed> {
    let bench = with_outside(bench)?;
    all_are_refused(
        &bench,
        &[
            "artifact://../x",
            "artifact:///etc/passwd",
            "artifact://user:../x",
            "artifact://a\0b",
            "artifact://",
        ],
    );
    Ok(())
}

pub(super) fn directory_outside(bench: &Bench) -> Result<(), Failed> {
    bench.sh("ln -s / work/root; ln -s /tmp out/link; mkdir -p work/real; echo > work/file");
    for cwd in [
        "..",
        "../..",
        "/",
        "/tmp",
        "$WORK_DIR/../..",
        "$HOME",
        "$WORK_DIRX/a",
        "${WORK_DIR}a",
        "work\0",
        "out/\n",
        "..\\..",
        "~",
        "nowhere",
        "$WORK_DIR/root",
        "$WORK_DIR/root/tmp",
        "out/link",
        "work/root/usr",
        "$WORK_DIR/file",
        "$RUN_DIR/../..",
        "-",
        "work/real/../..",
    ] {
        let refused = bench.run(json!({"skill": "demo", "command": "pwd", "cwd": cwd}));
        assert!(refused.is_err(), "{cwd:?} led to {refused:?}");
    }
    for (cwd, end) in
        [("$WORK_DIR/real", "/work/real\n"), ("out", "/out\n"), ("", "/skills/demo\n")]
    {
        let output = bench.run(json!({"skill": "demo", "command": "pwd -P", "cwd": cwd}))?;
        assert!(output.stdout.ends_with(end), "{cwd:?} led to {output:?}");
    }
    Ok(())
}

pub(super) fn pattern_outside(bench: &Bench) -> Result<(), Failed> {
    for pattern in [
        "../*",
        "/etc/*",
        "$HOME/*",
        "out/../../*",
        "$WORK_DIR/../*",
        "${OUTPUT_DIR}x/*",
        "$WORK_DIRX/*",
        "[",
        "out/{a",
        "out/a\n*",
        "out/\0",
    ] {
        for field in ["output_files", "outputs"] {
            let value =
                if field == "outputs" { json!({"globs": [pattern]}) } else { json!([pattern]) };
            let mut request = json!({"skill": "demo", "command": "echo ran"});
            request[field] = value;
            assert!(bench.run(request).is_err(), "{pattern:?} in {field}");
        }
    }
    bench.write("state/workspaces/secret.txt", "secret");
    for pattern in ["out/{..,x}/*", "{..,.}/**", "out/[.][.]/*", "?./*", "**/secret.txt", "\\../*"]
    {
        let request = json!({"skill": "demo", "command": "true", "outputs": {"globs": [pattern]}});
        let found = bench.run(request);
        let files = found.map(|it| it.output_files).unwrap_or_default();
        assert!(files.iter().all(|file| !file.name.contains("secret")), "{pattern:?}: {files:?}");
    }
    Ok(())
}

/// Names in a folder, sorted.
pub(crate) fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("a folder").filter_map(Result::ok);
    let mut names: Vec<_> =
        entries.map(|it| it.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}
