// The linear system of a Newton step: conjugate gradients with a diagonal preconditioner, in the form of Chronopoulos and Gear 1989. Vectors
// and products are in single precision, sums in double: the solution is wanted to a hundredth, the residual is evaluated in double precision.
//
// Each iteration has two phases. In the first, a block loads the nodes of a tile of cells, updates the vectors there, and multiplies by the
// tangent stiffness; nodes that several tiles share are updated by all of them and stored by their owner. In the second, the forces of the
// tiles are added at the nodes and summed.
//
// Particles lie on a grid of their own, so a product interpolates axis by axis: along x from nodes to columns of particles, then along y,
// then along z, with values and slopes; back in the reverse order.

#define MAX_CONJUGATE 600

// Nodes and particles of a tile.
#define TILE_NODES_X (TILE_X + 2)
#define TILE_NODES_Y (TILE_Y + 2)
#define TILE_NODES_Z (TILE_Z + 2)
#define TILE_NODES (TILE_NODES_X * TILE_NODES_Y * TILE_NODES_Z)
#define TILE_VALUES (3 * TILE_NODES)
#define TILE_POINTS (8 * TILE_CELLS)
#define POINTS_X (2 * TILE_X)
#define POINTS_Y (2 * TILE_Y)
// Lines of nodes along x; planes of nodes along z of all components.
#define TILE_LINES (3 * TILE_NODES_Z * TILE_NODES_Y)
#define TILE_PLANES (3 * TILE_NODES_Z)
// Strides in shared memory with few bank conflicts: of lines of nodes, and of planes of particles along x and y.
#define LINE 7
#define PLANE (POINTS_X * POINTS_Y + 8)
static_assert(TILE_LINES * TILE_X == THREADS && POINTS_X == 8 && POINTS_Y == 8 && TILE_Z == 2, "items of the stages of a product");

// Shared memory of a block: stresses of a tile by particle, entry, cell in an evaluation; in a product the tangents of the particles, the nodal
// values z, then values and slopes along x by line of nodes, then by plane of nodes, then stresses by entry, or forces of stencils by node of
// a cell, component, cell.
union TileMemory {
    double stress[8 * 9 * TILE_CELLS];
    struct {
        float tangent[12 * TILE_POINTS];
        float z[TILE_LINES * LINE];
        float2 value[TILE_LINES * TILE_X], slope[TILE_LINES * TILE_X];
        float along_x[TILE_PLANES * PLANE], along_y[TILE_PLANES * PLANE], along_z[TILE_PLANES * PLANE];
        union {
            float stress[9 * TILE_POINTS];
            float force[81 * TILE_CELLS];
        };
    } product;
};
__device__ inline TileMemory& tile_memory() {
    __shared__ __align__(16) TileMemory memory;
    return memory;
}

// The numbers of a task that a product needs, in registers.
struct ProductTask {
    int nodes[3], tiles[3], cells[3], all_nodes, faces;
    float per_edge[3];
    const float *tangent, *preconditioner, *w, *r, *s;
    float *next_r, *next_s, *p, *step, *tile_force;
};

// A pointer that is known to be to global memory.
template <class T>
__device__ inline T* global(T* at) {
    __builtin_assume(__isGlobal(at));
    return at;
}

// r and s of an iteration are read from one buffer and written to the other.
__device__ inline int vectors_before(const EquilibriumTask& t, int iteration) { return (iteration + 1 & 1) * 3 * t.all_nodes; }
__device__ inline int vectors_after(const EquilibriumTask& t, int iteration) { return (iteration & 1) * 3 * t.all_nodes; }

__device__ inline ProductTask product_task(const EquilibriumTask& t, int iteration) {
    ProductTask p;
    for (int axis = 0; axis < 3; axis++) {
        p.nodes[axis] = t.nodes[axis], p.tiles[axis] = t.tiles[axis], p.cells[axis] = t.cells[axis];
        p.per_edge[axis] = (float)t.per_edge[axis];
    }
    p.all_nodes = t.all_nodes, p.faces = t.fixed_faces;
    p.tangent = global(t.tangent), p.preconditioner = global(t.preconditioner), p.w = global(t.cg_w);
    p.r = global(t.cg_r + vectors_before(t, iteration)), p.s = global(t.cg_s + vectors_before(t, iteration));
    p.next_r = global(t.cg_r + vectors_after(t, iteration)), p.next_s = global(t.cg_s + vectors_after(t, iteration));
    p.p = global(t.cg_p), p.step = global(t.step), p.tile_force = global(t.tile_force);
    return p;
}

