//! `cargo xtask test`: the list of everything CI checks.
//!
//! A new check is a function and an entry in [`STEPS`]. A step installs the tools that it needs if it can, and otherwise fails with one line that
//! names the tool: see [`mod@playground`].
//!
//! Everything is built with `--release`, so that dependencies are compiled once for tests, examples and demo, and
//! because the physics is too slow otherwise.

use std::fs;
use std::path::Path;

use crate::beside::Beside;
use crate::deny;
use crate::hand_written;
use crate::layering;
use crate::playground;
use crate::python;
use crate::refused_calls;
use crate::source_size;
use crate::step::{self, Failure, Invocation, Step};
use crate::test_code::linting;
use crate::test_programs;
use crate::vocabulary;
use crate::workspace::Workspace;

/// The steps in order, the fastest first.
pub const STEPS: &[Step] = &[
    Step { name: "formatting", run: formatting },
    LAYERING,
    deny::CHECK,
    // Before anything is compiled for this machine: the program contains the page.
    playground::BUILD,
    Step { name: "tests", run: tests },
    Step { name: "examples", run: examples },
];

/// The steps after them, while the guide is built: its blocks run one after the other and keep one core busy, and these tests leave one idle
/// now and then.
const PACKAGE_STEPS: &[Step] = &[python::TESTS, playground::TESTS];

/// The task `lint`. In `test`, clippy and the API docs come with the compilation of the tests ([`crate::test_code`], [`crate::api_docs`]),
/// which has the libraries that they would compile again.
pub const LINT: &[Step] = &[deny::CHECK, Step { name: "clippy", run: clippy }, Step { name: "docs", run: docs }];

/// Runs [`STEPS`] while packages and browser are installed, then [`PACKAGE_STEPS`].
pub fn run(workspace: &Workspace) -> Result<(), String> {
    let program = std::env::current_exe().map_err(|error| format!("this program has no path: {error}"))?;
    let environment = Beside::start("packages and browser", &program, "environment", &workspace.target)?;
    let times = step::run_each(STEPS, workspace);
    // The steps that need the environment ask for it again and say what is missing.
    let _ = environment.finish();
    let mut times = times?;
    let guide = Beside::start("the guide", &program, "guide", &workspace.target)?;
    let more = step::run_each(PACKAGE_STEPS, workspace);
    let guide = guide.finish();
    times.extend(more?);
    guide?;
    step::summarise(&times);
    Ok(())
}

/// The folder into which [`LINT`] compiles.
fn lint_target(workspace: &Workspace) -> String {
    workspace.target.join("lint").to_string_lossy().into_owned()
}

/// Also the task `layering`.
pub const LAYERING: Step = Step { name: "layering", run: layering };

fn formatting(workspace: &Workspace) -> Result<(), Failure> {
    Invocation::new("cargo fmt --all --check").run(&workspace.root)
}

fn layering(workspace: &Workspace) -> Result<(), Failure> {
    for warning in source_size::warnings(&workspace.root) {
        println!("warning: {warning}");
    }
    let mut violations = layering::violations(&workspace.packages);
    violations.extend(vocabulary::violations(&workspace.root));
    violations.extend(refused_calls::violations(&workspace.root));
    match hand_written::parts(&workspace.root) {
        Ok(parts) => {
            println!("hand-written parts: {}", parts.len());
            parts.iter().for_each(|part| println!("  {} ({}): {}", part.name, part.paths.join(", "), part.reason));
        }
        Err(wrong) => violations.extend(wrong),
    }
    for violation in &violations {
        println!("error: {violation}");
    }
    match violations.len() {
        0 => Ok(()),
        count => Err(Failure { reason: format!("broken rules: {count}"), repeat: "cargo xtask layering".into() }),
    }
}

