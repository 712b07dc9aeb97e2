//! Every user error gives one line that names the error, and leaves no files behind.

use crate::common::{SENSOR, dermis, write};
use dermis::geometry::files::{LengthUnit, write_obj, write_stl};
use dermis::geometry::shapes;
use std::path::Path;
use tempfile::TempDir;

/// Runs with `--out` into a folder that must not exist afterwards; checks the single line on stderr.
pub fn refused(folder: &Path, code: i32, arguments: &[&str], words: &[&str]) {
    let out = folder.join("out");
    let mut all: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
    if !arguments.contains(&"--out") {
        all.extend(["--out".to_owned(), out.display().to_string()]);
    }
    let result = dermis(folder, &all);
    let (stdout, stderr) = (String::from_utf8_lossy(&result.stdout), String::from_utf8_lossy(&result.stderr));
    let shown = format!("dermis {}\nstdout: {stdout}\nstderr: {stderr}", all.join(" "));
    assert_eq!(result.status.code(), Some(code), "{shown}");
    assert_eq!(stderr.lines().count(), 1, "{shown}");
    assert!(stderr.starts_with("dermis: ") && stderr.len() < 600, "{shown}");
    assert!(!stderr.contains("panicked"), "{shown}");
    for word in words {
        assert!(stderr.contains(word), "{word:?} is missing\n{shown}");
    }
    assert!(stdout.is_empty(), "{shown}");
    assert!(!out.exists(), "{shown}");
}

fn refused_mesh(name: &str, bytes: &[u8], words: &[&str]) {
    let folder = TempDir::new().unwrap();
    write(folder.path(), name, bytes);
    let arguments = ["press", "--sensor", "wts0614", "--object", name, "--unit", "mm", "--depth", "1mm"];
    refused(folder.path(), 1, &arguments, &[&[name], words].concat());
}

fn refused_sensor(from: &str, to: &str, words: &[&str]) {
    assert!(SENSOR.contains(from), "{from}");
    let folder = TempDir::new().unwrap();
    write(folder.path(), "mine.toml", SENSOR.replace(from, to));
    let arguments = ["press", "--sensor", "./mine.toml", "--object", "sphere", "--depth", "1mm"];
    refused(folder.path(), 1, &arguments, &[&["mine.toml"], words].concat());
}

fn refused_scene(from: &str, to: &str, words: &[&str]) {
    assert!(crate::common::SCENE.contains(from), "{from}");
    let folder = TempDir::new().unwrap();
    write(folder.path(), "mine.toml", crate::common::SCENE.replace(from, to));
    refused(folder.path(), 1, &["run", "mine.toml"], &[&["mine.toml"], words].concat());
}

fn refused_csv(text: &str, words: &[&str]) {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "bench.csv", text);
    refused(folder.path(), 1, &["calibrate", "stiffness", "bench.csv"], &[&["bench.csv"], words].concat());
}

fn refused_press(arguments: &[&str], words: &[&str]) {
    let folder = TempDir::new().unwrap();
    refused(folder.path(), 1, &[&["press"], arguments].concat(), words);
}

fn ball_stl() -> Vec<u8> {
    write_stl(&shapes::sphere(0.01, 0.003).unwrap(), LengthUnit::Millimetre)
}

#[test]
fn a_table_of_a_spreadsheet_with_semicolons_and_decimal_commas() {
    refused_csv("compression_mm;force_n\n1,0;0,058\n2,0;0,118\n", &["line 1", "compression_mm;force_n", "commas"]);
    refused_csv("compression_mm\tforce_n\n1.0\t0.058\n", &["separate columns by commas"]);
}

#[test]
fn a_binary_stl_that_was_cut_off() {
    let whole = ball_stl();
    refused_mesh("ball.stl", &whole[..whole.len() / 2], &[]);
    refused_mesh("ball.stl", &whole[..50], &[]);
}

#[test]
fn a_text_stl_that_was_cut_off() {
    let text = "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\n";
    refused_mesh("a.stl", text.as_bytes(), &[]);
}

#[test]
fn an_obj_that_was_cut_off() {
    let text = write_obj(&shapes::sphere(0.01, 0.003).unwrap(), LengthUnit::Millimetre);
    let faces = text.find("\nf ").unwrap();
    refused_mesh("ball.obj", &text.as_bytes()[..faces + 1], &[]);
    refused_mesh("ball.obj", b"v 0 0 0\nv 1 0 0\nv 0 1\n", &["line 3"]);
}

