//! Images of a ball pressed into an optical sensor: measured against simulated.

use super::mean_shape::MeanShape;
use super::row::{Comparison, FITTED, Figure, MEAN_SHAPE, Measure, NULL, PRESET};
use super::score::{Sample, Statistic};
use super::split::Split;
use super::{RealError, Setting};
use crate::ball_presses::{BallPresses, LabelledPress};
use dermis::geometry::quantity::Length;
use dermis::geometry::shapes::sphere;
use dermis::image::measured_and_simulated;
use dermis::sensor::calibration::optics::{
    AROUND, BallPress, Dent, INSIDE, Label, Region, ball_reliefs, depth_of_contact, doubt_at_rest, drifted_background,
    find_contact, fit_calibrated, fit_calibrated_by_depth, fit_phong, position_degree, quiet_background, rmse_255,
};
use dermis::sensor::optics::{BackgroundSpec, CalibratedSpec, CameraSpec, FloatImage, Light, LightSpec, PhongSpec};
use dermis::sensor::{Sensor, SensorSpec};
use dermis::skin::Object;
use std::collections::BTreeMap;
use std::path::Path;

/// The measurements of a row.
pub struct BallImages<'a> {
    /// Image without contact.
    pub background: &'a Path,
    /// Table of presses.
    pub labels: &'a Path,
    /// Rows of the table to use.
    pub only: &'a BTreeMap<String, String>,
    /// Diameter of the ball (m).
    pub ball_m: f64,
    /// Size of a pixel (m).
    pub pixel_m: f64,
    /// True if the labels are inaccurate.
    pub loose: bool,
}

/// Gel far from the contact.
const FAR: Region = Region { from: 3.0, to: 5.0 };

/// Number of times that contacts and the image without contact are improved.
const ROUNDS: usize = 2;

/// A model and its image of a press.
type Renderer<'a> = (&'static str, Box<dyn Fn(&BallPress) -> FloatImage + 'a>);

