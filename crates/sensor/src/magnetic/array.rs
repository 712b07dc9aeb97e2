//! Magnets and magnetometers of a sensor.

use super::carrier::Carrier;
use super::chip::{Chips, MagneticMemory};
use super::cylinder::Cylinder;
use super::elastomer;
use super::field::{cuboid, dipole};
use super::motion_table::MotionTable;
use super::spec::{LatticeSpec, MagnetShapeSpec, MagnetometersSpec, MagnetsSpec};
use crate::press::millimetres;
use crate::{ResponseError, ResponseState, Sensor, SensorError};
use dermis_geometry::limits::MAX_MAGNETS;
use dermis_geometry::quantity::{FluxDensity, Length, MagneticMoment};
use dermis_geometry::{Mat3, Pose, Quat, Vec3};
use dermis_skin::layer::MaterialMotion;
use dermis_skin::{Gel, Touch, Warning};

/// Magnets in a skin and the chips that read them.
#[derive(Clone, Debug)]
pub struct Magnetics {
    shape: Shape,
    /// The key of the strength of the magnets, and its value (SI).
    pub(super) strength: (&'static str, f64),
    /// Places (m) without contact.
    pub(super) places: Vec<Vec3>,
    /// Directions of magnetisation, times a factor on the strength.
    directions: Vec<Vec3>,
    pub(super) carrier: Carrier,
    pub(super) chips: Chips,
    /// Uniform field (T) in the world frame.
    uniform: Vec3,
    /// Places (m) and moments (A m²) of dipoles in the world frame.
    dipoles: Vec<(Vec3, Vec3)>,
    rest: Vec<Vec3>,
}

/// The reading of magnetometers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MagneticReading {
    /// Flux density (T) at each chip, in the frame of the chip.
    pub tesla: Vec<Vec3>,
    /// Exceeded limits of chips, magnets and tables.
    pub warnings: Vec<Warning>,
}

/// Shape and strength of a magnet.
#[derive(Clone, Debug)]
pub enum Shape {
    /// Moment (A m²).
    Dipole(f64),
    /// The cylinder, remanence (T).
    Cylinder(Box<Cylinder>, f64),
    /// Edges (m), remanence (T).
    Cuboid(Vec3, f64),
}

/// A flux density in tesla.
pub fn tesla(field: [FluxDensity; 3]) -> Vec3 {
    Vec3::from_array(field.map(FluxDensity::si))
}

/// A place in metres.
pub fn place(at: [Length; 3]) -> Vec3 {
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
                Box::new(Cylinder::new(positive("diameter", diameter)?, positive("height", height)?)),
                strength("remanence", remanence.si(), "T")?,
            ),
            MagnetShapeSpec::Cuboid { size: [x, y, z], remanence } => Self::Cuboid(
                Vec3::new(positive("size", x)?, positive("size", y)?, positive("size", z)?),
                strength("remanence", remanence.si(), "T")?,
            ),
        })
    }

    /// The key of its strength, and its value (SI).
    fn strength(&self) -> (&'static str, f64) {
        match self {
            Self::Dipole(moment) => ("moment", *moment),
            Self::Cylinder(_, remanence) | Self::Cuboid(_, remanence) => ("remanence", *remanence),
        }
    }

    /// Half the extent along each axis (m).
    pub fn half(&self) -> Vec3 {
        match self {
            Self::Dipole(_) => Vec3::ZERO,
            Self::Cylinder(cylinder, _) => cylinder.half_m(),
            Self::Cuboid(size, _) => *size * 0.5,
        }
    }

    /// True if two magnets, or a magnet and a point if `count` is 1, at this offset overlap.
    pub fn overlaps(&self, offset: Vec3, count: f64) -> bool {
        let (half, d) = (self.half() * count, offset.abs());
        match self {
            Self::Dipole(_) => d.length() < 1e-9,
            Self::Cylinder(..) => d.truncate().length() < half.x && d.z < half.z,
            Self::Cuboid(..) => d.cmplt(half).all(),
        }
    }

    /// Flux densities (T) at places (m) from the centre, magnetised along a unit `direction`; those after the first `count`
    /// are of no use.
    fn fields(&self, direction: Vec3, places: &[Vec3; LANES], count: usize) -> [Vec3; LANES] {
        let each = |field: &dyn Fn(Vec3) -> Vec3| {
            let mut fields = [Vec3::ZERO; LANES];
            std::iter::zip(&mut fields, places).take(count).for_each(|(found, r)| *found = field(*r));
            fields
        };
        match self {
            Self::Dipole(moment) => each(&|r| dipole(direction * *moment, r)),
            Self::Cylinder(cylinder, remanence) => cylinder.fields(direction * *remanence, places),
            Self::Cuboid(size, remanence) => each(&|r| cuboid(*size, direction * *remanence, r)),
        }
    }
}

