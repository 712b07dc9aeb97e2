// Discrete Fourier transforms of the lines of a square plane by one block of threads, in place. The forward transform leaves a spectrum in
// digit-reversed order and the inverse transform expects that order: products of spectra need no reordering.

// The precision of transforms: float or double.
typedef REAL Real;

struct __align__(2 * sizeof(REAL)) Complex {
    Real x, y;
};

__device__ __forceinline__ Complex operator+(Complex a, Complex b) { return {a.x + b.x, a.y + b.y}; }
__device__ __forceinline__ Complex operator-(Complex a, Complex b) { return {a.x - b.x, a.y - b.y}; }
__device__ __forceinline__ Complex operator*(Complex a, Complex b) {
    return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}
__device__ __forceinline__ Complex operator*(Real a, Complex b) { return {a * b.x, a * b.y}; }
__device__ __forceinline__ Complex conj(Complex a) { return {a.x, -a.y}; }
// i a
__device__ __forceinline__ Complex times_i(Complex a) { return {-a.y, a.x}; }

// Integer division by a fixed divisor: a product with its float reciprocal, corrected by at most one.
struct Divisor {
    int by;
    float inverse;

    Divisor() = default;
    __device__ __forceinline__ explicit Divisor(int by) : by(by), inverse(1.0f / by) {}

    // Returns the quotient and writes the remainder.
    __device__ __forceinline__ int operator()(int of, int& rest) const {
        int quotient = (int)((float)of * inverse);
        rest = of - quotient * by;
        if (rest < 0) {
            quotient--;
            rest += by;
        } else if (rest >= by) {
            quotient++;
            rest -= by;
        }
        return quotient;
    }
};

// exp(2πi j/R) for the j that radix R = 6, 8, 9, 12 or 16 uses.
template <int R> __device__ __forceinline__ Complex root(int j) {
    constexpr double of9[5][2] = {{1.0, 0.0}, {0.766044443118978, 0.6427876096865393}, {0.17364817766693036, 0.984807753012208},
                                  {-0.5, 0.8660254037844386}, {-0.9396926207859083, 0.3420201433256689}};
    constexpr double of12[7][2] = {{1.0, 0.0}, {0.8660254037844386, 0.5}, {0.5, 0.8660254037844386}, {0.0, 1.0},
                                   {-0.5, 0.8660254037844386}, {-0.8660254037844386, 0.5}, {-1.0, 0.0}};
    constexpr double of16[10][2] = {{1.0, 0.0}, {0.9238795325112867, 0.3826834323650898}, {0.7071067811865476, 0.7071067811865476},
                                    {0.3826834323650898, 0.9238795325112867}, {0.0, 1.0}, {-0.3826834323650898, 0.9238795325112867},
                                    {-0.7071067811865476, 0.7071067811865476}, {-0.9238795325112867, 0.3826834323650898}, {-1.0, 0.0},
                                    {-0.9238795325112867, -0.3826834323650898}};
    if constexpr (R == 9) return {(Real)of9[j][0], (Real)of9[j][1]};
    else if constexpr (12 % R == 0) return {(Real)of12[12 / R * j][0], (Real)of12[12 / R * j][1]};
    else return {(Real)of16[16 / R * j][0], (Real)of16[16 / R * j][1]};
}

// X[k] = Σₙ x[n] exp(S 2πi nk/R) for R = 2, 3 or 4 elements with a stride of STEP, in place, by one thread.
template <int R, int S, int STEP> __device__ __forceinline__ void butterfly(Complex* v) {
    if constexpr (R == 2) {
        Complex a = v[0], b = v[STEP];
        v[0] = a + b;
        v[STEP] = a - b;
    } else if constexpr (R == 3) {
        Complex a = v[0], sum = v[STEP] + v[2 * STEP], difference = v[STEP] - v[2 * STEP];
        Complex middle = a - (Real)0.5 * sum, side = (Real)(S * 0.8660254037844386) * times_i(difference);
        v[0] = a + sum;
        v[STEP] = middle + side;
        v[2 * STEP] = middle - side;
    } else {
        Complex a = v[0] + v[2 * STEP], b = v[0] - v[2 * STEP], c = v[STEP] + v[3 * STEP],
                d = (Real)S * times_i(v[STEP] - v[3 * STEP]);
        v[0] = a + c;
        v[STEP] = b + d;
        v[2 * STEP] = a - c;
        v[3 * STEP] = b - d;
    }
}

