//! Patzelt et al. 2023, Figs 3 and 4: a curved fingertip slides over an edge; exact cells beside the paper's rays.

use super::{ExperimentError, Findings, Options, Progress, report_progress};
use dermis::draw::{Camera, ColourMap, Edges, FigurePage, Image, Material, PALETTE, Plot, Rgb, Scene, Series};
use dermis::geometry::quantity::{Angle, Length};
use dermis::geometry::shapes::cuboid;
use dermis::geometry::{Pose, Quat, Vec3};
use dermis::sensor::{DistanceSpec, ReadingSpec, Sensor, SensorSpec, Window, presets};
use dermis::skin::{Motion, Object, Target};
use std::f64::consts::FRAC_PI_4;

/// Travel between recordings (m), as in the paper.
const STEP_M: f64 = 1e-4;
/// Refinement of the fine slide.
const FINER: usize = 5;
/// Travel before and after the centre of the pad (m).
const REACH_M: f64 = 24e-3;
/// Depth of the edge below the pad's highest point (m).
const DEPTH_M: f64 = 1.5e-3;
/// Pitch of the fingertip towards its tip.
const PITCH_DEG: f64 = 8.0;
/// Angle between the edge and the transverse axis of the finger.
const YAW_DEG: f64 = 10.0;
/// Side of the square bar (m).
const SIDE_M: f64 = 0.03;
/// Fraction of the largest peak above which a taxel counts as loaded.
const MIN_SHARE: f64 = 0.1;

/// One kind of reading along the slide.
struct Trace {
    /// Values per taxel and recording.
    values: Vec<Vec<f64>>,
}

impl Trace {
    fn new(taxels: usize) -> Self {
        Self { values: vec![Vec::new(); taxels] }
    }

    fn push(&mut self, values: &[f64]) {
        self.values.iter_mut().zip(values).for_each(|(list, value)| list.push(*value));
    }

    fn peak(&self, taxel: usize) -> f64 {
        self.values[taxel].iter().map(|value| value.abs()).fold(0.0, f64::max)
    }

    fn largest(&self) -> f64 {
        (0..self.values.len()).map(|taxel| self.peak(taxel)).fold(0.0, f64::max)
    }

    /// Total variation divided by twice the peak: 1 for a single rise and fall.
    fn roughness(&self, taxel: usize) -> f64 {
        let variation: f64 = self.values[taxel].windows(2).map(|pair| (pair[1] - pair[0]).abs()).sum();
        variation / (2.0 * self.peak(taxel))
    }

    /// Taxels with a nonzero reading.
    fn touched(&self) -> Vec<usize> {
        (0..self.values.len()).filter(|&taxel| self.peak(taxel) > 0.0).collect()
    }

    fn worst_roughness(&self) -> f64 {
        self.touched().into_iter().map(|taxel| self.roughness(taxel)).fold(0.0, f64::max)
    }
}

/// A recorded slide.
struct Slide {
    exact: Trace,
    rays: Trace,
    /// |taxels + outside − net|, relative to the largest force.
    imbalance: f64,
}

/// Pose of the bar with its edge `along_m` past the centre of the pad.
fn sensor_from_bar(along_m: f64) -> Pose {
    let rotation = Quat::from_rotation_x(-PITCH_DEG.to_radians()) * Quat::from_rotation_z(YAW_DEG.to_radians());
    let edge = Vec3::new(0.0, along_m, SIDE_M / 2f64.sqrt() - DEPTH_M);
    Pose::new(rotation * Quat::from_rotation_x(FRAC_PI_4), rotation * edge)
}

