//! Compiles the Rust tests and runs two test programs at a time.
//!
//! `cargo test` runs one program after another, and the last long test of each leaves a core idle. Doc tests are Cargo's; the API docs are
//! checked with them. They and the compilation of the Python binding, one large crate, keep one core busy: they run beside the programs, far from
//! each other, because one Cargo waits for the other.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use serde_json::Value;

use crate::api_docs::{OUT, RUSTDOC};
use crate::step::{Failure, Invocation};
use crate::test_code::linting;

const COMPILE: &str = "cargo test --workspace --release --no-run --message-format=json-render-diagnostics";

/// Compiles and runs all tests of the workspace.
pub fn run(root: &Path, target: &Path) -> Result<(), Failure> {
    let mut programs = compile(root)?;
    println!("{} test programs", programs.len());
    let largest = programs.iter().take_while(|program| is_large(&program.source)).count();
    let [package, doc_tests] = others(root, target)?;
    programs.insert(largest, doc_tests);
    programs.insert(0, package);
    run_all(programs)
}

/// The doc tests with the API docs, and the Python package, which later steps need.
fn others(root: &Path, target: &Path) -> Result<[Program; 2], Failure> {
    let no_path = |error: std::io::Error| Failure {
        reason: format!("this program has no path: {error}"),
        repeat: "cargo xtask test".into(),
    };
    let xtask = std::env::current_exe().map_err(no_path)?;
    let other = |name: &str, invocation: Invocation| Program {
        source: name.into(),
        folder: root.to_owned(),
        repeat: invocation.line(),
        invocation,
    };
    let doc_tests = Invocation::new("cargo test --workspace --release --doc")
        .env(RUSTDOC, xtask.to_string_lossy())
        .env(OUT, target.join("api-docs").to_string_lossy());
    Ok([
        other("Python package", Invocation::program(&xtask).args(["install"])),
        other("doc tests and API docs", doc_tests),
    ])
}

/// One test program.
#[derive(Debug, PartialEq)]
struct Program {
    invocation: Invocation,
    /// Folder of its package, in which Cargo runs it.
    folder: PathBuf,
    /// Such as `src/lib.rs` or `tests/all.rs`, in the package's folder.
    source: PathBuf,
    /// The arguments of `cargo test` that repeat it.
    repeat: String,
}

impl Program {
    /// Reads one line of Cargo's messages; `None` if it is about something else.
    fn from_message(line: &str) -> Option<Program> {
        let message: Value = serde_json::from_str(line).ok()?;
        let text = |value: &Value| value.as_str().map(str::to_owned);
        if message["profile"]["test"] != true {
            return None;
        }
        let path = PathBuf::from(text(&message["executable"])?);
        let folder = Path::new(message["manifest_path"].as_str()?).parent()?.to_owned();
        let target = &message["target"];
        let source = PathBuf::from(text(&target["src_path"])?);
        let (kind, name) = (target["kind"][0].as_str()?, target["name"].as_str()?);
        let which = match kind {
            "test" | "bin" | "example" | "bench" => format!("--{kind} {name}"),
            _ => "--lib".to_owned(),
        };
        let repeat = format!("cargo test --release --manifest-path {}/Cargo.toml {which}", folder.display());
        let invocation = Invocation::program(&path).env("CARGO_MANIFEST_DIR", folder.to_string_lossy());
        let source = source.strip_prefix(&folder).unwrap_or(&source).to_owned();
        Some(Program { invocation, source, folder, repeat })
    }

    fn run(&self) -> Result<(), Failure> {
        let start = Instant::now();
        let (said, outcome) = self.invocation.captured(&self.folder);
        let place = self.folder.join(&self.source);
        println!("-- {} {:.1} s{said}", place.display(), start.elapsed().as_secs_f64());
        let failure =
            |reason: String| Failure { reason: format!("{}: {reason}", place.display()), repeat: self.repeat.clone() };
        outcome.map_err(|Failure { reason, .. }| failure(reason))
    }
}

fn compile(root: &Path) -> Result<Vec<Program>, Failure> {
    let messages = linting(Invocation::new(COMPILE)).printed(root)?;
    let mut programs: Vec<Program> = messages.lines().filter_map(Program::from_message).collect();
    // The largest last would leave a core idle.
    programs.sort_by_key(|program| !is_large(&program.source));
    Ok(programs)
}

/// True for all integration tests of a package in one program.
fn is_large(source: &Path) -> bool {
    source.ends_with("all.rs")
}

/// Runs all programs, then returns the first failure.
fn run_all(programs: Vec<Program>) -> Result<(), Failure> {
    let (waiting, failures) = (Mutex::new(VecDeque::from(programs)), Mutex::new(Vec::new()));
    let next = || waiting.lock().map_or(None, |mut waiting| waiting.pop_front());
    let work = || {
        while let Some(program) = next() {
            if let (Err(failure), Ok(mut failures)) = (program.run(), failures.lock()) {
                failures.push(failure);
            }
        }
    };
    thread::scope(|scope| {
        scope.spawn(work);
        work();
    });
    match failures.into_inner().unwrap_or_default().into_iter().next() {
        None => Ok(()),
        Some(failure) => Err(failure),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn message(kind: &str, name: &str, source: &str, test: bool) -> String {
        json!({
            "reason": "compiler-artifact",
            "manifest_path": "/w/crates/skin/Cargo.toml",
            "target": { "kind": [kind], "name": name, "src_path": format!("/w/crates/skin/{source}") },
            "profile": { "test": test },
            "executable": if test { json!("/t/release/deps/all-1") } else { Value::Null },
        })
        .to_string()
    }

    #[test]
    fn test_programs_are_found_among_the_messages() {
        let program = Program::from_message(&message("test", "all", "tests/all.rs", true)).unwrap();
        assert_eq!(program.invocation.line(), "CARGO_MANIFEST_DIR=/w/crates/skin /t/release/deps/all-1");
        assert_eq!(
            (program.folder.as_path(), program.source.as_path()),
            (Path::new("/w/crates/skin"), Path::new("tests/all.rs"))
        );
        assert_eq!(program.repeat, "cargo test --release --manifest-path /w/crates/skin/Cargo.toml --test all");
        let library = Program::from_message(&message("lib", "dermis_skin", "src/lib.rs", true)).unwrap();
        assert!(library.repeat.ends_with(" --lib"));
        assert_eq!(Program::from_message(&message("lib", "dermis_skin", "src/lib.rs", false)), None);
        assert_eq!(Program::from_message("not JSON"), None);
    }

    #[cfg(unix)] // for `true` and `false`
    #[test]
    fn one_failing_program_fails_and_the_others_still_run() {
        let program = |path: &str| Program {
            invocation: Invocation::program(Path::new(path)),
            folder: "/".into(),
            source: "tests/all.rs".into(),
            repeat: format!("again {path}"),
        };
        assert_eq!(run_all(vec![program("true"), program("true"), program("true")]), Ok(()));
        let failure = run_all(vec![program("true"), program("false"), program("true")]).unwrap_err();
        assert_eq!(failure, Failure { reason: "/tests/all.rs: exit status: 1".into(), repeat: "again false".into() });
    }
}
