//! `dermis calibrate optics`: fits the light of an optical sensor to images of a pressed ball.

use crate::console::{commit, refuse_existing, say, say_aside, say_json, short};
use crate::set::SetArguments;
use anyhow::{Context, anyhow, bail};
use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use dermis::draw::{FigurePage, Image};
use dermis::geometry::quantity::Length;
use dermis::geometry::shapes::sphere;
use dermis::output::{ClaimedFolder, Output};
use dermis::sensor::calibration::optics::{
    AROUND, BallPress, Dent, INSIDE, Label, MIN_PRESSES, ScaleFit, align, background_of_presses, ball_reliefs,
    contact_of_depth, doubt_at_rest, find_contact, fit_calibrated, fit_calibrated_by_depth, fit_phong, fit_scale,
    position_degree, rmse_255,
};
use dermis::sensor::optics::{BackgroundSpec, CameraSpec, FloatImage, Light, LightResidual, LightSpec};
use dermis::sensor::{Sensor, SensorSpec, SkinKind};
use dermis::skin::{Layer, Object};
use dermis_research::ball_presses::{BallPresses, LabelledPress};
use serde_json::json;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct Arguments {
    /// The image without contact, a PNG or JPEG file.
    #[arg(long, value_name = "FILE.png")]
    background: PathBuf,
    /// CSV table of presses: file, center_x_px, center_y_px, contact_radius_px (without these three, the contacts are found in the images) and,
    /// if known, x_mm, y_mm and depth_mm (travel of the ball past first contact, such as the robot's z; otherwise the depth at which the
    /// surface is steepest at the contact radius). Image files are relative to it.
    #[arg(long, value_name = "FILE.csv")]
    presses: PathBuf,
    /// Diameter of the ball, such as 4mm.
    #[arg(long)]
    ball: Length,
    /// The pressed sensor.
    #[arg(long, value_name = "NAME|FILE", default_value = "gelsight")]
    sensor: String,
    #[command(flatten)]
    set: SetArguments,
    /// Computes the surface of the gel with another skin: `gel` where the ball goes deep, which takes seconds for each press.
    #[arg(long, value_parser = PossibleValuesParser::new(["layer", "gel", "imprint"]).try_map(|name| name.parse::<SkinKind>()))]
    skin: Option<SkinKind>,
    /// Pixel size on the gel, such as 0.03mm; by default from x_mm and y_mm of the presses.
    #[arg(long)]
    pixel: Option<Length>,
    /// Find position and depth of the ball from the images, if the labels are inaccurate; their radii then only limit the search. The
    /// indenter is modelled as a pin with a hemispherical end.
    #[arg(long)]
    align: bool,
    /// The light model.
    #[arg(long, value_enum, default_value = "polynomial")]
    light: Kind,
    /// Write the calibrated sensor to this file, with its background and a figure of the fit in the same folder.
    #[arg(long, value_name = "FILE.toml")]
    out: Option<PathBuf>,
    /// Replace files of these names.
    #[arg(long)]
    overwrite: bool,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Colour as a polynomial of slope and position, with cast shadows, bounded by the images.
    Polynomial,
    /// The same, and of the depth if this predicts the presses better. Not supported on GPU.
    Depth,
    /// Two lamps of each colour.
    Phong,
}

