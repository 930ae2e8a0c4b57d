//! Small books, and the real one.

use std::path::Path;

use super::*;

/// A repository with these files; the README and the summary are there unless a test brings them.
fn repository(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let standing = [
        ("README.md", "# metier\n\nA runtime. See [the tour](docs/tour.md).\n"),
        ("docs/SUMMARY.md", "# Summary\n\n- [Tour](tour.md)\n"),
        ("docs/tour.md", "# A tour\n\nIt begins.\n"),
    ];
    for (path, text) in standing.iter().chain(files) {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn checked(files: &[(&str, &str)]) -> String {
    let folder = repository(files);
    match Book::read(folder.path()) {
        Ok(book) => problems(&book).iter().map(|it| format!("{it}\n")).collect(),
        Err(error) => format!("error: {error:#}"),
    }
}

/// The body of the tour, when it has this text.
fn rendered(text: &str, others: &[(&str, &str)]) -> String {
    let text = format!("# A tour\n\n{text}\n");
    let files: Vec<_> = others.iter().copied().chain([("docs/tour.md", &*text)]).collect();
    let folder = repository(&files);
    let book = Book::read(folder.path()).unwrap();
    let page = book.pages.iter().find(|page| page.source == "docs/tour.md").unwrap();
    let body = html::body(&book, page);
    body.split_once("</h1>\n").unwrap().1.trim_end().to_owned()
}

#[test]
fn a_book_whose_links_lead_somewhere_has_no_problem() {
    insta::assert_snapshot!(checked(&[
        ("docs/tour.md", "# A tour\n\n[Home](../README.md#metier), [here](#a-tour), [elsewhere](https://example.com/x#y), [code](../crates).\n"),
        ("crates/lib.rs", ""),
    ]), @"");
}

#[test]
fn a_link_that_leads_nowhere_is_named_with_its_line() {
    insta::assert_snapshot!(checked(&[(
        "docs/tour.md",
        "# A tour\n\n[a](gone.md)\n[b](#gone)\n[c](../README.md#gone)\n![d](gone.svg)\n[e](../../x)\n[f](/README.md)\n[g]()\n[h][gone]\n[i](SUMMARY.md#x)\n",
    )]), @r"
    docs/tour.md:3: `gone.md` leads to `docs/gone.md`, which is not there
    docs/tour.md:4: `#gone` leads to a heading that `docs/tour.md` does not have
    docs/tour.md:5: `../README.md#gone` leads to a heading that `README.md` does not have
    docs/tour.md:6: `gone.svg` leads to `docs/gone.svg`, which is not there
    docs/tour.md:7: `../../x` leads out of the repository
    docs/tour.md:8: `/README.md` does not begin at the folder of the page
    docs/tour.md:9: a link without an address
    docs/tour.md:10: the page does not define the link `gone`
    docs/tour.md:11: `SUMMARY.md#x` leads to a heading that `docs/SUMMARY.md` does not have
    ");
}

#[test]
fn pages_of_the_project_are_checked_too() {
    insta::assert_snapshot!(checked(&[
        ("README.md", "# metier\n\n[a](gone.md)\n"),
        ("examples/README.md", "# Examples\n\n[a](gone.rs)\n"),
    ]), @r"
    README.md:3: `gone.md` leads to `gone.md`, which is not there
    examples/README.md:3: `gone.rs` leads to `examples/gone.rs`, which is not there
    ");
}

#[test]
fn a_page_that_is_not_listed_is_a_problem() {
    insta::assert_snapshot!(
        checked(&[("docs/lost.md", "# Lost\n\nText.\n"), ("docs/deep/lost.md", "# Lost\n\nText.\n")]),
        @r"
    docs/deep/lost.md:1: `docs/SUMMARY.md` does not list this page
    docs/lost.md:1: `docs/SUMMARY.md` does not list this page
    "
    );
}

#[test]
fn a_listed_page_that_is_not_there_is_an_error() {
    insta::assert_snapshot!(
        checked(&[("docs/SUMMARY.md", "# Summary\n\n- [Gone](gone.md)\n")]),
        @"error: `docs/gone.md` is listed and cannot be read: No such file or directory (os error 2)"
    );
}

#[test]
fn the_summary_lists_only_pages_of_the_book() {
    insta::assert_snapshot!(
        checked(&[("docs/SUMMARY.md", "# Summary\n\n- [Home](../README.md)\n")]),
        @"error: `docs/SUMMARY.md` lists `../README.md`, which is no page of the book"
    );
}

#[test]
fn a_page_without_a_title_or_without_text_is_a_problem() {
    insta::assert_snapshot!(checked(&[("docs/tour.md", "Text.\n")]), @"docs/tour.md:1: the page does not begin with a heading of the first level");
    insta::assert_snapshot!(checked(&[("docs/tour.md", "# A tour\n\n## Empty\n")]), @"docs/tour.md:1: the page has nothing below its headings");
}

#[test]
fn raw_html_is_a_problem_unless_it_is_plain() {
    insta::assert_snapshot!(
        checked(&[("docs/tour.md", "# A tour\n\n<!-- note -->\n\nrun <NAME>, <br>, <kbd>q</kbd>\n\n<script>x</script>\n")]),
        @r"
    docs/tour.md:5: raw HTML: `<NAME>`; write Markdown, or code
    docs/tour.md:7: raw HTML: `<script>x</script>`; write Markdown, or code
    "
    );
}

#[test]
fn text_code_and_raw_html_are_escaped() {
    insta::assert_snapshot!(rendered("a < b & \"c\" `<x>` <script>\n\n```sh\necho <x> && y\n```", &[]), @r#"
    <p>a &lt; b &amp; &quot;c&quot; <code>&lt;x&gt;</code> &lt;script&gt;</p>
    <pre><code class="language-sh">echo &lt;x&gt; &amp;&amp; y
    </code></pre>
    "#);
}

#[test]
fn links_lead_to_pages_of_the_site_and_say_when_they_cannot() {
    insta::assert_snapshot!(
        rendered(
            "[home](../README.md#metier) [rules](CONTRIBUTING.md) [project](../CONTRIBUTING.md) [crate](../crates/skill) ![a chart](chart.svg) [web](https://example.com)",
            &[("CONTRIBUTING.md", "# C\n\nText.\n"), ("docs/chart.svg", "<svg/>")],
        ),
        @r#"<p><a href="index.html#metier">home</a> rules <small>(<code>docs/CONTRIBUTING.md</code> in the repository)</small> <a href="project/contributing.html">project</a> crate <small>(<code>crates/skill</code> in the repository)</small> <img src="chart.svg" alt="a chart"> <a href="https://example.com">web</a></p>"#
    );
}

#[test]
fn headings_have_anchors_and_wide_tables_can_be_reached() {
    let wide = "x".repeat(90);
    insta::assert_snapshot!(
        rendered(&format!("## Two `words`\n\n| a | b |\n|---|--:|\n| 1 | 2 |\n\n| | |\n|---|---|\n| 1 | {wide} |"), &[]),
        @r##"
    <h2 id="two-words">Two <code>words</code> <a class="anchor" href="#two-words" aria-label="Link to Two words">#</a></h2>
    <div class="table"><table>
    <thead><tr><th scope="col">a</th><th scope="col" class="right">b</th></tr></thead>
    <tbody>
    <tr><td>1</td><td class="right">2</td></tr>
    </tbody></table></div>
    <div class="table" role="region" aria-label="Table: Two words" tabindex="0"><table>
    <tbody>
    <tr><td>1</td><td>xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx</td></tr>
    </tbody></table></div>
    "##
    );
}

#[test]
fn what_is_typed_at_a_terminal_stands_out() {
    insta::assert_snapshot!(
        rendered("```console\n$ echo <a>\n<a>\n```", &[]),
        @r#"
    <pre><code class="language-console"><b>$ echo &lt;a&gt;</b>
    &lt;a&gt;
    </code></pre>
    "#
    );
}

#[test]
fn a_page_knows_its_place_among_the_others() {
    let folder = repository(&[
        (
            "docs/SUMMARY.md",
            "# Summary\n\n- [Tour](tour.md)\n\n# Reference\n\n- [Keys](deep/keys.md)\n",
        ),
        ("docs/deep/keys.md", "# Keys\n\nAll \"keys\".\n"),
    ]);
    let book = Book::read(folder.path()).unwrap();
    let page = page::whole(&book, 2);
    let (head, rest) = page.split_once("<body>").unwrap();
    let head: Vec<_> = head.lines().filter(|line| !line.contains("rel=\"icon\"")).collect();
    let navigation = rest.split_once("<nav class=\"sidebar\"").unwrap().1;
    insta::assert_snapshot!(format!("{}\n<nav{navigation}", head.join("\n")), @r##"
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Keys · metier</title>
    <meta name="description" content="All &quot;keys&quot;.">
    <link rel="stylesheet" href="../style.css">
    </head>
    <nav aria-label="Pages">
    <ul>
    <li><a href="../index.html">Overview</a></li>
    <li><a href="../tour.html">Tour</a></li>
    </ul>
    <p class="part">Reference</p>
    <ul>
    <li><a href="keys.html" aria-current="page">Keys</a></li>
    <li><a href="../contents.html">All headings</a></li>
    </ul>
    </nav>
    <main id="content" tabindex="-1">
    <h1 id="keys">Keys <a class="anchor" href="#keys" aria-label="Link to Keys">#</a></h1>
    <p>All &quot;keys&quot;.</p>
    <nav class="neighbours" aria-label="Previous and next page">
    <a rel="prev" href="../tour.html"><small>Previous</small> Tour</a>
    </nav>
    </main>
    </div>
    </body>
    </html>
    "##);
}

/// The tags of a page, each closed where it must be.
fn is_well_formed(page: &str) -> Result<(), String> {
    const VOID: &[&str] = &["meta", "link", "br", "hr", "img", "!doctype"];
    let mut open = Vec::new();
    for piece in page.split('<').skip(1) {
        let Some((tag, text)) = piece.split_once('>') else { return Err(format!("<{piece}")) };
        if text.contains('>') {
            return Err(format!("a bare `>` in {text:?}"));
        }
        let name = tag.split([' ', '\n']).next().unwrap_or_default();
        if let Some(name) = name.strip_prefix('/') {
            if open.pop() != Some(name) {
                return Err(format!("</{name}> closes nothing"));
            }
        } else if !VOID.contains(&name) && !tag.starts_with("!--") {
            open.push(name);
        }
    }
    if open.is_empty() { Ok(()) } else { Err(format!("{open:?} are never closed")) }
}

#[test]
fn the_real_site_is_well_formed_and_its_ids_are_unique() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let book = Book::read(root).unwrap();
    for file in files(&book).unwrap().iter().filter(|file| file.path.ends_with(".html")) {
        let page = String::from_utf8(file.bytes.clone()).unwrap();
        is_well_formed(&page).unwrap_or_else(|error| panic!("{}: {error}", file.path));
        let mut ids: Vec<_> = page.split(" id=\"").skip(1).collect();
        ids.iter_mut().for_each(|id| *id = id.split('"').next().unwrap());
        let all = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), all, "{}", file.path);
        assert!(!page.contains("<script"), "{}", file.path);
        assert!(!page.contains("src=\"http"), "{}", file.path);
    }
}

#[test]
fn every_address_inside_the_real_site_is_a_file_of_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let files = files(&Book::read(root).unwrap()).unwrap();
    for file in files.iter().filter(|file| file.path.ends_with(".html")) {
        let page = String::from_utf8(file.bytes.clone()).unwrap();
        let addresses = page.split(" href=\"").skip(1).chain(page.split(" src=\"").skip(1));
        for address in addresses.map(|rest| rest.split('"').next().unwrap()) {
            let (path, _) = place::split(address);
            if path.is_empty() || place::is_elsewhere(address) {
                continue;
            }
            let target = place::resolve(&file.path, path).unwrap();
            assert!(files.iter().any(|it| it.path == target), "{}: {address}", file.path);
        }
    }
}

#[test]
fn writing_the_site_empties_its_folder_first() {
    let folder = repository(&[]);
    let book = Book::read(folder.path()).unwrap();
    let site = folder.path().join("site");
    fs::create_dir(&site).unwrap();
    fs::write(site.join("old.html"), "old").unwrap();
    assert_eq!(write(&book, &site).unwrap(), 4);
    assert!(!site.join("old.html").exists());
    assert!(fs::read_to_string(site.join("index.html")).unwrap().contains("href=\"tour.html\""));
}
