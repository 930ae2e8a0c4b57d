//! Skills that nobody has read yet and that are known to be as they were at a moment.
//!
//! `--trust-project` trusts what is there when a command starts, and a command uses few skills. Digesting all of them
//! at the start costs more than everything else. The kernel writes the time of the last change into every file and
//! folder (`ctime`): for a change of its bytes, permissions, names and links, and if it is moved. No program can set
//! that time, except by setting the clock of the machine, which takes the rights of root. So a skill whose files and
//! folders changed last before the start is what it was at the start, and it is enough to look when it is used.
//!
//! That is so on the file systems of [`FILE_SYSTEMS`], without other mounts and links on the way. Elsewhere skills are
//! listed at the start: a server or another program writes those times, or a write through a shared mapping leaves none,
//! as on tmpfs. A write that began before the start may end after it with the time at which it began, and the same goes
//! for a page that was mapped, written to, and is not on the disk yet.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, SystemTime};

use crate::files::{
    self, COARSE_CLOCK_GRAIN, Digest, DigestCache, FileDigests, FileKind, Identity, Tree,
    digest_of_listed, is_left_out,
};
use crate::library::trust::{FileChange, is_header_of, shortened};

/// File systems whose times of change are written by the kernel of this machine, at every change.
const FILE_SYSTEMS: [&str; 6] = ["ext2", "ext3", "ext4", "xfs", "btrfs", "overlay"];
/// The mounts that this process sees.
const MOUNTS: &str = "/proc/self/mountinfo";
/// Most entries of one skill that are looked at, as in a listing.
const MAX_ENTRIES: usize = 20_000;
/// Deepest folder of one skill that is looked at, as in a listing.
const MAX_DEPTH: usize = 24;

/// The time at which a command started.
#[derive(Clone, Copy, Debug)]
pub(super) struct StartTime {
    seconds: i64,
    nanoseconds: u32,
}

/// A folder with skills, whichever path leads to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SkillShelf {
    state: (u64, u64),
    mount: u64,
}

/// A skill that was there at the start and has not been read since, except for its header.
#[derive(Clone, Debug)]
pub(super) struct UntouchedSkill {
    pub(super) file: PathBuf,
    /// The digest of the `SKILL.md` that the header was parsed from.
    pub(super) header: Digest,
    pub(super) shelf: SkillShelf,
    pub(super) start: StartTime,
}

/// A file, link or folder as it is now.
struct Sighting {
    identity: Identity,
    inode: (u64, u64),
    mount: u64,
    is_folder: bool,
    is_link: bool,
    /// The time of its creation, if the file system keeps that.
    born: Option<(i64, u32)>,
}

/// A walk through a skill that looks for changes since the start.
struct ChangeSearch {
    start: StartTime,
    mount: u64,
    /// What is no folder, by its path in the skill.
    found: BTreeMap<String, FoundPart>,
    changes: Vec<FileChange>,
    seen: usize,
}

#[derive(Debug, PartialEq, Eq)]
enum FoundPart {
    File(Identity),
    Link(PathBuf),
}

impl StartTime {
    pub(super) fn now() -> Self {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let seconds = i64::try_from(now.as_secs()).unwrap_or_default();
        Self { seconds, nanoseconds: now.subsec_nanos() }
    }

    /// Whether a change at this time came before. A time in whole seconds may be that of a later change, so it has to
    /// be older.
    pub(super) fn is_after(self, (seconds, nanoseconds): (i64, u32)) -> bool {
        if nanoseconds == 0 {
            let grain = i64::try_from(COARSE_CLOCK_GRAIN.as_secs()).unwrap_or(i64::MAX);
            return seconds.saturating_add(grain) <= self.seconds;
        }
        (seconds, nanoseconds) <= (self.seconds, self.nanoseconds)
    }

    /// Waits until changes are sure to have a later time. The clock that files have their times from goes in steps of up
    /// to ten milliseconds; nearly always the step has been made when this is asked.
    pub(super) fn pass(self) {
        while !self.has_passed() {
            thread::sleep(Duration::from_millis(1));
        }
    }

    #[cfg(target_os = "linux")]
    fn has_passed(self) -> bool {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::RealtimeCoarse);
        (now.tv_sec, now.tv_nsec) > (self.seconds, i64::from(self.nanoseconds))
    }

    #[cfg(not(target_os = "linux"))]
    fn has_passed(self) -> bool {
        true
    }
}

impl SkillShelf {
    /// The shelf of some skills, if times of change say there what changed.
    pub(super) fn at(folder: &Path) -> Option<Self> {
        let mounts = fs::read_to_string(MOUNTS).ok()?;
        let real = fs::canonicalize(folder).ok()?;
        let Sighting { inode, mount, .. } = Sighting::of(&real).ok()?;
        let mut is_kept = false;
        for line in mounts.lines() {
            let (id, point, kind) = mount_of(line)?;
            if id == mount {
                is_kept = FILE_SYSTEMS.contains(&kind);
            } else if Path::new(&point).starts_with(&real) {
                return None;
            }
        }
        is_kept.then_some(Self { state: inode, mount })
    }
}

