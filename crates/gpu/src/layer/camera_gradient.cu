// Derivatives of a scalar through the images of a camera: the transposes of the kernels of `camera.cu`, in reverse order, from the derivatives by
// the levels of the pixels before rounding to those by the displacement of the surface. As on the CPU (`Optics::vjp`).
// blockIdx.x is the press in every kernel. Sums over pixels that share a cell are in no fixed order, so two runs differ by rounding errors.

// Derivatives by the relief of a press: by the difference of heights to the right and down (1/m per pixel) and by the height (1/m) of each pixel.
struct ByRelief {
    float *right, *down, *z;
    __device__ __forceinline__ ByRelief(float* all, int pixels) : right(all + 3ll * blockIdx.x * pixels), down(right + pixels), z(down + pixels) {}
};

// Derivatives by the light on a pixel from those by its levels: zero outside the gel.
__device__ __forceinline__ void by_light(const CameraView& view, const float* by_image, int row, int col, const float* margins, bool rim, const Tap* across,
                                         const Tap* down, float* by) {
    const bool outside = rim && pixel_value(margins, view.nodes[1], across[col], down[row]) < 0.0f;
    const float factor = outside ? 0.0f : exposure_at(view, row, col);
    for (int c = 0; c < 3; c++) by[c] = factor * by_image[c];
}

// Replaces the derivatives by the levels of a pixel with markers by those without, given the levels without; adds those by column and row of the
// markers.
__device__ __forceinline__ void by_paint(const CameraView& view, const float* level, int row, int col, const float* tracks, float* by, double* by_tracks) {
    for (int m = view.markers - 1; m >= 0; m--) {
        float dx, dy;
        const float cover = covered_part(view, tracks + 2 * m, row, col, dx, dy);
        if (cover <= 0.0f) continue;
        float under[3] = {level[0], level[1], level[2]}, by_cover = 0.0f;
        paint_markers(view, tracks, m, row, col, under);
        for (int c = 0; c < 3; c++) {
            by_cover += by[c] * (view.colour[c] - under[c]);
            by[c] *= 1.0f - cover;
        }
        const float distance = sqrtf(dx * dx + dy * dy);
        if (cover < 1.0f && distance > 0.0f && by_cover != 0.0f) {
            atomicAdd(by_tracks + 2 * m, (double)(by_cover * dx / distance));
            atomicAdd(by_tracks + 2 * m + 1, (double)(by_cover * dy / distance));
        }
    }
}

// Writes the derivatives by the relief at a pixel from those by its slopes. With the differences z_u, z_v of heights, the size p of a pixel and
// s = D/(D + z + U z_u + V z_v), the slopes are (s/p) z_u and (s/p) z_v.
__device__ __forceinline__ void write_by_slopes(const CameraView& view, const float* z, int row, int col, float by_right, float by_down, const ByRelief& to) {
    const int left = max(col - 1, 0), beside = min(col + 1, view.width - 1), up = max(row - 1, 0), below = min(row + 1, view.height - 1);
    const int i = row * view.width + col;
    const float across = beside - left == 2 ? 0.5f : 1.0f, along = below - up == 2 ? 0.5f : 1.0f, per_pixel = (float)view.per_pixel;
    float by_u = by_right * per_pixel, by_v = by_down * per_pixel, by_sum = 0.0f;
    if (view.distance > 0.0) {
        const float z_u = (z[row * view.width + beside] - z[row * view.width + left]) * across, z_v = (z[below * view.width + col] - z[up * view.width + col]) * along;
        const float distance = (float)view.distance, u = (float)(col - view.axis_px[0]), v = (float)(row - view.axis_px[1]);
        const float scale = distance / (distance + z[i] + u * z_u + v * z_v);
        by_sum = -(by_u * z_u + by_v * z_v) * scale * scale / distance;
        by_u = by_u * scale + by_sum * u;
        by_v = by_v * scale + by_sum * v;
    }
    to.right[i] = by_u * across;
    to.down[i] = by_v * along;
    to.z[i] = by_sum;
}

