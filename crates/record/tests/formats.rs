//! Every format returns the recorded values.

mod common;

use common::{FORMATS, layout, sample};
use dermis_record::{Format, Log, Recorder};
use std::path::Path;

fn recorded(folder: &Path, format: Format, name: &str) -> Log {
    let path = folder.join(name);
    let mut recorder: Recorder = format.record(&path, &layout()).unwrap();
    for step in 0..40 {
        recorder.record(sample(f64::from(step) * 0.05, step % 2 == 0)).unwrap();
    }
    assert_eq!(recorder.finish().unwrap(), std::slice::from_ref(&path));
    Log::read(&path).unwrap()
}

#[test]
fn numbers_and_images_survive() {
    let folder = tempfile::tempdir().unwrap();
    for (name, format, file) in FORMATS {
        let log = recorded(folder.path(), format, file);
        assert!(!log.cut, "{name}");
        // A bag stores single precision and lacks the signals `reported_n`, `raw` and `sum_n`.
        let (signals, most_off) = match format {
            Format::Png => (&[][..], 0.0),
            Format::Ros2 => (&["force_n", "torque_nm", "taxels_n", "position_m", "orientation_wxyz"][..], 1e-7),
            _ => (
                &["force_n", "torque_nm", "taxels_n", "position_m", "orientation_wxyz", "reported_n", "raw", "sum_n"][..],
                0.0,
            ),
        };
        for (sensor, frame) in ["pad", "finger_tip"].into_iter().enumerate() {
            for signal in signals {
                let found =
                    log.signal(&format!("{frame}/{signal}")).unwrap_or_else(|| panic!("{name}: {frame}/{signal}"));
                assert_eq!(found.times_s.len(), 40, "{name}: {frame}/{signal}");
                for (i, time) in found.times_s.iter().enumerate() {
                    assert!((time - i as f64 * 0.05).abs() < 1e-9, "{name}: {time}");
                    let sensor = &sample(i as f64 * 0.05, false).sensors[sensor];
                    let truth: Vec<f64> = match *signal {
                        "force_n" => sensor.force_newton.to_array().to_vec(),
                        "torque_nm" => sensor.torque_newton_m.to_array().to_vec(),
                        "taxels_n" => sensor.reading.values_newton.clone(),
                        "reported_n" => sensor.reading.reported_newton.clone(),
                        "raw" => sensor.reading.raw.iter().map(|raw| f64::from(*raw)).collect(),
                        "sum_n" => vec![sensor.reading.sum_newton],
                        "position_m" => sensor.world_from_sensor.translation.to_array().to_vec(),
                        _ => {
                            let q = sensor.world_from_sensor.rotation;
                            vec![q.w, q.x, q.y, q.z]
                        }
                    };
                    let off = found.row(i).iter().zip(&truth).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                    assert!(found.width == truth.len() && off <= most_off, "{name}: {frame}/{signal}: off by {off}");
                }
            }
            for image in ["camera", "tactile"] {
                let found = log.images(&format!("{frame}/{image}")).unwrap_or_else(|| panic!("{name}: {image}"));
                assert_eq!(found.files.len(), 20, "{name}: {frame}/{image}");
                let levels = dermis_sensor::metrics::ChannelImage::from_png("p", &found.files[7]).unwrap();
                assert_eq!((levels.width(), levels.height(), levels.channels()[0][0]), (8, 6, 70.0), "{name}");
            }
        }
        if format != Format::Png {
            assert_eq!(log.signal("ball/position_m").unwrap().row(10), [0.0, 0.0, 1.0], "{name}");
        }
    }
    // No temporary files remain.
    let mut left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["arrays", "bag.mcap", "images", "run.mcap", "run.parquet"]);
}

#[test]
fn places_that_cannot_be_are_refused_in_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let refused =
        |format: Format, name: &str| format.record(&folder.path().join(name), &layout()).unwrap_err().to_string();
    std::fs::write(folder.path().join("file"), "x").unwrap();
    std::fs::create_dir(folder.path().join("full")).unwrap();
    std::fs::write(folder.path().join("full/x"), "x").unwrap();
    std::fs::create_dir(folder.path().join("a.parquet.parts")).unwrap();
    for (format, name, words) in [
        (Format::Mcap, "a.txt", "ends in `.mcap`"),
        (Format::Npy, "a.mcap", "a folder"),
        (Format::Mcap, "file/a.mcap", "cannot be written"),
        (Format::Npy, "full", "not empty"),
        (Format::Png, "file", "cannot be written"),
        (Format::Parquet, "a.parquet", "interrupted run"),
    ] {
        let message = refused(format, name);
        assert!(message.contains(words) && message.lines().count() == 1, "{message}");
    }
    assert!(Format::of_path(Path::new("a.bag")).unwrap_err().to_string().contains(".mcap"));
    for (name, text, words) in [
        ("a.mcap", "nonsense", "no MCAP file"),
        ("a.parquet", "nonsense", "does not start and end"),
        ("a.csv", "x,y\n1,2\n", "no `time_s`"),
        ("b.csv", "time_s,y\n1,two\n", "line 2, column `y`: \"two\""),
        ("a.bag", "x", "`.mcap`"),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let message = Log::read(&path).unwrap_err().to_string();
        assert!(message.contains(words) && message.contains(name), "{message}");
    }
    assert!(Log::read(&folder.path().join("nowhere.mcap")).unwrap_err().to_string().contains("cannot be read"));
    assert!(Log::read(&folder.path().join("full")).unwrap_err().to_string().contains("there are x"));
}

/// A full disk or a removed folder ends the recording with an error that states the reason.
#[test]
fn what_happens_on_the_way_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gone/run");
    let mut recorder = Format::Png.record(&path, &layout()).unwrap();
    std::fs::remove_dir_all(folder.path().join("gone")).unwrap();
    std::fs::write(folder.path().join("gone"), "in the way").unwrap();
    let outcome = (0..1000).try_for_each(|step| recorder.record(sample(f64::from(step), true)));
    let message = outcome.and_then(|()| recorder.finish().map(drop)).unwrap_err().to_string();
    assert!(message.contains("cannot be written"), "{message}");
}

/// Reads files of another recorder, in each compression; `foreign/make.py` wrote them.
#[test]
fn what_others_have_recorded_is_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/foreign");
    for name in ["none", "lz4", "zstd"] {
        let log = Log::read(&folder.join(format!("{name}.mcap"))).unwrap();
        assert!(!log.cut, "{name}");
        let names: Vec<&str> = log.signals.iter().map(|signal| signal.name.as_str()).collect();
        assert_eq!(names, ["touch/cells", "touch/force/z"], "{name}");
        let force = log.signal("touch/force/z").unwrap();
        assert_eq!((force.times_s.len(), force.row(49)), (50, &[-24.5][..]), "{name}");
        assert_eq!(log.signal("touch/cells").unwrap().row(7), [7.0, 8.0, 9.0]);
        assert!((force.times_s[1] - force.times_s[0] - 0.02).abs() < 1e-6);
    }
}
