// Spectra of the influence functions between cells.

// Spectrum of an influence: the response of the cell `row`, `col` away, given for row and col ≥ 0 and extended as even or odd (`odd`: bit 0
// in x, bit 1 in y) on a grid of plan.size². An influence that is odd in one direction has an imaginary spectrum; the nonzero part is
// stored times `scale`, in float (`single`) or double. `compliance` gets the first spectrum in double. One block per influence, one cell
// per thread; `planes` holds plan.size² numbers per block.
extern "C" __global__ void __launch_bounds__(THREADS) influence_spectra(const double* influences, const int* odd, int rows, int cols, FftPlan plan,
                                                                    Complex* planes, void* spectra, int single, double* compliance,
                                                                    double scale) {
    extern __shared__ Complex shared[];
    const int size = plan.size, which = blockIdx.x;
    const double* influence = influences + (long long)which * rows * cols;
    const bool odd_x = odd[which] & 1, odd_y = odd[which] & 2;
    Plane plane = {planes + (long long)which * size * size, size, false, nullptr, 0};
    fill_roots(shared, size);
    for (int i = threadIdx.x; i < size * size; i += blockDim.x) {
        const int row = i / size, col = i % size;
        const bool flip_y = 2 * row > size, flip_x = 2 * col > size;
        const int dy = flip_y ? size - row : row, dx = flip_x ? size - col : col;
        const bool at_half = (odd_x && 2 * dx == size) || (odd_y && 2 * dy == size);
        double value = 0.0;
        if (dy < rows && dx < cols && !at_half) {
            // Rows run towards −y.
            value = influence[dy * cols + dx];
            if ((odd_x && flip_x) != (odd_y && !flip_y)) value = -value;
        }
        plane.data[i] = {value, 0.0};
    }
    fft_2d(plane, shared, &plan, 0, size, 0, size);
    const bool imaginary = odd_x != odd_y;
    for (int i = threadIdx.x; i < size * size; i += blockDim.x) {
        const double value = scale * (imaginary ? plane.data[i].y : plane.data[i].x);
        const long long place = (long long)which * size * size + i;
        if (single) ((float*)spectra)[place] = (float)value;
        else ((double*)spectra)[place] = value;
        if (which == 0) compliance[i] = value;
    }
}
