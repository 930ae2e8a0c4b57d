//! The documentation: pages that the program writes itself, the recording, and the site.
//!
//! The binary prints its own reference on request (a hidden command), so the
//! pages in `docs/` cannot say anything the program does not do. They are
//! committed, for readers; `--check` fails when a page is out of date, when
//! the recording is, or when a page or a link of the site is broken.

use std::fs;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::project::{Project, output};
use crate::record;
use crate::site::{self, Book};

/// Where the site is built.
const SITE: &str = "target/site";

/// What `cargo xtask docs` was asked to do.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Write nothing; fail when a page is out of date or a link leads nowhere
    #[arg(long)]
    check: bool,
    /// Only build the site from the pages as they are, without the binary
    #[arg(long, conflicts_with = "check")]
    site: bool,
}

/// A generated page.
struct Page {
    file: &'static str,
    /// The arguments that make the binary print the page.
    arguments: &'static [&'static str],
}

const PAGES: &[Page] = &[
    Page { file: "docs/cli.md", arguments: &["__reference"] },
    Page { file: "docs/config.md", arguments: &["__reference", "--page", "config"] },
    Page { file: "docs/rules.md", arguments: &["__reference", "--page", "rules"] },
    Page { file: "docs/config.schema.json", arguments: &["config", "schema"] },
    Page { file: "docs/config.sample.toml", arguments: &["config", "sample"] },
];

/// Does what the options ask for and says what was written.
pub(crate) fn run(project: &Project, options: &Options) -> Result<()> {
    if options.check {
        return check(project);
    }
    if !options.site {
        write(project)?;
    }
    build_site(project)
}

/// Fails, naming the pages, when one is broken or differs from what the binary prints.
pub(crate) fn check(project: &Project) -> Result<()> {
    check_pages(&Book::read(&project.file(""))?)?;
    let mut stale = Vec::new();
    let binary = build(project)?;
    for (page, text) in render(project, &binary)? {
        // A page that cannot be read is as stale as one that was never written.
        let written = fs::read_to_string(project.file(page.file)).unwrap_or_default();
        if normal(&written) != text {
            stale.push(page.file);
        }
    }
    if !stale.is_empty() {
        bail!("out of date: {}; run `cargo xtask docs` and commit the result", stale.join(", "));
    }
    record::check(project, &binary)
}

fn write(project: &Project) -> Result<()> {
    let binary = build(project)?;
    for (page, text) in render(project, &binary)? {
        let file = project.file(page.file);
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder)
                .with_context(|| format!("cannot create the folder of `{}`", page.file))?;
        }
        fs::write(&file, text).with_context(|| format!("cannot write `{}`", page.file))?;
        println!("{}", page.file);
    }
    Ok(())
}

/// Builds the site, also when something is wrong with a page, and then fails all the same.
fn build_site(project: &Project) -> Result<()> {
    let book = Book::read(&project.file(""))?;
    let count = site::write(&book, &project.file(SITE))?;
    println!("{SITE}/index.html and {} more files", count - 1);
    check_pages(&book)
}

/// Fails with every page and link that is broken.
fn check_pages(book: &Book) -> Result<()> {
    let problems = site::problems(book);
    if !problems.is_empty() {
        for problem in &problems {
            eprintln!("{problem}");
        }
        bail!("{} in the pages of the documentation", counted(problems.len()));
    }
    Ok(())
}

fn counted(problems: usize) -> String {
    if problems == 1 { "one problem".to_owned() } else { format!("{problems} problems") }
}

fn render(project: &Project, binary: &str) -> Result<Vec<(&'static Page, String)>> {
    let mut pages = Vec::new();
    for page in PAGES {
        let mut command = project.command(binary);
        // The width of whoever runs this must not decide where lines of help end.
        command.args(page.arguments).env_remove("COLUMNS");
        let text = output(command)?;
        if text.trim().is_empty() {
            bail!("`metier {}` printed nothing", page.arguments.join(" "));
        }
        pages.push((page, normal(&text)));
    }
    Ok(pages)
}

/// Builds the binary and says where it is.
///
/// The whole workspace is built, not only the package: cargo then chooses the same features for
/// shared dependencies as the tests do, and nothing is compiled twice.
pub(crate) fn build(project: &Project) -> Result<String> {
    let messages = output(
        project.cargo("build --quiet --workspace --bins --message-format json-render-diagnostics"),
    )?;
    executable(&messages).context("the workspace has no binary `metier`")
}

/// The path of `metier` among the messages of a build, one JSON object per line.
pub(crate) fn executable(messages: &str) -> Option<String> {
    messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok())
        .filter(|message| message["target"]["name"] == "metier")
        .find_map(|message| message["executable"].as_str().map(str::to_owned))
}

/// One newline at the end and none of another system's line ends.
fn normal(text: &str) -> String {
    let mut text = text.replace("\r\n", "\n").trim_end().to_owned();
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_binary_is_found_among_other_messages() {
        let messages = concat!(
            "{\"reason\":\"compiler-artifact\",\"target\":{\"name\":\"serde\"},\"executable\":null}\n",
            "{\"reason\":\"compiler-artifact\",\"target\":{\"name\":\"xtask\"},\"executable\":\"/t/xtask\"}\n",
            "not json\n",
            "{\"reason\":\"compiler-artifact\",\"target\":{\"name\":\"metier\"},\"executable\":null}\n",
            "{\"reason\":\"compiler-artifact\",\"target\":{\"name\":\"metier\"},\"executable\":\"/t/metier\"}\n",
            "{\"reason\":\"build-finished\",\"success\":true}\n",
        );
        assert_eq!(executable(messages).as_deref(), Some("/t/metier"));
    }

    #[test]
    fn a_build_without_the_binary_is_noticed() {
        assert_eq!(executable("{\"reason\":\"build-finished\",\"success\":true}\n"), None);
    }

    #[test]
    fn line_ends_do_not_make_a_page_stale() {
        assert_eq!(normal("# Page\r\ntext\r\n\r\n"), normal("# Page\ntext"));
    }
}
