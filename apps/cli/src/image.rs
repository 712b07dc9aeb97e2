//! Renders images for the command line.

use dermis::draw::{Camera, Image, Plot, Scene, Series};
use dermis::image;
use dermis::prelude::*;
use dermis::run::Recording;

/// The scene of a world, with an arrow and a number for the force on each sensor.
pub fn world(world: &World) -> Scene {
    world.sensors().fold(image::scene(world), |scene, id| {
        let (reading, world_from_sensor) = (world.reading(id), world.world_from_sensor(id));
        if reading.net_force_newton().length() < 1e-3 {
            return scene;
        }
        // Behind the sensor, where the finger does not hide the arrow.
        let reach = world.sensor(id).surface().bounds().size().max_element();
        let behind = |part: f64| world_from_sensor.transform_point(-Vec3::Z * (part * reach));
        let (tail, head) = (behind(0.9), behind(0.3));
        scene.arrow(tail, head, 0.035 * reach, image::FORCE).label(tail, format!("{:.1} N", reading.sum_newton))
    })
}

/// A figure of a world from slightly above, with axes, colour bar and legend.
pub fn figure(of: &World, title: &str) -> Image {
    let scene = world(of);
    let bounds = scene.bounds();
    let length_m = image::round_down(0.25 * bounds.size().max_element());
    let scene = image::with_axes(scene, bounds.min - Vec3::new(0.5, 0.5, 0.0) * length_m, length_m);
    let rendered = scene.render(&Camera::framing(scene.bounds(), -62.0, 16.0), 960, 720);
    let caption = format!(
        "Axes of the world, {} mm long. Red arrows: sum of the taxels of a sensor.",
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
