//! Transfers between the particles of a block and the grid: P2G, G2P, and both in one sweep.

use crate::gel::{Constitution, StepConstants};
use crate::simd::{F32x16, Kernel, Simd, Vectors};

/// Cells along an edge of a block.
pub(super) const BLOCK: usize = 4;
/// Nodes along an edge of a tile: those of the particles of a block, including particles one cell outside.
pub(super) const TILE_EDGE: usize = 8;
/// Floats in a tile: mass and momentum (or velocity) of its nodes, and padding for a vector load that starts at the
/// last node.
pub(super) const TILE: usize = TILE_EDGE * TILE_EDGE * TILE_EDGE * 4 + 16;
/// Particles per vector.
pub(super) const BATCH: usize = 16;
/// Floats from one node to the next along y and z.
const ALONG_Y: usize = TILE_EDGE * 4;
const ALONG_Z: usize = TILE_EDGE * ALONG_Y;
/// Floats from the first node of a 3³ stencil to the end of the vector that starts at its last row.
const STENCIL: usize = 2 * ALONG_Z + 2 * ALONG_Y + BATCH;
/// Maximum index of a first node whose 3³ stencil fits the tile.
const LAST: f32 = ((5 * TILE_EDGE + 5) * TILE_EDGE + 5) as f32;

/// Maximum travel of a particle in a step, as a fraction of a cell.
const MARGIN: f32 = 0.2;

/// Mass and momentum, or velocity, of the nodes around a block.
pub(super) type Tile = [f32; TILE];

/// Material and grid of a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct StepSetup {
    pub constitution: Constitution,
    pub constants: StepConstants,
    /// Edges of a cell (m).
    pub edge_m: [f32; 3],
}

/// Columns of a block's particles: positions (cells, from the block's corner), velocities (m/s), affine velocities
/// (1/s), deformation gradients and volume fractions. Their number is a multiple of [`BATCH`]; padding has volume
/// fraction 0.
pub(super) struct BlockParticles<'a> {
    pub position: [&'a mut [f32]; 3],
    pub velocity: [&'a mut [f32]; 3],
    pub affine: [&'a mut [f32]; 9],
    pub deformation: [&'a mut [f32]; 9],
    pub volume_fraction: &'a [f32],
    /// Prescribed motion, if any particle of the run has one.
    pub prescribed: Option<Prescribed<'a>>,
}

/// Particles with prescribed velocity.
#[derive(Clone, Copy)]
pub(super) struct Prescribed<'a> {
    /// 0 for a free particle, k for one with `velocities[k − 1]`; the first velocity is that of fixed particles.
    pub index: &'a [u8],
    pub velocities: &'a [[f32; 3]],
}

/// Result of a transfer for one block.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct TransferOutcome {
    /// Impulse that moving prescribed particles received (in full-particle masses, m/s).
    pub prescribed: [f32; 3],
    /// Slot of a particle that is inverted or has left its tile.
    pub failed: Option<usize>,
    /// True if a particle is near the border of its tile: sort before the next step.
    pub strayed: bool,
}

/// Kind of transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transfer {
    /// Particles to grid: the first half of a step.
    P2G,
    /// Grid to particles, advection, and particles to grid for the next step.
    G2P2G,
    /// Grid to particles and advection; velocities are stored.
    G2P,
}

/// Runs a transfer with the given vector instructions.
pub(super) fn transfer_block(
    simd: Simd,
    kind: Transfer,
    setup: &StepSetup,
    from: &Tile,
    to: &mut Tile,
    particles: &mut BlockParticles<'_>,
) -> TransferOutcome {
    simd.run(Run { kind, setup, from, to, particles })
}

/// Arguments of [`pass`], for any instruction set.
struct Run<'a, 'b> {
    kind: Transfer,
    setup: &'a StepSetup,
    from: &'a Tile,
    to: &'a mut Tile,
    particles: &'a mut BlockParticles<'b>,
}

impl Kernel for Run<'_, '_> {
    type Output = TransferOutcome;
    #[inline(always)]
    fn run<V: Vectors>(self) -> TransferOutcome {
        let Self { kind, setup, from, to, particles } = self;
        match kind {
            Transfer::P2G => run::<V::F32, false, true>(setup, from, to, particles),
            Transfer::G2P2G => run::<V::F32, true, true>(setup, from, to, particles),
            Transfer::G2P => run::<V::F32, true, false>(setup, from, to, particles),
        }
    }
}

/// The batch that starts at `first`.
#[inline(always)]
fn batch(values: &[f32], first: usize) -> &[f32; BATCH] {
    values[first..].first_chunk().expect("a whole batch")
}

