// A rigid mesh in a pressure field of tetrahedra over a grid of taxels, a warp for each press.
//
// The warp walks the hierarchy of the mesh together; what may reach the field is cut by the tetrahedra a triangle a lane. Loads of cells
// are summed as whole numbers of a fixed small part of a newton, so that the order in which lanes add does not matter.

struct Field {
    double low[3], high[3];
    double center[3];
    // Rounding is smaller than this (m), and than this area (m²).
    double flat, least_area;
    double least_cosine;
    double deepest;
    double pitch, height;
    // Whole numbers in a newton.
    double scale;
    const Node* nodes;
    // Of each tetrahedron: corners, extent at the first, gradient, its length, inward normals of the faces, their heights.
    const double* tets;
    // From, to, pressure, slope.
    const double* stretches;
    u32 stretch_count;
    u32 rows, cols;
    int is_cut;
};

#define TET 33
#define ALL 0xffffffffu
#define LIST 512
#define DEEP (LIST - 32 - 3 * 82)
#define WAITING 160
#define PAIRS 64
// Corners of a polygon: three, and one for each cut by a face (4) or an end of a stretch (2).
#define CORNERS 10
// Corners of a part of it in a cell: borders and height add at most 6.
#define PARTS 16

// A convex polygon whose corners are weights of three points.
struct Polygon {
    double w[2][CORNERS][3];
    int len, now;
};

__device__ __forceinline__ double value_at(const Polygon& p, int corner, const double* v) {
    const double* w = p.w[p.now][corner];
    return w[0] * v[0] + w[1] * v[1] + w[2] * v[2];
}

