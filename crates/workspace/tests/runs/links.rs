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

use crate::Promise;
use crate::bench::Bench;

pub(crate) const PROMISES: &[Promise] = &[
    ("links_in_outputs_are_not_followed", links_in_outputs),
    ("links_of_an_earlier_run_lead_no_input_out", links_lead_no_input_out),
    ("a_link_or_copy_over_a_link_replaces_the_link", over_a_link),
    ("a_folder_is_never_replaced_by_an_input", over_a_folder),
    ("a_hard_link_changes_nothing_of_the_skill", hard_links),
    ("pipes_and_sockets_are_passed_over_at_once", special_files),
    ("deep_and_endless_folders_are_bounded", deep_folders),
    ("many_warnings_are_counted_not_listed", many_warnings),
    ("a_file_swapped_while_it_is_collected_shows_nothing", swapped_while_collecting),
    ("a_folder_swapped_while_inputs_come_in_leads_nowhere", swapped_while_bringing_in),
    ("a_truncated_file_is_never_kept", truncated_is_not_kept),
    ("a_large_file_is_kept_whole", large_is_kept_whole),
    ("an_older_file_is_never_the_primary_output", older_is_not_primary),
    ("empty_files_of_a_failed_run_are_left_out", empty_files_of_a_failed_run),
    ("a_large_file_does_not_hide_small_ones", large_does_not_hide),
];

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

fn links_in_outputs(bench: &Bench) -> Result<(), Failed> {
    let secret = bench.write("secret", "very-secret");
    let mut other = Bench::new(bench.who);
    other.session = "other".to_owned();
    other.sh("echo very-secret > out/secret");
    let (secret, session) = (secret.display(), other.workspace());
    let output = bench.run(everything(&format!(
        "ln -s /etc/shadow out/shadow; ln -s /etc out/etc; ln -s {secret} out/secret; \
         ln -s {0}/out/secret out/other; ln -s {0}/out out/session; ln -s . out/loop; \
         ln -s nowhere out/broken; ln -s /proc/self/environ out/environ; echo fine > out/fine",
        session.display()
    )))?;
    assert!(!shows(&output, "very-secret") && !shows(&output, "root:"), "{output:?}");
    let found = |name: &str| output.output_files.iter().any(|file| file.name == name);
    assert!(found("out/fine"));
    for name in
        ["shadow", "etc/passwd", "secret", "other", "session/secret", "loop/fine", "environ"]
    {
        assert!(!found(&format!("out/{name}")), "{name}");
    }
    assert!(output.warnings.iter().any(|it| it.contains("`out/shadow` is a link")), "{output:?}");
    Ok(())
}

fn links_lead_no_input_out(bench: &Bench) -> Result<(), Failed> {
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
    assert_eq!(crate::attacks::names_in(&bench.path("victim")), ["kept"]);
    assert_eq!(fs::read_to_string(victim)?, "kept");
    // A folder with links in it comes in without them.
    let output = bench.run(json!({
        "skill": "demo", "command": "find work/copy -type l; cat work/copy/l/kept work/copy/k",
        "inputs": [{"from": "workspace://work", "to": "out/copy"}]
    }))?;
    assert!(!shows(&output, "kept\""), "{output:?}");
    Ok(())
}

