//! One curve for all taxels of a sensor.

use super::TaxelFit;

/// Solves u + c₂u² + c₃u³ = y for u, by Newton's method from y.
pub fn straightened([c2, c3]: [f64; 2], y: f64) -> f64 {
    let mut u = y;
    for _ in 0..20 {
        let slope = 1.0 + u * (2.0 * c2 + 3.0 * c3 * u);
        if slope < 0.05 {
            break;
        }
        let step = (u * (1.0 + u * (c2 + c3 * u)) - y) / slope;
        u -= step;
        if step.abs() < 1e-9 * y.abs() {
            break;
        }
    }
    u
}

/// The curve that fits all taxels best: Gauss–Newton on y = u + c₂u² + c₃u³, u = g F + b, in (c₂, c₃) and (g, b) of
/// every taxel. The two unknowns of a taxel affect only its own points, so they are eliminated taxel by taxel. Counts
/// are divided by the top reading. `straight` fits a straight line to the points of one taxel as the starting point.
pub fn shared_curve(lit: &[Vec<(f64, f64)>], straight: impl Fn(&[(f64, f64)]) -> Option<TaxelFit>) -> [f64; 2] {
    let top = lit.iter().flatten().map(|p| p.1).fold(1.0, f64::max);
    let mut curve = [0.0; 2];
    let mut lines: Vec<[f64; 2]> = lit
        .iter()
        .map(|points| {
            let (gain, at) =
                straight(points).map_or((1.0, 0.0), |t| (t.gain_counts_per_newton.value, t.threshold_newton.value));
            [gain / top, -gain / top * at]
        })
        .collect();
    for _ in 0..15 {
        let mut common = Pair::default();
        let mut parts = Vec::with_capacity(lit.len());
        for (points, [g, b]) in lit.iter().zip(&lines) {
            let (mut own, mut mixed) = (Pair::default(), [[0.0; 2]; 2]);
            for &(force, counts) in points {
                let u = g * force + b;
                let slope = 1.0 + u * (2.0 * curve[0] + 3.0 * curve[1] * u);
                let residual = counts / top - u * (1.0 + u * (curve[0] + curve[1] * u));
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
    [curve[0] / top, curve[1] / (top * top)]
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
