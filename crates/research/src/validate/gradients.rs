//! Gradients of presses against central differences with Richardson extrapolation.
//!
//! Each press is random, and so is the scalar: a weighted sum of everything that the sensor reads. A press is excluded if a
//! contact point, a cell or a face of the object begins or ceases to touch between the points of the differences, because
//! the derivative is then one-sided. The polygons of a hydroelastic skin begin and cease to touch without a kink, and cells with
//! friction begin and cease to slip in any of the increments of a press: there the agreement of the extrapolations decides.
//! Images have single precision, so that their differences need larger steps than contact allows: they are compared along smooth
//! vertical displacements of the surface, and along the displacement that a motion of the object causes, which is found by
//! differences in double precision. A pixel has no part in the scalar if its shadow is cast by other points of the surface at some
//! point of the differences ([`dermis::sensor::optics::Optics::shadow_casters`]), or if its differences have another kink; the
//! share of such pixels is reported. An indentation that grows in proportion ("depth") changes no such point of a calibrated light.
//! "springs in time" are paths of several steps, whose scalar is a weighted sum of the readings of all steps.

mod comparison;
mod differences;
mod images;
mod paths;
mod sensors;

use super::ValidateError;
use comparison::compare;
use dermis::geometry::{Pose, Primitive, Random, Vec3, Wrench, shapes};
use dermis::sensor::{Aim, Cotangents, Goal, GradientError, Gradients, Pressed, Reading, Sensor, press, press_to_pose};
use dermis::skin::{Hydroelastic, Layer, Object, Touch};
use sensors::{
    CALIBRATED, CAMERA, CAST_SHADOWS, DOME, GEL, HYDROELASTIC, IMAGE, LAYER, MAGNETS, PERSPECTIVE, PHONG, SPRINGS,
    TIGHT, TIGHT_GEL, layer_with_friction, phong_with_shadows, sensor_of,
};
use serde::Serialize;
use std::time::{Duration, Instant};

/// The comparison of one parameter on one sensor.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GradientErrors {
    /// Name of the sensor and its object.
    pub case: String,
    /// Name of the parameter.
    pub parameter: String,
    /// Number of compared presses.
    pub presses: usize,
    /// Number of presses that were excluded because the contact changes.
    pub excluded: usize,
    /// Share of the pixels of images that have no part, because the differences have a kink there.
    pub kinked: f64,
    /// Largest error, relative to the derivative, or to a tenth of the sum of the sizes of its terms where that is larger.
    pub worst_rel: f64,
    /// Largest allowed error.
    pub tolerance: f64,
}

/// Time of a vector–Jacobian product by that of its press, or of the steps of its path.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GradientCost {
    /// Name of the sensor and its object.
    pub case: String,
    /// Time (µs) of a press at a pose, or of the steps of a path.
    pub press_us: f64,
    /// Time (µs) of a vector–Jacobian product.
    pub vjp_us: f64,
    /// Their ratio.
    pub ratio: f64,
    /// Largest allowed ratio.
    pub max_ratio: f64,
}

/// The comparison of all parameters, and the cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GradientReport {
    /// All comparisons.
    pub errors: Vec<GradientErrors>,
    /// Cost on each skin.
    pub costs: Vec<GradientCost>,
}

impl GradientReport {
    /// Comparisons beyond their tolerance, or with fewer than half of the presses.
    pub fn failures(&self) -> impl Iterator<Item = &GradientErrors> {
        let few = |errors: &GradientErrors| 2 * errors.presses < errors.presses + errors.excluded;
        self.errors.iter().filter(move |errors| errors.is_wrong() || few(errors))
    }
}

impl GradientErrors {
    /// True beyond the tolerance.
    pub fn is_wrong(&self) -> bool {
        self.worst_rel.is_nan() || self.worst_rel > self.tolerance
    }
}

/// A parameter of a description: the name of its gradient, the index of the entry, its placeholder and the first step of the
/// differences, relative to its value.
type Key = (&'static str, usize, &'static str, f64);