// Where a tile lies. Fixed faces: `low` along x, y, z, and the cell (of the tile) before a high one along x, y, or NO_CELL. A ghost node
// outside moves opposite to its mirror node inside; the force on it is subtracted from that on the mirror node.
#define NO_CELL -8
struct TilePlace {
    int at[3], high[2];
    bool low[3];
};
__device__ inline TilePlace place_of(const ProductTask& t, int tile) {
    TilePlace p;
    // Exact: a gel has fewer than 2^21 tiles.
    int line = (int)((tile + 0.5f) * (1.0f / t.tiles[0])), plane = (int)((line + 0.5f) * (1.0f / t.tiles[1]));
    p.at[0] = tile - line * t.tiles[0], p.at[1] = line - plane * t.tiles[1], p.at[2] = plane;
    p.low[0] = p.at[0] == 0 && (t.faces & 1);
    p.low[1] = p.at[1] == 0 && (t.faces >> 2 & 1);
    p.low[2] = p.at[2] == 0 && (t.faces >> 4 & 1);
    p.high[0] = t.faces >> 1 & 1 ? t.cells[0] - 1 - p.at[0] * TILE_X : NO_CELL;
    p.high[1] = t.faces >> 3 & 1 ? t.cells[1] - 1 - p.at[1] * TILE_Y : NO_CELL;
    return p;
}

// Starts to copy the tangents of a tile's particles to shared memory, 16 bytes per thread at a time; `wait_for_tangents` waits for them.
__device__ inline void copy_tangents(const ProductTask& t, int tile) {
    const float* from = t.tangent + tile * 12 * TILE_POINTS;
    float* to = tile_memory().product.tangent;
    for (int i = 4 * threadIdx.x; i < 12 * TILE_POINTS; i += 4 * THREADS) {
#if __CUDA_ARCH__ >= 800
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((u32)__cvta_generic_to_shared(to + i)), "l"(from + i));
#else
        *(float4*)(to + i) = *(const float4*)(from + i);
#endif
    }
}
__device__ inline void wait_for_tangents() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

// Loads z at the nodes of a tile into shared memory. From the second iteration on, first p = z + beta p, s = w + beta s, x += alpha p,
// r -= alpha s; the owner of a node stores them.
__device__ inline void load_tile(const ProductTask& t, const TilePlace& place, bool advance, float alpha, float beta) {
    float* z = tile_memory().product.z;
    int first = ((place.at[2] * TILE_Z) * t.nodes[1] + place.at[1] * TILE_Y) * t.nodes[0] + place.at[0] * TILE_X;
    int in[3] = {t.nodes[0] - place.at[0] * TILE_X, t.nodes[1] - place.at[1] * TILE_Y, t.nodes[2] - place.at[2] * TILE_Z};
    int own[3] = {place.at[0] == t.tiles[0] - 1 ? TILE_NODES_X : TILE_X, place.at[1] == t.tiles[1] - 1 ? TILE_NODES_Y : TILE_Y,
                  place.at[2] == t.tiles[2] - 1 ? TILE_NODES_Z : TILE_Z};
#pragma unroll
    for (int round = 0; round < 2; round++) {
        int i = threadIdx.x + round * THREADS;
        if (i >= TILE_VALUES) break;
        int line = i / TILE_NODES_X, x = i % TILE_NODES_X, y = line % TILE_NODES_Y, k = line / TILE_NODES_Y % TILE_NODES_Z;
        float value = 0.0f;
        if (x < in[0] && y < in[1] && k < in[2]) {
            int item = i / TILE_NODES * t.all_nodes + first + (k * t.nodes[1] + y) * t.nodes[0] + x;
            float inverse = t.preconditioner[item];
            if (advance) {
                bool mine = x < own[0] && y < own[1] && k < own[2];
                // Loads before stores: the compiler may not exchange them.
                float r = t.r[item], w = t.w[item], old = t.s[item], p = mine ? t.p[item] : 0.0f, step = mine ? t.step[item] : 0.0f;
                float s = w + beta * old, next = r - alpha * s;
                if (mine) {
                    p = inverse * r + beta * p;
                    t.p[item] = p;
                    t.step[item] = step + alpha * p;
                    t.next_r[item] = next;
                    t.next_s[item] = s;
                }
                value = inverse * next;
            } else {
                value = inverse * t.next_r[item];
            }
        }
        z[line * LINE + x] = value;
    }
}

