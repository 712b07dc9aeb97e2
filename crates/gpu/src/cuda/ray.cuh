// The first hit of a ray on one object, with the operations and, in f64, the rounding of the CPU's `Surface::cast`. Programs are compiled
// for one KIND of object, and for meshes with a STACK of nodes, because code for other kinds would occupy registers; with KIND ANY for all
// kinds.
//
// A ray starts at `origin` and runs along the unit vector `direction` for at most `length` (m), all in the object's frame.

struct Hit {
    Scalar distance;
    // Outward, in the object's frame.
    Vec3 normal;
    // Zero on primitives.
    u32 triangle;
};

// The kind of an object, known to the compiler unless KIND is ANY. Rays are cast at the mesh of balls.
#define KIND_OF(object) (KIND == ANY ? (object).kind : KIND)

__device__ __forceinline__ Scalar sign_of(Scalar x) { return copysign(Scalar(1.0), x); }

// Outward unit normal of a primitive of a kind at a point of its surface.
__device__ __forceinline__ Vec3 primitive_normal(int kind, const ObjectView& object, Vec3 at) {
    const Scalar a = object.size[0], b = object.size[1], c = object.size[2];
    if (kind == ELLIPSOID) return unit_or_zero(vec3(at.x / (a * a), at.y / (b * b), at.z / (c * c)));
    if (kind == CUBOID) {
        // The face whose plane the point is farthest outside of.
        Scalar gx = fabs(at.x) - a, gy = fabs(at.y) - b, gz = fabs(at.z) - c;
        if (gy > gx) return gz > gy ? vec3(0.0, 0.0, sign_of(at.z)) : vec3(0.0, sign_of(at.y), 0.0);
        return gz > gx ? vec3(0.0, 0.0, sign_of(at.z)) : vec3(sign_of(at.x), 0.0, 0.0);
    }
    if (kind == CYLINDER) {
        Vec3 out = vec3(at.x, at.y, 0.0);
        return fabs(at.z) - b > sqrt(dot(out, out)) - a ? vec3(0.0, 0.0, sign_of(at.z)) : unit_or_zero(out);
    }
    if (kind == CAPSULE) return unit_or_zero(vec3(at.x, at.y, at.z - fmin(fmax(at.z, -b), b)));
    return unit_or_zero(at);
}

#if KIND == SPHERE || KIND == ANY
// |origin + t direction| = radius: the smaller non-negative root.
__device__ __forceinline__ bool cast_sphere(Scalar radius, Vec3 origin, Vec3 direction, Scalar length, Hit& hit) {
    Scalar middle = -dot(origin, direction);
    Vec3 nearest = origin + direction * middle;
    Scalar inside = radius * radius - dot(nearest, nearest);
    if (inside < 0.0) return false;
    Scalar half = sqrt(inside);
    Scalar distance = middle >= half ? middle - half : middle + half;
    if (!(distance >= 0.0 && distance <= length)) return false;
    hit.distance = distance;
    hit.normal = (origin + direction * distance) * (1.0f / radius);
    hit.triangle = 0;
    return true;
}
#endif

#if (KIND >= ELLIPSOID && KIND < MESH) || KIND == ANY
#define FAR (1.0f / 0.0f)

// The interval of a ray inside a convex solid, as distances (m) along the ray.
struct Interval {
    Scalar enter, leave;
    bool any;
};

// Interval inside the unit sphere; the direction need not have length 1.
__device__ Interval in_unit_sphere(Vec3 origin, Vec3 direction) {
    Scalar squared = dot(direction, direction);
    Scalar middle = -dot(origin, direction) / squared;
    Vec3 nearest = origin + direction * middle;
    Scalar missed = dot(nearest, nearest);
    Scalar half = sqrt((1.0f - missed) / squared);
    return Interval{middle - half, middle + half, missed <= 1.0};
}

// Interval inside −half ≤ x ≤ half along one axis.
__device__ Interval in_slab(Scalar origin, Scalar direction, Scalar half) {
    if (direction == 0.0) return Interval{-FAR, FAR, fabs(origin) <= half};
    Scalar a = (-half - origin) / direction, b = (half - origin) / direction;
    return Interval{fmin(a, b), fmax(a, b), true};
}

