//! Programs that speak to other machines, and to engines that run things.

use super::{Operands, Shape, Uses};
use crate::tables::options::{NONE, Options};

const fn of(first: &'static [&'static str], options: Options) -> Shape {
    Shape { first, options, operands: Operands::Any, is_for_folder: false }
}

/// What asks and prints. Not what writes files, sends files, reads options or loads code.
const CURL: Options = Options {
    letters: "sSfLIiv46gG#",
    valued: "mXA",
    words: &[
        "--silent",
        "--show-error",
        "--fail",
        "--fail-with-body",
        "--location",
        "--head",
        "--include",
        "--verbose",
        "--compressed",
        "--no-progress-meter",
        "--ipv4",
        "--ipv6",
        "--http1.1",
        "--http2",
        "--get",
    ],
    valued_words: &[
        "--max-time",
        "--connect-timeout",
        "--request",
        "--retry",
        "--retry-delay",
        "--user-agent",
        "--max-redirs",
        "--data-raw",
    ],
    ..NONE
};
const LIST: Options = Options {
    letters: "aqlw",
    valued: "no",
    words: &["--all", "--quiet", "--no-trunc", "--wide", "--all-namespaces"],
    valued_words: &["--namespace", "--format", "--filter", "--output"],
    ..NONE
};

fn is_web_address(word: &str) -> bool {
    word.starts_with("https://") || word.starts_with("http://")
}

pub(super) const USES: &[Uses] = &[
    Uses {
        names: &["curl"],
        because: "with other options it can read, send and overwrite files and load code",
        shapes: &[Shape {
            first: &[],
            options: CURL,
            operands: Operands::Like(is_web_address),
            is_for_folder: false,
        }],
    },
    Uses {
        names: &["wget", "wget2", "aria2c", "axel"],
        because: "it can read, send and overwrite files and run programs",
        shapes: &[],
    },
    Uses {
        names: &[
            "ssh",
            "scp",
            "sftp",
            "rsync",
            "mosh",
            "ftp",
            "lftp",
            "ssh-keygen",
            "ssh-add",
            "ssh-copy-id",
            "sshfs",
            "rclone",
            "telnet",
            "autossh",
            "sshpass",
        ],
        because: "its options can run programs here and elsewhere",
        shapes: &[],
    },
    Uses {
        names: &["docker", "podman", "nerdctl", "buildah"],
        because: "it can run programs with everything that this machine has",
        shapes: &[
            of(&["ps"], LIST),
            of(&["images"], LIST),
            Shape {
                first: &["version"],
                options: NONE,
                operands: Operands::None,
                is_for_folder: false,
            },
        ],
    },
    Uses {
        names: &["kubectl", "oc", "helm", "k9s"],
        because: "it can run programs here and in clusters",
        shapes: &[of(&["get"], LIST), of(&["describe"], LIST)],
    },
    Uses {
        names: &[
            "docker-compose",
            "podman-compose",
            "skopeo",
            "ctr",
            "crictl",
            "lxc",
            "incus",
            "virsh",
            "qemu",
        ],
        because: "it can run programs with everything that this machine has",
        shapes: &[],
    },
];
