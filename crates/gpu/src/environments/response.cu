// The response of all environments: `Chain::respond` of `dermis_sensor`. One block for AT_ONCE environments: their values are in shared memory, and their taxels
// are numbered one environment after the other. The numbers of the stages are in shared memory, if HAS_SHARED_NUMBERS.
// Most taxels are at rest: their value is zero, and they were not pressed since their reset. Stages that leave such taxels as they are do not compute them
// and do not read their memory, and sums are computed where a source may differ from zero: between the first and the last taxel of an environment that is not at rest, and
// as far beyond as sums reach. The last stages, from the first on that changes taxels at rest, are computed by groups. Stages without memory before the sampling are computed
// where a sample is taken only.
// A thread reads loads and samples and writes readings of GROUP taxels at once, and starts to read all that it needs before it computes: the kernel waits for memory more than it computes.
// Samples are kept frame by frame in SLOTS lists, in turn: a delay reads an earlier one, and a step without a frame writes none.
// Compile-time definitions are STAGES, the kinds of all stages in the order of `Chain`, so that the code of a response has no branches between them, NUMBERS, LENGTHS, TAXEL_LISTS,
// MEMORY_LISTS and MEMORY_LENGTHS, where their numbers, their lists of numbers per taxel and their lists of memory are, REACHES, the largest difference between the
// numbers of a taxel and of a source of its sum, NUMBER_COUNT, HAS_SHARED_NUMBERS, TAXELS, AT_ONCE, THREADS, GROUP (1 or 4), which divides TAXELS, WIDE, if the rows of values do not fit into shared memory,
// HAS_OFFSETS and HAS_PHASES, if some are not zero, SLOTS, HAS_DELAY, and SAMPLE, the type of samples.
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

// The square root of a number that is not negative, to two units in the last place.
__device__ __forceinline__ float root(float x) { return x * rsqrtf(larger(x, 1e-37f)); }

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
constexpr u32 NUMBER[] = {NUMBERS 0}, LENGTH[] = {LENGTHS 0}, REACH[] = {REACHES 0};
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
// True if a thread has one group.
constexpr bool IS_ONE_PASS = AT_ONCE * TAXELS <= GROUP * THREADS;
// The first of the stages without memory before the samples: what they compute is used only where a sample is taken in this step.
__device__ constexpr u32 first_unkept() {
    u32 k = SAMPLER;
    while (SAMPLER < LAST && k > 0 && MEMORY_LENGTH[k - 1] == 0) k--;
    return k;
}
constexpr u32 UNKEPT = first_unkept();
__device__ constexpr bool is_unkept(u32 k) { return k >= UNKEPT && k < SAMPLER; }
__device__ constexpr bool is_sum(u32 k) { return k < LAST && KINDS[k] <= CROSSTALK; }
// True for the stages whose memory is written by a press: it is all zero until `kept` of the taxel is 1.
__device__ constexpr bool is_pressed_memory(u32 kind) { return kind == HYSTERESIS || kind == CREEP || kind == AGEING; }
// True for the stages that leave a taxel at rest as it is.
__device__ constexpr bool keeps_rest(u32 kind) {
    return is_pressed_memory(kind) || (kind == GAIN && !HAS_OFFSETS) || (kind >= THRESHOLD && kind <= SATURATION);
}
// The first stage from k on that may change a taxel at rest, or the end.
__device__ constexpr u32 rest_end(u32 k, u32 end) {
    while (k < end && keeps_rest(KINDS[k])) k++;
    return k;
}
// The first of the stages that are computed by groups: after all sums and memory of presses, and after those that leave taxels at rest as they are.
__device__ constexpr u32 first_of_last() {
    u32 k = FIRST_HELD;
    while (k > 0 && !is_sum(k - 1) && !is_pressed_memory(KINDS[k - 1])) k--;
    return rest_end(k, FIRST_HELD);
}
constexpr u32 TAIL = first_of_last();
// The first sum over taxels from stage k on, or the first stage that is computed by groups.
__device__ constexpr u32 segment_end(u32 k) {
    while (k < TAIL && !is_sum(k)) k++;
    return k;
}
// The sum of the reaches of all sums before stage k.
__device__ constexpr u32 reach_before(u32 k) {
    u32 reach = 0;
    for (u32 j = 0; j < k; j++) reach += is_sum(j) ? REACH[j] : 0;
    return reach;
}
// True if a stage before these changes taxels at rest: none is left at rest then.
__device__ constexpr bool changes_rest() {
    for (u32 k = 0; k < TAIL; k++)
        if (!is_sum(k) && !keeps_rest(KINDS[k])) return true;
    return false;
}
constexpr bool IS_EVERYWHERE = changes_rest();
// Taxels of which 32 have a word of bits.
constexpr u32 WORDS = (TAXELS + 31) / 32;
// The first number of memory of presses of stage k among those of all stages.
__device__ constexpr u32 pressed_first(u32 k) {
    u32 first = 0;
    for (u32 j = 0; j < k; j++) first += is_pressed_memory(KINDS[j]) ? MEMORY_LENGTH[j] : 0;
    return first;
}

