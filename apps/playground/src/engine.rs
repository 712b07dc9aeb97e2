//! The object, up to two sensors, and answers about them.

use crate::catalogue::catalogue;
use crate::{Arrays, Build, PlayError, Press, Request, Thing, look};
use dermis_geometry::files::{Format, Import, parse};
use dermis_geometry::{Pose, Quat, Vec3};
use dermis_sensor::object::ObjectSpec;
use dermis_sensor::{Aim, Goal, PressError, Pressed, Sensor, first_contact, presets, press};
use dermis_skin::Object;
use serde_json::{Value, json};
use std::path::Path;

/// More triangles than this would make the page slow.
const MAX_TRIANGLES: usize = 300_000;
/// Two skins can be compared.
const SLOTS: usize = 2;

/// What the page works with.
#[derive(Debug, Default)]
pub struct Engine {
    object: Option<Object>,
    sensors: [Option<Sensor>; SLOTS],
}

impl Engine {
    /// Answers a question in JSON; `bytes` are those of a dropped file. A refusal is an answer too: `{"error": "…"}`.
    pub fn answer(&mut self, question: &str, bytes: &[u8]) -> (Value, Arrays) {
        let mut arrays = Arrays::default();
        let request = serde_json::from_str::<Request>(question);
        let request = request.map_err(|error| PlayError::Request { reason: error.to_string() });
        match request.and_then(|request| self.handle(request, bytes, &mut arrays)) {
            Ok(mut answer) => {
                answer["arrays"] = arrays.index();
                (answer, arrays)
            }
            Err(error) => (json!({ "error": error.to_string() }), Arrays::default()),
        }
    }

    fn handle(&mut self, request: Request, bytes: &[u8], arrays: &mut Arrays) -> Result<Value, PlayError> {
        match request {
            Request::Catalogue {} => Ok(catalogue()?),
            Request::Object(thing) => self.take(&thing, bytes, arrays),
            Request::Sensor(build) => self.build(&build, arrays),
            Request::Press(press) => self.press(&press, arrays),
        }
    }

    fn take(&mut self, thing: &Thing, bytes: &[u8], arrays: &mut Arrays) -> Result<Value, PlayError> {
        let object = if thing.unit.is_none() && bytes.is_empty() {
            ObjectSpec::parse_flag(&thing.name, None)?.object(None, None)?
        } else {
            let file = || thing.name.clone();
            let format = Format::from_path(Path::new(&thing.name)).ok_or_else(|| PlayError::NoMesh { file: file() })?;
            let fine_enough = |triangles: usize| match triangles > MAX_TRIANGLES {
                true => Err(PlayError::TooFine { file: file(), triangles, most: MAX_TRIANGLES }),
                false => Ok(()),
            };
            fine_enough(stl_triangles(format, bytes))?;
            let mesh = parse(&thing.name, format, bytes, &Import { unit: thing.unit, ..Import::default() })?;
            fine_enough(mesh.triangles().len())?;
            Object::new(mesh)
        };
        let mesh = object.surface.mesh();
        look::mesh(arrays, mesh);
        let bounds = mesh.bounds();
        let answer = json!({
            "triangles": mesh.triangles().len(),
            "low_mm": (bounds.min * 1e3).to_array(),
            "high_mm": (bounds.max * 1e3).to_array(),
        });
        self.object = Some(object);
        Ok(answer)
    }

    fn build(&mut self, build: &Build, arrays: &mut Arrays) -> Result<Value, PlayError> {
        let mut spec = presets::find(&build.preset)?.with_skin(build.skin)?;
        let board = build.knobs.turn(&mut spec.skin)?;
        let sensor = look::with_width(&spec, build.width_px).build(None)?;
        look::sensor(arrays, &sensor);
        look::taxels(arrays, &sensor);
        let bounds = sensor.surface().bounds();
        let answer = json!({
            "size": sensor.taxels().size(),
            "pitch_mm": sensor.taxels().pitch_m().map(|pitch_m| pitch_m * 1e3),
            "most_mm": sensor.skin().max_depth_m() * 1e3,
            "low_mm": (bounds.min * 1e3).to_array(),
            "high_mm": (bounds.max * 1e3).to_array(),
            "camera": sensor.optics().map(|optics| [optics.camera().width, optics.camera().height]),
            "knobs": board,
            "toml": spec.to_toml(),
        });
        *self.sensors.get_mut(build.slot).ok_or(PlayError::Missing { what: "place for a third sensor" })? =
            Some(sensor);
        Ok(answer)
    }

