//! Opens a browser.

use std::process::{Command, Stdio};

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
