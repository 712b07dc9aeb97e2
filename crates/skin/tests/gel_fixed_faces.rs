//! Fixed parts of a gel: its faces, or regions given by a rule.

use dermis_geometry::{Pose, Primitive, Twist, Vec3, shapes};
use dermis_skin::gel::{Face, FixedFaces};
use dermis_skin::{Gel, GelParameters, Motion, Object, Skin, SkinError, Target, Touch};

const SIZE: Vec3 = Vec3::new(8e-3, 8e-3, 3e-3);

fn parameters() -> GelParameters {
    GelParameters { cell_m: 0.5e-3, ..GelParameters::default() }
}

fn block(size_m: Vec3, bonds: FixedFaces) -> Gel {
    Gel::block(size_m, bonds, parameters()).unwrap()
}

fn ball() -> Object {
    Object::of_primitive(Primitive::Sphere { radius_m: 3e-3 }, 0.3e-3).unwrap()
}

fn press(gel: &Gel, at: Vec3) -> Touch {
    let ball = ball();
    let target = Target::at_rest(&ball, Pose::from_translation(at));
    gel.settle(&gel.rest(), &Motion { targets: &[target] }).unwrap().0
}

fn newton(touch: &Touch) -> f64 {
    -touch.on_sensor.force.z
}

/// A block whose lowest millimetre is fixed equals a block that is a millimetre thinner.
#[test]
fn a_block_with_a_held_layer_equals_a_thinner_block() {
    let held = block(SIZE, FixedFaces::NONE).fixed_where(|at| at.z < -2e-3).unwrap();
    let thin = block(Vec3::new(8e-3, 8e-3, 2e-3), FixedFaces::default());
    let at = Vec3::new(0.3e-3, 0.0, 2.6e-3);
    let ratio = newton(&press(&held, at)) / newton(&press(&thin, at));
    assert!((ratio - 1.0).abs() < 0.02, "{ratio}");
}

/// A fixed face, and fixed particles in the layer of cells behind it: two independent implementations on gels with the
/// same free parts. A press near that face shows its effect.
#[test]
fn a_fixed_face_equals_a_held_layer() {
    let faces = FixedFaces::at(&[Face::Bottom, Face::LowX]);
    let bonded = block(SIZE, faces);
    // Larger by the fixed cell; its centre is half a cell to the left.
    let wider = block(SIZE + Vec3::X * 0.5e-3, FixedFaces::default()).fixed_where(|at| at.x < -3.75e-3).unwrap();
    let free = block(SIZE, FixedFaces::default());
    let at = Vec3::new(-2.1e-3, 0.4e-3, 2.6e-3);
    let (a, b) = (press(&bonded, at), press(&wider, at + Vec3::X * 0.25e-3));
    let loose = press(&free, at);
    assert!((newton(&a) / newton(&b) - 1.0).abs() < 0.02, "{} N and {} N", newton(&a), newton(&b));
    assert!(newton(&a) > 1.05 * newton(&loose), "{} N, free {} N", newton(&a), newton(&loose));
    // An eighth of a millimetre from the face, the surface moves by less than half of its displacement at a free face.
    let edge = |touch: &Touch| {
        let field = touch.surface.as_ref().unwrap();
        (0..field.rows).map(|row| field.values[row * field.cols].length()).fold(0.0, f64::max)
    };
    assert!(edge(&a) < 0.5 * edge(&loose), "{} m, free {} m", edge(&a), edge(&loose));
}

