//! Parts of a text that a shell takes as they stand, for certain.

/// What has quotes of its own, or takes the meaning from those that stand there.
const DOUBTFUL: &[&str] = &["#", "<<", "$(", "${", "$'", "`", "\\"];

/// Parts in quotes, without them. None at all if a shell might see other quotes than stand there.
pub(super) fn quoted(text: &str) -> Vec<(usize, usize)> {
    let mut parts = Vec::new();
    if DOUBTFUL.iter().any(|sign| text.contains(sign)) {
        return parts;
    }
    let mut open = None;
    for (place, sign) in text.match_indices(['"', '\'']) {
        match open {
            None => open = Some((place + 1, sign)),
            Some((start, opening)) if opening == sign => {
                parts.push((start, place));
                open = None;
            }
            Some(_) => {}
        }
    }
    if open.is_some() {
        parts.clear();
    }
    parts
}
