// The response of all environments: `Chain::respond` of `dermis_sensor`. One block for AT_ONCE environments: their values are in shared memory, thread i
// computes taxels i, i + blockDim.x, … of all of them, numbered one environment after the other, and in sums these taxels of each environment. The numbers of the stages are in shared memory, and the memory of a taxel is read before its first stage, so
// that no read waits for another one or for a write; it is written where it changes only: most taxels are at rest. Stages without memory before the sampling
// are computed where a sample is taken only. Compile-time definitions are
// STAGES, the kinds of all stages, so that the code of a response has no branches between them, NUMBERS, LENGTHS, TAXEL_LISTS, MEMORY_LISTS and
// MEMORY_LENGTHS, where their numbers, their lists of numbers per taxel and their lists of memory are, NUMBER_COUNT, TAXELS, AT_ONCE, WIDE, if the rows of values
// do not fit into shared memory, and SAMPLE, the type of samples.
// Values are rounded to counts before they are sampled and delayed, which gives the same readings: counts take half the bytes. The memory of a taxel that
// was not pressed since its reset is not read.

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

// The larger and the smaller of two numbers of which the first may be NaN, which is not chosen; fewer instructions than fmax and fmin.
__device__ __forceinline__ double larger(double a, double b) { return a > b ? a : b; }
__device__ __forceinline__ double smaller(double a, double b) { return a < b ? a : b; }