// Taxels from `first` to before `end`; none unless first < end.
struct Range {
    u32 first, end;
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
    const Clock* clocks;
    // The taxels that are not at rest at the start.
    Range* ranges;
    // One bit per taxel with memory of presses, WORDS per environment.
    const u32* kept;
};
// The environment in its block and the number of the i-th taxel of a block.
#define OWN(i) (AT_ONCE == 1 ? 0 : (i) / TAXELS)
#define TAXEL(i) (AT_ONCE == 1 ? (i) : (i) % TAXELS)
// The first taxels of groups.
#define FOR_GROUPS(i) _Pragma("unroll 1") for (u32 i = GROUP * threadIdx.x; i < e.count * TAXELS; i += GROUP * THREADS)
#define FOR_GROUP(j) _Pragma("unroll") for (u32 j = 0; j < GROUP; j++)

// The factor of an environment of a block on a parameter.
__device__ __forceinline__ double factor(const Environments& e, u32 own, u32 parameter) {
    return e.parameters ? e.parameters[own * PARAMETERS + parameter] : 1.0;
}

// Adds the group from taxel t on to the range of its environment, by the first and the last of the active lanes of an environment.
__device__ __forceinline__ void widen(const Environments& e, u32 own, u32 t) {
    const u32 set = __activemask(), lane = threadIdx.x & 31;
    // The lanes of the environment before and after this one.
    const u32 start = lane - min(lane, t / GROUP), end = lane + min(31 - lane, (TAXELS - GROUP - t) / GROUP);
    if (!(set & ((1u << lane) - (1u << start)))) atomicMin(&e.ranges[own].first, t);
    if (!(set & ((2u << end) - (2u << lane)))) atomicMax(&e.ranges[own].end, t + GROUP);
}

// The taxels up to `reach` from those that are not at rest.
__device__ __forceinline__ Range range_of(const Environments& e, u32 own, u32 reach) {
    if (IS_EVERYWHERE) return {0, TAXELS};
    const Range range = e.ranges[own];
    if (range.first >= range.end) return {0, 0};
    return {max(range.first, reach) - reach, min(range.end + reach, (u32)TAXELS)};
}
__device__ __forceinline__ bool contains(const Range& range, u32 t) { return t >= range.first && t < range.end; }
// True if the group from taxel t on has taxels that stages may read.
__device__ __forceinline__ bool is_computed(const Environments& e, u32 own, u32 t) {
    const Range range = range_of(e, own, 2 * reach_before(TAIL));
    return t + GROUP > range.first && t < range.end;
}
// The bits of the group from taxel t of an environment on.
__device__ __forceinline__ u32 bits_of(const u32* words, u32 own, u32 t) { return words[own * WORDS + t / 32] >> t % 32 & (1u << GROUP) - 1u; }

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

// Adds the draw of a taxel: that of the CPU's sequence, which gives each taxel four numbers in turn. state: of the generator before the taxel; moves on to the next one.
// In single precision, with the GPU's own logarithm and cosine (absolute errors of 4e-7) and the high 32 bits of two numbers, which moves nearly all draws by
// less than two millionths of the standard deviation.
__device__ __forceinline__ double noise(const Clock& clock, u64& state, double x) {
    const float unit = 1.0f / 4294967296.0f, pi = 3.14159265f;
    // 1 − u, in units; the skipped bits are half a unit on average.
    float radius = root(larger(-2.0f * __logf(((float)~uniform_bits(state) + 0.5f) * unit), 0.0f));
    // cos(2π u) = −cos(2π u − π), of an angle between −π and π.
    float angle = (2.0f * unit * (float)uniform_bits(state) - 1.0f) * pi, relative = clock.noise_relative * (float)x;
    float sd = clock.noise_relative > 0.0f ? root(clock.noise_sd * clock.noise_sd + relative * relative) : clock.noise_sd;
    return x - (double)(radius * __cosf(angle) * sd);
}