fn over_a_link(bench: &Bench) -> Result<(), Failed> {
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

fn over_a_folder(bench: &Bench) -> Result<(), Failed> {
    bench.sh("mkdir -p work/d; echo kept > work/d/kept; echo seed > out/seed");
    for mode in ["copy", "link"] {
        let inputs = json!([{"from": "workspace://out/seed", "to": "work/d", "mode": mode}]);
        assert!(bench.run(json!({"skill": "demo", "command": "true", "inputs": inputs})).is_err());
    }
    assert_eq!(bench.sh("cat work/d/kept").stdout, "kept\n");
    Ok(())
}

fn hard_links(bench: &Bench) -> Result<(), Failed> {
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

fn special_files(bench: &Bench) -> Result<(), Failed> {
    let started = Instant::now();
    let output = bench.run(everything(
        "mkfifo out/fifo work/inputs/fifo; python3 -c 'import socket; \
         socket.socket(socket.AF_UNIX).bind(\"out/socket\")'; ln -s fifo out/link; echo x > out/x",
    ))?;
    let names: Vec<_> = output.output_files.iter().map(|file| file.name.as_str()).collect();
    assert!(names.contains(&"out/x") && !names.contains(&"out/fifo"), "{output:?}");
    for place in ["fifo", "socket", "link"] {
        assert!(output.warnings.iter().any(|it| it.contains(place)), "{place}: {output:?}");
        let inputs = json!([{"from": format!("workspace://out/{place}")}]);
        let request = json!({"skill": "demo", "command": "true", "inputs": inputs});
        assert!(bench.run(request).is_err(), "{place}");
    }
    assert!(started.elapsed() < Duration::from_secs(10));
    Ok(())
}

fn deep_folders(bench: &Bench) -> Result<(), Failed> {
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
    let last = metier_workspace::SessionKey { session: "z".to_owned(), ..key };
    bench.runner.workspaces.workspace(&last)?;
    thread::sleep(Duration::from_millis(20));
    let removed = bench.runner.workspaces.remove_unused(Duration::ZERO)?;
    assert_eq!(removed.len(), 3, "{removed:?}");
    Ok(())
}

fn many_warnings(bench: &Bench) -> Result<(), Failed> {
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

fn swapped_while_collecting(bench: &Bench) -> Result<(), Failed> {
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

fn swapped_while_bringing_in(bench: &Bench) -> Result<(), Failed> {
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
    assert_eq!(crate::attacks::names_in(outside), ["file"]);
    assert_eq!(fs::read_to_string(victim)?, "very-secret");
    Ok(())
}

fn truncated_is_not_kept(bench: &Bench) -> Result<(), Failed> {
    let mut request = json!({
        "skill": "demo", "command": "head -c 2000 /dev/zero | tr '\\0' a > out/big.txt; echo s > out/small.txt",
        "outputs": {"globs": ["out/*"], "inline": true, "save": true, "max_file_bytes": 1000}
    });
    for _ in 0..2 {
        let output = bench.run(request.clone())?;
        let big = &output.output_files[0];
        assert_eq!((big.size_bytes, big.truncated), (2000, true), "{output:?}");
        assert_eq!(big.content.as_ref().map(String::len), Some(1000));
        let kept: Vec<_> = output.artifact_files.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(kept, ["out/small.txt"]);
        assert!(output.warnings.iter().any(|it| it.contains("`out/big.txt` was not kept")));
        // The older way of asking keeps no part of it either.
        request = json!({
            "skill": "demo", "command": "head -c 5000000 /dev/zero | tr '\\0' a > out/big.txt; echo s > out/small.txt",
            "output_files": ["out/*"], "save_as_artifacts": true
        });
        let output = bench.run(request.clone())?;
        assert_eq!(output.artifact_files.len(), 1, "{:?}", output.artifact_files);
        request = json!({
            "skill": "demo", "command": "head -c 2000 /dev/zero | tr '\\0' a > out/big.txt; echo s > out/small.txt",
            "outputs": {"Globs": ["out/*"], "Inline": true, "Save": true, "MaxFileBytes": 1000}
        });
    }
    Ok(())
}

fn large_is_kept_whole(bench: &Bench) -> Result<(), Failed> {
    let output = bench.run(json!({
        "skill": "demo", "command": "head -c 6000000 /dev/urandom > out/big; cksum < out/big",
        "outputs": {"globs": ["out/big"], "save": true, "max_file_bytes": 20_000_000}
    }))?;
    assert_eq!(output.artifact_files.len(), 1, "{output:?}");
    let inputs = json!([{"from": "artifact://out/big"}]);
    let again =
        bench.run(json!({"skill": "demo", "command": "cksum < inputs/big", "inputs": inputs}))?;
    assert_eq!(again.stdout, output.stdout);
    Ok(())
}

fn older_is_not_primary(bench: &Bench) -> Result<(), Failed> {
    let first = bench.sh("echo old > out/a.txt; touch -d 2001-01-01 out/a.txt");
    assert_eq!(first.primary_output.map(|it| it.name).as_deref(), Some("out/a.txt"));
    let second = bench.sh("touch -d 2001-01-01 out/empty; cat out/a.txt");
    assert_eq!((second.stdout.as_str(), second.primary_output), ("old\n", None));
    assert!(
        second.output_files.iter().all(|it| it.name != "out/a.txt"),
        "{:?}",
        second.output_files
    );
    let request = json!({
        "skill": "demo", "command": "echo new > out/b.txt; touch -d 2001-01-01 out/b.txt",
        "output_files": ["out/*.txt"]
    });
    let third = bench.run(request)?;
    assert_eq!(third.primary_output.map(|it| it.name).as_deref(), Some("out/b.txt"));
    // What the caller brought in is not what the run wrote.
    let fourth = bench.run(json!({
        "skill": "demo", "command": "true", "inputs": [{"from": "skill://demo/SKILL.md", "to": "out/0.txt"}]
    }))?;
    assert_eq!(fourth.primary_output, None);
    Ok(())
}

fn empty_files_of_a_failed_run(bench: &Bench) -> Result<(), Failed> {
    for ending in ["false", "kill -9 $$", "sleep 60"] {
        let output = bench.run(json!({
            "skill": "demo", "command": format!(": > out/empty; echo part > out/part; {ending}"), "timeout": 0.5,
            "outputs": {"globs": ["out/*"], "save": true}
        }))?;
        let kept: Vec<_> = output.artifact_files.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(kept, ["out/part"], "{ending}");
        assert_eq!(output.output_files.len(), 1, "{ending}: {output:?}");
        assert!(output.warnings.iter().any(|it| it.contains("`out/empty` is empty")), "{ending}");
    }
    Ok(())
}

fn large_does_not_hide(bench: &Bench) -> Result<(), Failed> {
    let output = bench.run(json!({
        "skill": "demo", "command": "head -c 5000 /dev/zero > out/a; echo small > out/b",
        "outputs": {"globs": ["out/*"], "inline": true, "max_total_bytes": 1000}
    }))?;
    let names: Vec<_> = output.output_files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(names, ["out/b"]);
    assert!(output.warnings.iter().any(|it| it.contains("left out")), "{output:?}");
    Ok(())
}
