//! Magnets and magnetometers of a sensor.

use super::field::{cuboid, cylinder, dipole};
use super::spec::{LatticeSpec, MagnetShapeSpec, MagnetometersSpec, MagnetsSpec};
use crate::{Sensor, SensorError};
use dermis_geometry::limits::MAX_MAGNETS;
use dermis_geometry::quantity::{FluxDensity, Length};
use dermis_geometry::{Quat, Vec2, Vec3};
use dermis_skin::layer::Interior;
use dermis_skin::{Layer, Load, Touch};

/// Magnets in a layer and the chips that read them.
#[derive(Clone, Debug)]
pub struct Magnetics {
    shape: Shape,
    magnets: Vec<Magnet>,
    /// One entry for each depth of magnets.
    interiors: Vec<Interior>,
    chips: Vec<Chip>,
    gain: Vec3,
    range: Option<f64>,
    /// Flux density (T) of one count.
    count: Option<f64>,
    uniform: Vec3,
    rest: Vec<Vec3>,
}

#[derive(Clone, Copy, Debug)]
enum Shape {
    /// Moment (A m²).
    Dipole(f64),
    /// Diameter and height (m), remanence (T).
    Cylinder(f64, f64, f64),
    /// Edges (m), remanence (T).
    Cuboid(Vec3, f64),
}

#[derive(Clone, Copy, Debug)]
struct Magnet {
    at: Vec3,
    direction: Vec3,
    interior: usize,
}

#[derive(Clone, Copy, Debug)]
struct Chip {
    at: Vec3,
    chip_from_sensor: Quat,
}

fn tesla(field: [FluxDensity; 3]) -> Vec3 {
    Vec3::from_array(field.map(FluxDensity::si))
}

fn place(at: [Length; 3]) -> Vec3 {
    Vec3::from_array(at.map(Length::si))
}

impl Shape {
    fn new(sensor: &str, spec: &MagnetShapeSpec) -> Result<Self, SensorError> {
        let positive = |key, length| SensorError::check_positive(sensor, key, length);
        let strength = |key: &'static str, value: f64, unit: &str| match value {
            value if value > 0.0 && value.is_finite() => Ok(value),
            value => Err(SensorError::bad_key(
                sensor,
                key,
                format!("of the magnets must be positive, got {value} {unit}; `directions` sets the poles"),
            )),
        };
        Ok(match *spec {
            MagnetShapeSpec::Dipole { moment } => Self::Dipole(strength("moment", moment.si(), "A m^2")?),
            MagnetShapeSpec::Cylinder { diameter, height, remanence } => Self::Cylinder(
                positive("diameter", diameter)?,
                positive("height", height)?,
                strength("remanence", remanence.si(), "T")?,
            ),
            MagnetShapeSpec::Cuboid { size: [x, y, z], remanence } => Self::Cuboid(
                Vec3::new(positive("size", x)?, positive("size", y)?, positive("size", z)?),
                strength("remanence", remanence.si(), "T")?,
            ),
        })
    }

    /// Half the extent along each axis (m).
    fn half(&self) -> Vec3 {
        match *self {
            Self::Dipole(_) => Vec3::ZERO,
            Self::Cylinder(diameter, height, _) => Vec3::new(diameter, diameter, height) * 0.5,
            Self::Cuboid(size, _) => size * 0.5,
        }
    }

    /// True if two magnets, or a magnet and a point if `count` is 1, at this offset overlap.
    fn overlaps(&self, offset: Vec3, count: f64) -> bool {
        let (half, d) = (self.half() * count, offset.abs());
        match self {
            Self::Dipole(_) => d.length() < 1e-9,
            Self::Cylinder(..) => d.truncate().length() < half.x && d.z < half.z,
            Self::Cuboid(..) => d.cmplt(half).all(),
        }
    }

    /// Flux density (T) at `r` (m) from the centre, magnetised along a unit `direction`.
    fn field(&self, direction: Vec3, r: Vec3) -> Vec3 {
        match *self {
            Self::Dipole(moment) => dipole(direction * moment, r),
            Self::Cylinder(diameter, height, remanence) => cylinder(diameter, height, direction * remanence, r),
            Self::Cuboid(size, remanence) => cuboid(size, direction * remanence, r),
        }
    }
}

