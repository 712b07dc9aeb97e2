// Contact at stencils: surface points, and interfaces to held parts (stencils with a spring stiffness). One thread per stencil.

// Interpolates displacement + scale * step at a stencil.
__device__ __noinline__ Vec3 at_stencil(const EquilibriumTask& t, int stencil, double scale) {
    double sum[3] = {0, 0, 0};
    const double* weight = t.stencil_weight + stencil;
    int first = t.stencil_node[stencil];
    for (int k = 0; k < 3; k++) {
        double wz = weight[(6 + k) * t.stencils];
        for (int j = 0; j < 3; j++) {
            double wy = weight[(3 + j) * t.stencils] * wz;
            int row = first + (k * t.nodes[1] + j) * t.nodes[0];
#pragma unroll
            for (int i = 0; i < 3; i++) {
                double w = weight[i * t.stencils] * wy;
#pragma unroll
                for (int c = 0; c < 3; c++) {
                    int at = c * t.all_nodes + row + i;
                    sum[c] += w * (t.displacement[at] + scale * t.step[at]);
                }
            }
        }
    }
    return {sum[0], sum[1], sum[2]};
}

// Undeformed position (m) of a surface point.
__device__ inline Vec3 rest_of(const EquilibriumTask& t, int stencil) {
    return {t.stencil_rest[stencil], t.stencil_rest[t.stencils + stencil], t.stencil_rest[2 * t.stencils + stencil]};
}

// Stores the force (N) at a stencil.
__device__ inline void set_force(const EquilibriumTask& t, int stencil, Vec3 force) {
    t.stencil_force[stencil] = force.x;
    t.stencil_force[t.stencils + stencil] = force.y;
    t.stencil_force[2 * t.stencils + stencil] = force.z;
}

// The nearest object within reach of a surface point at `at`, or -1, and the gap to it. The search in a mesh starts from the triangle of
// the last search for the point, if there is one object.
__device__ __noinline__ long long nearest_object(const EquilibriumTask& t, const IndenterPose* poses, int stencil, Vec3 at, Gap& gap) {
    long long object = -1;
    for (int i = 0; i < t.objects; i++) {
        Gap found;
        int hint = t.objects == 1 ? t.nearest_triangle[stencil] : -1;
        bool near = posed_gap(t.shapes[i], poses[i], at, t.coefficients.reach_m, found, hint);
        t.nearest_triangle[stencil] = hint;
        if (near && (object < 0 || found.distance < gap.distance)) {
            gap = found;
            object = i;
        }
    }
    return object;
}

__device__ inline Gap plane_gap(const ContactPlane& plane, Vec3 at) { return {dot(plane.normal, at - plane.foot), plane.normal}; }

// Coulomb friction as a spring of stiffness k_t A between a point and its anchor on the object, bounded by mu p A with the known pressure p.
// Sets friction force, stiffness and slip direction of `point`, and adds to the energy (J).
__device__ inline void add_friction(const EquilibriumTask& t, const IndenterPose* poses, const ContactState& state, double area,
                                    ContactPoint& point, double& energy) {
    Vec3 arm = point.at - transformed(poses[point.object].sensor_from_object, state.anchor);
    Vec3 slip = arm - point.normal * dot(arm, point.normal);
    double distance = length(slip), stiffness = t.coefficients.contact_tangential * area;
    double limit = t.coefficients.friction * state.pressure * area;
    if (stiffness * distance <= limit) {
        energy += 0.5 * stiffness * distance * distance;
        point.friction = slip * -stiffness;
        point.plane_stiffness = point.slip_stiffness = stiffness;
    } else {
        energy += limit * (distance - 0.5 * limit / stiffness);
        point.friction = slip * (-limit / distance);
        point.plane_stiffness = limit / distance;
        point.slip = slip * (1.0 / distance);
    }
}

