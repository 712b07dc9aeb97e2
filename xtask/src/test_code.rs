//! Compiles code of tests without optimisation: this program as Cargo's `RUSTC_WRAPPER`.
//!
//! A crate with unit tests is compiled twice, once for them. What takes long in a test is in the optimised libraries that it calls, so its own
//! code need not be: this saves four of the eleven minutes of CPU that the workspace takes to compile, and checks unit tests for overflows.
//! Cargo has no profile for the code of tests alone, and does not compile again if only the wrapper changes.

use std::path::Path;
use std::process::{Command, ExitCode};

/// The variable with the program that Cargo starts instead of rustc.
pub const WRAPPER: &str = "RUSTC_WRAPPER";

/// Runs rustc if the arguments are those that Cargo gives a wrapper: the path of rustc and its arguments.
pub fn compile(args: &[String]) -> Option<ExitCode> {
    let (rustc, args) = args.split_first()?;
    if Path::new(rustc).file_stem()? != "rustc" {
        return None;
    }
    let status = Command::new(rustc).args(with_options(args)).status();
    // rustc says itself what is wrong.
    Some(match status {
        Ok(status) => ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)),
        Err(error) => {
            eprintln!("xtask: {rustc} could not start: {error}");
            ExitCode::FAILURE
        }
    })
}

fn with_options(args: &[String]) -> Vec<String> {
    let mut args = args.to_vec();
    if args.iter().any(|arg| arg == "--test") {
        // The last of several values counts.
        args.extend(["-C", "opt-level=0", "-C", "codegen-units=16"].map(str::to_owned));
    }
    args
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tests_are_left_without_optimisation() {
        let args = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let library = args("--crate-name a src/lib.rs -C opt-level=3");
        assert_eq!(with_options(&library), library);
        let tests = with_options(&args("--crate-name a src/lib.rs --test -C opt-level=3"));
        assert!(tests.join(" ").ends_with("-C opt-level=3 -C opt-level=0 -C codegen-units=16"), "{tests:?}");
    }

    #[test]
    fn tasks_are_not_taken_for_a_compiler() {
        assert!(compile(&["test".to_owned()]).is_none());
        assert!(compile(&[]).is_none());
        assert!(compile(&["/no/such/rustc".to_owned(), "-vV".to_owned()]).is_some());
    }
}
