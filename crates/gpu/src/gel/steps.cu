// Particles on a grid: MLS-MPM, many steps in one launch. Blocks of 4 x 4 x 4 cells own particles; each goes
// from the nodes to its particles and back into a tile of its own, and tiles are added in a fixed order. In a tile momentum is added
// as whole numbers, so that the order of particles does not matter. Particles that have left their block are handed over between steps.

typedef unsigned int u32;
typedef unsigned long long u64;

#define THREADS 128
#define ROW 8
#define TILE 512
#define EDGE 8
#define BLOCK 4
#define MARGIN 0.2f

struct Owned {
    int block, first, count, unused;
};

// What one set of slots holds: places in cells from the corner of their block, deformations, and who is there.
struct Slots {
    float* at;
    float* deformation;
    float* part;
    u32* particle;
    u32* kind;
};

struct Tally {
    u32 owned[2];
    u32 slots, bricks;
    u32 strayed, turn;
    u32 gate, sorts;
    u64 broke;
    u64 led[3];
};

struct Run {
    int steps, slots, corotated, walled;
    // Blocks along each axis, and the cell at their corner.
    int blocks[3], low[3];
    int wall_axis, wall_plane, turn, unused;
    float lambda, mu, dt, density, slow, mass_unit, speed_unit;
    float edge[3];
    float leads[4][3];
    Slots of[2];
    float *velocity, *affine;
    Owned* owned[2];
    int* place[2];
    // Bricks of 4 x 4 x 4 nodes that are near particles: a list of them, and whether each is one.
    int *bricks, *active;
    u32 *counts, *rank, *to_block;
    int* first_of;
    float4 *nodes, *tiles;
    Tally* tally;
};

__device__ void everyone(const Run& r) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        u32 ticket = atomicAdd(&r.tally->gate, 1u);
        u32 due = (ticket / gridDim.x + 1u) * gridDim.x;
        while (*(volatile u32*)&r.tally->gate < due) {
        }
        __threadfence();
    }
    __syncthreads();
}

__device__ inline float determinant(const float f[9]) {
    return f[0] * (f[4] * f[8] - f[5] * f[7]) - f[1] * (f[3] * f[8] - f[5] * f[6]) + f[2] * (f[3] * f[7] - f[4] * f[6]);
}

// The rotation in F by Newton's iteration (Higham 1986).
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

// Kirchhoff's stress.
__device__ inline void stress_of(const Run& r, const float f[9], float volume, float s[3][3]) {
    float pressure = r.lambda * volume * (volume - 1.0f), turn[9];
    if (r.corotated) rotation(f, turn);
#pragma unroll
    for (int i = 0; i < 3; i++)
#pragma unroll
        for (int j = i; j < 3; j++) {
            float sum;
            if (r.corotated) {
                sum = 0.0f;
#pragma unroll
                for (int k = 0; k < 3; k++) sum += (f[3 * i + k] - turn[3 * i + k]) * f[3 * j + k];
                sum *= 2.0f * r.mu;
            } else {
                sum = i == j ? -1.0f : 0.0f;
#pragma unroll
                for (int k = 0; k < 3; k++) sum += f[3 * i + k] * f[3 * j + k];
                sum *= r.mu;
            }
            s[i][j] = s[j][i] = sum + (i == j ? pressure : 0.0f);
        }
}

// Quadratic B-splines of three nodes, where they are from the particle (cells), and the first of them in the tile.
__device__ inline int weights(const float at[3], float w[3][3], float d[3][3]) {
    int first = 0;
#pragma unroll
    for (int k = 2; k >= 0; k--) {
        float cell = floorf(at[k]), xi = at[k] - cell - 0.5f;
        w[k][0] = 0.5f * (0.5f - xi) * (0.5f - xi);
        w[k][1] = 0.75f - xi * xi;
        w[k][2] = 0.5f * (0.5f + xi) * (0.5f + xi);
        d[k][0] = -xi - 1.0f;
        d[k][1] = -xi;
        d[k][2] = 1.0f - xi;
        first = first * EDGE + min(max((int)cell + 1, 0), 5);
    }
    return first;
}

