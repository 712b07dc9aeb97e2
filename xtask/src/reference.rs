//! Writes the JSON Schemas of the files that users write, and the reference pages made from them.

use std::fs;
use std::process::Command;

use crate::step::{Failure, Step};
use crate::workspace::Workspace;

/// The task `docs`. A test of the command line fails when what is in the repository is stale.
pub const WRITE: Step = Step { name: "reference", run: write };

const FILES: [&str; 6] = ["sensor", "scene", "dataset", "experiment", "claims", "real"];

fn write(workspace: &Workspace) -> Result<(), Failure> {
    let folder = workspace.root.join("docs/reference");
    for file in FILES {
        for (flags, ending) in [(&[][..], "schema.json"), (&["--markdown"][..], "md")] {
            let arguments = [&["run", "--release", "--quiet", "--", "schema", file], flags].concat();
            let failed = |reason: String| Failure { reason, repeat: format!("cargo {}", arguments.join(" ")) };
            let output = Command::new("cargo").args(&arguments).current_dir(&workspace.root).output();
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
