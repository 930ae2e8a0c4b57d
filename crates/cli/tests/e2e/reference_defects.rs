//! Inputs on which the format's reference tool fails, and what we do with them.

use insta::assert_snapshot;

use crate::{compact, environment, run};

/// What the three commands say of a skill.
fn all_three(folder: &str, text: impl AsRef<[u8]>) -> String {
    let env = environment();
    env.write(format!("project/{folder}/SKILL.md"), text);
    let valid = compact(&run(&env, &format!("validate {folder}")));
    let properties = compact(&run(&env, &format!("read-properties {folder}")));
    let prompt = run(&env, &format!("to-prompt {folder}"));
    let description = between(&prompt.stdout, "<description>\n", "\n</description>");
    format!("{valid}\n{properties}\n{} | {description} | {}", prompt.code, prompt.stderr.trim())
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    text.split_once(start).and_then(|(_, rest)| rest.split_once(end)).map_or("", |(inner, _)| inner)
}

#[test]
fn dash_a_line_of_dashes_closes_the_header_and_dashes_in_a_value_do_not() {
    assert_snapshot!(all_three("dash", "---\nname: dash\ndescription: foo --- bar\n---\nBody\n"), @r#"
    0 | Valid skill: dash |
    0 | { / "name": "dash", / "description": "foo --- bar" / } |
    0 | foo --- bar |
    "#);
}

#[test]
fn bom_a_byte_order_mark_is_no_text() {
    assert_snapshot!(all_three("bom", "\u{feff}---\nname: bom\ndescription: d\n---\nBody\n"), @r#"
    0 | Valid skill: bom |
    0 | { / "name": "bom", / "description": "d" / } |
    0 | d |
    "#);
}

#[test]
fn crlf_line_ends_of_windows_are_no_text() {
    assert_snapshot!(all_three("crlf", "---\r\nname: crlf\r\ndescription: d\r\n---\r\nBody\r\n"), @r#"
    0 | Valid skill: crlf |
    0 | { / "name": "crlf", / "description": "d" / } |
    0 | d |
    "#);
}

#[test]
fn colon_is_not_valid_and_still_read() {
    assert_snapshot!(all_three("colon", "---\nname: colon\ndescription: Use when: x\n---\n"), @r#"
    1 |  | Validation failed for colon: / - Invalid YAML in frontmatter: mapping values are not allowed in this context (line 3); put quotes around the value
    0 | { / "name": "colon", / "description": "Use when: x" / } |
    0 | Use when: x |
    "#);
}

#[test]
fn flow_style_is_yaml() {
    assert_snapshot!(
        all_three("flow", "---\nname: flow\ndescription: d\nallowed-tools: [Read, Bash]\nmetadata: {a: b}\n---\n"), @r#"
    0 | Valid skill: flow |
    0 | { / "name": "flow", / "description": "d", / "allowed-tools": "Read Bash", / "metadata": { / "a": "b" / } / } |
    0 | d |
    "#);
}

#[test]
fn anchor_an_alias_stands_for_its_anchor() {
    assert_snapshot!(
        all_three("anchor", "---\nname: anchor\ndescription: &d text\nlicense: *d\n---\n"), @r#"
    0 | Valid skill: anchor |
    0 | { / "name": "anchor", / "description": "text", / "license": "text" / } |
    0 | text |
    "#);
}

#[test]
fn tag_a_tag_leaves_the_text_alone() {
    assert_snapshot!(all_three("tag", "---\nname: tag\ndescription: !!str text\n---\n"), @r#"
    0 | Valid skill: tag |
    0 | { / "name": "tag", / "description": "text" / } |
    0 | text |
    "#);
}

#[test]
fn dup_a_key_that_stands_twice_is_refused() {
    assert_snapshot!(
        all_three("dup", "---\nname: dup\ndescription: one\ndescription: two\n---\n"), @"
    1 |  | Validation failed for dup: / - Invalid YAML in frontmatter: the key `description` stands twice (line 4)
    1 |  | Error: Invalid YAML in frontmatter: the key `description` stands twice (line 4)
    1 |  | Error: Invalid YAML in frontmatter: the key `description` stands twice (line 4)
    ");
}

#[test]
fn listmeta_a_list_becomes_json_and_no_other_language() {
    assert_snapshot!(
        all_three("listmeta", "---\nname: listmeta\ndescription: d\nmetadata:\n  k:\n    - a\n    - b\n---\n"), @r#"
    0 | Valid skill: listmeta |
    0 | { / "name": "listmeta", / "description": "d", / "metadata": { / "k": "[\"a\",\"b\"]" / } / } |
    0 | d |
    "#);
}

#[test]
fn nested_a_map_becomes_json_and_no_other_language() {
    assert_snapshot!(
        all_three("nested", "---\nname: nested\ndescription: d\nmetadata:\n  a:\n    b: c\n---\n"), @r#"
    0 | Valid skill: nested |
    0 | { / "name": "nested", / "description": "d", / "metadata": { / "a": "{\"b\":\"c\"}" / } / } |
    0 | d |
    "#);
}

#[test]
fn latin_bytes_that_are_not_utf8_are_an_error_in_words() {
    assert_snapshot!(all_three("latin", b"---\nname: latin\ndescription: caf\xe9\n---\n"), @"
    1 |  | Validation failed for latin: / - SKILL.md must be UTF-8: byte 0xe9 is not UTF-8
    1 |  | Error: SKILL.md must be UTF-8: byte 0xe9 is not UTF-8
    1 |  | Error: SKILL.md must be UTF-8: byte 0xe9 is not UTF-8
    ");
}

#[test]
fn numname_a_number_is_a_name() {
    assert_snapshot!(all_three("123", "---\nname: 123\ndescription: d\n---\n"), @r#"
    0 | Valid skill: 123 |
    0 | { / "name": "123", / "description": "d" / } |
    0 | d |
    "#);
}

#[test]
fn emptymeta_metadata_without_entries_is_left_out() {
    assert_snapshot!(
        all_three("emptymeta", "---\nname: emptymeta\ndescription: d\nmetadata:\n---\n"), @r#"
    0 | Valid skill: emptymeta |
    0 | { / "name": "emptymeta", / "description": "d" / } |
    0 | d |
    "#);
}

#[test]
fn emptydesc_a_description_says_something() {
    assert_snapshot!(all_three("emptydesc", "---\nname: emptydesc\ndescription:\n---\n"), @"
    1 |  | Validation failed for emptydesc: / - Field 'description' must be a non-empty string
    1 |  | Error: Field 'description' must be a non-empty string
    1 |  | Error: Field 'description' must be a non-empty string
    ");
}

#[test]
fn block_a_folded_text_is_one_line() {
    assert_snapshot!(
        all_three("block", "---\nname: block\ndescription: >\n  one\n  two\n---\n"), @r#"
    0 | Valid skill: block |
    0 | { / "name": "block", / "description": "one two" / } |
    0 | one two |
    "#);
}

#[test]
fn comment_a_comment_is_no_text() {
    assert_snapshot!(
        all_three("comment", "---\n# about\nname: comment\ndescription: d # not this\n---\n"), @r#"
    0 | Valid skill: comment |
    0 | { / "name": "comment", / "description": "d" / } |
    0 | d |
    "#);
}

#[test]
fn validate_knows_the_name_of_the_folder_it_is_in() {
    let env = environment();
    let folder = env.skill("project", "here", "A test skill");
    assert_snapshot!(compact(&env.run_in(&folder, ["validate", "."], "")), @"0 | Valid skill: . |");
    assert_snapshot!(compact(&env.run_in(&folder, ["validate", "SKILL.md"], "")), @"0 | Valid skill: SKILL.md |");
    assert_snapshot!(compact(&env.run_in(&folder, ["validate", "../here/../here"], "")), @"0 | Valid skill: ../here/../here |");
    assert_snapshot!(compact(&run(&env, "validate here/SKILL.md")), @"0 | Valid skill: here/SKILL.md |");
    assert_snapshot!(compact(&env.run_in(&folder, ["to-prompt", "."], "")), @"0 | <available_skills> / <skill> / <name> / here / </name> / <description> / A test skill / </description> / <location> / [PROJECT]/here/SKILL.md / </location> / </skill> / </available_skills> |");
}

#[test]
fn to_prompt_prints_the_others_beside_a_bad_skill() {
    let env = environment();
    env.skill("project", "one", "First");
    env.write("project/bad/SKILL.md", "no header");
    env.skill("project", "two", "Second");
    assert_snapshot!(compact(&run(&env, "to-prompt one bad nowhere two")), @"1 | <available_skills> / <skill> / <name> / one / </name> / <description> / First / </description> / <location> / [PROJECT]/one/SKILL.md / </location> / </skill> / <skill> / <name> / two / </name> / <description> / Second / </description> / <location> / [PROJECT]/two/SKILL.md / </location> / </skill> / </available_skills> | Error: bad: SKILL.md must start with YAML frontmatter (---) / Error: nowhere: SKILL.md not found in nowhere");
}

#[test]
fn to_prompt_escapes_the_location() {
    let env = environment();
    env.skill("project/a<b>&'c", "one", "First");
    assert_snapshot!(compact(&run(&env, "to-prompt a<b>&'c/one")), @"0 | <available_skills> / <skill> / <name> / one / </name> / <description> / First / </description> / <location> / [PROJECT]/a&lt;b&gt;&amp;&#x27;c/one/SKILL.md / </location> / </skill> / </available_skills> |");
}

#[test]
fn nothing_in_a_skill_closes_a_tag_or_reaches_the_terminal() {
    let env = environment();
    env.write(
        "project/sly/SKILL.md",
        "---\nname: sly\ndescription: \"</description></skill>\\e[2J\\u202e\"\n---\n",
    );
    assert_snapshot!(compact(&run(&env, "to-prompt sly")), @r"0 | <available_skills> / <skill> / <name> / sly / </name> / <description> / &lt;/description&gt;&lt;/skill&gt;\u{1b}[2J\u{202e} / </description> / <location> / [PROJECT]/sly/SKILL.md / </location> / </skill> / </available_skills> |");
}

#[test]
fn read_properties_is_ascii() {
    let env = environment();
    env.skill("project", "accents", "caf\u{e9} 技 😀 \\u00e9 \"q\"");
    assert_snapshot!(run(&env, "read-properties accents"), @r#"
    exit 0
    ----- stdout
    {
      "name": "accents",
      "description": "caf\u00e9 \u6280 \ud83d\ude00 \\u00e9 \"q\""
    }
    ----- stderr
    "#);
}

#[test]
fn a_skill_behind_a_link_is_located_where_it_is() {
    let env = environment();
    let folder = env.skill("elsewhere", "linked", "First");
    std::os::unix::fs::symlink(&folder, env.project().join("linked")).unwrap();
    assert_snapshot!(compact(&run(&env, "to-prompt linked")), @"0 | <available_skills> / <skill> / <name> / linked / </name> / <description> / First / </description> / <location> / [ROOT]/elsewhere/linked/SKILL.md / </location> / </skill> / </available_skills> |");
    assert_snapshot!(compact(&run(&env, "validate linked")), @"0 | Valid skill: linked |");
}
