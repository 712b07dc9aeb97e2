// Tractions that prevent the layer from penetrating the indenter, with friction, for many presses. The same operations in the same order
// as on the CPU (`Solution`), except that the first shear of a press from rest is solved roughly.

// Maximum number of exchanges between pressure and shear, and of enlargements of a region.
constexpr int MAX_EXCHANGES = 12, MAX_GROWTHS = 16;

// Tolerance of the first shear of a press from rest, as a part of the largest target displacement: the pressure still changes by about as much.
constexpr double FIRST_SLIP_TOLERANCE = 1e-2;

// Finds the window under pressure and its transform. One cell per thread.
__device__ __noinline__ void find_window(const LayerGrid& grid, Workspace& work, Bounds& bounds) {
    const Real* p = work.buffer(PRESSURE);
    __syncthreads();
    if (threadIdx.x == 0) bounds.clear();
    __syncthreads();
    FOR_EACH(i, work.region.count) {
        int col;
        const int row = work.region.by_cols(i, col);
        if (p[i] > 0) bounds.include(row, col);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        const bool any = bounds.bottom >= 0;
        const int row = any ? bounds.top : 0, col = any ? bounds.left : 0;
        const int rows = any ? bounds.bottom - row + 1 : 1, cols = any ? bounds.right - col + 1 : 1;
        const Transform& transform = work.transforms[fft_size_of(grid, rows, cols)];
        work.pressed.set_cells(row, col, rows, cols, work.region.cols);
        work.pressed.plan = transform.plan;
        work.pressed.spectra = (const Real*)transform.spectra;
        work.pressed.opposite = transform.opposite;
    }
    __syncthreads();
    fill_roots(work.pressed_roots, work.pressed.plan.size);
}

// Displacement (m) along x and y, in the plane, of the window under pressure by the pressure.
__device__ __forceinline__ void displace_window(const Workspace& work, const Real* p) {
    const int pitch = work.pitch(work.pressed.plan);
    __syncthreads();
    FOR_EACH_CELL(work.pressed, pitch, i, at) work.plane[at] = {p[i], 0};
    displacement_by_pressure(work, work.pressed);
}

// SHEARED_DEPTH: depth minus the deflection by shear (m).
__device__ __forceinline__ void update_sheared_depth(const Workspace& work) {
    const int pitch = work.pitch(work.region.plan);
    const double *x = work.double_buffer(SHEAR_X), *y = work.double_buffer(SHEAR_Y);
    __syncthreads();
    FOR_EACH_CELL(work.region, pitch, i, at) work.plane[at] = {(Real)x[i], (Real)y[i]};
    response_to_shear(work, work.region, false);
    FOR_EACH_CELL(work.region, pitch, i, at) work.buffer(SHEARED_DEPTH)[i] = work.buffer(DEPTH)[i] - work.plane[at].x;
}

// TARGET_X, TARGET_Y: displacement (m) by shear of a cell of the window under pressure that sticks, that of CARRIED_X and CARRIED_Y if there
// is a history (`carried`) less that by the pressure. Keeps the pressure as LAST_PRESSURE. Returns the largest component of a cell in contact.
__device__ __forceinline__ double update_target(const Workspace& work, bool carried) {
    const int pitch = work.pitch(work.pressed.plan);
    Real *p = work.buffer(PRESSURE), *target_x = work.buffer(TARGET_X), *target_y = work.buffer(TARGET_Y);
    displace_window(work, p);
    double largest = 0.0;
    FOR_EACH(i, work.region.count) work.buffer(LAST_PRESSURE)[i] = p[i];
    FOR_EACH_CELL(work.pressed, pitch, i, at) {
        const Complex by_pressure = work.plane[at];
        target_x[i] = (carried ? work.buffer(CARRIED_X)[i] : (Real)0) - by_pressure.x;
        target_y[i] = (carried ? work.buffer(CARRIED_Y)[i] : (Real)0) - by_pressure.y;
        if (p[i] > 0) largest = fmax(largest, (double)fmax(fabs(target_x[i]), fabs(target_y[i])));
    }
    return reduce_max(largest, work.shared);
}

