//! `skills list --json`: the contract with programs.

use std::fs;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::Duration;

use insta::assert_snapshot;
use metier_testkit::TestEnv;
use serde_json::{Value, json};

use crate::{environment, json, run, run_own, write_skill};

const LIST: &str = "skills list --json";

/// A skill that is ready, one that lacks everything, one of the user's own, one that is broken.
fn with_all_kinds() -> TestEnv {
    let env = environment();
    write_skill(&env, "ready", "name: ready\ndescription: Ready at once. Use when asked.");
    write_skill(
        &env,
        "lacking",
        "name: lacking\ndescription: Lacks everything: all of it.\n\
         disable-model-invocation: true\n\
         metadata:\n  metier:\n    os: [plan9]\n    requires:\n      bins: [nosuch]\n      \
         anyBins: [neither, nor]\n      env: [NO_SUCH]\n      config: [skills.extra_dirs]",
    );
    write_skill(&env, "broken", "name: broken");
    env
}

#[test]
fn the_document_has_every_field_of_the_contract() {
    assert_snapshot!(run_own(&with_all_kinds(), LIST), @r#"
    exit 0
    ----- stdout
    {
      "version": 1,
      "skills": [
        {
          "name": "lacking",
          "description": "Lacks everything: all of it.",
          "source": "flag",
          "path": "[PROJECT]/skills/lacking/SKILL.md",
          "eligible": false,
          "model_visible": false,
          "user_invocable": false,
          "missing": {
            "bins": [
              "nosuch"
            ],
            "any_bins": [
              "neither",
              "nor"
            ],
            "env": [
              "NO_SUCH"
            ],
            "config": [
              "skills.extra_dirs"
            ],
            "os": [
              "plan9"
            ]
          },
          "shadows": []
        },
        {
          "name": "ready",
          "description": "Ready at once. Use when asked.",
          "source": "flag",
          "path": "[PROJECT]/skills/ready/SKILL.md",
          "eligible": true,
          "model_visible": true,
          "user_invocable": true,
          "missing": {
            "bins": [],
            "any_bins": [],
            "env": [],
            "config": [],
            "os": []
          },
          "shadows": []
        }
      ],
      "problems": [
        {
          "code": "M030",
          "severity": "error",
          "path": "[PROJECT]/skills/broken/SKILL.md",
          "line": 2,
          "column": 1,
          "message": "`description` is missing",
          "help": "say what the skill does and when to use it"
        },
        {
          "code": "M006",
          "severity": "warning",
          "path": "[PROJECT]/skills/lacking/SKILL.md",
          "line": 3,
          "column": 14,
          "message": "the value of `description` is not valid YAML as it stands",
          "help": "put quotes around the value"
        }
      ],
      "catalog": {
        "total": 1,
        "full": 1,
        "shortened": 0,
        "names_only": 0,
        "unlisted": 0,
        "tokens": 17
      }
    }
    ----- stderr
    "#);
}

#[test]
fn without_skills_the_document_is_still_there() {
    assert_snapshot!(run(&environment(), "skills list --json --no-default-sources"), @r#"
    exit 0
    ----- stdout
    {
      "version": 1,
      "skills": [],
      "problems": [],
      "catalog": {
        "total": 0,
        "full": 0,
        "shortened": 0,
        "names_only": 0,
        "unlisted": 0,
        "tokens": 0
      }
    }
    ----- stderr
    "#);
}

#[test]
fn skills_and_problems_are_sorted_whatever_the_order_on_disk() {
    let env = environment();
    for name in ["zeta", "alpha", "mid-2", "mid-10", "mid"] {
        write_skill(&env, name, &format!("name: {name}\ndescription: One: two."));
    }
    let listed = json(&run_own(&env, LIST));
    let column = |list: &str, field: &str| -> Vec<Value> {
        let rows = listed[list].as_array().expect("a list");
        rows.iter().map(|row| row[field].clone()).collect()
    };
    assert_eq!(json!(column("skills", "name")), json!(["alpha", "mid", "mid-10", "mid-2", "zeta"]));
    let paths = column("problems", "path");
    assert_eq!(paths.len(), 5);
    assert!(paths.is_sorted_by_key(|path| path.as_str().map(PathBuf::from)), "{paths:?}");
}

#[test]
fn a_cold_and_a_warm_cache_give_the_same_bytes() {
    let env = with_all_kinds();
    // Files that changed a moment ago are not remembered.
    sleep(Duration::from_millis(50));
    let cold = run_own(&env, LIST);
    let headers = env.home().join(".metier/cache/headers");
    assert_eq!(fs::read_dir(&headers).expect("a cache").count(), 1);
    assert_eq!(run_own(&env, LIST), cold);
    fs::remove_dir_all(env.home().join(".metier")).expect("a state directory");
    assert_eq!(run_own(&env, LIST), cold);
}

#[test]
fn a_warm_cache_does_not_hide_a_change() {
    let env = environment();
    let ready = |text: &str| format!("name: ready\ndescription: {text}");
    write_skill(&env, "ready", &ready("One. Use when asked."));
    sleep(Duration::from_millis(50));
    let description = |env: &TestEnv| json(&run_own(env, LIST))["skills"][0]["description"].clone();
    assert_eq!(description(&env), "One. Use when asked.");
    // Of the same length, so that only the times differ.
    write_skill(&env, "ready", &ready("Two. Use when asked."));
    assert_eq!(description(&env), "Two. Use when asked.");
    fs::remove_dir_all(env.project().join("skills/ready")).expect("the skill");
    assert_eq!(json(&run_own(&env, LIST))["skills"], json!([]));
}

#[test]
fn what_is_switched_off_is_listed_on_demand() {
    let env = with_all_kinds();
    let names = |line: &str| -> Vec<Value> {
        let listed = json(&run_own(&env, line));
        listed["skills"].as_array().expect("a list").iter().map(|it| it["name"].clone()).collect()
    };
    assert_eq!(names("skills list --json --skill ready"), ["ready"]);
    assert_eq!(names("skills list --json --skill ready --all"), ["lacking", "ready"]);
    assert_eq!(names("skills list --json --no-skills"), [] as [Value; 0]);
}

#[test]
fn the_catalog_counts_what_a_model_is_told() {
    let env = environment();
    for number in 0..30 {
        let text =
            format!("Number {number} does a long list of things for many people. Use when asked.");
        write_skill(
            &env,
            &format!("group-{number}"),
            &format!("name: group-{number}\ndescription: {text}"),
        );
    }
    let report = |tokens: &str| {
        env.write("home/.metier/config.toml", format!("skills.catalog_tokens = {tokens}"));
        json(&run_own(&env, LIST))["catalog"].to_string()
    };
    assert_snapshot!(report("4000"), @r#"{"total":30,"full":30,"shortened":0,"names_only":0,"unlisted":0,"tokens":724}"#);
    assert_snapshot!(report("550"), @r#"{"total":30,"full":0,"shortened":30,"names_only":0,"unlisted":0,"tokens":544}"#);
    assert_snapshot!(report("300"), @r#"{"total":30,"full":0,"shortened":0,"names_only":30,"unlisted":0,"tokens":184}"#);
    assert_snapshot!(report("150"), @r#"{"total":30,"full":0,"shortened":0,"names_only":0,"unlisted":30,"tokens":33}"#);
}
