// From the motion of a surface to what a camera behind it sees.

struct CameraFrame {
    // The field: cells, their edge (m) and the middle (m).
    int rows, cols;
    double cell, center_x, center_y;
    // The camera: pixels, what one spans (m), how far it is (m; none is zero) and where its axis meets plane (m) and image (pixels).
    int width, height;
    double pixel, distance, axis_x, axis_y, axis_col, axis_row, right;
    // The nodes that the surface is looked up at: cell coordinates of the first, cells from one to the next.
    int first_row, first_col, stride, node_rows, node_cols;
    // What the camera does to the light.
    float exposure, vignetting;
    // Dots on the gel.
    int markers;
    float radius, colour[3];
};

struct Spot {
    double x, y, z;
};

__device__ __forceinline__ Spot operator+(Spot a, Spot b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
__device__ __forceinline__ Spot operator-(Spot a, Spot b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
__device__ __forceinline__ Spot operator*(double s, Spot a) { return {s * a.x, s * a.y, s * a.z}; }

__device__ __forceinline__ Spot moved(const CameraFrame& sight, const double* surface, int row, int col) {
    const int i = row * sight.cols + col, cells = sight.rows * sight.cols;
    return {surface[i], surface[cells + i], 0.0 - surface[2 * cells + i]};
}

// The cell at or before a coordinate, and how far past it, held inside.
__device__ __forceinline__ int split(double coordinate, int count, double& past) {
    const double held = fmin(fmax(coordinate, 0.0), count - 1.0);
    const int cell = min((int)held, max(count - 2, 0));
    past = held - cell;
    return cell;
}

__device__ __forceinline__ int tap(int cell, int i, int count) { return min(max(cell + i - 1, 0), count - 1); }

// Weights of four neighbours (Keys 1981).
__device__ __forceinline__ void cubic(double t, double* weights) {
    const double t2 = t * t, t3 = t * t * t;
    weights[0] = 0.5 * (-t3 + 2.0 * t2 - t);
    weights[1] = 0.5 * (3.0 * t3 - 5.0 * t2 + 2.0);
    weights[2] = 0.5 * (-3.0 * t3 + 4.0 * t2 + t);
    weights[3] = 0.5 * (t3 - t2);
}

__device__ __forceinline__ double plane_x(const CameraFrame& sight, double col) { return sight.center_x + (col - 0.5 * (sight.cols - 1.0)) * sight.cell; }
__device__ __forceinline__ double plane_y(const CameraFrame& sight, double row) { return sight.center_y + (0.5 * (sight.rows - 1.0) - row) * sight.cell; }

// How the surface has moved at a coordinate, by cubic convolution.
__device__ __forceinline__ Spot motion_at(const CameraFrame& sight, const double* surface, double row, double col) {
    double down, right, by_row[4], by_col[4];
    const int r = split(row, sight.rows, down), c = split(col, sight.cols, right);
    cubic(down, by_row);
    cubic(right, by_col);
    Spot sum = {0.0, 0.0, 0.0};
    for (int i = 0; i < 4; i++) {
        Spot line = {0.0, 0.0, 0.0};
        for (int j = 0; j < 4; j++) line = line + by_col[j] * moved(sight, surface, tap(r, i, sight.rows), tap(c, j, sight.cols));
        sum = sum + by_row[i] * line;
    }
    return sum;
}

// The point of the surface that is seen at each node: its height (m), and how far inside the rim it is (cells). `rim` says whether any of
// a press is outside. A row of blocks a press.
extern "C" __global__ void __launch_bounds__(128) find_nodes(CameraFrame sight, const double* surfaces, float* heights, float* margins, int* rim) {
    const int nodes = sight.node_rows * sight.node_cols, i = blockIdx.y * blockDim.x + threadIdx.x;
    if (i >= nodes) return;
    const double* surface = surfaces + 3ll * blockIdx.x * sight.rows * sight.cols;
    const double node_row = sight.first_row + i / sight.node_cols * sight.stride, node_col = sight.first_col + i % sight.node_cols * sight.stride;
    const double target_x = plane_x(sight, node_col), target_y = plane_y(sight, node_row);
    // How far the line of sight moves sideways for a metre of height.
    const double lean_x = sight.distance > 0.0 ? (target_x - sight.axis_x) / sight.distance : 0.0;
    const double lean_y = sight.distance > 0.0 ? (target_y - sight.axis_y) / sight.distance : 0.0;
    double past;
    const Spot here = moved(sight, surface, split(node_row, sight.rows, past), split(node_col, sight.cols, past));
    double row = node_row + (here.y - lean_y * here.z) / sight.cell, col = node_col - (here.x - lean_x * here.z) / sight.cell;
    for (int step = 0; step < 12; step++) {
        double down, right;
        const int r = split(row, sight.rows, down), c = split(col, sight.cols, right);
        const int below = min(r + 1, sight.rows - 1), beside = min(c + 1, sight.cols - 1);
        const Spot a = moved(sight, surface, r, c), b = moved(sight, surface, r, beside), d = moved(sight, surface, below, c),
                   e = moved(sight, surface, below, beside);
        const Spot top = a + right * (b - a), bottom = d + right * (e - d), at = top + down * (bottom - top);
        // Beyond the rim nothing changes any more.
        const double in_rows = row >= 0.0 && row <= sight.rows - 1.0 ? 1.0 : 0.0, in_cols = col >= 0.0 && col <= sight.cols - 1.0 ? 1.0 : 0.0;
        const Spot by_row = in_rows * (bottom - top), by_col = in_cols * ((b - a) + down * ((e - d) - (b - a)));
        const double x = plane_x(sight, col) + at.x - lean_x * at.z - target_x, y = plane_y(sight, row) + at.y - lean_y * at.z - target_y;
        const double row_x = by_row.x - lean_x * by_row.z, row_y = by_row.y - sight.cell - lean_y * by_row.z;
        const double col_x = by_col.x + sight.cell - lean_x * by_col.z, col_y = by_col.y - lean_y * by_col.z;
        const double determinant = row_x * col_y - row_y * col_x;
        if (determinant == 0.0) break;
        const double step_row = (x * col_y - y * col_x) / determinant, step_col = (row_x * y - row_y * x) / determinant;
        // Where the surface folds a step may lead anywhere.
        row -= fmin(fmax(step_row, -2.0), 2.0);
        col -= fmin(fmax(step_col, -2.0), 2.0);
        if (fabs(step_row) + fabs(step_col) < 0.02) break;
    }
    const double margin = fmin(fmin(row + 0.5, sight.rows - 0.5 - row), fmin(col + 0.5, sight.cols - 0.5 - col));
    heights[(long long)blockIdx.x * nodes + i] = (float)motion_at(sight, surface, row, col).z;
    margins[(long long)blockIdx.x * nodes + i] = (float)margin;
    if ((float)margin < 0.0f) atomicOr(&rim[blockIdx.x], 1);
}

__device__ __forceinline__ float second(float before, float at, float after) { return at - (before - 2.0f * at + after) * (1.0f / 6.0f); }

__device__ __forceinline__ float sharp_along(const float* line, int i, int count) {
    return i > 0 && i < count - 1 ? second(line[i - 1], line[i], line[i + 1]) : line[i];
}

// Takes a sixth of the second difference off, along rows and then along columns.
extern "C" __global__ void __launch_bounds__(128) sharpen(CameraFrame sight, const float* heights, float* out) {
    const int nodes = sight.node_rows * sight.node_cols, i = blockIdx.y * blockDim.x + threadIdx.x;
    if (i >= nodes) return;
    const float* own = heights + (long long)blockIdx.x * nodes;
    const int row = i / sight.node_cols, col = i % sight.node_cols;
    const float at = sharp_along(own + row * sight.node_cols, col, sight.node_cols);
    float value = at;
    if (row > 0 && row < sight.node_rows - 1) {
        value = second(sharp_along(own + (row - 1) * sight.node_cols, col, sight.node_cols), at,
                       sharp_along(own + (row + 1) * sight.node_cols, col, sight.node_cols));
    }
    out[(long long)blockIdx.x * nodes + i] = value;
}

// The four nodes, from `first` on, that make a pixel.
struct Tap {
    int first;
    float weights[4];
};

__device__ __forceinline__ float enlarged(const float* nodes, int cols, const Tap& across, const Tap& down) {
    float sum = 0.0f;
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const float* line = nodes + (down.first + i) * cols + across.first;
        const float wide = line[0] * across.weights[0] + line[1] * across.weights[1] + line[2] * across.weights[2] + line[3] * across.weights[3];
        sum += wide * down.weights[i];
    }
    return sum;
}

// Height (m) seen by every pixel. A row of blocks a press.
extern "C" __global__ void __launch_bounds__(256) relief(CameraFrame sight, const float* nodes, const Tap* across, const Tap* down, float* z) {
    const int pixels = sight.width * sight.height, i = blockIdx.y * blockDim.x + threadIdx.x;
    if (i >= pixels) return;
    const float* own = nodes + (long long)blockIdx.x * sight.node_rows * sight.node_cols;
    z[(long long)blockIdx.x * pixels + i] = enlarged(own, sight.node_cols, across[i % sight.width], down[i / sight.width]);
}

// Slopes to the right and down (m/m) at a pixel.
__device__ __forceinline__ void slopes(const CameraFrame& sight, const float* z, int row, int col, float& right, float& down) {
    const int left = max(col - 1, 0), beside = min(col + 1, sight.width - 1), up = max(row - 1, 0), below = min(row + 1, sight.height - 1);
    const float* line = z + row * sight.width;
    right = (line[beside] - line[left]) * (1.0f / (beside - left));
    down = (z[below * sight.width + col] - z[up * sight.width + col]) * (1.0f / (below - up));
    const float per_pixel = (float)(1.0 / sight.pixel);
    float scale = per_pixel;
    if (sight.distance > 0.0) {
        const float distance = (float)sight.distance;
        scale = distance * per_pixel / (distance + line[col] + ((float)-sight.axis_col + col) * right + (float)(row - sight.axis_row) * down);
    }
    right *= scale;
    down *= scale;
}

// Where each marker is in the image: column and row.
extern "C" __global__ void __launch_bounds__(128) track(CameraFrame sight, const double* surfaces, const double* points, float* tracks) {
    const int i = blockIdx.y * blockDim.x + threadIdx.x;
    if (i >= sight.markers) return;
    const double* surface = surfaces + 3ll * blockIdx.x * sight.rows * sight.cols;
    const double x = points[2 * i], y = points[2 * i + 1];
    const double row = 0.5 * (sight.rows - 1.0) - (y - sight.center_y) / sight.cell, col = (x - sight.center_x) / sight.cell + 0.5 * (sight.cols - 1.0);
    const Spot by = motion_at(sight, surface, row, col);
    const double scale = (sight.distance > 0.0 ? sight.distance / (sight.distance + by.z) : 1.0) / sight.pixel;
    float* to = tracks + 2ll * (blockIdx.x * (long long)sight.markers + i);
    to[0] = (float)(sight.axis_col + sight.right * (plane_x(sight, col) + by.x - sight.axis_x) * scale);
    to[1] = (float)(sight.axis_row - (plane_y(sight, row) + by.y - sight.axis_y) * scale);
}

// What all lights have in common after them: what is not gel is dark, dots, exposure, eight bits.
__device__ __forceinline__ void record(const CameraFrame& sight, float* level, int row, int col, const float* margins, bool rim, const Tap* across,
                                       const Tap* down, const float* tracks, unsigned char* out) {
    if (rim && enlarged(margins, sight.node_cols, across[col], down[row]) < 0.0f) level[0] = level[1] = level[2] = 0.0f;
    for (int m = 0; m < sight.markers; m++) {
        const float at_col = tracks[2 * m], at_row = tracks[2 * m + 1], dx = col - at_col, dy = row - at_row;
        if (fabsf(dx) > sight.radius + 1.0f || fabsf(dy) > sight.radius + 1.0f) continue;
        const bool within = at_col >= -sight.radius && at_col < sight.width + sight.radius && at_row >= -sight.radius && at_row < sight.height + sight.radius;
        if (!within) continue;
        const float cover = fminf(fmaxf(sight.radius + 0.5f - sqrtf(dx * dx + dy * dy), 0.0f), 1.0f);
        for (int c = 0; c < 3; c++) level[c] += (sight.colour[c] - level[c]) * cover;
    }
    float factor = sight.exposure;
    if (sight.vignetting != 0.0f) {
        const float x0 = 0.5f * (sight.width - 1.0f), y0 = 0.5f * (sight.height - 1.0f), x = col - x0, y = row - y0;
        factor *= 1.0f - sight.vignetting * (x * x + y * y) * (1.0f / (x0 * x0 + y0 * y0));
    }
    for (int c = 0; c < 3; c++) out[c] = (unsigned char)(int)(fminf(fmaxf(level[c] * factor, 0.0f), 255.0f) + 0.5f);
}

struct Fitted {
    // Degree of the polynomials of the place, and how many monomials of the surface there are.
    int degree, monomials;
    float deepest_mm, least_slope, least_mm;
};

// Light as it was measured. `lines`: for each row, colour and monomial a polynomial of the place along the row. Warps of 32 pixels of a row: where
// all of them are as good as untouched, nothing is added.
template <int DEGREE>
__device__ __forceinline__ void add_fitted(const float* lines, const float* values, int monomials, float x, float* level) {
    for (int c = 0; c < 3; c++) {
        float sums[DEGREE + 1];
#pragma unroll
        for (int p = 0; p <= DEGREE; p++) sums[p] = 0.0f;
        for (int k = 0; k < monomials; k++) {
            const float* line = lines + (c * monomials + k) * (DEGREE + 1);
#pragma unroll
            for (int p = 0; p <= DEGREE; p++) sums[p] += line[p] * values[k * 256];
        }
        float sum = sums[DEGREE];
#pragma unroll
        for (int p = DEGREE - 1; p >= 0; p--) sum = sum * x + sums[p];
        level[c] += sum;
    }
}

extern "C" __global__ void __launch_bounds__(256) shade_fitted(CameraFrame sight, Fitted light, const float* background, const float* lines, const float* places,
                                                               const int* products, const float* z, const float* margins, const int* rim,
                                                               const Tap* across, const Tap* down, const float* tracks, unsigned char* images) {
    extern __shared__ float shared[];
    // A warp is 32 pixels of a row, from a multiple of 32 on.
    const int runs = (sight.width + 31) / 32, run = blockIdx.y * (blockDim.x / 32) + threadIdx.x / 32;
    if (run >= runs * sight.height) return;
    const int row = run / runs, col = run % runs * 32 + threadIdx.x % 32, pixels = sight.width * sight.height, i = row * sight.width + col;
    const bool inside = col < sight.width;
    const float* own = z + (long long)blockIdx.x * pixels;
    float right = 0.0f, downward = 0.0f, pressed = 0.0f;
    if (inside) {
        slopes(sight, own, row, col, right, downward);
        const float scale = 1.0f / sqrtf(1.0f + right * right + downward * downward);
        right *= scale;
        downward *= scale;
        pressed = fminf(-1e3f * own[i], light.deepest_mm);
    }
    const bool small = fabsf(right) < light.least_slope && fabsf(downward) < light.least_slope && fabsf(pressed) < light.least_mm;
    const bool skipped = __all_sync(0xffffffffu, small);
    if (!inside) return;
    float level[3];
    for (int c = 0; c < 3; c++) level[c] = background[c * pixels + i];
    if (!skipped) {
        // The values of this pixel stand 256 apart.
        float* values = shared + threadIdx.x;
        for (int k = 0; k < light.monomials; k++) {
            const int earlier = products[2 * k], factor = products[2 * k + 1];
            const float by = factor == 0 ? right : factor == 1 ? downward : pressed;
            values[k * 256] = earlier < 0 ? by : values[earlier * 256] * by;
        }
        const float x = places[col];
        const float* line = lines + (long long)row * 3 * light.monomials * (light.degree + 1);
        switch (light.degree) {
        case 0: add_fitted<0>(line, values, light.monomials, x, level); break;
        case 1: add_fitted<1>(line, values, light.monomials, x, level); break;
        case 2: add_fitted<2>(line, values, light.monomials, x, level); break;
        case 3: add_fitted<3>(line, values, light.monomials, x, level); break;
        case 4: add_fitted<4>(line, values, light.monomials, x, level); break;
        default: add_fitted<5>(line, values, light.monomials, x, level); break;
        }
    }
    record(sight, level, row, col, margins + (long long)blockIdx.x * sight.node_rows * sight.node_cols, rim[blockIdx.x] != 0, across, down,
           tracks + 2ll * blockIdx.x * sight.markers, images + 3 * ((long long)blockIdx.x * pixels + i));
}

// A distant lamp: where it is (right, up, towards the camera), its colours, and what it gives to a flat gel where that is taken off.
struct Lamp {
    float direction[3], diffuse[3], specular[3], flat[2];
};

// Light by the model of Phong. `lit`: the part of each lamp that reaches each pixel, or nothing without shadows.
extern "C" __global__ void __launch_bounds__(256) shade_lamps(CameraFrame sight, const Lamp* lamps, int count, int shininess, const float* background, const float* lit,
                                                              const float* z, const float* margins, const int* rim, const Tap* across,
                                                              const Tap* down, const float* tracks, unsigned char* images) {
    const int pixels = sight.width * sight.height, i = blockIdx.y * blockDim.x + threadIdx.x;
    if (i >= pixels) return;
    const int row = i / sight.width, col = i % sight.width;
    float right, downward, level[3];
    slopes(sight, z + (long long)blockIdx.x * pixels, row, col, right, downward);
    const float scale = 1.0f / sqrtf(1.0f + right * right + downward * downward), nx = right * scale, ny = -downward * scale, nz = scale;
    for (int c = 0; c < 3; c++) level[c] = background[c * pixels + i];
    for (int k = 0; k < count; k++) {
        const Lamp& lamp = lamps[k];
        float diffuse = fmaxf(lamp.direction[0] * nx + lamp.direction[1] * ny + lamp.direction[2] * nz, 0.0f), specular = 0.0f;
        if (lamp.specular[0] != 0.0f || lamp.specular[1] != 0.0f || lamp.specular[2] != 0.0f) {
            // A face that looks away from the light has no highlight either.
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
    record(sight, level, row, col, margins + (long long)blockIdx.x * sight.node_rows * sight.node_cols, rim[blockIdx.x] != 0, across, down,
           tracks + 2ll * blockIdx.x * sight.markers, images + 3 * ((long long)blockIdx.x * pixels + i));
}

// The part of each lamp that reaches each pixel: the greatest height so far, falling with the ray, is carried away from the lamp, one line of
// pixels to the next. A block for each press and lamp.
extern "C" __global__ void __launch_bounds__(256) shadow(CameraFrame sight, const Lamp* lamps, float strength, float softness, float pixel, const float* z, float* lits) {
    extern __shared__ float shared[];
    const int pixels = sight.width * sight.height;
    const float right = lamps[blockIdx.y].direction[0], up = lamps[blockIdx.y].direction[1], towards = lamps[blockIdx.y].direction[2];
    const float* own = z + (long long)blockIdx.x * pixels;
    float* lit = lits + ((long long)blockIdx.x * gridDim.y + blockIdx.y) * pixels;
    const bool sideways = fabsf(right) >= fabsf(up);
    const float along = sideways ? right : up, aside = sideways ? up : right;
    if (along == 0.0f) {
        for (int i = threadIdx.x; i < pixels; i += blockDim.x) lit[i] = 1.0f;
        return;
    }
    // Lines run across the ray's main direction; `shift` is how far it moves along a line from one to the next.
    const int lines = sideways ? sight.width : sight.height, length = sideways ? sight.height : sight.width;
    const float shift = sideways ? up / fabsf(right) : -right / fabsf(up);
    const float fall = pixel * sqrtf(1.0f + (aside / along) * (aside / along)) * towards / sqrtf(right * right + up * up);
    const bool reversed = (sideways && right > 0.0f) || (!sideways && up < 0.0f);
    float *carried = shared, *next = shared + length;
    for (int at = threadIdx.x; at < length; at += blockDim.x) carried[at] = -__int_as_float(0x7f800000);
    __syncthreads();
    for (int k = 0; k < lines; k++) {
        const int line = reversed ? lines - 1 - k : k;
        for (int at = threadIdx.x; at < length; at += blockDim.x) {
            const int i = sideways ? at * sight.width + line : line * sight.width + at;
            const float from = fminf(fmaxf(at - shift, 0.0f), length - 1.0f);
            const int low = (int)from, high = min(low + 1, length - 1);
            const float part = from - low;
            const float came = (part == 0.0f ? carried[low] : carried[low] * (1.0f - part) + carried[high] * part) - fall, height = -own[i];
            const float hidden = fminf(fmaxf((came - height) / softness, 0.0f), 1.0f);
            lit[i] = 1.0f - strength * hidden * hidden * (3.0f - 2.0f * hidden);
            next[at] = fmaxf(came, height);
        }
        __syncthreads();
        float* other = carried;
        carried = next;
        next = other;
    }
}
