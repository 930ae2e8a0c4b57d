//! What a person sees after a run: the files, and what was remarkable.

use metier_workspace::RunOutput;
use metier_workspace::request::OutputFile;

use crate::context::Context;
use crate::output::{Align, Column, Table, plain, size, style, styled};

/// Says how a run went. The command's own output has been shown already.
pub(super) fn print(context: &Context, session: &str, output: &RunOutput) {
    let say = |text: &str| context.output.say(text);
    if !output.output_files.is_empty() {
        say(table(&output.output_files).render(context.output.width()).trim_end());
    }
    for kept in &output.artifact_files {
        say(&format!("{} {}", styled(style::GOOD, "kept"), plain(&kept.reference)));
    }
    for warning in &output.warnings {
        say(&format!("{}: {}", styled(style::WARN, "warning"), plain(warning)));
    }
    for denial in &output.denials {
        let (kind, what) = (denial.kind.replace('_', " "), plain(&denial.what));
        say(&format!("{}: {kind}: {what}", styled(style::WARN, "refused")));
    }
    say(&styled(style::DIM, summary(session, output)));
}

fn table(files: &[OutputFile]) -> Table {
    let column = |heading, align, fills| Column { heading, align, fills };
    let mut table = Table::new(&[
        column("FILE", Align::Left, true),
        column("SIZE", Align::Right, false),
        column("TYPE", Align::Left, false),
    ]);
    for file in files {
        table.row(vec![
            (style::NAME, plain(&file.reference)),
            (style::DIM, size(file.size_bytes)),
            (style::DIM, kind(&file.mime_type)),
        ]);
    }
    table
}

/// A type as people call it.
fn kind(mime: &str) -> String {
    match mime {
        "text/csv" | "text/tab-separated-values" => "table".to_owned(),
        "text/plain" => "text".to_owned(),
        "application/octet-stream" => "data".to_owned(),
        _ => match mime.split_once('/') {
            Some(("image", format)) => format!("image ({})", format.trim_end_matches("+xml")),
            Some((_, format)) if format.len() <= 12 => format.to_owned(),
            _ => mime.to_owned(),
        },
    }
}

fn summary(session: &str, output: &RunOutput) -> String {
    let ending = match (output.timed_out, output.cancelled, output.exit_code, output.signal) {
        (true, ..) => "time was up".to_owned(),
        (_, true, ..) => "cancelled".to_owned(),
        (_, _, Some(code), _) => format!("exit {code}"),
        (_, _, _, Some(signal)) => format!("ended by signal {signal}"),
        _ => "ended".to_owned(),
    };
    let confinement = match output.confinement.level {
        Some(level) => format!("sandbox ({level})"),
        None => output.confinement.executor.to_owned(),
    };
    let seconds = f64::from(u32::try_from(output.duration_ms).unwrap_or(u32::MAX)) / 1000.0;
    let lacks = match output.confinement.not_promised.as_slice() {
        [] => String::new(),
        lacks => format!(" · not confined: {}", lacks.join(", ")),
    };
    format!("{ending} · {seconds:.2} s · {confinement} · session {}{lacks}", plain(session))
}