// Value and slope (in units of 1/cell) at particle q of a cell.
__device__ inline float value_at(int q, const float v[3]) { return SPLINE[q][0] * v[0] + SPLINE[q][1] * v[1] + SPLINE[q][2] * v[2]; }
__device__ inline float slope_at(int q, const float v[3]) { return SLOPE[q][0] * v[0] + SLOPE[q][1] * v[1] + SLOPE[q][2] * v[2]; }

// Sets the values of ghost nodes among the three of a cell.
__device__ inline void mirror(bool low, bool high, float v[3]) {
    if (low) v[0] = -v[1];
    if (high) v[2] = -v[1];
}

// Values and slopes along x at the particles, on all lines of nodes. One thread per cell of a line.
__device__ inline void interpolate_x(const TilePlace& place) {
    auto& shared = tile_memory().product;
    int cell = threadIdx.x % TILE_X;
    const float* z = shared.z + threadIdx.x / TILE_X * LINE + cell;
    float v[3] = {z[0], z[1], z[2]};
    mirror(place.low[0] && cell == 0, cell == place.high[0], v);
    shared.value[threadIdx.x] = {value_at(0, v), value_at(1, v)};
    shared.slope[threadIdx.x] = {slope_at(0, v), slope_at(1, v)};
}

// d/dx, d/dy and value at the particles along x and y, on all planes of nodes. One thread per column of particles along x, plane, and half of
// the cells along y.
__device__ inline void interpolate_y(const TilePlace& place) {
    if (threadIdx.x >= 2 * POINTS_X * TILE_PLANES) return;
    auto& shared = tile_memory().product;
    int x = threadIdx.x % POINTS_X, plane = threadIdx.x / POINTS_X % TILE_PLANES, half = threadIdx.x / (POINTS_X * TILE_PLANES) * 2;
    int from = (plane * TILE_NODES_Y + half) * POINTS_X + x, to = plane * PLANE + 2 * half * POINTS_X + x;
    const float *values = (const float*)shared.value + from, *slopes = (const float*)shared.slope + from;
#pragma unroll
    for (int cell = 0; cell < 2; cell++) {
        float v[3], s[3];
#pragma unroll
        for (int j = 0; j < 3; j++) v[j] = values[(cell + j) * POINTS_X], s[j] = slopes[(cell + j) * POINTS_X];
        bool low = place.low[1] && half + cell == 0, high = half + cell == place.high[1];
        mirror(low, high, v);
        mirror(low, high, s);
#pragma unroll
        for (int q = 0; q < 2; q++) {
            int at = to + (2 * cell + q) * POINTS_X;
            shared.along_x[at] = value_at(q, s);
            shared.along_y[at] = slope_at(q, v);
            shared.along_z[at] = value_at(q, v);
        }
    }
}

