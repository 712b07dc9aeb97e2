// The response of all environments: `Chain::respond` of `dermis_sensor`. One thread per taxel of an environment; a sum over taxels starts a
// new launch, because it needs the values of all taxels.

// Kinds of stages, numbered as on the host.
#define SPREAD 0
#define CROSSTALK 1
#define HYSTERESIS 2
#define CREEP 3
#define AGEING 4
#define GAIN 5
#define THRESHOLD 6
#define LINEAR 7
#define POLYNOMIAL 8
#define POWER 9
#define SIGMOID 10
#define TABLE 11
#define SATURATION 12
#define NOISE 13
#define FAULTS 14
#define SAMPLING 15
#define DELAY 16
#define COUNTS 17
// Tolerance of times as a fraction of a frame.
#define SAME_MOMENT 1e-7

// One taxel of one environment: numbers of the stage, of the taxel (list by list) and memory (list by list).
struct Taxel {
    u32 environment, index;
    const double* parameters;
};

// Σ w x over a row of a matrix.
__device__ __forceinline__ double row_sum(const ResponseView& r, const StageView& stage, const View& from, const Taxel& t) {
    const u32* starts = r.starts + (u64)stage.numbers * (r.taxels + 1);
    double sum = 0.0;
    for (u32 k = starts[t.index]; k < starts[t.index + 1]; k++) sum += r.weights[k] * number_at(from, t.environment, r.sources[k], 0);
    return sum;
}

// y = Σ c_k x^k up to `until`, then with the slope there. c: until, c_1, c_2, ….
__device__ __forceinline__ double polynomial(const double* c, u32 count, double x) {
    double inside = fmin(x, c[0]), y = 0.0, slope = 0.0;
    for (u32 k = count - 1; k >= 1; k--) y = (y + c[k]) * inside;
    if (x <= inside) return y;
    for (u32 k = count - 1; k >= 1; k--) slope = slope * inside + (double)k * c[k];
    return y + slope * (x - inside);
}

// Piecewise linear from (0, 0) through the points, extrapolated. c: loads, then readings, `points` each.
__device__ __forceinline__ double table_value(const double* c, u32 points, double x) {
    u32 piece = 0;
    while (piece + 1 < points && c[piece] <= x) piece++;
    double x0 = piece ? c[piece - 1] : 0.0, y0 = piece ? c[points + piece - 1] : 0.0;
    return y0 + (c[points + piece] - y0) / (c[piece] - x0) * (x - x0);
}

// The reading of a load x (N) by a curve.
__device__ __forceinline__ double curve_value(u32 kind, const double* c, u32 count, double load) {
    double x = fmax(load, 0.0);
    if (kind == LINEAR) return c[0] * x;
    if (kind == POLYNOMIAL) return polynomial(c, count, x);
    if (kind == POWER) return c[1] * pow(x / c[1], c[0]);
    if (kind == TABLE) return table_value(c, count / 2, x);
    double h = pow(x / c[1], c[0]);
    return isfinite(h) ? c[1] * h / (1.0 + h) : c[1];
}

// 32 random bits of PCG-XSH-RR 64/32: `Random::next_u32`.
__device__ __forceinline__ u32 next_u32(u64& state) {
    u64 old = state;
    state = old * 6364136223846793005ull + 1442695040888963407ull;
    u32 bits = (u32)(((old >> 18) ^ old) >> 27), by = (u32)(old >> 59);
    return (bits >> by) | (bits << ((32u - by) & 31u));
}
__device__ __forceinline__ double uniform(u64& state) {
    u64 high = (u64)next_u32(state) << 21;
    return (double)(high ^ (u64)(next_u32(state) >> 11)) / 9007199254740992.0;
}
// The draw of a taxel: that of the CPU's sequence, which gives each taxel four numbers in turn. jumps: factor and term of the generator's
// jump to the taxel.
__device__ __forceinline__ double normal_draw(const ResponseView& r, const double* c, const Taxel& t, u64 number) {
    u64 seed = (u64)c[2] | (u64)c[3] << 32, state = mixed(seed ^ mixed(number)) + 1442695040888963407ull;
    next_u32(state);
    state = state * r.jumps[2 * (u64)t.index] + r.jumps[2 * (u64)t.index + 1];
    double radius = sqrt(-2.0 * log(1.0 - uniform(state)));
    return radius * cospi(2.0 * uniform(state));
}

// Hysteresis, creep and ageing of a load x (N). memory: numbers of the taxel, `apart` elements apart.
__device__ __forceinline__ double cover(const StageView& stage, const double* c, double* memory, u64 apart, double end, double x) {
    if (stage.kind == HYSTERESIS) return memory[0] = fmax(fmin(memory[0], c[0] * fmax(x, 0.0) + c[1]), x);
    if (stage.kind == CREEP) {
        double y = x;
        for (u32 k = 0; 2 * k < stage.count; k++) {
            double slow = memory[k * apart];
            slow += (x - slow) * c[2 * k + 1];
            memory[k * apart] = slow;
            y += c[2 * k] * slow;
        }
        return y;
    }
    double presses = memory[0], pressed = memory[apart];
    if (pressed == 0.0 && x > c[2]) {
        memory[0] = presses = presses + 1.0;
        memory[apart] = 1.0;
    } else if (pressed != 0.0 && x < 0.5 * c[2]) {
        memory[apart] = 0.0;
    }
    double by_use = -c[0] * expm1(-presses / c[1]), by_time = -c[3] * expm1(-end / c[4]);
    return x * fmax(1.0 - by_use - by_time, 0.0);
}