/// Minimum number of presses of which every other one is enough for a fit.
const MIN_LISTED: usize = 2 * MIN_PRESSES - 1;

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let (folder, name) = output_place(arguments)?;
    let [sensor_file, background_file, figure_file, report_file] =
        [".toml", "-background.png", "-fit.png", "-fit.json"].map(|end| format!("{name}{end}"));
    let _claimed = arguments.out.as_deref().map(ClaimedFolder::of_file).transpose()?;
    if let Some(folder) = &folder {
        let files = [&sensor_file, &background_file, &figure_file, &report_file].map(|name| folder.join(name));
        refuse_existing(files, arguments.overwrite)?;
    }
    let data = BallPresses::read(&arguments.background, &arguments.presses)?;
    let radius_m = 0.5 * arguments.ball.si();
    if radius_m.is_nan() || radius_m <= 0.0 {
        bail!("`--ball` must be a positive diameter, got {} mm", arguments.ball.si() * 1e3);
    }
    let (mut base, folder_of_base) = SensorSpec::find(&arguments.sensor)?;
    if let Some(folder) = folder_of_base {
        base = base.with_files_in(folder);
    }
    let base = arguments.set.of_sensor(&base)?;
    let mut warnings = Warnings::default();
    let scale = scale(arguments, &data, &mut warnings)?;
    let camera = camera(&base, &data.background, &scale);
    let bare = SensorSpec { camera: Some(camera), light: None, markers: None, ..base };
    let pressed_as = arguments.skin.map_or_else(|| Ok(bare.clone()), |kind| bare.with_skin(kind))?;
    let sensor = pressed_as.build(None)?;
    warn_of_another_ball(&sensor, arguments.ball.si(), &data, &mut warnings)?;
    if data.presses.len() < MIN_LISTED {
        bail!(
            "{}: has {} presses, but a light needs at least {MIN_LISTED}: it is fitted to every other press and evaluated on the rest, before all are used",
            arguments.presses.display(),
            data.presses.len()
        );
    }
    // `--align` finds depths in the images.
    let has_depths = arguments.align || data.presses.iter().all(|press| press.depth_m.is_some());
    let presses = if arguments.align {
        aligned(&sensor, radius_m, data.presses, &data.background)?
    } else {
        labelled(arguments, &sensor, radius_m, data.presses, scale.pixel_m)?
    };
    warn_of_depth(&sensor, &presses, has_depths, &mut warnings);
    let background = &data.background;
    let all: Vec<&BallPress> = presses.iter().collect();
    if let Some(doubt) = doubt_at_rest(background, &all) {
        warnings.add(doubt);
    }
    let trial = judge(arguments, background, &presses, scale.pixel_m, &mut warnings)?;
    let table = || arguments.presses.display().to_string();
    let background = &background_of_presses(background, &all).with_context(table)?;
    let kept_as = BackgroundSpec::File(PathBuf::from(&background_file));
    let light = fit(arguments, background, &all, kept_as)?.with_residual(trial.residual);
    let form = Form::of(&light);
    let mut report =
        json!({ "presses": presses.len(), "scale": scale, "held_out": trial.report, "warnings": warnings.0 });
    if let Some(form) = &form {
        report["light"] = json!(form);
        report["held_out"]["light"] = json!(trial.form);
    }
    tell(arguments, &presses, &scale, form.as_ref(), &trial, &report)?;
    let Some(folder) = folder else { return Ok(()) };
    let description = format!("{}, its light fitted to {} presses of a ball", bare.name, presses.len());
    let spec = SensorSpec { name, description, light: Some(light), ..bare };
    let mut output = Output::new();
    output.add(sensor_file, spec.to_toml());
    output.add(background_file, background.to_rgb8().encode_png());
    output.add_image(figure_file, &trial.figure);
    output.add(report_file, serde_json::to_string_pretty(&report)? + "\n");
    commit(output, &folder, arguments.json)
}

/// What is doubtful about the calibration: on stderr at once, and in the report.
#[derive(Default)]
struct Warnings(Vec<String>);

impl Warnings {
    fn add(&mut self, text: String) {
        say_aside(format!("warning: {text}"));
        self.0.push(text);
    }
}

/// What cross-validation chose of a polynomial light.
#[derive(PartialEq, serde::Serialize)]
struct Form {
    degree: usize,
    position_degree: usize,
    proportional: bool,
    shadow_replaces: bool,
    by_depth: bool,
}

impl Form {
    fn of(light: &LightSpec) -> Option<Self> {
        let LightSpec::Calibrated(light) = light else { return None };
        Some(Self {
            degree: light.degree,
            position_degree: light.position_degree,
            proportional: light.proportional,
            shadow_replaces: light.shadow.as_ref().is_some_and(|shadow| shadow.replaces),
            by_depth: light.depth.is_some(),
        })
    }
}

impl std::fmt::Display for Form {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "degree {} of the slope, {} of the position", self.degree, self.position_degree)?;
        f.write_str(if self.proportional { ", proportional to the image without contact" } else { "" })?;
        f.write_str(if self.by_depth { ", dependent on the depth" } else { ", independent of the depth" })?;
        f.write_str(match self.shadow_replaces {
            true => "; shadows take the light of their lamp away",
            false => "; shadows add to the light",
        })
    }
}

/// Depth by thickness up to which the linear theory of a layer is accurate.
const MAX_STRAIN: f64 = 0.2;

