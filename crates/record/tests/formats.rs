//! Every format returns the recorded values.

mod common;

use common::{FORMATS, layout, sample};
use dermis_record::{ExportFormat, Format, Log, Recorder, export};
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
    assert_eq!(left, ["arrays", "bag", "images", "run.mcap", "run.parquet"]);
}

/// Every sample of both sensors has the warning of its skin in it.
#[test]
fn warnings_are_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    for (name, format, file) in FORMATS {
        recorded(folder.path(), format, file);
        let path = folder.path().join(file);
        let words = b"a warning";
        let holds = |bytes: &[u8]| bytes.windows(words.len()).any(|part| part == words);
        let count = match format {
            Format::Mcap | Format::Ros2 => {
                let bag = || std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path());
                let is_mcap = |path: &std::path::PathBuf| path.extension().is_some_and(|end| end == "mcap");
                let file = if path.is_dir() { bag().find(is_mcap).unwrap() } else { path.clone() };
                let log = dermis_record::mcap::McapLog::read(&file).unwrap();
                log.messages.iter().filter(|message| holds(&message.data)).count()
            }
            Format::Parquet => {
                let columns = dermis_record::table::read_columns(std::fs::read(&path).unwrap()).unwrap();
                let column = columns.iter().find(|column| column.name == "warnings").unwrap();
                let dermis_record::table::ReadValues::Bytes(texts) = &column.values else { panic!("texts") };
                texts.iter().filter(|text| holds(text)).count()
            }
            _ => std::fs::read_to_string(path.join("warnings.txt")).unwrap().lines().count(),
        };
        assert_eq!(count, 2 * 40, "{name}");
    }
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
        (Format::Ros2, "a.mcap", "a folder"),
        (Format::Mcap, "file/a.mcap", "is a file; name a folder"),
        (Format::Npy, "full", "not empty"),
        (Format::Png, "file", "is a file; name a folder"),
        (Format::Parquet, "a.parquet", "interrupted run"),
    ] {
        let message = refused(format, name);
        assert!(message.contains(words) && message.lines().count() == 1, "{message}");
    }
    assert!(Format::of_path(Path::new("a.bag")).unwrap_err().to_string().contains(".mcap"));
    for (name, text, words) in [
        ("a.mcap", "nonsense", "no MCAP file"),
        ("a.parquet", "nonsense", "Corrupt footer"),
        ("a.csv", "x,y\n1,2\n", "no `time_s`"),
        ("b.csv", "time_s,y\n1,two\n", "line 2, column `y`: \"two\""),
        ("a.bag", "x", "`.mcap`"),
        (
            "a.db3",
            "nonsense, and longer than the header of a file of SQLite: 0123456789 0123456789 0123456789 0123456789",
            "bag of ROS 2",
        ),
        ("b.db3", "", "no tables `topics` and `messages`"),
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
    assert!(message.contains("is a file; name a folder"), "{message}");
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

/// Protobuf messages are decoded by the descriptors in the file; absent numbers are zero. `foreign/make_protobuf.py` wrote it.
#[test]
fn protobuf_of_others_is_read_by_its_descriptors() {
    let log = Log::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/foreign/protobuf.mcap")).unwrap();
    assert!(log.notes.is_empty(), "{:?}", log.notes);
    assert_eq!(log.signal("left_pad/position_m").unwrap().row(3), [0.0, 0.0, -1.5]);
    assert_eq!(log.signal("left_pad/orientation_wxyz").unwrap().row(3), [1.0, 0.0, 0.0, 0.0]);
    let ranges = log.signal("scan/ranges").unwrap();
    assert!(ranges.row(2)[..2] == [1.0, 0.0] && ranges.row(2)[2].is_nan() && ranges.row(2)[3] == 8.0);
    assert_eq!(log.signal("scan/start_angle").unwrap().row(0), [-1.0]);
    assert_eq!(log.signal("scan/end_angle").unwrap().row(0), [0.0]);
    assert_eq!(log.signal("scan/pose/position").unwrap().row(4), [3.0, 0.0, 0.0]);
    let image = &log.images("camera").unwrap().files[4];
    let levels = dermis_sensor::metrics::ChannelImage::from_png("p", image).unwrap();
    assert_eq!((levels.width(), levels.height(), levels.channels()[0][0]), (2, 1, 4.0));
}

/// Reads tables as pyarrow and polars write them by default; `foreign/make_parquet.py` wrote them.
#[test]
fn parquet_of_others_is_read_with_compression_dictionaries_and_nulls() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/foreign");
    for name in ["snappy", "gzip-v2", "zstd"] {
        let log = Log::read(&folder.join(format!("{name}.parquet"))).unwrap();
        let load = log.signal("load_n").unwrap();
        assert_eq!((load.times_s.len(), load.times_s[2], load.row(2)), (32, 0.03, &[1.5][..]), "{name}");
        let count = log.signal("count").unwrap();
        assert_eq!((count.times_s.len(), count.times_s[3], count.row(3)), (39, 0.04, &[1.0][..]), "{name}");
        let cells = log.signal("cells").unwrap();
        assert_eq!((cells.width, cells.times_s.len()), (3, 39), "{name}");
        assert!(cells.row(6)[0] == 7.0 && cells.row(6)[1].is_nan() && cells.row(6)[2] == 2.0, "{name}");
    }
}

