//! Hydroelastic contact as a skin: dissipation, friction, history, conservation.

use dermis_geometry::{Pose, Quat, Random, TriMesh, Twist, Vec3, Wrench, shapes, tets};
use dermis_skin::hydroelastic::{Compliance, Material, PressureLaw, Solid, TetField};
use dermis_skin::{
    Friction, Hydroelastic, HydroelasticParameters, Load, Lugre, Motion, Object, Skin, SkinError, State, Target, Touch,
};
use std::f64::consts::PI;

const E: f64 = 1e5;

/// Per square metre: σ₀ = 1e8 Pa/m gives a bristle deflection of 0.1 mm at a pressure of 20 kPa and μ = 0.5.
const BRISTLES: Lugre = Lugre {
    stiffness_newton_per_m: 1e8,
    damping_newton_s_per_m: 1e4,
    viscous_newton_s_per_m: 0.0,
    mu_static: 0.5,
    mu_dynamic: 0.5,
    stribeck_m_per_s: 0.01,
};

/// A pad 40 × 40 × 10 mm whose upper face is z = 0.
fn pad(material: Material, friction: Friction) -> Hydroelastic {
    let solid = tets::cuboid(Vec3::new(0.04, 0.04, 0.01)).unwrap();
    let solid = solid.transformed(&Pose::from_translation(Vec3::Z * -5e-3));
    let body = Compliance::tets(TetField::new(solid), material).unwrap();
    Hydroelastic::new(body, HydroelasticParameters { friction, ..Default::default() }).unwrap()
}

fn step(skin: &Hydroelastic, state: &State, object: &Object, at: Pose, velocity: Twist, dt_s: f64) -> (Touch, State) {
    let target = Target { object, sensor_from_object: at, velocity };
    skin.touch(state, &Motion { targets: &[target] }, dt_s).unwrap()
}

fn at(z: f64) -> Pose {
    Pose::from_translation(Vec3::Z * z)
}

fn punch() -> Object {
    Object::new(shapes::cuboid(Vec3::splat(0.01)).unwrap())
}

/// Hunt–Crossley dissipation on a flat punch: F = p A (1 + d v) at approach speed v, and zero once d v_parting ≥ 1.
#[test]
fn dissipation_scales_the_pressure() {
    let skin = pad(Material::linear(E).with_dissipation(2.0), Friction::None);
    let truth = E * 1e-3 / 5e-3 * 1e-4;
    for (speed, factor) in [(-0.25, 1.5), (0.0, 1.0), (0.25, 0.5), (0.5, 0.0), (3.0, 0.0)] {
        let (touch, _) = step(&skin, &skin.rest(), &punch(), at(4e-3), Twist::new(Vec3::Z * speed, Vec3::ZERO), 1e-3);
        assert!((touch.on_sensor.force.z + truth * factor).abs() < 1e-12 * truth.max(1.0), "{speed}");
    }
}

/// Two bodies in series: with E_A, E_B over thicknesses h_A, h_B a flat contact at total depth d has
/// p = d/(h_A/E_A + h_B/E_B), and d* = (E_B d_A + E_A d_B)/(E_A + E_B).
#[test]
fn compliances_and_dissipations_combine() {
    let skin = pad(Material::linear(E).with_dissipation(1.0), Friction::None);
    let size = Vec3::new(0.02, 0.02, 0.03);
    let stiff = Material::linear(4.0 * E).with_dissipation(3.0);
    let block = Compliance::tets(TetField::new(tets::cuboid(size).unwrap()), stiff).unwrap();
    let block = Object::new(shapes::cuboid(size).unwrap()).with_compliance(block);
    let depth = 1e-3;
    let p = depth / (5e-3 / E + 0.01 / (4.0 * E));
    // The edge is bevelled where the pressure of the block's side is lower than that of the pad: the flat part is
    // smaller by the depth p/E·10 mm/4 on each side; the rest slopes by 45° in the block with lower pressure. The test
    // therefore compares p itself.
    let (touch, _) = step(&skin, &skin.rest(), &block, at(0.015 - depth), Twist::ZERO, 1e-3);
    let highest = |touch: &Touch| {
        let corners = touch.facets.iter().flat_map(|f| match &f.load {
            Load::Polygon(corners) => corners.clone(),
            Load::Point { .. } => vec![],
        });
        corners.map(|c| c.pressure_pa).fold(0.0, f64::max)
    };
    assert!((highest(&touch) / p - 1.0).abs() < 1e-12);
    let (moving, _) =
        step(&skin, &skin.rest(), &block, at(0.015 - depth), Twist::new(Vec3::Z * -0.1, Vec3::ZERO), 1e-3);
    let combined = (4.0 * 1.0 + 1.0 * 3.0) / 5.0;
    assert!((highest(&moving) / p - (1.0 + 0.1 * combined)).abs() < 1e-12);
}

