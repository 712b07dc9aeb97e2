//! Camera images of a run at the largest force on each optical sensor.

use dermis::camera_frame;
use dermis::output::Output;
use dermis::run::Progress;
use dermis::scene::{Built, slug};
use dermis::skin::Touch;
use dermis::world::SensorId;

/// The touch of each optical sensor at its largest force so far.
pub struct CameraPeaks(Vec<Peak>);

struct Peak {
    name: String,
    id: SensorId,
    time_s: f64,
    touch: Touch,
}

impl CameraPeaks {
    /// Starts with the first touch of each optical sensor.
    pub fn new(built: &Built) -> Self {
        let world = &built.world;
        let optical = built.sensors.iter().filter(|(_, id)| world.sensor(*id).optics().is_some());
        let peak = |(name, id): &(String, SensorId)| Peak {
            name: name.clone(),
            id: *id,
            time_s: world.time_s(),
            touch: world.touch(*id).clone(),
        };
        Self(optical.map(peak).collect())
    }

    /// Call after each step.
    pub fn step(&mut self, progress: &Progress<'_>) {
        for peak in &mut self.0 {
            let touch = progress.world.touch(peak.id);
            let larger = touch.on_sensor.force.length() > peak.touch.on_sensor.force.length();
            // Before the first step a skin has no deformed surface.
            if larger || peak.touch.surface.is_none() {
                (peak.time_s, peak.touch) = (progress.time_s, touch.clone());
            }
        }
    }

    /// Adds `camera-NAME.png` of each optical sensor.
    pub fn add(&self, output: &mut Output, built: &Built) -> anyhow::Result<()> {
        for Peak { name, id, time_s, touch } in &self.0 {
            let sensor = built.world.sensor(*id);
            let (Some(optics), Some(surface)) = (sensor.optics(), &touch.surface) else { continue };
            let frame = sensor.render(touch, 0)?;
            let title = format!("{name}, {time_s:.3} s: {:.3} N", touch.on_sensor.force.length());
            let image = camera_frame::overview(optics, surface, &frame, &title);
            output.add_image(format!("camera-{}.png", slug(name)), &image);
        }
        Ok(())
    }
}