// The same for A·B adjacent elements: B transforms of length A, then A of length B. Stores X[k1 + A k2] at v[B k1 + k2].
template <int A, int B, int S> __device__ __forceinline__ void composite_butterfly(Complex* v) {
#pragma unroll
    for (int n = 0; n < B; n++) {
        butterfly<A, S, B>(v + n);
#pragma unroll
        for (int k = 1; k < A; k++) {
            if (n > 0) {
                Complex w = root<A * B>(n * k);
                if (S < 0) w.y = -w.y;
                v[n + B * k] = v[n + B * k] * w;
            }
        }
    }
#pragma unroll
    for (int k = 0; k < A; k++) butterfly<B, S, 1>(v + B * k);
}

// One stage of radix R = A·B over `lines` lines: butterflies of elements with a stride of m = length/R within each segment of `length`
// elements. S = −1 multiplies by the roots of unity after the butterfly, S = +1 before it. Elements outside [from, to) are treated as zero.
// One butterfly per thread; with `lines_first`, neighbouring threads process neighbouring lines, otherwise neighbouring elements of a line.
template <int R, int A, int B, int S>
__device__ __forceinline__ void fft_stage(Complex* a, const Complex* roots, int size, int length, int lines, int line_step, int step,
                                      int from, int to, bool lines_first) {
    const int m = length / R, per_line = size / R, total = lines * per_line, angle_step = size / length;
    const Divisor by_first(lines_first ? lines : per_line), by_m(m);
    const int hop = m * step;
    const bool whole = from <= 0 && to >= size;
    for (int i = threadIdx.x; i < total; i += blockDim.x) {
        int line, b, q;
        if (lines_first) b = by_first(i, line);
        else line = by_first(i, b);
        const int base = by_m(b, q) * length + q;
        Complex* at = a + (line * line_step + base * step);
        const int angle = q * angle_step;
        Complex v[R];
        if (whole) {
#pragma unroll
            for (int j = 0; j < R; j++) v[j] = at[j * hop];
        } else {
#pragma unroll
            for (int j = 0; j < R; j++) v[j] = base + j * m >= from && base + j * m < to ? at[j * hop] : Complex{0, 0};
        }
        if (S > 0 && q > 0) {
#pragma unroll
            for (int j = 1; j < R; j++) v[j] = v[j] * roots[j * angle];
        }
        if constexpr (B == 1) butterfly<A, S, 1>(v);
        else composite_butterfly<A, B, S>(v);
#pragma unroll
        for (int j = 0; j < R; j++) {
            // The butterfly stores the j-th coefficient here.
            Complex out = v[B * (j % A) + j / A];
            if (S < 0 && q > 0 && j > 0) out = out * conj(roots[j * angle]);
            at[j * hop] = out;
        }
    }
}

// One stage of the transform with a radix chosen at run time.
template <int S>
__device__ __forceinline__ void fft_pass(Complex* a, const Complex* roots, int size, int radix, int length, int lines, int line_step,
                                     int step, int from, int to, bool lines_first) {
    switch (radix) {
    case 2: fft_stage<2, 2, 1, S>(a, roots, size, length, lines, line_step, step, from, to, lines_first); break;
    case 3: fft_stage<3, 3, 1, S>(a, roots, size, length, lines, line_step, step, from, to, lines_first); break;
    case 4: fft_stage<4, 4, 1, S>(a, roots, size, length, lines, line_step, step, from, to, lines_first); break;
    case 6: fft_stage<6, 2, 3, S>(a, roots, size, length, lines, line_step, step, from, to, lines_first); break;
    case 8: fft_stage<8, 2, 4, S>(a, roots, size, length, lines, line_step, step, from, to, lines_first); break;
    case 9: fft_stage<9, 3, 3, S>(a, roots, size, length, lines, line_step, step, from, to, lines_first); break;
    case 12: fft_stage<12, 3, 4, S>(a, roots, size, length, lines, line_step, step, from, to, lines_first); break;
    default: fft_stage<16, 4, 4, S>(a, roots, size, length, lines, line_step, step, from, to, lines_first); break;
    }
    __syncthreads();
}

// Forward transform of lines with stride `line_step` and element stride `step`; zero outside [from, to). `roots` are exp(2πi j/size).
__device__ __noinline__ void fft_forward(Complex* a, const Complex* roots, const FftPlan* plan, int lines, int line_step, int step,
                                      int from, int to, bool lines_first) {
    int length = plan->size;
    for (int s = 0; s < plan->stages; s++) {
        fft_pass<-1>(a, roots, plan->size, plan->radix[s], length, lines, line_step, step, from, to, lines_first);
        length /= plan->radix[s];
        from = 0;
        to = plan->size;
    }
}

