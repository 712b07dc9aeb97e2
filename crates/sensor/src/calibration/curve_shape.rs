//! The characteristic curve that all taxels of a sensor share.

use super::least_squares::{search, solve};
use crate::response::Curve;
use dermis_geometry::quantity::Force;
use nalgebra::DMatrix;

/// A family of monotone curves. Taxels share the curve and differ in gain and, for some families, threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CurveShape {
    /// A straight line above a threshold.
    Straight,
    /// A polynomial of third order above a threshold.
    Cubic,
    /// A power of the load.
    Power,
    /// R = R_s/F + R_i: a sigmoid with exponent 1.
    ContactResistance,
    /// A sigmoid.
    Sigmoid,
}

impl CurveShape {
    /// All shapes, from the fewest parameters to the most.
    pub const ALL: [Self; 5] = [Self::Straight, Self::Power, Self::ContactResistance, Self::Cubic, Self::Sigmoid];

    /// True if taxels have a threshold below which they read nothing.
    pub fn has_threshold(self) -> bool {
        matches!(self, Self::Straight | Self::Cubic)
    }

    /// The curve of this shape that fits points (load, reading), both N, of all taxels best.
    pub(super) fn fit(self, lit: &[&[(f64, f64)]]) -> Option<Curve> {
        /// Number of taxels that determine the parameters of a curve.
        const ENOUGH: usize = 16;
        let top = lit.iter().flat_map(|points| points.iter()).map(|p| p.1).fold(f64::MIN_POSITIVE, f64::max);
        let some: Vec<&[(f64, f64)]> = lit.iter().copied().step_by(lit.len().div_ceil(ENOUGH).max(1)).collect();
        let cost = |curve: &Curve| {
            some.iter().map(|points| Line::fit(curve, false, points).map_or(f64::INFINITY, |line| line.squares)).sum()
        };
        let power = |exponent: f64| Curve::Power { exponent, scale: Force::new(top) };
        let sigmoid = |exponent: f64, over: f64| Curve::Sigmoid { exponent, limit: Force::new(over * top) };
        let (flat, steep) = (0.25f64.ln(), 6f64.ln());
        let (low, high) = (1.01f64.ln(), 40f64.ln());
        match self {
            Self::Straight => Some(Curve::Linear { slope: 1.0 }),
            Self::Cubic => cubic(lit, top),
            Self::Power => Some(power(search(|p| cost(&power(p.exp())), flat, steep, 24, 26).exp())),
            Self::ContactResistance => {
                Some(sigmoid(1.0, search(|l| cost(&sigmoid(1.0, l.exp())), low, high, 24, 26).exp()))
            }
            Self::Sigmoid => {
                let exponent = |over: f64| search(|p| cost(&sigmoid(p.exp(), over)), flat, steep, 12, 12).exp();
                let over = search(|l| cost(&sigmoid(exponent(l.exp()), l.exp())), low, high, 12, 12).exp();
                Some(sigmoid(exponent(over), over))
            }
        }
    }
}

/// reading = curve(gain · load + at_zero) of one taxel, all N.
pub(super) struct Line {
    pub gain: f64,
    pub at_zero: f64,
    /// Covariance of gain and `at_zero` for residuals of unit variance; 1 × 1 without a threshold.
    pub covariance: DMatrix<f64>,
    /// Sum of squared residuals of the reading.
    pub squares: f64,
}

impl Line {
    /// Fits the line to linearised readings, each weighted by the local slope of the curve, so that the error of the
    /// reading is minimised. A negative threshold is set to zero.
    pub fn fit(curve: &Curve, threshold: bool, points: &[(f64, f64)]) -> Option<Self> {
        let mut targets = Vec::with_capacity(points.len());
        let mut rows = Vec::with_capacity(points.len());
        for &(load, reading) in points {
            let u = curve.load_of(reading);
            let weight = curve.slope_at(u);
            if !(u.is_finite() && weight.is_finite()) {
                return None;
            }
            targets.push(u * weight);
            rows.push(if threshold { vec![load * weight, weight] } else { vec![load * weight] });
        }
        let solution = solve(&rows, &targets)?;
        let gain = solution.coefficients[0];
        let at_zero = solution.coefficients.get(1).copied().unwrap_or(0.0);
        if at_zero > 0.0 {
            return Self::fit(curve, false, points);
        }
        let mut line = Self { gain, at_zero, covariance: solution.inverse, squares: 0.0 };
        line.squares = points.iter().map(|&(load, reading)| (line.at(curve, load) - reading).powi(2)).sum();
        Some(line)
    }