/// A sensor with an object.
struct Setup {
    name: String,
    text: String,
    /// Builds the object with its sizes.
    shape: Shape,
    keys: Vec<Key>,
    /// Sizes that are left out, because the mesh of the object has other diagonals after a change.
    remeshed: &'static [&'static str],
    /// First step of the differences of positions (m); angles and relative sizes use the same step by 4 mm.
    step_m: f64,
    /// First step of a rotation about z by that of other rotations.
    z_rotation: f64,
    /// Tolerance of a layer or residual of a gel, so small that differences are smooth.
    solved_to: f64,
    tolerance: f64,
    /// True if the scalar is that of the image.
    image: bool,
    max_ratio: f64,
}

/// The shape of an object.
#[derive(Clone, Copy)]
enum Shape {
    Of(Primitive),
    /// A mesh of a ball (radius m, edge m).
    Mesh(f64, f64),
}

/// A shape with one of its sizes changed to a value (m).
type Resized = Box<dyn Fn(f64) -> Shape>;

impl Shape {
    fn object(self, scale: f64) -> Result<Object, ValidateError> {
        // The mesh of a primitive is only for drawing.
        let edge_m = |primitive: &Primitive| 20.0 * primitive.default_edge_m();
        Ok(match self {
            Self::Of(primitive) => Object::of_primitive(primitive.scaled(scale), edge_m(&primitive))?,
            Self::Mesh(radius_m, edge_m) => Object::new(shapes::sphere(radius_m, edge_m)?).scaled(scale)?,
        })
    }

