// The way to rest.

// Energy, forces and stiffness at u + part * step. Two phases; returns nothing: the sums are at `slot`.
__device__ void evaluate(const Task& t, const Place* places, double part, int slot, double* stress) {
    int lane = threadIdx.x % WIDE, warp = threadIdx.x / WIDE;
    double energy = 0.0;
    for (int batch = blockIdx.x; batch < t.batches; batch += gridDim.x) {
        int first = batch * WIDE, number = first + lane;
        for (int spot = t.spot_first[first] + threadIdx.x; spot < t.spot_first[first + WIDE]; spot += THREADS) {
            V away = at_spot(t, spot, t.u, part);
            double holding = t.spot_holding[spot];
            if (holding > 0.0) {
                energy += 0.5 * holding * dot(away, away);
                V force = away * -holding;
                t.spot_force[spot] = force.x;
                t.spot_force[t.spots + spot] = force.y;
                t.spot_force[2 * t.spots + spot] = force.z;
            } else {
                energy += look(t, places, spot, rest_of(t, spot) + away);
            }
        }
        Cell cell = cell_of(t, number);
        if (warp < 8) {
            double fill = t.fill[warp * t.padded + number];
            double volume = fill * t.volume;
            Answer out;
            if (fill > 0.0) {
                double h[9];
                gradient<true>(t, cell, warp, t.u, part, h);
                answer(t, h, out);
                energy += volume * out.energy;
            } else {
                out = {};
            }
            float* kept = t.tangent + warp * t.padded + number;
#pragma unroll
            for (int i = 0; i < 9; i++) {
                stress[(warp * 9 + i) * WIDE + lane] = volume * out.stress[i];
                kept[i * 8 * t.padded] = (float)out.inverse[i];
            }
            kept[9 * 8 * t.padded] = (float)(volume * t.mu);
            kept[10 * 8 * t.padded] = (float)(volume * out.alpha);
            kept[11 * 8 * t.padded] = (float)(volume * out.beta);
        }
        __syncthreads();
        int c = warp / 3, d = warp % 3;
        double out[9];
        spread(t, cell, lane, c, d, t.bonds, stress, out);
        spread_spots(t, number, c, d, true, -1.0, out);
        for (int i = 0; i < 9; i++) t.inner[((d * 9 + i) * 3 + c) * t.padded + number] = out[i];
        int surface = t.surface[number];
        if (surface >= 0) {
            for (int i = 0; i < 9; i++) out[i] = 0.0;
            spread_spots(t, number, c, d, false, 1.0, out);
            for (int i = 0; i < 9; i++) t.contact[((d * 9 + i) * 3 + c) * t.surface_cells + surface] = out[i];
        }
        __syncthreads();
    }
    give(t, slot, energy);
    everyone(t);
    double load = 0.0, left = 0.0;
    for (int item = blockIdx.x * THREADS + threadIdx.x; item < 3 * t.all_nodes; item += gridDim.x * THREADS) {
        int c = item / t.all_nodes, node = item % t.all_nodes;
        int x = node % t.nodes[0], y = node / t.nodes[0] % t.nodes[1], z = node / (t.nodes[0] * t.nodes[1]);
        double push = 0.0, resist = 0.0;
        for (int k = 0; k < 3; k++)
            for (int j = 0; j < 3; j++)
                for (int i = 0; i < 3; i++) {
                    int cx = x - i, cy = y - j, cz = z - k;
                    if (cx < 0 || cy < 0 || cz < 0 || cx >= t.cells[0] || cy >= t.cells[1] || cz >= t.cells[2]) continue;
                    int cell = (cz * t.cells[1] + cy) * t.cells[0] + cx, place = ((k * 3 + j) * 3 + i) * 3 + c;
                    resist += t.inner[place * t.padded + cell];
                    int surface = t.surface[cell];
                    if (surface >= 0) push += t.contact[place * t.surface_cells + surface];
                }
        double r = push - resist;
        t.residual[item] = r;
        load += push * push;
        left += r * r;
    }
    give(t, slot + 1, load);
    give(t, slot + 2, left);
    everyone(t);
}

