//! Contacts that are smaller than the resolution of a skin.

use dermis_geometry::quantity::Length;
use dermis_geometry::{Pose, Primitive, TriMesh, Twist, Vec3};
use dermis_sensor::{Aim, Goal, Pressed, Sensor, SensorSpec, SkinKind, SkinSpec, presets, press};
use dermis_skin::{Motion, Object, Resolution, Target, Warning};

fn exact_ball(radius_m: f64) -> Object {
    Object::of_primitive(Primitive::Sphere { radius_m }, radius_m / 8.0).unwrap()
}

fn pressed(sensor: &Sensor, radius_mm: f64, depth_mm: f64, at_mm: [f64; 2]) -> Pressed {
    let aim = Aim { at_m: at_mm.map(|mm| mm * 1e-3), ..Aim::default() };
    press(sensor, &exact_ball(radius_mm * 1e-3), &aim, Goal::Depth(depth_mm * 1e-3)).unwrap()
}

fn unresolved(pressed: &Pressed) -> Option<(usize, Resolution)> {
    pressed.touch.warnings.iter().find_map(|warning| match warning {
        Warning::Missed { key, .. } => Some((0, *key)),
        Warning::Unresolved { points, key, .. } => Some((*points, *key)),
        _ => None,
    })
}

fn with_points(name: &str, contact_points: usize) -> Sensor {
    SensorSpec { contact_points: Some(contact_points), ..presets::find(name).unwrap() }.build(None).unwrap()
}

/// A 4 mm ball 1 mm deep on the foam, and a 10 mm ball 0.4 mm deep on the WTS, lie between four texels with one contact
/// point each.
#[test]
fn an_object_between_contact_points_is_reported() {
    for (name, radius_mm, depth_mm) in [("uji-foam-14x6", 2.0, 1.0), ("wts0614", 5.0, 0.4), ("wts0614", 0.05, 0.05)] {
        let missed = pressed(&with_points(name, 1), radius_mm, depth_mm, [0.0, 0.0]);
        assert_eq!(missed.touch.on_sensor.force.z, 0.0, "{name}");
        assert_eq!(unresolved(&missed), Some((0, Resolution::ContactPoints)), "{name}: {:?}", missed.touch.warnings);
        let message = missed.touch.warnings[0].to_string();
        assert!(message.contains("missing") && message.contains("increase `contact_points`"), "{message}");
    }
    let resolved = pressed(&with_points("uji-foam-14x6", 8), 2.0, 1.0, [0.0, 0.0]);
    assert!(resolved.touch.on_sensor.force.z < 0.0 && unresolved(&resolved).is_none(), "{:?}", resolved.touch.warnings);
}

#[test]
fn an_object_between_the_points_of_a_curved_skin_is_reported() {
    for name in ["fingertip", "spherical-patch"] {
        let sensor = with_points(name, 1);
        let mesh = sensor.surface();
        let [a, b, c] = mesh.corners(mesh.triangles().len() / 2);
        let (middle, normal) = ((a + b + c) / 3.0, (b - a).cross(c - a).normalize());
        let ball = exact_ball(0.2e-3);
        let at = |height_m: f64| {
            let pose = Pose::from_translation(middle + normal * height_m);
            let target = dermis_skin::Target::at_rest(&ball, pose);
            sensor.skin().settle(&sensor.skin().rest(), &dermis_skin::Motion { targets: &[target] }).unwrap().0
        };
        assert!(matches!(at(0.05e-3).warnings[..], [Warning::Missed { .. }]), "{name}");
        assert!(at(1e-3).warnings.is_empty(), "{name}: {:?}", at(1e-3).warnings);
    }
}

/// A steep cone on its tip, as a mesh.
fn cone() -> Object {
    let ring = (0..24).map(|i| {
        let (sin, cos) = (f64::from(i) * std::f64::consts::TAU / 24.0).sin_cos();
        Vec3::new(1e-3 * cos, 1e-3 * sin, 2.7e-3)
    });
    let corners = [Vec3::ZERO, Vec3::Z * 2.7e-3].into_iter().chain(ring).collect();
    let sides = (0..24).flat_map(|i| [[0, 2 + (i + 1) % 24, 2 + i], [1, 2 + i, 2 + (i + 1) % 24]]).collect();
    Object::new(TriMesh::new("cone", corners, sides).unwrap())
}

