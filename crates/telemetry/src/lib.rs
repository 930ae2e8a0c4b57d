//! Spans of this process, sent to an OpenTelemetry receiver.
//!
//! [`Settings`] says whether and where to, from the variables that OpenTelemetry specifies. [`start`]
//! collects the spans of metier's own crates from then on, and sends them in the background;
//! [`Telemetry::finish`] sends the rest, within a bound. Nothing that is done here can fail or hold up
//! what is traced: spans that nobody takes are dropped.
//!
//! What a span may say is decided where it is made. Spans of other crates, and events of any, are not
//! collected: nobody here has looked at what they say.
//!
//! This is not the SDK of OpenTelemetry, which takes seven times as long to build. It has no samplers,
//! metrics or logs, and speaks OTLP over HTTP only.

mod collector;
mod export;
mod ids;
mod otlp;
mod settings;
mod span;
mod telemetry;

#[cfg(test)]
mod export_tests;

pub use export::ExportError;
pub use ids::Parent;
pub use settings::{EndpointFault, Protocol, Settings, SettingsError, SettingsWarning};
pub use telemetry::{StartError, Telemetry, Undelivered, start};
