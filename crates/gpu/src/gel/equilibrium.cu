// Equilibrium of a gel under pressed objects, from the first load step to the last in one cooperative launch: Newton's method on the
// energy with conjugate gradients, contact as an augmented Lagrangian. The CPU's gel/equilibrium.rs, phase by phase.
//
// Thread layout: blocks of nine warps. Cells are processed in batches of 32, one per lane; warps 0 to 7 take one particle of each cell,
// then all nine warps take one (component, z-layer) of each cell's nodes. Nodal loops take one thread per component of a node, contact
// loops one thread per stencil. Blocks synchronise between phases, and all sums have a fixed order, so that runs are bitwise repeatable.

#define THREADS 288
#define WARPS 9

#define MAX_NEWTON 15
#define MAX_UPDATES 8
#define MAX_CONJUGATE 600

#define FOR_NODE_COMPONENTS(t, item) \
    for (int item = blockIdx.x * THREADS + threadIdx.x; item < 3 * (t).all_nodes; item += gridDim.x * THREADS)
#define FOR_STENCILS(t, stencil) \
    for (int stencil = blockIdx.x * THREADS + threadIdx.x; stencil < (t).stencils; stencil += gridDim.x * THREADS)

// Slots of grid-wide sums. Evaluations alternate between two sets, so that no slot is written while it is read. The host allocates
// REDUCE_SLOTS.
#define REDUCE_DELTA 0
#define REDUCE_GAMMA 1
#define REDUCE_SLOPE 2
#define REDUCE_RHO 3
#define REDUCE_PENETRATION 4
#define REDUCE_LOAD 5
#define REDUCE_LAG 6
#define REDUCE_EVALUATION 7
static_assert(REDUCE_EVALUATION + 6 == REDUCE_SLOTS, "slots of grid-wide sums");

// Sum over the threads of a block, returned in all threads: by shuffles within a warp, then over warps.
__device__ double block_sum(double value) {
    __shared__ double parts[WARPS];
    for (int d = 16; d > 0; d /= 2) value += __shfl_xor_sync(0xffffffffu, value, d);
    __syncthreads();
    if (threadIdx.x % CELLS_PER_BATCH == 0) parts[threadIdx.x / CELLS_PER_BATCH] = value;
    __syncthreads();
    double sum = 0.0;
    for (int i = 0; i < WARPS; i++) sum += parts[i];
    return sum;
}

// Grid-wide sum: every block stores its part and, after a grid_sync, every block adds the parts in the same order.
__device__ void reduce_store(const EquilibriumTask& t, int slot, double value) {
    double sum = block_sum(value);
    if (threadIdx.x == 0) t.sums[slot * gridDim.x + blockIdx.x] = sum;
}
__device__ double reduce_load(const EquilibriumTask& t, int slot) {
    double sum = 0.0;
    for (int i = threadIdx.x; i < (int)gridDim.x; i += THREADS) sum += t.sums[slot * gridDim.x + i];
    return block_sum(sum);
}

// Coordinates of a node.
struct NodeIndex {
    int x, y, z;
};
__device__ inline NodeIndex node_index(const EquilibriumTask& t, int node) {
    return {node % t.nodes[0], node / t.nodes[0] % t.nodes[1], node / (t.nodes[0] * t.nodes[1])};
}
// The cell that has this node as node (i, j, k) of its 3 x 3 x 3 nodes, or -1.
__device__ inline int cell_at(const EquilibriumTask& t, NodeIndex n, int i, int j, int k) {
    int cx = n.x - i, cy = n.y - j, cz = n.z - k;
    if (cx < 0 || cy < 0 || cz < 0 || cx >= t.cells[0] || cy >= t.cells[1] || cz >= t.cells[2]) return -1;
    return (cz * t.cells[1] + cy) * t.cells[0] + cx;
}

// Stores the forces on 3 x 3 nodes of z-layer d of a cell.
__device__ inline void store_cell_forces(const EquilibriumTask& t, int cell, int c, int d, const double out[9]) {
    for (int i = 0; i < 9; i++) t.cell_force[((d * 9 + i) * 3 + c) * t.padded + cell] = out[i];
}

