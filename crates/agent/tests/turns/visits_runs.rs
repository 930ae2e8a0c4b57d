//! Commands of visitors in the sandbox, and what they leave behind.

use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use libtest_mimic::Failed;
use metier_agent::visit::Visits;
use metier_agent::{Library, LibraryError, stop};
use metier_skill::library::{Entry, Snapshot};
use metier_workspace::{RunSettings, Tree};
use serde_json::json;

use crate::Test;
use crate::bench::{Bench, wait};
use crate::visits::{Guest, key, stdout};

pub(crate) const TESTS: &[Test] = &[
    ("visits_runs::a_skill_that_changes_runs_as_it_was_loaded", one_version),
    ("visits_runs::nothing_runs_before_it_was_loaded", load_first),
    ("visits_runs::a_forgetful_visit_has_what_is_there_now", forgetful),
    ("visits_runs::a_forgetful_visit_remembers_what_a_person_started", started),
    ("visits_runs::artifacts_of_another_visit_are_not_there", own_artifacts),
    ("visits_runs::what_a_run_refers_to_can_be_read", references),
    ("visits_runs::output_is_told_while_it_is_written", live),
    ("visits_runs::stopping_a_call_ends_its_process_tree", stopped),
    ("visits_runs::a_call_that_nobody_waits_for_ends_its_process_tree", dropped),
    ("visits_runs::a_call_whose_files_do_not_come_is_stopped", waiting_for_files),
];

fn one_version() -> Result<(), Failed> {
    let bench = Bench::new();
    let guest = Guest::new(&bench);
    let first = guest.load("pdf");
    bench.write("pdf/scripts/pages", "#!/bin/sh\necho changed\n");
    bench.write("pdf/forms.md", "New forms.\n");
    bench.write("pdf/more.md", "More.\n");
    let read = json!({ "skill": "pdf", "path": "forms.md" });
    let docs = json!({ "skill": "pdf" });
    let ran = guest.run("pdf", "sh scripts/pages");
    assert_eq!(stdout(&ran), "3 pages\n");
    assert_eq!(ran.digests, first.digests);
    assert_eq!(guest.call("skill_read", &read).text, "1: How to fill in forms.\n");
    assert_eq!(
        guest.call("skill_list_docs", &docs).structured()["docs"],
        json!(["forms.md", "tables.md"])
    );
    // Who comes now has what is there now.
    let other = Guest::of(bench.visits(), "other");
    assert_ne!(other.load("pdf").digests, first.digests);
    assert_eq!(stdout(&other.run("pdf", "sh scripts/pages")), "changed\n");
    assert_eq!(stdout(&guest.run("pdf", "sh scripts/pages")), "3 pages\n");
    assert_ne!(guest.load("pdf").digests, first.digests);
    assert_eq!(stdout(&guest.run("pdf", "sh scripts/pages")), "changed\n");
    assert_eq!(guest.call("skill_read", &read).text, "1: New forms.\n");
    Ok(())
}

fn load_first() -> Result<(), Failed> {
    let bench = Bench::new();
    let guest = Guest::new(&bench);
    let refused = guest.run("pdf", "true");
    assert!(
        refused.is_error && refused.text.contains("call skill_load for `pdf`"),
        "{}",
        refused.text
    );
    // What could not be loaded is not loaded.
    guest.call("skill_load", &json!({ "skill": "pdf", "docs": ["no.md"] }));
    guest.load("charts");
    assert!(guest.run("pdf", "true").is_error);
    guest.load("pdf");
    assert!(!guest.run("pdf", "true").is_error);
    let free = Guest::of(Visits { load_before_run: false, ..bench.visits() }, "free");
    assert!(!free.run("pdf", "true").is_error);
    Ok(())
}

fn forgetful() -> Result<(), Failed> {
    let bench = Bench::new();
    let guest = Guest(Guest::new(&bench).0.forgetful());
    assert_eq!(stdout(&guest.run("pdf", "sh scripts/pages")), "3 pages\n");
    guest.load("pdf");
    bench.write("pdf/scripts/pages", "#!/bin/sh\necho changed\n");
    assert_eq!(stdout(&guest.run("pdf", "sh scripts/pages")), "changed\n");
    Ok(())
}

