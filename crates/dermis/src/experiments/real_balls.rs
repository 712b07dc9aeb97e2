//! Simulated pictures beside real ones: balls pressed into two GelSight sensors.

use super::{ExperimentError, Findings, Options, Progress, tell};
use crate::ball_presses::BallPresses;
use crate::sight::colours;
use dermis_draw::{Image, Sheet};
use dermis_geometry::quantity::Length;
use dermis_geometry::shapes::sphere;
use dermis_sensor::calibration::optics::{
    AROUND, BallPress, INSIDE, Label, Region, ball_reliefs, fit_calibrated, fit_phong, rmse_255,
};
use dermis_sensor::optics::{BackgroundSpec, CameraSpec, Light, LightSpec, Picture};
use dermis_sensor::{Sensor, SensorSpec, presets};
use dermis_skin::Object;
use std::path::Path;

/// Radius of the ball (m); for the Mini it is not stated, and the other's is taken.
const BALL_M: f64 = 2e-3;
/// What a pixel spans (m), by the data's own description.
const PIXEL_M: f64 = 2.95e-5;

pub(super) fn run(options: &Options, progress: Progress<'_>) -> Result<Findings, ExperimentError> {
    let Some(data) = &options.data else { return Err(ExperimentError::NoData { name: "real-balls" }) };
    let mut findings = Findings::default();
    for (i, (preset, prefix)) in [("gelsight", ""), ("gelsight-mini", "mini_")].into_iter().enumerate() {
        judge(preset, prefix, &data.join(preset), &mut findings)?;
        tell(progress, 0.5 * (i + 1) as f64)?;
    }
    Ok(findings)
}

fn judge(preset: &str, prefix: &str, folder: &Path, findings: &mut Findings) -> Result<(), ExperimentError> {
    let BallPresses { background, presses } =
        BallPresses::read(&folder.join("background.png"), &folder.join("labels.csv"))?;
    let sensor = plain(preset, &background)?;
    let labels: Vec<Label> = presses.iter().map(|press| press.label).collect();
    let ball = Object::new(sphere(BALL_M, 0.04e-3)?);
    let reliefs = ball_reliefs(&sensor, &ball, BALL_M, &labels)?;
    let presses: Vec<BallPress> = presses
        .into_iter()
        .zip(reliefs)
        .map(|(press, relief)| BallPress { picture: press.picture, relief, label: press.label })
        .collect();
    let even: Vec<&BallPress> = presses.iter().step_by(2).collect();
    let odd: Vec<&BallPress> = presses.iter().skip(1).step_by(2).collect();
    let kept_as = || BackgroundSpec::File(folder.join("background.png"));
    let fit = fit_calibrated(&background, &even, kept_as())?;
    let degrees = (fit.spec.degree, fit.spec.position_degree);
    let build = |spec: LightSpec| {
        let light = spec.build(background.width, background.height, PIXEL_M, None);
        light.map_err(|error| ExperimentError::Optics { error })
    };
    let calibrated = build(LightSpec::Calibrated(fit.spec))?;
    let phong = build(LightSpec::Phong(fit_phong(&background, &even, kept_as())?))?;
    let shade = |light: &Light, press: &BallPress| light.shade(&press.relief, || None);
    for (name, region) in [("", INSIDE), ("ring_", AROUND)] {
        let score = |shown: &dyn Fn(&BallPress) -> Picture| rmse_255(odd.iter().copied(), region, shown);
        findings.metric(format!("{prefix}{name}rmse_255"), score(&|press| shade(&calibrated, press)));
        findings.metric(format!("{prefix}{name}phong_rmse_255"), score(&|press| shade(&phong, press)));
        findings.metric(format!("{prefix}{name}null_rmse_255"), score(&|_| background.clone()));
    }
    let metric = |name: &str| findings.metrics[&format!("{prefix}{name}")];
    let below = metric("ring_rmse_255") / metric("ring_null_rmse_255");
    findings.metric(format!("{prefix}ring_by_null"), below);
    findings.note(format!(
        "{preset}: {} presses to fit, {} to judge; degree {} of slope and height, {} of the place, chosen on the presses of the fit.",
        even.len(),
        odd.len(),
        degrees.0,
        degrees.1
    ));
    findings.files.add_image(format!("{preset}.png"), &side_by_side(preset, &odd, &calibrated, &phong, &background));
    Ok(())
}

/// The preset's skin behind a camera like that of the data, which looks at the middle of the gel.
fn plain(preset: &str, background: &Picture) -> Result<Sensor, ExperimentError> {
    let spec = presets::find(preset)?;
    let camera = CameraSpec {
        width: background.width,
        height: background.height,
        pixel: Length::new(PIXEL_M),
        distance: None,
        center: [Length::new(0.0); 2],
        mirror: false,
        crop: None,
        exposure: 1.0,
        vignetting: 0.0,
        noise: None,
    };
    Ok(SensorSpec { camera: Some(camera), light: None, markers: None, ..spec }.build(None)?)
}

/// Presses that the fit has not seen: real, calibrated, with lamps, and four times what the calibrated one is off.
fn side_by_side(preset: &str, odd: &[&BallPress], calibrated: &Light, phong: &Light, background: &Picture) -> Image {
    const SHOWN: usize = 4;
    let title = format!("{preset}: balls that the fit has not seen");
    let mut sheet = Sheet::new(4).title(title).gap(10);
    for press in odd.iter().step_by((odd.len() / SHOWN).max(1)).take(SHOWN) {
        let ours = calibrated.shade(&press.relief, || None);
        let lamps = phong.shade(&press.relief, || None);
        let score = |picture: &Picture, region: Region| rmse_255([*press], region, |_| picture.clone());
        let off = Picture {
            channels: [0, 1, 2].map(|c| {
                let pairs = press.picture.channels[c].iter().zip(&ours.channels[c]);
                pairs.map(|(real, ours)| 128.0 + 4.0 * (ours - real)).collect()
            }),
            ..*background
        };
        let small = |picture: &Picture| colours(picture).resize_box(320, 240);
        sheet = sheet
            .picture(small(&press.picture), "real")
            .picture(small(&ours), format!("calibrated: {:.1} levels off inside", score(&ours, INSIDE)))
            .picture(small(&lamps), format!("lamps: {:.1} levels off inside", score(&lamps, INSIDE)))
            .picture(small(&off), "calibrated minus real, times four");
    }
    sheet.render()
}
