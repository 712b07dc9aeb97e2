// The second kernel of a response (response.cu): samples of taxels at rest, and readings of all. Taxels are divided into groups of GROUP, a thread each.

// Two floats in the bits of a double.
__device__ __forceinline__ float2 two_floats(const double* pair) { return __ldg((const float2*)pair); }
// The values of a group, which are read at once.
struct __align__(GROUP > 1 ? 16 : 8) Values {
    double of[GROUP];
};
#define FOR_GROUP(j) _Pragma("unroll") for (u32 j = 0; j < GROUP; j++)

// The samples of a group, which are read and written at once.
template <bool ARE_PACKED> struct __align__(GROUP * sizeof(SAMPLE) < 16 ? GROUP * sizeof(SAMPLE) : 16) SamplesOf {
    SAMPLE all[GROUP];

    template <class T> __device__ __forceinline__ static SamplesOf together(const T* values) {
        SamplesOf samples;
        FOR_GROUP(j) samples.all[j] = (SAMPLE)values[j];
        return samples;
    }
    __device__ __forceinline__ static SamplesOf read(const SamplesOf* at) { return *at; }
    __device__ __forceinline__ void write(SamplesOf* at) const { *at = *this; }
    __device__ __forceinline__ SAMPLE operator[](u32 j) const { return all[j]; }
};
// Four counts of 16 bits are in two words: as elements of an array, each would be taken out of its word and put back. They pass the cache, which other kernels use until they are read again.
template <> struct SamplesOf<true> {
    uint2 all;

    // Of the low 16 bits of four numbers.
    template <class T> __device__ __forceinline__ static SamplesOf together(const T* values) {
        return {make_uint2(__byte_perm((u32)values[0], (u32)values[1], 0x5410), __byte_perm((u32)values[2], (u32)values[3], 0x5410))};
    }
    __device__ __forceinline__ static SamplesOf read(const SamplesOf* at) { return {__ldcs(&at->all)}; }
    __device__ __forceinline__ void write(SamplesOf* at) const { __stcs(&at->all, all); }
    __device__ __forceinline__ SAMPLE operator[](u32 j) const { return (SAMPLE)((j < 2 ? all.x : all.y) >> 16 * (j % 2)); }
};
typedef SamplesOf<GROUP == 4 && sizeof(SAMPLE) == 2> Samples;

// What a thread knows of its group, the same in all environments: its first taxel, a bit for each taxel with a fault, and the jump of the random generator to its first draw.
struct Own {
    u32 t, faulty;
    ulonglong2 jump;
};
// What a group needs of its samples: a bit for each that is taken in this step, the slots in which they are kept, the same for all unless taxels have phases, and the samples
// that are shown.
struct Held {
    u32 taken;
    u32 slots[HAS_PHASES ? GROUP : 1];
    Samples shown;
};
constexpr u32 GROUPS = TAXELS / GROUP;
// Where the samples of a slot of the group from taxel t on are. There are fewer groups than 2³².
__device__ __forceinline__ Samples* samples_at(const ResponseView& r, const Environment& e, u32 slot, u32 t) {
    return (Samples*)r.samples + ((u64)slot * (r.environments * GROUPS) + (e.index * GROUPS + t / GROUP));
}
// Reads what the group from taxel t on needs of its samples.
__device__ __forceinline__ Held held_of(const ResponseView& r, const Environment& e, u32 t) {
    Held held = {};
    if constexpr (HAS_SAMPLES && HAS_PHASES) {
        const double* phase = r.taxel_numbers + (TAXEL_LIST[SAMPLER] * TAXELS + t);
        const u64 step = __ldg(&e.clock->step);
        SAMPLE shown[GROUP] = {};
        FOR_GROUP(j) {
            const Frame frame = frame_of(r.timing, step, __ldg(phase + j));
            held.slots[j] = frame.slot;
            held.taken |= (u32)frame.is_new << j;
            if (frame.shown != NO_SLOT) shown[j] = *sample_at(r, e, frame.shown, t + j);
        }
        held.shown = Samples::together(shown);
    } else if constexpr (HAS_SAMPLES) {
        // Whether a frame begins, its slot and the one that is shown.
        const uint4 frame = __ldg((const uint4*)&e.clock->is_new);
        held.taken = frame.x ? (1u << GROUP) - 1u : 0;
        held.slots[0] = frame.y;
        if ((HAS_DELAY || !held.taken) && frame.z != NO_SLOT) held.shown = Samples::read(samples_at(r, e, frame.z, t));
    }
    return held;
}
// Keeps the new samples of a group; returns those that are shown.
__device__ __forceinline__ Samples keep_samples(const ResponseView& r, const Environment& e, u32 t, const Held& held, const Samples& samples) {
    if constexpr (HAS_PHASES) {
        SAMPLE shown[GROUP];
        FOR_GROUP(j) {
            const bool is_taken = held.taken >> j & 1u;
            if (is_taken) *sample_at(r, e, held.slots[j], t + j) = samples[j];
            shown[j] = HAS_DELAY || !is_taken ? held.shown[j] : samples[j];
        }
        return Samples::together(shown);
    }
    if (held.taken) samples.write(samples_at(r, e, held.slots[0], t));
    return HAS_DELAY || !held.taken ? held.shown : samples;
}

