//! Data sets: bytes that do not depend on how they are made, correct labels, and clear errors.

use dermis::dataset::{Dataset, DatasetError, Share, check};
use std::collections::BTreeMap;
use std::path::Path;

/// Presses with random pose, material, noise and gains.
const PRESSES: &str = r#"
name = "presses"
format = "FORMAT"
seed = 5
count = 26
shard = 4
materials = 2
[[sensor]]
preset = "uji-foam-14x6"
[[object]]
name = "ball"
shape.sphere = { radius = "10 mm", edge = "1 mm" }
copies = 2
scale = { uniform = [0.7, 1.3] }
[[object]]
name = "box"
shape.cuboid.size = ["12 mm", "12 mm", "12 mm"]
[pose]
x = { uniform = ["-6 mm", "6 mm"] }
y = { normal = ["0 mm", "8 mm"], within = ["-15 mm", "15 mm"] }
tilt_x = { uniform = ["-10 deg", "10 deg"] }
depth = { uniform = ["0.5 mm", "4 mm"] }
[scenario]
kind = "press"
frames = 2
[[randomise]]
key = "skin.stiffness"
scale = { uniform = [0.8, 1.2] }
[[randomise]]
key = "response.noise.sd"
value = { uniform = ["0 mN", "5 mN"] }
[[randomise]]
key = "response.gain.gain_sd"
value = 0.05
[[randomise]]
key = "response.gain.seed"
seed = true
"#;

fn set(text: &str) -> Dataset {
    Dataset::parse("test.toml", text, None).unwrap()
}

/// The bytes of every file of a folder, by its name in the folder.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(inner) = folders.pop() {
        for entry in std::fs::read_dir(&inner).unwrap().flatten() {
            match entry.path() {
                path if path.is_dir() => folders.push(path),
                path => {
                    let name = path.strip_prefix(folder).unwrap().display().to_string();
                    all.insert(name, std::fs::read(path).unwrap());
                }
            }
        }
    }
    all
}

fn same(a: &Path, b: &Path) {
    let (a, b) = (contents(a), contents(b));
    assert_eq!(a.keys().collect::<Vec<_>>(), b.keys().collect::<Vec<_>>());
    for (name, bytes) in &a {
        assert!(b[name] == *bytes, "{name} differs");
    }
}

/// One thread without interruption, three threads stopped repeatedly, three shares in any order, and single shards give
/// the same files, byte for byte.
#[test]
fn the_bytes_do_not_depend_on_how_a_set_is_made() {
    for format in ["lerobot", "webdataset", "parquet", "robomimic"] {
        let text = PRESSES.replace("FORMAT", format);
        let set = set(&text);
        let root = tempfile::tempdir().unwrap();
        let once = root.path().join("once");
        let made = set.make(&once, Share::ALL, 1, &mut |_| true).unwrap();
        assert!(made.complete && made.episodes == 26 && made.found == 0);
        assert!(check(&once).unwrap() >= 7 + 3, "{format}");

        let stopped = root.path().join("stopped");
        let mut runs = 0;
        loop {
            runs += 1;
            // Half-written files of a killed program have no effect.
            std::fs::create_dir_all(stopped.join("data")).unwrap();
            if runs == 2 {
                let part = stopped.join("data/.x.host-1-1.part");
                std::fs::write(&part, b"half").unwrap();
                // Young ones may belong to a running program.
                let old = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
                std::fs::File::options().write(true).open(&part).unwrap().set_modified(old).unwrap();
            } else if runs == 1 {
                std::fs::remove_dir(stopped.join("data")).unwrap();
            }
            match set.make(&stopped, Share::ALL, 3, &mut |progress| progress.made >= progress.wanted) {
                Ok(made) => break assert!(made.complete),
                Err(DatasetError::Stopped { all: 7, .. }) => assert!(runs < 40),
                Err(other) => panic!("{other}"),
            }
        }
        same(&once, &stopped);

        let shared = root.path().join("shared");
        for share in ["2/3", "3/3", "1/3"] {
            let made = set.make(&shared, share.parse().unwrap(), 2, &mut |_| true).unwrap();
            assert_eq!(made.complete, share == "1/3");
        }
        same(&once, &shared);

        let single = root.path().join("single");
        set.make_shards(&single, &[6, 0, 3, 99], &|| true).unwrap();
        assert_eq!(set.missing(&single).unwrap(), [1, 2, 4, 5]);
        assert!(set.complete(&single).unwrap_err().to_string().contains("4 of 7 shards are missing"));
        set.make_shards(&single, &[1, 2, 4, 5], &|| true).unwrap();
        set.complete(&single).unwrap();
        same(&once, &single);
    }
}

