//! `metier run`: tasks that a model does with skills, here a script or a server on the loopback.

mod answers;
mod bench;
mod breaks;
mod chat;
mod chat_lines;
mod commands;
mod databases;
mod demo;
mod errors;
mod flows;
mod foreign;
mod host;
mod measured;
mod prefix;
mod requests;
mod reviewed;
pub(crate) mod secure;
mod sessions;
mod settings;
mod streams;
mod talk;
mod traces;
mod troubles;
mod trusted;
