//! The whole agent killed at any moment, again and again, until its sessions are done.
//!
//! The agent is this program itself, told by a variable. It says what it was asked and what it has
//! kept, after the append returned, and its killer holds it to that.

use std::collections::BTreeMap;
use std::collections::hash_map::RandomState;
use std::env;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use libtest_mimic::Failed;
use metier_agent::agent::{Progress, Watcher};
use metier_session::{Content, Event};

use crate::crowd::{Asked, Crowd, Listener, all_at_once, only_grows};
use crate::member::Member;

const FOLDER: &str = "METIER_TEST_SCALE_FOLDER";
const SESSIONS: usize = 300;
/// How often the agent is killed.
const KILLS: usize = 8;
/// What it may say before it is killed, at the most: then there is work left after the last time.
const MOST_LINES: u64 = 200;

/// Everything the agent said in all of its lives.
#[derive(Default)]
struct Said {
    /// The ids of events that it kept, by session and number.
    kept: BTreeMap<(Member, u64), String>,
    asked: BTreeMap<Member, Vec<Asked>>,
}

/// Is the agent that is to be killed, if told so; gives whether it was.
pub(crate) fn is_the_one_to_kill() -> bool {
    let Some(folder) = env::var_os(FOLDER) else { return false };
    let crowd = Crowd::open(Path::new(&folder));
    all_at_once((0..SESSIONS).map(Member), |member| {
        let crowd = crowd.clone();
        async move { crowd.finish(member, listener(), watcher(member)).await }
    });
    true
}

pub(crate) fn every_session_goes_on() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let mut said = Said::default();
    let mut at_work = 0;
    for _ in 0..KILLS {
        let mut agent = start(folder.path())?;
        let mut output = BufReader::new(agent.stdout.take().ok_or("it has an output")?);
        let mut left = random(MOST_LINES);
        while left > 0 && said.hear(&mut output)? {
            left -= 1;
        }
        thread::sleep(Duration::from_micros(random(5_000)));
        agent.kill()?;
        let ended = agent.wait()?;
        assert!(ended.success() || ended.signal().is_some(), "it failed by itself: {ended}");
        at_work += usize::from(ended.signal().is_some());
        while said.hear(&mut output)? {}
        said.judge(folder.path());
    }
    let mut agent = start(folder.path())?;
    let mut output = BufReader::new(agent.stdout.take().ok_or("it has an output")?);
    while said.hear(&mut output)? {}
    assert!(agent.wait()?.success(), "the agent cannot go on");
    let interrupted = said.judge_done(folder.path());
    metier_testkit::report(
        "agent::scale",
        &format!(
            "{} acknowledged, {at_work} of {KILLS} killed at work, {interrupted} calls interrupted",
            said.kept.len()
        ),
    );
    assert!(at_work >= KILLS / 2, "the agent was done before it was killed: {at_work}");
    Ok(())
}

impl Said {
    /// Takes in the next thing that the agent says in full, until it ends.
    fn hear(&mut self, output: &mut impl BufRead) -> io::Result<bool> {
        let mut line = String::new();
        if output.read_line(&mut line)? == 0 || !line.ends_with('\n') {
            return Ok(false);
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |word: &str| word.parse::<u64>().unwrap();
        let member = |word: &str| Member(word.parse().unwrap());
        match words[..] {
            ["kept", session, seq, id] => {
                let before = self.kept.insert((member(session), number(seq)), id.to_owned());
                assert_eq!(before, None, "event {seq} of session {session} was kept twice");
            }
            ["asked", session, strangers, ref digests @ ..] => {
                let digests = digests.iter().map(|word| number(word)).collect();
                let strangers = strangers.parse().unwrap();
                let asked = Asked { digests, strangers };
                self.asked.entry(member(session)).or_default().push(asked);
            }
            _ => panic!("{line}"),
        }
        Ok(true)
    }

    /// Whether everything that was acknowledged is there, in its place.
    fn judge(&self, folder: &Path) -> BTreeMap<Member, Vec<Event>> {
        let events = read(folder);
        for ((member, seq), id) in &self.kept {
            let found = events[member].iter().find(|event| event.seq == *seq);
            let found = found.map(|event| event.id.to_string());
            assert_eq!(found.as_ref(), Some(id), "event {seq} of {member:?} was acknowledged");
        }
        for (member, events) in &events {
            let (shown, expected) = (member.shown(events), member.expected());
            assert!(expected.starts_with(&shown), "{member:?}: {shown:#?}");
        }
        for (member, asked) in &self.asked {
            assert!(only_grows(asked), "{member:?}: a request does not begin with the one before");
            assert!(asked.iter().all(|it| it.strangers == 0), "{member:?}: it names another");
        }
        events
    }

    /// The same, and everything is done; gives how many calls were interrupted.
    fn judge_done(&self, folder: &Path) -> usize {
        let mut interrupted = 0;
        for (member, events) in self.judge(folder) {
            assert_eq!(member.shown(&events), member.expected(), "{member:?}");
            let is_interrupted = |event: &&Event| match &event.content {
                Content::ToolResponse(response) => response.text.contains("was interrupted"),
                _ => false,
            };
            interrupted += events.iter().filter(is_interrupted).count();
        }
        interrupted
    }
}

/// What every session has.
fn read(folder: &Path) -> BTreeMap<Member, Vec<Event>> {
    let crowd = Crowd::open(folder);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let mut all = BTreeMap::new();
        for member in (0..SESSIONS).map(Member) {
            all.insert(member, crowd.events(member).await);
        }
        all
    })
}

fn start(folder: &Path) -> io::Result<Child> {
    Command::new(env::current_exe()?).env(FOLDER, folder).stdout(Stdio::piped()).spawn()
}

fn listener() -> Listener {
    Arc::new(|member, asked| {
        let digests: Vec<String> = asked.digests.iter().map(u64::to_string).collect();
        say(&format!("asked {} {} {}", member.0, asked.strangers, digests.join(" ")));
    })
}

fn watcher(member: Member) -> Watcher {
    Arc::new(move |progress| {
        if let Progress::Appended(event) = progress {
            say(&format!("kept {} {} {}", member.0, event.seq, event.id));
        }
    })
}

/// One write for each line, so that none is cut by the next.
fn say(line: &str) {
    io::stdout().lock().write_all(format!("{line}\n").as_bytes()).unwrap();
}

fn random(below: u64) -> u64 {
    RandomState::new().build_hasher().finish() % below
}