    fn press(&mut self, ask: &Press, arrays: &mut Arrays) -> Result<Value, PlayError> {
        let object = self.object.as_ref().ok_or(PlayError::Missing { what: "object" })?;
        let sensor =
            self.sensors.get(ask.slot).and_then(Option::as_ref).ok_or(PlayError::Missing { what: "sensor" })?;
        let aim = Aim {
            at_m: ask.at_mm.map(|part| part * 1e-3),
            tilt_rad: ask.tilt_deg.map(f64::to_radians),
            yaw_rad: ask.yaw_deg.to_radians(),
        };
        if ask.depth_mm <= 0.0 {
            let contact = first_contact(sensor, object, &aim);
            let lift = -Vec3::Z * (ask.depth_mm * 1e-3);
            return match contact {
                Ok(pose) => untouched(sensor, &Pose { translation: pose.translation + lift, ..pose }, true, arrays),
                Err(PressError::Misses { .. }) => untouched(sensor, &beside(sensor, object, &aim), false, arrays),
                Err(error) => Err(error.into()),
            };
        }
        let pressed = match press(sensor, object, &aim, Goal::Depth(ask.depth_mm * 1e-3)) {
            Ok(pressed) => pressed.sheared(sensor, object, ask.shear_mm.map(|part| part * 1e-3))?,
            Err(PressError::Misses { .. }) => {
                return untouched(sensor, &beside(sensor, object, &aim), false, arrays);
            }
            Err(error) => return Err(error.into()),
        };
        touched(sensor, &pressed, arrays)
    }
}

/// How many triangles a binary STL file says that it has, if it is one of that length: known before any of them is read.
fn stl_triangles(format: Format, bytes: &[u8]) -> usize {
    const HEAD: usize = 84;
    const TRIANGLE: usize = 50;
    match bytes.get(HEAD - 4..HEAD) {
        Some(&[a, b, c, d]) if format == Format::STL => {
            let count = u32::from_le_bytes([a, b, c, d]) as usize;
            if count.checked_mul(TRIANGLE) == Some(bytes.len() - HEAD) { count } else { 0 }
        }
        _ => 0,
    }
}

/// A pose for an object that no press brings to the sensor: its lowest point level with the sensor's highest.
fn beside(sensor: &Sensor, object: &Object, aim: &Aim) -> Pose {
    let [x, y] = aim.at_m;
    let turn = Quat::from_rotation_y(aim.tilt_rad[1])
        * Quat::from_rotation_x(aim.tilt_rad[0])
        * Quat::from_rotation_z(aim.yaw_rad);
    let lowest = object.surface.mesh().vertices().iter().map(|vertex| (turn * *vertex).z).fold(f64::INFINITY, f64::min);
    Pose::new(turn, Vec3::new(x, y, sensor.surface().bounds().max.z - lowest))
}

/// What is shown while nothing touches.
fn untouched(sensor: &Sensor, pose: &Pose, above: bool, arrays: &mut Arrays) -> Result<Value, PlayError> {
    let (touch, _) =
        sensor.skin().settle(&sensor.skin().rest(), &dermis_skin::Motion { targets: &[] }).map_err(PressError::Skin)?;
    let reading = sensor.read(&touch);
    shown(sensor, &touch, &reading, pose, arrays).map(|mut answer| {
        answer["above"] = json!(above);
        answer
    })
}

fn touched(sensor: &Sensor, pressed: &Pressed, arrays: &mut Arrays) -> Result<Value, PlayError> {
    let mut answer = shown(sensor, &pressed.touch, &pressed.reading, &pressed.sensor_from_object, arrays)?;
    answer["above"] = json!(true);
    Ok(answer)
}

fn shown(
    sensor: &Sensor,
    touch: &dermis_skin::Touch,
    reading: &dermis_sensor::Reading,
    pose: &Pose,
    arrays: &mut Arrays,
) -> Result<Value, PlayError> {
    arrays.floats("values", reading.values_newton.iter().map(|&value| value as f32));
    let mut answer = json!({
        "pose": look::pose(pose),
        "force_n": touch.on_sensor.force.to_array(),
        "torque_nm": touch.on_sensor.torque.to_array(),
        "sum_n": reading.sum_newton,
        "outside_n": reading.outside_newton.to_array(),
        "lit": reading.lit(),
        "taxels": reading.values_newton.len(),
        "area_mm2": touch.area_m2() * 1e6,
        "saturated": reading.saturated,
        "warnings": touch.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
    });
    if let Some(field) = &touch.surface {
        answer["surface"] = look::surface(arrays, field);
        if sensor.optics().is_some() {
            answer["image"] = look::image(arrays, &sensor.look(touch, 0)?.image);
        }
    }
    Ok(answer)
}
