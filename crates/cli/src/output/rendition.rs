//! The parameters of colour sequences (SGR) that a program may have on a terminal.
//!
//! Fonts (10 to 20) do not pass. On the Linux console and in PuTTY they are character sets in which UTF-8 is shown byte by
//! byte, bytes of it may be control characters, and `0` does not end them. Terminals do not agree on what to read in
//! colours that are incomplete or numbers that are too large, so these do not pass either.

use std::ops::RangeInclusive;

/// The parameters that choose a font or character set.
const FONTS: RangeInclusive<u8> = 10..=20;

/// Returns the parameters that pass. `None` is an empty sequence that must not be written: it would take colours off.
pub(super) fn passing_rendition(parameters: &str) -> Option<String> {
    let all: Vec<&str> = parameters.split(';').collect();
    let mut passing: Vec<&str> = Vec::with_capacity(all.len());
    let mut rest = &all[..];
    while let Some(first) = rest.first() {
        let length = match attribute(first) {
            Some(38 | 48) if !first.contains(':') => color_length(rest).unwrap_or_default(),
            Some(attribute) if !FONTS.contains(&attribute) => 1,
            _ => 0,
        };
        passing.extend(&rest[..length]);
        rest = &rest[length.max(1)..];
    }
    (!passing.is_empty()).then(|| passing.join(";"))
}

/// Returns the number that a parameter begins with; what follows a colon says more about it.
fn attribute(parameter: &str) -> Option<u8> {
    let number = parameter.split(':').next().unwrap_or_default();
    if number.is_empty() { Some(0) } else { number.parse().ok() }
}

/// Returns how many parameters a colour of a palette (`38;5;N`) or of three parts (`38;2;R;G;B`) has, if all are there.
fn color_length(parameters: &[&str]) -> Option<usize> {
    let length = match *parameters.get(1)? {
        "5" => 3,
        "2" => 5,
        _ => return None,
    };
    let numbers = parameters.get(2..length)?;
    let is_number = |it: &&str| !it.contains(':') && attribute(it).is_some();
    numbers.iter().all(is_number).then_some(length)
}

#[cfg(test)]
mod tests {
    use super::passing_rendition;

    #[test]
    fn fonts_and_what_may_be_read_as_one_do_not_pass() {
        let cases = [
            ("", Some("")),
            ("0", Some("0")),
            ("1;31", Some("1;31")),
            (";4:3;", Some(";4:3;")),
            ("38;5;11", Some("38;5;11")),
            ("38;2;10;11;12;48;5;20;1", Some("38;2;10;11;12;48;5;20;1")),
            ("38:5:11;38:2::10:11:12", Some("38:5:11;38:2::10:11:12")),
            ("11", None),
            ("10;20", None),
            ("9;10;11;20;21", Some("9;21")),
            ("0;011;12:1", Some("0")),
            ("4294967307;267;1", Some("1")),
            ("38;11", None),
            ("38;5", Some("5")),
            ("38;2;11;12", Some("2")),
            ("38;38;5;11", Some("38;5;11")),
            ("38;5;300;11", Some("5")),
            ("38;05;11", Some("05")),
            ("58;5;11;1", Some("58;5;1")),
        ];
        for (parameters, expected) in cases {
            assert_eq!(passing_rendition(parameters).as_deref(), expected, "{parameters:?}");
        }
    }
}
