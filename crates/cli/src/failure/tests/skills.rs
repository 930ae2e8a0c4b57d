//! Errors of skills: folders, archives, other servers, trust, filters, installing.

use std::io::ErrorKind;
use std::path::PathBuf;

use metier_skill::archive::{ArchiveError, Format, Refusal};
use metier_skill::files::{Digest, TreeError};
use metier_skill::install::{Obstacle, PlaceError};
use metier_skill::library::{Patterns, TrustError, WatchError};
use metier_skill::remote::{RemoteFault, StoreError};

use super::sheet::{Sheet, system};
use crate::failure::Failure;

pub(super) fn add_to(sheet: &mut Sheet) {
    library(sheet);
    archives(sheet);
    remote(sheet);
    installing(sheet);
}

fn library(sheet: &mut Sheet) {
    sheet.show(Patterns::new(&["git-[a".to_owned()]).unwrap_err(), Failure::from);
    let path = || PathBuf::from("/home/ada/.metier/trust.json");
    let source = serde_json::from_str::<serde_json::Value>("{").unwrap_err();
    sheet.show(TrustError::Broken { path: path(), source }, Failure::from);
    sheet.show(
        TrustError::Io { path: path(), source: system(ErrorKind::PermissionDenied) },
        Failure::from,
    );
    let path = || PathBuf::from("/home/ada/.agents/skills/pdf");
    sheet.show(
        TreeError::Unreadable { path: path(), source: system(ErrorKind::PermissionDenied) },
        Failure::from,
    );
    sheet.show(TreeError::TooLarge { path: path() }, Failure::from);
    let source = notify::Error::io(std::io::Error::from_raw_os_error(13));
    let error = WatchError { path: PathBuf::from("/home/ada/.agents/skills"), source };
    sheet.note(&error, &format!("{}; changes are not noticed", Failure::of(&error)));
}

fn archives(sheet: &mut Sheet) {
    use ArchiveError as E;
    let name = || "skills.zip".to_owned();
    let entry = || "pdf/data.bin".to_owned();
    let errors = [
        E::UnknownFormat { name: "skills.rar".into() },
        E::Unreadable { name: name(), source: system(ErrorKind::PermissionDenied) },
        E::Damaged { format: Format::Zip, source: std::io::Error::other("unexpected end of file") },
        E::Refused { entry: "../../.bashrc".into(), reason: Refusal::ParentFolder },
        E::ArchiveTooLarge { bytes: 70_000_000, limit: 67_108_864 },
        E::TooManyEntries { limit: 10_000 },
        E::FileTooLarge { entry: entry(), limit: 33_554_432 },
        E::TotalTooLarge { entry: entry(), limit: 268_435_456 },
        E::RatioTooHigh { entry: entry(), ratio: 200 },
        E::HeadersTooLarge { limit: 1_048_576 },
        E::TargetExists { path: "/home/ada/.metier/cache/roots/1f".into() },
        E::Write {
            path: "/home/ada/.metier/cache/roots/1f/pdf".into(),
            source: system(ErrorKind::StorageFull),
        },
    ];
    errors.into_iter().for_each(|error| sheet.show(error, Failure::from));
    let reasons = [
        Refusal::Absolute,
        Refusal::ParentFolder,
        Refusal::DriveLetter,
        Refusal::Backslash,
        Refusal::ControlCharacter,
        Refusal::NotUtf8,
        Refusal::NoName,
        Refusal::TooDeep { limit: 32 },
        Refusal::NameTooLong { limit: 255 },
        Refusal::Duplicate,
        Refusal::Collision { other: "pdf/Data.bin".into() },
        Refusal::NotInFolder { parent: "pdf".into() },
        Refusal::EscapingLink { target: "/etc/passwd".into() },
        Refusal::Link,
        Refusal::HardLink,
        Refusal::Device,
        Refusal::NamedPipe,
        Refusal::OtherKind,
        Refusal::FolderWithContents,
        Refusal::Encrypted,
        Refusal::Compression,
    ];
    for reason in reasons {
        sheet.inside(&reason, &E::Refused { entry: entry(), reason: reason.clone() }.into());
    }
}

fn remote(sheet: &mut Sheet) {
    use RemoteFault as E;
    let path = || "scripts/run.py".to_owned();
    let listed = [
        E::Address { uri: "skill://pdf/README.md".into() },
        E::Header { reason: "it has no `description`".into() },
        E::Name { name: "pdf".into(), folder: "documents".into() },
        E::NoSkillFile,
        E::Outside { uri: "skill://other/run.py".into() },
        E::Twice { path: path() },
        E::Digest { path: path() },
        E::TooMany { count: 12_000 },
        E::TooLarge,
    ];
    for fault in listed {
        sheet.note(&fault, &format!("this skill is not used: {fault}"));
    }
    let within = |error: StoreError| {
        Failure::from(error).within("`pdf` of the server `files` cannot be used")
    };
    let (told, found) = (Digest::of_bytes(b"told"), Digest::of_bytes(b"found"));
    let fetched = [
        E::Size { path: path(), told: 120, found: 133 },
        E::Content { path: path(), told, found },
        E::HeaderDiffers { reason: "the field `description` is not what was told".into() },
        E::Gone { path: path() },
        E::Unlisted { path: path() },
    ];
    for fault in fetched {
        sheet.show(fault, |fault| within(fault.into()));
    }
    let errors = [
        StoreError::Fault(E::Gone { path: path() }),
        StoreError::Dynamic,
        StoreError::Io {
            path: "/home/ada/.metier/remote/files".into(),
            source: system(ErrorKind::ReadOnlyFilesystem),
        },
    ];
    errors.into_iter().for_each(|error| sheet.show(error, within));
}

fn installing(sheet: &mut Sheet) {
    let obstacles = [
        Obstacle::OtherSystem(vec!["macos".into(), "windows".into()]),
        Obstacle::NoManager("brew"),
        Obstacle::NotRoot,
    ];
    for obstacle in obstacles {
        sheet.show(obstacle, |obstacle| Failure::of_obstacle("ripgrep", &obstacle));
    }
    let errors = [
        PlaceError::Archive(ArchiveError::UnknownFormat { name: "rg.7z".into() }),
        PlaceError::NoProgram { name: "rg".into() },
        PlaceError::Elsewhere { name: "rg".into() },
        PlaceError::Write {
            path: "/home/ada/.metier/tools/bin/rg".into(),
            source: system(ErrorKind::PermissionDenied),
        },
    ];
    errors.into_iter().for_each(|error| sheet.show(error, Failure::from));
}