#[inline(always)]
fn batch_mut(values: &mut [f32], first: usize) -> &mut [f32; BATCH] {
    values[first..].first_chunk_mut().expect("a whole batch")
}

/// Quadratic B-spline stencils of a batch of particles: by axis and node the weights, the distances node − particle
/// (cells) and their products; and the index of each particle's first node.
struct Weights {
    weight: [[[f32; BATCH]; 3]; 3],
    distance: [[[f32; BATCH]; 3]; 3],
    moment: [[[f32; BATCH]; 3]; 3],
    first: [f32; BATCH],
}

impl Weights {
    const ZERO: Self = Self {
        weight: [[[0.0; BATCH]; 3]; 3],
        distance: [[[0.0; BATCH]; 3]; 3],
        moment: [[[0.0; BATCH]; 3]; 3],
        first: [0.0; BATCH],
    };

    #[inline(always)]
    fn set<T: F32x16>(&mut self, at: &[T; 3]) {
        let (half, one) = (T::splat(0.5), T::splat(1.0));
        let mut cell = [one; 3];
        for axis in 0..3 {
            cell[axis] = at[axis].floor();
            let xi = at[axis].sub(cell[axis]).sub(half);
            let (low, high) = (half.sub(xi), half.add(xi));
            let middle = T::splat(0.75).sub(xi.mul(xi));
            let weights = [half.mul(low).mul(low), middle, half.mul(high).mul(high)];
            let minus = T::splat(0.0).sub(xi);
            let distances = [minus.sub(one), minus, minus.add(one)];
            for node in 0..3 {
                weights[node].store(&mut self.weight[axis][node]);
                distances[node].store(&mut self.distance[axis][node]);
                weights[node].mul(distances[node]).store(&mut self.moment[axis][node]);
            }
        }
        let edge = T::splat(TILE_EDGE as f32);
        let rows = cell[2].add(one).mul_add(edge, cell[1].add(one));
        // Bounded, so that the stencil is inside the tile for any position of the particle.
        let first = rows.mul_add(edge, cell[0].add(one)).bounded(LAST);
        first.store(&mut self.first);
    }

    /// Index in the tile of a particle's first node.
    #[inline(always)]
    fn first(&self, particle: usize) -> usize {
        4 * self.first[particle] as usize
    }
}

#[inline(always)]
fn run<T: F32x16, const GATHER: bool, const SCATTER: bool>(
    setup: &StepSetup,
    from: &Tile,
    to: &mut Tile,
    particles: &mut BlockParticles<'_>,
) -> TransferOutcome {
    let mut outcome = TransferOutcome::default();
    let mut weights = Weights::ZERO;
    let count = particles.volume_fraction.len();
    let mut first = 0;
    while first < count {
        let mut at = [T::splat(0.0); 3];
        for axis in 0..3 {
            at[axis] = T::load(batch(particles.position[axis], first));
        }
        let mut velocity = [T::splat(0.0); 3];
        let mut affine = [T::splat(0.0); 9];
        let mut deformation = [T::splat(0.0); 9];
        for i in 0..9 {
            deformation[i] = T::load(batch(particles.deformation[i], first));
        }
        weights.set(&at);
        if GATHER {
            gather(from, &weights, setup, &mut velocity, &mut affine);
            prescribe(particles, first, &mut velocity, &mut affine, &mut outcome);
            for i in 0..9 {
                let mut sum = deformation[i];
                for k in 0..3 {
                    let rate = affine[3 * (i / 3) + k].mul(T::splat(setup.constants.dt_s));
                    // The old deformation: `deformation` is written below.
                    let old = T::load(batch(particles.deformation[3 * k + i % 3], first));
                    sum = rate.mul_add(old, sum);
                }
                deformation[i] = sum;
            }
            for axis in 0..3 {
                let cells = T::splat(setup.constants.dt_s / setup.edge_m[axis]);
                at[axis] = velocity[axis].mul_add(cells, at[axis]);
                outcome.strayed |= at[axis].outside(-1.0 + MARGIN, 5.0 - MARGIN).is_some();
                // The particle is outside its tile after one step, or NaN.
                if let Some(lane) = at[axis].outside(-1.0, 5.0) {
                    outcome.failed = outcome.failed.or(Some(first + lane));
                }
                at[axis].store(batch_mut(particles.position[axis], first));
            }
            for i in 0..9 {
                deformation[i].store(batch_mut(particles.deformation[i], first));
            }
        } else {
            for axis in 0..3 {
                velocity[axis] = T::load(batch(particles.velocity[axis], first));
            }
            for i in 0..9 {
                affine[i] = T::load(batch(particles.affine[i], first));
            }
        }
        let volume = determinant(&deformation);
        if let Some(lane) = volume.outside(0.0, f32::MAX) {
            outcome.failed = outcome.failed.or(Some(first + lane));
        }
        if SCATTER {
            let volume_fraction = T::load(batch(particles.volume_fraction, first));
            if GATHER {
                weights.set(&at);
            }
            let stress = kirchhoff(setup, &deformation, volume);
            scatter(to, &weights, setup, volume_fraction, &velocity, &affine, &stress);
        } else {
            for axis in 0..3 {
                velocity[axis].store(batch_mut(particles.velocity[axis], first));
            }
            for i in 0..9 {
                affine[i].store(batch_mut(particles.affine[i], first));
            }
        }
        first += BATCH;
    }
    outcome
}

