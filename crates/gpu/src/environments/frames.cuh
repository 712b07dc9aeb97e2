// Poses and velocities of one environment from the arrays of other libraries (`Bindings`, environments/bindings.rs), and loads written
// back to them. The CPU has the same equations in environments/frames.rs.

// Formats of rotations, and bits of an environment's status, numbered as on the host.
#define NO_ROTATION 0
#define QUATERNION_W_FIRST 1
#define QUATERNION_W_LAST 2
#define ROTATION_MATRIX 3
#define NOT_FINITE 1u
#define NOT_A_ROTATION 2u
#define OUT_OF_RANGE 4u
#define SATURATED 8u
#define NO_SUCH_OBJECT 32u
// Largest distance (m), speed (m/s) and rate of rotation (rad/s) that are accepted.
#define MAX_MAGNITUDE 1e6
#define QUATERNION_SLACK 1e-3
#define MATRIX_SLACK 1e-4

// A frame that is fixed to a body: origin (m) and rotation in the world, velocity (m/s) of the body at the origin and rate of rotation
// (rad/s), and the point (m) about which the torque on the body is written.
struct BodyState {
    Vec3 origin, linear, angular, load_at;
    Quat rotation;
};

// Rotation of a body; returns the bits of its faults.
__device__ __forceinline__ u32 read_rotation(const BodyArrays& body, u32 i, Quat& q) {
    q = Quat{0.0, 0.0, 0.0, 1.0};
    if (body.rotation_format == NO_ROTATION) return 0;
    if (body.rotation_format == ROTATION_MATRIX) {
        Vec3 c[3];
        for (u32 k = 0; k < 3; k++)
            c[k] = vec3(number_at(body.rotation, i, 0, k), number_at(body.rotation, i, 1, k), number_at(body.rotation, i, 2, k));
        if (!(finite(c[0]) && finite(c[1]) && finite(c[2]))) return NOT_FINITE;
        Scalar worst = fmax(fmax(fabs(dot(c[0], c[0]) - 1.0f), fabs(dot(c[1], c[1]) - 1.0f)), fabs(dot(c[2], c[2]) - 1.0f));
        worst = fmax(worst, fmax(fmax(fabs(dot(c[0], c[1])), fabs(dot(c[1], c[2]))), fabs(dot(c[2], c[0]))));
        if (!(worst <= MATRIX_SLACK && dot(c[0], cross(c[1], c[2])) > 0.0)) return NOT_A_ROTATION;
        q = quaternion_of(Mat3{c[0], c[1], c[2]});
    } else {
        Scalar v[4];
        for (u32 k = 0; k < 4; k++) v[k] = number_at(body.rotation, i, k, 0);
        if (!(finite(v[0]) && finite(v[1]) && finite(v[2]) && finite(v[3]))) return NOT_FINITE;
        q = body.rotation_format == QUATERNION_W_FIRST ? Quat{v[1], v[2], v[3], v[0]} : Quat{v[0], v[1], v[2], v[3]};
    }
    Scalar length = sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
    if (!(fabs(length - 1.0f) <= QUATERNION_SLACK)) return NOT_A_ROTATION;
    Scalar by = 1.0f / length;
    q = Quat{q.x * by, q.y * by, q.z * by, q.w * by};
    return 0;
}

// Frame of the sensor or the object in environment i; returns the bits of its faults:
//   origin = p + R o,  v_origin = v + ω × (origin − c)      p, R: pose of the body; o: offset of the frame; c: where v is given
__device__ __forceinline__ u32 read_body(const BodyArrays& body, u32 i, BodyState& state) {
    Vec3 zero = vec3(0.0, 0.0, 0.0), position = body.position.address ? row_vector(body.position, i, 0) : zero;
    Quat rotation;
    u32 fault = read_rotation(body, i, rotation);
    if (!finite(position)) fault |= NOT_FINITE;
    Vec3 center = position + rotate(rotation, vec3(body.center));
    state.origin = position + rotate(rotation, position_of(body.offset));
    state.rotation = product(rotation, rotation_of(body.offset));
    state.load_at = body.load_at.address ? row_vector(body.load_at, i, 0) : center;
    state.linear = state.angular = zero;
    if (body.twist.address) {
        Vec3 at = body.twist_at.address ? row_vector(body.twist_at, i, 0) : center;
        state.angular = row_vector(body.twist, i, body.angular_first ? 0 : 3);
        Vec3 linear = row_vector(body.twist, i, body.angular_first ? 3 : 0);
        state.linear = linear + cross(state.angular, state.origin - at);
    }
    if (!(finite(state.linear) && finite(state.angular) && finite(state.load_at))) fault |= NOT_FINITE;
    Scalar largest = fmax(dot(state.linear, state.linear), dot(state.angular, state.angular));
    if (largest > MAX_MAGNITUDE * MAX_MAGNITUDE) fault |= OUT_OF_RANGE;
    return fault;
}

