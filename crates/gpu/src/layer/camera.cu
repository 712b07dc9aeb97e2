// Images of a camera behind a layer, from the displacement of its surface: heights at nodes about as dense as the cells, heights and
// slopes at pixels, then light. The same operations in the same order as on the CPU (`Lattice`, `Calibrated`, `Phong`, `Shadow`, `Markers`).
// blockIdx.x is the press in every kernel.

__device__ __forceinline__ Vec3 operator*(double s, Vec3 a) { return {s * a.x, s * a.y, s * a.z}; }

// Displacement (m) of a cell; the surface holds the components x, y and down, one after the other.
__device__ __forceinline__ Vec3 displacement(const CameraView& view, const double* surface, int row, int col) {
    const int i = row * view.cols + col, cells = view.rows * view.cols;
    return {surface[i], surface[cells + i], 0.0 - surface[2 * cells + i]};
}

// The cell at or before a coordinate, clamped to the grid, and the distance past it (cells).
__device__ __forceinline__ int split(double coordinate, int count, double& past) {
    const double clamped = fmin(fmax(coordinate, 0.0), count - 1.0);
    const int cell = min((int)clamped, max(count - 2, 0));
    past = clamped - cell;
    return cell;
}

// The i-th of the four neighbours of a cell, clamped to the grid.
__device__ __forceinline__ int neighbour(int cell, int i, int count) { return min(max(cell + i - 1, 0), count - 1); }

// Weights of four neighbours in cubic convolution (Keys 1981), at t past the second neighbour.
__device__ __forceinline__ void cubic_weights(double t, double* weights) {
    const double t2 = t * t, t3 = t * t * t;
    weights[0] = 0.5 * (-t3 + 2.0 * t2 - t);
    weights[1] = 0.5 * (3.0 * t3 - 5.0 * t2 + 2.0);
    weights[2] = 0.5 * (-3.0 * t3 + 4.0 * t2 + t);
    weights[3] = 0.5 * (t3 - t2);
}

// Position (m) of a cell coordinate on the undeformed surface.
__device__ __forceinline__ double plane_x(const CameraView& view, double col) { return view.center[0] + (col - 0.5 * (view.cols - 1.0)) * view.cell; }
__device__ __forceinline__ double plane_y(const CameraView& view, double row) { return view.center[1] + (0.5 * (view.rows - 1.0) - row) * view.cell; }

// Displacement (m) of the surface at a coordinate, by cubic convolution.
__device__ __forceinline__ Vec3 displacement_at(const CameraView& view, const double* surface, double row, double col) {
    double down, right, by_row[4], by_col[4];
    const int r = split(row, view.rows, down), c = split(col, view.cols, right);
    cubic_weights(down, by_row);
    cubic_weights(right, by_col);
    Vec3 sum = {0.0, 0.0, 0.0};
    for (int i = 0; i < 4; i++) {
        Vec3 line = {0.0, 0.0, 0.0};
        for (int j = 0; j < 4; j++) line = line + by_col[j] * displacement(view, surface, neighbour(r, i, view.rows), neighbour(c, j, view.cols));
        sum = sum + by_row[i] * line;
    }
    return sum;
}

// The point of the surface that a node shows: its coordinates (cells), and the lateral motion of the line of sight per unit of height.
struct SeenPoint {
    double row, col, lean_x, lean_y;
};

// Displacement (m) of the surface at a coordinate by linear interpolation, and its derivatives by row and column (m per cell).
struct Patch {
    Vec3 at, by_row, by_col;
};
__device__ __forceinline__ Patch patch_at(const CameraView& view, const double* surface, double row, double col) {
    double down, right;
    const int r = split(row, view.rows, down), c = split(col, view.cols, right);
    const int below = min(r + 1, view.rows - 1), beside = min(c + 1, view.cols - 1);
    const Vec3 a = displacement(view, surface, r, c), b = displacement(view, surface, r, beside), d = displacement(view, surface, below, c),
               e = displacement(view, surface, below, beside);
    const Vec3 top = a + right * (b - a), bottom = d + right * (e - d);
    // The surface is constant beyond the rim.
    const double in_rows = row >= 0.0 && row <= view.rows - 1.0 ? 1.0 : 0.0, in_cols = col >= 0.0 && col <= view.cols - 1.0 ? 1.0 : 0.0;
    return {top + down * (bottom - top), in_rows * (bottom - top), in_cols * ((b - a) + down * ((e - d) - (b - a)))};
}

