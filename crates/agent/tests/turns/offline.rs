//! The offline planner with the skills that come with the program, and with worse ones.

use std::sync::{Arc, Mutex};

use insta::assert_snapshot;
use libtest_mimic::Failed;
use metier_agent::agent::{LoadRequest, Progress, unwatched};
use metier_agent::conversation::Placement;
use metier_agent::offline::Offline;
use metier_agent::tools::ToolSet;
use metier_agent::{Ending, Library, LoadMode, Task};
use metier_session::Content;
use metier_session::content::{Attachment, Part};

use crate::Test;
use crate::bench::Bench;

pub(crate) const TESTS: &[Test] = &[
    ("offline::statistics_of_a_table", statistics),
    ("offline::a_comparison_of_two_files", comparison),
    ("offline::a_look_into_a_log", log),
    ("offline::a_chart_is_a_file", chart),
    ("offline::an_attached_file_reaches_a_skill_that_has_a_key", attached_with_key),
    ("offline::a_file_of_an_earlier_turn_is_not_made_again", made_once),
    ("offline::the_example_that_has_the_words_of_the_task_is_run", words_of_the_task),
    ("offline::a_task_without_a_file_uses_the_example_and_says_so", example_of_the_skill),
    ("offline::a_file_of_an_earlier_message_counts_when_the_message_has_none", earlier_file),
    ("offline::of_files_of_one_name_the_first_is_taken_and_the_others_are_told_apart", one_name),
    ("offline::who_attached_a_file_is_not_told_to_attach_one", unfit_file),
    ("offline::a_task_that_no_skill_covers", nothing_fits),
    ("offline::a_skill_that_fits_and_cannot_be_used_says_why", unusable),
    ("offline::every_set_of_tools_and_every_layout", sets_and_layouts),
    ("offline::a_skill_that_came_with_the_task_is_not_loaded_again", declared),
    ("offline::a_file_that_cannot_be_brought_in_is_named", elsewhere),
    ("offline::a_program_that_is_not_there_makes_room_for_the_next", missing_program),
    ("offline::a_skill_without_commands_is_shown", no_commands),
    ("offline::a_file_name_is_never_a_command", hostile_name),
    ("offline::the_text_is_streamed_and_the_same_each_time", streamed),
    ("offline::a_turn_with_few_requests_ends_with_an_answer", few_requests),
    ("offline::a_long_conversation_is_summarised_and_goes_on", compaction),
];

const TABLE: &str = "region,amount\nNorth,10\nSouth,30\nNorth,20\n";

/// Does a task with files; gives the tools that were called and the answer.
fn answer(bench: &Bench, text: &str, files: &[(&str, &str)]) -> Result<String, Failed> {
    let attachments = files.iter().map(|(name, text)| bench.attach(name, text)).collect();
    run(bench, Task { text: text.to_owned(), attachments, ..Task::default() })
}

fn run(bench: &Bench, task: Task) -> Result<String, Failed> {
    let model = Arc::new(Offline::new(bench.library().snapshot()));
    let outcome = bench.task_with(task, model, unwatched())?;
    assert_eq!(outcome.ending, Ending::Answered, "{outcome:?}");
    let parts = outcome.events.iter().flat_map(|event| match &event.content {
        Content::Assistant(message) => message.parts.as_slice(),
        _ => &[],
    });
    let calls = parts.filter_map(|part| match part {
        Part::Call(call) => Some(format!("{} {}\n", call.name, call.arguments)),
        _ => None,
    });
    Ok(format!("{}\n{}", calls.collect::<String>(), outcome.text))
}

fn statistics() -> Result<(), Failed> {
    let bench = Bench::bundled();
    assert_snapshot!(answer(&bench, "statistics of sales.csv", &[("sales.csv", TABLE)])?);
    Ok(())
}

fn attached_with_key() -> Result<(), Failed> {
    let without = answer(&Bench::bundled(), "statistics of sales.csv", &[("sales.csv", TABLE)])?;
    let bench = Bench { has_keys: true, ..Bench::bundled() };
    let with = answer(&bench, "statistics of sales.csv", &[("sales.csv", TABLE)])?;
    assert_eq!(with, without);
    Ok(())
}

fn made_once() -> Result<(), Failed> {
    let bench = Bench::bundled();
    let chart = answer(&bench, "draw a chart of the sales by region", &[])?;
    assert!(chart.contains("It made `out/by_region.svg` ("), "{chart}");
    let factors = answer(&bench, "factor 360", &[])?;
    assert!(factors.contains("It made no files."), "{factors}");
    Ok(())
}

