//! What is particular to the store in a folder: what lies on disk, and what others do to it.

use std::fs::{self, OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::fs::{FileExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use metier_testkit::skip;
use metier_workspace::artifact::{
    About, ArtifactError, ArtifactKey, ArtifactStore, DirectoryStore,
};
use rustix::fs::{CWD, FileType, Mode, mknodat};
use rustix::mount::{MountFlags, UnmountFlags, mount, mount_remount, unmount};
use tempfile::TempDir;
use tokio::io::AsyncReadExt;

use crate::conformance::{MAX_BYTES, conforms};
use crate::support::{Broken, chain, key, names, owner, refusal, save, text};

/// A store with one artifact of one version, in a folder that goes with the test.
struct Shop {
    folder: TempDir,
    store: DirectoryStore,
    key: ArtifactKey,
}

impl Shop {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = DirectoryStore::open(&folder.path().join("new/store")).unwrap();
        let key = key("s", "a");
        save(&store, &key, "content of a").await;
        Self { folder, store, key }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join("new/store").join(path)
    }

    /// The outcome of loading, without the place of the folder.
    async fn text(&self) -> String {
        self.shorten(&text(&self.store, &self.key, None).await)
    }

    fn shorten(&self, text: &str) -> String {
        text.replace(&self.folder.path().display().to_string(), "")
    }

    fn staged(&self) -> usize {
        self.path("staging").read_dir().unwrap().count()
    }
}

/// All paths below a folder with their permissions, sorted.
fn tree(folder: &Path) -> String {
    let mut lines = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(current) = folders.pop() {
        for entry in current.read_dir().unwrap() {
            let entry = entry.unwrap();
            let path = entry.path();
            let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
            lines.push(format!("{} {mode:o}", path.strip_prefix(folder).unwrap().display()));
            if path.is_dir() {
                folders.push(path);
            }
        }
    }
    lines.sort();
    lines.join("\n")
}

const VERSION: &str = "sessions/app/ada/s/a/0";

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn the_store_in_a_folder_conforms() {
    let folder = tempfile::tempdir().unwrap();
    let store = DirectoryStore::open(folder.path()).unwrap().with_max_bytes(MAX_BYTES);
    conforms(Arc::new(store)).await;
    assert_eq!(folder.path().join("staging").read_dir().unwrap().count(), 0);
}

#[tokio::test]
async fn what_is_on_disk_is_for_its_owner_alone() {
    let shop = Shop::new().await;
    save(&shop.store, &key("../s", "user:Out/b"), "b").await;
    shop.store.delete(&shop.key, None).await.unwrap();
    insta::assert_snapshot!(tree(shop.folder.path()), @r"
    new 700
    new/store 700
    new/store/sessions 700
    new/store/sessions/app 700
    new/store/sessions/app/ada 700
    new/store/sessions/app/ada/s 700
    new/store/sessions/app/ada/s/a 700
    new/store/sessions/app/ada/s/a/0 700
    new/store/sessions/app/ada/s/a/0/deleted.json 600
    new/store/staging 700
    new/store/users 700
    new/store/users/app 700
    new/store/users/app/ada 700
    new/store/users/app/ada/user%3a%4fut%2fb 700
    new/store/users/app/ada/user%3a%4fut%2fb/0 700
    new/store/users/app/ada/user%3a%4fut%2fb/0/content 600
    new/store/users/app/ada/user%3a%4fut%2fb/0/record.json 600
    ");
}

#[tokio::test]
async fn a_store_opened_again_has_what_it_had() {
    let shop = Shop::new().await;
    shop.store.delete(&shop.key, None).await.unwrap();
    let again = DirectoryStore::open(&shop.path("")).unwrap();
    assert_eq!(save(&again, &shop.key, "more").await, 1);
    assert_eq!(text(&shop.store, &shop.key, None).await, "more");
}

#[tokio::test]
async fn what_was_not_saved_leaves_nothing_behind() {
    let shop = Shop::new().await;
    let before = tree(shop.folder.path());
    refusal(&shop.store, &key("other", "x"), vec![7; 100_000].chain(Broken)).await;
    assert_eq!(tree(shop.folder.path()), before);
}

#[tokio::test]
async fn a_truncated_file_is_an_error_on_load() {
    let shop = Shop::new().await;
    let content = OpenOptions::new().write(true).open(shop.path(VERSION).join("content")).unwrap();
    content.set_len(5).unwrap();
    insta::assert_snapshot!(shop.text().await, @"version 0 of `a` is damaged, its size has changed: delete it, or restore a backup");
}

#[tokio::test]
async fn other_bytes_are_an_error_at_the_end() {
    let shop = Shop::new().await;
    let content = OpenOptions::new().write(true).open(shop.path(VERSION).join("content")).unwrap();
    content.write_all_at(b"C", 0).unwrap();
    insta::assert_snapshot!(shop.text().await, @"version 0 of `a` is damaged, it has other bytes: delete it, or restore a backup");
}

#[tokio::test]
async fn a_file_that_changes_while_it_is_read_is_an_error() {
    let shop = Shop::new().await;
    let path = shop.path(VERSION).join("content");
    for (length, fault) in
        [(5, "its end is missing"), (12, "it has other bytes"), (99, "it has grown")]
    {
        fs::write(&path, "content of a").unwrap();
        let mut loaded = shop.store.load(&shop.key, None).await.unwrap();
        fs::write(&path, "x".repeat(length)).unwrap();
        let error = loaded.content.read_to_end(&mut Vec::new()).await.unwrap_err();
        assert!(error.to_string().contains(fault), "{error}");
        // It stays an error for those who ask again.
        assert!(loaded.content.read_to_end(&mut Vec::new()).await.is_err());
    }
}

#[tokio::test]
async fn missing_content_and_records_without_sense_are_damage_that_can_be_deleted() {
    let mut outcomes = Vec::new();
    for break_it in [
        |version: &Path| fs::remove_file(version.join("content")).unwrap(),
        |version: &Path| fs::write(version.join("record.json"), "{").unwrap(),
        |version: &Path| {
            let record = fs::read_to_string(version.join("record.json")).unwrap();
            fs::write(version.join("record.json"), record.replace("\"a\"", "\"b\"")).unwrap();
        },
    ] {
        let shop = Shop::new().await;
        break_it(&shop.path(VERSION));
        outcomes.push(shop.text().await);
        shop.store.delete(&shop.key, None).await.unwrap();
        assert_eq!(names(&shop.store, &owner("s")).await, "");
        assert_eq!(save(&shop.store, &shop.key, "good").await, 1);
        assert_eq!(shop.text().await, "good");
    }
    insta::assert_snapshot!(outcomes.join("\n"), @r"
    version 0 of `a` is damaged, its content is missing: delete it, or restore a backup
    version 0 of `a` is damaged, its record makes no sense: delete it, or restore a backup
    version 0 of `a` is damaged, its record makes no sense: delete it, or restore a backup
    ");
}

#[tokio::test]
async fn a_deletion_that_was_interrupted_is_finished_by_the_next() {
    let shop = Shop::new().await;
    let version = shop.path(VERSION);
    fs::rename(version.join("record.json"), version.join("deleted.json")).unwrap();
    assert_eq!(names(&shop.store, &owner("s")).await, "");
    assert!(matches!(
        shop.store.delete(&shop.key, None).await,
        Err(ArtifactError::NotFound { .. })
    ));
    assert_eq!(tree(&version), "deleted.json 600");
}

#[tokio::test]
async fn links_are_never_followed() {
    let mut outcomes = Vec::new();
    for place in [
        "sessions/app/ada/s/a/0/content",
        "sessions/app/ada/s/a/0/record.json",
        "sessions/app/ada/s/a/0",
        "sessions/app/ada/s/a",
        "sessions/app/ada/s",
        "sessions/app",
        "sessions",
    ] {
        let shop = Shop::new().await;
        let outside = shop.folder.path().join("outside");
        fs::rename(shop.path(place), &outside).unwrap();
        symlink(&outside, shop.path(place)).unwrap();
        let before = held(&outside);
        outcomes.push(format!("{place}: {}", shop.text().await));
        let _ = shop.store.save(&shop.key, &mut &b"x"[..], &About::default()).await;
        let _ = shop.store.delete(&shop.key, None).await;
        let _ = shop.store.list(shop.key.scope()).await;
        assert_eq!(held(&outside), before, "{place} was followed");
    }
    insta::assert_snapshot!(outcomes.join("\n"), @r"
    sessions/app/ada/s/a/0/content: cannot use the artifacts in `/new/store`: check the folder and its disk
      because: `content` in it is a link or a special file, which no store makes
    sessions/app/ada/s/a/0/record.json: cannot use the artifacts in `/new/store`: check the folder and its disk
      because: `record.json` in it is a link or a special file, which no store makes
    sessions/app/ada/s/a/0: cannot use the artifacts in `/new/store`: check the folder and its disk
      because: `0` in it is a link or a special file, which no store makes
    sessions/app/ada/s/a: cannot use the artifacts in `/new/store`: check the folder and its disk
      because: `a` in it is a link or a special file, which no store makes
    sessions/app/ada/s: cannot use the artifacts in `/new/store`: check the folder and its disk
      because: `s` in it is a link or a special file, which no store makes
    sessions/app: cannot use the artifacts in `/new/store`: check the folder and its disk
      because: `app` in it is a link or a special file, which no store makes
    sessions: cannot use the artifacts in `/new/store`: check the folder and its disk
      because: `sessions` in it is a link or a special file, which no store makes
    ");
}

/// What a file or folder holds.
fn held(path: &Path) -> String {
    if path.is_dir() { tree(path) } else { fs::read_to_string(path).unwrap() }
}

#[tokio::test]
async fn a_fifo_in_place_of_content_does_not_make_anyone_wait() {
    let shop = Shop::new().await;
    let path = shop.path(VERSION).join("content");
    fs::remove_file(&path).unwrap();
    mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    insta::assert_snapshot!(shop.text().await, @r"
    cannot use the artifacts in `/new/store`: check the folder and its disk
      because: `content` in it is a link or a special file, which no store makes
    ");
}

#[tokio::test]
async fn what_is_not_ours_is_left_alone_and_no_number_is_given_twice() {
    let shop = Shop::new().await;
    let name = shop.path("sessions/app/ada/s/a");
    fs::write(name.join("1"), "a file where a version would be").unwrap();
    fs::create_dir(name.join("2")).unwrap();
    fs::create_dir(name.join("007")).unwrap();
    fs::write(name.join(".DS_Store"), "").unwrap();
    fs::write(shop.path("sessions/app/ada/s/.DS_Store"), "").unwrap();
    fs::write(shop.path("staging/.DS_Store"), "").unwrap();
    assert_eq!(save(&shop.store, &shop.key, "three").await, 3);
    assert_eq!(shop.store.clean(Duration::ZERO).await.unwrap(), 0);
    assert_eq!(fs::read_to_string(name.join("1")).unwrap(), "a file where a version would be");
}

#[tokio::test]
async fn cleaning_spares_what_is_being_written() {
    let shop = Shop::new().await;
    fs::create_dir(shop.path("staging/left")).unwrap();
    fs::write(shop.path("staging/left/content"), "half").unwrap();
    fs::create_dir(shop.path("staging/gone-before")).unwrap();
    assert_eq!(shop.store.clean(Duration::from_secs(60)).await.unwrap(), 0);
    assert_eq!(shop.staged(), 2);
    assert_eq!(shop.store.clean(Duration::ZERO).await.unwrap(), 2);
    assert_eq!(shop.staged(), 0);
    assert_eq!(shop.text().await, "content of a");
}

#[tokio::test]
async fn a_save_that_is_cleaned_away_fails_whole() {
    let shop = Shop::new().await;
    let (mut reader, mut writer) = tokio::io::duplex(64);
    let (store, at) = (shop.store.clone(), shop.key.clone());
    let saving = tokio::spawn(async move { store.save(&at, &mut reader, &About::default()).await });
    tokio::io::AsyncWriteExt::write_all(&mut writer, b"half").await.unwrap();
    while shop.staged() == 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    while shop.store.clean(Duration::ZERO).await.unwrap() == 0 {}
    drop(writer);
    let error = saving.await.unwrap().unwrap_err();
    insta::assert_snapshot!(shop.shorten(&chain(&error)), @"`a` was cleaned away while it was being saved: save it again");
    assert_eq!(names(&shop.store, &owner("s")).await, "a 0 of 1");
    assert_eq!(shop.staged(), 0);
}

#[tokio::test]
async fn memory_does_not_grow_with_content() {
    const SIZE: u64 = 256 * 1024 * 1024;
    let shop = Shop::new().await;
    let before = peak_kib();
    let mut content = tokio::io::repeat(7).take(SIZE);
    shop.store.save(&shop.key, &mut content, &About::default()).await.unwrap();
    let mut loaded = shop.store.load(&shop.key, None).await.unwrap();
    let read = tokio::io::copy(&mut loaded.content, &mut tokio::io::sink()).await.unwrap();
    assert_eq!(read, SIZE);
    let grown = peak_kib() - before;
    assert!(grown < 16 * 1024, "the peak grew by {grown} KiB");
}

/// The most memory that this process ever had.
fn peak_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// A small file system in memory, for those who may mount one.
struct Disk {
    folder: TempDir,
}

impl Disk {
    fn new(test: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let options = Some(c"size=1m,mode=700");
        match mount("none", folder.path(), "tmpfs", MountFlags::empty(), options) {
            Ok(()) => Some(Self { folder }),
            Err(error) => {
                skip(test, &format!("a tmpfs cannot be mounted: {error}"));
                None
            }
        }
    }

    fn shorten(&self, text: &str) -> String {
        text.replace(&self.folder.path().display().to_string(), "/disk")
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = unmount(self.folder.path(), UnmountFlags::DETACH);
    }
}

#[tokio::test]
async fn a_full_disk_is_one_clear_error() {
    let Some(disk) = Disk::new("artifacts::a_full_disk_is_one_clear_error") else { return };
    let store = DirectoryStore::open(disk.folder.path()).unwrap();
    let key = key("s", "a");
    save(&store, &key, "small").await;
    let error = refusal(&store, &key, tokio::io::repeat(7).take(4 * 1024 * 1024)).await;
    assert!(matches!(error, ArtifactError::NoSpace { .. }));
    insta::assert_snapshot!(disk.shorten(&chain(&error)), @r"
    no space is left for artifacts in `/disk`: free some
      because: No space left on device (os error 28)
    ");
    // What did not fit is gone, so what fits is taken.
    assert_eq!(save(&store, &key, &"x".repeat(500_000)).await, 1);
    assert_eq!(text(&store, &key, Some(0)).await, "small");
}

#[tokio::test]
async fn a_folder_that_may_not_be_changed_is_one_clear_error() {
    if rustix::process::geteuid().is_root() {
        // Permissions do not bind root; a disk that is read-only does.
        let test = "artifacts::a_folder_that_may_not_be_changed_is_one_clear_error";
        let Some(disk) = Disk::new(test) else { return };
        let store = DirectoryStore::open(disk.folder.path()).unwrap();
        save(&store, &key("s", "a"), "read me").await;
        mount_remount(disk.folder.path(), MountFlags::RDONLY, c"").unwrap();
        may_only_be_read(&store, disk.folder.path()).await;
        assert!(DirectoryStore::open(&disk.folder.path().join("new")).is_err());
    } else {
        let folder = tempfile::tempdir().unwrap();
        let store = DirectoryStore::open(folder.path()).unwrap();
        save(&store, &key("s", "a"), "read me").await;
        let locked = ["staging", VERSION].map(|path| folder.path().join(path));
        let lock = |mode| {
            locked.iter().for_each(|path| {
                fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
            });
        };
        lock(0o500);
        may_only_be_read(&store, folder.path()).await;
        lock(0o700);
    }
}

async fn may_only_be_read(store: &DirectoryStore, folder: &Path) {
    let key = key("s", "a");
    let saving = refusal(store, &key, &b""[..]).await;
    let deleting = store.delete(&key, None).await.unwrap_err();
    for error in [saving, deleting] {
        let text = error.to_string().replace(&folder.display().to_string(), "/store");
        insta::allow_duplicates! { insta::assert_snapshot!(text, @"no access to the artifacts in `/store`: check its permissions") }
    }
    assert_eq!(text(store, &key, None).await, "read me");
}

#[test]
fn a_file_in_place_of_the_folder_is_an_error() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(b"not a folder").unwrap();
    assert!(DirectoryStore::open(file.path()).is_err());
    assert!(DirectoryStore::open(&file.path().join("below")).is_err());
}