    /// Names, entries and values of the sizes, and the shape with another value of one.
    fn sizes(self) -> Vec<(&'static str, usize, f64, Resized)> {
        let Self::Of(primitive) = self else { return Vec::new() };
        let mut found = Vec::<(&'static str, usize, f64, Resized)>::new();
        for (name, values) in primitive.sizes() {
            for (entry, &value) in values.iter().enumerate() {
                let values = values.clone();
                let resized = move |value: f64| {
                    let mut values = values.clone();
                    values[entry] = value;
                    primitive.with_size(name, &values).map_or(self, Self::Of)
                };
                found.push((name, entry, value, Box::new(resized)));
            }
        }
        found
    }
}

fn setups() -> Vec<Setup> {
    let shapes = [
        ("sphere", Shape::Of(Primitive::Sphere { radius_m: 5e-3 })),
        ("ellipsoid", Shape::Of(Primitive::Ellipsoid { semi_axes_m: Vec3::new(7e-3, 5e-3, 4e-3) })),
        ("cylinder", Shape::Of(Primitive::Cylinder { radius_m: 4e-3, half_length_m: 5e-3 })),
        ("capsule", Shape::Of(Primitive::Capsule { radius_m: 4e-3, half_length_m: 3e-3 })),
        ("cuboid", Shape::Of(Primitive::Cuboid { half_m: Vec3::new(4e-3, 3e-3, 5e-3) })),
        ("mesh", Shape::Mesh(5e-3, 2e-3)),
    ];
    let springs = shapes.iter().map(|(name, shape)| Setup {
        name: format!("springs, {name}"),
        text: SPRINGS.to_owned(),
        shape: *shape,
        keys: vec![("stiffness", 0, "STIFFNESS", 1e-3), ("gain", 0, "GAIN", 1e-3), ("sigma_taxels", 0, "SIGMA", 1e-3)],
        remeshed: &[],
        step_m: 4e-7,
        z_rotation: 1.0,
        solved_to: TIGHT,
        tolerance: 1e-6,
        image: false,
        max_ratio: 3.0,
    });
    let on_hydroelastic = |body: &str, text: &str, name: &str, shape: Shape| Setup {
        name: format!("hydroelastic {body}, {name}"),
        text: text.to_owned(),
        shape,
        keys: vec![("hydroelastic_modulus", 0, "MODULUS", 1e-3)],
        remeshed: if name == "capsule" { &["scale", "radius"] } else { &[] },
        step_m: 1e-7,
        z_rotation: 1.0,
        solved_to: TIGHT,
        tolerance: 1e-6,
        image: false,
        max_ratio: 4.0,
    };
    let pads = shapes.iter().map(|(name, shape)| on_hydroelastic("pad", HYDROELASTIC, name, *shape));
    let domes = ["cuboid", "mesh"];
    let domes = shapes.iter().filter(|(name, _)| domes.contains(name));
    let domes = domes.map(|(name, shape)| on_hydroelastic("dome", DOME, name, *shape));
    let hydroelastic: Vec<Setup> = pads.chain(domes).collect();
    let seen = format!("{LAYER}{CAMERA}");
    let layers = shapes.iter().filter(|(name, _)| !["cuboid", "cylinder"].contains(name)).map(|(name, shape)| Setup {
        name: format!("layer, {name}"),
        text: seen.clone(),
        shape: *shape,
        keys: vec![("young", 0, "YOUNG", 1e-4), ("poisson", 0, "POISSON", 1e-4), ("thickness", 0, "THICKNESS", 1e-4)],
        remeshed: &[],
        step_m: 1e-7,
        z_rotation: 1.0,
        solved_to: TIGHT,
        tolerance: 1e-6,
        image: false,
        max_ratio: 1.5,
    });
    let with_friction = shapes.iter().filter(|(name, _)| ["sphere", "ellipsoid"].contains(name));
    let with_friction = with_friction.map(|(name, shape)| Setup {
        name: format!("layer with friction, {name}"),
        text: format!("{}{CAMERA}", layer_with_friction()),
        shape: *shape,
        // Without a change of sets under any step of Young's modulus, to which all tractions are proportional.
        keys: vec![
            ("young", 0, "YOUNG", 1e-3),
            ("poisson", 0, "POISSON", 4e-5),
            ("thickness", 0, "THICKNESS", 4e-5),
            ("mu", 0, "FRICTION", 4e-3),
        ],
        remeshed: &[],
        step_m: 2e-8,
        // It changes the depths of an ellipsoid by less, so that its differences have fewer digits.
        z_rotation: 10.0,
        solved_to: 3e-13,
        tolerance: 1e-4,
        image: false,
        max_ratio: 1.5,
    });
    let magnetic = [
        ("magnets in a layer", LAYER.to_owned(), 1e-7, TIGHT, 1e-6),
        ("magnets in a layer with friction", layer_with_friction(), 2e-8, 3e-13, 1e-4),
    ];
    let magnetic = magnetic.map(|(name, layer, step_m, solved_to, tolerance)| Setup {
        name: format!("{name}, ellipsoid"),
        text: format!("{layer}{MAGNETS}"),
        shape: shapes[1].1,
        keys: vec![("young", 0, "YOUNG", 1e-3), ("remanence", 0, "REMANENCE", 1e-3)],
        remeshed: &[],
        step_m,
        z_rotation: 10.0,
        solved_to,
        tolerance,
        image: false,
        max_ratio: 1.5,
    });
    let gels = shapes.iter().filter(|(name, _)| !["cylinder", "capsule"].contains(name)).map(|(name, shape)| Setup {
        name: format!("gel, {name}"),
        text: format!("{GEL}{CAMERA}"),
        shape: *shape,
        keys: vec![("young", 0, "YOUNG", 1e-3), ("poisson", 0, "POISSON", 1e-4)],
        remeshed: &[],
        step_m: 1e-7,
        z_rotation: 1.0,
        solved_to: TIGHT_GEL,
        tolerance: 1e-4,
        image: false,
        max_ratio: 1.5,
    });
    let proportional = CALIBRATED.replace("\nposition_degree", "\nproportional = true\nposition_degree");
    let [phong_shadows, cast_shadows] = [phong_with_shadows(), format!("{proportional}{CAST_SHADOWS}")];
    let replacing = format!("smoothing = \"0.2 mm\"\n{CALIBRATED}{CAST_SHADOWS}replaces = true\n");
    let [phong, calibrated] = [PHONG, CALIBRATED].map(str::to_owned);
    let [far_phong, far_calibrated] = [PHONG, CALIBRATED].map(|text| format!("{PERSPECTIVE}{text}"));
    let diffuse = ("diffuse", 0, "DIFFUSE", 0.5);
    let lit = vec![("azimuth", 0, "AZIMUTH", 0.2), diffuse];
    let levels = vec![("levels", 0, "LEVEL", 0.5)];
    let gel_views = [
        ("gel image, phong", phong.clone(), lit.clone()),
        ("gel image, calibrated", calibrated.clone(), levels.clone()),
    ];
    let views = [
        ("image, phong", phong, lit.clone()),
        ("image, calibrated", calibrated, levels.clone()),
        ("perspective image, phong", far_phong, lit),
        ("perspective image, calibrated", far_calibrated, levels.clone()),
        ("shadows, phong", phong_shadows, vec![diffuse]),
        ("shadows, calibrated, proportional", cast_shadows, levels.clone()),
        ("replacing shadows, smooth", replacing, levels),
    ];
    let on_gel = gel_views.into_iter().map(|view| (GEL, TIGHT_GEL, view));
    let cameras = views.into_iter().map(|view| (LAYER, TIGHT, view)).chain(on_gel);
    let cameras = cameras.map(|(skin, solved_to, (view, text, keys))| Setup {
        name: format!("{view}, sphere"),
        text: format!("{skin}{IMAGE}{text}"),
        shape: shapes[0].1,
        keys,
        remeshed: &[],
        step_m: 1e-5,
        z_rotation: 1.0,
        solved_to,
        tolerance: 1e-4,
        image: true,
        max_ratio: f64::INFINITY,
    });
    springs.chain(hydroelastic).chain(layers).chain(with_friction).chain(magnetic).chain(gels).chain(cameras).collect()
}

/// Compares the gradients of `presses` random presses of the sensors and objects whose name is wanted. `progress` is called with the
/// name of each.
pub fn run(
    presses: usize,
    is_wanted: impl Fn(&str) -> bool,
    progress: &dyn Fn(&str),
) -> Result<GradientReport, ValidateError> {
    let mut report = GradientReport { errors: Vec::new(), costs: Vec::new() };
    for setup in setups().into_iter().filter(|setup| is_wanted(&setup.name)) {
        progress(&setup.name);
        let (errors, cost) = compare(&setup, presses)?;
        report.errors.extend(errors);
        report.costs.extend(cost);
    }
    for setup in paths::setups().into_iter().filter(|setup| is_wanted(&setup.name)) {
        progress(&setup.name);
        let (errors, cost) = setup.compare(presses)?;
        report.errors.extend(errors);
        report.costs.push(cost);
    }
    Ok(report)
}

/// One random press with random weights.
struct Trial {
    pose: Pose,
    weights: Cotangents,
    gradients: Gradients,
    /// Contact at the pose itself.
    contact: Vec<Touched>,
}

/// A contact point or cell with the face of the object there.
type Touched = ([i64; 3], [i64; 3]);

/// Everything that a sensor reads, each with its weight.
struct Terms {
    values: Vec<f64>,
    contact: Vec<Touched>,
}

impl Setup {
    fn trial(&self, sensor: &Sensor, object: &Object, random: &mut Random) -> Result<Option<Trial>, ValidateError> {
        let mut any = |size: f64| random.between(-size, size);
        // Tilted by less than the slopes at which springs limit their force.
        let aim = Aim { at_m: [any(2e-3), any(2e-3)], tilt_rad: [any(0.3), any(0.3)], yaw_rad: any(3.0) };
        let depth_m = 0.12 * sensor.skin().max_depth_m() * (2.0 + any(1.0));
        let Ok(pressed) = press(sensor, object, &aim, Goal::Depth(depth_m)) else { return Ok(None) };
        let weights = if self.image {
            let camera = sensor.optics().map(|optics| (optics.camera().width, optics.camera().height));
            let (width, height) = camera.unwrap_or_default();
            // Waves of some pixels, so that the rounding of single pixels averages out.
            let waves: [[f64; 3]; 3] = std::array::from_fn(|_| std::array::from_fn(|_| any(0.15)));
            let relief = sensor.render(&pressed.touch, 0).map_err(bad_press)?.relief;
            // A calibrated light leaves out the change of flat parts, which jumps where they become steeper.
            let steep = |i: usize| relief.slope_right[i].hypot(relief.slope_down[i]) > 0.02;
            let wave =
                |[a, b, c]: [f64; 3], i: usize| (a * (i % width) as f64 + b * (i / width) as f64 + 20.0 * c).sin();
            let channel = |of: [f64; 3]| -> Vec<f64> {
                (0..width * height).map(|i| if steep(i) { wave(of, i) } else { 0.0 }).collect()
            };
            Cotangents { image: waves.map(channel), ..Cotangents::default() }
        } else {
            weights_of(sensor, random)
        };
        let pose = pressed.sensor_from_object;
        let pressed = press_to_pose(sensor, object, &pose).map_err(bad_press)?;
        let gradients = match sensor.vjp(object, &pressed, &weights) {
            // A load beyond the reach of the taxels of a dome.
            Err(GradientError::NoTaxels { .. }) => return Ok(None),
            found => found.map_err(bad_press)?,
        };
        let contact = self.terms(sensor, object, &pose, &weights)?.contact;
        Ok(Some(Trial { pose, weights, gradients, contact }))
    }

