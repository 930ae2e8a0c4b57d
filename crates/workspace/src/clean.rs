//! Removing what nobody uses any more: workspaces, and staged trees.
//!
//! Whoever uses a workspace holds a lock on it, so one in use is never removed however long its
//! run takes. One that is removed first gets another name: whatever happens then, nobody meets
//! half of it.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use crate::copies::spare_copies;
use crate::layout::{METADATA, Workspaces, make_private};
use crate::manifest;
use crate::own_file;

/// The file of a workspace on which its users hold a lock.
const IN_USE: &str = ".in-use";
/// What removed workspaces are called until they are gone.
const REMOVED: &str = ".removed-";
/// The file whose time says when workspaces were last looked through.
const LAST_LOOK: &str = ".last-look";
/// How often that is done unasked.
const EVERY: Duration = Duration::from_hours(24);
/// No staging and no removal takes longer.
const UNFINISHED: Duration = Duration::from_hours(1);
/// How often a workspace may be removed while somebody wants to use it.
const MAX_TRIES: u32 = 100;

impl Workspaces {
    /// Removes workspaces that nobody used for so long; gives their folders. One that is in use, or
    /// cannot be removed, does not keep the others.
    ///
    /// # Errors
    ///
    /// When the folder cannot be listed, or for the last that could not be removed.
    pub fn remove_unused(&self, unused_for: Duration) -> io::Result<Vec<PathBuf>> {
        let mut sweep = Sweep { unused_for, until: None, removed: Vec::new(), failed: Ok(()) };
        sweep.all(self.root())?;
        sweep.failed.map(|()| sweep.removed)
    }

    /// The same, but at most once a day and only for as long as the caller has patience; what is left
    /// then is for the next time. Whatever was used in the last day stays.
    ///
    /// # Errors
    ///
    /// When the folder cannot be listed or written to, or for the last that could not be removed.
    pub fn remove_unused_daily(
        &self,
        unused_for: Duration,
        patience: Duration,
    ) -> io::Result<Vec<PathBuf>> {
        let last_look = self.root().join(LAST_LOOK);
        let last = fs::metadata(&last_look).and_then(|it| it.modified());
        if last.is_ok_and(|last| last.elapsed().is_ok_and(|age| age < EVERY)) {
            return Ok(Vec::new());
        }
        let until = Instant::now().checked_add(patience);
        let unused_for = unused_for.max(EVERY);
        let mut sweep = Sweep { unused_for, until, removed: Vec::new(), failed: Ok(()) };
        if sweep.all(self.root())? {
            let file = File::options().create(true).append(true).open(last_look)?;
            file.set_modified(SystemTime::now())?;
        }
        sweep.failed.map(|()| sweep.removed)
    }

    /// Removes staged trees that nobody used for so long, and what is left of staging that was cut
    /// short; gives how many. Those with a digest that is needed stay.
    ///
    /// # Errors
    ///
    /// When the folder cannot be listed.
    pub fn remove_unused_content(
        &self,
        unused_for: Duration,
        needed: &BTreeSet<String>,
    ) -> io::Result<usize> {
        let mut removed = 0;
        for tree in folders(self.content())? {
            let name = tree.file_name().unwrap_or_default().to_string_lossy();
            if name.split('-').next().is_some_and(|digest| needed.contains(digest)) {
                continue;
            }
            let keep = if is_hidden(&tree) { UNFINISHED } else { unused_for };
            if is_older(modified(&tree), keep) {
                remove_tree(&tree)?;
                remove_if_there(&manifest::beside(&tree))?;
                removed += 1;
            }
        }
        let spare = spare_copies(self.root());
        let spare = if spare.is_dir() { folders(&spare)? } else { Vec::new() };
        for copy in spare {
            if is_older(modified(&copy), unused_for) {
                remove_tree(&copy)?;
            }
        }
        Ok(removed)
    }
}

/// A name under which a workspace waits to be removed.
pub(crate) fn unused(folder: &Path) -> PathBuf {
    folder.with_file_name(format!("{REMOVED}{}", uuid::Uuid::now_v7().simple()))
}

/// One look through all workspaces.
struct Sweep {
    unused_for: Duration,
    until: Option<Instant>,
    removed: Vec<PathBuf>,
    failed: io::Result<()>,
}

