//! Plans beside bash.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use libtest_mimic::Failed;
use metier_agent::host::walk_of;
use metier_approval::{Action, Approved, Descriptor, Judged, Redirection, Simple, Step, Target};
use metier_testkit::skip;

use crate::bench::{Bench, Seen};
use crate::generate::{Chance, command};

/// How many commands are made, of which most may not run.
const COMMANDS: u64 = 10_000;
/// How many of them must have been allowed and compared, or the test says nothing.
const ENOUGH: usize = 2_000;
/// How many run at the same time.
const THREADS: u64 = 2;

/// Commands that were chosen for what is odd about them. All of them may run.
const KNOWN: &[&str] = &[
    "ok | bad && ok2 || bad7; ok",
    "bad || ok && ok2",
    "bad && cd sub || ok",
    "bad; cd sub && ok; cd deep; ok; cd ../..; ok",
    "bad7; cd sub",
    "cd -- -d && ok; cd ..; ok a",
    "ok a$ $ \"b$\" \"$ \" $|ok2 $;bad $&&ok",
    "ok 2>&1 >file | ok2 2>new 1>&2",
    "ok >new 2>&1 | ok2 2>&1 >file",
    "ok &>new; ok &>>new; ok 2>&1>file; bad7 >new",
    "ok >1 2 >2 \\2>3",
    "A=1 A=2 B2='x y' ok A=3; >file A=1 ok; ok",
    "env A=1 B2= ok a; env A='x y' nice timeout 20 ok2 'b  c' >new",
    "env ok2; nice bad7; nohup bad7 | timeout 20 bad7",
    "cat file | tr a-z A-Z | head -1 >new; sort -r new sub/f | uniq -c",
    "cat missing || cat file 2>/dev/null | wc -l",
    "cat missing 2>&1 | wc -c; grep -n x file | cut -d= -f2",
    "head -1; cat",
    "ok; cat",
    "cat <file; cat <sub/f >new; cat new file",
    "echo 'a  b' -n; echo -n x; printf '%s|' a 'b c'; pwd; cd sub && pwd",
    "test -f file && [ 1 = 1 ] || false; true | false",
    "ok '\u{1}' \u{7f} \r \"\u{b}\" é\\é \"\\a\\$\\`\\\"\\\\\n\"",
    "ok {} \"{a,b}\" \"{\"a,b\"}\" \\{a,b '*' \\? \"[a-z]\" [",
];

pub(crate) fn generated_commands() -> Result<(), Failed> {
    let compared = AtomicUsize::new(0);
    let part = |first: u64| {
        let bench = Bench::new();
        bench.reset();
        for seed in (first..COMMANDS).step_by(usize::try_from(THREADS).unwrap()) {
            if compared.load(Ordering::Relaxed) >= ENOUGH {
                return Ok(());
            }
            let text = command(&mut Chance::new(seed));
            let Some(approved) = bench.allowed(&text).filter(|it| !is_a_race(it)) else { continue };
            compare(&bench, &text, &approved)
                .map_err(|why| format!("seed {seed}: {}", why.message().unwrap_or_default()))?;
            bench.reset();
            compared.fetch_add(1, Ordering::Relaxed);
        }
        Ok::<_, String>(())
    };
    thread::scope(|scope| {
        let parts: Vec<_> = (0..THREADS).map(|first| scope.spawn(move || part(first))).collect();
        parts.into_iter().try_for_each(|part| part.join().unwrap())
    })?;
    match compared.into_inner() {
        few if few < ENOUGH => Err(format!("only {few} of {COMMANDS} were compared").into()),
        _ => Ok(()),
    }
}

pub(crate) fn known_commands() -> Result<(), Failed> {
    let bench = Bench::new();
    for text in KNOWN {
        bench.reset();
        let approved = bench.allowed(text).ok_or_else(|| format!("{text:?} may not run"))?;
        compare(&bench, text, &approved)?;
    }
    Ok(())
}

/// Who may list a folder may not run a shell, although one file is both.
pub(crate) fn program_of_many() -> Result<(), Failed> {
    let busybox = ["/usr/bin/busybox", "/bin/busybox"].iter().find(|path| Path::new(path).exists());
    let Some(busybox) = busybox else {
        skip("a_wrapper_starts_the_program_of_many_that_was_judged", "`busybox` is not installed");
        return Ok(());
    };
    let bench = Bench::new();
    symlink(busybox, bench.root().join("bin/ls"))?;
    for text in
        ["env ls sh", "timeout 20 ls sh -c 'echo >made'", "nice env ls sub", "ls file; ls sh"]
    {
        bench.reset();
        let approved = bench.allowed(text).ok_or_else(|| format!("{text:?} may not run"))?;
        compare(&bench, text, &approved)?;
        assert!(!bench.start().join("made").exists(), "{text:?}");
    }
    Ok(())
}

/// Runs a command that may run, in a place that is as it was.
///
/// # Errors
///
/// What bash does differently, or what ran that is not in the plan.
pub(crate) fn compare(bench: &Bench, text: &str, approved: &Approved) -> Result<(), Failed> {
    let walked = bench.walk(approved);
    bench.reset();
    let bash = bench.bash(text);
    let names: BTreeMap<String, String> = known(approved)
        .into_iter()
        .map(|known| (format!("{:?}", known.called), format!("{:?}", known.written)))
        .collect();
    let has_pipes = commands(approved).len() != approved.plan.steps.iter().filter(is_run).count();
    let [walked, bash] = [walked, bash].map(|seen| comparable(seen, has_pipes, &names));
    for record in &walked.records {
        let words = record.split('\t').next().unwrap_or_default();
        if !names.values().any(|known| known == words) {
            return Err(format!("{text:?} started {words}, which is not in the plan").into());
        }
    }
    if walked == bash {
        Ok(())
    } else {
        Err(format!("{text:?}\nthe plan does {}\nbash does {}", shown(&walked), shown(&bash))
            .into())
    }
}