// Σ weights[c] q[c](x) of a line of polynomials.
template <int DEGREE> __device__ __forceinline__ float weighed(const float4* line, const float* weights, float x) {
    float sum = 0.0f;
#pragma unroll
    for (int p = DEGREE; p >= 0; p--) {
        const float4 q = __ldg(line + p);
        sum = sum * x + (weights[0] * q.x + weights[1] * q.y + weights[2] * q.z);
    }
    return sum;
}

// Derivatives by the normal (right, down) and by the hidden part of each lamp, from those by the levels. A change f F + g G of a colour has the
// derivatives f q_k + g r_k by the monomials of the normal and f' F + g' G by the hidden part s; none at a limit of the change or of the level. f = b and
// g = s b, or f = (1 - s) b and g = s I0/128 if shadows replace the light.
template <int DEGREE>
__device__ __forceinline__ void by_normal(const CalibratedLight& light, const float4* lines, const float4* shadow_lines, float right, float down, float x,
                                          int shadowed, const float* hidden, const float* background, const float* by, float& by_right, float& by_down,
                                          float* by_hidden) {
    const LightSums<DEGREE> sums(light, lines, shadow_lines, right, down, shadowed);
    float weights[3], dark_weights[3];
    for (int c = 0; c < 3; c++) {
        const float change = sums.change(light, x, c, hidden, background[c]), level = background[c] + change;
        const bool is_free = change > light.min_change[c] && change < light.max_change[c] && level > fminf(light.min_level[c], background[c]) &&
                             level < fmaxf(light.max_level[c], background[c]);
        const bool replaces = light.shadow_per_background > 0.0f;
        const float by_change = is_free ? by[c] : 0.0f, by_lit = by_change * LightSums<DEGREE>::light_factor(light, background[c]);
        const float by_dark = replaces ? by_change * light.shadow_per_background * background[c] : by_lit;
        weights[c] = replaces ? by_lit * (1.0f - hidden[c]) : by_lit;
        dark_weights[c] = by_dark * hidden[c];
        by_hidden[c] = shadowed > 0 ? by_dark * sums.darker.at(x, c) - (replaces ? by_lit * sums.lit.at(x, c) : 0.0f) : 0.0f;
    }
    by_right = by_down = 0.0f;
    for_each_degree(max(light.lit, shadowed - 1), right, down, [&](int degree, int first, const float*, const float* lower) {
        float by_values[MAX_SURFACE_DEGREE + 1] = {};
        if (first < light.lit) {
#pragma unroll
            for (int k = 0; k <= degree; k++) by_values[k] += weighed<DEGREE>(lines + (first + k) * (DEGREE + 1), weights, x);
        }
        if (first + 1 < shadowed) {
#pragma unroll
            for (int k = 0; k <= degree; k++) by_values[k] += weighed<1>(shadow_lines + 2 * (first + 1 + k), dark_weights, x);
        }
        // The k-th monomial is right^(degree − k) down^k.
#pragma unroll
        for (int k = 0; k < degree; k++) {
            by_right += by_values[k] * (degree - k) * lower[k];
            by_down += by_values[k + 1] * (k + 1) * lower[k];
        }
    });
}

// Adds the derivatives by the horizons of the nodes around a pixel from that by the hidden part of a lamp.
__device__ __forceinline__ void add_by_horizon(const HorizonNodes& nodes, const SideLamp& lamp, const float* horizon, int row, int col, float by_hidden, double* by_horizon) {
    const HorizonTaps at(nodes, row, col);
    const float part = width_below(nodes, lamp, horizon, at);
    const double by = (double)by_hidden * (6.0f * part * (1.0f - part) * lamp.per_width);
    if (by == 0.0) return;
    atomicAdd(by_horizon + at.above * nodes.cols + at.left, by * ((1.0f - at.down) * (1.0f - at.right)));
    atomicAdd(by_horizon + at.above * nodes.cols + at.beside, by * ((1.0f - at.down) * at.right));
    atomicAdd(by_horizon + at.below * nodes.cols + at.left, by * (at.down * (1.0f - at.right)));
    atomicAdd(by_horizon + at.below * nodes.cols + at.beside, by * (at.down * at.right));
}

