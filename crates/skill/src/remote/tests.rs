//! Lies of servers: what they tell, and what they give.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::{Duration, SystemTime};

use serde_json::{Map, Value, json};

use super::*;
use crate::files::Digest;
use crate::library::TrustStore;
use crate::name::SkillName;

const URI: &str = "skill://team/ship/SKILL.md";
const TEXT: &str = "---\nname: ship\ndescription: Ships.\nversion: 1.0\n---\n\nShip it.\n";

fn server(name: &str) -> SkillName {
    SkillName::new(name).unwrap()
}

fn fields() -> Map<String, Value> {
    json!({ "name": "ship", "description": "Ships.", "version": 1 }).as_object().unwrap().clone()
}

fn file(uri: &str, content: &str) -> OfferedFile {
    let digest = format!("sha256:{}", Digest::of_bytes(content.as_bytes()));
    OfferedFile { uri: uri.to_owned(), digest, size: content.len() as u64 }
}

fn files() -> Vec<OfferedFile> {
    vec![file("skill://team/ship/scripts/run.sh", "#!/bin/sh\n"), file(URI, TEXT)]
}

fn read(
    uri: &str,
    fields: &Map<String, Value>,
    files: &[OfferedFile],
) -> Result<RemoteSkill, RemoteFault> {
    RemoteSkill::read(&server("one"), &Offer { uri, frontmatter: fields, files: Some(files) })
}

fn skill() -> RemoteSkill {
    read(URI, &fields(), &files()).unwrap()
}

/// What becomes of a skill with these files besides its `SKILL.md`.
fn with_files(more: &[OfferedFile]) -> String {
    let files: Vec<OfferedFile> = files().into_iter().chain(more.iter().cloned()).collect();
    match read(URI, &fields(), &files) {
        Ok(skill) => skill.files.unwrap().iter().map(|it| format!("{} ", it.path)).collect(),
        Err(fault) => fault.to_string(),
    }
}

#[test]
fn a_skill_is_read_from_what_is_told_alone() {
    let skill = skill();
    let paths: Vec<&str> = skill.files.iter().flatten().map(|it| it.path.as_str()).collect();
    assert_eq!(paths, ["SKILL.md", "scripts/run.sh"]);
    assert_eq!(skill.manifest.version.as_deref(), Some("1"));
    assert_eq!(skill.full_name(), "one:ship");
}

#[test]
fn an_address_leads_to_a_skill_file_in_a_folder_of_its_name() {
    let outcome = |uri: &str| match read(uri, &fields(), &[file(uri, TEXT)]) {
        Ok(_) => "read".to_owned(),
        Err(fault) => fault.to_string(),
    };
    for uri in [
        "skill://ship/SKILL.md",
        "github://a/b/skills/ship/SKILL.md",
        "x+y.z://a%20b/sh%69p/SKILL.md",
    ] {
        assert_eq!(outcome(uri), "read", "{uri}");
    }
    for uri in [
        "",
        "SKILL.md",
        "ship/SKILL.md",
        "skill:ship/SKILL.md",
        "skill://SKILL.md",
        "skill:///SKILL.md",
        "skill://ship/skill.md",
        "skill://ship/SKILL.md?x",
        "skill://ship/SKILL.md#x",
        "skill://a?b/ship/SKILL.md",
        "skill://a/../ship/SKILL.md",
        "skill://a/%2e%2e/ship/SKILL.md",
        "skill://a/./ship/SKILL.md",
        "skill://a//ship/SKILL.md",
        "skill://a%2Fb/ship/SKILL.md",
        "skill://a\\b/ship/SKILL.md",
        "skill://a%00/ship/SKILL.md",
        "skill://a\u{202e}/ship/SKILL.md",
        "skill://a%ff/ship/SKILL.md",
        "skill://a%2/ship/SKILL.md",
        "9://ship/SKILL.md",
        "s k://ship/SKILL.md",
    ] {
        assert!(
            outcome(uri).ends_with("is not the address of a `SKILL.md`"),
            "{uri}: {}",
            outcome(uri)
        );
    }
    insta::assert_snapshot!(outcome("skill://other/SKILL.md"), @"it is called `ship`, and its folder `other`");
    insta::assert_snapshot!(outcome("skill://Ship/SKILL.md"), @"it is called `ship`, and its folder `Ship`");
}