/// v = Σ w vᵢ and C = Σ w vᵢ ⊗ (xᵢ − x) 4/Δx² (Chen et al. 2023, eqs 7 and 8, with the velocity of the node in eq. 8,
/// where the paper prints that of the particle).
#[inline(always)]
fn gather<T: F32x16>(from: &Tile, weights: &Weights, setup: &StepSetup, velocity: &mut [T; 3], affine: &mut [T; 9]) {
    let mut rows = [T::splat(0.0); 16];
    for particle in 0..BATCH {
        let nodes: &[f32; STENCIL] = from[weights.first(particle)..].first_chunk().expect("the stencil is in the tile");
        let w = |axis: usize, node: usize| weights.weight[axis][node][particle];
        let moment = |axis: usize, node: usize| weights.moment[axis][node][particle];
        let zero = T::splat(0.0);
        let (mut value, mut slope_y, mut slope_z) = (zero, zero, zero);
        for k in 0..3 {
            let (mut sum, mut slope) = (zero, zero);
            for j in 0..3 {
                let row = T::load(batch(nodes, j * ALONG_Y + k * ALONG_Z));
                sum = row.mul_add(T::splat(w(1, j)), sum);
                slope = row.mul_add(T::splat(moment(1, j)), slope);
            }
            let wz = T::splat(w(2, k));
            value = sum.mul_add(wz, value);
            slope_y = slope.mul_add(wz, slope_y);
            slope_z = sum.mul_add(T::splat(moment(2, k)), slope_z);
        }
        let wx = T::quads(w(0, 0), w(0, 1), w(0, 2));
        let slope_x = T::quads(moment(0, 0), moment(0, 1), moment(0, 2));
        rows[particle] = T::sum_quads(value.mul(wx), value.mul(slope_x), slope_y.mul(wx), slope_z.mul(wx));
    }
    T::transpose(&mut rows);
    for axis in 0..3 {
        velocity[axis] = rows[axis];
        for along in 0..3 {
            affine[3 * axis + along] = rows[4 + 4 * along + axis].mul(T::splat(4.0 / setup.edge_m[along]));
        }
    }
}

/// w m, and w (m v + (m C − Δt V 4/Δx² τ) (xᵢ − x)) (eqs 2 to 5, with the mass before C that is missing in eq. 4).
#[inline(always)]
fn scatter<T: F32x16>(
    to: &mut Tile,
    weights: &Weights,
    setup: &StepSetup,
    volume_fraction: T,
    velocity: &[T; 3],
    affine: &[T; 9],
    stress: &[T; 6],
) {
    let mut rows = [T::splat(0.0); 16];
    rows[3] = volume_fraction;
    // τ by rows: xx, xy, xz, yy, yz, zz.
    let place = [[0, 1, 2], [1, 3, 4], [2, 4, 5]];
    for axis in 0..3 {
        rows[axis] = velocity[axis].mul(volume_fraction);
        for along in 0..3 {
            let edge = setup.edge_m[along];
            let push = stress[place[axis][along]]
                .mul(T::splat(-4.0 * setup.constants.dt_s / (setup.constants.density * edge)));
            let carried = affine[3 * axis + along].mul_add(T::splat(edge), push);
            rows[4 + 4 * along + axis] = carried.mul(volume_fraction);
        }
    }
    T::transpose(&mut rows);
    for (particle, row) in rows.iter().enumerate() {
        let mut packed = [0f32; 16];
        row.store(&mut packed);
        let first = weights.first(particle);
        let nodes: &mut [f32; STENCIL] = to[first..].first_chunk_mut().expect("the stencil is in the tile");
        let w = |axis: usize, node: usize| weights.weight[axis][node][particle];
        let d = |axis: usize, node: usize| weights.distance[axis][node][particle];
        let mut quads = [T::splat(0.0); 4];
        for (quad, four) in quads.iter_mut().zip(packed.as_chunks().0) {
            *quad = T::repeat_quad(four);
        }
        let wx = T::quads(w(0, 0), w(0, 1), w(0, 2));
        let along_x = quads[1].mul_add(T::quads(d(0, 0), d(0, 1), d(0, 2)), quads[0]).mul(wx);
        let (along_y, along_z) = (quads[2].mul(wx), quads[3].mul(wx));
        for k in 0..3 {
            let wz = T::splat(w(2, k));
            let layer = along_z.mul_add(T::splat(d(2, k)), along_x).mul(wz);
            let moment = along_y.mul(wz);
            for j in 0..3 {
                let load = moment.mul_add(T::splat(d(1, j)), layer);
                let at = batch_mut(nodes, j * ALONG_Y + k * ALONG_Z);
                load.mul_add(T::splat(w(1, j)), T::load(at)).store(at);
            }
        }
    }
}

