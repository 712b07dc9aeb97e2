// Presses of a rigid mesh at rest on a pressure field: pads.cuh without IN_TIME.

// Makes the facet of a polygon with its pressures; returns the largest pressure.
__device__ __forceinline__ double facet_of(const Polygon& part, const Triangle& triangle, const double* pressures, Facet& facet) {
    facet.len = part.len;
    double greatest = 0.0;
    for (int i = 0; i < part.len; i++) {
        double pressure = fmax(value_at(part, i, pressures), 0.0);
        facet.corners[i] = Corner{point_at(part, i, triangle), pressure};
        greatest = fmax(greatest, pressure);
    }
    return greatest;
}

// ∫ p dA (N), ∫ p x dA (N m) and twice the vector area (m²) of a facet. Quadrature at the midpoints of the edges is exact for both.
__device__ __forceinline__ double integrate(const Facet& facet, Vec3& moment, Vec3& doubled) {
    doubled = vec3(0.0, 0.0, 0.0);
    moment = vec3(0.0, 0.0, 0.0);
    double load = 0.0;
    for (int i = 2; i < facet.len; i++) {
        Corner p = facet.corners[0], q = facet.corners[i - 1], r = facet.corners[i];
        Vec3 c = cross(q.at - p.at, r.at - p.at);
        doubled = doubled + c;
        double third = 0.5 * (0.5 * sqrt(dot(c, c))) / 3.0;
        double pq = (p.traction + q.traction) * third, qr = (q.traction + r.traction) * third, rp = (r.traction + p.traction) * third;
        load += pq + qr + rp;
        moment = moment + (p.at + q.at) * (0.5 * pq);
        moment = moment + (q.at + r.at) * (0.5 * qr);
        moment = moment + (r.at + p.at) * (0.5 * rp);
    }
    return load;
}

// Clips a triangle to a tetrahedron and adds the loads of the facets, one facet per piece of the pressure law.
__device__ __noinline__ void add_contact(const PadField& f, u64* taxels, const Triangle& triangle, const Tetrahedron& tet, Sums& sums) {
    Polygon polygon;
    if (!clip_to_tetrahedron(f, triangle, tet, polygon)) return;
    double extent[3];
    extents_of(tet, triangle, extent);
    for (u32 index = 0; index < f.piece_count; index++) {
        const LawPiece& piece = f.pieces[index];
        // The last piece clips the polygon itself, without a copy; most laws have only one piece.
        Polygon copy;
        if (index + 1 < f.piece_count) copy = polygon;
        Polygon& part = index + 1 < f.piece_count ? copy : polygon;
        if (!clip_to_piece(f, piece, extent, part)) continue;
        double pressures[3];
        pressures_of(piece, extent, pressures);
        Facet facet;
        double greatest = facet_of(part, triangle, pressures, facet);
        Vec3 moment, doubled;
        double load = integrate(facet, moment, doubled);
        if (!(dot(doubled, doubled) > 4.0 * f.min_area * f.min_area)) continue;
        // Out of the sensor, into the object.
        Vec3 out = -triangle.normal;
        sums.force = sums.force + out * -load;
        sums.torque = sums.torque + -cross(moment, out);
        sums.saturated += is_saturated(f, greatest) ? 1u : 0u;
        add_facet(f, taxels, facet, load, out, sums);
    }
}

__device__ CUT_PAIRS void cut_pairs(const PadField& f, const ObjectView& object, Press& press, u32 count, Sums& sums) {
    press.pair_count -= count;
    if (press.lane < count) {
        const u32* pair = press.pairs + 2 * (press.pair_count + press.lane);
        Triangle t = triangle_at(object, press, pair[0]);
        add_contact(f, press.taxels, t, f.tets[pair[1]], sums);
    }
    __syncwarp();
}

// Contact loads of n presses: one warp per press, up to four warps per block. Shared memory per warp: 3 × taxels 64-bit integers and the
// lists. poses: (n, 7). forces: (n, taxels, 3). values: (n, taxels), the force along the normals. wrench: (n, 6). outside: (n, 3). saturated: (n).
extern "C" __global__ void __launch_bounds__(128)
    pads(PadField f, ObjectView object, const double* __restrict__ poses, u32 n, double* __restrict__ forces,
         double* __restrict__ values, double* __restrict__ wrench, double* __restrict__ outside, u32* __restrict__ saturated) {
    extern __shared__ u64 memory[];
    u32 lane = threadIdx.x & 31u, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    u32 number = blockIdx.x * warps + warp;
    if (number >= n) return;
    u32 taxels = f.rows * f.cols;
    const double* pose = poses + POSE_NUMBERS * (u64)number;
    Press press = press_in(memory + (u64)warp * shared_words(taxels), taxels, lane);
    press.rotation = matrix_of(rotation_of(pose));
    press.position = position_of(pose);
    Vec3 zero = vec3(0.0, 0.0, 0.0);
    Sums sums{zero, zero, zero, f.scale, 0};
    add_object(f, object, press, sums);
    double by = 1.0 / f.scale;
    for (u32 k = lane; k < 3 * taxels; k += 32) forces[3 * (u64)number * taxels + k] = (double)(i64)press.taxels[k] * by;
    for (u32 t = lane; t < taxels; t += 32) {
        const i64* whole = (const i64*)press.taxels + 3 * t;
        Vec3 force = vec3((double)whole[0] * by, (double)whole[1] * by, (double)whole[2] * by);
        values[(u64)number * taxels + t] = value_of(f, t, force);
    }
    double all[9] = {sums.force.x,  sums.force.y,   sums.force.z,   sums.torque.x, sums.torque.y,
                     sums.torque.z, sums.outside.x, sums.outside.y, sums.outside.z};
    for (int k = 0; k < 9; k++) all[k] = warp_sum(all[k]);
    u32 beyond = warp_sum(sums.saturated);
    if (lane == 0) {
        for (int k = 0; k < 6; k++) wrench[6 * (u64)number + k] = all[k];
        for (int k = 0; k < 3; k++) outside[3 * (u64)number + k] = all[6 + k];
        saturated[number] = beyond;
    }
}
