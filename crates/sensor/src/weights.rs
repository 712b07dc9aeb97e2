//! A sparse matrix of weights between taxels.

use crate::response::{Operation, OperationKind, ResponseState, Stage, Step};

/// A sparse matrix over the taxels, row by row: yᵢ = Σ w_ij xⱼ. Sums run in the order of j, so the same input gives the
/// same bytes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Weights {
    starts: Vec<usize>,
    sources: Vec<u32>,
    weights: Vec<f64>,
}

impl Weights {
    /// Makes the matrix from entries (i, j, w_ij) in any order; duplicate entries are added.
    pub fn new(taxels: usize, mut entries: Vec<(usize, usize, f64)>) -> Self {
        entries.retain(|entry| entry.2 != 0.0);
        entries.sort_by_key(|&(to, from, _)| (to, from));
        let mut result = Self { starts: vec![0], ..Self::default() };
        let mut entries = entries.into_iter().peekable();
        for row in 0..taxels {
            while let Some((_, from, weight)) = entries.next_if(|entry| entry.0 == row) {
                let started = result.sources.len() > result.starts[row];
                match result.sources.last() {
                    Some(&last) if started && last as usize == from => {
                        if let Some(sum) = result.weights.last_mut() {
                            *sum += weight;
                        }
                    }
                    _ => {
                        result.sources.push(from as u32);
                        result.weights.push(weight);
                    }
                }
            }
            result.starts.push(result.sources.len());
        }
        result
    }

    /// Number of taxels.
    pub fn taxels(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// w_ij for one i: pairs (j, w_ij).
    pub fn row(&self, to: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.starts[to]..self.starts[to + 1];
        self.sources[range.clone()].iter().zip(&self.weights[range]).map(|(&j, &w)| (j as usize, w))
    }

    /// w_ij; zero without an entry.
    pub fn get(&self, to: usize, from: usize) -> f64 {
        self.row(to).find(|&(j, _)| j == from).map_or(0.0, |(_, w)| w)
    }

    /// Applies the matrix. Values beyond the number of taxels are ignored.
    pub fn apply(&self, values: &[f64]) -> Vec<f64> {
        (0..self.taxels()).map(|to| self.row(to).map(|(from, w)| w * values[from]).sum()).collect()
    }
}

impl Stage for Weights {
    fn step(&self, values: &mut Vec<f64>, _: &mut ResponseState, _: &Step) {
        *values = self.apply(values);
    }

    fn operation(&self, _: usize) -> Option<Operation> {
        Some(Operation::sum(OperationKind::Crosstalk, self))
    }

    fn vjp(&self, values: &[f64], by_values: &mut Vec<f64>) -> Vec<(&'static str, Vec<f64>)> {
        let mut before = vec![0.0; values.len()];
        for (to, by) in by_values.iter().enumerate() {
            self.row(to).for_each(|(from, weight)| before[from] += weight * by);
        }
        *by_values = before;
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_that_meet_are_added() {
        let weights = Weights::new(2, vec![(1, 0, 2.0), (0, 1, 0.5), (1, 0, 1.0), (1, 1, 4.0)]);
        assert_eq!(weights.apply(&[1.0, 10.0]), [5.0, 43.0]);
        assert_eq!((weights.get(1, 0), weights.get(0, 0)), (3.0, 0.0));
    }
}
