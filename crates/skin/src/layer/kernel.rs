//! Influence coefficients: displacements and stresses of cells under a unit traction on one cell.

use super::radial::{Order, Radial, Waves};
use super::{Laminate, Ply, WaveResponse};
use dermis_geometry::Vec2;

/// Influence of a cell with unit traction on the cell at offset `row`, `col`, both zero or positive; the other
/// quadrants follow by symmetry.
#[derive(Clone, Debug)]
pub struct Influence {
    /// Cells along y.
    pub rows: usize,
    /// Cells along x.
    pub cols: usize,
    /// Row by row.
    pub values: Vec<f64>,
    /// Symmetry in x and y.
    pub parity: Parity,
}

impl Influence {
    /// The coefficients with x and y exchanged, of a pair of components.
    pub(super) fn transposed(&self, pair: Pair) -> Self {
        let Self { rows, cols, values, .. } = self;
        let swapped = (0..*cols).flat_map(|row| (0..*rows).map(move |col| values[col * cols + row]));
        Self { rows: *cols, cols: *rows, values: swapped.collect(), parity: pair.parity() }
    }
}

/// Symmetry of an influence in x and y: even, or odd in x, in y, or in both.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Parity {
    /// Even in both.
    Even,
    /// Odd in x.
    OddX,
    /// Odd in y.
    OddY,
    /// Odd in both.
    OddXy,
}

/// Green's functions of a laminate: the response to a point force minus that of a half-space of the top ply, and the
/// stress at the sensing depth.
///
/// The half-space part is known in closed form over a cell (Love 1929; Cerruti's counterpart); the remainder is smooth
/// over the thickness, so a few points per cell integrate it. A spectrum sampled on a grid would wrap around, since the
/// half-space's 1/ρ has infinite range.
#[derive(Clone, Debug)]
pub struct Functions {
    top: Ply,
    total_m: f64,
    /// Distance (m) beyond which the response is zero.
    reach_m: f64,
    surface: Tables,
    below: Tables,
}

/// Responses as functions of the distance.
#[derive(Clone, Debug)]
struct Tables {
    normal: Radial,
    /// Mean and half the difference of the responses to shear along and across the distance.
    tangential_mean: Radial,
    tangential_difference: Radial,
    tangential_by_pressure: Radial,
    normal_by_shear: Radial,
}

impl Tables {
    /// Transforms the responses `of` waves minus those of a half-space: normal by pressure, tangential by shear,
    /// transverse by shear, tangential by pressure, normal by shear.
    fn new(
        waves: &Waves,
        scale_m: f64,
        response: impl Fn(f64) -> WaveResponse,
        of: impl Fn(&WaveResponse) -> [f64; 5],
        half_space: [f64; 4],
    ) -> Self {
        let responses: Vec<(f64, [f64; 5])> = waves.k.iter().map(|&k| (k, of(&response(k)))).collect();
        let sample = |f: &dyn Fn(f64, &[f64; 5]) -> f64| -> Vec<f64> {
            responses.iter().map(|(k, response)| f(*k, response)).collect()
        };
        let [normal_pa, sum_pa, difference_pa, coupling_pa] = half_space;
        let normal = sample(&|k, r| k * r[0] - normal_pa);
        let mean = sample(&|k, r| 0.5 * (k * (r[1] + r[2]) - sum_pa));
        let difference = sample(&|k, r| 0.5 * (k * (r[1] - r[2]) + difference_pa));
        let (by_pressure, by_shear) = (sample(&|k, r| k * r[3] + coupling_pa), sample(&|k, r| k * r[4]));
        let spectra = [
            (Order::Zero, &normal[..]),
            (Order::Zero, &mean),
            (Order::Two, &difference),
            (Order::One, &by_pressure),
            (Order::One, &by_shear),
        ];
        let [normal, tangential_mean, tangential_difference, tangential_by_pressure, normal_by_shear] =
            waves.transform(spectra, scale_m);
        Self { normal, tangential_mean, tangential_difference, tangential_by_pressure, normal_by_shear }
    }
}

/// A component of the response and a component of the traction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Pair {
    /// Downward displacement by pressure.
    ZPressure,
    /// Displacement along x by shear along x.
    XX,
    /// Displacement along y by shear along y.
    YY,
    /// Displacement along x by shear along y, and vice versa.
    XY,
    /// Displacement along x by pressure; its negative is downward displacement by shear along x.
    XPressure,
    /// Displacement along y by pressure; its negative is downward displacement by shear along y.
    YPressure,
    /// Pressure below by pressure.
    BelowPressure,
    /// Shear along x below by shear along x.
    BelowXX,
    /// Shear along y below by shear along y.
    BelowYY,
    /// Shear along x below by shear along y, and vice versa.
    BelowXY,
    /// Shear along x below by pressure.
    BelowXPressure,
    /// Shear along y below by pressure.
    BelowYPressure,
    /// Pressure below by shear along x.
    BelowPressureX,
    /// Pressure below by shear along y.
    BelowPressureY,
}

