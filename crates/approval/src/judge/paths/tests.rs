use proptest::prelude::*;

use super::*;

fn is_path_like(pattern: &str, path: &Path) -> bool {
    let pattern = normal(Path::new(pattern));
    is_like(pattern.to_str().unwrap(), path.to_str().unwrap(), true)
}

fn is_name_like(pattern: &str, name: &str) -> bool {
    is_like(pattern, name, false)
}

fn is_like(pattern: &str, text: &str, is_path: bool) -> bool {
    let text: Vec<char> = text.chars().collect();
    Glob::new(pattern, is_path).unwrap().is_like(&text, &Budget::new(1 << 20))
}

/// The same in the plainest words, however long it takes.
fn is_plainly_like(pattern: &[char], text: &[char]) -> bool {
    let skips = |rest: &[char], is_taken: fn(char) -> bool| {
        let most = text.iter().take_while(|sign| is_taken(**sign)).count();
        (0..=most).any(|taken| is_plainly_like(rest, &text[taken..]))
    };
    match (pattern, text) {
        ([], _) => text.is_empty(),
        (['*', '*', '*', ..], _) => is_plainly_like(&pattern[1..], text),
        (['*', '*', rest @ ..], _) => skips(rest, |_| true),
        (['*', rest @ ..], _) => skips(rest, |sign| sign != '/'),
        (['?', rest @ ..], [sign, text @ ..]) => *sign != '/' && is_plainly_like(rest, text),
        ([this, rest @ ..], [sign, text @ ..]) => this == sign && is_plainly_like(rest, text),
        _ => false,
    }
}

#[test]
fn stars_and_marks_stay_within_a_segment() {
    let is_like = |pattern: &str, path: &str| is_path_like(pattern, Path::new(path));
    assert!(is_like("/usr/*/ls", "/usr/bin/ls"));
    assert!(is_like("/usr/bin/l?", "/usr/bin/ls"));
    assert!(is_like("/usr/bin/ls*", "/usr/bin/ls"));
    assert!(is_like("/usr/**", "/usr/local/bin/ls"));
    assert!(is_like("/usr/**/ls", "/usr/local/bin/ls"));
    assert!(is_like("/usr/./bin/../bin/ls", "/usr/bin/ls"));
    assert!(is_like("/ünï/?", "/ünï/é"));
    for (pattern, path) in [
        ("/usr/*", "/usr/bin/ls"),
        ("/usr?bin", "/usr/bin"),
        ("/usr/bin/?", "/usr/bin/ls"),
        ("/usr/bin/ls", "/usr/bin/ls "),
        ("/usr/bin/LS", "/usr/bin/ls"),
        ("/usr/**/ls", "/usr/ls"),
        ("/usr/bin", "/usr/bin/ls"),
        ("usr/bin/ls", "/usr/bin/ls"),
        ("/usr/[b]in/ls", "/usr/bin/ls"),
        ("/ünï/?", "/ünï/éé"),
    ] {
        assert!(!is_like(pattern, path), "{pattern} {path}");
    }
    assert!(!is_name_like("**", "a/b"));
    assert!(is_name_like("**", "ab"));
    assert!(!is_name_like("", "a"));
}

#[test]
fn a_pattern_that_is_too_large_is_none() {
    assert!(Glob::new(&"*a".repeat(16), true).is_some());
    assert!(Glob::new(&"*a".repeat(17), true).is_none());
    assert!(Glob::new(&"?".repeat(17), false).is_none());
    assert!(Glob::new(&"a".repeat(4097), true).is_none());
}

#[test]
fn nothing_is_like_a_pattern_when_the_budget_is_spent() {
    let text: Vec<char> = "/usr/bin/ls".chars().collect();
    let glob = Glob::new("/usr/**", true).unwrap();
    let budget = Budget::new(5);
    assert!(!glob.is_like(&text, &budget) && budget.is_spent());
    assert!(!glob.is_like(&text, &budget));
    assert!(glob.is_like(&text, &Budget::new(1000)));
}

#[test]
fn a_pattern_of_stars_takes_few_steps() {
    let text: Vec<char> = format!("/{}b", "a".repeat(4000)).chars().collect();
    for pattern in
        ["/".to_owned() + &"*a".repeat(14) + "*c*b", "**/".to_owned() + &"**a".repeat(14) + "c*b"]
    {
        let budget = Budget::new(100_000);
        assert!(!Glob::new(&pattern, true).unwrap().is_like(&text, &budget), "{pattern}");
        assert!(!budget.is_spent(), "{pattern}");
    }
}

proptest! {
    #[test]
    fn a_pattern_means_what_the_plainest_words_say(pattern in "[ab/*?]{0,9}", text in "[ab/]{0,9}") {
        let signs = |text: &str| text.chars().collect::<Vec<_>>();
        prop_assert_eq!(is_like(&pattern, &text, true), is_plainly_like(&signs(&pattern), &signs(&text)));
    }

    #[test]
    fn a_path_is_like_itself_and_like_everything(parts in prop::collection::vec("[a-z.é]{1,4}", 1..5)) {
        let path = normal(Path::new(&format!("/{}", parts.join("/"))));
        prop_assert!(is_path_like(path.to_str().unwrap(), &path));
        prop_assert!(is_path_like("/**", &path));
        let deep = path.components().count() > 2;
        prop_assert_eq!(is_path_like("/*", &path), !deep);
    }
}
