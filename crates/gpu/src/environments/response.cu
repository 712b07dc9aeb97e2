// The response of all environments: `Chain::respond` of `dermis_sensor`. Most taxels are at rest: their value is zero, and so is their memory.
// `respond` computes, for the others alone, the stages up to the last one that has sums or memory of presses, and on to the first that changes taxels at rest; where samples are kept, the
// rest of the stages too, and takes their samples. `read_out` computes the rest of the stages for all other taxels and writes readings. A step without a frame only keeps memory and shows
// samples again.
// Stages before TAIL are divided into segments: a sum with the stages after it, or the stages before the first sum. Each segment has a set of taxels, which presses have reached since
// the reset; it grows where a taxel is loaded for the first time, by all taxels of whose sum that is a source. Lanes take taxels from a list, so that they are side by side.
// A warp computes an environment, or WARPS of them where environments are few.
// Samples are kept frame by frame in SLOTS lists, in turn: a delay reads an earlier one, and a step without a frame writes none.
// Compile-time definitions are STAGES, the kinds of all stages in the order of `Chain`, so that the code of a response has no branches between them, NUMBERS, LENGTHS, TAXEL_LISTS,
// MEMORY_LISTS and MEMORY_LENGTHS, where their numbers, their lists of numbers per taxel and their lists of memory are, PATTERNS and PATTERN_LISTS, how many patterns of sources a sum has
// and where their list is, TARGETS and TARGET_LENGTHS, where the lists of taxels are of which a taxel is a source, NUMBER_COUNT, HAS_SHARED_NUMBERS, TAXELS,
// ENVIRONMENTS and WARPS, of a block and of an environment, one of which is 1, GROUP (1 or 4), the taxels of a thread of `read_out`, which divides TAXELS, WIDE, if sets of taxels do not fit into shared memory, HAS_OFFSETS and HAS_PHASES, if some are not zero, SLOTS, HAS_DELAY, and SAMPLE,
// the type of samples.
// Values are rounded to counts before they are sampled and delayed, which gives the same readings: counts take fewer bytes.

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

// The larger and the smaller of two numbers of which the first may be NaN, which is not chosen; fewer instructions than fmax and fmin.
template <class T> __device__ __forceinline__ T larger(T a, T b) { return a > b ? a : b; }
template <class T> __device__ __forceinline__ T smaller(T a, T b) { return a < b ? a : b; }

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

// 32 random bits of PCG-XSH-RR 64/32, `Random::next_u32`: the high ones of the 53 bits of a number that is uniform in [0, 1), `Random::uniform`. Its low ones are skipped.
// FLIP: with all bits inverted.
template <bool FLIP> __device__ __forceinline__ u32 uniform_bits(u64& state) {
    constexpr u64 FACTOR = PCG_FACTOR * PCG_FACTOR, TERM = PCG_TERM * (PCG_FACTOR + 1);
    const u32 low = (u32)state, high = (u32)(state >> 32);
    u32 bits;
    // a ^ b, or ~(a ^ b), in one instruction.
    asm("lop3.b32 %0, %1, %2, 0, %3;" : "=r"(bits) : "r"((u32)(state >> 27)), "r"(high >> 13), "n"(FLIP ? 0xc3 : 0x3c));
    // By parts of 32 bits: the compiler would compute all states from the first one, in more instructions.
    u64 wide;
    asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(wide) : "r"(low), "r"((u32)FACTOR), "l"(TERM));
    state = (u64)((u32)(wide >> 32) + low * (u32)(FACTOR >> 32) + high * (u32)FACTOR) << 32 | (u32)wide;
    return __funnelshift_r(bits, bits, high >> 27);
}
// Functions of the GPU for numbers that are not denormal, with absolute errors of 4e-7.
__device__ __forceinline__ float quick_log2(float x) {
    asm("lg2.approx.ftz.f32 %0, %0;" : "+f"(x));
    return x;
}
__device__ __forceinline__ float quick_root(float x) {
    asm("sqrt.approx.ftz.f32 %0, %0;" : "+f"(x));
    return x;
}
__device__ __forceinline__ float quick_cos(float x) {
    asm("cos.approx.ftz.f32 %0, %0;" : "+f"(x));
    return x;
}
__device__ __forceinline__ float quick_sin(float x) {
    asm("sin.approx.ftz.f32 %0, %0;" : "+f"(x));
    return x;
}
// Two normally distributed numbers, divided by √(2 ln 2): those of the CPU's sequence, `Random::normals`. state: of the generator; moves on to the next pair, each of which takes four
// numbers. In single precision and with the high 32 bits of two numbers, which moves nearly all by less than two millionths.
__device__ __forceinline__ float2 normals(u64& state) {
    const float unit = 1.0f / 4294967296.0f, pi = 3.14159265f;
    // 1 − u; the skipped bits are half a unit on average.
    const float left = fmaf((float)uniform_bits<true>(state), unit, 0.5f * unit);
    // 2π u, or 2π (u − 1).
    const float angle = (float)(i32)uniform_bits<false>(state) * (2.0f * unit * pi), radius = quick_root(fabsf(quick_log2(left)));
    return make_float2(radius * quick_cos(angle), radius * quick_sin(angle));
}

