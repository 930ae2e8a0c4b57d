//! The executor that runs commands in containers, by the Docker API of Docker or Podman.
//!
//! A workspace has one container, made on first use and found again by its name. It holds no state:
//! its root is read-only, and whatever a run writes is in folders of the workspace that are mounted
//! ([`recipe`]). Its first program only waits; every command is an `exec` beside it ([`command`]).
//! Nothing is ever put into the text of a shell: commands, variables and paths go as lists.
//!
//! What a command left running is seen from outside, by the number of processes the engine counts, and
//! ended by killing the container: the kernel then ends everything in it. One run at a time has the container,
//! which a file in the workspace makes sure of ([`hold`]). That file also tells the next run, and `gc`
//! ([`leftovers`]), whether the last one came to its end.

mod command;
mod engine;
mod error;
mod hold;
mod image;
mod leftovers;
mod outside;
mod pull;
mod ready;
mod recipe;
mod run;

pub use error::ContainerError;
pub use pull::{Preparing, Teller};
pub use run::{ContainerExecutor, ContainerSettings, Pull};