/// For any motion, the loads on both bodies are opposite to 1e-12, and the facets sum to the load.
#[test]
fn action_is_reaction() {
    let mut random = Random::new(5);
    let skin = pad(Material::linear(E).with_dissipation(0.5), Friction::Lugre(BRISTLES));
    let ball = Compliance::solid(Solid::Sphere { radius_m: 0.01 }, Material::linear(E)).unwrap();
    let cut = Compliance::tets(TetField::new(tets::sphere(0.01, 2e-3).unwrap()), Material::linear(E)).unwrap();
    let mesh = shapes::sphere(0.01, 1e-3).unwrap();
    let objects = [
        Object::new(mesh.clone()),
        Object::new(mesh.clone()).with_compliance(ball),
        Object::new(mesh).with_compliance(cut),
        punch(),
    ];
    let mut state = skin.rest();
    for _ in 0..40 {
        let mut any = |scale: f64| random.direction() * (scale * random.uniform());
        let targets: Vec<Target> = objects
            .iter()
            .enumerate()
            .map(|(i, object)| Target {
                object,
                sensor_from_object: Pose::new(
                    Quat::from_scaled_axis(any(2.0)),
                    Vec3::new(0.01 * (i as f64 - 1.5), 0.0, 8.5e-3) + any(1e-3),
                ),
                velocity: Twist::new(any(0.2), any(3.0)),
            })
            .collect();
        let (touch, next) = skin.touch(&state, &Motion { targets: &targets }, 1e-3).unwrap();
        state = next;
        assert!(touch.on_sensor.force.length() > 0.1);
        let mut sum = touch.on_sensor;
        touch.on_objects.iter().for_each(|wrench| sum += *wrench);
        assert!(sum.force.length() < 1e-12 && sum.torque.length() < 1e-12);
        let mut facets = Wrench::ZERO;
        touch.facets.iter().for_each(|facet| facets += facet.wrench_on_sensor());
        assert!((facets.force - touch.on_sensor.force).length() < 1e-12);
        assert!((facets.torque - touch.on_sensor.torque).length() < 1e-12);
        for facet in &touch.facets {
            let Load::Polygon(corners) = &facet.load else { unreachable!("polygons only") };
            assert!(corners.len() >= 3 && (facet.normal.length() - 1.0).abs() < 1e-12);
            for corner in corners {
                assert!(corner.pressure_pa >= 0.0 && corner.shear_pa.dot(facet.normal).abs() < 1e-6);
            }
        }
    }
}

/// A flat sheet of 10 × 10 mm facing down: a punch without sides, which would add friction.
fn sheet() -> Object {
    let mesh = shapes::grid(5, 5, 2.5e-3).unwrap();
    Object::new(mesh.transformed(&Pose::from_rotation(Quat::from_rotation_x(PI))))
}

/// A flat disc facing down, in rings.
fn disc(radius: f64, rings: u32, around: u32) -> Object {
    let mut vertices = vec![Vec3::ZERO];
    let mut triangles = Vec::new();
    for ring in 1..=rings {
        for k in 0..around {
            let (sin, cos) = (2.0 * PI * f64::from(k) / f64::from(around)).sin_cos();
            vertices.push(Vec3::new(cos, sin, 0.0) * (radius * f64::from(ring) / f64::from(rings)));
            let at = |ring: u32, k: u32| if ring == 0 { 0 } else { 1 + (ring - 1) * around + k % around };
            triangles.push([at(ring, k + 1), at(ring, k), at(ring - 1, k)]);
            if ring > 1 {
                triangles.push([at(ring, k + 1), at(ring - 1, k), at(ring - 1, k + 1)]);
            }
        }
    }
    Object::new(TriMesh::new("disc", vertices, triangles).unwrap())
}

