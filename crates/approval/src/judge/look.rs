//! A whole plan, looked at.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::destination::{self, WrittenPaths};
use super::entries::Entries;
use super::found::{Found, Machine};
use super::miss::ProgramMiss;
use super::offer;
use super::paths::normal;
use super::program::{self, Invocation};
use super::protection;
use super::surroundings::{self, Problems};
use crate::facts::{Facts, FileFact};
use crate::plan::{Action, Plan, Simple};
use crate::policy::{Ask, Mode, Policy};
use crate::show::brief;
use crate::tables::{self, Kind, Writes};
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

/// Most commands that one answer of a person is remembered for.
const MAX_OFFERED: usize = 16;

/// Looks at one plan.
struct Look<'a> {
    machine: &'a Machine<'a>,
    policy: &'a Policy,
    entries: Entries<'a>,
    start: &'a Path,
    problems: Problems,
    programs: Vec<Judged>,
    /// What would be remembered of the programs that nobody allows; none once one of them cannot be.
    offers: Option<Vec<Pinned>>,
    written: HashSet<PathBuf>,
    /// What programs with a table write, by the places of the programs.
    destinations: Vec<(usize, WrittenPaths)>,
    /// Programs that files of their folder give orders to, by their places.
    ordered: Vec<usize>,
    /// Whether everything that the plan names was found.
    is_complete: bool,
}

impl Looked {
    pub(super) fn at(plan: &Plan, start: &Path, facts: &dyn Facts, policy: &Policy) -> Self {
        let machine = Machine::new(facts, policy);
        let mut look = Look {
            machine: &machine,
            policy,
            entries: Entries::new(policy, &machine),
            start,
            problems: Problems::default(),
            programs: Vec::new(),
            offers: Some(Vec::new()),
            written: HashSet::new(),
            destinations: Vec::new(),
            ordered: Vec::new(),
            is_complete: !plan.steps.is_empty(),
        };
        let directory = look.folder(Path::new(""));
        look.steps(plan);
        look.own_folders();
        look.own_files();
        look.own_orders();
        look.own_links();
        look.keep_places();
        // What is missing must be missing for some program, or nobody would see it in the plan: a folder, say, in
        // which nothing runs.
        if look.problems.missed > 0 && look.programs.iter().all(|judged| judged.basis.is_some()) {
            look.is_complete = false;
        }
        if look.problems.missed > 0 && look.entries.is_spent() {
            let words = "comparing it with all entries would take too long";
            look.problems.misses.insert(0, words.to_owned());
        }
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
        for step in &plan.steps {
            match &step.action {
                Action::Enter(folder) => {
                    let _checked = self.folder(folder);
                }
                Action::Run(programs) => {
                    self.is_complete &= !programs.is_empty();
                    for simple in programs {
                        self.program(simple);
                    }
                }
            }
        }
    }

    /// A folder of the plan. It must be there, and be reached through no link.
    fn folder(&mut self, path: &Path) -> Option<FileFact> {
        let path = normal(&self.start.join(path));
        let shown = || brief(&path.to_string_lossy());
        let found = self.machine.folder(&path);
        let Some(folder) = found.filter(|it| !protection::is_of_process(&it.real)) else {
            self.problems.miss(|| format!("there is no folder `{}`", shown()));
            self.is_complete = false;
            return None;
        };
        if folder.real != path {
            self.problems.miss(|| format!("the folder `{}` goes through a link", shown()));
        }
        Some(folder)
    }

