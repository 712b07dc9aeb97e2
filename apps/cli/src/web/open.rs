//! Opens the browser.

use std::process::{Command, Stdio};

/// Asks the system to show an address; where it cannot, the address on the terminal must do.
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
        // Reaped when it ends, without waiting for it here.
        std::thread::spawn(move || child.wait());
    }
}
