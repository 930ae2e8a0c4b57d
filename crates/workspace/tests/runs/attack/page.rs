//! The table for people: `docs/attacks.md`.
//!
//! It is written anew when `METIER_WRITE_PAGES` is set; otherwise a test makes sure that it is up to date. Sections
//! after the line [`BY_HAND`] are kept as they are: they are about attacks whose tests are elsewhere.

use std::fs;
use std::path::Path;

use libtest_mimic::{Failed, Trial};

use super::{Cell, HOST, TABLE};
use crate::bench::Who;

const HEAD: &str = "# Attacks\n\n\
    What somebody might try, and what becomes of it, by executor. Each cell that says *refused* is a test which \
    tries it and sees that the host is unharmed: `cargo nextest run -p metier-workspace -E 'test(attack)'`. \
    The table is written by those tests. `sandbox` is tried at both levels, `full` and `landlock`, as root and as an \
    ordinary user, with and without a control group; level `landlock` does not hide that other processes are there, \
    nor that a file is at a path that a program knows, and both tests try the rest there.\n";

/// The line after which the page is written by people.
const BY_HAND: &str = "<!-- by hand -->";

/// Makes sure that the page is up to date.
pub(crate) fn trial() -> Trial {
    Trial::test("attack::the_page_is_up_to_date", check)
}

fn check() -> Result<(), Failed> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let security = fs::read_to_string(root.join("SECURITY.md"))?.replace('\n', " ");
    assert!(security.contains(HOST), "SECURITY.md does not say: {HOST}");
    let file = root.join("docs/attacks.md");
    let before = fs::read_to_string(&file).unwrap_or_default().replace("\r\n", "\n");
    let page = page() + by_hand(&before);
    #[expect(clippy::disallowed_methods, reason = "whoever runs the tests says it in a variable")]
    let writes = std::env::var_os("METIER_WRITE_PAGES").is_some();
    if writes {
        fs::write(&file, &page)?;
    }
    let written = fs::read_to_string(&file).unwrap_or_default();
    let stale = "docs/attacks.md is out of date; run this test with METIER_WRITE_PAGES=1";
    if written.replace("\r\n", "\n") == page { Ok(()) } else { Err(stale.into()) }
}

/// Returns the part of a page that is not written here, with the empty line before it.
fn by_hand(page: &str) -> &str {
    page.find(&format!("\n{BY_HAND}\n")).map_or("", |at| &page[at..])
}

fn page() -> String {
    let names = Who::ALL.map(|who| format!("`{who}`")).join(" | ");
    let mut page = format!(
        "{HEAD}\n| attack | test | {names} |\n|---|---|{}\n",
        "---|".repeat(Who::ALL.len())
    );
    for attack in TABLE {
        let cells = Who::ALL.map(|who| match attack.cell(who) {
            Cell::Refused => "refused",
            Cell::NotPromised => "not promised",
        });
        page += &format!("| {} | `{}` | {} |\n", attack.about, attack.name, cells.join(" | "));
    }
    page + "\nNot promised: " + HOST + "\n"
}
