//! Commands of visitors on the host: judged, asked about and written down like those of the agent.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use libtest_mimic::Failed;
use metier_agent::host::{Approver, ApproverError, Decision, Host, Prompter, Question};
use metier_agent::stop;
use metier_agent::visit::Visits;
use metier_approval::{Pinned, Policy};
use metier_session::{Content, MemoryStore, SessionKey, SessionStore, all_events};
use metier_skill::library::Snapshot;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::Test;
use crate::bench::{Bench, wait};
use crate::host::Person;
use crate::visits::{Guest, stdout};

pub(crate) const TESTS: &[Test] = &[
    ("visits_host::what_a_person_allows_runs_and_both_are_events", allowed),
    ("visits_host::what_a_person_denies_does_not_run", denied),
    ("visits_host::without_a_person_only_what_was_allowed_runs", nobody),
    ("visits_host::where_nobody_decides_nothing_runs", undecided),
    ("visits_host::where_nothing_is_written_down_nothing_runs", unwritten),
    ("visits_host::a_person_is_asked_one_thing_at_a_time", one_at_a_time),
    ("visits_host::what_was_allowed_waits_for_no_person", beside_a_question),
    ("visits_host::a_call_that_is_stopped_waits_for_no_decision", stopped),
    ("visits_host::decisions_are_written_down_beside_those_of_others", shared),
];

/// Visits whose commands run on the host.
struct OnHost {
    visits: Visits,
    store: Arc<dyn SessionStore>,
    _bench: Bench,
    folder: TempDir,
}

impl OnHost {
    fn new<P: Approver + Prompter + 'static>(person: Arc<P>) -> Self {
        let folder = TempDir::new().unwrap();
        let mut bench = Bench::new();
        let real = folder.path().canonicalize().unwrap();
        let (approver, prompter) = (Arc::<P>::clone(&person), person);
        bench.host = Some(Host { folder: real, readable: Vec::new(), approver, prompter });
        let store: Arc<dyn SessionStore> = Arc::new(MemoryStore::new());
        let visits = Visits { sessions: Some(Arc::clone(&store)), ..bench.visits() };
        Self { visits, store, _bench: bench, folder }
    }

    fn guest(&self) -> Guest {
        let guest = Guest::of(self.visits.clone(), "visit");
        let loaded = guest.call("skill_load", &json!({ "skill": "pdf" }));
        assert!(!loaded.is_error, "{}", loaded.text);
        guest
    }

    /// What was asked and answered, in order.
    fn approvals(&self) -> Vec<(Value, Value)> {
        let key = SessionKey::new("test", "ada", "visit").unwrap();
        let events = wait(async {
            let session = self.store.get(&key).await?;
            match session {
                Some(session) => all_events(&*self.store, &session.at).await,
                None => Ok(Vec::new()),
            }
        });
        let approval = |content| match content {
            Content::Approval(it) => Some((it.request, it.decision)),
            _ => None,
        };
        events.unwrap().into_iter().filter_map(|event| approval(event.content)).collect()
    }

    fn touch(&self) -> Value {
        command(&format!("touch {}", self.folder.path().join("made").display()))
    }

    fn is_made(&self) -> bool {
        self.folder.path().join("made").exists()
    }
}

fn command(command: &str) -> Value {
    json!({ "skill": "pdf", "command": command })
}

fn allowed() -> Result<(), Failed> {
    let person = Arc::new(Person::who(Some(Decision::Once)));
    let at = OnHost::new(Arc::<Person>::clone(&person));
    let guest = at.guest();
    let answer = guest.call("skill_run", &command("uname -s"));
    assert_eq!(stdout(&answer), "Linux\n");
    assert_eq!(answer.structured()["confinement"]["executor"], "host");
    let question = person.questions.lock().unwrap()[0].clone();
    assert_eq!((question.tool.as_str(), question.command.as_str()), ("skill_run", "uname -s"));
    let events = at.approvals();
    assert_eq!(events.len(), 2, "{events:?}");
    assert_eq!(events[0].0["command"], json!(["uname -s"]));
    assert_eq!(events[0].1, Value::Null);
    assert_eq!(events[1].1, json!({ "answer": "once" }));
    // Once is once.
    guest.call("skill_run", &command("uname -s"));
    assert_eq!((person.questions.lock().unwrap().len(), at.approvals().len()), (2, 4));
    let run = wait(guest.0.tools()).into_iter().find(|tool| tool.spec.name == "skill_run");
    assert!(run.is_some_and(|run| run.effects.destroys && run.effects.reaches_out));
    Ok(())
}

fn denied() -> Result<(), Failed> {
    let at = OnHost::new(Arc::new(Person::who(Some(Decision::Deny))));
    let answer = at.guest().call("skill_run", &at.touch());
    assert!(answer.is_error && answer.text.contains("did not allow"), "{}", answer.text);
    assert_eq!(at.approvals()[1].1, json!({ "answer": "deny" }));
    assert!(!at.is_made());
    Ok(())
}

fn nobody() -> Result<(), Failed> {
    let at = OnHost::new(Arc::new(Person::who(None).allowing("uname")));
    let guest = at.guest();
    let answer = guest.call("skill_run", &at.touch());
    assert!(answer.is_error && answer.text.contains("nobody can be asked"), "{}", answer.text);
    assert_eq!(at.approvals()[1].1, json!({ "answer": "nobody" }));
    assert_eq!(stdout(&guest.call("skill_run", &command("uname -s"))), "Linux\n");
    assert_eq!(at.approvals().len(), 2);
    assert!(!at.is_made());
    Ok(())
}

