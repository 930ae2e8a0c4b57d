//! Gathering skills of every source, before one of each name is chosen.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::advice::SkillAdvice;
use crate::catalog::HeaderTokens;
use crate::diagnostic::Code;
use crate::discover::{BundledSkill, Found, Root, RootScan, Source, in_parallel, judge_bytes};
use crate::header::Manifest;
use crate::library::entry::summary;
use crate::library::trust::TrustJudgement;
use crate::library::{
    Block, FileChange, LibraryOptions, Place, SkillIdentity, TrustPolicy, TrustState, TrustedFiles,
};
use crate::name::SkillName;
use crate::problem::Problem;
use crate::remote::RemoteSkill;

/// Skills below which comparing their files on another thread costs more than it saves.
const SKILLS_PER_THREAD: usize = 64;

/// Every skill that was found, from the source that yields to the one that wins.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) skills: Vec<Skill>,
    pub(super) unread: UnreadSkills,
    pub(super) problems: Vec<Problem>,
}

/// The skills that the person keeps and that cannot be read.
#[derive(Default)]
pub(super) struct UnreadSkills {
    /// Names of their folders.
    pub(super) names: BTreeSet<String>,
    /// Whether there may be others, in folders that were not searched.
    pub(super) are_some_unknown: bool,
}

/// Gathers, and counts what is not used because nobody trusts it.
#[derive(Default)]
struct Gathering {
    gathered: Gathered,
    /// Skills of each project.
    untrusted: BTreeMap<PathBuf, usize>,
    /// Skills of each server.
    offered: BTreeMap<SkillName, usize>,
}

pub(super) struct Skill {
    pub(super) name: SkillName,
    pub(super) manifest: Box<Manifest>,
    pub(super) source: Source,
    pub(super) place: Place,
    pub(super) identity: SkillIdentity,
    /// Whether programs that were installed for its name count.
    pub(super) has_tools_by_name: bool,
    pub(super) tokens: HeaderTokens,
    trust: TrustState,
    /// The files that were trusted, of a project's skill that is.
    pub(super) trusted_files: Option<TrustedFiles>,
    pub(super) root: usize,
    pub(super) plugin: Option<SkillName>,
}

impl Skill {
    /// The skill as its server tells of it, if it is on another one.
    pub(super) fn remote(&self) -> Option<&RemoteSkill> {
        match &self.place {
            Place::Remote(skill) => Some(skill),
            _ => None,
        }
    }

    /// Has it go by another name.
    pub(super) fn rename(&mut self, name: SkillName) {
        let server = self.remote().map(|skill| &skill.server);
        let description = summary(&self.manifest, server);
        self.tokens = HeaderTokens::of_parts(name.as_str(), &description);
        self.name = name;
    }

    /// What keeps it from being used as long as nobody trusts it.
    pub(super) fn distrust(&self) -> Option<Block> {
        let words = |changes: &[FileChange]| changes.iter().map(ToString::to_string).collect();
        let Some(RemoteSkill { server, files, .. }) = self.remote() else {
            return match &self.trust {
                TrustState::Trusted => None,
                TrustState::Untrusted => Some(Block::Untrusted),
                TrustState::Changed(changes) => Some(Block::Changed { files: words(changes) }),
            };
        };
        let server = server.to_string();
        match &self.trust {
            _ if files.is_none() => Some(Block::Dynamic { server }),
            TrustState::Trusted => None,
            TrustState::Untrusted => Some(Block::Remote { server, changes: Vec::new() }),
            TrustState::Changed(changes) => Some(Block::Remote { server, changes: words(changes) }),
        }
    }

    /// Whether the person keeps it, or it comes with metier.
    pub(super) fn is_own(&self) -> bool {
        !matches!(self.source, Source::Project | Source::Plugin | Source::Remote | Source::Flag)
    }

    pub(super) fn is_trusted(&self) -> bool {
        self.trust == TrustState::Trusted
    }

    /// Whether the folder is called like the skill, as the format asks; a copy is not.
    pub(super) fn is_in_its_folder(&self) -> bool {
        let folder = self.place.folder().and_then(Path::file_name);
        folder.is_some_and(|folder| folder == self.manifest.name.as_str())
    }
}

impl Gathered {
    /// Those of all sources.
    pub(super) fn of(options: &LibraryOptions<'_>, scans: Vec<RootScan>) -> Self {
        let mut gathering = Gathering::default();
        gathering.add_remote(options.remote);
        gathering.add_roots(options, scans);
        let Gathering { mut gathered, untrusted, offered } = gathering;
        let projects = untrusted.iter().map(|(project, count)| not_trusted(project, *count));
        let servers = offered.iter().map(|(server, count)| only_offered(server, *count));
        gathered.problems.extend(projects.chain(servers));
        gathered
    }
}

impl Gathering {
    /// Roots come in order; bundled skills stand between the plugins and the managed ones.
    fn add_roots(&mut self, options: &LibraryOptions<'_>, scans: Vec<RootScan>) {
        let mut bundled = Some(options.bundled);
        for (index, (root, scan)) in options.roots.iter().zip(scans).enumerate() {
            if root.source > Source::Bundled
                && let Some(bundled) = bundled.take()
            {
                self.add_bundled(bundled);
            }
            self.add_root(index, root, scan, options.trust);
        }
        self.add_bundled(bundled.take().unwrap_or_default());
    }