impl Sweep {
    /// Looks through everything; gives whether there was time for all of it.
    fn all(&mut self, root: &Path) -> io::Result<bool> {
        for app in folders(root)?.into_iter().filter(|folder| !is_hidden(folder)) {
            for user in folders(&app)? {
                for folder in folders(&user)? {
                    if is_over(self.until) {
                        return Ok(false);
                    }
                    self.one(&folder);
                }
            }
        }
        Ok(!is_over(self.until))
    }

    fn one(&mut self, folder: &Path) {
        match if is_hidden(folder) { self.finish(folder) } else { self.remove(folder) } {
            Ok(true) => self.removed.push(folder.to_owned()),
            Ok(false) => {}
            // Somebody else was faster.
            Err(error) if error.kind() == io::ErrorKind::NotFound && !folder.exists() => {}
            Err(error) => self.failed = Err(error),
        }
    }

    /// Removes a workspace that nobody uses; gives whether it did.
    fn remove(&self, folder: &Path) -> io::Result<bool> {
        if !is_older(used(folder), self.unused_for) {
            return Ok(false);
        }
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
        let lock = open_lock(folder)?;
        let metadata = folder.join(METADATA);
        let is_used_again = || metadata.exists() && !is_older(modified(&metadata), self.unused_for);
        if !is_free(&lock)? || !is_lock_of(&lock, folder)? || is_used_again() {
            return Ok(false);
        }
        let _span = tracing::info_span!("workspace.cleanup").entered();
        let removed = unused(folder);
        fs::rename(folder, &removed)?;
        remove_tree_until(&removed, self.until)?;
        Ok(true)
    }

    /// Goes on with a removal that was cut short, unless somebody is busy with it. It was told
    /// before, so it does not count again.
    fn finish(&self, folder: &Path) -> io::Result<bool> {
        let lock = own_file::open_present(&folder.join(IN_USE));
        let is_left = match &lock {
            Ok(lock) => is_free(lock)?,
            // The last that goes, and the folder with it.
            Err(_) => is_older(modified(folder), UNFINISHED),
        };
        if is_left {
            remove_tree_until(folder, self.until)?;
        }
        Ok(false)
    }
}

/// Whether nobody else has a lock; it is ours then.
pub(crate) fn is_free(lock: &File) -> io::Result<bool> {
    match lock.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Says that a workspace is in use, for as long as the file is kept. Its folder is made if need be.
pub(crate) fn hold(folder: &Path) -> io::Result<File> {
    use io::ErrorKind::{AlreadyExists, NotFound};
    let mut failed = io::Error::other("it is removed again and again");
    for _ in 0..MAX_TRIES {
        let lock = match make_private(folder).and_then(|()| open_lock(folder)) {
            // Most likely it was removed in between.
            Err(error) if matches!(error.kind(), AlreadyExists | NotFound) => {
                failed = error;
                continue;
            }
            lock => lock?,
        };
        lock.lock_shared()?;
        if is_lock_of(&lock, folder)? {
            return Ok(lock);
        }
    }
    Err(failed)
}

/// Whether a lock is still that of the folder, which may have been removed and made again since.
pub(crate) fn is_lock_of(lock: &File, folder: &Path) -> io::Result<bool> {
    let (ours, there) = (lock.metadata()?, fs::metadata(folder.join(IN_USE)));
    Ok(there.is_ok_and(|there| (there.dev(), there.ino()) == (ours.dev(), ours.ino())))
}

pub(crate) fn open_lock(folder: &Path) -> io::Result<File> {
    own_file::open_mark(&folder.join(IN_USE))
}

/// The folders of workspaces of a user.
pub(crate) fn workspaces_in(user: &Path) -> io::Result<Vec<PathBuf>> {
    Ok(folders(user)?.into_iter().filter(|folder| !is_hidden(folder)).collect())
}

/// When a workspace was used last.
pub(crate) fn used(workspace: &Path) -> Option<SystemTime> {
    // Without metadata it is one whose making was interrupted.
    modified(&workspace.join(METADATA)).or_else(|| modified(workspace))
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|it| it.modified()).ok()
}

fn is_older(moment: Option<SystemTime>, than: Duration) -> bool {
    let age = moment.and_then(|moment| SystemTime::now().duration_since(moment).ok());
    age.is_some_and(|age| age > than)
}

fn is_over(until: Option<Instant>) -> bool {
    until.is_some_and(|until| Instant::now() >= until)
}

