//! What people do all day must not need a question.

mod corpus;
mod everyday;
#[path = "../machine/mod.rs"]
mod machine;
mod modes;
