//! Fits gain, threshold and curve of every taxel to force against raw counts (Kappassov 2020, section III-B, Fig. 5).

use super::least_squares::{solve, student_975};
use super::shared_curve::{shared_curve, straightened};
use super::{Estimate, FitError, check_points};
use crate::response::{Curve, Stage};
use dermis_geometry::quantity::Force;

/// Parameters of one taxel: counts = curve(gain (F − threshold)) for a force F above the threshold.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct TaxelFit {
    /// Counts per newton at the threshold.
    pub gain_counts_per_newton: Estimate,
    /// Smallest reported force (N).
    pub threshold_newton: Estimate,
    /// Root mean square of the residuals (counts).
    pub rms_counts: f64,
    /// Number of points used: pressed and not saturated.
    pub points: usize,
}

/// All taxels with their common curve.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct TaxelsFit {
    /// Fit of each taxel.
    pub taxels: Vec<TaxelFit>,
    /// c₂ and c₃ of y = u + c₂u² + c₃u³, with u and y in counts; zero for a straight line.
    pub curve: [f64; 2],
    /// Reading at which the sensor saturates (counts), if it does.
    pub saturation_counts: Option<f64>,
    /// Readings up to this (counts) count as noise.
    pub dark_counts: f64,
    /// Root mean square of all residuals (counts).
    pub rms_counts: f64,
}

/// Readings up to this fraction of full scale count as noise.
const DARK: f64 = 0.01;
const REMEDY: &str = "press the taxel at more loads between its threshold and saturation";

impl TaxelsFit {
    /// Linearised reading u (counts).
    pub fn straightened(&self, counts: f64) -> f64 {
        straightened(self.curve, counts)
    }

    /// Force (N) on a taxel for a reading (counts); `None` below the noise level or in saturation.
    pub fn force_newton(&self, taxel: usize, counts: f64) -> Option<f64> {
        let usable = counts > self.dark_counts && self.saturation_counts.is_none_or(|max| counts < 0.97 * max);
        let fit = self.taxels.get(taxel).filter(|_| usable)?;
        Some(self.straightened(counts) / fit.gain_counts_per_newton.value + fit.threshold_newton.value)
    }

    /// The curve as a stage of a response with `newton_per_count`.
    pub fn curve_stage(&self, newton_per_count: f64, until_newton: f64) -> Curve {
        let [c2, c3] = self.curve;
        let coefficients = vec![1.0, c2 / newton_per_count, c3 / newton_per_count.powi(2)];
        Curve::Polynomial { coefficients, until: Force::new(until_newton) }
    }

    /// The same curve, continued linearly beyond `max_newton` or beyond its maximum.
    pub fn rising_curve(&self, newton_per_count: f64, max_newton: f64) -> Curve {
        let mut until = max_newton.max(newton_per_count);
        while until > newton_per_count && self.curve_stage(newton_per_count, until).validate(1).is_err() {
            until *= 0.9;
        }
        self.curve_stage(newton_per_count, until)
    }
}

/// Fits force (N) against counts for every taxel, with one common third-order curve (`curved`) or straight lines.
/// `full_scale` is the maximum count of the converter.
pub fn fit_taxels(data: &[Vec<(f64, f64)>], full_scale: f64, curved: bool) -> Result<TaxelsFit, FitError> {
    for points in data {
        check_points("a taxel's line", points, 4)?;
        let first = points[0].0;
        if points.iter().all(|(force, _)| *force == first) {
            return Err(FitError::NoSpread { what: "force" });
        }
    }
    let saturation_counts = saturation(data, full_scale);
    let max = saturation_counts.map_or(f64::INFINITY, |counts| 0.97 * counts);
    let dark_counts = DARK * full_scale;
    let lit: Vec<Vec<(f64, f64)>> =
        data.iter().map(|points| points.iter().copied().filter(|p| p.1 > dark_counts && p.1 < max).collect()).collect();
    if let Some(points) = lit.iter().find(|points| points.len() < 4) {
        return Err(FitError::TooFew { what: "a taxel (lit and not saturated)", got: points.len(), needed: 4 });
    }
    let curve = if curved { shared_curve(&lit, |points| line([0.0; 2], points)) } else { [0.0; 2] };
    let taxels = lit
        .iter()
        .map(|points| line(curve, points).ok_or(FitError::NoSpread { what: "force" }))
        .collect::<Result<Vec<TaxelFit>, FitError>>()?;
    if let Some(poor) = taxels.iter().find(|t| {
        let gain = t.gain_counts_per_newton;
        !(gain.value > 0.0 && gain.ci95 < 0.5 * gain.value)
    }) {
        let Estimate { value, ci95 } = poor.gain_counts_per_newton;
        return Err(FitError::Undetermined { parameter: "gain", value, ci95, remedy: REMEDY });
    }
    let (sum, count) = taxels.iter().fold((0.0, 0.0), |(sum, count), taxel| {
        (sum + taxel.rms_counts.powi(2) * taxel.points as f64, count + taxel.points as f64)
    });
    Ok(TaxelsFit { taxels, curve, saturation_counts, dark_counts, rms_counts: (sum / f64::max(count, 1.0)).sqrt() })
}