fn comparison() -> Result<(), Failed> {
    let bench = Bench::bundled();
    let files = [("a.txt", "one\ntwo\n"), ("b.txt", "one\n2\n")];
    assert_snapshot!(answer(&bench, "compare a.txt and b.txt", &files)?);
    Ok(())
}

fn log() -> Result<(), Failed> {
    let bench = Bench::bundled();
    let text = "2026-01-01T10:00:00Z ERROR no disk\n2026-01-01T10:00:01Z INFO fine\n";
    assert_snapshot!(answer(&bench, "what is in this log", &[("app.log", text)])?);
    Ok(())
}

fn chart() -> Result<(), Failed> {
    let bench = Bench::bundled();
    let said = answer(&bench, "draw a chart of sales.csv", &[("sales.csv", TABLE)])?;
    assert!(said.contains("It made `out/by_region.svg` ("), "{said}");
    assert!(said.contains("It ended with exit code 0"), "{said}");
    Ok(())
}

fn words_of_the_task() -> Result<(), Failed> {
    let cases = [
        ("first 20 fibonacci numbers", "", "sequences.py terms fibonacci --count 20"),
        ("convert 300 to binary", "", "bases.py 300 --to 2,8,16"),
        ("Which pages fail?", "access.log", "paths --status 5 work/inputs/access.log"),
        ("Summarise sales by region", "x.csv", "group work/inputs/x.csv --by region"),
        ("Compare these as an html page", "", "--format html --output out/diff.html"),
    ];
    for (text, file, command) in cases {
        let files = [(file, TABLE)];
        let said = answer(&Bench::bundled(), text, if file.is_empty() { &[] } else { &files })?;
        assert!(said.contains(command), "{text}: {said}");
    }
    Ok(())
}

fn example_of_the_skill() -> Result<(), Failed> {
    let said = answer(&Bench::bundled(), "profile a csv table", &[])?;
    assert!(said.contains("assets/sales.csv"), "{said}");
    let told = "It reads data that came with the skill; attach a file to use yours.";
    assert!(said.contains(told), "{said}");
    assert!(said.contains("It ended with exit code 0"), "{said}");
    Ok(())
}

fn earlier_file() -> Result<(), Failed> {
    let bench = Bench::bundled();
    answer(&bench, "statistics of old.csv", &[("old.csv", TABLE)])?;
    answer(&bench, "statistics of mine.csv", &[("mine.csv", TABLE)])?;
    let said = answer(&bench, "draw a chart of the sales by region", &[])?;
    assert!(said.contains(" work/inputs/mine.csv ") && !said.contains("old.csv"), "{said}");
    assert!(
        said.contains("It ended with exit code 0") && !said.contains("data that came"),
        "{said}"
    );
    let said = answer(&bench, "statistics of new.csv", &[("new.csv", TABLE)])?;
    assert!(said.contains("profile work/inputs/new.csv") && !said.contains("mine.csv"), "{said}");
    // They choose neither a skill nor an example, and nothing that has no use for them misses them.
    let said = answer(&bench, "book a flight to Lisbon", &[])?;
    assert!(said.contains("No skill fits this task."), "{said}");
    let said = answer(&bench, "factor 360", &[])?;
    assert!(said.contains("It ended with exit code 0") && !said.contains("new.csv"), "{said}");
    Ok(())
}

fn one_name() -> Result<(), Failed> {
    let files = [("one/sales.csv", TABLE), ("two/sales.csv", TABLE)];
    for text in ["statistics of sales.csv", "profile a csv table"] {
        let said = answer(&Bench::bundled(), text, &files)?;
        assert!(said.contains("profile work/inputs/one/sales.csv"), "{text}: {said}");
        assert!(said.contains("It does not use `work/inputs/two/sales.csv`."), "{text}: {said}");
    }
    // Where two are wanted, two are given.
    let files = [("one/a.txt", "1\n"), ("two/a.txt", "2\n")];
    let said = answer(&Bench::bundled(), "compare a.txt with a.txt", &files)?;
    assert!(said.contains("work/inputs/one/a.txt work/inputs/two/a.txt"), "{said}");
    assert!(!said.contains("It does not use"), "{said}");
    Ok(())
}

