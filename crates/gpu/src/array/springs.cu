// Springs under one object (Moisio et al. 2013, algorithm 1): `dermis_skin::Springs` with the same operations and the same rounding. One
// warp per press, one lane per spring. KIND, STACK and STEP are compile-time definitions; with STEP the object moves and bristles have a
// history, otherwise the object is at rest.

#define NO_FRICTION 0
#define LUGRE 1
#define COULOMB 2
#define MIN_COSINE 0.2
// exp(−x) uses a series for x below this value.
#define SMALL_EXPONENT 0.05
// Presses per block.
#define WARPS 8

// Contact of a spring: depth (m), outward normal in the sensor's frame, triangle, and whether the object is beyond the full depth.
struct Contact {
    double depth;
    Vec3 normal;
    u32 triangle;
    bool saturated;
};

// Vector i of an array that is stored axis by axis.
__device__ __forceinline__ Vec3 vector_at(const double* axes, u32 count, u32 i) {
    return vec3(axes[i], axes[count + i], axes[2 * count + i]);
}
__device__ __forceinline__ void set_vector(double* axes, u32 count, u32 i, Vec3 v) {
    axes[i] = v.x;
    axes[count + i] = v.y;
    axes[2 * count + i] = v.z;
}

// Transforms from the sensor's frame to the object's. A sphere needs no rotation: its frame has the axes of the sensor.
struct Placement {
    Mat3 object_from_sensor;
    Vec3 sensor_origin_in_object;
};

__device__ __forceinline__ Placement placement_of(const double* __restrict__ pose) {
    Placement p;
#if KIND == SPHERE
    p.sensor_origin_in_object = -position_of(pose);
#else
    Quat object_from_sensor = conjugate(rotation_of(pose));
    p.object_from_sensor = matrix_of(object_from_sensor);
    p.sensor_origin_in_object = -rotate(object_from_sensor, position_of(pose));
#endif
    return p;
}

__device__ __forceinline__ Vec3 to_object(const Placement& p, Vec3 v) {
#if KIND == SPHERE
    return v;
#else
    return p.object_from_sensor * v;
#endif
}
__device__ __forceinline__ Vec3 to_sensor(const Placement& p, Vec3 v) {
#if KIND == SPHERE
    return v;
#else
    return transposed(p.object_from_sensor) * v;
#endif
}

// Casts a ray from point − h out to point; the depth is h minus the distance of the hit. If the ray starts inside a closed object that
// covers it completely, the depth is h and the spring is saturated.
__device__ __forceinline__ bool find_contact(const ObjectView& object, const Placement& placement, double h, Vec3 point, Vec3 out,
                                             u32 hint, Contact& contact) {
    Vec3 start = point - out * h;
    Vec3 origin = to_object(placement, start) + placement.sensor_origin_in_object;
    Vec3 direction = to_object(placement, out);
    bool inside = object.closed && object.low[0] <= origin.x && origin.x <= object.high[0] && object.low[1] <= origin.y &&
                  origin.y <= object.high[1] && object.low[2] <= origin.z && origin.z <= object.high[2];
    Hit hit;
    if (!cast(object, origin, direction, inside ? fmax(h, object.diagonal) : h, hint, hit)) return false;
    bool leaving = dot(hit.normal, direction) > 0.0;
    contact.triangle = hit.triangle;
    if (leaving && object.closed) {
        Hit behind;
        if (cast(object, origin, -direction, object.diagonal, NONE, behind) && dot(behind.normal, direction) <= 0.0) {
            contact.depth = h;
            contact.normal = -to_sensor(placement, behind.normal);
            contact.saturated = true;
            return true;
        }
        contact.normal = out;
    } else {
        contact.normal = to_sensor(placement, leaving ? hit.normal : -hit.normal);
    }
    contact.depth = h - hit.distance;
    contact.saturated = false;
    return hit.distance <= h;
}

