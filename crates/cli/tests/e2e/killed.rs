//! `metier exec --save`, killed at any moment: what was reported is there, nothing is half there, and
//! nothing runs on.

mod aftermath;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use metier_testkit::TestEnv;
use serde_json::Value;
use sha2::{Digest, Sha256};

use self::aftermath::{age, groups, is_mounted, wait_until_gone};
use crate::{environment, json, write_skill};

/// Runs in all, by this many workers at a time.
const RUNS: usize = 200;
const WORKERS: usize = 2;
/// Every so many runs, one is not killed, and one is not confined. The first two of a worker are not
/// killed either: such runs tell how long one takes.
const SPARED: usize = 11;
const UNCONFINED: usize = 5;
/// Sizes of the files that runs make, in bytes before they are written as text.
const SIZES: [usize; 4] = [40, 3_000, 30_000, 200_000];
/// The first moments follow from this, so that a failure can be looked for again.
const SEED: u64 = 0x6d65_7469_6572;

/// Files of some sizes, each put in place at once (from the same folder: `work` is another mount, where
/// files are copied), with the name of the run at its beginning and the
/// digest of everything before it at its end. Meanwhile something else runs. When a part of it is
/// killed a moment before the rest, the rest does not go on with what there is.
const MAKE: &str = r#"set -e; mark=$1; shift
setsid sh -c 'sleep 300; :' "$mark" > /dev/null 2>&1 &
for size; do
  head -c "$size" /dev/urandom | base64 > work/random
  { echo "$mark"; cat work/random; } > work/body
  sum=$(sha256sum < work/body)
  { cat work/body; echo "${sum%% *}"; } > "out/$size.part"
  mv "out/$size.part" "out/$size.txt"
done
"#;

/// A run to be made.
#[derive(Debug)]
struct Order {
    binary: PathBuf,
    session: String,
    mark: String,
    sizes: Vec<usize>,
    executor: &'static str,
}

impl Order {
    fn command(&self, env: &TestEnv) -> Command {
        let mut command = env.command(&self.binary);
        command.args(["exec", "demo", "--json", "--save", "--session", &self.session]);
        command.args(["--skills-dir", "skills", "--no-default-sources"]);
        command.args(["--executor", self.executor, "--", "sh", "scripts/make.sh", &self.mark]);
        command.args(self.sizes.iter().map(usize::to_string));
        command
    }

    /// What the run said it has kept, if it came to say it.
    fn reported(&self, said: &Path) -> Option<Vec<Reported>> {
        let text = fs::read_to_string(said).expect("a file of ours");
        let answer: Value = serde_json::from_str(&text).ok()?;
        let kept = answer["artifact_files"].as_array().expect("what was kept").iter();
        Some(kept.map(|it| self.one(it)).collect())
    }

    fn one(&self, kept: &Value) -> Reported {
        let name = kept["name"].as_str().expect("a name").to_owned();
        let is_own = self.sizes.iter().any(|size| name == format!("out/{size}.txt"));
        Reported {
            session: self.session.clone(),
            version: kept["version"].as_u64().expect("a version"),
            mark: is_own.then(|| self.mark.clone()),
            name,
        }
    }
}

/// An artifact that a run said it has kept.
#[derive(Debug)]
struct Reported {
    session: String,
    name: String,
    version: u64,
    /// How it begins, if this run made it.
    mark: Option<String>,
}

/// What a worker has to tell.
#[derive(Debug, Default)]
struct Told {
    reported: Vec<Reported>,
    killed: Vec<u32>,
    finished: usize,
}