fn unfit_file() -> Result<(), Failed> {
    let bench = Bench::bundled();
    // Which one is meant, nobody knows.
    for files in [&[("a.png", "x"), ("b.png", "x")][..], &[]] {
        let said = answer(&bench, "profile a csv table", files)?;
        let told = "It reads data that came with the skill.\n\n\
            It does not use `work/inputs/a.png`, `work/inputs/b.png`.";
        assert!(said.contains(told), "{files:?}: {said}");
    }
    Ok(())
}

fn nothing_fits() -> Result<(), Failed> {
    let bench = Bench::bundled();
    assert_snapshot!(answer(&bench, "book a flight to Lisbon", &[])?);
    // A word in common is not enough.
    for (text, file) in [
        ("translate this text to French", "letter.md"),
        ("How many pages does report.pdf have?", "report.pdf"),
        ("fix the bug in main.rs", "main.rs"),
        ("hello", ""),
        ("", ""),
    ] {
        let files = [(file, "x")];
        let said = answer(&bench, text, if file.is_empty() { &[] } else { &files })?;
        assert!(said.contains("No skill fits this task."), "{text}: {said}");
    }
    let empty = Bench::new();
    empty.remove("pdf");
    empty.remove("charts");
    let said = answer(&empty, "book a flight to Lisbon", &[])?;
    assert!(said.contains("There are no skills here."), "{said}");
    Ok(())
}

fn unusable() -> Result<(), Failed> {
    let bench = Bench::new();
    let header = "name: charts\ndescription: Draws charts of tables.\n\
        metadata: {metier: {requires: {bins: [no-such-plotter]}}}";
    bench.write("charts/SKILL.md", &format!("---\n{header}\n---\n\n# Charts\n"));
    let said = answer(&bench, "draw a chart of a table", &[])?;
    let told = "`charts` fits this task, but cannot be used:\n\n\
        - needs the program no-such-plotter: install no-such-plotter\n";
    assert!(said.contains(told), "{said}");
    Ok(())
}

fn sets_and_layouts() -> Result<(), Failed> {
    let sets = [
        (ToolSet::Full, "skill_load skill_run"),
        (ToolSet::Knowledge, "skill_load"),
        (ToolSet::Single, "skill"),
        (ToolSet::Files, "read exec"),
    ];
    for (set, expected) in sets {
        for placement in [Placement::ToolResult, Placement::System] {
            for mode in [LoadMode::Turn, LoadMode::Once, LoadMode::Session] {
                let mut bench = Bench::bundled();
                bench.settings.prompt.tools = set;
                bench.settings.prompt.layout.placement = placement;
                bench.settings.mode = mode;
                // The second time, the text of the skill may be there already.
                for time in 1..=2 {
                    let said = answer(&bench, "statistics of sales.csv", &[("sales.csv", TABLE)])?;
                    let case = format!("{set:?} {placement:?} {mode} {time}: {said}");
                    let calls = said.lines().take_while(|line| !line.is_empty());
                    let tools: Vec<&str> = calls.filter_map(|it| it.split(' ').next()).collect();
                    assert_eq!(tools.join(" "), expected, "{case}");
                    assert!(
                        said.contains("I am the offline planner, not a language model"),
                        "{case}"
                    );
                    assert!(said.contains("give the agent a language model"), "{case}");
                    assert!(said.contains("csv_stats.py profile work/inputs/sales.csv"), "{case}");
                    let has_run = said.contains("It ended with exit code 0")
                        && said.contains("3 rows, 2 columns");
                    let can_run = matches!(set, ToolSet::Full | ToolSet::Files);
                    assert_eq!(has_run, can_run, "{case}");
                    assert_eq!(said.contains("Nothing was run"), !can_run, "{case}");
                }
            }
        }
    }
    Ok(())
}

fn declared() -> Result<(), Failed> {
    let bench = Bench::bundled();
    let load = LoadRequest { skill: "number-lab".to_owned(), ..LoadRequest::default() };
    let text = "compare the factors".to_owned();
    let said = run(&bench, Task { text, loads: vec![load], ..Task::default() })?;
    assert!(said.starts_with("skill_run {\"skill\":\"number-lab\""), "{said}");
    Ok(())
}

