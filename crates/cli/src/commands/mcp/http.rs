//! `metier mcp --http`: where is listened, and with which token.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use metier_agent::visit::{Visit, Visits};
use metier_serve::mcp::http::{self, Guest, Options, PATH};
use metier_serve::mcp::server::Bell;
use metier_workspace::WorkspaceKey;
use tokio::net::TcpListener;

use super::reports::Reports;
use super::{server_of, token, told_to_stop};
use crate::args::HttpArgs;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::style;
use metier_app::sessions::new_session_id;

/// Serves at an address until it is told to stop. This process may have so many files open.
pub(super) async fn serve(
    address: SocketAddr,
    arguments: &HttpArgs,
    (context, reports): (&Context, &Reports),
    mut visitors: Visitors,
    open_files: Option<u64>,
) -> Result<(), Failure> {
    if !address.ip().is_loopback() && !arguments.allow_remote {
        return Err(Failure::usage(format!("`{address}` can be reached from other machines"))
            .hint("listen at 127.0.0.1, or add `--allow-remote` if that is what you want"));
    }
    let (tokens, origin) = token::tokens(arguments, context)?;
    // Tokens of a file that was named are for others, also when only one is left. The only one that metier finds by
    // itself is the person's own.
    let is_own = arguments.token_file.is_none() && tokens.len() == 1;
    visitors.holders = (!is_own).then(|| tokens.holders());
    let options = Options {
        tokens,
        hosts: arguments.allow_host.clone(),
        origins: arguments.allow_origin.clone(),
        open_files,
    };
    options.check_open_files().map_err(|error| {
        let hint = "raise it with `ulimit -n`, or name fewer tokens";
        Failure::new(error.to_string()).hint(hint)
    })?;
    let listener = TcpListener::bind(address).await.map_err(|error| {
        Failure::new(format!("cannot listen at `{address}`: {error}"))
            .hint("name an address of this machine and a free port; port 0 takes any")
    })?;
    let address = listener.local_addr().map_err(|error| Failure::of_system(&error))?;
    if !address.ip().is_loopback() {
        let text = "other machines can reach this server: whoever has the token can run commands \
                    here, and nothing that is sent is encrypted";
        reports.row(style::WARN, "warning: ", text);
    }
    if address.ip().is_unspecified() && arguments.allow_host.is_empty() {
        let text = "requests from other machines must name this one as `--allow-host` says, and it says nothing";
        reports.row(style::WARN, "warning: ", text);
    }
    reports.insist(&format!("listening at http://{address}{PATH}"));
    reports.say(&format!("token: {origin}"));
    let make = move |guest| server_of(visitors.visit(guest), visitors.bell.clone());
    http::serve(listener, options, make, told_to_stop()?).await.map_err(|error| {
        Failure::new(format!("serving at `{address}` ended: {error}"))
            .hint("start it again; if it ends again, name another address")
    })
}

/// Who visits: everybody with a session has a workspace of their own, and so has each token for requests without one.
pub(super) struct Visitors {
    visits: Arc<Visits>,
    /// The workspace of requests without a session, for the first token.
    key: WorkspaceKey,
    passing: Mutex<BTreeMap<usize, Arc<Visit>>>,
    /// Who has each token, unless the only one is the person's own: each has artifacts of its own that all its sessions share.
    holders: Option<Vec<String>>,
    /// Rung when skills change.
    bell: Bell,
}

impl Visitors {
    pub(super) fn new(visits: Arc<Visits>, key: WorkspaceKey, bell: Bell) -> Self {
        Self { visits, key, passing: Mutex::default(), holders: None, bell }
    }

    /// The key of a new session.
    fn fresh_key(&self) -> WorkspaceKey {
        WorkspaceKey { session: new_session_id(), generation: 0, ..self.key.clone() }
    }

    /// The key of a session of whoever has a token.
    fn owned_by(&self, token: usize, key: WorkspaceKey) -> WorkspaceKey {
        match &self.holders {
            Some(holders) => WorkspaceKey { user: format!("token-{}", holders[token]), ..key },
            None => key,
        }
    }

    fn visit(&self, guest: Guest) -> Arc<Visit> {
        let token = match guest {
            Guest::Session(token) | Guest::Passing(token) => token,
        };
        let new = |key| Visit::new(Arc::clone(&self.visits), self.owned_by(token, key));
        if let Guest::Session(_) = guest {
            return Arc::new(new(self.fresh_key()));
        }
        let mut passing = self.passing.lock().unwrap_or_else(PoisonError::into_inner);
        let visit = passing.entry(token).or_insert_with(|| {
            let key = if token == 0 { self.key.clone() } else { self.fresh_key() };
            Arc::new(new(key).forgetful())
        });
        Arc::clone(visit)
    }
}
