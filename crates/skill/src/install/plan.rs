//! From what a skill offers to what would be done.

use std::path::PathBuf;

use crate::header::{ArchiveKind, InstallKind, InstallOption, Requirements};
use crate::library::{Missing, is_system};

/// Who installs packages of the npm registry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the variants are the names of the managers")]
pub enum NodeManager {
    #[default]
    Npm,
    Pnpm,
    Yarn,
    Bun,
}

impl NodeManager {
    /// The manager of a name.
    pub fn of_name(name: &str) -> Option<Self> {
        [Self::Npm, Self::Pnpm, Self::Yarn, Self::Bun].into_iter().find(|it| it.program() == name)
    }

    fn program(self) -> &'static str {
        match self {
            Self::Npm => "npm",
            Self::Pnpm => "pnpm",
            Self::Yarn => "yarn",
            Self::Bun => "bun",
        }
    }
}

/// What planning must know of the machine and the person.
pub struct Situation<'a> {
    /// The system, as `linux`, `macos` or `windows`.
    pub os: &'a str,
    /// Whether a program is there.
    pub has: &'a dyn Fn(&str) -> bool,
    /// Whether everything may be written to.
    pub is_root: bool,
    /// Whether Homebrew comes first where it is there.
    pub prefer_brew: bool,
    /// Who installs packages of the npm registry.
    pub node_manager: NodeManager,
    /// The Python that programs are made for: one that runs see, where there is one.
    pub python: &'a str,
    /// The skill's own folder for tools, absolute.
    pub folder: &'a str,
}

impl std::fmt::Debug for Situation<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Situation").field("os", &self.os).finish_non_exhaustive()
    }
}

/// A way to install something, as it would be done here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// Names it on the command line.
    pub id: String,
    /// What people read.
    pub label: String,
    /// The package manager.
    pub kind: InstallKind,
    /// Programs it brings; any if it does not say.
    pub bins: Vec<String>,
    /// What would be done.
    pub plan: InstallPlan,
    /// Where it goes; places of the system have none.
    pub folder: Option<PathBuf>,
    /// Why it cannot be done here.
    pub obstacle: Option<Obstacle>,
}

/// What would be done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InstallPlan {
    /// Commands, one after the other.
    Run(Vec<Command>),
    /// A download.
    Download(DownloadPlan),
}

/// A command, as a list of arguments that no shell reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The program and its arguments.
    pub arguments: Vec<String>,
    /// Variables that it is given beside those of the caller.
    pub environment: Vec<(&'static str, String)>,
}

/// A file to fetch and to put somewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DownloadPlan {
    /// Where it is.
    pub url: String,
    /// Its digest, if that is known.
    pub sha256: Option<String>,
    /// How it is packed; not at all if it is put down as it is.
    pub archive: Option<ArchiveKind>,
    /// Leading folders that are left out.
    pub strip: usize,
    /// The folder it goes to, which is replaced.
    pub folder: PathBuf,
    /// What it is called when it is put down as it is.
    pub file: String,
}

/// Why something cannot be installed in a way.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Obstacle {
    /// It is for other systems.
    #[error("it is for {}", .0.join(" or "))]
    OtherSystem(Vec<String>),
    /// The manager is not there.
    #[error("the program `{0}` is not there")]
    NoManager(&'static str),
    /// Only root can do it.
    #[error("it needs root")]
    NotRoot,
}

/// The ways there are, the preferred first: Homebrew if it is preferred and there, then `uv`, `node`,
/// `brew`, `go`, `cargo`, `pip`, `apt` and downloads; among equals in the order of the skill.
pub fn offers(requirements: &Requirements, situation: &Situation<'_>) -> Vec<Offer> {
    let mut offers: Vec<Offer> =
        requirements.install.iter().map(|option| situation.offer(option)).collect();
    offers.sort_by_key(|offer| (offer.obstacle.is_some(), situation.rank(offer.kind)));
    offers
}

/// Ways that together bring what is missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen<'a> {
    /// The ways, in the order in which they are needed.
    pub offers: Vec<&'a Offer>,
    /// Programs that no way brings.
    pub unmet: Vec<String>,
}

/// Chooses for each missing program the first way that can be gone and brings it.
pub fn choose<'a>(offers: &'a [Offer], missing: &Missing) -> Chosen<'a> {
    let mut chosen = Chosen::default();
    let each = missing.bins.iter().map(std::slice::from_ref);
    let any = Some(&missing.any_bins[..]).filter(|names| !names.is_empty());
    for names in each.chain(any) {
        let brings = |offer: &Offer| {
            offer.bins.is_empty() || names.iter().any(|name| offer.bins.contains(name))
        };
        if chosen.offers.iter().any(|offer| brings(offer)) {
            continue;
        }
        match offers.iter().find(|offer| offer.obstacle.is_none() && brings(offer)) {
            Some(offer) => chosen.offers.push(offer),
            None => chosen.unmet.push(names.join(" or ")),
        }
    }
    chosen
}

