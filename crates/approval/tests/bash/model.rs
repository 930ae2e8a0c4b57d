//! What a plan says: the programs that start, found by walking it.
//!
//! Files are really opened, in a folder that is a twin of the one in which bash runs, so that what fails there fails
//! here.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::path::Path;

use metier_approval::{Action, Descriptor, Joint, Plan, Redirection, Simple, Target};

use crate::recorder::{self, Record};

/// Where a plan is walked.
pub(crate) struct Place<'a> {
    /// The folder that everything happens below.
    pub(crate) top: &'a Path,
    /// Where the plan starts.
    pub(crate) start: &'a Path,
    /// Variables that every program has.
    pub(crate) variables: &'a BTreeMap<String, String>,
}

/// What each step starts, or None if it enters a folder that is not there.
pub(crate) fn walk(plan: &Plan, place: &Place<'_>) -> Option<Vec<Vec<Record>>> {
    let enters_nothing = |action: &Action| match action {
        Action::Enter(folder) => !place.start.join(folder).is_dir(),
        Action::Run(_) => false,
    };
    if plan.steps.iter().any(|step| enters_nothing(&step.action)) {
        return None;
    }
    let mut steps = Vec::new();
    let mut succeeded = true;
    for step in &plan.steps {
        let is_taken = match step.joint {
            Joint::Always => true,
            Joint::Success => succeeded,
            Joint::Failure => !succeeded,
        };
        match &step.action {
            _ if !is_taken => {}
            Action::Enter(_) => succeeded = true,
            Action::Run(stages) => {
                let mut records = Vec::new();
                for (index, simple) in stages.iter().enumerate() {
                    let piped = (index > 0, index + 1 < stages.len());
                    let record = start(simple, index, piped, place);
                    succeeded =
                        record.is_some() && recorder::succeeds(&simple.words[0]) == Some(true);
                    records
                        .extend(record.filter(|_| recorder::succeeds(&simple.words[0]).is_some()));
                }
                steps.push(records);
            }
        }
    }
    Some(steps)
}

/// Starts a program of a pipeline. None if a file cannot be opened.
fn start(simple: &Simple, index: usize, piped: (bool, bool), place: &Place<'_>) -> Option<Record> {
    let folder = place.start.join(&simple.directory).canonicalize().unwrap();
    let mut files = ["in read".to_owned(), "out written".to_owned(), "err written".to_owned()];
    if piped.0 {
        files[0] = format!("pipe {index}");
    }
    if piped.1 {
        files[1] = format!("pipe {}", index + 1);
    }
    for Redirection { descriptor, target } in &simple.redirections {
        files[number(*descriptor)] = match target {
            Target::Nothing => "/dev/null".to_owned(),
            Target::Same(other) => files[number(*other)].clone(),
            Target::Read(path) => {
                File::open(folder.join(path)).ok()?;
                name(place.top, &folder.join(path), "read")
            }
            Target::Write(path) => {
                File::create(folder.join(path)).ok()?;
                name(place.top, &folder.join(path), recorder::mode(true, false))
            }
            Target::Append(path) => {
                OpenOptions::new().append(true).create(true).open(folder.join(path)).ok()?;
                name(place.top, &folder.join(path), recorder::mode(true, true))
            }
        };
    }
    let mut variables = place.variables.clone();
    variables.extend(simple.variables.iter().cloned());
    let folder = recorder::below(place.top, &folder);
    Some(Record { words: simple.words.clone(), variables, folder, files })
}

fn name(top: &Path, path: &Path, mode: &str) -> String {
    format!("{} {mode}", recorder::below(top, &path.canonicalize().unwrap()))
}

fn number(descriptor: Descriptor) -> usize {
    match descriptor {
        Descriptor::Input => 0,
        Descriptor::Output => 1,
        Descriptor::Error => 2,
    }
}
