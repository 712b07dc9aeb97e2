//! Checks the API docs while Cargo runs the doc tests: this program as Cargo's `RUSTDOC`.
//!
//! `cargo doc` would first check every crate again; a doc test has the paths of the libraries that are compiled already.

use std::path::Path;
use std::process::{Command, ExitCode};

/// The variable with the program that Cargo starts instead of rustdoc.
pub const RUSTDOC: &str = "RUSTDOC";
/// The variable with the folder for the pages, which says that this program is rustdoc.
pub const OUT: &str = "DERMIS_API_DOCS";

/// Runs the doc tests of a crate, then writes its pages with warnings as errors, if [`OUT`] is set.
pub fn check(args: &[String]) -> Option<ExitCode> {
    let out = std::env::var_os(OUT)?;
    let tested = rustdoc(args);
    Some(match page_args(args, Path::new(&out)) {
        Some(args) if tested => code(rustdoc(&args)),
        _ => code(tested),
    })
}

fn code(succeeded: bool) -> ExitCode {
    if succeeded { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// rustdoc says itself what is wrong.
fn rustdoc(args: &[String]) -> bool {
    let status = Command::new("rustdoc").args(args).status();
    status
        .inspect_err(|error| eprintln!("xtask: rustdoc could not start: {error}"))
        .is_ok_and(|status| status.success())
}

/// The arguments that write the pages of a crate, from those of its doc tests; `None` if these are no doc tests.
fn page_args(args: &[String], out: &Path) -> Option<Vec<String>> {
    args.iter().find(|arg| *arg == "--test")?;
    let name = args.iter().skip_while(|arg| *arg != "--crate-name").nth(1)?;
    let mut kept = Vec::new();
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        match arg.as_str() {
            "--test" | "--no-run" => {}
            "--test-run-directory" | "--test-args" => drop(rest.next()),
            // The crate itself, which its doc tests use.
            "--extern" => match rest.next() {
                Some(library) if library.starts_with(&format!("{name}=")) => {}
                Some(library) => kept.extend([arg.clone(), library.clone()]),
                None => {}
            },
            _ => kept.push(arg.clone()),
        }
    }
    kept.extend(["-D", "warnings", "--out-dir"].map(str::to_owned));
    kept.push(out.to_string_lossy().into_owned());
    Some(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_written_with_the_libraries_of_the_doc_tests() {
        let args = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let doc_tests = "--crate-name a --test a/src/lib.rs --test-run-directory /w/a --extern a=/t/liba.rlib --extern b=/t/libb.rlib -L d";
        let pages = page_args(&args(doc_tests), Path::new("/o")).unwrap();
        assert_eq!(
            pages.join(" "),
            "--crate-name a a/src/lib.rs --extern b=/t/libb.rlib -L d -D warnings --out-dir /o"
        );
        assert_eq!(page_args(&args("--version"), Path::new("/o")), None);
    }
}
