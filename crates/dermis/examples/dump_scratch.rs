use dermis::prelude::*;
use dermis::geometry::shapes::{sphere, indenters};
use dermis::skin::layer::{Overhead, Pair};
use dermis::skin::Layer;
use std::io::Write;
fn put(name: &str, v: &[f64]) { let mut f = std::fs::File::create(format!("/tmp/sheet_scratch/data/{name}")).unwrap(); for x in v { f.write_all(&x.to_le_bytes()).unwrap(); } }
fn main() {
    std::fs::create_dir_all("/tmp/sheet_scratch/data").unwrap();
    let preset = "gelsight";
    let spec = SensorSpec::find(preset).unwrap().0;
    let dermis::sensor::SkinSpec::Layer(ls) = &spec.skin else { panic!() };
    let mut p = ls.parameters(preset, &spec.surface).unwrap();
    p.tolerance = 1e-7;
    let layer = Layer::new(p).unwrap();
    for (i, pair) in [Pair::SinkPressure, Pair::XX, Pair::YY, Pair::XY, Pair::XPressure, Pair::YPressure, Pair::BelowPressure, Pair::BelowXX, Pair::BelowYY, Pair::BelowXY, Pair::BelowXPressure, Pair::BelowYPressure, Pair::BelowPressureX, Pair::BelowPressureY].into_iter().enumerate() {
        put(&format!("influence{i}"), &layer.influences().get(pair).values);
    }
    let objects = [Object::new(sphere(4e-3, 0.3e-3).unwrap()), Object::new(indenters::find("moon").unwrap())];
    let poses = [
        Pose::new(Quat::from_rotation_x(0.3) * Quat::from_rotation_z(0.5), Vec3::new(0.3e-3, 0.1e-3, 4e-3 - 1e-3)),
        Pose::new(Quat::from_rotation_z(0.5), Vec3::new(0.3e-3, 0.1e-3, -0.5e-3)),
    ];
    for k in 0..2 {
        let (object, pose) = (&objects[k], poses[k]);
        let mesh = object.surface.mesh();
        put(&format!("vertices{k}"), &mesh.vertices().iter().flat_map(|v| [v.x, v.y, v.z]).collect::<Vec<_>>());
        put(&format!("triangles{k}"), &mesh.triangles().iter().flat_map(|t| t.map(f64::from)).collect::<Vec<_>>());
        put(&format!("pose{k}"), &[pose.translation.x, pose.translation.y, pose.translation.z, pose.rotation.x, pose.rotation.y, pose.rotation.z, pose.rotation.w, f64::from(u8::from(object.surface.is_closed()))]);
        let targets = [Target::at_rest(object, pose)];
        let overhead = Overhead::of_motion(layer.grid(), &Motion { targets: &targets }, 0.3 * layer.stack().thickness_m());
        put(&format!("depth{k}"), &overhead.depth_m);
        let s = layer.solve_under(&layer.rest(), &overhead, &Twist::ZERO, None).unwrap();
        println!("{k} {:?} {:?}", s.region, s.effort);
        let n = layer.grid().cols;
        for c in 0..3 {
            let mut whole = vec![0.0; overhead.depth_m.len()];
            s.region.paste(&s.tractions.parts[c], &mut whole, n);
            put(&format!("traction{k}_{c}"), &whole);
            put(&format!("surface{k}_{c}"), &s.surface_m[c]);
            put(&format!("below{k}_{c}"), &s.below_pa[c]);
        }
    }
}
