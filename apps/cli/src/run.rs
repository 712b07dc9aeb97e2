//! `dermis run`: runs a scene file.

use crate::camera_peaks::CameraPeaks;
use crate::console::{Ended, Interrupt, ResultFolder, progress, say, say_aside, say_json, short};
use crate::image;
use crate::set::SetArguments;
use crate::web::{Live, LiveArguments};
use anyhow::Context;
use clap::ValueEnum;
use dermis::geometry::quantity::Time;
use dermis::image::tactile_values;
use dermis::magnetic_figure;
use dermis::output::Output;
use dermis::prelude::*;
use dermis::record::Format;
use dermis::run::{
    Carried, Continue, DEFAULT_IMAGE_INTERVAL_S, Progress, Recording, RunRecorder, SensorTrack, run_into,
};
use dermis::scene::{Built, SceneSpec, slug};
use dermis::world::{EnergyBalance, SensorId};
use std::path::PathBuf;

/// Run a scene file and record the readings.
///
/// Exit code 3: the results are written, but a body left the scene or passed through a sensor, or the task was not finished. Exit code
/// 130: Ctrl-C; the results so far are written.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  dermis run scene.toml --out out\n  dermis run scene.toml --record run.mcap\n  dermis run scene.toml --set body.0.mass=80g --set sensor.0.skin.friction.mu_static=0.3 --out slippery"
)]
pub struct Arguments {
    /// The scene.
    scene: PathBuf,
    #[command(flatten)]
    set: SetArguments,
    /// Write readings, poses, a summary and images into this folder; for an optical sensor also camera-NAME.png at its largest
    /// force, for one with magnets magnetic-NAME.png.
    #[arg(long, value_name = "DIR", required_unless_present_any = ["record", "view"])]
    out: Option<PathBuf>,
    /// Record during the run: an `.mcap` file (for Foxglove), a `.parquet` file, or a folder of numpy arrays and images.
    /// If the program is killed, the files hold all but the last samples.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Format of the recording; by default from the file name.
    #[arg(long, value_enum, requires = "record")]
    format: Option<RecordFormat>,
    /// Time between two recorded images; by default 30 images per second.
    #[arg(long, value_name = "TIME", requires = "record")]
    image_every: Option<Time>,
    /// Replace an existing recording, and write into a folder that holds other files.
    #[arg(long)]
    overwrite: bool,
    /// Print the summary as one JSON document.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    live: LiveArguments,
}

/// Recording formats.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum RecordFormat {
    /// MCAP with Foxglove messages.
    Mcap,
    /// A folder that is a ROS 2 bag, with MCAP inside.
    Ros2,
    /// Parquet, one row per time and sensor.
    Parquet,
    /// A folder of numpy arrays, with images as PNG.
    Npy,
    /// A folder of images as PNG.
    Png,
}

impl From<RecordFormat> for Format {
    fn from(format: RecordFormat) -> Self {
        match format {
            RecordFormat::Mcap => Self::Mcap,
            RecordFormat::Ros2 => Self::Ros2,
            RecordFormat::Parquet => Self::Parquet,
            RecordFormat::Npy => Self::Npy,
            RecordFormat::Png => Self::Png,
        }
    }
}

