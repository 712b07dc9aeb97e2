//! Kappassov 2020: a simulated reference sensor with known parameters, its bench data, and the comparison of images.

use super::ExperimentError;
use dermis::geometry::quantity::{Force, Stiffness, Time};
use dermis::geometry::shapes::{cuboid, cylinder, prism, sphere, torus};
use dermis::geometry::{Pose, Quat, Random, TriMesh, Vec3};
use dermis::sensor::calibration::{FitError, SensorFit, TaxelLoads, fit_sensor};
use dermis::sensor::characterise::{Bench, BenchError, Protocol, characterise};
use dermis::sensor::response::{Creep, Curve, Gain, Hysteresis, Noise, PerTaxel, Saturation, Threshold, ThresholdKind};
use dermis::sensor::{Aim, Goal, Response, ResponseSpec, Sensor, SensorSpec, SkinSpec, Spread, presets, press};
use dermis::skin::{Object, Touch};

/// The paper's weights (g).
pub const LOADS_G: [f64; 2] = [100.0, 500.0];
/// The paper's rotations (°).
pub const ANGLES_DEG: [f64; 3] = [0.0, 45.0, 90.0];
const GRAVITY: f64 = 9.81;
/// Contact points along each side of a tactel, and per tactel: the indenter touches the middle one only.
const POINTS: usize = 3;
pub const SITES: f64 = 9.0;
/// Noise of the bench's force sensor (N) and of its manual stage (m): an ATI Nano17 resolves 3 mN.
const BENCH_FORCE_NOISE: f64 = 3e-3;
const BENCH_DEPTH_NOISE: f64 = 10e-6;
/// Time (s) from placing the weight to reading an image, and number of readings in the average.
const SETTLE_S: f64 = 1.0;
const READINGS: usize = 10;
const STEP_S: f64 = 0.01;

/// The true parameters of the reference sensor.
pub struct Truth {
    pub gains: Vec<f64>,
    pub thresholds_newton: Vec<f64>,
    /// σ of the Gaussian closest to the spread kernel, on the same 5 × 5 taxels.
    pub sigma_taxels: f64,
    pub hysteresis: f64,
    pub creep: (f64, f64),
    pub noise_newton: f64,
    pub stiffness_newton_per_m: f64,
    pub saturation_newton: f64,
}

/// The nominal sensor: the preset with several contact points per tactel and the stiffness that the paper measured.
pub fn nominal() -> Result<SensorSpec, ExperimentError> {
    let mut spec = presets::find("wts0614")?;
    spec.contact_points = Some(POINTS);
    set_stiffness(&mut spec, SITES * 2000.0);
    Ok(spec)
}

/// Sets the stiffness of a tactel (N/m).
pub fn set_stiffness(spec: &mut SensorSpec, newton_per_m: f64) {
    if let SkinSpec::Springs(springs) = &mut spec.skin {
        springs.stiffness = Some(Stiffness::new(newton_per_m));
    }
}

fn counts() -> Response {
    Response { counts_per_newton: 1.0 / 0.42e-3, bits: 12 }
}

