// Adjoint of a contact with friction at constant sets of free, sticking and slipping cells, as on the CPU (`Linearised`, with its equations). With the
// compliances K between normal (n) and tangential (t) components, r = q̄ − K_tn λ − K_tt ζ and the direction t of slip,
//   K_nn λ + K_nt ζ = p̄ + μ t·r in contact,   r = 0 where it sticks,   r − t (t·r) = ζ |e|/(μp), ζ·t = 0 where it slips.
// One cell per thread throughout.

// Buffers, in the places of those of the press.
enum AdjointBuffer {
    BY_CARRIED_X = SHEAR_X, BY_CARRIED_Y = SHEAR_X + 1,   // ζ
    REST_X = SHEAR_Y, REST_Y = SHEAR_Y + 1,               // r
    BY_DEPTH = DEPTH,                                     // λ
    BY_PRESSURE = SHEARED_DEPTH,                          // p̄
    ALONG_X = CARRIED_X, ALONG_Y = CARRIED_Y,             // t, zero in cells that do not slip
    LAG = LAST_PRESSURE,                                  // |e|/(μp) (m/Pa), zero in cells that do not slip
    RESIDUAL_X = RESIDUAL, RESIDUAL_Y = GAP,              // of the equations of ζ
    DIRECTION_X = DIRECTION, DIRECTION_Y = LAST_RESIDUAL, // search direction
    STEEPEST_X = PRECONDITIONED, STEEPEST_Y = PRESSURE,   // preconditioned residual
};

constexpr int MAX_ALTERNATIONS = 60, MAX_SHEAR_ITERATIONS = 400;
// Tolerance of the solutions in turn, by that of the whole.
constexpr double PART = 0.2;
// Part of the friction limit from which a cell slips.
constexpr double AT_LIMIT = 0.99;

// Finds the cells that slip: at the limit of shear, behind the object, in the direction of the shear. The object moves straight down, so a cell lags
// by minus its displacement. `cell_of(i)`: the cell of the grid.
template <class CellOf>
__device__ __forceinline__ void find_slip(const Workspace& work, const LayerGrid& grid, CellOf cell_of, const double* traction, const double* surface) {
    const int cells = grid.rows * grid.cols;
    double largest = 0.0;
    FOR_EACH(i, work.region.count) largest = fmax(largest, fmax(fabs(surface[cell_of(i)]), fabs(surface[cells + cell_of(i)])));
    largest = reduce_max(largest, work.shared);
    const double sticks = fmax(10.0 * grid.contact.tolerance, 1e-6) * largest;
    FOR_EACH(i, work.region.count) {
        const int cell = cell_of(i);
        const double x = traction[cell], y = traction[cells + cell], lag_x = -surface[cell], lag_y = -surface[cells + cell];
        const double size = sqrt(x * x + y * y), limit = max_shear(grid.contact, traction[2 * cells + cell]), behind = sqrt(lag_x * lag_x + lag_y * lag_y);
        const bool slips = limit > 0.0 && size >= AT_LIMIT * limit && lag_x * x + lag_y * y > 0.0 && behind > sticks;
        work.buffer(ALONG_X)[i] = slips ? (Real)(x / size) : (Real)0;
        work.buffer(ALONG_Y)[i] = slips ? (Real)(y / size) : (Real)0;
        work.buffer(LAG)[i] = slips ? (Real)(behind / limit) : (Real)0;
    }
}

// Removes what the equations of ζ leave out: cells without contact, and the direction of slip.
__device__ __forceinline__ Complex projected(const Workspace& work, int i, Complex v) {
    const Real x = work.buffer(ALONG_X)[i], y = work.buffer(ALONG_Y)[i], part = x * v.x + y * v.y;
    return work.buffer(ACTIVE)[i] * Complex{v.x - part * x, v.y - part * y};
}

// t·r of a cell that slips, else 0.
__device__ __forceinline__ double slipping_part(const Workspace& work, int i) {
    return (double)work.buffer(ALONG_X)[i] * work.buffer(REST_X)[i] + (double)work.buffer(ALONG_Y)[i] * work.buffer(REST_Y)[i];
}

