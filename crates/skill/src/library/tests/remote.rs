//! Skills of other servers: none is used until somebody trusted it, and none hides another.

use serde_json::json;

use super::World;
use crate::discover::Source;
use crate::files::Digest;
use crate::library::{EntryChoice, Patterns, TrustStore};
use crate::name::SkillName;
use crate::remote::{Offer, OfferedFile, RemoteSkill};

/// A skill of a server, with one file.
pub(super) fn remote(name: &str, server: &str) -> RemoteSkill {
    offered(server, &format!("skill://{name}/SKILL.md"), &[("SKILL.md", "text")])
}

/// A skill at an address, with files of some content.
fn offered(server: &str, uri: &str, files: &[(&str, &str)]) -> RemoteSkill {
    let folder = uri.strip_suffix("/SKILL.md").unwrap();
    let file = |(path, content): &(&str, &str)| OfferedFile {
        uri: format!("{folder}/{path}"),
        digest: format!("sha256:{}", Digest::of_bytes(content.as_bytes())),
        size: content.len() as u64,
    };
    let files: Vec<OfferedFile> = files.iter().map(file).collect();
    told(server, uri, &json!({}), Some(&files))
}

fn told(
    server: &str,
    uri: &str,
    more: &serde_json::Value,
    files: Option<&[OfferedFile]>,
) -> RemoteSkill {
    let name = uri.strip_suffix("/SKILL.md").unwrap().rsplit('/').next().unwrap();
    let mut fields = json!({ "name": name, "description": "Elsewhere." });
    for (field, value) in more.as_object().unwrap() {
        fields[field] = value.clone();
    }
    let offer = Offer { uri, frontmatter: fields.as_object().unwrap(), files };
    RemoteSkill::read(&SkillName::new(server).unwrap(), &offer).unwrap()
}

