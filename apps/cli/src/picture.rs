//! Pictures of sensors and what they feel.

use dermis::draw::{Camera, ColourMap, Edges, HeatMap, Image, Material, PALETTE, Plot, Rgb, ScatterMap, Scene, Series};
use dermis::geometry::{MeshError, Vec2, shapes};
use dermis::prelude::*;
use dermis::run::Recording;
use dermis::sensor::Pressed;
use dermis::world::{BodyKind, SensorId};

/// The colour of forces.
pub const FORCE: Rgb = [214, 64, 54];
/// The colour of what is touched.
pub const OBJECT: Rgb = PALETTE[0];

/// What a sensor reports, taxel by taxel. `max_newton` fixes the colours, to compare pictures.
pub fn tactile(sensor: &Sensor, values_newton: &[f64], title: &str, max_newton: Option<f64>) -> Image {
    let values_mn: Vec<f64> = values_newton.iter().map(|value| value * 1e3).collect();
    let max = max_newton.unwrap_or_else(|| values_newton.iter().copied().fold(0.0, f64::max)).max(1e-6) * 1e3;
    let unit = "Normal force per taxel (mN)";
    match (sensor.taxels().size(), sensor.taxels().pitch_m()) {
        (Some((rows, cols)), Some(pitch)) => {
            let pitch_mm = pitch * 1e3;
            HeatMap::new(rows, cols, &values_mn)
                .title(title)
                .unit(unit)
                .extent_mm(cols as f64 * pitch_mm, rows as f64 * pitch_mm)
                .max(max)
                .render()
        }
        _ => {
            let points: Vec<Vec2> = sensor.taxels().centers().iter().map(|p| Vec2::new(p.x * 1e3, p.y * 1e3)).collect();
            ScatterMap::new(&points, &values_mn).title(title).unit(unit).max(max).scale_bar(5.0, "5 mm").render()
        }
    }
}

/// The sensing surface with a colour per taxel.
pub fn painted(scene: Scene, sensor: &Sensor, reading: &Reading, world_from_sensor: &Pose, max_newton: f64) -> Scene {
    let colour = |value: f64| ColourMap::Ember.colour(value / max_newton.max(1e-9));
    let material = Material::plain().shine(0.05).flat().edges(Edges::All);
    let taxels = sensor.taxels();
    if let Some(pitch) = taxels.pitch_m()
        && let Ok(cells) = cells(taxels.centers(), 0.92 * pitch, 0.01 * pitch)
    {
        let colours: Vec<Rgb> = reading.values_newton.iter().flat_map(|&value| [colour(value); 2]).collect();
        return scene.painted_mesh(&cells, world_from_sensor, Material { edges: Edges::None, ..material }, &colours);
    }
    let value = |vertex: &Vec3| taxels.locate(*vertex).map_or(0.0, |taxel| reading.values_newton[taxel]);
    let colours: Vec<Rgb> = sensor.surface().vertices().iter().map(|vertex| colour(value(vertex))).collect();
    scene.painted_mesh(sensor.surface(), world_from_sensor, material, &colours)
}

/// A square about each centre, just over z = 0, so that gaps show as lines between taxels.
fn cells(centers: &[Vec3], side_m: f64, height_m: f64) -> Result<TriMesh, MeshError> {
    let corner = |x: f64, y: f64| Vec3::new(0.5 * side_m * x, 0.5 * side_m * y, height_m);
    let corners = [corner(-1.0, -1.0), corner(1.0, -1.0), corner(1.0, 1.0), corner(-1.0, 1.0)];
    let vertices = centers.iter().flat_map(|&center| corners.map(|corner| center + corner)).collect();
    let squares = (0..centers.len() as u32).map(|i| 4 * i);
    TriMesh::new("taxels", vertices, squares.flat_map(|i| [[i, i + 1, i + 2], [i, i + 2, i + 3]]).collect())
}