/// The labels agree with the taxels: the force vectors sum to the wrench, taxels without contact read zero, and another
/// seed gives another touch.
#[test]
fn labels_are_those_of_the_touch() {
    let ours = set(&PRESSES.replace("FORMAT", "lerobot"));
    for index in 0..6 {
        let episode = ours.episode(index).unwrap();
        assert_eq!(episode, ours.episode(index).unwrap());
        assert_eq!(episode.label, [0, 0, 1][index % 3]);
        let observed = &episode.frames[1].sensors[0];
        let sum = |axis: usize| observed.forces_newton.iter().skip(axis).step_by(3).map(|f| f64::from(*f)).sum::<f64>();
        for axis in 0..3 {
            assert!(
                (sum(axis) - f64::from(observed.wrench[axis])).abs()
                    < 1e-4 * f64::from(observed.wrench[2].abs()).max(0.1)
            );
        }
        for (taxel, force) in observed.forces_newton.chunks(3).enumerate() {
            assert_eq!(observed.contact[taxel], force.iter().any(|f| *f != 0.0));
        }
        assert!(episode.frames[0].sensors[0].depth_m < observed.depth_m);
        assert_eq!(episode.frames[0].action[2], observed.pose[2] - episode.frames[0].sensors[0].pose[2]);
        assert_eq!(episode.drawn.len(), 4);
    }
    let other = set(&PRESSES.replace("FORMAT", "lerobot").replace("seed = 5", "seed = 6"));
    assert_ne!(ours.episode(0).unwrap().frames, other.episode(0).unwrap().frames);
    assert_ne!(ours.fingerprint(), other.fingerprint());
}

const LAYER: &str = r#"
name = "layer"
format = "webdataset"
count = 1
[[sensor]]
preset = "gelsight"
resolution = 0.125
skin.cell = "0.5 mm"
[[object]]
shape.sphere.radius = "4 mm"
[pose]
depth = "0.5 mm"
[scenario]
"#;

/// A ball on a gel is pressed, slid, twisted and rolled as described; friction grows with the distance, opposes the
/// motion, and stays within its limit.
#[test]
fn things_move_over_the_skin_as_said() {
    let play = |scenario: &str| set(&format!("{LAYER}{scenario}")).episode(0).unwrap().frames;
    let way = |frames: &[dermis::dataset::Frame]| {
        let (first, last) = (&frames[0].sensors[0].pose, &frames[frames.len() - 1].sensors[0].pose);
        [0, 1, 2].map(|axis| f64::from(last[axis] - first[axis]))
    };
    let slide = play("kind = \"slide\"\ndistance = \"0.4 mm\"\ndirection = \"90 deg\"\nframes = 5");
    assert_eq!(slide.len(), 5);
    let [x, y, z] = way(&slide);
    assert!(x.abs() < 1e-9 && (y - 0.4e-3).abs() < 1e-9 && z.abs() < 1e-9);
    let drag: Vec<f32> = slide.iter().map(|frame| frame.sensors[0].wrench[1]).collect();
    assert!(drag.windows(2).all(|pair| pair[1] > pair[0]), "{drag:?}");
    assert!(slide.iter().all(|frame| frame.sensors[0].wrench[1] <= -0.61 * frame.sensors[0].wrench[2]), "{drag:?}");
    let twist = play("kind = \"twist\"\nangle = \"10 deg\"\nframes = 4");
    assert!(way(&twist).iter().all(|part| part.abs() < 1e-9));
    assert!(
        twist[3].sensors[0].wrench[5] > 5.0 * twist[0].sensors[0].wrench[5].abs()
            && twist[3].sensors[0].wrench[5] > 0.0
    );
    let roll = play("kind = \"roll\"\nangle = \"20 deg\"\nradius = \"4 mm\"\nframes = 4");
    let [x, y, z] = way(&roll);
    let arc = 4e-3 * 20f64.to_radians();
    // A ball with flat faces stands slightly lower than a round one.
    assert!((x - arc).abs() < 2e-6 && y.abs() < 1e-9 && z.abs() < 2e-6, "{x} {arc} {y} {z}");
    // The force decreases as an edge leaves the gel.
    let scan = format!("{LAYER}kind = \"edge-scan\"\ndistance = \"30 mm\"\nframes = 5")
        .replace("shape.sphere.radius = \"4 mm\"", "shape.cuboid.size = [\"16 mm\", \"8 mm\", \"8 mm\"]");
    let scan = set(&scan).episode(0).unwrap().frames;
    let load = |frame: usize| -scan[frame].sensors[0].wrench[2];
    assert!(load(0) < load(1) && load(1) < load(2) && load(4) < load(3) && load(3) < load(2), "{}", load(0));
}

