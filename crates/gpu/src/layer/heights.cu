// How high an object hangs over the cells of a grid, and where it reaches under the rest surface.

// What a press is and how far it has come.
struct Press {
    // The region that pressure is looked for in.
    int row, col, rows, cols;
    int plan;
    int status;
    // How often the region was made, and what it took.
    int growth, iterations;
    // The greatest depth (m).
    double deepest;
};

enum Status { CLEAR = 0, OPEN = 1, SOLVED = 2, DONE = 3, TOO_DEEP = 4, NOT_FINITE = 5 };

constexpr int MAX_PLANS = 32;

struct Sheet {
    int rows, cols;
    double cell, center_x, center_y;
    // Objects that are higher everywhere are not drawn (m), and deeper ones refused (m).
    double highest, deepest;
    // Violation that is left, by the greatest depth.
    double tolerance;
    double mu;
    // Regions of up to so many cells a side have a plan.
    int plans;
    int sides[MAX_PLANS];
};

// Products and sums that are rounded one by one, as the CPU rounds them: a triangle's neighbour must see the same edge.
__device__ __forceinline__ double times(double a, double b) { return __dmul_rn(a, b); }
__device__ __forceinline__ double plus(double a, double b) { return __dadd_rn(a, b); }
__device__ __forceinline__ double minus(double a, double b) { return __dadd_rn(a, -b); }

struct Point {
    double x, y, z;
};

__device__ __forceinline__ double cross(double ax, double ay, double bx, double by) { return minus(times(ax, by), times(ay, bx)); }

// x y z, then the turn x y z w.
__device__ __forceinline__ Point placed(const double* pose, const double* vertex) {
    const double bx = pose[3], by = pose[4], bz = pose[5], w = pose[6];
    const double x = vertex[0], y = vertex[1], z = vertex[2];
    const double b2 = plus(plus(times(bx, bx), times(by, by)), times(bz, bz));
    const double own = minus(times(w, w), b2);
    const double along = times(plus(plus(times(x, bx), times(y, by)), times(z, bz)), 2.0);
    const double around = times(w, 2.0);
    const double cx = minus(times(by, z), times(bz, y)), cy = minus(times(bz, x), times(bx, z)), cz = minus(times(bx, y), times(by, x));
    return {plus(plus(plus(times(x, own), times(bx, along)), times(cx, around)), pose[0]),
            plus(plus(plus(times(y, own), times(by, along)), times(cy, around)), pose[1]),
            plus(plus(plus(times(z, own), times(bz, along)), times(cz, around)), pose[2])};
}

// Whole numbers in the order of the heights.
__device__ __forceinline__ unsigned long long ordered(double height) {
    const unsigned long long bits = (unsigned long long)__double_as_longlong(height);
    return bits >> 63 ? ~bits : bits | 0x8000000000000000ull;
}
__device__ __forceinline__ double height_of(unsigned long long key) {
    return __longlong_as_double((long long)(key >> 63 ? key & 0x7fffffffffffffffull : ~key));
}
__device__ __forceinline__ double nothing() { return __longlong_as_double(0x7ff0000000000000ll); }

__device__ __forceinline__ double x_of(const Sheet& sheet, int col) {
    return plus(sheet.center_x, times(minus((double)col, 0.5 * (sheet.cols - 1.0)), sheet.cell));
}
__device__ __forceinline__ double y_of(const Sheet& sheet, int row) {
    return plus(sheet.center_y, times(minus(0.5 * (sheet.rows - 1.0), (double)row), sheet.cell));
}

struct Box {
    int row, last_row, col, last_col;
};

// The cells whose middles may be over or under a triangle, or none.
__device__ __forceinline__ bool box_of(const Sheet& sheet, Point a, Point b, Point c, Box& box) {
    const double slack = 5e-3;
    const double low_x = fmin(a.x, fmin(b.x, c.x)), high_x = fmax(a.x, fmax(b.x, c.x));
    const double low_y = fmin(a.y, fmin(b.y, c.y)), high_y = fmax(a.y, fmax(b.y, c.y));
    const double middle_row = 0.5 * (sheet.rows - 1.0), middle_col = 0.5 * (sheet.cols - 1.0);
    const double first_row = fmax(ceil(middle_row - (high_y - sheet.center_y) / sheet.cell - slack), 0.0);
    const double last_row = fmin(floor(middle_row - (low_y - sheet.center_y) / sheet.cell + slack), sheet.rows - 1.0);
    const double first_col = fmax(ceil((low_x - sheet.center_x) / sheet.cell + middle_col - slack), 0.0);
    const double last_col = fmin(floor((high_x - sheet.center_x) / sheet.cell + middle_col + slack), sheet.cols - 1.0);
    if (!(first_row <= last_row && first_col <= last_col)) return false;
    box = {(int)first_row, (int)last_row, (int)first_col, (int)last_col};
    return true;
}

__device__ __forceinline__ void draw_cell(const Sheet& sheet, Point a, Point b, Point c, int row, int col, unsigned long long* keys) {
    const double x = x_of(sheet, col), y = y_of(sheet, row);
    const double ax = minus(a.x, x), ay = minus(a.y, y), bx = minus(b.x, x), by = minus(b.y, y), cx = minus(c.x, x), cy = minus(c.y, y);
    const double u = cross(bx, by, cx, cy), v = cross(cx, cy, ax, ay), w = cross(ax, ay, bx, by);
    const bool inside = (u >= 0.0 && v >= 0.0 && w >= 0.0) || (u <= 0.0 && v <= 0.0 && w <= 0.0);
    const double sum = plus(plus(u, v), w);
    if (inside && sum != 0.0) {
        const double height = plus(plus(times(u, a.z), times(v, b.z)), times(w, c.z)) / sum;
        atomicMin(&keys[row * sheet.cols + col], ordered(height));
    }
}

