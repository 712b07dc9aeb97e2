//! What a traction on one cell does at the others.

use super::radial::{Order, Radial, Waves};
use super::{Laminate, Ply};
use dermis_geometry::Vec2;

/// Influence of a cell with unit traction on cells `row`, `col` away, for `row` and `col` from zero on; the other quadrants
/// follow by symmetry.
#[derive(Clone, Debug)]
pub struct Influence {
    /// Cells along y.
    pub rows: usize,
    /// Cells along x.
    pub cols: usize,
    /// Row by row.
    pub values: Vec<f64>,
    /// What happens to the sign where x, or y, is turned around.
    pub parity: Parity,
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

/// The functions of the distance that a laminate is described by: what a point load does beyond what it would do on a
/// half-space of the top ply, and what reaches the plane below.
///
/// The half-space part is known in closed form over a cell (Love 1929; Cerruti's counterpart); the rest is smooth over the
/// thickness, so that a few points in a cell integrate it. A spectrum sampled on a grid would repeat itself instead: the
/// half-space's 1/ρ reaches any distance.
#[derive(Clone, Debug)]
pub struct Functions {
    top: Ply,
    total_m: f64,
    /// Beyond this distance (m) the base takes everything: the layer's answer is zero.
    reach_m: f64,
    sink: Radial,
    tangential_mean: Radial,
    tangential_difference: Radial,
    tangential_by_pressure: Radial,
    below_pressure: Radial,
    below_shear_mean: Radial,
    below_shear_difference: Radial,
    below_shear_by_pressure: Radial,
    below_pressure_by_shear: Radial,
}

/// What is asked of [`Functions::influence`]: the first letter is the response, the second the traction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Pair {
    /// NormalCompliance by pressure.
    ZPressure,
    /// Motion along x by shear along x.
    XX,
    /// Motion along y by shear along y.
    YY,
    /// Motion along x by shear along y, and the other way round.
    XY,
    /// Motion along x by pressure; minus this is compliance by shear along x.
    XPressure,
    /// Motion along y by pressure; minus this is compliance by shear along y.
    YPressure,
    /// Pressure below by pressure.
    BelowPressure,
    /// Shear along x below by shear along x.
    BelowXX,
    /// Shear along y below by shear along y.
    BelowYY,
    /// Shear along x below by shear along y, and the other way round.
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
    /// All of them.
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

    fn parity(self) -> Parity {
        match self {
            Self::ZPressure | Self::XX | Self::YY | Self::BelowPressure | Self::BelowXX | Self::BelowYY => Parity::Even,
            Self::XY | Self::BelowXY => Parity::OddXy,
            Self::XPressure | Self::BelowXPressure | Self::BelowPressureX => Parity::OddX,
            Self::YPressure | Self::BelowYPressure | Self::BelowPressureY => Parity::OddY,
        }
    }

    fn is_below(self) -> bool {
        !matches!(self, Self::ZPressure | Self::XX | Self::YY | Self::XY | Self::XPressure | Self::YPressure)
    }
}

impl Functions {
    /// Tabulates a laminate out to `reach_m`, with the plane below at `depth_m`.
    pub fn new(laminate: &Laminate, depth_m: f64, reach_m: f64) -> Self {
        let top = *laminate.top();
        let total_m = laminate.thickness_m();
        // One ply forgets a load at the rate of 0.739 or more per thickness (the least root of cos y = y, at ν = ½).
        let reach_m = if laminate.plies().len() == 1 { reach_m.min(45.0 * total_m) } else { reach_m };
        let (mu, nu) = (top.shear_pa(), top.poisson.ratio());

        let surface = Waves::new(total_m, 21.0 / top.thickness_m, reach_m);
        let responses: Vec<_> = surface.k.iter().map(|&k| (k, laminate.response(k, depth_m))).collect();
        let sample = |f: &dyn Fn(f64, &super::WaveResponse) -> f64| -> Vec<f64> {
            responses.iter().map(|(k, response)| f(*k, response)).collect()
        };
        let sink = sample(&|k, a| k * a.normal_by_pressure - (1.0 - nu) / mu);
        let mean = sample(&|k, a| 0.5 * (k * (a.tangential_by_shear + a.transverse_by_shear) - (2.0 - nu) / mu));
        // Lean: half the difference between along and across, which for the half-space is −ν/(2μ).
        let lean = sample(&|k, a| 0.5 * (k * (a.tangential_by_shear - a.transverse_by_shear) + nu / mu));
        let coupling = sample(&|k, a| k * a.tangential_by_pressure + 0.5 * (1.0 - 2.0 * nu) / mu);
        let scale = top.thickness_m;
        let [sink, tangential_mean] = two(surface.transform(&[&sink, &mean], Order::Zero, scale));
        let [tangential_difference] = one(surface.transform(&[&lean], Order::Two, scale));
        let [tangential_by_pressure] = one(surface.transform(&[&coupling], Order::One, scale));

        let below = Waves::new(total_m, 45.0 / depth_m, reach_m);
        let responses: Vec<_> = below.k.iter().map(|&k| (k, laminate.response(k, depth_m))).collect();
        let sample = |f: &dyn Fn(f64, &super::WaveResponse) -> f64| -> Vec<f64> {
            responses.iter().map(|(k, response)| f(*k, response)).collect()
        };
        let pressure = sample(&|k, a| k * a.below_pressure_by_pressure);
        let mean = sample(&|k, a| 0.5 * k * (a.below_shear_by_shear + a.below_transverse));
        let lean = sample(&|k, a| 0.5 * k * (a.below_shear_by_shear - a.below_transverse));
        let shear_by_pressure = sample(&|k, a| k * a.below_shear_by_pressure);
        let pressure_by_shear = sample(&|k, a| k * a.below_pressure_by_shear);
        let [below_pressure, below_shear_mean] = two(below.transform(&[&pressure, &mean], Order::Zero, depth_m));
        let [below_shear_difference] = one(below.transform(&[&lean], Order::Two, depth_m));
        let [below_shear_by_pressure, below_pressure_by_shear] =
            two(below.transform(&[&shear_by_pressure, &pressure_by_shear], Order::One, depth_m));
        Self {
            top,
            total_m,
            reach_m,
            sink,
            tangential_mean,
            tangential_difference,
            tangential_by_pressure,
            below_pressure,
            below_shear_mean,
            below_shear_difference,
            below_shear_by_pressure,
            below_pressure_by_shear,
        }
    }