/// Tips and edges between the cells have no force, and every skin says so, however narrow they are.
#[test]
fn a_tip_or_an_edge_between_cells_is_reported() {
    let half_m = Vec3::splat(1.5e-3);
    let mesh = Object::new(Primitive::Cuboid { half_m }.mesh(1.0).unwrap());
    let exact = Object::of_primitive(Primitive::Cuboid { half_m }, 1.0).unwrap();
    let [tip, edge] = [Aim::default(), Aim { tilt_rad: [0.0, std::f64::consts::FRAC_PI_4], ..Aim::default() }];
    for (name, skin) in
        [("gelsight", None), ("digit", None), ("wts0614-layer", None), ("gelsight", Some(SkinKind::Imprint))]
    {
        let spec = presets::find(name).unwrap();
        let sensor = skin.map_or_else(|| Ok(spec.clone()), |kind| spec.with_skin(kind)).unwrap().build(None).unwrap();
        for (object, aim) in [(&cone(), &tip), (&mesh, &edge), (&exact, &edge)] {
            for yaw_rad in [0.0, 0.5] {
                let aim = Aim { yaw_rad, ..*aim };
                let found = press(&sensor, object, &aim, Goal::Depth(3e-5)).unwrap();
                let warnings = &found.touch.warnings;
                assert!(
                    unresolved(&found).is_some(),
                    "{name}, {skin:?}, yaw {yaw_rad}: {} N, {warnings:?}",
                    found.touch.on_sensor.force.z
                );
            }
        }
    }
    let springs = with_points("wts0614", 4);
    for at_m in [[0.0, 0.0], [1e-4, 7e-5], [3e-4, 2e-4]] {
        let found = press(&springs, &cone(), &Aim { at_m, ..Aim::default() }, Goal::Depth(2e-4)).unwrap();
        assert!(unresolved(&found).is_some(), "{at_m:?}: {} N", found.touch.on_sensor.force.z);
    }
    // The long edge of a box between the diagonals of the points.
    let half_m = Vec3::splat(10e-3);
    let (mesh, exact) = (
        Object::new(Primitive::Cuboid { half_m }.mesh(1.0).unwrap()),
        Object::of_primitive(Primitive::Cuboid { half_m }, 1.0).unwrap(),
    );
    for object in [&mesh, &exact] {
        for (yaw_deg, at_m) in
            [(45.0, [0.3e-3, 0.0]), (45.3, [0.3e-3, 0.0]), (0.0, [0.42e-3, 0.0]), (0.4, [0.42e-3, 0.0])]
        {
            let aim = Aim { at_m, yaw_rad: f64::to_radians(yaw_deg), ..edge };
            let found = press(&springs, object, &aim, Goal::Depth(2e-5)).unwrap();
            assert!(unresolved(&found).is_some(), "{yaw_deg}: {} N", found.touch.on_sensor.force.z);
        }
    }
}

