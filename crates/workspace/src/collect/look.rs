//! Looking for files that patterns name, through no link.

use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, Dir, FileType, OFlags, statat};

use super::pattern::Patterns;
use crate::layout::{Workspace, open_beneath};
use crate::path::Inside;

/// Most entries that are looked at for one run.
const MAX_ENTRIES: usize = 100_000;
/// Deepest folder that is looked at.
const MAX_DEPTH: usize = 32;

/// What looking gave.
#[derive(Debug, Default)]
pub(crate) struct Looked {
    /// Places of regular files, sorted.
    pub(crate) places: Vec<Inside>,
    pub(crate) warnings: Vec<String>,
}

/// Looks for files. Links and special files are passed over with a warning.
pub(crate) fn look(workspace: &Workspace, patterns: &Patterns) -> io::Result<Looked> {
    let mut walker = Walker { patterns, entries: 0, looked: Looked::default() };
    for place in patterns.folders() {
        match workspace.open(place, OFlags::RDONLY | OFlags::DIRECTORY) {
            Ok(folder) => walker.walk(&folder, place, 0)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(_) => walker.warn(format!("`{place}` is not a folder of the workspace")),
        }
    }
    let mut looked = walker.looked;
    looked.places.sort();
    Ok(looked)
}

struct Walker<'a> {
    patterns: &'a Patterns,
    entries: usize,
    looked: Looked,
}

impl Walker<'_> {
    fn warn(&mut self, text: String) {
        self.looked.warnings.push(text);
    }

    fn walk(&mut self, folder: &OwnedFd, place: &Inside, depth: usize) -> io::Result<()> {
        for (name, kind) in self.names(folder, place)? {
            let inside = place.join(&name);
            let matches = self.patterns.is_match(&inside);
            match kind {
                FileType::Directory if !self.patterns.reaches(&inside) => {}
                FileType::Directory if !self.patterns.can_match_below(&inside) => {}
                FileType::Directory if depth >= MAX_DEPTH => {
                    self.warn(format!("`{inside}` is too deep and was not looked at"));
                }
                FileType::Directory => {
                    match open_beneath(folder, &name, OFlags::RDONLY | OFlags::DIRECTORY) {
                        Ok(open) => self.walk(&open, &inside, depth + 1)?,
                        Err(error) => self.warn(format!("`{inside}` was not looked at: {error}")),
                    }
                }
                FileType::RegularFile if matches => self.looked.places.push(inside),
                FileType::Symlink if matches => {
                    self.warn(format!("`{inside}` is a link and was not collected"));
                }
                FileType::RegularFile | FileType::Symlink => {}
                _ if matches => self.warn(format!("`{inside}` is not a regular file")),
                _ => {}
            }
        }
        Ok(())
    }

    /// What is in a folder, sorted by name.
    fn names(&mut self, folder: &OwnedFd, place: &Inside) -> io::Result<Vec<(String, FileType)>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(folder)? {
            let entry = entry?;
            let Ok(name) = entry.file_name().to_str() else {
                self.warn(format!("a file in `{place}` has a name that is not UTF-8"));
                continue;
            };
            if matches!(name, "." | "..") {
                continue;
            }
            self.entries += 1;
            if self.entries > MAX_ENTRIES {
                self.warn(format!("only the first {MAX_ENTRIES} entries were looked at"));
                break;
            }
            names.push((name.to_owned(), kind_of(folder, name, entry.file_type())));
        }
        names.sort_by(|left, right| left.0.cmp(&right.0));
        Ok(names)
    }
}

/// What an entry is, also where the file system does not say so in its lists.
fn kind_of(folder: &OwnedFd, name: &str, said: FileType) -> FileType {
    if said != FileType::Unknown {
        return said;
    }
    let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
    stat.map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    use super::*;
    use crate::layout::{WorkspaceKey, Workspaces};

    /// A workspace with files at these places.
    fn workspace(places: &[String]) -> (tempfile::TempDir, Workspace) {
        let state = tempfile::tempdir().unwrap();
        let folder = |name: &str| state.path().join(name);
        let workspaces = Workspaces::open(&folder("workspaces"), &folder("content")).unwrap();
        let [app, user, session] = ["app", "user", "session"].map(str::to_owned);
        let key = WorkspaceKey { app, user, session, generation: 0 };
        let workspace = workspaces.workspace(&key).unwrap();
        for place in places {
            let file = workspace.root().join(place);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "text").unwrap();
        }
        (state, workspace)
    }

    /// What a pattern finds, and the warnings.
    fn found(workspace: &Workspace, pattern: &str) -> (Vec<String>, Vec<String>) {
        let patterns = Patterns::parse(&[pattern.to_owned()], &Inside::known("runs/1/files"));
        let looked = look(workspace, &patterns.unwrap()).unwrap();
        (looked.places.iter().map(ToString::to_string).collect(), looked.warnings)
    }

    #[test]
    fn a_folder_that_is_too_deep_is_named_if_something_could_be_found_there() {
        let deep = format!("out/{}file", "d/".repeat(MAX_DEPTH));
        let deeper = format!("out/{}file", "e/".repeat(MAX_DEPTH + 1));
        let (_state, workspace) = workspace(&[deep.clone(), deeper.clone(), "out/a".to_owned()]);
        let (places, warnings) = found(&workspace, "out/**");
        assert_eq!(places, ["out/a".to_owned(), deep]);
        let folder = deeper.trim_end_matches("/file");
        assert_eq!(warnings, [format!("`{folder}` is too deep and was not looked at")]);
        assert_eq!(found(&workspace, "out/*"), (vec!["out/a".to_owned()], Vec::new()));
        assert_eq!(found(&workspace, "out/e/*"), (Vec::new(), Vec::new()));
    }

    #[test]
    fn patterns_find_files_as_deep_as_they_can_reach() {
        let files = ["out/a", "out/b/a", "out/b/c/a", "out/b/c/d/a"].map(str::to_owned);
        let (_state, workspace) = workspace(&files);
        for (pattern, expected) in [
            ("out/*", 1),
            ("out/*/a", 1),
            ("out/b/*/a", 1),
            ("out/*/*/*/a", 1),
            ("out/**", 4),
            ("**/a", 4),
            ("out/{a,b/a}", 2),
            ("out/b/c[/]a", 1),
            ("out/b/\\c/a", 1),
        ] {
            assert_eq!(found(&workspace, pattern).0.len(), expected, "{pattern}");
        }
    }

    #[test]
    fn entries_are_known_where_lists_do_not_say_what_they_are() {
        let (_state, workspace) = workspace(&["out/file".to_owned(), "out/folder/x".to_owned()]);
        let out = workspace.root().join("out");
        symlink("file", out.join("link")).unwrap();
        let _socket = UnixListener::bind(out.join("socket")).unwrap();
        let folder = workspace.open(&Inside::known("out"), OFlags::RDONLY).unwrap();
        let kind = |name| kind_of(&folder, name, FileType::Unknown);
        assert_eq!(kind("file"), FileType::RegularFile);
        assert_eq!(kind("folder"), FileType::Directory);
        assert_eq!(kind("link"), FileType::Symlink);
        assert_eq!(kind("socket"), FileType::Socket);
        assert_eq!(kind("absent"), FileType::Unknown);
        assert_eq!(kind_of(&folder, "file", FileType::Fifo), FileType::Fifo);
    }
}