/// Places whose fields are computed together.
const LANES: usize = 4;

/// One value for all of `count` items, or one for each.
pub fn each<T: Copy>(
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
    /// The sensor whose touches have the motion at magnets: a gel gets a probe at each.
    pub(crate) fn probed(sensor: Sensor, magnets: &MagnetsSpec) -> Result<Sensor, SensorError> {
        let Some(gel) = sensor.skin_as::<Gel>().filter(|_| magnets.motion.is_none()) else { return Ok(sensor) };
        let (_, places, _) = places(sensor.name(), magnets)?;
        Ok(sensor.with_skin(gel.clone().with_probes(&places)))
    }

    /// Checks the magnets and chips of a sensor, and prepares the motion of its skin at the magnets.
    pub fn new(sensor: &Sensor, magnets: &MagnetsSpec, magnetometers: &MagnetometersSpec) -> Result<Self, SensorError> {
        let name = sensor.name();
        let bad = |key, rule: String| SensorError::bad_key(name, key, rule);
        let (shape, places, moments) = places(name, magnets)?;
        let half = shape.half();
        let directions = each(name, "directions", &magnets.directions, [0.0, 0.0, 1.0], places.len())?;
        let direction = |(index, direction): (usize, [f64; 3])| {
            let rule =
                || bad("directions", format!("must be finite and not zero, got {direction:?} of magnet {index}"));
            let factor = moments.get(index).copied().unwrap_or(1.0);
            Vec3::from_array(direction).try_normalize().map(|unit| unit * factor).ok_or_else(rule)
        };
        let directions = directions.into_iter().enumerate().map(direction).collect::<Result<Vec<_>, _>>()?;
        let (carrier, low, high) = Carrier::new(sensor, magnets, &places, half)?;
        for (index, &at) in places.iter().enumerate() {
            let slack = Vec3::splat(1e-9);
            if (at - half).cmplt(low - slack).any() || (at + half).cmpgt(high + slack).any() {
                let [width, height, thickness] = (high - low).to_array().map(millimetres);
                let thick = if thickness.is_finite() { format!(" and {thickness} mm thick") } else { String::new() };
                let [x, y, z] = at.to_array().map(millimetres);
                return Err(bad(
                    "magnets",
                    format!(
                        "must lie in the skin, which is {width} mm × {height} mm{thick}: magnet {index} is at {x}, {y}, {z} mm"
                    ),
                ));
            }
            let before = if magnets.elastomer.is_some() { &[] } else { &places[..index] };
            if let Some(other) = before.iter().position(|other| shape.overlaps(*other - at, 2.0)) {
                return Err(bad("magnets", format!("must not overlap: magnets {other} and {index} do")));
            }
        }
        let chips = Chips::new(name, magnetometers, &shape, &places)?;
        if let Some(elastomer) = &magnets.elastomer {
            elastomer::check_distance(name, elastomer, chips.iter().map(|chip| chip.at))?;
        }
        let uniform = magnetometers.uniform.map_or(Vec3::ZERO, tesla);
        let dipoles = magnetometers
            .dipoles
            .iter()
            .map(|dipole| (place(dipole.at), Vec3::from_array(dipole.moment.map(MagneticMoment::si))))
            .collect();
        let strength = match &magnets.elastomer {
            Some(elastomer) => ("remanence", elastomer.remanence.si()),
            None => shape.strength(),
        };
        let mut array =
            Self { shape, strength, places, directions, carrier, chips, uniform, dipoles, rest: Vec::new() };
        array.rest = array.read(&Touch::default(), &Pose::IDENTITY).tesla;
        Ok(array)
    }

    /// Places (m) of the chips in the sensor frame.
    pub fn chips(&self) -> impl ExactSizeIterator<Item = Vec3> + '_ {
        self.chips.iter().map(|chip| chip.at)
    }

    /// Places (m) of the magnets without contact, in the sensor frame.
    pub fn magnets(&self) -> &[Vec3] {
        &self.places
    }

    /// Directions of magnetisation without contact, in the sensor frame; of the cells of an elastomer, times their moment over
    /// the mean.
    pub fn directions(&self) -> &[Vec3] {
        &self.directions
    }

    /// Half the extent of each magnet along the axes (m); zero for dipoles.
    pub fn half_m(&self) -> Vec3 {
        self.shape.half()
    }

    /// Flux density (T) of magnets at given places (m) and rotations, at a place (m) in the sensor frame; `None` inside a
    /// magnet.
    pub fn field_at(&self, moved: &[(Vec3, Quat)], at: Vec3) -> Option<Vec3> {
        let mut field = Vec3::ZERO;
        for ((center, rotation), direction) in moved.iter().zip(&self.directions) {
            let r = rotation.conjugate() * (at - *center);
            if self.shape.overlaps(r, 1.0) {
                return None;
            }
            field += *rotation * self.shape.fields(*direction, &[r; LANES], 1)[0];
        }
        Some(field)
    }

    /// The table of measured motions, if the magnets move by one.
    pub fn motion_table(&self) -> Option<&MotionTable> {
        self.carrier.table()
    }

    /// Flux density (T) at each chip without contact, in the frame of the chip. The sensor frame is the world frame.
    pub fn rest(&self) -> &[Vec3] {
        &self.rest
    }

    /// Flux density (T) at each chip under a touch, in the frame of the chip, without noise, sampling and history.
    pub fn read(&self, touch: &Touch, world_from_sensor: &Pose) -> MagneticReading {
        let mut warnings = Vec::new();
        let motions = self.carrier.motions(&self.places, touch, None, &mut warnings);
        let mut tesla =
            self.axes(&self.moved_by(&motions), world_from_sensor, self.chips.rise_kelvin(None), &mut warnings);
        self.convert(&mut tesla, &mut warnings);
        MagneticReading { tesla, warnings }
    }

    /// Flux density (T) at each chip at the end of a step of `dt_s`, with noise, sampling and history. `before` is the
    /// state of the response before the step; `memory` that after it.
    pub fn sense(
        &self,
        touch: &Touch,
        world_from_sensor: &Pose,
        before: &ResponseState,
        memory: &mut MagneticMemory,
        dt_s: f64,
    ) -> Result<MagneticReading, ResponseError> {
        self.chips.check(memory)?;
        let mut warnings = Vec::new();
        let held_m = Some(&mut memory.held_depth_m);
        let motions = self.carrier.motions(&self.places, touch, held_m, &mut warnings);
        let rise_kelvin = self.chips.rise_kelvin(Some(before.time_s + dt_s));
        let mut tesla = self.axes(&self.moved_by(&motions), world_from_sensor, rise_kelvin, &mut warnings);
        self.chips.add_noise(&mut tesla, before.step);
        self.convert(&mut tesla, &mut warnings);
        self.chips.sample(&mut tesla, before, memory, dt_s);
        Ok(MagneticReading { tesla, warnings })
    }

    /// Flux density (T) at each chip, in its frame, for given motions of the magnets: neither limited nor rounded.
    pub fn field_of(&self, motions: &[MaterialMotion]) -> Vec<Vec3> {
        self.field_of_moved(&self.moved_by(motions))
    }

    /// [`Magnetics::field_of`], for given places (m) and rotations of the magnets.
    pub fn field_of_moved(&self, moved: &[(Vec3, Quat)]) -> Vec<Vec3> {
        self.axes(moved, &Pose::IDENTITY, self.chips.rise_kelvin(None), &mut Vec::new())
    }

    /// Motions of magnets at other places (m) and the same depths under a touch that loads.
    pub fn motions_at(&self, places: &[Vec3], touch: &Touch) -> Vec<MaterialMotion> {
        self.carrier.motions(places, touch, None, &mut Vec::new())
    }

    /// The same magnets with other chips.
    pub fn with_chips(&self, name: &str, magnetometers: &MagnetometersSpec) -> Result<Self, SensorError> {
        let chips = Chips::new(name, magnetometers, &self.shape, &self.places)?;
        let mut other = Self { chips, ..self.clone() };
        other.rest = other.read(&Touch::default(), &Pose::IDENTITY).tesla;
        Ok(other)
    }

    /// Change (T) of the flux density at each chip from rest under a touch, in its frame: neither limited nor rounded. The
    /// sensor frame is the world frame.
    pub fn changes(&self, touch: &Touch) -> Vec<Vec3> {
        let of = |touch: &Touch| self.field_of(&self.motions_at(&self.places, touch));
        of(touch).into_iter().zip(of(&Touch::default())).map(|(field, rest)| field - rest).collect()
    }

    /// True for each channel that a change (T) from rest brings to the range of the chips.
    pub fn clipped(&self, changes: &[Vec3]) -> Vec<bool> {
        let range = self.chips.range_tesla().map_or(f64::INFINITY, |range| range * (1.0 - 1e-9));
        let fields = changes.iter().zip(&self.rest).flat_map(|(change, rest)| (*change + *rest).to_array());
        fields.map(|field| field.abs() >= range).collect()
    }

    /// Standard deviation (T) of a channel by noise and rounding, over the three axes.
    pub fn channel_sd_tesla(&self) -> f64 {
        self.chips.channel_sd_tesla()
    }

    fn axes(
        &self,
        moved: &[(Vec3, Quat)],
        world_from_sensor: &Pose,
        rise_kelvin: f64,
        warnings: &mut Vec<Warning>,
    ) -> Vec<Vec3> {
        let factor = self.chips.remanence_factor(rise_kelvin);
        let sensor_from_world = world_from_sensor.rotation.conjugate();
        let mut on_chip = None;
        let chips: Vec<Vec3> = self.chips().collect();
        let mut fields = vec![Vec3::ZERO; chips.len()];
        for (magnet, moved) in moved.iter().enumerate() {
            let covered = self.add_field_of(magnet, moved, &chips, &mut fields);
            on_chip = on_chip.or(covered.map(|chip| (magnet, chip)));
        }
        for (field, chip) in fields.iter_mut().zip(&chips) {
            let mut disturbance = self.uniform;
            for (at, moment) in &self.dipoles {
                let r = world_from_sensor.transform_point(*chip) - *at;
                disturbance += if r.length() > 1e-6 { dipole(*moment, r) } else { Vec3::ZERO };
            }
            *field = *field * factor + sensor_from_world * disturbance;
        }
        warnings.extend(on_chip.map(|(magnet, chip)| Warning::MagnetOnChip { magnet, chip }));
        self.chips.axes(&fields, rise_kelvin)
    }

    /// Adds the flux density (T) of a magnet at a place (m) and rotation at each chip. Returns the first chip inside of it, which gets
    /// none.
    pub(super) fn add_field_of(
        &self,
        magnet: usize,
        (at, rotation): &(Vec3, Quat),
        chips: &[Vec3],
        fields: &mut [Vec3],
    ) -> Option<usize> {
        let sensor_from_magnet = Mat3::from_quat(*rotation);
        let magnet_from_sensor = sensor_from_magnet.transpose();
        let mut covered = None;
        for (group, (fields, chips)) in fields.chunks_mut(LANES).zip(chips.chunks(LANES)).enumerate() {
            let place = |i: usize| magnet_from_sensor * (chips[i.min(chips.len() - 1)] - *at);
            let places: [Vec3; LANES] = std::array::from_fn(place);
            let found = self.shape.fields(self.directions[magnet], &places, chips.len());
            for (i, field) in fields.iter_mut().enumerate() {
                if self.shape.overlaps(places[i], 1.0) {
                    covered = covered.or(Some(group * LANES + i));
                } else {
                    *field += sensor_from_magnet * found[i];
                }
            }
        }
        covered
    }

    fn convert(&self, tesla: &mut [Vec3], warnings: &mut Vec<Warning>) {
        let chips = self.chips.convert(tesla);
        if let Some(range) = self.chips.range_tesla().filter(|_| chips > 0) {
            warnings.push(Warning::ChipsClipped { chips, range_mt: (range * 1e9).round() / 1e6 });
        }
    }

    /// Place (m) and rotation of each magnet under a touch.
    pub fn moved(&self, touch: &Touch) -> Vec<(Vec3, Quat)> {
        self.moved_by(&self.motions_at(&self.places, touch))
    }

    /// Place (m) and rotation of each magnet for given motions.
    pub fn moved_by(&self, motions: &[MaterialMotion]) -> Vec<(Vec3, Quat)> {
        let moved = |(at, motion): (&Vec3, &MaterialMotion)| {
            (*at + motion.displacement_m, Quat::from_scaled_axis(motion.rotation_rad))
        };
        self.places.iter().zip(motions).map(moved).collect()
    }
}