#[test]
fn a_header_has_a_name_and_a_description_that_keep_the_rules() {
    let outcome = |name: Value, description: Value, folder: &str| {
        let fields = json!({ "name": name, "description": description });
        let uri = format!("skill://{folder}/SKILL.md");
        read(&uri, fields.as_object().unwrap(), &[file(&uri, TEXT)])
            .map(|_| ())
            .unwrap_err()
            .to_string()
    };
    insta::assert_snapshot!(outcome(json!(null), json!("d"), "ship"), @"its header cannot be used: `name` is not a text");
    insta::assert_snapshot!(outcome(json!(1), json!("d"), "1"), @"its header cannot be used: `name` is not a text");
    insta::assert_snapshot!(outcome(json!("ship"), json!(null), "ship"), @"its header cannot be used: `description` is not a text");
    insta::assert_snapshot!(outcome(json!("ship"), json!("  "), "ship"), @"its header cannot be used: `description` is not a text");
    insta::assert_snapshot!(outcome(json!("Ship"), json!("d"), "Ship"), @"its header cannot be used: `name` breaks the rules of names");
    insta::assert_snapshot!(outcome(json!("a:b"), json!("d"), "a:b"), @"its header cannot be used: `name` breaks the rules of names");
    let deep =
        serde_json::from_str::<Value>(&format!("{}1{}", "[".repeat(60), "]".repeat(60))).unwrap();
    let fields = json!({ "name": "ship", "description": "d", "x": deep });
    let fault = read(URI, fields.as_object().unwrap(), &files()).unwrap_err();
    insta::assert_snapshot!(fault, @"its header cannot be used: the header is too large");
}

#[test]
fn every_file_is_inside_the_folder_and_listed_once() {
    let at = |uri: &str| with_files(&[file(uri, "x")]);
    for uri in [
        "skill://team/ship",
        "skill://team/ship/",
        "skill://team/shipped/x",
        "skill://team/x",
        "skill://other/ship/x",
        "other://team/ship/x",
        "skill://team/ship/../x",
        "skill://team/ship/a/../../../x",
        "skill://team/ship/%2e%2e/x",
        "skill://team/ship/.%2E/x",
        "skill://team/ship/a//x",
        "skill://team/ship/%2fetc/passwd",
        "skill://team/ship/a%5cb",
        "skill://team/ship/a%00b",
        "skill://team/ship/a?b",
        "skill://team/ship/a#b",
        "skill://team/ship/./x",
        "/etc/passwd",
        "file:///etc/passwd",
        "skill://team/ship/a%0ab",
        "skill://team/ship/%ff",
    ] {
        assert!(at(uri).ends_with("is not inside its folder"), "{uri}: {}", at(uri));
    }
    let deep = format!("skill://team/ship/{}x", "a/".repeat(20));
    assert!(at(&deep).ends_with("is not inside its folder"));
    assert!(
        at(&format!("skill://team/ship/{}", "a".repeat(256))).ends_with("is not inside its folder")
    );
    insta::assert_snapshot!(at("skill://team/ship/a%20b/c..d"), @"SKILL.md a b/c..d scripts/run.sh ");
    insta::assert_snapshot!(at(URI), @"the file `SKILL.md` is listed twice, or is a folder too");
    insta::assert_snapshot!(at("skill://team/ship/%53KILL.md"), @"the file `SKILL.md` is listed twice, or is a folder too");
    insta::assert_snapshot!(at("skill://team/ship/scripts"), @"the file `scripts/run.sh` is listed twice, or is a folder too");
    insta::assert_snapshot!(at("skill://team/ship/scripts/run.sh/x"), @"the file `scripts/run.sh/x` is listed twice, or is a folder too");
    let fault = read(URI, &fields(), &[file("skill://team/ship/a", "x")]).unwrap_err();
    insta::assert_snapshot!(fault, @"its `SKILL.md` is not among its files");
    let fault = read(URI, &fields(), &[file("skill://team/ship/%53KILL.md", TEXT)]).unwrap_err();
    insta::assert_snapshot!(fault, @"its `SKILL.md` is not among its files");
}