/// Damaged files and files that claim more than they hold, as found by fuzzing, give errors within a bounded time.
#[test]
fn damaged_parquet_gives_an_error() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/damaged");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "parquet") {
            let start = std::time::Instant::now();
            let message = Log::read(&path).unwrap_err().to_string();
            assert!(start.elapsed().as_secs() < 20, "{message}");
            println!("{message}");
        }
    }
}

/// Chunks that unpack to gigabytes and chunks in chunks are reported within a bounded time and memory.
#[test]
fn mcap_bombs_are_refused() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/damaged");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "mcap") {
            let start = std::time::Instant::now();
            match Log::read(&path) {
                Ok(log) => assert!(log.damaged > 0 || log.cut || log.signals.is_empty(), "{}", path.display()),
                Err(error) => println!("{error}"),
            }
            assert!(start.elapsed().as_secs() < 20, "{}", path.display());
        }
    }
}

/// Names with commas, quotes, line breaks, places and no owner, signals of unequal length, NaN and times that repeat.
#[test]
fn an_exported_table_reads_back_as_it_was() {
    use dermis_record::mcap::{Channel, McapWriter};
    let folder = tempfile::tempdir().unwrap();
    let from = folder.path().join("odd.mcap");
    let topics = [
        "plain",
        "a/b",
        "/a,b",
        "say \"hi\"",
        "two\nlines",
        "v.0",
        "v.1",
        "fx_n",
        "body",
        "t3_n",
        " a/b ",
        "x/y.7",
        "#",
    ];
    let channel =
        |topic: &&str| Channel { topic: (*topic).into(), encoding: "json".into(), schema: None, metadata: vec![] };
    let mut writer = McapWriter::create(&from, "", vec![], topics.iter().map(channel).collect(), &[]).unwrap();
    for (i, time) in [0u64, 2, 1, 1, 5].into_iter().enumerate() {
        for place in 0..topics.len() {
            let numbers: Vec<f64> = (0..1 + (i * place) % 3).map(|k| 0.1 * (i + place + k) as f64).collect();
            let text = if place % 2 == 0 { numbers[0].to_string() } else { format!("{numbers:?}") };
            writer.add(place, time * 1_000_000, text.as_bytes()).unwrap();
        }
    }
    writer.finish().unwrap();
    let log = Log::read(&from).unwrap();
    assert_eq!(log.signals.len(), topics.len());
    for name in ["out.csv", "out.parquet"] {
        let to = folder.path().join(name);
        let made = export(&from, &to, ExportFormat::of_path(&to).unwrap()).unwrap();
        assert_eq!(made.times, 5);
        let back = Log::read(&to).unwrap();
        for signal in &log.signals {
            let found = back.signal(&signal.name).unwrap_or_else(|| panic!("{name}: {:?}", signal.name));
            assert_eq!((found.width, &found.times_s), (signal.width, &signal.times_s), "{name}: {:?}", signal.name);
            let same = found
                .values
                .iter()
                .zip(&signal.values)
                .all(|(a, b)| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan());
            assert!(same, "{name}: {:?}", signal.name);
        }
    }
}

