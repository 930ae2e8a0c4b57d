//! The list, made by hand from a few lines, and that of this workspace as it is.

use std::collections::BTreeSet;

use super::*;
use crate::dist::build;

const LINES: &str = "\
0|metier v0.1.0 (/src/crates/cli)|MIT OR Apache-2.0||
1|clap v4.6.7|MIT OR Apache-2.0|default,derive|
2|strsim v0.11.1|MIT||
1|tiktoken v4.1.2|MIT/Apache-2.0|vocab|
2|strsim v0.11.1|MIT|| (*)
";

fn embedded() -> Embedded {
    Embedded {
        kind: "data",
        name: "o200k_base".to_owned(),
        version: "4.1.2".to_owned(),
        license: "MIT",
        copyright: Some("Copyright (c) 2022 OpenAI"),
        purl: "pkg:cargo/tiktoken@4.1.2#words".to_owned(),
        cpe: None,
        digest: Some("00".to_owned()),
        notice: None,
        user: ("tiktoken".to_owned(), "4.1.2".to_owned()),
    }
}

#[test]
fn a_crate_is_there_once_and_what_is_deeper_is_used_by_what_is_above_it() {
    let mut tree = Tree::parse(LINES).unwrap();
    let lock = "[[package]]\nname = \"strsim\"\nversion = \"0.11.1\"\nchecksum = \"7da8\"\n";
    tree.add_digests(&lock::digests(lock).unwrap());
    let shown: String = tree
        .crates
        .iter()
        .map(|(id, it)| {
            let uses = it.uses.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(" ");
            let digest = it.digest.as_deref().unwrap_or("-");
            format!("{} | {} | {uses} | {digest}\n", id.0, it.license)
        })
        .collect();
    insta::assert_snapshot!(shown, @"
    clap | MIT OR Apache-2.0 | strsim | -
    metier | MIT OR Apache-2.0 | clap tiktoken | -
    strsim | MIT |  | 7da8
    tiktoken | MIT OR Apache-2.0 | strsim | -
    ");
}

#[test]
fn a_line_that_is_not_understood_is_an_error() {
    for lines in ["", "0|metier|MIT||\n", "metier v0.1.0\n", "0|a v1|MIT||\n2|b v1|MIT||\n"] {
        assert!(Tree::parse(lines).is_err(), "{lines:?}");
    }
}

#[test]
fn the_document_says_what_is_there_and_who_brought_it() {
    let tree = Tree::parse(LINES).unwrap();
    let document = document(&tree, &[embedded()], "x86_64-unknown-linux-gnu").unwrap();
    insta::assert_snapshot!(document, @r##"
    {
      "bomFormat": "CycloneDX",
      "specVersion": "1.6",
      "serialNumber": "urn:uuid:ed42b78b-ae81-8b39-ae26-98d45f8e8620",
      "version": 1,
      "metadata": {
        "lifecycles": [
          {
            "phase": "build"
          }
        ],
        "component": {
          "type": "application",
          "name": "metier",
          "version": "0.1.0",
          "licenses": [
            {
              "expression": "MIT OR Apache-2.0"
            }
          ],
          "purl": "pkg:cargo/metier@0.1.0",
          "bom-ref": "pkg:cargo/metier@0.1.0"
        },
        "properties": [
          {
            "name": "metier:target",
            "value": "x86_64-unknown-linux-gnu"
          }
        ]
      },
      "components": [
        {
          "type": "library",
          "name": "clap",
          "version": "4.6.7",
          "licenses": [
            {
              "expression": "MIT OR Apache-2.0"
            }
          ],
          "purl": "pkg:cargo/clap@4.6.7",
          "bom-ref": "pkg:cargo/clap@4.6.7"
        },
        {
          "type": "library",
          "name": "strsim",
          "version": "0.11.1",
          "licenses": [
            {
              "expression": "MIT"
            }
          ],
          "purl": "pkg:cargo/strsim@0.11.1",
          "bom-ref": "pkg:cargo/strsim@0.11.1"
        },
        {
          "type": "library",
          "name": "tiktoken",
          "version": "4.1.2",
          "licenses": [
            {
              "expression": "MIT OR Apache-2.0"
            }
          ],
          "purl": "pkg:cargo/tiktoken@4.1.2",
          "bom-ref": "pkg:cargo/tiktoken@4.1.2"
        },
        {
          "type": "data",
          "name": "o200k_base",
          "version": "4.1.2",
          "licenses": [
            {
              "expression": "MIT"
            }
          ],
          "purl": "pkg:cargo/tiktoken@4.1.2#words",
          "copyright": "Copyright (c) 2022 OpenAI",
          "hashes": [
            {
              "alg": "SHA-256",
              "content": "00"
            }
          ],
          "bom-ref": "pkg:cargo/tiktoken@4.1.2#words"
        }
      ],
      "dependencies": [
        {
          "ref": "pkg:cargo/clap@4.6.7",
          "dependsOn": [
            "pkg:cargo/strsim@0.11.1"
          ]
        },
        {
          "ref": "pkg:cargo/metier@0.1.0",
          "dependsOn": [
            "pkg:cargo/clap@4.6.7",
            "pkg:cargo/tiktoken@4.1.2"
          ]
        },
        {
          "ref": "pkg:cargo/strsim@0.11.1",
          "dependsOn": []
        },
        {
          "ref": "pkg:cargo/tiktoken@4.1.2",
          "dependsOn": [
            "pkg:cargo/strsim@0.11.1",
            "pkg:cargo/tiktoken@4.1.2#words"
          ]
        },
        {
          "ref": "pkg:cargo/tiktoken@4.1.2#words",
          "dependsOn": []
        }
      ]
    }
    "##);
}

#[test]
fn the_number_of_the_document_follows_from_its_content() {
    let tree = Tree::parse(LINES).unwrap();
    let serial = |embedded: &[Embedded]| {
        let text = document(&tree, embedded, "x").unwrap();
        serde_json::from_str::<Value>(&text).unwrap()["serialNumber"].to_string()
    };
    assert_eq!(serial(&[]), serial(&[]));
    assert_ne!(serial(&[]), serial(&[embedded()]));
}

/// The rules of CycloneDX that matter, on the list of this workspace as it is.
#[test]
fn the_list_of_this_workspace_is_whole() {
    let project = Project::from_environment();
    let host = build::host(&project).unwrap();
    let tree = crates(&project, &host).unwrap();
    let sources = Sources::find(&project, &host).unwrap();
    let others = others(&project, &host, &tree, &sources).unwrap();
    let text = document(&tree, &others, &host).unwrap();
    assert_eq!(text, document(&tree, &others, &host).unwrap());
    let list: Value = serde_json::from_str(&text).unwrap();

    let components = list["components"].as_array().unwrap();
    let mut references = BTreeSet::from([list["metadata"]["component"]["bom-ref"].as_str()]);
    for component in components {
        let of = |field: &str| component[field].as_str().filter(|text| !text.is_empty());
        for field in ["type", "name", "version", "purl", "bom-ref"] {
            assert!(of(field).is_some(), "{field}: {component}");
        }
        let license = component["licenses"][0]["expression"].as_str().unwrap_or_default();
        assert!(!license.is_empty() && !license.contains('/'), "{component}");
        assert!(references.insert(of("bom-ref")), "twice: {component}");
        let is_ours = of("name").unwrap().starts_with("metier");
        let has_digest = component["hashes"][0]["content"].is_string();
        assert!(has_digest || is_ours || of("name") == Some("rust-std"), "{component}");
    }
    let mut lines = BTreeSet::new();
    for line in list["dependencies"].as_array().unwrap() {
        assert!(lines.insert(line["ref"].as_str()), "twice: {line}");
        for used in line["dependsOn"].as_array().unwrap() {
            assert!(references.contains(&used.as_str()), "{used} is no component");
        }
    }
    assert_eq!(lines, references);

    // As many as cargo names when it repeats itself, and what is no crate.
    let mut plain = project.cargo("tree --locked --package metier --prefix none --no-dedupe");
    plain.args(["--edges", "normal,no-proc-macro", "--target", &host, "--format", "{p}"]);
    let plain = output(plain).unwrap();
    let plain: BTreeSet<&str> = plain.lines().filter(|line| !line.is_empty()).collect();
    let is_crate = |it: &&Value| {
        let purl = it["purl"].as_str().unwrap();
        purl.starts_with("pkg:cargo/") && !purl.contains('#')
    };
    assert_eq!(components.iter().filter(is_crate).count() + 1, plain.len());
    let others = components.iter().filter(|it| !is_crate(it)).map(|it| it["name"].as_str());
    let others: Vec<_> = others.flatten().collect();
    assert_eq!(others, ["rust-std", "sqlite", "o200k_base"]);
    for absent in ["serde_derive", "insta", "proptest", "cc"] {
        assert!(!text.contains(&format!("pkg:cargo/{absent}@")), "{absent} is not in the binary");
    }
    for place in ["://", "registry+", "/home/", "/root/"] {
        assert!(!text.contains(place), "{place}");
    }
}