    /// The reading of a load (both N).
    pub fn at(&self, curve: &Curve, load: f64) -> f64 {
        curve.at(self.gain * load + self.at_zero)
    }
}

/// The curve that fits all taxels best: Gauss–Newton on y = u + c₂u² + c₃u³, u = g F + b, in (c₂, c₃) and (g, b) of
/// every taxel. The two unknowns of a taxel affect only its own points, so they are eliminated taxel by taxel. Counts
/// are divided by the top reading.
fn cubic(lit: &[&[(f64, f64)]], top: f64) -> Option<Curve> {
    let mut curve = [0.0; 2];
    let straight = Curve::Linear { slope: 1.0 };
    let start = |points: &&[(f64, f64)]| Line::fit(&straight, true, points).map(|line| [line.gain, line.at_zero]);
    let mut lines: Vec<[f64; 2]> =
        lit.iter().map(|points| start(points).map(|line| line.map(|x| x / top))).collect::<Option<_>>()?;
    for _ in 0..15 {
        let mut common = Pair::default();
        let mut parts = Vec::with_capacity(lit.len());
        for (points, [g, b]) in lit.iter().zip(&lines) {
            let (mut own, mut mixed) = (Pair::default(), [[0.0; 2]; 2]);
            for &(force, reading) in points.iter() {
                let u = g * force + b;
                let slope = 1.0 + u * (2.0 * curve[0] + 3.0 * curve[1] * u);
                let residual = reading / top - u * (1.0 + u * (curve[0] + curve[1] * u));
                let (by_line, by_curve) = ([slope * force, slope], [u * u, u * u * u]);
                own.add(by_line, residual);
                common.add(by_curve, residual);
                for (row, a) in mixed.iter_mut().zip(by_line) {
                    row.iter_mut().zip(by_curve).for_each(|(m, c)| *m += a * c);
                }
            }
            // Schur complement: common −= mixedᵀ own⁻¹ mixed.
            let mixed = [0, 1].map(|k| [mixed[0][k], mixed[1][k]]);
            let columns = mixed.map(|column| own.solve(column));
            let alone = own.solve(own.right);
            let dot = |a: [f64; 2], b: [f64; 2]| a[0] * b[0] + a[1] * b[1];
            for (k, m) in mixed.into_iter().enumerate() {
                for (l, c) in columns.into_iter().enumerate() {
                    common.matrix[k][l] -= dot(m, c);
                }
                common.right[k] -= dot(m, alone);
            }
            parts.push((alone, columns));
        }
        let step = common.solve(common.right);
        if !(step[0].is_finite() && step[1].is_finite()) {
            break;
        }
        for k in 0..2 {
            curve[k] += step[k];
        }
        for (line, (alone, columns)) in lines.iter_mut().zip(parts) {
            for k in 0..2 {
                line[k] += alone[k] - columns[0][k] * step[0] - columns[1][k] * step[1];
            }
        }
    }
    rising(vec![1.0, curve[0] / top, curve[1] / (top * top)], top)
}

/// A polynomial up to a reading of `top`, continued linearly from there; `None` if it falls before.
fn rising(coefficients: Vec<f64>, top: f64) -> Option<Curve> {
    let curve = |until: f64| Curve::Polynomial { coefficients: coefficients.clone(), until: Force::new(until) };
    let unlimited = curve(f64::MAX);
    let loads = (0..).map(|i| top * f64::from(i) / 200.0).take(2000);
    let until = loads.take_while(|&load| unlimited.slope_at(load) > 0.02).find(|&load| unlimited.at(load) > 1.02 * top);
    until.map(curve)
}

/// Normal equations of two unknowns.
#[derive(Default)]
struct Pair {
    matrix: [[f64; 2]; 2],
    right: [f64; 2],
}

impl Pair {
    fn add(&mut self, row: [f64; 2], target: f64) {
        for k in 0..2 {
            for l in 0..2 {
                self.matrix[k][l] += row[k] * row[l];
            }
            self.right[k] += row[k] * target;
        }
    }

    fn solve(&self, right: [f64; 2]) -> [f64; 2] {
        let [[a, b], [c, d]] = self.matrix;
        let determinant = a * d - b * c;
        [(d * right[0] - b * right[1]) / determinant, (a * right[1] - c * right[0]) / determinant]
    }
}
