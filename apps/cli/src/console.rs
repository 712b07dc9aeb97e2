//! Terminal output: results go to stdout, everything else to stderr.

use anyhow::Context;
use dermis::geometry::terminal_text;
use dermis::output::{ClaimedFolder, Output};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI8, Ordering};

/// Writes a line to stdout, as it may reach a terminal ([`terminal_text`]).
pub fn say(line: impl std::fmt::Display) {
    say_document(terminal_text(&line.to_string()));
}

/// Writes a document for other programs to stdout, unchanged. Ignores a closed pipe (`| head`); [`lost_output`] returns any other
/// error.
pub fn say_document(line: impl std::fmt::Display) {
    if let Err(error) = writeln!(std::io::stdout().lock(), "{line}")
        && error.kind() != std::io::ErrorKind::BrokenPipe
    {
        LOST.get_or_init(|| error.to_string());
    }
}

/// The first error of [`say_document`].
static LOST: OnceLock<String> = OnceLock::new();

/// The reason for which output was lost, such as a full disk.
pub fn lost_output() -> Option<&'static str> {
    LOST.get().map(String::as_str)
}

/// Writes a line to stderr, unless `-q` is given.
pub fn say_aside(line: impl std::fmt::Display) {
    if VERBOSITY.load(Ordering::Relaxed) >= 0 {
        say_error(line);
    }
}

/// Writes a line to stderr, as it may reach a terminal.
pub fn say_error(line: impl std::fmt::Display) {
    let _ = writeln!(std::io::stderr().lock(), "{}", terminal_text(&line.to_string()));
}

/// Writes a line to stderr if `-v` is given.
pub fn say_verbose(line: impl std::fmt::Display) {
    if VERBOSITY.load(Ordering::Relaxed) > 0 {
        say_aside(line);
    }
}

/// -1: quiet (`-q`), 0: normal, 1: verbose (`-v`).
static VERBOSITY: AtomicI8 = AtomicI8::new(0);

/// Sets the amount of text on stderr. Results on stdout and errors do not depend on it.
pub fn set_verbosity(verbose: bool, quiet: bool) {
    VERBOSITY.store(i8::from(verbose) - i8::from(quiet), Ordering::Relaxed);
}

/// Writes a value as the one JSON document on stdout.
pub fn say_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    say_document(serde_json::to_string_pretty(value)?);
    Ok(())
}

/// Says on stderr what is missing or differs in a recording that was read.
pub fn tell_notes(source: &str, is_cut: bool, notes: &[String]) {
    if is_cut {
        say_aside(format!("{source}: the file is truncated; the readable part is used"));
    }
    notes.iter().for_each(|note| say_aside(format!("{source}: {note}")));
}

/// Fails at the end of a command that has used the readable rest of a damaged recording.
pub fn fail_if_damaged(source: &str, damaged: usize) -> anyhow::Result<()> {
    anyhow::ensure!(damaged == 0, "{source}: damaged in {damaged} places; the result holds the readable rest");
    Ok(())
}

