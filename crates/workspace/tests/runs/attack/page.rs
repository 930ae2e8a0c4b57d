//! The table for people: `docs/attacks.md`.
//!
//! It is written anew when `METIER_WRITE_PAGES` is set; otherwise a test makes sure that it is up to date.

use std::fs;
use std::path::Path;

use libtest_mimic::{Failed, Trial};

use super::{Cell, HOST, TABLE};
use crate::bench::Who;

const HEAD: &str = "# Attacks\n\n\
    What somebody might try, and what becomes of it, by executor. Each cell that says *refused* is a test which \
    tries it and sees that the host is unharmed: `cargo nextest run -p metier-workspace attack::`. \
    The table is written by those tests.\n";

/// Makes sure that the page is up to date.
pub(crate) fn trial() -> Trial {
    Trial::test("attack::the_page_is_up_to_date", check)
}

fn check() -> Result<(), Failed> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let security = fs::read_to_string(root.join("SECURITY.md"))?.replace('\n', " ");
    assert!(security.contains(HOST), "SECURITY.md does not say: {HOST}");
    let (file, page) = (root.join("docs/attacks.md"), page());
    #[expect(clippy::disallowed_methods, reason = "whoever runs the tests says it in a variable")]
    let writes = std::env::var_os("METIER_WRITE_PAGES").is_some();
    if writes {
        fs::write(&file, &page)?;
    }
    let written = fs::read_to_string(&file).unwrap_or_default();
    let stale = "docs/attacks.md is out of date; run this test with METIER_WRITE_PAGES=1";
    if written.replace("\r\n", "\n") == page { Ok(()) } else { Err(stale.into()) }
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
