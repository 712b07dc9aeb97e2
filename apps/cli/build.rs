//! Passes the commit to the program, for `dermis --version`.

use std::process::Command;

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned()).filter(|text| !text.is_empty())
}

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // The log of HEAD grows with every commit and every change of branch.
    if let Some(folder) = git(&["rev-parse", "--git-dir"]) {
        println!("cargo::rerun-if-changed={folder}/logs/HEAD");
    }
    let commit = git(&["rev-parse", "--short=10", "HEAD"]).map_or_else(String::new, |commit| format!(" ({commit})"));
    println!("cargo::rustc-env=DERMIS_COMMIT={commit}");
}
