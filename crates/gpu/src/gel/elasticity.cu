// Elasticity on the reference grid: displacement gradients at the particles of a cell, their transpose, and the material law. Cells are
// numbered by tiles of 4 x 4 x 2 cells, along x first; a warp works on the 32 cells of a tile, one per lane.

#define TILE_CELLS 32
#define TILE_X 4
#define TILE_Y 4
#define TILE_Z 2

// Quadratic B-splines of the three nodes of a cell at -1/4 (q = 0) or 1/4 (q = 1) of the cell, and their slopes in units of 1/cell.
__device__ constexpr float SPLINE[2][3] = {{0.28125f, 0.6875f, 0.03125f}, {0.03125f, 0.6875f, 0.28125f}};
__device__ constexpr float SLOPE[2][3] = {{-0.75f, 0.5f, 0.25f}, {-0.25f, -0.5f, 0.75f}};

// Splines w and slopes d (1/m) of a cell. A ghost node outside a fixed face moves opposite to its mirror node inside, so its weight is
// subtracted from that of the mirror node.
__device__ inline void spline_weights(int q, bool low, bool high, double per_edge, double w[3], double d[3]) {
#pragma unroll
    for (int i = 0; i < 3; i++) {
        w[i] = q ? SPLINE[1][i] : SPLINE[0][i];
        d[i] = (q ? SLOPE[1][i] : SLOPE[0][i]) * per_edge;
    }
    if (low) {
        w[1] -= w[0], w[0] = 0.0;
        d[1] -= d[0], d[0] = 0.0;
    }
    if (high) {
        w[1] -= w[2], w[2] = 0.0;
        d[1] -= d[2], d[2] = 0.0;
    }
}

// Coordinates of a cell, and its first node.
struct Cell {
    int at[3];
    int node;
};

// Coordinates of a tile.
__device__ inline void tile_of(const EquilibriumTask& t, int tile, int at[3]) {
    at[0] = tile % t.tiles[0];
    at[1] = tile / t.tiles[0] % t.tiles[1];
    at[2] = tile / (t.tiles[0] * t.tiles[1]);
}

// The cell of a number. Cells of a tile outside the grid repeat the last cell along an axis; their fill is 0.
__device__ inline Cell cell_of(const EquilibriumTask& t, int number) {
    int tile[3], in = number % TILE_CELLS;
    tile_of(t, number / TILE_CELLS, tile);
    Cell c;
    c.at[0] = min(tile[0] * TILE_X + in % TILE_X, t.cells[0] - 1);
    c.at[1] = min(tile[1] * TILE_Y + in / TILE_X % TILE_Y, t.cells[1] - 1);
    c.at[2] = min(tile[2] * TILE_Z + in / (TILE_X * TILE_Y), t.cells[2] - 1);
    c.node = (c.at[2] * t.nodes[1] + c.at[1]) * t.nodes[0] + c.at[0];
    return c;
}

// The number of a cell.
__device__ inline int cell_number(const EquilibriumTask& t, int x, int y, int z) {
    int tile = (z / TILE_Z * t.tiles[1] + y / TILE_Y) * t.tiles[0] + x / TILE_X;
    return tile * TILE_CELLS + (z % TILE_Z * TILE_Y + y % TILE_Y) * TILE_X + x % TILE_X;
}

// Coordinates of a node.
struct NodeIndex {
    int x, y, z;
};
__device__ inline NodeIndex node_index(const EquilibriumTask& t, int node) {
    return {node % t.nodes[0], node / t.nodes[0] % t.nodes[1], node / (t.nodes[0] * t.nodes[1])};
}
// The cell that has this node as node (i, j, k) of its 3 x 3 x 3 nodes, or -1.
__device__ inline int cell_at(const EquilibriumTask& t, NodeIndex n, int i, int j, int k) {
    int cx = n.x - i, cy = n.y - j, cz = n.z - k;
    if (cx < 0 || cy < 0 || cz < 0 || cx >= t.cells[0] || cy >= t.cells[1] || cz >= t.cells[2]) return -1;
    return cell_number(t, cx, cy, cz);
}

// Weights of a cell along an axis, with ghost nodes folded at the faces in `faces` (bits: low x, high x, low y, high y, bottom).
__device__ inline void axis_weights(const EquilibriumTask& t, const Cell& c, int axis, int q, int faces, double w[3], double d[3]) {
    bool low = c.at[axis] == 0 && (axis == 2 ? faces >> 4 & 1 : faces >> 2 * axis & 1);
    bool high = axis < 2 && c.at[axis] == t.cells[axis] - 1 && (faces >> (2 * axis + 1) & 1);
    spline_weights(q, low, high, t.per_edge[axis], w, d);
}