// True if taxels at rest only get noise, or are broken, before they are rounded to counts of 16 bits.
__device__ constexpr bool is_quiet() {
    for (u32 k = TAIL; k < TAIL_END; k++)
        if (KINDS[k] != NOISE && KINDS[k] != FAULTS) return false;
    return first_of(NOISE) < TAIL_END && COUNTER < LAST && sizeof(SAMPLE) == 2;
}
// The samples of a group. slot: where those are that `respond` has taken.
__device__ __forceinline__ Samples samples_of(const ResponseView& r, const Environment& e, const View& loads, const Own& own, u32 slot) {
    constexpr u32 MASK = (1u << GROUP) - 1u;
    u32 active = MASK;
    if constexpr (SEGMENTS > 0 && !changes_rest(0, TAIL)) active = reached_of<SEGMENTS - 1>(r, e)[own.t / 32] >> own.t % 32 & MASK;
    float draws[GROUP];
    if constexpr (first_of(NOISE) < LAST) {
        u64 random = __ldg(&e.clock->random) * own.jump.x + own.jump.y;
        if constexpr (GROUP == 1) draws[0] = draw_of(random, own.t);
        FOR_GROUP(j) if (j % 2) {
            const float2 pair = normals(random);
            draws[j - 1] = pair.x;
            draws[j] = pair.y;
        }
    }
    Samples samples;
    const double* c = e.numbers + NUMBER[COUNTER];
    if (is_quiet() && !(own.faulty | (TAKES_REACHED ? 0 : active))) {
        // In single precision. The last bits of a float of this size are of ones.
        const float2 scale = two_floats(c + 4);
        const float by = __ldg(&e.clock->noise_sd) * scale.x, ones = 12582912.0f;
        u32 counts[GROUP];
        FOR_GROUP(j) counts[j] = __float_as_uint(fmaf(__saturatef(draws[j] * by), scale.y, ones));
        samples = Samples::together(counts);
    } else {
        Values x = {};
        if constexpr (SEGMENTS == 0)
            numbers_at<GROUP>(loads, e.index, own.t, x.of);
        else if (!TAKES_REACHED && active)
            x = *(const Values*)(row_of<SEGMENTS - 1>(r, e) + own.t);
        SAMPLE all[GROUP];
        FOR_GROUP(j) {
            const double value = active >> j & 1u ? x.of[j] : 0.0;
            all[j] = sample_of(c, tail_value<TAIL>(r, e, own.t + j, draws[j], own.faulty >> j & 1u, value));
        }
        samples = Samples::together(all);
    }
    if (TAKES_REACHED && active) {
        const Samples taken = Samples::read(samples_at(r, e, slot, own.t));
        SAMPLE all[GROUP];
        FOR_GROUP(j) all[j] = active >> j & 1u ? taken[j] : samples[j];
        samples = Samples::together(all);
    }
    return samples;
}

