//! Moisio 2013, Fig. 13: index finger and thumb as sensors hold a cylinder.

use super::setting::{GRAVITY, add, free_body, world};
use super::{ExperimentError, Findings, Options, Progress, report_progress};
use dermis::draw::{Camera, FigurePage, Material, PALETTE, Scene};
use dermis::geometry::shapes::{self, Fingertip};
use dermis::geometry::{Pose, Quat, TriMesh, Vec3};
use dermis::image;
use dermis::sensor::{Sensor, SensorSpec, presets};
use dermis::world::{Body, BodyId, SensorId, World};

const STEP_S: f64 = 1e-4;
const RADIUS: f64 = 0.009;
const LENGTH: f64 = 0.060;
const MASS_KG: f64 = 0.02;
/// Penetration depth of each pad (m).
const DEPTH: f64 = 1.2e-3;
const DURATION_S: f64 = 2.0;
/// Angle between each finger and the plane between them.
const SPREAD_DEG: f64 = 40.0;

struct Digit {
    name: &'static str,
    size: Fingertip,
    preset: &'static str,
    /// Direction of the pad's normal: +1 for +x, −1 for −x.
    side: f64,
}

impl Digit {
    /// The pad faces the cylinder along x, the finger points along −y.
    fn pose(&self) -> Pose {
        let out = Vec3::X * self.side;
        let facing = Quat::from_mat3(&dermis::geometry::Mat3::from_cols(Vec3::Y.cross(out), Vec3::Y, out));
        // The fingers are spread, so that they do not intersect.
        let spread = Quat::from_rotation_z(-self.side * SPREAD_DEG.to_radians());
        Pose::new(spread * facing, -out * (RADIUS - DEPTH))
    }
}

/// Fraction of taxels that agree with the ideal cylinder: loaded inside it, unloaded outside.
fn agreement(world: &World, id: SensorId, cylinder: BodyId) -> f64 {
    let sensor: &Sensor = world.sensor(id);
    let cylinder_from_sensor = world.pose(cylinder).inverse() * world.world_from_sensor(id);
    let reading = world.reading(id);
    let centers = sensor.taxels().centers();
    let right = centers
        .iter()
        .zip(&reading.values_newton)
        .filter(|(center, value)| {
            let p = cylinder_from_sensor.transform_point(**center);
            let inside = p.truncate().length() < RADIUS && p.z.abs() < 0.5 * LENGTH;
            inside == (**value > 0.0)
        })
        .count();
    right as f64 / centers.len() as f64
}

pub(super) fn run(_: &Options, progress: Progress<'_>) -> Result<Findings, ExperimentError> {
    let mut findings = Findings::default();
    let digits = [
        Digit { name: "index", size: Fingertip::default(), preset: "fingertip", side: 1.0 },
        Digit { name: "thumb", size: Fingertip::THUMB, preset: "thumbtip", side: -1.0 },
    ];
    let mut world = world(STEP_S, None)?;
    let mut sensors = Vec::new();
    for digit in &digits {
        let body = Body::fixed(digit.name, digit.pose()).with_visual_mesh(shapes::finger(&digit.size, 1e-3)?);
        let body = add(&mut world, body)?;
        let spec = SensorSpec { contact_points: Some(1), ..presets::find(digit.preset)? };
        sensors.push(world.mount(spec.build(None)?, body, Pose::IDENTITY));
    }
    let cylinder = shapes::cylinder(RADIUS, LENGTH, 5e-4)?;
    let cylinder = add(&mut world, free_body("cylinder", cylinder, MASS_KG, Pose::IDENTITY)?)?;
    let steps = (DURATION_S / STEP_S) as usize;
    let mut middle = Vec3::ZERO;
    for step in 0..steps {
        world.step()?;
        if step == steps / 2 {
            middle = world.pose(cylinder).translation;
        }
        if step % 200 == 0 {
            report_progress(progress, step as f64 / steps as f64)?;
        }
    }
    findings.metric("slip_m_last_second", (world.pose(cylinder).translation - middle).length());
    let forces: Vec<Vec3> = sensors
        .iter()
        .map(|&id| world.world_from_sensor(id).transform_vector(world.touch(id).on_sensor.force))
        .collect();
    let net = forces[0] + forces[1];
    // The net force on the fingers is the cylinder's weight.
    findings.metric("carried_over_weight", -net.z / (MASS_KG * GRAVITY));
    findings.metric("squeeze_imbalance", (net.x / forces[0].x).abs());
    for (digit, &id) in digits.iter().zip(&sensors) {
        let reading = world.reading(id);
        findings.metric(format!("sum_n_{}", digit.name), reading.sum_newton);
        findings.metric(format!("lit_{}", digit.name), reading.active() as f64);
        findings.metric(format!("taxels_{}", digit.name), reading.values_newton.len() as f64);
        findings.metric(format!("active_where_touched_{}", digit.name), agreement(&world, id, cylinder));
    }
    findings.files.add_image("finger.png", &figure(&world, &digits, &sensors, cylinder)?);
    findings.note("The pads are our own meshes (taxels are mesh vertices). Both are pressed 1.2 mm onto a 20 g cylinder of 18 mm diameter and carry it by friction alone.");
    Ok(findings)
}

fn figure(
    world: &World,
    digits: &[Digit; 2],
    sensors: &[SensorId],
    cylinder: BodyId,
) -> Result<dermis::draw::Image, ExperimentError> {
    let skin = Material::new([214, 170, 146]).shine(0.15);
    let rod = Material::new(PALETTE[0]).shine(0.5);
    let solid = |scene: Scene, id: BodyId, material: Material| match world.body(id).visible() {
        Some(mesh) => scene.mesh(mesh, &world.pose(id), material),
        None => scene,
    };
    let fingers = world.bodies().filter(|&id| id != cylinder).collect::<Vec<_>>();
    let grasp = fingers.iter().fold(solid(Scene::new(), cylinder, rod), |scene, &id| solid(scene, id, skin));
    let camera = |scene: &Scene| Camera::framing(scene.bounds(), 75.0, 35.0);
    let hand = grasp.render(&camera(&grasp), 640, 520);
    let mut pads = Scene::new();
    let mut sheet = FigurePage::new(2).title("Index finger and thumb hold a cylinder");
    let mut maps = Vec::new();
    let peak = |id: SensorId| world.reading(id).values_newton.iter().copied().fold(0.0, f64::max);
    for (digit, &id) in digits.iter().zip(sensors) {
        let (mesh, colours): (TriMesh, _) = image::painted(world.sensor(id), &world.reading(id), peak(id));
        // Side by side, facing the camera.
        let shown = Pose::new(Quat::from_rotation_x(70f64.to_radians()), Vec3::X * (-0.013 * digit.side));
        pads = pads.coloured_mesh(&mesh, &shown, &colours);
        maps.push(image::tactile(
            world.sensor(id),
            &world.reading(id),
            &format!("{}, seen on the pad", digit.name),
            None,
        ));
    }
    let pads = pads.render(&Camera::framing(pads.bounds(), -90.0, 12.0), 640, 520);
    sheet = sheet.image(hand, "the grasp").image(pads, "pad readings: index left, thumb right");
    Ok(maps.into_iter().fold(sheet, |sheet, map| sheet.image(map, "")).render())
}
