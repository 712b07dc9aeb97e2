//! The Python package: its wheel, made by maturin, and its tests in a virtual environment.
//!
//! maturin compiles with the profile, features and target folder of the tests before, so that only PyO3 and the binding are left to compile.
//! The [`environment`] receives the new wheel each time.

use std::fs;
use std::path::{Path, PathBuf};

use crate::environment;
use crate::playground;
use crate::step::{Failure, Invocation, Step};
use crate::test_code::linting;
use crate::workspace::Workspace;

/// `cargo xtask wheel`.
pub const WHEEL: Step =
    Step { name: "wheel", run: |workspace| wheel(workspace, &workspace.root.join("dist")).map(drop) };

/// Part of `cargo xtask test`, whose step before has left the package in the environment.
pub const TESTS: Step = Step { name: "python", run: tests };

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
    let python = environment::wheel_python(workspace)?;
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
    let build = linting(build(&python, out));
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
    for invocation in checks(&environment::test_python(workspace)?, &workspace.target.join("python/mypy")) {
        invocation.run(&workspace.root)?;
    }
    Ok(())
}

/// `cargo xtask install`: the wheel in the environment of the tests, with what they need.
pub const INSTALL: Step = Step { name: "wheel", run: install };

fn install(workspace: &Workspace) -> Result<(), Failure> {
    let wheel = wheel(workspace, &workspace.target.join("python/dist"))?;
    Invocation::program(&environment::test_python(workspace)?)
        .args("-m pip install --quiet --no-deps --force-reinstall".split(' '))
        .args([text(&wheel)])
        .run(&workspace.root)
}

/// The tests of the package and of the engine plugin, and the types of the examples and of the stub, which mypy does not check where it is installed.
fn checks(python: &Path, mypy_cache: &Path) -> Vec<Invocation> {
    let python = || Invocation::program(python).env("PYTHONDONTWRITEBYTECODE", "1");
    // Two processes: most tests keep one core busy.
    let pytest = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--numprocesses=2", "--durations=10"];
    let mypy = |checked: &str| {
        python()
            .args("-m mypy --strict --config-file bindings/python/pyproject.toml --cache-dir".split(' '))
            .args([text(mypy_cache).as_str(), checked])
    };
    vec![
        python().args(pytest).args(["bindings/python/tests"]).env("MPLBACKEND", "agg"),
        python().args(pytest).args(["bindings/mujoco/tests"]),
        mypy("bindings/python/examples"),
        mypy(&format!("{PACKAGE}/_native.pyi")),
    ]
}

fn text(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::MATURIN;

    #[test]
    fn users_and_tests_get_the_wheel_of_one_tool() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let project = fs::read_to_string(root.join("bindings/python/pyproject.toml")).unwrap();
        assert!(project.contains(&format!("requires = [{MATURIN:?}]")), "{MATURIN}");
        assert!(!root.join("bindings/python/wheel.py").exists());
        let line = build(Path::new("/v/python"), Path::new("/r/dist")).line();
        assert!(line.starts_with("/v/python -m maturin build --release") && line.ends_with("--out /r/dist"), "{line}");
    }
}
