// One step of pressure fields in many environments: `Skin::touch` of `dermis_skin::Hydroelastic` in each, pads.cuh with IN_TIME. One warp per
// environment. At a corner with static pressure p and normal n (out of the sensor), an object that moves at v relative to the sensor exerts
//   σ = max(p (1 − d v·n), 0)      (Hunt and Crossley)
// and the friction of friction.cuh under σ, per area. Both are linear on the triangles of a polygon that have its first corner.

// Bit of the status: a surface has more polygons than the memory of its bristles holds, as on the host.
#define BRISTLES_FULL 128u

// The polygon of one lane: corners with their static pressures (Pa), in the order of the CPU: counter-clockwise as seen against the normal.
struct Surface {
    Vec3 at[CORNERS];
    double pressure[CORNERS];
    int len;
};

// Makes the surface of a polygon; returns false if its area is zero by rounding.
__device__ __forceinline__ bool surface_of(const PadField& f, const Polygon& part, const Triangle& triangle, const double* pressures, Vec3 out,
                                           Surface& surface) {
    Vec3 doubled = vec3(0.0, 0.0, 0.0), first = point_at(part, 0, triangle), last = point_at(part, 1, triangle);
    for (int i = 2; i < part.len; i++) {
        Vec3 next = point_at(part, i, triangle);
        doubled = doubled + cross(last - first, next - first);
        last = next;
    }
    if (!(dot(doubled, doubled) > 4.0 * f.min_area * f.min_area)) return false;
    bool forward = dot(doubled, out) >= 0.0;
    surface.len = part.len;
    for (int i = 0; i < part.len; i++) {
        int from = forward ? i : part.len - 1 - i;
        surface.at[i] = point_at(part, from, triangle);
        surface.pressure[i] = fmax(value_at(part, from, pressures), 0.0);
    }
    return true;
}

#if BRISTLES
// Where the bristles of a lane's polygon are: in the polygon `known` of the last step, or at `first` in the corners of this one; NONE if not.
struct Held {
    u32 known, first;
};

// Adds the polygons of all lanes to the memory, in the order of the lanes, and finds the deflections at their corners. len: 0 without a
// polygon.
__device__ __noinline__ Held hold(Press& press, const Surface& surface, int len, u64 key, Vec3 out) {
    Step& step = press.step;
    u32 lane = press.lane, corners, mask = __ballot_sync(ALL_LANES, len > 0);
    u32 slot = step.next_count + __popc(mask & lanes_before(lane));
    u32 first = step.next_corner_count + sum_before((u32)len, lane, corners);
    bool fits = len > 0 && slot < step.patch_capacity && first + len <= step.corner_capacity;
    u32 stored = __ballot_sync(ALL_LANES, fits);
    Held held{NONE, fits ? first : NONE};
    if (fits) {
        Vec3 middle = vec3(0.0, 0.0, 0.0);
        for (int i = 0; i < len; i++) middle = middle + surface.at[i];
        middle = middle / (double)len;
        double farthest = 0.0;
        for (int i = 0; i < len; i++) {
            farthest = fmax(farthest, length(surface.at[i] - middle));
            double* corner = step.next_corners + 6 * (u64)(first + i);
            corner[0] = surface.at[i].x; corner[1] = surface.at[i].y; corner[2] = surface.at[i].z;
            corner[3] = corner[4] = corner[5] = 0.0;
        }
        step.next[slot] = BristlePatch{key, {out.x, out.y, out.z}, {middle.x, middle.y, middle.z}, 2.0 * farthest, step.object, first, (u32)len, 0};
    }
    step.next_count += __popc(stored);
    step.next_corner_count += corners;
    // Later polygons do not fit either: the numbers of corners before them are larger.
    step.is_full = step.is_full || stored != mask;
    if (len > 0) {
        u32 known = find_patch(step, key);
        if (known != NONE && step.last[known].count == (u32)len) held.known = known;
    }
    u32 open = __ballot_sync(ALL_LANES, fits && held.known == NONE && step.last_count > 0);
    __syncwarp();
    for (; open; open &= open - 1) inherit_from_nearest(step, lane, __shfl_sync(ALL_LANES, slot, __ffs(open) - 1));
    return held;
}