/// Number, place and file system of a mount, from its line.
fn mount_of(line: &str) -> Option<(u64, String, &str)> {
    let (mount, rest) = line.split_once(" - ")?;
    let mut fields = mount.split(' ');
    let id = fields.next()?.parse().ok()?;
    let point = fields.nth(3)?;
    // The characters that would end a field.
    let escapes = [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")];
    let point = escapes.iter().fold(point.to_owned(), |point, (from, to)| point.replace(from, to));
    Some((id, point, rest.split(' ').next()?))
}

impl UntouchedSkill {
    /// Compares a header of now with that of the start, and looks for changes of anything since.
    ///
    /// # Errors
    ///
    /// When something changed.
    pub(super) fn check(&self, header: Option<Digest>) -> Result<(), Vec<FileChange>> {
        if header != Some(self.header) {
            return Err(vec![FileChange::Modified(self.skill_file())]);
        }
        self.search(&self.open()?.folder).map(drop)
    }

    /// Digests the files, which are those of the start.
    ///
    /// # Errors
    ///
    /// When something changed since, or while they were read.
    pub(super) fn digests(&self, cache: &DigestCache) -> Result<FileDigests, Vec<FileChange>> {
        let opened = self.open()?;
        let unreadable = |error: &dyn std::error::Error| vec![opened.unreadable(error)];
        // Looked at first, so that what changed is named whatever cannot be read.
        self.search(&opened.folder)?;
        let listed = files::list(&opened.folder).map_err(|error| unreadable(&error))?;
        let read = digest_of_listed(&listed, cache).map_err(|error| unreadable(&error))?;
        // What was read is what is there: if it was something else for a moment, that left a time or was another file.
        let there = self.search(&opened.folder)?;
        let others = others_than(&listed, &there);
        if !others.is_empty() {
            return Err(shortened(others));
        }
        if !is_header_of(self.header, &self.file, &read.entries) {
            return Err(vec![FileChange::Modified(self.skill_file())]);
        }
        Ok(read.entries)
    }

    fn skill_file(&self) -> String {
        self.file.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Opens the shelf. Whatever becomes of the path to it, it is the one of the start.
    fn open(&self) -> Result<OpenedSkill, Vec<FileChange>> {
        let folder = self.file.parent().unwrap_or(Path::new("/"));
        OpenedSkill::open(folder, self.shelf).map_err(|change| vec![change])
    }

    /// Looks for changes; gives what there is if there are none.
    fn search(&self, folder: &Path) -> Result<BTreeMap<String, FoundPart>, Vec<FileChange>> {
        let mut search = ChangeSearch {
            start: self.start,
            mount: self.shelf.mount,
            found: BTreeMap::new(),
            changes: Vec::new(),
            seen: 0,
        };
        if let Err(error) = search.visit(folder, "", 0) {
            let what = FileChange::Unreadable(error.kind().to_string());
            search.changes.push(what);
        }
        if search.changes.is_empty() {
            return Ok(search.found);
        }
        search.changes.sort();
        Err(shortened(search.changes))
    }
}

/// A skill below an opened shelf.
struct OpenedSkill {
    _shelf: fs::File,
    /// Leads through the opened shelf.
    folder: PathBuf,
    /// As it is called outside.
    real: PathBuf,
}

impl OpenedSkill {
    fn open(folder: &Path, shelf: SkillShelf) -> Result<Self, FileChange> {
        use std::os::fd::AsRawFd;
        let unreadable = |error: io::Error| FileChange::Unreadable(error.to_string());
        let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) else {
            return Err(FileChange::OtherFolder);
        };
        let opened = fs::File::open(parent).map_err(unreadable)?;
        // A name for the folder that is open, for as long as it is.
        let path = PathBuf::from(format!("/proc/self/fd/{}", opened.as_raw_fd()));
        let Sighting { inode, mount, .. } = Sighting::of(&path.join(".")).map_err(unreadable)?;
        if (SkillShelf { state: inode, mount }) != shelf {
            return Err(FileChange::OtherFolder);
        }
        Ok(Self { _shelf: opened, folder: path.join(name), real: folder.to_owned() })
    }

    fn unreadable(&self, error: &dyn std::error::Error) -> FileChange {
        let said = match error.source() {
            Some(why) => format!("{error}: {why}"),
            None => error.to_string(),
        };
        let (opened, real) = (self.folder.display().to_string(), self.real.display().to_string());
        FileChange::Unreadable(said.replace(&opened, &real))
    }
}

impl ChangeSearch {
    /// Looks at everything in a folder and then at the folder: if it was another one meanwhile, it has a new time.
    fn visit(&mut self, folder: &Path, name: &str, depth: usize) -> io::Result<()> {
        let changes_before = self.changes.len();
        // Of a folder that is a link now, nothing is read.
        let first = Sighting::of(folder)?;
        if first.is_folder && first.mount == self.mount {
            self.visit_parts(folder, name, depth)?;
        }
        let last = Sighting::of(folder)?;
        let is_same = last.is_folder && last.mount == self.mount && last.inode == first.inode;
        if !is_same || !self.start.is_after(last.identity.changed()) {
            // A file that came is named; one that went is not known any more.
            if self.changes.len() == changes_before {
                let path = if name.is_empty() { "./" } else { name };
                self.changes.push(FileChange::Names(path.to_owned()));
            }
        }
        Ok(())
    }

    fn visit_parts(&mut self, folder: &Path, name: &str, depth: usize) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            self.seen += 1;
            if self.seen > MAX_ENTRIES || depth > MAX_DEPTH {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
            let part = entry.file_name();
            if !is_left_out(&part) {
                self.look(&entry.path(), name, &part, depth)?;
            }
        }
        Ok(())
    }

    fn look(&mut self, path: &Path, above: &str, part: &OsStr, depth: usize) -> io::Result<()> {
        let name = format!("{above}{}", part.to_string_lossy());
        let sighting = Sighting::of(path)?;
        if sighting.is_folder {
            return self.visit(path, &format!("{name}/"), depth + 1);
        }
        let is_old = self.start.is_after(sighting.identity.changed());
        if !is_old || sighting.mount != self.mount {
            let is_new = sighting.born.is_some_and(|born| !self.start.is_after(born));
            let change = if is_new { FileChange::Added } else { FileChange::Modified };
            self.changes.push(change(name.clone()));
        }
        let found = match sighting.is_link {
            true => FoundPart::Link(fs::read_link(path)?),
            false => FoundPart::File(sighting.identity),
        };
        self.found.insert(name, found);
        Ok(())
    }
}

