//! Collecting spans: what `tracing` tells, until a span has ended.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use metier_secrets::Redactor;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::Interest;
use tracing::{Event, Metadata, Subscriber, level_filters::LevelFilter};

use crate::export::Outbox;
use crate::ids::{Parent, SpanId, TraceId, random};
use crate::span::{Span, Told};

/// What the targets of our own spans begin with: the names of our crates do.
const OURS: &str = "metier";

/// Takes spans from `tracing` and passes them on when they have ended.
#[derive(Debug)]
pub(crate) struct Collector {
    open: Mutex<HashMap<u64, Open>>,
    /// Where spans begin that have no parent here.
    parent: Option<Parent>,
    clock: Clock,
    outbox: Outbox,
    /// Masks the values of keys, once they are known.
    redactor: Option<&'static OnceLock<Redactor>>,
}

/// Tells the time of day as it was at the start, plus what has passed since. The clock of the day may be
/// set in between; a span must not end before it began, nor after the one around it.
#[derive(Clone, Copy, Debug)]
struct Clock {
    start: Duration,
    since: Instant,
}

/// A span that has not ended.
#[derive(Debug)]
struct Open {
    trace: TraceId,
    id: SpanId,
    parent: Option<SpanId>,
    is_remote_child: bool,
    start: u64,
    told: Told,
    /// How many hold it.
    holders: usize,
}

thread_local! {
    /// The spans this thread is in, the innermost last.
    static ENTERED: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

impl Collector {
    pub(crate) fn new(outbox: Outbox, parent: Option<Parent>) -> Self {
        Self { open: Mutex::default(), parent, clock: Clock::start(), outbox, redactor: None }
    }

    /// The same, with a place where a redactor will be.
    pub(crate) fn masked_by(self, redactor: &'static OnceLock<Redactor>) -> Self {
        Self { redactor: Some(redactor), ..self }
    }

    fn open(&self) -> MutexGuard<'_, HashMap<u64, Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Subscriber for Collector {
    fn register_callsite(&self, metadata: &'static Metadata<'static>) -> Interest {
        if self.enabled(metadata) { Interest::always() } else { Interest::never() }
    }

    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_span() && *metadata.level() <= LevelFilter::INFO && is_ours(metadata.target())
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::INFO)
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        // One counter for all: a thread may have been in a span of another collector.
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        let around = match attributes.parent() {
            Some(parent) => Some(parent.into_u64()),
            None if attributes.is_contextual() => innermost(),
            None => None,
        };
        let name = attributes.metadata().name().to_owned();
        let mut told = Told { name, ..Told::default() };
        attributes.record(&mut told);
        let mut open = self.open();
        let around = around.and_then(|id| open.get(&id)).map(|it| (it.trace, it.id));
        let outside = self.parent.map(|it| (it.trace, it.span));
        let parent = around.or(outside);
        open.insert(
            id,
            Open {
                trace: parent.map_or_else(random, |it| it.0),
                id: random(),
                parent: parent.map(|it| it.1),
                is_remote_child: around.is_none() && outside.is_some(),
                start: self.clock.now(),
                told,
                holders: 1,
            },
        );
        Id::from_u64(id)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        if let Some(open) = self.open().get_mut(&span.into_u64()) {
            values.record(&mut open.told);
        }
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, span: &Id) {
        ENTERED.with_borrow_mut(|entered| entered.push(span.into_u64()));
    }

    fn exit(&self, span: &Id) {
        ENTERED.with_borrow_mut(|entered| {
            if let Some(place) = entered.iter().rposition(|id| *id == span.into_u64()) {
                entered.remove(place);
            }
        });
    }

    fn clone_span(&self, span: &Id) -> Id {
        if let Some(open) = self.open().get_mut(&span.into_u64()) {
            open.holders += 1;
        }
        span.clone()
    }

    fn try_close(&self, span: Id) -> bool {
        let mut spans = self.open();
        let Some(open) = spans.get_mut(&span.into_u64()) else { return false };
        open.holders -= 1;
        if open.holders > 0 {
            return false;
        }
        let ended = spans.remove(&span.into_u64());
        drop(spans);
        if let Some(mut ended) = ended {
            if let Some(redactor) = self.redactor.and_then(OnceLock::get) {
                ended.told.mask(redactor);
            }
            self.outbox.put(ended.end(self.clock.now()));
        }
        true
    }
}

impl Clock {
    fn start() -> Self {
        let start = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { start, since: Instant::now() }
    }

    /// Nanoseconds since 1970.
    fn now(&self) -> u64 {
        u64::try_from((self.start + self.since.elapsed()).as_nanos()).unwrap_or(u64::MAX)
    }
}

impl Open {
    fn end(self, end: u64) -> Span {
        let Self { trace, id, parent, is_remote_child, start, told, .. } = self;
        Span { trace, id, parent, is_remote_child, start, end, told }
    }
}

fn innermost() -> Option<u64> {
    ENTERED.with_borrow(|entered| entered.last().copied())
}