fn clippy(workspace: &Workspace) -> Result<(), Failure> {
    Invocation::new("cargo clippy --workspace --all-targets --release -- -D warnings")
        .env("CARGO_TARGET_DIR", lint_target(workspace))
        .run(&workspace.root)
}

fn tests(workspace: &Workspace) -> Result<(), Failure> {
    test_programs::run(&workspace.root, &workspace.target)
}

/// Runs every example, each with an empty output folder `DERMIS_OUT`.
fn examples(workspace: &Workspace) -> Result<(), Failure> {
    let runs = example_runs(workspace);
    if runs.is_empty() {
        println!("there are no examples in the workspace");
    }
    // All at once: package by package, cargo would choose other features and compile the dependencies again.
    linting(Invocation::new("cargo build --workspace --release --examples")).run(&workspace.root)?;
    for ExampleRun { out, invocation } in runs {
        let emptied = if Path::new(&out).exists() { fs::remove_dir_all(&out) } else { Ok(()) };
        emptied.and_then(|()| fs::create_dir_all(&out)).map_err(|error| Failure {
            reason: format!("the folder {out} could not be made anew: {error}"),
            repeat: invocation.line(),
        })?;
        invocation.run(&workspace.root)?;
    }
    Ok(())
}

struct ExampleRun {
    out: String,
    invocation: Invocation,
}

fn example_runs(workspace: &Workspace) -> Vec<ExampleRun> {
    let mut runs = Vec::new();
    for package in &workspace.packages {
        for example in &package.examples {
            let out = workspace.target.join("example-output").join(&package.name).join(&example.name);
            let out = out.to_string_lossy().into_owned();
            let invocation = if example.required_features.is_empty() {
                Invocation::program(&workspace.target.join("release/examples").join(&example.name))
            } else {
                Invocation::new("cargo run --release")
                    .args(["-p", &package.name, "--example", &example.name])
                    .args(["--features", &example.required_features.join(",")])
            };
            let invocation = invocation.env("DERMIS_OUT", &out);
            runs.push(ExampleRun { out, invocation });
        }
    }
    runs
}

fn docs(workspace: &Workspace) -> Result<(), Failure> {
    Invocation::new("cargo doc --workspace --no-deps --release")
        .env("RUSTDOCFLAGS", "-D warnings")
        .env("CARGO_TARGET_DIR", lint_target(workspace))
        .run(&workspace.root)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::{Example, Package};

    fn workspace(packages: &[(&str, &[&str])]) -> Workspace {
        let package = |(name, examples): &(&str, &[&str])| Package {
            name: name.to_string(),
            folder: String::new(),
            dependencies: vec![],
            examples: examples.iter().map(|e| Example { name: e.to_string(), required_features: vec![] }).collect(),
        };
        Workspace { target: "/t".into(), packages: packages.iter().map(package).collect(), ..Workspace::default() }
    }

    #[test]
    fn every_example_is_run_with_a_folder_of_its_own() {
        let mut workspace = workspace(&[("dermis-skin", &["press", "slide"]), ("dermis", &["press"])]);
        workspace.packages[1].examples[0].required_features = vec!["scenes".into(), "draw".into()];
        let lines: Vec<_> = example_runs(&workspace).iter().map(|run| run.invocation.line()).collect();
        assert_eq!(
            lines,
            [
                "DERMIS_OUT=/t/example-output/dermis-skin/press /t/release/examples/press",
                "DERMIS_OUT=/t/example-output/dermis-skin/slide /t/release/examples/slide",
                "DERMIS_OUT=/t/example-output/dermis/press \
                 cargo run --release -p dermis --example press --features scenes,draw",
            ]
        );
    }

    #[test]
    fn steps_have_names_of_their_own() {
        let names: Vec<_> = STEPS.iter().chain(PACKAGE_STEPS).chain(&LINT[1..]).map(|step| step.name).collect();
        for (i, name) in names.iter().enumerate() {
            assert!(!names[..i].contains(name), "{name}");
        }
    }
}