/// Starts the requested recording.
fn run_recorder(arguments: &Arguments, built: &Built) -> anyhow::Result<Option<RunRecorder>> {
    let Some(path) = &arguments.record else { return Ok(None) };
    let every_s = arguments.image_every.map_or(DEFAULT_IMAGE_INTERVAL_S, Time::si);
    anyhow::ensure!(every_s > 0.0, "`--image-every` must be a positive time, got {every_s} s");
    Ok(Some(RunRecorder::open(built, path, arguments.format.map(Format::from), every_s, arguments.overwrite)?))
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let folder = arguments.out.as_deref().map(|path| ResultFolder::open(path, arguments.overwrite)).transpose()?;
    let spec = SceneSpec::read_with(&arguments.scene, &arguments.set.changes()?)?;
    let file = arguments.scene.display().to_string();
    let mut built = spec.build(&file, arguments.scene.parent())?;
    let mut run_recorder = run_recorder(arguments, &built)?;
    let mut live = Live::begin(&arguments.live, &built)?;
    let mut peaks = CameraPeaks::new(&built);
    let mut show = |progress: Progress<'_>| {
        peaks.step(&progress);
        live.iter_mut().for_each(|live| live.step(&progress));
    };
    let mut recording = simulate(&mut built, run_recorder.as_mut(), &mut show).with_context(|| file.clone())?;
    live.into_iter().for_each(|live| live.end(recording.interrupted));
    peaks.render(&built, &mut recording.warnings)?;
    let recorded = run_recorder.map_or(Ok(Vec::new()), RunRecorder::finish)?;
    if arguments.json {
        say_json(&recording.summary())?;
    } else {
        tell(&recording);
    }
    for path in recorded {
        let line = format!("recorded {}", path.display());
        if arguments.json { say_aside(line) } else { say(line) }
    }
    if let Some(folder) = folder {
        folder.commit(results(&built, &recording, &peaks), arguments.json)?;
    }
    verdict(&recording)
}

/// An error if the run is not what the scene describes.
pub fn verdict(recording: &Recording) -> anyhow::Result<()> {
    if recording.interrupted {
        return Err(Ended::interrupted("the results so far are kept").into());
    }
    let warnings = &recording.warnings;
    let reasons = [
        (warnings.unfinished_task(), "the task is not finished, `duration` may be too short"),
        (warnings.touched_while_open(), "the open fingers met the object"),
        (warnings.lost_body(), "a body passed through a sensor or left the scene"),
    ];
    let reasons: Vec<&str> = reasons.iter().filter(|(holds, _)| *holds).map(|(_, reason)| *reason).collect();
    if reasons.is_empty() {
        return Ok(());
    }
    Err(Ended::incomplete(format!("{}: {}; see the warnings", recording.scene, reasons.join("; "))).into())
}

/// Tables and images of a finished run.
fn results(built: &Built, recording: &Recording, peaks: &CameraPeaks) -> Output {
    let mut output = Output::new();
    recording.write_into(&mut output);
    output.add_image("forces.png", &image::forces(recording));
    let title = format!("{} at {} s", recording.scene, short(recording.times_s.last().copied().unwrap_or_default()));
    output.add_image("scene.png", &image::figure(&built.world, &title));
    peaks.add(&mut output, built);
    for track in &recording.sensors {
        let peak = track.rows.iter().enumerate().max_by(|a, b| a.1.sum_newton.total_cmp(&b.1.sum_newton));
        if let (Some((row, sample)), Some(id)) = (peak, built.sensor(&track.name)) {
            let title = format!("{}, {} s", track.name, short(recording.times_s[row]));
            let image = tactile_values(built.world.sensor(id), &sample.values_newton, &title, None);
            output.add_image(format!("tactile-{}.png", slug(&track.name)), &image);
        }
        if let Some(id) = built.sensor(&track.name)
            && let Some(magnetics) = built.world.sensor(id).magnetics()
        {
            let touch = built.world.touch(id);
            let objects = objects(&built.world, id);
            let image = magnetic_figure::run(magnetics, touch, &objects, &recording.times_s, &track.rows, &track.name);
            output.add_image(format!("magnetic-{}.png", slug(&track.name)), &image);
        }
    }
    output
}

/// The meshes that a sensor can touch, with their poses in its frame.
fn objects(world: &World, id: SensorId) -> Vec<(&TriMesh, Pose)> {
    let sensor_from_world = world.world_from_sensor(id).inverse();
    let touchable = world.bodies().filter_map(|body| {
        let object = world.body(body).object.as_ref()?;
        Some((object.surface.mesh(), sensor_from_world * world.pose(body)))
    });
    touchable.collect()
}

