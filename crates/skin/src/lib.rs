//! How the soft cover of a tactile sensor answers to what presses on it.
//!
//! A **skin** is a pure function with its history outside: [`Skin::touch`] takes a [`State`], where things are
//! and how they move ([`Motion`]) and a time step, and returns a [`Touch`] and the next [`State`]. It knows no
//! rigid-body engine and no taxels; many simulations can share one skin, go back in time, or be saved, because
//! all that changes is in the `State`, which can be cloned and serialised.
//!
//! | skin | assumes | source |
//! |---|---|---|
//! | [`Springs`] | every texel is an independent spring-damper with bristle friction | Moisio et al. 2013 |
//! | [`Contacts`] | no skin: points and forces come from another engine (no state, so no [`Skin`]) | Kappassov et al. 2020 |
//! | [`Gel`] | a continuum that deforms by as much as it must (MLS-MPM) | Chen et al. 2023 |
//! | [`Hydroelastic`] | a pressure field in the body; contact where two pressures are equal | Patzelt et al. 2023 |
//! | [`Layer`] | an elastic layer bonded to a rigid base, quasi-static | ours |
//! | [`Imprint`] | the object's own shape with smoothed surroundings: a baseline, no mechanics | Gomes et al. 2021 |
//!
//! **Frame.** Everything here is in the sensor's frame: origin at the middle of the sensing surface, +z out of
//! the skin. Depth and pressure are positive in compression. Forces are on the sensor unless the name says otherwise.

mod contacts;
mod friction;
mod friction_lanes;
pub mod gel;
pub mod hydroelastic;
mod imprint;
pub mod layer;
mod lugre;
mod motion;
mod simd;
mod springs;
mod state;
mod surface_field;
mod touch;
mod warning;

pub use contacts::{Contact, Contacts};
pub use friction::{Coulomb, Friction};
pub use gel::{Constitution, Gel, GelFriction, GelParameters};
pub use hydroelastic::{Hydroelastic, HydroelasticParameters};
pub use imprint::{Imprint, ImprintParameters};
pub use layer::{Layer, LayerParameters};
pub use lugre::Lugre;
pub use motion::{Motion, Object, Target};
pub use simd::{Simd, SimdLevel};
pub use springs::{Damping, Elasticity, Law, Site, SpringParameters, Springs, Table};
pub use state::{Bristle, State};
pub use surface_field::SurfaceField;
pub use touch::{Corner, Facet, Load, Support, Tangent, Touch};
pub use warning::Warning;

use std::sync::Arc;