/// Left and right are mirror images, for blocks and for meshes; a mesh of a block with fixed sides equals the block.
#[test]
fn faces_match_their_names() {
    let at = Vec3::new(2.0e-3, 0.0, 2.6e-3);
    let low = press(&block(SIZE, FixedFaces::at(&[Face::Bottom, Face::LowX])), at * Vec3::new(-1.0, 1.0, 1.0));
    let high = press(&block(SIZE, FixedFaces::at(&[Face::Bottom, Face::HighX])), at);
    assert!((newton(&low) / newton(&high) - 1.0).abs() < 1e-3, "{} {}", newton(&low), newton(&high));
    let turned = Vec3::new(0.0, 2.0e-3, 2.6e-3);
    let y = press(&block(SIZE, FixedFaces::at(&[Face::Bottom, Face::HighY])), turned);
    assert!((newton(&y) / newton(&high) - 1.0).abs() < 1e-3, "{} {}", newton(&y), newton(&high));
    let mesh = shapes::cuboid(SIZE).unwrap().transformed(&Pose::from_translation(Vec3::Z * -1.5e-3));
    let solid = Gel::solid(&mesh, -1.0, FixedFaces::CUP, parameters()).unwrap();
    let ratio = newton(&press(&solid, at)) / newton(&press(&block(SIZE, FixedFaces::CUP), at));
    assert!((ratio - 1.0).abs() < 0.02, "{ratio}");
}

/// Presses at a constant speed, in five steps of a millisecond.
fn push(gel: &Gel, depth_m: f64) -> Touch {
    let (ball, dt) = (ball(), 1e-3);
    let mut state = gel.rest();
    let mut touch = Touch::default();
    for i in 1..=5 {
        let target = Target {
            object: &ball,
            sensor_from_object: Pose::from_translation(Vec3::Z * (3e-3 - depth_m * f64::from(i) / 5.0)),
            velocity: Twist::new(Vec3::Z * (-0.2 * depth_m / dt), Vec3::ZERO),
        };
        (touch, state) = gel.touch(&state, &Motion { targets: &[target] }, dt).unwrap();
    }
    touch
}

/// A dome over a rigid core, like flesh over a bone, is stiffer than the dome alone, by the same amount at rest and in
/// motion, where different code fixes the core.
#[test]
fn a_bone_holds_the_gel_around_it() {
    let dome = shapes::sphere(6e-3, 0.5e-3).unwrap().transformed(&Pose::from_translation(Vec3::Z * -6e-3));
    let bone = Primitive::Sphere { radius_m: 4e-3 };
    let in_bone = |at: Vec3| bone.nearest(at + Vec3::Z * 6e-3).0 <= 0.0;
    let parameters = GelParameters { cell_m: 0.75e-3, ..GelParameters::default() };
    let plain = Gel::solid(&dome, -6e-3, FixedFaces::default(), parameters).unwrap();
    let boned = plain.clone().fixed_where(in_bone).unwrap();
    let depth = 0.4e-3;
    let at = Vec3::Z * (3e-3 - depth);
    let rest = newton(&press(&boned, at)) / newton(&press(&plain, at));
    let moving = newton(&push(&boned, depth)) / newton(&push(&plain, depth));
    assert!(rest > 1.2, "{rest}");
    assert!((moving / rest - 1.0).abs() < 0.1, "{moving} in motion, {rest} at rest");
}

#[test]
fn holding_nothing_is_an_error() {
    let gel = block(SIZE, FixedFaces::NONE);
    let error = gel.settle(&gel.rest(), &Motion { targets: &[] }).unwrap_err();
    assert!(matches!(error, SkinError::BadGel { key: "bonded", .. }), "{error}");
    // The state of a moving gel, used with a gel that has fewer particles.
    let (whole, part) =
        (block(SIZE, FixedFaces::default()), block(SIZE, FixedFaces::default()).fixed_where(|at| at.x < 0.0).unwrap());
    let (_, state) = whole.touch(&whole.rest(), &Motion { targets: &[] }, 1e-5).unwrap();
    let error = part.touch(&state, &Motion { targets: &[] }, 1e-5).unwrap_err();
    assert!(matches!(error, SkinError::StateMismatch { .. }), "{error}");
    let error = gel.fixed_where(|_| false).unwrap_err();
    assert!(matches!(error, SkinError::BadGel { key: "held", .. }), "{error}");
}
