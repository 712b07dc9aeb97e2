// Fields on the whole grid for given tractions: displacement of the surface, stress at the sensing depth, forces on the taxels.

// Pairs of real fields computed by one complex transform: displacement along x and y, deflection and pressure below, shear below along x
// and y. The compliance of the surface is symmetric; BY_STRESS and BY_STRESS_LATERAL are the transposes of the responses below: derivatives by
// pressure, and by shear along x and y, from those by pressure and shear below.
enum Response { LATERAL, NORMAL, LATERAL_BELOW, BY_STRESS, BY_STRESS_LATERAL };

// Spectra of two fields at one wave number, from those of the pressure p and of the shear along x and y there:
//   lateral: (xx x + xy y + i xp p, xy x + yy y + i yp p);  normal: (c p − i (xp x + yp y), b p + i (bx x + by y)).
// An influence that is odd has an imaginary spectrum, so the transpose changes its sign.
template <int WHICH>
__device__ __forceinline__ void respond(const Real* spectra, long long all, Complex p, Complex x, Complex y, Complex& first, Complex& second) {
    constexpr int of[5][6] = {{XX, XY, XY, YY, X_PRESSURE, Y_PRESSURE},
                              {X_PRESSURE, Y_PRESSURE, BELOW_PRESSURE_X, BELOW_PRESSURE_Y, COMPLIANCE, BELOW_PRESSURE},
                              {BELOW_XX, BELOW_XY, BELOW_XY, BELOW_YY, BELOW_X_PRESSURE, BELOW_Y_PRESSURE},
                              {BELOW_X_PRESSURE, BELOW_Y_PRESSURE, BELOW_X_PRESSURE, BELOW_Y_PRESSURE, BELOW_PRESSURE, BELOW_PRESSURE},
                              {BELOW_XX, BELOW_XY, BELOW_XY, BELOW_YY, BELOW_PRESSURE_X, BELOW_PRESSURE_Y}};
    Real s[6];
#pragma unroll
    for (int k = 0; k < 6; k++) s[k] = spectra[of[WHICH][k] * all];
    if (WHICH == NORMAL) {
        // Deflection by shear is minus displacement by pressure.
        first = s[4] * p - times_i(s[0] * x + s[1] * y);
        second = s[5] * p + times_i(s[2] * x + s[3] * y);
    } else if (WHICH == BY_STRESS) {
        first = s[4] * p - times_i(s[0] * x + s[1] * y);
        second = {0, 0};
    } else {
        const Complex aside = WHICH == BY_STRESS_LATERAL ? -1 * times_i(p) : times_i(p);
        first = s[0] * x + s[1] * y + s[4] * aside;
        second = s[2] * x + s[3] * y + s[5] * aside;
    }
}

// Enlarges a region by the rows and columns of an overlap with the indenter outside the region.
__device__ __forceinline__ void include_overlap(const LayerGrid& grid, ContactRegion& region, const Bounds& overlap) {
    const int last_row = max(region.row + region.rows, overlap.bottom + 1), last_col = max(region.col + region.cols, overlap.right + 1);
    region.row = min(region.row, overlap.top);
    region.col = min(region.col, overlap.left);
    region.rows = last_row - region.row;
    region.cols = last_col - region.col;
    widen(region.row, region.rows, 1, grid.rows);
    widen(region.col, region.cols, 1, grid.cols);
    region.size = fft_size_of(grid, region.rows, region.cols);
}

// The memory of a block: lines of `size` + 1 numbers in shared memory, and fields in global memory. A field is transformed along columns, then
// along rows, where the responses are computed, and back. Along rows, a wave number k and −k are in shared memory at once.
struct FieldLines {
    const LayerGrid& grid;
    const FftPlan& plan;
    const Complex* roots;
    // `tile_lines` lines in shared memory; places of the wave numbers k of all pairs k, −k; index of −k for each k.
    Complex* tile;
    int tile_lines;
    const int *pairs, *opposite;
    // Sources after the transform along columns, (sources, size, columns of the region), and responses, (responses, size, columns of the grid).
    Complex *sources, *responses;
    const Real* spectra;
    // Scales the second field of the normal response to the magnitude of the first, to limit rounding errors.
    Real balance;
    bool sheared;

    __device__ __forceinline__ int pitch() const { return plan.size + 1; }
};

