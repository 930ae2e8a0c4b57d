//! Downloads: what is fetched is verified, unpacked and put into its place, or not used at all.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;

use insta::assert_snapshot;
use metier_testkit::server::{Reply, Server};
use sha2::{Digest, Sha256};

use super::{TOOL, explained, install, link, use_tool, with_options};
use crate::own_tool_folder;
use crate::tasks::secure::{Certificates, serve};

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn tar_gz(entries: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = tar::Builder::new(Vec::new());
    for (path, text) in entries {
        let mut header = tar::Header::new_gnu();
        match text.strip_prefix("-> ") {
            Some(target) => {
                header.set_entry_type(tar::EntryType::Symlink);
                header.set_size(0);
                archive.append_link(&mut header, path, target).expect("a link");
            }
            None => {
                header.set_size(text.len() as u64);
                header.set_mode(0o644);
                archive.append_data(&mut header, path, text.as_bytes()).expect("an entry");
            }
        }
    }
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(&archive.into_inner().expect("an archive")).expect("memory does not fail");
    encoder.finish().expect("memory does not fail")
}

#[test]
fn a_download_is_verified_unpacked_and_runs_in_the_sandbox() {
    let server = Server::start();
    let archive = tar_gz(&[("tool-1.0/README", "x"), ("tool-1.0/dist/tool", TOOL)]);
    server.reply("/tool.tar.gz", Reply::ok(archive.clone()));
    let (url, digest) = (server.url("/tool.tar.gz"), sha256(&archive));
    let env = with_options(&format!(
        "{{kind: download, url: '{url}', sha256: {digest}, stripComponents: 1, targetDir: runtime, bins: [tool]}}"
    ));
    assert_eq!(explained(&env)["eligible"], false);
    let outcome = install(&env, &["--yes"]);
    assert_eq!(outcome.code, 0, "{outcome}");
    assert_eq!(outcome.stdout.lines().last(), Some("ship can be used"));
    assert_eq!(explained(&env)["eligible"], true);
    let used = use_tool(&env);
    assert_eq!(used.stdout, "tool says hello\n[HOME]/.metier/tools/[SHIP]/.bin/tool\n", "{used}");
    let folder = env.home().join(".metier/tools").join(own_tool_folder(&env, "ship"));
    assert!(folder.join("runtime/dist/tool").is_file());
    assert_snapshot!(install(&env, &[]), @"
    exit 0
    ----- stdout
    ship misses no program
    ship can be used
    ----- stderr
    ");
}

#[test]
fn programs_in_the_sandbox_cannot_change_tools() {
    let server = Server::start();
    server.reply("/tool", Reply::ok(TOOL));
    let env = with_options(&format!(
        "{{kind: download, url: '{}', sha256: {}, bins: [tool]}}",
        server.url("/tool"),
        sha256(TOOL.as_bytes())
    ));
    assert_eq!(install(&env, &["--yes"]).code, 0);
    let tool = fs::canonicalize(link(&env, "ship", "tool")).unwrap();
    let attack = format!(
        "t=$(readlink -f $(command -v tool)); echo evil >> $t; rm -f $t; mv $t $t.old; chmod 777 $t; \
         ln -sf /bin/sh {}; touch $(dirname $t)/new",
        link(&env, "ship", "tool").display()
    );
    let words = ["exec", "ship", "--no-default-sources", "--skills-dir", "skills", "--", &attack];
    assert_ne!(env.run(words).code, 0);
    assert_eq!(fs::read_to_string(&tool).unwrap(), TOOL);
    assert_eq!(fs::read_dir(tool.parent().unwrap()).unwrap().count(), 1);
    assert_eq!(fs::metadata(&tool).unwrap().permissions().mode() & 0o777, 0o755);
}

/// What comes of a download that the server answers in some way.
fn downloaded(reply: Reply, more: &str) -> String {
    let server = Server::start();
    server.reply("/tool.tar.gz", reply);
    let env = with_options(&format!(
        "{{kind: download, url: '{}', bins: [tool]{more}}}",
        server.url("/tool.tar.gz")
    ));
    let outcome = install(&env, &["--yes"]);
    assert_eq!(outcome.code, 1, "{outcome}");
    assert!(!link(&env, "ship", "tool").exists());
    let folder = env.home().join(".metier/tools").join(own_tool_folder(&env, "ship"));
    assert_eq!(fs::read_dir(folder).expect("the folder").count(), 0, "nothing is left");
    let error = outcome.stderr.lines().find(|line| line.starts_with("error")).unwrap_or_default();
    let address = server.url("");
    error.replace(&address, "[SERVER]").replace(address.trim_start_matches("http://"), "[SERVER]")
}

#[test]
fn a_download_that_is_not_what_was_promised_is_not_used() {
    let promised = format!(", sha256: {}", "0".repeat(64));
    let archive = |entries: &[(&str, &str)]| {
        let archive = tar_gz(entries);
        let digest = format!(", sha256: {}", sha256(&archive));
        (Reply::ok(archive), digest)
    };
    let (linked, of_linked) = archive(&[("tool", TOOL), ("bin/tool", "-> ../tool")]);
    let (without, of_without) = archive(&[("other", TOOL)]);
    let empty = format!(", sha256: {}", sha256(b""));
    let told = [
        downloaded(Reply::ok(tar_gz(&[("tool", TOOL)])), &promised),
        downloaded(linked, &of_linked),
        downloaded(without, &of_without),
        downloaded(Reply::ok(""), &empty),
        downloaded(Reply::status(404), &promised),
        downloaded(Reply::redirect(302, "file:///etc/passwd"), &promised),
        downloaded(Reply::ok("x").header("Content-Length", "999999999"), &promised),
    ];
    assert_snapshot!(told.join("\n"), @"
    error: `download-0` cannot be installed from `[SERVER]/tool.tar.gz`: the download has the digest e5616966f7b8bece0be1139e9a1303c96a9bafbc17f5dfceb7716d5e76115e87, and the skill says 0000000000000000000000000000000000000000000000000000000000000000; it is not used
    error: `download-0` cannot be installed from `[SERVER]/tool.tar.gz`: the archive cannot be used: the archive holds `bin/tool`, which is refused: it is a link
    error: `tool` is not in what was installed
    error: `download-0` cannot be installed from `[SERVER]/tool.tar.gz`: the archive cannot be used: the tar.gz archive is damaged or incomplete: unexpected end of file
    error: `download-0` cannot be installed: `[SERVER]/tool.tar.gz` answered with status 404
    error: `download-0` cannot be installed: the redirect of `[SERVER]/tool.tar.gz` is refused: its scheme `file` is neither http nor https
    error: `download-0` cannot be installed: `[SERVER]/tool.tar.gz` is larger than 256 MiB
    ");
}

#[test]
fn an_archive_that_leaves_its_folder_is_refused() {
    // The library that writes archives does not write such names.
    let mut header = tar::Header::new_gnu();
    let name = b"../../../evil";
    header.as_old_mut().name[..name.len()].copy_from_slice(name);
    header.set_size(1);
    header.set_mode(0o644);
    header.set_cksum();
    let mut bytes = header.as_bytes().to_vec();
    bytes.push(b'x');
    bytes.resize(512 * 4, 0);
    let digest = format!(", archive: tar, sha256: {}", sha256(&bytes));
    assert_snapshot!(downloaded(Reply::ok(bytes), &digest), @"error: `download-0` cannot be installed from `[SERVER]/tool.tar.gz`: the archive cannot be used: the archive holds `../../../evil`, which is refused: its path contains `..`");
}

#[test]
fn a_download_never_leaves_https() {
    let Some(made) = Certificates::make() else { return };
    let plain = Server::start();
    plain.reply("/tool", Reply::ok(TOOL));
    let elsewhere = format!("HTTP/1.1 302 Found\r\nLocation: {}\r\n", plain.url("/tool"));
    let port = serve(&made, b"\r\n\r\n", format!("{elsewhere}Content-Length: 0\r\n\r\n"));
    let digest = sha256(TOOL.as_bytes());
    let env = made.known_in(with_options(&format!(
        "{{kind: download, url: 'https://localhost:{port}/tool', sha256: {digest}, bins: [tool]}}"
    )));
    let outcome = install(&env, &["--yes"]);
    assert_eq!(outcome.code, 1, "{outcome}");
    assert_snapshot!(outcome.stderr.replace(&port.to_string(), "[PORT]"), @"
    downloading https://localhost:[PORT]/tool
    error: `download-0` cannot be installed: the redirect of `https://localhost:[PORT]/tool` is refused: it leads from https to http
    hint: use an address that leads there directly
    ");
    assert!(plain.requests().is_empty(), "it was not even asked for");
}

#[test]
fn without_a_digest_agreeing_is_not_enough() {
    let env = with_options("{kind: download, url: 'https://localhost:1/tool', bins: [tool]}");
    assert_snapshot!(install(&env, &["--yes"]), @"
    exit 1
    ----- stdout
    ship needs tool
    download-0  https://localhost:1/tool (download)
      download https://localhost:1/tool
      not verified: the skill names no sha256
      put into [HOME]/.metier/tools/[SHIP]/download-0
    ----- stderr
    error: the skill does not say what `download-0` must be: it has no `sha256`
    hint: `--unverified` installs whatever the server sends; ask the author for a digest
    ");
    let outcome = install(&env, &["--yes", "--unverified"]);
    assert!(outcome.stderr.contains("cannot connect to `localhost:1`"), "{outcome}");
}