// Derivatives of the distance (m) along x and y by which a point misses a line of sight, by row and column (m per cell).
struct Missed {
    double row_x, row_y, col_x, col_y;
    __device__ __forceinline__ Missed(const CameraView& view, const SeenPoint& seen, const Patch& patch)
        : row_x(patch.by_row.x - seen.lean_x * patch.by_row.z), row_y(patch.by_row.y - view.cell - seen.lean_y * patch.by_row.z),
          col_x(patch.by_col.x + view.cell - seen.lean_x * patch.by_col.z), col_y(patch.by_col.y - seen.lean_y * patch.by_col.z) {}
    __device__ __forceinline__ double determinant() const { return row_x * col_y - row_y * col_x; }
};

// Finds the point that the i-th node shows, by Newton's method on the line of sight, until a step is shorter than `sight_step` (cells).
__device__ __forceinline__ SeenPoint seen_at(const CameraView& view, const double* surface, int i) {
    const double node_row = view.first[0] + i / view.nodes[1] * view.stride, node_col = view.first[1] + i % view.nodes[1] * view.stride;
    const double target_x = plane_x(view, node_col), target_y = plane_y(view, node_row);
    SeenPoint seen;
    seen.lean_x = view.distance > 0.0 ? (target_x - view.axis[0]) / view.distance : 0.0;
    seen.lean_y = view.distance > 0.0 ? (target_y - view.axis[1]) / view.distance : 0.0;
    double past;
    const Vec3 here = displacement(view, surface, split(node_row, view.rows, past), split(node_col, view.cols, past));
    seen.row = node_row + (here.y - seen.lean_y * here.z) / view.cell;
    seen.col = node_col - (here.x - seen.lean_x * here.z) / view.cell;
    for (int step = 0; step < 12; step++) {
        const Patch patch = patch_at(view, surface, seen.row, seen.col);
        const double x = plane_x(view, seen.col) + patch.at.x - seen.lean_x * patch.at.z - target_x;
        const double y = plane_y(view, seen.row) + patch.at.y - seen.lean_y * patch.at.z - target_y;
        const Missed by(view, seen, patch);
        const double determinant = by.determinant();
        if (determinant == 0.0) break;
        const double step_row = (x * by.col_y - y * by.col_x) / determinant, step_col = (by.row_x * y - by.row_y * x) / determinant;
        // Steps are bounded where the surface folds.
        seen.row -= fmin(fmax(step_row, -2.0), 2.0);
        seen.col -= fmin(fmax(step_col, -2.0), 2.0);
        if (fabs(step_row) + fabs(step_col) < view.sight_step) break;
    }
    return seen;
}

// Writes the height (m) of the surface point that each node shows and its distance inside the rim (cells). Sets `rim` if any node of a press
// shows a point outside. blockIdx.y: 128 nodes, one per thread.
extern "C" __global__ void __launch_bounds__(128) find_nodes(CameraView view, const double* surfaces, float* heights, float* margins, int* rim) {
    const int nodes = view.nodes[0] * view.nodes[1], i = blockIdx.y * blockDim.x + threadIdx.x;
    if (i >= nodes) return;
    const double* surface = surfaces + 3ll * blockIdx.x * view.rows * view.cols;
    const auto [row, col, lean_x, lean_y] = seen_at(view, surface, i);
    const double margin = fmin(fmin(row + 0.5, view.rows - 0.5 - row), fmin(col + 0.5, view.cols - 0.5 - col));
    heights[(long long)blockIdx.x * nodes + i] = (float)displacement_at(view, surface, row, col).z;
    margins[(long long)blockIdx.x * nodes + i] = (float)margin;
    if ((float)margin < 0.0f) atomicOr(&rim[blockIdx.x], 1);
}

// The value minus a sixth of the second difference.
__device__ __forceinline__ float sharpened(float before, float at, float after) { return at - (before - 2.0f * at + after) * (1.0f / 6.0f); }

// The same for the i-th of `count` values of a line; the ends are unchanged.
__device__ __forceinline__ float sharpened_at(const float* line, int i, int count) {
    return i > 0 && i < count - 1 ? sharpened(line[i - 1], line[i], line[i + 1]) : line[i];
}

// Subtracts a sixth of the second difference from the heights, along rows and then along columns. blockIdx.y: 128 nodes, one per thread.
extern "C" __global__ void __launch_bounds__(128) sharpen_nodes(CameraView view, const float* heights, float* out) {
    const int nodes = view.nodes[0] * view.nodes[1], i = blockIdx.y * blockDim.x + threadIdx.x;
    if (i >= nodes) return;
    const float* own = heights + (long long)blockIdx.x * nodes;
    const int row = i / view.nodes[1], col = i % view.nodes[1];
    const float at = sharpened_at(own + row * view.nodes[1], col, view.nodes[1]);
    float value = at;
    if (row > 0 && row < view.nodes[0] - 1) {
        value = sharpened(sharpened_at(own + (row - 1) * view.nodes[1], col, view.nodes[1]), at,
                       sharpened_at(own + (row + 1) * view.nodes[1], col, view.nodes[1]));
    }
    out[(long long)blockIdx.x * nodes + i] = value;
}