    fn terms(&self, sensor: &Sensor, object: &Object, pose: &Pose, by: &Cotangents) -> Result<Terms, ValidateError> {
        let pressed = press_to_pose(sensor, object, pose).map_err(bad_press)?;
        let mut values = Vec::new();
        if self.image {
            let frame = sensor.render(&pressed.touch, 0).map_err(bad_press)?;
            for (channel, by) in frame.image.channels.iter().zip(&by.image) {
                values.extend(channel.iter().zip(by).map(|(level, by)| f64::from(*level) * by));
            }
        } else {
            add_load_terms(&mut values, &pressed.touch, &pressed.reading, by);
            if let Some(magnetics) = sensor.magnetics() {
                let fields = magnetics.field_of(&magnetics.motions_at(magnetics.magnets(), &pressed.touch));
                values.extend(fields.iter().zip(&by.magnetic).flat_map(|(field, by)| (*field * *by).to_array()));
            }
            if let Ok((optics, surface)) = sensor.camera_view(&pressed.touch) {
                let tracks =
                    optics.markers().map(|markers| markers.track(&surface, optics.camera())).unwrap_or_default();
                values.extend(tracks.iter().zip(&by.markers).flat_map(|(at, by)| [at[2] * by[0], at[3] * by[1]]));
            }
        }
        Ok(Terms { values, contact: touched(sensor, object, pose, &pressed.touch) })
    }
}

/// Random weights of the loads, the taxels and the markers of a reading; of a sensor with magnets those of its magnetometers.
fn weights_of(sensor: &Sensor, random: &mut Random) -> Cotangents {
    let mut any = |size: f64| random.between(-size, size);
    if let Some(magnetics) = sensor.magnetics() {
        // 0.1 mT count as much as newtons.
        let magnetic = magnetics.chips().map(|_| Vec3::new(any(1e4), any(1e4), any(1e4))).collect();
        return Cotangents { magnetic, ..Cotangents::default() };
    }
    let count = sensor.taxels().len();
    let mut vector = |size: f64| Vec3::new(any(size), any(size), any(size));
    let on_sensor = Wrench { force: vector(1.0), torque: vector(300.0) };
    let forces = (0..count).map(|_| vector(1.0)).collect();
    let [taxels, reported] = [0; 2].map(|_| (0..count).map(|_| any(1.0)).collect());
    let markers = sensor.optics().and_then(|optics| optics.markers()).map_or(0, |all| all.points_m().len());
    // Pixels of the markers count as much as newtons.
    let markers = (0..markers).map(|_| [any(1.0), any(1.0)]).collect();
    Cotangents { on_sensor, forces, taxels, reported, markers, ..Cotangents::default() }
}

/// Adds the loads and the taxels of a reading, each with its weight.
fn add_load_terms(values: &mut Vec<f64>, touch: &Touch, reading: &Reading, by: &Cotangents) {
    let Wrench { force, torque } = touch.on_sensor;
    values.extend((force * by.on_sensor.force).to_array());
    values.extend((torque * by.on_sensor.torque).to_array());
    values.extend(reading.values_newton.iter().zip(&by.taxels).map(|(value, by)| value * by));
    values.extend(reading.reported_newton.iter().zip(&by.reported).map(|(value, by)| value * by));
    values.extend(reading.forces_newton.iter().zip(&by.forces).flat_map(|(force, by)| (*force * *by).to_array()));
}

fn bad_press(error: impl std::fmt::Display) -> ValidateError {
    ValidateError::BadCase { place: "a press of the gradients".to_owned(), reason: error.to_string() }
}

/// The contact points or cells, each with the face of the object there.
fn touched(sensor: &Sensor, object: &Object, pose: &Pose, touch: &Touch) -> Vec<Touched> {
    let object_from_sensor = pose.inverse();
    if sensor.skin_as::<Hydroelastic>().is_some() {
        return Vec::new();
    }
    let is_layer = sensor.skin_as::<Layer>().is_some();
    let rounded = |vector: Vec3, unit: f64| vector.to_array().map(|part| (part / unit).round() as i64);
    let one = |facet: &dermis::skin::Facet| {
        let anchor = match &facet.load {
            dermis::skin::Load::Point { anchor, .. } => *anchor,
            dermis::skin::Load::Polygon(_) => facet.at(),
        };
        let (normal, triangle) = if is_layer {
            let up = object_from_sensor.transform_vector(Vec3::Z);
            let origin = object_from_sensor.transform_point(anchor - Vec3::Z * 0.05);
            let ray = dermis::geometry::Ray { origin, direction: up, length: 1.0 };
            object.surface.cast(&ray, None).map_or((Vec3::ZERO, 0), |hit| (hit.normal, hit.triangle))
        } else {
            let normal = object_from_sensor.transform_vector(facet.normal);
            (normal, object.surface.closest(object_from_sensor.transform_point(facet.at())).triangle)
        };
        let at = object_from_sensor.transform_point(facet.at());
        let face = match object.surface.primitive() {
            None => [i64::from(triangle), 0, 0],
            Some(Primitive::Cuboid { .. }) => rounded(normal, 1e-6),
            Some(Primitive::Cylinder { .. }) => rounded(Vec3::Z * normal.z, 0.9),
            Some(Primitive::Capsule { half_length_m, .. }) => [0, 0, i64::from(at.z.abs() > *half_length_m)],
            Some(_) => [0; 3],
        };
        (rounded(anchor, 1e-9), face)
    };
    touch.facets.iter().map(one).collect()
}

/// Times of a press and a product on the sensor with the usual tolerance.
fn cost(setup: &Setup, trials: &[Trial], object: &Object) -> Result<GradientCost, ValidateError> {
    let sensor = sensor_of(&setup.text, None, None)?;
    let forward = |trial: &Trial| press_to_pose(&sensor, object, &trial.pose).map_err(bad_press);
    let pressed = trials.iter().map(forward).collect::<Result<Vec<Pressed>, _>>()?;
    let backward = |trial: &Trial, pressed: &Pressed| sensor.vjp(object, pressed, &trial.weights).map_err(bad_press);
    let [press_us, vjp_us] = times_us(trials, &pressed, forward, backward)?;
    let (case, max_ratio) = (setup.name.clone(), setup.max_ratio);
    Ok(GradientCost { case, press_us, vjp_us, ratio: vjp_us / press_us, max_ratio })
}

/// Mean times (µs) of the trials, and of their products from the results: of each the smallest of several runs, because other
/// programs interrupt some.
fn times_us<T, R, G>(
    trials: &[T],
    results: &[R],
    forward: impl Fn(&T) -> Result<R, ValidateError>,
    backward: impl Fn(&T, &R) -> Result<G, ValidateError>,
) -> Result<[f64; 2], ValidateError> {
    const RUNS: usize = 20;
    /// After which no further run begins.
    const LONG: Duration = Duration::from_secs(20);
    let mut least_us = vec![[f64::INFINITY; 2]; trials.len()];
    let begin = Instant::now();
    for _ in (0..RUNS).take_while(|_| begin.elapsed() < LONG) {
        for ((trial, result), [press_us, vjp_us]) in trials.iter().zip(results).zip(&mut least_us) {
            let start = Instant::now();
            forward(trial)?;
            let middle = Instant::now();
            backward(trial, result)?;
            *press_us = press_us.min((middle - start).as_secs_f64() * 1e6);
            *vjp_us = vjp_us.min(middle.elapsed().as_secs_f64() * 1e6);
        }
    }
    let mean = |which: usize| least_us.iter().map(|times| times[which]).sum::<f64>() / trials.len().max(1) as f64;
    Ok([mean(0), mean(1)])
}