#[test]
fn a_skill_has_at_most_512_files_of_16_mebibytes() {
    let many = |count: usize| -> Vec<OfferedFile> {
        (2..count).map(|number| file(&format!("skill://team/ship/{number}"), "x")).collect()
    };
    assert_eq!(with_files(&many(512)).split_whitespace().count(), 512);
    insta::assert_snapshot!(with_files(&many(513)), @"it has 513 files; 512 are allowed");
    let used: u64 = files().iter().map(|it| it.size).sum();
    let large = |size: u64| OfferedFile { size, ..file("skill://team/ship/large", "") };
    insta::assert_snapshot!(with_files(&[large((16 << 20) - used)]), @"SKILL.md large scripts/run.sh ");
    insta::assert_snapshot!(with_files(&[large((16 << 20) - used + 1)]), @"its files have more than 16 MiB");
    insta::assert_snapshot!(with_files(&[large(u64::MAX)]), @"its files have more than 16 MiB");
}

#[test]
fn a_digest_is_written_in_one_way_only() {
    let good = format!("sha256:{}", Digest::of_bytes(b"x"));
    for digest in [
        &good[7..],
        &good.to_uppercase(),
        &good.replace("sha256", "sha512"),
        &good[..70],
        &format!("{good}0"),
        "",
        &good.replace(':', "-"),
        &format!("sha256:{}", good[7..].to_uppercase()),
    ] {
        let told =
            OfferedFile { uri: "skill://team/ship/a".into(), digest: digest.to_owned(), size: 1 };
        assert_eq!(
            with_files(&[told]),
            "the digest of `a` is not `sha256:` and 64 digits",
            "{digest}"
        );
    }
}

/// What becomes of files that are given for a skill.
fn given(contents: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let store = RemoteStore::new(folder.path().join("remote"));
    let contents: Vec<Vec<u8>> = contents.iter().map(|it| it.as_bytes().to_vec()).collect();
    match store.put(&skill(), &contents) {
        Ok(_) => "kept".to_owned(),
        Err(error) => {
            assert!(!folder.path().join("remote").exists(), "nothing of it is kept");
            error.to_string()
        }
    }
}

#[test]
fn what_a_server_gives_is_what_it_told_or_nothing() {
    let script = "#!/bin/sh\n";
    assert_eq!(given(&[TEXT, script]), "kept");
    insta::assert_snapshot!(given(&[TEXT, "#!/bin/ash\n"]), @"`scripts/run.sh` has 11 bytes; its server said 10");
    insta::assert_snapshot!(given(&[TEXT, "#!/bin/zh\n"]), @"`scripts/run.sh` has the digest d4e470bc8f0b5cb0b1119a9885d4ce5c0ded750f40bbd83bf982c453cd2c58e0; its server said a8076d3d28d21e02012b20eaf7dbf75409a6277134439025f282e368e3305abf");
    insta::assert_snapshot!(given(&[TEXT]), @"`scripts/run.sh` has 0 bytes; its server said 10");
    insta::assert_snapshot!(given(&[script, TEXT]), @"`SKILL.md` has 10 bytes; its server said 62");
}

#[test]
fn a_header_that_differs_from_what_was_told_is_refused() {
    let lie = |text: &str, told: Value| {
        let files = [file(URI, text)];
        let skill = read(URI, told.as_object().unwrap(), &files).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let store = RemoteStore::new(folder.path().join("remote"));
        store.put(&skill, &[text.as_bytes().to_vec()]).unwrap_err().to_string()
    };
    let told = json!({ "name": "ship", "description": "Ships." });
    insta::assert_snapshot!(lie(TEXT, told.clone()), @"its `SKILL.md` is not what its server said: the field `version` is not what was told");
    insta::assert_snapshot!(lie("---\nname: ship\ndescription: Ships all.\n---\n", told.clone()), @"its `SKILL.md` is not what its server said: the field `description` is not what was told");
    insta::assert_snapshot!(lie("---\nname: other\ndescription: Ships.\n---\n", told.clone()), @"its `SKILL.md` is not what its server said: the field `name` is not what was told");
    insta::assert_snapshot!(lie("No header.\n", told.clone()), @"its `SKILL.md` is not what its server said: the file does not start with a `---` line");
    let more =
        json!({ "name": "ship", "description": "Ships.", "version": "1.0", "license": "MIT" });
    insta::assert_snapshot!(lie(TEXT, more), @"its `SKILL.md` is not what its server said: the field `license` is not what was told");
}

