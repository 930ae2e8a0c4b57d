//! The images of the tests: made of what is on the machine, because there may be no registry.

use std::path::Path;

use anyhow::{Context, Result, bail};

use super::api::Api;
use crate::project::Project;

/// What makes the archives.
const SCRIPT: &str = include_str!("images.sh");

/// Has a shell and many small programs.
pub(super) const BUSYBOX: &str = "metier-test/busybox:latest";
/// Has bash as well.
pub(super) const BASH: &str = "metier-test/bash:latest";
/// Has nothing.
pub(super) const EMPTY: &str = "metier-test/empty:latest";

/// Images and the archives the script makes for them.
const IMAGES: [(&str, &str); 3] =
    [(BUSYBOX, "busybox.tar"), (BASH, "bash.tar"), (EMPTY, "empty.tar")];

/// Makes the archives in a folder.
pub(super) fn make(project: &Project, folder: &Path) -> Result<()> {
    let output = project
        .command("sh")
        .args(["-c", SCRIPT, "images.sh"])
        .arg(folder)
        .output()
        .context("cannot start `sh`")?;
    if !output.status.success() {
        bail!("cannot make the test images: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(())
}

/// Puts the images into an engine, from the folder with the archives.
pub(super) fn import(api: &Api, folder: &Path) -> Result<()> {
    for (image, archive) in IMAGES {
        api.import(image, &folder.join(archive))?;
    }
    Ok(())
}

/// Whether an engine has them all.
pub(super) fn are_in(api: &Api) -> Result<bool> {
    for (image, _) in IMAGES {
        if !api.has_image(image)? {
            return Ok(false);
        }
    }
    Ok(true)
}
