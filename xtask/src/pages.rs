//! Web pages in a real browser, driven by `xtask/node/pages`.
//!
//! Which pages is for callers to say: tests of the CLI look at its reports with the same script. What it looks
//! for is written there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};

use crate::node;
use crate::project::{Project, shown};
use crate::test::Outcome;

/// What `cargo xtask pages` was asked to do.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// HTML files, or folders that have some
    #[arg(required = true, value_name = "PAGE")]
    pages: Vec<PathBuf>,
}

/// The script, from the root.
const SCRIPT: &str = "xtask/node/pages/check.mjs";
/// Where pictures of the pages go.
const SCREENSHOTS: &str = "target/screenshots";

/// Looks at the pages that were named.
pub(crate) fn run(mut project: Project, options: &Options) -> Result<ExitCode> {
    node::find(&mut project);
    Ok(match check(&project, &options.pages)? {
        Outcome::Passed => ExitCode::SUCCESS,
        Outcome::Failed(reason) => {
            eprintln!("error: {reason}");
            ExitCode::FAILURE
        }
        Outcome::Skipped(reason) => {
            eprintln!("error: not looked at: {reason}");
            ExitCode::FAILURE
        }
    })
}

/// Looks at HTML files, and at those in folders, at any depth. Without a browser nobody looks, and that is said.
pub(crate) fn check(project: &Project, pages: &[PathBuf]) -> Result<Outcome> {
    let missing = |what: &str| {
        Ok(Outcome::Skipped(format!(
            "{what} not installed; `cargo xtask test --provision` installs it"
        )))
    };
    let Some(packages) = project.variable(node::VARIABLE).map(PathBuf::from) else {
        return missing("what is in `xtask/node` is");
    };
    let Some(chromium) = project.find("chromium") else {
        return missing("`chromium` is");
    };
    let mut files = Vec::new();
    for page in pages {
        find(page, &mut files)?;
    }
    files.sort();
    ensure!(!files.is_empty(), "there are no HTML files among {pages:?}");
    let mut command = project.command(packages.join(node::PROGRAM));
    command.arg(SCRIPT).arg("--packages").arg(&packages).arg("--chromium").arg(chromium);
    command.arg("--screenshots").arg(project.file(SCREENSHOTS));
    println!("$ {} … ({} pages)", shown(&command), files.len());
    let status = command.args(&files).status().context("cannot start Node")?;
    Ok(if status.success() { Outcome::Passed } else { Outcome::Failed(status.to_string()) })
}

fn find(page: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let of_page = || format!("cannot read `{}`", page.display());
    if !fs::metadata(page).with_context(of_page)?.is_dir() {
        files.push(fs::canonicalize(page).with_context(of_page)?);
        return Ok(());
    }
    for entry in fs::read_dir(page).with_context(of_page)? {
        let entry = entry.with_context(of_page)?.path();
        if entry.is_dir() || entry.extension().is_some_and(|extension| extension == "html") {
            find(&entry, files)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::*;

    #[test]
    fn pages_are_found_at_any_depth_and_other_files_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("guides/more");
        fs::create_dir_all(&deep).unwrap();
        for file in ["index.html", "style.css", "guides/more/page.html"] {
            fs::write(folder.path().join(file), "").unwrap();
        }
        let mut files = Vec::new();
        find(folder.path(), &mut files).unwrap();
        assert_eq!(files.len(), 2, "{files:?}");
        assert!(find(&folder.path().join("gone.html"), &mut files).is_err());
    }

    #[test]
    fn without_a_browser_nobody_says_that_pages_are_fine() {
        let mut project = Project::at("/nowhere".into(), OsString::new());
        let said = |project: &Project| format!("{:?}", check(project, &[]).unwrap());
        insta::assert_snapshot!(said(&project), @r#"Skipped("what is in `xtask/node` is not installed; `cargo xtask test --provision` installs it")"#);
        project.set(node::VARIABLE, "/nowhere");
        insta::assert_snapshot!(said(&project), @r#"Skipped("`chromium` is not installed; `cargo xtask test --provision` installs it")"#);
    }
}
