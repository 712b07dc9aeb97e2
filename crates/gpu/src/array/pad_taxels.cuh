// Loads of facets on taxels: `dermis_sensor::Taxels::bin`. Forces are summed as integers in units of 1/scale N, so that the sum does not depend
// on the order of the lanes. Compile-time definitions: IN_TIME (1 if loads have shear, else 0) and POINTS (1 if taxels are points with a reach,
// 0 if they are a grid).

// Maximum corners of a part of a polygon on one taxel: cuts at borders and heights of a grid add at most six; a cell around a point may have
// more borders.
#define PART_CORNERS (POINTS ? 24 : 16)

// Traction (Pa) of a facet: with IN_TIME the vector on the sensor, else the pressure. Its integral (N) has the same type.
#if IN_TIME
typedef Vec3 Traction;
__device__ __forceinline__ Traction no_traction() { return vec3(0.0, 0.0, 0.0); }
__device__ __forceinline__ Vec3 force_of(Traction load, Vec3 normal) { return load; }
#else
typedef double Traction;
__device__ __forceinline__ Traction no_traction() { return 0.0; }
__device__ __forceinline__ Vec3 force_of(Traction load, Vec3 normal) { return normal * -load; }
#endif

// A corner of a facet: position (m) and traction.
struct Corner {
    Vec3 at;
    Traction traction;
};

// A convex facet.
struct Facet {
    Corner corners[PART_CORNERS];
    int len;
};

// ∫ t dA (N), summed over triangles that share the first corner.
__device__ Traction load_of(const Facet& q) {
    Traction sum = no_traction();
    for (int i = 2; i < q.len; i++) {
        const Corner &a = q.corners[0], &b = q.corners[i - 1], &c = q.corners[i];
        Vec3 doubled = cross(b.at - a.at, c.at - a.at);
        double area = 0.5 * sqrt(dot(doubled, doubled));
        sum = sum + (a.traction + b.traction + c.traction) * (area / 3.0);
    }
    return sum;
}

__device__ __forceinline__ void push(Facet& to, const Corner& corner) {
    if (to.len < PART_CORNERS) to.corners[to.len++] = corner;
}

// Splits a facet into the parts where a linear function, with the values s at the corners, is negative and where it is not. A facet on the
// border goes to the second part.
__device__ __noinline__ void split(const double* s, const Facet& q, Facet& below, Facet& above) {
    bool none_below = true, none_above = true;
    for (int i = 0; i < q.len; i++) {
        none_below = none_below && s[i] >= 0.0;
        none_above = none_above && s[i] <= 0.0;
    }
    below.len = above.len = 0;
    if (none_below || none_above) {
        Facet& to = none_below ? above : below;
        for (int i = 0; i < q.len; i++) push(to, q.corners[i]);
        return;
    }
    for (int i = 0; i < q.len; i++) {
        int next = i + 1 < q.len ? i + 1 : 0;
        double a = s[i], b = s[next];
        Corner from = q.corners[i];
        if (a <= 0.0) push(below, from);
        if (a >= 0.0) push(above, from);
        if ((a < 0.0 && b > 0.0) || (a > 0.0 && b < 0.0)) {
            double t = a / (a - b);
            Corner to = q.corners[next];
            Corner between{from.at + (to.at - from.at) * t, from.traction + (to.traction - from.traction) * t};
            push(below, between);
            push(above, between);
        }
    }
}

// A lane's sums over its facets: force (N) and torque about the origin (N m) on the sensor, force outside all taxels (N).
struct Sums {
    Vec3 force, torque, outside;
    // Taxels are in units of 1/scale N.
    double scale;
    u32 saturated;
};

// Adds a load (N) to a taxel, or to the force outside all taxels. normal: out of the sensor. taxels: (rows, cols, 3).
__device__ __forceinline__ void add_load(const PadField& f, u64* taxels, int row, int col, Traction load, Vec3 normal, Sums& sums) {
    Vec3 force = force_of(load, normal);
    if (row < 0 || col < 0 || row >= (int)f.rows || col >= (int)f.cols) {
        sums.outside = sums.outside + force;
        return;
    }
    u64* taxel = taxels + 3 * (row * f.cols + col);
    atomicAdd(taxel, (u64)__double2ll_rn(force.x * sums.scale));
    atomicAdd(taxel + 1, (u64)__double2ll_rn(force.y * sums.scale));
    atomicAdd(taxel + 2, (u64)__double2ll_rn(force.z * sums.scale));
}

// The triangle of a facet's corners 0, i − 1 and i.
__device__ __forceinline__ Facet triangle_of(const Facet& whole, int i) {
    Facet part;
    part.len = 3;
    part.corners[0] = whole.corners[0];
    part.corners[1] = whole.corners[i - 1];
    part.corners[2] = whole.corners[i];
    return part;
}

