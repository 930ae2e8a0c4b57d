//! Programs that a repository's own configuration makes git start.
//!
//! What runs a plan turns off monitors, hooks, pagers and the like for every git. Programs that have a name of the
//! repository's choosing cannot be turned off: filters, drivers of differences and merges, tools, aliases. A
//! repository that has such settings is trusted by a person who names its folder in an entry, or who is asked.

use thiserror::Error;

/// Sections whose settings name programs, or files with further settings.
const SECTIONS: &[&str] = &[
    "alias",
    "browser",
    "diff",
    "difftool",
    "filter",
    "gc",
    "guitool",
    "hook",
    "imap",
    "include",
    "includeif",
    "instaweb",
    "man",
    "merge",
    "mergetool",
    "sendemail",
    "tar",
    "trailer",
    "web",
];

/// The reason that git could start programs of the repository's choosing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(super) enum ForeignPrograms {
    /// It is not known whether the settings name programs.
    #[error("the repository's own settings cannot be read")]
    Unreadable,
    /// The settings have this section, which names programs.
    #[error("the repository's own settings have `[{0}]`, by which git starts programs")]
    Section(&'static str),
}

/// Returns why git could start programs that are not allowed; none if it could not.
pub(super) fn foreign_programs(settings: Option<Vec<String>>) -> Option<ForeignPrograms> {
    let Some(settings) = settings else { return Some(ForeignPrograms::Unreadable) };
    settings.iter().find_map(|text| program_section(text)).map(ForeignPrograms::Section)
}

/// The first section of a configuration that names programs. Git allows nothing between `[` and a section's name, and
/// no case in which the bracket belongs to something else makes this too lax.
fn program_section(text: &str) -> Option<&'static str> {
    text.split('[').skip(1).find_map(|rest| {
        let end = rest.find(|it: char| !it.is_ascii_alphanumeric() && it != '-');
        let name = &rest[..end.unwrap_or(rest.len())];
        SECTIONS.iter().find(|section| section.eq_ignore_ascii_case(name)).copied()
    })
}

#[cfg(test)]
mod tests {
    use super::{SECTIONS, program_section};

    #[test]
    fn sections_are_found_however_git_reads_them() {
        for text in [
            "[filter \"x\"]\n\tclean = ./x",
            "[FILTER \"x\"]clean=x",
            "[core]\r\n[Filter.x]\r\nclean=x",
            "\u{feff}[filter \"x\"]",
            "[core] bare = false [diff]",
            "# [core]\n[includeIf \"gitdir:/\"]\npath = x",
        ] {
            assert!(program_section(text).is_some(), "{text}");
        }
        for name in "alias browser diff difftool filter gc guitool hook imap include includeIf instaweb man merge mergetool \
                     sendemail tar trailer web"
            .split(' ')
        {
            assert!(program_section(&format!("[core]\n[{name} \"x\"]\n")).is_some(), "{name}");
        }
        assert_eq!(SECTIONS.len(), 19, "a new section belongs into the list above");
        let usual = "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = x\n[branch \"diff\"]\n[user]\n[submodule \"a\"]\n[lfs]\n[pull]\n";
        assert_eq!(program_section(usual), None);
    }
}
