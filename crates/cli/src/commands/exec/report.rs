//! What a person sees after a run: the files, and what was remarkable.

use std::path::Path;

use metier_workspace::RunOutput;
use metier_workspace::request::{Confinement, OutputFile};

use crate::commands::files::{self, FileRow};
use crate::commands::turn::calls::{ending, remarks, seconds};
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
    for line in remarks(output) {
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

fn summary(session: &str, output: &RunOutput) -> String {
    let confinement = match output.confinement.level {
        Some(level) => format!("sandbox ({level})"),
        None => output.confinement.executor.clone(),
    };
    let seconds = seconds(output.duration_ms);
    format!("· {seconds:.2} s · {confinement} · session {}", plain(session))
}