// Adds the energy (J) of one particle of a cell at u + scale * step; stores stress times volume in shared, the tangent in global memory.
__device__ inline void evaluate_particle(const EquilibriumTask& t, const Cell& cell, int number, int particle, double scale,
                                         double* stress, double& energy) {
    int lane = threadIdx.x % CELLS_PER_BATCH;
    double fill = t.fill[particle * t.padded + number];
    double volume = fill * t.volume;
    MaterialResponse out;
    if (fill > 0.0) {
        double h[9];
        displacement_gradient<true>(t, cell, particle, t.displacement, scale, h);
        material_response(t, h, out);
        energy += volume * out.energy;
    } else {
        out = {};
    }
    float* tangent = t.tangent + particle * t.padded + number;
#pragma unroll
    for (int i = 0; i < 9; i++) {
        stress[(particle * 9 + i) * CELLS_PER_BATCH + lane] = volume * out.stress[i];
        tangent[i * 8 * t.padded] = (float)out.inverse[i];
    }
    tangent[9 * 8 * t.padded] = (float)(volume * t.coefficients.mu_pa);
    tangent[10 * 8 * t.padded] = (float)(volume * out.alpha);
    tangent[11 * 8 * t.padded] = (float)(volume * out.beta);
}

// First half of an evaluation: elastic and contact forces of all cells at u + scale * step; returns this thread's share of the energy.
__device__ double evaluate_cells(const EquilibriumTask& t, const IndenterPose* poses, double scale, double* stress) {
    int lane = threadIdx.x % CELLS_PER_BATCH, warp = threadIdx.x / CELLS_PER_BATCH;
    double energy = 0.0;
    for (int batch = blockIdx.x; batch < t.batches; batch += gridDim.x) {
        int first = batch * CELLS_PER_BATCH, number = first + lane;
        int end = t.stencil_first[first + CELLS_PER_BATCH];
        for (int stencil = t.stencil_first[first] + threadIdx.x; stencil < end; stencil += THREADS) {
            Vec3 u = at_stencil(t, stencil, t.displacement, scale);
            double spring = t.stencil_spring[stencil];
            if (spring > 0.0) {
                energy += 0.5 * spring * dot(u, u);
                set_force(t, stencil, u * -spring);
            } else {
                energy += evaluate_contact(t, poses, stencil, rest_of(t, stencil) + u);
            }
        }
        Cell cell = cell_of(t, number);
        if (warp < 8) evaluate_particle(t, cell, number, warp, scale, stress, energy);
        __syncthreads();
        int c = warp / 3, d = warp % 3;
        double out[9];
        cell_forces(t, cell, lane, c, d, t.fixed_faces, stress, out);
        add_stencil_forces(t, number, c, d, true, -1.0, out);
        store_cell_forces(t, number, c, d, out);
        int surface = t.surface[number];
        if (surface >= 0) {
            for (int i = 0; i < 9; i++) out[i] = 0.0;
            add_stencil_forces(t, number, c, d, false, 1.0, out);
            for (int i = 0; i < 9; i++) t.contact_force[((d * 9 + i) * 3 + c) * t.surface_cells + surface] = out[i];
        }
        __syncthreads();
    }
    return energy;
}

