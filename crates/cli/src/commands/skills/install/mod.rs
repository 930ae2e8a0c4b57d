//! `metier skills install-deps`: shows what would be done, asks, does it, and looks again.

mod perform;
mod show;

use std::path::{Path, PathBuf};

use metier_config as config;
use metier_skill::header::Requirements;
use metier_skill::install::{
    Chosen, InstallPlan, Linked, NodeManager, Obstacle, Offer, Situation, choose, offers,
};
use metier_skill::library::{Block, Entry, Missing};

use self::perform::Installer;
use self::show::Shown;
use crate::args::{InstallArgs, SourceArgs};
use crate::ask;
use crate::context::Context;
use crate::failure::{FAILED, Failure, OK, advice};
use metier_app::sources::roots::real;

/// Installs what a skill needs.
///
/// # Errors
///
/// When there is no such skill or option, nobody agreed, or an installation failed.
pub(in crate::commands) fn run(
    context: &Context,
    sources: &SourceArgs,
    wanted: &InstallArgs,
) -> Result<u8, Failure> {
    let snapshot = context.library(sources)?;
    let entry = context.find(&snapshot, &wanted.name)?;
    let requirements = usable(entry)?;
    let missing = entry.verdict.missing();
    let offers = context.offers(entry, requirements)?;
    let chosen = match &wanted.option {
        Some(id) => Chosen { offers: vec![named(&offers, requirements, id)?], unmet: Vec::new() },
        None => choose(&offers, &missing),
    };
    let shown = Shown { entry, requirements, missing: &missing, offers: &offers, chosen: &chosen };
    if !wanted.json {
        shown.print(context);
    }
    if chosen.offers.is_empty() && !chosen.unmet.is_empty() && !wanted.json {
        return Err(nothing_brings(&chosen, &offers));
    }
    let mut installed = Vec::new();
    if !wanted.dry_run && !chosen.offers.is_empty() {
        agree(context, wanted, &chosen)?;
        installed = Installer { context, entry }.install(&chosen, &missing)?;
    }
    let after = if wanted.dry_run { snapshot.clone() } else { context.library(sources)? };
    let after = context.find(&after, &wanted.name)?;
    if wanted.json {
        context.output.json(&shown.as_json(wanted.dry_run, &installed, after));
    } else if !wanted.dry_run {
        tell(context, &installed, after);
    }
    let left = after.verdict.missing();
    let is_done = wanted.dry_run || (left.bins.is_empty() && left.any_bins.is_empty());
    Ok(if is_done { OK } else { FAILED })
}

/// The requirements of a skill that the person wants to use: programs are not fetched for others.
fn usable(entry: &Entry) -> Result<&Requirements, Failure> {
    let may_be_missing = |block: &&Block| {
        matches!(
            block,
            Block::Bin { .. }
                | Block::AnyBin { .. }
                | Block::Env { .. }
                | Block::Config { .. }
                | Block::Server { .. }
                | Block::Tool { .. }
        )
    };
    if let Some(block) = entry.verdict.blocks.iter().find(|block| !may_be_missing(block)) {
        let failure = Failure::new(format!("nothing is installed for `{}`: {block}", entry.name));
        return Err(match advice::remedy(entry, block) {
            Some(remedy) => failure.hint(remedy),
            None => failure,
        });
    }
    entry.manifest.gate.requirements().ok_or_else(|| {
        Failure::new(format!("what `{}` requires cannot be read", entry.name))
            .hint(format!("`metier skills explain {}` says why", entry.name))
    })
}

fn named<'a>(
    offers: &'a [Offer],
    requirements: &Requirements,
    id: &str,
) -> Result<&'a Offer, Failure> {
    if let Some(refused) = requirements.refused.iter().find(|refused| refused.id == id) {
        return Err(Failure::new(format!("the option `{id}` is refused: {}", refused.reason))
            .hint("ask the author of the skill to correct it"));
    }
    let Some(offer) = offers.iter().find(|offer| offer.id == id) else {
        let ids: Vec<String> = offers.iter().map(|offer| format!("`{}`", offer.id)).collect();
        return Err(match &ids[..] {
            [] => Failure::usage(format!("there is no option `{id}`: the skill offers none"))
                .hint("install it yourself, so that it is on the PATH"),
            ids => Failure::usage(format!("there is no option `{id}`"))
                .hint(format!("there is {}", ids.join(", "))),
        });
    };
    match &offer.obstacle {
        None => Ok(offer),
        Some(obstacle) => {
            Err(Failure::of_obstacle(id, obstacle).hint(way_round(offers, offer, obstacle)))
        }
    }
}

