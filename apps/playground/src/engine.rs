//! The engine of the page: holds the object and up to two sensors, and answers requests.

use crate::catalogue::{catalogue, has_gel};
use crate::{Arrays, ObjectRequest, PlayError, PressRequest, Request, SensorRequest, render};
use dermis_geometry::files::{Format, Import, parse};
use dermis_geometry::limits::MAX_PAGE_TRIANGLES;
use dermis_geometry::{Pose, Quat, Vec3};
use dermis_sensor::object::ObjectSpec;
use dermis_sensor::{Aim, Goal, PressError, Pressed, Sensor, first_contact, presets, press};
use dermis_skin::{Object, Warning};
use serde_json::{Value, json};
use std::path::Path;

/// Number of sensors: two skins can be compared.
const SLOTS: usize = 2;

/// The state of the page.
#[derive(Debug, Default)]
pub struct Engine {
    object: Option<Object>,
    sensors: [Option<Sensor>; SLOTS],
}

impl Engine {
    /// Answers a request in JSON; `bytes` is the content of a dropped file. Errors are answered as `{"error": "…"}`.
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
            Request::Object(request) => self.set_object(&request, bytes, arrays),
            Request::Sensor(request) => self.set_sensor(&request, arrays),
            Request::Press(request) => self.press(&request, arrays),
        }
    }

    fn set_object(&mut self, request: &ObjectRequest, bytes: &[u8], arrays: &mut Arrays) -> Result<Value, PlayError> {
        let object = if request.unit.is_none() && bytes.is_empty() {
            ObjectSpec::parse_flag(&request.name, None)?.object(None, None)?
        } else {
            let file = || request.name.clone();
            let format =
                Format::from_path(Path::new(&request.name)).ok_or_else(|| PlayError::NoMesh { file: file() })?;
            let fine_enough = |triangles: usize| match triangles > MAX_PAGE_TRIANGLES {
                true => Err(PlayError::TooFine { file: file(), triangles, max: MAX_PAGE_TRIANGLES }),
                false => Ok(()),
            };
            fine_enough(stl_triangles(format, bytes))?;
            let mesh = parse(&request.name, format, bytes, &Import { unit: request.unit, ..Import::default() })?;
            fine_enough(mesh.triangles().len())?;
            Object::new(mesh)
        };
        let mesh = object.surface.mesh();
        render::mesh(arrays, mesh);
        let bounds = object.surface.bounds();
        let answer = json!({
            "triangles": mesh.triangles().len(),
            "low_mm": (bounds.min * 1e3).to_array(),
            "high_mm": (bounds.max * 1e3).to_array(),
        });
        self.object = Some(object);
        Ok(answer)
    }

    fn set_sensor(&mut self, request: &SensorRequest, arrays: &mut Arrays) -> Result<Value, PlayError> {
        let mut spec = presets::find(&request.preset)?.with_skin(request.skin)?;
        let controls = request.controls.apply(&mut spec.skin)?;
        let sensor = render::with_width(&spec, request.width_px).build(None)?;
        render::sensor(arrays, &sensor);
        render::taxels(arrays, &sensor);
        let bounds = sensor.surface().bounds();
        let answer = json!({
            "size": sensor.taxels().size(),
            "pitch_mm": sensor.taxels().pitch_m().map(|pitch_m| pitch_m * 1e3),
            "max_depth_mm": sensor.skin().max_depth_m() * 1e3,
            "low_mm": (bounds.min * 1e3).to_array(),
            "high_mm": (bounds.max * 1e3).to_array(),
            "camera": sensor.optics().map(|optics| {
                let camera = optics.camera();
                let pixels = [camera.width, camera.height];
                let area_mm = pixels.map(|count| count as f64 * camera.pixel_m * 1e3);
                json!({ "pixels": pixels, "area_mm": area_mm, "mirror": camera.mirror })
            }),
            "controls": controls,
            "toml": spec.to_toml(),
        });
        *self.sensors.get_mut(request.slot).ok_or(PlayError::Missing { what: "slot for a third sensor" })? =
            Some(sensor);
        Ok(answer)
    }

    fn press(&mut self, request: &PressRequest, arrays: &mut Arrays) -> Result<Value, PlayError> {
        let object = self.object.as_ref().ok_or(PlayError::Missing { what: "object" })?;
        let sensor =
            self.sensors.get(request.slot).and_then(Option::as_ref).ok_or(PlayError::Missing { what: "sensor" })?;
        let aim = Aim {
            at_m: request.at_mm.map(|part| part * 1e-3),
            tilt_rad: request.tilt_deg.map(f64::to_radians),
            yaw_rad: request.yaw_deg.to_radians(),
        };
        let goal = request.force_n.map_or(Goal::Depth(request.depth_mm * 1e-3), Goal::Force);
        if request.force_n.is_none() && request.depth_mm <= 0.0 {
            let contact = first_contact(sensor, object, &aim);
            let lift = -Vec3::Z * (request.depth_mm * 1e-3);
            return match contact {
                Ok(pose) => untouched(sensor, &Pose { translation: pose.translation + lift, ..pose }, true, arrays),
                Err(PressError::Misses { .. }) => untouched(sensor, &beside(sensor, object, &aim), false, arrays),
                Err(error) => Err(error.into()),
            };
        }
        let pressed = match press(sensor, object, &aim, goal) {
            Ok(pressed) => pressed.sheared(sensor, object, request.shear_mm.map(|part| part * 1e-3), goal)?,
            Err(PressError::Misses { .. }) => {
                return untouched(sensor, &beside(sensor, object, &aim), false, arrays);
            }
            Err(error) => return Err(error.into()),
        };
        touched(sensor, &pressed, arrays)
    }
}

