// Signed distance from a point to an object: the CPU's Surface::nearest, in f64. One thread per point.

__device__ inline double largest(Vec3 a) { return fmax(a.x, fmax(a.y, a.z)); }
__device__ inline double sign(double a) { return a < 0.0 ? -1.0 : 1.0; }
__device__ inline Vec3 signs(Vec3 a) { return {sign(a.x), sign(a.y), sign(a.z)}; }
// a / |a|, or `other` if a is zero.
__device__ inline Vec3 unit_or(Vec3 a, Vec3 other) {
    double l = length(a);
    return l > 0.0 ? a * (1.0 / l) : other;
}

// Signed distance (m, negative inside) and outward normal.
struct Gap {
    double distance;
    Vec3 normal;
};

// R p and R p + t; a pose is nine entries of R by rows, then three of t.
__device__ inline Vec3 rotated(const double* m, Vec3 p) {
    return {m[0] * p.x + m[1] * p.y + m[2] * p.z, m[3] * p.x + m[4] * p.y + m[5] * p.z,
            m[6] * p.x + m[7] * p.y + m[8] * p.z};
}
__device__ inline Vec3 transformed(const double* m, Vec3 p) { return rotated(m, p) + Vec3{m[9], m[10], m[11]}; }

// Gap to a sphere with `arm` = point - centre.
__device__ inline Gap sphere_gap(Vec3 arm, double radius) { return {length(arm) - radius, unit_or(arm, {1.0, 0.0, 0.0})}; }

// Gap to the octant x, y, z <= 0, for a point with coordinates o.
__device__ inline Gap corner_gap(Vec3 o) {
    Vec3 out = {fmax(o.x, 0.0), fmax(o.y, 0.0), fmax(o.z, 0.0)};
    if (out.x != 0.0 || out.y != 0.0 || out.z != 0.0) {
        double d = length(out);
        return {d, out * (1.0 / d)};
    }
    if (o.x >= o.y && o.x >= o.z) return {o.x, {1.0, 0.0, 0.0}};
    if (o.y >= o.z) return {o.y, {0.0, 1.0, 0.0}};
    return {o.z, {0.0, 0.0, 1.0}};
}

// Gap to an ellipsoid with semi-axes a: the foot x satisfies x_i = a_i^2 y_i / (a_i^2 - a_min^2 + s) on the surface, in the octant of
// |p|; Newton's method for s, which converges from below without overshooting.
__device__ Gap ellipsoid_gap(Vec3 a, Vec3 p) {
    Vec3 squared = times(a, a);
    double min_axis = fmin(a.x, fmin(a.y, a.z));
    Vec3 more = squared - Vec3{1.0, 1.0, 1.0} * (min_axis * min_axis);
    double tiny = 1e-12 * min_axis;
    Vec3 y = absolute(p);
    y = {fmax(y.x, tiny), fmax(y.y, tiny), fmax(y.z, tiny)};
    double s = largest(times(a, y) - more);
    for (int i = 0; i < 200; i++) {
        Vec3 denominator = more + Vec3{s, s, s};
        Vec3 part = over(times(a, y), denominator);
        double miss = dot(part, part) - 1.0;
        Vec3 decrease = over(times(part, part), denominator);
        double slope = -2.0 * (decrease.x + decrease.y + decrease.z);
        double next = s - miss / slope;
        if (next <= s || miss <= 0.0) break;
        s = next;
    }
    Vec3 foot = over(times(squared, y), more + Vec3{s, s, s});
    Vec3 normal = times(unit_or(over(foot, squared), {0.0, 0.0, 1.0}), signs(p));
    Vec3 in = over(y, a);
    double d = length(y - foot);
    return {dot(in, in) < 1.0 ? -d : d, normal};
}

