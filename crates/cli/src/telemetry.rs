//! Spans of commands, for whoever set OpenTelemetry's variables. They never decide how a command ends.

use std::error::Error;

use metier_telemetry::{Parent, Settings, Telemetry};
use tracing::field::Empty;
use tracing::{Span, info_span};

use crate::args::Command;
use crate::failure::Failure;
use crate::masking;
use crate::output::{Output, style};
use metier_app::Environment;

/// What a command is called in its span; `None` if it has none. A chat has none because its turns are
/// traces of their own.
fn name(command: &Command) -> Option<&'static str> {
    match command {
        Command::Run(_) => Some("run"),
        Command::Exec(_) => Some("exec"),
        Command::Gc { .. } => Some("gc"),
        Command::Sessions(_) => Some("sessions"),
        Command::Skills(_)
        | Command::Bench(_)
        | Command::Chat(_)
        | Command::Demo(_)
        | Command::Trust(_)
        | Command::Usage(_)
        | Command::Read(_)
        | Command::Artifacts(_)
        | Command::Doctor { .. }
        | Command::Config { .. }
        | Command::Validate { .. }
        | Command::ReadProperties { .. }
        | Command::ToPrompt { .. }
        | Command::Approvals(_)
        | Command::Mcp(_)
        | Command::Setup(_)
        | Command::Completions { .. }
        | Command::Man { .. }
        | Command::Complete(_)
        | Command::Reference { .. } => None,
    }
}

/// A command that is traced, if anybody wants that.
pub(crate) struct Tracing {
    span: Span,
    telemetry: Option<Telemetry>,
    output: Output,
}

impl Tracing {
    /// Begins the span of a command.
    pub(crate) fn begin(command: &Command, environment: &Environment, output: Output) -> Self {
        let name = name(command);
        let is_traced = name.is_some() || matches!(command, Command::Chat(_));
        let telemetry = is_traced.then(|| start(environment, output)).flatten();
        let span = match (name, &telemetry) {
            (Some(name), Some(_)) => info_span!(
                "metier",
                otel.name = format!("metier {name}"),
                otel.status_code = Empty,
                process.exit.code = Empty,
            ),
            _ => Span::none(),
        };
        Self { span, telemetry, output }
    }

    /// Runs the command in its span.
    pub(crate) fn trace(&self, run: impl FnOnce() -> Result<u8, Failure>) -> Result<u8, Failure> {
        let outcome = self.span.in_scope(run);
        let code = match &outcome {
            Ok(code) => *code,
            Err(failure) => failure.code(),
        };
        self.span.record("process.exit.code", code);
        if outcome.is_err() {
            self.span.record("otel.status_code", "ERROR");
        }
        outcome
    }

    /// Sends what there is to tell.
    pub(crate) fn end(self) {
        drop(self.span);
        if let Some(Err(error)) = self.telemetry.map(Telemetry::finish) {
            self.output.note(style::WARN, "warning: ", &unsent(&error));
        }
    }
}

/// Begins to collect spans if the variables say so.
fn start(environment: &Environment, output: Output) -> Option<Telemetry> {
    let settings = match Settings::read(|name| environment.variable(name)) {
        Ok(settings) => settings?,
        Err(error) => {
            warn(output, &error);
            return None;
        }
    };
    settings.warnings.iter().for_each(|warning| warn(output, warning));
    let parent = environment.variable("TRACEPARENT").and_then(Parent::parse);
    if parent.is_some_and(|parent| !parent.is_sampled()) {
        return None;
    }
    let started = metier_telemetry::start(settings, parent, masking::of_process());
    let told = |error: &dyn Error| output.note(style::WARN, "warning: ", &unsent(error));
    started.inspect_err(|error| told(error)).ok()
}

/// Why no spans are sent, for somebody who may not know that they asked for it.
pub(crate) fn unsent(error: &dyn Error) -> String {
    format!("{}; unset OTEL_EXPORTER_OTLP_ENDPOINT to send none", Failure::brief(error))
}

fn warn(output: Output, error: &dyn Error) {
    output.note(style::WARN, "warning: ", &Failure::brief(error).to_string());
}
