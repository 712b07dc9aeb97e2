//! The description of a sensor in a file: plain data, every number with its unit.

use crate::magnetic::{Magnetics, MagnetometersSpec, MagnetsSpec};
use crate::optics::{BackgroundSpec, CameraSpec, LightSpec, MarkersSpec, Optics, OpticsError, OpticsSpec};
use crate::press::millimetres;
use crate::{ReadingSpec, ResponseSpec, Sensor, SensorError, SkinKind, SkinSpec, SurfaceSpec, parse_toml};
use dermis_geometry::limits::MAX_CONTACT_POINTS;
use dermis_geometry::limits::MAX_DESCRIPTION_BYTES;
use dermis_geometry::regular_file;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// A sensor: its surface, skin and response.
#[cfg_attr(
    doc,
    doc = r##"
```
use dermis_sensor::SensorSpec;
let text = r#"
name = "pad"
surface.grid = { rows = 4, cols = 4, pitch = "3 mm" }
skin = { kind = "springs", stiffness = "1 N/mm", damping = "1 N s/m", max_penetration = "2 mm", friction = { kind = "coulomb", mu = 0.8, regularisation_speed = "1 mm/s" } }
"#;
let sensor = SensorSpec::parse("pad.toml", text)?.build(None)?;
assert_eq!(sensor.taxels().len(), 16);
# Ok::<(), Box<dyn std::error::Error>>(())
```
"##
)]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(remote = "Self", deny_unknown_fields)]
pub struct SensorSpec {
    /// Name of the sensor.
    pub name: String,
    /// Type of the sensor and the source of its parameters.
    #[serde(default)]
    pub description: String,
    /// Positions of the texels.
    pub surface: SurfaceSpec,
    /// Contact points of springs along a side of a texel: `n` gives n² contact points per cell of a grid or triangle of
    /// a mesh, and about n² per cell of listed taxels. Default: at most 0.85 mm apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact_points: Option<usize>,
    /// Deformation model of the cover.
    pub skin: SkinSpec,
    /// Method by which the taxels read the skin.
    #[serde(default, skip_serializing_if = "ReadingSpec::is_exact")]
    pub reading: ReadingSpec,
    /// Response: conversion of taxel forces into reported values.
    #[serde(default)]
    pub response: ResponseSpec,
    /// The camera behind the skin of an optical sensor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub camera: Option<CameraSpec>,
    /// Illumination of the gel that the camera sees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub light: Option<LightSpec>,
    /// Dots on the gel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub markers: Option<MarkersSpec>,
    /// Magnets in the skin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub magnets: Option<MagnetsSpec>,
    /// Magnetometers under the skin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub magnetometers: Option<MagnetometersSpec>,
}

crate::through_value::deserialize_through_value!(SensorSpec);

impl SensorSpec {
    /// A surface under a skin that reports newtons.
    pub fn new(name: impl Into<String>, surface: SurfaceSpec, skin: SkinSpec) -> Self {
        Self {
            name: name.into(),
            description: String::new(),
            surface,
            contact_points: None,
            skin,
            reading: ReadingSpec::default(),
            response: ResponseSpec::default(),
            camera: None,
            light: None,
            markers: None,
            magnets: None,
            magnetometers: None,
        }
    }

    /// Parses a description. Errors name `file`.
    pub fn parse(file: &str, text: &str) -> Result<Self, SensorError> {
        Ok(parse_toml(file, text)?)
    }

    /// Finds a preset by name or reads a description by path (a name that ends in `.toml` or contains a separator).
    pub fn find(name: &str) -> Result<(Self, Option<&Path>), SensorError> {
        if name.ends_with(".toml") || name.contains(['/', '\\']) {
            return Ok((Self::read(Path::new(name))?, Path::new(name).parent()));
        }
        Ok((crate::presets::find(name)?, None))
    }

    /// Reads a description from a file.
    pub fn read(path: &Path) -> Result<Self, SensorError> {
        let shown = path.display().to_string();
        match regular_file::read_text(path, MAX_DESCRIPTION_BYTES) {
            Ok(text) => Self::parse(&shown, &text),
            Err(error) => Err(SensorError::Unreadable { path: shown, reason: error.to_string() }),
        }
    }

    /// The same description with absolute file names. Relative ones are resolved against `folder`.
    pub fn with_files_in(&self, folder: &Path) -> Self {
        let mut spec = self.clone();
        let light = match &mut spec.light {
            Some(LightSpec::Calibrated(light)) => Some(&mut light.background),
            Some(LightSpec::Phong(light)) => Some(&mut light.background),
            None => None,
        };
        let background = light.and_then(BackgroundSpec::file_mut);
        for file in spec.surface.files_mut().into_iter().chain(spec.skin.file_mut()).chain(background) {
            let joined = folder.join(&*file);
            *file = std::path::absolute(&joined).unwrap_or(joined);
        }
        spec
    }

