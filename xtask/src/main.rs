//! The tasks of this repository: `cargo xtask test` runs the checks of CI on any machine.
//!
//! [`mod@test`] lists the steps, [`test_programs`] compiles and runs the Rust tests, [`test_code`] compiles and lints their own code quickly, [`api_docs`] checks the API docs, [`step`] runs them, [`layering`] checks dependencies between crates, [`vocabulary`] refuses words that the glossary
//! has replaced, [`refused_calls`] refuses `.unwrap()` and plain writes outside of tests, [`mod@own_files`] lists the files that checks read, [`hand_written`] lists parts without a library, [`source_size`] warns about long files, [`deny`] checks third-party crates, [`mod@beside`] runs a task while others run, [`mod@environment`] installs packages and a browser, [`date`] names logs, [`mod@fuzz`] damages files, [`mod@reference`] writes the reference pages, [`mod@guide`] builds the guide and runs its blocks, [`mod@release`] makes a release, [`python`] packs and tests the Python package, [`playground`] builds and tests the page,
//! [`validate`] compares dermis with other programs, and [`workspace`] reads Cargo's metadata.

mod api_docs;
mod beside;
mod date;
mod deny;
mod environment;
mod fuzz;
mod guide;
mod hand_written;
mod layering;
mod own_files;
mod playground;
mod python;
mod reference;
mod refused_calls;
mod release;
mod source_size;
mod step;
mod test;
mod test_code;
mod test_programs;
mod validate;
mod vocabulary;
mod workspace;

use std::process::ExitCode;

use step::Step;
use workspace::Workspace;

const HELP: &str = "\
cargo xtask TASK

  test      everything CI checks
  lint      the part of it that needs no test, by itself: third-party crates, clippy and the API docs
  environment
            what the tests of the package, the guide and the page need: a virtual environment and Chromium
  wheel     the Python package as a wheel in dist/, with the MuJoCo engine plugin and the page in it
  install   the wheel in the virtual environment of the tests
  playground
            the page as static files in dist/playground, which the program then contains: `dermis view` shows it
  guide     the guide in target/guide, with all its blocks run: what `test` checks of it
  docs      the guide with its figures and the API reference in dist/guide, and the schemas and pages of docs/reference, from the types that read the files
  layering  only the checks of dependencies between crates, vocabulary, CUDA function length and `.unwrap()` outside of tests (and a warning for very long files), and the
            list of hand-written parts with their reasons
  fuzz [TARGET...] [--time 60s]
            damaged inputs for every reader of files, or for some (`--list`); the inputs of validation/fuzz/corpus come first
  validate [NAME] [ARGUMENT...]
            our numbers against other programs', which are installed for it; a dated log is left in validation/NAME
  release VERSION
            all checks, a dated changelog, crates and wheels with SHA256SUMS in dist/release, a commit and a tag; nothing is published
  help      this text";

/// What the command line asks for.
#[derive(Debug, PartialEq)]
enum Task {
    Docs,
    Environment,
    /// The arguments of the program.
    Fuzz(Vec<String>),
    Guide,
    Help,
    Install,
    Layering,
    Lint,
    Playground,
    /// The new version.
    Release(String),
    Test,
    Wheel,
    /// All validations, or the one named, with further arguments.
    Validate(Option<String>, Vec<String>),
}

