use dermis_geometry::{Pose, TriMesh, Vec3};
use dermis_skin::gel::*;
use dermis_skin::*;
use std::time::Instant;

fn paraboloid(r: f64, reach: f64) -> TriMesh {
    let (rings, around) = (60usize, 96usize);
    let mut v = vec![Vec3::ZERO];
    let mut t: Vec<[u32; 3]> = Vec::new();
    for i in 1..=rings {
        let rho = reach * i as f64 / rings as f64;
        for k in 0..around {
            let a = std::f64::consts::TAU * (k as f64 + 0.5 * (i % 2) as f64) / around as f64;
            v.push(Vec3::new(rho * a.cos(), rho * a.sin(), rho * rho / (2.0 * r)));
        }
    }
    let at = |i: usize, k: usize| (1 + (i - 1) * around + k % around) as u32;
    for k in 0..around {
        t.push([0, at(1, k + 1), at(1, k)]);
        for i in 1..rings {
            let s = i % 2;
            let (a, b) = (at(i, k), at(i, k + 1));
            let (c, d) = if s == 1 { (at(i + 1, k), at(i + 1, k + 1)) } else { (at(i + 1, k), at(i + 1, k + 1)) };
            t.push([a, b, c]);
            t.push([b, d, c]);
        }
    }
    let top = v.len() as u32;
    v.push(Vec3::Z * (reach * reach / (2.0 * r) + 1e-3));
    for k in 0..around {
        t.push([at(rings, k), at(rings, k + 1), top]);
    }
    TriMesh::new("paraboloid", v, t).unwrap()
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let cell: f64 = args[1].parse::<f64>().unwrap() * 1e-3;
    let case: usize = args[2].parse().unwrap();
    let stretch: f64 = args[3].parse().unwrap();
    let constitution = match args[4].as_str() {
        "linear" => Constitution::Linear,
        "fc" => Constitution::FixedCorotated,
        _ => Constitution::NeoHookean,
    };
    let text = std::fs::read_to_string("/work/shared/golden/layer/paraboloid_on_bonded_layer.json").unwrap();
    let golden: serde_json::Value = serde_json::from_str(&text).unwrap();
    let c = &golden["cases"][case];
    let g = |k: &str| c[k].as_f64().unwrap();
    let h = g("layer_thickness_m");
    let a = g("contact_radius_m");
    let side = 2.0 * a + 6.0 * h;
    let p = GelParameters {
        young_pa: g("young_pa"),
        poisson: g("poisson"),
        constitution,
        cell_m: cell,
        ..Default::default()
    };
    let t0 = Instant::now();
    let gel = Gel::block(Vec3::new(side, side, h), Bonds::default(), p).unwrap();
    let mesh = paraboloid(g("R_m") * stretch, 1.6 * a);
    let object = Object::new(mesh);
    println!("closed {} particles {} built {:?}", object.surface.is_closed(), gel.particles(), t0.elapsed());
    let depth = g("depth_m") / stretch;
    let t0 = Instant::now();
    let target = Target::at_rest(&object, Pose::from_translation(Vec3::Z * -depth));
    let (touch, _state, work) = gel.equilibrium(&gel.rest(), &Motion { targets: &[target] }).unwrap();
    println!("{:?} {work:?}", t0.elapsed());
    let force = -touch.on_sensor.force.z;
    println!("force {force} golden {} ratio {}", g("force_n") / stretch, force * stretch / g("force_n"));
    let field = touch.surface.unwrap();
    let rs: Vec<f64> = c["r_m"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
    let us: Vec<f64> = c["surface_displacement_m"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
    let (mut worst, mut sum, mut n) = (0.0f64, 0.0, 0);
    for row in 0..field.rows {
        for col in 0..field.cols {
            let x = field.rest(row, col);
            let r = x.truncate().length();
            if r > *rs.last().unwrap() {
                continue;
            }
            let i = rs.partition_point(|v| *v <= r).min(rs.len() - 1).max(1);
            let f = (r - rs[i - 1]) / (rs[i] - rs[i - 1]);
            let truth = (us[i - 1] * (1.0 - f) + us[i] * f) / stretch;
            let got = -field.values[row * field.cols + col].z;
            let e = (got - truth) / depth;
            worst = if e.abs() > worst.abs() { e } else { worst };
            sum += e * e;
            n += 1;
        }
    }
    println!(
        "surface worst {worst:.4} rms {:.4} of depth; max depth facet {}",
        (sum / n as f64).sqrt(),
        touch.facets.iter().map(|f| f.depth_m).fold(0.0, f64::max) / depth
    );
}
