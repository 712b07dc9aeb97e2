//! Builds the guide: `docs/site/build.py` runs every block of its pages and of the READMEs, and writes them as HTML.

use std::fs;
use std::path::Path;

use crate::environment;
use crate::playground;
use crate::python;
use crate::reference;
use crate::step::{Failure, Invocation, Step};
use crate::workspace::Workspace;

/// `cargo xtask guide`, a part of `cargo xtask test` after the wheel is installed.
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
    pages(&environment::test_python(workspace)?, out).run(&workspace.root)
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
    Invocation::program(&environment::test_python(workspace)?)
        .args("docs/site/api.py --out dist/guide/python".split(' '))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .run(&workspace.root)
}

fn rust(workspace: &Workspace) -> Result<(), Failure> {
    let cargo =
        Invocation::new("cargo doc --no-deps --release -p dermis -p dermis-geometry -p dermis-skin -p dermis-sensor")
            .args("-p dermis-world -p dermis-draw -p dermis-record -p dermis-gpu".split(' '));
    cargo.run(&workspace.root)?;
    let out = workspace.root.join(OUT).join("rust");
    let filled =
        copy(&workspace.target.join("doc"), &out).and_then(|()| fs::write(out.join("index.html"), FIRST_CRATE));
    filled.map_err(|error| Failure {
        reason: format!("{} could not be filled: {error}", out.display()),
        repeat: cargo.line(),
    })
}

/// Pages of rustdoc link to an index of all crates, which it does not write.
const FIRST_CRATE: &str =
    "<!doctype html><meta http-equiv=\"refresh\" content=\"0; url=dermis/index.html\"><title>dermis</title>\n";

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
        let pages = fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path());
        for path in pages.chain([root.join("README.md")]) {
            let text = fs::read_to_string(&path).unwrap_or_default();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            assert_eq!(text.contains("```rust"), listed.contains(&format!("/{name}\"")), "{name}");
        }
    }

    /// The lines of a file with those of its documentation and attributes before each public type.
    fn public_types(text: &str) -> Vec<(String, String)> {
        let mut found = Vec::new();
        let mut head = String::new();
        let mut is_raw = false; // inside of an attribute with a text of several lines
        for line in text.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            is_raw = (is_raw || line.starts_with("#[cfg_attr(")) && line != ")]";
            match words[..] {
                ["pub", "struct" | "enum" | "trait", name, ..] if !is_raw => {
                    let name = name.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
                    found.push((name.to_owned(), std::mem::take(&mut head)));
                }
                _ if is_raw || line.starts_with("///") || line.starts_with('#') || line == ")]" => head += line,
                _ => head.clear(),
            }
        }
        found
    }

    fn sources(folder: &Path) -> Vec<std::path::PathBuf> {
        let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        paths.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
    }

    #[test]
    fn every_public_type_of_the_facade_has_an_example() {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
        let read = |path: &Path| fs::read_to_string(path).unwrap();
        let facade = sources(&crates.join("dermis/src"));
        // Types of private modules are public where a module exports them by name.
        let exported: String = facade.iter().map(|path| read(path)).collect::<Vec<_>>().join("\n");
        let exported: Vec<&str> =
            exported.split("pub use ").skip(1).filter_map(|use_| use_.split(';').next()).collect();
        let is_exported = |name: &str| {
            exported.iter().any(|names| names.split(|c: char| !c.is_alphanumeric()).any(|exported| exported == name))
        };
        let others = ["geometry", "skin", "sensor", "world"].map(|name| sources(&crates.join(name).join("src")));
        let prelude = read(&crates.join("dermis/src/lib.rs"));
        let prelude = prelude.split("pub mod prelude").nth(1).unwrap();
        let in_prelude = |name: &str| prelude.split(|c: char| !c.is_alphanumeric()).any(|word| word == name);
        let (mut count, mut without) = (0, Vec::new());
        for (paths, is_public) in
            [(&facade, &is_exported as &dyn Fn(&str) -> bool), (&others.concat(), &in_prelude as &dyn Fn(&str) -> bool)]
        {
            for path in paths {
                for (name, head) in public_types(&read(path)) {
                    let at_top = path.parent().unwrap().ends_with("dermis/src");
                    // A type that a macro names has no name here.
                    if !name.is_empty() && (is_public(&name) || at_top) {
                        count += 1;
                        if !head.contains("```") {
                            without.push(format!("{name} in {}", path.display()));
                        }
                    }
                }
            }
        }
        assert!(without.is_empty() && count > 80, "{count} types, without an example: {without:#?}");
    }
}