// One taxel: its number in the block, its memory in the first list, how far it is to the next list, and whether it has memory of presses.
struct Taxel {
    u32 i;
    double* memory;
    u64 apart;
    bool has_memory;
};

// Reads the memory of presses of stages K … END − 1.
template <u32 K, u32 END> __device__ __forceinline__ void read_memory(const Taxel& taxel, double* before) {
    if constexpr (K < END) {
        if constexpr (is_pressed_memory(KINDS[K])) {
#pragma unroll
            for (u32 k = 0; k < MEMORY_LENGTH[K]; k++)
                before[pressed_first(K) + k] = taxel.has_memory ? taxel.memory[(MEMORY_LIST[K] + k) * taxel.apart] : 0.0;
        }
        read_memory<K + 1, END>(taxel, before);
    }
}

// Stage K, with memory of presses, of the value x (N) of a taxel.
template <u32 K> __device__ __forceinline__ double pressed_value(const Environments& e, Taxel& taxel, const double* all_before, double x) {
    constexpr u32 kind = KINDS[K];
    const double *c = e.numbers + NUMBER[K], *before = all_before + pressed_first(K);
    double* memory = taxel.memory + MEMORY_LIST[K] * taxel.apart;
    if constexpr (kind == HYSTERESIS) return hysteresis(c, *before, memory, taxel.has_memory, x);
    if constexpr (kind == CREEP) return creep<MEMORY_LENGTH[K]>(c, before, memory, taxel.apart, taxel.has_memory, x);
    return ageing(c, *before, memory, taxel.has_memory, e.clocks[OWN(taxel.i)].loss_by_time, x);
}

// Stage K, without memory, of the value x (N) of the i-th taxel of the block.
template <u32 K> __device__ __forceinline__ double plain_value(const ResponseView& r, const Environments& e, u32 i, double x) {
    constexpr u32 kind = KINDS[K];
    const u32 own = OWN(i), t = TAXEL(i);
    const double *c = e.numbers + NUMBER[K], *number = r.taxel_numbers + (TAXEL_LIST[K] * TAXELS + t);
    if constexpr (kind == GAIN) return x * (__ldg(number) * factor(e, own, GAIN_FACTOR)) + __ldg(number + TAXELS);
    if constexpr (kind == THRESHOLD) {
        double threshold = __ldg(number) * factor(e, own, THRESHOLD_FACTOR);
        return x <= threshold ? 0.0 : c[0] != 0.0 ? x - threshold : x;
    }
    if constexpr (kind >= LINEAR && kind <= TABLE) return x == 0.0 ? x : curve_value(kind, c, LENGTH[K], x);
    if constexpr (kind == SATURATION) return smaller(x, __ldg(number));
    if constexpr (kind == FAULTS) return __ldg(number);
    if constexpr (kind == COUNTS) {
        double counts = round(x * c[0]);
        return counts > 0.0 ? smaller(counts, c[1]) : 0.0;
    }
    return x;
}

// Stages K … END − 1 of the value x (N) of a taxel, without those whose results no sample takes. before: its memory of presses.
template <u32 K, u32 END>
__device__ __forceinline__ double stages_value(const ResponseView& r, const Environments& e, Taxel& taxel, const double* before, double x) {
    if constexpr (K < END) {
        if constexpr (is_pressed_memory(KINDS[K]))
            x = pressed_value<K>(e, taxel, before, x);
        else if (!is_unkept(K) || e.is_sampled)
            x = plain_value<K>(r, e, taxel.i, x);
        return stages_value<K + 1, END>(r, e, taxel, before, x);
    }
    return x;
}

// Stages K … END − 1 of all values.
template <u32 K, u32 END> __device__ __forceinline__ void stages(const ResponseView& r, const Environments& e) {
    if constexpr (K < END) {
        constexpr u32 REST = rest_end(K, END), reach = reach_before(K);
        if (is_unkept(K) && !e.is_sampled) return;
        const Range all = AT_ONCE == 1 ? range_of(e, 0, reach) : Range{0, e.count * TAXELS};
#pragma unroll 1
        for (u32 i = all.first + threadIdx.x; i < all.end; i += THREADS) {
            const u32 own = OWN(i), t = TAXEL(i);
            if (AT_ONCE > 1 && !contains(range_of(e, own, reach), t)) continue;
            double x = e.values[i];
            Taxel taxel = {i, r.memory + ((u64)e.first * TAXELS + i), (u64)r.environments * TAXELS, (e.kept[own * WORDS + t / 32] >> t % 32 & 1u) != 0};
            const bool had_memory = taxel.has_memory, is_at_rest = x == 0.0 && !had_memory;
            if (REST == END && is_at_rest) continue;
            if (K < REST && !is_at_rest) {
                double before[pressed_first(LAST) + 1];
                read_memory<K, REST>(taxel, before);
                x = stages_value<K, REST>(r, e, taxel, before, x);
                if (taxel.has_memory && !had_memory) atomicOr(r.kept + ((u64)(e.first + own) * WORDS + t / 32), 1u << t % 32);
            }
            e.values[i] = stages_value<REST, END>(r, e, taxel, 0, x);
        }
    }
}

