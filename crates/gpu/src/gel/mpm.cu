// Explicit MLS-MPM steps, many in one cooperative launch: the CPU's gel/mpm. Blocks of 4 x 4 x 4 cells own particles. Each block transfers
// from the nodes to its particles and back into its own tile of 8 x 8 x 8 nodes; tiles are summed in a fixed order. Within a tile momentum
// is summed in integers, so that the result does not depend on the order of particles. Particles that leave their block are sorted between
// steps.
//
// Thread layout: 128 threads per block of the grid. Transfers take one block of cells per block of the grid and one particle per thread;
// the grid update takes one node per thread; sorting takes one particle, one block of cells or one brick of nodes per thread.

#define THREADS 128
#define TILE 512
#define EDGE 8
#define BLOCK 4
#define MARGIN 0.2f

// Kinds of transfer: particles to grid; grid to particles and back; grid to particles, which keep their velocities.
enum Transfer { P2G, G2P2G, G2P };

// Velocity, affine velocity and deformation gradient of a particle, by rows; position in cells from the corner of its block.
struct Particle {
    float at[3], v[3], affine[9], f[9];
};

// Quadratic B-splines of three nodes along each axis, the distances node - particle (cells), and the first node in the tile.
struct Weights {
    float w[3][3], d[3][3];
    int first;
};

__device__ inline float determinant(const float f[9]) {
    return f[0] * (f[4] * f[8] - f[5] * f[7]) - f[1] * (f[3] * f[8] - f[5] * f[6]) + f[2] * (f[3] * f[7] - f[4] * f[6]);
}

// The rotation R of F = R S by Newton's iteration R <- (R + R^-T) / 2 (Higham 1986).
__device__ inline void rotation(const float f[9], float r[9]) {
#pragma unroll
    for (int i = 0; i < 9; i++) r[i] = f[i];
#pragma unroll 1
    for (int k = 0; k < 6; k++) {
        float per = 1.0f / determinant(r), next[9];
#pragma unroll
        for (int i = 0; i < 3; i++) {
            int a = (i + 1) % 3, b = (i + 2) % 3;
#pragma unroll
            for (int j = 0; j < 3; j++) {
                int c = (j + 1) % 3, d = (j + 2) % 3;
                next[3 * i + j] = 0.5f * ((r[3 * a + c] * r[3 * b + d] - r[3 * a + d] * r[3 * b + c]) * per + r[3 * i + j]);
            }
        }
#pragma unroll
        for (int i = 0; i < 9; i++) r[i] = next[i];
    }
}

// Kirchhoff stress: mu (F F^T - I) + lambda J (J - 1) I, or 2 mu (F - R) F^T + lambda J (J - 1) I, with J = `volume`.
__device__ inline void kirchhoff_stress(const MpmTask& t, const float f[9], float volume, float s[3][3]) {
    float pressure = t.constants.lambda_pa * volume * (volume - 1.0f), r[9];
    if (t.corotated) rotation(f, r);
#pragma unroll
    for (int i = 0; i < 3; i++)
#pragma unroll
        for (int j = i; j < 3; j++) {
            float sum;
            if (t.corotated) {
                sum = 0.0f;
#pragma unroll
                for (int k = 0; k < 3; k++) sum += (f[3 * i + k] - r[3 * i + k]) * f[3 * j + k];
                sum *= 2.0f * t.constants.mu_pa;
            } else {
                sum = i == j ? -1.0f : 0.0f;
#pragma unroll
                for (int k = 0; k < 3; k++) sum += f[3 * i + k] * f[3 * j + k];
                sum *= t.constants.mu_pa;
            }
            s[i][j] = s[j][i] = sum + (i == j ? pressure : 0.0f);
        }
}

