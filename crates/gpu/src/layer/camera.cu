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

// Finds the surface point that each node shows, by Newton's method on the line of sight, and writes its height (m) and its distance
// inside the rim (cells). Sets `rim` if any node of a press shows a point outside. blockIdx.y: 128 nodes, one per thread.
extern "C" __global__ void __launch_bounds__(128) find_nodes(CameraView view, const double* surfaces, float* heights, float* margins, int* rim) {
    const int nodes = view.nodes[0] * view.nodes[1], i = blockIdx.y * blockDim.x + threadIdx.x;
    if (i >= nodes) return;
    const double* surface = surfaces + 3ll * blockIdx.x * view.rows * view.cols;
    const double node_row = view.first[0] + i / view.nodes[1] * view.stride, node_col = view.first[1] + i % view.nodes[1] * view.stride;
    const double target_x = plane_x(view, node_col), target_y = plane_y(view, node_row);
    // Lateral motion of the line of sight per unit of height.
    const double lean_x = view.distance > 0.0 ? (target_x - view.axis[0]) / view.distance : 0.0;
    const double lean_y = view.distance > 0.0 ? (target_y - view.axis[1]) / view.distance : 0.0;
    double past;
    const Vec3 here = displacement(view, surface, split(node_row, view.rows, past), split(node_col, view.cols, past));
    double row = node_row + (here.y - lean_y * here.z) / view.cell, col = node_col - (here.x - lean_x * here.z) / view.cell;
    for (int step = 0; step < 12; step++) {
        double down, right;
        const int r = split(row, view.rows, down), c = split(col, view.cols, right);
        const int below = min(r + 1, view.rows - 1), beside = min(c + 1, view.cols - 1);
        const Vec3 a = displacement(view, surface, r, c), b = displacement(view, surface, r, beside), d = displacement(view, surface, below, c),
                   e = displacement(view, surface, below, beside);
        const Vec3 top = a + right * (b - a), bottom = d + right * (e - d), at = top + down * (bottom - top);
        // The surface is constant beyond the rim.
        const double in_rows = row >= 0.0 && row <= view.rows - 1.0 ? 1.0 : 0.0, in_cols = col >= 0.0 && col <= view.cols - 1.0 ? 1.0 : 0.0;
        const Vec3 by_row = in_rows * (bottom - top), by_col = in_cols * ((b - a) + down * ((e - d) - (b - a)));
        const double x = plane_x(view, col) + at.x - lean_x * at.z - target_x, y = plane_y(view, row) + at.y - lean_y * at.z - target_y;
        const double row_x = by_row.x - lean_x * by_row.z, row_y = by_row.y - view.cell - lean_y * by_row.z;
        const double col_x = by_col.x + view.cell - lean_x * by_col.z, col_y = by_col.y - lean_y * by_col.z;
        const double determinant = row_x * col_y - row_y * col_x;
        if (determinant == 0.0) break;
        const double step_row = (x * col_y - y * col_x) / determinant, step_col = (row_x * y - row_y * x) / determinant;
        // Steps are bounded where the surface folds.
        row -= fmin(fmax(step_row, -2.0), 2.0);
        col -= fmin(fmax(step_col, -2.0), 2.0);
        if (fabs(step_row) + fabs(step_col) < 0.02) break;
    }
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

// Final stage of every light model: black outside the gel, markers, exposure and vignetting, then rounding to eight bits.
__device__ __forceinline__ void write_pixel(const CameraView& view, float* level, int row, int col, const float* margins, bool rim, const Tap* across,
                                       const Tap* down, const float* tracks, unsigned char* out) {
    if (rim && pixel_value(margins, view.nodes[1], across[col], down[row]) < 0.0f) level[0] = level[1] = level[2] = 0.0f;
    for (int m = 0; m < view.markers; m++) {
        const float at_col = tracks[2 * m], at_row = tracks[2 * m + 1], dx = col - at_col, dy = row - at_row;
        if (fabsf(dx) > view.radius + 1.0f || fabsf(dy) > view.radius + 1.0f) continue;
        const bool within = at_col >= -view.radius && at_col < view.width + view.radius && at_row >= -view.radius && at_row < view.height + view.radius;
        if (!within) continue;
        const float cover = fminf(fmaxf(view.radius + 0.5f - sqrtf(dx * dx + dy * dy), 0.0f), 1.0f);
        for (int c = 0; c < 3; c++) level[c] += (view.colour[c] - level[c]) * cover;
    }
    float factor = view.exposure;
    if (view.vignetting != 0.0f) {
        const float x0 = 0.5f * (view.width - 1.0f), y0 = 0.5f * (view.height - 1.0f), x = col - x0, y = row - y0;
        factor *= 1.0f - view.vignetting * (x * x + y * y) * (1.0f / (x0 * x0 + y0 * y0));
    }
    for (int c = 0; c < 3; c++) out[c] = (unsigned char)(int)(fminf(fmaxf(level[c] * factor, 0.0f), 255.0f) + 0.5f);
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
    const int to_right = nodes.cols > 1 ? 1 : 0, to_below = nodes.rows > 1 ? nodes.cols : 0;
    const float* height = heights + (long long)blockIdx.x * all;
    const float pixel = (float)view.pixel, max_x = nodes.cols - 1.0f, max_y = nodes.rows - 1.0f;
    const float right = ((float)col * nodes.stride - 0.5f * (view.width - 1.0f)) * pixel, down = ((float)row * nodes.stride - 0.5f * (view.height - 1.0f)) * pixel;
    float x = lamp.direction[0] - right * lamp.per_distance, y = lamp.direction[1] - down * lamp.per_distance;
    const float per_length = 1.0f / fmaxf(sqrtf(x * x + y * y), 1e-6f), own = height[row * nodes.cols + col];
    x *= per_length;
    y *= per_length;
    const float lowest = lowest_lane(own), min_x = lowest_lane(x), most_x = highest_lane(x), min_y = lowest_lane(y), most_y = highest_lane(y);
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
            const float at_x = fminf(fmaxf(col + x * distance, 0.0f), max_x), at_y = fminf(fmaxf(row + y * distance, 0.0f), max_y);
            const int left = node_before(at_x, nodes.cols), above = node_before(at_y, nodes.rows);
            const float *high = height + above * nodes.cols + left, *low = high + to_below;
            const float top = high[0] + (high[to_right] - high[0]) * (at_x - left), bottom = low[0] + (low[to_right] - low[0]) * (at_x - left);
            tangent = fmaxf(tangent, (top + (bottom - top) * (at_y - above) - own) * per_distance);
        }
    }
    // Lanes beyond the last column or row repeat a node and its horizon.
    horizons[(3ll * blockIdx.x + warp / tiles) * all + row * nodes.cols + col] = tangent;
}

