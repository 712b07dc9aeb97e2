// Contact of a rigid mesh with a pressure field of tetrahedra under taxels (Elandt et al. 2019): `dermis_skin::Hydroelastic`.
//
// One warp computes each press, or each step of an environment. All lanes of the warp traverse the hierarchy of the mesh together. Each lane
// then takes one triangle near the field and finds the tetrahedra that it may intersect; the pairs are clipped 32 at a time, one per lane
// (`cut_pairs`, defined by the program). Compile-time definitions: STACK and CORNERS, and those of pad_taxels.cuh.

// Capacities of a warp's lists of nodes, triangles and pairs in shared memory; as in pads.rs.
#define NODE_LIST 512
// With more nodes than this, one node at a time is expanded, so that the list cannot overflow: a descent adds at most three nodes at each
// of 82 levels.
#define NODES_AT_ONCE (NODE_LIST - 32 - 3 * 82)
#define TRIANGLE_LIST 160
#define PAIR_LIST 64

// A convex polygon in a triangle. Its corners are barycentric weights of the triangle. A cut reads one of two buffers and writes the other.
struct Polygon {
    double w[2][CORNERS][3];
    int len, now;
};

// Value at a corner of the polygon of a linear function that has the values v at the triangle's corners.
__device__ __forceinline__ double value_at(const Polygon& p, int corner, const double* v) {
    const double* w = p.w[p.now][corner];
    return w[0] * v[0] + w[1] * v[1] + w[2] * v[2];
}

// Clips the polygon to the half-plane where a linear function with the values a0, a1, a2 at the triangle's corners is not negative
// (Sutherland–Hodgman). Returns false if no area is left.
__device__ __noinline__ bool clip(Polygon& p, double a0, double a1, double a2) {
    double v[3] = {a0, a1, a2};
    double h[CORNERS];
    bool inside = false, outside = false;
    for (int i = 0; i < p.len; i++) {
        h[i] = value_at(p, i, v);
        inside |= h[i] > 0.0;
        outside |= h[i] < 0.0;
    }
    if (!outside) return p.len > 2;
    if (!inside) {
        p.len = 0;
        return false;
    }
    int len = 0, last = p.len - 1, to = 1 - p.now;
    for (int i = 0; i < p.len; i++) {
        double a = h[last], b = h[i];
        if (((a > 0.0 && b < 0.0) || (a < 0.0 && b > 0.0)) && len < CORNERS) {
            double t = a / (a - b);
            for (int k = 0; k < 3; k++) {
                double from = p.w[p.now][last][k];
                p.w[to][len][k] = from + t * (p.w[p.now][i][k] - from);
            }
            len++;
        }
        if (b >= 0.0 && len < CORNERS) {
            for (int k = 0; k < 3; k++) p.w[to][len][k] = p.w[p.now][i][k];
            len++;
        }
        last = i;
    }
    p.len = len;
    p.now = to;
    return len > 2;
}

// A triangle of the mesh with its outward normal, in the field's frame.
struct Triangle {
    Vec3 corners[3];
    Vec3 normal;
};

// True if all corners lie below a plane by more than `flat` (rounding).
__device__ __forceinline__ bool is_under(const Vec3* corners, Vec3 normal, double height, double flat) {
    return dot(normal, corners[0]) - height < -flat && dot(normal, corners[1]) - height < -flat &&
           dot(normal, corners[2]) - height < -flat;
}

// True if a triangle may intersect a tetrahedron and faces its pressure gradient. offset: normal·corner.
__device__ __forceinline__ bool reaches(const PadField& f, const Triangle& triangle, double offset, const Tetrahedron& tet) {
    Vec3 gradient = vec3(tet.gradient);
    double slope = tet.slope;
    if (!(f.min_cosine < -1.0 || slope == 0.0 || dot(triangle.normal, gradient) > f.min_cosine * slope)) return false;
    bool over = true, under = true;
#pragma unroll 1
    for (int k = 0; k < 4; k++) {
        double height = dot(triangle.normal, vec3(tet.corners + 3 * k)) - offset;
        over = over && height > f.flat;
        under = under && height < -f.flat;
        if (is_under(triangle.corners, vec3(tet.inward + 3 * k), tet.height[k], f.flat)) return false;
    }
    return !(over || under);
}