/// Presses with the simulated surface of a ball with the labelled contact.
fn labelled(
    arguments: &Arguments,
    sensor: &Sensor,
    radius_m: f64,
    data: Vec<LabelledPress>,
    pixel_m: f64,
) -> anyhow::Result<Vec<BallPress>> {
    let labels: Vec<(Label, Option<f64>)> = data.iter().map(|press| (press.label, press.depth_m)).collect();
    let widest = labels.iter().map(|(label, _)| label.radius).fold(0.0, f64::max) * pixel_m;
    if widest >= radius_m {
        bail!(
            "{}: a contact of radius {} mm is larger than a ball of radius {} mm: check --ball and --pixel",
            arguments.presses.display(),
            short(widest * 1e3),
            short(radius_m * 1e3)
        );
    }
    let ball = Object::new(sphere(radius_m, radius_m / 50.0)?);
    let reliefs = ball_reliefs(sensor, &ball, radius_m, &labels)?;
    if reliefs.len() != labels.len() {
        return Err(blind(sensor));
    }
    let pairs = data.into_iter().zip(reliefs);
    Ok(pairs
        .map(|(press, pressed)| BallPress { image: press.image, relief: pressed.relief, label: press.label })
        .collect())
}

/// Warns of presses that are too deep for the theory of a layer. `has_depths`: the table could not say more about them.
fn warn_of_depth(sensor: &Sensor, presses: &[BallPress], has_depths: bool, warnings: &mut Warnings) {
    let Some(thickness_m) = sensor.skin_as::<Layer>().map(Layer::thickness_m) else { return };
    let depth_m = |press: &BallPress| -f64::from(press.relief.z_m.iter().copied().fold(0.0, f32::min));
    let depths_m = presses.iter().map(depth_m);
    let (deep, deepest_m) = depths_m
        .filter(|depth_m| *depth_m > MAX_STRAIN * thickness_m)
        .fold((0, 0.0f64), |(count, deepest_m), depth_m| (count + 1, deepest_m.max(depth_m)));
    if deep > 0 {
        let remedy = if has_depths { "try --skin gel" } else { "give depth_mm in the table, or --skin gel" };
        warnings.add(format!(
            "{deep} of {} presses go up to {} mm deep into a layer that is {} mm thick; its linear theory is inaccurate above a fifth: {remedy}",
            presses.len(),
            short(deepest_m * 1e3),
            short(thickness_m * 1e3)
        ));
    }
}

/// Ratio between the contacts in the images and those of the given ball beyond which a warning is given.
const MAX_RATIO: f64 = 1.25;

/// Warns if the contacts in the images are too wide or too narrow for the ball at the depths of the table.
fn warn_of_another_ball(
    sensor: &Sensor,
    ball_m: f64,
    data: &BallPresses,
    warnings: &mut Warnings,
) -> anyhow::Result<()> {
    if data.presses.iter().all(|press| press.depth_m.is_none()) {
        return Ok(());
    }
    let dents = Dent::of_ball(sensor, 0.5 * ball_m)?;
    let Some(deepest) = dents.last() else { return Ok(()) };
    let ratio = |press: &LabelledPress| {
        let depth_m = press.depth_m.filter(|depth_m| *depth_m <= deepest.depth_m)?;
        let seen = find_contact(&data.background, &press.image, Some(press.label))?;
        Some(seen.radius / contact_of_depth(&dents, depth_m))
    };
    let mut ratios: Vec<f64> = data.presses.iter().filter_map(ratio).filter(|ratio| ratio.is_finite()).collect();
    ratios.sort_by(f64::total_cmp);
    let Some(&median) = ratios.get(ratios.len() / 2) else { return Ok(()) };
    if !(1.0 / MAX_RATIO..MAX_RATIO).contains(&median) {
        // At a given depth, the radius of the contact grows with the root of the diameter.
        warnings.add(format!(
            "the contacts in the images are {} times as wide as those of a ball of {} mm at the depths of the table; a ball of about {} mm would fit: check --ball, --pixel and depth_mm",
            short(median),
            short(ball_m * 1e3),
            short(ball_m * 1e3 * median * median)
        ));
    }
    Ok(())
}

/// Presses with the simulated surface of a pin, aligned to the images.
fn aligned(
    sensor: &Sensor,
    radius_m: f64,
    data: Vec<LabelledPress>,
    background: &FloatImage,
) -> anyhow::Result<Vec<BallPress>> {
    let dents = Dent::of_ball(sensor, radius_m)?;
    let camera = sensor.optics().map(|optics| optics.camera().clone());
    let (Some(camera), Some(dent)) = (camera, dents.first()) else { return Err(blind(sensor)) };
    let mut presses: Vec<BallPress> = data
        .into_iter()
        .map(|LabelledPress { image, label, .. }| BallPress {
            relief: dent.relief(&camera, [label.column, label.row]),
            image,
            label,
        })
        .collect();
    let even: Vec<usize> = (0..presses.len()).step_by(2).collect();
    align(background, &mut presses, &camera, &dents, &even)?;
    Ok(presses)
}

