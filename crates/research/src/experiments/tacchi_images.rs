//! Chen et al. 2023: the images of 21 indenters at 9 positions and 11 depths.

use super::{ExperimentError, Findings, Options, Progress, report_progress};
use dermis::draw::{FigurePage, Image};
use dermis::geometry::limits::MAX_IMAGE_BYTES;
use dermis::geometry::quantity::Length;
use dermis::geometry::regular_file;
use dermis::geometry::shapes::indenters;
use dermis::geometry::{Pose, Vec3};
use dermis::record::atomic_file;
use dermis::sensor::optics::{CameraFrame, FloatImage, OpticsError, Relief};
use dermis::sensor::{Sensor, SensorSpec, SkinKind, SkinSpec};
use dermis::skin::threads::parallel;
use dermis::skin::{Motion, Object, Target, Touch};
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Distance between positions (m).
const STEP_M: f64 = 1e-3;
/// Distance between depths (m).
const DEPTH_STEP_M: f64 = 1e-4;
const DEPTHS: usize = 11;
/// Cell size of the layer (m): under three pixels, to resolve the rims of small contacts.
const CELL_M: f64 = 0.08e-3;
/// Allowed error (px) of the rim of a ball at this cell size.
const RIM_PX: f64 = 2.0;
/// Series between two progress reports.
const BATCH: usize = 12;

/// An indenter at a position: all depths, one after the other.
#[derive(Clone, Debug)]
struct PressSeries {
    indenter: usize,
    place: [i32; 2],
    depths: Vec<usize>,
}

/// The evaluation of one image.
struct Shot {
    indenter: usize,
    place: [i32; 2],
    depth: usize,
    small: Image,
    deepest_error_m: f64,
    /// Error of the rim against the contact radius (px), for balls.
    radius_error_px: Option<f64>,
}

/// Allowed errors of an image: at least the cell size of the skin.
struct Allowance {
    deepest_m: f64,
    radius_px: f64,
}

impl Allowance {
    fn of(spec: &SensorSpec, sensor: &Sensor) -> Self {
        if let (SkinSpec::Gel(gel), Some(optics)) = (&spec.skin, sensor.optics()) {
            let cell_m = gel.cell_m(gel.thickness.map_or(0.0, Length::si));
            let radius_px = RIM_PX.max(cell_m / optics.camera().pixel_m);
            return Self { deepest_m: CELL_M.max(cell_m), radius_px };
        }
        Self { deepest_m: CELL_M, radius_px: RIM_PX }
    }
}

pub(super) fn run(options: &Options, progress: Progress<'_>) -> Result<Findings, ExperimentError> {
    let spec = described(options)?;
    let sensor = spec.build(None)?;
    let objects: Vec<Object> = indenters::all()?.into_iter().map(|(_, mesh)| Object::new(mesh)).collect();
    let work = series(options.full);
    let wanted: usize = work.iter().map(|series| series.depths.len()).sum();
    // Each skin has its own folder of images.
    let skin = options.skin.as_deref().unwrap_or("layer");
    let name = if skin == "layer" { "images".to_owned() } else { format!("images-{skin}") };
    let folder = options.out.as_ref().map(|folder| folder.join(name));
    if let Some(folder) = &folder {
        std::fs::create_dir_all(folder).map_err(|error| ExperimentError::folder(folder, &error))?;
    }
    let start = Instant::now();
    let (made, kept) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let mut shots: Vec<Shot> = Vec::new();
    for together in work.chunks(BATCH) {
        let some = together
            .par_iter()
            .map(|series| shoot(&sensor, &objects[series.indenter], series, folder.as_deref(), &made, &kept));
        let some = parallel(|| some.collect::<Result<Vec<Vec<Shot>>, ExperimentError>>())?;
        shots.extend(some.into_iter().flatten());
        report_progress(
            progress,
            0.97 * (made.load(Ordering::Relaxed) + kept.load(Ordering::Relaxed)) as f64 / wanted as f64,
        )?;
    }
    let mut findings = Findings::default();
    let seconds = start.elapsed().as_secs_f64();
    let (made, kept) = (made.into_inner(), kept.into_inner());
    findings.metric("images", (made + kept) as f64);
    findings.metric("images_made", made as f64);
    findings.metric("wall_s", seconds);
    let deepest_error_m = shots.iter().map(|shot| shot.deepest_error_m).fold(0.0, f64::max);
    let radius_error_px = shots.iter().filter_map(|shot| shot.radius_error_px).fold(0.0, f64::max);
    let allowed = Allowance::of(&spec, &sensor);
    findings.metric("deepest_error_mm", 1e3 * deepest_error_m);
    findings.metric("radius_error_px", radius_error_px);
    findings.metric("deepest_error_by_allowance", deepest_error_m / allowed.deepest_m);
    findings.metric("radius_error_by_allowance", radius_error_px / allowed.radius_px);
    findings.metric("least_difference_255", min_difference(&shots));
    findings.note(format!("{made} images made and {kept} found in {seconds:.1} s, skin {skin:?}."));
    findings.files.add_image("indenters.png", &indenter_sheet(&shots));
    let all = indenters::NAMES.len() * 9 * 11;
    findings.partial = (made + kept < all).then(|| format!("{} of {all} images", made + kept));
    if options.full {
        findings.files.add_image("depths.png", &depth_sheet(&shots));
        findings.files.add_image("places.png", &place_sheet(&shots));
    }
    Ok(findings)
}

