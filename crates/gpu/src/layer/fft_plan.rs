//! Plans of mixed-radix Fourier transforms.

use crate::cuda_struct::cuda_struct;

/// Largest sides (cells) of contact regions for each transform; a transform has twice as many points along a side.
pub(super) const SIDES: [usize; 27] = [
    8, 12, 16, 18, 24, 27, 32, 36, 48, 54, 64, 72, 96, 108, 128, 144, 192, 216, 256, 288, 384, 432, 512, 576, 768, 864,
    1024,
];

/// The radices that the kernels implement.
const RADICES: [usize; 8] = [16, 12, 9, 8, 6, 4, 3, 2];
const MAX_STAGES: usize = 6;

cuda_struct! {
    /// The length of a transform and the radices of its stages.
    #[derive(PartialEq)]
    pub(super) struct FftPlan {
        pub size: i32,
        stages: i32,
        radix: [i32; 6],
    }
}

impl FftPlan {
    /// Plans a transform of size 2ᵃ3ᵇ with the fewest stages and with radices as equal as possible.
    pub fn new(size: usize) -> Self {
        let found = factors(size, 0, MAX_STAGES).unwrap_or_default();
        let mut radix = [0; MAX_STAGES];
        radix.iter_mut().zip(&found).for_each(|(to, &from)| *to = from as i32);
        Self { size: size as i32, stages: found.len() as i32, radix }
    }

    /// The wave number at each position of a spectrum in the order of the kernels.
    pub fn waves(&self) -> Vec<usize> {
        let size = self.size as usize;
        let wave = |place: usize| {
            let (mut length, mut rest, mut wave, mut unit) = (size, place, 0, 1);
            for &radix in &self.radix[..self.stages as usize] {
                let radix = radix as usize;
                length /= radix;
                wave += rest / length * unit;
                rest %= length;
                unit *= radix;
            }
            wave
        };
        (0..size).map(wave).collect()
    }

    /// The position of each wave number.
    pub fn places(&self) -> Vec<usize> {
        let mut places = vec![0; self.size as usize];
        self.waves().into_iter().enumerate().for_each(|(place, wave)| places[wave] = place);
        places
    }

    /// For each position, the position of the opposite wave number.
    pub fn opposite(&self) -> Vec<i32> {
        let (size, places) = (self.size as usize, self.places());
        self.waves().into_iter().map(|wave| places[(size - wave) % size] as i32).collect()
    }
}

/// The fewest radices with a given product, starting at the `from`-th radix and at most `max` of them; among these, the
/// ones whose largest radix is smallest.
fn factors(size: usize, from: usize, max: usize) -> Option<Vec<usize>> {
    if size == 1 {
        return Some(Vec::new());
    }
    if max == 0 {
        return None;
    }
    let with = |place: usize| {
        let radix = RADICES[place];
        let rest = size.is_multiple_of(radix).then(|| factors(size / radix, place, max - 1)).flatten()?;
        Some([vec![radix], rest].concat())
    };
    (from..RADICES.len()).filter_map(with).min_by_key(|all| (all.len(), all[0]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_side_has_plans_of_few_stages() {
        for side in SIDES {
            for size in [side, 2 * side] {
                let plan = FftPlan::new(size);
                let product: i32 = plan.radix[..plan.stages as usize].iter().product();
                assert_eq!(product as usize, size);
                assert!(plan.stages <= if size <= 192 { 2 } else { 3 }, "{plan:?}");
            }
        }
    }

    /// Every wave number has one position, and the opposite of the opposite is itself.
    #[test]
    fn places_are_a_permutation() {
        for size in [16, 54, 72, 216] {
            let plan = FftPlan::new(size);
            let (waves, places, opposite) = (plan.waves(), plan.places(), plan.opposite());
            for place in 0..size {
                assert_eq!(places[waves[place]], place);
                assert_eq!(opposite[opposite[place] as usize] as usize, place);
                assert_eq!((waves[place] + waves[opposite[place] as usize]) % size, 0);
            }
        }
    }
}
