//! The command line of dermis, as a library: the program `dermis` and the script of the Python package call [`run_command`]. One
//! file per subcommand: its arguments, and a function `run`.

mod bench;
mod bench_data;
mod calibrate;
mod calibrate_array;
mod calibrate_figures;
mod calibrate_magnetic;
mod calibrate_material;
mod calibrate_optics;
mod camera_peaks;
mod characterise;
mod compare;
mod completions;
mod console;
mod dataset;
mod demo;
mod depth_unit;
mod design;
mod doctor;
mod estimate;
mod export;
mod image;
mod import;
mod metrics;
mod press;
mod reproduce;
mod run;
mod schema;
mod sensor;
mod sensors;
mod set;
mod table;
mod validate;
mod view;
pub mod web;

use clap::error::ErrorKind;
use clap::{Parser, Subcommand};
use std::ffi::OsString;

/// The version, with the commit if the program was built in a repository.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), env!("DERMIS_COMMIT"));

/// Simulates tactile sensors for robots.
#[derive(Parser)]
#[command(name = "dermis", version = VERSION, arg_required_else_help = true)]
#[command(after_help = "Start with `dermis demo`, or `dermis press --sensor wts0614 --object sphere --depth 0.5mm`.")]
struct Cli {
    /// Number of threads; by default all cores. Results do not depend on it.
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Also print remarks, such as the reason why no GPU is used.
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    verbose: bool,
    /// Print results and errors only: no progress, no list of written files beside JSON.
    #[arg(short, long, global = true)]
    quiet: bool,
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
    Estimate(estimate::Arguments),
    Design(design::Arguments),
    Import(import::Arguments),
    Dataset(dataset::Arguments),
    Reproduce(reproduce::Arguments),
    Bench(bench::Arguments),
    Validate(validate::Arguments),
    Metrics(metrics::Arguments),
    Compare(compare::Arguments),
    Export(export::Arguments),
    View(view::Arguments),
    Schema(schema::Arguments),
    Doctor(doctor::Arguments),
    Completions(completions::Arguments),
}

fn dispatch(command: Command) -> anyhow::Result<()> {
    match command {
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Run(arguments) => run::run(&arguments),
        Command::Sensors(arguments) => sensors::run(&arguments),
        Command::Press(arguments) => press::run(&arguments),
        Command::Calibrate(arguments) => calibrate::run(&arguments),
        Command::Characterise(arguments) => characterise::run(&arguments),
        Command::Estimate(arguments) => estimate::run(&arguments),
        Command::Design(arguments) => design::run(&arguments),
        Command::Import(arguments) => import::run(&arguments),
        Command::Dataset(arguments) => dataset::run(&arguments),
        Command::Reproduce(arguments) => reproduce::run(&arguments),
        Command::Bench(arguments) => bench::run(&arguments),
        Command::Validate(arguments) => validate::run(&arguments),
        Command::Metrics(arguments) => metrics::run(&arguments),
        Command::Compare(arguments) => compare::run(&arguments),
        Command::Export(arguments) => export::run(&arguments),
        Command::View(arguments) => view::run(&arguments),
        Command::Schema(arguments) => schema::run(&arguments),
        Command::Doctor(arguments) => doctor::run(&arguments),
        Command::Completions(arguments) => completions::run(&arguments),
    }
}

/// A command that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// Exit code.
    pub code: u8,
    /// One sentence for stderr; empty if help was printed.
    pub sentence: String,
}

/// Runs the command line `arguments`, which start with the name of the program, and returns the exit code. Ctrl-C ends the process.
pub fn run_command(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let Err(Failed { code, sentence }) = try_command(arguments) else { return 0 };
    if !sentence.is_empty() {
        console::say_error(format!("dermis: {sentence}"));
    }
    code
}

/// Like [`run_command`], and returns the sentence of a failure instead of printing it.
pub fn try_command(arguments: impl IntoIterator<Item = OsString>) -> Result<(), Failed> {
    let cli = Cli::try_parse_from(arguments).or_else(|error| usage(&error))?;
    console::handle_interrupt();
    console::ignore_file_size_signal();
    console::set_verbosity(cli.verbose, cli.quiet);
    let outcome = console::use_threads(cli.threads).and_then(|()| dispatch(cli.command));
    outcome.map_err(|error| Failed {
        code: error.downcast_ref::<console::Ended>().map_or(1, |ended| ended.code),
        sentence: console::one_line(&console::causes(&error)),
    })?;
    match console::lost_output() {
        None => Ok(()),
        Some(reason) => Err(Failed { code: 1, sentence: format!("the output could not be written: {reason}") }),
    }
}

/// Prints clap's help unchanged; a wrong argument is one sentence with exit code 2.
fn usage(error: &clap::Error) -> Result<Cli, Failed> {
    let is_help = matches!(
        error.kind(),
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
            | ErrorKind::MissingSubcommand
    );
    if is_help {
        let _ = error.print();
        return Err(Failed { code: if error.use_stderr() { 2 } else { 0 }, sentence: String::new() });
    }
    Err(Failed { code: 2, sentence: one_sentence(&error.to_string()) })
}

