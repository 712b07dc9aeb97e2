//! A search for the smallest value of a function in the unit cube.

/// Step at which the search along the axes begins, and the step at which it ends.
const FIRST_STEP: f64 = 0.15;
const LAST_STEP: f64 = 0.01;

/// Searches from the best of points that fill the cube, along its axes with steps that are halved where none leads down, until
/// `max_calls` are made. `cost` is `None` where it is not defined.
pub(super) fn search<E>(
    axes: usize,
    max_calls: usize,
    mut cost: impl FnMut(&[f64]) -> Result<Option<f64>, E>,
) -> Result<Option<Vec<f64>>, E> {
    let spread = (max_calls / 2).max(1);
    let mut best: Option<(f64, Vec<f64>)> = None;
    let mut calls = 0;
    let mut is_better = |at: &[f64], best: &mut Option<(f64, Vec<f64>)>| {
        let found = cost(at)?.filter(|cost| best.as_ref().is_none_or(|(least, _)| cost < least));
        let better = found.is_some();
        if let Some(cost) = found {
            *best = Some((cost, at.to_vec()));
        }
        Ok::<bool, E>(better)
    };
    while calls < spread {
        calls += 1;
        is_better(&halton(calls, axes), &mut best)?;
    }
    let mut step = FIRST_STEP;
    while step >= LAST_STEP && calls < max_calls {
        let Some((_, start)) = best.clone() else { return Ok(None) };
        for axis in 0..axes {
            for sign in [1.0, -1.0] {
                let mut at = best.as_ref().map_or_else(|| start.clone(), |(_, at)| at.clone());
                at[axis] = (at[axis] + sign * step).clamp(0.0, 1.0);
                let is_there = best.as_ref().is_some_and(|(_, best)| *best == at);
                if is_there || calls >= max_calls {
                    continue;
                }
                calls += 1;
                if is_better(&at, &mut best)? {
                    break;
                }
            }
        }
        if best.as_ref().is_some_and(|(_, at)| *at == start) {
            step *= 0.5;
        }
    }
    Ok(best.map(|(_, at)| at))
}

/// Point `index` (from 1) of Halton's sequence, which fills the unit cube evenly.
fn halton(index: usize, axes: usize) -> Vec<f64> {
    const BASES: [usize; 8] = [2, 3, 5, 7, 11, 13, 17, 19];
    let along = |base: usize| {
        let (mut part, mut left, mut digit) = (0.0, index, 1.0 / base as f64);
        while left > 0 {
            part += digit * (left % base) as f64;
            left /= base;
            digit /= base as f64;
        }
        part
    };
    (0..axes).map(|axis| along(BASES[axis % BASES.len()])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bowl with a hole where it is not defined, and its minimum in a corner of the cube along one axis.
    #[test]
    fn the_smallest_value_is_found() {
        let mut calls = 0;
        let cost = |at: &[f64]| {
            calls += 1;
            let value = (at[0] - 0.3).powi(2) + (at[1] - 1.2).powi(2) + 0.5 * (at[0] - 0.3) * (at[1] - 1.2);
            Ok::<_, ()>((at[0] > 0.1).then_some(value))
        };
        let best = search(2, 80, cost).unwrap().unwrap();
        assert!((best[0] - 0.35).abs() < 0.02 && best[1] == 1.0, "{best:?}");
        assert!(calls <= 80);
        assert_eq!(search(1, 20, |_| Ok::<_, ()>(None)), Ok(None));
        assert_eq!(search(1, 20, |_| Err("stop")), Err("stop"));
    }
}
