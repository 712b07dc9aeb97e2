//! `cargo xtask validate`: comparisons with other programs, which it installs.
//!
//! Each validation is a folder `validation/NAME` with a README. Most have a `requirements.txt` and a `run.py`, which gets a virtual environment of its own
//! under the target folder and the `dermis` program, and writes a dated log to its folder, to be committed. The validations take too long,
//! and depend too much on the machine, for CI.

use std::path::Path;

use crate::date::today;
use crate::step::{Failure, Invocation};
use crate::workspace::Workspace;

/// One comparison.
pub struct Validation {
    /// Name of its folder.
    pub name: &'static str,
    /// One line on the comparison.
    pub about: &'static str,
    /// Arguments of `run.py` besides `--dermis`, `--work` and `--log`: flags with paths from the root.
    paths: &'static [(&'static str, &'static str)],
    /// The command of a validation that is a Rust program and not a `run.py`; `DERMIS_LOG` is the path of its log.
    program: Option<&'static str>,
}

impl Validation {
    const fn in_python(name: &'static str, about: &'static str) -> Self {
        Self { name, about, paths: &[], program: None }
    }

    const fn in_rust(name: &'static str, about: &'static str, command: &'static str) -> Self {
        Self { name, about, paths: &[], program: Some(command) }
    }
}

/// All validations.
pub const ALL: &[Validation] = &[
    Validation {
        name: "drake",
        about: "hydroelastic contact: results and speed against Drake",
        paths: &[("--golden", "crates/skin/tests/golden/hydroelastic/golden.json")],
        program: None,
    },
    Validation::in_python("slow", "tests of several seconds each"),
    Validation::in_python("experiments", "every claim of the papers, also in the long experiments"),
    Validation::in_python("real-balls", "simulated images of balls against those of two real sensors"),
    Validation::in_python("pybullet", "contact points of PyBullet as a tactile image"),
    Validation::in_python("mujoco", "the wheel in every version of MuJoCo, in robosuite and in gymnasium-robotics"),
    Validation::in_python("gym", "policies trained with touch and without, and the checkers of other libraries"),
    Validation::in_python("vector-envs", "environments with touch in processes by fork, forkserver and spawn"),
    Validation::in_python("ros", "topics of ROS 2 over DDS, read with Eclipse Cyclone DDS"),
    Validation::in_python("rerun", "worlds and recordings in Rerun's files"),
    Validation::in_python(
        "datasets",
        "data sets read by lerobot, webdataset, robomimic, pyarrow, polars and duckdb; stopped, resumed, measured, learnt from",
    ),
    Validation::in_python("magnetic", "flux densities of magnets against magpylib"),
    Validation::in_python("gradients", "gradients against central differences, and those of PyTorch and JAX"),
    Validation::in_python("cuda", "the skins on an NVIDIA GPU against the CPU: results and speed"),
    Validation::in_python("ray", "data sets made on a Ray cluster that loses nodes and drivers"),
    Validation::in_python(
        "packages",
        "crates, wheels for old systems and other machines, extras; other operating systems compile",
    ),
    Validation::in_python(
        "guide",
        "the blocks of the guide and the docstrings that need PyTorch, Ray, Rerun, DDS or minutes",
    ),
    Validation::in_python(
        "memory",
        "Miri over the pure crates, memcheck over the Python extension and the MuJoCo plugin",
    ),
    Validation::in_rust(
        "fuzz",
        "an hour of CPU time of damaged inputs for every reader, with checks of overflow (`--time 120s` for each)",
        "cargo run --profile fuzz -p dermis-fuzz --bin dermis-fuzz -- --time 120s",
    ),
    Validation::in_rust(
        "kill",
        "recordings of all formats, killed at 200 random times, and on full and read-only disks",
        "cargo test --release -p dermis-record --test killed -- --nocapture",
    ),
    Validation::in_rust(
        "soak",
        "random contacts of all skins: finite, balanced, passive, reproducible; scenes for an hour (`--scale 0.01` for a part)",
        "cargo run --release -p dermis-fuzz --bin dermis-soak --",
    ),
];

