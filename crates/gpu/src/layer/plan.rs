//! A length of transforms as a product of small ones.

use cudarc::driver::DeviceRepr;

/// Regions of up to so many cells a side have transforms of their own, of twice as many points.
pub(super) const SIDES: [usize; 27] = [
    8, 12, 16, 18, 24, 27, 32, 36, 48, 54, 64, 72, 96, 108, 128, 144, 192, 216, 256, 288, 384, 432, 512, 576, 768, 864,
    1024,
];

/// The small lengths that kernels know.
const RADICES: [usize; 8] = [16, 12, 9, 8, 6, 4, 3, 2];
const MAX_STAGES: usize = 6;

/// How a transform is made, as kernels take it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Plan {
    size: i32,
    stages: i32,
    radix: [i32; MAX_STAGES],
}

// SAFETY: plain numbers, laid out as in fourier.cu.
#[allow(unsafe_code)]
unsafe impl DeviceRepr for Plan {}

impl Plan {
    /// In as few stages as can be, which are as even as can be. A size is a product of twos and threes.
    pub fn new(size: usize) -> Self {
        let found = factors(size, 0, MAX_STAGES).unwrap_or_default();
        let mut radix = [0; MAX_STAGES];
        radix.iter_mut().zip(&found).for_each(|(to, &from)| *to = from as i32);
        Self { size: size as i32, stages: found.len() as i32, radix }
    }

    /// The wave at each place of a spectrum as kernels leave it.
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

    /// The place of each wave.
    pub fn places(&self) -> Vec<usize> {
        let mut places = vec![0; self.size as usize];
        self.waves().into_iter().enumerate().for_each(|(place, wave)| places[wave] = place);
        places
    }

    /// For each place that of the opposite wave.
    pub fn opposite(&self) -> Vec<i32> {
        let (size, places) = (self.size as usize, self.places());
        self.waves().into_iter().map(|wave| places[(size - wave) % size] as i32).collect()
    }
}

/// Radices from the `from`-th on whose product is a size: few, and the largest of them small.
fn factors(size: usize, from: usize, most: usize) -> Option<Vec<usize>> {
    if size == 1 {
        return Some(Vec::new());
    }
    if most == 0 {
        return None;
    }
    let with = |place: usize| {
        let radix = RADICES[place];
        let rest = size.is_multiple_of(radix).then(|| factors(size / radix, place, most - 1)).flatten()?;
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
                let plan = Plan::new(size);
                let product: i32 = plan.radix[..plan.stages as usize].iter().product();
                assert_eq!(product as usize, size);
                assert!(plan.stages <= if size <= 192 { 2 } else { 3 }, "{plan:?}");
            }
        }
    }

    /// Every wave has one place, and the opposite of the opposite is where it was.
    #[test]
    fn places_are_a_permutation() {
        for size in [16, 54, 72, 216] {
            let plan = Plan::new(size);
            let (waves, places, opposite) = (plan.waves(), plan.places(), plan.opposite());
            for place in 0..size {
                assert_eq!(places[waves[place]], place);
                assert_eq!(opposite[opposite[place] as usize] as usize, place);
                assert_eq!((waves[place] + waves[opposite[place] as usize]) % size, 0);
            }
        }
    }
}
