//! Headers as people write them: one case per trait seen in public skills, and the hostile ones.

use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;
use crate::diagnostic::{Code, Level};
use crate::fix;
use crate::text::LineIndex;

/// Reads a header in a folder called `ship` and renders what came of it.
fn outcome(text: &str) -> String {
    render(text, &read(text, &options(WithoutHeader::Refuse)))
}

/// The same for the lines between the delimiters.
fn header(lines: &str) -> String {
    outcome(&format!("---\n{lines}---\nBody\n"))
}

fn options(without_header: WithoutHeader) -> ReadOptions<'static> {
    ReadOptions { folder: Some("ship"), without_header }
}

fn render(text: &str, reading: &Reading) -> String {
    let mut out = String::new();
    match &reading.manifest {
        Some(manifest) => writeln!(out, "{} | {}", manifest.name, manifest.description),
        None => writeln!(out, "unusable"),
    }
    .unwrap();
    let lines = LineIndex::new(text);
    for diagnostic in &reading.diagnostics {
        let place = lines.position(diagnostic.span.start);
        let severity = diagnostic.severity(Level::Lenient);
        let code = diagnostic.code;
        write!(out, "{}:{} {severity} {code} {}", place.line, place.column, diagnostic.message)
            .unwrap();
        for label in &diagnostic.related {
            let place = lines.position(label.span.start);
            write!(out, " ({}:{} {})", place.line, place.column, label.message).unwrap();
        }
        if let Some(fix) = &diagnostic.fix {
            write!(out, " [{}: {}]", fix.title, fix.edits[0].replacement.trim_end()).unwrap();
        }
        out.push('\n');
    }
    out
}

fn manifest(lines: &str) -> Manifest {
    let text = format!("---\nname: ship\ndescription: d\n{lines}---\n");
    read(&text, &options(WithoutHeader::Refuse)).manifest.expect("the header can be used")
}

#[test]
fn a_plain_header_is_read_without_remarks() {
    insta::assert_snapshot!(header("name: ship\ndescription: Ships it. Use when ready.\n"), @"ship | Ships it. Use when ready.");
}

