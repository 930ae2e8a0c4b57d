//! By whom each scenario of the suite must be passed.

use self::Asked::{Fixtures, Nobody, Shipped};

/// Who is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// The server as it is shipped, in all checks but these, and with fixtures in those too.
    Shipped(&'static [&'static str]),
    /// The server with the fixtures of the suite, because the scenario is about one of them.
    Fixtures,
    /// Nobody, and why.
    Nobody(&'static str),
}

/// The scenarios, in the order of the suite.
pub const SCENARIOS: &[(&str, Asked)] = &[
    ("server-initialize", Shipped(&[])),
    ("server-session-lifecycle", Shipped(&[])),
    ("server-stateless", Shipped(STATELESS)),
    ("logging-set-level", Fixtures),
    ("ping", Shipped(&[])),
    ("completion-complete", Fixtures),
    ("tools-list", Shipped(&[])),
    ("tools-call-simple-text", Fixtures),
    ("tools-call-image", Fixtures),
    ("tools-call-audio", Fixtures),
    ("tools-call-embedded-resource", Fixtures),
    ("tools-call-mixed-content", Fixtures),
    ("tools-call-with-logging", Fixtures),
    ("tools-call-error", Fixtures),
    ("tools-call-with-progress", Fixtures),
    ("tools-call-sampling", Fixtures),
    ("tools-call-elicitation", Fixtures),
    ("json-schema-2020-12", Fixtures),
    ("elicitation-sep1034-defaults", Fixtures),
    ("server-sse-polling", Fixtures),
    ("server-sse-multiple-streams", Shipped(&[])),
    ("elicitation-sep1330-enums", Fixtures),
    ("resources-list", Shipped(&[])),
    ("resources-read-text", Fixtures),
    ("resources-read-binary", Fixtures),
    ("resources-templates-read", Fixtures),
    ("resources-subscribe", Fixtures),
    ("resources-unsubscribe", Fixtures),
    ("sep-2164-resource-not-found", Shipped(&[])),
    ("sep-2640-skills-directory", Shipped(&[])),
    ("sep-2640-skills-enumeration", Shipped(&[])),
    ("sep-2640-skills-manifest", Shipped(&[])),
    ("prompts-list", Shipped(&[])),
    ("prompts-get-simple", Fixtures),
    ("prompts-get-with-args", Fixtures),
    ("prompts-get-embedded-resource", Fixtures),
    ("prompts-get-with-image", Fixtures),
    ("dns-rebinding-protection", Shipped(&[])),
    ("caching", Shipped(&[])),
    ("http-header-validation", Shipped(&[])),
    ("http-custom-header-server-validation", Fixtures),
    ("tasks-lifecycle", Nobody(TASKS)),
    ("tasks-capability-negotiation", Nobody(TASKS)),
    ("tasks-wire-fields", Nobody(TASKS)),
    ("tasks-request-state-removal", Nobody(TASKS)),
    ("tasks-mrtr-input", Nobody(TASKS)),
    ("tasks-request-headers", Nobody(TASKS)),
    ("tasks-dispatch-and-envelope", Nobody(TASKS)),
    ("tasks-status-notifications", Nobody(TASKS)),
    ("tasks-required-task-error", Nobody(TASKS)),
    ("tasks-mrtr-composition", Nobody(TASKS)),
    ("input-required-result-basic-elicitation", Fixtures),
    ("input-required-result-basic-sampling", Fixtures),
    ("input-required-result-basic-list-roots", Fixtures),
    ("input-required-result-request-state", Fixtures),
    ("input-required-result-multiple-input-requests", Fixtures),
    ("input-required-result-multi-round", Fixtures),
    ("input-required-result-missing-input-response", Fixtures),
    ("input-required-result-non-tool-request", Fixtures),
    ("input-required-result-result-type", Fixtures),
    ("input-required-result-unsupported-methods", Shipped(&[])),
    ("input-required-result-tampered-state", Fixtures),
    ("input-required-result-capability-check", Fixtures),
    ("input-required-result-ignore-extra-params", Fixtures),
    ("input-required-result-validate-input", Fixtures),
];

/// Checks that call tools which only the fixtures have.
const STATELESS: &[&str] = &[
    "sep-2575-server-rejects-undeclared-capability",
    "sep-2575-missing-capability-http-400",
    "sep-2575-http-server-no-independent-requests-on-stream",
    "sep-2575-server-no-log-without-loglevel",
    "sep-2575-server-sends-prompts-list-changed-on-subscription",
    "sep-2575-server-sends-tools-list-changed-on-subscription",
];

const TASKS: &str = "an extension for calls that go on without their client, which metier has not";
