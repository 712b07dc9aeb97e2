// The time of a response, and what all taxels of an environment share in a step.

// Factor and term of the random generator, PCG-XSH-RR 64/32: `Random` of `dermis_geometry`.
#define PCG_FACTOR 6364136223846793005ull
#define PCG_TERM 1442695040888963407ull
// Tolerance of times as a fraction of a frame, as on the CPU.
#define FRAME_TOLERANCE 1e-7
// No samples: none were taken since the reset.
#define NO_SLOT 0xffffffffu

// The frame of a step: whether it begins in this step, its slot, and the slot of the frame that is shown.
struct Frame {
    bool is_new;
    u32 slot, shown;
};

// Number of frames that began before a step since the reset: `Sampling::apply`. From the number of the step: sums of time steps drift.
__device__ __forceinline__ u64 frames_before(const Timing& timing, u64 step, double phase) {
    return (u64)fmax(ceil((double)step * timing.frames_per_step - phase - FRAME_TOLERANCE), 0.0);
}

// The frame of a step since the reset.
__device__ __forceinline__ Frame frame_of(const Timing& timing, u64 step, double phase) {
    const u64 frames = frames_before(timing, step + 1, phase);
    const u64 shown = step < timing.delay_steps ? 0 : frames_before(timing, step - timing.delay_steps + 1, phase);
    return {frames > frames_before(timing, step, phase), (u32)(frames % timing.slots), shown ? (u32)(shown % timing.slots) : NO_SLOT};
}
