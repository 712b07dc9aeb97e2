// How far a point is from a thing that presses, and which way: what geometry's Surface::nearest says, on the GPU.

typedef unsigned int u32;

struct V {
    double x, y, z;
};
__device__ inline V operator+(V a, V b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
__device__ inline V operator-(V a, V b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
__device__ inline V operator*(V a, double s) { return {a.x * s, a.y * s, a.z * s}; }
__device__ inline V times(V a, V b) { return {a.x * b.x, a.y * b.y, a.z * b.z}; }
__device__ inline V over(V a, V b) { return {a.x / b.x, a.y / b.y, a.z / b.z}; }
__device__ inline V absolute(V a) { return {fabs(a.x), fabs(a.y), fabs(a.z)}; }
__device__ inline double dot(V a, V b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ inline double length(V a) { return sqrt(dot(a, a)); }
__device__ inline double largest(V a) { return fmax(a.x, fmax(a.y, a.z)); }
__device__ inline double sign(double a) { return a < 0.0 ? -1.0 : 1.0; }
__device__ inline V signs(V a) { return {sign(a.x), sign(a.y), sign(a.z)}; }
__device__ inline V unit_or(V a, V other) {
    double l = length(a);
    return l > 0.0 ? a * (1.0 / l) : other;
}

struct Gap {
    double distance;
    V normal;
};

// Four boxes, their children, and how many triangles those are; a child of 0xffffffff is none.
struct Branch {
    float low[3][4];
    float high[3][4];
    u32 child[4];
    u32 count[4];
};

// Corners, outward directions of the face, its edges and its corners, and the number of a triangle.
struct Triangle {
    double corner[9];
    double normal[21];
    double number;
};

enum Kind { SPHERE, ELLIPSOID, CUBOID, CYLINDER, CAPSULE, MESH, BALLS };

struct Shape {
    double size[3];
    double middle[3];
    const Branch* branches;
    const Triangle* triangles;
    const double* centers;
    int kind;
    int count;
};

// A thing at a place: into the sensor's frame and back, by rows and a shift, and a box around it there.
struct Place {
    double out[12];
    double in[12];
    double low[3];
    double high[3];
};

__device__ inline V turned(const double* m, V p) {
    return {m[0] * p.x + m[1] * p.y + m[2] * p.z, m[3] * p.x + m[4] * p.y + m[5] * p.z,
            m[6] * p.x + m[7] * p.y + m[8] * p.z};
}
__device__ inline V moved(const double* m, V p) { return turned(m, p) + V{m[9], m[10], m[11]}; }

__device__ inline Gap around(V arm, double radius) { return {length(arm) - radius, unit_or(arm, {1.0, 0.0, 0.0})}; }

// Of a quadrant x, y, z <= 0 that is seen from over its faces.
__device__ inline Gap corner_gap(V o) {
    V out = {fmax(o.x, 0.0), fmax(o.y, 0.0), fmax(o.z, 0.0)};
    if (out.x != 0.0 || out.y != 0.0 || out.z != 0.0) {
        double d = length(out);
        return {d, out * (1.0 / d)};
    }
    if (o.x >= o.y && o.x >= o.z) return {o.x, {1.0, 0.0, 0.0}};
    if (o.y >= o.z) return {o.y, {0.0, 1.0, 0.0}};
    return {o.z, {0.0, 0.0, 1.0}};
}

__device__ Gap ellipsoid_gap(V a, V p) {
    V squared = times(a, a);
    double least = fmin(a.x, fmin(a.y, a.z));
    V more = squared - V{1.0, 1.0, 1.0} * (least * least);
    double hair = 1e-12 * least;
    V y = absolute(p);
    y = {fmax(y.x, hair), fmax(y.y, hair), fmax(y.z, hair)};
    double s = largest(times(a, y) - more);
    for (int i = 0; i < 200; i++) {
        V below = more + V{s, s, s};
        V part = over(times(a, y), below);
        double miss = dot(part, part) - 1.0;
        V falls = over(times(part, part), below);
        double slope = -2.0 * (falls.x + falls.y + falls.z);
        double next = s - miss / slope;
        if (next <= s || miss <= 0.0) break;
        s = next;
    }
    V foot = over(times(squared, y), more + V{s, s, s});
    V normal = times(unit_or(over(foot, squared), {0.0, 0.0, 1.0}), signs(p));
    V in = over(y, a);
    double d = length(y - foot);
    return {dot(in, in) < 1.0 ? -d : d, normal};
}

// The nearest point of a triangle, and what it is on: 0 the face, 1 to 3 its edges, 4 to 6 its corners (Ericson 2005, 5.1.5).
__device__ V on_triangle(V p, const double* t, int& feature) {
    V a = {t[0], t[1], t[2]}, b = {t[3], t[4], t[5]}, c = {t[6], t[7], t[8]};
    V ab = b - a, ac = c - a, ap = p - a;
    double d1 = dot(ab, ap), d2 = dot(ac, ap);
    if (d1 <= 0.0 && d2 <= 0.0) { feature = 4; return a; }
    V bp = p - b;
    double d3 = dot(ab, bp), d4 = dot(ac, bp);
    if (d3 >= 0.0 && d4 <= d3) { feature = 5; return b; }
    double vc = d1 * d4 - d3 * d2;
    if (vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0) { feature = 1; return a + ab * (d1 / (d1 - d3)); }
    V cp = p - c;
    double d5 = dot(ab, cp), d6 = dot(ac, cp);
    if (d6 >= 0.0 && d5 <= d6) { feature = 6; return c; }
    double vb = d5 * d2 - d1 * d6;
    if (vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0) { feature = 3; return a + ac * (d2 / (d2 - d6)); }
    double va = d3 * d6 - d5 * d4;
    if (va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0) {
        feature = 2;
        return b + (c - b) * ((d4 - d3) / ((d4 - d3) + (d5 - d6)));
    }
    double sum = va + vb + vc;
    feature = 0;
    return a + ab * (vb / sum) + ac * (vc / sum);
}

#define DEEP 128

__device__ __noinline__ Gap mesh_gap(const Shape& shape, V p) {
    V local = p - V{shape.middle[0], shape.middle[1], shape.middle[2]};
    float q[3] = {(float)local.x, (float)local.y, (float)local.z};
    float stack_far[DEEP];
    u32 stack_node[DEEP];
    int top = 1;
    stack_far[0] = 0.0f;
    stack_node[0] = 0;
    double best = 1e300, best_number = 1e300;
    float limit = 3e38f;
    V best_point = {0.0, 0.0, 0.0};
    int best_triangle = 0, best_feature = 0;
    while (top > 0) {
        top--;
        if (stack_far[top] > limit) continue;
        const Branch& branch = shape.branches[stack_node[top]];
        float far[4];
        int lane[4];
        int count = 0;
        for (int l = 0; l < 4; l++) {
            if (branch.child[l] == 0xffffffffu) continue;
            float d = 0.0f;
            for (int axis = 0; axis < 3; axis++) {
                float o = fmaxf(fmaxf(branch.low[axis][l] - q[axis], q[axis] - branch.high[axis][l]), 0.0f);
                d += o * o;
            }
            d *= 1.0f - 1e-5f;
            if (d > limit) continue;
            int at = count++;
            while (at > 0 && far[at - 1] > d) {
                far[at] = far[at - 1];
                lane[at] = lane[at - 1];
                at--;
            }
            far[at] = d;
            lane[at] = l;
        }
        for (int i = 0; i < count; i++) {
            u32 items = branch.count[lane[i]];
            if (items == 0 || far[i] > limit) continue;
            for (u32 k = 0; k < items; k++) {
                int index = (int)(branch.child[lane[i]] + k);
                const Triangle& triangle = shape.triangles[index];
                int feature;
                V point = on_triangle(p, triangle.corner, feature);
                V arm = point - p;
                double squared = dot(arm, arm);
                if (squared < best || (squared == best && triangle.number < best_number)) {
                    best = squared;
                    best_number = triangle.number;
                    best_point = point;
                    best_triangle = index;
                    best_feature = feature;
                }
            }
            limit = (float)best * (1.0f + 1e-6f);
        }
        for (int i = count - 1; i >= 0; i--) {
            if (branch.count[lane[i]] == 0 && far[i] <= limit) {
                stack_far[top] = far[i];
                stack_node[top] = branch.child[lane[i]];
                top++;
            }
        }
    }
    const double* n = shape.triangles[best_triangle].normal + 3 * best_feature;
    V normal = {n[0], n[1], n[2]};
    V arm = p - best_point;
    double s = dot(arm, normal) < 0.0 ? -1.0 : 1.0, d = sqrt(best);
    return {s * d, d > 1e-9 ? arm * (s / d) : normal};
}

// The nearest ball, in a balanced tree: the middle of every range splits it along the axis of its depth.
__device__ __noinline__ Gap balls_gap(const Shape& shape, V p) {
    struct Range {
        double away;
        int first, count, depth;
    } stack[40];
    int top = 1;
    stack[0] = {0.0, 0, shape.count, 0};
    double best = 1e300;
    V center = {0.0, 0.0, 0.0};
    double query[3] = {p.x, p.y, p.z};
    while (top > 0) {
        Range range = stack[--top];
        if (range.count == 0 || !(range.away < best)) continue;
        int middle = range.count / 2;
        const double* here = shape.centers + 3 * (range.first + middle);
        V at = {here[0], here[1], here[2]};
        double squared = dot(p - at, p - at);
        if (squared < best) {
            best = squared;
            center = at;
        }
        int axis = range.depth % 3;
        double beyond = query[axis] - here[axis];
        Range low = {0.0, range.first, middle, range.depth + 1};
        Range high = {0.0, range.first + middle + 1, range.count - middle - 1, range.depth + 1};
        Range first = beyond < 0.0 ? low : high, second = beyond < 0.0 ? high : low;
        second.away = beyond * beyond;
        stack[top++] = second;
        stack[top++] = first;
    }
    V arm = p - center;
    return {length(arm) - shape.size[0], unit_or(arm, {0.0, 0.0, 1.0})};
}

__device__ Gap shape_gap(const Shape& shape, V p) {
    double radius = shape.size[0], half = shape.size[1];
    switch (shape.kind) {
        case SPHERE:
            return around(p, radius);
        case CAPSULE:
            return around({p.x, p.y, p.z - fmin(fmax(p.z, -half), half)}, radius);
        case CUBOID: {
            Gap gap = corner_gap(absolute(p) - V{shape.size[0], shape.size[1], shape.size[2]});
            return {gap.distance, times(gap.normal, signs(p))};
        }
        case CYLINDER: {
            V flat = {p.x, p.y, 0.0};
            V out = unit_or(flat, {1.0, 0.0, 0.0});
            Gap gap = corner_gap({length(flat) - radius, -1e300, fabs(p.z) - half});
            return {gap.distance, out * gap.normal.x + V{0.0, 0.0, gap.normal.z * sign(p.z)}};
        }
        case ELLIPSOID:
            return ellipsoid_gap({shape.size[0], shape.size[1], shape.size[2]}, p);
        case MESH:
            return mesh_gap(shape, p);
        default:
            return balls_gap(shape, p);
    }
}

// None where the point is farther than the reach from the box around the thing.
__device__ inline bool placed_gap(const Shape& shape, const Place& place, V at, double reach, Gap& gap) {
    V low = V{place.low[0], place.low[1], place.low[2]} - at, high = at - V{place.high[0], place.high[1], place.high[2]};
    if (fmax(largest(low), largest(high)) > reach) return false;
    Gap found = shape_gap(shape, moved(place.in, at));
    gap = {found.distance, turned(place.out, found.normal)};
    return true;
}