#[test]
fn a_ply_that_was_cut_off() {
    let header = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n";
    refused_mesh("a.ply", format!("{header}element face 1\nproperty list uchar int vertex_indices\n").as_bytes(), &[]);
    let body = "element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n";
    refused_mesh("a.ply", format!("{header}{body}").as_bytes(), &[]);
}

#[test]
fn a_glb_and_a_gltf_that_were_cut_off() {
    let json = br#"{"asset":{"version":"2.0"},"buffers":[{"byteLength":36}]}   "#;
    let mut glb = b"glTF".to_vec();
    for number in [2u32, 2000, json.len() as u32] {
        glb.extend(number.to_le_bytes());
    }
    glb.extend(b"JSON");
    glb.extend(json);
    refused_mesh("a.glb", &glb, &[]);
    refused_mesh("a.glb", &glb[..10], &[]);
    refused_mesh("a.gltf", &json[..20], &[]);
}

#[test]
fn an_empty_file() {
    refused_mesh("a.stl", b"", &["empty"]);
}

#[test]
fn a_vertex_that_is_no_number() {
    refused_mesh("a.obj", b"v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", &["line 1"]);
}

#[test]
fn an_index_beyond_the_vertices() {
    refused_mesh("a.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 99\n", &["99"]);
}

#[test]
fn a_triangle_without_area() {
    refused_mesh("a.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 2 0 0\nf 1 2 3\nf 1 2 4\n", &["area"]);
}

#[test]
fn a_mesh_without_a_unit() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "ball.stl", ball_stl());
    let arguments = ["press", "--sensor", "wts0614", "--object", "ball.stl", "--depth", "1mm"];
    refused(folder.path(), 1, &arguments, &["ball.stl", "unit"]);
}

#[test]
fn a_mesh_of_an_unknown_kind() {
    refused_mesh("ball.step", b"ISO-10303-21;", &["step", "stl"]);
}

#[test]
fn a_file_that_is_not_there() {
    refused_press(&["--sensor", "wts0614", "--object", "no.stl", "--unit", "mm", "--depth", "1mm"], &["no.stl"]);
    refused_press(&["--sensor", "./no.toml", "--object", "sphere", "--depth", "1mm"], &["no.toml"]);
    let folder = TempDir::new().unwrap();
    refused(folder.path(), 1, &["run", "no.toml"], &["no.toml"]);
    refused(folder.path(), 1, &["calibrate", "stiffness", "no.csv"], &["no.csv"]);
}

#[test]
fn a_sensor_file_with_a_slip() {
    refused_sensor("rows = 4", "rows = 4\ncolour = \"blue\"", &["line 6", "colour"]);
    refused_sensor("pitch = \"4 mm\"", "pitch = 4", &["line 7", "no unit", "mm"]);
    refused_sensor("pitch = \"4 mm\"", "pitch = \"4 N\"", &["line 7", "\"N\"", "length"]);
    refused_sensor("pitch = \"4 mm\"", "pitch = \"0 mm\"", &["mine", "`pitch`", "area"]);
    refused_sensor("rows = 4", "rows = 0", &["rows = 0"]);
    refused_sensor("rows = 4", "rows = -4", &["line 5"]);
    refused_sensor("stiffness = \"50 N/m\"", "stiffness = \"-50 N/m\"", &["mine", "`stiffness`", "-50"]);
    refused_sensor("stiffness = \"50 N/m\"\n", "", &["`stiffness`", "`force_table`"]);
    refused_sensor("mu_static = 0.5", "mu_static = 0.1", &["`mu_static`", "0.1", "`mu_dynamic`", "0.3"]);
    refused_sensor("mu_static = 0.5", "mu_static = nan", &["mu_static"]);
    refused_sensor("[skin]", "[skin", &["line"]);
}

#[test]
fn a_sensor_file_that_is_no_text() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "mine.toml", [0xff, 0xfe, 0x00, 0x41]);
    let arguments = ["press", "--sensor", "./mine.toml", "--object", "sphere", "--depth", "1mm"];
    refused(folder.path(), 1, &arguments, &["mine.toml"]);
}

