//! The Python package: its wheel, and its tests in a virtual environment.
//!
//! The wheel is packed from the output of `cargo build --workspace`, so that nothing is compiled twice. The environment is created once under the
//! target folder and receives the new wheel each time.

use std::path::{Path, PathBuf};

use crate::step::{Failure, Invocation, Step};
use crate::workspace::Workspace;

/// `cargo xtask wheel`.
pub const WHEEL: Step =
    Step { name: "wheel", run: |workspace| wheel(workspace, &workspace.root.join("dist")).map(drop) };

/// Part of `cargo xtask test`.
pub const TESTS: Step = Step { name: "python", run: tests };

/// Builds the libraries and packs them; returns the path of the wheel.
fn wheel(workspace: &Workspace, out: &Path) -> Result<PathBuf, Failure> {
    Invocation::new("cargo build --workspace --release --lib").run(&workspace.root)?;
    let pack = pack(workspace, out);
    pack.run(&workspace.root)?;
    let is_wheel = |path: &PathBuf| path.extension().is_some_and(|end| end == "whl");
    let found = std::fs::read_dir(out).into_iter().flatten().flatten().map(|entry| entry.path()).find(is_wheel);
    found.ok_or_else(|| Failure { reason: format!("no wheel was left in {}", text(out)), repeat: pack.line() })
}

fn pack(workspace: &Workspace, out: &Path) -> Invocation {
    let library = |name: &str| {
        let (start, end) = match () {
            () if cfg!(windows) => ("", "dll"),
            () if cfg!(target_os = "macos") => ("lib", "dylib"),
            () => ("lib", "so"),
        };
        text(&workspace.target.join("release").join(format!("{start}{name}.{end}")))
    };
    Invocation::new("python3 bindings/python/wheel.py --native").args([
        library("dermis_python"),
        "--plugin".into(),
        library("dermis_mujoco"),
        "--out".into(),
        text(out),
    ])
}

fn tests(workspace: &Workspace) -> Result<(), Failure> {
    let place = workspace.target.join("python");
    let wheel = wheel(workspace, &place.join("dist"))?;
    for invocation in checks(&place, &wheel) {
        invocation.run(&workspace.root)?;
    }
    Ok(())
}

/// Creates the virtual environment under the target folder if it is missing; returns its Python.
pub fn environment(workspace: &Workspace) -> (Option<Invocation>, PathBuf) {
    environment_in(&workspace.target.join("python"))
}

fn environment_in(place: &Path) -> (Option<Invocation>, PathBuf) {
    let venv = place.join("venv");
    let make = (!venv.exists()).then(|| Invocation::new("python3 -m venv").args([text(&venv)]));
    (make, venv.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" }))
}

/// The environment, the wheel in it, the tests of the package and of the engine plugin, and the types of the examples.
fn checks(place: &Path, wheel: &Path) -> Vec<Invocation> {
    let (make, python) = environment_in(place);
    let python = || Invocation::program(&python).env("PYTHONDONTWRITEBYTECODE", "1");
    let mut steps: Vec<Invocation> = make.into_iter().collect();
    let pytest = ["-m", "pytest", "-q", "-p", "no:cacheprovider"];
    steps.extend([
        python().args("-m pip install --quiet --requirement bindings/python/requirements-test.txt".split(' ')),
        python().args("-m pip install --quiet --no-deps --force-reinstall".split(' ')).args([text(wheel)]),
        python().args(pytest).args(["bindings/python/tests"]).env("MPLBACKEND", "agg"),
        python().args(pytest).args(["bindings/mujoco/tests"]),
        python()
            .args("-m mypy --strict --config-file bindings/python/pyproject.toml --cache-dir".split(' '))
            .args([text(&place.join("mypy"))])
            .args(["bindings/python/examples"]),
    ]);
    steps
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wheel_is_packed_from_what_cargo_left() {
        let workspace = Workspace { root: "/r".into(), target: "/t".into(), ..Workspace::default() };
        let line = pack(&workspace, Path::new("/r/dist")).line();
        assert!(line.starts_with("python3 bindings/python/wheel.py --native /t/release/"), "{line}");
        assert!(line.ends_with("--out /r/dist") && line.contains("dermis_mujoco"), "{line}");
    }

    #[test]
    fn the_environment_is_made_first_and_gets_the_wheel_before_the_tests() {
        let lines: Vec<String> =
            checks(Path::new("/no/such/place"), Path::new("/w.whl")).iter().map(Invocation::line).collect();
        assert_eq!(lines[0], "python3 -m venv /no/such/place/venv");
        let at = |what: &str| lines.iter().position(|line| line.contains(what)).unwrap();
        assert!(at("requirements-test.txt") < at("/w.whl") && at("/w.whl") < at("bindings/python/tests"), "{lines:?}");
        assert!(at("mypy --strict") == lines.len() - 1);
    }
}
