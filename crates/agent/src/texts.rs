//! The text of skills, by the digest of the tree it is in.
//!
//! Requests never read a skill's own folder: what a model was shown once must come out the same after
//! the skill was edited, removed, or the program started again. So texts are read from the staged copy
//! of a tree, which nobody changes.

use std::fmt;
use std::io;
use std::path::PathBuf;

use metier_skill::files;
use metier_skill::header::{self, ReadOptions, WithoutHeader};
use metier_workspace::Workspaces;
use thiserror::Error;

/// Where the text of skills comes from.
pub trait Texts: fmt::Debug + Send + Sync {
    /// The instructions of a skill.
    ///
    /// # Errors
    ///
    /// When the tree or its `SKILL.md` is not there.
    fn body(&self, skill: &str, digest: &str) -> Result<String, TextError>;

    /// A doc of a skill.
    ///
    /// # Errors
    ///
    /// When the tree is not there or has no such doc.
    fn doc(&self, skill: &str, digest: &str, path: &str) -> Result<String, TextError>;

    /// The paths of all docs of a skill, in order.
    ///
    /// # Errors
    ///
    /// When the tree is not there.
    fn docs(&self, skill: &str, digest: &str) -> Result<Vec<String>, TextError>;
}

/// Why a text is not to be had.
#[derive(Debug, Error)]
#[error("the text of `{skill}` ({what}) is no longer there")]
pub struct TextError {
    /// The skill.
    pub skill: String,
    /// Which text.
    pub what: String,
    /// Why.
    #[source]
    pub source: io::Error,
}

/// Texts of staged trees.
#[derive(Clone, Debug)]
pub struct StagedTexts(Workspaces);

impl StagedTexts {
    /// Texts of the trees that workspaces share.
    pub fn new(workspaces: Workspaces) -> Self {
        Self(workspaces)
    }

    fn tree(&self, skill: &str, digest: &str) -> Result<PathBuf, TextError> {
        let gone = || missing(skill, digest)(io::ErrorKind::NotFound.into());
        self.0.staged(skill, digest).ok_or_else(gone)
    }
}

fn missing<'a>(skill: &'a str, what: &'a str) -> impl FnOnce(io::Error) -> TextError + 'a {
    move |source| TextError { skill: skill.to_owned(), what: what.to_owned(), source }
}

impl Texts for StagedTexts {
    fn body(&self, skill: &str, digest: &str) -> Result<String, TextError> {
        let file = self.tree(skill, digest)?.join("SKILL.md");
        let bytes = std::fs::read(file).map_err(missing(skill, "SKILL.md"))?;
        Ok(body_of(&bytes))
    }

    fn doc(&self, skill: &str, digest: &str, path: &str) -> Result<String, TextError> {
        let tree = files::list(&self.tree(skill, digest)?)
            .map_err(|error| missing(skill, path)(io::Error::other(error)))?;
        tree.read_doc(path).map(|doc| doc.text).map_err(missing(skill, path))
    }

    fn docs(&self, skill: &str, digest: &str) -> Result<Vec<String>, TextError> {
        let tree = files::list(&self.tree(skill, digest)?)
            .map_err(|error| missing(skill, "docs")(io::Error::other(error)))?;
        Ok(tree.docs().map(|doc| doc.path.clone()).collect())
    }
}

/// The instructions below the header of a `SKILL.md`.
pub fn body_of(bytes: &[u8]) -> String {
    let (text, _) = header::decode(bytes);
    let options = ReadOptions { folder: None, without_header: WithoutHeader::FirstParagraph };
    let reading = header::read(&text, &options);
    reading.body.slice(&text).trim_start_matches(['\r', '\n']).to_owned()
}
