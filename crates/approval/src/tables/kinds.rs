//! What kind of program something is, by its names.
//!
//! Only the kinds that decide about judging are here. A program is taken for the most dangerous thing that one of its
//! names stands for.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::sync::LazyLock;

use super::wrappers::{self, Wrapper};
use crate::facts::Executable;

/// What kind of program something is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// It changes who or where a program is. Refused.
    Privilege,
    /// It reads commands.
    Shell,
    /// It runs code that it is given or finds.
    Interpreter,
    /// It is a script that no table describes, so it counts as its interpreter running code.
    Script,
    /// It fetches programs or looks for them, and runs them.
    Runner,
    /// It is many programs, and one of its words says which.
    MultiCall,
    /// It starts other programs in ways that no table follows.
    Carrier,
    /// It starts one program, which the table finds.
    Wrapper(&'static Wrapper),
    /// Nothing of that.
    Ordinary,
}

const PRIVILEGE: &str = "\
    sudo sudoedit sudo-rs doas su su-rs pkexec runuser gosu su-exec setpriv capsh chroot bwrap firejail \
    unshare nsenter proot fakechroot schroot systemd-run systemd-nspawn machinectl newgrp sg dzdo pbrun \
    please run0 sandbox-exec lxc-execute lxc-attach aa-exec runcon newuidmap newgidmap";
const SHELLS: &str = "\
    sh bash rbash dash ash zsh ksh mksh lksh pdksh oksh yash posh fish csh tcsh osh ysh oil elvish nu \
    nushell xonsh ion rc es scsh pwsh powershell cmd sash bosh hush rksh zsh-static bash-static";
const INTERPRETERS: &str = "\
    python pypy ipython bpython jython micropython node nodejs deno ruby jruby irb rake perl perldoc php \
    php-cgi phpdbg lua luajit luac rscript r julia elixir iex mix erl escript guile groovy scala scala-cli \
    kotlin kotlinc jshell java clojure clj bb raku perl6 ghc ghci runghc runhaskell stack ocaml racket sbcl \
    clisp swipl tclsh wish expect osascript awk gawk mawk nawk original-awk bwk m4 dc gdb lldb sqlite sqlite3 \
    psql mysql mariadb mongosh redis-cli ts-node tsx dotnet dotnet-script mono qjs d8 gjs vim vi nvim view \
    vimdiff rvim rview ex ed red emacs emacsclient nano pico micro joe mcedit less more most man info wasmtime \
    wasmer qemu-x86_64 qemu-aarch64 wine gnuplot octave maxima gp exiftool pdflatex xelatex lualatex latexmk \
    tex latex pdftex luatex pydoc pager sensible-pager sensible-editor sensible-browser editor zless zmore \
    bzless bzmore xzless xzmore zstdless lesspipe lesspipe.sh lessfile w3m lynx links elinks groff troff nroff roff rnano \
    gvim gview evim vimtutor kak hx helix jed jmacs ne tilde vipe vidir bpftrace stap radare2 r2 rizin duckdb \
    clickhouse clickhouse-local clickhouse-client usql litecli pgcli mycli iredis cqlsh sqlplus isql sqlcmd \
    mongo mutt neomutt alpine irssi weechat nmap gs ghostscript gsc conjure xsltproc libreoffice soffice \
    blender gimp mpv vlc cvlc xetex etex mpost dvips tectonic context mtxrun texlua swift dart flutter nim \
    crystal coffee gforth janet hy gst gprolog chez scheme gsi csi ecl abcl haxe pike wolframscript sage matlab \
    jrunscript jdb cscope asciidoctor erlc";
const RUNNERS: &str = "\
    npx pnpx bunx uvx npm pnpm yarn yarnpkg bun uv pipx pip poetry pdm hatch rye conda mamba micromamba \
    corepack nvm fnm volta mise asdf rtx direnv gem bundle bundler rbenv pyenv nodenv composer nix nix-shell \
    nix-env guix flatpak snap brew apt apt-get aptitude dnf yum zypper pacman apk dpkg rpm rustup \
    cargo-binstall coursier cs jbang dagger devbox cpan cpanm cpanp luarocks opam cabal raco easy_install \
    pipenv virtualenv nix-build nix-store nix-instantiate apt-cache apt-config apt-mark apt-key apt-file \
    add-apt-repository dpkg-deb dpkg-query dpkg-divert dpkg-buildpackage debuild rpmbuild rpmkeys rpm2cpio pkg \
    pkg_add port emerge xbps-install winget choco scoop vcpkg conan nuget lein rebar3 nimble";
