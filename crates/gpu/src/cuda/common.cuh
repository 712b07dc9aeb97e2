// Numbers, vectors, rotations, bounding-volume hierarchies and objects, for all kernels. The host inserts the structs that it declares
// with `cuda_struct!` between this text and the text of a program.

typedef float f32;
typedef double f64;
typedef int i32;
typedef long long i64;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;

// Numbers of vectors, rotations, rays and contacts: f64, or f32 in programs in single precision (SCALAR=float). Literals that are exact in f32 have
// the suffix f where they would make an expression of f32 one of f64; others are converted: Scalar(0.2).
#ifndef SCALAR
#define SCALAR double
#endif
typedef SCALAR Scalar;
#define IS_SINGLE (sizeof(Scalar) == 4)

// GPU addresses; the host has types of the same names.
template <class T>
using Ptr = const T*;
template <class T>
using PtrMut = T*;

// The index of a missing child, or of the triangle of a ray that hits none.
#define NONE 0xffffffffu
#define ALL_LANES 0xffffffffu

struct Vec3 {
    Scalar x, y, z;
};
__device__ __forceinline__ Vec3 vec3(Scalar x, Scalar y, Scalar z) { return Vec3{x, y, z}; }
template <class T>
__device__ __forceinline__ Vec3 vec3(const T* v) {
    return Vec3{(Scalar)v[0], (Scalar)v[1], (Scalar)v[2]};
}
__device__ __forceinline__ Vec3 operator+(Vec3 a, Vec3 b) { return Vec3{a.x + b.x, a.y + b.y, a.z + b.z}; }
__device__ __forceinline__ Vec3 operator-(Vec3 a, Vec3 b) { return Vec3{a.x - b.x, a.y - b.y, a.z - b.z}; }
__device__ __forceinline__ Vec3 operator-(Vec3 a) { return Vec3{-a.x, -a.y, -a.z}; }
__device__ __forceinline__ Vec3 operator*(Vec3 a, Scalar s) { return Vec3{a.x * s, a.y * s, a.z * s}; }
__device__ __forceinline__ Vec3 operator/(Vec3 a, Scalar s) { return Vec3{a.x / s, a.y / s, a.z / s}; }
__device__ __forceinline__ Vec3 times(Vec3 a, Vec3 b) { return Vec3{a.x * b.x, a.y * b.y, a.z * b.z}; }
__device__ __forceinline__ Vec3 over(Vec3 a, Vec3 b) { return Vec3{a.x / b.x, a.y / b.y, a.z / b.z}; }
__device__ __forceinline__ Vec3 absolute(Vec3 a) { return Vec3{fabs(a.x), fabs(a.y), fabs(a.z)}; }
__device__ __forceinline__ Scalar dot(Vec3 a, Vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ __forceinline__ Vec3 cross(Vec3 a, Vec3 b) {
    return Vec3{a.y * b.z - b.y * a.z, a.z * b.x - b.z * a.x, a.x * b.y - b.x * a.y};
}
__device__ __forceinline__ Scalar length(Vec3 a) { return sqrt(dot(a, a)); }
__device__ __forceinline__ Scalar component(Vec3 a, int axis) { return axis == 0 ? a.x : (axis == 1 ? a.y : a.z); }

// a / |a|; zero if that is not finite.
__device__ __forceinline__ Vec3 unit_or_zero(Vec3 a) {
    Scalar recip = 1.0f / sqrt(dot(a, a));
    return recip < Scalar(IS_SINGLE ? 1e38 : 1e300) && recip > 0.0 ? a * recip : vec3(0.0, 0.0, 0.0);
}

// A unit quaternion x, y, z, w, as on the host.
struct Quat {
    Scalar x, y, z, w;
};
__device__ __forceinline__ Quat conjugate(Quat q) { return Quat{-q.x, -q.y, -q.z, q.w}; }

// A pose is position x, y, z (m), then the rotation's quaternion x, y, z, w.
#define POSE_NUMBERS 7
__device__ __forceinline__ Vec3 position_of(const double* pose) { return vec3(pose); }
__device__ __forceinline__ Quat rotation_of(const double* pose) {
    return Quat{(Scalar)pose[3], (Scalar)pose[4], (Scalar)pose[5], (Scalar)pose[6]};
}

// Products and sums that are rounded separately, as on the CPU, even where the compiler fuses multiply and add.
__device__ __forceinline__ double rounded_product(double a, double b) { return __dmul_rn(a, b); }
__device__ __forceinline__ double rounded_sum(double a, double b) { return __dadd_rn(a, b); }
__device__ __forceinline__ double rounded_difference(double a, double b) { return __dadd_rn(a, -b); }
__device__ __forceinline__ float rounded_product(float a, float b) { return __fmul_rn(a, b); }
__device__ __forceinline__ float rounded_sum(float a, float b) { return __fadd_rn(a, b); }
__device__ __forceinline__ float rounded_difference(float a, float b) { return __fadd_rn(a, -b); }

// q v q*, with b the quaternion's vector: (w² − b·b) v + 2 (v·b) b + 2 w (b × v), rounded as on the CPU.
__device__ __forceinline__ Vec3 rotate(Quat q, Vec3 v) {
#define P rounded_product
#define S rounded_sum
#define D rounded_difference
    Scalar own = D(P(q.w, q.w), S(S(P(q.x, q.x), P(q.y, q.y)), P(q.z, q.z)));
    Scalar along = P(S(S(P(v.x, q.x), P(v.y, q.y)), P(v.z, q.z)), Scalar(2.0)), around = P(q.w, Scalar(2.0));
    Scalar cx = D(P(q.y, v.z), P(v.y, q.z)), cy = D(P(q.z, v.x), P(v.z, q.x)), cz = D(P(q.x, v.y), P(v.x, q.y));
    return Vec3{S(S(P(v.x, own), P(q.x, along)), P(cx, around)), S(S(P(v.y, own), P(q.y, along)), P(cy, around)),
                S(S(P(v.z, own), P(q.z, along)), P(cz, around))};
#undef P
#undef S
#undef D
}

// A rotation matrix by columns.
struct Mat3 {
    Vec3 x, y, z;
};
__device__ __forceinline__ Mat3 matrix_of(Quat q) {
    Scalar x2 = q.x + q.x, y2 = q.y + q.y, z2 = q.z + q.z;
    Scalar xx = q.x * x2, xy = q.x * y2, xz = q.x * z2, yy = q.y * y2, yz = q.y * z2, zz = q.z * z2;
    Scalar wx = q.w * x2, wy = q.w * y2, wz = q.w * z2;
    return Mat3{vec3(1.0f - (yy + zz), xy + wz, xz - wy), vec3(xy - wz, 1.0f - (xx + zz), yz + wx),
                vec3(xz + wy, yz - wx, 1.0f - (xx + yy))};
}
__device__ __forceinline__ Vec3 operator*(const Mat3& m, Vec3 v) { return m.x * v.x + m.y * v.y + m.z * v.z; }
__device__ __forceinline__ Mat3 transposed(const Mat3& m) {
    return Mat3{vec3(m.x.x, m.y.x, m.z.x), vec3(m.x.y, m.y.y, m.z.y), vec3(m.x.z, m.y.z, m.z.z)};
}

// Quaternion of a rotation matrix, given by columns. Computes the largest component first, to avoid division by a small number.
__device__ __forceinline__ Quat quaternion_of(const Mat3& m) {
    Scalar m00 = m.x.x, m01 = m.x.y, m02 = m.x.z, m10 = m.y.x, m11 = m.y.y, m12 = m.y.z, m20 = m.z.x, m21 = m.z.y, m22 = m.z.z;
    if (m22 <= 0.0) {
        Scalar differ = m11 - m00, rest = 1.0f - m22;
        if (differ <= 0.0) {
            Scalar four = rest - differ, by = 0.5f / sqrt(four);
            return Quat{four * by, (m01 + m10) * by, (m02 + m20) * by, (m12 - m21) * by};
        }
        Scalar four = rest + differ, by = 0.5f / sqrt(four);
        return Quat{(m01 + m10) * by, four * by, (m12 + m21) * by, (m20 - m02) * by};
    }
    Scalar sum = m11 + m00, rest = 1.0f + m22;
    if (sum <= 0.0) {
        Scalar four = rest - sum, by = 0.5f / sqrt(four);
        return Quat{(m02 + m20) * by, (m12 + m21) * by, four * by, (m01 - m10) * by};
    }
    Scalar four = rest + sum, by = 0.5f / sqrt(four);
    return Quat{(m12 - m21) * by, (m20 - m02) * by, (m01 - m10) * by, four * by};
}

__device__ __forceinline__ Quat product(Quat a, Quat b) {
    return Quat{a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z};
}
__device__ __forceinline__ bool finite(Scalar x) { return fabs(x) <= 1.7976931348623157e308; }
__device__ __forceinline__ bool finite(Vec3 v) { return finite(v.x) && finite(v.y) && finite(v.z); }

// Four children of a bounding-volume hierarchy: `dermis_geometry::FlatNode`; the host checks the layout too. Boxes are relative to the
// centre of the tree's bounding box. `child` is the position of the first item of a leaf (a child with items), otherwise the node's index.
struct Node {
    float4 min[3];
    float4 max[3];
    u32 child[4];
    u32 count[4];
};
// The members fill the struct, so their sizes determine their offsets.
static_assert(sizeof(Node) == 128 && sizeof(Node::min) == 48 && sizeof(Node::max) == 48 && sizeof(Node::child) == 16 &&
                  sizeof(Node::count) == 16,
              "Node differs from the host's FlatNode");
__device__ __forceinline__ float box_min(const Node& node, int axis, u32 lane) { return ((const float*)&node.min[axis])[lane]; }
__device__ __forceinline__ float box_max(const Node& node, int axis, u32 lane) { return ((const float*)&node.max[axis])[lane]; }

// Kinds of surfaces, numbered as on the host (object.rs). Macros, because programs are compiled for one kind.
#define SPHERE 0
#define ELLIPSOID 1
#define CUBOID 2
#define CYLINDER 3
#define CAPSULE 4
#define MESH 5
#define BALLS 6
// A program for all kinds.
#define ANY 7

// Sum over a warp in a fixed order; the result is in lane 0.
__device__ __forceinline__ Scalar warp_sum(Scalar x) {
    for (int k = 16; k > 0; k >>= 1) x += __shfl_down_sync(ALL_LANES, x, k);
    return x;
}
__device__ __forceinline__ u32 warp_sum(u32 x) {
    for (int k = 16; k > 0; k >>= 1) x += __shfl_down_sync(ALL_LANES, x, k);
    return x;
}
