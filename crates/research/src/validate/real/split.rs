//! Which samples a fit uses and which are kept out.

/// Samples of a fit and samples that are kept out, by index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Split {
    /// Indices that the fit uses, increasing.
    pub fitted: Vec<usize>,
    /// All others, increasing. All samples if nothing is fitted.
    pub kept_out: Vec<usize>,
}

impl Split {
    /// Distributes `fitted` of `samples` evenly, so that the kept-out samples are evenly distributed too. At least one
    /// sample is kept out. The order of the samples alone determines the split.
    pub fn even(samples: usize, fitted: usize) -> Self {
        let fitted = fitted.min(samples.saturating_sub(1));
        // Keeps out the sample in the middle of each of `out` equal parts.
        let out = samples - fitted;
        let is_out = |i: usize| (0..out).any(|k| (2 * k + 1) * samples / (2 * out).max(1) == i);
        let (kept_out, fitted) = (0..samples).partition(|&i| is_out(i));
        Self { fitted, kept_out }
    }

    /// Fits the samples for which `is_fitted` holds.
    pub fn by(samples: usize, is_fitted: impl Fn(usize) -> bool) -> Self {
        let (fitted, kept_out) = (0..samples).partition(|&i| is_fitted(i));
        Self { fitted, kept_out }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_have_the_asked_size_and_are_even() {
        for samples in 1..40 {
            for fitted in 0..samples + 2 {
                let split = Split::even(samples, fitted);
                assert_eq!(split.fitted.len(), fitted.min(samples - 1), "{fitted} of {samples}");
                assert_eq!(split.fitted.len() + split.kept_out.len(), samples);
            }
        }
        assert_eq!(Split::even(16, 12).kept_out, [2, 6, 10, 14]);
        assert_eq!(Split::even(5, 0).kept_out, [0, 1, 2, 3, 4]);
    }
}