#[test]
fn skills_of_other_servers_are_not_used_until_each_is_trusted() {
    let mut world = World::new();
    world.remote = vec![remote("a", "one"), remote("b", "one")];
    world.trust_all = true;
    insta::assert_snapshot!(world.outcome(), @"
    a (remote) one skill://a/SKILL.md
      not eligible, offered by the server one and not trusted: read `skill://a/SKILL.md`, then trust it
    b (remote) one skill://b/SKILL.md
      not eligible, offered by the server one and not trusted: read `skill://b/SKILL.md`, then trust it
    M086 warning one: 2 skills of this server are not trusted, and not used; read the skills of `one`, then trust those that are wanted
    ");
    assert_eq!(world.build().catalog.text, "");
    assert!(world.trust.trust_remote(&world.remote[0]));
    insta::assert_snapshot!(world.outcome(), @"
    a (remote) one skill://a/SKILL.md
    b (remote) one skill://b/SKILL.md
      not eligible, offered by the server one and not trusted: read `skill://b/SKILL.md`, then trust it
    M086 warning one: a skill of this server is not trusted, and not used; read the skills of `one`, then trust those that are wanted
    ");
    insta::assert_snapshot!(world.build().catalog.text, @"
    Available skills:
    - a: (from the server one) Elsewhere.
    ");
}

#[test]
fn a_set_that_changed_is_not_trusted_and_says_what_changed() {
    let uri = "skill://a/SKILL.md";
    let mut world = World::new();
    world.remote = vec![offered("one", uri, &[("SKILL.md", "text"), ("b.md", "b"), ("c.md", "c")])];
    world.trust.trust_remote(&world.remote[0]);
    assert!(world.build().entries[0].verdict.is_eligible());
    world.remote = vec![offered("one", uri, &[("SKILL.md", "text"), ("b.md", "x"), ("d.md", "c")])];
    insta::assert_snapshot!(world.outcome(), @"
    a (remote) one skill://a/SKILL.md
      not eligible, changed on the server one since it was trusted: b.md, d.md (new), c.md (gone): read `skill://a/SKILL.md`, then trust it
    M087 warning one skill://a/SKILL.md: changed since it was trusted: b.md, d.md (new), c.md (gone); look at the changes, then trust it again
    ");
    // What was trusted of one server is not trusted of another.
    world.remote = vec![offered("two", uri, &[("SKILL.md", "text"), ("b.md", "b"), ("c.md", "c")])];
    assert!(!world.build().entries[0].verdict.is_eligible());
}

#[test]
fn a_header_that_is_told_otherwise_is_not_trusted() {
    let uri = "skill://a/SKILL.md";
    let digest = format!("sha256:{}", Digest::of_bytes(b"text"));
    let files = [OfferedFile { uri: uri.to_owned(), digest, size: 4 }];
    let mut world = World::new();
    world.remote =
        vec![told("one", uri, &json!({ "license": "MIT", "x": { "a": 1, "b": 2 } }), Some(&files))];
    world.trust.trust_remote(&world.remote[0]);
    world.remote =
        vec![told("one", uri, &json!({ "x": { "b": 2, "a": 1 }, "license": "MIT" }), Some(&files))];
    assert!(world.build().entries[0].verdict.is_eligible(), "in whichever order");
    world.remote =
        vec![told("one", uri, &json!({ "license": "MIT", "x": { "a": 1 } }), Some(&files))];
    insta::assert_snapshot!(world.outcome(), @"
    a (remote) one skill://a/SKILL.md
      not eligible, changed on the server one since it was trusted: what its server tells of its header: read `skill://a/SKILL.md`, then trust it
    M087 warning one skill://a/SKILL.md: changed since it was trusted: what its server tells of its header; look at the changes, then trust it again
    ");
}

#[test]
fn files_that_nobody_can_name_are_never_trusted() {
    let mut world = World::new();
    world.remote = vec![told("one", "skill://a/SKILL.md", &json!({}), None)];
    assert!(!world.trust.trust_remote(&world.remote[0]));
    insta::assert_snapshot!(world.outcome(), @"
    a (remote) one skill://a/SKILL.md
      not eligible, the server one makes its files when they are asked for, so nobody can tell what they are
    ");
    // Not even if they had names before.
    world.trust.trust_remote(&remote("a", "one"));
    assert!(!world.build().entries[0].verdict.is_eligible());
}

#[test]
fn skills_of_one_name_are_told_apart_by_server_and_path() {
    let mut world = World::new();
    world.remote = vec![
        remote("a", "one"),
        remote("a", "two"),
        offered("two", "skill://x/y/a/SKILL.md", &[("SKILL.md", "text")]),
        offered("two", "other://x/y/a/SKILL.md", &[("SKILL.md", "text")]),
        remote("b", "one"),
    ];
    insta::assert_snapshot!(world.outcome(), @"
    a (remote) one skill://a/SKILL.md
      not eligible, offered by the server one and not trusted: read `skill://a/SKILL.md`, then trust it
    b (remote) one skill://b/SKILL.md
      not eligible, offered by the server one and not trusted: read `skill://b/SKILL.md`, then trust it
    two:a (remote) two skill://a/SKILL.md
      not eligible, offered by the server two and not trusted: read `skill://two:a/SKILL.md`, then trust it
    two:x.y.a (remote) two skill://x/y/a/SKILL.md
      not eligible, offered by the server two and not trusted: read `skill://two:x.y.a/SKILL.md`, then trust it
    M086 warning one: 2 skills of this server are not trusted, and not used; read the skills of `one`, then trust those that are wanted
    M086 warning two: 3 skills of this server are not trusted, and not used; read the skills of `two`, then trust those that are wanted
    M085 warning two other://x/y/a/SKILL.md: there is no name left for this `a`, so it is not used
    M085 warning two skill://a/SKILL.md: `a` is the name of another server's skill too; this one goes by `two:a`
    M085 warning two skill://x/y/a/SKILL.md: `a` is the name of another server's skill too; this one goes by `two:x.y.a`
    ");
    // One that is trusted keeps its name, whatever else is offered.
    world.trust.trust_remote(&world.remote[1]);
    let snapshot = world.build();
    assert_eq!(snapshot.find("a").unwrap().server().unwrap().as_str(), "two");
    assert_eq!(snapshot.find("one:a").unwrap().server().unwrap().as_str(), "one");
}

#[test]
fn no_trusted_skill_of_a_server_takes_the_place_of_one_of_this_machine() {
    let mut world = World::new();
    world.remote = vec![remote("ship", "one"), remote("pack", "one")];
    for skill in world.remote.clone() {
        world.trust.trust_remote(&skill);
    }
    world.scratch.skill("project/skills/ship");
    world.scratch.skill("p/skills/pack");
    world.root(Source::Project, "project/skills");
    world.plugin("tools", "p/skills");
    insta::assert_snapshot!(world.outcome(), @"
    pack (plugin) p/skills/pack/SKILL.md
      hides one skill://pack/SKILL.md
    ship (project) project/skills/ship/SKILL.md
      not eligible, the project is not trusted: look at its files, then trust the project
      hides one skill://ship/SKILL.md
    M086 warning project: the project is not trusted, so its skill is not used; look at its files, then trust the project
    M084 note one skill://pack/SKILL.md: `pack` is hidden by p/skills/pack/SKILL.md (plugin)
    M084 note one skill://ship/SKILL.md: `ship` is hidden by project/skills/ship/SKILL.md (project)
    ");
}

#[test]
fn a_skill_of_a_server_claims_neither_tools_nor_settings_of_others() {
    let uri = "skill://a/SKILL.md";
    let digest = format!("sha256:{}", Digest::of_bytes(b"text"));
    let files = [OfferedFile { uri: uri.to_owned(), digest, size: 4 }];
    let claims = json!({
        "allowed-tools": "Bash(*)",
        "command-dispatch": "tool",
        "command-tool": "exec",
        "metadata": { "metier": { "skillKey": "bank", "requires": { "env": ["KEY"] } } },
    });
    let mut world = World::new();
    world.remote = vec![told("one", uri, &claims, Some(&files))];
    world.trust.trust_remote(&world.remote[0]);
    let given = |key: &str| {
        let env = ["KEY".to_owned()].into();
        (key.to_owned(), EntryChoice { env, ..EntryChoice::default() })
    };
    world.choices.entries = [given("bank"), given("a")].into();
    let entry = &world.build().entries[0];
    assert!(entry.manifest.allowed_tools.is_empty());
    assert_eq!(entry.manifest.invocation.dispatch, None);
    insta::assert_snapshot!(world.outcome(), @r#"
    a (remote) one skill://a/SKILL.md
      not eligible, needs the variable KEY: set KEY, or give it to `one:a` in the configuration
    "#);
    world.choices.entries = [given("one:a")].into();
    assert!(world.build().entries[0].verdict.is_eligible());
}

#[test]
fn what_the_person_refuses_is_refused_by_its_own_name_too() {
    let mut world = World::new();
    world.remote = vec![remote("a", "one"), remote("a", "two")];
    for skill in world.remote.clone() {
        world.trust.trust_remote(&skill);
    }
    assert!(world.build().entries.iter().all(|it| it.verdict.is_eligible()));
    world.choices.denied = Patterns::new(&["a"]).unwrap();
    assert!(!world.build().entries.iter().any(|it| it.verdict.is_eligible()));
}

#[test]
fn another_set_is_another_fingerprint() {
    let mut world = World::new();
    let mut print = |content| {
        world.remote = vec![offered("one", "skill://a/SKILL.md", &[("SKILL.md", content)])];
        world.build().fingerprint().to_owned()
    };
    assert_ne!(print("text"), print("other"));
    assert_eq!(print("text"), print("text"));
}

#[test]
fn trust_in_skills_is_kept_beside_trust_in_projects_and_old_files_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("trust.json");
    std::fs::write(&file, r#"{"version":1,"projects":{"/p":{"skills":{}}}}"#).unwrap();
    let mut store = TrustStore::load(&file).unwrap();
    store.trust_remote(&remote("a", "one"));
    store.save().unwrap();
    insta::assert_snapshot!(std::fs::read_to_string(&file).unwrap(), @r#"
    {
      "version": 2,
      "projects": {
        "/p": {
          "skills": {}
        }
      },
      "servers": {
        "one": {
          "skill://a/SKILL.md": {
            "name": "a",
            "header": "a1d87f9d19b373c73dc0093d6fdb82a8a0e206e868490731857eb5bde28d9ce0",
            "files": {
              "SKILL.md": "d44783d6116a7ebc19c8eee8273a9df04fcdd564d7dbf105615f7e32d16dfddd"
            }
          }
        }
      }
    }
    "#);
    let mut store = TrustStore::load(&file).unwrap();
    assert_eq!(store.projects().count(), 1);
    assert!(!store.revoke_remote("two", "skill://a/SKILL.md"));
    assert!(store.revoke_remote("one", "skill://a/SKILL.md"));
    store.save().unwrap();
    insta::assert_snapshot!(std::fs::read_to_string(&file).unwrap(), @r#"
    {
      "version": 1,
      "projects": {
        "/p": {
          "skills": {}
        }
      }
    }
    "#);
    std::fs::write(&file, r#"{"version":3,"projects":{}}"#).unwrap();
    assert!(TrustStore::load(&file).is_err());
}
