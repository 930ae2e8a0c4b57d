//! The application and user on whose behalf everything happens.

/// The application and user that own sessions, artifacts and approvals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    /// The application.
    pub app: String,
    /// Its user.
    pub user: String,
}

impl Principal {
    /// Returns the person at this machine, as the command line has always named them.
    #[must_use]
    pub fn local() -> Self {
        Self { app: "metier".to_owned(), user: "local".to_owned() }
    }
}
