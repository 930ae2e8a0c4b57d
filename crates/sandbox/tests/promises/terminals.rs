//! Programs that are talked to, on a terminal of their own or on pipes.

use std::thread;
use std::time::{Duration, Instant};

use libtest_mimic::Failed;
use metier_sandbox::{
    Cancel, Console, ConsoleError, Conversation, Job, Level, MAX_PENDING, Observer, Outcome, Size,
    Stream, converse,
};
use rustix::pty::{OpenptFlags, openpt, ptsname, unlockpt};

use crate::bench::Bench;
use crate::processes::{is_gone, mark};
use crate::{ALL, CONFINED, Promise};

pub(crate) const PROMISES: &[Promise] = &[
    ("a_terminal_is_the_programs_own", a_terminal, ALL),
    ("terminals_of_others_cannot_be_opened", others, CONFINED),
    ("keys_are_signals", keys, ALL),
    ("keys_end_all_programs_of_a_plan", keys_for_a_plan, ALL),
    ("a_program_of_a_plan_may_keep_keys_to_itself", kept_keys, ALL),
    ("a_pipe_is_closed_after_its_input", pipe, ALL),
    ("streams_can_be_opened_again", opened_again, ALL),
    ("killing_does_not_ask_first", kill, ALL),
    ("a_program_may_close_its_terminal", closes, ALL),
];

/// What is waited for, and what is done then.
type Answer<'a> = (&'a str, fn(&Console));

/// Says something when it reads something; all of the output is kept.
struct Answers<'a> {
    console: &'a Console,
    /// Is given once.
    answer: Option<Answer<'a>>,
    output: String,
    started: usize,
}

impl Observer for Answers<'_> {
    fn output(&mut self, _stream: Stream, bytes: &[u8]) {
        self.output.push_str(&String::from_utf8_lossy(bytes));
        if let Some((_, answer)) = self.answer.take_if(|it| self.output.contains(it.0)) {
            answer(self.console);
        }
    }

    fn started(&mut self) {
        self.started += 1;
    }
}

fn talk(
    bench: &Bench,
    script: &str,
    terminal: Option<Size>,
    answer: Option<Answer<'_>>,
) -> Result<(Outcome, String), Failed> {
    talk_to(&bench.job(script), terminal, answer)
}

fn talk_to(
    job: &Job,
    terminal: Option<Size>,
    answer: Option<Answer<'_>>,
) -> Result<(Outcome, String), Failed> {
    let console = Console::new()?;
    let mut observer = Answers { console: &console, answer, output: String::new(), started: 0 };
    let conversation = Conversation { console: &console, terminal };
    let outcome = converse(job, conversation, &mut observer, &Cancel::new()?)?;
    assert_eq!(observer.started, 1);
    Ok((outcome, observer.output))
}

const SIZE: Option<Size> = Some(Size { rows: 11, columns: 22 });

fn a_terminal(level: Level) -> Result<(), Failed> {
    let script = "stty -echo; test -t 0 && test -t 1 && test -t 2 && stty size; echo tty > /dev/tty; \
                  echo error > /dev/stderr; echo output > /dev/stdout; read x < /dev/tty; \
                  echo got $x; read y; stty size; exit 4";
    let answer: fn(&Console) = |console| {
        console.resize(Size { rows: 33, columns: 44 });
        console.write(b"one\ntwo\n").expect("there is room");
    };
    let (outcome, output) = talk(&Bench::new(level), script, SIZE, Some(("output", answer)))?;
    let expected = "11 22\ntty\nerror\noutput\ngot one\n33 44\n";
    assert_eq!((output.replace('\r', "").as_str(), outcome.ended.code), (expected, Some(4)));
    Ok(())
}

fn others(level: Level) -> Result<(), Failed> {
    let other = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
    unlockpt(&other)?;
    let name = ptsname(&other, Vec::new())?.into_string()?;
    let script = format!("(echo intruder > {name}) 2>/dev/null && echo written; echo end");
    let (_, output) = talk(&Bench::new(level), &script, SIZE, None)?;
    assert_eq!(output, "end\r\n");
    Ok(())
}

