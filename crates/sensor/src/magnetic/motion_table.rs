//! Measured motion of magnets as a function of the place and depth of a contact.

use crate::SensorError;
use dermis_geometry::quantity::Length;
use dermis_geometry::{Vec2, Vec3};
use dermis_skin::layer::MaterialMotion;
use dermis_skin::{Load, Touch, Warning};
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// Motion of the magnets in a table over place and depth of the contact, interpolated linearly. The lists of motions have
/// an entry for each depth after the first, for each y, for each x, for each magnet, in this order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MotionTableSpec {
    /// Places of the contact along x, increasing. A single one: the motion does not depend on x.
    pub x: Vec<Length>,
    /// Places of the contact along y, increasing. A single one: the motion does not depend on y.
    pub y: Vec<Length>,
    /// Travel of the probe past first contact, increasing from 0, where nothing has moved.
    pub depth: Vec<Length>,
    /// Direction of the travel. Default: -z, a press; then the travel is the depth of the contact. Along x or y it is the
    /// shear force over the tangential stiffness of the contact.
    #[serde(default = "down", skip_serializing_if = "is_down")]
    pub along: [f64; 3],
    /// Displacements of the magnets (µm): x, y, z.
    pub translations_um: Vec<[f64; 3]>,
    /// Rotations of the magnets about x and y (mrad).
    pub tilts_mrad: Vec<[f64; 2]>,
    /// Loads of the probe (N), for each depth after the first, for each y, for each x. Default: unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loads_n: Vec<f64>,
    /// Error of the fit, by which an inverse weighs the channels. Default: 10 µT, independent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub residual: Option<MotionResidualSpec>,
    /// Difference between loading and unloading. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hysteresis: Option<MotionHysteresisSpec>,
}

/// Half the difference of the motions while the travel increases and while it decreases: added when loading, subtracted
/// when unloading. A single press loads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MotionHysteresisSpec {
    /// Travel over which loading changes to unloading, half of it (the radius of a play operator).
    pub width: Length,
    /// Half differences of the displacements (µm), as `translations_um`.
    pub translations_um: Vec<[f64; 3]>,
    /// Half differences of the rotations (mrad), as `tilts_mrad`.
    pub tilts_mrad: Vec<[f64; 2]>,
    /// Half differences of the loads (N), as `loads_n`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loads_n: Vec<f64>,
}

/// Difference between measured and predicted flux densities: independent noise and a few modes over the channels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MotionResidualSpec {
    /// Standard deviation of the independent part of a channel (µT).
    pub sd_ut: f64,
    /// Standard deviations of the modes (µT): x, y, z of chip 0, then of chip 1, ….
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modes_ut: Vec<Vec<f64>>,
}

fn down() -> [f64; 3] {
    [0.0, 0.0, -1.0]
}

fn is_down(along: &[f64; 3]) -> bool {
    *along == down()
}

/// Displacement (m) along x, y and z, rotation (rad) about x and y.
pub type Freedoms = [f64; 5];

/// A table of motions of some magnets.
#[derive(Clone, Debug)]
pub struct MotionTable {
    grid: TableGrid,
    along: Vec3,
    magnets: usize,
    mean: Vec<Freedoms>,
    /// Radius of the play (m), and half the difference of loading and unloading.
    hysteresis: Option<(f64, Vec<Freedoms>)>,
    /// Loads (N) of the nodes, and half the difference of loading and unloading; empty if unknown.
    loads: [Vec<f64>; 2],
    residual: Option<MotionResidualSpec>,
}

/// The nodes of a table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableGrid {
    /// Places along x (m).
    pub x: Vec<f64>,
    /// Places along y (m).
    pub y: Vec<f64>,
    /// Travels (m), from 0.
    pub depth: Vec<f64>,
}

impl TableGrid {
    /// Number of nodes at which something moves.
    pub fn nodes(&self) -> usize {
        self.x.len() * self.y.len() * (self.depth.len() - 1)
    }

