//! Asking the person at the client whether a command may run.
//!
//! A question comes up deep in a call, in a task of its own; it goes to the request that the call is answered for,
//! because only there the protocol knows which request it belongs to. Where the protocol has sessions, the client is
//! asked while the call waits. Where it has none, the call ends with the question, and comes again with the answer;
//! the answer counts only if the question is still the same to the last byte, and once.

use std::time::Duration;

use async_trait::async_trait;
use metier_agent::host::{Decision, Prompter, Question};
use metier_agent::visit::Visit;
use metier_skill::files::Digest;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientResult, ElicitRequest, ElicitRequestParams,
    ElicitResult, ElicitationAction, ElicitationSchema, EnumSchema, InputRequest,
    InputRequiredResult, PrimitiveSchemaDefinition, ProtocolVersion, ServerRequest,
};
use rmcp::service::{PeerRequestOptions, RequestContext, RoleServer};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

/// How long a person is waited for.
const PATIENCE: Duration = Duration::from_secs(600);
/// What the answer is called.
const FIELD: &str = "decision";
/// What the question is called where a call comes again.
const KEY: &str = "approval";
/// Told to the model if the client cannot ask a person.
const UNASKED: &str = "This client could not ask a person.";
/// What a person can answer.
const ONCE: &str = "once";
const ALWAYS: &str = "always";
const DENY: &str = "deny";

/// A question as the form that a client shows.
#[derive(Clone, Debug)]
struct Form {
    /// The question in words.
    text: String,
    /// Whether it may be allowed for good.
    may_keep: bool,
    /// What tells the question from every other, also where the words are the same.
    digest: Digest,
}

/// A question on its way.
#[derive(Debug)]
struct Asked {
    form: Form,
    answer: oneshot::Sender<Decision>,
}

/// Answers the questions of one call.
#[derive(Debug)]
pub(super) struct Person {
    questions: mpsc::Receiver<Asked>,
    means: Means,
    /// What the call ends with, because only another one can have the answer. Whoever asked goes on waiting: a
    /// question that is open is not one that nobody answers.
    open: Option<(InputRequiredResult, Asked)>,
    /// Whether somebody should have been asked, and nobody could be.
    is_missed: bool,
}

/// How a client can be asked.
#[derive(Debug)]
enum Means {
    /// Not at all.
    None,
    /// While the call waits.
    Waiting,
    /// By ending the call; this one may have an answer to the question of an earlier one.
    Again { state: Option<String>, decision: Option<Decision> },
}

