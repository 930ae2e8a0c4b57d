//! `metier gc` and `metier doctor`.

use metier_app::masking;
use metier_sandbox::Level;
use metier_sandbox::doctor::{self, Place, Report, Verdict};
use metier_secrets::MIN_SECRET_BYTES;
use metier_workspace::executor::ContainerError;
use serde_json::json;

use crate::context::Context;
use crate::coverage::idle_words;
use crate::failure::{FAILED, Failure, OK};
use crate::output::{counted, plain, style, styled};
use crate::reporter::exposed_words;
use crate::wait::block_on;

/// What control groups are called among the offers of a system.
const CONTROL_GROUPS: &str = "control groups";

/// Removes what nobody needs any more.
pub(super) fn gc(context: &Context, json: bool) -> Result<u8, Failure> {
    let working = context.output.working("removing what nobody used");
    let removed = block_on(async { Ok(context.app.clean_up().await?) })?;
    drop(working);
    let (containers, is_good) = match removed.containers {
        Ok(count) => (Some(count), true),
        // Without an engine there are no containers.
        Err(ContainerError::NoEngine { .. } | ContainerError::Unreachable { .. }) => {
            (Some(0), true)
        }
        Err(error) => {
            let text = format!("containers were not looked at: {}", Failure::of_container(&error));
            // One of another machine has none of our containers.
            let is_good = matches!(error, ContainerError::Address { .. });
            if is_good {
                context.output.note(style::WARN, "note: ", &text);
            } else {
                context.output.row(style::BAD, "error: ", &text);
            }
            (None, is_good)
        }
    };
    if json {
        context.output.json(&json!({
            "workspaces": removed.workspaces, "skills": removed.skills, "fetched": removed.fetched,
            "runs": removed.runs, "containers": containers, "artifacts": removed.artifacts
        }));
    } else {
        context.output.print(&format!(
            "removed {}, {}, {}, {}, {}, {}",
            counted(removed.workspaces, "workspace"),
            counted(removed.skills, "staged skill"),
            counted(removed.fetched, "fetched skill"),
            counted(removed.runs, "run"),
            counted(containers.unwrap_or_default(), "container"),
            counted(removed.artifacts, "unfinished artifact")
        ));
    }
    Ok(if is_good { OK } else { FAILED })
}

/// Shows what the machine offers and tries every promise.
pub(super) fn examine(context: &Context, json: bool) -> Result<u8, Failure> {
    let folder = tempfile::tempdir().map_err(|error| Failure::of_temporary_folder(&error))?;
    let (work, private) = (folder.path().join("work"), context.app.environment.state());
    doctor::make_folder(&work).map_err(|error| Failure::of_temporary_folder(&error))?;
    open_way(folder.path()).map_err(|error| Failure::of_temporary_folder(&error))?;
    let private = context.app.environment.home.as_deref().unwrap_or(private);
    let work = work.canonicalize().map_err(|error| Failure::of_temporary_folder(&error))?;
    let working = context.output.working("trying what this machine promises");
    let report = doctor::examine(&Place::new(&work, private));
    drop(working);
    if json {
        let mut report = machine_readable(&report);
        let exposed = context.app.exposed_files();
        report["exposed_files"] = exposed.iter().map(exposed_words).collect();
        report["unmasked_keys"] =
            masking::unmasked(&context.app.config, &context.app.environment).into();
        context.output.json(&report);
    } else {
        context.output.print(&page(&report));
        for hint in hints(&report) {
            context.output.note(style::HEADING, "hint: ", &hint);
        }
        tell_unmasked(context);
        context.warn_of_exposed_files();
    }
    warn_of_idle_approvals(context);
    // What could not be tried is no success either.
    let kept = report.trials.iter().all(|trial| trial.verdict == Verdict::Kept);
    Ok(if report.level.is_some() && kept { OK } else { FAILED })
}

