//! A turn from its beginning to its end: the message, the files that come with it, and the session it is in.

pub mod attach;
mod conduct;
pub mod message;
pub mod names;

pub use attach::{AttachedFile, AttachmentError, AttachmentFault};
pub use conduct::TurnRequest;
pub use message::{CalledSkill, TurnMessage};
pub use names::SkillCommands;
