//! Contact mechanics of the soft cover of a tactile sensor.
//!
//! A **skin** computes contact loads: [`Skin::touch`] takes a [`State`], the poses and velocities of the objects
//! ([`Motion`]) and a time step, and returns a [`Touch`] and the next [`State`]. It depends on no rigid-body engine
//! and on no taxels. The skin itself never changes: its whole history is in the `State`, which can be cloned and
//! serialised, so that many simulations can share one skin, branch, or be resumed.
//!
//! | skin | assumes | source |
//! |---|---|---|
//! | [`Springs`] | every texel is an independent spring-damper with bristle friction | Moisio et al. 2013 |
//! | [`Contacts`] | no skin: another engine supplies points and forces; not a [`Skin`] | Kappassov et al. 2020 |
//! | [`Gel`] | a continuum under large deformation (MLS-MPM) | Chen et al. 2023 |
//! | [`Hydroelastic`] | a pressure field in the body; contact where two fields are equal | Patzelt et al. 2023 |
//! | [`Layer`] | an elastic layer bonded to a rigid base, quasi-static | this project |
//! | [`Imprint`] | the object's shape with smoothed surroundings, no mechanics: optical baseline | Gomes et al. 2021 |
//!
//! **Frame.** Positions and vectors are in the sensor's frame: origin at the centre of the sensing surface, +z out of
//! the skin. Depth and pressure are positive in compression. Forces act on the sensor unless the name says otherwise.

mod contact_points;
mod contacts;
mod energy;
mod facets;
mod friction;
mod friction_adjoint;
mod friction_lanes;
mod friction_slope;
mod frictions;
pub mod gel;
mod gradient;
pub mod hydroelastic;
mod implicit;
mod imprint;
mod lane_sums;
pub mod layer;
mod lugre;
mod missed_objects;
mod motion;
mod point_block;
mod resolution;
mod shared_numbers;
mod simd;
mod spare;
mod springs;
mod state;
mod surface_field;
pub mod threads;
mod touch;
mod warning;
mod warning_log;

pub use contact_points::ContactPoints;
pub use contacts::{Contact, Contacts};
pub use energy::ContactEnergy;
pub use facets::Facets;
pub use friction::{Coulomb, Friction};
pub use gel::{Constitution, Gel, GelFriction, GelParameters};
pub use gradient::{FacetPart, PartEdge, PathGradient, PathStep, SkinGradient, StepGradient, TouchCotangent};
pub use hydroelastic::{Hydroelastic, HydroelasticParameters};
pub use implicit::{
    ImplicitContact, ImplicitLoad, ImplicitMotion, ImplicitPoint, Matrix6, PointLoad, PointLoads, StickingSlope,
};
pub use imprint::{Blur, Imprint, ImprintParameters};
pub use layer::{Layer, LayerParameters};
pub use lugre::Lugre;
pub use missed_objects::MissedObjects;
pub use motion::{Motion, Object, Target};
pub use resolution::Resolution;
pub use simd::{Simd, SimdLevel};
pub use springs::{Damping, Elasticity, Law, Site, SpringParameters, Springs, Table, part_centers};
pub use state::{Bristle, PointBristles, State};
pub use surface_field::SurfaceField;
pub use touch::{Corner, Facet, Load, Support, Tangent, Touch};
pub use warning::Warning;
pub use warning_log::{LoggedWarning, WarningLog};

use crate::threads::parallel;
use dermis_geometry::Twist;
use rayon::prelude::*;
use std::sync::Arc;