// The lines of a block, with shared memory from `roots` on. `pair_count` is in shared memory.
__device__ __forceinline__ FieldLines field_lines(const LayerGrid& grid, const FftPlan& plan, Complex* roots, int tile_lines, const int* opposite,
                                                  Complex* sources, Complex* responses, const Real* spectra, bool sheared, int& pair_count) {
    const int size = plan.size;
    const long long all = (long long)size * size;
    Complex* tile = roots + size;
    int* pairs = (int*)(tile + tile_lines * (size + 1));
    if (threadIdx.x == 0) pair_count = 0;
    fill_roots(roots, size);
    __syncthreads();
    // In any order: the pairs do not depend on each other.
    FOR_EACH(k, size) {
        if (opposite[k] >= k) pairs[atomicAdd(&pair_count, 1)] = k;
    }
    const Real balance = spectra[COMPLIANCE * all] / spectra[BELOW_PRESSURE * all];
    return {grid, plan, roots, tile, tile_lines, pairs, opposite, sources, responses, spectra, balance, sheared};
}

// Transforms the tractions of a region along columns: the pressure, then shear as x + iy. One number per thread.
__device__ __noinline__ void transform_columns(const FieldLines& lines, const ContactRegion& region, const double* traction) {
    const int cells = lines.grid.rows * lines.grid.cols, size = lines.plan.size, pitch = lines.pitch(), fields = lines.sheared ? 2 : 1;
    const int at_once = lines.tile_lines / fields;
    for (int start = 0; start < region.cols; start += at_once) {
        const int cols = min(at_once, region.cols - start);
        const Divisor by(cols);
        __syncthreads();
        FOR_EACH(i, region.rows * cols) {
            int col;
            const int row = region.row + by(i, col), cell = row * lines.grid.cols + region.col + start + col;
            lines.tile[col * pitch + row] = {(Real)traction[2 * cells + cell], 0};
            if (lines.sheared) lines.tile[(cols + col) * pitch + row] = {(Real)traction[cell], (Real)traction[cells + cell]};
        }
        __syncthreads();
        fft_forward(lines.tile, lines.roots, &lines.plan, fields * cols, pitch, 1, region.row, region.row + region.rows, true);
        for (int field = 0; field < fields; field++) {
            Complex* out = lines.sources + (long long)field * size * region.cols + start;
            FOR_EACH(i, size * cols) {
                int col;
                const int k = by(i, col);
                out[k * region.cols + col] = lines.tile[(field * cols + col) * pitch + k];
            }
        }
    }
}

// The spectra of two fields at k and −k from those of the pressure and the shear, as first + i second, in shared memory. One number k per thread.
template <int WHICH>
__device__ __forceinline__ void combine(const FieldLines& lines, int k, Complex p, Complex x, Complex y, Complex* at, Complex* opposite) {
    Complex first, second;
    respond<WHICH>(lines.spectra + k, (long long)lines.plan.size * lines.plan.size, p, x, y, first, second);
    if (WHICH == NORMAL) second = lines.balance * second;
    *at = first + times_i(second);
    if (opposite != at) *opposite = conj(first) + times_i(conj(second));
}

// The responses of `respond_along_rows`: the normal one and, if `lateral`, the lateral one; the lateral one below alone; those by the stress.
enum Responses { OF_SURFACE, OF_SHEAR_BELOW, OF_BY_STRESS };

