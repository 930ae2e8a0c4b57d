//! The server: what another agent is told, and what its requests do.
//!
//! One [`Server`] answers one client, in its [`Visit`]. This file says what the server can do and passes requests on:
//!
//! - `tools` calls tools, and `progress` tells what commands print meanwhile;
//! - `resources` has the files of skills and artifacts under an `address`, `extension` the skills as wholes;
//! - `prompts` has the skills that people start, with arguments from a `hint`;
//! - `person` asks whoever is at the client;
//! - `complete` goes on with what a person types;
//! - `changes` tells a client that something is not what it was.
//!
//! Whatever reads files does so where nobody else waits for it.

mod address;
mod changes;
mod complete;
mod extension;
mod hint;
mod instructions;
mod page;
mod person;
mod progress;
mod prompts;
mod resources;
mod tools;

use std::sync::{Arc, Mutex, PoisonError};

use metier_agent::tools::specs::name;
use metier_agent::visit::Visit;
use metier_mcp::skills::SKILLS_EXTENSION;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CustomRequest,
    CustomResult, DiscoverResult, GetPromptRequestParams, GetPromptResponse, Implementation,
    InitializeRequestParams, InitializeResult, JsonObject, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities,
    SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext};
use rmcp::{ErrorData, ServerHandler};
use serde::Serialize;
use serde_json::json;
use tokio::task::AbortHandle;

use self::changes::{Known, MAX_SUBSCRIPTIONS, Subscribed, Way};
use self::resources::Look;
use crate::mcp::calls::RequestShare;
use crate::mcp::memory::AnswerMemory;

pub use changes::Bell;

/// Answers the requests of one client.
#[derive(Clone, Debug)]
pub struct Server {
    visit: Arc<Visit>,
    bell: Bell,
    approval_advice: Option<Arc<str>>,
    /// What the client was told when it connected.
    told: Arc<Mutex<Option<Known>>>,
    subscribed: Subscribed,
    announcing: Arc<Mutex<Announcing>>,
}

/// The task that tells of changes; it ends with the server.
#[derive(Debug, Default)]
struct Announcing(Option<AbortHandle>);

impl Drop for Announcing {
    fn drop(&mut self) {
        if let Some(task) = &self.0 {
            task.abort();
        }
    }
}

impl Server {
    /// A server for one client.
    pub fn new(visit: Arc<Visit>) -> Self {
        Self {
            visit,
            bell: Bell::default(),
            approval_advice: None,
            told: Arc::default(),
            subscribed: Subscribed::default(),
            announcing: Arc::default(),
        }
    }

    /// Listens to a bell that is rung when skills change.
    #[must_use]
    pub fn with_bell(self, bell: Bell) -> Self {
        Self { bell, ..self }
    }

    /// Sets the sentence that advises what to do when a command needs approval and the client cannot ask a person.
    ///
    /// It follows the error that a model reads, and names what the front end offers for it.
    #[must_use]
    pub fn with_approval_advice(self, advice: &str) -> Self {
        Self { approval_advice: Some(advice.into()), ..self }
    }

    /// Remembers what the client is told now.
    fn tell(&self) {
        let known = Known::now(&self.visit, &self.bell);
        *self.told.lock().unwrap_or_else(PoisonError::into_inner) = Some(known);
    }

    /// What the client was told.
    fn told(&self) -> Option<Known> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What the client knows: if it was told nothing, what it can look at now.
    fn known(&self) -> Known {
        self.told().unwrap_or_else(|| Known::now(&self.visit, &self.bell))
    }

    /// Tells a client what changes, until it is gone.
    fn announce(&self, way: Way, known: Known) -> impl Future<Output = ()> + use<> {
        changes::announce(Arc::clone(&self.visit), self.bell.clone(), way, known)
    }

    /// What became of skills since the client was told of them, in words; nothing if they are the same.
    fn news(&self) -> Option<String> {
        let changes = self.visit.snapshot().changes_since(&self.told()?.skills);
        (!changes.changes.is_empty()).then(|| changes.to_string().trim_end().to_owned())
    }
}

fn cursor(request: Option<&PaginatedRequestParams>) -> Option<&str> {
    request.and_then(|request| request.cursor.as_deref())
}

