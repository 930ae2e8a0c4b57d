//! Programs of others meet `metier mcp`: the protocol's conformance suite, its Inspector, and an
//! agent. They are real ones from the npm registry; where they are not installed, tests say so.

mod agents;
mod conformance;
mod inspector;

use metier_testkit::TestEnv;

use crate::environment;

/// A home with nothing in it, where bundled skills are usable.
fn with_bundled_skills() -> TestEnv {
    environment().with_variable("PATH", "/usr/local/bin:/usr/bin:/bin")
}
