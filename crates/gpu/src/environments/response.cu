// The response of all environments: `Chain::respond` of `dermis_sensor`. One block per environment: its values are in shared memory, thread i
// computes taxels i, i + THREADS, …. Memory is written where it changes only: most taxels are at rest. STAGES, the kinds of all stages, is a
// compile-time definition, so that the code of a response has no branches between them.

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
// The part of a step's number that counts the steps of one environment.
#define STEP_BITS ((1ull << 40) - 1)

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
// One environment: its values and a second row of the same size, its time, its parameters or null.
struct Environment {
    u32 index;
    double* values;
    double* other;
    Clock clock;
    const double* parameters;
};
#define FOR_TAXELS(t) for (u32 t = threadIdx.x; t < r.taxels; t += blockDim.x)

// The factor of an environment on a parameter.
__device__ __forceinline__ double factor(const Environment& e, u32 parameter) { return e.parameters ? e.parameters[parameter] : 1.0; }

// Numbers of a stage: of all taxels, of each taxel (list by list), and memory (list by list, `apart` elements apart).
struct StageNumbers {
    const double* all;
    const double* own;
    double* memory;
    u64 apart;
};
__device__ __forceinline__ StageNumbers numbers_of(const ResponseView& r, const StageView& stage, const Environment& e) {
    StageNumbers c;
    c.all = r.numbers + stage.numbers;
    c.own = r.taxel_numbers + (u64)stage.taxel_list * r.taxels;
    c.apart = (u64)r.environments * r.taxels;
    c.memory = r.memory + stage.memory_list * c.apart + (u64)e.index * r.taxels;
    return c;
}

// x ← Σ w x; for the spread, blended with x by the factor of the environment.
__device__ __forceinline__ void sums(const ResponseView& r, const StageView& stage, Environment& e) {
    const u32* starts = r.starts + (u64)stage.numbers * (r.taxels + 1);
    double scale = stage.kind == SPREAD ? factor(e, SPREAD_FACTOR) : 1.0;
    __syncthreads();
    FOR_TAXELS(t) {
        double sum = 0.0, x = e.values[t];
        for (u32 k = starts[t]; k < starts[t + 1]; k++) sum += r.weights[k] * e.values[r.sources[k]];
        e.other[t] = scale == 1.0 ? sum : x + scale * (sum - x);
    }
    __syncthreads();
    double* values = e.values;
    e.values = e.other;
    e.other = values;
}

// p ← max(min(p, (1 + η) x + w), x); x ← p.
__device__ __forceinline__ void hysteresis(const ResponseView& r, const StageNumbers& c, const Environment& e) {
    FOR_TAXELS(t) {
        double before = c.memory[t], x = e.values[t], held = fmax(fmin(before, c.all[0] * fmax(x, 0.0) + c.all[1]), x);
        if (held != before) c.memory[t] = held;
        e.values[t] = held;
    }
}

// s ← s + (x − s) p; x ← x + Σ a s. c.all: a and p of each term.
__device__ __forceinline__ void creep(const ResponseView& r, const StageView& stage, const StageNumbers& c, const Environment& e) {
    FOR_TAXELS(t) {
        double x = e.values[t], y = x;
        for (u32 k = 0; 2 * k < stage.count; k++) {
            double before = c.memory[k * c.apart + t], slow = before + (x - before) * c.all[2 * k + 1];
            if (slow != before) c.memory[k * c.apart + t] = slow;
            y += c.all[2 * k] * slow;
        }
        e.values[t] = y;
    }
}

// Counts presses and multiplies by the gain that is left.
__device__ __forceinline__ void ageing(const ResponseView& r, const StageNumbers& c, const Environment& e) {
    const double* n = c.all;
    __shared__ double by_time;
    __syncthreads();
    if (threadIdx.x == 0) by_time = -n[3] * expm1(-(e.clock.start_s + r.dt_s) / n[4]);
    __syncthreads();
    FOR_TAXELS(t) {
        double x = e.values[t], presses = c.memory[t], pressed = c.memory[c.apart + t];
        if (pressed == 0.0 && x > n[2]) {
            c.memory[t] = presses = presses + 1.0;
            c.memory[c.apart + t] = 1.0;
        } else if (pressed != 0.0 && x < 0.5 * n[2]) {
            c.memory[c.apart + t] = 0.0;
        }
        double by_use = presses == 0.0 ? 0.0 : -n[0] * expm1(-presses / n[1]);
        e.values[t] = x * fmax(1.0 - by_use - by_time, 0.0);
    }
}