// Value at a pixel: weighted sum of the 4 × 4 nodes of its taps.
__device__ __forceinline__ float pixel_value(const float* nodes, int cols, const Tap& across, const Tap& down) {
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const float* line = nodes + (down.first + i) * cols + across.first;
        const float wide = line[0] * across.weights[0] + line[1] * across.weights[1] + line[2] * across.weights[2] + line[3] * across.weights[3];
        sum += wide * down.weights[i];
    }
    return sum;
}

// Height (m) seen by every pixel. blockIdx.y: 256 pixels, one per thread.
extern "C" __global__ void __launch_bounds__(256) pixel_heights(CameraView view, const float* nodes, const Tap* across, const Tap* down, float* z) {
    const int pixels = view.width * view.height, i = blockIdx.y * blockDim.x + threadIdx.x;
    if (i >= pixels) return;
    const float* own = nodes + (long long)blockIdx.x * view.nodes[0] * view.nodes[1];
    z[(long long)blockIdx.x * pixels + i] = pixel_value(own, view.nodes[1], across[i % view.width], down[i / view.width]);
}

// A Gaussian mean of the values of every pixel along one axis of the image (0: down, 1: right), over the pixels inside: Σ w[|d|] z[i + d] / W[i]. Transposed:
// Σ w[|d|] z[i + d] / W[i + d]. `weights`: w, from the centre outwards; `per_inside`: 1/W along the axis. blockIdx.y: 256 pixels, one per thread.
extern "C" __global__ void __launch_bounds__(256) smooth_pixels(CameraView view, const float* weights, int count, const float* per_inside, int axis, int transposed,
                                                               const float* z, float* smooth) {
    const int pixels = view.width * view.height, i = blockIdx.y * blockDim.x + threadIdx.x;
    if (i >= pixels) return;
    const int at = axis == 0 ? i / view.width : i % view.width, step = axis == 0 ? view.width : 1, end = axis == 0 ? view.height : view.width;
    const float* own = z + (long long)blockIdx.x * pixels + i;
    const auto value = [&](int d) { return own[d * step] * (transposed ? per_inside[at + d] : 1.0f); };
    float sum = weights[0] * value(0);
    for (int d = 1; d < count; d++) {
        const float before = at - d >= 0 ? value(-d) : 0.0f, after = at + d < end ? value(d) : 0.0f;
        sum += weights[d] * (before + after);
    }
    smooth[(long long)blockIdx.x * pixels + i] = transposed ? sum : sum * per_inside[at];
}

// Slopes to the right and down (m/m) at a pixel by central differences, scaled by the pixel's size on the surface at its distance.
__device__ __forceinline__ void slopes(const CameraView& view, const float* z, int row, int col, float& right, float& down) {
    const int left = max(col - 1, 0), beside = min(col + 1, view.width - 1), up = max(row - 1, 0), below = min(row + 1, view.height - 1);
    const float* line = z + row * view.width;
    right = (line[beside] - line[left]) * (beside - left == 2 ? 0.5f : 1.0f);
    down = (z[below * view.width + col] - z[up * view.width + col]) * (below - up == 2 ? 0.5f : 1.0f);
    const float per_pixel = (float)view.per_pixel;
    float scale = per_pixel;
    if (view.distance > 0.0) {
        const float distance = (float)view.distance;
        scale = distance * per_pixel / (distance + line[col] + ((float)-view.axis_px[0] + col) * right + (float)(row - view.axis_px[1]) * down);
    }
    right *= scale;
    down *= scale;
}

// Column and row of each marker in the image. blockIdx.y: 128 markers, one per thread.
extern "C" __global__ void __launch_bounds__(128) track_markers(CameraView view, const double* surfaces, const double* points, float* tracks) {
    const int i = blockIdx.y * blockDim.x + threadIdx.x;
    if (i >= view.markers) return;
    const double* surface = surfaces + 3ll * blockIdx.x * view.rows * view.cols;
    const double x = points[2 * i], y = points[2 * i + 1];
    const double row = 0.5 * (view.rows - 1.0) - (y - view.center[1]) / view.cell, col = (x - view.center[0]) / view.cell + 0.5 * (view.cols - 1.0);
    const Vec3 by = displacement_at(view, surface, row, col);
    const double scale = (view.distance > 0.0 ? view.distance / (view.distance + by.z) : 1.0) / view.pixel;
    float* to = tracks + 2ll * (blockIdx.x * (long long)view.markers + i);
    to[0] = (float)(view.axis_px[0] + view.right * (plane_x(view, col) + by.x - view.axis[0]) * scale);
    to[1] = (float)(view.axis_px[1] - (plane_y(view, row) + by.y - view.axis[1]) * scale);
}

