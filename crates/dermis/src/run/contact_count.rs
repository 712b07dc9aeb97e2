//! Number and length of the contacts of a sensor.

/// The contacts of a sensor over the steps of a run. A contact is a sequence of steps in which a force acts on the sensor.
///
/// ```
/// use dermis::run::ContactCount;
/// let mut count = ContactCount::default();
/// [false, true, true, true, false, true, true].into_iter().for_each(|touches| count.add(touches));
/// assert_eq!((count.contacts, count.steps, count.shortest_steps()), (2, 5, Some(3))); // the second has not ended
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct ContactCount {
    /// Number of contacts, with one that has not ended.
    pub contacts: u64,
    /// Steps of all contacts.
    pub steps: u64,
    /// Steps of the contact that has not ended.
    current: u64,
    shortest: Option<u64>,
}

impl ContactCount {
    /// Adds a step.
    pub fn add(&mut self, touches: bool) {
        if touches {
            self.contacts += u64::from(self.current == 0);
            self.steps += 1;
            self.current += 1;
        } else if self.current > 0 {
            self.shortest = Some(self.shortest.map_or(self.current, |shortest| shortest.min(self.current)));
            self.current = 0;
        }
    }

    /// Number of steps of the shortest contact that has ended, or of the only one.
    pub fn shortest_steps(&self) -> Option<u64> {
        self.shortest.or(Some(self.current).filter(|steps| *steps > 0))
    }
}