// Clips a triangle to a tetrahedron. If two tetrahedra share the triangle's plane, the one in front of the triangle takes it.
__device__ __forceinline__ bool clip_to_tetrahedron(const PadField& f, const Triangle& triangle, const Tetrahedron& tet, Polygon& polygon) {
    polygon.len = 3;
    polygon.now = 0;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) polygon.w[0][i][k] = i == k ? 1.0 : 0.0;
#pragma unroll 1
    for (int k = 0; k < 4; k++) {
        Vec3 inward = vec3(tet.inward + 3 * k);
        double face = tet.height[k];
        double a = dot(inward, triangle.corners[0]) - face, b = dot(inward, triangle.corners[1]) - face,
               c = dot(inward, triangle.corners[2]) - face;
        if (fabs(a) <= f.flat && fabs(b) <= f.flat && fabs(c) <= f.flat) {
            if (dot(inward, triangle.normal) < 0.0) return false;
        } else if (!(a >= 0.0 && b >= 0.0 && c >= 0.0) && !clip(polygon, a, b, c)) {
            return false;
        }
    }
    return true;
}

// Clips a polygon to the extents of one piece of the pressure law. extent: values at the triangle's corners.
__device__ __forceinline__ bool clip_to_piece(const PadField& f, const LawPiece& piece, const double* extent, Polygon& part) {
    double from = piece.from, until = piece.to;
    if (!(from <= 0.0 && !f.is_cut) && !clip(part, extent[0] - from, extent[1] - from, extent[2] - from)) return false;
    if (until < 1e300) {
        double ends[3] = {until - extent[0], until - extent[1], until - extent[2]};
        bool any = false;
        for (int i = 0; i < part.len; i++) any = any || value_at(part, i, ends) > 0.0;
        if (!any || !clip(part, ends[0], ends[1], ends[2])) return false;
    }
    return true;
}

// Pressures (Pa) p = at + slope (e − from) of a piece of the law at the corners of a triangle with extents e.
__device__ __forceinline__ void pressures_of(const LawPiece& piece, const double* extent, double* pressures) {
    for (int c = 0; c < 3; c++) pressures[c] = piece.at_pa + piece.slope_pa * (extent[c] - piece.from);
}

// Position (m) of a corner of a polygon.
__device__ __forceinline__ Vec3 point_at(const Polygon& part, int corner, const Triangle& triangle) {
    const double* w = part.w[part.now][corner];
    return triangle.corners[0] * w[0] + triangle.corners[1] * w[1] + triangle.corners[2] * w[2];
}

// True if a pressure (Pa) corresponds to a saturated extent.
__device__ __forceinline__ bool is_saturated(const PadField& f, double pressure) {
    u32 law = f.piece_count - 1;
    while (law > 0 && !(f.pieces[law].at_pa <= pressure)) law--;
    const LawPiece& piece = f.pieces[law];
    return piece.from + (pressure - piece.at_pa) / piece.slope_pa >= f.saturated_extent;
}

// One press or step: the pose of its object in the field's frame, and the warp's lists in shared memory.
struct Press {
    Mat3 rotation;
    Vec3 position;
    u32 lane;
    // (rows, cols, 3), in units of 1/scale N.
    u64* taxels;
    // Nodes of the mesh to visit, positions of triangles to test, and pairs of a triangle and a tetrahedron to clip.
    u32 *nodes, *triangles, *pairs;
    u32 node_count, triangle_count, pair_count;
#if IN_TIME
    Step step;
#endif
};

// Clips the last `count` pairs, one per lane, and adds their loads. In time it is long, and compiled once.
#if IN_TIME
#define CUT_PAIRS __noinline__
#else
#define CUT_PAIRS __forceinline__
#endif
__device__ CUT_PAIRS void cut_pairs(const PadField& f, const ObjectView& object, Press& press, u32 count, Sums& sums);

// Extents at the corners of a triangle.
__device__ __forceinline__ void extents_of(const Tetrahedron& tet, const Triangle& triangle, double* extent) {
    for (int c = 0; c < 3; c++) extent[c] = tet.extent + dot(vec3(tet.gradient), triangle.corners[c] - vec3(tet.corners));
}

// Mask of the lanes before this one.
__device__ __forceinline__ u32 lanes_before(u32 lane) { return (1u << lane) - 1u; }

__device__ __forceinline__ Triangle triangle_at(const ObjectView& object, const Press& press, u32 position) {
    const double* c = object.corners + 9 * (u64)position;
    Triangle t;
    for (int k = 0; k < 3; k++) t.corners[k] = press.rotation * vec3(c + 3 * k) + press.position;
    t.normal = press.rotation * vec3(object.normals + 3 * (u64)object.order[position]);
    return t;
}

