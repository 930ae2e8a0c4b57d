//! Packing something small twice, and reading it with the tools that people have.

use std::process::Command;

use super::contents::Completions;
use super::*;
use crate::project::output;
use crate::test::skip;

const TIME: u64 = 1_700_000_000;

/// A release with a small program that every Debian has.
fn contents() -> Contents {
    let text = |name: &str, text: &str| (name.to_owned(), text.as_bytes().to_vec());
    Contents {
        program: fs::read("/bin/true").unwrap(),
        manual: vec![text("metier.1", ".TH METIER 1\n"), text("metier-run.1", ".TH RUN 1\n")],
        completions: Completions {
            bash: b"complete metier\n".to_vec(),
            zsh: b"#compdef metier\n".to_vec(),
            fish: b"complete -c metier\n".to_vec(),
        },
        documents: vec![
            text("README.md", "# metier\n"),
            text("CHANGELOG.md", "# Changelog\n"),
            text("LICENSE-MIT", "Copyright (c) somebody\n\nPermission\nis\n\ngranted.\n"),
        ],
        notices: "licences of others\n".to_owned(),
    }
}

fn release() -> Vec<(String, Vec<u8>)> {
    let release = Release { target: "x86_64-unknown-linux-gnu", version: "1.2.3", time: TIME };
    release.pack(&contents(), "Somebody <somebody@metier.invalid>").unwrap()
}

fn read(folder: &Path, program: &str, arguments: &[&str]) -> String {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).env("TZ", "UTC").env("LC_ALL", "C");
    output(command).unwrap()
}

/// Sizes differ from build to build.
fn without_sizes(listing: &str) -> String {
    let line = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        [&words[..2], &words[3..]].concat().join(" ") + "\n"
    };
    listing.lines().map(line).collect()
}

#[test]
fn packing_twice_gives_the_same_bytes() {
    for (one, other) in release().iter().zip(&release()) {
        assert_eq!(one.0, other.0);
        assert_eq!(sums::sha256(&one.1), sums::sha256(&other.1), "{}", one.0);
    }
}

