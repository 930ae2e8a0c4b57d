//! What can be wrong with an engine, an image or a container.

use std::io;

use thiserror::Error;

/// Why a container could not be used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ContainerError {
    /// No engine listens where engines usually do.
    #[error(
        "no container engine listens at {}; start Docker or Podman (`systemctl start docker`, `podman system service --time=0`), or say where it listens",
        .tried.join(", ")
    )]
    NoEngine {
        /// Where it was looked for.
        tried: Vec<String>,
    },
    /// The address is not that of a socket on this machine.
    #[error(
        "`{address}` is not the address of an engine on this machine, whose files it must see; write `unix:///path/of/the.sock`"
    )]
    Address {
        /// What was given.
        address: String,
    },
    /// Nobody answers at the address.
    #[error(
        "no container engine answers at `{address}`: {source}; start it, or name another socket"
    )]
    Unreachable {
        /// The address.
        address: String,
        /// Why not.
        source: io::Error,
    },
    /// Somebody answers at the address, but not as an engine does, or not at all.
    #[error(
        "what listens at `{address}` does not answer like a container engine; name the socket of Docker or Podman"
    )]
    Stranger {
        /// The address.
        address: String,
    },
    /// No image could have such a name.
    #[error(
        "`{}` is not the name of an image; name one such as `debian:stable-slim`",
        .image.escape_debug()
    )]
    ImageName {
        /// What was given.
        image: String,
    },
    /// The engine has no such image, and may not fetch it.
    #[error(
        "the engine at `{address}` has no image `{image}`; fetch it (`docker pull {image}`, `podman pull {image}`), name another, or allow metier to fetch it"
    )]
    NoImage {
        /// The image.
        image: String,
        /// The engine.
        address: String,
    },
    /// The image could not be fetched.
    #[error(
        "image `{image}` could not be fetched: {source}; look at its name and at the way to its registry, or name another"
    )]
    Pull {
        /// The image.
        image: String,
        /// Why not.
        source: Box<bollard::errors::Error>,
    },
    /// Commands cannot be run in the image.
    #[error("image `{image}` has neither bash nor sh; name one that has a shell")]
    NoShell {
        /// The image.
        image: String,
    },
    /// A folder cannot be mounted because of its name.
    #[error(
        "`{path}` cannot be mounted in a container: its name has a comma, a quote or a control character; put the state directory elsewhere"
    )]
    Path {
        /// The folder.
        path: String,
    },
    /// Another run of the session has the container, and does not end.
    #[error(
        "another run of this session still has its container; wait for it or use another session"
    )]
    Busy,
    /// The run was cancelled before it began.
    #[error("the run was cancelled while it waited for its container")]
    Cancelled,
    /// The engine does not do what it is asked.
    #[error("the container engine could not {doing}: {source}")]
    Engine {
        /// What it was asked.
        doing: &'static str,
        /// What it answered.
        source: Box<bollard::errors::Error>,
    },
    /// Something on disk is not as it should be.
    #[error("the files of the container cannot be used: {0}")]
    Io(#[from] io::Error),
}

/// Says what an engine was doing when it failed.
pub(super) fn while_it(
    doing: &'static str,
) -> impl FnOnce(bollard::errors::Error) -> ContainerError {
    move |source| ContainerError::Engine { doing, source: Box::new(source) }
}
