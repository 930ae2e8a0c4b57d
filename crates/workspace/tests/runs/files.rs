//! Files that are brought in and collected: which, how much of them, and which of them is the answer.

use std::fs;
use std::sync::mpsc;

use libtest_mimic::Failed;
use metier_workspace::Redactor;
use serde_json::json;

use crate::Promise;
use crate::bench::Bench;

pub(crate) const PROMISES: &[Promise] = &[
    ("a_folder_is_never_replaced_by_an_input", over_a_folder),
    ("a_truncated_file_is_never_kept", truncated_is_not_kept),
    ("a_large_file_is_kept_whole", large_is_kept_whole),
    ("an_older_file_is_never_the_primary_output", older_is_not_primary),
    ("empty_files_of_a_failed_run_are_left_out", empty_files_of_a_failed_run),
    ("a_large_file_does_not_hide_small_ones", large_does_not_hide),
    ("output_that_is_no_text_is_shown_all_the_same", output_that_is_no_text),
    ("keys_are_masked_in_streams_records_names_and_texts_and_kept_in_files", masked),
    ("a_text_that_is_cut_does_not_end_within_a_key", cut_key),
];

const KEY: &str = "key-0123456789";

/// The same place, where a key is masked.
fn masking(bench: &Bench) -> Bench {
    let mut masking = bench.again();
    masking.runner.redactor = Redactor::new([KEY]).expect("a redactor");
    masking
}

fn masked(bench: &Bench) -> Result<(), Failed> {
    let bench = masking(bench);
    // More than is kept in memory, so that the rest is in a file.
    let command = format!(
        "for n in $(seq 3000); do echo \"$n key-\"; done; printf key-01; sleep 0.1; echo 23456789; \
         echo {KEY} >&2; echo text {KEY} > out/{KEY}.txt"
    );
    // Nothing else is written then, so that the pieces of the key arrive apart.
    let slow = "printf key-; sleep 0.5; printf 0123; sleep 0.5; echo 456789";
    let slow = bench.run(json!({ "skill": "demo", "command": slow }))?;
    assert_eq!(slow.stdout, "****\n", "{slow:?}");
    let (said, heard) = mpsc::channel::<Vec<u8>>();
    let live = Box::new(move |_, bytes: &[u8]| said.send(bytes.to_vec()).expect("it is heard"));
    let request = json!({
        "skill": "demo", "command": command,
        "outputs": {"globs": ["out/**"], "inline": true, "save": true}
    });
    let output = bench.run_live(request, live)?;
    assert!(output.stdout.ends_with("3000 key-\n****\n"), "{output:?}");
    assert_eq!(output.stderr, "****\n");
    assert_eq!(output.output_files[0].name, "out/****.txt");
    assert_eq!(output.output_files[0].content.as_deref(), Some("text ****\n"));
    let workspace = bench.workspace();
    let run = workspace.join("runs").join(&output.run);
    let heard: Vec<u8> = heard.try_iter().flatten().collect();
    let mut seen = format!("{output:?}{}", String::from_utf8_lossy(&heard));
    for name in ["stdout", "stderr", "record.json"] {
        seen.push_str(&fs::read_to_string(run.join(name))?);
    }
    assert!(!seen.contains(KEY), "{seen}");
    assert_eq!(
        fs::read_to_string(workspace.join(format!("out/{KEY}.txt")))?,
        format!("text {KEY}\n")
    );
    Ok(())
}

fn cut_key(bench: &Bench) -> Result<(), Failed> {
    let bench = masking(bench);
    let request = json!({
        "skill": "demo", "command": format!("printf 'a %s and %s' {KEY} {KEY} > out/a.txt"),
        "outputs": {"globs": ["out/*"], "inline": true, "max_file_bytes": 33}
    });
    let output = bench.run(request)?;
    assert_eq!(output.output_files[0].content.as_deref(), Some("a **** and "), "{output:?}");
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

fn output_that_is_no_text(bench: &Bench) -> Result<(), Failed> {
    let output = bench.sh("head -c 20000 /dev/zero | tr '\\0' '\\377'; printf '\\0\\033[2J' >&2");
    assert!(output.stdout.contains("… 3616 bytes left out …"), "{}", output.stdout.len());
    assert_eq!(output.stderr, "\0\u{1b}[2J");
    let all = output.stdout_ref.expect("all of it is on disk");
    let inputs = json!([{"from": all, "to": "work/all"}]);
    let again =
        bench.run(json!({"skill": "demo", "command": "wc -c < work/all", "inputs": inputs}))?;
    assert_eq!(again.stdout.trim(), "20000");
    Ok(())
}
