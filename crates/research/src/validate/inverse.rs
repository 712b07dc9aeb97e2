//! Young's modulus and friction of a layer from simulated forces with noise, and poses of indenters from simulated images.
//!
//! Every fit of a material has another ball, another material and other noise, and starts from the same description, whose modulus is up to
//! 40 % and whose friction up to 50 % off.

pub mod indenters;

use super::ValidateError;
use dermis::estimate::{MaterialPoint, MaterialUnknown, fit_material};
use dermis::geometry::{Primitive, Random};
use dermis::sensor::{Aim, Goal, SensorSpec, press};
use dermis::skin::Object;
use indenters::IndenterFits;
use serde::Serialize;
use serde_json::json;

/// A material that was fitted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct FittedMaterial {
    /// Young's modulus (Pa) of the simulated sensor.
    pub young_pa: f64,
    /// Relative error of the fitted modulus.
    pub young_rel: f64,
    /// Coefficient of friction of the simulated sensor.
    pub mu: f64,
    /// Relative error of the fitted coefficient.
    pub mu_rel: f64,
    /// True if both 95 % intervals contain the truth.
    pub covered: bool,
}

/// All fits.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InverseReport {
    /// The fitted materials.
    pub fits: Vec<FittedMaterial>,
    /// Share of the fits with a modulus within [`MAX_YOUNG_REL`]; `None` without fits.
    pub young_share: Option<f64>,
    /// Share of the fits with a coefficient of friction within [`MAX_MU_REL`].
    pub mu_share: Option<f64>,
    /// The fitted poses of each indenter.
    pub indenters: Vec<IndenterFits>,
    /// Share of the poses within [`indenters::MAX_POSITION_MM`] and [`indenters::MAX_ORIENTATION_DEG`].
    pub pose_share: Option<f64>,
}

/// Largest error of Young's modulus.
pub const MAX_YOUNG_REL: f64 = 0.02;
/// Largest error of the coefficient of friction.
pub const MAX_MU_REL: f64 = 0.05;
/// Smallest share of the fits within these errors.
pub const MIN_SHARE: f64 = 0.95;

/// Noise of a force: a part of it, and of any force (N).
const NOISE: [f64; 2] = [0.01, 2e-3];
/// Depths (m) of the presses, and displacements (m) along the surface at [`SHEARED_M`].
const DEPTHS_M: [f64; 5] = [0.2e-3, 0.3e-3, 0.4e-3, 0.5e-3, 0.6e-3];
const SHEARS_M: [f64; 4] = [0.1e-3, 0.2e-3, 0.4e-3, 0.6e-3];
const SHEARED_M: f64 = 0.5e-3;

const GEL: &str = r#"
name = "gel"
[surface.grid]
rows = 5
cols = 5
pitch = "2 mm"
[skin]
kind = "layer"
thickness = "3 mm"
young = "140 kPa"
poisson = 0.45
mu = 0.5
cell = "0.4 mm"
"#;

impl InverseReport {
    /// True if enough fits of the material are within their errors.
    pub fn has_materials(&self) -> bool {
        [self.young_share, self.mu_share].into_iter().flatten().all(|share| share >= MIN_SHARE)
    }

    /// True if enough poses are within their errors.
    pub fn has_poses(&self) -> bool {
        self.pose_share.is_none_or(|share| share >= MIN_SHARE)
    }
}

/// Number of fits.
#[derive(Clone, Copy, Debug)]
pub struct FitCounts<'a> {
    /// Number of materials.
    pub materials: usize,
    /// Number of poses of each indenter.
    pub starts: usize,
    /// Only indenters whose name contains this text.
    pub only: &'a str,
}

impl FitCounts<'_> {
    fn is_wanted(&self, indenter: &str) -> bool {
        indenter.contains(self.only)
    }

    /// Number of all fits.
    pub fn sum(&self) -> usize {
        let wanted = dermis::geometry::shapes::indenters::NAMES.into_iter().filter(|name| self.is_wanted(name));
        self.materials + self.starts * wanted.count()
    }
}

