// Reads the bodies of n environments, one thread each: in the kernel of a step many threads would compute the same. Advances the
// clocks (n) of the response, unless null. parameters: (n, PARAMETERS) or null.
extern "C" __global__ void read_bodies(Bindings b, Bodies* bodies, Clock* clocks, const double* parameters, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (clocks) {
        Clock clock = clocks[i];
        clocks[i] = Clock{clock.next_s, clock.next_s + b.dt_s, clock.next_number, clock.next_number + 1};
    }
    BodyState sensor, object;
    Bodies read{};
    u32 fault = read_body(b.sensor, i, sensor) | read_body(b.object, i, object);
    if (parameters) displace(sensor, parameters + (u64)i * PARAMETERS);
    if (!fault) fault = relative_motion(sensor, object, read.relative);
    read.sensor_rotation = sensor.rotation;
    read.sensor_arm = sensor.origin - sensor.load_at;
    read.object_arm = sensor.origin - object.load_at;
    read.fault = fault;
    bodies[i] = read;
}
