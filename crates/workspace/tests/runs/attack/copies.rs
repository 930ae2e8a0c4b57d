//! Changes to what a skill runs from: its copy in the workspace, staged content, copies that sessions gave back.
//!
//! Where a program can change them, as on the host, the next run has the skill as its digest names it.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use libtest_mimic::Failed;
use serde_json::Value;

use crate::bench::{Bench, find};

/// Shell commands that change the script which later runs have, or what is around it.
const CHANGES: &[&str] = &[
    "echo 'echo evil' > scripts/hello.sh",
    "echo 'echo evil' >> scripts/hello.sh",
    // The same size and times.
    "cp -p scripts/hello.sh $TMPDIR/old; sed 's/hello/EVIL!/' $TMPDIR/old > scripts/hello.sh; \
     touch -r $TMPDIR/old scripts/hello.sh; chmod 444 scripts/hello.sh",
    "echo 'echo evil' > $WORK_DIR/evil.sh; ln -sfn $WORK_DIR/evil.sh scripts/hello.sh",
    "mkdir -p $WORK_DIR/evil; echo 'echo evil' > $WORK_DIR/evil/hello.sh; rm -rf scripts; ln -s $WORK_DIR/evil scripts",
    "rm -f scripts/hello.sh; mkdir scripts/hello.sh",
    "rm -f scripts/hello.sh; mkfifo scripts/hello.sh",
    "rm -rf scripts; echo evil > scripts",
    "chmod 4755 scripts/hello.sh",
    "chmod 000 scripts/hello.sh; chmod 000 scripts",
    "rm -rf scripts SKILL.md",
    "rm -f out work; ln -s /tmp out; mkdir work",
    "cd ..; rm -rf demo; ln -s $WORK_DIR demo",
    "cd ..; rm -rf demo",
];

pub(super) fn change_the_copy_that_runs(bench: &Bench) -> Result<(), Failed> {
    let before = state(bench);
    for change in CHANGES {
        bench.sh(&format!("chmod -R u+w . 2>/dev/null; ({change}) 2>/dev/null; true"));
        unharmed(bench, change)?;
        assert_eq!(state(bench), before, "{change}");
    }
    Ok(())
}

/// Somebody removes the copy, or puts a link in its place or in that of all copies, as a program on the host can.
pub(super) fn replace_the_copy(bench: &Bench) -> Result<(), Failed> {
    bench.sh("true");
    let copies = bench.workspace().join("skills");
    let has_copy = copies.join("demo").is_dir();
    let elsewhere = bench.path("elsewhere");
    bench.write("elsewhere/demo/scripts/hello.sh", "echo evil\n");
    let changes: [fn(&Path, &Path); 3] = [
        |copies, _| move_away(&copies.join("demo")),
        |copies, elsewhere| {
            move_away(&copies.join("demo"));
            symlink(elsewhere.join("demo"), copies.join("demo")).expect("a link");
        },
        |copies, elsewhere| {
            move_away(copies);
            symlink(elsewhere, copies).expect("a link");
        },
    ];
    for (number, change) in changes.into_iter().enumerate().filter(|_| has_copy) {
        change(&copies, &elsewhere);
        let warnings = unharmed(bench, &number.to_string())?;
        assert!(warnings.contains("was gone and was restored"), "{number}: {warnings}");
        assert_eq!(fs::read_to_string(elsewhere.join("demo/scripts/hello.sh"))?, "echo evil\n");
    }
    Ok(())
}

fn move_away(folder: &Path) {
    let _folder = fs::set_permissions(folder, Permissions::from_mode(0o755));
    let name = format!(
        "moved-{}",
        fs::read_dir(folder.parent().expect("a parent")).into_iter().flatten().count()
    );
    fs::rename(folder, folder.with_file_name(name)).expect("a folder of ours");
}

/// Shell commands that add something to the skill which its programs would load.
const ADDITIONS: &[&str] = &[
    "echo 'print(\"evil\")' > scripts/json.py",
    "mkdir scripts/json; echo 'print(\"evil\")' > scripts/json/__init__.py",
    "mkdir scripts/__pycache__; echo evil > scripts/__pycache__/own.cpython-312.pyc",
    "echo evil > scripts/$(printf 'json\\377.py'); mkdir -p bin node_modules/x; echo evil > bin/cat; chmod +x bin/cat",
    "mkdir many; i=0; while [ $i -lt 1500 ]; do : > many/$i; : > scripts/$i; i=$((i+1)); done",
    "ln -s /etc scripts/etc; mkfifo pipe",
];

pub(super) fn add_to_the_copy_that_runs(bench: &Bench) -> Result<(), Failed> {
    bench.write("skills/demo/scripts/own.py", "print('own')\n");
    bench.write("skills/demo/scripts/load.py", "import json, own\nprint(json.dumps('loaded'))\n");
    let before = state(bench);
    for addition in ADDITIONS {
        bench.sh(&format!("chmod -R u+w . 2>/dev/null; ({addition}) 2>/dev/null; true"));
        let output = bench.sh("if command -v python3 >/dev/null; then python3 scripts/load.py; fi");
        let expected = ["", "own\n\"loaded\"\n"];
        assert!(expected.contains(&output.stdout.as_str()), "{addition}: {output:?}");
        assert_eq!(state(bench), before, "{addition}");
    }
    Ok(())
}

