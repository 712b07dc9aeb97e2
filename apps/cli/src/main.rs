//! The command line of dermis. One file per subcommand: its arguments, and a function `run`.

mod bench;
mod bench_data;
mod calibrate;
mod calibrate_array;
mod calibrate_optics;
mod characterise;
mod compare;
mod console;
mod dataset;
mod demo;
mod export;
mod image;
mod import;
mod metrics;
mod press;
mod reproduce;
mod run;
mod sensor;
mod sensors;
mod table;
mod validate;
mod view;
mod web;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Simulates tactile sensors for robots.
#[derive(Parser)]
#[command(name = "dermis", version, arg_required_else_help = true)]
struct Cli {
    /// Number of threads; by default all cores. Results do not depend on it.
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    #[command(subcommand)]
    command: Command,
}

/// To add a subcommand: a line here and a line in [`dispatch`].
#[derive(Subcommand)]
enum Command {
    Demo(demo::Arguments),
    Run(run::Arguments),
    Sensors(sensors::Arguments),
    Press(press::Arguments),
    Calibrate(calibrate::Arguments),
    Characterise(characterise::Arguments),
    Import(import::Arguments),
    Dataset(dataset::Arguments),
    Reproduce(reproduce::Arguments),
    Bench(bench::Arguments),
    Validate(validate::Arguments),
    Metrics(metrics::Arguments),
    Compare(compare::Arguments),
    Export(export::Arguments),
    View(view::Arguments),
}

fn dispatch(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Run(arguments) => run::run(&arguments),
        Command::Sensors(arguments) => sensors::run(&arguments),
        Command::Press(arguments) => press::run(&arguments),
        Command::Calibrate(arguments) => calibrate::run(&arguments),
        Command::Characterise(arguments) => characterise::run(&arguments),
        Command::Import(arguments) => import::run(&arguments),
        Command::Dataset(arguments) => dataset::run(&arguments),
        Command::Reproduce(arguments) => reproduce::run(&arguments),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Validate(arguments) => validate::run(&arguments),
        Command::Metrics(arguments) => metrics::run(&arguments),
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Export(arguments) => export::run(&arguments),
        Command::View(arguments) => view::run(&arguments),
    }
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let outcome = console::use_threads(cli.threads).and_then(|()| dispatch(cli.command));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("dermis: {}", console::one_line(&format!("{error:#}")));
            ExitCode::FAILURE
        }
    }
}

/// Prints clap's help unchanged, and a wrong argument as one line with exit code 2.
fn usage(error: &clap::Error) -> ExitCode {
    let is_help = matches!(
        error.kind(),
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
            | ErrorKind::MissingSubcommand
    );
    if is_help {
        let _ = error.print();
        return ExitCode::from(if error.use_stderr() { 2 } else { 0 });
    }
    let text = error.to_string();
    let message = text.split("\n\nUsage").next().unwrap_or_default().split("\n\nFor more").next().unwrap_or_default();
    eprintln!("dermis: {}", console::one_line(message.trim_start_matches("error: ")));
    ExitCode::from(2)
}