// Contact of a surface point at `at`, by an augmented Lagrangian: with the known pressure p0 and the gap g the pressure is
// p = max(p0 - k_n g, 0) and the energy A (p^2 - p0^2) / (2 k_n). Stores contact point, force and stiffness (xx, xy, xz, yy, yz, zz);
// returns the energy (J), with friction.
__device__ __noinline__ double evaluate_contact(const EquilibriumTask& t, const IndenterPose* poses, int stencil, Vec3 at) {
    ContactPoint point = {};
    Gap gap = {0.0, {0.0, 0.0, 1.0}};
    const ContactPlane& plane = t.planes[stencil];
    if (plane.object >= 0) {
        point.object = plane.object;
        gap = plane_gap(plane, at);
    } else {
        point.object = nearest_object(t, poses, stencil, at, gap);
    }
    double energy = 0.0;
    float k[6] = {0, 0, 0, 0, 0, 0};
    if (point.object >= 0) {
        double area = t.stencil_area[stencil], normal_stiffness = t.coefficients.contact_normal;
        const ContactState& state = t.states[stencil];
        double known = state.object == point.object ? state.pressure : 0.0;
        double pressure = known - normal_stiffness * gap.distance;
        point.distance = gap.distance;
        point.normal = gap.normal;
        point.at = at;
        point.normal_force = fmax(pressure, 0.0) * area;
        energy = pressure > 0.0 ? 0.5 * area * pressure * pressure / normal_stiffness : 0.0;
        energy -= 0.5 * area * known * known / normal_stiffness;
        if (known > 0.0 && t.coefficients.friction > 0.0) add_friction(t, poses, state, area, point, energy);
        Vec3 n = gap.normal, s = point.slip;
        double plane_k = point.plane_stiffness;
        double along = (point.normal_force > 0.0 ? normal_stiffness * area : 0.0) - plane_k, lost = plane_k - point.slip_stiffness;
        k[0] = (float)(plane_k + along * n.x * n.x - lost * s.x * s.x);
        k[1] = (float)(along * n.x * n.y - lost * s.x * s.y);
        k[2] = (float)(along * n.x * n.z - lost * s.x * s.z);
        k[3] = (float)(plane_k + along * n.y * n.y - lost * s.y * s.y);
        k[4] = (float)(along * n.y * n.z - lost * s.y * s.z);
        k[5] = (float)(plane_k + along * n.z * n.z - lost * s.z * s.z);
    }
    t.points[stencil] = point;
    set_force(t, stencil, point.normal * point.normal_force + point.friction);
    for (int i = 0; i < 6; i++) t.stencil_stiffness[i * t.stencils + stencil] = k[i];
    return energy;
}

// True if a surface point has contact stiffness.
__device__ inline bool is_stiff(const EquilibriumTask& t, int stencil) {
    return t.stencil_stiffness[stencil] != 0.0f || t.stencil_stiffness[3 * t.stencils + stencil] != 0.0f ||
           t.stencil_stiffness[5 * t.stencils + stencil] != 0.0f;
}

// Adds sign times the forces (N) at a cell's stencils, either interfaces or surface points, to its nodes, for component c and z-layer d.
template <class T>
__device__ inline void add_stencil_forces(const EquilibriumTask& t, int cell, int c, int d, bool interfaces, double sign, T out[9]) {
    for (int stencil = t.stencil_first[cell]; stencil < t.stencil_first[cell + 1]; stencil++) {
        if ((t.stencil_spring[stencil] > 0.0) != interfaces) continue;
        double force = t.stencil_force[c * t.stencils + stencil];
        if (force == 0.0) continue;
        const double* weight = t.stencil_weight + stencil;
        T share = T(force * sign * weight[(6 + d) * t.stencils]), x[3];
#pragma unroll
        for (int a = 0; a < 3; a++) x[a] = T(weight[a * t.stencils]);
#pragma unroll
        for (int b = 0; b < 3; b++) {
            T row = share * T(weight[(3 + b) * t.stencils]);
#pragma unroll
            for (int a = 0; a < 3; a++) out[3 * b + a] += row * x[a];
        }
    }
}

// Diagonal entries of the contact stiffness of a cell, sum over its surface points of N_i^2 k_cc, for component c and z-layer d of its nodes.
__device__ inline void contact_diagonal_of(const EquilibriumTask& t, int cell, int c, int d, double out[9]) {
    int entry = c == 0 ? 0 : c == 1 ? 3 : 5;
    for (int i = 0; i < 9; i++) out[i] = 0.0;
    for (int stencil = t.stencil_first[cell]; stencil < t.stencil_first[cell + 1]; stencil++) {
        double stiffness = t.stencil_stiffness[entry * t.stencils + stencil];
        if (t.stencil_spring[stencil] > 0.0 || stiffness == 0.0) continue;
        const double* weight = t.stencil_weight + stencil;
        for (int i = 0; i < 9; i++) {
            double w = weight[i % 3 * t.stencils] * weight[(3 + i / 3) * t.stencils] * weight[(6 + d) * t.stencils];
            out[i] += w * w * stiffness;
        }
    }
}
