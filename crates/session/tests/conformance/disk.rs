//! Disks that are full, and disks that may not be written to.

use std::sync::Arc;

use metier_session::{SessionError, SqliteStore};
use metier_testkit::skip;
use rustix::mount::{MountFlags, UnmountFlags, mount, mount_remount, unmount};

use crate::support::{Store, all, begin, delta, join, key, said};

/// A small file system in memory, for those who may mount one.
struct Disk {
    folder: tempfile::TempDir,
}

impl Disk {
    fn new(test: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        match mount("none", folder.path(), "tmpfs", MountFlags::empty(), c"size=1m") {
            Ok(()) => Some(Self { folder }),
            Err(error) => {
                skip(test, &format!("a tmpfs cannot be mounted: {error}"));
                None
            }
        }
    }

    fn open(&self) -> Result<SqliteStore, SessionError> {
        SqliteStore::open(&self.folder.path().join("metier.db"))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = unmount(self.folder.path(), UnmountFlags::DETACH);
    }
}

#[tokio::test]
async fn a_full_disk_loses_nothing_that_was_acknowledged() {
    let Some(disk) = Disk::new("session::a_full_disk_loses_nothing_that_was_acknowledged") else {
        return;
    };
    let store: Store = Arc::new(disk.open().unwrap());
    let mut sessions = Vec::new();
    for number in 0..4 {
        sessions.push(begin(&store, &format!("s{number}")).await);
    }
    // Several sessions at once, so that some are committed together with one that does not fit.
    let talks = sessions.into_iter().map(|at| {
        let store = Arc::clone(&store);
        async move {
            let mut seq = 0;
            loop {
                let event = said(&"x".repeat(20_000)).with_state(delta(&format!("seq={seq}")));
                match store.append(&at, seq, vec![event]).await {
                    Ok(_) => seq += 1,
                    Err(SessionError::NoSpace { .. }) => return (at, seq),
                    Err(error) => panic!("{error}"),
                }
                assert!(seq < 100, "1 MiB is never full");
            }
        }
    });
    let talks = join(talks).await;
    for (at, seq) in &talks {
        let events = all(&store, at).await;
        assert_eq!(events.len() as u64, *seq, "what was not acknowledged is not there either");
        assert_eq!(store.get(&at.key).await.unwrap().unwrap().seq, *seq);
    }
    assert!(talks.iter().any(|(_, seq)| *seq > 0));
    mount_remount(disk.folder.path(), MountFlags::empty(), c"size=20m").unwrap();
    for (at, seq) in &talks {
        assert_eq!(store.append(at, *seq, vec![said("y")]).await.unwrap()[0].seq, seq + 1);
    }
}

#[tokio::test]
async fn a_disk_that_may_not_be_written_to_says_so() {
    let Some(disk) = Disk::new("session::a_disk_that_may_not_be_written_to_says_so") else {
        return;
    };
    let store: Store = Arc::new(disk.open().unwrap());
    begin(&store, "a").await;
    drop(store);
    mount_remount(disk.folder.path(), MountFlags::RDONLY, c"").unwrap();
    let error = disk.open().unwrap_err();
    assert!(matches!(error, SessionError::NoAccess { .. }), "{error:?}");
    mount_remount(disk.folder.path(), MountFlags::empty(), c"").unwrap();
    let store = disk.open().unwrap();
    assert!(metier_session::SessionStore::get(&store, &key("a")).await.unwrap().is_some());
}
