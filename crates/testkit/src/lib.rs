//! For tests: a hermetic environment to run the real binary in, a terminal, a loopback server, a
//! provider of models, a browser, the corpus, and the way a test says that it could not run.
#![expect(
    clippy::disallowed_methods,
    reason = "tests start the binary and read their own switches"
)]

mod browser;
pub mod conformance;
mod corpus;
mod environment;
mod node;
pub mod provider;
pub mod proxy;
pub mod server;
mod surroundings;
mod terminal;
mod user;

pub use browser::Browser;
pub use corpus::{corpus, report, skip};
pub use environment::{Outcome, TestEnv};
pub use node::Node;
pub use surroundings::{Surroundings, TestUser};
pub use terminal::Terminal;
pub use user::{
    as_root_of_a_container, is_without_sandbox, run_as_ordinary_user, run_as_root_of_a_container,
    run_without_sandbox,
};
