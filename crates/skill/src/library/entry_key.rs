//! Decides which entry of `skills.entries` belongs to which skill.
//!
//! An entry may hold a key, variables and network access, so a skill must not be able to take the
//! entry of another one by its name or by a field of its frontmatter. The rule:
//!
//! - `[skills.entries.NAME]` belongs to the skill called NAME that the person keeps themselves.
//! - A skill of a project, plugin or server has it only if the entry names that source
//!   (`source = "project"`), and then no other skill has it.
//! - `skillKey: OTHER` counts only for a skill of the person's own in a default source, if no skill is called OTHER and no
//!   second skill claims it. Skills that cannot be read and skills of other agents count as well; skills that nobody trusts
//!   do not. A run without the default sources, or one that cannot search all of them, cannot know, so there no `skillKey` counts.
//! - A key with a dot belongs to no skill: in a dotted name of a setting it cannot be told from two keys.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::advice::SkillAdvice;
use crate::diagnostic::Code;
use crate::discover::Source;
use crate::library::Choices;
use crate::library::gather::{Skill, UnreadSkills};
use crate::name::SkillName;
use crate::problem::Problem;

/// The key of a skill in `skills.entries`, and whether the skill gets what the entry holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryKey {
    /// The key: the name of the skill, or its `skillKey` where that counts.
    pub key: String,
    /// Whether the person wrote an entry with this key.
    pub is_configured: bool,
    /// Why the skill does not get what the entry holds, if it does not.
    pub refusal: Option<EntryRefusal>,
    /// A `skillKey` that does not count, with the reason.
    pub ignored_claim: Option<(String, ClaimRefusal)>,
}

/// Why a skill does not get the entry of its key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum EntryRefusal {
    /// The skill comes from this source, and the entry does not name it.
    SourceNotNamed(Source),
    /// The entry is for the skill of this other source.
    OtherSource(Source),
    /// The key has a dot.
    DottedKey,
}

/// Why a `skillKey` does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimRefusal {
    /// A skill is called so.
    NameOfASkill,
    /// Another skill claims the same key.
    ClaimedTwice,
    /// The entry is not for skills of this source.
    Source(EntryRefusal),
    /// Skills of this source have no entry but that of their name.
    NotKept(Source),
    /// A skill of that name may be in a source that is not searched, or not in whole.
    SourcesNotSearched,
    /// It has the form of a name that metier gives to a skill of a server or a plugin.
    QualifiedName,
}

impl EntryKey {
    /// The key of a skill that the person keeps and that claims no other key.
    pub fn of_name(name: &SkillName) -> Self {
        Self { key: name.to_string(), is_configured: false, refusal: None, ignored_claim: None }
    }

    /// The key, if the skill gets what the entry holds.
    pub fn granted(&self) -> Option<&str> {
        self.refusal.is_none().then_some(self.key.as_str())
    }

    /// Says that the person wrote an entry which the skill does not get, or that its `skillKey`
    /// claims one of another skill.
    pub(super) fn problem(&self, file: &Path, choices: &Choices) -> Option<Problem> {
        let problem = |message| Problem::new(Code::EntryWithheld, file, message);
        match (&self.refusal, &self.ignored_claim) {
            (Some(refusal), _) if self.is_configured => {
                let message =
                    format!("the entry `{}` is not for this skill: the entry {refusal}", self.key);
                let (key, refusal) = (self.key.clone(), *refusal);
                Some(problem(message).advise(SkillAdvice::CorrectEntry { key, refusal }))
            }
            (_, Some((claim, refusal)))
                if !refusal.is_about_sources() || choices.entries.contains_key(claim) =>
            {
                Some(problem(format!("`skillKey: {claim}` is ignored: {refusal}")))
            }
            _ => None,
        }
    }
}

impl fmt::Display for EntryRefusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SourceNotNamed(source) => {
                write!(formatter, "does not say `source = \"{source}\"`")
            }
            Self::OtherSource(source) => {
                write!(formatter, "says `source = \"{source}\"`")
            }
            Self::DottedKey => formatter.write_str("cannot have a key with a dot"),
        }
    }
}

impl ClaimRefusal {
    /// Returns whether it depends on where the skill is and what is searched, so that it makes no difference if there is
    /// no such entry.
    fn is_about_sources(&self) -> bool {
        matches!(self, Self::NotKept(_) | Self::SourcesNotSearched | Self::QualifiedName)
    }
}

impl fmt::Display for ClaimRefusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NameOfASkill => formatter.write_str("it is the name of another skill"),
            Self::ClaimedTwice => formatter.write_str("another skill claims it too"),
            Self::Source(refusal) => write!(formatter, "its entry {refusal}"),
            Self::NotKept(source) => {
                write!(formatter, "it does not count for a skill of the source `{source}`")
            }
            Self::SourcesNotSearched => formatter.write_str(
                "a skill of that name may be in a source that is not searched, or not in whole",
            ),
            Self::QualifiedName => {
                formatter.write_str("a key with a colon is that of a server or a plugin")
            }
        }
    }
}

/// The claims of all skills on keys that are not their names.
#[derive(Debug, Default)]
pub(super) struct EntryClaims {
    /// Names of the skills that claim a key.
    claimants: BTreeMap<String, BTreeSet<SkillName>>,
    /// Claimed keys that are names of skills.
    names: BTreeSet<String>,
    /// How many plugins have a skill of a name.
    plugin_skills: BTreeMap<SkillName, usize>,
    /// Whether every source was searched in whole, so that all names of skills are known.
    are_names_known: bool,
}

