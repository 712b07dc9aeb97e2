// Springs under one object, a warp for each press. KIND, STACK and STEP are given when it is compiled.

struct Skin {
    double depth;
    double stiffness_texel, stiffness_area;
    double damping_texel, damping_area;
    double slanted;
    double sigma0, sigma1, viscous, mu_static, mu_dynamic, speed;
    // Point, normal, area and share of all sites, number by number.
    const double* sites;
    // Outward normals of the taxels, axis by axis; only where each site is a taxel.
    const double* taxel_normals;
    // Depths, loads.
    const double* table;
    u32 rows;
    u32 count;
    int table_per_area;
    int friction;
};

#define NO_FRICTION 0
#define LUGRE 1
#define COULOMB 2
#define MIN_COSINE 0.2
#define NEAR 0.05

struct Met {
    double depth;
    V3 normal;
    u32 triangle;
    bool saturated;
};

// Where the object is, seen from the rays.
struct Seen {
    Turn object_from_sensor;
    V3 origin;
};

__device__ __forceinline__ Seen seen(const double* __restrict__ pose) {
    V3 at = v3(pose[0], pose[1], pose[2]);
    Seen s;
#if KIND == BALL
    s.origin = neg(at);
#else
    double w = pose[3];
    V3 back = v3(-pose[4], -pose[5], -pose[6]);
    s.object_from_sensor = turn_of(w, back.x, back.y, back.z);
    s.origin = neg(turned(w, back, at));
#endif
    return s;
}

__device__ __forceinline__ V3 to_object(const Seen& s, V3 v) {
#if KIND == BALL
    return v;
#else
    return apply(s.object_from_sensor, v);
#endif
}
__device__ __forceinline__ V3 to_sensor(const Seen& s, V3 v) {
#if KIND == BALL
    return v;
#else
    return apply_back(s.object_from_sensor, v);
#endif
}

__device__ __forceinline__ bool meet(const Shape& shape, const Seen& seen, double h, V3 point, V3 out, u32 hint,
                                     Met& met) {
    V3 start = sub(point, mul(out, h));
    V3 origin = add(to_object(seen, start), seen.origin);
    V3 direction = to_object(seen, out);
    bool inside = shape.closed && shape.low[0] <= origin.x && origin.x <= shape.high[0] && shape.low[1] <= origin.y &&
                  origin.y <= shape.high[1] && shape.low[2] <= origin.z && origin.z <= shape.high[2];
    Hit hit;
    if (!cast(shape, origin, direction, inside ? fmax(h, shape.all_through) : h, hint, hit)) return false;
    bool leaving = dot(hit.normal, direction) > 0.0;
    met.triangle = hit.triangle;
    if (leaving && shape.closed) {
        Hit behind;
        if (cast(shape, origin, neg(direction), shape.all_through, NONE, behind) &&
            dot(behind.normal, direction) <= 0.0) {
            met.depth = h;
            met.normal = neg(to_sensor(seen, behind.normal));
            met.saturated = true;
            return true;
        }
        met.normal = out;
    } else {
        met.normal = to_sensor(seen, leaving ? hit.normal : neg(hit.normal));
    }
    met.depth = h - hit.distance;
    met.saturated = false;
    return hit.distance <= h;
}

__device__ __forceinline__ double spring(const Skin& skin, double depth, double share, double area) {
    if (skin.rows == 0) return (skin.stiffness_texel * share + skin.stiffness_area * area) * depth;
    const double* depths = skin.table;
    const double* loads = skin.table + skin.rows;
    u32 piece = 0;
    while (piece + 2 < skin.rows && depths[piece + 1] <= depth) piece++;
    double slope = (loads[piece + 1] - loads[piece]) / (depths[piece + 1] - depths[piece]);
    return (loads[piece] + slope * (depth - depths[piece])) * (skin.table_per_area ? area : share);
}

#if STEP
__device__ __forceinline__ void decay(double x, double& left, double& phi) {
    if (x < NEAR) {
        double xx = x * x;
        double low = (1.0 - x * (1.0 / 2.0)) + xx * ((1.0 / 6.0 - x * (1.0 / 24.0)) + xx * (1.0 / 120.0));
        double high = (1.0 / 720.0 - x * (1.0 / 5040.0)) + xx * (1.0 / 40320.0 - x * (1.0 / 362880.0));
        phi = low - xx * xx * x * high;
        left = 1.0 - x * phi;
    } else {
        double lost = expm1(-x);
        left = 1.0 + lost;
        phi = -lost / x;
    }
}

