//! What an error of a provider means.
//!
//! Providers agree on little more than the status: each has its own codes and words, and servers
//! that imitate one often have only words. The tables here have been collected from what they send.

use std::time::Duration;

use serde_json::Value;

use crate::ModelError;
use crate::error::Said;
use crate::secret::{Secret, without};

/// An error as a provider tells it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fault {
    /// `code` or `type`, whatever there is, separated by a space.
    pub(crate) codes: String,
    /// The status that it names, for an error that has none because it comes in a stream.
    pub(crate) status: Option<u16>,
    /// The words.
    pub(crate) message: String,
}

/// Whom the error is about.
#[derive(Clone, Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) host: &'a str,
    pub(crate) model: &'a str,
    pub(crate) secrets: &'a [Secret],
}

impl Fault {
    /// Reads the body of an error, JSON or not.
    pub(crate) fn read(body: &[u8]) -> Self {
        match serde_json::from_slice::<Value>(body) {
            Ok(value) => Self::of(&value),
            Err(_) => Self { message: words(&String::from_utf8_lossy(body)), ..Self::default() },
        }
    }

    /// Reads an error that is JSON already, with or without something around it.
    pub(crate) fn of(value: &Value) -> Self {
        let value = value.as_array().and_then(|list| list.first()).unwrap_or(value);
        let error = match &value["error"] {
            Value::Null => value,
            error => error,
        };
        if let Some(text) = error.as_str() {
            return Self { message: text.to_owned(), ..Self::default() };
        }
        let codes: Vec<_> =
            ["code", "type", "status"].iter().filter_map(|key| error[key].as_str()).collect();
        let status = ["code", "status"].iter().find_map(|key| status_of(&error[key]));
        let message = ["message", "detail", "error_description"]
            .iter()
            .find_map(|key| error[key].as_str().or_else(|| error[key][0]["msg"].as_str()));
        // OpenRouter wraps what the provider behind it said.
        let inner = error["metadata"]["raw"].as_str().unwrap_or_default();
        let message = format!("{} {inner}", message.unwrap_or_default());
        Self { codes: codes.join(" "), status, message: message.trim().to_owned() }
    }

    /// What it means; without the status of an answer it came in the middle of a stream.
    pub(crate) fn judge(
        &self,
        status: Option<u16>,
        retry_after: Option<Duration>,
        asked: &Asked<'_>,
    ) -> ModelError {
        let status = status.or(self.status);
        let host = asked.host.to_owned();
        let said = Said::new(&without(asked.secrets, &self.message));
        let code = |codes: &[&str]| {
            self.codes.split(' ').any(|code| codes.iter().any(|known| known == &code))
        };
        match status {
            Some(401) => ModelError::Key { host, said },
            _ if code(&["insufficient_quota", "billing_error", "billing_hard_limit_reached"])
                || status == Some(402) =>
            {
                ModelError::QuotaExhausted { host, said }
            }
            Some(429) => ModelError::RateLimited { host, said, retry_after },
            _ if self.is_overflow() => ModelError::ContextOverflow { said },
            _ if code(&["content_filter", "content_policy_violation", "invalid_prompt"]) => {
                ModelError::Refused { host, said }
            }
            Some(403) => ModelError::Forbidden { host, said },
            Some(404) => ModelError::UnknownModel { host, model: asked.model.to_owned(), said },
            _ if code(&["model_not_found"]) => {
                ModelError::UnknownModel { host, model: asked.model.to_owned(), said }
            }
            Some(408 | 409 | 425 | 500..) => ModelError::Failed { host, status, said, retry_after },
            Some(status) => ModelError::Rejected { host, status, said },
            None if code(&["rate_limit_exceeded", "rate_limit_error"]) => {
                ModelError::RateLimited { host, said, retry_after }
            }
            None if code(&["authentication_error", "invalid_api_key"]) => {
                ModelError::Key { host, said }
            }
            None if code(&["invalid_request_error"]) => {
                ModelError::Rejected { host, status: 400, said }
            }
            None => ModelError::Failed { host, status, said, retry_after },
        }
    }

    fn is_overflow(&self) -> bool {
        let message = self.message.to_lowercase();
        OVERFLOW_CODES.iter().any(|code| self.codes.split(' ').any(|given| given == *code))
            || OVERFLOW_WORDS.iter().any(|words| message.contains(words))
    }
}

/// A code that is the status of an error, as a number or in digits.
fn status_of(code: &Value) -> Option<u16> {
    let number = code.as_u64().or_else(|| code.as_str()?.parse().ok())?;
    u16::try_from(number).ok().filter(|status| (400..600).contains(status))
}

const OVERFLOW_CODES: &[&str] = &[
    "context_length_exceeded",       // OpenAI, Azure, OpenRouter
    "exceed_context_size_error",     // llama.cpp
    "model_context_window_exceeded", // Anthropic
    "request_too_large",             // Anthropic, above its size of requests
    "string_above_max_length",       // OpenAI, for one message that is longer than all allowed
];

const OVERFLOW_WORDS: &[&str] = &[
    "maximum context length",                  // OpenAI, older vLLM, OpenRouter
    "context length is only",                  // vLLM
    "exceeds the context window",              // OpenAI Responses
    "exceed context limit",                    // Anthropic: input and max_tokens together
    "prompt is too long",                      // Anthropic
    "input is too long for requested model",   // Bedrock
    "exceeds the available context size",      // llama.cpp
    "exceeds the maximum number of tokens",    // Gemini
    "maximum prompt length",                   // xAI
    "exceeds the model's maximum context",     // Mistral, LM Studio
    "longer than the model's context length",  // SGLang
    "input length exceeds the context length", // Ollama
    "greater than the context length",         // LM Studio
    "too large for model with",                // Mistral
    "inputs tokens + max_new_tokens must be <=", // TGI
];

