// Derivatives of a scalar through presses, from those by the surface, the stress at the sensing depth and the wrench to those by
// the depths of the indenter, and from these to those by its pose and size. As on the CPU (`Layer::gradient`).

// Derivatives by the tractions: p̄ of the wrench + Sᵀ ū + Bᵀ b̄ on the cells of the region of each press `members` of a queue, (presses, 3, cells).
// S and B give surface and stress below from tractions. Sources are on the whole grid, and S is symmetric, so that Sᵀ ū is the surface under the
// tractions ū. `by_wrenches`, `by_surfaces` and `by_belows` may be null. `lateral`: surface and stress have lateral parts. Derivatives by shear are
// computed with friction alone. Each block takes one press after the other and owns 4 · size · columns numbers of `memory`.
extern "C" __global__ void __launch_bounds__(THREADS, FIELD_BLOCKS)
    pull_back_fields(LayerGrid grid, FftPlan plan, int lateral, int tile_lines, const int* members, PressQueue* queue, const ContactRegion* regions,
                     const double* tractions, const double* surfaces, const Real* spectra, const int* opposite, Complex* memory,
                     const double* by_wrenches, const double* by_surfaces, const double* by_belows, double* by_tractions) {
    extern __shared__ Complex roots[];
    __shared__ int next, pair_count;
    const int cells = grid.rows * grid.cols;
    const long long plane = (long long)plan.size * grid.cols;
    Complex* sources = memory + 4 * plane * blockIdx.x;
    const FieldLines lines = field_lines(grid, plan, roots, tile_lines, opposite, sources, sources + 2 * plane, spectra, lateral, pair_count);
    while (true) {
        const int press = next_press(queue, members, &next);
        if (press < 0) return;
        const ContactRegion region = regions[press];
        ContactRegion whole = region;
        whole.row = whole.col = 0;
        whole.rows = grid.rows;
        whole.cols = grid.cols;
        const double *pressure = tractions + 3ll * press * cells + 2 * cells, *down = surfaces + 3ll * press * cells + 2 * cells;
        double *by_x = by_tractions + 3ll * press * cells, *by_y = by_x + cells, *by_pressure = by_y + cells;
        const double zero[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0}, *wrench = by_wrenches ? by_wrenches + 6ll * press : zero;
        FOR_EACH(i, region.rows * region.cols) {
            const int row = region.row + i / region.cols, col = region.col + i % region.cols, cell = row * grid.cols + col;
            const double x = x_of(grid, col), y = y_of(grid, row), area = grid.cell * grid.cell, depth = down[cell];
            // The force is (q_x, q_y, −p) at the depth d: its torque is (d q_y − y p, x p − d q_x, x q_y − y q_x).
            by_pressure[cell] = area * (x * wrench[4] - y * wrench[3] - wrench[2]);
            if (!has_friction(grid.contact)) continue;
            const double touching = pressure[cell] > 0.0 ? area : 0.0;
            by_x[cell] = touching * (wrench[0] - depth * wrench[4] - y * wrench[5]);
            by_y[cell] = touching * (wrench[1] + depth * wrench[3] + x * wrench[5]);
        }
        for (int below = 0; below < 2; below++) {
            const double* by = below ? by_belows : by_surfaces;
            if (!by) continue;
            transform_columns(lines, whole, by + 3ll * press * cells);
            respond_along_rows(lines, whole, lateral, below ? OF_BY_STRESS : OF_SURFACE);
            const auto within = [&](int row, int col) {
                return row >= region.row && row < region.row + region.rows && col >= region.col && col < region.col + region.cols;
            };
            finish_columns(lines, 0, [&](int i, int row, int col, Complex value) {
                if (within(row, col)) by_pressure[i] += value.x;
            });
            if (has_friction(grid.contact)) {
                finish_columns(lines, 1, [&](int i, int row, int col, Complex value) {
                    if (!within(row, col)) return;
                    by_x[i] += value.x;
                    by_y[i] += value.y;
                });
            }
            __syncthreads();
        }
    }
}

