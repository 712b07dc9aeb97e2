//! `dermis metrics`, as a user runs it.

use dermis::draw::Image;
use serde_json::Value;
use std::path::Path;
use tempfile::TempDir;

fn run(folder: &Path, arguments: &[&str]) -> std::process::Output {
    let all: Vec<String> = ["metrics"].iter().chain(arguments).map(|argument| (*argument).to_owned()).collect();
    crate::common::dermis(folder, &all)
}

/// A ramp; `bright` adds a lighter square in the middle.
fn image(width: usize, height: usize, bright: u8) -> Image {
    Image::from_fn(width, height, |x, y| {
        let inside = x.abs_diff(width / 2) < 8 && y.abs_diff(height / 2) < 8;
        [x as u8, 2 * y as u8, if inside { 40 + bright } else { 40 }]
    })
}

fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    let save = |name: &str, image: Image| std::fs::write(folder.path().join(name), image.encode_png()).unwrap();
    save("truth.png", image(48, 40, 100));
    save("made.png", image(48, 40, 90));
    save("empty.png", image(48, 40, 0));
    save("small.png", image(40, 40, 90));
    save("white.png", Image::new(40, 40, [255; 3]));
    save("black.png", Image::new(48, 40, [0; 3]));
    let white = |x: usize, y: usize| if x.abs_diff(24) < 8 && y.abs_diff(20) < 8 { [255; 3] } else { [0; 3] };
    save("mask.png", Image::from_fn(48, 40, white));
    std::fs::write(folder.path().join("text.png"), "not an image").unwrap();
    folder
}

/// In the mask of 15 x 15 pixels, one of three channels differs by 10 levels, or by 100 levels without contact.
#[test]
fn scores_stand_beside_the_null() {
    let folder = folder();
    let files = ["truth.png", "made.png", "--background", "empty.png", "--mask", "mask.png"];
    let result = run(folder.path(), &[&files[..], &["--json"]].concat());
    assert!(result.status.success(), "{}", String::from_utf8_lossy(&result.stderr));
    let report: Value = serde_json::from_slice(&result.stdout).unwrap();
    let value = |path: &str| report.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("{path}"));
    assert!((value("/mask/score/mae_255") - 10.0 / 3.0).abs() < 1e-12);
    assert!((value("/mask/null/mae_255") - 100.0 / 3.0).abs() < 1e-12);
    assert!((value("/full/score/mae_255") - 10.0 / 3.0 * 225.0 / 1920.0).abs() < 1e-12);
    assert!((value("/mask/score/rmse_255") - 10.0 / 3f64.sqrt()).abs() < 1e-12);
    assert_eq!(value("/mask/score/pixels"), 225.0);
    assert!(value("/full/score/ssim") > value("/full/null/ssim"));
    assert!(value("/mask/score/psnr_db") > value("/mask/null/psnr_db") + 19.9);
    let shown = run(folder.path(), &files);
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("background alone") && shown.contains("3.33"), "{shown}");
    let equal = run(folder.path(), &["truth.png", "truth.png", "--window", "gaussian", "--json"]);
    let report: Value = serde_json::from_slice(&equal.stdout).unwrap();
    assert_eq!(report["full"]["score"]["psnr_db"], Value::Null);
    assert_eq!((&report["full"]["null"], &report["mask"]), (&Value::Null, &Value::Null));
}

#[test]
fn what_cannot_be_compared_is_named() {
    let folder = folder();
    let refused = |arguments: &[&str], words: &[&str]| {
        let result = run(folder.path(), arguments);
        let stderr = String::from_utf8_lossy(&result.stderr).into_owned();
        assert_eq!(result.status.code(), Some(1), "{stderr}");
        assert!(stderr.lines().count() == 1 && stderr.starts_with("dermis: ") && result.stdout.is_empty(), "{stderr}");
        assert!(words.iter().all(|word| stderr.contains(word)), "{words:?} in {stderr}");
    };
    refused(&["truth.png", "none.png"], &["none.png", "cannot be read"]);
    refused(&["truth.png", "small.png"], &["small.png", "40 x 40", "truth.png", "48 x 40"]);
    refused(&["truth.png", "text.png"], &["text.png", "no PNG"]);
    refused(&["truth.png", "made.png", "--background", "small.png"], &["small.png", "40 x 40"]);
    refused(&["truth.png", "made.png", "--background", "gone.png"], &["gone.png"]);
    refused(&["truth.png", "made.png", "--mask", "white.png"], &["white.png", "40 x 40"]);
    refused(&["truth.png", "made.png", "--mask", "black.png"], &["black.png", "black everywhere"]);
}