// Part of a pixel that a marker covers, at a distance dx, dy (pixels) from its centre.
__device__ __forceinline__ float covered_part(const CameraView& view, const float* track, int row, int col, float& dx, float& dy) {
    dx = col - track[0], dy = row - track[1];
    if (fabsf(dx) > view.radius + 1.0f || fabsf(dy) > view.radius + 1.0f) return 0.0f;
    const bool within = track[0] >= -view.radius && track[0] < view.width + view.radius && track[1] >= -view.radius && track[1] < view.height + view.radius;
    return within ? fminf(fmaxf(view.radius + 0.5f - sqrtf(dx * dx + dy * dy), 0.0f), 1.0f) : 0.0f;
}

// Paints the markers before `end` on a pixel.
__device__ __forceinline__ void paint_markers(const CameraView& view, const float* tracks, int end, int row, int col, float* level) {
    for (int m = 0; m < end; m++) {
        float dx, dy;
        const float cover = covered_part(view, tracks + 2 * m, row, col, dx, dy);
        for (int c = 0; c < 3 && cover > 0.0f; c++) level[c] += (view.colour[c] - level[c]) * cover;
    }
}

// Factor of exposure and vignetting on the light of a pixel.
__device__ __forceinline__ float exposure_at(const CameraView& view, int row, int col) {
    if (view.vignetting == 0.0f) return view.exposure;
    const float x0 = 0.5f * (view.width - 1.0f), y0 = 0.5f * (view.height - 1.0f), x = col - x0, y = row - y0;
    return view.exposure * (1.0f - view.vignetting * (x * x + y * y) * (1.0f / (x0 * x0 + y0 * y0)));
}

// Final stage of every light model: black outside the gel, markers, exposure and vignetting. `at`: the pixel of all images.
__device__ __forceinline__ void write_pixel(const CameraView& view, float* level, int row, int col, const float* margins, bool rim, const Tap* across,
                                       const Tap* down, const float* tracks, ImageOutputs images, long long at) {
    if (rim && pixel_value(margins, view.nodes[1], across[col], down[row]) < 0.0f) level[0] = level[1] = level[2] = 0.0f;
    paint_markers(view, tracks, view.markers, row, col, level);
    const float factor = exposure_at(view, row, col);
    for (int c = 0; c < 3; c++) {
        if (images.levels) images.levels[3 * at + c] = level[c] * factor;
        if (images.rounded) images.rounded[3 * at + c] = (unsigned char)(int)(fminf(fmaxf(level[c] * factor, 0.0f), 255.0f) + 0.5f);
    }
}

// Σₖ value[k] · q[k](x) for each colour. A line of q has for each power of x, lowest first, the coefficients of red, green and blue.
template <int DEGREE> struct Polynomials {
    float sums[DEGREE + 1][3];

    __device__ __forceinline__ Polynomials() {
#pragma unroll
        for (int p = 0; p <= DEGREE; p++) sums[p][0] = sums[p][1] = sums[p][2] = 0.0f;
    }
    __device__ __forceinline__ void add(const float4* line, float value) {
#pragma unroll
        for (int p = 0; p <= DEGREE; p++) {
            const float4 q = __ldg(line + p);
            sums[p][0] += q.x * value;
            sums[p][1] += q.y * value;
            sums[p][2] += q.z * value;
        }
    }
    __device__ __forceinline__ float at(float x, int c) const {
        float sum = sums[DEGREE][c];
#pragma unroll
        for (int p = DEGREE - 1; p >= 0; p--) sum = sum * x + sums[p][c];
        return sum;
    }
};

// Adds the number of lanes of a warp where `yes` holds.
__device__ __forceinline__ void count_lanes(bool yes, unsigned* sum) {
    const unsigned lanes = __ballot_sync(0xffffffffu, yes);
    if (lanes && threadIdx.x % 32 == 0) atomicAdd(sum, __popc(lanes));
}

