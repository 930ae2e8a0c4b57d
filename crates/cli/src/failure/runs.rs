//! Why `metier exec` did not run a command, in the words of the command line.

use std::error::Error;
use std::io::{self, ErrorKind};
use std::iter;
use std::path::Path;

use metier_sandbox::SpawnError;
use metier_skill::library::EntryKey;
use metier_workspace::RunError;
use metier_workspace::artifact::ArtifactError;
use metier_workspace::executor::{ContainerError, ExecuteError};
use metier_workspace::input::InputError;

use super::Failure;
use crate::grants::remedy;

/// The run that failed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FailedRun<'a> {
    /// The skill whose command it was.
    pub(crate) skill: &'a str,
    /// Its key in `skills.entries`.
    pub(crate) entry_key: &'a EntryKey,
    /// The state directory.
    pub(crate) state: &'a Path,
}

impl FailedRun<'_> {
    /// Why.
    pub(crate) fn failure(&self, error: &RunError) -> Failure {
        use RunError as E;
        let message = match error {
            E::Beyond(beyond) => {
                return Failure::new(format!("`{}` is not run: {beyond}", self.skill))
                    .hint(remedy(self.entry_key, beyond));
            }
            E::Input(InputError::Artifact {
                from,
                source: ArtifactError::NoVersion { name, version },
            }) => format!("input `{from}`: `{name}` has no version {version}"),
            E::Execute(ExecuteError::Container(ContainerError::Unreachable {
                address,
                source,
            })) if source.kind() == ErrorKind::PermissionDenied => {
                format!("no container engine answers at `{address}`: {source}")
            }
            // These say themselves what they are about.
            E::Input(error) => error.to_string(),
            E::Owner(error) => error.to_string(),
            error => error.to_string(),
        };
        let usage = matches!(
            error,
            E::Command(_)
                | E::Timeout(_)
                | E::Directory(_)
                | E::Variable(_)
                | E::Configured(_)
                | E::Pattern(_)
                | E::Artifact { .. }
                | E::Input(_)
                | E::Owner(_)
        );
        let hint = self.disk_remedy(error).or_else(|| system_remedy(error).map(str::to_owned));
        let failure = match &hint {
            None if usage => Failure::usage(message),
            _ => Failure::new(message),
        };
        match hint.or_else(|| request_remedy(error)) {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }

    /// What to do about a disk that does not take any more.
    fn disk_remedy(&self, error: &RunError) -> Option<String> {
        let is_about_files = match error {
            RunError::Stage(_) | RunError::Workspace(_) | RunError::Input(_) => true,
            RunError::Execute(error) => {
                matches!(
                    error,
                    ExecuteError::Io(_) | ExecuteError::Container(ContainerError::Io(_))
                )
            }
            _ => false,
        };
        if !is_about_files {
            return None;
        }
        let mut causes = iter::successors(error.source(), |&cause| cause.source());
        let disk = causes.find_map(|cause| cause.downcast_ref::<io::Error>())?;
        match disk.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
                Some(format!("free some space in `{}`; `metier gc` may help", self.state.display()))
            }
            ErrorKind::ReadOnlyFilesystem | ErrorKind::PermissionDenied
                if !matches!(error, RunError::Input(_)) =>
            {
                Some("set METIER_HOME to a folder that you can write to".to_owned())
            }
            _ => None,
        }
    }
}

/// What to do about a request that names what is not there.
fn request_remedy(error: &RunError) -> Option<String> {
    let hint = match error {
        RunError::UnknownSkill(_) | RunError::Input(InputError::NoSkill(_)) => {
            "`metier skills list` shows the skills there are"
        }
        RunError::Input(InputError::Artifact {
            source: ArtifactError::NoVersion { name, .. },
            ..
        }) => return Some(format!("`metier artifacts versions {name}` shows those there are")),
        RunError::Input(InputError::Artifact { .. }) => {
            "`metier artifacts list` shows those there are"
        }
        RunError::Input(InputError::Io { .. }) => "check the path",
        RunError::Input(InputError::TooLarge(_)) => "name fewer or smaller files",
        RunError::Execute(ExecuteError::Spawn(SpawnError::Directory { .. })) => {
            "`--cwd` names a folder of the skill; `metier skills info NAME` lists its files"
        }
        _ => return None,
    };
    Some(hint.to_owned())
}

/// What to do about a system that does not run it.
fn system_remedy(error: &RunError) -> Option<&'static str> {
    let RunError::Execute(error) = error else { return None };
    Some(match error {
        ExecuteError::Spawn(SpawnError::Program { .. }) => "install it, or correct its name",
        ExecuteError::Spawn(SpawnError::Impatient) => "give it more time with `--timeout`",
        ExecuteError::Spawn(SpawnError::Directory { .. }) => return None,
        ExecuteError::Spawn(_) | ExecuteError::Required { .. } => {
            "`metier doctor` shows what this system offers, and what is missing"
        }
        ExecuteError::NoSandbox { .. } => {
            "`metier doctor` shows what is missing; `exec.degrade = true` runs your own commands unconfined"
        }
        ExecuteError::NoShell => "install `bash`, so that it is on the PATH",
        ExecuteError::Container(ContainerError::Unreachable { source, .. })
            if source.kind() == ErrorKind::PermissionDenied =>
        {
            "you may not use this engine: join its group (often `docker`), or use Podman without root"
        }
        ExecuteError::Container(ContainerError::Engine { .. }) => {
            "the log of the engine may say more"
        }
        _ => return None,
    })
}