// Energy, residual r = contact forces - internal forces, and tangents at u + scale * step. Stores the sums of energy, |contact forces|^2 and
// |r|^2 at `slot`, `slot + 1` and `slot + 2`.
__device__ void evaluate(const EquilibriumTask& t, const IndenterPose* poses, double scale, int slot, double* stress) {
    reduce_store(t, slot, evaluate_cells(t, poses, scale, stress));
    grid_sync(t.barrier);
    double load = 0.0, left = 0.0;
    FOR_NODE_COMPONENTS(t, item) {
        int c = item / t.all_nodes;
        NodeIndex n = node_index(t, item % t.all_nodes);
        double contact = 0.0, internal = 0.0;
        for (int k = 0; k < 3; k++)
            for (int j = 0; j < 3; j++)
                for (int i = 0; i < 3; i++) {
                    int cell = cell_at(t, n, i, j, k), entry = ((k * 3 + j) * 3 + i) * 3 + c;
                    if (cell < 0) continue;
                    internal += t.cell_force[entry * t.padded + cell];
                    int surface = t.surface[cell];
                    if (surface >= 0) contact += t.contact_force[entry * t.surface_cells + surface];
                }
        double r = contact - internal;
        t.residual[item] = r;
        load += contact * contact;
        left += r * r;
    }
    reduce_store(t, slot + 1, load);
    reduce_store(t, slot + 2, left);
    grid_sync(t.barrier);
}

// V dP of one particle for the displacement gradient of z: dP = mu dF + alpha (F^-T : dF) F^-T + beta F^-T dF^T F^-T.
__device__ inline void tangent_particle(const EquilibriumTask& t, const Cell& cell, int number, int particle, double* stress) {
    int lane = threadIdx.x % CELLS_PER_BATCH;
    const float* tangent = t.tangent + particle * t.padded + number;
    double shear = tangent[9 * 8 * t.padded];
    double g[9], inverse[9], product[9];
    displacement_gradient<false>(t, cell, particle, t.cg_z, 0.0, g);
#pragma unroll
    for (int i = 0; i < 9; i++) inverse[i] = tangent[i * 8 * t.padded];
    double alpha = tangent[10 * 8 * t.padded], beta = tangent[11 * 8 * t.padded];
#pragma unroll
    for (int i = 0; i < 3; i++)
#pragma unroll
        for (int j = 0; j < 3; j++)
            product[3 * i + j] = g[i] * inverse[j] + g[3 + i] * inverse[3 + j] + g[6 + i] * inverse[6 + j];
    double trace = alpha * (product[0] + product[4] + product[8]);
#pragma unroll
    for (int c = 0; c < 3; c++)
#pragma unroll
        for (int d = 0; d < 3; d++) {
            double third =
                inverse[3 * c] * product[d] + inverse[3 * c + 1] * product[3 + d] + inverse[3 * c + 2] * product[6 + d];
            stress[(particle * 9 + 3 * c + d) * CELLS_PER_BATCH + lane] =
                beta * third + (trace * inverse[3 * c + d] + shear * g[3 * c + d]);
        }
}

// Force of the stiffness at a stencil for the displacements z: K z of contact or of the interface's spring.
__device__ inline Vec3 tangent_stencil(const EquilibriumTask& t, int stencil) {
    double spring = t.stencil_spring[stencil];
    if (spring > 0.0) return at_stencil(t, stencil, t.cg_z, 0.0) * spring;
    if (!is_stiff(t, stencil)) return {0.0, 0.0, 0.0};
    Vec3 du = at_stencil(t, stencil, t.cg_z, 0.0);
    double k[6];
    for (int i = 0; i < 6; i++) k[i] = t.stencil_stiffness[i * t.stencils + stencil];
    return {k[0] * du.x + k[1] * du.y + k[2] * du.z, k[1] * du.x + k[3] * du.y + k[4] * du.z,
            k[2] * du.x + k[4] * du.y + k[5] * du.z};
}

// Product of the tangent stiffness with z, as forces per cell; `gathered_force` sums them per node after a grid_sync.
__device__ void tangent_product(const EquilibriumTask& t, double* stress) {
    int lane = threadIdx.x % CELLS_PER_BATCH, warp = threadIdx.x / CELLS_PER_BATCH;
    for (int batch = blockIdx.x; batch < t.batches; batch += gridDim.x) {
        int first = batch * CELLS_PER_BATCH, number = first + lane;
        int end = t.stencil_first[first + CELLS_PER_BATCH];
        for (int stencil = t.stencil_first[first] + threadIdx.x; stencil < end; stencil += THREADS)
            set_force(t, stencil, tangent_stencil(t, stencil));
        Cell cell = cell_of(t, number);
        if (warp < 8) tangent_particle(t, cell, number, warp, stress);
        __syncthreads();
        int c = warp / 3, d = warp % 3;
        double out[9];
        cell_forces(t, cell, lane, c, d, t.fixed_faces, stress, out);
        add_stencil_forces(t, number, c, d, true, 1.0, out);
        add_stencil_forces(t, number, c, d, false, 1.0, out);
        store_cell_forces(t, number, c, d, out);
        __syncthreads();
    }
}

