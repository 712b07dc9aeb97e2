//! The meshes of the scene for the 3D panel, sent once; transforms move them.

use super::{text, xyz, xyzw};
use crate::Layout;
use crate::message::Value;
use dermis_geometry::{Quat, TriMesh, Vec3};

/// Limit on the triangles of a mesh; larger meshes are omitted because they are slow to load.
const MAX_TRIANGLES: usize = 20_000;
/// Red, green, blue and opacity of skins and of bodies.
const SKIN: [f64; 4] = [0.25, 0.27, 0.31, 1.0];
const BODY: [f64; 4] = [0.36, 0.56, 0.80, 0.75];

/// A `foxglove.SceneUpdate` with every mesh.
pub fn update(layout: &Layout, sensor_frames: &[String], body_frames: &[String], stamp: &Value) -> Value {
    let sensors = layout.sensors.iter().map(|sensor| (&sensor.mesh, SKIN)).zip(sensor_frames);
    let bodies = layout.bodies.iter().map(|body| (&body.mesh, BODY)).zip(body_frames);
    let entities = sensors.chain(bodies).filter_map(|((mesh, colour), frame)| {
        let mesh = mesh.as_ref().filter(|mesh| mesh.triangles().len() <= MAX_TRIANGLES)?;
        Some(entity(mesh, colour, frame, stamp))
    });
    Value::message([("entities", Value::List(entities.collect()))])
}

fn entity(mesh: &TriMesh, colour: [f64; 4], frame: &str, stamp: &Value) -> Value {
    let [r, g, b, a] = colour.map(Value::Number);
    let indices = mesh.triangles().as_flattened().iter().map(|&index| f64::from(index));
    let triangles = Value::message([
        ("pose", Value::message([("position", xyz(Vec3::ZERO)), ("orientation", xyzw(Quat::IDENTITY))])),
        ("points", Value::List(mesh.vertices().iter().map(|vertex| xyz(*vertex)).collect())),
        ("color", Value::message([("r", r), ("g", g), ("b", b), ("a", a)])),
        ("indices", Value::row(indices)),
    ]);
    Value::message([
        ("timestamp", stamp.clone()),
        ("frame_id", text(frame)),
        ("id", text(frame)),
        ("frame_locked", Value::Number(1.0)),
        ("triangles", Value::List(vec![triangles])),
    ])
}
