//! Looking at whole skills: the header, the body, the files it names, and other skills.

mod body;
mod commands;
mod neighbours;
mod references;
mod scripts;
mod skill;
#[cfg(test)]
mod tests;

pub use neighbours::collisions;
pub use skill::{Linted, Remark, diagnose_text, lint_skill};
