//! Plans as text, and programs that are put where they belong.

use std::fs;
use std::io::Cursor;
use std::os::unix::fs::{PermissionsExt, symlink};

use super::*;
use crate::header::{ReadOptions, Requirements, WithoutHeader, read};
use crate::library::Missing;
use crate::scratch::Scratch;

/// The requirements of a skill that offers these ways.
fn requirements(install: &str) -> Requirements {
    let text = format!(
        "---\nname: ship\ndescription: d\nmetadata:\n  metier:\n    install: [{install}]\n---\n"
    );
    let options = ReadOptions { folder: Some("ship"), without_header: WithoutHeader::Refuse };
    let manifest = read(&text, &options).manifest.expect("it can be read");
    manifest.gate.requirements().expect("so can this").clone()
}

const MANAGERS: [&str; 8] = ["brew", "npm", "pnpm", "go", "uv", "cargo", "python3", "apt-get"];

fn situation<'a>(has: &'a dyn Fn(&str) -> bool) -> Situation<'a> {
    Situation {
        os: "linux",
        has,
        is_root: true,
        prefer_brew: true,
        node_manager: NodeManager::Npm,
        python: "/usr/bin/python3",
        folder: "/s/tools/ship",
    }
}

/// One line for each way: what would be run, or why not.
fn told(install: &str, situation: &Situation<'_>) -> String {
    let line = |offer: &Offer| {
        let what = match &offer.plan {
            InstallPlan::Run(commands) => commands
                .iter()
                .map(|it| {
                    let set = it.environment.iter().map(|(name, value)| format!("{name}={value} "));
                    format!("{}{}", set.collect::<String>(), it.arguments.join(" "))
                })
                .collect::<Vec<_>>()
                .join(" && "),
            InstallPlan::Download(it) => format!("{it:?}"),
        };
        let obstacle = offer.obstacle.as_ref().map(|why| format!(" BUT {why}"));
        format!("{}: {what}{}", offer.id, obstacle.unwrap_or_default())
    };
    offers(&requirements(install), situation).iter().map(line).collect::<Vec<_>>().join("\n")
}

const ALL: &str = "{kind: download, url: 'https://example.com/tool-1.tar.gz', bins: [tool], stripComponents: 1}, \
    {kind: apt, package: jq}, {kind: pip, package: 'ruff==0.6.1'}, {kind: cargo, package: ripgrep@14.1.0}, \
    {kind: go, module: 'example.com/cmd/x@v1'}, {kind: brew, formula: jq}, {kind: brew, cask: some-app, id: app}, \
    {kind: node, package: '@scope/pkg@^1'}, {kind: uv, package: 'black[d]'}";

