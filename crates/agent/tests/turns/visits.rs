//! Visits: what another agent's model gets of our tools, with real skills and a real sandbox.

use std::sync::Arc;

use libtest_mimic::Failed;
use metier_agent::stop;
use metier_agent::tools::{Answer, ToolResult};
use metier_agent::visit::{Visit, VisitError, Visits};
use metier_workspace::WorkspaceKey;
use serde_json::{Value, json};

use crate::Test;
use crate::bench::{Bench, wait};

pub(crate) const TESTS: &[Test] = &[
    ("visits::what_is_loaded_is_in_the_answer", loaded),
    ("visits::every_answer_is_what_its_schema_says", as_the_schemas_say),
    ("visits::a_body_that_is_too_long_says_where_it_goes_on", paged),
    ("visits::lists_of_files_have_a_bound", many_files),
    ("visits::what_is_wrong_is_told_as_an_error", wrong),
    ("visits::what_is_hidden_from_models_is_not_there_until_a_person_asks", hidden),
];

/// A visit, and how to make calls in it.
pub(crate) struct Guest(pub(crate) Visit);

impl Guest {
    pub(crate) fn new(bench: &Bench) -> Self {
        Self::of(bench.visits(), "visit")
    }

    pub(crate) fn of(visits: Visits, session: &str) -> Self {
        Self(Visit::new(Arc::new(visits), key(session)))
    }

    pub(crate) fn call(&self, tool: &str, given: &Value) -> Answer {
        let (_stopper, stop) = stop();
        wait(sendable(self.0.call(tool, given, &stop, Box::new(|_, _| {}))))
    }

    pub(crate) fn run(&self, skill: &str, command: &str) -> Answer {
        self.call("skill_run", &json!({ "skill": skill, "command": command }))
    }

    pub(crate) fn load(&self, skill: &str) -> Answer {
        let answer = self.call("skill_load", &json!({ "skill": skill }));
        assert!(!answer.is_error, "{}", answer.text);
        answer
    }
}

/// A call that may go on in another thread, as servers want it.
fn sendable<T: Send>(call: T) -> T {
    call
}

pub(crate) fn key(session: &str) -> WorkspaceKey {
    let (app, user) = ("test".to_owned(), "ada".to_owned());
    WorkspaceKey { app, user, session: session.to_owned(), generation: 0 }
}

pub(crate) fn stdout(answer: &Answer) -> &str {
    match &answer.result {
        ToolResult::Run(output) => &output.stdout,
        _ => &answer.text,
    }
}

/// Whether a value is what a schema says, as far as our schemas say anything.
fn fits(value: &Value, schema: &Value) -> Result<(), String> {
    let is = |kind: &str| match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "null" => value.is_null(),
        other => panic!("no kind: {other}"),
    };
    let kinds = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        kind => vec![kind.as_str().ok_or("a schema without a type")?],
    };
    if !kinds.iter().any(|kind| is(kind)) {
        return Err(format!("{value} is not {kinds:?}"));
    }
    for item in value.as_array().into_iter().flatten() {
        fits(item, &schema["items"])?;
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        let name = name.as_str().unwrap_or_default();
        value.get(name).ok_or_else(|| format!("`{name}` is missing in {value}"))?;
    }
    for (name, field) in value.as_object().into_iter().flatten() {
        let known = &schema["properties"][name];
        fits(field, known).map_err(|why| format!("`{name}`: {why}"))?;
    }
    Ok(())
}

