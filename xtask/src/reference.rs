//! Writes the JSON Schemas of the files that users write, and the reference pages made from them.

use std::fs;
use std::process::Command;

use crate::step::{Failure, Invocation, Step};
use crate::workspace::Workspace;

/// The task `docs`. A test of the command line fails when what is in the repository is stale.
pub const WRITE: Step = Step { name: "reference", run: write };

const FILES: [&str; 6] = ["sensor", "scene", "dataset", "experiment", "claims", "real"];

fn write(workspace: &Workspace) -> Result<(), Failure> {
    let folder = workspace.root.join("docs/reference");
    // With the features of the whole workspace, so that the wheel uses the same libraries.
    Invocation::new("cargo build --release --workspace --bin dermis").run(&workspace.root)?;
    let dermis = workspace.target.join("release").join(if cfg!(windows) { "dermis.exe" } else { "dermis" });
    for file in FILES {
        for (flags, ending) in [(&[][..], "schema.json"), (&["--markdown"][..], "md")] {
            let arguments = [&["schema", file], flags].concat();
            let failed = |reason: String| Failure { reason, repeat: format!("dermis {}", arguments.join(" ")) };
            let output = Command::new(&dermis).args(&arguments).current_dir(&workspace.root).output();
            let output = output.map_err(|error| failed(error.to_string()))?;
            if !output.status.success() {
                return Err(failed(String::from_utf8_lossy(&output.stderr).into_owned()));
            }
            let path = folder.join(format!("{file}.{ending}"));
            let written = fs::create_dir_all(&folder).and_then(|()| fs::write(&path, &output.stdout));
            written.map_err(|error| failed(format!("{}: {error}", path.display())))?;
            println!("{}", path.display());
        }
    }
    Ok(())
}
