//! The history of a skin between steps.

use crate::ContactPoints;
use crate::friction_lanes::LANES;
use crate::gel::GelState;
use crate::hydroelastic::Bristles;
use crate::layer::LayerState;
use crate::point_block::PointBlock;
use dermis_geometry::Vec3;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::sync::Arc;

/// The bristles of a texel in contact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Bristle {
    /// Index of the texel (or contact point).
    pub site: u32,
    /// Index of the object in contact.
    pub object: u32,
    /// Deflection (m) in the contact plane, in the sensor's frame.
    pub deflection_m: Vec3,
    /// Normal of the contact plane, out of the sensor.
    pub normal: Vec3,
    /// Triangle hit in the last step: a hint for the next ray.
    pub triangle: u32,
}

/// The bristles of texels in contact, in the order of the texels: those of the contact points of the last touch.
#[derive(Clone)]
pub struct PointBristles(pub(crate) Arc<ContactPoints>);

impl PointBristles {
    /// Number of texels in contact.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True without contact.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The bristles of each texel.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = Bristle> + '_ {
        self.0.bristles()
    }
}

/// Numbers of a texel in [`PointBristles::write_columns`].
const COLUMNS: usize = 8;

impl PointBristles {
    /// Number of values of [`PointBristles::write_columns`] for a skin with this number of texels.
    pub const fn columns_len(sites: usize) -> usize {
        COLUMNS * sites
    }

    /// Writes the bristles to columns of one value per texel, over those of `before`: object + 1 (0 without contact),
    /// triangle, deflection (m) by axis, normal by axis.
    pub fn write_columns(&self, before: &Self, sites: usize, values: &mut [f64]) {
        let mut rest = values;
        let mut columns: [&mut [f64]; COLUMNS] = std::array::from_fn(|_| {
            let (column, after) = std::mem::take(&mut rest).split_at_mut(sites);
            rest = after;
            column
        });
        for (index, block) in before.0.blocks.iter().enumerate() {
            // Often the same sites touched in the last step.
            if self.0.blocks.get(index).is_some_and(|now| (now.count, now.site) == (block.count, block.site)) {
                continue;
            }
            for &site in &block.site[..block.count] {
                columns[0][site as usize] = 0.0;
            }
        }
        for block in &self.0.blocks {
            block.write_columns(&mut columns);
        }
    }

    /// The bristles in the columns of [`PointBristles::write_columns`]. Skips texels whose numbers are not finite.
    pub fn read_columns(sites: usize, values: &[f64]) -> Self {
        let number = |column: usize, site: usize| values[column * sites + site];
        let vector = |first: usize, site: usize| Vec3::from_array([0, 1, 2].map(|axis| number(first + axis, site)));
        (0..sites)
            .filter(|&site| number(0, site) >= 1.0 && (0..COLUMNS).all(|column| number(column, site).is_finite()))
            .map(|site| Bristle {
                site: site as u32,
                object: number(0, site) as u32 - 1,
                triangle: number(1, site) as u32,
                deflection_m: vector(2, site),
                normal: vector(5, site),
            })
            .collect()
    }
}

impl Default for PointBristles {
    fn default() -> Self {
        Self(Arc::new(ContactPoints::none()))
    }
}

impl FromIterator<Bristle> for PointBristles {
    fn from_iter<T: IntoIterator<Item = Bristle>>(bristles: T) -> Self {
        let mut blocks: Vec<PointBlock> = Vec::new();
        for bristle in bristles {
            if blocks.last().is_none_or(|block| block.count == LANES) {
                blocks.push(PointBlock::EMPTY);
            }
            blocks.iter_mut().next_back().into_iter().for_each(|block| block.push_bristle(&bristle));
        }
        let mut points = ContactPoints::none();
        points.blocks = blocks;
        Self(Arc::new(points))
    }
}

impl std::fmt::Debug for PointBristles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl PartialEq for PointBristles {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Serialize for PointBristles {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for PointBristles {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::<Bristle>::deserialize(deserializer).map(Self::from_iter)
    }
}

/// True if a vector is finite and no component is larger than `max`.
pub(crate) fn is_bounded(vector: Vec3, max: f64) -> bool {
    vector.abs().cmple(Vec3::splat(max)).all()
}

/// True for a unit vector, to rounding.
pub(crate) fn is_unit(vector: Vec3) -> bool {
    (vector.length_squared() - 1.0).abs() < 1e-6
}

/// The history of a skin: clone it to branch, serialise it to resume.
///
/// ```
/// use dermis_skin::{Motion, Object, Skin, State, Target};
/// # use dermis_skin::{Imprint, ImprintParameters};
/// # let (size_m, center_m, cell_m, thickness_m) = ([0.01; 2], [0.0; 2], 0.5e-3, 2e-3);
/// # let (stiffness_pa_per_m, narrow_m, wide_m, bulge, rest_heights_m) = (1e8, 1e-3, 2e-3, 0.2, None);
/// # let parameters = ImprintParameters { size_m, center_m, cell_m, thickness_m, stiffness_pa_per_m, narrow_m, wide_m, bulge, rest_heights_m };
/// # let ball = Object::new(dermis_geometry::shapes::sphere(4e-3, 0.5e-3)?);
/// # let pose = dermis_geometry::Pose::from_translation(dermis_geometry::Vec3::new(0.0, 0.0, 3.5e-3));
/// let skin = Imprint::new(parameters)?; // or any other skin
/// let targets = [Target::at_rest(&ball, pose)];
/// let (_, next) = skin.touch(&skin.rest(), &Motion { targets: &targets }, 1e-3)?;
/// let resumed: State = serde_json::from_str(&serde_json::to_string(&next)?)?;
/// assert_eq!(resumed, next);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum State {
    /// State of [`crate::Springs`].
    Springs {
        /// Number of texels (or contact points) of the skin.
        sites: usize,
        /// Bristles of the texels in contact, in the order of the texels.
        bristles: PointBristles,
    },
    /// State of [`crate::Hydroelastic`]: deflections at the corners of the last contact surface.
    Hydroelastic(Bristles),
    /// State of [`crate::Gel`]: node displacements, sticking contacts and, in motion, particles.
    Gel(GelState),
    /// State of [`crate::Layer`]: tractions.
    Layer(LayerState),
    /// State of [`crate::Imprint`], which has no history.
    Imprint,
}
