//! Real container engines for tests.
//!
//! Tests that run containers need an engine and an image, and no test may pull one from a registry.
//! So either this tool starts a Docker and a Podman of its own ([`private`]), or it uses those that
//! are there ([`found`]); in both cases it puts the test images in ([`images`]) and tells the tests
//! by a variable where the engine listens. The step ([`mod@check`]) makes sure that containers really
//! run. Engines are spoken to by the Docker API ([`api`]), so that no client has to be installed.

mod api;
mod check;
mod found;
mod images;
mod kind;
mod private;

pub(crate) use check::check;
pub(crate) use found::find;
pub(crate) use private::Engines;
