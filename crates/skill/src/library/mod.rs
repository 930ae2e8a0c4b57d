//! Which skills count: one of each name, judged by one evaluator, in an immutable snapshot.

mod choices;
mod eligibility;
mod entry;
mod entry_key;
mod gather;
mod namesakes;
mod published;
mod remote_trust;
mod skill_identity;
mod snapshot;
#[cfg(test)]
mod tests;
mod trust;
mod trusted_files;
mod untouched;
mod watch;

pub use choices::{Choices, EntryChoice, PatternError, Patterns};
pub(crate) use eligibility::is_system;
pub use eligibility::{Block, Machine, Missing, Verdict};
pub use entry::{Entry, Place};
pub use entry_key::{ClaimRefusal, EntryKey, EntryRefusal};
pub use published::Published;
pub use remote_trust::TrustedRemote;
pub use skill_identity::SkillIdentity;
pub use snapshot::{Change, Changes, LibraryOptions, Snapshot, build};
pub use trust::{FileChange, TrustError, TrustPolicy, TrustState, TrustStore, TrustedProject};
pub use trusted_files::{ChangedSkill, FirstLook, TrustedFiles};
pub use watch::{WatchError, Watched, Watcher};
