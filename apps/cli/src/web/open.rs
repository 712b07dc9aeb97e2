//! Opens a browser.

use std::io::Write;
use std::process::{Command, Stdio};
use tempfile::NamedTempFile;

/// Asks the system to open an address. Failures are ignored: the address is also printed.
pub fn open(url: &str) {
    let (program, arguments): (&str, &[&str]) = match () {
        () if cfg!(target_os = "macos") => ("open", &[]),
        () if cfg!(windows) => ("cmd", &["/C", "start", ""]),
        () => ("xdg-open", &[]),
    };
    let child = Command::new(program)
        .args(arguments)
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    if let Ok(mut child) = child {
        // Waits for the child in the background, to reap it.
        std::thread::spawn(move || child.wait());
    }
}

/// Opens an address that other users must not see: the arguments of a program are visible to all, so the browser opens a file
/// of this user alone that leads to the address. The file is removed when the value is dropped.
pub fn open_secretly(url: &str) -> Option<NamedTempFile> {
    let mut file = tempfile::Builder::new().prefix("dermis-run-").suffix(".html").tempfile().ok()?;
    writeln!(
        file,
        "<!doctype html><meta http-equiv=\"refresh\" content=\"0; url={url}\"><a href=\"{url}\">dermis run</a>"
    )
    .ok()?;
    open(file.path().to_str()?);
    Some(file)
}
