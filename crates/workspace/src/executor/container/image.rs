//! Names of images, as far as they can be told from other text. A name becomes a part of the path of a
//! request to the engine, so only what can be one gets there.

use super::error::ContainerError;

/// The longest name that is taken, in bytes.
const MAX_NAME: usize = 512;

/// An image that the engine has.
#[derive(Debug)]
pub(super) struct Image {
    pub(super) id: String,
    /// Folders of its `PATH`.
    pub(super) path: Vec<String>,
    /// Names of the variables it sets.
    pub(super) variables: Vec<String>,
}

/// Refuses what is not `[registry/]name[:tag][@digest]`.
pub(super) fn check_name(image: &str) -> Result<(), ContainerError> {
    let (rest, digest) = image.split_once('@').map_or((image, None), |(rest, it)| (rest, Some(it)));
    let (folders, last) = rest.rsplit_once('/').map_or((None, rest), |(it, last)| (Some(it), last));
    let (last, tag) = last.split_once(':').map_or((last, None), |(last, tag)| (last, Some(tag)));
    let mut folders = folders.into_iter().flat_map(|it| it.split('/'));
    let is_name = image.len() <= MAX_NAME
        && folders.next().is_none_or(is_registry)
        && folders.all(is_part)
        && is_part(last)
        && tag.is_none_or(|tag| is_made_of(tag, b"_.-", true))
        && digest.is_none_or(|digest| is_made_of(digest, b":+._-", true));
    if is_name { Ok(()) } else { Err(ContainerError::ImageName { image: image.to_owned() }) }
}

/// The first of several parts may be a host with a port.
fn is_registry(part: &str) -> bool {
    let (host, port) = part.split_once(':').unwrap_or((part, "1"));
    is_made_of(host, b".-_", true) && port.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_part(part: &str) -> bool {
    is_made_of(part, b"._-", false)
}

/// Whether a text begins with a letter or digit, and has such and a few other signs.
fn is_made_of(text: &str, others: &[u8], upper: bool) -> bool {
    let is_plain = |byte: u8| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || (upper && byte.is_ascii_uppercase())
    };
    text.bytes().next().is_some_and(is_plain)
        && text.bytes().all(|byte| is_plain(byte) || others.contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_be_a_name_gets_to_the_engine() {
        for name in [
            "debian",
            "debian:stable-slim",
            "team/name:v1.2_3",
            "localhost:5000/a/b-c__d:Latest",
            "Registry.example.org/a@sha256:0123abcd",
            "a:b@sha256:0123abcd",
            "0123abcd4567",
        ] {
            assert!(check_name(name).is_ok(), "{name}");
        }
        for name in [
            "",
            "a b",
            "Upper:latest",
            "../x",
            "a/../b",
            "a/",
            "/a",
            "a//b",
            "a\nb",
            "a?b=c",
            "a#b",
            "a%2fb",
            "--privileged",
            "a:",
            "a:b:c",
            "a@",
            "a:b/c",
            "localhost:x/a",
            "é",
            &"a".repeat(600),
        ] {
            assert!(check_name(name).is_err(), "{name}");
        }
    }
}