#[test]
fn a_run_killed_at_any_moment_leaves_whole_artifacts_and_no_process() {
    let started = Instant::now();
    let before = groups();
    let env = environment().with_variable("PATH", "/usr/bin:/bin");
    write_skill(&env, "demo", "name: demo\ndescription: Demo. Use when testing.");
    env.write("project/skills/demo/scripts/make.sh", MAKE);
    let told: Vec<Told> = thread::scope(|scope| {
        let workers = (0..WORKERS).map(|index| {
            let worker = Worker::new(&env, index);
            scope.spawn(move || worker.work())
        });
        let workers: Vec<_> = workers.collect();
        workers.into_iter().map(|worker| worker.join().expect("a worker ends well")).collect()
    });
    let killed: Vec<u32> = told.iter().flat_map(|it| it.killed.iter().copied()).collect();
    let reported: Vec<&Reported> = told.iter().flat_map(|it| &it.reported).collect();

    next_run_removes_groups(&env, &killed, &before);
    nothing_is_left_after_gc(&env);
    let there = load_all(&env);
    for Reported { session, name, version, mark } in reported.iter().copied() {
        let content = there.get(&(session.clone(), name.clone(), *version));
        let content = content.unwrap_or_else(|| panic!("{session}/{name}@{version} is gone"));
        assert!(mark.as_ref().is_none_or(|mark| content.starts_with(mark)), "{name}@{version}");
    }

    let finished: usize = told.iter().map(|it| it.finished).sum();
    let text = format!(
        "{} runs, {} killed, {finished} finished, {} artifacts, {} of them reported, {:.1} s",
        RUNS,
        killed.len(),
        there.len(),
        reported.len(),
        started.elapsed().as_secs_f64()
    );
    metier_testkit::report("exec::killed", &text);
    assert!(killed.len() > RUNS / 4 && !reported.is_empty() && there.len() > reported.len());
}

/// A number may be that of another process by now, whose group goes when it has ended, or of one that was
/// killed before and left a group where nobody looks any more.
fn next_run_removes_groups(env: &TestEnv, killed: &[u32], before: &BTreeMap<PathBuf, u32>) {
    /// More than any run of another test takes.
    const TRIES: usize = 20;
    let left = || {
        let mut left = groups();
        left.retain(|group, maker| killed.contains(maker) && !before.contains_key(group));
        left
    };
    for _ in 0..TRIES {
        let outcome = env.run(["exec", "demo", "--skills-dir", "skills", "--", "true"]);
        assert_eq!(outcome.code, 0, "{outcome}");
        if left().is_empty() {
            return;
        }
        thread::sleep(Duration::from_millis(200));
    }
    panic!("the next run leaves {:?}", left());
}

/// Starts runs one after the other, in sessions of its own.
struct Worker<'a> {
    env: &'a TestEnv,
    index: usize,
    /// A name of the binary that processes of this worker are known by.
    binary: PathBuf,
    random: u64,
}

impl<'a> Worker<'a> {
    fn new(env: &'a TestEnv, index: usize) -> Self {
        let binary = env.root().join(format!("bin/metier-{index}"));
        if fs::hard_link(env.binary(), &binary).is_err() {
            fs::copy(env.binary(), &binary).expect("another name for the binary");
        }
        Self { env, index, binary, random: SEED + index as u64 }
    }

    fn work(mut self) -> Told {
        let mut told = Told::default();
        let mut lengths = BTreeMap::new();
        for count in 0..RUNS / WORKERS {
            let order = self.order(count);
            let said = self.env.root().join(format!("{}.json", order.mark));
            let mut command = order.command(self.env);
            command.stdout(File::create(&said).expect("a file")).stderr(Stdio::null());
            let began = Instant::now();
            let mut run = command.spawn().expect("it starts");
            if is_spared(count) {
                assert!(run.wait().expect("it ends").success(), "{order:?}");
                lengths.insert(order.executor, began.elapsed());
            } else {
                thread::sleep(self.moment(lengths[order.executor]));
                told.killed.extend(self.kill(&mut run, &order));
            }
            let reported = order.reported(&said);
            told.finished += usize::from(reported.is_some());
            told.reported.extend(reported.into_iter().flatten());
        }
        told
    }

    fn order(&mut self, count: usize) -> Order {
        let is_unconfined = if count < 2 { count == 1 } else { count % UNCONFINED == 1 };
        let executor = if is_unconfined { "host" } else { "sandbox" };
        let random = usize::try_from(self.next() % SIZES.len() as u64).expect("it is small");
        let files = if is_spared(count) { SIZES.len() } else { 1 + random };
        Order {
            binary: self.binary.clone(),
            session: format!("{}-{}-{executor}", self.index, count % 3),
            mark: format!("mark-{}-{}-{count}", std::process::id(), self.index),
            sizes: SIZES[SIZES.len() - files..].to_vec(),
            executor,
        }
    }

