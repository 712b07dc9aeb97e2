// Partial slip: shear q with |q| ≤ μp that brings the surface to its target displacement, by projected gradients with the step lengths of
// Barzilai and Borwein and a non-monotone line search. The same operations in the same order as on the CPU (`partial_slip`). One cell per
// thread throughout.

constexpr int MAX_SLIP_ITERATIONS = 600;
// Number of past energies that the line search compares with.
constexpr int ENERGY_HISTORY = 10;

// The CPU's `LayerContact::has_friction`.
__device__ __forceinline__ bool has_friction(const LayerContact& contact) { return contact.mu > 0.0; }

// Maximum shear (Pa) under a pressure (Pa): μp. The CPU's `LayerContact::max_shear_pa`.
__device__ __forceinline__ double max_shear(const LayerContact& contact, double pressure) { return contact.mu * pressure; }

// Buffers of the solver.
struct Slip {
    const double *p, *target_x, *target_y;
    double *x, *y, *moved_x, *moved_y, *step_x, *step_y, *response_x, *response_y;
};

// Scales (x, y) to a length of at most `bound`.
__device__ __forceinline__ void clamp_length(double& x, double& y, double bound) {
    const double size = sqrt(x * x + y * y);
    if (size > bound) {
        x = x * bound / size;
        y = y * bound / size;
    }
}

// Clamps the last shear to the friction cone and computes its displacement.
__device__ __forceinline__ void start_shear(const Workspace& work, const Slip& s, const LayerContact& contact) {
    double largest = 0.0;
    FOR_EACH(i, work.count) {
        clamp_length(s.x[i], s.y[i], max_shear(contact, s.p[i]));
        largest = fmax(largest, fmax(fabs(s.x[i]), fabs(s.y[i])));
    }
    if (reduce_max(largest, work.shared) > 0.0) {
        response_to_shear(work, true, s.x, s.y, s.moved_x, s.moved_y);
    } else {
        FOR_EACH(i, work.count) s.moved_x[i] = s.moved_y[i] = 0.0;
    }
}

// The largest error (m) of the displacement: the whole vector where the cell sticks, the component across the shear where it slips.
__device__ __forceinline__ double slip_error(const Workspace& work, const Slip& s, const LayerContact& contact) {
    double worst = 0.0;
    FOR_EACH(i, work.count) {
        const double bound = max_shear(contact, s.p[i]);
        if (!(bound > 0.0)) continue;
        const double ex = s.target_x[i] - s.moved_x[i], ey = s.target_y[i] - s.moved_y[i], size = sqrt(s.x[i] * s.x[i] + s.y[i] * s.y[i]);
        const double along = size > 0.0 ? (ex * s.x[i] + ey * s.y[i]) / size : 0.0;
        const bool slips = size >= (1.0 - 1e-9) * bound && along >= 0.0;
        worst = fmax(worst, slips ? fabs(ex * s.y[i] - ey * s.x[i]) / size : sqrt(ex * ex + ey * ey));
    }
    return reduce_max(worst, work.shared);
}

// Step length of steepest descent: e·e / e·Ae with the error e of the cells under pressure.
__device__ __forceinline__ double first_step_length(const Workspace& work, const Slip& s, const LayerContact& contact) {
    FOR_EACH(i, work.count) {
        const bool pressed = max_shear(contact, s.p[i]) > 0.0;
        s.step_x[i] = pressed ? s.target_x[i] - s.moved_x[i] : 0.0;
        s.step_y[i] = pressed ? s.target_y[i] - s.moved_y[i] : 0.0;
    }
    response_to_shear(work, true, s.step_x, s.step_y, s.response_x, s.response_y);
    double sums[2] = {0.0, 0.0};
    FOR_EACH(i, work.count) {
        sums[0] += s.step_x[i] * s.step_x[i] + s.step_y[i] * s.step_y[i];
        sums[1] += s.step_x[i] * s.response_x[i] + s.step_y[i] * s.response_y[i];
    }
    reduce_sum(sums, work.shared);
    return sums[0] / fmax(sums[1], 2.2250738585072014e-308);
}