fn blind(sensor: &Sensor) -> anyhow::Error {
    anyhow!(
        "the skin of sensor {:?} has no deformed surface: use a sensor with a `layer`, `gel` or `imprint`",
        sensor.name()
    )
}

/// Folder and stem of the output file.
fn output_place(arguments: &Arguments) -> anyhow::Result<(Option<PathBuf>, String)> {
    let Some(out) = &arguments.out else { return Ok((None, "sensor".into())) };
    let stem = out.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    match stem {
        Some(stem) if out.extension().is_some_and(|end| end == "toml") => {
            let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty());
            Ok((Some(folder.unwrap_or(Path::new(".")).to_owned()), stem))
        }
        _ => bail!("`--out` must name a .toml file, got {}", out.display()),
    }
}

/// Relative difference between two pixel sizes beyond which a warning is given.
const MAX_PIXEL_ERROR: f64 = 0.03;

fn scale(arguments: &Arguments, data: &BallPresses, warnings: &mut Warnings) -> anyhow::Result<ScaleFit> {
    let middle = [0.5 * (data.background.width as f64 - 1.0), 0.5 * (data.background.height as f64 - 1.0)];
    let places: Option<Vec<[f64; 2]>> = data.presses.iter().map(|press| press.place_m).collect();
    let middles: Vec<[f64; 2]> = data.presses.iter().map(|press| [press.label.column, press.label.row]).collect();
    let from_places = places.map(|places| fit_scale(&places, &middles));
    if let Some(pixel) = arguments.pixel {
        if pixel.si().is_nan() || pixel.si() <= 0.0 {
            bail!("`--pixel` must be a positive length, got {} mm", pixel.si() * 1e3);
        }
        if let Some(Ok(ScaleFit { pixel_m, .. })) = from_places
            && (pixel_m / pixel.si() - 1.0).abs() > MAX_PIXEL_ERROR
        {
            warnings.add(format!(
                "`--pixel` is {} mm, but x_mm and y_mm of {} give {} mm; `--pixel` is used: omit it to use the table",
                short(pixel.si() * 1e3),
                arguments.presses.display(),
                short(pixel_m * 1e3)
            ));
        }
        return Ok(ScaleFit { pixel_m: pixel.si(), mirror: false, rotation_deg: 0.0, origin_px: middle, rms_px: 0.0 });
    }
    let Some(fit) = from_places else {
        bail!(
            "{}: has no columns x_mm and y_mm to determine the pixel size: add them or give --pixel",
            arguments.presses.display()
        );
    };
    fit.with_context(|| arguments.presses.display().to_string())
}

fn camera(base: &SensorSpec, background: &FloatImage, scale: &ScaleFit) -> CameraSpec {
    let ScaleFit { pixel_m, mirror, origin_px, .. } = *scale;
    let sign = if mirror { -1.0 } else { 1.0 };
    let off = [
        sign * (0.5 * (background.width as f64 - 1.0) - origin_px[0]) * pixel_m,
        (origin_px[1] - 0.5 * (background.height as f64 - 1.0)) * pixel_m,
    ];
    CameraSpec {
        distance: base.camera.as_ref().and_then(|camera| camera.distance),
        center: off.map(Length::new),
        mirror,
        smoothing: base.camera.as_ref().and_then(|camera| camera.smoothing),
        noise: base.camera.as_ref().and_then(|camera| camera.noise),
        ..CameraSpec::plain(background.width, background.height, pixel_m)
    }
}

fn fit(
    arguments: &Arguments,
    background: &FloatImage,
    presses: &[&BallPress],
    kept_as: BackgroundSpec,
) -> anyhow::Result<LightSpec> {
    let fitted = match arguments.light {
        Kind::Polynomial | Kind::Depth => {
            let by_depth = arguments.light == Kind::Depth;
            let fit = if by_depth { fit_calibrated_by_depth } else { fit_calibrated };
            let fit = fit(background, presses, kept_as, position_degree(presses));
            fit.map(|fit| LightSpec::Calibrated(fit.spec))
        }
        Kind::Phong => fit_phong(background, presses, kept_as).map(LightSpec::Phong),
    };
    fitted.with_context(|| arguments.presses.display().to_string())
}

