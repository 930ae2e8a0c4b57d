//! Programs that start others, load code or write elsewhere, though they do not look like it.

use crate::machine::{Machine, decide, policy};
use crate::{assert_covered, assert_not_covered};

#[test]
fn a_bare_name_covers_no_option_that_starts_a_program() {
    assert_not_covered(&[
        "diff3 --diff-program=./x a b c",
        "sdiff --diff-program=./x a b",
        "sdiff -o out a b",
        "groff -U a",
        "prove -e ./x a",
        "msgfilter ./x",
        "msgexec ./x",
        "ip netns exec x ./x",
        "ip -b file",
        "journalctl -u x",
        "convert 'msl:a' b",
        "convert '|./x' b",
        "sox '|./x' b",
        "tcpdump -z ./x",
        "yt-dlp --exec ./x a",
        "xmllint --shell a",
        "xmllint -- --shell a",
        "gpg --photo-viewer ./x a",
    ]);
    assert_covered(&[
        "diff3 -m a b c",
        "sdiff -s a b",
        "ip addr show dev eth0",
        "journalctl --no-pager -u x -n 5",
        "xmllint --noout a",
        "diff -u a b",
    ]);
}

#[test]
fn a_bare_name_covers_nothing_of_what_only_starts_loads_or_rules() {
    assert_not_covered(&[
        "ldd a",
        "cpan x",
        "pydoc3 x",
        "sensible-pager a",
        "sensible-editor a",
        "sensible-browser a",
        "zless a",
        "zmore a",
        "lesspipe a",
        "lesspipe.sh a",
        "systemctl x",
        "patch -p1",
        "c89 a",
        "c99 a",
        "update-alternatives --all",
        "script a",
        "watch a",
        "parallel a",
        "entr a",
        "expect a",
        "at now",
        "batch",
        "crontab a",
        "dbus-run-session a",
        "ssh-agent a",
        "gdb a",
        "strace a",
        "ltrace a",
        "perf stat a",
        "valgrind a",
        "openssl engine x",
        "sqlite3 a .shell",
        "psql -c x",
        "mysql x",
        "ftp x",
        "nc -e x",
        "socat x",
        "screen x",
        "tmux x",
        "dpkg -i x",
        "rpm -i x",
        "apt-get update",
        "apt-cache show x",
        "snap run x",
        "gem install x",
        "npm install",
        "cargo install x",
        "go run x",
        "mount a b",
        "umount a",
        "insmod a",
        "rustfmt a",
        "javac a",
        "emacs-nox a",
        "gtimeout 5 ./x",
        "xdg-open a",
        "duckdb a",
        "mkfs.ext4 a",
    ]);
}

#[test]
fn a_bare_name_covers_no_file_that_is_overwritten_elsewhere() {
    assert_not_covered(&[
        "shuf -o x a",
        "iconv -o x a",
        "iconv --output=x a",
        "xxd -r a b",
        "xxd a b",
        "split a /etc/x",
        "csplit -f /etc/x a 5",
        "tree -o x",
        "date -s 12:00",
        "date --set=12:00",
        "date 01010000",
    ]);
    assert_covered(&[
        "shuf -n 1 a",
        "iconv -f latin1 -t utf8 a",
        "xxd -c 8 a",
        "tree -L 2 sub",
        "date -u +%F",
        "date",
    ]);
}

#[test]
fn a_program_with_a_parser_of_its_own_is_read_as_it_reads() {
    assert_not_covered(&[
        "tree -iN -Po '*' /home/me/.bashrc a",
        "tree -La 2 b",
        "tree -Lo a",
        "xxd -ac 5 b",
        "xxd -bl 5 b",
        "ffmpeg -i=a b.mp4",
        "unzip -l -P a b",
        "xmllint --xpath=a b",
        "xxd a --",
        "xxd -l 64 a --",
        "xxd a -a",
        "xxd -- a b",
        "tree a -- b",
        "pdftotext a.pdf -- b.txt",
    ]);
    assert_covered(&[
        "tree -aC -L 2 -I target src",
        "tree src -L2",
        "xxd -l 64 -c 8 a",
        "xxd -- a",
    ]);
}

#[test]
fn no_mode_that_writes_hides_behind_one_that_looks() {
    assert_not_covered(&[
        "bunzip2 -t -d a.bz2",
        "gunzip -t -d a.gz",
        "unxz -l -d a.xz",
        "bzip2 -t -z a",
        "xz -t -z a",
        "xz --test -z a",
        "xz -lz a",
        "zstd -t -z a",
    ]);
    assert_covered(&[
        "bunzip2 -t a.bz2",
        "xz -t a.xz",
        "xz -k a",
        "zstd -19 -k a",
        "zstd -dc a.zst",
    ]);
}

