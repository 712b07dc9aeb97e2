//! Optical sensors from a user's point of view: presses, and calibration of the light from images of a ball.

use crate::common::write;
use dermis::draw::Image;
use dermis::geometry::shapes;
use dermis::prelude::*;
use serde_json::Value;
use std::path::Path;
use std::process::Output;
use tempfile::TempDir;

fn save(image: &Image, path: &Path) {
    std::fs::write(path, image.encode_png()).unwrap();
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    let all: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
    crate::common::dermis(folder, &all)
}

fn dermis(folder: &Path, arguments: &[&str]) -> String {
    let result = run(folder, arguments);
    assert!(result.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&result.stderr));
    String::from_utf8(result.stdout).unwrap()
}

/// A fictitious sensor: a small gel, a small camera, a lamp of each colour.
const MINE: &str = r#"name = "mine"

[surface.grid]
rows = 5
cols = 6
pitch = "2 mm"

[skin]
kind = "layer"
thickness = "4 mm"
young = "150 kPa"
poisson = 0.45
cell = "0.2 mm"

[camera]
width = 160
height = 120
pixel = "0.07 mm"

[light]
kind = "phong"
relative = true
background = { colour = [110.0, 120.0, 100.0] }

[[light.sources]]
azimuth = "20 deg"
elevation = "30 deg"
diffuse = [120.0, 0.0, 0.0]

[[light.sources]]
azimuth = "140 deg"
elevation = "25 deg"
diffuse = [0.0, 110.0, 0.0]

[[light.sources]]
azimuth = "265 deg"
elevation = "40 deg"
diffuse = [0.0, 0.0, 130.0]

[markers]
radius = "0.2 mm"

[markers.pattern.grid]
rows = 3
cols = 4
pitch = "2 mm"
"#;

#[test]
fn a_press_of_an_optical_sensor_writes_what_it_sees() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "mine.toml", MINE);
    let press = ["press", "--sensor", "mine.toml", "--object", "sphere:radius=3mm", "--depth", "0.6mm", "--out", "o"];
    dermis(folder.path(), &press);
    let file = |name: &str| std::fs::read(folder.path().join("o").join(name)).unwrap();
    for name in ["rgb.png", "depth.png", "normals.png", "camera.png"] {
        assert!(file(name).starts_with(b"\x89PNG\r\n\x1a\n"), "{name}");
    }
    let width = |name: &str| Image::decode_png(&file(name)).unwrap().width();
    assert!(width("camera.png") > 2 * width("rgb.png") + 100, "depths without a colour bar");
    let shape =
        |name: &str| String::from_utf8_lossy(&file(name)[10..100]).split("'shape': ").nth(1).unwrap().to_owned();
    assert!(shape("depth.npy").starts_with("(120, 160,)"));
    assert!(shape("normals.npy").starts_with("(120, 160, 3,)"));
    assert!(shape("flow.npy").starts_with("(120, 160, 2,)"));
    assert!(shape("markers.npy").starts_with("(12, 4,)"));
    // The largest value in the array is the commanded depth, to within the sagitta over one cell.
    let bytes = file("depth.npy");
    let numbers = bytes[bytes.len() - 4 * 160 * 120..].chunks_exact(4);
    let deepest = numbers.map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]])).fold(0.0, f32::min);
    assert!((deepest + 0.6e-3).abs() < 1e-5, "{deepest}");
    assert_eq!(String::from_utf8(file("markers.csv")).unwrap().lines().count(), 13);
}