// Derivatives by the relief, the markers and the horizons through a calibrated light, from those by the levels of the image, (presses, height, width, 3).
// Inputs and threads as in `shade_calibrated`. `by_horizons`: (presses, lamps, nodes), or null.
extern "C" __global__ void __launch_bounds__(256)
    pull_back_calibrated(CameraView view, CalibratedLight light, HorizonNodes nodes, const SideLamp* lamps, const float* horizons, const float* background,
                         const float4* lines, const float4* shadow_lines, const float* positions, const float* z, const float* margins, const int* rim,
                         const Tap* across, const Tap* down, const float* tracks, const float* by_images, float* by_reliefs, double* by_tracks,
                         double* by_horizons) {
    const int row = blockIdx.y * (blockDim.x / 32) + threadIdx.x / 32, first = blockIdx.z * 32, col = first + threadIdx.x % 32;
    if (row >= view.height) return;
    const int pixels = view.width * view.height, i = row * view.width + col, count = nodes.rows * nodes.cols;
    const bool inside = col < view.width;
    const float *own = z + (long long)blockIdx.x * pixels, *own_horizons = horizons + 3ll * blockIdx.x * count;
    const ByRelief to(by_reliefs, pixels);
    float right = 0.0f, downward = 0.0f, hidden[3] = {0.0f, 0.0f, 0.0f}, scale = 1.0f, grows = 1.0f;
    const bool shadow = horizons && any_shadow(nodes, lamps, own_horizons, row, first);
    if (inside) {
        slopes(view, own, row, col, right, downward);
        const float squared = right * right + downward * downward, steep = squared * light.per_normal_squared;
        scale = rsqrtf(fmaxf(1.0f + squared, steep));
        grows = steep > 1.0f + squared ? light.per_normal_squared : 1.0f;
        right *= scale;
        downward *= scale;
        for (int c = 0; c < 3 && shadow; c++) hidden[c] = hidden_part(nodes, lamps[c], own_horizons + c * count, row, col);
    }
    const bool lit = fmaxf(hidden[0], fmaxf(hidden[1], hidden[2])) < light.min_hidden;
    const bool skipped = __all_sync(0xffffffffu, fabsf(right) < light.min_slope && fabsf(downward) < light.min_slope && lit);
    if (!inside) return;
    float by[3], levels[3], by_right = 0.0f, by_down = 0.0f;
    for (int c = 0; c < 3; c++) levels[c] = background[c * pixels + i];
    by_light(view, by_images + 3 * ((long long)blockIdx.x * pixels + i), row, col, margins + (long long)blockIdx.x * view.nodes[0] * view.nodes[1],
             rim[blockIdx.x] != 0, across, down, by);
    if (by[0] != 0.0f || by[1] != 0.0f || by[2] != 0.0f) {
        const float4 *line = lines + (long long)row * light.lit * (light.degree + 1), *shadow_line = shadow_lines + (long long)row * 2 * light.shadowed;
        const float x = positions[col];
        if (view.markers > 0) {
            float painted[3] = {levels[0], levels[1], levels[2]};
            if (!skipped) WITH_DEGREE(light.degree, add_light<DEGREE>(light, line, shadow_line, right, downward, x, shadow, hidden, painted);)
            by_paint(view, painted, row, col, tracks + 2ll * blockIdx.x * view.markers, by, by_tracks + 2ll * blockIdx.x * view.markers);
        }
        float by_hidden[3] = {0.0f, 0.0f, 0.0f};
        if (!skipped) {
            WITH_DEGREE(light.degree, by_normal<DEGREE>(light, line, shadow_line, right, downward, x, shadow ? light.shadowed : 0, hidden, levels, by,
                                                        by_right, by_down, by_hidden);)
        }
        for (int c = 0; c < 3 && shadow; c++) {
            const long long place = (3ll * blockIdx.x + c) * count;
            add_by_horizon(nodes, lamps[c], horizons + place, row, col, by_hidden[c], by_horizons + place);
        }
        // The normal is n = σ s with σ = 1/√max(1 + s², s²/steepest²): dn = σ ds − n σ² (s·ds) `grows`, and right, downward are n.
        const float along = (by_right * right + by_down * downward) * scale * grows;
        by_right = by_right * scale - right * along;
        by_down = by_down * scale - downward * along;
    }
    write_by_slopes(view, own, row, col, by_right, by_down, to);
}

