//! Converts meshes, surfaces and images into arrays for the page.

use crate::Arrays;
use dermis_geometry::{Pose, TriMesh, Vec3};
use dermis_sensor::optics::{FloatImage, LightSpec};
use dermis_sensor::{Sensor, SensorSpec, TaxelMesh};
use dermis_skin::SurfaceField;
use serde_json::{Value, json};

/// Maximum number of cells along a side of the drawn surface.
const MAX_CELLS: usize = 64;

/// Adds a mesh, in millimetres.
pub fn mesh(arrays: &mut Arrays, mesh: &TriMesh) {
    arrays.floats("positions", millimetres(mesh.vertices()));
    arrays.integers("triangles", mesh.triangles().iter().flatten().map(|&corner| corner as i32));
}

/// Adds the sensing surface, in millimetres, and the taxel that colours each vertex (−1: none). A grid becomes tiles.
pub fn sensor(arrays: &mut Arrays, sensor: &Sensor) {
    let TaxelMesh { vertices, triangles, taxels } = sensor.taxel_mesh();
    arrays.floats("positions", millimetres(&vertices));
    arrays.integers("triangles", triangles.iter().flatten().map(|&corner| corner as i32));
    arrays.integers("paint", taxels.iter().map(|taxel| taxel.map_or(-1, |taxel| taxel as i32)));
}

/// Adds the positions of taxels seen along −z (mm): x, y, x, y, …
pub fn taxels(arrays: &mut Arrays, sensor: &Sensor) {
    arrays.floats("taxels", sensor.taxels().centers().iter().flat_map(|at| [at.x * 1e3, at.y * 1e3].map(|v| v as f32)));
}

/// Adds the deformed surface (mm) on a coarse grid, and the indentation of each point (mm).
pub fn surface(arrays: &mut Arrays, field: &SurfaceField) -> Value {
    let pick = |count: usize| {
        let shown = count.min(MAX_CELLS);
        (0..shown).map(move |i| if shown > 1 { i * (count - 1) / (shown - 1) } else { 0 }).collect::<Vec<_>>()
    };
    let (rows, cols) = (pick(field.rows), pick(field.cols));
    let cells: Vec<(usize, usize)> = rows.iter().flat_map(|&row| cols.iter().map(move |&col| (row, col))).collect();
    let moved = |&(row, col): &(usize, usize)| field.rest(row, col) + field.values[row * field.cols + col];
    let places: Vec<Vec3> = cells.iter().map(moved).collect();
    arrays.floats("surface", millimetres(&places));
    arrays.floats("depth", cells.iter().map(|&(row, col)| (-1e3 * field.values[row * field.cols + col].z) as f32));
    json!([rows.len(), cols.len()])
}

/// Adds a camera image as RGBA, as a canvas expects it.
pub fn image(arrays: &mut Arrays, image: &FloatImage) -> Value {
    arrays.octets("image", image.to_rgb8().into_pixels().into_iter().flat_map(|[r, g, b]| [r, g, b, 255]));
    json!([image.width, image.height])
}

/// Translation (mm) and rotation (x, y, z, w).
pub fn pose(pose: &Pose) -> Value {
    let (at, q) = (pose.translation * 1e3, pose.rotation);
    json!({ "at": at.to_array(), "rotation": [q.x, q.y, q.z, q.w] })
}

/// The sensor with fewer, larger camera pixels; positions of the light in pixels are scaled too.
pub fn with_width(spec: &SensorSpec, width_px: usize) -> SensorSpec {
    let mut spec = spec.clone();
    let Some(camera) = spec.camera.as_mut().filter(|camera| camera.crop.is_none() && width_px < camera.width) else {
        return spec;
    };
    let part = width_px.max(2) as f64 / camera.width as f64;
    camera.pixel = dermis_geometry::quantity::Length::new(camera.pixel.si() / part);
    camera.height = ((camera.height as f64 * part).round() as usize).max(2);
    camera.width = width_px.max(2);
    if let Some(LightSpec::Calibrated(light)) = &mut spec.light
        && let Some(area) = &mut light.area
    {
        for side in [&mut area.left, &mut area.top, &mut area.right, &mut area.bottom] {
            // Integer coordinates are pixel centres.
            *side = (*side + 0.5) * part - 0.5;
        }
    }
    spec
}

fn millimetres(points: &[Vec3]) -> impl Iterator<Item = f32> + '_ {
    points.iter().flat_map(|point| (*point * 1e3).to_array().map(|part| part as f32))
}