/// `camera.mount_stiffness` moves all markers and the flow by force over stiffness, in a press with shear.
#[test]
fn a_mount_that_yields_moves_the_markers_of_a_press() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "mine.toml", MINE.replace("cell = \"0.2 mm\"", "cell = \"0.2 mm\"\nmu = 0.8"));
    let press = ["press", "--sensor", "mine.toml", "--object", "sphere:radius=3mm", "--depth", "0.4mm", "--json"];
    let markers = |more: &[&str], out: &str| {
        let all = [&press[..], &["--shear", "0.1mm,0.05mm", "--out", out], more].concat();
        let report: Value = serde_json::from_str(&dermis(folder.path(), &all)).unwrap();
        let text = std::fs::read_to_string(folder.path().join(out).join("markers.csv")).unwrap();
        let row = |line: &str| line.split(',').skip(3).map(|cell| cell.parse().unwrap()).collect::<Vec<f64>>();
        (report["on_sensor_n"].clone(), text.lines().skip(1).map(row).collect::<Vec<_>>())
    };
    let (force, fixed) = markers(&[], "rigid");
    let (same, moved) = markers(&["--set", "camera.mount_stiffness=\"1 N/mm\""], "yields");
    assert_eq!(force, same);
    let shift_px = |axis: usize| force[axis].as_f64().unwrap() / 1e3 / 0.07e-3;
    assert!(shift_px(0) > 0.1 && shift_px(1) > 0.05, "{force}");
    for (fixed, moved) in fixed.iter().zip(&moved) {
        // The file has four digits behind the point.
        assert!((moved[0] - fixed[0] - shift_px(0)).abs() < 1.1e-4, "{fixed:?} {moved:?}");
        assert!((moved[1] - fixed[1] + shift_px(1)).abs() < 1.1e-4, "{fixed:?} {moved:?}");
    }
    let refused = run(folder.path(), &[&press[..], &["--set", "camera.mount_stiffness=\"0 N/mm\""]].concat());
    let error = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(!refused.status.success() && error.contains("`mount_stiffness` must be a positive stiffness"), "{error}");
}

/// A skin that does not compute its surface cannot be rendered; the message names the skins that can.
#[test]
fn a_skin_without_a_surface_is_refused_by_name() {
    let folder = TempDir::new().unwrap();
    let start = MINE.find("[skin]").unwrap();
    let end = MINE.find("[camera]").unwrap();
    let springs = "[skin]\nkind = \"springs\"\nstiffness = \"50 N/m\"\nmax_penetration = \"3 mm\"\n\n";
    write(folder.path(), "springs.toml", format!("{}{springs}{}", &MINE[..start], &MINE[end..]));
    let press =
        ["press", "--sensor", "springs.toml", "--object", "sphere:radius=3mm", "--depth", "0.6mm", "--out", "o"];
    let result = run(folder.path(), &press);
    let message = String::from_utf8_lossy(&result.stderr).into_owned();
    assert!(!result.status.success() && message.contains("`layer`") && message.contains("\"mine\""), "{message}");
    assert!(!folder.path().join("o").exists());
    // Without files there is nothing to render, and the press has its force.
    let report: Value = serde_json::from_str(&dermis(folder.path(), &[&press[..7], &["--json"]].concat())).unwrap();
    assert!(report["sum_n"].as_f64().unwrap() > 0.0, "{report}");
}

/// Images of a 4 mm ball at twelve positions, with the labels that a person would record.
fn presses(folder: &Path) {
    let spec = SensorSpec::parse("mine.toml", MINE).unwrap();
    let sensor = SensorSpec { markers: None, ..spec }.build(None).unwrap();
    let ball = Object::new(shapes::sphere(2e-3, 0.08e-3).unwrap());
    let camera = sensor.optics().unwrap().camera().clone();
    let mut table = String::from("file,center_x_px,center_y_px,contact_radius_px,x_mm,y_mm\n");
    save(&Image::new(160, 120, [110, 120, 100]), &folder.join("background.png"));
    for i in 0..12 {
        let at_m = [f64::from(i % 4) * 1.8e-3 - 2.7e-3, f64::from(i / 4) * 1.6e-3 - 1.6e-3];
        let depth_m = 0.3e-3 + 0.05e-3 * f64::from(i % 5);
        let pressed = press(&sensor, &ball, &Aim { at_m, ..Aim::default() }, Goal::Depth(depth_m)).unwrap();
        let name = format!("press_{i}.png");
        save(&sensor.render(&pressed.touch, 0).unwrap().image.to_rgb8(), &folder.join(&name));
        let [column, row] = camera.project(Vec3::new(at_m[0], at_m[1], 0.0));
        let radius = (pressed.touch.area_m2() / std::f64::consts::PI).sqrt() / camera.pixel_m;
        let (x, y) = (at_m[0] * 1e3, at_m[1] * 1e3);
        table += &format!("{name},{column:.1},{row:.1},{radius:.1},{x:.3},{y:.3}\n");
    }
    write(folder, "labels.csv", table);
}