/// Evaluates a fit to every other press on the remaining presses.
struct Trial {
    form: Option<Form>,
    residual: LightResidual,
    report: serde_json::Value,
    lines: Vec<String>,
    figure: Image,
}

fn judge(
    arguments: &Arguments,
    background: &FloatImage,
    presses: &[BallPress],
    pixel_m: f64,
    warnings: &mut Warnings,
) -> anyhow::Result<Trial> {
    let even: Vec<&BallPress> = presses.iter().step_by(2).collect();
    let odd: Vec<&BallPress> = presses.iter().skip(1).step_by(2).collect();
    let without_contact =
        background_of_presses(background, &even).with_context(|| arguments.presses.display().to_string())?;
    let light = fit(arguments, &without_contact, &even, BackgroundSpec::Colour([0.0; 3]))?;
    let form = Form::of(&light);
    let light = light.build(background.width, background.height, pixel_m, None)?.on_background(without_contact);
    let shade = |press: &BallPress| light.shade(&press.relief, || None);
    let (mut report, mut lines, mut levels) = (serde_json::Map::new(), Vec::new(), Vec::new());
    for (key, what, region) in
        [("inside", "in contact (to 0.9 radii)", INSIDE), ("around", "around (1 to 2 radii)", AROUND)]
    {
        let ours = rmse_255(odd.iter().copied(), region, shade);
        let alone = rmse_255(odd.iter().copied(), region, |_| background.clone());
        if ours >= alone {
            warnings.add(format!(
                "{what}, the fitted light is no better than the background alone ({} against {} of 255): check the labels, --ball and --pixel",
                short(ours),
                short(alone)
            ));
        }
        levels.push((ours * 1e3).round() / 1e3);
        report.insert(key.into(), json!({ "rmse_255": ours, "null_rmse_255": alone }));
        lines.push(format!("{what:<27} {} of 255 (background alone: {})", short(ours), short(alone)));
    }
    let residual = LightResidual { inside: levels[0], around: levels[1] };
    Ok(Trial { form, residual, report: report.into(), lines, figure: figure(&odd, &light) })
}

fn figure(odd: &[&BallPress], light: &Light) -> Image {
    const SHOWN: usize = 4;
    let mut sheet = FigurePage::new(2).title("Presses outside the fit").gap(10);
    for press in odd.iter().step_by((odd.len() / SHOWN).max(1)).take(SHOWN) {
        let ours = light.shade(&press.relief, || None);
        let off = rmse_255([*press], INSIDE, |_| ours.clone());
        let small = |image: &FloatImage| image.to_rgb8().resize_box(360, 360 * image.height / image.width.max(1));
        sheet = sheet
            .image(small(&press.image), "measured")
            .image(small(&ours), format!("simulated: RMSE {} of 255 in contact", short(off)));
    }
    sheet.render()
}

fn tell(
    arguments: &Arguments,
    presses: &[BallPress],
    scale: &ScaleFit,
    form: Option<&Form>,
    trial: &Trial,
    report: &serde_json::Value,
) -> anyhow::Result<()> {
    if arguments.json {
        return say_json(report);
    }
    say(format!("light from {} presses of a ball of {} mm", presses.len(), short(arguments.ball.si() * 1e3)));
    say(format!("  pixel size                  {} mm", short(scale.pixel_m * 1e3)));
    if arguments.pixel.is_none() {
        // Rounded, because an upright camera has a rotation of rounding errors.
        let (rms_px, rotation) = (short(scale.rms_px), short((scale.rotation_deg * 1e3).round() / 1e3));
        let mirrored = if scale.mirror { ", +x to the left of the image" } else { "" };
        say(format!(
            "  positions                   within {rms_px} pixels rms of the images; camera rotated by {rotation}°{mirrored}"
        ));
    }
    if let Some(form) = form {
        say(format!("  chosen by cross-validation  {form}"));
    }
    trial.lines.iter().for_each(|line| say(format!("  {line}")));
    say("  (fitted to every other press, evaluated on the rest; the written sensor is fitted to all)");
    if let Some(of_trial) = trial.form.as_ref().filter(|of_trial| form != Some(of_trial)) {
        say(format!("  (to every other press in another form: {of_trial})"));
    }
    Ok(())
}
