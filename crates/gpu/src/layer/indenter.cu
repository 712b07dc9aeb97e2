// Heights of primitives over the cells of a layer in closed form, and averages over cells under a cliff, as
// `dermis_geometry::HeightField` computes them.

// Samples of a cell under a cliff along each axis, as on the CPU.
constexpr int SAMPLES = 6;
// Largest second difference of heights a cell apart, as a fraction of a cell, over which a surface is smooth, as on the CPU.
constexpr double SMOOTH = 0.25;

// The distances (m) along a line between which it is inside a convex solid; empty if enter > leave.
struct Span {
    double enter, leave;
};
__device__ __forceinline__ Span no_span() { return {infinity(), -infinity()}; }
__device__ __forceinline__ Span whole_line() { return {-infinity(), infinity()}; }
__device__ __forceinline__ Span common(Span a, Span b) { return {fmax(a.enter, b.enter), fmin(a.leave, b.leave)}; }

// Span inside the unit sphere; the direction need not have length 1.
__device__ __forceinline__ Span in_unit_sphere(Vec3 origin, Vec3 direction) {
    const double squared = dot(direction, direction), middle = -dot(origin, direction) / squared;
    const Vec3 nearest = origin + direction * middle;
    const double missed = dot(nearest, nearest), half = sqrt((1.0 - missed) / squared);
    return missed <= 1.0 ? Span{middle - half, middle + half} : no_span();
}

// Span inside −half ≤ x ≤ half along one axis.
__device__ __forceinline__ Span in_slab(double origin, double direction, double half) {
    if (direction == 0.0) return fabs(origin) <= half ? whole_line() : no_span();
    const double a = (-half - origin) / direction, b = (half - origin) / direction;
    return {fmin(a, b), fmax(a, b)};
}

// Span inside an infinite cylinder about z.
__device__ __forceinline__ Span in_cylinder(Vec3 origin, Vec3 direction, double radius) {
    const Vec3 p = vec3(origin.x / radius, origin.y / radius, 0.0), q = vec3(direction.x / radius, direction.y / radius, 0.0);
    if (q.x == 0.0 && q.y == 0.0) return dot(p, p) <= 1.0 ? whole_line() : no_span();
    return in_unit_sphere(p, q);
}

// Distance (m) along the unit vector d from o at which a line enters a primitive; infinite if it misses.
__device__ __forceinline__ double enter(const ObjectView& object, Vec3 o, Vec3 d) {
    const double a = object.size[0], b = object.size[1], c = object.size[2];
    Span span = no_span();
    if (object.kind == SPHERE) span = in_unit_sphere(o / a, d / a);
    if (object.kind == ELLIPSOID) span = in_unit_sphere(over(o, vec3(a, b, c)), over(d, vec3(a, b, c)));
    if (object.kind == CUBOID) span = common(common(in_slab(o.x, d.x, a), in_slab(o.y, d.y, b)), in_slab(o.z, d.z, c));
    if (object.kind == CYLINDER || object.kind == CAPSULE) span = common(in_cylinder(o, d, a), in_slab(o.z, d.z, b));
    double first = span.enter <= span.leave ? span.enter : infinity();
    if (object.kind == CAPSULE) {
        first = fmin(first, in_unit_sphere(vec3(o.x, o.y, o.z + b) / a, d / a).enter);
        first = fmin(first, in_unit_sphere(vec3(o.x, o.y, o.z - b) / a, d / a).enter);
    }
    return first;
}

// Height (m) of a primitive over x and y (m), given its pose and that pose's inverse rotation; infinite beside it.
__device__ __forceinline__ double height_over(const ObjectView& object, const double* pose, Quat back, double x, double y) {
    return enter(object, rotate(back, vec3(x, y, 0.0) - position_of(pose)), rotate(back, vec3(0.0, 0.0, 1.0)));
}

