// The workspace of one block while it solves one press: fields of the contact region and their products with the influences.

// Buffers of a region, each with one number per cell in the precision of the transforms, and two for a double. The pressure solver and
// the friction solver alternate and share memory.
enum Buffer {
    SHEAR_X, SHEAR_Y = SHEAR_X + 2, // (Pa), double: a rounded shear on the friction limit would look like a step
    DEPTH = SHEAR_Y + 2,  // indenter below the rest surface (m)
    SHEARED_DEPTH,    // the same minus the deflection by shear (m)
    PRESSURE,         // (Pa)
    PARTIAL,          // additional compliance of cells that the indenter covers in part (m/Pa)
    CARRIED_X, CARRIED_Y, // displacement of a cell that sticks: that after the last step and the slide of the object in this one (m)
    LAST_PRESSURE,    // pressure before the last exchange with the friction solver (Pa)
    // Pressure solver.
    GAP,              // deflection by pressure minus depth (m)
    ACTIVE,           // 1 in cells that are in contact or overlap, 0 elsewhere
    DIRECTION,        // search direction (Pa)
    RESIDUAL, LAST_RESIDUAL, // gap of the active cells, now and in the last iteration (m)
    PRECONDITIONED,   // preconditioned residual (Pa)
    // Friction solver.
    TARGET_X = GAP, TARGET_Y,             // displacement at full sticking (m)
    DISPLACEMENT_X, DISPLACEMENT_Y,       // displacement by shear (m)
    STEP_X, STEP_Y,                       // step of the shear (Pa)
    BUFFERS
};
static_assert(BUFFERS == REGION_BUFFERS, "the host allocates REGION_BUFFERS buffers");

// Influences in the order of `Pair` in the CPU's layer. COMPLIANCE: deflection by pressure; XX, YY, XY: displacement by shear; X_PRESSURE,
// Y_PRESSURE: displacement by pressure; BELOW_…: the same for shear and pressure at the sensing depth.
enum Pair { COMPLIANCE, XX, YY, XY, X_PRESSURE, Y_PRESSURE, BELOW_PRESSURE, BELOW_XX, BELOW_YY, BELOW_XY, BELOW_X_PRESSURE, BELOW_Y_PRESSURE,
            BELOW_PRESSURE_X, BELOW_PRESSURE_Y };

// Runs over i in [0, count), one per thread of the block.
#define FOR_EACH(i, count) _Pragma("unroll 4") for (int i = threadIdx.x; i < (count); i += THREADS)

// Sums N values over a block in a fixed order: within warps by halves, then the warps one after the other. Every thread gets the sums.
// `shared` holds N values per warp.
template <int N> __device__ __forceinline__ void reduce_sum(double (&values)[N], double* shared) {
#pragma unroll
    for (int k = 0; k < N; k++) {
        for (int d = 16; d > 0; d /= 2) values[k] += __shfl_down_sync(0xffffffffu, values[k], d);
    }
    const int warp = threadIdx.x / 32;
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
#pragma unroll
        for (int k = 0; k < N; k++) shared[warp * N + k] = values[k];
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < N; k++) {
        values[k] = 0.0;
        for (int w = 0; w < THREADS / 32; w++) values[k] += shared[w * N + k];
    }
}

// The largest value of a block. Every thread gets it. `shared` holds one value per warp.
__device__ __forceinline__ double reduce_max(double value, double* shared) {
    for (int d = 16; d > 0; d /= 2) value = fmax(value, __shfl_down_sync(0xffffffffu, value, d));
    __syncthreads();
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
    __syncthreads();
    value = shared[0];
    for (int w = 1; w < THREADS / 32; w++) value = fmax(value, shared[w]);
    return value;
}

