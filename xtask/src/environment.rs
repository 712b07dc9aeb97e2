//! What the tests of the package, the guide and the page need besides Rust: a virtual environment and a browser.
//!
//! `cargo xtask test` installs them while it compiles, because the core that waits for a download is not the one that compiles. The steps that
//! need them ask again, wait for a process that is installing, and find it done.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use crate::step::{Failure, Invocation, Step};
use crate::workspace::Workspace;

/// The task `environment`.
pub const INSTALL: &[Step] = &[
    Step { name: "packages", run: |workspace| test_python(workspace).map(drop) },
    Step { name: "browser", run: |workspace| browser(workspace).map(drop) },
];

/// The package that makes the wheel; the same as in `pyproject.toml`, which `pip install bindings/python` follows.
pub const MATURIN: &str = "maturin>=1.16,<2";
/// Names of Chromium's executable.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
/// Lists of the packages that tests need.
const REQUIREMENTS: [&str; 3] =
    ["bindings/python/requirements-test.txt", "docs/site/requirements.txt", "apps/playground/requirements-test.txt"];

/// The Python of the virtual environment, with what makes a wheel.
pub fn wheel_python(workspace: &Workspace) -> Result<PathBuf, Failure> {
    let _lock = lock(workspace)?;
    let python = python(workspace)?;
    once(workspace, "wheel", MATURIN, &pip(&python).args([MATURIN]))?;
    Ok(python)
}

/// The Python of the virtual environment, with all packages that tests need.
pub fn test_python(workspace: &Workspace) -> Result<PathBuf, Failure> {
    let python = wheel_python(workspace)?;
    let _lock = lock(workspace)?;
    let lists: Vec<String> =
        REQUIREMENTS.iter().map(|list| fs::read_to_string(workspace.root.join(list)).unwrap_or_default()).collect();
    let install = pip(&python).args(REQUIREMENTS.iter().flat_map(|list| ["--requirement", list]));
    once(workspace, "tests", &lists.concat(), &install)?;
    Ok(python)
}

/// The installed Chromium, or one installed from Debian.
pub fn browser(workspace: &Workspace) -> Result<PathBuf, Failure> {
    let _lock = lock(workspace)?;
    if let Some(found) = find_browser() {
        return Ok(found);
    }
    let install = "apt-get install --yes --no-install-recommends chromium";
    let missing = |why: &str| Failure {
        reason: format!("the tests of the page need Chromium, which is missing and could not be installed: {why}"),
        repeat: install.into(),
    };
    Invocation::new("apt-get update --quiet").run(&workspace.root).map_err(|failure| missing(&failure.reason))?;
    Invocation::new(install).run(&workspace.root).map_err(|failure| missing(&failure.reason))?;
    find_browser().ok_or_else(|| missing("it is not on the path"))
}

fn find_browser() -> Option<PathBuf> {
    let folders: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    BROWSERS.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name))).find(|path| path.is_file())
}

fn pip(python: &Path) -> Invocation {
    Invocation::program(python).args("-m pip install --quiet".split(' '))
}

/// Creates the environment if it is missing.
fn python(workspace: &Workspace) -> Result<PathBuf, Failure> {
    let venv = workspace.target.join("python/venv");
    if !venv.exists() {
        Invocation::new("python3 -m venv").args([venv.to_string_lossy()]).run(&workspace.root)?;
    }
    Ok(venv.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" }))
}

/// Runs an installation unless the environment has it: a file in it names what was installed last.
fn once(workspace: &Workspace, name: &str, what: &str, install: &Invocation) -> Result<(), Failure> {
    let mark = workspace.target.join("python/venv").join(format!("installed-for-{name}.txt"));
    if fs::read_to_string(&mark).is_ok_and(|installed| installed == what) {
        return Ok(());
    }
    install.run(&workspace.root)?;
    fs::write(&mark, what).map_err(|error| Failure {
        reason: format!("{} could not be written: {error}", mark.display()),
        repeat: install.line(),
    })
}

/// Waits until no other process installs; released when it is dropped.
fn lock(workspace: &Workspace) -> Result<File, Failure> {
    let folder = workspace.target.join("python");
    let path = folder.join("lock");
    let locked = fs::create_dir_all(&folder).and_then(|()| File::create(&path)).and_then(|file| {
        file.lock()?;
        Ok(file)
    });
    locked.map_err(|error| Failure {
        reason: format!("{} could not be locked: {error}", path.display()),
        repeat: "cargo xtask environment".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_packages_exist_and_are_installed_once() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for list in REQUIREMENTS {
            assert!(root.join(list).is_file(), "{list}");
        }
        let target = std::env::temp_dir().join(format!("dermis-environment-{}", std::process::id()));
        let workspace = Workspace { root, target: target.clone(), ..Workspace::default() };
        fs::create_dir_all(target.join("python/venv")).unwrap();
        let failing = Invocation::new("dermis-no-such-program");
        assert!(once(&workspace, "a", "x", &failing).is_err());
        assert!(once(&workspace, "a", "x", &Invocation::new("cargo --version")).is_ok());
        assert!(once(&workspace, "a", "x", &failing).is_ok());
        assert!(once(&workspace, "a", "y", &failing).is_err());
        fs::remove_dir_all(target).unwrap();
    }

    #[test]
    fn one_process_installs_at_a_time() {
        let target = std::env::temp_dir().join(format!("dermis-lock-{}", std::process::id()));
        let workspace = Workspace { target: target.clone(), ..Workspace::default() };
        let held = lock(&workspace).unwrap();
        let other = File::open(target.join("python/lock")).unwrap();
        assert!(other.try_lock().is_err());
        drop(held);
        assert!(other.try_lock().is_ok());
        fs::remove_dir_all(target).unwrap();
    }
}
