// Bristles on the contact surface of a pressure field, which is recomputed at every step: `dermis_skin::hydroelastic::Bristles`. One warp has
// the bristles of one environment. Compile-time definitions: CORNERS, and BRISTLES, 1 if friction has a history, else 0.

// Distances that differ by less than this fraction of a polygon's width are equal; as on the CPU.
#define EQUAL_DISTANCE 1e-9

// What the friction of a step needs: velocity of the object relative to the sensor at the sensor's origin (m/s, rad/s), time step (s), number
// of the object, and the bristles of the environment: the polygons of the last step with a hash table, and those of this one.
struct Step {
    Vec3 linear, angular;
    double dt;
    FrictionLaw friction;
    double dissipation;
    u32 object;
#if BRISTLES
    const BristlePatch* last;
    const double* last_corners;
    u32 last_count, table_mask;
    u32* table;
    BristlePatch* next;
    double* next_corners;
    u32 next_count, next_corner_count, patch_capacity, corner_capacity;
    bool is_full;
#endif
};

#if BRISTLES
// Sum of the values of the lanes before this one, and of all lanes.
__device__ __forceinline__ u32 sum_before(u32 value, u32 lane, u32& all) {
    u32 sum = value;
    for (u32 k = 1; k < 32; k <<= 1) {
        u32 other = __shfl_up_sync(ALL_LANES, sum, k);
        if (lane >= k) sum += other;
    }
    all = __shfl_sync(ALL_LANES, sum, 31);
    return sum - value;
}

__device__ __forceinline__ u32 hash_of(u32 object, u64 key) {
    u64 x = (key ^ ((u64)object << 58)) * 0x9e3779b97f4a7c15ull;
    return (u32)((x ^ (x >> 29)) >> 7);
}

// Opens the bristles of environment i.
__device__ __forceinline__ void open_bristles(const PadMemory& memory, u32 i, u32 lane, Step& step) {
    u32 turn = memory.turns[i] & 1u;
    u64 last = 2 * (u64)i + turn, next = 2 * (u64)i + 1 - turn;
    step.patch_capacity = memory.patch_capacity;
    step.corner_capacity = memory.corner_capacity;
    step.last = memory.patches + last * memory.patch_capacity;
    step.next = memory.patches + next * memory.patch_capacity;
    step.last_corners = memory.corners + 6 * last * memory.corner_capacity;
    step.next_corners = memory.corners + 6 * next * memory.corner_capacity;
    step.last_count = memory.counts[i];
    step.next_count = step.next_corner_count = 0;
    step.is_full = false;
    step.table = memory.table + (u64)i * memory.table_capacity;
    u32 size = 32;
    while (size < 2 * step.last_count) size <<= 1;
    step.table_mask = size - 1;
    if (step.last_count == 0) return;
    for (u32 k = lane; k < size; k += 32) step.table[k] = NONE;
    __syncwarp();
    for (u32 k = lane; k < step.last_count; k += 32) {
        u32 slot = hash_of(step.last[k].object, step.last[k].key) & step.table_mask;
        while (atomicCAS(step.table + slot, NONE, k) != NONE) slot = (slot + 1) & step.table_mask;
    }
    __syncwarp();
}

// Keeps the bristles of this step for the next one.
__device__ __forceinline__ void close_bristles(const PadMemory& memory, u32 i, u32 lane, const Step& step) {
    __syncwarp();
    if (lane > 0) return;
    memory.turns[i] = 1 - (memory.turns[i] & 1u);
    memory.counts[i] = step.next_count;
}

// Index of the last polygon of the same pair; NONE if there is none.
__device__ __forceinline__ u32 find_patch(const Step& step, u64 key) {
    if (step.last_count == 0) return NONE;
    u32 slot = hash_of(step.object, key) & step.table_mask;
    for (u32 k = step.table[slot]; k != NONE; k = step.table[slot]) {
        if (step.last[k].key == key && step.last[k].object == step.object) return k;
        slot = (slot + 1) & step.table_mask;
    }
    return NONE;
}