/// The tip of a wide body beside the middle of a curved skin, and none for the same body just above it.
#[test]
fn a_narrow_tip_on_a_curved_skin_is_reported() {
    let corners = [[-4e-3, -4e-3], [4e-3, -4e-3], [4e-3, 4e-3], [-4e-3, 4e-3]].map(|[x, y]| Vec3::new(x, y, 3e-3));
    let base = [[-2e-5, -2e-5], [2e-5, -2e-5], [2e-5, 2e-5], [-2e-5, 2e-5]].map(|[x, y]| Vec3::new(x, y, 2e-3));
    let corners = corners.into_iter().chain(base).chain([Vec3::ZERO]).collect();
    let sides = [0, 1, 2, 3].into_iter().flat_map(|i: u32| {
        let next = (i + 1) % 4;
        [[i, 4 + i, next], [next, 4 + i, 4 + next], [4 + i, 8, 4 + next]]
    });
    let pin = Object::new(TriMesh::new("pin", corners, sides.chain([[0, 1, 2], [0, 2, 3]]).collect()).unwrap());
    let sensor = presets::find("digit").unwrap().build(None).unwrap();
    for at_m in [[0.0, 0.0], [2e-3, 1e-3], [-3e-3, -4e-3]] {
        let found = press(&sensor, &pin, &Aim { at_m, ..Aim::default() }, Goal::Depth(5e-5)).unwrap();
        assert!(unresolved(&found).is_some(), "{at_m:?}: {} N", found.touch.on_sensor.force.z);
        let pose = Pose::new(
            found.sensor_from_object.rotation,
            found.sensor_from_object.translation + Vec3::Z * (found.depth_m + 2e-5),
        );
        let above = Target { object: &pin, sensor_from_object: pose, velocity: Twist::ZERO };
        let touch = sensor.touch(&sensor.skin().rest(), &Motion { targets: &[above] }, 1e-3).unwrap().0;
        assert_eq!(touch.warnings, [], "{at_m:?}");
    }
}

/// Beside the outermost contact points, but on the outermost texels.
#[test]
fn an_object_on_the_rim_is_reported_and_one_beside_it_is_not() {
    let sensor = with_points("wts0614", 1);
    let rim = pressed(&sensor, 0.5, 0.2, [3.0 * 3.4 - 0.6, 1.7]);
    assert_eq!(unresolved(&rim), Some((0, Resolution::ContactPoints)));
    let beside = Pose::from_translation(Vec3::new(3.0 * 3.4e-3 + 2e-3, 0.0, 0.0));
    let ball = exact_ball(0.5e-3);
    let motion = [dermis_skin::Target::at_rest(&ball, beside)];
    let (touch, _) = sensor.skin().settle(&sensor.skin().rest(), &dermis_skin::Motion { targets: &motion }).unwrap();
    assert!(touch.warnings.is_empty(), "{:?}", touch.warnings);
}

