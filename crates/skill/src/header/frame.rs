//! The frame of a `SKILL.md`: a header between two `---` lines, then the body.
//!
//! Works on bytes, so that a reader may stop as soon as the header is closed and
//! a broken byte in the body never hides the header.

use thiserror::Error;

use crate::text::Span;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Where the header and the body are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The lines between the delimiters.
    pub header: Span,
    /// Everything after the closing line.
    pub body: Span,
    /// Whether a byte order mark comes first.
    pub byte_order_mark: bool,
}

/// Why there is no header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum FrameError {
    /// The first line is not `---`.
    #[error("the file does not start with a `---` line")]
    NoHeader,
    /// No later line is `---`.
    #[error("the header is never closed by a `---` line")]
    Unclosed,
}

impl Frame {
    /// Finds the header in a whole file or in the beginning of one.
    ///
    /// # Errors
    ///
    /// When the first line does not open a header or no later line closes it.
    pub fn find(bytes: &[u8]) -> Result<Self, FrameError> {
        let byte_order_mark = bytes.starts_with(BYTE_ORDER_MARK);
        let mut offset = if byte_order_mark { BYTE_ORDER_MARK.len() } else { 0 };
        let mut lines = bytes[offset..].split_inclusive(|&byte| byte == b'\n');
        let opening = lines.next().filter(|line| is_delimiter(line)).ok_or(FrameError::NoHeader)?;
        offset += opening.len();
        let start = offset;
        for line in lines {
            let end = offset + line.len();
            if is_delimiter(line) {
                return Ok(Self {
                    header: Span::new(start, offset),
                    body: Span::new(end, bytes.len()),
                    byte_order_mark,
                });
            }
            offset = end;
        }
        Err(FrameError::Unclosed)
    }
}

fn is_delimiter(line: &[u8]) -> bool {
    line.strip_prefix(b"---").is_some_and(|rest| rest.trim_ascii().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(text: &str) -> String {
        match Frame::find(text.as_bytes()) {
            Ok(frame) => format!("{:?} | {:?}", frame.header.slice(text), frame.body.slice(text)),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn dashes_inside_a_value_do_not_close_the_header() {
        insta::assert_snapshot!(
            outcome("---\na: b --- c\nd: |\n  ---\n---\nBody\n---\n"),
            @r#""a: b --- c\nd: |\n  ---\n" | "Body\n---\n""#
        );
    }

    #[test]
    fn blanks_carriage_returns_and_a_byte_order_mark_are_accepted() {
        insta::assert_snapshot!(outcome("\u{feff}--- \t\r\na: b\r\n---\r\nx"), @r#""a: b\r\n" | "x""#);
    }

    #[test]
    fn a_header_needs_both_lines() {
        insta::assert_snapshot!(outcome("# Title\n---\n---\n"), @"the file does not start with a `---` line");
        insta::assert_snapshot!(outcome("\n---\na: b\n---\n"), @"the file does not start with a `---` line");
        insta::assert_snapshot!(outcome("---\na: b\n----\n"), @"the header is never closed by a `---` line");
        insta::assert_snapshot!(outcome(""), @"the file does not start with a `---` line");
    }

    #[test]
    fn the_closing_line_may_end_the_file() {
        insta::assert_snapshot!(outcome("---\na: b\n---"), @r#""a: b\n" | """#);
        insta::assert_snapshot!(outcome("---\n---\n"), @r#""" | """#);
    }
}
