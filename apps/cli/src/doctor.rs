//! `dermis doctor`: what this machine offers.

use crate::console::{say, say_json};
use dermis::gpu::{Gpu, cache_folder, compiler_version, driver_version, has_driver};
use serde_json::{Map, Value, json};
use std::path::Path;
use std::process::Command;

/// Show what dermis finds on this machine: CPU, GPU, driver, compiler, cache, MuJoCo.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  dermis doctor")]
pub struct Arguments {
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let findings = [
        ("version", crate::VERSION.to_owned()),
        ("cpu", cpu()),
        ("threads", dermis::skin::threads::count().to_string()),
        ("gpu", gpu()),
        ("driver", if has_driver() { format!("CUDA {}", cuda(driver_version())) } else { "not found".to_owned() }),
        ("nvrtc", compiler_version().map_or("not found".to_owned(), |[major, minor]| format!("{major}.{minor}"))),
        ("cache", cache_folder().map_or("none".to_owned(), |folder| cache(&folder))),
        ("mujoco", mujoco()),
    ];
    if arguments.json {
        let document: Map<String, Value> =
            findings.into_iter().map(|(name, finding)| (name.to_owned(), json!(finding))).collect();
        return say_json(&document);
    }
    findings.iter().for_each(|(name, finding)| say(format!("{name:<8} {finding}")));
    Ok(())
}

/// The architecture of the CPU, and the instruction sets that dermis can use.
fn cpu() -> String {
    #[cfg(target_arch = "x86_64")]
    let found = [
        ("AVX2", is_x86_feature_detected!("avx2")),
        ("FMA", is_x86_feature_detected!("fma")),
        ("AVX-512", is_x86_feature_detected!("avx512f")),
    ];
    #[cfg(not(target_arch = "x86_64"))]
    let found: [(&str, bool); 0] = [];
    let sets: Vec<String> =
        found.iter().map(|(name, has)| if *has { (*name).to_owned() } else { format!("no {name}") }).collect();
    let sets = if sets.is_empty() { "no SIMD beyond its baseline".to_owned() } else { sets.join(", ") };
    format!("{}: {sets}", std::env::consts::ARCH)
}

fn gpu() -> String {
    match Gpu::open() {
        Ok(gpu) => {
            let free =
                gpu.free_bytes().map_or_else(|error| error.to_string(), |bytes| format!("{} MiB free", bytes >> 20));
            format!("{} ({}, {} multiprocessors, {free})", gpu.name(), gpu.architecture(), gpu.multiprocessors())
        }
        Err(error) => format!("none: {error}"),
    }
}

/// 12040 is CUDA 12.4.
fn cuda(version: i32) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}

fn cache(folder: &Path) -> String {
    let is_program = |name: &std::ffi::OsStr| Path::new(name).extension().is_some_and(|extension| extension == "cubin");
    let programs = std::fs::read_dir(folder)
        .map_or(0, |entries| entries.filter_map(Result::ok).filter(|entry| is_program(&entry.file_name())).count());
    let state = if folder.exists() { format!("{programs} compiled programs") } else { "not made yet".to_owned() };
    format!("{} ({state})", folder.display())
}

/// The MuJoCo of the Python on the path; the plugin of dermis supports 3.3.0 to 4.0.0.
fn mujoco() -> String {
    let script = "import mujoco; print(mujoco.__version__, mujoco.__path__[0])";
    let asked = Command::new("python3").args(["-c", script]).output();
    match asked {
        Ok(output) if output.status.success() => {
            String::from_utf8_lossy(&output.stdout).trim().replacen(' ', " in ", 1)
        }
        Ok(_) => "not found in python3".to_owned(),
        Err(_) => "no python3 on the path".to_owned(),
    }
}