enum Pass { START, GO, STOP };

template <int PASS>
__device__ void sweep(const Run& r, int turn, int step, float4* from, int* to) {
    const Slots& slots = r.of[turn];
    int n = r.slots;
    long long took[3] = {0, 0, 0};
    for (u32 o = blockIdx.x; o < r.tally->owned[turn]; o += gridDim.x) {
        Owned owned = r.owned[turn][o];
        int bx = owned.block % r.blocks[0], by = owned.block / r.blocks[0] % r.blocks[1];
        int bz = owned.block / (r.blocks[0] * r.blocks[1]);
        __syncthreads();
        for (int i = threadIdx.x; i < TILE; i += THREADS) {
            if (PASS != START) {
                int x = i % EDGE, y = i / EDGE % EDGE, z = i / (EDGE * EDGE);
                int brick = ((bz + z / BLOCK) * (r.blocks[1] + 1) + by + y / BLOCK) * (r.blocks[0] + 1) + bx + x / BLOCK;
                int inner = (z % BLOCK * BLOCK + y % BLOCK) * BLOCK + x % BLOCK;
                from[i] = r.nodes[(size_t)brick * 64 + inner];
            }
            if (PASS != STOP) to[i] = to[TILE + i] = to[2 * TILE + i] = to[3 * TILE + i] = 0;
        }
        __syncthreads();
        for (int s = owned.first + threadIdx.x; s < owned.first + owned.count; s += THREADS) {
            float at[3], f[9], w[3][3], d[3][3], v[3] = {0, 0, 0}, affine[9] = {0, 0, 0, 0, 0, 0, 0, 0, 0};
            float part = slots.part[s];
            u32 kind = slots.kind[s];
            bool broke = false;
#pragma unroll
            for (int k = 0; k < 3; k++) at[k] = slots.at[k * n + s];
#pragma unroll
            for (int k = 0; k < 9; k++) f[k] = slots.deformation[k * n + s];
            int first = weights(at, w, d);
            if (PASS == START) {
#pragma unroll
                for (int k = 0; k < 3; k++) v[k] = r.velocity[k * n + s];
#pragma unroll
                for (int k = 0; k < 9; k++) affine[k] = r.affine[k * n + s];
            } else {
#pragma unroll
                for (int k = 0; k < 3; k++) {
                    float flat[3] = {0, 0, 0}, along_y[3] = {0, 0, 0}, along_x[3] = {0, 0, 0};
#pragma unroll
                    for (int j = 0; j < 3; j++) {
                        float row[3] = {0, 0, 0}, lean[3] = {0, 0, 0};
#pragma unroll
                        for (int i = 0; i < 3; i++) {
                            float4 node = from[first + (k * EDGE + j) * EDGE + i];
                            float here = w[0][i], away = w[0][i] * d[0][i];
                            row[0] += here * node.x, row[1] += here * node.y, row[2] += here * node.z;
                            lean[0] += away * node.x, lean[1] += away * node.y, lean[2] += away * node.z;
                        }
#pragma unroll
                        for (int c = 0; c < 3; c++) {
                            flat[c] += w[1][j] * row[c];
                            along_y[c] += w[1][j] * d[1][j] * row[c];
                            along_x[c] += w[1][j] * lean[c];
                        }
                    }
#pragma unroll
                    for (int c = 0; c < 3; c++) {
                        v[c] += w[2][k] * flat[c];
                        affine[3 * c] += w[2][k] * along_x[c];
                        affine[3 * c + 1] += w[2][k] * along_y[c];
                        affine[3 * c + 2] += w[2][k] * d[2][k] * flat[c];
                    }
                }
#pragma unroll
                for (int i = 0; i < 9; i++) affine[i] *= 4.0f / r.edge[i % 3];
                if (kind > 0) {
#pragma unroll
                    for (int c = 0; c < 3; c++) {
                        float given = r.leads[kind - 1][c];
                        // What the led took, as a whole number.
                        if (PASS == STOP && kind > 1)
                            took[c] += (long long)(((double)v[c] - (double)given) * (double)r.speed_unit * 256.0);
                        v[c] = given;
                    }
                    if (kind > 1)
#pragma unroll
                        for (int i = 0; i < 9; i++) affine[i] = 0.0f;
                }
                float old[9];
#pragma unroll
                for (int i = 0; i < 9; i++) old[i] = f[i];
#pragma unroll
                for (int i = 0; i < 9; i++)
#pragma unroll
                    for (int k = 0; k < 3; k++) f[i] += affine[3 * (i / 3) + k] * r.dt * old[3 * k + i % 3];
                bool strayed = false;
#pragma unroll
                for (int k = 0; k < 3; k++) {
                    at[k] += v[k] * (r.dt / r.edge[k]);
                    strayed |= !(at[k] > -1.0f + MARGIN && at[k] < 5.0f - MARGIN);
                    broke |= !(at[k] > -1.0f && at[k] < 5.0f);
                    slots.at[k * n + s] = at[k];
                }
                if (strayed) r.tally->strayed = 1;
#pragma unroll
                for (int k = 0; k < 9; k++) slots.deformation[k * n + s] = f[k];
            }
            float volume = determinant(f);
            if (broke || !(volume > 0.0f && volume < 3e38f)) atomicMin(&r.tally->broke, (u64)step << 32 | slots.particle[s]);
            if (PASS == STOP) {
#pragma unroll
                for (int k = 0; k < 3; k++) r.velocity[k * n + s] = v[k];
#pragma unroll
                for (int k = 0; k < 9; k++) r.affine[k * n + s] = affine[k];
            } else {
                if (PASS == GO) first = weights(at, w, d);
                float stress[3][3], carried[3][3];
                stress_of(r, f, volume, stress);
                float unit = part * r.speed_unit;
#pragma unroll
                for (int i = 0; i < 3; i++) {
                    v[i] *= unit;
#pragma unroll
                    for (int j = 0; j < 3; j++) {
                        float push = stress[i][j] * (-4.0f * r.dt / (r.density * r.edge[j]));
                        carried[i][j] = unit * (affine[3 * i + j] * r.edge[j] + push);
                    }
                }
#pragma unroll
                for (int k = 0; k < 3; k++)
#pragma unroll
                    for (int j = 0; j < 3; j++)
#pragma unroll
                        for (int i = 0; i < 3; i++) {
                            float weight = w[0][i] * w[1][j] * w[2][k];
                            int node = first + (k * EDGE + j) * EDGE + i;
#pragma unroll
                            for (int c = 0; c < 3; c++) {
                                float p = v[c] + carried[c][0] * d[0][i] + carried[c][1] * d[1][j] + carried[c][2] * d[2][k];
                                atomicAdd(&to[c * TILE + node], __float2int_rn(weight * p));
                            }
                            atomicAdd(&to[3 * TILE + node], __float2int_rn(weight * part * r.mass_unit));
                        }
            }
        }
        __syncthreads();
        if (PASS != STOP) {
            float per_speed = 1.0f / r.speed_unit, per_mass = 1.0f / r.mass_unit;
            for (int i = threadIdx.x; i < TILE; i += THREADS)
                r.tiles[(size_t)o * TILE + i] = make_float4(to[i] * per_speed, to[TILE + i] * per_speed,
                                                            to[2 * TILE + i] * per_speed, to[3 * TILE + i] * per_mass);
        }
    }
    if (PASS == STOP)
        for (int c = 0; c < 3; c++)
            if (took[c] != 0) atomicAdd(&r.tally->led[c], (u64)took[c]);
}