fn started() -> Result<(), Failed> {
    let bench = Bench::new();
    let hidden = |body: &str| {
        let header = "name: secret\ndescription: Is for people.\ndisable-model-invocation: true";
        bench.write("secret/SKILL.md", &format!("---\n{header}\n---\n\n{body}\n"));
    };
    hidden("First.");
    let guest = Guest(Guest::new(&bench).0.forgetful());
    assert!(guest.run("secret", "cat SKILL.md").is_error);
    let loaded = wait(guest.0.load_for_person("secret"));
    assert!(loaded.text.contains("First."), "{}", loaded.text);
    hidden("Second.");
    let ran = guest.run("secret", "cat SKILL.md");
    assert!(stdout(&ran).contains("Second."), "it may be used, and is what is there: {ran:?}");
    let read = json!({ "skill": "secret", "path": "SKILL.md" });
    assert!(guest.call("skill_read", &read).text.contains("Second."));
    Ok(())
}

fn own_artifacts() -> Result<(), Failed> {
    let bench = Bench::new();
    let visits = bench.visits();
    let (one, two) = (Guest::of(visits.clone(), "one"), Guest::of(visits, "two"));
    let save = |guest: &Guest, text: &str| {
        guest.load("pdf");
        let command = format!("echo {text} > $OUTPUT_DIR/a.txt");
        let outputs = json!({ "globs": ["out/*"], "save": true });
        guest.call("skill_run", &json!({ "skill": "pdf", "command": command, "outputs": outputs }))
    };
    let saved = save(&one, "first");
    assert_eq!(saved.structured()["artifact_files"][0]["name"], "out/a.txt", "{}", saved.text);
    let read = json!({ "name": "out/a.txt" });
    assert!(two.call("artifact_read", &read).is_error);
    assert!(wait(two.0.artifacts())?.is_empty());
    assert!(
        wait(two.0.artifact("out/a.txt", None, |_| true)).is_err_and(|error| error.is_missing())
    );
    save(&one, "second");
    save(&two, "another");
    assert_eq!(one.call("artifact_read", &read).text, "1: second\n");
    assert_eq!(
        one.call("artifact_read", &json!({ "name": "artifact://out/a.txt@0" })).text,
        "1: first\n"
    );
    assert_eq!(
        one.call("artifact_read", &json!({ "name": "out/a.txt", "version": 0 })).text,
        "1: first\n"
    );
    assert_eq!(two.call("artifact_read", &read).text, "1: another\n");
    let listed = wait(one.0.artifacts())?;
    assert_eq!((listed.len(), listed[0].name.as_str(), listed[0].versions), (1, "out/a.txt", 2));
    let versions = wait(one.0.artifact_versions("out/a.txt"))?;
    assert_eq!(versions.iter().map(|it| it.version).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(wait(one.0.artifact("out/a.txt", Some(0), |_| true))?.bytes, b"first\n");
    assert_eq!(wait(one.0.artifact("out/a.txt", None, |_| true))?.version.version, 1);
    Ok(())
}

fn references() -> Result<(), Failed> {
    let bench = Bench::new();
    let guest = Guest::new(&bench);
    guest.load("pdf");
    let ran = guest.run("pdf", "seq 100000");
    let whole = &ran.structured()["stdout_ref"];
    let read = json!({ "name": whole, "start_line": 99_999 });
    assert_eq!(guest.call("artifact_read", &read).text, "99999: 99999\n100000: 100000\n");
    // Of another workspace there is nothing.
    let other = Guest::of(bench.visits(), "other");
    assert!(other.call("artifact_read", &read).is_error);
    Ok(())
}

fn live() -> Result<(), Failed> {
    let bench = Bench::new();
    let guest = Guest::new(&bench);
    guest.load("pdf");
    let heard = Arc::new(Mutex::new(Vec::new()));
    let hearing = Arc::clone(&heard);
    let (stopper, stop) = stop();
    let given = json!({ "skill": "pdf", "command": "echo one; sleep 600" });
    let answer = wait(async {
        let live = Box::new(move |_, bytes: &[u8]| {
            hearing.lock().unwrap().extend_from_slice(bytes);
        });
        let listening = async {
            while heard.lock().unwrap().is_empty() {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            stopper.stop();
        };
        tokio::join!(guest.0.call("skill_run", &given, &stop, live), listening).0
    });
    assert_eq!(*heard.lock().unwrap(), b"one\n");
    assert_eq!((stdout(&answer), &answer.structured()["cancelled"]), ("one\n", &json!(true)));
    Ok(())
}

/// A command that leaves a trace for as long as any part of it lives.
pub(crate) const BEATING: &str =
    "(while :; do echo x >> $WORK_DIR/beat; sleep 0.02; done) & sleep 600";

/// The trace, in the workspace of a visit.
fn trace(visits: &Visits) -> Result<PathBuf, Failed> {
    Ok(visits.runner.workspaces.workspace(&key("visit"))?.root().join("work/beat"))
}

/// Waits until something leaves a trace.
pub(crate) async fn begun(trace: &PathBuf) {
    while fs::metadata(trace).map_or(0, |it| it.len()) == 0 {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Whether nothing leaves a trace any more, or soon does not.
pub(crate) fn ended(trace: &PathBuf) -> Result<bool, Failed> {
    for _ in 0..50 {
        let before = fs::metadata(trace)?.len();
        std::thread::sleep(Duration::from_millis(300));
        if fs::metadata(trace)?.len() == before {
            return Ok(true);
        }
    }
    Ok(false)
}

fn stopped() -> Result<(), Failed> {
    let bench = Bench::new();
    let visits = bench.visits();
    let trace = trace(&visits)?;
    let guest = Guest::of(visits, "visit");
    guest.load("pdf");
    let (stopper, stop) = stop();
    let given = json!({ "skill": "pdf", "command": BEATING });
    let answer = wait(async {
        let stopping = async {
            begun(&trace).await;
            stopper.stop();
        };
        let call = guest.0.call("skill_run", &given, &stop, Box::new(|_, _| {}));
        tokio::join!(call, stopping).0
    });
    assert_eq!(answer.structured()["cancelled"], true, "{}", answer.text);
    assert!(ended(&trace)?);
    // What was stopped before it began does not begin.
    fs::remove_file(&trace)?;
    let late = wait(guest.0.call("skill_run", &given, &stop, Box::new(|_, _| {})));
    assert!(late.is_error && late.text.contains("stopped"), "{}", late.text);
    assert!(!trace.exists());
    Ok(())
}

fn dropped() -> Result<(), Failed> {
    let bench = Bench::new();
    let visits = bench.visits();
    let trace = trace(&visits)?;
    let guest = Guest::of(visits, "visit");
    guest.load("pdf");
    let (_stopper, stop) = stop();
    let given = json!({ "skill": "pdf", "command": BEATING });
    let has_ended = wait(async {
        tokio::select! {
            _ = guest.0.call("skill_run", &given, &stop, Box::new(|_, _| {})) => {}
            () = begun(&trace) => {}
        }
        ended(&trace)
    });
    assert!(has_ended?);
    Ok(())
}

/// Skills whose files come when somebody lets them.
#[derive(Debug)]
struct Withheld {
    skills: Arc<dyn Library>,
    gate: Mutex<mpsc::Receiver<()>>,
}

impl Library for Withheld {
    fn snapshot(&self) -> Arc<Snapshot> {
        self.skills.snapshot()
    }

    fn tree(&self, entry: &Entry) -> Result<Tree, LibraryError> {
        // Whether it opens or is taken away makes no difference.
        let _opened = self.gate.lock().expect("the gate").recv();
        self.skills.tree(entry)
    }

    fn run_settings(&self, entry: &Entry) -> Result<RunSettings, LibraryError> {
        self.skills.run_settings(entry)
    }
}

fn waiting_for_files() -> Result<(), Failed> {
    let bench = Bench::new();
    for (tool, given) in [
        ("skill_load", json!({ "skill": "pdf" })),
        ("skill_read", json!({ "skill": "pdf", "path": "forms.md" })),
        ("skill_run", json!({ "skill": "pdf", "command": "true" })),
    ] {
        let (open, gate) = mpsc::channel();
        let visits = Visits { load_before_run: false, ..bench.visits() };
        let library = Withheld { skills: Arc::clone(&visits.library), gate: Mutex::new(gate) };
        let guest = Guest::of(Visits { library: Arc::new(library), ..visits }, "visit");
        let (stopper, stop) = stop();
        let answer = wait(async {
            let stopping = async {
                tokio::time::sleep(Duration::from_millis(50)).await;
                stopper.stop();
            };
            let call = guest.0.call(tool, &given, &stop, Box::new(|_, _| {}));
            let call = tokio::time::timeout(Duration::from_secs(30), call);
            let answer = tokio::join!(call, stopping).0;
            // The runtime waits for the thread when it ends.
            drop(open);
            answer
        })?;
        assert!(answer.is_error && answer.text.contains("stopped"), "{tool}: {}", answer.text);
    }
    Ok(())
}