fn loaded() -> Result<(), Failed> {
    let bench = Bench::new();
    let guest = Guest::new(&bench);
    let answer = guest.call("skill_load", &json!({ "skill": "pdf", "docs": ["forms.md"] }));
    insta::assert_snapshot!(answer.text, @r"
    [Loaded] pdf

    # PDF

    Run `scripts/pages`.

    Docs loaded: forms.md

    [Doc] forms.md

    How to fill in forms.

    Directory: skills/pdf (skill_run starts there)
    Other docs: tables.md
    Files: scripts/pages (23 bytes)
    ");
    let Value::Object(mut fields) = answer.structured() else { return Err("no object".into()) };
    let digest = fields.remove("digest").ok_or("no digest")?;
    assert_eq!(
        Value::Object(fields),
        json!({
            "skill": "pdf",
            "directory": "skills/pdf",
            "body": "# PDF\n\nRun `scripts/pages`.\n",
            "docs": [{ "path": "forms.md", "text": "How to fill in forms.\n" }],
            "other_docs": ["tables.md"],
            "resources": [{ "path": "scripts/pages", "size": 23 }],
        })
    );
    assert_eq!(answer.digests["pdf"], digest);
    // It is given again, whole: who asked before may have forgotten.
    let again = guest.load("pdf");
    assert!(
        again.text.contains("Run `scripts/pages`.") && again.text.contains("Docs loaded: none")
    );
    let seen = guest.run("pdf", "pwd; sh scripts/pages");
    assert_eq!(stdout(&seen), "/workspace/skills/pdf\n3 pages\n");
    Ok(())
}

fn as_the_schemas_say() -> Result<(), Failed> {
    let bench = Bench::new();
    let guest = Guest::new(&bench);
    let outputs = json!({ "globs": ["out/**"], "inline": true, "save": true });
    let command = "echo kept > $OUTPUT_DIR/a.txt; seq 100000; echo oops >&2; exit 3";
    let calls = [
        ("skill_search", json!({ "query": "charts and pdf files" })),
        ("skill_search", json!({ "query": "charts and pdf files", "limit": 1 })),
        ("skill_list_docs", json!({ "skill": "pdf" })),
        ("skill_load", json!({ "skill": "pdf", "include_all_docs": true })),
        (
            "skill_read",
            json!({ "skill": "pdf", "path": "SKILL.md", "start_line": 3, "num_lines": 1 }),
        ),
        ("skill_run", json!({ "skill": "pdf", "command": command, "outputs": outputs })),
        ("skill_run", json!({ "skill": "pdf", "command": "kill -9 $$" })),
        ("artifact_read", json!({ "name": "out/a.txt" })),
    ];
    let tools = wait(guest.0.tools());
    let mut answers = Vec::new();
    for (name, given) in &calls {
        let tool = tools.iter().find(|tool| tool.spec.name == *name).ok_or(*name)?;
        fits(given, &tool.spec.schema).map_err(|why| format!("{name}: {why}"))?;
        let answer = guest.call(name, given);
        assert!(!answer.is_error, "{name}: {}", answer.text);
        fits(&answer.structured(), &tool.output).map_err(|why| format!("{name}: {why}"))?;
        answers.push(answer);
    }
    assert_eq!(answers[0].structured()["skills"].as_array().map(Vec::len), Some(2));
    assert_eq!(answers[1].structured()["skills"].as_array().map(Vec::len), Some(1));
    assert_eq!(
        answers[2].structured(),
        json!({ "skill": "pdf", "docs": ["forms.md", "tables.md"] })
    );
    assert_eq!(
        answers[4].structured()["text"],
        "3: description: Reads PDF files.\n(1 of 8 lines; read on from line 4)\n"
    );
    assert_eq!(answers[4].structured()["truncated"], true);
    let run = &answers[5].structured();
    assert_eq!((&run["exit_code"], &run["stderr"]), (&json!(3), &json!("oops\n")));
    assert!(run["stdout_ref"].is_string(), "{run}");
    assert_eq!(answers[6].structured()["exit_code"], Value::Null);
    assert_eq!(answers[7].text, "1: kept\n");
    // Nothing was given network, so nothing reaches out.
    assert!(tools.iter().all(|tool| !tool.effects.reaches_out));
    Ok(())
}

fn paged() -> Result<(), Failed> {
    let bench = Bench::new();
    let lines: String = (1..=200).map(|line| format!("Step {line} of the work.\n")).collect();
    bench
        .write("long/SKILL.md", &format!("---\nname: long\ndescription: Is long.\n---\n\n{lines}"));
    let guest = Guest::of(Visits { max_body_tokens: 100, ..bench.visits() }, "visit");
    let answer = guest.load("long");
    let next = answer.structured()["next_line"].as_u64().ok_or("it is whole")?;
    let structured = answer.structured();
    let body = structured["body"].as_str().ok_or("no body")?;
    let last = body.lines().rfind(|line| line.starts_with("Step")).ok_or("no steps")?;
    let last: u64 = last.split(' ').nth(1).ok_or("no number")?.parse()?;
    assert!(body.contains(&format!("{last} of 200 lines")), "{body}");
    assert!(body.contains(&format!("`SKILL.md` of `long` from line {next}")), "{body}");
    assert!(answer.text.contains(body.trim_end()), "{}", answer.text);
    let given = json!({ "skill": "long", "path": "SKILL.md", "start_line": next, "num_lines": 1 });
    let rest = guest.call("skill_read", &given).text;
    assert!(rest.starts_with(&format!("{next}: Step {} of the work.\n", last + 1)), "{rest}");
    Ok(())
}

fn many_files() -> Result<(), Failed> {
    let bench = Bench::new();
    for file in 0..70 {
        bench.write(&format!("pdf/data/{file}.csv"), "1\n");
        bench.write(&format!("pdf/docs/{file}.md"), "Doc.\n");
    }
    bench.write("pdf/docs/large-1.md", &"x".repeat(900_000));
    bench.write("pdf/docs/large-2.md", &"x".repeat(900_000));
    let guest = Guest::new(&bench);
    let answer = guest.load("pdf");
    let count = |answer: &Answer, field: &str| answer.structured()[field].as_array().map(Vec::len);
    assert_eq!((count(&answer, "resources"), count(&answer, "other_docs")), (Some(50), Some(50)));
    assert_eq!(answer.structured()["more"], 21 + 24);
    assert!(answer.text.ends_with("(45 more are not listed)\n"), "{}", answer.text);
    // What does not fit is not said to be given.
    let all = guest.call("skill_load", &json!({ "skill": "pdf", "include_all_docs": true }));
    assert_eq!(count(&all, "docs"), Some(73));
    assert_eq!(all.structured()["other_docs"], json!(["docs/large-2.md"]));
    assert!(!all.text.contains("[Doc] docs/large-2.md") && all.text.len() < 2 << 20);
    Ok(())
}

fn wrong() -> Result<(), Failed> {
    let bench = Bench::new();
    bench.write("pdf/image.bin", "\0\x01\x02");
    bench.write(
        "needy/SKILL.md",
        "---\nname: needy\ndescription: Needs a lot.\nmetadata:\n  openclaw:\n    requires:\n      bins: [no-such-program]\n---\n\nUse it.\n",
    );
    let guest = Guest::new(&bench);
    let run = |command: &str| json!({ "skill": "pdf", "command": command });
    guest.load("pdf");
    let cases = [
        ("skill_load", json!({ "skill": "pfd" }), "the nearest are: pdf"),
        ("skill_load", json!({ "skill": "needy" }), "cannot be used here"),
        (
            "skill_load",
            json!({ "skill": "pdf", "docs": ["no.md"] }),
            "its docs are: forms.md, tables.md",
        ),
        ("skill_load", json!({ "name": "pdf" }), "the arguments of skill_load are wrong"),
        ("skill_list_docs", json!({ "skill": "nothing" }), "there is no skill `nothing`"),
        ("skill_search", json!({ "query": 3 }), "at `query`"),
        ("skill_read", json!({ "skill": "pdf", "path": "no.md" }), "has no such file"),
        ("skill_read", json!({ "skill": "pdf", "path": "../charts/SKILL.md" }), "has no such file"),
        ("skill_read", json!({ "skill": "pdf", "path": "/etc/passwd" }), "has no such file"),
        (
            "skill_read",
            json!({ "skill": "pdf/..", "path": "charts/SKILL.md" }),
            "there is no skill",
        ),
        ("skill_read", json!({ "skill": "pdf", "path": "image.bin" }), "skill_run"),
        ("skill_run", json!({ "skill": "nothing", "command": "true" }), "there is no skill"),
        ("skill_run", run(""), "`command`"),
        (
            "skill_run",
            json!({ "skill": "pdf", "command": "true", "inputs": [{ "from": "host:///etc/passwd" }] }),
            "`inputs`",
        ),
        ("artifact_read", json!({ "name": "no.txt" }), "there is no artifact"),
        ("artifact_read", json!({ "name": "../x" }), "cannot name an artifact"),
        ("artifact_read", json!({ "name": "artifact://a@1", "version": 2 }), "give one of them"),
        ("artifact_read", json!({ "name": "workspace://../x" }), "cannot be read"),
        ("artifact_read", json!({ "name": "workspace://metadata.json" }), "neither in `work/`"),
        ("artifact_read", json!({ "name": "workspace://.homes/pdf/x" }), "neither in `work/`"),
        (
            "artifact_read",
            json!({ "name": "workspace://runs/1/record.json" }),
            "neither in `work/`",
        ),
        (
            "artifact_read",
            json!({ "name": "workspace://skills/charts/SKILL.md" }),
            "use skill_read",
        ),
        (
            "read_file",
            json!({}),
            "there is no tool `read_file`; the tools are: skill_search, skill_load",
        ),
    ];
    for (tool, given, told) in cases {
        let answer = guest.call(tool, &given);
        assert!(answer.is_error && answer.text.contains(told), "{tool} {given}: {}", answer.text);
    }
    // A command that fails did run.
    let failed = guest.run("pdf", "exit 7");
    assert!(!failed.is_error && failed.structured()["exit_code"] == 7, "{}", failed.text);
    Ok(())
}

fn hidden() -> Result<(), Failed> {
    let bench = Bench::new();
    bench.write(
        "secret/SKILL.md",
        "---\nname: secret\ndescription: Is for people.\ndisable-model-invocation: true\n---\n\nHidden.\n",
    );
    let guest = Guest::new(&bench);
    let skill = json!({ "skill": "secret" });
    let read = json!({ "skill": "secret", "path": "SKILL.md" });
    let run = json!({ "skill": "secret", "command": "cat SKILL.md" });
    let bring = json!({ "skill": "pdf", "command": "true", "inputs": [{ "from": "skill://secret/SKILL.md" }] });
    guest.load("pdf");
    let calls = [
        ("skill_load", &skill),
        ("skill_list_docs", &skill),
        ("skill_read", &read),
        ("skill_run", &run),
        ("skill_run", &bring),
    ];
    for (tool, given) in calls {
        let answer = guest.call(tool, given);
        assert!(
            answer.is_error && answer.text.contains("there is no skill `secret`"),
            "{tool}: {}",
            answer.text
        );
        assert!(!answer.text.contains("Hidden."), "{}", answer.text);
    }
    let found = guest.call("skill_search", &json!({ "query": "secret for people" }));
    assert!(!found.text.contains("secret"), "{}", found.text);
    assert!(matches!(wait(guest.0.files("secret")), Err(VisitError::Skill(_))));
    assert!(matches!(
        wait(guest.0.file("secret", "SKILL.md", |_| true)),
        Err(VisitError::Skill(_))
    ));
    let loaded = wait(guest.0.load_for_person("secret"));
    assert!(!loaded.is_error && loaded.text.contains("Hidden."), "{}", loaded.text);
    assert!(stdout(&guest.call("skill_run", &run)).contains("Hidden."));
    // It was asked for there, and nowhere else.
    let other = Guest::of(bench.visits(), "other");
    assert!(other.call("skill_run", &run).is_error);
    Ok(())
}
