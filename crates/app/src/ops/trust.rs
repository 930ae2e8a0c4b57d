//! Trust in the skills of a project: recorded as they are, and taken back.

use std::io;
use std::path::{Path, PathBuf};

use metier_skill::discover::{Root, ScanOptions, scan};
use metier_skill::library::{TrustStore, TrustedProject};
use metier_skill::problem::Problem;
use thiserror::Error;

use crate::app::App;
use crate::error::AppError;
use crate::reporter::Activity;
use crate::sources::SourceSelection;
use crate::sources::archives::FetchedArchives;
use crate::sources::roots::{Project, SourceRoots};

/// A project that cannot be trusted.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ProjectTrustError {
    /// The folder is not there.
    #[error("cannot find the folder `{}`", folder.display())]
    NoFolder {
        /// The folder.
        folder: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The folder has the state directory.
    #[error("the state directory is not a project")]
    StateDirectory,
    /// It has no skills.
    #[error("`{}` has no skills", root.display())]
    NoSkills {
        /// The root of the project.
        root: PathBuf,
    },
    /// A skill of it cannot be read.
    #[error("a skill of the project cannot be read")]
    Unreadable {
        /// The reason.
        source: io::Error,
    },
    /// It was not trusted before.
    #[error("`{}` was not trusted", root.display())]
    NotTrusted {
        /// The root of the project.
        root: PathBuf,
    },
}

/// The skills of a project that were trusted.
#[derive(Clone, Debug)]
pub struct TrustedSkills {
    /// The root of the project.
    pub root: PathBuf,
    /// The folders of the skills.
    pub folders: Vec<PathBuf>,
    /// The number of skills.
    pub count: usize,
}

impl App {
    /// Finds the project of a folder, or of the working directory.
    ///
    /// # Errors
    ///
    /// When the folder is not there, or is the one with the state directory.
    pub fn project(&self, folder: Option<&Path>) -> Result<Project, AppError> {
        let here = &self.environment.folder;
        let folder_here = folder.map_or_else(|| here.clone(), |folder| here.join(folder));
        let real = std::fs::canonicalize(&folder_here)
            .map_err(|source| ProjectTrustError::NoFolder { folder: folder_here, source })?;
        // The working directory is named as the person sees it; so are its skills.
        let project = Project::of(if folder.is_some() { &real } else { here });
        if project.is_home(&self.environment) {
            return Err(ProjectTrustError::StateDirectory.into());
        }
        Ok(project)
    }

    /// Trusts the skills of a project as they are now.
    ///
    /// # Errors
    ///
    /// When it has none, one cannot be read, or trust cannot be recorded.
    pub fn trust(&self, project: &Project) -> Result<TrustedSkills, AppError> {
        let mut store = TrustStore::load(&self.trust_file())?;
        let working = self.reporter.begin(&Activity::LookingForSkills);
        let SourceRoots { roots, problems, .. } = self.roots_of_project(project);
        let scans = scan(&ScanOptions { roots: &roots, cache: None });
        let found = scans.iter().flat_map(|scan| &scan.found);
        let folders: Vec<PathBuf> = found.map(|found| found.folder().to_owned()).collect();
        let noticed = scans.iter().flat_map(|scan| &scan.problems);
        let problems: Vec<Problem> = problems.iter().chain(noticed).cloned().collect();
        self.report(&problems);
        let root = project.root.clone();
        if folders.is_empty() {
            return Err(ProjectTrustError::NoSkills { root }.into());
        }
        working.update(&Activity::ReadingSkills { count: folders.len() });
        let record = TrustedProject::record(&root, folders.iter().map(PathBuf::as_path))
            .map_err(|source| ProjectTrustError::Unreadable { source })?;
        let count = record.skills.len();
        store.trust(&root, with_other_folders(record, &store, project, &roots));
        store.save()?;
        Ok(TrustedSkills { root, folders, count })
    }

    /// Takes trust back from a project.
    ///
    /// # Errors
    ///
    /// When it was not trusted, or that cannot be recorded.
    pub fn revoke_trust(&self, project: &Project) -> Result<(), AppError> {
        let mut store = TrustStore::load(&self.trust_file())?;
        if !store.revoke(&project.root) {
            return Err(ProjectTrustError::NotTrusted { root: project.root.clone() }.into());
        }
        Ok(store.save()?)
    }

    /// Returns the roots of a project, with folders inside it that a variable names.
    fn roots_of_project(&self, project: &Project) -> SourceRoots {
        let mut roots = project.roots(&self.environment, &self.config);
        let (sources, fetched) = (SourceSelection::configured(), FetchedArchives::default());
        let found = SourceRoots::find(self, &sources, &fetched).roots;
        let named = found.into_iter().filter(|it| it.project.as_ref() == Some(&project.root));
        let named = named.filter(|it| roots.roots.iter().all(|other| other.path != it.path));
        let mut named: Vec<Root> = named.collect();
        roots.roots.append(&mut named);
        roots
    }
}

/// Adds what was trusted in folders of the repository that are not searched from here.
fn with_other_folders(
    mut record: TrustedProject,
    store: &TrustStore,
    project: &Project,
    roots: &[Root],
) -> TrustedProject {
    let is_elsewhere = |skill: &str| {
        let folder = project.root.join(skill);
        !roots.iter().any(|root| folder.starts_with(&root.path))
    };
    let before = store.project(&project.root).into_iter().flat_map(|before| &before.skills);
    let others = before.filter(|(skill, _)| is_elsewhere(skill));
    record.skills.extend(others.map(|(skill, files)| (skill.clone(), files.clone())));
    record
}