// Projected step: step = project(q + length · error) − q. Returns the energy before it, ½ q·u − q·target, and the slope, step · error.
__device__ __forceinline__ void project_step(const Workspace& work, const Slip& s, const LayerContact& contact, double length, double& energy, double& slope) {
    double sums[2] = {0.0, 0.0};
    FOR_EACH(i, work.count) {
        const double error_x = s.target_x[i] - s.moved_x[i], error_y = s.target_y[i] - s.moved_y[i];
        double to_x = s.x[i] + length * error_x, to_y = s.y[i] + length * error_y;
        clamp_length(to_x, to_y, max_shear(contact, s.p[i]));
        s.step_x[i] = to_x - s.x[i];
        s.step_y[i] = to_y - s.y[i];
        sums[0] += 0.5 * (s.x[i] * s.moved_x[i] + s.y[i] * s.moved_y[i]) - s.x[i] * s.target_x[i] - s.y[i] * s.target_y[i];
        sums[1] += s.step_x[i] * error_x + s.step_y[i] * error_y;
    }
    reduce_sum(sums, work.shared);
    energy = sums[0];
    slope = sums[1];
}

// s·s, s·As and As·As of the step s.
__device__ __forceinline__ void step_products(const Workspace& work, const Slip& s, double (&dots)[3]) {
    response_to_shear(work, true, s.step_x, s.step_y, s.response_x, s.response_y);
    FOR_EACH(i, work.count) {
        dots[0] += s.step_x[i] * s.step_x[i] + s.step_y[i] * s.step_y[i];
        dots[1] += s.step_x[i] * s.response_x[i] + s.step_y[i] * s.response_y[i];
        dots[2] += s.response_x[i] * s.response_x[i] + s.response_y[i] * s.response_y[i];
    }
    reduce_sum(dots, work.shared);
}

// Adds a fraction of the step.
__device__ __forceinline__ void take_step(const Workspace& work, const Slip& s, double part) {
    FOR_EACH(i, work.count) {
        s.x[i] += part * s.step_x[i];
        s.y[i] += part * s.step_y[i];
        s.moved_x[i] += part * s.response_x[i];
        s.moved_y[i] += part * s.response_y[i];
    }
}

// Solves for the shear that brings the surface to its target (m) within the friction limit, to `tolerance` (m). Errors are relative to
// `scale` (m).
__device__ __noinline__ Effort solve_friction(const Workspace& work, const LayerContact& contact, double tolerance, double scale) {
    const Slip s = {work.buffer(PRESSURE), work.buffer(TARGET_X), work.buffer(TARGET_Y), work.buffer(SHEAR_X), work.buffer(SHEAR_Y),
                    work.buffer(DISPLACEMENT_X), work.buffer(DISPLACEMENT_Y), work.buffer(STEP_X), work.buffer(STEP_Y),
                    work.buffer(STEP_RESPONSE_X), work.buffer(STEP_RESPONSE_Y)};
    start_shear(work, s, contact);
    double length = 0.0, history[ENERGY_HISTORY];
    for (int k = 0; k < ENERGY_HISTORY; k++) history[k] = -infinity();
    for (int iterations = 0;; iterations++) {
        const double error = slip_error(work, s, contact);
        if (error <= tolerance || iterations >= MAX_SLIP_ITERATIONS) return effort_of(iterations, error, tolerance, scale);
        if (iterations == 0) length = first_step_length(work, s, contact);
        double energy, slope;
        project_step(work, s, contact, length, energy, slope);
        double highest = -infinity();
        for (int k = 0; k < ENERGY_HISTORY; k++) {
            if (k == iterations % ENERGY_HISTORY) history[k] = energy;
            highest = fmax(highest, history[k]);
        }
        double dots[3] = {0.0, 0.0, 0.0};
        step_products(work, s, dots);
        if (!(dots[1] > 0.0 && slope > 0.0)) return effort_of(iterations, error, tolerance, scale);
        const bool whole = energy - slope + 0.5 * dots[1] <= highest - 1e-4 * slope;
        take_step(work, s, whole ? 1.0 : fmin(slope / dots[1], 1.0));
        // The long and the short step of Barzilai and Borwein alternate: the long step converges fast, the short step damps oscillations.
        length = (iterations + 1) % 2 == 0 ? dots[0] / dots[1] : dots[1] / dots[2];
    }
}
