//! Streams a run to pages in the browser.

use super::hub::Hub;
use super::{Server, open_secretly};
use crate::console::say_aside;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use dermis::prelude::*;
use dermis::run::Progress;
use dermis::scene::Built;
use dermis::sensor::TaxelMesh;
use dermis::world::{BodyId, SensorId};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::NamedTempFile;

/// Options to show a run in a browser.
#[derive(clap::Args)]
pub struct LiveArguments {
    /// Show the run in a browser in real time.
    #[arg(long)]
    view: bool,
    /// Port of 127.0.0.1 for `--view`; by default any free port.
    #[arg(long, default_value_t = 0, requires = "view")]
    port: u16,
    /// With `--view`: print the address and open no browser.
    #[arg(long, requires = "view")]
    no_open: bool,
}

/// Frames per second.
const RATE: f64 = 30.0;
/// Frames between two camera images.
const IMAGE_EVERY: u64 = 3;
/// Maximum width of a camera image (pixels).
const MAX_WIDTH: usize = 160;
/// Time to wait for the first page.
const START_TIMEOUT: Duration = Duration::from_secs(8);
/// Time to wait at the end until pages have received all events.
const END_TIMEOUT: Duration = Duration::from_secs(1);

/// Streams a run to pages.
pub struct Live {
    hub: Arc<Hub>,
    bodies: Vec<BodyId>,
    sensors: Vec<SensorId>,
    frames: u64,
    /// The file that leads the browser to the page.
    _letter: Option<NamedTempFile>,
    /// A wall-clock instant and the simulated time (s) at it.
    anchor: Option<(Instant, f64)>,
}

impl Live {
    /// Starts the server, if requested, and waits briefly for a page to connect.
    pub fn begin(arguments: &LiveArguments, built: &Built) -> anyhow::Result<Option<Self>> {
        if !arguments.view {
            return Ok(None);
        }
        let hub = Arc::new(Hub::default());
        let server = Server::bind(arguments.port, None, Some(Arc::clone(&hub)))?;
        let url = server.url("live.html");
        let visible = |id: &BodyId| built.world.body(*id).visible().is_some();
        let live = Self {
            bodies: built.world.bodies().filter(visible).collect(),
            sensors: built.sensors.iter().map(|(_, id)| *id).collect(),
            hub,
            frames: 0,
            anchor: None,
            _letter: None,
        };
        live.hub.scene(&live.scene(built).to_string());
        std::thread::Builder::new().name("server".into()).spawn(move || server.serve())?;
        say_aside(format!("watch the run at {url}"));
        let letter = if arguments.no_open { None } else { open_secretly(&url) };
        live.hub.wait_for_viewer(START_TIMEOUT);
        Ok(Some(Self { _letter: letter, ..live }))
    }

    /// Call after each step: sends frames at the frame rate, and keeps to real time while a page is connected.
    pub fn step(&mut self, progress: &Progress<'_>) {
        if progress.time_s * RATE < self.frames as f64 {
            return;
        }
        let viewed = self.hub.viewers() > 0;
        let (frame, forces) = self.frame(progress, viewed && self.frames.is_multiple_of(IMAGE_EVERY));
        self.hub.frame(&frame.to_string(), forces.to_string());
        self.frames = (progress.time_s * RATE).floor() as u64 + 1;
        if viewed { self.wait_for_real_time(progress.time_s) } else { self.anchor = None }
    }

    /// Ends the stream and waits until pages have received it.
    pub fn end(self, interrupted: bool) {
        self.hub.end(&json!({ "interrupted": interrupted }).to_string());
        self.hub.wait_until_delivered(END_TIMEOUT);
    }

    /// Sleeps until real time catches up; a run slower than real time is not accelerated later.
    fn wait_for_real_time(&mut self, time_s: f64) {
        let now = Instant::now();
        let (start, start_s) = *self.anchor.get_or_insert((now, time_s));
        let due = start + Duration::from_secs_f64((time_s - start_s).max(0.0));
        match due.checked_duration_since(now) {
            Some(early) => std::thread::sleep(early),
            None => self.anchor = Some((now, time_s)),
        }
    }

