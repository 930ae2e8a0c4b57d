//! A snapshot: what the library holds at one moment, immutable and shared.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::catalog::{self, Catalog, CatalogItem, Format};
use crate::diagnostic::Code;
use crate::discover::{BundledSkill, Root, ScanOptions, scan};
use crate::library::eligibility::judge;
use crate::library::entry_key::EntryClaims;
use crate::library::gather::{Gathered, Skill};
use crate::library::{
    Choices, Entry, EntryKey, Machine, Place, TrustPolicy, TrustState, namesakes,
};
use crate::name::SkillName;
use crate::problem::Problem;
use crate::remote::RemoteSkill;

/// What a library is made of.
#[derive(Clone, Copy, Debug)]
pub struct LibraryOptions<'a> {
    /// Folders, from the one that yields to the one that wins.
    pub roots: &'a [Root],
    /// Skills inside the binary.
    pub bundled: &'a [BundledSkill],
    /// Skills other servers offer, each with whether it is trusted.
    pub remote: &'a [(RemoteSkill, TrustState)],
    /// What the person chose.
    pub choices: &'a Choices,
    /// The facts about this machine.
    pub machine: &'a Machine<'a>,
    /// How projects are trusted.
    pub trust: TrustPolicy<'a>,
    /// Where headers are remembered, if anywhere.
    pub cache: Option<&'a Path>,
    /// Tokens the catalog may cost.
    pub catalog_tokens: usize,
}

/// What the library holds.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Counts the snapshots of one library; the first is 1.
    pub version: u64,
    /// Skills, one of each name, sorted by name.
    pub entries: Vec<Entry>,
    /// What a model is told, as lines.
    pub catalog: Catalog,
    /// What was noticed, sorted by path.
    pub problems: Vec<Problem>,
    fingerprint: OnceLock<String>,
}

/// What differs between two snapshots, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// The differences, sorted by name.
    pub changes: Vec<(SkillName, Change)>,
}

/// What became of a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// A model may use it now.
    Added,
    /// It is another one, or says something else.
    Changed,
    /// A model may not use it any more.
    Removed,
}

/// Finds skills, chooses one of each name, judges it, and makes the catalog of those that a model may use.
///
/// Nothing fails: what cannot be used is in [`Snapshot::problems`], and what may not be used is an entry whose verdict
/// says why. It reads the disk and returns when it has. The page of [the crate](crate) has an example.
pub fn build(options: &LibraryOptions<'_>) -> Snapshot {
    let scans = scan(&ScanOptions { roots: options.roots, cache: options.cache });
    let mut gathered = Gathered::of(options, scans);
    let entries = choose(&mut gathered, options);
    let mut problems = gathered.problems;
    problems.sort();
    problems.dedup();
    let catalog = catalog_of(&entries, options.catalog_tokens, Format::Lines);
    Snapshot::of_entries(entries, catalog, problems)
}

impl Snapshot {
    pub(crate) fn of_entries(
        entries: Vec<Entry>,
        catalog: Catalog,
        problems: Vec<Problem>,
    ) -> Self {
        Self { version: 1, entries, catalog, problems, fingerprint: OnceLock::new() }
    }

    /// Tells whether two snapshots hold the same.
    pub fn fingerprint(&self) -> &str {
        self.fingerprint.get_or_init(|| fingerprint(&self.entries))
    }

    /// The skill of a name, whether it may be used or not: its `verdict` says.
    pub fn find(&self, name: &str) -> Option<&Entry> {
        let index = self.entries.binary_search_by(|entry| entry.name.as_str().cmp(name)).ok()?;
        Some(&self.entries[index])
    }

    /// The catalog in a format and with a budget of its own.
    pub fn catalog(&self, budget: usize, format: Format) -> Catalog {
        catalog_of(&self.entries, budget, format)
    }