__device__ inline void set_weights(const float at[3], Weights& weights) {
    weights.first = 0;
#pragma unroll
    for (int k = 2; k >= 0; k--) {
        float cell = floorf(at[k]), xi = at[k] - cell - 0.5f;
        weights.w[k][0] = 0.5f * (0.5f - xi) * (0.5f - xi);
        weights.w[k][1] = 0.75f - xi * xi;
        weights.w[k][2] = 0.5f * (0.5f + xi) * (0.5f + xi);
        weights.d[k][0] = -xi - 1.0f;
        weights.d[k][1] = -xi;
        weights.d[k][2] = 1.0f - xi;
        weights.first = weights.first * EDGE + min(max((int)cell + 1, 0), 5);
    }
}

// v = sum of w_i v_i and C = 4 / dx^2 sum of w_i v_i (x) (x_i - x), from the node velocities of the tile.
__device__ inline void gather(const MpmTask& t, const float4* velocities, const Weights& weights, Particle& p) {
    const auto &w = weights.w, &d = weights.d;
#pragma unroll
    for (int k = 0; k < 3; k++) {
        float flat[3] = {0, 0, 0}, along_y[3] = {0, 0, 0}, along_x[3] = {0, 0, 0};
#pragma unroll
        for (int j = 0; j < 3; j++) {
            float row[3] = {0, 0, 0}, moment[3] = {0, 0, 0};
#pragma unroll
            for (int i = 0; i < 3; i++) {
                float4 node = velocities[weights.first + (k * EDGE + j) * EDGE + i];
                float here = w[0][i], away = w[0][i] * d[0][i];
                row[0] += here * node.x, row[1] += here * node.y, row[2] += here * node.z;
                moment[0] += away * node.x, moment[1] += away * node.y, moment[2] += away * node.z;
            }
#pragma unroll
            for (int c = 0; c < 3; c++) {
                flat[c] += w[1][j] * row[c];
                along_y[c] += w[1][j] * d[1][j] * row[c];
                along_x[c] += w[1][j] * moment[c];
            }
        }
#pragma unroll
        for (int c = 0; c < 3; c++) {
            p.v[c] += w[2][k] * flat[c];
            p.affine[3 * c] += w[2][k] * along_x[c];
            p.affine[3 * c + 1] += w[2][k] * along_y[c];
            p.affine[3 * c + 2] += w[2][k] * d[2][k] * flat[c];
        }
    }
#pragma unroll
    for (int i = 0; i < 9; i++) p.affine[i] *= 4.0f / t.edge[i % 3];
}

// Replaces the velocity of a prescribed particle; moving ones (index > 1) get no affine velocity. With RECORD, adds the impulse on a moving
// particle to `impulse`, in fixed point.
template <bool RECORD>
__device__ inline void prescribe(const MpmTask& t, u32 index, Particle& p, i64 impulse[3]) {
#pragma unroll
    for (int c = 0; c < 3; c++) {
        float given = t.prescribed_velocities[index - 1][c];
        if (RECORD && index > 1)
            impulse[c] += (i64)(((double)p.v[c] - (double)given) * (double)t.speed_unit * (double)IMPULSE_UNIT);
        p.v[c] = given;
    }
    if (index > 1)
#pragma unroll
        for (int i = 0; i < 9; i++) p.affine[i] = 0.0f;
}

// F <- (I + dt C) F and x <- x + dt v; stores both. Sets `strayed` near the border of the tile; returns true if the particle has left it.
__device__ inline bool advect(const MpmTask& t, const ParticleColumns& columns, int slot, Particle& p) {
    int n = t.slots;
    float old[9];
#pragma unroll
    for (int i = 0; i < 9; i++) old[i] = p.f[i];
#pragma unroll
    for (int i = 0; i < 9; i++)
#pragma unroll
        for (int k = 0; k < 3; k++) p.f[i] += p.affine[3 * (i / 3) + k] * t.constants.dt_s * old[3 * k + i % 3];
    bool strayed = false, lost = false;
#pragma unroll
    for (int k = 0; k < 3; k++) {
        p.at[k] += p.v[k] * (t.constants.dt_s / t.edge[k]);
        strayed |= !(p.at[k] > -1.0f + MARGIN && p.at[k] < 5.0f - MARGIN);
        lost |= !(p.at[k] > -1.0f && p.at[k] < 5.0f);
        columns.position[k * n + slot] = p.at[k];
    }
    if (strayed) t.status->strayed = 1;
#pragma unroll
    for (int k = 0; k < 9; k++) columns.deformation[k * n + slot] = p.f[k];
    return lost;
}

