//! Links, special files and files that change: what one run leaves must not lead the next one, or
//! metier itself, anywhere else.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::Failed;
use metier_workspace::RunOutput;
use serde_json::{Value, json};

use super::requests::names_in;
use crate::bench::{Bench, is_without_namespaces};

fn everything(command: &str) -> Value {
    json!({
        "skill": "demo", "command": command,
        "outputs": {"globs": ["$WORKSPACE_DIR/**", "out/**"], "inline": true, "save": true}
    })
}

/// Whether a word is anywhere in what a run answered.
fn shows(output: &RunOutput, word: &str) -> bool {
    serde_json::to_string(output).expect("an answer is JSON").contains(word)
}

/// Whether a file was collected.
fn has(output: &RunOutput, name: &str) -> bool {
    output.output_files.iter().any(|file| file.name == name)
}

pub(super) fn link_to_a_secret(bench: &Bench) -> Result<(), Failed> {
    let secret = bench.write("secret", "very-secret");
    let output = bench.run(everything(&format!(
        "ln -s /etc/shadow out/shadow; ln -s /etc out/etc; ln -s {} out/secret; ln -s . out/loop; \
         ln -s nowhere out/broken; ln -s /proc/self/environ out/environ; echo fine > out/fine",
        secret.display()
    )))?;
    assert!(!shows(&output, "very-secret") && !shows(&output, "root:"), "{output:?}");
    assert!(has(&output, "out/fine"));
    for name in ["shadow", "etc/passwd", "secret", "loop/fine", "environ"] {
        assert!(!has(&output, &format!("out/{name}")), "{name}");
    }
    assert!(output.warnings.iter().any(|it| it.contains("`out/shadow` is a link")), "{output:?}");
    Ok(())
}

pub(super) fn link_to_another_session(bench: &Bench) -> Result<(), Failed> {
    let mut other = bench.again();
    other.session = "other".to_owned();
    other.sh("echo very-secret > out/secret");
    let output = bench.run(everything(&format!(
        "ln -s {0}/out/secret out/other; ln -s {0}/out out/session; ln -s {0} work/all; echo fine > out/fine",
        other.workspace().display()
    )))?;
    assert!(!shows(&output, "very-secret"), "{output:?}");
    assert!(has(&output, "out/fine"));
    for name in ["out/other", "out/session/secret", "work/all/out/secret"] {
        assert!(!has(&output, name), "{name}");
    }
    let inputs = json!([{"from": "workspace://out/other", "to": "work/inputs/x"}]);
    assert!(bench.run(json!({"skill": "demo", "command": "true", "inputs": inputs})).is_err());
    Ok(())
}

pub(super) fn links_that_lead_inputs_out(bench: &Bench) -> Result<(), Failed> {
    let victim = bench.write("victim/kept", "kept");
    let folder = victim.parent().expect("it has one").display().to_string();
    bench.sh(&format!("ln -s {folder} work/l; ln -s {folder} out/l; ln -s {folder}/kept work/k"));
    let attempts = [
        ("skill://demo/SKILL.md", "work/l/new"),
        ("skill://demo/SKILL.md", "out/l/deep/new"),
        ("skill://demo", "work/l"),
        ("workspace://work/l/kept", "work/inputs/x"),
        ("workspace://work/k", "work/inputs/x"),
        ("workspace://out/l", "work/inputs/x"),
    ];
    for (from, to) in attempts {
        let request = json!({
            "skill": "demo", "command": "cat inputs/x", "inputs": [{"from": from, "to": to}]
        });
        assert!(bench.run(request).is_err(), "{from} to {to}");
    }
    bench.sh(&format!("rm -rf work/inputs; ln -s {folder} work/inputs"));
    for mode in ["copy", "link"] {
        let inputs = json!([{"from": "skill://demo/SKILL.md", "mode": mode}]);
        bench.run(json!({"skill": "demo", "command": "true", "inputs": inputs}))?;
        let folder = bench.workspace().join("work/inputs").symlink_metadata()?;
        assert!(folder.is_dir(), "the folder of inputs is one again");
    }
    assert_eq!(names_in(&bench.path("victim")), ["kept"]);
    assert_eq!(fs::read_to_string(victim)?, "kept");
    // A folder with links in it comes in without them.
    let output = bench.run(json!({
        "skill": "demo", "command": "find work/copy -type l; cat work/copy/l/kept work/copy/k",
        "inputs": [{"from": "workspace://work", "to": "out/copy"}]
    }))?;
    assert!(!shows(&output, "kept\""), "{output:?}");
    Ok(())
}