#[test]
fn a_sensor_or_shape_that_there_is_not() {
    refused_press(&["--sensor", "wts", "--object", "sphere", "--depth", "1mm"], &["\"wts\"", "wts0614"]);
    refused_press(&["--sensor", "wts0614", "--object", "ball", "--depth", "1mm"], &["\"ball\"", "sphere"]);
    refused_press(&["--sensor", "wts0614", "--object", "sphere:radius=5", "--depth", "1mm"], &["`radius`", "no unit"]);
    refused_press(&["--sensor", "wts0614", "--object", "sphere:radius=-5mm", "--depth", "1mm"], &["radius", "-0.005"]);
    refused_press(&["--sensor", "wts0614", "--object", "sphere:size=5mm", "--depth", "1mm"], &["`size`", "`radius`"]);
    let folder = TempDir::new().unwrap();
    let result = dermis(folder.path(), &["sensors".to_owned(), "wts".to_owned()]);
    assert_eq!(result.status.code(), Some(1));
}

#[test]
fn a_press_that_cannot_be() {
    refused_press(&["--sensor", "wts0614", "--object", "sphere", "--depth", "9mm"], &["9 mm", "2.8 mm", "wts0614"]);
    refused_press(&["--sensor", "wts0614", "--object", "sphere", "--depth", "-1mm"], &["-1"]);
    refused_press(&["--sensor", "wts0614", "--object", "sphere", "--force", "9kN"], &["9000 N", "wts0614"]);
    refused_press(
        &["--sensor", "wts0614", "--object", "sphere", "--depth", "1mm", "--at", "90mm,0mm"],
        &["sphere", "90 mm"],
    );
}

#[test]
fn a_flag_with_a_slip_is_a_usage_error() {
    let folder = TempDir::new().unwrap();
    let press = ["press", "--sensor", "wts0614", "--object", "sphere"];
    refused(folder.path(), 2, &[&press[..], &["--depth", "1"]].concat(), &["--depth", "no unit"]);
    refused(folder.path(), 2, &[&press[..], &["--depth", "1N"]].concat(), &["--depth", "length"]);
    refused(folder.path(), 2, &[&press[..], &["--force", "inf N"]].concat(), &["--force"]);
    refused(folder.path(), 2, &press, &["--depth", "--force"]);
    refused(folder.path(), 2, &[&press[..], &["--depth", "1mm", "--unit", "foot"]].concat(), &["--unit", "foot"]);
    refused(folder.path(), 2, &[&press[..], &["--depth", "1mm", "--threads", "0"]].concat(), &["--threads"]);
    refused(folder.path(), 2, &["run"], &["SCENE"]);
}

#[test]
fn a_folder_that_cannot_be_written() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "file", "");
    write(folder.path(), "scene.toml", crate::common::SCENE);
    write(folder.path(), "bench.csv", "depth_mm,force_n\n1,1\n2,2.1\n3,3\n");
    let press = ["press", "--sensor", "wts0614", "--object", "sphere", "--depth", "1mm"];
    for arguments in [&press[..], &["run", "scene.toml"], &["demo"], &["calibrate", "stiffness", "bench.csv"]] {
        refused(folder.path(), 1, &[arguments, &["--out", "file/out"]].concat(), &["file: is a file; name a folder"]);
    }
}

/// Refused before anything is read, and the folder is as before.
#[test]
fn a_folder_that_holds_other_files() {
    let folder = TempDir::new().unwrap();
    std::fs::create_dir(folder.path().join("full")).unwrap();
    write(&folder.path().join("full"), "kept.txt", "kept");
    let commands = "press --sensor wts0614 --object sphere --depth 1mm|run no.toml|characterise --sensor wts0614|compare a.mcap b.mcap|\
        reproduce moisio-weights|calibrate stiffness a.csv|calibrate friction a.csv --normal-force 1N|calibrate taxels a.csv --sensor wts0614|\
        calibrate spread a.csv --sensor wts0614|calibrate creep a.csv --sensor wts0614|calibrate sensor a.csv b.csv --sensor wts0614|\
        calibrate magnetic a.csv b.csv --sensor eflesh|estimate pose --sensor wts0614 --object sphere --reading a.csv";
    write(folder.path(), "no.toml", crate::common::SCENE);
    for command in commands.split('|') {
        let arguments: Vec<&str> = command.split(' ').filter(|word| !word.is_empty()).collect();
        let words = ["full: the folder is not empty", "`--overwrite`"];
        refused(folder.path(), 1, &[&arguments[..], &["--out", "full"]].concat(), &words);
    }
    write(folder.path(), "a.csv", "time_s,pad/force_n\n0,1\n");
    write(folder.path(), "b.csv", "mine");
    let ran = |words: &str| dermis(folder.path(), &words.split(' ').map(str::to_owned).collect::<Vec<_>>());
    let again = ran("export a.csv b.csv");
    let said = String::from_utf8_lossy(&again.stderr).into_owned();
    assert!(said.contains("b.csv: exists") && said.contains("`--overwrite`") && said.lines().count() == 1, "{said}");
    assert_eq!(std::fs::read_to_string(folder.path().join("b.csv")).unwrap(), "mine");
    assert!(ran("export a.csv b.csv --overwrite").status.success());
    let left: Vec<_> =
        std::fs::read_dir(folder.path().join("full")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["kept.txt"]);
    // With the flag, the command writes into the folder and names what it did not write.
    write(folder.path(), "bench.csv", "depth_mm,force_n\n1,1\n2,2.1\n3,3\n");
    let over = ran("calibrate stiffness bench.csv --out full --overwrite");
    let said = String::from_utf8_lossy(&over.stdout).into_owned();
    assert!(said.contains("kept from before, not of this command: kept.txt") && said.contains("fit.json"), "{said}");
}

