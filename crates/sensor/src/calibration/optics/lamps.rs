//! Fits lamps to presses.

use super::BallPress;
use super::samples::{Sample, samples};
use crate::calibration::{FitError, least_squares};
use crate::optics::{BackgroundSpec, FloatImage, LightSourceSpec, PhongSpec};
use dermis_geometry::quantity::Angle;

/// Number of lamps per colour.
const LAMPS: usize = 2;
/// Specular exponent α.
const SHININESS: u32 = 5;
/// Maximum number of samples: lamps have few parameters.
const MAX_SAMPLES: usize = 6000;

/// Fits two lamps for each of red, green and blue, one after the other: the direction by a scan over all directions
/// with refinement, the brightness by least squares. The lamps add only the difference from the gel without contact
/// ([`PhongSpec::relative`]).
pub fn fit_phong(
    background: &FloatImage,
    presses: &[&BallPress],
    kept_as: BackgroundSpec,
) -> Result<PhongSpec, FitError> {
    const NEEDED: usize = 3;
    if presses.len() < NEEDED {
        return Err(FitError::TooFew { what: "the lamps of a sensor", got: presses.len(), needed: NEEDED });
    }
    let all: Vec<Sample> = presses.iter().flat_map(|press| samples(press, background)).collect();
    let stride = all.len().div_ceil(MAX_SAMPLES).max(1);
    let some: Vec<Sample> = all.into_iter().step_by(stride).collect();
    let sources = (0..3).flat_map(|channel| lamps(&some, channel)).collect();
    Ok(PhongSpec { background: kept_as, relative: true, shininess: SHININESS, sources, shadow: None, residual: None })
}

/// Direction of a lamp (rad).
#[derive(Clone, Copy, Debug)]
struct Stand {
    azimuth: f64,
    elevation: f64,
}

/// Trial set of lamps with their brightness and residual.
struct Trial {
    brightness: Vec<f64>,
    left_over: f64,
}

fn lamps(samples: &[Sample], channel: usize) -> Vec<LightSourceSpec> {
    let mut stands: Vec<Stand> = Vec::new();
    for _ in 0..LAMPS {
        let with = |stand: Stand| [&stands[..], &[stand]].concat();
        let score =
            |stand: Stand| attempt(samples, channel, &with(stand)).map_or(f64::INFINITY, |trial| trial.left_over);
        let grid = (0..24).flat_map(|a| (0..9).map(move |e| (a, e))).map(|(a, e)| Stand {
            azimuth: f64::from(a) * 15f64.to_radians(),
            elevation: (5.0 + 10.0 * f64::from(e)).to_radians(),
        });
        let scored = grid.map(|stand| (score(stand), stand));
        let Some((mut lowest, mut best)) = scored.min_by(|a, b| a.0.total_cmp(&b.0)) else { break };
        let mut step = 7.5f64.to_radians();
        while step > 0.2f64.to_radians() {
            let around = [(step, 0.0), (-step, 0.0), (0.0, step), (0.0, -step)].map(|(a, e)| Stand {
                azimuth: best.azimuth + a,
                elevation: (best.elevation + e).clamp(0.0, std::f64::consts::FRAC_PI_2),
            });
            let scored = around.map(|stand| (score(stand), stand));
            match scored.into_iter().min_by(|a, b| a.0.total_cmp(&b.0)) {
                Some((score, stand)) if score < lowest => (lowest, best) = (score, stand),
                _ => step *= 0.5,
            }
        }
        if !lowest.is_finite() {
            break;
        }
        stands.push(best);
    }
    let Some(trial) = attempt(samples, channel, &stands) else { return Vec::new() };
    let coloured = |level: f64| [0, 1, 2].map(|c| if c == channel { level } else { 0.0 });
    let lamp = |(stand, levels): (&Stand, &[f64])| LightSourceSpec {
        azimuth: Angle::new(stand.azimuth.rem_euclid(std::f64::consts::TAU)),
        elevation: Angle::new(stand.elevation),
        diffuse: coloured(levels[0]),
        specular: coloured(levels[1]),
    };
    stands.iter().zip(trial.brightness.chunks_exact(2)).map(lamp).collect()
}

/// Brightness of lamps in given directions. Negative highlights are dropped; `None` for lamps of negative brightness.
fn attempt(samples: &[Sample], channel: usize, stands: &[Stand]) -> Option<Trial> {
    if stands.is_empty() {
        return None;
    }
    let terms: Vec<Vec<f64>> = samples
        .iter()
        .map(|sample| stands.iter().flat_map(|stand| lamp_terms(*stand, sample.seen)).collect())
        .collect();
    let mut used: Vec<usize> = (0..2 * stands.len()).collect();
    loop {
        let weighted = |sample: &Sample| sample.weight.sqrt();
        let rows: Vec<Vec<f64>> = samples
            .iter()
            .zip(&terms)
            .map(|(sample, terms)| used.iter().map(|&i| terms[i] * weighted(sample)).collect())
            .collect();
        let targets: Vec<f64> = samples.iter().map(|sample| sample.added[channel] * weighted(sample)).collect();
        let solution = least_squares::solve(&rows, &targets)?;
        let negative = |i: &usize| solution.coefficients[*i] < 0.0;
        let Some(worst) = (0..used.len())
            .filter(negative)
            .min_by(|&a, &b| solution.coefficients[a].total_cmp(&solution.coefficients[b]))
        else {
            let mut brightness = vec![0.0; 2 * stands.len()];
            used.iter().zip(&solution.coefficients).for_each(|(&i, value)| brightness[i] = *value);
            return Some(Trial { brightness, left_over: solution.squares });
        };
        used.remove(worst);
        if used.is_empty() {
            return None;
        }
    }
}

/// Diffuse and specular light of a lamp of unit brightness, minus that on a gel without contact.
fn lamp_terms(stand: Stand, [normal_right, normal_down]: [f64; 2]) -> [f64; 2] {
    let ((sin_a, cos_a), (sin_e, cos_e)) = (stand.azimuth.sin_cos(), stand.elevation.sin_cos());
    let terms = |x: f64, y: f64| {
        let z = (1.0 - x * x - y * y).max(0.0).sqrt();
        let facing = (cos_e * cos_a * x + cos_e * sin_a * y + sin_e * z).max(0.0);
        let mirrored = if facing > 0.0 { (2.0 * facing * z - sin_e).max(0.0) } else { 0.0 };
        [facing, mirrored.powi(SHININESS as i32)]
    };
    let (tilted, flat) = (terms(normal_right, -normal_down), terms(0.0, 0.0));
    [tilted[0] - flat[0], tilted[1] - flat[1]]
}
