//! JSON schemas of the messages. Panels identify messages by schema name and fields.

use serde_json::{Value, json};

pub const FRAME_TRANSFORMS: &str = "foxglove.FrameTransforms";
pub const SCENE_UPDATE: &str = "foxglove.SceneUpdate";
pub const COMPRESSED_IMAGE: &str = "foxglove.CompressedImage";
pub const WRENCH: &str = "dermis.Wrench";
pub const TAXELS: &str = "dermis.Taxels";

/// All schemas, by name.
pub fn all() -> Vec<(&'static str, Value)> {
    vec![
        (FRAME_TRANSFORMS, object(FRAME_TRANSFORMS, json!({ "transforms": list(frame_transform()) }))),
        (
            SCENE_UPDATE,
            object(SCENE_UPDATE, json!({ "deletions": list(json!({ "type": "object" })), "entities": list(entity()) })),
        ),
        (COMPRESSED_IMAGE, compressed_image()),
        (WRENCH, wrench()),
        (TAXELS, taxels()),
    ]
}

fn object(title: &str, properties: Value) -> Value {
    json!({ "title": title, "type": "object", "properties": properties })
}

fn list(of: Value) -> Value {
    json!({ "type": "array", "items": of })
}

fn text(about: &str) -> Value {
    json!({ "type": "string", "description": about })
}

fn number(about: &str) -> Value {
    json!({ "type": "number", "description": about })
}

fn whole(about: &str) -> Value {
    json!({ "type": "integer", "minimum": 0, "description": about })
}

fn time() -> Value {
    let (sec, nsec) = (whole("seconds"), whole("nanoseconds"));
    json!({ "type": "object", "title": "time", "properties": { "sec": sec, "nsec": nsec } })
}

/// The schema of an object of numbers.
fn numbers(title: &str, names: &[&str]) -> Value {
    let fields: serde_json::Map<String, Value> =
        names.iter().map(|name| ((*name).to_owned(), json!({ "type": "number" }))).collect();
    object(title, Value::Object(fields))
}

fn vector() -> Value {
    numbers("foxglove.Vector3", &["x", "y", "z"])
}

fn quaternion() -> Value {
    numbers("foxglove.Quaternion", &["x", "y", "z", "w"])
}

fn colour() -> Value {
    numbers("foxglove.Color", &["r", "g", "b", "a"])
}

fn frame_transform() -> Value {
    object(
        "foxglove.FrameTransform",
        json!({
            "timestamp": time(),
            "parent_frame_id": text("the frame it stands in"),
            "child_frame_id": text("the frame that is placed"),
            "translation": vector(),
            "rotation": quaternion(),
        }),
    )
}

fn entity() -> Value {
    let pose = object("foxglove.Pose", json!({ "position": vector(), "orientation": quaternion() }));
    let triangles = object(
        "foxglove.TriangleListPrimitive",
        json!({
            "pose": pose,
            "points": list(numbers("foxglove.Point3", &["x", "y", "z"])),
            "color": colour(),
            "colors": list(colour()),
            "indices": list(whole("of points, three for a triangle")),
        }),
    );
    let mut entity = object(
        "foxglove.SceneEntity",
        json!({
            "timestamp": time(),
            "frame_id": text("the frame it stands in"),
            "id": text("its name"),
            "lifetime": { "type": "object", "title": "duration", "properties": { "sec": whole("seconds"), "nsec": whole("nanoseconds") } },
            "frame_locked": { "type": "boolean", "description": "whether it moves with its frame" },
            "metadata": list(json!({ "type": "object" })),
            "triangles": list(triangles),
        }),
    );
    for empty in ["arrows", "cubes", "spheres", "cylinders", "lines", "texts", "models"] {
        entity["properties"][empty] = list(json!({ "type": "object" }));
    }
    entity
}

fn compressed_image() -> Value {
    object(
        COMPRESSED_IMAGE,
        json!({
            "timestamp": time(),
            "frame_id": text("frame of the sensor"),
            "data": { "type": "string", "contentEncoding": "base64", "description": "the image as a file" },
            "format": text("png"),
        }),
    )
}

fn wrench() -> Value {
    object(
        WRENCH,
        json!({
            "timestamp": time(),
            "frame_id": text("frame of the sensor, about whose origin the torque is"),
            "force": vector(),
            "torque": vector(),
        }),
    )
}

fn taxels() -> Value {
    object(
        TAXELS,
        json!({
            "timestamp": time(),
            "frame_id": text("frame of the sensor"),
            "rows": whole("of the grid; 1 where taxels form none"),
            "cols": whole("of the grid"),
            "sum_newton": number("sum of the values (N)"),
            "saturated": whole("contacts pressed beyond what the skin can show"),
            "values_newton": list(number("force along the taxel's normal (N), row by row")),
            "reported_newton": list(number("what the device says it is (N)")),
            "raw": list(whole("the device's own number")),
            "warnings": list(text("reason for reduced accuracy")),
        }),
    )
}
