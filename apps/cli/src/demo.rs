//! `dermis demo`: a gripper picks up a ball.

use crate::console::{commit, say, say_json, short};
use crate::image;
use crate::run::{simulate, verdict};
use dermis::draw::{Camera, FigurePage, Image, LineStyle, Plot, Scene, Series};
use dermis::geometry::Bounds;
use dermis::image::tactile;
use dermis::output::{ClaimedFolder, Output};
use dermis::prelude::*;
use dermis::run::Recording;
use dermis::scene::{Built, SceneSpec};
use dermis::world::{BodyKind, Phase};
use std::path::PathBuf;
use std::time::Instant;

const SCENE: &str = include_str!("../scenes/demo.toml");

/// Run a demonstration: a gripper with two tactile sensors picks up a ball.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  dermis demo --out demo")]
pub struct Arguments {
    /// Write images and readings into this folder.
    #[arg(long, value_name = "DIR", default_value = "out/demo")]
    out: PathBuf,
    /// Print the summary of the run as one JSON document.
    #[arg(long)]
    json: bool,
}

/// The world at one time.
struct Snapshot {
    time_s: f64,
    scene: Scene,
    readings: Vec<Reading>,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let start = Instant::now();
    let mut built = SceneSpec::parse("demo.toml", SCENE)?.build("demo.toml", None)?;
    // Each demonstration replaces the one before.
    let _claimed = ClaimedFolder::open(&arguments.out)?;
    let sensors = built.sensors.clone();
    let mut last: Option<(Phase, Snapshot)> = None;
    let (mut held, mut lifted) = (None, None);
    let recording = simulate(&mut built, None, &mut |progress| {
        let Some(phase) = progress.phase else { return };
        // The last snapshot of a phase is known when the next phase starts.
        let ended = last.as_ref().map(|(phase, _)| *phase).filter(|ended| *ended != phase);
        match ended {
            Some(Phase::Grasp) => held = last.take().map(|(_, snapshot)| snapshot),
            Some(Phase::Lift) => lifted = last.take().map(|(_, snapshot)| snapshot),
            _ => (),
        }
        let due = last.as_ref().is_none_or(|(_, snapshot)| progress.time_s - snapshot.time_s > 0.05 - 1e-9);
        if due && matches!(phase, Phase::Grasp | Phase::Lift) || last.as_ref().is_some_and(|(p, _)| *p != phase) {
            let scene = image::world(progress.world);
            let readings = sensors.iter().map(|(_, id)| progress.world.reading(*id)).collect();
            last = Some((phase, Snapshot { time_s: progress.time_s, scene, readings }));
        }
    })?;
    let mut output = Output::new();
    output.add("demo.toml", SCENE);
    recording.write_into(&mut output);
    let (Some(held), Some(lifted)) = (&held, &lifted) else {
        commit(output, &arguments.out, arguments.json)?;
        return verdict(&recording);
    };
    draw(&mut output, &built, &recording, held, lifted);
    if arguments.json {
        say_json(&recording.summary())?;
        commit(output, &arguments.out, true)?;
        return verdict(&recording);
    }
    tell(&built, &recording, lifted);
    commit(output, &arguments.out, false)?;
    let (poster, seconds) = (arguments.out.join("poster.png"), start.elapsed().as_secs_f64());
    say(format!("\nStart with {}. The run took {seconds:.1} s.", poster.display()));
    say("The scene is demo.toml there: change it and run it with `dermis run demo.toml --out DIR`.");
    verdict(&recording)
}

