use proptest::prelude::*;

use super::*;

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
fn a_pattern_of_stars_takes_no_time() {
    let pattern = "/".to_owned() + &"*a".repeat(500);
    assert!(!is_path_like(&pattern, Path::new(&format!("/{}b", "a".repeat(4000)))));
}

proptest! {
    #[test]
    fn a_path_is_like_itself_and_like_everything(parts in prop::collection::vec("[a-z.é]{1,4}", 1..5)) {
        let path = normal(Path::new(&format!("/{}", parts.join("/"))));
        prop_assert!(is_path_like(path.to_str().unwrap(), &path));
        prop_assert!(is_path_like("/**", &path));
        let deep = path.components().count() > 2;
        prop_assert_eq!(is_path_like("/*", &path), !deep);
    }
}
