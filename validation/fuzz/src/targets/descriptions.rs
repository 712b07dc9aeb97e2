//! Descriptions in TOML, and objects on the command line.

use super::calibration::PAD;
use super::{said, text};
use crate::limits::skip_beyond;
use dermis::dataset::Dataset;
use dermis::object::ObjectSpec;
use dermis::scene::SceneSpec;
use dermis::sensor::{SensorSpec, parse_toml};
use dermis_research::validate::real::check::check;
use dermis_research::validate::real::{Options, RealSpec};
use std::path::Path;

pub fn sensor(bytes: &[u8], folder: &Path) -> Result<(), String> {
    let spec = SensorSpec::parse("a.toml", text(bytes)?).map_err(said)?;
    let written = spec.to_toml();
    assert!(!written.is_empty(), "a description cannot be written");
    let again = SensorSpec::parse("again.toml", &written).expect("a description of our own is read");
    assert_eq!(again, spec, "TOML does not round-trip:\n{written}");
    skip_beyond();
    let sensor = spec.build(Some(folder)).map_err(said)?;
    assert!(sensor.skin().max_depth_m().is_finite(), "the depth is not finite");
    let rest = sensor.skin().rest();
    let (touch, _) = sensor.skin().settle(&rest, &dermis::skin::Motion { targets: &[] }).map_err(said)?;
    let reading = sensor.read(&touch);
    assert!(reading.values_newton.iter().all(|value| value.is_finite()), "a taxel at rest is not finite");
    Ok(())
}

pub fn scene(bytes: &[u8], folder: &Path) -> Result<(), String> {
    let spec = SceneSpec::parse("a.toml", text(bytes)?).map_err(said)?;
    let value = serde_json::to_value(&spec).expect("a scene becomes JSON");
    let again: SceneSpec = serde_json::from_value(value).expect("a scene of our own is read");
    assert_eq!(again, spec, "a scene does not round-trip");
    spec.validate("a.toml").map_err(said)?;
    skip_beyond();
    let mut built = spec.build("a.toml", Some(folder)).map_err(said)?;
    for _ in 0..3 {
        built.world.step().map_err(said)?;
    }
    for id in built.world.bodies().collect::<Vec<_>>() {
        assert!(built.world.pose(id).translation.is_finite(), "a pose is not finite");
    }
    for (_, id) in &built.sensors {
        let reading = built.world.reading(*id);
        assert!(reading.values_newton.iter().all(|value| value.is_finite()), "a taxel is not finite");
    }
    Ok(())
}

pub fn dataset(bytes: &[u8], folder: &Path) -> Result<(), String> {
    let text = text(bytes)?;
    dermis::dataset::DatasetSpec::parse("a.toml", text).map_err(said)?;
    skip_beyond();
    let set = Dataset::parse("a.toml", text, Some(folder)).map_err(said)?;
    assert!(set.shard_len() > 0 && set.frames() > 0, "a shard without episodes");
    if set.count() > 0 {
        drop(set.episode(set.count() - 1).map_err(said)?);
    }
    Ok(())
}

/// Measurements that the descriptions of the corpus name.
const MEASURED: &[(&str, &str)] = &[
    ("pad.toml", PAD),
    ("force.csv", "depth_mm,force_N\n0.2,0.35\n0.4,0.7\n0.6,1.0\n0.8,1.3\n"),
    ("readings.csv", "0.1,1,2,3\n0.2,1.5,2.5,2\n0.3,0.5,2,4\n"),
    (
        "places.yaml",
        "taxels: [[-0.0015, -0.0015, 0], [0.0015, -0.0015, 0], [-0.0015, 0.0015, 0], [0.0015, 0.0015, 0]]\n\
         normals: [[0, 0, 1], [0, 0, 1], [0, 0, 1], [0, 0.1, 1]]\n",
    ),
    ("100g-a.csv", "0.5,200,210,190,205\n1,210,220,200,215\n4,230,240,220,235\n11,240,250,230,245\n"),
    ("200g-a.csv", "0.5,400,420,380,410\n1,420,440,400,430\n4,460,480,440,470\n11,480,500,460,490\n"),
    ("300g-a.csv", "0.5,600,630,570,615\n1,630,660,600,645\n4,690,720,660,705\n11,720,750,690,735\n"),
];

pub fn real(bytes: &[u8], folder: &Path) -> Result<(), String> {
    let text = text(bytes)?;
    let spec: RealSpec = parse_toml("a.toml", text).map_err(said)?;
    let value = serde_json::to_value(&spec).expect("a description becomes JSON");
    let again: RealSpec = serde_json::from_value(value).expect("a description of our own is read");
    assert_eq!(again, spec, "a description does not round-trip");
    let place = folder.join("real");
    if !place.exists() {
        std::fs::create_dir_all(&place).map_err(said)?;
        for (name, measured) in MEASURED {
            std::fs::write(place.join(name), measured).map_err(said)?;
        }
    }
    std::fs::write(place.join("dataset.toml"), text).map_err(said)?;
    skip_beyond();
    if let Some(missing) = check(&place).map_err(said)?.into_iter().find(|finding| !finding.ok) {
        return Err(missing.text);
    }
    for row in &spec.row {
        let compared = row.compare(&place, &Options::default()).expect("a row that was checked is compared");
        for score in compared.measures.iter().flat_map(|measure| &measure.scores) {
            assert!(score.n == 0 || score.value.is_finite(), "the score of {} is {}", score.model, score.value);
        }
    }
    Ok(())
}

pub fn object(bytes: &[u8], _: &Path) -> Result<(), String> {
    let spec = ObjectSpec::parse_flag(text(bytes)?, None).map_err(said)?;
    skip_beyond();
    let object = spec.object(None, None).map_err(said)?;
    let bounds = object.surface.bounds();
    assert!(bounds.min.is_finite() && bounds.max.is_finite(), "the bounds are not finite");
    Ok(())
}