/// Draws the single images and the poster.
fn draw(output: &mut Output, built: &Built, recording: &Recording, held: &Snapshot, lifted: &Snapshot) {
    let both = held.scene.bounds().union(&lifted.scene.bounds());
    // The same camera for both, to show the lift.
    let around = Bounds { min: both.min - Vec3::Z * 0.002, ..both };
    let camera = Camera::framing(around, -62.0, 14.0);
    let scenes = [held, lifted].map(|snapshot| snapshot.scene.render(&camera, 720, 600));
    let peak = lifted.readings.iter().flat_map(|r| r.values_newton.iter().copied()).fold(0.0, f64::max);
    let images: Vec<Image> = built
        .sensors
        .iter()
        .zip(&lifted.readings)
        .map(|((name, id), reading)| {
            let title = format!("{name}: {} N", short(reading.sum_newton));
            tactile(built.world.sensor(*id), reading, &title, Some(peak))
        })
        .collect();
    let forces = forces(recording);
    let [grasp, up] = &scenes;
    let top = FigurePage::new(2)
        .margin(0)
        .image(grasp.clone(), format!("grasped, t = {:.2} s", held.time_s))
        .image(up.clone(), format!("held up, t = {:.2} s", lifted.time_s));
    let bottom = images.iter().fold(FigurePage::new(3).margin(0), |sheet, image| sheet.image(image.clone(), ""));
    let poster = FigurePage::new(1)
        .title("Two foam sensors pick up a ball")
        .margin(28)
        .image(top.render(), "")
        .image(bottom.image(forces.clone(), "").render(), "");
    output.add_image("poster.png", &poster.render());
    output.add_image("scene-grasped.png", grasp);
    output.add_image("scene-lifted.png", up);
    for ((name, _), image) in built.sensors.iter().zip(&images) {
        output.add_image(format!("tactile-{name}.png"), image);
    }
    output.add_image("forces.png", &forces);
}

/// Plots the grip force of each finger and the weight carried by friction. The sensors' y axis points up.
fn forces(recording: &Recording) -> Image {
    let plot = Plot::new().title("Squeeze and weight over time").x_label("Time (s)").y_label("Force (N)");
    let squeeze = |track: &dermis::run::SensorTrack| {
        Series::line(
            format!("{} sensor", track.name),
            recording.times_s.iter().zip(&track.rows).map(|(t, row)| (*t, row.sum_newton)),
        )
    };
    let plot = recording
        .sensors
        .iter()
        .map(squeeze)
        .enumerate()
        .fold(plot, |plot, (i, series)| plot.series(if i == 0 { series } else { series.style(LineStyle::Dashed) }));
    plot.series(Series::line("carried by friction", carried(recording))).size(720, 520).render()
}

fn carried(recording: &Recording) -> Vec<(f64, f64)> {
    let at = |row: usize| recording.sensors.iter().map(|track| -track.rows[row].force_newton.y).sum::<f64>();
    recording.times_s.iter().enumerate().map(|(row, t)| (*t, at(row))).collect()
}

fn weight_newton(built: &Built) -> f64 {
    let kind = built.body("ball").map(|ball| built.world.body(ball).kind);
    let mass_kg = if let Some(BodyKind::Free(mass)) = kind { mass.mass_kg } else { 0.0 };
    mass_kg * built.world.parameters().gravity.length()
}

fn tell(built: &Built, recording: &Recording, lifted: &Snapshot) {
    let weight = weight_newton(built);
    let friction: f64 = lifted.readings.iter().map(|reading| -reading.net_force_newton().y).sum();
    let ball = recording.bodies.iter().find(|track| track.name == "ball");
    let heights: Vec<f64> = ball.into_iter().flat_map(|track| &track.poses).map(|pose| pose.translation.z).collect();
    let (first, highest) =
        (heights.first().copied().unwrap_or_default(), heights.iter().copied().fold(f64::MIN, f64::max));
    let last = heights.last().copied().unwrap_or_default();
    let [left, right] = [0, 1].map(|i| lifted.readings.get(i));
    say("A parallel gripper grasped a ball, lifted it, put it down and released it.");
    if let (Some(left), Some(right)) = (left, right) {
        say(format!(
            "  squeeze   {} N left and {} N right, on {} and {} of {} taxels",
            short(left.sum_newton),
            short(right.sum_newton),
            left.active(),
            right.active(),
            built.world.sensor(built.sensors[0].1).taxels().len(),
        ));
    }
    say(format!("  friction  carried {} N; the ball weighs {} N", short(friction), short(weight)));
    let (up, off) = ((highest - first) * 1e3, (last - first) * 1e3);
    say(format!("  lift      {} mm up, and back to within {} mm of the start", short(up), short(off.abs())));
}
