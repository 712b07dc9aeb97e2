//! Descriptions of robots: MJCF attributes, URDF and OpenRAVE.

use super::{said, text};
use crate::limits::skip_beyond;
use dermis::sensor::{SensorSpec, openrave, presets, urdf};
use dermis_mujoco::config::Config;
use std::path::Path;

/// One attribute in each line: `key value`.
pub fn mjcf(bytes: &[u8], _: &Path) -> Result<(), String> {
    let text = text(bytes)?;
    let value = |key: &std::ffi::CStr| {
        let key = key.to_str().unwrap_or_default();
        text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')).map(str::to_owned)
    };
    let config = Config::from_keys(value).map_err(said)?;
    skip_beyond();
    let sensor = config.sensor().map_err(said)?;
    assert!(sensor.skin().max_depth_m().is_finite(), "the depth is not finite");
    Ok(())
}

pub fn urdf(bytes: &[u8], _: &Path) -> Result<(), String> {
    let taxels = urdf::parse("a.urdf", text(bytes)?, "tip").map_err(said)?;
    for (place, normal) in taxels {
        assert!(place.is_finite() && normal.is_finite(), "a taxel is not finite");
        assert!((normal.length() - 1.0).abs() < 1e-9, "a normal is no unit vector");
    }
    Ok(())
}

pub fn openrave(bytes: &[u8], _: &Path) -> Result<(), String> {
    let surface = presets::find("wts0614").expect("a preset").surface;
    let specs = openrave::parse("a.xml", text(bytes)?, &surface).map_err(said)?;
    for spec in specs {
        let again = SensorSpec::parse("again.toml", &spec.to_toml()).expect("a description of our own is read");
        assert_eq!(again, spec, "TOML does not round-trip");
    }
    Ok(())
}
