//! Tokens: who has one may do what the server offers.

use std::fmt;

use http::HeaderMap;
use http::header::AUTHORIZATION;
use sha2::{Digest as _, Sha256};
use thiserror::Error;

/// The shortest token: shorter ones could be guessed.
const MIN_LENGTH: usize = 16;
/// The longest token.
const MAX_LENGTH: usize = 1024;
/// Tokens of a server: each costs a comparison for every request.
const MAX_TOKENS: usize = 64;
/// Tells names of holders from other digests.
const HOLDER: &[u8] = b"metier holder of a token\0";
/// The bytes of a name: enough that no two of the tokens of a server have the same.
const HOLDER_BYTES: usize = 8;
/// What comes before a token in a header.
const SCHEME: &str = "bearer ";

/// The tokens of a server, of which only digests are kept: comparing those takes the same time wherever they differ.
#[derive(Clone)]
pub struct Tokens(Vec<[u8; 32]>);

/// Why text has no tokens that can be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TokenError {
    /// There is none.
    #[error("there is no token")]
    None,
    /// There are too many.
    #[error("there are more than {MAX_TOKENS} tokens")]
    TooMany,
    /// One is too short or too long.
    #[error("line {0} has no token of {MIN_LENGTH} to {MAX_LENGTH} characters")]
    Length(usize),
    /// One cannot be sent in a header.
    #[error("the token in line {0} has characters that no header can carry")]
    Characters(usize),
}

impl Tokens {
    /// Reads tokens, one in a line. Empty lines and those that start with `#` are passed over.
    ///
    /// # Errors
    ///
    /// When a line has no token that can be used, or none has one.
    pub fn parse(text: &str) -> Result<Self, TokenError> {
        let mut tokens = Vec::new();
        for (number, token) in Self::lines(text) {
            if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
                return Err(TokenError::Characters(number));
            }
            if !(MIN_LENGTH..=MAX_LENGTH).contains(&token.len()) {
                return Err(TokenError::Length(number));
            }
            tokens.push(Sha256::digest(token).into());
        }
        match tokens.len() {
            0 => Err(TokenError::None),
            1..=MAX_TOKENS => Ok(Self(tokens)),
            _ => Err(TokenError::TooMany),
        }
    }

    /// What stands in lines that are not passed over, with their numbers.
    pub fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
        let lines = (1..).zip(text.lines().map(str::trim));
        lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
    }

    /// How many there are, at least one.
    #[expect(clippy::len_without_is_empty, reason = "there is always one")]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns a name for whoever has each token, in their order.
    ///
    /// A name follows from the token alone, so it stays the same when the server starts again and when other tokens come
    /// and go. It is part of a digest of a digest: the token does not follow from it, nor what tokens are compared by.
    pub fn holders(&self) -> Vec<String> {
        let name = |digest: &[u8; 32]| {
            let digest = Sha256::new().chain_update(HOLDER).chain_update(digest).finalize();
            digest[..HOLDER_BYTES].iter().map(|byte| format!("{byte:02x}")).collect()
        };
        self.0.iter().map(name).collect()
    }

    /// Which token a request has, by its place in the list.
    pub(super) fn presented(&self, headers: &HeaderMap) -> Option<usize> {
        let mut values = headers.get_all(AUTHORIZATION).iter();
        let (value, None) = (values.next()?.as_bytes(), values.next()) else {
            return None;
        };
        let (scheme, token) = value.split_at_checked(SCHEME.len())?;
        if !scheme.eq_ignore_ascii_case(SCHEME.as_bytes()) {
            return None;
        }
        let given: [u8; 32] = Sha256::digest(token.trim_ascii()).into();
        self.0.iter().enumerate().fold(None, |found, (place, token)| {
            if differ(token, &given) == 0 { Some(place) } else { found }
        })
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Tokens({} × ****)", self.0.len())
    }
}

/// The bits in which two digests differ, all of them looked at.
fn differ(one: &[u8; 32], other: &[u8; 32]) -> u8 {
    one.iter().zip(other).fold(0, |bits, (one, other)| bits | (one ^ other))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "0123456789abcdef";
    const SECOND: &str = "fedcba9876543210";

    fn presented(values: &[&str]) -> Option<usize> {
        let tokens = Tokens::parse(&format!("# ours\n{FIRST}\n\n  {SECOND}  \n")).unwrap();
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(AUTHORIZATION, value.parse().unwrap());
        }
        tokens.presented(&headers)
    }

    #[test]
    fn a_token_is_known_by_its_place() {
        assert_eq!(presented(&["Bearer 0123456789abcdef"]), Some(0));
        assert_eq!(presented(&["bearer  fedcba9876543210"]), Some(1));
    }

    #[test]
    fn what_is_no_token_of_ours_opens_nothing() {
        for value in ["Bearer", "Bearer ", "Basic 0123456789abcdef", "0123456789abcdef"] {
            assert_eq!(presented(&[value]), None, "{value}");
        }
        for value in ["Bearer 0123456789abcde", "Bearer 0123456789abcdef0", "Bearer # ours"] {
            assert_eq!(presented(&[value]), None, "{value}");
        }
        assert_eq!(presented(&[]), None);
    }

    #[test]
    fn two_tokens_in_one_request_open_nothing() {
        assert_eq!(presented(&["Bearer 0123456789abcdef", "Bearer fedcba9876543210"]), None);
    }

    #[test]
    fn tokens_that_can_be_guessed_or_not_be_sent_are_refused() {
        let refused = |text: &str| Tokens::parse(text).unwrap_err();
        assert_eq!(refused("\n# nothing\n"), TokenError::None);
        assert_eq!(refused("\nshort\n"), TokenError::Length(2));
        assert_eq!(refused("with a space in the middle"), TokenError::Characters(1));
        assert_eq!(refused(&"x".repeat(2000)), TokenError::Length(1));
        assert_eq!(refused(&format!("{FIRST}\n").repeat(65)), TokenError::TooMany);
    }

    #[test]
    fn each_token_has_a_holder_of_its_own_that_stays() {
        let holders = |text: &str| Tokens::parse(text).unwrap().holders();
        let both = holders(&format!("{FIRST}\n{SECOND}"));
        assert_ne!(both[0], both[1]);
        assert_eq!(holders(SECOND), both[1..], "also when it is the only one left");
        let again = holders(&format!("{SECOND}\n{}\n{FIRST}", "x".repeat(20)));
        assert_eq!((&again[2], &again[0]), (&both[0], &both[1]));
        assert!(!both.concat().contains(FIRST));
    }

    #[test]
    fn nobody_sees_a_token_by_accident() {
        let tokens = Tokens::parse(FIRST).unwrap();
        assert_eq!(format!("{tokens:?}"), "Tokens(1 × ****)");
    }
}