#[test]
fn what_is_kept_is_read_only_and_digested_anew_each_time() {
    let folder = tempfile::tempdir().unwrap();
    let store = RemoteStore::new(folder.path().join("remote"));
    let skill = skill();
    assert!(store.folder(&skill).unwrap().is_none());
    let contents = [TEXT, "#!/bin/sh\n"].map(|it| it.as_bytes().to_vec());
    let kept = store.put(&skill, &contents).unwrap();
    assert_eq!(store.folder(&skill).unwrap().as_ref(), Some(&kept));
    assert!(kept.starts_with(folder.path().join("remote/one")), "{}", kept.display());
    let mode = |path: &str| fs::metadata(kept.join(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("SKILL.md"), mode("scripts/run.sh")), (0o444, 0o555));
    assert_eq!(store.put(&skill, &contents).unwrap(), kept, "again");

    let script = kept.join("scripts/run.sh");
    let spoil = |content: &str| {
        fs::remove_file(&script).unwrap();
        fs::write(&script, content).unwrap();
        store.folder(&skill).unwrap_err().to_string()
    };
    insta::assert_snapshot!(spoil("#!/bin/zh\n"), @"`scripts/run.sh` has the digest d4e470bc8f0b5cb0b1119a9885d4ce5c0ded750f40bbd83bf982c453cd2c58e0; its server said a8076d3d28d21e02012b20eaf7dbf75409a6277134439025f282e368e3305abf");
    insta::assert_snapshot!(spoil("longer than it was"), @"`scripts/run.sh` has 18 bytes; its server said 10");
    assert_eq!(store.put(&skill, &contents).unwrap(), kept, "mended");
    fs::write(kept.join("scripts/more.sh"), "x").unwrap();
    insta::assert_snapshot!(store.folder(&skill).unwrap_err(), @"`scripts/more.sh` is not one of its files");
    fs::remove_file(kept.join("scripts/more.sh")).unwrap();
    fs::rename(&script, folder.path().join("elsewhere")).unwrap();
    symlink(folder.path().join("elsewhere"), &script).unwrap();
    assert!(store.folder(&skill).is_err(), "a link is none of its files");
    assert_eq!(store.put(&skill, &contents).unwrap(), kept, "mended");
    fs::rename(kept.join("scripts"), folder.path().join("scripts")).unwrap();
    symlink(folder.path().join("scripts"), kept.join("scripts")).unwrap();
    assert!(store.folder(&skill).is_err(), "nor is what is behind one");
}

#[test]
fn servers_do_not_share_what_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let store = RemoteStore::new(folder.path().to_owned());
    let contents = [TEXT, "#!/bin/sh\n"].map(|it| it.as_bytes().to_vec());
    store.put(&skill(), &contents).unwrap();
    let (fields, files) = (fields(), files());
    let offer = Offer { uri: URI, frontmatter: &fields, files: Some(&files) };
    let other = RemoteSkill::read(&server("two"), &offer).unwrap();
    assert!(store.folder(&other).unwrap().is_none());
    assert_eq!(store.skills(&server("one")), [skill()]);
    assert!(store.skills(&server("two")).is_empty());
    store.put(&other, &contents).unwrap();
    store.forget(&server("one"), URI).unwrap();
    assert!(store.skills(&server("one")).is_empty());
    assert_eq!(store.skills(&server("two")), [other]);
}

#[test]
fn an_offer_that_was_changed_where_it_is_kept_is_not_believed() {
    let folder = tempfile::tempdir().unwrap();
    let store = RemoteStore::new(folder.path().to_owned());
    let kept =
        store.put(&skill(), &[TEXT, "#!/bin/sh\n"].map(|it| it.as_bytes().to_vec())).unwrap();
    let offer = kept.parent().unwrap().join("offer.json");
    let text = fs::read_to_string(&offer).unwrap();
    for (old, new) in [("\"size\":10", "\"size\":11"), ("run.sh", "../../run.sh"), ("{", "[")] {
        fs::remove_file(&offer).unwrap();
        fs::write(&offer, text.replacen(old, new, 1)).unwrap();
        assert!(store.skills(&server("one")).is_empty(), "{new}");
    }
}

