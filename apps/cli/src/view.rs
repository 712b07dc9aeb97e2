//! `dermis view`: the playground in a browser.

use crate::console::say;
use crate::web::{Server, find_skins, open};
use std::path::PathBuf;

/// Press objects into sensors in a browser. The page is served on this machine only.
#[derive(clap::Args)]
pub struct Arguments {
    /// Port of 127.0.0.1; by default any free port.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Print the address and open no browser.
    #[arg(long)]
    no_open: bool,
    /// Folder of the compiled module (dermis.wasm.gz), as written by `cargo xtask playground`.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let skins = find_skins(arguments.dir.as_deref())?;
    let server = Server::bind(arguments.port, skins, None)?;
    let url = server.url("");
    say(format!("{url} (Ctrl-C to stop)"));
    if !arguments.no_open {
        open(&url);
    }
    server.serve();
    Ok(())
}