/// The reference sensor. Its spread is a narrow peak with wide tails, wider along the array than across it, and its
/// response curve is exponential; the fitted Gaussian and cubic can represent neither exactly.
pub fn reference() -> Result<(Sensor, Truth), ExperimentError> {
    let mut spec = nominal()?;
    spec.name = "reference".into();
    let stiffness = SITES * 1700.0;
    set_stiffness(&mut spec, stiffness);
    let taxels = 84;
    let mut random = Random::new(2020);
    let gains: Vec<f64> = (0..taxels).map(|_| (1.0 + 0.15 * random.normal()).clamp(0.6, 1.4)).collect();
    // The rubber is glued at its sides, so border tactels have a higher threshold (section III-B).
    let border = |i: usize| i / 6 == 0 || i / 6 == 13 || i.is_multiple_of(6) || i % 6 == 5;
    let thresholds: Vec<f64> =
        (0..taxels).map(|i| if border(i) { 0.10 } else { 0.06 } * (1.0 + 0.2 * random.between(-1.0, 1.0))).collect();
    // Wider along the array than across it.
    let kernel = |a: i32, b: i32| {
        let d2 = (f64::from(a) / 1.05).powi(2) + (f64::from(b) * 1.05).powi(2);
        (-d2 / (2.0 * 0.52f64.powi(2))).exp() + 0.08 * (-d2.sqrt() / 0.7).exp()
    };
    let rows: Vec<Vec<f64>> = (-2..=2).map(|a| (-2..=2).map(|b| kernel(a, b)).collect()).collect();
    let bend = |x: f64| 6.0 * (1.0 - (-x / 6.0).exp());
    let loads: Vec<f64> = (1..=30).map(|i| f64::from(i) * 0.12).collect();
    let force = |value: &f64| Force::new(*value);
    let truth = Truth {
        sigma_taxels: nearest_sigma(&rows),
        gains: gains.clone(),
        thresholds_newton: thresholds.clone(),
        hysteresis: 0.08,
        creep: (0.12, 3.0),
        noise_newton: 1.5e-3,
        stiffness_newton_per_m: stiffness,
        saturation_newton: 1.6,
    };
    spec.response = ResponseSpec {
        quantised: true,
        spread: Some(Spread { sigma: None, sigma_taxels: None, kernel: 5, weights: Some(rows) }),
        hysteresis: Some(Hysteresis { fraction: truth.hysteresis, width: Force::new(0.0) }),
        creep: vec![Creep { amplitude: truth.creep.0, time: Time::new(truth.creep.1) }],
        gain: Some(Gain { gain: PerTaxel::Each(gains), ..Gain::default() }),
        threshold: Some(Threshold {
            force: PerTaxel::Each(thresholds.iter().map(force).collect()),
            kind: ThresholdKind::DeadBand,
        }),
        curve: Some(Curve::Table {
            load: loads.iter().map(force).collect(),
            reads: loads.iter().map(|&load| Force::new(bend(load))).collect(),
        }),
        saturation: Some(Saturation { force: PerTaxel::All(Force::new(truth.saturation_newton)) }),
        noise: Some(Noise { sd: Force::new(truth.noise_newton), relative: 0.0, seed: 77 }),
        ..counts().into()
    };
    Ok((spec.build(None)?, truth))
}

/// σ of the 5 × 5 Gaussian with the least squared difference, both normalised to the centre.
fn nearest_sigma(rows: &[Vec<f64>]) -> f64 {
    let squares = |sigma: f64| {
        let mut sum = 0.0;
        for (a, row) in rows.iter().enumerate() {
            for (b, weight) in row.iter().enumerate() {
                let d2 = (a as f64 - 2.0).powi(2) + (b as f64 - 2.0).powi(2);
                sum += (weight / rows[2][2] - (-d2 / (2.0 * sigma * sigma)).exp()).powi(2);
            }
        }
        sum
    };
    let sigmas = (0..2000).map(|i| 0.3 + f64::from(i) * 5e-4);
    sigmas.min_by(|a, b| squares(*a).total_cmp(&squares(*b))).unwrap_or(0.5)
}

/// The bench protocol: presses beyond saturation, so that neighbours respond as well.
pub fn protocol() -> Protocol {
    Protocol {
        indenter_m: 1e-3,
        depths_m: (1..=12).map(|i| f64::from(i) * 0.15e-3).collect(),
        presses: 3,
        rest_s: 6.0,
        creep_taxels: vec![20, 39, 45, 63],
        creep_depth_m: 0.5e-3,
        creep_s: 15.0,
        ..Protocol::default()
    }
}

