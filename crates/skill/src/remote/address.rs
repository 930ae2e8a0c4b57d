//! Addresses of files on a server, and the paths they have in a skill.
//!
//! An address is compared as it is written; only for a path its percent signs are read. What could lead anywhere but
//! into the folder of its skill is no address here.

use crate::name::is_invisible;

/// Longest address that is taken.
const MAX_ADDRESS: usize = 2_048;
/// Longest name of a file or folder, in bytes, as file systems have it.
const MAX_PART: usize = 255;
/// Deepest folder of a skill.
const MAX_DEPTH: usize = 16;
/// What an address of a skill ends with.
const SKILL_FILE: &str = "/SKILL.md";

/// The address of the folder of a skill, and its last part, from the address of its `SKILL.md`.
pub(super) fn folder_of(uri: &str) -> Option<(&str, String)> {
    let folder = uri.strip_suffix(SKILL_FILE)?;
    let (scheme, rest) = folder.split_once("://")?;
    let is_scheme = scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    if !is_scheme || uri.len() > MAX_ADDRESS {
        return None;
    }
    let parts: Option<Vec<String>> = rest.split('/').map(part).collect();
    Some((folder, parts?.pop()?))
}

/// The path of a file in a folder, with slashes.
pub(super) fn path_in(folder: &str, uri: &str) -> Option<String> {
    let inside = uri.strip_prefix(folder)?.strip_prefix('/')?;
    if uri.len() > MAX_ADDRESS {
        return None;
    }
    let parts: Vec<String> = inside.split('/').map(part).collect::<Option<_>>()?;
    (parts.len() <= MAX_DEPTH).then(|| parts.join("/"))
}

/// One part of a path, if it can be nothing but a name.
fn part(text: &str) -> Option<String> {
    let name = decoded(text)?;
    let is_name = !name.is_empty()
        && name.len() <= MAX_PART
        && name != "."
        && name != ".."
        && !name.contains(['/', '\\'])
        && !name.contains(is_invisible);
    is_name.then_some(name)
}

/// A part of an address with its percent signs read; none if that is no text. A question mark or a number sign would
/// end the path of an address.
pub fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'%' => {
                let mut digit = || char::from(rest.next()?).to_digit(16);
                let value = digit()? * 16 + digit()?;
                bytes.push(u8::try_from(value).ok()?);
            }
            b'?' | b'#' => return None,
            other => bytes.push(other),
        }
    }
    String::from_utf8(bytes).ok()
}