// What the stiffness makes of z, cell by cell.
__device__ void product(const Task& t, double* stress) {
    int lane = threadIdx.x % WIDE, warp = threadIdx.x / WIDE;
    for (int batch = blockIdx.x; batch < t.batches; batch += gridDim.x) {
        int first = batch * WIDE, number = first + lane;
        for (int spot = t.spot_first[first] + threadIdx.x; spot < t.spot_first[first + WIDE]; spot += THREADS) {
            double holding = t.spot_holding[spot];
            V force = {0.0, 0.0, 0.0};
            if (holding > 0.0) {
                force = at_spot(t, spot, t.z, 0.0) * holding;
            } else if (stiff(t, spot)) {
                V du = at_spot(t, spot, t.z, 0.0);
                double k[6];
                for (int i = 0; i < 6; i++) k[i] = t.spot_stiffness[i * t.spots + spot];
                force = {k[0] * du.x + k[1] * du.y + k[2] * du.z, k[1] * du.x + k[3] * du.y + k[4] * du.z,
                         k[2] * du.x + k[4] * du.y + k[5] * du.z};
            }
            t.spot_force[spot] = force.x;
            t.spot_force[t.spots + spot] = force.y;
            t.spot_force[2 * t.spots + spot] = force.z;
        }
        Cell cell = cell_of(t, number);
        if (warp < 8) {
            const float* kept = t.tangent + warp * t.padded + number;
            double shear = kept[9 * 8 * t.padded];
            double g[9], inverse[9], turn[9];
            gradient<false>(t, cell, warp, t.z, 0.0, g);
#pragma unroll
            for (int i = 0; i < 9; i++) inverse[i] = kept[i * 8 * t.padded];
            double alpha = kept[10 * 8 * t.padded], beta = kept[11 * 8 * t.padded];
#pragma unroll
            for (int i = 0; i < 3; i++)
#pragma unroll
                for (int j = 0; j < 3; j++)
                    turn[3 * i + j] = g[i] * inverse[j] + g[3 + i] * inverse[3 + j] + g[6 + i] * inverse[6 + j];
            double trace = alpha * (turn[0] + turn[4] + turn[8]);
#pragma unroll
            for (int c = 0; c < 3; c++)
#pragma unroll
                for (int d = 0; d < 3; d++) {
                    double third = inverse[3 * c] * turn[d] + inverse[3 * c + 1] * turn[3 + d] + inverse[3 * c + 2] * turn[6 + d];
                    stress[(warp * 9 + 3 * c + d) * WIDE + lane] =
                        beta * third + (trace * inverse[3 * c + d] + shear * g[3 * c + d]);
                }
        }
        __syncthreads();
        int c = warp / 3, d = warp % 3;
        double out[9];
        spread(t, cell, lane, c, d, t.bonds, stress, out);
        spread_spots(t, number, c, d, true, 1.0, out);
        spread_spots(t, number, c, d, false, 1.0, out);
        for (int i = 0; i < 9; i++) t.inner[((d * 9 + i) * 3 + c) * t.padded + number] = out[i];
        __syncthreads();
    }
}

__device__ inline double gathered(const Task& t, int item) {
    int c = item / t.all_nodes, node = item % t.all_nodes;
    int x = node % t.nodes[0], y = node / t.nodes[0] % t.nodes[1], z = node / (t.nodes[0] * t.nodes[1]);
    double sum = 0.0;
#pragma unroll
    for (int k = 0; k < 3; k++)
#pragma unroll
        for (int j = 0; j < 3; j++)
#pragma unroll
            for (int i = 0; i < 3; i++) {
                int cx = x - i, cy = y - j, cz = z - k;
                if (cx < 0 || cy < 0 || cz < 0 || cx >= t.cells[0] || cy >= t.cells[1] || cz >= t.cells[2]) continue;
                sum += t.inner[(((k * 3 + j) * 3 + i) * 3 + c) * t.padded + (cz * t.cells[1] + cy) * t.cells[0] + cx];
            }
    return sum;
}

