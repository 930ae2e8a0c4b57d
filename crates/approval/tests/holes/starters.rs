//! Programs that start others, load code or write elsewhere, though they do not look like it.

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
        "convert a.png -resize 50% b.jpg",
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
        "split -l 5 a",
        "tree -L 2 sub",
        "date -u +%F",
        "date",
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
}