// The object relative to the sensor: pose, and velocity at the sensor's origin, in the sensor's frame.
struct Relative {
    Vec3 position, linear, angular;
    Quat rotation;
};
__device__ __forceinline__ u32 relative_motion(const BodyState& sensor, const BodyState& object, Relative& relative) {
    Quat sensor_from_world = conjugate(sensor.rotation);
    Vec3 arm = sensor.origin - object.origin;
    relative.position = rotate(sensor_from_world, -arm);
    relative.rotation = product(sensor_from_world, object.rotation);
    relative.linear = rotate(sensor_from_world, object.linear + cross(object.angular, arm) - sensor.linear);
    relative.angular = rotate(sensor_from_world, object.angular - sensor.angular);
    return dot(arm, arm) > MAX_MAGNITUDE * MAX_MAGNITUDE ? OUT_OF_RANGE : 0u;
}

// What a step needs of the sensor and one object: the object relative to the sensor and, to write loads, the rotation of the sensor and the vectors (m)
// from the points of the bodies' loads to the sensor's origin, in the world frame. 24 numbers in f64, as on the host.
struct Bodies {
    Relative relative;
    Quat sensor_rotation;
    Vec3 sensor_arm, object_arm;
    // Bits of faults of the environment, and the index of the object's shape.
    u32 fault, shape;
};

// Moves the sensor in its frame by a position (m) and a rotation vector (rad).
__device__ __forceinline__ void displace(BodyState& sensor, const double* parameters) {
    Vec3 shift = rotate(sensor.rotation, vec3(parameters + POSITION)), axis = vec3(parameters + ROTATION);
    sensor.origin = sensor.origin + shift;
    sensor.linear = sensor.linear + cross(sensor.angular, shift);
    Scalar angle = sqrt(dot(axis, axis));
    if (angle == 0.0) return;
    Scalar sine = sin(0.5f * angle) / angle;
    sensor.rotation = product(sensor.rotation, Quat{axis.x * sine, axis.y * sine, axis.z * sine, cos(0.5f * angle)});
}

// Writes or adds a load (N, N m) in the world frame, with the torque about the sensor's origin, to a body's array; `arm` as in `Bodies`.
__device__ __forceinline__ void write_load(const BodyArrays& body, u32 i, bool add, Vec3 arm, Vec3 force, Vec3 torque) {
    if (body.load.address == 0) return;
    Vec3 moved = torque + cross(arm, force);
    if (add) {
        add_row_vector(body.load, i, 0, force);
        add_row_vector(body.load, i, 3, moved);
    } else {
        set_row_vector(body.load, i, 0, force);
        set_row_vector(body.load, i, 3, moved);
    }
}

// Writes or adds a load to a body's array, as above. In an environment with a fault it is zero.
__device__ __forceinline__ void write_valid_load(const BodyArrays& body, u32 i, bool add, u32 fault, Vec3 arm, Vec3 force, Vec3 torque) {
    Vec3 zero = vec3(0.0, 0.0, 0.0);
    if (!fault)
        write_load(body, i, add, arm, force, torque);
    else if (!add)
        write_load(body, i, false, zero, zero, zero);
}

// Writes the load on the sensor in environment i, given as force (N) and torque (N m) about its origin, in its frame: as it is, and on the
// sensor's body in the world frame.
__device__ __forceinline__ void write_sensor_load(const Bindings& b, u32 i, const Bodies& bodies, Vec3 force, Vec3 torque) {
    set_row_vector(b.wrench, i, 0, force);
    set_row_vector(b.wrench, i, 3, torque);
    Vec3 world_force = rotate(bodies.sensor_rotation, force), world_torque = rotate(bodies.sensor_rotation, torque);
    write_valid_load(b.sensor, i, b.add_to_sensor, bodies.fault, bodies.sensor_arm, world_force, world_torque);
}

// Writes the load on one object, given as that of the object on the sensor, to the array of its body.
__device__ __forceinline__ void write_object_load(const BodyArrays& object, bool add, u32 i, const Bodies& bodies, Vec3 force, Vec3 torque) {
    Vec3 world_force = rotate(bodies.sensor_rotation, force), world_torque = rotate(bodies.sensor_rotation, torque);
    write_valid_load(object, i, add, bodies.fault, bodies.object_arm, -world_force, -world_torque);
}

// Writes the loads on the sensor and on its only object.
__device__ __forceinline__ void write_loads(const Bindings& b, u32 i, const Bodies& bodies, Vec3 force, Vec3 torque) {
    write_sensor_load(b, i, bodies, force, torque);
    write_object_load(b.object, b.add_to_object, i, bodies, force, torque);
}
