//! Runs named steps with timing and one-line failures.

use std::io;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::workspace::Workspace;

/// One step of a task. A step is a function, so that it may run one command, many (every example), or none (the layering).
pub struct Step {
    /// One or two words, shown in the heading.
    pub name: &'static str,
    /// Runs the step; prints to the terminal.
    pub run: fn(&Workspace) -> Result<(), Failure>,
}

/// Why a step failed, and the command that repeats it.
#[derive(Debug, PartialEq)]
pub struct Failure {
    /// A short reason, such as `exit status: 101`.
    pub reason: String,
    /// A command line that repeats just the part that failed.
    pub repeat: String,
}

/// One command of a step, which can be printed and run.
#[derive(Debug, PartialEq)]
pub struct Invocation {
    program: String,
    args: Vec<String>,
    env: Vec<(&'static str, String)>,
}

impl Invocation {
    /// `line` is split at spaces; an argument that may contain one is added with [`Invocation::args`].
    pub fn new(line: &'static str) -> Invocation {
        let mut words = line.split_whitespace();
        let program = words.next().unwrap_or_default();
        Invocation { program: program.to_owned(), args: words.map(str::to_owned).collect(), env: Vec::new() }
    }

    /// A program by its path, which may contain spaces.
    pub fn program(path: &std::path::Path) -> Invocation {
        Invocation { program: path.to_string_lossy().into_owned(), args: Vec::new(), env: Vec::new() }
    }

    /// Adds arguments, which may contain spaces.
    pub fn args(mut self, args: impl IntoIterator<Item = impl Into<String>>) -> Invocation {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets one environment variable.
    pub fn env(mut self, key: &'static str, value: impl Into<String>) -> Invocation {
        self.env.push((key, value.into()));
        self
    }

    /// The command as a shell takes it.
    pub fn line(&self) -> String {
        let env = self.env.iter().map(|(key, value)| format!("{key}={}", quoted(value)));
        let args = self.args.iter().map(|arg| quoted(arg));
        env.chain([self.program.clone()]).chain(args).collect::<Vec<_>>().join(" ")
    }

    /// Runs the command in `folder`, its output going straight to the terminal.
    pub fn run(&self, folder: &Path) -> Result<(), Failure> {
        self.run_with(folder, Stdio::inherit()).map(drop)
    }

    /// As [`Invocation::run`], but returns what the command prints; errors still go to the terminal.
    pub fn printed(&self, folder: &Path) -> Result<String, Failure> {
        self.run_with(folder, Stdio::piped())
    }

    /// Runs the command in silence, and returns all that it says beside its outcome.
    pub fn captured(&self, folder: &Path) -> (String, Result<(), Failure>) {
        let output = self.command(folder).stdin(Stdio::null()).output();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let said = output.as_ref().map_or_else(|_| String::new(), |out| text(&out.stdout) + &text(&out.stderr));
        (said, self.printed_by(output).map(drop))
    }

    fn run_with(&self, folder: &Path, printed: Stdio) -> Result<String, Failure> {
        println!("$ {}", self.line());
        self.printed_by(self.command(folder).stdout(printed).stderr(Stdio::inherit()).stdin(Stdio::inherit()).output())
    }

    fn command(&self, folder: &Path) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.args).envs(self.env.iter().map(|(key, value)| (key, value))).current_dir(folder);
        command
    }

    fn printed_by(&self, output: io::Result<Output>) -> Result<String, Failure> {
        match output {
            Ok(output) if output.status.success() => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            Ok(output) => Err(Failure { reason: output.status.to_string(), repeat: self.line() }),
            Err(error) => {
                Err(Failure { reason: format!("`{}` could not start: {error}", self.program), repeat: self.line() })
            }
        }
    }
}

/// Runs the steps in order and prints a table of their times; stops at the first failure.
pub fn run_all(steps: &[Step], workspace: &Workspace) -> Result<(), String> {
    summarise(&run_each(steps, workspace)?);
    Ok(())
}

/// Prints a table of the times of steps.
pub fn summarise(times: &[(&str, Duration)]) {
    println!("{}", table(times));
    println!("all steps passed");
}

/// Runs the steps in order and returns their times; stops at the first failure.
pub fn run_each<'a>(steps: &'a [Step], workspace: &Workspace) -> Result<Vec<(&'a str, Duration)>, String> {
    let mut times = Vec::new();
    for step in steps {
        println!("== {}", step.name);
        let start = Instant::now();
        let outcome = (step.run)(workspace);
        let took = start.elapsed();
        outcome.map_err(|failure| {
            let (name, Failure { reason, repeat }) = (step.name, failure);
            format!("step `{name}` failed after {:.1} s ({reason}); repeat it with: {repeat}", took.as_secs_f64())
        })?;
        println!("   {:.1} s\n", took.as_secs_f64());
        times.push((step.name, took));
    }
    Ok(times)
}

fn table(times: &[(&str, Duration)]) -> String {
    let total = ("total", times.iter().map(|(_, took)| *took).sum());
    let rows = times.iter().chain([&total]);
    let width = rows.clone().map(|(name, _)| name.len()).max().unwrap_or(0);
    rows.map(|(name, took)| format!("{name:width$} {:8.1} s", took.as_secs_f64())).collect::<Vec<_>>().join("\n")
}

/// Quotes a word where a shell would split it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./=:,+@".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_as_a_shell_takes_it() {
        let docs = Invocation::new("cargo doc --no-deps").args(["it's"]).env("RUSTDOCFLAGS", "-D warnings");
        assert_eq!(docs.line(), r"RUSTDOCFLAGS='-D warnings' cargo doc --no-deps 'it'\''s'");
    }

    #[cfg(unix)] // for `true` and `false`, which say nothing in the log
    #[test]
    fn a_command_reports_success_failure_and_absence() {
        let here = Path::new(".");
        assert_eq!(Invocation::new("true").run(here), Ok(()));
        assert_eq!(Invocation::new("echo two words").printed(here), Ok("two words\n".into()));
        assert_eq!(Invocation::new("echo two words").captured(here), ("two words\n".into(), Ok(())));
        assert_eq!(
            Invocation::new("false --again").run(here),
            Err(Failure { reason: "exit status: 1".into(), repeat: "false --again".into() })
        );
        let failure = Invocation::new("dermis-no-such-program").run(here).unwrap_err();
        assert!(failure.reason.starts_with("`dermis-no-such-program` could not start"), "{failure:?}");
    }

    #[test]
    fn the_first_failure_stops_the_list_and_names_the_step() {
        let steps = [
            Step { name: "good", run: |_| Ok(()) },
            Step { name: "bad", run: |_| Err(Failure { reason: "it broke".into(), repeat: "make it again".into() }) },
            Step { name: "never", run: |_| panic!("a step ran after a failure") },
        ];
        let message = run_all(&steps, &Workspace::default()).unwrap_err();
        assert!(message.starts_with("step `bad` failed after"), "{message}");
        assert!(message.ends_with("(it broke); repeat it with: make it again"), "{message}");
        assert_eq!(run_all(&steps[..1], &Workspace::default()), Ok(()));
    }

    #[test]
    fn the_table_adds_up() {
        let times = [("docs", Duration::from_millis(1500)), ("formatting", Duration::from_millis(250))];
        assert_eq!(table(&times), "docs            1.5 s\nformatting      0.2 s\ntotal           1.8 s");
    }
}
