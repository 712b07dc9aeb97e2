//! Fits gain, threshold and curve of every taxel to load against raw counts (Kappassov 2020, section III-B, Fig. 5).

use super::curve_shape::{CurveShape, Line};
use super::least_squares::student_975;
use super::{Estimate, FitError, check_points};
use crate::ResponseSpec;
use crate::response::{Curve, Drift, Gain, PerTaxel, Response, Saturation, Threshold, ThresholdKind};
use dermis_geometry::quantity::Force;

/// Parameters of one taxel: counts = curve(gain (F − threshold)) for a load F above the threshold.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct TaxelFit {
    /// Counts per newton before the curve.
    pub gain_counts_per_newton: Estimate,
    /// Smallest reported load (N).
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
    /// Family of the curve.
    pub shape: CurveShape,
    /// The common curve, in newtons by the nominal conversion of the counts.
    pub curve: Curve,
    /// Reading at which the sensor saturates (counts), if it does.
    pub saturation_counts: Option<f64>,
    /// Readings up to this (counts) count as noise.
    pub dark_counts: f64,
    /// Root mean square of all residuals (counts).
    pub rms_counts: f64,
    /// Relative change of the gains per kelvin (1/K), if the readings have different temperatures. The gains hold at the
    /// reference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gain_per_kelvin: Option<Estimate>,
    /// R² of readings outside the fit: the fraction of their variance that fits without them explain.
    pub explained: f64,
    newton_per_count: f64,
}

/// Readings up to this fraction of full scale, or of the top reading if it is smaller, count as noise.
const DARK: f64 = 0.01;
/// Smallest R² of readings outside the fit.
const MIN_EXPLAINED: f64 = 0.9;
/// Parts of the data, each predicted from the others.
const FOLDS: usize = 4;
const REMEDY: &str = "press the taxel at more loads between its threshold and saturation";

impl TaxelsFit {
    /// Load (N) on a taxel for a reading (counts); `None` below the noise level or in saturation.
    pub fn force_newton(&self, taxel: usize, counts: f64) -> Option<f64> {
        let usable = counts > self.dark_counts && self.saturation_counts.is_none_or(|max| counts < 0.97 * max);
        let fit = self.taxels.get(taxel).filter(|_| usable)?;
        let straightened = self.curve.load_of(counts * self.newton_per_count) / self.newton_per_count;
        Some(straightened / fit.gain_counts_per_newton.value + fit.threshold_newton.value)
    }

    /// Counts of a taxel for a load (N).
    pub fn counts(&self, taxel: usize, load_newton: f64) -> f64 {
        let Some(fit) = self.taxels.get(taxel) else { return 0.0 };
        let u = fit.gain_counts_per_newton.value * (load_newton - fit.threshold_newton.value) * self.newton_per_count;
        (self.curve.at(u) / self.newton_per_count).min(self.saturation_counts.unwrap_or(f64::INFINITY))
    }

    /// Relative change of the gains per kelvin (1/K); zero if the readings do not tell.
    pub(super) fn per_kelvin(&self) -> f64 {
        self.gain_per_kelvin.map_or(0.0, |estimate| estimate.value)
    }

    /// Gain of every taxel for a response: reported newtons per newton of load.
    pub fn gains(&self) -> Vec<f64> {
        self.taxels.iter().map(|fit| fit.gain_counts_per_newton.value * self.newton_per_count).collect()
    }

    /// Threshold of every taxel for a response (N, after the gain).
    pub fn thresholds_newton(&self) -> Vec<f64> {
        self.gains().iter().zip(&self.taxels).map(|(gain, fit)| gain * fit.threshold_newton.value).collect()
    }

