// Equilibrium of a gel under pressed objects, from the first load step to the last in one cooperative launch: Newton's method on the
// energy with conjugate gradients, contact as an augmented Lagrangian. The CPU's gel/equilibrium.rs, phase by phase.
//
// Thread layout: blocks of nine warps; a press is solved by `blocks` blocks, and a launch solves several presses. Cells are processed in tiles
// of 32, one per lane; warps 0 to 7 take one particle of each cell, then all nine warps take one (component, z-layer) of each cell's nodes.
// Nodal loops take one thread per component of a node, contact loops one thread per stencil.

#define MAX_NEWTON 15
#define MAX_UPDATES 8

// Stencils, spread over all warps of the press: few per warp, since searches in a mesh take different times.
#define FOR_STENCILS(t, stencil) \
    for (int end_##stencil, stencil = first_stencil(t, end_##stencil); stencil < end_##stencil; stencil += 32)
__device__ inline int first_stencil(const EquilibriumTask& t, int& end) {
    int warps = t.blocks * WARPS, warp = threadIdx.x / 32 * t.blocks + block_of(t);
    int each = (t.stencils + warps - 1) / warps, first = warp * each;
    end = min(first + each, t.stencils);
    return first + threadIdx.x % 32;
}

// Stores the forces on 3 x 3 nodes of z-layer d of a cell.
__device__ inline void store_cell_forces(const EquilibriumTask& t, int cell, int c, int d, const double out[9]) {
    for (int i = 0; i < 9; i++) t.cell_force[((d * 9 + i) * 3 + c) * t.padded + cell] = out[i];
}

// Adds the energy (J) of one particle of a cell at u + scale * step; stores stress times volume in shared, the tangent in global memory.
__device__ inline void evaluate_particle(const EquilibriumTask& t, const Cell& cell, int number, int particle, double scale,
                                         double* stress, double& energy) {
    int lane = threadIdx.x % TILE_CELLS;
    double fill = t.fill[particle * t.padded + number];
    double volume = fill * t.volume;
    MaterialResponse out;
    if (fill > 0.0) {
        double h[9];
        displacement_gradient(t, cell, particle, scale, h);
        material_response(t, h, out);
        energy += volume * out.energy;
    } else {
        out = {};
    }
    // Particles of a tile are stored along x first, then y, then z.
    int x = 2 * (lane % TILE_X) + (particle & 1), y = 2 * (lane / TILE_X % TILE_Y) + (particle >> 1 & 1);
    int z = 2 * (lane / (TILE_X * TILE_Y)) + (particle >> 2);
    float* tangent = t.tangent + number / TILE_CELLS * 12 * TILE_POINTS + (z * POINTS_Y + y) * POINTS_X + x;
#pragma unroll
    for (int i = 0; i < 9; i++) {
        stress[(particle * 9 + i) * TILE_CELLS + lane] = volume * out.stress[i];
        tangent[i * TILE_POINTS] = (float)out.inverse[i];
    }
    tangent[9 * TILE_POINTS] = (float)(volume * t.coefficients.mu_pa);
    tangent[10 * TILE_POINTS] = (float)(volume * out.alpha);
    tangent[11 * TILE_POINTS] = (float)(volume * out.beta);
}

// First part of an evaluation: forces, stiffnesses and energies at all stencils at u + scale * step.
__device__ __noinline__ void evaluate_stencils(const EquilibriumTask& t, const IndenterPose* poses, double scale) {
    FOR_STENCILS(t, stencil) {
        Vec3 u = at_stencil(t, stencil, scale);
        double spring = t.stencil_spring[stencil];
        if (spring > 0.0) {
            t.stencil_energy[stencil] = 0.5 * spring * dot(u, u);
            set_force(t, stencil, u * -spring);
            for (int i = 0; i < 6; i++) t.stencil_stiffness[i * t.stencils + stencil] = i == 0 || i == 3 || i == 5 ? (float)spring : 0.0f;
        } else {
            t.stencil_energy[stencil] = evaluate_contact(t, poses, stencil, rest_of(t, stencil) + u);
        }
    }
}

// Second part: forces of all cells, and energies of all tiles.
__device__ __noinline__ void evaluate_cells(const EquilibriumTask& t, double scale, int slot) {
    double* stress = tile_memory().stress;
    int lane = threadIdx.x % TILE_CELLS, warp = threadIdx.x / TILE_CELLS;
    for (int tile = block_of(t); tile < t.all_tiles; tile += t.blocks) {
        int first = tile * TILE_CELLS, number = first + lane;
        double energy[1] = {0.0};
        int end = t.stencil_first[first + TILE_CELLS];
        for (int stencil = t.stencil_first[first] + threadIdx.x; stencil < end; stencil += THREADS) energy[0] += t.stencil_energy[stencil];
        Cell cell = cell_of(t, number);
        if (warp < 8) evaluate_particle(t, cell, number, warp, scale, stress, energy[0]);
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
            contact_diagonal_of(t, number, c, d, out);
            for (int i = 0; i < 9; i++) t.contact_diagonal[((d * 9 + i) * 3 + c) * t.surface_cells + surface] = (float)out[i];
        }
        store_part(t, slot, tile, energy);
    }
}