// Solves pressure and shear alternately, since each deflects the surface of the other, until the pressure changes by less than 1e-5 of its
// peak. `tolerance_m` is the contact's tolerance times the largest depth, `max_depth` (m). Cells that stick are displaced by CARRIED_X and
// CARRIED_Y if they have a history (`carried`), else not at all.
__device__ Effort solve_tractions(const LayerGrid& grid, Workspace& work, Bounds& bounds, double tolerance_m, double max_depth, bool carried) {
    const LayerContact& contact = grid.contact;
    const Real *p = work.buffer(PRESSURE), *last = work.buffer(LAST_PRESSURE);
    double *x = work.double_buffer(SHEAR_X), *y = work.double_buffer(SHEAR_Y);
    Effort effort = solve_contact_pcg(work, work.buffer(DEPTH), tolerance_m, max_depth);
    if (!has_friction(contact)) {
        FOR_EACH(i, work.region.count) x[i] = y[i] = 0.0;
        return effort;
    }
    for (int exchange = 0; exchange < MAX_EXCHANGES; exchange++) {
        find_window(grid, work, bounds);
        const double largest = update_target(work, carried);
        // Later iterations do not correct errors of the shear, so its tolerance is tighter.
        const double tight = fmax(0.1 * contact.tolerance * largest, 1e-4 * tolerance_m);
        const bool first = exchange == 0 && !carried;
        const double slip_tolerance = first ? fmax(FIRST_SLIP_TOLERANCE * largest, tight) : tight;
        const Effort slipped = solve_friction(work, contact, slip_tolerance, fmax(largest, 0.01 * max_depth));
        update_sheared_depth(work);
        const Effort pressed = solve_contact_pcg(work, work.buffer(SHEARED_DEPTH), tolerance_m, max_depth);
        effort = {effort.iterations + slipped.iterations + pressed.iterations, fmax(slipped.unsolved, pressed.unsolved)};
        double peak = 0.0, change = 0.0;
        FOR_EACH(i, work.region.count) {
            peak = fmax(peak, (double)p[i]);
            change = fmax(change, (double)fabs(p[i] - last[i]));
        }
        peak = reduce_max(peak, work.shared);
        change = reduce_max(change, work.shared);
        if (change <= 1e-5 * peak && slip_tolerance <= tight) break;
        if (exchange + 1 == MAX_EXCHANGES) effort.unsolved = fmax(effort.unsolved, change / peak);
    }
    // The last pressure differs from the one that bounded the shear.
    FOR_EACH(i, work.region.count) clamp_length(x[i], y[i], max_shear(contact, p[i]));
    return effort;
}

// The numbers from which the host estimates the error of one increment (`OneIncrement` on the CPU): the used fraction of the friction
// limit, Σ|q| / Σμp, the largest displacement (m) along the surface of a cell in contact by the pressure alone, in equilibrium, and the
// smallest depth (m) of the indenter over the contact. One cell per thread.
__device__ __noinline__ void measure_increment(const LayerGrid& grid, Workspace& work, Bounds& bounds, ContactRegion& region, double softness) {
    find_window(grid, work, bounds);
    const int pitch = work.pitch(work.pressed.plan);
    const Real *p = work.buffer(PRESSURE), *depth = work.buffer(DEPTH);
    const double *x = work.double_buffer(SHEAR_X), *y = work.double_buffer(SHEAR_Y);
    displace_window(work, p);
    double sums[2] = {0.0, 0.0}, pushed = 0.0, above = -infinity();
    FOR_EACH_CELL(work.pressed, pitch, i, at) {
        sums[0] += sqrt(x[i] * x[i] + y[i] * y[i]);
        sums[1] += max_shear(grid.contact, p[i]);
        if (!(p[i] > 0.0)) continue;
        const double pushed_x = work.plane[at].x, pushed_y = work.plane[at].y;
        pushed = fmax(pushed, sqrt(pushed_x * pushed_x + pushed_y * pushed_y));
        above = fmax(above, (double)-depth[i]);
    }
    reduce_sum(sums, work.shared);
    region.used = sums[1] > 0.0 ? sums[0] / sums[1] : 0.0;
    region.pushed = reduce_max(pushed, work.shared) / softness;
    region.min_depth = -reduce_max(above, work.shared);
}

// The next press of a list that no block has taken, or −1; the block shares `next`.
__device__ __forceinline__ int next_press(PressQueue* queue, const int* members, int* next) {
    __syncthreads();
    if (threadIdx.x == 0) {
        const int place = atomicAdd(&queue->taken, 1);
        *next = place < queue->count ? members[place] : -1;
    }
    __syncthreads();
    return *next;
}

// Displacement (m) of the cells of a region that stick: that after the last step (`moved`: along x, then y, on the whole grid), and the
// slide of the object in this step. One cell per thread.
__device__ __forceinline__ void load_carried(const Workspace& work, const ContactRegion& region, const LayerGrid& grid, const double* depth,
                                             const double* moved, const double* twist, double dt) {
    const int cells = grid.rows * grid.cols;
    const Vec3 linear = vec3(twist), angular = vec3(twist + 3);
    FOR_EACH(i, work.region.count) {
        const int row = region.row + i / region.cols, col = region.col + i % region.cols, cell = row * grid.cols + col;
        const Vec3 velocity = linear + cross(angular, vec3(x_of(grid, col), y_of(grid, row), -fmax(depth[cell], 0.0)));
        work.buffer(CARRIED_X)[i] = (Real)(moved[cell] + velocity.x * dt);
        work.buffer(CARRIED_Y)[i] = (Real)(moved[cells + cell] + velocity.y * dt);
    }
}