// Sum of the cells' forces on one component of a node.
__device__ inline double gathered_force(const EquilibriumTask& t, int item) {
    int c = item / t.all_nodes;
    NodeIndex n = node_index(t, item % t.all_nodes);
    double sum = 0.0;
#pragma unroll
    for (int k = 0; k < 3; k++)
#pragma unroll
        for (int j = 0; j < 3; j++)
#pragma unroll
            for (int i = 0; i < 3; i++) {
                int cell = cell_at(t, n, i, j, k);
                if (cell >= 0) sum += t.cell_force[(((k * 3 + j) * 3 + i) * 3 + c) * t.padded + cell];
            }
    return sum;
}

// Diagonal entry of the contact stiffness for one component of a node: sum over surface points of N_i^2 k_cc.
__device__ __noinline__ double contact_diagonal(const EquilibriumTask& t, int item) {
    int c = item / t.all_nodes;
    NodeIndex n = node_index(t, item % t.all_nodes);
    int entry = c == 0 ? 0 : c == 1 ? 3 : 5;
    double sum = 0.0;
    for (int k = 0; k < 3; k++)
        for (int j = 0; j < 3; j++)
            for (int i = 0; i < 3; i++) {
                int cell = cell_at(t, n, i, j, k);
                if (cell < 0 || t.surface[cell] < 0) continue;
                for (int stencil = t.stencil_first[cell]; stencil < t.stencil_first[cell + 1]; stencil++) {
                    if (t.stencil_spring[stencil] > 0.0 || !is_stiff(t, stencil)) continue;
                    const double* weight = t.stencil_weight + stencil;
                    double w = weight[i * t.stencils] * weight[(3 + j) * t.stencils] * weight[(6 + k) * t.stencils];
                    sum += w * w * t.stencil_stiffness[entry * t.stencils + stencil];
                }
            }
    return sum;
}

// Solves K step = residual by conjugate gradients with a diagonal preconditioner, in the form of Chronopoulos and Gear 1989: one product and
// two sums per iteration. Stops when r.z has fallen by forcing^2; returns the slope step.residual.
__device__ double solve_contact_pcg(const EquilibriumTask& t, double forcing, i64& count, double* stress) {
    double sum = 0.0;
    FOR_NODE_COMPONENTS(t, item) {
        double d = t.diagonal[item];
        d = d > 0.0 ? 1.0 / (d + contact_diagonal(t, item)) : 0.0;
        double r = t.residual[item], z = d * r;
        t.preconditioner[item] = d;
        t.cg_r[item] = r;
        t.cg_z[item] = z;
        t.cg_p[item] = 0.0;
        t.cg_s[item] = 0.0;
        t.step[item] = 0.0;
        sum += r * z;
    }
    reduce_store(t, REDUCE_RHO, sum);
    grid_sync(t.barrier);
    double gamma = reduce_load(t, REDUCE_RHO), before = 0.0, alpha = 0.0;
    double goal = forcing * forcing * gamma;
    for (int i = 0; i < MAX_CONJUGATE; i++) {
        tangent_product(t, stress);
        grid_sync(t.barrier);
        double delta = 0.0;
        FOR_NODE_COMPONENTS(t, item) {
            double w = t.preconditioner[item] > 0.0 ? gathered_force(t, item) : 0.0;
            t.cg_w[item] = w;
            delta += t.cg_z[item] * w;
        }
        reduce_store(t, REDUCE_DELTA, delta);
        grid_sync(t.barrier);
        delta = reduce_load(t, REDUCE_DELTA);
        count++;
        double beta = i > 0 ? gamma / before : 0.0;
        double curvature = i > 0 ? delta - beta * gamma / alpha : delta;
        if (!(curvature > 0.0)) {
            if (i == 0)
                FOR_NODE_COMPONENTS(t, item) t.step[item] = t.cg_z[item];
            break;
        }
        alpha = gamma / curvature;
        double next = 0.0;
        FOR_NODE_COMPONENTS(t, item) {
            double p = t.cg_z[item] + beta * t.cg_p[item], s = t.cg_w[item] + beta * t.cg_s[item];
            double r = t.cg_r[item] - alpha * s, z = t.preconditioner[item] * r;
            t.cg_p[item] = p;
            t.cg_s[item] = s;
            t.step[item] += alpha * p;
            t.cg_r[item] = r;
            t.cg_z[item] = z;
            next += r * z;
        }
        reduce_store(t, REDUCE_GAMMA, next);
        grid_sync(t.barrier);
        before = gamma;
        gamma = reduce_load(t, REDUCE_GAMMA);
        if (gamma <= goal) break;
    }
    double slope = 0.0;
    FOR_NODE_COMPONENTS(t, item) slope += t.step[item] * t.residual[item];
    reduce_store(t, REDUCE_SLOPE, slope);
    grid_sync(t.barrier);
    return reduce_load(t, REDUCE_SLOPE);
}