/// The parts of a listing that are not among what was found.
fn others_than(listed: &Tree, found: &BTreeMap<String, FoundPart>) -> Vec<FileChange> {
    let is_there = |path: &str, kind: &FileKind| match (kind, found.get(path)) {
        (FileKind::File { identity, .. }, Some(FoundPart::File(found))) => identity == found,
        (FileKind::Link { target }, Some(FoundPart::Link(found))) => found == Path::new(target),
        _ => false,
    };
    let others = listed.entries.iter().filter(|entry| !is_there(&entry.path, &entry.kind));
    others.map(|entry| FileChange::Modified(entry.path.clone())).collect()
}

impl Sighting {
    /// Looks at a path without following a link at its end.
    #[cfg(target_os = "linux")]
    fn of(path: &Path) -> io::Result<Self> {
        use rustix::fs::{AtFlags, CWD, FileType, StatxFlags, statx};
        let wanted = StatxFlags::BASIC_STATS | StatxFlags::BTIME | StatxFlags::MNT_ID;
        let stat = statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, wanted)?;
        let has = |what: StatxFlags| stat.stx_mask & what.bits() != 0;
        if !has(StatxFlags::MNT_ID) || !has(StatxFlags::CTIME) {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let kind = FileType::from_raw_mode(stat.stx_mode.into());
        let born = (stat.stx_btime.tv_sec, stat.stx_btime.tv_nsec);
        Ok(Self {
            identity: Identity::of_statx(&stat),
            inode: (rustix::fs::makedev(stat.stx_dev_major, stat.stx_dev_minor), stat.stx_ino),
            mount: stat.stx_mnt_id,
            is_folder: kind == FileType::Directory,
            is_link: kind == FileType::Symlink,
            born: has(StatxFlags::BTIME).then_some(born),
        })
    }

    #[cfg(not(target_os = "linux"))]
    fn of(_path: &Path) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_in_whole_seconds_has_to_be_older() {
        let start = StartTime { seconds: 10, nanoseconds: 500 };
        let cases = [
            ((10, 500), true),
            ((10, 501), false),
            ((9, 0), false),
            ((7, 0), true),
            ((11, 1), false),
        ];
        for (changed, expected) in cases {
            assert_eq!(start.is_after(changed), expected, "{changed:?}");
        }
    }

    #[test]
    fn mounts_are_read_with_their_escapes() {
        let line = r"36 35 98:0 /mnt1 /a\040folder rw,noatime master:1 - ext3 /dev/root rw";
        assert_eq!(mount_of(line), Some((36, "/a folder".to_owned(), "ext3")));
        assert_eq!(mount_of("36 35 98:0"), None);
    }

    #[test]
    fn changes_have_a_later_time_once_the_start_has_passed() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("file");
        for _ in 0..50 {
            fs::write(&file, "before").expect("written");
            let start = StartTime::now();
            let changed = |file| Identity::of(&fs::metadata(file).expect("it is there")).changed();
            let before = changed(&file);
            start.pass();
            fs::write(&file, "after").expect("written");
            let after = changed(&file);
            assert!(start.is_after(before) && !start.is_after(after), "{before:?} {after:?}");
        }
    }
}