// Kinds of all stages, the first of their numbers (of a sum, of its sources), of their lists of numbers per taxel and of their lists of
// memory, and the numbers of these, and the lists of the targets of a sum; the last entry is not one of them.
constexpr u32 KINDS[] = {STAGES COUNTS};
constexpr u32 NUMBER[] = {NUMBERS 0}, LENGTH[] = {LENGTHS 0}, TARGET[] = {TARGETS 0}, TARGET_LENGTH[] = {TARGET_LENGTHS 0};
constexpr u32 PATTERN_COUNT[] = {PATTERNS 0}, PATTERN_LIST[] = {PATTERN_LISTS 0};
constexpr u32 TAXEL_LIST[] = {TAXEL_LISTS 0}, MEMORY_LIST[] = {MEMORY_LISTS 0}, MEMORY_LENGTH[] = {MEMORY_LENGTHS 0};
constexpr u32 LAST = sizeof(KINDS) / sizeof(u32) - 1;

// The first stage of a kind, or the end.
__device__ constexpr u32 first_of(u32 kind) {
    u32 k = 0;
    while (k < LAST && KINDS[k] != kind) k++;
    return k;
}
// The stage that takes samples, and the one that rounds to counts: values are counts from there on.
constexpr u32 SAMPLER = first_of(SAMPLING), COUNTER = first_of(COUNTS);
// The first of the stages that keep samples; they are the last ones.
constexpr u32 FIRST_HELD = SAMPLER < first_of(DELAY) ? SAMPLER : first_of(DELAY);
constexpr bool HAS_SAMPLES = SLOTS > 0;
// The first of the stages without memory before the samples: what they compute is used only where a sample is taken in this step.
__device__ constexpr u32 first_unkept() {
    u32 k = SAMPLER;
    while (SAMPLER < LAST && k > 0 && MEMORY_LENGTH[k - 1] == 0) k--;
    return k;
}
constexpr u32 UNKEPT = first_unkept();
__device__ constexpr bool is_unkept(u32 k) { return k >= UNKEPT && k < SAMPLER; }
__device__ constexpr bool is_sum(u32 k) { return k < LAST && KINDS[k] <= CROSSTALK; }
// True for the stages whose memory is written by a press.
__device__ constexpr bool is_pressed_memory(u32 kind) { return kind == HYSTERESIS || kind == CREEP || kind == AGEING; }
// True for the stages that leave a taxel at rest as it is.
__device__ constexpr bool keeps_rest(u32 kind) {
    return is_pressed_memory(kind) || (kind == GAIN && !HAS_OFFSETS) || (kind >= THRESHOLD && kind <= SATURATION);
}
// True if one of the stages k … end − 1 changes taxels at rest; sums do not, where all are at rest.
__device__ constexpr bool changes_rest(u32 k, u32 end) {
    while (k < end && (is_sum(k) || keeps_rest(KINDS[k]))) k++;
    return k < end;
}
// The first of the stages that are computed by groups: after all sums and memory of presses, and after those that leave taxels at rest as they are.
__device__ constexpr u32 first_of_last() {
    u32 k = FIRST_HELD;
    while (k > 0 && !is_sum(k - 1) && !is_pressed_memory(KINDS[k - 1])) k--;
    while (k > 0 && k < FIRST_HELD && keeps_rest(KINDS[k])) k++;
    return k;
}
constexpr u32 TAIL = first_of_last();
// The first sum over taxels from stage k on, or the first stage that is computed by groups.
__device__ constexpr u32 segment_end(u32 k) {
    while (k < TAIL && !is_sum(k)) k++;
    return k;
}
// The number of segments: of sums, each with the stages after it, and of the stages before the first sum.
__device__ constexpr u32 segments() {
    u32 count = TAIL > 0 && !is_sum(0);
    for (u32 k = 0; k < TAIL; k++) count += is_sum(k);
    return count;
}
// True if one of the stages k … end − 1 has memory of presses.
__device__ constexpr bool has_pressed_memory(u32 k, u32 end) {
    while (k < end && !is_pressed_memory(KINDS[k])) k++;
    return k < end;
}
// The first number of memory of presses of stage k among those of all stages.
__device__ constexpr u32 pressed_first(u32 k) {
    u32 first = 0;
    for (u32 j = 0; j < k; j++) first += is_pressed_memory(KINDS[j]) ? MEMORY_LENGTH[j] : 0;
    return first;
}
constexpr u32 SEGMENTS = segments();
// True if values depend on earlier presses. Otherwise sets of taxels are of this step alone.
constexpr bool HAS_PAST = has_pressed_memory(0, TAIL);
// Words of a set of taxels.
constexpr u32 WORDS = (TAXELS + 31) / 32;
// Words that a warp lists at a time.
constexpr u32 CHUNK = (WORDS + WARPS - 1) / WARPS < 32 ? (WORDS + WARPS - 1) / WARPS : 32;

