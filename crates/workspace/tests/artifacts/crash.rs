//! Several processes at one folder, and processes that are killed.
//!
//! The savers are this test program itself, told by variables what to do.

use std::collections::hash_map::RandomState;
use std::env;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, BufRead, BufReader, Write};
use std::iter;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::thread;
use std::time::Duration;

use metier_workspace::artifact::{About, ArtifactStore, DirectoryStore};

use crate::support::{key, read};

const FOLDER: &str = "METIER_TEST_SAVER_FOLDER";
const COUNT: &str = "METIER_TEST_SAVER_COUNT";

/// Starts a process that saves so many versions and says so after each.
fn saver(folder: &Path, count: usize) -> Child {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "crash::saves_when_told_to", "--ignored", "--nocapture"]);
    command.env(FOLDER, folder).env(COUNT, count.to_string());
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

#[tokio::test]
#[ignore = "it is a program for the other tests"]
async fn saves_when_told_to() {
    let Some(folder) = env::var_os(FOLDER) else { return };
    let count: usize = env::var(COUNT).unwrap().parse().unwrap();
    let store = DirectoryStore::open(Path::new(&folder)).unwrap();
    for _ in 0..count {
        let content = vec![b'x'; usize::try_from(random(300_000)).unwrap()];
        let key = key("s", "shared");
        let saved = store.save(&key, &mut &content[..], &About::default()).await.unwrap();
        writeln!(io::stdout(), "\nsaved {} {}", saved.version, saved.digest).unwrap();
    }
}

/// The next thing that a saver says in full, until it ends.
fn next_said(output: &mut BufReader<ChildStdout>) -> Option<(u64, String)> {
    let mut line = String::new();
    while output.read_line(&mut line).unwrap() > 0 && line.ends_with('\n') {
        if let ["saved", version, digest] = *line.split_whitespace().collect::<Vec<_>>() {
            return Some((version.parse().unwrap(), digest.to_owned()));
        }
        line.clear();
    }
    None
}

fn output(saver: &mut Child) -> BufReader<ChildStdout> {
    BufReader::new(saver.stdout.take().unwrap())
}

/// All that a saver says until it ends.
fn all_said(mut saver: Child) -> Vec<(u64, String)> {
    let mut output = output(&mut saver);
    let said = iter::from_fn(|| next_said(&mut output)).collect();
    assert!(saver.wait().unwrap().success());
    said
}

/// Reads all versions to their ends.
async fn whole(store: &DirectoryStore) -> Vec<(u64, String)> {
    let mut versions = Vec::new();
    for info in store.versions(&key("s", "shared")).await.unwrap() {
        let loaded = store.load(&key("s", "shared"), Some(info.version)).await.unwrap();
        read(loaded).await.unwrap();
        versions.push((info.version, info.digest));
    }
    versions
}

#[tokio::test]
async fn processes_that_save_at_once_get_distinct_versions() {
    let folder = tempfile::tempdir().unwrap();
    let savers: Vec<_> = (0..4).map(|_| saver(folder.path(), 15)).collect();
    let mut reported: Vec<_> = savers.into_iter().flat_map(all_said).collect();
    reported.sort();
    let numbers: Vec<u64> = reported.iter().map(|(version, _)| *version).collect();
    assert_eq!(numbers, (0..60).collect::<Vec<_>>());
    let store = DirectoryStore::open(folder.path()).unwrap();
    assert_eq!(whole(&store).await, reported);
}

#[tokio::test]
async fn a_saver_killed_at_any_moment_leaves_only_whole_versions() {
    /// How often a saver is killed.
    const KILLS: usize = 50;
    let folder = tempfile::tempdir().unwrap();
    let store = DirectoryStore::open(folder.path()).unwrap();
    let mut reported = Vec::new();
    let mut leftovers = 0;
    for _ in 0..KILLS {
        let mut saver = saver(folder.path(), usize::MAX);
        let mut output = output(&mut saver);
        reported.extend(next_said(&mut output));
        thread::sleep(Duration::from_micros(random(40_000)));
        saver.kill().unwrap();
        reported.extend(iter::from_fn(|| next_said(&mut output)));
        saver.wait().unwrap();
        leftovers += store.clean(Duration::ZERO).await.unwrap();
    }
    let there = whole(&store).await;
    let numbers: Vec<u64> = there.iter().map(|(version, _)| *version).collect();
    assert_eq!(numbers, (0..there.len() as u64).collect::<Vec<_>>());
    for version in &reported {
        assert!(there.contains(version), "{version:?} was reported and is gone");
    }
    assert_eq!(folder.path().join("staging").read_dir().unwrap().count(), 0);
    let text = format!(
        "{} versions, {} reported, {leftovers} unfinished removed",
        there.len(),
        reported.len()
    );
    metier_testkit::report("artifacts::crash", &text);
    assert!(!reported.is_empty() && leftovers > 0, "nothing was interrupted: {text}");
}

fn random(below: u64) -> u64 {
    RandomState::new().build_hasher().finish() % below
}
