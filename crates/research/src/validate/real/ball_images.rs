//! Images of a ball pressed into an optical sensor: measured against simulated.

use super::mean_shape::MeanShape;
use super::row::{Comparison, FITTED, Figure, MEAN_SHAPE, Measure, NULL, PRESET};
use super::score::{Sample, Statistic};
use super::split::Split;
use super::{RealError, Setting};
use crate::ball_presses::BallPresses;
use dermis::draw::{FigurePage, Image};
use dermis::geometry::quantity::Length;
use dermis::geometry::shapes::{capsule, sphere};
use dermis::sensor::calibration::optics::{
    AROUND, BallPress, Dent, INSIDE, Label, MAX_PLACE_DEGREE, Region, align, ball_reliefs, fit_calibrated, fit_phong,
    rmse_255,
};
use dermis::sensor::optics::{BackgroundSpec, CameraSpec, FloatImage, Light, LightSpec};
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

/// A model and its image of a press.
type Renderer<'a> = (&'static str, Box<dyn Fn(&BallPress) -> FloatImage + 'a>);

impl BallImages<'_> {
    /// Reads the images.
    pub fn read(&self, folder: &Path) -> Result<BallPresses, RealError> {
        Ok(BallPresses::read_only(&folder.join(self.background), &folder.join(self.labels), self.only)?)
    }

    /// Fits the light to some presses and compares the others.
    pub fn compare(&self, setting: &Setting<'_>) -> Result<Comparison, RealError> {
        let data = self.read(setting.folder)?;
        let samples = data.presses.len();
        let split = Split::even(samples, setting.fit.unwrap_or(0));
        let files: Vec<String> = data.presses.iter().map(|press| press.file.clone()).collect();
        let background = data.background.clone();
        let (spec, sensor) = self.sensor(setting, &background)?;
        let presses = self.presses(&sensor, data, &split)?;
        let kept_as = BackgroundSpec::File(std::path::absolute(setting.folder.join(self.background))?);
        let mut models = Models { background: &background, pixel_m: self.pixel_m, lights: Vec::new(), table: None };
        let fitted: Vec<&BallPress> = split.fitted.iter().map(|&i| &presses[i]).collect();
        let mut notes = Vec::new();
        if !fitted.is_empty() {
            let degree = place_degree(&fitted);
            let light = fit_calibrated(&background, &fitted, kept_as.clone(), degree)?.spec;
            models.add(FITTED, &LightSpec::Calibrated(light))?;
            models.table = Some(MeanShape::fit(&background, &fitted));
        }
        match spec.light.clone() {
            Some(light) => models.add(PRESET, &on_background(light, &kept_as))?,
            None => notes.push(format!("the sensor {:?} has no light of its own", setting.sensor)),
        }
        if !fitted.is_empty() {
            models.add("Phong, fitted", &LightSpec::Phong(fit_phong(&background, &fitted, kept_as)?))?;
        }
        let kept_out: Vec<&BallPress> = split.kept_out.iter().map(|&i| &presses[i]).collect();
        let renderers = models.renderers();
        let measures = vec![
            measure("inside", "in contact, to 0.9 radii: rmse (levels of 255)", INSIDE, &kept_out, &renderers),
            measure("ring", "around, 1 to 2 radii: rmse (levels of 255)", AROUND, &kept_out, &renderers),
        ];
        let names: Vec<String> = split.kept_out.iter().map(|&i| files[i].clone()).collect();
        let figures = renderers.first().map_or_else(Vec::new, |first| figures(&kept_out, &names, first));
        let fitted = match fitted.len() {
            0 => "nothing".to_owned(),
            n => format!("light (colour by slope, height and position) on {n} of {samples} presses"),
        };
        let fitted_on = split.fitted.len();
        Ok(Comparison { samples, fitted_on, fitted, kept_out: names, measures, notes, figures })
    }

    /// The sensor with the camera of the images, and its description.
    fn sensor(&self, setting: &Setting<'_>, background: &FloatImage) -> Result<(SensorSpec, Sensor), RealError> {
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

    /// Presses with their simulated surface.
    fn presses(&self, sensor: &Sensor, data: BallPresses, split: &Split) -> Result<Vec<BallPress>, RealError> {
        let radius_m = 0.5 * self.ball_m;
        let BallPresses { background, presses } = data;
        if self.loose {
            return aligned(sensor, radius_m, &background, presses, split);
        }
        let labels: Vec<(Label, Option<f64>)> = presses.iter().map(|press| (press.label, press.depth_m)).collect();
        let ball = Object::new(sphere(radius_m, radius_m / 50.0)?);
        let reliefs = ball_reliefs(sensor, &ball, radius_m, &labels)?;
        if reliefs.len() != presses.len() {
            return Err(RealError::NoSurface { sensor: sensor.name().to_owned() });
        }
        let joined = presses.into_iter().zip(reliefs);
        Ok(joined
            .map(|(press, found)| BallPress { image: press.image, relief: found.relief, label: press.label })
            .collect())
    }
}