#if POINTS
// Area (m²) of a facet.
__device__ double area_of(const Facet& q) {
    double sum = 0.0;
    for (int i = 2; i < q.len; i++) sum += 0.5 * length(cross(q.corners[i - 1].at - q.corners[0].at, q.corners[i].at - q.corners[0].at));
    return sum;
}

// Area and first moment (x, y) of a part of a disc, about its centre.
struct Moments {
    double area, x, y;
};
__device__ void add_sector(Moments& m, double px, double py, double qx, double qy, double radius_squared) {
    m.area += 0.5 * radius_squared * atan2(px * qy - py * qx, px * qx + py * qy);
    // r³/3 (sin β − sin α, cos α − cos β)
    double cube = radius_squared * sqrt(radius_squared) / 3.0, from = sqrt(px * px + py * py), to = sqrt(qx * qx + qy * qy);
    if (from > 0.0 && to > 0.0) {
        m.x += cube * (qy / to - py / from);
        m.y += cube * (px / from - qx / to);
    }
}
// Adds the triangle of the centre and an edge where it is inside the disc, and the sector where it is outside.
__device__ __noinline__ void add_edge(Moments& m, double px, double py, double qx, double qy, double radius_squared) {
    double dx = qx - px, dy = qy - py, a = dx * dx + dy * dy, half_b = px * dx + py * dy, c = px * px + py * py - radius_squared;
    double root = half_b * half_b - a * c;
    if (a <= 0.0) return;
    if (root <= 0.0) {
        add_sector(m, px, py, qx, qy, radius_squared);
        return;
    }
    root = sqrt(root);
    double enters = fmin(fmax((-half_b - root) / a, 0.0), 1.0), leaves = fmin(fmax((-half_b + root) / a, 0.0), 1.0);
    double ex = px + enters * dx, ey = py + enters * dy, lx = px + leaves * dx, ly = py + leaves * dy;
    if (enters > 0.0) add_sector(m, px, py, ex, ey, radius_squared);
    if (leaves > enters) {
        double area = 0.5 * (ex * ly - ey * lx);
        m.area += area;
        m.x += area * (ex + lx) / 3.0;
        m.y += area * (ey + ly) / 3.0;
    }
    if (leaves < 1.0) add_sector(m, lx, ly, qx, qy, radius_squared);
}

// Traction at a point of a triangle. A point outside by rounding is moved back.
__device__ __forceinline__ Traction traction_at(const Facet& triangle, Vec3 at) {
    const Corner *q = triangle.corners;
    Vec3 normal = cross(q[1].at - q[0].at, q[2].at - q[0].at);
    double part[3], sum = 0.0, squared = dot(normal, normal);
    for (int k = 0; k < 3; k++) {
        Vec3 from = q[(k + 1) % 3].at, to = q[(k + 2) % 3].at;
        part[k] = fmin(fmax(dot(cross(from - at, to - at), normal) / squared, 0.0), 1.0);
        sum += part[k];
    }
    if (sum > 0.0) return (q[0].traction * part[0] + q[1].traction * part[1] + q[2].traction * part[2]) / sum;
    return (q[0].traction + q[1].traction + q[2].traction) / 3.0;
}

// Load (N) of the part of a piece of a triangle that is within the reach of a centre: the ball intersects the plane in a disc, and a linear
// traction has the load A t(M/A) on an area A with the moment M.
__device__ __noinline__ Traction load_within(const Facet& triangle, const Facet& piece, Vec3 center, double reach) {
    bool inside = true;
    for (int i = 0; i < piece.len; i++) {
        Vec3 apart = piece.corners[i].at - center;
        inside = inside && dot(apart, apart) <= reach * reach;
    }
    if (inside) return load_of(piece);
    Vec3 a = triangle.corners[0].at, b = triangle.corners[1].at, c = triangle.corners[2].at;
    Vec3 normal = unit_or_zero(cross(b - a, c - a)), u = unit_or_zero(b - a), v = cross(normal, u);
    double over = dot(center - a, normal), radius_squared = reach * reach - over * over;
    if (dot(normal, normal) == 0.0 || radius_squared <= 0.0) return no_traction();
    Vec3 middle = center - normal * over;
    Moments m{0.0, 0.0, 0.0};
    for (int i = 0; i < piece.len; i++) {
        Vec3 p = piece.corners[i].at - middle, q = piece.corners[i + 1 < piece.len ? i + 1 : 0].at - middle;
        add_edge(m, dot(p, u), dot(p, v), dot(q, u), dot(q, v), radius_squared);
    }
    double area = fmin(m.area, area_of(piece));
    if (area <= 0.0) return no_traction();
    return traction_at(triangle, middle + (u * m.x + v * m.y) / m.area) * area;
}

