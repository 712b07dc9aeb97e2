// Fields on the whole grid for given tractions: displacement of the surface, stress at the sensing depth, forces on the taxels.

// Pairs of real fields computed by one complex transform: displacement along x and y, deflection and pressure below, shear below along x
// and y.
enum Response { LATERAL, NORMAL, LATERAL_BELOW };

// Spectrum of first + i · balance · second for one pair of fields, from the spectra of the pressure and of shear x + iy:
//   lateral: (xx x + xy y + i xp p, xy x + yy y + i yp p);  normal: (c p − i (xp x + yp y), b p + i (bx x + by y)).
// `balance` scales the second field to the magnitude of the first, to limit rounding errors. One pair k, −k per thread.
__device__ __noinline__ void combine_responses(int which, int size, const Real* spectra, const int* opposite, bool sheared,
                                               const Complex* pressure, const Complex* shear, Real balance, Complex* out) {
    const long long all = (long long)size * size;
    const Real* of[6];
    const int lateral[6] = {XX, XY, XY, YY, X_PRESSURE, Y_PRESSURE};
    const int below[6] = {BELOW_XX, BELOW_XY, BELOW_XY, BELOW_YY, BELOW_X_PRESSURE, BELOW_Y_PRESSURE};
    const int normal[6] = {X_PRESSURE, Y_PRESSURE, BELOW_PRESSURE_X, BELOW_PRESSURE_Y, COMPLIANCE, BELOW_PRESSURE};
#pragma unroll
    for (int k = 0; k < 6; k++) of[k] = spectra + (which == LATERAL ? lateral[k] : which == NORMAL ? normal[k] : below[k]) * all;
    const Divisor by(size);
    __syncthreads();
    FOR_EACH(i, size * size) {
        int col;
        const int row = by(i, col), other = opposite[row] * size + opposite[col];
        if (other < i) continue;
        const Complex p = pressure[i];
        Complex x = {0, 0}, y = {0, 0}, first, second;
        if (sheared) separate(shear[i], shear[other], x, y);
        if (which == NORMAL) {
            // Deflection by shear is minus displacement by pressure.
            first = of[4][i] * p - times_i(of[0][i] * x + of[1][i] * y);
            second = of[5][i] * p + times_i(of[2][i] * x + of[3][i] * y);
        } else {
            first = of[0][i] * x + of[1][i] * y + times_i(of[4][i] * p);
            second = of[2][i] * x + of[3][i] * y + times_i(of[5][i] * p);
        }
        second = balance * second;
        out[i] = first + times_i(second);
        if (other != i) out[other] = conj(first) + times_i(conj(second));
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

// The planes of a block: spectra of the pressure and of the shear, and the pair of fields being computed.
struct FieldPlanes {
    Plane pressure, shear, out;
    const Complex* roots;
    bool sheared;
};

// Spectra of the tractions of a region, one cell per thread.
__device__ __forceinline__ void transform_tractions(const FieldPlanes& planes, const FftPlan& plan, const LayerGrid& grid,
                                                    const ContactRegion& region, const double* traction) {
    const int cells = grid.rows * grid.cols, size = plan.size;
    FOR_EACH(i, region.rows * region.cols) {
        const int row = region.row + i / region.cols, col = region.col + i % region.cols, cell = row * grid.cols + col;
        planes.pressure.data[row * size + col] = {(Real)traction[2 * cells + cell], 0};
        if (planes.sheared) planes.shear.data[row * size + col] = {(Real)traction[cell], (Real)traction[cells + cell]};
    }
    fft_2d(planes.pressure, planes.roots, &plan, region.row, region.rows, region.col, region.cols);
    if (planes.sheared) fft_2d(planes.shear, planes.roots, &plan, region.row, region.rows, region.col, region.cols);
}

// Deflection (m) and pressure below (Pa), and the cells outside of the region where the surface overlaps the indenter by more than
// `tolerance` (m). One cell per thread.
__device__ __forceinline__ void normal_fields(const FieldPlanes& planes, const FftPlan& plan, const LayerGrid& grid,
                                              const Real* spectra, const int* opposite, const ContactRegion& region, double tolerance,
                                              const double* depth, double* deflection, double* pressure_below, Bounds& overlap) {
    const int size = plan.size;
    const long long all = (long long)size * size;
    const Divisor by_cols(grid.cols);
    const Real balance = spectra[COMPLIANCE * all] / spectra[BELOW_PRESSURE * all];
    combine_responses(NORMAL, size, spectra, opposite, planes.sheared, planes.pressure.data, planes.shear.data, balance,
                      planes.out.data);
    ifft_2d(planes.out, planes.roots, &plan, grid.rows);
    FOR_EACH(i, grid.rows * grid.cols) {
        int col;
        const int row = by_cols(i, col);
        const Complex value = planes.out.data[row * size + col];
        deflection[i] = value.x;
        pressure_below[i] = value.y / balance;
        const bool within =
            row >= region.row && row < region.row + region.rows && col >= region.col && col < region.col + region.cols;
        // A bulging surface may touch the indenter outside the region.
        if (!within && value.x - depth[i] < -tolerance) overlap.include(row, col);
    }
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

// Displacement (m) or shear below (Pa) along x, then y. One cell per thread.
__device__ __forceinline__ void lateral_fields(int which, const FieldPlanes& planes, const FftPlan& plan, const LayerGrid& grid,
                                               const Real* spectra, const int* opposite, double* out) {
    const int size = plan.size, cells = grid.rows * grid.cols;
    const Divisor by_cols(grid.cols);
    combine_responses(which, size, spectra, opposite, planes.sheared, planes.pressure.data, planes.shear.data, 1.0,
                      planes.out.data);
    ifft_2d(planes.out, planes.roots, &plan, grid.rows);
    FOR_EACH(i, cells) {
        int col;
        const int row = by_cols(i, col);
        const Complex value = planes.out.data[row * size + col];
        out[i] = value.x;
        out[cells + i] = value.y;
    }
}

// Surface displacement (m) along x, y and down, and stress below (Pa) along x, y and as pressure, of the presses `members` of
// a queue. Each block takes one press after the other and owns three planes. A press whose surface overlaps the indenter outside its region becomes OPEN again,
// with a larger region, unless this is the `final` time. `lateral`: compute lateral displacement without friction too; `lateral_below`: the same for shear below.
extern "C" __global__ void __launch_bounds__(THREADS, FIELD_BLOCKS)
    evaluate_fields(LayerGrid grid, FftPlan plan, int lateral, int lateral_below, int final, int tile_lines, const int* members,
                    PressQueue* queue, const double* depths, const double* tractions, ContactRegion* regions, const Real* spectra,
                    const int* opposite, Complex* all_planes, double* surfaces, double* belows) {
    extern __shared__ Complex roots[];
    __shared__ Bounds overlap;
    __shared__ double largest[THREADS / 32];
    __shared__ int next;
    const int cells = grid.rows * grid.cols, size = plan.size;
    const long long all = (long long)size * size;
    fill_roots(roots, size);
    const Plane first = {all_planes + 3 * all * blockIdx.x, size, false, roots + size, tile_lines};
    const FieldPlanes planes = {first,
                                {first.data + all, size, false, roots + size, tile_lines},
                                {first.data + 2 * all, size, false, roots + size, tile_lines},
                                roots, has_friction(grid.contact)};
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
        transform_tractions(planes, plan, grid, region, tractions + 3ll * press * cells);
        normal_fields(planes, plan, grid, spectra, opposite, region, 10.0 * grid.contact.tolerance * region.max_depth,
                      depth, surface + 2 * cells, below + 2 * cells, overlap);
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
        for (int which = LATERAL; which <= LATERAL_BELOW; which += 2) {
            double* to = which == LATERAL ? surface : below;
            if (!(planes.sheared || lateral) || (which == LATERAL_BELOW && !lateral_below)) {
                FOR_EACH(i, 2 * cells) to[i] = 0.0;
            } else {
                lateral_fields(which, planes, plan, grid, spectra, opposite, to);
            }
        }
        if (planes.sheared) {
            double motion = 0.0;
            FOR_EACH(i, cells) motion = fmax(motion, sqrt(surface[i] * surface[i] + surface[cells + i] * surface[cells + i]));
            motion = reduce_max(motion, largest);
            if (threadIdx.x == 0) regions[press].motion = motion;
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
// between neighbouring cells in contact, smallest distance (m) of the centre of a cell in contact from the rim (1e300 without contact).
// One block per press, one cell per thread. extents: (n, 4).
extern "C" __global__ void __launch_bounds__(THREADS)
    measure_contact(LayerGrid grid, const double* tractions, const double* surfaces, double* extents) {
    __shared__ double shared[THREADS / 32];
    const int cells = grid.rows * grid.cols;
    const long long start = 3ll * blockIdx.x * cells + 2 * cells;
    const double *pressure = tractions + start, *deflection = surfaces + start;
    double count[1] = {0.0}, deepest = 0.0, step = 0.0, beyond_rim = -1e300;
    FOR_EACH(i, cells) {
        deepest = fmax(deepest, deflection[i]);
        if (!(pressure[i] > 0.0)) continue;
        const int row = i / grid.cols, col = i % grid.cols;
        count[0] += 1.0;
        if (row + 1 < grid.rows && pressure[i + grid.cols] > 0.0) step = fmax(step, fabs(deflection[i] - deflection[i + grid.cols]));
        if (col + 1 < grid.cols && pressure[i + 1] > 0.0) step = fmax(step, fabs(deflection[i] - deflection[i + 1]));
        beyond_rim = fmax(beyond_rim, fabs(x_of(grid, col)) - 0.5 * grid.cell * grid.cols);
        beyond_rim = fmax(beyond_rim, fabs(y_of(grid, row)) - 0.5 * grid.cell * grid.rows);
    }
    reduce_sum(count, shared);
    deepest = reduce_max(deepest, shared);
    step = reduce_max(step, shared);
    beyond_rim = reduce_max(beyond_rim, shared);
    if (threadIdx.x != 0) return;
    double* to = extents + 4ll * blockIdx.x;
    to[0] = count[0];
    to[1] = deepest;
    to[2] = step;
    to[3] = -beyond_rim;
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
