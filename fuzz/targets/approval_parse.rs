//! Any text as a command.
#![no_main]

use libfuzzer_sys::fuzz_target;
use metier_approval::{Action, MAX_BYTES, MAX_COMMANDS, MAX_WORDS, Plan, parse, quote};

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    match parse(&text) {
        Ok(plan) => check(&plan),
        Err(problem) => {
            assert!(text.is_char_boundary(problem.at), "{problem:?}");
            assert!(!problem.what.is_empty() && problem.what.len() < 200, "{problem:?}");
        }
    }
    let word = text.replace('\0', "");
    if let Ok(plan) = parse(&format!("echo {}", quote(&word))) {
        assert!(matches!(&plan.steps[0].action, Action::Run(stages) if stages[0].words[1] == word));
    } else {
        assert!(word.len() > MAX_BYTES / 8, "a quoted word is a word");
    }
});

fn check(plan: &Plan) {
    let mut commands = 0;
    let mut words = 0;
    for step in &plan.steps {
        match &step.action {
            Action::Enter(folder) => {
                commands += 1;
                assert!(!folder.to_string_lossy().contains('\0'));
            }
            Action::Run(stages) => {
                commands += stages.len();
                words += stages.iter().map(|stage| stage.words.len()).sum::<usize>();
                assert!(stages.iter().all(|stage| !stage.words[0].is_empty()));
            }
        }
    }
    assert!((1..=MAX_COMMANDS).contains(&commands));
    assert!(words <= MAX_WORDS);
    let written = plan.to_string();
    if written.len() <= MAX_BYTES {
        assert_eq!(parse(&written).as_ref(), Ok(plan), "{written:?}");
    }
}
