//! Motion of the magnets with the skin.

use super::motion_table::MotionTable;
use super::spec::MagnetsSpec;
use crate::{Sensor, SensorError};
use dermis_geometry::{Vec2, Vec3};
use dermis_skin::layer::{Interior, MaterialMotion};
use dermis_skin::{Gel, Layer, Load, Springs, Touch, Warning};

/// The part of a skin that moves magnets.
#[derive(Clone, Debug)]
pub enum Carrier {
    /// The inside of an elastic layer, at the depth of each magnet.
    Layer {
        /// One entry for each depth of magnets.
        interiors: Vec<Interior>,
        /// The entry of each magnet.
        of_magnet: Vec<usize>,
    },
    /// Springs on a base, under each magnet.
    Springs(Vec<Footprint>),
    /// The probes of a gel, one at each magnet.
    Gel,
    /// A measured motion.
    Table(MotionTable),
}

/// Springs under a magnet: the contact points of a square around it.
///
/// Springs know the displacement d of their ends and nothing below. The magnet is assumed to be rigid, to follow the plane
/// fitted to the displacements of the springs in its square, and to move less with depth t, by the factor 1 − t/T above a
/// base at depth T:
/// ```text
/// u = (1 − t/T) ⟨u_surface⟩,   rotation = (1 − t/T) (∂u_z/∂y, −∂u_z/∂x, 0)
/// ```
#[derive(Clone, Debug)]
pub struct Footprint {
    middle: Vec2,
    half_m: f64,
    /// Sums over the springs: area, second moments along x and y about `middle`.
    area: f64,
    moments: Vec2,
    factor: f64,
}

impl Carrier {
    /// The carrier of magnets at these places (m), with these half extents (m), and the box that they must lie in.
    pub fn new(
        sensor: &Sensor,
        spec: &MagnetsSpec,
        places: &[Vec3],
        half: Vec3,
    ) -> Result<(Self, Vec3, Vec3), SensorError> {
        let name = sensor.name();
        let bad = |key, rule: &str| SensorError::bad_key(name, key, rule);
        if let Some(table) = &spec.motion {
            let (low, high) = (sensor.surface().bounds().min, sensor.surface().bounds().max);
            let (low, high) = (low.with_z(f64::NEG_INFINITY), high.with_z(0.0));
            return Ok((Self::Table(MotionTable::new(name, table, places.len())?), low, high));
        }
        if let Some(springs) = sensor.skin_as::<Springs>() {
            let base = spec.base.ok_or_else(|| {
                bad("magnets", "in springs need `base`, the depth of the rigid base, which springs do not have")
            })?;
            let base_m = SensorError::check_positive(name, "base", base)?;
            if springs.sites().iter().any(|site| site.normal.z < 0.999) {
                return Err(bad("magnets", "in springs need a flat skin"));
            }
            let (low, high) = (sensor.surface().bounds().min, sensor.surface().bounds().max);
            let (low, high) = (low.with_z(-base_m), high.with_z(0.0));
            let footprints = places.iter().map(|at| Footprint::new(springs, *at, half, base_m)).collect();
            return Ok((Self::Springs(footprints), low, high));
        }
        if let Some(gel) = sensor.skin_as::<Gel>() {
            let (low, high) =
                gel.block_m().ok_or_else(|| bad("magnets", "in a gel need a block, under a flat grid"))?;
            return Ok((Self::Gel, low, high));
        }
        let layer = sensor.skin_as::<Layer>().filter(|layer| layer.parameters().relaxation.is_empty());
        let layer = layer.ok_or_else(|| {
            bad(
                "magnets",
                "need a skin of kind \"layer\" without `relaxation` or \"gel\", whose inside is known, springs with `base`, or a measured `motion`",
            )
        })?;
        let [size_x, size_y] = layer.parameters().size_m;
        let high = Vec3::new(0.5 * size_x, 0.5 * size_y, 0.0);
        let low = Vec3::new(-high.x, -high.y, -layer.laminate().thickness_m());
        let (mut interiors, mut of_magnet) = (Vec::<Interior>::new(), Vec::new());
        for at in places.iter().filter(|at| (low.z..=0.0).contains(&at.z)) {
            let known = interiors.iter().position(|known| (known.depth_m() + at.z).abs() < 1e-9);
            of_magnet.push(known.unwrap_or_else(|| {
                interiors.push(layer.interior(-at.z));
                interiors.len() - 1
            }));
        }
        Ok((Self::Layer { interiors, of_magnet }, low, high))
    }

