// What tractions do everywhere: motion of the surface, stress below, and what taxels feel of it.

enum Answer { ALONG, DOWN, BELOW_ALONG };

// Two real fields as one complex spectrum: along x and y, sinking and pressure below, or shear below along x and y. The second is
// taken times `balance`: beside one that is much larger, the digits of the first would be lost.
__device__ __noinline__ void answer(int which, int size, const Real* spectra, const int* opposite, bool sheared, const Complex* pressed,
                                    const Complex* shears, Real balance, Complex* out) {
    const long long all = (long long)size * size;
    const Real* of[6];
    const int along[6] = {XX, XY, XY, YY, X_PRESSURE, Y_PRESSURE};
    const int below[6] = {BELOW_XX, BELOW_XY, BELOW_XY, BELOW_YY, BELOW_X_PRESSURE, BELOW_Y_PRESSURE};
    const int down[6] = {X_PRESSURE, Y_PRESSURE, BELOW_PRESSURE_X, BELOW_PRESSURE_Y, SINK, BELOW_PRESSURE};
#pragma unroll
    for (int k = 0; k < 6; k++) of[k] = spectra + (which == ALONG ? along[k] : which == DOWN ? down[k] : below[k]) * all;
    const Divisor by(size);
    __syncthreads();
    EACH(i, size * size) {
        int col;
        const int row = by(i, col), other = opposite[row] * size + opposite[col];
        if (other < i) continue;
        const Complex p = pressed[i];
        Complex x = {0, 0}, y = {0, 0}, first, second;
        if (sheared) part_ways(shears[i], shears[other], x, y);
        if (which == DOWN) {
            // Minus what pressure moves sideways is what shear sinks.
            first = of[4][i] * p - turned(of[0][i] * x + of[1][i] * y);
            second = of[5][i] * p + turned(of[2][i] * x + of[3][i] * y);
        } else {
            first = of[0][i] * x + of[1][i] * y + turned(of[4][i] * p);
            second = of[2][i] * x + of[3][i] * y + turned(of[5][i] * p);
        }
        second = balance * second;
        out[i] = first + turned(second);
        if (other != i) out[other] = conj(first) + turned(conj(second));
    }
}

// Surface (m) along x, y and down, and stress below (Pa) along x, y and as pressure, of the presses `members`. A press that overlaps the
// object outside of its region is opened again, with a larger one.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) fields(Sheet sheet, Plan plan, int lateral, int below_along, int width, const int* members, int count,
                                                                int* taken,
                                                                const double* depths, const double* tractions, Press* presses,
                                                                const Real* spectra, const int* opposite, Complex* planes,
                                                                double* surfaces, double* belows) {
    extern __shared__ Complex roots[];
    __shared__ int top, bottom, left, right, turn;
    const int cells = sheet.rows * sheet.cols, size = plan.size;
    const long long all = (long long)size * size;
    fill_roots(roots, size);
    const Plane pressed = {planes + 3 * all * blockIdx.x, size, false, roots + size, width};
    const Plane shears = {pressed.at + all, size, false, roots + size, width}, out = {pressed.at + 2 * all, size, false, roots + size, width};
    const Divisor by_cols(sheet.cols);
    const bool sheared = sheet.mu > 0.0;
    while (true) {
        const int k = next_of(taken, &turn);
        if (k >= count) return;
        const int which = members[k];
        const double* traction = tractions + 3ll * which * cells;
        double *surface = surfaces + 3ll * which * cells, *below = belows + 3ll * which * cells;
        Press press = presses[which];
        // One that has outgrown its plan is not solved yet.
        if (press.status == OPEN) continue;
        const int region = press.rows * press.cols;
        if (region == 0) {
            EACH(i, 3 * cells) surface[i] = below[i] = 0.0;
            continue;
        }
        __syncthreads();
        if (threadIdx.x == 0) {
            top = left = 1 << 30;
            bottom = right = -1;
        }
        EACH(i, region) {
            const int row = press.row + i / press.cols, col = press.col + i % press.cols, cell = row * sheet.cols + col;
            pressed.at[row * size + col] = {(Real)traction[2 * cells + cell], 0};
            if (sheared) shears.at[row * size + col] = {(Real)traction[cell], (Real)traction[cells + cell]};
        }
        spectrum_of(pressed, roots, &plan, press.row, press.rows, press.col, press.cols);
        if (sheared) spectrum_of(shears, roots, &plan, press.row, press.rows, press.col, press.cols);
        const double overlap = -10.0 * sheet.tolerance * press.deepest;
        const Real balance = spectra[SINK * all] / spectra[BELOW_PRESSURE * all];
        answer(DOWN, size, spectra, opposite, sheared, pressed.at, shears.at, balance, out.at);
        field_of(out, roots, &plan, sheet.rows);
        EACH(i, cells) {
            int col;
            const int row = by_cols(i, col);
            const Complex value = out.at[row * size + col];
            surface[2 * cells + i] = value.x;
            below[2 * cells + i] = value.y / balance;
            const bool within = row >= press.row && row < press.row + press.rows && col >= press.col && col < press.col + press.cols;
            // Where the surface bulges it may meet the object outside of the region.
            if (!within && value.x - depths[(long long)which * cells + i] < overlap) {
                atomicMin(&top, row);
                atomicMax(&bottom, row);
                atomicMin(&left, col);
                atomicMax(&right, col);
            }
        }
        __syncthreads();
        const bool missed = bottom >= 0 && press.growth < MAX_GROWTHS;
        if (missed) {
            const int last_row = max(press.row + press.rows, bottom + 1), last_col = max(press.col + press.cols, right + 1);
            press.row = min(press.row, top);
            press.col = min(press.col, left);
            press.rows = last_row - press.row;
            press.cols = last_col - press.col;
            widen(press.row, press.rows, 1, sheet.rows);
            widen(press.col, press.cols, 1, sheet.cols);
            press.plan = plan_of(sheet, press.rows, press.cols);
        }
        press.status = missed ? OPEN : DONE;
        if (threadIdx.x == 0) presses[which] = press;
        if (missed) continue;
        for (int what = ALONG; what <= BELOW_ALONG; what += 2) {
            double* to = what == ALONG ? surface : below;
            if (!(sheared || lateral) || (what == BELOW_ALONG && !below_along)) {
                EACH(i, 2 * cells) to[i] = 0.0;
                continue;
            }
            answer(what, size, spectra, opposite, sheared, pressed.at, shears.at, 1.0, out.at);
            field_of(out, roots, &plan, sheet.rows);
            EACH(i, cells) {
                int col;
                const int row = by_cols(i, col);
                const Complex value = out.at[row * size + col];
                to[i] = value.x;
                to[cells + i] = value.y;
            }
        }
    }
}