// V dP of one particle for the gradient of z: dP = mu dF + alpha (F^-T : dF) F^-T + beta F^-T dF^T F^-T; the tangent is F^-T, V mu, V alpha,
// V beta. One thread per particle.
__device__ inline void tangent_particle(const ProductTask& t, const TilePlace& place) {
    auto& shared = tile_memory().product;
    int cell = threadIdx.x / (2 * POINTS_X * POINTS_Y), q = threadIdx.x / (POINTS_X * POINTS_Y) % 2;
    float w[3], d[3], g[9], product[9];
#pragma unroll
    for (int k = 0; k < 3; k++) w[k] = q ? SPLINE[1][k] : SPLINE[0][k], d[k] = t.per_edge[2] * (q ? SLOPE[1][k] : SLOPE[0][k]);
    if (place.low[2] && cell == 0) w[1] -= w[0], w[0] = 0.0f, d[1] -= d[0], d[0] = 0.0f;
#pragma unroll
    for (int c = 0; c < 3; c++) {
        int at = (c * TILE_NODES_Z + cell) * PLANE + threadIdx.x % (POINTS_X * POINTS_Y);
        const float *x = shared.along_x + at, *y = shared.along_y + at, *z = shared.along_z + at;
        g[3 * c] = t.per_edge[0] * (w[0] * x[0] + w[1] * x[PLANE] + w[2] * x[2 * PLANE]);
        g[3 * c + 1] = t.per_edge[1] * (w[0] * y[0] + w[1] * y[PLANE] + w[2] * y[2 * PLANE]);
        g[3 * c + 2] = d[0] * z[0] + d[1] * z[PLANE] + d[2] * z[2 * PLANE];
    }
    float tangent[12];
#pragma unroll
    for (int i = 0; i < 12; i++) tangent[i] = shared.tangent[i * TILE_POINTS + threadIdx.x];
#pragma unroll
    for (int i = 0; i < 3; i++)
#pragma unroll
        for (int j = 0; j < 3; j++)
            product[3 * i + j] = g[i] * tangent[j] + g[3 + i] * tangent[3 + j] + g[6 + i] * tangent[6 + j];
    float trace = tangent[10] * (product[0] + product[4] + product[8]);
#pragma unroll
    for (int c = 0; c < 3; c++)
#pragma unroll
        for (int d = 0; d < 3; d++) {
            float third = tangent[3 * c] * product[d] + tangent[3 * c + 1] * product[3 + d] + tangent[3 * c + 2] * product[6 + d];
            float stress = tangent[11] * third + (trace * tangent[3 * c + d] + tangent[9] * g[3 * c + d]);
            shared.stress[(3 * c + d) * TILE_POINTS + threadIdx.x] = t.per_edge[d] * stress;
        }
}

// Transpose of the interpolation along z: stresses weighted by the nodes' functions, on all planes of nodes. One thread per column of
// particles along z and component.
__device__ inline void spread_z(const TilePlace& place) {
    if (threadIdx.x >= 3 * POINTS_X * POINTS_Y) return;
    auto& shared = tile_memory().product;
    int column = threadIdx.x % (POINTS_X * POINTS_Y), c = threadIdx.x / (POINTS_X * POINTS_Y);
#pragma unroll
    for (int d = 0; d < 3; d++) {
        const float* stress = shared.stress + (3 * c + d) * TILE_POINTS + column;
        float* to = (d == 0 ? shared.along_x : d == 1 ? shared.along_y : shared.along_z) + c * TILE_NODES_Z * PLANE + column;
        float out[TILE_NODES_Z] = {};
#pragma unroll
        for (int point = 0; point < 2 * TILE_Z; point++) {
            float value = stress[point * POINTS_X * POINTS_Y];
#pragma unroll
            for (int k = 0; k < 3; k++) out[point / 2 + k] += (d == 2 ? SLOPE : SPLINE)[point % 2][k] * value;
        }
        if (place.low[2]) out[1] -= out[0], out[0] = 0.0f;
#pragma unroll
        for (int k = 0; k < TILE_NODES_Z; k++) to[k * PLANE] = out[k];
    }
}

