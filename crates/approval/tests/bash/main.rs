//! Plans beside what bash really does with the same text.
//!
//! Commands are generated from everything that means something to a shell. Each one that has a plan is run by
//! bash in a folder where every program is a recorder, and what was started must be what the plan says: the
//! same programs in the same order, with the same arguments, variables, folders and files. A second
//! grammar of bash, which knows nothing of this one, must find nothing in the text that is expanded.
//!
//! The test binary is the recorder too, so it has a `main` of its own.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![expect(
    clippy::disallowed_methods,
    reason = "bash is what is compared with; the recorder is told through variables what to do"
)]

mod generate;
mod grammar;
mod model;
mod recorder;
mod run;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    if let Some(ended) = recorder::run_if_asked() {
        return ended;
    }
    let arguments = Arguments::from_args();
    let trials = vec![
        Trial::test("bash_does_what_the_plan_says", run::generated_commands),
        Trial::test("bash_does_what_the_plan_says_of_known_commands", run::known_commands),
        Trial::test("bash_reads_quoted_words_as_they_were", run::quoted_words),
        Trial::test("another_grammar_finds_nothing_that_is_expanded", grammar::generated_commands),
    ];
    libtest_mimic::run(&arguments, trials).exit_code()
}