// Progress of the solver, the same in all threads.
struct SolverState {
    double residual;
    i64 newton, conjugate, updates, failed, evaluations;
};

// Newton's method with backtracking at fixed contact pressures, until |r| <= tolerance |contact forces|. Each round evaluates one point:
// the initial point, a trial u + scale * step, or the initial point again if no trial has lower energy.
__device__ void newton(const EquilibriumTask& t, const IndenterPose* poses, double tolerance, SolverState& state, double* stress) {
    double energy = 0.0, load = 0.0, norm = 0.0, slope = 0.0, scale = 0.0;
    bool stalled = false;
    int steps = 0;
    while (true) {
        int slot = REDUCE_EVALUATION + 3 * (int)(state.evaluations++ & 1);
        evaluate(t, poses, scale, slot, stress);
        if (stalled) return;
        double there = reduce_load(t, slot);
        if (steps == 0) {
            if (!(fabs(there) < 1e200)) {
                state.failed = 1;
                return;
            }
        } else if (!(there <= energy - 1e-4 * scale * slope + 1e-13 * fabs(energy))) {
            scale *= 0.5;
            if (scale < 1e-4) {
                // No descent, because of rounding or an edge where the contact direction is discontinuous.
                stalled = true;
                scale = 0.0;
            }
            continue;
        } else {
            FOR_NODE_COMPONENTS(t, item) t.displacement[item] += scale * t.step[item];
        }
        energy = there;
        load = sqrt(reduce_load(t, slot + 1));
        norm = sqrt(reduce_load(t, slot + 2));
        if (steps == MAX_NEWTON) break;
        state.residual = load > 0.0 ? norm / load : 0.0;
        if (norm <= tolerance * fmax(load, 2.3e-308) || norm == 0.0) break;
        double forcing = fmin(fmax(0.3 * tolerance * load / norm, 1e-2), 0.2);
        slope = solve_contact_pcg(t, forcing, state.conjugate, stress);
        state.newton++;
        steps++;
        scale = 1.0;
    }
}

// Tangent plane of the nearest object at a point; its object is -1 if no object is within reach.
__device__ __noinline__ ContactPlane nearest_plane(const EquilibriumTask& t, const IndenterPose* poses, Vec3 at) {
    Gap gap = {0.0, {0.0, 0.0, 1.0}};
    ContactPlane plane;
    plane.object = nearest_object(t, poses, at, gap);
    plane.foot = at - gap.normal * gap.distance;
    plane.normal = gap.normal;
    return plane;
}

