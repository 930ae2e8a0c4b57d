//! `docs/tour.md`, step by step: every command of the page is run as a new user would type it, at a
//! terminal, and prints what the page shows.
//!
//! All commands share one home and one folder, and a real shell runs them, so that `cd` and
//! here-documents are what they are. What differs from run to run is named in [`rules`]. With
//! `METIER_WRITE_PAGES` set, the page is given what the commands print now; a line that says the
//! same as before stays as it is.

mod page;
mod rules;
mod shell;

use std::fs;

use page::Page;
use shell::Shell;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tour.md");

#[test]
fn every_command_of_the_tour_prints_what_the_page_shows() {
    let text = fs::read_to_string(PAGE).expect("there is a tour");
    let page = Page::parse(&text);
    let mut shell = Shell::new();
    let mut printed = Vec::new();
    let mut failures = Vec::new();
    for (step, next) in page.steps.iter().zip(page.steps.iter().skip(1).map(Some).chain([None])) {
        let (code, lines) = shell.run(step);
        let told = next.is_some_and(|next| next.command == "echo $?");
        if code != 0 && !told {
            failures.push(format!(
                "$ {}\nends with {code}, and the page does not say so",
                step.command
            ));
        }
        if rules::same(&step.shown) != rules::same(&lines) {
            failures.push(format!(
                "$ {}\n--- the page shows\n{}\n--- it prints\n{}\n",
                step.command,
                rules::same(&step.shown).join("\n"),
                rules::same(&lines).join("\n")
            ));
        }
        printed.push(rules::kept(&step.shown, lines));
    }
    #[expect(clippy::disallowed_methods, reason = "whoever runs the tests says it in a variable")]
    let writes = std::env::var_os("METIER_WRITE_PAGES").is_some();
    if writes {
        fs::write(PAGE, page.with(&printed)).expect("the page can be written");
        return;
    }
    assert!(
        failures.is_empty(),
        "docs/tour.md is out of date; look, then run this test with METIER_WRITE_PAGES=1\n\n{}",
        failures.join("\n")
    );
}

#[test]
fn only_installing_is_not_run_here() {
    let text = fs::read_to_string(PAGE).expect("there is a tour");
    assert_eq!(
        Page::parse(&text).not_run,
        ["sh\ncargo install --locked --path crates/cli"],
        "there is one block that is not run, with the command that installs"
    );
}