// Adds the derivatives by the depth of the surface, on which the lever of shear depends, from those by the torque. One block per press, one cell
// per thread.
extern "C" __global__ void __launch_bounds__(THREADS) pull_back_levers(LayerGrid grid, const double* tractions, const double* by_wrenches, double* by_surfaces) {
    const int cells = grid.rows * grid.cols;
    const double *traction = tractions + 3ll * blockIdx.x * cells, *wrench = by_wrenches + 6ll * blockIdx.x;
    double* by_down = by_surfaces + 3ll * blockIdx.x * cells + 2 * cells;
    FOR_EACH(i, cells) {
        if (traction[2 * cells + i] > 0.0) by_down[i] += grid.cell * grid.cell * (wrench[3] * traction[cells + i] - wrench[4] * traction[i]);
    }
}

// Derivatives by the stress below (along x, y and as pressure) from those by the force vectors of the taxels, (presses, taxels, 3): the transpose of
// `integrate_forces`. One block per press; one taxel per thread.
extern "C" __global__ void __launch_bounds__(THREADS) pull_back_taxels(LayerGrid grid, TaxelGrid taxel_grid, const int* spans, const double* weights,
                                                                   const double* by_forces, double* by_belows) {
    const int cells = grid.rows * grid.cols, taxels = taxel_grid.rows * taxel_grid.cols;
    double* below = by_belows + 3ll * blockIdx.x * cells;
    FOR_EACH(t, taxels) {
        const int *rows = spans + 3 * (t / taxel_grid.cols), *cols = spans + 3 * (taxel_grid.rows + t % taxel_grid.cols);
        const double* by = by_forces + 3 * ((long long)blockIdx.x * taxels + t);
        if (by[0] == 0.0 && by[1] == 0.0 && by[2] == 0.0) continue;
        for (int i = 0; i < rows[1]; i++) {
            for (int j = 0; j < cols[1]; j++) {
                const int cell = (rows[0] + i) * grid.cols + cols[0] + j;
                const double share = taxel_grid.area * (weights[rows[2] + i] * weights[cols[2] + j]);
                // Neighbouring taxels share cells.
                atomicAdd(below + cell, by[0] * share);
                atomicAdd(below + cells + cell, by[1] * share);
                atomicAdd(below + 2 * cells + cell, -by[2] * share);
            }
        }
    }
}

// Derivatives by the depth (1/m) of each cell of a region, (presses, cells): λ with K λ = derivatives by the pressure on the cells in contact, and
// zero on the others; with friction see `solve_adjoint_with_friction`, which also has the derivative by its coefficient. Inputs and memory as in
// `solve_contact`.
extern "C" __global__ void __launch_bounds__(THREADS, CONTACT_BLOCKS)
    solve_adjoint(LayerGrid grid, const Transform* transforms, int size, FftPlan half, int in_shared, int tile_lines, const int* members, PressQueue* queue,
                  const double* depths, const double* covered, const double* tractions, const double* surfaces, const ContactRegion* regions,
                  const Real* inverse, Real* buffers, Complex* planes, const double* by_tractions, double* by_depths, double* by_mus) {
    extern __shared__ Complex memory[];
    __shared__ double sums[4 * THREADS / 32];
    __shared__ int next;
    __shared__ Workspace work;
    const int cells = grid.rows * grid.cols;
    const bool friction = has_friction(grid.contact);
    prepare(work, transforms, size, half, in_shared, tile_lines, inverse, buffers, planes, memory, sums);
    while (true) {
        const int press = next_press(queue, members, &next);
        if (press < 0) return;
        const double *traction = tractions + 3ll * press * cells, *pressure = traction + 2 * cells, *by = by_tractions + 3ll * press * cells;
        const ContactRegion region = regions[press];
        load_region(work, region, grid, depths + (long long)press * cells, covered + (long long)press * cells, traction);
        const auto cell_of = [&](int i) { return (region.row + i / region.cols) * grid.cols + region.col + i % region.cols; };
        double largest = 0.0;
        FOR_EACH(i, work.region.count) {
            const int cell = cell_of(i);
            const bool touches = pressure[cell] > 0.0;
            work.buffer(ACTIVE)[i] = touches ? 1 : 0;
            if (touches) largest = fmax(largest, fabs(by[2 * cells + cell]));
            if (touches && friction) largest = fmax(largest, fmax(fabs(by[cell]), fabs(by[cells + cell])));
        }
        // Relative to the largest, in the range of the precision.
        largest = reduce_max(largest, work.shared);
        const double scale = largest > 0.0 ? 1.0 / largest : 0.0;
        const Real* found = work.buffer(friction ? BY_DEPTH : PRESSURE);
        if (friction) {
            find_slip(work, grid, cell_of, traction, surfaces + 3ll * press * cells);
            FOR_EACH(i, work.region.count) {
                const int cell = cell_of(i);
                work.buffer(REST_X)[i] = work.buffer(ACTIVE)[i] * (Real)(scale * by[cell]);
                work.buffer(REST_Y)[i] = work.buffer(ACTIVE)[i] * (Real)(scale * by[cells + cell]);
                work.buffer(BY_PRESSURE)[i] = work.buffer(ACTIVE)[i] * (Real)(scale * by[2 * cells + cell]);
            }
            solve_adjoint_with_friction(work, grid);
            double by_mu[1] = {0.0};
            FOR_EACH(i, work.region.count) by_mu[0] += pressure[cell_of(i)] * slipping_part(work, i);
            reduce_sum(by_mu, work.shared);
            if (threadIdx.x == 0) by_mus[press] = largest * by_mu[0];
        } else {
            FOR_EACH(i, work.region.count) work.buffer(RESIDUAL)[i] = work.buffer(ACTIVE)[i] * (Real)(scale * by[2 * cells + cell_of(i)]);
            solve_active(work, grid.contact.tolerance);
        }
        FOR_EACH(i, work.region.count) by_depths[(long long)press * cells + cell_of(i)] = largest * found[i];
    }
}

