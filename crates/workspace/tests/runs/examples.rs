//! The examples of the format this follows, and what people do first.

use libtest_mimic::Failed;
use serde_json::json;

use crate::Promise;
use crate::bench::Bench;

pub(crate) const PROMISES: &[Promise] = &[
    ("a_host_file_is_staged_and_its_lines_are_counted", lines_are_counted),
    ("metadata_without_content", metadata_without_content),
    ("a_file_is_kept_as_an_artifact", kept_as_an_artifact),
    ("a_file_is_kept_under_a_prefix", kept_under_a_prefix),
    ("the_skill_is_there_and_cannot_be_changed", the_skill_is_there),
];

fn lines_are_counted(bench: &Bench) -> Result<(), Failed> {
    let mut bench = Bench::new(bench.who);
    let notes = bench.write("host/notes.txt", "one\ntwo\nthree\n");
    bench.settings.host_inputs = vec![bench.path("host")];
    let output = bench.run(json!({
        "skill": "demo",
        "inputs": [{
            "from": format!("host://{}", notes.display()),
            "to": "work/inputs/notes.txt",
            "mode": "copy"
        }],
        "command": "mkdir -p out; wc -l work/inputs/notes.txt > out/lines.txt",
        "outputs": {
            "globs": ["$OUTPUT_DIR/lines.txt"], "inline": true, "save": false, "max_files": 1
        }
    }))?;
    assert_eq!((output.exit_code, output.stderr.as_str()), (Some(0), ""));
    let file = &output.output_files[0];
    assert_eq!((file.name.as_str(), file.mime_type.as_str()), ("out/lines.txt", "text/plain"));
    assert_eq!(file.content.as_deref(), Some("3 work/inputs/notes.txt\n"));
    assert_eq!(output.primary_output.map(|it| it.name).as_deref(), Some("out/lines.txt"));
    Ok(())
}

fn metadata_without_content(bench: &Bench) -> Result<(), Failed> {
    let output = bench.run(json!({
        "skill": "demo",
        "command": "mkdir -p out; echo hi > out/a.txt",
        "output_files": ["out/*.txt"],
        "omit_inline_content": true
    }))?;
    let file = &output.output_files[0];
    assert_eq!((file.reference.as_str(), file.size_bytes), ("workspace://out/a.txt", 3));
    assert_eq!((file.content.as_ref(), file.truncated), (None, false));
    Ok(())
}

fn kept_as_an_artifact(bench: &Bench) -> Result<(), Failed> {
    let request = json!({
        "skill": "demo",
        "command": "mkdir -p out; echo report > out/report.txt",
        "outputs": {"globs": ["$OUTPUT_DIR/report.txt"], "inline": false, "save": true, "max_files": 5}
    });
    for version in 0..2 {
        let output = bench.run(request.clone())?;
        let kept = &output.artifact_files[0];
        assert_eq!((kept.name.as_str(), kept.version), ("out/report.txt", version));
        assert_eq!(kept.reference, format!("artifact://out/report.txt@{version}"));
        assert_eq!(output.output_files[0].content, None);
    }
    let older = bench.run(json!({
        "skill": "demo",
        "command": "cat inputs/report.txt",
        "inputs": [{"from": "artifact://out/report.txt@0"}]
    }))?;
    assert_eq!(older.stdout, "report\n", "{older:?}");
    Ok(())
}

fn kept_under_a_prefix(bench: &Bench) -> Result<(), Failed> {
    let output = bench.run(json!({
        "skill": "demo",
        "command": "mkdir -p out; echo report > out/report.txt",
        "output_files": ["out/report.txt"],
        "omit_inline_content": true,
        "save_as_artifacts": true,
        "artifact_prefix": "pref/"
    }))?;
    let kept = &output.artifact_files[0];
    assert_eq!((kept.name.as_str(), kept.version), ("pref/out/report.txt", 0));
    assert_eq!(output.output_files[0].content, None);
    Ok(())
}

fn the_skill_is_there(bench: &Bench) -> Result<(), Failed> {
    let output = bench.sh("bash scripts/hello.sh; pwd; ls; touch new 2>/dev/null || echo refused");
    assert!(output.stdout.starts_with("hello from demo\n"), "{output:?}");
    if bench.who.confines() {
        assert!(output.stdout.ends_with("refused\n"), "{output:?}");
        assert!(output.stdout.contains("\n/workspace/skills/demo\n"), "{output:?}");
    }
    Ok(())
}
