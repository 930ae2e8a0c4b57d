use std::time::{Duration, Instant};

use insta::assert_snapshot;
use proptest::prelude::*;

use super::*;

const PLAIN: Look = Look { width: 40, is_styled: false };
const STYLED: Look = Look { width: 40, is_styled: true };

fn shown(text: &str, look: Look) -> String {
    let mut markdown = Markdown::new(look);
    let shown = markdown.push(text);
    shown + &markdown.finish()
}

fn shown_in_pieces(text: &str, look: Look, length: usize) -> String {
    let mut markdown = Markdown::new(look);
    let characters: Vec<char> = text.chars().collect();
    let pieces = characters.chunks(length.max(1)).map(|piece| piece.iter().collect::<String>());
    let shown: String = pieces.map(|piece| markdown.push(&piece)).collect();
    shown + &markdown.finish()
}

#[test]
fn paragraphs_and_headings_are_wrapped_to_the_width() {
    let text = "# A heading\nOne paragraph that is *rather* long and **goes on** for `some lines`.\n\n\n\
        Another  \nwith a break.\n\nSetext\n---\n";
    assert_snapshot!(shown(text, PLAIN), @"
    # A heading

    One paragraph that is *rather* long and
    **goes on** for `some lines`.

    Another
    with a break.

    ## Setext
    ");
}

#[test]
fn styles_stand_for_marks() {
    let text = "## T\n*a* **b** ***c*** `d` ~~e~~ [f](http://g)\n";
    assert_snapshot!(shown(text, STYLED).replace('\u{1b}', "^"), @"
    ^[1m## T^[0m

    ^[3ma^[0m ^[1mb^[0m ^[1m^[3mc^[0m ^[36md^[0m ^[9me^[0m ^[4mf^[0m^[2m (http://g)^[0m
    ");
    assert_snapshot!(shown(text, PLAIN), @"
    ## T

    *a* **b** ***c*** `d` ~~e~~ f (http://g)
    ");
}

#[test]
fn where_there_are_styles_code_is_set_in_and_has_no_fence() {
    let text = "Run:\n\n```sh\nmake\n\n  make test\n```\n\n- in a list:\n\n  ~~~\n  make\n  ~~~\n";
    assert_snapshot!(shown(text, STYLED).replace('\u{1b}', "^"), @"
    Run:

      make

        make test

    ^[2m• ^[0min a list:

        make
    ");
    assert_snapshot!(shown(text, PLAIN), @"
    Run:

    ```sh
    make

      make test
    ```

    • in a list:

      ```
      make
      ```
    ");
}

#[test]
fn text_of_a_tight_item_stands_before_whatever_block_follows_it() {
    let blocks =
        ["> quote", "# heading", "***", "<div>\n  html\n  </div>", "| a | b |\n  |---|---|"];
    let text: String = blocks.iter().map(|block| format!("- text\n  {block}\n")).collect();
    assert_snapshot!(shown(&text, PLAIN), @"
    • text

      │ quote
    • text

      # heading
    • text

      ──────────────────────────────────────
    • text

      <div>
      html
      </div>
    • text

      a │ b
      ──┼──
    ");
}

#[test]
fn lists_are_nested_numbered_and_as_tight_as_they_were_written() {
    let text = "1. one\n1. two\n   - inner that is long enough to be wrapped\n     * deepest\n   - more\n\
        1. three\n\n   its second paragraph\n1. four\n\n- [x] done\n- [ ] open\n\n  ```sh\n  ls\n  ```\n\
        -\n\nEnd\n";
    assert_snapshot!(shown(text, PLAIN), @"
    1. one
    2. two
       • inner that is long enough to be
         wrapped
         • deepest
       • more
    3. three

       its second paragraph
    4. four

    • [x] done
    • [ ] open

      ```sh
      ls
      ```
    •

    End
    ");
    assert_snapshot!(shown("- a\n\n- b\n- c\n", PLAIN), @"
    • a

    • b
    • c
    ");
    assert_snapshot!(shown("7) a\n8) b\n\n9. c\n", PLAIN), @"
    7. a
    8. b

    9. c
    ");
}

#[test]
fn quotes_have_a_bar_and_rules_are_lines() {
    let text = "> quoted text that is longer than a line has columns\n> > nested\n>\n> - item\n\n---\nafter\n";
    assert_snapshot!(shown(text, PLAIN), @"
    │ quoted text that is longer than a line
    │ has columns
    │
    │ │ nested
    │
    │ • item

    ────────────────────────────────────────

    after
    ");
}

#[test]
fn code_is_never_wrapped_and_comes_line_by_line() {
    let long = "x".repeat(60);
    let text = format!("Look:\n```rust\nfn a() {{\n\t{long}\n}}\n\n\n```\nDone\n\n    indented\n");
    assert_snapshot!(shown(&text, PLAIN), @"
    Look:

    ```rust
    fn a() {
    	xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
    }


    ```

    Done

        indented
    ");
    let mut markdown = Markdown::new(PLAIN);
    assert_eq!(markdown.push("Look:\n```"), "");
    assert_eq!(markdown.push("sh\nls"), "Look:\n\n```sh\n");
    assert_eq!(markdown.pending(), "ls");
    assert_eq!(markdown.push(" -l\n"), "ls -l\n");
    assert_eq!(markdown.finish(), "");
}

#[test]
fn tables_are_laid_out_when_they_are_complete() {
    let text = "| Name | Count | Says |\n|:--|--:|:-:|\n| a | 1 | `x` |\n\
        | 技能 | 20000 | a sentence that does not fit into the column |\n| short |\n\nafter\n";
    assert_snapshot!(shown(text, PLAIN), @"
    Name  │ Count │           Says
    ──────┼───────┼─────────────────────────
    a     │     1 │           `x`
    技能  │ 20000 │ a sentence that does not
          │       │   fit into the column
    short │       │

    after
    ");
    let mut markdown = Markdown::new(PLAIN);
    assert_eq!(markdown.push("| a | b |\n|---|---|\n| c | d |\n"), "");
    assert_eq!(markdown.push("\n"), "a │ b\n──┼──\nc │ d\n");
}

#[test]
fn links_show_their_address_once() {
    let text = "[text](https://example.com/a) <https://example.com> https://example.com/plain\n\
        [https://b.example](https://b.example) ![alt](pic.png) [ref][1] [own]\n\n[1]: http://one\n\n\
        [own]: http://two\n[own] is here\n";
    assert_snapshot!(shown(text, Look { width: 80, ..PLAIN }), @"
    text (https://example.com/a) https://example.com https://example.com/plain
    https://b.example [image: alt] (pic.png) [ref][1] [own]

    [1]: http://one

    [own]: http://two
    own (http://two) is here
    ");
}

#[test]
fn finished_blocks_are_shown_at_once_and_items_when_the_next_begins() {
    let mut markdown = Markdown::new(PLAIN);
    let step = |piece: &str| format!("{piece:?} -> {:?}", markdown.push(piece));
    let pieces =
        ["# T\n", "text", "\n", "more\n", "\n", "- a\n", "- b\n", "  c\n", "---\n", "x\n===\n"];
    assert_snapshot!(pieces.map(step).join("\n"), @r##"
    "# T\n" -> "# T\n"
    "text" -> ""
    "\n" -> ""
    "more\n" -> ""
    "\n" -> "\ntext more\n"
    "- a\n" -> ""
    "- b\n" -> "\n• a\n"
    "  c\n" -> ""
    "---\n" -> "• b c\n\n────────────────────────────────────────\n"
    "x\n===\n" -> "\n# x\n"
    "##);
}

#[test]
fn characters_without_spaces_are_broken_by_columns_and_addresses_stay_whole() {
    let text = "技能技能技能技能技能技能技能技能技能技能技能abc\n\nsee https://example.com/an/address/that/is/longer/than/a/line ok\n";
    assert_snapshot!(shown(text, PLAIN), @"
    技能技能技能技能技能技能技能技能技能技能
    技能abc

    see
    https://example.com/an/address/that/is/longer/than/a/line
    ok
    ");
}

#[test]
fn nothing_that_was_said_drives_the_terminal() {
    let text = "a\u{1b}[2Jb &#27;]0;title&#7; `\u{1b}[31m` \u{202e}r\rx\n\n# \u{9b}2J\n- \u{1b}c\n\
        ```\u{1b}[1m\n\u{1b}]52;c;x\u{7}\n```\n| \u{1b}[6n |\n|---|\n| &#x9b; |\n\n[t](<\u{1b}[8m>)\n\n\
        <b\u{1b}>\n\n    \u{1b}P\n\n[\u{1b}]: \u{1b}\n";
    for look in [PLAIN, Look { width: 20, ..PLAIN }] {
        let shown = shown(text, look);
        let is_bad = |it: char| it.is_control() && it != '\n';
        assert!(!shown.contains(is_bad), "{shown:?}");
        assert!(!shown.contains('\u{202e}'), "{shown:?}");
    }
    let styled = shown(text, STYLED);
    for piece in styled.split('\u{1b}').skip(1) {
        let end = piece.find(|it: char| it.is_ascii_alphabetic()).expect("a sequence ends");
        let numbers = piece[..end].strip_prefix('[').expect("a colour");
        assert!(numbers.bytes().all(|it| it.is_ascii_digit() || it == b';'), "{styled:?}");
        assert_eq!(&piece[end..=end], "m", "{styled:?}");
    }
}

#[test]
fn a_block_without_end_is_shown_as_it_is() {
    let text = "- word\n".to_owned() + &"  1more and more\n".repeat(8000);
    let shown = shown(&text, PLAIN);
    assert_eq!(shown.matches("1more").count(), 8000);
    assert!(shown.starts_with("- word\n  1more and more\n"), "{}", &shown[..100]);
}

#[test]
fn text_that_is_made_to_take_long_does_not() {
    let table = format!("{}\n{}\n{}", "|a".repeat(4000), "|-".repeat(4000), "|\n".repeat(4000));
    let texts = [
        table,
        "> ".repeat(20_000) + "x\n",
        "- ".repeat(20_000) + "x\n",
        "*a **b ".repeat(20_000),
        "[a](".repeat(20_000),
        "![".repeat(20_000) + "\n",
        "`a ``b ".repeat(20_000),
        "<!-- ".repeat(20_000) + "\n\n",
        "[a]: b\n".repeat(10_000),
        "- a\n\n".repeat(10_000),
        "1\n".repeat(20_000),
        "x".repeat(200_000),
    ];
    for text in texts {
        let began = Instant::now();
        let shown = shown(&text, PLAIN);
        assert!(!shown.is_empty());
        assert!(began.elapsed() < Duration::from_secs(30), "{}", &text[..10]);
    }
}

/// Text that is full of Markdown, good and bad.
fn markdown_text() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "word ",
        "words and more ",
        "\n",
        "\n\n",
        "- ",
        "  - ",
        "1. ",
        "2) ",
        "   ",
        "\t",
        "> ",
        "# ",
        "### ",
        "```",
        "```rust",
        "~~~",
        "`",
        "``",
        "*",
        "**",
        "_",
        "~~",
        "[",
        "](",
        ")",
        "[a]: b",
        "<b>",
        "<!--",
        "-->",
        "<br>",
        "| a | b |",
        "|---|--:|",
        "---",
        "===",
        "***",
        "\\",
        "&amp;",
        "&#27;",
        "\u{1b}[2J",
        "\r\n",
        "\r",
        "技能",
        "é",
        "👩‍💻",
        "- [x] ",
        "https://e.example",
    ]);
    prop::collection::vec(pieces, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_split_prints_the_same_as_the_whole(
        text in markdown_text(),
        length in 1_usize..20,
        is_styled: bool,
    ) {
        let look = Look { width: 30, is_styled };
        prop_assert_eq!(shown_in_pieces(&text, look, length), shown(&text, look));
    }

    #[test]
    fn no_word_is_lost(text in "[a-z]{1,9}( |\n|\n\n|\n- |\n1. |\n> |\n# )([a-z]{1,9}( |\n|\n\n- |\n    )){0,12}") {
        let shown = shown(&text, PLAIN);
        for word in text.split(|it: char| !it.is_ascii_lowercase()).filter(|it| !it.is_empty()) {
            prop_assert!(shown.contains(word), "{:?} is not in {:?}", word, shown);
        }
    }
}