    /// Nodes and weights of the linear interpolation at a place (m) and depth (m), limited to the table.
    pub fn weights(&self, at: Vec2, depth_m: f64) -> Vec<(usize, f64)> {
        let mut all = Vec::with_capacity(8);
        for (level, of_level) in linear(&self.depth, depth_m) {
            // At zero depth nothing moves.
            let Some(level) = level.checked_sub(1) else { continue };
            for (row, of_row) in linear(&self.y, at.y) {
                for (column, of_column) in linear(&self.x, at.x) {
                    let node = (level * self.y.len() + row) * self.x.len() + column;
                    all.push((node, of_level * of_row * of_column));
                }
            }
        }
        all
    }

    /// True if a place and depth lie in the table; an axis with a single node has no limits.
    pub fn contains(&self, at: Vec2, depth_m: f64) -> bool {
        let within = |nodes: &[f64], value: f64| {
            let (Some(first), Some(last)) = (nodes.first(), nodes.last()) else { return false };
            let slack = 1e-6 + 0.02 * (last - first);
            nodes.len() == 1 || (first - slack..=last + slack).contains(&value)
        };
        within(&self.x, at.x) && within(&self.y, at.y) && within(&self.depth, depth_m)
    }
}

/// The two nodes around a value, and their weights; beyond the ends, the last node.
fn linear(nodes: &[f64], value: f64) -> impl Iterator<Item = (usize, f64)> {
    let after = nodes.partition_point(|node| *node <= value);
    let pair = match (after, nodes.len()) {
        (0, _) => [(0, 1.0), (0, 0.0)],
        (after, count) if after == count => [(count - 1, 1.0), (0, 0.0)],
        (after, _) => {
            let part = (value - nodes[after - 1]) / (nodes[after] - nodes[after - 1]);
            [(after - 1, 1.0 - part), (after, part)]
        }
    };
    pair.into_iter().filter(|(_, weight)| *weight != 0.0)
}

fn freedoms(translations_um: &[[f64; 3]], tilts_mrad: &[[f64; 2]]) -> Vec<Freedoms> {
    let both = translations_um.iter().zip(tilts_mrad);
    both.map(|([x, y, z], [a, b])| [x * 1e-6, y * 1e-6, z * 1e-6, a * 1e-3, b * 1e-3]).collect()
}

/// Moves the centre of a play of a radius (m) to a travel (m), and returns the side: 1 when loading, -1 when unloading. Without play
/// the side is 1.
pub fn follow_play(radius_m: f64, held_m: &mut f64, travel_m: f64) -> f64 {
    if radius_m == 0.0 {
        return 1.0;
    }
    *held_m = held_m.clamp(travel_m - radius_m, travel_m + radius_m);
    (travel_m - *held_m) / radius_m
}