// The part of a triangle that is nearer to a taxel's centre than to any other, and within its height: one of two buffers.
__device__ __noinline__ const Facet& nearest_part(const PadField& f, u32 taxel, const Facet& triangle, Facet* buffers) {
    Vec3 center = vec3(f.centers + 3 * taxel), normal = vec3(f.normals + 3 * taxel);
    Facet rest;
    double s[PART_CORNERS];
    buffers[0] = triangle;
    int now = 0;
    for (u32 k = f.neighbour_starts[taxel]; k < f.neighbour_starts[taxel + 1]; k++) {
        const Facet& piece = buffers[now];
        u32 other = f.neighbours[k], first = min(taxel, other), second = max(taxel, other);
        Vec3 a = vec3(f.centers + 3 * first), b = vec3(f.centers + 3 * second);
        double farthest = 0.0;
        for (int i = 0; i < piece.len; i++) {
            Vec3 apart = piece.corners[i].at - center;
            farthest = fmax(farthest, dot(apart, apart));
            s[i] = dot(piece.corners[i].at - (a + b) * 0.5, a - b);
        }
        if (piece.len < 3 || dot(a - b, a - b) > 4.0 * farthest) break;
        if (first == taxel) split(s, piece, rest, buffers[1 - now]);
        else split(s, piece, buffers[1 - now], rest);
        now = 1 - now;
    }
    for (int side = 0; side < 2 && f.height < 1e300; side++) {
        const Facet& piece = buffers[now];
        double sign = side ? -1.0 : 1.0;
        for (int i = 0; i < piece.len; i++) s[i] = sign * dot(piece.corners[i].at - center, normal) - f.height;
        split(s, piece, buffers[1 - now], rest);
        now = 1 - now;
    }
    return buffers[now];
}

// Adds a facet's load (N) to the taxels: each has the parts that are nearer to its centre than to any other and within reach. The traction is
// linear on each triangle that has the first corner.
__device__ __noinline__ void add_facet(const PadField& f, u64* taxels, const Facet& whole, Traction load, Vec3 normal, Sums& sums) {
    for (int i = 2; i < whole.len; i++) {
        Facet triangle = triangle_of(whole, i), buffers[2];
        const Corner* q = triangle.corners;
        Traction outside = load_of(triangle);
        for (u32 taxel = 0; taxel < f.cols; taxel++) {
            double squared = 0.0;
            for (int k = 0; k < 3; k++) {
                double x = f.centers[3 * taxel + k], p0 = component(q[0].at, k), p1 = component(q[1].at, k), p2 = component(q[2].at, k);
                double gap = fmax(fmax(fmin(fmin(p0, p1), p2) - x, x - fmax(fmax(p0, p1), p2)), 0.0);
                squared += gap * gap;
            }
            if (squared > f.reach * f.reach) continue;
            const Facet& piece = nearest_part(f, taxel, triangle, buffers);
            if (piece.len < 3) continue;
            Traction part = load_within(triangle, piece, vec3(f.centers + 3 * taxel), f.reach);
            add_load(f, taxels, 0, (int)taxel, part, normal, sums);
            outside = outside - part;
        }
        add_load(f, taxels, -1, -1, outside, normal, sums);
    }
}

// Force (N) on a taxel along its normal, positive in compression.
__device__ __forceinline__ double value_of(const PadField& f, u32 taxel, Vec3 force) { return -dot(force, vec3(f.normals + 3 * taxel)); }
#else
// The coordinate along which a facet is split: column or row of the grid of taxels, or height (m).
#define COLUMN 0
#define ROW 1
#define HEIGHT 2
__device__ __forceinline__ double coordinate(const PadField& f, int axis, Vec3 at) {
    if (axis == COLUMN) return at.x / f.pitch + 0.5 * (double)f.cols;
    if (axis == ROW) return 0.5 * (double)f.rows - at.y / f.pitch;
    return at.z;
}
// Splits a facet where a coordinate passes `at`.
__device__ __forceinline__ void split_at(const PadField& f, int axis, double at, const Facet& q, Facet& below, Facet& above) {
    double s[PART_CORNERS];
    for (int i = 0; i < q.len; i++) s[i] = coordinate(f, axis, q.corners[i].at) - at;
    split(s, q, below, above);
}

// Index of the cell at a coordinate; −1 and `count` are outside.
__device__ __forceinline__ int cell_of(double x, u32 count) { return (int)fmin(fmax(floor(x), -1.0), (double)count); }

