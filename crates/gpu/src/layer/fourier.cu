// Transforms of the lines of a plane by one block, in place. Forwards a spectrum comes out in a fixed order of its own (digits
// reversed), backwards it is taken in that order: products of spectra need no other.

// What transforms are made with: float or double.
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
__device__ __forceinline__ Complex turned(Complex a) { return {-a.y, a.x}; }

// Division by one number, again and again: by its inverse, and put right.
struct Divisor {
    int by;
    float inverse;

    __device__ __forceinline__ explicit Divisor(int by) : by(by), inverse(1.0f / by) {}

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

// A length as a product of small ones.
struct Plan {
    int size;
    int stages;
    int radix[6];
};

// exp(2πi j/R), for the few j that are asked for.
template <int R> __device__ __forceinline__ Complex root(int j) {
    constexpr double of6[3][2] = {{1.0, 0.0}, {0.5, 0.8660254037844386}, {-0.5, 0.8660254037844386}};
    constexpr double of8[4][2] = {
        {1.0, 0.0}, {0.7071067811865476, 0.7071067811865476}, {0.0, 1.0}, {-0.7071067811865476, 0.7071067811865476}};
    constexpr double of9[5][2] = {{1.0, 0.0},
                                  {0.766044443118978, 0.6427876096865393},
                                  {0.17364817766693036, 0.984807753012208},
                                  {-0.5, 0.8660254037844386},
                                  {-0.9396926207859083, 0.3420201433256689}};
    constexpr double of12[7][2] = {{1.0, 0.0},
                                   {0.8660254037844386, 0.5},
                                   {0.5, 0.8660254037844386},
                                   {0.0, 1.0},
                                   {-0.5, 0.8660254037844386},
                                   {-0.8660254037844386, 0.5},
                                   {-1.0, 0.0}};
    constexpr double of16[10][2] = {{1.0, 0.0},
                                    {0.9238795325112867, 0.3826834323650898},
                                    {0.7071067811865476, 0.7071067811865476},
                                    {0.3826834323650898, 0.9238795325112867},
                                    {0.0, 1.0},
                                    {-0.3826834323650898, 0.9238795325112867},
                                    {-0.7071067811865476, 0.7071067811865476},
                                    {-0.9238795325112867, 0.3826834323650898},
                                    {-1.0, 0.0},
                                    {-0.9238795325112867, -0.3826834323650898}};
    if constexpr (R == 6) return {(Real)of6[j][0], (Real)of6[j][1]};
    else if constexpr (R == 8) return {(Real)of8[j][0], (Real)of8[j][1]};
    else if constexpr (R == 9) return {(Real)of9[j][0], (Real)of9[j][1]};
    else if constexpr (R == 12) return {(Real)of12[j][0], (Real)of12[j][1]};
    else return {(Real)of16[j][0], (Real)of16[j][1]};
}

// X[k] = Σ x[n] exp(S 2πi nk/R), of elements `step` apart.
template <int R, int S, int STEP> __device__ __forceinline__ void simple(Complex* v) {
    if constexpr (R == 2) {
        Complex a = v[0], b = v[STEP];
        v[0] = a + b;
        v[STEP] = a - b;
    } else if constexpr (R == 3) {
        Complex a = v[0], sum = v[STEP] + v[2 * STEP], difference = v[STEP] - v[2 * STEP];
        Complex middle = a - (Real)0.5 * sum, side = (Real)(S * 0.8660254037844386) * turned(difference);
        v[0] = a + sum;
        v[STEP] = middle + side;
        v[2 * STEP] = middle - side;
    } else {
        Complex a = v[0] + v[2 * STEP], b = v[0] - v[2 * STEP], c = v[STEP] + v[3 * STEP],
                d = (Real)S * turned(v[STEP] - v[3 * STEP]);
        v[0] = a + c;
        v[STEP] = b + d;
        v[2 * STEP] = a - c;
        v[3 * STEP] = b - d;
    }
}

// The same for A times B elements: B transforms of A, then A of B. X[k1 + A k2] comes out at v[B k1 + k2].
template <int A, int B, int S> __device__ __forceinline__ void composite(Complex* v) {
#pragma unroll
    for (int n = 0; n < B; n++) {
        simple<A, S, B>(v + n);
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
    for (int k = 0; k < A; k++) simple<B, S, 1>(v + B * k);
}

// One stage over all lines: butterflies of R elements, m apart, in pieces of `length`. Forwards the roots come after, backwards
// before. Elements before `from` and from `to` on count as zero.
template <int R, int A, int B, int S>
__device__ __forceinline__ void stage(Complex* a, const Complex* roots, int size, int length, int lines, int line_step, int step,
                                      int from, int to, bool lines_first) {
    const int m = length / R, per_line = size / R, total = lines * per_line, turn = size / length;
    const Divisor by_first(lines_first ? lines : per_line), by_m(m);
    const int hop = m * step;
    const bool whole = from <= 0 && to >= size;
    for (int i = threadIdx.x; i < total; i += blockDim.x) {
        int line, b, q;
        if (lines_first) b = by_first(i, line);
        else line = by_first(i, b);
        const int base = by_m(b, q) * length + q;
        Complex* at = a + (line * line_step + base * step);
        const int angle = q * turn;
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
        if constexpr (B == 1) simple<A, S, 1>(v);
        else composite<A, B, S>(v);
#pragma unroll
        for (int j = 0; j < R; j++) {
            // Where the j-th of the spectrum came out.
            Complex out = v[B * (j % A) + j / A];
            if (S < 0 && q > 0 && j > 0) out = out * conj(roots[j * angle]);
            at[j * hop] = out;
        }
    }
}

template <int S>
__device__ __forceinline__ void pass(Complex* a, const Complex* roots, int size, int radix, int length, int lines, int line_step,
                                     int step, int from, int to, bool lines_first) {
    switch (radix) {
    case 2: stage<2, 2, 1, S>(a, roots, size, length, lines, line_step, step, from, to, lines_first); break;
    case 3: stage<3, 3, 1, S>(a, roots, size, length, lines, line_step, step, from, to, lines_first); break;
    case 4: stage<4, 4, 1, S>(a, roots, size, length, lines, line_step, step, from, to, lines_first); break;
    case 6: stage<6, 2, 3, S>(a, roots, size, length, lines, line_step, step, from, to, lines_first); break;
    case 8: stage<8, 2, 4, S>(a, roots, size, length, lines, line_step, step, from, to, lines_first); break;
    case 9: stage<9, 3, 3, S>(a, roots, size, length, lines, line_step, step, from, to, lines_first); break;
    case 12: stage<12, 3, 4, S>(a, roots, size, length, lines, line_step, step, from, to, lines_first); break;
    default: stage<16, 4, 4, S>(a, roots, size, length, lines, line_step, step, from, to, lines_first); break;
    }
    __syncthreads();
}

// Lines to spectra. `roots` are exp(2πi j/size).
__device__ __noinline__ void forwards(Complex* a, const Complex* roots, const Plan* plan, int lines, int line_step, int step,
                                      int from, int to, bool lines_first) {
    int length = plan->size;
    for (int s = 0; s < plan->stages; s++) {
        pass<-1>(a, roots, plan->size, plan->radix[s], length, lines, line_step, step, from, to, lines_first);
        length /= plan->radix[s];
        from = 0;
        to = plan->size;
    }
}

// Spectra to lines, times the size.
__device__ __noinline__ void backwards(Complex* a, const Complex* roots, const Plan* plan, int lines, int line_step, int step,
                                       bool lines_first) {
    int length = 1;
    for (int s = plan->stages - 1; s >= 0; s--) {
        length *= plan->radix[s];
        pass<1>(a, roots, plan->size, plan->radix[s], length, lines, line_step, step, 0, plan->size, lines_first);
    }
}

// A square plane with lines `pitch` apart. `near`: in shared memory, with lines so far apart that neighbours of a column are cheap to have at
// once. A far one is brought near by `width` lines at a time, to `tile`.
struct Plane {
    Complex* at;
    int pitch;
    bool near;
    Complex* tile;
    int width;
};

// Copies elements `from` to `to` of some lines of a far plane to the tile, or back. Neighbours in memory are neighbours on the way.
__device__ __forceinline__ void carry(const Plane& plane, Complex* at, bool along, int lines, int from, int to, int size, bool back) {
    const Divisor by(along ? to - from : lines);
    const int total = lines * (to - from);
    for (int i = threadIdx.x; i < total; i += blockDim.x) {
        int line, place;
        if (along) line = by(i, place);
        else place = by(i, line);
        place += from;
        Complex* far = along ? at + (long long)line * plane.pitch + place : at + (long long)place * plane.pitch + line;
        Complex* near = along ? plane.tile + line * (size + 1) + place : plane.tile + place * plane.width + line;
        if (back) *far = *near;
        else *near = *far;
    }
    __syncthreads();
}

// Transforms the rows (`along`) or columns of a plane, of which `from` to `to` is not zero.
__device__ __noinline__ void transform(const Plane& plane, Complex* at, const Complex* roots, const Plan* plan, bool along, int lines, int from, int to,
                                       bool back) {
    const int size = plan->size;
    if (plane.near || !plane.tile) {
        const int line_step = along ? plane.pitch : 1, step = along ? 1 : plane.pitch;
        if (back) backwards(at, roots, plan, lines, line_step, step, plane.near || !along);
        else forwards(at, roots, plan, lines, line_step, step, from, to, plane.near || !along);
        return;
    }
    for (int first = 0; first < lines; first += plane.width) {
        const int some = min(plane.width, lines - first), line_step = along ? size + 1 : 1, step = along ? 1 : plane.width;
        Complex* here = along ? at + (long long)first * plane.pitch : at + first;
        carry(plane, here, along, some, from, to, size, false);
        if (back) backwards(plane.tile, roots, plan, some, line_step, step, true);
        else forwards(plane.tile, roots, plan, some, line_step, step, from, to, true);
        carry(plane, here, along, some, 0, size, size, true);
    }
}

// The spectrum of what stands in `rows` rows from `row` on and `cols` columns from `col` on; elsewhere there is anything.
__device__ __forceinline__ void spectrum_of(const Plane& plane, const Complex* roots, const Plan* plan, int row, int rows, int col, int cols) {
    __syncthreads();
    transform(plane, plane.at + (long long)row * plane.pitch, roots, plan, true, rows, col, col + cols, false);
    transform(plane, plane.at, roots, plan, false, plan->size, row, row + rows, false);
}

// The first rows of the field of a spectrum, times size².
__device__ __forceinline__ void field_of(const Plane& plane, const Complex* roots, const Plan* plan, int rows) {
    __syncthreads();
    transform(plane, plane.at, roots, plan, false, plan->size, 0, plan->size, true);
    transform(plane, plane.at, roots, plan, true, rows, 0, plan->size, true);
}

__device__ __forceinline__ void fill_roots(Complex* roots, int size) {
    for (int i = threadIdx.x; i < size; i += blockDim.x) {
        double s, c;
        sincospi(2.0 * i / size, &s, &c);
        roots[i] = {(Real)c, (Real)s};
    }
}
