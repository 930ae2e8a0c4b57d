//! What an artifact is called and whose it is.
//!
//! Each type can only be made from text that obeys its rules, so whoever holds one need not ask
//! again. Ids come from outside and may be anything; how they become file names is the business of
//! `encode`.

use std::fmt;

use super::ArtifactError;
use super::error::shown;
use crate::layout::WorkspaceKey;

/// Longest name in bytes. Paths of files that runs write are shorter.
const MAX_NAME_BYTES: usize = 1024;
/// Longest part of a name in bytes: what file systems take, so that a name can become a path.
const MAX_PART_BYTES: usize = 255;
/// Longest id in bytes. Ids are counters, addresses or digests, all far shorter.
const MAX_ID_BYTES: usize = 1024;
/// How the names of artifacts of a user begin.
const USER_PREFIX: &str = "user:";

/// Who works: an app, its user, and the session of that user.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Owner {
    app: String,
    user: String,
    session: String,
}

/// Whose artifacts: those of one session, or those of a user in all sessions.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Scope {
    app: String,
    user: String,
    session: Option<String>,
}

/// The name of an artifact: a path like `out/report.txt`, with `user:` before it if the artifact
/// belongs to the user rather than the session.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ArtifactName(String);

/// One artifact: whose it is, and its name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ArtifactKey {
    scope: Scope,
    name: ArtifactName,
}

impl Owner {
    /// An owner with these ids, which may be any text of 1 to 1024 bytes.
    ///
    /// # Errors
    ///
    /// When an id is empty or too long.
    pub fn new(app: &str, user: &str, session: &str) -> Result<Self, ArtifactError> {
        let owner = Self { app: id("app", app)?, user: id("user", user)?, session: String::new() };
        Ok(Self { session: id("session", session)?, ..owner })
    }

    /// The owner of the artifacts that runs in a workspace keep. All sessions of a name have the same.
    ///
    /// # Errors
    ///
    /// When an id is empty or too long.
    pub fn of(key: &WorkspaceKey) -> Result<Self, ArtifactError> {
        Self::new(&key.app, &key.user, &key.session)
    }

    /// What belongs to the session alone.
    pub fn session_scope(&self) -> Scope {
        Scope { session: Some(self.session.clone()), ..self.user_scope() }
    }

    /// What the user has in every session.
    pub fn user_scope(&self) -> Scope {
        Scope { app: self.app.clone(), user: self.user.clone(), session: None }
    }
}

impl Scope {
    /// The id of the app.
    pub fn app(&self) -> &str {
        &self.app
    }

    /// The id of the user.
    pub fn user(&self) -> &str {
        &self.user
    }

    /// The id of the session, unless this is what the user has in every session.
    pub fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }
}

impl ArtifactName {
    /// Judges a name.
    ///
    /// # Errors
    ///
    /// With the rule that the name breaks.
    pub fn parse(text: &str) -> Result<Self, ArtifactError> {
        match broken_rule(text) {
            Some(rule) => Err(ArtifactError::Name { name: shown(text), rule }),
            None => Ok(Self(text.to_owned())),
        }
    }

    /// The name, with `user:` if it has that.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether this names an artifact of the user rather than the session.
    pub fn is_of_user(&self) -> bool {
        self.0.starts_with(USER_PREFIX)
    }
}

impl fmt::Display for ArtifactName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl ArtifactKey {
    /// The artifact of this name, as the owner sees it.
    ///
    /// # Errors
    ///
    /// When the name breaks a rule.
    pub fn new(owner: &Owner, name: &str) -> Result<Self, ArtifactError> {
        Ok(Self::of(owner, ArtifactName::parse(name)?))
    }

    /// The artifact of a name that has been judged.
    pub fn of(owner: &Owner, name: ArtifactName) -> Self {
        let scope = if name.is_of_user() { owner.user_scope() } else { owner.session_scope() };
        Self { scope, name }
    }

    /// Whose it is.
    pub fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Its name, with `user:` if it has that.
    pub fn name(&self) -> &str {
        self.name.as_str()
    }
}

fn id(of: &'static str, text: &str) -> Result<String, ArtifactError> {
    let rule = match text.len() {
        0 => "it is empty",
        1..=MAX_ID_BYTES => return Ok(text.to_owned()),
        _ => "it is longer than 1024 bytes",
    };
    Err(ArtifactError::Id { of, rule })
}

fn broken_rule(text: &str) -> Option<&'static str> {
    let path = text.strip_prefix(USER_PREFIX).unwrap_or(text);
    let part = |wrong: fn(&str) -> bool| path.split('/').any(wrong);
    let rules = [
        (text.len() > MAX_NAME_BYTES, "it is longer than 1024 bytes"),
        (path.is_empty(), "it is empty"),
        (path.starts_with('/'), "it begins with a slash"),
        (path.contains('\\'), "it has a backslash; use slashes"),
        (path.contains(char::is_control), "it has a control character"),
        (part(str::is_empty), "it has an empty part or ends in a slash"),
        (part(|part| part == "." || part == ".."), "it has a part `.` or `..`"),
        (part(|part| part.len() > MAX_PART_BYTES), "it has a part longer than 255 bytes"),
    ];
    rules.into_iter().find_map(|(broken, rule)| broken.then_some(rule))
}