    /// What a model would have to be told to get from `before` to this.
    pub fn changes_since(&self, before: &Self) -> Changes {
        let seen = |snapshot: &Self| -> BTreeMap<SkillName, String> {
            let visible = snapshot.entries.iter().filter(|entry| entry.is_model_visible());
            visible
                .map(|entry| (entry.name.clone(), fingerprint(std::slice::from_ref(entry))))
                .collect()
        };
        let (old, new) = (seen(before), seen(self));
        let mut changes = BTreeMap::new();
        for (name, print) in &new {
            let change = match old.get(name) {
                None => Change::Added,
                Some(other) if other != print => Change::Changed,
                Some(_) => continue,
            };
            changes.insert(name.clone(), change);
        }
        let gone = old.into_keys().filter(|name| !new.contains_key(name));
        changes.extend(gone.map(|name| (name, Change::Removed)));
        Changes { changes: changes.into_iter().collect() }
    }
}

/// One skill of each name. A skill that is not trusted hides none that is, except that one of this machine, trusted or
/// not, hides those of other servers.
fn choose(gathered: &mut Gathered, options: &LibraryOptions<'_>) -> Vec<Entry> {
    let Gathered { skills, unread, problems } = gathered;
    let mut skills = std::mem::take(skills);
    let clashing = clashing_plugin_names(&skills);
    for skill in &mut skills {
        if let Some(plugin) = &skill.plugin
            && clashing.contains(&skill.name)
            && let Ok(name) = skill.name.within_plugin(plugin)
        {
            skill.rename(name);
        }
    }
    namesakes::separate(&mut skills, problems);
    // Stable: skills of one name stay in the order of their sources.
    skills.sort_by(|left, right| left.name.cmp(&right.name));
    let claims = EntryClaims::of(&skills, unread, options.choices);
    let own_names = own_names(&skills);
    // An own skill that cannot be read, or that another agent has, may be the one that tools were installed for.
    let is_single = |name: &SkillName| {
        let is_elsewhere = unread.names.contains(name.as_str())
            || options.choices.reserved_names.contains(name.as_str());
        own_names.get(name) == Some(&1) && !is_elsewhere
    };
    let mut entries = Vec::with_capacity(skills.len());
    let mut skills = skills.into_iter().peekable();
    while let Some(mut winner) = skills.next() {
        let mut shadows = Vec::new();
        while let Some(other) = skills.next_if(|other| other.name == winner.name) {
            shadows.push(settle(&mut winner, other, problems));
        }
        winner.has_tools_by_name = winner.is_own() && is_single(&winner.name);
        let entry_key = claims.entry_key(&winner, options.choices);
        problems.extend(entry_key.problem(&winner.place.file(), options.choices));
        entries.push(judged(winner, shadows, entry_key, options));
    }
    report_case_clashes(&entries, problems);
    entries
}

/// Returns how many skills of the person's own have each name.
fn own_names(skills: &[Skill]) -> BTreeMap<SkillName, usize> {
    let mut names = BTreeMap::new();
    for skill in skills.iter().filter(|skill| skill.is_own()) {
        *names.entry(skill.name.clone()).or_default() += 1;
    }
    names
}

/// Names of plugins' skills that some other trusted skill of this machine has too.
fn clashing_plugin_names(skills: &[Skill]) -> BTreeSet<SkillName> {
    let of_plugins: BTreeSet<&SkillName> =
        skills.iter().filter(|it| it.plugin.is_some()).map(|it| &it.name).collect();
    let clashes = of_plugins.into_iter().filter(|name| {
        let is_here = |skill: &&Skill| skill.is_trusted() && skill.remote().is_none();
        let same = skills.iter().filter(is_here).filter(|skill| skill.name == **name);
        same.count() > 1
    });
    clashes.cloned().collect()
}

