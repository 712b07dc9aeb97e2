use dermis_geometry::{Mat3, Vec3};
use dermis_skin::gel::*;
use std::time::Instant;
fn main() {
    let p = GelParameters { cell_m: 0.4e-3, ..Default::default() };
    let cpu = || -> f64 {
        std::fs::read_to_string("/proc/self/stat").unwrap().split_whitespace().nth(13).unwrap().parse::<f64>().unwrap()
            * 0.01
    };
    for simd in [Simd::Avx512, Simd::Avx2] {
        let mut cloud = Cloud::new([101, 101, 21], p, false, 0.3, simd, |x| {
            (Vec3::new(0.1, 0.05, 0.02) + Vec3::Z.cross(x) * 10.0, Mat3::from_diagonal(Vec3::new(1.02, 0.99, 1.0)))
        })
        .unwrap();
        let before = cloud.totals();
        cloud.run(5).unwrap();
        for threads in [1, 2] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut best = f64::INFINITY;
            let c0 = cpu();
            for _ in 0..5 {
                let t = Instant::now();
                pool.install(|| cloud.run(20).unwrap());
                best = best.min(t.elapsed().as_secs_f64() / 20.0 / cloud.len() as f64 * 1e9);
            }
            println!(
                "{simd:?} {threads} threads: {best:.1} ns/particle/step, cpu {:.1} ns {} MB",
                (cpu() - c0) / 100.0 / cloud.len() as f64 * 1e9,
                cloud.bytes() / 1_000_000
            );
        }
        println!("{before:?}\n{:?}", cloud.totals());
    }
}
