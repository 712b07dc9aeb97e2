//! The reading of Patzelt et al. 2023: rays from the skin to the contact surface.

mod receptive;
mod spec;
mod targets;

pub use spec::{DistanceSpec, ReadingSpec, SubTaxelSpec};

use crate::{SensorError, Taxels, Weights};
use dermis_geometry::sampling::{SurfacePoint, poisson_disk};
use dermis_geometry::{Ray, TriMesh, Vec3};
use dermis_skin::Touch;
use receptive::Fields;
use serde::{Deserialize, Serialize};
use targets::Targets;

/// Weight of a sample as a function of its distance d from the taxel and the radius r of the receptive field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Window {
    /// Weight 1: the mean.
    Uniform,
    /// Weight r − d.
    Linear,
    /// Weight (r − d)², as in the paper.
    #[default]
    Squared,
    /// Only the nearest sample has a weight.
    Nearest,
}

impl Window {
    fn weight(self, radius_m: f64, distance_m: f64) -> f64 {
        match self {
            Self::Uniform | Self::Nearest => 1.0,
            Self::Linear => radius_m - distance_m,
            Self::Squared => (radius_m - distance_m).powi(2),
        }
    }
}

/// A part of a taxel with its own receptive field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SubTaxel {
    /// The taxel it belongs to.
    pub taxel: usize,
    /// Centre (m).
    pub center: Vec3,
    /// Outward unit normal.
    pub normal: Vec3,
    /// Radius of the receptive field (m).
    pub radius_m: f64,
}

/// Parameters of a reading by rays.
#[derive(Clone, Debug, PartialEq)]
pub struct RaySettings {
    /// Radius of a taxel's receptive field (m), for taxels without sub-taxels.
    pub radius_m: f64,
    /// Minimum distance (m) between samples of the skin.
    pub spacing_m: f64,
    /// Maximum angle (rad) between the normals of a taxel and of its samples.
    pub cone_rad: f64,
    /// Weight as a function of distance.
    pub window: Window,
    /// Measures distances along the skin instead of in a straight line.
    pub geodesic: bool,
    /// Seed of the sample pattern.
    pub seed: u64,
    /// Parts of taxels. A taxel without sub-taxels is its own only part.
    pub sub_taxels: Vec<SubTaxel>,
}

/// Taxels that cast rays to the contact surface (Patzelt et al. 2023, section 2).
///
/// Points are scattered over the skin (Poisson disks). The receptive field of a taxel consists of the points within its
/// radius r whose normal lies within a cone about its own. From each point one ray goes inwards, against the skin's
/// normal; pᵢ is the pressure at its first intersection with the contact surface, zero without intersection. The
/// pressure of a taxel is
/// ```text
/// p = Σ wᵢ pᵢ / Σ wᵢ        wᵢ = (r − dᵢ)²,  dᵢ: from the taxel's centre to the point
/// ```
/// With sub-taxels (the paper's outlook) the receptive field of a taxel is the union of those of its parts, and each
/// point is weighted by its nearest part.
///
/// Differs from the paper: back faces, on the far side of the sensor, count as no intersection; the rays are as long as
/// the skin is deep; and they start 2 % of that length outside, because the facets of a field may protrude from the
/// mesh by that much. Point loads are represented by square tiles of the areas of the points.
///
/// Pressures are not forces: receptive fields overlap, so pressures need not sum to the load. The force vectors of the
/// reading, which do, are those of the exact cells.
#[derive(Clone, Debug)]
pub struct RayReading {
    samples: Vec<SurfacePoint>,
    /// One normalised row per taxel.
    weights: Weights,
    depth_m: f64,
}

/// Distance of the start of a ray from the skin, as a fraction of its length.
const START: f64 = 0.02;

impl RayReading {
    /// Scatters the samples over `skin`, which is `depth_m` deep, and assigns them to taxels. Errors name `sensor`.
    pub fn new(
        sensor: &str,
        taxels: &Taxels,
        skin: &TriMesh,
        depth_m: f64,
        settings: &RaySettings,
    ) -> Result<Self, SensorError> {
        let all = poisson_disk(skin, settings.spacing_m, settings.seed);
        let entries = Fields { taxels, skin, samples: &all, settings }.entries(sensor)?;
        // Samples outside all receptive fields need no ray.
        let mut used = vec![false; all.len()];
        entries.iter().for_each(|entry| used[entry.1] = true);
        let mut place = vec![0; all.len()];
        let mut samples = Vec::new();
        for (i, sample) in all.into_iter().enumerate().filter(|(i, _)| used[*i]) {
            place[i] = samples.len();
            samples.push(sample);
        }
        let entries = entries.into_iter().map(|(taxel, sample, weight)| (taxel, place[sample], weight)).collect();
        Ok(Self { samples, weights: Weights::new(taxels.len(), entries), depth_m })
    }

    /// Start points of the rays on the skin, without the outward offset.
    pub fn samples(&self) -> &[SurfacePoint] {
        &self.samples
    }

    /// Weight of each sample in each taxel; each row sums to 1.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// Pressure (Pa) on every taxel.
    pub fn pressures_pa(&self, touch: &Touch) -> Vec<f64> {
        let targets = Targets::new(touch);
        if targets.is_empty() {
            return vec![0.0; self.weights.taxels()];
        }
        let start_m = START * self.depth_m;
        let seen = |sample: &SurfacePoint| {
            let origin = sample.point + sample.normal * start_m;
            let ray = Ray { origin, direction: -sample.normal, length: start_m + self.depth_m };
            targets.pressure_pa(&ray)
        };
        self.weights.apply(&self.samples.iter().map(seen).collect::<Vec<f64>>())
    }
}
