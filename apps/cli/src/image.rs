//! Renders images for the command line.

use crate::console::short;
use dermis::draw::{Camera, Image, Plot, Scene, Series};
use dermis::image;
use dermis::prelude::*;
use dermis::run::Recording;
use dermis::world::SensorId;

/// Length of the arrow of the largest force, by the extent of its sensor.
const ARROW: f64 = 0.5;
/// Forces (N) that have no arrow.
const NO_FORCE: f64 = 1e-3;

/// The scene of a world, with an arrow for the force on each sensor, from its centre of pressure, and the name of the sensor.
pub fn world(world: &World) -> Scene {
    let pressed: Vec<SensorId> =
        world.sensors().filter(|id| world.touch(*id).on_sensor.force.length() > NO_FORCE).collect();
    let force = |id: SensorId| world.touch(id).on_sensor.force.length();
    let largest = pressed.iter().copied().reduce(|a, b| if force(b) > force(a) { b } else { a });
    let Some(largest) = largest else { return image::scene(world) };
    let m_per_newton = ARROW * world.sensor(largest).surface().bounds().size().max_element() / force(largest);
    pressed.into_iter().fold(image::scene(world), |scene, id| {
        let (touch, world_from_sensor) = (world.touch(id), world.world_from_sensor(id));
        let from = world_from_sensor.transform_point(center_of_pressure(touch));
        let to = from + world_from_sensor.transform_vector(touch.on_sensor.force) * m_per_newton;
        let text = format!("{}: {} N", world.sensor(id).name(), short(force(id)));
        scene.overlaid_arrow(from, to, image::FORCE).label(to, text)
    })
}

/// Mean position (m) of the contact patches, weighted by their normal force, in the sensor frame.
fn center_of_pressure(touch: &Touch) -> Vec3 {
    let mut sum = (Vec3::ZERO, 0.0);
    for facet in touch.facets.iter() {
        let newton = facet.normal_force().max(0.0);
        sum = (sum.0 + facet.at() * newton, sum.1 + newton);
    }
    if sum.1 > 0.0 { sum.0 / sum.1 } else { Vec3::ZERO }
}

/// A figure of a world from slightly above, with axes, colour bar and legend.
pub fn figure(of: &World, title: &str) -> Image {
    let scene = world(of);
    let bounds = scene.bounds();
    let length_m = image::round_down(0.25 * bounds.size().max_element());
    let scene = image::with_axes(scene, bounds.min - Vec3::new(0.5, 0.5, 0.0) * length_m, length_m);
    let rendered = scene.render(&Camera::framing(scene.bounds(), -62.0, 16.0), 960, 720);
    let caption = format!(
        "Axes of the world, {} mm long. Red arrows: force on the named sensor, from its centre of pressure.",
        (length_m * 1e6).round() * 1e-3
    );
    image::scene_figure(&rendered, title, image::peak_newton(of), &caption)
}

/// Plots the sums of the taxels over time.
pub fn forces(recording: &Recording) -> Image {
    let plot = Plot::new().title("Sensor readings").x_label("Time (s)").y_label("Sum of the taxels (N)");
    let series = recording.sensors.iter().map(|track| {
        Series::line(&track.name, recording.times_s.iter().zip(&track.rows).map(|(t, row)| (*t, row.sum_newton)))
    });
    series.fold(plot, Plot::series).size(960, 540).render()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dermis::scene::SceneSpec;

    /// The arrow stood behind the sensor and pointed to it, wherever the force acted.
    #[test]
    fn the_arrow_of_a_force_starts_where_the_force_acts() {
        for (x_mm, tilt) in [(0.0, 0.0), (6.0, 0.0), (-5.0, 180.0)] {
            let (height, rotation) = (
                if tilt == 0.0 { 14.0 } else { -14.0 },
                format!("rotate = {{ axis = [0.0, 1.0, 0.0], angle = \"{tilt} deg\" }}"),
            );
            let rotation = if tilt == 0.0 { String::new() } else { rotation };
            let text = format!(
                "[world]\nduration = \"5 ms\"\n[[body]]\nname = \"ball\"\nmotion = \"driven\"\nshape.sphere.radius = \"15 mm\"\n\
                 at = [\"{x_mm} mm\", \"5 mm\", \"{height} mm\"]\n[[sensor]]\nname = \"pad\"\npreset = \"uji-foam-14x6\"\n{rotation}\n"
            );
            let mut built = SceneSpec::parse("scene.toml", &text).unwrap().build("scene.toml", None).unwrap();
            built.step().unwrap();
            let id = built.sensors[0].1;
            let from_sensor = center_of_pressure(built.world.touch(id));
            let from = built.world.world_from_sensor(id).transform_point(from_sensor);
            let contact = Vec3::new(x_mm * 1e-3, 5e-3, 0.0);
            assert!((from - contact).length() < 1.1e-3, "{from} {contact}");
            let scene = world(&built.world);
            let camera = Camera::framing(scene.bounds(), -62.0, 16.0);
            let image = scene.render(&camera, 960, 720);
            let force = built.world.world_from_sensor(id).transform_vector(built.world.touch(id).on_sensor.force);
            let red = |at: Vec3| {
                let (pixel, _) = camera.project(at, 960, 720).unwrap();
                let [r, g, b] = image.pixel(pixel.x as usize, pixel.y as usize);
                r > 180 && g < 100 && b < 100
            };
            // At its start, over the whole radius of the dot, and on its way along the force.
            assert!(red(from) && red(from + force.normalize() * 0.004), "{x_mm} mm");
            assert!(!red(from - force.normalize() * 0.004), "{x_mm} mm");
        }
    }
}
