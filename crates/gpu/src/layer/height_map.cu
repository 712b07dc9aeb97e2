// Height maps of an indenter over the cells of a layer, and the region where it reaches below the rest surface.
//
// A height map holds one 64-bit key per cell. Keys sort as unsigned integers like the heights, so that `atomicMin` finds the lowest triangle.

// Rounded as on the CPU: adjacent triangles must agree on their common edge.
#define P rounded_product
#define S rounded_sum
#define D rounded_difference

// z component of a × b.
__device__ __forceinline__ double cross_z(double ax, double ay, double bx, double by) { return D(P(ax, by), P(ay, bx)); }

// Status of a press, besides the host's OPEN and TOO_DEEP: no contact, tractions computed, fields computed.
enum Status { CLEAR = 0, SOLVED = 2, DONE = 3 };

// Converts a height (m) to its key, and back.
__device__ __forceinline__ unsigned long long key_of(double height) {
    const unsigned long long bits = (unsigned long long)__double_as_longlong(height);
    return bits >> 63 ? ~bits : bits | 0x8000000000000000ull;
}
__device__ __forceinline__ double height_of(unsigned long long key) {
    return __longlong_as_double((long long)(key >> 63 ? key & 0x7fffffffffffffffull : ~key));
}
__device__ __forceinline__ double infinity() { return __longlong_as_double(0x7ff0000000000000ll); }

// Centre (m) of a column and of a row of cells. Row 0 is at +y, column 0 at −x.
__device__ __forceinline__ double x_of(const LayerGrid& grid, int col) {
    return S(grid.center[0], P(D((double)col, 0.5 * (grid.cols - 1.0)), grid.cell));
}
__device__ __forceinline__ double y_of(const LayerGrid& grid, int row) {
    return S(grid.center[1], P(D(0.5 * (grid.rows - 1.0), (double)row), grid.cell));
}

// A triangle over the grid, and the cells whose centres it may contain.
struct Triangle {
    Vec3 a, b, c;
    int row, last_row, col, last_col;

    // Constructed from a pose and nine coordinates in the object's frame.
    __device__ __forceinline__ Triangle(const double* pose, const double* corners)
        : a(placed(pose, corners)), b(placed(pose, corners + 3)), c(placed(pose, corners + 6)) {}

    __device__ static __forceinline__ Vec3 placed(const double* pose, const double* corner) {
        const Vec3 v = rotate(rotation_of(pose), vec3(corner)), t = position_of(pose);
        return {S(v.x, t.x), S(v.y, t.y), S(v.z, t.z)};
    }

    // Finds the cells; returns false if there are none.
    __device__ __forceinline__ bool find_cells(const LayerGrid& grid) {
        const double slack = 5e-3;
        const double low_x = fmin(a.x, fmin(b.x, c.x)), high_x = fmax(a.x, fmax(b.x, c.x));
        const double low_y = fmin(a.y, fmin(b.y, c.y)), high_y = fmax(a.y, fmax(b.y, c.y));
        const double middle_row = 0.5 * (grid.rows - 1.0), middle_col = 0.5 * (grid.cols - 1.0);
        const double first_row = fmax(ceil(middle_row - (high_y - grid.center[1]) / grid.cell - slack), 0.0);
        const double end_row = fmin(floor(middle_row - (low_y - grid.center[1]) / grid.cell + slack), grid.rows - 1.0);
        const double first_col = fmax(ceil((low_x - grid.center[0]) / grid.cell + middle_col - slack), 0.0);
        const double end_col = fmin(floor((high_x - grid.center[0]) / grid.cell + middle_col + slack), grid.cols - 1.0);
        if (!(first_row <= end_row && first_col <= end_col)) return false;
        row = (int)first_row, last_row = (int)end_row, col = (int)first_col, last_col = (int)end_col;
        return true;
    }

    // Lowers a cell's height to that of the triangle at the cell's centre, by barycentric weights u, v, w, if the triangle contains the centre.
    __device__ __forceinline__ void rasterize_cell(const LayerGrid& grid, int row, int col, unsigned long long* keys) const {
        const double x = x_of(grid, col), y = y_of(grid, row);
        const double ax = D(a.x, x), ay = D(a.y, y), bx = D(b.x, x), by = D(b.y, y), cx = D(c.x, x), cy = D(c.y, y);
        const double u = cross_z(bx, by, cx, cy), v = cross_z(cx, cy, ax, ay), w = cross_z(ax, ay, bx, by);
        const bool inside = (u >= 0.0 && v >= 0.0 && w >= 0.0) || (u <= 0.0 && v <= 0.0 && w <= 0.0);
        const double sum = S(S(u, v), w);
        if (inside && sum != 0.0) {
            const double height = S(S(P(u, a.z), P(v, b.z)), P(w, c.z)) / sum;
            atomicMin(&keys[row * grid.cols + col], key_of(height));
        }
    }
};

// The shape of the object of a press: that with the index of the press, or the first where `shape_of` is null.
__device__ __forceinline__ const ObjectView& shape_at(const ObjectView* shapes, const u32* shape_of, long long press) {
    return shapes[shape_of ? shape_of[press] : 0u];
}

// Triangles over more cells than this are rasterized by all threads of a block together, up to MAX_LARGE of them.
constexpr int LARGE_CELLS = 48;
constexpr int MAX_LARGE = 64;

