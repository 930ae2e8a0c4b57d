//! Runs that receive a key: what they make is there for the session, and for their skill again.

use std::fs;
use std::io::Read;

use libtest_mimic::Failed;
use metier_workspace::input::upload;
use serde_json::json;

use crate::Promise;
use crate::attack::keyed;
use crate::bench::{Bench, Renamed};

pub(crate) const PROMISES: &[Promise] = &[
    ("keys::what_a_run_with_a_key_made_is_shared_and_there_again", shared),
    ("keys::inputs_of_a_run_with_a_key_are_brought_in_and_not_shared", inputs),
    ("keys::attached_files_reach_a_run_with_a_key_as_they_were_attached", attached),
    ("keys::a_failed_run_with_a_key_says_what_it_did_not_see", unseen),
    ("keys::the_folder_of_a_run_with_a_key_is_beside_its_record", run_folder),
    ("keys::an_older_workspace_with_a_shared_home_goes_on", older),
];

fn shared(bench: &Bench) -> Result<(), Failed> {
    let command = "mkdir -p out/sub; echo one > out/sub/a.txt; echo two > work/b.txt; \
                   printf '#!/bin/sh\\necho three\\n' > out/c; chmod +x out/c";
    let output = keyed(bench, json!({ "command": command }))?;
    let names: Vec<&str> = output.output_files.iter().map(|file| file.name.as_str()).collect();
    assert_eq!(names, ["out/c", "out/sub/a.txt"], "{output:?}");
    assert!(output.warnings.is_empty() && !output.incomplete, "{output:?}");
    // For others, and by reference.
    let demo = bench.sh("cat out/sub/a.txt work/b.txt; out/c");
    assert_eq!(demo.stdout, "one\ntwo\nthree\n", "{demo:?}");
    assert_eq!(fs::read_to_string(bench.workspace().join("out/sub/a.txt"))?, "one\n");
    // For itself, whatever others made of theirs.
    bench.sh("echo evil > out/sub/a.txt; rm work/b.txt");
    let again = keyed(bench, json!({"command": "cat out/sub/a.txt work/b.txt; echo $OTHER_KEY"}))?;
    assert_eq!(again.stdout, "one\ntwo\nvery-secret\n", "{again:?}");
    assert!(again.output_files.is_empty(), "{again:?}");
    // What it did not change is not shared once more.
    assert_eq!(bench.sh("cat out/sub/a.txt").stdout, "evil\n");
    Ok(())
}

fn inputs(bench: &Bench) -> Result<(), Failed> {
    bench.sh("echo theirs > out/data.txt; echo more > work/more.txt");
    let request = json!({
        "command": "cat inputs/data.txt work/x/more.txt; ls out; echo changed > work/x/more.txt",
        "inputs": [
            {"from": "workspace://out/data.txt"},
            {"from": "workspace://work/more.txt", "to": "work/x/more.txt", "mode": "link"},
        ],
    });
    let output = keyed(bench, request)?;
    assert_eq!(output.stdout, "theirs\nmore\n", "{output:?}");
    let workspace = bench.workspace();
    assert!(!workspace.join("work/inputs/data.txt").exists());
    assert_eq!(fs::read_to_string(workspace.join("work/x/more.txt"))?, "changed\n");
    assert_eq!(fs::read_to_string(workspace.join("work/more.txt"))?, "more\n");
    Ok(())
}

fn attached(bench: &Bench) -> Result<(), Failed> {
    let workspace = bench.runner.workspaces.workspace(&bench.key())?;
    upload(&workspace, "table.csv", b"theirs\n")?;
    upload(&workspace, "notes.txt", b"notes\n")?;
    bench.sh("echo evil > work/inputs/notes.txt; ln -sf /etc/passwd work/inputs/more.txt");
    let output = keyed(bench, json!({"command": "cat inputs/table.csv; ls inputs"}))?;
    assert_eq!(output.stdout, "theirs\ntable.csv\n", "{output:?}");
    let warning = "the attached file `work/inputs/notes.txt` is not as it was attached";
    assert!(output.warnings.iter().any(|it| it.starts_with(warning)), "{output:?}");
    // Its own copy is its own, whatever others make of theirs.
    keyed(bench, json!({"command": "echo mine >> inputs/table.csv"}))?;
    bench.sh("echo evil > work/inputs/table.csv");
    let again = keyed(bench, json!({"command": "cat inputs/table.csv"}))?;
    assert_eq!(again.stdout, "theirs\nmine\n", "{again:?}");
    Ok(())
}

fn unseen(bench: &Bench) -> Result<(), Failed> {
    bench.sh("echo theirs > out/data.txt");
    let output = keyed(bench, json!({"command": "cat out/data.txt"}))?;
    assert_eq!((output.stdout.as_str(), output.exit_code), ("", Some(1)), "{output:?}");
    assert!(output.warnings.iter().any(|it| it.contains("name other files in `inputs`")));
    assert!(bench.sh("cat out/none").warnings.is_empty());
    Ok(())
}

fn run_folder(bench: &Bench) -> Result<(), Failed> {
    let request = json!({
        "command": "echo kept > $RUN_DIR/kept; echo said",
        "outputs": {"globs": ["$RUN_DIR/*"], "inline": true},
    });
    let output = keyed(bench, request)?;
    let name = format!("runs/{}/files/kept", output.run);
    assert_eq!(output.output_files[0].name, name, "{output:?}");
    let run = bench.workspace().join("runs").join(&output.run);
    let mut text = String::new();
    fs::File::open(run.join("files/kept"))?.read_to_string(&mut text)?;
    assert_eq!(text, "kept\n");
    assert!(run.join("record.json").is_file() && run.join("stdout").is_file());
    let record = fs::read_to_string(run.join("record.json"))?;
    assert!(!record.contains("very-secret"));
    Ok(())
}

/// A workspace as it was made before, with the home that all skills shared.
fn older(bench: &Bench) -> Result<(), Failed> {
    bench.sh("echo old > out/old; mkdir -p work/.home; echo planted > work/.home/.netrc");
    let workspace = bench.workspace();
    fs::remove_dir_all(workspace.join(".homes"))?;
    let output = bench.sh("cat out/old; ls -A $HOME; echo new > $HOME/new; cat $HOME/new");
    assert_eq!(output.stdout, "old\nnew\n", "{output:?}");
    let trees = vec![bench.tree("demo").renamed("other")];
    let other = bench.run_trees(json!({"skill": "other", "command": "ls -A $HOME"}), trees)?;
    assert_eq!(other.stdout, "", "{other:?}");
    Ok(())
}