__device__ __noinline__ bool keep(Polygon& p, double a0, double a1, double a2) {
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

// A part of a polygon: places and pressures.
struct Part {
    double x[PARTS], y[PARTS], z[PARTS], p[PARTS];
    int len;
};

// ∫ p dA.
__device__ double load_of(const Part& q) {
    double sum = 0.0;
    for (int i = 2; i < q.len; i++) {
        V3 a = v3(q.x[i - 1] - q.x[0], q.y[i - 1] - q.y[0], q.z[i - 1] - q.z[0]);
        V3 b = v3(q.x[i] - q.x[0], q.y[i] - q.y[0], q.z[i] - q.z[0]);
        V3 c = cross(a, b);
        double area = 0.5 * sqrt(dot(c, c));
        sum += (q.p[0] + q.p[i - 1] + q.p[i]) * (area / 3.0);
    }
    return sum;
}

// What a cut measures: columns, rows or heights.
#define COLUMN 0
#define ROW 1
#define HEIGHT 2
__device__ __forceinline__ double along(const Field& f, int what, double x, double y, double z) {
    if (what == COLUMN) return x / f.pitch + 0.5 * (double)f.cols;
    if (what == ROW) return 0.5 * (double)f.rows - y / f.pitch;
    return z;
}

__device__ __forceinline__ void push(Part& to, double x, double y, double z, double p) {
    if (to.len < PARTS) {
        to.x[to.len] = x;
        to.y[to.len] = y;
        to.z[to.len] = z;
        to.p[to.len] = p;
        to.len++;
    }
}

// Where the measure is below a number, and where it is not. A part on which it is that number belongs to the second.
__device__ __noinline__ void split(const Field& f, int what, double at, const Part& q, Part& below, Part& above) {
    double s[PARTS];
    bool none_below = true, none_above = true;
    for (int i = 0; i < q.len; i++) {
        s[i] = along(f, what, q.x[i], q.y[i], q.z[i]) - at;
        none_below = none_below && s[i] >= 0.0;
        none_above = none_above && s[i] <= 0.0;
    }
    below.len = above.len = 0;
    if (none_below || none_above) {
        Part& to = none_below ? above : below;
        for (int i = 0; i < q.len; i++) push(to, q.x[i], q.y[i], q.z[i], q.p[i]);
        return;
    }
    for (int i = 0; i < q.len; i++) {
        int next = i + 1 < q.len ? i + 1 : 0;
        double a = s[i], b = s[next];
        if (a <= 0.0) push(below, q.x[i], q.y[i], q.z[i], q.p[i]);
        if (a >= 0.0) push(above, q.x[i], q.y[i], q.z[i], q.p[i]);
        if ((a < 0.0 && b > 0.0) || (a > 0.0 && b < 0.0)) {
            double t = a / (a - b);
            double x = q.x[i] + (q.x[next] - q.x[i]) * t, y = q.y[i] + (q.y[next] - q.y[i]) * t;
            double z = q.z[i] + (q.z[next] - q.z[i]) * t, p = q.p[i] + (q.p[next] - q.p[i]) * t;
            push(below, x, y, z, p);
            push(above, x, y, z, p);
        }
    }
}

// What a lane has found so far, for all taxels together.
struct Sums {
    V3 force, torque, outside;
    u32 saturated;
};

__device__ __forceinline__ void put(const Field& f, u64* cells, int row, int col, double load, V3 normal, Sums& sums) {
    V3 force = mul(normal, -load);
    if (row < 0 || col < 0 || row >= (int)f.rows || col >= (int)f.cols) {
        sums.outside = add(sums.outside, force);
        return;
    }
    u64* cell = cells + 3 * (row * f.cols + col);
    atomicAdd(cell, (u64)__double2ll_rn(force.x * f.scale));
    atomicAdd(cell + 1, (u64)__double2ll_rn(force.y * f.scale));
    atomicAdd(cell + 2, (u64)__double2ll_rn(force.z * f.scale));
}

__device__ __forceinline__ int border(double x, u32 count) {
    return (int)fmin(fmax(floor(x), -1.0), (double)count);
}

// The part of a piece that is in its cell's heights, and the rest.
__device__ __noinline__ void between_heights(const Field& f, u64* cells, int row, int col, const Part& piece, V3 normal, Sums& sums) {
    Part within, above, below, inside;
    split(f, HEIGHT, f.height, piece, within, above);
    split(f, HEIGHT, -f.height, within, below, inside);
    put(f, cells, -1, -1, load_of(above) + load_of(below), normal, sums);
    put(f, cells, row, col, load_of(inside), normal, sums);
}

// Shares a polygon out among the cells.
__device__ __noinline__ void share_out(const Field& f, u64* cells, const Part& whole, double load, V3 normal, Sums& sums) {
    double low_col = 1e300, high_col = -1e300, low_row = 1e300, high_row = -1e300, tallest = 0.0;
    for (int i = 0; i < whole.len; i++) {
        double col = along(f, COLUMN, whole.x[i], whole.y[i], whole.z[i]);
        double row = along(f, ROW, whole.x[i], whole.y[i], whole.z[i]);
        low_col = fmin(low_col, col);
        high_col = fmax(high_col, col);
        low_row = fmin(low_row, row);
        high_row = fmax(high_row, row);
        tallest = fmax(tallest, fabs(whole.z[i]));
    }
    int first_col = border(low_col, f.cols), last_col = border(high_col, f.cols);
    int first_row = border(low_row, f.rows), last_row = border(high_row, f.rows);
    if (first_col == last_col && first_row == last_row && tallest <= f.height) {
        put(f, cells, first_row, first_col, load, normal, sums);
        return;
    }
    Part rest, strip, other, piece, left;
    const Part* now = &whole;
    Part* spare = &other;
    Part* next = &rest;
    for (int col = first_col; col <= last_col; col++) {
        const Part* here = now;
        if (col < last_col) {
            split(f, COLUMN, col + 1, *now, strip, *next);
            here = &strip;
            now = next;
            Part* free = next;
            next = spare;
            spare = free;
        }
        if (here->len < 3) continue;
        if (col < 0 || col >= (int)f.cols) {
            put(f, cells, -1, -1, load_of(*here), normal, sums);
            continue;
        }
        // The rows of this strip. What is left of it goes to and fro between two places.
        Part more;
        const Part* standing = here;
        Part* to = &left;
        Part* fro = &more;
        double from = 1e300, until = -1e300;
        for (int i = 0; i < here->len; i++) {
            double row = along(f, ROW, here->x[i], here->y[i], here->z[i]);
            from = fmin(from, row);
            until = fmax(until, row);
        }
        int last = border(until, f.rows);
        for (int row = border(from, f.rows); row <= last; row++) {
            const Part* cell = standing;
            if (row < last) {
                split(f, ROW, row + 1, *standing, piece, *to);
                cell = &piece;
                standing = to;
                Part* free = to;
                to = fro;
                fro = free;
            }
            if (cell->len < 3) continue;
            if (tallest <= f.height) {
                put(f, cells, row, col, load_of(*cell), normal, sums);
                continue;
            }
            between_heights(f, cells, row, col, *cell, normal, sums);
        }
    }
}

__device__ __forceinline__ bool all_below(double a, double b, double c, double limit) {
    return a < limit && b < limit && c < limit;
}

// Whether a triangle (in the field's frame, with its outward normal) may have a part in a tetrahedron.
__device__ __forceinline__ bool reaches(const Field& f, const V3* corners, V3 normal, double offset,
                                        const double* __restrict__ tet) {
    V3 gradient = v3(tet[13], tet[14], tet[15]);
    double slope = tet[16];
    if (!(f.least_cosine < -1.0 || slope == 0.0 || dot(normal, gradient) > f.least_cosine * slope)) return false;
    bool over = true, under = true;
#pragma unroll 1
    for (int k = 0; k < 4; k++) {
        double height = dot(normal, v3(tet[3 * k], tet[3 * k + 1], tet[3 * k + 2])) - offset;
        over = over && height > f.flat;
        under = under && height < -f.flat;
        V3 inward = v3(tet[17 + 3 * k], tet[18 + 3 * k], tet[19 + 3 * k]);
        double face = tet[29 + k];
        if (all_below(dot(inward, corners[0]) - face, dot(inward, corners[1]) - face, dot(inward, corners[2]) - face, -f.flat))
            return false;
    }
    return !(over || under);
}

// What of a triangle is in a tetrahedron, and its load.
__device__ __noinline__ void cut(const Field& f, u64* cells, const V3* corners, V3 normal,
                                 const double* __restrict__ tet, Sums& sums) {
    V3 gradient = v3(tet[13], tet[14], tet[15]);
    Polygon polygon;
    polygon.len = 3;
    polygon.now = 0;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) polygon.w[0][i][k] = i == k ? 1.0 : 0.0;
#pragma unroll 1
    for (int k = 0; k < 4; k++) {
        V3 inward = v3(tet[17 + 3 * k], tet[18 + 3 * k], tet[19 + 3 * k]);
        double face = tet[29 + k];
        double a = dot(inward, corners[0]) - face, b = dot(inward, corners[1]) - face, c = dot(inward, corners[2]) - face;
        if (fabs(a) <= f.flat && fabs(b) <= f.flat && fabs(c) <= f.flat) {
            // In the plane of a face: the tetrahedron in front of it has the triangle.
            if (dot(inward, normal) < 0.0) return;
        } else if (!(a >= 0.0 && b >= 0.0 && c >= 0.0) && !keep(polygon, a, b, c)) {
            return;
        }
    }
    double extent[3];
    for (int c = 0; c < 3; c++) extent[c] = tet[12] + dot(gradient, sub(corners[c], v3(tet[0], tet[1], tet[2])));
    for (u32 index = 0; index < f.stretch_count; index++) {
        const double* stretch = f.stretches + 4 * index;
        double from = stretch[0], until = stretch[1], at_pa = stretch[2], slope_pa = stretch[3];
        // The last stretch may have the polygon itself; most laws have but one.
        Polygon copy;
        if (index + 1 < f.stretch_count) copy = polygon;
        Polygon& part = index + 1 < f.stretch_count ? copy : polygon;
        if (!(from <= 0.0 && !f.is_cut) && !keep(part, extent[0] - from, extent[1] - from, extent[2] - from)) continue;
        if (until < 1e300) {
            double ends[3] = {until - extent[0], until - extent[1], until - extent[2]};
            bool any = false;
            for (int i = 0; i < part.len; i++) any = any || value_at(part, i, ends) > 0.0;
            if (!any || !keep(part, ends[0], ends[1], ends[2])) continue;
        }
        double pressures[3];
        for (int c = 0; c < 3; c++) pressures[c] = at_pa + slope_pa * (extent[c] - from);
        Part whole;
        whole.len = part.len;
        double most = 0.0;
        for (int i = 0; i < part.len; i++) {
            const double* w = part.w[part.now][i];
            whole.x[i] = corners[0].x * w[0] + corners[1].x * w[1] + corners[2].x * w[2];
            whole.y[i] = corners[0].y * w[0] + corners[1].y * w[1] + corners[2].y * w[2];
            whole.z[i] = corners[0].z * w[0] + corners[1].z * w[1] + corners[2].z * w[2];
            whole.p[i] = fmax(value_at(part, i, pressures), 0.0);
            most = fmax(most, whole.p[i]);
        }
        // ∫ p dA and its moment: the mid-points of the edges integrate both exactly.
        V3 doubled = v3(0.0, 0.0, 0.0), moment = v3(0.0, 0.0, 0.0);
        double load = 0.0;
        for (int i = 2; i < whole.len; i++) {
            V3 p0 = v3(whole.x[0], whole.y[0], whole.z[0]), p1 = v3(whole.x[i - 1], whole.y[i - 1], whole.z[i - 1]),
               p2 = v3(whole.x[i], whole.y[i], whole.z[i]);
            V3 c = cross(sub(p1, p0), sub(p2, p0));
            doubled = add(doubled, c);
            double third = 0.5 * (0.5 * sqrt(dot(c, c))) / 3.0;
            double a = (whole.p[0] + whole.p[i - 1]) * third, b = (whole.p[i - 1] + whole.p[i]) * third,
                   d = (whole.p[i] + whole.p[0]) * third;
            load += a + b + d;
            moment = add(moment, mul(add(p0, p1), 0.5 * a));
            moment = add(moment, mul(add(p1, p2), 0.5 * b));
            moment = add(moment, mul(add(p2, p0), 0.5 * d));
        }
        if (!(dot(doubled, doubled) > 4.0 * f.least_area * f.least_area)) continue;
        // Out of the sensor: into the object.
        V3 out = neg(normal);
        sums.force = add(sums.force, mul(out, -load));
        sums.torque = add(sums.torque, neg(cross(moment, out)));
        u32 law = f.stretch_count - 1;
        while (law > 0 && !(f.stretches[4 * law + 2] <= most)) law--;
        const double* known = f.stretches + 4 * law;
        sums.saturated += known[0] + (most - known[2]) / known[3] >= f.deepest ? 1u : 0u;
        share_out(f, cells, whole, load, out, sums);
    }
}

