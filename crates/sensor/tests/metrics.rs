//! Image metrics, compared with scikit-image and with closed forms.

use dermis_sensor::metrics::{ChannelImage, ImageScore, Mask, Metrics, MetricsError, Ssim, SsimWindow};
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    width: usize,
    height: usize,
    channels: usize,
    window: String,
    masked: bool,
    score: Values,
    null: Values,
}

#[derive(Debug, Deserialize)]
struct Values {
    ssim: f64,
    psnr_db: f64,
    mae_255: f64,
    rmse_255: f64,
}

fn in_disc(width: usize, height: usize, i: usize) -> bool {
    let across = |at: usize, size: usize| (2 * at as i64 - size as i64).pow(2);
    let diameter = (width.min(height) * 2 / 3) as i64;
    across(i % width, width) + across(i / width, height) < diameter * diameter
}

/// The formula of `validation/metrics/make_golden.py`: a ramp with hashed noise, and a disc on it unless `kind` is 0.
fn image(width: usize, height: usize, channels: usize, kind: usize) -> ChannelImage {
    let level = |c: usize, i: usize| {
        let (x, y) = (i % width, i / width);
        let ramp = 60 + (2 * x + 3 * y + 40 * c) % 100;
        let noise = (((x * 7919) ^ (y * 104_729) ^ (c * 1_299_709) ^ ((kind + 1) * 15_485_863)) >> 3) % 24;
        let disc = if kind > 0 && in_disc(width, height, i) { 50 + 10 * c } else { 0 };
        f64::from((ramp + noise + disc) as u8)
    };
    let channel = |c: usize| (0..width * height).map(|i| level(c, i)).collect();
    ChannelImage::new(format!("image {kind}"), width, height, (0..channels).map(channel).collect()).unwrap()
}

fn disc(width: usize, height: usize) -> Mask {
    Mask::new("disc", width, height, (0..width * height).map(|i| in_disc(width, height, i)).collect()).unwrap()
}

fn window(name: &str) -> Ssim {
    match name {
        "uniform7" => Ssim::default(),
        "uniform11_population" => {
            Ssim { window: SsimWindow::Uniform { side: 11 }, sample_covariance: false, ..Ssim::default() }
        }
        "gaussian" => Ssim::gaussian(),
        "gaussian_sample" => Ssim { sample_covariance: true, ..Ssim::gaussian() },
        other => panic!("{other}"),
    }
}

#[test]
fn the_numbers_are_those_of_scikit_image() {
    let golden: Golden =
        serde_json::from_str(include_str!("../../../validation/metrics/golden.json")).expect("the file is ours");
    assert_eq!(golden.cases.len(), 24);
    for case in &golden.cases {
        let (width, height) = (case.width, case.height);
        let [background, truth, other] = [0, 1, 2].map(|kind| image(width, height, case.channels, kind));
        let mask = case.masked.then(|| disc(width, height));
        let got = ImageScore::new(&truth, &other, &background, mask.as_ref(), &window(&case.window)).unwrap();
        for (got, wanted) in [(got.score, &case.score), (got.null, &case.null)] {
            let pairs = [
                (got.ssim, wanted.ssim),
                (got.psnr_db, wanted.psnr_db),
                (got.mae_255, wanted.mae_255),
                (got.rmse_255, wanted.rmse_255),
            ];
            for (got, wanted) in pairs {
                assert!((got - wanted).abs() < 1e-9, "{width} x {height} {}: {got}, not {wanted}", case.window);
            }
        }
    }
}

#[test]
fn equal_images_are_alike() {
    let frame = image(30, 20, 3, 1);
    let got = Metrics::compare(&frame, &frame, None, &Ssim::gaussian()).unwrap();
    assert!((got.ssim - 1.0).abs() < 1e-12 && got.psnr_db.is_infinite(), "{got:?}");
    assert_eq!((got.mae_255, got.rmse_255, got.pixels), (0.0, 0.0, 600));
}

/// Flat images have no variance: SSIM = (2ab + C₁)/(a² + b² + C₁), MAE = RMSE = |a − b|.
#[test]
fn flat_images_have_a_closed_form() {
    let flat = |level: f64| ChannelImage::new("flat", 16, 16, vec![vec![level; 256]]).unwrap();
    let got = Metrics::compare(&flat(100.0), &flat(120.0), None, &Ssim::default()).unwrap();
    let c1 = 2.55f64.powi(2);
    assert!((got.ssim - (24_000.0 + c1) / (24_400.0 + c1)).abs() < 1e-9);
    assert!((got.mae_255 - 20.0).abs() < 1e-12 && (got.rmse_255 - 20.0).abs() < 1e-12);
    assert!((got.psnr_db - 20.0 * (255f64 / 20.0).log10()).abs() < 1e-12);
}

/// Pixels outside the mask do not affect PSNR, MAE and RMSE; they affect SSIM only within half a window of the mask.
#[test]
fn a_mask_leaves_the_rest_out() {
    let (truth, other) = (image(64, 48, 3, 1), image(64, 48, 3, 2));
    let mut channels = other.channels().to_vec();
    channels.iter_mut().for_each(|channel| channel[..64 * 3].fill(0.0));
    let spoilt = ChannelImage::new("spoilt", 64, 48, channels).unwrap();
    let mask = disc(64, 48);
    let score = |frame: &ChannelImage| Metrics::compare(&truth, frame, Some(&mask), &Ssim::default()).unwrap();
    assert_eq!(score(&other), score(&spoilt));
    let full = |frame: &ChannelImage| Metrics::compare(&truth, frame, None, &Ssim::default()).unwrap();
    assert!(full(&spoilt).rmse_255 > 2.0 * full(&other).rmse_255);
}

#[test]
fn slips_are_named() {
    let ssim = Ssim::default();
    let refused = |a: &ChannelImage, b: &ChannelImage, mask: Option<&Mask>| {
        Metrics::compare(a, b, mask, &ssim).unwrap_err().to_string()
    };
    let (a, b) = (image(64, 48, 3, 1), image(48, 64, 3, 2));
    let message = refused(&a, &b, None);
    assert!(message.contains("image 2") && message.contains("48 x 64") && message.contains("64 x 48"), "{message}");
    let message = refused(&a, &image(64, 48, 1, 2), None);
    assert!(message.contains("1 channels") && message.contains('3'), "{message}");
    let message = refused(&a, &a, Some(&disc(48, 64)));
    assert!(message.starts_with("disc:"), "{message}");
    let message = refused(&image(6, 9, 1, 1), &image(6, 9, 1, 2), None);
    assert!(message.contains("6 x 9") && message.contains("7 x 7"), "{message}");
    assert!(matches!(Mask::new("m", 2, 1, vec![false; 2]), Err(MetricsError::EmptyMask { .. })));
    assert!(matches!(ChannelImage::new("f", 2, 1, vec![vec![0.0]]), Err(MetricsError::WrongLength { got: 1, .. })));
    assert!(matches!(ChannelImage::new("f", 1, 1, vec![vec![f64::NAN]]), Err(MetricsError::NotFinite { .. })));
    let even = Ssim { window: SsimWindow::Uniform { side: 8 }, ..ssim };
    assert!(matches!(Metrics::compare(&a, &a, None, &even), Err(MetricsError::BadWindow { .. })));
    let message = ChannelImage::from_png("x.png", b"GIF89a").unwrap_err().to_string();
    assert!(message.starts_with("x.png: is no PNG image"), "{message}");
}
