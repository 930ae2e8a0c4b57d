//! Errors of the configuration files of other agents.

use std::io::ErrorKind;
use std::path::PathBuf;

use metier_clients::{ClientConfigError, ClientFileLocation};

use super::sheet::{Sheet, system};
use crate::failure::Failure;

pub(super) fn add_to(sheet: &mut Sheet) {
    use ClientConfigError as E;
    let path = || PathBuf::from("/home/ada/.cursor/mcp.json");
    let location = || ClientFileLocation { path: path(), real_path: path() };
    let linked =
        ClientFileLocation { path: "/home/ada/shop/.cursor/mcp.json".into(), real_path: path() };
    let errors = [
        E::NoHome { client: "goose" },
        E::NoProjectFile { client: "goose" },
        E::OutsideProject { location: linked.clone() },
        E::Read { path: path(), source: system(ErrorKind::PermissionDenied) },
        E::NotText { path: path() },
        E::Write { path: path(), source: system(ErrorKind::ReadOnlyFilesystem) },
        E::TokenUnsupported {
            client: "goose",
            reason: "it is not known to put variables into headers",
        },
        E::AdditionNotUnderstood { location: location() },
        E::RemovalNotUnderstood { location: linked, name: "metier".into() },
        E::Changed { location: location() },
    ];
    errors.into_iter().for_each(|error| sheet.show(error, Failure::from));
}