// Responses along rows, transformed back along rows. One number per thread.
__device__ __noinline__ void respond_along_rows(const FieldLines& lines, const ContactRegion& region, bool lateral, Responses which) {
    const int size = lines.plan.size, pitch = lines.pitch(), cols = lines.grid.cols, all_pairs = size / 2 + 1;
    const bool below = which == OF_SHEAR_BELOW, two = lines.sheared || lateral || below;
    const int fields = two ? 2 : 1, at_once = lines.tile_lines / (2 * fields);
    const Divisor by_source(region.cols), by_size(size), by_cols(cols);
    for (int start = 0; start < all_pairs; start += at_once) {
        const int pairs = min(at_once, all_pairs - start);
        Complex *pressures = lines.tile, *shears = lines.tile + 2 * pairs * pitch;
        __syncthreads();
        // The spectrum of the pressure, which is real, at −k follows from that at k.
        FOR_EACH(i, 2 * pairs * region.cols) {
            int col;
            const int line = by_source(i, col), first = lines.pairs[start + line / 2], k = line % 2 ? lines.opposite[first] : first;
            const Complex* source = lines.sources + k * region.cols + col;
            if (line % 2 == 0) pressures[line * pitch + region.col + col] = *source;
            if (lines.sheared) shears[line * pitch + region.col + col] = source[(long long)size * region.cols];
        }
        __syncthreads();
        fft_forward(pressures, lines.roots, &lines.plan, pairs, 2 * pitch, 1, region.col, region.col + region.cols, true);
        if (lines.sheared) fft_forward(shears, lines.roots, &lines.plan, 2 * pairs, pitch, 1, region.col, region.col + region.cols, true);
        FOR_EACH(i, pairs * size) {
            int col;
            const int pair = by_size(i, col), row = lines.pairs[start + pair], k = row * size + col, other_col = lines.opposite[col];
            const bool alone = lines.opposite[row] == row;
            if (alone && other_col < col) continue;
            const int at = 2 * pair * pitch + col, opposite = (2 * pair + (alone ? 0 : 1)) * pitch + other_col;
            const Complex p = pressures[at];
            Complex x = {0, 0}, y = {0, 0};
            if (lines.sheared) separate(shears[at], shears[opposite], x, y);
            if (below) {
                combine<LATERAL_BELOW>(lines, k, p, x, y, shears + at, shears + opposite);
            } else if (which == OF_BY_STRESS) {
                combine<BY_STRESS>(lines, k, p, x, y, pressures + at, pressures + opposite);
                if (two) combine<BY_STRESS_LATERAL>(lines, k, p, x, y, shears + at, shears + opposite);
            } else {
                combine<NORMAL>(lines, k, p, x, y, pressures + at, pressures + opposite);
                if (two) combine<LATERAL>(lines, k, p, x, y, shears + at, shears + opposite);
            }
        }
        __syncthreads();
        fft_inverse(below ? shears : lines.tile, lines.roots, &lines.plan, (below ? 2 : 2 * fields) * pairs, pitch, 1, true);
        for (int field = below ? 1 : 0; field < fields; field++) {
            const Complex* from = lines.tile + 2 * field * pairs * pitch;
            FOR_EACH(i, 2 * pairs * cols) {
                int col;
                const int line = by_cols(i, col), first = lines.pairs[start + line / 2], second = lines.opposite[first];
                if (line % 2 && second == first) continue;
                lines.responses[((long long)field * size + (line % 2 ? second : first)) * cols + col] = from[line * pitch + col];
            }
        }
    }
}

// Transforms a response back along columns; `write(cell, row, col, value)` gets its values on the grid. One number per thread.
template <class Write>
__device__ __forceinline__ void finish_columns(const FieldLines& lines, int field, Write write) {
    const int size = lines.plan.size, pitch = lines.pitch(), all = lines.grid.cols;
    const Complex* from = lines.responses + (long long)field * size * all;
    for (int start = 0; start < all; start += lines.tile_lines) {
        const int cols = min(lines.tile_lines, all - start);
        const Divisor by(cols);
        __syncthreads();
        FOR_EACH(i, size * cols) {
            int col;
            const int k = by(i, col);
            lines.tile[col * pitch + k] = from[k * all + start + col];
        }
        __syncthreads();
        fft_inverse(lines.tile, lines.roots, &lines.plan, cols, pitch, 1, true);
        FOR_EACH(i, lines.grid.rows * cols) {
            int col;
            const int row = by(i, col);
            write(row * all + start + col, row, start + col, lines.tile[col * pitch + row]);
        }
    }
}

// Deflection (m) and pressure below (Pa), and the cells outside of the region where the surface overlaps the indenter by more than
// `tolerance` (m).
__device__ __noinline__ void normal_fields(const FieldLines& lines, const ContactRegion& region, double tolerance, const double* depth,
                                           double* deflection, double* pressure_below, Bounds& overlap) {
    finish_columns(lines, 0, [&](int i, int row, int col, Complex value) {
        deflection[i] = value.x;
        pressure_below[i] = value.y / lines.balance;
        const bool within =
            row >= region.row && row < region.row + region.rows && col >= region.col && col < region.col + region.cols;
        // A bulging surface may touch the indenter outside the region.
        if (!within && value.x - depth[i] < -tolerance) overlap.include(row, col);
    });
}