fn undecided() -> Result<(), Failed> {
    let mut at = OnHost::new(Arc::new(Person::who(Some(Decision::Once))));
    at.visits.host = None;
    let answer = at.guest().call("skill_run", &at.touch());
    assert!(answer.is_error && answer.text.contains("nobody decides"), "{}", answer.text);
    assert!(!at.is_made());
    Ok(())
}

fn unwritten() -> Result<(), Failed> {
    let mut at = OnHost::new(Arc::new(Person::who(Some(Decision::Once)).allowing("touch")));
    at.visits.sessions = None;
    let answer = at.guest().call("skill_run", &at.touch());
    assert!(answer.is_error && answer.text.contains("cannot be written down"), "{}", answer.text);
    assert!(!at.is_made());
    Ok(())
}

/// A person who takes a while, and counts how many want something at once.
#[derive(Debug)]
struct Slow {
    person: Person,
    waiting: AtomicUsize,
    most: AtomicUsize,
}

#[async_trait]
impl Approver for Slow {
    async fn policy(&self, agent: &str, skills: &Snapshot) -> Result<Policy, ApproverError> {
        self.person.policy(agent, skills).await
    }

    async fn remember(&self, agent: &str, commands: &[Pinned]) -> Result<(), ApproverError> {
        self.person.remember(agent, commands).await
    }

    async fn used(&self, ids: &[&str], command: &str) -> Result<bool, ApproverError> {
        self.person.used(ids, command).await
    }
}

#[async_trait]
impl Prompter for Slow {
    async fn ask(&self, question: &Question) -> Option<Decision> {
        let waiting = self.waiting.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(waiting, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_millis(50)).await;
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        self.person.ask(question).await
    }
}

fn one_at_a_time() -> Result<(), Failed> {
    let person = Person::who(Some(Decision::Once));
    let slow = Slow { person, waiting: AtomicUsize::new(0), most: AtomicUsize::new(0) };
    let slow = Arc::new(slow);
    let at = OnHost::new(Arc::<Slow>::clone(&slow));
    let guest = at.guest();
    let (_stopper, stop) = stop();
    let given = command("uname -s");
    let (one, two, three) = wait(async {
        let call = || guest.0.call("skill_run", &given, &stop, Box::new(|_, _| {}));
        tokio::join!(call(), call(), call())
    });
    for answer in [one, two, three] {
        assert_eq!(stdout(&answer), "Linux\n");
    }
    assert_eq!(slow.most.load(Ordering::SeqCst), 1);
    assert_eq!(at.approvals().len(), 6);
    Ok(())
}

fn beside_a_question() -> Result<(), Failed> {
    let person = Person::who(None).allowing("uname").who_never_answers();
    let at = OnHost::new(Arc::new(person));
    let guest = at.guest();
    let (stopper, stop) = stop();
    let (asking, allowed) = (at.touch(), command("uname -s"));
    wait(async {
        let call = |given| guest.0.call("skill_run", given, &stop, Box::new(|_, _| {}));
        // More of them than run at the same time.
        let waiting = futures_util::future::join_all((0..20).map(|_| call(&asking)));
        let beside = async {
            tokio::time::sleep(Duration::from_millis(300)).await;
            let patience = Duration::from_secs(30);
            let ran = tokio::time::timeout(patience, call(&allowed)).await;
            stopper.stop();
            ran.expect("it does not wait")
        };
        let (stopped, ran) = tokio::join!(waiting, beside);
        assert_eq!(stdout(&ran), "Linux\n");
        assert!(stopped.iter().all(|it| it.is_error && it.text.contains("stopped")), "{stopped:?}");
    });
    assert!(!at.is_made());
    Ok(())
}

fn stopped() -> Result<(), Failed> {
    let person = Person::who(None).who_never_answers();
    let at = OnHost::new(Arc::new(person));
    let guest = at.guest();
    let (stopper, stop) = stop();
    let given = at.touch();
    let (first, second, ()) = wait(async {
        let call = || guest.0.call("skill_run", &given, &stop, Box::new(|_, _| {}));
        let stopping = async {
            tokio::time::sleep(Duration::from_millis(300)).await;
            stopper.stop();
        };
        tokio::join!(call(), call(), stopping)
    });
    for answer in [first, second] {
        assert!(answer.is_error && answer.text.contains("stopped"), "{}", answer.text);
    }
    assert_eq!(at.approvals()[1].1, json!({ "answer": "stopped" }));
    assert!(!at.is_made());
    Ok(())
}

fn shared() -> Result<(), Failed> {
    let at = OnHost::new(Arc::new(Person::who(Some(Decision::Once))));
    let (one, two) = (at.guest(), at.guest());
    let given = command("uname -s");
    assert_eq!(stdout(&one.call("skill_run", &given)), "Linux\n");
    assert_eq!(stdout(&two.call("skill_run", &given)), "Linux\n");
    // Others wrote in between.
    assert_eq!(stdout(&one.call("skill_run", &given)), "Linux\n");
    assert_eq!(at.approvals().len(), 6);
    Ok(())
}