// Part of a lamp below the horizon of a pixel, by a smooth step between its lower and upper edge.
__device__ __forceinline__ float hidden_part(const HorizonNodes& nodes, const SideLamp& lamp, const float* horizon, int row, int col) {
    const float x = col * nodes.per_stride, y = row * nodes.per_stride;
    const int above = node_before(y, nodes.rows), left = node_before(x, nodes.cols), beside = node_after(left, nodes.cols);
    const float *high = horizon + above * nodes.cols, *low = horizon + node_after(above, nodes.rows) * nodes.cols;
    const float top = high[left] + (high[beside] - high[left]) * (x - left), bottom = low[left] + (low[beside] - low[left]) * (x - left);
    const float part = fminf(fmaxf((top + (bottom - top) * (y - above) - lamp.lower) * lamp.per_width, 0.0f), 1.0f);
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

// Adds F and s G to the background of a pixel, within the limits of the calibration; F alone if no lamp is hidden from its warp. The
// monomials of a degree are those of the degree before times `right`, and the last of them also times `down`.
template <int DEGREE>
__device__ __forceinline__ void add_light(const CalibratedLight& light, const float4* lines, const float4* shadow_lines, float right, float down, float x,
                                          bool shadow, const float* hidden, float* level) {
    Polynomials<DEGREE> sums;
    Polynomials<1> darker;
    const int shadowed = shadow ? light.shadowed : 0;
    if (shadowed > 0) darker.add(shadow_lines, 1.0f);
    float values[MAX_SURFACE_DEGREE + 1] = {1.0f};
#pragma unroll
    for (int degree = 1; degree <= MAX_SURFACE_DEGREE; degree++) {
        const int first = (degree - 1) * (degree + 2) / 2;
        if (first >= light.lit && first + 1 >= shadowed) break;
        values[degree] = values[degree - 1] * down;
#pragma unroll
        for (int k = 0; k < degree; k++) values[k] *= right;
        if (first < light.lit) {
#pragma unroll
            for (int k = 0; k <= degree; k++) sums.add(lines + (first + k) * (DEGREE + 1), values[k]);
        }
        if (first + 1 < shadowed) {
#pragma unroll
            for (int k = 0; k <= degree; k++) darker.add(shadow_lines + 2 * (first + 1 + k), values[k]);
        }
    }
    for (int c = 0; c < 3; c++) {
        const float factor = light.per_background > 0.0f ? light.per_background * level[c] : 1.0f;
        const float change = fminf(fmaxf(factor * (sums.at(x, c) + hidden[c] * darker.at(x, c)), light.min_change[c]), light.max_change[c]);
        level[c] = fminf(fmaxf(level[c] + change, fminf(light.min_level[c], level[c])), fmaxf(light.max_level[c], level[c]));
    }
}

// Calibrated light: I = I0 + F + s G within limits, F and G polynomials of position times monomials of the normal (right, down), s the hidden
// part of each colour's lamp. `lines` and `shadow_lines`: for each row and monomial a polynomial of the position along the row (`Polynomials`);
// `positions`: the position of each column; `horizons`: of `find_horizons`, or null. A warp shades 32 consecutive pixels of a row, aligned to 32, and adds no light if all of them are flat and lit;
// blockIdx.y: eight rows, one per warp; blockIdx.z: 32 columns. `seen`: for each press the number of pressed pixels, and of
// those that are steeper than the data of the light.
extern "C" __global__ void __launch_bounds__(256, 6) shade_calibrated(CameraView view, CalibratedLight light, HorizonNodes nodes, const SideLamp* lamps, const float* horizons,
                                                               const float* background, const float4* lines, const float4* shadow_lines, const float* positions,
                                                               const float* z, const float* margins, const int* rim,
                                                               const Tap* across, const Tap* down, const float* tracks, unsigned char* images,
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
        switch (light.degree) {
        case 0: add_light<0>(light, line, shadow_line, right, downward, x, shadow, hidden, level); break;
        case 1: add_light<1>(light, line, shadow_line, right, downward, x, shadow, hidden, level); break;
        case 2: add_light<2>(light, line, shadow_line, right, downward, x, shadow, hidden, level); break;
        case 3: add_light<3>(light, line, shadow_line, right, downward, x, shadow, hidden, level); break;
        case 4: add_light<4>(light, line, shadow_line, right, downward, x, shadow, hidden, level); break;
        default: add_light<5>(light, line, shadow_line, right, downward, x, shadow, hidden, level); break;
        }
    }
    write_pixel(view, level, row, col, margins + (long long)blockIdx.x * view.nodes[0] * view.nodes[1], rim[blockIdx.x] != 0, across, down,
           tracks + 2ll * blockIdx.x * view.markers, images + 3 * ((long long)blockIdx.x * pixels + i));
}

