//! Terminal output: results go to stdout, everything else to stderr.

use anyhow::Context;
use dermis::output::Output;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Writes a line to stdout. Ignores a closed pipe (`| head`).
pub fn say(line: impl std::fmt::Display) {
    let _ = writeln!(std::io::stdout().lock(), "{line}");
}

/// Writes a line to stderr.
pub fn say_aside(line: impl std::fmt::Display) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}

/// Writes a value as the one JSON document on stdout.
pub fn say_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    say(serde_json::to_string_pretty(value)?);
    Ok(())
}

/// Replaces line breaks and runs of spaces by one space.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Sets the global number of threads.
pub fn use_threads(threads: Option<u16>) -> anyhow::Result<()> {
    let Some(threads) = threads else { return Ok(()) };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(usize::from(threads));
    pool.build_global().with_context(|| format!("`--threads {threads}`: cannot start the thread pool"))
}

/// A progress bar on stderr, from 0 to `length`; hidden if stderr is not a terminal.
pub fn progress(what: &'static str, length: u64) -> ProgressBar {
    let target =
        if std::io::stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let bar = ProgressBar::with_draw_target(Some(length), target).with_message(what);
    let style = ProgressStyle::with_template("{msg} {wide_bar} {percent:>3} % {eta:>4}");
    if let Ok(style) = style {
        bar.set_style(style);
    }
    bar
}

/// Detects Ctrl-C. A second Ctrl-C ends the program at once.
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Installs the handler.
    pub fn listen() -> Self {
        let pressed = Arc::new(AtomicBool::new(false));
        let shared = Arc::clone(&pressed);
        // If the handler cannot be installed, Ctrl-C ends the program.
        let _ = ctrlc::set_handler(move || {
            if shared.swap(true, Ordering::SeqCst) {
                std::process::exit(130);
            }
        });
        Self(pressed)
    }

    /// True after Ctrl-C.
    pub fn came(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Checks that a folder can be written, before a long computation.
pub fn probe(folder: Option<&Path>) -> anyhow::Result<()> {
    folder.map_or(Ok(()), |folder| Ok(Output::probe(folder)?))
}

/// Writes the files and lists them on stdout, or on stderr if stdout holds JSON.
pub fn commit(output: Output, folder: &Path, json: bool) -> anyhow::Result<()> {
    let names: Vec<String> = output.names().map(|name| name.display().to_string()).collect();
    output.commit(folder)?;
    let line = format!("wrote {}: {}", folder.display(), names.join(", "));
    if json {
        eprintln!("{line}")
    } else {
        say(line)
    }
    Ok(())
}

/// A number with three significant digits, without an exponent in the usual range.
pub fn short(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 {
        return "0".into();
    }
    if !(1e-4..1e6).contains(&size) {
        return format!("{value:.2e}");
    }
    let decimals = (2 - size.log10().floor() as i32).clamp(0, 7) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (value, text) in [(0.0, "0"), (1.0, "1"), (0.04567, "0.0457"), (12345.6, "12346"), (-2.5, "-2.5")] {
            assert_eq!(short(value), text);
        }
        assert_eq!(short(1e-9), "1.00e-9");
        assert_eq!(one_line("a\n  b\tc"), "a b c");
    }
}