// Transpose along y, on all lines of nodes: `slope` is what acts on d/dx, `value` the rest. One thread per column of particles along x,
// plane, and one of the two.
__device__ inline void spread_y(const TilePlace& place) {
    if (threadIdx.x >= 2 * POINTS_X * TILE_PLANES) return;
    auto& shared = tile_memory().product;
    int x = threadIdx.x % POINTS_X, plane = threadIdx.x / POINTS_X % TILE_PLANES, from = plane * PLANE + x;
    float out[TILE_NODES_Y] = {};
    float* to = (float*)shared.value + plane * TILE_NODES_Y * POINTS_X + x;
    if (threadIdx.x < POINTS_X * TILE_PLANES) {
#pragma unroll
        for (int point = 0; point < POINTS_Y; point++) {
            float flat = shared.along_z[from + point * POINTS_X], along = shared.along_y[from + point * POINTS_X];
#pragma unroll
            for (int j = 0; j < 3; j++) out[point / 2 + j] += SPLINE[point % 2][j] * flat + SLOPE[point % 2][j] * along;
        }
    } else {
        to = (float*)shared.slope + plane * TILE_NODES_Y * POINTS_X + x;
#pragma unroll
        for (int point = 0; point < POINTS_Y; point++) {
            float along = shared.along_x[from + point * POINTS_X];
#pragma unroll
            for (int j = 0; j < 3; j++) out[point / 2 + j] += SPLINE[point % 2][j] * along;
        }
    }
    if (place.low[1]) out[1] -= out[0], out[0] = 0.0f;
#pragma unroll
    for (int cell = 0; cell < TILE_Y; cell++)
        if (cell == place.high[1]) out[cell + 1] -= out[cell + 2], out[cell + 2] = 0.0f;
#pragma unroll
    for (int j = 0; j < TILE_NODES_Y; j++) to[j * POINTS_X] = out[j];
}

// Transpose along x: the force at node x of a line.
__device__ inline float spread_x(const TilePlace& place, int line, int x) {
    auto& shared = tile_memory().product;
    float sum = 0.0f;
    if ((place.low[0] && x == 0) || x == place.high[0] + 2) return 0.0f;
#pragma unroll
    for (int i = 0; i < 3; i++) {
        int cell = x - i;
        if (cell < 0 || cell >= TILE_X) continue;
        float2 value = shared.value[line * TILE_X + cell], slope = shared.slope[line * TILE_X + cell];
        auto on_node = [&](int n) {
            return SPLINE[0][n] * value.x + SPLINE[1][n] * value.y + SLOPE[0][n] * slope.x + SLOPE[1][n] * slope.y;
        };
        sum += on_node(i);
        if (i == 1 && place.low[0] && cell == 0) sum -= on_node(0);
        if (i == 1 && cell == place.high[0]) sum -= on_node(2);
    }
    return sum;
}

// Stores K z at the stencils of a tile, of contact or of springs; true if any is stiff.
__device__ inline bool tangent_stencils(const EquilibriumTask& t, const TilePlace& place, int first, int end) {
    bool any = false;
    // The last warp has no particle and begins.
    for (int stencil = first + (threadIdx.x + 32) % THREADS; stencil < end; stencil += THREADS) {
        Vec3 force = {0.0, 0.0, 0.0};
        if (is_stiff(t, stencil)) {
            any = true;
            int node = t.stencil_node[stencil];
            int x = node % t.nodes[0] - place.at[0] * TILE_X, y = node / t.nodes[0] % t.nodes[1] - place.at[1] * TILE_Y;
            int z = node / (t.nodes[0] * t.nodes[1]) - place.at[2] * TILE_Z;
            const float* values = tile_memory().product.z + (z * TILE_NODES_Y + y) * LINE + x;
            float w[9], u[3] = {0.0f, 0.0f, 0.0f}, k[6];
#pragma unroll
            for (int i = 0; i < 9; i++) w[i] = (float)t.stencil_weight[i * t.stencils + stencil];
#pragma unroll
            for (int i = 0; i < 6; i++) k[i] = t.stencil_stiffness[i * t.stencils + stencil];
#pragma unroll
            for (int n = 0; n < 27; n++) {
                float weight = w[n % 3] * w[3 + n / 3 % 3] * w[6 + n / 9];
                for (int c = 0; c < 3; c++) u[c] += weight * values[((c * TILE_NODES_Z + n / 9) * TILE_NODES_Y + n / 3 % 3) * LINE + n % 3];
            }
            force = {k[0] * u[0] + k[1] * u[1] + k[2] * u[2], k[1] * u[0] + k[3] * u[1] + k[4] * u[2],
                     k[2] * u[0] + k[4] * u[1] + k[5] * u[2]};
        }
        set_force(t, stencil, force);
    }
    return any;
}