impl Person {
    /// Returns the person of a call, and the prompter that asks them.
    pub(super) fn of(
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> (Self, ClientPrompter) {
        let capabilities = context.client_capabilities();
        let elicits = capabilities.and_then(|it| it.elicitation);
        // A client that names no mode has forms: they are the older one.
        let has_forms = elicits.is_some_and(|it| it.form.is_some() || it.url.is_none());
        let version = context.protocol_version();
        let is_new =
            version.is_some_and(|it| it.as_str() >= ProtocolVersion::V_2026_07_28.as_str());
        let means = match (has_forms, is_new) {
            (false, _) => Means::None,
            (true, false) => Means::Waiting,
            (true, true) => Means::Again {
                state: request.request_state.clone(),
                decision: request.input_responses.as_ref().and_then(|it| {
                    let answer: ElicitResult = serde_json::from_value(it.get(KEY)?.clone()).ok()?;
                    Some(decision(&answer))
                }),
            },
        };
        let (sender, questions) = mpsc::channel(1);
        (Self { questions, means, open: None, is_missed: false }, ClientPrompter(sender))
    }

    /// Answers until there is a question that only another call can have the answer to: this one is to be stopped.
    pub(super) async fn answer(&mut self, visit: &Visit, context: &RequestContext<RoleServer>) {
        while let Some(asked) = self.questions.recv().await {
            match &mut self.means {
                // Whoever asked knows by this that nobody answers.
                Means::None => self.is_missed = true,
                Means::Waiting => match elicited(&asked.form, context).await {
                    Some(decision) => {
                        let _gone = asked.answer.send(decision);
                    }
                    None => self.is_missed = true,
                },
                Means::Again { state, decision } => {
                    let digest = asked.form.digest;
                    let is_meant = |name: String| visit.close_question(&name, digest);
                    match (decision.take(), state.take().is_some_and(is_meant)) {
                        (Some(decision), true) => {
                            let _gone = asked.answer.send(decision);
                        }
                        _ => {
                            let state = visit.open_question(digest);
                            self.open = Some((question(&asked.form, state), asked));
                            return;
                        }
                    }
                }
            }
        }
        std::future::pending().await
    }

    /// What the call ends with instead of its result, if a question is open.
    pub(super) fn open(&mut self) -> Option<CallToolResponse> {
        self.open.take().map(|(question, _)| CallToolResponse::InputRequired(question))
    }

    /// Returns what the model is told if the client could not ask a person, with the advice of the front end.
    pub(super) fn unasked(&self, advice: Option<&str>) -> Option<String> {
        self.is_missed.then(|| unasked_text(advice))
    }
}

/// Asks the person at the client whose call is answered. The questions go to the task that holds the request.
#[derive(Debug)]
pub(super) struct ClientPrompter(mpsc::Sender<Asked>);

#[async_trait]
impl Prompter for ClientPrompter {
    async fn ask(&self, question: &Question) -> Option<Decision> {
        let sheet = question.shown().ok()?;
        // What cannot be told from another question could be taken for it.
        let Some(digest) = question.digest() else { return Some(Decision::Deny) };
        let form = Form { text: sheet.to_string(), may_keep: sheet.may_keep, digest };
        let (answer, answered) = oneshot::channel();
        self.0.send(Asked { form, answer }).await.ok()?;
        answered.await.ok()
    }
}

fn unasked_text(advice: Option<&str>) -> String {
    match advice {
        Some(advice) => format!("{UNASKED} {advice}"),
        None => UNASKED.to_owned(),
    }
}

/// Asks while the call waits.
async fn elicited(asked: &Form, context: &RequestContext<RoleServer>) -> Option<Decision> {
    let request = ServerRequest::ElicitRequest(form(asked));
    let options = PeerRequestOptions::with_timeout(PATIENCE);
    let sent = context.peer.send_request_with_option(request, options).await.ok()?;
    match sent.await_response().await.ok()? {
        ClientResult::ElicitResult(answer) => Some(decision(&answer)),
        _ => None,
    }
}

/// What is asked when the call ends.
fn question(asked: &Form, state: String) -> InputRequiredResult {
    let requests = [(KEY.to_owned(), InputRequest::Elicitation(form(asked)))].into();
    InputRequiredResult::new(Some(requests), Some(state))
}

fn form(asked: &Form) -> ElicitRequest {
    let mut words = vec![(ONCE, "Allow once"), (DENY, "Deny")];
    if asked.may_keep {
        words.insert(1, (ALWAYS, "Allow always, exactly this"));
    }
    let (values, titles): (Vec<_>, Vec<_>) =
        words.into_iter().map(|(value, title)| (value.to_owned(), title.to_owned())).unzip();
    let schema = EnumSchema::builder(values).title("Decision");
    let schema = schema.enum_titles(titles).expect("there are as many titles as values").build();
    let properties =
        [(FIELD.to_owned(), PrimitiveSchemaDefinition::Enum(schema))].into_iter().collect();
    let schema = ElicitationSchema::new(properties).with_required(vec![FIELD.to_owned()]);
    ElicitRequest::new(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: asked.text.clone(),
        requested_schema: schema,
    })
}

/// What a person decided. Whatever is not a clear yes is a no.
fn decision(answer: &ElicitResult) -> Decision {
    let word = answer.content.as_ref().and_then(|it| it.get(FIELD)).and_then(Value::as_str);
    match (&answer.action, word) {
        (ElicitationAction::Accept, Some(ONCE)) => Decision::Once,
        (ElicitationAction::Accept, Some(ALWAYS)) => Decision::Always,
        _ => Decision::Deny,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_advice_of_the_front_end_follows_what_the_client_could_not_do() {
        assert_eq!(unasked_text(None), "This client could not ask a person.");
        let advised = unasked_text(Some("Ask again tomorrow."));
        assert_eq!(advised, "This client could not ask a person. Ask again tomorrow.");
    }
}