/// Why a skin cannot be built or cannot compute a contact.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SkinError {
    /// A parameter that must be positive is not.
    #[error("`{key}` must be a positive number of {unit}, got {got}")]
    NotPositive {
        /// Name of the parameter.
        key: &'static str,
        /// Unit of the parameter.
        unit: &'static str,
        /// The value.
        got: f64,
    },
    /// A parameter that must not be negative is.
    #[error("`{key}` must be zero or a positive number of {unit}, got {got}")]
    Negative {
        /// Name of the parameter.
        key: &'static str,
        /// Unit of the parameter.
        unit: &'static str,
        /// The value.
        got: f64,
    },
    /// Static friction below dynamic friction.
    #[error("`mu_static` ({mu_static}) must not be below `mu_dynamic` ({mu_dynamic})")]
    FrictionOrder {
        /// Static coefficient.
        mu_static: f64,
        /// Dynamic coefficient.
        mu_dynamic: f64,
    },
    /// A force–depth table that is no table.
    #[error(
        "the force-depth table must start at depth 0 and force 0 and rise in depth without falling in force; row {row} is ({depth_m} m, {force})"
    )]
    BadTable {
        /// Row that breaks the rule.
        row: usize,
        /// Depth in that row (m).
        depth_m: f64,
        /// Force (N) or pressure (Pa) in that row.
        force: f64,
    },
    /// No texels, or texels without area or normal.
    #[error("texel {texel} has no {what}; the sensor's surface must have area everywhere")]
    BadSite {
        /// Index of the texel.
        texel: usize,
        /// What is missing.
        what: &'static str,
    },
    /// No texels at all.
    #[error("the sensor has no texels")]
    NoSites,
    /// A state that belongs to another skin.
    #[error("the state holds {got} texels and the skin has {expected}; start from `rest()` of this skin")]
    StateMismatch {
        /// Texels in the state.
        got: usize,
        /// Texels in the skin.
        expected: usize,
    },
    /// A state of another kind of skin.
    #[error("the state is of another kind of skin than {expected}; start from `rest()` of this skin")]
    OtherSkin {
        /// The kind of this skin.
        expected: &'static str,
    },
    /// A pressure–extent table that is no table.
    #[error(
        "the pressure-extent table must start at extent 0 and pressure 0 and rise in both; row {row} is ({extent}, {pressure_pa} Pa)"
    )]
    BadPressureTable {
        /// Row that breaks the rule.
        row: usize,
        /// Extent in that row.
        extent: f64,
        /// Pressure in that row (Pa).
        pressure_pa: f64,
    },
    /// A pressure field that cannot be made.
    #[error("the pressure field cannot be made: {reason}")]
    BadField {
        /// What the geometry says.
        reason: String,
    },
    /// A Poisson's ratio that no material has, or that needs the incompressible form.
    #[error(
        "`poisson` must lie above -1 and below 0.5, got {got}; for a material that keeps its volume (0.5) give `incompressible` instead"
    )]
    BadPoisson {
        /// The value.
        got: f64,
    },
    /// Stress asked for where there is no layer.
    #[error("`sense_depth` ({depth_mm} mm) is below the base of the layer, which is {max_mm} mm thick")]
    SensesBelowBase {
        /// The depth asked for (mm).
        depth_mm: f64,
        /// The thickness (mm).
        max_mm: f64,
    },
    /// A grid that would take hours.
    #[error("a layer of {rows} x {cols} cells is more than {max} in all; check the units of `cell` and of the size")]
    TooManyCells {
        /// Rows.
        rows: f64,
        /// Columns.
        cols: f64,
        /// The most there may be.
        max: f64,
    },
    /// Pressed farther than the layer's theory goes.
    #[error(
        "an object is {depth_mm:.3} mm deep in the layer, which can be pressed {max_mm:.3} mm (0.8 of its thickness); use the `gel` skin for more"
    )]
    TooDeep {
        /// How deep it is (mm).
        depth_mm: f64,
        /// How deep it may be (mm).
        max_mm: f64,
    },
    /// A layer of nothing.
    #[error("a layer needs at least one sheet of material")]
    NoPlies,
    /// Neither sensor nor object gives.
    #[error("a rigid sensor cannot be pressed by a rigid object: give one of them a pressure field")]
    BothRigid,
    /// Two half-spaces meet everywhere or nowhere.
    #[error("two half-spaces have no contact surface of finite size: make one of them a body")]
    BothHalfSpaces,
    /// A gel that cannot be.
    #[error("gel: `{key}` {rule}")]
    BadGel {
        /// Name of the parameter.
        key: &'static str,
        /// What is asked of it, and what it is.
        rule: String,
    },
    /// The moving gel has come apart.
    #[error(
        "particle {particle} of the gel was turned inside out, or lost, at step {step} of {dt_us:.3} µs: press more slowly, or make `cell` larger or `mass_scaling` smaller"
    )]
    GelBroke {
        /// The particle.
        particle: u32,
        /// The step.
        step: u64,
        /// Its length (µs).
        dt_us: f64,
    },
    /// NaN or infinity in a pose or velocity.
    #[error("the {what} of object {object} is not finite; the simulation has diverged or the input is wrong")]
    NotFinite {
        /// Index of the object in the motion.
        object: usize,
        /// What is not finite.
        what: &'static str,
    },
    /// The backend that computes the skin failed.
    #[error(transparent)]
    Backend(#[from] BackendError),
}

/// The error of a backend that computes a skin elsewhere than in this crate, such as a GPU. Shared, so that [`SkinError`] can be
/// cloned; two are equal when they are clones of one another.
#[derive(Clone, Debug, thiserror::Error)]
#[error(transparent)]
pub struct BackendError(Arc<dyn std::error::Error + Send + Sync>);

impl BackendError {
    /// Wraps a backend's own error.
    pub fn new(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self(Arc::new(error))
    }

    /// The backend's own error, where its type is `E`.
    pub fn downcast_ref<E: std::error::Error + 'static>(&self) -> Option<&E> {
        self.0.downcast_ref()
    }
}

impl PartialEq for BackendError {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// A soft cover. See the crate's page for what is asked of it.
pub trait Skin: std::any::Any + Send + Sync + std::fmt::Debug {
    /// The state of a skin that nothing has touched yet.
    fn rest(&self) -> State;

    /// What the skin feels and gives back while things move so for `dt_s` seconds.
    fn touch(&self, state: &State, motion: &Motion<'_>, dt_s: f64) -> Result<(Touch, State), SkinError>;

    /// What the skin feels with things held where `motion` has them until nothing changes any more; their velocities
    /// do not count. A skin without memory of its own needs nothing but the default: any step will do.
    fn settle(&self, state: &State, motion: &Motion<'_>) -> Result<(Touch, State), SkinError> {
        let still: Vec<Target<'_>> =
            motion.targets.iter().map(|target| Target::at_rest(target.object, target.sensor_from_object)).collect();
        self.touch(state, &Motion { targets: &still }, 1.0)
    }

    /// The stiffness and damping of the skin when all of it is pressed at once: what bounds a stable time step.
    fn fully_pressed(&self) -> Vec<Support>;

    /// How deep (m) the skin can be pressed before it bottoms out.
    fn max_depth_m(&self) -> f64;

    /// How well forces are known, as a part of them: looking closer is in vain.
    fn precision(&self) -> f64 {
        1e-11
    }
}

pub(crate) fn require_positive(key: &'static str, unit: &'static str, got: f64) -> Result<(), SkinError> {
    if got > 0.0 && got.is_finite() { Ok(()) } else { Err(SkinError::NotPositive { key, unit, got }) }
}

pub(crate) fn require_not_negative(key: &'static str, unit: &'static str, got: f64) -> Result<(), SkinError> {
    if got >= 0.0 && got.is_finite() { Ok(()) } else { Err(SkinError::Negative { key, unit, got }) }
}