/// A press: the sensor with its taxels in colour, the object as glass, and the forces.
pub fn press(sensor: &Sensor, object: &Object, pressed: &Pressed) -> Image {
    let reading = &pressed.reading;
    let peak = reading.values_newton.iter().copied().fold(0.0, f64::max);
    let size = sensor.surface().bounds().size();
    let reach = size.x.max(size.y);
    let mut scene = painted(Scene::new(), sensor, reading, &Pose::IDENTITY, peak);
    let thickness = 0.08 * reach;
    if size.z < 1e-9
        && let Ok(base) = shapes::cuboid(Vec3::new(size.x, size.y, thickness))
    {
        let below = Pose::from_translation(-Vec3::Z * (0.5 * thickness + 1e-3 * thickness));
        scene = scene.mesh(&base, &below, Material::new([112, 120, 132]).edges(Edges::Creases));
    }
    scene = scene.mesh(
        object.surface.mesh(),
        &pressed.sensor_from_object,
        Material::new(OBJECT).alpha(0.3).shine(0.5).edges(Edges::Creases),
    );
    let longest = 0.25 * reach;
    let strongest = reading.forces_newton.iter().map(|force| force.length()).fold(0.0, f64::max).max(1e-12);
    for (at, force) in sensor.taxels().centers().iter().zip(&reading.forces_newton) {
        if force.length() > 0.02 * strongest {
            scene = scene.arrow(*at - *force / strongest * longest, *at, 0.006 * reach, FORCE);
        }
    }
    let bounds = scene.bounds();
    scene.render(&Camera::framing(bounds, -58.0, 32.0), 960, 720)
}

/// A name as a file is called by it.
pub fn file_name(name: &str) -> String {
    name.to_lowercase().chars().map(|c| if c.is_alphanumeric() || c == '_' { c } else { '-' }).collect()
}

/// A world as it is now: bodies, sensing surfaces with their taxels in colour, and what each sensor pushes with.
pub fn world(world: &World, sensors: &[(String, SensorId)]) -> Scene {
    let mut scene = Scene::new();
    if let Some(z) = world.parameters().ground_z_m {
        scene = scene.ground(z);
    }
    let mut colours = PALETTE.into_iter().cycle();
    for id in world.bodies() {
        let body = world.body(id);
        let Some(mesh) = body.visible() else { continue };
        let material = match (&body.object, &body.kind) {
            (Some(_), BodyKind::Free(_) | BodyKind::Driven) => Material::new(colours.next().unwrap_or(OBJECT)),
            _ => Material::plain().edges(Edges::Creases),
        };
        scene = scene.mesh(mesh, &world.pose(id), material);
    }
    let readings: Vec<Reading> = sensors.iter().map(|(_, id)| world.reading(*id)).collect();
    let peak = readings.iter().flat_map(|reading| reading.values_newton.iter().copied()).fold(0.0, f64::max);
    for ((_, id), reading) in sensors.iter().zip(&readings) {
        let (sensor, world_from_sensor) = (world.sensor(*id), world.world_from_sensor(*id));
        scene = painted(scene, sensor, reading, &world_from_sensor, peak);
        let force = world_from_sensor.transform_vector(reading.net_force_newton());
        let outward = -world_from_sensor.transform_vector(Vec3::Z);
        if force.length() > 1e-3 {
            let origin = world_from_sensor.translation;
            let (tail, head) = (origin + outward * 0.048, origin + outward * 0.016);
            scene = scene.arrow(tail, head, 0.0018, FORCE);
            scene = scene.label(tail + Vec3::Z * 0.004, format!("{:.1} N", reading.sum_newton));
        }
    }
    scene
}

/// A scene seen a little from above.
pub fn render(scene: &Scene, width: usize, height: usize) -> Image {
    scene.render(&Camera::framing(scene.bounds(), -62.0, 16.0), width, height)
}

/// What the sensors felt over time.
pub fn forces(recording: &Recording) -> Image {
    let plot = Plot::new().title("What the sensors feel").x_label("Time (s)").y_label("Sum of the taxels (N)");
    let series = recording.sensors.iter().map(|track| {
        Series::line(&track.name, recording.times_s.iter().zip(&track.rows).map(|(t, row)| (*t, row.sum_newton)))
    });
    series.fold(plot, Plot::series).size(960, 540).render()
}