// Phong light: background plus (n·l − flat) diffuse + ((r·v)^shininess − flat) specular of each lamp. `lit`: the fraction of each lamp's
// light that reaches each pixel, or null without shadows. blockIdx.y: 256 pixels, one per thread.
extern "C" __global__ void __launch_bounds__(256) shade_phong(CameraView view, const Lamp* lamps, int count, int shininess, const float* background, const float* lit,
                                                              const float* z, const float* margins, const int* rim, const Tap* across,
                                                              const Tap* down, const float* tracks, unsigned char* images) {
    const int pixels = view.width * view.height, i = blockIdx.y * blockDim.x + threadIdx.x;
    if (i >= pixels) return;
    const int row = i / view.width, col = i % view.width;
    float right, downward, level[3];
    slopes(view, z + (long long)blockIdx.x * pixels, row, col, right, downward);
    const float scale = 1.0f / sqrtf(1.0f + right * right + downward * downward), nx = right * scale, ny = -downward * scale, nz = scale;
    for (int c = 0; c < 3; c++) level[c] = background[c * pixels + i];
    for (int k = 0; k < count; k++) {
        const Lamp& lamp = lamps[k];
        float diffuse = fmaxf(lamp.direction[0] * nx + lamp.direction[1] * ny + lamp.direction[2] * nz, 0.0f), specular = 0.0f;
        if (lamp.specular[0] != 0.0f || lamp.specular[1] != 0.0f || lamp.specular[2] != 0.0f) {
            // A face that points away from the lamp has no highlight.
            float factor = diffuse > 0.0f ? fmaxf(2.0f * diffuse * nz - lamp.direction[2], 0.0f) : 0.0f;
            specular = 1.0f;
            for (int left = shininess; left > 0; left >>= 1) {
                if (left & 1) specular *= factor;
                factor *= factor;
            }
        }
        if (lit) {
            const float part = lit[((long long)blockIdx.x * count + k) * pixels + i];
            diffuse *= part;
            specular *= part;
        }
        for (int c = 0; c < 3; c++) {
            if (lamp.diffuse[c] != 0.0f || lamp.specular[c] != 0.0f) {
                level[c] += (diffuse - lamp.flat[0]) * lamp.diffuse[c] + (specular - lamp.flat[1]) * lamp.specular[c];
            }
        }
    }
    write_pixel(view, level, row, col, margins + (long long)blockIdx.x * view.nodes[0] * view.nodes[1], rim[blockIdx.x] != 0, across, down,
           tracks + 2ll * blockIdx.x * view.markers, images + 3 * ((long long)blockIdx.x * pixels + i));
}