const CALIBRATE: [&str; 10] = [
    "calibrate",
    "optics",
    "--background",
    "background.png",
    "--presses",
    "labels.csv",
    "--ball",
    "4mm",
    "--sensor",
    "mine.toml",
];

/// Calibrates a sensor from twelve presses so that it reproduces the first one: the pixel size comes from the
/// positions, the light from the images, and the written sensor can be pressed.
#[test]
fn a_sensors_light_comes_from_twelve_presses() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "mine.toml", MINE);
    presses(folder.path());
    for (light, most) in [("polynomial", 4.0), ("depth", 4.0), ("phong", 4.0)] {
        let out = format!("{light}/again.toml");
        let text = dermis(folder.path(), &[&CALIBRATE[..], &["--light", light, "--out", &out, "--json"]].concat());
        let report: Value = serde_json::from_str(&text).unwrap();
        assert!((report["scale"]["pixel_m"].as_f64().unwrap() / 7e-5 - 1.0).abs() < 5e-3, "{report}");
        // Again without `--overwrite`: refused before any computation, and the files stay.
        let again = run(folder.path(), &[&CALIBRATE[..], &["--light", light, "--out", &out]].concat());
        let said = String::from_utf8_lossy(&again.stderr).into_owned();
        assert!(
            !again.status.success() && said.contains("again.toml: exists") && said.contains("`--overwrite`"),
            "{said}"
        );
        let inside = &report["held_out"]["inside"];
        let (ours, null) = (inside["rmse_255"].as_f64().unwrap(), inside["null_rmse_255"].as_f64().unwrap());
        assert!(ours < most && ours < 0.2 * null, "{light}: {ours} against {null}");
        for name in ["again-background.png", "again-fit.png", "again-fit.json"] {
            assert!(folder.path().join(light).join(name).exists(), "{name}");
        }
        dermis(
            folder.path(),
            &[
                "press",
                "--sensor",
                &out,
                "--object",
                "sphere:radius=2mm",
                "--depth",
                "0.4mm",
                "--out",
                "o",
                "--overwrite",
            ],
        );
    }
    // The background is found beside the sensor's file for every skin that replaces its own.
    for skin in ["imprint", "layer"] {
        let press = [
            "press",
            "--sensor",
            "phong/again.toml",
            "--skin",
            skin,
            "--object",
            "sphere:radius=2mm",
            "--depth",
            "0.4mm",
        ];
        dermis(folder.path(), &[&press[..], &["--out", skin]].concat());
    }
}

/// Depths of the robot replace those that follow from the radius of the contact; a layer pressed beyond its linear
/// range, and a rotated camera, are mentioned.
#[test]
#[ignore = "slow: cargo xtask validate slow"]
fn depth_labels_deep_presses_and_rotated_cameras() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "mine.toml", MINE);
    presses(folder.path());
    let table = std::fs::read_to_string(folder.path().join("labels.csv")).unwrap();
    let with_depth = |depth_mm: &str| {
        let rows = table.lines().skip(1).map(|line| format!("{line},{depth_mm}\n"));
        let header = "file,center_x_px,center_y_px,contact_radius_px,x_mm,y_mm,depth_mm\n";
        write(folder.path(), "labels.csv", header.to_owned() + &rows.collect::<String>());
    };
    with_depth("0.4");
    let result = run(folder.path(), &CALIBRATE);
    assert!(result.status.success() && result.stderr.is_empty(), "{}", String::from_utf8_lossy(&result.stderr));
    let result = run(folder.path(), &[&CALIBRATE[..], &["--pixel", "0.08mm"]].concat());
    let message = String::from_utf8_lossy(&result.stderr).into_owned();
    assert!(message.contains("`--pixel` is 0.08 mm") && message.contains("give 0.0699 mm"), "{message}");
    with_depth("1.5");
    let result = run(folder.path(), &CALIBRATE);
    let message = String::from_utf8_lossy(&result.stderr).into_owned();
    assert!(result.status.success() && message.contains("linear") && message.contains("1.5 mm"), "{message}");
    with_depth("-1");
    refused(folder.path(), &CALIBRATE, &["labels.csv, line 2", "`depth_mm`", "-1"]);
    // Positions rotated by a quarter: −y, x.
    let rotated = table.lines().skip(1).fold(table.lines().next().unwrap().to_owned() + "\n", |text, line| {
        let fields: Vec<&str> = line.split(',').collect();
        let y: f64 = fields[5].parse().unwrap();
        text + &format!("{},{},{}\n", fields[..4].join(","), -y, fields[4])
    });
    write(folder.path(), "labels.csv", rotated);
    refused(folder.path(), &CALIBRATE, &["labels.csv", "rotated by", "90"]);
}