// True if readings are computed in single precision.
constexpr bool IS_SHORT = COUNTER < LAST && GROUP > 1 && sizeof(SAMPLE) < 8;
// Writes the readings (N) of the samples of a group. c: counts per newton, largest count, newtons per count; unit: newtons per count as the sum of two floats.
__device__ __forceinline__ void set_readings(const Environment& e, const View& to, u32 t, float2 unit, const Samples& samples) {
    const double* c = e.numbers + NUMBER[COUNTER];
    if constexpr (IS_SHORT) {
        // Rounded to f32 as the quotient is.
        float readings[GROUP];
        FOR_GROUP(j) readings[j] = fmaf((float)samples[j], unit.x, (float)samples[j] * unit.y);
        __stcs((float4*)((float*)to.address + (to.strides[0] * (i64)e.index + t)), make_float4(readings[0], readings[1], readings[2], readings[3]));
    } else {
        double readings[GROUP];
        FOR_GROUP(j) {
            const double x = (double)samples[j];
            readings[j] = x;
            if constexpr (COUNTER < LAST) {
                // Rounded as a division, but with fewer instructions (Markstein 1990).
                double value = x * c[2];
                value = __fma_rn(__fma_rn(-value, c[0], x), c[2], value);
                readings[j] = __fma_rn(__fma_rn(-value, c[0], x), c[2], value);
            }
        }
        set_numbers<GROUP>(to, e.index, t, readings);
    }
}

// Takes the samples that `respond` has not taken, after the last stages, and writes the readings of all taxels. loads: as of `respond`. There are at least as many
// threads as groups, and each has the same group in all its environments.
extern "C" __global__ void __launch_bounds__(READ_OUT_THREADS, 2048 / READ_OUT_THREADS) read_out(ResponseView r, View loads, View to, const double* parameters) {
    const u32 first = blockIdx.x * READ_OUT_THREADS + threadIdx.x, at_once = gridDim.x * READ_OUT_THREADS / GROUPS;
    if (first / GROUPS >= at_once) return;
    Own own = {GROUP * (first % GROUPS), 0, {}};
    if constexpr (first_of(FAULTS) < LAST) own.faulty = __ldg(r.faulty + own.t / 32) >> own.t % 32 & ((1u << GROUP) - 1u);
    if constexpr (first_of(NOISE) < LAST) own.jump = jump_of(r, own.t);
    float2 unit = {};
    if constexpr (IS_SHORT) unit = two_floats(r.numbers + NUMBER[COUNTER] + 3);
    Environment e = {};
    e.numbers = r.numbers;
#pragma unroll 1
    for (e.index = first / GROUPS; e.index < r.environments; e.index += at_once) {
        e.parameters = parameters ? parameters + (u64)e.index * PARAMETERS : parameters;
        e.clock = r.timing.clocks + e.index;
        const Held held = held_of(r, e, own.t);
        Samples samples = {};
        if (!HAS_SAMPLES || held.taken) samples = samples_of(r, e, loads, own, held.slots[0]);
        if constexpr (HAS_SAMPLES) samples = keep_samples(r, e, own.t, held, samples);
        set_readings(e, to, own.t, unit, samples);
    }
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
    const u32 words = (SEGMENTS + 1) * WORDS;
    for (u32 k = threadIdx.x; k < words; k += blockDim.x) r.reached[i * (u64)words + k] = 0;
    if (threadIdx.x == 0) r.timing.clocks[i].next_step = 0;
}
