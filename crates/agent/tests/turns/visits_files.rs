//! The files of skills, whole, as visitors get them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use libtest_mimic::Failed;
use metier_agent::visit::{MAX_WHOLE_BYTES, VisitError};
use metier_skill::files::Digest;

use crate::Test;
use crate::bench::{Bench, wait};
use crate::visits::Guest;

pub(crate) const TESTS: &[Test] = &[
    ("visits_files::files_have_the_digests_of_their_bytes", files),
    ("visits_files::files_are_those_of_now", files_of_now),
];

fn files() -> Result<(), Failed> {
    let bench = Bench::new();
    bench.write("pdf/inputs/sample.csv", "1,2\n");
    let at = |path: &str| PathBuf::from(bench.skill_file(path));
    symlink("../forms.md", at("pdf/scripts/link.md"))?;
    symlink("scripts", at("pdf/bin"))?;
    symlink("/etc/passwd", at("pdf/outside"))?;
    fs::File::create(at("pdf/large.bin"))?.set_len(MAX_WHOLE_BYTES + 1)?;
    let guest = Guest::new(&bench);
    let listed = wait(guest.0.files("pdf"))?;
    let told: Vec<_> = listed.iter().map(|it| (it.path.as_str(), it.size)).collect();
    assert_eq!(
        told,
        [
            ("SKILL.md", 77),
            ("forms.md", 22),
            ("inputs/sample.csv", 4),
            ("large.bin", MAX_WHOLE_BYTES + 1),
            ("scripts/link.md", 22),
            ("scripts/pages", 23),
            ("tables.md", 20),
        ]
    );
    for file in listed.iter().filter(|file| file.path != "large.bin") {
        let read = wait(guest.0.file("pdf", &file.path, |_| true))?;
        assert_eq!(&read.file, file);
        assert_eq!(read.bytes, fs::read(at("pdf").join(&file.path))?, "{}", file.path);
        assert_eq!(Digest::of_bytes(&read.bytes).to_string(), file.sha256, "{}", file.path);
    }
    assert_eq!(wait(guest.0.file("pdf", "forms.md", |_| true))?.mime_type, "text/markdown");
    let (files, header) = wait(guest.0.files_and_header("pdf"))?;
    assert_eq!((files, header), (listed, fs::read(at("pdf/SKILL.md"))?));
    let large = wait(guest.0.file("pdf", "large.bin", |_| true));
    assert!(matches!(large, Err(VisitError::TooLarge { .. })), "{large:?}");
    for path in [
        "outside",
        "bin",
        "scripts",
        "",
        "..",
        "../charts/SKILL.md",
        "/etc/passwd",
        "no.md",
        "work",
    ] {
        let read = wait(guest.0.file("pdf", path, |_| true));
        assert!(matches!(read, Err(VisitError::NoFile { .. })), "{path}: {read:?}");
    }
    assert!(wait(guest.0.files("nothing")).is_err_and(|error| error.is_missing()));
    Ok(())
}

fn files_of_now() -> Result<(), Failed> {
    let bench = Bench::new();
    let guest = Guest::new(&bench);
    guest.load("pdf");
    bench.write("pdf/forms.md", "New forms.\n");
    let listed = wait(guest.0.files("pdf"))?;
    let read = wait(guest.0.file("pdf", "forms.md", |_| true))?;
    assert_eq!(read.bytes, b"New forms.\n");
    assert!(listed.contains(&read.file));
    Ok(())
}