// Adds to the derivatives by the heights of the pixels those through the horizons: a horizon (h(x + t l) − h(x)) / t follows the point x + t l that it
// has now. One node and lamp per thread; blockIdx.y: 128 nodes of all lamps.
extern "C" __global__ void __launch_bounds__(128)
    pull_back_horizons(CameraView view, HorizonNodes nodes, const SideLamp* lamps, const SightPoint* points, int count, const float* heights,
                       const double* by_horizons, float* by_reliefs) {
    const int all = nodes.rows * nodes.cols, i = blockIdx.y * blockDim.x + threadIdx.x;
    if (i >= 3 * all) return;
    const double by = by_horizons[3ll * blockIdx.x * all + i];
    if (by == 0.0) return;
    const int node = i % all, row = node / nodes.cols, col = node % nodes.cols;
    const SightLine line(view, nodes, lamps[i / all], row, col);
    const float *height = heights + (long long)blockIdx.x * all, own = height[node];
    float tangent = lamps[i / all].lower;
    int found = -1;
    for (int k = 0; k < count; k++) {
        const float there = height_at(nodes, height, line.at_x(nodes, points[k].nodes), line.at_y(nodes, points[k].nodes));
        if ((there - own) * points[k].per_distance > tangent) {
            tangent = (there - own) * points[k].per_distance;
            found = k;
        }
    }
    if (found < 0) return;
    const ByRelief to(by_reliefs, view.width * view.height);
    const auto add = [&](int r, int c, float by_z) {
        atomicAdd(to.z + min(r * nodes.stride, view.height - 1) * view.width + min(c * nodes.stride, view.width - 1), by_z);
    };
    // A height towards the camera is −z.
    const float by_height = (float)(by * points[found].per_distance), x = line.at_x(nodes, points[found].nodes), y = line.at_y(nodes, points[found].nodes);
    const int left = node_before(x, nodes.cols), above = node_before(y, nodes.rows), beside = node_after(left, nodes.cols), below = node_after(above, nodes.rows);
    add(row, col, by_height);
    add(above, left, -by_height * (1.0f - (x - left)) * (1.0f - (y - above)));
    add(above, beside, -by_height * (x - left) * (1.0f - (y - above)));
    add(below, left, -by_height * (1.0f - (x - left)) * (y - above));
    add(below, beside, -by_height * (x - left) * (y - above));
}