/// The contact in the image is at the ball: its area equals that of the touch to within a cell, and the image has the
/// requested size.
#[test]
fn images_come_with_where_they_are_touched() {
    let set = set(&format!("{LAYER}kind = \"press\""));
    assert_eq!(set.pixels(), Some((60, 80)));
    let episode = set.episode(0).unwrap();
    let observed = &episode.frames[0].sensors[0];
    let seen = observed.camera.as_ref().unwrap();
    assert_eq!(&seen.image_png[1..4], b"PNG");
    let pixel_mm = 0.0295 * 8.0;
    let radius_mm = (seen.contact.statistics(1).sum[0] * pixel_mm * pixel_mm / std::f64::consts::PI).sqrt();
    // Between Hertz's half-space (√(R d) = 1.41 mm) and a foundation of springs (√(2 R d) = 2 mm), with cells of
    // 0.5 mm.
    assert!((1.3..2.1).contains(&radius_mm), "{radius_mm}");
    let touched = observed.contact.iter().filter(|touched| **touched).count() as f64;
    assert!((touched.sqrt() / std::f64::consts::PI.sqrt() - radius_mm).abs() < 0.8, "{touched} mm²");
}

/// Presses beyond linear elasticity, and slopes beyond the data of the light, are said in the summary, also of a run that
/// finds them made, and in the files of the set.
#[test]
fn a_set_beyond_the_range_of_its_skin_or_light_says_so() {
    let array = "name = \"deep\"\nformat = \"parquet\"\ncount = 4\nshard = 2\n[[sensor]]\npreset = \"wts0614-layer\"\n\
                 [[object]]\nshape.sphere.radius = \"4 mm\"\n[pose]\ndepth = { uniform = [\"0.7 mm\", \"0.8 mm\"] }\n\
                 [scenario]\nkind = \"press\"\nframes = 2\n";
    let camera =
        array.replace("preset = \"wts0614-layer\"", "preset = \"gelsight\"\nresolution = 0.1\nlight.steepest = 0.2");
    for (text, words) in [(array, "the largest strain is"), (camera.as_str(), "`light.steepest`")] {
        let (set, root) = (set(text), tempfile::tempdir().unwrap());
        let out = root.path().join("out");
        let made = set.make(&out, Share::ALL, 1, &mut |_| true).unwrap();
        let said =
            made.warnings.iter().find(|warning| warning.text.contains(words)).unwrap_or_else(|| panic!("{made:?}"));
        assert_eq!((said.first, said.episodes), (0, 4), "{said}");
        let again = set.make(&out, Share::ALL, 1, &mut |_| true).unwrap();
        assert_eq!((again.found, &again.warnings), (4, &made.warnings));
        for file in ["dataset.json", "README.md"] {
            assert!(std::fs::read_to_string(out.join(file)).unwrap().contains(words), "{file}");
        }
    }
    let within = set(&array.replace("\"0.7 mm\", \"0.8 mm\"", "\"0.1 mm\", \"0.2 mm\""));
    assert!(within.episode(0).unwrap().warnings.iter().all(|warning| warning.kind != "BeyondLinear"));
}