// The field's box in f32, relative to the centre of the mesh's tree, and the rotation by rows; used to test the boxes of nodes.
struct FieldBox {
    float below[3], above[3];
    float rotation[3][3];
};

__device__ __forceinline__ FieldBox field_box(const PadField& f, const ObjectView& object, const Press& press) {
    const Mat3& r = press.rotation;
    Vec3 low = vec3(object.tree_low), high = vec3(object.tree_high);
    Vec3 middle = r * vec3((low.x + high.x) * 0.5, (low.y + high.y) * 0.5, (low.z + high.z) * 0.5) + press.position;
    Vec3 size = high - low, span = vec3(f.high) - vec3(f.low);
    float slack = (float)(1e-5 * (sqrt(dot(size, size)) + sqrt(dot(span, span))));
    FieldBox box = {{}, {}, {{(float)r.x.x, (float)r.y.x, (float)r.z.x}, {(float)r.x.y, (float)r.y.y, (float)r.z.y},
                             {(float)r.x.z, (float)r.y.z, (float)r.z.z}}};
    for (int k = 0; k < 3; k++) {
        box.below[k] = (float)(f.low[k] - component(middle, k)) - slack;
        box.above[k] = (float)(f.high[k] - component(middle, k)) + slack;
    }
    return box;
}

// True if the rotated box of a node's child overlaps the field's box.
__device__ __forceinline__ bool meets_field(const FieldBox& box, const Node& node, u32 side) {
    float c[3], h[3];
    for (int k = 0; k < 3; k++) {
        float low = box_min(node, k, side), high = box_max(node, k, side);
        c[k] = 0.5f * (low + high);
        h[k] = 0.5f * (high - low);
    }
    bool meets = true;
    for (int k = 0; k < 3; k++) {
        const float* r = box.rotation[k];
        float at = r[0] * c[0] + r[1] * c[1] + r[2] * c[2];
        float reach = fabsf(r[0]) * h[0] + fabsf(r[1]) * h[1] + fabsf(r[2]) * h[2];
        if (at - reach > box.above[k] || at + reach < box.below[k]) meets = false;
    }
    return meets;
}

// Visits up to eight nodes of the mesh, one child per lane. Inner children that overlap the field are added to the list of nodes, the
// triangles of leaves to the list of triangles.
__device__ __forceinline__ void visit_nodes(const ObjectView& object, const FieldBox& box, Press& press) {
    u32 take = press.node_count > NODES_AT_ONCE ? 1u : min(8u, press.node_count);
    u32 which = press.lane >> 2, side = press.lane & 3u;
    u32 child = NONE, items = 0;
    if (which < take) {
        const Node& node = object.nodes[press.nodes[press.node_count - 1 - which]];
        child = node.child[side];
        items = node.count[side];
        if (child != NONE && !meets_field(box, node, side)) child = NONE;
    }
    __syncwarp();
    press.node_count -= take;
    bool inner = child != NONE && items == 0;
    u32 mask = __ballot_sync(ALL_LANES, inner), before = lanes_before(press.lane);
    if (inner) press.nodes[press.node_count + __popc(mask & before)] = child;
    press.node_count += __popc(mask);
    u32 leaves = child != NONE ? items : 0;
    for (u32 k = 0; k < 4; k++) {
        mask = __ballot_sync(ALL_LANES, leaves > k);
        if (leaves > k) press.triangles[press.triangle_count + __popc(mask & before)] = child + k;
        press.triangle_count += __popc(mask);
    }
    __syncwarp();
}

// A lane's traversal of the hierarchy of tetrahedra whose boxes overlap the box of its triangle. The stack of nodes is a separate array:
// its dynamic index would otherwise keep the whole struct out of registers.
struct TetWalk {
    float from[3], until[3];
    int top;
    u32 node, side, item, items, first;
    bool busy;
};

// Starts a traversal. It ends at once if the triangle lies outside the field.
__device__ __forceinline__ void start_walk(const PadField& f, const Triangle& triangle, bool busy, u32* stack, TetWalk& walk) {
    for (int k = 0; k < 3; k++) {
        double a = component(triangle.corners[0], k), b = component(triangle.corners[1], k), c = component(triangle.corners[2], k);
        double low = fmin(fmin(a, b), c) - f.flat, high = fmax(fmax(a, b), c) + f.flat;
        busy = busy && low - f.flat <= f.high[k] && high + f.flat >= f.low[k];
        // The padding of the nodes' boxes exceeds this rounding.
        walk.from[k] = (float)fmax(low - f.center[k], 2.0 * (f.low[k] - f.high[k]));
        walk.until[k] = (float)fmin(high - f.center[k], 2.0 * (f.high[k] - f.low[k]));
    }
    walk.busy = busy;
    walk.top = busy ? 1 : 0;
    stack[0] = 0;
    walk.node = walk.item = walk.items = walk.first = 0;
    walk.side = 4;
}