/// Shape and places (m) of the magnets of a description, and factors on their strengths if these differ.
fn places(name: &str, magnets: &MagnetsSpec) -> Result<(Shape, Vec<Vec3>, Vec<f64>), SensorError> {
    let bad = |key, rule: String| SensorError::bad_key(name, key, rule);
    let places: Vec<Vec3> = match (&magnets.positions[..], magnets.lattice, magnets.elastomer) {
        (positions @ [_, ..], None, None) => positions.iter().map(|&at| place(at)).collect(),
        ([], Some(LatticeSpec { rows, cols, pitch, depth }), None) => {
            if rows.checked_mul(cols).is_none_or(|count| count == 0 || count > MAX_MAGNETS) {
                return Err(bad("lattice", format!("must have 1 to {MAX_MAGNETS} magnets, got {rows} × {cols}")));
            }
            let pitch_m = SensorError::check_positive(name, "pitch", pitch)?;
            let along = |index: usize, count: usize| (index as f64 - 0.5 * (count as f64 - 1.0)) * pitch_m;
            let at = |i: usize| Vec3::new(along(i % cols, cols), -along(i / cols, rows), -depth.si());
            (0..rows * cols).map(at).collect()
        }
        ([], None, Some(elastomer)) => {
            if magnets.shape.is_some() {
                return Err(bad("shape", "is not used with `elastomer`, which has a remanence of its own".to_owned()));
            }
            let (moment, cells) = elastomer::cells(name, &elastomer)?;
            let (places, factors) = cells.into_iter().unzip();
            return Ok((Shape::Dipole(moment), places, factors));
        }
        (positions, lattice, elastomer) => {
            let given = [!positions.is_empty(), lattice.is_some(), elastomer.is_some()];
            let found = given.into_iter().filter(|given| *given).count();
            let keys = "`magnets.positions`, `magnets.lattice`, `magnets.elastomer`";
            return Err(SensorError::OneOf { sensor: name.to_owned(), keys, found });
        }
    };
    if places.len() > MAX_MAGNETS {
        return Err(bad("magnets", format!("must be at most {MAX_MAGNETS}, got {}", places.len())));
    }
    let missing = || bad("magnets", "need a `shape`: a dipole, a cylinder or a cuboid".to_owned());
    Ok((Shape::new(name, magnets.shape.as_ref().ok_or_else(missing)?)?, places, Vec::new()))
}