// Elastic force (N) at a depth (m): k d, or a table with linear interpolation and extrapolation.
__device__ __forceinline__ double elastic_force(const SpringSkin& skin, double depth, double share, double area) {
    if (skin.table_rows == 0) return (skin.stiffness_texel * share + skin.stiffness_area * area) * depth;
    const double* depths = skin.table;
    const double* loads = skin.table + skin.table_rows;
    u32 piece = 0;
    while (piece + 2 < skin.table_rows && depths[piece + 1] <= depth) piece++;
    double slope = (loads[piece + 1] - loads[piece]) / (depths[piece + 1] - depths[piece]);
    return (loads[piece] + slope * (depth - depths[piece])) * (skin.table_per_area ? area : share);
}

#if STEP
// exp(−x) and φ = (1 − exp(−x)) / x.
__device__ __forceinline__ void decay(double x, double& exponential, double& phi) {
    if (x < SMALL_EXPONENT) {
        double xx = x * x;
        double low = (1.0 - x * (1.0 / 2.0)) + xx * ((1.0 / 6.0 - x * (1.0 / 24.0)) + xx * (1.0 / 120.0));
        double high = (1.0 / 720.0 - x * (1.0 / 5040.0)) + xx * (1.0 / 40320.0 - x * (1.0 / 362880.0));
        phi = low - xx * xx * x * high;
        exponential = 1.0 - x * phi;
    } else {
        double lost = expm1(-x);
        exponential = 1.0 + lost;
        phi = -lost / x;
    }
}

// Rotates a deflection (m) with the contact plane, by the smallest rotation from one normal to the other.
__device__ Vec3 carried(Vec3 z, Vec3 from, Vec3 to) {
    if (from.x == to.x && from.y == to.y && from.z == to.z) return z;
    double cosine = dot(from, to), one_and_cosine = 1.0 + cosine;
    Vec3 t;
    if (one_and_cosine > 1e-6) {
        t = z - from * (dot(from + to, z) / one_and_cosine);
    } else if (cosine < -(1.0 - 2.0 * 2.220446049250313e-16)) {
        // Opposite normals: a rotation by 180° about the axis that the CPU chooses.
        double sign = copysign(1.0, from.z), a = -1.0 / (sign + from.z), b = from.x * from.y * a;
        t = rotate(Quat{b, sign + from.y * from.y * a, -from.y, 6.123233995736766e-17}, z);
    } else {
        Vec3 c = cross(from, to);
        double recip = 1.0 / sqrt(dot(c, c) + one_and_cosine * one_and_cosine);
        Vec3 axis = c * recip;
        t = rotate(Quat{axis.x, axis.y, axis.z, one_and_cosine * recip}, z);
    }
    return t - to * dot(t, to);
}

// The vector, shortened to at most `limit`.
__device__ __forceinline__ Vec3 bounded(Vec3 a, double limit) {
    double length = sqrt(dot(a, a));
    return length > limit ? a * (limit / length) : a;
}

// Friction on the sensor (N) and the bristle's deflection z (m) after dt:
//   LuGre    ż = v − σ₀|v| z / g,  g = f_n (μ_d + (μ_s − μ_d) exp(−(|v|/v_s)²)),  force = σ₀ z + σ₁ ż + c_t v;  v held over the step;
//            |σ₀ z| and |force| are at most μ_s f_n
//   Coulomb  force = μ f_n v / max(|v|, v₀)
// v: velocity (m/s) of the object in the contact plane; load: f_n (N); share: the spring's fraction of its texel.
__device__ __forceinline__ void friction_force(const SpringSkin& skin, Vec3 v, double load, double share, double dt, Vec3& z,
                                               Vec3& force) {
    Vec3 zero = vec3(0.0, 0.0, 0.0);
    if (skin.friction == NO_FRICTION) {
        z = zero;
        force = zero;
        return;
    }
    double squared = dot(v, v), speed = sqrt(squared);
    if (skin.friction == COULOMB) {
        z = zero;
        force = v * (skin.mu_static * fmax(load, 0.0) / fmax(speed, skin.speed));
        return;
    }
    double fall, left, phi;
    decay(squared / (skin.speed * skin.speed), fall, phi);
    double g = load * (skin.mu_dynamic + (skin.mu_static - skin.mu_dynamic) * fall);
    bool steady = g > 0.0;
    double a = steady ? skin.sigma0 * share * speed / g : 0.0;
    decay(a * dt, left, phi);
    z = bounded(z, skin.mu_static * load / (skin.sigma0 * share));
    double by = dt * phi;
    Vec3 next = steady ? z * left + v * by : zero;
    Vec3 rate = v - next * a;
    Vec3 bristles = steady ? next * skin.sigma0 + rate * skin.sigma1 : zero;
    force = load > 0.0 ? bounded((bristles + v * skin.viscous) * share, skin.mu_static * load) : zero;
    z = next;
}
#endif