// Energy, residual r = contact forces - internal forces, and tangents at u + scale * step. Stores the parts of energy, |contact forces|^2 and
// |r|^2 in rows `slot`, `slot + 1` and `slot + 2`.
__device__ __noinline__ void evaluate(const EquilibriumTask& t, const IndenterPose* poses, double scale, int slot) {
    evaluate_stencils(t, poses, scale);
    press_sync(t);
    evaluate_cells(t, scale, slot);
    press_sync(t);
    FOR_CHUNKS(t, chunk) {
        int item = chunk * THREADS + threadIdx.x;
        double sums[2] = {0.0, 0.0};
        if (item < 3 * t.all_nodes) {
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
            sums[0] = contact * contact;
            sums[1] = r * r;
        }
        store_part(t, slot + 1, chunk, sums);
    }
    press_sync(t);
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

// Progress of the solver, the same in all threads.
struct SolverState {
    double residual;
    i64 newton, conjugate, updates, failed, evaluations;
};

// Newton's method with backtracking at fixed contact pressures, until |r| <= tolerance |contact forces|. Each round evaluates one point:
// the initial point, a trial u + scale * step, or the initial point again if no trial has lower energy.
__device__ void newton(const EquilibriumTask& t, const IndenterPose* poses, double tolerance, SolverState& state) {
    double energy = 0.0, load = 0.0, norm = 0.0, slope = 0.0, scale = 0.0;
    bool stalled = false;
    int steps = 0;
    while (true) {
        int slot = REDUCE_EVALUATION + 3 * (int)(state.evaluations++ & 1);
        evaluate(t, poses, scale, slot);
        if (stalled) return;
        double sums[1];
        add_parts(t, slot, t.all_tiles, sums);
        double there = sums[0];
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
            FOR_CHUNKS(t, chunk) {
                int item = chunk * THREADS + threadIdx.x;
                if (item < 3 * t.all_nodes) t.displacement[item] += scale * t.step[item];
            }
        }
        energy = there;
        double squares[2];
        add_parts(t, slot + 1, t.chunks, squares);
        load = sqrt(squares[0]);
        norm = sqrt(squares[1]);
        if (steps == MAX_NEWTON) break;
        state.residual = load > 0.0 ? norm / load : 0.0;
        if (norm <= tolerance * fmax(load, 2.3e-308) || norm == 0.0) break;
        double forcing = fmin(fmax(0.3 * tolerance * load / norm, 1e-2), 0.2);
        slope = solve_contact_pcg(t, forcing, state.conjugate);
        state.newton++;
        steps++;
        scale = 1.0;
    }
}

// Tangent plane of the nearest object at a point; its object is -1 if no object is within reach.
__device__ __noinline__ ContactPlane nearest_plane(const EquilibriumTask& t, const IndenterPose* poses, int stencil, Vec3 at) {
    Gap gap = {0.0, {0.0, 0.0, 1.0}};
    ContactPlane plane;
    plane.object = nearest_object(t, poses, stencil, at, gap);
    plane.foot = at - gap.normal * gap.distance;
    plane.normal = gap.normal;
    return plane;
}

// Deformed position (m) of a surface point.
__device__ inline Vec3 position_of_point(const EquilibriumTask& t, int stencil) {
    return rest_of(t, stencil) + at_stencil(t, stencil, 0.0);
}

