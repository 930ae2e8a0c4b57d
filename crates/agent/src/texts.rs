//! The text of skills, by the digest of the tree it is in.
//!
//! Requests never read a skill's own folder: what a model was shown once must come out the same after
//! the skill was edited, removed, or the program started again. So texts are read from the staged copy
//! of a tree, which nobody changes. That is also why a text that was read once may be remembered.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use metier_skill::files;
use metier_skill::header::{self, ReadOptions, WithoutHeader};
use metier_workspace::Workspaces;
use thiserror::Error;

/// Bytes of texts that are remembered: the bodies and docs of a long session, and no more.
const MAX_REMEMBERED: usize = 8 << 20;
/// The file with the instructions of a skill.
pub(crate) const INSTRUCTIONS: &str = "SKILL.md";

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

/// Texts of staged trees. Clones remember together.
#[derive(Clone, Debug)]
pub struct StagedTexts {
    workspaces: Workspaces,
    remembered: TextMemory,
}

/// Texts that were read before, up to a number of bytes. Clones remember together.
#[derive(Clone, Debug)]
pub struct TextMemory(Arc<Mutex<Remembered>>);

impl Default for TextMemory {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Remembered::new(MAX_REMEMBERED))))
    }
}

impl StagedTexts {
    /// Texts of the trees that workspaces share, remembered there.
    pub fn new(workspaces: Workspaces, remembered: TextMemory) -> Self {
        Self { workspaces, remembered }
    }

    /// The instructions of a skill.
    ///
    /// # Errors
    ///
    /// When the tree or its `SKILL.md` is not there.
    pub fn body(&self, skill: &str, digest: &str) -> Result<String, TextError> {
        self.text((skill, digest, INSTRUCTIONS), || {
            let file = self.tree(skill, digest)?.join(INSTRUCTIONS);
            let bytes = std::fs::read(file).map_err(missing(skill, INSTRUCTIONS))?;
            Ok(body_of(&bytes))
        })
    }

    /// A doc of a skill.
    ///
    /// # Errors
    ///
    /// When the tree is not there or has no such doc.
    pub fn doc(&self, skill: &str, digest: &str, path: &str) -> Result<String, TextError> {
        self.text((skill, digest, path), || {
            let tree = files::list(&self.tree(skill, digest)?)
                .map_err(|error| missing(skill, path)(io::Error::other(error)))?;
            tree.read_doc(path).map(|doc| doc.text).map_err(missing(skill, path))
        })
    }

    /// The paths of all docs of a skill, in order.
    ///
    /// # Errors
    ///
    /// When the tree is not there.
    pub fn docs(&self, skill: &str, digest: &str) -> Result<Vec<String>, TextError> {
        let tree = files::list(&self.tree(skill, digest)?)
            .map_err(|error| missing(skill, "docs")(io::Error::other(error)))?;
        Ok(tree.docs().map(|doc| doc.path.clone()).collect())
    }

    /// A text that was read before, or is now.
    fn text(
        &self,
        (skill, digest, path): (&str, &str, &str),
        read: impl FnOnce() -> Result<String, TextError>,
    ) -> Result<String, TextError> {
        let key = [skill, digest, path].map(str::to_owned);
        let lock = || self.remembered.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(text) = lock().texts.get(&key) {
            return Ok(text.clone());
        }
        let text = read()?;
        lock().put(key, &text);
        Ok(text)
    }

    fn tree(&self, skill: &str, digest: &str) -> Result<PathBuf, TextError> {
        let gone = || missing(skill, digest)(io::ErrorKind::NotFound.into());
        self.workspaces.staged(skill, digest).ok_or_else(gone)
    }
}

fn missing<'a>(skill: &'a str, what: &'a str) -> impl FnOnce(io::Error) -> TextError + 'a {
    move |source| TextError { skill: skill.to_owned(), what: what.to_owned(), source }
}

/// The skill, the digest of its tree, and the path in it.
type Key = [String; 3];

/// Texts that were read, up to a number of bytes; the oldest make room.
#[derive(Debug)]
struct Remembered {
    most: usize,
    bytes: usize,
    texts: HashMap<Key, String>,
    /// Oldest first.
    order: VecDeque<Key>,
}

impl Remembered {
    fn new(most: usize) -> Self {
        Self { most, bytes: 0, texts: HashMap::new(), order: VecDeque::new() }
    }

    fn put(&mut self, key: Key, text: &str) {
        if text.len() > self.most || self.texts.contains_key(&key) {
            return;
        }
        self.bytes += text.len();
        self.texts.insert(key.clone(), text.to_owned());
        self.order.push_back(key);
        while self.bytes > self.most
            && let Some(oldest) = self.order.pop_front()
        {
            self.bytes -= self.texts.remove(&oldest).map_or(0, |text| text.len());
        }
    }
}

/// The instructions below the header of a `SKILL.md`.
pub fn body_of(bytes: &[u8]) -> String {
    let (text, _) = header::decode(bytes);
    let options = ReadOptions { folder: None, without_header: WithoutHeader::FirstParagraph };
    let reading = header::read(&text, &options);
    reading.body.slice(&text).trim_start_matches(['\r', '\n']).to_owned()
}

#[cfg(test)]
mod tests {
    use metier_skill::files::DigestCache;
    use metier_workspace::stage::stage;

    use super::*;
    use crate::library::read_tree;

    #[test]
    fn a_text_that_was_read_once_is_not_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("pdf")).unwrap();
        std::fs::write(at("pdf/SKILL.md"), "---\nname: pdf\ndescription: x\n---\n\nBody.\n")
            .unwrap();
        std::fs::write(at("pdf/forms.md"), "Forms.\n").unwrap();
        std::fs::write(at("pdf/tables.md"), "Tables.\n").unwrap();
        let workspaces = Workspaces::open(&at("workspaces"), &at("content")).unwrap();
        let tree = read_tree("pdf", &at("pdf"), &DigestCache::in_memory()).unwrap();
        stage(&workspaces, &tree).unwrap();
        let texts = StagedTexts::new(workspaces, TextMemory::default());
        let body = || texts.body("pdf", &tree.digest).unwrap();
        let doc = |path: &str| texts.doc("pdf", &tree.digest, path);
        assert_eq!((body(), doc("forms.md").unwrap()), ("Body.\n".into(), "Forms.\n".into()));
        std::fs::rename(at("content"), at("elsewhere")).unwrap();
        assert_eq!((body(), doc("forms.md").unwrap()), ("Body.\n".into(), "Forms.\n".into()));
        // What was never read, or is another version, is not there.
        assert!(doc("tables.md").is_err());
        assert!(texts.body("pdf", "another").is_err());
    }

    #[test]
    fn texts_beyond_the_bound_are_forgotten_the_oldest_first() {
        let key = |name: &str| ["s", "d", name].map(str::to_owned);
        let mut texts = Remembered::new(10);
        for name in ["a", "b", "c"] {
            texts.put(key(name), "1234");
            texts.put(key(name), "1234");
        }
        texts.put(key("large"), "12345678901");
        let names: Vec<&str> = texts.order.iter().map(|key| key[2].as_str()).collect();
        assert_eq!((names, texts.bytes, texts.texts.len()), (vec!["b", "c"], 8, 2));
    }
}