#[test]
fn files_whose_names_no_argument_says_are_not_covered_by_a_name() {
    assert_not_covered(&[
        "csplit -s -b '/../../a%.0d' b 4",
        "csplit b 4",
        "split b",
        "split -d -l 5 b",
        "pdftoppm -png b.pdf c",
        "pdfimages -png b.pdf c",
    ]);
    assert_covered(&[
        "pdfimages -list a.pdf",
        "chmod +x a",
        "chmod -x a",
        "chmod -R u+w,go-w sub",
        "chown -R me:me sub",
        "mktemp",
        "mktemp -d",
        "mktemp -t a.XXXXXX",
        "mktemp a.XXXXXX",
    ]);
}

#[test]
fn a_database_is_asked_and_takes_no_commands() {
    assert_not_covered(&[
        "sqlite3 -safe -readonly -init /dev/null :memory: '.trace a' 'select 1'",
        "sqlite3 -safe -readonly -init /dev/null :memory: 'select 1' '.trace a'",
        "sqlite3 -safe -readonly -init /dev/null a ' .testcase b'",
        "sqlite3 -safe -readonly -init /dev/null a 'select 1;\n .trace b'",
        "sqlite3 -safe -readonly -init /dev/null a \"vacuum into 'b'\"",
        "sqlite3 -safe -readonly -init /dev/null a \"ATTACH 'b' as c\"",
        "sqlite3 -safe -readonly -init /dev/null a",
        "sqlite3 -safe -readonly -init /dev/null",
        "sqlite3 -safe -readonly a 'select 1'",
        "sqlite3 -safe -readonly -init /dev/null -init b a 'select 1'",
        "sqlite3 -safe -readonly -init=/dev/null a 'select 1'",
        "sqlite3 -safe",
    ]);
    assert_covered(&[
        "sqlite3 -readonly -safe -csv -init /dev/null a.db 'select 1;\nselect .5' 'select 2'",
    ]);
}

#[test]
fn git_shows_references_and_what_was_put_aside_and_changes_neither() {
    assert_not_covered(&[
        "git --paginate log",
        "git -p log",
        "git --no-pager -c core.pager=./x log",
        "git --no-pager push",
        "git --no-pager branch x",
        "git branch --contains a b",
        "git branch -D --contains a",
        "git tag --sort=-creatordate x",
        "git tag -d x",
        "git remote get-url a b",
        "git remote set-url a b",
        "git config user.name x",
        "git config edit",
        "git config --edit a.b",
        "git config --unset a.b",
        "git reflog -p",
        "git reflog expire --all",
        "git reflog delete a",
        "git stash show --ext-diff",
        "git stash drop",
        "git stash",
    ]);
    assert_covered(&[
        "git --no-pager log --oneline -5",
        "git --no-pager diff HEAD",
        "git branch -a --contains a",
        "git tag --sort=-creatordate",
        "git remote get-url origin",
        "git remote get-url --push origin",
        "git config user.name",
        "git for-each-ref --sort=-committerdate --count=5 refs/heads",
        "git reflog -5",
        "git reflog show HEAD",
        "git stash show -p",
    ]);
}

#[test]
fn a_compiler_for_another_machine_is_a_compiler() {
    assert_not_covered(&[
        "x86_64-linux-gnu-gcc -wrapper ./x a",
        "x86_64-linux-gnu-gcc-12 a",
        "x86_64-pc-linux-gnu-g++ a",
        "aarch64-linux-gnu-python3.11 a",
        "arm-none-eabi-gdb a",
        "arm-linux-gnueabihf-ld a",
        "i686-w64-mingw32-cpp a",
        "x86_64-apple-darwin21-clang a",
    ]);
    assert_covered(&["x86_64-linux-gnu-nm a", "arm-none-eabi-size a"]);
}

#[test]
fn asking_for_a_version_may_not_start_what_a_folder_says() {
    assert_not_covered(&[
        "mvn --version",
        "gradle --version",
        "yarn --version",
        "pnpm --version",
        "cargo --version",
        "rustc --version",
        "npx --version",
        "vi --version",
        "mvn -v --version",
    ]);
    assert_covered(&["python3 --version", "git --version", "node --version", "make --version"]);
    let mut machine = Machine::new();
    let real = "/usr/lib/node_modules/npm/bin/npm-cli.js";
    machine.link("/usr/bin/npm", real);
    machine.scripts.insert(real.into(), vec!["/usr/bin/env".to_owned(), "node".to_owned()]);
    let decided = |command: &str| decide(command, &machine, &policy(&["npm"]));
    assert!(decided("npm --version").starts_with("allow: "), "{}", decided("npm --version"));
    assert!(decided("npm --version x").starts_with("ask: "));
    assert!(decided("npm install").starts_with("ask: "));
}