// Numbers of a group, which are read and written at once.
template <class T> struct __align__(GROUP * sizeof(T) < 16 ? GROUP * sizeof(T) : 16) Group {
    T of[GROUP];
};
typedef Group<double> Values;
typedef Group<SAMPLE> Samples;
// What a group needs of its samples: a bit for each that is taken in this step, the slots in which they are kept, the same for all unless taxels have phases, and the samples
// that are shown.
struct Held {
    u32 taken;
    u32 slots[HAS_PHASES ? GROUP : 1];
    Samples shown;
};
// Where the samples of a slot of the group of taxel i are.
__device__ __forceinline__ Samples* samples_at(const ResponseView& r, const Environments& e, u32 slot, u32 i) {
    return (Samples*)((SAMPLE*)r.samples + (slot * ((u64)r.environments * TAXELS) + (u64)e.first * TAXELS + i));
}
// Reads what the group of taxel i needs of its samples.
__device__ __forceinline__ Held held_of(const ResponseView& r, const Environments& e, u32 i) {
    const Clock& clock = e.clocks[OWN(i)];
    Held held = {};
    if constexpr (HAS_SAMPLES && HAS_PHASES) {
        const double* phase = r.taxel_numbers + (TAXEL_LIST[SAMPLER] * TAXELS + TAXEL(i));
        FOR_GROUP(j) {
            const Frame frame = frame_of(r.timing, clock.step, __ldg(phase + j));
            held.slots[j] = frame.slot;
            held.taken |= (u32)frame.is_new << j;
            if (frame.shown != NO_SLOT) held.shown.of[j] = samples_at(r, e, frame.shown, i)->of[j];
        }
    } else if constexpr (HAS_SAMPLES) {
        held.slots[0] = clock.slot;
        held.taken = clock.is_new ? (1u << GROUP) - 1 : 0;
        if (clock.shown != NO_SLOT) held.shown = *samples_at(r, e, clock.shown, i);
    }
    return held;
}
// Samples the values of the group of taxel i, and shows samples.
__device__ __forceinline__ void keep_samples(const ResponseView& r, const Environments& e, u32 i, const Held& held, Values& x) {
    Samples now;
    FOR_GROUP(j) now.of[j] = (SAMPLE)x.of[j];
    if (HAS_PHASES) {
        FOR_GROUP(j) if (held.taken >> j & 1) samples_at(r, e, held.slots[j], i)->of[j] = now.of[j];
    } else if (held.taken) {
        *samples_at(r, e, held.slots[0], i) = now;
    }
    FOR_GROUP(j) if (HAS_DELAY || !(held.taken >> j & 1)) x.of[j] = (double)held.shown.of[j];
}

// The reading (N) of the value after all stages: counts / c[0], rounded as a division but with fewer instructions (Markstein 1990); c[2] = 1 / c[0].
__device__ __forceinline__ double reading(const Environments& e, double x) {
    if constexpr (COUNTER == LAST) return x;
    const double* c = e.numbers + NUMBER[COUNTER];
    double value = x * c[2];
    value = __fma_rn(__fma_rn(-value, c[0], x), c[2], value);
    return __fma_rn(__fma_rn(-value, c[0], x), c[2], value);
}

