//! Moisio 2013, Fig. 10: a parallel gripper holds four objects.

use super::setting::{add, foam, free_body, world};
use super::{ExperimentError, Findings, Options, Progress, report_progress};
use dermis::draw::{FigurePage, Image};
use dermis::geometry::shapes::{cuboid, cylinder, sphere, spray_bottle};
use dermis::geometry::{Pose, Quat, TriMesh, Vec3};
use dermis::image;
use dermis::world::{
    BodyId, Gripper, ParallelGripper, ParallelGripperParameters, Phase, PickAndPlace, PickParameters, World,
};

const STEP_S: f64 = 1e-4;
const HOLD_S: f64 = 5.0;
const SPHERE_RADIUS: f64 = 0.020;

struct GraspObject {
    name: &'static str,
    mesh: TriMesh,
    mass_kg: f64,
    hold_newton: f64,
    /// Height of the object's origin above the ground, and of the grasp above the origin (m).
    origin_z: f64,
    grasp_z: f64,
}

fn objects() -> Result<Vec<GraspObject>, ExperimentError> {
    // The narrow side faces the fingers; the centre of mass is at x = y = 0.
    let bottle = spray_bottle(3e-3)?.transformed(&Pose::from_rotation(Quat::from_rotation_z(90f64.to_radians())));
    let middle = bottle.mass_properties(1.0)?.center_m;
    let bottle = bottle.transformed(&Pose::from_translation(Vec3::new(-middle.x, -middle.y, 0.0)));
    Ok(vec![
        GraspObject {
            name: "sphere",
            mesh: standing_ball()?,
            mass_kg: 0.05,
            hold_newton: 2.0,
            origin_z: SPHERE_RADIUS,
            grasp_z: 0.0,
        },
        GraspObject {
            name: "box",
            mesh: cuboid(Vec3::new(0.036, 0.018, 0.060))?,
            mass_kg: 0.10,
            hold_newton: 4.0,
            origin_z: 0.030,
            grasp_z: 0.0,
        },
        GraspObject {
            name: "cylinder",
            mesh: cylinder(0.018, 0.080, 1e-3)?,
            mass_kg: 0.10,
            hold_newton: 4.0,
            origin_z: 0.040,
            grasp_z: 0.0,
        },
        GraspObject { name: "bottle", mesh: bottle, mass_kg: 0.15, hold_newton: 5.0, origin_z: 0.0, grasp_z: middle.z },
    ])
}

/// A tessellated ball that stands on one of its faces: on a vertex it would roll away.
fn standing_ball() -> Result<TriMesh, ExperimentError> {
    let ball = sphere(SPHERE_RADIUS, 1e-3)?;
    let lowest = (0..ball.triangles().len()).map(|t| ball.face_normal(t)).min_by(|a, b| a.z.total_cmp(&b.z));
    let rotation = Quat::from_rotation_arc(lowest.unwrap_or(Vec3::NEG_Z), Vec3::NEG_Z);
    Ok(ball.transformed(&Pose::from_rotation(rotation)))
}

struct Held {
    slip_m: f64,
    sums: [f64; 2],
    /// Distance of the object's origin from each sensing surface (m).
    reach: [f64; 2],
    lit: usize,
    pitch_m: f64,
    view: Image,
    tactile: [Image; 2],
    forces: Image,
}

