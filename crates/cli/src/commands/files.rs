//! Files that commands of skills made, as a table.

use crate::output::{Align, Column, Table, kind, plain, size, style};

/// A file that was made.
#[derive(Clone, Copy, Debug)]
pub(super) struct FileRow<'a> {
    /// Where it is.
    pub reference: &'a str,
    /// Its size on disk.
    pub size_bytes: u64,
    /// What it is.
    pub mime_type: &'a str,
}

/// A table of files.
pub(super) fn table<'a>(files: impl IntoIterator<Item = FileRow<'a>>) -> Table {
    let column = |heading, align, fills| Column { heading, align, fills };
    let mut table = Table::new(&[
        column("FILE", Align::Left, true),
        column("SIZE", Align::Right, false),
        column("TYPE", Align::Left, false),
    ]);
    for file in files {
        table.row(vec![
            (style::NAME, plain(file.reference)),
            (style::DIM, size(file.size_bytes)),
            (style::DIM, plain(kind(file.mime_type))),
        ]);
    }
    table
}