/// Fits materials and poses. `done` is called after each fit.
pub fn run(counts: FitCounts<'_>, done: &(dyn Fn() + Sync)) -> Result<InverseReport, ValidateError> {
    let count = counts.materials as u64;
    let fits = (0..count).map(|seed| fit(seed).inspect(|_| done())).collect::<Result<Vec<_>, _>>()?;
    let share_of = |good: usize, all: usize| (all > 0).then(|| good as f64 / all as f64);
    let share = |is_good: &dyn Fn(&FittedMaterial) -> bool| {
        share_of(fits.iter().filter(|fit| is_good(fit)).count(), fits.len())
    };
    let young_share = share(&|fit| fit.young_rel.abs() <= MAX_YOUNG_REL);
    let mu_share = share(&|fit| fit.mu_rel.abs() <= MAX_MU_REL);
    let indenters = indenters::run(counts.starts, |indenter| counts.is_wanted(indenter), done)?;
    let poses = || indenters.iter().flat_map(|indenter| &indenter.fits);
    let pose_share = share_of(poses().filter(|pose| pose.is_good()).count(), poses().count());
    Ok(InverseReport { fits, young_share, mu_share, indenters, pose_share })
}

fn fit(seed: u64) -> Result<FittedMaterial, ValidateError> {
    let mut random = Random::new(1000 + seed);
    let (young_pa, mu) = (1.4e5 * random.between(-0.35, 0.35).exp(), 0.5 * random.between(-0.5, 0.5).exp());
    let ball = Object::of_primitive(Primitive::Sphere { radius_m: random.between(3e-3, 5e-3) }, 1e-3)?;
    let spec = SensorSpec::parse("the gel", GEL).map_err(bad)?;
    let skin = json!({ "young": format!("{young_pa:e} Pa"), "mu": mu });
    let changes = [("skin".to_owned(), skin)].into_iter().collect();
    let sensor = spec.with_overrides(&changes).and_then(|spec| spec.build(None)).map_err(bad)?;
    let plain = DEPTHS_M.map(|depth_m| (depth_m, 0.0));
    let sheared = SHEARS_M.map(|shear_m| (SHEARED_M, shear_m));
    let mut points = Vec::new();
    for (depth_m, shear_m) in plain.into_iter().chain(sheared) {
        let goal = Goal::Depth(depth_m);
        let pressed = press(&sensor, &ball, &Aim::default(), goal)
            .and_then(|pressed| pressed.sheared(&sensor, &ball, [shear_m, 0.0], goal));
        let force = pressed.map_err(bad)?.touch.on_sensor.force;
        let mut noisy = |force: f64| force * (1.0 + NOISE[0] * random.normal()) + NOISE[1] * random.normal();
        let (force_newton, shear_newton) = (noisy(-force.z), noisy(force.x));
        let shear_force_newton = (shear_m > 0.0).then_some(shear_newton);
        points.push(MaterialPoint { depth_m, shear_m, force_newton, shear_force_newton, ..MaterialPoint::default() });
    }
    let unknowns = [MaterialUnknown::Young, MaterialUnknown::Friction];
    let fit = fit_material(&spec, &ball, &Aim::default(), &points, &unknowns, &|_| ()).map_err(bad)?;
    let compared = |unknown: MaterialUnknown, truth: f64| {
        fit.value(unknown)
            .map_or((f64::NAN, false), |found| (found.value / truth - 1.0, (found.value - truth).abs() <= found.ci95))
    };
    let (young_rel, young_covered) = compared(MaterialUnknown::Young, young_pa);
    let (mu_rel, mu_covered) = compared(MaterialUnknown::Friction, mu);
    Ok(FittedMaterial { young_pa, young_rel, mu, mu_rel, covered: young_covered && mu_covered })
}

fn bad(error: impl std::fmt::Display) -> ValidateError {
    ValidateError::BadCase { place: "a fit to simulated data".to_owned(), reason: error.to_string() }
}
