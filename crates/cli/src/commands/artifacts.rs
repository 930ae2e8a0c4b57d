//! `metier artifacts`.

use std::io::Write;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use metier_workspace::artifact::{
    ArtifactKey, ArtifactRef, ArtifactStore, DirectoryStore, Owner, VersionInfo,
};
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;

use super::shown::Shown;
use crate::args::{ArtifactsArgs, ArtifactsCommand};
use crate::context::Context;
use crate::failure::{Failure, OK};
use crate::output::{Align, Column, Table, counted, kind, plain, size, style};
use crate::wait::block_on;
use metier_app::state::replacement::Replacement;

/// Bytes that are copied at a time.
const CHUNK: usize = 64 << 10;

/// Does what was asked with artifacts.
pub(super) fn run(arguments: &ArtifactsArgs, context: &Context) -> Result<u8, Failure> {
    // Artifacts outlive the workspace of their session.
    let named = arguments.session.as_deref();
    let named = named.map(|session| context.app.bare_workspace_key(session));
    let key = named.map_or_else(|| context.session(None), Ok)?;
    let (store, owner) = (context.app.artifacts()?, Owner::of(&key)?);
    let is_known = context.session(Some(&key.session)).map(|_| ());
    let json = match arguments.command {
        ArtifactsCommand::Get { .. } => false,
        ArtifactsCommand::List { json }
        | ArtifactsCommand::Versions { json, .. }
        | ArtifactsCommand::Rm { json, .. } => json,
    };
    let asked = Asked { context, store, owner, session: key.session, json };
    block_on(async {
        match &arguments.command {
            ArtifactsCommand::List { .. } => asked.list(is_known).await,
            ArtifactsCommand::Get { name, output } => asked.get(name, output.as_deref()).await,
            ArtifactsCommand::Versions { name, .. } => asked.versions(name).await,
            ArtifactsCommand::Rm { name, .. } => asked.remove(name).await,
        }
    })
}

/// Where the bytes of an artifact go.
enum Target<'a> {
    File(&'a Path, Replacement),
    Shown(Shown),
}

struct Asked<'a> {
    context: &'a Context,
    store: DirectoryStore,
    owner: Owner,
    session: String,
    json: bool,
}

impl Asked<'_> {
    /// Lists them; where there are none, the session should at least be known.
    async fn list(&self, is_known: Result<(), Failure>) -> Result<u8, Failure> {
        let mut listed = Vec::new();
        for scope in [self.owner.session_scope(), self.owner.user_scope()] {
            listed.extend(self.store.list(&scope).await?);
        }
        if listed.is_empty() {
            is_known?;
        }
        if self.json {
            let values = listed.iter().map(|it| {
                let mut value = described(&it.newest);
                value["name"] = json!(it.name);
                value["versions"] = json!(it.versions);
                value
            });
            self.context.output.json(&values.collect::<Vec<Value>>());
            return Ok(OK);
        }
        let mut table = Table::new(&[
            column("NAME", Align::Left, true),
            column("VERSION", Align::Right, false),
            column("SIZE", Align::Right, false),
            column("TYPE", Align::Left, false),
        ]);
        for it in &listed {
            table.row(vec![
                (style::NAME, plain(&it.name)),
                (style::DIM, it.newest.version.to_string()),
                (style::DIM, size(it.newest.size)),
                (style::DIM, plain(kind(&it.newest.mime_type))),
            ]);
        }
        if !listed.is_empty() {
            self.context.output.print(&table.render(self.context.output.width()));
        }
        let (count, session) = (counted(listed.len(), "artifact"), plain(&self.session));
        self.context.output.say(&format!("{count} · session {session}"));
        Ok(OK)
    }

    async fn versions(&self, name: &str) -> Result<u8, Failure> {
        let (key, _) = self.key(name)?;
        let versions = self.store.versions(&key).await?;
        if versions.is_empty() {
            return Err(Failure::new(format!("there is no artifact `{name}`"))
                .hint("`metier artifacts list` shows those there are"));
        }
        if self.json {
            self.context.output.json(&versions.iter().map(described).collect::<Vec<Value>>());
            return Ok(OK);
        }
        let mut table = Table::new(&[
            column("VERSION", Align::Right, false),
            column("SIZE", Align::Right, false),
            column("BLAKE3", Align::Left, true),
        ]);
        for version in &versions {
            table.row(vec![
                (style::NAME, version.version.to_string()),
                (style::DIM, size(version.size)),
                (style::DIM, version.digest.clone()),
            ]);
        }
        self.context.output.print(&table.render(self.context.output.width()));
        Ok(OK)
    }

    async fn get(&self, name: &str, to: Option<&Path>) -> Result<u8, Failure> {
        let (key, version) = self.key(name)?;
        let loaded = self.store.load(&key, version).await;
        let mut loaded = loaded?;
        let unread = |error| Failure::new(format!("cannot read the artifact `{name}`: {error}"));
        let unwritten = |path: &Path, error| {
            Failure::new(format!("cannot write to `{}`: {error}", path.display()))
                .hint("name a file in a folder that is there and that you can write to")
        };
        let mut target = match to {
            Some(path) => {
                let file = Replacement::begin(path).map_err(|error| unwritten(path, error))?;
                Target::File(path, file)
            }
            None => Target::Shown(Shown::new(None)),
        };
        let working = to.map(|_| self.context.output.working(&format!("copying {name}")));
        let mut chunk = vec![0; CHUNK];
        loop {
            let count = loaded.content.read(&mut chunk).await.map_err(unread)?;
            if count == 0 {
                break;
            }
            let chunk = &chunk[..count];
            match &mut target {
                Target::File(path, file) => {
                    file.write_all(chunk).map_err(|error| unwritten(path, error))?;
                }
                Target::Shown(shown) => {
                    if !shown.take(chunk) {
                        return Ok(OK);
                    }
                }
            }
        }
        drop(working);
        match target {
            Target::Shown(shown) => shown.end(),
            Target::File(path, file) => {
                file.end().map_err(|error| unwritten(path, error))?;
                let (size, path) = (size(loaded.info.size), path.display());
                self.context.output.say(&format!("{size} written to {path}"));
            }
        }
        Ok(OK)
    }

    async fn remove(&self, name: &str) -> Result<u8, Failure> {
        let (key, version) = self.key(name)?;
        self.store.delete(&key, version).await?;
        if self.json {
            let name = name.strip_prefix("artifact://").unwrap_or(name);
            let name = name.rsplit_once('@').map_or(name, |(name, _)| name);
            self.context.output.json(&json!({ "name": name, "version": version }));
            return Ok(OK);
        }
        self.context.output.say(&format!("removed {}", plain(name)));
        Ok(OK)
    }

    /// The key for `NAME` or `NAME@VERSION`, with or without `artifact://`.
    fn key(&self, name: &str) -> Result<(ArtifactKey, Option<u64>), Failure> {
        let name = name.strip_prefix("artifact://").unwrap_or(name);
        let reference = ArtifactRef::parse(&format!("artifact://{name}")).map_err(Failure::from)?;
        Ok((reference.key(&self.owner), reference.version()))
    }
}

fn column(heading: &'static str, align: Align, fills: bool) -> Column {
    Column { heading, align, fills }
}

fn described(version: &VersionInfo) -> Value {
    json!({
        "version": version.version,
        "size_bytes": version.size,
        "mime_type": version.mime_type,
        "digest": version.digest,
        "created": seconds(version.created),
    })
}

fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}
