//! `cargo deny`: licences, duplicates, sources and advisories of third-party crates, by the rules of `deny.toml`.
//!
//! cargo-deny is compiled into the target folder, unoptimised: two and a half minutes of CPU. What it says about licences, duplicates and
//! sources depends on the crates and the rules alone, so what it has accepted is kept in `third-party.txt`. As long as that holds, it runs only
//! where it can fetch the database of advisories.

use std::fs;
use std::net::{TcpStream, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::time::Duration;

use flate2::Crc;
use serde_json::Value;

use crate::step::{Failure, Invocation, Step};
use crate::workspace::Workspace;

/// Part of `cargo xtask test`.
pub const CHECK: Step = Step { name: "deny", run: check };

/// The version of cargo-deny.
const VERSION: &str = "0.20.2";
/// The crates that it has accepted.
const ACCEPTED: &str = "third-party.txt";
/// Where the database of advisories is.
const DATABASE: (&str, u16) = ("github.com", 443);

fn check(workspace: &Workspace) -> Result<(), Failure> {
    let failure = |reason: String| Failure { reason, repeat: "cargo xtask lint".into() };
    let crates = Invocation::new("cargo metadata --format-version 1 --all-features").printed(&workspace.root)?;
    let rules = fs::read(workspace.root.join("deny.toml"));
    let rules = rules.map_err(|error| failure(format!("deny.toml cannot be read: {error}")))?;
    let accepted = workspace.root.join(ACCEPTED);
    let list = list(&crates, &rules).map_err(failure)?;
    let is_known = fs::read_to_string(&accepted).is_ok_and(|text| text == list);
    if is_known && !is_reachable(DATABASE) {
        println!("{ACCEPTED}: cargo-deny {VERSION} has accepted these crates under these rules");
        println!("SKIPPED advisories: their database cannot be reached");
        return Ok(());
    }
    run(workspace)?;
    if !is_known {
        fs::write(&accepted, list).map_err(|error| failure(format!("{ACCEPTED} cannot be written: {error}")))?;
        println!("{ACCEPTED} is new: commit it");
    }
    Ok(())
}

/// Installs cargo-deny if it is missing, and runs it.
fn run(workspace: &Workspace) -> Result<(), Failure> {
    let tools = workspace.target.join("tools");
    let program = tools.join("bin").join(if cfg!(windows) { "cargo-deny.exe" } else { "cargo-deny" });
    if !is_installed(&program) {
        install(&tools).run(&workspace.root)?;
    }
    let deny = |line: &'static str| Invocation::program(&program).args(line.split(' '));
    deny("check licenses bans sources").run(&workspace.root)?;
    match deny("fetch db").run(&workspace.root) {
        Ok(()) => deny("check --disable-fetch advisories").run(&workspace.root),
        Err(failure) => {
            println!("SKIPPED advisories: their database cannot be fetched ({})", failure.reason);
            Ok(())
        }
    }
}

/// Name, version, licence and kind of source of every third-party crate, and which rules they were checked by.
fn list(metadata: &str, rules: &[u8]) -> Result<String, String> {
    let metadata: Value =
        serde_json::from_str(metadata).map_err(|error| format!("`cargo metadata` printed no JSON: {error}"))?;
    let packages = metadata["packages"].as_array().ok_or("`cargo metadata` printed no packages")?;
    let text = |value: &Value| value.as_str().unwrap_or("none").to_owned();
    let mut lines: Vec<String> = Vec::new();
    for package in packages {
        // Crates of the workspace have no source.
        if let Some(source) = package["source"].as_str() {
            let kind = source.split('+').next().unwrap_or_default();
            let [name, version, license] = ["name", "version", "license"].map(|key| text(&package[key]));
            lines.push(format!("{name} {version} ({kind}): {license}\n"));
        }
    }
    lines.sort();
    let mut crc = Crc::new();
    crc.update(rules);
    let head = format!(
        "Third-party crates of all systems and their licences, as cargo-deny {VERSION} has accepted them by deny.toml (CRC-32 {:08x}).\n\n",
        crc.sum()
    );
    Ok(head + &lines.concat())
}

fn is_reachable(host: (&str, u16)) -> bool {
    let addresses = host.to_socket_addrs().into_iter().flatten();
    addresses.take(2).any(|address| TcpStream::connect_timeout(&address, Duration::from_secs(3)).is_ok())
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

    #[test]
    fn another_crate_version_licence_source_or_rule_is_another_list() {
        let metadata = |name: &str, version: &str, license: &str, source: &str| {
            let others = r#"{"name":"dermis","version":"0.1.0","license":"MIT","source":null}"#;
            let one = format!(r#""name":"{name}","version":"{version}","license":"{license}","source":"{source}+x""#);
            format!(r#"{{"packages":[{others},{{{one}}}]}}"#)
        };
        let all = |text: &str, rules: &[u8]| list(text, rules).unwrap();
        let known = all(&metadata("a", "1.0.0", "MIT", "registry"), b"rules");
        assert!(known.ends_with("\n\na 1.0.0 (registry): MIT\n"), "{known}");
        for other in [
            ("b", "1.0.0", "MIT", "registry"),
            ("a", "1.0.1", "MIT", "registry"),
            ("a", "1.0.0", "ISC", "registry"),
            ("a", "1.0.0", "MIT", "git"),
        ] {
            assert_ne!(all(&metadata(other.0, other.1, other.2, other.3), b"rules"), known, "{other:?}");
        }
        assert_ne!(all(&metadata("a", "1.0.0", "MIT", "registry"), b"other rules"), known);
        assert!(list("{}", b"").is_err() && list("no", b"").is_err());
    }

    #[test]
    fn a_closed_port_is_not_reachable() {
        assert!(!is_reachable(("127.0.0.1", 1)));
    }
}
