// One step of springs in many environments: `Skin::touch` of `dermis_skin::Springs` in each. One warp per environment: its lanes search
// contacts of 32 springs at a time and put them in a queue; full warps then compute the forces of 32 contacts.
//
// With KIND ANY an environment has up to 32 objects, of any shapes: a spring touches the one that is deepest there, and keeps its bristle as
// long as that is the same object.

// Contacts whose forces are not computed yet: at most 31 that are left, and 32 that are found at once.
struct Queue {
    Scalar depth[64], x[64], y[64], z[64];
    u32 triangle[64];
    // Index of the spring, and the two flags.
    u32 site[64];
};
#define TOUCHED_BEFORE 0x80000000u
#define BEYOND_RANGE 0x40000000u
#define SITE_BITS 0x3fffffffu
#define SEVERAL (KIND == ANY)
// Blocks per multiprocessor: with 128 registers per thread nothing is kept in local memory; a ray through a mesh waits for memory, and more
// warps hide that. In single precision 80 registers suffice for one object.
#define BLOCKS (KIND == MESH || (IS_SINGLE && !SEVERAL) ? 3 : 2)
// With SEVERAL, a contact and the memory of a spring have the number of the object in the highest bits of the triangle.
#define OBJECT_SHIFT 27
#define TRIANGLE_BITS ((1u << OBJECT_SHIFT) - 1u)

// One environment: its arrays and memory.
struct Environment {
    u32 index;
    // Deflection (m) and contact normal of each spring, (sites, 6).
    Scalar* bristles;
    // One bit per spring that touched in the last step, and its triangle (meshes and SEVERAL only).
    u32* touching;
    u32* triangles;
    // Forces (sites, 3) if taxels are sums over springs, else null.
    Scalar* site_forces;
#if SEVERAL
    // The objects, and all shapes.
    const Bodies* bodies;
    const ObjectView* shapes;
    u32 objects;
#else
    Placement placement;
#endif
    Motion motion;
#if RANDOM
    // Factor on all forces.
    Scalar stiffness;
#endif
};

// Writes the force (N) of one spring: for sums over taxels, or as the reading of its taxel.
__device__ __forceinline__ void write_spring(const SpringSkin& skin, const Bindings& b, const Environment& e, u32 site, Vec3 force) {
    if (e.site_forces) {
        Scalar* to = e.site_forces + 3 * (u64)site;
        to[0] = force.x; to[1] = force.y; to[2] = force.z;
        return;
    }
    set_number(b.taxels, e.index, site, 0, 0.0f - dot(force, vector_at(skin.taxel_normals, skin.count, site)));
    set_vector(b.forces, e.index, site, force);
}
// Writes zeros for springs 32 group … 32 group + 31; neighbouring lanes write neighbouring numbers.
__device__ __forceinline__ void clear_group(const Bindings& b, const Environment& e, u32 group, u32 count) {
    u32 lane = threadIdx.x & 31u, first = 32 * group, numbers = 3 * min(32u, count - first);
    if (e.site_forces || b.forces.address) {
        for (u32 k = lane; k < numbers; k += 32) {
            if (e.site_forces)
                e.site_forces[3 * (u64)first + k] = 0.0;
            else
                set_number(b.forces, e.index, first + k / 3, k % 3, 0.0);
        }
    }
    if (!e.site_forces && first + lane < count) set_number(b.taxels, e.index, first + lane, 0, 0.0);
    __syncwarp();
}

#if SEVERAL
// The deepest contact of a spring with the objects of a mask; of two at the same depth that of the first object. `held`: memory of the spring,
// or NONE.
__device__ __forceinline__ bool find_deepest(const Environment& e, u32 objects, Scalar h, Vec3 point, Vec3 out, u32 held, Contact& deepest) {
    bool touches = false;
    for (u32 left = objects; left; left &= left - 1u) {
        u32 number = __ffs(left) - 1;
        const Bodies& body = e.bodies[number];
        const ObjectView& object = e.shapes[body.shape];
        Contact contact;
        // The shape may have changed since the last step.
        bool is_held = held != NONE && held >> OBJECT_SHIFT == number && (held & TRIANGLE_BITS) < object.triangles;
        Quat rotation = object.kind == SPHERE ? Quat{0.0, 0.0, 0.0, 1.0} : body.relative.rotation;
        if (!find_contact(object, placement_of(body.relative.position, rotation), h, point, out, is_held ? held & TRIANGLE_BITS : NONE, contact))
            continue;
        if (touches && !(contact.depth > deepest.depth)) continue;
        deepest = contact;
        deepest.triangle = number << OBJECT_SHIFT | (contact.triangle & TRIANGLE_BITS);
        touches = true;
    }
    return touches;
}
#endif

