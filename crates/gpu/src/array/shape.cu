// Rays against one object, in f64: the same steps in the same order as the CPU's, and no products fused with sums.

typedef unsigned int u32;
typedef unsigned long long u64;
typedef long long i64;

struct V3 {
    double x, y, z;
};
__device__ __forceinline__ V3 v3(double x, double y, double z) { return V3{x, y, z}; }
__device__ __forceinline__ V3 add(V3 a, V3 b) { return V3{a.x + b.x, a.y + b.y, a.z + b.z}; }
__device__ __forceinline__ V3 sub(V3 a, V3 b) { return V3{a.x - b.x, a.y - b.y, a.z - b.z}; }
__device__ __forceinline__ V3 mul(V3 a, double s) { return V3{a.x * s, a.y * s, a.z * s}; }
__device__ __forceinline__ V3 neg(V3 a) { return V3{-a.x, -a.y, -a.z}; }
__device__ __forceinline__ double dot(V3 a, V3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ __forceinline__ V3 cross(V3 a, V3 b) {
    return V3{a.y * b.z - b.y * a.z, a.z * b.x - b.z * a.x, a.x * b.y - b.x * a.y};
}
__device__ __forceinline__ V3 unit_or_zero(V3 a) {
    double recip = 1.0 / sqrt(dot(a, a));
    return recip < 1e300 && recip > 0.0 ? mul(a, recip) : v3(0.0, 0.0, 0.0);
}
__device__ __forceinline__ double pick(V3 a, int axis) { return axis == 0 ? a.x : (axis == 1 ? a.y : a.z); }

// Columns of a rotation.
struct Turn {
    V3 x, y, z;
};
__device__ __forceinline__ Turn turn_of(double qw, double qx, double qy, double qz) {
    double x2 = qx + qx, y2 = qy + qy, z2 = qz + qz;
    double xx = qx * x2, xy = qx * y2, xz = qx * z2, yy = qy * y2, yz = qy * z2, zz = qz * z2;
    double wx = qw * x2, wy = qw * y2, wz = qw * z2;
    return Turn{v3(1.0 - (yy + zz), xy + wz, xz - wy), v3(xy - wz, 1.0 - (xx + zz), yz + wx),
                v3(xz + wy, yz - wx, 1.0 - (xx + yy))};
}
__device__ __forceinline__ V3 apply(const Turn& t, V3 v) {
    return add(add(mul(t.x, v.x), mul(t.y, v.y)), mul(t.z, v.z));
}
__device__ __forceinline__ V3 apply_back(const Turn& t, V3 v) {
    Turn b{v3(t.x.x, t.y.x, t.z.x), v3(t.x.y, t.y.y, t.z.y), v3(t.x.z, t.y.z, t.z.z)};
    return apply(b, v);
}
// A quaternion turns a vector.
__device__ __forceinline__ V3 turned(double qw, V3 b, V3 v) {
    double b2 = dot(b, b);
    return add(add(mul(v, qw * qw - b2), mul(b, dot(v, b) * 2.0)), mul(cross(b, v), qw * 2.0));
}

// As the host lays it out; 128 bytes.
struct Node {
    float4 min[3];
    float4 max[3];
    u32 child[4];
    u32 count[4];
};

struct Shape {
    double size[3];
    double low[3];
    double high[3];
    double tree_low[3];
    double tree_high[3];
    double pad;
    double all_through;
    const Node* nodes;
    const double* corners;
    const double* normals;
    const u32* order;
    const u32* place;
    u32 triangles;
    int kind;
    int closed;
    int unused;
};

struct Hit {
    double distance;
    V3 normal;
    u32 triangle;
};

#define NONE 0xffffffffu
#define BALL 0
#define ELLIPSOID 1
#define CUBOID 2
#define CYLINDER 3
#define CAPSULE 4
#define MESH 5

__device__ __forceinline__ bool cast_ball(double radius, V3 o, V3 d, double length, Hit& hit) {
    double middle = -dot(o, d);
    V3 passes = add(o, mul(d, middle));
    double inside = radius * radius - dot(passes, passes);
    if (inside < 0.0) return false;
    double half = sqrt(inside);
    double distance = middle >= half ? middle - half : middle + half;
    if (!(distance >= 0.0 && distance <= length)) return false;
    hit.distance = distance;
    hit.normal = mul(add(o, mul(d, distance)), 1.0 / radius);
    hit.triangle = 0;
    return true;
}

#if KIND >= ELLIPSOID && KIND != MESH
#define FAR (1.0 / 0.0)
struct Inside {
    double enter, leave;
    bool any;
};
__device__ Inside in_unit_ball(V3 o, V3 d) {
    double dd = dot(d, d);
    double middle = -dot(o, d) / dd;
    V3 at = add(o, mul(d, middle));
    double passes = dot(at, at);
    double half = sqrt((1.0 - passes) / dd);
    return Inside{middle - half, middle + half, passes <= 1.0};
}
__device__ Inside in_slab(double o, double d, double half) {
    if (d == 0.0) return Inside{-FAR, FAR, fabs(o) <= half};
    double a = (-half - o) / d, b = (half - o) / d;
    return Inside{fmin(a, b), fmax(a, b), true};
}
__device__ Inside in_round(V3 o, V3 d, double radius) {
    V3 p = v3(o.x / radius, o.y / radius, 0.0), q = v3(d.x / radius, d.y / radius, 0.0);
    if (q.x == 0.0 && q.y == 0.0) return Inside{-FAR, FAR, dot(p, p) <= 1.0};
    return in_unit_ball(p, q);
}
__device__ Inside both(Inside a, Inside b) {
    Inside r{fmax(a.enter, b.enter), fmin(a.leave, b.leave), false};
    r.any = a.any && b.any && r.enter <= r.leave;
    return r;
}
__device__ Inside either(Inside a, Inside b) {
    if (!a.any) return b;
    if (!b.any) return a;
    return Inside{fmin(a.enter, b.enter), fmax(a.leave, b.leave), true};
}
__device__ __forceinline__ V3 over(V3 a, double r) { return v3(a.x / r, a.y / r, a.z / r); }
__device__ __forceinline__ double sign_of(double x) { return copysign(1.0, x); }

__device__ bool cast_shape(const Shape& s, V3 o, V3 d, double length, Hit& hit) {
    const double a = s.size[0], b = s.size[1];
#if KIND == ELLIPSOID || KIND == CUBOID
    const double c = s.size[2];
#endif
    Inside in;
#if KIND == ELLIPSOID
    in = in_unit_ball(v3(o.x / a, o.y / b, o.z / c), v3(d.x / a, d.y / b, d.z / c));
#elif KIND == CUBOID
    in = both(both(in_slab(o.x, d.x, a), in_slab(o.y, d.y, b)), in_slab(o.z, d.z, c));
#elif KIND == CYLINDER
    in = both(in_round(o, d, a), in_slab(o.z, d.z, b));
#else
    Inside side = both(in_round(o, d, a), in_slab(o.z, d.z, b));
    V3 q = over(d, a);
    in = either(either(in_unit_ball(over(v3(o.x, o.y, o.z + b), a), q), side),
                in_unit_ball(over(v3(o.x, o.y, o.z - b), a), q));
#endif
    if (!in.any) return false;
    double distance = in.enter >= 0.0 ? in.enter : in.leave;
    if (!(distance >= 0.0 && distance <= length)) return false;
    V3 at = add(o, mul(d, distance));
    V3 normal;
#if KIND == ELLIPSOID
    normal = unit_or_zero(v3(at.x / (a * a), at.y / (b * b), at.z / (c * c)));
#elif KIND == CUBOID
    double gx = fabs(at.x) - a, gy = fabs(at.y) - b, gz = fabs(at.z) - c;
    int axis = 0;
    double best = gx;
    if (gy > best) { axis = 1; best = gy; }
    if (gz > best) axis = 2;
    normal = v3(0.0, 0.0, 0.0);
    if (axis == 0) normal.x = sign_of(at.x);
    if (axis == 1) normal.y = sign_of(at.y);
    if (axis == 2) normal.z = sign_of(at.z);
#elif KIND == CYLINDER
    V3 out = v3(at.x, at.y, 0.0);
    if (fabs(at.z) - b > sqrt(dot(out, out)) - a) normal = v3(0.0, 0.0, sign_of(at.z));
    else normal = unit_or_zero(out);
#else
    double on_axis = fmin(fmax(at.z, -b), b);
    normal = unit_or_zero(v3(at.x, at.y, at.z - on_axis));
#endif
    hit = Hit{distance, normal, 0};
    return true;
}
#endif

#if KIND == MESH
__device__ __forceinline__ double steep(double c) { return fabs(c) < 1e-18 ? copysign(1e-18, c) : c; }

// A ray sheared so that it runs along an axis (Woop, Benthin and Wald 2013).
struct Sheared {
    double ox, oy, oz, sx, sy, sz;
    int kx, ky, kz;
};

__device__ __forceinline__ double meet_triangle(const Sheared& r, const double* __restrict__ c) {
    double akz = c[r.kz] - r.oz, bkz = c[3 + r.kz] - r.oz, ckz = c[6 + r.kz] - r.oz;
    double ax = (c[r.kx] - r.ox) - r.sx * akz, ay = (c[r.ky] - r.oy) - r.sy * akz;
    double bx = (c[3 + r.kx] - r.ox) - r.sx * bkz, by = (c[3 + r.ky] - r.oy) - r.sy * bkz;
    double cx = (c[6 + r.kx] - r.ox) - r.sx * ckz, cy = (c[6 + r.ky] - r.oy) - r.sy * ckz;
    double u = cx * by - cy * bx, v = ax * cy - ay * cx, w = bx * ay - by * ax;
    if ((u < 0.0 || v < 0.0 || w < 0.0) && (u > 0.0 || v > 0.0 || w > 0.0)) return -1.0;
    double sum = u + v + w;
    if (sum == 0.0) return -1.0;
    return (u * akz + v * bkz + w * ckz) * r.sz / sum;
}

__device__ __forceinline__ u32 key_of(float near, float far, u32 lane) {
    // Distances are not negative, so their bits are in order; two of the bits make room for the lane, which brings it nearer if anything.
    return near <= far * (1.0f + 1e-6f) ? ((__float_as_uint(near * (1.0f - 1e-6f)) & ~3u) | lane) : (0xfffffffcu | lane);
}
__device__ __forceinline__ void in_order(u32& a, u32& b) {
    u32 low = min(a, b), high = max(a, b);
    a = low;
    b = high;
}

__device__ bool cast_mesh(const Shape& s, V3 o, V3 d, double length, u32 hint, Hit& hit) {
    if (s.triangles == 0) return false;
    Sheared r;
    double lx = fabs(d.x), ly = fabs(d.y), lz = fabs(d.z);
    r.kz = lx > ly && lx > lz ? 0 : (ly > lz ? 1 : 2);
    r.kx = r.kz == 2 ? 0 : r.kz + 1;
    r.ky = r.kx == 2 ? 0 : r.kx + 1;
    if (pick(d, r.kz) < 0.0) {
        int k = r.kx;
        r.kx = r.ky;
        r.ky = k;
    }
    r.sz = 1.0 / pick(d, r.kz);
    r.sx = pick(d, r.kx) * r.sz;
    r.sy = pick(d, r.ky) * r.sz;
    r.ox = pick(o, r.kx);
    r.oy = pick(o, r.ky);
    r.oz = pick(o, r.kz);
    // Where it comes into the box of everything.
    double ix = 1.0 / steep(d.x), iy = 1.0 / steep(d.y), iz = 1.0 / steep(d.z);
    double two = 2.0 * s.pad;
    double ax = (s.tree_low[0] - two - o.x) * ix, bx = (s.tree_high[0] + two - o.x) * ix;
    double ay = (s.tree_low[1] - two - o.y) * iy, by = (s.tree_high[1] + two - o.y) * iy;
    double az = (s.tree_low[2] - two - o.z) * iz, bz = (s.tree_high[2] + two - o.z) * iz;
    double near = fmax(fmax(fmin(ax, bx), fmax(fmin(ay, by), fmin(az, bz))), 0.0);
    double far = fmin(fmax(ax, bx), fmin(fmax(ay, by), fmax(az, bz)));
    if (near > far || near > length) return false;
    float slack = (float)two;
    float px = (float)(o.x + d.x * near - (s.tree_low[0] + s.tree_high[0]) * 0.5);
    float py = (float)(o.y + d.y * near - (s.tree_low[1] + s.tree_high[1]) * 0.5);
    float pz = (float)(o.z + d.z * near - (s.tree_low[2] + s.tree_high[2]) * 0.5);
    float fx = (float)ix, fy = (float)iy, fz = (float)iz;
    double best = length;
    u32 found = NONE;
    float limit;
#define LIMIT() { float rest = (float)(best - near); limit = fmaxf(rest + fabsf(rest) * 1e-6f + slack, 0.0f); }
#define CONSIDER(position) { \
        double t = meet_triangle(r, s.corners + 9 * (u64)(position)); \
        if (t >= 0.0 && t <= best) { \
            u32 name = s.order[position]; \
            if (t < best || name < found) { best = t; found = name; LIMIT() } \
        } }
    LIMIT()
    if (hint != NONE) {
        u32 position = s.place[hint];
        CONSIDER(position)
    }
    u64 stack[STACK];
    int top = 0;
    u32 index = 0;
    while (true) {
        const Node* node = s.nodes + index;
        u32 keys[4];
        {
            float4 lx4 = node->min[0], hx4 = node->max[0], ly4 = node->min[1], hy4 = node->max[1], lz4 = node->min[2],
                   hz4 = node->max[2];
#define LANE(lane, c) { \
            float xa = (lx4.c - px) * fx, xb = (hx4.c - px) * fx; \
            float ya = (ly4.c - py) * fy, yb = (hy4.c - py) * fy; \
            float za = (lz4.c - pz) * fz, zb = (hz4.c - pz) * fz; \
            float n = fmaxf(fmaxf(fmaxf(0.0f, fminf(xa, xb)), fminf(ya, yb)), fminf(za, zb)); \
            float f = fminf(fminf(fmaxf(xa, xb), fmaxf(ya, yb)), fmaxf(za, zb)); \
            keys[lane] = key_of(n, f, lane); }
            LANE(0, x) LANE(1, y) LANE(2, z) LANE(3, w)
        }
        in_order(keys[0], keys[1]);
        in_order(keys[2], keys[3]);
        in_order(keys[0], keys[2]);
        in_order(keys[1], keys[3]);
        in_order(keys[1], keys[2]);
        // Leaves at once, near first; of the rest the nearest goes on and the others wait.
        u32 inner = 0;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            u32 key = keys[k], lane = key & 3u;
            if (key >= 0xfffffffcu || __uint_as_float(key & ~3u) > limit) continue;
            u32 child = node->child[lane], count = node->count[lane];
            if (child == NONE) continue;
            if (count == 0) {
                inner |= 1u << k;
                continue;
            }
            for (u32 position = child; position < child + count; position++) CONSIDER(position)
        }
#pragma unroll
        for (int k = 3; k >= 0; k--) {
            if (inner >> k & 1u) {
                stack[top] = (u64)(keys[k] & ~3u) << 32 | node->child[keys[k] & 3u];
                top++;
            }
        }
        while (top > 0 && __uint_as_float((u32)(stack[top - 1] >> 32)) > limit) top--;
        if (top == 0) break;
        top--;
        index = (u32)stack[top];
    }
    if (found == NONE) return false;
    const double* n = s.normals + 3 * (u64)found;
    hit = Hit{best, v3(n[0], n[1], n[2]), found};
    return true;
}
#endif

__device__ __forceinline__ bool cast(const Shape& s, V3 o, V3 d, double length, u32 hint, Hit& hit) {
#if KIND == BALL
    return cast_ball(s.size[0], o, d, length, hit);
#elif KIND == MESH
    return cast_mesh(s, o, d, length, hint, hit);
#else
    return cast_shape(s, o, d, length, hit);
#endif
}