/// Presses of a ball found in the images.
fn aligned(
    sensor: &Sensor,
    radius_m: f64,
    background: &FloatImage,
    presses: Vec<crate::ball_presses::LabelledPress>,
    split: &Split,
) -> Result<Vec<BallPress>, RealError> {
    const DEPTHS: usize = 12;
    /// Part of the skin's depth up to which its surface is accurate.
    const MAX_PART: f64 = 0.375;
    let deepest_m = (2.4 * radius_m).min(MAX_PART * sensor.skin().max_depth_m());
    let depths_m: Vec<f64> = (1..=DEPTHS).map(|i| deepest_m * i as f64 / DEPTHS as f64).collect();
    let pin = Object::new(capsule(radius_m, 4.0 * deepest_m, radius_m / 25.0)?);
    let dents = Dent::series(sensor, &pin, &depths_m)?;
    let camera = sensor.optics().map(|optics| optics.camera().clone());
    let (Some(camera), Some(dent)) = (camera, dents.first()) else {
        return Err(RealError::NoSurface { sensor: sensor.name().to_owned() });
    };
    let place = |label: &Label| dent.relief(&camera, [label.column, label.row]);
    let mut found: Vec<BallPress> = presses
        .into_iter()
        .map(|press| BallPress { relief: place(&press.label), image: press.image, label: press.label })
        .collect();
    // Without a fit, all presses determine where they are; their colours are not used otherwise.
    let all: Vec<usize> = (0..found.len()).collect();
    let used = if split.fitted.is_empty() { &all } else { &split.fitted };
    let labels: Vec<Label> = found.iter().map(|press| press.label).collect();
    align(background, &mut found, &camera, &dents, used)?;
    // Errors are taken where the data set says that the contact is.
    found.iter_mut().zip(labels).for_each(|(press, label)| press.label = label);
    Ok(found)
}

struct Models<'a> {
    background: &'a FloatImage,
    pixel_m: f64,
    lights: Vec<(&'static str, Light)>,
    table: Option<MeanShape>,
}

impl Models<'_> {
    fn add(&mut self, name: &'static str, spec: &LightSpec) -> Result<(), RealError> {
        let light = spec.build(self.background.width, self.background.height, self.pixel_m, None)?;
        self.lights.push((name, light));
        Ok(())
    }

    fn renderers(&self) -> Vec<Renderer<'_>> {
        let mut all: Vec<Renderer<'_>> = Vec::new();
        for (name, light) in &self.lights {
            all.push((*name, Box::new(move |press| light.shade(&press.relief, || None))));
        }
        if let Some(table) = &self.table {
            all.push((MEAN_SHAPE, Box::new(|press| table.show(self.background, press.label))));
        }
        all.push((NULL, Box::new(|_| self.background.clone())));
        all
    }
}

/// The light of a preset on the measured image without contact, which the null model knows too.
fn on_background(light: LightSpec, kept_as: &BackgroundSpec) -> LightSpec {
    match light {
        LightSpec::Phong(mut spec) => {
            spec.background = kept_as.clone();
            spec.relative = true;
            LightSpec::Phong(spec)
        }
        LightSpec::Calibrated(mut spec) => {
            spec.background = kept_as.clone();
            LightSpec::Calibrated(spec)
        }
    }
}

/// The degree of the position: zero if all presses lie within one contact radius.
fn place_degree(presses: &[&BallPress]) -> usize {
    let span = |of: fn(&Label) -> f64| {
        let at = || presses.iter().map(|press| of(&press.label));
        at().fold(f64::NEG_INFINITY, f64::max) - at().fold(f64::INFINITY, f64::min)
    };
    let widest = presses.iter().map(|press| press.label.radius).fold(0.0, f64::max);
    if span(|label| label.column).max(span(|label| label.row)) > widest { MAX_PLACE_DEGREE } else { 0 }
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
        let sample = |press: &&BallPress| {
            let weight = 3.0 * press.pixels(region).count() as f64;
            let rmse = rmse_255([*press], region, |press| render(press));
            Sample { error: rmse * rmse * weight, weight }
        };
        measure.add(*model, &presses.iter().map(sample).collect::<Vec<_>>());
    }
    measure
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
            let page = FigurePage::new(3)
                .gap(8)
                .image(small(&press.image), "measured")
                .image(small(&simulated), "simulated")
                .image(small(&difference(&press.image, &simulated)), "simulated − measured, doubled around grey");
            Figure { caption, image: page.render() }
        })
        .collect()
}

fn small(image: &FloatImage) -> Image {
    const WIDTH: usize = 320;
    image.to_rgb8().resize_box(WIDTH, WIDTH * image.height / image.width.max(1))
}

fn difference(measured: &FloatImage, simulated: &FloatImage) -> FloatImage {
    let mut image = measured.clone();
    for (channel, simulated) in image.channels.iter_mut().zip(&simulated.channels) {
        for (level, simulated) in channel.iter_mut().zip(simulated) {
            *level = 127.5 + 2.0 * (simulated - *level);
        }
    }
    image
}