impl MotionTable {
    /// Checks a table for a number of magnets.
    pub fn new(name: &str, spec: &MotionTableSpec, magnets: usize) -> Result<Self, SensorError> {
        let bad = |rule: String| SensorError::bad_key(name, "magnets.motion", rule);
        let axis = |key: &str, values: &[Length], from_zero: bool| {
            let nodes: Vec<f64> = values.iter().map(|value| value.si()).collect();
            let rises = nodes.windows(2).all(|pair| pair[0] < pair[1]);
            let starts = !from_zero || (nodes.len() > 1 && nodes[0] == 0.0);
            if nodes.is_empty() || !rises || !starts {
                let from = if from_zero { " from 0, at least two" } else { "" };
                return Err(bad(format!("needs `{key}` that increases{from}, got {} values", nodes.len())));
            }
            Ok(nodes)
        };
        let grid = TableGrid {
            x: axis("x", &spec.x, false)?,
            y: axis("y", &spec.y, false)?,
            depth: axis("depth", &spec.depth, true)?,
        };
        let along = Vec3::from_array(spec.along)
            .try_normalize()
            .ok_or_else(|| bad(format!("needs a finite direction `along` that is not zero, got {:?}", spec.along)))?;
        let read = |what: &str, translations: &[[f64; 3]], tilts: &[[f64; 2]]| {
            let expected = grid.nodes() * magnets;
            if translations.len() != expected || tilts.len() != expected {
                let found = (translations.len(), tilts.len());
                return Err(bad(format!(
                    "needs {expected} entries of `translations_um` and of `tilts_mrad`{what} (depths after the first × y × x × magnets), got {} and {}",
                    found.0, found.1
                )));
            }
            let all = freedoms(translations, tilts);
            let sound = |m: &Freedoms| m.iter().zip([1.0, 1.0, 1.0, PI, PI]).all(|(value, limit)| value.abs() < limit);
            if !all.iter().all(sound) {
                return Err(bad(format!("needs displacements below 1 m and rotations below 180°{what}")));
            }
            Ok(all)
        };
        let mean = read("", &spec.translations_um, &spec.tilts_mrad)?;
        let hysteresis = match &spec.hysteresis {
            Some(part) => {
                let width_m = SensorError::check_positive(name, "width", part.width)?;
                Some((width_m, read(" of `hysteresis`", &part.translations_um, &part.tilts_mrad)?))
            }
            None => None,
        };
        let half_loads = spec.hysteresis.as_ref().map_or(&[][..], |part| &part.loads_n);
        for loads in [&spec.loads_n[..], half_loads] {
            if !loads.is_empty() && (loads.len() != grid.nodes() || loads.iter().any(|load| !load.is_finite())) {
                let expected = grid.nodes();
                return Err(bad(format!("needs {expected} finite `loads_n`, one for each node, got {}", loads.len())));
            }
        }
        if let Some(residual) = &spec.residual {
            let mut all = residual.modes_ut.iter().flatten().chain([&residual.sd_ut]);
            if residual.sd_ut <= 0.0 || all.any(|value| !value.is_finite()) {
                return Err(bad(format!("needs a positive `residual.sd_ut` and finite modes, got {}", residual.sd_ut)));
            }
        }
        let loads = [spec.loads_n.clone(), half_loads.to_vec()];
        Ok(Self { grid, along, magnets, mean, hysteresis, loads, residual: spec.residual.clone() })
    }

    /// The description of a table.
    pub fn spec(
        grid: &TableGrid,
        along: [f64; 3],
        mean: &[Freedoms],
        hysteresis: Option<(f64, &[Freedoms])>,
    ) -> MotionTableSpec {
        let lengths = |nodes: &[f64]| nodes.iter().map(|node| Length::new((node * 1e6).round() / 1e6)).collect();
        // A tenth of a micrometre and of a milliradian.
        let round = |value: f64, unit: f64| (value / unit * 10.0).round() / 10.0 + 0.0;
        let translations = |all: &[Freedoms]| {
            all.iter().map(|m| [round(m[0], 1e-6), round(m[1], 1e-6), round(m[2], 1e-6)]).collect::<Vec<_>>()
        };
        let tilts = |all: &[Freedoms]| all.iter().map(|m| [round(m[3], 1e-3), round(m[4], 1e-3)]).collect::<Vec<_>>();
        MotionTableSpec {
            x: lengths(&grid.x),
            y: lengths(&grid.y),
            depth: lengths(&grid.depth),
            along,
            translations_um: translations(mean),
            tilts_mrad: tilts(mean),
            loads_n: Vec::new(),
            residual: None,
            hysteresis: hysteresis.map(|(width_m, half)| MotionHysteresisSpec {
                width: Length::new(width_m),
                translations_um: translations(half),
                tilts_mrad: tilts(half),
                loads_n: Vec::new(),
            }),
        }
    }

    /// The nodes of the table.
    pub fn grid(&self) -> &TableGrid {
        &self.grid
    }