// Turns a deflection with the contact plane.
__device__ V3 carried(V3 z, V3 from, V3 to) {
    if (from.x == to.x && from.y == to.y && from.z == to.z) return z;
    double cosine = dot(from, to), one_and_cosine = 1.0 + cosine;
    V3 t;
    if (one_and_cosine > 1e-6) {
        t = sub(z, mul(from, dot(add(from, to), z) / one_and_cosine));
    } else if (cosine < -(1.0 - 2.0 * 2.220446049250313e-16)) {
        // Opposite normals: any half turn will do, and this is the CPU's.
        double sign = copysign(1.0, from.z), a = -1.0 / (sign + from.z), b = from.x * from.y * a;
        V3 axis = v3(b, sign + from.y * from.y * a, -from.y);
        t = turned(6.123233995736766e-17, axis, z);
    } else {
        V3 c = cross(from, to);
        double recip = 1.0 / sqrt(dot(c, c) + one_and_cosine * one_and_cosine);
        t = turned(one_and_cosine * recip, mul(c, recip), z);
    }
    return sub(t, mul(to, dot(t, to)));
}

__device__ __forceinline__ void rub(const Skin& skin, V3 v, double load, double share, double dt, V3& z, V3& force) {
    V3 zero = v3(0.0, 0.0, 0.0);
    if (skin.friction == NO_FRICTION) {
        z = zero;
        force = zero;
        return;
    }
    double squared = dot(v, v), speed = sqrt(squared);
    if (skin.friction == COULOMB) {
        z = zero;
        force = mul(v, skin.mu_static * fmax(load, 0.0) / fmax(speed, skin.speed));
        return;
    }
    double fall, left, phi;
    decay(squared / (skin.speed * skin.speed), fall, phi);
    double g = load * (skin.mu_dynamic + (skin.mu_static - skin.mu_dynamic) * fall);
    bool steady = g > 0.0;
    double a = steady ? skin.sigma0 * share * speed / g : 0.0;
    decay(a * dt, left, phi);
    double by = dt * phi;
    V3 next = steady ? add(mul(z, left), mul(v, by)) : zero;
    V3 rate = sub(v, mul(next, a));
    V3 bristles = steady ? add(mul(next, skin.sigma0), mul(rate, skin.sigma1)) : zero;
    force = load > 0.0 ? mul(add(bristles, mul(v, skin.viscous)), share) : zero;
    z = next;
}
#endif

#define WARPS 8
#define ALL 0xffffffffu

__device__ __forceinline__ double warp_sum(double x) {
    for (int k = 16; k > 0; k >>= 1) x += __shfl_down_sync(ALL, x, k);
    return x;
}

