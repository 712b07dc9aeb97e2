// Sums over a press. A press is solved by `blocks` consecutive blocks; a launch solves several presses. Every sum is stored in parts that do
// not depend on the number of blocks, and every block adds the parts in the same order: runs are bitwise repeatable, and a press has the
// same bytes alone and beside others.

#define THREADS 288
#define WARPS 9

// Rows of parts. Evaluations alternate between two sets, so that no row is written while it is read. The host allocates REDUCE_SLOTS.
#define REDUCE_CONJUGATE 0
#define REDUCE_SLOPE 2
#define REDUCE_CONTACT 3
#define REDUCE_EVALUATION 6
static_assert(REDUCE_EVALUATION + 6 == REDUCE_SLOTS, "rows of parts");

// Number of this block among those of its press.
__device__ inline int block_of(const EquilibriumTask& t) { return (int)blockIdx.x - t.first_block; }

// Waits for all blocks of the press.
__device__ inline void press_sync(const EquilibriumTask& t) { grid_sync(t.barrier, t.blocks); }

// Nodal components in chunks of one per thread.
#define FOR_CHUNKS(t, chunk) for (int chunk = block_of(t); chunk < (t).chunks; chunk += (t).blocks)

// Sums over the threads of a block, returned in all threads: by shuffles within a warp, then over warps.
template <int N>
__device__ inline void block_sums(double (&values)[N]) {
    __shared__ double parts[N][WARPS];
    for (int n = 0; n < N; n++)
        for (int d = 16; d > 0; d /= 2) values[n] += __shfl_xor_sync(ALL_LANES, values[n], d);
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        for (int n = 0; n < N; n++) parts[n][threadIdx.x / 32] = values[n];
    __syncthreads();
    for (int n = 0; n < N; n++) {
        values[n] = 0.0;
        for (int i = 0; i < WARPS; i++) values[n] += parts[n][i];
    }
}

// Stores the sums over a block as a part of rows slot, slot + 1, ...
template <int N>
__device__ void store_part(const EquilibriumTask& t, int slot, int part, double (&values)[N]) {
    block_sums(values);
    if (threadIdx.x == 0)
        for (int n = 0; n < N; n++) t.sums[(slot + n) * t.parts + part] = values[n];
}

// Sums of the first `count` parts of rows slot, slot + 1, ..., after a press_sync.
template <int N>
__device__ void add_parts(const EquilibriumTask& t, int slot, int count, double (&values)[N]) {
    for (int n = 0; n < N; n++) values[n] = 0.0;
    for (int i = threadIdx.x; i < count; i += THREADS)
        for (int n = 0; n < N; n++) values[n] += t.sums[(slot + n) * t.parts + i];
    block_sums(values);
}
