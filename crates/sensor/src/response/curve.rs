//! Nonlinear characteristic of a taxel.

use super::error::require;
use super::{Operation, OperationKind, ResponseError, ResponseState, Stage, Step};
use dermis_geometry::quantity::Force;
use serde::{Deserialize, Serialize};

/// The characteristic of a taxel: its reading as a function of the load, both in newtons (by the nominal conversion of
/// counts to newtons). Negative loads read zero.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
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
    /// y = s (x/s)^p: a resistive film whose conductance grows as a power of the load.
    Power {
        /// Exponent p: above 1 for a convex curve.
        exponent: f64,
        /// Load s that reads s.
        scale: Force,
    },
    /// y = t h/(1 + h), h = (x/t)^p: rises to t. With p = 1 it is the conductance of a contact resistance in series with
    /// a fixed one, R = R_s/F + R_i; with p > 1 it is S-shaped.
    Sigmoid {
        /// Exponent p.
        exponent: f64,
        /// Limit t of the reading; the load t reads t/2.
        limit: Force,
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
            Self::Power { exponent, scale } => scale.si() * (x / scale.si()).powf(*exponent),
            Self::Sigmoid { exponent, limit } => {
                let h = (x / limit.si()).powf(*exponent);
                if h.is_finite() { limit.si() * h / (1.0 + h) } else { limit.si() }
            }
            Self::Table { load, reads } => {
                let last = load.len() - 1;
                let piece = load.partition_point(|l| l.si() <= x).min(last);
                let (x0, y0) = if piece == 0 { (0.0, 0.0) } else { (load[piece - 1].si(), reads[piece - 1].si()) };
                y0 + (reads[piece].si() - y0) / (load[piece].si() - x0) * (x - x0)
            }
        }
    }

    /// dy/dx at a load (N).
    pub fn slope_at(&self, load_newton: f64) -> f64 {
        let x = load_newton.max(0.0);
        match self {
            Self::Linear { slope } => *slope,
            Self::Polynomial { coefficients, until } => slope_of(coefficients, x.min(until.si())),
            Self::Power { exponent, scale } => exponent * (x / scale.si()).powf(exponent - 1.0),
            Self::Sigmoid { exponent, limit } => {
                let h = (x / limit.si()).powf(*exponent);
                exponent * (x / limit.si()).powf(exponent - 1.0) / (1.0 + h).powi(2)
            }
            Self::Table { load, .. } => {
                let step = 1e-6 * load[load.len() - 1].si();
                (self.at(x + step) - self.at(x)) / step
            }
        }
    }

    /// Load for a reading (both N); the smallest one on a plateau, infinity above the limit of a sigmoid.
    pub fn load_of(&self, read_newton: f64) -> f64 {
        if read_newton.is_nan() || read_newton <= 0.0 {
            return 0.0;
        }
        match self {
            Self::Linear { slope } => return read_newton / slope,
            Self::Power { exponent, scale } => return scale.si() * (read_newton / scale.si()).powf(1.0 / exponent),
            Self::Sigmoid { limit, .. } if read_newton >= limit.si() => return f64::INFINITY,
            Self::Sigmoid { exponent, limit } => {
                return limit.si() * (read_newton / (limit.si() - read_newton)).powf(1.0 / exponent);
            }
            Self::Polynomial { .. } | Self::Table { .. } => {}
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
            Self::Power { exponent, scale } => {
                require(*exponent > 0.0, "curve.exponent", "positive", *exponent)?;
                require(scale.si() > 0.0, "curve.scale", "a positive force", scale.si())
            }
            Self::Sigmoid { exponent, limit } => {
                require(*exponent > 0.0, "curve.exponent", "positive", *exponent)?;
                require(limit.si() > 0.0, "curve.limit", "a positive force", limit.si())
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

    fn vjp(&self, values: &[f64], by_values: &mut Vec<f64>) -> Vec<(&'static str, Vec<f64>)> {
        for (by, &value) in by_values.iter_mut().zip(values) {
            *by *= if value < 0.0 { 0.0 } else { self.slope_at(value) };
        }
        Vec::new()
    }

    fn operation(&self, _: usize) -> Option<Operation> {
        let newtons = |values: &[Force]| values.iter().map(|value| value.si()).collect::<Vec<f64>>();
        let (kind, numbers) = match self {
            Self::Linear { slope } => (OperationKind::Linear, vec![*slope]),
            Self::Polynomial { coefficients, until } => {
                (OperationKind::Polynomial, [&[until.si()][..], coefficients].concat())
            }
            Self::Power { exponent, scale } => (OperationKind::Power, vec![*exponent, scale.si()]),
            Self::Sigmoid { exponent, limit } => (OperationKind::Sigmoid, vec![*exponent, limit.si()]),
            Self::Table { load, reads } => (OperationKind::Table, [newtons(load), newtons(reads)].concat()),
        };
        Some(Operation::new(kind, &numbers))
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
            Curve::Power { exponent: 1.6, scale: Force::new(3.0) },
            Curve::Sigmoid { exponent: 1.4, limit: Force::new(4.0) },
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
        assert_eq!((curves[3].at(3.0), curves[4].at(4.0)), (3.0, 2.0));
        for curve in curves {
            let slope = (curve.at(1.1 + 1e-6) - curve.at(1.1 - 1e-6)) / 2e-6;
            assert!((curve.slope_at(1.1) / slope - 1.0).abs() < 1e-6, "{curve:?}");
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
