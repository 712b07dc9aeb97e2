//! Free bodies turn as Euler's equations say, whatever their shape and orientation.

mod balance;

use balance::{balanced, tracked};
use dermis_geometry::shapes::{cone, cuboid, ellipsoid, prism};
use dermis_geometry::{MassProperties, Mat3, Pose, Quat, TriMesh, Twist, Vec3};
use dermis_world::{Body, BodyId, Drive, Joint, JointKind, World, WorldParameters};

/// A body in the air, and its centre of mass.
fn thrown(step_s: f64, mass: &MassProperties, turn: Quat, spin: Vec3) -> (World, BodyId) {
    let parameters = WorldParameters { gravity: Vec3::ZERO, step_s, ..Default::default() };
    let mut world = tracked(parameters);
    let mut body = Body::free("body", Pose::new(turn, Vec3::ZERO), *mass);
    let arm = turn * mass.center_m;
    body.velocity = Twist::new(-spin.cross(arm), spin);
    let id = world.add_body(body).unwrap();
    (world, id)
}

/// Angular momentum about the centre of mass (kg m²/s) and rotational energy (J).
fn momentum_and_energy(rotation: Quat, spin: Vec3, mass: &MassProperties) -> (Vec3, f64) {
    let turn = Mat3::from_quat(rotation);
    let momentum = turn * mass.inertia_kg_m2 * turn.transpose() * spin;
    (momentum, 0.5 * momentum.dot(spin))
}

/// Euler's equations in the body's frame by the classical Runge–Kutta method: dq/dt = ½ q ω, I dω/dt = Iω × ω.
fn by_euler(mass: &MassProperties, turn: Quat, spin: Vec3, time_s: f64) -> (Quat, Vec3) {
    let (steps, inertia) = (20_000, mass.inertia_kg_m2);
    let (inverse, h) = (inertia.inverse(), time_s / f64::from(steps));
    let rate = |q: Quat, w: Vec3| (q * Quat::from_xyzw(w.x, w.y, w.z, 0.0) * 0.5, inverse * (inertia * w).cross(w));
    let (mut q, mut w) = (turn, turn.conjugate() * spin);
    for _ in 0..steps {
        let a = rate(q, w);
        let b = rate(q + a.0 * (0.5 * h), w + a.1 * (0.5 * h));
        let c = rate(q + b.0 * (0.5 * h), w + b.1 * (0.5 * h));
        let d = rate(q + c.0 * h, w + c.1 * h);
        q = (q + (a.0 + b.0 * 2.0 + c.0 * 2.0 + d.0) * (h / 6.0)).normalize();
        w += (a.1 + b.1 * 2.0 + c.1 * 2.0 + d.1) * (h / 6.0);
    }
    (q, q * w)
}

/// An angle bracket: none of its principal axes is one of the mesh's.
fn bracket() -> TriMesh {
    let outline = [(0.0, 0.0), (30.0, 0.0), (30.0, 6.0), (6.0, 6.0), (6.0, 20.0), (0.0, 20.0)];
    let corner = |z: f64| move |&(x, y): &(f64, f64)| Vec3::new(x, y, z) * 1e-3;
    let mut vertices: Vec<Vec3> = outline.iter().map(corner(0.0)).collect();
    vertices.extend(outline.iter().map(corner(12.0)));
    let lid = [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 5]];
    let mut triangles: Vec<[u32; 3]> = lid.iter().map(|&[a, b, c]| [a, c, b]).collect();
    triangles.extend(lid.iter().map(|t| t.map(|corner| corner + 6)));
    for k in 0..6 {
        let next = (k + 1) % 6;
        triangles.extend([[k, next, next + 6], [k, next + 6, k + 6]]);
    }
    TriMesh::new("bracket", vertices, triangles).unwrap()
}

/// The error of momentum, of energy and of the orientation (rad) after a second.
fn errors(step_s: f64, mass: &MassProperties, turn: Quat, spin: Vec3) -> [f64; 3] {
    let (mut world, id) = thrown(step_s, mass, turn, spin);
    let (momentum, energy) = momentum_and_energy(turn, spin, mass);
    let mut worst = [0.0f64; 3];
    world
        .run_until(1.0, |world| {
            let (now, joules) = momentum_and_energy(world.pose(id).rotation, world.velocity(id).angular, mass);
            worst[0] = worst[0].max((now - momentum).length() / momentum.length());
            worst[1] = worst[1].max((joules - energy).abs() / energy);
            Ok(true)
        })
        .unwrap();
    balanced(&world, 0.01, "a thrown body");
    let (exact, _) = by_euler(mass, turn, spin, 1.0);
    worst[2] = exact.angle_between(world.pose(id).rotation);
    worst
}