// Taxels side by side, each over some rows and columns of cells: for each row of taxels the first row of cells, how many and from where
// on their weights (parts of a pitch) stand, then for each column.
struct TaxelGrid {
    int rows, cols;
    double area;
};

// Force vectors (N) of taxels, of what is beside them, and force and torque on the sensor. One block a press.
extern "C" __global__ void __launch_bounds__(THREADS) feel(Sheet sheet, TaxelGrid grid, const int* spans, const double* weights,
                                                           const double* tractions, const double* surfaces, const double* belows,
                                                           double* forces, double* outsides, double* wrenches) {
    __shared__ double shared[6 * THREADS / 32];
    const int cells = sheet.rows * sheet.cols, taxels = grid.rows * grid.cols;
    const double* below = belows + 3ll * blockIdx.x * cells;
    const long long press = blockIdx.x;
    double felt[3] = {0.0, 0.0, 0.0};
    EACH(t, taxels) {
        const int *rows = spans + 3 * (t / grid.cols), *cols = spans + 3 * (grid.rows + t % grid.cols);
        double x = 0.0, y = 0.0, z = 0.0;
        for (int i = 0; i < rows[1]; i++) {
            for (int j = 0; j < cols[1]; j++) {
                const int cell = (rows[0] + i) * sheet.cols + cols[0] + j;
                const double share = grid.area * (weights[rows[2] + i] * weights[cols[2] + j]);
                x += below[cell] * share;
                y += below[cells + cell] * share;
                z -= below[2 * cells + cell] * share;
            }
        }
        double* to = forces + 3 * (press * taxels + t);
        to[0] = x;
        to[1] = y;
        to[2] = z;
        felt[0] += x;
        felt[1] += y;
        felt[2] += z;
    }
    const double *traction = tractions + 3ll * blockIdx.x * cells, *sunk = surfaces + 3ll * blockIdx.x * cells + 2 * cells;
    double net[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    EACH(i, cells) {
        const double p = traction[2 * cells + i];
        if (!(p > 0.0)) continue;
        const double area = sheet.cell * sheet.cell, fx = traction[i] * area, fy = traction[cells + i] * area, fz = -p * area;
        const double x = x_of(sheet, i % sheet.cols), y = y_of(sheet, i / sheet.cols), z = -sunk[i];
        net[0] += fx;
        net[1] += fy;
        net[2] += fz;
        net[3] += y * fz - z * fy;
        net[4] += z * fx - x * fz;
        net[5] += x * fy - y * fx;
    }
    add_up(felt, shared);
    add_up(net, shared);
    if (threadIdx.x < 6) wrenches[6 * press + threadIdx.x] = net[threadIdx.x];
    if (threadIdx.x < 3) outsides[3 * press + threadIdx.x] = net[threadIdx.x] - felt[threadIdx.x];
}

// Pressure (Pa), and motion of the surface along x, y and z (m), to be handed out.
extern "C" __global__ void hand_out(Sheet sheet, const double* tractions, const double* surfaces, float* pressure, float* surface) {
    const int cells = sheet.rows * sheet.cols;
    const double *traction = tractions + 3ll * blockIdx.x * cells, *moved = surfaces + 3ll * blockIdx.x * cells;
    const long long start = (long long)blockIdx.x * cells;
    for (int i = threadIdx.x; i < cells; i += blockDim.x) {
        if (pressure) pressure[start + i] = (float)traction[2 * cells + i];
        if (surface) {
            surface[3 * (start + i)] = (float)moved[i];
            surface[3 * (start + i) + 1] = (float)moved[cells + i];
            surface[3 * (start + i) + 2] = (float)(0.0 - moved[2 * cells + i]);
        }
    }
}
