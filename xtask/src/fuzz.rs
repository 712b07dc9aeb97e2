//! `cargo xtask fuzz`: damaged inputs for every reader (`validation/fuzz`).

use crate::step::{Failure, Invocation};
use crate::workspace::Workspace;

/// Builds the program as the tests build it and passes the arguments on.
pub fn run(arguments: &[String], workspace: &Workspace) -> Result<(), String> {
    let told = |failure: Failure| format!("fuzzing failed ({}); repeat it with: {}", failure.reason, failure.repeat);
    // With the features of the whole workspace: otherwise Cargo compiles the dependencies again.
    Invocation::new("cargo build --release --workspace --bin dermis-fuzz").run(&workspace.root).map_err(told)?;
    let program = workspace.target.join("release/dermis-fuzz");
    Invocation::program(&program).args(arguments.iter().cloned()).run(&workspace.root).map_err(told)
}