// Derivatives by the relief and the markers through Phong light without shadows. Inputs and threads as in `shade_phong`.
extern "C" __global__ void __launch_bounds__(256)
    pull_back_phong(CameraView view, const Lamp* lamps, int count, int shininess, const float* background, const float* z, const float* margins, const int* rim,
                    const Tap* across, const Tap* down, const float* tracks, const float* by_images, float* by_reliefs, double* by_tracks) {
    const int pixels = view.width * view.height, i = blockIdx.y * blockDim.x + threadIdx.x;
    if (i >= pixels) return;
    const int row = i / view.width, col = i % view.width;
    const float* own = z + (long long)blockIdx.x * pixels;
    float right, downward, by[3], by_right = 0.0f, by_down = 0.0f;
    slopes(view, own, row, col, right, downward);
    by_light(view, by_images + 3 * ((long long)blockIdx.x * pixels + i), row, col, margins + (long long)blockIdx.x * view.nodes[0] * view.nodes[1],
             rim[blockIdx.x] != 0, across, down, by);
    const Normal normal(right, downward);
    if (view.markers > 0) {
        float level[3];
        for (int c = 0; c < 3; c++) level[c] = background[c * pixels + i];
        for (int k = 0; k < count; k++) add_lamp(lamps[k], shininess, normal, 1.0f, level);
        by_paint(view, level, row, col, tracks + 2ll * blockIdx.x * view.markers, by, by_tracks + 2ll * blockIdx.x * view.markers);
    }
    for (int k = 0; k < count; k++) {
        const Lamp& lamp = lamps[k];
        const float lit = normal.along(lamp.direction);
        if (!(lit > 0.0f)) continue;
        const float mirrored = fmaxf(2.0f * lit * normal.z - lamp.direction[2], 0.0f);
        float by_lit = 0.0f, by_mirrored = 0.0f;
        for (int c = 0; c < 3; c++) {
            by_lit += by[c] * lamp.diffuse[c];
            by_mirrored += by[c] * lamp.specular[c];
        }
        by_mirrored *= mirrored > 0.0f && shininess > 0 ? shininess * power(mirrored, shininess - 1) : 0.0f;
        by_lit += 2.0f * normal.z * by_mirrored;
        const float by_x = lamp.direction[0] * by_lit, by_y = lamp.direction[1] * by_lit, by_z = lamp.direction[2] * by_lit + 2.0f * lit * by_mirrored;
        const float along = (by_x * normal.x + by_y * normal.y + by_z * normal.z) * normal.z;
        by_right += normal.z * by_x - normal.x * along;
        by_down += normal.y * along - normal.z * by_y;
    }
    write_by_slopes(view, own, row, col, by_right, by_down, ByRelief(by_reliefs, pixels));
}

// Derivative by the height of a pixel from those by the differences of its neighbours.
__device__ __forceinline__ float by_height_of(const CameraView& view, const ByRelief& by, int row, int col) {
    const int i = row * view.width + col, last_col = view.width - 1, last_row = view.height - 1;
    return by.z[i] + (col > 0 ? by.right[i - 1] : -by.right[i]) - (col < last_col ? by.right[i + 1] : -by.right[i]) +
           (row > 0 ? by.down[i - view.width] : -by.down[i]) - (row < last_row ? by.down[i + view.width] : -by.down[i]);
}

// Derivative by the height of every pixel, for a camera that smooths. blockIdx.y: 256 pixels, one per thread.
extern "C" __global__ void __launch_bounds__(256) collect_by_heights(CameraView view, float* by_reliefs, float* by_heights) {
    const int pixels = view.width * view.height, i = blockIdx.y * blockDim.x + threadIdx.x;
    if (i >= pixels) return;
    by_heights[(long long)blockIdx.x * pixels + i] = by_height_of(view, ByRelief(by_reliefs, pixels), i / view.width, i % view.width);
}

// Weight of a node in a pixel.
__device__ __forceinline__ double weight_of(const Tap& tap, int node) { return tap.weights[node - tap.first]; }

