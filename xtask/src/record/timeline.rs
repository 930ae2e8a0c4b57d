//! When what is to be seen: an even pace that a person can follow.

/// Milliseconds: before anything happens, for a key, between the last key and the answer, between
/// two lines of it, to read it (and more for each line), and before all begins again.
const BEGIN: u32 = 600;
const KEY: u32 = 45;
const ANSWER: u32 = 400;
const LINE: u32 = 60;
const READ: u32 = 1200;
const READ_LINE: u32 = 110;
const END: u32 = 4000;

/// A command in the rows of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Command {
    /// The row in which it is typed.
    pub(super) row: usize,
    /// How many keys it takes.
    pub(super) keys: usize,
}

/// When each row is first seen, when commands are typed, and how long all takes, in milliseconds.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Timeline {
    pub(super) rows: Vec<u32>,
    /// For each command, when its first key is pressed and when its last one was.
    pub(super) typed: Vec<(u32, u32)>,
    pub(super) whole: u32,
}

impl Timeline {
    /// The times of a session with so many rows; the last is a prompt at which nothing is typed.
    pub(super) fn new(commands: &[Command], rows: usize) -> Self {
        let mut timeline = Self { rows: Vec::new(), typed: Vec::new(), whole: 0 };
        let mut now = 0;
        let mut prompt = 0;
        for (position, command) in commands.iter().enumerate() {
            let next = commands.get(position + 1).map_or(rows - 1, |next| next.row);
            timeline.rows.push(prompt);
            now += if position == 0 { BEGIN } else { 0 };
            let keys = KEY * number(command.keys);
            timeline.typed.push((now, now + keys));
            now += keys + ANSWER;
            let lines = next - command.row - 1;
            for _ in 0..lines {
                timeline.rows.push(now);
                now += LINE;
            }
            // The next prompt comes after the last line, and nobody types before all is read.
            prompt = now;
            now += READ + READ_LINE * number(lines);
        }
        timeline.rows.push(prompt);
        timeline.whole = prompt + END;
        timeline
    }
}

/// Sessions have a few hundred rows and keys.
fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_a_time_and_time_does_not_go_back() {
        let commands = [Command { row: 0, keys: 10 }, Command { row: 3, keys: 4 }];
        let timeline = Timeline::new(&commands, 6);
        assert_eq!(timeline.rows.len(), 6);
        assert!(timeline.rows.is_sorted());
        assert_eq!(timeline.typed[0], (600, 1050));
        assert!(timeline.typed[1].0 >= timeline.rows[3]);
        assert!(timeline.whole > timeline.rows[5]);
    }
}