fn keys(level: Level) -> Result<(), Failed> {
    let answer: fn(&Console) = |console| console.write(b"\x03").expect("there is room");
    let answer = Some(("ready", answer));
    let (outcome, _) = talk(&Bench::new(level), "echo ready; exec sleep 60", SIZE, answer)?;
    assert_eq!((outcome.ended.signal, outcome.cancelled), (Some(2), false));
    Ok(())
}

/// Presses a key once a plan has said that it is ready.
fn press(level: Level, text: &str) -> Result<(Outcome, String), Failed> {
    let answer: fn(&Console) = |console| console.write(b"\x03").expect("there is room");
    let bench = Bench::new(level);
    talk_to(&bench.job_of(bench.plan(text)), SIZE, Some(("ready", answer)))
}

fn keys_for_a_plan(level: Level) -> Result<(), Failed> {
    let mark = mark(level, "pressed");
    let lasting = format!("bash -c 'exec -a {mark} sleep 60'");
    let ready = "sh -c 'sleep 0.3; echo ready >&2; exec cat'";
    for text in [format!("{lasting} | {ready} ; echo after"), format!("{lasting} | {ready}")] {
        let (outcome, output) = press(level, &text)?;
        assert_eq!((outcome.ended.signal, outcome.cancelled), (Some(2), false), "{output}");
        assert!(!output.contains("after"), "{output}");
        assert!(is_gone(&mark));
    }
    Ok(())
}

fn kept_keys(level: Level) -> Result<(), Failed> {
    let text = "sh -c 'trap \"echo caught; exit 5\" INT; echo ready; while :; do sleep 0.1; done' ; echo after";
    let (outcome, output) = press(level, text)?;
    assert!(output.contains("caught\r\nafter\r\n"), "{output}");
    assert_eq!(outcome.ended.code, Some(0));
    Ok(())
}

fn pipe(level: Level) -> Result<(), Failed> {
    let console = Console::new()?;
    assert_eq!(console.write(&vec![b'x'; MAX_PENDING + 1]), Err(ConsoleError::Full));
    console.write(&b"line\n".repeat(100_000))?;
    console.close();
    assert_eq!(console.write(b"x"), Err(ConsoleError::Closed));
    let mut observer =
        Answers { console: &console, answer: None, output: String::new(), started: 0 };
    let conversation = Conversation { console: &console, terminal: None };
    let bench = Bench::new(level);
    let job = bench.job("wc -l; test -t 0 || echo none");
    converse(&job, conversation, &mut observer, &Cancel::new()?)?;
    assert_eq!(observer.output.trim(), "100000\nnone");
    Ok(())
}

fn opened_again(level: Level) -> Result<(), Failed> {
    let tried = Bench::new(level).sh("echo output > /dev/stdout; echo error > /dev/stderr");
    assert_eq!((tried.output.as_str(), tried.error.as_str()), ("output\n", "error\n"));
    Ok(())
}

fn kill(level: Level) -> Result<(), Failed> {
    let bench = Bench::new(level);
    let console = Console::new()?;
    let mut observer =
        Answers { console: &console, answer: None, output: String::new(), started: 0 };
    let conversation = Conversation { console: &console, terminal: SIZE };
    let began = Instant::now();
    let outcome = thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(500));
            console.kill();
        });
        let job = bench.job("trap '' TERM HUP INT; while :; do sleep 1; done");
        converse(&job, conversation, &mut observer, &Cancel::new()?).map_err(Failed::from)
    })?;
    assert!(began.elapsed() < Duration::from_millis(1900), "{:?}", began.elapsed());
    assert_eq!((outcome.ended.signal, outcome.cancelled), (Some(9), true));
    assert!(!outcome.timed_out);
    Ok(())
}

fn closes(level: Level) -> Result<(), Failed> {
    let script = "echo before; exec 0<&- 1>&- 2>&-; sleep 0.3; exit 6";
    let (outcome, output) = talk(&Bench::new(level), script, SIZE, None)?;
    assert_eq!((output.as_str(), outcome.ended.code), ("before\r\n", Some(6)));
    Ok(())
}
