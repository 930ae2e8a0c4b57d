//! Skills to measure with: made by counting, so that every run has the same.
//!
//! They are of the usual size (a `SKILL.md` of about 2 KB, a description of 180 characters, some
//! with documents and scripts), valid without remarks, and need a program that every machine has.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Most skills in one root; a root is searched up to 2 000 folders.
const SKILLS_PER_ROOT: usize = 1_000;
/// Characters of a description.
const DESCRIPTION_CHARS: usize = 180;
/// Bytes that a `SKILL.md` has at least.
const FILE_BYTES: usize = 2_000;

/// Every so many skills has documents…
const WITH_DOCUMENTS: usize = 3;
/// …and every so many scripts.
const WITH_SCRIPTS: usize = 4;

const TOPICS: [&str; 12] = [
    "invoice", "backup", "weather", "garden", "ledger", "photo", "recipe", "travel", "survey",
    "sensor", "letter", "library",
];
const TASKS: [&str; 10] = [
    "sorting",
    "checking",
    "merging",
    "naming",
    "counting",
    "planning",
    "cleaning",
    "sharing",
    "charting",
    "archiving",
];
const RESULTS: [&str; 7] = [
    "a short table of totals",
    "a list of what is missing",
    "one tidy folder a month",
    "a page that can be printed",
    "a summary for other people",
    "a file that programs can read",
    "a plan for the coming week",
];
const PADDING: &str = " Works on plain files, keeps a copy of everything it changes, and asks when \
     two of them disagree with each other.";
const STEPS: [&str; 6] = [
    "Look at what is there before changing anything, and say how many files that is.",
    "Put aside whatever cannot be read, with the reason, and go on with the rest.",
    "Work on a copy; the originals stay as they are until the result was looked at.",
    "Write numbers with their unit, and dates with the year first.",
    "When two sources disagree, show both and ask which one counts.",
    "End with one paragraph that says what was done and what was left.",
];

/// Generated skills.
#[derive(Debug)]
pub(crate) struct Skills {
    /// How many there are.
    pub(crate) count: usize,
    /// The folders they are in.
    pub(crate) roots: Vec<PathBuf>,
    /// The skills themselves.
    pub(crate) folders: Vec<PathBuf>,
    /// Bytes of every `SKILL.md` together.
    pub(crate) bytes: u64,
}

impl Skills {
    /// Writes `count` skills to a folder that has none.
    pub(crate) fn generate(count: usize, home: &Path) -> io::Result<Self> {
        let mut skills = Self { count, roots: Vec::new(), folders: Vec::new(), bytes: 0 };
        for index in 0..count {
            let root = home.join(format!("root-{}", index / SKILLS_PER_ROOT));
            let folder = root.join(name(index));
            if index % SKILLS_PER_ROOT == 0 {
                fs::create_dir_all(&root)?;
                skills.roots.push(root);
            }
            skills.bytes += write_skill(&folder, index)?;
            skills.folders.push(folder);
        }
        Ok(skills)
    }
}

fn write_skill(folder: &Path, index: usize) -> io::Result<u64> {
    let text = skill_file(index);
    fs::create_dir(folder)?;
    fs::write(folder.join("SKILL.md"), &text)?;
    if has_documents(index) {
        let details = format!("# Details of {}\n\n{}\n", name(index), STEPS.join("\n\n"));
        fs::create_dir(folder.join("references"))?;
        fs::write(folder.join("references/details.md"), details)?;
    }
    if has_scripts(index) {
        fs::create_dir(folder.join("scripts"))?;
        fs::write(folder.join("scripts/run.sh"), "#!/bin/sh\necho \"$1\" | wc -c\n")?;
    }
    Ok(text.len() as u64)
}

fn has_documents(index: usize) -> bool {
    index.is_multiple_of(WITH_DOCUMENTS)
}

fn has_scripts(index: usize) -> bool {
    index.is_multiple_of(WITH_SCRIPTS)
}

/// Names share their beginnings, as those of real collections do.
fn name(index: usize) -> String {
    format!("{}-{}-{index}", pick(&TOPICS, index), pick(&TASKS, index / TOPICS.len()))
}

fn pick(words: &[&'static str], index: usize) -> &'static str {
    words[index % words.len()]
}

fn description(index: usize) -> String {
    let topic = pick(&TOPICS, index);
    let task = pick(&TASKS, index / TOPICS.len());
    let result = pick(&RESULTS, index);
    let mut text = format!(
        "Helps with {task} {topic} files of group {index} and gives {result}. Use when someone \
         asks for {task} or mentions {topic} {index}."
    );
    text.extend(PADDING.chars().cycle().take(DESCRIPTION_CHARS.saturating_sub(text.len())));
    text.truncate(text.trim_end().len());
    while text.len() < DESCRIPTION_CHARS {
        text.push('.');
    }
    text
}

/// Block style throughout: the reference tool reads no other.
fn skill_file(index: usize) -> String {
    let (name, description) = (name(index), description(index));
    let mut text = format!(
        "---\nname: {name}\ndescription: {description}\nlicense: MIT\nmetadata:\n  metier:\n    \
         requires:\n      bins:\n        - sh\n---\n\n# {name}\n"
    );
    if has_documents(index) {
        text += "\nThe finer points are in [details](references/details.md).\n";
    }
    if has_scripts(index) {
        text += "\nRun `scripts/run.sh` with the text to measure.\n";
    }
    let mut part = 1;
    while text.len() < FILE_BYTES {
        text += &format!("\n## Part {part}\n\n");
        for (number, step) in STEPS.iter().enumerate() {
            text += &format!("{}. {step}\n", number + 1);
        }
        part += 1;
    }
    text
}

#[cfg(test)]
mod tests {
    use metier_skill::diagnostic::{Level, Severity};
    use metier_skill::lint::lint_skill;

    use super::*;

    #[test]
    fn every_generated_skill_is_valid_without_remarks() {
        let home = tempfile::tempdir().unwrap();
        let skills = Skills::generate(240, home.path()).unwrap();
        for folder in &skills.folders {
            let linted = lint_skill(&folder.join("SKILL.md")).unwrap();
            let remarks = linted.remarks.iter().map(|remark| &remark.diagnostic);
            let noticed: Vec<_> = linted
                .diagnostics
                .iter()
                .chain(remarks)
                .filter(|it| it.severity(Level::Lenient) > Severity::Note)
                .collect();
            assert!(noticed.is_empty(), "{}: {noticed:?}", folder.display());
            let manifest = linted.manifest.unwrap();
            assert_eq!(manifest.description.chars().count(), DESCRIPTION_CHARS);
        }
    }

    #[test]
    fn names_differ_and_files_have_the_usual_size() {
        let count = 12_000;
        let names: std::collections::BTreeSet<String> = (0..count).map(name).collect();
        assert_eq!(names.len(), count);
        for index in 0..count {
            assert_eq!(description(index).len(), DESCRIPTION_CHARS, "{index}");
            let bytes = skill_file(index).len();
            assert!((FILE_BYTES..FILE_BYTES + 600).contains(&bytes), "{index}: {bytes}");
        }
    }

    #[test]
    fn no_root_has_more_skills_than_are_searched() {
        let home = tempfile::tempdir().unwrap();
        let skills = Skills::generate(SKILLS_PER_ROOT + 1, home.path()).unwrap();
        let sizes: Vec<usize> =
            skills.roots.iter().map(|root| fs::read_dir(root).unwrap().count()).collect();
        assert_eq!(sizes, [SKILLS_PER_ROOT, 1]);
    }
}
