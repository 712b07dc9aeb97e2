//! Descriptions in TOML, and objects on the command line.

use super::{said, text};
use crate::limits::skip_beyond;
use dermis::dataset::Dataset;
use dermis::object::ObjectSpec;
use dermis::scene::SceneSpec;
use dermis::sensor::{SensorSpec, parse_toml};
use dermis_research::validate::real::check::check;
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

pub fn real(bytes: &[u8], folder: &Path) -> Result<(), String> {
    let text = text(bytes)?;
    parse_toml::<serde_json::Value>("a.toml", text).map_err(said)?;
    let place = folder.join("real");
    std::fs::create_dir_all(&place).and_then(|()| std::fs::write(place.join("dataset.toml"), text)).map_err(said)?;
    skip_beyond();
    let findings = check(&place).map_err(said)?;
    match findings.into_iter().find(|finding| !finding.ok) {
        Some(missing) => Err(missing.text),
        None => Ok(()),
    }
}

pub fn object(bytes: &[u8], _: &Path) -> Result<(), String> {
    let spec = ObjectSpec::parse_flag(text(bytes)?, None).map_err(said)?;
    skip_beyond();
    let object = spec.object(None, None).map_err(said)?;
    let bounds = object.surface.bounds();
    assert!(bounds.min.is_finite() && bounds.max.is_finite(), "the bounds are not finite");
    Ok(())
}
