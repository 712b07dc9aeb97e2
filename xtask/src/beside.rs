//! A task of this program that runs while other steps leave a core idle.
//!
//! It is a process of its own with a low priority, whose output goes to a file until it is asked for. Ctrl-C ends both, because they share a
//! process group.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A task that was started and whose outcome has not been asked for.
pub struct Beside {
    /// What it does, in a few words.
    pub name: &'static str,
    child: Child,
    log: PathBuf,
}

impl Beside {
    /// Starts the task `task` of `program`.
    pub fn start(name: &'static str, program: &Path, task: &str, target: &Path) -> Result<Beside, String> {
        let folder = target.join("xtask");
        let log = folder.join(format!("{task}.log"));
        let failed = |error: std::io::Error| format!("{name} could not start with their output in {log:?}: {error}");
        fs::create_dir_all(&folder).map_err(failed)?;
        let out = File::create(&log).map_err(failed)?;
        let err = out.try_clone().map_err(failed)?;
        let mut command = low_priority(program);
        let child = command.arg(task).stdin(Stdio::null()).stdout(out).stderr(err).spawn().map_err(failed)?;
        Ok(Beside { name, child, log })
    }

    /// Waits for the end and prints what it has printed.
    pub fn finish(mut self) -> Result<(), String> {
        let outcome = self.child.wait();
        println!("{}", fs::read_to_string(&self.log).unwrap_or_default());
        match outcome {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(format!("{} failed ({status}): see above, or {}", self.name, self.log.display())),
            Err(error) => Err(format!("{} could not be waited for: {error}", self.name)),
        }
    }
}

/// The program at a low priority where there is `nice`.
fn low_priority(program: &Path) -> Command {
    if cfg!(unix) {
        let mut nice = Command::new("nice");
        nice.args(["-n", "10"]).arg(program);
        nice
    } else {
        Command::new(program)
    }
}

#[cfg(unix)] // for `true`, `false` and `sh`
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outcome_is_that_of_the_task() {
        let target = std::env::temp_dir().join(format!("dermis-beside-{}", std::process::id()));
        let run = |program: &str| Beside::start("checks", Path::new(program), "task", &target)?.finish();
        assert_eq!(run("true"), Ok(()));
        let message = run("false").unwrap_err();
        assert!(message.starts_with("checks failed (exit status: 1)") && message.ends_with("task.log"), "{message}");
        let message = run("/no/such/program").unwrap_err();
        assert!(message.starts_with("checks failed (exit status: 127)"), "{message}");
        fs::remove_dir_all(target).unwrap();
    }
}
