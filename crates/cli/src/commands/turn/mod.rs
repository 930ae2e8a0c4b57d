//! A turn of a model as a person sees it, for `run` and `chat`: files that come with it, what happens
//! while it lasts, and what is told in the end.

pub(super) mod calls;
pub(super) mod progress;
pub(super) mod report;
mod speech;