    fn add_root(&mut self, index: usize, root: &Root, scan: RootScan, trust: TrustPolicy<'_>) {
        self.gathered.problems.extend(scan.problems);
        if root.project.is_none() {
            self.gathered.unread.names.extend(scan.unread);
            self.gathered.unread.are_some_unknown |= scan.is_partial;
        }
        self.gathered.skills.reserve(scan.found.len());
        let mut untrusted = 0;
        let judgements = judge(root, &scan.found, trust);
        for (found, judgement) in scan.found.into_iter().zip(judgements) {
            let Found { file, identity, manifest, tokens, .. } = found;
            let TrustJudgement { state, files } = judgement;
            match &state {
                TrustState::Trusted => {}
                TrustState::Untrusted => untrusted += 1,
                TrustState::Changed(changes) => {
                    let problem = changed(changes, &file).advise(SkillAdvice::TrustChanges);
                    self.gathered.problems.push(problem);
                }
            }
            self.gathered.skills.push(Skill {
                name: manifest.name.clone(),
                manifest,
                source: root.source,
                identity: SkillIdentity::in_root(root, &file),
                has_tools_by_name: false,
                place: Place::Folder { file, identity },
                tokens,
                trust: state,
                trusted_files: files,
                root: index,
                plugin: root.plugin.clone(),
            });
        }
        if let Some(project) = root.project.as_ref().filter(|_| untrusted > 0) {
            *self.untrusted.entry(project.clone()).or_default() += untrusted;
        }
    }

    fn add_bundled(&mut self, bundled: &[BundledSkill]) {
        for skill in bundled {
            let place = Place::Bundled(*skill);
            let (manifest, problems) =
                judge_bytes(skill.skill_file(), &place.file(), Some(skill.folder));
            self.gathered.problems.extend(problems);
            let Some(manifest) = manifest else { continue };
            self.gathered.skills.push(Skill {
                name: manifest.name.clone(),
                tokens: HeaderTokens::of(&manifest),
                manifest: Box::new(manifest),
                source: Source::Bundled,
                identity: SkillIdentity::of_place(Source::Bundled, &place),
                has_tools_by_name: false,
                place,
                trust: TrustState::Trusted,
                trusted_files: None,
                root: usize::MAX,
                plugin: None,
            });
        }
    }

    fn add_remote(&mut self, remote: &[(RemoteSkill, TrustState)]) {
        for (skill, trust) in remote {
            let manifest = skill.manifest.clone();
            let name = manifest.name.clone();
            let description = summary(&manifest, Some(&skill.server));
            match trust {
                TrustState::Changed(changes) if skill.files.is_some() => {
                    let advice = SkillAdvice::TrustRemoteChanges { skill: name.clone() };
                    let problem = changed(changes, Path::new(&skill.place())).advise(advice);
                    self.gathered.problems.push(problem);
                }
                TrustState::Untrusted if skill.files.is_some() => {
                    *self.offered.entry(skill.server.clone()).or_default() += 1;
                }
                _ => {}
            }
            let place = Place::Remote(Box::new(skill.clone()));
            self.gathered.skills.push(Skill {
                tokens: HeaderTokens::of_parts(name.as_str(), &description),
                name,
                manifest,
                source: Source::Remote,
                identity: SkillIdentity::of_place(Source::Remote, &place),
                has_tools_by_name: false,
                place,
                trust: trust.clone(),
                trusted_files: None,
                root: usize::MAX,
                plugin: None,
            });
        }
    }
}

/// Judges whether the skills of a root may be trusted, in their order. Those of a project are compared file by file.
fn judge(root: &Root, found: &[Found], trust: TrustPolicy<'_>) -> Vec<TrustJudgement> {
    let Some(project) = &root.project else {
        return vec![TrustJudgement::without_files(TrustState::Trusted); found.len()];
    };
    let mut judgements: Vec<Option<TrustJudgement>> =
        found.iter().map(|it| trust.judge_untouched(it)).collect();
    let rest: Vec<usize> = (0..found.len()).filter(|&it| judgements[it].is_none()).collect();
    let judged = in_parallel(&rest, SKILLS_PER_THREAD, |&index, _| {
        trust.judge(project, &found[index].file, found[index].digest)
    });
    for (index, judgement) in rest.into_iter().zip(judged) {
        judgements[index] = Some(judgement);
    }
    judgements.into_iter().flatten().collect()
}

fn only_offered(server: &SkillName, count: usize) -> Problem {
    let message = if count == 1 {
        "a skill of this server is not trusted, and not used".to_owned()
    } else {
        format!("{count} skills of this server are not trusted, and not used")
    };
    Problem::new(Code::Untrusted, Path::new(server.as_str()), message)
        .advise(SkillAdvice::TrustOfferedSkills { server: server.clone() })
}

fn not_trusted(project: &Path, count: usize) -> Problem {
    let skills =
        if count == 1 { "its skill is".to_owned() } else { format!("its {count} skills are") };
    let message = format!("the project is not trusted, so {skills} not used");
    Problem::new(Code::Untrusted, project, message).advise(SkillAdvice::TrustProject)
}

fn changed(changes: &[FileChange], file: &Path) -> Problem {
    let files: Vec<String> = changes.iter().map(ToString::to_string).collect();
    let message = format!("changed since it was trusted: {}", files.join(", "));
    Problem::new(Code::TrustChanged, file, message)
}
