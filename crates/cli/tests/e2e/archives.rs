//! Roots that are archives, on disk and on a server.

use std::fs;
use std::io::{Cursor, Write};
use std::path::Path;

use insta::assert_snapshot;
use metier_testkit::TestEnv;
use metier_testkit::server::{Reply, Server};
use sha2::{Digest, Sha256};
use zip::write::SimpleFileOptions;

use crate::{environment, json, problems, run};

const LIST: &str = "skills list --skills-dir skills --skill weather --skill mine";

/// A skill in a text, for an archive.
pub(crate) fn weather(description: &str) -> String {
    format!("---\nname: weather\ndescription: {description} Use when asked.\n---\n\n# Weather\n")
}

pub(crate) fn zip_of(entries: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (path, text) in entries {
        archive.start_file(*path, options).expect("an entry");
        archive.write_all(text.as_bytes()).expect("its content");
    }
    archive.finish().expect("an archive").into_inner()
}

fn tar_of(entries: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (path, text) in entries {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        archive.append_data(&mut header, path, text.as_bytes()).expect("an entry");
    }
    archive.into_inner().expect("an archive")
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("memory does not fail");
    encoder.finish().expect("memory does not fail")
}

pub(crate) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A project with a skill of its own, and a root.
fn with_root(root: &str) -> TestEnv {
    let env = environment().with_variable("SKILLS_ROOT", root);
    env.skill("project/skills", "mine", "Mine. Use when asked.");
    env
}

/// Which of the two skills are there, and what is said beside them, without the server's port.
fn listed(env: &TestEnv, server: Option<&Server>) -> String {
    let outcome = run(env, LIST);
    assert_eq!(outcome.code, 0, "{outcome}");
    let rows = outcome.stdout.lines().skip(1).filter_map(|line| line.split_whitespace().next());
    let names = rows.collect::<Vec<_>>().join(" ");
    let text = format!("{names}\n{}", problems(&outcome));
    match server {
        Some(server) => text.replace(server.url("").trim_start_matches("http://"), "[SERVER]"),
        None => text,
    }
}

/// Makes the record of every download so old that the server is asked again.
fn age(env: &TestEnv) {
    for folder in fs::read_dir(env.home().join(".metier/cache/roots")).expect("a cache") {
        let file = folder.expect("an entry").path().join("record.json");
        let mut record: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(&file).expect("a record")).expect("JSON");
        record["checked"] = 0.into();
        fs::write(&file, record.to_string()).expect("a record");
    }
}

#[test]
fn an_archive_on_disk() {
    let entries = [("weather/SKILL.md", &*weather("Says it.")), ("weather/notes.txt", "x")];
    let tar = tar_of(&entries);
    for (name, bytes) in [
        ("a.zip", zip_of(&entries)),
        ("a.tar", tar.clone()),
        ("a.tar.gz", gzipped(&tar)),
        ("a.tgz", gzipped(&tar)),
        ("by-its-bytes", gzipped(&tar)),
    ] {
        let env = with_root(&format!("../{name}"));
        let file = env.write(name, &bytes);
        assert_eq!(listed(&env, None), "mine weather\n", "{name}");
        let env = env.with_variable("SKILLS_ROOT", &format!("file://{}", file.display()));
        assert_eq!(listed(&env, None), "mine weather\n", "{name}");
        let pinned = format!("{}#sha256={}", file.display(), sha256(&bytes));
        let env = env.with_variable("SKILLS_ROOT", &pinned);
        assert_eq!(listed(&env, None), "mine weather\n", "{name}");
    }
}

#[test]
fn an_archive_on_disk_may_change() {
    let env = with_root("../a.zip");
    let description = |env: &TestEnv| {
        let listed = json(&run(env, "skills list --json --skill weather"));
        listed["skills"][0]["description"].as_str().unwrap().to_owned()
    };
    env.write("a.zip", zip_of(&[("weather/SKILL.md", &weather("One."))]));
    assert_eq!(description(&env), "One. Use when asked.");
    env.write("a.zip", zip_of(&[("weather/SKILL.md", &weather("Two."))]));
    assert_eq!(description(&env), "Two. Use when asked.");
}