/// clap's message without usage; its tips follow after a semicolon.
fn one_sentence(text: &str) -> String {
    let message = text.split("\n\nUsage").next().unwrap_or_default().split("\n\nFor more").next().unwrap_or_default();
    let parts = message.trim_start_matches("error: ").split("\n\n").map(console::one_line);
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ").replace("; tip: ", "; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;
    use std::collections::BTreeSet;
    use std::path::{Path, PathBuf};

    fn every(command: &clap::Command, visit: &mut impl FnMut(&clap::Command)) {
        visit(command);
        command.get_subcommands().for_each(|below| every(below, visit));
    }

    #[test]
    fn tips_of_wrong_arguments_are_separate_sentences() {
        let message = |arguments: &[&str]| one_sentence(&Cli::try_parse_from(arguments).err().unwrap().to_string());
        let text = message(&["dermis", "press", "--sensr", "wts0614"]);
        assert!(text.contains("'--sensr' found; ") && !text.contains("tip:"), "{text}");
    }

    #[test]
    fn every_command_has_an_example_in_its_help() {
        every(&Cli::command(), &mut |command| {
            let help = command.clone().render_long_help().to_string();
            assert!(help.contains("Example") || help.contains("Start with"), "`{}` has no example", command.get_name());
        });
    }

    fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                sources(&entry, found);
            } else if entry.extension().is_some_and(|extension| extension == "rs") {
                found.push(entry);
            }
        }
    }

    /// How commands with `--out` are called. No input exists, because the place of the results comes before it.
    const WRITING: [&str; 19] = [
        "demo",
        "run no.toml",
        "press --sensor wts0614 --object sphere --depth 1mm",
        "characterise --sensor wts0614",
        "estimate pose --sensor gelsight --object sphere --reading no.png",
        "design no.toml --vary surface.grid.pitch=2mm..6mm --minimise position",
        "compare no.mcap no.csv",
        "reproduce moisio-foam",
        "import no.xml --grid 2x2 --pitch 1mm",
        "calibrate stiffness no.csv",
        "calibrate friction no.csv --normal-force 1N",
        "calibrate taxels no.csv --sensor wts0614",
        "calibrate spread no.csv --sensor wts0614",
        "calibrate creep no.csv --sensor wts0614",
        "calibrate sensor no.csv no.csv --sensor wts0614",
        "calibrate optics --background no.png --presses no.csv --ball 4mm",
        "calibrate magnetic no.csv no.csv --sensor anyskin",
        "calibrate material no.csv --sensor gelsight --object sphere",
        // Several processes share the work of a set; a folder with another set is refused.
        "dataset make no.toml",
    ];

    #[test]
    fn no_command_writes_where_another_one_does() {
        let folder = tempfile::tempdir().unwrap();
        let (place, file) = (folder.path().join("taken"), folder.path().join("taken.toml"));
        let held = [dermis::output::ClaimedFolder::open(&place), dermis::output::ClaimedFolder::of_file(&file)];
        assert!(held.iter().all(Result::is_ok));
        for line in WRITING.iter().filter(|line| !line.starts_with("dataset")) {
            let path =
                if ["import", "calibrate optics"].iter().any(|start| line.starts_with(start)) { &file } else { &place };
            let words = ["dermis"].into_iter().chain(line.split(' ')).map(OsString::from);
            let failed = try_command(words.chain(["--out".into(), path.into()])).unwrap_err();
            assert!(failed.sentence.contains("another command is writing there"), "{line}: {}", failed.sentence);
        }
        // One page, written at once.
        let mut with_out = vec![vec!["validate", "real"]];
        with_out.extend(WRITING.iter().map(|line| line.split(' ').take(2).collect()));
        let command = Cli::command();
        let mut pages = Vec::new();
        paths(&command, &mut Vec::new(), &mut pages);
        for path in pages {
            assert!(
                with_out.iter().any(|known| known.starts_with(&path[..path.len().min(2)])),
                "`{path:?}` has `--out`: add a line to WRITING"
            );
        }
    }

    /// The names of all commands that have `--out`.
    fn paths<'a>(command: &'a clap::Command, before: &mut Vec<&'a str>, found: &mut Vec<Vec<&'a str>>) {
        if command.get_arguments().any(|argument| argument.get_long() == Some("out")) {
            found.push(before.clone());
        }
        for below in command.get_subcommands() {
            before.push(below.get_name());
            paths(below, before, found);
            before.pop();
        }
    }

    /// `run` had no `--set`, and calibrations had none. Every command that reads a sensor or a scene has it.
    #[test]
    fn every_command_that_reads_a_sensor_or_scene_has_set() {
        let mut count = 0;
        every(&Cli::command(), &mut |command| {
            let has = |name: &str| command.get_arguments().any(|argument| argument.get_id() == name);
            // `validate` reads the sensors that its data sets name.
            if has("sensor") || has("scene") {
                assert!(has("set"), "`{}` has no `--set`", command.get_name());
                count += 1;
            }
        });
        assert!(count > 10, "{count}");
    }

    /// A message that names a flag, as `--flag`, names one that exists.
    #[test]
    fn flags_in_messages_exist() {
        let mut known: BTreeSet<String> = ["help", "version"].map(str::to_owned).into();
        every(&Cli::command(), &mut |command| {
            known.extend(command.get_arguments().filter_map(|argument| Some(argument.get_long()?.to_owned())));
        });
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut files = Vec::new();
        for part in ["geometry", "skin", "sensor", "world", "dermis", "record", "gpu", "research"] {
            sources(&root.join("crates").join(part).join("src"), &mut files);
        }
        sources(&root.join("apps/cli/src"), &mut files);
        for file in files {
            let text = std::fs::read_to_string(&file).unwrap();
            for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
                for after in line.split("`--").skip(1) {
                    let flag: String = after.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
                    assert!(flag.is_empty() || known.contains(&flag), "{}: `--{flag}`", file.display());
                }
            }
        }
    }
}
