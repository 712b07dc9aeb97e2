//! Sensors with a hydroelastic skin.

use dermis_geometry::Vec3;
use dermis_geometry::shapes;
use dermis_sensor::{Aim, Goal, SensorSpec, SkinKind, presets, press};
use dermis_skin::Object;

fn pad(skin: &str) -> SensorSpec {
    let text = format!(
        "name = \"pad\"\n[surface.grid]\nrows = 8\ncols = 8\npitch = \"2 mm\"\n[skin]\nkind = \"hydroelastic\"\n{skin}\n"
    );
    SensorSpec::parse("pad.toml", &text).unwrap()
}

const SOFT: &str = "hydroelastic_modulus = \"50 kPa\"\nthickness = \"4 mm\"\ndissipation = \"5 s/m\"";

/// A flat punch of area A at depth d over a pad of thickness h: F = E A d/h, and each taxel reads its share of the
/// area.
#[test]
fn a_punch_on_a_pad_is_a_foundation() {
    let sensor = pad(SOFT).build(None).unwrap();
    let punch = Object::new(shapes::cuboid(Vec3::new(5e-3, 7e-3, 10e-3)).unwrap());
    let pressed = press(&sensor, &punch, &Aim::default(), Goal::Depth(1e-3)).unwrap();
    let expected = 5e4 * 35e-6 * 0.25;
    assert!((pressed.reading.sum_newton / expected - 1.0).abs() < 1e-12, "{}", pressed.reading.sum_newton);
    // Four cells at the centre are completely covered; 4 mm² each.
    let middle = pressed.reading.values_newton[3 * 8 + 3];
    assert!((middle / (5e4 * 4e-6 * 0.25) - 1.0).abs() < 1e-12, "{middle}");
    // Column 1.5 … 2.5 mm is covered to 0.5 mm of 2 mm: x from 2 to 2.5 mm.
    let side = pressed.reading.values_newton[3 * 8 + 5];
    assert!((side / (0.25 * middle) - 1.0).abs() < 1e-12, "{side}");
}

/// Beyond the border of the array the pad exerts no force.
#[test]
fn the_pad_ends_with_the_array() {
    let sensor = pad(SOFT).build(None).unwrap();
    let punch = Object::new(shapes::cuboid(Vec3::new(8e-3, 4e-3, 10e-3)).unwrap());
    let aim = Aim { at_m: [8e-3, 0.0], ..Aim::default() };
    let pressed = press(&sensor, &punch, &aim, Goal::Depth(1e-3)).unwrap();
    assert!((pressed.reading.sum_newton / (5e4 * 16e-6 * 0.25) - 1.0).abs() < 1e-12, "{}", pressed.reading.sum_newton);
    assert!(pressed.reading.outside_newton.length() < 1e-15);
}

/// The pad that replaces springs carries a flat punch like them: exactly, for uniform springs.
#[test]
fn springs_can_be_replaced_by_a_pad() {
    for name in ["uji-foam-14x6", "wts0614", "capacitive-8x8"] {
        let spec = presets::find(name).unwrap();
        let (springs, field) =
            (spec.build(None).unwrap(), spec.with_skin(SkinKind::Hydroelastic).unwrap().build(None).unwrap());
        let plate = Object::new(shapes::cuboid(Vec3::new(0.2, 0.2, 0.01)).unwrap());
        let force = |sensor| press(sensor, &plate, &Aim::default(), Goal::Depth(2e-4)).unwrap().reading.sum_newton;
        let (a, b) = (force(&springs), force(&field));
        assert!((a / b - 1.0).abs() < 1e-9, "{name}: {a} against {b}");
    }
}

#[test]
fn curved_presets_can_have_a_field() {
    for name in ["spherical-patch", "fingertip"] {
        let mut spec = presets::find(name).unwrap();
        spec.skin = pad("hydroelastic_modulus = \"50 kPa\"").skin;
        let sensor = spec.build(None).unwrap();
        let ball = Object::new(shapes::sphere(8e-3, 1e-3).unwrap());
        let pressed = press(&sensor, &ball, &Aim::default(), Goal::Depth(1e-3)).unwrap();
        let sum = pressed.reading.forces_newton.iter().sum::<Vec3>() + pressed.reading.outside_newton;
        let net = pressed.touch.on_sensor.force;
        assert!(net.z < -0.01, "{name}: {net}");
        assert!((sum - net).length() <= 1e-12 * net.length(), "{name}: {sum} against {net}");
        assert!(pressed.reading.outside_newton.length() < 1e-3 * net.length(), "{name}");
    }
}

