//! Simulated and real images of balls pressed into two GelSight sensors.

use super::{ExperimentError, Findings, Options, Progress, report_progress};
use crate::ball_presses::BallPresses;
use dermis::draw::{FigurePage, Image};
use dermis::geometry::quantity::Length;
use dermis::geometry::shapes::{capsule, sphere};
use dermis::sensor::calibration::optics::{
    AROUND, BallPress, Dent, INSIDE, Label, MAX_PLACE_DEGREE, Region, align, ball_reliefs, fit_calibrated, fit_phong,
    rmse_255,
};
use dermis::sensor::optics::{BackgroundSpec, CameraSpec, FloatImage, Light, LightSpec};
use dermis::sensor::{Sensor, SensorSpec, SkinSpec, presets};
use dermis::skin::Object;
use std::path::Path;

/// Radius of the ball (m); not stated for the Mini, where the same value is assumed.
const BALL_M: f64 = 2e-3;
/// Pixel size on the gel (m), from the data's description.
const PIXEL_M: f64 = 2.95e-5;
/// Radius (m) of the rounded pin in the Mini's images: the best of seven between 0.3 and 2 mm.
const PIN_M: f64 = 0.5e-3;
/// Cell size (m) under the pin.
const PIN_CELL_M: f64 = 6e-5;
/// Candidate depths of the pin (m).
const PIN_DEPTHS_M: [f64; 12] = [1e-4, 2e-4, 3e-4, 4e-4, 5e-4, 6e-4, 7e-4, 8e-4, 9e-4, 1e-3, 1.1e-3, 1.2e-3];

pub(super) fn run(options: &Options, progress: Progress<'_>) -> Result<Findings, ExperimentError> {
    let Some(data) = &options.data else { return Err(ExperimentError::NoData { name: "real-balls" }) };
    let mut findings = Findings::default();
    let gelsight = Presses::new("gelsight", "", &data.join("gelsight"))?;
    gelsight.labelled(&mut findings)?;
    report_progress(progress, 0.3)?;
    let mut mini = Presses::new("gelsight-mini", "mini_", &data.join("gelsight-mini"))?;
    mini.labelled(&mut findings)?;
    report_progress(progress, 0.5)?;
    mini.aligned(&mut findings)?;
    Ok(findings)
}

/// Real presses, and their simulated surfaces.
struct Presses {
    preset: &'static str,
    prefix: &'static str,
    background: FloatImage,
    kept_as: BackgroundSpec,
    presses: Vec<BallPress>,
}

/// Lights fitted to the even presses.
struct Lights {
    calibrated: Light,
    phong: Light,
    degrees: (usize, usize),
}

impl Presses {
    /// Reads presses and simulates the surface of a ball with the labelled contact.
    fn new(preset: &'static str, prefix: &'static str, folder: &Path) -> Result<Self, ExperimentError> {
        let file = folder.join("background.png");
        let BallPresses { background, presses } = BallPresses::read(&file, &folder.join("labels.csv"))?;
        let sensor = plain(preset, &background, None)?;
        let labels: Vec<Label> = presses.iter().map(|press| press.label).collect();
        let ball = Object::new(sphere(BALL_M, 0.04e-3)?);
        let labels: Vec<(Label, Option<f64>)> = labels.into_iter().map(|label| (label, None)).collect();
        let reliefs = ball_reliefs(&sensor, &ball, BALL_M, &labels)?;
        let presses = presses
            .into_iter()
            .zip(reliefs)
            .map(|(press, pressed)| BallPress { image: press.image, relief: pressed.relief, label: press.label })
            .collect();
        Ok(Self { preset, prefix, background, kept_as: BackgroundSpec::File(file), presses })
    }

    fn even(&self) -> Vec<&BallPress> {
        self.presses.iter().step_by(2).collect()
    }

    fn odd(&self) -> Vec<&BallPress> {
        self.presses.iter().skip(1).step_by(2).collect()
    }

    fn lights(&self, max_place_degree: usize) -> Result<Lights, ExperimentError> {
        let build = |spec: LightSpec| {
            let light = spec.build(self.background.width, self.background.height, PIXEL_M, None);
            light.map_err(ExperimentError::from)
        };
        let fit = fit_calibrated(&self.background, &self.even(), self.kept_as.clone(), max_place_degree)?;
        let phong = fit_phong(&self.background, &self.even(), self.kept_as.clone())?;
        Ok(Lights {
            degrees: (fit.spec.degree, fit.spec.position_degree),
            calibrated: build(LightSpec::Calibrated(fit.spec))?,
            phong: build(LightSpec::Phong(phong))?,
        })
    }

    /// Errors on the odd presses, inside and around the labelled contacts.
    fn score(&self, lights: &Lights, labels: &[Label], prefix: &str, findings: &mut Findings) {
        let odd: Vec<BallPress> = self
            .odd()
            .into_iter()
            .zip(labels.iter().skip(1).step_by(2))
            .map(|(press, label)| BallPress { label: *label, ..press.clone() })
            .collect();
        for (name, region) in [("", INSIDE), ("ring_", AROUND)] {
            let score = |shown: &dyn Fn(&BallPress) -> FloatImage| rmse_255(&odd, region, shown);
            let by = |light: &Light| score(&|press| light.shade(&press.relief, || None));
            findings.metric(format!("{prefix}{name}rmse_255"), by(&lights.calibrated));
            findings.metric(format!("{prefix}{name}phong_rmse_255"), by(&lights.phong));
            findings.metric(format!("{prefix}{name}null_rmse_255"), score(&|_| self.background.clone()));
        }
        let metric = |name: &str| findings.metrics[&format!("{prefix}{name}")];
        let below = metric("ring_rmse_255") / metric("ring_null_rmse_255");
        findings.metric(format!("{prefix}ring_by_null"), below);
    }

