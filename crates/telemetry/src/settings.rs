//! Whether spans are sent, where to and how: what OpenTelemetry's variables say.
//!
//! A variable for traces alone goes before the one for everything, and an empty one is none. What cannot
//! be followed is an error that names the variable, because whoever set it believes that spans arrive.

use std::fmt;
use std::time::Duration;

use metier_net::{UrlFault, check_address, shown_text};
use thiserror::Error;

/// How long an attempt may take when nobody says.
const USUAL_TIMEOUT: Duration = Duration::from_secs(10);
/// What the address for everything lacks.
const PATH: &str = "v1/traces";
/// What this process is called when nobody says.
const SERVICE: &str = "metier";

/// Where spans are sent, and how.
#[derive(Clone, PartialEq, Eq)]
pub struct Settings {
    /// The address.
    pub endpoint: String,
    /// In which form.
    pub protocol: Protocol,
    /// Headers that go with them. Their values are secrets.
    pub headers: Vec<(String, String)>,
    /// How long one attempt may take.
    pub timeout: Duration,
    /// What is said about this process, such as `service.name`.
    pub resource: Vec<(String, String)>,
    /// What somebody may have meant otherwise.
    pub warnings: Vec<SettingsWarning>,
}

/// The form in which spans are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Protocol Buffers over HTTP.
    Protobuf,
    /// JSON over HTTP.
    Json,
}

/// What is followed, though hardly as it was meant.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum SettingsWarning {
    /// Whether spans are sent is said in other words than the specification has.
    #[error("`OTEL_SDK_DISABLED` is `{0}`, neither `true` nor `false`; it is taken for `false`")]
    Disabled(String),
}

/// Why spans are not sent although somebody wants them.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// The address is not one that spans can be sent to. It may contain secrets, so it is not shown.
    #[error(
        "`{variable}` is not an address such as `http://127.0.0.1:4318`: {fault}; no spans are sent"
    )]
    Endpoint {
        /// The variable.
        variable: &'static str,
        /// What is wrong with it.
        fault: EndpointFault,
    },
    /// The form is not one of those there are.
    #[error(
        "`{variable}` is `{value}`; metier sends spans as `http/protobuf` or `http/json`; no spans are sent"
    )]
    Protocol {
        /// The variable.
        variable: &'static str,
        /// What it says.
        value: String,
    },
    /// The exporter is not one of those there are.
    #[error("`OTEL_TRACES_EXPORTER` is `{0}`; metier has `otlp` and `none`; no spans are sent")]
    Exporter(String),
    /// The time is not one.
    #[error("`{variable}` is not a number of milliseconds; no spans are sent")]
    Timeout {
        /// The variable.
        variable: &'static str,
    },
    /// A list of names and values is not one. It may contain secrets, so it is not shown.
    #[error("`{variable}` is not a list such as `name=value,other=value`; no spans are sent")]
    List {
        /// The variable.
        variable: &'static str,
    },
}

/// What is wrong with an address.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum EndpointFault {
    /// It is none, or has a user name or password.
    #[error(transparent)]
    Url(UrlFault),
    /// It has a query, and a path is to be put after it.
    #[error("it has a query (`?…`), which only the address for traces may have")]
    Query,
    /// It has a fragment, which is not sent.
    #[error("it has a fragment (`#…`)")]
    Fragment,
}