// A triangle of the mesh, in the field's frame.
struct Placed {
    V3 corners[3];
    V3 normal;
};

__device__ __forceinline__ Placed placed(const Shape& shape, const Turn& turn, V3 shift, u32 position) {
    const double* c = shape.corners + 9 * (u64)position;
    const double* own = shape.normals + 3 * (u64)shape.order[position];
    Placed t;
    for (int k = 0; k < 3; k++) t.corners[k] = add(apply(turn, v3(c[3 * k], c[3 * k + 1], c[3 * k + 2])), shift);
    t.normal = apply(turn, v3(own[0], own[1], own[2]));
    return t;
}

// Pairs of a triangle and a tetrahedron, 32 at once.
__device__ __forceinline__ void work_off(const Field& f, const Shape& shape, const Turn& turn, V3 shift, u64* cells, const u32* pairs,
                                         u32 first, u32 count, u32 lane, Sums& sums) {
    if (lane < count) {
        Placed t = placed(shape, turn, shift, pairs[2 * (first + lane)]);
        cut(f, cells, t.corners, t.normal, f.tets + TET * (u64)pairs[2 * (first + lane) + 1], sums);
    }
    __syncwarp();
}

__device__ __forceinline__ double warp_sum(double x) {
    for (int k = 16; k > 0; k >>= 1) x += __shfl_down_sync(ALL, x, k);
    return x;
}