// Adds w_i m and w_i (m v + (m C - dt V 4/dx^2 tau) (x_i - x)) to the tile: three planes of momentum and one of mass, in fixed point.
__device__ inline void scatter(const MpmTask& t, const Weights& weights, float fraction, float volume, Particle& p, int* tile) {
    float stress[3][3], carried[3][3];
    const auto &w = weights.w, &d = weights.d;
    kirchhoff_stress(t, p.f, volume, stress);
    float unit = fraction * t.speed_unit;
#pragma unroll
    for (int i = 0; i < 3; i++) {
        p.v[i] *= unit;
#pragma unroll
        for (int j = 0; j < 3; j++) {
            float push = stress[i][j] * (-4.0f * t.constants.dt_s / (t.constants.density * t.edge[j]));
            carried[i][j] = unit * (p.affine[3 * i + j] * t.edge[j] + push);
        }
    }
#pragma unroll
    for (int k = 0; k < 3; k++)
#pragma unroll
        for (int j = 0; j < 3; j++)
#pragma unroll
            for (int i = 0; i < 3; i++) {
                float weight = w[0][i] * w[1][j] * w[2][k];
                int node = weights.first + (k * EDGE + j) * EDGE + i;
#pragma unroll
                for (int c = 0; c < 3; c++) {
                    float momentum = p.v[c] + carried[c][0] * d[0][i] + carried[c][1] * d[1][j] + carried[c][2] * d[2][k];
                    atomicAdd(&tile[c * TILE + node], __float2int_rn(weight * momentum));
                }
                atomicAdd(&tile[3 * TILE + node], __float2int_rn(weight * fraction * t.mass_unit));
            }
}

// Transfers one particle.
template <int KIND>
__device__ inline void transfer_particle(const MpmTask& t, const ParticleColumns& columns, int slot, int step, const float4* velocities,
                                         int* tile, i64 impulse[3]) {
    int n = t.slots;
    Particle p = {};
    Weights weights;
    float fraction = columns.volume_fraction[slot];
    u32 prescribed = columns.prescribed[slot];
    bool lost = false;
#pragma unroll
    for (int k = 0; k < 3; k++) p.at[k] = columns.position[k * n + slot];
#pragma unroll
    for (int k = 0; k < 9; k++) p.f[k] = columns.deformation[k * n + slot];
    set_weights(p.at, weights);
    if (KIND == P2G) {
#pragma unroll
        for (int k = 0; k < 3; k++) p.v[k] = t.velocity[k * n + slot];
#pragma unroll
        for (int k = 0; k < 9; k++) p.affine[k] = t.affine[k * n + slot];
    } else {
        gather(t, velocities, weights, p);
        if (prescribed > 0) prescribe<KIND == G2P>(t, prescribed, p, impulse);
        lost = advect(t, columns, slot, p);
    }
    float volume = determinant(p.f);
    if (lost || !(volume > 0.0f && volume < 3e38f)) atomicMin(&t.status->failed, (u64)step << 32 | columns.particle[slot]);
    if (KIND == G2P) {
#pragma unroll
        for (int k = 0; k < 3; k++) t.velocity[k * n + slot] = p.v[k];
#pragma unroll
        for (int k = 0; k < 9; k++) t.affine[k * n + slot] = p.affine[k];
    } else {
        if (KIND == G2P2G) set_weights(p.at, weights);
        scatter(t, weights, fraction, volume, p, tile);
    }
}

