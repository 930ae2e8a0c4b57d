//! What is asked of a server, and what becomes of its answers.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Duration;

use metier_skill::files::Digest;
use serde_json::json;

use super::fetch::{ListedSkills, SkillFileSource, contents, in_time};
use super::*;
use crate::SilentReporter;

/// A server with some files, which notes what it is asked for.
#[derive(Default)]
struct Double {
    files: BTreeMap<String, Vec<u8>>,
    asked: RefCell<Vec<(String, u64)>>,
}

impl SkillFileSource for Double {
    async fn bytes(&self, uri: &str, most: u64) -> Result<Vec<u8>, McpClientError> {
        self.asked.borrow_mut().push((uri.to_owned(), most));
        let refused = || McpClientError::Refused {
            server: "one".to_owned(),
            code: -32602,
            message: "there is no such file".to_owned(),
        };
        self.files.get(uri).cloned().ok_or_else(refused)
    }
}

const TEXT: &str = "---\nname: ship\ndescription: Ships.\n---\nShip it.\n";

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime").block_on(future)
}

fn server() -> SkillName {
    SkillName::new("one").expect("a name")
}

/// A skill as a server lists it.
fn listed(uri: &str, files: &[(&str, &str)]) -> McpSkill {
    let file = |(uri, content): &(&str, &str)| {
        let digest = Digest::of_bytes(content.as_bytes());
        json!({ "uri": uri, "digest": format!("sha256:{digest}"), "size": content.len() })
    };
    let told = json!({
        "uri": uri,
        "frontmatter": { "name": "ship", "description": "Ships." },
        "resources": files.iter().map(file).collect::<Vec<_>>(),
    });
    serde_json::from_value(told).expect("an entry")
}

fn ship() -> McpSkill {
    listed("skill://ship/SKILL.md", &[("skill://ship/SKILL.md", TEXT), ("skill://ship/a.sh", "ls")])
}

fn fetched(double: &Double) -> Result<Vec<Vec<u8>>, String> {
    let skill = read(&server(), &ship()).expect("a skill");
    block_on(contents(double, &skill)).map_err(|failure| failure.to_string())
}

#[test]
fn files_are_asked_for_one_by_one_with_the_size_that_was_told() {
    let mut double = Double::default();
    double.files.insert("skill://ship/SKILL.md".to_owned(), TEXT.into());
    double.files.insert("skill://ship/a.sh".to_owned(), "ls".into());
    assert_eq!(fetched(&double), Ok(vec![TEXT.into(), "ls".into()]));
    let asked = [
        ("skill://ship/SKILL.md".to_owned(), TEXT.len() as u64),
        ("skill://ship/a.sh".to_owned(), 2),
    ];
    assert_eq!(*double.asked.borrow(), asked);
}

#[test]
fn the_first_lie_ends_the_fetching() {
    let mut double = Double::default();
    double
        .files
        .insert("skill://ship/SKILL.md".to_owned(), TEXT.replace("Ship it", "Rob it").into());
    double.files.insert("skill://ship/a.sh".to_owned(), "ls".into());
    insta::assert_snapshot!(fetched(&double).expect_err("a lie"), @"`SKILL.md` has 47 bytes; its server said 48");
    assert_eq!(double.asked.borrow().len(), 1);
    double
        .files
        .insert("skill://ship/SKILL.md".to_owned(), TEXT.replace("Ship it", "Sink it").into());
    assert!(fetched(&double).expect_err("a lie").contains("has the digest"));
    double.files.remove("skill://ship/SKILL.md");
    insta::assert_snapshot!(fetched(&double).expect_err("a gap"), @"the server `one` refuses: there is no such file (code -32602)");
}

/// A server that lets whoever asks wait.
struct Silent;

impl SkillFileSource for Silent {
    async fn bytes(&self, _: &str, _: u64) -> Result<Vec<u8>, McpClientError> {
        std::future::pending().await
    }
}

#[test]
fn files_that_do_not_come_are_not_waited_for_for_ever() {
    let skill = read(&server(), &ship()).expect("a skill");
    let fetching = in_time(Duration::from_millis(20), contents(&Silent, &skill));
    let failure = block_on(fetching).expect_err("nothing came");
    insta::assert_snapshot!(failure, @"its files did not come within 0 s");
}

#[test]
fn what_breaks_the_rules_is_not_used_and_that_is_said() {
    let mut offers = SkillOffers::default();
    let outside = [("skill://ship/SKILL.md", TEXT), ("skill://ship/../x", "")];
    let skills = vec![
        ship(),
        ship(),
        listed("skill://ship/SKILL.md", &outside),
        listed("skill://other/SKILL.md", &[]),
    ];
    let problems = vec![
        (Some("skill://x".to_owned()), "it has no files".to_owned()),
        (None, "it is no object".to_owned()),
    ];
    offers.take(&server(), ListedSkills { skills, problems });
    assert_eq!(offers.skills.len(), 1);
    let problems: Vec<String> =
        offers.problems.iter().map(|it| format!("{}: {}", it.path.display(), it.message)).collect();
    insta::assert_snapshot!(problems.join("\n"), @"
    one skill://x: this skill is not used: it has no files
    one: this skill is not used: it is no object
    one skill://ship/SKILL.md: this skill is not used: it is listed twice
    one skill://ship/SKILL.md: this skill is not used: the file `skill://ship/../x` is not inside its folder
    one skill://other/SKILL.md: this skill is not used: it is called `ship`, and its folder `other`
    ");
}

#[test]
fn a_server_that_cannot_be_asked_has_what_was_trusted_and_fetched() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = RemoteStore::new(folder.path().to_owned());
    let skill = read(&server(), &ship()).expect("a skill");
    store.put(&skill, &[TEXT.into(), "ls".into()]).expect("its files");
    let gone =
        McpClientError::Ended { server: "one".into(), how: "is gone".into(), said: String::new() };
    let (mut unreachable, mut wrong) = (SkillOffers::default(), SkillOffers::default());
    unreachable.do_without(&SilentReporter, &server(), gone);
    wrong.do_not_ask("one", "it is described wrongly".to_owned());
    let count = |trust: &TrustStore| {
        let [left, right] = [&unreachable, &wrong].map(|offers| {
            assert_eq!(offers.problems.len(), 1);
            offers.judged(trust, &store).len()
        });
        assert_eq!(left, right);
        left
    };
    let mut trust = TrustStore::default();
    assert_eq!(count(&trust), 0);
    trust.trust_remote(&skill);
    assert_eq!(count(&trust), 1);
    store.forget(&server(), &skill.uri).expect("it goes");
    assert_eq!(count(&trust), 0);
}

#[test]
fn what_was_offered_is_judged_anew_without_asking() {
    let mut offers = SkillOffers::default();
    offers.take(&server(), ListedSkills { skills: vec![ship()], ..ListedSkills::default() });
    let folder = tempfile::tempdir().expect("a folder");
    let store = RemoteStore::new(folder.path().to_owned());
    let state = |trust: &TrustStore| offers.judged(trust, &store)[0].1.clone();
    let mut trust = TrustStore::default();
    assert_eq!(state(&trust), TrustState::Untrusted);
    trust.trust_remote(&offers.skills[0]);
    assert_eq!(state(&trust), TrustState::Trusted);
}