// Displacement (m) or shear below (Pa) along x, then y. Returns the largest of a thread's cells.
__device__ __noinline__ double lateral_fields(const FieldLines& lines, double* out) {
    const int cells = lines.grid.rows * lines.grid.cols;
    double squared = 0.0;
    finish_columns(lines, 1, [&](int i, int, int, Complex value) {
        const double x = value.x, y = value.y;
        out[i] = x;
        out[cells + i] = y;
        squared = fmax(squared, x * x + y * y);
    });
    return sqrt(squared);
}

// Subtracts `past` of a layer that relaxes from its deflection (m), and finds the cells as `normal_fields` does. One cell per thread.
__device__ __noinline__ void subtract_past(const LayerGrid& grid, const ContactRegion& region, double tolerance, const double* depth,
                                           double* deflection, Bounds& overlap, Branches branches, int press) {
    const int cells = grid.rows * grid.cols;
    __syncthreads();
    if (threadIdx.x == 0) overlap.clear();
    __syncthreads();
    FOR_EACH(i, cells) {
        deflection[i] -= past_at(branches, press, 3 * cells, 2 * cells + i);
        const int row = i / grid.cols, col = i % grid.cols;
        const bool within =
            row >= region.row && row < region.row + region.rows && col >= region.col && col < region.col + region.cols;
        if (!within && deflection[i] - depth[i] < -tolerance) overlap.include(row, col);
    }
}

// Subtracts `past` from the displacement (m) along x, then y. Returns the largest of a thread's cells.
__device__ __noinline__ double subtract_past_along(const LayerGrid& grid, double* displacement, Branches branches, int press) {
    const int cells = grid.rows * grid.cols;
    double squared = 0.0;
    __syncthreads();
    FOR_EACH(i, cells) {
        const double x = displacement[i] - past_at(branches, press, 3 * cells, i);
        const double y = displacement[cells + i] - past_at(branches, press, 3 * cells, cells + i);
        displacement[i] = x;
        displacement[cells + i] = y;
        squared = fmax(squared, x * x + y * y);
    }
    return sqrt(squared);
}

// The largest overlap (m) of the surface with the indenter outside of a region. One cell per thread.
__device__ __noinline__ double overlap_outside(const LayerGrid& grid, const ContactRegion& region, const double* depth,
                                               const double* deflection, double* shared) {
    double largest = 0.0;
    FOR_EACH(i, grid.rows * grid.cols) {
        const int row = i / grid.cols - region.row, col = i % grid.cols - region.col;
        const bool within = row >= 0 && row < region.rows && col >= 0 && col < region.cols;
        if (!within) largest = fmax(largest, depth[i] - deflection[i]);
    }
    return reduce_max(largest, shared);
}