// Deflection (m) at a corner at the start of the step.
__device__ __forceinline__ Vec3 deflection_at(const Step& step, const Held& held, int corner, Vec3 out) {
    if (held.known != NONE) {
        const BristlePatch& patch = step.last[held.known];
        return carried(vec3(step.last_corners + 6 * (u64)(patch.first + corner) + 3), vec3(patch.normal), out);
    }
    return held.first != NONE ? vec3(step.next_corners + 6 * (u64)(held.first + corner) + 3) : vec3(0.0, 0.0, 0.0);
}
#endif

// Adds the loads of a lane's polygon: tractions at its corners, their integral over the taxels and the wrench.
__device__ __noinline__ void add_surface(const PadField& f, Press& press, const Surface& surface, Vec3 out,
#if BRISTLES
                                         const Held& held,
#endif
                                         Sums& sums) {
    const Step& step = press.step;
    Facet facet;
    facet.len = surface.len;
    double greatest = 0.0;
    for (int i = 0; i < surface.len; i++) {
        Vec3 at = surface.at[i], v = step.linear + cross(step.angular, at), z = vec3(0.0, 0.0, 0.0), shear;
        double parting = dot(v, out), pressure = fmax(surface.pressure[i] * (1.0 - step.dissipation * parting), 0.0);
#if BRISTLES
        z = deflection_at(step, held, i, out);
#endif
        friction_force(step.friction, v - out * parting, pressure, 1.0, 1.0, step.dt, z, shear);
#if BRISTLES
        if (held.first != NONE) {
            double* corner = step.next_corners + 6 * (u64)(held.first + i);
            corner[3] = z.x; corner[4] = z.y; corner[5] = z.z;
        }
#endif
        facet.corners[i] = Corner{at, shear - out * pressure};
        greatest = fmax(greatest, surface.pressure[i]);
    }
    sums.saturated += is_saturated(f, greatest) ? 1u : 0u;
    Vec3 force = vec3(0.0, 0.0, 0.0);
    for (int i = 2; i < facet.len; i++) {
        const Corner *q[3] = {&facet.corners[0], &facet.corners[i - 1], &facet.corners[i]};
        Vec3 c = cross(q[1]->at - q[0]->at, q[2]->at - q[0]->at);
        double third = 0.5 * (0.5 * sqrt(dot(c, c))) / 3.0;
        // The moment is quadratic, which the midpoints of the edges integrate exactly.
        for (int k = 0; k < 3; k++) {
            const Corner &from = *q[k], &to = *q[k < 2 ? k + 1 : 0];
            Vec3 part = (from.traction + to.traction) * third;
            force = force + part;
            sums.torque = sums.torque + cross((from.at + to.at) * 0.5, part);
        }
    }
    sums.force = sums.force + force;
    add_facet(f, press.taxels, facet, force, out, sums);
}

__device__ CUT_PAIRS void cut_pairs(const PadField& f, const ObjectView& object, Press& press, u32 count, Sums& sums) {
    press.pair_count -= count;
    const u32* pair = press.pairs + 2 * (press.pair_count + press.lane);
    Polygon polygon;
    Triangle triangle;
    double extent[3] = {};
    u64 key = 0;
    bool meets = false;
    if (press.lane < count) {
        triangle = triangle_at(object, press, pair[0]);
        const Tetrahedron& tet = f.tets[pair[1]];
        meets = clip_to_tetrahedron(f, triangle, tet, polygon);
        extents_of(tet, triangle, extent);
        key = (u64)object.order[pair[0]] << 32 | (u64)tet.name * f.piece_count;
    }
    Vec3 out = -triangle.normal;
    for (u32 index = 0; index < f.piece_count; index++, key++) {
        Surface surface;
        surface.len = 0;
        if (meets) {
            const LawPiece& piece = f.pieces[index];
            Polygon copy;
            if (index + 1 < f.piece_count) copy = polygon;
            Polygon& part = index + 1 < f.piece_count ? copy : polygon;
            double pressures[3];
            pressures_of(piece, extent, pressures);
            if (!clip_to_piece(f, piece, extent, part) || !surface_of(f, part, triangle, pressures, out, surface)) surface.len = 0;
        }
#if BRISTLES
        Held held = hold(press, surface, surface.len, key, out);
        if (surface.len > 0) add_surface(f, press, surface, out, held, sums);
#else
        if (surface.len > 0) add_surface(f, press, surface, out, sums);
#endif
    }
    __syncwarp();
}