/// A sheet dragged over the pad: first the bristle force rises with σ₀ A per distance, then the sheet slides at μ N.
/// Its triangles cross those of the pad, so the polygons change at every step.
#[test]
fn a_dragged_sheet_sticks_then_slides() {
    let skin = pad(Material::linear(E), Friction::Lugre(Lugre { damping_newton_s_per_m: 0.0, ..BRISTLES }));
    let block = sheet();
    let (dt, speed) = (1e-3, 1e-3);
    let normal = E * 1e-3 / 5e-3 * 1e-4;
    let mut state = skin.rest();
    let mut forces = Vec::new();
    for i in 1..=3000 {
        let place = Pose::from_translation(Vec3::new(-1e-3 + speed * dt * f64::from(i), 0.0, -1e-3));
        let (touch, next) = step(&skin, &state, &block, place, Twist::new(Vec3::X * speed, Vec3::ZERO), dt);
        state = next;
        forces.push(touch.on_sensor.force.x);
        assert!((touch.on_sensor.force.z + normal).abs() < 1e-9 * normal);
    }
    let slope = forces[0] / (speed * dt * 1e-4);
    assert!((slope / 1e8 - 1.0).abs() < 0.02, "{slope:e}");
    for (i, force) in forces.iter().enumerate().skip(1000) {
        assert!((force / (0.5 * normal) - 1.0).abs() < 1e-3, "step {i}: {}", force / (0.5 * normal));
    }
    assert!(forces.windows(2).all(|pair| pair[1] > pair[0] * (1.0 - 1e-3)), "no dropouts");
}

/// A uniformly pressed disc of radius a, rotated until all of it slides, resists with (2/3) μ N a.
#[test]
fn a_turned_disc_resists_by_two_thirds() {
    let skin = pad(Material::linear(E), Friction::Lugre(BRISTLES));
    let a = 8e-3;
    let disc = disc(a, 10, 64);
    let (dt, spin) = (1e-3, 1.0);
    let mut state = skin.rest();
    let mut last = Touch::default();
    for i in 0..300 {
        let place = Pose::new(Quat::from_rotation_z(spin * dt * f64::from(i)), Vec3::Z * -1e-3);
        (last, state) = step(&skin, &state, &disc, place, Twist::new(Vec3::ZERO, Vec3::Z * spin), dt);
    }
    let normal = -last.on_sensor.force.z;
    assert!((normal / (E * 1e-3 / 5e-3 * PI * a * a) - 1.0).abs() < 0.01);
    let ratio = last.on_sensor.torque.z / (2.0 / 3.0 * 0.5 * normal * a);
    assert!((ratio - 1.0).abs() < 0.02, "{ratio}");
}

/// Random motions of a ball and a block, lifted and pressed while they slide and spin: at every corner the shear
/// traction is at most μ_s p.
#[test]
fn shear_stays_in_the_friction_cone_while_the_load_varies() {
    let mut random = Random::new(21);
    let viscous = Lugre { mu_dynamic: 0.3, viscous_newton_s_per_m: 2e3, ..BRISTLES };
    let skin = pad(Material::linear(E).with_dissipation(1.0), Friction::Lugre(viscous));
    let ball = Object::new(shapes::sphere(8e-3, 2e-3).unwrap());
    let (mut corners, mut at_the_limit) = (0, 0);
    for (object, reach) in [(&ball, 8e-3), (&punch(), 5e-3)] {
        for _ in 0..20 {
            let mut state = skin.rest();
            for _ in 0..10 {
                let mut side = |size: f64| random.between(-size, size);
                let velocity = Twist::new(Vec3::new(side(0.05), side(0.05), side(0.2)), Vec3::Z * side(2.0));
                let place = at(reach - 1e-3 + side(0.9e-3));
                let (touch, next) = step(&skin, &state, object, place, velocity, 1e-3);
                for facet in &touch.facets {
                    let Load::Polygon(all) = &facet.load else { panic!("a surface gives polygons") };
                    for corner in all {
                        let (shear, limit) = (corner.shear_pa.length(), 0.5 * corner.pressure_pa);
                        assert!(shear <= limit * (1.0 + 1e-12), "{shear} Pa at {} Pa", corner.pressure_pa);
                        corners += 1;
                        at_the_limit += usize::from(limit > 0.0 && shear > 0.999 * limit);
                    }
                }
                state = next;
            }
        }
    }
    assert!(corners > 1000 && at_the_limit > 100, "{corners} {at_the_limit}");
}