// Closest point of a triangle (nine numbers) and its feature: 0 the face, 1 to 3 its edges, 4 to 6 its corners (Ericson 2005, 5.1.5).
__device__ Vec3 closest_on_triangle(Vec3 p, const double* t, int& feature) {
    Vec3 a = {t[0], t[1], t[2]}, b = {t[3], t[4], t[5]}, c = {t[6], t[7], t[8]};
    Vec3 ab = b - a, ac = c - a, ap = p - a;
    double d1 = dot(ab, ap), d2 = dot(ac, ap);
    if (d1 <= 0.0 && d2 <= 0.0) { feature = 4; return a; }
    Vec3 bp = p - b;
    double d3 = dot(ab, bp), d4 = dot(ac, bp);
    if (d3 >= 0.0 && d4 <= d3) { feature = 5; return b; }
    double vc = d1 * d4 - d3 * d2;
    if (vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0) { feature = 1; return a + ab * (d1 / (d1 - d3)); }
    Vec3 cp = p - c;
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

#define MAX_STACK 128

// Gap to a mesh: best-first traversal of its bounding-volume hierarchy with boxes in f32 and triangles in f64. Of two triangles at the same
// distance, takes the one with the smaller index, as on the CPU. `hint` is a triangle (in the order of the leaves) that is probably near, or
// -1, and becomes the nearest; the result does not depend on it.
__device__ __noinline__ Gap mesh_gap(const ObjectView& object, Vec3 p, int& hint) {
    Vec3 local = p - (vec3(object.tree_low) + vec3(object.tree_high)) * 0.5;
    float q[3] = {(float)local.x, (float)local.y, (float)local.z};
    float stack_far[MAX_STACK];
    u32 stack_node[MAX_STACK];
    int top = 1;
    stack_far[0] = 0.0f;
    stack_node[0] = 0;
    double best = 1e300;
    float limit = 3e38f;
    Vec3 best_point = {0.0, 0.0, 0.0};
    int best_index = 0, best_feature = 0;
    u32 best_number = NONE;
    if (hint >= 0) {
        best_point = closest_on_triangle(p, object.corners + 9 * hint, best_feature);
        best = dot(best_point - p, best_point - p);
        best_index = hint;
        best_number = object.order[hint];
        limit = (float)best * (1.0f + 1e-6f);
    }
    while (top > 0) {
        top--;
        if (stack_far[top] > limit) continue;
        const Node& node = object.nodes[stack_node[top]];
        float far[4];
        int lane[4];
        int count = 0;
        for (int l = 0; l < 4; l++) {
            if (node.child[l] == NONE) continue;
            float d = 0.0f;
            for (int axis = 0; axis < 3; axis++) {
                float o = fmaxf(fmaxf(box_min(node, axis, l) - q[axis], q[axis] - box_max(node, axis, l)), 0.0f);
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
            u32 items = node.count[lane[i]];
            if (items == 0 || far[i] > limit) continue;
            for (u32 k = 0; k < items; k++) {
                int index = (int)(node.child[lane[i]] + k);
                int feature;
                Vec3 point = closest_on_triangle(p, object.corners + 9 * index, feature);
                Vec3 arm = point - p;
                double squared = dot(arm, arm);
                if (squared < best || (squared == best && object.order[index] < best_number)) {
                    best = squared;
                    best_number = object.order[index];
                    best_point = point;
                    best_index = index;
                    best_feature = feature;
                }
            }
            limit = (float)best * (1.0f + 1e-6f);
        }
        for (int i = count - 1; i >= 0; i--) {
            if (node.count[lane[i]] == 0 && far[i] <= limit) {
                stack_far[top] = far[i];
                stack_node[top] = node.child[lane[i]];
                top++;
            }
        }
    }
    hint = best_index;
    Vec3 normal = vec3(object.feature_normals + 21 * best_index + 3 * best_feature);
    Vec3 arm = p - best_point;
    double s = dot(arm, normal) < 0.0 ? -1.0 : 1.0, d = sqrt(best);
    return {s * d, d > 1e-9 ? arm * (s / d) : normal};
}

// Gap to the nearest ball, by a balanced k-d tree: the middle element of every range splits it along the axis of its depth.
__device__ __noinline__ Gap balls_gap(const ObjectView& object, Vec3 p) {
    struct Range {
        double away;
        int first, count, depth;
    } stack[40];
    int top = 1;
    stack[0] = {0.0, 0, object.balls, 0};
    double best = 1e300;
    Vec3 center = {0.0, 0.0, 0.0};
    double query[3] = {p.x, p.y, p.z};
    while (top > 0) {
        Range range = stack[--top];
        if (range.count == 0 || !(range.away < best)) continue;
        int middle = range.count / 2;
        const double* here = object.centers + 3 * (range.first + middle);
        Vec3 at = {here[0], here[1], here[2]};
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
    Vec3 arm = p - center;
    return {length(arm) - object.size[0], unit_or(arm, {0.0, 0.0, 1.0})};
}

// Gap to an object in its own frame; `hint` as for mesh_gap.
__device__ Gap object_gap(const ObjectView& object, Vec3 p, int& hint) {
    double radius = object.size[0], half = object.size[1];
    switch (object.kind) {
        case SPHERE:
            return sphere_gap(p, radius);
        case CAPSULE:
            return sphere_gap({p.x, p.y, p.z - fmin(fmax(p.z, -half), half)}, radius);
        case CUBOID: {
            Gap gap = corner_gap(absolute(p) - Vec3{object.size[0], object.size[1], object.size[2]});
            return {gap.distance, times(gap.normal, signs(p))};
        }
        case CYLINDER: {
            Vec3 flat = {p.x, p.y, 0.0};
            Vec3 out = unit_or(flat, {1.0, 0.0, 0.0});
            Gap gap = corner_gap({length(flat) - radius, -1e300, fabs(p.z) - half});
            return {gap.distance, out * gap.normal.x + Vec3{0.0, 0.0, gap.normal.z * sign(p.z)}};
        }
        case ELLIPSOID:
            return ellipsoid_gap({object.size[0], object.size[1], object.size[2]}, p);
        case MESH:
            return mesh_gap(object, p, hint);
        default:
            return balls_gap(object, p);
    }
}

// Gap to an object at a pose; returns false if the point is farther than `reach` (m) from its bounding box. `hint` as
// for mesh_gap.
__device__ inline bool posed_gap(const ObjectView& object, const IndenterPose& pose, Vec3 at, double reach, Gap& gap, int& hint) {
    Vec3 low = vec3(pose.low) - at, high = at - vec3(pose.high);
    if (fmax(largest(low), largest(high)) > reach) return false;
    Gap found = object_gap(object, transformed(pose.object_from_sensor, at), hint);
    gap = {found.distance, rotated(pose.sensor_from_object, found.normal)};
    return true;
}
