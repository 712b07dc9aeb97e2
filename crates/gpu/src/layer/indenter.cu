// Heights of primitives over the cells of a layer in closed form, and averages over cells under a cliff, as
// `dermis_geometry::HeightField` computes them.

// Samples of a cell under a cliff along each axis, as on the CPU.
constexpr int SAMPLES = 6;

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

// Height (m) of the object over x and y (m), given its pose and that pose's inverse rotation; infinite beside the object.
__device__ __forceinline__ double height_over(const ObjectView& object, const double* pose, Quat back, double x, double y) {
    const Vec3 up = rotate(back, vec3(0.0, 0.0, 1.0)), from = position_of(pose);
    if (object.kind != MESH && object.kind != BALLS) return enter(object, rotate(back, vec3(x, y, 0.0) - from), up);
    // The ray starts below the mesh.
    const Vec3 middle = (vec3(object.tree_low) + vec3(object.tree_high)) * 0.5;
    const double reach = object.diagonal, below = rotate(rotation_of(pose), middle).z + from.z - reach;
    Hit hit;
    const bool met = cast_mesh(object, rotate(back, vec3(x, y, below) - from), up, 2.0 * reach, NONE, hit);
    return met ? below + hit.distance : infinity();
}

// Writes the heights of a primitive at the centres of the cells. blockIdx.x: press; blockIdx.y: batch of `cells_per_block` cells, one per
// thread at a time.
extern "C" __global__ void __launch_bounds__(THREADS)
    enter_primitive(LayerGrid grid, const double* poses, ObjectView object, int cells_per_block, unsigned long long* keys) {
    const double* pose = poses + (long long)POSE_NUMBERS * blockIdx.x;
    const int cells = grid.rows * grid.cols, end = min(cells, (int)(blockIdx.y + 1) * cells_per_block);
    const Quat back = conjugate(rotation_of(pose));
    for (int i = blockIdx.y * cells_per_block + threadIdx.x; i < end; i += blockDim.x) {
        const double height = height_over(object, pose, back, x_of(grid, i % grid.cols), y_of(grid, i / grid.cols));
        keys[(long long)blockIdx.x * cells + i] = key_of(height);
    }
}

// True if the cell or one of its eight neighbours is below z = 0 and their heights differ by more than a cell.
__device__ __forceinline__ bool is_at_cliff(const LayerGrid& grid, const unsigned long long* heights, int cell) {
    const int row = cell / grid.cols, col = cell % grid.cols;
    const double own = height_of(heights[cell]);
    for (int r = max(row - 1, 0); r <= min(row + 1, grid.rows - 1); r++) {
        for (int c = max(col - 1, 0); c <= min(col + 1, grid.cols - 1); c++) {
            const double other = height_of(heights[r * grid.cols + c]), low = fmin(own, other);
            if (low < 0.0 && fmax(own, other) - low > grid.cell) return true;
        }
    }
    return false;
}

// Mean height of a cell under a cliff, and its covered fraction, from SAMPLES² points of which no two share a row or a column: the mean of
// those below z = 0, and their number by SAMPLES². By one warp, one point per lane; `heights` holds SAMPLES² values of its own.
__device__ __forceinline__ void average_cliff(const LayerGrid& grid, const double* pose, const ObjectView& object, Quat back, int cell,
                                              double* heights, unsigned long long* key, double* covered) {
    const double x = x_of(grid, cell % grid.cols), y = y_of(grid, cell / grid.cols), all = SAMPLES * SAMPLES;
    for (int s = threadIdx.x % 32; s < SAMPLES * SAMPLES; s += 32) {
        const int row = s / SAMPLES, col = s % SAMPLES;
        const double dx = (SAMPLES * col + row + 0.5) / all - 0.5, dy = (SAMPLES * row + col + 0.5) / all - 0.5;
        heights[s] = height_over(object, pose, back, x + dx * grid.cell, y + dy * grid.cell);
    }
    __syncwarp();
    if (threadIdx.x % 32 == 0) {
        double sum = 0.0, count = 0.0;
        for (int s = 0; s < SAMPLES * SAMPLES; s++) {
            if (heights[s] < 0.0) {
                sum += heights[s];
                count += 1.0;
            }
        }
        if (count > 0.0) {
            *key = key_of(sum / count);
            *covered = count / all;
        }
    }
    __syncwarp();
}

// Copies the heights at the centres of the cells, and averages those of cells under a cliff. blockIdx.x: press; blockIdx.y: batch of
// `cells_per_block` cells. One cell per thread at a time; then one cell under a cliff per warp.
extern "C" __global__ void __launch_bounds__(THREADS)
    average_cliffs(LayerGrid grid, const double* poses, ObjectView object, int cells_per_block, const unsigned long long* centers,
                   unsigned long long* keys, double* covered) {
    __shared__ double heights[THREADS / 32][SAMPLES * SAMPLES];
    __shared__ int cliffs[THREADS];
    __shared__ int count;
    const double* pose = poses + (long long)POSE_NUMBERS * blockIdx.x;
    const int cells = grid.rows * grid.cols, end = min(cells, (int)(blockIdx.y + 1) * cells_per_block), warp = threadIdx.x / 32;
    const long long first = (long long)blockIdx.x * cells;
    const Quat back = conjugate(rotation_of(pose));
    for (int start = blockIdx.y * cells_per_block; start < end; start += THREADS) {
        const int i = start + threadIdx.x;
        if (threadIdx.x == 0) count = 0;
        __syncthreads();
        if (i < end) {
            keys[first + i] = centers[first + i];
            covered[first + i] = 1.0;
            if (is_at_cliff(grid, centers + first, i)) cliffs[atomicAdd(&count, 1)] = i;
        }
        __syncthreads();
        for (int k = warp; k < count; k += THREADS / 32) {
            const int cell = cliffs[k];
            average_cliff(grid, pose, object, back, cell, heights[warp], &keys[first + cell], &covered[first + cell]);
        }
        __syncthreads();
    }
}