// Changes ζ by conjugate gradients until the residual of its equations is at most `limit`.
__device__ __noinline__ void improve_shear_adjoint(const Workspace& work, double own_compliance, double limit) {
    Real *zeta_x = work.buffer(BY_CARRIED_X), *zeta_y = work.buffer(BY_CARRIED_Y), *rest_x = work.buffer(REST_X), *rest_y = work.buffer(REST_Y);
    Real *residual_x = work.buffer(RESIDUAL_X), *residual_y = work.buffer(RESIDUAL_Y), *direction_x = work.buffer(DIRECTION_X);
    Real *direction_y = work.buffer(DIRECTION_Y), *steepest_x = work.buffer(STEEPEST_X), *steepest_y = work.buffer(STEEPEST_Y);
    const Real* lag = work.buffer(LAG);
    const int pitch = work.pitch(work.region.plan), half_pitch = work.pitch(work.half);
    const Real per_own = (Real)(1.0 / own_compliance);
    FOR_EACH(i, work.region.count) {
        const Complex residual = projected(work, i, {rest_x[i] - lag[i] * zeta_x[i], rest_y[i] - lag[i] * zeta_y[i]});
        residual_x[i] = residual.x;
        residual_y[i] = residual.y;
        direction_x[i] = direction_y[i] = 0;
    }
    double last_product = 0.0;
    for (int iteration = 0; iteration < MAX_SHEAR_ITERATIONS; iteration++) {
        double worst = 0.0;
        __syncthreads();
        FOR_EACH_CELL(work.region, half_pitch, i, at) {
            work.plane[at] = (1 / sqrt(1 + lag[i] * per_own)) * Complex{residual_x[i], residual_y[i]};
            worst = fmax(worst, (double)fmax(fabs(residual_x[i]), fabs(residual_y[i])));
        }
        if (reduce_max(worst, work.shared) <= limit) break;
        // Both components at once: the spectrum is real.
        precondition(work);
        double product[1] = {0.0}, curvature[1] = {0.0};
        FOR_EACH_CELL(work.region, half_pitch, i, at) {
            const Complex steepest = projected(work, i, (1 / sqrt(1 + lag[i] * per_own)) * work.plane[at]);
            steepest_x[i] = steepest.x;
            steepest_y[i] = steepest.y;
            product[0] += (double)residual_x[i] * steepest.x + (double)residual_y[i] * steepest.y;
        }
        reduce_sum(product, work.shared);
        const Real beta = iteration > 0 ? (Real)(product[0] / last_product) : (Real)0;
        FOR_EACH_CELL(work.region, pitch, i, at) {
            direction_x[i] = steepest_x[i] + beta * direction_x[i];
            direction_y[i] = steepest_y[i] + beta * direction_y[i];
            work.plane[at] = {direction_x[i], direction_y[i]};
        }
        response_to_shear(work, work.region, true);
        FOR_EACH_CELL(work.region, pitch, i, at) {
            const Complex lagging = projected(work, i, work.plane[at] + lag[i] * Complex{direction_x[i], direction_y[i]});
            curvature[0] += (double)direction_x[i] * lagging.x + (double)direction_y[i] * lagging.y;
        }
        reduce_sum(curvature, work.shared);
        // Only rounding errors remain.
        if (!(curvature[0] > 0.0)) break;
        const Real step = (Real)(product[0] / curvature[0]);
        FOR_EACH_CELL(work.region, pitch, i, at) {
            const Complex direction = {direction_x[i], direction_y[i]}, response = work.plane[at];
            const Complex lagging = projected(work, i, response + lag[i] * direction);
            zeta_x[i] += step * direction.x;
            zeta_y[i] += step * direction.y;
            rest_x[i] -= step * response.x;
            rest_y[i] -= step * response.y;
            residual_x[i] -= step * lagging.x;
            residual_y[i] -= step * lagging.y;
        }
        last_product = product[0];
    }
    __syncthreads();
}

// Solves for λ (BY_DEPTH) and ζ in turn, until the residuals are at most the contact's tolerance; p̄ and q̄ (in REST_X, REST_Y) are at most 1.
__device__ __noinline__ void solve_adjoint_with_friction(const Workspace& work, const LayerGrid& grid) {
    const double tolerance = grid.contact.tolerance;
    const int pitch = work.pitch(work.region.plan);
    Real *zeta_x = work.buffer(BY_CARRIED_X), *zeta_y = work.buffer(BY_CARRIED_Y), *lambda = work.buffer(BY_DEPTH), *residual = work.buffer(RESIDUAL);
    FOR_EACH(i, work.region.count) zeta_x[i] = zeta_y[i] = lambda[i] = 0;
    for (int k = 0; k < MAX_ALTERNATIONS; k++) {
        improve_shear_adjoint(work, grid.own_shear_compliance, PART * tolerance);
        FOR_EACH_CELL(work.region, pitch, i, at) work.plane[at] = {zeta_x[i], zeta_y[i]};
        response_to_shear(work, work.region, false);
        FOR_EACH_CELL(work.region, pitch, i, at) {
            residual[i] = work.buffer(BY_PRESSURE)[i] + (Real)(grid.contact.mu * slipping_part(work, i)) - work.plane[at].x;
            work.plane[at] = {lambda[i], 0};
        }
        deflection_by_pressure(work);
        double worst = 0.0;
        FOR_EACH_CELL(work.region, pitch, i, at) {
            residual[i] = work.buffer(ACTIVE)[i] * (residual[i] - work.plane[at].x - work.buffer(PARTIAL)[i] * lambda[i]);
            worst = fmax(worst, (double)fabs(residual[i]));
        }
        if (reduce_max(worst, work.shared) <= tolerance) break;
        solve_active(work, PART * tolerance);
        const Real* change = work.buffer(PRESSURE);
        FOR_EACH_CELL(work.region, pitch, i, at) {
            lambda[i] += change[i];
            work.plane[at] = {change[i], 0};
        }
        displacement_by_pressure(work, work.region);
        FOR_EACH_CELL(work.region, pitch, i, at) {
            work.buffer(REST_X)[i] -= work.plane[at].x;
            work.buffer(REST_Y)[i] -= work.plane[at].y;
        }
        __syncthreads();
    }
    __syncthreads();
}
