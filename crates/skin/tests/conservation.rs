//! Invariants of every step, for any object and any motion.
//!
//! Newton's third law between skin and objects, the wrench as the sum over the facets, no tension, friction in the
//! contact plane and at most μ_s f_n. These are identities of the model, so the tolerance is that of rounding: 1e-12 of Σ|f| (torques: of
//! Σ|r||f|). Not tested here: the values of the forces (`springs.rs`, `friction.rs`, `saturation.rs`).

use crate::common;

use common::{bristles, layouts, objects, plain, rotation, vector};
use dermis_geometry::{Pose, Random, Twist, Vec3, Wrench};
use dermis_skin::{
    Coulomb, Damping, Elasticity, Facet, Friction, Law, Load, Lugre, Motion, Object, Skin, SpringParameters, Springs,
    State, Table, Target, Touch,
};

fn pick<T: Clone>(random: &mut Random, from: &[T]) -> T {
    from[random.next_u32() as usize % from.len()].clone()
}

fn any_parameters(random: &mut Random) -> SpringParameters {
    let table = |load: f64| Table { depth_m: vec![0.0, 5e-4, 2e-3], load: vec![0.0, load, 9.0 * load] };
    let lugre = Lugre { damping_newton_s_per_m: 0.4, viscous_newton_s_per_m: 0.05, ..bristles() };
    let elasticities = [
        Elasticity::PerTexel(100.0),
        Elasticity::PerArea(1e7),
        Elasticity::TexelTable(table(0.05)),
        Elasticity::AreaTable(table(5e3)),
    ];
    let frictions = [
        Friction::None,
        Friction::Lugre(lugre),
        Friction::Lugre(bristles()),
        Friction::Coulomb(Coulomb { mu: 0.5, regularisation_m_per_s: 1e-3 }),
    ];
    SpringParameters {
        elasticity: pick(random, &elasticities),
        damping: pick(random, &[Damping::PerTexel(0.0), Damping::PerTexel(0.5), Damping::PerArea(1e5)]),
        max_penetration_m: random.between(2e-3, 5e-3),
        law: pick(random, &[Law::Conservative, Law::Paper]),
        friction: pick(random, &frictions),
    }
}

/// A moving object in the skin or just above it, in any orientation.
struct Mover<'a> {
    object: &'a Object,
    pose: Pose,
    velocity: Twist,
}

impl<'a> Mover<'a> {
    fn any(random: &mut Random, objects: &'a [Object]) -> Self {
        let object = &objects[random.next_u32() as usize % objects.len()];
        let turn = rotation(random);
        let lowest = object.surface.mesh().vertices().iter().map(|&v| (turn * v).z).fold(f64::INFINITY, f64::min);
        let depth = random.between(-0.2e-3, 3e-3);
        let at = Vec3::new(random.between(-7e-3, 7e-3), random.between(-7e-3, 7e-3), -lowest - depth);
        let velocity = Twist::new(vector(random, 0.05), vector(random, 3.0));
        Self { object, pose: Pose::new(turn, at), velocity }
    }

    fn moved(&mut self, dt_s: f64) {
        let turn = dermis_geometry::Quat::from_scaled_axis(self.velocity.angular * dt_s);
        self.pose = Pose::new(turn, self.velocity.linear * dt_s) * self.pose;
    }
}

fn point(facet: &Facet) -> (Vec3, Vec3) {
    match &facet.load {
        Load::Point { at, force, .. } => (*at, *force),
        Load::Polygon(_) => unreachable!("springs make points"),
    }
}

fn check_balance(touch: &Touch) {
    let (mut scale, mut torque_scale, mut sum) = (0.0, 0.0, Wrench::ZERO);
    for facet in &touch.facets {
        let (at, force) = point(facet);
        scale += force.length();
        torque_scale += at.length() * force.length();
        sum += Wrench::from_force_at(force, at);
    }
    let on_objects = touch.on_objects.iter().fold(Wrench::ZERO, |sum, load| sum + *load);
    for other in [sum, -on_objects] {
        assert!((touch.on_sensor.force - other.force).length() <= 1e-12 * scale);
        assert!((touch.on_sensor.torque - other.torque).length() <= 1e-12 * torque_scale);
    }
    assert_eq!(touch.saturated, touch.facets.iter().filter(|facet| facet.saturated).count());
}