/// A recording neither replaces a file nor mixes with another that is in progress.
#[test]
fn a_place_is_written_by_one_recording_only() {
    let folder = tempfile::tempdir().unwrap();
    for (name, format, file) in FORMATS {
        let path = folder.path().join(file);
        let mut first = format.record(&path, &layout()).unwrap();
        first.record(sample(0.0, true)).unwrap();
        for second in [format.record(&path, &layout()), format.record_over(&path, &layout())] {
            let message = second.unwrap_err().to_string();
            assert!(message.contains("exists") || message.contains("another program"), "{name}: {message}");
        }
        first.finish().unwrap();
        assert!(Log::read(&path).is_ok(), "{name}");
        let message = format.record(&path, &layout()).unwrap_err().to_string();
        let is_file = path.is_file();
        assert!(message.contains(if is_file { "--overwrite" } else { "not empty" }), "{name}: {message}");
        if is_file {
            let mut third = format.record_over(&path, &layout()).unwrap();
            third.record(sample(7.0, false)).unwrap();
            third.finish().unwrap();
            assert_eq!(Log::read(&path).unwrap().signal("pad/taxels_n").unwrap().times_s, [7.0], "{name}");
        }
    }
}

/// A bag of ROS 2 is a folder of numbered files, split by size or time, beside `metadata.yaml`, which counts the messages.
#[test]
fn a_bag_is_a_folder_with_its_description() {
    let folder = tempfile::tempdir().unwrap();
    let bag = folder.path().join("bag");
    std::fs::create_dir(&bag).unwrap();
    for (part, start) in [(2, 0), (10, 10)] {
        let path = folder.path().join(format!("part {part}"));
        let mut recorder = Format::Ros2.record(&path, &layout()).unwrap();
        (start..start + 10).for_each(|step| recorder.record(sample(f64::from(step) * 0.1, false)).unwrap());
        recorder.finish().unwrap();
        let about = std::fs::read_to_string(path.join("metadata.yaml")).unwrap();
        // Transforms, and wrench, taxels and a warning of two sensors.
        for line in [
            "  message_count: 70\n".to_owned(),
            format!("  starting_time:\n    nanoseconds_since_epoch: {}\n", start * 100_000_000),
            "        name: /pad/wrench\n        type: geometry_msgs/msg/WrenchStamped\n".to_owned(),
            format!("  relative_file_paths:\n    - \"part {part}_0.mcap\"\n"),
        ] {
            assert!(about.contains(&line), "{line} in {about}");
        }
        std::fs::rename(path.join(format!("part {part}_0.mcap")), bag.join(format!("bag_{part}.mcap"))).unwrap();
    }
    let log = Log::read(&bag).unwrap();
    assert_eq!(log.signal("pad/force_n").unwrap().times_s.len(), 20);
    assert!(log.notes.is_empty(), "{:?}", log.notes);
}

/// `foreign/make_bag.py` wrote the bag. Its own type is decoded by the definition in the file, and named if there is none.
#[test]
fn bags_in_sqlite_are_read_and_unknown_types_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let foreign = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/foreign/bag.db3");
    std::fs::create_dir(folder.path().join("bag")).unwrap();
    let bag = folder.path().join("bag/bag_0.db3");
    std::fs::copy(&foreign, &bag).unwrap();
    let log = Log::read(&bag).unwrap();
    assert!(log.notes.is_empty(), "{:?}", log.notes);
    assert_eq!(log.signal("touch/load").unwrap().values, [0.0, 1.0, 2.0, 3.0, 4.0]);
    rusqlite::Connection::open(&bag).unwrap().execute_batch("DROP TABLE message_definitions").unwrap();
    let log = Log::read(&folder.path().join("bag")).unwrap();
    assert!(log.damaged == 0 && log.notes.len() == 1, "{:?}", log.notes);
    assert!(log.notes[0].contains("5 messages of /touch (their_msgs/msg/Touch)"), "{:?}", log.notes);
    assert_eq!(log.signal("touch/load"), None);
    assert_eq!(log.signal("pad/force_n").unwrap().row(3), [0.0, 0.5, -3.0]);
    assert_eq!(log.signal("imu/orientation").unwrap().row(1), [0.0, 0.0, 0.6, 0.8]);
    assert_eq!(log.signal("imu/angular_velocity").unwrap().row(2), [0.1, 0.2, 0.3 * 2.0]);
    assert_eq!(log.signal("joint_states/position").unwrap().row(4), [4.0, 8.0]);
    let times_s = &log.signal("joint_states/effort").unwrap().times_s;
    assert!(times_s.len() == 5 && (times_s[1] - times_s[0] - 0.1).abs() < 1e-6);
    let image = &log.images("camera").unwrap().files[4];
    let levels = dermis_sensor::metrics::ChannelImage::from_png("p", image).unwrap();
    assert_eq!((levels.width(), levels.height(), levels.channels()[0][0]), (3, 2, 4.0));
    let made = export(&folder.path().join("bag"), &folder.path().join("out.csv"), ExportFormat::Csv).unwrap();
    assert_eq!((made.times, made.notes.len()), (5, 1));
}