// Deformed position (m) of a surface point.
__device__ inline Vec3 position_of_point(const EquilibriumTask& t, int stencil) {
    return rest_of(t, stencil) + at_stencil(t, stencil, t.displacement, 0.0);
}

// Tangent planes of the points before the load step, moved with their objects.
__device__ void move_planes(const EquilibriumTask& t, const IndenterPose* before, const IndenterPose* poses) {
    FOR_STENCILS(t, stencil) {
        if (t.stencil_spring[stencil] > 0.0) continue;
        ContactPlane plane = nearest_plane(t, before, position_of_point(t, stencil));
        if (plane.object >= 0) {
            const double* in = before[plane.object].object_from_sensor;
            const double* out = poses[plane.object].sensor_from_object;
            plane.foot = transformed(out, transformed(in, plane.foot));
            plane.normal = unit_or(rotated(out, rotated(in, plane.normal)), {0.0, 0.0, 1.0});
        }
        t.planes[stencil] = plane;
    }
}

// Load-weighted mean penetration (m), and the lag of the friction bounds behind the pressures, relative to the load.
__device__ void contact_errors(const EquilibriumTask& t, double& mean_gap, double& lag_by_load) {
    double penetration = 0.0, load = 0.0, lag = 0.0;
    FOR_STENCILS(t, stencil) {
        if (t.stencil_spring[stencil] > 0.0 || t.points[stencil].object < 0) continue;
        double force = t.points[stencil].normal_force;
        double known = t.states[stencil].object >= 0 ? t.states[stencil].pressure * t.stencil_area[stencil] : 0.0;
        penetration += force * t.points[stencil].distance;
        load += force;
        lag += fabs(force - known);
    }
    reduce_store(t, REDUCE_PENETRATION, penetration);
    reduce_store(t, REDUCE_LOAD, load);
    reduce_store(t, REDUCE_LAG, lag);
    grid_sync(t.barrier);
    load = reduce_load(t, REDUCE_LOAD);
    mean_gap = load > 0.0 ? fabs(reduce_load(t, REDUCE_PENETRATION) / load) : 0.0;
    lag_by_load = t.coefficients.friction > 0.0 && load > 0.0 ? reduce_load(t, REDUCE_LAG) / load : 0.0;
}

// Contact state of a point after an update; if `settled`, the anchor of a slipping point follows so that its spring is at its limit.
__device__ inline ContactState next_state(const EquilibriumTask& t, const IndenterPose* poses, int stencil, bool settled) {
    const ContactPoint& point = t.points[stencil];
    ContactState state = {0.0, {0.0, 0.0, 0.0}, -1};
    if (point.object >= 0 && point.normal_force > 0.0) {
        const double* in = poses[point.object].object_from_sensor;
        state.object = point.object;
        state.pressure = point.normal_force / t.stencil_area[stencil];
        state.anchor = t.states[stencil].object == point.object ? t.states[stencil].anchor : transformed(in, point.at);
        if (settled && dot(point.slip, point.slip) > 0.0) {
            double stretch = length(point.friction) / (t.coefficients.contact_tangential * t.stencil_area[stencil]);
            state.anchor = transformed(in, point.at - point.slip * stretch);
        }
    }
    return state;
}

// Plane of a point for the next update: the old plane while the point is in front of that face, else the nearest if `all`, else none.
__device__ inline ContactPlane next_plane(const EquilibriumTask& t, const IndenterPose* poses, int stencil, bool all) {
    Vec3 at = position_of_point(t, stencil);
    ContactPlane next = nearest_plane(t, poses, at), old = t.planes[stencil];
    if (next.object < 0) return next;
    if (old.object >= 0 && !(next.object == old.object && dot(next.normal, old.normal) >= 0.7)) {
        double reach = t.coefficients.reach_m;
        Vec3 foot = at - old.normal * plane_gap(old, at).distance;
        Gap gap;
        if (posed_gap(t.shapes[old.object], poses[old.object], foot, reach, gap) && fabs(gap.distance) < 0.05 * reach) return old;
    }
    if (!all) next.object = -1;
    return next;
}

