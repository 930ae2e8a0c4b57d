//! What a file is, by its beginning and its name.

/// Bytes that are enough to tell.
pub(crate) const ENOUGH: usize = 8 << 10;

/// Endings of names whose content is text all the same.
const TEXTS: [(&str, &str); 17] = [
    ("csv", "text/csv"),
    ("css", "text/css"),
    ("htm", "text/html"),
    ("html", "text/html"),
    ("js", "text/javascript"),
    ("json", "application/json"),
    ("jsonl", "application/jsonl"),
    ("log", "text/plain"),
    ("markdown", "text/markdown"),
    ("md", "text/markdown"),
    ("py", "text/x-python"),
    ("sh", "application/x-sh"),
    ("svg", "image/svg+xml"),
    ("toml", "application/toml"),
    ("tsv", "text/tab-separated-values"),
    ("xml", "application/xml"),
    ("yaml", "application/yaml"),
];

/// First bytes of files that are no text.
const MAGIC: [(&[u8], &str); 12] = [
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b", "application/gzip"),
    (b"BM", "image/bmp"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
    (b"SQLite format 3\0", "application/vnd.sqlite3"),
    (b"OggS", "audio/ogg"),
    (b"\x7fELF", "application/x-executable"),
];

/// Documents that are zip files inside.
const ZIPPED: [(&str, &str); 4] = [
    ("docx", "application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
    ("pptx", "application/vnd.openxmlformats-officedocument.presentationml.presentation"),
    ("xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
    ("epub", "application/epub+zip"),
];

/// Endings of names whose content is no text, nor a document that is zipped.
const OTHERS: [(&str, &str); 10] = [
    ("bmp", "image/bmp"),
    ("gif", "image/gif"),
    ("gz", "application/gzip"),
    ("jpeg", "image/jpeg"),
    ("jpg", "image/jpeg"),
    ("pdf", "application/pdf"),
    ("png", "image/png"),
    ("txt", "text/plain"),
    ("webp", "image/webp"),
    ("zip", "application/zip"),
];

/// The type that the name of a file promises, for those who list files and do not read them; none if it promises
/// nothing.
pub fn promised_type(name: &str) -> Option<&'static str> {
    let ending = name.rsplit_once('.')?.1.to_ascii_lowercase();
    let known = TEXTS.iter().chain(&ZIPPED).chain(&OTHERS);
    known.into_iter().find(|(known, _)| *known == ending).map(|(_, mime)| *mime)
}

/// The type of a file, from its name and its beginning.
pub fn mime_type(name: &str, beginning: &[u8]) -> &'static str {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
    let of = |table: &[(&'static str, &'static str)]| {
        let ending = ending.as_deref()?;
        table.iter().find(|(known, _)| *known == ending).map(|(_, mime)| *mime)
    };
    if beginning.starts_with(b"RIFF") && beginning.get(8..12) == Some(b"WEBP") {
        return "image/webp";
    }
    let magic = MAGIC.iter().find(|(magic, _)| beginning.starts_with(magic)).map(|(_, mime)| *mime);
    if magic == Some("application/zip") {
        return of(&ZIPPED).unwrap_or("application/zip");
    }
    // Two letters are not enough to call a text an image.
    if let Some(magic) = magic.filter(|_| !is_text(beginning)) {
        return magic;
    }
    if is_text(beginning) { of(&TEXTS).unwrap_or("text/plain") } else { "application/octet-stream" }
}

/// Whether a type may be shown as text.
pub fn is_textual(mime: &str) -> bool {
    mime.starts_with("text/")
        || mime.ends_with("+xml")
        || TEXTS.iter().any(|(_, textual)| *textual == mime)
}

/// Whether bytes are the beginning of a text: UTF-8 without zeros, maybe cut inside a character.
fn is_text(bytes: &[u8]) -> bool {
    let valid = match std::str::from_utf8(bytes) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    };
    valid && !bytes.contains(&0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_promises_what_its_ending_says_and_else_nothing() {
        let told = ["a.md", "a.PNG", "a.docx", "scripts/run", "a.b", "."].map(promised_type);
        let markdown = Some("text/markdown");
        assert_eq!(told, [markdown, Some("image/png"), Some(ZIPPED[0].1), None, None, None]);
    }

    #[test]
    fn content_comes_before_the_name() {
        let cases: [(&str, &[u8], &str); 10] = [
            ("a.csv", b"a,b\n", "text/csv"),
            ("a.CSV", b"a,b\n", "text/csv"),
            ("a", b"words", "text/plain"),
            ("a.txt", b"\0\x01", "application/octet-stream"),
            ("a.txt", b"\x89PNG\r\n\x1a\n\0", "image/png"),
            ("a.json", b"{}", "application/json"),
            ("a.xlsx", b"PK\x03\x04", ZIPPED[2].1),
            ("a.bin", b"PK\x03\x04", "application/zip"),
            ("a.txt", b"BM is text", "text/plain"),
            ("a.txt", "cut \u{e9}".as_bytes().split_last().unwrap().1, "text/plain"),
        ];
        for (name, bytes, mime) in cases {
            assert_eq!(mime_type(name, bytes), mime, "{name}");
        }
    }
}