// A tile of nodes of the horizons has TILE_ROWS × TILE_COLS nodes, one per lane of a warp. Number of tiles along a row and along a column.
__device__ __forceinline__ int tiles_across(const HorizonNodes& nodes) { return (nodes.cols + TILE_COLS - 1) / TILE_COLS; }
__device__ __forceinline__ int tiles_down(const HorizonNodes& nodes) { return (nodes.rows + TILE_ROWS - 1) / TILE_ROWS; }

__device__ __forceinline__ float lowest_lane(float value) {
    for (int lanes = 16; lanes > 0; lanes /= 2) value = fminf(value, __shfl_xor_sync(0xffffffffu, value, lanes));
    return value;
}
__device__ __forceinline__ float highest_lane(float value) { return -lowest_lane(-value); }

// Heights towards the camera (m) at the nodes of the horizons, every `stride`-th pixel, and the highest node of each tile, with the nodes one
// column and row farther: it bounds the heights interpolated from the tile on. blockIdx.y: four tiles, one per warp.
extern "C" __global__ void __launch_bounds__(128) horizon_heights(CameraView view, HorizonNodes nodes, const float* z, float* heights, float* highest) {
    const int across = tiles_across(nodes), all = across * tiles_down(nodes), tile = blockIdx.y * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (tile >= all) return;
    const float* own = z + (long long)blockIdx.x * view.height * view.width;
    float most = -__int_as_float(0x7f800000);
    for (int i = lane; i < (TILE_ROWS + 1) * (TILE_COLS + 1); i += 32) {
        const int down = i / (TILE_COLS + 1), right = i % (TILE_COLS + 1);
        const int row = min(tile / across * TILE_ROWS + down, nodes.rows - 1), col = min(tile % across * TILE_COLS + right, nodes.cols - 1);
        const float height = -own[min(row * nodes.stride, view.height - 1) * view.width + min(col * nodes.stride, view.width - 1)];
        if (down < TILE_ROWS && right < TILE_COLS) heights[((long long)blockIdx.x * nodes.rows + row) * nodes.cols + col] = height;
        most = fmaxf(most, height);
    }
    most = highest_lane(most);
    if (lane == 0) highest[(long long)blockIdx.x * all + tile] = most;
}

// Index of the node before a coordinate, such that a node follows; and that node.
__device__ __forceinline__ int node_before(float at, int count) { return min((int)at, max(count, 2) - 2); }
__device__ __forceinline__ int node_after(int before, int count) { return min(before + 1, count - 1); }

// The highest tile at coordinates of nodes from (left, top) to (right, bottom).
__device__ __forceinline__ float highest_in(const HorizonNodes& nodes, const float* highest, float left, float right, float top, float bottom) {
    const float max_x = nodes.cols - 1.0f, max_y = nodes.rows - 1.0f;
    const int first_col = (int)fminf(fmaxf(left, 0.0f), max_x) / TILE_COLS, last_col = (int)fminf(fmaxf(right, 0.0f), max_x) / TILE_COLS;
    const int first_row = (int)fminf(fmaxf(top, 0.0f), max_y) / TILE_ROWS, last_row = (int)fminf(fmaxf(bottom, 0.0f), max_y) / TILE_ROWS;
    float most = -__int_as_float(0x7f800000);
    for (int row = first_row; row <= last_row; row++) {
        for (int col = first_col; col <= last_col; col++) most = fmaxf(most, highest[row * tiles_across(nodes) + col]);
    }
    return most;
}

// The line of sight from a node towards a lamp: its unit direction (right, down). Distances are in nodes.
struct SightLine {
    float x, y, col, row;
    __device__ __forceinline__ SightLine(const CameraView& view, const HorizonNodes& nodes, const SideLamp& lamp, int row, int col) : col(col), row(row) {
        const float pixel = (float)view.pixel;
        const float right = ((float)col * nodes.stride - 0.5f * (view.width - 1.0f)) * pixel, down = ((float)row * nodes.stride - 0.5f * (view.height - 1.0f)) * pixel;
        x = lamp.direction[0] - right * lamp.per_distance, y = lamp.direction[1] - down * lamp.per_distance;
        const float per_length = 1.0f / fmaxf(sqrtf(x * x + y * y), 1e-6f);
        x *= per_length;
        y *= per_length;
    }
    // Coordinates of the point at a distance, within the nodes.
    __device__ __forceinline__ float at_x(const HorizonNodes& nodes, float distance) const { return fminf(fmaxf(col + x * distance, 0.0f), nodes.cols - 1.0f); }
    __device__ __forceinline__ float at_y(const HorizonNodes& nodes, float distance) const { return fminf(fmaxf(row + y * distance, 0.0f), nodes.rows - 1.0f); }
};

