//! May this command run.
//!
//! A command is judged in two steps. [`parse()`] reads its text by the grammar of the shell and gives
//! a [`Plan`], which says exactly which programs would be started, with which arguments, in which
//! folder, joined how; whatever a plan cannot say is [not analysable](NotAnalysable). [`judge()`] then asks for
//! each program of the plan who allows it. What is allowed is run from the plan: the text is never
//! given to a shell again.
//!
//! Everything here is pure and synchronous. What must be known about this machine is asked of
//! [`Facts`]; what people decided comes in with the [`Policy`]. Asking, remembering and running belong to
//! others.
//!
//! ```
//! use std::path::Path;
//!
//! use metier_approval::{
//!     ArgumentRule, Ask, Entry, Executable, Facts, FileFact, Identity, Mode, Policy, ProtectedPlaces, Rules, Verdict, judge, parse,
//!     shown,
//! };
//!
//! /// A machine with nothing but programs in `/usr/bin`. `metier_agent::host::Machine` is the one you are on.
//! struct Table;
//!
//! impl Facts for Table {
//!     fn executable(&self, _directory: &Path, word: &str) -> Option<Executable> {
//!         let path = Path::new("/usr/bin").join(word);
//!         let file = self.folder(&path)?;
//!         Some(Executable { path, file, is_replaceable: false, interpreter: None })
//!     }
//!     fn folder(&self, path: &Path) -> Option<FileFact> {
//!         Some(FileFact { real: path.to_owned(), identity: Identity::default() })
//!     }
//!     fn file(&self, _directory: &Path, _path: &str) -> Option<FileFact> {
//!         None
//!     }
//!     fn digest(&self, _file: &FileFact) -> Option<String> {
//!         None
//!     }
//!     fn repository_settings(&self, _directory: &Path) -> Option<Vec<String>> {
//!         Some(Vec::new())
//!     }
//! }
//!
//! // `git status` is allowed, and nothing else. What nobody allowed is asked about.
//! let arguments = ArgumentRule::Like("status".to_owned());
//! let policy = Policy {
//!     rules: Rules { mode: Mode::Allowlist, ask: Ask::OnMiss, fallback: Mode::Deny },
//!     entries: vec![Entry { id: "1".into(), pattern: "git".into(), arguments, directory: None }],
//!     remembered: vec![],
//!     safe_programs: vec![],
//!     trusted_folders: vec!["/usr/bin".into()],
//!     skill_programs: vec![],
//!     writable: vec![],
//!     variables: vec![],
//!     protected: ProtectedPlaces::default(),
//! };
//! let verdict = |text: &str| judge(&parse(text), Path::new("/work"), &Table, &policy);
//! assert!(matches!(verdict("git status"), Verdict::Allow(_)));
//! let Verdict::Ask { reason, plan: Some(plan), .. } = verdict("git status && rm -r .") else { panic!() };
//! assert_eq!(reason, "nobody allowed `rm`");
//! assert_eq!(shown(&plan)?.lines, ["git status", "&& rm -r ."]);
//! // Nobody can say which programs this would start.
//! assert!(matches!(verdict("$(cat plan)"), Verdict::Ask { plan: None, .. }));
//! # Ok::<(), metier_approval::TooLong>(())
//! ```

mod facts;
mod judge;
mod parse;
mod plan;
mod policy;
mod restricted;
mod show;
mod tables;
mod verdict;

pub use facts::{Executable, Facts, FileFact, Identity};
pub use judge::{EntryCoverage, judge, normal};
pub use parse::{MAX_BYTES, MAX_COMMANDS, MAX_VARIABLES, MAX_WORDS, NotAnalysable, parse, quote};
pub use plan::{Action, Descriptor, Joint, Plan, Redirection, Simple, Step, Target};
pub use policy::{
    ArgumentRule, Ask, Entry, Mode, Policy, ProtectedPlaces, Remembered, Rules, SkillProgram,
};
pub use restricted::{Refusal, restricted};
pub use show::{MAX_LINES, MAX_SHOWN, Shown, TooLong, shown, shown_text};
pub use tables::{is_allowed_variable, is_loader_variable, names_installation};
pub use verdict::{Approved, Basis, Judged, Pinned, Verdict, WrittenPlace};