// Marks the cells under a cliff of the list of `find_cliffs`.
extern "C" __global__ void mark_cliffs(const unsigned long long* count, const long long* cliffs, unsigned char* marks) {
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < (long long)*count; i += (long long)gridDim.x * blockDim.x) marks[cliffs[i]] = 1;
}

// The lowest point of an object over x and y (m): its height (m) over z = 0, and the point and the outward normal in the object's frame.
struct LowestPoint {
    double height;
    Vec3 at, normal;
};
__device__ __forceinline__ bool lowest_point(const ObjectView& object, const double* pose, double x, double y, LowestPoint& found) {
    const Quat back = conjugate(rotation_of(pose));
    const Vec3 up = rotate(back, vec3(0.0, 0.0, 1.0)), from = position_of(pose);
    if (object.kind != MESH && object.kind != BALLS) {
        const Vec3 foot = rotate(back, vec3(x, y, 0.0) - from);
        found.height = enter(object, foot, up);
        if (!finite(found.height)) return false;
        found.at = foot + up * found.height;
        found.normal = primitive_normal(object.kind, object, found.at);
        return true;
    }
    const Vec3 middle = (vec3(object.tree_low) + vec3(object.tree_high)) * 0.5;
    const double below = rotate(rotation_of(pose), middle).z + from.z - object.diagonal;
    const Vec3 start = rotate(back, vec3(x, y, below) - from);
    Hit hit;
    if (!cast_mesh(object, start, up, 2.0 * object.diagonal, NONE, hit)) return false;
    found = {below + hit.distance, start + up * hit.distance, hit.normal};
    return true;
}

// Derivatives by the pose and the size of an object (`ShapeGradient` on the CPU): by position, rotation vector, stretch along its axes, and the half
// length of a capsule.
constexpr int SHAPE_NUMBERS = 10;
__device__ __forceinline__ void add_by_height(const ObjectView& object, const double* pose, const LowestPoint& point, double by_height, double* sums) {
    const Quat rotation = rotation_of(pose);
    const Vec3 normal = rotate(rotation, point.normal);
    if (normal.z == 0.0) return;
    // A motion δ of the surface changes the height by n·δ / n_z.
    const Vec3 by_motion = normal * (by_height / normal.z), around = cross(rotate(rotation, point.at), by_motion), own = point.normal * (by_height / normal.z);
    const double parts[SHAPE_NUMBERS] = {by_motion.x, by_motion.y, by_motion.z, around.x, around.y, around.z, own.x * point.at.x, own.y * point.at.y,
                                         own.z * point.at.z,
                                         object.kind == CAPSULE && fabs(point.at.z) > object.size[1] ? own.z * copysign(1.0, point.at.z) : 0.0};
    for (int k = 0; k < SHAPE_NUMBERS; k++) sums[k] += parts[k];
}