fn slide(
    exact: &Sensor,
    rays: &Sensor,
    bar: &Object,
    step_m: f64,
    progress: &mut dyn FnMut(f64) -> bool,
) -> Result<Slide, ExperimentError> {
    let taxels = exact.taxels().len();
    let mut slide = Slide { exact: Trace::new(taxels), rays: Trace::new(taxels), imbalance: 0.0 };
    let steps = (2.0 * REACH_M / step_m).round() as usize;
    let (mut worst, mut largest) = (0f64, 0f64);
    for step in 0..=steps {
        let target = Target::at_rest(bar, sensor_from_bar(step as f64 * step_m - REACH_M));
        let (touch, _) = exact.skin().settle(&exact.skin().rest(), &Motion { targets: &[target] })?;
        let reading = exact.read(&touch);
        worst = worst.max((reading.net_force_newton() - touch.on_sensor.force).length());
        largest = largest.max(touch.on_sensor.force.length());
        slide.exact.push(&reading.values_newton);
        slide.rays.push(&rays.read(&touch).pressures_pa.unwrap_or_default());
        if step % 50 == 0 {
            report_progress(progress, step as f64 / steps as f64)?;
        }
    }
    slide.imbalance = worst / largest;
    Ok(slide)
}

pub(super) fn run(_: &Options, progress: Progress<'_>) -> Result<Findings, ExperimentError> {
    let spec = presets::find("shadow-fingertip")?;
    // Radius, window and spacing as in the authors' published configuration.
    let reading = ReadingSpec::Rays {
        radius: Length::new(6e-3),
        spacing: Length::new(5e-4),
        cone: Angle::new(FRAC_PI_4),
        window: Window::Squared,
        distance: DistanceSpec::Euclidean,
        seed: 0,
        sub_taxels: Vec::new(),
    };
    let exact = spec.build(None)?;
    let rays = SensorSpec { reading, ..spec }.build(None)?;
    let bar = Object::new(cuboid(Vec3::new(0.06, SIDE_M, SIDE_M))?);
    let coarse = slide(&exact, &rays, &bar, STEP_M, &mut |done| progress(0.2 * done))?;
    let fine = slide(&exact, &rays, &bar, STEP_M / FINER as f64, &mut |done| progress(0.2 + 0.8 * done))?;

    let mut findings = Findings::default();
    let (touched, largest) = (coarse.exact.touched(), coarse.exact.largest());
    let part: Vec<usize> = touched.iter().copied().filter(|&t| coarse.exact.peak(t) >= MIN_SHARE * largest).collect();
    let ends = touched.iter().flat_map(|&taxel| {
        let values = &coarse.exact.values[taxel];
        [values[0].abs(), values[values.len() - 1].abs()]
    });
    findings.metric("worst_roughness_exact", coarse.exact.worst_roughness());
    findings.metric("worst_roughness_rays", coarse.rays.worst_roughness());
    let of_those = part.iter().map(|&taxel| coarse.rays.roughness(taxel)).fold(0.0, f64::max);
    findings.metric("worst_roughness_rays_over_a_tenth", of_those);
    findings.metric("worst_roughness_exact_fine", fine.exact.worst_roughness());
    findings.metric("worst_roughness_rays_fine", fine.rays.worst_roughness());
    findings.metric("taxels_touched", touched.len() as f64);
    findings.metric("taxels_over_a_tenth", part.len() as f64);
    findings.metric("largest_at_the_ends", ends.fold(0.0, f64::max));
    findings.metric("imbalance", coarse.imbalance.max(fine.imbalance));
    findings.metric("largest_peak_newton", largest);
    findings.metric("largest_peak_pa", coarse.rays.largest());
    // Taxels 3 and 8 are at the tip, 0 and 11 farther back.
    let ratio = |trace: &Trace| trace.peak(3).min(trace.peak(8)) / trace.peak(0).max(trace.peak(11));
    findings.metric("tip_over_back_rays", ratio(&coarse.rays));
    findings.metric("tip_over_back_exact", ratio(&coarse.exact));

    let mut table = String::from("taxel,exact_peak_newton,exact_roughness,rays_peak_pa,rays_roughness\n");
    for &taxel in &touched {
        let (e, r) = (&coarse.exact, &coarse.rays);
        table += &format!(
            "{taxel},{:.6},{:.6},{:.2},{:.6}\n",
            e.peak(taxel),
            e.roughness(taxel),
            r.peak(taxel),
            r.roughness(taxel)
        );
    }
    findings.files.add("roughness.csv", table);
    findings.files.add("slide.csv", rows(&coarse, &touched));
    let sheet = FigurePage::new(2)
        .image(plot(&coarse.exact, &part, "Exact reading: force / largest"), "")
        .image(plot(&coarse.rays, &part, "Ray reading: pressure / largest"), "");
    findings.files.add_image("edge.png", &sheet.render());
    findings.files.add_image("edge-scene.png", &image(&exact, &bar)?);
    findings.note(format!(
        "The fingertip, pitched by {PITCH_DEG}°, moves straight over the edge of a square bar that is rotated by {YAW_DEG}°, {DEPTH_M} m deep; the paper presses it by a soft constraint that it does not describe. Roughness is the total variation over twice the peak (1 for a single rise and fall), for every taxel with a nonzero reading."
    ));
    Ok(findings)
}