    /// Motion of each magnet under a touch. `held_m` is the memory of a table with hysteresis; `None`: the touch loads.
    pub fn motions(
        &self,
        places: &[Vec3],
        touch: &Touch,
        held_m: Option<&mut f64>,
        warnings: &mut Vec<Warning>,
    ) -> Vec<MaterialMotion> {
        match self {
            Self::Layer { interiors, of_magnet } => {
                let loads: Vec<(Vec2, Vec3)> = touch
                    .facets
                    .iter()
                    .map(|facet| match &facet.load {
                        Load::Point { anchor, force, .. } => (anchor.truncate(), *force),
                        Load::Polygon(_) => (facet.at().truncate(), facet.force_on_sensor()),
                    })
                    .collect();
                let motion =
                    |(at, interior): (&Vec3, &usize)| interiors[*interior].motion(at.truncate(), loads.iter().copied());
                places.iter().zip(of_magnet).map(motion).collect()
            }
            Self::Springs(footprints) => footprints.iter().map(|footprint| footprint.motion(touch)).collect(),
            // A touch that no gel has computed, such as the default one, moves nothing.
            Self::Gel if touch.inside.len() == places.len() => touch.inside.clone(),
            Self::Gel => vec![MaterialMotion::default(); places.len()],
            Self::Table(table) => {
                let contact = table.contact(touch);
                let (at, travel_m) = contact.unwrap_or_default();
                let side = held_m.map_or(1.0, |held_m| table.follow(held_m, travel_m));
                warnings.extend(contact.and_then(|(at, travel_m)| table.warning(at, travel_m)));
                table.motions(at, travel_m, side)
            }
        }
    }

    /// The table of measured motions, if there is one.
    pub fn table(&self) -> Option<&MotionTable> {
        match self {
            Self::Table(table) => Some(table),
            Self::Layer { .. } | Self::Springs(_) | Self::Gel => None,
        }
    }
}

impl Footprint {
    fn new(springs: &Springs, at: Vec3, half: Vec3, base_m: f64) -> Self {
        let middle = at.truncate();
        let sites = springs.sites();
        let spacing_m = (sites.iter().map(|site| site.area_m2).sum::<f64>() / sites.len() as f64).sqrt();
        // At least three springs along each side, so that a plane is determined.
        let half_m = half.x.max(half.y).max(1.6 * spacing_m);
        let factor = (1.0 + at.z / base_m).clamp(0.0, 1.0);
        let mut footprint = Self { middle, half_m, area: 0.0, moments: Vec2::ZERO, factor };
        for site in sites {
            if let Some(offset) = footprint.offset(site.point) {
                footprint.area += site.area_m2;
                footprint.moments += offset * offset * site.area_m2;
            }
        }
        footprint
    }

    fn offset(&self, point: Vec3) -> Option<Vec2> {
        let offset = point.truncate() - self.middle;
        (offset.abs().max_element() <= self.half_m * (1.0 + 1e-9)).then_some(offset)
    }

    fn motion(&self, touch: &Touch) -> MaterialMotion {
        let (mut moved, mut slope) = (Vec3::ZERO, Vec2::ZERO);
        for facet in touch.facets.iter() {
            let Load::Point { anchor, area_m2, force, .. } = &facet.load else { continue };
            let Some(offset) = self.offset(*anchor) else { continue };
            let stiffness = facet.tangent.stiffness_tangential;
            let along = if stiffness > 0.0 { force.truncate() / stiffness } else { Vec2::ZERO };
            moved += along.extend(-facet.depth_m) * *area_m2;
            slope -= offset * (facet.depth_m * area_m2);
        }
        if self.area == 0.0 || self.moments.min_element() <= 0.0 {
            return MaterialMotion::default();
        }
        let slope = slope / self.moments * self.factor;
        let displacement_m = moved * (self.factor / self.area);
        MaterialMotion { displacement_m, rotation_rad: Vec3::new(slope.y, -slope.x, 0.0) }
    }
}