// Surface displacement (m) along x, y and down, and stress below (Pa) along x, y and as pressure, of the presses `members` of
// a queue. Each block takes one press after the other and owns 3 size² numbers of `memory`. A press whose surface overlaps the indenter outside its region becomes OPEN again,
// with a larger region, unless this is the `final` time. The displacement of a layer that relaxes is less by `past` of its `branches`. `lateral`: compute lateral displacement without friction too; `lateral_below`: the same for shear below.
extern "C" __global__ void __launch_bounds__(THREADS, FIELD_BLOCKS)
    evaluate_fields(LayerGrid grid, FftPlan plan, int lateral, int lateral_below, int final, int tile_lines, const int* members,
                    PressQueue* queue, const double* depths, const double* tractions, ContactRegion* regions, const Real* spectra,
                    const int* opposite, Complex* memory, double* surfaces, double* belows, Branches branches) {
    extern __shared__ Complex roots[];
    __shared__ Bounds overlap;
    __shared__ double largest[THREADS / 32];
    __shared__ int next, pair_count;
    const int cells = grid.rows * grid.cols, size = plan.size;
    const long long all = (long long)size * size;
    Complex* sources = memory + 3 * all * blockIdx.x;
    const bool sheared = has_friction(grid.contact);
    const FieldLines lines = field_lines(grid, plan, roots, tile_lines, opposite, sources, sources + all, spectra, sheared, pair_count);
    while (true) {
        const int press = next_press(queue, members, &next);
        if (press < 0) return;
        const double* depth = depths + (long long)press * cells;
        double *surface = surfaces + 3ll * press * cells, *below = belows + 3ll * press * cells;
        ContactRegion region = regions[press];
        // A region that outgrew its transform is not solved yet.
        if (region.status == OPEN) continue;
        if (region.rows * region.cols == 0) {
            FOR_EACH(i, 3 * cells) surface[i] = below[i] = 0.0;
            continue;
        }
        __syncthreads();
        if (threadIdx.x == 0) overlap.clear();
        transform_columns(lines, region, tractions + 3ll * press * cells);
        respond_along_rows(lines, region, lateral, OF_SURFACE);
        const double tolerance = 10.0 * grid.contact.tolerance * region.max_depth;
        normal_fields(lines, region, tolerance, depth, surface + 2 * cells, below + 2 * cells, overlap);
        if (branches.count > 0) subtract_past(grid, region, tolerance, depth, surface + 2 * cells, overlap, branches, press);
        __syncthreads();
        const bool overlaps = overlap.bottom >= 0, missed = overlaps && !final && region.growths < MAX_GROWTHS;
        if (missed) {
            include_overlap(grid, region, overlap);
        } else if (overlaps) {
            const double outside = overlap_outside(grid, region, depth, surface + 2 * cells, largest);
            region.unsolved = fmax(region.unsolved, outside / region.max_depth);
        }
        region.status = missed ? OPEN : DONE;
        if (threadIdx.x == 0) regions[press] = region;
        if (missed) continue;
        if (sheared || lateral) {
            double motion = lateral_fields(lines, surface);
            if (branches.count > 0) motion = subtract_past_along(grid, surface, branches, press);
            motion = reduce_max(motion, largest);
            if (sheared && threadIdx.x == 0) regions[press].motion = motion;
        } else {
            FOR_EACH(i, 2 * cells) surface[i] = 0.0;
        }
        if ((sheared || lateral) && lateral_below) {
            respond_along_rows(lines, region, true, OF_SHEAR_BELOW);
            lateral_fields(lines, below);
        } else {
            FOR_EACH(i, 2 * cells) below[i] = 0.0;
        }
    }
}