/// Friction is the force minus f_n n_c, with f_n from the law for depth and velocity alone: it has no component along
/// n_c. Facets are in the order of the sites; the anchor of a facet identifies its site.
fn check_facet(facet: &Facet, skin: &Springs, velocity: &Twist) {
    let p = skin.parameters();
    let Load::Point { at, anchor, force, .. } = facet.load else { unreachable!("springs make points") };
    let site = skin.sites().iter().find(|site| site.point == anchor).unwrap();
    assert!((facet.normal.length() - 1.0).abs() < 1e-12);
    assert!(force.is_finite() && (0.0..=p.max_penetration_m).contains(&facet.depth_m), "{facet:?}");
    let lever = match p.law {
        Law::Conservative => 1.0 / site.normal.dot(facet.normal).max(0.2),
        Law::Paper => 1.0,
    };
    let approach = -velocity.at(at).dot(facet.normal) * lever;
    let (spring, _) = p.elasticity.of_part(facet.depth_m, site.share, site.area_m2);
    let damper = p.damping.of_part(site.share, site.area_m2) * approach;
    let normal_newton = ((spring + damper) * lever).max(0.0);
    let size = force.length() + (spring + damper.abs()) * lever;
    let friction = force + facet.normal * normal_newton;
    assert!(facet.normal_force() >= -1e-12 * size, "the skin pulls: {} N", facet.normal_force());
    assert!(friction.dot(facet.normal).abs() <= 1e-12 * size, "{facet:?}");
    match &p.friction {
        Friction::None => assert!(friction.length() <= 1e-12 * size),
        Friction::Coulomb(c) => assert!(friction.length() <= c.mu * normal_newton + 1e-12 * size),
        Friction::Lugre(l) => assert!(friction.length() <= l.mu_static * normal_newton + 1e-12 * size),
    }
}

/// Bristles lie in the contact plane, and so does their force: z·n is rounding.
fn check_bristles(state: &State) {
    let State::Springs { bristles, .. } = state else { unreachable!("springs keep bristles") };
    for bristle in bristles.iter() {
        let along = bristle.deflection_m.dot(bristle.normal).abs();
        assert!(along <= 1e-12 * bristle.deflection_m.length(), "{bristle:?}");
    }
}

/// 480 random cases of one to three objects, five steps each.
#[test]
fn every_step_balances() {
    let mut random = Random::new(2013);
    let (objects, layouts) = (objects(), [1, 2, 3].map(layouts));
    let mut touched = [0; 4];
    for case in 0..480 {
        let sites = pick(&mut random, &layouts[case / 3 % 3]);
        let skin = Springs::new(sites, any_parameters(&mut random)).unwrap();
        let mut movers: Vec<Mover> = (0..1 + case % 3).map(|_| Mover::any(&mut random, &objects)).collect();
        let mut state = skin.rest();
        let dt = random.between(1e-4, 5e-3);
        for _ in 0..5 {
            let targets: Vec<Target> = movers
                .iter()
                .map(|m| Target { object: m.object, sensor_from_object: m.pose, velocity: m.velocity })
                .collect();
            let (touch, next) = skin.touch(&state, &Motion { targets: &targets }, dt).unwrap();
            assert_eq!(touch.on_objects.len(), targets.len());
            check_balance(&touch);
            for facet in &touch.facets {
                check_facet(facet, &skin, &targets[facet.object as usize].velocity);
            }
            check_bristles(&next);
            touched[touch.on_objects.iter().filter(|load| load.force != Vec3::ZERO).count()] += 1;
            movers.iter_mut().for_each(|mover| mover.moved(dt));
            state = next;
        }
    }
    println!("steps with 0, 1, 2, 3 objects touched: {touched:?}");
    assert!(touched[1] > 200 && touched[2] > 100 && touched[3] > 20, "{touched:?}");
}

/// At constant v, |z| tends to g(v)/σ₀ ≤ μ_s f_n/σ₀ from below, in any direction and through changes of direction, as
/// long as f_n is constant: d|z|/dt ≤ |v|(1 − σ₀|z|/g). A block at constant depth slides and spins at random. Without
/// damping, the friction force is σ₀ z, so it stays in the cone μ_s f_n.
#[test]
fn bristles_stay_in_the_friction_cone_while_the_load_is_steady() {
    let mut random = Random::new(17);
    let skin =
        common::grid_skin(6, 6, 2e-3, SpringParameters { friction: Friction::Lugre(bristles()), ..plain(200.0, 3e-3) });
    let block = common::cuboid(60e-3, 60e-3, 10e-3);
    let mut nearest = 0.0f64;
    for _ in 0..60 {
        let depth = random.between(0.2e-3, 2e-3);
        let normal_newton = 200.0 * depth;
        let mut state = skin.rest();
        for _ in 0..40 {
            let speed = 10f64.powf(random.between(-4.0, -1.0));
            let flat = vector(&mut random, speed) * Vec3::new(1.0, 1.0, 0.0);
            let velocity = Twist::new(flat, Vec3::Z * random.between(-2.0, 2.0));
            let dt = 10f64.powf(random.between(-4.0, -1.0));
            let (touch, next) = common::step(&skin, &state, &block, common::pressed(10e-3, depth), velocity, dt);
            let State::Springs { bristles: all, .. } = &next else { unreachable!("springs keep bristles") };
            for (facet, bristle) in touch.facets.iter().zip(all.iter()) {
                let part = bristles().stiffness_newton_per_m * bristle.deflection_m.length()
                    / (bristles().mu_static * normal_newton);
                assert!(part <= 1.0 + 1e-9, "{part} of the cone");
                let friction = point(facet).1 + facet.normal * normal_newton;
                let truth = bristle.deflection_m * bristles().stiffness_newton_per_m;
                assert!((friction - truth).length() <= 1e-12 * normal_newton);
                nearest = nearest.max(part);
            }
            state = next;
        }
    }
    assert!(nearest > 0.9, "the cone was never neared: {nearest}");
}
