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
const CONTAINERS: Options = Options {
    letters: "aq",
    valued: "f",
    words: &["--all", "--quiet", "--no-trunc"],
    valued_words: &["--format", "--filter"],
    ..NONE
};
/// What a cluster has. Not `-f`, `--kubeconfig`, `--cache-dir`.
const RESOURCES: Options = Options {
    letters: "Aw",
    valued: "nolL",
    words: &["--all-namespaces", "--watch", "--no-headers", "--show-labels"],
    valued_words: &["--namespace", "--output", "--selector", "--label-columns", "--sort-by"],
    ..NONE
};
const DESCRIBED: Options = Options {
    letters: "A",
    valued: "nl",
    words: &["--all-namespaces"],
    valued_words: &["--namespace", "--selector"],
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
            "rsh",
            "rlogin",
            "rexec",
            "tftp",
            "ncftp",
            "smbclient",
        ],
        because: "its options can run programs here and elsewhere",
        shapes: &[],
    },
    Uses {
        names: &["docker", "podman", "nerdctl", "buildah"],
        because: "it can run programs with everything that this machine has",
        shapes: &[
            of(&["ps"], CONTAINERS),
            of(&["images"], CONTAINERS),
            Shape {
                first: &["version"],
                options: NONE,
                operands: Operands::None,
                is_for_folder: false,
            },
        ],
    },
    Uses {
        names: &["kubectl", "oc"],
        because: "it can run programs here and in clusters",
        shapes: &[of(&["get"], RESOURCES), of(&["describe"], DESCRIBED)],
    },
    Uses {
        names: &["helm", "k9s", "kustomize", "k3s", "minikube", "kind"],
        because: "it can run programs here and in clusters",
        shapes: &[],
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