#[test]
fn each_manager_has_its_command_and_its_own_place() {
    let has = |name: &str| MANAGERS.contains(&name);
    insta::assert_snapshot!(told(ALL, &situation(&has)), @r#"
    brew-5: brew install --formula jq
    app: brew install --cask some-app
    uv-8: UV_TOOL_BIN_DIR=/s/tools/ship/uv-8/bin UV_TOOL_DIR=/s/tools/ship/uv-8/tools uv tool install --no-build --python /usr/bin/python3 black[d]
    node-7: npm install -g --ignore-scripts --prefix /s/tools/ship/node-7 @scope/pkg@^1
    go-4: GOBIN=/s/tools/ship/go-4/bin go install example.com/cmd/x@v1
    cargo-3: cargo install --locked --root /s/tools/ship/cargo-3 ripgrep@14.1.0
    pip-2: /usr/bin/python3 -m venv --clear /s/tools/ship/pip-2 && /s/tools/ship/pip-2/bin/python -m pip install --disable-pip-version-check --no-input --only-binary :all: ruff==0.6.1
    apt-1: DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends jq
    download-0: DownloadPlan { url: "https://example.com/tool-1.tar.gz", sha256: None, archive: Some(TarGz), strip: 1, folder: "/s/tools/ship/download-0", file: "tool" }
    "#);
}

#[test]
fn the_manager_of_node_packages_is_a_setting() {
    let has = |_: &str| true;
    let lines = ["pnpm", "yarn", "bun"].map(|name| {
        let node_manager = NodeManager::of_name(name).unwrap();
        told("{kind: node, package: x}", &Situation { node_manager, ..situation(&has) })
    });
    insta::assert_snapshot!(lines.join("\n"), @"
    node-0: pnpm add -g --ignore-scripts --global-dir /s/tools/ship/node-0 --global-bin-dir /s/tools/ship/node-0/bin x
    node-0: yarn global add --ignore-scripts --global-folder /s/tools/ship/node-0 --prefix /s/tools/ship/node-0 x
    node-0: BUN_INSTALL_BIN=/s/tools/ship/node-0/bin BUN_INSTALL_GLOBAL_DIR=/s/tools/ship/node-0 bun add -g --ignore-scripts x
    ");
    assert_eq!(NodeManager::of_name("deno"), None);
}

#[test]
fn what_cannot_be_done_here_comes_last_and_says_why() {
    let has = |name: &str| ["apt-get", "python3"].contains(&name);
    let situation = Situation { is_root: false, ..situation(&has) };
    let install = "{kind: brew, formula: jq}, {kind: apt, package: jq}, \
        {kind: download, url: 'https://example.com/x', os: [darwin, win32]}, {kind: pip, package: jq}";
    insta::assert_snapshot!(told(install, &situation), @r#"
    pip-3: /usr/bin/python3 -m venv --clear /s/tools/ship/pip-3 && /s/tools/ship/pip-3/bin/python -m pip install --disable-pip-version-check --no-input --only-binary :all: jq
    brew-0: brew install --formula jq BUT the program `brew` is not there
    apt-1: DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends jq BUT it needs root
    download-2: DownloadPlan { url: "https://example.com/x", sha256: None, archive: None, strip: 0, folder: "/s/tools/ship/download-2", file: "x" } BUT it is for darwin or win32
    "#);
}

#[test]
fn without_a_preference_for_it_homebrew_comes_after_uv_and_node() {
    let has = |_: &str| true;
    let install = "{kind: brew, formula: x}, {kind: node, package: x}, {kind: uv, package: x}";
    let order = |prefer_brew| {
        let offers = offers(&requirements(install), &Situation { prefer_brew, ..situation(&has) });
        offers.iter().map(|it| it.id.clone()).collect::<Vec<_>>().join(" ")
    };
    insta::assert_snapshot!(order(true), @"brew-0 uv-2 node-1");
    insta::assert_snapshot!(order(false), @"uv-2 node-1 brew-0");
}

fn chosen(install: &str, bins: &[&str], any_bins: &[&str]) -> String {
    let has = |name: &str| name != "brew";
    let offers = offers(&requirements(install), &situation(&has));
    let owned = |names: &[&str]| names.iter().map(|it| (*it).to_owned()).collect();
    let missing = Missing { bins: owned(bins), any_bins: owned(any_bins), ..Missing::default() };
    let chosen = choose(&offers, &missing);
    let ids: Vec<&str> = chosen.offers.iter().map(|it| it.id.as_str()).collect();
    format!("{} | unmet {}", ids.join(" "), chosen.unmet.join(", "))
}

#[test]
fn ways_are_chosen_until_nothing_is_missing() {
    let two =
        "{kind: uv, package: a, bins: [a], id: A}, {kind: cargo, package: b, bins: [b, c], id: B}";
    insta::assert_snapshot!(chosen(two, &["a"], &[]), @"A | unmet");
    insta::assert_snapshot!(chosen(two, &["c", "a", "b"], &[]), @"B A | unmet");
    insta::assert_snapshot!(chosen(two, &["a", "z"], &[]), @"A | unmet z");
    insta::assert_snapshot!(chosen(two, &[], &["z", "b"]), @"B | unmet");
    insta::assert_snapshot!(chosen(two, &["b"], &["z", "c"]), @"B | unmet");
    insta::assert_snapshot!(chosen("{kind: uv, package: a}", &["x", "y"], &[]), @"uv-0 | unmet");
    insta::assert_snapshot!(chosen("{kind: brew, formula: a, bins: [a]}", &["a"], &[]), @" | unmet a");
    insta::assert_snapshot!(chosen(two, &[], &[]), @" | unmet");
}

#[test]
fn two_skills_never_share_a_folder_whatever_their_keys_are() {
    let keys = ["ship", "sh/ip", "sh ip", "../ship", "写作", "作写", ""];
    let folders = keys.map(tool_folder);
    for (at, folder) in folders.iter().enumerate() {
        assert!(
            !folder.contains('/') && !folder.starts_with('.') && folder.len() <= 60,
            "{folder}"
        );
        assert!(!folders[..at].contains(folder), "{folder}");
    }
}

fn plan(folder: &std::path::Path) -> DownloadPlan {
    DownloadPlan {
        url: "https://example.com/tool".to_owned(),
        sha256: None,
        archive: None,
        strip: 0,
        folder: folder.to_owned(),
        file: "tool".to_owned(),
    }
}

#[test]
fn a_download_replaces_the_folder_and_leaves_nothing_beside_it() {
    let scratch = Scratch::new();
    let folder = scratch.path("tools/ship/tool");
    place(Cursor::new(b"one"), &plan(&folder)).unwrap();
    fs::write(folder.join("leftover"), "").unwrap();
    place(Cursor::new(b"two"), &plan(&folder)).unwrap();
    assert_eq!(fs::read(folder.join("tool")).unwrap(), b"two");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    assert_eq!(fs::read_dir(scratch.path("tools/ship")).unwrap().count(), 1);
}

#[test]
fn what_is_no_archive_leaves_the_folder_as_it_was() {
    let scratch = Scratch::new();
    let folder = scratch.path("tools/ship/tool");
    place(Cursor::new(b"one"), &plan(&folder)).unwrap();
    let archive = Some(crate::header::ArchiveKind::TarGz);
    let error = place(Cursor::new(b"no archive"), &DownloadPlan { archive, ..plan(&folder) });
    assert!(matches!(error, Err(PlaceError::Archive(_))), "{error:?}");
    assert_eq!(fs::read(folder.join("tool")).unwrap(), b"one");
    assert_eq!(fs::read_dir(scratch.path("tools/ship")).unwrap().count(), 1);
}

fn link(scratch: &Scratch, names: &[&str]) -> Result<Vec<Linked>, PlaceError> {
    let names: Vec<String> = names.iter().map(|it| (*it).to_owned()).collect();
    link_programs(&scratch.path("tool"), &names, &scratch.path("bin"))
}

#[test]
fn a_program_is_found_linked_and_made_executable() {
    let scratch = Scratch::new();
    scratch.write("tool/docs/tool", "not this one");
    scratch.write("tool/bin/tool", "this one");
    scratch.write("tool/a/deep/other", "x");
    let linked = link(&scratch, &["tool", "other"]).unwrap();
    assert_eq!(linked[0].replaced, None);
    assert_eq!(fs::read_to_string(scratch.path("bin/tool")).unwrap(), "this one");
    for name in ["bin/tool", "bin/other"] {
        let mode = fs::metadata(scratch.path(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o111, 0o111, "{name}");
    }
    assert_eq!(fs::read_dir(scratch.path("bin")).unwrap().count(), 2);
}

#[test]
fn a_program_that_takes_the_name_of_another_says_so() {
    let scratch = Scratch::new();
    scratch.write("tool/tool", "x");
    scratch.write("elsewhere/tool", "y");
    scratch.folder("bin");
    symlink(scratch.path("elsewhere/tool"), scratch.path("bin/tool")).unwrap();
    let linked = link(&scratch, &["tool"]).unwrap();
    assert_eq!(linked[0].replaced, Some(scratch.path("elsewhere/tool")));
    assert_eq!(link(&scratch, &["tool"]).unwrap()[0].replaced, None);
}

#[test]
fn a_program_that_is_not_there_or_leads_outside_is_not_linked() {
    let scratch = Scratch::new();
    scratch.write("tool/tool", "x");
    scratch.folder("tool/bin");
    symlink("/bin/sh", scratch.path("tool/bin/shell")).unwrap();
    for (name, rule) in [("missing", "is not in what was"), ("shell", "is not a file of what was")]
    {
        let error = link(&scratch, &["tool", name]).unwrap_err().to_string();
        assert!(error.contains(rule), "{error}");
        assert!(!scratch.path("bin/tool").exists(), "all or none");
    }
}