// Tangent planes of the points before the load step, moved with their objects.
__device__ void move_planes(const EquilibriumTask& t, const IndenterPose* before, const IndenterPose* poses) {
    FOR_STENCILS(t, stencil) {
        if (t.stencil_spring[stencil] > 0.0) continue;
        ContactPlane plane = nearest_plane(t, before, stencil, position_of_point(t, stencil));
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
    int chunks = (t.stencils + THREADS - 1) / THREADS;
    for (int chunk = block_of(t); chunk < chunks; chunk += t.blocks) {
        int stencil = chunk * THREADS + threadIdx.x;
        double sums[3] = {0.0, 0.0, 0.0};
        if (stencil < t.stencils && !(t.stencil_spring[stencil] > 0.0) && t.points[stencil].object >= 0) {
            double force = t.points[stencil].normal_force;
            double known = t.states[stencil].object >= 0 ? t.states[stencil].pressure * t.stencil_area[stencil] : 0.0;
            sums[0] = force * t.points[stencil].distance;
            sums[1] = force;
            sums[2] = fabs(force - known);
        }
        store_part(t, REDUCE_CONTACT, chunk, sums);
    }
    press_sync(t);
    double sums[3];
    add_parts(t, REDUCE_CONTACT, chunks, sums);
    bool loaded = sums[1] > 0.0;
    mean_gap = loaded ? fabs(sums[0] / sums[1]) : 0.0;
    lag_by_load = t.coefficients.friction > 0.0 && loaded ? sums[2] / sums[1] : 0.0;
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
    ContactPlane next = nearest_plane(t, poses, stencil, at), old = t.planes[stencil];
    if (next.object < 0) return next;
    if (old.object >= 0 && !(next.object == old.object && dot(next.normal, old.normal) >= 0.7)) {
        double reach = t.coefficients.reach_m;
        Vec3 foot = at - old.normal * plane_gap(old, at).distance;
        Gap gap;
        int hint = -1;
        if (posed_gap(t.shapes[old.object], poses[old.object], foot, reach, gap, hint) && fabs(gap.distance) < 0.05 * reach) return old;
    }
    if (!all) next.object = -1;
    return next;
}

// Equilibrium for one load step, to a residual relative to the load and a mean gap (m). Objects move from the poses `before` to `poses`. The
// last load step has at least two updates, of which the first is coarse.
__device__ void solve_load(const EquilibriumTask& t, const IndenterPose* before, const IndenterPose* poses, bool last,
                           SolverState& state) {
    double residual = last ? t.final_precision[0] : t.path_precision[0], max_gap = last ? t.final_precision[1] : t.path_precision[1];
    move_planes(t, before, poses);
    press_sync(t);
    int max_updates = MAX_UPDATES;
    bool stalled_before = false;
    int update = 0;
    while (true) {
        double tolerance = update == 0 ? fmax(residual, 1e-2) : residual;
        newton(t, poses, tolerance, state);
        if (state.failed) return;
        state.updates++;
        update++;
        bool stalled = state.residual > tolerance;
        double gap, lag;
        contact_errors(t, gap, lag);
        bool done = (gap <= max_gap && lag <= 0.01 && !stalled) || update >= max_updates;
        bool end = done && (update > 1 || !last);
        if (!end && stalled && !stalled_before) {
            stalled_before = true;
            max_updates = update + MAX_UPDATES;
        }
        FOR_STENCILS(t, stencil) {
            if (t.stencil_spring[stencil] > 0.0) continue;
            t.states[stencil] = next_state(t, poses, stencil, done);
            if (!end) t.planes[stencil] = next_plane(t, poses, stencil, stalled_before);
        }
        press_sync(t);
        if (end) return;
    }
}

// Stores elastic forces (N), including those on ghost nodes, in `residual`, and the strain energy (J); then writes the outcome.
__device__ __noinline__ void report(const EquilibriumTask& t, SolverState& state) {
    double* stress = tile_memory().stress;
    int lane = threadIdx.x % TILE_CELLS, warp = threadIdx.x / TILE_CELLS;
    for (int tile = block_of(t); tile < t.all_tiles; tile += t.blocks) {
        int number = tile * TILE_CELLS + lane;
        double energy[1] = {0.0};
        Cell cell = cell_of(t, number);
        if (warp < 8) {
            double fill = t.fill[warp * t.padded + number], h[9];
            MaterialResponse out = {};
            if (fill > 0.0) {
                displacement_gradient(t, cell, warp, 0.0, h);
                material_response(t, h, out);
            }
            energy[0] = fill * t.volume * out.energy;
            for (int i = 0; i < 9; i++) stress[(warp * 9 + i) * TILE_CELLS + lane] = fill * t.volume * out.stress[i];
        }
        __syncthreads();
        int c = warp / 3, d = warp % 3;
        double out[9];
        cell_forces(t, cell, lane, c, d, 0, stress, out);
        store_cell_forces(t, number, c, d, out);
        store_part(t, REDUCE_EVALUATION, tile, energy);
    }
    press_sync(t);
    FOR_CHUNKS(t, chunk) {
        int item = chunk * THREADS + threadIdx.x;
        if (item < 3 * t.all_nodes) t.residual[item] = gathered_force(t, item);
    }
    double strain[1];
    add_parts(t, REDUCE_EVALUATION, t.all_tiles, strain);
    if (block_of(t) == 0 && threadIdx.x == 0)
        *t.outcome = {state.residual, strain[0], state.newton, state.conjugate, state.updates, state.failed};
}

// Solves all load steps of up to MAX_PRESSES presses. Launch: cooperative, THREADS threads per block, `blocks` blocks per press. Input:
// `displacement` and `states` hold the initial state, `barrier` zero. Output: `displacement`, `residual` (elastic forces), `points`, `states`,
// `outcome`.
extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS_PER_MULTIPROCESSOR) solve_equilibrium(const __grid_constant__ Presses presses) {
    const EquilibriumTask& t = presses.press[blockIdx.x / presses.press[0].blocks];
    FOR_CHUNKS(t, chunk) {
        int item = chunk * THREADS + threadIdx.x;
        if (item < 3 * t.all_nodes) t.step[item] = 0.0f;
    }
    FOR_STENCILS(t, stencil) t.nearest_triangle[stencil] = -1;
    press_sync(t);
    SolverState state = {};
    for (int load = 1; load <= t.loads && !state.failed; load++) {
        const IndenterPose* before = t.poses + (load - 1) * t.objects;
        solve_load(t, before, before + t.objects, load == t.loads, state);
    }
    report(t, state);
}