// Adds the draw of each taxel: that of the CPU's sequence, which gives each taxel four numbers in turn. jumps: factor and term of the
// generator's jump to the taxel.
__device__ __forceinline__ void noise(const ResponseView& r, const StageNumbers& c, const Environment& e) {
    double scale = factor(e, NOISE_FACTOR), sd = c.all[0] * scale, relative = c.all[1] * scale;
    u64 seed = (u64)c.all[2] | (u64)c.all[3] << 32, start = mixed(seed ^ mixed(e.clock.number)) + 1442695040888963407ull;
    next_u32(start);
    FOR_TAXELS(t) {
        u64 state = start * r.jumps[2 * (u64)t] + r.jumps[2 * (u64)t + 1];
        double x = e.values[t];
        // In single precision, which moves a draw by less than a millionth of its standard deviation.
        float radius = sqrtf(-2.0f * logf((float)(1.0 - uniform(state)))), angle = (float)(2.0 * uniform(state));
        e.values[t] = x + (double)(radius * cospif(angle)) * (relative > 0.0 ? hypot(sd, relative * x) : sd);
    }
}

// Holds the sample of each taxel until its next moment.
__device__ __forceinline__ void sampling(const ResponseView& r, const StageNumbers& c, const Environment& e) {
    double from = e.clock.start_s * c.all[0], to = (e.clock.start_s + r.dt_s) * c.all[0];
    FOR_TAXELS(t) {
        double before = fmax(ceil(from - c.own[t] - SAME_MOMENT), 0.0);
        if (fmax(ceil(to - c.own[t] - SAME_MOMENT), 0.0) > before)
            c.memory[t] = e.values[t];
        else
            e.values[t] = c.memory[t];
    }
}

// Returns each value after a number of steps.
__device__ __forceinline__ void delay(const ResponseView& r, const StageNumbers& c, const Environment& e) {
    u32 steps = (u32)c.all[0];
    if (steps == 0) return;
    u64 number = e.clock.number & STEP_BITS;
    // A quotient of 64 bits takes a hundred instructions.
    double* slot = c.memory + (number >> 32 ? number % steps : (u32)number % steps) * c.apart;
    FOR_TAXELS(t) {
        double arrived = slot[t], x = e.values[t];
        if (x != arrived) slot[t] = x;
        e.values[t] = arrived;
    }
}

// Stages without memory, of one value x (N).
__device__ __forceinline__ double plain_stage(const ResponseView& r, const StageView& stage, const StageNumbers& c, const Environment& e,
                                              u32 t, double x) {
    switch (stage.kind) {
        case GAIN: return x * (c.own[t] * factor(e, GAIN_FACTOR)) + c.own[r.taxels + t];
        case THRESHOLD: {
            double threshold = c.own[t] * factor(e, THRESHOLD_FACTOR);
            return x <= threshold ? 0.0 : c.all[0] != 0.0 ? x - threshold : x;
        }
        case SATURATION: return fmin(x, c.own[t]);
        case FAULTS: return isnan(c.own[t]) ? x : c.own[t];
        case COUNTS: {
            double counts = round(x * c.all[0]);
            return (counts > 0.0 ? fmin(counts, c.all[1]) : 0.0) / c.all[0];
        }
        default: return x == 0.0 ? x : curve_value(stage.kind, c.all, stage.count, x);
    }
}

// Applies stage k to all values.
__device__ __forceinline__ void apply(const ResponseView& r, u32 kind, u32 k, Environment& e) {
    StageView stage = r.stages[k];
    stage.kind = kind;
    StageNumbers c = numbers_of(r, stage, e);
    switch (kind) {
        case SPREAD:
        case CROSSTALK: return sums(r, stage, e);
        case HYSTERESIS: return hysteresis(r, c, e);
        case CREEP: return creep(r, stage, c, e);
        case AGEING: return ageing(r, c, e);
        case NOISE: return noise(r, c, e);
        case SAMPLING: return sampling(r, c, e);
        case DELAY: return delay(r, c, e);
        default:
            FOR_TAXELS(t) e.values[t] = plain_stage(r, stage, c, e, t, e.values[t]);
    }
}

extern __shared__ double shared_rows[];

// Applies all stages to the values of `from` (N) and writes them to `to`; copies them to `copy` if that is bound. parameters: (n, PARAMETERS)
// or null. scratch: (n, 2, taxels), or null if two rows are in shared memory.
extern "C" __global__ void respond(ResponseView r, View from, View to, View copy, const double* parameters, double* scratch) {
    Environment e;
    e.index = blockIdx.x;
    e.values = scratch ? scratch + 2 * (u64)e.index * r.taxels : shared_rows;
    e.other = e.values + r.taxels;
    e.clock = r.clocks[e.index];
    e.parameters = parameters ? parameters + (u64)e.index * PARAMETERS : parameters;
    FOR_TAXELS(t) {
        double x = number_at(from, e.index, t, 0);
        set_number(copy, e.index, t, 0, x);
        e.values[t] = x;
    }
    constexpr u32 KINDS[] = {STAGES COUNTS};
#pragma unroll
    for (u32 k = 0; k + 1 < sizeof(KINDS) / sizeof(u32); k++) apply(r, KINDS[k], k, e);
    FOR_TAXELS(t) set_number(to, e.index, t, 0, e.values[t]);
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