fn along_mm(step: usize) -> f64 {
    (step as f64 * STEP_M - REACH_M) * 1e3
}

fn rows(slide: &Slide, taxels: &[usize]) -> String {
    let names = |what: &str| taxels.iter().map(|t| format!(",{what}_{t}")).collect::<String>();
    let mut text = format!("along_mm{}{}\n", names("exact_newton"), names("rays_pa"));
    for step in 0..slide.exact.values[0].len() {
        text += &format!("{:.1}", along_mm(step));
        taxels.iter().for_each(|&t| text += &format!(",{:.6e}", slide.exact.values[t][step]));
        taxels.iter().for_each(|&t| text += &format!(",{:.6e}", slide.rays.values[t][step]));
        text.push('\n');
    }
    text
}

fn plot(trace: &Trace, taxels: &[usize], title: &str) -> Image {
    let largest = trace.largest();
    let mut plot = Plot::new()
        .title(title)
        .x_label("Edge position from the centre of the pad, towards the tip (mm)")
        .y_label("Fraction of the largest")
        .x_range(-12.0, 16.0)
        .size(760, 480);
    for &taxel in taxels {
        let points = trace.values[taxel].iter().enumerate().map(|(step, value)| (along_mm(step), value / largest));
        plot = plot.series(Series::line(format!("taxel {taxel}"), points));
    }
    plot.render()
}

/// The fingertip under the edge, coloured by force, as in Fig. 3.
fn image(sensor: &Sensor, bar: &Object) -> Result<Image, ExperimentError> {
    let pose = sensor_from_bar(2e-3);
    let targets = [Target::at_rest(bar, pose)];
    let (touch, _) = sensor.skin().settle(&sensor.skin().rest(), &Motion { targets: &targets })?;
    let reading = sensor.read(&touch);
    let largest = reading.values_newton.iter().copied().fold(0.0, f64::max);
    let skin = sensor.surface();
    let colours: Vec<Rgb> = skin
        .vertices()
        .iter()
        .map(|&vertex| match sensor.taxels().locate(vertex) {
            Some(taxel) => ColourMap::Ember.colour(0.2 + 0.8 * (reading.values_newton[taxel] / largest).max(0.0)),
            None => [90, 96, 106],
        })
        .collect();
    let mut scene = Scene::new().coloured_mesh(skin, &Pose::IDENTITY, &colours);
    let material = Material::new(PALETTE[0]).alpha(0.35).edges(Edges::Creases);
    scene = scene.mesh(bar.surface.mesh(), &pose, material);
    for (center, normal) in sensor.taxels().centers().iter().zip(sensor.taxels().normals()) {
        scene = scene.arrow(*center, *center + *normal * 4e-3, 3e-4, [24, 110, 60]);
    }
    let (from, to) = (sensor_from_bar(-16e-3), sensor_from_bar(16e-3));
    let lowest = |pose: Pose| pose.translation - Vec3::Z * (SIDE_M / 2f64.sqrt());
    scene = scene.arrow(lowest(from), lowest(to), 2.5e-4, [214, 39, 40]);
    let mut shown = skin.bounds().padded(3e-3);
    shown.max.z += 16e-3;
    let view = Camera::framing(shown, -25.0, 12.0);
    Ok(scene.render(&view, 900, 640))
}
