//! The conformance suite of the Model Context Protocol.
//!
//! [`SCENARIOS`] says for each scenario of the suite by which server it must be passed; a scenario
//! that is not in it fails the test that compares the two. [`Suite::run`] puts all scenarios of one
//! version of the protocol to a server and gives what was found wrong.

mod table;

use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::path::Path;

use serde_json::Value;

use crate::node::Node;
pub use table::{Asked, SCENARIOS};

/// The versions of the protocol that the suite knows scenarios for.
pub const VERSIONS: [&str; 3] = ["2025-06-18", "2025-11-25", "2026-07-28"];

/// A release of the suite.
#[derive(Clone, Debug)]
pub struct Suite {
    node: Node,
    script: &'static str,
}

/// What the suite found: the checks of each scenario that it ran.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    scenarios: BTreeMap<String, Vec<Value>>,
}

impl Suite {
    /// The newest one, which knows all versions and the extensions.
    pub fn newest(node: Node) -> Self {
        Self { node, script: "@modelcontextprotocol/conformance/dist/index.js" }
    }

    /// The one that people get who ask for no version.
    pub fn published(node: Node) -> Self {
        Self { node, script: "conformance-published/dist/index.js" }
    }

    /// The names of its scenarios for servers, as it lists them.
    pub fn scenarios(&self) -> Vec<String> {
        let listed = self.output(&["list", "--server"]);
        let names = listed.lines().filter_map(|line| line.trim().strip_prefix("- "));
        names.map(|line| line.split(' ').next().unwrap_or_default().to_owned()).collect()
    }

    /// Puts all scenarios of a version to a server.
    pub fn run(&self, server: SocketAddr, version: &str) -> Findings {
        self.ask(server, &["--suite", "all", "--spec-version", version])
    }

    /// Puts one scenario to a server, whatever the version.
    pub fn run_scenario(&self, server: SocketAddr, scenario: &str, version: &str) -> Findings {
        let which = ["--scenario", scenario, "--spec-version", version, "--force"];
        let findings = self.ask(server, &which);
        assert_eq!(findings.names(), [scenario], "what was asked for was run");
        findings
    }

    fn ask(&self, server: SocketAddr, which: &[&str]) -> Findings {
        let results = tempfile::tempdir().expect("a temporary folder");
        let folder = results.path().to_string_lossy();
        let url = format!("http://{server}/mcp");
        let common = ["server", "--url", &url, "--output-dir", &folder];
        let said = self.output(&[&common, which].concat());
        let findings = Findings::read(results.path());
        assert!(!findings.scenarios.is_empty(), "the suite ran nothing:\n{said}");
        findings
    }

    /// What the suite says; whether it is content is in its results.
    fn output(&self, arguments: &[&str]) -> String {
        let output = self.node.script(self.script).args(arguments).output().expect("Node starts");
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    }
}

impl Findings {
    /// Reads `server-<scenario>-<time>/checks.json` of each scenario.
    fn read(folder: &Path) -> Self {
        let mut findings = Self::default();
        for entry in fs::read_dir(folder).expect("the folder is there") {
            let entry = entry.expect("it can be read");
            let name = entry.file_name().to_string_lossy().into_owned();
            let checks = fs::read_to_string(entry.path().join("checks.json")).expect("checks");
            let checks = serde_json::from_str(&checks).expect("checks are a list");
            findings.scenarios.insert(scenario_of(&name).to_owned(), checks);
        }
        findings
    }

    /// Which scenarios were run.
    pub fn names(&self) -> Vec<&str> {
        self.scenarios.keys().map(String::as_str).collect()
    }

    /// How many checks there were.
    pub fn checks(&self) -> usize {
        self.scenarios.values().map(Vec::len).sum()
    }

    /// What is wrong in the scenarios that were run, a line each. Whoever is asked says which checks
    /// of a scenario are excused, or that it is none of theirs. A scenario that is not in the table is
    /// wrong.
    pub fn wrong(&self, asked: impl Fn(Asked) -> Option<&'static [&'static str]>) -> Vec<String> {
        let wrong = self.scenarios.iter().flat_map(|(name, checks)| {
            match SCENARIOS.iter().find(|(it, _)| it == name) {
                Some((_, row)) => {
                    asked(*row).map(|it| wrong_in(name, checks, it)).unwrap_or_default()
                }
                None => vec![format!("{name}: is not in the table")],
            }
        });
        wrong.collect()
    }
}

/// What is wrong in a scenario; warnings are wrong too. A check that the suite skipped is wrong unless
/// it is excused, or not one of this version.
fn wrong_in(scenario: &str, checks: &[Value], excused: &[&str]) -> Vec<String> {
    let is_wrong = |check: &&Value| {
        let is_excused = excused.iter().any(|id| check["id"] == *id);
        let why = check["errorMessage"].as_str().unwrap_or_default();
        match check["status"].as_str() {
            Some("SUCCESS" | "INFO") => false,
            Some("SKIPPED") if why.starts_with(OF_ANOTHER_VERSION) => false,
            _ => !is_excused,
        }
    };
    let line = |check: &Value| {
        let text = |key: &str| check[key].as_str().unwrap_or_default().to_owned();
        format!("{scenario}: {}: {}: {}", text("status"), text("id"), text("errorMessage"))
    };
    checks.iter().filter(is_wrong).map(line).collect()
}

/// How the suite says that there is nothing to check in this version.
const OF_ANOTHER_VERSION: &str = "not applicable on negotiated protocol";

/// What a folder of results is about: `server-<scenario>-<date>T<time>`.
fn scenario_of(folder: &str) -> &str {
    let name = folder.strip_prefix("server-").unwrap_or(folder);
    let date = name.rfind('T').and_then(|at| at.checked_sub("-2026-11-16".len()));
    date.map_or(name, |date| &name[..date])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_told_by_the_name_of_their_folder() {
        assert_eq!(scenario_of("server-ping-2026-11-16T14-20-31-123Z"), "ping");
        let with_date = "server-json-schema-2020-12-2026-11-16T14-20-31-123Z";
        assert_eq!(scenario_of(with_date), "json-schema-2020-12");
    }

    #[test]
    fn what_is_wrong_is_told_also_of_a_scenario_that_nobody_knows() {
        let check = |status| vec![serde_json::json!({ "id": "c", "status": status })];
        let of = |name: &str, status| Findings {
            scenarios: BTreeMap::from([(name.to_owned(), check(status))]),
        };
        let shipped = |asked| match asked {
            Asked::Shipped(excused) => Some(excused),
            _ => None,
        };
        assert_eq!(of("ping", "SUCCESS").wrong(shipped), [""; 0]);
        assert_eq!(of("ping", "WARNING").wrong(shipped), ["ping: WARNING: c: "]);
        assert_eq!(of("tools-call-image", "FAILURE").wrong(shipped), [""; 0]);
        assert_eq!(of("pong", "SUCCESS").wrong(shipped), ["pong: is not in the table"]);
    }

    #[test]
    fn no_scenario_is_in_the_table_twice() {
        for (name, _) in SCENARIOS {
            assert_eq!(SCENARIOS.iter().filter(|(other, _)| other == name).count(), 1, "{name}");
        }
    }
}
