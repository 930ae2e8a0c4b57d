//! Engines that are already on the machine.

use std::path::PathBuf;

use anyhow::{Context, Result};

use super::api::Api;
use super::images;
use super::kind::Kind;
use crate::project::Project;

/// Looks for engines, puts the test images into those that answer, and tells the programs that
/// `project` starts. Finding none is no error: tests say that they need one.
pub(crate) fn find(project: &mut Project) {
    for kind in Kind::ALL {
        let Some(api) = candidates(kind, project).into_iter().find(Api::answers) else { continue };
        match supply(project, &api) {
            Ok(()) => project.set(kind.variable(), api.address()),
            Err(error) => println!("{} is not used: {error:#}", kind.name()),
        }
    }
}

/// Where an engine may listen, the most explicit place first.
fn candidates(kind: Kind, project: &Project) -> Vec<Api> {
    let named = [kind.variable(), kind.usual_variable()]
        .into_iter()
        .filter_map(|variable| project.variable(variable))
        .filter_map(|address| Api::at(address.to_str()?));
    let folders = [project.variable("XDG_RUNTIME_DIR"), Some("/run".into())];
    let usual = folders.into_iter().flatten().map(PathBuf::from);
    named.chain(usual.map(|folder| Api::new(folder.join(kind.usual_socket())))).collect()
}

/// An engine that has the images is left as it is.
fn supply(project: &Project, api: &Api) -> Result<()> {
    if images::are_in(api)? {
        return Ok(());
    }
    let folder = tempfile::tempdir().context("cannot create a folder for the test images")?;
    images::make(project, folder.path())?;
    images::import(api, folder.path())
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    #[test]
    fn explicit_places_come_before_usual_ones() {
        let mut project = Project::at("/nowhere".into(), OsString::new());
        project.set("DOCKER_HOST", "unix:///tmp/mine.sock");
        project.set("XDG_RUNTIME_DIR", "/run/user/7");
        project.set("CONTAINER_HOST", "ssh://elsewhere/podman.sock");
        let lines = Kind::ALL.map(|kind| {
            let addresses = candidates(kind, &project);
            addresses.iter().map(|api| api.address() + "\n").collect::<String>()
        });
        insta::assert_snapshot!(lines.concat(), @"
        unix:///tmp/mine.sock
        unix:///run/user/7/docker.sock
        unix:///run/docker.sock
        unix:///run/user/7/podman/podman.sock
        unix:///run/podman/podman.sock
        ");
    }
}