// One environment: its number, whether a frame may begin in this step, the numbers of all stages, its parameters or null, its clock, its loads (N), and where they are if GROUP is 4,
// the sets of this segment and of the one before, and a set of taxels that are reached for the first time, the warp of this thread, its list of taxels, and whether all taxels have values.
struct Environment {
    u32 index;
    bool is_sampled;
    const double* numbers;
    const double* parameters;
    const Clock* clock;
    const View* loads;
    const float* row;
    u32* set;
    u32* sources;
    u32* fresh;
    u32 warp;
    u16* list;
    bool is_everywhere;
};

// The factor of an environment on a parameter.
__device__ __forceinline__ double factor(const Environment& e, u32 parameter) { return e.parameters ? e.parameters[parameter] : 1.0; }
__device__ __forceinline__ bool contains(const u32* set, u32 t) { return set[t / 32] >> t % 32 & 1u; }
// The taxels of a word of the set of all.
__device__ __forceinline__ u32 all_of_word(u32 word) { return 32 * word + 32 <= TAXELS ? ALL_LANES : (1u << TAXELS % 32) - 1u; }
// Waits until all threads of an environment are here, and what they wrote can be read.
__device__ __forceinline__ void meet() {
    if constexpr (WARPS == 1)
        __syncwarp();
    else
        __syncthreads();
}
#define FOR_WORDS(w) for (u32 w = threadIdx.x % (32 * WARPS); w < WORDS; w += 32 * WARPS)

// Calls a function with each taxel of a set, a lane each.
template <class Function> __device__ __forceinline__ void for_each(const Environment& e, const u32* set, Function function) {
    const u32 lane = threadIdx.x & 31u;
#pragma unroll 1
    for (u32 first = CHUNK * e.warp; first < WORDS; first += CHUNK * WARPS) {
        u32 bits = lane < CHUNK && first + lane < WORDS ? set[first + lane] : 0;
        // The number of taxels up to this lane's.
        u32 end = __popc(bits);
#pragma unroll
        for (u32 k = 1; k < 32; k *= 2) {
            const u32 before = __shfl_up_sync(ALL_LANES, end, k);
            if (lane >= k) end += before;
        }
        const u32 count = __shfl_sync(ALL_LANES, end, 31);
        if (count == 0) continue;
#pragma unroll 1
        for (u32 at = end - __popc(bits); bits; bits &= bits - 1) e.list[at++] = (u16)(32 * lane + __ffs(bits) - 1);
        __syncwarp();
#pragma unroll 1
        for (u32 k = lane; k < count; k += 32) function(32 * first + e.list[k]);
        __syncwarp();
    }
}

// p ← max(min(p, (1 + η) x + w), x); x ← p. before: p; memory: where it is kept.
__device__ __forceinline__ double hysteresis(const double* c, double before, double* memory, double x) {
    double held = larger(x, smaller(before, c[0] * larger(x, 0.0) + c[1]));
    if (held != before) *memory = held;
    return held;
}

