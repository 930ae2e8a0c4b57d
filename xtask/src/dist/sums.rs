//! Digests, and the list of them that `sha256sum -c` reads.

use sha2::{Digest, Sha256};

/// The SHA-256 digest of some bytes, in hexadecimal digits.
pub(super) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A line for each file, sorted by name.
pub(super) fn list(files: &[(String, Vec<u8>)]) -> String {
    let mut lines: Vec<_> = files.iter().map(|(name, bytes)| (name, sha256(bytes))).collect();
    lines.sort();
    lines.iter().map(|(name, digest)| format!("{digest}  {name}\n")).collect()
}