#[test]
fn the_digest_of_a_set_covers_every_address_digest_and_size() {
    let digest = |files: &[OfferedFile]| read(URI, &fields(), files).unwrap().digest();
    let told = files();
    let mut other_order = told.clone();
    other_order.reverse();
    assert_eq!(digest(&told), digest(&other_order));
    let mut digests = vec![digest(&told), digest(&told[1..])];
    for change in [
        OfferedFile { size: 11, ..told[0].clone() },
        OfferedFile { digest: told[1].digest.clone(), ..told[0].clone() },
        OfferedFile { uri: "skill://team/ship/scripts/run".into(), ..told[0].clone() },
        OfferedFile { uri: "skill://team/ship/scripts/%72un.sh".into(), ..told[0].clone() },
    ] {
        digests.push(digest(&[change, told[1].clone()]));
    }
    let different: std::collections::BTreeSet<Digest> = digests.iter().copied().collect();
    assert_eq!(different.len(), digests.len());
}

#[test]
fn files_that_changed_are_missing_or_are_more_are_told_apart() {
    let hidden = file("skill://team/ship/.git/config", "x");
    let files: Vec<OfferedFile> = files().into_iter().chain([hidden]).collect();
    let skill = read(URI, &fields(), &files).unwrap();
    let digest = |text: &str| Some(Digest::of_bytes(text.as_bytes()));
    let (main, script) = (("SKILL.md", digest(TEXT)), ("scripts/run.sh", digest("#!/bin/sh\n")));
    let outcome = |found: &[(&str, Option<Digest>)]| match skill.compare(found.iter().copied()) {
        Ok(()) => "the same".to_owned(),
        Err(fault) => fault.to_string(),
    };
    // What is in no list of files cannot be missed there.
    assert_eq!(outcome(&[main, script]), "the same");
    insta::assert_snapshot!(outcome(&[main]), @"`scripts/run.sh` is not there any more");
    insta::assert_snapshot!(outcome(&[script, main, ("x", digest(""))]), @"`x` is not one of its files");
    insta::assert_snapshot!(outcome(&[main, ("scripts/run.sh", None)]), @"`scripts/run.sh` is not one of its files");
    let other = outcome(&[main, ("scripts/run.sh", digest("other"))]);
    assert!(other.starts_with("`scripts/run.sh` has the digest"), "{other}");
}

#[test]
fn what_nobody_trusts_goes_after_its_time_and_what_was_not_finished_too() {
    let folder = tempfile::tempdir().unwrap();
    let store = RemoteStore::new(folder.path().to_owned());
    // Its folder is not called so: case does not count everywhere.
    let one = server("One");
    let home = folder.path().join(one.folder());
    let keep = |text: &str| {
        let (fields, files) = (fields(), [file(URI, text)]);
        let offer = Offer { uri: URI, frontmatter: &fields, files: Some(&files) };
        let skill = RemoteSkill::read(&one, &offer).unwrap();
        store.put(&skill, &[text.as_bytes().to_vec()]).unwrap();
        skill
    };
    let (old, new) = (keep(TEXT), keep(&format!("{TEXT}And again.\n")));
    let mut trust = TrustStore::default();
    trust.trust_remote(&new);
    let unfinished = home.join(".tmp1");
    fs::create_dir_all(unfinished.join("ship")).unwrap();
    let days = |count: u64| Duration::from_hours(24 * count);
    assert_eq!(store.remove_unused(days(1), &trust).unwrap(), 0);
    assert!(unfinished.exists() && store.folder(&old).unwrap().is_some());

    for kept in fs::read_dir(&home).unwrap() {
        let past = SystemTime::now() - days(2);
        fs::File::open(kept.unwrap().path()).unwrap().set_modified(past).unwrap();
    }
    assert_eq!(store.remove_unused(days(3), &trust).unwrap(), 0);
    assert!(!unfinished.exists(), "who wrote it is gone");
    assert_eq!(store.remove_unused(days(1), &trust).unwrap(), 1);
    assert_eq!(store.skills(&one), [new]);
    assert_eq!(store.remove_unused(days(1), &TrustStore::default()).unwrap(), 1);
    assert!(!home.exists());
}
