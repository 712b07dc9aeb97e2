//! Derivatives through magnets in a layer to magnetometers.

use super::{Carrier, Magnetics};
use dermis_geometry::{Quat, Vec2, Vec3};
use dermis_skin::layer::MaterialMotion;
use dermis_skin::{Load, Touch};

/// Derivatives of a scalar by what moves the magnets, and by their strength.
#[derive(Clone, Debug, PartialEq)]
pub struct MagneticGradient {
    /// By the force (1/N) at each load of the touch, with the place (m) of its cell.
    pub forces: Vec<(Vec2, Vec3)>,
    /// The key of the strength of all magnets (`moment` or `remanence`) and the derivative by it (SI).
    pub strength: (&'static str, f64),
}

/// Steps of the differences of closed forms, of fourth order: displacement (m) and rotation (rad). Chips are millimetres from magnets,
/// so that the error is about 1e-10.
const STEP_M: f64 = 1e-5;
const STEP_RAD: f64 = 3e-3;

impl Magnetics {
    /// Derivatives from those by the flux densities (1/T) at the chips, in their frames, under a touch of a layer. Channels at their range
    /// have none; rounding is left out. `None` if the magnets are not in a layer.
    pub fn vjp(&self, touch: &Touch, by: &[Vec3]) -> Option<MagneticGradient> {
        let Carrier::Layer { interiors, of_magnet } = &self.carrier else { return None };
        let motions = self.motions_at(&self.places, touch);
        let moved = self.moved_by(&motions);
        let by = self.chips.by_fields(by, &self.field_of_moved(&moved), self.chips.rise_kelvin(None));
        let chips: Vec<Vec3> = self.chips().collect();
        let scalar = |magnet: usize, motion: &MaterialMotion| {
            let mut fields = vec![Vec3::ZERO; chips.len()];
            let moved = (self.places[magnet] + motion.displacement_m, Quat::from_scaled_axis(motion.rotation_rad));
            self.add_field_of(magnet, &moved, &chips, &mut fields);
            fields.iter().zip(&by).map(|(field, by)| field.dot(*by)).sum::<f64>()
        };
        let by_motion = |magnet: usize| {
            let motion = motions[magnet];
            let slope = |step: MaterialMotion, size: f64| {
                let at = |steps: f64| {
                    let displacement_m = motion.displacement_m + step.displacement_m * steps;
                    let rotation_rad = motion.rotation_rad + step.rotation_rad * steps;
                    scalar(magnet, &MaterialMotion { displacement_m, rotation_rad })
                };
                (8.0 * (at(1.0) - at(-1.0)) - (at(2.0) - at(-2.0))) / (12.0 * size)
            };
            let none = MaterialMotion::default();
            let along = |axis: Vec3| slope(MaterialMotion { displacement_m: axis * STEP_M, ..none }, STEP_M);
            let about = |axis: Vec3| slope(MaterialMotion { rotation_rad: axis * STEP_RAD, ..none }, STEP_RAD);
            MaterialMotion {
                displacement_m: Vec3::from_array(Vec3::AXES.map(along)),
                rotation_rad: Vec3::from_array(Vec3::AXES.map(about)),
            }
        };
        let by_motions: Vec<MaterialMotion> = (0..self.places.len()).map(by_motion).collect();
        let cells = touch.facets.iter().map(|facet| match &facet.load {
            Load::Point { anchor, .. } => anchor.truncate(),
            Load::Polygon(_) => facet.at().truncate(),
        });
        let of_cell = |cell: Vec2| {
            let of_magnet = (0..self.places.len()).map(|magnet| {
                interiors[of_magnet[magnet]].by_force(self.places[magnet].truncate(), cell, &by_motions[magnet])
            });
            (cell, of_magnet.sum::<Vec3>())
        };
        let (key, strength) = self.strength;
        // Fields are in proportion to the strength.
        let all = (0..self.places.len()).map(|magnet| scalar(magnet, &motions[magnet])).sum::<f64>();
        Some(MagneticGradient { forces: cells.map(of_cell).collect(), strength: (key, all / strength) })
    }
}
