//! Programs that do what they are called, whatever their arguments are.
//!
//! No option and no operand makes one of these start another program, load code or take commands from a file. They
//! read, print and compute, or change the files that they are given: whoever lists `rm` allows it to delete. A name
//! is added here only after its manual was read. Where an option does more, the program belongs to `uses`, with the
//! uses that do not.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::kinds;

/// Text and bytes.
const TEXT: &str = "\
    cat head tail wc cut paste join comm tr nl od fold fmt pr expand unexpand tac rev seq yes factor numfmt tsort \
    column colrm look hexdump hd cmp grep egrep fgrep rgrep jq bc base64 base32 basenc echo printf cksum sum md5sum \
    sha1sum sha224sum sha256sum sha384sum sha512sum b2sum bzcat zcat zipinfo shellcheck";
/// Files and folders. Where these may write is decided elsewhere.
const FILES: &str = "\
    ls dir vdir stat du df basename dirname realpath readlink pwd pathchk mktemp mkdir rmdir rm cp mv ln link unlink \
    touch tee dd truncate chmod chown chgrp sync mkfifo whereis which";
/// This machine, its users and processes.
const SYSTEM: &str = "\
    true false test [ expr sleep printenv whoami id groups logname who users w tty nproc uptime uname hostid ps pgrep \
    pidof pstree pwdx free vmstat kill lsblk lscpu lsmem findmnt mountpoint namei getent locale uuidgen cal ncal";
/// Questions to other machines.
const NETWORK: &str = "ping ping4 ping6 dig host tracepath netstat";

static NAMES: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| [TEXT, FILES, SYSTEM, NETWORK].iter().flat_map(|it| it.split(' ')).collect());

/// Whether a program of this name is harmless with any arguments.
///
/// A version is part of a name here: what is called `id3` is not `id`. What distributions add after a dot is not:
/// `which.debianutils` is `which`.
pub(super) fn is_harmless(name: &str) -> bool {
    kinds::variant_forms(name).into_iter().any(|form| NAMES.contains(form))
}

/// All names, for tests.
#[cfg(test)]
pub(super) fn all() -> impl Iterator<Item = &'static str> {
    NAMES.iter().copied()
}