// Adds `past` of a layer that relaxes: the surface without loads is higher by it, and cells that stick are displaced by it too. One cell per
// thread.
__device__ __noinline__ void add_past(const Workspace& work, const ContactRegion& region, const LayerGrid& grid, Branches branches, int press) {
    const int cells = grid.rows * grid.cols;
    FOR_EACH(i, work.region.count) {
        const int cell = (region.row + i / region.cols) * grid.cols + region.col + i % region.cols;
        work.buffer(CARRIED_X)[i] += (Real)past_at(branches, press, 3 * cells, cell);
        work.buffer(CARRIED_Y)[i] += (Real)past_at(branches, press, 3 * cells, cells + cell);
        work.buffer(DEPTH)[i] += (Real)past_at(branches, press, 3 * cells, 2 * cells + cell);
    }
}

// Clears the tractions of the cells outside a region, one cell per thread.
__device__ __forceinline__ void clear_outside(const LayerGrid& grid, const ContactRegion& region, double* traction) {
    const int cells = grid.rows * grid.cols;
    FOR_EACH(i, cells) {
        const int row = i / grid.cols - region.row, col = i % grid.cols - region.col;
        if (row >= 0 && row < region.rows && col >= 0 && col < region.cols) continue;
        traction[i] = traction[cells + i] = traction[2 * cells + i] = 0.0;
    }
}

// Sets the tables and the memory of a block for transforms of a size: `memory` is shared, `buffers` and `planes` are those of all blocks.
__device__ __forceinline__ void prepare(Workspace& work, const Transform* transforms, int size, const FftPlan& half, int in_shared, int tile_lines,
                                        const Real* inverse, Real* buffers, Complex* planes, Complex* memory, double* sums) {
    const int side = half.size;
    const FftPlan plan = transforms[size].plan;
    work.region.plan = plan;
    work.region.spectra = (const Real*)transforms[size].spectra;
    work.region.opposite = transforms[size].opposite;
    work.half = half;
    work.buffers = buffers + (long long)blockIdx.x * BUFFERS * ((side * side + 31) / 32 * 32);
    work.inverse = inverse;
    work.transforms = transforms;
    Complex* rest = memory;
    work.region.roots = rest;
    rest += plan.size;
    work.half_roots = rest;
    rest += half.size;
    work.pressed.roots = work.pressed_roots = rest;
    rest += plan.size;
    work.in_shared = in_shared;
    work.plane = in_shared ? rest : planes + (long long)blockIdx.x * plan.size * plan.size;
    work.tile = in_shared ? nullptr : rest;
    work.tile_lines = tile_lines;
    work.shared = sums;
    fill_roots(memory, plan.size);
    fill_roots(memory + plan.size, half.size);
}

// Copies the depths and tractions of a region's cells from the whole grid, one cell per thread. A cell of which the indenter covers the
// part f is softer by 1/f.
__device__ __forceinline__ void load_region(Workspace& work, const ContactRegion& region, const LayerGrid& grid, const double* depth,
                                            const double* covered, const double* traction) {
    const int cells = grid.rows * grid.cols;
    work.region.set_cells(0, 0, region.rows, region.cols, region.cols);
    work.stride = (work.region.count + 31) / 32 * 32;
    __syncthreads();
    FOR_EACH(i, work.region.count) {
        const int cell = (region.row + i / region.cols) * grid.cols + region.col + i % region.cols;
        work.buffer(PARTIAL)[i] = (Real)(grid.own_compliance * (1.0 / covered[cell] - 1.0));
        // Cells without an indenter get a finite negative depth: the indenter is far above the surface.
        work.buffer(DEPTH)[i] = (Real)fmax(depth[cell], -10.0 * region.max_depth);
        work.double_buffer(SHEAR_X)[i] = traction[cell];
        work.double_buffer(SHEAR_Y)[i] = traction[cells + cell];
        work.buffer(PRESSURE)[i] = (Real)traction[2 * cells + cell];
    }
}

