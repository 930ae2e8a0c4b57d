//! Telling a client that skills, files or artifacts are not what they were.
//!
//! Whoever notices rings a [`Bell`], and that says only what to look at. What is told comes of comparing what a client
//! was last told with what there is: clients of older versions are told as soon as they are there, those of newer
//! ones by the subscription that they asked for.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use metier_agent::visit::Visit;
use metier_skill::library::Snapshot;
use rmcp::ErrorData;
use rmcp::model::ResourceUpdatedNotificationParam;
use rmcp::service::{Peer, RoleServer, SubscriptionSink};
use tokio::sync::watch;

use super::resources::{self, Look};
use super::{address, prompts};

/// Most resources that one client may have an eye on.
pub(super) const MAX_SUBSCRIPTIONS: usize = 1000;

/// Rung when there may be something new.
#[derive(Clone, Debug, Default)]
pub struct Bell(watch::Sender<Rings>);

/// How often it was rung, and for what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Rings {
    skills: u64,
    artifacts: u64,
}

impl Bell {
    /// Skills, or files of skills, may have changed.
    pub fn ring_for_skills(&self) {
        self.0.send_modify(|rings| rings.skills += 1);
    }

    /// Artifacts may have been made.
    pub(super) fn ring_for_artifacts(&self) {
        self.0.send_modify(|rings| rings.artifacts += 1);
    }
}

/// The resources that a client has an eye on, each with what tells the state that it knows from another.
pub(super) type States = BTreeMap<String, Option<String>>;

/// Those of a client of an older version, which names them one by one.
#[derive(Clone, Debug, Default)]
pub(super) struct Subscribed(Arc<Mutex<States>>);

impl Subscribed {
    /// Adds one.
    ///
    /// # Errors
    ///
    /// When there are too many.
    pub(super) fn add(&self, uri: String, state: String) -> Result<(), ErrorData> {
        let mut uris = self.lock();
        if uris.len() >= MAX_SUBSCRIPTIONS && !uris.contains_key(&uri) {
            let message =
                format!("there are {MAX_SUBSCRIPTIONS} subscriptions, and no more may be");
            return Err(ErrorData::invalid_params(message, None));
        }
        uris.insert(uri, Some(state));
        Ok(())
    }

    pub(super) fn remove(&self, uri: &str) {
        self.lock().remove(uri);
    }

    fn lock(&self) -> MutexGuard<'_, States> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How a client is told.
#[derive(Debug)]
pub(super) enum Way {
    /// Without having asked, but for resources.
    Unasked(Peer<RoleServer>, Subscribed),
    /// As it subscribed.
    Asked(SubscriptionSink, States),
}

/// Something to tell.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Notice {
    Tools,
    Prompts,
    Resources,
    Updated(String),
}

impl Way {
    /// As a client subscribed.
    pub(super) async fn asked(sink: SubscriptionSink, visit: &Visit) -> Self {
        let (mut states, mut look) = (States::new(), Look::at(visit));
        for uri in sink.accepted().resource_subscriptions.iter().flatten() {
            states.insert(uri.clone(), look.state_of(uri).await);
        }
        Self::Asked(sink, states)
    }

    /// The resources to have an eye on.
    fn resources(&self) -> States {
        match self {
            Self::Unasked(_, subscribed) => subscribed.lock().clone(),
            Self::Asked(_, states) => states.clone(),
        }
    }

    /// Tells one thing; gives whether there is somebody to tell.
    async fn tell(&self, notice: Notice) -> bool {
        match self {
            Self::Unasked(peer, _) => {
                let told = match notice {
                    Notice::Tools => peer.notify_tool_list_changed().await,
                    Notice::Prompts => peer.notify_prompt_list_changed().await,
                    Notice::Resources => peer.notify_resource_list_changed().await,
                    Notice::Updated(uri) => {
                        peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri))
                            .await
                    }
                };
                told.is_ok() || !peer.is_transport_closed()
            }
            Self::Asked(sink, _) => {
                use rmcp::service::SubscriptionSendError::NotificationNotAccepted;
                let told = match notice {
                    Notice::Tools => sink.notify_tool_list_changed().await,
                    Notice::Prompts => sink.notify_prompt_list_changed().await,
                    Notice::Resources => sink.notify_resource_list_changed().await,
                    Notice::Updated(uri) => sink.notify_resource_updated(uri).await,
                };
                matches!(told, Ok(()) | Err(NotificationNotAccepted(_)))
            }
        }
    }
}

/// What a client knows when nobody has told it of changes yet.
#[derive(Clone, Debug)]
pub(super) struct Known {
    /// The skills.
    pub skills: Arc<Snapshot>,
    rings: Rings,
}

impl Known {
    /// What there is now.
    pub(super) fn now(visit: &Visit, bell: &Bell) -> Self {
        let rings = *bell.0.borrow();
        Self { skills: visit.snapshot(), rings }
    }
}

/// Tells a client what changes, until it is gone.
pub(super) async fn announce(visit: Arc<Visit>, bell: Bell, way: Way, known: Known) {
    let Known { skills, rings: mut rung } = known;
    let artifacts = resources::versions(&visit).await;
    let mut seen = Seen { skills, artifacts, states: States::new() };
    let mut rings = bell.0.subscribe();
    loop {
        let now = *rings.borrow_and_update();
        if now != rung {
            let is_new = now.skills != rung.skills;
            for notice in seen.compare(&visit, way.resources(), is_new).await {
                if !way.tell(notice).await {
                    return;
                }
            }
        }
        rung = now;
        if rings.changed().await.is_err() {
            return;
        }
    }
}

/// What a client was last told of.
#[derive(Debug)]
struct Seen {
    skills: Arc<Snapshot>,
    artifacts: Vec<(String, u64)>,
    states: States,
}

impl Seen {
    /// The resources that are not what they were; those of skills only if skills may have changed.
    async fn updated(&mut self, look: &mut Look<'_>, known: States, skills: bool) -> Vec<String> {
        self.states.retain(|uri, _| known.contains_key(uri));
        let mut updated = Vec::new();
        for (uri, known) in known {
            let before = self.states.remove(&uri).unwrap_or(known);
            let now = match skills || address::is_of_artifact(&uri) {
                true => look.state_of(&uri).await,
                false => before.clone(),
            };
            if before != now {
                updated.push(uri.clone());
            }
            self.states.insert(uri, now);
        }
        updated
    }

    async fn compare(&mut self, visit: &Visit, known: States, are_skills_new: bool) -> Vec<Notice> {
        let (skills, artifacts) = (visit.snapshot(), resources::versions(visit).await);
        let mut notices = Vec::new();
        if skills.fingerprint() != self.skills.fingerprint() {
            if !skills.changes_since(&self.skills).changes.is_empty() {
                notices.push(Notice::Tools);
            }
            if prompts::all(&skills) != prompts::all(&self.skills) {
                notices.push(Notice::Prompts);
            }
        }
        if are_skills_new || artifacts != self.artifacts {
            notices.push(Notice::Resources);
        }
        (self.skills, self.artifacts) = (skills, artifacts);
        let updated = self.updated(&mut Look::at(visit), known, are_skills_new).await;
        notices.extend(updated.into_iter().map(Notice::Updated));
        notices
    }
}