/// One value for all of `count` items, or one for each.
fn each<T: Copy>(
    sensor: &str,
    key: &'static str,
    values: &[T],
    default: T,
    count: usize,
) -> Result<Vec<T>, SensorError> {
    match values.len() {
        0 => Ok(vec![default; count]),
        1 => Ok(vec![values[0]; count]),
        len if len == count => Ok(values.to_vec()),
        len => Err(SensorError::bad_key(sensor, key, format!("must have one entry or {count}, got {len}"))),
    }
}

impl Magnetics {
    /// Checks the magnets and chips of a sensor, and tabulates the motion of its layer at the depths of the magnets.
    pub fn new(sensor: &Sensor, magnets: &MagnetsSpec, magnetometers: &MagnetometersSpec) -> Result<Self, SensorError> {
        let name = sensor.name();
        let bad = |key, rule: String| SensorError::bad_key(name, key, rule);
        let layer = sensor.skin_as::<Layer>().filter(|layer| layer.parameters().relaxation.is_empty());
        let layer = layer.ok_or_else(|| {
            bad("magnets", "need a skin of kind \"layer\" without `relaxation`, whose inside is known".to_owned())
        })?;
        let shape = Shape::new(name, &magnets.shape)?;
        let places = places(name, magnets)?;
        let directions = each(name, "directions", &magnets.directions, [0.0, 0.0, 1.0], places.len())?;
        let (half, [size_x, size_y]) = (shape.half(), layer.parameters().size_m);
        let inner = Vec3::new(0.5 * size_x, 0.5 * size_y, 0.5 * layer.laminate().thickness_m());
        let (mut interiors, mut all) = (Vec::<Interior>::new(), Vec::<Magnet>::new());
        for (index, (&at, direction)) in places.iter().zip(directions).enumerate() {
            if ((at + Vec3::Z * inner.z).abs() + half).cmpgt(inner * (1.0 + 1e-9)).any() {
                let (at, size) = (at * 1e3, inner * 2e3);
                return Err(bad(
                    "magnets",
                    format!(
                        "must lie in the skin, which is {} mm × {} mm and {} mm thick: magnet {index} is at {}, {}, {} mm",
                        size.x, size.y, size.z, at.x, at.y, at.z
                    ),
                ));
            }
            if let Some(other) = all.iter().position(|other| shape.overlaps(other.at - at, 2.0)) {
                return Err(bad("magnets", format!("must not overlap: magnets {other} and {index} do")));
            }
            let direction = Vec3::from_array(direction)
                .try_normalize()
                .ok_or_else(|| bad("directions", format!("must be finite and not zero: that of magnet {index} is")))?;
            let depth_m = -at.z;
            let interior = interiors.iter().position(|known| (known.depth_m() - depth_m).abs() < 1e-9);
            let interior = interior.unwrap_or_else(|| {
                interiors.push(layer.interior(depth_m));
                interiors.len() - 1
            });
            all.push(Magnet { at, direction, interior });
        }
        let chips = chips(name, magnetometers, &shape, &all)?;
        let range = magnetometers.range.map(FluxDensity::si);
        if let Some(range) = range.filter(|range| *range <= 0.0) {
            return Err(bad("range", format!("of the magnetometers must be positive, got {range} T")));
        }
        let count = match (magnetometers.bits, range) {
            (None, _) => None,
            (Some(bits @ 1..=32), Some(range)) => Some(2.0 * range / 2f64.powi(bits as i32)),
            (Some(bits), _) => {
                return Err(bad("bits", format!("of the magnetometers must be 1 to 32 and needs `range`, got {bits}")));
            }
        };
        let gain = Vec3::from_array(magnetometers.gain.unwrap_or([1.0; 3]));
        if !gain.is_finite() {
            return Err(bad("gain", format!("of the magnetometers must be finite, got {gain}")));
        }
        let uniform = magnetometers.uniform.map_or(Vec3::ZERO, tesla);
        let mut array = Self { shape, magnets: all, interiors, chips, gain, range, count, uniform, rest: Vec::new() };
        array.rest = array.read(&Touch::default());
        Ok(array)
    }