/// Replaces the velocity of prescribed particles and records the impulse; moving ones have no affine velocity.
#[inline(always)]
fn prescribe<T: F32x16>(
    particles: &BlockParticles<'_>,
    first: usize,
    velocity: &mut [T; 3],
    affine: &mut [T; 9],
    outcome: &mut TransferOutcome,
) {
    let Some(prescribed) = &particles.prescribed else { return };
    let indices = &prescribed.index[first..first + BATCH];
    if indices.iter().all(|&index| index == 0) {
        return;
    }
    for axis in 0..3 {
        let mut lanes = [0f32; BATCH];
        velocity[axis].store(&mut lanes);
        for l in 0..BATCH {
            if indices[l] > 0 {
                let given = prescribed.velocities[indices[l] as usize - 1][axis];
                if indices[l] > 1 {
                    outcome.prescribed[axis] += lanes[l] - given;
                }
                lanes[l] = given;
            }
        }
        velocity[axis] = T::load(&lanes);
    }
    for column in affine {
        let mut lanes = [0f32; BATCH];
        column.store(&mut lanes);
        for l in 0..BATCH {
            if indices[l] > 1 {
                lanes[l] = 0.0;
            }
        }
        *column = T::load(&lanes);
    }
}

#[inline(always)]
fn determinant<T: F32x16>(f: &[T; 9]) -> T {
    let first = f[0].mul(f[4].mul(f[8]).sub(f[5].mul(f[7])));
    let second = f[1].mul(f[3].mul(f[8]).sub(f[5].mul(f[6])));
    let third = f[2].mul(f[3].mul(f[7]).sub(f[4].mul(f[6])));
    first.sub(second).add(third)
}

/// Kirchhoff stress τ = J σ: xx, xy, xz, yy, yz, zz.
#[inline(always)]
fn kirchhoff<T: F32x16>(setup: &StepSetup, f: &[T; 9], volume: T) -> [T; 6] {
    let one = T::splat(1.0);
    let pressure = T::splat(setup.constants.lambda_pa).mul(volume).mul(volume.sub(one));
    let pairs = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)];
    let mut stress = [one; 6];
    if setup.constitution == Constitution::FixedCorotated {
        let r = rotation(f);
        for (i, &(a, b)) in pairs.iter().enumerate() {
            let mut sum = T::splat(0.0);
            for k in 0..3 {
                sum = f[3 * a + k].sub(r[3 * a + k]).mul_add(f[3 * b + k], sum);
            }
            stress[i] = sum.mul(T::splat(2.0 * setup.constants.mu_pa));
        }
    } else {
        for (i, &(a, b)) in pairs.iter().enumerate() {
            let mut sum = if a == b { T::splat(-1.0) } else { T::splat(0.0) };
            for k in 0..3 {
                sum = f[3 * a + k].mul_add(f[3 * b + k], sum);
            }
            stress[i] = sum.mul(T::splat(setup.constants.mu_pa));
        }
    }
    for diagonal in [0, 3, 5] {
        stress[diagonal] = stress[diagonal].add(pressure);
    }
    stress
}

/// The rotation in F by Newton's iteration R ← (R + R⁻ᵀ)/2 (Higham 1986); six iterations suffice for stretches from 1/3
/// to 3.
#[inline(always)]
fn rotation<T: F32x16>(f: &[T; 9]) -> [T; 9] {
    let mut r = *f;
    let half = T::splat(0.5);
    for _ in 0..6 {
        let inverse = T::splat(1.0).div(determinant(&r));
        let mut next = r;
        for i in 0..3 {
            let (a, b) = ((i + 1) % 3, (i + 2) % 3);
            for j in 0..3 {
                let (c, d) = ((j + 1) % 3, (j + 2) % 3);
                let cofactor = r[3 * a + c].mul(r[3 * b + d]).sub(r[3 * a + d].mul(r[3 * b + c]));
                next[3 * i + j] = cofactor.mul_add(inverse, r[3 * i + j]).mul(half);
            }
        }
        r = next;
    }
    r
}