// Force vectors (N) on the taxels and outside all taxels, and force (N) and torque about the origin (N m) on the sensor. A taxel integrates
// the stress below over its cells: `spans` holds (first cell, cells, first weight) for each row of taxels, then for each column; `weights`
// are overlaps as fractions of the pitch. One block per press; one taxel, then one cell per thread.
extern "C" __global__ void __launch_bounds__(THREADS)
    integrate_forces(LayerGrid grid, TaxelGrid taxel_grid, const int* spans, const double* weights, const double* tractions,
                     const double* surfaces, const double* belows, double* forces, double* outsides, double* wrenches) {
    __shared__ double shared[6 * THREADS / 32];
    const int cells = grid.rows * grid.cols, taxels = taxel_grid.rows * taxel_grid.cols;
    const double* below = belows + 3ll * blockIdx.x * cells;
    const long long press = blockIdx.x;
    double sensed[3] = {0.0, 0.0, 0.0};
    FOR_EACH(t, taxels) {
        const int *rows = spans + 3 * (t / taxel_grid.cols), *cols = spans + 3 * (taxel_grid.rows + t % taxel_grid.cols);
        double x = 0.0, y = 0.0, z = 0.0;
        for (int i = 0; i < rows[1]; i++) {
            for (int j = 0; j < cols[1]; j++) {
                const int cell = (rows[0] + i) * grid.cols + cols[0] + j;
                const double share = taxel_grid.area * (weights[rows[2] + i] * weights[cols[2] + j]);
                x += below[cell] * share;
                y += below[cells + cell] * share;
                z -= below[2 * cells + cell] * share;
            }
        }
        double* to = forces + 3 * (press * taxels + t);
        to[0] = x;
        to[1] = y;
        to[2] = z;
        sensed[0] += x;
        sensed[1] += y;
        sensed[2] += z;
    }
    const double *traction = tractions + 3ll * blockIdx.x * cells, *deflection = surfaces + 3ll * blockIdx.x * cells + 2 * cells;
    double net[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    FOR_EACH(i, cells) {
        const double p = traction[2 * cells + i];
        if (!(p > 0.0)) continue;
        const double area = grid.cell * grid.cell, fx = traction[i] * area, fy = traction[cells + i] * area, fz = -p * area;
        const double x = x_of(grid, i % grid.cols), y = y_of(grid, i / grid.cols), z = -deflection[i];
        net[0] += fx;
        net[1] += fy;
        net[2] += fz;
        net[3] += y * fz - z * fy;
        net[4] += z * fx - x * fz;
        net[5] += x * fy - y * fx;
    }
    reduce_sum(sensed, shared);
    reduce_sum(net, shared);
    if (threadIdx.x < 6) wrenches[6 * press + threadIdx.x] = net[threadIdx.x];
    if (threadIdx.x < 3) outsides[3 * press + threadIdx.x] = net[threadIdx.x] - sensed[threadIdx.x];
}

// The numbers of a press that decide about its warnings: cells in contact, largest deflection (m), largest difference of deflection (m)
// between neighbouring cells in contact, smallest distance (m) of the centre of a cell in contact from the rim (1e300 without contact),
// and whether the object covers the whole of a cell between four others in contact (1 or 0). One block per press, one cell per thread.
// covered: part of each cell that the object covers. extents: (n, 5).
extern "C" __global__ void __launch_bounds__(THREADS)
    measure_contact(LayerGrid grid, const double* tractions, const double* surfaces, const double* covered, double* extents) {
    __shared__ double shared[THREADS / 32];
    const int cells = grid.rows * grid.cols;
    const long long start = 3ll * blockIdx.x * cells + 2 * cells;
    const double *pressure = tractions + start, *deflection = surfaces + start;
    double count[1] = {0.0}, deepest = 0.0, step = 0.0, beyond_rim = -1e300, has_inner = 0.0;
    FOR_EACH(i, cells) {
        deepest = fmax(deepest, deflection[i]);
        if (!(pressure[i] > 0.0)) continue;
        const int row = i / grid.cols, col = i % grid.cols;
        count[0] += 1.0;
        if (row + 1 < grid.rows && pressure[i + grid.cols] > 0.0) step = fmax(step, fabs(deflection[i] - deflection[i + grid.cols]));
        if (col + 1 < grid.cols && pressure[i + 1] > 0.0) step = fmax(step, fabs(deflection[i] - deflection[i + 1]));
        beyond_rim = fmax(beyond_rim, fabs(x_of(grid, col)) - 0.5 * grid.cell * grid.cols);
        beyond_rim = fmax(beyond_rim, fabs(y_of(grid, row)) - 0.5 * grid.cell * grid.rows);
        const bool has_four = row > 0 && row + 1 < grid.rows && col > 0 && col + 1 < grid.cols;
        if (has_four && covered[(long long)blockIdx.x * cells + i] == 1.0 && pressure[i - grid.cols] > 0.0 && pressure[i + grid.cols] > 0.0 &&
            pressure[i - 1] > 0.0 && pressure[i + 1] > 0.0)
            has_inner = 1.0;
    }
    reduce_sum(count, shared);
    deepest = reduce_max(deepest, shared);
    step = reduce_max(step, shared);
    beyond_rim = reduce_max(beyond_rim, shared);
    has_inner = reduce_max(has_inner, shared);
    if (threadIdx.x != 0) return;
    double* to = extents + 5ll * blockIdx.x;
    to[0] = count[0];
    to[1] = deepest;
    to[2] = step;
    to[3] = -beyond_rim;
    to[4] = has_inner;
}

// Copies pressure (Pa) and displacement along x, y and z (m) to the outputs in single precision; either may be null. One block per press,
// one cell per thread.
extern "C" __global__ void copy_outputs(LayerGrid grid, const double* tractions, const double* surfaces, float* pressure, float* surface) {
    const int cells = grid.rows * grid.cols;
    const double *traction = tractions + 3ll * blockIdx.x * cells, *moved = surfaces + 3ll * blockIdx.x * cells;
    const long long start = (long long)blockIdx.x * cells;
    for (int i = threadIdx.x; i < cells; i += blockDim.x) {
        if (pressure) pressure[start + i] = (float)traction[2 * cells + i];
        if (surface) {
            surface[3 * (start + i)] = (float)moved[i];
            surface[3 * (start + i) + 1] = (float)moved[cells + i];
            surface[3 * (start + i) + 2] = (float)(0.0 - moved[2 * cells + i]);
        }
    }
}
