//! Builds the playground as WebAssembly and tests it in a browser.
//!
//! The WebAssembly is built with the release profile, so that build scripts and macros are compiled once; debug sections are removed here. The tests drive Debian's Chromium from the virtual environment of the Python package.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::environment;
use crate::step::{Failure, Invocation, Step};
use crate::workspace::Workspace;

/// `cargo xtask playground`.
pub const BUILD: Step = Step { name: "page", run: |workspace| build(workspace, &site(workspace)) };

/// Part of `cargo xtask test`: that geometry, skin and sensor build for a page, and that the page works.
pub const TESTS: Step = Step { name: "playground", run: tests };

const WASM_TARGET: &str = "wasm32-unknown-unknown";
/// The largest crate in two units: its last minute of compilation keeps both cores busy, and presses take as long as with one.
const UNITS: &str = "profile.release.package.dermis-sensor.codegen-units=2";
/// Folder of the page's files.
const WEB: &str = "apps/playground/web";

/// Builds the WebAssembly and copies it beside the files of the page.
pub fn build(workspace: &Workspace, out: &Path) -> Result<(), Failure> {
    if !target_is_installed() {
        let add = Invocation::new("rustup target add").args([WASM_TARGET]);
        add.run(&workspace.root).map_err(|failure| Failure {
            reason: format!("the Rust target {WASM_TARGET} is missing and could not be added: {}", failure.reason),
            ..failure
        })?;
    }
    let cargo = Invocation::new("cargo build --release --package dermis-playground --lib").args([
        "--target",
        WASM_TARGET,
        "--config",
        UNITS,
    ]);
    cargo.run(&workspace.root)?;
    let failure = |reason: String| Failure { reason, repeat: "cargo xtask playground".into() };
    let built = workspace.target.join(WASM_TARGET).join("release/dermis_playground.wasm");
    let place = || -> std::io::Result<(u64, u64)> {
        fs::create_dir_all(out)?;
        let (module, web) = (out.join("dermis.wasm.gz"), workspace.root.join(WEB));
        for entry in fs::read_dir(out)? {
            let entry = entry?;
            if entry.path() != module && !web.join(entry.file_name()).exists() {
                fs::remove_file(entry.path())?;
            }
        }
        // Files that are current are left alone, because the program contains them and would be compiled again.
        let mut page = 0;
        for entry in fs::read_dir(web)? {
            let entry = entry?;
            let (text, copy) = (fs::read(entry.path())?, out.join(entry.file_name()));
            page += text.len() as u64;
            if fs::read(&copy).ok().as_ref() != Some(&text) {
                fs::write(copy, text)?;
            }
        }
        let changed = |path: &Path| fs::metadata(path).and_then(|file| file.modified()).ok();
        if changed(&module).is_none_or(|packed| changed(&built).is_none_or(|built| built > packed)) {
            let skins = fs::read(&built)?;
            fs::write(&module, packed(&without_custom_sections(&skins).ok_or(std::io::ErrorKind::InvalidData)?)?)?;
        }
        Ok((fs::metadata(&module)?.len(), page))
    };
    let (skins, page) = place().map_err(|error| failure(format!("{} could not be filled: {error}", out.display())))?;
    println!("{}: skins {} kB, page {} kB", out.display(), skins / 1000, page / 1000);
    Ok(())
}

/// Asks rustc for the folder of the target's libraries, which also works without rustup.
fn target_is_installed() -> bool {
    let output = Command::new("rustc").args(["--print", "target-libdir", "--target", WASM_TARGET]).output();
    output.is_ok_and(|output| Path::new(String::from_utf8_lossy(&output.stdout).trim()).is_dir())
}

/// Compresses the module to a quarter of its size; the page decompresses it.
fn packed(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    packer.write_all(bytes)?;
    packer.finish()
}

/// A module without its custom sections (function names, producers), which only debuggers read; `None` if the bytes are not a module.
fn without_custom_sections(module: &[u8]) -> Option<Vec<u8>> {
    let (head, mut rest) = module.split_at_checked(8)?;
    if !head.starts_with(b"\0asm") {
        return None;
    }
    let mut kept = head.to_vec();
    while let [kind, body @ ..] = rest {
        let (length, width) = leb128(body)?;
        let end = 1 + width + length;
        let section = rest.get(..end)?;
        if *kind != 0 {
            kept.extend_from_slice(section);
        }
        rest = &rest[end..];
    }
    Some(kept)
}

/// Decodes an unsigned LEB128 number; returns it and its length (bytes).
fn leb128(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut value = 0;
    for (i, &byte) in bytes.iter().enumerate().take(5) {
        value |= usize::from(byte & 0x7f) << (7 * i);
        if byte & 0x80 == 0 {
            return Some((value, i + 1));
        }
    }
    None
}

/// Folder of the built page.
fn site(workspace: &Workspace) -> PathBuf {
    workspace.root.join("dist/playground")
}

fn tests(workspace: &Workspace) -> Result<(), Failure> {
    let site = site(workspace);
    // The program that the page is compared with; the tests before have built it.
    Invocation::new("cargo build --workspace --release --bins").run(&workspace.root)?;
    let (browser, python) = (environment::browser(workspace)?, environment::test_python(workspace)?);
    checks(&python, &site, &workspace.target.join("release/dermis"), &browser).run(&workspace.root)
}

fn checks(python: &Path, site: &Path, program: &Path, browser: &Path) -> Invocation {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    Invocation::program(python)
        .args("-m pytest -q -p no:cacheprovider --numprocesses=2 --durations=10 apps/playground/tests".split(' '))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("DERMIS", text(program))
        .env("DERMIS_SITE", text(site))
        .env("CHROMIUM", text(browser))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn custom_sections_are_cut_out_and_nothing_else() {
        let head = b"\0asm\x01\0\0\0";
        let kept = [1, 2, 7, 7];
        let module = [&head[..], &[0, 3, 1, b'n', 9], &kept, &[0, 0x80, 0x01], &[5; 128], &kept].concat();
        assert_eq!(without_custom_sections(&module).unwrap(), [&head[..], &kept, &kept].concat());
        assert_eq!(without_custom_sections(b"<!doctype html>"), None);
        assert_eq!(without_custom_sections(&[&head[..], &[1, 9, 0]].concat()), None);
    }

    #[test]
    fn the_tests_know_the_site_the_program_and_the_browser() {
        let tests = checks(Path::new("/v/python"), Path::new("/s"), Path::new("/d"), Path::new("/c"));
        assert!(tests.line().contains("DERMIS=/d DERMIS_SITE=/s CHROMIUM=/c /v/python -m pytest"), "{}", tests.line());
    }
}