    fn labels(&self) -> Vec<Label> {
        self.presses.iter().map(|press| press.label).collect()
    }

    /// Evaluates a ball at the labelled positions.
    fn labelled(&self, findings: &mut Findings) -> Result<(), ExperimentError> {
        let lights = self.lights(MAX_PLACE_DEGREE)?;
        self.score(&lights, &self.labels(), self.prefix, findings);
        self.show(&lights, "as labelled", findings);
        Ok(())
    }

    /// Evaluates a pin aligned to the images, on the same labelled pixels.
    fn aligned(&mut self, findings: &mut Findings) -> Result<(), ExperimentError> {
        let sensor = plain(self.preset, &self.background, Some(PIN_CELL_M))?;
        let Some(camera) = sensor.optics().map(|optics| optics.camera().clone()) else { return Ok(()) };
        let pin = Object::new(capsule(PIN_M, 8e-3, 0.02e-3)?);
        let dents = Dent::series(&sensor, &pin, &PIN_DEPTHS_M)?;
        let labels = self.labels();
        let fitted: Vec<usize> = (0..self.presses.len()).step_by(2).collect();
        let depths_m = align(&self.background, &mut self.presses, &camera, &dents, &fitted)?;
        let off = |(press, label): (&BallPress, &Label)| {
            (press.label.column - label.column).hypot(press.label.row - label.row)
        };
        let farthest = self.presses.iter().zip(&labels).map(off).fold(0.0, f64::max);
        let (min, max) = depths_m.iter().fold((f64::INFINITY, 0.0f64), |(a, b), &d| (a.min(d), b.max(d)));
        findings.note(format!(
            "{}: aligned to the images, the presses lie up to {farthest:.0} pixels from their labels; a pin with a rounded end of {} mm radius, \
             pressed by {:.1} to {:.1} mm, fits best.",
            self.preset,
            PIN_M * 1e3,
            min * 1e3,
            max * 1e3
        ));
        let lights = self.lights(0)?;
        self.score(&lights, &labels, &format!("{}aligned_", self.prefix), findings);
        self.show(&lights, "aligned", findings);
        Ok(())
    }

    fn show(&self, lights: &Lights, how: &str, findings: &mut Findings) {
        findings.note(format!(
            "{}, {how}: {} presses to fit, {} to evaluate; polynomial degree {} in slope and height, {} in position, selected on the fitted presses.",
            self.preset,
            self.even().len(),
            self.odd().len(),
            lights.degrees.0,
            lights.degrees.1
        ));
        let name =
            if how == "aligned" { format!("{}-aligned.png", self.preset) } else { format!("{}.png", self.preset) };
        let title = format!("{}, {how}: presses outside the fit", self.preset);
        findings.files.add_image(name, &side_by_side(&title, &self.odd(), lights, &self.background));
    }
}

/// The preset's skin with a camera like that of the data, centred on the gel.
fn plain(preset: &str, background: &FloatImage, cell_m: Option<f64>) -> Result<Sensor, ExperimentError> {
    let mut spec = presets::find(preset)?;
    if let (SkinSpec::Layer(layer), Some(cell_m)) = (&mut spec.skin, cell_m) {
        layer.mu = 0.0;
        layer.cell = Some(Length::new(cell_m));
    }
    let camera = CameraSpec::plain(background.width, background.height, PIXEL_M);
    Ok(SensorSpec { camera: Some(camera), light: None, markers: None, ..spec }.build(None)?)
}

/// Presses outside the fit: real image, calibrated light, Phong light, and four times the error of the calibrated
/// light.
fn side_by_side(title: &str, odd: &[&BallPress], lights: &Lights, background: &FloatImage) -> Image {
    const SHOWN: usize = 4;
    let mut sheet = FigurePage::new(4).title(title).gap(10);
    for press in odd.iter().step_by((odd.len() / SHOWN).max(1)).take(SHOWN) {
        let ours = lights.calibrated.shade(&press.relief, || None);
        let phong = lights.phong.shade(&press.relief, || None);
        let score = |image: &FloatImage, region: Region| rmse_255([*press], region, |_| image.clone());
        let off = FloatImage {
            channels: [0, 1, 2].map(|c| {
                let pairs = press.image.channels[c].iter().zip(&ours.channels[c]);
                pairs.map(|(real, ours)| 128.0 + 4.0 * (ours - real)).collect()
            }),
            ..*background
        };
        let small = |image: &FloatImage| image.to_rgb8().resize_box(320, 240);
        sheet = sheet
            .image(small(&press.image), "real")
            .image(small(&ours), format!("calibrated: RMSE {:.1} inside", score(&ours, INSIDE)))
            .image(small(&phong), format!("Phong: RMSE {:.1} inside", score(&phong, INSIDE)))
            .image(small(&off), "calibrated minus real, times four");
    }
    sheet.render()
}