impl BallImages<'_> {
    /// Reads the images.
    pub fn read(&self, folder: &Path) -> Result<BallPresses, RealError> {
        Ok(BallPresses::read_only(&folder.join(self.background), &folder.join(self.labels), self.only)?)
    }

    /// Fits the light to some presses and compares the others.
    pub fn compare(&self, setting: &Setting<'_>) -> Result<Comparison, RealError> {
        let mut data = self.read(setting.folder)?;
        let samples = data.presses.len();
        let split = Split::even(samples, setting.fit.unwrap_or(0));
        let files: Vec<String> = data.presses.iter().map(|press| press.file.clone()).collect();
        let (spec, sensor) = self.sensor(setting, &data.background)?;
        let labelled = self.labelled(&sensor, &data)?;
        let raw = data.background.clone();
        let mut notes: Vec<String> = doubt_at_rest(&raw, &labelled.iter().collect::<Vec<_>>()).into_iter().collect();
        let mut found = if self.loose { Some(self.found(&sensor, &data)?) } else { None };
        data.background = quiet_background(&raw, &chosen(found.as_ref().unwrap_or(&labelled), &split.fitted));
        // Only fitted presses may show what changed since the image without contact was taken. Contacts are found better on
        // the image at their time, and it is known better with them.
        for _ in 0..ROUNDS {
            let presses = found.as_ref().unwrap_or(&labelled);
            data.background = drifted_background(&data.background, &chosen(presses, &split.fitted))?;
            if self.loose {
                found = Some(self.found(&sensor, &data)?);
            }
        }
        let background = data.background;
        let presses = found.as_ref().unwrap_or(&labelled);
        let (fitted, kept_out) = (chosen(presses, &split.fitted), chosen(presses, &split.kept_out));
        let mut models =
            Models { background: &background, raw: &raw, pixel_m: self.pixel_m, lights: Vec::new(), table: None };
        if !fitted.is_empty() {
            models.add(FITTED, &calibrated_by_depth(&background, &fitted)?)?;
            models.table = Some(MeanShape::fit(&background, &fitted));
        }
        match spec.light.clone() {
            Some(light) => models.add(PRESET, &relative(light))?,
            None => notes.push(format!("the sensor {:?} has no light of its own", setting.sensor)),
        }
        if !fitted.is_empty() {
            models.add("Phong, fitted", &LightSpec::Phong(fit_phong(&background, &fitted, BLACK)?))?;
        }
        let renderers = models.renderers();
        let mut measures = vec![
            measure("inside", "in contact, to 0.9 radii: rmse (levels of 255)", INSIDE, &kept_out, &renderers),
            measure("ring", "around, 1 to 2 radii: rmse (levels of 255)", AROUND, &kept_out, &renderers),
        ];
        if kept_out.iter().any(|press| press.pixels(FAR).next().is_some()) {
            measures.push(measure("far", "beyond, 3 to 5 radii: rmse (levels of 255)", FAR, &kept_out, &renderers));
        }
        if self.loose && !fitted.is_empty() {
            let (fitted, kept_out) = (chosen(&labelled, &split.fitted), chosen(&labelled, &split.kept_out));
            let light = models.build(&calibrated_by_depth(&background, &fitted)?)?;
            let shade = |press: &BallPress| light.shade(&press.relief, || None);
            for (measure, region) in measures.iter_mut().zip([INSIDE, AROUND]) {
                measure.add(AS_LABELLED, &errors(&kept_out, region, &shade));
            }
        }
        if self.loose {
            notes.push(FOUND.to_owned());
        }
        let names: Vec<String> = split.kept_out.iter().map(|&i| files[i].clone()).collect();
        let figures = renderers.first().map_or_else(Vec::new, |first| figures(&kept_out, &names, first));
        let fitted = match split.fitted.len() {
            0 => "nothing".to_owned(),
            n => format!("light (colour by slope, height and position) on {n} of {samples} presses"),
        };
        let fitted_on = split.fitted.len();
        Ok(Comparison { samples, fitted_on, fitted, kept_out: names, measures, notes, figures })
    }

    /// The sensor with the camera of the images, and its description.
    pub fn sensor(&self, setting: &Setting<'_>, background: &FloatImage) -> Result<(SensorSpec, Sensor), RealError> {
        let spec = setting.spec()?;
        let own = spec.camera.clone();
        let plain = CameraSpec::plain(background.width, background.height, self.pixel_m);
        let camera = CameraSpec {
            width: background.width,
            height: background.height,
            pixel: Length::new(self.pixel_m),
            crop: None,
            ..own.unwrap_or(plain)
        };
        let bare = SensorSpec { camera: Some(camera), light: None, markers: None, ..spec.clone() };
        Ok((spec, bare.build(None)?))
    }

    /// Presses with the simulated surface of a ball where its label says, or where its image shows it if labels are loose.
    pub fn presses(&self, sensor: &Sensor, data: &BallPresses) -> Result<Vec<BallPress>, RealError> {
        if self.loose { self.found(sensor, data) } else { self.labelled(sensor, data) }
    }

    /// Presses with the simulated surface of a ball where its label says.
    fn labelled(&self, sensor: &Sensor, data: &BallPresses) -> Result<Vec<BallPress>, RealError> {
        let radius_m = 0.5 * self.ball_m;
        let labels: Vec<(Label, Option<f64>)> = data.presses.iter().map(|press| (press.label, press.depth_m)).collect();
        let ball = Object::new(sphere(radius_m, radius_m / 50.0)?);
        let reliefs = ball_reliefs(sensor, &ball, radius_m, &labels)?;
        if reliefs.len() != labels.len() {
            return Err(RealError::NoSurface { sensor: sensor.name().to_owned() });
        }
        let joined = data.presses.iter().zip(reliefs);
        Ok(joined
            .map(|(press, found)| BallPress { image: press.image.clone(), relief: found.relief, label: press.label })
            .collect())
    }

    /// Presses with the simulated surface of a ball where the image shows its contact. Errors are still taken where the
    /// label says.
    fn found(&self, sensor: &Sensor, data: &BallPresses) -> Result<Vec<BallPress>, RealError> {
        let dents = Dent::of_ball(sensor, 0.5 * self.ball_m)?;
        let camera = sensor.optics().map(|optics| optics.camera());
        let (Some(camera), false) = (camera, dents.is_empty()) else {
            return Err(RealError::NoSurface { sensor: sensor.name().to_owned() });
        };
        let place = |press: &LabelledPress| {
            let seen = find_contact(&data.background, &press.image, Some(press.label)).unwrap_or(press.label);
            let depth_m = press.depth_m.unwrap_or_else(|| depth_of_contact(&dents, seen.radius));
            let relief = Dent::at_depth(&dents, depth_m).relief(camera, [seen.column, seen.row]);
            BallPress { relief, image: press.image.clone(), label: press.label }
        };
        Ok(data.presses.iter().map(place).collect())
    }
}

/// The presses of some numbers.
pub fn chosen<'a>(presses: &'a [BallPress], numbers: &[usize]) -> Vec<&'a BallPress> {
    numbers.iter().map(|&i| &presses[i]).collect()
}

