//! What would be done, in words and as JSON.

use metier_approval::quote;
use metier_skill::header::Requirements;
use metier_skill::install::{Chosen, Command, InstallPlan, Linked, Offer};
use metier_skill::library::{Block, Entry, Missing};
use serde_json::{Value, json};

use crate::context::Context;
use crate::failure::advice;
use crate::output::{plain, style, styled};

/// The shape of the JSON; it changes when a reader would have to.
const VERSION: u32 = 1;

/// Everything that is shown before something is done.
pub(super) struct Shown<'a> {
    pub(super) entry: &'a Entry,
    pub(super) requirements: &'a Requirements,
    pub(super) missing: &'a Missing,
    pub(super) offers: &'a [Offer],
    pub(super) chosen: &'a Chosen<'a>,
}

impl Shown<'_> {
    pub(super) fn print(&self, context: &Context) {
        let name = styled(style::NAME, plain(self.entry.name.as_str()));
        let missing = &self.missing;
        let mut needs = missing.bins.clone();
        needs.extend(Some(missing.any_bins.join(" or ")).filter(|names| !names.is_empty()));
        let mut text = match &needs[..] {
            [] => format!("{name} misses no program\n"),
            needs => format!("{name} needs {}\n", plain(&needs.join(", "))),
        };
        for refused in &self.requirements.refused {
            let warning = styled(style::WARN, "refused");
            let id = plain(&refused.id);
            text.push_str(&format!("{warning}: the option `{id}`: {}\n", plain(&refused.reason)));
        }
        let shown: Vec<&Offer> = if self.chosen.offers.is_empty() && !needs.is_empty() {
            self.offers.iter().collect()
        } else {
            self.chosen.offers.clone()
        };
        for offer in shown {
            text.push_str(&offered(offer));
        }
        for program in &self.chosen.unmet {
            if !self.chosen.offers.is_empty() {
                let warning = styled(style::WARN, "warning");
                let program = plain(program);
                text.push_str(&format!("{warning}: no install option brings {program}\n"));
            }
        }
        context.output.print(&text);
    }

    pub(super) fn as_json(&self, is_dry_run: bool, installed: &[Linked], after: &Entry) -> Value {
        let options = self.offers.iter().map(|offer| {
            let mut value = json!({
                "id": offer.id,
                "label": offer.label,
                "kind": offer.kind.as_str(),
                "bins": offer.bins,
                "chosen": self.chosen.offers.iter().any(|it| it.id == offer.id),
                "obstacle": offer.obstacle.as_ref().map(ToString::to_string),
            });
            match &offer.plan {
                InstallPlan::Run(commands) => {
                    value["commands"] = commands.iter().map(as_json).collect()
                }
                InstallPlan::Download(it) => {
                    value["download"] = json!({
                        "url": it.url,
                        "sha256": it.sha256,
                        "archive": it.archive.map(|kind| &kind.ending()[1..]),
                        "strip": it.strip,
                        "folder": it.folder.to_string_lossy(),
                    });
                }
            }
            value
        });
        let installed = installed
            .iter()
            .map(|it| json!({ "name": it.name, "path": it.path.to_string_lossy() }));
        let refused = self.requirements.refused.iter();
        json!({
            "version": VERSION,
            "name": self.entry.name,
            "missing": self.missing,
            "options": options.collect::<Vec<_>>(),
            "refused": refused.map(|it| json!({ "id": it.id, "reason": it.reason })).collect::<Vec<_>>(),
            "unmet": self.chosen.unmet,
            "dry_run": is_dry_run,
            "installed": installed.collect::<Vec<_>>(),
            "eligible": after.verdict.is_eligible(),
            "still_missing": after.verdict.missing(),
        })
    }
}

/// One way: what it is, and exactly what would be done.
fn offered(offer: &Offer) -> String {
    let mut text = format!("{}  {}\n", plain(&offer.id), styled(style::DIM, plain(&offer.label)));
    match &offer.plan {
        InstallPlan::Run(commands) => {
            for it in commands {
                text.push_str(&format!("  $ {}\n", command(it)));
            }
        }
        InstallPlan::Download(download) => {
            text.push_str(&format!("  download {}\n", plain(&download.url)));
            match &download.sha256 {
                Some(digest) => text.push_str(&format!("  sha256 {digest}\n")),
                None => {
                    let warning = styled(style::WARN, "not verified");
                    text.push_str(&format!("  {warning}: the skill names no sha256\n"));
                }
            }
            let verb = if download.archive.is_some() { "unpack to" } else { "put into" };
            text.push_str(&format!("  {verb} {}\n", plain(&download.folder.to_string_lossy())));
        }
    }
    if let Some(obstacle) = &offer.obstacle {
        let warning = styled(style::WARN, "not here");
        text.push_str(&format!("  {warning}: {}\n", plain(&obstacle.to_string())));
    }
    text
}

/// A command as a shell would have to be given it.
pub(super) fn command(command: &Command) -> String {
    let set = command.environment.iter().map(|(name, value)| format!("{name}={}", quoted(value)));
    let words = command.arguments.iter().map(|word| quoted(word));
    set.chain(words).collect::<Vec<_>>().join(" ")
}

fn as_json(command: &Command) -> Value {
    let environment: serde_json::Map<String, Value> = command
        .environment
        .iter()
        .map(|(name, value)| ((*name).to_owned(), json!(value)))
        .collect();
    json!({ "arguments": command.arguments, "environment": environment })
}

fn quoted(word: &str) -> String {
    plain(&quote(word))
}

pub(super) fn linked(program: &Linked) -> String {
    let path = plain(&program.path.to_string_lossy());
    let mut text = format!("{} is {path}", plain(&program.name));
    if let Some(other) = &program.replaced {
        text.push_str(&format!(", in the place of {}", plain(&other.to_string_lossy())));
    }
    text
}

pub(super) fn block(entry: &Entry, block: &Block) -> String {
    let reason = plain(&block.to_string());
    match advice::remedy(entry, block) {
        Some(remedy) => format!("  {reason}: {}", plain(&remedy)),
        None => format!("  {reason}"),
    }
}