extern "C" __global__ void __launch_bounds__(128)
    pads(Field f, Shape shape, const double* __restrict__ poses, u32 n, double* __restrict__ forces,
         double* __restrict__ values, double* __restrict__ wrench, double* __restrict__ outside, u32* __restrict__ saturated) {
    extern __shared__ u64 memory[];
    u32 lane = threadIdx.x & 31u, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    u32 press = blockIdx.x * warps + warp;
    if (press >= n) return;
    u32 taxels = f.rows * f.cols;
    u32 words = 3 * taxels + (LIST + WAITING) / 2 + PAIRS;
    u64* cells = memory + (u64)warp * words;
    u32* list = (u32*)(cells + 3 * taxels);
    u32* waiting = list + LIST;
    u32* pairs = waiting + WAITING;
    u32 paired = 0;
    for (u32 k = lane; k < 3 * taxels; k += 32) cells[k] = 0;
    const double* pose = poses + 7 * (u64)press;
    Turn turn = turn_of(pose[3], pose[4], pose[5], pose[6]);
    V3 shift = v3(pose[0], pose[1], pose[2]);
    // The middle of the mesh's boxes, and the turn, as the field sees them.
    V3 middle = add(apply(turn, v3((shape.tree_low[0] + shape.tree_high[0]) * 0.5, (shape.tree_low[1] + shape.tree_high[1]) * 0.5,
                                   (shape.tree_low[2] + shape.tree_high[2]) * 0.5)), shift);
    V3 size = v3(shape.tree_high[0] - shape.tree_low[0], shape.tree_high[1] - shape.tree_low[1], shape.tree_high[2] - shape.tree_low[2]);
    V3 span = v3(f.high[0] - f.low[0], f.high[1] - f.low[1], f.high[2] - f.low[2]);
    float slack = (float)(1e-5 * (sqrt(dot(size, size)) + sqrt(dot(span, span))));
    float below[3], above[3];
    float t[3][3] = {{(float)turn.x.x, (float)turn.y.x, (float)turn.z.x},
                     {(float)turn.x.y, (float)turn.y.y, (float)turn.z.y},
                     {(float)turn.x.z, (float)turn.y.z, (float)turn.z.z}};
    for (int k = 0; k < 3; k++) {
        below[k] = (float)(f.low[k] - pick(middle, k)) - slack;
        above[k] = (float)(f.high[k] - pick(middle, k)) + slack;
    }
    Sums sums{v3(0.0, 0.0, 0.0), v3(0.0, 0.0, 0.0), v3(0.0, 0.0, 0.0), 0};
    u32 top = shape.triangles ? 1 : 0, count = 0;
    u32 before = (1u << lane) - 1u;
    if (lane == 0) list[0] = 0;
    __syncwarp();
    while (top > 0 || count > 0) {
        if (top > 0 && count < 32) {
            // Eight nodes at once, a child for each lane.
            u32 take = top > DEEP ? 1u : min(8u, top);
            u32 which = lane >> 2, side = lane & 3u;
            u32 child = NONE, items = 0;
            if (which < take) {
                const Node* node = shape.nodes + list[top - 1 - which];
                child = node->child[side];
                items = node->count[side];
                if (child != NONE) {
                    float c[3], h[3];
                    for (int k = 0; k < 3; k++) {
                        float low = ((const float*)&node->min[k])[side], high = ((const float*)&node->max[k])[side];
                        c[k] = 0.5f * (low + high);
                        h[k] = 0.5f * (high - low);
                    }
                    for (int k = 0; k < 3; k++) {
                        float at = t[k][0] * c[0] + t[k][1] * c[1] + t[k][2] * c[2];
                        float reach = fabsf(t[k][0]) * h[0] + fabsf(t[k][1]) * h[1] + fabsf(t[k][2]) * h[2];
                        if (at - reach > above[k] || at + reach < below[k]) child = NONE;
                    }
                }
            }
            __syncwarp();
            top -= take;
            bool inner = child != NONE && items == 0;
            u32 mask = __ballot_sync(ALL, inner);
            if (inner) list[top + __popc(mask & before)] = child;
            top += __popc(mask);
            u32 leaves = child != NONE ? items : 0;
            for (u32 k = 0; k < 4; k++) {
                mask = __ballot_sync(ALL, leaves > k);
                if (leaves > k) waiting[count + __popc(mask & before)] = child + k;
                count += __popc(mask);
            }
            __syncwarp();
        } else {
            // A triangle a lane: which tetrahedra does it reach? Those pairs are cut when there are enough of them for all lanes.
            u32 batch = min(count, 32u);
            count -= batch;
            bool busy = lane < batch;
            u32 position = busy ? waiting[count + lane] : 0;
            Placed own = placed(shape, turn, shift, position);
            double offset = dot(own.normal, own.corners[0]);
            float from[3], until[3];
            for (int k = 0; k < 3; k++) {
                double a = pick(own.corners[0], k), b = pick(own.corners[1], k), c = pick(own.corners[2], k);
                double low = fmin(fmin(a, b), c) - f.flat, high = fmax(fmax(a, b), c) + f.flat;
                busy = busy && low - f.flat <= f.high[k] && high + f.flat >= f.low[k];
                // The boxes are wider than what they hold by more than this rounding.
                from[k] = (float)fmax(low - f.center[k], 2.0 * (f.low[k] - f.high[k]));
                until[k] = (float)fmin(high - f.center[k], 2.0 * (f.high[k] - f.low[k]));
            }
            u32 stack[STACK];
            int wait = busy ? 1 : 0;
            stack[0] = 0;
            u32 node = 0, side = 4, item = 0, items = 0, next = 0;
            while (__any_sync(ALL, busy)) {
                // To the next tetrahedron whose box is met.
                u32 tet = NONE;
                while (busy) {
                    if (item < items) {
                        tet = next + item;
                        item++;
                        break;
                    }
                    if (side == 4) {
                        if (wait == 0) {
                            busy = false;
                            break;
                        }
                        node = stack[--wait];
                        side = 0;
                    }
                    const Node* here = f.nodes + node;
                    u32 lane_of = side++;
                    u32 child = here->child[lane_of];
                    if (child == NONE) continue;
                    bool met = true;
                    for (int k = 0; k < 3; k++)
                        met = met && ((const float*)&here->min[k])[lane_of] <= until[k] && ((const float*)&here->max[k])[lane_of] >= from[k];
                    if (!met) continue;
                    if (here->count[lane_of] == 0) {
                        stack[wait++] = child;
                    } else {
                        next = child;
                        item = 0;
                        items = here->count[lane_of];
                    }
                }
                bool meets = tet != NONE && reaches(f, own.corners, own.normal, offset, f.tets + TET * (u64)tet);
                u32 mask = __ballot_sync(ALL, meets);
                if (meets) {
                    u32 to = paired + __popc(mask & before);
                    pairs[2 * to] = position;
                    pairs[2 * to + 1] = tet;
                }
                paired += __popc(mask);
                __syncwarp();
                if (paired >= 32) {
                    paired -= 32;
                    work_off(f, shape, turn, shift, cells, pairs, paired, 32, lane, sums);
                }
            }
        }
    }
    work_off(f, shape, turn, shift, cells, pairs, 0, paired, lane, sums);
    double by = 1.0 / f.scale;
    for (u32 k = lane; k < 3 * taxels; k += 32) {
        double force = (double)(i64)cells[k] * by;
        forces[3 * (u64)press * taxels + k] = force;
        if (k % 3 == 2) values[(u64)press * taxels + k / 3] = 0.0 - force;
    }
    double all[9] = {sums.force.x,  sums.force.y,  sums.force.z,   sums.torque.x, sums.torque.y,
                     sums.torque.z, sums.outside.x, sums.outside.y, sums.outside.z};
    for (int k = 0; k < 9; k++) all[k] = warp_sum(all[k]);
    u32 beyond = sums.saturated;
    for (int k = 16; k > 0; k >>= 1) beyond += __shfl_down_sync(ALL, beyond, k);
    if (lane == 0) {
        for (int k = 0; k < 6; k++) wrench[6 * (u64)press + k] = all[k];
        for (int k = 0; k < 3; k++) outside[3 * (u64)press + k] = all[6 + k];
        saturated[press] = beyond;
    }
}
