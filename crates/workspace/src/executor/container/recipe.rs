//! What a container is made of. Two runs with the same recipe share a container; another recipe
//! asks for another container.

use std::collections::HashMap;
use std::fmt::Write;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use bollard::models::{
    ContainerCreateBody, HealthConfig, HostConfig, HostConfigLogConfig, Mount, MountType,
    ResourcesUlimits,
};
use metier_approval::names_installation;
use metier_sandbox::{Access, Limits};

use super::error::ContainerError;
use super::hold::LENT;
use super::image::Image;
use crate::environment::{VariableError, check_configured};
use crate::executor::{Execution, Network, StagedTree, VIEW};
use crate::layout::{WRITABLE, home, venv};

/// Labels of our containers.
pub(super) const WORKSPACE: &str = "dev.metier.workspace";
pub(super) const MADE_OF: &str = "dev.metier.made-of";
pub(super) const SHELL: &str = "dev.metier.shell";

/// Goes into the digest of every recipe; another number when containers are made differently.
const EDITION: u32 = 3;
/// The processes of a container in which nothing runs: the engine's init, and the shell that waits.
pub(super) const IDLE_PROCESSES: u64 = 2;
/// Processes of one user on the whole machine. The engine's own limit counts those of the container.
const MIN_USER_PROCESSES: u64 = 4096;
/// Processor time is rounded up to as many seconds, so that not every timeout asks for a container.
const CPU_STEP: u64 = 3600;
/// What the first program does: wait, and not be ended by what ends commands.
const WAIT: &str = "trap '' HUP INT TERM; read -r line";

/// What a container is made of.
#[derive(Debug)]
pub(super) struct Recipe {
    pub(super) image: String,
    image_id: String,
    /// Variables of the image that no program may get.
    emptied: Vec<String>,
    limits: Limits,
    network: &'static str,
    mounts: Vec<Mounted>,
    workspace: PathBuf,
}

/// A folder of the host in a container.
#[derive(Clone, Debug)]
pub(super) struct Mounted {
    pub(super) source: PathBuf,
    pub(super) target: String,
    pub(super) access: Access,
    /// Which folder it is: one of the same name may have taken its place.
    identity: (u64, u64),
}

impl Recipe {
    /// The recipe for what a command needs.
    pub(super) fn new(
        execution: &Execution,
        name: &str,
        image: &Image,
    ) -> Result<Self, ContainerError> {
        let root = execution.workspace.root();
        let mut mounts = Vec::new();
        // Programs load code from their home and from `.venv`, so each skill has its own and none can
        // write those of another.
        let skill = &execution.surroundings.skill;
        let (home, venv) = (home(skill), venv(skill));
        for folder in WRITABLE.into_iter().chain([home.as_str(), venv.as_str()]) {
            mounts.push(Mounted::new(&root.join(folder), folder, Access::Write)?);
        }
        mounts.push(Mounted::new(&root.join(LENT), "runs", Access::Write)?);
        for StagedTree { folder, content, .. } in &execution.staged {
            mounts.push(Mounted::new(content, &format!("skills/{folder}"), Access::Read)?);
        }
        Ok(Self {
            image: name.to_owned(),
            image_id: image.id.clone(),
            emptied: image.variables.iter().filter(|name| is_refused(name)).cloned().collect(),
            limits: Limits {
                cpu_seconds: execution.limits.cpu_seconds.next_multiple_of(CPU_STEP),
                ..execution.limits
            },
            network: match execution.network {
                Network::Host => "host",
                Network::None | Network::Listed(..) => "none",
            },
            mounts,
            workspace: root.to_owned(),
        })
    }

    /// The name of the container of a workspace.
    pub(super) fn name(workspace: &Path) -> String {
        let digest = blake3::hash(workspace.as_os_str().as_encoded_bytes()).to_hex();
        format!("metier-{}", &digest[..32])
    }

    /// Tells this recipe from every other.
    pub(super) fn digest(&self) -> String {
        let Self { image, image_id, emptied: _, limits, network, mounts, workspace: _ } = self;
        let Limits {
            wall: _,
            cpu_seconds,
            memory,
            processes,
            file_bytes,
            open_files,
            temporary_bytes,
            // The disk is looked at from outside.
            disk_bytes: _,
            disk_left: _,
        } = limits;
        let numbers = [cpu_seconds, memory, processes, file_bytes, open_files, temporary_bytes];
        let mut text = format!("{EDITION} {image:?} {image_id:?} {numbers:?} {network}");
        for Mounted { source, target, access, identity } in mounts {
            write!(text, " {source:?} {target:?} {access:?} {identity:?}")
                .expect("a string takes whatever is written to it");
        }
        blake3::hash(text.as_bytes()).to_hex().to_string()
    }

