//! Smoothing of the surface that a camera sees.

use super::Camera;
use dermis_skin::Blur;

/// A Gaussian mean of heights. At the border of the image the mean is over the pixels inside.
pub(super) struct Smoothing {
    blur: Blur,
    /// Sum of the weights inside the image at each pixel.
    inside: Vec<f64>,
    width: usize,
}

impl Smoothing {
    /// The smoothing of a camera, if it has one.
    pub fn of(camera: &Camera) -> Option<Self> {
        let blur = camera.blur()?;
        let inside = blur.apply(&vec![1.0; camera.width * camera.height], camera.width);
        Some(Self { blur, inside, width: camera.width })
    }

    /// Smooths heights.
    pub fn apply(&self, heights: &mut [f32]) {
        let given: Vec<f64> = heights.iter().map(|height| f64::from(*height)).collect();
        let smooth = self.blur.apply(&given, self.width);
        for ((height, smooth), inside) in heights.iter_mut().zip(smooth).zip(&self.inside) {
            *height = (smooth / inside) as f32;
        }
    }

    /// Derivatives by the given heights from those by the smooth ones: the transpose of [`Smoothing::apply`].
    pub fn transpose(&self, by_smooth: &[f64]) -> Vec<f64> {
        let weighed: Vec<f64> = by_smooth.iter().zip(&self.inside).map(|(by, inside)| by / inside).collect();
        self.blur.apply(&weighed, self.width)
    }
}

#[cfg(test)]
mod tests {
    use super::super::CameraSpec;
    use super::*;
    use dermis_geometry::quantity::Length;

    /// A wave of wavelength λ keeps exp(−2π²σ²/λ²) of its height, and a
    /// constant height stays everywhere.
    #[test]
    fn a_wave_fades_as_the_transform_of_a_gaussian() {
        let camera = |smoothing_m: f64| {
            let spec = CameraSpec { smoothing: Some(Length::new(smoothing_m)), ..CameraSpec::plain(200, 60, 5e-5) };
            Smoothing::of(&spec.build().unwrap())
        };
        assert!(camera(0.0).is_none());
        let smoothing = camera(2e-4).unwrap();
        let mut flat = vec![0.25f32; 200 * 60];
        smoothing.apply(&mut flat);
        assert!(flat.iter().all(|height| (height - 0.25).abs() < 1e-6));
        let wave = |i: usize| (std::f64::consts::TAU * (i % 200) as f64 / 40.0).sin();
        let mut heights: Vec<f32> = (0..200 * 60).map(|i| wave(i) as f32).collect();
        smoothing.apply(&mut heights);
        let kept = (-2.0 * std::f64::consts::PI.powi(2) * (4.0f64 / 40.0).powi(2)).exp();
        for column in 40..160 {
            let i = 30 * 200 + column;
            assert!((f64::from(heights[i]) - kept * wave(i)).abs() < 4e-3, "{column}");
        }
    }

    /// ⟨S a, b⟩ = ⟨a, Sᵀ b⟩.
    #[test]
    fn the_transpose_is_the_transpose() {
        let spec = CameraSpec { smoothing: Some(Length::new(2e-4)), ..CameraSpec::plain(23, 17, 1e-4) };
        let smoothing = Smoothing::of(&spec.build().unwrap()).unwrap();
        let a: Vec<f32> = (0..23 * 17).map(|i| (0.37 * i as f32).sin()).collect();
        let b: Vec<f64> = (0..23 * 17).map(|i| (0.11 * i as f64).cos()).collect();
        let mut smooth = a.clone();
        smoothing.apply(&mut smooth);
        let dot = |a: &[f32], b: &[f64]| a.iter().zip(b).map(|(a, b)| f64::from(*a) * b).sum::<f64>();
        let (left, right) = (dot(&smooth, &b), dot(&a, &smoothing.transpose(&b)));
        assert!((left - right).abs() < 1e-4 * left.abs().max(1.0), "{left} {right}");
    }
}
