//! The time of a response in many environments, and what all taxels of an environment share in a step.

use crate::cuda_struct::{PtrMut, cuda_struct};
use dermis_sensor::response::{Operation, OperationKind};

/// Environment i counts its steps from i times this number on, so that no two have the same noise.
pub(super) const STEPS_APART: u64 = 1 << 40;
/// Tolerance of a delay (s), as on the CPU.
const DELAY_TOLERANCE_S: f64 = 1e-9;

cuda_struct! {
    /// The time of one environment and what its taxels share in a step: the number of this and of the next step since the last reset, and the number of the next
    /// step since its start, by which noise is drawn.
    #[derive(Default)]
    pub(crate) struct Clock {
        step: u64,
        next_step: u64,
        next_number: u64,
        /// Loss of sensitivity by time.
        loss_by_time: f64,
        /// State of the random generator before the first taxel.
        random: u64,
        /// Absolute (N) and relative standard deviation of the noise, times √(2 ln 2).
        noise_sd: f32,
        noise_relative: f32,
        /// 1 if a frame begins in this step, unless taxels have phases.
        is_new: u32,
        /// Slot in which the samples of this frame are kept, and the slot that is shown.
        slot: u32,
        shown: u32,
        unused: u32,
    }
}

cuda_struct! {
    /// What clocks are advanced by.
    #[derive(Default)]
    pub(crate) struct Timing {
        /// (environments); null without a response.
        clocks: PtrMut<Clock>,
        dt_s: f64,
        /// Loss of sensitivity by time, and its rate.
        loss_by_time: f64,
        losses_per_step: f64,
        seed: u64,
        noise_sd: f64,
        noise_relative: f64,
        /// Frames per step, at most one.
        frames_per_step: f64,
        delay_steps: u64,
        /// Number of frames whose samples are kept; 0 without samples and delay.
        slots: u64,
    }
}

impl Clock {
    /// The clock of environment i.
    pub fn of_environment(i: usize) -> Self {
        Self { next_number: STEPS_APART.wrapping_mul(i as u64), ..Self::default() }
    }
}

impl Timing {
    /// The timing of the stages of a response, for steps of `dt_s`.
    pub fn new(operations: &[Operation], dt_s: f64) -> Self {
        let mut all = Self { dt_s, frames_per_step: 1.0, ..Self::default() };
        for Operation { kind, numbers, .. } in operations {
            match kind {
                OperationKind::Sampling => {
                    all.frames_per_step = (numbers[0] * dt_s).min(1.0);
                    all.slots = 1;
                }
                OperationKind::Delay => {
                    all.delay_steps = ((numbers[0] - DELAY_TOLERANCE_S) / dt_s).ceil().max(0.0) as u64
                }
                // Losses by use come before those by time.
                OperationKind::Ageing => (all.loss_by_time, all.losses_per_step) = (numbers[3], dt_s / numbers[4]),
                // The seed's low and high half.
                OperationKind::Noise => {
                    (all.noise_sd, all.noise_relative) = (numbers[0], numbers[1]);
                    all.seed = numbers[2] as u64 | (numbers[3] as u64) << 32;
                }
                _ => {}
            }
        }
        if all.has_delay() {
            // Frames that begin during the delay, and the one that is shown.
            all.slots = ((all.delay_steps as f64 * all.frames_per_step).ceil() as u64).saturating_add(1);
        }
        all
    }

    pub fn with_clocks(self, clocks: PtrMut<Clock>) -> Self {
        Self { clocks, ..self }
    }

    /// True if there are clocks.
    pub fn has_clocks(&self) -> bool {
        self.clocks.0 != 0
    }

    /// Time step (s).
    pub fn dt_s(&self) -> f64 {
        self.dt_s
    }

    /// True if samples are shown later than they are taken.
    pub fn has_delay(&self) -> bool {
        self.delay_steps > 0
    }

    /// Number of frames whose samples are kept.
    pub fn slots(&self) -> usize {
        self.slots as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots(rate_hz: Option<f64>, delay_s: f64) -> usize {
        let sampling = rate_hz.map(|rate| Operation::new(OperationKind::Sampling, &[rate]));
        let all = sampling.into_iter().chain([Operation::new(OperationKind::Delay, &[delay_s])]);
        Timing::new(&all.collect::<Vec<_>>(), 2e-3).slots()
    }

    /// A delay keeps the frames that begin while it lasts, of which there is at most one a step.
    #[test]
    fn delays_keep_frames() {
        assert_eq!(slots(None, 0.0), 0);
        assert_eq!(slots(None, 5e-3), 4);
        assert_eq!(slots(Some(200.0), 0.0), 1);
        assert_eq!(slots(Some(200.0), 5e-3), 3);
        assert_eq!(slots(Some(1e5), 5e-3), 4);
        assert_eq!(slots(Some(10.0), 0.1), 2);
    }
}
