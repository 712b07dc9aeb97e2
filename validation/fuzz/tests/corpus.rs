//! Every reader with the committed inputs and 0.3 s of damaged ones; `cargo xtask validate fuzz` takes longer.
#![cfg(target_os = "linux")]

use std::process::Command;

#[test]
fn no_reader_panics_hangs_or_takes_too_much_memory() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_dermis-fuzz"))
        .args(["--time", "0.3s", "--found"])
        .arg(folder.path().join("found"))
        .env("TMPDIR", folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}