// Forces of a cell's stencils on one component of a node of the tile.
__device__ inline float stencil_forces_at(int c, int x, int y, int z) {
    float sum = 0.0f;
    for (int n = 0; n < 27; n++) {
        int cx = x - n % 3, cy = y - n / 3 % 3, cz = z - n / 9;
        if (cx >= 0 && cx < TILE_X && cy >= 0 && cy < TILE_Y && cz >= 0 && cz < TILE_Z)
            sum += tile_memory().product.force[(n * 3 + c) * TILE_CELLS + (cz * TILE_Y + cy) * TILE_X + cx];
    }
    return sum;
}

// First phase: advances the vectors and multiplies z by the tangent stiffness; stores the forces on the nodes of every tile.
__device__ __noinline__ void multiply_tiles(const EquilibriumTask& task, int iteration, float alpha, float beta) {
    auto& shared = tile_memory().product;
    const ProductTask t = product_task(task, iteration);
    const int all_tiles = task.all_tiles, blocks = task.blocks;
    const int* stencil_first = global(task.stencil_first);
    for (int tile = block_of(task); tile < all_tiles; tile += blocks) {
        TilePlace place = place_of(t, tile);
        int first = stencil_first[tile * TILE_CELLS], end = stencil_first[(tile + 1) * TILE_CELLS];
        copy_tangents(t, tile);
        load_tile(t, place, iteration > 0, alpha, beta);
        __syncthreads();
        interpolate_x(place);
        __syncthreads();
        interpolate_y(place);
        wait_for_tangents();
        __syncthreads();
        if (threadIdx.x < TILE_POINTS) tangent_particle(t, place);
        bool any = first < end && tangent_stencils(task, place, first, end);
        any = __syncthreads_or(any);
        spread_z(place);
        __syncthreads();
        spread_y(place);
        if (any) {
            int lane = threadIdx.x % TILE_CELLS, c = threadIdx.x / TILE_CELLS / 3, d = threadIdx.x / TILE_CELLS % 3;
            float out[9] = {};
            add_stencil_forces(task, tile * TILE_CELLS + lane, c, d, true, 1.0, out);
            add_stencil_forces(task, tile * TILE_CELLS + lane, c, d, false, 1.0, out);
#pragma unroll
            for (int i = 0; i < 9; i++) shared.force[((d * 9 + i) * 3 + c) * TILE_CELLS + lane] = out[i];
        }
        __syncthreads();
#pragma unroll
        for (int round = 0; round < 2; round++) {
            int i = threadIdx.x + round * THREADS;
            if (i >= TILE_VALUES) break;
            int line = i / TILE_NODES_X, x = i % TILE_NODES_X;
            float sum = spread_x(place, line, x);
            if (any) sum += stencil_forces_at(i / TILE_NODES, x, line % TILE_NODES_Y, line / TILE_NODES_Y % TILE_NODES_Z);
            t.tile_force[tile * TILE_VALUES + i] = sum;
        }
    }
}

// The tiles, first and last, that have node n of an axis, for tiles of `size` cells.
__device__ inline int2 tiles_with(int n, int size, int tiles) {
    int last = min(n / size, tiles - 1);
    return {last > 0 && n - (last - 1) * size < size + 2 ? last - 1 : last, last};
}

// Sum of the tiles' forces on one component of a node.
__device__ inline float tile_forces_at(const EquilibriumTask& t, int c, NodeIndex n) {
    int2 x = tiles_with(n.x, TILE_X, t.tiles[0]), y = tiles_with(n.y, TILE_Y, t.tiles[1]), z = tiles_with(n.z, TILE_Z, t.tiles[2]);
    float sum = 0.0f;
    for (int k = z.x; k <= z.y; k++)
        for (int j = y.x; j <= y.y; j++)
            for (int i = x.x; i <= x.y; i++) {
                int tile = (k * t.tiles[1] + j) * t.tiles[0] + i;
                int node = ((n.z - k * TILE_Z) * TILE_NODES_Y + n.y - j * TILE_Y) * TILE_NODES_X + n.x - i * TILE_X;
                sum += t.tile_force[tile * TILE_VALUES + c * TILE_NODES + node];
            }
    return sum;
}

