//! Builds the guide: `docs/site/build.py` runs every block of its pages and of the READMEs, and writes them as HTML.

use std::fs;
use std::path::Path;

use crate::playground;
use crate::python;
use crate::reference;
use crate::step::{Failure, Invocation, Step};
use crate::workspace::Workspace;

/// Part of `cargo xtask test`, after the wheel is installed.
pub const TESTS: Step = Step { name: "guide", run: |workspace| write(workspace, &workspace.target.join("guide")) };

/// The task `docs`: reference pages, wheel, API reference of Python and Rust, guide.
pub const DOCS: &[Step] = &[
    playground::BUILD,
    reference::WRITE,
    python::INSTALL,
    Step { name: "API of Rust", run: rust },
    Step { name: "API of Python", run: pdoc },
    Step { name: "guide", run: |workspace| write(workspace, &workspace.root.join(OUT)) },
];

/// Folder of the site.
const OUT: &str = "dist/guide";

/// Runs the blocks and writes the pages.
fn write(workspace: &Workspace, out: &Path) -> Result<(), Failure> {
    let (_, python) = python::environment(workspace);
    for invocation in [tools(&python), pages(&python, out)] {
        invocation.run(&workspace.root)?;
    }
    Ok(())
}

fn tools(python: &Path) -> Invocation {
    Invocation::program(python).args("-m pip install --quiet --requirement docs/site/requirements.txt".split(' '))
}

fn pages(python: &Path, out: &Path) -> Invocation {
    Invocation::program(python)
        .args(["docs/site/build.py", "--playground", "dist/playground", "--out"])
        .args([out.to_string_lossy()])
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("MPLBACKEND", "agg")
}

/// The Python reference, from the docstrings of the package and the types of its stub.
fn pdoc(workspace: &Workspace) -> Result<(), Failure> {
    let (_, python) = python::environment(workspace);
    tools(&python).run(&workspace.root)?;
    Invocation::program(&python)
        // PyTorch and the transports of ROS are no part of the test environment.
        .args(
            "-m pdoc dermis !dermis.torch !dermis.jax !dermis.ros --docformat google --output-directory dist/guide/python"
                .split(' '),
        )
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .run(&workspace.root)
}

fn rust(workspace: &Workspace) -> Result<(), Failure> {
    let cargo =
        Invocation::new("cargo doc --no-deps --release -p dermis -p dermis-geometry -p dermis-skin -p dermis-sensor")
            .args("-p dermis-world -p dermis-draw -p dermis-record -p dermis-gpu".split(' '));
    cargo.run(&workspace.root)?;
    let out = workspace.root.join(OUT).join("rust");
    copy(&workspace.target.join("doc"), &out).map_err(|error| Failure {
        reason: format!("{} could not be filled: {error}", out.display()),
        repeat: cargo.line(),
    })
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let (path, target) = {
            let entry = entry?;
            (entry.path(), to.join(entry.file_name()))
        };
        if path.is_dir() {
            copy(&path, &target)?;
        } else {
            fs::copy(path, target)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guide_is_written_by_the_python_of_the_tests() {
        let line = pages(Path::new("/v/python"), Path::new("/r/dist/guide")).line();
        assert!(
            line.contains("/v/python docs/site/build.py --playground dist/playground --out /r/dist/guide"),
            "{line}"
        );
    }

    #[test]
    fn rust_blocks_of_the_guide_are_doc_tests() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let listed = fs::read_to_string(root.join("crates/dermis/src/guide.rs")).unwrap();
        for entry in fs::read_dir(root.join("docs")).unwrap() {
            let path = entry.unwrap().path();
            let text = fs::read_to_string(&path).unwrap_or_default();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            assert_eq!(text.contains("```rust"), listed.contains(&format!("docs/{name}\"")), "{name}");
        }
    }
}