    fn program(&mut self, simple: &Simple) {
        let (refused, before) = (self.problems.refused, self.problems.mark());
        let protected = self.problems.protected;
        let folder = self.folder(&simple.directory);
        let has_folder = self.problems.mark() == before;
        let Some(word) = simple.words.first() else {
            self.is_complete = false;
            return;
        };
        let found = folder.and_then(|folder| {
            self.machine.program(&folder.real, word).map(|program| (folder, program))
        });
        let Some((directory, found)) = found else {
            if tables::is_privileged(word) {
                self.problems.refuse(|| program::privileged(word));
            } else if has_folder {
                self.problems.miss(|| program::not_installed(word).to_string());
            }
            self.is_complete = false;
            return;
        };
        let mut judged = Judged {
            program: found.program.clone(),
            inner: Vec::new(),
            directory,
            places: Vec::new(),
            scripts: Vec::new(),
            basis: None,
        };
        let basis = self.basis(simple, &found, &mut judged);
        // A decision for good is never about a protected place.
        let is_refused = self.problems.refused > refused || self.problems.protected > protected;
        match basis {
            Ok(basis) if self.problems.mark() == before && !is_refused => {
                judged.basis = Some(basis);
            }
            Ok(_) => {}
            Err(miss) => self.problems.miss(|| miss.to_string()),
        }
        if judged.basis.is_none() {
            let around = (self.machine, self.policy);
            let known = offer::remembered(simple, (&judged, found.kind), around);
            match known.filter(|_| has_folder && !is_refused) {
                Some(known) => {
                    judged.basis = Some(Basis::Remembered(known.id.clone()));
                    self.problems.forget(before);
                }
                None => self.offer(simple, (&judged, found.kind), has_folder && !is_refused),
            }
        }
        self.programs.push(judged);
    }

    fn basis(
        &mut self,
        simple: &Simple,
        found: &Rc<Found>,
        judged: &mut Judged,
    ) -> Result<Basis, ProgramMiss> {
        let around = (self.machine, self.policy);
        let directory = &judged.directory.real;
        surroundings::variables(&simple.variables, self.policy, &mut self.problems);
        let written = surroundings::redirections(simple, directory, around, &mut self.problems);
        self.written.extend(written);
        let unwrapped = program::unwrap(&simple.words, found, directory, around);
        surroundings::variables(&unwrapped.variables, self.policy, &mut self.problems);
        if let Some(refusal) = unwrapped.refusal {
            self.problems.refuse(|| refusal);
        }
        let last = unwrapped.inner.last().map_or((0, found), |(at, found)| (*at, found));
        let (words, found) = (&simple.words[last.0..], last.1);
        let scripts = program::scripts(words, found.kind, directory, self.machine);
        let (moving, fixed): (Vec<_>, Vec<_>) =
            scripts.into_iter().partition(|script| protection::is_of_process(&script.real));
        judged.scripts = fixed;
        let inner = unwrapped.inner.iter().map(|(at, found)| (*at, found.program.clone()));
        judged.inner = inner.collect();
        if let Some(miss) = unwrapped.miss {
            return Err(miss);
        }
        if let Some(script) = moving.first() {
            let script = brief(&script.real.to_string_lossy());
            return Err(ProgramMiss::MovingScript(script));
        }
        if let Writes::To(destinations) = tables::writes(words, &found.program) {
            let written = destination::check(&destinations, directory, around, &mut self.problems);
            self.destinations.push((self.programs.len(), written));
        }
        if tables::is_ordered_by_folder(&words[0], &found.program) {
            self.ordered.push(self.programs.len());
        }
        let mut invocation = Invocation::new(words, found, &judged.directory.real);
        invocation.is_told = self.problems.has_room();
        program::basis(&invocation, &self.entries, self.policy)
    }

    /// Notes what would be remembered of a program that nobody allows.
    fn offer(&mut self, simple: &Simple, judged: (&Judged, Kind), is_possible: bool) {
        let rules = self.policy.rules;
        let is_asked = rules.mode == Mode::Allowlist && rules.ask == Ask::OnMiss;
        // A digest costs reading the program: none where the answer is known to be no.
        let Some(mut offers) = self.offers.take() else { return };
        if is_asked
            && is_possible
            && offers.len() < MAX_OFFERED
            && let Some(pinned) = offer::pinned(simple, judged, self.machine)
        {
            offers.push(pinned);
            self.offers = Some(offers);
        }
    }