    /// A response with these gains, thresholds, curve and saturation, and the other stages of `kept`.
    pub fn response(&self, kept: &ResponseSpec) -> ResponseSpec {
        let thresholds = self.thresholds_newton().into_iter().map(Force::new).collect();
        let saturation = |counts: f64| PerTaxel::All(Force::new(counts * self.newton_per_count));
        ResponseSpec {
            quantised: true,
            gain: Some(Gain {
                gain: PerTaxel::Each(self.gains()),
                drift: self.gain_per_kelvin.and_then(Drift::fitted),
                ..Gain::default()
            }),
            threshold: self
                .shape
                .has_threshold()
                .then_some(Threshold { force: PerTaxel::Each(thresholds), kind: ThresholdKind::DeadBand }),
            curve: (self.shape != CurveShape::Straight).then(|| self.curve.clone()),
            saturation: self.saturation_counts.map(|counts| Saturation { force: saturation(counts) }),
            ..kept.clone()
        }
    }
}

/// Fits load (N) against counts for every taxel with one common curve, whose shape is given or chosen by
/// cross-validation. Returns an error if the curve does not explain the readings outside the fit.
pub fn fit_taxels(
    data: &[Vec<(f64, f64)>],
    counts: Response,
    shape: Option<CurveShape>,
) -> Result<TaxelsFit, FitError> {
    for points in data {
        check_points("a taxel's line", points, 4)?;
        let first = points[0].0;
        if points.iter().all(|(load, _)| *load == first) {
            return Err(FitError::NoSpread { what: "force" });
        }
    }
    let newton_per_count = 1.0 / counts.counts_per_newton;
    let (saturation_counts, dark_counts) = limits(data, counts);
    let usable = usable(saturation_counts, dark_counts);
    let lit: Vec<Vec<(f64, f64)>> = data
        .iter()
        .map(|points| points.iter().filter(|p| usable(p.1)).map(|p| (p.0, p.1 * newton_per_count)).collect())
        .collect();
    if let Some(points) = lit.iter().find(|points| points.len() < 4) {
        return Err(FitError::TooFew { what: "a taxel (lit and not saturated)", got: points.len(), needed: 4 });
    }
    let lit: Vec<&[(f64, f64)]> = lit.iter().map(Vec::as_slice).collect();
    let variation: f64 = lit.iter().map(|points| variation(points)).sum();
    let explained = |squares: f64| if variation > 0.0 { 1.0 - squares / variation } else { 1.0 };
    let shapes: &[CurveShape] = shape.as_ref().map_or(&CurveShape::ALL, std::slice::from_ref);
    let tried: Vec<(CurveShape, f64)> = shapes.iter().map(|&shape| (shape, unseen(&lit, shape))).collect();
    let best = tried.iter().map(|(_, squares)| *squares).fold(f64::INFINITY, f64::min);
    // A simpler shape is preferred unless its error is larger by 5 % and by a third of a count.
    let points = lit.iter().map(|points| points.len()).sum::<usize>() as f64;
    let enough = (1.05 * (best / points).sqrt() + 0.3 * newton_per_count).powi(2) * points;
    let undetermined = || FitError::Undetermined { parameter: "gain", value: 0.0, ci95: f64::INFINITY, remedy: REMEDY };
    let &(shape, squares) = tried.iter().find(|(_, squares)| *squares <= enough).ok_or_else(undetermined)?;
    if explained(squares) < MIN_EXPLAINED {
        return Err(FitError::Unexplained { explained: explained(squares) });
    }
    let curve = shape.fit(&lit).ok_or_else(undetermined)?;
    let line = |points: &&[(f64, f64)]| Line::fit(&curve, shape.has_threshold(), points).ok_or_else(undetermined);
    let lines = lit.iter().map(line).collect::<Result<Vec<Line>, FitError>>()?;
    let taxels: Vec<TaxelFit> =
        lines.iter().zip(&lit).map(|(line, points)| line.taxel_fit(points.len(), newton_per_count)).collect();
    if let Some(poor) = taxels.iter().find(|t| {
        let gain = t.gain_counts_per_newton;
        !(gain.value > 0.0 && gain.ci95 < 0.5 * gain.value)
    }) {
        let Estimate { value, ci95 } = poor.gain_counts_per_newton;
        return Err(FitError::Undetermined { parameter: "gain", value, ci95, remedy: REMEDY });
    }
    let rms_counts = (lines.iter().map(|line| line.squares).sum::<f64>() / points).sqrt() / newton_per_count;
    let explained = explained(squares);
    let gain_per_kelvin = None;
    Ok(TaxelsFit {
        taxels,
        shape,
        curve,
        saturation_counts,
        dark_counts,
        rms_counts,
        gain_per_kelvin,
        explained,
        newton_per_count,
    })
}

