// Converts poses and velocities of other libraries to the format of the kernels; other small kernels for arrays. One thread per item.

// Reads a number of an array of f32 or f64.
__device__ __forceinline__ double number(const void* from, int is_f32, u64 index) {
    return is_f32 ? (double)((const float*)from)[index] : ((const double*)from)[index];
}

#define NOT_FINITE 0
#define NOT_A_ROTATION 1

// True if a 4 × 4 matrix (rows v) is a rigid transform: R Rᵀ = 1 to within `slack`, det R > 0, last row 0, 0, 0, 1.
__device__ __forceinline__ bool is_rigid(const double* v, double slack) {
    bool rigid = true;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double p = v[4 * i] * v[4 * j] + v[4 * i + 1] * v[4 * j + 1] + v[4 * i + 2] * v[4 * j + 2];
            rigid = rigid && fabs(p - (i == j ? 1.0 : 0.0)) < slack;
        }
    Vec3 x = vec3(v[0], v[4], v[8]), y = vec3(v[1], v[5], v[9]), z = vec3(v[2], v[6], v[10]);
    return rigid && dot(x, cross(y, z)) > 0.0 && v[12] == 0.0 && v[13] == 0.0 && v[14] == 0.0 && v[15] == 1.0;
}

// Converts poses to position (m) and unit quaternion x, y, z, w. `width` numbers per pose: 3 for a position, 7 for position and quaternion
// w, x, y, z, 16 for a 4 × 4 matrix by rows. first_fault: twice the index of the first invalid pose, plus the reason; unchanged if there
// is none.
extern "C" __global__ void read_poses(const void* from, int is_f32, int width, u32 n, double* __restrict__ poses, u64* first_fault) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double v[16];
    bool fine = true;
    for (int k = 0; k < 16; k++) {
        v[k] = k < width ? number(from, is_f32, (u64)i * width + k) : 0.0;
        fine = fine && finite(v[k]);
    }
    if (!fine) {
        atomicMin(first_fault, 2ull * i + NOT_FINITE);
        return;
    }
    Vec3 position = width == 16 ? vec3(v[3], v[7], v[11]) : vec3(v);
    Quat q{0.0, 0.0, 0.0, 1.0};
    bool rigid = true;
    if (width == 16) {
        // Tolerance for matrices that were rounded to f32.
        rigid = is_rigid(v, is_f32 ? 1e-5 : 1e-6);
        q = quaternion_of(Mat3{vec3(v[0], v[4], v[8]), vec3(v[1], v[5], v[9]), vec3(v[2], v[6], v[10])});
    } else if (width == 7) {
        q = Quat{v[4], v[5], v[6], v[3]};
        rigid = fabs(sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w) - 1.0) <= 1e-3;
    }
    if (!rigid) {
        atomicMin(first_fault, 2ull * i + NOT_A_ROTATION);
        return;
    }
    double by = 1.0 / sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
    double* to = poses + POSE_NUMBERS * (u64)i;
    to[0] = position.x; to[1] = position.y; to[2] = position.z;
    to[3] = q.x * by; to[4] = q.y * by; to[5] = q.z * by; to[6] = q.w * by;
}

// Converts velocities at the objects' origins p to velocities at the sensor's origin, v + ω × (−p): linear (m/s), angular (rad/s), (n, 6).
extern "C" __global__ void read_twists(const void* from, int is_f32, u32 n, const double* __restrict__ poses,
                                       double* __restrict__ twists, u64* first_fault) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double v[6];
    bool fine = true;
    for (int k = 0; k < 6; k++) {
        v[k] = number(from, is_f32, 6 * (u64)i + k);
        fine = fine && finite(v[k]);
    }
    if (!fine) {
        atomicMin(first_fault, 2ull * i + NOT_FINITE);
        return;
    }
    Vec3 linear = vec3(v) + cross(vec3(v + 3), -position_of(poses + POSE_NUMBERS * (u64)i));
    double* to = twists + 6 * (u64)i;
    to[0] = linear.x; to[1] = linear.y; to[2] = linear.z;
    to[3] = v[3]; to[4] = v[4]; to[5] = v[5];
}

// Force along each taxel's normal, positive in compression: value = −force·normal. forces (n, taxels, 3), normals (taxels, 3).
extern "C" __global__ void along_normals(const double* __restrict__ forces, const double* __restrict__ normals, u32 taxels, u32 n,
                                         double* __restrict__ values) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (u64)n * taxels) return;
    values[i] = 0.0 - dot(vec3(forces + 3 * i), vec3(normals + 3 * (i % taxels)));
}
