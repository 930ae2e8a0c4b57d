//! The grammars of what install options name: packages, formulas, modules, addresses, places.
//!
//! Each is as narrow as its package manager needs, so that no target can be taken for an option, a
//! path, a file, an address or a pattern. Everything here only judges; nothing is cleaned up.

/// Longest name of a package or a program.
const MAX_NAME: usize = 128;
/// Longest address.
const MAX_URL: usize = 2048;
/// Most parts of the folder that a download goes to.
const MAX_PARTS: usize = 8;
/// Endings by which managers take a name for a file.
const FILE_ENDINGS: [&str; 8] = [".tgz", ".tar", ".gz", ".bz2", ".xz", ".zip", ".whl", ".deb"];

/// A word that begins with a letter or digit and goes on with those and some signs.
fn is_word(text: &str, signs: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.len() <= MAX_NAME
        && !text.contains("..")
        && text.chars().all(|it| it.is_ascii_alphanumeric() || signs.contains(it))
}

fn is_lower_word(text: &str, signs: &str) -> bool {
    is_word(text, signs) && !text.contains(|it: char| it.is_ascii_uppercase())
}

fn looks_like_a_file(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    FILE_ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// `name`, or `name@version`.
fn split_version(text: &str) -> (&str, Option<&str>) {
    // A scope begins with the same sign.
    match text.char_indices().skip(1).find(|(_, it)| *it == '@') {
        Some((at, _)) => (&text[..at], Some(&text[at + 1..])),
        None => (text, None),
    }
}

/// The id of an option: one part of a path, and a word on the command line.
pub(super) fn is_id(text: &str) -> bool {
    is_word(text, "._-") && text.len() <= 64
}

/// A program, by its name alone.
pub(super) fn is_program(text: &str) -> bool {
    is_word(text.strip_prefix('_').unwrap_or(text), "._+-") && text.len() <= 64
}

/// A formula or cask of Homebrew, in a tap or in its own.
pub(super) fn is_formula(text: &str) -> bool {
    text.split('/').count() <= 3 && text.split('/').all(|part| is_lower_word(part, "+._@-"))
}

/// A package of the npm registry: never a repository, an address or a file.
pub(super) fn is_node_package(text: &str) -> bool {
    let (name, version) = split_version(text);
    let is_named = match name.strip_prefix('@') {
        Some(scoped) => scoped
            .split_once('/')
            .is_some_and(|(scope, name)| is_lower_word(scope, "._-") && is_lower_word(name, "._-")),
        None => is_lower_word(name, "._-"),
    };
    let is_version = |text: &str| {
        let signs = |it: char| it.is_ascii_alphanumeric() || "^~>=<.*+-".contains(it);
        !text.is_empty() && text.len() <= MAX_NAME && text.chars().all(signs)
    };
    is_named && !looks_like_a_file(text) && version.is_none_or(is_version)
}

/// A module of Go with its version, below a host.
pub(super) fn is_go_module(text: &str) -> bool {
    let Some((path, version)) = text.split_once('@') else { return false };
    let (host, rest) = path.split_once('/').unwrap_or((path, ""));
    is_lower_word(host, ".-")
        && host.contains('.')
        && !rest.is_empty()
        && rest.split('/').all(|part| is_word(part, "._~+-"))
        && is_word(version, "._+-")
}

/// A package of the Python index, with extras and versions: never an address or a file.
pub(super) fn is_python_package(text: &str) -> bool {
    let end = text.find(['[', '=', '<', '>', '!', '~']).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    if !is_word(name, "._-") || !name.ends_with(|it: char| it.is_ascii_alphanumeric()) {
        return false;
    }
    let (extras, versions) = match rest.strip_prefix('[') {
        Some(rest) => match rest.split_once(']') {
            Some((extras, versions)) => (Some(extras), versions),
            None => return false,
        },
        None => (None, rest),
    };
    !looks_like_a_file(name)
        && extras.is_none_or(|extras| extras.split(',').all(|extra| is_word(extra, "._-")))
        && (versions.is_empty() || versions.split(',').all(is_python_version))
}

fn is_python_version(text: &str) -> bool {
    let operators = ["===", "==", "!=", "<=", ">=", "~=", "<", ">"];
    let version = operators.iter().find_map(|operator| text.strip_prefix(operator));
    version.is_some_and(|version| is_word(version, ".*+!_-"))
}

/// A package of Debian. One that ends with `-` would be removed, and `.+` would be a pattern.
pub(super) fn is_debian_package(text: &str) -> bool {
    is_lower_word(text, "+.-") && text.len() >= 2 && !text.ends_with('-') && !text.contains(".+")
}

/// A crate, with or without its version.
pub(super) fn is_crate(text: &str) -> bool {
    let (name, version) = split_version(text);
    let is_version =
        |text: &str| text.starts_with(|it: char| it.is_ascii_digit()) && is_word(text, ".+-");
    name.starts_with(|it: char| it.is_ascii_alphabetic())
        && is_word(name, "_-")
        && name.len() <= 64
        && version.is_none_or(is_version)
}

/// An address of a file, over HTTP, without user and fragment.
pub(super) fn is_url(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let Some((host, path)) = rest.and_then(|rest| rest.split_once('/')) else { return false };
    let (name, port) = host.split_once(':').unwrap_or((host, "0"));
    let visible = |it: char| it.is_ascii_graphic() && !"\"'`\\<>^{|}#".contains(it);
    text.len() <= MAX_URL
        && is_word(name, ".-")
        && port.parse::<u16>().is_ok()
        && path.chars().all(visible)
}

/// The last part of an address, if that can be the name of a file.
pub(super) fn file_name(url: &str) -> Option<&str> {
    let path = url.split('?').next().unwrap_or_default();
    path.rsplit('/').next().filter(|name| is_word(name, "._+-"))
}

/// A folder below another: no `..`, no `~`, nothing hidden.
pub(super) fn is_folder(text: &str) -> bool {
    let parts = text.split('/');
    parts.clone().count() <= MAX_PARTS && parts.clone().all(|part| is_word(part, "._+-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a grammar takes of a list of words, and what it refuses.
    fn judged(is: fn(&str) -> bool, words: &[&str]) -> String {
        let (taken, refused): (Vec<&str>, Vec<&str>) = words.iter().partition(|word| is(word));
        format!("takes {}\nrefuses {}", taken.join("  "), refused.join("  "))
    }

    #[test]
    fn a_formula_is_no_option_no_path_and_no_address() {
        insta::assert_snapshot!(judged(is_formula, &[
            "jq", "openssl@3", "steipete/tap/gifgrep", "--cask", "-f", "../x", "a/../b", "/x", "a//b",
            "a/b/c/d", "Jq", "x y", "https://x/y.rb", "./x.rb", "", "a/-b", "jq;ls",
        ]), @"
        takes jq  openssl@3  steipete/tap/gifgrep
        refuses --cask  -f  ../x  a/../b  /x  a//b  a/b/c/d  Jq  x y  https://x/y.rb  ./x.rb    a/-b  jq;ls
        ");
    }

    #[test]
    fn a_node_package_comes_from_the_registry() {
        insta::assert_snapshot!(judged(is_node_package, &[
            "prettier", "@scope/pkg@^1.2", "x@1.0.0-beta.1", "x@latest", "git+ssh://x/y", "user/repo",
            "github:user/repo", "https://x/y.tgz", "file:../x", "../x", "./x", "x@npm:other", "x.tgz",
            "@scope/x.tar.gz", "--registry=x", "@/x", "@scope/", "x@", "x@1 || 2", "X", "@a/b/c", "_x", "",
        ]), @"
        takes prettier  @scope/pkg@^1.2  x@1.0.0-beta.1  x@latest
        refuses git+ssh://x/y  user/repo  github:user/repo  https://x/y.tgz  file:../x  ../x  ./x  x@npm:other  x.tgz  @scope/x.tar.gz  --registry=x  @/x  @scope/  x@  x@1 || 2  X  @a/b/c  _x
        ");
    }

    #[test]
    fn a_go_module_has_a_host_and_a_version() {
        insta::assert_snapshot!(judged(is_go_module, &[
            "example.com/cmd/x@latest", "github.com/A/b/v2/cmd/c@v2.1.0", "example.com/x", "x@latest",
            "example.com@latest", "./x@latest", "https://a.b/c@v1", "a.b/../c@v1", "a.b/c@", "a.b/c@-v1",
            "a.b//c@v1", "a.b/-c@v1", "a.b/c@v1@v2", "-x.y/z@v1",
        ]), @"
        takes example.com/cmd/x@latest  github.com/A/b/v2/cmd/c@v2.1.0
        refuses example.com/x  x@latest  example.com@latest  ./x@latest  https://a.b/c@v1  a.b/../c@v1  a.b/c@  a.b/c@-v1  a.b//c@v1  a.b/-c@v1  a.b/c@v1@v2  -x.y/z@v1
        ");
    }

    #[test]
    fn a_python_package_comes_from_the_index() {
        insta::assert_snapshot!(judged(is_python_package, &[
            "ruff", "ruff==0.6.1", "black[d,jupyter]>=24,<25", "x~=1.0", "x==1.*", "ruff; rm -rf /", "ruff @ https://x/y",
            "ruff@https://x", "./x", "x.whl", "-r", "--index-url=x", "git+https://x/y", "x[", "x[]", "x[a", "x==", "x=1",
            "x>=1,", "x==1,y", "x-", "../x", "",
        ]), @"
        takes ruff  ruff==0.6.1  black[d,jupyter]>=24,<25  x~=1.0  x==1.*
        refuses ruff; rm -rf /  ruff @ https://x/y  ruff@https://x  ./x  x.whl  -r  --index-url=x  git+https://x/y  x[  x[]  x[a  x==  x=1  x>=1,  x==1,y  x-  ../x
        ");
    }

    #[test]
    fn a_debian_package_is_neither_removed_nor_a_pattern_nor_a_file() {
        insta::assert_snapshot!(judged(is_debian_package, &[
            "jq", "g++", "libstdc++6", "python3.11", "openssh-server-", "a.+", "a.*", "x", "../x.deb", "x.deb/", "-y",
            "jq=1.6", "jq/stable", "jq:amd64", "JQ", "a b", "",
        ]), @"
        takes jq  g++  libstdc++6  python3.11
        refuses openssh-server-  a.+  a.*  x  ../x.deb  x.deb/  -y  jq=1.6  jq/stable  jq:amd64  JQ  a b
        ");
    }

    #[test]
    fn a_crate_has_a_name_and_perhaps_a_version() {
        insta::assert_snapshot!(judged(is_crate, &[
            "ripgrep", "cargo-nextest@0.9.100", "a_b@1.0.0-rc.1", "--git", "x@^1", "x@latest", "x@", "@x", "1x", "../x",
            "https://x/y", "x y", "",
        ]), @"
        takes ripgrep  cargo-nextest@0.9.100  a_b@1.0.0-rc.1
        refuses --git  x@^1  x@latest  x@  @x  1x  ../x  https://x/y  x y
        ");
    }

    #[test]
    fn an_address_is_plain_http() {
        insta::assert_snapshot!(judged(is_url, &[
            "https://example.com/x.tgz", "http://127.0.0.1:8080/x?y=z", "file:///etc/passwd", "ftp://x/y", "https:///x",
            "https://user:pass@example.com/x", "https://example.com", "https://exa mple.com/x", "https://x/y z",
            "https://x/`id`", "https://x:99999/y", "https://x/y#z", "//x/y", "/x", "HTTPS://x/y", "https://-x/y",
            "https://x\\y/z", "",
        ]), @"
        takes https://example.com/x.tgz  http://127.0.0.1:8080/x?y=z
        refuses file:///etc/passwd  ftp://x/y  https:///x  https://user:pass@example.com/x  https://example.com  https://exa mple.com/x  https://x/y z  https://x/`id`  https://x:99999/y  https://x/y#z  //x/y  /x  HTTPS://x/y  https://-x/y  https://x\\y/z
        ");
    }

    #[test]
    fn a_folder_stays_below() {
        insta::assert_snapshot!(judged(is_folder, &[
            "runtime", "models/en-US", "../..", "a/../b", "/etc", "~/x", "a//b", "a/", ".hidden", "a\\b", "-x", "",
            "a/b/c/d/e/f/g/h/i",
        ]), @r"
        takes runtime  models/en-US
        refuses ../..  a/../b  /etc  ~/x  a//b  a/  .hidden  a\b  -x    a/b/c/d/e/f/g/h/i
        ");
    }

    #[test]
    fn a_program_is_a_name_alone() {
        insta::assert_snapshot!(judged(is_program, &[
            "jq", "g++", "python3.11", "_x", "-x", "a/b", "../x", "..", ".x", "a b", "", "a\nb",
        ]), @r"
        takes jq  g++  python3.11  _x
        refuses -x  a/b  ../x  ..  .x  a b    a
        b
        ");
    }
}
