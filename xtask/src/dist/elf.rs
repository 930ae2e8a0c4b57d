//! What a program for Linux needs from shared libraries, read from its own tables.
//!
//! The dynamic section names the libraries, the table of needed versions the oldest release of each that
//! will do. Only 64-bit little-endian files are read, which is what metier is built for. A static program
//! needs nothing.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail, ensure};

/// What a program asks the dynamic linker for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Needs {
    /// Names of libraries, such as `libc.so.6`.
    pub(super) libraries: BTreeSet<String>,
    /// Names of versions with the library that must have them.
    pub(super) versions: BTreeSet<(String, String)>,
}

const DYNAMIC: u32 = 6;
const VERSIONS_NEEDED: u32 = 0x6fff_fffe;
const TAG_NEEDED: u64 = 1;

const EARLY: &str = "the file ends too early";

/// Reads the tables of a program.
pub(super) fn needs(elf: &[u8]) -> Result<Needs> {
    ensure!(elf.starts_with(b"\x7fELF\x02\x01"), "not a 64-bit little-endian ELF file");
    let elf = Bytes(elf);
    let sections = sections(elf)?;
    let mut needs = Needs::default();
    for section in &sections {
        let names = || match sections.get(section.link) {
            Some(names) => Ok(names.content),
            None => bail!("a section refers to one that is not there"),
        };
        match section.kind {
            DYNAMIC => read_dynamic(section, names()?, &mut needs)?,
            VERSIONS_NEEDED => read_versions(section, names()?, &mut needs)?,
            _ => {}
        }
    }
    Ok(needs)
}

struct Section<'a> {
    kind: u32,
    /// The section with its names.
    link: usize,
    /// How many entries it has, where the kind says so.
    info: usize,
    content: Bytes<'a>,
}

fn sections(elf: Bytes<'_>) -> Result<Vec<Section<'_>>> {
    let (table, size, count) = (elf.word(0x28)?, elf.short(0x3a)?, elf.short(0x3c)?);
    let section = |index: usize| {
        let at = usize::try_from(table)?.checked_add(index * size).context(EARLY)?;
        let header = Bytes(elf.0.get(at..).context(EARLY)?);
        let kind = header.half(4)?;
        let (offset, length) = (header.word(0x18)?, header.word(0x20)?);
        // Of these kinds the size is not that of anything in the file.
        let is_absent = kind == 0 || kind == 8;
        let content = if is_absent { Bytes(&[]) } else { elf.slice(offset, length)? };
        let (link, info) = (header.half(0x28)? as usize, header.half(0x2c)? as usize);
        Ok(Section { kind, link, info, content })
    };
    (0..count).map(section).collect()
}

fn read_dynamic(section: &Section<'_>, names: Bytes<'_>, needs: &mut Needs) -> Result<()> {
    for entry in section.content.0.chunks_exact(16) {
        let entry = Bytes(entry);
        if entry.word(0)? == TAG_NEEDED {
            needs.libraries.insert(names.text(usize::try_from(entry.word(8)?)?)?);
        }
    }
    Ok(())
}

fn read_versions(section: &Section<'_>, names: Bytes<'_>, needs: &mut Needs) -> Result<()> {
    let table = section.content;
    let mut at = 0;
    for _ in 0..section.info {
        let library = names.text(table.half(at + 4)? as usize)?;
        let mut version = at + table.half(at + 8)? as usize;
        for _ in 0..table.short(at + 2)? {
            let name = names.text(table.half(version + 8)? as usize)?;
            needs.versions.insert((library.clone(), name));
            version += table.half(version + 12)? as usize;
        }
        at += table.half(at + 12)? as usize;
    }
    Ok(())
}

/// Bytes that are read by their place in the file; what is beyond the end is an error.
#[derive(Clone, Copy)]
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn array<const N: usize>(self, at: usize) -> Result<[u8; N]> {
        let bytes = at.checked_add(N).and_then(|end| self.0.get(at..end));
        bytes.context(EARLY)?.try_into().context("as many bytes as asked for")
    }

    fn short(self, at: usize) -> Result<usize> {
        Ok(usize::from(u16::from_le_bytes(self.array(at)?)))
    }

    fn half(self, at: usize) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array(at)?))
    }

    fn word(self, at: usize) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array(at)?))
    }

    fn slice(self, offset: u64, length: u64) -> Result<Self> {
        let (offset, length) = (usize::try_from(offset)?, usize::try_from(length)?);
        let bytes = offset.checked_add(length).and_then(|end| self.0.get(offset..end));
        bytes.map(Self).context(EARLY)
    }

    /// The text that begins at a place and ends before a zero.
    fn text(self, at: usize) -> Result<String> {
        let rest = self.0.get(at..).context("a name is beyond the end of its section")?;
        let text = rest.split(|byte| *byte == 0).next().unwrap_or_default();
        Ok(str::from_utf8(text).context("a name is not text")?.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    fn a_program_that_uses_glibc_says_which() {
        let this = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let needs = needs(&this).unwrap();
        assert!(needs.libraries.contains("libc.so.6"), "{needs:?}");
        let is_libc = |(library, version): &(String, String)| {
            library == "libc.so.6" && version.starts_with("GLIBC_2.")
        };
        assert!(needs.versions.iter().any(is_libc), "{needs:?}");
        // Every library with a version is one that is loaded.
        assert!(needs.versions.iter().all(|(library, _)| needs.libraries.contains(library)));
    }

    #[test]
    fn what_is_no_program_or_ends_early_is_refused() {
        let told = |bytes: &[u8]| needs(bytes).unwrap_err().to_string();
        insta::assert_snapshot!(told(b"#!/bin/sh\n"), @"not a 64-bit little-endian ELF file");
        insta::assert_snapshot!(told(b"\x7fELF\x02\x01\x01"), @"the file ends too early");
        let mut header = [0_u8; 64];
        header[..6].copy_from_slice(b"\x7fELF\x02\x01");
        assert_eq!(needs(&header).unwrap(), Needs::default());
        // A table of sections far beyond the end.
        header[0x28..0x30].fill(0xff);
        header[0x3c] = 1;
        assert!(needs(&header).is_err());
    }
}