// Adds the load of a facet over one taxel: the part within the field's heights to the taxel, the rest to the force outside all taxels.
__device__ __noinline__ void add_within_heights(const PadField& f, u64* taxels, int row, int col, const Facet& facet, Vec3 normal,
                                                Sums& sums) {
    Facet within, above, below, inside;
    split_at(f, HEIGHT, f.height, facet, within, above);
    split_at(f, HEIGHT, -f.height, within, below, inside);
    add_load(f, taxels, -1, -1, load_of(above) + load_of(below), normal, sums);
    add_load(f, taxels, row, col, load_of(inside), normal, sums);
}

// Adds the loads of a facet over one column of taxels, split at their rows. The remaining part alternates between two buffers.
__device__ __forceinline__ void add_column(const PadField& f, u64* taxels, int col, const Facet& column, bool within_heights, Vec3 normal,
                                           Sums& sums) {
    Facet buffers[2], piece;
    const Facet* rest = &column;
    int free = 0;
    double from = 1e300, until = -1e300;
    for (int i = 0; i < column.len; i++) {
        double row = coordinate(f, ROW, column.corners[i].at);
        from = fmin(from, row);
        until = fmax(until, row);
    }
    int last = cell_of(until, f.rows);
    for (int row = cell_of(from, f.rows); row <= last; row++) {
        const Facet* here = rest;
        if (row < last) {
            split_at(f, ROW, row + 1, *rest, piece, buffers[free]);
            here = &piece;
            rest = &buffers[free];
            free = 1 - free;
        }
        if (here->len < 3) continue;
        if (within_heights) {
            add_load(f, taxels, row, col, load_of(*here), normal, sums);
            continue;
        }
        add_within_heights(f, taxels, row, col, *here, normal, sums);
    }
}

// Range of columns and rows of the grid, −1 and the number of them included, and the largest distance (m) from z = 0.
struct Span {
    int first_col, last_col, first_row, last_row;
    double tallest;
};
__device__ __forceinline__ Span span_of(const PadField& f, const Facet& facet) {
    double low_col = 1e300, high_col = -1e300, low_row = 1e300, high_row = -1e300, tallest = 0.0;
    for (int i = 0; i < facet.len; i++) {
        Vec3 at = facet.corners[i].at;
        double col = coordinate(f, COLUMN, at), row = coordinate(f, ROW, at);
        low_col = fmin(low_col, col);
        high_col = fmax(high_col, col);
        low_row = fmin(low_row, row);
        high_row = fmax(high_row, row);
        tallest = fmax(tallest, fabs(at.z));
    }
    return Span{cell_of(low_col, f.cols), cell_of(high_col, f.cols), cell_of(low_row, f.rows), cell_of(high_row, f.rows), tallest};
}

// Adds the loads of a facet with linear traction to the taxels under it, split at the borders of their cells.
__device__ __noinline__ void add_parts(const PadField& f, u64* taxels, const Facet& whole, const Span& span, Vec3 normal, Sums& sums) {
    Facet buffers[2], strip;
    const Facet* rest = &whole;
    int free = 0;
    for (int col = span.first_col; col <= span.last_col; col++) {
        const Facet* here = rest;
        if (col < span.last_col) {
            split_at(f, COLUMN, col + 1, *rest, strip, buffers[free]);
            here = &strip;
            rest = &buffers[free];
            free = 1 - free;
        }
        if (here->len < 3) continue;
        if (col < 0 || col >= (int)f.cols) {
            add_load(f, taxels, -1, -1, load_of(*here), normal, sums);
            continue;
        }
        add_column(f, taxels, col, *here, span.tallest <= f.height, normal, sums);
    }
}

// Adds a facet's load (N) to the taxels under it. The traction is linear on each triangle that has the first corner; a pressure is linear on
// the whole facet.
__device__ __noinline__ void add_facet(const PadField& f, u64* taxels, const Facet& whole, Traction load, Vec3 normal, Sums& sums) {
    Span span = span_of(f, whole);
    if (span.first_col == span.last_col && span.first_row == span.last_row && span.tallest <= f.height) {
        add_load(f, taxels, span.first_row, span.first_col, load, normal, sums);
        return;
    }
#if IN_TIME
    for (int i = 2; i < whole.len; i++) {
        Facet part = triangle_of(whole, i);
        add_parts(f, taxels, part, span_of(f, part), normal, sums);
    }
#else
    add_parts(f, taxels, whole, span, normal, sums);
#endif
}

// Force (N) on a taxel along its normal, positive in compression.
__device__ __forceinline__ double value_of(const PadField& f, u32 taxel, Vec3 force) { return 0.0 - force.z; }
#endif