// The motion of one press and the history of its springs; unused without STEP.
struct Motion {
    Vec3 linear, angular;
    double dt;
    // Deflection (m) and contact normal, (6, sites), and the triangle that each spring touched last, (sites).
    double* bristles;
    u32* held;
};

// Force (N) on the sensor of one spring in contact, at the point `at`:
//   f_n = max((k d + c ḋ / (n·n_c)) / (n·n_c), 0); the law of the paper omits the quotients.
__device__ __forceinline__ Vec3 contact_force(const SpringSkin& skin, const Contact& contact, u32 site, bool had_contact, Vec3 out, Vec3 at,
                                              double area, double share, const Motion& motion) {
    double cosine = fmax(dot(out, contact.normal), MIN_COSINE);
    double lever = skin.conservative * (1.0 / cosine) + (1.0 - skin.conservative);
    double damping = skin.damping_texel * share + skin.damping_area * area;
    double approach = 0.0;
#if STEP
    Vec3 v = motion.linear + cross(motion.angular, at);
    approach = -dot(v, contact.normal);
#endif
    double load = fmax((elastic_force(skin, contact.depth, share, area) + damping * approach * lever) * lever, 0.0);
    Vec3 friction = vec3(0.0, 0.0, 0.0);
#if STEP
    u32 count = skin.count;
    double* own = motion.bristles;
    v = v + contact.normal * approach;
    Vec3 z = vec3(0.0, 0.0, 0.0);
    if (had_contact) z = carried(vector_at(own, count, site), vector_at(own + 3 * count, count, site), contact.normal);
    friction_force(skin, v, load, share, motion.dt, z, friction);
    set_vector(own, count, site, z);
    set_vector(own + 3 * count, count, site, contact.normal);
#endif
    return friction - contact.normal * load;
}

// A lane's sums over its springs.
struct Sums {
    Vec3 force, torque;
    u32 points, saturated;
};

// Force (N) of one spring on the sensor; zero without contact.
__device__ __forceinline__ Vec3 spring_force(const SpringSkin& skin, const ObjectView& object, const Placement& placement, u32 site,
                                             const Motion& motion, Sums& sums) {
    const double* sites = skin.sites;
    u32 count = skin.count;
    Vec3 point = vector_at(sites, count, site), out = vector_at(sites + 3 * count, count, site);
    double area = sites[6 * count + site], share = sites[7 * count + site];
    u32 hint = NONE;
#if STEP
    hint = motion.held[site];
#endif
    Contact contact;
    Vec3 force = vec3(0.0, 0.0, 0.0);
    bool touches = find_contact(object, placement, skin.max_penetration, point, out, hint, contact);
    if (touches) {
        Vec3 at = point - out * contact.depth;
        force = contact_force(skin, contact, site, hint != NONE, out, at, area, share, motion);
        sums.force = sums.force + force;
        sums.torque = sums.torque + cross(at, force);
        sums.points += 1u;
        sums.saturated += contact.saturated ? 1u : 0u;
    }
#if STEP
    u32 now = touches ? contact.triangle : NONE;
    if (now != hint) motion.held[site] = now;
#endif
    return force;
}