// What the taxels of a group need, for the next one: the state of the generator before it, and the bits of faults from it on.
struct Next {
    u64 random;
    u32 faulty;
};
static_assert(TAIL <= first_of(NOISE) && TAIL <= first_of(FAULTS), "noise and faults are stages of groups");
__device__ __forceinline__ Next next_of(const ResponseView& r, const Environments& e, u32 own, u32 t) {
    Next next = {};
    if constexpr (first_of(NOISE) < LAST) {
        const ulonglong2 by = __ldg((const ulonglong2*)r.jumps + t / GROUP);
        next.random = e.clocks[own].random * by.x + by.y;
    }
    if constexpr (first_of(FAULTS) < LAST) next.faulty = __ldg(r.faulty + t / 32) >> t % 32;
    return next;
}
// Stages K … FIRST_HELD − 1 of a taxel, without memory.
template <u32 K> __device__ __forceinline__ double tail_value(const ResponseView& r, const Environments& e, u32 i, Next& next, double x) {
    if constexpr (K < FIRST_HELD) {
        if constexpr (KINDS[K] == NOISE)
            x = noise(e.clocks[OWN(i)], next.random, x);
        else if (KINDS[K] != FAULTS || next.faulty & 1u)
            x = plain_value<K>(r, e, i, x);
        if (KINDS[K] == FAULTS) next.faulty >>= 1;
        return tail_value<K + 1>(r, e, i, next, x);
    }
    return x;
}

// The last stages of all values, which go to `to`. held: of the first group.
__device__ __forceinline__ void last_stages(const ResponseView& r, const Environments& e, Held held, const View& to) {
    FOR_GROUPS(i) {
        if (!IS_ONE_PASS) held = held_of(r, e, i);
        Values x = {};
        if (!HAS_SAMPLES || held.taken) {
            const u32 own = OWN(i), t = TAXEL(i);
            if (is_computed(e, own, t)) x = *(const Values*)(e.values + i);
            Next next = next_of(r, e, own, t);
            FOR_GROUP(j) x.of[j] = tail_value<TAIL>(r, e, i + j, next, x.of[j]);
        }
        if constexpr (HAS_SAMPLES) keep_samples(r, e, i, held, x);
        FOR_GROUP(j) x.of[j] = reading(e, x.of[j]);
        set_numbers<GROUP>(to, e.first + OWN(i), TAXEL(i), x.of);
    }
}

// x ← Σ w x for all taxels; for the spread, blended with x by the factor of the environment. A warp, or the whole block, computes an environment. The other
// rows are zero where nothing is computed.
template <u32 K> __device__ __forceinline__ void sums(const ResponseView& r, Environments& e) {
    constexpr u32 threads = AT_ONCE == 1 ? THREADS : 32;
    if (K > 0) __syncthreads();
#pragma unroll 1
    for (u32 own = threadIdx.x / threads; own < e.count; own += THREADS / threads) {
        const Range range = range_of(e, own, reach_before(K + 1));
        const double scale = KINDS[K] == SPREAD ? factor(e, own, SPREAD_FACTOR) : 1.0;
        const double *row = e.values + own * TAXELS;
#pragma unroll 1
        for (u32 t = range.first + threadIdx.x % threads; t < range.end; t += threads) {
            // Weight, and the source's place in bytes.
            const double2* term = (const double2*)r.terms + (NUMBER[K] + t);
            double sum = 0.0;
#pragma unroll 9
            for (u32 k = 0; k < LENGTH[K]; k++, term += TAXELS) {
                const double2 by = __ldg(term);
                sum += by.x * *(const double*)((const char*)row + (u32)__double2loint(by.y));
            }
            e.other[own * TAXELS + t] = scale == 1.0 ? sum : row[t] + scale * (sum - row[t]);
        }
    }
    __syncthreads();
    double* values = e.values;
    e.values = e.other;
    e.other = values;
}

// Stages K … TAIL − 1 of all values.
template <u32 K> __device__ __forceinline__ void apply(const ResponseView& r, Environments& e) {
    if constexpr (is_sum(K)) {
        if (!is_unkept(K) || e.is_sampled) sums<K>(r, e);
        apply<K + 1>(r, e);
    } else if constexpr (K < TAIL) {
        stages<K, segment_end(K)>(r, e);
        apply<segment_end(K)>(r, e);
    }
}

extern __shared__ __align__(16) double shared_rows[];

