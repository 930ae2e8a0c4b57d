//! Why `metier exec` did not run a command, in the words of the command line.

use std::error::Error;
use std::io::{self, ErrorKind};
use std::iter;
use std::path::Path;

use metier_config::toml_key;
use metier_sandbox::SpawnError;
use metier_skill::library::{EntryKey, EntryRefusal};
use metier_workspace::artifact::ArtifactError;
use metier_workspace::executor::{ContainerError, ExecuteError};
use metier_workspace::grant::BeyondError;
use metier_workspace::input::InputError;
use metier_workspace::{RunError, TimeoutError};

use super::Failure;

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
                let why = beyond_words(beyond);
                return Failure::new(format!("`{}` is not run: {why}", self.skill))
                    .hint(grant_words(self.entry_key, beyond));
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
            E::Timeout(TimeoutError::TooLong { limit }) => {
                format!("`timeout`: at most {limit} seconds are allowed (`exec.max_timeout`)")
            }
            E::Configured(error) => format!("`skills.entries`: {error}"),
            E::Execute(error) => execute_words(error),
            // These say themselves what they are about.
            E::Input(error) => input_words(error),
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

impl Failure {
    /// A skill that asks for more than it may have.
    pub(crate) fn of_beyond(error: &BeyondError) -> Self {
        Self::new(beyond_words(error))
    }

    /// An engine, image or container that cannot be used.
    pub(crate) fn of_container(error: &ContainerError) -> Self {
        let mut failure = Self::brief(error);
        failure.messages[0] = container_words(error);
        failure
    }
}

/// Returns the message for a skill that asks for too much, with the setting that says how much it may have.
fn beyond_words(error: &BeyondError) -> String {
    match error {
        BeyondError::Timeout { asked, allowed } => {
            format!("it asks for {asked} seconds, and `exec.max_timeout` is {allowed}")
        }
        BeyondError::Memory { asked, allowed } => {
            format!("it asks for {asked} MiB of memory, and `exec.memory_mb` is {allowed}")
        }
        BeyondError::Processes { asked, allowed } => {
            format!("it asks for {asked} processes, and `exec.processes` is {allowed}")
        }
        error => error.to_string(),
    }
}

/// Returns the message for an input, with the setting that decides.
fn input_words(error: &InputError) -> String {
    match error {
        InputError::NotAllowed(_) => format!("{error}; add its folder to `exec.host_inputs`"),
        InputError::TooMuch { .. } => format!("{error} (`exec.disk_mb`)"),
        error => error.to_string(),
    }
}

/// Returns the message for a command that could not be run, with the settings and options that help.
fn execute_words(error: &ExecuteError) -> String {
    match error {
        ExecuteError::Required { missing } => {
            format!(r#"{missing}; `exec.require = "full"` forbids level `landlock`"#)
        }
        ExecuteError::NoSandbox { missing } => {
            format!("{missing}; use another executor (`--executor container`)")
        }
        ExecuteError::NoProxy => {
            "a list of addresses in `exec.network` or `skills.entries` needs the sandbox at level `full`; set `none` or `host`"
                .to_owned()
        }
        ExecuteError::Barred { folder } => format!(
            "programs of root run as nobody, who cannot pass `{}`; set `workspace.folder` to a folder below others that everybody may pass",
            folder.display()
        ),
        ExecuteError::Container(error) => container_words(error),
        error => error.to_string(),
    }
}

/// Returns the message for an engine, image or container, with the settings that name another one.
fn container_words(error: &ContainerError) -> String {
    match error {
        ContainerError::NoEngine { .. }
        | ContainerError::Unreachable { .. }
        | ContainerError::Stranger { .. } => {
            format!("{error} (`exec.container.socket`, `DOCKER_HOST`)")
        }
        ContainerError::NoImage { image, address } => format!(
            "the engine at `{address}` has no image `{image}`; fetch it (`docker pull {image}`, `podman pull {image}`), name another (`exec.container.image`), or let metier fetch it (`exec.container.pull = true`)"
        ),
        ContainerError::ImageName { .. }
        | ContainerError::Pull { .. }
        | ContainerError::NoShell { .. } => format!("{error} (`exec.container.image`)"),
        error => error.to_string(),
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

/// Returns how to allow what a skill asks for, for a person who agrees with it.
pub(crate) fn grant_words(entry_key: &EntryKey, error: &BeyondError) -> String {
    let setting = match error {
        BeyondError::Network { asked, .. } => {
            let key = toml_key(&entry_key.key);
            let words: Vec<&str> = asked.split(' ').collect();
            let value = match words[..] {
                ["host"] => format!("{asked:?}"),
                _ => format!("{words:?}"),
            };
            let setting = format!("skills.entries.{key}.network = {value}");
            match entry_key.refusal {
                None => setting,
                Some(EntryRefusal::SourceNotNamed(source)) => {
                    format!("{setting}` and `skills.entries.{key}.source = \"{source}\"")
                }
                Some(_) => format!("exec.network = {value}"),
            }
        }
        BeyondError::Timeout { asked, .. } => format!("exec.max_timeout = {asked}"),
        BeyondError::Memory { asked, .. } => format!("exec.memory_mb = {asked}"),
        BeyondError::Processes { asked, .. } => format!("exec.processes = {asked}"),
        _ => return "change the settings under `exec`".to_owned(),
    };
    format!("if it should have that, set `{setting}`")
}