// s ← s + (x − s) p; x ← x + Σ a s. c: a and p of each of TERMS terms. before: s of each term; memory: where they are kept, `apart` elements apart.
template <u32 TERMS> __device__ __forceinline__ double creep(const double* c, const double* before, double* memory, u64 apart, double x) {
    double y = x;
#pragma unroll
    for (u32 k = 0; k < TERMS; k++) {
        double slow = before[k] + (x - before[k]) * c[2 * k + 1];
        if (slow != before[k]) memory[k * apart] = slow;
        y += c[2 * k] * slow;
    }
    return y;
}

// Multiplies by the gain that is left after the presses. c: loss after many presses, part of the rest of it that a press adds. before: the part
// 1 − exp(−n/presses) of the loss after n presses, negative during a press; memory: where it is kept.
__device__ __forceinline__ double ageing(const double* c, double before, double* memory, double by_time, double x) {
    double part = fabs(before);
    if (before >= 0.0 && x > c[2]) {
        part += (1.0 - part) * c[1];
        *memory = -part;
    } else if (before < 0.0 && x < 0.5 * c[2]) {
        *memory = part;
    }
    return x * larger(1.0 - c[0] * part - by_time, 0.0);
}

// One taxel: its number, its memory in the first list, and how far it is to the next list.
struct Taxel {
    u32 t;
    double* memory;
    u64 apart;
};

// Reads the memory of presses of stages K … END − 1.
template <u32 K, u32 END> __device__ __forceinline__ void read_memory(const Taxel& taxel, double* before) {
    if constexpr (K < END) {
        if constexpr (is_pressed_memory(KINDS[K])) {
#pragma unroll
            for (u32 k = 0; k < MEMORY_LENGTH[K]; k++) before[pressed_first(K) + k] = taxel.memory[(MEMORY_LIST[K] + k) * taxel.apart];
        }
        read_memory<K + 1, END>(taxel, before);
    }
}

// Stage K, with memory of presses, of the value x (N) of a taxel.
template <u32 K> __device__ __forceinline__ double pressed_value(const Environment& e, const Taxel& taxel, const double* all_before, double x) {
    constexpr u32 kind = KINDS[K];
    const double *c = e.numbers + NUMBER[K], *before = all_before + pressed_first(K);
    double* memory = taxel.memory + MEMORY_LIST[K] * taxel.apart;
    if constexpr (kind == HYSTERESIS) return hysteresis(c, *before, memory, x);
    if constexpr (kind == CREEP) return creep<MEMORY_LENGTH[K]>(c, before, memory, taxel.apart, x);
    return ageing(c, *before, memory, e.clock->loss_by_time, x);
}

// Stage K, without memory, of the value x (N) of taxel t.
template <u32 K> __device__ __forceinline__ double plain_value(const ResponseView& r, const Environment& e, u32 t, double x) {
    constexpr u32 kind = KINDS[K];
    const double *c = e.numbers + NUMBER[K], *number = r.taxel_numbers + (TAXEL_LIST[K] * TAXELS + t);
    if constexpr (kind == GAIN) return x * (__ldg(number) * factor(e, GAIN_FACTOR)) + __ldg(number + TAXELS);
    if constexpr (kind == THRESHOLD) {
        double threshold = __ldg(number) * factor(e, THRESHOLD_FACTOR);
        return x <= threshold ? 0.0 : c[0] != 0.0 ? x - threshold : x;
    }
    if constexpr (kind >= LINEAR && kind <= TABLE) return x == 0.0 ? x : curve_value(kind, c, LENGTH[K], x);
    if constexpr (kind == SATURATION) return smaller(x, __ldg(number));
    if constexpr (kind == FAULTS) return __ldg(number);
    return x;
}

// Stages K … END − 1 of the value x (N) of a taxel, without those whose results no sample takes. before: its memory of presses.
template <u32 K, u32 END>
__device__ __forceinline__ double stages_value(const ResponseView& r, const Environment& e, const Taxel& taxel, const double* before, double x) {
    if constexpr (K < END) {
        if constexpr (is_pressed_memory(KINDS[K]))
            x = pressed_value<K>(e, taxel, before, x);
        else if (!is_unkept(K) || e.is_sampled)
            x = plain_value<K>(r, e, taxel.t, x);
        return stages_value<K + 1, END>(r, e, taxel, before, x);
    }
    return x;
}