    /// What is put into a folder that another program of the plan removes or moves away takes its place instead, so it is
    /// looked at as that too.
    fn own_folders(&mut self) {
        let gone: HashMap<&Path, usize> = self
            .destinations
            .iter()
            .flat_map(|(place, written)| written.gone.iter().map(|path| (path.as_path(), *place)))
            .collect();
        let is_gone = |path: &PathBuf| path.ancestors().any(|path| gone.contains_key(path));
        let replaced = self.destinations.iter().enumerate().flat_map(|(at, (place, written))| {
            let folders = written.folders.iter().filter(|(_, forms)| forms.iter().any(is_gone));
            folders.map(move |(folder, _)| (at, *place, folder.clone()))
        });
        let replaced: Vec<_> = replaced.collect();
        for (at, place, folder) in replaced {
            let before = self.problems.missed + self.problems.refused;
            let directory = &self.programs[place].directory.real;
            let around = (self.machine, self.policy);
            let mut written = destination::check(
                std::slice::from_ref(&folder),
                directory,
                around,
                &mut self.problems,
            );
            if self.problems.missed + self.problems.refused > before {
                self.programs[place].basis = None;
                self.offers = None;
            }
            let known = &mut self.destinations[at].1;
            for other in &mut known.places {
                other.is_folder &= !written.places.iter().any(|it| it.path == other.path);
            }
            written.folders.clear();
            known.extend(written);
        }
    }

    /// Keeps for each program where its destinations must lead when it starts.
    fn keep_places(&mut self) {
        for (place, written) in std::mem::take(&mut self.destinations) {
            let places: BTreeSet<_> = written.places.into_iter().collect();
            self.programs[place].places = places.into_iter().collect();
        }
    }

    /// Files whose content is decided by redirections and by programs with a table.
    fn contents(&self) -> HashSet<PathBuf> {
        let written = self.destinations.iter().flat_map(|(_, written)| &written.contents);
        self.written.iter().chain(written).cloned().collect()
    }

    /// A plan may not write what it runs.
    fn own_files(&mut self) {
        let contents = self.contents();
        for judged in &mut self.programs {
            let programs =
                [&judged.program].into_iter().chain(judged.inner.iter().map(|(_, inner)| inner));
            let files = programs.map(|program| &program.file).chain(&judged.scripts);
            let own = files.map(|file| &file.real).find(|real| contents.contains(*real)).cloned();
            if let Some(own) = own {
                let own = brief(&own.to_string_lossy());
                self.problems.miss(|| format!("`{own}` is written and run by the same command"));
                judged.basis = None;
                self.offers = None;
            }
        }
    }

    /// A plan may not write through what it links, moves or copies: where that leads is not known before.
    fn own_links(&mut self) {
        let mut placers: HashMap<&Path, Vec<usize>> = HashMap::new();
        for (place, written) in &self.destinations {
            for path in &written.placed {
                let places = placers.entry(path).or_default();
                // Two are enough to know that another program puts something there.
                if places.len() < 2 && !places.contains(place) {
                    places.push(*place);
                }
            }
        }
        let is_through = |path: &Path, place: usize| {
            let places =
                |path| placers.get(path).is_some_and(|it| it.iter().any(|it| *it != place));
            path.ancestors().any(places)
        };
        let through = self.destinations.iter().filter_map(|(place, written)| {
            let path = written.all.iter().find(|path| is_through(path, *place))?;
            Some((*place, path.clone()))
        });
        let through: Vec<(usize, PathBuf)> = through.collect();
        for (place, path) in through {
            // Where that leads is known to nobody, and a person who is asked decides all the same.
            for (of, written) in &mut self.destinations {
                if *of == place {
                    written.places.clear();
                }
            }
            let path = brief(&path.to_string_lossy());
            self.problems
                .miss(|| format!("`{path}` is written through what the same command puts there"));
            if let Some(judged) = self.programs.get_mut(place) {
                judged.basis = None;
            }
            self.offers = None;
        }
    }

    /// A plan may not write where programs of it look for what to do: in their folder, below it, or directly in one
    /// above it.
    fn own_orders(&mut self) {
        let contents = if self.ordered.is_empty() { HashSet::new() } else { self.contents() };
        for place in &self.ordered {
            let judged = &mut self.programs[*place];
            let folder = &judged.directory.real;
            // Of several, always the same is named.
            let own = contents.iter().filter(|file| {
                file.starts_with(folder)
                    || file.parent().is_some_and(|parent| folder.starts_with(parent))
            });
            let own = own.min();
            if let Some(own) = own {
                let program = brief(&judged.program.path.to_string_lossy());
                let own = brief(&own.to_string_lossy());
                self.problems.miss(|| {
                    format!(
                        "`{program}` may take orders from `{own}`, which the same command writes"
                    )
                });
                judged.basis = None;
                self.offers = None;
            }
        }
    }
}
