//! What SQLite says, sorted by what a person would do about it.

use std::io;

use rusqlite::ErrorCode;
use rusqlite::ffi::SQLITE_IOERR_SHMSIZE;

use super::database::Place;
use crate::SessionError;
use crate::error::said;

/// What went wrong, before it is known in which file.
#[derive(Debug)]
pub(super) enum Problem {
    /// SQLite said so.
    Sql(rusqlite::Error),
    /// The file could not be made or looked at.
    File(io::Error),
    /// What is stored cannot be what was written.
    Damaged(String),
    /// The caller asked for something that cannot be done.
    Refused(SessionError),
}

impl Problem {
    pub(super) fn is_busy(&self) -> bool {
        let Self::Sql(error) = self else { return false };
        let code = error.sqlite_error_code();
        matches!(code, Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
    }

    pub(super) fn explain(self, place: &Place) -> SessionError {
        let database = place.path.clone();
        match self {
            Self::Sql(error) => explain_sql(&error, place),
            Self::Damaged(fault) => SessionError::Damaged { database, fault },
            Self::Refused(error) => error,
            Self::File(error) => match error.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                    SessionError::NoSpace { database }
                }
                io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                    SessionError::NoAccess { database, fault: error.to_string() }
                }
                _ => SessionError::Storage { database, fault: error.to_string() },
            },
        }
    }
}

impl From<rusqlite::Error> for Problem {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Self {
        Self::File(error)
    }
}

impl From<SessionError> for Problem {
    fn from(error: SessionError) -> Self {
        Self::Refused(error)
    }
}

/// What SQLite said in detail.
fn extended(error: &rusqlite::Error) -> Option<i32> {
    error.sqlite_error().map(|error| error.extended_code)
}

fn explain_sql(error: &rusqlite::Error, place: &Place) -> SessionError {
    use rusqlite::Error;
    let (database, fault) = (place.path.clone(), said(error));
    let Some(code) = error.sqlite_error_code() else {
        return match error {
            // A column holds what was never put into it.
            Error::FromSqlConversionFailure(..)
            | Error::IntegralValueOutOfRange(..)
            | Error::InvalidColumnType(..)
            | Error::Utf8Error(..) => SessionError::Damaged { database, fault },
            _ => SessionError::Storage { database, fault },
        };
    };
    match code {
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => {
            SessionError::Locked { database, waited: place.wait }
        }
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => {
            SessionError::Damaged { database, fault }
        }
        ErrorCode::DiskFull => SessionError::NoSpace { database },
        // The file that readers and writers share beside the log could not be made as large as it
        // has to be.
        ErrorCode::SystemIoFailure if extended(error) == Some(SQLITE_IOERR_SHMSIZE) => {
            SessionError::NoSpace { database }
        }
        ErrorCode::PermissionDenied | ErrorCode::ReadOnly | ErrorCode::CannotOpen => {
            SessionError::NoAccess { database, fault }
        }
        _ => SessionError::Storage { database, fault },
    }
}