/// A grasp with enough force holds and one with too little slips; both record all frames.
#[test]
#[ignore = "slow: cargo xtask validate slow"]
fn grasps_hold_or_slip() {
    let text = |force: &str| {
        format!(
            "name = \"grasps\"\nformat = \"lerobot\"\ncount = 1\nsensor = [{{ preset = \"uji-foam-14x6\", \
             skin.friction.sigma0 = \"300 N/m\", skin.friction.sigma1 = \"0.5 N s/m\" }}]\n\
             object = [{{ shape.cuboid.size = [\"30 mm\", \"20 mm\", \"40 mm\"] }}]\npose.force = \"{force}\"\n\
             scenario = {{ kind = \"grasp-and-lift\", mass = \"100 g\", frames = 36, time_step = \"0.25 ms\" }}\n"
        )
    };
    // A finger carries μ_d F = 0.23 F: a weight of 0.49 N per finger needs 1.1 N with static and 2.1 N with dynamic
    // friction.
    let strong = set(&text("4 N")).episode(0).unwrap();
    let weak = set(&text("0.6 N")).episode(0).unwrap();
    let (held, slipped) = (strong.grasp.unwrap(), weak.grasp.unwrap());
    assert!(held.stable && held.slip_m < 1e-3, "{held:?}");
    assert!(!slipped.stable, "{slipped:?}");
    for episode in [&strong, &weak] {
        assert_eq!(episode.frames.len(), 36);
        assert!(episode.frames.iter().all(|frame| frame.sensors.len() == 2));
    }
    let last = &strong.frames[35];
    let up: f32 = last.sensors.iter().map(|observed| observed.wrench[1].abs()).sum();
    // Rows run downwards, so gravity pulls along −y: both fingers carry 100 g.
    assert!((up - 0.981).abs() < 0.05, "{up}");
}

/// Draws one number of every stage of a response, of the camera, the light and the skin: each changes only its own part
/// of the report. The motion is a slide, because hysteresis acts on unloading.
#[test]
fn every_stage_can_be_drawn() {
    let spec = |randomise: &str| {
        format!(
            r#"
name = "stages"
format = "webdataset"
count = 2
[[sensor]]
preset = "uji-foam-14x6"
[sensor.response]
force_per_count = "0.5 mN"
bits = 12
quantised = true
spread = {{ sigma_taxels = 0.5 }}
hysteresis = {{ fraction = 0.05 }}
creep = [{{ amplitude = 0.1, time = "0.1 s" }}]
ageing = {{ loss_by_time = 0.1, time = "1 s" }}
gain = {{ gain_sd = 0.1 }}
threshold = {{ force = "1 mN" }}
curve = {{ kind = "linear", slope = 0.9 }}
saturation = {{ force = "80 mN" }}
crosstalk = {{ adjacent = 0.01 }}
noise = {{ sd = "1 mN" }}
faults = {{ dead = [38] }}
sampling = {{ rate = "20 Hz" }}
delay = {{ time = "10 ms" }}
[[object]]
shape.sphere = {{ radius = "15 mm", edge = "1 mm" }}
[pose]
depth = "4 mm"
[scenario]
kind = "slide"
distance = "12 mm"
direction = "90 deg"
frames = 6
{randomise}"#
        )
    };
    let frames = |text: &str| set(&spec(text)).episode(1).unwrap().frames;
    let base = frames("");
    for (key, value) in [
        ("response.force_per_count", "\"3 mN\""),
        ("response.bits", "6"),
        ("response.spread.sigma_taxels", "{ uniform = [0.9, 1.2] }"),
        ("response.hysteresis.fraction", "{ uniform = [0.2, 0.3] }"),
        ("response.creep.0.amplitude", "{ uniform = [0.4, 0.5] }"),
        ("response.ageing.loss_by_time", "{ uniform = [0.6, 0.9] }"),
        ("response.gain.gain_sd", "{ normal = [0.3, 0.05] }"),
        ("response.threshold.force", "{ uniform = [\"5 mN\", \"10 mN\"] }"),
        ("response.curve.slope", "{ values = [0.5, 0.6] }"),
        ("response.saturation.force", "{ uniform = [\"20 mN\", \"30 mN\"] }"),
        ("response.crosstalk.adjacent", "{ uniform = [0.1, 0.2] }"),
        ("response.noise.sd", "{ uniform = [\"3 mN\", \"5 mN\"] }"),
        ("response.faults.dead.0", "{ values = [44, 45] }"),
        ("response.sampling.rate", "\"11 Hz\""),
        ("response.delay.time", "{ uniform = [\"70 ms\", \"90 ms\"] }"),
    ] {
        let drawn = frames(&format!("[[randomise]]\nkey = \"{key}\"\nvalue = {value}\n"));
        let reported = |frames: &[dermis::dataset::Frame]| {
            frames.iter().flat_map(|frame| frame.sensors[0].reported_newton.clone()).collect::<Vec<f32>>()
        };
        assert_ne!(reported(&base), reported(&drawn), "{key}");
        let observed = |frames: &[dermis::dataset::Frame]| {
            frames.iter().flat_map(|frame| frame.sensors[0].forces_newton.clone()).collect::<Vec<f32>>()
        };
        assert_eq!(observed(&base), observed(&drawn), "{key}");
    }
    let seen = |randomise: &str| {
        let text = format!("{LAYER}kind = \"press\"\n{randomise}");
        set(&text).episode(0).unwrap().frames[0].sensors[0].camera.as_ref().unwrap().levels.clone()
    };
    let base = seen("");
    for (key, value) in [
        ("camera.exposure", "scale = { uniform = [0.5, 0.8] }"),
        ("camera.vignetting", "value = 0.3"),
        ("camera.noise.read_levels", "value = { uniform = [5.0, 9.0] }"),
        ("light.levels.0.0", "scale = 1.5"),
        ("skin.thickness", "scale = { uniform = [0.5, 0.7] }"),
    ] {
        assert_ne!(base, seen(&format!("[[randomise]]\nkey = \"{key}\"\n{value}\n")), "{key}");
    }
}