// Height (m) at coordinates of nodes, by linear interpolation.
__device__ __forceinline__ float height_at(const HorizonNodes& nodes, const float* heights, float x, float y) {
    const int left = node_before(x, nodes.cols), above = node_before(y, nodes.rows);
    const int to_right = nodes.cols > 1 ? 1 : 0, to_below = nodes.rows > 1 ? nodes.cols : 0;
    const float *high = heights + above * nodes.cols + left, *low = high + to_below;
    const float top = high[0] + (high[to_right] - high[0]) * (x - left), bottom = low[0] + (low[to_right] - low[0]) * (x - left);
    return top + (bottom - top) * (y - above);
}

// Horizon of every node towards the lamps of red, green and blue: the largest tangent (h(x + t l) − h(x)) / t over the distances t, at least
// that of the lamp's lower edge. l: direction of the lamp at the node. `heights`, `highest`: of `horizon_heights`. blockIdx.y: four tiles of
// the three lamps, one per warp. Lane k bounds the tangents of all nodes of the tile at the k-th distance; distances whose bound is below
// the lamp are skipped.
extern "C" __global__ void __launch_bounds__(128) find_horizons(CameraView view, HorizonNodes nodes, const SideLamp* lamps, const SightPoint* points, int count,
                                                            const float* heights, const float* highest, float* horizons) {
    const int across = tiles_across(nodes), tiles = across * tiles_down(nodes), warp = blockIdx.y * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (warp >= 3 * tiles) return;
    const SideLamp lamp = lamps[warp / tiles];
    const int all = nodes.rows * nodes.cols, first_row = warp % tiles / across * TILE_ROWS, first_col = warp % tiles % across * TILE_COLS;
    const int row = min(first_row + lane / TILE_COLS, nodes.rows - 1), col = min(first_col + lane % TILE_COLS, nodes.cols - 1);
    const float *height = heights + (long long)blockIdx.x * all, own = height[row * nodes.cols + col];
    const SightLine line(view, nodes, lamp, row, col);
    const float lowest = lowest_lane(own), min_x = lowest_lane(line.x), most_x = highest_lane(line.x), min_y = lowest_lane(line.y), most_y = highest_lane(line.y);
    float tangent = lamp.lower;
    for (int first = 0; first < count; first += 32) {
        float bound = lowest;
        SightPoint point = points[min(first + lane, count - 1)];
        if (first + lane < count) {
            bound = highest_in(nodes, highest + (long long)blockIdx.x * tiles, first_col + min_x * point.nodes, first_col + TILE_COLS - 1 + most_x * point.nodes,
                               first_row + min_y * point.nodes, first_row + TILE_ROWS - 1 + most_y * point.nodes);
        }
        unsigned above_lamp = __ballot_sync(0xffffffffu, (bound - lowest) * point.per_distance > lamp.lower);
        for (; above_lamp; above_lamp &= above_lamp - 1) {
            const int k = __ffs(above_lamp) - 1;
            const float most = __shfl_sync(0xffffffffu, bound, k), distance = __shfl_sync(0xffffffffu, point.nodes, k);
            const float per_distance = __shfl_sync(0xffffffffu, point.per_distance, k);
            if ((most - own) * per_distance <= tangent) continue;
            tangent = fmaxf(tangent, (height_at(nodes, height, line.at_x(nodes, distance), line.at_y(nodes, distance)) - own) * per_distance);
        }
    }
    // Lanes beyond the last column or row repeat a node and its horizon.
    horizons[(3ll * blockIdx.x + warp / tiles) * all + row * nodes.cols + col] = tangent;
}

// The four nodes of horizons around a pixel, and their weights: right part and lower part.
struct HorizonTaps {
    int above, below, left, beside;
    float right, down;
    __device__ __forceinline__ HorizonTaps(const HorizonNodes& nodes, int row, int col) {
        const float x = col * nodes.per_stride, y = row * nodes.per_stride;
        above = node_before(y, nodes.rows), left = node_before(x, nodes.cols);
        below = node_after(above, nodes.rows), beside = node_after(left, nodes.cols);
        right = x - left, down = y - above;
    }
};

// Part of a lamp's width below the horizon of a pixel.
__device__ __forceinline__ float width_below(const HorizonNodes& nodes, const SideLamp& lamp, const float* horizon, const HorizonTaps& at) {
    const float *high = horizon + at.above * nodes.cols, *low = horizon + at.below * nodes.cols;
    const float top = high[at.left] + (high[at.beside] - high[at.left]) * at.right, bottom = low[at.left] + (low[at.beside] - low[at.left]) * at.right;
    return fminf(fmaxf((top + (bottom - top) * at.down - lamp.lower) * lamp.per_width, 0.0f), 1.0f);
}

