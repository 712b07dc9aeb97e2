//! A seeded random number generator. Results depend on its sequence, so it must never change.

/// PCG-XSH-RR 64/32 (O'Neill 2014): the same seed gives the same sequence on every machine.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    const MULTIPLIER: u64 = 6_364_136_223_846_793_005;
    const INCREMENT: u64 = 1_442_695_040_888_963_407;

    /// Creates a generator whose sequence depends only on `seed`.
    pub fn new(seed: u64) -> Self {
        let mut random = Self { state: seed.wrapping_add(Self::INCREMENT) };
        random.next_u32();
        random
    }

    /// 32 random bits.
    pub fn next_u32(&mut self) -> u32 {
        let old = self.state;
        self.state = old.wrapping_mul(Self::MULTIPLIER).wrapping_add(Self::INCREMENT);
        let mixed = (((old >> 18) ^ old) >> 27) as u32;
        mixed.rotate_right((old >> 59) as u32)
    }

    /// Uniform in [0, 1).
    pub fn uniform(&mut self) -> f64 {
        let bits = (u64::from(self.next_u32()) << 21) ^ u64::from(self.next_u32() >> 11);
        bits as f64 / (1u64 << 53) as f64
    }

    /// Uniform in [low, high).
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// Normal with mean 0 and variance 1.
    pub fn normal(&mut self) -> f64 {
        self.normals()[0]
    }

    /// Two independent numbers, normal with mean 0 and variance 1 (Box–Muller), of as many draws as one.
    pub fn normals(&mut self) -> [f64; 2] {
        let radius = (-2.0 * (1.0 - self.uniform()).ln()).sqrt();
        let (sin, cos) = (std::f64::consts::TAU * self.uniform()).sin_cos();
        [radius * cos, radius * sin]
    }

    /// Jumps over `stride`, 2 `stride`, … numbers of 32 bits, the first over none: factor and term that take the state there,
    /// for generators that run side by side.
    pub fn jumps(stride: usize, count: usize) -> Vec<[u64; 2]> {
        let (mut factor, mut term) = (1u64, 0u64);
        let jump = |_| {
            let this = [factor, term];
            for _ in 0..stride {
                factor = factor.wrapping_mul(Self::MULTIPLIER);
                term = term.wrapping_mul(Self::MULTIPLIER).wrapping_add(Self::INCREMENT);
            }
            this
        };
        (0..count).map(jump).collect()
    }

    /// Uniform on the unit sphere.
    pub fn direction(&mut self) -> crate::Vec3 {
        let z = self.between(-1.0, 1.0);
        let angle = self.between(0.0, std::f64::consts::TAU);
        let r = (1.0 - z * z).max(0.0).sqrt();
        crate::Vec3::new(r * angle.cos(), r * angle.sin(), z)
    }
}

/// Finaliser of SplitMix64 (Steele et al. 2014): neighbouring numbers become seeds of independent sequences.
pub fn mixed(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jump_ends_where_the_sequence_does() {
        let mut random = Random::new(5);
        let start = random.state;
        for [factor, term] in Random::jumps(4, 3) {
            assert_eq!(start.wrapping_mul(factor).wrapping_add(term), random.state);
            for _ in 0..4 {
                random.next_u32();
            }
        }
    }

    #[test]
    fn moments_are_those_of_the_distributions() {
        let mut random = Random::new(7);
        let n = 200_000;
        let uniform: f64 = (0..n).map(|_| random.uniform()).sum::<f64>() / f64::from(n);
        let square: f64 = (0..n).map(|_| random.normal().powi(2)).sum::<f64>() / f64::from(n);
        let pairs: Vec<[f64; 2]> = (0..n).map(|_| random.normals()).collect();
        let second = pairs.iter().map(|pair| pair[1].powi(2)).sum::<f64>() / f64::from(n);
        let both = pairs.iter().map(|pair| pair[0] * pair[1]).sum::<f64>() / f64::from(n);
        assert!((second - 1.0).abs() < 4.0 * (2.0 / f64::from(n)).sqrt(), "{second}");
        assert!(both.abs() < 4.0 / f64::from(n).sqrt(), "{both}");
        assert!((uniform - 0.5).abs() < 4.0 * (1.0f64 / 12.0 / f64::from(n)).sqrt(), "{uniform}");
        assert!((square - 1.0).abs() < 4.0 * (2.0 / f64::from(n)).sqrt(), "{square}");
    }
}
