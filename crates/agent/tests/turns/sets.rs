//! The smaller sets of tools: where the catalog is, and that what it says is true.

use libtest_mimic::Failed;
use metier_agent::prompt::location;
use metier_agent::tools::ToolSet;
use metier_model::{Message, Request};
use metier_session::Content;
use serde_json::{Value, json};

use crate::Test;
use crate::bench::{Bench, calls, text};

pub(crate) const TESTS: &[Test] = &[
    ("sets::the_catalog_stands_in_one_place", one_catalog),
    ("sets::single_has_the_catalog_in_its_tool_and_gives_name_directory_and_text", single),
    ("sets::the_locations_of_files_are_true_for_read_and_for_exec", locations),
    ("sets::read_does_not_leave_the_workspace_and_the_skills_that_may_be_used", read_stays_inside),
    ("sets::what_one_skill_was_given_is_not_there_for_exec", grants_stay_with_their_skill),
    ("sets::a_skill_that_cannot_be_read_does_not_stop_exec", unreadable_skill),
    ("sets::a_command_of_no_skill_leaves_nothing_in_the_home_of_a_skill", free_home),
    ("sets::a_minimal_prompt_has_no_section_about_skills", minimal),
];

pub(crate) fn with(tools: ToolSet) -> Bench {
    let mut bench = Bench::new();
    bench.settings.prompt.tools = tools;
    bench
}

/// The results in a request, in their order, with whether they are errors.
pub(crate) fn results(request: &Request) -> Vec<(String, bool)> {
    let result = |message: &Message| match message {
        Message::ToolResult { text, is_error, .. } => Some((text.clone(), *is_error)),
        _ => None,
    };
    request.messages.iter().filter_map(result).collect()
}

/// What came of calls, made one after the other.
pub(crate) fn outcomes(
    bench: &Bench,
    made: &[(&str, Value)],
) -> Result<Vec<(String, bool)>, Failed> {
    let script: String = made.iter().map(|call| calls(std::slice::from_ref(call))).collect();
    let done = bench.say("Look.", &(script + &text("Done.")));
    done.outcome?;
    Ok(results(done.requests.last().ok_or("no request")?))
}

/// What a command wrote; a command that failed is shown whole.
fn stdout((text, _): &(String, bool)) -> String {
    let output: Value = serde_json::from_str(text).unwrap_or_default();
    match (output["stdout"].as_str(), output["exit_code"].as_i64()) {
        (Some(stdout), Some(0)) => stdout.to_owned(),
        _ => text.clone(),
    }
}

fn one_catalog() -> Result<(), Failed> {
    let sets = [
        (ToolSet::Full, (1, 0)),
        (ToolSet::Knowledge, (1, 0)),
        (ToolSet::Single, (0, 1)),
        (ToolSet::Files, (1, 0)),
    ];
    for (set, expected) in sets {
        let done = with(set).say("Look.", &text("Done."));
        done.outcome?;
        let request = &done.requests[0];
        let described: String = request.tools.iter().map(|it| it.description.as_str()).collect();
        let count = |text: &str| text.matches("Reads PDF files.").count();
        assert_eq!((count(&request.system), count(&described)), expected, "{set:?}");
        // Names of skills in a schema would change with the library.
        assert!(!request.tools.iter().any(|it| it.schema.to_string().contains("pdf")), "{set:?}");
    }
    Ok(())
}

