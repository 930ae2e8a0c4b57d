//! Paths inside the repository and the site: words between `/`, nothing above the root.

/// Where a link leads from a file, as a path from the root; nothing when that is above the root.
pub(super) fn resolve(from: &str, link: &str) -> Option<String> {
    let mut folders: Vec<&str> = from.split('/').collect();
    folders.pop();
    for word in link.split('/') {
        match word {
            "" | "." => {}
            ".." => {
                folders.pop()?;
            }
            word => folders.push(word),
        }
    }
    Some(folders.join("/"))
}

/// How a file is reached from another one.
pub(super) fn relative(from: &str, to: &str) -> String {
    let from: Vec<&str> = from.split('/').collect();
    let to: Vec<&str> = to.split('/').collect();
    let folders = from.len() - 1;
    let shared = (0..folders.min(to.len() - 1)).take_while(|&at| from[at] == to[at]).count();
    let up = "../".repeat(folders - shared);
    format!("{up}{}", to[shared..].join("/"))
}

/// A link in its parts: the path, and the anchor without `#`.
pub(super) fn split(link: &str) -> (&str, Option<&str>) {
    link.split_once('#').map_or((link, None), |(path, anchor)| (path, Some(anchor)))
}

/// Whether a link leads to another place altogether: `https:`, `mailto:` and the like.
pub(super) fn is_elsewhere(link: &str) -> bool {
    let Some((scheme, _)) = link.split_once(':') else { return false };
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.chars().all(|other| other.is_ascii_alphanumeric() || "+-.".contains(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_start_at_the_folder_of_their_file() {
        let resolved = |from, link| resolve(from, link).unwrap_or_else(|| "above".into());
        assert_eq!(resolved("docs/tour.md", "cli.md"), "docs/cli.md");
        assert_eq!(resolved("docs/tour.md", "../README.md"), "README.md");
        assert_eq!(resolved("docs/tour.md", "./a/../cli.md"), "docs/cli.md");
        assert_eq!(resolved("docs/tour.md", "../../x"), "above");
    }

    #[test]
    fn pages_reach_each_other_in_all_directions() {
        assert_eq!(relative("a.html", "b.html"), "b.html");
        assert_eq!(relative("project/a.html", "b.html"), "../b.html");
        assert_eq!(relative("a.html", "project/b.html"), "project/b.html");
        assert_eq!(relative("project/a.html", "project/b.html"), "b.html");
    }

    #[test]
    fn a_colon_in_a_file_name_is_no_scheme() {
        assert!(is_elsewhere("https://example.com"));
        assert!(is_elsewhere("mailto:a@example.com"));
        assert!(!is_elsewhere("cli.md#a:b"));
        assert!(!is_elsewhere("docs/a:b.md"));
    }
}