// The power of two by which taxels are scaled: f.scale at rest, less if the objects move so fast that pressures are larger.
__device__ __forceinline__ double scale_of(const PadField& f, const PadSkin& skin, const Bodies* bodies, u32 count) {
    double fastest = 0.0;
    for (u32 k = 0; k < count; k++)
        fastest = fmax(fastest, length(bodies[k].relative.linear) + length(bodies[k].relative.angular) * skin.reach);
    int exponent;
    frexp((1.0 + skin.dissipation * fastest) * (1.0 + skin.friction.mu_static), &exponent);
    return ldexp(f.scale, -exponent);
}

__device__ __forceinline__ Vec3 warp_sum(Vec3 v) { return vec3(warp_sum(v.x), warp_sum(v.y), warp_sum(v.z)); }

// Steps n environments, one warp each, up to four warps per block. Shared memory per warp: 3 × taxels 64-bit integers and the lists.
// shapes: those of all objects. objects: (count), or null for the only object of the bindings. bodies: (n, count). parameters: (n,
// PARAMETERS) or null. Faults of poses and velocities go to the status; such an environment has no contact.
extern "C" __global__ void __launch_bounds__(128)
    step_pads(PadField f, PadSkin skin, const ObjectView* __restrict__ shapes, const ObjectArrays* __restrict__ objects, u32 count, Bindings b,
              PadMemory memory, const Bodies* __restrict__ bodies, const double* __restrict__ parameters, u32 n) {
    extern __shared__ u64 shared[];
    u32 lane = threadIdx.x & 31u, warp = threadIdx.x >> 5, i = blockIdx.x * (blockDim.x >> 5) + warp;
    if (i >= n) return;
    u32 taxels = f.rows * f.cols;
    const Bodies* own = bodies + (u64)i * count;
    u32 fault = own[0].fault;
    Press press = press_in(shared + (u64)warp * shared_words(taxels), taxels, lane);
    press.step.dt = b.dt_s;
    press.step.friction = skin.friction;
    press.step.dissipation = skin.dissipation;
#if BRISTLES
    open_bristles(memory, i, lane, press.step);
#endif
    double stiffness = parameters ? parameters[(u64)i * PARAMETERS + STIFFNESS] : 1.0;
    Vec3 zero = vec3(0.0, 0.0, 0.0), force = zero, torque = zero;
    Sums sums{zero, zero, zero, fault ? 1.0 : scale_of(f, skin, own, count), 0};
    // One after the other: two objects may be parts of one body.
    for (u32 k = 0; k < count; k++) {
        const Relative& relative = own[k].relative;
        press.rotation = matrix_of(relative.rotation);
        press.position = relative.position;
        press.step.linear = relative.linear;
        press.step.angular = relative.angular;
        press.step.object = k;
        sums.force = sums.torque = zero;
        if (!fault) add_object(f, shapes[own[k].shape], press, sums);
        Vec3 one = warp_sum(sums.force) * stiffness, about = warp_sum(sums.torque) * stiffness;
        force = force + one;
        torque = torque + about;
        if (lane > 0) continue;
        const BodyArrays& body = objects ? objects[k].body : b.object;
        write_object_load(body, objects ? objects[k].add : b.add_to_object, i, own[k], one, about);
    }
    __syncwarp();
    double by = stiffness / sums.scale;
    for (u32 t = lane; t < taxels; t += 32) {
        const i64* whole = (const i64*)press.taxels + 3 * t;
        Vec3 on = vec3((double)whole[0] * by, (double)whole[1] * by, (double)whole[2] * by);
        set_number(b.taxels, i, t, 0, value_of(f, t, on));
        set_vector(b.forces, i, t, on);
    }
    Vec3 outside = warp_sum(sums.outside) * stiffness;
    u32 now = fault | (warp_sum(sums.saturated) ? SATURATED : 0u);
#if BRISTLES
    if (press.step.is_full) now |= BRISTLES_FULL;
    close_bristles(memory, i, lane, press.step);
#endif
    if (lane > 0) return;
    set_row_vector(b.outside, i, 0, outside);
    write_sensor_load(b, i, own[0], force, torque);
    u32 known = memory.status[i];
    if ((known | now) != known) memory.status[i] = known | now;
}

// Ends contact and clears the status of the environments where the mask is not zero. One thread per environment. mask: (n); null for all.
extern "C" __global__ void reset_pads(View mask, PadMemory memory, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || (mask.address && number_at(mask, i, 0, 0) == 0.0)) return;
    memory.status[i] = 0;
#if BRISTLES
    memory.counts[i] = 0;
#endif
}
