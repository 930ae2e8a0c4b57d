//! `metier skills explain`: the whole chain, from where a skill was found to who may start it.

use std::path::Path;

use metier_config::toml_key;
use metier_skill::catalog::Format;
use metier_skill::library::{Entry, EntryKey, Snapshot};
use metier_skill::problem::Problem;
use serde_json::{Value, json};

use crate::args::SourceArgs;
use crate::commands::skills::list::ListedProblem;
use crate::context::Context;
use crate::failure::advice::{self, ProblemText};
use crate::failure::{Failure, OK, grant_words, names_setting};
use crate::output::{plain, severity_style, style, styled};

/// Explains one skill.
pub(super) fn run(
    context: &Context,
    sources: &SourceArgs,
    name: &str,
    json: bool,
) -> Result<u8, Failure> {
    let snapshot = context.library(sources)?;
    let entry = context.find(&snapshot, name)?;
    let form = form_in_catalog(&snapshot, entry, *context.app.config.skills.catalog_tokens);
    let problems = problems_of(&snapshot, entry);
    let request = request_of(context, entry);
    let told = Told { entry, form, request, problems };
    if json {
        context.output.json(&as_json(&told));
    } else {
        context.output.print(&page(&told, &context.app.environment.settings_file()));
    }
    Ok(OK)
}

/// Everything that is told of a skill.
struct Told<'a> {
    entry: &'a Entry,
    form: Form,
    request: Option<Request>,
    problems: Vec<&'a Problem>,
}

/// What a skill asks of the sandbox.
struct Request {
    asked: Vec<String>,
    /// Why it does not get that, if it does not.
    refusal: Option<Failure>,
}

fn request_of(context: &Context, entry: &Entry) -> Option<Request> {
    let asked = entry.manifest.gate.requirements()?.sandbox.parts();
    if asked.is_empty() {
        return None;
    }
    let granted = || {
        let settings = context.app.run_settings(entry)?;
        let granted = settings.granted(&context.app.executor(None));
        granted
            .map_err(|error| Failure::of_beyond(&error).hint(grant_words(&entry.entry_key, &error)))
    };
    Some(Request { asked, refusal: granted().err() })
}

/// How the catalog shows a skill, and at what cost.
struct Form {
    name: &'static str,
    tokens: usize,
}

fn form_in_catalog(snapshot: &Snapshot, entry: &Entry, budget: usize) -> Form {
    if !entry.is_model_visible() {
        return Form { name: "not listed", tokens: 0 };
    }
    let catalog = snapshot.catalog(budget, Format::Lines);
    let start = format!("- {}", entry.name);
    let full = format!("{start}: {}", entry.summary());
    let line = catalog.text.lines().find(|line| {
        line.strip_prefix(&start).is_some_and(|rest| rest.is_empty() || rest.starts_with(": "))
    });
    let tokens = line.map_or(0, |line| metier_skill::tokens::count(line) + 1);
    let name = match line {
        None => "found by search only",
        Some(line) if line == full => "in full",
        Some(line) if line == start => "by name only",
        Some(_) => "with a shortened description",
    };
    Form { name, tokens }
}

fn problems_of<'a>(snapshot: &'a Snapshot, entry: &Entry) -> Vec<&'a Problem> {
    let file = entry.place.file();
    let about = |problem: &&Problem| problem.path == file || entry.shadows.contains(&problem.path);
    snapshot.problems.iter().filter(about).collect()
}

fn as_json(told: &Told<'_>) -> Value {
    let Told { entry, form, request, problems } = told;
    let request = request.as_ref().map(|Request { asked, refusal }| {
        json!({
            "asked": asked,
            "granted": refusal.is_none(),
            "reason": refusal.as_ref().map(ToString::to_string),
            "remedy": refusal.as_ref().and_then(Failure::remedy),
        })
    });
    let blocks: Vec<Value> = entry
        .verdict
        .blocks
        .iter()
        .map(|block| json!({ "reason": block.to_string(), "remedy": advice::remedy(entry, block) }))
        .collect();
    let mut answer = json!({
        "name": entry.name,
        "source": entry.source.label(),
        "path": entry.place.file().to_string_lossy(),
        "shadows": entry.shadows.iter().map(|it| it.to_string_lossy()).collect::<Vec<_>>(),
        "entry": entry_json(&entry.entry_key),
        "eligible": entry.verdict.is_eligible(),
        "blocks": blocks,
        "missing": entry.verdict.missing(),
        "sandbox": request,
        "catalog": { "form": form.name, "tokens": form.tokens },
        "model_visible": entry.is_model_visible(),
        "user_invocable": entry.is_user_invocable(),
        "problems": problems.iter().map(|it| ListedProblem::from(*it)).collect::<Vec<_>>(),
    });
    if let Some(server) = entry.server() {
        answer["server"] = json!(server);
    }
    answer
}

