//! Shared helpers of the end-to-end tests.
use std::path::Path;
use std::process::{Command, Output};

/// Runs the program in a folder.
pub fn dermis(folder: &Path, arguments: &[String]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dermis")).current_dir(folder).args(arguments).output().unwrap()
}

/// Writes a file into a folder.
pub fn write(folder: &Path, name: &str, bytes: impl AsRef<[u8]>) {
    std::fs::write(folder.join(name), bytes).unwrap();
}

/// A small sensor; `rows` is in line 5.
pub const SENSOR: &str = r#"name = "mine"
description = "for tests"

[surface.grid]
rows = 4
cols = 4
pitch = "4 mm"

[skin]
kind = "springs"
stiffness = "50 N/m"
damping = "0.5 N s/m"
max_penetration = "5 mm"

[skin.friction]
kind = "lugre"
sigma0 = "20 N/m"
sigma1 = "0.2 N s/m"
viscous = "0.01 N s/m"
mu_static = 0.5
mu_dynamic = 0.3
stribeck_speed = "0.3 m/s"
"#;

/// A ball on a pad of 2304 texels, enough to use all threads. `mass` is in line 9.
pub const SCENE: &str = r#"
[world]
duration = "20 ms"
time_step = "0.1 ms"

[[body]]
name = "ball"
motion = "free"
mass = "50 g"
shape.sphere.radius = "15 mm"
at = ["0 mm", "1 mm", "14.5 mm"]
velocity = ["0.1 m/s", "0 m/s", "-0.1 m/s"]
spin = ["0 rad/s", "0 rad/s", "5 rad/s"]

[[sensor]]
name = "pad"

[sensor.surface.grid]
rows = 48
cols = 48
pitch = "0.5 mm"

[sensor.skin]
kind = "springs"
stiffness_per_area = "4e6 Pa/m"
damping_per_area = "4e4 Pa s/m"
max_penetration = "6 mm"

[sensor.skin.friction]
kind = "lugre"
sigma0 = "1 N/m"
sigma1 = "0.002 N s/m"
viscous = "0 N s/m"
mu_static = 0.5
mu_dynamic = 0.3
stribeck_speed = "0.3 m/s"

[record]
every = "2 ms"
"#;

/// The values of Moisio et al. 2013, Table 2.
pub const DEFINITION: &str = r#"<Robot><AttachedSensor><link>object1</link>
<sensor name="T1" type="SimTactileSensor">
<thickness>0.006</thickness><k>58.5</k><cn>0.0583</cn><sigma0>1.0</sigma0><sigma1>0.1</sigma1>
<x0>0.3</x0><ct>0.01</ct><mus>0.435</mus><mud>0.23</mud>
</sensor></AttachedSensor></Robot>"#;

/// Runs a command line without quotes: what it prints, or what it says when it fails.
pub fn run(folder: &Path, line: &str) -> Result<String, String> {
    let all: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
    let result = dermis(folder, &all);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    if result.status.success() { Ok(text(result.stdout)) } else { Err(text(result.stderr)) }
}