/// The bench data of the reference sensor, and the model fitted to these data alone.
pub fn fitted(
    sensor: &Sensor,
    progress: &mut dyn FnMut(f64) -> bool,
) -> Result<(Bench, SensorFit, SensorSpec), ExperimentError> {
    let mut bench = characterise(sensor, &protocol(), &mut *progress).map_err(refused)?;
    let mut random = Random::new(17);
    for row in bench.presses.iter_mut().filter(|row| row.depth_m > 0.0) {
        row.force_newton += BENCH_FORCE_NOISE * random.normal();
        row.depth_m += BENCH_DEPTH_NOISE * random.normal();
    }
    let mut spec = nominal()?;
    let unfitted = spec.build(None)?;
    let known = ResponseSpec::from(*unfitted.response());
    let fit = fit_sensor(&TaxelLoads::new(&unfitted, &bench, protocol().indenter_m)?, &known, 5)?;
    spec.name = "fitted".into();
    spec.description =
        "fitted to bench data: gain and threshold of every tactel, spread, curve, hysteresis, creep".into();
    set_stiffness(&mut spec, SITES * fit.stiffness.through_zero_newton_per_m.value);
    spec.response = fit.response(true);
    Ok((bench, fit, spec))
}

fn refused(error: BenchError) -> ExperimentError {
    match error {
        BenchError::Press(error) => error.into(),
        BenchError::Shape(error) => error.into(),
        other => FitError::Unusable { reason: other.to_string() }.into(),
    }
}

/// Names and shapes of the indenters, which are not part of the fit.
pub fn indenters() -> Result<Vec<(&'static str, TriMesh)>, ExperimentError> {
    let lying = cylinder(4e-3, 10e-3, 0.4e-3)?
        .transformed(&Pose::from_rotation(Quat::from_rotation_y(std::f64::consts::FRAC_PI_2)));
    let bar = |x: f64, y: f64| cuboid(Vec3::new(x, y, 10e-3));
    Ok(vec![
        ("hexagon", prism(6, 4.5e-3, 10e-3)?),
        ("triangle", prism(3, 5e-3, 10e-3)?),
        ("square", bar(7e-3, 7e-3)?),
        ("bar", bar(12e-3, 3e-3)?),
        ("cross", bar(11e-3, 2.5e-3)?.joined(&bar(2.5e-3, 11e-3)?)),
        ("ring", torus(5e-3, 1.5e-3, 0.4e-3)?),
        ("cylinder", lying),
        ("ball", sphere(12e-3, 0.5e-3)?),
    ])
}

/// Presses a rotated indenter with a weight, off-centre to avoid symmetry.
pub fn weigh(sensor: &Sensor, object: &Object, angle_deg: f64, load_g: f64) -> Result<Touch, ExperimentError> {
    let aim = Aim { at_m: [0.9e-3, 0.6e-3], yaw_rad: angle_deg.to_radians(), ..Aim::default() };
    Ok(press(sensor, object, &aim, Goal::Force(load_g * 1e-3 * GRAVITY))?.touch)
}

/// The tactile image (N) of a touch: read after settling, averaged over several readings.
pub fn sample_image(sensor: &Sensor, touch: &Touch) -> Result<Vec<f64>, ExperimentError> {
    let mut state = sensor.chain().rest();
    let steps = (SETTLE_S / STEP_S) as usize;
    let mut sum = vec![0.0; sensor.taxels().len()];
    for step in 0..steps {
        let (reading, next) =
            sensor.sense(&state, touch, STEP_S).map_err(|error| FitError::Unusable { reason: error.to_string() })?;
        state = next;
        if step + READINGS >= steps {
            sum.iter_mut().zip(&reading.reported_newton).for_each(|(sum, value)| *sum += value / READINGS as f64);
        }
    }
    Ok(sum)
}

/// Threshold (N) above which a tactel counts as loaded: three times the sensor's noise.
pub const LIT: f64 = 4.5e-3;

/// Σ|A − B| / ΣA over tactels loaded in either image; A is the reference.
pub fn difference(reference: &[f64], model: &[f64]) -> f64 {
    let active = || reference.iter().zip(model).filter(|(a, b)| **a > LIT || **b > LIT);
    active().map(|(a, b)| (a - b).abs()).sum::<f64>() / active().map(|(a, _)| a).sum::<f64>()
}
