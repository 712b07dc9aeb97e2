// Bristles on the contact surface of a pressure field, which is recomputed at every step: `dermis_skin::hydroelastic::Bristles`. One warp has
// the bristles of one environment. BRISTLES is a compile-time definition: 1 if friction has a history.

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

// Calls visit(patch index, corner index, distance) for the corners of the last polygons of the object that are within the width of their
// polygon, those of every 32nd polygon in each lane.
template <class Visit>
__device__ __forceinline__ void visit_near(const Step& step, u32 lane, Vec3 at, Visit visit) {
    for (u32 k = lane; k < step.last_count; k += 32) {
        const BristlePatch& patch = step.last[k];
        Vec3 apart = at - vec3(patch.middle);
        // All corners are within half the width of the middle.
        if (patch.object != step.object || dot(apart, apart) > 2.26 * patch.width * patch.width) continue;
        for (u32 c = 0; c < patch.count; c++) {
            double distance = length(vec3(step.last_corners + 6 * (u64)(patch.first + c)) - at);
            if (distance <= patch.width) visit(k, c, distance);
        }
    }
}

// Deflection (m) at the nearest of the last corners, rotated into the plane of a normal; zero if none is near. Of corners at the same
// distance the one with the smallest key counts, and the first of its polygon. All lanes have the same arguments and the same result.
__device__ __noinline__ Vec3 nearest_deflection(const Step& step, u32 lane, Vec3 at, Vec3 normal) {
    double least = 1e300;
    visit_near(step, lane, at, [&](u32, u32, double distance) { least = fmin(least, distance); });
    for (int k = 16; k > 0; k >>= 1) least = fmin(least, __shfl_xor_sync(ALL_LANES, least, k));
    if (least == 1e300) return vec3(0.0, 0.0, 0.0);
    u64 key = ~0ull;
    u32 which = NONE, corner = 0;
    visit_near(step, lane, at, [&](u32 k, u32 c, double distance) {
        const BristlePatch& patch = step.last[k];
        if (distance <= least + EQUAL_DISTANCE * patch.width && patch.key < key) {
            key = patch.key;
            which = k;
            corner = c;
        }
    });
    for (int k = 16; k > 0; k >>= 1) {
        u64 other = __shfl_xor_sync(ALL_LANES, key, k);
        u32 other_which = __shfl_xor_sync(ALL_LANES, which, k), other_corner = __shfl_xor_sync(ALL_LANES, corner, k);
        if (other < key) {
            key = other;
            which = other_which;
            corner = other_corner;
        }
    }
    const BristlePatch& patch = step.last[which];
    return carried(vec3(step.last_corners + 6 * (u64)(patch.first + corner) + 3), vec3(patch.normal), normal);
}
#endif
