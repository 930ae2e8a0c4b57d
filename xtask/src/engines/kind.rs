//! The engines that tests know.

/// An engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Docker,
    Podman,
}

impl Kind {
    pub(super) const ALL: [Self; 2] = [Self::Docker, Self::Podman];

    /// What people call it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Docker => "Docker",
            Self::Podman => "Podman",
        }
    }

    /// The variable that tells tests where it listens, as `unix:///…`.
    pub(super) fn variable(self) -> &'static str {
        match self {
            Self::Docker => "METIER_TEST_DOCKER",
            Self::Podman => "METIER_TEST_PODMAN",
        }
    }

    /// The variable by which people say the same to its own client.
    pub(super) fn usual_variable(self) -> &'static str {
        match self {
            Self::Docker => "DOCKER_HOST",
            Self::Podman => "CONTAINER_HOST",
        }
    }

    /// Where it listens below `/run` and below the folder of a user.
    pub(super) fn usual_socket(self) -> &'static str {
        match self {
            Self::Docker => "docker.sock",
            Self::Podman => "podman/podman.sock",
        }
    }

    /// The name of its socket in the folder of a private one; `keeper.sh` has the same.
    pub(super) fn private_socket(self) -> &'static str {
        match self {
            Self::Docker => "docker.sock",
            Self::Podman => "podman.sock",
        }
    }
}
