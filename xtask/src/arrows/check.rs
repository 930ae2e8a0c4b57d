//! The check: packages and the table in, violations out.
//!
//! Normal and build dependencies count. A dev-dependency is free, because it
//! cannot reach what is shipped, unless it is on a crate that nobody may use.

use std::fmt;

use anyhow::{Result, bail};

use super::front_end;
use super::house::{Crate, Role, place};
use super::metadata::{self, Kind, Package};
use crate::project::{Project, output};

/// Something the table does not allow.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Violation {
    /// A package of the workspace, or one that is depended on by path, is not in the table.
    Unknown { package: String },
    /// A dependency that the table does not list.
    Arrow { from: String, to: String, kind: Kind, rule: String },
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown { package } => write!(
                formatter,
                "`{package}` has no place in the house: add it to the table `HOUSE` in \
                 `xtask/src/arrows/house.rs`"
            ),
            Self::Arrow { from, to, kind, rule } => {
                write!(formatter, "`{from}` may not have `{to}` as a {kind}: {rule}")
            }
        }
    }
}

/// Checks the workspace and prints each arrow that is not allowed, and each place at which a library speaks.
pub(crate) fn run(project: &Project) -> Result<()> {
    let packages =
        metadata::parse(&output(project.cargo("metadata --format-version 1 --no-deps"))?)?;
    let violations = violations(&packages);
    for violation in &violations {
        println!("{violation}");
    }
    let spoken = front_end::look(&project.file(""), &packages)?;
    for line in &spoken {
        println!("{line}");
    }
    match (violations.len(), spoken.len()) {
        (0, 0) => Ok(()),
        (1, 0) => bail!("1 dependency breaks the architecture"),
        (count, 0) => bail!("{count} dependencies break the architecture"),
        (0, 1) => bail!("1 place in a library is the business of front ends"),
        (0, count) => bail!("{count} places in libraries are the business of front ends"),
        (arrows, places) => bail!(
            "{arrows} dependencies break the architecture, and {places} places in libraries are the business of front ends"
        ),
    }
}

/// Everything about these packages that the table does not allow, in their order.
pub(super) fn violations(packages: &[Package]) -> Vec<Violation> {
    let mut found = Vec::new();
    for package in packages {
        let Some(user) = place(&package.name) else {
            add_once(&mut found, Violation::Unknown { package: package.name.clone() });
            continue;
        };
        for dependency in &package.internal {
            let Some(used) = place(&dependency.name) else {
                add_once(&mut found, Violation::Unknown { package: dependency.name.clone() });
                continue;
            };
            if let Some(rule) = refusal(user, used, dependency.kind) {
                found.push(Violation::Arrow {
                    from: package.name.clone(),
                    to: dependency.name.clone(),
                    kind: dependency.kind,
                    rule,
                });
            }
        }
    }
    found
}

/// The rule that forbids this arrow, or `None` if it is allowed.
fn refusal(user: &Crate, used: &Crate, kind: Kind) -> Option<String> {
    let name = used.name;
    match (&user.role, &used.role) {
        (_, Role::Tool) => Some(format!("`{name}` is a tool that nothing depends on")),
        (Role::ForTests | Role::Tool, _) => None,
        (Role::Shipped { .. }, _) if kind == Kind::Dev => None,
        (Role::Shipped { .. }, Role::ForTests) => {
            Some(format!("`{name}` is for tests, so it must be a dev-dependency"))
        }
        (Role::Shipped { uses }, Role::Shipped { .. }) => {
            (!uses.contains(&name)).then(|| allowance(user.name, uses))
        }
    }
}

fn allowance(user: &str, uses: &[&str]) -> String {
    if uses.is_empty() {
        return format!("`{user}` uses no other crate of the house");
    }
    let uses = uses.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>();
    format!("`{user}` uses only {}", uses.join(", "))
}

fn add_once(found: &mut Vec<Violation>, violation: Violation) {
    if !found.contains(&violation) {
        found.push(violation);
    }
}
