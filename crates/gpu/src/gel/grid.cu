// Synchronisation of blocks of a cooperative launch.

// Waits until all `blocks` blocks that share `barrier` have arrived. `barrier` counts arrivals; it is zero before the launch.
// Called by all threads of these blocks. All of them must be resident at once.
__device__ void grid_sync(u32* barrier, u32 blocks) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        u32 ticket = atomicAdd(barrier, 1u);
        u32 due = (ticket / blocks + 1u) * blocks;
        while (*(volatile u32*)barrier < due) {
        }
        __threadfence();
    }
    __syncthreads();
}
