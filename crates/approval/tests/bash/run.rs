//! Bash, beside the plan.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

use libtest_mimic::Failed;
use metier_approval::{Action, Plan, Target, parse, quote};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use tempfile::TempDir;

use crate::generate;
use crate::model::{self, Place};
use crate::recorder;

/// How many commands are generated: enough to meet every pair of pieces, few enough for every run of the tests.
const CASES: u32 = 2_000;

/// Commands that were chosen for what is odd about them.
const KNOWN: &[&str] = &[
    "yes | no && yes2 || no2; yes",
    "no || yes && yes2",
    "no && yes || yes2",
    "yes || no && yes2",
    "cd sub && yes; cd deep; yes; cd ../..; yes",
    "cd link && yes; cd ..; yes",
    "cd -- -d && yes",
    "no && cd sub || yes",
    "yes a$ $ \"b$\" \"$ \" $|yes2 $;no $&&yes",
    "yes 2>&1 >file | yes2 2>file 1>&2",
    "yes >file 2>&1 | yes2 2>&1 >file",
    "yes 2&>file; yes &>>file; yes 2>&1>file",
    "yes >1 2 >2 \\2>3",
    "A=1 A=2 B='x y' yes A=3; >file A=1 yes; yes",
    "yes {} [ ] ! a#b a~ a:~ --x=~ x=y:z \"A\"=~",
    "A=2>file yes; yes|2>new yes2;2>>new yes",
    "A=x\\:~ B=\"\"~ C=\":\"~ yes 1A=~ a-b=~ -A=~ A\\=~ =~ \"\"~ \\~",
    "yes \"$\n\" \"$\t\" \"a$\"b 'c'$ \\$x $>file",
    "yes {} \"{a,b}\" \"{\"a,b\"}\" \\{a,b '*' \\? \"[a-z]\" [",
    "cd ./sub//deep/ && yes; cd /; cd ..; yes <missing",
    "yes&>new;yes &>>new 2>file;yes >&1>new 2>&1",
    "\"if\" a; \\time; 'A=1' x; yes",
    "yes '\u{1}' \u{7f} \r \"\u{b}\" é\\é",
    "yes \"\\a\\$\\`\\\"\\\\\n\"",
    "yes <missing && yes2; yes2 <missing || yes",
    "yes <missing | yes2",
    "missing; yes | missing || yes2",
];

pub(crate) fn generated_commands() -> Result<(), Failed> {
    let [analysed, compared] = [Cell::new(0), Cell::new(0)];
    let strategy = (generate::command(), any::<bool>());
    runner(CASES).run(&strategy, |(text, has_characters)| {
        let Ok(plan) = parse(&text) else { return Ok(()) };
        analysed.set(analysed.get() + 1);
        if let Some((told, done)) = compare(&text, &plan, has_characters) {
            compared.set(compared.get() + 1);
            prop_assert_eq!(told, done, "{:?}", text);
        }
        Ok(())
    })?;
    let [analysed, compared] = [analysed.get(), compared.get()];
    if compared < CASES / 4 {
        return Err(format!("only {analysed} had a plan, and {compared} were compared").into());
    }
    Ok(())
}

pub(crate) fn known_commands() -> Result<(), Failed> {
    for text in KNOWN {
        let plan = parse(text).unwrap();
        let (told, done) = compare(text, &plan, true).unwrap();
        assert_eq!(told, done, "{text:?}");
    }
    Ok(())
}

pub(crate) fn quoted_words() -> Result<(), Failed> {
    let words = prop::collection::vec("[^\0]{0,8}", 1..20);
    Ok(runner(300).run(&words, |words| {
        let quoted: Vec<String> = words.iter().map(|word| quote(word)).collect();
        let text = format!("printf '%s\\0' {}", quoted.join(" "));
        let output = Command::new(bash()).args(["-c", "--", &text]).env_clear().output().unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        let printed: Vec<&str> = printed.split_terminator('\0').collect();
        prop_assert_eq!(printed, words, "{:?}", text);
        Ok(())
    })?)
}

fn runner(cases: u32) -> TestRunner {
    TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() })
}

/// What the plan says and what bash did, if they can be compared.
fn compare(text: &str, plan: &Plan, has_characters: bool) -> Option<(String, String)> {
    if is_a_race(plan) {
        return None;
    }
    let mut variables = BTreeMap::new();
    if has_characters {
        variables.insert("LC_ALL".to_owned(), "C.UTF-8".to_owned());
    }
    let twin = Tree::new();
    let place = Place { top: twin.top.path(), start: &twin.start, variables: &variables };
    let steps = model::walk(plan, &place)?;
    let tree = Tree::new();
    let log = tree.run(text, &variables);
    let mut lines = log.lines();
    let mut told = String::new();
    let mut done = String::new();
    for records in steps {
        let lines: Vec<&str> = lines.by_ref().take(records.len()).collect();
        done += &in_order(lines.iter().map(|line| format!("{line}\n")).collect());
        told += &in_order(records.iter().map(recorder::Record::line).collect());
    }
    done.extend(lines.map(|line| format!("{line}\n")));
    Some((told + &twin.files(), done + &tree.files()))
}

