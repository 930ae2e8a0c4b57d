//! `metier run`: tasks that a model does with skills, here a script or a server on the loopback.

mod answers;
mod bench;
mod errors;
mod requests;
mod sessions;
mod settings;
