//! A run for pages to look at.

use super::files::Skins;
use super::hub::Hub;
use super::{Server, open};
use crate::console::say_aside;
use dermis::prelude::*;
use dermis::run::Progress;
use dermis::scene::Built;
use dermis::sensor::Canvas;
use dermis::world::{BodyId, SensorId};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Look at a run in a browser.
#[derive(clap::Args)]
pub struct LiveArguments {
    /// Show the run in a browser while it goes, at the pace of real time.
    #[arg(long)]
    view: bool,
    /// Port of 127.0.0.1 for `--view`; any that is free without it.
    #[arg(long, default_value_t = 0, requires = "view")]
    port: u16,
    /// With `--view`: say the address, but open no browser.
    #[arg(long, requires = "view")]
    no_open: bool,
}

/// Moments a second.
const RATE: f64 = 30.0;
/// Every how many moments a camera is looked through.
const IMAGE_EVERY: u64 = 3;
/// Widest image that is sent.
const MAX_WIDTH: usize = 160;
/// How long the start waits for the first page.
const PATIENCE: Duration = Duration::from_secs(8);
/// How long the end waits for pages to have been told.
const FAREWELL: Duration = Duration::from_secs(1);

/// Streams a run to pages.
pub struct Live {
    hub: Arc<Hub>,
    bodies: Vec<BodyId>,
    sensors: Vec<SensorId>,
    moments: u64,
    /// A moment of real time and the run's time then: both go on together from there.
    anchor: Option<(Instant, f64)>,
}

impl Live {
    /// Begins to serve, if asked to, and waits a little for a page to come.
    pub fn begin(arguments: &LiveArguments, built: &Built) -> anyhow::Result<Option<Self>> {
        if !arguments.view {
            return Ok(None);
        }
        let hub = Arc::new(Hub::default());
        let server = Server::bind(arguments.port, Skins::default(), Some(Arc::clone(&hub)))?;
        let url = server.url("live.html");
        let seen = |id: &BodyId| built.world.body(*id).visible().is_some();
        let live = Self {
            bodies: built.world.bodies().filter(seen).collect(),
            sensors: built.sensors.iter().map(|(_, id)| *id).collect(),
            hub,
            moments: 0,
            anchor: None,
        };
        live.hub.scene(&live.scene(built).to_string());
        std::thread::Builder::new().name("server".into()).spawn(move || server.serve())?;
        say_aside(format!("watch the run at {url}"));
        if !arguments.no_open {
            open(&url);
        }
        live.hub.wait_for_viewer(PATIENCE);
        Ok(Some(live))
    }

    /// After a step: tells the pages, as often as they can show it, and waits for real time while somebody looks on.
    pub fn step(&mut self, progress: &Progress<'_>) {
        if progress.time_s * RATE < self.moments as f64 {
            return;
        }
        let viewed = self.hub.viewers() > 0;
        let (frame, forces) = self.moment(progress, viewed && self.moments.is_multiple_of(IMAGE_EVERY));
        self.hub.frame(&frame.to_string(), forces.to_string());
        self.moments = (progress.time_s * RATE).floor() as u64 + 1;
        if viewed { self.keep_pace(progress.time_s) } else { self.anchor = None }
    }

    /// The run is over: the pages are told, and given a moment to hear it.
    pub fn end(self, interrupted: bool) {
        self.hub.end(&json!({ "interrupted": interrupted }).to_string());
        self.hub.wait_for_all_told(FAREWELL);
    }

    /// Sleeps until real time has caught up; a run that is slower than that is not hurried after.
    fn keep_pace(&mut self, time_s: f64) {
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
            let Canvas { vertices, triangles, taxels } = sensor.canvas();
            let bounds = sensor.surface().bounds();
            let centers = sensor.taxels().centers().iter();
            json!({
                "name": name,
                "size": sensor.taxels().size(),
                "low_mm": (bounds.min * 1e3).to_array(),
                "high_mm": (bounds.max * 1e3).to_array(),
                "taxels": centers.flat_map(|at| [at.x, at.y].map(thousandfold)).collect::<Vec<_>>(),
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

    /// All that changes, and the part of it that is kept.
    fn moment(&self, progress: &Progress<'_>, look: bool) -> (Value, Value) {
        let world = progress.world;
        let readings: Vec<Reading> = self.sensors.iter().map(|id| world.reading(*id)).collect();
        let sums: Vec<f32> = readings.iter().map(|reading| reading.sum_newton as f32).collect();
        let sensors = self.sensors.iter().zip(&readings).map(|(id, reading)| {
            let values: Vec<f32> = reading.values_newton.iter().map(|&value| value as f32).collect();
            json!({
                "pose": pose(&world.world_from_sensor(*id)),
                "sum_n": reading.sum_newton,
                "force_n": reading.net_force_newton().to_array(),
                "lit": reading.lit(),
                "saturated": reading.saturated,
                "values": values,
                "image": if look { image(world, *id) } else { Value::Null },
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

/// What a sensor's camera sees, thinned to what a page shows: width, height, and red, green, blue as base64.
fn image(world: &World, id: SensorId) -> Value {
    let sensor = world.sensor(id);
    let Some(Ok(sight)) = sensor.optics().map(|_| sensor.look(world.touch(id), 0)) else {
        return Value::Null;
    };
    let (image, width) = (sight.image.to_rgb8(), sight.image.width);
    let step = width.div_ceil(MAX_WIDTH);
    let rows: Vec<&[[u8; 3]]> = image.pixels().chunks(width).step_by(step).collect();
    let thin: Vec<u8> = rows.iter().flat_map(|row| row.iter().step_by(step).flatten().copied()).collect();
    json!([width.div_ceil(step), rows.len(), dermis::record::base64::encode(&thin)])
}

fn thousandfold(metres: f64) -> f32 {
    (metres * 1e3) as f32
}

fn millimetres(points: &[Vec3]) -> Vec<f32> {
    points.iter().flat_map(|point| point.to_array().map(thousandfold)).collect()
}

/// Translation (mm) and rotation (x, y, z, w).
fn pose(pose: &Pose) -> Value {
    let q = pose.rotation;
    json!({ "at": (pose.translation * 1e3).to_array(), "turn": [q.x, q.y, q.z, q.w] })
}
