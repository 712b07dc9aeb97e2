//! Camera images of a run at the largest force on each optical sensor.

use dermis::camera_frame;
use dermis::output::Output;
use dermis::run::{Progress, RunWarnings};
use dermis::scene::{Built, slug};
use dermis::sensor::optics::CameraFrame;
use dermis::skin::Touch;
use dermis::world::SensorId;

/// The touch of each optical sensor at its largest force so far.
pub struct CameraPeaks(Vec<Peak>);

struct Peak {
    name: String,
    id: SensorId,
    time_s: f64,
    touch: Touch,
    frame: Option<CameraFrame>,
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
            frame: None,
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

    /// Renders the images after the run, and adds the warnings of the cameras.
    pub fn render(&mut self, built: &Built, warnings: &mut RunWarnings) -> anyhow::Result<()> {
        for Peak { name, id, touch, frame, .. } in &mut self.0 {
            let sensor = built.world.sensor(*id);
            let Some(optics) = sensor.optics().filter(|_| touch.surface.is_some()) else { continue };
            let rendered = frame.insert(sensor.render(touch, 0)?);
            optics.warning(&rendered.relief).iter().for_each(|warning| warnings.add_camera(name, warning));
        }
        Ok(())
    }

    /// Adds `camera-NAME.png` of each optical sensor.
    pub fn add(&self, output: &mut Output, built: &Built) {
        for Peak { name, id, time_s, touch, frame } in &self.0 {
            let (Ok((optics, surface)), Some(frame)) = (built.world.sensor(*id).camera_view(touch), frame) else {
                continue;
            };
            let title = format!("{name}, {time_s:.3} s: total force {:.3} N", touch.on_sensor.force.length());
            let image = camera_frame::overview(optics, &surface, frame, &title);
            output.add_image(format!("camera-{}.png", slug(name)), &image);
        }
    }
}