    /// What a container sees of the host, for one kind of access.
    pub(super) fn seen(&self, access: Access) -> impl Iterator<Item = &Mounted> {
        self.mounts.iter().filter(move |mounted| mounted.access == access)
    }

    /// What the engine is asked to make, for a user and with a shell of the image.
    pub(super) fn body(&self, user: &str, shell: &str) -> ContainerCreateBody {
        let labels = [
            (WORKSPACE, self.workspace.display().to_string()),
            (MADE_OF, self.digest()),
            (SHELL, shell.to_owned()),
        ];
        ContainerCreateBody {
            image: Some(self.image.clone()),
            entrypoint: Some(vec![shell.to_owned()]),
            cmd: Some(vec!["-c".to_owned(), WAIT.to_owned()]),
            open_stdin: Some(true),
            user: Some(user.to_owned()),
            env: Some(self.emptied.iter().map(|name| format!("{name}=")).collect()),
            working_dir: Some("/".to_owned()),
            labels: Some(labels.map(|(name, value)| (name.to_owned(), value)).into()),
            healthcheck: Some(HealthConfig {
                test: Some(vec!["NONE".to_owned()]),
                ..HealthConfig::default()
            }),
            stop_signal: Some("SIGKILL".to_owned()),
            host_config: Some(self.host_config()),
            ..ContainerCreateBody::default()
        }
    }

    fn host_config(&self) -> HostConfig {
        let limits = &self.limits;
        let temporary = format!("rw,exec,nosuid,nodev,mode=1777,size={}", limits.temporary_bytes);
        HostConfig {
            network_mode: Some(self.network.to_owned()),
            readonly_rootfs: Some(true),
            cap_drop: Some(vec!["ALL".to_owned()]),
            security_opt: Some(vec!["no-new-privileges".to_owned()]),
            init: Some(true),
            ipc_mode: Some("private".to_owned()),
            memory: Some(number(limits.memory)),
            memory_swap: Some(number(limits.memory)),
            pids_limit: Some(number(limits.processes + IDLE_PROCESSES)),
            ulimits: Some(self.ulimits()),
            tmpfs: Some(HashMap::from([("/tmp".to_owned(), temporary)])),
            mounts: Some(self.mounts.iter().map(Mounted::mount).collect()),
            log_config: Some(HostConfigLogConfig { typ: Some("none".to_owned()), config: None }),
            ..HostConfig::default()
        }
    }

    fn ulimits(&self) -> Vec<ResourcesUlimits> {
        let limits = &self.limits;
        let each = [
            ("core", 0),
            ("cpu", limits.cpu_seconds),
            ("fsize", limits.file_bytes),
            ("nofile", limits.open_files),
            ("nproc", limits.processes.max(MIN_USER_PROCESSES)),
        ];
        let limit = |(name, most): (&str, u64)| ResourcesUlimits {
            name: Some(name.to_owned()),
            soft: Some(number(most)),
            hard: Some(number(most)),
        };
        each.into_iter().map(limit).collect()
    }
}

impl Mounted {
    fn new(source: &Path, inside: &str, access: Access) -> Result<Self, ContainerError> {
        let shown = source.to_str().filter(|text| is_plain(text)).ok_or_else(|| {
            ContainerError::Path { path: source.display().to_string().escape_debug().to_string() }
        })?;
        let metadata = fs::symlink_metadata(shown)?;
        if !metadata.is_dir() {
            return Err(io::Error::from(io::ErrorKind::NotADirectory).into());
        }
        Ok(Self {
            source: source.to_owned(),
            target: format!("{VIEW}/{inside}"),
            access,
            identity: (metadata.dev(), metadata.ino()),
        })
    }

    fn mount(&self) -> Mount {
        Mount {
            target: Some(self.target.clone()),
            source: Some(self.source.display().to_string()),
            typ: Some(MountType::BIND),
            read_only: Some(self.access == Access::Read),
            ..Mount::default()
        }
    }
}

