// Steps of a layer in many environments: what comes before and after the kernels that solve presses. `Bodies` is declared in frames.cuh.

// Bit of the status: the skin could not be solved, as on the host.
#define FAILED 16u

// Pose of each object in the sensor's frame, its velocity at the sensor's origin and its shape, one environment per thread. An object with a
// fault is far above. Keeps the largest depth (m) of the last step, and begins the count of cells under a cliff.
extern "C" __global__ void place_objects(const Bodies* bodies, const ContactRegion* regions, double* poses, double* twists, u32* shape_of,
                                         double* last_depths, u64* cliffs, u32 n) {
    const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) *cliffs = 0;
    if (i >= n) return;
    const Relative& relative = bodies[i].relative;
    const bool fault = bodies[i].fault != 0;
    const Vec3 at = fault ? vec3(0.0, 0.0, MAX_MAGNITUDE) : relative.position, v = relative.linear, w = relative.angular;
    const Quat q = fault ? Quat{0.0, 0.0, 0.0, 1.0} : relative.rotation;
    double *pose = poses + 7 * (u64)i, *twist = twists + 6 * (u64)i;
    pose[0] = at.x; pose[1] = at.y; pose[2] = at.z;
    pose[3] = q.x; pose[4] = q.y; pose[5] = q.z; pose[6] = q.w;
    twist[0] = v.x; twist[1] = v.y; twist[2] = v.z;
    twist[3] = w.x; twist[4] = w.y; twist[5] = w.z;
    shape_of[i] = bodies[i].shape;
    last_depths[i] = regions[i].max_depth;
}

// Clears the history of one environment: tractions, displacements, stresses and branches. One number per thread of the block.
__device__ __forceinline__ void clear_history(u64 i, u64 numbers, double* tractions, double* surfaces, double* belows, const Branches& branches) {
    for (u64 k = threadIdx.x; k < numbers; k += blockDim.x) {
        tractions[i * numbers + k] = surfaces[i * numbers + k] = belows[i * numbers + k] = 0.0;
    }
    const u64 held = branches.count * numbers;
    for (u64 k = threadIdx.x; k < held; k += blockDim.x) branches.held[i * held + k] = 0.0;
}

// Begins the step of an environment that relaxes: v = e^{−dt/τ} v − rγ u for each branch. Without an object (`is_free`) there is no pressure,
// and the step ends: u = −past, v += rγ u. One number per thread of the block.
__device__ __forceinline__ void relax(u64 i, u64 numbers, bool is_free, double* tractions, double* surfaces, double* belows,
                                      const RelaxationStep& relaxation) {
    const Branches& branches = relaxation.branches;
    for (u64 k = threadIdx.x; k < numbers; k += blockDim.x) {
        double *held = branches.held + i * branches.count * numbers + k, before = surfaces[i * numbers + k];
        for (int b = 0; b < branches.count; b++) held[b * numbers] = relaxation.left[b] * held[b * numbers] - relaxation.gain[b] * before;
        if (!is_free) continue;
        const double after = 0.0 - past_at(branches, i, (int)numbers, (int)k);
        for (int b = 0; b < branches.count; b++) held[b * numbers] += relaxation.gain[b] * after;
        surfaces[i * numbers + k] = after;
        tractions[i * numbers + k] = belows[i * numbers + k] = 0.0;
    }
}

// Ends the contact of environments whose object has left the layer. A surface that relaxes recovers, and `touching` stays 1, unless a fault
// ends its history. One block per environment; `numbers` is three times the cells.
extern "C" __global__ void lift_objects(const Bodies* bodies, const ContactRegion* regions, u32* touching, u64 numbers, double* tractions,
                                        double* surfaces, double* belows, RelaxationStep relaxation) {
    const u32 i = blockIdx.x, before = touching[i];
    const int status = regions[i].status;
    const bool relaxes = relaxation.branches.count > 0, ends = status == CLEAR && (!relaxes || bodies[i].fault != 0);
    if (before && ends) {
        clear_history(i, numbers, tractions, surfaces, belows, relaxation.branches);
    } else if (before && relaxes && status != TOO_DEEP) {
        relax(i, numbers, status == CLEAR, tractions, surfaces, belows, relaxation);
    }
    __syncthreads();
    if (threadIdx.x == 0 && status != TOO_DEEP) touching[i] = status != CLEAR || (before && !ends);
}

