//! Trials with more than one process: another one that is none of the program's, and the helper.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use super::error::TrialError;
use super::trial::{Attack, Left, Verdict, broken_if};

/// How long is waited for another program to start.
const START: Duration = Duration::from_secs(3);
/// The lowest priority there is.
const LOWEST: i32 = 19;

impl Attack<'_> {
    /// Another program of the same user, in a sandbox of its own.
    pub(super) fn slows_others(&self) -> Result<Verdict, TrialError> {
        let name = ".bystander";
        let file = Left(self.place.folder.join(name));
        let script = format!(
            "echo $$ > {name}.new && mv {name}.new {name}; while [ -e {name} ]; do sleep 0.1; done"
        );
        thread::scope(|scope| {
            let bystander = scope.spawn(|| self.attempt().sh(&script));
            let deadline = Instant::now() + START;
            let mut number = None;
            while number.is_none() && Instant::now() < deadline && !bystander.is_finished() {
                thread::sleep(Duration::from_millis(10));
                let text = fs::read_to_string(&file.0).unwrap_or_default();
                number = text.trim().parse::<u32>().ok();
            }
            let verdict = match number {
                Some(number) => self.slows(number),
                None => Err(TrialError::NoBystander),
            };
            // It ends by itself when its file is gone.
            drop(file);
            let ended = bystander.join().map_err(|_panic| TrialError::LostBystander)?;
            ended.map_err(TrialError::from).and(verdict)
        })
    }

    fn slows(&self, number: u32) -> Result<Verdict, TrialError> {
        let before = priority(number).filter(|it| *it < LOWEST);
        before.ok_or(TrialError::LowestPriority)?;
        let renice = format!("renice -n {LOWEST} -p");
        self.after(&format!("{renice} $$ > /dev/null"), &format!("{renice} {number}"))?;
        let after = priority(number);
        Ok(broken_if(after != before, || "it changed the priority of another program".to_owned()))
    }

    /// A process that went away from the program, whose helper is then killed.
    pub(super) fn outlives_its_helper(&self) -> Result<Verdict, TrialError> {
        let script = "sleep 0 && setsid true || exit 1; (setsid sleep 20 &); echo ready; sleep 20";
        let outlived = self.attempt().lose_helper(script)?;
        Ok(broken_if(outlived, || "a process of it went on".to_owned()))
    }
}

/// The priority of a process.
fn priority(process: u32) -> Option<i32> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(16)?.parse().ok()
}