// Lowers the height map of each press to the lowest point of the object's mesh over each cell. blockIdx.x: press; blockIdx.y: batch of
// `triangles_per_block` triangles, of which primitives have none. One small triangle per thread, then the large ones by the whole block. Skips upward faces of a closed
// mesh, which are never lowest.
extern "C" __global__ void __launch_bounds__(THREADS)
    rasterize_indenter(LayerGrid grid, const double* poses, const ObjectView* __restrict__ shapes, const u32* __restrict__ shape_of,
                       int triangles_per_block, unsigned long long* keys) {
    const ObjectView& object = shape_at(shapes, shape_of, blockIdx.x);
    __shared__ int large[MAX_LARGE];
    __shared__ int large_count;
    const double* pose = poses + (long long)POSE_NUMBERS * blockIdx.x;
    unsigned long long* own = keys + (long long)blockIdx.x * grid.rows * grid.cols;
    if (threadIdx.x == 0) large_count = 0;
    __syncthreads();
    const int end = min((int)object.triangles, (int)(blockIdx.y + 1) * triangles_per_block);
    for (int t = blockIdx.y * triangles_per_block + threadIdx.x; t < end; t += blockDim.x) {
        Triangle triangle(pose, object.corners + 9ll * t);
        const Vec3 a = triangle.a, b = triangle.b, c = triangle.c;
        if (a.z > grid.max_height && b.z > grid.max_height && c.z > grid.max_height) continue;
        const double doubled_area = cross_z(D(b.x, a.x), D(b.y, a.y), D(c.x, a.x), D(c.y, a.y));
        if (doubled_area == 0.0 || (object.closed && doubled_area > 0.0)) continue;
        if (!triangle.find_cells(grid)) continue;
        if ((triangle.last_row - triangle.row + 1) * (triangle.last_col - triangle.col + 1) > LARGE_CELLS) {
            const int place = atomicAdd(&large_count, 1);
            if (place < MAX_LARGE) {
                large[place] = t;
                continue;
            }
        }
        for (int row = triangle.row; row <= triangle.last_row; row++) {
            for (int col = triangle.col; col <= triangle.last_col; col++) triangle.rasterize_cell(grid, row, col, own);
        }
    }
    __syncthreads();
    for (int k = 0; k < min(large_count, MAX_LARGE); k++) {
        Triangle triangle(pose, object.corners + 9ll * large[k]);
        if (!triangle.find_cells(grid)) continue;
        const int width = triangle.last_col - triangle.col + 1, cells = width * (triangle.last_row - triangle.row + 1);
        for (int i = threadIdx.x; i < cells; i += blockDim.x) {
            triangle.rasterize_cell(grid, triangle.row + i / width, triangle.col + i % width, own);
        }
    }
}

// Sets `count` keys to an infinite height (no indenter). One key per thread of a one-dimensional grid.
extern "C" __global__ void clear_heights(unsigned long long* keys, long long count) {
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < count; i += (long long)gridDim.x * blockDim.x) {
        keys[i] = key_of(infinity());
    }
}

// Bounding rows and columns of marked cells, found by all threads of a block in shared memory.
struct Bounds {
    int top, bottom, left, right;

    // Called by one thread.
    __device__ __forceinline__ void clear() {
        top = left = 1 << 30;
        bottom = right = -1;
    }
    __device__ __forceinline__ void include(int row, int col) {
        atomicMin(&top, row);
        atomicMax(&bottom, row);
        atomicMin(&left, col);
        atomicMax(&right, col);
    }
};

// Adds `margin` cells on both sides of a range of cells, within [0, limit).
__device__ __forceinline__ void widen(int& first, int& count, int margin, int limit) {
    const int wanted = min(count + 2 * margin, limit);
    first = min(max(first - (wanted - min(count, wanted)) / 2, 0), limit - wanted);
    count = wanted;
}

// Index of the smallest transform that fits a region.
__device__ __forceinline__ int fft_size_of(const LayerGrid& grid, int rows, int cols) {
    int size = 0;
    while (size < grid.sizes - 1 && grid.sides[size] < max(rows, cols)) size++;
    return size;
}

// Margin (cells) of the initial contact region around the overlap, and at least of an enlarged one around the cells under pressure. Most
// contacts are smaller than the overlap.
constexpr int MARGIN = 1, GROWTH_MARGIN = 6;

// Replaces the keys of each press by depths (m) below the rest surface, in place, and writes its largest depth, region and status.
// One block per press, one cell per thread.
extern "C" __global__ void __launch_bounds__(THREADS) find_contact_region(LayerGrid grid, unsigned long long* keys, ContactRegion* regions) {
    __shared__ unsigned long long max_depth;
    __shared__ Bounds bounds;
    const int cells = grid.rows * grid.cols;
    unsigned long long* own = keys + (long long)blockIdx.x * cells;
    if (threadIdx.x == 0) {
        max_depth = key_of(-infinity());
        bounds.clear();
    }
    __syncthreads();
    for (int i = threadIdx.x; i < cells; i += blockDim.x) {
        const double depth = -height_of(own[i]);
        ((double*)own)[i] = depth;
        if (depth > 0.0) {
            atomicMax(&max_depth, key_of(depth));
            bounds.include(i / grid.cols, i % grid.cols);
        }
    }
    __syncthreads();
    if (threadIdx.x > 0) return;
    ContactRegion region = {0, 0, 0, 0, 0, CLEAR, 0, 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    if (bounds.bottom >= 0) {
        region.max_depth = height_of(max_depth);
        region.row = bounds.top;
        region.col = bounds.left;
        region.rows = bounds.bottom - bounds.top + 1;
        region.cols = bounds.right - bounds.left + 1;
        widen(region.row, region.rows, MARGIN, grid.rows);
        widen(region.col, region.cols, MARGIN, grid.cols);
        region.size = fft_size_of(grid, region.rows, region.cols);
        region.status = region.max_depth > grid.max_depth * (1.0 + 1e-9) ? TOO_DEEP : OPEN;
    }
    regions[blockIdx.x] = region;
}

#undef P
#undef S
#undef D
