//! Pages of long lists.
//!
//! A cursor says behind which item the next page begins. Items have an order of their own, so a cursor still means
//! something when others came or went in between.

use rmcp::ErrorData;

/// Longest place that a cursor can name, in bytes.
const MAX_BYTES: usize = 8192;
/// What cursors begin with; one of another server does not.
const MARK: &str = "m1-";

/// Where a page begins: behind an item, by the two words that order it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// The first word.
    pub first: String,
    /// The second.
    pub second: String,
}

impl Place {
    /// Behind an item.
    pub(super) fn behind(first: &str, second: &str) -> Self {
        Self { first: first.to_owned(), second: second.to_owned() }
    }

    /// Reads a cursor; without one, the beginning.
    ///
    /// # Errors
    ///
    /// When it is none of ours.
    pub(super) fn of_cursor(cursor: Option<&str>) -> Result<Option<Self>, ErrorData> {
        let Some(cursor) = cursor else { return Ok(None) };
        let place = cursor.strip_prefix(MARK).and_then(from_digits);
        let place = place.and_then(|text| {
            let (first, second) = text.split_once('\0')?;
            Some(Self::behind(first, second))
        });
        let wrong = || ErrorData::invalid_params("the cursor is not one that was given here", None);
        place.map(Some).ok_or_else(wrong)
    }

    /// The cursor of this place.
    pub(super) fn cursor(&self) -> String {
        let digits = [self.first.as_bytes(), b"\0", self.second.as_bytes()].concat();
        let digits = digits.iter().map(|byte| format!("{byte:02x}"));
        format!("{MARK}{}", digits.collect::<String>())
    }
}

fn from_digits(digits: &str) -> Option<String> {
    if digits.len() > 2 * MAX_BYTES || !digits.bytes().all(|it| it.is_ascii_hexdigit()) {
        return None;
    }
    let (pairs, rest) = digits.as_bytes().as_chunks::<2>();
    let bytes =
        pairs.iter().map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
    let bytes: Option<Vec<u8>> = bytes.collect();
    String::from_utf8(bytes.filter(|_| rest.is_empty())?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_back_and_a_strange_one_is_refused() {
        let place = Place::behind("pdf", "références/a b.md");
        assert_eq!(Place::of_cursor(Some(&place.cursor())).unwrap(), Some(place));
        assert_eq!(Place::of_cursor(None).unwrap(), None);
        for wrong in ["", "m1-", "m1-zz", "m1-6", "m1-6161", "61006a", "m1-ff00ff", "m1-61é0"] {
            let error = Place::of_cursor(Some(wrong)).unwrap_err();
            assert_eq!(error.code.0, -32602, "{wrong}");
        }
    }
}