/// Fits the line of one taxel to its linearised readings, each weighted by the local slope of the curve, so that the
/// error in counts is minimised.
fn line(curve: [f64; 2], points: &[(f64, f64)]) -> Option<TaxelFit> {
    let straight: Vec<(f64, f64, f64)> = points
        .iter()
        .map(|&(force, counts)| {
            let u = straightened(curve, counts);
            (force, u, 1.0 + u * (2.0 * curve[0] + 3.0 * curve[1] * u))
        })
        .collect();
    let rows: Vec<Vec<f64>> = straight.iter().map(|(force, _, slope)| vec![force * slope, *slope]).collect();
    let targets: Vec<f64> = straight.iter().map(|(_, u, slope)| u * slope).collect();
    let free = solve(&rows, &targets)?;
    let [gain, at_zero] = [free.coefficients[0], free.coefficients[1]];
    let freedom = points.len().saturating_sub(2);
    let variance = free.squares / freedom.max(1) as f64;
    let t = student_975(freedom);
    // T = −b/g: its variance follows from the gradient (b/g², −1/g).
    let [dg, db] = [at_zero / (gain * gain), -1.0 / gain];
    let c = &free.inverse;
    let spread = dg * dg * c[0][0] + 2.0 * dg * db * c[0][1] + db * db * c[1][1];
    Some(TaxelFit {
        gain_counts_per_newton: Estimate { value: gain, ci95: t * (variance * c[0][0]).sqrt() },
        threshold_newton: Estimate { value: -at_zero / gain, ci95: t * (variance * spread).sqrt() },
        rms_counts: (free.squares / points.len() as f64).sqrt(),
        points: points.len(),
    })
}

/// The top reading shared by several clearly different loads, if any.
fn saturation(data: &[Vec<(f64, f64)>], full_scale: f64) -> Option<f64> {
    let top = data.iter().flatten().map(|p| p.1).fold(0.0, f64::max);
    let level = data.iter().any(|points| {
        let high: Vec<f64> = points.iter().filter(|p| p.1 > 0.985 * top).map(|p| p.0).collect();
        let (low, high) = high.iter().fold((f64::INFINITY, 0f64), |(a, b), f| (a.min(*f), b.max(*f)));
        high > 1.08 * low
    });
    if !level {
        return (top >= full_scale).then_some(full_scale);
    }
    let mut high: Vec<f64> = data.iter().flatten().map(|p| p.1).filter(|y| *y > 0.985 * top).collect();
    high.sort_by(f64::total_cmp);
    Some(high[high.len() / 2])
}

#[cfg(test)]
mod tests {
    use super::*;
    use dermis_geometry::Random;

    type Points = Vec<(f64, f64)>;

    /// Thirty taxels with gains about 2400 counts/N, thresholds about 0.2 N, a curve and saturation.
    fn bench(noise: f64) -> (Vec<Points>, Points) {
        let mut random = Random::new(6);
        let truth: Vec<(f64, f64)> =
            (0..30).map(|_| (2400.0 * (1.0 + 0.1 * random.normal()), random.between(0.1, 0.3))).collect();
        let mut read = |gain: f64, threshold: f64, force: f64| {
            let u = gain * (force - threshold).max(0.0);
            let y = (u - 4e-5 * u * u + 2e-9 * u * u * u).min(3500.0) + noise * random.normal();
            (force, y.round().max(0.0))
        };
        let data = truth
            .iter()
            .map(|&(gain, threshold)| (1..=40).map(|i| read(gain, threshold, f64::from(i) * 0.06)).collect())
            .collect();
        (data, truth)
    }

    #[test]
    fn gains_thresholds_curve_and_saturation_come_back() {
        let (data, truth) = bench(4.0);
        let fit = fit_taxels(&data, 4095.0, true).unwrap();
        let saturation = fit.saturation_counts.unwrap();
        assert!((saturation / 3500.0 - 1.0).abs() < 0.01, "{saturation}");
        for (taxel, (gain, threshold)) in fit.taxels.iter().zip(&truth) {
            assert!((taxel.gain_counts_per_newton.value / gain - 1.0).abs() < 0.02, "{taxel:?} {gain}");
            assert!((taxel.threshold_newton.value - threshold).abs() < 0.01, "{taxel:?} {threshold}");
        }
        let force = fit.force_newton(3, data[3][20].1).unwrap();
        assert!((force - data[3][20].0).abs() < 0.01);
        let straight = fit_taxels(&data, 4095.0, false).unwrap();
        assert!(straight.rms_counts > 3.0 * fit.rms_counts, "the curve is needed");
    }

    #[test]
    fn poor_data_are_refused_with_the_reason() {
        let (data, _) = bench(0.0);
        let few = vec![data[0][..3].to_vec()];
        assert!(matches!(fit_taxels(&few, 4095.0, true), Err(FitError::TooFew { .. })));
        let single = vec![vec![data[0][20]; 10]];
        assert!(matches!(fit_taxels(&single, 4095.0, true), Err(FitError::NoSpread { what: "force" })));
        let mut bad = data.clone();
        bad[0][5].1 = f64::NAN;
        assert!(matches!(fit_taxels(&bad, 4095.0, true), Err(FitError::NotFinite { row: 6, .. })));
        let dark = vec![(1..=10).map(|i| (f64::from(i) * 0.01, 0.0)).collect()];
        let message = fit_taxels(&dark, 4095.0, true).unwrap_err().to_string();
        assert!(message.contains("lit"), "{message}");
    }
}
