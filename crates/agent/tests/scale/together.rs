//! A thousand sessions at once: each has all of its own events, in order, and nothing else.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use libtest_mimic::Failed;
use metier_agent::agent::{Progress, Watcher};
use metier_session::{Content, EventId};

use crate::crowd::{Asked, Crowd, Listener, all_at_once, only_grows};
use crate::member::Member;

const SESSIONS: usize = 1000;

/// What was told while the sessions ran, by session.
#[derive(Default)]
struct Told {
    kept: BTreeMap<Member, Vec<EventId>>,
    asked: BTreeMap<Member, Vec<Asked>>,
}

pub(crate) fn a_thousand_sessions() -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let crowd = Crowd::open(folder.path());
    let told = Arc::new(Mutex::new(Told::default()));
    let members = || (0..SESSIONS).map(Member);
    all_at_once(members(), |member| {
        let (crowd, listener) = (crowd.clone(), listener(&told));
        let watcher = watcher(&told, member);
        async move { crowd.finish(member, listener, watcher).await }
    });
    let told = Arc::into_inner(told).ok_or("somebody still listens")?.into_inner()?;
    let told = Arc::new(told);
    let ids = Arc::new(Mutex::new(BTreeSet::new()));
    all_at_once(members(), |member| {
        let (crowd, told, ids) = (crowd.clone(), Arc::clone(&told), Arc::clone(&ids));
        async move { judge(&crowd, &told, &ids, member).await }
    });
    Ok(())
}

async fn judge(crowd: &Crowd, told: &Told, ids: &Mutex<BTreeSet<EventId>>, member: Member) {
    let events = crowd.events(member).await;
    assert_eq!(member.shown(&events), member.expected(), "{member:?}");
    let mine: Vec<EventId> = events.iter().map(|event| event.id).collect();
    assert_eq!(told.kept[&member], mine, "{member:?}: what was told is what is kept");
    for event in &events {
        assert!(ids.lock().unwrap().insert(event.id), "{member:?}: an event is there twice");
        let Content::ToolResponse(response) = &event.content else { continue };
        assert!(!response.is_error, "{member:?}: {}", response.text);
        let printed = format!("pages of «{}»", member.0);
        assert_eq!(response.text.contains(&printed), response.tool == "skill_run", "{member:?}");
    }
    let asked = &told.asked[&member];
    assert_eq!(asked.len(), 6, "{member:?}");
    assert!(only_grows(asked), "{member:?}: a request does not begin with the one before");
    assert!(asked.iter().all(|it| it.strangers == 0), "{member:?}: a request names another");
}

fn listener(told: &Arc<Mutex<Told>>) -> Listener {
    let told = Arc::clone(told);
    Arc::new(move |member, asked| {
        told.lock().unwrap().asked.entry(member).or_default().push(asked);
    })
}

fn watcher(told: &Arc<Mutex<Told>>, member: Member) -> Watcher {
    let told = Arc::clone(told);
    Arc::new(move |progress| {
        if let Progress::Appended(event) = progress {
            told.lock().unwrap().kept.entry(member).or_default().push(event.id);
        }
    })
}