// The jump of the random generator to the draws of the pair of taxel t: factor and term.
__device__ __forceinline__ ulonglong2 jump_of(const ResponseView& r, u32 t) { return __ldg((const ulonglong2*)r.jumps + t / 2); }
// The draw for the noise of taxel t, from the state before those of its pair.
__device__ __forceinline__ float draw_of(u64 random, u32 t) {
    const float2 pair = normals(random);
    return t % 2 ? pair.y : pair.x;
}
// Adds noise to the value of a taxel. draw: as of `normals`.
__device__ __forceinline__ double noisy(const Clock* clock, float draw, double x) {
    float sd = __ldg(&clock->noise_sd);
    const float relative = __ldg(&clock->noise_relative);
    if (relative > 0.0f) {
        const float part = relative * (float)x;
        sd = quick_root(sd * sd + part * part);
    }
    return x + (double)(draw * sd);
}

// The end of the stages before samples, without the rounding to counts.
constexpr u32 TAIL_END = COUNTER < FIRST_HELD ? COUNTER : FIRST_HELD;
static_assert(TAIL <= first_of(NOISE) && TAIL <= first_of(FAULTS), "noise and faults are stages of `read_out`");
// Stages K … TAIL_END − 1 of taxel t, without memory. draw: for its noise.
template <u32 K> __device__ __forceinline__ double tail_value(const ResponseView& r, const Environment& e, u32 t, float draw, bool is_faulty, double x) {
    if constexpr (K < TAIL_END) {
        if constexpr (KINDS[K] == NOISE)
            x = noisy(e.clock, draw, x);
        else if (KINDS[K] != FAULTS || is_faulty)
            x = plain_value<K>(r, e, t, x);
        return tail_value<K + 1>(r, e, t, draw, is_faulty, x);
    }
    return x;
}

// The sample of a value (N), rounded to counts if there are any. c: counts per newton, largest count.
__device__ __forceinline__ SAMPLE sample_of(const double* c, double x) {
    if constexpr (COUNTER == LAST) return (SAMPLE)x;
    const double counts = x * __ldg(c);
    if constexpr (sizeof(SAMPLE) == 2) {
        // The integer part of a number that is rounded towards zero; integers are clamped.
        const int rounded = __double2int_rz(__dadd_rz(counts, copysign(0.5, counts)));
        return (SAMPLE)min(max(rounded, 0), (int)__ldg(c + 1));
    }
    return counts > 0.0 ? (SAMPLE)smaller(round(counts), __ldg(c + 1)) : (SAMPLE)0;
}

// Where the sample of taxel t in a slot is.
__device__ __forceinline__ SAMPLE* sample_at(const ResponseView& r, const Environment& e, u32 slot, u32 t) {
    return (SAMPLE*)r.samples + (((u64)slot * r.environments + e.index) * TAXELS + t);
}

// True if `respond` takes the samples of the taxels that presses have reached.
constexpr bool TAKES_REACHED = HAS_SAMPLES && !HAS_PHASES && SEGMENTS > 0 && !changes_rest(0, TAIL);
// Takes the sample of the value x (N) of taxel t after the stages before TAIL.
__device__ __forceinline__ void take_sample(const ResponseView& r, const Environment& e, u32 t, double x) {
    float draw = 0.0f;
    bool is_faulty = false;
    if constexpr (first_of(NOISE) < LAST) {
        const ulonglong2 jump = jump_of(r, t);
        draw = draw_of(e.clock->random * jump.x + jump.y, t);
    }
    if constexpr (first_of(FAULTS) < LAST) is_faulty = __ldg(r.faulty + t / 32) >> t % 32 & 1u;
    x = tail_value<TAIL>(r, e, t, draw, is_faulty, x);
    *sample_at(r, e, e.clock->slot, t) = sample_of((const double*)r.numbers + NUMBER[COUNTER], x);
}