#[test]
fn what_cannot_be_is_told_in_one_sentence() {
    let good = PRESSES.replace("FORMAT", "lerobot");
    let message = |from: &str, to: &str| {
        assert!(good.contains(from), "{from}");
        Dataset::parse("my.toml", &good.replacen(from, to, 1), None).err().unwrap().to_string()
    };
    for (from, to, said) in [
        ("count = 26", "count = 0", "`count` must be at least 1"),
        ("depth = { uniform = [\"0.5 mm\", \"4 mm\"] }", "", "exactly one of `depth` and `force`"),
        ("[\"0.5 mm\", \"4 mm\"]", "[\"0.5\", \"4\"]", "no unit"),
        ("kind = \"press\"", "kind = \"prod\"", "prod"),
        ("frames = 2", "frames = 2\nspeed = 3", "speed"),
        ("preset = \"uji-foam-14x6\"", "preset = \"uji\"", "there is no sensor \"uji\""),
        ("key = \"skin.stiffness\"", "key = \"skin.stifness\"", "stifness"),
        ("value = 0.05", "value = \"5 mm\"", "response.gain.gain_sd"),
        ("name = \"presses\"", "name = \"a/b\"", "letters, digits"),
        ("copies = 2", "copies = 0", "`object.copies` must be at least 1"),
        ("shape.cuboid.size = [\"12 mm\", \"12 mm\", \"12 mm\"]", "folder = \"nowhere\"", "nowhere"),
        ("key = \"response.gain.seed\"", "key = \"response.gain.gain_sd\"", "twice"),
        ("depth = {", "mu = 0.5\ndepth = {", "layer only"),
    ] {
        let said_so = message(from, to);
        assert!(said_so.contains(said) && said_so.contains("my.toml") && !said_so.contains('\n'), "{to}: {said_so}");
    }
    let deep = set(&good.replace("[\"0.5 mm\", \"4 mm\"]", "[\"30 mm\", \"40 mm\"]"));
    let message = deep.episode(0).unwrap_err().to_string();
    assert!(
        message.contains("episode 0 (object \"ball\", sensor \"uji-foam-14x6\")") && message.contains("12 mm"),
        "{message}"
    );
}

#[test]
fn another_set_or_other_files_are_not_overwritten() {
    let root = tempfile::tempdir().unwrap();
    let text = PRESSES.replace("FORMAT", "webdataset").replace("count = 26", "count = 2");
    set(&text).make(root.path(), Share::ALL, 1, &mut |_| true).unwrap();
    let other = set(&text.replace("seed = 5", "seed = 9"));
    assert!(
        other.make(root.path(), Share::ALL, 1, &mut |_| true).unwrap_err().to_string().contains("another data set")
    );
    // A truncated file is made again; the hash detects a modified file.
    let shard = root.path().join("shard-000000.tar");
    let whole = std::fs::read(&shard).unwrap();
    std::fs::write(&shard, &whole[..1000]).unwrap();
    set(&text).make(root.path(), Share::ALL, 1, &mut |_| true).unwrap();
    assert_eq!(std::fs::read(&shard).unwrap(), whole);
    let mut wrong = whole;
    wrong[600] ^= 1;
    std::fs::write(&shard, wrong).unwrap();
    assert!(check(root.path()).unwrap_err().to_string().contains("shard-000000.tar"));
    let strange = tempfile::tempdir().unwrap();
    std::fs::write(strange.path().join("thesis.tex"), b"years of work").unwrap();
    let message = set(&text).make(strange.path(), Share::ALL, 1, &mut |_| true).unwrap_err().to_string();
    assert!(message.contains("not of this data set"), "{message}");
}