// Both at once: sums of two values and the largest of a third. `shared` holds three values per warp.
__device__ __forceinline__ void reduce(double (&sums)[2], double& largest, double* shared) {
    for (int d = 16; d > 0; d /= 2) {
        sums[0] += __shfl_down_sync(0xffffffffu, sums[0], d);
        sums[1] += __shfl_down_sync(0xffffffffu, sums[1], d);
        largest = fmax(largest, __shfl_down_sync(0xffffffffu, largest, d));
    }
    double* own = shared + 3 * (threadIdx.x / 32);
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        own[0] = sums[0];
        own[1] = sums[1];
        own[2] = largest;
    }
    __syncthreads();
    sums[0] = sums[1] = 0.0;
    largest = shared[2];
    for (int w = 0; w < THREADS / 32; w++) {
        sums[0] += shared[3 * w];
        sums[1] += shared[3 * w + 1];
        largest = fmax(largest, shared[3 * w + 2]);
    }
}

// A rectangle of cells of a region, and the transforms for products within it.
struct Window {
    // First row and column, and number of rows, columns and cells; columns of the region.
    int row, col, rows, cols, count, region_cols;
    Divisor by_cols;
    FftPlan plan;
    const Complex* roots;
    // Spectra of the influences, and index of −k for each index of k along a line.
    const Real* spectra;
    const int* opposite;

    __device__ __forceinline__ void set_cells(int first_row, int first_col, int row_count, int col_count, int all_cols) {
        row = first_row;
        col = first_col;
        rows = row_count;
        cols = col_count;
        count = row_count * col_count;
        region_cols = all_cols;
        by_cols = Divisor(col_count);
    }
    // Index in the region of the i-th cell of the window, and its place in a plane.
    __device__ __forceinline__ int cell(int i, int pitch, int& place) const {
        int right;
        const int down = by_cols(i, right);
        place = down * pitch + right;
        return (row + down) * region_cols + col + right;
    }
};

// The memory of a block and the tables of its transforms.
struct Workspace {
    // All cells of the region, and the smallest window with all cells under pressure: shear acts there alone.
    Window region, pressed;
    // Numbers from one buffer to the next.
    int stride;
    Real* buffers;
    // The preconditioner on a grid of half the size: its spectrum and its transform.
    const Real* inverse;
    FftPlan half;
    const Complex* half_roots;
    // Transforms of all sizes up to that of the region, and memory for the roots of the window under pressure.
    const Transform* transforms;
    Complex* pressed_roots;
    Complex* plane;
    bool in_shared;
    Complex* tile;
    int tile_lines;
    // For reductions.
    double* shared;

    __device__ __forceinline__ Real* buffer(int which) const { return buffers + (long long)which * stride; }
    __device__ __forceinline__ double* double_buffer(int which) const { return (double*)buffer(which); }
    // A row in shared memory has one number more, so that a column is spread over all banks.
    __device__ __forceinline__ int pitch(const FftPlan& of) const { return in_shared ? of.size + 1 : of.size; }
    __device__ __forceinline__ Plane whole(int pitch) const { return {plane, pitch, in_shared, tile, tile_lines}; }
};