// The diagonal of the contact's stiffness at a node.
__device__ __noinline__ double contact_diagonal(const Task& t, int item) {
    int c = item / t.all_nodes, node = item % t.all_nodes;
    int x = node % t.nodes[0], y = node / t.nodes[0] % t.nodes[1], z = node / (t.nodes[0] * t.nodes[1]);
    int place = c == 0 ? 0 : c == 1 ? 3 : 5;
    double sum = 0.0;
    for (int k = 0; k < 3; k++)
        for (int j = 0; j < 3; j++)
            for (int i = 0; i < 3; i++) {
                int cx = x - i, cy = y - j, cz = z - k;
                if (cx < 0 || cy < 0 || cz < 0 || cx >= t.cells[0] || cy >= t.cells[1] || cz >= t.cells[2]) continue;
                int cell = (cz * t.cells[1] + cy) * t.cells[0] + cx;
                if (t.surface[cell] < 0) continue;
                for (int spot = t.spot_first[cell]; spot < t.spot_first[cell + 1]; spot++) {
                    if (t.spot_holding[spot] > 0.0 || !stiff(t, spot)) continue;
                    const double* weight = t.spot_weight + spot;
                    double w = weight[i * t.spots] * weight[(3 + j) * t.spots] * weight[(6 + k) * t.spots];
                    sum += w * w * t.spot_stiffness[place * t.spots + spot];
                }
            }
    return sum;
}

#define ITEMS(t) int item = blockIdx.x * THREADS + threadIdx.x; item < 3 * (t).all_nodes; item += gridDim.x * THREADS

// The places of sums. Those of evaluations take turns, so that none is written while it is read.
#define DELTA 0
#define GAMMA 1
#define SLOPE 2
#define RHO 3
#define PENETRATION 4
#define LOAD 5
#define LAG 6
#define EVALUATED 7
#define SUMS 13

// Conjugate gradients in the way of Chronopoulos and Gear 1989: one product, two sums. Leaves the step, and returns its slope.
__device__ double conjugate(const Task& t, double forcing, long long& count, double* stress) {
    double sum = 0.0;
    for (ITEMS(t)) {
        double d = t.diagonal[item];
        d = d > 0.0 ? 1.0 / (d + contact_diagonal(t, item)) : 0.0;
        double r = t.residual[item], z = d * r;
        t.inverse[item] = d;
        t.r[item] = r;
        t.z[item] = z;
        t.p[item] = 0.0;
        t.s[item] = 0.0;
        t.step[item] = 0.0;
        sum += r * z;
    }
    give(t, RHO, sum);
    everyone(t);
    double gamma = taken(t, RHO), before = 0.0, alpha = 0.0;
    double goal = forcing * forcing * gamma;
    for (int i = 0; i < MAX_CONJUGATE; i++) {
        product(t, stress);
        everyone(t);
        double delta = 0.0;
        for (ITEMS(t)) {
            double w = t.inverse[item] > 0.0 ? gathered(t, item) : 0.0;
            t.w[item] = w;
            delta += t.z[item] * w;
        }
        give(t, DELTA, delta);
        everyone(t);
        delta = taken(t, DELTA);
        count++;
        double beta = i > 0 ? gamma / before : 0.0;
        double curvature = i > 0 ? delta - beta * gamma / alpha : delta;
        if (!(curvature > 0.0)) {
            if (i == 0)
                for (ITEMS(t)) t.step[item] = t.z[item];
            break;
        }
        alpha = gamma / curvature;
        double next = 0.0;
        for (ITEMS(t)) {
            double p = t.z[item] + beta * t.p[item], s = t.w[item] + beta * t.s[item];
            double r = t.r[item] - alpha * s, z = t.inverse[item] * r;
            t.p[item] = p;
            t.s[item] = s;
            t.step[item] += alpha * p;
            t.r[item] = r;
            t.z[item] = z;
            next += r * z;
        }
        give(t, GAMMA, next);
        everyone(t);
        before = gamma;
        gamma = taken(t, GAMMA);
        if (gamma <= goal) break;
    }
    double slope = 0.0;
    for (ITEMS(t)) slope += t.step[item] * t.residual[item];
    give(t, SLOPE, slope);
    everyone(t);
    return taken(t, SLOPE);
}