    /// The same description without camera, light and markers.
    pub fn without_optics(&self) -> Self {
        Self { camera: None, light: None, markers: None, ..self.clone() }
    }

    /// Builds the sensor. Relative file names are resolved against `folder`.
    pub fn build(&self, folder: Option<&Path>) -> Result<Sensor, SensorError> {
        if matches!(self.reading, ReadingSpec::Gaussian { .. }) && self.skin.kind() != SkinKind::Springs {
            let rule = "of kind \"gaussian\" is for springs; a layer and a gel spread loads by themselves, and a hydroelastic skin takes a `spread` of its response";
            return Err(SensorError::bad_key(&self.name, "reading", rule));
        }
        let sensor = self.reading.of(self.build_touch(folder)?)?;
        let sensor = match (&self.magnets, &self.magnetometers) {
            (Some(magnets), Some(chips)) => {
                let sensor = Magnetics::probed(sensor, magnets)?;
                let magnetics = Magnetics::new(&sensor, magnets, chips)?;
                sensor.with_magnetics(magnetics)
            }
            (None, None) => sensor,
            (Some(_), None) => {
                return Err(SensorError::bad_key(&self.name, "magnets", "need `magnetometers` that read them"));
            }
            (None, Some(_)) => return Err(SensorError::bad_key(&self.name, "magnetometers", "need `magnets` to read")),
        };
        let refuse = |error| SensorError::Optics { sensor: self.name.clone(), error };
        Ok(match self.optics().map_err(refuse)? {
            Some(spec) => {
                let optics = Optics::new(&spec, folder).map_err(refuse)?;
                check_view(&sensor, &optics).map_err(refuse)?;
                sensor.with_optics(optics)
            }
            None => sensor,
        })
    }

    /// The camera with its light and markers, if the sensor has one.
    pub fn optics(&self) -> Result<Option<OpticsSpec>, OpticsError> {
        let Some(camera) = self.camera.clone() else {
            return match (&self.light, &self.markers) {
                (Some(_), _) => Err(OpticsError::NoCamera { table: "light" }),
                (None, Some(_)) => Err(OpticsError::NoCamera { table: "markers" }),
                (None, None) => Ok(None),
            };
        };
        let light = self.light.clone().unwrap_or_default();
        Ok(Some(OpticsSpec { camera, light, markers: self.markers.clone() }))
    }

    fn build_touch(&self, folder: Option<&Path>) -> Result<Sensor, SensorError> {
        if let Some(points) = self.contact_points.filter(|points| !(1..=MAX_CONTACT_POINTS).contains(points)) {
            let rule = format!("along a side of a texel must be 1 to {MAX_CONTACT_POINTS}, got {points}");
            return Err(SensorError::bad_key(&self.name, "contact_points", rule));
        }
        let surface = self.surface.build(&self.name, self.contact_points, folder)?;
        let chain = self
            .response
            .build(&surface.taxels, Some(&surface.mesh))
            .map_err(|error| SensorError::BadResponse { sensor: self.name.clone(), error })?;
        self.skin.build(&self.name, &self.surface, surface, chain, folder)
    }

    /// The description as TOML.
    pub fn to_toml(&self) -> String {
        toml::to_string(self as &dyn erased_serde::Serialize).unwrap_or_default()
    }
}

/// Refuses pixels as large as the sensor, and a pinhole in its skin.
fn check_view(sensor: &Sensor, optics: &Optics) -> Result<(), OpticsError> {
    let bad = |key, rule| Err(OpticsError::Bad { table: "camera", key, rule });
    let (camera, size) = (optics.camera(), sensor.surface().bounds().size());
    if 2.0 * camera.pixel_m > size.x.min(size.y) {
        let [pixel, width, height] = [camera.pixel_m, size.x, size.y].map(millimetres);
        let rule =
            format!("of {pixel} mm is more than half of the sensor, which is {width} mm × {height} mm: check its unit");
        return bad("pixel", rule);
    }
    let depth_m = sensor.skin().max_depth_m();
    match camera.distance_m {
        Some(distance_m) if distance_m <= depth_m => {
            let [distance, depth] = [distance_m, depth_m].map(millimetres);
            let rule = format!(
                "of {distance} mm must be more than the skin can be pressed ({depth} mm): the camera is behind the skin"
            );
            bad("distance", rule)
        }
        _ => Ok(()),
    }
}