#[test]
fn the_digests_are_those_that_sha256sum_finds() {
    let folder = tempfile::tempdir().unwrap();
    publish(folder.path(), &release()).unwrap();
    insta::assert_snapshot!(read(folder.path(), "sha256sum", &["-c", SUMS]), @"
    metier-1.2.3-x86_64-unknown-linux-gnu.tar.gz: OK
    metier_1.2.3_amd64.deb: OK
    ");
    // What was changed is noticed, and another target is added to the list.
    let file = folder.path().join("metier-1.2.3-x86_64-unknown-linux-gnu.tar.gz");
    let mut bytes = fs::read(&file).unwrap();
    bytes[20] ^= 1;
    fs::write(&file, bytes).unwrap();
    let checked = Command::new("sha256sum").args(["-c", SUMS]).current_dir(&folder).output();
    assert!(!checked.unwrap().status.success());
    publish(folder.path(), &[("metier-1.2.3-other.tar.gz".to_owned(), b"x".to_vec())]).unwrap();
    let lines = fs::read_to_string(folder.path().join(SUMS)).unwrap();
    assert_eq!(lines.lines().count(), 3, "{lines}");
}

#[test]
fn the_archive_has_one_folder_with_everything_in_order() {
    let folder = tempfile::tempdir().unwrap();
    publish(folder.path(), &release()).unwrap();
    let name = "metier-1.2.3-x86_64-unknown-linux-gnu.tar.gz";
    let listing = read(folder.path(), "tar", &["-tvzf", name]);
    insta::assert_snapshot!(without_sizes(&listing), @"
    drwxr-xr-x root/root 2023-11-14 22:13 metier-1.2.3-x86_64-unknown-linux-gnu/
    -rw-r--r-- root/root 2023-11-14 22:13 metier-1.2.3-x86_64-unknown-linux-gnu/CHANGELOG.md
    -rw-r--r-- root/root 2023-11-14 22:13 metier-1.2.3-x86_64-unknown-linux-gnu/LICENSE-MIT
    -rw-r--r-- root/root 2023-11-14 22:13 metier-1.2.3-x86_64-unknown-linux-gnu/README.md
    -rw-r--r-- root/root 2023-11-14 22:13 metier-1.2.3-x86_64-unknown-linux-gnu/THIRD-PARTY.txt
    drwxr-xr-x root/root 2023-11-14 22:13 metier-1.2.3-x86_64-unknown-linux-gnu/completions/
    -rw-r--r-- root/root 2023-11-14 22:13 metier-1.2.3-x86_64-unknown-linux-gnu/completions/_metier
    -rw-r--r-- root/root 2023-11-14 22:13 metier-1.2.3-x86_64-unknown-linux-gnu/completions/metier.bash
    -rw-r--r-- root/root 2023-11-14 22:13 metier-1.2.3-x86_64-unknown-linux-gnu/completions/metier.fish
    drwxr-xr-x root/root 2023-11-14 22:13 metier-1.2.3-x86_64-unknown-linux-gnu/man/
    drwxr-xr-x root/root 2023-11-14 22:13 metier-1.2.3-x86_64-unknown-linux-gnu/man/man1/
    -rw-r--r-- root/root 2023-11-14 22:13 metier-1.2.3-x86_64-unknown-linux-gnu/man/man1/metier-run.1
    -rw-r--r-- root/root 2023-11-14 22:13 metier-1.2.3-x86_64-unknown-linux-gnu/man/man1/metier.1
    -rwxr-xr-x root/root 2023-11-14 22:13 metier-1.2.3-x86_64-unknown-linux-gnu/metier
    ");
    read(folder.path(), "tar", &["-xzf", name]);
    let unpacked = folder.path().join("metier-1.2.3-x86_64-unknown-linux-gnu/metier");
    assert_eq!(fs::read(unpacked).unwrap(), contents().program);
    // Nobody's name, and no time but that of the commit: gzip's own is zero.
    assert_eq!(fs::read(folder.path().join(name)).unwrap()[4..8], [0; 4]);
}

#[test]
fn debian_reads_the_package() {
    let project = Project::from_environment();
    if project.find("dpkg-deb").is_none() {
        skip("dist::tests::debian_reads_the_package", "there is no `dpkg-deb`");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    publish(folder.path(), &release()).unwrap();
    let name = "metier_1.2.3_amd64.deb";
    let field = |field: &str| read(folder.path(), "dpkg-deb", &["--field", name, field]);
    insta::assert_snapshot!(
        ["Package", "Version", "Architecture", "Maintainer", "Recommends"].map(field).concat(),
        @"
    metier
    1.2.3
    amd64
    Somebody <somebody@metier.invalid>
    ca-certificates
    "
    );
    let depends = field("Depends");
    assert!(depends.starts_with("libc6 (>= 2."), "{depends}");
    let listing = read(folder.path(), "dpkg-deb", &["--contents", name]);
    insta::assert_snapshot!(without_sizes(&listing), @"
    drwxr-xr-x root/root 2023-11-14 22:13 ./
    drwxr-xr-x root/root 2023-11-14 22:13 ./usr/
    drwxr-xr-x root/root 2023-11-14 22:13 ./usr/bin/
    -rwxr-xr-x root/root 2023-11-14 22:13 ./usr/bin/metier
    drwxr-xr-x root/root 2023-11-14 22:13 ./usr/share/
    drwxr-xr-x root/root 2023-11-14 22:13 ./usr/share/bash-completion/
    drwxr-xr-x root/root 2023-11-14 22:13 ./usr/share/bash-completion/completions/
    -rw-r--r-- root/root 2023-11-14 22:13 ./usr/share/bash-completion/completions/metier
    drwxr-xr-x root/root 2023-11-14 22:13 ./usr/share/doc/
    drwxr-xr-x root/root 2023-11-14 22:13 ./usr/share/doc/metier/
    -rw-r--r-- root/root 2023-11-14 22:13 ./usr/share/doc/metier/CHANGELOG.md.gz
    -rw-r--r-- root/root 2023-11-14 22:13 ./usr/share/doc/metier/README.md.gz
    -rw-r--r-- root/root 2023-11-14 22:13 ./usr/share/doc/metier/THIRD-PARTY.txt.gz
    -rw-r--r-- root/root 2023-11-14 22:13 ./usr/share/doc/metier/changelog.gz
    -rw-r--r-- root/root 2023-11-14 22:13 ./usr/share/doc/metier/copyright
    drwxr-xr-x root/root 2023-11-14 22:13 ./usr/share/fish/
    drwxr-xr-x root/root 2023-11-14 22:13 ./usr/share/fish/vendor_completions.d/
    -rw-r--r-- root/root 2023-11-14 22:13 ./usr/share/fish/vendor_completions.d/metier.fish
    drwxr-xr-x root/root 2023-11-14 22:13 ./usr/share/lintian/
    drwxr-xr-x root/root 2023-11-14 22:13 ./usr/share/lintian/overrides/
    -rw-r--r-- root/root 2023-11-14 22:13 ./usr/share/lintian/overrides/metier
    drwxr-xr-x root/root 2023-11-14 22:13 ./usr/share/man/
    drwxr-xr-x root/root 2023-11-14 22:13 ./usr/share/man/man1/
    -rw-r--r-- root/root 2023-11-14 22:13 ./usr/share/man/man1/metier-run.1.gz
    -rw-r--r-- root/root 2023-11-14 22:13 ./usr/share/man/man1/metier.1.gz
    drwxr-xr-x root/root 2023-11-14 22:13 ./usr/share/zsh/
    drwxr-xr-x root/root 2023-11-14 22:13 ./usr/share/zsh/vendor-completions/
    -rw-r--r-- root/root 2023-11-14 22:13 ./usr/share/zsh/vendor-completions/_metier
    ");
    read(folder.path(), "dpkg-deb", &["--extract", name, "unpacked"]);
    let unpacked = folder.path().join("unpacked/usr");
    assert_eq!(fs::read(unpacked.join("bin/metier")).unwrap(), contents().program);
    let about = unpacked.join("share/doc/metier");
    insta::assert_snapshot!(fs::read_to_string(about.join("copyright")).unwrap(), @"
    Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
    Upstream-Name: metier
    Comment: The program contains the crates that THIRD-PARTY.txt.gz lists, each with its
     licence.

    Files: *
    Copyright: somebody
    License: Expat or Apache-2.0

    License: Expat
     Permission
     is
     .
     granted.

    License: Apache-2.0
     On Debian systems, the text of this licence is in
     /usr/share/common-licenses/Apache-2.0.
    ");
    insta::assert_snapshot!(read(&about, "gzip", &["-dc", "changelog.gz"]), @"
    metier (1.2.3) unstable; urgency=medium

      * What changed is in CHANGELOG.md.gz beside this file.

     -- Somebody <somebody@metier.invalid>  Tue, 14 Nov 2023 22:13:20 +0000
    ");
}