/// Labels that are off by several pixels degrade a fit; `--align` corrects them.
#[test]
#[ignore = "slow: cargo xtask validate slow"]
fn loose_labels_are_aligned() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "mine.toml", MINE);
    presses(folder.path());
    let table = std::fs::read_to_string(folder.path().join("labels.csv")).unwrap();
    let mut loose = String::from("file,center_x_px,center_y_px,contact_radius_px\n");
    for (i, line) in table.lines().skip(1).enumerate() {
        let fields: Vec<&str> = line.split(',').collect();
        let off = |at: usize, by: f64| fields[at].parse::<f64>().unwrap() + by;
        let (right, down) = ([5.0, -4.0, 6.0, -6.0][i % 4], [-5.0, 6.0, 4.0][i % 3]);
        loose += &format!("{},{:.1},{:.1},{}\n", fields[0], off(1, right), off(2, down), fields[3]);
    }
    write(folder.path(), "labels.csv", loose);
    let held_out = |more: &[&str]| {
        let text = dermis(folder.path(), &[&CALIBRATE[..], &["--pixel", "0.07mm", "--json"], more].concat());
        let report: Value = serde_json::from_str(&text).unwrap();
        report["held_out"]["inside"]["rmse_255"].as_f64().unwrap()
    };
    let (as_labelled, aligned) = (held_out(&[]), held_out(&["--align"]));
    assert!(aligned < 0.5 * as_labelled, "{aligned} against {as_labelled}");
}

/// A table of files and positions is enough: the contacts are found in the images.
#[test]
fn contacts_without_labels_are_found_in_the_images() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "mine.toml", MINE);
    presses(folder.path());
    let table = std::fs::read_to_string(folder.path().join("labels.csv")).unwrap();
    let short = table.lines().map(|line| {
        let fields: Vec<&str> = line.split(',').collect();
        format!("{},{},{}\n", fields[0], fields[4], fields[5])
    });
    write(folder.path(), "labels.csv", short.collect::<String>());
    let report: Value = serde_json::from_str(&dermis(folder.path(), &[&CALIBRATE[..], &["--json"]].concat())).unwrap();
    assert!((report["scale"]["pixel_m"].as_f64().unwrap() / 7e-5 - 1.0).abs() < 0.02, "{report}");
    let inside = &report["held_out"]["inside"];
    let (ours, null) = (inside["rmse_255"].as_f64().unwrap(), inside["null_rmse_255"].as_f64().unwrap());
    assert!(ours < 0.4 * null, "{ours} against {null}");
    save(&Image::new(160, 120, [110, 120, 100]), &folder.path().join("press_3.png"));
    refused(folder.path(), &CALIBRATE, &["labels.csv, line 5", "press_3.png", "no contact"]);
}

/// At the depths of the table, a ball of another diameter would make wider or narrower contacts.
#[test]
fn a_ball_of_another_diameter_is_noticed() {
    let folder = TempDir::new().unwrap();
    write(folder.path(), "mine.toml", MINE);
    presses(folder.path());
    let table = std::fs::read_to_string(folder.path().join("labels.csv")).unwrap();
    let rows = table.lines().enumerate().map(|(i, line)| match i {
        0 => format!("{line},depth_mm\n"),
        _ => format!("{line},{:.2}\n", 0.3 + 0.05 * ((i - 1) % 5) as f64),
    });
    write(folder.path(), "labels.csv", rows.collect::<String>());
    let told = |ball: &str| {
        let arguments: Vec<&str> = CALIBRATE.iter().map(|word| if *word == "4mm" { ball } else { word }).collect();
        let result = run(folder.path(), &arguments);
        assert!(result.status.success());
        String::from_utf8_lossy(&result.stderr).into_owned()
    };
    assert_eq!(told("4mm"), "");
    for ball in ["10mm", "8mm"] {
        let message = told(ball);
        assert!(message.contains("times as wide") && message.contains("check --ball"), "{ball}: {message}");
    }
}

