//! Images of readings and worlds.

use dermis_draw::{Camera, ColourMap, Edges, HeatMap, Image, Material, PALETTE, Rgb, ScatterMap, Scene};
use dermis_geometry::shapes::cuboid;
use dermis_geometry::{Pose, TriMesh, Vec2, Vec3};
use dermis_sensor::{Reading, Sensor, TaxelMesh};
use dermis_world::World;

/// The colour of forces.
const FORCE: Rgb = [214, 64, 54];
/// The colour of the base under a flat sensor's taxels.
const BASE: Rgb = [112, 120, 132];

/// A tactile image: a heat map for a taxel grid, coloured dots seen along −z otherwise. `max_newton` fixes the colour
/// scale.
pub fn tactile(sensor: &Sensor, reading: &Reading, title: &str, max_newton: Option<f64>) -> Image {
    tactile_values(sensor, &reading.values_newton, title, max_newton)
}

/// Like [`tactile`], from the taxels' values (N).
pub fn tactile_values(sensor: &Sensor, values: &[f64], title: &str, max_newton: Option<f64>) -> Image {
    match (sensor.taxels().size(), sensor.taxels().pitch_m()) {
        (Some((rows, cols)), Some(pitch_m)) => {
            let mut map = HeatMap::new(rows, cols, values)
                .title(title)
                .unit("Force (N)")
                .extent_mm(cols as f64 * pitch_m * 1e3, rows as f64 * pitch_m * 1e3);
            if let Some(max) = max_newton {
                map = map.max(max);
            }
            map.render()
        }
        _ => {
            let points: Vec<Vec2> = sensor.taxels().centers().iter().map(|p| Vec2::new(p.x, p.y) * 1e3).collect();
            let mut map = ScatterMap::new(&points, values).title(title).unit("Force (N)").scale_bar(5.0, "5 mm");
            if let Some(max) = max_newton {
                map = map.max(max);
            }
            map.render()
        }
    }
}

/// A grey tactile image without title, axes and colour bar: white is zero, black is `max_newton`. `None` without a
/// taxel grid.
pub fn tactile_bare(reading: &Reading, max_newton: f64, cell_px: usize) -> Option<Image> {
    let (rows, cols) = reading.size?;
    Some(
        HeatMap::new(rows, cols, &reading.values_newton)
            .map(ColourMap::Grey)
            .max(max_newton.max(f64::MIN_POSITIVE))
            .cell_px(cell_px)
            .bare()
            .render(),
    )
}

/// The scene of a world: its bodies, and its sensors coloured by their readings.
pub fn scene(world: &World) -> Scene {
    let mut scene = Scene::new();
    if let Some(z_m) = world.parameters().ground_z_m {
        scene = scene.ground(z_m);
    }
    let mut colour = 0;
    for id in world.bodies() {
        let body = world.body(id);
        let Some(mesh) = body.visible() else { continue };
        let material = if body.object.is_some() {
            colour += 1;
            Material::new(PALETTE[(colour - 1) % PALETTE.len()]).shine(0.4)
        } else {
            Material::plain().edges(Edges::Creases)
        };
        scene = scene.mesh(mesh, &world.pose(id), material);
    }
    for id in world.sensors() {
        let (sensor, reading) = (world.sensor(id), world.reading(id));
        let peak = reading.values_newton.iter().copied().fold(0.0, f64::max);
        let (mesh, colours) = painted(sensor, &reading, peak);
        if reading.size.is_some() {
            // The base shows between the tiles.
            scene = scene.mesh(sensor.surface(), &world.world_from_sensor(id), Material::new(BASE).shine(0.0));
        }
        scene = scene.coloured_mesh(&mesh, &world.world_from_sensor(id), &colours);
    }
    scene
}

/// Renders a world from a direction (azimuth from +x towards +y, elevation above the horizon).
pub fn view(world: &World, azimuth_deg: f64, elevation_deg: f64, width: usize, height: usize) -> Image {
    let scene = scene(world);
    scene.render(&Camera::framing(scene.bounds(), azimuth_deg, elevation_deg), width, height)
}

/// The sensing surface as a mesh with a colour per vertex: dark where unloaded.
pub fn painted(sensor: &Sensor, reading: &Reading, peak_newton: f64) -> (TriMesh, Vec<Rgb>) {
    let paint = |value: f64| match value > 0.0 && peak_newton > 0.0 {
        true => ColourMap::Ember.colour(0.15 + 0.85 * value / peak_newton),
        false => [52, 56, 64],
    };
    let TaxelMesh { mut vertices, triangles, taxels } = sensor.taxel_mesh();
    if reading.size.is_some() {
        // 0.2 mm above the surface, whose colour shows between the tiles.
        vertices.iter_mut().for_each(|vertex| vertex.z += 2e-4);
    }
    let colours = taxels.iter().map(|taxel| paint(taxel.map_or(0.0, |taxel| reading.values_newton[taxel]))).collect();
    let mesh = TriMesh::new("taxels", vertices, triangles).unwrap_or_else(|_| sensor.surface().clone());
    (mesh, colours)
}

/// Renders one object on one sensor, with the force of each taxel as an arrow.
pub fn press_view(sensor: &Sensor, reading: &Reading, object: &TriMesh, sensor_from_object: &Pose) -> Image {
    let peak = reading.values_newton.iter().copied().fold(0.0, f64::max);
    let (mesh, colours) = painted(sensor, reading, peak);
    let extent = sensor.surface().bounds().size();
    let size = extent.max_element();
    let mut scene = Scene::new().coloured_mesh(&mesh, &Pose::IDENTITY, &colours);
    // A flat sensor gets a base plate, to be visible from the side.
    let thickness_m = 0.08 * size;
    if extent.z < 1e-9
        && let Ok(base) = cuboid(Vec3::new(extent.x, extent.y, thickness_m))
    {
        let below = Pose::from_translation(-Vec3::Z * (0.5 * thickness_m));
        scene = scene.mesh(&base, &below, Material::new(BASE).edges(Edges::Creases));
    }
    scene =
        scene.mesh(object, sensor_from_object, Material::new(PALETTE[0]).shine(0.4).alpha(0.3).edges(Edges::Creases));
    for (center, force) in sensor.taxels().centers().iter().zip(&reading.forces_newton) {
        if force.length() > 0.05 * peak && peak > 0.0 {
            let arrow = *force * (0.3 * size / peak);
            scene = scene.arrow(*center - arrow, *center, 0.006 * size, FORCE);
        }
    }
    scene.render(&Camera::framing(scene.bounds(), -60.0, 28.0), 900, 700)
}
