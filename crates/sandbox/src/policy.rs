//! What a program may reach. Nothing, until it is granted.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// How firmly a program is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Not at all: own process group, limits and environment only. What a policy grants means nothing then, as with
    /// [`Policy::unconfined`].
    None,
    /// Landlock and a filter of system calls; processes of others can be seen, with their command lines.
    Landlock,
    /// Its own file system, network, processes and users, and the above.
    Full,
}

impl fmt::Display for Level {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::None => "none",
            Self::Landlock => "landlock",
            Self::Full => "full",
        })
    }
}

/// What level `landlock` does not keep where calls cannot be announced: somebody outside has them announced
/// already.
pub(crate) const ATTRIBUTES: &str = "modes and times of the user's files";

impl Level {
    /// What it does not keep from a program.
    pub(crate) fn lacks(self) -> &'static [&'static str] {
        match self {
            Self::Full => &[],
            Self::Landlock => &["list of processes and their command lines"],
            Self::None => &["files", "network", "processes"],
        }
    }
}

/// What may be done with a granted path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// Read and execute.
    Read,
    /// Read, execute, change, create and remove.
    Write,
}

/// A file or folder that a program may reach.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// Where it is.
    pub source: PathBuf,
    /// Where the program finds it. Only [`Level::Full`] can show it at another place.
    pub target: PathBuf,
    /// What may be done with it.
    pub access: Access,
    /// A path of the system, which may be a link or absent. Others must be there, without links.
    pub system: bool,
}

/// What network a program has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Network {
    /// None, not even to itself across runs.
    None,
    /// One listening socket on the loopback, at [`PROXY_PORT`], handed to the caller, who decides what
    /// passes.
    Proxy,
    /// Everything the machine can reach.
    Host,
}

/// Where a program finds its proxy, on the loopback of its own network.
pub const PROXY_PORT: u16 = 3128;

/// Denies everything, then grants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    /// How firmly the program is held.
    pub level: Level,
    /// What it may reach.
    pub grants: Vec<Grant>,
    /// What network it has.
    pub network: Network,
}

/// Programs and libraries of the system.
const SYSTEM_FOLDERS: [&str; 8] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/libexec"];

/// What of `/etc` programs cannot do without, none of it secret.
const SYSTEM_SETTINGS: [&str; 14] = [
    "/etc/alternatives",
    "/etc/ca-certificates",
    "/etc/ca-certificates.conf",
    "/etc/group",
    "/etc/hosts",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/nsswitch.conf",
    "/etc/passwd",
    "/etc/resolv.conf",
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
];

impl Policy {
    /// A policy that grants nothing. With [`Level::None`] nothing is enforced, so all the same everything can be reached:
    /// whoever means that writes [`Policy::unconfined`].
    pub fn deny_all(level: Level) -> Self {
        Self { level, grants: Vec::new(), network: Network::None }
    }

    /// A policy for a program that is not confined: it reaches what the user reaches. It still has limits, and it ends
    /// with everything that it started.
    pub fn unconfined() -> Self {
        Self::deny_all(Level::None).network(Network::Host)
    }

    /// Grants the programs and libraries of the system, for reading.
    #[must_use]
    pub fn with_system(mut self) -> Self {
        let paths = SYSTEM_FOLDERS.into_iter().chain(SYSTEM_SETTINGS).map(PathBuf::from);
        self.grants.extend(paths.map(|path| Grant {
            source: path.clone(),
            target: path,
            access: Access::Read,
            system: true,
        }));
        self
    }

    /// Grants a file or folder at a place.
    #[must_use]
    pub fn grant(mut self, source: &Path, target: &Path, access: Access) -> Self {
        let (source, target) = (source.to_owned(), target.to_owned());
        self.grants.push(Grant { source, target, access, system: false });
        self
    }

    /// Gives it a network; with [`Level::None`] a program has that of the machine, whatever is said here.
    #[must_use]
    pub fn network(mut self, network: Network) -> Self {
        self.network = network;
        self
    }

    /// What may be reached with an access, as the program sees it, without the system's own.
    pub fn reachable(&self, access: Access) -> impl Iterator<Item = &Path> {
        let own = self.grants.iter().filter(move |it| !it.system && it.access == access);
        own.map(|grant| &*grant.target)
    }
}
