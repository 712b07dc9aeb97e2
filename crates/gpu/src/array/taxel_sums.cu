// Forces of taxels that consist of several springs or lie under a cover that spreads forces: force = Σ weight × force of a site, in the
// order of the sites. A sparse matrix by rows: `starts` has taxels + 2 entries; the last row is the force outside all taxels. One thread
// per row of each press. site_forces: (n, sites, 3). normals: (3, taxels). Writes press or environment first + i of the views: forces
// (…, taxels, 3), values (…, taxels), outside (…, 3).
extern "C" __global__ void sum_over_taxels(const u32* __restrict__ starts, const u32* __restrict__ from,
                                           const Scalar* __restrict__ weights, u32 taxels, u32 sites, u32 first, u32 n,
                                           const Scalar* __restrict__ site_forces, const Scalar* __restrict__ normals, View forces,
                                           View values, View outside) {
    u64 index = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    u32 rows = taxels + 1;
    if (index >= (u64)n * rows) return;
    u32 i = (u32)(index / rows), row = (u32)(index % rows);
    const Scalar* all = site_forces + 3 * (u64)i * sites;
    Vec3 sum = vec3(0.0, 0.0, 0.0);
    for (u32 k = starts[row]; k < starts[row + 1]; k++) sum = sum + vec3(all + 3 * (u64)from[k]) * weights[k];
    if (row == taxels) {
        set_row_vector(outside, first + i, 0, sum);
        return;
    }
    set_vector(forces, first + i, row, sum);
    set_number(values, first + i, row, 0, 0.0f - dot(sum, vector_at(normals, taxels, row)));
}