/// Errors of a skin.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum SkinError {
    /// A parameter that must be positive.
    #[error("`{key}` must be a positive number{}, got {got}", of(unit))]
    NotPositive { key: &'static str, unit: &'static str, got: f64 },
    /// A parameter that must not be negative.
    #[error("`{key}` must be zero or a positive number{}, got {got}", of(unit))]
    Negative { key: &'static str, unit: &'static str, got: f64 },
    /// Static friction below dynamic friction.
    #[error("`mu_static` ({mu_static}) must not be below `mu_dynamic` ({mu_dynamic})")]
    FrictionOrder { mu_static: f64, mu_dynamic: f64 },
    /// An invalid force–depth table.
    #[error(
        "the force-depth table must start at depth 0 and force 0 and rise in depth without falling in force; row {row} is ({depth_m} m, {force})"
    )]
    BadTable { row: usize, depth_m: f64, force: f64 },
    /// A texel without area, normal or finite position.
    #[error("texel {texel} has no {what}; the sensor's surface must have area everywhere")]
    BadSite { texel: usize, what: &'static str },
    /// A sensor without texels.
    #[error("the sensor has no texels")]
    NoSites,
    /// A state of a skin with another number of texels or cells.
    #[error("the state holds {got} texels and the skin has {expected}; start from `rest()` of this skin")]
    StateMismatch { got: usize, expected: usize },
    /// A state of another type of skin.
    #[error("the state is not of a {expected} skin; start from `rest()` of this skin")]
    OtherSkin { expected: &'static str },
    /// A state that no skin returns.
    #[error("the state of the {skin} skin is damaged: {what}; start from `rest()` of this skin")]
    DamagedState { skin: &'static str, what: &'static str },
    /// An invalid pressure–extent table.
    #[error(
        "the pressure-extent table must start at extent 0 and pressure 0 and rise in both; row {row} is ({extent}, {pressure_pa} Pa)"
    )]
    BadPressureTable { row: usize, extent: f64, pressure_pa: f64 },
    /// A pressure field that cannot be built from its geometry.
    #[error("the pressure field cannot be built: {reason}")]
    BadField { reason: String },
    /// A Poisson's ratio outside −1 … ½, or ½ itself.
    #[error(
        "`poisson` must lie above -1 and below 0.5, got {got}; for an incompressible material (0.5) set `incompressible` instead"
    )]
    BadPoisson { got: f64 },
    /// A sensing depth below the base of the layer.
    #[error("`sense_depth` ({depth_mm} mm) is below the base of the layer, which is {max_mm} mm thick")]
    SensesBelowBase { depth_mm: f64, max_mm: f64 },
    /// Cells as large as the layer.
    #[error(
        "`cell` ({cell_mm} mm) is more than half of the smaller side of the layer ({size_mm} mm); a tenth or less resolves a contact"
    )]
    CoarseCells { cell_mm: f64, size_mm: f64 },
    /// More cells than a layer may have.
    #[error("a layer of {rows} x {cols} cells is more than {max} in all; check the units of `cell` and of the size")]
    TooManyCells { rows: f64, cols: f64, max: f64 },
    /// A layer for which there is no memory.
    #[error("a layer of {rows} x {cols} cells {error}; make `cell` larger")]
    NoMemory { rows: f64, cols: f64, error: dermis_geometry::limits::NoMemory },
    /// An indentation beyond the range of linear layer theory.
    #[error(
        "an object indents the layer by {depth_mm:.3} mm; the limit is {max_mm:.3} mm (0.8 of its thickness); use the `gel` skin for more"
    )]
    TooDeep { depth_mm: f64, max_mm: f64 },
    /// A touch without derivatives.
    #[error("this touch has no gradients: {reason}")]
    NoGradient { reason: &'static str },
    /// A layer without plies.
    #[error("a layer needs at least one ply")]
    NoPlies,
    /// Sensor and object are both rigid.
    #[error("a rigid sensor and a rigid object have no contact surface: give one of them a pressure field")]
    BothRigid,
    /// Sensor and object are both half-spaces.
    #[error("two half-spaces have no contact surface of finite size: replace one of them by a solid")]
    BothHalfSpaces,
    /// An invalid parameter of a gel.
    #[error("gel: `{key}` {rule}")]
    BadGel { key: &'static str, rule: String },
    /// A particle of the moving gel was inverted or left its grid.
    #[error(
        "particle {particle} of the gel was inverted or lost at step {step} of {dt_us:.3} µs: press more slowly, or make `cell` larger or `mass_scaling` smaller"
    )]
    GelBroke { particle: u32, step: u64, dt_us: f64 },
    /// NaN or infinity in a pose or velocity.
    #[error("the {what} of object {object} is not finite; the simulation has diverged or the input is wrong")]
    NotFinite { object: usize, what: &'static str },
    /// The backend that computes the skin failed.
    #[error(transparent)]
    Backend(#[from] BackendError),
}

/// Error of a backend that computes a skin outside this crate, such as a GPU. Shared, so that [`SkinError`] can be
/// cloned; two errors are equal if one is a clone of the other.
#[derive(Clone, Debug, thiserror::Error)]
#[error(transparent)]
pub struct BackendError(Arc<dyn std::error::Error + Send + Sync>);

impl BackendError {
    /// Wraps an error of the backend.
    pub fn new(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self(Arc::new(error))
    }

    /// The error of the backend, if its type is `E`.
    pub fn downcast_ref<E: std::error::Error + 'static>(&self) -> Option<&E> {
        self.0.downcast_ref()
    }
}

