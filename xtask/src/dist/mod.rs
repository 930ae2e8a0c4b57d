//! What is published: `cargo xtask dist` builds the program and packs it.
//!
//! An archive for every Linux, a package for Debian, the list of what is in the program, and the digests of
//! all three. [`build`] makes the program and what it writes about itself, [`contents`] says what is packed under
//! which name, [`archive`] and [`deb`] pack, [`sbom`] lists. The same program packed twice gives the same bytes.

mod archive;
mod build;
mod contents;
mod deb;
mod elf;
mod notices;
mod sbom;
mod sums;
mod time;

#[cfg(test)]
mod tests;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use self::contents::Contents;
use crate::project::Project;

/// Where releases go, each in a folder of its own.
const FOLDER: &str = "target/dist";
const SUMS: &str = "SHA256SUMS";

/// What `cargo xtask dist` was asked to do.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Build for this target; without it, for this machine
    #[arg(long, value_name = "TRIPLE")]
    target: Option<String>,
    /// Build with this profile
    #[arg(long, value_name = "PROFILE", default_value = "dist")]
    profile: String,
    /// Pack this program instead of building one
    #[arg(long, value_name = "FILE")]
    binary: Option<PathBuf>,
    /// Who answers for the Debian package
    #[arg(long, value_name = "NAME <ADDRESS>", default_value = MAINTAINER)]
    maintainer: String,
}

/// Debian wants an address. This one says of itself that nobody reads it.
const MAINTAINER: &str = "The metier contributors <nobody@metier.invalid>";

/// Builds and packs, and says what was written.
pub(crate) fn run(project: &Project, options: &Options) -> Result<()> {
    let time = time::of(project)?;
    let target = match &options.target {
        Some(target) => target.clone(),
        None => build::host(project)?,
    };
    let tree = sbom::crates(project, &target)?;
    let sources = sbom::Sources::find(project, &target)?;
    let others = sbom::others(project, &target, &tree, &sources)?;
    let program = match &options.binary {
        Some(program) => fs::canonicalize(program)
            .with_context(|| format!("there is no program `{}`", program.display()))?,
        None => build::program(project, &target, &options.profile)?,
    };
    let contents = Contents {
        manual: build::manual(project, &program)?,
        completions: build::completions(project, &program)?,
        documents: build::documents(project)?,
        notices: notices::write(&tree, &others, &sources)?,
        program: fs::read(&program)?,
    };
    let release = Release { target: &target, version: &tree.root.1, time };
    let mut files = release.pack(&contents, &options.maintainer)?;
    files.push((
        format!("metier-{}-{target}.cdx.json", release.version),
        sbom::document(&tree, &others, &target)?.into_bytes(),
    ));
    let folder = project.file(FOLDER).join(format!("metier-{}", release.version));
    publish(&folder, &files)
}

/// Which release it is.
struct Release<'a> {
    target: &'a str,
    version: &'a str,
    time: u64,
}

impl Release<'_> {
    /// The archive and the package, with the names of their files.
    fn pack(&self, contents: &Contents, maintainer: &str) -> Result<Vec<(String, Vec<u8>)>> {
        let Self { target, version, time } = *self;
        let name = format!("metier-{version}-{target}");
        let archive = archive::tar_gz(&contents.archive(), &format!("{name}/"), time)?;
        let architecture = deb::architecture(target)?;
        let package = deb::Package {
            version,
            architecture,
            maintainer,
            depends: &deb::depends(&elf::needs(&contents.program)?)?,
            files: &contents.package(version, maintainer, time)?,
        };
        Ok(vec![
            (format!("{name}.tar.gz"), archive),
            (format!("metier_{version}_{architecture}.deb"), deb::build(&package, time)?),
        ])
    }
}

/// Writes files and the list of digests of all that is in the folder, whatever target it is for.
fn publish(folder: &Path, files: &[(String, Vec<u8>)]) -> Result<()> {
    let of_folder = || format!("cannot write to `{}`", folder.display());
    fs::create_dir_all(folder).with_context(of_folder)?;
    for (name, bytes) in files {
        fs::write(folder.join(name), bytes).with_context(of_folder)?;
        println!("{}  {} bytes", folder.join(name).display(), bytes.len());
    }
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).with_context(of_folder)? {
        let file = entry.with_context(of_folder)?.path();
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if file.is_file() && name != SUMS {
            all.push((name, fs::read(&file).with_context(of_folder)?));
        }
    }
    let sums = folder.join(SUMS);
    fs::write(&sums, sums::list(&all)).with_context(of_folder)?;
    println!("{}", sums.display());
    Ok(())
}
