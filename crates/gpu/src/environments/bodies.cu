// Reads the bodies of n environments, one thread each: in the kernel of a step many threads would compute the same. Further
// blocks advance the clocks of the response. parameters: (n, PARAMETERS) or null. Computes in f64 and writes numbers of the type STORED, the
// Scalar of the kernel of the step.

// `Bodies` of the kernel of the step.
#define BODIES_SCALARS 23
struct StoredBodies {
    STORED numbers[BODIES_SCALARS];
    u32 fault, shape;
};
static_assert(sizeof(Bodies) == BODIES_SCALARS * sizeof(double) + 8, "Bodies has other numbers");
__device__ __forceinline__ StoredBodies stored(const Bodies& read, u32 fault, u32 shape) {
    StoredBodies all;
    for (int k = 0; k < BODIES_SCALARS; k++) all.numbers[k] = (STORED)((const double*)&read)[k];
    all.fault = fault;
    all.shape = shape;
    return all;
}

// Advances the clock of an environment by a step.
__device__ __forceinline__ void advance(const Timing& timing, u32 i, const double* parameters) {
    Clock clock = timing.clocks[i];
    clock.step = clock.next_step++;
    clock.loss_by_time = -timing.loss_by_time * expm1(-(double)clock.next_step * timing.losses_per_step);
    // The state of `Random` after the seed of this step, before the first taxel.
    clock.random = (mixed(timing.seed ^ mixed(clock.next_number++)) + PCG_TERM) * PCG_FACTOR + PCG_TERM;
    const double noise = parameters ? parameters[(u64)i * PARAMETERS + NOISE_FACTOR] : 1.0;
    const double root_two_ln_two = 1.1774100225154747;
    clock.noise_sd = (float)(timing.noise_sd * noise * root_two_ln_two);
    clock.noise_relative = (float)(timing.noise_relative * noise * root_two_ln_two);
    if (timing.slots) {
        const Frame frame = frame_of(timing, clock.step, 0.0);
        clock.is_new = frame.is_new;
        clock.slot = frame.slot;
        clock.shown = frame.shown;
    }
    timing.clocks[i] = clock;
}

// The environment of this thread, or n. As many blocks as read bodies advance clocks instead, if there are any.
__device__ __forceinline__ u32 environment_to_read(const Timing& timing, const double* parameters, u32 n) {
    const u32 readers = (n + blockDim.x - 1) / blockDim.x, i = blockIdx.x % readers * blockDim.x + threadIdx.x;
    if (i >= n || blockIdx.x < readers) return i;
    advance(timing, i, parameters);
    return n;
}

__device__ __forceinline__ u32 read_sensor(const Bindings& b, const double* parameters, u32 i, BodyState& sensor) {
    u32 fault = read_body(b.sensor, i, sensor);
    if (parameters) displace(sensor, parameters + (u64)i * PARAMETERS);
    return fault;
}

// What a step needs of an object and the sensor, whose fault is given; returns the fault with that of the object.
__device__ __forceinline__ u32 read_object(const BodyArrays& body, u32 i, const BodyState& sensor, u32 fault, Bodies& read) {
    BodyState object;
    fault |= read_body(body, i, object);
    read = Bodies{};
    if (!fault) fault = relative_motion(sensor, object, read.relative);
    read.sensor_rotation = sensor.rotation;
    read.sensor_arm = sensor.origin - sensor.load_at;
    read.object_arm = sensor.origin - object.load_at;
    return fault;
}

// One object in every environment. bodies: (n).
extern "C" __global__ void read_bodies(Bindings b, StoredBodies* bodies, Timing timing, const double* parameters, u32 n) {
    u32 i = environment_to_read(timing, parameters, n);
    if (i >= n) return;
    BodyState sensor;
    Bodies read;
    u32 fault = read_sensor(b, parameters, i, sensor);
    fault = read_object(b.object, i, sensor, fault, read);
    bodies[i] = stored(read, fault, 0);
}

// `count` objects in every environment, of any of `shapes` shapes; a fault of one is a fault of the environment. objects: (count).
// bodies: (n, count).
extern "C" __global__ void read_objects(Bindings b, const ObjectArrays* objects, u32 count, u32 shapes, StoredBodies* bodies, Timing timing,
                                        const double* parameters, u32 n) {
    u32 i = environment_to_read(timing, parameters, n);
    if (i >= n) return;
    BodyState sensor;
    u32 of_sensor = read_sensor(b, parameters, i, sensor), all = of_sensor;
    StoredBodies* own = bodies + (u64)i * count;
    for (u32 k = 0; k < count; k++) {
        Bodies read;
        all |= read_object(objects[k].body, i, sensor, of_sensor, read);
        double shape = objects[k].shape.address ? number_at(objects[k].shape, i, 0, 0) : (double)objects[k].fixed_shape;
        bool exists = shape >= 0.0 && shape < (double)shapes;
        if (!exists) all |= NO_SUCH_OBJECT;
        own[k] = stored(read, all, exists ? (u32)shape : 0u);
    }
    for (u32 k = 0; k < count; k++) own[k].fault = all;
}
