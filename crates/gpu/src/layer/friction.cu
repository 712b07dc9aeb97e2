// Partial slip: shear q with |q| ≤ μp that brings the surface to its target displacement, by projected gradients with the step lengths of
// Barzilai and Borwein and a non-monotone line search. The same operations in the same order as on the CPU (`partial_slip`), in the window under
// pressure: elsewhere shear is zero and the displacement does not matter. One cell per thread throughout.

constexpr int MAX_SLIP_ITERATIONS = 600;
// Number of past energies that the line search compares with.
constexpr int ENERGY_HISTORY = 10;

// The CPU's `LayerContact::has_friction`.
__device__ __forceinline__ bool has_friction(const LayerContact& contact) { return contact.mu > 0.0; }

// Maximum shear (Pa) under a pressure (Pa): μp. The CPU's `LayerContact::max_shear_pa`.
__device__ __forceinline__ double max_shear(const LayerContact& contact, double pressure) { return contact.mu * pressure; }

// Part of the friction limit from which a cell may slip.
constexpr double AT_BOUND = sizeof(Real) == 8 ? 1.0 - 1e-9 : 1.0 - 1e-6;

// Buffers of the solver.
struct Slip {
    const Real *p, *target_x, *target_y;
    double *x, *y;
    Real *moved_x, *moved_y, *step_x, *step_y;
};

// Scales (x, y) to a length of at most `bound`.
__device__ __forceinline__ void clamp_length(double& x, double& y, double bound) {
    const double squared = x * x + y * y;
    if (squared > bound * bound) {
        const double factor = bound / sqrt(squared);
        x *= factor;
        y *= factor;
    }
}

// Clamps the last shear to the friction cone and computes its displacement.
__device__ __forceinline__ void start_shear(const Workspace& work, const Slip& s, const LayerContact& contact) {
    const int pitch = work.pitch(work.pressed.plan);
    int any = 0;
    FOR_EACH(i, work.region.count) {
        double x = s.x[i], y = s.y[i];
        clamp_length(x, y, max_shear(contact, s.p[i]));
        any |= x != 0.0 || y != 0.0;
        s.x[i] = x;
        s.y[i] = y;
    }
    __syncthreads();
    FOR_EACH_CELL(work.pressed, pitch, i, at) work.plane[at] = {(Real)s.x[i], (Real)s.y[i]};
    any = __syncthreads_or(any);
    if (any) response_to_shear(work, work.pressed, true);
    FOR_EACH_CELL(work.pressed, pitch, i, at) {
        const Complex moved = any ? work.plane[at] : Complex{0, 0};
        s.moved_x[i] = moved.x;
        s.moved_y[i] = moved.y;
    }
}

// The square of the error (m) of the displacement of a cell with the shear x, y: of the whole vector where the cell sticks, of the component
// across the shear where it slips.
__device__ __forceinline__ double squared_slip_error(double error_x, double error_y, double x, double y, double bound) {
    if (!(bound > 0.0)) return 0.0;
    const double squared = x * x + y * y, along = error_x * x + error_y * y, across = error_x * y - error_y * x;
    const bool slips = squared >= (AT_BOUND * bound) * (AT_BOUND * bound) && along >= 0.0;
    return slips ? across * across / squared : error_x * error_x + error_y * error_y;
}

// Step length of steepest descent: e·e / e·Ae with the error e of the cells under pressure.
__device__ __forceinline__ double first_step_length(const Workspace& work, const Slip& s, const LayerContact& contact) {
    const int pitch = work.pitch(work.pressed.plan);
    __syncthreads();
    FOR_EACH_CELL(work.pressed, pitch, i, at) {
        const bool pressed = max_shear(contact, s.p[i]) > 0.0;
        s.step_x[i] = pressed ? s.target_x[i] - s.moved_x[i] : (Real)0;
        s.step_y[i] = pressed ? s.target_y[i] - s.moved_y[i] : (Real)0;
        work.plane[at] = {s.step_x[i], s.step_y[i]};
    }
    response_to_shear(work, work.pressed, true);
    double sums[2] = {0.0, 0.0};
    FOR_EACH_CELL(work.pressed, pitch, i, at) {
        const double x = s.step_x[i], y = s.step_y[i];
        sums[0] += x * x + y * y;
        sums[1] += x * work.plane[at].x + y * work.plane[at].y;
    }
    reduce_sum(sums, work.shared);
    return sums[0] / fmax(sums[1], 2.2250738585072014e-308);
}