impl EntryClaims {
    /// Collects the claims of skills whose entry would be theirs. Those of skills that could not have
    /// it anyway must not keep it from others.
    pub(super) fn of(skills: &[Skill], unread: &UnreadSkills, choices: &Choices) -> Self {
        let are_names_known = choices.are_claims_counted && !unread.are_some_unknown;
        let mut claims = Self { are_names_known, ..Self::default() };
        let mut claimed = BTreeSet::new();
        for skill in skills.iter().filter(|skill| skill.is_trusted()) {
            if skill.plugin.is_some() {
                *claims.plugin_skills.entry(skill.manifest.name.clone()).or_default() += 1;
            }
            let Some(claim) = claim_of(skill) else { continue };
            claimed.insert(claim);
            if claims.claimant_refusal(claim, skill, choices).is_none() {
                let claimants = claims.claimants.entry(claim.to_owned()).or_default();
                claimants.insert(skill.name.clone());
            }
        }
        if !claimed.is_empty() {
            let trusted = skills.iter().filter(|skill| skill.is_trusted());
            let elsewhere = unread.names.iter().chain(&choices.reserved_names).map(String::as_str);
            let names = trusted.map(|skill| skill.name.as_str()).chain(elsewhere);
            claims.names = names.filter(|name| claimed.contains(name)).map(str::to_owned).collect();
        }
        claims
    }

    /// Decides which entry a skill has.
    pub(super) fn entry_key(&self, skill: &Skill, choices: &Choices) -> EntryKey {
        let mut ignored_claim = None;
        if let Some(claim) = claim_of(skill) {
            match self.claim_refusal(claim, skill, choices) {
                None => {
                    return EntryKey {
                        key: claim.to_owned(),
                        is_configured: choices.entries.contains_key(claim),
                        refusal: None,
                        ignored_claim: None,
                    };
                }
                Some(refusal) => ignored_claim = Some((claim.to_owned(), refusal)),
            }
        }
        let name = self.name_of_entry(skill, choices);
        EntryKey {
            key: name.to_owned(),
            is_configured: choices.entries.contains_key(name),
            refusal: key_refusal(skill.source, name, choices),
            ignored_claim,
        }
    }

    fn claim_refusal(&self, claim: &str, skill: &Skill, choices: &Choices) -> Option<ClaimRefusal> {
        if self.names.contains(claim) {
            return Some(ClaimRefusal::NameOfASkill);
        }
        if let Some(refusal) = self.claimant_refusal(claim, skill, choices) {
            return Some(refusal);
        }
        let others = self.claimants.get(claim).into_iter().flatten();
        let mut others = others.filter(|name| **name != skill.name);
        others.next().map(|_| ClaimRefusal::ClaimedTwice)
    }

    /// Returns why a skill may not claim a key, whatever other skills there are.
    fn claimant_refusal(
        &self,
        claim: &str,
        skill: &Skill,
        choices: &Choices,
    ) -> Option<ClaimRefusal> {
        if let Some(refusal) = key_refusal(claim_source(skill), claim, choices) {
            return Some(ClaimRefusal::Source(refusal));
        }
        match skill.source {
            Source::Remote => None,
            source @ (Source::Project | Source::Plugin | Source::Flag) => {
                Some(ClaimRefusal::NotKept(source))
            }
            _ if claim.contains(':') => Some(ClaimRefusal::QualifiedName),
            _ if !self.are_names_known => Some(ClaimRefusal::SourcesNotSearched),
            _ => None,
        }
    }

    /// Returns the name that counts for the entry. A plugin's skill that goes by another name because its own is taken
    /// keeps an entry that is for plugins, if it is the only one.
    fn name_of_entry<'a>(&self, skill: &'a Skill, choices: &Choices) -> &'a str {
        let named = &skill.manifest.name;
        let entry = choices.entries.get(named.as_str());
        let is_for_plugins = entry.is_some_and(|it| it.source == Some(Source::Plugin));
        let is_only_one = self.plugin_skills.get(named) == Some(&1);
        let has_own = choices.entries.contains_key(skill.name.as_str());
        if skill.plugin.is_some() && is_for_plugins && is_only_one && !has_own {
            return named.as_str();
        }
        skill.name.as_str()
    }
}

/// The key that the frontmatter claims, if it is not the name anyway.
fn claim_of(skill: &Skill) -> Option<&str> {
    let requirements = skill.manifest.gate.requirements()?;
    requirements.skill_key.as_deref().filter(|claim| *claim != skill.name.as_str())
}

/// The source that counts for a claim. The key of a skill of another server is not the skill's own
/// claim: it names the server, so a person who writes such an entry means that server.
fn claim_source(skill: &Skill) -> Source {
    match skill.source {
        Source::Remote => Source::User,
        source => source,
    }
}

fn key_refusal(source: Source, key: &str, choices: &Choices) -> Option<EntryRefusal> {
    if key.contains('.') {
        return Some(EntryRefusal::DottedKey);
    }
    let named = choices.entries.get(key).and_then(|entry| entry.source);
    let is_own = !matches!(source, Source::Project | Source::Plugin | Source::Remote);
    match named {
        Some(named) if named == source => None,
        Some(named) => Some(EntryRefusal::OtherSource(named)),
        None if is_own => None,
        None => Some(EntryRefusal::SourceNotNamed(source)),
    }
}