// Transfers all particles. `velocities` (TILE nodes) and `tile` (4 * TILE integers) are shared memory.
template <int KIND>
__device__ void transfer(const MpmTask& t, int set, int step, float4* velocities, int* tile) {
    i64 impulse[3] = {0, 0, 0};
    for (u32 o = blockIdx.x; o < t.status->occupied[set]; o += gridDim.x) {
        OccupiedBlock block = t.occupied[set][o];
        int bx = block.block % t.blocks[0], by = block.block / t.blocks[0] % t.blocks[1];
        int bz = block.block / (t.blocks[0] * t.blocks[1]);
        __syncthreads();
        for (int i = threadIdx.x; i < TILE; i += THREADS) {
            if (KIND != P2G) {
                int x = i % EDGE, y = i / EDGE % EDGE, z = i / (EDGE * EDGE);
                int brick = ((bz + z / BLOCK) * (t.blocks[1] + 1) + by + y / BLOCK) * (t.blocks[0] + 1) + bx + x / BLOCK;
                int inner = (z % BLOCK * BLOCK + y % BLOCK) * BLOCK + x % BLOCK;
                velocities[i] = t.nodes[(size_t)brick * 64 + inner];
            }
            if (KIND != G2P) tile[i] = tile[TILE + i] = tile[2 * TILE + i] = tile[3 * TILE + i] = 0;
        }
        __syncthreads();
        for (int slot = block.first + threadIdx.x; slot < block.first + block.count; slot += THREADS)
            transfer_particle<KIND>(t, t.columns[set], slot, step, velocities, tile, impulse);
        __syncthreads();
        if (KIND != G2P) {
            float per_speed = 1.0f / t.speed_unit, per_mass = 1.0f / t.mass_unit;
            for (int i = threadIdx.x; i < TILE; i += THREADS)
                t.tiles[(size_t)o * TILE + i] = make_float4(tile[i] * per_speed, tile[TILE + i] * per_speed,
                                                            tile[2 * TILE + i] * per_speed, tile[3 * TILE + i] * per_mass);
        }
    }
    if (KIND == G2P)
        for (int c = 0; c < 3; c++)
            if (impulse[c] != 0) atomicAdd(&t.status->impulse[c], (u64)impulse[c]);
}

// Index of the block at (bx, by, bz), or -1 outside.
__device__ inline int block_at(const MpmTask& t, int bx, int by, int bz) {
    if (bx < 0 || by < 0 || bz < 0 || bx >= t.blocks[0] || by >= t.blocks[1] || bz >= t.blocks[2]) return -1;
    return (bz * t.blocks[1] + by) * t.blocks[0] + bx;
}

// Momentum and mass of a node of a brick: the sum over the tiles that contain it.
__device__ inline float4 node_sum(const MpmTask& t, int set, int bx, int by, int bz, int inner) {
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    int x = inner % BLOCK, y = inner / BLOCK % BLOCK, z = inner / (BLOCK * BLOCK);
#pragma unroll
    for (int octant = 0; octant < 8; octant++) {
        int sx = octant & 1, sy = octant >> 1 & 1, sz = octant >> 2;
        int block = block_at(t, bx - sx, by - sy, bz - sz);
        if (block < 0) continue;
        int index = t.block_index[set][block];
        if (index < 0) continue;
        float4 n = t.tiles[(size_t)index * TILE + ((z + BLOCK * sz) * EDGE + y + BLOCK * sy) * EDGE + x + BLOCK * sx];
        sum.x += n.x, sum.y += n.y, sum.z += n.z, sum.w += n.w;
    }
    return sum;
}

// Damped velocity and mass, from momentum and mass.
__device__ inline float4 damped_velocity(const MpmTask& t, float4 sum) {
    float scale = sum.w > 0.0f ? t.constants.damping_factor / sum.w : 0.0f;
    return make_float4(sum.x * scale, sum.y * scale, sum.z * scale, sum.w);
}