    /// Influence of square cells on each other, `rows` × `cols` of them in a quadrant. At the surface the traction is response
    /// over its cell and the answer is in the middle of the other; below, the answer is the mean over the other cell.
    pub fn influence(&self, pair: Pair, rows: usize, cols: usize, cell_m: f64) -> Influence {
        let mut values = Vec::with_capacity(rows * cols);
        let rule =
            if pair.is_below() { Rule::twice(cell_m, self.total_m) } else { Rule::once(cell_m, self.top.thickness_m) };
        for row in 0..rows {
            for col in 0..cols {
                let at = Vec2::new(col as f64, row as f64) * cell_m;
                let symmetric = matches!(pair, Pair::ZPressure | Pair::BelowPressure);
                values.push(if symmetric && col < row && row < cols {
                    // Filled from the other side of the diagonal.
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

    /// What a unit point force does at a distance, less the half-space's part.
    fn rest(&self, pair: Pair, at: Vec2) -> f64 {
        let rho = at.length();
        let direction = if rho > 0.0 { at / rho } else { Vec2::ZERO };
        let double = direction.x * direction.x - direction.y * direction.y;
        let cross = 2.0 * direction.x * direction.y;
        match pair {
            Pair::ZPressure => self.sink.at(rho),
            Pair::XX => self.tangential_mean.at(rho) - double * self.tangential_difference.at(rho),
            Pair::YY => self.tangential_mean.at(rho) + double * self.tangential_difference.at(rho),
            Pair::XY => -cross * self.tangential_difference.at(rho),
            Pair::XPressure => direction.x * self.tangential_by_pressure.at(rho),
            Pair::YPressure => direction.y * self.tangential_by_pressure.at(rho),
            Pair::BelowPressure => self.below_pressure.at(rho),
            Pair::BelowXX => self.below_shear_mean.at(rho) - double * self.below_shear_difference.at(rho),
            Pair::BelowYY => self.below_shear_mean.at(rho) + double * self.below_shear_difference.at(rho),
            Pair::BelowXY => -cross * self.below_shear_difference.at(rho),
            Pair::BelowXPressure => direction.x * self.below_shear_by_pressure.at(rho),
            Pair::BelowYPressure => direction.y * self.below_shear_by_pressure.at(rho),
            Pair::BelowPressureX => -direction.x * self.below_pressure_by_shear.at(rho),
            Pair::BelowPressureY => -direction.y * self.below_pressure_by_shear.at(rho),
        }
    }
}

/// Unit traction over a square cell on a half-space, answered at `at` from its middle (Boussinesq, Cerruti; Love 1929).
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

/// Points and weights along one axis of a cell.
struct Rule {
    points: Vec<(f64, f64)>,
}

impl Rule {
    /// Over a cell: two points where it is small against the scale of what is integrated, more where it is not.
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

    /// Over a cell and then over another: the weight is a triangle two cells wide.
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

fn one(tables: Vec<Radial>) -> [Radial; 1] {
    <[Radial; 1]>::try_from(tables).unwrap_or_else(|_| unreachable!("one spectrum gives one table"))
}

fn two(tables: Vec<Radial>) -> [Radial; 2] {
    <[Radial; 2]>::try_from(tables).unwrap_or_else(|_| unreachable!("two spectra give two tables"))
}
