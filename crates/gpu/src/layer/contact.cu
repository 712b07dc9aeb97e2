// Tractions that keep an elastic surface out of an object, with friction. One block a press; what the CPU does for it, in
// the same order, is described where it does: complementarity, partial slip, solution.

// The fields of a region, one after the other.
enum Part { DEPTH, BENT, PRESSURE, SHEAR_X, SHEAR_Y, A, B, C, D, E, F, G, H, I, PARTS };
// Spectra, in the order they are given.
enum Pair { SINK, XX, YY, XY, X_PRESSURE, Y_PRESSURE, BELOW_PRESSURE, BELOW_XX, BELOW_YY, BELOW_XY, BELOW_X_PRESSURE, BELOW_Y_PRESSURE,
            BELOW_PRESSURE_X, BELOW_PRESSURE_Y };

constexpr int THREADS = 256;
constexpr int MAX_ITERATIONS = 400, MAX_SLIPS = 600, MAX_TURNS = 12, MAX_GROWTHS = 16, LATELY = 10;

// Sums and the like over a block, in an order that is always the same; every thread gets them.
template <int N> __device__ __forceinline__ void add_up(double (&values)[N], double* shared) {
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

__device__ __forceinline__ double largest_of(double value, double* shared) {
    for (int d = 16; d > 0; d /= 2) value = fmax(value, __shfl_down_sync(0xffffffffu, value, d));
    __syncthreads();
    if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
    __syncthreads();
    value = shared[0];
    for (int w = 1; w < THREADS / 32; w++) value = fmax(value, shared[w]);
    return value;
}

// What a block works with.
struct Bench {
    int rows, cols, count;
    // Cells from one part to the next.
    int stride;
    double* parts;
    const Real* spectra;
    const Real* inverse;
    // Where −k is, for each k.
    const int* opposite;
    Plan plan, half;
    const Complex* roots;
    const Complex* half_roots;
    Complex* plane;
    bool near;
    Complex* tile;
    int width;
    double* shared;

    __device__ __forceinline__ double* part(int which) const { return parts + (long long)which * stride; }
    __device__ __forceinline__ int pitch(const Plan& of) const { return near ? of.size + 1 : of.size; }
    __device__ __forceinline__ Plane whole(int pitch) const { return {plane, pitch, near, tile, width}; }
};

#define EACH(i, count) _Pragma("unroll 4") for (int i = threadIdx.x; i < (count); i += THREADS)

__device__ __forceinline__ void put(const Bench& bench, int pitch, const double* x, const double* y) {
    const Divisor by(bench.cols);
    __syncthreads();
    EACH(i, bench.count) {
        int col;
        const int row = by(i, col);
        bench.plane[row * pitch + col] = {(Real)x[i], (Real)(y ? y[i] : 0.0)};
    }
}

__device__ __forceinline__ void take(const Bench& bench, int pitch, double* x, double* y) {
    const Divisor by(bench.cols);
    EACH(i, bench.count) {
        int col;
        const int row = by(i, col);
        const Complex value = bench.plane[row * pitch + col];
        x[i] = value.x;
        if (y) y[i] = value.y;
    }
}

// A product with a real spectrum, of a real field.
__device__ __noinline__ void convolve(const Bench& bench, const Plan* plan, const Complex* roots, const Real* spectrum, const double* in,
                                      double* out) {
    const int pitch = bench.pitch(*plan), size = plan->size;
    put(bench, pitch, in, nullptr);
    const Plane plane = bench.whole(pitch);
    spectrum_of(plane, roots, plan, 0, bench.rows, 0, bench.cols);
    const Divisor by(size);
    EACH(i, size * size) {
        int col;
        const int row = by(i, col);
        Complex* at = bench.plane + row * pitch + col;
        *at = spectrum[i] * *at;
    }
    field_of(plane, roots, plan, bench.rows);
    take(bench, pitch, out, nullptr);
}

__device__ __forceinline__ void sink(const Bench& bench, const double* pressure, double* out) {
    convolve(bench, &bench.plan, bench.roots, bench.spectra + (long long)SINK * bench.plan.size * bench.plan.size, pressure, out);
}

__device__ __forceinline__ void precondition(const Bench& bench, const double* residual, double* out) {
    convolve(bench, &bench.half, bench.half_roots, bench.inverse, residual, out);
}

// What a spectrum of x + iy is made of at k and −k: those of x and y, at k.
__device__ __forceinline__ void part_ways(Complex at, Complex opposite, Complex& x, Complex& y) {
    x = (Real)0.5 * (at + conj(opposite));
    y = turned((Real)-0.5 * (at - conj(opposite)));
}

// Products with shear along x and y at once, as one complex field z = x + iy. `slides`: how far it carries the surface along x and y,
// (xx + yy)/2 z + ((xx − yy)/2 + i xy) z̄; otherwise how far it sinks it, into `out_x`.
__device__ __noinline__ void shear(const Bench& bench, bool slides, const double* x, const double* y, double* out_x, double* out_y) {
    const int pitch = bench.pitch(bench.plan), size = bench.plan.size;
    const long long all = (long long)size * size;
    const Real *xx = bench.spectra + XX * all, *yy = bench.spectra + YY * all, *xy = bench.spectra + XY * all;
    const Real *to_x = bench.spectra + X_PRESSURE * all, *to_y = bench.spectra + Y_PRESSURE * all;
    put(bench, pitch, x, y);
    const Plane plane = bench.whole(pitch);
    spectrum_of(plane, bench.roots, &bench.plan, 0, bench.rows, 0, bench.cols);
    const Divisor by(size);
    EACH(i, size * size) {
        int col;
        const int row = by(i, col);
        const int other_row = bench.opposite[row], other_col = bench.opposite[col], other = other_row * size + other_col;
        if (other < i) continue;
        Complex *at = bench.plane + row * pitch + col, *opposite = bench.plane + other_row * pitch + other_col;
        const Complex here = *at, there = *opposite;
        if (slides) {
            const Real mean = (Real)0.5 * (xx[i] + yy[i]);
            const Complex lean = {(Real)0.5 * (xx[i] - yy[i]), xy[i]};
            *at = mean * here + lean * conj(there);
            *opposite = mean * there + lean * conj(here);
        } else {
            Complex along_x, along_y;
            part_ways(here, there, along_x, along_y);
            const Complex sunk = turned(-to_x[i] * along_x + -to_y[i] * along_y);
            *at = sunk;
            *opposite = conj(sunk);
        }
    }
    field_of(plane, bench.roots, &bench.plan, bench.rows);
    take(bench, pitch, out_x, out_y);
}

// How far pressure moves the surface sideways.
__device__ __noinline__ void drag(const Bench& bench, const double* pressure, double* out_x, double* out_y) {
    const int pitch = bench.pitch(bench.plan), size = bench.plan.size;
    const long long all = (long long)size * size;
    const Real *to_x = bench.spectra + X_PRESSURE * all, *to_y = bench.spectra + Y_PRESSURE * all;
    put(bench, pitch, pressure, nullptr);
    const Plane plane = bench.whole(pitch);
    spectrum_of(plane, bench.roots, &bench.plan, 0, bench.rows, 0, bench.cols);
    const Divisor by(size);
    EACH(i, size * size) {
        int col;
        const int row = by(i, col);
        Complex* at = bench.plane + row * pitch + col;
        *at = Complex{-to_y[i], to_x[i]} * *at;
    }
    field_of(plane, bench.roots, &bench.plan, bench.rows);
    take(bench, pitch, out_x, out_y);
}

// Pressure that leaves no cell overlapping and no gap under pressure by more than `tolerance`. Returns iterations.
__device__ __noinline__ int press_out(const Bench& bench, const double* __restrict__ depth, double tolerance) {
    double *__restrict__ p = bench.part(PRESSURE), *__restrict__ gap = bench.part(A), *__restrict__ on = bench.part(B);
    double *__restrict__ direction = bench.part(C), *__restrict__ response = bench.part(D), *__restrict__ residual = bench.part(E);
    double *__restrict__ last = bench.part(F), *__restrict__ steepest = bench.part(G);
    double most = 0.0;
    EACH(i, bench.count) {
        p[i] = fmax(p[i], 0.0);
        most = fmax(most, p[i]);
    }
    if (largest_of(most, bench.shared) > 0.0) {
        sink(bench, p, gap);
        double sums[2] = {0.0, 0.0};
        EACH(i, bench.count) {
            sums[0] += depth[i] * p[i];
            sums[1] += gap[i] * p[i];
        }
        add_up(sums, bench.shared);
        const double factor = sums[0] > 0.0 && sums[1] > 0.0 ? sums[0] / sums[1] : 1.0;
        EACH(i, bench.count) {
            p[i] *= factor;
            gap[i] = factor * gap[i] - depth[i];
        }
    } else {
        EACH(i, bench.count) gap[i] = -depth[i];
    }
    EACH(i, bench.count) {
        on[i] = p[i] > 0.0 || gap[i] < 0.0 ? 1.0 : 0.0;
        direction[i] = 0.0;
    }
    double last_product = 0.0;
    bool anew = true;
    int iterations = 0;
    while (iterations < MAX_ITERATIONS) {
        double worst = 0.0;
        EACH(i, bench.count) {
            residual[i] = on[i] * gap[i];
            worst = fmax(worst, fabs(residual[i]));
        }
        if (largest_of(worst, bench.shared) <= tolerance) break;
        iterations++;
        precondition(bench, residual, steepest);
        double sums[2] = {0.0, 0.0};
        EACH(i, bench.count) {
            steepest[i] *= on[i];
            sums[0] += residual[i] * steepest[i];
            if (!anew) sums[1] += last[i] * steepest[i];
        }
        add_up(sums, bench.shared);
        const double product = sums[0], beta = anew ? 0.0 : fmax((product - sums[1]) / last_product, 0.0);
        EACH(i, bench.count) direction[i] = beta * on[i] * direction[i] - steepest[i];
        sink(bench, direction, response);
        double along[2] = {0.0, 0.0};
        EACH(i, bench.count) {
            along[0] += gap[i] * direction[i];
            along[1] += direction[i] * response[i];
        }
        add_up(along, bench.shared);
        if (!(along[1] > 0.0 && along[0] < 0.0)) {
            // Rounding has taken over; from the steepest direction there is nothing left to gain.
            if (anew) break;
            anew = true;
            continue;
        }
        const double step = -along[0] / along[1];
        int clipped = 0;
        EACH(i, bench.count) {
            const double next = p[i] + step * direction[i];
            clipped |= next < 0.0;
            p[i] = fmax(next, 0.0);
            gap[i] += step * response[i];
        }
        clipped = __syncthreads_or(clipped);
        if (clipped) {
            sink(bench, p, gap);
            EACH(i, bench.count) gap[i] -= depth[i];
        }
        int changed = 0;
        EACH(i, bench.count) {
            const double now = p[i] > 0.0 || gap[i] < 0.0 ? 1.0 : 0.0;
            changed |= now != on[i];
            on[i] = now;
            last[i] = residual[i];
        }
        anew = __syncthreads_or(changed) || clipped;
        last_product = product;
    }
    return iterations;
}

__device__ __forceinline__ void hold(double& x, double& y, double bound) {
    const double size = sqrt(x * x + y * y);
    if (size > bound) {
        x = x * bound / size;
        y = y * bound / size;
    }
}

// Shear that brings the surface to where it is wanted as far as friction allows. Returns iterations.
__device__ __noinline__ int stick(const Bench& bench, double mu, const double* __restrict__ wanted_x,
                                  const double* __restrict__ wanted_y, double tolerance) {
    const double* __restrict__ p = bench.part(PRESSURE);
    double *__restrict__ x = bench.part(SHEAR_X), *__restrict__ y = bench.part(SHEAR_Y);
    double *__restrict__ lag_x = bench.part(C), *__restrict__ lag_y = bench.part(D);
    double *__restrict__ step_x = bench.part(E), *__restrict__ step_y = bench.part(F);
    double *__restrict__ response_x = bench.part(G), *__restrict__ response_y = bench.part(H);
    double most = 0.0;
    EACH(i, bench.count) {
        hold(x[i], y[i], mu * p[i]);
        most = fmax(most, fmax(fabs(x[i]), fabs(y[i])));
    }
    if (largest_of(most, bench.shared) > 0.0) {
        shear(bench, true, x, y, lag_x, lag_y);
    } else {
        EACH(i, bench.count) lag_x[i] = lag_y[i] = 0.0;
    }
    double stride = 0.0, lately[LATELY];
    for (int k = 0; k < LATELY; k++) lately[k] = -nothing();
    for (int iterations = 0;; iterations++) {
        double worst = 0.0;
        EACH(i, bench.count) {
            const double bound = mu * p[i];
            if (!(bound > 0.0)) continue;
            const double ex = wanted_x[i] - lag_x[i], ey = wanted_y[i] - lag_y[i], size = sqrt(x[i] * x[i] + y[i] * y[i]);
            const double along = size > 0.0 ? (ex * x[i] + ey * y[i]) / size : 0.0;
            const bool slips = size >= (1.0 - 1e-9) * bound && along >= 0.0;
            worst = fmax(worst, slips ? fabs(ex * y[i] - ey * x[i]) / size : sqrt(ex * ex + ey * ey));
        }
        if (largest_of(worst, bench.shared) <= tolerance || iterations >= MAX_SLIPS) return iterations;
        if (iterations == 0) {
            // What the steepest descent would go.
            EACH(i, bench.count) {
                const bool pressed = mu * p[i] > 0.0;
                step_x[i] = pressed ? wanted_x[i] - lag_x[i] : 0.0;
                step_y[i] = pressed ? wanted_y[i] - lag_y[i] : 0.0;
            }
            shear(bench, true, step_x, step_y, response_x, response_y);
            double sums[2] = {0.0, 0.0};
            EACH(i, bench.count) {
                sums[0] += step_x[i] * step_x[i] + step_y[i] * step_y[i];
                sums[1] += step_x[i] * response_x[i] + step_y[i] * response_y[i];
            }
            add_up(sums, bench.shared);
            stride = sums[0] / fmax(sums[1], 2.2250738585072014e-308);
        }
        double sums[2] = {0.0, 0.0};
        EACH(i, bench.count) {
            const double pull_x = wanted_x[i] - lag_x[i], pull_y = wanted_y[i] - lag_y[i];
            double to_x = x[i] + stride * pull_x, to_y = y[i] + stride * pull_y;
            hold(to_x, to_y, mu * p[i]);
            step_x[i] = to_x - x[i];
            step_y[i] = to_y - y[i];
            sums[0] += 0.5 * (x[i] * lag_x[i] + y[i] * lag_y[i]) - x[i] * wanted_x[i] - y[i] * wanted_y[i];
            sums[1] += step_x[i] * pull_x + step_y[i] * pull_y;
        }
        add_up(sums, bench.shared);
        const double energy = sums[0], slope = sums[1];
        double highest = -nothing();
        for (int k = 0; k < LATELY; k++) {
            if (k == iterations % LATELY) lately[k] = energy;
            highest = fmax(highest, lately[k]);
        }
        shear(bench, true, step_x, step_y, response_x, response_y);
        double dots[3] = {0.0, 0.0, 0.0};
        EACH(i, bench.count) {
            dots[0] += step_x[i] * step_x[i] + step_y[i] * step_y[i];
            dots[1] += step_x[i] * response_x[i] + step_y[i] * response_y[i];
            dots[2] += response_x[i] * response_x[i] + response_y[i] * response_y[i];
        }
        add_up(dots, bench.shared);
        if (!(dots[1] > 0.0 && slope > 0.0)) return iterations;
        const bool whole = energy - slope + 0.5 * dots[1] <= highest - 1e-4 * slope;
        const double part = whole ? 1.0 : fmin(slope / dots[1], 1.0);
        EACH(i, bench.count) {
            x[i] += part * step_x[i];
            y[i] += part * step_y[i];
            lag_x[i] += part * response_x[i];
            lag_y[i] += part * response_y[i];
        }
        // The two strides of Barzilai and Borwein in turn: the long one is fast, the short one calms.
        stride = (iterations + 1) % 2 == 0 ? dots[0] / dots[1] : dots[1] / dots[2];
    }
}

// Pressure and shear, which bend each other, in turn. Returns iterations.
__device__ int settle(const Bench& bench, double mu, double tolerance, double tolerance_m) {
    const double* depth = bench.part(DEPTH);
    double *p = bench.part(PRESSURE), *x = bench.part(SHEAR_X), *y = bench.part(SHEAR_Y), *bent = bench.part(BENT);
    double *wanted_x = bench.part(A), *wanted_y = bench.part(B), *before = bench.part(I);
    int iterations = press_out(bench, depth, tolerance_m);
    if (mu == 0.0) {
        EACH(i, bench.count) x[i] = y[i] = 0.0;
        return iterations;
    }
    for (int turn = 0; turn < MAX_TURNS; turn++) {
        drag(bench, p, wanted_x, wanted_y);
        double far = 0.0;
        EACH(i, bench.count) {
            wanted_x[i] = -wanted_x[i];
            wanted_y[i] = -wanted_y[i];
            before[i] = p[i];
            if (p[i] > 0.0) far = fmax(far, fmax(fabs(wanted_x[i]), fabs(wanted_y[i])));
        }
        far = largest_of(far, bench.shared);
        // What is left wrong in a step stays for good.
        iterations += stick(bench, mu, wanted_x, wanted_y, fmax(0.1 * tolerance * far, 1e-4 * tolerance_m));
        shear(bench, false, x, y, bent, nullptr);
        EACH(i, bench.count) bent[i] = depth[i] - bent[i];
        iterations += press_out(bench, bent, tolerance_m);
        double peak = 0.0, change = 0.0;
        EACH(i, bench.count) {
            peak = fmax(peak, p[i]);
            change = fmax(change, fabs(p[i] - before[i]));
        }
        peak = largest_of(peak, bench.shared);
        change = largest_of(change, bench.shared);
        if (change <= 1e-5 * peak) break;
    }
    // The last pressure is not quite the one that bounded the shear.
    EACH(i, bench.count) hold(x[i], y[i], mu * p[i]);
    return iterations;
}

// The next press that no block has taken.
__device__ __forceinline__ int next_of(int* taken, int* turn) {
    __syncthreads();
    if (threadIdx.x == 0) *turn = atomicAdd(taken, 1);
    __syncthreads();
    return *turn;
}

// Tractions of the presses `members`, which all fit one plan, on the whole grid: along x, along y, pressure. A block takes one after
// the other. A press whose region outgrows the plan stays open, with a larger plan.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) contact(Sheet sheet, Plan plan, Plan half, int near, int width, const int* members, int count,
                                                                 int* taken, const double* depths, double* tractions, Press* presses,
                                                                 const Real* spectra, const Real* inverse, const int* opposite,
                                                                 double* work, Complex* planes) {
    extern __shared__ Complex memory[];
    __shared__ double sums[4 * THREADS / 32];
    __shared__ int top, bottom, left, right, turn;
    const int cells = sheet.rows * sheet.cols, side = half.size;
    Bench bench;
    bench.plan = plan;
    bench.half = half;
    bench.parts = work + (long long)blockIdx.x * PARTS * ((side * side + 31) / 32 * 32);
    bench.spectra = spectra;
    bench.inverse = inverse;
    bench.opposite = opposite;
    bench.roots = memory;
    bench.half_roots = memory + plan.size;
    bench.near = near;
    bench.plane = near ? memory + plan.size + half.size : planes + (long long)blockIdx.x * plan.size * plan.size;
    bench.tile = near ? nullptr : memory + plan.size + half.size;
    bench.width = width;
    bench.shared = sums;
    fill_roots(memory, plan.size);
    fill_roots(memory + plan.size, half.size);
    while (true) {
        const int k = next_of(taken, &turn);
        if (k >= count) return;
        const int which = members[k];
        const double* depth = depths + (long long)which * cells;
        double* traction = tractions + 3ll * which * cells;
        Press press = presses[which];
        const double tolerance_m = sheet.tolerance * press.deepest;
        while (true) {
            bench.rows = press.rows;
            bench.cols = press.cols;
            bench.count = press.rows * press.cols;
            bench.stride = (bench.count + 31) / 32 * 32;
            __syncthreads();
            EACH(i, bench.count) {
                const int cell = (press.row + i / press.cols) * sheet.cols + press.col + i % press.cols;
                // Nothing overhead is as good as something far overhead, and a number.
                bench.part(DEPTH)[i] = fmax(depth[cell], -10.0 * press.deepest);
                bench.part(SHEAR_X)[i] = traction[cell];
                bench.part(SHEAR_Y)[i] = traction[cells + cell];
                bench.part(PRESSURE)[i] = traction[2 * cells + cell];
            }
            press.iterations += settle(bench, sheet.mu, sheet.tolerance, tolerance_m);
            press.growth++;
            if (threadIdx.x == 0) {
                top = left = 1 << 30;
                bottom = right = -1;
            }
            __syncthreads();
            EACH(i, bench.count) {
                const int row = i / press.cols, col = i % press.cols, cell = (press.row + row) * sheet.cols + press.col + col;
                traction[cell] = bench.part(SHEAR_X)[i];
                traction[cells + cell] = bench.part(SHEAR_Y)[i];
                traction[2 * cells + cell] = bench.part(PRESSURE)[i];
                if (bench.part(PRESSURE)[i] > 0.0) {
                    atomicMin(&top, row);
                    atomicMax(&bottom, row);
                    atomicMin(&left, col);
                    atomicMax(&right, col);
                }
            }
            __syncthreads();
            const bool at_border = bottom >= 0 && ((top == 0 && press.row > 0) || (left == 0 && press.col > 0) ||
                                                   (bottom + 1 == press.rows && press.row + press.rows < sheet.rows) ||
                                                   (right + 1 == press.cols && press.col + press.cols < sheet.cols));
            if (!at_border || press.growth >= MAX_GROWTHS) {
                press.status = SOLVED;
                break;
            }
            int row = press.row + top, rows = bottom - top + 1, col = press.col + left, cols = right - left + 1;
            const int margin = 2 * MARGIN + max(rows, cols) / 8;
            widen(row, rows, margin, sheet.rows);
            widen(col, cols, margin, sheet.cols);
            const int last_row = max(row + rows, press.row + press.rows), last_col = max(col + cols, press.col + press.cols);
            press.row = min(row, press.row);
            press.col = min(col, press.col);
            press.rows = last_row - press.row;
            press.cols = last_col - press.col;
            if (max(press.rows, press.cols) > side) {
                press.plan = plan_of(sheet, press.rows, press.cols);
                break;
            }
        }
        __syncthreads();
        if (threadIdx.x == 0) presses[which] = press;
    }
}