fn described(options: &Options) -> Result<SensorSpec, ExperimentError> {
    let (mut spec, _) = SensorSpec::find("gelsight")?;
    // A vertical press does not slide, and a frictionless surface takes half the time.
    if let SkinSpec::Layer(layer) = &mut spec.skin {
        layer.mu = 0.0;
        layer.cell = Some(Length::new(CELL_M));
    }
    let Some(skin) = &options.skin else { return Ok(spec) };
    match skin.parse() {
        Ok(kind @ (SkinKind::Layer | SkinKind::Gel | SkinKind::Imprint)) => Ok(spec.with_skin(kind)?),
        _ => {
            let (name, skin) = ("tacchi-images", skin.clone());
            Err(ExperimentError::OtherSkin { name, skin, known: "layer, gel and imprint" })
        }
    }
}

/// The full set, or every indenter at the centre at two depths and a ball at a corner.
fn series(full: bool) -> Vec<PressSeries> {
    let count = indenters::NAMES.len();
    if !full {
        let middle = (0..count).map(|indenter| PressSeries { indenter, place: [0, 0], depths: vec![5, 10] });
        let ball = indenters::NAMES.iter().position(|name| *name == "sphere").unwrap_or_default();
        let corner = PressSeries { indenter: ball, place: [1, -1], depths: vec![0, 10] };
        return middle.chain([corner]).collect();
    }
    let places = (-1..=1).flat_map(|y| (-1..=1).map(move |x| [x, y]));
    let all = (0..count).flat_map(|indenter| places.clone().map(move |place| (indenter, place)));
    all.map(|(indenter, place)| PressSeries { indenter, place, depths: (0..DEPTHS).collect() }).collect()
}

/// The file of an image: by indenter, position (mm) and depth (tenths of a millimetre).
fn file(folder: &Path, series: &PressSeries, depth: usize) -> PathBuf {
    let [x, y] = series.place;
    folder.join(indenters::NAMES[series.indenter]).join(format!("x{x:+}_y{y:+}_d{depth:02}.png"))
}

/// Presses to increasing depths, each from the previous state, and saves missing images. A series with a missing image
/// is solved from its start, so that the result does not depend on where an earlier run stopped.
fn shoot(
    sensor: &Sensor,
    object: &Object,
    series: &PressSeries,
    folder: Option<&Path>,
    made: &AtomicUsize,
    kept: &AtomicUsize,
) -> Result<Vec<Shot>, ExperimentError> {
    let files: Vec<Option<PathBuf>> =
        series.depths.iter().map(|&depth| folder.map(|folder| file(folder, series, depth))).collect();
    if let Some(folder) = files.first().and_then(|file| file.as_deref()).and_then(Path::parent) {
        std::fs::create_dir_all(folder).map_err(|error| ExperimentError::folder(folder, &error))?;
    }
    let all_there = files.iter().all(|file| file.as_ref().is_some_and(|file| file.exists()));
    if all_there {
        kept.fetch_add(files.len(), Ordering::Relaxed);
        let found = series.depths.iter().zip(files.iter().flatten());
        return found
            .filter(|(depth, _)| shown(series.place, **depth))
            .map(|(&depth, file)| kept_shot(series, depth, file))
            .collect();
    }
    let mut shots = Vec::new();
    let mut state = sensor.skin().rest();
    for (&depth, file) in series.depths.iter().zip(&files) {
        let depth_m = depth as f64 * DEPTH_STEP_M;
        let [x, y] = series.place.map(|step| f64::from(step) * STEP_M);
        let pose = Pose::from_translation(Vec3::new(x, y, -depth_m));
        let target = Target::at_rest(object, pose);
        let (touch, next) = sensor.skin().settle(&state, &Motion { targets: &[target] })?;
        state = next;
        let frame = sensor.render(&touch, 0)?;
        let image = frame.image.to_rgb8();
        match file {
            Some(file) if file.exists() => kept.fetch_add(1, Ordering::Relaxed),
            Some(file) => {
                atomic_file::write(file, &image.encode_png_fast())
                    .map_err(|error| ExperimentError::folder(file, &error))?;
                made.fetch_add(1, Ordering::Relaxed)
            }
            None => made.fetch_add(1, Ordering::Relaxed),
        };
        shots.push(judged(sensor, series, depth, &touch, &frame, &image)?);
    }
    Ok(shots)
}

