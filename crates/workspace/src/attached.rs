//! Attached files for runs that take place in a workspace of their own.
//!
//! A person attaches files to a task, not to one of its runs, so a run that receives a key must find them without
//! naming them in `inputs`. Other skills can write to the shared copy of an attached file: only a copy that still
//! has the digest of what the person attached is brought in.

use std::fs::File;
use std::io::{self, Read};

use crate::input::{BroughtIn, MAX_BYTES};
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
        let digest = key.split_once(' ').map_or(key.as_str(), |(digest, _name)| digest);
        match copy_verified(shared, private, &Inside::known(place.as_str()), digest)? {
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

/// Copies a file if it has a digest. The copy is compared, not the original, which may change in between.
fn copy_verified(
    shared: &Workspace,
    private: &Workspace,
    place: &Inside,
    digest: &str,
) -> io::Result<Option<RecordedFile>> {
    let opened = open_regular(&File::open(shared.root())?, place);
    let Ok((source, _metadata)) = opened else { return Ok(None) };
    let mut content = Vec::new();
    source.take(MAX_BYTES).read_to_end(&mut content)?;
    if blake3::hash(&content).to_hex().as_str() != digest {
        return Ok(None);
    }
    io::Write::write_all(&mut private.create_file(place)?, &content)?;
    Ok(Some(RecordedFile {
        name: place.to_string(),
        from: Some(format!("workspace://{place}")),
        size_bytes: content.len() as u64,
        digest: digest.to_owned(),
    }))
}