struct State {
    double residual, energy;
    long long newton, conjugate, updates, failed, evaluations;
};

// Newton's method at given pressures. Every round looks at one place: the first, a trial, or, where no trial is lower, the first again.
__device__ void newton(const Task& t, const Place* places, double tolerance, State& state, double* stress) {
    double energy = 0.0, load = 0.0, norm = 0.0, slope = 0.0, part = 0.0;
    bool lost = false;
    int steps = 0;
    while (true) {
        int slot = EVALUATED + 3 * (int)(state.evaluations++ & 1);
        evaluate(t, places, part, slot, stress);
        if (lost) return;
        double there = taken(t, slot);
        if (steps == 0) {
            if (!(fabs(there) < 1e200)) {
                state.failed = 1;
                return;
            }
        } else if (!(there <= energy - 1e-4 * part * slope + 1e-13 * fabs(energy))) {
            part *= 0.5;
            if (part < 1e-4) {
                // No way down: as far as rounding lets it go, or an edge on which contact cannot decide.
                lost = true;
                part = 0.0;
            }
            continue;
        } else {
            for (ITEMS(t)) t.u[item] += part * t.step[item];
        }
        energy = there;
        load = sqrt(taken(t, slot + 1));
        norm = sqrt(taken(t, slot + 2));
        if (steps == MAX_NEWTON) break;
        state.residual = load > 0.0 ? norm / load : 0.0;
        state.energy = energy;
        if (norm <= tolerance * fmax(load, 2.3e-308) || norm == 0.0) break;
        double forcing = fmin(fmax(0.3 * tolerance * load / norm, 1e-2), 0.2);
        slope = conjugate(t, forcing, state.conjugate, stress);
        state.newton++;
        steps++;
        part = 1.0;
    }
}

#define SPOTS(t) int spot = blockIdx.x * THREADS + threadIdx.x; spot < (t).spots; spot += gridDim.x * THREADS

__device__ __noinline__ Plane nearest_plane(const Task& t, const Place* places, V at) {
    Gap gap = {0.0, {0.0, 0.0, 1.0}};
    Plane plane;
    plane.object = nearest(t, places, at, gap);
    plane.foot = at - gap.normal * gap.distance;
    plane.normal = gap.normal;
    return plane;
}

