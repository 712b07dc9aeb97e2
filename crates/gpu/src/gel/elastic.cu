// The gel as an elastic body: gradients at the particles of a cell, their transpose, and stress.

// Quadratic B-splines of three nodes at -1/4 or 1/4 of a cell, and their slopes. A node behind a bonded face moves opposite to the one
// before it, so that the face between them is still: its weights are taken from the other's.
__device__ inline void side(int q, bool low, bool high, double per_edge, double w[3], double d[3]) {
    w[0] = q ? 0.03125 : 0.28125;
    w[1] = 0.6875;
    w[2] = q ? 0.28125 : 0.03125;
    d[0] = (q ? -0.25 : -0.75) * per_edge;
    d[1] = (q ? -0.5 : 0.5) * per_edge;
    d[2] = (q ? 0.75 : 0.25) * per_edge;
    if (low) {
        w[1] -= w[0], w[0] = 0.0;
        d[1] -= d[0], d[0] = 0.0;
    }
    if (high) {
        w[1] -= w[2], w[2] = 0.0;
        d[1] -= d[2], d[2] = 0.0;
    }
}

struct Cell {
    int at[3];
    int node;
};

__device__ inline Cell cell_of(const Task& t, int cell) {
    int i = min(cell, t.all_cells - 1);
    Cell c;
    c.at[0] = i % t.cells[0];
    c.at[1] = i / t.cells[0] % t.cells[1];
    c.at[2] = i / (t.cells[0] * t.cells[1]);
    c.node = (c.at[2] * t.nodes[1] + c.at[1]) * t.nodes[0] + c.at[0];
    return c;
}

// The weights of a cell along an axis; bonds are only minded where `bonds` has them.
__device__ inline void axis_side(const Task& t, const Cell& c, int axis, int q, int bonds, double w[3], double d[3]) {
    bool low = c.at[axis] == 0 && (axis == 2 ? bonds >> 4 & 1 : bonds >> 2 * axis & 1);
    bool high = axis < 2 && c.at[axis] == t.cells[axis] - 1 && (bonds >> (2 * axis + 1) & 1);
    side(q, low, high, t.per_edge[axis], w, d);
}

// The gradient at a particle of a vector on the nodes, and of a part of the step where that is asked for.
template <bool STEPPED>
__device__ inline void gradient(const Task& t, const Cell& cell, int particle, const double* v, double part, double g[9]) {
    double wx[3], dx[3], wy[3], dy[3], wz[3], dz[3];
    axis_side(t, cell, 0, particle & 1, t.bonds, wx, dx);
    axis_side(t, cell, 1, particle >> 1 & 1, t.bonds, wy, dy);
    axis_side(t, cell, 2, particle >> 2 & 1, t.bonds, wz, dz);
    for (int i = 0; i < 9; i++) g[i] = 0.0;
#pragma unroll
    for (int k = 0; k < 3; k++) {
        double sx[3] = {0, 0, 0}, sy[3] = {0, 0, 0}, sv[3] = {0, 0, 0};
#pragma unroll
        for (int j = 0; j < 3; j++) {
            int row = cell.node + (k * t.nodes[1] + j) * t.nodes[0];
#pragma unroll
            for (int c = 0; c < 3; c++) {
                double value = 0.0, slope = 0.0;
#pragma unroll
                for (int i = 0; i < 3; i++) {
                    int at = c * t.all_nodes + row + i;
                    double x = v[at];
                    if (STEPPED) x += part * t.step[at];
                    value += wx[i] * x;
                    slope += dx[i] * x;
                }
                sx[c] += wy[j] * slope;
                sy[c] += dy[j] * value;
                sv[c] += wy[j] * value;
            }
        }
#pragma unroll
        for (int c = 0; c < 3; c++) {
            g[3 * c] += wz[k] * sx[c];
            g[3 * c + 1] += wz[k] * sy[c];
            g[3 * c + 2] += dz[k] * sv[c];
        }
    }
}