/// Every shape in four orientations, spun about each of its principal axes: the stable ones and the unstable one. The
/// scene was a brick that turned over, because small inertia tensors lost their axes.
#[test]
fn free_bodies_turn_by_eulers_equations() {
    let shapes = [
        ("cuboid", cuboid(Vec3::new(0.02, 0.01, 0.04)).unwrap()),
        ("ellipsoid", ellipsoid(Vec3::new(0.02, 0.008, 0.012), 1e-3).unwrap()),
        ("prism", prism(6, 0.01, 0.035).unwrap()),
        ("cone", cone(0.01, 0.05, 1e-3).unwrap()),
        ("bracket", bracket()),
    ];
    let turns = [
        Quat::IDENTITY,
        Quat::from_rotation_x(std::f64::consts::FRAC_PI_2),
        Quat::from_rotation_y(0.4) * Quat::from_rotation_x(1.1),
        Quat::from_rotation_z(2.5) * Quat::from_rotation_y(-0.8),
    ];
    for (name, mesh) in &shapes {
        let mass = mesh.mass_properties(0.05).unwrap();
        let i = mass.inertia_kg_m2;
        let axes = nalgebra::Matrix3::from_fn(|row, column| i.col(column)[row]).symmetric_eigen().eigenvectors;
        for turn in turns {
            for k in 0..3 {
                let axis = turn * Vec3::from_slice(axes.column(k).as_slice());
                let spin = axis * 20.0 + Vec3::new(0.3, -0.2, 0.4);
                let [momentum, energy, angle] = errors(5e-4, &mass, turn, spin);
                let at = format!("{name} {turn} axis {k}: {momentum:.1e} {energy:.1e} {angle:.1e}");
                assert!(momentum < 1e-9 && energy < 5e-3, "{at}");
                let [_, finer, closer] = errors(2.5e-4, &mass, turn, spin);
                assert!(
                    finer < 0.3 * energy + 1e-9 && closer < 0.3 * angle + 1e-6,
                    "{at}; then {finer:.1e} {closer:.1e}"
                );
                assert!(angle < 0.05, "{at}");
            }
        }
    }
}

/// A body that falls for a second is as fast as it should be: no speed is cut off.
#[test]
fn falling_bodies_are_not_held_at_four_metres_a_second() {
    let mut world = tracked(WorldParameters::default());
    let mass = cuboid(Vec3::splat(0.02)).unwrap().mass_properties(0.05).unwrap();
    let id = world.add_body(Body::free("body", Pose::IDENTITY, mass)).unwrap();
    world.run_until(1.0, |_| Ok(true)).unwrap();
    assert!((world.velocity(id).linear.z + 9.81).abs() < 1e-9, "{}", world.velocity(id).linear);
    balanced(&world, 1e-9, "a free fall");
}

/// A torque about a joint's axis turns a body with its moment about that axis, also one that is none of its own, and without
/// damping.
#[test]
fn joined_bodies_turn_with_the_moment_about_their_axis() {
    let long = cuboid(Vec3::new(0.02, 0.01, 0.06)).unwrap();
    for mesh in [long, bracket(), cone(0.01, 0.05, 1e-3).unwrap()] {
        let mass = mesh.mass_properties(0.05).unwrap();
        for axis in [Vec3::X, Vec3::Y, Vec3::Z, Vec3::new(1.0, -2.0, 0.5).normalize()] {
            for point in [mass.center_m, mass.center_m + Vec3::new(0.01, 0.02, -0.03)] {
                let parameters = WorldParameters { gravity: Vec3::ZERO, ..Default::default() };
                let mut world = tracked(parameters);
                let base = world.add_body(Body::fixed("base", Pose::IDENTITY)).unwrap();
                let arm = world.add_body(Body::free("arm", Pose::IDENTITY, mass)).unwrap();
                let joint = world.join(Joint { kind: JointKind::Revolute, parent: base, child: arm, axis, point });
                let torque = 1e-4;
                world.drive(joint, Drive::Effort(torque));
                world.run_until(0.2, |_| Ok(true)).unwrap();
                let off = (mass.center_m - point).reject_from_normalized(axis).length_squared();
                let moment = axis.dot(mass.inertia_kg_m2 * axis) + mass.mass_kg * off;
                let (found, expected) = (world.joint(joint).1, torque / moment * 0.2);
                assert!((found / expected - 1.0).abs() < 0.01, "{} {axis} {point}: {found} {expected}", mesh.name());
                balanced(&world, 0.01, &format!("{} {axis} {point}", mesh.name()));
                // The torque has worked over the angle.
                let (work, angle) = (world.energy().unwrap().drives_joule, world.joint(joint).0);
                assert!((work / (torque * angle) - 1.0).abs() < 0.02, "{work} J over {angle} rad");
            }
        }
    }
}