// Where the values after segment S of an environment are.
template <u32 S> __device__ __forceinline__ double* row_of(const ResponseView& r, const Environment& e) {
    return r.rows + ((u64)(S % 2) * r.environments + e.index) * TAXELS;
}
// The load (N) on taxel t.
__device__ __forceinline__ double load_of(const Environment& e, u32 t) {
    if constexpr (GROUP > 1) return e.row[t];
    return number_at(*e.loads, e.index, t, 0);
}
// The value (N) of taxel t before segment S.
template <u32 S> __device__ __forceinline__ double value_before(const ResponseView& r, const Environment& e, u32 t) {
    if constexpr (S == 0) return load_of(e, t);
    return contains(e.sources, t) ? row_of<S - 1>(r, e)[t] : 0.0;
}

// Σ w x of taxel t, stage K; for the spread, blended with x by the factor of the environment.
template <u32 K, u32 S> __device__ __forceinline__ double sum_value(const ResponseView& r, const Environment& e, u32 t) {
    const Term* term = r.terms + (NUMBER[K] + __ldg(r.patterns + (PATTERN_LIST[K] * TAXELS + t)));
    double sum = 0.0;
#pragma unroll 9
    for (u32 k = 0; k < LENGTH[K]; k++, term += PATTERN_COUNT[K]) {
        // Weight and offset.
        const double2 by = __ldg((const double2*)term);
        sum += by.x * value_before<S>(r, e, t + (u32)__double2loint(by.y));
    }
    const double scale = KINDS[K] == SPREAD ? factor(e, SPREAD_FACTOR) : 1.0;
    if (scale == 1.0) return sum;
    const double own = value_before<S>(r, e, t);
    return own + scale * (sum - own);
}

// The set of segment S, (n, SEGMENTS + 1, WORDS); the first one is that of the taxels that were loaded.
template <u32 S> __device__ __forceinline__ u32* reached_of(const ResponseView& r, const Environment& e) {
    return r.reached + ((u64)e.index * (SEGMENTS + 1) + S + 1) * WORDS;
}

// Adds to the sets of the segments from S on, the first stage of which is K, what is reached for the first time.
template <u32 K, u32 S> __device__ __forceinline__ void reach(const ResponseView& r, const Environment& e) {
    if constexpr (K < TAIL) {
        u32* reached = reached_of<S>(r, e);
        if constexpr (is_sum(K)) {
            FOR_WORDS(w) e.sources[w] = 0;
            meet();
            for_each(e, e.fresh, [&](u32 t) {
                const u32* target = r.targets + (TARGET[K] * TAXELS + t);
#pragma unroll 3
                for (u32 k = 0; k < TARGET_LENGTH[K]; k++, target += TAXELS) {
                    const u32 to = __ldg(target);
                    atomicOr(e.sources + to / 32, 1u << to % 32);
                }
            });
            meet();
            FOR_WORDS(w) e.fresh[w] = e.sources[w];
        }
        FOR_WORDS(w) {
            const u32 before = S == 0 ? e.set[w] : HAS_PAST ? reached[w] : 0, now = before | e.fresh[w];
            e.fresh[w] &= ~before;
            if (now != before || !HAS_PAST) reached[w] = now;
            if (S == 0) e.set[w] = now;
        }
        meet();
        reach<segment_end(is_sum(K) ? K + 1 : K), S + 1>(r, e);
    }
}

// Adds the taxels that are loaded for the first time, and what they reach, to the sets of all segments, and reads the set of the first one. loaded: as of `respond`.
__device__ __forceinline__ void start(const ResponseView& r, const Environment& e, const u32* loaded) {
    if (!loaded) {
#pragma unroll 4
        for (u32 w = e.warp; w < WORDS; w += WARPS) {
            const u32 t = 32 * w + (threadIdx.x & 31u);
            const u32 bits = __ballot_sync(ALL_LANES, t < TAXELS && load_of(e, t) != 0.0);
            if ((threadIdx.x & 31u) == 0) e.fresh[w] = bits;
        }
        meet();
    }
    u32 *seen = reached_of<0>(r, e) - WORDS, any = 0;
#pragma unroll 2
    FOR_WORDS(w) {
        const u32 now = loaded ? loaded[(u64)e.index * WORDS + w] : e.fresh[w], before = HAS_PAST ? seen[w] : 0;
        e.set[w] = HAS_PAST ? reached_of<0>(r, e)[w] : 0;
        e.fresh[w] = now & ~before;
        any |= now & ~before;
        if (HAS_PAST && now & ~before) seen[w] = before | now;
    }
    const bool has_fresh = WARPS == 1 ? __any_sync(ALL_LANES, any) : __syncthreads_or(any);
    if (has_fresh || !HAS_PAST) reach<0, 0>(r, e);
    meet();
}

