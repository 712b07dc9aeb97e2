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
    const Real *depth, *partial;
    Real *p, *gap, *active, *direction, *residual, *last_residual, *z;
};

// gap = deflection by the pressure − depth (m), one product. A cell that the indenter covers in part has the deflection of that part.
__device__ __forceinline__ void update_gap(const Workspace& work, const Pressing& s) {
    const int pitch = work.pitch(work.region.plan);
    __syncthreads();
    FOR_EACH_CELL(work.region, pitch, i, at) work.plane[at] = {s.p[i], 0};
    deflection_by_pressure(work);
    FOR_EACH_CELL(work.region, pitch, i, at) s.gap[i] = work.plane[at].x + s.partial[i] * s.p[i] - s.depth[i];
}

// 1 in a cell that is in contact or overlaps.
__device__ __forceinline__ Real is_active(Real p, Real gap) { return p > 0 || gap < 0 ? (Real)1 : (Real)0; }

// Initial pressure and gap: the last pressure scaled to minimum energy, Σ depth p / Σ deflection p, or zero. Marks the active cells.
__device__ __forceinline__ void start_pressure(const Workspace& work, const Pressing& s) {
    int any = 0;
    FOR_EACH(i, work.region.count) {
        s.p[i] = fmax(s.p[i], (Real)0);
        any |= s.p[i] > 0;
        s.gap[i] = -s.depth[i];
    }
    if (__syncthreads_or(any)) {
        update_gap(work, s);
        double sums[2] = {0.0, 0.0};
        FOR_EACH(i, work.region.count) {
            const double p = s.p[i], depth = s.depth[i];
            sums[0] += depth * p;
            sums[1] += (s.gap[i] + depth) * p;
        }
        reduce_sum(sums, work.shared);
        const double factor = sums[0] > 0.0 && sums[1] > 0.0 ? sums[0] / sums[1] : 1.0;
        FOR_EACH(i, work.region.count) {
            const double depth = s.depth[i];
            s.p[i] = (Real)(factor * s.p[i]);
            s.gap[i] = (Real)(factor * (s.gap[i] + depth) - depth);
        }
    }
    FOR_EACH(i, work.region.count) {
        s.active[i] = is_active(s.p[i], s.gap[i]);
        s.direction[i] = 0;
    }
}

// residual = active · gap, also in the plane of the preconditioner. Returns the largest |residual| (m).
__device__ __forceinline__ double update_residual(const Workspace& work, const Pressing& s) {
    const int pitch = work.pitch(work.half);
    double worst = 0.0;
    __syncthreads();
    FOR_EACH_CELL(work.region, pitch, i, at) {
        const Real residual = s.active[i] * s.gap[i];
        s.residual[i] = residual;
        work.plane[at] = {residual, 0};
        worst = fmax(worst, (double)fabs(residual));
    }
    return reduce_max(worst, work.shared);
}

// z = active · M⁻¹ r; direction = β direction − z with β = max((r·z − r_last·z) / r_last·z_last, 0), or 0 on a restart; also in the plane.
// Returns r·z.
__device__ __forceinline__ double update_direction(const Workspace& work, const Pressing& s, bool restart, double last_product) {
    precondition(work);
    int pitch = work.pitch(work.half);
    double sums[2] = {0.0, 0.0};
    FOR_EACH_CELL(work.region, pitch, i, at) {
        const Real z = work.plane[at].x * s.active[i];
        s.z[i] = z;
        sums[0] += (double)s.residual[i] * z;
        if (!restart) sums[1] += (double)s.last_residual[i] * z;
    }
    reduce_sum(sums, work.shared);
    const double product = sums[0], beta = restart ? 0.0 : fmax((product - sums[1]) / last_product, 0.0);
    pitch = work.pitch(work.region.plan);
    FOR_EACH_CELL(work.region, pitch, i, at) {
        const Real direction = (Real)beta * s.active[i] * s.direction[i] - s.z[i];
        s.direction[i] = direction;
        work.plane[at] = {direction, 0};
    }
    return product;
}

// Deflection (m) by the direction, whose product is in the plane.
__device__ __forceinline__ Real response_of(const Workspace& work, const Pressing& s, int i, int at) {
    return work.plane[at].x + s.partial[i] * s.direction[i];
}