/// The triangle count in the header of a binary STL file whose length matches; 0 otherwise. Known before parsing.
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

/// A pose for an object that misses the sensor: its lowest point is level with the sensor's highest.
fn beside(sensor: &Sensor, object: &Object, aim: &Aim) -> Pose {
    let [x, y] = aim.at_m;
    let rotation = Quat::from_rotation_y(aim.tilt_rad[1])
        * Quat::from_rotation_x(aim.tilt_rad[0])
        * Quat::from_rotation_z(aim.yaw_rad);
    let lowest = (rotation * object.surface.support(rotation.inverse() * Vec3::NEG_Z)).z;
    Pose::new(rotation, Vec3::new(x, y, sensor.surface().bounds().max.z - lowest))
}

/// The answer without contact.
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
    answer["depth_mm"] = json!(pressed.depth_m * 1e3);
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
        "pose": render::pose(pose),
        "force_n": touch.on_sensor.force.to_array(),
        "torque_nm": touch.on_sensor.torque.to_array(),
        "sum_n": reading.sum_newton,
        "outside_n": reading.outside_newton.to_array(),
        "active": reading.active(),
        "taxels": reading.values_newton.len(),
        "area_mm2": touch.area_m2() * 1e6,
        "saturated": reading.saturated,
    });
    if let (Some(magnetics), Some(fields)) = (sensor.magnetics(), &reading.magnetic_tesla) {
        let microtesla = |fields: &[Vec3]| json!(fields.iter().map(|b| (*b * 1e6).to_array()).collect::<Vec<_>>());
        answer["magnetic_ut"] = microtesla(fields);
        answer["magnetic_rest_ut"] = microtesla(magnetics.rest());
    }
    let gel = has_gel(sensor.name());
    let text = |warning: Warning| if gel { warning.to_string() } else { warning.without_gel() };
    let mut warnings: Vec<String> = touch.all_warnings().map(text).collect();
    if let Some(field) = &touch.surface {
        answer["surface"] = render::surface(arrays, field);
        if sensor.optics().is_some() {
            let frame = sensor.render(touch, 0)?;
            answer["image"] = render::image(arrays, &frame.image);
            warnings.extend(sensor.optics().and_then(|optics| optics.warning(&frame.relief)));
        }
    }
    answer["warnings"] = json!(warnings);
    Ok(answer)
}
