//! What a file is, as people call it.

/// Types that have a name of their own.
const NAMES: [(&str, &str); 33] = [
    ("application/epub+zip", "EPUB book"),
    ("application/gzip", "gzip archive"),
    ("application/json", "JSON data"),
    ("application/jsonl", "JSON lines"),
    ("application/octet-stream", "data"),
    ("application/pdf", "PDF document"),
    ("application/toml", "TOML data"),
    (
        "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "PowerPoint slides",
    ),
    ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "Excel workbook"),
    ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", "Word document"),
    ("application/vnd.sqlite3", "SQLite database"),
    ("application/x-executable", "program"),
    ("application/x-sh", "shell script"),
    ("application/xml", "XML data"),
    ("application/yaml", "YAML data"),
    ("application/zip", "ZIP archive"),
    ("audio/ogg", "Ogg audio"),
    ("image/bmp", "BMP image"),
    ("image/gif", "GIF image"),
    ("image/jpeg", "JPEG image"),
    ("image/png", "PNG image"),
    ("image/svg+xml", "SVG image"),
    ("image/tiff", "TIFF image"),
    ("image/webp", "WebP image"),
    ("text/css", "CSS style sheet"),
    ("text/csv", "CSV table"),
    ("text/html", "HTML page"),
    ("text/javascript", "JavaScript"),
    ("text/markdown", "Markdown text"),
    ("text/plain", "text"),
    ("text/tab-separated-values", "TSV table"),
    ("text/x-python", "Python script"),
    ("video/mp4", "MP4 video"),
];

/// A MIME type in words; one that has none is given as it is.
pub(crate) fn kind(mime_type: &str) -> &str {
    let known = NAMES.binary_search_by_key(&mime_type, |(known, _)| known);
    known.map_or(mime_type, |index| NAMES[index].1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_names_that_people_know() {
        assert!(NAMES.is_sorted());
        assert_eq!(kind("text/csv"), "CSV table");
        assert_eq!(kind("image/png"), "PNG image");
        assert_eq!(kind("text/plain"), "text");
        assert_eq!(kind("application/x-unheard-of"), "application/x-unheard-of");
    }
}
