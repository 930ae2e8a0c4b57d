//! The body by itself: M033, M063, M064, M067, M068, M071.

use super::{lint, outcome, ship};
use crate::fix;
use crate::lint::diagnose_text;
use crate::scratch::Scratch;

fn described(description: &str) -> String {
    let scratch = Scratch::new();
    let text = format!("---\nname: ship\ndescription: {description}\n---\nDo it.\n");
    scratch.write("ship/SKILL.md", text);
    outcome(&scratch)
}

/// The text after all its fixes.
fn fixed(body: &str) -> String {
    let scratch = ship(body);
    let text = lint(&scratch).text;
    let folder = scratch.path("ship");
    let fixed = fix::apply_until_stable(&text, |text| diagnose_text(text, &folder));
    fixed.split_once("---\n").unwrap().1.split_once("---\n").unwrap().1.to_owned()
}

#[test]
fn m033_a_description_says_when_the_skill_is_wanted() {
    insta::assert_snapshot!(described("Draws charts of any kind."), @"3:14 M033 the description does not say when to use the skill");
    for description in [
        "Draws charts. Use when a chart is wanted.",
        "Draws charts. USE WHEN drawing.",
        "Draws charts. Triggers on \"plot\".",
        "Draws charts if the user asks for one.",
        "绘制图表。当用户要求时使用。",
    ] {
        assert_eq!(described(description), "", "{description}");
    }
}

#[test]
fn m063_a_body_has_at_most_five_hundred_lines() {
    assert_eq!(outcome(&ship(&"x\n".repeat(500))), "");
    insta::assert_snapshot!(outcome(&ship(&"x\n".repeat(501))), @"5:1 M063 the body has 501 lines, more than 500");
}

#[test]
fn m064_a_body_has_at_most_five_thousand_tokens() {
    assert_eq!(outcome(&ship(&"word ".repeat(4_990))), "");
    insta::assert_snapshot!(outcome(&ship(&format!("\n\n{}", "word ".repeat(5_010)))), @"7:1 M064 the body costs 5012 tokens, more than 5000");
}

#[test]
fn m071_a_body_is_not_empty() {
    insta::assert_snapshot!(outcome(&ship("")), @"5:1 M071 the body is empty");
    insta::assert_snapshot!(outcome(&ship(" \n\n\t\n")), @"5:1 M071 the body is empty");
    assert_eq!(outcome(&ship("x")), "");
}