// Derivatives by the sharpened heights of the nodes, Σ weight · derivative by the height of each pixel: first along columns, then along rows.
// `across_pixels`, `down_pixels`: first and number of the pixels of each node; `by_heights`: derivatives by the heights, or null for those of the relief.
// blockIdx.y: row of nodes; one column of pixels, then one node per thread. Shared memory: one line of pixels.
extern "C" __global__ void __launch_bounds__(256) pull_back_pixels(CameraView view, const Tap* across, const Tap* down, const int2* across_pixels,
                                                                   const int2* down_pixels, float* by_reliefs, const float* by_heights, double* by_nodes) {
    extern __shared__ double line[];
    const ByRelief by(by_reliefs, view.width * view.height);
    const float* by_height = by_heights + (long long)blockIdx.x * view.width * view.height;
    const int node_row = blockIdx.y, cols = view.nodes[1];
    const int2 rows = down_pixels[node_row];
    for (int col = threadIdx.x; col < view.width; col += blockDim.x) {
        double sum = 0.0;
        for (int row = rows.x; row < rows.x + rows.y; row++) {
            sum += weight_of(down[row], node_row) * (by_heights ? by_height[row * view.width + col] : by_height_of(view, by, row, col));
        }
        line[col] = sum;
    }
    __syncthreads();
    for (int node = threadIdx.x; node < cols; node += blockDim.x) {
        const int2 pixels = across_pixels[node];
        double sum = 0.0;
        for (int col = pixels.x; col < pixels.x + pixels.y; col++) sum += weight_of(across[col], node) * line[col];
        by_nodes[((long long)blockIdx.x * view.nodes[0] + node_row) * cols + node] = sum;
    }
}

// The transpose of `sharpened_at` at a node of a line with `count` values.
template <class At> __device__ __forceinline__ double unsharpened(int i, int count, At at) {
    const auto inner = [&](int k) { return k >= 1 && k < count - 1 ? at(k) : 0.0; };
    return at(i) + inner(i) / 3.0 - (inner(i - 1) + inner(i + 1)) / 6.0;
}

// Derivatives of the weights of `cubic_weights`.
__device__ __forceinline__ void cubic_slopes(double t, double* slopes) {
    const double t2 = t * t;
    slopes[0] = 0.5 * (-3.0 * t2 + 4.0 * t - 1.0);
    slopes[1] = 0.5 * (9.0 * t2 - 10.0 * t);
    slopes[2] = 0.5 * (-9.0 * t2 + 8.0 * t + 1.0);
    slopes[3] = 0.5 * (3.0 * t2 - 2.0 * t);
}

// Adds to the derivatives by a cell of the surface (along x, y and down) those by its displacement.
__device__ __forceinline__ void add_by_cell(const CameraView& view, double* by_surface, int cell, Vec3 by) {
    const int cells = view.rows * view.cols;
    if (by.x != 0.0) atomicAdd(by_surface + cell, by.x);
    if (by.y != 0.0) atomicAdd(by_surface + cells + cell, by.y);
    if (by.z != 0.0) atomicAdd(by_surface + 2 * cells + cell, -by.z);
}

