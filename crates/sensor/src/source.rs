//! References to a sensor in a scene or a data set: a preset, a file or a surface, with overrides.

use crate::optics::{BackgroundSpec, CameraSpec, LightSpec, MarkersSpec};
use crate::schema::Part;
use crate::{ReadingSpec, ResponseSpec, SensorError, SensorSpec, SkinKind, SkinSpec, SurfaceSpec, from_table, presets};
use dermis_geometry::quantity::Length;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// A reference to a sensor: exactly one of `preset`, `file` and `surface` (with `skin`). The tables override parts of
/// the description: an entry replaces an entry, the rest stays.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SensorSource {
    /// Name of a preset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preset: Option<String>,
    /// TOML file of a sensor, relative to the file that refers to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// Positions of the texels, for a sensor described inline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surface: Option<SurfaceSpec>,
    /// Contact points along a side of a texel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contact_points: Option<usize>,
    /// Replaces the skin by the closest one of another kind ([`SensorSpec::with_skin`]), before `skin` is applied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skin_kind: Option<SkinKind>,
    /// Factor on the image's width and height in pixels at the same field of view: 0.5 reduces 640 × 480 to 320 × 240.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolution: Option<f64>,
    /// Overrides the skin; with `surface`, the complete skin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Part<SkinSpec>>")]
    pub skin: Option<Map<String, Value>>,
    /// Overrides the method by which the taxels read the skin.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Part<ReadingSpec>>")]
    pub reading: Option<Map<String, Value>>,
    /// Overrides the response.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Part<ResponseSpec>>")]
    pub response: Option<Map<String, Value>>,
    /// Overrides the camera.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Part<CameraSpec>>")]
    pub camera: Option<Map<String, Value>>,
    /// Overrides the light.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Part<LightSpec>>")]
    pub light: Option<Map<String, Value>>,
    /// Overrides the markers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Part<MarkersSpec>>")]
    pub markers: Option<Map<String, Value>>,
}

impl SensorSource {
    /// The description of the sensor `name` with all overrides applied, and the folder of its mesh files. Relative file
    /// names are resolved against `folder`.
    pub fn resolve(&self, name: &str, folder: Option<&Path>) -> Result<(SensorSpec, Option<PathBuf>), SensorError> {
        let (mut spec, folder) = match (&self.preset, &self.file, &self.surface) {
            (Some(preset), None, None) => (presets::find(preset)?, None),
            (None, Some(file), None) => {
                let path = folder.map_or_else(|| file.clone(), |folder| folder.join(file));
                (SensorSpec::read(&path)?, path.parent().map(Path::to_path_buf))
            }
            (None, None, Some(surface)) => {
                let needed = || SensorError::bad_key(name, "skin", "is needed beside a `surface`");
                let skin: SkinSpec = from_table(name, "skin", self.skin.as_ref().ok_or_else(needed)?)?;
                (SensorSpec::new(name, surface.clone(), skin), folder.map(Path::to_path_buf))
            }
            (preset, file, surface) => {
                return Err(SensorError::OneOf {
                    sensor: name.to_owned(),
                    keys: "`preset`, `file` and `surface`",
                    found: [preset.is_some(), file.is_some(), surface.is_some()].into_iter().filter(|it| *it).count(),
                });
            }
        };
        name.clone_into(&mut spec.name);
        spec.contact_points = self.contact_points.or(spec.contact_points);
        if let Some(kind) = self.skin_kind {
            let located = folder.as_ref().map_or_else(|| spec.clone(), |folder| spec.with_files_in(folder));
            if spec.skin.kind() != kind {
                spec.skin = located.with_skin(kind)?.skin;
            }
        }
        let skin = self.skin.as_ref().filter(|_| self.surface.is_none());
        let tables = [
            ("skin", skin),
            ("reading", self.reading.as_ref()),
            ("response", self.response.as_ref()),
            ("camera", self.camera.as_ref()),
            ("light", self.light.as_ref()),
            ("markers", self.markers.as_ref()),
        ];
        let changes =
            tables.into_iter().filter_map(|(key, table)| Some((key.to_owned(), Value::Object(table?.clone()))));
        spec = spec.with_overrides(&changes.collect())?;
        if let Some(factor) = self.resolution {
            scale_pixels(&mut spec, factor).map_err(|rule| SensorError::bad_key(name, "resolution", rule))?;
        }
        Ok((spec, folder))
    }
}

/// Changes the number of pixels at the same field of view.
fn scale_pixels(spec: &mut SensorSpec, factor: f64) -> Result<(), String> {
    let Some(camera) = &mut spec.camera else { return Err("needs a sensor with a camera".to_owned()) };
    if !(factor > 0.0 && factor.is_finite()) {
        return Err(format!("must be a positive factor, got {factor}"));
    }
    if camera.crop.is_some() {
        return Err("cannot scale a camera with a `crop`: give `camera` its sizes".to_owned());
    }
    let scaled = |pixels: usize| {
        let exact = pixels as f64 * factor;
        (exact >= 2.0 && (exact - exact.round()).abs() < 1e-6).then_some(exact.round() as usize)
    };
    let uneven = || format!("of {factor} makes no whole pixels of {} x {}", camera.width, camera.height);
    let (width, height) = scaled(camera.width).zip(scaled(camera.height)).ok_or_else(uneven)?;
    (camera.width, camera.height, camera.pixel) = (width, height, Length::new(camera.pixel.si() / factor));
    let background = match &mut spec.light {
        Some(LightSpec::Calibrated(light)) => {
            if let Some(area) = &mut light.area {
                for side in [&mut area.left, &mut area.top, &mut area.right, &mut area.bottom] {
                    // Integer coordinates are pixel centres.
                    *side = (*side + 0.5) * factor - 0.5;
                }
            }
            Some(&light.background)
        }
        Some(LightSpec::Phong(light)) => Some(&light.background),
        None => None,
    };
    match background {
        Some(BackgroundSpec::File(_)) => Err("cannot scale a light with an image for its background".to_owned()),
        _ => Ok(()),
    }
}
