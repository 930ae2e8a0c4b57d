//! The tests of the skills that ship inside the binary.
//!
//! A skill is tested in the language of its scripts, from its own folder, as its
//! author would: `tests/test_*.py` with Python's `unittest`, `tests/run.sh` with
//! `sh`. A skill may have both, or none when there is nothing in it that runs.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::project::{Project, shown};
use crate::test::Outcome;

/// How the tests of a skill are started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Runner {
    Python,
    Shell,
}

impl Runner {
    fn program(self) -> &'static str {
        match self {
            Self::Python => "python3",
            Self::Shell => "sh",
        }
    }

    fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Python => &["-m", "unittest", "discover", "-s", "tests"],
            Self::Shell => &["tests/run.sh"],
        }
    }
}

/// Runs the tests of every skill; the outcome is the worst of all.
pub(crate) fn test(project: &Project) -> Result<Outcome> {
    let mut failed = Vec::new();
    let mut missing = Vec::new();
    for (name, folder) in skill_folders(&project.file("skills"))? {
        let runners = runners(&folder)?;
        if runners.is_empty() {
            println!("{name}: no tests");
        }
        for runner in runners {
            if project.find(runner.program()).is_none() {
                missing.push(format!("{name} (needs `{}`)", runner.program()));
            } else if !passes(project, &folder, runner)? {
                failed.push(name.clone());
            }
        }
    }
    Ok(if !failed.is_empty() {
        Outcome::Failed(failed.join(", "))
    } else if !missing.is_empty() {
        Outcome::Skipped(missing.join(", "))
    } else {
        Outcome::Passed
    })
}

fn passes(project: &Project, folder: &Path, runner: Runner) -> Result<bool> {
    let mut command = project.command(runner.program());
    // Compiled scripts would end up in the folder, and from there in the binary.
    command.args(runner.arguments()).current_dir(folder).env("PYTHONDONTWRITEBYTECODE", "1");
    println!("$ {} (in {})", shown(&command), folder.display());
    let status = command.status().with_context(|| format!("cannot start `{}`", shown(&command)))?;
    Ok(status.success())
}

/// The skills below a folder with their names, sorted.
fn skill_folders(root: &Path) -> Result<Vec<(String, PathBuf)>> {
    let mut folders = Vec::new();
    for entry in fs::read_dir(root).with_context(|| format!("cannot read `{}`", root.display()))? {
        let path = entry?.path();
        if path.is_dir()
            && let Some(name) = path.file_name()
        {
            folders.push((name.to_string_lossy().into_owned(), path));
        }
    }
    folders.sort();
    Ok(folders)
}

/// Which tests a skill brings.
fn runners(folder: &Path) -> Result<Vec<Runner>> {
    let tests = folder.join("tests");
    let mut found = Vec::new();
    if !tests.is_dir() {
        return Ok(found);
    }
    let entries =
        fs::read_dir(&tests).with_context(|| format!("cannot read `{}`", tests.display()))?;
    for entry in entries {
        let name = entry?.file_name();
        let name = name.to_string_lossy();
        if name.starts_with("test_") && name.ends_with(".py") {
            found.push(Runner::Python);
            break;
        }
    }
    if tests.join("run.sh").is_file() {
        found.push(Runner::Shell);
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::env;
    use std::ffi::OsString;

    use super::*;

    /// A project whose skills are these files, `name/path` and content.
    fn project(files: &[(&str, &str)], search_path: OsString) -> (tempfile::TempDir, Project) {
        let folder = tempfile::tempdir().unwrap();
        for (path, content) in files {
            let path = folder.path().join("skills").join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let project = Project::at(folder.path().into(), search_path);
        (folder, project)
    }

    fn outcome(files: &[(&str, &str)]) -> Outcome {
        let (_folder, project) = project(files, env::var_os("PATH").unwrap());
        test(&project).unwrap()
    }

    #[test]
    fn a_shell_test_runs_in_the_folder_of_its_skill() {
        let files = [("greet/SKILL.md", ""), ("greet/tests/run.sh", "test -f SKILL.md")];
        assert_eq!(outcome(&files), Outcome::Passed);
    }

    #[test]
    fn a_test_that_fails_names_its_skill_and_the_others_still_run() {
        let files = [("bad/tests/run.sh", "exit 3"), ("worse/tests/run.sh", "exit 4")];
        assert_eq!(outcome(&files), Outcome::Failed("bad, worse".into()));
    }

    #[test]
    fn a_skill_without_tests_and_a_file_beside_the_skills_are_fine() {
        assert_eq!(outcome(&[("notes/SKILL.md", ""), ("README.md", "")]), Outcome::Passed);
    }

    #[test]
    fn without_its_program_a_skill_is_skipped_with_the_reason() {
        let files = [("count/tests/test_count.py", "")];
        let (_folder, project) = project(&files, OsString::new());
        assert_eq!(test(&project).unwrap(), Outcome::Skipped("count (needs `python3`)".into()));
    }

    #[test]
    fn a_skill_may_bring_both_kinds_of_tests() {
        let files = [("a/tests/test_one.py", ""), ("a/tests/run.sh", ""), ("a/tests/data.py", "")];
        let (_folder, project) = project(&files, OsString::new());
        assert_eq!(runners(&project.file("skills/a")).unwrap(), [Runner::Python, Runner::Shell]);
    }
}