// Grid update: velocities of all nodes near particles. Pairs of nodes on both sides of the wall get opposite velocities, so that the wall
// is at rest, with the smallest change in kinetic energy.
__device__ void update_grid(const MpmTask& t, int set) {
    int wide = t.blocks[0] + 1, deep = t.blocks[1] + 1;
    for (u32 item = blockIdx.x * THREADS + threadIdx.x; item < t.status->bricks * 64u; item += gridDim.x * THREADS) {
        int brick = t.bricks[item / 64], inner = item % 64;
        int at[3] = {brick % wide, brick / wide % deep, brick / (wide * deep)};
        float4 node = damped_velocity(t, node_sum(t, set, at[0], at[1], at[2], inner));
        if (t.has_wall) {
            int within[3] = {inner % BLOCK, inner / BLOCK % BLOCK, inner / (BLOCK * BLOCK)};
            int axis = t.wall_axis;
            int cell = t.low[axis] + at[axis] * BLOCK - 2 + within[axis];
            int before = t.wall_plane - 1, behind = t.wall_plane;
            if (cell == before || cell == behind) {
                int other = (cell == before ? behind : before) - t.low[axis] + 2;
                int there[3] = {at[0], at[1], at[2]};
                there[axis] = other / BLOCK;
                within[axis] = other % BLOCK;
                float4 mate = damped_velocity(t, node_sum(t, set, there[0], there[1], there[2],
                                                          (within[2] * BLOCK + within[1]) * BLOCK + within[0]));
                float total = node.w + mate.w;
                if (total > 0.0f) {
                    float own_share = node.w / total, mate_share = mate.w / total;
                    node.x = own_share * node.x - mate_share * mate.x;
                    node.y = own_share * node.y - mate_share * mate.y;
                    node.z = own_share * node.z - mate_share * mate.z;
                }
            }
        }
        t.nodes[(size_t)brick * 64 + inner] = node;
    }
}

// Sorting, phase 1: finds the block of every particle and its rank in that block. Shifts positions to the new block's corner.
__device__ void assign_blocks(const MpmTask& t, int set, int step) {
    const ParticleColumns& columns = t.columns[set];
    int n = t.slots;
    for (u32 o = blockIdx.x; o < t.status->occupied[set]; o += gridDim.x) {
        OccupiedBlock owner = t.occupied[set][o];
        int corner[3] = {owner.block % t.blocks[0], owner.block / t.blocks[0] % t.blocks[1],
                         owner.block / (t.blocks[0] * t.blocks[1])};
        for (int s = owner.first + threadIdx.x; s < owner.first + owner.count; s += THREADS) {
            int to[3];
            for (int k = 0; k < 3; k++) {
                int shift = (int)floorf(columns.position[k * n + s] * 0.25f);
                to[k] = corner[k] + shift;
                columns.position[k * n + s] -= 4.0f * shift;
            }
            int block = block_at(t, to[0], to[1], to[2]);
            if (block < 0) {
                atomicMin(&t.status->failed, (u64)step << 32 | columns.particle[s]);
                block = owner.block;
            }
            t.target_block[s] = block;
            t.target_rank[s] = atomicAdd(&t.block_counts[block], 1u);
        }
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        t.status->strayed = 0;
        t.status->sorts++;
        t.status->slots = t.status->bricks = t.status->occupied[1 - set] = 0;
    }
}

// Phase 2: allocates the slots of every block that now has particles.
__device__ void allocate_slots(const MpmTask& t, int set) {
    int all = t.blocks[0] * t.blocks[1] * t.blocks[2];
    for (int block = blockIdx.x * THREADS + threadIdx.x; block < all; block += gridDim.x * THREADS) {
        int count = t.block_counts[block];
        int index = -1;
        if (count > 0) {
            index = atomicAdd(&t.status->occupied[1 - set], 1u);
            int first = atomicAdd(&t.status->slots, (u32)(count + ROW - 1) / ROW * ROW);
            t.block_first[block] = first;
            t.occupied[1 - set][index] = {block, first, count, 0};
        }
        t.block_index[1 - set][block] = index;
    }
}