/// Somebody changes content, as a program on the host can.
pub(super) fn change_staged_content(bench: &Bench) -> Result<(), Failed> {
    bench.sh("true");
    let script = staged(bench).join("scripts/hello.sh");
    let before = fs::metadata(&script)?.modified()?;
    let changes: [fn(&Path); 4] = [
        |script| fs::write(script, "echo EVIL! from $SKILL_NAME\n").expect("a file of ours"),
        |script| fs::remove_file(script).expect("a file of ours"),
        |script| {
            fs::remove_file(script).expect("a file of ours");
            symlink("/etc/passwd", script).expect("a link");
        },
        |script| fs::write(script.with_file_name("cat"), "evil").expect("a file of ours"),
    ];
    for (number, change) in changes.into_iter().enumerate() {
        open(&script);
        change(&script);
        if let Ok(changed) = fs::File::open(&script) {
            let _not_ours = changed.set_modified(before);
        }
        let output = unharmed(bench, &number.to_string())?;
        assert!(output.contains("had been changed and was restored"), "{number}: {output}");
    }
    // With a manifest that says the same.
    open(&script);
    fs::write(&script, "echo evil\n")?;
    let manifest = script.ancestors().nth(3).expect("the folder of content");
    let mut listed = fs::read_dir(manifest)?.map(|entry| entry.expect("an entry").path());
    let manifest = listed.find(|path| path.is_file()).expect("a manifest");
    fs::write(manifest, r#"{"entries":[]}"#)?;
    unharmed(bench, "manifest")?;
    Ok(())
}

/// Somebody puts a link to a folder of the caller, or something else, in the place of what all copies are made of.
pub(super) fn replace_staged_content_by_a_link(bench: &Bench) -> Result<(), Failed> {
    bench.sh("true");
    let staged = staged(bench);
    bench.write("victim/letter.txt", "dear\n");
    bench.write("victim/scripts/hello.sh", "echo evil\n");
    let victim = bench.path("victim");
    fs::set_permissions(&victim, Permissions::from_mode(0o750))?;
    let changes: [fn(&Path, &Path); 3] = [
        |staged, victim| symlink(victim, staged).expect("a link"),
        |staged, victim| symlink(victim.join("none"), staged).expect("a link"),
        |staged, _| fs::write(staged, "evil").expect("a file of ours"),
    ];
    for (number, change) in changes.into_iter().enumerate() {
        move_away(&staged);
        change(&staged, &victim);
        let warnings = unharmed(bench, &number.to_string())?;
        assert!(warnings.contains("had been changed and was restored"), "{number}: {warnings}");
        assert!(fs::symlink_metadata(&staged)?.is_dir(), "{number}");
        let mut names: Vec<_> = fs::read_dir(&victim)?.flatten().map(|it| it.file_name()).collect();
        names.sort();
        assert_eq!(names, ["letter.txt", "scripts"], "{number}");
        assert_eq!(fs::metadata(&victim)?.permissions().mode() & 0o7777, 0o750, "{number}");
        assert_eq!(fs::read_to_string(victim.join("scripts/hello.sh"))?, "echo evil\n");
    }
    Ok(())
}

pub(super) fn change_a_spare_copy(bench: &Bench) -> Result<(), Failed> {
    bench.sh("true");
    bench.runner.workspaces.give_copies_back(&bench.key())?;
    let spare = find(&bench.path("state/workspaces"), "hello.sh");
    for script in &spare {
        open(script);
        fs::write(script, "echo evil\n")?;
    }
    let mut other = bench.again();
    other.session = "other".to_owned();
    let warnings = unharmed(&other, "spare")?;
    let is_told = warnings.contains("had been changed and was restored: `scripts/hello.sh`");
    assert_eq!(is_told, !spare.is_empty(), "{warnings}");
    unharmed(bench, "after its copies were given back")?;
    Ok(())
}

/// Makes sure that the skill runs as it is, and that its record names what ran; returns warnings.
fn unharmed(bench: &Bench, what: &str) -> Result<String, Failed> {
    let output = bench.sh("cat SKILL.md; sh scripts/hello.sh");
    let expected = "---\nname: demo\ndescription: Demo.\n---\nhello from demo\n";
    assert_eq!(output.stdout, expected, "{what}: {output:?}");
    let record = bench.workspace().join("runs").join(&output.run).join("record.json");
    let record: Value = serde_json::from_slice(&fs::read(record)?)?;
    assert_eq!(record["skill_digest"], bench.tree("demo").digest.as_str(), "{what}");
    Ok(output.warnings.join("\n"))
}

/// Everything in the skill as a run finds it, with kinds, modes and targets.
fn state(bench: &Bench) -> String {
    let output = bench.sh("find . -exec stat -c '%n %F %a %N' {} + | sort");
    assert!(output.stdout.contains("scripts/hello.sh regular file 444"), "{output:?}");
    output.stdout
}

fn staged(bench: &Bench) -> PathBuf {
    let listed = fs::read_dir(bench.path("state/content")).expect("a folder");
    let mut listed = listed.map(|entry| entry.expect("an entry").path());
    listed.find(|path| path.is_dir()).expect("a staged skill")
}

/// Lets its owner change a file and what is beside it.
fn open(file: &Path) {
    let folder = file.parent().expect("a file has a folder");
    fs::set_permissions(folder, Permissions::from_mode(0o755)).expect("a folder of ours");
    if file.is_file() {
        fs::set_permissions(file, Permissions::from_mode(0o644)).expect("a file of ours");
    }
}