/// Says which keys are too short to be masked, if some are.
fn tell_unmasked(context: &Context) {
    let names = masking::unmasked(&context.app.config, &context.app.environment).join(", ");
    if !names.is_empty() {
        context.output.note(
            style::WARN,
            "warning: ",
            &format!("values of fewer than {MIN_SECRET_BYTES} bytes are not masked: {names}"),
        );
    }
}

/// Names approvals that cover nothing. What cannot be read is no reason to examine nothing else.
fn warn_of_idle_approvals(context: &Context) {
    let idle =
        context.decisions(None).and_then(|decisions| Ok(context.app.idle_approvals(&decisions)?));
    let texts = match idle {
        Ok(idle) => idle.iter().map(|idle| format!("{} {}", idle.id, idle_words(idle))).collect(),
        Err(failure) => vec![format!("approvals cannot be read: {failure}")],
    };
    for text in texts {
        context.output.note(style::WARN, "warning: ", &text);
    }
}

/// Lets programs that run as somebody else through to their folder.
fn open_way(folder: &std::path::Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o711))
}

fn page(report: &Report) -> String {
    let mut text = String::new();
    for offer in &report.offers {
        let found = match &offer.found {
            Ok(found) => styled(style::GOOD, plain(found)),
            Err(why) => styled(style::WARN, format!("no: {}", plain(&why.to_string()))),
        };
        text.push_str(&format!("{:<16}{found}\n", offer.name));
    }
    let level = match report.level {
        Some(level) => styled(style::GOOD, level),
        None => styled(style::BAD, "none; commands are not run in the sandbox here"),
    };
    text.push_str(&format!("{:<16}{level}\n", "level"));
    if !report.not_promised.is_empty() {
        let lacks = styled(style::WARN, report.not_promised.join(", "));
        text.push_str(&format!("{:<16}{lacks}\n", "not promised"));
    }
    for trial in &report.trials {
        let (color, word, detail) = match &trial.verdict {
            Verdict::Kept => {
                let reservation = reservation(report, trial.promise);
                let detail = reservation.map(|it| format!(" ({it})")).unwrap_or_default();
                (style::GOOD, "kept", detail)
            }
            Verdict::Broken(what) => (style::BAD, "BROKEN", format!(": {}", plain(what))),
            Verdict::Untried(why) => (style::WARN, "not tried", format!(": {}", plain(why))),
        };
        let mark = styled(color, format!("{word:<16}"));
        text.push_str(&format!("{mark}{}{detail}\n", trial.promise));
    }
    text
}

/// What a promise that is kept without a control group leaves open.
fn reservation(report: &Report, promise: &str) -> Option<&'static str> {
    report.offers.iter().find(|it| it.name == CONTROL_GROUPS && it.found.is_err())?;
    match promise {
        _ if promise.contains("shared memory") => Some(
            "measured: more can be used for a moment, and pages that were dropped are not seen",
        ),
        _ if promise.contains("memory") => Some("measured: more can be used for a moment"),
        _ if promise.contains("fork") => Some(
            "the user's processes count together where programs share the user: those that end make room for more",
        ),
        _ => None,
    }
}

/// What to do about what is missing; nothing where all that matters is there.
fn hints(report: &Report) -> Vec<String> {
    let is_full = report.level == Some(Level::Full);
    let missing = report.offers.iter().filter(|offer| offer.found.is_err());
    // With namespaces nobody needs Landlock.
    let missing = missing.filter(|offer| !(is_full && offer.name == "landlock"));
    let told = missing.filter_map(|offer| Some(format!("{}: {}", offer.name, remedy(offer.name)?)));
    let instead = "`--executor container` confines commands in a container of Docker or Podman";
    told.chain(report.level.is_none().then(|| instead.to_owned())).collect()
}

/// What to do about an offer that is missing.
fn remedy(offer: &str) -> Option<&'static str> {
    Some(match offer {
        "namespaces" => {
            "`sysctl kernel.apparmor_restrict_unprivileged_userns` and `sysctl user.max_user_namespaces` \
             show whether this system forbids them; in a container, allow them there, or run metier outside of it"
        }
        "landlock" => "it comes with Linux 6.12, unless it is switched off when the system starts",
        CONTROL_GROUPS => {
            "let a service manager give you one (systemd: `Delegate=yes`); limits of each process hold meanwhile"
        }
        _ => return None,
    })
}