// Copies the tractions of a region's cells to the whole grid, one cell per thread, and finds the rows and columns under pressure.
__device__ __forceinline__ void store_region(const Workspace& work, const ContactRegion& region, int grid_cols, int cells, double* traction,
                                             Bounds& bounds) {
    if (threadIdx.x == 0) bounds.clear();
    __syncthreads();
    FOR_EACH(i, work.region.count) {
        const int row = i / region.cols, col = i % region.cols, cell = (region.row + row) * grid_cols + region.col + col;
        traction[cell] = work.double_buffer(SHEAR_X)[i];
        traction[cells + cell] = work.double_buffer(SHEAR_Y)[i];
        traction[2 * cells + cell] = work.buffer(PRESSURE)[i];
        if (work.buffer(PRESSURE)[i] > 0) bounds.include(row, col);
    }
    __syncthreads();
}

// True if pressure reaches the border of a region inside the grid: the contact may continue beyond it.
__device__ __forceinline__ bool reaches_border(const LayerGrid& grid, const ContactRegion& region, const Bounds& bounds) {
    return bounds.bottom >= 0 && ((bounds.top == 0 && region.row > 0) || (bounds.left == 0 && region.col > 0) ||
                                  (bounds.bottom + 1 == region.rows && region.row + region.rows < grid.rows) ||
                                  (bounds.right + 1 == region.cols && region.col + region.cols < grid.cols));
}

// Enlarges a region around the cells under pressure.
__device__ __forceinline__ void grow_region(const LayerGrid& grid, ContactRegion& region, const Bounds& bounds) {
    int row = region.row + bounds.top, rows = bounds.bottom - bounds.top + 1;
    int col = region.col + bounds.left, cols = bounds.right - bounds.left + 1;
    const int margin = GROWTH_MARGIN + max(rows, cols) / 8;
    widen(row, rows, margin, grid.rows);
    widen(col, cols, margin, grid.cols);
    const int last_row = max(row + rows, region.row + region.rows), last_col = max(col + cols, region.col + region.cols);
    region.row = min(row, region.row);
    region.col = min(col, region.col);
    region.rows = last_row - region.row;
    region.cols = last_col - region.col;
}

// Tractions (Pa) along x, along y and as pressure on the whole grid, for the presses `members` of a queue, whose regions fit one transform
// size, `transforms[size]`; the smaller ones serve windows. Each block takes one press after the other. A press whose region outgrows the
// size stays OPEN, with a larger size. Transforms run in shared memory (`in_shared`), or in `planes` through a tile of `tile_lines` lines;
// `buffers` holds REGION_BUFFERS · side² values per block. Presses with a history have the surfaces after their last step in `moved`, and the velocity of each object at the origin in `twists`, for
// a step of `dt` (s); without, both are null. The tractions of a layer that relaxes are divided by its relative stiffness over the step.
extern "C" __global__ void __launch_bounds__(THREADS, CONTACT_BLOCKS)
    solve_contact(LayerGrid grid, const Transform* transforms, int size, FftPlan half, int in_shared, int tile_lines, const int* members,
                  PressQueue* queue, const double* depths, const double* covered, double* tractions, ContactRegion* regions,
                  const Real* inverse, Real* buffers, Complex* planes, const double* moved, const double* twists,
                  double dt, Branches branches) {
    extern __shared__ Complex memory[];
    __shared__ double sums[4 * THREADS / 32];
    __shared__ Bounds bounds;
    __shared__ int next;
    const int cells = grid.rows * grid.cols, side = half.size;
    __shared__ Workspace work;
    prepare(work, transforms, size, half, in_shared, tile_lines, inverse, buffers, planes, memory, sums);
    while (true) {
        const int press = next_press(queue, members, &next);
        if (press < 0) return;
        const double* depth = depths + (long long)press * cells;
        double* traction = tractions + 3ll * press * cells;
        ContactRegion region = regions[press];
        const double tolerance_m = grid.contact.tolerance * region.max_depth;
        while (true) {
            load_region(work, region, grid, depth, covered + (long long)press * cells, traction);
            if (moved) load_carried(work, region, grid, depth, moved + 3ll * press * cells, twists + 6ll * press, dt);
            if (branches.count > 0) add_past(work, region, grid, branches, press);
            const Effort effort = solve_tractions(grid, work, bounds, tolerance_m, region.max_depth, moved != nullptr);
            region.iterations += effort.iterations;
            region.unsolved = effort.unsolved;
            region.growths++;
            store_region(work, region, grid.cols, cells, traction, bounds);
            if (!reaches_border(grid, region, bounds) || region.growths >= MAX_GROWTHS) {
                region.status = SOLVED;
                if (moved) clear_outside(grid, region, traction);
                if (has_friction(grid.contact)) measure_increment(grid, work, bounds, region, branches.softness);
                break;
            }
            grow_region(grid, region, bounds);
            if (max(region.rows, region.cols) > side) {
                region.size = fft_size_of(grid, region.rows, region.cols);
                break;
            }
        }
        __syncthreads();
        if (threadIdx.x == 0) regions[press] = region;
    }
}