// Steps to the minimum energy along the direction, clips tension and marks the active cells. Returns whether the next direction must
// restart.
__device__ __forceinline__ bool step_pressure(const Workspace& work, const Pressing& s, double step) {
    const int pitch = work.pitch(work.region.plan);
    int clipped = 0, changed = 0;
    FOR_EACH_CELL(work.region, pitch, i, at) {
        const Real next = (Real)(s.p[i] + step * s.direction[i]);
        clipped |= next < 0;
        s.p[i] = fmax(next, (Real)0);
        s.gap[i] = (Real)(s.gap[i] + step * response_of(work, s, i, at));
    }
    clipped = __syncthreads_or(clipped);
    if (clipped) update_gap(work, s);
    FOR_EACH(i, work.region.count) {
        const Real now = is_active(s.p[i], s.gap[i]);
        changed |= now != s.active[i];
        s.active[i] = now;
        s.last_residual[i] = s.residual[i];
    }
    return __syncthreads_or(changed) || clipped;
}

// Solves for the pressure at which no active cell has a gap or overlap of more than `tolerance` (m). Errors are
// relative to `scale` (m).
__device__ __noinline__ Effort solve_contact_pcg(const Workspace& work, const Real* depth, double tolerance, double scale) {
    const Pressing s = {depth, work.buffer(PARTIAL), work.buffer(PRESSURE), work.buffer(GAP), work.buffer(ACTIVE), work.buffer(DIRECTION),
                        work.buffer(RESIDUAL), work.buffer(LAST_RESIDUAL), work.buffer(PRECONDITIONED)};
    start_pressure(work, s);
    double last_product = 0.0, error;
    bool restart = true;
    int iterations = 0;
    const int pitch = work.pitch(work.region.plan);
    while (true) {
        error = update_residual(work, s);
        if (error <= tolerance || iterations >= MAX_PRESSURE_ITERATIONS) break;
        iterations++;
        const double product = update_direction(work, s, restart, last_product);
        deflection_by_pressure(work);
        double along[2] = {0.0, 0.0};
        FOR_EACH_CELL(work.region, pitch, i, at) {
            const double direction = s.direction[i];
            along[0] += s.gap[i] * direction;
            along[1] += direction * response_of(work, s, i, at);
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

// Solves K x = r on the active cells, with x = 0 elsewhere, by preconditioned conjugate gradients, until the largest residual is at most
// `tolerance`. x: PRESSURE, r: RESIDUAL, which ends as the residual. As `Complementarity::solve_active` on the CPU. One cell per thread.
__device__ __noinline__ void solve_active(const Workspace& work, double tolerance) {
    Real *x = work.buffer(PRESSURE), *residual = work.buffer(RESIDUAL), *direction = work.buffer(DIRECTION), *steepest = work.buffer(PRECONDITIONED);
    const Real *active = work.buffer(ACTIVE), *partial = work.buffer(PARTIAL);
    const int pitch = work.pitch(work.region.plan), half_pitch = work.pitch(work.half);
    double last_product = 0.0;
    FOR_EACH(i, work.region.count) x[i] = direction[i] = 0;
    for (int iteration = 0; iteration < MAX_PRESSURE_ITERATIONS; iteration++) {
        double worst = 0.0;
        __syncthreads();
        FOR_EACH_CELL(work.region, half_pitch, i, at) {
            work.plane[at] = {residual[i], 0};
            worst = fmax(worst, (double)fabs(residual[i]));
        }
        if (reduce_max(worst, work.shared) <= tolerance) break;
        precondition(work);
        double product[1] = {0.0}, curvature[1] = {0.0};
        FOR_EACH_CELL(work.region, half_pitch, i, at) {
            steepest[i] = work.plane[at].x * active[i];
            product[0] += (double)residual[i] * steepest[i];
        }
        reduce_sum(product, work.shared);
        const Real beta = iteration > 0 ? (Real)(product[0] / last_product) : (Real)0;
        FOR_EACH_CELL(work.region, pitch, i, at) {
            direction[i] = steepest[i] + beta * direction[i];
            work.plane[at] = {direction[i], 0};
        }
        deflection_by_pressure(work);
        FOR_EACH_CELL(work.region, pitch, i, at) curvature[0] += (double)direction[i] * (work.plane[at].x + partial[i] * direction[i]);
        reduce_sum(curvature, work.shared);
        // Only rounding errors remain.
        if (!(curvature[0] > 0.0)) break;
        const double step = product[0] / curvature[0];
        FOR_EACH_CELL(work.region, pitch, i, at) {
            x[i] = (Real)(x[i] + step * direction[i]);
            residual[i] = (Real)(residual[i] - step * (work.plane[at].x + partial[i] * direction[i]) * active[i]);
        }
        last_product = product[0];
    }
    __syncthreads();
}