#[test]
fn quotes_around_a_value_are_not_part_of_it() {
    insta::assert_snapshot!(header("name: 'ship'\ndescription: \"say \\\"go\\\"\"\n"), @r#"ship | say "go""#);
}

#[test]
fn numbers_and_switches_keep_their_text() {
    let manifest = manifest("version: 1.0\nmetadata:\n  build: 007\n  on: yes\n");
    assert_eq!(manifest.version.as_deref(), Some("1.0"));
    assert_eq!(
        manifest.metadata,
        [("build", "007"), ("on", "yes")].map(|(a, b)| (a.into(), b.into()))
    );
    insta::assert_snapshot!(header("name: 123\ndescription: 4.50\n"), @"
    123 | 4.50
    2:7 warning M027 the name `123` is not the name of the folder, `ship`
    ");
}

#[test]
fn an_unquoted_colon_is_mended_with_its_column() {
    insta::assert_snapshot!(header("name: ship\ndescription: Use when: it's done # now\nlicense: MIT\n"), @r#"
    ship | Use when: it's done # now
    3:14 warning M006 the value of `description` is not valid YAML as it stands [quote the value of `description`: "Use when: it's done # now"]
    "#);
}

#[test]
fn a_colon_is_mended_beside_json_metadata_of_several_lines() {
    insta::assert_snapshot!(header(
        "name: ship\ndescription: Optimise: fast\nmetadata: {\n  \"openclaw\": {\n    \"os\": [\"darwin\"],\n    \"requires\": {\"bins\": [\"top\",],},\n  },\n}\n"
    ), @"
    ship | Optimise: fast
    3:14 warning M006 the value of `description` is not valid YAML as it stands [quote the value of `description`: 'Optimise: fast']
    ");
}

#[test]
fn values_that_begin_with_a_reserved_character_are_mended() {
    insta::assert_snapshot!(header("name: ship\ndescription: , a guide\nargument-hint: [date] [duration]\nhomepage: @me\n"), @"
    ship | , a guide
    3:14 warning M006 the value of `description` is not valid YAML as it stands [quote the value of `description`: ', a guide']
    4:1 note M040 `argument-hint` is not a field of the format
    4:16 warning M006 the value of `argument-hint` is not valid YAML as it stands [quote the value of `argument-hint`: '[date] [duration]']
    5:1 note M040 `homepage` is not a field of the format
    5:11 warning M006 the value of `homepage` is not valid YAML as it stands [quote the value of `homepage`: '@me']
    ");
    insta::assert_snapshot!(header("name: ship\ndescription: `cmd` runs\n"), @"
    ship | `cmd` runs
    3:14 warning M006 the value of `description` is not valid YAML as it stands [quote the value of `description`: '`cmd` runs']
    ");
    insta::assert_snapshot!(header("name: ship\ndescription: %d of them\n"), @"
    ship | %d of them
    3:14 warning M006 the value of `description` is not valid YAML as it stands [quote the value of `description`: '%d of them']
    ");
    insta::assert_snapshot!(header("name: ship\ndescription: *all* of them & more\n"), @"
    ship | *all* of them & more
    3:14 warning M006 the value of `description` is not valid YAML as it stands [quote the value of `description`: '*all* of them & more']
    ");
}

#[test]
fn a_value_folded_over_lines_is_mended_whole() {
    insta::assert_snapshot!(header("name: ship\ndescription: first\n  then: second\n"), @"
    ship | first then: second
    3:14 warning M006 the value of `description` is not valid YAML as it stands [quote the value of `description`: 'first then: second']
    ");
}

#[test]
fn what_yaml_refuses_is_pointed_at_whichever_way_the_header_is_read() {
    for blank in ['\t', '\u{b}', '\u{c}', '\u{85}', '\u{a0}', '\u{3000}'] {
        let text = format!("name: ship\ndescription: ships{blank}\n");
        assert_eq!(header(&text), header(&text.replace('\n', "\r\n")), "{blank:?}");
    }
    let remark = "# a\u{1}b\nname: ship\ndescription: ships\n";
    assert_eq!(header(remark), header(&remark.replace('\n', "\r\n")));
    insta::assert_snapshot!(header("name: ship\ndescription: ships\u{b}\n"), @r"
    unusable
    3:14 error M003 the header is not valid YAML: unexpected character: `\u{b}'
    ");
}

#[test]
fn a_value_that_refers_to_another_is_not_taken_for_a_broken_one() {
    insta::assert_snapshot!(header("name: &n ship\ndescription: ships: it\nlicense: *n\nmetadata: {author: *n}\n"), @"
    ship | ships: it
    2:10 note M011 the header uses an anchor, an alias or a tag
    3:14 warning M006 the value of `description` is not valid YAML as it stands [quote the value of `description`: 'ships: it']
    ");
    insta::assert_snapshot!(header("name: ship\ndescription: *all* of: them\n"), @"
    ship | *all* of: them
    3:14 warning M006 the value of `description` is not valid YAML as it stands [quote the value of `description`: '*all* of: them']
    ");
}

#[test]
fn quotes_inside_quotes_are_mended() {
    insta::assert_snapshot!(header("name: ship\ndescription: \"say \"go\" twice\"\n"), @r#"
    ship | say "go" twice
    3:14 warning M006 the value of `description` is not valid YAML as it stands [quote the value of `description`: 'say "go" twice']
    "#);
}

#[test]
fn a_brace_at_the_margin_closes_the_metadata() {
    insta::assert_snapshot!(header("name: ship\ndescription: d\nmetadata: {\"openclaw\": {\"os\": [\"linux\"]}\n}\n"), @"ship | d");
}

#[test]
fn a_missing_brace_closes_the_gate_and_keeps_the_rest() {
    let text =
        "name: ship\ndescription: d\nmetadata: {\"openclaw\": {\"requires\": {\"bins\": [\"x\"]}\n";
    insta::assert_snapshot!(header(text), @"
    ship | d
    4:11 warning M006 the value of `metadata` is not valid YAML as it stands
    4:11 error M045 what the skill requires cannot be read: `metadata` is text, and not a JSON object
    ");
    let manifest = manifest("metadata: {\"openclaw\": {\"requires\": {\"bins\": [\"x\"]}\n");
    assert!(matches!(manifest.gate, Gate::Unreadable(_)));
}

#[test]
fn a_header_with_hundreds_of_broken_entries_is_not_mended() {
    let remarks = |count: usize| {
        let broken: String = (0..count).map(|index| format!("key-{index}: a: b\n")).collect();
        let rendered = header(&format!("name: ship\ndescription: Ships.\n{broken}"));
        (rendered.matches("M006").count(), rendered.matches("M003").count())
    };
    assert_eq!(remarks(60), (60, 0));
    assert_eq!(remarks(100_000), (0, 1));
}

#[test]
fn conflict_markers_are_not_guessed_at() {
    insta::assert_snapshot!(header("name: ship\n<<<<<<< HEAD\ndescription: a: b\n=======\ndescription: c\n>>>>>>> x\n"), @"
    unusable
    3:1 error M003 the header is not valid YAML: simple key expected ':'
    ");
}

#[test]
fn a_header_that_a_formatter_broke_says_what_is_missing() {
    insta::assert_snapshot!(outcome("---\n\n## name: ship\ndescription: d\n\nText\n\n---\n"), @"
    unusable
    6:1 error M003 the header is not valid YAML: simple key expected ':'
    ");
}

#[test]
fn duplicate_keys_name_both_places() {
    insta::assert_snapshot!(header("name: ship\ndescription: a\nname: boat\n"), @"
    unusable
    4:1 error M005 the key `name` stands twice (2:1 it stands here first)
    ");
    insta::assert_snapshot!(header("name: ship\ndescription: a\nmetadata:\n  a: 1\n  a: 2\n"), @"
    unusable
    6:3 error M005 the key `a` stands twice (5:3 it stands here first)
    ");
}

#[test]
fn tabs_that_yaml_refuses_are_pointed_at() {
    insta::assert_snapshot!(header("name: ship\ndescription: d\nmetadata:\n\topenclaw:\n\t\tos: linux\n"), @"
    unusable
    5:2 error M003 the header is not valid YAML: tabs disallowed within this context (block indentation)
    ");
}

#[test]
fn an_alias_bomb_is_refused() {
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let below = format!("*a{}", level - 1);
        writeln!(bomb, "a{level}: &a{level} [{}]", [below.as_str(); 10].join(", ")).unwrap();
    }
    insta::assert_snapshot!(header(&bomb), @"
    unusable
    5:45 error M007 the header is too large when its aliases are expanded
    ");
}

#[test]
fn nesting_through_aliases_is_bounded_too() {
    let mut chain = String::from("a0: &a0 [x]\n");
    for level in 1..40 {
        writeln!(chain, "a{level}: &a{level} [*a{}]", level - 1).unwrap();
    }
    insta::assert_snapshot!(header(&chain), @"
    unusable
    33:12 error M007 the header is too deeply nested
    ");
    let brackets = "[".repeat(20_000);
    insta::assert_snapshot!(header(&format!("a: {brackets}\n")).replace(&brackets, "[…"), @"
    unusable
    2:1 warning M020 `name` is missing [add the folder's name: name: ship]
    2:1 error M030 `description` is missing
    2:1 note M040 `a` is not a field of the format
    2:4 warning M006 the value of `a` is not valid YAML as it stands
    ");
}

#[test]
fn anchors_and_tags_are_read_and_noted() {
    insta::assert_snapshot!(header("name: &n ship\ndescription: !!str 12\nlicense: *n\n"), @"
    ship | 12
    2:10 note M011 the header uses an anchor, an alias or a tag
    ");
}

#[test]
fn block_scalars_and_carriage_returns_are_fine() {
    insta::assert_snapshot!(header("name: ship\ndescription: >\n  two\n  lines\n"), @"ship | two lines");
    insta::assert_snapshot!(outcome("---\r\nname: ship\r\ndescription: |\r\n  two\r\n  lines\r\n---\r\nBody"), @"
    ship | two
    lines
    ");
}

#[test]
fn a_byte_order_mark_hides_nothing() {
    insta::assert_snapshot!(outcome("\u{feff}---\nname: ship\ndescription: d\n---\n"), @"
    ship | d
    1:1 note M012 the file starts with a byte order mark [remove it: ]
    ");
}

#[test]
fn bytes_that_are_not_utf8_are_pointed_at() {
    let (text, diagnostic) = decode(b"---\nname: ship\ndescription: caf\xe9\n---\n");
    let diagnostic = diagnostic.unwrap();
    let place = LineIndex::new(&text).position(diagnostic.span.start);
    assert_eq!((place.line, place.column), (3, 17));
    insta::assert_snapshot!(outcome(&text), @"ship | caf�");
}

#[test]
fn a_file_without_a_header_is_used_only_if_the_caller_asks() {
    let text = "# Ship\n\nSends *it*\nout.\n\nMore.\n";
    insta::assert_snapshot!(outcome(text), @"
    unusable
    1:1 error M001 the file does not start with a `---` line
    ");
    insta::assert_snapshot!(render(text, &read(text, &options(WithoutHeader::FirstParagraph))), @"
    ship | Sends it out.
    1:1 warning M013 there is no header; the folder and the first paragraph stand in for it
    ");
    let unclosed = "---\nname: ship\ndescription: d\n";
    insta::assert_snapshot!(render(unclosed, &read(unclosed, &options(WithoutHeader::FirstParagraph))), @"
    unusable
    1:1 error M002 the header is never closed by a `---` line
    ");
}

#[test]
fn what_is_not_a_mapping_is_not_a_header() {
    insta::assert_snapshot!(header("just text\n"), @"
    unusable
    2:1 error M004 the header is a string, not a mapping of fields
    ");
    insta::assert_snapshot!(header("- a\n- b\n"), @"
    unusable
    2:1 error M004 the header is a list, not a mapping of fields
    ");
    insta::assert_snapshot!(header(""), @"
    unusable
    2:1 error M004 the header is nothing, not a mapping of fields
    ");
}

#[test]
fn names_are_judged_rule_by_rule() {
    insta::assert_snapshot!(header("description: d\n"), @"
    ship | d
    2:1 warning M020 `name` is missing [add the folder's name: name: ship]
    ");
    insta::assert_snapshot!(header("name: ''\ndescription: d\n"), @"
    ship | d
    2:1 warning M021 `name` is not a non-empty string
    ");
    insta::assert_snapshot!(header("name: [a]\ndescription: d\n"), @"
    ship | d
    2:1 warning M021 `name` is not a non-empty string
    ");
    insta::assert_snapshot!(header("name: Ship\ndescription: d\n"), @"
    Ship | d
    2:7 warning M023 `Ship` is not lowercase [rename to `ship`: ship]
    2:7 warning M027 the name `Ship` is not the name of the folder, `ship`
    ");
    insta::assert_snapshot!(header("name: my_ship\ndescription: d\n"), @"
    my_ship | d
    2:7 warning M026 `my_ship` has characters other than letters, digits and hyphens
    2:7 warning M027 the name `my_ship` is not the name of the folder, `ship`
    ");
    insta::assert_snapshot!(header("name: ../../etc\ndescription: d\n"), @"
    unusable
    2:7 error M028 `../../etc` cannot be a name: it contains a path separator
    ");
    insta::assert_snapshot!(header("name: </name><x>\ndescription: d\n"), @"
    unusable
    2:7 error M028 `</name><x>` cannot be a name: it contains a path separator
    ");
}

#[test]
fn a_skill_without_a_usable_description_is_unusable() {
    insta::assert_snapshot!(header("name: ship\nsummary: s\n"), @"
    unusable
    2:1 error M030 `description` is missing
    3:1 note M040 `summary` is not a field of the format
    ");
    insta::assert_snapshot!(header("name: ship\ndescription:\n"), @"
    unusable
    3:1 error M031 `description` is empty
    ");
    insta::assert_snapshot!(header("name: ship\ndescription: [a]\n"), @"
    unusable
    3:1 error M031 `description` is a list, not a string
    ");
    insta::assert_snapshot!(header(&format!("name: ship\ndescription: {}\n", "x".repeat(1030))).replace(&"x".repeat(1030), "x…"), @"
    ship | x…
    3:14 warning M032 the description has 1030 characters, 6 more than the format allows
    ");
}

#[test]
fn tools_may_be_a_list_and_keep_their_arguments() {
    let tools = |lines: &str| manifest(lines).allowed_tools.join(" | ");
    assert_eq!(
        tools("allowed-tools: Bash(jq:*) Bash(git log:*) Read\n"),
        "Bash(jq:*) | Bash(git log:*) | Read"
    );
    assert_eq!(tools("allowed-tools: [Read, Bash(git:*)]\n"), "Read | Bash(git:*)");
    assert_eq!(tools("allowed-tools: {a: b}\n"), "");
    insta::assert_snapshot!(header("name: ship\ndescription: d\nallowed-tools:\n  - Read\n  - Bash\n"), @"
    ship | d
    5:3 note M044 `allowed-tools` is a list; the format wants one string [write it as one string: 'Read Bash']
    ");
}

#[test]
fn unknown_fields_are_kept_and_noted() {
    insta::assert_snapshot!(header("name: ship\ndescription: d\nauthor: me\nuser_invocable: no\n"), @"
    ship | d
    4:1 note M040 `author` is not a field of the format
    5:1 note M040 `user_invocable` is not a field of the format
    ");
    assert_eq!(manifest("author: me\nversion: 2\n").unknown_fields, ["author"]);
}

#[test]
fn a_switch_that_cannot_be_read_closes() {
    let invocation = |lines: &str| {
        let invocation = manifest(lines).invocation;
        (invocation.by_user, invocation.by_model)
    };
    assert_eq!(invocation(""), (true, true));
    assert_eq!(invocation("user-invocable: No\ndisable-model-invocation: ON\n"), (false, false));
    assert_eq!(
        invocation("user_invocable: maybe\ndisable_model_invocation: perhaps\n"),
        (false, false)
    );
}

#[test]
fn commands_go_to_a_tool_only_if_they_name_it() {
    let dispatch = |lines: &str| manifest(lines).invocation.dispatch.map(|dispatch| dispatch.tool);
    assert_eq!(dispatch("command-dispatch: tool\ncommand_tool: exec\n").as_deref(), Some("exec"));
    assert_eq!(dispatch("command-dispatch: tool\n"), None);
    assert_eq!(dispatch("command-dispatch: magic\ncommand-tool: exec\n"), None);
    assert_eq!(dispatch("command-dispatch: tool\ncommand-tool: x\ncommand-arg-mode: json\n"), None);
}

#[test]
fn requirements_are_read_from_yaml_json_and_json5_text() {
    let gate = |lines: &str| match manifest(lines).gate {
        Gate::Readable(it) => format!(
            "always={} os={:?} bins={:?} any={:?} env={:?} config={:?} key={:?}",
            it.always, it.os, it.bins, it.any_bins, it.env, it.config, it.skill_key
        ),
        Gate::Unreadable(reason) => format!("unreadable: {reason}"),
    };
    let cases = [
        "metadata:\n  metier:\n    always: true\n    requires: {bins: [a, b], anyBins: c, env: 'D, E'}\n",
        "metadata: {\"openclaw\": {\"skillKey\": \"k\", \"os\": \"linux,darwin\", \"requires\": {\"config\": [\"x.y\"],},},}\n",
        "metadata:\n  clawdbot: |\n    // why\n    {requires: {bins: ['a',],},}\n",
        "metadata:\n  openclaw: {requires: {bins: [theirs]}}\n  metier: {requires: {bins: [ours]}}\n",
        "metadata: '{\"openclaw\": {\"always\": \"yes\"}}'\n",
        "metadata:\n",
        "metadata:\n  author: me\n",
        "metadata: some text\n",
        "metadata: [a]\n",
        "metadata:\n  metier: {requires: text}\n",
        "metadata:\n  metier: {requires: {bins: [{a: b}]}}\n",
        "metadata:\n  metier: {always: maybe}\n",
        "metadata:\n  metier: [a]\n",
        "metadata:\n  metier: \"{\"\n",
    ];
    insta::assert_snapshot!(cases.map(gate).join("\n"), @r#"
    always=true os=[] bins=["a", "b"] any=["c"] env=["D", "E"] config=[] key=None
    always=false os=["linux", "darwin"] bins=[] any=[] env=[] config=["x.y"] key=Some("k")
    always=false os=[] bins=["a"] any=[] env=[] config=[] key=None
    always=false os=[] bins=["ours"] any=[] env=[] config=[] key=None
    always=true os=[] bins=[] any=[] env=[] config=[] key=None
    always=false os=[] bins=[] any=[] env=[] config=[] key=None
    always=false os=[] bins=[] any=[] env=[] config=[] key=None
    unreadable: `metadata` is text, and not a JSON object
    unreadable: `metadata` is a list
    unreadable: `requires` is text, and not a JSON object
    unreadable: `bins` has an entry that is no string
    unreadable: `always` is not a switch
    unreadable: `metadata.metier` is a list
    unreadable: `metadata.metier` is text, and not a JSON object
    "#);
}

#[test]
fn install_options_that_could_be_taken_for_something_else_are_refused() {
    let options = |spec: &str| {
        let lines = format!("metadata:\n  metier:\n    install: [{spec}]\n");
        let text = format!("---\nname: ship\ndescription: d\n{lines}---\n");
        let reading = read(&text, &options(WithoutHeader::Refuse));
        let refused = reading.diagnostics.into_iter().find(|it| it.code == Code::InstallRefused);
        match refused {
            Some(diagnostic) => diagnostic.message,
            None => {
                format!("{:?}", reading.manifest.unwrap().gate.requirements().unwrap().install[0])
            }
        }
    };
    let cases = [
        "{kind: brew, formula: steipete/tap/gifgrep, bins: [gifgrep], os: [darwin]}",
        "{kind: brew, formula: '--cask'}",
        "{kind: node, package: '@scope/pkg@^1.2'}",
        "{kind: node, package: 'git+ssh://x/y'}",
        "{kind: go, module: 'example.com/cmd/x@latest'}",
        "{kind: uv, package: 'ruff; rm -rf /'}",
        "{kind: apt, package: '../x.deb'}",
        "{kind: download, url: 'file:///etc/passwd'}",
        "{kind: download, url: 'https://example.com/x.tgz', sha256: beef}",
        "{kind: magic, package: x}",
        "{type: cargo, package: ripgrep, id: rg}",
        "{kind: pip}",
        "{kind: brew, formula: '../x'}",
        "{kind: brew, cask: some-app}",
        "{kind: uv, package: [a]}",
        "{kind: apt, package: 'openssh-server-'}",
        "{kind: go, module: example.com/x}",
        "{kind: node, package: x, id: '../x'}",
        "{kind: node, package: x, bins: ['../x']}",
        "{kind: node, package: x, os: {a: b}}",
        "{kind: download, url: 'http://example.com/x.tgz'}",
        "{kind: download, url: 'https://example.com/x.tgz', targetDir: '../..'}",
        "{kind: download, url: 'https://example.com/x.tgz', targetDir: /etc}",
        "{kind: download, url: 'https://example.com/x', archive: tar.bz2}",
        "{kind: download, url: 'https://example.com/x', extract: true}",
        "{kind: download, url: 'https://example.com/x', extract: perhaps}",
        "{kind: download, url: 'https://example.com/x.zip', stripComponents: -1}",
        "{kind: download, url: 'https://example.com/?x'}",
        "{kind: download, url: 'https://example.com/x.zip?y', stripComponents: 1, targetDir: a/b, extract: true}",
        "{kind: download, url: 'https://example.com/tool-1', bins: [tool]}",
        "{kind: download, url: 'https://example.com/x.zip', extract: false}",
        "{kind: uv, package: x, id: same}, {kind: pip, package: x, id: same}",
        "brew",
    ];
    insta::assert_snapshot!(cases.map(options).join("\n"), @r#"
    InstallOption { id: "brew-0", kind: Brew, label: None, target: "steipete/tap/gifgrep", bins: ["gifgrep"], os: ["darwin"], is_cask: false, download: None }
    this install option is not offered: `--cask` is not a target for `brew`
    InstallOption { id: "node-0", kind: Node, label: None, target: "@scope/pkg@^1.2", bins: [], os: [], is_cask: false, download: None }
    this install option is not offered: `git+ssh://x/y` is not a target for `node`
    InstallOption { id: "go-0", kind: Go, label: None, target: "example.com/cmd/x@latest", bins: [], os: [], is_cask: false, download: None }
    this install option is not offered: `ruff; rm -rf /` is not a target for `uv`
    this install option is not offered: `../x.deb` is not a target for `apt`
    this install option is not offered: `file:///etc/passwd` is not a target for `download`
    this install option is not offered: `sha256` is not a digest
    this install option is not offered: `magic` is not a kind of installer
    InstallOption { id: "rg", kind: Cargo, label: None, target: "ripgrep", bins: [], os: [], is_cask: false, download: None }
    this install option is not offered: `package` is missing
    this install option is not offered: `../x` is not a target for `brew`
    InstallOption { id: "brew-0", kind: Brew, label: None, target: "some-app", bins: [], os: [], is_cask: true, download: None }
    this install option is not offered: `package` is a list
    this install option is not offered: `openssh-server-` is not a target for `apt`
    this install option is not offered: `example.com/x` is not a target for `go`
    this install option is not offered: `../x` is not an id
    this install option is not offered: `../x` is not the name of a program
    this install option is not offered: `os` is a mapping
    this install option is not offered: a download over `http` needs a `sha256`: anybody on its way can change it
    this install option is not offered: `../..` is not a folder below that of the skill's tools
    this install option is not offered: `/etc` is not a folder below that of the skill's tools
    this install option is not offered: `tar.bz2` is not `zip`, `tar` or `tar.gz`
    this install option is not offered: it is not said what kind of `archive` to extract
    this install option is not offered: `extract` is not a switch
    this install option is not offered: `stripComponents` is not a number up to 16
    this install option is not offered: the address does not say what the file is called
    InstallOption { id: "download-0", kind: Download, label: None, target: "https://example.com/x.zip?y", bins: [], os: [], is_cask: false, download: Some(DownloadOption { sha256: None, archive: Some(Zip), strip: 1, folder: Some("a/b"), file: "x.zip" }) }
    InstallOption { id: "download-0", kind: Download, label: None, target: "https://example.com/tool-1", bins: ["tool"], os: [], is_cask: false, download: Some(DownloadOption { sha256: None, archive: None, strip: 0, folder: None, file: "tool" }) }
    InstallOption { id: "download-0", kind: Download, label: None, target: "https://example.com/x.zip", bins: [], os: [], is_cask: false, download: Some(DownloadOption { sha256: None, archive: None, strip: 0, folder: None, file: "x.zip" }) }
    this install option is not offered: another option has the id `same`
    this install option is not offered: `an install option` is text, and not a JSON object
    "#);
}

/// Headers close to real ones, so that the interesting branches are reached.
fn header_like() -> impl Strategy<Value = String> {
    let fragment = prop_oneof![
        Just("name: ".to_owned()),
        Just("description: ".to_owned()),
        Just("metadata: ".to_owned()),
        Just("allowed-tools: ".to_owned()),
        Just("\n".to_owned()),
        Just("\n  ".to_owned()),
        Just("---\n".to_owned()),
        "[\\[\\]{}:,&*!|>'\"%@`#\t \r-]{1,3}",
        "[a-zé技]{1,6}",
        "\\PC{0,4}",
    ];
    prop::collection::vec(fragment, 0..40).prop_map(|parts| parts.concat())
}

/// Headers with blocks and lists in them, indented well more often than not.
fn nested_like() -> impl Strategy<Value = String> {
    let key = prop_oneof![
        12 => "[a-f]{1,2}: ",
        1 => "[a-cB-D0-2_.é-]{1,4}:? ?",
        1 => Just("null: ".to_owned()),
        4 => Just("- ".to_owned()),
    ];
    let value = prop_oneof![
        8 => Just(String::new()),
        6 => "[a-c]{1,3}( [a-c:#]{1,2})?",
        4 => "\\[ ?[a-c]{1,2}(, ?[a-c0-2.-]{1,2} ?){0,2}\\]",
        2 => "\"[a-c: #',]{0,4}\"",
        2 => "'[a-c: #\",]{0,4}'",
        1 => "[ab:#'\"\\\\\\[\\],{}|>&*!?%@~\t é-]{1,5}",
        1 => Just("null".to_owned()),
    ];
    let end =
        prop_oneof![30 => Just("\n"), 1 => Just(" \n"), 1 => Just("\n\n"), 1 => Just(" # a\n")];
    let closed = prop_oneof![6 => Just(0_usize), 2 => Just(1), 1 => Just(2)];
    let astray = prop_oneof![30 => Just(0_usize), 1 => 1_usize..3];
    prop::collection::vec((key, value, end, closed, astray), 1..9).prop_map(|lines| {
        let (mut text, mut depth) = (String::new(), 0_usize);
        for (key, value, end, closed, astray) in lines {
            let indent = 2 * depth + astray;
            text += &format!("{:indent$}{}{end}", "", format!("{key}{value}").trim_end());
            depth = if value.is_empty() { depth + 1 } else { depth.saturating_sub(closed) };
        }
        text
    })
}

#[test]
fn keys_that_become_the_same_text_are_one() {
    let tree = yaml::parse("{? [a] : 1, '[\"a\"]': 2, ~: [b, ~], '': 4, c: {d: 'e\"'}}").unwrap();
    assert_eq!(tree.root.as_json(), tree.root.to_json().to_string());
    assert_eq!(tree.root.as_json(), r#"{"[\"a\"]":"2","":"4","c":{"d":"e\""}}"#);
}

#[test]
fn usual_headers_are_written_plainly() {
    let header = "name: ship\ndescription: \"Ships: all of it\"\nmetadata:\n  author: 'me'\n  metier:\n    \
                  requires:\n      bins: [git, sh]\n      anyBins:\n        - jq\n        - \"gojq\"\n    \
                  emoji: x\nlicense: MIT\n";
    let entries = entries::entries(header).unwrap();
    for entry in &entries {
        let plain = quick::plain(header, entry);
        assert!(plain.is_some(), "{:?}", entry.span.slice(header));
        assert_eq!(plain, quick::apart(header, entry));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_give_a_result_with_places_inside_the_text(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let (text, _) = decode(&bytes);
        check_places(&text);
    }

    #[test]
    fn any_header_gives_a_result_with_places_inside_the_text(lines in header_like()) {
        check_places(&format!("---\n{lines}\n---\nBody"));
    }

    #[test]
    fn the_short_way_gives_what_the_parser_gives(lines in prop_oneof![header_like(), nested_like()]) {
        for text in [lines.clone(), format!("name: a\n{lines}"), format!("{lines}\nlicense: MIT # x\n")] {
            if let Some(quick) = quick::parse(&text) {
                prop_assert_eq!(quick.root.as_json(), quick.root.to_json().to_string());
                let whole = yaml::parse(&text).map(|tree| shape(&tree));
                prop_assert_eq!(Ok(shape(&quick)), whole, "{:?}", text);
            }
        }
    }

    #[test]
    fn what_is_written_plainly_stands_where_the_parser_finds_it(lines in nested_like()) {
        for entry in entries::entries(&lines).unwrap_or_default() {
            if let Some(plain) = quick::plain(&lines, &entry) {
                prop_assert_eq!(Some(plain), quick::apart(&lines, &entry), "{:?}", lines);
            }
        }
    }

    #[test]
    fn what_fixes_mend_stays_mended(lines in header_like()) {
        let text = format!("---\n{lines}\n---\nBody");
        let fixed = fix::apply_until_stable(&text, |text| {
            read(text, &options(WithoutHeader::Refuse)).diagnostics
        });
        let after = read(&fixed, &options(WithoutHeader::Refuse));
        prop_assert!(after.diagnostics.iter().all(|it| it.fix.is_none()), "{fixed:?} {after:?}");
        let before = read(&text, &options(WithoutHeader::Refuse));
        if let (Some(before), Some(after)) = (before.manifest, after.manifest) {
            prop_assert_eq!(before.description, after.description);
            prop_assert_eq!(before.gate, after.gate);
        }
    }
}

/// What a tree says, and where its fields stand. The parser places the end of a value without
/// content differently when something follows it.
fn shape(tree: &yaml::Tree) -> (serde_json::Value, Vec<crate::text::Span>, bool) {
    let keys = match &tree.root.kind {
        Kind::Mapping(entries) => entries.iter().map(|(key, _)| key.span).collect(),
        _ => Vec::new(),
    };
    (tree.root.to_json(), keys, tree.feature.is_some())
}

fn check_places(text: &str) {
    for without_header in [WithoutHeader::Refuse, WithoutHeader::FirstParagraph] {
        let reading = read(text, &options(without_header));
        assert!(reading.manifest.is_some() || !reading.diagnostics.is_empty());
        let spans = reading.diagnostics.iter().flat_map(|diagnostic| {
            let edits = diagnostic.fix.iter().flat_map(|fix| &fix.edits).map(|edit| edit.span);
            edits.chain([diagnostic.span]).collect::<Vec<_>>()
        });
        for span in spans {
            assert!(text.get(span.start..span.end).is_some(), "{span:?} in {text:?}");
        }
    }
}

#[test]
fn no_install_option_goes_to_the_folder_of_another() {
    let refused = |one: &str, two: &str| {
        let option =
            |more: &str| format!("{{kind: download, url: 'https://example.com/x', {more}}}");
        let list = format!("install: [{}, {}]", option(one), option(two));
        let text =
            format!("---\nname: ship\ndescription: d\nmetadata:\n  metier:\n    {list}\n---\n");
        let manifest = read(&text, &options(WithoutHeader::Refuse)).manifest.unwrap();
        manifest.gate.requirements().unwrap().refused.len()
    };
    assert_eq!(refused("id: a", "id: b"), 0);
    assert_eq!(refused("id: a, targetDir: x", "id: b, targetDir: y"), 0);
    assert_eq!(refused("targetDir: x, os: [linux]", "targetDir: x, os: [darwin]"), 0);
    assert_eq!(refused("targetDir: x", "targetDir: x"), 1);
    assert_eq!(refused("targetDir: x", "targetDir: x/y"), 1);
    assert_eq!(refused("targetDir: x/y, os: [linux]", "targetDir: x"), 1);
    assert_eq!(refused("id: a", "targetDir: a"), 1);
    assert_eq!(refused("targetDir: models", "targetDir: models-2"), 0);
}

#[test]
fn a_refused_install_option_is_kept_with_its_reason_and_its_place() {
    let text = "---\nname: ship\ndescription: d\nmetadata:\n  metier:\n    install:\n      - {kind: uv, package: ruff}\n      \
        - kind: brew\n        formula: --cask\n      - {kind: magic, id: trick}\n      - {kind: pip, package: x, script: rm}\n---\n";
    let reading = read(text, &options(WithoutHeader::Refuse));
    let requirements = reading.manifest.as_ref().unwrap().gate.requirements().unwrap();
    let refused = requirements.refused.iter().map(|it| format!("{}: {}", it.id, it.reason));
    let noticed = reading
        .diagnostics
        .iter()
        .map(|it| format!("{} {:?} {}", it.code, &text[it.span.start..it.span.end], it.message));
    insta::assert_snapshot!(refused.chain(noticed).collect::<Vec<_>>().join("\n"), @r#"
    #2: `--cask` is not a target for `brew`
    trick: `magic` is not a kind of installer
    M047 "--cask" this install option is not offered: `--cask` is not a target for `brew`
    M047 "{kind: magic, id: trick}" this install option is not offered: `magic` is not a kind of installer
    M040 "script" `install[].script` is not a field of install options
    "#);
    assert_eq!(requirements.install.len(), 2);
}
