//! What an Agent Skill is, where skills are, which are usable, and what a model is told of them.
//!
//! - [`header`] reads a `SKILL.md`; [`diagnostic`] is what can be wrong with one; [`explanation`]
//!   says what each rule means; [`fix`] mends it.
//! - [`files`] lists a skill's folder, reads its docs and makes its digest.
//! - [`discover`] finds skills in roots; [`library`] chooses and judges them; [`catalog`] tells a
//!   model about them; [`search`] finds the ones that are not told.
//! - [`advice`] is what a person can do, as data that front ends word.
//! - [`remote`] is about skills that other servers offer.
//! - [`lint`] looks at whole skills; [`examples`] finds the commands they show; [`archive`] unpacks
//!   archives of them; [`install`] plans how to get the programs they need.
//! - [`mod@reference`] judges in the words of the format's reference tool.
//!
//! From a folder to what a model is told, and to the skill that it asks for:
//!
//! ```
//! use metier_skill::catalog::default_budget;
//! use metier_skill::discover::Root;
//! use metier_skill::library::{Choices, Entry, LibraryOptions, Machine, TrustPolicy, build};
//! use metier_skill::search::SkillIndex;
//!
//! # let folder = tempfile::tempdir()?;
//! # for (name, does) in [("csv-stats", "Sums up the columns of CSV files."), ("log-lens", "Finds errors in log files.")] {
//! #     let skill = folder.path().join(name);
//! #     std::fs::create_dir(&skill)?;
//! #     std::fs::write(skill.join("SKILL.md"), format!("---\nname: {name}\ndescription: {does}\n---\n\nText.\n"))?;
//! # }
//! // A folder with `csv-stats/SKILL.md` and `log-lens/SKILL.md`.
//! let roots = [Root::named(folder.path().to_owned())];
//! let programs = ["/usr/bin".into(), "/bin".into()];
//! let snapshot = build(&LibraryOptions {
//!     roots: &roots,
//!     bundled: &[],
//!     remote: &[],
//!     choices: &Choices::all(),
//!     machine: &Machine::new("linux", &programs),
//!     trust: TrustPolicy::All,
//!     cache: None,
//!     catalog_tokens: default_budget(None),
//! });
//! assert!(snapshot.problems.is_empty(), "whatever is wrong with a skill is here");
//! assert_eq!(
//!     snapshot.catalog.text,
//!     "Available skills:\n- csv-stats: Sums up the columns of CSV files.\n- log-lens: Finds errors in log files.\n"
//! );
//!
//! let index = SkillIndex::new(&snapshot, Entry::is_model_visible);
//! let (best, _score) = index.search("why did the server fail, according to its logs", 3)[0];
//! assert_eq!(best.name.as_str(), "log-lens");
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Everything is synchronous, prints nothing, and is given what it must know: no environment
//! variable is read and no home directory is known here.

pub mod advice;
pub mod archive;
pub mod catalog;
pub mod diagnostic;
pub mod discover;
pub mod examples;
pub mod explanation;
pub mod files;
pub mod fix;
pub mod header;
pub mod install;
pub mod library;
pub mod lint;
pub mod name;
pub mod problem;
pub mod reference;
pub mod remote;
pub mod search;
pub mod text;
pub mod tokens;

mod cache;
#[cfg(test)]
mod scratch;