// Contact loads of n presses: one warp per press, WARPS warps per block; lane i computes springs i, i + 32, ….
// forces: (n, sites, 3). values: (n, sites), if each site is a taxel (taxel_normals is not null). wrench: (n, 6). points, saturated: (n).
// With STEP also twists (n, 6), velocities at the sensor's origin, and the history: bristles (n, 6, sites) and held (n, sites).
// The launch bound of three blocks per multiprocessor limits the registers per thread, so that more warps hide the memory latency.
extern "C" __global__ void __launch_bounds__(32 * WARPS, 3)
    springs(SpringSkin skin, ObjectView object, const double* __restrict__ poses, u32 n, double* __restrict__ forces,
            double* __restrict__ values, double* __restrict__ wrench, u32* __restrict__ points, u32* __restrict__ saturated,
            const double* __restrict__ twists, double dt, double* __restrict__ bristles, u32* __restrict__ held) {
    __shared__ double stage[WARPS][96];
    u32 lane = threadIdx.x & 31u, warp = threadIdx.x >> 5;
    u32 press = blockIdx.x * WARPS + warp;
    if (press >= n) return;
    Placement placement = placement_of(poses + 7 * (u64)press);
    u32 count = skin.count;
    double* row = forces + 3 * (u64)press * count;
    Sums sums{vec3(0.0, 0.0, 0.0), vec3(0.0, 0.0, 0.0), 0, 0};
    Motion motion;
#if STEP
    const double* twist = twists + 6 * (u64)press;
    motion = Motion{vec3(twist), vec3(twist + 3), dt, bristles + 6 * (u64)press * count, held + (u64)press * count};
#endif
    for (u32 first = 0; first < count; first += 32) {
        u32 site = first + lane;
        Vec3 force = vec3(0.0, 0.0, 0.0);
        if (site < count) {
            force = spring_force(skin, object, placement, site, motion, sums);
            if (skin.taxel_normals)
                values[(u64)press * count + site] = 0.0 - dot(force, vector_at(skin.taxel_normals, count, site));
        }
        // Through shared memory, so that the writes of the warp are coalesced.
        double* own_stage = stage[warp];
        own_stage[3 * lane] = force.x;
        own_stage[3 * lane + 1] = force.y;
        own_stage[3 * lane + 2] = force.z;
        __syncwarp();
        u32 left = 3 * min(32u, count - first);
        for (u32 k = lane; k < left; k += 32) row[3 * (u64)first + k] = own_stage[k];
        __syncwarp();
    }
    double all[6] = {sums.force.x, sums.force.y, sums.force.z, sums.torque.x, sums.torque.y, sums.torque.z};
    for (int k = 0; k < 6; k++) all[k] = warp_sum(all[k]);
    u32 touched = warp_sum(sums.points), beyond = warp_sum(sums.saturated);
    if (lane == 0) {
        for (int k = 0; k < 6; k++) wrench[6 * (u64)press + k] = all[k];
        points[press] = touched;
        saturated[press] = beyond;
    }
}

// Forces of taxels that consist of several springs or lie under a cover that spreads forces: force = Σ weight × force of a site, in the
// order of the sites. A sparse matrix by rows: `starts` has taxels + 2 entries; the last row is the force outside all taxels. One thread
// per row of each press. site_forces: (n, sites, 3). normals: (3, taxels). forces: (n, taxels, 3). values: (n, taxels). outside: (n, 3).
extern "C" __global__ void sum_over_taxels(const u32* __restrict__ starts, const u32* __restrict__ from,
                                           const double* __restrict__ weights, u32 taxels, u32 sites, u32 n,
                                           const double* __restrict__ site_forces, const double* __restrict__ normals,
                                           double* __restrict__ forces, double* __restrict__ values, double* __restrict__ outside) {
    u64 index = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    u32 rows = taxels + 1;
    if (index >= (u64)n * rows) return;
    u32 press = (u32)(index / rows), row = (u32)(index % rows);
    const double* all = site_forces + 3 * (u64)press * sites;
    Vec3 sum = vec3(0.0, 0.0, 0.0);
    for (u32 k = starts[row]; k < starts[row + 1]; k++) sum = sum + vec3(all + 3 * (u64)from[k]) * weights[k];
    double* to = row < taxels ? forces + 3 * ((u64)press * taxels + row) : outside + 3 * (u64)press;
    to[0] = sum.x;
    to[1] = sum.y;
    to[2] = sum.z;
    if (row < taxels) values[(u64)press * taxels + row] = 0.0 - dot(sum, vector_at(normals, taxels, row));
}