// Momentum and mass of a node, from the tiles that hold it.
__device__ inline float4 node_sum(const Run& r, int turn, int bx, int by, int bz, int inner) {
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    int x = inner % BLOCK, y = inner / BLOCK % BLOCK, z = inner / (BLOCK * BLOCK);
#pragma unroll
    for (int octant = 0; octant < 8; octant++) {
        int sx = octant & 1, sy = octant >> 1 & 1, sz = octant >> 2;
        int cx = bx - sx, cy = by - sy, cz = bz - sz;
        if (cx < 0 || cy < 0 || cz < 0 || cx >= r.blocks[0] || cy >= r.blocks[1] || cz >= r.blocks[2]) continue;
        int tile = r.place[turn][(cz * r.blocks[1] + cy) * r.blocks[0] + cx];
        if (tile < 0) continue;
        float4 t = r.tiles[(size_t)tile * TILE + ((z + BLOCK * sz) * EDGE + y + BLOCK * sy) * EDGE + x + BLOCK * sx];
        sum.x += t.x, sum.y += t.y, sum.z += t.z, sum.w += t.w;
    }
    return sum;
}

__device__ inline float4 slowed(const Run& r, float4 sum) {
    float scale = sum.w > 0.0f ? r.slow / sum.w : 0.0f;
    return make_float4(sum.x * scale, sum.y * scale, sum.z * scale, sum.w);
}