#[test]
fn slips_name_their_key() {
    let refusal = |spec: &SensorSpec| spec.build(None).unwrap_err().to_string();
    assert!(refusal(&pad("hydroelastic_modulus = \"50 kPa\"")).contains("`thickness` is needed"));
    assert!(
        refusal(&pad("hydroelastic_modulus = \"50 kPa\"\nthickness = \"-1 mm\""))
            .contains("`thickness` must be a positive")
    );
    assert!(refusal(&pad("hydroelastic_modulus = \"0 kPa\"\nthickness = \"1 mm\"")).contains("`hydroelastic_modulus`"));
    let message = refusal(&pad("hydroelastic_modulus = \"1 kPa\"\nthickness = \"1 mm\"\ndissipation = \"-1 s/m\""));
    assert!(message.contains("`dissipation`"), "{message}");
    let mut tip = presets::find("fingertip").unwrap();
    tip.skin = pad(SOFT).skin;
    assert!(refusal(&tip).contains("`thickness` is for the pad"));
    assert!(tip.with_skin(SkinKind::Hydroelastic).is_ok());
    let curved = presets::find("fingertip").unwrap().with_skin(SkinKind::Hydroelastic).unwrap_err().to_string();
    assert!(curved.contains("`kind`"), "{curved}");
}

/// From every side, the force vectors of the 12 taxels and the force between them sum to the net force.
#[test]
fn the_shadow_fingertip_keeps_the_load() {
    let sensor = presets::find("shadow-fingertip").unwrap().build(None).unwrap();
    let ball = Object::new(shapes::sphere(6e-3, 1e-3).unwrap());
    for at_m in [[0.0, 0.0], [4e-3, -2e-3], [-5e-3, 8e-3], [0.0, 12e-3]] {
        let aim = Aim { at_m, ..Aim::default() };
        let pressed = press(&sensor, &ball, &aim, Goal::Depth(1e-3)).unwrap();
        let sum = pressed.reading.forces_newton.iter().sum::<Vec3>() + pressed.reading.outside_newton;
        let net = pressed.touch.on_sensor.force;
        assert!(net.z < -0.01 && (sum - net).length() <= 1e-12 * net.length(), "{at_m:?}: {sum} against {net}");
        assert!(pressed.reading.active() > 0, "{at_m:?}");
    }
}

#[test]
fn slips_in_lists_of_taxels_name_their_key() {
    let refusal = |from: &str, to: &str| {
        let text = presets::text("shadow-fingertip").unwrap();
        assert!(text.contains(from), "{from}");
        let spec = SensorSpec::parse("tip.toml", &text.replacen(from, to, 1)).unwrap();
        spec.build(None).unwrap_err().to_string()
    };
    assert!(refusal("reach = \"6 mm\"", "reach = \"0 mm\"").contains("`reach`"));
    assert!(refusal("normals = [\n", "normals = [\n[0.0, 0.0, 1.0],\n").contains("12 and 13 normals"));
    assert!(refusal("[0.37386554, 0.08779566, 0.92331819]", "[0.0, 0.0, 0.0]").contains("taxel 0"));
}

/// The taxels of the preset, written as a robot description, give the same sensor.
#[test]
fn taxels_can_come_from_a_robot_description() {
    let listed = presets::find("shadow-fingertip").unwrap().build(None).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut robot = String::from("<robot><sensor name=\"tip\"><parent link=\"distal\"/><tactile>\n");
    for (i, (at, normal)) in listed.taxels().centers().iter().zip(listed.taxels().normals()).enumerate() {
        // Pitch and yaw that rotate z to the normal.
        let (pitch, yaw) = (normal.z.clamp(-1.0, 1.0).acos(), normal.y.atan2(normal.x));
        robot += &format!("<taxel idx=\"{i}\" xyz=\"{} {} {}\" rpy=\"0 {pitch} {yaw}\"/>\n", at.x, at.y, at.z);
    }
    std::fs::write(folder.path().join("hand.urdf"), robot + "</tactile></sensor></robot>").unwrap();
    let text = presets::text("shadow-fingertip").unwrap();
    let (head, rest) = text.split_once("[surface.points]").unwrap();
    let (_, rest) = rest.split_once("[surface.points.body.fingertip]").unwrap();
    let surface =
        "[surface.urdf]\nfile = \"hand.urdf\"\nsensor = \"tip\"\nreach = \"6 mm\"\n[surface.urdf.body.fingertip]";
    let spec = SensorSpec::parse("tip.toml", &format!("{head}{surface}{rest}")).unwrap();
    let sensor = spec.build(Some(folder.path())).unwrap();
    for i in 0..12 {
        assert!((sensor.taxels().centers()[i] - listed.taxels().centers()[i]).length() < 1e-15);
        assert!((sensor.taxels().normals()[i] - listed.taxels().normals()[i]).length() < 1e-12);
    }
    let message = spec.build(None).unwrap_err().to_string();
    assert!(message.contains("hand.urdf"), "{message}");
}

