//! Nothing to call: the Rust of the README and of the guide, so that it is compiled with the tests.

/// The README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
#[derive(Debug)]
pub struct Readme;

/// The guide for programs in Rust.
#[cfg(doctest)]
#[doc = include_str!("../docs/rust.md")]
#[derive(Debug)]
pub struct Guide;