// Adds the derivatives by the surface (1/m; along x, y and down) from those by the sharpened heights of the nodes. The point where a line of sight
// meets the surface moves with the surface. blockIdx.y: 128 nodes, one per thread.
extern "C" __global__ void __launch_bounds__(128) pull_back_nodes(CameraView view, const double* surfaces, const double* by_nodes, double* by_surfaces) {
    const int rows = view.nodes[0], cols = view.nodes[1], nodes = rows * cols, i = blockIdx.y * blockDim.x + threadIdx.x;
    if (i >= nodes) return;
    const double* by_sharp = by_nodes + (long long)blockIdx.x * nodes;
    const double by_height = unsharpened(i % cols, cols, [&](int col) {
        return unsharpened(i / cols, rows, [&](int row) { return by_sharp[row * cols + col]; });
    });
    if (by_height == 0.0) return;
    const double* surface = surfaces + 3ll * blockIdx.x * view.rows * view.cols;
    double* by_surface = by_surfaces + 3ll * blockIdx.x * view.rows * view.cols;
    const SeenPoint seen = seen_at(view, surface, i);
    double down, right, by_row[4], by_col[4], slope_row[4], slope_col[4];
    const int r = split(seen.row, view.rows, down), c = split(seen.col, view.cols, right);
    cubic_weights(down, by_row);
    cubic_weights(right, by_col);
    cubic_slopes(down, slope_row);
    cubic_slopes(right, slope_col);
    double rise_down = 0.0, rise_right = 0.0;
    for (int k = 0; k < 16; k++) {
        const int row = neighbour(r, k / 4, view.rows), col = neighbour(c, k % 4, view.cols);
        add_by_cell(view, by_surface, row * view.cols + col, {0.0, 0.0, by_row[k / 4] * by_col[k % 4] * by_height});
        const double height = displacement(view, surface, row, col).z;
        rise_down += slope_row[k / 4] * by_col[k % 4] * height;
        rise_right += by_row[k / 4] * slope_col[k % 4] * height;
    }
    // The surface is constant beyond the rim.
    if (seen.row < 0.0 || seen.row > view.rows - 1.0) rise_down = 0.0;
    if (seen.col < 0.0 || seen.col > view.cols - 1.0) rise_right = 0.0;
    const Missed by(view, seen, patch_at(view, surface, seen.row, seen.col));
    const double determinant = by.determinant();
    if (determinant == 0.0) return;
    const double by_x = -by_height * (rise_down * by.col_y - rise_right * by.row_y) / determinant;
    const double by_y = -by_height * (rise_right * by.row_x - rise_down * by.col_x) / determinant;
    const Vec3 by_point = {by_x, by_y, -by_x * seen.lean_x - by_y * seen.lean_y};
    for (int k = 0; k < 4; k++) {
        const int row = min(r + k / 2, view.rows - 1), col = min(c + k % 2, view.cols - 1);
        add_by_cell(view, by_surface, row * view.cols + col, ((k / 2 ? down : 1.0 - down) * (k % 2 ? right : 1.0 - right)) * by_point);
    }
}

// Adds the derivatives by the surface from those by column and row of each marker: `by_tracks` through the image, and `by_markers`, which may be null.
// blockIdx.y: 128 markers, one per thread.
extern "C" __global__ void __launch_bounds__(128) pull_back_markers(CameraView view, const double* surfaces, const double* points, const double* by_tracks,
                                                                    const double* by_markers, double* by_surfaces) {
    const int i = blockIdx.y * blockDim.x + threadIdx.x;
    if (i >= view.markers) return;
    const double* surface = surfaces + 3ll * blockIdx.x * view.rows * view.cols;
    const long long place = 2 * (blockIdx.x * (long long)view.markers + i);
    const double by_column = by_tracks[place] + (by_markers ? by_markers[place] : 0.0), by_line = by_tracks[place + 1] + (by_markers ? by_markers[place + 1] : 0.0);
    if (by_column == 0.0 && by_line == 0.0) return;
    const double row = 0.5 * (view.rows - 1.0) - (points[2 * i + 1] - view.center[1]) / view.cell;
    const double col = (points[2 * i] - view.center[0]) / view.cell + 0.5 * (view.cols - 1.0);
    const Vec3 moved = displacement_at(view, surface, row, col);
    const double away = view.distance > 0.0 ? view.distance + moved.z : 1.0, scale = (view.distance > 0.0 ? view.distance / away : 1.0) / view.pixel;
    const double x = plane_x(view, col) + moved.x - view.axis[0], y = plane_y(view, row) + moved.y - view.axis[1];
    const double by_z = view.distance > 0.0 ? (by_line * y - by_column * view.right * x) * scale / away : 0.0;
    const Vec3 by_point = {by_column * view.right * scale, -by_line * scale, by_z};
    double down, right, by_row[4], by_col[4];
    const int r = split(row, view.rows, down), c = split(col, view.cols, right);
    cubic_weights(down, by_row);
    cubic_weights(right, by_col);
    for (int k = 0; k < 16; k++) {
        add_by_cell(view, by_surfaces + 3ll * blockIdx.x * view.rows * view.cols, neighbour(r, k / 4, view.rows) * view.cols + neighbour(c, k % 4, view.cols),
                    (by_row[k / 4] * by_col[k % 4]) * by_point);
    }
}