fn is_hidden(folder: &Path) -> bool {
    folder.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

fn remove_if_there(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

fn folders(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

/// Removes a folder, whatever a program made in it: read-only folders, or ones so deep that following
/// them would take a stack or more open files than there are. Links are removed, never followed.
pub(crate) fn remove_tree(folder: &Path) -> io::Result<()> {
    remove_tree_until(folder, None)
}

/// The same until a moment; what is left then can be removed later.
fn remove_tree_until(folder: &Path, until: Option<Instant>) -> io::Result<()> {
    match fs::symlink_metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        // What a program has put in the place of the folder.
        Ok(found) if !found.is_dir() => return fs::remove_file(folder),
        found => found.map(drop)?,
    }
    let mut left = vec![folder.to_owned()];
    while let Some(next) = left.pop() {
        if is_over(until) {
            return Ok(());
        }
        match fs::set_permissions(&next, fs::Permissions::from_mode(0o700)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound && next == folder => {
                return Ok(());
            }
            result => result?,
        }
        let inside = folders(&next)?;
        if inside.is_empty() {
            for file in fs::read_dir(&next)? {
                if is_over(until) {
                    return Ok(());
                }
                fs::remove_file(file?.path())?;
            }
            fs::remove_dir_all(&next)?;
            continue;
        }
        left.push(next);
        for deeper in inside {
            // Moved up, nothing is ever deeper than one folder.
            if deeper.parent() == Some(folder) {
                left.push(deeper);
                continue;
            }
            fs::set_permissions(&deeper, fs::Permissions::from_mode(0o700))?;
            let shallow = folder.join(format!("{REMOVED}{}", uuid::Uuid::now_v7().simple()));
            fs::rename(&deeper, &shallow)?;
            left.push(shallow);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::layout::WorkspaceKey;

    const WEEK: Duration = Duration::from_hours(7 * 24);
    const PATIENCE: Duration = Duration::from_secs(60);

    fn key(session: &str) -> WorkspaceKey {
        let [app, user, session] = ["app", "user", session].map(str::to_owned);
        WorkspaceKey { app, user, session, generation: 0 }
    }

    fn workspaces() -> (tempfile::TempDir, Workspaces) {
        let state = tempfile::tempdir().unwrap();
        let folder = |name: &str| state.path().join(name);
        let workspaces = Workspaces::open(&folder("workspaces"), &folder("content")).unwrap();
        (state, workspaces)
    }

    /// Makes a workspace that was used so long ago; gives its folder.
    fn used_before(workspaces: &Workspaces, session: &str, ago: Duration) -> PathBuf {
        let workspace = workspaces.workspace(&key(session)).unwrap();
        age(&workspace.root().join(METADATA), ago);
        workspace.root().to_owned()
    }

    fn age(path: &Path, by: Duration) {
        File::open(path).unwrap().set_modified(SystemTime::now() - by).unwrap();
    }

    #[test]
    fn a_workspace_in_use_is_never_removed() {
        let (_state, workspaces) = workspaces();
        let workspace = workspaces.workspace(&key("one")).unwrap();
        age(&workspace.root().join(METADATA), 2 * WEEK);
        let clone = workspace.clone();
        drop(workspace);
        assert_eq!(workspaces.remove_unused(WEEK).unwrap(), Vec::<PathBuf>::new());
        assert_eq!(workspaces.remove_unused_daily(WEEK, PATIENCE).unwrap(), Vec::<PathBuf>::new());
        let root = clone.root().to_owned();
        assert!(root.join("work").is_dir());
        drop(clone);
        assert_eq!(workspaces.remove_unused(WEEK).unwrap().len(), 1);
        assert!(!root.exists());
    }

    #[test]
    fn whoever_comes_while_a_workspace_is_removed_has_a_whole_one() {
        let (_state, workspaces) = workspaces();
        let used = workspaces.clone();
        let user = thread::spawn(move || {
            for round in 0..200 {
                let workspace = used.workspace(&key("one")).unwrap();
                fs::write(workspace.root().join("work/file"), "text").unwrap();
                thread::yield_now();
                let text = fs::read_to_string(workspace.root().join("work/file"));
                assert_eq!(text.ok().as_deref(), Some("text"), "{round}");
            }
        });
        let remove = || {
            while !user.is_finished() {
                workspaces.remove_unused(Duration::ZERO).unwrap();
            }
        };
        thread::scope(|scope| {
            scope.spawn(remove);
            scope.spawn(remove);
        });
        user.join().unwrap();
    }

    #[test]
    fn a_staged_skill_that_is_only_read_is_in_use_too() {
        let (_state, workspaces) = workspaces();
        let tree = workspaces.content().join("d1-pdf");
        fs::create_dir(&tree).unwrap();
        let removed = || workspaces.remove_unused_content(WEEK, &BTreeSet::new()).unwrap();
        age(&tree, 2 * WEEK);
        assert_eq!(workspaces.staged("pdf", "d1"), Some(tree.clone()));
        assert_eq!(removed(), 0);
        age(&tree, 2 * WEEK);
        assert_eq!(removed(), 1);
        assert_eq!(workspaces.staged("pdf", "d1"), None);
    }

    #[test]
    fn copies_that_were_given_back_and_manifests_go_when_nobody_uses_them() {
        let (state, workspaces) = workspaces();
        let spare = state.path().join("workspaces/.spare/d1-pdf");
        let tree = workspaces.content().join("d1-pdf");
        [&spare, &tree].into_iter().for_each(|it| fs::create_dir_all(it).unwrap());
        fs::write(manifest::beside(&tree), "").unwrap();
        age(&spare, WEEK / 2);
        assert_eq!(workspaces.remove_unused(Duration::ZERO).unwrap(), Vec::<PathBuf>::new());
        workspaces.remove_unused_content(WEEK, &BTreeSet::new()).unwrap();
        assert!(spare.exists() && manifest::beside(&tree).exists());
        [&spare, &tree].into_iter().for_each(|it| age(it, 2 * WEEK));
        workspaces.remove_unused_content(WEEK, &BTreeSet::new()).unwrap();
        assert!(!spare.exists() && !tree.exists() && !manifest::beside(&tree).exists());
    }

    #[test]
    fn what_is_left_of_a_removal_is_no_session_and_goes_the_next_time() {
        let (_state, workspaces) = workspaces();
        let root = used_before(&workspaces, "one", Duration::ZERO);
        let left = root.with_file_name(format!("{REMOVED}x"));
        fs::rename(&root, &left).unwrap();
        assert_eq!(workspaces.latest("app", "user").unwrap(), None);
        let busy = open_lock(&left).unwrap();
        busy.lock().unwrap();
        assert_eq!(workspaces.remove_unused(WEEK).unwrap(), Vec::<PathBuf>::new());
        assert!(left.exists());
        drop(busy);
        assert_eq!(workspaces.remove_unused(WEEK).unwrap(), Vec::<PathBuf>::new());
        assert!(!left.exists());
    }

    #[test]
    fn unasked_it_is_done_once_a_day_and_what_was_used_today_stays() {
        let (_state, workspaces) = workspaces();
        let daily = |ttl| workspaces.remove_unused_daily(ttl, PATIENCE).unwrap();
        let (old, today) = (
            used_before(&workspaces, "old", 2 * EVERY),
            used_before(&workspaces, "today", EVERY / 2),
        );
        assert_eq!(daily(WEEK), Vec::<PathBuf>::new());
        age(&workspaces.root().join(LAST_LOOK), EVERY / 2);
        assert_eq!(daily(Duration::ZERO), Vec::<PathBuf>::new());
        age(&workspaces.root().join(LAST_LOOK), 2 * EVERY);
        assert_eq!(daily(Duration::ZERO).len(), 1);
        assert!(!old.exists() && today.exists());
        // A clock that was wrong once does not keep it from being done.
        let old = used_before(&workspaces, "old", 2 * EVERY);
        let ahead = File::open(workspaces.root().join(LAST_LOOK)).unwrap();
        ahead.set_modified(SystemTime::now() + WEEK).unwrap();
        assert_eq!(daily(Duration::ZERO), [old]);
    }

    #[test]
    fn what_there_was_no_time_for_is_done_the_next_time() {
        let (_state, workspaces) = workspaces();
        let old = used_before(&workspaces, "old", 2 * WEEK);
        let removed = workspaces.remove_unused_daily(WEEK, Duration::ZERO).unwrap();
        assert_eq!(removed, Vec::<PathBuf>::new());
        assert!(old.exists());
        assert_eq!(workspaces.remove_unused_daily(WEEK, PATIENCE).unwrap(), [old]);
    }
}
