//! A package for Debian: an `ar` file with two compressed archives, one about the package and one of its files.
//!
//! It is written here rather than by `dpkg-deb`, so that it comes out the same on every machine. What the
//! package depends on is read from the program itself ([`super::elf`]).

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};

use super::archive::{Files, tar_gz};
use super::elf::Needs;

/// What is said about a package.
#[derive(Clone, Debug)]
pub(super) struct Package<'a> {
    /// Its version.
    pub(super) version: &'a str,
    /// Debian's word for the machine it is for.
    pub(super) architecture: &'a str,
    /// Who answers for it: a name and an address in angle brackets.
    pub(super) maintainer: &'a str,
    /// What it cannot do without.
    pub(super) depends: &'a [String],
    /// Its files, by their path from the root of the system.
    pub(super) files: &'a Files,
}

/// What the package is, in a line and in a paragraph.
const DESCRIPTION: &str = "runtime for Agent Skills
 metier finds Agent Skills (folders with a SKILL.md, docs and scripts that
 teach an agent a job), tells which work and why the others do not, and runs
 their commands in a sandbox made by the kernel: for a person at a terminal, for
 a language model, and for other agents over the Model Context Protocol.";

/// The package as a file.
pub(super) fn build(package: &Package<'_>, time: u64) -> Result<Vec<u8>> {
    let mut about = Files::default();
    about.add("control", control(package));
    let members = [
        ("debian-binary", b"2.0\n".to_vec()),
        ("control.tar.gz", tar_gz(&about, "./", time)?),
        ("data.tar.gz", tar_gz(package.files, "./", time)?),
    ];
    Ok(ar(&members, time))
}

/// Debian's word for a machine that Rust names.
pub(super) fn architecture(target: &str) -> Result<&'static str> {
    Ok(match target.split('-').next().unwrap_or_default() {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "riscv64gc" => "riscv64",
        "powerpc64le" => "ppc64el",
        _ => bail!("no Debian architecture is known for `{target}`"),
    })
}

/// The packages that have what a program needs, in versions that have it.
///
/// Versions that are needed by nothing but weak symbols count as well: a dependency that is too strict is
/// refused at installation, one that is too lax when the program starts.
pub(super) fn depends(needs: &Needs) -> Result<Vec<String>> {
    let mut least: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for library in &needs.libraries {
        least.entry(package_of(library)?).or_default();
    }
    for (library, version) in &needs.versions {
        let number = number(version)
            .with_context(|| format!("`{library}` must have `{version}`, which is no release"))?;
        let known = least.entry(package_of(library)?).or_default();
        *known = number.max(std::mem::take(known));
    }
    let shown = |(package, version): (&str, Vec<u32>)| match version.as_slice() {
        [] => package.to_owned(),
        parts => {
            let parts = parts.iter().map(u32::to_string).collect::<Vec<_>>();
            format!("{package} (>= {})", parts.join("."))
        }
    };
    Ok(least.into_iter().map(shown).collect())
}

/// The package that has a library.
fn package_of(library: &str) -> Result<&'static str> {
    let stem = library.split(".so").next().unwrap_or_default();
    Ok(match stem {
        "libc" | "libm" | "libpthread" | "libdl" | "librt" | "libutil" => "libc6",
        linker if linker.starts_with("ld-linux") => "libc6",
        "libgcc_s" => "libgcc-s1",
        _ => bail!("no Debian package is known that has `{library}`"),
    })
}

/// The release that a version stands for: `GLIBC_2.34` is 2.34, `GCC_4.2.0` is 4.2.
fn number(version: &str) -> Option<Vec<u32>> {
    // It marks a format of relocations, which came with this release.
    let number = match version {
        "GLIBC_ABI_DT_RELR" => "2.36",
        _ => version.strip_prefix("GLIBC_").or_else(|| version.strip_prefix("GCC_"))?,
    };
    let mut parts = number.split('.').map(|part| part.parse().ok()).collect::<Option<Vec<_>>>()?;
    while parts.len() > 2 && parts.last() == Some(&0) {
        parts.pop();
    }
    Some(parts)
}

fn control(package: &Package<'_>) -> String {
    let installed: usize =
        package.files.iter().map(|(_, file)| file.bytes.len().div_ceil(1024)).sum();
    let depends = match package.depends {
        [] => String::new(),
        depends => format!("Depends: {}\n", depends.join(", ")),
    };
    let Package { version, architecture, maintainer, .. } = package;
    format!(
        "Package: metier\nVersion: {version}\nArchitecture: {architecture}\n\
         Maintainer: {maintainer}\nInstalled-Size: {installed}\n{depends}\
         Recommends: ca-certificates\nSuggests: python3\nSection: utils\nPriority: optional\n\
         Description: {DESCRIPTION}\n"
    )
}

/// Files one after the other, each with a header of 60 bytes and at an even place.
fn ar(members: &[(&str, Vec<u8>)], time: u64) -> Vec<u8> {
    let mut archive = b"!<arch>\n".to_vec();
    for (name, bytes) in members {
        let size = bytes.len();
        let header = format!("{name:<16}{time:<12}{:<6}{:<6}{:<8}{size:<10}`\n", 0, 0, "100644");
        archive.extend_from_slice(header.as_bytes());
        archive.extend_from_slice(bytes);
        if !size.is_multiple_of(2) {
            archive.push(b'\n');
        }
    }
    archive
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needed(libraries: &[&str], versions: &[(&str, &str)]) -> String {
        let needs = Needs {
            libraries: libraries.iter().map(|&it| it.to_owned()).collect(),
            versions: versions.iter().map(|&(one, two)| (one.to_owned(), two.to_owned())).collect(),
        };
        match depends(&needs) {
            Ok(depends) => depends.join(", "),
            Err(error) => format!("error: {error}"),
        }
    }

    #[test]
    fn the_newest_release_that_anything_needs_is_the_least_that_will_do() {
        let libraries = ["libc.so.6", "libgcc_s.so.1", "libm.so.6", "ld-linux-x86-64.so.2"];
        let versions = [
            ("libc.so.6", "GLIBC_2.9"),
            ("libc.so.6", "GLIBC_2.34"),
            ("libm.so.6", "GLIBC_2.29"),
            ("ld-linux-x86-64.so.2", "GLIBC_2.3"),
            ("libgcc_s.so.1", "GCC_3.3"),
            ("libgcc_s.so.1", "GCC_4.2.0"),
        ];
        insta::assert_snapshot!(
            needed(&libraries, &versions),
            @"libc6 (>= 2.34), libgcc-s1 (>= 4.2)"
        );
    }

    #[test]
    fn what_cannot_be_translated_is_refused_and_a_static_program_needs_nothing() {
        insta::assert_snapshot!(needed(&[], &[]), @"");
        insta::assert_snapshot!(needed(&["libssl.so.3"], &[]), @"error: no Debian package is known that has `libssl.so.3`");
        insta::assert_snapshot!(
            needed(&["libc.so.6"], &[("libc.so.6", "GLIBC_PRIVATE")]),
            @"error: `libc.so.6` must have `GLIBC_PRIVATE`, which is no release"
        );
        insta::assert_snapshot!(
            needed(&["libc.so.6"], &[("libc.so.6", "GLIBC_ABI_DT_RELR")]),
            @"libc6 (>= 2.36)"
        );
        insta::assert_snapshot!(architecture("wasm32-wasip1").unwrap_err(), @"no Debian architecture is known for `wasm32-wasip1`");
    }
}