// The nearest of the last corners that a lane has found for a corner of a polygon: its distance (m), polygon and number in it.
struct Nearest {
    double distance;
    u32 patch, corner;
};

// True if `distance` to a corner of a polygon counts instead of that of `known`: it is smaller, or equal and the polygon has the smaller key.
__device__ __forceinline__ bool is_nearer(const Step& step, double distance, const BristlePatch& patch, const Nearest& known) {
    double equal = EQUAL_DISTANCE * patch.width;
    if (known.patch == NONE || distance < known.distance - equal) return true;
    return distance <= known.distance + equal && patch.key < step.last[known.patch].key;
}

// Compares the corners of a polygon of this step with those of polygon k of the last.
__device__ __forceinline__ void compare_corners(const Step& step, const BristlePatch& own, u32 k, Nearest* nearest) {
    const BristlePatch& patch = step.last[k];
    if (patch.object != own.object) return;
    for (u32 c = 0; c < patch.count; c++) {
        Vec3 at = vec3(step.last_corners + 6 * (u64)(patch.first + c));
        for (u32 i = 0; i < own.count; i++) {
            double distance = length(at - vec3(step.next_corners + 6 * (u64)(own.first + i)));
            if (distance <= patch.width && is_nearer(step, distance, patch, nearest[i])) nearest[i] = Nearest{distance, k, c};
        }
    }
}

// Finds the nearest of the last corners of the same object for every corner of a polygon of this step and writes the deflections (m) there,
// rotated into the plane of the polygon. A corner counts if it is within the width of its polygon; without one the deflection stays zero.
// Of corners at the same distance the one with the smallest key counts, and the first of its polygon. The lanes compare 128 polygons at a
// time; `slot` is the same in all of them.
__device__ __noinline__ void inherit_from_nearest(const Step& step, u32 lane, u32 slot) {
    const BristlePatch& own = step.next[slot];
    Nearest nearest[CORNERS];
    for (u32 i = 0; i < own.count; i++) nearest[i] = Nearest{1e300, NONE, 0};
    Vec3 middle = vec3(own.middle);
    for (u32 from = lane; from < step.last_count; from += 128) {
        u32 near = 0;
#pragma unroll
        for (u32 u = 0; u < 4; u++) {
            const BristlePatch& patch = step.last[min(from + 32 * u, step.last_count - 1)];
            // All corners are within half the width of the middle.
            double reach = 0.5 * own.width + 1.5 * patch.width;
            Vec3 apart = vec3(patch.middle) - middle;
            if (from + 32 * u < step.last_count && dot(apart, apart) <= reach * reach * (1.0 + 1e-9)) near |= 1u << u;
        }
        for (; near; near &= near - 1) compare_corners(step, own, from + 32 * (__ffs(near) - 1), nearest);
    }
    for (u32 i = 0; i < own.count; i++) {
        Nearest found = nearest[i];
        double least = found.distance;
        for (int k = 16; k > 0; k >>= 1) least = fmin(least, __shfl_xor_sync(ALL_LANES, least, k));
        bool is_least = found.patch != NONE && found.distance <= least + EQUAL_DISTANCE * step.last[found.patch].width;
        u64 key = is_least ? step.last[found.patch].key : ~0ull, smallest = key;
        for (int k = 16; k > 0; k >>= 1) smallest = min(smallest, __shfl_xor_sync(ALL_LANES, smallest, k));
        // Polygons have different keys, so that at most one lane writes.
        if (is_least && key == smallest) {
            const BristlePatch& patch = step.last[found.patch];
            Vec3 z = carried(vec3(step.last_corners + 6 * (u64)(patch.first + found.corner) + 3), vec3(patch.normal), vec3(own.normal));
            double* corner = step.next_corners + 6 * (u64)(own.first + i);
            corner[3] = z.x; corner[4] = z.y; corner[5] = z.z;
        }
    }
    __syncwarp();
}
#endif