// Interval inside an infinite cylinder about z.
__device__ Interval in_cylinder(Vec3 origin, Vec3 direction, Scalar radius) {
    Vec3 p = vec3(origin.x / radius, origin.y / radius, 0.0), q = vec3(direction.x / radius, direction.y / radius, 0.0);
    if (q.x == 0.0 && q.y == 0.0) return Interval{-FAR, FAR, dot(p, p) <= 1.0};
    return in_unit_sphere(p, q);
}

__device__ Interval intersection(Interval a, Interval b) {
    Interval r{fmax(a.enter, b.enter), fmin(a.leave, b.leave), false};
    r.any = a.any && b.any && r.enter <= r.leave;
    return r;
}

// The smallest interval that contains both intervals, for solids that overlap.
__device__ Interval joined(Interval a, Interval b) {
    if (!a.any) return b;
    if (!b.any) return a;
    return Interval{fmin(a.enter, b.enter), fmax(a.leave, b.leave), true};
}

__device__ __forceinline__ Interval in_primitive(const ObjectView& object, Vec3 o, Vec3 d) {
    const Scalar a = object.size[0], b = object.size[1], c = object.size[2];
    const int kind = KIND_OF(object);
    if (kind == ELLIPSOID) return in_unit_sphere(vec3(o.x / a, o.y / b, o.z / c), vec3(d.x / a, d.y / b, d.z / c));
    if (kind == CUBOID) return intersection(intersection(in_slab(o.x, d.x, a), in_slab(o.y, d.y, b)), in_slab(o.z, d.z, c));
    Interval side = intersection(in_cylinder(o, d, a), in_slab(o.z, d.z, b));
    if (kind == CYLINDER) return side;
    Vec3 q = d / a;
    return joined(joined(in_unit_sphere(vec3(o.x, o.y, o.z + b) / a, q), side), in_unit_sphere(vec3(o.x, o.y, o.z - b) / a, q));
}

__device__ bool cast_primitive(const ObjectView& object, Vec3 origin, Vec3 direction, Scalar length, Hit& hit) {
    Interval inside = in_primitive(object, origin, direction);
    if (!inside.any) return false;
    Scalar distance = inside.enter >= 0.0 ? inside.enter : inside.leave;
    if (!(distance >= 0.0 && distance <= length)) return false;
    hit = Hit{distance, primitive_normal(KIND_OF(object), object, origin + direction * distance), 0};
    return true;
}
#endif

#if KIND == MESH || KIND == ANY
// A ray sheared to run along axis kz (Woop, Benthin and Wald 2013).
struct ShearedRay {
    Scalar ox, oy, oz, sx, sy, sz;
    int kx, ky, kz;
};

__device__ __forceinline__ ShearedRay sheared(Vec3 o, Vec3 d) {
    ShearedRay r;
    Scalar lx = fabs(d.x), ly = fabs(d.y), lz = fabs(d.z);
    r.kz = lx > ly && lx > lz ? 0 : (ly > lz ? 1 : 2);
    r.kx = r.kz == 2 ? 0 : r.kz + 1;
    r.ky = r.kx == 2 ? 0 : r.kx + 1;
    if (component(d, r.kz) < 0.0) {
        int k = r.kx;
        r.kx = r.ky;
        r.ky = k;
    }
    r.sz = 1.0f / component(d, r.kz);
    r.sx = component(d, r.kx) * r.sz;
    r.sy = component(d, r.ky) * r.sz;
    r.ox = component(o, r.kx);
    r.oy = component(o, r.ky);
    r.oz = component(o, r.kz);
    return r;
}

// Distance (m) to the triangle with corners c (nine numbers); negative if the ray misses it. Watertight along edges.
__device__ __forceinline__ Scalar triangle_distance(const ShearedRay& r, const Scalar* __restrict__ c) {
    Scalar akz = c[r.kz] - r.oz, bkz = c[3 + r.kz] - r.oz, ckz = c[6 + r.kz] - r.oz;
    Scalar ax = (c[r.kx] - r.ox) - r.sx * akz, ay = (c[r.ky] - r.oy) - r.sy * akz;
    Scalar bx = (c[3 + r.kx] - r.ox) - r.sx * bkz, by = (c[3 + r.ky] - r.oy) - r.sy * bkz;
    Scalar cx = (c[6 + r.kx] - r.ox) - r.sx * ckz, cy = (c[6 + r.ky] - r.oy) - r.sy * ckz;
    Scalar u = cx * by - cy * bx, v = ax * cy - ay * cx, w = bx * ay - by * ax;
    if ((u < 0.0 || v < 0.0 || w < 0.0) && (u > 0.0 || v > 0.0 || w > 0.0)) return -1.0;
    Scalar sum = u + v + w;
    if (sum == 0.0) return -1.0;
    return (u * akz + v * bkz + w * ckz) * r.sz / sum;
}

