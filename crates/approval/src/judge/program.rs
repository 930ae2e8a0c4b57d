//! One program of a plan: what it is, what it starts, and who allows it.

use std::cell::OnceCell;
use std::path::Path;
use std::rc::Rc;

use super::entries::Entries;
use super::found::{Found, Machine};
use super::miss::{ProgramDoubt, ProgramMiss};
use super::paths::is_within;
use crate::facts::{Executable, FileFact};
use crate::parse::{MAX_VARIABLES, quote};
use crate::policy::Policy;
use crate::show::brief;
use crate::tables::{self, Because, Fault, Inner, Kind};
use crate::verdict::Basis;

/// Most programs that start each other.
const MAX_DEPTH: usize = 4;
/// Most words of a program among which scripts are looked for.
const MAX_OPERANDS: usize = 64;
/// Most bytes of a command in a sentence, before it is shortened.
const MAX_TEXT: usize = 512;

/// A program with its arguments, where it runs.
pub(super) struct Invocation<'a> {
    /// The program as it is written, and its arguments. Never empty.
    pub(super) words: &'a [String],
    /// What was found for it.
    pub(super) found: &'a Found,
    /// Its folder, with all links followed.
    pub(super) directory: &'a Path,
    /// Whether anybody is told why it is not allowed.
    pub(super) is_told: bool,
    arguments: OnceCell<String>,
    uncovered: [OnceCell<bool>; 2],
}

/// What a program comes to when wrappers are taken off.
#[derive(Debug, Default)]
pub(super) struct Unwrapped {
    /// Programs that are started by the one before: which word names each, and what it is.
    pub(super) inner: Vec<(usize, Rc<Found>)>,
    /// Variables that wrappers set.
    pub(super) variables: Vec<(String, String)>,
    /// Why not all could be taken off.
    pub(super) miss: Option<ProgramMiss>,
    /// Why nothing of it may run.
    pub(super) refusal: Option<String>,
}

impl<'a> Invocation<'a> {
    pub(super) fn new(words: &'a [String], found: &'a Found, directory: &'a Path) -> Self {
        let uncovered = [OnceCell::new(), OnceCell::new()];
        Self { words, found, directory, is_told: true, arguments: OnceCell::new(), uncovered }
    }

    /// Returns the reason that it is not allowed, if anybody is told.
    pub(super) fn told(&self, reason: impl FnOnce() -> ProgramMiss) -> ProgramMiss {
        if self.is_told { reason() } else { ProgramMiss::Untold }
    }

    /// Its arguments, written as for a shell.
    pub(super) fn arguments(&self) -> &str {
        self.arguments.get_or_init(|| {
            self.words[1..].iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ")
        })
    }

    /// Why an entry without arguments does not cover it.
    pub(super) fn uncovered(&self, is_for_folder: bool) -> Option<Because> {
        let program = (&self.found.program, self.found.kind);
        tables::uncovered(self.words, program, is_for_folder)
    }

    /// Whether an entry without arguments does not cover it.
    pub(super) fn is_uncovered(&self, is_for_folder: bool) -> bool {
        let known = &self.uncovered[usize::from(is_for_folder)];
        *known.get_or_init(|| self.uncovered(is_for_folder).is_some())
    }

    /// It as part of a sentence: its beginning.
    pub(super) fn brief(&self) -> String {
        let mut text = quote(&self.words[0]);
        for word in &self.words[1..] {
            if text.len() > MAX_TEXT {
                break;
            }
            text.push(' ');
            text.push_str(&quote(word));
        }
        brief(&text)
    }
}

