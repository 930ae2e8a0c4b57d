//! The documentation as a site: `docs/` and the pages at the root of the repository, as HTML.
//!
//! The book is what `docs/SUMMARY.md` lists, in the format of mdBook, so that mdBook can build it
//! too. A generator of our own keeps some hundred crates and minutes of compiling out of the test
//! command, and knows two things that a general one cannot: which pages of the repository belong
//! to the site beside the book, and what must be true of all of them ([`problems`]).
//!
//! Pages are plain HTML with one stylesheet: no script, nothing from elsewhere.

mod book;
mod check;
mod html;
mod markdown;
mod page;
mod place;
mod summary;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

pub(crate) use book::Book;
pub(crate) use check::problems;

/// A file of the site.
#[derive(Debug)]
struct File {
    /// Where it is, from the root of the site, with `/`.
    path: String,
    bytes: Vec<u8>,
}

/// Writes the site to a folder that is emptied first, and says how many files it has.
pub(crate) fn write(book: &Book, folder: &Path) -> Result<usize> {
    let shown = folder.display();
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot empty `{shown}`"))?;
    }
    let files = files(book)?;
    for file in &files {
        let path = folder.join(&file.path);
        let parent = path.parent().unwrap_or(folder);
        fs::create_dir_all(parent).with_context(|| format!("cannot create `{shown}`"))?;
        fs::write(&path, &file.bytes)
            .with_context(|| format!("cannot write `{}`", path.display()))?;
    }
    Ok(files.len())
}

/// Every file of the site.
fn files(book: &Book) -> Result<Vec<File>> {
    let mut files = Vec::new();
    for (position, page) in book.pages.iter().enumerate() {
        let text = page::whole(book, position);
        files.push(File { path: page.target.clone(), bytes: text.into() });
    }
    files.push(File { path: page::INDEX.into(), bytes: page::index(book).into() });
    files.push(File { path: page::STYLE.into(), bytes: include_bytes!("style.css").to_vec() });
    for asset in &book.assets {
        let path = book.root.join(&asset.source);
        let bytes = fs::read(path).with_context(|| format!("cannot read `{}`", asset.source))?;
        files.push(File { path: asset.target.clone(), bytes });
    }
    Ok(files)
}

#[cfg(test)]
mod tests;