// Rest for one place of the things, from the one before.
__device__ void solve(const Task& t, const Place* before, const Place* places, double residual, double gap_m, State& state,
                      double* stress) {
    for (SPOTS(t)) {
        if (t.spot_holding[spot] > 0.0) continue;
        Plane plane = nearest_plane(t, before, rest_of(t, spot) + at_spot(t, spot, t.u, 0.0));
        if (plane.object >= 0) {
            const double *in = before[plane.object].in, *out = places[plane.object].out;
            plane.foot = moved(out, moved(in, plane.foot));
            plane.normal = unit_or(turned(out, turned(in, plane.normal)), {0.0, 0.0, 1.0});
        }
        t.planes[spot] = plane;
    }
    everyone(t);
    int most = MAX_UPDATES;
    bool was_stuck = false;
    int update = 0;
    while (true) {
        double wanted = update == 0 ? fmax(residual, 1e-2) : residual;
        newton(t, places, wanted, state, stress);
        if (state.failed) return;
        state.updates++;
        update++;
        bool stuck = state.residual > wanted;
        double penetration = 0.0, load = 0.0, lag = 0.0;
        for (SPOTS(t)) {
            if (t.spot_holding[spot] > 0.0 || t.near[spot].object < 0) continue;
            double press = t.near[spot].press;
            double known = t.holds[spot].object >= 0 ? t.holds[spot].pressure * t.spot_area[spot] : 0.0;
            penetration += press * t.near[spot].distance;
            load += press;
            lag += fabs(press - known);
        }
        give(t, PENETRATION, penetration);
        give(t, LOAD, load);
        give(t, LAG, lag);
        everyone(t);
        load = taken(t, LOAD);
        double deep = load > 0.0 ? fabs(taken(t, PENETRATION) / load) : 0.0;
        double slack = t.friction > 0.0 && load > 0.0 ? taken(t, LAG) / load : 0.0;
        bool done = (deep <= gap_m && slack <= 0.01 && !stuck) || update >= most;
        bool end = done && update > 1;
        if (!end && stuck && !was_stuck) {
            was_stuck = true;
            most = update + MAX_UPDATES;
        }
        for (SPOTS(t)) {
            if (t.spot_holding[spot] > 0.0) continue;
            const Near& near = t.near[spot];
            Hold hold = {0.0, {0.0, 0.0, 0.0}, -1};
            if (near.object >= 0 && near.press > 0.0) {
                const double* in = places[near.object].in;
                hold.object = near.object;
                hold.pressure = near.press / t.spot_area[spot];
                hold.anchor = t.holds[spot].object == near.object ? t.holds[spot].anchor : moved(in, near.at);
                if (done && dot(near.slip, near.slip) > 0.0) {
                    double stretch = length(near.rub) / (t.tangential * t.spot_area[spot]);
                    hold.anchor = moved(in, near.at - near.slip * stretch);
                }
            }
            t.holds[spot] = hold;
            if (end) continue;
            V at = rest_of(t, spot) + at_spot(t, spot, t.u, 0.0);
            Plane next = nearest_plane(t, places, at), old = t.planes[spot];
            if (next.object >= 0) {
                bool stays = false;
                if (old.object >= 0 && !(next.object == old.object && dot(next.normal, old.normal) >= 0.7)) {
                    V foot = at - old.normal * plane_gap(old, at).distance;
                    Gap gap;
                    stays = placed_gap(t.shapes[old.object], places[old.object], foot, t.reach, gap) &&
                            fabs(gap.distance) < 0.05 * t.reach;
                }
                if (stays)
                    next = old;
                else if (!was_stuck)
                    next.object = -1;
            }
            t.planes[spot] = next;
        }
        everyone(t);
        if (end) return;
    }
}

// The forces (before what is bonded is folded in) and the energy of the strain at rest.
__device__ void report(const Task& t, State& state, double* stress) {
    int lane = threadIdx.x % WIDE, warp = threadIdx.x / WIDE;
    double energy = 0.0;
    for (int batch = blockIdx.x; batch < t.batches; batch += gridDim.x) {
        int number = batch * WIDE + lane;
        Cell cell = cell_of(t, number);
        if (warp < 8) {
            double fill = t.fill[warp * t.padded + number], h[9];
            Answer out = {};
            if (fill > 0.0) {
                gradient<false>(t, cell, warp, t.u, 0.0, h);
                answer(t, h, out);
            }
            energy += fill * t.volume * out.energy;
            for (int i = 0; i < 9; i++) stress[(warp * 9 + i) * WIDE + lane] = fill * t.volume * out.stress[i];
        }
        __syncthreads();
        int c = warp / 3, d = warp % 3;
        double out[9];
        spread(t, cell, lane, c, d, 0, stress, out);
        for (int i = 0; i < 9; i++) t.inner[((d * 9 + i) * 3 + c) * t.padded + number] = out[i];
        __syncthreads();
    }
    give(t, RHO, energy);
    everyone(t);
    for (ITEMS(t)) t.residual[item] = gathered(t, item);
    energy = taken(t, RHO);
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        *t.outcome = {state.residual, state.energy, energy, state.newton, state.conjugate, state.updates, state.failed};
    }
}

extern "C" __global__ void __launch_bounds__(THREADS, 2) press(const __grid_constant__ Task t) {
    __shared__ double stress[8 * 9 * WIDE];
    State state = {};
    for (int load = 1; load <= t.loads && !state.failed; load++) {
        bool last = load == t.loads;
        const Place* before = t.places + (load - 1) * t.objects;
        solve(t, before, before + t.objects, last ? t.fine_residual : t.rough_residual, last ? t.fine_gap : t.rough_gap, state,
              stress);
    }
    report(t, state, stress);
}
