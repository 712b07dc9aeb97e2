//! `cargo deny`: licences, duplicates, sources and advisories of third-party crates, by the rules of `deny.toml`.
//!
//! cargo-deny is compiled once into the target folder, unoptimised: about a minute on two cores.

use std::path::{Path, PathBuf};

use crate::step::{Failure, Invocation, Step};
use crate::workspace::Workspace;

/// Part of `cargo xtask test`.
pub const CHECK: Step = Step { name: "deny", run: check };

/// The version of cargo-deny.
const VERSION: &str = "0.20.2";

fn check(workspace: &Workspace) -> Result<(), Failure> {
    let tools = workspace.target.join("tools");
    let program = tools.join("bin").join(if cfg!(windows) { "cargo-deny.exe" } else { "cargo-deny" });
    if !is_installed(&program) {
        install(&tools).run(&workspace.root)?;
    }
    let deny = |line: &'static str| Invocation::program(&program).args(line.split(' '));
    deny("check licenses bans sources").run(&workspace.root)?;
    // The database of advisories is a repository of its own, which a machine without a network cannot fetch.
    match deny("fetch db").run(&workspace.root) {
        Ok(()) => deny("check --disable-fetch advisories").run(&workspace.root),
        Err(failure) => {
            println!("SKIPPED advisories: their database cannot be fetched ({})", failure.reason);
            Ok(())
        }
    }
}

/// Whether the program of this version is there.
fn is_installed(program: &Path) -> bool {
    let output = std::process::Command::new(program).arg("--version").output();
    output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).trim().ends_with(VERSION))
}

fn install(tools: &Path) -> Invocation {
    let path = |folder: PathBuf| folder.to_string_lossy().into_owned();
    Invocation::new("cargo install cargo-deny --locked --no-default-features --quiet --force")
        .args(["--version".to_owned(), VERSION.to_owned()])
        .args(["--root".to_owned(), path(tools.to_owned()), "--target-dir".to_owned(), path(tools.join("build"))])
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0")
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
        .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tool_is_installed_into_the_target_folder_only() {
        let line = install(Path::new("/t/tools")).line();
        assert!(line.ends_with(&format!("--version {VERSION} --root /t/tools --target-dir /t/tools/build")), "{line}");
        assert!(!is_installed(Path::new("/no/such/cargo-deny")));
    }
}