// The next tetrahedron whose box overlaps; NONE at the end, when the traversal is no longer busy.
__device__ __forceinline__ u32 next_tetrahedron(const PadField& f, u32* stack, TetWalk& walk) {
    while (walk.busy) {
        if (walk.item < walk.items) return walk.first + walk.item++;
        if (walk.side == 4) {
            if (walk.top == 0) {
                walk.busy = false;
                break;
            }
            walk.node = stack[--walk.top];
            walk.side = 0;
        }
        const Node& node = f.nodes[walk.node];
        u32 side = walk.side++;
        u32 child = node.child[side];
        if (child == NONE) continue;
        bool overlaps = true;
        for (int k = 0; k < 3; k++) overlaps = overlaps && box_min(node, k, side) <= walk.until[k] && box_max(node, k, side) >= walk.from[k];
        if (!overlaps) continue;
        if (node.count[side] == 0) {
            stack[walk.top++] = child;
        } else {
            walk.first = child;
            walk.item = 0;
            walk.items = node.count[side];
        }
    }
    return NONE;
}

// Takes up to 32 triangles, one per lane, and lists their pairs with tetrahedra; clips pairs as soon as there is one per lane.
__device__ __forceinline__ void pair_triangles(const PadField& f, const ObjectView& object, Press& press, Sums& sums) {
    u32 batch = min(press.triangle_count, 32u);
    press.triangle_count -= batch;
    bool busy = press.lane < batch;
    u32 position = busy ? press.triangles[press.triangle_count + press.lane] : 0;
    Triangle triangle = triangle_at(object, press, position);
    double offset = dot(triangle.normal, triangle.corners[0]);
    u32 stack[STACK];
    TetWalk walk;
    start_walk(f, triangle, busy, stack, walk);
    while (__any_sync(ALL_LANES, walk.busy)) {
        u32 tet = next_tetrahedron(f, stack, walk);
        bool meets = tet != NONE && reaches(f, triangle, offset, f.tets[tet]);
        u32 mask = __ballot_sync(ALL_LANES, meets);
        if (meets) {
            u32 to = press.pair_count + __popc(mask & lanes_before(press.lane));
            press.pairs[2 * to] = position;
            press.pairs[2 * to + 1] = tet;
        }
        press.pair_count += __popc(mask);
        __syncwarp();
        if (press.pair_count >= 32) cut_pairs(f, object, press, 32, sums);
    }
}

// Sets up the lists of a warp in its shared memory, which has 3 × taxels 64-bit integers before them.
__device__ __forceinline__ Press press_in(u64* memory, u32 taxels, u32 lane) {
    Press press;
    press.lane = lane;
    press.taxels = memory;
    press.nodes = (u32*)(memory + 3 * taxels);
    press.triangles = press.nodes + NODE_LIST;
    press.pairs = press.triangles + TRIANGLE_LIST;
    press.node_count = press.triangle_count = press.pair_count = 0;
    for (u32 k = lane; k < 3 * taxels; k += 32) memory[k] = 0;
    __syncwarp();
    return press;
}
// 64-bit words of shared memory of a warp.
__device__ __forceinline__ u32 shared_words(u32 taxels) { return 3 * taxels + (NODE_LIST + TRIANGLE_LIST) / 2 + PAIR_LIST; }

// Adds the contact of an object at the pose of the press.
__device__ __forceinline__ void add_object(const PadField& f, const ObjectView& object, Press& press, Sums& sums) {
    press.node_count = object.triangles ? 1 : 0;
    if (press.lane == 0) press.nodes[0] = 0;
    FieldBox box = field_box(f, object, press);
    __syncwarp();
    while (press.node_count > 0 || press.triangle_count > 0) {
        if (press.node_count > 0 && press.triangle_count < 32) {
            visit_nodes(object, box, press);
        } else {
            pair_triangles(f, object, press, sums);
        }
    }
    cut_pairs(f, object, press, press.pair_count, sums);
}
