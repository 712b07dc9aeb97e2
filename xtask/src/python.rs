//! The Python package: its wheel, made by maturin, and its tests in a virtual environment.
//!
//! maturin compiles with the profile, features and target folder of the tests before, so that only PyO3 and the binding are left to compile.
//! The environment is created once under the target folder and receives the new wheel each time.

use std::fs;
use std::path::{Path, PathBuf};

use crate::playground;
use crate::step::{Failure, Invocation, Step};
use crate::workspace::Workspace;

/// `cargo xtask wheel`.
pub const WHEEL: Step =
    Step { name: "wheel", run: |workspace| wheel(workspace, &workspace.root.join("dist")).map(drop) };

/// Part of `cargo xtask test`.
pub const TESTS: Step = Step { name: "python", run: tests };

/// The package that makes the wheel; the same as in `pyproject.toml`, which `pip install bindings/python` follows.
const MATURIN: &str = "maturin>=1.16,<2";
/// Folder of the Python package.
const PACKAGE: &str = "bindings/python/python/dermis";
/// Name of the engine plugin's library.
const PLUGIN: &str = match () {
    () if cfg!(windows) => "dermis_mujoco.dll",
    () if cfg!(target_os = "macos") => "libdermis_mujoco.dylib",
    () => "libdermis_mujoco.so",
};

/// Builds the engine plugin into the package, the page for the command line in it, and the wheel; returns the path of the wheel.
fn wheel(workspace: &Workspace, out: &Path) -> Result<PathBuf, Failure> {
    let root = &workspace.root;
    let (make, python) = environment(workspace);
    if let Some(make) = make {
        make.run(root)?;
    }
    Invocation::program(&python).args(["-m", "pip", "install", "--quiet", MATURIN]).run(root)?;
    let site = root.join("dist/playground");
    playground::build(workspace, &site)?;
    // The test that loads the plugin has Cargo build it with the features of the whole workspace, as all tests; for the plugin alone Cargo would
    // choose others and compile everything again.
    Invocation::new("cargo build --release --workspace --test plugin_library").run(root)?;
    let failure = |error: std::io::Error| Failure {
        reason: format!("{PACKAGE} could not be filled: {error}"),
        repeat: "cargo xtask wheel".into(),
    };
    let package = root.join(PACKAGE);
    fs::create_dir_all(package.join("_plugin")).map_err(failure)?;
    place_library(&workspace.target.join("release/deps").join(PLUGIN), &package.join("_plugin").join(PLUGIN))
        .map_err(failure)?;
    let wheels =
        || fs::read_dir(out).into_iter().flatten().flatten().map(|entry| entry.path()).filter(|path| is_wheel(path));
    for old in wheels() {
        fs::remove_file(old).map_err(failure)?;
    }
    let build = build(&python, out);
    build.run(root)?;
    wheels()
        .next()
        .ok_or_else(|| Failure { reason: format!("no wheel was left in {}", text(out)), repeat: build.line() })
}

fn build(python: &Path, out: &Path) -> Invocation {
    Invocation::program(python)
        .args("-m maturin build --release --manifest-path bindings/python/Cargo.toml --out".split(' '))
        .args([text(out)])
}

fn is_wheel(path: &Path) -> bool {
    path.extension().is_some_and(|end| end == "whl")
}

/// Copies a library without its symbols, or as it is where there is no `strip`.
fn place_library(from: &Path, to: &Path) -> std::io::Result<()> {
    let stripped = std::process::Command::new("strip").args(["--strip-unneeded", "-o"]).args([to, from]).status();
    match stripped {
        Ok(status) if status.success() => Ok(()),
        _ => fs::copy(from, to).map(drop),
    }
}

fn tests(workspace: &Workspace) -> Result<(), Failure> {
    let place = workspace.target.join("python");
    let wheel = wheel(workspace, &place.join("dist"))?;
    for invocation in checks(&place, &wheel) {
        invocation.run(&workspace.root)?;
    }
    Ok(())
}

/// The wheel in the environment of the tests, with what they need.
pub const INSTALL: Step = Step { name: "wheel", run: install };

fn install(workspace: &Workspace) -> Result<(), Failure> {
    let place = workspace.target.join("python");
    let wheel = wheel(workspace, &place.join("dist"))?;
    for invocation in checks(&place, &wheel).iter().take(2) {
        invocation.run(&workspace.root)?;
    }
    Ok(())
}

/// Creates the virtual environment under the target folder if it is missing; returns its Python.
pub fn environment(workspace: &Workspace) -> (Option<Invocation>, PathBuf) {
    let venv = workspace.target.join("python/venv");
    let make = (!venv.exists()).then(|| Invocation::new("python3 -m venv").args([text(&venv)]));
    (make, python_in(&venv))
}

fn python_in(venv: &Path) -> PathBuf {
    venv.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" })
}

/// The wheel in the environment, the tests of the package and of the engine plugin, and the types of the examples.
fn checks(place: &Path, wheel: &Path) -> Vec<Invocation> {
    let python = || Invocation::program(&python_in(&place.join("venv"))).env("PYTHONDONTWRITEBYTECODE", "1");
    // Two processes: most tests keep one core busy.
    let pytest = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--numprocesses=2", "--durations=10"];
    vec![
        python().args("-m pip install --quiet --requirement bindings/python/requirements-test.txt".split(' ')),
        python().args("-m pip install --quiet --no-deps --force-reinstall".split(' ')).args([text(wheel)]),
        python().args(pytest).args(["bindings/python/tests"]).env("MPLBACKEND", "agg"),
        python().args(pytest).args(["bindings/mujoco/tests"]),
        python()
            .args("-m mypy --strict --config-file bindings/python/pyproject.toml --cache-dir".split(' '))
            .args([text(&place.join("mypy"))])
            .args(["bindings/python/examples"]),
    ]
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_and_tests_get_the_wheel_of_one_tool() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let project = fs::read_to_string(root.join("bindings/python/pyproject.toml")).unwrap();
        assert!(project.contains(&format!("requires = [{MATURIN:?}]")), "{MATURIN}");
        assert!(!root.join("bindings/python/wheel.py").exists());
        let line = build(Path::new("/v/python"), Path::new("/r/dist")).line();
        assert!(line.starts_with("/v/python -m maturin build --release") && line.ends_with("--out /r/dist"), "{line}");
    }

    #[test]
    fn the_environment_gets_the_wheel_before_the_tests() {
        let lines: Vec<String> = checks(Path::new("/t"), Path::new("/w.whl")).iter().map(Invocation::line).collect();
        let at = |what: &str| lines.iter().position(|line| line.contains(what)).unwrap();
        assert!(at("requirements-test.txt") < at("/w.whl") && at("/w.whl") < at("bindings/python/tests"), "{lines:?}");
        assert!(at("mypy --strict") == lines.len() - 1);
    }
}