pub(super) fn input_over_a_victim(bench: &Bench) -> Result<(), Failed> {
    let victim = bench.write("victim", "kept");
    for mode in ["copy", "link"] {
        bench.sh(&format!("ln -sf {} work/inputs/x; echo seed > out/seed", victim.display()));
        let output = bench.run(json!({
            "skill": "demo", "command": "cat inputs/x; echo changed > inputs/x",
            "inputs": [{"from": "workspace://out/seed", "to": "work/inputs/x", "mode": mode}]
        }))?;
        assert_eq!(output.stdout, "seed\n", "{mode}: {output:?}");
        assert_eq!(fs::read_to_string(&victim)?, "kept", "{mode}");
    }
    Ok(())
}

pub(super) fn hard_links_to_the_skill(bench: &Bench) -> Result<(), Failed> {
    let before = contents(&bench.path("state/content"));
    bench.sh("true");
    let before = if before.is_empty() { contents(&bench.path("state/content")) } else { before };
    bench.sh(
        "ln scripts/hello.sh work/h; ln scripts/hello.sh out/h; for f in work/h out/h; do \
         chmod u+w $f; echo evil >> $f; done; ln -s ../skills/demo/SKILL.md work/s; echo evil >> work/s",
    );
    assert_eq!(contents(&bench.path("state/content")), before);
    Ok(())
}

/// All files below a folder with what is in them.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
        let kind = entry.file_type().expect("it is there");
        if kind.is_dir() {
            all.extend(contents(&entry.path()));
        } else if kind.is_file() {
            all.push((entry.path().display().to_string(), fs::read(entry.path()).expect("a file")));
        }
    }
    all.sort();
    all
}

pub(super) fn pipes_and_sockets(bench: &Bench) -> Result<(), Failed> {
    let started = Instant::now();
    let output = bench.run(everything(
        "mkfifo out/fifo work/inputs/fifo; python3 -c 'import socket; \
         socket.socket(socket.AF_UNIX).bind(\"out/socket\")'; ln -s fifo out/link; echo x > out/x",
    ))?;
    let names: Vec<_> = output.output_files.iter().map(|file| file.name.as_str()).collect();
    assert!(names.contains(&"out/x") && !names.contains(&"out/fifo"), "{output:?}");
    // Without namespaces no program can make a socket.
    let places = ["fifo", "link", "socket"];
    for place in &places[..if is_without_namespaces() { 2 } else { 3 }] {
        assert!(output.warnings.iter().any(|it| it.contains(*place)), "{place}: {output:?}");
        let inputs = json!([{"from": format!("workspace://out/{place}")}]);
        let request = json!({"skill": "demo", "command": "true", "inputs": inputs});
        assert!(bench.run(request).is_err(), "{place}");
    }
    assert!(started.elapsed() < Duration::from_secs(10));
    Ok(())
}

pub(super) fn endless_folders(bench: &Bench) -> Result<(), Failed> {
    let started = Instant::now();
    let deep = "import os\nfor top in ('out', 'work'):\n  here = os.getcwd(); os.chdir(top)\n  \
                for _ in range(3000): os.mkdir('d'); os.chdir('d')\n  open('x', 'w').write('deep')\n  \
                os.chdir(here)";
    let output = bench.run(everything(&format!("python3 -c \"{deep}\"; echo fine > out/fine")))?;
    assert!(output.output_files.iter().any(|file| file.name == "out/fine"), "{output:?}");
    for (from, to) in
        [("workspace://work/d", "work/copy"), ("workspace://work", "work/inputs/again")]
    {
        let inputs = json!([{"from": from, "to": to}]);
        let refused = bench.run(json!({"skill": "demo", "command": "true", "inputs": inputs}));
        assert!(refused.is_err(), "{from}: {refused:?}");
    }
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    // It is removed when its time is over, and so are those of others.
    let mut other = Bench::new(bench.who);
    other.session = "a".to_owned();
    let key = other.key();
    bench.runner.workspaces.workspace(&key)?;
    let last = metier_workspace::WorkspaceKey { session: "z".to_owned(), ..key };
    bench.runner.workspaces.workspace(&last)?;
    thread::sleep(Duration::from_millis(20));
    let removed = bench.runner.workspaces.remove_unused(Duration::ZERO)?;
    assert_eq!(removed.len(), 3, "{removed:?}");
    Ok(())
}