impl Task {
    /// The task named by the arguments, or one sentence saying what is wrong with them.
    fn from_args(args: &[String]) -> Result<Task, String> {
        let (name, rest) = match args {
            [] => return Ok(Task::Help),
            [name, rest @ ..] => (name.as_str(), rest),
        };
        let task = match name {
            "help" | "--help" | "-h" => Task::Help,
            "docs" => Task::Docs,
            "environment" => Task::Environment,
            "guide" => Task::Guide,
            "install" => Task::Install,
            "layering" => Task::Layering,
            "lint" => Task::Lint,
            "test" => Task::Test,
            "wheel" => Task::Wheel,
            "playground" => Task::Playground,
            "release" => match rest {
                [version] => return Ok(Task::Release(version.clone())),
                _ => return Err("`release` takes the new version, such as 0.2.0".to_owned()),
            },
            "fuzz" => return Ok(Task::Fuzz(rest.to_vec())),
            "validate" => Task::Validate(None, Vec::new()),
            _ => {
                return Err(format!(
                    "unknown task {name:?}; the tasks are test, lint, environment, wheel, install, playground, guide, docs, layering, fuzz, validate, release and help"
                ));
            }
        };
        match (task, rest) {
            (task, []) => Ok(task),
            (Task::Validate(..), [which, more @ ..]) => Ok(Task::Validate(Some(which.clone()), more.to_vec())),
            (_, [extra, ..]) => Err(format!("`{name}` takes no arguments, got {extra:?}")),
        }
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let Some(code) = test_code::compile(&args).or_else(|| api_docs::check(&args)) {
        return code;
    }
    let steps: &[Step] = match Task::from_args(&args) {
        Err(message) => {
            eprintln!("xtask: {message}");
            return ExitCode::from(2);
        }
        Ok(Task::Help) => {
            println!("{HELP}");
            return ExitCode::SUCCESS;
        }
        Ok(Task::Docs) => guide::DOCS,
        Ok(Task::Environment) => environment::INSTALL,
        Ok(Task::Guide) => &[guide::TESTS],
        Ok(Task::Install) => &[python::INSTALL],
        Ok(Task::Layering) => &[test::LAYERING],
        Ok(Task::Lint) => test::LINT,
        Ok(Task::Test) => return exit(Workspace::read().and_then(|workspace| test::run(&workspace))),
        Ok(Task::Wheel) => &[python::WHEEL],
        Ok(Task::Playground) => &[playground::BUILD],
        Ok(Task::Fuzz(arguments)) => {
            return exit(Workspace::read().and_then(|workspace| fuzz::run(&arguments, &workspace)));
        }
        Ok(Task::Release(version)) => {
            return exit(Workspace::read().and_then(|workspace| release::run(&version, &workspace)));
        }
        Ok(Task::Validate(name, arguments)) => {
            let chosen = validate::chosen(name.as_deref());
            return exit(chosen.and_then(|chosen| validate::run(&chosen, &arguments, &Workspace::read()?)));
        }
    };
    exit(Workspace::read().and_then(|workspace| step::run_all(steps, &workspace)))
}

fn exit(outcome: Result<(), String>) -> ExitCode {
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("xtask: {message}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(args: &[&str]) -> Result<Task, String> {
        Task::from_args(&args.iter().map(|arg| arg.to_string()).collect::<Vec<_>>())
    }

    #[test]
    fn tasks_are_found_by_name() {
        assert_eq!(task(&[]), Ok(Task::Help));
        assert_eq!(task(&["--help"]), Ok(Task::Help));
        assert_eq!(task(&["layering"]), Ok(Task::Layering));
        assert_eq!(task(&["test"]), Ok(Task::Test));
        assert_eq!(task(&["lint"]), Ok(Task::Lint));
        assert_eq!(task(&["docs"]), Ok(Task::Docs));
        assert_eq!(task(&["guide"]), Ok(Task::Guide));
        assert_eq!(task(&["wheel"]), Ok(Task::Wheel));
        assert_eq!(task(&["environment"]), Ok(Task::Environment));
        assert_eq!(task(&["playground"]), Ok(Task::Playground));
        assert_eq!(task(&["validate"]), Ok(Task::Validate(None, vec![])));
        assert_eq!(task(&["validate", "drake"]), Ok(Task::Validate(Some("drake".into()), vec![])));
        assert_eq!(task(&["release", "0.2.0"]), Ok(Task::Release("0.2.0".into())));
        assert_eq!(task(&["fuzz", "stl"]), Ok(Task::Fuzz(vec!["stl".into()])));
    }

    #[test]
    fn unknown_tasks_and_arguments_are_named() {
        assert!(task(&["tset"]).unwrap_err().contains("\"tset\""));
        assert!(task(&["test", "--fast"]).unwrap_err().contains("\"--fast\""));
    }
}