impl Pair {
    /// All pairs.
    pub const ALL: [Self; 14] = [
        Self::ZPressure,
        Self::XX,
        Self::YY,
        Self::XY,
        Self::XPressure,
        Self::YPressure,
        Self::BelowPressure,
        Self::BelowXX,
        Self::BelowYY,
        Self::BelowXY,
        Self::BelowXPressure,
        Self::BelowYPressure,
        Self::BelowPressureX,
        Self::BelowPressureY,
    ];

    pub(super) fn parity(self) -> Parity {
        match self {
            Self::ZPressure | Self::XX | Self::YY | Self::BelowPressure | Self::BelowXX | Self::BelowYY => Parity::Even,
            Self::XY | Self::BelowXY => Parity::OddXy,
            Self::XPressure | Self::BelowXPressure | Self::BelowPressureX => Parity::OddX,
            Self::YPressure | Self::BelowYPressure | Self::BelowPressureY => Parity::OddY,
        }
    }

    /// The pair that this one becomes when x and y are exchanged, if it is computed first.
    pub(super) fn mirrored(self) -> Option<Self> {
        match self {
            Self::YY => Some(Self::XX),
            Self::YPressure => Some(Self::XPressure),
            Self::BelowYY => Some(Self::BelowXX),
            Self::BelowYPressure => Some(Self::BelowXPressure),
            Self::BelowPressureY => Some(Self::BelowPressureX),
            _ => None,
        }
    }

    fn is_below(self) -> bool {
        self >= Self::BelowPressure
    }
}

impl Functions {
    /// Tabulates the functions of a laminate up to a distance of `reach_m`, with the sensing plane at `depth_m`.
    pub fn new(laminate: &Laminate, depth_m: f64, reach_m: f64) -> Self {
        let top = *laminate.top();
        let total_m = laminate.thickness_m();
        // The response of one ply decays at a rate of at least 0.739 per thickness (the smallest root of cos y = y, at
        // ν = ½).
        let reach_m = if laminate.plies().len() == 1 { reach_m.min(45.0 * total_m) } else { reach_m };
        let (mu, nu) = (top.shear_pa(), top.poisson.ratio());
        let response = |k: f64| laminate.response(k, depth_m);
        let at_surface = |r: &WaveResponse| {
            [
                r.normal_by_pressure,
                r.tangential_by_shear,
                r.transverse_by_shear,
                r.tangential_by_pressure,
                r.normal_by_shear,
            ]
        };
        let at_depth = |r: &WaveResponse| {
            let shear = [r.below_shear_by_shear, r.below_transverse];
            [r.below_pressure_by_pressure, shear[0], shear[1], r.below_shear_by_pressure, r.below_pressure_by_shear]
        };
        let half_space = [(1.0 - nu) / mu, (2.0 - nu) / mu, nu / mu, 0.5 * (1.0 - 2.0 * nu) / mu];
        let waves = Waves::new(total_m, 21.0 / top.thickness_m, reach_m);
        let surface = Tables::new(&waves, top.thickness_m, response, at_surface, half_space);
        let waves = Waves::new(total_m, 45.0 / depth_m, reach_m);
        let below = Tables::new(&waves, depth_m, response, at_depth, [0.0; 4]);
        Self { top, total_m, reach_m, surface, below }
    }

    /// Influence of square cells on each other, `rows` × `cols` of them in a quadrant. At the surface the traction is
    /// uniform over its cell and the response is taken at the centre of the other cell; below, it is the mean over the
    /// other cell.
    pub fn influence(&self, pair: Pair, rows: usize, cols: usize, cell_m: f64) -> Influence {
        let mut values = Vec::with_capacity(rows * cols);
        let rule =
            if pair.is_below() { Rule::twice(cell_m, self.total_m) } else { Rule::once(cell_m, self.top.thickness_m) };
        for row in 0..rows {
            for col in 0..cols {
                let at = Vec2::new(col as f64, row as f64) * cell_m;
                let symmetric = matches!(pair, Pair::ZPressure | Pair::XY | Pair::BelowPressure | Pair::BelowXY);
                values.push(if symmetric && col < row && row < cols {
                    // Mirrored at the diagonal.
                    values[col * cols + row]
                } else {
                    self.over_cell(pair, at, cell_m, &rule)
                });
            }
        }
        Influence { rows, cols, values, parity: pair.parity() }
    }

    fn over_cell(&self, pair: Pair, at: Vec2, cell_m: f64, rule: &Rule) -> f64 {
        let far = at.length() > self.reach_m;
        if far && (pair.is_below() || self.reach_m >= 45.0 * self.total_m) {
            return 0.0;
        }
        let half_space = if pair.is_below() { 0.0 } else { half_space(&self.top, pair, at, cell_m) };
        let mut rest = 0.0;
        for (x, wx) in rule.nodes() {
            for (y, wy) in rule.nodes() {
                rest += wx * wy * self.rest(pair, at + Vec2::new(x, y));
            }
        }
        half_space + rest * cell_m * cell_m
    }

