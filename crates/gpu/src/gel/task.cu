// Where a gel comes to rest under things that press on it, from the first load to the last in one launch: Newton's method on its
// energy with conjugate gradients, contact as an augmented Lagrangian. All blocks go through the same phases; between two of
// them they wait for each other. Nothing is added in an order that chance decides.

#define THREADS 288
#define WARPS 9
#define WIDE 32

#define MAX_NEWTON 15
#define MAX_UPDATES 8
#define MAX_CONJUGATE 600

struct Near {
    double distance;
    V normal, at;
    double press;
    V rub, slip;
    double plane, slipping;
    long long object;
};

struct Hold {
    double pressure;
    V anchor;
    long long object;
};

struct Plane {
    V foot, normal;
    long long object;
};

// What came of it.
struct Outcome {
    double residual, energy, strain;
    long long newton, conjugate, updates, failed;
};

struct Task {
    // The grid: cells, nodes (two more along each axis) and cells rounded up to whole warps.
    int cells[3], nodes[3];
    int all_cells, padded, all_nodes, batches;
    // Bits: low x, high x, low y, high y, bottom.
    int bonds, constitution;
    int spots, surface_cells, objects, loads;
    double per_edge[3];
    double lambda, mu, volume;
    double normal, tangential, friction, reach;
    double rough_residual, rough_gap, fine_residual, fine_gap;
    const float* fill;
    const double* diagonal;
    // Spots, in the order of their cells: points of the surface, and springs that hold (whose stiffness is not zero).
    const int* spot_first;
    const int* spot_node;
    const double* spot_weight;
    const double* spot_rest;
    const double* spot_area;
    const double* spot_holding;
    const int* surface;
    const Shape* shapes;
    const Place* places;
    double *u, *residual, *inverse, *r, *p, *s, *z, *w, *step;
    double *inner, *contact, *spot_force;
    float *tangent, *spot_stiffness;
    double* sums;
    Near* near;
    Hold* holds;
    Plane* planes;
    Outcome* outcome;
    u32* gate;
};

// Waits until every block is here.
__device__ void everyone(const Task& t) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        u32 ticket = atomicAdd(t.gate, 1u);
        u32 due = (ticket / gridDim.x + 1u) * gridDim.x;
        while (*(volatile u32*)t.gate < due) {
        }
        __threadfence();
    }
    __syncthreads();
}

__device__ double block_sum(double value) {
    __shared__ double parts[WARPS];
    for (int d = 16; d > 0; d /= 2) value += __shfl_xor_sync(0xffffffffu, value, d);
    __syncthreads();
    if (threadIdx.x % WIDE == 0) parts[threadIdx.x / WIDE] = value;
    __syncthreads();
    double sum = 0.0;
    for (int i = 0; i < WARPS; i++) sum += parts[i];
    return sum;
}

// A block's part of a sum; the sum, once everyone is through.
__device__ void give(const Task& t, int which, double value) {
    double sum = block_sum(value);
    if (threadIdx.x == 0) t.sums[which * gridDim.x + blockIdx.x] = sum;
}
__device__ double taken(const Task& t, int which) {
    double sum = 0.0;
    for (int i = threadIdx.x; i < (int)gridDim.x; i += THREADS) sum += t.sums[which * gridDim.x + i];
    return block_sum(sum);
}

