// One spring under one object (Moisio et al. 2013, algorithm 1): `dermis_skin::Springs` with the same operations and the same rounding.
// KIND and STACK (ray.cuh), SCALAR (common.cuh), STEP and RANDOM are compile-time definitions; with STEP the object moves and bristles have a history, otherwise
// the object is at rest; with RANDOM parameters differ from environment to environment. Friction is that of friction.cuh.

#define MIN_COSINE 0.2
// Presses or environments per block, one warp each.
#define WARPS 8

// Contact of a spring: depth (m), outward normal in the sensor's frame, triangle, and whether the object is beyond the full depth.
struct Contact {
    Scalar depth;
    Vec3 normal;
    u32 triangle;
    bool saturated;
};

// Vector i of an array that is stored axis by axis.
__device__ __forceinline__ Vec3 vector_at(const Scalar* axes, u32 count, u32 i) {
    return vec3(axes[i], axes[count + i], axes[2 * count + i]);
}

// Transforms from the sensor's frame to the object's. A sphere needs no rotation: its frame has the axes of the sensor. In single precision
// points are moved before they are rotated: the error of the rotation then grows with the size of the object and not with that of the sensor.
struct Placement {
    Mat3 object_from_sensor;
    Vec3 sensor_origin_in_object, position;
};

__device__ __forceinline__ Placement placement_of(Vec3 position, Quat rotation) {
    Placement p;
    p.position = position;
#if KIND == SPHERE
    p.sensor_origin_in_object = -position;
#else
    Quat object_from_sensor = conjugate(rotation);
    p.object_from_sensor = matrix_of(object_from_sensor);
    p.sensor_origin_in_object = -rotate(object_from_sensor, position);
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

// Zero for a component of a unit vector whose square, divided by that of a small radius, is not a number of f32.
__device__ __forceinline__ Scalar cleared(Scalar x) { return fabs(x) < Scalar(1e-12) ? Scalar(0.0) : x; }

// Casts a ray from point − h out to point; the depth is h minus the distance of the hit. If the ray starts inside a closed object that
// covers it completely, the depth is h and the spring is saturated.
__device__ __forceinline__ bool find_contact(const ObjectView& object, const Placement& placement, Scalar h, Vec3 point, Vec3 out,
                                             u32 hint, Contact& contact) {
    Vec3 start = point - out * h;
    Vec3 origin = IS_SINGLE ? to_object(placement, start - placement.position)
                            : to_object(placement, start) + placement.sensor_origin_in_object;
    Vec3 direction = to_object(placement, out);
    if (IS_SINGLE) direction = vec3(cleared(direction.x), cleared(direction.y), cleared(direction.z));
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
__device__ __forceinline__ Scalar elastic_force(const SpringSkin& skin, Scalar depth, Scalar share, Scalar area) {
    if (skin.table_rows == 0) return (skin.stiffness_texel * share + skin.stiffness_area * area) * depth;
    const Scalar* depths = skin.table;
    const Scalar* loads = skin.table + skin.table_rows;
    u32 piece = 0;
    while (piece + 2 < skin.table_rows && depths[piece + 1] <= depth) piece++;
    Scalar slope = (loads[piece + 1] - loads[piece]) / (depths[piece + 1] - depths[piece]);
    return (loads[piece] + slope * (depth - depths[piece])) * (skin.table_per_area ? area : share);
}

// Motion of the object relative to the sensor at the sensor's origin (m/s, rad/s) during dt (s), and the bristle of one spring: its
// deflection (m) and contact normal after the last step, where it touched then. Unused without STEP.
struct Motion {
    Vec3 linear, angular;
    Scalar dt;
#if RANDOM
    // Factor on the friction coefficients.
    Scalar friction;
#endif
};
struct Bristle {
    Vec3 deflection, normal;
    bool touched;
};

// Force (N) on the sensor of one spring in contact, at the point `at`; updates the bristle:
//   f_n = max((k d + c ḋ / (n·n_c)) / (n·n_c), 0); the law of the paper omits the quotients.
__device__ __forceinline__ Vec3 contact_force(const SpringSkin& skin, const Contact& contact, Vec3 out, Vec3 at, Scalar area, Scalar share,
                                              const Motion& motion, Bristle& bristle) {
    Scalar cosine = fmax(dot(out, contact.normal), Scalar(MIN_COSINE));
    Scalar lever = skin.conservative * (1.0f / cosine) + (1.0f - skin.conservative);
    Scalar damping = skin.damping_texel * share + skin.damping_area * area;
    Scalar approach = 0.0;
#if STEP
    Vec3 v = motion.linear + cross(motion.angular, at);
    approach = -dot(v, contact.normal);
#endif
    Scalar load = fmax((elastic_force(skin, contact.depth, share, area) + damping * approach * lever) * lever, Scalar(0.0));
    Vec3 friction = vec3(0.0, 0.0, 0.0);
#if STEP
    v = v + contact.normal * approach;
    Vec3 z = bristle.touched ? carried(bristle.deflection, bristle.normal, contact.normal) : vec3(0.0, 0.0, 0.0);
#if RANDOM
    Scalar mu = motion.friction;
#else
    Scalar mu = 1.0;
#endif
    friction_force(skin.friction, v, load, mu, share, motion.dt, z, friction);
    bristle = Bristle{z, contact.normal, true};
#endif
    return friction - contact.normal * load;
}

// A lane's sums over its springs: force (N), torque (N m) about the sensor's origin, and numbers of contact points.
struct Sums {
    Vec3 force, torque;
    u32 points, saturated;
};
__device__ __forceinline__ void add_contact(Sums& sums, Vec3 at, Vec3 force, bool saturated) {
    sums.force = sums.force + force;
    sums.torque = sums.torque + cross(at, force);
    sums.points += 1u;
    sums.saturated += saturated ? 1u : 0u;
}

// Sums over the warp, in a fixed order; valid in lane 0.
__device__ __forceinline__ Sums warp_sums(const Sums& own) {
    Sums all;
    all.force = vec3(warp_sum(own.force.x), warp_sum(own.force.y), warp_sum(own.force.z));
    all.torque = vec3(warp_sum(own.torque.x), warp_sum(own.torque.y), warp_sum(own.torque.z));
    all.points = warp_sum(own.points);
    all.saturated = warp_sum(own.saturated);
    return all;
}
#if KIND == ANY
__device__ __forceinline__ Vec3 from_lane(Vec3 v, u32 lane) {
    return vec3(__shfl_sync(ALL_LANES, v.x, lane), __shfl_sync(ALL_LANES, v.y, lane), __shfl_sync(ALL_LANES, v.z, lane));
}
// The sums of one lane, in all lanes.
__device__ __forceinline__ Sums from_lane(const Sums& sums, u32 lane) {
    return Sums{from_lane(sums.force, lane), from_lane(sums.torque, lane), __shfl_sync(ALL_LANES, sums.points, lane),
                __shfl_sync(ALL_LANES, sums.saturated, lane)};
}
__device__ __forceinline__ void add_sums(Sums& to, const Sums& sums) {
    to.force = to.force + sums.force;
    to.torque = to.torque + sums.torque;
    to.points += sums.points;
    to.saturated += sums.saturated;
}
#endif
