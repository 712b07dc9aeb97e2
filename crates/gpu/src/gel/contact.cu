// Contact at the points of the surface.

// A vector on the nodes, and a part of the step, at a spot.
__device__ __noinline__ V at_spot(const Task& t, int spot, const double* v, double part) {
    double sum[3] = {0, 0, 0};
    const double* weight = t.spot_weight + spot;
    int first = t.spot_node[spot];
    for (int k = 0; k < 3; k++) {
        double wz = weight[(6 + k) * t.spots];
        for (int j = 0; j < 3; j++) {
            double wy = weight[(3 + j) * t.spots] * wz;
            int row = first + (k * t.nodes[1] + j) * t.nodes[0];
#pragma unroll
            for (int i = 0; i < 3; i++) {
                double w = weight[i * t.spots] * wy;
#pragma unroll
                for (int c = 0; c < 3; c++) {
                    int at = c * t.all_nodes + row + i;
                    double x = v[at];
                    if (part != 0.0) x += part * t.step[at];
                    sum[c] += w * x;
                }
            }
        }
    }
    return {sum[0], sum[1], sum[2]};
}

__device__ inline V rest_of(const Task& t, int spot) {
    return {t.spot_rest[spot], t.spot_rest[t.spots + spot], t.spot_rest[2 * t.spots + spot]};
}

// The nearest of the things that are in reach.
__device__ __noinline__ long long nearest(const Task& t, const Place* places, V at, Gap& gap) {
    long long object = -1;
    for (int i = 0; i < t.objects; i++) {
        Gap found;
        if (placed_gap(t.shapes[i], places[i], at, t.reach, found) && (object < 0 || found.distance < gap.distance)) {
            gap = found;
            object = i;
        }
    }
    return object;
}

__device__ inline Gap plane_gap(const Plane& plane, V at) { return {dot(plane.normal, at - plane.foot), plane.normal}; }

// What a point of the surface feels at `at`: its energy; what it found, its force and its stiffness are kept.
__device__ __noinline__ double look(const Task& t, const Place* places, int spot, V at) {
    Near near = {};
    Gap gap = {0.0, {0.0, 0.0, 1.0}};
    const Plane& plane = t.planes[spot];
    if (plane.object >= 0) {
        near.object = plane.object;
        gap = plane_gap(plane, at);
    } else {
        near.object = nearest(t, places, at, gap);
    }
    double energy = 0.0;
    float k[6] = {0, 0, 0, 0, 0, 0};
    if (near.object >= 0) {
        double area = t.spot_area[spot];
        const Hold& hold = t.holds[spot];
        double known = hold.object == near.object ? hold.pressure : 0.0;
        double pressure = known - t.normal * gap.distance;
        near.distance = gap.distance;
        near.normal = gap.normal;
        near.at = at;
        near.press = fmax(pressure, 0.0) * area;
        energy = pressure > 0.0 ? 0.5 * area * pressure * pressure / t.normal : 0.0;
        energy -= 0.5 * area * known * known / t.normal;
        if (known > 0.0 && t.friction > 0.0) {
            V arm = at - moved(places[near.object].out, hold.anchor);
            V slip = arm - gap.normal * dot(arm, gap.normal);
            double distance = length(slip), stiffness = t.tangential * area, limit = t.friction * known * area;
            if (stiffness * distance <= limit) {
                energy += 0.5 * stiffness * distance * distance;
                near.rub = slip * -stiffness;
                near.plane = near.slipping = stiffness;
            } else {
                energy += limit * (distance - 0.5 * limit / stiffness);
                near.rub = slip * (-limit / distance);
                near.plane = limit / distance;
                near.slip = slip * (1.0 / distance);
            }
        }
        V n = gap.normal, s = near.slip;
        double along = (near.press > 0.0 ? t.normal * area : 0.0) - near.plane, lost = near.plane - near.slipping;
        k[0] = (float)(near.plane + along * n.x * n.x - lost * s.x * s.x);
        k[1] = (float)(along * n.x * n.y - lost * s.x * s.y);
        k[2] = (float)(along * n.x * n.z - lost * s.x * s.z);
        k[3] = (float)(near.plane + along * n.y * n.y - lost * s.y * s.y);
        k[4] = (float)(along * n.y * n.z - lost * s.y * s.z);
        k[5] = (float)(near.plane + along * n.z * n.z - lost * s.z * s.z);
    }
    t.near[spot] = near;
    V force = near.normal * near.press + near.rub;
    t.spot_force[spot] = force.x;
    t.spot_force[t.spots + spot] = force.y;
    t.spot_force[2 * t.spots + spot] = force.z;
    for (int i = 0; i < 6; i++) t.spot_stiffness[i * t.spots + spot] = k[i];
    return energy;
}

__device__ inline bool stiff(const Task& t, int spot) {
    return t.spot_stiffness[spot] != 0.0f || t.spot_stiffness[3 * t.spots + spot] != 0.0f ||
           t.spot_stiffness[5 * t.spots + spot] != 0.0f;
}

// Adds to one component and layer of a cell's nodes what acts at its spots: those that hold, or the others.
__device__ inline void spread_spots(const Task& t, int cell, int c, int d, bool holding, double sign, double out[9]) {
    for (int spot = t.spot_first[cell]; spot < t.spot_first[cell + 1]; spot++) {
        if ((t.spot_holding[spot] > 0.0) != holding) continue;
        double force = t.spot_force[c * t.spots + spot];
        if (force == 0.0) continue;
        const double* weight = t.spot_weight + spot;
        force *= sign * weight[(6 + d) * t.spots];
        for (int b = 0; b < 3; b++)
            for (int a = 0; a < 3; a++) out[3 * b + a] += force * weight[(3 + b) * t.spots] * weight[a * t.spots];
    }
}