// The ray in f32, starting where it enters the tree's box, relative to the centre of that box. Boxes of nodes are padded for rounding.
struct BoxRay {
    float px, py, pz, ix, iy, iz, slack;
    Scalar near;
};

__device__ __forceinline__ Scalar away_from_zero(Scalar c) { return fabs(c) < Scalar(1e-18) ? copysign(Scalar(1e-18), c) : c; }

// Returns false if the ray misses the tree's box.
__device__ __forceinline__ bool enter_tree(const ObjectView& s, Vec3 o, Vec3 d, Scalar length, BoxRay& ray) {
    Scalar ix = 1.0f / away_from_zero(d.x), iy = 1.0f / away_from_zero(d.y), iz = 1.0f / away_from_zero(d.z);
    Scalar two = 2.0f * s.pad;
    Scalar ax = (s.tree_low[0] - two - o.x) * ix, bx = (s.tree_high[0] + two - o.x) * ix;
    Scalar ay = (s.tree_low[1] - two - o.y) * iy, by = (s.tree_high[1] + two - o.y) * iy;
    Scalar az = (s.tree_low[2] - two - o.z) * iz, bz = (s.tree_high[2] + two - o.z) * iz;
    Scalar near = fmax(fmax(fmin(ax, bx), fmax(fmin(ay, by), fmin(az, bz))), Scalar(0.0));
    Scalar far = fmin(fmax(ax, bx), fmin(fmax(ay, by), fmax(az, bz)));
    if (near > far || near > length) return false;
    ray.px = (float)(o.x + d.x * near - (s.tree_low[0] + s.tree_high[0]) * 0.5f);
    ray.py = (float)(o.y + d.y * near - (s.tree_low[1] + s.tree_high[1]) * 0.5f);
    ray.pz = (float)(o.z + d.z * near - (s.tree_low[2] + s.tree_high[2]) * 0.5f);
    ray.ix = (float)ix;
    ray.iy = (float)iy;
    ray.iz = (float)iz;
    ray.slack = (float)two;
    ray.near = near;
    return true;
}

// The nearest triangle so far, and its distance in f32: boxes farther away are skipped.
struct Nearest {
    Scalar distance;
    u32 triangle;
    float limit;
};

__device__ __forceinline__ void set_limit(const BoxRay& ray, Nearest& nearest) {
    float rest = (float)(nearest.distance - ray.near);
    nearest.limit = fmaxf(rest + fabsf(rest) * 1e-6f + ray.slack, 0.0f);
}

// Tests the triangle at a position of the leaves. Of two triangles at the same distance, takes the one with the smaller index.
__device__ __forceinline__ void test_triangle(const ObjectView& object, const ShearedRay& sheared, const BoxRay& ray, u32 position,
                                              Nearest& nearest) {
    Scalar t = triangle_distance(sheared, object.corners + 9 * (u64)position);
    if (t >= 0.0 && t <= nearest.distance) {
        u32 triangle = object.order[position];
        if (t < nearest.distance || triangle < nearest.triangle) {
            nearest.distance = t;
            nearest.triangle = triangle;
            set_limit(ray, nearest);
        }
    }
}

// Sort key of a child. Distances are not negative, so their bits sort like the numbers; the lane replaces the two lowest bits, which rounds
// the distance down.
__device__ __forceinline__ u32 child_key(float near, float far, u32 lane) {
    return near <= far * (1.0f + 1e-6f) ? ((__float_as_uint(near * (1.0f - 1e-6f)) & ~3u) | lane) : (0xfffffffcu | lane);
}
__device__ __forceinline__ void sort_two(u32& a, u32& b) {
    u32 low = min(a, b), high = max(a, b);
    a = low;
    b = high;
}

