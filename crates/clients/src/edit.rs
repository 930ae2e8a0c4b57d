//! Plans of changes to the file of a client.
//!
//! A plan is made from the file as it is, shown to a person, and applied only if the file is still the same.

use std::fmt;

use serde_json::Value;

use crate::diff::{EntryDiff, EntryText, entry_diff};
use crate::entry::ServerEntry;
use crate::error::ClientConfigError;
use crate::file::{ClientFile, ClientFileLocation};
use crate::format::find;

/// The plan of adding an entry to a file.
#[derive(Debug)]
pub struct AdditionPlan {
    /// The keys that lead to the entry, the outermost first.
    pub key_path: Vec<String>,
    /// The entry as a file has it that has nothing else.
    pub snippet: String,
    edit: Result<Option<ClientEdit>, ClientConfigError>,
}

impl AdditionPlan {
    /// Returns the change; `None` if the entry is there already.
    ///
    /// # Errors
    ///
    /// When the file is not understood.
    pub fn into_edit(self) -> Result<Option<ClientEdit>, ClientConfigError> {
        self.edit
    }
}

/// A change of one entry in the file of a client, not yet made.
pub struct ClientEdit {
    file: ClientFile,
    old_text: Option<String>,
    new_text: String,
    diff: EntryDiff,
}

// The texts may hold keys of other servers.
impl fmt::Debug for ClientEdit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ClientEdit")
            .field("location", self.location())
            .finish_non_exhaustive()
    }
}

impl ClientFile {
    /// Plans to add an entry, or to replace the one of the same name. What people added to that one stays.
    ///
    /// # Errors
    ///
    /// When the file cannot be read. That it is not understood is part of the plan.
    pub fn plan_addition(&self, entry: &ServerEntry) -> Result<AdditionPlan, ClientConfigError> {
        let format = self.client.format;
        let old_text = self.read()?;
        let old = old_text.as_deref().unwrap_or_default();
        let document = format.read(old);
        let path = self.client.entry_path(document.as_ref().unwrap_or(&Value::Null), &entry.name);
        let snippet = format.set("", &path, &entry.value).unwrap_or_default();
        let edit = if document.is_some_and(|it| format.has(&it, &path, &entry.value)) {
            Ok(None)
        } else {
            match format.renew(old, &path, &entry.value, entry.other_keys) {
                Some(new) => Ok(Some(self.edit(old_text, new, &path))),
                None => Err(ClientConfigError::AdditionNotUnderstood {
                    location: self.location.clone(),
                }),
            }
        };
        let key_path = path.iter().map(|key| (*key).to_owned()).collect();
        Ok(AdditionPlan { key_path, snippet, edit })
    }

    /// Plans to remove the entry of a name; `None` if there is none.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or is not understood.
    pub fn plan_removal(&self, name: &str) -> Result<Option<ClientEdit>, ClientConfigError> {
        let format = self.client.format;
        let not_understood = || ClientConfigError::RemovalNotUnderstood {
            location: self.location.clone(),
            name: name.to_owned(),
        };
        let Some(old) = self.read()? else { return Ok(None) };
        let document = format.read(&old).ok_or_else(not_understood)?;
        let path = self.client.entry_path(&document, name);
        if find(&document, &path).is_none() {
            return Ok(None);
        }
        let new = format.remove(&old, &path).ok_or_else(not_understood)?;
        Ok(Some(self.edit(Some(old), new, &path)))
    }

    fn edit(&self, old_text: Option<String>, new_text: String, path: &[&str]) -> ClientEdit {
        let format = self.client.format;
        let side = |text| EntryText { text, places: format.places(text, path) };
        let diff = entry_diff(&side(old_text.as_deref().unwrap_or_default()), &side(&new_text));
        ClientEdit { file: self.clone(), old_text, new_text, diff }
    }
}

impl ClientEdit {
    /// Returns where the file is.
    #[must_use]
    pub fn location(&self) -> &ClientFileLocation {
        self.file.location()
    }

    /// Returns the whole text as it is; `None` if there is no file.
    #[must_use]
    pub fn old_text(&self) -> Option<&str> {
        self.old_text.as_deref()
    }

    /// Returns the whole text as it will be.
    #[must_use]
    pub fn new_text(&self) -> &str {
        &self.new_text
    }

    /// Returns the changed lines of the entry, and none of other servers.
    #[must_use]
    pub fn diff(&self) -> &EntryDiff {
        &self.diff
    }

    /// Writes the file.
    ///
    /// # Errors
    ///
    /// When it has changed since the plan was made, or cannot be written.
    pub fn apply(&self) -> Result<(), ClientConfigError> {
        // Clients write to their files too, and a person takes time to answer.
        if self.file.read()? != self.old_text {
            return Err(ClientConfigError::Changed { location: self.location().clone() });
        }
        self.file.write(&self.new_text)
    }
}