/// Refuses a cursor for a list that is never more than a page.
fn on_one_page(request: Option<&PaginatedRequestParams>) -> Result<(), ErrorData> {
    match cursor(request) {
        Some(_) => Err(ErrorData::invalid_params("no cursor was given here: it is one page", None)),
        None => Ok(()),
    }
}

/// Returns the memory that an answer may take; over pipes it is not counted.
fn memory_of(context: &RequestContext<RoleServer>) -> Option<AnswerMemory> {
    RequestShare::of(&context.extensions).map(|share| share.memory.clone())
}

/// Counts an answer against the memory that its token may take.
fn within_memory<T: Serialize>(
    answer: T,
    context: &RequestContext<RoleServer>,
) -> Result<T, ErrorData> {
    match memory_of(context).map(|memory| memory.hold_answer(&answer)) {
        Some(Err(error)) => Err(ErrorData::invalid_request(error.to_string(), None)),
        Some(Ok(())) | None => Ok(answer),
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> InitializeResult {
        let mut directory_read = JsonObject::new();
        directory_read.insert("directoryRead".to_owned(), json!(true));
        let capabilities = ServerCapabilities::builder()
            .enable_completions()
            .enable_extensions_with([(SKILLS_EXTENSION.to_owned(), directory_read)].into())
            .enable_prompts()
            .enable_prompts_list_changed()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_resources_subscribe()
            .enable_tools()
            .enable_tool_list_changed()
            .build();
        let about = Implementation::new("metier", env!("CARGO_PKG_VERSION"))
            .with_title("metier")
            .with_description("A runtime for Agent Skills");
        InitializeResult::new(capabilities)
            .with_server_info(about)
            .with_instructions(instructions::instructions(&self.visit.snapshot()))
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        self.tell();
        context.peer.set_peer_info(request.clone());
        self.negotiate_initialize(&request)
    }

    async fn discover(&self, _: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        self.tell();
        let versions = self.supported_protocol_versions().into_owned();
        Ok(DiscoverResult::from_server_info(versions, self.get_info()))
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let way = Way::Unasked(context.peer, self.subscribed.clone());
        let task = tokio::spawn(self.announce(way, self.known())).abort_handle();
        let mut current = self.announcing.lock().unwrap_or_else(PoisonError::into_inner);
        *current = Announcing(Some(task));
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        on_one_page(request.as_ref())?;
        let tools = tools::list(&self.visit, self.news().as_deref()).await;
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let may_make = request.name == name::RUN;
        let advice = self.approval_advice.as_deref();
        let result = tools::call(&self.visit, request, &context, advice).await;
        if may_make {
            self.bell.ring_for_artifacts();
        }
        result.map(|answer| tools::within_memory(answer, &context))
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let listed = resources::list(&self.visit, cursor(request.as_ref())).await?;
        within_memory(listed, &context)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        on_one_page(request.as_ref())?;
        Ok(resources::templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let memory = memory_of(&context);
        let read = resources::read(&self.visit, &request.uri, memory).await?;
        within_memory(read, &context).map(ReadResourceResponse::from)
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let listed = prompts::list(&self.visit.snapshot(), cursor(request.as_ref()))?;
        within_memory(listed, &context)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let prompt = prompts::get(&self.visit, request).await?;
        within_memory(prompt, &context).map(GetPromptResponse::from)
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        complete::complete(&self.visit, request).await
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let CustomRequest { method, params, .. } = request;
        let version = context.protocol_version();
        let has_session = version.is_none_or(|it| it < ProtocolVersion::V_2026_07_28);
        let answer = extension::answer(&self.visit, &method, params, has_session).await?;
        within_memory(answer, &context).map(CustomResult::new)
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let state = Look::at(&self.visit).state_of(&request.uri).await;
        let state = state.ok_or_else(|| resources::unknown(&request.uri, "nothing is there"))?;
        self.subscribed.add(request.uri, state)
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.subscribed.remove(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        // What is not acknowledged is not watched, and the client knows.
        let mut accepted = requested.clone();
        if let Some(uris) = &mut accepted.resource_subscriptions {
            uris.truncate(MAX_SUBSCRIPTIONS);
        }
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        // First: whatever changes while the states are read is told.
        let known = self.known();
        let way = Way::asked(context.sink().clone(), &self.visit).await;
        tokio::select! {
            () = self.announce(way, known) => {}
            () = context.cancelled() => {}
        }
        Ok(())
    }
}
