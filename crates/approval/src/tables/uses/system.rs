//! Programs that change this machine.

use super::{Operands, Shape, Uses};
use crate::tables::options::{NONE, Options};

const fn of(first: &'static [&'static str], options: Options, operands: Operands) -> Shape {
    Shape { first, options, operands, is_for_folder: false }
}

/// Saying what time it is. Not `-s`, which sets it.
const DATE: Options = Options {
    letters: "uR",
    valued: "dr",
    optional: "I",
    words: &["--utc", "--universal", "--rfc-email"],
    valued_words: &["--date", "--reference", "--rfc-3339"],
    optional_words: &["--iso-8601"],
    ..NONE
};
/// Reading the journal. Not `-D`, `--file`, `--vacuum-size`, `--flush`.
const JOURNAL: Options = Options {
    letters: "xekrq",
    valued: "unptoSU",
    words: &["--user", "--system", "--utc", "--no-hostname", "--reverse", "--dmesg", "--quiet"],
    valued_words: &[
        "--unit",
        "--lines",
        "--priority",
        "--since",
        "--until",
        "--output",
        "--identifier",
    ],
    ..NONE
};

/// Showing the memory of a process. Not `-n` and `-N`, which write settings, `-C`, which reads them from any file.
const PMAP: Options = Options {
    letters: "xXdqpc",
    valued: "A",
    words: &["--extended", "--device", "--quiet", "--show-path", "--read-rc"],
    valued_words: &["--range"],
    ..NONE
};

fn is_format(word: &str) -> bool {
    word.starts_with('+')
}

pub(super) const USES: &[Uses] = &[
    Uses {
        names: &["date", "gdate"],
        because: "with other arguments it sets the clock",
        shapes: &[of(&[], DATE, Operands::Like(is_format))],
    },
    Uses {
        names: &["pmap"],
        because: "with other options it overwrites files",
        shapes: &[of(&[], PMAP, Operands::Any)],
    },
    Uses {
        names: &["journalctl"],
        because: "unless it begins with `--no-pager` it can run programs, and it can delete the journal",
        shapes: &[of(&["--no-pager"], JOURNAL, Operands::Any)],
    },
    Uses {
        names: &["ip"],
        because: "with other words it changes the network and runs programs",
        shapes: &[
            of(&["addr"], NONE, Operands::None),
            of(&["addr", "show"], NONE, Operands::Any),
            of(&["a"], NONE, Operands::None),
            of(&["link"], NONE, Operands::None),
            of(&["link", "show"], NONE, Operands::Any),
            of(&["route"], NONE, Operands::None),
            of(&["route", "show"], NONE, Operands::Any),
        ],
    },
    Uses {
        names: &[
            "mount",
            "umount",
            "fusermount",
            "insmod",
            "modprobe",
            "rmmod",
            "depmod",
            "kmod",
            "sysctl",
            "reboot",
            "shutdown",
            "poweroff",
            "halt",
            "init",
            "telinit",
            "kexec",
            "swapon",
            "swapoff",
            "losetup",
            "dmsetup",
            "cryptsetup",
            "lvm",
            "mkfs",
            "mke2fs",
            "fdisk",
            "sfdisk",
            "parted",
            "mkswap",
            "useradd",
            "userdel",
            "usermod",
            "groupadd",
            "groupdel",
            "groupmod",
            "adduser",
            "deluser",
            "passwd",
            "chpasswd",
            "gpasswd",
            "chsh",
            "chfn",
            "visudo",
            "vipw",
            "vigr",
            "iptables",
            "nft",
            "ufw",
            "firewall-cmd",
            "hostnamectl",
            "timedatectl",
            "loginctl",
            "localectl",
            "update-alternatives",
            "alternatives",
            "update-rc.d",
            "chkconfig",
            "ldconfig",
            "hwclock",
            "setcap",
            "chattr",
            "dpkg-reconfigure",
            "debconf",
            "updatedb",
            "netplan",
            "nmcli",
            "nmtui",
            "iw",
            "ifconfig",
            "route",
            "brctl",
            "tc",
            "bridge",
            "ethtool",
            "defaults",
        ],
        because: "it changes this machine",
        shapes: &[],
    },
];