fn is_run(step: &&Step) -> bool {
    matches!(step.action, Action::Run(_))
}

/// All programs of a plan, one after the other.
fn commands(approved: &Approved) -> Vec<&Simple> {
    let of_step = |action| match action {
        &Action::Enter(_) => [].iter(),
        Action::Run(commands) => commands.iter(),
    };
    approved.plan.steps.iter().flat_map(|step| of_step(&step.action)).collect()
}

/// A program that a plan starts.
pub(crate) struct Known {
    /// Its words as it is run. What a wrapper starts is called by its path.
    pub(crate) called: Vec<String>,
    /// Its words as they are written.
    pub(crate) written: Vec<String>,
    /// The program, with all links followed.
    pub(crate) real: PathBuf,
    /// Where it runs.
    pub(crate) folder: PathBuf,
}

/// All programs that a plan starts, and those that they start in turn.
pub(crate) fn known(approved: &Approved) -> Vec<Known> {
    let walk = walk_of(approved);
    let walked = walk.steps.iter().flat_map(|step| &step.programs);
    let mut known = Vec::new();
    for ((simple, judged), walked) in
        commands(approved).into_iter().zip(&approved.programs).zip(walked)
    {
        let called: Vec<_> =
            walked.arguments.iter().map(|word| word.to_str().unwrap().to_owned()).collect();
        let inner = judged.inner.iter().map(|(at, inner)| (*at, inner));
        known.extend([(0, &judged.program)].into_iter().chain(inner).map(|(at, program)| Known {
            called: called[at..].to_vec(),
            written: simple.words[at..].to_vec(),
            real: program.file.real.clone(),
            folder: judged.directory.real.clone(),
        }));
    }
    known
}

/// What can be compared: programs of a pipeline start and speak in any order.
fn comparable(mut seen: Seen, has_pipes: bool, names: &BTreeMap<String, String>) -> Seen {
    for record in &mut seen.records {
        if let Some((words, rest)) = record.split_once('\t')
            && let Some(written) = names.get(words)
        {
            *record = format!("{written}\t{rest}");
        }
    }
    if has_pipes {
        seen.records.sort();
        seen.output.sort_unstable();
        seen.error.sort_unstable();
    }
    seen
}

/// Whether what a command does depends on which of its programs is faster.
pub(crate) fn is_a_race(approved: &Approved) -> bool {
    let mut judged = approved.programs.iter();
    approved.plan.steps.iter().any(|step| {
        let Action::Run(stages) = &step.action else { return false };
        let words: Vec<&[String]> = stages
            .iter()
            .zip(&mut judged)
            .map(|(simple, judged)| innermost(simple, judged))
            .collect();
        let is_cut_short = |at: usize| {
            // It writes, and then may complain, if nobody has ended it by then.
            words[at][0] == "cat"
                && words[at].len() > 2
                && !reads_everything(&stages[at + 1], words[at + 1])
        };
        shares_files(stages) || (1..stages.len()).any(|at| is_cut_short(at - 1))
    })
}

/// What a program comes to when wrappers are taken off.
fn innermost<'a>(simple: &'a Simple, judged: &Judged) -> &'a [String] {
    &simple.words[judged.inner.last().map_or(0, |(at, _)| *at)..]
}

/// Whether a program reads all that is piped into it: recorders do.
fn reads_everything(simple: &Simple, words: &[String]) -> bool {
    let is_input = |it: &Redirection| it.descriptor == Descriptor::Input;
    ["ok", "ok2", "bad", "bad7"].contains(&words[0].as_str())
        && !simple.redirections.iter().any(is_input)
}

/// Whether programs that run at the same time use the same file, or one reads what it writes.
fn shares_files(stages: &[Simple]) -> bool {
    let [mut written, mut read] = [Vec::new(), Vec::new()];
    for stage in stages {
        let name = |path: &str| Path::new(path).file_name().map(OsStr::to_owned);
        read.extend(stage.words.iter().filter_map(|word| name(word)));
        for redirection in &stage.redirections {
            match &redirection.target {
                Target::Nothing | Target::Same(_) => {}
                Target::Read(path) => read.extend(name(path)),
                Target::Write(path) | Target::Append(path) => written.extend(name(path)),
            }
        }
    }
    let is_shared = |name: &OsString| {
        let writers = written.iter().filter(|other| *other == name).count();
        writers > 1 && stages.len() > 1 || read.contains(name)
    };
    written.iter().any(is_shared)
}

fn shown(seen: &Seen) -> String {
    let files: Vec<String> = seen
        .files
        .iter()
        .map(|(path, text)| format!("{} {:?}", path.display(), String::from_utf8_lossy(text)))
        .collect();
    format!(
        "{:?}\n{}\n{:?}\n{:?}\n{}",
        seen.status,
        seen.records.join("\n"),
        String::from_utf8_lossy(&seen.output),
        String::from_utf8_lossy(&seen.error),
        files.join("\n"),
    )
}
