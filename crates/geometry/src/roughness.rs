//! Surface defects: roughness and scratches.

mod scratch;
mod waves;

use crate::{Bounds, MeshError, RefineError, TriMesh, Vec3, refined};
use scratch::Scratch;
use waves::Waves;

/// Minimum number of edges per wavelength after refinement.
const EDGES_PER_WAVE: f64 = 6.0;
/// Minimum number of edges across a scratch.
const EDGES_PER_SCRATCH: f64 = 4.0;
/// Maximum rms height, in wavelengths: the rms slope is then 2π/8, and the surface does not intersect itself.
const MAX_RMS_PER_WAVE: f64 = 0.125;

/// Error when roughening a surface.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs, reason = "the message of each variant names its fields")]
pub enum RoughnessError {
    /// A length is not a positive number.
    #[error("roughness: `{what}` must be a positive length in metres, got {got}")]
    BadLength { what: &'static str, got: f64 },
    /// The rms height is too large for the wavelength.
    #[error(
        "roughness: an rms height of {rms_m} m on a wavelength of {wavelength_m} m is steeper than a surface can be; an eighth of the wavelength is the most"
    )]
    TooSteep { rms_m: f64, wavelength_m: f64 },
    /// A scratch is deeper than it is wide.
    #[error("roughness: a scratch {depth_m} m deep and {width_m} m wide is a cut; at most as deep as wide is meant")]
    DeepScratch { depth_m: f64, width_m: f64 },
    /// No surface lies in the region for scratches.
    #[error("roughness: no part of {mesh} lies in the box that is to be scratched")]
    NothingToScratch { mesh: String },
    /// The mesh cannot be refined enough.
    #[error("roughness: {0}")]
    Refine(#[from] RefineError),
    /// The displaced surface is not a valid mesh.
    #[error("roughness: {0}")]
    Mesh(#[from] MeshError),
}

/// Defects of a surface. The same parameters on the same mesh give the same defects.
#[derive(Clone, Debug, PartialEq)]
pub struct Roughness {
    /// Root mean square of the height over the whole surface (m), without scratches.
    pub rms_m: f64,
    /// Wavelength (m); the waves have 0.8 to 1.25 times this length.
    pub wavelength_m: f64,
    /// Number of scratches.
    pub scratches: usize,
    /// Width of the scratches (m); their length is twenty times as large.
    pub scratch_width_m: f64,
    /// Depth of the scratches (m).
    pub scratch_depth_m: f64,
    /// Box that holds the centres of the scratches; the whole surface if absent.
    pub scratched: Option<Bounds>,
    /// Seed of the random defects.
    pub seed: u64,
}

impl Default for Roughness {
    /// The roughness of fine print layers, without scratches.
    fn default() -> Self {
        Self {
            rms_m: 20e-6,
            wavelength_m: 0.5e-3,
            scratches: 0,
            scratch_width_m: 0.2e-3,
            scratch_depth_m: 50e-6,
            scratched: None,
            seed: 0,
        }
    }
}

impl Roughness {
    /// Checks the ranges of all parameters.
    pub fn validate(&self) -> Result<(), RoughnessError> {
        let lengths = [
            ("rms", self.rms_m),
            ("wavelength", self.wavelength_m),
            ("scratch_width", self.scratch_width_m),
            ("scratch_depth", self.scratch_depth_m),
        ];
        if let Some(&(what, got)) = lengths.iter().find(|(_, got)| !(*got > 0.0 && got.is_finite())) {
            return Err(RoughnessError::BadLength { what, got });
        }
        if self.rms_m > MAX_RMS_PER_WAVE * self.wavelength_m {
            return Err(RoughnessError::TooSteep { rms_m: self.rms_m, wavelength_m: self.wavelength_m });
        }
        if self.scratch_depth_m > self.scratch_width_m {
            let (depth_m, width_m) = (self.scratch_depth_m, self.scratch_width_m);
            return Err(RoughnessError::DeepScratch { depth_m, width_m });
        }
        Ok(())
    }

    /// Displaces the surface of a mesh along its normals, after refining it to resolve the defects.
    pub fn apply(&self, mesh: &TriMesh) -> Result<TriMesh, RoughnessError> {
        self.validate()?;
        let across = if self.scratches > 0 { self.scratch_width_m / EDGES_PER_SCRATCH } else { f64::INFINITY };
        let fine = refined(mesh, across.min(self.wavelength_m / EDGES_PER_WAVE))?;
        let normals = fine.vertex_normals();
        let mut heights_m = self.waves(&fine);
        let scratches = Scratch::scatter(mesh, self)?;
        for ((height, &vertex), &normal) in heights_m.iter_mut().zip(fine.vertices()).zip(&normals) {
            *height -= scratches.iter().map(|scratch| scratch.depth_m(vertex, normal)).fold(0.0, f64::max);
        }
        let moved = fine.vertices().iter().zip(&normals).zip(&heights_m).map(|((&v, &n), &h)| v + n * h);
        let moved: Vec<Vec3> = moved.collect();
        Ok(TriMesh::new(mesh.name(), moved, fine.triangles().to_vec())?)
    }

    /// Height (m) of every vertex. The interpolated surface has mean 0 and the specified rms.
    fn waves(&self, mesh: &TriMesh) -> Vec<f64> {
        let waves = Waves::new(self.wavelength_m, self.seed);
        let mut heights: Vec<f64> = mesh.vertices().iter().map(|&vertex| waves.at(vertex)).collect();
        let integral = |heights: &[f64], of: fn([f64; 3]) -> f64| {
            let corners = |t: usize| mesh.triangles()[t].map(|v| heights[v as usize]);
            let parts = (0..mesh.triangles().len()).map(|t| mesh.area_vector(t).length() * of(corners(t)));
            parts.sum::<f64>()
        };
        let area = mesh.area_m2();
        let mean = integral(&heights, |[a, b, c]| (a + b + c) / 3.0) / area;
        heights.iter_mut().for_each(|height| *height -= mean);
        // The mean square of a linear function over a triangle.
        let square = integral(&heights, |[a, b, c]| (a * a + b * b + c * c + a * b + b * c + c * a) / 6.0) / area;
        let scale = if square > 0.0 { self.rms_m / square.sqrt() } else { 0.0 };
        heights.iter().map(|height| height * scale).collect()
    }
}