#[test]
fn a_negative_or_empty_hysteresis() {
    let folder = TempDir::new().unwrap();
    for width in ["-0.5mm", "0mm"] {
        let fit = ["calibrate", "magnetic", "a.csv", "b.csv", "--sensor", "eflesh", "--hysteresis", width];
        refused(folder.path(), 1, &fit, &["`--hysteresis`", "positive"]);
    }
}

#[test]
fn a_scene_with_a_slip() {
    refused_scene("mass = \"50 g\"", "mass = \"-50 g\"", &["\"ball\"", "`mass`", "-0.05"]);
    refused_scene("mass = \"50 g\"", "weight = \"50 g\"", &["line 9", "weight"]);
    refused_scene("mass = \"50 g\"", "mass = 50", &["line 9", "no unit"]);
    refused_scene("mass = \"50 g\"", "mass = \"nan g\"", &["line 9", "nan g"]);
    refused_scene("name = \"pad\"", "name = \"pad\"\nbody = \"table\"", &["`body`", "\"table\""]);
    refused_scene("name = \"pad\"", "name = \"pad\"\npreset = \"wts0614\"", &["\"pad\"", "`preset`", "`surface`"]);
    refused_scene("pitch = \"0.5 mm\"", "pitch = \"0 mm\"", &["\"pad\"", "`pitch`"]);
    refused_scene("sigma0 = \"1 N/m\"", "sigma0 = \"1 N\"", &["\"pad\"", "`skin.friction.sigma0`", "\"1 N\""]);
    refused_scene("mu_dynamic = 0.3", "mu = 0.3", &["\"pad\"", "`skin.friction.mu`"]);
    refused_scene("shape.sphere.radius", "shape.ball.radius", &["ball", "sphere"]);
    refused_scene("shape.sphere.radius", "shape.mesh.file", &["15 mm"]);
    refused_scene(
        "[[sensor]]",
        "[[body]]\nname = \"ball\"\nshape.sphere.radius = \"1 mm\"\n[[sensor]]",
        &["two bodies", "\"ball\""],
    );
    refused_scene("duration = \"20 ms\"", "duration = \"-1 s\"", &["`duration`", "-1 s"]);
}

/// The message contains the limit, and the scene runs with a step below it.
#[test]
fn a_time_step_that_is_too_long() {
    let explicit = "time_step = \"10 ms\"\ncoupling = \"explicit\"";
    refused_scene("time_step = \"0.1 ms\"", explicit, &["1e-2 s", "stable up to", "`time_step`", "`coupling`"]);
}

#[test]
fn measurements_with_a_slip() {
    refused_csv("depth_mm,force_n\n1,1\n2,two\n3,3\n", &["line 3", "`force_n`", "\"two\""]);
    refused_csv("depth_mm,force_n\n1,1\n2,NaN\n3,3\n", &["line 3", "`force_n`", "NaN"]);
    refused_csv("depth_mm,force_n\n1,1\n2\n3,3\n", &["line 3", "1 values", "2 columns"]);
    refused_csv("depth,force\n1,1\n2,2\n3,3\n", &["line 1", "depth_mm", "depth,force"]);
    refused_csv("depth_mm,force_n\n1,1\n2,2\n", &["2 points", "3"]);
    refused_csv("depth_mm,force_n\n1,1\n1,2\n1,3\n", &["same compression"]);
    refused_csv("depth_mm,force_n\n1,-1\n2,-2\n3,-3\n", &["stiffness"]);
    refused_csv("", &["line 1"]);
}