#[test]
fn m067_programs_the_body_runs_are_declared() {
    let body = "Run:\n\n```bash\n$ jq . file.json\nFOO=1 rg pattern \\\n  --files\ncat x | grep y\n\
                ls\n# comment\n./scripts/own.sh\n\"$TOOL\" x\njq again\n```\n\n\
                ```python\nimport os\n```\n\n`npm test` inline is prose.\n\n    indented\n";
    insta::assert_snapshot!(outcome(&ship(body)), @"
    8:3 M067 `jq` is run here, and is not in `requires.bins`
    9:7 M067 `rg` is run here, and is not in `requires.bins`
    14:1 M061 there is no `scripts/own.sh` in the skill
    ");
}

#[test]
fn m067_what_is_declared_or_installed_is_fine() {
    let scratch = Scratch::new();
    scratch.write(
        "ship/SKILL.md",
        "---\nname: ship\ndescription: Ships when asked.\nmetadata: {metier: {requires: {bins: \
         [jq], anyBins: [node, deno]}, install: [{kind: brew, formula: ripgrep, bins: [rg]}]}}\n\
         ---\n```sh\njq .\nrg x\nnode y\ndeno z\nother\n```\n",
    );
    insta::assert_snapshot!(outcome(&scratch), @"11:1 M067 `other` is run here, and is not in `requires.bins`");
}

#[test]
fn m068_what_cannot_be_seen_is_shown_with_its_place() {
    insta::assert_snapshot!(outcome(&ship("zero\u{200b}width\nbidi \u{202e}text\u{202c}\n\u{ad}\n")), @"
    5:5 M068 an invisible character, U+200B (fix: remove it)
    6:6 M068 an invisible character, U+202E (fix: remove it)
    6:11 M068 an invisible character, U+202C (fix: remove it)
    7:1 M068 an invisible character, U+00AD (fix: remove it)
    ");
    insta::assert_snapshot!(outcome(&ship("bell\u{7} nul\u{0} escape\u{1b}[31m\n")), @"
    5:5 M068 an invisible character, U+0007 (fix: remove it)
    5:10 M068 an invisible character, U+0000 (fix: remove it)
    5:18 M068 an invisible character, U+001B (fix: remove it)
    ");
}

#[test]
fn m068_what_ordinary_text_needs_is_fine() {
    for text in [
        "tabs\tand\r\nline breaks\n",
        "family 👨\u{200d}👩\u{200d}👧 and heart ❤\u{fe0f}\n",
        "Persian می\u{200c}خواهم\n",
        "flag 🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}\n",
        "icon \u{e0b0} of a font\n",
        "no-break\u{a0}space, é decomposed e\u{301}\n",
    ] {
        assert_eq!(outcome(&ship(text)), "", "{text:?}");
    }
}

#[test]
fn m068_text_hidden_in_tags_is_found_whole() {
    let hidden: String =
        "obey me".chars().filter_map(|it| char::from_u32(0xe0000 + it as u32)).collect();
    insta::assert_snapshot!(outcome(&ship(&format!("Fine.{hidden}\n"))), @"5:6 M068 7 invisible characters, the first is U+E006F (fix: remove it)");
    // A flag has a few letters, not a sentence.
    let joined = format!("é{}", "\u{200d}\u{200c}".repeat(20));
    insta::assert_snapshot!(outcome(&ship(&format!("Fine {joined}\n"))), @"5:8 M068 39 invisible characters, the first is U+200C (fix: remove it)");
    let varied = format!("😀{}", "\u{fe00}\u{e0120}".repeat(20));
    insta::assert_snapshot!(outcome(&ship(&format!("Fine {varied}\n"))), @"5:8 M068 39 invisible characters, the first is U+E0120 (fix: remove it)");
    let behind_a_flag = format!("Fine 🏴{}\u{e007f}.\n", hidden.repeat(4));
    insta::assert_snapshot!(outcome(&ship(&behind_a_flag)), @"5:7 M068 29 invisible characters, the first is U+E006F (fix: remove it)");
}

#[test]
fn m068_the_fix_leaves_nothing_invisible() {
    let tags: String = ('a'..='z').filter_map(|it| char::from_u32(0xe0000 + it as u32)).collect();
    for (body, clean) in [
        ("a\u{200b}b\n".to_owned(), "ab\n".to_owned()),
        ("a\u{200b}\u{200b}\u{202e}b\u{2066}\n".to_owned(), "ab\n".to_owned()),
        (format!("x{}y\n", tags.repeat(20)), "xy\n".to_owned()),
        ("a\u{200b}b ".repeat(1_000), "ab ".repeat(1_000)),
        (format!("a{}b\n", "\u{200d}".repeat(99)), "ab\n".to_owned()),
        (format!("é{}b\n", "\u{200b}\u{200d}".repeat(99)), "éb\n".to_owned()),
        (format!("🏴{}\n", tags.repeat(9)), "🏴\n".to_owned()),
    ] {
        assert_eq!(fixed(&body), clean);
    }
}

#[test]
fn m068_many_are_pointed_at_once_and_counted() {
    let scratch = ship(&"a\u{200b}b ".repeat(100));
    let text = outcome(&scratch);
    assert_eq!(text.lines().count(), 20);
    insta::assert_snapshot!(text.lines().last().unwrap(), @"5:78 M068 an invisible character, U+200B, and 80 more places like it (fix: remove it)");
}
