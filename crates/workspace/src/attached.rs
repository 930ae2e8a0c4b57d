//! Attached files for runs that take place in a workspace of their own.
//!
//! A person attaches files to a task, not to one of its runs, so a run that receives a key must find them without
//! naming them in `inputs`. Other skills can write to the shared copy of an attached file: only a copy that still
//! has the digest of what the person attached is brought in.

use std::fs::File;
use std::io::{self, Read};

use rustix::fs::renameat;

use crate::input::{BroughtIn, MAX_BYTES, UploadKey, copy_and_hash};
use crate::layout::{Workspace, open_regular};
use crate::path::Inside;
use crate::record::RecordedFile;

/// Copies the files that were attached since the last call from the workspace of a session to one inside it.
///
/// A copy that its skill has changed stays as it is. A file that another skill has changed is left out with a
/// warning.
pub(crate) fn bring_attached(shared: &Workspace, private: &Workspace) -> io::Result<BroughtIn> {
    let attached = shared.metadata()?.uploads;
    let _lock = private.lock()?;
    let mut metadata = private.metadata()?;
    let mut brought = BroughtIn::default();
    for (key, place) in attached {
        if metadata.uploads.contains_key(&key) {
            continue;
        }
        let expected = UploadKey::of(&key);
        match copy_verified(shared, private, &Inside::known(place.as_str()), &expected)? {
            Some(file) => {
                brought.files.push(file);
                metadata.uploads.insert(key, place);
            }
            None => brought.warnings.push(format!(
                "the attached file `{place}` is not as it was attached, so this run does not see it; \
                 name it in `inputs` to use it as it is now"
            )),
        }
    }
    if !brought.files.is_empty() {
        private.save(&metadata)?;
    }
    Ok(brought)
}

/// Copies a file if it is as it was attached. The copy is compared, not the original, which may change in between, and
/// has another name until then.
fn copy_verified(
    shared: &Workspace,
    private: &Workspace,
    place: &Inside,
    expected: &UploadKey<'_>,
) -> io::Result<Option<RecordedFile>> {
    let opened = open_regular(&File::open(shared.root())?, place);
    let Ok((source, metadata)) = opened else { return Ok(None) };
    let most = expected.size.unwrap_or(MAX_BYTES);
    if metadata.len() > most {
        return Ok(None);
    }
    let name = format!(".attached-{}", uuid::Uuid::now_v7().simple());
    let beside = place.as_str().rsplit_once('/').map(|(folder, _)| format!("{folder}/{name}"));
    let beside = Inside::known(beside.unwrap_or(name));
    let copied = copy_and_hash(source.take(most), &mut private.create_file(&beside)?);
    let moved = match copied {
        Ok((size, digest)) if digest == expected.digest => {
            move_to(private, &beside, place).map(|()| Some(size))
        }
        copied => copied.map(|_| None),
    };
    if !matches!(moved, Ok(Some(_))) {
        private.clear(&beside)?;
    }
    Ok(moved?.map(|size_bytes| RecordedFile {
        name: place.to_string(),
        from: Some(format!("workspace://{place}")),
        size_bytes,
        digest: expected.digest.to_owned(),
    }))
}

fn move_to(workspace: &Workspace, from: &Inside, to: &Inside) -> io::Result<()> {
    let (folder, name) = workspace.clear(to)?;
    Ok(renameat(&folder, from.file_name(), &folder, name)?)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::input::upload;
    use crate::layout::{WorkspaceKey, Workspaces};

    /// Most memory that this process has had, in bytes.
    fn peak() -> u64 {
        let status = fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
    }

    #[test]
    fn a_large_file_in_the_place_of_an_attached_one_is_not_read_into_memory() {
        let state = tempfile::tempdir().unwrap();
        let folder = |name: &str| state.path().join(name);
        let workspaces = Workspaces::open(&folder("workspaces"), &folder("content")).unwrap();
        let [app, user, session] = ["app", "user", "session"].map(str::to_owned);
        let key = WorkspaceKey { app, user, session, generation: 0 };
        let shared = workspaces.workspace(&key).unwrap();
        let private = shared.private_to("demo").unwrap();
        let place = upload(&shared, "table.csv", b"ours\n").unwrap();
        let attached = shared.root().join(place.as_str());
        let before = peak();
        for is_known in [true, false] {
            // Older versions did not keep the size.
            let mut metadata = shared.metadata().unwrap();
            if !is_known {
                let digest = blake3::hash(b"ours\n").to_hex();
                let key = format!("{digest} table.csv");
                metadata.uploads = [(key, place.to_string())].into();
                shared.save(&metadata).unwrap();
            }
            File::create(&attached).unwrap().set_len(200 << 20).unwrap();
            let brought = bring_attached(&shared, &private).unwrap();
            assert!(brought.files.is_empty() && brought.warnings.len() == 1, "{is_known}");
            let folder = private.root().join(place.as_str());
            assert_eq!(fs::read_dir(folder.parent().unwrap()).unwrap().count(), 0, "{is_known}");
        }
        assert!(peak() - before < 64 << 20, "{} bytes", peak() - before);
        fs::write(&attached, "ours\n").unwrap();
        let brought = bring_attached(&shared, &private).unwrap();
        assert_eq!((brought.files[0].size_bytes, brought.warnings.len()), (5, 0));
        assert_eq!(fs::read_to_string(private.root().join(place.as_str())).unwrap(), "ours\n");
    }
}
