//! The Rust blocks of the README and the guide, as doc tests; other blocks are run by `docs/site/build.py`.

#[doc = include_str!("../../../README.md")]
struct Readme;

#[doc = include_str!("../../../docs/install.md")]
struct Install;
