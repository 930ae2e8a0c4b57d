//! Commands that are allowed, run from their plans, beside what bash does with the same text.
//!
//! This is the whole way: generated text is read, judged by the facts of this machine under a list of a few
//! programs, turned into what is run, and run. Bash then gets the same text in the same folder. Both must
//! start the same programs with the same words, variables, folders and files, and leave the same output, status and
//! files behind; and nothing may start that the plan does not name. Most programs are recorders that tell how they
//! were started; for some hundred commands the kernel tells it too.
//!
//! The test binary is the recorder, and the process that the kernel watches, so it has a `main` of its own.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![expect(
    clippy::disallowed_methods,
    reason = "the recorder is told through variables what to do; the kernel is asked through a program"
)]

mod bench;
mod compare;
mod generate;
mod recorder;
mod traced;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    metier_sandbox::helper();
    if let Some(ended) = recorder::run_if_asked().or_else(traced::run_if_asked) {
        return ended;
    }
    let trials = vec![
        Trial::test("what_is_allowed_does_what_bash_does", compare::generated_commands),
        Trial::test("known_commands_do_what_they_do_in_bash", compare::known_commands),
        Trial::test(
            "a_wrapper_starts_the_program_of_many_that_was_judged",
            compare::program_of_many,
        ),
        Trial::test(traced::NAME, traced::commands),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
