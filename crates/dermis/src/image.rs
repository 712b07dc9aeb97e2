//! Images of readings and worlds.

use dermis_draw::{
    Camera, ColourMap, Edges, FigurePage, HeatMap, Image, Material, PALETTE, Rgb, ScatterMap, Scene, with_colour_bar,
};
use dermis_geometry::shapes::cuboid;
use dermis_geometry::{Pose, TriMesh, Vec2, Vec3};
use dermis_sensor::optics::FloatImage;
use dermis_sensor::{Reading, Sensor, TaxelMesh};
use dermis_world::World;

/// The colour of forces.
pub const FORCE: Rgb = [214, 64, 54];
/// The colour of axes.
const AXES: Rgb = [38, 42, 48];
/// The colour of the base under a flat sensor's taxels.
const BASE: Rgb = [112, 120, 132];

/// A tactile image in the sensor frame, seen along −z, x to the right and y up: a heat map for a taxel grid, coloured
/// dots otherwise. `max_newton` fixes the colour scale.
pub fn tactile(sensor: &Sensor, reading: &Reading, title: &str, max_newton: Option<f64>) -> Image {
    tactile_values(sensor, &reading.values_newton, title, max_newton)
}

/// The load on each taxel and, where the response changes it, the force that the sensor reports, on the same scale.
pub fn load_and_report(sensor: &Sensor, reading: &Reading, title: &str) -> Image {
    let (load, reported) = (&reading.values_newton, &reading.reported_newton);
    if load == reported {
        return tactile(sensor, reading, title, None);
    }
    let peak = load.iter().chain(reported).copied().fold(0.0, f64::max);
    let heading = if reading.reporting() == 0 { "Reported: all zero" } else { "Reported by the sensor" };
    FigurePage::new(2)
        .title(title)
        .image(tactile_values(sensor, load, "Load", Some(peak)), "")
        .image(tactile_values(sensor, reported, heading, Some(peak)), "")
        .render()
}