// Velocities of all nodes near particles; beside a wall those that keep it still, nearest in kinetic energy.
__device__ void add_up(const Run& r, int turn) {
    int wide = r.blocks[0] + 1, deep = r.blocks[1] + 1;
    for (u32 item = blockIdx.x * THREADS + threadIdx.x; item < r.tally->bricks * 64u; item += gridDim.x * THREADS) {
        int brick = r.bricks[item / 64], inner = item % 64;
        int at[3] = {brick % wide, brick / wide % deep, brick / (wide * deep)};
        float4 node = slowed(r, node_sum(r, turn, at[0], at[1], at[2], inner));
        if (r.walled) {
            int within[3] = {inner % BLOCK, inner / BLOCK % BLOCK, inner / (BLOCK * BLOCK)};
            int axis = r.wall_axis;
            int cell = r.low[axis] + at[axis] * BLOCK - 2 + within[axis];
            int before = r.wall_plane - 1, behind = r.wall_plane;
            if (cell == before || cell == behind) {
                int other = (cell == before ? behind : before) - r.low[axis] + 2;
                int there[3] = {at[0], at[1], at[2]};
                there[axis] = other / BLOCK;
                within[axis] = other % BLOCK;
                float4 mate = slowed(r, node_sum(r, turn, there[0], there[1], there[2],
                                                 (within[2] * BLOCK + within[1]) * BLOCK + within[0]));
                float total = node.w + mate.w;
                if (total > 0.0f) {
                    float mine = node.w / total, its = mate.w / total;
                    node.x = mine * node.x - its * mate.x;
                    node.y = mine * node.y - its * mate.y;
                    node.z = mine * node.z - its * mate.z;
                }
            }
        }
        r.nodes[(size_t)brick * 64 + inner] = node;
    }
}