// Part of a lamp below the horizon of a pixel, by a smooth step between its lower and upper edge.
__device__ __forceinline__ float hidden_part(const HorizonNodes& nodes, const SideLamp& lamp, const float* horizon, int row, int col) {
    const float part = width_below(nodes, lamp, horizon, HorizonTaps(nodes, row, col));
    return part * part * (3.0f - 2.0f * part);
}

// Whether a horizon rises above its lamp's lower edge at a node around the 32 pixels of a warp, from a column of a row on.
__device__ __forceinline__ bool any_shadow(const HorizonNodes& nodes, const SideLamp* lamps, const float* horizons, int row, int first) {
    const int above = node_before(row * nodes.per_stride, nodes.rows), count = nodes.rows * nodes.cols;
    const int left = node_before(first * nodes.per_stride, nodes.cols), end = node_after(node_before((first + 31) * nodes.per_stride, nodes.cols), nodes.cols);
    const float *high = horizons + above * nodes.cols, *low = horizons + node_after(above, nodes.rows) * nodes.cols;
    bool any = false;
    for (int col = left + threadIdx.x % 32; col <= end; col += 32) {
        for (int c = 0; c < 3; c++) any |= fmaxf(high[c * count + col], low[c * count + col]) > lamps[c].lower;
    }
    return __any_sync(0xffffffffu, any);
}

// Calls `visit(degree, first, values, lower)` for each degree of the monomials of the normal, in total `count`: the number of its first monomial in F
// (one more in G), and the values of its monomials and of those of the degree before. The monomials of a degree are those of the degree before
// times `right`, and the last of them also times `down`.
template <class Visit> __device__ __forceinline__ void for_each_degree(int count, float right, float down, Visit visit) {
    float values[MAX_SURFACE_DEGREE + 1] = {1.0f}, lower[MAX_SURFACE_DEGREE + 1];
#pragma unroll
    for (int degree = 1; degree <= MAX_SURFACE_DEGREE; degree++) {
        const int first = (degree - 1) * (degree + 2) / 2;
        if (first >= count) break;
#pragma unroll
        for (int k = 0; k < degree; k++) {
            lower[k] = values[k];
            values[k] *= right;
        }
        values[degree] = lower[degree - 1] * down;
        visit(degree, first, values, lower);
    }
}

// F and G of a calibrated light; G only if some lamp is hidden from the warp (`shadowed` monomials, else 0).
template <int DEGREE> struct LightSums {
    Polynomials<DEGREE> lit;
    Polynomials<1> darker;

    __device__ __forceinline__ LightSums(const CalibratedLight& light, const float4* lines, const float4* shadow_lines, float right, float down, int shadowed) {
        if (shadowed > 0) darker.add(shadow_lines, 1.0f);
        for_each_degree(max(light.lit, shadowed - 1), right, down, [&](int degree, int first, const float* values, const float*) {
            if (first < light.lit) {
#pragma unroll
                for (int k = 0; k <= degree; k++) lit.add(lines + (first + k) * (DEGREE + 1), values[k]);
            }
            if (first + 1 < shadowed) {
#pragma unroll
                for (int k = 0; k <= degree; k++) darker.add(shadow_lines + 2 * (first + 1 + k), values[k]);
            }
        });
    }
    // Change of a colour with the given background, before limits.
    __device__ __forceinline__ float change(const CalibratedLight& light, float x, int c, const float* hidden, float background) const {
        const float factor = light_factor(light, background);
        if (light.shadow_per_background > 0.0f) {
            return factor * (1.0f - hidden[c]) * lit.at(x, c) + hidden[c] * (light.shadow_per_background * background) * darker.at(x, c);
        }
        return factor * (lit.at(x, c) + hidden[c] * darker.at(x, c));
    }
    __device__ static __forceinline__ float light_factor(const CalibratedLight& light, float background) {
        return light.per_background > 0.0f ? light.per_background * background : 1.0f;
    }
};

// Adds the change by F and G to the background of a pixel, within the limits of the calibration.
template <int DEGREE>
__device__ __forceinline__ void add_light(const CalibratedLight& light, const float4* lines, const float4* shadow_lines, float right, float down, float x,
                                          bool shadow, const float* hidden, float* level) {
    const LightSums<DEGREE> sums(light, lines, shadow_lines, right, down, shadow ? light.shadowed : 0);
    for (int c = 0; c < 3; c++) {
        const float change = fminf(fmaxf(sums.change(light, x, c, hidden, level[c]), light.min_change[c]), light.max_change[c]);
        level[c] = fminf(fmaxf(level[c] + change, fminf(light.min_level[c], level[c])), fmaxf(light.max_level[c], level[c]));
    }
}