/// Whether a target is one of our crates: `metier`, `metier_agent::calls` and the like.
fn is_ours(target: &str) -> bool {
    let name = target.split("::").next().unwrap_or_default();
    name.strip_prefix(OURS).is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use tracing::field::Empty;
    use tracing::{Instrument, info_span, trace_span};

    use super::*;
    use crate::ids::hexadecimal;

    /// The spans that some code makes, as they ended.
    fn spans(parent: Option<Parent>, code: impl FnOnce()) -> Vec<Span> {
        let (outbox, mut queue) = Outbox::new();
        tracing::subscriber::with_default(Collector::new(outbox, parent), code);
        std::iter::from_fn(|| queue.try_recv().ok()).collect()
    }

    #[test]
    fn values_of_keys_are_masked_in_names_and_attributes() {
        static REDACTOR: OnceLock<Redactor> = OnceLock::new();
        let (outbox, mut queue) = Outbox::new();
        let collector = Collector::new(outbox, None).masked_by(&REDACTOR);
        tracing::subscriber::with_default(collector, || {
            let long = format!("{}a-secret-key", "-".repeat(1020));
            let span = info_span!("x", otel.name = "a-secret-key", skill = "my-a-secret-key", long);
            // The settings are read after the first span has begun.
            REDACTOR.get_or_init(|| Redactor::new(["a-secret-key"]).unwrap());
            drop(span);
        });
        let told = queue.try_recv().unwrap().told;
        assert_eq!(told.name, "****");
        let text = format!("{:?}", told.attributes);
        assert!(text.contains("my-****") && !text.contains("-a-s"), "{text}");
    }

    /// Each span with the way to it and what it was told.
    fn told(spans: &[Span]) -> String {
        let way = |span: &Span| {
            let mut way = vec![span.told.name.as_str()];
            let mut next = span.parent;
            while let Some(parent) = next.and_then(|id| spans.iter().find(|it| it.id == id)) {
                way.insert(0, &parent.told.name);
                next = parent.parent;
            }
            way.join(" > ")
        };
        let line = |span: &Span| {
            let Told { is_client, has_failed, attributes, .. } = &span.told;
            let kind = if *is_client { " client" } else { "" };
            let failed = if *has_failed { " failed" } else { "" };
            format!("{}{kind}{failed} {attributes:?}\n", way(span))
        };
        spans.iter().map(line).collect()
    }

    #[test]
    fn spans_end_with_their_last_holder_inside_what_they_were_made_in() {
        let spans = spans(None, || {
            let turn = info_span!("turn");
            let held =
                turn.in_scope(|| info_span!("tool", otel.name = "tool a", otel.kind = "client"));
            let again = held.clone();
            drop(held);
            info_span!("apart").in_scope(|| again.in_scope(|| info_span!("run").in_scope(|| ())));
            drop(turn);
            drop(again);
        });
        assert_snapshot!(told(&spans), @"
        turn > tool a > run []
        apart []
        turn []
        turn > tool a client []
        ");
        assert_eq!(spans[0].trace, spans[2].trace);
        assert_ne!(spans[0].trace, spans[1].trace, "a span without a parent begins a trace");
        assert!(spans.iter().all(|it| it.start <= it.end && !it.is_remote_child));
    }

    #[test]
    fn values_are_recorded_when_they_are_known_and_the_last_counts() {
        let spans = spans(None, || {
            let span = info_span!(
                "chat",
                otel.status_code = Empty,
                tokens = Empty,
                share = 0.5,
                ok = true,
                none = None::<&str>,
                long = "ä".repeat(1000),
            );
            span.record("tokens", 1_u64);
            span.record("tokens", u64::MAX);
            span.record("otel.status_code", "ERROR");
        });
        let told = told(&spans).replace(&"ä".repeat(512), "[512 ä]");
        assert_snapshot!(told, @r#"chat failed [("share", Real(0.5)), ("ok", Switch(true)), ("long", Text("[512 ä]")), ("tokens", Whole(9223372036854775807))]"#);
    }

    #[test]
    fn spans_of_others_and_events_are_not_collected() {
        let spans = spans(None, || {
            info_span!(target: "hyper", "theirs").in_scope(|| info_span!("ours").in_scope(|| ()));
            let _like_ours = info_span!(target: "metierlike", "theirs");
            let _too_fine = trace_span!("fine");
            tracing::info!("said by a program");
        });
        assert_snapshot!(told(&spans), @"ours []");
    }

    #[test]
    fn a_parent_from_outside_is_above_every_span_that_has_none() {
        let trace = "0af7651916cd43dd8448eb211c80319c";
        let parent = Parent::parse(&format!("00-{trace}-b7ad6b7169203331-01"));
        let spans = spans(parent, || {
            info_span!("one").in_scope(|| info_span!("inner").in_scope(|| ()));
            drop(info_span!("two"));
        });
        assert!(spans.iter().all(|span| hexadecimal(&span.trace) == trace));
        let remote: Vec<_> = spans.iter().map(|it| (&*it.told.name, it.is_remote_child)).collect();
        assert_eq!(remote, [("inner", false), ("one", true), ("two", true)]);
        assert_eq!(spans[0].parent, Some(spans[1].id));
        assert_eq!(spans[1].parent.map(|id| hexadecimal(&id)).as_deref(), Some("b7ad6b7169203331"));
    }

    #[test]
    fn steps_that_take_turns_belong_to_the_span_each_is_done_in() {
        let spans = spans(None, || {
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let turn = info_span!("turn");
            let first = async {
                tokio::task::yield_now().await;
                drop(info_span!("one"));
            };
            let second = async { drop(info_span!("two")) };
            let both = async {
                tokio::join!(first.instrument(info_span!("a")), second.instrument(info_span!("b")))
            };
            runtime.block_on(both.instrument(turn));
        });
        assert_snapshot!(told(&spans), @"
        turn > b > two []
        turn > b []
        turn > a > one []
        turn > a []
        turn []
        ");
    }
}
