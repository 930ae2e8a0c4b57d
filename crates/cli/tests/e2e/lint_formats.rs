//! `skills lint` for programs: JSON and SARIF.

use insta::assert_snapshot;

use crate::lint::with_findings;
use crate::{compact, environment, json, run, write_skill};

#[test]
fn programs_read_an_array() {
    assert_snapshot!(run(&with_findings(), "skills lint skills --json"), @r#"
    exit 0
    ----- stdout
    [
      {
        "code": "M023",
        "severity": "warning",
        "path": "skills/pipes/SKILL.md",
        "line": 2,
        "column": 7,
        "end_line": 2,
        "end_column": 12,
        "message": "`Pipes` is not lowercase",
        "help": "call it `pipes`, and the folder too",
        "fix": {
          "title": "rename to `pipes`",
          "edits": [
            {
              "line": 2,
              "column": 7,
              "end_line": 2,
              "end_column": 12,
              "replacement": "pipes"
            }
          ]
        }
      },
      {
        "code": "M027",
        "severity": "warning",
        "path": "skills/pipes/SKILL.md",
        "line": 2,
        "column": 7,
        "end_line": 2,
        "end_column": 12,
        "message": "the name `Pipes` is not the name of the folder, `pipes`",
        "help": "rename one of the two"
      },
      {
        "code": "M006",
        "severity": "warning",
        "path": "skills/pipes/SKILL.md",
        "line": 3,
        "column": 14,
        "end_line": 3,
        "end_column": 62,
        "message": "the value of `description` is not valid YAML as it stands",
        "help": "put quotes around the value",
        "fix": {
          "title": "quote the value of `description`",
          "edits": [
            {
              "line": 3,
              "column": 14,
              "end_line": 3,
              "end_column": 62,
              "replacement": "'Mends pipes: all of them. Use when a pipe leaks.'"
            }
          ]
        }
      },
      {
        "code": "M040",
        "severity": "note",
        "path": "skills/pipes/SKILL.md",
        "line": 4,
        "column": 1,
        "end_line": 4,
        "end_column": 7,
        "message": "`author` is not a field of the format",
        "help": "put fields of your own under `metadata`"
      },
      {
        "code": "M066",
        "severity": "warning",
        "path": "skills/pipes/scripts/mend",
        "line": 1,
        "column": 1,
        "end_line": 1,
        "end_column": 1,
        "message": "nothing says what runs this script",
        "help": "start it with a line like `#!/usr/bin/env python3`, or give it an ending"
      }
    ]
    ----- stderr
    "#);
    assert_eq!(
        run(&with_findings(), "skills lint skills --json"),
        run(&with_findings(), "skills lint skills --format json")
    );
}

#[test]
fn a_clean_skill_gives_an_empty_array() {
    let env = environment();
    write_skill(&env, "clean", "name: clean\ndescription: Does it. Use when asked.");
    assert_snapshot!(compact(&run(&env, "skills lint skills --json --strict")), @"0 | [] |");
    assert_snapshot!(compact(&run(&env, "skills lint skills --strict")), @"0 |  | 1 skill: 0 errors, 0 warnings, 0 notes");
}

#[test]
fn sarif_has_what_the_standard_requires() {
    let outcome = run(&with_findings(), "skills lint skills --strict --format sarif");
    assert_eq!(outcome.code, 1);
    let report = json(&outcome);
    assert_eq!(report["version"], "2.1.0");
    assert_eq!(report["$schema"], "https://json.schemastore.org/sarif-2.1.0.json");
    let run = &report["runs"][0];
    let driver = &run["tool"]["driver"];
    assert_eq!(driver["name"], "metier");
    let rules: Vec<&str> = driver["rules"]
        .as_array()
        .unwrap()
        .iter()
        .map(|rule| rule["id"].as_str().unwrap())
        .collect();
    assert!(rules.len() > 50 && rules.is_sorted());
    for rule in driver["rules"].as_array().unwrap() {
        for place in ["/shortDescription/text", "/fullDescription/text", "/help/text"] {
            assert!(rule.pointer(place).is_some_and(|it| it.as_str() > Some("")), "{place} {rule}");
        }
        assert!(rule["help"]["markdown"].as_str().unwrap().contains("\n**Bad**\n"), "{rule}");
    }
    let results = run["results"].as_array().unwrap();
    assert!(results.len() >= 4);
    for result in results {
        assert!(rules.contains(&result["ruleId"].as_str().unwrap()), "{result}");
        assert!(["error", "warning", "note"].contains(&result["level"].as_str().unwrap()));
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        let place = &result["locations"][0]["physicalLocation"];
        let uri = place["artifactLocation"]["uri"].as_str().unwrap();
        assert!(uri.starts_with("skills/pipes/"), "{uri}");
        for field in ["startLine", "startColumn", "endLine", "endColumn"] {
            assert!(place["region"][field].as_u64().is_some_and(|it| it > 0), "{result}");
        }
        let fixes = result["fixes"].as_array().into_iter().flatten();
        for change in fixes.flat_map(|fix| fix["artifactChanges"].as_array().unwrap()) {
            assert_eq!(change["artifactLocation"]["uri"], uri);
            assert!(change["replacements"][0]["deletedRegion"]["startLine"].is_u64());
        }
    }
    assert!(results.iter().any(|result| result["fixes"].is_array()));
}

#[test]
fn sarif_addresses_are_addresses() {
    let env = environment();
    env.write("project/a b#c?/ü/SKILL.md", "no header, no paragraph of its own\n");
    let report = json(&env.run(["skills", "lint", "a b#c?", "--format", "sarif"]));
    let uri = &report["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(uri["artifactLocation"]["uri"], "a%20b%23c%3F/%C3%BC/SKILL.md");
}
