//! A whole plan, looked at.

use std::path::{Path, PathBuf};

use super::entries::Entries;
use super::offer;
use super::paths::normal;
use super::program::{self, Invocation};
use super::surroundings::{self, Problems};
use crate::facts::{Facts, FileFact};
use crate::plan::{Action, Plan, Simple};
use crate::policy::{Ask, Mode, Policy};
use crate::show::brief;
use crate::tables;
use crate::verdict::{Approved, Basis, Judged, Pinned};

/// What was seen in a plan.
#[derive(Debug, Default)]
pub(super) struct Looked {
    /// The plan with what was found out; none if not everything that it names is there.
    pub(super) approved: Option<Approved>,
    /// Why it may never run.
    pub(super) refusals: Vec<String>,
    /// Why nobody allows it.
    pub(super) misses: Vec<String>,
    /// What would be remembered if a person allowed it for good.
    pub(super) offer: Option<Vec<Pinned>>,
}

/// Looks at one plan.
struct Look<'a> {
    facts: &'a dyn Facts,
    policy: &'a Policy,
    entries: Entries<'a>,
    start: &'a Path,
    problems: Problems,
    programs: Vec<Judged>,
    /// What would be remembered of the programs that nobody allows; none once one of them cannot be.
    offers: Option<Vec<Pinned>>,
    written: Vec<PathBuf>,
    /// Whether everything that the plan names was found.
    is_complete: bool,
}

impl Looked {
    pub(super) fn at(plan: &Plan, start: &Path, facts: &dyn Facts, policy: &Policy) -> Self {
        let mut look = Look {
            facts,
            policy,
            entries: Entries::new(policy, facts),
            start,
            problems: Problems::default(),
            programs: Vec::new(),
            offers: Some(Vec::new()),
            written: Vec::new(),
            is_complete: !plan.steps.is_empty(),
        };
        let directory = look.folder(Path::new(""));
        look.steps(plan);
        look.own_files();
        let Look { problems, programs, offers, is_complete, .. } = look;
        let approved = directory.filter(|_| is_complete).map(|directory| Approved {
            plan: plan.clone(),
            programs,
            directory,
        });
        let offer = offers.filter(|offers| !offers.is_empty());
        Self { approved, refusals: problems.refusals, misses: problems.misses, offer }
    }
}

impl Look<'_> {
    fn steps(&mut self, plan: &Plan) {
        let mut entered = None;
        for step in &plan.steps {
            match &step.action {
                Action::Enter(folder) => {
                    let misses = self.problems.misses.len();
                    let is_found = self.folder(folder).is_some();
                    entered = (is_found && self.problems.misses.len() > misses).then_some(());
                }
                Action::Run(programs) => {
                    self.is_complete &= !programs.is_empty();
                    for simple in programs {
                        self.program(simple);
                    }
                    entered = None;
                }
            }
        }
        // A folder that nobody may go to, and in which nothing runs that could be blamed for it.
        if entered.is_some() {
            self.is_complete = false;
        }
    }

    /// A folder of the plan. It must be there, and be reached through no link.
    fn folder(&mut self, path: &Path) -> Option<FileFact> {
        let path = normal(&self.start.join(path));
        let shown = brief(&path.to_string_lossy());
        let Some(folder) = self.facts.folder(&path) else {
            self.problems.misses.push(format!("there is no folder `{shown}`"));
            self.is_complete = false;
            return None;
        };
        if folder.real != path {
            self.problems.misses.push(format!("the folder `{shown}` goes through a link"));
        }
        Some(folder)
    }

    fn program(&mut self, simple: &Simple) {
        let (refusals, misses) = (self.problems.refusals.len(), self.problems.misses.len());
        let folder = self.folder(&simple.directory);
        let has_folder = self.problems.misses.len() == misses;
        let Some(word) = simple.words.first() else {
            self.is_complete = false;
            return;
        };
        let found = folder.and_then(|folder| {
            self.facts.executable(&folder.real, word).map(|program| (folder, program))
        });
        let Some((directory, program)) = found else {
            if tables::is_privileged(word) {
                self.problems.refusals.push(program::privileged(word));
            } else if has_folder {
                self.problems.misses.push(program::not_installed(word));
            }
            self.is_complete = false;
            return;
        };
        let mut judged =
            Judged { program, inner: Vec::new(), directory, scripts: Vec::new(), basis: None };
        let basis = self.basis(simple, &mut judged);
        let is_refused = self.problems.refusals.len() > refusals;
        match basis {
            Ok(basis) if self.problems.misses.len() == misses => judged.basis = Some(basis),
            Ok(_) => {}
            Err(miss) => self.problems.misses.push(miss),
        }
        if judged.basis.is_none() && has_folder && !is_refused {
            match offer::remembered(simple, &judged, (self.facts, self.policy)) {
                Some(known) => {
                    judged.basis = Some(Basis::Remembered(known.id.clone()));
                    self.problems.misses.truncate(misses);
                }
                None => self.offer(simple, &judged),
            }
        } else if judged.basis.is_none() {
            self.offers = None;
        }
        if is_refused {
            judged.basis = None;
        }
        self.programs.push(judged);
    }

    fn basis(&mut self, simple: &Simple, judged: &mut Judged) -> Result<Basis, String> {
        let around = (self.facts, self.policy);
        let directory = judged.directory.real.clone();
        surroundings::variables(&simple.variables, self.policy, &mut self.problems);
        self.written.extend(surroundings::redirections(
            simple,
            &directory,
            around,
            &mut self.problems,
        ));
        let unwrapped = program::unwrap(&simple.words, &judged.program, &directory, around);
        surroundings::variables(&unwrapped.variables, self.policy, &mut self.problems);
        self.problems.refusals.extend(unwrapped.refusal);
        judged.inner = unwrapped.inner;
        let (at, program) = match judged.inner.last() {
            Some((at, program)) => (*at, program),
            None => (0, &judged.program),
        };
        let words = &simple.words[at..];
        judged.scripts = program::scripts(words, program, &directory, self.facts);
        if let Some(miss) = unwrapped.miss {
            return Err(miss);
        }
        let invocation = Invocation::new(words, program, &directory);
        program::basis(&invocation, &self.entries, self.policy)
    }

    fn offer(&mut self, simple: &Simple, judged: &Judged) {
        let rules = self.policy.rules;
        let is_asked = rules.mode == Mode::Allowlist && rules.ask == Ask::OnMiss;
        // A digest costs reading the program: none where the answer is known to be no.
        let Some(mut offers) = self.offers.take().filter(|_| is_asked) else { return };
        if let Some(pinned) = offer::pinned(simple, judged, self.facts) {
            offers.push(pinned);
            self.offers = Some(offers);
        }
    }

    /// A plan may not write what it runs.
    fn own_files(&mut self) {
        for judged in &mut self.programs {
            let programs =
                [&judged.program].into_iter().chain(judged.inner.iter().map(|(_, inner)| inner));
            let files = programs.map(|program| &program.file).chain(&judged.scripts);
            let own =
                files.map(|file| &file.real).find(|real| self.written.contains(real)).cloned();
            if let Some(own) = own {
                let own = brief(&own.to_string_lossy());
                self.problems
                    .misses
                    .push(format!("`{own}` is written and run by the same command"));
                judged.basis = None;
                self.offers = None;
            }
        }
    }
}