    /// Direction of the travel.
    pub fn along(&self) -> Vec3 {
        self.along
    }

    /// Radius (m) of the play between loading and unloading; 0 without hysteresis.
    pub fn play_m(&self) -> f64 {
        self.hysteresis.as_ref().map_or(0.0, |(width_m, _)| *width_m)
    }

    /// Moves the centre of the play to a travel (m), and returns the side: 1 when loading, -1 when unloading.
    pub fn follow(&self, held_m: &mut f64, travel_m: f64) -> f64 {
        follow_play(self.play_m(), held_m, travel_m)
    }

    /// Motions of the magnets at a place (m) and travel (m), on a side of the hysteresis (1: loading, -1: unloading).
    pub fn motions(&self, at: Vec2, travel_m: f64, side: f64) -> Vec<MaterialMotion> {
        let mut sums = vec![[0.0; 5]; self.magnets];
        for (node, weight) in self.grid.weights(at, travel_m) {
            let range = node * self.magnets..(node + 1) * self.magnets;
            for (sum, mean) in sums.iter_mut().zip(&self.mean[range.clone()]) {
                std::iter::zip(sum, mean).for_each(|(sum, mean)| *sum += weight * mean);
            }
            if let Some((_, half)) = &self.hysteresis {
                for (sum, half) in sums.iter_mut().zip(&half[range]) {
                    std::iter::zip(sum, half).for_each(|(sum, half)| *sum += weight * side * half);
                }
            }
        }
        sums.into_iter().map(motion_of).collect()
    }

    /// Load (N) of the probe at a place (m) and travel (m), on a side of the hysteresis; `None` if it is unknown.
    pub fn load_newton(&self, at: Vec2, travel_m: f64, side: f64) -> Option<f64> {
        let [mean, half] = &self.loads;
        if mean.is_empty() {
            return None;
        }
        let part = |node: usize| mean[node] + side * half.get(node).copied().unwrap_or(0.0);
        Some(self.grid.weights(at, travel_m).into_iter().map(|(node, weight)| weight * part(node)).sum())
    }

    /// The error of the fit, if it is known.
    pub fn residual(&self) -> Option<&MotionResidualSpec> {
        self.residual.as_ref()
    }

    /// Place (m) and travel (m) of a contact; `None` without one.
    pub fn contact(&self, touch: &Touch) -> Option<(Vec2, f64)> {
        let (mut weight, mut moment, mut stiffness) = (0.0, Vec2::ZERO, 0.0);
        for facet in touch.facets.iter() {
            let force = facet.force_on_sensor().length();
            let at = match &facet.load {
                Load::Point { anchor, .. } => anchor.truncate(),
                Load::Polygon(_) => facet.at().truncate(),
            };
            weight += force;
            moment += at * force;
            stiffness += facet.tangent.stiffness_tangential;
        }
        if weight == 0.0 {
            return None;
        }
        let travel_m = if self.along.z < -0.5 {
            touch.max_depth_m()
        } else {
            let shear = touch.on_sensor.force.dot(self.along).max(0.0);
            if stiffness > 0.0 { shear / stiffness } else { 0.0 }
        };
        Some((moment / weight, travel_m))
    }

    /// The warning about a contact beyond the table.
    pub fn warning(&self, at: Vec2, travel_m: f64) -> Option<Warning> {
        let beyond = !self.grid.contains(at, travel_m);
        let (at, depth_mm) = (at * 1e3, travel_m * 1e3);
        beyond.then_some(Warning::BeyondMotionTable { x_mm: at.x, y_mm: at.y, depth_mm })
    }
}

/// The motion of a magnet with five freedoms.
pub fn motion_of([x, y, z, a, b]: Freedoms) -> MaterialMotion {
    MaterialMotion { displacement_m: Vec3::new(x, y, z), rotation_rad: Vec3::new(a, b, 0.0) }
}