#[test]
fn a_definition_with_a_slip() {
    let folder = TempDir::new().unwrap();
    let import = |name: &str, text: &str, words: &[&str]| {
        write(folder.path(), name, text);
        refused(folder.path(), 1, &["import", name, "--grid", "14x6", "--pitch", "3.4mm"], &[&[name], words].concat());
    };
    import("a.xml", "this is not xml", &["XML"]);
    import("b.xml", "<Robot/>", &["SimTactileSensor"]);
    import("c.xml", &crate::common::DEFINITION.replace("58.5", "-58.5"), &["T1", "stiffness", "-58.5"]);
    import("d.xml", &crate::common::DEFINITION.replace("<k>58.5</k>", ""), &["T1", "<k>"]);
    write(folder.path(), "e.xml", crate::common::DEFINITION);
    refused(folder.path(), 1, &["import", "e.xml", "--grid", "14x6", "--pitch", "0mm"], &["pitch"]);
    refused(folder.path(), 1, &["import", "e.xml", "--mesh", "no.stl", "--unit", "mm"], &["no.stl"]);
    refused(folder.path(), 2, &["import", "e.xml", "--grid", "14", "--pitch", "1mm"], &["14x6"]);
}

#[test]
fn bench_data_that_cannot_tell() {
    let folder = TempDir::new().unwrap();
    let at = folder.path();
    write(at, "two.toml", SENSOR.replace("rows = 4", "rows = 1").replace("cols = 4", "cols = 2"));
    let header = "taxel,press,held_s,depth_mm,force_N,raw_0_counts,raw_1_counts\n";
    let fit = |what: &str, text: String, words: &[&str]| {
        write(at, "bench.csv", text);
        refused(at, 1, &["calibrate", what, "bench.csv", "--sensor", "two.toml"], &[&["bench.csv"], words].concat());
    };
    fit("taxels", "taxel,press,held_s,depth_mm\n0,0,0.1,0.2\n".into(), &["force_N"]);
    fit("taxels", format!("{header}0,0,0.1,0.2,0.4,NaN,0\n"), &["line 2", "raw_0_counts", "NaN"]);
    fit("taxels", format!("{header}0,0,0.1,0.2,0.4,1.5,0\n"), &["line 2", "raw_0_counts", "whole"]);
    fit("taxels", format!("{header}7,0,0.1,0.2,0.4,300,0\n"), &["row 1", "2"]);
    fit("taxels", format!("{header}0,0,0.1,0.2,0.4,300,0\n"), &["4"]);
    let same = "0,0,0.1,0.2,0.4,300,0\n1,0,0.1,0.2,0.4,0,300\n".repeat(5);
    fit("taxels", format!("{header}{same}"), &["same force"]);
    fit("spread", format!("{header}{same}"), &["same force"]);
    fit("creep", "taxel,time_s,force_N,raw_counts\n0,1,1,100\n0,2,1,100\n".into(), &["points"]);
    refused(at, 1, &["characterise", "--sensor", "two.toml", "--depth", "6mm"], &["mine", "5.14", "5 mm"]);
    refused(at, 1, &["characterise", "--sensor", "two.toml", "--indenter", "0mm"], &["indenter"]);
}

#[test]
fn a_device_that_is_not_there_or_of_no_use_is_refused() {
    let press = ["press", "--object", "sphere:radius=4mm", "--depth", "0.3mm", "--sensor"];
    let folder = TempDir::new().unwrap();
    let with = |more: &[&'static str]| [&press[..], more].concat();
    refused(folder.path(), 2, &with(&["wts0614", "--device", "warp"]), &["--device", "\"warp\"", "auto, cpu or cuda"]);
    refused(folder.path(), 1, &with(&["wts0614", "--device", "cuda"]), &["wts0614", "no gel", "press_batch"]);
    if dermis::gpu::Gpu::open().is_err() {
        refused(folder.path(), 1, &with(&["gelsight", "--skin", "gel", "--device", "cuda"]), &["no ", "device cpu"]);
    }
}
