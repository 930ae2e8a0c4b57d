//! What the site is made of: which files of the repository, and where each of them goes.
//!
//! The README is the first page, the book follows, and the pages about the project itself come
//! last. Files in `docs/` that are not Markdown are copied as they are.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::{page, place, summary};

/// The folder of the book, and the list of its pages.
const FOLDER: &str = "docs";
pub(super) const SUMMARY: &str = "docs/SUMMARY.md";

/// The first page.
const HOME: (&str, &str, &str) = ("README.md", "index.html", "Overview");

/// Pages about the project, which stand where people look for them in a repository. Those that
/// are not there are left out.
const PROJECT: &[(&str, &str, &str)] = &[
    ("CHANGELOG.md", "project/changelog.html", "Changes"),
    ("SECURITY.md", "project/security.html", "Security"),
    ("CONTRIBUTING.md", "project/contributing.html", "Contributing"),
    ("AGENTS.md", "project/agents.html", "Notes for agents"),
    ("examples/README.md", "project/examples.html", "Examples"),
    ("skills/README.md", "project/skills.html", "Bundled skills"),
    ("bench/README.md", "project/bench.html", "Measurements"),
];
const PROJECT_PART: &str = "The project";

/// The site before it is rendered.
#[derive(Debug)]
pub(crate) struct Book {
    /// The repository.
    pub(super) root: PathBuf,
    /// Its pages, in the order in which they are read.
    pub(super) pages: Vec<Page>,
    /// Files that are copied.
    pub(super) assets: Vec<Asset>,
    /// Markdown files of the book's folder, whether they are listed or not.
    pub(super) folder: Vec<String>,
}

/// A page.
#[derive(Debug)]
pub(super) struct Page {
    /// The Markdown file, from the root of the repository.
    pub(super) source: String,
    /// The HTML file, from the root of the site.
    pub(super) target: String,
    /// What it is called in the navigation.
    pub(super) label: String,
    /// The part of the navigation it is in; empty before the first.
    pub(super) part: String,
    /// How deep it is below other pages.
    pub(super) depth: usize,
    /// Its Markdown.
    pub(super) text: String,
}

/// A file that is copied.
#[derive(Debug)]
pub(super) struct Asset {
    pub(super) source: String,
    pub(super) target: String,
}

impl Book {
    /// Reads the book of a repository.
    pub(crate) fn read(root: &Path) -> Result<Self> {
        let list = fs::read_to_string(root.join(SUMMARY))
            .with_context(|| format!("cannot read `{SUMMARY}`"))?;
        let mut book =
            Self { root: root.into(), pages: Vec::new(), assets: Vec::new(), folder: Vec::new() };
        book.add((HOME.0.into(), HOME.1.into()), HOME.2, ("", 0))?;
        for entry in summary::parse(&list) {
            let source = place::resolve(SUMMARY, &entry.link);
            let inside = source.as_deref().and_then(|path| path.strip_prefix("docs/"));
            let Some(name) = inside.and_then(|path| path.strip_suffix(".md")) else {
                bail!("`{SUMMARY}` lists `{}`, which is no page of the book", entry.link);
            };
            let paths = (format!("{FOLDER}/{name}.md"), format!("{name}.html"));
            book.add(paths, &entry.label, (&entry.part, entry.depth))?;
        }
        for (source, target, label) in PROJECT {
            if root.join(source).is_file() {
                book.add(((*source).into(), (*target).into()), label, (PROJECT_PART, 0))?;
            }
        }
        book.look_into(FOLDER)?;
        book.folder.sort();
        book.assets.sort_by(|one, other| one.source.cmp(&other.source));
        Ok(book)
    }

    /// Where a file of the repository is on the site.
    pub(super) fn target(&self, source: &str) -> Option<&str> {
        let page = self.pages.iter().find(|page| page.source == source).map(|page| &page.target);
        let asset = || self.assets.iter().find(|it| it.source == source).map(|it| &it.target);
        page.or_else(asset).map(String::as_str)
    }

    fn add(
        &mut self,
        (source, target): (String, String),
        label: &str,
        (part, depth): (&str, usize),
    ) -> Result<()> {
        if let Some(other) = self.pages.iter().find(|page| page.target == target) {
            bail!("`{source}` and `{}` would both be `{target}`", other.source);
        }
        if target == page::INDEX {
            bail!("`{source}` would be `{target}`, which is the list of all headings");
        }
        let text = fs::read_to_string(self.root.join(&source))
            .with_context(|| format!("`{source}` is listed and cannot be read"))?;
        let (label, part) = (label.into(), part.into());
        self.pages.push(Page { source, target, label, part, depth, text });
        Ok(())
    }

    /// Finds the Markdown files and the other files of a folder of the book.
    fn look_into(&mut self, folder: &str) -> Result<()> {
        let entries = fs::read_dir(self.root.join(folder))
            .with_context(|| format!("cannot read `{folder}`"))?;
        for entry in entries {
            let entry = entry?;
            let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
            if entry.file_type()?.is_dir() {
                self.look_into(&path)?;
            } else if path.ends_with(".md") {
                self.folder.push(path);
            } else {
                let target = path.trim_start_matches("docs/").to_owned();
                self.assets.push(Asset { source: path, target });
            }
        }
        Ok(())
    }
}
