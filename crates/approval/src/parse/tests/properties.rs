use proptest::prelude::*;
use proptest::sample::select;

use super::super::folders::{Folders, enter};
use crate::parse::{MAX_BYTES, parse, quote};
use crate::plan::{Action, Descriptor, Joint, Plan, Redirection, Simple, Step, Target};

/// Pieces of which commands are made, and everything that means something to a shell.
const PIECES: &[&str] = &[
    "a",
    "ls",
    "cd",
    "x/y",
    "..",
    "/",
    "-",
    "--",
    "1",
    "2",
    "0",
    " ",
    " ",
    " ",
    "\t",
    "\n",
    "'",
    "\"",
    "\\",
    "$",
    "`",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "*",
    "?",
    "~",
    "#",
    "=",
    "+",
    "A=",
    ":",
    ";",
    "&",
    "|",
    "&&",
    "||",
    "<",
    ">",
    ">>",
    "2>&1",
    "&>",
    "/dev/null",
    "!",
    "if",
    "eval",
    "é",
    "\u{2028}",
    "\r",
    "\0",
    "%",
    "^",
];

fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,4}",
        "[ -~\n\t\u{1}éß\u{a0}]{0,6}",
        select(PIECES).prop_map(|piece| piece.replace('\0', "")),
    ]
}

fn redirection() -> impl Strategy<Value = Redirection> {
    let is_file = |path: &String| !path.is_empty() && !path.starts_with('/');
    let path = || word().prop_filter("a file", is_file);
    let output = select(&[Descriptor::Output, Descriptor::Error][..]);
    let copied = select(&[Descriptor::Output, Descriptor::Error][..]);
    let written = prop_oneof![
        Just(Target::Nothing),
        copied.prop_map(Target::Same),
        path().prop_map(Target::Write),
        path().prop_map(Target::Append),
    ];
    let read = prop_oneof![Just(Target::Nothing), path().prop_map(Target::Read)];
    prop_oneof![
        (output, written).prop_map(|(descriptor, target)| Redirection { descriptor, target }),
        read.prop_map(|target| Redirection { descriptor: Descriptor::Input, target }),
    ]
}

fn simple() -> impl Strategy<Value = Simple> {
    let variables = prop::collection::vec(("[a-z_][a-z0-9]{0,3}", word()), 0..3);
    let words = prop::collection::vec(word(), 1..4);
    (variables, words, prop::collection::vec(redirection(), 0..3)).prop_map(
        |(variables, words, redirections)| Simple {
            variables: variables.into_iter().filter(|(name, _)| name != "_").collect(),
            words,
            redirections,
            directory: "".into(),
        },
    )
}

/// A step whose folder is still to be found: programs, or the target of `cd`.
fn action() -> impl Strategy<Value = Result<Vec<Simple>, String>> {
    prop_oneof![
        3 => prop::collection::vec(simple(), 1..3).prop_map(Ok),
        1 => "(/|\\.\\./){0,2}[a-c -]{1,2}(/[a-c.-]{1,3}){0,2}".prop_map(Err),
    ]
}

/// Plans with their folders; steps that a plan cannot have are left out.
fn plan() -> impl Strategy<Value = Plan> {
    let joint = select(&[Joint::Always, Joint::Success, Joint::Failure][..]);
    prop::collection::vec((joint, action()), 1..6).prop_map(|drafts| {
        let mut folders = Folders::new();
        let mut plan = Plan::default();
        for (joint, draft) in drafts {
            let joint = if plan.steps.is_empty() { Joint::Always } else { joint };
            let mut next = folders.clone();
            let Ok(folder) = next.take(joint) else { continue };
            let action = match draft {
                Ok(mut stages) => {
                    stages.iter_mut().for_each(|stage| stage.directory.clone_from(&folder));
                    next.ran(folder).unwrap();
                    Action::Run(stages)
                }
                Err(target) => {
                    let Ok(folder) = enter(&folder, &target) else { continue };
                    next.entered(folder.clone()).unwrap();
                    Action::Enter(folder)
                }
            };
            folders = next;
            plan.steps.push(Step { joint, action });
        }
        plan
    })
}

fn is_program(word: &str) -> bool {
    !super::super::names::is_builtin(word)
        && !matches!(word.chars().next(), None | Some('%'))
        && word != "cd"
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_plan_that_is_written_is_read_as_the_same_plan(plan in plan()) {
        let has_programs = plan.steps.iter().all(|step| match &step.action {
            Action::Enter(_) => true,
            Action::Run(stages) => stages.iter().all(|stage| is_program(&stage.words[0])),
        });
        prop_assume!(has_programs && !plan.steps.is_empty());
        let text = plan.to_string();
        prop_assert_eq!(parse(&text), Ok(plan), "{}", text);
    }

    #[test]
    fn any_text_is_read_or_refused_inside_it(pieces in prop::collection::vec(select(PIECES), 0..24)) {
        let text = pieces.concat();
        match parse(&text) {
            Ok(plan) => {
                let written = plan.to_string();
                prop_assert_eq!(parse(&written), Ok(plan), "{}", written);
            }
            Err(problem) => prop_assert!(text.is_char_boundary(problem.at), "{:?}", problem),
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _plan = parse(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn a_quoted_word_is_one_word(word in "[^\0]{0,12}") {
        let plan = parse(&format!("echo {}", quote(&word))).unwrap();
        let Action::Run(stages) = &plan.steps[0].action else { unreachable!("it is no `cd`") };
        prop_assert_eq!(&stages[0].words, &["echo".to_owned(), word]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn long_texts_take_no_longer_for_each_byte(piece in select(PIECES), tail in select(PIECES)) {
        // Whatever is looked at again and again shows here, by minutes.
        let half = MAX_BYTES / 2;
        let text = piece.repeat(half / piece.len()) + &tail.repeat(half / tail.len());
        let _plan = parse(&text);
        let _plan = parse(&format!("echo {text}"));
        let _plan = parse(&format!("echo \"{text}"));
    }
}
