//! The overlap of taxels with the cells of a layer.

use crate::cuda_struct::cuda_struct;
use crate::{DeviceBuffer, Gpu, GpuError};
use dermis_sensor::Taxels;
use dermis_skin::SurfaceField;
use std::sync::Arc;

cuda_struct! {
    /// A grid of taxels of equal area (m²); zero rows and columns if the taxels have no grid.
    #[derive(Default)]
    pub(super) struct TaxelGrid {
        pub rows: i32,
        pub cols: i32,
        pub area: f64,
    }
}

/// The cells of each row and each column of taxels, on the GPU.
#[derive(Debug)]
pub(super) struct TaxelSpans {
    pub grid: TaxelGrid,
    /// First cell, number of cells and first weight of each row of taxels, then of each column.
    pub spans: DeviceBuffer<i32>,
    /// Overlap of each cell with the taxel, as a fraction of the taxels' pitch.
    pub weights: DeviceBuffer<f64>,
}

impl TaxelSpans {
    /// Computes and uploads the spans of taxels under a layer with the given surface.
    pub fn new(gpu: &Arc<Gpu>, taxels: &Taxels, surface: &SurfaceField) -> Result<Self, GpuError> {
        let (grid, spans, weights) = spans(taxels, surface);
        Ok(Self { grid, spans: gpu.upload(spans.as_flattened())?, weights: gpu.upload(&weights)? })
    }

    /// Number of taxels; zero if they have no grid.
    pub fn count(&self) -> usize {
        (self.grid.rows * self.grid.cols) as usize
    }
}

/// The grid, spans and weights of [`TaxelSpans`].
fn spans(taxels: &Taxels, surface: &SurfaceField) -> (TaxelGrid, Vec<[i32; 3]>, Vec<f64>) {
    let (mut grid, mut spans, mut weights) = (TaxelGrid::default(), Vec::new(), Vec::new());
    let Some((((rows, cols), pitch_m), overlaps)) = taxels.size().zip(taxels.pitch_m()).zip(taxels.overlaps(surface))
    else {
        return (grid, spans, weights);
    };
    grid = TaxelGrid { rows: rows as i32, cols: cols as i32, area: pitch_m * pitch_m };
    for (count, cells) in [rows, cols].into_iter().zip(&overlaps) {
        for taxel in 0..count {
            let share = |(cell, taxels): (usize, &Vec<(usize, f64)>)| {
                taxels.iter().find(|(under, _)| *under == taxel).map(|&(_, share)| (cell, share))
            };
            let (cells, shares): (Vec<usize>, Vec<f64>) = cells.iter().enumerate().filter_map(share).unzip();
            let first = cells.first().copied().unwrap_or(0);
            spans.push([first as i32, shares.len() as i32, weights.len() as i32]);
            weights.extend(shares);
        }
    }
    (grid, spans, weights)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layer::{LayerBatch, surface_of};
    use dermis_sensor::SensorSpec;

    #[test]
    fn every_taxel_is_covered_by_cells() {
        let sensor = SensorSpec::find("gelsight").unwrap().0.build(None).unwrap();
        let surface = surface_of(LayerBatch::check(&sensor).unwrap());
        assert_eq!((surface.rows, surface.cols), (100, 100));
        let (grid, spans, weights) = spans(sensor.taxels(), &surface);
        assert_eq!((grid.rows, grid.cols, spans.len()), (20, 20, 40));
        for [first, count, weight] in spans {
            let weights = &weights[weight as usize..][..count as usize];
            assert!(first + count <= 100 && (weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            assert!((weights.iter().sum::<f64>() - 0.2 * weights.len().min(5) as f64).abs() < 1e-9);
        }
    }
}