/// Like [`tactile`], from the taxels' values (N).
pub fn tactile_values(sensor: &Sensor, values: &[f64], title: &str, max_newton: Option<f64>) -> Image {
    match (sensor.taxels().size(), sensor.taxels().pitch_m()) {
        (Some((rows, cols)), Some(pitch_m)) => {
            let half = |count: usize| 0.5e3 * count as f64 * pitch_m;
            let (x, y) = (half(cols), half(rows));
            let mut map = HeatMap::new(rows, cols, values).title(title).unit("Force (N)").extent_mm((-x, x), (-y, y));
            if let Some(max) = max_newton {
                map = map.max(max);
            }
            map.render()
        }
        _ => {
            let points: Vec<Vec2> = sensor.taxels().centers().iter().map(|p| Vec2::new(p.x, p.y) * 1e3).collect();
            let mut map = ScatterMap::new(&points, values).title(title).unit("Force (N)");
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

/// The largest force (N) on a taxel of a world's sensors.
pub fn peak_newton(world: &World) -> f64 {
    world.sensors().flat_map(|id| world.reading(id).values_newton).fold(0.0, f64::max)
}

/// The scene of a world: its bodies, and its sensors coloured by their readings on one scale up to [`peak_newton`].
pub fn scene(world: &World) -> Scene {
    let peak = peak_newton(world);
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

/// Adds x, y and z axes of `length_m` at a point.
pub fn with_axes(scene: Scene, at: Vec3, length_m: f64) -> Scene {
    [(Vec3::X, "x"), (Vec3::Y, "y"), (Vec3::Z, "z")].into_iter().fold(scene, |scene, (axis, name)| {
        let tip = at + axis * length_m;
        scene.arrow(at, tip, 0.03 * length_m, AXES).label(tip, name)
    })
}

/// The largest of 1, 2 and 5 times a power of ten that is at most `value`: a round length of axes and arrows.
pub fn round_down(value: f64) -> f64 {
    let decade = 10f64.powf(value.max(1e-9).log10().floor());
    decade * [5.0, 2.0, 1.0].into_iter().find(|step| step * decade <= value).unwrap_or(1.0)
}

/// A rendered scene as a figure: title, colour bar of the taxels' force up to `peak_newton`, and a caption.
pub fn scene_figure(image: &Image, title: &str, peak_newton: f64, caption: &str) -> Image {
    let shown = match peak_newton > 0.0 {
        true => with_colour_bar(image, ColourMap::Ember, (0.0, peak_newton), "Force on a taxel (N)"),
        false => image.clone(),
    };
    FigurePage::new(1).title(title).image(shown, caption).render()
}

/// The sensing surface as a mesh with a colour per vertex: dark where unloaded.
pub fn painted(sensor: &Sensor, reading: &Reading, peak_newton: f64) -> (TriMesh, Vec<Rgb>) {
    let paint = |value: f64| ColourMap::Ember.colour(if peak_newton > 0.0 { value / peak_newton } else { 0.0 });
    let TaxelMesh { mut vertices, triangles, taxels } = sensor.taxel_mesh();
    if reading.size.is_some() {
        // 0.2 mm above the surface, whose colour shows between the tiles.
        vertices.iter_mut().for_each(|vertex| vertex.z += 2e-4);
    }
    let colours = taxels.iter().map(|taxel| paint(taxel.map_or(0.0, |taxel| reading.values_newton[taxel]))).collect();
    let mesh = TriMesh::new("taxels", vertices, triangles).unwrap_or_else(|_| sensor.surface().clone());
    (mesh, colours)
}

/// A figure of one object on one sensor, with the force of each taxel as an arrow and the axes of the sensor frame.
pub fn press_view(
    sensor: &Sensor,
    reading: &Reading,
    object: &TriMesh,
    sensor_from_object: &Pose,
    title: &str,
) -> Image {
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
    let length_m = round_down(0.3 * size);
    let corner = sensor.surface().bounds().min - Vec3::new(0.4, 0.4, 0.0) * length_m;
    scene = with_axes(scene, corner, length_m);
    let image = scene.render(&Camera::framing(scene.bounds(), -60.0, 28.0), 900, 700);
    let longest = reading.forces_newton.iter().map(|force| force.length()).fold(0.0, f64::max);
    let caption = format!(
        "Axes of the sensor frame, {} mm long. Red arrows: force on a taxel, the longest {longest:.3} N.",
        (length_m * 1e6).round() * 1e-3
    );
    scene_figure(&image, title, peak, &caption)
}

/// A measured image, a simulated one with its name, and their difference, each of a width (pixels).
pub fn measured_and_simulated(measured: &FloatImage, simulated: &FloatImage, name: &str, width: usize) -> Image {
    let small = |image: &FloatImage| image.to_rgb8().resize_box(width, width * image.height / image.width.max(1));
    let mut difference = measured.clone();
    for (channel, simulated) in difference.channels.iter_mut().zip(&simulated.channels) {
        channel.iter_mut().zip(simulated).for_each(|(level, simulated)| *level = 127.5 + 2.0 * (simulated - *level));
    }
    FigurePage::new(3)
        .gap(8)
        .image(small(measured), "measured")
        .image(small(simulated), name)
        .image(small(&difference), format!("{name} − measured, doubled around grey"))
        .render()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dermis_sensor::presets;

    /// Mean pixel of the one loaded taxel in a tactile image.
    fn pixel_of(sensor: &Sensor, taxel: usize) -> Vec2 {
        let values: Vec<f64> = (0..sensor.taxels().len()).map(|i| f64::from(u8::from(i == taxel))).collect();
        let image = tactile_values(sensor, &values, "one taxel", None);
        let bright = ColourMap::Ember.colour(1.0);
        // The colour bar is in the right part of the image.
        let places = (0..image.width() * image.height()).map(|i| (i % image.width(), i / image.width()));
        let hits: Vec<Vec2> = places
            .filter(|&(x, y)| image.pixel(x, y) == bright && x + 90 < image.width())
            .map(|(x, y)| Vec2::new(x as f64, y as f64))
            .collect();
        hits.iter().sum::<Vec2>() / hits.len() as f64
    }

    /// The taxel farther along x is farther right, the one farther along y is higher, on a grid and elsewhere.
    #[test]
    fn tactile_images_have_x_to_the_right_and_y_up() {
        for name in ["wts0614", "shadow-fingertip"] {
            let sensor = presets::find(name).unwrap().build(None).unwrap();
            let centers = sensor.taxels().centers();
            let farthest = |along: Vec3| {
                let order = |a: &usize, b: &usize| centers[*a].dot(along).total_cmp(&centers[*b].dot(along));
                pixel_of(&sensor, (0..centers.len()).max_by(order).unwrap())
            };
            assert!(farthest(Vec3::X).x > farthest(-Vec3::X).x + 50.0, "{name}");
            assert!(farthest(Vec3::Y).y < farthest(-Vec3::Y).y - 50.0, "{name}");
        }
    }

    /// Title, axes, force arrows and colour bar of the figure of a press.
    #[test]
    fn the_figure_of_a_press_has_axes_arrows_and_a_colour_bar() {
        let sensor = presets::find("wts0614").unwrap().build(None).unwrap();
        let mut reading = sensor.read(&dermis_skin::Touch::default());
        let object = dermis_geometry::shapes::sphere(5e-3, 1e-3).unwrap();
        let above = Pose::from_translation(Vec3::Z * 20e-3);
        let reddish = |image: &Image| {
            let pixels = image.pixels().iter();
            pixels.filter(|[r, g, b]| *r > 150 && *g < 100 && *b < 100).count()
        };
        let empty = press_view(&sensor, &reading, &object, &above, "nothing");
        reading.values_newton[40] = 1.0;
        reading.forces_newton[40] = Vec3::NEG_Z;
        let pressed = press_view(&sensor, &reading, &object, &above, "one taxel");
        assert!(reddish(&pressed) > reddish(&empty) + 200, "{} and {}", reddish(&pressed), reddish(&empty));
        assert!(pressed.width() > empty.width() + 50, "a loaded sensor has a colour bar");
        assert!(empty.height() > 700 + 40, "a title and a caption");
        let scene = Scene::new().mesh(&object, &above, Material::new(BASE));
        let camera = Camera::framing(scene.bounds(), -60.0, 28.0);
        let plain = scene.render(&camera, 90, 70);
        assert!(with_axes(scene, Vec3::Z * 20e-3, 8e-3).render(&camera, 90, 70).pixels() != plain.pixels(), "no axes");
    }

    #[test]
    fn lengths_of_axes_are_round() {
        for (given, round) in [(0.0137, 0.01), (0.0049, 0.002), (0.05, 0.05), (1.9, 1.0)] {
            assert!((round_down(given) / round - 1.0).abs() < 1e-9, "{given}");
        }
    }
}
