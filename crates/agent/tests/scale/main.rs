//! Many sessions of one agent in one process, and that process killed in the middle of them.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![expect(
    clippy::disallowed_methods,
    reason = "a process is started to be killed, and told through variables what to do"
)]

mod crowd;
mod killed;
mod member;
mod together;

use libtest_mimic::{Arguments, Trial};

fn main() {
    metier_sandbox::helper();
    if killed::is_the_one_to_kill() {
        return;
    }
    let arguments = Arguments::from_args();
    let trials = vec![
        Trial::test(
            "together::a_thousand_sessions_lose_and_reorder_and_mix_nothing",
            together::a_thousand_sessions,
        ),
        Trial::test(
            "killed::what_was_acknowledged_is_there_and_every_session_goes_on",
            killed::every_session_goes_on,
        ),
    ];
    libtest_mimic::run(&arguments, trials).exit();
}