    /// Kills a run, unless it has ended, and sees that nothing of it goes on.
    fn kill(&self, run: &mut Child, order: &Order) -> Option<u32> {
        run.kill().expect("it was not waited for");
        let status = run.wait().expect("it ends");
        let mut gone = wait_until_gone(run.id(), &order.mark, &self.binary);
        if gone.is_err() && order.executor == "host" {
            self.env.run(["gc"]);
            gone = wait_until_gone(run.id(), &order.mark, &self.binary);
        }
        gone.unwrap_or_else(|left| panic!("{order:?} left {left:#?}"));
        assert!(!is_mounted(&self.env.root()), "{order:?} left a mount");
        status.code().is_none().then_some(run.id())
    }

    /// Any moment of a run of that length. Most have less to do, so there are later ones too.
    fn moment(&mut self, length: Duration) -> Duration {
        length.mul_f64((self.next() % 10_000) as f64 / 10_000.0)
    }

    /// SplitMix64.
    fn next(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.random ^ (self.random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

fn is_spared(count: usize) -> bool {
    count < 2 || count.is_multiple_of(SPARED)
}

/// The text of every version of every artifact of every session. Each is whole.
fn load_all(env: &TestEnv) -> BTreeMap<(String, String, u64), String> {
    let sessions = (0..WORKERS).flat_map(|worker| (0..3).map(move |it| format!("{worker}-{it}")));
    let sessions = sessions.flat_map(|it| ["sandbox", "host"].map(|who| format!("{it}-{who}")));
    let mut all = BTreeMap::new();
    for session in sessions {
        let artifacts =
            |rest: &[&str]| env.run(["artifacts", "--session", &session].iter().chain(rest));
        let list = artifacts(&["list", "--json"]);
        if list.stderr.starts_with("error: there is no session") {
            // All its runs were killed.
            continue;
        }
        for listed in json(&list).as_array().expect("a list") {
            let name = listed["name"].as_str().expect("a name");
            let versions = json(&artifacts(&["versions", name, "--json"]));
            let versions = versions.as_array().expect("a list").iter();
            for (expected, version) in (0..).zip(versions) {
                assert_eq!(version["version"], expected, "no number is left out");
                let outcome = artifacts(&["get", &format!("{name}@{expected}")]);
                assert_eq!(outcome.code, 0, "{session}/{name}@{expected}: {}", outcome.stderr);
                // What a killed program left unfinished is kept as it is by the next run.
                let is_whole = name.ends_with(".part") || is_whole(&outcome.stdout);
                assert!(
                    is_whole,
                    "{session}/{name}@{expected} is half there:
{}",
                    outcome.stdout
                );
                all.insert((session.clone(), name.to_owned(), expected), outcome.stdout);
            }
        }
    }
    all
}

/// Whether the last line is the digest of those before it.
fn is_whole(text: &str) -> bool {
    let Some((body, digest)) = text.strip_suffix('\n').and_then(|it| it.rsplit_once('\n')) else {
        return false;
    };
    let own = Sha256::new().chain_update(body).chain_update("\n").finalize();
    own.iter().map(|byte| format!("{byte:02x}")).collect::<String>() == digest
}

/// Lets time pass, and looks for what is still there after `metier gc`.
fn nothing_is_left_after_gc(env: &TestEnv) {
    let state = env.home().join(".metier");
    env.write("home/.metier/cache/.tmpA1b2C3", "half of a cache");
    age(&state, Duration::from_hours(2));
    let outcome = env.run(["gc"]);
    assert_eq!(outcome.code, 0, "{outcome}");
    let names = |folder: &str| {
        let entries = fs::read_dir(state.join(folder)).expect("a folder of ours");
        let names = entries.map(|it| it.expect("an entry").file_name().into_string());
        names.map(|it| it.expect("a name in UTF-8")).collect::<Vec<String>>()
    };
    assert_eq!(names("artifacts/staging"), Vec::<String>::new());
    let unfinished = |folder: &str| names(folder).into_iter().filter(|it| it.starts_with('.'));
    assert_eq!(unfinished("content").chain(unfinished("cache")).count(), 0);
    age(&state, Duration::from_hours(8 * 24));
    let outcome = env.run(["gc"]);
    assert_eq!(outcome.code, 0, "{outcome}");
    assert_eq!(names("workspaces/metier/local"), Vec::<String>::new());
}
