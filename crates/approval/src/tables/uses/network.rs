//! Programs that speak to other machines, and to engines that run things.

use super::{Operands, Shape, Uses};
use crate::tables::options::{NONE, Options, Order};

const fn of(first: &'static [&'static str], options: Options) -> Shape {
    Shape { first, options, operands: Operands::Any, is_for_folder: false }
}

/// What asks and prints. Not what writes files, sends files, reads options or loads code.
const CURL: Options = Options {
    letters: "sSfLIiv46gG#",
    valued: "mXAHdow",
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
        "--data",
        "--header",
        "--output",
        "--write-out",
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

/// Whether `curl` is told nothing but to ask and print. A value that begins with `@` is a file, and so is what
/// `%output` names.
pub(super) fn is_harmless_curl(arguments: &[String]) -> bool {
    let Ok(given) = CURL.read(arguments, Order::Mixed) else { return false };
    let are_values_plain = given.options.iter().all(|(name, value)| match (*name, value) {
        ("o" | "output", value) => *value == Some("/dev/null"),
        ("data-raw", _) => true,
        (_, Some(value)) => !value.starts_with('@') && !value.contains("%output"),
        (_, None) => true,
    });
    are_values_plain && given.operands.iter().all(|operand| is_web_address(operand))
}

pub(super) const USES: &[Uses] = &[
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