// Hands particles over to the blocks that they are in.
__device__ void sort(const Run& r, int turn, int step) {
    const Slots &old = r.of[turn], &fresh = r.of[1 - turn];
    int n = r.slots, all = r.blocks[0] * r.blocks[1] * r.blocks[2];
    for (u32 o = blockIdx.x; o < r.tally->owned[turn]; o += gridDim.x) {
        Owned owned = r.owned[turn][o];
        int corner[3] = {owned.block % r.blocks[0], owned.block / r.blocks[0] % r.blocks[1],
                         owned.block / (r.blocks[0] * r.blocks[1])};
        for (int s = owned.first + threadIdx.x; s < owned.first + owned.count; s += THREADS) {
            bool out = false;
            int to[3];
            for (int k = 0; k < 3; k++) {
                int shift = (int)floorf(old.at[k * n + s] * 0.25f);
                to[k] = corner[k] + shift;
                out |= to[k] < 0 || to[k] >= r.blocks[k];
                old.at[k * n + s] -= 4.0f * shift;
            }
            int block = (to[2] * r.blocks[1] + to[1]) * r.blocks[0] + to[0];
            if (out) {
                atomicMin(&r.tally->broke, (u64)step << 32 | old.particle[s]);
                block = owned.block;
            }
            r.to_block[s] = block;
            r.rank[s] = atomicAdd(&r.counts[block], 1u);
        }
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        r.tally->strayed = 0;
        r.tally->sorts++;
        r.tally->slots = r.tally->bricks = r.tally->owned[1 - turn] = 0;
    }
    everyone(r);
    for (int block = blockIdx.x * THREADS + threadIdx.x; block < all; block += gridDim.x * THREADS) {
        int count = r.counts[block];
        int place = -1;
        if (count > 0) {
            place = atomicAdd(&r.tally->owned[1 - turn], 1u);
            int first = atomicAdd(&r.tally->slots, (u32)(count + ROW - 1) / ROW * ROW);
            r.first_of[block] = first;
            Owned owned;
            owned.block = block, owned.first = first, owned.count = count, owned.unused = 0;
            r.owned[1 - turn][place] = owned;
        }
        r.place[1 - turn][block] = place;
    }
    everyone(r);
    for (u32 o = blockIdx.x; o < r.tally->owned[turn]; o += gridDim.x) {
        Owned owned = r.owned[turn][o];
        for (int s = owned.first + threadIdx.x; s < owned.first + owned.count; s += THREADS) {
            int to = r.first_of[r.to_block[s]] + r.rank[s];
            for (int k = 0; k < 3; k++) fresh.at[k * n + to] = old.at[k * n + s];
            for (int k = 0; k < 9; k++) fresh.deformation[k * n + to] = old.deformation[k * n + s];
            fresh.part[to] = old.part[s];
            fresh.particle[to] = old.particle[s];
            fresh.kind[to] = old.kind[s];
        }
    }
    int wide = r.blocks[0] + 1, deep = r.blocks[1] + 1, high = r.blocks[2] + 1;
    for (int block = blockIdx.x * THREADS + threadIdx.x; block < all; block += gridDim.x * THREADS) r.counts[block] = 0;
    for (int brick = blockIdx.x * THREADS + threadIdx.x; brick < wide * deep * high; brick += gridDim.x * THREADS) {
        int x = brick % wide, y = brick / wide % deep, z = brick / (wide * deep);
        bool near = false;
        for (int octant = 0; octant < 8; octant++) {
            int cx = x - (octant & 1), cy = y - (octant >> 1 & 1), cz = z - (octant >> 2);
            if (cx < 0 || cy < 0 || cz < 0 || cx >= r.blocks[0] || cy >= r.blocks[1] || cz >= r.blocks[2]) continue;
            near |= r.place[1 - turn][(cz * r.blocks[1] + cy) * r.blocks[0] + cx] >= 0;
        }
        if (near) {
            r.bricks[atomicAdd(&r.tally->bricks, 1u)] = brick;
            if (!r.active[brick])
                for (int i = 0; i < 64; i++) r.nodes[(size_t)brick * 64 + i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        }
        r.active[brick] = near;
    }
    everyone(r);
}

extern "C" __global__ void __launch_bounds__(THREADS, 4) steps(const __grid_constant__ Run r) {
    __shared__ float4 from[TILE];
    __shared__ int to[4 * TILE];
    int turn = r.turn;
    sweep<START>(r, turn, 0, from, to);
    everyone(r);
    for (int step = 0; step < r.steps; step++) {
        // Nobody writes these between two passes, so that all blocks read the same.
        bool strayed = r.tally->strayed != 0, broke = r.tally->broke != ~0ull;
        if (broke) break;
        add_up(r, turn);
        everyone(r);
        if (strayed) {
            sort(r, turn, step);
            turn = 1 - turn;
        }
        if (step + 1 < r.steps)
            sweep<GO>(r, turn, step, from, to);
        else
            sweep<STOP>(r, turn, step, from, to);
        everyone(r);
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) r.tally->turn = turn;
}
