//! What the body points to: M060, M061, M062.

use super::{outcome, ship, write};

#[test]
fn m060_links_lead_to_files_of_the_skill() {
    let scratch = ship(
        "[a](docs/a.md) [b](missing.md) ![c](images/none.png) [d](../outside.md)\n\
         [e](docs/a.md#part) [f](docs/none.md?x#y) [g][ref] [again](missing.md)\n\n\
         [ref]: no/such.txt\n",
    );
    scratch.write("ship/docs/a.md", "A.");
    scratch.write("outside.md", "Not of the skill.");
    insta::assert_snapshot!(outcome(&scratch), @"
    5:16 M060 there is no file `missing.md` in the skill
    5:32 M060 there is no file `images/none.png` in the skill
    5:54 M060 `../outside.md` leads outside the skill
    6:21 M060 there is no file `docs/none.md` in the skill
    6:43 M060 there is no file `no/such.txt` in the skill
    ");
}

#[test]
fn m060_other_addresses_and_placeholders_are_not_looked_for() {
    let body = "[a](https://example.com/x.md) [b](#anchor) [c](mailto:x@example.com) \
                [d](/absolute) [e](docs/{name}.md) [f](<docs/<id>.md>) [g](docs/*.md) \
                <https://example.com> <someone@example.com> [h]() [i](path/to/...) [j](./) [k](.)\n\
                ```\n[l](in/code.md)\n```\n`[m](in/code.md)`\n";
    assert_eq!(outcome(&ship(body)), "");
}

#[test]
fn m060_links_may_be_written_in_several_ways() {
    let scratch = ship(
        "[a](./docs/a.md) [b](docs//a.md) [c](docs/with%20space.md) [d](docs) [e](docs/) \
         [f](link.md) [g](SKILL.md) [h](docs/../docs/a.md)\n",
    );
    scratch.write("ship/docs/a.md", "A.");
    scratch.write("ship/docs/with space.md", "A.");
    scratch.link("ship/link.md", "docs/a.md");
    assert_eq!(outcome(&scratch), "");
}

#[test]
fn m060_an_encoded_way_out_is_seen() {
    insta::assert_snapshot!(outcome(&ship("[a](docs/%2e%2e/%2e%2e/x.md) [b](%2e%2e/x.md)\n")), @"
    5:1 M060 `docs/../../x.md` leads outside the skill
    5:30 M060 `../x.md` leads outside the skill
    ");
}

#[test]
fn m061_scripts_the_body_names_are_there() {
    let scratch = ship(
        "Run `python scripts/run.py --in x` or `./scripts/none.sh`.\n\n```bash\n\
         bash scripts/gone.sh && cat references/list.txt\nscripts/{name}.py\nassets/*.png\n\
         scripts/\nother/path.py\n```\n",
    );
    scratch.write("ship/scripts/run.py", "");
    insta::assert_snapshot!(outcome(&scratch), @"
    5:40 M061 there is no `scripts/none.sh` in the skill
    8:6 M061 there is no `scripts/gone.sh` in the skill
    8:29 M061 there is no `references/list.txt` in the skill
    ");
}

#[test]
fn m062_docs_are_one_step_away() {
    let scratch = ship("[a](docs/a.md) [b](deep/er/b.md)\n");
    scratch.write("ship/docs/a.md", "See [c](c.md), [itself](a.md) and [up](../SKILL.md).");
    scratch.write("ship/docs/c.md", "C.");
    scratch.write("ship/deep/er/b.md", "B.");
    insta::assert_snapshot!(outcome(&scratch), @"
    5:1 M062 `docs/a.md` leads on to `docs/c.md`, which `SKILL.md` does not name
    5:16 M062 `deep/er/b.md` lies deeper than one folder
    ");
    write(&scratch, "[a](docs/a.md) [c](docs/c.md)\n");
    assert_eq!(outcome(&scratch), "");
}

#[test]
fn m062_docs_that_link_in_circles_end() {
    let scratch = ship("[a](a.md) [b](b.md)\n");
    scratch.write("ship/a.md", "[b](b.md)");
    scratch.write("ship/b.md", "[a](a.md) [out](../../x.md)");
    assert_eq!(outcome(&scratch), "");
}
