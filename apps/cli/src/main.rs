//! The program `dermis`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(dermis_cli::run_command(std::env::args_os()))
}