/// Replaces line breaks and runs of spaces by one space.
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The message of an error and those of its causes, each once: some messages contain that of their cause.
pub fn causes(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string).filter(|cause| !cause.is_empty()) {
        if !text.ends_with(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

/// Sets the number of threads.
pub fn use_threads(threads: Option<u16>) -> anyhow::Result<()> {
    let Some(threads) = threads else { return Ok(()) };
    dermis::skin::threads::set_count(usize::from(threads))
        .with_context(|| format!("`--threads {threads}`: cannot start the thread pool"))
}

/// Where progress bars are drawn: on stderr if it is a terminal, without `-q`.
pub fn progress_target() -> ProgressDrawTarget {
    let shown = std::io::stderr().is_terminal() && VERBOSITY.load(Ordering::Relaxed) >= 0;
    if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() }
}

/// A progress bar on stderr, from 0 to `length`; hidden if stderr is not a terminal.
pub fn progress(what: &'static str, length: u64) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(length), progress_target()).with_message(what);
    let style = ProgressStyle::with_template("{msg} {wide_bar} {percent:>3} % {eta:>4}");
    if let Ok(style) = style {
        bar.set_style(style);
    }
    bar
}

/// A count on stderr, for work of unknown length; hidden if stderr is not a terminal.
pub fn counter(what: &'static str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, progress_target()).with_message(what);
    let style = ProgressStyle::with_template("{msg} {pos}");
    if let Ok(style) = style {
        bar.set_style(style);
    }
    bar
}

/// Ctrl-C was pressed while a command listened to it.
static PRESSED: AtomicBool = AtomicBool::new(false);
/// A command listens to Ctrl-C: it ends by itself and keeps its results.
static LISTENING: AtomicBool = AtomicBool::new(false);

/// Makes Ctrl-C end the program with exit code 130, at once unless a command listens to it.
pub fn handle_interrupt() {
    // If the handler cannot be installed, the signal ends the program.
    let _ = ctrlc::set_handler(|| {
        if !LISTENING.load(Ordering::SeqCst) || PRESSED.swap(true, Ordering::SeqCst) {
            say_aside("dermis: interrupted");
            std::process::exit(i32::from(Ended::INTERRUPTED));
        }
    });
}

/// Makes a file that grows beyond the limit of the user an error of its writer, instead of the end of the program: the signal would
/// leave half a file.
pub fn ignore_file_size_signal() {
    #[cfg(unix)]
    #[allow(unsafe_code, reason = "the standard library has no signals")]
    // SAFETY: no handler is installed; the signal is ignored, as Python does.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}

/// Detects Ctrl-C. A second Ctrl-C ends the program at once.
pub struct Interrupt;

impl Interrupt {
    /// Listens from now on.
    pub fn listen() -> Self {
        LISTENING.store(true, Ordering::SeqCst);
        Self
    }

    /// True after Ctrl-C.
    pub fn came(&self) -> bool {
        PRESSED.load(Ordering::SeqCst)
    }

    /// After Ctrl-C, the error that ends the command.
    pub fn check(&self, kept: &str) -> anyhow::Result<()> {
        if self.came() { Err(Ended::interrupted(kept).into()) } else { Ok(()) }
    }
}

/// The end of a command that did its work, but not all of it. The message goes to stderr.
#[derive(Debug)]
pub struct Ended {
    message: String,
    /// Exit code.
    pub code: u8,
}

impl Ended {
    const INTERRUPTED: u8 = 130;
    const INCOMPLETE: u8 = 3;

    /// Ctrl-C: exit code 130.
    pub fn interrupted(kept: &str) -> Self {
        Self { message: format!("interrupted; {kept}"), code: Self::INTERRUPTED }
    }

    /// The result is written and not what was asked for: exit code 3.
    pub fn incomplete(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: Self::INCOMPLETE }
    }
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Ended {}

/// The flag of commands that write into a folder.
#[derive(clap::Args)]
pub struct Overwrite {
    /// Write into a folder that holds other files.
    #[arg(long)]
    overwrite: bool,
}

impl Overwrite {
    /// Opens the folder of a command.
    pub fn folder(&self, path: &Path) -> anyhow::Result<ResultFolder> {
        ResultFolder::open(path, self.overwrite)
    }

    /// Opens the folder of a command that can do without one.
    pub fn open(&self, path: Option<&Path>) -> anyhow::Result<Option<ResultFolder>> {
        path.map(|path| self.folder(path)).transpose()
    }
}

/// The folder of a command: it can be written, no other command writes into it, and it holds other files only if that is allowed, so
/// that the results of two commands do not mix.
pub struct ResultFolder {
    path: PathBuf,
    before: Vec<String>,
    _claimed: ClaimedFolder,
}

impl ResultFolder {
    /// Opens a folder, before a long computation.
    pub fn open(path: &Path, overwrite: bool) -> anyhow::Result<Self> {
        let claimed = ClaimedFolder::open(path)?;
        let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
        let mut before: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        before.retain(|name| !ClaimedFolder::is_mark(name));
        before.sort();
        anyhow::ensure!(
            overwrite || before.is_empty(),
            "{}: the folder is not empty; name a new one, or write into it with `--overwrite`",
            path.display()
        );
        Ok(Self { path: path.to_owned(), before, _claimed: claimed })
    }

    /// Writes the files, like [`commit`], and names those that were there before and do not belong to this command.
    pub fn commit(&self, output: Output, json: bool) -> anyhow::Result<()> {
        write(output, &self.path, json, &self.before)
    }
}

/// Refuses to replace files, unless `overwrite` is set.
pub fn refuse_existing(files: impl IntoIterator<Item = PathBuf>, overwrite: bool) -> anyhow::Result<()> {
    match files.into_iter().find(|path| !overwrite && path.exists()) {
        Some(path) => anyhow::bail!("{}: exists; name another file, or replace it with `--overwrite`", path.display()),
        None => Ok(()),
    }
}

/// Writes the files and lists them on stdout, or on stderr if stdout holds JSON.
pub fn commit(output: Output, folder: &Path, json: bool) -> anyhow::Result<()> {
    write(output, folder, json, &[])
}

fn write(output: Output, folder: &Path, json: bool, before: &[String]) -> anyhow::Result<()> {
    let names: Vec<String> = output.names().map(|name| name.display().to_string()).collect();
    output.commit(folder)?;
    let mut line = format!("wrote {}: {}", folder.display(), names.join(", "));
    let others: Vec<&str> = before.iter().filter(|name| !names.contains(name)).map(String::as_str).collect();
    if !others.is_empty() {
        line += &format!("\nkept from before, not of this command: {}", others.join(", "));
    }
    if json {
        say_aside(line)
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