// Searches the contacts of springs 32 group … 32 group + 31, one per lane, with the object, or the objects of the mask `near`; with zero none
// can touch. before: bits of those that touched in the last step. Returns the length of the queue.
__device__ __forceinline__ u32 find_contacts(const SpringSkin& skin, const ObjectView& object, const Bindings& b, const Environment& e,
                                             u32 group, u32 before, u32 near, Queue& queue, u32 queued) {
    u32 lane = threadIdx.x & 31u, site = 32 * group + lane, count = skin.count;
    bool touched = before >> lane & 1u, touches = false;
    clear_group(b, e, group, count);
    // The bristle is read after the contact is found.
    if (touched) asm volatile("prefetch.global.L2 [%0];" : : "l"(e.bristles + 6 * (u64)site));
    if (!near && !before) return queued;
    Contact contact;
    if (near && site < count) {
        Vec3 point = vector_at(skin.sites, count, site), out = vector_at(skin.sites + 3 * count, count, site);
        u32 hint = NONE;
#if KIND == MESH || SEVERAL
        if (touched) hint = e.triangles[site];
#endif
#if SEVERAL
        touches = find_deepest(e, near, skin.max_penetration, point, out, hint, contact);
        touched = touches && touched && hint >> OBJECT_SHIFT == contact.triangle >> OBJECT_SHIFT;
#else
        touches = find_contact(object, e.placement, skin.max_penetration, point, out, hint, contact);
#endif
    }
    u32 now = __ballot_sync(ALL_LANES, touches);
    if (lane == 0 && now != before) e.touching[group] = now;
    if (touches) {
        u32 k = queued + __popc(now & ((1u << lane) - 1u));
        queue.depth[k] = contact.depth;
        queue.x[k] = contact.normal.x;
        queue.y[k] = contact.normal.y;
        queue.z[k] = contact.normal.z;
        queue.triangle[k] = contact.triangle;
        queue.site[k] = site | (touched ? TOUCHED_BEFORE : 0u) | (contact.saturated ? BEYOND_RANGE : 0u);
    }
    __syncwarp();
    return queued + __popc(now);
}

// Computes the force of contact k of the queue, updates its bristle and adds to the lane's sums.
__device__ __forceinline__ void press_contact(const SpringSkin& skin, const Bindings& b, const Environment& e, const Queue& queue, u32 k,
                                              Sums& sums) {
    u32 count = skin.count, marked = queue.site[k], site = marked & SITE_BITS;
    Contact contact{queue.depth[k], vec3(queue.x[k], queue.y[k], queue.z[k]), queue.triangle[k], (marked & BEYOND_RANGE) != 0};
    Vec3 point = vector_at(skin.sites, count, site), out = vector_at(skin.sites + 3 * count, count, site);
    Scalar area = skin.sites[6 * count + site], share = skin.sites[7 * count + site];
    Scalar* own = e.bristles + 6 * (u64)site;
    Bristle bristle;
    bristle.touched = (marked & TOUCHED_BEFORE) != 0;
    if (bristle.touched) {
        bristle.deflection = vec3(own);
        bristle.normal = vec3(own + 3);
    }
    Motion motion = e.motion;
#if SEVERAL
    const Relative& relative = e.bodies[contact.triangle >> OBJECT_SHIFT].relative;
    motion.linear = relative.linear;
    motion.angular = relative.angular;
#endif
    Vec3 at = point - out * contact.depth, force = contact_force(skin, contact, out, at, area, share, motion, bristle);
#if RANDOM
    force = force * e.stiffness;
#endif
    add_contact(sums, at, force, contact.saturated);
    own[0] = bristle.deflection.x; own[1] = bristle.deflection.y; own[2] = bristle.deflection.z;
    own[3] = bristle.normal.x; own[4] = bristle.normal.y; own[5] = bristle.normal.z;
#if KIND == MESH || SEVERAL
    e.triangles[site] = contact.triangle;
#endif
    write_spring(skin, b, e, site, force);
}

// Computes the forces of the first contacts of the queue, `count` ≤ 32, one per lane, and adds them to the sums: with one object to those of
// the lane; of several objects lane k has the sums of object k.
__device__ __forceinline__ void press_contacts(const SpringSkin& skin, const Bindings& b, const Environment& e, const Queue& queue, u32 count,
                                               Sums& sums) {
    u32 lane = threadIdx.x & 31u;
#if SEVERAL
    Sums none{vec3(0.0, 0.0, 0.0), vec3(0.0, 0.0, 0.0), 0, 0}, own = none;
    if (e.objects == 1) {
        if (lane < count) press_contact(skin, b, e, queue, lane, sums);
        return;
    }
    if (lane < count) press_contact(skin, b, e, queue, lane, own);
    u32 object = queue.triangle[lane] >> OBJECT_SHIFT;
    for (u32 left = __ballot_sync(ALL_LANES, lane < count); left;) {
        u32 next = __shfl_sync(ALL_LANES, object, __ffs(left) - 1);
        bool belongs = lane < count && object == next;
        Sums all = from_lane(warp_sums(belongs ? own : none), 0);
        if (lane == next) add_sums(sums, all);
        left &= ~__ballot_sync(ALL_LANES, belongs);
    }
#else
    if (lane < count) press_contact(skin, b, e, queue, lane, sums);
#endif
}

