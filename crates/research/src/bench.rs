//! Benchmarks: `dermis bench`.

pub mod cpu_clock;
mod environments_on_gpu;
mod gel;
mod gel_on_gpu;
mod layer;
pub mod layer_on_gpu;
mod magnetic;
mod optics;
mod response;
mod springs;
mod springs_on_gpu;

use crate::validate::ValidateError;
use dermis::gpu::{Gpu, GpuError};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// A runnable benchmark.
pub struct Bench {
    /// Its name.
    pub name: &'static str,
    /// Description of the measurement, in one line.
    pub title: &'static str,
    run: fn() -> BTreeMap<String, f64>,
    on_gpu: Option<OnGpu>,
}

/// The same work on a GPU.
type OnGpu = fn(&Arc<Gpu>) -> Result<BTreeMap<String, f64>, GpuError>;

/// All benchmarks.
pub static ALL: &[Bench] = &[
    Bench {
        name: "springs",
        title: "a step of the spring skin by texels and triangles, and against brute force",
        run: springs::run,
        on_gpu: Some(springs_on_gpu::run),
    },
    Bench {
        name: "response",
        title: "a full response chain on 84 taxels against a step of the skin; on a GPU, environments with and without it",
        run: response::run,
        on_gpu: Some(environments_on_gpu::run),
    },
    Bench {
        name: "layer",
        title: "a ball on a layer of 256 x 256 cells, from rest and from the last step, and against n^2 log n",
        run: layer::run,
        on_gpu: Some(layer_on_gpu::run),
    },
    Bench {
        name: "optics",
        title: "from the pose of a ball to an image of 640 x 480 pixels, on one core",
        run: optics::run,
        on_gpu: None,
    },
    Bench {
        name: "magnetic",
        title: "flux densities of magnets: 4 magnets and 5 chips against a press, 16 magnets and 16 chips",
        run: magnetic::run,
        on_gpu: None,
    },
    Bench {
        name: "gel",
        title: "MPM steps of the gel on one and two cores, and a press to equilibrium with its errors",
        run: gel::run,
        on_gpu: Some(gel_on_gpu::run),
    },
];

impl Bench {
    /// Runs the benchmark: numbers by name; names carry their units.
    pub fn run(&self) -> BTreeMap<String, f64> {
        (self.run)()
    }

    /// Whether it also runs on a GPU.
    pub fn has_gpu(&self) -> bool {
        self.on_gpu.is_some()
    }

    /// Runs the benchmark on a GPU, in batches. Empty if it has no GPU version.
    pub fn run_on_gpu(&self, gpu: &Arc<Gpu>) -> Result<BTreeMap<String, f64>, GpuError> {
        self.on_gpu.map_or_else(|| Ok(BTreeMap::new()), |run| run(gpu))
    }
}

/// The benchmark `gel`, with the comparison of `validate feats` at the same cell size in the same run.
pub fn gel_with_feats(folder: &Path) -> Result<BTreeMap<String, f64>, ValidateError> {
    gel::run_with_feats(folder)
}

/// A benchmark by name.
pub fn find(name: &str) -> Option<&'static Bench> {
    ALL.iter().find(|bench| bench.name == name)
}

/// Time of one call (ns): the median of several batches after a warm-up, each long enough for the clock's resolution.
fn nanoseconds(mut call: impl FnMut(usize)) -> f64 {
    let mut step = 0;
    let mut batch = |count: usize| {
        let start = Instant::now();
        for _ in 0..count {
            call(step);
            step += 1;
        }
        start.elapsed().as_secs_f64() * 1e9 / count as f64
    };
    let once = batch(3);
    let count = (4e7 / once).clamp(1.0, 1e5) as usize;
    let mut times: Vec<f64> = (0..7).map(|_| batch(count)).collect();
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}
