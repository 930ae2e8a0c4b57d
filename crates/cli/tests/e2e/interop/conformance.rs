//! The server as it is shipped passes every scenario of the conformance suite that does not need
//! fixtures. Those that do are passed by the server with fixtures, in the tests of `serve`.

use std::collections::BTreeSet;

use metier_testkit::conformance::{Asked, Findings, SCENARIOS, Suite, VERSIONS};
use metier_testkit::{Node, proxy, report};

use super::{Serving, TOKEN, with_bundled_skills};

/// What is wrong, of all that the server must pass as it is.
fn wrong(findings: &Findings, is_asked: impl Fn(&str) -> bool) -> Vec<String> {
    let scenarios = SCENARIOS.iter().filter(|(name, _)| is_asked(name));
    let wrong = scenarios.flat_map(|(name, asked)| match asked {
        Asked::Shipped(excused) => findings.wrong(name, excused),
        Asked::Fixtures | Asked::Nobody(_) => Vec::new(),
    });
    wrong.collect()
}

#[test]
fn the_table_has_every_scenario_of_the_suite() {
    let test = "interop::conformance::the_table_has_every_scenario_of_the_suite";
    let Some(node) = Node::find(test) else { return };
    let known = SCENARIOS.iter().map(|(name, _)| (*name).to_owned()).collect::<BTreeSet<_>>();
    let newest = Suite::newest(node.clone()).scenarios().into_iter().collect::<BTreeSet<_>>();
    assert_eq!(newest, known);
    let published = Suite::published(node).scenarios().into_iter().collect::<BTreeSet<_>>();
    assert!(published.len() > 30 && published.is_subset(&known), "{published:?}");
}

#[test]
fn what_is_shipped_passes_what_needs_no_fixtures() {
    let test = "interop::conformance::what_is_shipped_passes_what_needs_no_fixtures";
    let Some(node) = Node::find(test) else { return };
    let env = with_bundled_skills();
    // The suite is a page of this machine, as far as its `Origin` says.
    let serving = Serving::start(&env, &["--allow-origin", "http://127.0.0.1:*"]);
    let server = proxy::add_header(serving.address, &format!("Authorization: Bearer {TOKEN}"));
    let suite = Suite::newest(node);
    for version in VERSIONS {
        let findings = suite.run(server, version);
        let names = findings.names();
        assert_eq!(wrong(&findings, |name| names.contains(&name)), [""; 0], "{version}");
        let shipped = SCENARIOS
            .iter()
            .filter(|(name, asked)| names.contains(name) && matches!(asked, Asked::Shipped(_)));
        report(test, &format!("{version}: {} scenarios", shipped.count()));
    }
    let extension = SCENARIOS.iter().filter(|(name, _)| name.starts_with("sep-2640-"));
    for (name, _) in extension {
        for version in ["2025-11-25", "2026-07-28"] {
            let findings = suite.run_scenario(server, name, version);
            assert_eq!(wrong(&findings, |asked| asked == *name), [""; 0], "{version}");
        }
    }
}
