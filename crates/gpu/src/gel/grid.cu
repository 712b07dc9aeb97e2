// Synchronisation of all blocks of a cooperative launch.

// Waits until every block of the grid has arrived. `barrier` counts arrivals; it is zero before the launch.
// Called by all threads of all blocks. All blocks must be resident at once.
__device__ void grid_sync(u32* barrier) {
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        u32 ticket = atomicAdd(barrier, 1u);
        u32 due = (ticket / gridDim.x + 1u) * gridDim.x;
        while (*(volatile u32*)barrier < due) {
        }
        __threadfence();
    }
    __syncthreads();
}