// Applies all stages to the values of `from` (N) and writes them to `to`. parameters: (n, PARAMETERS)
// or null. scratch: (n, 2, taxels) if WIDE. loaded: one bit per taxel that may have a load, (n, WORDS), or null.
extern "C" __global__ void __launch_bounds__(THREADS, (IS_ONE_PASS ? 1344 : 1536) / THREADS) respond(ResponseView r, View from, View to, const double* parameters, double* scratch,
                                                                                       const u32* loaded) {
    __shared__ Range ranges[AT_ONCE];
    __shared__ double numbers[HAS_SHARED_NUMBERS ? NUMBER_COUNT + 1 : 1];
    __shared__ u32 kept[WIDE ? 1 : AT_ONCE * WORDS];
    if (threadIdx.x < AT_ONCE) ranges[threadIdx.x] = {TAXELS, 0};
    __syncthreads();
    Environments e;
    e.first = blockIdx.x * AT_ONCE;
    e.count = AT_ONCE == 1 ? 1 : min(r.environments - e.first, (u32)AT_ONCE);
    e.numbers = HAS_SHARED_NUMBERS ? numbers : (const double*)r.numbers;
    e.values = WIDE ? scratch + 2 * (u64)e.first * TAXELS : shared_rows;
    e.other = e.values + AT_ONCE * TAXELS;
    e.parameters = parameters ? parameters + (u64)e.first * PARAMETERS : parameters;
    e.clocks = r.timing.clocks + e.first;
    e.ranges = ranges;
    const u32* kept_before = r.kept + (u64)e.first * WORDS;
    if (loaded) loaded += (u64)e.first * WORDS;
    e.kept = WIDE ? kept_before : kept;
#pragma unroll 1
    for (u32 k = threadIdx.x; HAS_SHARED_NUMBERS && k < NUMBER_COUNT; k += THREADS) numbers[k] = r.numbers[k];
#pragma unroll 1
    for (u32 k = threadIdx.x; k < e.count * WORDS; k += THREADS) {
        const u32 own = k / WORDS, first = 32 * (k % WORDS), bits = kept_before[k];
        if (!WIDE) kept[k] = bits;
        const u32 active = loaded ? bits | loaded[k] : bits;
        if (!active) continue;
        atomicMin(&ranges[own].first, first + __ffs(active) - 1);
        atomicMax(&ranges[own].end, first + 32 - __clz(active));
    }
    Held held = {};
    Values loads = {};
    bool is_own_taken = !HAS_SAMPLES || !HAS_PHASES && threadIdx.x < e.count && e.clocks[threadIdx.x].is_new;
    if (IS_ONE_PASS || HAS_PHASES || !loaded) {
        FOR_GROUPS(i) {
            const u32 own = OWN(i), t = TAXEL(i);
            if (IS_ONE_PASS || !loaded) numbers_at<GROUP>(from, e.first + own, t, loads.of);
            if (IS_ONE_PASS || HAS_PHASES) held = held_of(r, e, i);
            if (HAS_PHASES) is_own_taken |= held.taken != 0;
            bool is_loaded = false;
            FOR_GROUP(j) is_loaded |= !loaded && loads.of[j] != 0.0;
            if (is_loaded) widen(e, own, t);
        }
    }
    e.is_sampled = __syncthreads_or(is_own_taken);
    FOR_GROUPS(i) {
        const u32 own = OWN(i), t = TAXEL(i);
        if (!is_computed(e, own, t)) continue;
        if (!IS_ONE_PASS) numbers_at<GROUP>(from, e.first + own, t, loads.of);
        if (bits_of(e.kept, own, t)) {
            const double* memory = r.memory + (u64)e.first * TAXELS + i;
            for (u32 k = 0; k < pressed_first(LAST); k++) asm volatile("prefetch.global.L2 [%0];" : : "l"(memory + k * ((u64)r.environments * TAXELS)));
        }
        *(Values*)(e.values + i) = loads;
        *(Values*)(e.other + i) = Values{};
    }
    __syncthreads();
    apply<0>(r, e);
    __syncthreads();
    last_stages(r, e, held, to);
}

// Clears memory and time of the environments where the mask is not zero; the numbers of their steps go on, and the noise with them. One block
// per environment. mask: (n); null for all. lists: number of the lists of memory. Samples of before are not shown.
extern "C" __global__ void reset_response(View mask, ResponseView r, u32 lists) {
    u32 i = blockIdx.x;
    if (mask.address && number_at(mask, i, 0, 0) == 0.0) return;
    u64 apart = (u64)r.environments * r.taxels, first = (u64)i * r.taxels;
    for (u32 k = threadIdx.x; k < r.taxels; k += blockDim.x) {
        for (u32 list = 0; list < lists; list++) r.memory[list * apart + first + k] = 0.0;
    }
    const u32 words = (r.taxels + 31) / 32;
    for (u32 k = threadIdx.x; k < words; k += blockDim.x) r.kept[i * (u64)words + k] = 0;
    if (threadIdx.x == 0) r.timing.clocks[i].next_step = 0;
}
