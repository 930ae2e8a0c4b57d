//! `metier sessions rm`: the session, its workspace and what it kept.

use std::fmt;

use metier_app::ops::sessions::RemovedSession;
use serde_json::json;

use crate::context::Context;
use crate::failure::{Failure, OK};
use crate::output::{counted, plain};
use crate::wait::block_on;

/// Removes a session and all that belongs to it alone.
pub(super) fn remove(context: &Context, name: &str, json: bool) -> Result<u8, Failure> {
    let working = context.output.working(&format!("removing {name}"));
    let removed = block_on(async { Ok(context.app.remove_session(name).await?) })?;
    drop(working);
    let RemovedSession { had_workspace, artifacts: kept } = removed;
    if json {
        let removed = json!({ "session": name, "workspace": had_workspace, "artifacts": kept });
        context.output.json(&removed);
    } else {
        let gone = Removed { had_workspace, kept };
        context.output.say(&format!("removed {}{gone}", plain(name)));
    }
    Ok(OK)
}

/// What went with a session, in words behind its name.
struct Removed {
    had_workspace: bool,
    kept: usize,
}

impl fmt::Display for Removed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let artifacts = counted(self.kept, "artifact");
        match (self.had_workspace, self.kept) {
            (true, 0) => formatter.write_str(" and its workspace"),
            (true, _) => write!(formatter, ", its workspace and {artifacts}"),
            (false, 0) => Ok(()),
            (false, _) => write!(formatter, " and {artifacts}"),
        }
    }
}