    /// Response to a unit point force at a distance, minus the half-space part.
    fn rest(&self, pair: Pair, at: Vec2) -> f64 {
        let rho = at.length();
        let direction = if rho > 0.0 { at / rho } else { Vec2::ZERO };
        let double = direction.x * direction.x - direction.y * direction.y;
        let cross = 2.0 * direction.x * direction.y;
        let of = if pair.is_below() { &self.below } else { &self.surface };
        let place = of.normal.place(rho);
        match pair {
            Pair::ZPressure | Pair::BelowPressure => of.normal.at(place),
            Pair::XX | Pair::BelowXX => of.tangential_mean.at(place) - double * of.tangential_difference.at(place),
            Pair::YY | Pair::BelowYY => of.tangential_mean.at(place) + double * of.tangential_difference.at(place),
            Pair::XY | Pair::BelowXY => -cross * of.tangential_difference.at(place),
            Pair::XPressure | Pair::BelowXPressure => direction.x * of.tangential_by_pressure.at(place),
            Pair::YPressure | Pair::BelowYPressure => direction.y * of.tangential_by_pressure.at(place),
            Pair::BelowPressureX => -direction.x * of.normal_by_shear.at(place),
            Pair::BelowPressureY => -direction.y * of.normal_by_shear.at(place),
        }
    }
}

/// Response of a half-space at `at` from the centre of a square cell with unit traction (Boussinesq, Cerruti; Love
/// 1929).
fn half_space(ply: &Ply, pair: Pair, at: Vec2, cell_m: f64) -> f64 {
    let (mu, nu) = (ply.shear_pa(), ply.poisson.ratio());
    let corners = |f: fn(f64, f64) -> f64| -> f64 {
        let h = 0.5 * cell_m;
        f(at.x + h, at.y + h) - f(at.x - h, at.y + h) - f(at.x + h, at.y - h) + f(at.x - h, at.y - h)
    };
    let tau = std::f64::consts::TAU;
    // ∫∫ x²/r³, ∫∫ y²/r³, ∫∫ xy/r³, ∫∫ x/r² over the cell.
    let along_x = || corners(|x, y| y * log_of(x, y));
    let along_y = || corners(|x, y| x * log_of(y, x));
    match pair {
        Pair::ZPressure => (1.0 - nu) / (tau * mu) * (along_x() + along_y()),
        Pair::XX => (along_x() + (1.0 - nu) * along_y()) / (tau * mu),
        Pair::YY => (along_y() + (1.0 - nu) * along_x()) / (tau * mu),
        Pair::XY => nu / (tau * mu) * corners(|x, y| -x.hypot(y)),
        Pair::XPressure => -(1.0 - 2.0 * nu) / (2.0 * tau * mu) * corners(x_by_r2),
        Pair::YPressure => -(1.0 - 2.0 * nu) / (2.0 * tau * mu) * corners(|x, y| x_by_r2(y, x)),
        _ => 0.0,
    }
}

/// ln(a + r) with r² = a² + b², without cancellation for a < 0.
fn log_of(a: f64, b: f64) -> f64 {
    let r = a.hypot(b);
    // (a + r)(r − a) = b².
    if a >= 0.0 { (a + r).ln() } else { (b * b).max(f64::MIN_POSITIVE).ln() - (r - a).ln() }
}

fn x_by_r2(x: f64, y: f64) -> f64 {
    let r2 = (x * x + y * y).max(f64::MIN_POSITIVE);
    0.5 * y * r2.ln() + if x == 0.0 { 0.0 } else { x * (y / x).atan() }
}

/// Quadrature rule along one axis of a cell.
struct Rule {
    points: Vec<(f64, f64)>,
}

impl Rule {
    /// Rule over a cell: two Gauss points per part, with enough parts to resolve `scale_m`.
    fn once(cell_m: f64, scale_m: f64) -> Self {
        let parts = (2.0 * cell_m / scale_m).ceil().clamp(1.0, 16.0);
        let offset = 0.5 / 3f64.sqrt();
        let mut points = Vec::new();
        for part in 0..parts as usize {
            let middle = (part as f64 + 0.5) / parts - 0.5;
            for side in [-offset, offset] {
                points.push(((middle + side / parts) * cell_m, 0.5 / parts));
            }
        }
        Self { points }
    }

    /// Rule over a pair of cells: the weight is a triangle two cells wide.
    fn twice(cell_m: f64, scale_m: f64) -> Self {
        if 2.0 * cell_m < scale_m {
            let x = 0.4f64.sqrt() * cell_m;
            return Self { points: vec![(-x, 5.0 / 24.0), (0.0, 7.0 / 12.0), (x, 5.0 / 24.0)] };
        }
        let once = Self::once(cell_m, scale_m);
        let pairs = once.points.iter().flat_map(|a| once.points.iter().map(move |b| (a.0 + b.0, a.1 * b.1)));
        Self { points: pairs.collect() }
    }

    fn nodes(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.points.iter().copied()
    }
}