// Segment S: stages K … END − 1, the first of which may be a sum.
template <u32 K, u32 END, u32 S> __device__ __forceinline__ void segment(const ResponseView& r, Environment& e) {
    constexpr u32 FIRST = is_sum(K) ? K + 1 : K, KEPT_END = END < UNKEPT ? END : UNKEPT;
    e.is_everywhere |= changes_rest(FIRST, KEPT_END) || (changes_rest(FIRST, END) && e.is_sampled);
    if constexpr (S > 0) {
        u32* set = e.sources;
        e.sources = e.set;
        e.set = set;
    }
    if (S > 0 || e.is_everywhere) {
        FOR_WORDS(w) e.set[w] = e.is_everywhere ? all_of_word(w) : reached_of<S>(r, e)[w];
        meet();
    }
    for_each(e, e.set, [&](u32 t) {
        const Taxel taxel = {t, r.memory + ((u64)e.index * TAXELS + t), (u64)r.environments * TAXELS};
        double before[pressed_first(LAST) + 1], x;
        read_memory<FIRST, END>(taxel, before);
        if constexpr (is_sum(K))
            x = sum_value<K, S>(r, e, t);
        else
            x = value_before<S>(r, e, t);
        x = stages_value<FIRST, END>(r, e, taxel, before, x);
        if constexpr (END == TAIL && TAKES_REACHED) {
            if (e.is_sampled) take_sample(r, e, t, x);
        } else if (END < UNKEPT || e.is_sampled) {
            row_of<S>(r, e)[t] = x;
        }
    });
    meet();
}

// The segments from stage K on.
template <u32 K, u32 S> __device__ __forceinline__ void segments_from(const ResponseView& r, Environment& e) {
    if constexpr (K < TAIL) {
        constexpr u32 END = segment_end(is_sum(K) ? K + 1 : K);
        if (!is_unkept(K) || e.is_sampled) segment<K, END, S>(r, e);
        segments_from<END, S + 1>(r, e);
    }
}

extern __shared__ u32 shared_words[];

// Applies the stages before TAIL to the loads (N) of the taxels that are not at rest. parameters: (n, PARAMETERS) or null. loaded: one bit per taxel that may have a load,
// (n, WORDS), or null. sets: (n, 3, WORDS) if WIDE.
extern "C" __global__ void __launch_bounds__(32 * ENVIRONMENTS * WARPS, 32 / (ENVIRONMENTS * WARPS))
    respond(ResponseView r, View loads, const double* parameters, const u32* loaded, u32* sets) {
    __shared__ double numbers[HAS_SHARED_NUMBERS ? NUMBER_COUNT + 1 : 1];
    __shared__ u16 lists[ENVIRONMENTS * WARPS][32 * CHUNK];
#pragma unroll 1
    for (u32 k = threadIdx.x; HAS_SHARED_NUMBERS && k < NUMBER_COUNT; k += blockDim.x) numbers[k] = r.numbers[k];
    __syncthreads();
    Environment e;
    const u32 warp = threadIdx.x / 32, own = WARPS == 1 ? warp : 0;
    e.warp = WARPS == 1 ? 0 : warp;
    e.list = lists[warp];
    e.numbers = HAS_SHARED_NUMBERS ? numbers : (const double*)r.numbers;
    e.loads = &loads;
#pragma unroll 1
    for (e.index = blockIdx.x * ENVIRONMENTS + own; e.index < r.environments; e.index += gridDim.x * ENVIRONMENTS) {
        e.parameters = parameters ? parameters + (u64)e.index * PARAMETERS : parameters;
        e.clock = r.timing.clocks + e.index;
        e.is_sampled = !HAS_SAMPLES || HAS_PHASES || e.clock->is_new;
        e.row = (const float*)loads.address + loads.strides[0] * (i64)e.index;
        e.set = WIDE ? sets + (u64)e.index * 3 * WORDS : shared_words + own * 3 * WORDS;
        e.sources = e.set + WORDS;
        e.fresh = e.sources + WORDS;
        e.is_everywhere = false;
        start(r, e, loaded);
        segments_from<0, 0>(r, e);
        meet();
    }
}
