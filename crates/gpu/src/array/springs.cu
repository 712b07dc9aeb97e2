// Springs under one object at rest: `Skin::settle` of `dermis_skin::Springs`. One warp per press, one lane per spring.

// Force (N) of one spring on the sensor; zero without contact.
__device__ __forceinline__ Vec3 spring_force(const SpringSkin& skin, const ObjectView& object, const Placement& placement, u32 site,
                                             Sums& sums) {
    const double* sites = skin.sites;
    u32 count = skin.count;
    Vec3 point = vector_at(sites, count, site), out = vector_at(sites + 3 * count, count, site);
    double area = sites[6 * count + site], share = sites[7 * count + site];
    Contact contact;
    if (!find_contact(object, placement, skin.max_penetration, point, out, NONE, contact)) return vec3(0.0, 0.0, 0.0);
    Motion still;
    Bristle none;
    Vec3 at = point - out * contact.depth, force = contact_force(skin, contact, out, at, area, share, still, none);
    add_contact(sums, at, force, contact.saturated);
    return force;
}

// Contact loads of n presses: one warp per press, WARPS warps per block; lane i computes springs i, i + 32, ….
// poses: (n, 7). forces: (n, sites, 3). values: (n, sites), if each site is a taxel (taxel_normals is not null). wrench: (n, 6).
// points, saturated: (n).
// The launch bound of three blocks per multiprocessor limits the registers per thread, so that more warps hide the memory latency.
extern "C" __global__ void __launch_bounds__(32 * WARPS, 3)
    springs(SpringSkin skin, ObjectView object, const double* __restrict__ poses, u32 n, double* __restrict__ forces,
            double* __restrict__ values, double* __restrict__ wrench, u32* __restrict__ points, u32* __restrict__ saturated) {
    __shared__ double stage[WARPS][96];
    u32 lane = threadIdx.x & 31u, warp = threadIdx.x >> 5;
    u32 press = blockIdx.x * WARPS + warp;
    if (press >= n) return;
    const double* pose = poses + POSE_NUMBERS * (u64)press;
    Placement placement = placement_of(position_of(pose), rotation_of(pose));
    u32 count = skin.count;
    double* row = forces + 3 * (u64)press * count;
    Sums sums{vec3(0.0, 0.0, 0.0), vec3(0.0, 0.0, 0.0), 0, 0};
    for (u32 first = 0; first < count; first += 32) {
        u32 site = first + lane;
        Vec3 force = vec3(0.0, 0.0, 0.0);
        if (site < count) {
            force = spring_force(skin, object, placement, site, sums);
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
    Sums all = warp_sums(sums);
    if (lane == 0) {
        double* to = wrench + 6 * (u64)press;
        to[0] = all.force.x; to[1] = all.force.y; to[2] = all.force.z;
        to[3] = all.torque.x; to[4] = all.torque.y; to[5] = all.torque.z;
        points[press] = all.points;
        saturated[press] = all.saturated;
    }
}
