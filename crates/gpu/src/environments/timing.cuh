// The time of a response, and what all taxels of an environment share in a step.

// Tolerance of times as a fraction of a frame.
#define SAME_TIME 1e-7
// No samples: none were taken since the reset.
#define NO_SLOT 0xffffffffu

// The frame of a step: whether it begins in this step, its slot, and the slot of the frame that is shown.
struct Frame {
    bool is_new;
    u32 slot, shown;
};

// Number of frames that began before a time (s) since the reset: `Sampling::apply`.
__device__ __forceinline__ u64 frames_before(const Timing& timing, double time_s, double phase) {
    return (u64)fmax(ceil(time_s * timing.frames_per_s - phase - SAME_TIME), 0.0);
}

// The frame of the step that starts at a time (s) since the reset.
__device__ __forceinline__ Frame frame_of(const Timing& timing, double start_s, double phase) {
    const u64 frames = frames_before(timing, start_s + timing.dt_s, phase);
    const double delayed_s = start_s - timing.delay_s;
    const u64 shown = delayed_s < -0.5 * timing.dt_s ? 0 : frames_before(timing, delayed_s + timing.dt_s, phase);
    return {frames > frames_before(timing, start_s, phase), (u32)(frames % timing.slots), shown ? (u32)(shown % timing.slots) : NO_SLOT};
}
