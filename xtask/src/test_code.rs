//! Compiles code of tests without optimisation, and lints it and the programs: this program as Cargo's `RUSTC_WRAPPER`.
//!
//! A crate with unit tests is compiled twice, once for them. What takes long in a test is in the optimised libraries that it calls, so its own
//! code need not be: this saves four of the eleven minutes of CPU that the workspace takes to compile, and checks unit tests for overflows.
//! Cargo has no profile for the code of tests alone, and does not compile again if only the wrapper changes.
//!
//! The compiler of the tests is that of clippy, with warnings as errors, so that no crate is checked a second time for its lints: the tests of
//! a library contain its code. Programs, examples and the Python binding have no tests of their own, and are linted before they are compiled.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::step::Invocation;

/// The variable with the program that Cargo starts instead of rustc.
const WRAPPER: &str = "RUSTC_WRAPPER";
/// Clippy as a compiler.
const CLIPPY: &str = "clippy-driver";

/// The invocation of Cargo with this wrapper. A wrapper of the user, such as a cache, stays.
pub fn linting(cargo: Invocation) -> Invocation {
    match (std::env::var_os(WRAPPER), std::env::current_exe()) {
        (None, Ok(program)) => cargo.env(WRAPPER, program.to_string_lossy()),
        _ => cargo,
    }
}

/// Runs rustc if the arguments are those that Cargo gives a wrapper: the path of rustc and its arguments.
pub fn compile(args: &[String]) -> Option<ExitCode> {
    let (rustc, args) = args.split_first()?;
    if Path::new(rustc).file_stem()? != "rustc" {
        return None;
    }
    let is_ours = std::env::var_os("CARGO_PRIMARY_PACKAGE").is_some();
    if args.iter().any(|arg| arg == "--test") && is_ours {
        let mut args = with_options(args);
        args.insert(0, rustc.clone());
        return Some(run(CLIPPY, &args));
    }
    if is_ours && is_program(args) {
        let folder = std::env::temp_dir().join(format!("dermis-lint-{}", std::process::id()));
        let code = lint(rustc, args, &folder);
        // What clippy leaves there is not needed.
        let _ = std::fs::remove_dir_all(&folder);
        if code != ExitCode::SUCCESS {
            return Some(code);
        }
    }
    Some(run(rustc, args))
}

/// Checks a crate with clippy.
fn lint(rustc: &str, args: &[String], folder: &PathBuf) -> ExitCode {
    if let Err(error) = std::fs::create_dir_all(folder) {
        eprintln!("xtask: {} could not be made: {error}", folder.display());
        return ExitCode::FAILURE;
    }
    let mut all = vec![rustc.to_owned()];
    all.extend(lint_options(args, folder));
    run(CLIPPY, &all)
}

/// Runs a compiler, which says itself what is wrong.
fn run(compiler: &str, args: &[String]) -> ExitCode {
    match Command::new(compiler).args(args).status() {
        Ok(status) => ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)),
        Err(error) => {
            eprintln!("xtask: {compiler} could not start: {error}");
            ExitCode::FAILURE
        }
    }
}

/// True for a program, an example or a library for another language; build scripts are none of these.
fn is_program(args: &[String]) -> bool {
    let after = |flag: &str| args.iter().skip_while(|arg| *arg != flag).nth(1).map(String::as_str);
    let crate_types: Vec<&String> = args
        .iter()
        .zip(args.iter().skip(1))
        .filter(|(flag, _)| *flag == "--crate-type")
        .map(|(_, kind)| kind)
        .collect();
    let is_build_script = after("--crate-name").is_some_and(|name| name.starts_with("build_script"));
    !is_build_script && (crate_types == ["bin"] || crate_types == ["cdylib"])
}

fn with_options(args: &[String]) -> Vec<String> {
    let mut args = args.to_vec();
    // The last of several values counts.
    args.extend(["-C", "opt-level=0", "-C", "codegen-units=16", "-D", "warnings"].map(str::to_owned));
    args
}

/// The arguments that check a crate and leave what they write in a folder.
fn lint_options(args: &[String], folder: &Path) -> Vec<String> {
    let mut kept = Vec::new();
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        match arg.as_str() {
            "--out-dir" => drop(rest.next()),
            emit if emit.starts_with("--emit") => {}
            _ => kept.push(arg.clone()),
        }
    }
    kept.extend(["--emit=metadata", "-D", "warnings", "--out-dir"].map(str::to_owned));
    kept.push(folder.to_string_lossy().into_owned());
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn tests_are_left_without_optimisation_and_warnings_are_errors() {
        let tests = with_options(&args("--crate-name a src/lib.rs --test -C opt-level=3"));
        assert!(
            tests.join(" ").ends_with("-C opt-level=3 -C opt-level=0 -C codegen-units=16 -D warnings"),
            "{tests:?}"
        );
    }

    #[test]
    fn programs_are_linted_and_libraries_and_build_scripts_are_not() {
        assert!(is_program(&args("--crate-name dermis src/main.rs --crate-type bin")));
        assert!(is_program(&args("--crate-name dermis_python src/lib.rs --crate-type cdylib")));
        assert!(!is_program(&args("--crate-name dermis src/lib.rs --crate-type lib")));
        assert!(!is_program(&args("--crate-name dermis_mujoco src/lib.rs --crate-type cdylib --crate-type rlib")));
        assert!(!is_program(&args("--crate-name build_script_build build.rs --crate-type bin")));
        let linted =
            lint_options(&args("--crate-name a --emit=dep-info,link --out-dir /t -C opt-level=3"), Path::new("/f"));
        assert_eq!(linted.join(" "), "--crate-name a -C opt-level=3 --emit=metadata -D warnings --out-dir /f");
    }

    #[test]
    fn tasks_are_not_taken_for_a_compiler() {
        assert!(compile(&["test".to_owned()]).is_none());
        assert!(compile(&[]).is_none());
        assert!(compile(&["/no/such/rustc".to_owned(), "-vV".to_owned()]).is_some());
    }
}
