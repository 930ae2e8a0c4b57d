//! `metier config …`.

mod change;
mod show;

use crate::args::ConfigCommand;
pub(super) use crate::commands::config::change::{readers_for, write_config};
pub(super) use crate::commands::config::show::show;
use crate::failure::{Failure, OK};
use crate::output::Output;
use metier_app::Environment;

/// Runs a command that needs no configuration that can be read; `None` if this one does.
pub(super) fn without_config(
    command: &ConfigCommand,
    environment: &Environment,
    output: Output,
) -> Option<Result<u8, Failure>> {
    Some(match command {
        ConfigCommand::Show { .. } => return None,
        ConfigCommand::Schema => {
            // Indented: people and version control read it too.
            output.print(&format!("{:#}", metier_config::json_schema()));
            Ok(OK)
        }
        ConfigCommand::Sample => {
            output.print(&metier_config::sample_file());
            Ok(OK)
        }
        ConfigCommand::Path => change::path(environment, output),
        ConfigCommand::Set { key, value } => change::set(key, value, environment, output),
        ConfigCommand::Unset { key } => change::unset(key, environment, output),
        ConfigCommand::Edit => change::edit(environment, output),
    })
}