// forces: (n, sites, 3). values: (n, sites), where each site is a taxel (taxel_normals given). wrench: (n, 6). saturated: (n).
// Of a step also twists (n, 6), as velocities at the sensor's origin, and the bristles: deflection and normal (n, 6, sites) and the
// triangle met last (n, sites).
// Three blocks side by side: with fewer registers for each more warps hide the way to memory.
extern "C" __global__ void __launch_bounds__(32 * WARPS, 3)
    springs(Skin skin, Shape shape, const double* __restrict__ poses, u32 n, double* __restrict__ forces,
            double* __restrict__ values, double* __restrict__ wrench, u32* __restrict__ saturated
#if STEP
            ,
            const double* __restrict__ twists, double dt, double* __restrict__ bristles, u32* __restrict__ held
#endif
    ) {
    __shared__ double stage[WARPS][96];
    u32 lane = threadIdx.x & 31u, warp = threadIdx.x >> 5;
    u32 press = blockIdx.x * WARPS + warp;
    if (press >= n) return;
    Seen where = seen(poses + 7 * (u64)press);
    u32 count = skin.count;
    const double* sites = skin.sites;
    double* row = forces + 3 * (u64)press * count;
    V3 force_sum = v3(0.0, 0.0, 0.0), torque_sum = v3(0.0, 0.0, 0.0);
    u32 beyond = 0;
#if STEP
    const double* twist = twists + 6 * (u64)press;
    V3 linear = v3(twist[0], twist[1], twist[2]), angular = v3(twist[3], twist[4], twist[5]);
    double* own = bristles + 6 * (u64)press * count;
#endif
    for (u32 first = 0; first < count; first += 32) {
        u32 site = first + lane;
        V3 force = v3(0.0, 0.0, 0.0);
        if (site < count) {
            V3 point = v3(sites[site], sites[count + site], sites[2 * count + site]);
            V3 out = v3(sites[3 * count + site], sites[4 * count + site], sites[5 * count + site]);
            double area = sites[6 * count + site], share = sites[7 * count + site];
            u32 hint = NONE;
#if STEP
            u32* last = held + (u64)press * count + site;
            hint = *last;
#endif
            Met met;
            bool touched = meet(shape, where, skin.depth, point, out, hint, met);
            if (touched) {
                V3 at = sub(point, mul(out, met.depth));
                double cosine = fmax(dot(out, met.normal), MIN_COSINE);
                double lever = skin.slanted * (1.0 / cosine) + (1.0 - skin.slanted);
                double damping = skin.damping_texel * share + skin.damping_area * area;
                double approach = 0.0;
#if STEP
                V3 v = add(linear, cross(angular, at));
                approach = -dot(v, met.normal);
#endif
                double load =
                    fmax((spring(skin, met.depth, share, area) + damping * approach * lever) * lever, 0.0);
                V3 friction = v3(0.0, 0.0, 0.0);
#if STEP
                v = add(v, mul(met.normal, approach));
                V3 z = v3(0.0, 0.0, 0.0);
                if (hint != NONE) {
                    z = v3(own[site], own[count + site], own[2 * count + site]);
                    V3 from = v3(own[3 * count + site], own[4 * count + site], own[5 * count + site]);
                    z = carried(z, from, met.normal);
                }
                rub(skin, v, load, share, dt, z, friction);
                own[site] = z.x;
                own[count + site] = z.y;
                own[2 * count + site] = z.z;
                own[3 * count + site] = met.normal.x;
                own[4 * count + site] = met.normal.y;
                own[5 * count + site] = met.normal.z;
#endif
                force = sub(friction, mul(met.normal, load));
                force_sum = add(force_sum, force);
                torque_sum = add(torque_sum, cross(at, force));
                beyond += met.saturated ? 1u : 0u;
            }
#if STEP
            u32 now = touched ? met.triangle : NONE;
            if (now != hint) *last = now;
#endif
            if (skin.taxel_normals) {
                V3 normal = v3(skin.taxel_normals[site], skin.taxel_normals[count + site],
                               skin.taxel_normals[2 * count + site]);
                values[(u64)press * count + site] = 0.0 - dot(force, normal);
            }
        }
        // Through shared memory, so that what is written lies side by side.
        double* own_stage = stage[warp];
        own_stage[3 * lane] = force.x;
        own_stage[3 * lane + 1] = force.y;
        own_stage[3 * lane + 2] = force.z;
        __syncwarp();
        u32 left = 3 * min(32u, count - first);
        for (u32 k = lane; k < left; k += 32) row[3 * (u64)first + k] = own_stage[k];
        __syncwarp();
    }
    double sums[6] = {force_sum.x, force_sum.y, force_sum.z, torque_sum.x, torque_sum.y, torque_sum.z};
    for (int k = 0; k < 6; k++) sums[k] = warp_sum(sums[k]);
    for (int k = 16; k > 0; k >>= 1) beyond += __shfl_down_sync(ALL, beyond, k);
    if (lane == 0) {
        for (int k = 0; k < 6; k++) wrench[6 * (u64)press + k] = sums[k];
        saturated[press] = beyond;
    }
}

// Taxels under sites that are parts of them, or that a cover spreads: force = Σ weight × force of a site, in the order of the sites.
// starts has one row more than there are taxels: what falls outside all of them.
extern "C" __global__ void share_out(const u32* __restrict__ starts, const u32* __restrict__ from,
                                     const double* __restrict__ weights, u32 taxels, u32 sites, u32 n,
                                     const double* __restrict__ site_forces, const double* __restrict__ normals,
                                     double* __restrict__ forces, double* __restrict__ values,
                                     double* __restrict__ outside) {
    u64 index = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    u32 rows = taxels + 1;
    if (index >= (u64)n * rows) return;
    u32 press = (u32)(index / rows), row = (u32)(index % rows);
    const double* all = site_forces + 3 * (u64)press * sites;
    V3 sum = v3(0.0, 0.0, 0.0);
    for (u32 k = starts[row]; k < starts[row + 1]; k++) {
        const double* f = all + 3 * (u64)from[k];
        sum = add(sum, mul(v3(f[0], f[1], f[2]), weights[k]));
    }
    double* to = row < taxels ? forces + 3 * ((u64)press * taxels + row) : outside + 3 * (u64)press;
    to[0] = sum.x;
    to[1] = sum.y;
    to[2] = sum.z;
    if (row < taxels) {
        V3 normal = v3(normals[row], normals[taxels + row], normals[2 * taxels + row]);
        values[(u64)press * taxels + row] = 0.0 - dot(sum, normal);
    }
}
