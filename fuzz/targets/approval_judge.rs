//! Any text as a command, judged and shown under a policy that is made up too.
#![no_main]

use std::path::{Path, PathBuf};

use libfuzzer_sys::fuzz_target;
use metier_approval::{
    Action, Approved, ArgumentRule, Ask, Entry, Executable, Facts, FileFact, Identity, MAX_SHOWN, Mode, Policy, ProtectedPlaces,
    Remembered, Rules, SkillProgram, Verdict, judge, parse, restricted, shown, shown_text,
};

/// Where commands start.
const START: &str = "/home/me";

/// A machine that answers by the length of what it is asked.
struct Machine {
    missing: usize,
    elsewhere: usize,
    replaceable: usize,
}

// Lines: numbers for the rules and the machine; entries, between tabs; names of filters, of programs of skills and of
// variables. The rest is the command.
fuzz_target!(|bytes: &[u8]| {
    let whole = String::from_utf8_lossy(bytes);
    let mut lines = whole.splitn(6, '\n');
    let mut line = || lines.next().unwrap_or_default();
    let numbers: Vec<usize> = line().bytes().map(usize::from).collect();
    let number = |place: usize| numbers.get(place).copied().unwrap_or_default();
    let policy = policy(number, [line(), line(), line(), line()]);
    let machine =
        Machine { missing: number(3) % 16, elsewhere: number(4) % 16, replaceable: number(5) % 16 };
    check_text(line(), &machine, policy);
});

fn check_text(text: &str, machine: &Machine, policy: Policy) {
    let plan = parse(text);
    let rules = policy.rules;
    let verdict = judge(&plan, Path::new(START), machine, &policy);
    check(&verdict, rules, plan.is_ok());
    let alone = verdict.without_a_person(&rules);
    assert!(!matches!(alone, Verdict::Ask { .. }), "nobody is there to be asked");
    check(&alone, rules, plan.is_ok());
    let names: Vec<String> = policy.entries.into_iter().map(|entry| entry.pattern).collect();
    if let Ok(words) = restricted(text, Some(&names), &policy.safe_programs) {
        assert!(names.iter().any(|name| words[0].ends_with(name.as_str())));
        assert!(!policy.safe_programs.contains(&words[0]), "what is denied is denied");
    }
    if let Ok(shown) = shown_text(text) {
        assert!(shown.lines.iter().all(|line| is_visible(line)), "{shown:?}");
    }
}

fn check(verdict: &Verdict, rules: Rules, has_plan: bool) {
    match verdict {
        Verdict::Allow(approved) => {
            assert!(has_plan && rules.mode != Mode::Deny);
            assert!(approved.is_covered(), "each program has somebody who allows it");
            check_plan(approved);
        }
        Verdict::AllowText { reason } => {
            assert_eq!((rules.mode, rules.ask), (Mode::Full, Ask::Off));
            assert!(is_visible(reason));
        }
        Verdict::Ask { reason, plan, offer } => {
            assert_ne!(rules.ask, Ask::Off);
            assert!(offer.is_none() || (plan.is_some() && rules.ask == Ask::OnMiss));
            assert!(is_visible(reason));
            plan.iter().for_each(check_plan);
        }
        Verdict::Deny { reason } => assert!(!reason.is_empty() && is_visible(reason)),
    }
}

fn check_plan(approved: &Approved) {
    let simples = approved.plan.steps.iter().flat_map(|step| match &step.action {
        Action::Run(programs) => programs.as_slice(),
        Action::Enter(_) => &[],
    });
    assert_eq!(simples.count(), approved.programs.len(), "each program was looked at");
    if let Ok(shown) = shown(approved) {
        let texts = || shown.lines.iter().chain(&shown.programs);
        assert!(texts().all(|text| is_visible(text)), "{shown:?}");
        assert!(texts().map(String::len).sum::<usize>() <= MAX_SHOWN);
    }
}

fn is_visible(text: &str) -> bool {
    !text.chars().any(|sign| {
        (sign.is_control() && sign != '\t')
            || matches!(sign, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}')
    })
}

fn policy(number: impl Fn(usize) -> usize, lines: [&str; 4]) -> Policy {
    let mode =
        |number: usize| [Mode::Allowlist, Mode::Full, Mode::Allowlist, Mode::Deny][number % 4];
    let ask = [Ask::OnMiss, Ask::Off, Ask::Always][number(1) % 3];
    let [entries, filters, skills, variables] = lines;
    let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let remembered = words(skills).into_iter().map(|name| Remembered {
        id: "1".to_owned(),
        program: Path::new("/usr/bin").join(&name),
        sha256: "00".to_owned(),
        words: vec![name],
        directory: START.into(),
        variables: Vec::new(),
    });
    let skill_programs = words(skills).into_iter().map(|name| SkillProgram {
        real: Path::new("/usr/bin").join(&name),
        name,
        skill: "x".to_owned(),
    });
    Policy {
        rules: Rules { mode: mode(number(0)), ask, fallback: mode(number(2)) },
        entries: entries.split('\t').map(entry).collect(),
        remembered: remembered.collect(),
        safe_programs: words(filters),
        trusted_folders: vec!["/usr/bin".into()],
        skill_programs: skill_programs.collect(),
        writable: vec![START.into()],
        variables: words(variables),
        protected: ProtectedPlaces {
            own: vec!["/own".into()],
            session: vec!["/own/session".into()],
            homes: vec!["/home".into()],
            skills: vec!["/skills".into()],
            programs: vec!["/usr/bin".into()],
        },
    }
}

/// A pattern, and behind it what there is of `--dir` and `--args` or `--any-arguments`.
fn entry(text: &str) -> Entry {
    let (rest, arguments) = match text.split_once(" --args ") {
        Some((rest, arguments)) => (rest, ArgumentRule::Like(arguments.to_owned())),
        None => match text.strip_suffix(" --any-arguments") {
            Some(rest) => (rest, ArgumentRule::Any),
            None => (text, ArgumentRule::Known),
        },
    };
    let (pattern, directory) = match rest.split_once(" --dir ") {
        Some((pattern, directory)) => (pattern, Some(directory.into())),
        None => (rest, None),
    };
    Entry { id: text.to_owned(), pattern: pattern.to_owned(), arguments, directory }
}

impl Facts for Machine {
    fn executable(&self, directory: &Path, word: &str) -> Option<Executable> {
        let is = |number: usize| word.len() % 16 == number;
        let folder = if word.contains('/') { directory } else { Path::new("/usr/bin") };
        let path = folder.join(word);
        let real = if is(self.elsewhere) { PathBuf::from("/usr/bin/env") } else { path.clone() };
        let file = FileFact { real, identity: Identity::default() };
        let is_replaceable = is(self.replaceable);
        (!is(self.missing)).then_some(Executable { path, file, is_replaceable, interpreter: None })
    }

    fn folder(&self, path: &Path) -> Option<FileFact> {
        self.file(Path::new("/"), &path.to_string_lossy())
    }

    fn file(&self, directory: &Path, path: &str) -> Option<FileFact> {
        let real = directory.join(path);
        let length = real.as_os_str().len();
        (length % 16 != self.missing).then(|| FileFact { real, identity: Identity::default() })
    }

    fn digest(&self, _file: &FileFact) -> Option<String> {
        Some("00".to_owned())
    }

    fn repository_settings(&self, directory: &Path) -> Option<Vec<String>> {
        (directory.as_os_str().len() % 16 != self.missing).then(|| vec!["[core]".to_owned()])
    }
}
