//! The extension for skills.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use libtest_mimic::Failed;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::Test;
use super::bench::{Bench, NEW, OLD};

pub(crate) const TESTS: &[Test] = &[
    ("a_skill_is_listed_with_its_header_and_every_file", listed),
    ("what_is_read_has_the_digest_and_size_that_were_listed", verified),
    ("a_skill_beyond_the_limits_is_left_out_and_that_is_said", limits),
    ("a_skill_whose_name_cannot_be_its_address_is_left_out", names),
    ("skills_are_listed_by_pages", pages),
    ("one_skill_is_had_by_the_address_of_its_header_and_nothing_else", one),
    ("folders_have_their_direct_children", folders),
    ("what_is_wrong_with_parameters_is_said", wrong),
];

fn listed() -> Result<(), Failed> {
    let bench = Bench::empty();
    bench.write(
        "pdf/SKILL.md",
        "---\nname: pdf\ndescription: Reads PDF files.\nlicense: MIT\nmetadata:\n  version: 1.0\n  \
         tags: [a, b]\nunknown: true\n---\n\nBody.\n",
    );
    bench.write("pdf/a b.txt", "text\n");
    bench.skills.look();
    bench.talk(NEW, async |client| {
        let skills = client.ask("skills/list", json!({})).await;
        insta::assert_snapshot!("skills", format!("{skills:#}"));
        let one = client.ask("skills/get", json!({ "uri": "skill://pdf/SKILL.md" })).await;
        assert_eq!(one["skill"], skills["skills"][0]);
        assert_eq!(one["resultType"], "complete");
        client.ask("resources/list", json!({})).await;
        client.ask("resources/read", json!({ "uri": "skill://pdf/SKILL.md" })).await;
    });
    assert_eq!(bench.copies(), 0, "looking at skills copies nothing");
    Ok(())
}

fn verified() -> Result<(), Failed> {
    for version in [OLD, NEW] {
        Bench::new().talk(version, async |client| {
            let skills = client.ask("skills/list", json!({})).await;
            let files = skills["skills"][0]["resources"].as_array().unwrap().clone();
            assert_eq!(files.len(), 5, "{files:?}");
            for file in files {
                let read = client.ask("resources/read", json!({ "uri": file["uri"] })).await;
                let content = &read["contents"][0];
                let bytes = match content["blob"].as_str() {
                    Some(blob) => STANDARD.decode(blob).unwrap(),
                    None => content["text"].as_str().unwrap().as_bytes().to_vec(),
                };
                let digest: String =
                    Sha256::digest(&bytes).iter().map(|it| format!("{it:02x}")).collect();
                assert_eq!(file["digest"], format!("sha256:{digest}"), "{file}");
                assert_eq!(file["size"], bytes.len(), "{file}");
            }
        });
    }
    Ok(())
}

/// Names of the skills that are listed, and why others are not.
fn told(bench: &Bench) -> (Vec<String>, BTreeMap<String, String>) {
    let answer = bench.talk(NEW, async |client| client.ask("skills/list", json!({})).await);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let listed = answer["skills"].as_array().unwrap().iter();
    let left_out = answer["_meta"]["metier/leftOut"].as_array().cloned().unwrap_or_default();
    (
        listed.map(|it| text(&it["frontmatter"]["name"])).collect(),
        left_out.iter().map(|it| (text(&it["name"]), text(&it["why"]))).collect(),
    )
}

fn limits() -> Result<(), Failed> {
    let bench = Bench::empty();
    for (name, files) in [("at-most", 511), ("too-many", 512)] {
        bench.skill(name, "Has many files.", "Body.");
        for file in 0..files {
            bench.write(&format!("{name}/{file}"), "");
        }
    }
    for (name, size) in [("as-large", 16 << 20), ("too-large", (16 << 20) + 1)] {
        bench.skill(name, "Has many bytes.", "Body.");
        let header = std::fs::metadata(bench.path(&format!("{name}/SKILL.md"))).unwrap().len();
        let file = std::fs::File::create(bench.path(&format!("{name}/large.bin"))).unwrap();
        file.set_len(size - header).unwrap();
    }
    bench.skills.look();
    let (listed, left_out) = told(&bench);
    assert_eq!(listed, ["as-large", "at-most"], "{left_out:?}");
    assert!(left_out["too-many"].contains("513 files"), "{left_out:?}");
    assert!(left_out["too-large"].contains("16777217 bytes"), "{left_out:?}");
    Ok(())
}