const MULTI_CALL: &str = "busybox toybox coreutils uutils sbase-box ubase-box";
const CARRIERS: &str = "\
    xargs parallel watch script entr watchexec nodemon setsid flock chrt xvfb-run numactl cpulimit unbuffer \
    torify torsocks proxychains proxychains4 eatmydata catchsegv setarch linux32 linux64 i386 x86_64 arch xcrun \
    strace ltrace perf valgrind faketime fakeroot dbus-run-session dbus-launch ssh-agent start-stop-daemon \
    daemonize screen tmux dtach abduco at batch crontab systemctl service launchctl run-parts chpst softlimit \
    envdir setuidgid prlimit choom coproc command builtin exec eval source nc ncat netcat socat openssl mail \
    mailx ansible ansible-playbook vagrant hyperfine dotenv op doppler chronic ifne lckdo pee rlwrap trickle \
    cgexec catatonit tini dumb-init with-contenv foreman pm2 forever supervisorctl fzf sk bat batcat delta mc \
    ranger lf nnn vifm ldd tig gitk msgfilter msgexec prove genv gnice gnohup gtimeout gtime gstdbuf gxargs ts \
    tsp zrun mispipe autoexpect systemd-cat systemd-inhibit systemd-socket-activate s6-setuidgid s6-env sv nq \
    daemon rr heaptrack uftrace ccache distcc sccache bear intercept-build scan-build xterm x-terminal-emulator \
    gnome-terminal konsole alacritty kitty xdg-open open gio x-www-browser www-browser code zellij byobu busctl \
    dbus-send gdbus qdbus xdotool ydotool top htop atop btop anacron sem sshd reptyr setlock multilog";
/// What names of programs that run code begin with, whatever follows.
const INTERPRETER_PREFIXES: &[&str] =
    &["python", "pypy", "emacs", "ld-linux", "ld-musl", "ld.so", "ld64.so"];
/// What names of programs for another machine begin with.
const MACHINES: &str = "\
    x86_64 amd64 i386 i486 i586 i686 aarch64 arm64 arm armv6l armv7l armv7a armeb riscv32 riscv64 powerpc powerpc64 \
    powerpc64le ppc64le s390x mips mipsel mips64 mips64el sparc64 loongarch64 alpha hppa m68k sh4 wasm32 avr";
/// What follows then.
const SYSTEMS: &[&str] = &[
    "pc", "unknown", "redhat", "suse", "alpine", "conda", "apple", "w64", "none", "linux", "gnu",
    "musl", "eabi", "uclibc", "mingw", "cygwin", "elf", "darwin", "android", "freebsd", "openbsd",
    "netbsd", "wasi",
];

/// Longer than any name in the lists, with a version.
const LONGEST_NAME: usize = 64;
/// What names of scripts end with, which are not the program that they are called after.
const SCRIPTS: &[&str] = &["sh", "bash", "py", "js", "mjs", "ts", "rb", "pl", "php", "lua"];

