//! Requests over streamable HTTP.