// Runs statements with the degree of the polynomials in position as the constant DEGREE. A macro, because nvrtc 13.0 has no generic lambdas.
#define CASE_OF_DEGREE(degree, ...) \
    case degree: {                  \
        constexpr int DEGREE = degree; \
        __VA_ARGS__                 \
    } break;
#define WITH_DEGREE(degree, ...)                                                                          \
    switch (degree) {                                                                                     \
        CASE_OF_DEGREE(0, __VA_ARGS__) CASE_OF_DEGREE(1, __VA_ARGS__) CASE_OF_DEGREE(2, __VA_ARGS__)       \
        CASE_OF_DEGREE(3, __VA_ARGS__) CASE_OF_DEGREE(4, __VA_ARGS__) CASE_OF_DEGREE(5, __VA_ARGS__)       \
    }

// Calibrated light: I = I0 + b (F + s G) within limits, or I0 + b (1 - s) F + s (I0/128) G if shadows replace the light; F and G polynomials of position
// times monomials of the normal (right, down), s the hidden part of each colour's lamp. `lines` and `shadow_lines`: for each row and monomial a polynomial of the position along the row (`Polynomials`);
// `positions`: the position of each column; `horizons`: of `find_horizons`, or null. A warp shades 32 consecutive pixels of a row, aligned to 32, and adds no light if all of them are flat and lit;
// blockIdx.y: eight rows, one per warp; blockIdx.z: 32 columns. `seen`: for each press the number of pressed pixels, and of
// those that are steeper than the data of the light.
extern "C" __global__ void __launch_bounds__(256, 6) shade_calibrated(CameraView view, CalibratedLight light, HorizonNodes nodes, const SideLamp* lamps, const float* horizons,
                                                               const float* background, const float4* lines, const float4* shadow_lines, const float* positions,
                                                               const float* z, const float* margins, const int* rim,
                                                               const Tap* across, const Tap* down, const float* tracks, ImageOutputs images,
                                                               unsigned* seen) {
    const int row = blockIdx.y * (blockDim.x / 32) + threadIdx.x / 32, first = blockIdx.z * 32, col = first + threadIdx.x % 32;
    if (row >= view.height) return;
    const int pixels = view.width * view.height, i = row * view.width + col;
    const bool inside = col < view.width;
    const float* own = z + (long long)blockIdx.x * pixels;
    float right = 0.0f, downward = 0.0f, hidden[3] = {0.0f, 0.0f, 0.0f};
    bool steep = false, pressed = false;
    const int count = nodes.rows * nodes.cols;
    const float* own_horizons = horizons + 3ll * blockIdx.x * count;
    const bool shadow = horizons && any_shadow(nodes, lamps, own_horizons, row, first);
    if (inside) {
        slopes(view, own, row, col, right, downward);
        const float squared = right * right + downward * downward;
        const float scale = rsqrtf(fmaxf(1.0f + squared, squared * light.per_normal_squared));
        right *= scale;
        downward *= scale;
        pressed = -1e3f * own[i] > light.min_depth_mm;
        steep = pressed && squared > light.steep_squared;
        if (shadow) {
#pragma unroll
            for (int c = 0; c < 3; c++) hidden[c] = hidden_part(nodes, lamps[c], own_horizons + c * count, row, col);
        }
    }
    count_lanes(pressed, seen + 2 * blockIdx.x);
    count_lanes(steep, seen + 2 * blockIdx.x + 1);
    const bool lit = fmaxf(hidden[0], fmaxf(hidden[1], hidden[2])) < light.min_hidden;
    const bool skipped = __all_sync(0xffffffffu, fabsf(right) < light.min_slope && fabsf(downward) < light.min_slope && lit);
    if (!inside) return;
    float level[3];
    for (int c = 0; c < 3; c++) level[c] = background[c * pixels + i];
    if (!skipped) {
        const float4 *line = lines + (long long)row * light.lit * (light.degree + 1), *shadow_line = shadow_lines + (long long)row * 2 * light.shadowed;
        const float x = positions[col];
        WITH_DEGREE(light.degree, add_light<DEGREE>(light, line, shadow_line, right, downward, x, shadow, hidden, level);)
    }
    write_pixel(view, level, row, col, margins + (long long)blockIdx.x * view.nodes[0] * view.nodes[1], rim[blockIdx.x] != 0, across, down,
           tracks + 2ll * blockIdx.x * view.markers, images, (long long)blockIdx.x * pixels + i);
}
