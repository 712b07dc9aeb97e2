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

/// How much a sample counts, by its distance d from the taxel and the radius r of the receptive field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Window {
    /// 1: the mean.
    Uniform,
    /// r − d.
    Linear,
    /// (r − d)², as in the paper.
    #[default]
    Squared,
    /// Only the nearest sample counts.
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

/// A part of a taxel with a receptive field of its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SubTaxel {
    /// The taxel it belongs to.
    pub taxel: usize,
    /// Its centre (m).
    pub center: Vec3,
    /// Its outward unit normal.
    pub normal: Vec3,
    /// Radius of its receptive field (m).
    pub radius_m: f64,
}

/// Parameters of a reading by rays.
#[derive(Clone, Debug, PartialEq)]
pub struct RaySettings {
    /// Radius of a taxel's receptive field (m), where it has no sub-taxels.
    pub radius_m: f64,
    /// Smallest distance (m) between samples of the skin.
    pub spacing_m: f64,
    /// Greatest angle (rad) between the normals of a taxel and of its samples.
    pub cone_rad: f64,
    /// How distance weighs.
    pub window: Window,
    /// Whether distance is measured along the skin instead of straight through it.
    pub geodesic: bool,
    /// Of the pattern of samples.
    pub seed: u64,
    /// Parts of taxels. A taxel without any is its own only part.
    pub sub_taxels: Vec<SubTaxel>,
}

/// Taxels that cast rays to the contact surface (Patzelt et al. 2023, section 2).
///
/// Points are scattered over the skin (Poisson disks). The receptive field of a taxel are those within its radius r whose normal is within a cone
/// about its own. From each point one ray goes inwards, against the skin's normal; the pressure pᵢ is that where it first meets the
/// contact surface, and zero where it meets none. A taxel's pressure is
/// ```text
/// p = Σ wᵢ pᵢ / Σ wᵢ        wᵢ = (r − dᵢ)²,  dᵢ: from the taxel's centre to the point
/// ```
/// With sub-taxels (the paper's outlook) a taxel's receptive field is that of all its parts, each point weighed by the nearest part.
///
/// Differs from the paper: a surface that a ray meets from behind, on the far side of the sensor, counts as none; rays are as
/// long as the skin is deep; and they start 2 % of that outside, because the facets of a field may stand as much proud of the mesh. A skin
/// that presses at points instead of polygons counts as square tiles of the points' areas.
///
/// Pressures are not forces: receptive fields overlap, so pressures need not sum to the load. The reading's force vectors, which
/// do, stay those of the exact cells.
#[derive(Clone, Debug)]
pub struct RayReading {
    samples: Vec<SurfacePoint>,
    /// Per taxel, normalised.
    weights: Weights,
    depth_m: f64,
}

/// How far outside of the skin rays start, of their length.
const START: f64 = 0.02;

impl RayReading {
    /// Scatters the samples over `skin`, which is `depth_m` deep, and shares them out. `sensor` is named in errors.
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

    /// Where the rays start, without the little that they start outside.
    pub fn samples(&self) -> &[SurfacePoint] {
        &self.samples
    }

    /// Weight of each sample in each taxel, each row summing to 1.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// Pressure (Pa) of every taxel.
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