// Sampling and delay of a value x (N); numbers of a delay: steps of the delay.
__device__ __forceinline__ double held(const ResponseView& r, const StageView& stage, const double* c, double phase, double* memory,
                                       u64 apart, const Clock& clock, double x) {
    if (stage.kind == DELAY) {
        u32 steps = (u32)c[0];
        if (steps == 0) return x;
        double* slot = memory + (clock.number % steps) * apart;
        double arrived = *slot;
        *slot = x;
        return arrived;
    }
    double from = clock.start_s * c[0], to = (clock.start_s + r.dt_s) * c[0];
    double before = fmax(ceil(from - phase - SAME_MOMENT), 0.0), after = fmax(ceil(to - phase - SAME_MOMENT), 0.0);
    if (after > before) memory[0] = x;
    return memory[0];
}

// Applies one stage to a value x (N) of a taxel.
__device__ __forceinline__ double apply(const ResponseView& r, const StageView& stage, const View& from, const Taxel& t, const Clock& clock,
                                        double x) {
    const double* c = r.numbers + stage.numbers;
    const double* own = r.taxel_numbers + (u64)stage.taxel_list * r.taxels + t.index;
    u64 apart = (u64)r.environments * r.taxels;
    double* memory = r.memory + stage.memory_list * apart + (u64)t.environment * r.taxels + t.index;
    const double* p = t.parameters;
    switch (stage.kind) {
        case SPREAD: {
            double scale = p ? p[SPREAD_FACTOR] : 1.0, sum = row_sum(r, stage, from, t);
            return scale == 1.0 ? sum : x + scale * (sum - x);
        }
        case CROSSTALK: return row_sum(r, stage, from, t);
        case HYSTERESIS:
        case CREEP:
        case AGEING: return cover(stage, c, memory, apart, clock.start_s + r.dt_s, x);
        case GAIN: return x * (own[0] * (p ? p[GAIN_FACTOR] : 1.0)) + own[r.taxels];
        case THRESHOLD: {
            double threshold = own[0] * (p ? p[THRESHOLD_FACTOR] : 1.0);
            return x <= threshold ? 0.0 : c[0] != 0.0 ? x - threshold : x;
        }
        case SATURATION: return fmin(x, own[0]);
        case NOISE: {
            double scale = p ? p[NOISE_FACTOR] : 1.0, sd = c[0] * scale, relative = c[1] * scale;
            return x + normal_draw(r, c, t, clock.number) * (relative > 0.0 ? hypot(sd, relative * x) : sd);
        }
        case FAULTS: return isnan(own[0]) ? x : own[0];
        case SAMPLING:
        case DELAY: return held(r, stage, c, stage.kind == SAMPLING ? own[0] : 0.0, memory, apart, clock, x);
        case COUNTS: {
            double counts = round(x * c[0]);
            return (counts > 0.0 ? fmin(counts, c[1]) : 0.0) / c[0];
        }
        default: return x == 0.0 ? x : curve_value(stage.kind, c, stage.count, x);
    }
}

// Applies stages first … last − 1 to the values of `from` (N) and writes them to `to`; copies them to `copy` if that is bound. Only the first
// of them may be a sum over taxels. parameters: (n, PARAMETERS) or null.
extern "C" __global__ void respond(ResponseView r, View from, View to, View copy, const double* parameters, u32 first, u32 last) {
    u64 k = (u64)blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= (u64)r.environments * r.taxels) return;
    Taxel t;
    t.environment = (u32)(k / r.taxels);
    t.index = (u32)(k % r.taxels);
    t.parameters = parameters ? parameters + (u64)t.environment * PARAMETERS : parameters;
    Clock clock = r.clocks[t.environment];
    double x = number_at(from, t.environment, t.index, 0);
    set_number(copy, t.environment, t.index, 0, x);
    for (u32 i = first; i < last; i++) x = apply(r, r.stages[i], from, t, clock, x);
    set_number(to, t.environment, t.index, 0, x);
}

// Clears memory and time of the environments where the mask is not zero; the numbers of their steps go on, and the noise with them. One block
// per environment. mask: (n); null for all. lists: number of memory's lists.
extern "C" __global__ void reset_response(View mask, ResponseView r, u32 lists) {
    u32 i = blockIdx.x;
    if (mask.address && number_at(mask, i, 0, 0) == 0.0) return;
    u64 apart = (u64)r.environments * r.taxels;
    for (u32 list = 0; list < lists; list++)
        for (u32 k = threadIdx.x; k < r.taxels; k += blockDim.x) r.memory[list * apart + (u64)i * r.taxels + k] = 0.0;
    if (threadIdx.x == 0) r.clocks[i].start_s = r.clocks[i].next_s = 0.0;
}
