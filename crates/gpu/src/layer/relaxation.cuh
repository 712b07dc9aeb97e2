// Relaxation of a layer; relaxation.rs has the equations. `numbers` is three times the cells of a press.

// `past` (m) of the k-th number of a press during a step; zero for an elastic layer.
__device__ __forceinline__ double past_at(const Branches& branches, long long press, int numbers, int k) {
    double sum = 0.0;
    for (int i = 0; i < branches.count; i++) sum += branches.held[(press * branches.count + i) * numbers + k];
    return branches.softness * sum;
}
