//! The snapshot everybody uses, replaced only when something really changed.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use crate::library::{Change, Changes, Snapshot};

/// Names of one kind of change that a message lists; the rest is counted.
const MAX_NAMED: usize = 20;

/// The newest snapshot of a library.
#[derive(Debug)]
pub struct Published {
    current: Mutex<Arc<Snapshot>>,
}

impl Published {
    /// Publishes a first snapshot.
    pub fn new(first: Snapshot) -> Self {
        Self { current: Mutex::new(Arc::new(first)) }
    }

    /// The newest snapshot. Whoever holds it keeps seeing what it held.
    pub fn current(&self) -> Arc<Snapshot> {
        Arc::clone(&self.current.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Publishes a snapshot if it differs from the newest, under the next version. Gives what a
    /// model must be told, which may be nothing, or `None` if nothing was published.
    pub fn offer(&self, mut snapshot: Snapshot) -> Option<Changes> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if current.fingerprint() == snapshot.fingerprint() {
            return None;
        }
        let changes = snapshot.changes_since(&current);
        snapshot.version = current.version + 1;
        *current = Arc::new(snapshot);
        Some(changes)
    }
}

/// The message that is appended to a running session: one line for each kind of change.
impl fmt::Display for Changes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (change, word) in
            [(Change::Added, "added"), (Change::Changed, "changed"), (Change::Removed, "removed")]
        {
            let names: Vec<&str> = self
                .changes
                .iter()
                .filter(|(_, kind)| *kind == change)
                .map(|(name, _)| name.as_str())
                .collect();
            if names.is_empty() {
                continue;
            }
            let named = names[..names.len().min(MAX_NAMED)].join(", ");
            write!(formatter, "Skills {word}: {named}")?;
            if names.len() > MAX_NAMED {
                write!(formatter, " and {} more", names.len() - MAX_NAMED)?;
            }
            writeln!(formatter)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{Catalog, CatalogReport};
    use crate::discover::{BundledSkill, Source};
    use crate::header::Manifest;
    use crate::library::{Entry, EntryKey, Place, SkillIdentity, Verdict};
    use crate::name::SkillName;

    fn snapshot(skills: &[(&str, &str)]) -> Snapshot {
        let entry = |(name, description): &(&str, &str)| {
            let name = SkillName::new(name).unwrap();
            let manifest = Box::new(Manifest::bare(name.clone(), (*description).to_owned()));
            let place = Place::Bundled(BundledSkill { folder: "elsewhere", files: &[] });
            Entry {
                identity: SkillIdentity::of_place(Source::User, &place),
                entry_key: EntryKey::of_name(&name),
                name,
                manifest,
                source: Source::User,
                place,
                tokens: crate::catalog::HeaderTokens::default(),
                trusted_files: None,
                has_tools_by_name: true,
                shadows: Vec::new(),
                verdict: Verdict::default(),
            }
        };
        let catalog = Catalog { text: String::new(), report: CatalogReport::default() };
        Snapshot::of_entries(skills.iter().map(entry).collect(), catalog, Vec::new())
    }

    #[test]
    fn only_a_difference_is_published_and_it_is_told_in_one_message() {
        let published = Published::new(snapshot(&[("a", "one"), ("b", "two")]));
        assert_eq!(published.offer(snapshot(&[("a", "one"), ("b", "two")])), None);
        assert_eq!(published.current().version, 1);

        let before = published.current();
        let changes = published.offer(snapshot(&[("b", "other"), ("c", "three")])).unwrap();
        insta::assert_snapshot!(changes, @"
        Skills added: c
        Skills changed: b
        Skills removed: a
        ");
        assert_eq!((before.version, published.current().version), (1, 2));
        assert!(before.find("a").is_some(), "a session keeps what it was shown");
    }

    #[test]
    fn a_long_message_counts_instead_of_listing() {
        let names: Vec<String> = (0..25).map(|number| format!("skill-{number:02}")).collect();
        let many: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "d")).collect();
        let published = Published::new(snapshot(&[]));
        let message = published.offer(snapshot(&many)).unwrap().to_string();
        assert!(message.ends_with("skill-19 and 5 more\n"), "{message}");
    }
}