fn names() -> Result<(), Failed> {
    let bench = Bench::empty();
    bench.skill("Capital", "Has a capital letter.", "Body.");
    bench.write("nameless/SKILL.md", "---\ndescription: Has no name.\n---\n\nBody.\n");
    bench.skill("good", "Is good.", "Body.");
    bench.skills.look();
    let (listed, left_out) = told(&bench);
    assert_eq!(listed, ["good"]);
    assert_eq!(left_out.keys().collect::<Vec<_>>(), ["Capital", "nameless"], "{left_out:?}");
    Ok(())
}

fn pages() -> Result<(), Failed> {
    let bench = Bench::empty();
    for number in 0..120 {
        bench.skill(&format!("skill-{number:03}"), "One of many.", "Body.");
    }
    bench.skills.look();
    bench.talk(NEW, async |client| {
        let (mut counts, mut params) = (Vec::new(), json!({}));
        loop {
            let page = client.ask("skills/list", params).await;
            counts.push(page["skills"].as_array().unwrap().len());
            match page.get("nextCursor") {
                Some(cursor) => params = json!({ "cursor": cursor }),
                None => break,
            }
        }
        assert_eq!(counts, [50, 50, 20]);
    });
    Ok(())
}

fn one() -> Result<(), Failed> {
    Bench::new().talk(OLD, async |client| {
        for uri in [
            "skill://nobody/SKILL.md",
            "skill://pdf",
            "skill://pdf/forms.md",
            "skill://charts/SKILL.md",
            "skill://pdf/../pdf/SKILL.md",
            "artifact://pdf/SKILL.md",
            "",
        ] {
            let error = client.ask("skills/get", json!({ "uri": uri })).await;
            assert_eq!(error["code"], -32602, "{uri}: {error}");
        }
        for params in [json!({}), json!({ "uri": 7 }), json!({ "uri": null })] {
            let error = client.ask("skills/get", params).await;
            assert_eq!(error["code"], -32602, "{error}");
        }
        let error = client.ask("skills/remove", json!({})).await;
        assert_eq!(error["code"], -32601, "{error}");
    });
    Ok(())
}

fn folders() -> Result<(), Failed> {
    Bench::new().talk(NEW, async |client| {
        let mut told = Vec::new();
        for uri in ["skill://pdf", "skill://pdf/data", "skill://pdf/data/tables"] {
            let found = client.ask("resources/directory/read", json!({ "uri": uri })).await;
            assert_eq!(found["resultType"], "complete", "{found}");
            let children = found["resources"].as_array().unwrap().iter();
            let children = children.map(|it| format!("  {} {}", it["uri"], it["mimeType"]));
            told.push(format!("{uri}\n{}", children.collect::<Vec<_>>().join("\n")));
        }
        insta::assert_snapshot!("folders", told.join("\n"));
        for uri in ["skill://pdf/SKILL.md", "skill://pdf/nothing", "skill://nobody", "skill://"] {
            let error = client.ask("resources/directory/read", json!({ "uri": uri })).await;
            assert_eq!(error["code"], -32602, "{uri}: {error}");
        }
    });
    Ok(())
}

fn wrong() -> Result<(), Failed> {
    let cases = [
        (OLD, "tools/call", "name", -32602),
        (OLD, "resources/subscribe", "uri", -32602),
        (NEW, "resources/subscribe", "resources/subscribe", -32601),
        (NEW, "resources/read", "uri", -32602),
        (NEW, "subscriptions/listen", "notifications", -32602),
        (OLD, "subscriptions/listen", "subscriptions/listen", -32601),
    ];
    for (version, method, culprit, code) in cases {
        let error =
            Bench::empty().talk(version, async |client| client.ask(method, json!({})).await);
        assert_eq!(error["code"], code, "{version} {method}: {error}");
        let message = error["message"].as_str().unwrap_or_default();
        assert!(message.contains(culprit), "{version} {method}: {error}");
    }
    Ok(())
}