// Runs over the cells of a window, one per thread of the block: `i` is the cell in the region, `at` its place in the plane. Every thread has the
// same cells in each run, so a field in the plane can be read and replaced in one run.
#define FOR_EACH_CELL(window, pitch, i, at)                                                                                              \
    _Pragma("unroll 1") for (int k_##i = threadIdx.x, at = 0, i = 0; k_##i < (window).count && (i = (window).cell(k_##i, pitch, at), true); \
                             k_##i += THREADS)

// plane = F⁻¹(multiply(F(plane))) for `rows` and `cols` of the plane; its other numbers are ignored and overwritten.
// `multiply(i, row, col, pitch)` changes the number at a row and column of the plane; its spectra have index i. One wave number per thread.
template <class Multiply>
__device__ __forceinline__ void transformed(const Workspace& work, const FftPlan* plan, const Complex* roots, int rows, int cols,
                                            Multiply multiply) {
    const int pitch = work.pitch(*plan), size = plan->size;
    const Plane plane = work.whole(pitch);
    fft_2d(plane, roots, plan, 0, rows, 0, cols);
    const Divisor by(size);
    FOR_EACH(i, size * size) {
        int col;
        const int row = by(i, col);
        multiply(i, row, col, pitch);
    }
    ifft_2d(plane, roots, plan, rows);
}

// plane = F⁻¹(spectrum · F(plane)) for a real field of the region and a real spectrum.
__device__ __noinline__ void convolve(const Workspace& work, const FftPlan* plan, const Complex* roots, const Real* spectrum) {
    transformed(work, plan, roots, work.region.rows, work.region.cols, [&](int i, int row, int col, int pitch) {
        Complex* at = work.plane + row * pitch + col;
        *at = spectrum[i] * *at;
    });
}

// Deflection (m) by the pressure (Pa) in the plane, without that of the part of a cell that the indenter covers.
__device__ __forceinline__ void deflection_by_pressure(const Workspace& work) {
    const Window& region = work.region;
    convolve(work, &region.plan, region.roots, region.spectra + (long long)COMPLIANCE * region.plan.size * region.plan.size);
}

// Approximate pressure (Pa) for the deflection (m) in the plane: the inverse of the compliance on a periodic grid of half the size.
__device__ __forceinline__ void precondition(const Workspace& work) { convolve(work, &work.half, work.half_roots, work.inverse); }

// Spectra of x and y at k from the spectrum of x + iy at k and −k.
__device__ __forceinline__ void separate(Complex at, Complex opposite, Complex& x, Complex& y) {
    x = (Real)0.5 * (at + conj(opposite));
    y = times_i((Real)-0.5 * (at - conj(opposite)));
}

// Products with the shear x + iy (Pa) of a window in the plane, as one complex field z. `lateral`: displacement (m) of the surface along x and y,
// (xx + yy)/2 z + ((xx − yy)/2 + i xy) z̄; otherwise its deflection (m), a real field. One pair of wave numbers k, −k per thread.
__device__ __noinline__ void response_to_shear(const Workspace& work, const Window& window, bool lateral) {
    const int size = window.plan.size;
    const long long all = (long long)size * size;
    const Real *xx = window.spectra + XX * all, *yy = window.spectra + YY * all, *xy = window.spectra + XY * all;
    const Real *to_x = window.spectra + X_PRESSURE * all, *to_y = window.spectra + Y_PRESSURE * all;
    transformed(work, &window.plan, window.roots, window.rows, window.cols, [&](int i, int row, int col, int pitch) {
        const int other_row = window.opposite[row], other_col = window.opposite[col], other = other_row * size + other_col;
        if (other < i) return;
        Complex *at = work.plane + row * pitch + col, *opposite = work.plane + other_row * pitch + other_col;
        const Complex here = *at, there = *opposite;
        if (lateral) {
            const Real mean = (Real)0.5 * (xx[i] + yy[i]);
            const Complex difference = {(Real)0.5 * (xx[i] - yy[i]), xy[i]};
            *at = mean * here + difference * conj(there);
            *opposite = mean * there + difference * conj(here);
        } else {
            Complex along_x, along_y;
            separate(here, there, along_x, along_y);
            const Complex deflection = times_i(-to_x[i] * along_x + -to_y[i] * along_y);
            *at = deflection;
            *opposite = conj(deflection);
        }
    });
}

// Displacement (m) of the surface along x and y, as a complex field, by the pressure (Pa) of a window in the plane.
__device__ __noinline__ void displacement_by_pressure(const Workspace& work, const Window& window) {
    const long long all = (long long)window.plan.size * window.plan.size;
    const Real *to_x = window.spectra + X_PRESSURE * all, *to_y = window.spectra + Y_PRESSURE * all;
    transformed(work, &window.plan, window.roots, window.rows, window.cols, [&](int i, int row, int col, int pitch) {
        Complex* at = work.plane + row * pitch + col;
        *at = Complex{-to_y[i], to_x[i]} * *at;
    });
}
