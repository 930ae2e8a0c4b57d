//! What this machine offers, and a trial of every promise.
//!
//! A trial is an attack by a program that has shown first that it could attack: one that fails because
//! a tool is missing says nothing. What became of it is seen from outside wherever that can be, not
//! taken from what the program says.

mod attempt;
mod company;
mod error;
mod examination;
mod memory;
mod trial;

pub use error::{AttemptFault, OfferError, TrialError};
pub use examination::{Offer, Report, examine, make_folder};
pub use trial::{Bounds, Place, Trial, Verdict, try_promises};