/// Name of the fitted model if balls are where loose labels say.
const AS_LABELLED: &str = "dermis, fitted, balls as labelled";
/// How balls are found.
const FOUND: &str = "The labels are loose: centre and depth of every ball, also of those kept out, were found in its image by geometry alone \
    (the point about which the change of colour is odd, and the ring of the largest change). No light is used for it, so that an error of the light \
    cannot move a ball. Errors are taken where the labels say.";
/// Background of a light that is put on an image afterwards.
const BLACK: BackgroundSpec = BackgroundSpec::Colour([0.0; 3]);

/// The light fitted to presses, on black.
pub fn calibrated(background: &FloatImage, presses: &[&BallPress]) -> Result<LightSpec, RealError> {
    Ok(LightSpec::Calibrated(fit_calibrated(background, presses, BLACK, position_degree(presses))?.spec))
}

/// The same, which may depend on the depth.
fn calibrated_by_depth(background: &FloatImage, presses: &[&BallPress]) -> Result<LightSpec, RealError> {
    Ok(LightSpec::Calibrated(fit_calibrated_by_depth(background, presses, BLACK, position_degree(presses))?.spec))
}

struct Models<'a> {
    /// Image without contact of the models.
    background: &'a FloatImage,
    /// The same as it was measured.
    raw: &'a FloatImage,
    pixel_m: f64,
    lights: Vec<(&'static str, Light)>,
    table: Option<MeanShape>,
}

impl Models<'_> {
    fn add(&mut self, name: &'static str, spec: &LightSpec) -> Result<(), RealError> {
        self.lights.push((name, self.build(spec)?));
        Ok(())
    }

    /// A light on the image without contact.
    fn build(&self, spec: &LightSpec) -> Result<Light, RealError> {
        let light = spec.build(self.background.width, self.background.height, self.pixel_m, None)?;
        Ok(light.on_background(self.background.clone()))
    }

    fn renderers(&self) -> Vec<Renderer<'_>> {
        let mut all: Vec<Renderer<'_>> = Vec::new();
        for (name, light) in &self.lights {
            all.push((*name, Box::new(move |press| light.shade(&press.relief, || None))));
        }
        if let Some(table) = &self.table {
            all.push((MEAN_SHAPE, Box::new(|press| table.show(self.background, press.label))));
        }
        all.push((NULL, Box::new(|_| self.raw.clone())));
        all
    }
}

/// The light of a preset, for the measured image without contact.
fn relative(light: LightSpec) -> LightSpec {
    match light {
        LightSpec::Phong(spec) => LightSpec::Phong(PhongSpec { relative: true, background: BLACK, ..spec }),
        LightSpec::Calibrated(spec) => LightSpec::Calibrated(CalibratedSpec { background: BLACK, ..spec }),
    }
}

fn measure(
    name: &'static str,
    what: &'static str,
    region: Region,
    presses: &[&BallPress],
    renderers: &[Renderer<'_>],
) -> Measure {
    let mut measure = Measure::new(name, what, Statistic::Rms);
    for (model, render) in renderers {
        measure.add(*model, &errors(presses, region, render));
    }
    measure
}

/// Errors of the presses whose image shows the region.
fn errors(presses: &[&BallPress], region: Region, render: &dyn Fn(&BallPress) -> FloatImage) -> Vec<Sample> {
    let sample = |press: &&BallPress| {
        let weight = 3.0 * press.pixels(region).count() as f64;
        let rmse = rmse_255([*press], region, render);
        (weight > 0.0).then_some(Sample { error: rmse * rmse * weight, weight })
    };
    presses.iter().filter_map(sample).collect()
}

/// The median and the worst press: measured, simulated, difference.
fn figures(presses: &[&BallPress], names: &[String], (model, render): &Renderer<'_>) -> Vec<Figure> {
    let mut order: Vec<(f64, usize)> =
        presses.iter().enumerate().map(|(i, press)| (rmse_255([*press], INSIDE, |press| render(press)), i)).collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut chosen = vec![("median", order.get(order.len() / 2)), ("worst", order.last())];
    if order.len() < 2 {
        chosen.pop();
    }
    let shown = chosen.into_iter().filter_map(|(rank, entry)| entry.map(|&(rmse, i)| (rank, rmse, i)));
    shown
        .map(|(rank, rmse, i)| {
            let (press, simulated) = (presses[i], render(presses[i]));
            let caption =
                format!("{}, the {rank} of {} kept out: {model}, rmse {rmse:.1} in contact", names[i], presses.len());
            Figure { caption, image: measured_and_simulated(&press.image, &simulated, "simulated", 320) }
        })
        .collect()
}