/// Bristles persist at rest: a thousand identical steps give the same force bit for bit, and a state read from JSON
/// continues like the original.
#[test]
fn rest_holds_and_states_resume() {
    let skin = pad(Material::linear(E), Friction::Lugre(BRISTLES));
    let block = punch();
    let tilt = Pose::new(Quat::from_rotation_y(0.02), Vec3::Z * 4e-3);
    let drag = Twist::new(Vec3::X * 1e-3, Vec3::ZERO);
    let (_, mut state) = step(&skin, &skin.rest(), &block, tilt, drag, 5e-3);
    let (first, next) = step(&skin, &state, &block, tilt, Twist::ZERO, 1e-3);
    assert!(first.on_sensor.force.x > 0.05);
    state = next;
    for _ in 0..1000 {
        let (touch, next) = step(&skin, &state, &block, tilt, Twist::ZERO, 1e-3);
        assert_eq!(touch.on_sensor, first.on_sensor);
        state = next;
    }
    let text = serde_json::to_string(&state).unwrap();
    let again: State = serde_json::from_str(&text).unwrap();
    assert_eq!(again, state);
    let lifted = step(&skin, &state, &block, at(0.02), Twist::ZERO, 1e-3);
    assert_eq!(lifted.1, skin.rest(), "what leaves is forgotten");
}

/// The reported stiffness of a touch is the derivative of its force; with full contact it is E/h times the surface.
#[test]
fn tangents_are_derivatives() {
    let skin = pad(Material::linear(E), Friction::None);
    let ball = Object::new(shapes::sphere(0.01, 0.5e-3).unwrap());
    let force = |z: f64| step(&skin, &skin.rest(), &ball, at(z), Twist::ZERO, 1.0).0;
    let touch = force(9e-3);
    // Each facet reports its stiffness along its own normal; lateral components cancel in the sum.
    let reported: f64 = touch.facets.iter().map(|f| f.tangent.stiffness_normal * f.normal.z.abs()).sum();
    let measured = (force(9e-3 - 1e-7).on_sensor.force.z - force(9e-3 + 1e-7).on_sensor.force.z) / -2e-7;
    assert!((reported / measured - 1.0).abs() < 0.1, "{reported} {measured}");
    let all = skin.fully_pressed();
    let top: f64 = all.iter().filter(|t| t.normal.z > 0.9).map(|t| t.tangent.stiffness_normal).sum();
    assert!((top / (E / 5e-3 * 0.04 * 0.04) - 1.0).abs() < 1e-9);
    assert!((skin.max_depth_m() - 5e-3).abs() < 1e-15);
    assert!(!touch.facets.iter().any(|f| f.saturated));
    assert!((touch.max_depth_m() - 1e-3).abs() < 1e-5, "{}", touch.max_depth_m());
    assert!(force(4.9e-3).saturated > 0, "past the middle of the pad");
}

/// Invalid input returns an error with its reason.
#[test]
fn refusals() {
    let skin = pad(Material::linear(E), Friction::None);
    let block = punch();
    let motion = [Target::at_rest(&block, at(4e-3))];
    let wrong =
        skin.touch(&State::Springs { sites: 0, bristles: Default::default() }, &Motion { targets: &motion }, 1.0);
    assert_eq!(wrong.unwrap_err(), SkinError::OtherSkin { expected: "hydroelastic" });
    let rigid = Hydroelastic::rigid(shapes::cuboid(Vec3::splat(0.02)).unwrap(), Default::default()).unwrap();
    let both = rigid.touch(&rigid.rest(), &Motion { targets: &motion }, 1.0);
    assert_eq!(both.unwrap_err(), SkinError::BothRigid);
    let solid = Solid::Sphere { radius_m: -1.0 };
    assert!(matches!(Compliance::solid(solid, Material::linear(E)), Err(SkinError::NotPositive { .. })));
    let law = PressureLaw::Table { extent: vec![0.0, 0.5, 0.4], pressure_pa: vec![0.0, 1.0, 2.0] };
    let bad = Compliance::half_space(0.01, Material { law, dissipation_s_per_m: 0.0 });
    assert!(matches!(bad, Err(SkinError::BadPressureTable { row: 2, .. })));
}