/// A body in another unit, a normal into the body and two taxels in one place were a force in silence, or a message that
/// named none of them.
#[test]
fn taxels_that_do_not_fit_their_body_are_refused() {
    let text = presets::text("shadow-fingertip").unwrap();
    let refusal = |changes: &[(&str, &str)]| {
        let changed = changes.iter().fold(text.to_owned(), |text, (from, to)| {
            assert!(text.contains(from), "{from}");
            text.replacen(from, to, 1)
        });
        SensorSpec::parse("tip.toml", &changed).unwrap().build(None).unwrap_err().to_string()
    };
    let sizes = ["30.52 mm", "18.245 mm", "15.697 mm", "edge = \"1 mm"];
    let larger = sizes.map(|size| (size, size.replace(" mm", " cm").replace("\"1 mm", "\"10 mm")));
    let message = refusal(&larger.each_ref().map(|(from, to)| (*from, to.as_str())));
    assert!(message.contains("`centers` must lie on the body") && message.contains("check the unit"), "{message}");
    let message = refusal(&[("[0.37386554, 0.08779566, 0.92331819]", "[-0.37386554, -0.08779566, -0.92331819]")]);
    assert!(message.contains("`normals` must point out of the body; that of taxel 0"), "{message}");
    let first = "[\"4.1518 mm\", \"-2.0738 mm\", \"-0.7583 mm\"]";
    let message = refusal(&[("[\"8.6195 mm\", \"-3.5543 mm\", \"-7.3719 mm\"]", first)]);
    assert!(message.contains("`centers` must differ") && message.contains("taxel"), "{message}");
}

#[test]
fn the_old_name_of_the_modulus_is_refused_with_the_new_one() {
    let text = "name = \"t\"\nsurface.grid = { rows = 2, cols = 2, pitch = \"2 mm\" }\n[skin]\nkind = \"hydroelastic\"\n\
                modulus = \"50 kPa\"\nthickness = \"4 mm\"\n";
    let message = SensorSpec::parse("t.toml", text).unwrap_err().to_string();
    assert!(message.contains("hydroelastic_modulus") && message.contains("not Young's modulus"), "{message}");
}

/// Under a ball of 5 mm, 0.2 mm deep, a pad with the converted modulus has the force of Hertz; the linear field of the
/// pad is exact, so only the curvature of the ball remains.
#[test]
fn a_converted_modulus_has_the_force_of_hertz() {
    use dermis_skin::hydroelastic::Material;
    let (young, poisson, radius_m, depth_m) = (80e3, 0.45, 5e-3, 0.2e-3);
    let modulus = Material::modulus_like_hertz_pa(young, poisson, 4e-3, radius_m, depth_m).unwrap();
    let text = format!(
        "name = \"t\"\nsurface.grid = {{ rows = 6, cols = 6, pitch = \"2 mm\" }}\n[skin]\nkind = \"hydroelastic\"\n\
         hydroelastic_modulus = \"{modulus} Pa\"\nthickness = \"4 mm\"\n"
    );
    let sensor = SensorSpec::parse("t.toml", &text).unwrap().build(None).unwrap();
    let ball = dermis_skin::Object::new(dermis_geometry::shapes::sphere(radius_m, 0.1e-3).unwrap());
    let pressed =
        dermis_sensor::press(&sensor, &ball, &dermis_sensor::Aim::default(), dermis_sensor::Goal::Depth(depth_m))
            .unwrap();
    let hertz = 4.0 / 3.0 * young / (1.0 - poisson * poisson) * radius_m.sqrt() * depth_m.powf(1.5);
    let force = -pressed.touch.on_sensor.force.z;
    assert!((force / hertz - 1.0).abs() < 0.03, "{force} N, Hertz {hertz} N");
    assert_eq!(Material::modulus_like_pad_pa(80e3, 0.0).unwrap(), 80e3);
    assert!(
        Material::modulus_like_pad_pa(80e3, 0.5).is_err()
            && Material::modulus_like_hertz_pa(1.0, 0.3, -1.0, 1.0, 1.0).is_err()
    );
}