// Equilibrium for one load step, to a residual relative to the load and a mean gap (m). Objects move from the poses `before` to `poses`.
__device__ void solve_load(const EquilibriumTask& t, const IndenterPose* before, const IndenterPose* poses, double residual,
                           double max_gap, SolverState& state, double* stress) {
    move_planes(t, before, poses);
    grid_sync(t.barrier);
    int max_updates = MAX_UPDATES;
    bool stalled_before = false;
    int update = 0;
    while (true) {
        double tolerance = update == 0 ? fmax(residual, 1e-2) : residual;
        newton(t, poses, tolerance, state, stress);
        if (state.failed) return;
        state.updates++;
        update++;
        bool stalled = state.residual > tolerance;
        double gap, lag;
        contact_errors(t, gap, lag);
        bool done = (gap <= max_gap && lag <= 0.01 && !stalled) || update >= max_updates;
        bool end = done && update > 1;
        if (!end && stalled && !stalled_before) {
            stalled_before = true;
            max_updates = update + MAX_UPDATES;
        }
        FOR_STENCILS(t, stencil) {
            if (t.stencil_spring[stencil] > 0.0) continue;
            t.states[stencil] = next_state(t, poses, stencil, done);
            if (!end) t.planes[stencil] = next_plane(t, poses, stencil, stalled_before);
        }
        grid_sync(t.barrier);
        if (end) return;
    }
}

// Stores elastic forces (N), including those on ghost nodes, in `residual`, and the strain energy (J); then writes the outcome.
__device__ void report(const EquilibriumTask& t, SolverState& state, double* stress) {
    int lane = threadIdx.x % CELLS_PER_BATCH, warp = threadIdx.x / CELLS_PER_BATCH;
    double energy = 0.0;
    for (int batch = blockIdx.x; batch < t.batches; batch += gridDim.x) {
        int number = batch * CELLS_PER_BATCH + lane;
        Cell cell = cell_of(t, number);
        if (warp < 8) {
            double fill = t.fill[warp * t.padded + number], h[9];
            MaterialResponse out = {};
            if (fill > 0.0) {
                displacement_gradient<false>(t, cell, warp, t.displacement, 0.0, h);
                material_response(t, h, out);
            }
            energy += fill * t.volume * out.energy;
            for (int i = 0; i < 9; i++) stress[(warp * 9 + i) * CELLS_PER_BATCH + lane] = fill * t.volume * out.stress[i];
        }
        __syncthreads();
        int c = warp / 3, d = warp % 3;
        double out[9];
        cell_forces(t, cell, lane, c, d, 0, stress, out);
        store_cell_forces(t, number, c, d, out);
        __syncthreads();
    }
    reduce_store(t, REDUCE_RHO, energy);
    grid_sync(t.barrier);
    FOR_NODE_COMPONENTS(t, item) t.residual[item] = gathered_force(t, item);
    energy = reduce_load(t, REDUCE_RHO);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        *t.outcome = {state.residual, energy, state.newton, state.conjugate, state.updates, state.failed};
}

// Solves all load steps. Launch: cooperative, THREADS threads per block, as many blocks as are resident. Input: `displacement` and `states`
// hold the initial state, `step` and `barrier` zeros. Output: `displacement`, `residual` (elastic forces), `points`, `states`, `outcome`.
extern "C" __global__ void __launch_bounds__(THREADS, 2) solve_equilibrium(const __grid_constant__ EquilibriumTask t) {
    __shared__ double stress[8 * 9 * CELLS_PER_BATCH];
    SolverState state = {};
    for (int load = 1; load <= t.loads && !state.failed; load++) {
        const IndenterPose* before = t.poses + (load - 1) * t.objects;
        bool last = load == t.loads;
        solve_load(t, before, before + t.objects, last ? t.final_precision[0] : t.path_precision[0],
                   last ? t.final_precision[1] : t.path_precision[1], state, stress);
    }
    report(t, state, stress);
}
