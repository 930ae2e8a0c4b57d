//! The ids of traces and spans, and the parent that came from outside.

/// The id of a trace.
pub(crate) type TraceId = [u8; 16];
/// The id of a span.
pub(crate) type SpanId = [u8; 8];

/// A span of another process, below which those of this one belong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parent {
    pub(crate) trace: TraceId,
    pub(crate) span: SpanId,
    is_sampled: bool,
}

impl Parent {
    /// Reads a `traceparent` as the W3C specifies it; `None` if it is none.
    ///
    /// Versions to come may have more behind the part that is read here.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.trim().split('-');
        let mut next = || parts.next();
        let (version, trace, span, flags) = (next()?, next()?, next()?, next()?);
        let [version]: [u8; 1] = bytes(version)?;
        let [flags]: [u8; 1] = bytes(flags)?;
        let is_whole = version != 0 || next().is_none();
        let is_sampled = flags & 1 != 0;
        let parent = Self { trace: bytes(trace)?, span: bytes(span)?, is_sampled };
        let is_one = parent.trace != [0; 16] && parent.span != [0; 8];
        (version != u8::MAX && is_whole && is_one).then_some(parent)
    }

    /// Whether anybody wants the spans of this trace.
    pub fn is_sampled(&self) -> bool {
        self.is_sampled
    }
}

/// Bytes that nobody can guess; not all of them zero.
pub(crate) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    // A system without randomness is not one we run on; ids that meet are a nuisance, no harm.
    let _none = getrandom::fill(&mut bytes);
    bytes[N - 1] |= u8::from(bytes == [0; N]);
    bytes
}

/// Bytes in lowercase hexadecimal.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes<const N: usize>(text: &str) -> Option<[u8; N]> {
    let is_hexadecimal = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if text.len() != N * 2 || !text.bytes().all(is_hexadecimal) {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
    const SPAN: &str = "b7ad6b7169203331";

    #[test]
    fn a_parent_is_read_as_the_w3c_writes_it() {
        let parent = Parent::parse(&format!("00-{TRACE}-{SPAN}-01")).unwrap();
        assert_eq!(hexadecimal(&parent.trace), TRACE);
        assert_eq!(hexadecimal(&parent.span), SPAN);
        assert!(parent.is_sampled());
        let later = Parent::parse(&format!("01-{TRACE}-{SPAN}-00-more")).unwrap();
        assert_eq!(later, Parent { is_sampled: false, ..parent });
    }

    #[test]
    fn what_is_no_parent_is_none() {
        let zeros = ["0".repeat(32), "0".repeat(16)];
        let cases = [
            String::new(),
            format!("00-{TRACE}-{SPAN}"),
            format!("00-{TRACE}-{SPAN}-01-more"),
            format!("ff-{TRACE}-{SPAN}-01"),
            format!("00-{}-{SPAN}-01", zeros[0]),
            format!("00-{TRACE}-{}-01", zeros[1]),
            format!("00-{}-{SPAN}-01", TRACE.to_uppercase()),
            format!("00-{TRACE}x-{SPAN}-01"),
            format!("00-+{}-{SPAN}-01", &TRACE[1..]),
        ];
        for text in cases {
            assert_eq!(Parent::parse(&text), None, "{text}");
        }
    }

    #[test]
    fn ids_differ_and_are_never_zero() {
        assert_ne!(random::<8>(), random::<8>());
        assert_ne!(random::<1>(), [0]);
    }
}
