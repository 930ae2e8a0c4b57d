//! The benchmark `approval`: what reading and judging a very long command costs, beside looking at each of its bytes once.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Result, ensure};
use metier_approval::{
    ArgumentRule, Ask, Entry, Executable, Facts, FileFact, Identity, Mode, Policy, ProtectedPlaces,
    Rules, judge, parse,
};

use crate::statistics::Spread;
use crate::table::Table;

/// Where commands start, and may write.
const START: &str = "/home/me/project";
/// How long the commands are.
const BYTES: usize = 100_000;

/// How to measure.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ApprovalArgs {
    /// Repeat less often
    #[arg(long)]
    quick: bool,
}

/// Measures and prints.
pub(crate) fn run(arguments: &ApprovalArgs) -> Result<()> {
    let rounds = if arguments.quick { 21 } else { 201 };
    let policy = policy();
    let mut table =
        Table::new(&["command of 100 kB", "floor ms", "parse ms", "÷ floor", "judge ms"]);
    for Shape { name, text, has_plan } in shapes() {
        ensure!(parse(&text).is_ok() == has_plan, "{name}: {:?}", parse(&text).err());
        let mut floors = Vec::new();
        let mut times = Vec::new();
        let mut verdicts = Vec::new();
        let plan = parse(&text);
        for _ in 0..rounds {
            floors.push(milliseconds(|| text.bytes().map(u64::from).sum::<u64>()));
            times.push(milliseconds(|| parse(black_box(&text))));
            verdicts.push(milliseconds(|| {
                judge(black_box(&plan), Path::new(START), &Anywhere, &policy)
            }));
        }
        let [floor, time, verdict] = [floors, times, verdicts].map(Spread::of);
        let cell = |spread: Spread| format!("{:.3} ({:.3})", spread.median, spread.min);
        let ratio = time.over(floor);
        let ratio = format!("{:.0} ({:.0})", ratio.median, ratio.min);
        table.row(vec![name.to_owned(), cell(floor), cell(time), ratio, cell(verdict)]);
    }
    print(&table);
    Ok(())
}

/// A machine that has every program, folder and file, so that only judging is measured.
struct Anywhere;

impl Facts for Anywhere {
    fn executable(&self, _directory: &Path, word: &str) -> Option<Executable> {
        let path = Path::new("/usr/bin").join(word);
        let file = FileFact { real: path.clone(), identity: Identity::default() };
        Some(Executable { path, file, is_replaceable: false, interpreter: None })
    }

    fn folder(&self, path: &Path) -> Option<FileFact> {
        let is_file = path.to_string_lossy().contains("file-");
        (!is_file).then(|| FileFact { real: path.to_owned(), identity: Identity::default() })
    }

    fn file(&self, directory: &Path, path: &str) -> Option<FileFact> {
        let real = directory.join(path);
        Some(FileFact { real, identity: Identity::default() })
    }

    fn digest(&self, _file: &FileFact) -> Option<String> {
        None
    }

    fn repository_settings(&self, _directory: &Path) -> Option<Vec<String>> {
        Some(Vec::new())
    }
}

/// A policy with some hundred entries, the last of which are those that count. Some are made to take long.
fn policy() -> Policy {
    let entry = |pattern: String, arguments: Option<&str>| Entry {
        id: pattern.clone(),
        pattern,
        arguments: arguments
            .map_or(ArgumentRule::Known, |pattern| ArgumentRule::Like(pattern.to_owned())),
        directory: None,
    };
    let mut entries: Vec<Entry> = (0..49)
        .flat_map(|number| {
            let path = format!("/opt/**/tool-{number}");
            [entry(path, None), entry(format!("tool-{number}"), Some("(a|b)+"))]
        })
        .collect();
    entries.extend(
        (0..60).map(|least| entry("grep".to_owned(), Some(&format!("([0-9 a]*a){{{least},60}}x")))),
    );
    entries.extend((0..60).map(|number| entry(format!("/**{}*{number}b", "*a".repeat(12)), None)));
    entries.extend(["ls", "sort"].map(|name| entry(name.to_owned(), None)));
    Policy {
        rules: Rules { mode: Mode::Allowlist, ask: Ask::OnMiss, fallback: Mode::Deny },
        entries,
        remembered: Vec::new(),
        safe_programs: vec!["cut".to_owned()],
        trusted_folders: vec![PathBuf::from("/usr/bin")],
        skill_programs: Vec::new(),
        writable: vec![PathBuf::from(START)],
        variables: Vec::new(),
        protected: ProtectedPlaces::default(),
    }
}

/// A long command.
struct Shape {
    name: &'static str,
    text: String,
    /// Whether it can be read to its end.
    has_plan: bool,
}

fn shapes() -> Vec<Shape> {
    let shape = |name, text, has_plan| Shape { name, text, has_plan };
    let pipeline = format!("cut -f {} | sort;", "x".repeat(200));
    let folders = format!("cd {};ls;cd {};", "x/".repeat(60), "../".repeat(60));
    vec![
        shape("one word", filled("ls ", "a"), true),
        shape("words", filled("ls ", "word-12 "), true),
        shape("words in double quotes", filled("ls ", "\"a \\$ b\" "), true),
        shape("escapes", filled("ls ", "\\ "), true),
        shape("programs in pipelines", filled("", &pipeline), true),
        shape("folders", filled("", &folders), true),
        shape("variables", filled("", &format!("{}ls;", "V=1 ".repeat(64))), true),
        shape("long names", filled("", &format!("{}b;", "a".repeat(200))), true),
        shape("patterns of arguments", filled("", &format!("grep {};", "a".repeat(400))), true),
        shape("redirections", filled("ls ", "2>&1 >file-12345 "), true),
        shape("refused at its end", filled("ls ", "word 'quoted' ") + "$(x)", false),
    ]
}

/// A beginning with as many pieces behind it as there is place for.
fn filled(beginning: &str, piece: &str) -> String {
    beginning.to_owned() + &piece.repeat(BYTES / piece.len())
}

fn milliseconds<T>(work: impl FnOnce() -> T) -> f64 {
    let start = Instant::now();
    black_box(work());
    start.elapsed().as_secs_f64() * 1_000.0
}

#[expect(clippy::print_stdout, reason = "a benchmark reports to the terminal")]
fn print(table: &Table) {
    print!("{}", table.render());
}