// Computes the forces of the first 32 contacts of the queue and moves the others to its front.
__device__ __forceinline__ u32 press_full_warp(const SpringSkin& skin, const Bindings& b, const Environment& e, Queue& queue, u32 queued,
                                               Sums& sums) {
    u32 lane = threadIdx.x & 31u, left = queued - 32;
    press_contacts(skin, b, e, queue, 32, sums);
    __syncwarp();
    if (lane < left) {
        queue.depth[lane] = queue.depth[32 + lane];
        queue.x[lane] = queue.x[32 + lane];
        queue.y[lane] = queue.y[32 + lane];
        queue.z[lane] = queue.z[32 + lane];
        queue.triangle[lane] = queue.triangle[32 + lane];
        queue.site[lane] = queue.site[32 + lane];
    }
    __syncwarp();
    return left;
}

// True if the bounding sphere of 32 springs and their rays (centre and radius, m) meets that of the object.
__device__ __forceinline__ bool is_near(const Scalar* __restrict__ sphere, Vec3 center, Scalar radius) {
    Vec3 apart = vec3(sphere) - center;
    Scalar reach = (sphere[3] + radius) * Scalar(IS_SINGLE ? 1.0 + 1e-5 : 1.0 + 1e-9);
    return dot(apart, apart) <= reach * reach;
}

// Environment first + i: its memory, the i-th part of site_forces, and its parameters.
__device__ __forceinline__ Environment environment_of(const SpringSkin& skin, const Memory& memory, Scalar dt, u32 first,
                                                      u32 i, Scalar* site_forces, const double* parameters) {
    Environment e;
    e.index = first + i;
    u32 count = skin.count;
    e.bristles = memory.bristles + 6 * (u64)e.index * count;
    e.touching = memory.touching + (u64)e.index * ((count + 31) / 32);
    e.triangles = memory.triangles + (u64)e.index * count;
    e.site_forces = site_forces ? site_forces + 3 * (u64)i * count : site_forces;
    e.motion.dt = dt;
#if RANDOM
    e.stiffness = parameters[(u64)e.index * PARAMETERS + STIFFNESS];
    e.motion.friction = parameters[(u64)e.index * PARAMETERS + FRICTION];
#endif
    return e;
}

// Centre (m) of the bounding box of an object, in its frame, and radius (m) of a sphere about it that contains the object.
__device__ __forceinline__ Vec3 middle_of(const ObjectView& object) {
    return vec3(0.5f * (object.low[0] + object.high[0]), 0.5f * (object.low[1] + object.high[1]), 0.5f * (object.low[2] + object.high[2]));
}
__device__ __forceinline__ Scalar radius_of(const ObjectView& object) {
    return KIND_OF(object) == SPHERE ? object.size[0] : 0.5f * object.diagonal;
}

// Writes the status and the numbers of contact points of an environment.
__device__ __forceinline__ void write_status(const Memory& memory, u32 i, u32 fault, const Sums& all) {
    u32 now = fault | (all.saturated ? SATURATED : 0u), known = memory.status[i];
    if ((known | now) != known) memory.status[i] = known | now;
    if (memory.points) memory.points[i] = all.points;
    if (memory.saturated) memory.saturated[i] = all.saturated;
}