/// A recorder that does not find the definition of a message stores an empty one: standard messages are read even so.
#[test]
fn standard_messages_are_read_without_their_definition() {
    use dermis_record::mcap::{Channel, McapWriter, Schema};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mcap");
    let schema = |name: &str| Schema { name: name.into(), encoding: "ros2msg".into(), data: vec![] };
    let channel = |topic: &str, schema| Channel {
        topic: topic.into(),
        encoding: "cdr".into(),
        schema: Some(schema),
        metadata: vec![],
    };
    let schemas = vec![schema("geometry_msgs/msg/Vector3"), schema("their_msgs/msg/Vector")];
    let channels = vec![channel("/v", 0), channel("/w", 1)];
    let mut writer = McapWriter::create(&path, "ros2", schemas, channels, &[]).unwrap();
    let numbers = [1.0f64, 2.0, 3.0].map(f64::to_le_bytes).concat();
    let message = [&[0, 1, 0, 0], numbers.as_slice()].concat();
    writer.add(0, 0, &message).unwrap();
    writer.add(1, 0, &message).unwrap();
    writer.finish().unwrap();
    let log = Log::read(&path).unwrap();
    assert_eq!(log.signal("v").unwrap().values, [1.0, 2.0, 3.0]);
    assert!(log.notes.len() == 1 && log.notes[0].contains("/w (their_msgs/msg/Vector)"), "{:?}", log.notes);
}

/// Flipped bits and truncation give errors, notes or other numbers, but no panic.
#[test]
fn damaged_bags_in_sqlite_do_no_harm() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/foreign/bag.db3")).unwrap();
    let mut random = dermis_geometry::Random::new(1);
    let path = folder.path().join("bag.db3");
    let mut told = 0;
    for case in 0..400 {
        let mut wrong = bytes.clone();
        let at = (random.uniform() * wrong.len() as f64) as usize;
        if case % 4 == 0 {
            wrong.truncate(at);
        } else {
            wrong[at] ^= 1 << (random.uniform() * 8.0) as u8;
        }
        std::fs::write(&path, wrong).unwrap();
        told += usize::from(Log::read(&path).map_or(true, |log| log.damaged > 0));
    }
    assert!(told >= 90, "only {told} of 100 truncated and 300 flipped files are reported");
}

/// A recording that is removed, or replaced by another file, is not said to be recorded.
#[test]
fn a_recording_that_is_gone_at_its_end_is_an_error() {
    for (name, format, file) in FORMATS {
        for replaced in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(file);
            let mut recorder: Recorder = format.record(&path, &layout()).unwrap();
            recorder.record(sample(0.0, true)).unwrap();
            // A Parquet file is made of its parts at the end.
            let written = if path.exists() { path.clone() } else { dermis_record::parts_folder(&path) };
            let removed =
                if written.is_dir() { std::fs::remove_dir_all(&written) } else { std::fs::remove_file(&written) };
            removed.unwrap();
            if replaced {
                std::fs::write(&written, "other").unwrap();
            }
            let message = recorder.finish().map(|files| format!("{files:?}")).unwrap_err().to_string();
            assert!(message.contains(file), "{name}, replaced = {replaced}: {message}");
        }
    }
}