// Keys of the four children of a node, nearest box first; missed boxes sort last.
__device__ __forceinline__ void sorted_children(const Node* node, const BoxRay& ray, u32* keys) {
    float4 lx = node->min[0], hx = node->max[0], ly = node->min[1], hy = node->max[1], lz = node->min[2], hz = node->max[2];
#define LANE(lane, c) { \
        float xa = (lx.c - ray.px) * ray.ix, xb = (hx.c - ray.px) * ray.ix; \
        float ya = (ly.c - ray.py) * ray.iy, yb = (hy.c - ray.py) * ray.iy; \
        float za = (lz.c - ray.pz) * ray.iz, zb = (hz.c - ray.pz) * ray.iz; \
        float n = fmaxf(fmaxf(fmaxf(0.0f, fminf(xa, xb)), fminf(ya, yb)), fminf(za, zb)); \
        float f = fminf(fminf(fmaxf(xa, xb), fmaxf(ya, yb)), fmaxf(za, zb)); \
        keys[lane] = child_key(n, f, lane); }
    LANE(0, x) LANE(1, y) LANE(2, z) LANE(3, w)
#undef LANE
    sort_two(keys[0], keys[1]);
    sort_two(keys[2], keys[3]);
    sort_two(keys[0], keys[2]);
    sort_two(keys[1], keys[3]);
    sort_two(keys[1], keys[2]);
}

// `hint`: index of a triangle that the ray may hit, or NONE; it affects the speed only.
__device__ bool cast_mesh(const ObjectView& object, Vec3 o, Vec3 d, Scalar length, u32 hint, Hit& hit) {
    if (object.triangles == 0) return false;
    ShearedRay along_axis = sheared(o, d);
    BoxRay ray;
    if (!enter_tree(object, o, d, length, ray)) return false;
    Nearest nearest{length, NONE, 0.0f};
    set_limit(ray, nearest);
    if (hint != NONE) test_triangle(object, along_axis, ray, object.place[hint], nearest);
    u64 stack[STACK];
    int top = 0;
    u32 index = 0;
    while (true) {
        const Node* node = object.nodes + index;
        u32 keys[4];
        sorted_children(node, ray, keys);
        // Tests leaves at once, nearest first; continues with the nearest inner child and pushes the others on the stack.
        u32 inner = 0;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            u32 key = keys[k], lane = key & 3u;
            if (key >= 0xfffffffcu || __uint_as_float(key & ~3u) > nearest.limit) continue;
            u32 child = node->child[lane], count = node->count[lane];
            if (child == NONE) continue;
            if (count == 0) {
                inner |= 1u << k;
                continue;
            }
            for (u32 position = child; position < child + count; position++) test_triangle(object, along_axis, ray, position, nearest);
        }
#pragma unroll
        for (int k = 3; k >= 0; k--) {
            if (inner >> k & 1u) {
                stack[top] = (u64)(keys[k] & ~3u) << 32 | node->child[keys[k] & 3u];
                top++;
            }
        }
        while (top > 0 && __uint_as_float((u32)(stack[top - 1] >> 32)) > nearest.limit) top--;
        if (top == 0) break;
        top--;
        index = (u32)stack[top];
    }
    if (nearest.triangle == NONE) return false;
    hit = Hit{nearest.distance, vec3(object.normals + 3 * (u64)nearest.triangle), nearest.triangle};
    return true;
}
#endif

__device__ __forceinline__ bool cast(const ObjectView& object, Vec3 origin, Vec3 direction, Scalar length, u32 hint, Hit& hit) {
#if KIND == SPHERE
    return cast_sphere(object.size[0], origin, direction, length, hit);
#elif KIND == MESH
    return cast_mesh(object, origin, direction, length, hint, hit);
#elif KIND == ANY
    if (object.kind == SPHERE) return cast_sphere(object.size[0], origin, direction, length, hit);
    if (object.kind >= MESH) return cast_mesh(object, origin, direction, length, hint, hit);
    return cast_primitive(object, origin, direction, length, hit);
#else
    return cast_primitive(object, origin, direction, length, hit);
#endif
}
