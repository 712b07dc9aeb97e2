//! The page of `dermis view` and `dermis run --view`, and its server on the loopback address.

mod files;
mod guests;
pub mod http;
mod hub;
mod live;
mod open;
mod server;

pub use files::skins;
pub use live::{Live, LiveArguments};
pub use open::{open, open_secretly};
pub use server::Server;