    /// Places (m) of the chips in the sensor frame.
    pub fn chips(&self) -> impl ExactSizeIterator<Item = Vec3> + '_ {
        self.chips.iter().map(|chip| chip.at)
    }

    /// Flux density (T) at each chip without contact, in the frame of the chip.
    pub fn rest(&self) -> &[Vec3] {
        &self.rest
    }

    /// Flux density (T) at each chip under a touch, in the frame of the chip.
    pub fn read(&self, touch: &Touch) -> Vec<Vec3> {
        let moved = self.moved(touch);
        let mut readings = Vec::with_capacity(self.chips.len());
        for chip in &self.chips {
            let mut field = self.uniform;
            for (magnet, (at, rotation)) in self.magnets.iter().zip(&moved) {
                let r = rotation.conjugate() * (chip.at - *at);
                field += *rotation * self.shape.field(magnet.direction, r);
            }
            readings.push(self.report(chip.chip_from_sensor * field));
        }
        readings
    }

    /// Place (m) and rotation of each magnet under a touch.
    pub fn moved(&self, touch: &Touch) -> Vec<(Vec3, Quat)> {
        let loads: Vec<(Vec2, Vec3)> = touch
            .facets
            .iter()
            .map(|facet| match &facet.load {
                Load::Point { anchor, force, .. } => (anchor.truncate(), *force),
                Load::Polygon(_) => (facet.at().truncate(), facet.force_on_sensor()),
            })
            .collect();
        let moved = |magnet: &Magnet| {
            let motion = self.interiors[magnet.interior].motion(magnet.at.truncate(), loads.iter().copied());
            (magnet.at + motion.displacement_m, Quat::from_scaled_axis(motion.rotation_rad))
        };
        self.magnets.iter().map(moved).collect()
    }

    /// The flux density that a chip reports: gain, range and counts.
    fn report(&self, field: Vec3) -> Vec3 {
        let mut reported = field * self.gain;
        if let Some(range) = self.range {
            reported = reported.clamp(Vec3::splat(-range), Vec3::splat(range));
        }
        match self.count {
            Some(count) => (reported / count).round() * count,
            None => reported,
        }
    }
}

fn places(name: &str, magnets: &MagnetsSpec) -> Result<Vec<Vec3>, SensorError> {
    let places: Vec<Vec3> = match (&magnets.positions[..], magnets.lattice) {
        (positions @ [_, ..], None) => positions.iter().map(|&at| place(at)).collect(),
        ([], Some(LatticeSpec { rows, cols, pitch, depth })) => {
            if rows.checked_mul(cols).is_none_or(|count| count == 0 || count > MAX_MAGNETS) {
                let rule = format!("must have 1 to {MAX_MAGNETS} magnets, got {rows} × {cols}");
                return Err(SensorError::bad_key(name, "lattice", rule));
            }
            let pitch_m = SensorError::check_positive(name, "pitch", pitch)?;
            let along = |index: usize, count: usize| (index as f64 - 0.5 * (count as f64 - 1.0)) * pitch_m;
            let at = |i: usize| Vec3::new(along(i % cols, cols), -along(i / cols, rows), -depth.si());
            (0..rows * cols).map(at).collect()
        }
        (positions, lattice) => {
            let found = usize::from(!positions.is_empty()) + usize::from(lattice.is_some());
            let keys = "`magnets.positions`, `magnets.lattice`";
            return Err(SensorError::OneOf { sensor: name.to_owned(), keys, found });
        }
    };
    if places.len() > MAX_MAGNETS {
        let rule = format!("must be at most {MAX_MAGNETS}, got {}", places.len());
        return Err(SensorError::bad_key(name, "magnets", rule));
    }
    Ok(places)
}

fn chips(name: &str, spec: &MagnetometersSpec, shape: &Shape, magnets: &[Magnet]) -> Result<Vec<Chip>, SensorError> {
    let bad = |rule: String| SensorError::bad_key(name, "magnetometers", rule);
    let count = spec.positions.len();
    if !(1..=MAX_MAGNETS).contains(&count) {
        return Err(bad(format!("must have 1 to {MAX_MAGNETS} positions, got {count}")));
    }
    let rotations = each(name, "rotations", &spec.rotations, dermis_geometry::quantity::Angle::new(0.0), count)?;
    let mut chips = Vec::<Chip>::with_capacity(count);
    for (index, (&at, rotation)) in spec.positions.iter().zip(rotations).enumerate() {
        let at = place(at);
        if let Some(magnet) = magnets.iter().position(|magnet| shape.overlaps(magnet.at - at, 1.0)) {
            return Err(bad(format!("must lie outside the magnets: chip {index} is inside magnet {magnet}")));
        }
        if let Some(other) = chips.iter().position(|other| (other.at - at).length() < 1e-6) {
            return Err(bad(format!("must not overlap: chips {other} and {index} are at the same place")));
        }
        chips.push(Chip { at, chip_from_sensor: Quat::from_rotation_z(-rotation.si()) });
    }
    Ok(chips)
}
