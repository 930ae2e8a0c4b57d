//! Reading resources.

use std::os::unix::fs::symlink;

use libtest_mimic::Failed;
use serde_json::{Value, json};

use super::Test;
use super::bench::{Bench, Client, NEW, OLD};
use super::calls::call;

pub(crate) const TESTS: &[Test] = &[
    ("texts_are_text_and_other_files_are_blobs", contents),
    ("what_is_not_there_has_the_error_of_the_version", unknown),
    ("no_address_leads_out_of_a_skill", escapes),
    ("a_skill_that_is_hidden_from_models_has_no_resources", hidden),
    ("artifacts_are_read_by_name_and_by_version", artifacts),
];

async fn read(client: &mut Client, uri: &str) -> Value {
    client.ask("resources/read", json!({ "uri": uri })).await
}

fn contents() -> Result<(), Failed> {
    let bench = Bench::new();
    bench.write("pdf/ré sumé.md", "Spaces and more.\n");
    bench.talk(OLD, async |client| {
        let told = [
            read(client, "skill://pdf/SKILL.md").await,
            read(client, "skill://pdf/data/logo.png").await,
            read(client, "skill://pdf/data/tables/one.csv").await,
            read(client, "skill://pdf/r%C3%A9%20sum%C3%A9.md").await,
        ];
        insta::assert_snapshot!("contents", format!("{:#}", Value::Array(told.to_vec())));
    });
    Ok(())
}

fn unknown() -> Result<(), Failed> {
    for (version, code) in [(OLD, -32002), (NEW, -32602)] {
        Bench::new().talk(version, async |client| {
            for uri in ["skill://pdf/nothing.md", "skill://nobody/SKILL.md", "artifact://none", "x"]
            {
                let error = read(client, uri).await;
                assert_eq!(error["code"], code, "{uri}: {error}");
            }
        });
    }
    Ok(())
}

fn escapes() -> Result<(), Failed> {
    let bench = Bench::new();
    bench.write("../secret.txt", "a secret\n");
    bench.write("other/secret.txt", "another secret\n");
    symlink("../../secret.txt", bench.path("pdf/link.txt")).unwrap();
    symlink("/etc", bench.path("pdf/etc")).unwrap();
    symlink("/etc/passwd", bench.path("pdf/data/passwd")).unwrap();
    bench.talk(OLD, async |client| {
        let listed = client.ask("resources/list", json!({})).await.to_string();
        for uri in [
            "skill://pdf/../other/secret.txt",
            "skill://pdf/../../secret.txt",
            "skill://pdf/%2e%2e/other/secret.txt",
            "skill://pdf/%2E%2E/%2E%2E/secret.txt",
            "skill://pdf/..%2fother%2fsecret.txt",
            "skill://pdf/%252e%252e/other/secret.txt",
            "skill://pdf/data/..%5c..%5csecret.txt",
            "skill://pdf/./SKILL.md",
            "skill://pdf//SKILL.md",
            "skill://pdf//etc/passwd",
            "skill://pdf/%2Fetc/passwd",
            "skill://pdf/SKILL.md%00.txt",
            "skill://pdf/SKILL.md?x",
            "skill://pdf/SKILL.md#x",
            "skill://../secret.txt",
            "skill://%2e%2e/secret.txt",
            "skill:///etc/passwd",
            "skill://pdf/link.txt",
            "skill://pdf/etc/passwd",
            "skill://pdf/data/passwd",
            "skill://pdf/data",
            "skill://pdf",
            "file:///etc/passwd",
            "artifact://../secret.txt",
            "artifact://%2e%2e/secret.txt",
            "artifact:///etc/passwd",
            "SKILL://pdf/SKILL.md",
        ] {
            let error = read(client, uri).await;
            assert_eq!(error["code"], -32002, "{uri}: {error}");
            assert!(!error.to_string().contains("secret\\n"), "{uri}: {error}");
        }
        for link in ["link.txt", "etc", "passwd"] {
            assert!(!listed.contains(link), "{link} is listed: {listed}");
        }
        let long = format!("skill://pdf/{}", "a".repeat(100_000));
        assert_eq!(read(client, &long).await["code"], -32002);
    });
    Ok(())
}

fn hidden() -> Result<(), Failed> {
    Bench::new().talk(OLD, async |client| {
        let listed = client.ask("resources/list", json!({})).await.to_string();
        assert!(!listed.contains("charts"), "{listed}");
        assert_eq!(read(client, "skill://charts/SKILL.md").await["code"], -32002);
    });
    Ok(())
}

fn artifacts() -> Result<(), Failed> {
    Bench::new().talk(OLD, async |client| {
        for text in ["first", "second"] {
            let run = json!({
                "skill": "pdf",
                "command": format!("mkdir -p out/a; echo {text} > 'out/a/x y.txt'"),
                "outputs": { "globs": ["out/a/*.txt"], "save": true },
            });
            let ran = call(client, "skill_run", run).await;
            assert_eq!(ran["isError"], false, "{ran}");
        }
        let listed = client.ask("resources/list", json!({})).await;
        let listed = listed["resources"].as_array().unwrap().last().unwrap().clone();
        assert_eq!(listed["uri"], "artifact://out/a/x%20y.txt", "{listed}");
        let newest = read(client, "artifact://out/a/x%20y.txt").await;
        assert_eq!(newest["contents"][0]["text"], "second\n", "{newest}");
        let first = read(client, "artifact://out/a/x%20y.txt@0").await;
        assert_eq!(first["contents"][0]["text"], "first\n", "{first}");
    });
    Ok(())
}