/// The last part of a path, or of a name.
pub(crate) fn base_name(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

/// What kind of program a word, and what was found for it, stands for.
pub(crate) fn kind_of(word: &str, program: Option<&Executable>) -> Kind {
    names(word, program)
        .iter()
        .map(|name| by_name(name))
        .min_by_key(|kind| kind.rank())
        .unwrap_or(Kind::Ordinary)
}

/// Whether a word names a program that changes who or where a program is.
pub(crate) fn is_privileged(word: &str) -> bool {
    let name = base_name(word);
    name.len() <= LONGEST_NAME && matches!(by_name(name), Kind::Privilege)
}

/// The names of a program: as it was written, where it was found, and what it really is. A program that is many
/// is the one that it is called.
pub(super) fn names<'a>(word: &'a str, program: Option<&'a Executable>) -> Vec<Cow<'a, str>> {
    let mut names = vec![Cow::Borrowed(base_name(word))];
    for path in program.iter().flat_map(|program| [&program.path, &program.file.real]) {
        let name = path.file_name().map(OsStr::to_string_lossy);
        names.extend(name.filter(|name| !names.contains(name)));
    }
    if names.len() > 1 && !matches!(by_name(&names[0]), Kind::MultiCall) {
        names.retain(|name| !matches!(by_name(name), Kind::MultiCall));
    }
    names
}

/// What the names of a table are compared with: a name in small letters, and without the version, the variant and the
/// machine that systems add to names.
pub(super) fn forms(lower: &str) -> [&str; 8] {
    let [a, b, c, d] = forms_of(lower);
    let [e, f, g, h] = forms_of(without_machine(lower));
    [a, b, c, d, e, f, g, h]
}

fn forms_of(lower: &str) -> [&str; 4] {
    let stem = match lower.split_once('.') {
        Some((stem, ending)) if !SCRIPTS.contains(&ending) => stem,
        _ => lower,
    };
    let without_version = |name: &'_ str| {
        name.trim_end_matches(|last: char| last.is_ascii_digit() || "._-".contains(last)).len()
    };
    [lower, &lower[..without_version(lower)], stem, &stem[..without_version(stem)]]
}

/// A name as it is, and without the variant that systems add after a dot.
pub(super) fn variant_forms(name: &str) -> [&str; 2] {
    [forms_of(name)[0], forms_of(name)[2]]
}

/// A name without the machine that it begins with: `x86_64-linux-gnu-gcc` is `gcc`.
fn without_machine(lower: &str) -> &str {
    let Some((machine, mut rest)) = lower.split_once('-') else { return lower };
    if !MACHINES.split_whitespace().any(|known| known == machine) {
        return lower;
    }
    while let Some((part, after)) = rest.split_once('-')
        && SYSTEMS.iter().any(|system| part.starts_with(system))
    {
        rest = after;
    }
    rest
}

pub(super) fn by_name(name: &str) -> Kind {
    let lower = name.to_ascii_lowercase();
    let known = forms(&lower).into_iter().filter_map(|form| KINDS.get(form)).copied();
    let most = known.min_by_key(|kind| kind.rank()).unwrap_or(Kind::Ordinary);
    let is_interpreter = INTERPRETER_PREFIXES.iter().any(|prefix| lower.starts_with(prefix));
    if is_interpreter && most.rank() > Kind::Interpreter.rank() { Kind::Interpreter } else { most }
}

/// All names that the lists have.
static KINDS: LazyLock<HashMap<&'static str, Kind>> = LazyLock::new(|| {
    let lists = [
        (CARRIERS, Kind::Carrier),
        (MULTI_CALL, Kind::MultiCall),
        (RUNNERS, Kind::Runner),
        (INTERPRETERS, Kind::Interpreter),
        (SHELLS, Kind::Shell),
        (PRIVILEGE, Kind::Privilege),
    ];
    let wrappers = wrappers::all().map(|(name, wrapper)| (name, Kind::Wrapper(wrapper)));
    let listed = lists
        .into_iter()
        .flat_map(|(names, kind)| names.split_whitespace().map(move |name| (name, kind)));
    wrappers.chain(listed).collect()
});

impl Kind {
    /// What it is, for a sentence; none for what is nothing in particular.
    pub(crate) const fn words(self) -> Option<&'static str> {
        match self {
            Self::Privilege => Some("changes who or where a program is"),
            Self::Shell => Some("is a shell and can run anything"),
            Self::Interpreter => Some("runs whatever code it is given"),
            Self::Script => {
                Some("is a script that no table describes, so it counts as its interpreter")
            }
            Self::Runner => Some("fetches programs and runs them"),
            Self::MultiCall => Some("is many programs in one"),
            Self::Carrier | Self::Wrapper(_) => Some("starts other programs"),
            Self::Ordinary => None,
        }
    }

    /// Whether it is nothing but what it is called.
    pub(crate) const fn is_ordinary(self) -> bool {
        matches!(self, Self::Ordinary)
    }

    const fn rank(self) -> u8 {
        match self {
            Self::Privilege => 0,
            Self::Shell => 1,
            Self::Interpreter => 2,
            Self::Script => 3,
            Self::Runner => 4,
            Self::MultiCall => 5,
            Self::Carrier => 6,
            Self::Wrapper(_) => 7,
            Self::Ordinary => 8,
        }
    }
}