// Second phase: w = K z at the nodes, and the sums r.z and z.w.
__device__ __noinline__ void gather_tiles(const EquilibriumTask& t, int iteration) {
    const float* residual = t.cg_r + vectors_after(t, iteration);
    FOR_CHUNKS(t, chunk) {
        int item = chunk * THREADS + threadIdx.x;
        double sums[2] = {0.0, 0.0};
        if (item < 3 * t.all_nodes) {
            float inverse = t.preconditioner[item], w = 0.0f;
            if (inverse > 0.0f) {
                float r = residual[item], z = inverse * r;
                w = tile_forces_at(t, item / t.all_nodes, node_index(t, item % t.all_nodes));
                sums[0] = (double)r * z;
                sums[1] = (double)z * w;
            }
            t.cg_w[item] = w;
        }
        store_part(t, REDUCE_CONJUGATE, chunk, sums);
    }
}

// Diagonal entry of the contact stiffness for one component of a node: the sum over the cells with surface points.
__device__ inline double contact_diagonal_at(const EquilibriumTask& t, int item) {
    int c = item / t.all_nodes;
    NodeIndex n = node_index(t, item % t.all_nodes);
    double sum = 0.0;
#pragma unroll
    for (int i = 0; i < 27; i++) {
        int cell = cell_at(t, n, i % 3, i / 3 % 3, i / 9), surface = cell >= 0 ? t.surface[cell] : -1;
        if (surface >= 0) sum += t.contact_diagonal[(i * 3 + c) * t.surface_cells + surface];
    }
    return sum;
}

// Solves K step = residual until r.z has fallen by forcing^2; returns the slope step.residual. Nodes without stiffness do not move: where a
// held part ends at the face of a cell, rounding leaves a weight whose square has no inverse in single precision.
__device__ double solve_contact_pcg(const EquilibriumTask& t, double forcing, i64& count) {
    double negligible = 1e-12 * t.coefficients.mu_pa / t.per_edge[0];
    FOR_CHUNKS(t, chunk) {
        int item = chunk * THREADS + threadIdx.x;
        if (item < 3 * t.all_nodes) {
            double d = t.diagonal[item];
            t.preconditioner[item] = d > negligible ? (float)(1.0 / (d + contact_diagonal_at(t, item))) : 0.0f;
            t.cg_r[item] = (float)t.residual[item];
            t.cg_p[item] = t.cg_s[item] = t.step[item] = 0.0f;
        }
    }
    press_sync(t);
    double gamma = 0.0, before = 0.0, goal = 0.0, alpha = 0.0, beta = 0.0;
    for (int i = 0; i <= MAX_CONJUGATE; i++) {
        multiply_tiles(t, i, (float)alpha, (float)beta);
        press_sync(t);
        gather_tiles(t, i);
        press_sync(t);
        before = gamma;
        double sums[2];
        add_parts(t, REDUCE_CONJUGATE, t.chunks, sums);
        gamma = sums[0];
        double delta = sums[1];
        if (i == 0) goal = forcing * forcing * gamma;
        if (i > 0 && (gamma <= goal || i == MAX_CONJUGATE)) break;
        count++;
        beta = i > 0 ? gamma / before : 0.0;
        double curvature = i > 0 ? delta - beta * gamma / alpha : delta;
        if (!(curvature > 0.0)) {
            if (i == 0) FOR_CHUNKS(t, chunk) {
                int item = chunk * THREADS + threadIdx.x;
                if (item < 3 * t.all_nodes) t.step[item] = t.preconditioner[item] * t.cg_r[item];
            }
            break;
        }
        alpha = gamma / curvature;
    }
    FOR_CHUNKS(t, chunk) {
        int item = chunk * THREADS + threadIdx.x;
        double slope[1] = {item < 3 * t.all_nodes ? t.step[item] * t.residual[item] : 0.0};
        store_part(t, REDUCE_SLOPE, chunk, slope);
    }
    press_sync(t);
    double slope[1];
    add_parts(t, REDUCE_SLOPE, t.chunks, slope);
    return slope[0];
}
