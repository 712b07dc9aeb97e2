// Poses and velocities that are on the GPU already, brought into one form: position and unit quaternion (w first), f64.

typedef unsigned int u32;
typedef unsigned long long u64;

__device__ __forceinline__ double number(const void* from, int single, u64 index) {
    return single ? (double)((const float*)from)[index] : ((const double*)from)[index];
}
__device__ __forceinline__ bool finite(double x) { return fabs(x) <= 1.7976931348623157e308; }

#define NOT_FINITE 0
#define NOT_A_ROTATION 1

// worst: 2 × number of the first pose that is none, plus why; written only if there is one.
extern "C" __global__ void read_poses(const void* from, int single, int width, u32 n, double* __restrict__ poses, u64* worst) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double v[16];
    bool fine = true;
    for (int k = 0; k < 16; k++) {
        v[k] = k < width ? number(from, single, (u64)i * width + k) : 0.0;
        fine = fine && finite(v[k]);
    }
    if (!fine) {
        atomicMin(worst, 2ull * i + NOT_FINITE);
        return;
    }
    double x, y, z, qw = 1.0, qx = 0.0, qy = 0.0, qz = 0.0;
    bool rigid = true;
    // What f32 rounds away of a rotation is no fault.
    double slack = single ? 1e-5 : 1e-6;
    if (width == 16) {
        x = v[3];
        y = v[7];
        z = v[11];
        double m00 = v[0], m01 = v[4], m02 = v[8], m10 = v[1], m11 = v[5], m12 = v[9], m20 = v[2], m21 = v[6], m22 = v[10];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) {
                double p = v[4 * i] * v[4 * j] + v[4 * i + 1] * v[4 * j + 1] + v[4 * i + 2] * v[4 * j + 2];
                rigid = rigid && fabs(p - (i == j ? 1.0 : 0.0)) < slack;
            }
        double determinant = m00 * (m11 * m22 - m12 * m21) - m10 * (m01 * m22 - m02 * m21) + m20 * (m01 * m12 - m02 * m11);
        rigid = rigid && determinant > 0.0 && v[12] == 0.0 && v[13] == 0.0 && v[14] == 0.0 && v[15] == 1.0;
        // The largest of the four parts first, so that nothing small is divided by.
        if (m22 <= 0.0) {
            double differ = m11 - m00, rest = 1.0 - m22;
            if (differ <= 0.0) {
                double four = rest - differ, by = 0.5 / sqrt(four);
                qx = four * by; qy = (m01 + m10) * by; qz = (m02 + m20) * by; qw = (m12 - m21) * by;
            } else {
                double four = rest + differ, by = 0.5 / sqrt(four);
                qx = (m01 + m10) * by; qy = four * by; qz = (m12 + m21) * by; qw = (m20 - m02) * by;
            }
        } else {
            double sum = m11 + m00, rest = 1.0 + m22;
            if (sum <= 0.0) {
                double four = rest - sum, by = 0.5 / sqrt(four);
                qx = (m02 + m20) * by; qy = (m12 + m21) * by; qz = four * by; qw = (m01 - m10) * by;
            } else {
                double four = rest + sum, by = 0.5 / sqrt(four);
                qx = (m12 - m21) * by; qy = (m20 - m02) * by; qz = (m01 - m10) * by; qw = four * by;
            }
        }
    } else {
        x = v[0];
        y = v[1];
        z = v[2];
        if (width == 7) {
            qw = v[3];
            qx = v[4];
            qy = v[5];
            qz = v[6];
            rigid = fabs(sqrt(qx * qx + qy * qy + qz * qz + qw * qw) - 1.0) <= 1e-3;
        }
    }
    if (!rigid) {
        atomicMin(worst, 2ull * i + NOT_A_ROTATION);
        return;
    }
    double by = 1.0 / sqrt(qx * qx + qy * qy + qz * qz + qw * qw);
    double* to = poses + 7 * (u64)i;
    to[0] = x; to[1] = y; to[2] = z;
    to[3] = qw * by; to[4] = qx * by; to[5] = qy * by; to[6] = qz * by;
}

// Velocities of the objects' origins become those at the sensor's.
extern "C" __global__ void read_twists(const void* from, int single, u32 n, const double* __restrict__ poses,
                                       double* __restrict__ twists, u64* worst) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    double v[6];
    bool fine = true;
    for (int k = 0; k < 6; k++) {
        v[k] = number(from, single, 6 * (u64)i + k);
        fine = fine && finite(v[k]);
    }
    if (!fine) {
        atomicMin(worst, 2ull * i + NOT_FINITE);
        return;
    }
    double ax = -poses[7 * (u64)i], ay = -poses[7 * (u64)i + 1], az = -poses[7 * (u64)i + 2];
    double* to = twists + 6 * (u64)i;
    to[0] = v[0] + (v[4] * az - v[5] * ay);
    to[1] = v[1] + (v[5] * ax - v[3] * az);
    to[2] = v[2] + (v[3] * ay - v[4] * ax);
    to[3] = v[3]; to[4] = v[4]; to[5] = v[5];
}

// Springs of those environments that start again are held by nothing.
extern "C" __global__ void let_go(const unsigned char* __restrict__ which, u32 sites, u32 n, u32* __restrict__ held) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (u64)n * sites && which[i / sites]) held[i] = 0xffffffffu;
}

// Force along each taxel's normal, positive in compression.
extern "C" __global__ void along_normals(const double* __restrict__ forces, const double* __restrict__ normals, u32 taxels, u32 n,
                                         double* __restrict__ values) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (u64)n * taxels) return;
    const double* f = forces + 3 * i;
    const double* normal = normals + 3 * (i % taxels);
    values[i] = 0.0 - (f[0] * normal[0] + f[1] * normal[1] + f[2] * normal[2]);
}

// The same poses with the quaternion's w last.
extern "C" __global__ void w_last(const double* __restrict__ poses, u32 n, double* __restrict__ to) {
    u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= 7ull * n) return;
    u64 k = i % 7;
    to[i] = poses[i - k + (k < 3 ? k : (k < 6 ? k + 1 : 3))];
}