// y = Σ c_k x^k up to `until`, then with the slope there. c: until, c_1, c_2, ….
__device__ __forceinline__ double polynomial(const double* c, u32 count, double x) {
    double inside = smaller(x, c[0]), y = 0.0, slope = 0.0;
#pragma unroll 4
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
    double x = larger(load, 0.0);
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
// The high 32 of the 53 bits of a number that is uniform in [0, 1), `Random::uniform`; the low ones are skipped.
__device__ __forceinline__ u32 uniform_bits(u64& state) {
    u32 high = next_u32(state);
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return high;
}
// Kinds of all stages, the first of their numbers (of a sum, of its sources), of their lists of numbers per taxel and of their lists of
// memory, and the numbers of these; the last entry is not one of them.
constexpr u32 KINDS[] = {STAGES COUNTS};
constexpr u32 NUMBER[] = {NUMBERS 0}, LENGTH[] = {LENGTHS 0};
constexpr u32 TAXEL_LIST[] = {TAXEL_LISTS 0}, MEMORY_LIST[] = {MEMORY_LISTS 0}, MEMORY_LENGTH[] = {MEMORY_LENGTHS 0};
constexpr u32 LAST = sizeof(KINDS) / sizeof(u32) - 1;

// Numbers of memory that a step of stage k needs: one of a delay.
__device__ constexpr u32 held_count(u32 k) { return KINDS[k] == DELAY && MEMORY_LENGTH[k] > 1 ? 1 : MEMORY_LENGTH[k]; }
// The first of these of stage k among those of all stages.
__device__ constexpr u32 held_first(u32 k) {
    u32 first = 0;
    for (u32 j = 0; j < k; j++) first += held_count(j);
    return first;
}

// The stage that takes samples, or the end.
__device__ constexpr u32 sampler() {
    u32 k = 0;
    while (k < LAST && KINDS[k] != SAMPLING) k++;
    return k;
}
constexpr u32 SAMPLER = sampler();
// The first of the stages without memory before it: what they compute is used only where a sample is taken in this step.
__device__ constexpr u32 first_unkept() {
    u32 k = SAMPLER;
    while (SAMPLER < LAST && k > 0 && MEMORY_LENGTH[k - 1] == 0) k--;
    return k;
}
constexpr u32 UNKEPT = first_unkept();
// The stage that rounds to counts, or the end: values are counts from there on.
__device__ constexpr u32 counter() {
    u32 k = 0;
    while (k < LAST && KINDS[k] != COUNTS) k++;
    return k;
}
constexpr u32 COUNTER = counter();
// True for the stages whose memory is written by a press: it is all zero until `kept` of the taxel is 1.
__device__ constexpr bool is_pressed_memory(u32 kind) { return kind == HYSTERESIS || kind == CREEP || kind == AGEING; }

// What all taxels of an environment share: loss of sensitivity by time, state of the random generator before the first taxel, slot of the
// delay, and start and end of the step in frames of the sampling.
struct Prepared {
    double by_time, from, to;
    u64 random, slot;
};
// The environments of a block: the first and their number, their values and second rows of the same size, the numbers of all stages, their
// parameters or null, and whether one of their taxels is sampled in this step.
struct Environments {
    u32 first, count;
    bool is_sampled;
    const double* numbers;
    double* values;
    double* other;
    const double* parameters;
    const Prepared* prepared;
    // 1 for each taxel with memory of presses.
    const u8* kept;
};
// The environment in its block and the number of the i-th taxel of a block.
#define OWN(i) (AT_ONCE == 1 ? 0 : (i) / TAXELS)
#define TAXEL(i) (AT_ONCE == 1 ? (i) : (i) % TAXELS)
#define FOR_TAXELS(i) for (u32 i = threadIdx.x; i < e.count * TAXELS; i += blockDim.x)

// The factor of an environment of a block on a parameter.
__device__ __forceinline__ double factor(const Environments& e, u32 own, u32 parameter) {
    return e.parameters ? e.parameters[own * PARAMETERS + parameter] : 1.0;
}

// The first sum over taxels from stage k on, or the end.
__device__ constexpr u32 segment_end(u32 k) {
    while (k < LAST && KINDS[k] > CROSSTALK) k++;
    return k;
}

// Prepares stages K … of an environment, by four threads, since each part is a long chain of instructions: `part` is the number of the thread.
template <u32 K> __device__ __forceinline__ void prepare(const ResponseView& r, const Clock& clock, u32 part, Prepared& p) {
    if constexpr (K < LAST) {
        const double* c = r.numbers + NUMBER[K];
        if (KINDS[K] == AGEING && part == 0) p.by_time = -c[3] * expm1(-(clock.start_s + r.dt_s) / c[4]);
        if (KINDS[K] == NOISE && part == 1) {
            u64 seed = (u64)c[2] | (u64)c[3] << 32;
            p.random = mixed(seed ^ mixed(clock.number)) + 1442695040888963407ull;
            next_u32(p.random);
        }
        if (KINDS[K] == SAMPLING && part == 2) {
            p.from = clock.start_s * c[0];
            p.to = (clock.start_s + r.dt_s) * c[0];
        }
        if constexpr (KINDS[K] == DELAY && MEMORY_LENGTH[K] > 0) {
            if (part == 3) p.slot = (clock.number & STEP_BITS) % MEMORY_LENGTH[K];
        }
        prepare<K + 1>(r, clock, part, p);
    }
}

// Writes memory, and that there is some.
__device__ __forceinline__ void keep(double* memory, double value, bool& has_memory) {
    *memory = value;
    has_memory = true;
}

// p ← max(min(p, (1 + η) x + w), x); x ← p. before: p; memory: where it is kept.
__device__ __forceinline__ double hysteresis(const double* c, double before, double* memory, bool& has_memory, double x) {
    double held = larger(x, smaller(before, c[0] * larger(x, 0.0) + c[1]));
    if (held != before) keep(memory, held, has_memory);
    return held;
}

// s ← s + (x − s) p; x ← x + Σ a s. c: a and p of each of TERMS terms. before: s of each term; memory: where they are kept, `apart` elements apart.
template <u32 TERMS>
__device__ __forceinline__ double creep(const double* c, const double* before, double* memory, u64 apart, bool& has_memory, double x) {
    double y = x;
#pragma unroll
    for (u32 k = 0; k < TERMS; k++) {
        double slow = before[k] + (x - before[k]) * c[2 * k + 1];
        if (slow != before[k]) keep(memory + k * apart, slow, has_memory);
        y += c[2 * k] * slow;
    }
    return y;
}

// Multiplies by the gain that is left after the presses. c: loss after many presses, part of the rest of it that a press adds. before: the part
// 1 − exp(−n/presses) of the loss after n presses, negative during a press; memory: where it is kept.
__device__ __forceinline__ double ageing(const double* c, double before, double* memory, bool& has_memory, double by_time, double x) {
    double part = fabs(before);
    if (before >= 0.0 && x > c[2]) {
        part += (1.0 - part) * c[1];
        keep(memory, -part, has_memory);
    } else if (before < 0.0 && x < 0.5 * c[2]) {
        keep(memory, part, has_memory);
    }
    return x * larger(1.0 - c[0] * part - by_time, 0.0);
}

// Adds the draw of a taxel: that of the CPU's sequence, which gives each taxel four numbers in turn. jump: factor and term of the generator's
// jump to the taxel. In single precision and from the high 32 bits of two numbers, which moves nearly all draws by less than a millionth of
// the standard deviation.
__device__ __forceinline__ double noise(const double* c, double scale, u64 random, const ulonglong2* jump, double x) {
    const float unit = 1.0f / 4294967296.0f;
    const ulonglong2 by = __ldg(jump);
    u64 state = random * by.x + by.y;
    // 1 − u, in units; the skipped bits are half a unit on average.
    float radius = sqrtf(-2.0f * logf(((float)~uniform_bits(state) + 0.5f) * unit));
    float angle = 2.0f * unit * (float)next_u32(state), sd = (float)(c[0] * scale), relative = (float)(c[1] * scale * x);
    return x + (double)(radius * cospif(angle) * (c[1] > 0.0 ? sqrtf(sd * sd + relative * relative) : sd));
}

// True if a taxel is sampled in this step.
__device__ __forceinline__ bool is_sampled(const Prepared& p, double phase) {
    return larger(ceil(p.to - phase - SAME_MOMENT), 0.0) > larger(ceil(p.from - phase - SAME_MOMENT), 0.0);
}

// Holds the sample of a taxel until it is sampled next.
__device__ __forceinline__ double sampling(const Prepared& p, double phase, double held, SAMPLE* memory, double x) {
    if (!is_sampled(p, phase)) return held;
    *memory = (SAMPLE)x;
    return x;
}

// One taxel: its environment in the block, its number, its first number of the stages, its memory and its sample in the first list, how far it is to
// the next list, and whether it has memory of presses.
struct Taxel {
    u32 own, t;
    const double* numbers;
    double* memory;
    SAMPLE* samples;
    u64 apart;
    bool has_memory;
};

__device__ __forceinline__ Taxel taxel_of(const ResponseView& r, const Environments& e, u32 i) {
    const u32 own = OWN(i), t = TAXEL(i);
    const u64 place = (u64)e.first * TAXELS + i;
    return {own, t, r.taxel_numbers + t, r.memory + place, (SAMPLE*)r.samples + place, (u64)r.environments * TAXELS, e.kept[i] != 0};
}

// Where the memory of a press of stage K is.
template <u32 K> __device__ __forceinline__ double* memory_of(const Taxel& taxel) { return taxel.memory + MEMORY_LIST[K] * taxel.apart; }
// Where the sample of stage K is that a step needs.
template <u32 K> __device__ __forceinline__ SAMPLE* sample_of(const Environments& e, const Taxel& taxel) {
    const u64 slot = KINDS[K] == DELAY ? e.prepared[taxel.own].slot : 0;
    return taxel.samples + (MEMORY_LIST[K] + slot) * taxel.apart;
}

// Reads the memory of stages K … END − 1.
template <u32 K, u32 END> __device__ __forceinline__ void read_memory(const Environments& e, const Taxel& taxel, double* held) {
    if constexpr (K < END) {
        constexpr u32 count = held_count(K), first = held_first(K);
#pragma unroll
        for (u32 i = 0; i < count; i++) {
            if constexpr (!is_pressed_memory(KINDS[K]))
                held[first + i] = *sample_of<K>(e, taxel);
            else
                held[first + i] = taxel.has_memory ? memory_of<K>(taxel)[i * taxel.apart] : 0.0;
        }
        read_memory<K + 1, END>(e, taxel, held);
    }
}

// Stage K of the value x (N) of a taxel. held: the memory of all stages.
template <u32 K>
__device__ __forceinline__ double stage_value(const ResponseView& r, const Environments& e, Taxel& taxel, const double* held, double x) {
    constexpr u32 kind = KINDS[K], length = LENGTH[K], first = held_first(K);
    const double *c = e.numbers + NUMBER[K], *own = taxel.numbers + TAXEL_LIST[K] * TAXELS;
    const double* before = held + first;
    if constexpr (kind == HYSTERESIS) return hysteresis(c, *before, memory_of<K>(taxel), taxel.has_memory, x);
    if constexpr (kind == CREEP) return creep<length / 2>(c, before, memory_of<K>(taxel), taxel.apart, taxel.has_memory, x);
    if constexpr (kind == AGEING) return ageing(c, *before, memory_of<K>(taxel), taxel.has_memory, e.prepared[taxel.own].by_time, x);
    if constexpr (kind == GAIN) return x * (__ldg(own) * factor(e, taxel.own, GAIN_FACTOR)) + __ldg(own + TAXELS);
    if constexpr (kind == THRESHOLD) {
        double threshold = __ldg(own) * factor(e, taxel.own, THRESHOLD_FACTOR);
        return x <= threshold ? 0.0 : c[0] != 0.0 ? x - threshold : x;
    }
    if constexpr (kind >= LINEAR && kind <= TABLE) return x == 0.0 ? x : curve_value(kind, c, length, x);
    if constexpr (kind == SATURATION) return smaller(x, __ldg(own));
    if constexpr (kind == NOISE) return noise(c, factor(e, taxel.own, NOISE_FACTOR), e.prepared[taxel.own].random, (const ulonglong2*)r.jumps + taxel.t, x);
    if constexpr (kind == FAULTS) return isnan(__ldg(own)) ? x : __ldg(own);
    if constexpr (kind == SAMPLING) return sampling(e.prepared[taxel.own], __ldg(own), *before, sample_of<K>(e, taxel), x);
    // The value of some steps ago makes room for the new one.
    if constexpr (kind == DELAY && held_count(K) > 0) {
        if (x != *before) *sample_of<K>(e, taxel) = (SAMPLE)x;
        return *before;
    }
    if constexpr (kind == COUNTS) {
        double counts = round(x * c[0]);
        return counts > 0.0 ? smaller(counts, c[1]) : 0.0;
    }
    return x;
}

// The reading (N) of the value after all stages: counts / c[0], rounded as a division but with fewer instructions (Markstein 1990); c[2] = 1 / c[0].
__device__ __forceinline__ double reading(const Environments& e, double x) {
    if constexpr (COUNTER == LAST) return x;
    const double* c = e.numbers + NUMBER[COUNTER];
    double value = x * c[2];
    value = __fma_rn(__fma_rn(-value, c[0], x), c[2], value);
    return __fma_rn(__fma_rn(-value, c[0], x), c[2], value);
}

// Stages K … END − 1 of the value x (N) of a taxel.
template <u32 K, u32 END>
__device__ __forceinline__ double stages_value(const ResponseView& r, const Environments& e, Taxel& taxel, const double* held, double x) {
    if constexpr (K == END)
        return x;
    else
        return stages_value<K + 1, END>(r, e, taxel, held, stage_value<K>(r, e, taxel, held, x));
}

// Stages K … END − 1 of the value x (N) of a taxel, without those whose results no sample takes: before a sum the whole block decides.
template <u32 K, u32 END>
__device__ __forceinline__ double segment_value(const ResponseView& r, const Environments& e, Taxel& taxel, const double* held, double x) {
    constexpr u32 FROM = UNKEPT < K ? K : UNKEPT > END ? END : UNKEPT, TO = SAMPLER < K ? K : SAMPLER > END ? END : SAMPLER;
    x = stages_value<K, FROM>(r, e, taxel, held, x);
    if constexpr (FROM < TO) {
        bool needed = e.is_sampled;
        if constexpr (SAMPLER < END) needed = is_sampled(e.prepared[taxel.own], __ldg(taxel.numbers + TAXEL_LIST[SAMPLER] * TAXELS));
        if (needed) x = stages_value<FROM, TO>(r, e, taxel, held, x);
    }
    return stages_value<TO, END>(r, e, taxel, held, x);
}

// x ← Σ w x for all taxels; for the spread, blended with x by the factor of the environment. A thread computes one taxel of all environments of the
// block, so that its weights are read once: reads of the first-level cache limit this kernel.
template <u32 K> __device__ __forceinline__ void sums(const ResponseView& r, Environments& e) {
    constexpr u32 length = LENGTH[K];
    __syncthreads();
    for (u32 t = threadIdx.x; t < TAXELS; t += blockDim.x) {
        // Weight, and the source's place in bytes.
        const double2* term = (const double2*)r.terms + (NUMBER[K] + t);
        double sum[AT_ONCE];
#pragma unroll
        for (u32 own = 0; own < AT_ONCE; own++) sum[own] = 0.0;
#pragma unroll 9
        for (u32 k = 0; k < length; k++, term += TAXELS) {
            const double2 by = __ldg(term);
            const double* source = (const double*)((const char*)e.values + (u32)__double2loint(by.y));
#pragma unroll
            for (u32 own = 0; own < AT_ONCE; own++) sum[own] += by.x * source[own * TAXELS];
        }
#pragma unroll
        for (u32 own = 0; own < AT_ONCE; own++) {
            if (own >= e.count) break;
            const u32 i = own * TAXELS + t;
            double scale = KINDS[K] == SPREAD ? factor(e, own, SPREAD_FACTOR) : 1.0, x = e.values[i];
            e.other[i] = scale == 1.0 ? sum[own] : x + scale * (sum[own] - x);
        }
    }
    __syncthreads();
    double* values = e.values;
    e.values = e.other;
    e.other = values;
}

// Stages K … of all taxels, whose values go to `to`.
template <u32 K> __device__ __forceinline__ void apply(const ResponseView& r, Environments& e, const View& to) {
    if constexpr (K < LAST && KINDS[K] <= CROSSTALK) {
        if (K < UNKEPT || K > SAMPLER || e.is_sampled) sums<K>(r, e);
        apply<K + 1>(r, e, to);
    } else {
        constexpr u32 END = segment_end(K);
        FOR_TAXELS(i) {
            double held[held_first(LAST) + 1];
            Taxel taxel = taxel_of(r, e, i);
            const bool had_memory = taxel.has_memory;
            read_memory<K, END>(e, taxel, held);
            const double x = segment_value<K, END>(r, e, taxel, held, e.values[i]);
            if (taxel.has_memory && !had_memory) r.kept[(u64)e.first * TAXELS + i] = 1;
            if constexpr (END == LAST)
                set_number(to, e.first + taxel.own, taxel.t, 0, reading(e, x));
            else
                e.values[i] = x;
        }
        if constexpr (END < LAST) apply<END>(r, e, to);
    }
}

extern __shared__ double shared_rows[];

// Applies all stages to the values of `from` (N) and writes them to `to`; copies them to `copy` if that is bound. parameters: (n, PARAMETERS)
// or null. scratch: (n, 2, taxels) if WIDE.
extern "C" __global__ void __launch_bounds__(256, 7) respond(ResponseView r, View from, View to, View copy, const double* parameters, double* scratch) {
    __shared__ Prepared prepared[AT_ONCE];
    __shared__ double numbers[NUMBER_COUNT + 1];
    __shared__ u8 kept[WIDE ? 1 : AT_ONCE * TAXELS];
    Environments e;
    e.first = blockIdx.x * AT_ONCE;
    e.count = AT_ONCE == 1 ? 1 : min(r.environments - e.first, (u32)AT_ONCE);
    e.numbers = numbers;
    e.values = WIDE ? scratch + 2 * (u64)e.first * TAXELS : shared_rows;
    e.other = e.values + AT_ONCE * TAXELS;
    e.parameters = parameters ? parameters + (u64)e.first * PARAMETERS : parameters;
    e.prepared = prepared;
    const u8* kept_before = r.kept + (u64)e.first * TAXELS;
    e.kept = WIDE ? kept_before : kept;
    for (u32 k = threadIdx.x; k < NUMBER_COUNT; k += blockDim.x) numbers[k] = r.numbers[k];
    // In warps of their own where there are enough.
    const u32 apart = blockDim.x / 4, part = threadIdx.x / apart, environment = threadIdx.x % apart;
    if (environment < e.count) prepare<0>(r, r.clocks[e.first + environment], part, prepared[environment]);
    FOR_TAXELS(i) {
        double x = number_at(from, e.first + OWN(i), TAXEL(i), 0);
        set_number(copy, e.first + OWN(i), TAXEL(i), 0, x);
        e.values[i] = x;
        if (!WIDE) kept[i] = kept_before[i];
    }
    __syncthreads();
    e.is_sampled = true;
    if constexpr (UNKEPT < SAMPLER) {
        bool own = false;
        FOR_TAXELS(i) own |= is_sampled(prepared[OWN(i)], __ldg(r.taxel_numbers + TAXEL_LIST[SAMPLER] * TAXELS + TAXEL(i)));
        e.is_sampled = __syncthreads_or(own);
    }
    apply<0>(r, e, to);
}

// Clears memory and time of the environments where the mask is not zero; the numbers of their steps go on, and the noise with them. One block
// per environment. mask: (n); null for all. lists, sample_lists: numbers of the lists of memory and of samples.
extern "C" __global__ void reset_response(View mask, ResponseView r, u32 lists, u32 sample_lists) {
    u32 i = blockIdx.x;
    if (mask.address && number_at(mask, i, 0, 0) == 0.0) return;
    u64 apart = (u64)r.environments * r.taxels, first = (u64)i * r.taxels;
    for (u32 k = threadIdx.x; k < r.taxels; k += blockDim.x) {
        for (u32 list = 0; list < lists; list++) r.memory[list * apart + first + k] = 0.0;
        for (u32 list = 0; list < sample_lists; list++) ((SAMPLE*)r.samples)[list * apart + first + k] = 0;
        r.kept[first + k] = 0;
    }
    if (threadIdx.x == 0) r.clocks[i].start_s = r.clocks[i].next_s = 0.0;
}
