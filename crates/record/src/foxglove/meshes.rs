//! The meshes of the scene for the 3D panel, sent once; transforms move them.

use super::{xyz, xyzw};
use crate::Layout;
use dermis_geometry::{Quat, TriMesh, Vec3};
use serde_json::{Value, json};

/// Limit on the triangles of a mesh; larger meshes are omitted because their JSON is slow to load.
const MAX_TRIANGLES: usize = 20_000;
/// Red, green, blue and opacity of skins and of bodies.
const SKIN: [f64; 4] = [0.25, 0.27, 0.31, 1.0];
const BODY: [f64; 4] = [0.36, 0.56, 0.80, 0.75];

/// A `foxglove.SceneUpdate` with every mesh.
pub fn update(layout: &Layout, sensor_frames: &[String], body_frames: &[String], stamp: &Value) -> Value {
    let sensors = layout.sensors.iter().map(|sensor| (&sensor.mesh, SKIN)).zip(sensor_frames);
    let bodies = layout.bodies.iter().map(|body| (&body.mesh, BODY)).zip(body_frames);
    let entities: Vec<Value> = sensors
        .chain(bodies)
        .filter_map(|((mesh, colour), frame)| {
            let mesh = mesh.as_ref().filter(|mesh| mesh.triangles().len() <= MAX_TRIANGLES)?;
            Some(entity(mesh, colour, frame, stamp))
        })
        .collect();
    json!({ "deletions": [], "entities": entities })
}

fn entity(mesh: &TriMesh, [r, g, b, a]: [f64; 4], frame: &str, stamp: &Value) -> Value {
    let points: Vec<Value> = mesh.vertices().iter().map(|vertex| xyz(*vertex)).collect();
    let mut entity = json!({
        "timestamp": stamp,
        "frame_id": frame,
        "id": frame,
        "lifetime": { "sec": 0, "nsec": 0 },
        "frame_locked": true,
        "metadata": [],
        "triangles": [{
            "pose": { "position": xyz(Vec3::ZERO), "orientation": xyzw(Quat::IDENTITY) },
            "points": points,
            "color": { "r": r, "g": g, "b": b, "a": a },
            "colors": [],
            "indices": mesh.triangles().as_flattened(),
        }],
    });
    for empty in ["arrows", "cubes", "spheres", "cylinders", "lines", "texts", "models"] {
        entity[empty] = json!([]);
    }
    entity
}