/// LeRobot's training code normalises every observation, wants images of one shape, and an image or an environment state.
#[test]
fn lerobot_sets_have_the_inputs_that_policies_need() {
    let root = tempfile::tempdir().unwrap();
    let made = |name: &str, text: &str| {
        let folder = root.path().join(name);
        set(text).make(&folder, Share::ALL, 2, &mut |_| true).unwrap();
        let json = |file: &str| -> serde_json::Value {
            serde_json::from_str(&std::fs::read_to_string(folder.join(file)).unwrap()).unwrap()
        };
        let readme = std::fs::read_to_string(folder.join("README.md")).unwrap();
        assert!(readme.starts_with("---\n") && readme.contains("data_files: \"data/*/*.parquet\""), "{readme}");
        (json("meta/info.json")["features"].clone(), json("meta/stats.json"))
    };
    let (features, stats) = made("array", &PRESSES.replace("FORMAT", "lerobot"));
    assert_eq!(features["observation.contact"]["dtype"], "float32");
    assert_eq!(features["observation.environment_state"]["shape"], serde_json::json!([84]));
    for (name, feature) in features.as_object().unwrap() {
        let is_observation = name.starts_with("observation.");
        assert!(!is_observation || feature["dtype"] == "float32", "{name}: {feature}");
        let of = |key: &str| -> Vec<f64> {
            let flat = |value: &serde_json::Value| match value {
                serde_json::Value::Array(list) => list.iter().map(|entry| entry.as_f64().unwrap()).collect(),
                other => vec![other.as_f64().unwrap()],
            };
            stats[name][key].as_array().unwrap().iter().flat_map(flat).collect()
        };
        let ordered = ["min", "q01", "q10", "q50", "q90", "q99", "max"].map(of);
        for pair in ordered.windows(2) {
            assert!(pair[0].iter().zip(&pair[1]).all(|(low, high)| low <= high), "{name}: {pair:?}");
        }
    }
    let (features, stats) = made(
        "images",
        "name = \"images\"\nformat = \"lerobot\"\ncount = 2\nsensor = [{ preset = \"gelsight\", resolution = 0.1 }]\n\
         object = [{ shape.sphere.radius = \"4 mm\" }]\npose.depth = \"0.5 mm\"\nscenario.kind = \"press\"\n",
    );
    let shape = |name: &str| features[format!("observation.images.{name}")]["shape"].clone();
    assert_eq!(shape("tactile"), shape("contact"));
    assert_eq!(stats["observation.images.contact"]["max"], serde_json::json!([[[1.0]], [[1.0]], [[1.0]]]));
    assert!(features.get("observation.environment_state").is_none());
}

/// Draws of every kind: seeds and counts are integers, scales and values are not.
const DRAWN: &str = r#"
name = "drawn"
format = "FORMAT"
count = 200
shard = 100
materials = 3
sensor = [{ preset = "uji-foam-14x6", response = { faults = { dead = [38] } } }]
object = [{ shape.sphere = { radius = "10 mm", edge = "1 mm" } }]
pose = { depth = "2 mm" }
scenario.kind = "press"
[[randomise]]
key = "response.gain.seed"
seed = true
[[randomise]]
key = "response.gain.gain_sd"
value = { uniform = [0.1, 0.2] }
[[randomise]]
key = "skin.stiffness"
scale = { uniform = [0.8, 1.2] }
[[randomise]]
key = "response.threshold.force"
value = { uniform = ["0.1 mN", "1 mN"] }
[[randomise]]
key = "response.faults.dead.0"
value = { values = [44, 45] }
"#;

