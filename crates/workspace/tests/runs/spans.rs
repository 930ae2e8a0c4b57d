//! What a run tells whoever traces it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::{self, ThreadId};
use std::time::Duration;

use libtest_mimic::Failed;
use serde_json::json;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use crate::Promise;
use crate::bench::Bench;

pub(crate) const PROMISES: &[Promise] =
    &[("every_step_of_a_run_is_a_span_in_its_place", every_step_is_a_span)];

fn every_step_is_a_span(bench: &Bench) -> Result<(), Failed> {
    bench.write("data/in.txt", "in\n");
    let mut bench = bench.again();
    bench.settings.host_inputs = vec![bench.path("data")];
    let tracer = Tracer::default();
    let seen = Arc::clone(&tracer.seen);
    tracing::subscriber::with_default(tracer, || -> Result<(), Failed> {
        tracing::info_span!("caller").in_scope(|| {
            bench.run(json!({
                "skill": "demo",
                "command": "cat inputs/in.txt > out/a.txt; echo b > out/b.txt",
                "inputs": [{"from": format!("host://{}", bench.path("data/in.txt").display())}],
                "outputs": {"globs": ["out/*.txt"], "inline": true, "save": true},
            }))
        })?;
        thread::sleep(Duration::from_millis(2));
        assert_eq!(bench.runner.workspaces.remove_unused(Duration::ZERO)?.len(), 1);
        Ok(())
    })?;
    let expected = [
        "caller",
        "caller > workspace.create",
        "caller > workspace.stage.tree",
        "caller > workspace.stage.inputs",
        "caller > workspace.run",
        "caller > workspace.collect",
        "caller > workspace.collect > workspace.inline",
        "caller > workspace.collect > workspace.inline",
        "workspace.cleanup",
    ];
    assert_eq!(lock(&seen).ours(), expected);
    Ok(())
}

/// Makes every span known as one that somebody may want, before any thread comes upon it. Otherwise one
/// that is first met elsewhere just when a tracer comes may stay unknown to it.
pub(crate) fn want_all() {
    tracing::subscriber::set_global_default(Indifferent).expect("nobody else traces");
}

/// Wants every span and remembers none.
struct Indifferent;

impl Subscriber for Indifferent {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}
}

/// Remembers which spans there were, and inside which others.
#[derive(Default)]
struct Tracer {
    seen: Arc<Mutex<Seen>>,
}

#[derive(Default)]
struct Seen {
    /// The way to each span, in the order in which they were made. An id is a place here, from 1.
    ways: Vec<String>,
    /// The spans each thread is in.
    entered: HashMap<ThreadId, Vec<u64>>,
    /// Those that anybody was ever in.
    used: Vec<u64>,
}

fn lock(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    seen.lock().expect("nobody has panicked")
}

impl Seen {
    fn way(&self, id: u64) -> Option<&String> {
        self.ways.get(usize::try_from(id).ok()?.checked_sub(1)?)
    }

    /// The ways to spans that somebody was in. Libraries trace too; those are passed over.
    fn ours(&self) -> Vec<&str> {
        let used = (1..).zip(&self.ways).filter(|(id, _)| self.used.contains(id));
        let is_ours = |way: &&str| way.split(" > ").all(|it| it == "caller" || it.contains('.'));
        used.map(|(_, way)| way.as_str()).filter(is_ours).collect()
    }
}

impl Subscriber for Tracer {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut seen = lock(&self.seen);
        let here = seen.entered.get(&thread::current().id()).and_then(|it| it.last().copied());
        let parent = span.parent().map(Id::into_u64).or(here.filter(|_| span.is_contextual()));
        let name = span.metadata().name();
        let way = match parent.and_then(|id| seen.way(id)) {
            Some(way) => format!("{way} > {name}"),
            None => name.to_owned(),
        };
        seen.ways.push(way);
        Id::from_u64(seen.ways.len() as u64)
    }

    fn enter(&self, span: &Id) {
        let mut seen = lock(&self.seen);
        seen.entered.entry(thread::current().id()).or_default().push(span.into_u64());
        seen.used.push(span.into_u64());
    }

    fn exit(&self, span: &Id) {
        let mut seen = lock(&self.seen);
        let entered = seen.entered.entry(thread::current().id()).or_default();
        entered.retain(|id| *id != span.into_u64());
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}
}
