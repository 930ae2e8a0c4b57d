//! Sharing what a run made in a workspace of its own with the other runs of its session.
//!
//! A run that receives a key sees nothing that other skills wrote; they see what it wrote, as copies.
//! Copies, because a hard link would let others change what the skill finds there the next time. Links
//! and special files stay where they are, and what a skill removes stays where it was shared.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use rustix::fs::{AtFlags, OFlags, RenameFlags, fstatvfs, renameat_with, unlinkat};

use crate::collect::{Patterns, look};
use crate::layout::{Moment, Workspace, changed, open_regular};
use crate::path::Inside;
use crate::record::RecordedFile;

/// What is shared.
const SHARED: [&str; 2] = ["work/**", "out/**"];
/// The file whose time of modification is the moment before which everything is shared.
const PUBLISHED: &str = ".published";
/// Most files that could not be shared that are named.
const MAX_NAMED: usize = 3;

/// The files of a run that are to be shared.
#[derive(Debug)]
pub(crate) struct Publication {
    /// Where the run took place.
    pub(crate) from: Workspace,
    /// The workspace of the session.
    pub(crate) to: Workspace,
    /// The folder of the run, in either workspace.
    pub(crate) run: Inside,
    /// What was brought in, and is not shared unless the run changed it.
    pub(crate) inputs: Vec<RecordedFile>,
    /// Most bytes that are copied.
    pub(crate) most_bytes: u64,
    /// Bytes of the disk that are left free.
    pub(crate) least_left: u64,
}

impl Publication {
    /// Copies what is new to the workspace of the session, and moves the folder of the run there. Gives a
    /// sentence for whatever could not be shared.
    pub(crate) fn publish(&self) -> io::Result<Vec<String>> {
        self.move_run()?;
        let until = self.from.root().join(format!("{PUBLISHED}.{}", uuid::Uuid::now_v7().simple()));
        File::create(&until)?;
        let published = self.from.root().join(PUBLISHED);
        // What a run left that nobody saw to its end is shared with the next.
        let since = fs::metadata(&published).map_or((0, 0), |it| (it.mtime(), it.mtime_nsec()));
        let problems = self.copy_new(since)?;
        fs::rename(until, published)?;
        Ok(problems)
    }

    fn copy_new(&self, since: Moment) -> io::Result<Vec<String>> {
        let patterns = Patterns::parse(&SHARED.map(str::to_owned), &self.run);
        let looked = look(&self.from, &patterns.map_err(io::Error::other)?)?;
        let root = File::open(self.from.root())?;
        // Where there was less from the beginning, the run was not held to it either.
        let least_left = if self.free()? < self.least_left { 0 } else { self.least_left };
        let (mut left, mut failed, mut too_much) = (self.most_bytes, Vec::new(), 0_usize);
        for place in &looked.places {
            let Ok((file, metadata)) = open_regular(&root, place) else { continue };
            if changed(&metadata) < since || self.is_untouched(place, &file) {
                continue;
            }
            if metadata.len() > left || self.free()?.saturating_sub(metadata.len()) < least_left {
                too_much += 1;
                continue;
            }
            left -= metadata.len();
            if let Err(error) = self.copy(place, &file, &metadata) {
                failed.push(format!("`{place}` could not be shared with other skills: {error}"));
            }
        }
        let more = failed.len().saturating_sub(MAX_NAMED) + too_much;
        failed.truncate(MAX_NAMED);
        if more > 0 {
            failed.push(format!("{more} more files were not shared with other skills"));
        }
        Ok(failed)
    }

    fn copy(&self, place: &Inside, file: &File, metadata: &fs::Metadata) -> io::Result<()> {
        self.to.mend(&folders_above(place))?;
        let mut copy = self.to.create_file(place)?;
        io::copy(&mut file.take(metadata.len()), &mut copy)?;
        if metadata.permissions().mode() & 0o100 != 0 {
            copy.set_permissions(fs::Permissions::from_mode(0o700))?;
        }
        Ok(())
    }

    /// Bytes of the disk that are free.
    fn free(&self) -> io::Result<u64> {
        let disk = fstatvfs(File::open(self.to.root())?)?;
        Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
    }

    /// Whether a file is an input as it came in.
    fn is_untouched(&self, place: &Inside, file: &File) -> bool {
        let input = self.inputs.iter().rfind(|input| input.name == place.as_str());
        let digest = || {
            let digest = blake3::Hasher::new().update_reader(file).map(|it| it.finalize());
            io::Seek::rewind(&mut &*file)?;
            digest
        };
        input.is_some_and(|it| digest().is_ok_and(|now| now.to_hex().as_str() == it.digest))
    }

    /// Moves the files of the run to where its record is.
    fn move_run(&self) -> io::Result<()> {
        let Some((run, files)) = self.run.as_str().rsplit_once('/') else { return Ok(()) };
        let open = |workspace: &Workspace, place: &str| {
            workspace.open(&Inside::known(place), OFlags::RDONLY | OFlags::DIRECTORY)
        };
        let (from, to) = (open(&self.from, run)?, open(&self.to, run)?);
        match renameat_with(&from, files, &to, files, RenameFlags::NOREPLACE) {
            Err(rustix::io::Errno::NOENT) => {}
            moved => moved?,
        }
        let (runs, name) = run.rsplit_once('/').unwrap_or(("", run));
        // What else is there is removed with the workspace.
        let _more_in_it = unlinkat(open(&self.from, runs)?, name, AtFlags::REMOVEDIR);
        Ok(())
    }
}

/// The folders on the way to a place, the outermost first.
fn folders_above(place: &Inside) -> Vec<Inside> {
    let text = place.as_str();
    text.match_indices('/').map(|(slash, _)| Inside::known(&text[..slash])).collect()
}