// Inverse transform, scaled by the size.
__device__ __noinline__ void fft_inverse(Complex* a, const Complex* roots, const FftPlan* plan, int lines, int line_step, int step,
                                       bool lines_first) {
    int length = 1;
    for (int s = plan->stages - 1; s >= 0; s--) {
        length *= plan->radix[s];
        fft_pass<1>(a, roots, plan->size, plan->radix[s], length, lines, line_step, step, 0, plan->size, lines_first);
    }
}

// A square plane of complex numbers with a row stride of `pitch`, in shared or global memory. Transforms of a global plane go through
// `tile` in shared memory, `tile_lines` lines at a time, or run in global memory without a tile.
struct Plane {
    Complex* data;
    int pitch;
    bool in_shared;
    Complex* tile;
    int tile_lines;
};

// Copies elements [from, to) of rows (`along_rows`) or columns of a global plane to the tile, or back. Neighbouring threads access
// neighbouring global addresses.
__device__ __forceinline__ void copy_tile(const Plane& plane, Complex* at, bool along_rows, int lines, int from, int to, int size, bool to_plane) {
    const Divisor by(along_rows ? to - from : lines);
    const int total = lines * (to - from);
    for (int i = threadIdx.x; i < total; i += blockDim.x) {
        int line, place;
        if (along_rows) line = by(i, place);
        else place = by(i, line);
        place += from;
        Complex* global = along_rows ? at + (long long)line * plane.pitch + place : at + (long long)place * plane.pitch + line;
        Complex* shared = along_rows ? plane.tile + line * (size + 1) + place : plane.tile + place * plane.tile_lines + line;
        if (to_plane) *global = *shared;
        else *shared = *global;
    }
    __syncthreads();
}

// Transforms the rows (`along_rows`) or columns of a plane; elements outside [from, to) are zero.
__device__ __forceinline__ void fft_lines(const Plane& plane, Complex* at, const Complex* roots, const FftPlan* plan, bool along_rows, int lines, int from, int to,
                                       bool inverse) {
    const int size = plan->size;
    if (plane.in_shared || !plane.tile) {
        const int line_step = along_rows ? plane.pitch : 1, step = along_rows ? 1 : plane.pitch;
        if (inverse) fft_inverse(at, roots, plan, lines, line_step, step, plane.in_shared || !along_rows);
        else fft_forward(at, roots, plan, lines, line_step, step, from, to, plane.in_shared || !along_rows);
        return;
    }
    for (int first = 0; first < lines; first += plane.tile_lines) {
        const int some = min(plane.tile_lines, lines - first), line_step = along_rows ? size + 1 : 1, step = along_rows ? 1 : plane.tile_lines;
        Complex* here = along_rows ? at + (long long)first * plane.pitch : at + first;
        copy_tile(plane, here, along_rows, some, from, to, size, false);
        if (inverse) fft_inverse(plane.tile, roots, plan, some, line_step, step, true);
        else fft_forward(plane.tile, roots, plan, some, line_step, step, from, to, true);
        copy_tile(plane, here, along_rows, some, 0, size, size, true);
    }
}

// 2-D spectrum of a field that is zero outside `rows` rows starting at `row` and `cols` columns starting at `col`; memory outside need not
// be zero.
__device__ __forceinline__ void fft_2d(const Plane& plane, const Complex* roots, const FftPlan* plan, int row, int rows, int col, int cols) {
    __syncthreads();
    fft_lines(plane, plane.data + (long long)row * plane.pitch, roots, plan, true, rows, col, col + cols, false);
    fft_lines(plane, plane.data, roots, plan, false, plan->size, row, row + rows, false);
}

// The first `rows` rows of the field of a 2-D spectrum, scaled by size².
__device__ __forceinline__ void ifft_2d(const Plane& plane, const Complex* roots, const FftPlan* plan, int rows) {
    __syncthreads();
    fft_lines(plane, plane.data, roots, plan, false, plan->size, 0, plan->size, true);
    fft_lines(plane, plane.data, roots, plan, true, rows, 0, plan->size, true);
}

// roots[j] = exp(2πi j/size), one per thread.
__device__ __forceinline__ void fill_roots(Complex* roots, int size) {
    for (int i = threadIdx.x; i < size; i += blockDim.x) {
        double s, c;
        sincospi(2.0 * i / size, &s, &c);
        roots[i] = {(Real)c, (Real)s};
    }
}
