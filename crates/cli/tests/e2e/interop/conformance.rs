//! The server as it is shipped passes every scenario of the conformance suite that does not need
//! fixtures. Those that do are passed by the server with fixtures, in the tests of `serve`.

use std::collections::BTreeSet;

use metier_testkit::conformance::{Asked, Findings, SCENARIOS, Suite, VERSIONS};
use metier_testkit::{Node, proxy, report};

use super::with_bundled_skills;
use crate::served::http::{Served, TOKEN};

/// What is wrong, of all that the server must pass as it is.
fn wrong(findings: &Findings) -> Vec<String> {
    findings.wrong(|asked| match asked {
        Asked::Shipped(excused) => Some(excused),
        Asked::Fixtures | Asked::Nobody(_) => None,
    })
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
    let serving = Served::start_plain(&env, &["--allow-origin", "http://127.0.0.1:*"]);
    let server = proxy::add_header(serving.address, &format!("Authorization: Bearer {TOKEN}"));
    let suite = Suite::newest(node);
    let shipped = SCENARIOS.iter().filter(|(_, asked)| matches!(asked, Asked::Shipped(_)));
    let mut left = shipped.map(|(name, _)| *name).collect::<Vec<_>>();
    for version in VERSIONS {
        let findings = suite.run(server, version);
        assert_eq!(wrong(&findings), [""; 0], "{version}");
        left.retain(|name| !findings.names().contains(name));
        report(test, &format!("{version}: {} scenarios", findings.names().len()));
    }
    // What belongs to no version is an extension, and is asked for by name.
    for name in left {
        for version in ["2025-11-25", "2026-07-28"] {
            let findings = suite.run_scenario(server, name, version);
            assert_eq!(wrong(&findings), [""; 0], "{version}");
        }
    }
}