/// Programs of a pipeline start in any order; pipes are told apart by who has their ends.
fn in_order(mut lines: Vec<String>) -> String {
    let ends = |line: &str| -> Vec<String> {
        line.trim_end().split('\t').skip(1).map(str::to_owned).collect()
    };
    let files: Vec<Vec<String>> = lines.iter().map(|line| ends(line)).collect();
    for line in &mut lines {
        let own = ends(line);
        let what = line.split('\t').next().unwrap_or_default().to_owned();
        *line = what;
        for file in own {
            let holders = |index: usize| {
                let holding = files.iter().filter(|files| files.get(index) == Some(&file));
                holding.count()
            };
            *line += &if file.starts_with("\"pipe") {
                format!("\tpipe {:?}", [holders(0), holders(1), holders(2)])
            } else {
                format!("\t{file}")
            };
        }
        *line += "\n";
    }
    lines.sort();
    lines.concat()
}

/// Whether programs of a pipeline read and write the same file, or make what another one needs.
fn is_a_race(plan: &Plan) -> bool {
    plan.steps.iter().any(|step| {
        let Action::Run(stages) = &step.action else { return false };
        let targets = || stages.iter().flat_map(|stage| &stage.redirections).map(|one| &one.target);
        let reads = targets().any(|target| matches!(target, Target::Read(_)));
        let writes = targets().any(|target| matches!(target, Target::Write(_) | Target::Append(_)));
        stages.len() > 1 && reads && writes
    })
}

/// Where bash is; programs are looked for elsewhere.
fn bash() -> PathBuf {
    let folders = std::env::var_os("PATH").unwrap();
    let mut paths = std::env::split_paths(&folders).map(|folder| folder.join("bash"));
    paths.find(|path| path.is_file()).expect("bash is there")
}

/// Folders in which a command runs.
struct Tree {
    top: TempDir,
    start: PathBuf,
}

impl Tree {
    fn new() -> Self {
        let top = TempDir::new_in(std::env::temp_dir().canonicalize().unwrap()).unwrap();
        let start = top.path().join("w/x/y/z/start");
        for folder in ["sub/deep", "-d", "../side"] {
            fs::create_dir_all(start.join(folder)).unwrap();
        }
        for file in ["file", "sub/f", "sub/deep/file", "../file"] {
            fs::write(start.join(file), "full").unwrap();
        }
        symlink("../side", start.join("link")).unwrap();
        Self { top, start }
    }

    /// Gives a command to bash. What its programs recorded.
    fn run(&self, text: &str, variables: &BTreeMap<String, String>) -> String {
        let top = self.top.path();
        let bin = top.join("bin");
        fs::create_dir(&bin).unwrap();
        for program in recorder::PROGRAMS {
            symlink(std::env::current_exe().unwrap(), bin.join(program)).unwrap();
        }
        for file in ["in", "log"] {
            fs::write(top.join(file), "").unwrap();
        }
        Command::new(bash())
            .args(["-c", "--", text])
            .env_clear()
            .envs(variables)
            .env("PATH", bin)
            .env(recorder::LOG, top.join("log"))
            .env(recorder::TOP, top)
            .current_dir(&self.start)
            .stdin(File::open(top.join("in")).unwrap())
            .stdout(File::create(top.join("out")).unwrap())
            .stderr(File::create(top.join("err")).unwrap())
            .status()
            .unwrap();
        fs::read_to_string(top.join("log")).unwrap()
    }

    /// The files that are there, and whether what was in them still is. What bash itself says about a command is not
    /// looked at.
    fn files(&self) -> String {
        let mut files = Vec::new();
        let mut folders = vec![self.top.path().join("w")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let entry = entry.unwrap();
                if entry.file_type().unwrap().is_dir() {
                    folders.push(entry.path());
                }
                let name = recorder::below(self.top.path(), &entry.path());
                let is_file = entry.file_type().unwrap().is_file();
                let is_full = is_file && fs::read(entry.path()).unwrap().starts_with(b"full");
                files.push(format!("{name:?} {}\n", if is_full { "full" } else { "" }));
            }
        }
        files.sort();
        files.concat()
    }
}