/// The settings of a skill as programs read them.
fn entry_json(entry_key: &EntryKey) -> Value {
    json!({
        "key": entry_key.key,
        "configured": entry_key.is_configured,
        "granted": entry_key.refusal.is_none(),
        "reason": entry_key.refusal.map(|refusal| refusal.to_string()),
        "ignored_skill_key": entry_key.ignored_claim.as_ref().map(|(claim, _)| claim),
    })
}

fn page(told: &Told<'_>, settings: &Path) -> String {
    let Told { entry, form, request, problems } = told;
    let mut text = format!("{}\n", styled(style::NAME, plain(entry.name.as_str())));
    let mut step = |name: &str, value: String| {
        text.push_str(&format!("{}  {value}\n", styled(style::DIM, format!("{name:>9}"))));
    };
    step(
        "found",
        format!("{} ({})", plain(&entry.place.file().display().to_string()), entry.source),
    );
    for shadow in &entry.shadows {
        step("hides", plain(&shadow.display().to_string()));
    }
    if entry.entry_key.is_configured {
        let key = toml_key(&entry.entry_key.key);
        match entry.entry_key.refusal {
            None => step("entry", format!("[skills.entries.{}]", plain(&key))),
            Some(_) => step("entry", "none of its own".to_owned()),
        }
    }
    if entry.verdict.is_eligible() {
        step("eligible", styled(style::GOOD, "yes"));
    } else {
        step("eligible", styled(style::WARN, "no"));
        for block in &entry.verdict.blocks {
            step("because", plain(&block.to_string()));
            if let Some(remedy) = advice::remedy(entry, block) {
                step("remedy", plain(&remedy));
            }
        }
    }
    if let Some(Request { asked, refusal }) = request {
        step("asks for", plain(&asked.join(", ")));
        match refusal {
            None => step("granted", styled(style::GOOD, "yes")),
            Some(refusal) => {
                step("granted", styled(style::WARN, "no"));
                step("because", plain(&refusal.to_string()));
                refusal.remedy().iter().for_each(|hint| step("remedy", plain(hint)));
            }
        }
    }
    let blocks = entry.verdict.blocks.iter().filter_map(|block| advice::remedy(entry, block));
    let refusal = request.as_ref().and_then(|it| it.refusal.as_ref()?.remedy());
    if blocks.chain(refusal.map(str::to_owned)).any(|remedy| names_setting(&remedy)) {
        step("settings", plain(&settings.display().to_string()));
    }
    let cost = if form.tokens > 0 { format!(", {} tokens", form.tokens) } else { String::new() };
    step("catalog", format!("{}{cost}", form.name));
    step("started", started_by(entry));
    for (at, problem) in problems.iter().enumerate() {
        let severity = styled(severity_style(problem.severity), problem.severity);
        let place = if problem.path == entry.place.file() {
            format!("line {}", problem.line)
        } else {
            plain(&problem.path.display().to_string())
        };
        let ProblemText { message, help } = ProblemText::of(problem);
        step("noticed", format!("{severity}: {place}: {} [{}]", plain(&message), problem.code));
        // Once for several in a row that need the same.
        let is_last = problems.get(at + 1).is_none_or(|next| ProblemText::of(next).help != help);
        help.iter().filter(|_| is_last).for_each(|help| step("remedy", plain(help)));
    }
    text
}

fn started_by(entry: &Entry) -> String {
    match (entry.is_model_visible(), entry.is_user_invocable()) {
        (true, true) => "by a model, or by a person".to_owned(),
        (true, false) => "by a model only".to_owned(),
        (false, true) => "by a person only".to_owned(),
        (false, false) => "by nobody".to_owned(),
    }
}