    fn scene(&self, built: &Built) -> Value {
        let world = &built.world;
        let body = |id: &BodyId| {
            let body = world.body(*id);
            let mesh = body.visible();
            json!({
                "name": body.name,
                "touched": body.object.is_some(),
                "positions": mesh.map_or_else(Vec::new, |mesh| millimetres(mesh.vertices())),
                "triangles": mesh.map_or_else(Vec::new, |mesh| mesh.triangles().as_flattened().to_vec()),
            })
        };
        let sensor = |(name, id): &(String, SensorId)| {
            let sensor = world.sensor(*id);
            let TaxelMesh { vertices, triangles, taxels } = sensor.taxel_mesh();
            let bounds = sensor.surface().bounds();
            let centers = sensor.taxels().centers().iter();
            json!({
                "name": name,
                "size": sensor.taxels().size(),
                "low_mm": (bounds.min * 1e3).to_array(),
                "high_mm": (bounds.max * 1e3).to_array(),
                "taxels": centers.flat_map(|at| [at.x, at.y].map(to_mm)).collect::<Vec<_>>(),
                "positions": millimetres(&vertices),
                "triangles": triangles.as_flattened(),
                "paint": taxels.iter().map(|taxel| taxel.map_or(-1, |taxel| taxel as i64)).collect::<Vec<_>>(),
            })
        };
        json!({
            "name": built.name,
            "description": built.description,
            "duration_s": built.duration_s,
            "ground_mm": world.parameters().ground_z_m.map(|z_m| z_m * 1e3),
            "bodies": self.bodies.iter().map(body).collect::<Vec<_>>(),
            "sensors": built.sensors.iter().map(sensor).collect::<Vec<_>>(),
        })
    }

    /// The current frame, and its time and forces, which late pages also receive.
    fn frame(&self, progress: &Progress<'_>, with_image: bool) -> (Value, Value) {
        let world = progress.world;
        let readings: Vec<Reading> = self.sensors.iter().map(|id| world.reading(*id)).collect();
        let sums: Vec<f32> = readings.iter().map(|reading| reading.sum_newton as f32).collect();
        let sensors = self.sensors.iter().zip(&readings).map(|(id, reading)| {
            let values: Vec<f32> = reading.values_newton.iter().map(|&value| value as f32).collect();
            json!({
                "pose": pose(&world.world_from_sensor(*id)),
                "sum_n": reading.sum_newton,
                "force_n": reading.net_force_newton().to_array(),
                "active": reading.active(),
                "warnings": world.touch(*id).warning_texts(),
                "values": values,
                "image": if with_image { image(world, *id) } else { Value::Null },
            })
        });
        let frame = json!({
            "time_s": progress.time_s,
            "phase": progress.phase.map(|phase| format!("{phase:?}")),
            "bodies": self.bodies.iter().map(|id| pose(&world.pose(*id))).collect::<Vec<_>>(),
            "sensors": sensors.collect::<Vec<_>>(),
        });
        (frame, json!([progress.time_s as f32, sums]))
    }
}

/// A sensor's camera image, subsampled: width, height, and RGB bytes as base64.
fn image(world: &World, id: SensorId) -> Value {
    let sensor = world.sensor(id);
    let Some(Ok(frame)) = sensor.optics().map(|_| sensor.render(world.touch(id), 0)) else {
        return Value::Null;
    };
    let (image, width) = (frame.image.to_rgb8(), frame.image.width);
    let step = width.div_ceil(MAX_WIDTH);
    let rows: Vec<&[[u8; 3]]> = image.pixels().chunks(width).step_by(step).collect();
    let thin: Vec<u8> = rows.iter().flat_map(|row| row.iter().step_by(step).flatten().copied()).collect();
    json!([width.div_ceil(step), rows.len(), BASE64_STANDARD.encode(&thin)])
}

fn to_mm(metres: f64) -> f32 {
    (metres * 1e3) as f32
}

fn millimetres(points: &[Vec3]) -> Vec<f32> {
    points.iter().flat_map(|point| point.to_array().map(to_mm)).collect()
}

/// Translation (mm) and rotation (x, y, z, w).
fn pose(pose: &Pose) -> Value {
    let q = pose.rotation;
    json!({ "at": (pose.translation * 1e3).to_array(), "rotation": [q.x, q.y, q.z, q.w] })
}