/// Reading at which taxels saturate (counts), if they do, and the reading up to which they are dark.
pub(super) fn limits(data: &[Vec<(f64, f64)>], counts: Response) -> (Option<f64>, f64) {
    let full_scale = ((1u64 << counts.bits.min(32)) - 1) as f64;
    let top = data.iter().flatten().map(|p| p.1).fold(0.0, f64::max);
    (saturation(data, full_scale), DARK * full_scale.min(top))
}

/// A test for readings (counts) that are neither dark nor saturated.
pub(super) fn usable(saturation_counts: Option<f64>, dark_counts: f64) -> impl Fn(f64) -> bool {
    let max = saturation_counts.map_or(f64::INFINITY, |counts| 0.97 * counts);
    move |counts| counts > dark_counts && counts < max
}

/// Sum of squares of the readings of a taxel about their mean.
fn variation(points: &[(f64, f64)]) -> f64 {
    let mean = points.iter().map(|p| p.1).sum::<f64>() / points.len() as f64;
    points.iter().map(|p| (p.1 - mean).powi(2)).sum()
}

/// Sum of squared residuals of every part of the data, each predicted by a fit to the other parts.
fn unseen(lit: &[&[(f64, f64)]], shape: CurveShape) -> f64 {
    let mut squares = 0.0;
    for fold in 0..FOLDS {
        let part = |held_out: bool| -> Vec<Vec<(f64, f64)>> {
            let taken = |(i, p): (usize, &(f64, f64))| (held_out == (i % FOLDS == fold)).then_some(*p);
            lit.iter().map(|points| points.iter().enumerate().filter_map(taken).collect()).collect()
        };
        let (seen, held_out) = (part(false), part(true));
        let seen: Vec<&[(f64, f64)]> = seen.iter().map(Vec::as_slice).collect();
        let Some(curve) = shape.fit(&seen) else { return f64::INFINITY };
        for (seen, held_out) in seen.iter().zip(&held_out) {
            let Some(line) = Line::fit(&curve, shape.has_threshold(), seen) else { return f64::INFINITY };
            squares += held_out.iter().map(|&(load, reading)| (line.at(&curve, load) - reading).powi(2)).sum::<f64>();
        }
    }
    squares
}

impl Line {
    fn taxel_fit(&self, points: usize, newton_per_count: f64) -> TaxelFit {
        let c = &self.covariance;
        let freedom = points.saturating_sub(c.nrows());
        let half = |variance: f64| student_975(freedom) * (self.squares / freedom.max(1) as f64 * variance).sqrt();
        // T = −b/g: its variance follows from the gradient (b/g², −1/g).
        let [dg, db] = [self.at_zero / (self.gain * self.gain), -1.0 / self.gain];
        let spread =
            if c.nrows() < 2 { 0.0 } else { dg * dg * c[(0, 0)] + 2.0 * dg * db * c[(0, 1)] + db * db * c[(1, 1)] };
        let gain = Estimate { value: self.gain / newton_per_count, ci95: half(c[(0, 0)]) / newton_per_count };
        TaxelFit {
            gain_counts_per_newton: gain,
            threshold_newton: Estimate { value: -self.at_zero / self.gain, ci95: half(spread) },
            rms_counts: (self.squares / points as f64).sqrt() / newton_per_count,
            points,
        }
    }
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
