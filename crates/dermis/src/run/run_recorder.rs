//! Writes the rows of a run to files while it proceeds.

use crate::image::tactile_values;
use crate::scene::Built;
use dermis_draw::{HeatMap, Image};
use dermis_record::{BodyLayout, Format, Layout, RecordError, Recorder, Sample, SensorLayout, SensorSample};
use dermis_sensor::Sensor;
use dermis_world::{BodyId, BodyKind, SensorId};
use std::path::{Path, PathBuf};

/// Default time between two images (s): 30 images per second.
pub const DEFAULT_IMAGE_INTERVAL_S: f64 = 1.0 / 30.0;

/// Passes the rows of a run to a recorder: numbers in every row, images less often.
///
/// ```no_run
/// # use dermis::run::{Continue, run_into};
/// # use dermis::scene::SceneSpec;
/// # let text = r#"
/// # world.duration = "20 ms"
/// # sensor = [{ name = "pad", preset = "uji-foam-14x6" }]
/// # [[body]]
/// # name = "ball"
/// # motion = "driven"
/// # shape.sphere.radius = "10 mm"
/// # at = ["0 mm", "0 mm", "9 mm"]
/// # "#;
///
/// use dermis::run::{DEFAULT_IMAGE_INTERVAL_S, RunRecorder};
/// let mut built = SceneSpec::parse("press.toml", text)?.build("press.toml", None)?;
/// let mut recorder = RunRecorder::open(&built, "press.mcap".as_ref(), None, DEFAULT_IMAGE_INTERVAL_S, false)?;
/// run_into(&mut built, Some(&mut recorder), &mut |_| Continue::Yes)?;
/// recorder.finish()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct RunRecorder {
    recorder: Recorder,
    sensors: Vec<SensorId>,
    bodies: Vec<BodyId>,
    image_every_s: f64,
    next_image_s: f64,
    /// The largest value (N) of each sensor so far, which fixes the colour scale of its heat maps.
    peaks_newton: Vec<f64>,
    /// Width and height (pixels) of each sensor's heat maps, constant during a recording.
    heat_sizes: Vec<Option<(usize, usize)>>,
}

/// Minimum number of pixels along the longer side of a heat map.
const MIN_HEAT_PX: usize = 240;

impl RunRecorder {
    /// Starts the recording of a scene. Without a format, the file name determines it. An existing file is replaced if
    /// `overwrite` is true, otherwise it is an error.
    pub fn open(
        built: &Built,
        path: &Path,
        format: Option<Format>,
        image_every_s: f64,
        overwrite: bool,
    ) -> Result<Self, RecordError> {
        let format = format.map_or_else(|| Format::of_path(path), Ok)?;
        let start = if overwrite { Format::record_over } else { Format::record };
        let recorder = start(format, path, &layout(built))?;
        let world = &built.world;
        Ok(Self {
            recorder,
            sensors: built.sensors.iter().map(|(_, id)| *id).collect(),
            bodies: moving(built),
            image_every_s,
            next_image_s: world.time_s(),
            peaks_newton: vec![0.0; built.sensors.len()],
            heat_sizes: vec![None; built.sensors.len()],
        })
    }

    /// Records the current state of the world.
    pub fn record(&mut self, built: &Built) -> Result<(), RecordError> {
        let world = &built.world;
        let time_s = world.time_s();
        // Allows for rounding: times are sums of steps.
        let images = time_s > self.next_image_s - 1e-9;
        if images {
            self.next_image_s = (self.next_image_s + self.image_every_s).max(time_s);
        }
        let sensors = (0..self.sensors.len()).map(|i| self.sample_sensor(built, i, images)).collect();
        let bodies = self.bodies.iter().map(|id| world.pose(*id)).collect();
        self.recorder.record(Sample { time_s, sensors, bodies })
    }

    fn sample_sensor(&mut self, built: &Built, i: usize, images: bool) -> SensorSample {
        let (world, id) = (&built.world, self.sensors[i]);
        let (sensor, reading, touch) = (world.sensor(id), world.reading(id), world.touch(id));
        let peak = reading.values_newton.iter().copied().fold(self.peaks_newton[i], f64::max);
        self.peaks_newton[i] = peak;
        let mut warnings = touch.warning_texts();
        let camera = sensor.optics().filter(|_| images).and_then(|optics| {
            // Before the first step a skin has no deformed surface, and the camera returns an error.
            let frame = sensor.render(touch, world.steps()).ok()?;
            warnings.extend(optics.warning(&frame.relief));
            Some(frame.image.to_rgb8())
        });
        let tactile = images.then(|| {
            let image = heat(sensor, &reading.values_newton, peak);
            let size = *self.heat_sizes[i].get_or_insert((image.width(), image.height()));
            padded(&image, size)
        });
        SensorSample {
            world_from_sensor: world.world_from_sensor(id),
            force_newton: touch.on_sensor.force,
            torque_newton_m: touch.on_sensor.torque,
            reading,
            camera,
            tactile,
            warnings,
        }
    }

    /// Ends the recording; returns the files and folders that hold it.
    pub fn finish(self) -> Result<Vec<PathBuf>, RecordError> {
        self.recorder.finish()
    }
}

/// A heat map of the taxels with `max_newton` as its brightest colour: bare cells for a grid, dots with a scale
/// otherwise.
fn heat(sensor: &Sensor, values_newton: &[f64], max_newton: f64) -> Image {
    let max = if max_newton > 0.0 { max_newton } else { 1.0 };
    match sensor.taxels().size() {
        Some((rows, cols)) => {
            let side = MIN_HEAT_PX.div_ceil(rows.max(cols).max(1));
            HeatMap::new(rows, cols, values_newton).max(max).cell_px(side).bare().render()
        }
        None => tactile_values(sensor, values_newton, "", Some(max)),
    }
}

/// Crops or pads an image to a size, anchored at the upper left corner.
fn padded(image: &Image, (width, height): (usize, usize)) -> Image {
    let mut padded = Image::new(width, height, [255; 3]);
    padded.blit(image, 0, 0);
    padded
}

/// Bodies that can move or be touched.
fn moving(built: &Built) -> Vec<BodyId> {
    let world = &built.world;
    let shown = |id: &BodyId| world.body(*id).kind != BodyKind::Fixed || world.body(*id).object.is_some();
    world.bodies().filter(shown).collect()
}

fn layout(built: &Built) -> Layout {
    let world = &built.world;
    let sensor = |(name, id): &(String, SensorId)| {
        let sensor = world.sensor(*id);
        let (taxels, size) = (sensor.taxels().len(), sensor.taxels().size());
        let chips = sensor.magnetics().map_or(0, |magnetics| magnetics.chips().len());
        SensorLayout { name: name.clone(), taxels, size, chips, mesh: Some(sensor.surface().clone()) }
    };
    let body = |id: BodyId| BodyLayout { name: world.body(id).name.clone(), mesh: world.body(id).visible().cloned() };
    Layout {
        scene: built.name.clone(),
        sensors: built.sensors.iter().map(sensor).collect(),
        bodies: moving(built).into_iter().map(body).collect(),
    }
}
