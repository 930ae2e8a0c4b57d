//! Names that somebody nearly got right.

/// How many characters to change, add or leave out to make one text of the other.
pub fn edit_distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (index, character) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (column, other) in right.iter().enumerate() {
            let substituted = diagonal + usize::from(character != *other);
            diagonal = row[column + 1];
            row[column + 1] = substituted.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::edit_distance;

    #[test]
    fn distance_counts_characters_that_differ() {
        let cases = [("pdf", "pdf", 0), ("pfd", "pdf", 2), ("", "äb", 2), ("kitten", "sitting", 3)];
        for (left, right, expected) in cases {
            assert_eq!(edit_distance(left, right), expected, "{left} {right}");
            assert_eq!(edit_distance(right, left), expected, "{right} {left}");
        }
    }
}