/// A setting: the variable for traces, then the one for everything.
type Names = [&'static str; 2];

const ENDPOINT: Names = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];
const PROTOCOL: Names = ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"];
const HEADERS: Names = ["OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS"];
const TIMEOUT: Names = ["OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "OTEL_EXPORTER_OTLP_TIMEOUT"];
const ATTRIBUTES: &str = "OTEL_RESOURCE_ATTRIBUTES";

impl Settings {
    /// Reads the variables; `None` if nobody wants spans.
    ///
    /// # Errors
    ///
    /// When somebody does, and a variable says something that cannot be followed.
    pub fn read<'a>(
        variable: impl Fn(&str) -> Option<&'a str>,
    ) -> Result<Option<Self>, SettingsError> {
        let first =
            |names: Names| names.into_iter().find_map(|name| Some((name, variable(name)?.trim())));
        let Some(address) = first(ENDPOINT) else { return Ok(None) };
        let mut warnings = Vec::new();
        match variable("OTEL_SDK_DISABLED").map(str::trim) {
            Some(word) if word.eq_ignore_ascii_case("true") => return Ok(None),
            Some(word) if !word.is_empty() && !word.eq_ignore_ascii_case("false") => {
                warnings.push(SettingsWarning::Disabled(word.to_owned()));
            }
            _ => {}
        }
        match variable("OTEL_TRACES_EXPORTER").map(str::trim) {
            Some("none") => return Ok(None),
            Some(other) if other != "otlp" => {
                return Err(SettingsError::Exporter(other.to_owned()));
            }
            _ => {}
        }
        Ok(Some(Self {
            endpoint: endpoint(address)?,
            protocol: first(PROTOCOL).map_or(Ok(Protocol::Protobuf), protocol)?,
            headers: first(HEADERS).map_or(Ok(Vec::new()), list)?,
            timeout: first(TIMEOUT).map_or(Ok(USUAL_TIMEOUT), timeout)?,
            resource: resource(
                variable("OTEL_SERVICE_NAME").map(str::trim),
                variable(ATTRIBUTES).map_or(Ok(Vec::new()), |it| list((ATTRIBUTES, it)))?,
            ),
            warnings,
        }))
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        formatter
            .debug_struct("Settings")
            .field("endpoint", &shown_text(&self.endpoint))
            .field("protocol", &self.protocol)
            .field("headers", &names)
            .field("timeout", &self.timeout)
            .field("resource", &self.resource)
            .field("warnings", &self.warnings)
            .finish()
    }
}