// Steps environments first … first + n − 1 by dt (s). spheres: bounding sphere of every 32 springs, (groups, 4). site_forces: (n, sites, 3) or null.
// parameters: (environments, PARAMETERS), with RANDOM only. Faults of poses and velocities go to the status; such an environment has no
// contact.
#if SEVERAL
// objects: (count), count ≤ 32. bodies: (environments, count). shapes: those of all objects.
extern "C" __global__ void __launch_bounds__(32 * WARPS, BLOCKS)
    step_objects(SpringSkin skin, const ObjectView* __restrict__ shapes, const ObjectArrays* __restrict__ objects, u32 object_count, Bindings b,
                 Memory memory, const Bodies* __restrict__ bodies, const Scalar* __restrict__ spheres, Scalar dt, u32 first, u32 n, Scalar* site_forces,
                 const double* __restrict__ parameters) {
    __shared__ Queue queues[WARPS];
    u32 lane = threadIdx.x & 31u, warp = threadIdx.x >> 5, i = blockIdx.x * WARPS + warp, groups = (skin.count + 31) / 32;
    if (i >= n) return;
    Environment e = environment_of(skin, memory, dt, first, i, site_forces, parameters);
    e.bodies = bodies + (u64)e.index * object_count;
    e.shapes = shapes;
    e.objects = object_count;
    u32 fault = e.bodies[0].fault;
    // Lane k has the bounding sphere of object k.
    bool exists = !fault && lane < object_count;
    Vec3 center = vec3(0.0, 0.0, 0.0);
    Scalar radius = 0.0;
    if (exists) {
        const ObjectView& object = shapes[e.bodies[lane].shape];
        const Relative& relative = e.bodies[lane].relative;
        center = relative.position + rotate(relative.rotation, middle_of(object));
        radius = radius_of(object);
    }
    Sums sums{vec3(0.0, 0.0, 0.0), vec3(0.0, 0.0, 0.0), 0, 0};
    Queue& queue = queues[warp];
    u32 queued = 0;
    for (u32 from = 0; from < groups; from += 32) {
        // Of a group each lane, so that they are waited for once.
        u32 own_before = from + lane < groups ? e.touching[from + lane] : 0;
        for (u32 group = from; group < min(from + 32, groups); group++) {
            u32 near = __ballot_sync(ALL_LANES, exists && is_near(spheres + 4 * (u64)group, center, radius));
            u32 before = __shfl_sync(ALL_LANES, own_before, group - from);
            queued = find_contacts(skin, shapes[0], b, e, group, before, near, queue, queued);
            if (queued >= 32) queued = press_full_warp(skin, b, e, queue, queued, sums);
        }
    }
    press_contacts(skin, b, e, queue, queued, sums);
    __syncwarp();
    Sums all = warp_sums(sums);
    if (lane == 0) {
        write_sensor_load(b, e.index, e.bodies[0], all.force, all.torque);
        write_status(memory, e.index, fault, all);
    }
    // One after the other: two objects may be parts of one body.
    for (u32 k = 0; k < object_count; k++) {
        Sums own = object_count == 1 ? all : from_lane(sums, k);
        if (lane == 0) write_object_load(objects[k].body, objects[k].add, e.index, e.bodies[k], own.force, own.torque);
    }
}
#else
// bodies: (environments).
extern "C" __global__ void __launch_bounds__(32 * WARPS, BLOCKS)
    step(SpringSkin skin, ObjectView object, Bindings b, Memory memory, const Bodies* __restrict__ bodies,
         const Scalar* __restrict__ spheres, Scalar dt, u32 first, u32 n, Scalar* site_forces,
         const double* __restrict__ parameters) {
    __shared__ Queue queues[WARPS];
    u32 lane = threadIdx.x & 31u, warp = threadIdx.x >> 5, i = blockIdx.x * WARPS + warp, groups = (skin.count + 31) / 32;
    if (i >= n) return;
    Environment e = environment_of(skin, memory, dt, first, i, site_forces, parameters);
    const Bodies& read = bodies[e.index];
    Relative relative = read.relative;
    u32 fault = read.fault;
    e.placement = placement_of(relative.position, relative.rotation);
    e.motion.linear = relative.linear;
    e.motion.angular = relative.angular;
    Vec3 center = relative.position + to_sensor(e.placement, middle_of(object));
    Scalar radius = radius_of(object);
    Sums sums{vec3(0.0, 0.0, 0.0), vec3(0.0, 0.0, 0.0), 0, 0};
    Queue& queue = queues[warp];
    u32 queued = 0;
    for (u32 from = 0; from < groups; from += 32) {
        bool own = !fault && from + lane < groups && is_near(spheres + 4 * (u64)(from + lane), center, radius);
        u32 near = __ballot_sync(ALL_LANES, own);
        // Of a group each lane, so that they are waited for once.
        u32 own_before = from + lane < groups ? e.touching[from + lane] : 0;
        for (u32 group = from; group < min(from + 32, groups); group++) {
            u32 before = __shfl_sync(ALL_LANES, own_before, group - from);
            queued = find_contacts(skin, object, b, e, group, before, near >> (group - from) & 1u, queue, queued);
            if (queued >= 32) queued = press_full_warp(skin, b, e, queue, queued, sums);
        }
    }
    press_contacts(skin, b, e, queue, queued, sums);
    __syncwarp();
    Sums all = warp_sums(sums);
    if (lane != 0) return;
    write_loads(b, e.index, read, all.force, all.torque);
    write_status(memory, e.index, fault, all);
}
#endif

// Ends contact and clears the status of the environments where the mask is not zero. One thread per environment. mask: (n); null for all.
extern "C" __global__ void reset(View mask, Memory memory, u32 groups, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || (mask.address && number_at(mask, i, 0, 0) == 0.0)) return;
    memory.status[i] = 0;
    for (u32 group = 0; group < groups; group++) memory.touching[(u64)i * groups + group] = 0;
}
