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
/// Has Python too, and variables that no program should get.
const PYTHON: &str = "metier-test/python:latest";
/// Has nothing.
pub(super) const EMPTY: &str = "metier-test/empty:latest";

/// What an image sets for its programs: loaders, places, ways to the network, and what is its own business.
const VARIABLES: [&str; 7] = [
    "ENV LD_PRELOAD=/nowhere.so",
    "ENV BASH_ENV=/nowhere",
    "ENV HTTPS_PROXY=http://nowhere.invalid",
    "ENV HOME=/nowhere",
    "ENV WORK_DIR=/nowhere",
    "ENV PATH=/nowhere:/bin",
    "ENV IMAGE_SAYS=hello",
];

/// Images, the archives the script makes for them, and what is set in them.
const IMAGES: [(&str, &str, &[&str]); 4] = [
    (BUSYBOX, "busybox.tar", &[]),
    (BASH, "bash.tar", &[]),
    (PYTHON, "python.tar", &VARIABLES),
    (EMPTY, "empty.tar", &[]),
];

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
    for (image, archive, changes) in IMAGES {
        api.import(image, &folder.join(archive), changes)?;
    }
    Ok(())
}

/// Whether an engine has them all.
pub(super) fn are_in(api: &Api) -> Result<bool> {
    for (image, ..) in IMAGES {
        if !api.has_image(image)? {
            return Ok(false);
        }
    }
    Ok(true)
}