/// The words of a page, for servers that answer in HTML.
fn words(text: &str) -> String {
    if !text.trim_start().starts_with('<') {
        return text.to_owned();
    }
    let mut plain = String::new();
    let mut inside = false;
    for character in text.chars() {
        match character {
            '<' => inside = true,
            '>' => {
                inside = false;
                plain.push(' ');
            }
            _ if !inside => plain.push(character),
            _ => {}
        }
    }
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The name of the variant, and what is said.
    fn judged(status: Option<u16>, body: &str) -> String {
        let secrets = [Secret::new("sk-secret-1234")];
        let asked = Asked { host: "host", model: "m", secrets: &secrets };
        let error = Fault::read(body.as_bytes()).judge(status, None, &asked);
        assert!(!format!("{error:?} {error}").contains("sk-secret"));
        let variant = format!("{error:?}");
        format!("{} | {error}", variant.split(' ').next().unwrap())
    }

    #[test]
    fn the_wording_of_each_provider_for_an_overflow_is_known() {
        let cases = [
            (
                400,
                r#"{"error":{"message":"This model's maximum context length is 128000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}"#,
            ),
            (
                400,
                r#"{"error":{"message":"Your input exceeds the context window of this model.","code":"context_length_exceeded"}}"#,
            ),
            (
                400,
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 215000 tokens > 200000 maximum"}}"#,
            ),
            (
                400,
                r#"{"type":"error","error":{"type":"invalid_request_error","message":"input length and `max_tokens` exceed context limit: 199000 + 8192 > 200000"}}"#,
            ),
            (
                413,
                r#"{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}"#,
            ),
            (
                500,
                r#"{"error":{"code":500,"message":"the request exceeds the available context size.","type":"exceed_context_size_error","n_ctx":256}}"#,
            ),
            (
                400,
                r#"{"error":{"message":"You passed 1015 input tokens and requested 10 output tokens. However, the model's context length is only 1024 tokens","type":"BadRequestError","code":400}}"#,
            ),
            (
                400,
                r#"[{"error":{"code":400,"message":"The input token count (1048577) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]"#,
            ),
            (
                400,
                r#"{"object":"error","message":"This model's maximum context length is 6048 tokens.","type":"BadRequestError","code":400}"#,
            ),
        ];
        for (status, body) in cases {
            assert!(judged(Some(status), body).starts_with("ContextOverflow"), "{body}");
            assert!(judged(None, body).starts_with("ContextOverflow"), "{body}");
        }
    }

    #[test]
    fn too_many_tokens_a_minute_are_no_overflow() {
        let body = r#"{"error":{"message":"Request too large: maximum context length of your tier","code":"rate_limit_exceeded"}}"#;
        assert!(judged(Some(429), body).starts_with("RateLimited"));
    }

    #[test]
    fn each_kind_of_error_says_what_a_person_needs() {
        let cases = [
            (Some(401), r#"{"error":{"message":"Incorrect API key provided: sk-secret-1234."}}"#),
            (Some(403), r#"{"error":"country not supported"}"#),
            (
                Some(404),
                r#"{"error":{"message":"The model `m` does not exist","code":"model_not_found"}}"#,
            ),
            (Some(404), "<html><head><title>404</title></head><body>Not Found</body></html>"),
            (
                Some(429),
                r#"{"error":{"message":"Rate limit reached","code":"rate_limit_exceeded"}}"#,
            ),
            (
                Some(429),
                r#"{"error":{"message":"You exceeded your current quota","type":"insufficient_quota"}}"#,
            ),
            (
                Some(400),
                r#"{"error":{"message":"The response was filtered","code":"content_filter"}}"#,
            ),
            (Some(400), r#"{"detail":[{"loc":["body"],"msg":"field required"}]}"#),
            (Some(422), r#"{"message":"bad \u001b[2J tool"}"#),
            (Some(500), ""),
            (
                Some(529),
                r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            ),
            (
                None,
                r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
            ),
            (
                None,
                r#"{"error":{"message":"Provider returned error","code":502,"metadata":{"raw":"upstream down"}}}"#,
            ),
        ];
        let table: Vec<_> = cases.iter().map(|(status, body)| judged(*status, body)).collect();
        insta::assert_snapshot!(table.join("\n"));
    }

    #[test]
    fn a_number_within_a_stream_is_judged_like_a_status() {
        let variant = |status, code: &str| {
            let body = format!(r#"{{"error":{{"message":"no","code":{code}}}}}"#);
            judged(status, &body).split(' ').next().unwrap().to_owned()
        };
        let codes = ["401", "402", "\"402\"", "403", "429", "400", "503", "200", "1302", "-1"];
        let told = codes.map(|code| format!("{code} {}", variant(None, code)));
        insta::assert_snapshot!(told.join("\n"), @r#"
        401 Key
        402 QuotaExhausted
        "402" QuotaExhausted
        403 Forbidden
        429 RateLimited
        400 Rejected
        503 Failed
        200 Failed
        1302 Failed
        -1 Failed
        "#);
        // The status of an answer goes before what its body says.
        assert_eq!(variant(Some(429), "500"), "RateLimited");
    }

    #[test]
    fn what_a_provider_says_is_bounded() {
        let said = Said::new(&"long ".repeat(10_000));
        assert_eq!(said.as_str().chars().count(), 601);
    }
}