/// Whether an image appears in a figure.
fn shown(place: [i32; 2], depth: usize) -> bool {
    place == [0, 0] || depth == DEPTHS - 1
}

/// An image that an earlier run made and evaluated.
fn kept_shot(series: &PressSeries, depth: usize, file: &Path) -> Result<Shot, ExperimentError> {
    let path = file.display().to_string();
    let bytes = regular_file::read(file, MAX_IMAGE_BYTES).map_err(|error| ExperimentError::folder(file, &error))?;
    let image = FloatImage::from_png(&path, &bytes)?;
    Ok(Shot {
        indenter: series.indenter,
        place: series.place,
        depth,
        small: image.to_rgb8().resize_box(160, 120),
        deepest_error_m: 0.0,
        radius_error_px: None,
    })
}

fn judged(
    sensor: &Sensor,
    series: &PressSeries,
    depth: usize,
    touch: &Touch,
    frame: &CameraFrame,
    image: &Image,
) -> Result<Shot, ExperimentError> {
    let blind = || OpticsError::WithoutCamera { sensor: sensor.name().to_owned() };
    let camera = sensor.optics().ok_or_else(blind)?.camera();
    let deepest_m = -f64::from(frame.relief.z_m.iter().copied().fold(f32::INFINITY, f32::min));
    let name = indenters::NAMES[series.indenter];
    let radius_m = (touch.area_m2() / std::f64::consts::PI).sqrt();
    let radius_error_px = (name.starts_with("sphere") && depth > 0).then(|| {
        let [x, y] = series.place.map(|step| f64::from(step) * STEP_M);
        let middle = camera.project(Vec3::new(x, y, -deepest_m));
        (rim_px(&frame.relief, middle) - radius_m / camera.pixel_m).abs()
    });
    Ok(Shot {
        indenter: series.indenter,
        place: series.place,
        depth,
        small: image.resize_box(160, 120),
        deepest_error_m: (deepest_m - depth as f64 * DEPTH_STEP_M).abs(),
        radius_error_px,
    })
}

/// The radius (px) of the rim around a point: the ring where the mean slope falls fastest. Under a ball the slope grows
/// up to the contact edge and falls like a square root beyond it, so it falls fastest at the edge.
fn rim_px(relief: &Relief, [column, row]: [f64; 2]) -> f64 {
    let mut rings = vec![(0.0f64, 0usize); relief.width];
    for i in 0..relief.z_m.len() {
        let (x, y) = ((i % relief.width) as f64, (i / relief.width) as f64);
        if let Some(entry) = rings.get_mut((x - column).hypot(y - row) as usize) {
            entry.0 += f64::from(relief.slope_right[i].hypot(relief.slope_down[i]));
            entry.1 += 1;
        }
    }
    let mean: Vec<f64> = rings.iter().map(|ring| ring.0 / ring.1.max(1) as f64).collect();
    let steepest = (1..mean.len()).max_by(|&a, &b| mean[a].total_cmp(&mean[b])).unwrap_or(0);
    let fall = |ring: usize| mean[ring] - mean[ring + 1];
    let falls = (steepest..(steepest + 20).min(mean.len() - 1)).max_by(|&a, &b| fall(a).total_cmp(&fall(b)));
    // Rings are one pixel wide; a fall lies between two rings.
    falls.unwrap_or(steepest) as f64 + 1.0
}