fn machine_readable(report: &Report) -> serde_json::Value {
    let offers = report.offers.iter().map(|offer| match &offer.found {
        Ok(found) => json!({ "name": offer.name, "available": true, "detail": found }),
        Err(why) => json!({
            "name": offer.name, "available": false, "detail": why.to_string(), "remedy": remedy(offer.name)
        }),
    });
    let trials = report.trials.iter().map(|trial| match &trial.verdict {
        Verdict::Kept => match reservation(report, trial.promise) {
            Some(detail) => json!({ "promise": trial.promise, "kept": true, "detail": detail }),
            None => json!({ "promise": trial.promise, "kept": true }),
        },
        Verdict::Broken(what) => json!({ "promise": trial.promise, "kept": false, "detail": what }),
        Verdict::Untried(why) => json!({ "promise": trial.promise, "kept": null, "detail": why }),
    });
    json!({
        "level": report.level.map(|level| level.to_string()),
        "not_promised": report.not_promised,
        "offers": offers.collect::<Vec<_>>(),
        "trials": trials.collect::<Vec<_>>(),
    })
}

#[cfg(test)]
mod tests {
    use metier_sandbox::doctor::{Offer, OfferError, Trial};

    use super::*;

    fn told(level: Option<Level>, missing: &[&'static str]) -> String {
        let names = ["kernel", "namespaces", "landlock", "control groups"];
        let offers = names.map(|name| Offer {
            name,
            found: if missing.contains(&name) {
                Err(OfferError::NoGroup)
            } else {
                Ok("yes".into())
            },
        });
        let report =
            Report { offers: offers.into(), level, not_promised: Vec::new(), trials: Vec::new() };
        hints(&report).join("\n")
    }

    #[test]
    fn the_doctor_says_that_a_bound_on_memory_is_measured_without_a_control_group() {
        let line = |found: Result<String, OfferError>| {
            let offers = vec![Offer { name: CONTROL_GROUPS, found }];
            let promises = ["memory is bounded", "shared memory is bounded", "cannot connect"];
            let trials = promises.map(|promise| Trial { promise, verdict: Verdict::Kept });
            let level = Some(Level::Full);
            page(&Report { offers, level, not_promised: Vec::new(), trials: trials.into() })
        };
        let measured = line(Err(OfferError::NoGroup));
        assert!(measured.contains("memory is bounded (measured: "), "{measured}");
        let shared = "for a moment, and pages that were dropped are not seen)\n";
        assert!(measured.contains(shared), "{measured}");
        assert!(measured.ends_with("cannot connect\n"), "{measured}");
        assert!(line(Ok("yes".into())).contains("memory is bounded\n"));
    }

    #[test]
    fn the_doctor_says_what_to_do_about_what_is_missing() {
        assert_eq!(told(Some(Level::Full), &[]), "");
        assert_eq!(told(Some(Level::Full), &["landlock"]), "");
        insta::assert_snapshot!(told(Some(Level::Landlock), &["namespaces"]), @"namespaces: `sysctl kernel.apparmor_restrict_unprivileged_userns` and `sysctl user.max_user_namespaces` show whether this system forbids them; in a container, allow them there, or run metier outside of it");
        insta::assert_snapshot!(told(None, &["namespaces", "landlock", "control groups"]), @"
        namespaces: `sysctl kernel.apparmor_restrict_unprivileged_userns` and `sysctl user.max_user_namespaces` show whether this system forbids them; in a container, allow them there, or run metier outside of it
        landlock: it comes with Linux 6.12, unless it is switched off when the system starts
        control groups: let a service manager give you one (systemd: `Delegate=yes`); limits of each process hold meanwhile
        `--executor container` confines commands in a container of Docker or Podman
        ");
    }
}
