//! The server with the fixtures of the protocol's conformance suite passes all of it, in every
//! version of the protocol, over the same HTTP that is shipped.
//!
//! Which scenarios the server passes without fixtures is tested where the binary is.

mod fixtures;
mod serving;

use metier_testkit::conformance::{Asked, Findings, SCENARIOS, Suite, VERSIONS};
use metier_testkit::{Node, report};

use serving::Serving;

/// What is wrong in the scenarios that were run.
fn wrong(findings: &Findings) -> Vec<String> {
    findings.wrong(|asked| (!matches!(asked, Asked::Nobody(_))).then_some(&[]))
}

#[test]
fn with_fixtures_every_scenario_is_passed_in_every_version() {
    let test = "conformance::with_fixtures_every_scenario_is_passed_in_every_version";
    let Some(node) = Node::find(test) else { return };
    let suite = Suite::newest(node);
    let serving = Serving::start();
    let asked = SCENARIOS.iter().filter(|(_, asked)| !matches!(asked, Asked::Nobody(_)));
    let mut left = asked.map(|(name, _)| *name).collect::<Vec<_>>();
    for version in VERSIONS {
        let findings = suite.run(serving.address, version);
        assert_eq!(wrong(&findings), [""; 0], "{version}");
        left.retain(|name| !findings.names().contains(name));
        let (scenarios, checks) = (findings.names().len(), findings.checks());
        report(test, &format!("{version}: {scenarios} scenarios, {checks} checks"));
    }
    // What belongs to no version is an extension, and is asked for by name.
    for name in left {
        for version in ["2025-11-25", "2026-07-28"] {
            let findings = suite.run_scenario(serving.address, name, version);
            assert_eq!(wrong(&findings), [""; 0], "{version}");
        }
    }
}

#[test]
fn the_published_suite_is_passed_too() {
    let test = "conformance::the_published_suite_is_passed_too";
    let Some(node) = Node::find(test) else { return };
    let suite = Suite::published(node);
    let serving = Serving::start();
    for version in ["2025-06-18", "2025-11-25"] {
        assert_eq!(wrong(&suite.run(serving.address, version)), [""; 0], "{version}");
    }
}