// Adds the part `taken` of the last step, whose displacement is in the plane, and projects the next one, step = project(q + length · error) − q,
// which is put into the plane. Returns the largest error (m) before that step; gives the energy before it, ½ q·u − q·target, and the slope, step · error.
__device__ __forceinline__ double advance(const Workspace& work, const Slip& s, const LayerContact& contact, double taken, double length,
                                          double& energy, double& slope) {
    const int pitch = work.pitch(work.pressed.plan);
    double sums[2] = {0.0, 0.0}, worst = 0.0;
    FOR_EACH_CELL(work.pressed, pitch, i, at) {
        double x = s.x[i], y = s.y[i], moved_x = s.moved_x[i], moved_y = s.moved_y[i];
        if (taken > 0.0) {
            x += taken * s.step_x[i];
            y += taken * s.step_y[i];
            moved_x += taken * work.plane[at].x;
            moved_y += taken * work.plane[at].y;
            s.x[i] = x;
            s.y[i] = y;
            s.moved_x[i] = (Real)moved_x;
            s.moved_y[i] = (Real)moved_y;
        }
        const double target_x = s.target_x[i], target_y = s.target_y[i], error_x = target_x - moved_x, error_y = target_y - moved_y;
        const double bound = max_shear(contact, s.p[i]);
        worst = fmax(worst, squared_slip_error(error_x, error_y, x, y, bound));
        double to_x = x + length * error_x, to_y = y + length * error_y;
        clamp_length(to_x, to_y, bound);
        const double step_x = to_x - x, step_y = to_y - y;
        s.step_x[i] = (Real)step_x;
        s.step_y[i] = (Real)step_y;
        work.plane[at] = {(Real)step_x, (Real)step_y};
        sums[0] += 0.5 * (x * moved_x + y * moved_y) - x * target_x - y * target_y;
        sums[1] += step_x * error_x + step_y * error_y;
    }
    reduce(sums, worst, work.shared);
    energy = sums[0];
    slope = sums[1];
    return sqrt(worst);
}

// s·s, s·As and As·As of the step s; leaves As in the plane.
__device__ __forceinline__ void step_products(const Workspace& work, const Slip& s, double (&dots)[3]) {
    response_to_shear(work, work.pressed, true);
    const int pitch = work.pitch(work.pressed.plan);
    FOR_EACH_CELL(work.pressed, pitch, i, at) {
        const double x = s.step_x[i], y = s.step_y[i], response_x = work.plane[at].x, response_y = work.plane[at].y;
        dots[0] += x * x + y * y;
        dots[1] += x * response_x + y * response_y;
        dots[2] += response_x * response_x + response_y * response_y;
    }
    reduce_sum(dots, work.shared);
}

// Solves for the shear that brings the surface to its target (m) within the friction limit, to `tolerance` (m). Errors are relative to
// `scale` (m).
__device__ __noinline__ Effort solve_friction(const Workspace& work, const LayerContact& contact, double tolerance, double scale) {
    const Slip s = {work.buffer(PRESSURE), work.buffer(TARGET_X), work.buffer(TARGET_Y), work.double_buffer(SHEAR_X),
                    work.double_buffer(SHEAR_Y), work.buffer(DISPLACEMENT_X), work.buffer(DISPLACEMENT_Y), work.buffer(STEP_X),
                    work.buffer(STEP_Y)};
    start_shear(work, s, contact);
    // The last energies; in shared memory, because registers are scarce.
    __shared__ double history[ENERGY_HISTORY];
    double length = 0.0, taken = 0.0;
    if (threadIdx.x < ENERGY_HISTORY) history[threadIdx.x] = -infinity();
    for (int iterations = 0;; iterations++) {
        double energy, slope;
        double error = advance(work, s, contact, taken, length, energy, slope);
        if (iterations == 0 && error > tolerance) {
            length = first_step_length(work, s, contact);
            error = advance(work, s, contact, taken, length, energy, slope);
        }
        if (error <= tolerance || iterations >= MAX_SLIP_ITERATIONS) return effort_of(iterations, error, tolerance, scale);
        if (threadIdx.x == 0) history[iterations % ENERGY_HISTORY] = energy;
        double dots[3] = {0.0, 0.0, 0.0}, highest = -infinity();
        step_products(work, s, dots);
        for (int k = 0; k < ENERGY_HISTORY; k++) highest = fmax(highest, history[k]);
        if (!(dots[1] > 0.0 && slope > 0.0)) return effort_of(iterations, error, tolerance, scale);
        const bool whole = energy - slope + 0.5 * dots[1] <= highest - 1e-4 * slope;
        taken = whole ? 1.0 : fmin(slope / dots[1], 1.0);
        // The long and the short step of Barzilai and Borwein alternate: the long step converges fast, the short step damps oscillations.
        length = (iterations + 1) % 2 == 0 ? dots[0] / dots[1] : dots[1] / dots[2];
    }
}