/// `drawn` was a list of 32-bit floats, in which 197 of 200 seeds were wrong. Sensors built from the table, which has a
/// column per key, read what the table says.
#[test]
fn sensors_rebuilt_from_drawn_columns_read_the_same() {
    let root = tempfile::tempdir().unwrap();
    let set = set(&DRAWN.replace("FORMAT", "parquet"));
    set.make(root.path(), Share::ALL, 2, &mut |_| true).unwrap();
    let text = |file: &str| std::fs::read_to_string(root.path().join(file)).unwrap();
    let about: serde_json::Value = serde_json::from_str(&text("dataset.json")).unwrap();
    let base: serde_json::Value = dermis::sensor::parse_toml("0.toml", &text("sensors/0.toml")).unwrap();
    let ball = dermis::geometry::Primitive::Sphere { radius_m: 10e-3 };
    let object = dermis::skin::Object::of_primitive(ball, 1e-3).unwrap();
    let mut rows = 0;
    for shard in 0..2 {
        let bytes = std::fs::read(root.path().join(format!("data/{shard:06}.parquet"))).unwrap();
        let columns = dermis::record::table::read_columns(bytes).unwrap();
        let numbers = |name: &str| match &columns.iter().find(|column| column.name == name).unwrap().values {
            dermis::record::table::ReadValues::Numbers(numbers) => numbers.clone(),
            other => panic!("{other:?}"),
        };
        let tactile = numbers("observation.tactile");
        for row in 0..100 {
            let mut description = base.clone();
            for column in about["columns"].as_array().unwrap() {
                let Some(key) = column["name"].as_str().unwrap().strip_prefix("drawn.") else { continue };
                let number = numbers(&format!("drawn.{key}"))[row];
                let path = format!("/{}", key.replace('.', "/"));
                let value = match (key, column["dtype"].as_str().unwrap()) {
                    (_, "int64") => serde_json::json!(number as i64),
                    ("skin.stiffness", "float64") => serde_json::json!(format!("{number} N/m")),
                    ("response.threshold.force", "float64") => serde_json::json!(format!("{number} mN")),
                    (_, "float64") => serde_json::json!(number),
                    (_, other) => panic!("{key}: {other}"),
                };
                set_at(&mut description, &path, value);
            }
            let spec: dermis::sensor::SensorSpec = serde_json::from_value(description).unwrap();
            let sensor = spec.build(None).unwrap();
            let goal = dermis::sensor::Goal::Depth(2e-3);
            let pressed = dermis::sensor::press(&sensor, &object, &dermis::sensor::Aim::default(), goal).unwrap();
            let each = sensor.taxels().len();
            for (ours, theirs) in pressed.reading.reported_newton.iter().zip(&tactile[row * each..]) {
                assert!((ours - theirs).abs() < 1e-6 * theirs.abs() + 1e-9, "row {row}: {ours} and {theirs} N");
            }
            rows += 1;
        }
    }
    assert_eq!(rows, 200);
}

/// Sets the entry at a JSON pointer; missing tables are made.
fn set_at(place: &mut serde_json::Value, path: &str, value: serde_json::Value) {
    let mut place = place;
    for part in path.split('/').skip(1) {
        place = match part.parse::<usize>() {
            Ok(index) => &mut place[index],
            Err(_) => &mut place[part],
        };
    }
    *place = value;
}

/// Every format has the drawn numbers to the last bit, integers as integers.
#[test]
fn every_format_has_exact_drawn_numbers() {
    for format in ["parquet", "lerobot", "webdataset", "robomimic"] {
        let root = tempfile::tempdir().unwrap();
        let set = set(&DRAWN.replace("FORMAT", format).replace("count = 200", "count = 6"));
        set.make(root.path(), Share::ALL, 1, &mut |_| true).unwrap();
        let all = contents(root.path());
        let data: Vec<&Vec<u8>> = all
            .iter()
            .filter(|(name, _)| name.starts_with("data/") || name.starts_with("shard-"))
            .map(|(_, bytes)| bytes)
            .collect();
        let has = |wanted: &[u8]| data.iter().any(|bytes| bytes.windows(wanted.len()).any(|part| part == wanted));
        for index in 0..6 {
            let episode = set.episode(index).unwrap();
            for (randomise, &value) in set.randomised().into_iter().zip(&episode.drawn) {
                let found = match (format, randomise.is_integer()) {
                    ("webdataset", true) => has(format!("\"{}\":{}", randomise.key, value as i64).as_bytes()),
                    ("webdataset", false) => {
                        has(format!("\"{}\":{}", randomise.key, serde_json::json!(value)).as_bytes())
                    }
                    (_, true) => has(&(value as i64).to_le_bytes()),
                    (_, false) => has(&value.to_le_bytes()),
                };
                assert!(found, "{format}: {} = {value} of episode {index}", randomise.key);
            }
        }
    }
}