// Triangles over more cells than this are drawn by all threads of a block together.
constexpr int LARGE = 48;
constexpr int KEPT = 64;

// A row of blocks for each press, each with a part of the triangles.
extern "C" __global__ void __launch_bounds__(256) draw(Sheet sheet, const double* poses, const double* vertices, const int* triangles,
                                                       int count, int closed, int part, unsigned long long* keys) {
    __shared__ int kept[KEPT];
    __shared__ int large;
    const double* pose = poses + 7ll * blockIdx.x;
    unsigned long long* own = keys + (long long)blockIdx.x * sheet.rows * sheet.cols;
    if (threadIdx.x == 0) large = 0;
    __syncthreads();
    const int end = min(count, (int)(blockIdx.y + 1) * part);
    for (int t = blockIdx.y * part + threadIdx.x; t < end; t += blockDim.x) {
        const Point a = placed(pose, vertices + 3ll * triangles[3 * t]), b = placed(pose, vertices + 3ll * triangles[3 * t + 1]),
                    c = placed(pose, vertices + 3ll * triangles[3 * t + 2]);
        if (a.z > sheet.highest && b.z > sheet.highest && c.z > sheet.highest) continue;
        const double doubled = cross(minus(b.x, a.x), minus(b.y, a.y), minus(c.x, a.x), minus(c.y, a.y));
        // What looks up is never lowest on a closed mesh.
        if (doubled == 0.0 || (closed && doubled > 0.0)) continue;
        Box box;
        if (!box_of(sheet, a, b, c, box)) continue;
        if ((box.last_row - box.row + 1) * (box.last_col - box.col + 1) > LARGE) {
            const int place = atomicAdd(&large, 1);
            if (place < KEPT) {
                kept[place] = t;
                continue;
            }
        }
        for (int row = box.row; row <= box.last_row; row++) {
            for (int col = box.col; col <= box.last_col; col++) draw_cell(sheet, a, b, c, row, col, own);
        }
    }
    __syncthreads();
    for (int k = 0; k < min(large, KEPT); k++) {
        const int t = kept[k];
        const Point a = placed(pose, vertices + 3ll * triangles[3 * t]), b = placed(pose, vertices + 3ll * triangles[3 * t + 1]),
                    c = placed(pose, vertices + 3ll * triangles[3 * t + 2]);
        Box box;
        if (!box_of(sheet, a, b, c, box)) continue;
        const int wide = box.last_col - box.col + 1, cells = wide * (box.last_row - box.row + 1);
        for (int i = threadIdx.x; i < cells; i += blockDim.x) draw_cell(sheet, a, b, c, box.row + i / wide, box.col + i % wide, own);
    }
}

// Nothing overhead.
extern "C" __global__ void clear(unsigned long long* keys, long long count) {
    for (long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x; i < count; i += (long long)gridDim.x * blockDim.x) {
        keys[i] = ordered(nothing());
    }
}

// Cells with `margin` more on every side, inside `most`.
__device__ __forceinline__ void widen(int& first, int& count, int margin, int most) {
    const int wanted = min(count + 2 * margin, most);
    first = min(max(first - (wanted - min(count, wanted)) / 2, 0), most - wanted);
    count = wanted;
}

__device__ __forceinline__ int plan_of(const Sheet& sheet, int rows, int cols) {
    int plan = 0;
    while (plan < sheet.plans - 1 && sheet.sides[plan] < max(rows, cols)) plan++;
    return plan;
}

constexpr int MARGIN = 3;

// From heights to depths, the greatest of them and the region below the surface. One block a press.
extern "C" __global__ void __launch_bounds__(256) survey(Sheet sheet, const double* poses, unsigned long long* keys, Press* presses) {
    __shared__ unsigned long long deepest;
    __shared__ int top, bottom, left, right;
    const int cells = sheet.rows * sheet.cols;
    unsigned long long* own = keys + (long long)blockIdx.x * cells;
    if (threadIdx.x == 0) {
        deepest = ordered(-nothing());
        top = left = 1 << 30;
        bottom = right = -1;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < cells; i += blockDim.x) {
        const double depth = -height_of(own[i]);
        ((double*)own)[i] = depth;
        if (depth > 0.0) {
            atomicMax(&deepest, ordered(depth));
            atomicMin(&top, i / sheet.cols);
            atomicMax(&bottom, i / sheet.cols);
            atomicMin(&left, i % sheet.cols);
            atomicMax(&right, i % sheet.cols);
        }
    }
    __syncthreads();
    if (threadIdx.x > 0) return;
    Press press = {0, 0, 0, 0, 0, CLEAR, 0, 0, 0.0};
    bool finite = true;
    for (int i = 0; i < 7; i++) finite = finite && fabs(poses[7ll * blockIdx.x + i]) < nothing();
    if (!finite) {
        press.status = NOT_FINITE;
    } else if (bottom >= 0) {
        press.deepest = height_of(deepest);
        press.row = top;
        press.col = left;
        press.rows = bottom - top + 1;
        press.cols = right - left + 1;
        widen(press.row, press.rows, MARGIN, sheet.rows);
        widen(press.col, press.cols, MARGIN, sheet.cols);
        press.plan = plan_of(sheet, press.rows, press.cols);
        press.status = press.deepest > sheet.deepest * (1.0 + 1e-9) ? TOO_DEEP : OPEN;
    }
    presses[blockIdx.x] = press;
}
