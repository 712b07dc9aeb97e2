//! Warnings that a result lies outside the valid range of a skin.

use crate::Resolution;
use serde::{Deserialize, Serialize};
use std::mem::discriminant;

/// A reason for reduced accuracy of a result. Its message is one sentence.
#[derive(Clone, Debug, PartialEq, thiserror::Error, Serialize, Deserialize)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum Warning {
    /// Strains beyond linear elasticity.
    #[error("the largest strain is {strain_max:.2}, beyond the linear range of this skin{}", COVERED_BY_GEL)]
    BeyondLinear { strain_max: f64 },
    /// Contact near the rim, where the model ignores the free edge.
    #[error(
        "contact comes within {distance_mm:.2} mm of the rim, nearer than twice the thickness (2 x {thickness_mm:.2} mm): this skin is modelled without edges, a real one is softer there"
    )]
    NearRim { distance_mm: f64, thickness_mm: f64 },
    /// A solver that reached its maximum number of iterations.
    #[error(
        "the contact solver stopped at its maximum number of iterations with a relative error of {error:.1e}; larger cells converge faster"
    )]
    NotConverged { error: f64 },
    /// Friction that depends on a path that was resolved coarsely.
    #[error(
        "shear and tangential motion of this press depend on its path and are uncertain by {:.0} % of the friction limit and of the largest motion; press in smaller steps, and not on a GPU, which takes one",
        100.0 * .error
    )]
    CoarsePath { error: f64 },
    /// Inertia in a press that is assumed quasi-static.
    #[error(
        "the kinetic energy is {ratio:.3} of the strain energy: the press is too fast to be quasi-static, and taxels on the base do not yet carry the load of the surface"
    )]
    NotQuasiStatic { ratio: f64 },
    /// Contact beyond the range of the skin.
    #[error("{points} contact points exceed the maximum penetration of the skin: the force is a lower bound")]
    Saturated { points: usize },
    /// Tangential motion over a skin whose friction acts only while it slides.
    #[error(
        "the object slides without dragging the skin, which has no friction at rest: set `mu` of a layer, or `friction` of kind \"lugre\"{}",
        FRICTION_OF_GEL
    )]
    NoFrictionAtRest,
    /// Faces in the skin that all point away from it.
    #[error(
        "an object lies in the skin, and all of its faces there point away from the skin, so its force is missing: its mesh is open or inside out; close it, or reverse its faces"
    )]
    FacesAway { object: u32 },
    /// An object that touches no contact point.
    #[error(
        "an object lies between the contact points, which are {spacing_mm:.3} mm apart, so its force is missing: {}", .key.remedy()
    )]
    Missed { object: u32, spacing_mm: f64, key: Resolution },
    /// A contact smaller than the resolution of the skin.
    #[error(
        "an object touches only {points} contact point{}, {spacing_mm:.3} mm apart, so its force is inaccurate: {}",
        if *.points == 1 { "" } else { "s" },
        .key.remedy_for(*.points, *.wanted, *.spacing_mm)
    )]
    Unresolved { object: u32, points: usize, wanted: usize, spacing_mm: f64, key: Resolution },
    /// A contact that is long, but narrower than the resolution of a skin.
    #[error(
        "an object touches a strip less than three cells wide ({cells} cells of {cell_mm:.3} mm), so its force is inaccurate: {}", .key.remedy()
    )]
    Narrow { object: u32, cells: usize, cell_mm: f64, key: Resolution },
    /// A mesh in another unit than meant.
    #[error(
        "the object is {size_m} m large, {ratio} times the sensor: is its file in another unit? Give the one that it was written in, such as `unit = \"mm\"` or `--unit mm`"
    )]
    FarTooLarge { size_m: f64, ratio: f64 },
    /// A press that did not reach its force.
    #[error(
        "the press ended at {got_n:.2e} N instead of {wanted_n:e} N, which is too small to be resolved, or the force of the skin jumps there: ask for a larger force, or for a depth"
    )]
    ForceNotReached { wanted_n: f64, got_n: f64 },
    /// Flux densities beyond the range of magnetometers.
    #[error(
        "the flux density at {chips} chips exceeds their range of {range_mt} mT and is cut off: set a larger `range` of the magnetometers, or weaker magnets"
    )]
    ChipsClipped { chips: usize, range_mt: f64 },
    /// A magnet that has moved onto a chip.
    #[error(
        "magnet {magnet} is pressed onto chip {chip}, whose reading lacks its field: press less, or place the chip deeper"
    )]
    MagnetOnChip { magnet: usize, chip: usize },
    /// A contact beyond the measured motion of the magnets.
    #[error(
        "the contact at x {x_mm:.2} mm, y {y_mm:.2} mm, depth {depth_mm:.2} mm lies beyond the table of the magnets' motion, whose nearest entry is used"
    )]
    BeyondMotionTable { x_mm: f64, y_mm: f64, depth_mm: f64 },
}

/// Parts of warnings that name the gel.
const COVERED_BY_GEL: &str = "; the `gel` skin covers it";
const FRICTION_OF_GEL: &str = " (\"coulomb\" for a gel)";

impl Warning {
    /// The sentence for a user who cannot choose a gel.
    pub fn without_gel(&self) -> String {
        self.to_string().replace(COVERED_BY_GEL, "").replace(FRICTION_OF_GEL, "")
    }

    /// The warning for this number of saturated contact points.
    pub fn saturated(points: usize) -> Option<Self> {
        (points > 0).then_some(Self::Saturated { points })
    }

    /// True if both are of the same kind.
    pub fn is_like(&self, other: &Self) -> bool {
        discriminant(self) == discriminant(other)
    }

    /// The first warning of each kind.
    pub fn first_of_each_kind(warnings: impl IntoIterator<Item = Self>) -> Vec<Self> {
        let mut first: Vec<Self> = Vec::new();
        for warning in warnings {
            if !first.iter().any(|known| known.is_like(&warning)) {
                first.push(warning);
            }
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_force_is_not_hidden_by_an_inaccurate_one() {
        let (spacing_mm, key) = (0.8, Resolution::ContactPoints);
        let few = |points| Warning::Unresolved { object: 0, points, wanted: 12, spacing_mm, key };
        let missed = Warning::Missed { object: 0, spacing_mm, key };
        let kinds = Warning::first_of_each_kind([few(5), few(1), missed.clone(), missed.clone(), few(7)]);
        assert_eq!(kinds, [few(5), missed]);
        let texts = kinds.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert!(texts[0].ends_with("increase `contact_points` until they are about 0.46 mm apart"), "{}", texts[0]);
        assert!(texts[1].ends_with("its force is missing: increase `contact_points`"), "{}", texts[1]);
    }

    #[test]
    fn a_warning_without_gel_names_no_gel() {
        for warning in [Warning::BeyondLinear { strain_max: 0.31 }, Warning::NoFrictionAtRest] {
            assert!(warning.to_string().contains("gel") && !warning.without_gel().contains("gel"), "{warning}");
        }
        let warning = Warning::BeyondLinear { strain_max: 0.31 };
        assert_eq!(warning.without_gel(), "the largest strain is 0.31, beyond the linear range of this skin");
    }
}