pub(super) fn countless_links(bench: &Bench) -> Result<(), Failed> {
    let output = bench.sh(
        "python3 -c \"import os\nfor i in range(20000): os.symlink('/x', 'out/%0200d' % i)\n\
         for i in range(500): open(b'out/\\xff%d' % i, 'w')\"; for i in 1 2 3; do : > out/e$i; done; false",
    );
    assert!(output.warnings.len() <= 100, "{} warnings", output.warnings.len());
    assert!(output.warnings.iter().any(|it| it.contains("more")), "{:?}", output.warnings.last());
    Ok(())
}

/// Does something again and again on another thread while something else is done here.
fn while_swapping(mut swap: impl FnMut() + Send, mut act: impl FnMut()) {
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                swap();
            }
        });
        for _ in 0..25 {
            act();
        }
        over.store(true, Ordering::Relaxed);
    });
}

pub(super) fn swapped_while_collected(bench: &Bench) -> Result<(), Failed> {
    let secret = bench.write("secret/file", "very-secret");
    bench.sh("mkdir -p out/d; echo fine > out/d/file; echo fine > out/file");
    let out = bench.workspace().join("out");
    let (file, folder) = (out.join("file"), out.join("d"));
    let outside = secret.parent().expect("it has one");
    let swap = || {
        let _raced = fs::rename(&folder, out.join("real"));
        let _raced = symlink(outside, &folder);
        let _raced = fs::remove_file(&file);
        let _raced = symlink(&secret, &file);
        let _raced = fs::remove_file(&folder);
        let _raced = fs::rename(out.join("real"), &folder);
        let _raced = fs::remove_file(&file);
        let _raced = fs::write(&file, "fine");
    };
    while_swapping(swap, || {
        let request = json!({
            "skill": "demo", "command": "true",
            "outputs": {"globs": ["out/**", "out/d/*"], "inline": true, "save": true}
        });
        let output = bench.run(request).expect("it runs");
        assert!(!shows(&output, "very-secret"), "{output:?}");
    });
    let kept =
        json!([{"from": "artifact://out/file"}, {"from": "artifact://out/d/file", "to": "work/f"}]);
    for input in kept.as_array().into_iter().flatten() {
        let request =
            json!({"skill": "demo", "command": "cat inputs/file work/f", "inputs": [input]});
        if let Ok(output) = bench.run(request) {
            assert!(!shows(&output, "very-secret"), "{output:?}");
        }
    }
    Ok(())
}

pub(super) fn swapped_while_brought_in(bench: &Bench) -> Result<(), Failed> {
    let victim = bench.write("victim/file", "very-secret");
    bench.sh("mkdir -p work/from work/to; echo fine > work/from/file");
    let work = bench.workspace().join("work");
    let outside = victim.parent().expect("it has one");
    let swap = || {
        for name in ["from", "to"] {
            let _raced = fs::rename(work.join(name), work.join("real"));
            let _raced = symlink(outside, work.join(name));
            let _raced = fs::remove_file(work.join(name));
            let _raced = fs::rename(work.join("real"), work.join(name));
        }
    };
    while_swapping(swap, || {
        let request = json!({
            "skill": "demo", "command": "cat work/inputs/x work/inputs/y/file 2>/dev/null",
            "inputs": [
                {"from": "workspace://work/from/file", "to": "work/inputs/x"},
                {"from": "workspace://work/from", "to": "work/inputs/y"},
                {"from": "skill://demo/SKILL.md", "to": "work/to/new"},
            ]
        });
        if let Ok(output) = bench.run(request) {
            assert!(!shows(&output, "very-secret"), "{output:?}");
        }
    });
    assert_eq!(names_in(outside), ["file"]);
    assert_eq!(fs::read_to_string(victim)?, "very-secret");
    Ok(())
}

pub(super) fn links_in_a_workspace_that_is_removed(bench: &Bench) -> Result<(), Failed> {
    let victim = bench.write("victim/kept", "kept");
    let folder = victim.parent().expect("it has one").display();
    bench.sh(&format!(
        "ln -s {folder} work/l; ln -s {folder} out/l; mkdir -p work/a/b/c; ln -s {folder} work/a/b/c/l; \
         chmod 000 work/a/b; chmod 555 work/a; mkdir $'work/n\\nl' 'work/ '; mkfifo work/p"
    ));
    thread::sleep(Duration::from_millis(20));
    let root = bench.workspace();
    thread::sleep(Duration::from_millis(20));
    bench.runner.workspaces.remove_unused(Duration::ZERO)?;
    assert!(!root.exists());
    assert_eq!(fs::read_to_string(victim)?, "kept");
    Ok(())
}