// The transpose, for one component and one layer of nodes of a cell: what the stresses of its particles do there.
__device__ inline void spread(const Task& t, const Cell& cell, int lane, int c, int d, int bonds, const double* stress,
                              double out[9]) {
    double wx[2][3], dx[2][3], wy[2][3], dy[2][3], wz[2], dz[2];
#pragma unroll
    for (int q = 0; q < 2; q++) {
        double w[3], s[3];
        axis_side(t, cell, 0, q, bonds, wx[q], dx[q]);
        axis_side(t, cell, 1, q, bonds, wy[q], dy[q]);
        axis_side(t, cell, 2, q, bonds, w, s);
        wz[q] = d == 0 ? w[0] : d == 1 ? w[1] : w[2];
        dz[q] = d == 0 ? s[0] : d == 1 ? s[1] : s[2];
    }
    for (int i = 0; i < 9; i++) out[i] = 0.0;
#pragma unroll
    for (int q = 0; q < 2; q++) {
        double value[3] = {0, 0, 0}, slope[3] = {0, 0, 0};
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const double* low = stress + ((q + 2 * r) * 9 + 3 * c) * WIDE + lane;
            const double* high = low + 4 * 9 * WIDE;
            double along_x = wz[0] * low[0] + wz[1] * high[0];
            double along_y = wz[0] * low[WIDE] + wz[1] * high[WIDE];
            double flat = dz[0] * low[2 * WIDE] + dz[1] * high[2 * WIDE];
#pragma unroll
            for (int b = 0; b < 3; b++) {
                value[b] += flat * wy[r][b] + along_y * dy[r][b];
                slope[b] += along_x * wy[r][b];
            }
        }
#pragma unroll
        for (int b = 0; b < 3; b++)
#pragma unroll
            for (int a = 0; a < 3; a++) out[3 * b + a] += value[b] * wx[q][a] + slope[b] * dx[q][a];
    }
}

struct Answer {
    double energy, alpha, beta;
    double stress[9], inverse[9];
};

// det F and its inverse transposed.
__device__ inline double turned_inverse(const double f[9], double g[9]) {
#pragma unroll
    for (int i = 0; i < 3; i++) {
        int a = (i + 1) % 3, b = (i + 2) % 3;
#pragma unroll
        for (int j = 0; j < 3; j++) {
            int c = (j + 1) % 3, d = (j + 2) % 3;
            g[3 * i + j] = f[3 * a + c] * f[3 * b + d] - f[3 * a + d] * f[3 * b + c];
        }
    }
    double j = f[0] * g[0] + f[1] * g[1] + f[2] * g[2];
    double per = 1.0 / j;
#pragma unroll
    for (int i = 0; i < 9; i++) g[i] *= per;
    return j;
}

enum Constitution { NEO_HOOKEAN, FIXED_COROTATED, LINEAR };

__device__ inline void answer(const Task& t, const double h[9], Answer& out) {
    const double mu = t.mu, lambda = t.lambda;
    if (t.constitution == LINEAR) {
        double trace = h[0] + h[4] + h[8];
        out.energy = 0.5 * lambda * trace * trace;
#pragma unroll
        for (int i = 0; i < 9; i++) {
            int j = 3 * (i % 3) + i / 3;
            double strain = 0.5 * (h[i] + h[j]);
            out.energy += mu * strain * strain;
            out.stress[i] = 2.0 * mu * strain + (i % 4 == 0 ? lambda * trace : 0.0);
            out.inverse[i] = i % 4 == 0 ? 1.0 : 0.0;
        }
        out.alpha = lambda;
        out.beta = mu;
        return;
    }
    double f[9];
#pragma unroll
    for (int i = 0; i < 9; i++) f[i] = h[i] + (i % 4 == 0 ? 1.0 : 0.0);
    double j = turned_inverse(f, out.inverse);
    double bulk = 0.5 * lambda * (j - 1.0) * (j - 1.0);
    out.alpha = lambda * (2.0 * j - 1.0) * j;
    if (t.constitution == NEO_HOOKEAN) {
        double squared = 0.0;
#pragma unroll
        for (int i = 0; i < 9; i++) squared += f[i] * f[i];
        out.energy = j > 0.0 ? 0.5 * mu * (squared - 3.0) - mu * log(j) + bulk : 1e300;
        double pressure = lambda * (j - 1.0) * j - mu;
#pragma unroll
        for (int i = 0; i < 9; i++) out.stress[i] = mu * f[i] + pressure * out.inverse[i];
        out.beta = -pressure;
    } else {
        double r[9], g[9];
        for (int i = 0; i < 9; i++) r[i] = f[i];
        for (int k = 0; k < 8; k++) {
            turned_inverse(r, g);
            for (int i = 0; i < 9; i++) r[i] = 0.5 * (r[i] + g[i]);
        }
        double pressure = lambda * (j - 1.0) * j, apart = 0.0;
#pragma unroll
        for (int i = 0; i < 9; i++) {
            double difference = f[i] - r[i];
            apart += difference * difference;
            out.stress[i] = 2.0 * mu * difference + pressure * out.inverse[i];
        }
        out.energy = j > 0.0 ? mu * apart + bulk : 1e300;
        out.beta = mu - pressure;
    }
}

