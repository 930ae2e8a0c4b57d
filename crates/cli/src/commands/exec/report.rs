//! What a person sees after a run: the files, and what was remarkable.

use std::path::Path;

use metier_workspace::RunOutput;
use metier_workspace::request::{Confinement, OutputFile};

use crate::commands::files::{self, FileRow};
use crate::commands::turn::calls::{denied, kept, warned};
use crate::context::Context;
use crate::output::{plain, style, styled};

/// Where a run took place.
pub(super) struct Place<'a> {
    /// The session.
    pub session: &'a str,
    /// The folder of its workspace, if that is still there.
    pub folder: Option<&'a Path>,
}

/// Says how a run went. The command's own output has been shown already.
pub(super) fn print(context: &Context, place: &Place<'_>, output: &RunOutput) {
    let out = &context.output;
    if !output.output_files.is_empty() {
        out.say(files::table(output.output_files.iter().map(row)).render(out.width()).trim_end());
        if let Some(folder) = place.folder {
            out.note(style::DIM, "in ", &folder.display().to_string());
        }
    }
    let kept = output.artifact_files.iter().map(|it| kept(&it.reference));
    let warnings = output.warnings.iter().map(|it| warned(it));
    let denials = output.denials.iter().map(|it| denied(&it.kind.to_string(), &it.what));
    for line in kept.chain(warnings).chain(denials) {
        out.note(line.style, line.word, &line.text);
    }
    if let Some(remark) = remark(&output.confinement) {
        out.note(style::WARN, "not promised: ", &remark);
    }
    let (style, ending) = ending(output);
    let rest = summary(place.session, output);
    out.say(&format!("{} {}", styled(style, ending), styled(style::DIM, rest)));
}

fn row(file: &OutputFile) -> FileRow<'_> {
    let OutputFile { reference, size_bytes, mime_type, .. } = file;
    FileRow { reference, size_bytes: *size_bytes, mime_type }
}

/// What of others was not kept from the command, if that is not everything.
fn remark(confinement: &Confinement) -> Option<String> {
    let mut lacks = confinement.not_promised.clone();
    match confinement.network.as_str() {
        "none" => {}
        "host" if lacks.iter().any(|it| it == "network") => {}
        "host" => lacks.push("network".to_owned()),
        addresses => lacks.push(format!("network to {addresses}")),
    }
    (!lacks.is_empty()).then(|| lacks.join(", "))
}

/// How the command ended.
fn ending(output: &RunOutput) -> (anstyle::Style, String) {
    match (output.timed_out, output.cancelled, output.exit_code, output.signal) {
        (true, ..) => (style::BAD, "time was up".to_owned()),
        (_, true, ..) => (style::WARN, "cancelled".to_owned()),
        (_, _, Some(0), _) if output.incomplete => {
            (style::WARN, "exit 0, but not everything was kept".to_owned())
        }
        (_, _, Some(0), _) => (style::GOOD, "exit 0".to_owned()),
        (_, _, Some(code), _) => (style::BAD, format!("exit {code}")),
        (_, _, _, Some(signal)) => (style::BAD, format!("ended by signal {signal}")),
        _ => (style::BAD, "ended".to_owned()),
    }
}

fn summary(session: &str, output: &RunOutput) -> String {
    let confinement = match output.confinement.level {
        Some(level) => format!("sandbox ({level})"),
        None => output.confinement.executor.clone(),
    };
    let seconds = f64::from(u32::try_from(output.duration_ms).unwrap_or(u32::MAX)) / 1000.0;
    format!("· {seconds:.2} s · {confinement} · session {}", plain(session))
}