// Derivatives by the shape of each press from those by the depths of the cells, (presses, SHAPE_NUMBERS). The height of a cell under a cliff is the
// mean over the samples below z = 0, whose number is held fixed. One block per press; one cell per thread, or one cell under a cliff per warp.
extern "C" __global__ void __launch_bounds__(THREADS) pull_back_shape(LayerGrid grid, const double* poses, ObjectView object, const ContactRegion* regions,
                                                                  const unsigned char* cliffs, const double* by_depths, double* shapes) {
    __shared__ double shared[SHAPE_NUMBERS * THREADS / 32];
    const int cells = grid.rows * grid.cols, lane = threadIdx.x % 32;
    const double *pose = poses + (long long)POSE_NUMBERS * blockIdx.x, *by_depth = by_depths + (long long)blockIdx.x * cells;
    const unsigned char* cliff = cliffs + (long long)blockIdx.x * cells;
    const ContactRegion region = regions[blockIdx.x];
    const int count = region.rows * region.cols;
    double sums[SHAPE_NUMBERS] = {};
    for (int i = threadIdx.x; i < count; i += THREADS) {
        const int row = region.row + i / region.cols, col = region.col + i % region.cols, cell = row * grid.cols + col;
        LowestPoint point;
        // A greater height is a smaller depth.
        if (!cliff[cell] && by_depth[cell] != 0.0 && lowest_point(object, pose, x_of(grid, col), y_of(grid, row), point)) {
            add_by_height(object, pose, point, -by_depth[cell], sums);
        }
    }
    for (int i = threadIdx.x / 32; i < count; i += THREADS / 32) {
        const int row = region.row + i / region.cols, col = region.col + i % region.cols, cell = row * grid.cols + col;
        if (!cliff[cell] || by_depth[cell] == 0.0) continue;
        LowestPoint points[2];
        bool is_low[2];
        int low = 0;
        for (int k = 0; k < 2; k++) {
            const int sample = 32 * k + lane;
            double x, y;
            if (sample < SAMPLES * SAMPLES) sample_place(grid, cell, sample, x, y);
            is_low[k] = sample < SAMPLES * SAMPLES && lowest_point(object, pose, x, y, points[k]) && points[k].height < 0.0;
            low += __popc(__ballot_sync(0xffffffffu, is_low[k]));
        }
        for (int k = 0; k < 2; k++) {
            if (is_low[k]) add_by_height(object, pose, points[k], -by_depth[cell] / low, sums);
        }
        if (low == 0 && lane == 0 && lowest_point(object, pose, x_of(grid, col), y_of(grid, row), points[0])) {
            add_by_height(object, pose, points[0], -by_depth[cell], sums);
        }
    }
    reduce_sum(sums, shared);
    if (threadIdx.x < SHAPE_NUMBERS) shapes[(long long)SHAPE_NUMBERS * blockIdx.x + threadIdx.x] = sums[threadIdx.x];
}

// Writes the index of the first of `count` numbers of 4 or 8 bytes that is not finite, if it is smaller. One number per thread.
extern "C" __global__ void find_not_finite(const void* numbers, int bytes, long long count, unsigned long long* first) {
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < count; i += (long long)gridDim.x * blockDim.x) {
        const double number = bytes == 4 ? ((const float*)numbers)[i] : ((const double*)numbers)[i];
        if (!finite(number)) atomicMin(first, (unsigned long long)i);
    }
}

// Adds to the sum of each press the products of its `each` numbers of a and b. One block per press.
extern "C" __global__ void __launch_bounds__(THREADS) multiply_rows(const double* a, const double* b, int each, double* sums) {
    __shared__ double shared[THREADS / 32];
    const long long start = (long long)blockIdx.x * each;
    double sum[1] = {0.0};
    FOR_EACH(i, each) sum[0] += a[start + i] * b[start + i];
    reduce_sum(sum, shared);
    if (threadIdx.x == 0) sums[blockIdx.x] += sum[0];
}
