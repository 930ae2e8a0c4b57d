//! The runtime on which commands wait.

use crate::failure::Failure;

/// Runs a future to its end on a runtime of its own.
///
/// # Errors
///
/// When the system has no room for it, or what it ran failed.
pub(crate) fn block_on<T>(future: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::of_system(&error))?
        .block_on(future)
}
