//! What a skin says of an answer that it is not sure of.

use serde::{Deserialize, Serialize};

/// Why an answer is less than the skin's best. Its text is one sentence for a person.
#[derive(Clone, Debug, PartialEq, thiserror::Error, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Warning {
    /// Strains that linear elasticity does not cover.
    #[error("the largest strain is {strain_max:.2}, beyond the linear range of this skin; the `gel` skin covers it")]
    BeyondLinear {
        /// Largest strain.
        strain_max: f64,
    },
    /// Contact where the edge of the skin is felt.
    #[error(
        "contact comes within {distance_mm:.2} mm of the rim, nearer than twice the thickness ({thickness_mm:.2} mm): this skin has no edges, a real one is softer there"
    )]
    NearRim {
        /// Least distance between contact and rim (mm).
        distance_mm: f64,
        /// Thickness (mm).
        thickness_mm: f64,
    },
    /// Motion that matters where none should.
    #[error("the kinetic energy is {ratio:.3} of the strain energy: the press is too fast to be quasi-static")]
    NotQuasiStatic {
        /// Kinetic energy by strain energy.
        ratio: f64,
    },
}
