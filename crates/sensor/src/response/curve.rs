//! Nonlinear characteristic of a taxel.

use super::error::require;
use super::{ResponseError, ResponseState, Stage, Step};
use dermis_geometry::quantity::Force;
use serde::{Deserialize, Serialize};

/// The characteristic of a taxel: its reading as a function of the load, both in newtons (by the nominal conversion of
/// counts to newtons). Negative loads read zero.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Curve {
    /// y = slope · x.
    Linear {
        /// Reported newtons per newton of load.
        slope: f64,
    },
    /// y = Σ c_k x^k, k = 1, 2, … (Kappassov 2020, Fig. 5, red).
    Polynomial {
        /// c_1, c_2, … (1, 1/N, 1/N², …).
        coefficients: Vec<f64>,
        /// Load beyond which the curve continues linearly.
        until: Force,
    },
    /// Piecewise linear from (0, 0) through the points, extrapolated beyond the last.
    Table {
        /// Loads, increasing, above zero.
        load: Vec<Force>,
        /// Readings at these loads, non-decreasing.
        reads: Vec<Force>,
    },
}

impl Curve {
    /// The reading of a load (both N).
    pub fn at(&self, load_newton: f64) -> f64 {
        let x = load_newton.max(0.0);
        match self {
            Self::Linear { slope } => slope * x,
            Self::Polynomial { coefficients, until } => {
                let inside = x.min(until.si());
                let y = coefficients.iter().rev().fold(0.0, |sum, c| (sum + c) * inside);
                if x > inside { y + slope_of(coefficients, inside) * (x - inside) } else { y }
            }
            Self::Table { load, reads } => {
                let last = load.len() - 1;
                let piece = load.partition_point(|l| l.si() <= x).min(last);
                let (x0, y0) = if piece == 0 { (0.0, 0.0) } else { (load[piece - 1].si(), reads[piece - 1].si()) };
                y0 + (reads[piece].si() - y0) / (load[piece].si() - x0) * (x - x0)
            }
        }
    }

    /// Load for a reading (both N), by bisection; the smallest one on a plateau.
    pub fn load_of(&self, read_newton: f64) -> f64 {
        if read_newton.is_nan() || read_newton <= 0.0 {
            return 0.0;
        }
        let (mut low, mut high) = (0.0, 1.0);
        while self.at(high) < read_newton && high < 1e9 {
            high *= 2.0;
        }
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if self.at(middle) < read_newton {
                low = middle;
            } else {
                high = middle;
            }
        }
        0.5 * (low + high)
    }

    /// Applies the curve to the values (N).
    pub fn apply(&self, values: &mut [f64]) {
        for value in values {
            if *value != 0.0 {
                *value = self.at(*value);
            }
        }
    }
}

/// Slope of Σ c_k x^k, k = 1, 2, ….
fn slope_of(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().enumerate().rev().fold(0.0, |sum, (k, c)| sum * x + (k + 1) as f64 * c)
}

impl Stage for Curve {
    fn validate(&self, _: usize) -> Result<(), ResponseError> {
        match self {
            Self::Linear { slope } => require(*slope > 0.0, "curve.slope", "positive", *slope),
            Self::Polynomial { coefficients, until } => {
                require(!coefficients.is_empty(), "curve.coefficients", "at least one number", 0.0)?;
                for &c in coefficients {
                    require(true, "curve.coefficients", "finite", c)?;
                }
                require(until.si() > 0.0, "curve.until", "a positive force", until.si())?;
                let lowest = (0..=200).map(|i| slope_of(coefficients, until.si() * f64::from(i) / 200.0));
                let lowest = lowest.fold(f64::INFINITY, f64::min);
                require(lowest >= 0.0, "curve.coefficients", "rising from 0 to `until`; its least slope", lowest)
            }
            Self::Table { load, reads } => {
                require(load.len() == reads.len(), "curve.reads", "as long as `load`", reads.len() as f64)?;
                require(!load.is_empty(), "curve.load", "at least one point", 0.0)?;
                let (mut last_load, mut last_read) = (0.0, 0.0);
                for (load, read) in load.iter().zip(reads) {
                    require(load.si() > last_load, "curve.load", "rising from above zero", load.si())?;
                    require(read.si() >= last_read, "curve.reads", "never falling, from zero on", read.si())?;
                    (last_load, last_read) = (load.si(), read.si());
                }
                Ok(())
            }
        }
    }

    fn step(&self, values: &mut Vec<f64>, _: &mut ResponseState, _: &Step) {
        self.apply(values);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curves() -> Vec<Curve> {
        let newtons = |values: &[f64]| values.iter().copied().map(Force::new).collect();
        vec![
            Curve::Linear { slope: 0.8 },
            Curve::Polynomial { coefficients: vec![1.0, -0.1, 0.01], until: Force::new(2.0) },
            Curve::Table { load: newtons(&[0.5, 2.0]), reads: newtons(&[0.6, 1.5]) },
        ]
    }

    #[test]
    fn values_are_those_of_the_formulas() {
        let curves = curves();
        assert_eq!(curves[0].at(2.0), 1.6);
        assert!((curves[1].at(1.5) - (1.5 - 0.225 + 0.03375)).abs() < 1e-15);
        // Linear beyond 2 N: value 2 − 0.4 + 0.08, slope 1 − 0.4 + 0.12.
        assert!((curves[1].at(3.0) - (1.68 + 0.72)).abs() < 1e-15);
        for (load, truth) in [(0.25, 0.3), (0.5, 0.6), (1.25, 1.05), (4.0, 2.7)] {
            assert!((curves[2].at(load) - truth).abs() < 1e-15);
        }
    }

    #[test]
    fn curves_can_be_gone_back() {
        for curve in curves() {
            curve.validate(1).unwrap();
            for load in [0.0, 0.01, 0.7, 1.9, 5.0] {
                assert!((curve.load_of(curve.at(load)) - load).abs() < 1e-9, "{curve:?}");
            }
            assert_eq!(curve.at(-1.0), 0.0);
        }
    }

    #[test]
    fn falling_curves_are_refused() {
        let falling = Curve::Polynomial { coefficients: vec![1.0, -0.5], until: Force::new(2.0) };
        assert!(falling.validate(1).unwrap_err().to_string().contains("rising"));
        let table = Curve::Table { load: vec![Force::new(1.0), Force::new(1.0)], reads: vec![Force::new(1.0); 2] };
        assert!(table.validate(1).is_err());
    }
}