// Ends the step of the environments of a layer that relaxes with an object: v += rγ u for each branch. One block per environment.
extern "C" __global__ void hold_surfaces(const ContactRegion* regions, u64 numbers, const double* surfaces, RelaxationStep relaxation) {
    const u64 i = blockIdx.x;
    if (regions[i].status == CLEAR || regions[i].status == TOO_DEEP) return;
    for (int b = 0; b < relaxation.branches.count; b++) {
        double* held = relaxation.branches.held + (i * relaxation.branches.count + b) * numbers;
        for (u64 k = threadIdx.x; k < numbers; k += blockDim.x) held[k] += relaxation.gain[b] * surfaces[i * numbers + k];
    }
}

// Ends contact and clears the status of the environments where the mask is not zero. One block per environment. mask: (n); null for all.
extern "C" __global__ void reset_layers(View mask, ContactRegion* regions, u32* touching, u32* status, u64 numbers, double* tractions,
                                        double* surfaces, double* belows, Branches branches) {
    const u32 i = blockIdx.x;
    if (mask.address && number_at(mask, i, 0, 0) == 0.0) return;
    if (touching[i]) clear_history(i, numbers, tractions, surfaces, belows, branches);
    __syncthreads();
    if (threadIdx.x > 0) return;
    touching[i] = status[i] = 0;
    regions[i].status = CLEAR;
    regions[i].max_depth = 0.0;
    regions[i].rows = regions[i].cols = 0;
}

// Lists the open presses by the index of their transform size, and all of them in one more list. One block; one environment per thread at a
// time. lists: (sizes + 1, n).
extern "C" __global__ void list_open(const ContactRegion* regions, int sizes, int n, PressQueue* queues, int* lists) {
    for (int k = threadIdx.x; k <= sizes; k += blockDim.x) queues[k] = PressQueue{0, 0};
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        if (regions[i].status != OPEN) continue;
        const int size = regions[i].size;
        lists[size * (long long)n + atomicAdd(&queues[size].count, 1)] = i;
        lists[sizes * (long long)n + atomicAdd(&queues[sizes].count, 1)] = i;
    }
}

// Writes the loads of every environment, one block each. An environment that could not be solved has none, and its history is as before.
// forces: (n, taxels, 3), outsides: (n, 3), wrenches: (n, 6), divided by the relative stiffness over the step, `in_step`. parameters:
// (n, PARAMETERS) or null.
extern "C" __global__ void write_layers(Bindings b, const Bodies* bodies, const ContactRegion* regions, const double* parameters, u32* status,
                                        u32 taxels, double in_step, const double* forces, const double* outsides, const double* wrenches) {
    const u32 i = blockIdx.x;
    const bool solved = regions[i].status != TOO_DEEP && regions[i].status != OPEN;
    const double* force = forces + 3 * (u64)i * taxels;
    const double stiffness = in_step * (parameters ? parameters[(u64)i * PARAMETERS + STIFFNESS] : 1.0);
    for (u32 t = threadIdx.x; t < taxels; t += blockDim.x) {
        const Vec3 on = solved ? vec3(force + 3 * t) * stiffness : vec3(0.0, 0.0, 0.0);
        set_number(b.taxels, i, t, 0, 0.0 - on.z);
        set_vector(b.forces, i, t, on);
    }
    if (threadIdx.x > 0) return;
    const Vec3 zero = vec3(0.0, 0.0, 0.0);
    set_row_vector(b.outside, i, 0, solved ? vec3(outsides + 3 * (u64)i) * stiffness : zero);
    const double* wrench = wrenches + 6 * (u64)i;
    Bodies read = bodies[i];
    const u32 now = (u32)read.fault | (solved ? 0u : FAILED);
    // As with a fault, nothing acts on the bodies.
    read.fault = now;
    write_loads(b, i, read, solved ? vec3(wrench) * stiffness : zero, solved ? vec3(wrench + 3) * stiffness : zero);
    if (now) status[i] |= now;
}

// Writes the positions of the markers, one per thread. tracks: (n, markers, 2).
extern "C" __global__ void write_markers(Bindings b, const float* tracks, u32 markers, u32 n) {
    const u64 k = blockIdx.x * (u64)blockDim.x + threadIdx.x;
    if (k >= (u64)n * markers) return;
    const u32 i = (u32)(k / markers), m = (u32)(k % markers);
    set_number(b.markers, i, m, 0, tracks[2 * k]);
    set_number(b.markers, i, m, 1, tracks[2 * k + 1]);
}
