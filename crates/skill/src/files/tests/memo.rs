//! What is remembered of files, and for how long.

use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, SystemTime};

use crate::files::{DigestCache, Identity, Memo, TokenCache, digest_of, list, token_count};
use crate::scratch::{Scratch, settle};

fn identity(file: &Path) -> Identity {
    Identity::of(&fs::metadata(file).unwrap())
}

/// A fact about a file that is young until the fact is known. On a busy machine a file may age
/// meanwhile; then another is made.
fn remembered_of_a_young_file(find_out: fn()) -> bool {
    for _ in 0..50 {
        let scratch = Scratch::new();
        let file = scratch.write("file", "text");
        let memo = Memo::<u32>::in_memory();
        let young = !identity(&file).is_settled();
        memo.recall(&file, &identity(&file), |_| {
            find_out();
            Ok(1)
        })
        .unwrap();
        if young {
            return memo.recall(&file, &identity(&file), |_| Ok(2)).unwrap() == 1;
        }
    }
    panic!("no file was ever young");
}

#[test]
fn an_unchanged_skill_costs_no_reads() {
    let scratch = Scratch::new();
    let file = scratch.write("s/SKILL.md", "text");
    settle(&file);
    let tree = list(&scratch.path("s")).unwrap();
    let (digests, tokens) = (DigestCache::in_memory(), TokenCache::in_memory());
    let digest = digest_of(&tree, &digests).unwrap();
    let count = token_count(&tree, &tree.entries[0], &tokens).unwrap();
    // What is not there any more cannot be read.
    fs::remove_file(&file).unwrap();
    assert_eq!(digest_of(&tree, &digests).unwrap(), digest);
    assert_eq!(token_count(&tree, &tree.entries[0], &tokens).unwrap(), count);
    assert!(digest_of(&tree, &DigestCache::in_memory()).is_err());
}

#[test]
fn a_file_that_changed_a_moment_ago_is_not_remembered() {
    assert!(!remembered_of_a_young_file(|| ()));
}

/// The file could have changed again while it was read, in the same tick of the clock.
#[test]
fn a_file_does_not_become_old_by_being_read_slowly() {
    assert!(!remembered_of_a_young_file(|| thread::sleep(Duration::from_millis(40))));
}

#[test]
fn a_file_settles_when_the_clock_has_surely_moved_on() {
    let scratch = Scratch::new();
    let file = scratch.write("file", "");
    let metadata = fs::metadata(&file).unwrap();
    let seconds = Duration::from_secs(metadata.ctime().unsigned_abs());
    let changed = SystemTime::UNIX_EPOCH
        + seconds
        + Duration::from_nanos(metadata.ctime_nsec().unsigned_abs());
    let settled =
        |milliseconds| identity(&file).was_settled(changed + Duration::from_millis(milliseconds));
    assert_eq!([0, 20, 21, 5_000].map(settled), [false, false, true, true]);
}

#[test]
fn a_time_in_the_future_never_settles() {
    let scratch = Scratch::new();
    let file = scratch.write("file", "");
    let mut json = serde_json::to_value(identity(&file)).unwrap();
    json["changed"][0] = serde_json::json!(i64::MAX / 4);
    assert!(!serde_json::from_value::<Identity>(json).unwrap().is_settled());
}

#[test]
fn a_changed_file_is_read_again() {
    let scratch = Scratch::new();
    let file = scratch.write("s/SKILL.md", "one");
    settle(&file);
    let memo = DigestCache::in_memory();
    let digest = || digest_of(&list(&scratch.path("s")).unwrap(), &memo).unwrap().whole;
    let before = digest();
    // The same length, and the old time put back.
    let times = fs::metadata(&file).unwrap().modified().unwrap();
    fs::write(&file, "two").unwrap();
    fs::File::options().write(true).open(&file).unwrap().set_modified(times).unwrap();
    assert_ne!(digest(), before);
    scratch.write("beside", "one");
    fs::rename(scratch.path("beside"), &file).unwrap();
    assert_eq!(digest(), before);
}

#[test]
fn a_memo_lasts_in_its_file_and_a_broken_one_is_forgotten() {
    let scratch = Scratch::new();
    let file = scratch.write("file", "text");
    settle(&file);
    let memo_file = scratch.path("cache/digests");
    let memo = Memo::<u32>::open(memo_file.clone());
    assert_eq!(memo.recall(&file, &identity(&file), |_| Ok(1)).unwrap(), 1);
    memo.save();
    let fact = || Memo::<u32>::open(memo_file.clone()).recall(&file, &identity(&file), |_| Ok(2));
    assert_eq!(fact().unwrap(), 1);
    for broken in [&b""[..], b"metier cache 02\n", b"metier cache 99\nxxxxxxxxxxxxxxxxxxxx", b"\0"]
    {
        fs::write(&memo_file, broken).unwrap();
        assert_eq!(fact().unwrap(), 2, "{broken:?}");
    }
    fs::remove_file(&memo_file).unwrap();
    assert_eq!(fact().unwrap(), 2);
}

#[test]
fn a_memo_that_cannot_be_saved_is_harmless() {
    for place in ["/proc/nowhere/memo", "/dev/full/memo", "/dev/null/memo"] {
        let scratch = Scratch::new();
        let file = scratch.write("file", "text");
        settle(&file);
        let memo = Memo::<u32>::open(place.into());
        memo.recall(&file, &identity(&file), |_| Ok(1)).unwrap();
        memo.save();
    }
}

#[test]
fn a_failure_is_not_remembered() {
    let scratch = Scratch::new();
    let file = scratch.write("file", "text");
    settle(&file);
    let memo = Memo::<u32>::in_memory();
    let failed = memo.recall(&file, &identity(&file), |_| Err(io::ErrorKind::Other.into()));
    assert!(failed.is_err());
    let mut text = String::new();
    memo.recall(&file, &identity(&file), |mut file| file.read_to_string(&mut text).map(|_| 1))
        .unwrap();
    assert_eq!(text, "text");
}

#[test]
fn a_file_that_became_a_pipe_is_an_error_and_nobody_waits_for_it() {
    let scratch = Scratch::new();
    let file = scratch.write("s/a.md", "text");
    let tree = list(&scratch.path("s")).unwrap();
    fs::remove_file(&file).unwrap();
    scratch.fifo("s/a.md");
    assert!(digest_of(&tree, &DigestCache::in_memory()).is_err());
}