/// The validation of a name, or all without a name.
pub fn chosen(name: Option<&str>) -> Result<Vec<&'static Validation>, String> {
    let found: Vec<_> = ALL.iter().filter(|validation| name.is_none_or(|name| validation.name == name)).collect();
    if found.is_empty() {
        let known = ALL.iter().map(|validation| validation.name).collect::<Vec<_>>().join(", ");
        return Err(format!("there is no validation {:?}; there are {known}", name.unwrap_or_default()));
    }
    Ok(found)
}

/// Runs validations in order until the first failure.
pub fn run(validations: &[&Validation], arguments: &[String], workspace: &Workspace) -> Result<(), String> {
    let told = |name: &str, failure: Failure| {
        format!("validation `{name}` failed ({}); repeat it with: {}", failure.reason, failure.repeat)
    };
    for validation in validations {
        println!("== {}: {}", validation.name, validation.about);
        for invocation in invocations(validation, arguments, workspace) {
            invocation.run(&workspace.root).map_err(|failure| told(validation.name, failure))?;
        }
    }
    Ok(())
}

/// The commands of a validation; `arguments` are those of its program.
fn invocations(validation: &Validation, arguments: &[String], workspace: &Workspace) -> Vec<Invocation> {
    let folder = workspace.root.join("validation").join(validation.name);
    if let Some(command) = validation.program {
        let log = folder.join(format!("log-{}.md", today()));
        return vec![Invocation::new(command).args(arguments.iter().cloned()).env("DERMIS_LOG", log.to_string_lossy())];
    }
    let work = workspace.target.join("validation").join(validation.name);
    let venv = work.join("venv");
    let python = venv.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let dermis = workspace.target.join("release").join(if cfg!(windows) { "dermis.exe" } else { "dermis" });
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let mut steps = vec![Invocation::new("cargo build --release -p dermis-cli")];
    if !python.exists() {
        steps.push(Invocation::new("python3 -m venv").args([text(&venv)]));
    }
    steps.push(
        Invocation::program(&python)
            .args(["-m", "pip", "install", "--quiet", "--requirement"])
            .args([text(&folder.join("requirements.txt"))]),
    );
    let run = Invocation::program(&python)
        .args([text(&folder.join("run.py"))])
        .args(["--dermis".to_owned(), text(&dermis), "--work".to_owned(), text(&work)])
        .args(["--log".to_owned(), text(&folder)])
        .args(validation.paths.iter().flat_map(|(flag, path)| [flag.to_string(), text(&workspace.root.join(path))]))
        .args(arguments.iter().cloned())
        .env("OMP_NUM_THREADS", "1");
    steps.push(run);
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_validation_is_found_by_name() {
        assert_eq!(chosen(None).unwrap().len(), ALL.len());
        assert_eq!(chosen(Some("drake")).unwrap()[0].name, "drake");
        assert!(chosen(Some("duck")).err().unwrap().contains("\"duck\"; there are drake, slow, experiments"));
    }

    #[test]
    fn each_has_an_environment_of_its_own_and_writes_its_log_beside_its_script() {
        let workspace = Workspace { root: "/r".into(), target: "/t".into(), ..Workspace::default() };
        let lines: Vec<String> = invocations(&ALL[0], &[], &workspace).iter().map(Invocation::line).collect();
        assert_eq!(lines[1], "python3 -m venv /t/validation/drake/venv");
        assert!(lines[2].ends_with("--requirement /r/validation/drake/requirements.txt"), "{}", lines[2]);
        assert!(lines[3].contains("--log /r/validation/drake --golden /r/crates/skin/tests/golden"), "{}", lines[3]);
    }

    #[test]
    fn every_validation_has_its_folder() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../validation");
        for validation in ALL {
            let script: &[&str] = if validation.program.is_some() { &[] } else { &["run.py", "requirements.txt"] };
            for file in script.iter().chain(&["README.md"]) {
                assert!(root.join(validation.name).join(file).is_file(), "{}/{file}", validation.name);
            }
        }
    }
}