fn grasp(held: &GraspObject, progress: &mut dyn FnMut(f64) -> bool) -> Result<Held, ExperimentError> {
    let mut world = world(STEP_S, Some(0.0))?;
    let place = Pose::from_translation(Vec3::Z * held.origin_z);
    let object = add(&mut world, free_body(held.name, held.mesh.clone(), held.mass_kg, place)?.solid())?;
    let above = 0.05;
    let grasp_z = held.origin_z + held.grasp_z;
    let parameters =
        ParallelGripperParameters { opening_m: 0.075, center: Vec3::Z * (grasp_z + above), ..Default::default() };
    let mut gripper = ParallelGripper::build(&mut world, parameters, foam("left")?, foam("right")?)?;
    let mut controller = PickAndPlace::new(PickParameters {
        grasp_height_m: -above,
        lift_height_m: 0.03,
        hold_newton: held.hold_newton,
        hold_s: HOLD_S + 0.5,
        ..Default::default()
    });
    let in_hand = |world: &World, hand: BodyId| (world.pose(hand).inverse() * world.pose(object)).translation;
    let mut reference: Option<(f64, Vec3)> = None;
    let mut slip_m = 0.0f64;
    // Slip is measured from half a second after the hand stops, when its vibration has decayed.
    while controller.phase() <= Phase::Lift && world.time_s() < 30.0 {
        gripper.exchange(&mut world);
        controller.update(&mut gripper, STEP_S);
        world.step()?;
        if controller.phase() == Phase::Lift && (gripper.height_m() - 0.03).abs() < 5e-4 {
            let (since, start) = *reference.get_or_insert((world.time_s(), Vec3::ZERO));
            if world.time_s() - since < 0.5 {
                reference = Some((since, in_hand(&world, gripper.hand())));
            } else {
                slip_m = slip_m.max((in_hand(&world, gripper.hand()) - start).length());
            }
        }
        if world.steps().is_multiple_of(2000) {
            report_progress(progress, world.time_s() / 11.0)?;
        }
    }
    let [left, right] = gripper.sensors();
    let readings = [left, right].map(|id| world.reading(id));
    let peak = readings.iter().flat_map(|r| &r.values_newton).copied().fold(0.0, f64::max);
    let bare = |k: usize| image::tactile_bare(&readings[k], peak, 12).unwrap_or_else(|| Image::new(8, 8, [255; 3]));
    let reach = [left, right].map(|id| (world.world_from_sensor(id).inverse() * world.pose(object)).translation.z);
    let held_up = world.pose(object).translation.z > held.origin_z + 0.01;
    Ok(Held {
        slip_m: if held_up { slip_m } else { f64::INFINITY },
        sums: [readings[0].sum_newton, readings[1].sum_newton],
        reach,
        lit: readings[1].active(),
        pitch_m: world.sensor(right).taxels().pitch_m().unwrap_or(0.0),
        view: image::view(&world, -62.0, 14.0, 520, 520),
        tactile: [bare(0), bare(1)],
        forces: image::tactile(world.sensor(right), &readings[1], &format!("{}, right finger", held.name), None),
    })
}

pub(super) fn run(_: &Options, progress: Progress<'_>) -> Result<Findings, ExperimentError> {
    let mut findings = Findings::default();
    let mut figure =
        FigurePage::new(4).title("Four grasps: scene, tactile images left and right (white 0, black max), forces");
    let (mut views, mut images, mut forces) = (Vec::new(), Vec::new(), Vec::new());
    let all = objects()?;
    for (index, object) in all.iter().enumerate() {
        let held = grasp(object, &mut |done| progress((index as f64 + done) / all.len() as f64))?;
        let name = object.name;
        findings.metric(format!("slip_m_{name}"), held.slip_m);
        let [left, right] = held.sums;
        findings.metric(format!("sum_n_left_{name}"), left);
        findings.metric(format!("sum_n_right_{name}"), right);
        findings.metric(format!("left_right_difference_{name}"), (left / right - 1.0).abs());
        if name == "sphere" {
            let depth = SPHERE_RADIUS - held.reach[1];
            let radius = held.pitch_m * (held.lit as f64 / std::f64::consts::PI).sqrt();
            let truth = (2.0 * SPHERE_RADIUS * depth).sqrt();
            findings.metric("sphere_depth_m", depth);
            findings.metric("sphere_imprint_radius_m", radius);
            findings.metric("sphere_imprint_error_texels", (radius - truth).abs() / held.pitch_m);
        }
        views.push((held.view, format!("{name}, {:.0} g", object.mass_kg * 1e3)));
        let [a, b] = held.tactile;
        images.push((FigurePage::new(2).gap(12).image(a, "left").image(b, "right").render(), String::new()));
        forces.push((held.forces, String::new()));
    }
    for (image, caption) in views.into_iter().chain(images).chain(forces) {
        figure = figure.image(image, caption);
    }
    findings.files.add_image("grasps.png", &figure.render());
    findings.note("Foam of section 3.4 (k = 58.5 N/m, c = 0.585 N s/m per texel) with bristles of σ₀ = 300 N/m, σ₁ = 0.5 N s/m; steps of 0.1 ms; each object lifted by 30 mm and held 5 s. Slip is the motion of the object in the hand over those 5 s.");
    Ok(findings)
}