/// A ball of 0.1 mm lies between the cells of 0.2 mm, one of 1 mm covers a few, one of 10 mm enough.
#[test]
fn a_contact_of_few_cells_is_reported() {
    let coarse_gel = || {
        let mut spec = presets::find("gelsight").unwrap().with_skin(SkinKind::Gel).unwrap();
        let SkinSpec::Gel(gel) = &mut spec.skin else { panic!("a gel") };
        gel.cell = Some(Length::new(1e-3));
        spec
    };
    let imprint = || presets::find("fingertip").unwrap().with_skin(SkinKind::Imprint).unwrap();
    let layer = || presets::find("gelsight").unwrap();
    for (name, spec, at_mm) in
        [("layer", layer(), [0.0; 2]), ("gel", coarse_gel(), [0.0; 2]), ("imprint", imprint(), [0.0; 2])]
    {
        let sensor = spec.build(None).unwrap();
        let tiny = pressed(&sensor, 0.05, 0.05, at_mm);
        assert_eq!(unresolved(&tiny).map(|(_, key)| key), Some(Resolution::Cell), "{name}: {:?}", tiny.touch.warnings);
        let message = tiny.touch.warnings.last().unwrap().to_string();
        assert!(message.contains("reduce `cell`"), "{message}");
        let wide = pressed(&sensor, 8.0, 0.8, at_mm);
        assert_eq!(unresolved(&wide), None, "{name}: {:?}", wide.touch.warnings);
    }
    let sensor = layer().build(None).unwrap();
    let few = pressed(&sensor, 0.5, 0.05, [0.0; 2]);
    let (points, _) = unresolved(&few).unwrap();
    let message = few.touch.warnings[0].to_string();
    assert!((1..12).contains(&points) && message.contains("inaccurate"), "{points}");
    // What the message asks for is enough.
    let cell_mm = message.split("to about ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap();
    let mut finer = layer();
    let SkinSpec::Layer(skin) = &mut finer.skin else { panic!("a layer") };
    skin.cell = Some(Length::new(1e-3 * cell_mm.parse::<f64>().unwrap()));
    let enough = pressed(&finer.build(None).unwrap(), 0.5, 0.05, [0.0; 2]);
    assert_eq!(unresolved(&enough), None, "{message}: {:?}", enough.touch.warnings);
}

/// A plate over all four texels of a small array covers few contact points, and needs no more.
#[test]
fn a_plate_over_the_whole_sensor_is_resolved() {
    let mut spec = presets::find("wts0614").unwrap();
    spec.surface = dermis_sensor::SurfaceSpec::Grid { rows: 2, cols: 2, pitch: Length::new(3e-3) };
    spec.contact_points = Some(1);
    let plate = Object::new(dermis_geometry::shapes::cuboid(Vec3::new(20e-3, 20e-3, 2e-3)).unwrap());
    let found = press(&spec.build(None).unwrap(), &plate, &Aim::default(), Goal::Depth(0.5e-3)).unwrap();
    assert!(found.touch.warnings.is_empty() && found.touch.facets.len() == 4);
}

/// The force of a 12 mm ball, 0.5 mm deep, on every preset of springs at 8 places is within 2 % of that with 30 contact
/// points along a side.
#[test]
fn the_place_of_a_ball_on_a_preset_does_not_change_its_force() {
    let springs = presets::names().map(|name| presets::find(name).unwrap());
    for spec in springs.filter(|spec| spec.skin.kind() == SkinKind::Springs) {
        let fine = SensorSpec { contact_points: Some(30), ..spec.clone() }.build(None).unwrap();
        let sensor = spec.build(None).unwrap();
        let mut random = dermis_geometry::Random::new(12);
        let mut worst = 0.0f64;
        for _ in 0..8 {
            let at_mm = [random.between(-3.0, 3.0), random.between(-3.0, 3.0)];
            let [coarse, fine] = [&sensor, &fine].map(|sensor| pressed(sensor, 6.0, 0.5, at_mm));
            assert_eq!(unresolved(&coarse), None, "{}", spec.name);
            worst = worst.max((coarse.touch.on_sensor.force.z / fine.touch.on_sensor.force.z - 1.0).abs());
        }
        println!("{}: {worst:.4}", spec.name);
        assert!(worst < 0.02, "{}: {worst}", spec.name);
    }
}

/// 5 × 7 taxels of 3.15 mm on a box of 3 mm: every cell has its square, the force under a ball is the same on a coarse
/// and a fine mesh of the box and that of the same array as a grid.
#[test]
fn listed_taxels_on_a_mesh_have_exact_cells() {
    let folder = std::env::temp_dir().join(format!("dermis-cells-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (pitch, size) = (3.15, Vec3::new(5.0 * 3.15e-3, 7.0 * 3.15e-3, 3e-3));
    let mut body =
        dermis_geometry::shapes::cuboid(size).unwrap().transformed(&Pose::from_translation(Vec3::Z * -1.5e-3));
    let mut centers = String::new();
    for i in 0..35 {
        let (x, y) = ((f64::from(i % 5) - 2.0) * pitch, (3.0 - f64::from(i / 5)) * pitch);
        centers += &format!("[\"{x} mm\", \"{y} mm\", \"0 mm\"], ");
    }
    let skin = "kind = \"springs\"\nstiffness_per_area = \"20 MPa/m\"\nmax_penetration = \"2 mm\"\n";
    let text = format!(
        "name = \"listed\"\n[surface.points]\nreach = \"4 mm\"\ncenters = [{centers}]\nnormals = [{}]\n\
         body = {{ mesh = {{ file = \"body.stl\", unit = \"m\" }} }}\n[skin]\n{skin}",
        "[0.0, 0.0, 1.0], ".repeat(35)
    );
    let grid = format!(
        "name = \"grid\"\ncontact_points = 20\nsurface.grid = {{ rows = 7, cols = 5, pitch = \"{pitch} mm\" }}\n[skin]\n{skin}"
    );
    let ball = exact_ball(6e-3);
    let force = |sensor: &Sensor| {
        let pose = Pose::from_translation(Vec3::new(1.1e-3, 0.7e-3, 5.5e-3));
        let motion = [dermis_skin::Target::at_rest(&ball, pose)];
        let settled = sensor.skin().settle(&sensor.skin().rest(), &dermis_skin::Motion { targets: &motion });
        -settled.unwrap().0.on_sensor.force.z
    };
    let truth = force(&SensorSpec::parse("grid", &grid).unwrap().build(None).unwrap());
    for _ in 0..3 {
        let stl = dermis_geometry::files::write_stl(&body, dermis_geometry::files::LengthUnit::Metre);
        std::fs::write(folder.join("body.stl"), stl).unwrap();
        let sensor = SensorSpec::parse("listed", &text).unwrap().build(Some(&folder)).unwrap();
        for area_m2 in sensor.taxels().areas_m2() {
            assert!((area_m2 / (pitch * pitch * 1e-6) - 1.0).abs() < 1e-5, "{} mm²", area_m2 * 1e6);
        }
        let got = force(&sensor);
        println!("{} triangles: {got} N, grid {truth} N", body.triangles().len());
        assert!((got / truth - 1.0).abs() < 0.01, "{got} N, grid {truth} N");
        body = halved(&body);
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// The same surface with every triangle divided into four.
fn halved(mesh: &dermis_geometry::TriMesh) -> dermis_geometry::TriMesh {
    let mut vertices = Vec::new();
    for t in 0..mesh.triangles().len() {
        let [a, b, c] = mesh.corners(t);
        let [d, e, f] = [(a + b) * 0.5, (b + c) * 0.5, (c + a) * 0.5];
        vertices.extend([a, d, f, d, b, e, f, e, c, d, e, f]);
    }
    let triangles = (0..vertices.len() as u32 / 3).map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
    dermis_geometry::TriMesh::new("halved", vertices, triangles).unwrap()
}

/// The edges of a flat punch lie between contact points: 4 mm on points 1 mm apart misses a quarter of its force.
#[test]
fn a_flat_object_on_few_contact_points_is_reported() {
    let sensor = presets::find("wts0614").unwrap().build(None).unwrap();
    let cuboid = |side_mm: f64| {
        let object = Object::of_primitive(Primitive::Cuboid { half_m: Vec3::splat(0.5e-3 * side_mm) }, 1e-3).unwrap();
        press(&sensor, &object, &Aim::default(), Goal::Depth(0.5e-3)).unwrap()
    };
    let narrow = cuboid(4.0);
    assert!(unresolved(&narrow).is_some_and(|(points, _)| points > 12), "{:?}", narrow.touch.warnings);
    let wide = cuboid(80.0);
    assert!(unresolved(&wide).is_none(), "{:?}", wide.touch.warnings);
    assert!(unresolved(&pressed(&sensor, 10.0, 1.0, [0.0, 0.0])).is_none());
}

/// At the whole depth of a pressure field a flat face would leave the field and have no force.
#[test]
fn a_flat_object_has_a_force_at_the_largest_depth() {
    let spec = presets::find("wts0614").unwrap();
    let pad = spec.with_skin(SkinKind::Hydroelastic).unwrap().build(None).unwrap();
    let object = Object::of_primitive(Primitive::Cuboid { half_m: Vec3::splat(5e-3) }, 1e-3).unwrap();
    let max_m = pad.skin().max_depth_m();
    let force = |depth_m| -press(&pad, &object, &Aim::default(), Goal::Depth(depth_m)).unwrap().touch.on_sensor.force.z;
    let (most, less) = (force(max_m), force(0.99 * max_m));
    assert!(most > less && most < 1.05 * less, "{most} {less}");
}

#[test]
fn cells_as_large_as_the_layer_are_refused() {
    let mut spec = presets::find("gelsight").unwrap();
    let SkinSpec::Layer(layer) = &mut spec.skin else { unreachable!() };
    layer.cell = Some(Length::new(50e-3));
    let message = spec.build(None).unwrap_err().to_string();
    assert!(message.contains("`cell` (50 mm)"), "{message}");
}
