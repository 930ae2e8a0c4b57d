//! What is in a release, and under which name: in the archive for every Linux, and in the package for Debian.

use anyhow::Result;

use super::archive::{Files, gzip};
use super::time;

/// Everything that is packed, whatever it is packed into.
#[derive(Clone, Debug)]
pub(super) struct Contents {
    /// The program.
    pub(super) program: Vec<u8>,
    /// Its manual, a page for each command: the names of the files and their text.
    pub(super) manual: Vec<(String, Vec<u8>)>,
    /// What completes its arguments, by shell.
    pub(super) completions: Completions,
    /// Files at the root of the repository that go with it: their names and their text.
    pub(super) documents: Vec<(String, Vec<u8>)>,
    /// Licences of the crates that the program is made of, with their texts.
    pub(super) notices: String,
}

/// A script for each shell.
#[derive(Clone, Debug)]
pub(super) struct Completions {
    pub(super) bash: Vec<u8>,
    pub(super) zsh: Vec<u8>,
    pub(super) fish: Vec<u8>,
}

/// The name of the file with the licences of others.
pub(super) const NOTICES: &str = "THIRD-PARTY.txt";

/// What Debian's checker takes for a mistake and is none.
const OVERRIDES: &str =
    "# The name is in a table of programs that start others; metier does not start it.
metier: missing-depends-on-sensible-utils *
";

impl Contents {
    /// The archive: one folder is put around these.
    pub(super) fn archive(&self) -> Files {
        let mut files = Files::default();
        files.add_program("metier", self.program.clone());
        for (name, text) in &self.documents {
            files.add(name, text.clone());
        }
        files.add(NOTICES, self.notices.clone());
        for (name, text) in &self.manual {
            files.add(format!("man/man1/{name}"), text.clone());
        }
        files.add("completions/metier.bash", self.completions.bash.clone());
        files.add("completions/_metier", self.completions.zsh.clone());
        files.add("completions/metier.fish", self.completions.fish.clone());
        files
    }

    /// The package, with every file where Debian looks for it.
    pub(super) fn package(&self, version: &str, maintainer: &str, time: u64) -> Result<Files> {
        let mut files = Files::default();
        files.add_program("usr/bin/metier", self.program.clone());
        for (name, text) in &self.manual {
            files.add(format!("usr/share/man/man1/{name}.gz"), gzip(text)?);
        }
        let completions = &self.completions;
        files.add("usr/share/bash-completion/completions/metier", completions.bash.clone());
        files.add("usr/share/zsh/vendor-completions/_metier", completions.zsh.clone());
        files.add("usr/share/fish/vendor_completions.d/metier.fish", completions.fish.clone());
        let about = "usr/share/doc/metier";
        // A licence is in `copyright`; its text is not repeated.
        let readable = |name: &str| name.strip_suffix(".md").is_some();
        for (name, text) in self.documents.iter().filter(|(name, _)| readable(name)) {
            files.add(format!("{about}/{name}.gz"), gzip(text)?);
        }
        files.add(format!("{about}/{NOTICES}.gz"), gzip(self.notices.as_bytes())?);
        files.add(format!("{about}/copyright"), self.copyright());
        files.add("usr/share/lintian/overrides/metier", OVERRIDES);
        let changes = changelog(version, maintainer, time);
        files.add(format!("{about}/changelog.gz"), gzip(changes.as_bytes())?);
        Ok(files)
    }

    /// Who may do what with it, in Debian's form.
    fn copyright(&self) -> String {
        let mit = self.documents.iter().find(|(name, _)| name == "LICENSE-MIT");
        let mit = mit.map(|(_, text)| String::from_utf8_lossy(text)).unwrap_or_default();
        // The first paragraph is the line of copyright; an empty line is written as a dot.
        let (owner, terms) = mit.trim().split_once("\n\n").unwrap_or_default();
        let owner = owner.trim_start_matches("Copyright (c) ");
        let terms: String = terms
            .lines()
            .map(|line| if line.is_empty() { " .\n".to_owned() } else { format!(" {line}\n") })
            .collect();
        format!(
            "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\
             Upstream-Name: metier\n\
             Comment: The program contains the crates that {NOTICES}.gz lists, each with its\n \
             licence.\n\n\
             Files: *\nCopyright: {owner}\nLicense: Expat or Apache-2.0\n\n\
             License: Expat\n{terms}\n\
             License: Apache-2.0\n On Debian systems, the text of this licence is in\n \
             /usr/share/common-licenses/Apache-2.0.\n"
        )
    }
}

/// What Debian calls a changelog: here it only says where the real one is.
fn changelog(version: &str, maintainer: &str, time: u64) -> String {
    let time = time::of_changelog(time);
    format!(
        "metier ({version}) unstable; urgency=medium\n\n  \
         * What changed is in CHANGELOG.md.gz beside this file.\n\n -- {maintainer}  {time}\n"
    )
}