fn at(shots: &[Shot], place: [i32; 2], depth: usize) -> impl Iterator<Item = &Shot> {
    shots.iter().filter(move |shot| shot.place == place && shot.depth == depth)
}

/// Root mean square difference (levels) of two images.
fn difference(a: &Image, b: &Image) -> f64 {
    let pairs = a.pixels().as_flattened().iter().zip(b.pixels().as_flattened());
    let squares: f64 = pairs.map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2)).sum();
    (squares / a.pixels().as_flattened().len() as f64).sqrt()
}

/// The smallest difference (levels) between the images of two indenters at 1 mm depth.
fn min_difference(shots: &[Shot]) -> f64 {
    let deep: Vec<&Shot> = at(shots, [0, 0], DEPTHS - 1).collect();
    let mut min = f64::INFINITY;
    for (i, a) in deep.iter().enumerate() {
        for b in &deep[..i] {
            min = min.min(difference(&a.small, &b.small));
        }
    }
    if min.is_finite() { min } else { 0.0 }
}

fn indenter_sheet(shots: &[Shot]) -> Image {
    let sheet = FigurePage::new(7).title("Twenty-one indenters at 1 mm").gap(8);
    at(shots, [0, 0], DEPTHS - 1)
        .fold(sheet, |sheet, shot| sheet.image(shot.small.clone(), indenters::NAMES[shot.indenter]))
        .render()
}

fn depth_sheet(shots: &[Shot]) -> Image {
    let mut sheet = FigurePage::new(DEPTHS).title("From 0 to 1 mm").gap(4);
    for name in ["sphere", "cross_lines", "dots", "pacman", "wave1"] {
        for shot in shots.iter().filter(|shot| indenters::NAMES[shot.indenter] == name && shot.place == [0, 0]) {
            sheet = sheet.image(shot.small.clone(), format!("{:.1} mm", shot.depth as f64 * 0.1));
        }
    }
    sheet.render()
}

fn place_sheet(shots: &[Shot]) -> Image {
    let mut sheet = FigurePage::new(9).title("Nine places, 1 mm apart").gap(4);
    for name in ["hexagon", "moon", "torus"] {
        for shot in shots.iter().filter(|shot| indenters::NAMES[shot.indenter] == name && shot.depth == DEPTHS - 1) {
            sheet = sheet.image(shot.small.clone(), format!("{} mm, {} mm", shot.place[0], shot.place[1]));
        }
    }
    sheet.render()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shots(skin: &str, name: &str, depths: Vec<usize>) -> Vec<Shot> {
        let options = Options { skin: Some(skin.to_owned()), ..Options::default() };
        let mut spec = described(&options).unwrap();
        // A coarse gel, to keep the test short.
        if let SkinSpec::Gel(gel) = &mut spec.skin {
            gel.cell = Some(Length::new(1e-3));
        }
        let indenter = indenters::NAMES.iter().position(|other| *other == name).unwrap();
        let object = Object::new(indenters::all().unwrap().swap_remove(indenter).1);
        let series = PressSeries { indenter, place: [0, 0], depths };
        let (made, kept) = (AtomicUsize::new(0), AtomicUsize::new(0));
        shoot(&spec.build(None).unwrap(), &object, &series, None, &made, &kept).unwrap()
    }

    /// A gel and a layer show the same ball at two depths: they differ by less than half of the change that the ball
    /// makes to the image.
    /// So does the smoothed imprint that the paper compares with.
    #[test]
    fn every_skin_shows_the_same_ball() {
        let layer = shots("layer", "sphere", vec![0, 5, 10]);
        for skin in ["gel", "imprint"] {
            let other = shots(skin, "sphere", vec![5, 10]);
            for (ours, theirs) in layer[1..].iter().zip(&other) {
                let (off, all) = (difference(&ours.small, &theirs.small), difference(&ours.small, &layer[0].small));
                assert!(off < 0.5 * all, "{skin} at {} tenths of a millimetre: {off} of {all}", ours.depth);
            }
        }
    }

    #[test]
    fn a_skin_without_a_surface_is_refused() {
        let options = Options { skin: Some("springs".to_owned()), ..Options::default() };
        assert!(described(&options).unwrap_err().to_string().contains("layer, gel and imprint"));
    }
}
