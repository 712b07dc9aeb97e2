//! `dermis completions`: completions for a shell.

use clap::CommandFactory;
use clap_complete::{Shell, generate};

/// Print completions of commands and flags for a shell.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  dermis completions bash > ~/.local/share/bash-completion/completions/dermis")]
pub struct Arguments {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let mut script = Vec::new();
    generate(arguments.shell, &mut crate::Cli::command(), "dermis", &mut script);
    crate::console::say_document(String::from_utf8_lossy(&script).trim_end());
    Ok(())
}
