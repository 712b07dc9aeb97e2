//! `dermis run`: a scene file.

use crate::console::{Interrupt, commit, probe, progress, say, say_json, short};
use crate::picture;
use crate::web::{Live, LiveArguments};
use anyhow::Context;
use dermis::output::Output;
use dermis::picture::tactile_values;
use dermis::run::{Continue, Progress, Recording, run as run_scene};
use dermis::scene::{Built, SceneSpec, slug};
use std::path::PathBuf;

/// Run a scene file and keep what was felt.
#[derive(clap::Args)]
pub struct Arguments {
    /// The scene.
    scene: PathBuf,
    /// Write readings, poses, a summary and pictures into this folder.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Print the summary as one JSON document.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    live: LiveArguments,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let spec = SceneSpec::read(&arguments.scene)?;
    let file = arguments.scene.display().to_string();
    let mut built = spec.build(&file, arguments.scene.parent())?;
    probe(Some(&arguments.out))?;
    let mut live = Live::begin(&arguments.live, &built)?;
    let recording = simulate(&mut built, &mut |progress| live.iter_mut().for_each(|live| live.step(&progress)))
        .with_context(|| file.clone())?;
    live.into_iter().for_each(|live| live.end(recording.interrupted));
    let mut output = Output::new();
    recording.write_into(&mut output);
    output.add_image("forces.png", &picture::forces(&recording));
    output.add_image("scene.png", &picture::render(&picture::world(&built.world), 960, 720));
    for track in &recording.sensors {
        let peak = track.rows.iter().enumerate().max_by(|a, b| a.1.sum_newton.total_cmp(&b.1.sum_newton));
        if let (Some((row, sample)), Some(id)) = (peak, built.sensor(&track.name)) {
            let title = format!("{}, {} s", track.name, short(recording.times_s[row]));
            let image = tactile_values(built.world.sensor(id), &sample.values_newton, &title, None);
            output.add_image(format!("tactile-{}.png", slug(&track.name)), &image);
        }
    }
    if arguments.json {
        say_json(&recording.summary())?;
    } else {
        tell(&recording);
    }
    commit(output, &arguments.out, arguments.json)
}

/// Runs with a bar on the terminal until the end or Ctrl-C.
pub fn simulate(built: &mut Built, each: &mut dyn FnMut(Progress<'_>)) -> anyhow::Result<Recording> {
    let interrupt = Interrupt::listen();
    let bar = progress("running", (built.duration_s * 1e3) as u64);
    let recording = run_scene(built, &mut |progress| {
        bar.set_position((progress.time_s * 1e3) as u64);
        each(progress);
        if interrupt.came() { Continue::No } else { Continue::Yes }
    });
    bar.finish_and_clear();
    let recording = recording?;
    if recording.interrupted {
        eprintln!("interrupted; what was done until then is kept");
    }
    Ok(recording)
}

fn tell(recording: &Recording) {
    let time = recording.times_s.last().copied().unwrap_or_default();
    say(format!("{}: {} s in {} steps", recording.scene, short(time), recording.steps));
    for track in &recording.sensors {
        let peak = track.rows.iter().map(|row| row.sum_newton).fold(0.0, f64::max);
        let last = track.rows.last().map_or(0.0, |row| row.sum_newton);
        say(format!("  {:<16} peak {} N, at the end {} N", track.name, short(peak), short(last)));
    }
}