/// The address of spans: that for traces as it is, that for everything with the path of traces.
fn endpoint((variable, address): (&'static str, &str)) -> Result<String, SettingsError> {
    let is_whole = variable == ENDPOINT[0];
    let fault = match check_address(address) {
        Err(fault) => EndpointFault::Url(fault),
        Ok(()) if address.contains('#') => EndpointFault::Fragment,
        Ok(()) if address.contains('?') && !is_whole => EndpointFault::Query,
        Ok(()) if is_whole => return Ok(address.to_owned()),
        Ok(()) => return Ok(format!("{}/{PATH}", address.trim_end_matches('/'))),
    };
    Err(SettingsError::Endpoint { variable, fault })
}

fn protocol((variable, value): (&'static str, &str)) -> Result<Protocol, SettingsError> {
    match value {
        "http/protobuf" => Ok(Protocol::Protobuf),
        "http/json" => Ok(Protocol::Json),
        _ => Err(SettingsError::Protocol { variable, value: value.to_owned() }),
    }
}

fn timeout((variable, value): (&'static str, &str)) -> Result<Duration, SettingsError> {
    match value.parse() {
        // No limit at all would hold up the end of the process.
        Ok(0) => Ok(USUAL_TIMEOUT),
        Ok(milliseconds) => Ok(Duration::from_millis(milliseconds)),
        Err(_) => Err(SettingsError::Timeout { variable }),
    }
}

/// Names and values as in W3C baggage: `name=value` between commas, values percent-encoded.
fn list((variable, text): (&'static str, &str)) -> Result<Vec<(String, String)>, SettingsError> {
    let wrong = || SettingsError::List { variable };
    let pairs = text.split(',').map(str::trim).filter(|pair| !pair.is_empty());
    let pairs = pairs.map(|pair| {
        let (name, value) = pair.split_once('=').ok_or_else(wrong)?;
        let (name, value) = (name.trim(), decoded(value.trim()).ok_or_else(wrong)?);
        if name.is_empty() { Err(wrong()) } else { Ok((name.to_owned(), value)) }
    });
    pairs.collect()
}

/// Text whose `%2C` and the like are characters; `None` if what comes out is none.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let code = after.get(..2).filter(|_| *first == b'%').and_then(|digits| {
            let digits = str::from_utf8(digits).ok().filter(|it| !it.starts_with('+'))?;
            u8::from_str_radix(digits, 16).ok()
        });
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    String::from_utf8(bytes).ok()
}

/// What is said about this process: our words, those of a person, and the name before both.
fn resource(service: Option<&str>, said: Vec<(String, String)>) -> Vec<(String, String)> {
    let version = env!("CARGO_PKG_VERSION");
    let own = [
        ("service.name", SERVICE),
        ("service.version", version),
        ("telemetry.sdk.name", "metier"),
        ("telemetry.sdk.language", "rust"),
        ("telemetry.sdk.version", version),
    ];
    let mut resource: Vec<(String, String)> = Vec::new();
    let own = own.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let named = service.map(|name| ("service.name".to_owned(), name.to_owned()));
    for (name, value) in own.into_iter().chain(said).chain(named) {
        match resource.iter_mut().find(|it| it.0 == name) {
            Some((_, known)) => *known = value,
            None => resource.push((name, value)),
        }
    }
    resource
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    /// What comes of variables that are written like in a shell, one on a line.
    fn read(text: &str) -> String {
        let lines = || text.lines().map(str::trim).filter_map(|line| line.split_once('='));
        let variable =
            |name: &str| lines().find(|it| it.0 == name).map(|it| it.1).filter(|it| !it.is_empty());
        match Settings::read(variable) {
            Ok(None) => "none".to_owned(),
            Ok(Some(it)) => {
                let list = |pairs: &[(String, String)]| {
                    let pairs = pairs.iter().filter(|it| !it.0.starts_with("telemetry.sdk"));
                    let pairs = pairs.filter(|it| it.0 != "service.version");
                    pairs
                        .map(|(name, value)| format!("{name}={value}"))
                        .collect::<Vec<_>>()
                        .join(" ")
                };
                let warnings = it.warnings.iter().map(|warning| format!("\n{warning}"));
                format!(
                    "{} {:?} {:?} [{}] [{}]{}",
                    it.endpoint,
                    it.protocol,
                    it.timeout,
                    list(&it.headers),
                    list(&it.resource),
                    warnings.collect::<String>()
                )
            }
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn nothing_is_sent_unless_there_is_an_address() {
        let cases = [
            "",
            "OTEL_EXPORTER_OTLP_ENDPOINT=",
            "OTEL_SERVICE_NAME=a\nOTEL_EXPORTER_OTLP_PROTOCOL=grpc",
            "OTEL_EXPORTER_OTLP_ENDPOINT=http://a:4318\nOTEL_SDK_DISABLED=TRUE",
            "OTEL_EXPORTER_OTLP_ENDPOINT=http://a:4318\nOTEL_TRACES_EXPORTER=none",
        ];
        for case in cases {
            assert_eq!(read(case), "none", "{case}");
        }
    }

    #[test]
    fn a_word_that_is_neither_true_nor_false_is_false_and_told() {
        let told =
            |word| read(&format!("OTEL_EXPORTER_OTLP_ENDPOINT=http://a\nOTEL_SDK_DISABLED={word}"));
        assert_snapshot!(told("yes"), @"
        http://a/v1/traces Protobuf 10s [] [service.name=metier]
        `OTEL_SDK_DISABLED` is `yes`, neither `true` nor `false`; it is taken for `false`
        ");
        assert_eq!(told("False"), told(""));
        assert!(!told("False").contains("OTEL_SDK_DISABLED"));
        assert_eq!(read("OTEL_SDK_DISABLED=yes"), "none");
    }

    #[test]
    fn an_address_that_is_none_names_the_variable_and_no_secret() {
        let addresses = [
            "localhost:4318",
            "127.0.0.1:4318",
            "/var/run/otlp",
            "http://",
            "grpc://a:4317",
            "http://ada:secret@a:4318",
            "http://a:4318?key=secret",
            "http://a:4318#secret",
        ];
        let told =
            addresses.map(|it| read(&format!("OTEL_EXPORTER_OTLP_ENDPOINT={it}"))).join("\n");
        assert_snapshot!(told, @"
        `OTEL_EXPORTER_OTLP_ENDPOINT` is not an address such as `http://127.0.0.1:4318`: its scheme `localhost` is neither http nor https; no spans are sent
        `OTEL_EXPORTER_OTLP_ENDPOINT` is not an address such as `http://127.0.0.1:4318`: it is not a valid URL; no spans are sent
        `OTEL_EXPORTER_OTLP_ENDPOINT` is not an address such as `http://127.0.0.1:4318`: it is not a valid URL; no spans are sent
        `OTEL_EXPORTER_OTLP_ENDPOINT` is not an address such as `http://127.0.0.1:4318`: it is not a valid URL; no spans are sent
        `OTEL_EXPORTER_OTLP_ENDPOINT` is not an address such as `http://127.0.0.1:4318`: its scheme `grpc` is neither http nor https; no spans are sent
        `OTEL_EXPORTER_OTLP_ENDPOINT` is not an address such as `http://127.0.0.1:4318`: it contains a user name or password; no spans are sent
        `OTEL_EXPORTER_OTLP_ENDPOINT` is not an address such as `http://127.0.0.1:4318`: it has a query (`?…`), which only the address for traces may have; no spans are sent
        `OTEL_EXPORTER_OTLP_ENDPOINT` is not an address such as `http://127.0.0.1:4318`: it has a fragment (`#…`); no spans are sent
        ");
        let traces = |it| read(&format!("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT={it}"));
        assert_snapshot!(traces("http://a:4318/?team=b"), @"http://a:4318/?team=b Protobuf 10s [] [service.name=metier]");
        assert_snapshot!(traces("a"), @"`OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` is not an address such as `http://127.0.0.1:4318`: it is not a valid URL; no spans are sent");
    }

    #[test]
    fn the_address_for_everything_gets_a_path_and_that_for_traces_does_not() {
        let base = "OTEL_EXPORTER_OTLP_ENDPOINT=https://a/otlp/";
        assert_snapshot!(read(base), @"https://a/otlp/v1/traces Protobuf 10s [] [service.name=metier]");
        let own = format!("{base}\nOTEL_EXPORTER_OTLP_TRACES_ENDPOINT=https://b/spans");
        assert_snapshot!(read(&own), @"https://b/spans Protobuf 10s [] [service.name=metier]");
    }

    #[test]
    fn what_is_set_for_traces_goes_before_what_is_set_for_everything() {
        let text = "OTEL_EXPORTER_OTLP_ENDPOINT=http://a
            OTEL_EXPORTER_OTLP_PROTOCOL=grpc
            OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/json
            OTEL_EXPORTER_OTLP_TIMEOUT=1
            OTEL_EXPORTER_OTLP_TRACES_TIMEOUT=2500
            OTEL_EXPORTER_OTLP_HEADERS=authorization=Bearer%20a%2Cb , x=1%2
            OTEL_RESOURCE_ATTRIBUTES=service.name=no,deployment.environment.name=test
            OTEL_SERVICE_NAME=yes";
        assert_snapshot!(read(text), @"http://a/v1/traces Json 2.5s [authorization=Bearer a,b x=1%2] [service.name=yes deployment.environment.name=test]");
    }

    #[test]
    fn what_cannot_be_followed_names_the_variable_and_no_secret() {
        let rest = [
            "OTEL_EXPORTER_OTLP_PROTOCOL=grpc",
            "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT=10s",
            "OTEL_EXPORTER_OTLP_HEADERS=secret-token",
            "OTEL_EXPORTER_OTLP_HEADERS==secret-token",
            "OTEL_RESOURCE_ATTRIBUTES=a=%ff",
            "OTEL_TRACES_EXPORTER=zipkin",
        ];
        let base = "OTEL_EXPORTER_OTLP_ENDPOINT=http://a";
        let told = rest.map(|rest| read(&format!("{base}\n{rest}"))).join("\n");
        assert_snapshot!(told, @"
        `OTEL_EXPORTER_OTLP_PROTOCOL` is `grpc`; metier sends spans as `http/protobuf` or `http/json`; no spans are sent
        `OTEL_EXPORTER_OTLP_TRACES_TIMEOUT` is not a number of milliseconds; no spans are sent
        `OTEL_EXPORTER_OTLP_HEADERS` is not a list such as `name=value,other=value`; no spans are sent
        `OTEL_EXPORTER_OTLP_HEADERS` is not a list such as `name=value,other=value`; no spans are sent
        `OTEL_RESOURCE_ATTRIBUTES` is not a list such as `name=value,other=value`; no spans are sent
        `OTEL_TRACES_EXPORTER` is `zipkin`; metier has `otlp` and `none`; no spans are sent
        ");
    }

    #[test]
    fn values_of_headers_are_not_shown() {
        let text = "OTEL_EXPORTER_OTLP_ENDPOINT=http://a\nOTEL_EXPORTER_OTLP_HEADERS=key=secret";
        let lines = || text.lines().filter_map(|line| line.split_once('='));
        let settings = Settings::read(|name| lines().find(|it| it.0 == name).map(|it| it.1));
        let shown = format!("{settings:?}");
        assert!(shown.contains("key") && !shown.contains("secret"), "{shown}");
    }
}