// Height (m) of any object over x and y (m) where it is below z = 0; elsewhere any height from 0 on.
__device__ __forceinline__ double height_below_rest(const ObjectView& object, const double* pose, Quat back, double x, double y) {
    if (object.kind != MESH && object.kind != BALLS) return height_over(object, pose, back, x, y);
    // The ray starts below the mesh and ends at z = 0.
    const Vec3 middle = (vec3(object.tree_low) + vec3(object.tree_high)) * 0.5, from = position_of(pose);
    const double below = rotate(rotation_of(pose), middle).z + from.z - object.diagonal;
    if (below >= 0.0) return infinity();
    Hit hit;
    const Vec3 start = rotate(back, vec3(x, y, below) - from), up = rotate(back, vec3(0.0, 0.0, 1.0));
    const bool met = cast_mesh(object, start, up, fmin(-below, 2.0 * object.diagonal), NONE, hit);
    return met ? below + hit.distance : infinity();
}

// Writes the heights of presses of a primitive at the centres of the cells. blockIdx.x: press; blockIdx.y: batch of `cells_per_block` cells, one per
// thread at a time.
extern "C" __global__ void __launch_bounds__(THREADS)
    enter_primitive(LayerGrid grid, const double* poses, const ObjectView* __restrict__ shapes, const u32* __restrict__ shape_of,
                    int cells_per_block, unsigned long long* keys) {
    const ObjectView& object = shape_at(shapes, shape_of, blockIdx.x);
    if (object.kind == MESH || object.kind == BALLS) return;
    const double* pose = poses + (long long)POSE_NUMBERS * blockIdx.x;
    const int cells = grid.rows * grid.cols, end = min(cells, (int)(blockIdx.y + 1) * cells_per_block);
    const Quat back = conjugate(rotation_of(pose));
    for (int i = blockIdx.y * cells_per_block + threadIdx.x; i < end; i += blockDim.x) {
        const double height = height_over(object, pose, back, x_of(grid, i % grid.cols), y_of(grid, i / grid.cols));
        keys[(long long)blockIdx.x * cells + i] = key_of(height);
    }
}

// True if the second differences of the heights along rows, columns and diagonals are small at a cell. A surface that ends at the cell, or
// at the grid, is not smooth there.
__device__ __forceinline__ bool is_smooth(const LayerGrid& grid, const unsigned long long* keys, int row, int col) {
    if (row == 0 || col == 0 || row + 1 == grid.rows || col + 1 == grid.cols) return false;
    const unsigned long long* key = keys + (row * grid.cols + col);
    const double doubled = 2.0 * height_of(*key);
    const int ways[] = {1, grid.cols, grid.cols + 1, grid.cols - 1};
    bool is_small = true;
    // Along a diagonal a curvature gives twice the difference. False for infinite heights.
    for (int k = 0; k < 4; k++) {
        const double bend = fabs(height_of(key[-ways[k]]) + height_of(key[ways[k]]) - doubled);
        is_small &= bend <= (k < 2 ? 1.0 : 2.0) * SMOOTH * grid.cell;
    }
    return is_small;
}

// True if the cell or one of its eight neighbours is below z = 0, their heights differ by more than a cell, and the surface is not smooth over
// the cell.
__device__ __forceinline__ bool is_at_cliff(const LayerGrid& grid, const unsigned long long* keys, int row, int col) {
    // Most cells are far from contact: keys of heights from 0 on have the highest bit set.
    const int first_row = max(row - 1, 0), last_row = min(row + 1, grid.rows - 1), first_col = max(col - 1, 0);
    const int last_col = min(col + 1, grid.cols - 1);
    unsigned long long lowest = ~0ull;
    for (int r = first_row; r <= last_row; r++) {
        for (int c = first_col; c <= last_col; c++) lowest = min(lowest, keys[r * grid.cols + c]);
    }
    if (lowest >> 63) return false;
    const double own = height_of(keys[row * grid.cols + col]);
    for (int r = first_row; r <= last_row; r++) {
        for (int c = first_col; c <= last_col; c++) {
            const double other = height_of(keys[r * grid.cols + c]), low = fmin(own, other);
            if (low < 0.0 && fmax(own, other) - low > grid.cell) return !is_smooth(grid, keys, row, col);
        }
    }
    return false;
}