/// Whether nobody may set a variable, an image neither, except to say where it has something installed. What metier sets
/// itself is no matter: that is set for every command.
fn is_refused(name: &str) -> bool {
    let refused = check_configured(&[(name.to_owned(), String::new())]);
    matches!(refused, Err(VariableError::Blocked(_))) && !names_installation(name)
}

/// Podman puts mounts into a line of values with commas, where these signs mean something.
fn is_plain(path: &str) -> bool {
    !path.contains([',', '"', '\'']) && !path.chars().any(char::is_control)
}

fn number(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recipe() -> Recipe {
        let mounted = |source: &str, target: &str, access| Mounted {
            source: source.into(),
            target: target.to_owned(),
            access,
            identity: (1, 2),
        };
        Recipe {
            image: "debian:stable".to_owned(),
            image_id: "sha256:1".to_owned(),
            emptied: vec!["LD_PRELOAD".to_owned()],
            limits: Limits::default(),
            network: "none",
            mounts: vec![
                mounted("/state/w/out", "/workspace/out", Access::Write),
                mounted("/state/c/1", "/workspace/skills/demo", Access::Read),
            ],
            workspace: "/state/w".into(),
        }
    }

    #[test]
    fn a_container_is_made_with_nothing_it_does_not_need() {
        let mut body = recipe().body("65534:65534", "/bin/sh");
        body.labels = None;
        let mut body = serde_json::to_value(body).unwrap();
        let host = body["HostConfig"].take();
        let both = [body, host].into_iter().flat_map(|it| it.as_object().unwrap().clone());
        let lines = both.map(|(name, value)| format!("{name} {value}\n"));
        insta::assert_snapshot!(lines.collect::<String>(), @r#"
        User "65534:65534"
        OpenStdin true
        Env ["LD_PRELOAD="]
        Cmd ["-c","trap '' HUP INT TERM; read -r line"]
        Healthcheck {"Test":["NONE"]}
        Image "debian:stable"
        WorkingDir "/"
        Entrypoint ["/bin/sh"]
        StopSignal "SIGKILL"
        HostConfig null
        Memory 2147483648
        MemorySwap 2147483648
        Init true
        PidsLimit 258
        Ulimits [{"Name":"core","Soft":0,"Hard":0},{"Name":"cpu","Soft":600,"Hard":600},{"Name":"fsize","Soft":1073741824,"Hard":1073741824},{"Name":"nofile","Soft":1024,"Hard":1024},{"Name":"nproc","Soft":4096,"Hard":4096}]
        LogConfig {"Type":"none"}
        NetworkMode "none"
        Mounts [{"Target":"/workspace/out","Source":"/state/w/out","Type":"bind","ReadOnly":false},{"Target":"/workspace/skills/demo","Source":"/state/c/1","Type":"bind","ReadOnly":true}]
        CapDrop ["ALL"]
        IpcMode "private"
        ReadonlyRootfs true
        SecurityOpt ["no-new-privileges"]
        Tmpfs {"/tmp":"rw,exec,nosuid,nodev,mode=1777,size=1073741824"}
        "#);
    }

    #[test]
    fn whatever_changes_asks_for_another_container() {
        let digest = recipe().digest();
        assert_eq!(recipe().digest(), digest);
        let changes: [fn(&mut Recipe); 6] = [
            |it| it.image_id = "sha256:2".to_owned(),
            |it| it.limits.memory += 1,
            |it| it.network = "host",
            |it| it.mounts[0].access = Access::Read,
            |it| it.mounts[1].identity.1 += 1,
            |it| drop(it.mounts.pop()),
        ];
        for change in changes {
            let mut changed = recipe();
            change(&mut changed);
            assert_ne!(changed.digest(), digest);
        }
        let mut longer = recipe();
        longer.limits.wall *= 2;
        assert_eq!(longer.digest(), digest);
    }

    #[test]
    fn names_that_mean_something_to_an_engine_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a,readonly=false", "a\"b", "a'b", "a\nb"] {
            let path = folder.path().join(name);
            fs::create_dir(&path).unwrap();
            let refused = Mounted::new(&path, "work", Access::Write);
            assert!(matches!(refused, Err(ContainerError::Path { .. })), "{name}");
        }
    }
}
