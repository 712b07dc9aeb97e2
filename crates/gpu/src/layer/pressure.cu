// Frictionless contact: p ≥ 0, gap ≥ 0, p · gap = 0 with gap = compliance * p − depth, by preconditioned conjugate gradients on the active
// cells (Polonsky and Keer 1999). The same operations in the same order as on the CPU (`Complementarity`). One cell per thread throughout.

constexpr int MAX_PRESSURE_ITERATIONS = 400;

// Iterations of solvers, and the largest relative error of one that stopped before its tolerance (`Effort` on the CPU).
struct Effort {
    int iterations;
    double unsolved;
};

// Effort of a solver with an error (m) relative to `scale` (m).
__device__ __forceinline__ Effort effort_of(int iterations, double error, double tolerance, double scale) {
    return {iterations, error > tolerance ? error / scale : 0.0};
}

// Buffers of the solver.
struct Pressing {
    const double* depth;
    double *p, *gap, *active, *direction, *response, *residual, *last_residual, *z;
};

// Initial pressure and gap: the last pressure scaled to minimum energy, Σ depth p / Σ deflection p, or zero. Marks the active cells.
__device__ __forceinline__ void start_pressure(const Workspace& work, const Pressing& s) {
    double largest = 0.0;
    FOR_EACH(i, work.count) {
        s.p[i] = fmax(s.p[i], 0.0);
        largest = fmax(largest, s.p[i]);
    }
    if (reduce_max(largest, work.shared) > 0.0) {
        deflection_by_pressure(work, s.p, s.gap);
        double sums[2] = {0.0, 0.0};
        FOR_EACH(i, work.count) {
            sums[0] += s.depth[i] * s.p[i];
            sums[1] += s.gap[i] * s.p[i];
        }
        reduce_sum(sums, work.shared);
        const double factor = sums[0] > 0.0 && sums[1] > 0.0 ? sums[0] / sums[1] : 1.0;
        FOR_EACH(i, work.count) {
            s.p[i] *= factor;
            s.gap[i] = factor * s.gap[i] - s.depth[i];
        }
    } else {
        FOR_EACH(i, work.count) s.gap[i] = -s.depth[i];
    }
    FOR_EACH(i, work.count) {
        s.active[i] = s.p[i] > 0.0 || s.gap[i] < 0.0 ? 1.0 : 0.0;
        s.direction[i] = 0.0;
    }
}

// residual = active · gap. Returns the largest |residual| (m).
__device__ __forceinline__ double update_residual(const Workspace& work, const Pressing& s) {
    double worst = 0.0;
    FOR_EACH(i, work.count) {
        s.residual[i] = s.active[i] * s.gap[i];
        worst = fmax(worst, fabs(s.residual[i]));
    }
    return reduce_max(worst, work.shared);
}

// z = active · M⁻¹ r; direction = β direction − z with β = max((r·z − r_last·z) / r_last·z_last, 0), or 0 on a restart. Returns r·z.
__device__ __forceinline__ double update_direction(const Workspace& work, const Pressing& s, bool restart, double last_product) {
    precondition(work, s.residual, s.z);
    double sums[2] = {0.0, 0.0};
    FOR_EACH(i, work.count) {
        s.z[i] *= s.active[i];
        sums[0] += s.residual[i] * s.z[i];
        if (!restart) sums[1] += s.last_residual[i] * s.z[i];
    }
    reduce_sum(sums, work.shared);
    const double product = sums[0], beta = restart ? 0.0 : fmax((product - sums[1]) / last_product, 0.0);
    FOR_EACH(i, work.count) s.direction[i] = beta * s.active[i] * s.direction[i] - s.z[i];
    return product;
}

// Steps to the minimum energy along the direction, clips tension and marks the active cells. Returns whether the next direction must
// restart.
__device__ __forceinline__ bool step_pressure(const Workspace& work, const Pressing& s, double step) {
    int clipped = 0;
    FOR_EACH(i, work.count) {
        const double next = s.p[i] + step * s.direction[i];
        clipped |= next < 0.0;
        s.p[i] = fmax(next, 0.0);
        s.gap[i] += step * s.response[i];
    }
    clipped = __syncthreads_or(clipped);
    if (clipped) {
        deflection_by_pressure(work, s.p, s.gap);
        FOR_EACH(i, work.count) s.gap[i] -= s.depth[i];
    }
    int changed = 0;
    FOR_EACH(i, work.count) {
        const double now = s.p[i] > 0.0 || s.gap[i] < 0.0 ? 1.0 : 0.0;
        changed |= now != s.active[i];
        s.active[i] = now;
        s.last_residual[i] = s.residual[i];
    }
    return __syncthreads_or(changed) || clipped;
}

// Solves for the pressure at which no active cell has a gap or overlap of more than `tolerance` (m). Errors are
// relative to `scale` (m).
__device__ __noinline__ Effort solve_contact_pcg(const Workspace& work, const double* depth, double tolerance, double scale) {
    const Pressing s = {depth, work.buffer(PRESSURE), work.buffer(GAP), work.buffer(ACTIVE), work.buffer(DIRECTION), work.buffer(RESPONSE),
                        work.buffer(RESIDUAL), work.buffer(LAST_RESIDUAL), work.buffer(PRECONDITIONED)};
    start_pressure(work, s);
    double last_product = 0.0, error;
    bool restart = true;
    int iterations = 0;
    while (true) {
        error = update_residual(work, s);
        if (error <= tolerance || iterations >= MAX_PRESSURE_ITERATIONS) break;
        iterations++;
        const double product = update_direction(work, s, restart, last_product);
        deflection_by_pressure(work, s.direction, s.response);
        double along[2] = {0.0, 0.0};
        FOR_EACH(i, work.count) {
            along[0] += s.gap[i] * s.direction[i];
            along[1] += s.direction[i] * s.response[i];
        }
        reduce_sum(along, work.shared);
        if (!(along[1] > 0.0 && along[0] < 0.0)) {
            // Rounding dominates: restart once from the steepest direction, then stop.
            if (restart) break;
            restart = true;
            continue;
        }
        restart = step_pressure(work, s, -along[0] / along[1]);
        last_product = product;
    }
    return effort_of(iterations, error, tolerance, scale);
}