impl Situation<'_> {
    fn rank(&self, kind: InstallKind) -> usize {
        match kind {
            InstallKind::Brew if self.prefer_brew && (self.has)("brew") => 0,
            InstallKind::Uv => 1,
            InstallKind::Node => 2,
            InstallKind::Brew => 3,
            InstallKind::Go => 4,
            InstallKind::Cargo => 5,
            InstallKind::Pip => 6,
            InstallKind::Apt => 7,
            InstallKind::Download => 8,
        }
    }

    fn offer(&self, option: &InstallOption) -> Offer {
        let own = format!("{}/{}", self.folder, option.folder());
        let plan = self.plan(option, &own);
        let folder = match &plan {
            InstallPlan::Download(download) => Some(download.folder.clone()),
            InstallPlan::Run(_) => match option.kind {
                InstallKind::Apt | InstallKind::Brew => None,
                _ => Some(PathBuf::from(&own)),
            },
        };
        let kind = option.kind.as_str();
        let usual = || format!("{} ({kind})", option.target);
        Offer {
            id: option.id.clone(),
            label: option.label.clone().unwrap_or_else(usual),
            kind: option.kind,
            bins: option.bins.clone(),
            obstacle: self.obstacle(option),
            plan,
            folder,
        }
    }

    fn obstacle(&self, option: &InstallOption) -> Option<Obstacle> {
        if !option.os.is_empty() && !option.os.iter().any(|os| is_system(os, self.os)) {
            return Some(Obstacle::OtherSystem(option.os.clone()));
        }
        let manager = match option.kind {
            InstallKind::Apt => "apt-get",
            InstallKind::Brew => "brew",
            InstallKind::Cargo => "cargo",
            InstallKind::Download => return None,
            InstallKind::Go => "go",
            InstallKind::Node => self.node_manager.program(),
            InstallKind::Pip => "python3",
            InstallKind::Uv => "uv",
        };
        if !(self.has)(manager) {
            return Some(Obstacle::NoManager(manager));
        }
        (option.kind == InstallKind::Apt && !self.is_root).then_some(Obstacle::NotRoot)
    }

    fn plan(&self, option: &InstallOption, own: &str) -> InstallPlan {
        let target = option.target.as_str();
        let run = |arguments: &[&str], environment: Vec<(&'static str, String)>| {
            let arguments = arguments.iter().map(|it| (*it).to_owned()).collect();
            Command { arguments, environment }
        };
        InstallPlan::Run(match (option.kind, &option.download) {
            (_, Some(download)) => {
                return InstallPlan::Download(DownloadPlan {
                    url: option.target.clone(),
                    sha256: download.sha256.clone(),
                    archive: download.archive,
                    strip: download.strip,
                    folder: PathBuf::from(own),
                    file: download.file.clone(),
                });
            }
            (InstallKind::Brew, _) if option.is_cask => {
                vec![run(&["brew", "install", "--cask", target], Vec::new())]
            }
            (InstallKind::Brew, _) => {
                vec![run(&["brew", "install", "--formula", target], Vec::new())]
            }
            (InstallKind::Apt, _) => vec![run(
                &["apt-get", "install", "-y", "--no-install-recommends", target],
                vec![("DEBIAN_FRONTEND", "noninteractive".to_owned())],
            )],
            (InstallKind::Node, _) => vec![self.node(target, own)],
            (InstallKind::Go, _) => {
                vec![run(&["go", "install", target], vec![("GOBIN", format!("{own}/bin"))])]
            }
            (InstallKind::Cargo, _) => {
                vec![run(&["cargo", "install", "--locked", "--root", own, target], Vec::new())]
            }
            (InstallKind::Uv, _) => vec![run(
                &["uv", "tool", "install", "--no-build", "--python", self.python, target],
                vec![
                    ("UV_TOOL_BIN_DIR", format!("{own}/bin")),
                    ("UV_TOOL_DIR", format!("{own}/tools")),
                ],
            )],
            (InstallKind::Pip | InstallKind::Download, _) => vec![
                run(&[self.python, "-m", "venv", "--clear", own], Vec::new()),
                run(
                    &[
                        &format!("{own}/bin/python"),
                        "-m",
                        "pip",
                        "install",
                        "--disable-pip-version-check",
                        "--no-input",
                        "--only-binary",
                        ":all:",
                        target,
                    ],
                    Vec::new(),
                ),
            ],
        })
    }

    fn node(&self, target: &str, own: &str) -> Command {
        let bin = format!("{own}/bin");
        let (arguments, environment): (Vec<&str>, _) = match self.node_manager {
            NodeManager::Npm => (
                vec!["npm", "install", "-g", "--ignore-scripts", "--prefix", own, target],
                Vec::new(),
            ),
            NodeManager::Pnpm => (
                vec![
                    "pnpm",
                    "add",
                    "-g",
                    "--ignore-scripts",
                    "--global-dir",
                    own,
                    "--global-bin-dir",
                    &bin,
                    target,
                ],
                Vec::new(),
            ),
            NodeManager::Yarn => (
                vec![
                    "yarn",
                    "global",
                    "add",
                    "--ignore-scripts",
                    "--global-folder",
                    own,
                    "--prefix",
                    own,
                    target,
                ],
                Vec::new(),
            ),
            NodeManager::Bun => (
                vec!["bun", "add", "-g", "--ignore-scripts", target],
                vec![("BUN_INSTALL_BIN", bin.clone()), ("BUN_INSTALL_GLOBAL_DIR", own.to_owned())],
            ),
        };
        Command { arguments: arguments.into_iter().map(str::to_owned).collect(), environment }
    }
}
