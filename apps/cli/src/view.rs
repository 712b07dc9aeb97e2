//! `dermis view`: the playground in a browser.

use crate::console::{lost_output, say};
use crate::web::{Server, open, skins};
use std::path::PathBuf;

/// Press objects into sensors in a browser. The page is served on this machine only.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  dermis view")]
pub struct Arguments {
    /// Port of 127.0.0.1; by default any free port.
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Print the address and open no browser.
    #[arg(long)]
    no_open: bool,
    /// Folder of another compiled module (dermis.wasm.gz) than the one in this program, as written by `cargo xtask playground`.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let skins = skins(arguments.dir.as_deref())?;
    let server = Server::bind(arguments.port, Some(skins), None)?;
    let url = server.url("");
    say(format!("{url} (Ctrl-C to stop)"));
    if lost_output().is_some() {
        // Nobody knows where the page is; the command ends with the reason.
        return Ok(());
    }
    if !arguments.no_open {
        open(&url);
    }
    server.serve();
    Ok(())
}