/// Takes wrappers off a program, as far as tables know them.
pub(super) fn unwrap(
    words: &[String],
    outer: &Rc<Found>,
    directory: &Path,
    (machine, policy): (&Machine<'_>, &Policy),
) -> Unwrapped {
    let mut unwrapped = Unwrapped::default();
    let mut at = 0;
    let mut current = Rc::clone(outer);
    loop {
        let rest = &words[at..];
        if let Some(refusal) = refusal(rest, current.kind) {
            unwrapped.refusal = Some(refusal);
            return unwrapped;
        }
        let Kind::Wrapper(wrapper) = current.kind else { return unwrapped };
        let inner = match tables::inner_of(wrapper, rest) {
            Ok(None) => return unwrapped,
            Ok(Some(inner)) => inner,
            Err(word) => {
                let (program, word) = (brief(&rest[0]), brief(word));
                unwrapped.miss = Some(ProgramMiss::WrapperArgument { program, word });
                return unwrapped;
            }
        };
        if let Err(doubt) = is_taken_by_name(&current.program, policy) {
            unwrapped.miss = Some(ProgramMiss::Doubtful { program: brief(&rest[0]), doubt });
            return unwrapped;
        }
        if unwrapped.inner.len() == MAX_DEPTH {
            unwrapped.miss = Some(ProgramMiss::TooDeep { limit: MAX_DEPTH });
            return unwrapped;
        }
        let Inner { at: inner_at, variables } = inner;
        unwrapped.variables.extend(variables);
        if unwrapped.variables.len() > MAX_VARIABLES {
            let (program, limit) = (brief(&rest[0]), MAX_VARIABLES);
            unwrapped.miss = Some(ProgramMiss::TooManyVariables { program, limit });
            return unwrapped;
        }
        at += inner_at;
        let Some(found) = machine.program(directory, &words[at]) else {
            if tables::is_privileged(&words[at]) {
                unwrapped.refusal = Some(privileged(&words[at]));
            } else {
                unwrapped.miss = Some(not_installed(&words[at]));
            }
            return unwrapped;
        };
        unwrapped.inner.push((at, Rc::clone(&found)));
        let program = &found.program;
        if program.called_by() != program.file.real
            && let Err(doubt) = is_taken_by_name(program, policy)
        {
            // It is started by a link, which nobody else may have made.
            unwrapped.miss = Some(ProgramMiss::Doubtful { program: brief(&words[at]), doubt });
            return unwrapped;
        }
        current = found;
    }
}

/// Why a program may not run at all.
fn refusal(words: &[String], kind: Kind) -> Option<String> {
    match kind {
        Kind::Privilege => Some(privileged(&words[0])),
        Kind::Carrier | Kind::MultiCall | Kind::Runner => {
            words[1..].iter().find(|word| tables::is_privileged(word)).map(|word| privileged(word))
        }
        _ => None,
    }
}

pub(super) fn privileged(word: &str) -> String {
    format!("`{}` changes who or where a program is; it never runs here", brief(word))
}

pub(super) fn not_installed(word: &str) -> ProgramMiss {
    let word = brief(word);
    if word.contains('/') { ProgramMiss::NoFile(word) } else { ProgramMiss::NotInstalled(word) }
}

/// Who allows a program.
///
/// # Errors
///
/// Why nobody does.
pub(super) fn basis(
    invocation: &Invocation<'_>,
    entries: &Entries<'_>,
    policy: &Policy,
) -> Result<Basis, ProgramMiss> {
    let nearly = match entries.covering(invocation) {
        Ok(entry) => return Ok(Basis::Entry(entry.id.clone())),
        Err(nearly) => nearly,
    };
    let mut fault = match as_filter(invocation, policy) {
        Some(Ok(())) => return Ok(Basis::Safe),
        Some(Err(fault)) => Some(fault),
        None => None,
    };
    match of_skill(invocation, policy) {
        Some(Ok(skill)) => match entries.foreign_programs(invocation) {
            None => return Ok(Basis::Skill(skill)),
            Some(programs) => fault = fault.or(Some(programs.into())),
        },
        Some(Err(reason)) => fault = fault.or(Some(reason)),
        None => {}
    }
    Err(nearly.or(fault).unwrap_or_else(|| invocation.told(|| unknown(invocation))))
}

/// Whether a program is one of the filters that may be used, with arguments of a filter.
fn as_filter(invocation: &Invocation<'_>, policy: &Policy) -> Option<Result<(), ProgramMiss>> {
    let (name, arguments) = invocation.words.split_first()?;
    if !policy.safe_programs.contains(name) {
        return None;
    }
    let answer = tables::filter(name, arguments)?;
    let found = invocation.found;
    let program = brief(name);
    if let Err(doubt) = is_taken_by_name(&found.program, policy) {
        return Some(Err(ProgramMiss::Doubtful { program, doubt }));
    }
    if let Some(words) = found.kind.words() {
        return Some(Err(ProgramMiss::NoFilter { program, words }));
    }
    Some(answer.map_err(|fault| match fault {
        Fault::Option(word) => ProgramMiss::FilterOption { program, word: brief(word) },
        Fault::Operand(word) => ProgramMiss::FilterOperand { program, word: brief(word) },
        Fault::Missing => ProgramMiss::FilterArgument(program),
    }))
}

/// Whether a program is one that a skill brings or needs.
fn of_skill(invocation: &Invocation<'_>, policy: &Policy) -> Option<Result<String, ProgramMiss>> {
    let word = &invocation.words[0];
    let of_name = || policy.skill_programs.iter().filter(|program| program.name == *word);
    let first = of_name().next()?;
    let program = &invocation.found.program;
    let name = brief(word);
    let Some(found) = of_name().find(|known| known.real == program.file.real) else {
        return Some(Err(ProgramMiss::OtherProgram {
            program: name,
            real: brief(&program.file.real.to_string_lossy()),
            skill: brief(&first.skill),
        }));
    };
    // Tables are about programs that are what they are called. A skill may bring another of the same name.
    if let Err(doubt) = is_taken_by_name(program, policy) {
        return Some(Err(ProgramMiss::Doubtful { program: name, doubt }));
    }
    Some(match tables::uncovered(invocation.words, (program, invocation.found.kind), false) {
        None => Ok(found.skill.clone()),
        Some(because) => Err(ProgramMiss::BeyondSkill {
            command: invocation.brief(),
            skill: brief(&found.skill),
            program: name,
            because,
        }),
    })
}

fn unknown(invocation: &Invocation<'_>) -> ProgramMiss {
    let program = brief(&invocation.words[0]);
    match invocation.found.kind.words() {
        Some(words) => ProgramMiss::Unlisted { program, words },
        None => ProgramMiss::Unknown(program),
    }
}

/// Whether a program is what its bare name says.
///
/// # Errors
///
/// Why not, as the rest of a sentence.
pub(super) fn is_taken_by_name(program: &Executable, policy: &Policy) -> Result<(), ProgramDoubt> {
    let is_trusted = program
        .path
        .parent()
        .is_some_and(|parent| policy.trusted_folders.iter().any(|folder| folder == parent));
    if !is_trusted {
        return Err(ProgramDoubt::Elsewhere(brief(&program.path.to_string_lossy())));
    }
    is_left_alone(program, policy)
}

/// Whether nobody else, and no command, could have put a program where it is.
pub(super) fn is_left_alone(program: &Executable, policy: &Policy) -> Result<(), ProgramDoubt> {
    if is_within(&program.file.real, &policy.writable) {
        return Err(ProgramDoubt::Writable(brief(&program.file.real.to_string_lossy())));
    }
    if program.is_replaceable {
        return Err(ProgramDoubt::Replaceable);
    }
    Ok(())
}

/// Scripts among the words of a program that runs such.
pub(super) fn scripts(
    words: &[String],
    kind: Kind,
    directory: &Path,
    machine: &Machine<'_>,
) -> Vec<FileFact> {
    if matches!(kind, Kind::Ordinary | Kind::Wrapper(_) | Kind::Privilege) {
        return Vec::new();
    }
    operands(words).filter_map(|word| machine.file(directory, word)).collect()
}

/// The words of a program among which scripts are looked for.
pub(super) fn operands(words: &[String]) -> impl Iterator<Item = &str> {
    let named = words[1..].iter().filter(|word| !word.starts_with('-') && !word.is_empty());
    named.take(MAX_OPERANDS).map(String::as_str)
}