// Gradient g (by rows) at a particle (0 to 7) of u = displacement + scale * step: g = sum over nodes of u_i (x) grad N_i.
__device__ inline void displacement_gradient(const EquilibriumTask& t, const Cell& cell, int particle, double scale, double g[9]) {
    double wx[3], dx[3], wy[3], dy[3], wz[3], dz[3];
    axis_weights(t, cell, 0, particle & 1, t.fixed_faces, wx, dx);
    axis_weights(t, cell, 1, particle >> 1 & 1, t.fixed_faces, wy, dy);
    axis_weights(t, cell, 2, particle >> 2 & 1, t.fixed_faces, wz, dz);
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
                    double x = t.displacement[at] + scale * t.step[at];
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

// Nodal forces of a cell: sum over its particles of V P grad N_i, the transpose of displacement_gradient, for component c and z-layer d of
// its 3 x 3 x 3 nodes. `stress` (shared) holds V P of the tile by particle, entry, lane. Called by nine warps, one per (c, d).
__device__ inline void cell_forces(const EquilibriumTask& t, const Cell& cell, int lane, int c, int d, int faces, const double* stress,
                                   double out[9]) {
    double wx[2][3], dx[2][3], wy[2][3], dy[2][3], wz[2], dz[2];
#pragma unroll
    for (int q = 0; q < 2; q++) {
        double w[3], s[3];
        axis_weights(t, cell, 0, q, faces, wx[q], dx[q]);
        axis_weights(t, cell, 1, q, faces, wy[q], dy[q]);
        axis_weights(t, cell, 2, q, faces, w, s);
        wz[q] = d == 0 ? w[0] : d == 1 ? w[1] : w[2];
        dz[q] = d == 0 ? s[0] : d == 1 ? s[1] : s[2];
    }
    for (int i = 0; i < 9; i++) out[i] = 0.0;
#pragma unroll
    for (int q = 0; q < 2; q++) {
        double value[3] = {0, 0, 0}, slope[3] = {0, 0, 0};
#pragma unroll
        for (int r = 0; r < 2; r++) {
            const double* low = stress + ((q + 2 * r) * 9 + 3 * c) * TILE_CELLS + lane;
            const double* high = low + 4 * 9 * TILE_CELLS;
            double along_x = wz[0] * low[0] + wz[1] * high[0];
            double along_y = wz[0] * low[TILE_CELLS] + wz[1] * high[TILE_CELLS];
            double flat = dz[0] * low[2 * TILE_CELLS] + dz[1] * high[2 * TILE_CELLS];
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

// Energy density, first Piola-Kirchhoff stress P, F^-T and the factors of the tangent
// dP = mu dF + alpha (F^-T : dF) F^-T + beta F^-T dF^T F^-T.
struct MaterialResponse {
    double energy, alpha, beta;
    double stress[9], inverse[9];
};

// det F, and g = F^-T.
__device__ inline double inverse_transposed(const double f[9], double g[9]) {
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

// Material laws, numbered as the host's Constitution.
enum Constitution { NEO_HOOKEAN, FIXED_COROTATED, LINEAR };

// Response to a displacement gradient h (by rows), F = I + h, J = det F:
// neo-Hookean psi = mu/2 (tr F^T F - 3) - mu ln J + lambda/2 (J - 1)^2; fixed corotated psi = mu |F - R|^2 + lambda/2 (J - 1)^2;
// linear psi = mu |e|^2 + lambda/2 (tr e)^2. The energy is 1e300 where J <= 0. One thread per particle.
__device__ inline void material_response(const EquilibriumTask& t, const double h[9], MaterialResponse& out) {
    const double mu = t.coefficients.mu_pa, lambda = t.coefficients.lambda_pa;
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
    double j = inverse_transposed(f, out.inverse);
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
            inverse_transposed(r, g);
            for (int i = 0; i < 9; i++) r[i] = 0.5 * (r[i] + g[i]);
        }
        double pressure = lambda * (j - 1.0) * j, deviation = 0.0;
#pragma unroll
        for (int i = 0; i < 9; i++) {
            double difference = f[i] - r[i];
            deviation += difference * difference;
            out.stress[i] = 2.0 * mu * difference + pressure * out.inverse[i];
        }
        out.energy = j > 0.0 ? mu * deviation + bulk : 1e300;
        out.beta = mu - pressure;
    }
}

