// Draws the parameters of the environments where the mask is not zero, and counts their resets: `Randomisation::draw`. One thread per
// environment. mask: (n); null for all. parameters: (n, PARAMETERS). resets: (n).
extern "C" __global__ void redraw(View mask, Randomisation r, double* parameters, u64* resets, u32 n) {
    u32 i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n || (mask.address && number_at(mask, i, 0, 0) == 0.0)) return;
    u64 base = mixed(mixed(r.seed ^ mixed((u64)i)) ^ mixed(resets[i]++));
    for (u32 k = 0; k < PARAMETERS; k++) {
        double low = r.ranges[k][0], high = r.ranges[k][1];
        parameters[(u64)i * PARAMETERS + k] = low + (high - low) * ((double)(mixed(base ^ (u64)k) >> 11) / 9007199254740992.0);
    }
}