fn refused(folder: &Path, arguments: &[&str], words: &[&str]) {
    let result = run(folder, &[arguments, &["--out", "never/again.toml"]].concat());
    let message = String::from_utf8_lossy(&result.stderr).into_owned();
    assert_eq!(result.status.code(), Some(1), "{message}");
    assert!(message.starts_with("dermis: ") && message.lines().count() == 1, "{message}");
    assert!(words.iter().all(|word| message.contains(word)), "{words:?}: {message}");
    assert!(!folder.join("never").exists());
}

#[test]
fn bad_images_and_labels_are_refused_by_name() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write(path, "mine.toml", MINE);
    let plain = |width, height, name: &str| save(&Image::new(width, height, [100; 3]), &path.join(name));
    write(path, "labels.csv", "file,center_x_px,center_y_px,contact_radius_px\na.png,80,60,10\n");
    refused(path, &CALIBRATE, &["background.png", "without contact", "cannot be read"]);
    plain(160, 120, "background.png");
    refused(path, &CALIBRATE, &["a.png", "cannot be read"]);
    plain(80, 60, "a.png");
    refused(path, &CALIBRATE, &["a.png", "80 x 60", "160 x 120"]);
    plain(160, 120, "a.png");
    refused(path, &CALIBRATE, &["labels.csv", "x_mm", "--pixel"]);
    let with_pixel = [&CALIBRATE[..], &["--pixel", "0.07mm"]].concat();
    refused(path, &with_pixel, &["labels.csv", "1 presses", "at least 5"]);
    write(path, "labels.csv", "file,center_x_px,center_y_px,contact_radius_px\na.png,80,60,10\na.png,200,60,10\n");
    refused(path, &with_pixel, &["labels.csv, line 3", "column 200", "outside the image of 160 x 120"]);
    write(path, "labels.csv", "file,center_x_px,center_y_px,contact_radius_px\na.png,80,60,ten\n");
    refused(path, &with_pixel, &["line 2", "`contact_radius_px`", "\"ten\""]);
    write(path, "labels.csv", "file,center_x_px,center_y_px\na.png,80,60\n");
    refused(path, &with_pixel, &["`contact_radius_px`"]);
    write(path, "labels.csv", "file,center_x_px,center_y_px,contact_radius_px,depht_mm\na.png,80,60,10,0.5\n");
    refused(path, &with_pixel, &["labels.csv", "unknown column `depht_mm`", "did you mean \"depth_mm\"?"]);
    write(path, "labels.csv", "file,center_x_px,center_y_px,contact_radius_px,x_mm,z_mm\na.png,80,60,10,0,0\n");
    refused(path, &with_pixel, &["labels.csv", "no column `y_mm`"]);
    write(path, "labels.csv", "file,center_x_px,center_y_px,contact_radius_px\na.png,80,60,10\na.png,90,60,10\n");
    refused(path, &with_pixel, &["labels.csv, line 3", "a.png is the same image as a.png above"]);
    for level in 0..5 {
        save(&Image::new(160, 120, [100 + level; 3]), &path.join(format!("p{level}.png")));
    }
    let rows: String = (0..5).map(|level| format!("p{level}.png,80,60,70\n")).collect();
    write(path, "labels.csv", format!("file,center_x_px,center_y_px,contact_radius_px\n{rows}"));
    refused(path, &with_pixel, &["4.9 mm", "radius 2 mm"]);
    save(&Image::new(160, 120, [110, 120, 100]), &path.join("background.png"));
    refused(path, &with_pixel, &["p0.png", "grey", "in colour"]);
    write(path, "background.png", "no image");
    refused(path, &with_pixel, &["background.png", "no PNG image"]);
}