// Phase 3: copies particles to their new slots.
__device__ void move_particles(const MpmTask& t, int set) {
    const ParticleColumns &from = t.columns[set], &to = t.columns[1 - set];
    int n = t.slots;
    for (u32 o = blockIdx.x; o < t.status->occupied[set]; o += gridDim.x) {
        OccupiedBlock owner = t.occupied[set][o];
        for (int s = owner.first + threadIdx.x; s < owner.first + owner.count; s += THREADS) {
            int slot = t.block_first[t.target_block[s]] + t.target_rank[s];
            for (int k = 0; k < 3; k++) to.position[k * n + slot] = from.position[k * n + s];
            for (int k = 0; k < 9; k++) to.deformation[k * n + slot] = from.deformation[k * n + s];
            to.volume_fraction[slot] = from.volume_fraction[s];
            to.particle[slot] = from.particle[s];
            to.prescribed[slot] = from.prescribed[s];
        }
    }
}

// Also phase 3: lists the bricks of nodes next to blocks with particles, clears new bricks, and resets the counts of phase 1.
__device__ void list_bricks(const MpmTask& t, int set) {
    int wide = t.blocks[0] + 1, deep = t.blocks[1] + 1, high = t.blocks[2] + 1;
    int all = t.blocks[0] * t.blocks[1] * t.blocks[2];
    for (int block = blockIdx.x * THREADS + threadIdx.x; block < all; block += gridDim.x * THREADS) t.block_counts[block] = 0;
    for (int brick = blockIdx.x * THREADS + threadIdx.x; brick < wide * deep * high; brick += gridDim.x * THREADS) {
        int x = brick % wide, y = brick / wide % deep, z = brick / (wide * deep);
        bool near = false;
        for (int octant = 0; octant < 8; octant++) {
            int block = block_at(t, x - (octant & 1), y - (octant >> 1 & 1), z - (octant >> 2));
            if (block >= 0) near |= t.block_index[1 - set][block] >= 0;
        }
        if (near) {
            t.bricks[atomicAdd(&t.status->bricks, 1u)] = brick;
            if (!t.active[brick])
                for (int i = 0; i < 64; i++) t.nodes[(size_t)brick * 64 + i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        }
        t.active[brick] = near;
    }
}

// Sorts particles into their current blocks, from one set of columns into the other.
__device__ void sort_particles(const MpmTask& t, int set, int step) {
    assign_blocks(t, set, step);
    grid_sync(&t.status->barrier, gridDim.x);
    allocate_slots(t, set);
    grid_sync(&t.status->barrier, gridDim.x);
    move_particles(t, set);
    list_bricks(t, set);
    grid_sync(&t.status->barrier, gridDim.x);
}

// Runs t.steps steps. Launch: cooperative, THREADS threads per block, as many blocks as are resident; status.barrier is zero.
extern "C" __global__ void __launch_bounds__(THREADS, 4) run_mpm_steps(const __grid_constant__ MpmTask t) {
    __shared__ float4 velocities[TILE];
    __shared__ int tile[4 * TILE];
    int set = t.set;
    transfer<P2G>(t, set, 0, velocities, tile);
    grid_sync(&t.status->barrier, gridDim.x);
    for (int step = 0; step < t.steps; step++) {
        // No block writes these between two transfers, so all blocks read the same values.
        bool strayed = t.status->strayed != 0, failed = t.status->failed != ~0ull;
        if (failed) break;
        update_grid(t, set);
        grid_sync(&t.status->barrier, gridDim.x);
        if (strayed) {
            sort_particles(t, set, step);
            set = 1 - set;
        }
        if (step + 1 < t.steps)
            transfer<G2P2G>(t, set, step, velocities, tile);
        else
            transfer<G2P>(t, set, step, velocities, tile);
        grid_sync(&t.status->barrier, gridDim.x);
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) t.status->set = set;
}