/// What to do where an option cannot be used.
fn way_round(offers: &[Offer], offer: &Offer, obstacle: &Obstacle) -> String {
    let usable = offers.iter().filter(|it| it.obstacle.is_none());
    let usable = usable.map(|it| format!("`{}`", it.id)).collect::<Vec<_>>().join(", ");
    match (obstacle, &offer.plan) {
        (Obstacle::NotRoot, InstallPlan::Run(commands)) => {
            let commands = commands.iter().map(|it| format!("sudo {}", show::command(it)));
            format!("run it yourself: {}", commands.collect::<Vec<_>>().join(" && "))
        }
        (Obstacle::NoManager(manager), _) if usable.is_empty() => format!("install `{manager}`"),
        (Obstacle::NoManager(manager), _) => {
            format!("install `{manager}`, or use another option: {usable}")
        }
        _ if usable.is_empty() => "install it yourself, so that it is on the PATH".to_owned(),
        _ => format!("another option may do: {usable}"),
    }
}

/// Why nothing can be installed, with the obstacles of what could be elsewhere.
fn nothing_brings(chosen: &Chosen<'_>, offers: &[Offer]) -> Failure {
    let failure = Failure::new(format!("no install option brings {}", chosen.unmet.join(", ")));
    match offers.iter().find(|offer| offer.obstacle.is_some()) {
        Some(_) => failure.hint("what stands above cannot be used here; install it yourself"),
        None => failure.hint("install it yourself, so that it is on the PATH"),
    }
}

/// Has the person agree to what was shown.
fn agree(context: &Context, wanted: &InstallArgs, chosen: &Chosen<'_>) -> Result<(), Failure> {
    let is_unverified = |offer: &&&Offer| matches!(&offer.plan, InstallPlan::Download(download) if download.sha256.is_none());
    if let Some(offer) = chosen.offers.iter().find(is_unverified)
        && !wanted.unverified
    {
        return Err(Failure::new(format!(
            "the skill does not say what `{}` must be: it has no `sha256`",
            offer.id
        ))
        .hint("`--unverified` installs whatever the server sends; ask the author for a digest"));
    }
    if wanted.yes {
        return Ok(());
    }
    if wanted.json || !ask::can_ask() {
        return Err(Failure::usage("nothing is installed before somebody agreed")
            .hint("`--yes` installs it; `--dry-run` only shows what would be done"));
    }
    if ask::confirm(&context.output, "Install this?")? {
        Ok(())
    } else {
        Err(Failure::new("nothing was installed"))
    }
}

fn tell(context: &Context, installed: &[Linked], after: &Entry) {
    for program in installed {
        context.output.say(&show::linked(program));
    }
    let name = &after.name;
    if after.verdict.is_eligible() {
        context.output.print(&format!("{name} can be used"));
        return;
    }
    context.output.print(&format!("{name} cannot be used yet"));
    for block in &after.verdict.blocks {
        context.output.print(&show::block(after, block));
    }
}

impl Context {
    /// The ways to install what a skill needs, as they would be gone on this machine.
    fn offers(&self, entry: &Entry, requirements: &Requirements) -> Result<Vec<Offer>, Failure> {
        let folder = entry.tool_folder(&self.app.tools());
        let Some(folder) = folder.to_str() else {
            return Err(Failure::new("the path of the state directory is not text")
                .hint("set METIER_HOME to another folder"));
        };
        let settings = &self.app.config.skills.install;
        let node_manager = match *settings.node_manager {
            config::NodeManager::Npm => NodeManager::Npm,
            config::NodeManager::Pnpm => NodeManager::Pnpm,
            config::NodeManager::Yarn => NodeManager::Yarn,
            config::NodeManager::Bun => NodeManager::Bun,
        };
        let path = self.app.environment.path();
        let python = python(&path);
        let situation = Situation {
            os: std::env::consts::OS,
            has: &|name| path.iter().any(|folder| is_program(&folder.join(name))),
            is_root: rustix::process::geteuid().is_root(),
            prefer_brew: *settings.prefer_brew,
            node_manager,
            python: &python,
            folder,
        };
        Ok(offers(requirements, &situation))
    }

    /// Programs of a skill that could be installed here.
    pub(in crate::commands) fn installable(&self, entry: &Entry) -> Vec<String> {
        let Ok(requirements) = usable(entry) else { return Vec::new() };
        let missing: Missing = entry.verdict.missing();
        let Ok(offers) = self.offers(entry, requirements) else { return Vec::new() };
        if choose(&offers, &missing).offers.is_empty() {
            return Vec::new();
        }
        missing.bins.into_iter().chain(missing.any_bins).collect()
    }
}

/// The first Python on the path that the sandbox shows to programs, else the first.
fn python(path: &[PathBuf]) -> String {
    let found = path.iter().map(|folder| folder.join("python3")).filter(|it| is_program(it));
    let is_shown = |path: &PathBuf| real(path).starts_with("/usr");
    let shown = found.clone().find(is_shown).and_then(|path| path.to_str().map(str::to_owned));
    shown.unwrap_or_else(|| "python3".to_owned())
}

fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}
