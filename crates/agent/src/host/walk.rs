//! From a plan that was allowed to what is run: everything in it pinned to the state in which it was judged.

use std::ffi::OsString;
use std::path::Path;

use metier_approval::{
    Action, Approved, Executable, FileFact, Judged, Redirection, Simple, Target, WrittenPlace,
};
use metier_sandbox::{Descriptor, Joint, Pin, To, Walk, WalkStep, Walked, WritePin};

use super::git::GitUse;

/// The programs of a plan, as they are run.
pub(super) fn of_plan(approved: &Approved) -> Walk {
    let mut judged = approved.programs.iter();
    let steps = approved.plan.steps.iter().map(|step| {
        let programs = match &step.action {
            // Every program knows its folder.
            Action::Enter(_) => Vec::new(),
            Action::Run(commands) => {
                commands.iter().zip(&mut judged).map(|(simple, it)| walked(simple, it)).collect()
            }
        };
        WalkStep { joint: joint(step.joint), programs }
    });
    Walk { steps: steps.collect() }
}

/// A text that is given to a shell.
pub(super) fn of_text(shell: &Executable, text: &str, directory: &FileFact) -> Walk {
    let name = shell.path.file_name().unwrap_or_default().to_owned();
    let settings = GitUse::of_text(text).map(|git| git.variables(&[])).unwrap_or_default();
    let program = Walked {
        executable: shell.file.real.clone(),
        arguments: vec![name, "-c".into(), text.into()],
        environment: settings.into_iter().map(|(name, it)| (name.into(), it.into())).collect(),
        directory: directory.real.clone(),
        redirections: Vec::new(),
        pins: vec![file(&shell.file), folder(directory)],
        places: Vec::new(),
    };
    Walk { steps: vec![WalkStep { joint: Joint::Always, programs: vec![program] }] }
}

fn walked(simple: &Simple, judged: &Judged) -> Walked {
    let mut arguments: Vec<OsString> = simple.words.iter().map(OsString::from).collect();
    // What a wrapper starts is what was judged, wherever its own search would lead.
    for (place, inner) in &judged.inner {
        if let Some(argument) = arguments.get_mut(*place) {
            *argument = inner.called_by().as_os_str().to_owned();
        }
    }
    let git = GitUse::of(&simple.words, judged);
    if let Some((place, options)) = git.and_then(|git| git.options(&simple.words)) {
        arguments.splice(place..place, options.iter().map(OsString::from));
    }
    let programs = judged.inner.iter().map(|(_, inner)| &inner.file);
    let files = [&judged.program.file].into_iter().chain(programs).chain(&judged.scripts);
    // A link by whose name a program is called must lead there until it is followed.
    let links = judged.inner.iter().map(|(_, inner)| inner);
    let links = links.filter(|inner| inner.called_by() != inner.file.real);
    let links = links.filter_map(|inner| Pin::of(&inner.path).ok());
    let pins = files.map(file).chain([folder(&judged.directory)]).chain(links);
    let directory = &judged.directory.real;
    let pagers = PAGERS.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let settings = git.map(|git| git.variables(&simple.words)).unwrap_or_default();
    let variables = pagers.chain(settings).chain(simple.variables.iter().cloned());
    Walked {
        executable: judged.program.file.real.clone(),
        arguments,
        environment: variables.map(|(name, it)| (name.into(), it.into())).collect(),
        directory: directory.clone(),
        redirections: simple.redirections.iter().map(|it| redirection(it, directory)).collect(),
        pins: pins.collect(),
        places: judged.places.iter().map(place).collect(),
    }
}

/// Programs that show something page by page, which takes orders on a terminal, show it whole instead.
const PAGERS: [(&str, &str); 4] =
    [("GIT_PAGER", "cat"), ("LESSSECURE", "1"), ("MANPAGER", "cat"), ("PAGER", "cat")];
fn redirection(redirection: &Redirection, directory: &Path) -> (Descriptor, To) {
    let to = match &redirection.target {
        Target::Nothing => To::Nothing,
        Target::Same(other) => To::Same(descriptor(*other)),
        Target::Read(path) => To::Read(directory.join(path)),
        Target::Write(path) => To::Write(directory.join(path)),
        Target::Append(path) => To::Append(directory.join(path)),
    };
    (descriptor(redirection.descriptor), to)
}

fn descriptor(descriptor: metier_approval::Descriptor) -> Descriptor {
    match descriptor {
        metier_approval::Descriptor::Input => Descriptor::Input,
        metier_approval::Descriptor::Output => Descriptor::Output,
        metier_approval::Descriptor::Error => Descriptor::Error,
    }
}

fn joint(joint: metier_approval::Joint) -> Joint {
    match joint {
        metier_approval::Joint::Always => Joint::Always,
        metier_approval::Joint::Success => Joint::Success,
        metier_approval::Joint::Failure => Joint::Failure,
    }
}

fn place(place: &WrittenPlace) -> WritePin {
    let WrittenPlace { path, real, is_folder } = place.clone();
    WritePin { path, real, is_folder }
}

fn file(fact: &FileFact) -> Pin {
    pin(fact, false)
}

fn folder(fact: &FileFact) -> Pin {
    pin(fact, true)
}

fn pin(fact: &FileFact, is_folder: bool) -> Pin {
    let it = fact.identity;
    Pin {
        path: fact.real.clone(),
        device: it.device,
        inode: it.inode,
        size: it.size,
        modified_ns: it.modified,
        changed_ns: it.changed,
        is_folder,
    }
}