/// Decides between the winner so far and another skill of its name; gives the file of the loser.
fn settle(winner: &mut Skill, new: Skill, problems: &mut Vec<Problem>) -> PathBuf {
    let same_root = winner.root == new.root && winner.source == new.source;
    let new_wins = match (winner.is_trusted(), new.is_trusted()) {
        // No skill of another server takes the place of one of this machine, trusted or not.
        _ if winner.remote().is_some() != new.remote().is_some() => new.remote().is_none(),
        (false, true) => true,
        (true, false) => false,
        _ if same_root => new.is_in_its_folder() && !winner.is_in_its_folder(),
        _ => true,
    };
    let loser = if new_wins { std::mem::replace(winner, new) } else { new };
    let loser_file = loser.place.file();
    let (code, message) = if same_root {
        let first = winner.place.file();
        (Code::SameRootTwice, format!("`{}` is already taken by {}", winner.name, first.display()))
    } else {
        let by = winner.place.file();
        (
            Code::Shadowed,
            format!("`{}` is hidden by {} ({})", winner.name, by.display(), winner.source),
        )
    };
    problems.push(Problem::new(code, &loser_file, message));
    loser_file
}

/// Names that are one folder where case does not count.
fn report_case_clashes(entries: &[Entry], problems: &mut Vec<Problem>) {
    if !entries.iter().any(|entry| entry.name.as_str().contains(char::is_uppercase)) {
        return;
    }
    let mut folded: BTreeMap<String, &SkillName> = BTreeMap::new();
    for Entry { name, place, .. } in entries {
        if let Some(other) = folded.insert(name.as_str().to_lowercase(), name) {
            let message = format!("`{other}` and `{name}` differ by case only");
            problems.push(Problem::new(Code::NameCaseClash, &place.file(), message));
        }
    }
}

fn judged(
    skill: Skill,
    mut shadows: Vec<PathBuf>,
    entry_key: EntryKey,
    options: &LibraryOptions<'_>,
) -> Entry {
    let verdict = judge(&skill, &entry_key, options.choices, options.machine);
    let has_tools_by_name = skill.has_tools_by_name;
    let Skill { name, manifest, source, place, identity, tokens, trusted_files, .. } = skill;
    shadows.sort();
    Entry {
        name,
        manifest,
        source,
        place,
        identity,
        tokens,
        trusted_files,
        has_tools_by_name,
        shadows,
        entry_key,
        verdict,
    }
}

fn catalog_of(entries: &[Entry], budget: usize, format: Format) -> Catalog {
    let visible: Vec<(&Entry, Cow<'_, str>, String)> = entries
        .iter()
        .filter(|entry| entry.is_model_visible())
        .map(|entry| {
            let location = match format {
                Format::Lines => String::new(),
                Format::Xml => entry.place.file().display().to_string(),
            };
            (entry, entry.summary(), location)
        })
        .collect();
    let items: Vec<CatalogItem<'_>> = visible
        .iter()
        .map(|(entry, description, location)| CatalogItem {
            name: entry.name.as_str(),
            description,
            location,
            tokens: &entry.tokens,
        })
        .collect();
    catalog::build(&items, budget, format)
}

/// A digest of everything that makes a difference to a session.
fn fingerprint(entries: &[Entry]) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut part = |bytes: &[u8]| {
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    for entry in entries {
        part(entry.name.as_str().as_bytes());
        part(entry.source.label().as_bytes());
        part(entry.manifest.description.as_bytes());
        part(&[u8::from(entry.is_model_visible()), u8::from(entry.is_user_invocable())]);
        if let Some(trusted) = &entry.trusted_files {
            trusted.add_to(&mut part);
        }
        match &entry.place {
            Place::Folder { file, identity, .. } => {
                part(file.as_os_str().as_encoded_bytes());
                part(&identity.to_bytes());
            }
            Place::Bundled(skill) => part(skill.skill_file()),
            Place::Remote(skill) => {
                part(skill.place().as_bytes());
                part(skill.digest().as_bytes());
                part(skill.header_digest().as_bytes());
            }
        }
    }
    hasher.finalize().to_hex().to_string()
}