fn elsewhere() -> Result<(), Failed> {
    for (set, reads) in [(ToolSet::Full, "work/inputs/mine.csv"), (ToolSet::Files, "assets/")] {
        let mut bench = Bench::bundled();
        bench.settings.prompt.tools = set;
        let file = Attachment {
            name: "mine.csv".to_owned(),
            reference: "artifact://mine.csv@0".to_owned(),
            ..Attachment::default()
        };
        let text = "statistics of a table".to_owned();
        let said = run(&bench, Task { text, attachments: vec![file], ..Task::default() })?;
        assert!(said.contains(&format!("csv_stats.py profile {reads}")), "{said}");
        // Nobody has kept such an artifact, so it is either not found or not used.
        let is_named = said.contains("It was not run:")
            || said.contains("It does not use `artifact://mine.csv@0`.");
        assert!(is_named, "{said}");
    }
    Ok(())
}

fn missing_program() -> Result<(), Failed> {
    let bench = Bench::new();
    let skill =
        |body: &str| format!("---\nname: pdf\ndescription: Reads PDF files.\n---\n\n{body}");
    bench.write(
        "pdf/SKILL.md",
        &skill("```sh\nno-such-program-a x\nno-such-program-b x\nsh scripts/pages\n```\n"),
    );
    let said = answer(&bench, "read a pdf", &[])?;
    assert!(said.contains("```text\nsh scripts/pages\n```") && said.contains("3 pages"), "{said}");
    // It does not go on for ever.
    let many: String = (0..50).map(|it| format!("no-such-program-{it} x\n")).collect();
    bench.write("pdf/SKILL.md", &skill(&format!("```sh\n{many}```\n")));
    let said = answer(&bench, "read a pdf", &[])?;
    assert_eq!(said.matches("skill_run {").count(), 3, "{said}");
    assert!(said.contains("It ended with exit code 127"), "{said}");
    Ok(())
}

fn no_commands() -> Result<(), Failed> {
    let said = answer(&Bench::new(), "draw charts", &[])?;
    assert!(said.contains("shows no command") && said.contains("Draw with care."), "{said}");
    Ok(())
}

fn hostile_name() -> Result<(), Failed> {
    for name in
        ["a; touch $OUTPUT_DIR/owned #.csv", "`touch out/owned`'\".csv", "$(id > out/owned).csv"]
    {
        let said = answer(&Bench::bundled(), "statistics of this csv", &[(name, TABLE)])?;
        assert!(
            said.contains("It ended with exit code 0") && said.contains("It made no files."),
            "{name}: {said}"
        );
        assert!(!said.contains("It does not use"), "{name}: {said}");
    }
    Ok(())
}

fn streamed() -> Result<(), Failed> {
    let mut answers = Vec::new();
    for _ in 0..2 {
        let bench = Bench::bundled();
        let file = bench.attach("sales.csv", TABLE);
        let pieces = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&pieces);
        let watcher = Arc::new(move |progress: &Progress<'_>| {
            if let Progress::Text(text) = progress {
                heard.lock().unwrap().push((*text).to_owned());
            }
        });
        let model = Arc::new(Offline::new(bench.library().snapshot()));
        let text = "statistics of sales.csv".to_owned();
        let task = Task { text, attachments: vec![file], ..Task::default() };
        let outcome = bench.task_with(task, model, watcher)?;
        let pieces = pieces.lock().unwrap();
        assert!(pieces.len() > 5, "{pieces:?}");
        assert_eq!(pieces.concat(), outcome.text);
        answers.push(outcome.text);
    }
    assert_eq!(answers[0], answers[1]);
    Ok(())
}

fn few_requests() -> Result<(), Failed> {
    for (requests, calls) in [(2, 1), (3, 2)] {
        let mut bench = Bench::bundled();
        bench.settings.limits.requests = requests;
        let said = answer(&bench, "statistics of a csv table", &[])?;
        let made = said.lines().take_while(|line| !line.is_empty()).count();
        assert_eq!(made, calls, "{requests}: {said}");
    }
    Ok(())
}

fn compaction() -> Result<(), Failed> {
    let mut bench = Bench::bundled();
    answer(&bench, "statistics of sales.csv", &[("sales.csv", TABLE)])?;
    bench.settings.context_tokens = 2500;
    let said = answer(&bench, "compare a.txt and b.txt", &[("a.txt", "1\n"), ("b.txt", "2\n")])?;
    assert!(said.contains("text_diff.py work/inputs/a.txt work/inputs/b.txt"), "{said}");
    let summary = bench.events().into_iter().find_map(|event| match event.content {
        Content::Summary(summary) => Some(summary.text),
        _ => None,
    });
    assert_snapshot!(summary.ok_or("nothing was summarised")?, @"
    The user asked for this, oldest first:
    - statistics of sales.csv Attached files: - sales.csv (workspace://work/inputs/sales.csv)
    ");
    Ok(())
}