// Lists the cells under a cliff, counted over all presses, and sets the covered fraction of every cell to 1. blockIdx.x: press;
// blockIdx.y: batch of `cells_per_block` cells, one per thread at a time.
extern "C" __global__ void __launch_bounds__(THREADS)
    find_cliffs(LayerGrid grid, int cells_per_block, const unsigned long long* keys, double* covered, unsigned long long* count,
                long long* cliffs) {
    const int cells = grid.rows * grid.cols, end = min(cells, (int)(blockIdx.y + 1) * cells_per_block);
    const long long first = (long long)blockIdx.x * cells;
    for (int i = blockIdx.y * cells_per_block + threadIdx.x; i < end; i += blockDim.x) {
        covered[first + i] = 1.0;
        if (is_at_cliff(grid, keys + first, i / grid.cols, i % grid.cols)) cliffs[atomicAdd(count, 1ull)] = first + i;
    }
}

// Position (m) of one of SAMPLES² points of a cell, of which no two share a row or a column.
__device__ __forceinline__ void sample_place(const LayerGrid& grid, int cell, int sample, double& x, double& y) {
    const int row = sample / SAMPLES, col = sample % SAMPLES;
    const double all = SAMPLES * SAMPLES, dx = (SAMPLES * col + row + 0.5) / all - 0.5, dy = (SAMPLES * row + col + 0.5) / all - 0.5;
    x = x_of(grid, cell % grid.cols) + dx * grid.cell;
    y = y_of(grid, cell / grid.cols) + dy * grid.cell;
}

// Height (m) of one of these points.
__device__ __forceinline__ double sample_height(const LayerGrid& grid, const double* pose, const ObjectView& object, int cell, int sample) {
    double x, y;
    sample_place(grid, cell, sample, x, y);
    return height_below_rest(object, pose, conjugate(rotation_of(pose)), x, y);
}

// Mean height of a cell under a cliff, and its covered fraction: the mean of the samples below z = 0, and their number by SAMPLES².
__device__ __forceinline__ void average_cliff(const double* heights, unsigned long long* key, double* covered) {
    double sum = 0.0, count = 0.0;
    for (int s = 0; s < SAMPLES * SAMPLES; s++) {
        if (heights[s] < 0.0) {
            sum += heights[s];
            count += 1.0;
        }
    }
    if (count > 0.0) {
        *key = key_of(sum / count);
        *covered = count / (SAMPLES * SAMPLES);
    }
}

// Averages the listed cells, 32 per block at a time, one sample per thread.
extern "C" __global__ void __launch_bounds__(THREADS)
    average_cliffs(LayerGrid grid, const double* poses, const ObjectView* __restrict__ shapes, const u32* __restrict__ shape_of,
                   const unsigned long long* count, const long long* cliffs, unsigned long long* keys, double* covered) {
    constexpr int ALL = SAMPLES * SAMPLES, AT_ONCE = 32;
    __shared__ double heights[AT_ONCE][ALL];
    const int cells = grid.rows * grid.cols;
    const long long listed = (long long)*count;
    for (long long first = (long long)blockIdx.x * AT_ONCE; first < listed; first += (long long)gridDim.x * AT_ONCE) {
        const int here = (int)min(listed - first, (long long)AT_ONCE);
        for (int i = threadIdx.x; i < here * ALL; i += THREADS) {
            const long long cell = cliffs[first + i / ALL];
            const double* pose = poses + POSE_NUMBERS * (cell / cells);
            const ObjectView& object = shape_at(shapes, shape_of, cell / cells);
            heights[i / ALL][i % ALL] = sample_height(grid, pose, object, (int)(cell % cells), i % ALL);
        }
        __syncthreads();
        if (threadIdx.x < here) {
            const long long cell = cliffs[first + threadIdx.x];
            average_cliff(heights[threadIdx.x], &keys[cell], &covered[cell]);
        }
        __syncthreads();
    }
}