/// Runs a scene with a progress bar, until its end or Ctrl-C.
pub fn simulate(
    built: &mut Built,
    run_recorder: Option<&mut RunRecorder>,
    each: &mut dyn FnMut(Progress<'_>),
) -> anyhow::Result<Recording> {
    let interrupt = Interrupt::listen();
    let bar = progress("running", (built.duration_s * 1e3) as u64);
    let recording = run_into(built, run_recorder, &mut |progress| {
        bar.set_position((progress.time_s * 1e3) as u64);
        each(progress);
        if interrupt.came() { Continue::No } else { Continue::Yes }
    });
    bar.finish_and_clear();
    Ok(recording?)
}

fn tell(recording: &Recording) {
    let time = recording.times_s.last().copied().unwrap_or_default();
    say(format!("{}: {} s in {} steps", recording.scene, short(time), recording.steps));
    for track in &recording.sensors {
        let (peak, _) = track.peak;
        let last = track.rows.last().map_or(0.0, |row| row.sum_newton);
        say(format!(
            "  {:<16} peak {} N, at the end {} N{}",
            track.name,
            short(peak),
            short(last),
            contact(track, recording.step_s)
        ));
    }
    recording.carried().iter().for_each(|carried| say(format!("  {:<16} {}", carried.body, outcome(carried))));
    say(format!("  energy           {}", energy(&recording.energy)));
    recording.warnings.texts().iter().for_each(|warning| say(format!("  warning          {warning}")));
}

/// The terms of an energy balance that are not zero, and its residual.
fn energy(balance: &EnergyBalance) -> String {
    let in_mj = |joule: f64| format!("{} mJ", short(1e3 * joule));
    let sum = |name: &str, terms: &[(&str, f64)]| {
        let terms = terms.iter().filter(|(_, joule)| *joule != 0.0);
        let terms: Vec<String> = terms.map(|(term, joule)| format!("{term} {}", in_mj(*joule))).collect();
        (!terms.is_empty()).then(|| format!("{name}: {}; ", terms.join(", ")))
    };
    let EnergyBalance { kinetic_joule, potential_joule, elastic_joule, on_skins_joule, .. } = *balance;
    let unknown = format!("stored or damped by {}", balance.unknown.join(", "));
    let stored = [
        ("kinetic", kinetic_joule),
        ("potential", potential_joule),
        ("elastic", elastic_joule),
        (unknown.as_str(), on_skins_joule),
    ];
    let EnergyBalance { friction_joule, damping_joule, solids_joule, drives_joule, prescribed_joule, .. } = *balance;
    let dissipated = [("friction", friction_joule), ("damping", damping_joule), ("solids", solids_joule)];
    let put_in = [("drives", drives_joule), ("prescribed motion", prescribed_joule)];
    let sums = [sum("change", &stored), sum("dissipated", &dissipated), sum("put in", &put_in)];
    let percent = short(100.0 * balance.relative_residual());
    let residual = format!("residual {} ({percent} %)", in_mj(balance.residual_joule()));
    sums.into_iter().flatten().collect::<String>() + &residual
}

/// Time and steps of a sensor's contacts.
fn contact(track: &SensorTrack, step_s: f64) -> String {
    let contacts = &track.contacts;
    let time = short(contacts.steps as f64 * step_s);
    let steps = |count: u64| format!("{count} step{}", if count == 1 { "" } else { "s" });
    match (contacts.contacts, contacts.shortest_steps()) {
        (0, _) | (_, None) => "; no contact".to_owned(),
        (1, Some(_)) => format!("; 1 contact of {time} s, {}", steps(contacts.steps)),
        (count, Some(shortest)) => format!("; {count} contacts, {time} s in all, the shortest of {}", steps(shortest)),
    }
}

/// What became of the body that a gripper was to carry.
fn outcome(carried: &Carried) -> String {
    let mm = |length_m: f64| short(length_m * 1e3);
    let Carried { lifted_m, hand_lifted_m, from_start_m, .. } = carried;
    let (rose, hand, off) = (mm(*lifted_m), mm(*hand_lifted_m), mm(*from_start_m));
    match carried.is_lifted() {
        true => format!("lifted by {rose} mm with the hand, which rose {hand} mm; at the end {off} mm from its start"),
        false => format!("not lifted: it rose {rose} mm, the hand {hand} mm; at the end {off} mm from its start"),
    }
}