impl PartialEq for BackendError {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// A soft cover. Computes the contact loads on the sensor and on the objects from the motion of the objects.
///
/// ```
/// use dermis_skin::{Motion, Object, Skin, Target};
/// # use dermis_skin::{Imprint, ImprintParameters};
/// # let (size_m, center_m, cell_m, thickness_m) = ([0.01; 2], [0.0; 2], 0.5e-3, 2e-3);
/// # let (stiffness_pa_per_m, narrow_m, wide_m, bulge, rest_heights_m) = (1e8, 1e-3, 2e-3, 0.2, None);
/// # let parameters = ImprintParameters { size_m, center_m, cell_m, thickness_m, stiffness_pa_per_m, narrow_m, wide_m, bulge, rest_heights_m };
/// # let ball = Object::new(dermis_geometry::shapes::sphere(4e-3, 0.5e-3)?);
/// # let pose = dermis_geometry::Pose::from_translation(dermis_geometry::Vec3::new(0.0, 0.0, 3.5e-3));
/// let skin = Imprint::new(parameters)?; // or any other skin
/// let targets = [Target::at_rest(&ball, pose)];
/// let (touch, next) = skin.touch(&skin.rest(), &Motion { targets: &targets }, 1e-3)?;
/// let (again, _) = skin.touch(&next, &Motion { targets: &targets }, 1e-3)?; // the next step
/// assert_eq!(touch.on_sensor, again.on_sensor);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Skin: std::any::Any + Send + Sync + std::fmt::Debug {
    /// State of a skin without contact.
    fn rest(&self) -> State;