fn single() -> Result<(), Failed> {
    let bench = with(ToolSet::Single);
    let call = |name: &str| calls(&[("skill", json!({ "skill_name": name }))]);
    let done = bench.say("Look.", &(call("pdf") + &call("pdf") + &call("pfd") + &text("Done.")));
    done.outcome?;
    let first = &done.requests[0];
    assert!(!first.system.contains("Reads PDF files."), "{}", first.system);
    assert_eq!(first.tools.len(), 1);
    let described = &first.tools[0].description;
    let (charts, pdf) = (described.find("- charts: Draws"), described.find("- pdf: Reads"));
    assert!(charts.is_some() && charts < pdf, "{described}");
    let results = results(done.requests.last().ok_or("no request")?);
    insta::assert_snapshot!(results[0].0, @r"
    Skill: pdf
    Directory: skills/pdf

    [Loaded] pdf

    # PDF

    Run `scripts/pages`.

    Docs loaded: none
    ");
    assert_eq!(results[1], ("skill 'pdf' is already active".to_owned(), false));
    assert!(results[2].1 && results[2].0.contains("there is no skill `pfd`"), "{results:?}");
    let structured = bench.events().into_iter().find_map(|event| match event.content {
        Content::ToolResponse(response) => Some(response.structured),
        _ => None,
    });
    assert_eq!(structured, Some(json!({ "skill_name": "pdf", "directory": "skills/pdf" })));
    Ok(())
}

fn locations() -> Result<(), Failed> {
    let bench = with(ToolSet::Files);
    let place = location("pdf", None);
    let exec = |command: &str| ("exec", json!({ "command": command }));
    let read = |path: &str| ("read", json!({ "path": path }));
    let script = [
        read(&place),
        exec(&format!("cat {place}")),
        exec(&format!("cd work && cat {place}")),
        ("exec", json!({ "command": "sh scripts/pages", "cwd": "$SKILLS_DIR/pdf" })),
        exec(
            "sh skills/pdf/scripts/pages > out/pages.txt; echo x >> skills/pdf/SKILL.md || echo kept",
        ),
        read("out/pages.txt"),
        read("$SKILLS_DIR/pdf/forms.md"),
        read("skills/pdf/forms.md"),
        read("/workspace/skills/pdf/forms.md"),
        read("/workspace/out/pages.txt"),
    ];
    let script: String = script.iter().map(|call| calls(std::slice::from_ref(call))).collect();
    let done = bench.say("Look.", &(script + &text("Done.")));
    done.outcome?;
    let system = &done.requests[0].system;
    assert_eq!(system.matches("## Skills\n").count(), 1, "{system}");
    assert!(system.contains(&format!("<location>{place}</location>")), "{system}");
    let results = results(done.requests.last().ok_or("no request")?);
    let file =
        "---\nname: pdf\ndescription: Reads PDF files.\n---\n\n# PDF\n\nRun `scripts/pages`.\n";
    let numbered: String =
        file.lines().zip(1..).map(|(line, number)| format!("{number}: {line}\n")).collect();
    assert_eq!(results[0], (numbered, false));
    assert_eq!(stdout(&results[1]), file);
    assert_eq!(stdout(&results[2]), file);
    assert_eq!(stdout(&results[3]), "3 pages\n");
    assert_eq!(stdout(&results[4]), "kept\n");
    assert_eq!(results[5], ("1: 3 pages\n".to_owned(), false));
    for result in &results[6..9] {
        assert_eq!(*result, ("1: How to fill in forms.\n".to_owned(), false));
    }
    assert_eq!(results[9], results[5]);
    Ok(())
}

fn read_stays_inside() -> Result<(), Failed> {
    let bench = with(ToolSet::Files);
    bench.write(
        "secret/SKILL.md",
        "---\nname: secret\ndescription: Is for people.\ndisable-model-invocation: true\n---\n\nHidden.\n",
    );
    let paths = [
        "$SKILLS_DIR/../../../../etc/passwd",
        "/workspace/../etc/passwd",
        "/workspace//etc/passwd",
        "/etc/passwd",
        "$SKILLS_DIR/pdf/../../../etc/passwd",
        "$SKILLS_DIR/secret/SKILL.md",
        "skills/secret/SKILL.md",
        "/workspace/skills/secret/SKILL.md",
        "skills/nothing/SKILL.md",
    ];
    let made = paths.map(|path| ("read", json!({ "path": path })));
    for (path, (text, is_error)) in paths.iter().zip(outcomes(&bench, &made)?) {
        assert!(is_error, "{path}: {text}");
        assert!(!text.contains("root:") && !text.contains("Hidden."), "{path}: {text}");
    }
    let exec = outcomes(&bench, &[("exec", json!({ "command": "ls skills" }))])?;
    assert_eq!(stdout(exec.last().ok_or("no result")?), "charts\npdf\n");
    Ok(())
}

fn grants_stay_with_their_skill() -> Result<(), Failed> {
    let say = "echo given to ${GIVEN_TO:-nobody}";
    let bench = Bench { has_keys: true, ..with(ToolSet::Full) };
    let made = [
        ("skill_load", json!({ "skill": "charts" })),
        ("skill_run", json!({ "skill": "charts", "command": say })),
    ];
    assert_eq!(stdout(&outcomes(&bench, &made)?[1]), "given to charts\n");
    let bench = Bench { has_keys: true, ..with(ToolSet::Files) };
    let results = outcomes(&bench, &[("exec", json!({ "command": say }))])?;
    assert_eq!(stdout(&results[0]), "given to nobody\n");
    Ok(())
}

fn unreadable_skill() -> Result<(), Failed> {
    let bench = with(ToolSet::Files);
    bench.write("deep/SKILL.md", "---\nname: deep\ndescription: Is too deep.\n---\n\nDeep.\n");
    bench.write(&format!("deep/{}file", "d/".repeat(30)), "");
    let command = "sh skills/pdf/scripts/pages; ls skills";
    let results = outcomes(&bench, &[("exec", json!({ "command": command }))])?;
    assert_eq!(stdout(&results[0]), "3 pages\ncharts\npdf\n");
    assert!(results[0].0.contains("the skill `deep`: "), "{}", results[0].0);
    Ok(())
}

/// Commands of no skill could be run as the first of all skills: then they would share its home.
fn free_home() -> Result<(), Failed> {
    let bench = with(ToolSet::Files);
    let plant = "echo planted > $HOME/planted; echo \"skill: $SKILL_NAME\"";
    let planted = outcomes(&bench, &[("exec", json!({ "command": plant }))])?;
    assert_eq!(stdout(&planted[0]), "skill: \n");
    let mut folders = vec![bench.folder.path().to_owned()];
    let mut homes = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder)?.flatten() {
            if entry.file_name() == "planted" {
                homes.push(folder.file_name().unwrap_or_default().to_string_lossy().into_owned());
            } else if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    assert_eq!(homes.len(), 1, "{homes:?}");
    assert!(!homes[0].contains("pdf") && !homes[0].contains("charts"), "{homes:?}");
    Ok(())
}

fn minimal() -> Result<(), Failed> {
    let mut bench = with(ToolSet::Files);
    bench.settings.prompt.is_minimal = true;
    let done = bench.say("Look.", &text("Done."));
    done.outcome?;
    let system = &done.requests[0].system;
    assert!(!system.contains("## Skills") && !system.contains("pdf"), "{system}");
    Ok(())
}
