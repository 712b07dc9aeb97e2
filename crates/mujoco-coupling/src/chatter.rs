//! Contact that begins and ends every few steps.
//!
//! With the forces at the end of the step a contact comes to rest at any time step, unless other forces answer it a step late:
//! those of MuJoCo's own constraints, such as dry friction in joints, are taken from the last step. A light body that they
//! hold can then bounce for ever between two skins.

/// Number of single steps without contact among the last 64, from which it chatters. A body that bounces or rolls off loses contact
/// for longer.
const MIN_GAPS: u32 = 3;

/// The warning of a sensor whose contact chatters.
pub const CHATTERS: &str = "the skin loses and regains contact every few steps, so that its force is that of no contact at rest and objects slip: \
     the time step is too long for the joints and the other contacts of these bodies (their forces act a step late); use a smaller time \
     step, armature on light joints or less frictionloss";

/// Whether a sensor was in contact in the last 64 steps.
#[derive(Clone, Debug, Default)]
pub struct Chatter(u64);

impl Chatter {
    /// Adds a step. True if contact chatters.
    pub fn add(&mut self, touches: bool) -> bool {
        self.0 = self.0 << 1 | u64::from(touches);
        let gaps = (self.0 << 1) & !self.0 & (self.0 >> 1);
        gaps.count_ones() >= MIN_GAPS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Contact that ends for single steps chatters; rest, and a body that bounces, do not.
    #[test]
    fn contact_in_every_few_steps_chatters() {
        let chatters = |touches: &dyn Fn(u64) -> bool| {
            let mut chatter = Chatter::default();
            (0..500).any(|step| chatter.add(touches(step)))
        };
        assert!(chatters(&|step| step % 2 == 0) && chatters(&|step| step % 4 != 0) && chatters(&|step| step % 20 != 0));
        assert!(!chatters(&|_| true) && !chatters(&|_| false) && !chatters(&|step| step > 100));
        assert!(!chatters(&|step| step % 20 < 10) && !chatters(&|step| step % 40 != 0));
    }
}