    /// Computes the contact loads at the end of a step in which the objects move by `motion` for `dt_s` seconds, and
    /// the next state.
    fn touch(&self, state: &State, motion: &Motion<'_>, dt_s: f64) -> Result<(Touch, State), SkinError>;

    /// Computes the contact loads in static equilibrium, with the objects held at the poses of `motion`; their
    /// velocities are ignored. The default takes one step with the objects at rest, which suffices for a skin without
    /// relaxation.
    fn settle(&self, state: &State, motion: &Motion<'_>) -> Result<(Touch, State), SkinError> {
        let still = motion.targets_at_rest();
        let motion = Motion { targets: &still };
        let (mut touch, next) = self.touch(state, &motion, 1.0)?;
        touch.warnings.extend(self.settled_warnings(&touch, &motion));
        Ok((touch, next))
    }

    /// [`Skin::settle`] of many presses, each from a state of its own; the results are in the order of the presses. The default
    /// computes them on all cores; a gel on a GPU computes several at once.
    fn settle_all(&self, presses: &[(&State, &Motion<'_>)]) -> Vec<Result<(Touch, State), SkinError>> {
        parallel(|| presses.par_iter().map(|(state, motion)| self.settle(state, motion)).collect())
    }

    /// Warnings that [`Skin::settle`] adds to those of `touch`, which [`Skin::touch`] returned for `motion`.
    fn settled_warnings(&self, touch: &Touch, motion: &Motion<'_>) -> Vec<Warning> {
        self.missed(touch, motion)
    }

    /// Warnings for objects that indent the skin between its contact points, so that `touch`, the result of `motion`,
    /// lacks their force. A skin that searches for them in [`Skin::touch`] returns none. [`Skin::settle`] includes
    /// them; a simulation asks every few steps, because the search may cost as much as a step.
    fn missed(&self, touch: &Touch, motion: &Motion<'_>) -> Vec<Warning> {
        let _ = (touch, motion);
        Vec::new()
    }

    /// Derivatives of a scalar with respect to object and skin, from those with respect to a touch: `touch` and `state` are
    /// what [`Skin::settle`] returned for this one object.
    fn vjp(
        &self,
        _touch: &Touch,
        _state: &State,
        _target: &Target<'_>,
        _cotangent: &TouchCotangent,
    ) -> Result<SkinGradient, SkinError> {
        Err(SkinError::NoGradient { reason: "of the skins, `springs`, `hydroelastic`, `layer` and `gel` have them" })
    }

    /// Derivatives of a scalar with respect to the motion of one object, the object and the skin, from those with respect to
    /// each touch of a path: the touches are what [`Skin::touch`] returned for steps of `dt_s` from `state`.
    fn vjp_path(
        &self,
        _state: &State,
        _object: &Object,
        _steps: &[PathStep],
        _cotangents: &[TouchCotangent],
        _dt_s: f64,
    ) -> Result<PathGradient, SkinError> {
        Err(SkinError::NoGradient { reason: "of the skins, only `springs` has them along a path in time" })
    }

    /// Contact loads from the contact points of another engine, in static equilibrium. The default assigns each force to
    /// its point; a skin that spreads loads, or whose surface moves, computes both.
    fn carry(&self, contacts: &Contacts) -> Result<Touch, SkinError> {
        contacts.touch()
    }

    /// The contact points of `still`, which [`Skin::touch`] found with the objects at rest, to be held during a step
    /// with the force at its end; `None` if the skin supports only the force at the start of a step.
    fn hold(&self, _still: &(Touch, State)) -> Option<ImplicitContact> {
        None
    }

    /// The touch and the next state of `still`, for which [`Skin::hold`] returned the contact, with the loads of its points
    /// at the end of the step.
    fn release(&self, still: (Touch, State), _contact: ImplicitContact, _loads: &PointLoads) -> (Touch, State) {
        still
    }

    /// The energy of a touch, and its loads by cause, with the velocities of the objects relative to the sensor that it was
    /// computed for. The default knows the friction only.
    fn contact_energy(&self, touch: &Touch, _velocities: &[Twist]) -> ContactEnergy {
        ContactEnergy::of_facets(touch)
    }

    /// Stiffness and damping of the skin when all of it is in contact: an upper bound for choosing a stable time step.
    fn fully_pressed(&self) -> Vec<Support>;

    /// Largest indentation (m) of the skin.
    fn max_depth_m(&self) -> f64;

    /// Static coefficient of friction, which that of an object can replace ([`Object::mu`]); `None` for skins without friction,
    /// and for gels, whose friction is the same with all objects.
    fn mu(&self) -> Option<f64> {
        None
    }

    /// True if friction with `object` holds the skin sheared while nothing moves.
    fn holds_shear(&self, object: &Object) -> bool;

    /// Relative error of the forces; a root search need not converge below it.
    fn precision(&self) -> f64 {
        1e-11
    }
}

/// " of" a unit in a message; nothing for a number without one.
fn of(unit: &str) -> String {
    if unit == "1" { String::new() } else { format!(" of {unit}") }
}

pub(crate) fn require_positive(key: &'static str, unit: &'static str, got: f64) -> Result<(), SkinError> {
    if got > 0.0 && got.is_finite() { Ok(()) } else { Err(SkinError::NotPositive { key, unit, got }) }
}

pub(crate) fn require_not_negative(key: &'static str, unit: &'static str, got: f64) -> Result<(), SkinError> {
    if got >= 0.0 && got.is_finite() { Ok(()) } else { Err(SkinError::Negative { key, unit, got }) }
}