// The fraction of each lamp's light that reaches each pixel. The largest height so far, decreasing with the slope of the ray, is propagated
// away from the lamp from one line of pixels to the next; a pixel h below it gets 1 − strength · smoothstep(h/softness). blockIdx.y: lamp;
// one pixel of a line per thread. Shared memory: two lines.
extern "C" __global__ void __launch_bounds__(256) cast_shadows(CameraView view, const Lamp* lamps, float strength, float softness, float pixel, const float* z,
                                                               float* lits) {
    extern __shared__ float shared[];
    const int pixels = view.width * view.height;
    const float right = lamps[blockIdx.y].direction[0], up = lamps[blockIdx.y].direction[1], towards = lamps[blockIdx.y].direction[2];
    const float* own = z + (long long)blockIdx.x * pixels;
    float* lit = lits + ((long long)blockIdx.x * gridDim.y + blockIdx.y) * pixels;
    const bool sideways = fabsf(right) >= fabsf(up);
    const float along = sideways ? right : up, aside = sideways ? up : right;
    if (along == 0.0f) {
        for (int i = threadIdx.x; i < pixels; i += blockDim.x) lit[i] = 1.0f;
        return;
    }
    // Lines run across the ray's main direction; `shift` is the motion of the ray along a line from one line to the next.
    const int lines = sideways ? view.width : view.height, length = sideways ? view.height : view.width;
    const float shift = sideways ? up / fabsf(right) : -right / fabsf(up);
    const float fall = pixel * sqrtf(1.0f + (aside / along) * (aside / along)) * towards / sqrtf(right * right + up * up);
    const bool reversed = (sideways && right > 0.0f) || (!sideways && up < 0.0f);
    float *carried = shared, *next = shared + length;
    for (int at = threadIdx.x; at < length; at += blockDim.x) carried[at] = -__int_as_float(0x7f800000);
    __syncthreads();
    for (int k = 0; k < lines; k++) {
        const int line = reversed ? lines - 1 - k : k;
        for (int at = threadIdx.x; at < length; at += blockDim.x) {
            const int i = sideways ? at * view.width + line : line * view.width + at;
            const float from = fminf(fmaxf(at - shift, 0.0f), length - 1.0f);
            const int low = (int)from, high = min(low + 1, length - 1);
            const float part = from - low;
            const float ray = (part == 0.0f ? carried[low] : carried[low] * (1.0f - part) + carried[high] * part) - fall, height = -own[i];
            const float hidden = fminf(fmaxf((ray - height) / softness, 0.0f), 1.0f);
            lit[i] = 1.0f - strength * hidden * hidden * (3.0f - 2.0f * hidden);
            next[at] = fmaxf(ray, height);
        }
        __syncthreads();
        float* other = carried;
        carried = next;
        next = other;
    }
}
