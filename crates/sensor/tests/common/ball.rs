//! The surface of an elastic half-space under a rigid ball, in closed form.

use dermis_geometry::Vec3;
use dermis_skin::SurfaceField;

/// A ball of radius R pressed until its contact has radius a (Sneddon 1965): with χ(t) = (t/2) ln((R + t)/(R − t)) the
/// depth is χ(a); the surface follows the ball inside the contact and is displaced outside by (2/π) ∫₀ᵃ (χ(a) − χ(t)) /
/// √(r² − t²) dt.
pub struct Ball {
    pub radius_m: f64,
    pub contact_m: f64,
}

impl Ball {
    fn chi(&self, t: f64) -> f64 {
        0.5 * t * ((self.radius_m + t) / (self.radius_m - t)).ln()
    }

    pub fn depth_m(&self) -> f64 {
        self.chi(self.contact_m)
    }

    /// Downward displacement of the surface at a distance from the axis (m).
    pub fn sinks_m(&self, r: f64) -> f64 {
        let (big, a) = (self.radius_m, self.contact_m);
        if r <= a {
            return self.depth_m() - (big - (big * big - r * r).sqrt());
        }
        // The substitution t = r sin θ removes the root.
        let (end, count) = ((a / r).asin(), 24);
        let step = end / f64::from(count);
        let at = |i: i32| self.depth_m() - self.chi(r * ((f64::from(i) + 0.5) * step).sin());
        2.0 / std::f64::consts::PI * step * (0..count).map(at).sum::<f64>()
    }

    /// The complete surface on a grid, pressed at a position (m).
    pub fn field(&self, at: [f64; 2], rows: usize, cols: usize, cell_m: f64) -> SurfaceField {
        let far = (rows.max(cols) as f64) * cell_m * 1.5;
        let table: Vec<f64> = (0..4000).map(|i| self.sinks_m(f64::from(i) / 3999.0 * far)).collect();
        let sinks = |r: f64| {
            let x = (r / far * 3999.0).min(3998.0);
            let i = x as usize;
            table[i] + (table[i + 1] - table[i]) * (x - i as f64)
        };
        let mut field =
            SurfaceField { rows, cols, cell_m, center: Vec3::ZERO, values: Vec::new(), rest_heights_m: None };
        for row in 0..rows {
            for col in 0..cols {
                let rest = field.rest(row, col);
                field.values.push(-Vec3::Z * sinks((rest.x - at[0]).hypot(rest.y - at[1])));
            }
        }
        field
    }
}