#[test]
fn a_bare_file_is_a_skill_in_its_folder() {
    let env = with_root("../weather/SKILL.md");
    env.write("weather/SKILL.md", weather("Says it."));
    assert_eq!(listed(&env, None), "mine weather\n");
    let server = Server::start();
    server.reply("/skills/weather/SKILL.md", Reply::ok(weather("Says it.")));
    let env = with_root(&server.url("/skills/weather/SKILL.md"));
    assert_eq!(listed(&env, Some(&server)), "mine weather\n");
}

#[test]
fn a_file_that_is_no_archive() {
    let env = with_root("../a.zip");
    env.write("a.zip", "neither one nor the other");
    assert_snapshot!(listed(&env, None), @"
    mine
    error: [ROOT]/a.zip: the zip archive is damaged or incomplete: invalid Zip archive: Could not find EOCD [M088]
    ");
    env.write("a.zip", &zip_of(&[("weather/SKILL.md", &weather("Says it."))])[..40]);
    assert_snapshot!(listed(&env, None), @"
    mine
    error: [ROOT]/a.zip: the zip archive is damaged or incomplete: invalid Zip archive: Could not find EOCD [M088]
    ");
}

#[test]
fn a_hostile_archive_is_refused_with_its_entry() {
    let skill = weather("Says it.");
    for (path, why) in [
        ("../evil/SKILL.md", "its path contains `..`"),
        ("/evil/SKILL.md", "its path is absolute"),
        ("C:/evil/SKILL.md", "its path begins with a drive letter"),
        ("weather/../../evil/SKILL.md", "its path contains `..`"),
        ("weather\\..\\evil", "its path contains a backslash"),
    ] {
        let env = with_root("../a.zip");
        env.write("a.zip", zip_of(&[("weather/SKILL.md", &skill), (path, &skill)]));
        let expected = format!(
            "mine\nerror: [ROOT]/a.zip: the archive holds `{path}`, which is refused: {why} [M088]"
        );
        assert_eq!(listed(&env, None), expected);
        assert!(!env.root().join("evil").exists() && !Path::new("/evil").exists());
    }
}

#[test]
fn a_server_is_asked_again_after_a_while() {
    let server = Server::start();
    let archive = zip_of(&[("weather/SKILL.md", &weather("One."))]);
    server.reply("/a.zip", Reply::ok(archive).header("ETag", "\"one\""));
    let env = with_root(&server.url("/a.zip"));
    assert_eq!(listed(&env, Some(&server)), "mine weather\n");
    assert_eq!(listed(&env, Some(&server)), "mine weather\n");
    assert_eq!(server.requests().len(), 1, "a fresh copy is used as it is");

    age(&env);
    server.reply("/a.zip", Reply::status(304));
    assert_eq!(listed(&env, Some(&server)), "mine weather\n");
    assert_eq!(server.requests()[1].header("if-none-match"), Some("\"one\""));

    age(&env);
    let archive = zip_of(&[("weather/SKILL.md", &weather("Two."))]);
    server.reply(
        "/a.zip",
        Reply::ok(archive).header("Last-Modified", "Thu, 01 Jan 1970 00:00:00 GMT"),
    );
    let described = json(&run(&env, "skills list --json --skill weather"));
    assert_eq!(described["skills"][0]["description"], "Two. Use when asked.");

    age(&env);
    server.reply("/a.zip", Reply::status(304));
    assert_eq!(listed(&env, Some(&server)), "mine weather\n");
    let last = server.requests().pop().unwrap();
    assert_eq!(last.header("if-modified-since"), Some("Thu, 01 Jan 1970 00:00:00 GMT"));
}

#[test]
fn a_copy_outlives_its_server() {
    let server = Server::start();
    server.reply("/a.zip", Reply::ok(zip_of(&[("weather/SKILL.md", &weather("One."))])));
    let env = with_root(&server.url("/a.zip"));
    assert_eq!(listed(&env, Some(&server)), "mine weather\n");
    age(&env);
    server.reply("/a.zip", Reply::status(500));
    assert_snapshot!(listed(&env, Some(&server)), @"
    mine weather
    warning: http://[SERVER]/a.zip: the copy at hand is used: `http://[SERVER]/a.zip` answered with status 500 [M088]
    ");
    server.reply("/a.zip", Reply::ok(zip_of(&[("../evil", "")])));
    assert_snapshot!(listed(&env, Some(&server)), @"
    mine weather
    warning: http://[SERVER]/a.zip: the copy at hand is used: the archive holds `../evil`, which is refused: its path contains `..` [M088]
    ");
    let port = server.url("").trim_start_matches("http://").to_owned();
    drop(server);
    let text = listed(&env, None).replace(&port, "[SERVER]");
    let start = "mine weather\nwarning: http://[SERVER]/a.zip: the copy at hand is used: cannot connect to `[SERVER]`";
    assert!(text.starts_with(start), "{text}");
}

#[test]
fn a_server_without_the_archive() {
    let server = Server::start();
    let env = with_root(&server.url("/missing.zip"));
    assert_snapshot!(listed(&env, Some(&server)), @"
    mine
    error: http://[SERVER]/missing.zip: `http://[SERVER]/missing.zip` answered with status 404 [M088]
    ");
    let port = server.url("").trim_start_matches("http://").to_owned();
    drop(server);
    let text = listed(&env, None).replace(&port, "[SERVER]");
    let start = "mine\nerror: http://[SERVER]/missing.zip: cannot connect to `[SERVER]`";
    assert!(text.starts_with(start), "{text}");
}

#[test]
fn what_an_address_hides_is_not_shown() {
    let server = Server::start();
    let address = server.url("/a.zip?token=hush");
    let env = with_root(&address);
    assert_snapshot!(listed(&env, Some(&server)), @"
    mine
    error: http://[SERVER]/a.zip: `http://[SERVER]/a.zip` answered with status 404 [M088]
    ");
    assert_eq!(server.requests()[0].target, "/a.zip?token=hush");
    let env = env.with_variable("SKILLS_ROOT", &address.replace("http://", "http://me:hush@"));
    assert_snapshot!(listed(&env, Some(&server)), @"
    mine
    error: http://[SERVER]/a.zip: the address `…@[SERVER]/a.zip` cannot be used: it contains a user name or password [M088]
    ");
    assert_eq!(server.requests().len(), 1);
    server.reply("/a.zip", Reply::ok(zip_of(&[("weather/SKILL.md", &weather("One."))])));
    let env = env.with_variable("SKILLS_ROOT", &address);
    assert_eq!(listed(&env, Some(&server)), "mine weather\n");
    for folder in fs::read_dir(env.home().join(".metier/cache/roots")).unwrap() {
        let record = fs::read_to_string(folder.unwrap().path().join("record.json"));
        assert!(!record.unwrap_or_default().contains("hush"));
    }
}

#[test]
fn a_pin_holds() {
    let server = Server::start();
    let archive = zip_of(&[("weather/SKILL.md", &weather("One."))]);
    let pin = sha256(&archive);
    server.reply("/a.zip", Reply::ok(archive));
    let env = with_root(&format!("{}#sha256={pin}", server.url("/a.zip")));
    assert_eq!(listed(&env, Some(&server)), "mine weather\n");
    age(&env);
    assert_eq!(listed(&env, Some(&server)), "mine weather\n");
    assert_eq!(server.requests().len(), 1, "what is pinned cannot have changed");
    assert!(server.requests()[0].target.ends_with("/a.zip"), "the pin stays here");
}

#[test]
fn a_pin_that_does_not_fit_is_refused() {
    let server = Server::start();
    let archive = zip_of(&[("weather/SKILL.md", &weather("One."))]);
    let digest = sha256(&archive);
    server.reply("/a.zip", Reply::ok(archive.clone()));
    let other = "0".repeat(64);
    let env = with_root(&format!("{}#sha256={other}", server.url("/a.zip")));
    assert_snapshot!(listed(&env, Some(&server)).replace(&digest, "[DIGEST]"), @"
    mine
    error: http://[SERVER]/a.zip: its digest is [DIGEST], and not the one it is pinned to [M088]
    ");
    // Neither does a copy that came without a pin.
    let env = env.with_variable("SKILLS_ROOT", &server.url("/a.zip"));
    assert_eq!(listed(&env, Some(&server)), "mine weather\n");
    let env = env.with_variable("SKILLS_ROOT", &format!("{}#sha256={other}", server.url("/a.zip")));
    assert_snapshot!(listed(&env, Some(&server)).replace(&digest, "[DIGEST]"), @"
    mine
    error: http://[SERVER]/a.zip: its digest is [DIGEST], and not the one it is pinned to [M088]
    ");
    env.write("a.zip", archive);
    let env = env.with_variable("SKILLS_ROOT", &format!("../a.zip#sha256={other}"));
    assert_snapshot!(listed(&env, None).replace(&digest, "[DIGEST]"), @"
    mine
    error: [ROOT]/a.zip: its digest is [DIGEST], and not the one it is pinned to [M088]
    ");
    let env = env.with_variable("SKILLS_ROOT", "../a.zip#sha256=beef");
    assert_snapshot!(listed(&env, None), @"
    mine
    error: ../a.zip: what follows `#sha256=` is not a digest of 64 hexadecimal digits [M088]
    ");
}

#[test]
fn a_pin_on_a_folder_is_refused() {
    let pin = format!("#sha256={}", "0".repeat(64));
    let mut env = with_root("");
    env.write("folder.zip/weather/SKILL.md", weather("Not pinned."));
    let folder = env.root().join("folder.zip").display().to_string();
    let mut told = Vec::new();
    for place in [&*folder, &format!("file://{folder}"), "../folder.zip", "../absent.zip"] {
        env = env.with_variable("SKILLS_ROOT", &format!("{place}{pin}"));
        told.push(listed(&env, None));
    }
    assert_snapshot!(told.join("\n"), @"
    mine
    error: [ROOT]/folder.zip: a digest behind `#sha256=` pins an archive, and this is a folder [M088]
    mine
    error: [ROOT]/folder.zip: a digest behind `#sha256=` pins an archive, and this is a folder [M088]
    mine
    error: [ROOT]/folder.zip: a digest behind `#sha256=` pins an archive, and this is a folder [M088]
    mine
    error: [ROOT]/absent.zip: there is no such archive [M088]
    ");
}

#[test]
fn archives_are_unpacked_where_the_person_wants() {
    let env = with_root("../a.zip").with_variable("SKILLS_CACHE_DIR", "~/unpacked");
    env.write("a.zip", zip_of(&[("weather/SKILL.md", &weather("One."))]));
    let explained = run(&env, "skills explain weather --json");
    let path = json(&explained)["path"].as_str().unwrap().to_owned();
    assert!(path.starts_with("[HOME]/unpacked/"), "{path}");
    assert!(!env.home().join(".metier/cache/roots").exists());
    let env = env.with_variable("SKILLS_CACHE_DIR", "/dev/null/cache");
    let text = listed(&env, None);
    let start = "mine\nerror: [ROOT]/a.zip: cannot keep a copy in `/dev/null/cache/";
    assert!(text.starts_with(start) && text.lines().count() == 2, "{text}");
}

#[test]
fn several_archives_come_from_the_settings() {
    let env = with_root("");
    let archive = zip_of(&[("weather/SKILL.md", &weather("One."))]);
    let (first, second) = (env.write("one.zip", &archive), env.root().join("gone.zip"));
    let text = format!("skills.extra_dirs = [{:?}, {:?}]", second.display(), first.display());
    env.write("home/.metier/config.toml", text.replace('\\', ""));
    assert_snapshot!(listed(&env, None), @"
    mine weather
    error: [ROOT]/gone.zip: there is no such folder [M080]
    ");
}

#[test]
fn a_broken_record_is_as_good_as_none() {
    let server = Server::start();
    server.reply("/a.zip", Reply::ok(zip_of(&[("weather/SKILL.md", &weather("One."))])));
    let env = with_root(&server.url("/a.zip"));
    assert_eq!(listed(&env, Some(&server)), "mine weather\n");
    for folder in fs::read_dir(env.home().join(".metier/cache/roots")).unwrap() {
        fs::write(folder.unwrap().path().join("record.json"), "{").unwrap();
    }
    assert_eq!(listed(&env, Some(&server)), "mine weather\n");
    assert_eq!(server.requests().len(), 2);
}
